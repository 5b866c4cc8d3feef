// SPDX-License-Identifier: Apache-2.0
// LiveSession: its nodes are ended, paused, cut off and started again, on a thread of their own.
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

Result<void> set_links(node::Cluster& cluster, BrokerId id, const node::Cluster::Link& link) {
  for (const BrokerId other : cluster.node_ids()) {
    if (other != id) {
      HW_CHECK(cluster.set_link(id, other, link, true));
    }
  }
  return {};
}

Result<void> carry_out(node::Cluster& cluster, NodeAction action, BrokerId id, NodeCondition& now) {
  switch (action) {
    case NodeAction::start:
      HW_CHECK(cluster.start_node(id));
      now.down = now.killed = false;
      return {};
    case NodeAction::stop:
    case NodeAction::kill: {
      const bool kill = action == NodeAction::kill;
      HW_CHECK(kill ? cluster.kill_node(id) : cluster.stop_node(id));
      now.down = true;
      now.killed = kill;
      now.paused = false;
      return {};
    }
    case NodeAction::pause:
      HW_CHECK(cluster.pause_node(id));
      now.paused = true;
      return {};
    case NodeAction::resume:
      HW_CHECK(cluster.resume_node(id));
      now.paused = false;
      return {};
    case NodeAction::cut_off:
      HW_CHECK(set_links(cluster, id, {true, {}}));
      now.cut_off = true;
      now.slow = false;
      return {};
    case NodeAction::slow:
      HW_CHECK(set_links(cluster, id, {false, milliseconds(SessionNodes::kSlowMs)}));
      now.slow = true;
      now.cut_off = false;
      return {};
    case NodeAction::heal:
      HW_CHECK(set_links(cluster, id, {}));
      now.cut_off = now.slow = false;
      return {};
  }
  return {};
}

}  // namespace

std::vector<NodeCondition> LiveSession::conditions() const {
  std::vector<NodeCondition> all;
  for (const auto& [id, condition] : conditions_) {
    all.push_back(condition);
  }
  return all;
}

void LiveSession::operate(std::int32_t node, std::function<Result<void>(NodeCondition&)> work,
                          std::function<void(QString error)> done) {
  const auto found = conditions_.find(node);
  if (!asks() || found == conditions_.end()) {
    done(found == conditions_.end() ? tr("There is no node %1.").arg(node) : tr("The cluster is not running."));
    return;
  }
  if (found->second.working) {
    done(tr("Node %1 is busy with what it was told before.").arg(node));
    return;
  }
  found->second.working = true;
  Q_EMIT frameReady();
  operators_.start([this, node, work = std::move(work), done = std::move(done), now = found->second]() mutable {
    const Result<void> result = work(now);
    now.working = false;
    const QString error = result ? QString() : QString::fromStdString(result.error().detail);
    QMetaObject::invokeMethod(
        this,
        [this, node, now, error, done] {
          conditions_[node] = now;
          Q_EMIT frameReady();
          done(error);
        },
        Qt::QueuedConnection);
  });
}

void LiveSession::act(NodeAction action, std::int32_t node, std::function<void(QString error)> done) {
  operate(node, [this, action, node](NodeCondition& now) { return carry_out(*cluster_, action, BrokerId(node), now); },
          std::move(done));
}

void LiveSession::healAll(std::function<void(QString error)> done) {
  struct Open {
    int left = 1;
    QString error;
  };
  auto open = std::make_shared<Open>();
  const auto one = [open, done = std::move(done)](const QString& error) {
    open->error = open->error.isEmpty() ? error : open->error;
    if (--open->left == 0) {
      done(open->error);
    }
  };
  for (const NodeCondition& each : conditions()) {
    if (each.healthy() || each.working) {
      continue;
    }
    ++open->left;
    const BrokerId id(each.node);
    operate(each.node,
            [this, id](NodeCondition& now) -> Result<void> {
              if (now.cut_off || now.slow) {
                HW_CHECK(carry_out(*cluster_, NodeAction::heal, id, now));
              }
              if (now.paused) {
                HW_CHECK(carry_out(*cluster_, NodeAction::resume, id, now));
              }
              if (now.down) {
                HW_CHECK(carry_out(*cluster_, NodeAction::start, id, now));
              }
              return {};
            },
            one);
  }
  one({});
}

QString LiveSession::profile() const {
  if (conditions_.size() < 2 || !options_.demo) {
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

}  // namespace hw::ui
