// SPDX-License-Identifier: Apache-2.0
#include "engine/client/assignor.h"

#include <algorithm>

#include "engine/wire/msg/consumer_protocol_assignment.h"
#include "engine/wire/msg/consumer_protocol_subscription.h"
#include "engine/wire/runtime/reader.h"
#include "engine/wire/runtime/writer.h"

namespace hw::client {
namespace {

constexpr std::int16_t kSubscriptionVersion = 1;  // newer ones add what only cooperative assignors use
constexpr std::int16_t kAssignmentVersion = 1;

// A version in front, then the message; newer versions than ours only add to the end.
template <class T>
Bytes versioned(const T& message, std::int16_t version) {
  wire::Writer writer;
  writer.int16(version);
  const bool good = encode(writer, message, version);
  HW_ASSERT(good && writer.ok(), "the consumer protocol carries names and numbers");
  return writer.finish().flatten();
}
template <class T>
bool read_versioned(const Bytes& bytes, T& message) {
  wire::Reader reader(bytes);
  const std::int16_t version = reader.int16();
  return reader.ok() && version >= 0 && decode(reader, message, std::min(version, T::kHighestVersion));
}

}  // namespace

std::map<std::string, std::vector<TopicPartition>> assign_range(std::vector<GroupMember> members,
                                                                const std::map<std::string, std::int32_t>& partitions) {
  std::sort(members.begin(), members.end(), [](const GroupMember& a, const GroupMember& b) { return a.id < b.id; });
  std::map<std::string, std::vector<TopicPartition>> assigned;
  std::map<std::string, std::vector<std::string>> subscribers;
  for (const GroupMember& member : members) {
    assigned[member.id];
    for (const std::string& topic : member.topics) {
      std::vector<std::string>& ids = subscribers[topic];
      if (ids.empty() || ids.back() != member.id) {
        ids.push_back(member.id);
      }
    }
  }
  for (const auto& [topic, ids] : subscribers) {
    const auto known = partitions.find(topic);
    if (known == partitions.end()) {
      continue;
    }
    const auto count = static_cast<std::size_t>(std::max(known->second, 0));
    std::size_t next = 0;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const std::size_t share = count / ids.size() + (i < count % ids.size() ? 1 : 0);
      for (std::size_t n = 0; n < share; ++n) {
        assigned[ids[i]].emplace_back(topic, static_cast<std::int32_t>(next++));
      }
    }
  }
  return assigned;
}

Bytes encode_subscription(const std::vector<std::string>& topics) {
  wire::ConsumerProtocolSubscription subscription;
  subscription.topics = topics;
  return versioned(subscription, kSubscriptionVersion);
}

std::optional<std::vector<std::string>> decode_subscription(const Bytes& metadata) {
  wire::ConsumerProtocolSubscription subscription;
  if (!read_versioned(metadata, subscription)) {
    return std::nullopt;
  }
  return std::move(subscription.topics);
}

Bytes encode_assignment(const std::vector<TopicPartition>& partitions) {
  wire::ConsumerProtocolAssignment assignment;
  for (const auto& [topic, partition] : partitions) {
    if (assignment.assigned_partitions.empty() || assignment.assigned_partitions.back().topic != topic) {
      assignment.assigned_partitions.emplace_back();
      assignment.assigned_partitions.back().topic = topic;
    }
    assignment.assigned_partitions.back().partitions.emplace_back(partition);
  }
  return versioned(assignment, kAssignmentVersion);
}

std::optional<std::vector<TopicPartition>> decode_assignment(const Bytes& bytes) {
  std::vector<TopicPartition> partitions;
  if (bytes.empty()) {
    return partitions;  // a leader that gives a member nothing may leave it out
  }
  wire::ConsumerProtocolAssignment assignment;
  if (!read_versioned(bytes, assignment)) {
    return std::nullopt;
  }
  for (const auto& topic : assignment.assigned_partitions) {
    for (const PartitionIndex partition : topic.partitions) {
      partitions.emplace_back(topic.topic, partition.value());
    }
  }
  return partitions;
}

}  // namespace hw::client
