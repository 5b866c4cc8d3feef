// SPDX-License-Identifier: Apache-2.0
// Prospective (KIP-996): asks the voters whether they would vote for it, in the epoch that is, so that one that was cut off
// does not depose a leader that everybody else still follows.
#include "engine/raft/detail/quorum_impl.h"

namespace hw::raft {

void Quorum::Impl::become_prospective(event::QuorumCause cause) {
  Prospective next;
  next.ballot.voters = voters();
  if (is_voter()) {
    next.ballot.granted.insert(self_id());
  }
  next.election_at = now + election_timeout();
  if (const Follower* follower = in<Follower>()) {
    next.leader = follower->leader;
  }
  leave_state();
  out->leader_changed = true;
  state = std::move(next);
  tell_role(cause);
}

void Quorum::Impl::poll_prospective(Prospective& prospective) {
  if (stopping) {
    return;
  }
  if (prospective.ballot.won()) {
    become_candidate(event::QuorumCause::pre_votes_won);
    return;
  }
  if (prospective.ballot.lost() || now >= prospective.election_at) {
    // Somebody leads, or nobody could be asked: back to where it came from, and again after a while.
    if (prospective.leader) {
      LeaderAt leader = *prospective.leader;
      become_follower(epoch(), std::move(leader), event::QuorumCause::pre_votes_lost);
    } else {
      become_unattached(epoch(), event::QuorumCause::pre_votes_lost);
    }
    return;
  }
  ask_for_votes(prospective.ballot, true);
}

Instant Quorum::Impl::deadline_of(const Prospective& prospective) const {
  return stopping ? kNever : prospective.election_at;
}

}  // namespace hw::raft
