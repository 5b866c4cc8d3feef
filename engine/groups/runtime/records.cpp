// SPDX-License-Identifier: Apache-2.0
#include "engine/groups/runtime/records.h"

#include "engine/wire/msg/group_metadata_key.h"
#include "engine/wire/msg/offset_commit_key.h"
#include "engine/wire/runtime/reader.h"
#include "engine/wire/runtime/writer.h"

namespace hw::groups {
namespace {

constexpr std::int16_t kLegacyOffsetKey = 0;
constexpr std::int16_t kOffsetKey = 1;
constexpr std::int16_t kGroupKey = 2;
constexpr std::int16_t kOffsetValueVersion = 4;
constexpr std::int16_t kOffsetValueVersionWithExpiry = 1;
constexpr std::int16_t kGroupValueVersion = 3;

template <class Message>
std::optional<Bytes> framed(std::int16_t prefix, const Message& message, std::int16_t version) {
  wire::Writer writer;
  writer.int16(prefix);
  if (!encode(writer, message, version) || !writer.ok()) {
    return std::nullopt;
  }
  return writer.finish().flatten();
}

template <class Message>
std::optional<Message> unframed(const Bytes& value) {
  wire::Reader reader(value);
  const std::int16_t version = reader.int16();
  Message message;
  if (!reader.ok() || version < Message::kLowestVersion || version > Message::kHighestVersion ||
      !decode(reader, message, version) || !reader.ok()) {
    return std::nullopt;
  }
  return message;
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

std::optional<Bytes> encode_offset_value(const wire::OffsetCommitValue& value) {
  const std::int16_t version =
      value.expire_timestamp == -1 ? kOffsetValueVersion : kOffsetValueVersionWithExpiry;
  return framed(version, value, version);
}

std::optional<Bytes> encode_group_value(const wire::GroupMetadataValue& value) {
  return framed(kGroupValueVersion, value, kGroupValueVersion);
}

}  // namespace hw::groups
