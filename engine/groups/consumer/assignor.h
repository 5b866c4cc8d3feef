// SPDX-License-Identifier: Apache-2.0
// The assignors that a broker has for groups of the consumer protocol (KIP-848).
//
//   uniform  even over all topics together, and what a member had it keeps as far as that allows
//   range    per topic: members in order get runs of partitions, the first ones one more where it
//            does not divide; topics with as many partitions are split alike
//
// "Even": no member has two partitions more than another that subscribes to a topic of one of them.
// "In order": static members by instance id, then the others by member id (range); by member id
// (uniform). Neither looks at racks, as Kafka 4.4's do not; they only count in topic_hash.h.
//
// Pure functions: the outcome depends on nothing but the arguments. Thread rule: any thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/ids.h"
#include "engine/base/uuid.h"

namespace hw::groups {

enum class Assignor : std::uint8_t { uniform, range };
[[nodiscard]] std::string_view assignor_name(Assignor assignor) noexcept;
[[nodiscard]] std::optional<Assignor> parse_assignor(std::string_view name) noexcept;

// Partitions ascending, each once; no topic without partitions.
using Assignment = std::map<Uuid, std::vector<PartitionIndex>>;

struct MemberSpec {
  std::vector<Uuid> topics;  // it subscribes to; ascending, each once
  Assignment current;        // its target so far; only uniform looks at it
  std::string instance;      // empty: not static; only range looks at it
};

struct GroupSpec {
  std::map<std::string, MemberSpec> members;
  std::map<Uuid, std::int32_t> topics;  // how many partitions each has
};

// Every member has an entry, be it empty; every partition that somebody subscribes to has exactly
// one owner. Topics that are not in `spec.topics` give nothing, and of what members had, partitions
// that are no more or that another one has as well are passed over.
[[nodiscard]] std::map<std::string, Assignment> assign(Assignor assignor, const GroupSpec& spec);

}  // namespace hw::groups
