// SPDX-License-Identifier: Apache-2.0
// The records of __consumer_offsets, byte for byte as Kafka writes them: an int16 in front of the
// key names the kind (0 and 1 offset commit, 2 classic group, ConsumerRecord), an int16 in front of
// the value its version. Other kinds are passed over.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "engine/groups/coordinator.h"
#include "engine/wire/msg/group_metadata_value.h"
#include "engine/wire/msg/offset_commit_value.h"

namespace hw::groups {

struct OffsetKey {
  std::string group;
  std::string topic;
  std::int32_t partition = 0;
  friend auto operator<=>(const OffsetKey&, const OffsetKey&) = default;
  friend bool operator==(const OffsetKey&, const OffsetKey&) = default;
};

struct GroupKey {
  std::string group;
};

// The records of a consumer group (KIP-848), by the number of their kind. Their values are in
// consumer/consumer_records.h.
enum class ConsumerRecord : std::int16_t {
  group = 3,
  partition_metadata = 4,  // only read, and taken away: written before Kafka 4.1
  member = 5,
  target = 6,
  target_member = 7,
  current = 8,
  regex = 16,
};

struct ConsumerKey {
  std::string group;
  ConsumerRecord kind = ConsumerRecord::group;
  std::string name;  // the member or the expression; empty where a group has one such record
  friend auto operator<=>(const ConsumerKey&, const ConsumerKey&) = default;
  friend bool operator==(const ConsumerKey&, const ConsumerKey&) = default;
};

struct OtherKey {
  std::int16_t kind = 0;
};

using RecordKey = std::variant<OffsetKey, GroupKey, ConsumerKey, OtherKey>;

// Nothing where the bytes are not a key.
[[nodiscard]] std::optional<RecordKey> decode_key(const Bytes& key);
[[nodiscard]] std::optional<wire::OffsetCommitValue> decode_offset_value(const Bytes& value);
[[nodiscard]] std::optional<wire::GroupMetadataValue> decode_group_value(const Bytes& value);

[[nodiscard]] Bytes encode_offset_key(std::string_view group, std::string_view topic,
                                      std::int32_t partition);
[[nodiscard]] Bytes encode_group_key(std::string_view group);
// REQUIRES: its texts are short enough for a key (kKeyTextMaxBytes).
[[nodiscard]] Bytes encode_consumer_key(const ConsumerKey& key);
inline constexpr std::size_t kKeyTextMaxBytes = 32'767;
// Version 1 where an expiry was asked for (clients of OffsetCommit 2-4), otherwise the newest.
// Nothing where a text is too long to be written.
[[nodiscard]] std::optional<Bytes> encode_offset_value(const wire::OffsetCommitValue& value);
[[nodiscard]] std::optional<Bytes> encode_group_value(const wire::GroupMetadataValue& value);

}  // namespace hw::groups
