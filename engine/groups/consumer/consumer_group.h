// SPDX-License-Identifier: Apache-2.0
// ConsumerGroup: one group of the consumer protocol (KIP-848) as its records tell it: members, the
// target assignment, and who owns what. Data and the rules that need nothing else; who may change
// it when is in consumer_protocol.h.
//
//   Empty ──▶ Assigning ──▶ Reconciling ──▶ Stable       the state is not stored; it follows from
//             the group's    the target's    everybody     the epochs (state())
//             epoch is above epoch is above  is there
//             the target's   a member's
//
// It changes by apply() alone, which replay calls, so that a shard can build it anew from the
// newest records, or as it was committed.
//
// Invariants:
//   C1 a partition has one owner at most, among what members are assigned and what they still
//      revoke: reconcile() gives what nobody owns, and no classic group is taken over that has one
//      twice. Not asserted, because a log may say anything.
//   C2 instances_ maps exactly the static members.
//   C3 subscribers_, regex_subscribers_ and assignors_ count the members as they are (asserted).
// Thread rule: one thread. Source: behaviours 171-190; KIP-848, KIP-1101 (hash), KIP-1251
// (commits).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/ids.h"
#include "engine/event/counters.h"
#include "engine/groups/consumer/consumer_records.h"
#include "engine/groups/consumer/epoch_tracker.h"
#include "engine/groups/runtime/group.h"

namespace hw::groups {

enum class ConsumerState : std::uint8_t { empty, assigning, reconciling, stable };
[[nodiscard]] const char* state_name(ConsumerState state) noexcept;  // Kafka's

// In the place of a member epoch: it leaves, or (a static one) it leaves and will come back.
inline constexpr std::int32_t kLeavingEpoch = -1;
inline constexpr std::int32_t kStaticLeavingEpoch = -2;

class ConsumerGroup final : public Group {
 public:
  using Members = std::map<std::string, ConsumerMember, std::less<>>;

  ConsumerGroup(std::string id, std::uint64_t serial) : Group(std::move(id), serial) {}

  // --- what the runtime asks (runtime/group.h)
  [[nodiscard]] GroupKind kind() const noexcept override { return GroupKind::consumer; }

  [[nodiscard]] const char* state_text() const noexcept override { return state_name(state()); }

  [[nodiscard]] std::string protocol_type_text() const override { return "consumer"; }

  [[nodiscard]] bool is_empty() const noexcept override { return members_.empty(); }

  [[nodiscard]] wire::ErrorCode validate_commit(const Committer& by) const override;
  [[nodiscard]] wire::ErrorCode validate_commit_of(const Committer& by, const Uuid& topic,
                                                   PartitionIndex partition) const override;
  [[nodiscard]] wire::ErrorCode validate_fetch(const std::optional<std::string>& member,
                                               std::int32_t epoch) const override;

  [[nodiscard]] wire::ErrorCode validate_offset_delete() const noexcept override {
    return wire::ErrorCode::none;
  }

  [[nodiscard]] bool subscribed_to(std::string_view topic) const override {
    return subscribers_.find(topic) != subscribers_.end();
  }

  [[nodiscard]] std::optional<std::int64_t> unused_since_ms(
      std::string_view topic, std::int64_t committed_ms) const override {
    return subscribed_to(topic) ? std::nullopt : std::optional(committed_ms);
  }

  void tombstones(std::vector<Record>& records) const override;

  // --- state
  [[nodiscard]] ConsumerState state() const noexcept;

  [[nodiscard]] std::int32_t epoch() const noexcept { return epoch_; }

  [[nodiscard]] std::int64_t metadata_hash() const noexcept { return metadata_hash_; }

  [[nodiscard]] std::int32_t target_epoch() const noexcept { return target_epoch_; }

  // When the target was computed; 0: it does not count against the next one.
  [[nodiscard]] std::int64_t target_timestamp_ms() const noexcept { return target_timestamp_ms_; }

  [[nodiscard]] bool has_partition_metadata() const noexcept { return has_partition_metadata_; }

  [[nodiscard]] const Members& members() const noexcept { return members_; }

  [[nodiscard]] std::size_t size() const noexcept { return members_.size(); }

