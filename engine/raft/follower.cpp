// SPDX-License-Identifier: Apache-2.0
// Follower: fetches from the leader, cuts what diverges, and tells by the offset it fetches from what it holds durably (Q5).
// An observer does the same without a vote.
#include <algorithm>

#include "engine/base/trial.h"
#include "engine/raft/detail/quorum_impl.h"
#include "engine/wire/record/batch.h"

namespace hw::raft {

using wire::ErrorCode;

void Quorum::Impl::poll_follower(Follower& follower) {
  if (now >= follower.fetch_timeout_at) {
    if (is_voter()) {
      if (!stopping) {
        become_prospective(follower.handed_over ? event::QuorumCause::leader_handed_over : event::QuorumCause::leader_silent);
        return;
      }
    } else {
      become_unattached(epoch(), event::QuorumCause::leader_silent);  // somebody else may know the leader
      return;
    }
  }
  const std::optional<Destination> to = destination(follower.leader.id, follower.leader.endpoints);
  if (!to) {
    return;
  }
  if (!is_voter() && link_failing(*to)) {
    // An observer need not wait for the leader that it knew: it asks another replica who leads now.
    if (const std::optional<Destination> other = any_free_destination(); other && other->node != to->node) {
      const bool asking = std::any_of(sent.begin(), sent.end(), [](const auto& entry) {
        return entry.second.kind == Body(wire::FetchRequest{}).index();
      });
      if (!asking) {
        fetch_from(*other);
      }
    }
    return;
  }
  if (!link_free(*to)) {
    return;
  }
  if (now >= follower.update_voter_at && is_voter() && own_entry_is_old()) {
    follower.update_voter_at = now + config.fetch_timeout;
    send(*to, kUpdateRaftVoterVersion, update_voter_request());
    return;
  }
  if (follower.fetching) {
    fetch_snapshot_from(*to, follower);
  } else {
    fetch_from(*to);
  }
}

Instant Quorum::Impl::deadline_of(const Follower& follower) const {
  const Instant update = is_voter() && own_entry_is_old() ? std::max(follower.update_voter_at, now) : kNever;
  const std::optional<Destination> to = destination(follower.leader.id, follower.leader.endpoints);
  const Instant fetch = stopping && is_voter() && follower.fetch_timeout_at <= now ? kNever : follower.fetch_timeout_at;
  return std::min(fetch, to && link_free(*to) && update > now ? update : kNever);
}

wire::FetchRequest Quorum::Impl::fetch_request() const {
  // An answer must come well before the fetch timeout: a leader without news answers at the end of the wait only.
  constexpr std::int64_t kMaxWaitMs = 500;
  wire::FetchRequest request;
  if (!config.cluster_id.empty()) {
    request.cluster_id = config.cluster_id;
  }
  request.replica_state.replica_id = self_id();
  request.max_wait_ms = static_cast<std::int32_t>(std::min(kMaxWaitMs, config.fetch_timeout.ms() / 2));
  request.max_bytes = config.max_fetch_bytes;
  wire::FetchRequest::FetchTopic& topic = request.topics.emplace_back();
  topic.topic = kMetadataTopicName;
  topic.topic_id = kMetadataTopicUuid;
  wire::FetchRequest::FetchPartition& partition = topic.partitions.emplace_back();
  partition.current_leader_epoch = epoch();
  partition.fetch_offset = log.end_offset();
  partition.last_fetched_epoch = log.last_epoch();
  partition.replica_directory_id = self_key().directory;
  partition.high_watermark = high_watermark.value();
  return request;
}

void Quorum::Impl::fetch_from(const Destination& to) {
  if (must_flush() && flushed < log.end_offset() && !trial::has_bug(trial::Canary::fetches_unflushed)) {
    ask_flush();
    return;  // Q5: with Flushed
  }
  if (link_free(to)) {
    send(to, kFetchVersion, fetch_request());
  }
}

void Quorum::Impl::handle_response(BrokerId from, const wire::FetchResponse& response, bool same_log) {
  if (response.error_code != ErrorCode::none || response.responses.size() != 1 ||
      response.responses.front().partitions.size() != 1) {
    back_off();
    return;
  }
  const wire::FetchResponse::PartitionData& partition = response.responses.front().partitions.front();
  std::vector<VoterEndpoint> endpoints;
  for (const wire::FetchResponse::NodeEndpoint& endpoint : response.node_endpoints) {
    if (endpoint.node_id == partition.current_leader.leader_id) {
      endpoints.push_back({config.listener, endpoint.host, static_cast<std::uint16_t>(endpoint.port)});
    }
  }
  if (handle_common(partition.error_code, partition.current_leader.leader_id, partition.current_leader.leader_epoch,
                    std::move(endpoints))) {
    back_off();
    return;
  }
  Follower* follower = in<Follower>();
  if (partition.error_code != ErrorCode::none || follower == nullptr ||
      (from != kNoBroker && from != follower->leader.id)) {
    back_off();
    return;
  }
  if (!same_log && (partition.diverging_epoch.epoch >= 0 || partition.snapshot_id.epoch >= 0 || partition.snapshot_id.end_offset >= Offset(0))) {
    return;  // by another link to the same node the log was cut or went on meanwhile: this is about what it no longer is
  }
  if (partition.diverging_epoch.epoch >= 0) {
    if (!trial::has_bug(trial::Canary::keeps_divergence) &&
        !cut_divergence(LeaderEpoch(partition.diverging_epoch.epoch), partition.diverging_epoch.end_offset)) {
      return;
    }
  } else if (partition.snapshot_id.epoch >= 0 || partition.snapshot_id.end_offset >= Offset(0)) {
    const SnapshotId id{partition.snapshot_id.end_offset, LeaderEpoch(partition.snapshot_id.epoch)};
    if (id.end_offset < Offset(0) || id.epoch < LeaderEpoch(0)) {
      back_off();
      return;
    }
    if (Result<void> made = log.create_snapshot(id); !made) {
      fail_replica("cannot begin a snapshot of the metadata log: " + made.error().detail);
      return;
    }
    follower->fetching = Follower::Snapshot{id, 0};
  } else {
    if (partition.records && !partition.records->empty()) {
      take_records(*partition.records);
      if (!out->broken.empty()) {
        return;
      }
    }
    follow_high_watermark(partition.high_watermark);
  }
  follower = in<Follower>();
  follower->has_fetched = true;
  follower->fetch_timeout_at = now + follower->patience;
}

void Quorum::Impl::take_records(const BytesChain& chain) {
  const Bytes bytes = chain.flatten();
  // What the leader's limit cut off comes again; what is here already (an answer that came twice) is passed over.
  wire::BatchCursor cursor(bytes.span());
  wire::BatchView batch;
  std::size_t begin = 0;
  std::size_t end = 0;
  Offset next = log.end_offset();
  while (cursor.next(batch)) {
    if (batch.base_offset() < next && end == 0 && batch.last_offset() < next) {
      begin = cursor.position();
      continue;
    }
    if (batch.base_offset() != next || !batch.crc_ok() || batch.leader_epoch() > epoch()) {
      break;
    }
    next = batch.next_offset();
    end = cursor.position();
  }
  if (end <= begin) {
    return;
  }
  const Bytes whole = bytes.slice(begin, end - begin);
  if (Result<void> appended = log.append_as_follower(whole, wall); !appended) {
    fail_replica("cannot write the metadata log: " + appended.error().detail);
    return;
  }
  if (Result<void> noted = note_control_batches(whole); !noted) {
    fail_replica(noted.error().detail);
    return;
  }
  ask_flush();
}

void Quorum::Impl::follow_high_watermark(std::int64_t leaders) {
  const Offset next = std::min(Offset(std::max<std::int64_t>(leaders, 0)), log.end_offset());
  if (next > high_watermark) {
    high_watermark = next;
    log.set_high_watermark(next);
    history.forget_below(log.start_offset());
    out->high_watermark = next;
  }
}

bool Quorum::Impl::cut_divergence(LeaderEpoch of, Offset end) {
  const EpochEnd mine = log.end_offset_for_epoch(of);
  Offset to = std::min(mine.epoch == of ? std::min(mine.end_offset, end) : mine.end_offset, log.end_offset());
  if (trial::has_bug(trial::Canary::truncates_committed)) {
    to = log.start_offset();
  }
  if (to < high_watermark && !trial::has_bug(trial::Canary::truncates_committed)) {
    fail_replica("the leader asks to cut the metadata log to offset " + std::to_string(to.value()) +
                 ", below what is committed (" + std::to_string(high_watermark.value()) + ")");
    return false;
  }
  if (Result<void> cut = log.truncate_to(to); !cut) {
    fail_replica("cannot cut the metadata log: " + cut.error().detail);
    return false;
  }
  flushed = std::min(flushed, to);
  flush_asked = flushed;
  history.truncate_to(to);
  ask_flush();
  return true;
}

}  // namespace hw::raft
