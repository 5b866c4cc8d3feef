// SPDX-License-Identifier: Apache-2.0
// Trial: what a test does to the cores that run on its thread. Outside of tests and the simulator there is none, and each of the three
// questions below costs one load of a thread's own pointer.
//
//   Canary   a bug on purpose, which breaks one rule: the check for that rule must find it
//   Oddity   something that is allowed and rare (a leader that answers with less than it could): in a run that draws oddities, each of
//            them is switched on with probability 1/4 and then happens one time in four, so that a run sees some oddities often
//            instead of all of them hardly ever ("Buggify")
//   Mark     a rare branch: whether any run ever came there
//
//   trial::Trial trial(trial::Canary::votes_twice);   // in force for this thread as long as it lives
//   if (trial::has_bug(trial::Canary::votes_twice)) …  // in the core
//
// A Trial changes no core's inputs or outputs by itself; whoever runs the same inputs under the same Trial gets the same outputs.
// Thread rule: one thread. Trials nest: the one that was begun last is in force.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/base/prng.h"

namespace hw::trial {

enum class Canary : std::uint8_t {
  none,
  // the quorum of the metadata log
  votes_twice,           // grants a second vote in an epoch
  commits_old_epoch,     // the high watermark passes over records of older epochs alone (Raft, figure 8)
  answers_unpersisted,   // votes and answers leave before the election state is durable
  fetches_unflushed,     // a voter fetches from behind what it has not flushed
  truncates_committed,   // a follower whose log diverges cuts all of it, what is committed as well
  ignores_log_order,     // votes for candidates whose log is behind
  grants_every_pre_vote, // disturbs leaders that live
  keeps_divergence,      // a follower appends without cutting what diverges
  // replication
  watermark_without_followers,  // the high watermark is the leader's log end
  watermark_forgets_proposal,   // replicas that are about to join do not hold it back (KIP-497)
  watermark_goes_back,          // it follows a follower that came back with less
  no_truncation,                // a follower ignores that its log has left the leader's
  early_expand,                 // a follower joins the ISR before it has everything
  never_expands,                // and this one never does
  stale_fetch_counts,           // a fetch with an old leader epoch says how far the follower is
  acks_before_isr,              // acks=all is answered when the leader has the records
  deletes_alone,                // DeleteRecords is answered when the leader's log has lost them
  // logs
  repeats_appended,             // what an idempotent producer sends again is appended again
  refuses_torn_tail,            // a log whose end was torn when power was lost does not open
  // controller and metadata
  keeps_leader_epoch,           // another leader without another epoch
  elects_anybody,               // a replica that was not in sync leads although nobody allowed that
  fenced_leads,                 // a broker that is fenced may be elected
  eligible_for_ever,            // who was in sync once stays eligible (KIP-966)
  snapshot_forgets_configs,     // a node that begins with a snapshot does not know the configurations
  // groups
  forgets_commits,              // a coordinator that loads a group keeps the first offset committed, not the last
  assigns_to_everybody,         // each member gets what the leader of the group gave itself
  // shells: the simulator's own
  spins,                        // a node that wants to be called at once, always
  syncs_nothing,                // a disk that says it has synced, and has not
  count
};

enum class Oddity : std::uint8_t {
  short_fetch,            // a leader answers a Fetch with one batch a partition
  lost_fetch_session,     // a fetch session is gone when it is used again
  early_time_out,         // a produce or DeleteRecords that waits is told that its time is up
  refused_isr,            // the controller does not attempt a change of an ISR now
  early_roll,             // a log goes on in a new segment
  early_snapshot,         // a snapshot of the metadata after each commit
  coordinator_loads,      // a group's coordinator says that it still loads
  short_quorum_fetch,     // a leader of the quorum answers with one batch
  count
};

enum class Mark : std::uint8_t {
  // the quorum of the metadata log
  quorum_diverging_fetch,     // a follower's log has left the leader's
  quorum_snapshot_fetch,      // a follower needs what is only in a snapshot
  quorum_resigns,             // a leader that hears nothing of a majority gives up
  quorum_refused_pre_vote,    // somebody who follows a leader does not want another
  quorum_lost_election,
  quorum_voter_added,
  quorum_voter_removed,
  // replication
  follower_truncates,
  follower_restarts_at_leader_start,
  isr_shrinks,
  isr_expands,
  isr_change_refused,         // by the controller
  produce_under_min_isr,
  produce_times_out,
  produce_min_isr_lost,       // while it waited
  fetch_fenced_epoch,
  fetch_stale_broker_epoch,   // KIP-903
  watermark_held_by_joiner,   // KIP-497
  // logs
  repeat_answered,            // of an idempotent producer
  sequence_gap,
  tail_cut_at_recovery,
  log_start_moved,
  // controller and metadata
  elected_from_elr,           // KIP-966
  elected_last_known,
  elected_uncleanly,
  nobody_to_elect,
  reassignment_done,
  reassignment_cancelled,
  snapshot_loaded,
  broker_fenced,
  controlled_shutdown_moves,
  // groups
  group_loaded,
  rebalance_over_rebalance,   // somebody joined or left while an assignment was being made
  commit_fenced,              // by generation or member
  count
};

[[nodiscard]] std::string_view name_of(Canary canary) noexcept;
[[nodiscard]] std::string_view name_of(Oddity oddity) noexcept;
[[nodiscard]] std::string_view name_of(Mark mark) noexcept;
[[nodiscard]] std::optional<Canary> canary_of(std::string_view name) noexcept;

inline constexpr std::size_t kOddities = static_cast<std::size_t>(Oddity::count);
inline constexpr std::size_t kMarks = static_cast<std::size_t>(Mark::count);
using MarkCounts = std::array<std::uint64_t, kMarks>;

class Trial {
 public:
  explicit Trial(Canary canary = Canary::none) noexcept;
  ~Trial();
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  // From now on oddities happen; which, and when, is drawn from `prng`.
  void draw_oddities(Prng prng) noexcept;
  void no_more_oddities() noexcept { on_ = {}; }
  [[nodiscard]] bool is_on(Oddity oddity) const noexcept { return on_[static_cast<std::size_t>(oddity)]; }

  [[nodiscard]] Canary canary() const noexcept { return canary_; }
  [[nodiscard]] bool happens(Oddity oddity) noexcept;
  void count(Mark mark) noexcept { ++marks_[static_cast<std::size_t>(mark)]; }
  [[nodiscard]] const MarkCounts& marks() const noexcept { return marks_; }

 private:
  Canary canary_;
  Trial* outer_;
  Prng prng_{0};
  std::array<bool, kOddities> on_{};
  MarkCounts marks_{};
};

namespace detail {
inline constinit thread_local Trial* in_force = nullptr;
}

[[nodiscard]] inline bool has_bug(Canary canary) noexcept {
  return detail::in_force != nullptr && detail::in_force->canary() == canary;
}
[[nodiscard]] inline bool happens(Oddity oddity) noexcept {
  return detail::in_force != nullptr && detail::in_force->happens(oddity);
}
inline void mark(Mark what) noexcept {
  if (detail::in_force != nullptr) {
    detail::in_force->count(what);
  }
}

}  // namespace hw::trial