  [[nodiscard]] const ConsumerMember* find(std::string_view member) const;
  [[nodiscard]] const ConsumerMember* find_static(std::string_view instance) const;

  [[nodiscard]] const std::map<std::string, Assignment, std::less<>>& targets() const noexcept {
    return targets_;
  }

  [[nodiscard]] const Assignment& target_of(std::string_view member) const;

  // The member that owns a partition, or has not given it back; empty: nobody.
  [[nodiscard]] std::string_view owner_of(const Uuid& topic, PartitionIndex partition) const;

  // Topics that somebody subscribes to, by name or through a resolved expression; how often.
  [[nodiscard]] const std::map<std::string, std::int32_t, std::less<>>& subscribers()
      const noexcept {
    return subscribers_;
  }

  [[nodiscard]] const std::map<std::string, std::int32_t, std::less<>>& regex_subscribers()
      const noexcept {
    return regex_subscribers_;
  }

  [[nodiscard]] std::int32_t subscribers_of_regex(std::string_view regex) const;

  [[nodiscard]] const std::map<std::string, ResolvedRegex, std::less<>>& regexes() const noexcept {
    return regexes_;
  }

  // What most members ask for; among equals the first of `offered`, and that too where nobody asks.
  // REQUIRES: offered is not empty.
  [[nodiscard]] Assignor preferred_assignor(const std::vector<Assignor>& offered) const;

  // --- members that speak the classic protocol
  [[nodiscard]] std::size_t classic_size() const noexcept;
  // Whether a classic member with these protocols has one in common with the others.
  [[nodiscard]] bool supports_classic(std::string_view type,
                                      const std::vector<Protocol>& protocols) const;
  // Whether the member waits for a partition that another one has not given back.
  [[nodiscard]] bool waits_for_partition(const ConsumerMember& member) const;

  // --- the one way to change it. No value: the record is taken away.
  void apply(ConsumerRecord kind, const std::string& name, const ConsumerValue* value);

  // --- soft: goes with the object
  // The metadata of its topics may have changed since `epoch()` was last compared with them.
  [[nodiscard]] bool metadata_stale() const noexcept {
    return !metadata_seen_at_ || epoch_ < *metadata_seen_at_;
  }

  void metadata_seen(std::int32_t at_epoch) noexcept { metadata_seen_at_ = at_epoch; }

  void metadata_unseen() noexcept { metadata_seen_at_.reset(); }

  // For those who watch.
  struct Seen {
    ConnectionId connection;
    std::shared_ptr<event::MemberCounters> counters = std::make_shared<event::MemberCounters>();
  };

  std::map<std::string, Seen, std::less<>> seen;
  std::string told_state;  // and epoch, of the last event
  EpochTracker tracker;

 private:
  void count(const ConsumerMember& member, std::int32_t by);
  void own(const ConsumerMember& member);
  void disown(const ConsumerMember& member);
  void change_member(const std::string& id, const ConsumerValue* value);
  void change_current(const std::string& id, const ConsumerValue* value);
  void change_regex(const std::string& regex, const ConsumerValue* value);

  std::int32_t epoch_ = 1;
  std::int64_t metadata_hash_ = 0;
  std::int32_t target_epoch_ = 0;
  std::int64_t target_timestamp_ms_ = 0;
  bool has_partition_metadata_ = false;
  Members members_;
  std::map<std::string, Assignment, std::less<>> targets_;
  std::map<std::string, ResolvedRegex, std::less<>> regexes_;
  // Derived.
  std::map<std::string, std::string, std::less<>> instances_;  // static members: instance → member
  std::map<Uuid, std::map<PartitionIndex, std::string>> owners_;
  std::map<std::string, std::int32_t, std::less<>> subscribers_;
  std::map<std::string, std::int32_t, std::less<>> regex_subscribers_;
  std::map<std::string, std::int32_t, std::less<>> assignors_;
  std::optional<std::int32_t> metadata_seen_at_;
};

// Null where the group is of another kind, or is null.
[[nodiscard]] inline ConsumerGroup* as_consumer(Group* group) noexcept {
  return group != nullptr && group->kind() == GroupKind::consumer
             ? static_cast<ConsumerGroup*>(group)
             : nullptr;
}

}  // namespace hw::groups
