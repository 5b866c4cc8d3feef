// SPDX-License-Identifier: Apache-2.0
#include "app/hw/reading.h"

#include <mutex>
#include <set>

namespace hw::app {

Result<void> read_to_end(Session& session, const std::vector<ReadFrom>& from, std::function<bool(node::IncomingRecord&)> each) {
  if (from.empty()) {
    return {};
  }
  struct Shared {
    std::mutex mutex;
    std::set<std::pair<std::string, std::int32_t>> reading;
    bool done = false;
    std::optional<Error> error;
  } shared;
  node::ConsumerOptions options;
  options.bootstrap = session.common().bootstrap;
  options.client_id = "hw";
  options.auto_create = false;
  for (const ReadFrom& start : from) {
    options.assignment.push_back({start.partition.topic, start.partition.partition, start.offset});
    shared.reading.emplace(start.partition.topic, start.partition.partition);
  }
  Waiter& waiter = session.waiter();
  const node::ClientHandle consumer = session.runner().add_consumer(
      options,
      [&](std::vector<node::IncomingRecord>& records) {
        const std::lock_guard lock(shared.mutex);
        for (node::IncomingRecord& record : records) {
          if (!shared.done && !each(record)) {
            shared.done = true;
            waiter.wake();
          }
        }
      },
      [&](const node::ConsumerEvent& event) {
        const std::lock_guard lock(shared.mutex);
        if (event.kind == node::ConsumerEvent::Kind::reached_end) {
          for (const auto& partition : event.partitions) {
            shared.reading.erase(partition);
          }
          shared.done = shared.done || shared.reading.empty();
        } else if (event.kind == node::ConsumerEvent::Kind::error && event.fatal) {
          shared.error = Error{Errc::invalid, event.message};
          shared.done = true;
        }
        if (shared.done) {
          waiter.wake();
        }
      });
  for (;;) {
    {
      const std::lock_guard lock(shared.mutex);
      if (shared.done) {
        break;
      }
    }
    if (waiter.wait() == Waiter::Why::interrupted) {
      Session::end_interrupted();
    }
  }
  if (!await<bool>(waiter, [&](auto done) { session.runner().close(consumer, [done] { done(true); }); })) {
    Session::end_interrupted();
  }
  if (shared.error) {
    return Unexpected(std::move(*shared.error));
  }
  return {};
}

}  // namespace hw::app
