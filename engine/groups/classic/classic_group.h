// SPDX-License-Identifier: Apache-2.0
// ClassicGroup: members, state and generation of one group of the classic protocol. Data and the
// rules that need nothing else; who may change it when is in classic_protocol.h.
//
//            a member joins                  all have joined, or the time is up
//   Empty ─────────────────▶ PreparingRebalance ───────────────────────────▶ CompletingRebalance
//     ▲                        ▲      │   ▲                                         │
//     └── nobody is left ──────┼──────┘   └── somebody joins, leaves or is late ────┤
//                              │                                                    │ leader's
//                              assignment is └────── somebody joins, leaves or fails ── Stable ◀──┘
//                              committed
//   Dead: the coordinator gave the group up (unload, deletion).
//
// Invariants (asserted under these numbers):
//   G1 awaiting_join_ counts the members that wait for a JoinGroup answer.
//   G2 a member id is a member, pending, or neither; never both.
//   G3 instances_ maps exactly the static members.
//   G4 in CompletingRebalance and Stable every member supports the chosen protocol.
// Thread rule: one thread. Source: KIP-62, KIP-134 (initial delay), KIP-345 (static), KIP-394
// (member id required).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/base/ids.h"
#include "engine/base/time.h"
#include "engine/event/counters.h"
#include "engine/groups/classic/rebalance_tracker.h"
#include "engine/groups/coordinator.h"
#include "engine/groups/runtime/group.h"
#include "engine/wire/msg/consumer_protocol_subscription.h"
#include "engine/wire/msg/group_metadata_value.h"

namespace hw::groups {

enum class ClassicState : std::uint8_t {
  empty,
  preparing_rebalance,
  completing_rebalance,
  stable,
  dead
};
[[nodiscard]] const char* state_name(ClassicState state) noexcept;  // Kafka's

struct Protocol {
  std::string name;
  Bytes metadata;
  friend bool operator==(const Protocol&, const Protocol&) = default;
};

struct ClassicMember {
  std::string id;
  std::optional<std::string> instance_id;
  std::string client_id;
  std::string client_host;
  std::int32_t rebalance_timeout_ms = 0;
  std::int32_t session_timeout_ms = 0;
  std::string protocol_type;
  std::vector<Protocol> protocols;  // in order of preference
  Bytes assignment;
  ConnectionId connection;
  std::shared_ptr<event::MemberCounters> counters = std::make_shared<event::MemberCounters>();
  std::uint64_t joined = 0;                     // counts up: the order of joining
  bool is_new = false;                          // has not seen a generation yet
  Done<wire::JoinGroupResponse> awaiting_join;  // empty: does not wait
  Done<wire::SyncGroupResponse> awaiting_sync;

  [[nodiscard]] bool is_static() const noexcept { return instance_id.has_value(); }

  // For those who watch: it has just shown that it lives.
  void seen(Now now) noexcept { counters->last_seen_ms.set(now.wall.ms); }

  [[nodiscard]] const Protocol* find_protocol(std::string_view name) const;

  // A member that waits for an answer is alive, unless it is new: then it may have given up long
  // ago.
  [[nodiscard]] bool heartbeat_satisfied() const noexcept {
    return !is_new && (awaiting_join || awaiting_sync);
  }
};

class ClassicGroup final : public Group {
 public:
  using Members = std::map<std::string, ClassicMember, std::less<>>;

  ClassicGroup(std::string id, std::uint64_t serial, WallTime now);
  // A group as its record tells it: Stable with members, otherwise Empty.
  ClassicGroup(std::string id, std::uint64_t serial, const wire::GroupMetadataValue& value);

  [[nodiscard]] GroupKind kind() const noexcept override { return GroupKind::classic; }

  [[nodiscard]] const char* state_text() const noexcept override { return state_name(state_); }

  [[nodiscard]] std::string protocol_type_text() const override {
    return protocol_type_.value_or(std::string());
  }

  [[nodiscard]] bool is_empty() const noexcept override { return in(ClassicState::empty); }

  [[nodiscard]] ClassicState state() const noexcept { return state_; }

  [[nodiscard]] ClassicState previous_state() const noexcept { return previous_state_; }

  [[nodiscard]] bool in(ClassicState state) const noexcept { return state_ == state; }

  [[nodiscard]] std::int32_t generation() const noexcept { return generation_; }

  [[nodiscard]] const std::optional<std::string>& protocol_type() const noexcept {
    return protocol_type_;
  }

  [[nodiscard]] const std::optional<std::string>& protocol_name() const noexcept {
    return protocol_name_;
  }

  [[nodiscard]] const std::optional<std::string>& leader() const noexcept { return leader_; }

  [[nodiscard]] bool is_leader(std::string_view member) const noexcept {
    return leader_ && *leader_ == member;
  }

  [[nodiscard]] std::optional<std::int64_t> state_timestamp_ms() const noexcept {
    return state_timestamp_ms_;
  }

  [[nodiscard]] const Members& members() const noexcept { return members_; }

  [[nodiscard]] Members& members() noexcept { return members_; }

  [[nodiscard]] ClassicMember* find(std::string_view member);

  [[nodiscard]] bool has(std::string_view member) const {
    return members_.find(member) != members_.end();
  }

  [[nodiscard]] std::optional<std::string> static_member(std::string_view instance) const;

  [[nodiscard]] std::size_t size() const noexcept { return members_.size(); }

