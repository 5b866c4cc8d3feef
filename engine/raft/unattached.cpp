// SPDX-License-Identifier: Apache-2.0
// Unattached: the epoch is known, its leader is not. A voter calls for pre-votes after its election timeout; everybody asks
// around with fetches meanwhile, which any replica answers with the leader it knows.
#include "engine/raft/detail/quorum_impl.h"

namespace hw::raft {

void Quorum::Impl::poll_unattached(Unattached& unattached) {
  if (may_stand() && !stopping && now >= unattached.election_at) {
    if (is_sole_voter()) {
      become_candidate(event::QuorumCause::no_leader_found);
    } else {
      become_prospective(event::QuorumCause::no_leader_found);
    }
    return;
  }
  if (!is_sole_voter()) {
    if (const std::optional<Destination> to = any_free_destination()) {
      fetch_from(*to);
    }
  }
}

Instant Quorum::Impl::deadline_of(const Unattached& unattached) const {
  return may_stand() && !stopping ? unattached.election_at : kNever;
}

}  // namespace hw::raft
