// SPDX-License-Identifier: Apache-2.0
// Resigned: led this epoch and does not any more. The voters are told who should follow (EndQuorumEpoch), those that are
// furthest first; afterwards it goes on in the next epoch, so that nobody takes it for the leader.
#include <algorithm>

#include "engine/raft/detail/quorum_impl.h"

namespace hw::raft {

void Quorum::Impl::become_resigned(event::QuorumCause cause) {
  const Leader& leader = *in<Leader>();
  Resigned next;
  std::vector<const Progress*> others;
  for (const auto& [id, progress] : leader.voters) {
    others.push_back(&progress);
    next.unheard.insert(id);
  }
  std::stable_sort(others.begin(), others.end(), [](const Progress* a, const Progress* b) {
    return a->end_offset.value_or(kNoOffset) > b->end_offset.value_or(kNoOffset);
  });
  for (const Progress* progress : others) {
    next.successors.push_back(progress->key);
  }
  next.election_at = now + election_timeout();
  leave_state();
  out->leader_changed = true;
  state = std::move(next);
  tell_role(cause);
}

void Quorum::Impl::poll_resigned(Resigned& resigned) {
  if (!stopping && now >= resigned.election_at) {
    become_unattached(LeaderEpoch(epoch().value() + 1), event::QuorumCause::no_leader_found);
    return;
  }
  for (const BrokerId id : resigned.unheard) {
    const std::optional<Destination> to = voter_destination(id);
    if (!to || !link_free(*to)) {
      continue;
    }
    wire::EndQuorumEpochRequest request;
    if (!config.cluster_id.empty()) {
      request.cluster_id = config.cluster_id;
    }
    auto& partition = add_partition(request);
    partition.leader_id = self_id();
    partition.leader_epoch = epoch();
    for (const ReplicaKey& successor : resigned.successors) {
      auto& candidate = partition.preferred_candidates.emplace_back();
      candidate.candidate_id = successor.id;
      candidate.candidate_directory_id = successor.directory;
    }
    add_endpoints(request.leader_endpoints, config.self.endpoints);
    send(*to, kEndQuorumEpochVersion, std::move(request));
  }
}

Instant Quorum::Impl::deadline_of(const Resigned& resigned) const { return stopping ? kNever : resigned.election_at; }

}  // namespace hw::raft
