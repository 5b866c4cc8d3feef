// SPDX-License-Identifier: Apache-2.0
// A node of this process, and callbacks of the runner's thread awaited by the test's.
#pragma once

#include <QtGlobal>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "engine/node/client_runner.h"
#include "engine/node/cluster.h"

namespace hw::node::support {

inline constexpr auto kPatience = std::chrono::seconds(30);

// What callbacks of the runner's thread have seen; wait() blocks until it is enough.
class Box {
 public:
  template <class Change>
  void change(Change change) {
    {
      const std::lock_guard lock(mutex_);
      change();
    }
    changed_.notify_all();
  }
  template <class Enough>
  bool wait(Enough enough) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kPatience, enough);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
};

template <class T>
Result<T> ask(const std::function<void(std::function<void(Result<T>)>)>& start) {
  Box box;
  std::optional<Result<T>> answer;
  start([&](Result<T> result) { box.change([&] { answer.emplace(std::move(result)); }); });
  if (!box.wait([&] { return answer.has_value(); })) {
    return fail(Errc::closed, "no answer");
  }
  return std::move(*answer);
}

inline std::unique_ptr<Cluster> start(ClusterOptions options = {}) {
  options.configs["group.initial.rebalance.delay.ms"] = "0";
  auto cluster = std::make_unique<Cluster>(std::move(options));
  const Result<void> started = cluster->start();
  if (!started) {
    qWarning("%s", started.error().detail.c_str());
  }
  return started ? std::move(cluster) : nullptr;
}
inline std::unique_ptr<Cluster> start_in_memory() {
  ClusterOptions options;
  options.listen.port = 0;
  return start(std::move(options));
}

inline Result<void> create(ClientRunner& runner, const std::string& bootstrap, const std::string& name, std::int32_t partitions) {
  return ask<void>([&](auto done) {
    NewTopic topic;
    topic.name = name;
    topic.partitions = partitions;
    runner.create_topic(bootstrap, topic, std::move(done));
  });
}

}  // namespace hw::node::support
