// SPDX-License-Identifier: Apache-2.0
// Messages of the quorum: each has one topic with one partition, which is checked and filled in here.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/raft/detail/states.h"
#include "engine/wire/runtime/error_code.h"

namespace hw::raft {

inline constexpr std::int16_t kVoteVersion = 2;
inline constexpr std::int16_t kBeginQuorumEpochVersion = 1;
inline constexpr std::int16_t kEndQuorumEpochVersion = 1;
inline constexpr std::int16_t kFetchVersion = 18;
inline constexpr std::int16_t kFetchSnapshotVersion = 1;
inline constexpr std::int16_t kUpdateRaftVoterVersion = 0;
inline constexpr std::int16_t kApiVersionsVersion = 4;
inline constexpr std::int16_t kFetchTopicIdsFrom = 13;
inline constexpr const char* kKRaftVersionFeature = "kraft.version";

// The only partition of a message by topic name, or null.
template <class Message>
[[nodiscard]] auto* only_partition(Message& message) {
  using Topic = std::remove_reference_t<decltype(message.topics.front())>;
  using Partition = std::remove_reference_t<decltype(std::declval<Topic&>().partitions.front())>;
  Partition* none = nullptr;
  if (message.topics.size() != 1 || message.topics.front().partitions.size() != 1) {
    return none;
  }
  Topic& topic = message.topics.front();
  Partition& partition = topic.partitions.front();
  return topic.topic_name == kMetadataTopicName && partition.partition_index == PartitionIndex(0) ? &partition : none;
}

// A message with that one partition in it.
template <class Message>
[[nodiscard]] auto& add_partition(Message& message) {
  auto& topic = message.topics.emplace_back();
  topic.topic_name = kMetadataTopicName;
  auto& partition = topic.partitions.emplace_back();
  partition.partition_index = PartitionIndex(0);
  return partition;
}

template <class Entry>
[[nodiscard]] std::vector<VoterEndpoint> endpoints_of(const std::vector<Entry>& entries) {
  std::vector<VoterEndpoint> endpoints;
  for (const Entry& entry : entries) {
    endpoints.push_back({entry.name, entry.host, entry.port});
  }
  return endpoints;
}

template <class Entry>
void add_endpoints(std::vector<Entry>& entries, const std::vector<VoterEndpoint>& endpoints) {
  for (const VoterEndpoint& endpoint : endpoints) {
    Entry& entry = entries.emplace_back();
    entry.name = endpoint.listener;
    entry.host = endpoint.host;
    entry.port = endpoint.port;
  }
}

}  // namespace hw::raft
