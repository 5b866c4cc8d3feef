// SPDX-License-Identifier: Apache-2.0
// Group: what the coordinator's runtime and the committed offsets need to know of a group, whatever
// protocol its members speak. One class per kind derives from it (classic/; further kinds beside
// it), and one map of a shard holds them all, because a name belongs to one kind at a time.
//
// A new kind: derive, say in Shard::end_load what its records build, list its record kinds in
// runtime/records.h, and give it a protocol class as classic/ has; offsets, expiry, deletion,
// ListGroups and the events follow from here.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/groups/coordinator.h"
#include "engine/wire/runtime/error_code.h"

namespace hw::groups {

enum class GroupKind : std::uint8_t { classic, consumer, share, streams };

// As ListGroups names it (KIP-848, KIP-932, KIP-1071).
[[nodiscard]] constexpr const char* kind_name(GroupKind kind) noexcept {
  switch (kind) {
    case GroupKind::classic:
      return "classic";
    case GroupKind::consumer:
      return "consumer";
    case GroupKind::share:
      return "share";
    case GroupKind::streams:
      return "streams";
  }
  return "";
}

class Group {
 public:
  // `serial` tells two groups of one name apart (deleted and created again).
  Group(std::string id, std::uint64_t serial) : id_(std::move(id)), serial_(serial) {}

  virtual ~Group() = default;
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  [[nodiscard]] const std::string& id() const noexcept { return id_; }

  [[nodiscard]] std::uint64_t serial() const noexcept { return serial_; }

  [[nodiscard]] virtual GroupKind kind() const noexcept = 0;
  [[nodiscard]] virtual const char* state_text() const noexcept = 0;  // Kafka's name
  [[nodiscard]] virtual std::string protocol_type_text() const = 0;   // "": not known
  // Nobody is in it: it may be deleted, and goes when its last offset has expired.
  [[nodiscard]] virtual bool is_empty() const noexcept = 0;

  // --- committed offsets
  // Who commits, in its own words.
  struct Committer {
    std::string_view member;
    const std::optional<std::string>& instance;
    std::int32_t generation;  // or member epoch
    std::int16_t api_version;
    bool transactional = false;  // TxnOffsetCommit, which need not say who commits
  };

  // Whether a member may commit: none or the error (behaviours 163, 183).
  [[nodiscard]] virtual wire::ErrorCode validate_commit(const Committer& by) const = 0;

  // The same for one partition. REQUIRES: validate_commit() says none.
  [[nodiscard]] virtual wire::ErrorCode validate_commit_of(const Committer& by, const Uuid& topic,
                                                           PartitionIndex partition) const {
    static_cast<void>(by);
    static_cast<void>(topic);
    static_cast<void>(partition);
    return wire::ErrorCode::none;
  }

  // Whether a member that says who it is may fetch offsets: none or the error (behaviour 184).
  [[nodiscard]] virtual wire::ErrorCode validate_fetch(const std::optional<std::string>& member,
                                                       std::int32_t epoch) const {
    static_cast<void>(member);
    static_cast<void>(epoch);
    return wire::ErrorCode::none;
  }

  // Whether offsets may be deleted at all: none or the error (behaviour 166).
  [[nodiscard]] virtual wire::ErrorCode validate_offset_delete() const noexcept = 0;
  // Whether the group reads the topic, as far as the coordinator can know (behaviours 166, 167).
  [[nodiscard]] virtual bool subscribed_to(std::string_view topic) const = 0;
  // Since when an offset is unused that was committed at `committed_ms`; nothing: it is in use.
  [[nodiscard]] virtual std::optional<std::int64_t> unused_since_ms(
      std::string_view topic, std::int64_t committed_ms) const = 0;

  // The records that take the group out of the log.
  virtual void tombstones(std::vector<Record>& records) const = 0;

 private:
  std::string id_;
  std::uint64_t serial_;
};

}  // namespace hw::groups