  [[nodiscard]] bool uses_consumer_protocol() const noexcept {
    return protocol_type_ && *protocol_type_ == "consumer";
  }

  // --- rules
  [[nodiscard]] bool can_rebalance() const noexcept;
  [[nodiscard]] bool supports(std::string_view protocol_type,
                              const std::vector<Protocol>& protocols) const;
  // none, unknown_member_id or fenced_instance_id.
  [[nodiscard]] wire::ErrorCode validate_member(std::string_view member,
                                                const std::optional<std::string>& instance) const;
  [[nodiscard]] wire::ErrorCode validate_commit(const Committer& by) const override;
  [[nodiscard]] wire::ErrorCode validate_offset_delete() const noexcept override;

  [[nodiscard]] bool all_joined() const noexcept {
    return members_.size() == awaiting_join_ && pending_.empty();
  }

  [[nodiscard]] std::size_t awaiting_join() const noexcept { return awaiting_join_; }

  [[nodiscard]] std::int32_t rebalance_timeout_ms() const noexcept;  // the longest of the members'
  // The protocol that every member supports and most prefer; ties go to the smaller name. REQUIRES:
  // members.
  [[nodiscard]] std::string select_protocol() const;
  [[nodiscard]] bool subscribed_to(std::string_view topic) const override;
  [[nodiscard]] std::optional<std::int64_t> unused_since_ms(
      std::string_view topic, std::int64_t committed_ms) const override;
  void tombstones(std::vector<Record>& records) const override;

  // --- changes
  void transition(ClassicState to, WallTime now);  // REQUIRES: an arrow of the picture
  void add(ClassicMember member, Done<wire::JoinGroupResponse> waiting);
  void remove(std::string_view member);
  void update(ClassicMember& member, std::vector<Protocol> protocols,
              std::int32_t rebalance_timeout_ms, std::int32_t session_timeout_ms,
              Done<wire::JoinGroupResponse> waiting);
  // Takes the answer that the member waits for; empty where it does not wait.
  [[nodiscard]] Done<wire::JoinGroupResponse> take_join(ClassicMember& member);
  [[nodiscard]] static Done<wire::SyncGroupResponse> take_sync(ClassicMember& member);
  // The same member under a new id. REQUIRES: `old_id` is a member and waits for nothing.
  ClassicMember& rename_static(std::string_view instance, const std::string& old_id,
                               const std::string& new_id);
  // Sees to it that the leader is one of those who have joined. False: nobody has.
  bool elect_joined_leader();
  void next_generation(WallTime now);  // to CompletingRebalance, or Empty where nobody is left

  // Members that got an id and have not come back with it.
  [[nodiscard]] bool is_pending(std::string_view member) const {
    return pending_.find(member) != pending_.end();
  }

  void add_pending(std::string member) { pending_.insert(std::move(member)); }

  [[nodiscard]] std::size_t pending_size() const noexcept { return pending_.size(); }

  // Members that have joined this generation and not yet sent SyncGroup.
  [[nodiscard]] std::set<std::string, std::less<>>& pending_sync() noexcept {
    return pending_sync_;
  }

  // The generation whose assignment is being written: a leader that sends it again waits for the
  // first one.
  std::optional<std::int32_t> storing_generation;
  bool new_member_added = false;  // since the initial delay began
  RebalanceTracker rebalance;     // for events only

  // The record of this generation; assignments by member where given, otherwise the members' own.
  [[nodiscard]] wire::GroupMetadataValue to_record(
      const std::map<std::string, Bytes, std::less<>>* assignments = nullptr) const;

 private:
  void count_protocols(const ClassicMember& member, std::int32_t by);
  void compute_subscription();

  ClassicState state_ = ClassicState::empty;
  ClassicState previous_state_ = ClassicState::dead;
  std::optional<std::int64_t> state_timestamp_ms_;
  std::optional<std::string> protocol_type_;
  std::optional<std::string> protocol_name_;
  std::int32_t generation_ = 0;
  std::optional<std::string> leader_;
  Members members_;
  std::map<std::string, std::string, std::less<>> instances_;  // static members: instance → member
  std::set<std::string, std::less<>> pending_;
  std::set<std::string, std::less<>> pending_sync_;
  std::map<std::string, std::int32_t, std::less<>>
      supported_;  // protocol → how many members support it
  std::size_t awaiting_join_ = 0;
  std::uint64_t joined_ = 0;
  // Topics of all members (consumer protocol, parsed); nullopt: not known.
  std::optional<std::set<std::string, std::less<>>> subscribed_;
};

// Null where the group is of another kind, or is null.
[[nodiscard]] inline ClassicGroup* as_classic(Group* group) noexcept {
  return group != nullptr && group->kind() == GroupKind::classic
             ? static_cast<ClassicGroup*>(group)
             : nullptr;
}

// What a member of the consumer protocol says when it joins.
struct Subscription {
  std::vector<std::string> topics;
  std::vector<std::pair<std::string, PartitionIndex>> owned;  // which it has not given back (v1+)
};

// Nothing where the bytes are not that.
[[nodiscard]] std::optional<wire::ConsumerProtocolSubscription> decode_subscription_message(const Bytes& metadata);
[[nodiscard]] std::optional<Subscription> decode_subscription(const Bytes& metadata);

// What a member of the consumer protocol was assigned; empty where the bytes are not that.
[[nodiscard]] std::vector<std::pair<std::string, PartitionIndex>> decode_assignment(
    const Bytes& assignment);

}  // namespace hw::groups
