// SPDX-License-Identifier: Apache-2.0
// FetchSnapshot (KIP-630): a leader sends pieces of a snapshot file, a follower whose log is older than the leader's puts
// them together and begins its log anew behind the snapshot.
#include <algorithm>

#include "engine/raft/detail/quorum_impl.h"

namespace hw::raft {

using wire::ErrorCode;

void Quorum::Impl::handle(const Request& request, const wire::FetchSnapshotRequest& fetch) {
  wire::FetchSnapshotResponse response;
  if (!right_cluster(fetch.cluster_id)) {
    response.error_code = ErrorCode::inconsistent_cluster_id;
    reply(request.token, std::move(response));
    return;
  }
  if (fetch.topics.size() != 1 || fetch.topics.front().partitions.size() != 1) {
    response.error_code = ErrorCode::invalid_request;
    reply(request.token, std::move(response));
    return;
  }
  const auto& partition = fetch.topics.front().partitions.front();
  const SnapshotId id{partition.snapshot_id.end_offset, LeaderEpoch(partition.snapshot_id.epoch)};
  // Wrong topic, not the leader, old or new epoch, unknown snapshot, position out of range: Kafka 4.4 has an error for each
  // and cannot encode an answer without records, so that what arrives is this one at the top.
  const auto refuse = [&] {
    response.error_code = ErrorCode::unknown_server_error;
    reply(request.token, std::move(response));
  };
  const bool right = fetch.topics.front().name == kMetadataTopicName && partition.partition == PartitionIndex(0);
  if (!right || leader_request_error(partition.current_leader_epoch) != ErrorCode::none || id == kBootstrapSnapshot) {
    refuse();
    return;
  }
  const Result<std::uint64_t> size = log.snapshot_size(id);
  if (!size || partition.position < 0 || static_cast<std::uint64_t>(partition.position) >= *size) {
    refuse();
    return;
  }
  const std::int32_t most = std::clamp(fetch.max_bytes, 1, config.max_snapshot_fetch_bytes);
  Result<Bytes> piece = log.read_snapshot(id, static_cast<std::uint64_t>(partition.position), most);
  if (!piece) {
    refuse();
    return;
  }
  noted_fetch(*in<Leader>(), {fetch.replica_id, partition.replica_directory_id});
  auto& topic = response.topics.emplace_back();
  topic.name = kMetadataTopicName;
  auto& told = topic.partitions.emplace_back();
  told.snapshot_id.end_offset = id.end_offset;
  told.snapshot_id.epoch = id.epoch.value();
  told.current_leader.leader_id = leader_or_none();
  told.current_leader.leader_epoch = epoch();
  told.size = static_cast<std::int64_t>(*size);
  told.position = partition.position;
  told.unaligned_records = BytesChain(std::move(*piece));
  add_leader_endpoint(response);
  reply(request.token, std::move(response));
}

void Quorum::Impl::fetch_snapshot_from(const Destination& to, Follower& follower) {
  wire::FetchSnapshotRequest request;
  if (!config.cluster_id.empty()) {
    request.cluster_id = config.cluster_id;
  }
  request.replica_id = self_id();
  request.max_bytes = config.max_snapshot_fetch_bytes;
  auto& topic = request.topics.emplace_back();
  topic.name = kMetadataTopicName;
  auto& partition = topic.partitions.emplace_back();
  partition.current_leader_epoch = epoch();
  partition.snapshot_id.end_offset = follower.fetching->id.end_offset;
  partition.snapshot_id.epoch = follower.fetching->id.epoch.value();
  partition.position = static_cast<std::int64_t>(follower.fetching->position);
  partition.replica_directory_id = self_key().directory;
  send(to, kFetchSnapshotVersion, std::move(request));
}

void Quorum::Impl::handle_response(BrokerId from, const wire::FetchSnapshotResponse& response) {
  const auto start_over = [this] {
    if (Follower* follower = in<Follower>()) {
      follower->fetching.reset();  // the next fetch tells what there is now
    }
    back_off();
  };
  const bool shaped = response.topics.size() == 1 && response.topics.front().partitions.size() == 1;
  if (response.error_code != ErrorCode::none || !shaped) {
    start_over();
    return;
  }
  const auto& piece = response.topics.front().partitions.front();
  if (handle_common(piece.error_code, piece.current_leader.leader_id, piece.current_leader.leader_epoch,
                    endpoint_in(response, piece.current_leader.leader_id))) {
    back_off();
    return;
  }
  Follower* follower = in<Follower>();
  if (follower == nullptr || !follower->fetching || from != follower->leader.id) {
    return;
  }
  Follower::Snapshot& fetching = *follower->fetching;
  const SnapshotId id{piece.snapshot_id.end_offset, LeaderEpoch(piece.snapshot_id.epoch)};
  if (piece.error_code != ErrorCode::none || id != fetching.id || piece.position < 0 ||
      static_cast<std::uint64_t>(piece.position) != fetching.position || piece.unaligned_records.empty()) {
    start_over();
    return;
  }
  const Bytes bytes = piece.unaligned_records.flatten();
  if (Result<void> appended = log.append_snapshot(id, bytes); !appended) {
    fail_replica("cannot write a snapshot of the metadata log: " + appended.error().detail);
    return;
  }
  fetching.position += bytes.size();
  follower->fetch_timeout_at = now + follower->patience;
  follower->has_fetched = true;
  if (fetching.position < static_cast<std::uint64_t>(std::max<std::int64_t>(piece.size, 0))) {
    return;  // poll() asks for the next piece
  }
  follower->fetching.reset();
  if (id.end_offset < high_watermark) {
    fail_replica("the leader sends a snapshot that ends at offset " + std::to_string(id.end_offset.value()) +
                 ", below what is committed (" + std::to_string(high_watermark.value()) + ")");
    return;
  }
  Result<void> done = log.freeze_snapshot(id);
  if (done) {
    done = log.truncate_fully_and_start_at(id);
  }
  if (done) {
    done = load_snapshot_voters(id);
  }
  if (!done) {
    fail_replica("cannot begin anew behind a snapshot of the metadata log: " + done.error().detail);
    return;
  }
  flushed = flush_asked = log.end_offset();  // the snapshot is durable, and there is nothing behind it
  high_watermark = id.end_offset;
  log.set_high_watermark(high_watermark);
  out->log_restarted = true;
  out->high_watermark = high_watermark;
}

}  // namespace hw::raft
