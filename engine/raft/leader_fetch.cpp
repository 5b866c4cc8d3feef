// SPDX-License-Identifier: Apache-2.0
// Fetch of the metadata log at its leader: validation, divergence, waiting for what is not there yet.
#include <algorithm>

#include "engine/base/trial.h"
#include "engine/raft/detail/quorum_impl.h"

namespace hw::raft {

using wire::ErrorCode;

namespace {

constexpr std::size_t kMostWaiting = 4096;

void note_progress(Progress& progress, Offset end, Offset leader_end, Instant now) {
  if (end >= leader_end) {
    progress.last_caught_up = now;
  } else if (progress.leader_end_at_last_fetch && end >= *progress.leader_end_at_last_fetch && progress.last_fetch) {
    // It has all that was there when it asked last: it was caught up then.
    progress.last_caught_up = std::max(progress.last_caught_up.value_or(*progress.last_fetch), *progress.last_fetch);
  }
  progress.leader_end_at_last_fetch = leader_end;
  progress.last_fetch = now;
  progress.end_offset = end;
}

}  // namespace

wire::FetchResponse Quorum::Impl::fetch_answer(std::int16_t version, ErrorCode error) const {
  wire::FetchResponse response;
  auto& topic = response.responses.emplace_back();
  if (version < kFetchTopicIdsFrom) {
    topic.topic = kMetadataTopicName;
  }
  topic.topic_id = kMetadataTopicUuid;
  auto& partition = topic.partitions.emplace_back();
  partition.error_code = error;
  partition.high_watermark = -1;
  partition.log_start_offset = log.start_offset();
  partition.current_leader.leader_id = leader_or_none();
  partition.current_leader.leader_epoch = epoch();
  partition.records = BytesChain{};
  if (const Leader* leading = in<Leader>(); leading != nullptr && error == ErrorCode::none && leading->high_watermark) {
    partition.high_watermark = leading->high_watermark->value();
  }
  add_leader_endpoint(response);
  return response;
}

void Quorum::Impl::handle(const Request& request, const wire::FetchRequest& fetch) {
  wire::FetchResponse refusal;
  const bool by_id = request.version >= kFetchTopicIdsFrom;
  const bool right = fetch.topics.size() == 1 && fetch.topics.front().partitions.size() == 1 &&
                     fetch.topics.front().partitions.front().partition == PartitionIndex(0) &&
                     (by_id ? fetch.topics.front().topic_id == kMetadataTopicUuid
                            : fetch.topics.front().topic == kMetadataTopicName);
  refusal.error_code = whole_error(fetch.cluster_id, right);
  if (refusal.error_code != ErrorCode::none) {
    reply(request.token, std::move(refusal));
    return;
  }
  const wire::FetchRequest::FetchPartition& partition = fetch.topics.front().partitions.front();
  if (fetch.max_wait_ms < 0 || partition.fetch_offset < Offset(0) || partition.last_fetched_epoch < LeaderEpoch(0) ||
      partition.last_fetched_epoch > partition.current_leader_epoch) {
    reply(request.token, fetch_answer(request.version, ErrorCode::invalid_request));
    return;
  }
  constexpr std::int16_t kReplicaStateFrom = 15;
  const ReplicaKey replica{request.version >= kReplicaStateFrom ? fetch.replica_state.replica_id : fetch.replica_id,
                           partition.replica_directory_id};
  const std::int32_t max_bytes = std::clamp(fetch.max_bytes, 1, config.max_fetch_bytes);
  wire::FetchResponse response = try_fetch(request.version, replica, partition, max_bytes);
  const auto& told = response.responses.front().partitions.front();
  const bool at_once = told.error_code != ErrorCode::none || (told.records && !told.records->empty()) ||
                       fetch.max_wait_ms == 0 || told.diverging_epoch.epoch >= 0 || told.snapshot_id.epoch >= 0 ||
                       told.high_watermark > partition.high_watermark;  // KIP-1166
  Leader* leading = in<Leader>();
  if (at_once || leading == nullptr || leading->waiting.size() >= kMostWaiting) {
    reply(request.token, std::move(response));
    return;
  }
  leading->waiting.push_back(
      {request.token, request.version, replica, partition, max_bytes, now + milliseconds(fetch.max_wait_ms)});
}

wire::FetchResponse Quorum::Impl::try_fetch(std::int16_t version, const ReplicaKey& replica,
                                            const wire::FetchRequest::FetchPartition& partition, std::int32_t max_bytes) {
  if (const ErrorCode error = leader_request_error(partition.current_leader_epoch); error != ErrorCode::none) {
    return fetch_answer(version, error);
  }
  const Offset from = partition.fetch_offset;
  const LeaderEpoch last = partition.last_fetched_epoch;
  const std::optional<SnapshotId> newest = log.latest_snapshot();
  const std::optional<SnapshotId> oldest = log.earliest_snapshot();
  bool from_snapshot = from == Offset(0) && newest && *newest != kBootstrapSnapshot;  // quicker than segment by segment
  std::optional<EpochEnd> diverging;
  if (!from_snapshot && !(log.start_offset() == Offset(0) && from == Offset(0))) {
    from_snapshot = oldest && (from < log.start_offset() ||
                               (from == log.start_offset() && last != oldest->epoch) || last < oldest->epoch);
    if (!from_snapshot) {
      const EpochEnd mine = log.end_offset_for_epoch(last);
      if (mine.epoch != last || mine.end_offset < from) {
        diverging = mine;
      }
    }
  }
  wire::FetchResponse response;
  if (from_snapshot) {
    trial::mark(trial::Mark::quorum_snapshot_fetch);
    response = fetch_answer(version, ErrorCode::none);
    auto& told = response.responses.front().partitions.front();
    told.snapshot_id.end_offset = newest->end_offset;
    told.snapshot_id.epoch = newest->epoch.value();
    noted_fetch(*in<Leader>(), replica);
    return response;
  }
  if (diverging) {
    trial::mark(trial::Mark::quorum_diverging_fetch);
    response = fetch_answer(version, ErrorCode::none);
    auto& told = response.responses.front().partitions.front();
    told.diverging_epoch.epoch = diverging->epoch.value();
    told.diverging_epoch.end_offset = diverging->end_offset;
    noted_fetch(*in<Leader>(), replica);
    return response;
  }
  Result<BytesChain> records = log.read(from, trial::happens(trial::Oddity::short_quorum_fetch) ? 1 : max_bytes);
  if (!records) {
    return fetch_answer(version, ErrorCode::unknown_server_error);
  }
  Leader& leader = *in<Leader>();
  if (replica.id >= BrokerId(0) && replica.id != self_id()) {
    const auto voter = leader.voters.find(replica.id);
    if (voter != leader.voters.end() && voter->second.key.matches(replica)) {
      note_progress(voter->second, from, log.end_offset(), now);
      tell_progress(voter->second);
      noted_fetch(leader, replica);
    } else {
      constexpr std::size_t kMostObservers = 4096;
      if (leader.observers.contains(replica) || leader.observers.size() < kMostObservers) {
        Progress& observer = leader.observers[replica];
        observer.key = replica;
        note_progress(observer, from, log.end_offset(), now);
        tell_progress(observer);
      }
    }
    advance_high_watermark();
  }
  response = fetch_answer(version, ErrorCode::none);
  response.responses.front().partitions.front().records = std::move(*records);
  return response;
}

void Quorum::Impl::complete_waiting() {
  Leader* leader = in<Leader>();
  if (leader == nullptr || leader->waiting.empty()) {
    return;
  }
  // Answering may move the high watermark, which calls this again: what is answered is taken out first.
  std::vector<WaitingFetch> ready;
  const auto due = [&](const WaitingFetch& waiting) {
    return waiting.partition.fetch_offset < log.end_offset() ||
           (leader->high_watermark && leader->high_watermark->value() > waiting.partition.high_watermark);
  };
  const auto first = std::stable_partition(leader->waiting.begin(), leader->waiting.end(),
                                           [&](const WaitingFetch& waiting) { return !due(waiting); });
  ready.assign(std::make_move_iterator(first), std::make_move_iterator(leader->waiting.end()));
  leader->waiting.erase(first, leader->waiting.end());
  for (const WaitingFetch& waiting : ready) {
    reply(waiting.token, try_fetch(waiting.version, waiting.replica, waiting.partition, waiting.max_bytes));
  }
}

void Quorum::Impl::expire_waiting() {
  Leader* leader = in<Leader>();
  if (leader == nullptr) {
    return;
  }
  for (std::size_t i = 0; i < leader->waiting.size();) {
    if (leader->waiting[i].expires_at > now) {
      ++i;
      continue;
    }
    const WaitingFetch waiting = std::move(leader->waiting[i]);
    leader->waiting.erase(leader->waiting.begin() + static_cast<std::ptrdiff_t>(i));
    // Nothing came meanwhile. The replica asked a while ago: it does not count as a fetch of now.
    reply(waiting.token, fetch_answer(waiting.version, ErrorCode::none));
  }
}

void Quorum::Impl::fail_waiting(Leader& leader) {
  for (const WaitingFetch& waiting : std::exchange(leader.waiting, {})) {
    reply(waiting.token, fetch_answer(waiting.version, ErrorCode::not_leader_or_follower));
  }
}

}  // namespace hw::raft
