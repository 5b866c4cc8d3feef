// SPDX-License-Identifier: Apache-2.0
#include "engine/groups/consumer/consumer_records.h"

#include <algorithm>
#include <utility>

#include "engine/base/assert.h"
#include "engine/groups/runtime/record_frame.h"

namespace hw::groups {
namespace {

template <class Message>
std::optional<ConsumerValue> value_of(const Bytes& bytes) {
  std::optional<Message> message = unframed<Message>(bytes);
  return message ? std::optional<ConsumerValue>(std::move(*message)) : std::nullopt;
}

Record record(const std::string& group, ConsumerRecord kind, const std::string& name,
              const ConsumerValue& value) {
  return {encode_consumer_key({group, kind, name}), encode_consumer_value(value)};
}

using CurrentValue = wire::ConsumerGroupCurrentMemberAssignmentValue;

std::vector<CurrentValue::TopicPartitions> stored(const Owned& owned) {
  std::vector<CurrentValue::TopicPartitions> topics;
  for (const auto& [topic, partitions] : owned) {
    CurrentValue::TopicPartitions entry;
    entry.topic_id = topic;
    entry.assignment_epochs.emplace();
    for (const auto& [partition, epoch] : partitions) {
      entry.partitions.push_back(partition);
      entry.assignment_epochs->push_back(epoch);
    }
    topics.push_back(std::move(entry));
  }
  return topics;
}

// Records from before the epochs of partitions: they count from the member's.
Owned restored(const std::vector<CurrentValue::TopicPartitions>& topics, std::int32_t epoch) {
  Owned owned;
  for (const auto& topic : topics) {
    const bool known =
        topic.assignment_epochs && topic.assignment_epochs->size() == topic.partitions.size();
    for (std::size_t i = 0; i < topic.partitions.size(); ++i) {
      owned[topic.topic_id][topic.partitions[i]] = known ? (*topic.assignment_epochs)[i] : epoch;
    }
  }
  return owned;
}

MemberState state_of(std::int8_t number) {
  switch (static_cast<MemberState>(number)) {
    case MemberState::stable:
    case MemberState::unrevoked:
    case MemberState::unreleased:
      return static_cast<MemberState>(number);
    case MemberState::unknown:
      break;
  }
  return MemberState::unknown;
}

void sort_unique(std::vector<std::string>& texts) {
  std::sort(texts.begin(), texts.end());
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
}

}  // namespace

std::optional<ConsumerValue> decode_consumer_value(ConsumerRecord kind, const Bytes& value) {
  switch (kind) {
    case ConsumerRecord::group:
      return value_of<wire::ConsumerGroupMetadataValue>(value);
    case ConsumerRecord::partition_metadata:
      return value_of<wire::ConsumerGroupPartitionMetadataValue>(value);
    case ConsumerRecord::member: {
      std::optional<ConsumerValue> member = value_of<wire::ConsumerGroupMemberMetadataValue>(value);
      if (member) {
        auto& classic =
            std::get<wire::ConsumerGroupMemberMetadataValue>(*member).classic_member_metadata;
        if (classic) {  // slices of whole log reads must not stay in memory for one record
          for (auto& protocol : classic->supported_protocols) {
            protocol.metadata = Bytes::copy_of(protocol.metadata.span());
          }
        }
      }
      return member;
    }
    case ConsumerRecord::target:
      return value_of<wire::ConsumerGroupTargetAssignmentMetadataValue>(value);
    case ConsumerRecord::target_member:
      return value_of<wire::ConsumerGroupTargetAssignmentMemberValue>(value);
    case ConsumerRecord::current:
      return value_of<CurrentValue>(value);
    case ConsumerRecord::regex:
      return value_of<wire::ConsumerGroupRegularExpressionValue>(value);
  }
  return std::nullopt;
}

Bytes encode_consumer_value(const ConsumerValue& value) {
  std::optional<Bytes> bytes =
      std::visit([](const auto& message) { return framed(0, message, 0); }, value);
  HW_ASSERT(bytes.has_value(), "the formats of these values have no bounds that a request exceeds");
  return std::move(*bytes);
}

void apply(const wire::ConsumerGroupMemberMetadataValue& value, ConsumerMember& member) {
  member.instance = value.instance_id;
  member.rack = value.rack_id;
  member.client_id = value.client_id;
  member.client_host = value.client_host;
  member.topics = value.subscribed_topic_names;
  sort_unique(member.topics);
  member.regex = value.subscribed_topic_regex.value_or(std::string());
  member.rebalance_timeout_ms = value.rebalance_timeout_ms;
  member.assignor = value.server_assignor;
  member.classic.reset();
  if (value.classic_member_metadata) {
    member.classic.emplace();
    member.classic->session_timeout_ms = value.classic_member_metadata->session_timeout_ms;
    for (const auto& protocol : value.classic_member_metadata->supported_protocols) {
      member.classic->protocols.push_back({protocol.name, protocol.metadata});
    }
  }
}

void apply(const CurrentValue& value, ConsumerMember& member) {
  member.epoch = value.member_epoch;
  member.previous_epoch = value.previous_member_epoch;
  member.state = state_of(value.state);
  member.assigned = restored(value.assigned_partitions, value.member_epoch);
  member.revoking = restored(value.partitions_pending_revocation, value.member_epoch);
}

Assignment to_assignment(const wire::ConsumerGroupTargetAssignmentMemberValue& value) {
  Assignment assignment;
  for (const auto& topic : value.topic_partitions) {
    if (!topic.partitions.empty()) {
      auto& partitions = assignment[topic.topic_id];
      partitions = topic.partitions;
      std::sort(partitions.begin(), partitions.end());
    }
  }
  return assignment;
}

ResolvedRegex to_regex(const wire::ConsumerGroupRegularExpressionValue& value) {
  ResolvedRegex resolved{value.topics, value.version, value.timestamp};
  sort_unique(resolved.topics);
  return resolved;
}

Record group_record(const std::string& group, std::int32_t epoch, std::int64_t hash) {
  wire::ConsumerGroupMetadataValue value;
  value.epoch = epoch;
  value.metadata_hash = hash;
  return record(group, ConsumerRecord::group, {}, std::move(value));
}

Record member_record(const std::string& group, const ConsumerMember& member) {
  wire::ConsumerGroupMemberMetadataValue value;
  value.instance_id = member.instance;
  value.rack_id = member.rack;
  value.client_id = member.client_id;
  value.client_host = member.client_host;
  value.subscribed_topic_names = member.topics;
  value.subscribed_topic_regex = member.regex;
  value.rebalance_timeout_ms = member.rebalance_timeout_ms;
  value.server_assignor = member.assignor;
  if (member.classic) {
    auto& classic = value.classic_member_metadata.emplace();
    classic.session_timeout_ms = member.classic->session_timeout_ms;
    for (const Protocol& protocol : member.classic->protocols) {
      auto& entry = classic.supported_protocols.emplace_back();
      entry.name = protocol.name;
      entry.metadata = protocol.metadata;
    }
  }
  return record(group, ConsumerRecord::member, member.id, std::move(value));
}

Record target_record(const std::string& group, std::int32_t epoch, std::int64_t timestamp_ms) {
  wire::ConsumerGroupTargetAssignmentMetadataValue value;
  value.assignment_epoch = epoch;
  value.assignment_timestamp = timestamp_ms;
  return record(group, ConsumerRecord::target, {}, std::move(value));
}

Record target_member_record(const std::string& group, const std::string& member,
                            const Assignment& target) {
  wire::ConsumerGroupTargetAssignmentMemberValue value;
  for (const auto& [topic, partitions] : target) {
    auto& entry = value.topic_partitions.emplace_back();
    entry.topic_id = topic;
    entry.partitions = partitions;
  }
  return record(group, ConsumerRecord::target_member, member, std::move(value));
}

Record current_record(const std::string& group, const ConsumerMember& member) {
  CurrentValue value;
  value.member_epoch = member.epoch;
  value.previous_member_epoch = member.previous_epoch;
  value.state = static_cast<std::int8_t>(member.state);
  value.assigned_partitions = stored(member.assigned);
  value.partitions_pending_revocation = stored(member.revoking);
  return record(group, ConsumerRecord::current, member.id, std::move(value));
}

Record regex_record(const std::string& group, const std::string& regex,
                    const ResolvedRegex& resolved) {
  wire::ConsumerGroupRegularExpressionValue value;
  value.topics = resolved.topics;
  value.version = resolved.version;
  value.timestamp = resolved.timestamp_ms;
  return record(group, ConsumerRecord::regex, regex, std::move(value));
}

Record tombstone(const std::string& group, ConsumerRecord kind, const std::string& name) {
  return {encode_consumer_key({group, kind, name}), std::nullopt};
}

Assignment without_epochs(const Owned& owned) {
  Assignment assignment;
  for (const auto& [topic, partitions] : owned) {
    for (const auto& [partition, epoch] : partitions) {
      assignment[topic].push_back(partition);
    }
  }
  return assignment;
}

Owned at_epoch(const Assignment& assignment, std::int32_t epoch) {
  Owned owned;
  for (const auto& [topic, partitions] : assignment) {
    for (const PartitionIndex partition : partitions) {
      owned[topic][partition] = epoch;
    }
  }
  return owned;
}

}  // namespace hw::groups
