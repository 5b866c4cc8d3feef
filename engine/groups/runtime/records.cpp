// SPDX-License-Identifier: Apache-2.0
#include "engine/groups/runtime/records.h"

#include <utility>

#include "engine/base/assert.h"
#include "engine/groups/runtime/record_frame.h"
#include "engine/wire/msg/consumer_group_current_member_assignment_key.h"
#include "engine/wire/msg/consumer_group_member_metadata_key.h"
#include "engine/wire/msg/consumer_group_metadata_key.h"
#include "engine/wire/msg/consumer_group_partition_metadata_key.h"
#include "engine/wire/msg/consumer_group_regular_expression_key.h"
#include "engine/wire/msg/consumer_group_target_assignment_member_key.h"
#include "engine/wire/msg/consumer_group_target_assignment_metadata_key.h"
#include "engine/wire/msg/group_metadata_key.h"
#include "engine/wire/msg/offset_commit_key.h"

namespace hw::groups {
namespace {

constexpr std::int16_t kLegacyOffsetKey = 0;
constexpr std::int16_t kOffsetKey = 1;
constexpr std::int16_t kGroupKey = 2;
constexpr std::int16_t kOffsetValueVersion = 4;
constexpr std::int16_t kOffsetValueVersionWithExpiry = 1;
constexpr std::int16_t kGroupValueVersion = 3;

// A key of a group alone (Message has no field but the group), or of a group and a name.
template <class Message>
std::optional<RecordKey> group_key(wire::Reader& reader, ConsumerRecord kind) {
  Message message;
  if (!decode(reader, message, 0) || !reader.ok()) {
    return std::nullopt;
  }
  ConsumerKey key{std::move(message.group_id), kind, {}};
  if constexpr (requires { message.member_id; }) {
    key.name = std::move(message.member_id);
  } else if constexpr (requires { message.regular_expression; }) {
    key.name = std::move(message.regular_expression);
  }
  return key;
}

template <class Message>
Bytes framed_key(const ConsumerKey& key) {
  Message message;
  message.group_id = key.group;
  if constexpr (requires { message.member_id; }) {
    message.member_id = key.name;
  } else if constexpr (requires { message.regular_expression; }) {
    message.regular_expression = key.name;
  }
  std::optional<Bytes> bytes = framed(static_cast<std::int16_t>(key.kind), message, 0);
  HW_ASSERT(bytes.has_value(), "the texts of a key were measured before");
  return std::move(*bytes);
}

// Calls `use` with the message type of the key of `kind`; a default Result for any other.
template <class Result, class Use>
Result with_key_type(ConsumerRecord kind, Use use) {
  switch (kind) {
    case ConsumerRecord::group:
      return use.template operator()<wire::ConsumerGroupMetadataKey>();
    case ConsumerRecord::partition_metadata:
      return use.template operator()<wire::ConsumerGroupPartitionMetadataKey>();
    case ConsumerRecord::member:
      return use.template operator()<wire::ConsumerGroupMemberMetadataKey>();
    case ConsumerRecord::target:
      return use.template operator()<wire::ConsumerGroupTargetAssignmentMetadataKey>();
    case ConsumerRecord::target_member:
      return use.template operator()<wire::ConsumerGroupTargetAssignmentMemberKey>();
    case ConsumerRecord::current:
      return use.template operator()<wire::ConsumerGroupCurrentMemberAssignmentKey>();
    case ConsumerRecord::regex:
      return use.template operator()<wire::ConsumerGroupRegularExpressionKey>();
  }
  return Result{};
}

bool is_consumer_kind(std::int16_t kind) {
  return (kind >= static_cast<std::int16_t>(ConsumerRecord::group) &&
          kind <= static_cast<std::int16_t>(ConsumerRecord::current)) ||
         kind == static_cast<std::int16_t>(ConsumerRecord::regex);
}

}  // namespace

std::optional<RecordKey> decode_key(const Bytes& key) {
  wire::Reader reader(key);
  const std::int16_t kind = reader.int16();
  if (!reader.ok()) {
    return std::nullopt;
  }
  if (kind == kLegacyOffsetKey || kind == kOffsetKey) {  // the same fields
    wire::OffsetCommitKey message;
    if (!decode(reader, message, 0) || !reader.ok()) {
      return std::nullopt;
    }
    return OffsetKey{std::move(message.group), std::move(message.topic), message.partition.value()};
  }
  if (kind == kGroupKey) {
    wire::GroupMetadataKey message;
    if (!decode(reader, message, 0) || !reader.ok()) {
      return std::nullopt;
    }
    return GroupKey{std::move(message.group)};
  }
  if (is_consumer_kind(kind)) {
    const auto as = static_cast<ConsumerRecord>(kind);
    return with_key_type<std::optional<RecordKey>>(
        as, [&]<class Message>() { return group_key<Message>(reader, as); });
  }
  return OtherKey{kind};
}

std::optional<wire::OffsetCommitValue> decode_offset_value(const Bytes& value) {
  return unframed<wire::OffsetCommitValue>(value);
}

std::optional<wire::GroupMetadataValue> decode_group_value(const Bytes& value) {
  return unframed<wire::GroupMetadataValue>(value);
}

Bytes encode_offset_key(std::string_view group, std::string_view topic, std::int32_t partition) {
  wire::OffsetCommitKey key;
  key.group = group;
  key.topic = topic;
  key.partition = PartitionIndex(partition);
  return framed(kOffsetKey, key, 0).value_or(Bytes());
}

Bytes encode_group_key(std::string_view group) {
  wire::GroupMetadataKey key;
  key.group = group;
  return framed(kGroupKey, key, 0).value_or(Bytes());
}

Bytes encode_consumer_key(const ConsumerKey& key) {
  return with_key_type<Bytes>(key.kind, [&]<class Message>() { return framed_key<Message>(key); });
}

std::optional<Bytes> encode_offset_value(const wire::OffsetCommitValue& value) {
  const std::int16_t version =
      value.expire_timestamp == -1 ? kOffsetValueVersion : kOffsetValueVersionWithExpiry;
  return framed(version, value, version);
}

std::optional<Bytes> encode_group_value(const wire::GroupMetadataValue& value) {
  return framed(kGroupValueVersion, value, kGroupValueVersion);
}

}  // namespace hw::groups
