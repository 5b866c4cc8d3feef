// SPDX-License-Identifier: Apache-2.0
// ConsumerProtocol: ConsumerGroupHeartbeat, the timers of consumer groups, and what the metadata of
// their topics does to them, on one shard at a time.
//
// A heartbeat goes through the same steps, each of which may add records to one append:
//
//   member changed? ─▶ group epoch ─▶ target ─▶ the member's own step towards it ─▶ answer
//                      rises if the    (at most   (reconciliation.h)
//                      subscription    once per
//                      or the topics'  assignment
//                      metadata did    interval)
//
// Records take effect when they are staged, so that each step sees the one before; the answer
// leaves when they are committed. Regular expressions are resolved a moment later, by a timer.
// Thread rule: one thread. Source: behaviours 171-190; KIP-848, KIP-1251, KIP-1263.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/groups/consumer/consumer_group.h"
#include "engine/groups/runtime/shard.h"

namespace hw::groups {

class Migration;

// Why a group changes, for those who watch.
struct Why {
  std::string text;
  std::vector<EpochTracker::Trigger> triggers{};
};

// Why a request is turned away.
struct Refusal {
  wire::ErrorCode error = wire::ErrorCode::none;
  std::string message;
};

class ConsumerProtocol {
 public:
  using Response = wire::ConsumerGroupHeartbeatResponse;

  ConsumerProtocol(Runtime& runtime, Migration& migration)
      : runtime_(runtime), migration_(migration) {}

  // What is wrong with a request whatever the group is.
  [[nodiscard]] std::optional<Refusal> malformed(const wire::ConsumerGroupHeartbeatRequest& request,
                                                 std::int16_t version) const;
  void heartbeat(Shard& shard, const wire::ConsumerGroupHeartbeatRequest& request,
                 const RequestContext& context, Now now, const Done<Response>& done);
  [[nodiscard]] wire::ConsumerGroupDescribeResponse::DescribedGroup describe(
      const Shard& shard, const std::string& id) const;

  void timer(Shard& shard, const TimerKey& key, Now now);
  // After loading, and after records were rolled back: sessions begin, events tell what is there.
  void restored(Shard& shard, const std::string& group, const std::string& why, Now now);
  void loaded(Shard& shard, Now now);
  // These topics came, went, or changed.
  void topics_changed(Shard& shard, const std::set<std::string, std::less<>>& topics) const;
  void forget_hashes(const std::set<std::string, std::less<>>& topics);

  // --- the steps, also for classic members (classic_members.h)
  struct Step {
    std::int32_t epoch = 0;  // of the group, after it
    bool subscription_changed = false;
    bool epoch_raised = false;
  };

  // What a member's step means to those who watch. `known`: it was there already; `returned`: a
  // static one, under another id or after a while.
  [[nodiscard]] static std::vector<EpochTracker::Trigger> triggers_of(const Step& step, bool known,
                                                                      bool returned,
                                                                      const ConsumerMember& member);
  // Whether one more member has no place.
  [[nodiscard]] bool full(const ConsumerGroup& group, std::string_view member,
                          const std::optional<std::string>& instance) const;
  // A static member comes back under another id: takes the old one's place, at epoch 0.
  void replace(Shard& shard, const ConsumerGroup& group, const ConsumerMember& old,
               const std::string& new_id);
  // The member as it wants to be now, the epoch of its group.
  Step change_member(Shard& shard, const std::string& group, const ConsumerMember& wanted, Now now);
  // A target for the epoch of the group, where one is due.
  void update_target(Shard& shard, const std::string& group, Now now);
  // The member's step towards the target. False: it must leave all and join again.
  [[nodiscard]] bool reconcile_member(Shard& shard, const std::string& group,
                                      const std::string& member,
                                      const std::optional<Assignment>& owned,
                                      bool subscription_changed, Now now);
  // Takes members out of a group, which may make it a classic one.
  void fence(Shard& shard, const std::string& group, const std::set<std::string>& members,
             EpochTracker::Cause cause, const std::string& why, Now now);
  void start_session(Shard& shard, const std::string& group, const std::string& member,
                     std::int64_t timeout_ms, Now now);
  void schedule(Shard& shard, TimerKey::Kind kind, const std::string& group,
                std::string_view member, std::int64_t delay_ms, Now now);
  void cancel(Shard& shard, TimerKey::Kind kind, const std::string& group, std::string_view member);
  void cancel_all(Shard& shard, const std::string& group, const std::string& member);
  // Appends what is staged, or waits for what is on its way; then `outcome`.
  void finish(Shard& shard, Shard::Outcome outcome, Now now);
  // Events: the state if it is another one, who has what, and a rebalance that is over.
  void tell(Shard& shard, const std::string& group, const Why& why, Now now);
  [[nodiscard]] std::int64_t session_timeout_ms(const std::string& group) const;
  // The hash of the metadata of these topics.
  [[nodiscard]] std::int64_t hash_of(
      const std::map<std::string, std::int32_t, std::less<>>& subscribers);

 private:
  struct Joining;

  void leave(Shard& shard, const wire::ConsumerGroupHeartbeatRequest& request, Now now,
             const Done<Response>& done);
  // Appends what was staged; the answer leaves when that is committed, or is the error.
  void answer_when_finished(Shard& shard, const Done<Response>& done, Response response, Now now);
  void refuse(const Done<Response>& done, Refusal why);
  // The group that the request is for, made or upgraded where it joins; or the refusal.
  [[nodiscard]] std::optional<Refusal> reach_group(
      Shard& shard, const wire::ConsumerGroupHeartbeatRequest& request, const std::string& member,
      Now now);
  [[nodiscard]] std::optional<Refusal> check_epoch(
      const ConsumerMember* member, const wire::ConsumerGroupHeartbeatRequest& request) const;
  // Whether expressions are to be resolved anew, and does so a moment later.
  void refresh_regexes(Shard& shard, const std::string& group, bool must, Now now);
  void resolve_regexes(Shard& shard, const std::string& group, Now now);
  void raise_epoch(Shard& shard, const std::string& group, std::int64_t hash);
  [[nodiscard]] std::set<Uuid> topics_of(const ConsumerGroup& group,
                                         const ConsumerMember& member) const;
  [[nodiscard]] std::int64_t setting(const std::string& group, const char* key,
                                     const Bounded& of_broker) const;

  Runtime& runtime_;
  Migration& migration_;
  std::map<std::string, std::int64_t, std::less<>> hashes_;  // of topics that are there
};

}  // namespace hw::groups
