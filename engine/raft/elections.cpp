// SPDX-License-Identifier: Apache-2.0
// Vote, BeginQuorumEpoch and EndQuorumEpoch, both sides; and what requests and answers of all kinds have in common.
#include <algorithm>

#include "engine/base/trial.h"
#include "engine/raft/detail/quorum_impl.h"

namespace hw::raft {

using wire::ErrorCode;

// ---------------------------------------------------------------- what all have in common

bool Quorum::Impl::right_cluster(const std::optional<std::string>& cluster_id) const {
  return !cluster_id || config.cluster_id.empty() || *cluster_id == config.cluster_id;
}

ErrorCode Quorum::Impl::whole_error(const std::optional<std::string>& cluster_id, bool well_formed) const {
  if (!right_cluster(cluster_id)) {
    return ErrorCode::inconsistent_cluster_id;
  }
  return well_formed ? ErrorCode::none : ErrorCode::invalid_request;
}

// The one partition of an answer, with who leads and where.
template <class Quorum, class Response>
auto& tell_leader(const Quorum& quorum, Response& response, ErrorCode error) {
  auto& told = add_partition(response);
  told.error_code = error;
  told.leader_id = quorum.leader_or_none();
  told.leader_epoch = quorum.epoch();
  quorum.add_leader_endpoint(response);
  return told;
}

ErrorCode Quorum::Impl::voter_request_error(BrokerId from, LeaderEpoch of) const {
  if (of < epoch()) {
    return ErrorCode::fenced_leader_epoch;
  }
  return from < BrokerId(0) ? ErrorCode::invalid_request : ErrorCode::none;
}

ErrorCode Quorum::Impl::leader_request_error(LeaderEpoch of) const {
  if (of < epoch()) {
    return ErrorCode::fenced_leader_epoch;
  }
  if (of > epoch()) {
    return ErrorCode::unknown_leader_epoch;
  }
  return in<Leader>() == nullptr ? ErrorCode::not_leader_or_follower : ErrorCode::none;
}

bool Quorum::Impl::meant_for_me(BrokerId id, const Uuid& directory) const {
  if (id == kNoBroker) {
    return true;  // older versions do not say
  }
  return self_key().matches({id, directory});
}

bool Quorum::Impl::handle_common(ErrorCode error, BrokerId leader_id, LeaderEpoch of,
                                 std::vector<VoterEndpoint> endpoints) {
  const std::optional<BrokerId> named = leader_id < BrokerId(0) ? std::nullopt : std::optional(leader_id);
  if (of < epoch() || error == ErrorCode::unknown_leader_epoch) {
    return true;  // no longer of interest
  }
  if (of > epoch() || error == ErrorCode::fenced_leader_epoch || error == ErrorCode::not_leader_or_follower) {
    if (!learn_leader(named, of, std::move(endpoints))) {
      fail_replica("two nodes claim to lead epoch " + std::to_string(of.value()) + " of the metadata quorum");
    }
    return true;
  }
  if (named && !leader()) {
    learn_leader(named, of, std::move(endpoints));
    return error != ErrorCode::none;
  }
  return error == ErrorCode::broker_not_available || error == ErrorCode::invalid_voter_key;
}

template <class Response>
void Quorum::Impl::add_leader_endpoint(Response& response) const {
  const std::vector<VoterEndpoint> endpoints = leader_endpoints();
  const std::optional<Destination> at = destination(leader_or_none(), endpoints);
  if (leader() && at) {
    auto& endpoint = response.node_endpoints.emplace_back();
    endpoint.node_id = at->node;
    endpoint.host = at->host;
    endpoint.port = at->port;
  }
}
template void Quorum::Impl::add_leader_endpoint(wire::FetchResponse&) const;
template void Quorum::Impl::add_leader_endpoint(wire::FetchSnapshotResponse&) const;

template <class Response>
std::vector<VoterEndpoint> Quorum::Impl::endpoint_in(const Response& response, BrokerId id) const {
  std::vector<VoterEndpoint> endpoints;
  for (const auto& endpoint : response.node_endpoints) {
    if (endpoint.node_id == id) {
      endpoints.push_back({config.listener, endpoint.host, endpoint.port});
    }
  }
  return endpoints;
}
template std::vector<VoterEndpoint> Quorum::Impl::endpoint_in(const wire::FetchSnapshotResponse&, BrokerId) const;

// ---------------------------------------------------------------- Vote

void Quorum::Impl::ask_for_votes(Ballot& ballot, bool pre_vote) {
  for (const Voter& voter : ballot.voters.all()) {
    if (voter.key.id == self_id() || !ballot.open(voter.key.id)) {
      continue;
    }
    const std::optional<Destination> to = destination(voter.key.id, voter.endpoints);
    if (!to || !link_free(*to)) {
      continue;
    }
    wire::VoteRequest request;
    if (!config.cluster_id.empty()) {
      request.cluster_id = config.cluster_id;
    }
    request.voter_id = voter.key.id;
    auto& partition = add_partition(request);
    partition.replica_epoch = epoch().value();
    partition.replica_id = self_id();
    partition.replica_directory_id = self_key().directory;
    partition.voter_directory_id = voter.key.directory;
    partition.last_offset_epoch = log.last_epoch().value();
    partition.last_offset = log.end_offset();
    partition.pre_vote = pre_vote;
    send(*to, kVoteVersion, std::move(request));
  }
}

bool Quorum::Impl::may_grant(const ReplicaKey& candidate, bool pre_vote, bool up_to_date) const {
  if (pre_vote) {
    if (trial::has_bug(trial::Canary::grants_every_pre_vote)) {
      return true;
    }
    if (in<Leader>() != nullptr) {
      return false;
    }
    const Follower* follower = in<Follower>();
    return up_to_date && (follower == nullptr || !follower->has_fetched);
  }
  if (trial::has_bug(trial::Canary::votes_twice)) {
    return up_to_date && in<Leader>() == nullptr;
  }
  if (in<Unattached>() == nullptr && in<Prospective>() == nullptr) {
    // A follower may have voted for its leader and is asked again; anybody else has decided.
    return false;
  }
  if (election.voted) {
    return election.voted->matches(candidate);
  }
  return !election.leader && !leader() && up_to_date;
}

void Quorum::Impl::handle(const Request& request, const wire::VoteRequest& vote) {
  wire::VoteResponse response;
  const auto* partition = only_partition(vote);
  response.error_code = whole_error(vote.cluster_id, partition != nullptr);
  if (response.error_code != ErrorCode::none) {
    reply(request.token, std::move(response));
    return;
  }
  const LeaderEpoch of(partition->replica_epoch);
  const bool pre_vote = partition->pre_vote;
  const auto answer = [&](ErrorCode error, bool granted) {
    tell_leader(*this, response, error).vote_granted = granted;
    reply(request.token, std::move(response));
  };
  const std::int32_t last_epoch = partition->last_offset_epoch;
  if (partition->last_offset < Offset(0) || last_epoch < 0 ||
      (pre_vote ? last_epoch > of.value() : last_epoch >= of.value())) {
    answer(ErrorCode::invalid_request, false);
    return;
  }
  if (const ErrorCode error = voter_request_error(partition->replica_id, of); error != ErrorCode::none) {
    answer(error, false);
    return;
  }
  if (of > epoch()) {
    become_unattached(of, event::QuorumCause::newer_epoch);
  }
  if (!meant_for_me(vote.voter_id, partition->voter_directory_id)) {
    answer(ErrorCode::invalid_voter_key, false);
    return;
  }
  const ReplicaKey candidate{partition->replica_id, partition->replica_directory_id};
  const auto theirs = std::pair(LeaderEpoch(last_epoch), partition->last_offset);
  const bool up_to_date =
      theirs >= std::pair(log.last_epoch(), log.end_offset()) || trial::has_bug(trial::Canary::ignores_log_order);
  const bool granted = may_grant(candidate, pre_vote, up_to_date);
  if (pre_vote && !granted) {
    trial::mark(trial::Mark::quorum_refused_pre_vote);
  }
  if (granted && !pre_vote) {
    if (!election.voted || *election.voted != candidate) {
      election.voted = candidate;
      persist();
    }
    // It does not compete with the one that it voted for.
    const bool stood = in<Unattached>() == nullptr;
    leave_state();
    state = Unattached{now + election_timeout()};
    if (stood) {
      tell_role(event::QuorumCause::voted_for_other);
    }
  }
  out->events.emplace_back(event::QuorumVoteCast{self_id(), candidate.id, of.value(), pre_vote, granted});
  answer(ErrorCode::none, granted);
}

void Quorum::Impl::handle_response(BrokerId from, const wire::VoteResponse& response) {
  const auto* partition = only_partition(response);
  if (response.error_code != ErrorCode::none || partition == nullptr ||
      handle_common(partition->error_code, partition->leader_id, partition->leader_epoch,
                    endpoint_in(response, partition->leader_id)) ||
      partition->error_code != ErrorCode::none) {
    back_off();
    return;
  }
  Ballot* ballot = nullptr;
  if (Prospective* prospective = in<Prospective>()) {
    ballot = &prospective->ballot;
  } else if (Candidate* candidate = in<Candidate>()) {
    ballot = &candidate->ballot;
  }
  if (Candidate* candidate = in<Candidate>(); candidate != nullptr && !partition->vote_granted) {
    // Two stand at once, and who could decide may be gone: no use in waiting for it for long.
    const std::int64_t part = std::max<std::int64_t>(config.election_timeout.ns / kJitterOfElection, 1);
    candidate->election_at = std::min(
        candidate->election_at,
        now + nanoseconds(part + static_cast<std::int64_t>(prng.below(static_cast<std::uint64_t>(part)))));
  }
  if (ballot != nullptr && ballot->voters.find(from) != nullptr) {
    (partition->vote_granted ? ballot->granted : ballot->rejected).insert(from);  // poll() counts
  }
}

// ---------------------------------------------------------------- BeginQuorumEpoch

void Quorum::Impl::handle(const Request& request, const wire::BeginQuorumEpochRequest& begin) {
  wire::BeginQuorumEpochResponse response;
  const auto* partition = only_partition(begin);
  response.error_code = whole_error(begin.cluster_id, partition != nullptr);
  if (response.error_code != ErrorCode::none) {
    reply(request.token, std::move(response));
    return;
  }
  ErrorCode error = voter_request_error(partition->leader_id, partition->leader_epoch);
  if (error == ErrorCode::none) {
    if (Prospective* prospective = in<Prospective>(); prospective != nullptr && partition->leader_epoch == epoch() &&
                                                      prospective->leader && prospective->leader->id == partition->leader_id) {
      // The leader that it had lost sight of speaks.
      LeaderAt at = *prospective->leader;
      become_follower(epoch(), std::move(at), event::QuorumCause::heard_of_leader);
    } else if (!learn_leader(partition->leader_id, partition->leader_epoch, endpoints_of(begin.leader_endpoints))) {
      error = ErrorCode::invalid_request;
    }
  }
  if (error == ErrorCode::none && !meant_for_me(begin.voter_id, partition->voter_directory_id)) {
    error = ErrorCode::invalid_voter_key;
  }
  tell_leader(*this, response, error);
  reply(request.token, std::move(response));
}

void Quorum::Impl::handle_response(BrokerId /*from*/, const wire::BeginQuorumEpochResponse& response) {
  const auto* partition = only_partition(response);
  if (response.error_code == ErrorCode::none && partition != nullptr) {
    handle_common(partition->error_code, partition->leader_id, partition->leader_epoch,
                  endpoint_in(response, partition->leader_id));
  }
}

// ---------------------------------------------------------------- EndQuorumEpoch

void Quorum::Impl::handle(const Request& request, const wire::EndQuorumEpochRequest& end) {
  wire::EndQuorumEpochResponse response;
  const auto* partition = only_partition(end);
  response.error_code = whole_error(end.cluster_id, partition != nullptr);
  if (response.error_code != ErrorCode::none) {
    reply(request.token, std::move(response));
    return;
  }
  ErrorCode error = voter_request_error(partition->leader_id, partition->leader_epoch);
  if (error == ErrorCode::none &&
      !learn_leader(partition->leader_id, partition->leader_epoch, endpoints_of(end.leader_endpoints))) {
    error = ErrorCode::invalid_request;
  }
  if (Follower* follower = in<Follower>();
      error == ErrorCode::none && follower != nullptr && follower->leader.id == partition->leader_id) {
    // The first in the list goes ahead at once, each further one waits about twice as long, so that they do not tie.
    const auto& order = partition->preferred_candidates;
    const auto mine = std::find_if(order.begin(), order.end(), [this](const auto& candidate) {
      return self_key().matches({candidate.candidate_id, candidate.candidate_directory_id});
    });
    Duration pause = config.election_backoff_max;
    if (order.empty()) {
      // A leader of an earlier life does not know who is furthest.
      pause = nanoseconds(static_cast<std::int64_t>(prng.below(
          static_cast<std::uint64_t>(std::max<std::int64_t>(config.election_timeout.ns / kJitterOfElection, 1)))));
    } else if (mine == order.begin() && mine != order.end()) {
      pause = Duration{};
    } else if (mine != order.end()) {
      constexpr std::size_t kMostDoublings = 20;
      const std::size_t base_shift = std::min(order.size() - 1, kMostDoublings);
      const std::size_t position_shift = std::min(static_cast<std::size_t>(mine - order.begin()) - 1, kMostDoublings);
      pause = std::min(pause, nanoseconds((config.election_backoff_max.ns >> base_shift) << position_shift));
    }
    follower->fetch_timeout_at = std::min(follower->fetch_timeout_at, now + pause);
    follower->has_fetched = false;  // that leader is gone: pre-votes are welcome
    follower->handed_over = true;
  }
  tell_leader(*this, response, error);
  reply(request.token, std::move(response));
}

void Quorum::Impl::handle_response(BrokerId from, const wire::EndQuorumEpochResponse& response) {
  const auto* partition = only_partition(response);
  if (response.error_code != ErrorCode::none || partition == nullptr ||
      handle_common(partition->error_code, partition->leader_id, partition->leader_epoch,
                    endpoint_in(response, partition->leader_id)) ||
      partition->error_code != ErrorCode::none) {
    back_off();
    return;
  }
  if (Resigned* resigned = in<Resigned>()) {
    resigned->unheard.erase(from);
  }
}

}  // namespace hw::raft
