// SPDX-License-Identifier: Apache-2.0
// The assignors of classic groups, and the form in which members tell their topics and get their partitions.
//
//   range               per topic, members in order get runs of partitions, the first ones one more when it does not divide
//   roundrobin          all partitions of all topics in turn to the members in order
//   sticky              even, and what a member had it keeps as far as that allows (KIP-54); eager
//   cooperative-sticky  the same, in two rounds: what moves is first given up by who has it, then given to the next (KIP-429)
//
// "In order": static members first, by instance id, then the others by member id, as Kafka's assignors sort them.
// Pure functions; the outcome depends on nothing but the arguments. Sources: Kafka's consumer protocol (ConsumerProtocolSubscription
// and -Assignment), and the user data of its StickyAssignor: previous assignment, then generation; of its CooperativeStickyAssignor:
// the generation.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/bytes.h"

namespace hw::client {

using TopicPartition = std::pair<std::string, std::int32_t>;

enum class Assignor : std::uint8_t { range, round_robin, sticky, cooperative_sticky };
[[nodiscard]] const char* assignor_name(Assignor assignor) noexcept;  // Kafka's: "range", "roundrobin", …
[[nodiscard]] std::optional<Assignor> parse_assignor(std::string_view name) noexcept;
// Members keep what they have while they rejoin, and give up only what the new assignment takes from them.
[[nodiscard]] bool cooperates(Assignor assignor) noexcept;

struct GroupMember {
  std::string id;
  std::vector<std::string> topics;
  std::optional<std::string> instance_id = std::nullopt;
  std::vector<TopicPartition> owned = {};  // what it had before (sticky), has (cooperative-sticky)
  std::int32_t generation = -1;            // that `owned` is of
};
using Assignment = std::map<std::string, std::vector<TopicPartition>>;  // by member id

// Every member has an entry, be it empty. `partitions`: how many each topic has; unknown topics give nothing.
[[nodiscard]] Assignment assign(Assignor assignor, std::vector<GroupMember> members,
                                const std::map<std::string, std::int32_t>& partitions);

// ---- what members tell and are told
struct Subscription {
  std::vector<std::string> topics;
  std::vector<TopicPartition> owned;
  std::int32_t generation = -1;
  std::optional<std::string> rack = std::nullopt;
};
[[nodiscard]] Bytes encode_subscription(Assignor assignor, const Subscription& subscription);
// Takes owned partitions and generation from where this assignor's members put them.
[[nodiscard]] std::optional<Subscription> decode_subscription(Assignor assignor, const Bytes& metadata);
[[nodiscard]] Bytes encode_assignment(const std::vector<TopicPartition>& partitions);
[[nodiscard]] std::optional<std::vector<TopicPartition>> decode_assignment(const Bytes& assignment);

// For tests and for sticky_assignor.cpp: members as Kafka's assignors sort them.
void sort_members(std::vector<GroupMember>& members);
// The even and sticky assignment, all moves made at once. REQUIRES: members sorted.
[[nodiscard]] Assignment assign_sticky(const std::vector<GroupMember>& members,
                                       const std::map<std::string, std::int32_t>& partitions);

}  // namespace hw::client
