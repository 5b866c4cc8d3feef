// SPDX-License-Identifier: Apache-2.0
// ClassicMembers: JoinGroup, SyncGroup, Heartbeat and LeaveGroup of members that speak the classic
// protocol within a consumer group. To them the member epoch is the generation; they get no
// partition before its owner has given it back, and learn that there is something for them from a
// heartbeat that says REBALANCE_IN_PROGRESS. Thread rule: one thread. Source: behaviour 186;
// KIP-848 (migration).
#pragma once

#include <optional>
#include <string>

#include "engine/groups/consumer/consumer_protocol.h"
#include "engine/groups/consumer/migration.h"
#include "engine/groups/runtime/shard.h"

namespace hw::groups {

class ClassicMembers {
 public:
  ClassicMembers(Runtime& runtime, ConsumerProtocol& consumer, Migration& migration)
      : runtime_(runtime), consumer_(consumer), migration_(migration) {}

  // REQUIRES of all: the group is a consumer group; of join: not empty.
  void join(Shard& shard, const wire::JoinGroupRequest& request, const RequestContext& context,
            Now now, const Done<wire::JoinGroupResponse>& done);
  void sync(Shard& shard, const wire::SyncGroupRequest& request, Now now,
            const Done<wire::SyncGroupResponse>& done);
  void heartbeat(Shard& shard, const wire::HeartbeatRequest& request, Now now,
                 const Done<wire::HeartbeatResponse>& done);
  void leave(Shard& shard, const wire::LeaveGroupRequest& request, Now now,
             const Done<wire::LeaveGroupResponse>& done);

 private:
  // The classic member that a request is of; null, and the error.
  [[nodiscard]] static const ConsumerMember* member_of(const ConsumerGroup& group,
                                                       const std::string& member,
                                                       const std::optional<std::string>& instance,
                                                       std::int32_t generation,
                                                       wire::ErrorCode& error);
  void expect_join(Shard& shard, const std::string& group, const ConsumerMember& member, Now now);

  Runtime& runtime_;
  ConsumerProtocol& consumer_;
  Migration& migration_;
};

}  // namespace hw::groups
