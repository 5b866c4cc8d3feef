// SPDX-License-Identifier: Apache-2.0
#include "ui/session/live_consumers.h"

#include <QCoreApplication>
#include <algorithm>
#include <utility>

namespace hw::ui {

namespace {

QString tr(const char* text) { return QCoreApplication::translate("hw::ui::LiveSession", text); }

constexpr std::size_t kConsumersMax = 500;

}  // namespace

LiveConsumers::LiveConsumers(node::ClientRunner& clients, std::string bootstrap, QObject* context,
                             std::function<void()> changed)
    : clients_(clients), bootstrap_(std::move(bootstrap)), context_(context), changed_(std::move(changed)) {}

LiveConsumers::~LiveConsumers() {
  for (const Member& member : members_) {
    if (member.handle != 0) {
      clients_.close(member.handle);
    }
  }
}

void LiveConsumers::start(Member& member) {
  const ConsumerCommand& command = member.options;
  node::ConsumerOptions options;
  options.bootstrap = bootstrap_;
  options.client_id = command.client_id;
  options.group_id = command.group;
  options.topics = command.topics;
  options.auto_create = false;  // reading does not bring back a topic that was deleted
  options.from_earliest = command.from_earliest;
  options.group_protocol = command.protocol == ConsumerCommand::Protocol::consumer ? "consumer" : "classic";
  options.assignors = {command.assignor};
  options.commit_interval_ms = command.commit_interval_ms;
  switch (command.commit) {
    case ConsumerCommand::Commit::automatic:
      options.commit_mode = node::CommitMode::interval;
      break;
    case ConsumerCommand::Commit::after_work:
      options.commit_mode = node::CommitMode::after_work;
      break;
    case ConsumerCommand::Commit::before_work:
      options.commit_mode = node::CommitMode::before_work;
      break;
    case ConsumerCommand::Commit::never:
      options.commit_mode = node::CommitMode::manual;
      break;
  }
  options.handler_delay_us = static_cast<std::int64_t>(command.work_ms) * 1'000;
  if (command.work_ms > 0 || command.crash_after > 0) {
    options.max_poll_records = 50;  // small steps are what there is to see
  }
  options.session_timeout_ms = 10'000;
  member.shared = std::make_shared<Shared>();
  member.problem.clear();
  const std::uint64_t id = member.id;
  const auto on_ui = [context = context_, alive = std::weak_ptr<bool>(alive_), this, id](const QString& problem, bool crashed) {
    if (context != nullptr) {
      QMetaObject::invokeMethod(
          context,
          [alive, this, id, problem, crashed] {
            if (!alive.expired()) {
              tell(id, problem, crashed);
            }
          },
          Qt::QueuedConnection);
    }
  };
  member.handle = clients_.add_consumer(
      options,
      [shared = member.shared, crash_after = command.crash_after, on_ui](std::vector<node::IncomingRecord>& records) {
        const std::int64_t seen = shared->records.load() + static_cast<std::int64_t>(records.size());
        shared->records.store(seen);
        if (crash_after > 0 && seen >= crash_after && !shared->crashed.exchange(true)) {
          on_ui({}, true);
        }
      },
      [on_ui](const node::ConsumerEvent& event) {
        if (event.kind == node::ConsumerEvent::Kind::error || event.kind == node::ConsumerEvent::Kind::late) {
          on_ui(QString::fromStdString(event.message), false);
        }
      });
}

void LiveConsumers::tell(std::uint64_t id, const QString& problem, bool crashed) {
  const auto at = std::find_if(members_.begin(), members_.end(), [id](const Member& m) { return m.id == id; });
  if (at == members_.end()) {
    return;
  }
  if (!problem.isEmpty()) {
    at->problem = problem;
  }
  if (crashed && at->handle != 0) {
    clients_.crash(std::exchange(at->handle, 0));
  }
  changed_();
}

QString LiveConsumers::add(const ConsumerCommand& command) {
  if (command.group.empty()) {
    return tr("A consumer needs a group");
  }
  if (command.topics.empty()) {
    return tr("A consumer needs a topic to read");
  }
  if (members_.size() >= kConsumersMax) {
    return tr("500 built-in consumers are enough for one window");
  }
  Member member;
  member.id = next_++;
  member.options = command;
  if (member.options.client_id.empty()) {
    member.options.client_id = command.group + "-" + std::to_string(member.id);
  }
  start(member);
  members_.push_back(std::move(member));
  return {};
}

bool LiveConsumers::removeNewest(const std::string& group) {
  const auto at = std::find_if(members_.rbegin(), members_.rend(), [&](const Member& m) { return m.options.group == group; });
  if (at == members_.rend()) {
    return false;
  }
  if (at->handle != 0) {
    clients_.close(at->handle);
  }
  members_.erase(std::next(at).base());
  return true;
}

bool LiveConsumers::rejoinNewest(const std::string& group) {
  const auto at = std::find_if(members_.rbegin(), members_.rend(),
                               [&](const Member& m) { return m.options.group == group && m.handle != 0; });
  if (at == members_.rend() || context_ == nullptr) {
    return false;
  }
  const std::uint64_t id = at->id;
  clients_.close(std::exchange(at->handle, 0), [context = context_, alive = std::weak_ptr<bool>(alive_), this, id] {
    if (context == nullptr) {
      return;
    }
    QMetaObject::invokeMethod(
        context,
        [alive, this, id] {
          if (alive.expired()) {
            return;
          }
          const auto again = std::find_if(members_.begin(), members_.end(), [id](const Member& m) { return m.id == id; });
          if (again != members_.end()) {
            start(*again);
            changed_();
          }
        },
        Qt::QueuedConnection);
  });
  return true;
}

std::vector<BuiltInConsumer> LiveConsumers::list() const {
  std::vector<BuiltInConsumer> out;
  for (const Member& m : members_) {
    out.push_back({m.id, m.options, m.shared == nullptr ? 0 : m.shared->records.load(),
                   m.shared != nullptr && m.shared->crashed.load(), m.problem});
  }
  return out;
}

}  // namespace hw::ui
