// SPDX-License-Identifier: Apache-2.0
// Migration: a group changes between the classic and the consumer protocol while it has members
// (group.consumer.migration.policy), or because it has none.
//
//   upgrade    a member of the consumer protocol joins a classic group of consumers: its generation
//              becomes the epoch, its members go on with the classic protocol in a consumer group
//   downgrade  the last member of the consumer protocol goes, or comes back as a classic one: the
//              epoch becomes the generation, the target the assignment
//
// Records are staged; should they not be committed, the group is again what it was.
// Thread rule: one thread. Source: behaviours 186, 187; KIP-848 (migration).
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>

#include "engine/groups/classic/classic_protocol.h"
#include "engine/groups/consumer/consumer_protocol.h"
#include "engine/groups/runtime/shard.h"

namespace hw::groups {

class Migration {
 public:
  Migration(Runtime& runtime, ClassicProtocol& classic, ConsumerProtocol& consumer)
      : runtime_(runtime), classic_(classic), consumer_(consumer) {}

  // Makes it a consumer group with the same members, or says why not.
  [[nodiscard]] std::optional<Refusal> upgrade(Shard& shard, ClassicGroup& group, Now now);
  // An empty group may be of another kind from now on, whatever the policy is.
  void drop_empty(Shard& shard, const ClassicGroup& group);
  static void drop_empty(Shard& shard, const ConsumerGroup& group, Now now);

  // Whether only classic members are left without these, and may be a classic group.
  [[nodiscard]] bool downgrades_without(const ConsumerGroup& group,
                                        const std::set<std::string>& members) const;
  // The same where a classic member comes in the place of this one.
  [[nodiscard]] bool downgrades_replacing(const ConsumerGroup& group,
                                          const ConsumerMember& member) const;
  // Makes it a classic group without these members. `rebalance`: its assignment does not do.
  void downgrade(Shard& shard, const ConsumerGroup& group, const std::set<std::string>& leaving,
                 const std::string& why, Now now, bool rebalance = true);

  // What a member of the classic protocol is told that it has.
  [[nodiscard]] Bytes classic_assignment(const Assignment& assignment,
                                         const Bytes& subscription) const;

 private:
  // Takes the group out of the shard until the records that replace it are committed.
  void take_out(Shard& shard, const ClassicGroup& group);
  [[nodiscard]] std::optional<std::vector<ConsumerMember>> members_of(
      const ClassicGroup& group) const;

  Runtime& runtime_;
  ClassicProtocol& classic_;
  ConsumerProtocol& consumer_;
};

// What a classic member of the consumer protocol says: its whole subscription. Nothing where the
// bytes are not one.
struct ClassicSubscription {
  std::vector<std::string> topics;  // ascending, each once
  std::optional<std::string> rack;
  Assignment owned;
};

[[nodiscard]] std::optional<ClassicSubscription> read_subscription(
    const Bytes& metadata, const metadata::MetadataImage& image);

}  // namespace hw::groups
