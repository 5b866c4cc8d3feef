// SPDX-License-Identifier: Apache-2.0
// The values of a consumer group's records (the keys are in runtime/records.h), and what a group
// and its members are in terms of them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/base/uuid.h"
#include "engine/groups/classic/classic_group.h"
#include "engine/groups/consumer/assignor.h"
#include "engine/groups/runtime/records.h"
#include "engine/wire/msg/consumer_group_current_member_assignment_value.h"
#include "engine/wire/msg/consumer_group_member_metadata_value.h"
#include "engine/wire/msg/consumer_group_metadata_value.h"
#include "engine/wire/msg/consumer_group_partition_metadata_value.h"
#include "engine/wire/msg/consumer_group_regular_expression_value.h"
#include "engine/wire/msg/consumer_group_target_assignment_member_value.h"
#include "engine/wire/msg/consumer_group_target_assignment_metadata_value.h"

namespace hw::groups {

using ConsumerValue = std::variant<
    wire::ConsumerGroupMetadataValue, wire::ConsumerGroupPartitionMetadataValue,
    wire::ConsumerGroupMemberMetadataValue, wire::ConsumerGroupTargetAssignmentMetadataValue,
    wire::ConsumerGroupTargetAssignmentMemberValue, wire::ConsumerGroupCurrentMemberAssignmentValue,
    wire::ConsumerGroupRegularExpressionValue>;

// Nothing where the bytes are not a value of that kind. Holds no part of `value`.
[[nodiscard]] std::optional<ConsumerValue> decode_consumer_value(ConsumerRecord kind,
                                                                 const Bytes& value);
[[nodiscard]] Bytes encode_consumer_value(const ConsumerValue& value);

// Kafka's numbers.
enum class MemberState : std::int8_t {
  stable = 0,      // it has what it shall have at its epoch
  unrevoked = 1,   // it has been told to give partitions back, and has not said that it has
  unreleased = 2,  // partitions that it shall have are still another's
  unknown = 127,   // a state of a later version
};

// What a member owns, and since which epoch it was assigned each.
using Owned = std::map<Uuid, std::map<PartitionIndex, std::int32_t>>;

// A member that speaks the classic protocol within a consumer group.
struct ClassicSide {
  std::int32_t session_timeout_ms = 0;
  std::vector<Protocol> protocols;  // in order of preference; not empty
  friend bool operator==(const ClassicSide&, const ClassicSide&) = default;
};

struct ConsumerMember {
  std::string id;
  // --- its record `member`
  std::optional<std::string> instance;
  std::optional<std::string> rack;
  std::string client_id;
  std::string client_host;
  std::vector<std::string> topics;  // ascending, each once
  std::string regex;                // empty: none
  std::int32_t rebalance_timeout_ms = -1;
  std::optional<std::string> assignor;
  std::optional<ClassicSide> classic;
  // --- its record `current`
  std::int32_t epoch = 0;
  std::int32_t previous_epoch = -1;
  MemberState state = MemberState::stable;
  Owned assigned;
  Owned revoking;  // taken from it, and not known to be given back

  [[nodiscard]] bool reconciled_to(std::int32_t target) const noexcept {
    return state == MemberState::stable && epoch == target;
  }

  friend bool operator==(const ConsumerMember&, const ConsumerMember&) = default;
};

// The topics that a regular expression stands for.
struct ResolvedRegex {
  std::vector<std::string> topics;  // ascending
  std::int64_t version = 0;         // of the metadata
  std::int64_t timestamp_ms = 0;
  friend bool operator==(const ResolvedRegex&, const ResolvedRegex&) = default;
};

void apply(const wire::ConsumerGroupMemberMetadataValue& value, ConsumerMember& member);
void apply(const wire::ConsumerGroupCurrentMemberAssignmentValue& value, ConsumerMember& member);
[[nodiscard]] Assignment to_assignment(const wire::ConsumerGroupTargetAssignmentMemberValue& value);
[[nodiscard]] ResolvedRegex to_regex(const wire::ConsumerGroupRegularExpressionValue& value);

[[nodiscard]] Record group_record(const std::string& group, std::int32_t epoch, std::int64_t hash);
[[nodiscard]] Record member_record(const std::string& group, const ConsumerMember& member);
[[nodiscard]] Record target_record(const std::string& group, std::int32_t epoch,
                                   std::int64_t timestamp_ms);
[[nodiscard]] Record target_member_record(const std::string& group, const std::string& member,
                                          const Assignment& target);
[[nodiscard]] Record current_record(const std::string& group, const ConsumerMember& member);
[[nodiscard]] Record regex_record(const std::string& group, const std::string& regex,
                                  const ResolvedRegex& resolved);
[[nodiscard]] Record tombstone(const std::string& group, ConsumerRecord kind,
                               const std::string& name = {});

// The same partitions without epochs, and with one.
[[nodiscard]] Assignment without_epochs(const Owned& owned);
[[nodiscard]] Owned at_epoch(const Assignment& assignment, std::int32_t epoch);

}  // namespace hw::groups
