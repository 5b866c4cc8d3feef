// SPDX-License-Identifier: Apache-2.0
// The range assignor of classic groups, and the form in which members tell their topics and get their partitions.
//
// range: per topic, members in the order of their ids get runs of partitions, the first ones one more when it does not
// divide. Pure functions. Source: Kafka's consumer protocol ("range"), ConsumerProtocolSubscription and -Assignment.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/bytes.h"

namespace hw::client {

using TopicPartition = std::pair<std::string, std::int32_t>;

struct GroupMember {
  std::string id;
  std::vector<std::string> topics;
};

// By member id; every member has an entry, be it empty. `partitions`: how many each topic has; unknown topics give nothing.
[[nodiscard]] std::map<std::string, std::vector<TopicPartition>> assign_range(
    std::vector<GroupMember> members, const std::map<std::string, std::int32_t>& partitions);

[[nodiscard]] Bytes encode_subscription(const std::vector<std::string>& topics);
[[nodiscard]] std::optional<std::vector<std::string>> decode_subscription(const Bytes& metadata);  // the topics
[[nodiscard]] Bytes encode_assignment(const std::vector<TopicPartition>& partitions);
[[nodiscard]] std::optional<std::vector<TopicPartition>> decode_assignment(const Bytes& assignment);

}  // namespace hw::client
