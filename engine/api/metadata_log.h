// SPDX-License-Identifier: Apache-2.0
// MetadataLog: the log __cluster_metadata-0 of a node and the snapshots beside it, as the quorum sees them.
//
//   __cluster_metadata-0/00000000000000000000.log …                          segments, by log::PartitionLog
//   __cluster_metadata-0/00000000000000000123-0000000007.checkpoint          snapshot of everything below 123, epoch 7
//   __cluster_metadata-0/….checkpoint.part                                   one in the making; thrown away at the start
//
// Thread rule: the node's thread. The PartitionLog and the Disk outlive it. Source: KIP-630.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/env/disk.h"
#include "engine/event/event.h"
#include "engine/log/partition_log.h"
#include "engine/raft/replicated_log.h"

namespace hw::api {

class MetadataLog final : public raft::ReplicatedLog {
 public:
  // Looks which snapshots there are. A log that ends before the newest of them (its records were lost) begins anew behind it.
  static Result<std::unique_ptr<MetadataLog>> open(env::Disk& disk, log::PartitionLog& log);

  // Tells of the snapshots that there are, and of those that come and go. `events` (may be null) outlives the log.
  void watch(BrokerId node, event::EventSink* events);

  [[nodiscard]] Offset start_offset() const override { return log_.log_start_offset(); }
  [[nodiscard]] Offset end_offset() const override { return log_.log_end_offset(); }
  [[nodiscard]] Offset high_watermark() const override { return log_.high_watermark(); }
  [[nodiscard]] Offset durable_offset() const override;
  [[nodiscard]] LeaderEpoch last_epoch() const override;
  [[nodiscard]] raft::EpochEnd end_offset_for_epoch(LeaderEpoch epoch) const override;
  [[nodiscard]] Result<BytesChain> read(Offset from, std::int32_t max_bytes) const override;
  Result<void> append_as_leader(Bytes batch, LeaderEpoch epoch, WallTime wall) override;
  Result<void> append_as_follower(Bytes batches, WallTime wall) override;
  Result<void> truncate_to(Offset offset) override;
  void set_high_watermark(Offset offset) override { log_.set_high_watermark(offset); }

  [[nodiscard]] std::int64_t size_bytes() const override;
  [[nodiscard]] std::vector<raft::SnapshotId> snapshots() const override { return snapshots_; }
  [[nodiscard]] Result<std::uint64_t> snapshot_size(const raft::SnapshotId& id) const override;
  [[nodiscard]] Result<Bytes> read_snapshot(const raft::SnapshotId& id, std::uint64_t position,
                                            std::int32_t max_bytes) const override;
  Result<void> create_snapshot(const raft::SnapshotId& id) override;
  Result<void> append_snapshot(const raft::SnapshotId& id, Bytes piece) override;
  Result<void> freeze_snapshot(const raft::SnapshotId& id) override;
  Result<void> truncate_fully_and_start_at(const raft::SnapshotId& id) override;
  Result<void> delete_before(const raft::SnapshotId& id) override;

 private:
  MetadataLog(env::Disk& disk, log::PartitionLog& log) : disk_(disk), log_(log) {}
  [[nodiscard]] std::string path_of(const raft::SnapshotId& id) const;
  [[nodiscard]] std::optional<LeaderEpoch> epoch_of_start() const;  // of the snapshot that the log begins behind

  env::Disk& disk_;
  log::PartitionLog& log_;
  std::vector<raft::SnapshotId> snapshots_;  // ascending
  std::map<raft::SnapshotId, std::shared_ptr<env::File>> parts_;
  void tell_stored(const raft::SnapshotId& id) const;

  WallTime wall_;  // newest seen
  BrokerId node_ = kNoBroker;
  event::EventSink* events_ = nullptr;
};

// The name of a snapshot's file, and back; nothing where it is none.
[[nodiscard]] std::string snapshot_name(const raft::SnapshotId& id);
[[nodiscard]] std::optional<raft::SnapshotId> parse_snapshot_name(std::string_view name);

}  // namespace hw::api
