// SPDX-License-Identifier: Apache-2.0
// Candidate: an epoch of its own, its vote for itself durable before anybody is asked.
#include <algorithm>

#include "engine/base/trial.h"
#include "engine/raft/detail/quorum_impl.h"

namespace hw::raft {

void Quorum::Impl::become_candidate(event::QuorumCause cause) {
  leave_state();
  out->leader_changed = true;
  Candidate next;
  next.ballot.voters = voters();
  if (is_voter()) {
    next.ballot.granted.insert(self_id());
  }
  next.sole = is_sole_voter();
  next.election_at = now + election_timeout();
  election.epoch = LeaderEpoch(election.epoch.value() + 1);  // Q2
  election.leader.reset();
  election.voted.reset();
  if (next.sole) {
    election.leader = self_id();
  } else {
    election.voted = self_key();
  }
  state = std::move(next);
  tell_role(cause);
  persist();  // Q1: release_held() goes on
}

void Quorum::Impl::poll_candidate(Candidate& candidate) {
  if (candidate.sole) {
    return;
  }
  if (candidate.ballot.won()) {
    become_leader();
    return;
  }
  if (candidate.backoff_until) {
    if (now >= *candidate.backoff_until && !stopping) {
      become_prospective(event::QuorumCause::votes_lost);
    }
    return;
  }
  if (candidate.ballot.lost() || now >= candidate.election_at) {
    trial::mark(trial::Mark::quorum_lost_election);
    // Voters that tie must not tie again: the pause grows and is drawn.
    constexpr std::int32_t kMostDoublings = 10;
    failed_rounds = std::min(failed_rounds + 1, kMostDoublings);
    const std::int64_t most =
        std::min(config.election_backoff_max.ns, milliseconds(50).ns * (std::int64_t{1} << failed_rounds));
    candidate.backoff_until =
        now + nanoseconds(1 + static_cast<std::int64_t>(prng.below(static_cast<std::uint64_t>(std::max<std::int64_t>(1, most)))));
    return;
  }
  ask_for_votes(candidate.ballot, false);
}

Instant Quorum::Impl::deadline_of(const Candidate& candidate) const {
  if (candidate.sole) {
    return kNever;
  }
  if (candidate.backoff_until) {
    return stopping ? kNever : *candidate.backoff_until;
  }
  return candidate.election_at;
}

}  // namespace hw::raft
