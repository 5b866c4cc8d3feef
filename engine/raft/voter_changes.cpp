// SPDX-License-Identifier: Apache-2.0
// Changes of the voters (KIP-853), one at a time, each by one VotersRecord; and DescribeQuorum.
#include <algorithm>

#include "engine/base/trial.h"
#include "engine/raft/control_records.h"
#include "engine/raft/detail/quorum_impl.h"

namespace hw::raft {

using wire::ErrorCode;

namespace {

constexpr Duration kObserverSession = seconds(300);  // an observer that does not fetch for so long is not shown any more
constexpr Duration kCaughtUpWithin = seconds(3600);

std::string text_of(const ReplicaKey& key) {
  return "replica " + std::to_string(key.id.value()) + " with directory " + key.directory.text();
}

}  // namespace

// ---------------------------------------------------------------- what the changes have in common

std::optional<std::pair<ErrorCode, std::string>> Quorum::Impl::change_hindrance() const {
  const Leader& leader = *in<Leader>();
  if (leader.change) {
    return std::pair(ErrorCode::request_timed_out, std::string("another change of the voters is on its way"));
  }
  if (!leader.high_watermark) {
    return std::pair(ErrorCode::request_timed_out, std::string("the leader does not know yet what is committed"));
  }
  if (history.version() < kKRaftVersion) {
    return std::pair(ErrorCode::unsupported_version,
                     "the voters cannot change at kraft.version " + std::to_string(history.version()));
  }
  if (history.last_offset() >= *leader.high_watermark) {
    return std::pair(ErrorCode::request_timed_out, std::string("the last change of the voters is not committed yet"));
  }
  return std::nullopt;
}

Offset Quorum::Impl::append_voters(const VoterSet& next) {
  return append_batch(control_batch_of({voters_record(next.all())}, log.end_offset(), epoch(), wall), 1);
}

void Quorum::Impl::answer_change(ErrorCode error, const std::string& message) {
  Leader* leader = in<Leader>();
  if (leader == nullptr || !leader->change) {
    return;
  }
  const VoterChange change = *std::exchange(leader->change, std::nullopt);
  if (error == ErrorCode::none) {
    trial::mark(change.kind == VoterChange::Kind::add ? trial::Mark::quorum_voter_added : trial::Mark::quorum_voter_removed);
  }
  if (change.token == 0) {
    return;  // answered when it was appended
  }
  const auto fill = [&](auto response) {
    response.error_code = error;
    if (!message.empty()) {
      response.error_message = message;
    }
    reply(change.token, std::move(response));
  };
  if (change.kind == VoterChange::Kind::add) {
    fill(wire::AddRaftVoterResponse{});
  } else {
    fill(wire::RemoveRaftVoterResponse{});
  }
}

void Quorum::Impl::poll_change(Leader& leader) {
  if (leader.change && now >= leader.change->expires_at) {
    answer_change(ErrorCode::request_timed_out, {});
  }
}

// ---------------------------------------------------------------- AddRaftVoter, RemoveRaftVoter

void Quorum::Impl::handle(const Request& request, const wire::AddRaftVoterRequest& add) {
  const auto answer = [&](ErrorCode error, std::string message) {
    wire::AddRaftVoterResponse response;
    response.error_code = error;
    if (!message.empty()) {
      response.error_message = std::move(message);
    }
    reply(request.token, std::move(response));
  };
  if (!right_cluster(add.cluster_id)) {
    answer(ErrorCode::inconsistent_cluster_id, "this is cluster " + config.cluster_id);
    return;
  }
  if (const ErrorCode error = leader_request_error(epoch()); error != ErrorCode::none) {
    answer(error, {});
    return;
  }
  Voter voter;
  voter.key = {BrokerId(add.voter_id), add.voter_directory_id};
  voter.endpoints = endpoints_of(add.listeners);
  if (add.voter_id < 0 || add.voter_directory_id == Uuid{}) {
    answer(ErrorCode::invalid_request, "a voter has an id and a directory id");
    return;
  }
  const VoterEndpoint* at = find_endpoint(voter.endpoints, config.listener);
  if (at == nullptr) {
    answer(ErrorCode::invalid_request, "the voter needs an endpoint for listener " + config.listener);
    return;
  }
  if (const auto hindrance = change_hindrance()) {
    answer(hindrance->first, hindrance->second);
    return;
  }
  if (voters().find(voter.key.id) != nullptr) {
    answer(ErrorCode::duplicate_voter, text_of(voter.key) + ": there is a voter with this id");
    return;
  }
  wire::ApiVersionsRequest ask;
  ask.client_software_name = "highwater";
  ask.client_software_version = "1";
  const std::uint64_t asked = send({voter.key.id, at->host, at->port}, kApiVersionsVersion, std::move(ask));
  if (asked == 0) {
    answer(ErrorCode::request_timed_out, text_of(voter.key) + " is not ready for requests");
    return;
  }
  VoterChange change;
  change.kind = VoterChange::Kind::add;
  change.token = request.token;
  change.voter = std::move(voter);
  change.ack_when_committed = add.ack_when_committed;
  change.asked = asked;
  change.expires_at = now + config.request_timeout;
  in<Leader>()->change = std::move(change);
}

void Quorum::Impl::handle_api_versions(std::uint64_t id, const wire::ApiVersionsResponse* response) {
  Leader* leader = in<Leader>();
  if (leader == nullptr || !leader->change || leader->change->asked != id) {
    return;
  }
  VoterChange& change = *leader->change;
  change.asked.reset();
  if (response == nullptr || response->error_code != ErrorCode::none) {
    answer_change(ErrorCode::request_timed_out, text_of(change.voter.key) + " does not answer ApiVersions");
    return;
  }
  const auto& features = response->supported_features;
  const auto range = std::find_if(features.begin(), features.end(),
                                  [](const auto& feature) { return feature.name == kKRaftVersionFeature; });
  if (range == features.end() || range->min_version > history.version() || range->max_version < history.version()) {
    answer_change(ErrorCode::invalid_request,
                  text_of(change.voter.key) + " does not support kraft.version " + std::to_string(history.version()));
    return;
  }
  const auto observer = leader->observers.find(change.voter.key);
  if (observer == leader->observers.end() || !observer->second.last_caught_up || !observer->second.last_fetch ||
      *observer->second.last_fetch + kCaughtUpWithin < now) {
    answer_change(ErrorCode::request_timed_out, text_of(change.voter.key) + " lags behind");
    return;
  }
  change.voter.min_kraft_version = range->min_version;
  change.voter.max_kraft_version = range->max_version;
  const std::optional<VoterSet> next = voters().with(change.voter);
  if (!next) {
    answer_change(ErrorCode::duplicate_voter, text_of(change.voter.key) + ": there is a voter with this id");
    return;
  }
  change.record = log.end_offset();
  if (!change.ack_when_committed) {
    reply(std::exchange(change.token, 0), wire::AddRaftVoterResponse{});
  }
  append_voters(*next);
}

void Quorum::Impl::handle(const Request& request, const wire::RemoveRaftVoterRequest& remove) {
  const auto answer = [&](ErrorCode error, std::string message) {
    wire::RemoveRaftVoterResponse response;
    response.error_code = error;
    if (!message.empty()) {
      response.error_message = std::move(message);
    }
    reply(request.token, std::move(response));
  };
  if (!right_cluster(remove.cluster_id)) {
    answer(ErrorCode::inconsistent_cluster_id, "this is cluster " + config.cluster_id);
    return;
  }
  if (const ErrorCode error = leader_request_error(epoch()); error != ErrorCode::none) {
    answer(error, {});
    return;
  }
  const ReplicaKey key{BrokerId(remove.voter_id), remove.voter_directory_id};
  if (remove.voter_id < 0 || remove.voter_directory_id == Uuid{}) {
    answer(ErrorCode::invalid_request, "a voter has an id and a directory id");
    return;
  }
  if (const auto hindrance = change_hindrance()) {
    answer(hindrance->first, hindrance->second);
    return;
  }
  const std::optional<VoterSet> next = voters().without(key);
  if (!next) {
    answer(ErrorCode::voter_not_found, text_of(key) + " cannot be removed from the voters");
    return;
  }
  VoterChange change;
  change.kind = VoterChange::Kind::remove;
  change.token = request.token;
  change.record = log.end_offset();
  change.expires_at = now + config.request_timeout;
  in<Leader>()->change = std::move(change);
  append_voters(*next);
}

// ---------------------------------------------------------------- UpdateRaftVoter

bool Quorum::Impl::own_entry_is_old() const {
  if (history.version() < kKRaftVersion) {
    return false;
  }
  const Voter* entry = voters().find(self_id());
  return entry != nullptr && entry->key.matches(self_key()) && !config.self.endpoints.empty() && *entry != config.self;
}

wire::UpdateRaftVoterRequest Quorum::Impl::update_voter_request() const {
  wire::UpdateRaftVoterRequest request;
  if (!config.cluster_id.empty()) {
    request.cluster_id = config.cluster_id;
  }
  request.current_leader_epoch = epoch();
  request.voter_id = self_id().value();
  request.voter_directory_id = self_key().directory;
  add_endpoints(request.listeners, config.self.endpoints);
  request.k_raft_version_feature.min_supported_version = config.self.min_kraft_version;
  request.k_raft_version_feature.max_supported_version = config.self.max_kraft_version;
  return request;
}

void Quorum::Impl::handle(const Request& request, const wire::UpdateRaftVoterRequest& update) {
  const auto answer = [&](ErrorCode error) {
    wire::UpdateRaftVoterResponse response;
    response.error_code = error;
    response.current_leader.leader_id = leader_or_none();
    response.current_leader.leader_epoch = epoch();
    if (const std::optional<Destination> at = destination(leader_or_none(), leader_endpoints()); leader() && at) {
      response.current_leader.host = at->host;
      response.current_leader.port = at->port;
    }
    reply(request.token, std::move(response));
  };
  if (!right_cluster(update.cluster_id)) {
    answer(ErrorCode::inconsistent_cluster_id);
    return;
  }
  if (const ErrorCode error = leader_request_error(update.current_leader_epoch); error != ErrorCode::none) {
    answer(error);
    return;
  }
  Voter voter;
  voter.key = {BrokerId(update.voter_id), update.voter_directory_id};
  voter.endpoints = endpoints_of(update.listeners);
  voter.min_kraft_version = update.k_raft_version_feature.min_supported_version;
  voter.max_kraft_version = update.k_raft_version_feature.max_supported_version;
  if (update.voter_id < 0 || update.voter_directory_id == Uuid{} ||
      find_endpoint(voter.endpoints, config.listener) == nullptr || voter.min_kraft_version < 0 ||
      voter.max_kraft_version < voter.min_kraft_version) {
    answer(ErrorCode::invalid_request);
    return;
  }
  if (const auto hindrance = change_hindrance()) {
    answer(hindrance->first);
    return;
  }
  if (voter.min_kraft_version > history.version() || voter.max_kraft_version < history.version()) {
    answer(ErrorCode::invalid_request);
    return;
  }
  const std::optional<VoterSet> next = voters().updated(voter);
  if (!next) {
    answer(ErrorCode::voter_not_found);
    return;
  }
  append_voters(*next);
  answer(ErrorCode::none);
}

void Quorum::Impl::handle_response(BrokerId /*from*/, const wire::UpdateRaftVoterResponse& response) {
  std::vector<VoterEndpoint> endpoints;
  if (!response.current_leader.host.empty()) {
    endpoints.push_back({config.listener, response.current_leader.host,
                         static_cast<std::uint16_t>(response.current_leader.port)});
  }
  handle_common(response.error_code, response.current_leader.leader_id, response.current_leader.leader_epoch,
                std::move(endpoints));
}

// ---------------------------------------------------------------- DescribeQuorum

void Quorum::Impl::handle(const Request& request, const wire::DescribeQuorumRequest& describe) {
  wire::DescribeQuorumResponse response;
  response.error_message = "";
  // Exactly the one partition that a quorum keeps; anything else is not hosted here, and nothing is then told.
  if (only_partition(describe) == nullptr) {
    for (const auto& topic : describe.topics) {
      auto& answer = response.topics.emplace_back();
      answer.topic_name = topic.topic_name;
      for (const auto& partition : topic.partitions) {
        auto& item = answer.partitions.emplace_back();
        item.partition_index = partition.partition_index;
        item.error_code = ErrorCode::unknown_topic_or_partition;
        item.error_message = "the quorum keeps partition 0 of __cluster_metadata, alone in a request, and nothing else";
        item.leader_id = BrokerId(0);
        item.leader_epoch = LeaderEpoch(0);
      }
    }
    reply(request.token, std::move(response));
    return;
  }
  auto& item = add_partition(response);
  item.error_message = "";
  Leader* leader = in<Leader>();
  if (leader == nullptr) {
    item.error_code = ErrorCode::not_leader_or_follower;
    item.error_message = "this node does not lead the quorum";
    reply(request.token, std::move(response));
    return;
  }
  std::erase_if(leader->observers, [this](const auto& entry) {
    return !entry.second.last_fetch || *entry.second.last_fetch + kObserverSession < now;
  });
  item.leader_id = self_id();
  item.leader_epoch = epoch();
  item.high_watermark = leader->high_watermark ? leader->high_watermark->value() : -1;
  const auto time_of = [this](const std::optional<Instant>& at) { return at ? wall_ms(*at) : -1; };
  const auto show = [&](std::vector<wire::DescribeQuorumResponse::ReplicaState>& into, const Progress& progress) {
    auto& entry = into.emplace_back();
    entry.replica_id = progress.key.id;
    entry.replica_directory_id = progress.key.directory;
    entry.log_end_offset = progress.end_offset.value_or(kNoOffset);
    entry.last_fetch_timestamp = time_of(progress.last_fetch);
    entry.last_caught_up_timestamp = time_of(progress.last_caught_up);
  };
  for (const Voter& voter : voters().all()) {
    if (voter.key.id == self_id()) {
      show(item.current_voters, Progress{voter.key, log.end_offset(), now, now, {}, nullptr});
    } else if (const auto known = leader->voters.find(voter.key.id); known != leader->voters.end()) {
      show(item.current_voters, known->second);
    }
  }
  for (const auto& [key, progress] : leader->observers) {
    show(item.observers, progress);
  }
  constexpr std::int16_t kNodesFrom = 2;
  if (request.version >= kNodesFrom) {
    for (const Voter& voter : voters().all()) {
      auto& node = response.nodes.emplace_back();
      node.node_id = voter.key.id;
      for (const VoterEndpoint& endpoint : voter.endpoints) {
        auto& listener = node.listeners.emplace_back();
        listener.name = endpoint.listener;
        listener.host = endpoint.host;
        listener.port = endpoint.port;
      }
    }
  }
  reply(request.token, std::move(response));
}

}  // namespace hw::raft
