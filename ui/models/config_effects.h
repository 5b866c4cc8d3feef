// SPDX-License-Identifier: Apache-2.0
// What a change of a broker's or a group's configuration will cause at once. A broker's key is mostly the default of topics:
// what happens then happens in the topics that have no value of their own. Pure; no clock.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ui/models/retention_preview.h"

namespace hw::ui {

struct InheritingTopic {
  std::string name;
  std::map<std::string, std::string> own;  // its own values by key
  std::size_t replicas = 1;                // of a partition
  std::vector<PartitionSegments> partitions;  // empty: not looked at
};
// `before`, `after`: the effective values of the broker by key; log.retention.ms and log.roll.ms must be there where changes
// name them. `looked`: how many of the topics have their segments.
[[nodiscard]] std::vector<ChangeEffect> broker_change_effects(const std::map<std::string, std::string>& before,
                                                              const std::map<std::string, std::string>& after,
                                                              const std::vector<ConfigChange>& changes,
                                                              const std::vector<InheritingTopic>& topics, std::size_t looked,
                                                              std::int64_t now_ms);
// True where the effect of a change lies in segments, so that they have to be read.
[[nodiscard]] bool needs_segments(const std::vector<ConfigChange>& changes);

// `classic`: the group's members use the protocol that decides these things at the client.
[[nodiscard]] std::vector<ChangeEffect> group_change_effects(const std::map<std::string, std::string>& before,
                                                             const std::map<std::string, std::string>& after,
                                                             const std::vector<ConfigChange>& changes, bool classic);

}  // namespace hw::ui
