// SPDX-License-Identifier: Apache-2.0
// Leader: appends, counts how far the voters are, and goes when a majority of them does not fetch any more.
#include <algorithm>
#include <functional>

#include "engine/base/assert.h"
#include "engine/base/trial.h"
#include "engine/raft/control_records.h"
#include "engine/raft/detail/quorum_impl.h"

namespace hw::raft {

namespace {

// Without a majority that fetches within this many fetch timeouts a leader resigns: 3/2.
constexpr std::int64_t kCheckQuorumNumerator = 3;
constexpr std::int64_t kCheckQuorumDenominator = 2;

Duration check_quorum_timeout(Duration fetch_timeout) {
  return nanoseconds(fetch_timeout.ns * kCheckQuorumNumerator / kCheckQuorumDenominator);
}

}  // namespace

void Quorum::Impl::become_leader() {
  std::vector<BrokerId> granting;
  for (const BrokerId id : in<Candidate>()->ballot.granted) {
    granting.push_back(id);
  }
  leave_state();
  out->leader_changed = true;
  failed_rounds = 0;
  Leader next;
  next.epoch_start = log.end_offset();
  next.check_quorum_at = now + check_quorum_timeout(config.fetch_timeout);
  next.begin_epoch_at = now;
  state = std::move(next);
  if (election.leader != self_id()) {
    election.leader = self_id();
    persist();
  }
  std::vector<ControlRecord> records;
  records.push_back(leader_change_record(self_id(), voters().all(), granting));  // Q4
  const bool dynamic = history.version() >= kKRaftVersion;
  if (dynamic && is_voter() && (history.last_offset() == kNoOffset || own_entry_is_old())) {
    records.push_back(kraft_version_record());
    VoterSet updated = voters();
    if (own_entry_is_old()) {
      updated = voters().updated(config.self).value_or(voters());
    }
    records.push_back(voters_record(updated.all()));
  }
  sync_voters(*in<Leader>());
  append_batch(control_batch_of(records, log.end_offset(), epoch(), wall), static_cast<std::int64_t>(records.size()));
  out->events.emplace_back(event::ControllerElected{self_id(), epoch().value()});
  tell_role(event::QuorumCause::votes_won);
}

Offset Quorum::Impl::append_batch(Bytes batch, std::int64_t count) {
  const Offset base = log.end_offset();
  if (Result<void> appended = log.append_as_leader(batch, epoch(), wall); !appended) {
    fail_replica("cannot write the metadata log: " + appended.error().detail);
    return base;
  }
  HW_ASSERT(log.end_offset() == base + count, "the log and the quorum agree on offsets");
  if (Result<void> noted = note_control_batches(batch); !noted) {
    fail_replica(noted.error().detail);
  }
  out->flush = true;
  flush_asked = log.end_offset();
  if (Leader* leader = in<Leader>()) {
    sync_voters(*leader);
  }
  complete_waiting();
  return base;
}

void Quorum::Impl::sync_voters(Leader& leader) {
  for (auto it = leader.voters.begin(); it != leader.voters.end();) {
    const Voter* voter = voters().find(it->first);
    if (voter == nullptr || voter->key != it->second.key) {
      if (it->second.last_fetch && it->second.key.id != self_id()) {
        leader.observers[it->second.key] = it->second;  // it goes on as one
      }
      leader.fetched.erase(it->first);
      it = leader.voters.erase(it);
    } else {
      ++it;
    }
  }
  for (const Voter& voter : voters().all()) {
    if (voter.key.id == self_id() || leader.voters.contains(voter.key.id)) {
      continue;
    }
    Progress progress;
    if (const auto known = leader.observers.find(voter.key); known != leader.observers.end()) {
      progress = known->second;
      leader.observers.erase(known);
    }
    progress.key = voter.key;
    leader.voters.emplace(voter.key.id, std::move(progress));
  }
}

void Quorum::Impl::advance_high_watermark() {
  Leader* leader = in<Leader>();
  if (leader == nullptr) {
    return;
  }
  std::vector<Offset> ends;
  if (is_voter()) {
    ends.push_back(flushed);
  }
  for (const auto& [id, progress] : leader->voters) {
    ends.push_back(progress.end_offset.value_or(kNoOffset));
  }
  if (ends.empty()) {
    return;
  }
  std::sort(ends.begin(), ends.end(), std::greater<>());
  const Offset reached = std::min(ends[ends.size() / 2], log.end_offset());
  // Q3: records of older epochs count only together with one of this epoch (Raft, figure 8).
  if (reached <= leader->epoch_start && !trial::has_bug(trial::Canary::commits_old_epoch)) {
    return;
  }
  if (reached > high_watermark) {
    high_watermark = reached;
    log.set_high_watermark(reached);
    history.forget_below(log.start_offset());
    out->high_watermark = reached;
  }
  if (!leader->high_watermark || *leader->high_watermark < high_watermark) {
    leader->high_watermark = high_watermark;
    complete_waiting();
    if (leader->change && leader->change->record && *leader->change->record < high_watermark) {
      answer_change(wire::ErrorCode::none, {});
    }
    leader->resign_wanted = !is_voter() && history.last_offset() < high_watermark;
  }
}

void Quorum::Impl::noted_fetch(Leader& leader, const ReplicaKey& replica) {
  const auto voter = leader.voters.find(replica.id);
  if (voter == leader.voters.end() || !voter->second.key.matches(replica)) {
    return;
  }
  leader.fetched.insert(replica.id);
  const std::size_t others = voters().majority() - (is_voter() ? 1 : 0);
  if (leader.fetched.size() >= others) {
    leader.fetched.clear();
    leader.check_quorum_at = now + check_quorum_timeout(config.fetch_timeout);
  }
}

void Quorum::Impl::poll_leader(Leader& leader) {
  if (is_sole_voter()) {
    leader.check_quorum_at = kNever;
  } else if (leader.check_quorum_at == kNever) {
    leader.check_quorum_at = now + check_quorum_timeout(config.fetch_timeout);
  }
  if (leader.resign_wanted || now >= leader.check_quorum_at) {
    trial::mark(trial::Mark::quorum_resigns);
    become_resigned(leader.resign_wanted ? event::QuorumCause::not_a_voter : event::QuorumCause::majority_silent);
    return;
  }
  poll_change(leader);
  if (leader.voters.empty()) {
    return;
  }
  if (now >= leader.begin_epoch_at) {
    const Duration period = nanoseconds(config.fetch_timeout.ns / 2);
    for (const auto& [id, progress] : leader.voters) {
      if (!progress.last_fetch || *progress.last_fetch + period <= now) {
        leader.begin_epoch_to.insert(id);
      }
    }
    leader.begin_epoch_at = now + period;
  }
  for (auto it = leader.begin_epoch_to.begin(); it != leader.begin_epoch_to.end();) {
    const std::optional<Destination> to = voter_destination(*it);
    const Voter* voter = voters().find(*it);
    if (!to || voter == nullptr) {
      it = leader.begin_epoch_to.erase(it);
      continue;
    }
    if (!link_free(*to)) {
      ++it;  // comes again with the next deadline
      continue;
    }
    wire::BeginQuorumEpochRequest request;
    if (!config.cluster_id.empty()) {
      request.cluster_id = config.cluster_id;
    }
    request.voter_id = voter->key.id;
    auto& partition = add_partition(request);
    partition.voter_directory_id = voter->key.directory;
    partition.leader_id = self_id();
    partition.leader_epoch = epoch();
    add_endpoints(request.leader_endpoints, config.self.endpoints);
    send(*to, kBeginQuorumEpochVersion, std::move(request));
    it = leader.begin_epoch_to.erase(it);
  }
}

Instant Quorum::Impl::deadline_of(const Leader& leader) const {
  Instant next = leader.check_quorum_at;
  if (!leader.voters.empty()) {
    next = std::min(next, leader.begin_epoch_at);
  }
  for (const WaitingFetch& waiting : leader.waiting) {
    next = std::min(next, waiting.expires_at);
  }
  if (leader.change) {
    next = std::min(next, leader.change->expires_at);
  }
  return next;
}

}  // namespace hw::raft
