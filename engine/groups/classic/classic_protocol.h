// SPDX-License-Identifier: Apache-2.0
// ClassicProtocol: JoinGroup, SyncGroup, Heartbeat, LeaveGroup and the timers of classic groups, on
// one shard at a time.
//
// The rebalance: members join (barrier 1: all have joined, or the longest rebalance timeout is
// over), the leader gets the member list and sends assignments with SyncGroup, they are written as
// a record, and when that is committed every member gets its own (barrier 2). See classic_group.h
// for the states. Requests are checked already for what needs no group (ids, session timeout
// range). Thread rule: one thread. Source: behaviours 147-163; KIP-62, 134, 345, 389, 394, 559,
// 814.
#pragma once

#include <string>
#include <string_view>

#include "engine/groups/runtime/shard.h"

namespace hw::groups {

class ClassicProtocol {
 public:
  explicit ClassicProtocol(Runtime& runtime) : runtime_(runtime) {}

  void join(Shard& shard, const wire::JoinGroupRequest& request, const RequestContext& context,
            Now now, const Done<wire::JoinGroupResponse>& done);
  void sync(Shard& shard, const wire::SyncGroupRequest& request, Now now,
            const Done<wire::SyncGroupResponse>& done);
  void heartbeat(Shard& shard, const wire::HeartbeatRequest& request, Now now,
                 const Done<wire::HeartbeatResponse>& done);
  void leave(Shard& shard, const wire::LeaveGroupRequest& request, Now now,
             const Done<wire::LeaveGroupResponse>& done);

  // The member is alive: its session begins anew.
  void restart_session(Shard& shard, const ClassicGroup& group, const ClassicMember& member,
                       Now now);

  // A member has committed offsets, and so shown that it lives.
  void committed(Shard& shard, ClassicGroup& group, std::string_view member_id, Now now);

  void timer(Shard& shard, const TimerKey& key, Now now);
  // After loading: sessions begin, events tell what is there.
  void loaded(Shard& shard, Now now);
  // Everybody who waits is told to look for the coordinator.
  void unload(Shard& shard, Now now);
  // A group that was a consumer group until now and is Stable: sessions begin. Where there is a
  // reason, it rebalances at once.
  void adopt(Shard& shard, ClassicGroup& group, const std::string& reason, bool rebalance, Now now);
  // Answers everybody who waits; the group is about to be removed.
  void abandon(Shard& shard, ClassicGroup& group, wire::ErrorCode error);

 private:
  using Waiting = Done<wire::JoinGroupResponse>;

  // Why a group rebalances: for people, and fact by fact.
  struct Why {
    std::string text;
    std::vector<RebalanceTracker::Trigger> triggers;
  };

  void join_new(Shard& shard, ClassicGroup& group, const wire::JoinGroupRequest& request,
                const RequestContext& context, std::vector<Protocol> protocols, Now now,
                const Waiting& done);
  void join_existing(Shard& shard, ClassicGroup& group, const wire::JoinGroupRequest& request,
                     const RequestContext& context, std::vector<Protocol> protocols, Now now,
                     const Waiting& done);
  void add_member(Shard& shard, ClassicGroup& group, const std::string& member_id,
                  const wire::JoinGroupRequest& request, const RequestContext& context,
                  std::vector<Protocol> protocols, Now now, const Waiting& done);
  void replace_static(Shard& shard, ClassicGroup& group, const std::string& old_id,
                      const std::string& new_id, const wire::JoinGroupRequest& request,
                      const RequestContext& context, std::vector<Protocol> protocols, Now now,
                      const Waiting& done);
  void static_stored(Shard& shard, const std::string& group_id, std::uint64_t serial,
                     const std::string& new_id, bool skip_assignment,
                     const std::optional<std::string>& old_leader, Now now);
  [[nodiscard]] bool accepts(ClassicGroup& group, std::string_view member) const;

  void rebalance_or_complete(Shard& shard, ClassicGroup& group, const Why& why, Now now);
  void prepare_rebalance(Shard& shard, ClassicGroup& group, const Why& why, Now now);
  void complete_join_if_all(Shard& shard, ClassicGroup& group, Now now);
  void complete_join(Shard& shard, ClassicGroup& group, Now now);
  void write_group(Shard& shard, const ClassicGroup& group,
                   const std::map<std::string, Bytes, std::less<>>* assignments,
                   Shard::Outcome outcome, Now now);
  void assignments_stored(Shard& shard, const std::string& group_id, std::uint64_t serial,
                          std::int32_t generation, const std::string& leader,
                          const std::map<std::string, Bytes, std::less<>>& assignments,
                          wire::ErrorCode error, Now now);
  void propagate(Shard& shard, ClassicGroup& group, wire::ErrorCode error, Now now);
  void remove_member(Shard& shard, ClassicGroup& group,
                     std::string_view member_id);  // answers it first
  void expire_session(Shard& shard, ClassicGroup& group, const std::string& member_id, Now now);
  void expire_sync(Shard& shard, ClassicGroup& group, Now now);
  void initial_delay_over(Shard& shard, ClassicGroup& group, Now now);

  void schedule(Shard& shard, TimerKey::Kind kind, const ClassicGroup& group,
                std::string_view member, std::int64_t delay_ms, Now now);
  void cancel(Shard& shard, TimerKey::Kind kind, const ClassicGroup& group,
              std::string_view member);
  void transition(ClassicGroup& group, ClassicState to, const std::string& reason, Now now);
  void tell_state(const ClassicGroup& group, const std::string& reason);
  void tell_members(const ClassicGroup& group);
  void tell_rebalance(ClassicGroup& group, Now now);

  Runtime& runtime_;

  // Initial rebalances: how much of the rebalance timeout is left beyond the delay that runs, and
  // that delay.
  struct InitialDelay {
    std::uint64_t serial = 0;
    std::int64_t delay_ms = 0;
    std::int64_t remaining_ms = 0;
  };

  std::map<std::pair<PartitionIndex, std::string>, InitialDelay> initial_;
  std::map<std::pair<PartitionIndex, std::string>, std::string>
      reasons_;  // of the rebalance that runs, for its end
};

// The protocols of a request, the first of equal names: copies, so that a member does not keep a
// request's frame in memory.
[[nodiscard]] std::vector<Protocol> protocols_of(const wire::JoinGroupRequest& request);

// Whether a member without an id is given one and asked to come back with it (KIP-394).
[[nodiscard]] bool needs_member_id(const wire::JoinGroupRequest& request,
                                   std::int16_t version) noexcept;

}  // namespace hw::groups
