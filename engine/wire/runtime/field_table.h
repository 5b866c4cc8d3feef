// SPDX-License-Identifier: Apache-2.0
// What the schemas say, as constant data: one FieldInfo per field of every message.
//
// The tables are generated beside the codec, from the same schemas. One small interpreter over them gives the
// dissector (bytes to a tree of fields with byte ranges), the printer and the random messages; nobody writes a second
// codec by hand. Everything here is constant and lives for ever; any thread.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

namespace hw::wire {

inline constexpr std::int16_t kNever = std::numeric_limits<std::int16_t>::max();

// Both ends included; empty where low > high. `high` is kNever for "and all later ones".
struct VersionRange {
  std::int16_t low = 1;
  std::int16_t high = 0;
  [[nodiscard]] constexpr bool contains(std::int16_t version) const noexcept {
    return low <= version && version <= high;
  }
  [[nodiscard]] constexpr bool empty() const noexcept { return low > high; }
  friend constexpr bool operator==(VersionRange, VersionRange) noexcept = default;
};

enum class WireType : std::uint8_t {
  boolean,
  int8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  float64,
  uuid,
  string,
  bytes,
  records,
  structure,
};

// What a number or a text stands for, beyond its form on the wire.
enum class Meaning : std::uint8_t {
  plain,
  broker_id,
  producer_id,
  producer_epoch,
  partition_index,
  leader_epoch,
  offset,
  error_code,
  topic_name,
  group_id,
  transactional_id,
};

struct StructInfo;

struct FieldInfo {
  std::string_view name;  // Kafka's name in snake_case
  WireType type;          // of the element where `array` is set
  Meaning meaning;
  bool array;
  VersionRange versions;
  VersionRange nullable;        // inside `versions`
  std::int32_t tag;             // -1: not tagged
  std::string_view default_text;  // as in the schema, "" where it says nothing, "null", "-1", "true"
  bool ignorable;  // silently left out in versions that cannot carry it
  bool map_key;    // part of the key where Kafka keeps the enclosing array as a keyed collection
  bool zero_copy;
  bool sensitive;      // never printed
  bool never_compact;  // keeps the old length form in flexible versions
  const StructInfo* fields;  // of a structure, else null
};

struct StructInfo {
  std::string_view name;  // Kafka's
  VersionRange versions;
  std::span<const FieldInfo> fields;
};

enum class MessageKind : std::uint8_t { request, response, header, data, metadata, coordinator_key, coordinator_value };

struct MessageInfo {
  std::string_view name;  // "ProduceRequest"
  MessageKind kind;
  std::int16_t key;  // API key; record type of metadata and coordinator records; -1 where there is none
  VersionRange versions;
  std::int16_t flexible_from;  // kNever where no version is flexible
  const StructInfo* root;
};

}  // namespace hw::wire
