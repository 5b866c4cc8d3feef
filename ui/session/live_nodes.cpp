// SPDX-License-Identifier: Apache-2.0
// LiveSession: its nodes are ended, paused, cut off and started again through ClusterControl, as hw and HTTP do it, on a thread of
// their own.
#include <QMetaObject>
#include <memory>
#include <utility>

#include "engine/node/client_runner.h"
#include "ui/session/batch_reader.h"
#include "ui/session/demo_traffic.h"
#include "ui/session/live_consumers.h"
#include "ui/session/live_session.h"

namespace hw::ui {

namespace {

using node::Value;

Value nodes(std::int32_t id) { return Value::object().set("nodes", Value::List{Value(id)}); }

// The ways between a node and all others.
Value ways(std::int32_t id, const std::vector<BrokerId>& all) {
  Value::List others;
  for (const BrokerId other : all) {
    if (other.value() != id) {
      others.emplace_back(other.value());
    }
  }
  return Value::object().set("from", Value::List{Value(id)}).set("to", std::move(others));
}

}  // namespace

void LiveSession::openControl() {
  control_ = std::make_unique<node::ClusterControl>(*cluster_);
  control_->on_change([this] { QMetaObject::invokeMethod(this, [this] { Q_EMIT frameReady(); }, Qt::QueuedConnection); });
  if (!options_.control) {
    return;
  }
  node::ControlServerOptions where = *options_.control;
  control_server_ = std::make_unique<node::ControlServer>(where, *control_);
  Result<void> opened = control_server_->start();
  if (!opened && opened.error().code == Errc::in_use && options_.control_elsewhere) {
    where.port = 0;
    control_server_ = std::make_unique<node::ControlServer>(where, *control_);
    opened = control_server_->start();
  }
  if (opened) {
    control_port_ = {QString::fromStdString(control_server_->address()), {}};
    options_.control->port = control_server_->port();  // where it opens again after a keep()
    return;
  }
  control_server_.reset();
  control_port_ = {{}, QString::fromStdString(opened.error().detail)};
}

void LiveSession::closeControl() {
  control_server_.reset();  // a command that is under way is finished first
  operators_.waitForDone();
  if (control_ != nullptr) {
    control_->on_change({});
  }
  control_.reset();
  control_port_ = {};
}

std::vector<NodeCondition> LiveSession::conditions() const {
  std::vector<NodeCondition> all;
  if (control_ == nullptr) {
    return all;
  }
  for (const node::ClusterControl::Condition& each : control_->conditions()) {
    NodeCondition& one = all.emplace_back();
    one.node = each.node.value();
    one.down = each.state == node::Cluster::NodeState::stopped;
    one.killed = each.killed;
    one.paused = each.state == node::Cluster::NodeState::paused;
    one.cut_off = each.cut_off;
    one.slow = each.slow;
    one.working = each.busy || commanded_.contains(one.node);
    if (each.lost) {
      one.lost_bytes = static_cast<std::int64_t>(each.lost->bytes);
      one.lost_files = static_cast<std::int64_t>(each.lost->files);
    }
  }
  return all;
}

void LiveSession::command(std::int32_t node, std::vector<std::pair<std::string, Value>> commands,
                          std::function<void(QString error)> done) {
  if (!asks() || control_ == nullptr) {
    done(tr("The cluster is not running."));
    return;
  }
  commanded_.insert(node);
  Q_EMIT frameReady();
  operators_.start([this, node, commands = std::move(commands), done = std::move(done)] {
    QString error;
    for (const auto& [name, arguments] : commands) {
      if (const Result<Value> result = control_->run(name, arguments); !result) {
        error = QString::fromStdString(result.error().detail);
        break;
      }
    }
    QMetaObject::invokeMethod(
        this,
        [this, node, error, done] {
          commanded_.erase(commanded_.find(node));
          Q_EMIT frameReady();
          done(error);
        },
        Qt::QueuedConnection);
  });
}

QString LiveSession::refusal(const NodeCondition& now, std::int32_t node) const {
  if (asks() && now.node < 0) {
    return tr("There is no node %1.").arg(node);
  }
  return now.working ? tr("Node %1 is busy with what it was told before.").arg(node) : QString();
}

void LiveSession::act(NodeAction action, std::int32_t node, std::function<void(QString error)> done) {
  const NodeCondition now = conditionOf(node);
  if (const QString error = refusal(now, node); !error.isEmpty()) {
    done(error);
    return;
  }
  std::vector<std::pair<std::string, Value>> commands;
  switch (action) {
    case NodeAction::start:
      commands.emplace_back("node.start", nodes(node).set("wait_ms", 0));  // the window shows when it serves
      break;
    case NodeAction::stop:
      commands.emplace_back("node.stop", nodes(node));
      break;
    case NodeAction::kill:
      commands.emplace_back("node.kill", nodes(node));
      break;
    case NodeAction::cut_power:
      commands.emplace_back("node.kill", nodes(node).set("power_cut", true));
      break;
    case NodeAction::pause:
      commands.emplace_back("node.pause", nodes(node));
      break;
    case NodeAction::resume:
      commands.emplace_back("node.resume", nodes(node));
      break;
    case NodeAction::cut_off:
      commands.emplace_back("link.cut", ways(node, cluster_->node_ids()));
      break;
    case NodeAction::slow:
      commands.emplace_back("link.slow", ways(node, cluster_->node_ids()).set("delay_ms", kSlowMs));
      break;
    case NodeAction::heal:
      commands.emplace_back("link.heal", ways(node, cluster_->node_ids()));
      if (now.slow && !now.down) {
        commands.emplace_back("node.slow", nodes(node).set("delay_ms", 0));  // by hw: each of its requests
      }
      break;
  }
  command(node, std::move(commands), std::move(done));
}

bool LiveSession::addsBrokers() const {
  return control_ != nullptr && !cluster_->options().member;
}

void LiveSession::addBroker(std::function<void(std::int32_t node, QString error)> done) {
  if (!asks() || control_ == nullptr) {
    done(-1, tr("The cluster is not running."));
    return;
  }
  operators_.start([this, done = std::move(done)] {
    const Result<Value> result = control_->run("node.add", Value());
    std::int32_t node = -1;
    if (const Value::List* added = result ? (*result)["nodes"].list() : nullptr; added != nullptr && !added->empty()) {
      node = static_cast<std::int32_t>(added->front()["node"].number_or(-1));
    }
    const QString error = result ? QString() : QString::fromStdString(result.error().detail);
    QMetaObject::invokeMethod(
        this,
        [this, node, error, done] {
          Q_EMIT frameReady();
          done(node, error);
        },
        Qt::QueuedConnection);
  });
}

void LiveSession::removeBroker(std::int32_t node, std::function<void(QString error)> done) {
  if (const QString error = refusal(conditionOf(node), node); !error.isEmpty()) {
    done(error);
    return;
  }
  command(node, {{"node.remove", nodes(node)}}, std::move(done));
}

void LiveSession::healAll(std::function<void(QString error)> done) {
  std::vector<std::pair<std::string, Value>> commands{{"cluster.heal", Value()}};
  for (const NodeCondition& each : conditions()) {
    if (each.down && !each.working) {
      commands.emplace_back("node.start", nodes(each.node).set("wait_ms", 0));
    }
  }
  command(-1, std::move(commands), std::move(done));
}

QString LiveSession::profile() const {
  if (conditions().size() < 2 || !options_.demo) {
    return {};
  }
  const auto seconds_of = [this](const char* key) {
    const auto found = options_.cluster.configs.find(key);
    return found == options_.cluster.configs.end() ? QString() : QString::number(QString::fromStdString(found->second).toDouble() / 1000);
  };
  return tr("Short time-outs for a demo: a silent node is fenced after %1 s (Kafka: 9 s), and a replica behind for %2 s leaves the "
            "in-sync set (Kafka: 30 s).")
      .arg(seconds_of("broker.session.timeout.ms"), seconds_of("replica.lag.time.max.ms"));
}

std::int64_t LiveSession::quorumFetchTimeoutMs() const {
  const auto found = options_.cluster.configs.find("controller.quorum.fetch.timeout.ms");
  bool number = false;
  const qlonglong ms = found == options_.cluster.configs.end() ? 0 : QString::fromStdString(found->second).toLongLong(&number);
  return number && ms > 0 ? ms : kQuorumFetchTimeoutMs;
}

}  // namespace hw::ui
