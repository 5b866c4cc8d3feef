// SPDX-License-Identifier: Apache-2.0
// A consumer with the cluster it talks to, in memory and in virtual time.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "engine/client/consumer.h"

#include "fake_broker.h"

namespace hw::client::fake {

inline ClusterConfig cluster_config() {
  ClusterConfig config;
  config.bootstrap = {{"one", 1}, {"two", 2}};
  return config;
}

struct ConsumerRig {
  explicit ConsumerRig(ConsumerConfig config)
      : core((config.cluster.bootstrap = cluster_config().bootstrap, config), Instant{1}) {}

  FakeCluster cluster;
  Consumer core;
  Harness<Consumer, ConsumerOutputs> harness{core, cluster};

  std::vector<std::string> values(const std::string& topic = "t") const {
    std::vector<std::string> all;
    for (const ConsumedRecord& record : harness.out.records) {
      if (*record.topic == topic) {
        all.push_back(std::string(record.value->text()));
      }
    }
    return all;
  }

  bool got(std::size_t count, Duration limit = seconds(60)) {
    return harness.run([this, count] { return harness.out.records.size() >= count; }, limit);
  }

  std::size_t events(ConsumerEvent::Kind kind) const {
    return static_cast<std::size_t>(
        std::count_if(harness.out.events.begin(), harness.out.events.end(),
                      [kind](const ConsumerEvent& event) { return event.kind == kind; }));
  }

  const ConsumerEvent* last(ConsumerEvent::Kind kind) const {
    for (auto event = harness.out.events.rbegin(); event != harness.out.events.rend(); ++event) {
      if (event->kind == kind) {
        return &*event;
      }
    }
    return nullptr;
  }
};

inline ConsumerConfig grouped(std::vector<std::string> topics = {"t"}) {
  ConsumerConfig config;
  config.group_id = "g";
  config.topics = std::move(topics);
  config.commit_interval = seconds(1);
  return config;
}

}  // namespace hw::client::fake
