// SPDX-License-Identifier: Apache-2.0
// MemoryLog: a ReplicatedLog for tests and simulations, with what a crash would leave of it.
//
// Everything is in memory twice: what a process sees, and what is on the disk (as of flush()). crash() throws away what was not
// flushed, or keeps a drawn part of it, as a disk may.
// Thread rule: one thread.
#pragma once

#include <map>
#include <vector>

#include "engine/base/prng.h"
#include "engine/raft/replicated_log.h"

namespace hw::raft {

class MemoryLog final : public ReplicatedLog {
 public:
  struct Batch {
    Offset base;
    Offset last;
    LeaderEpoch epoch;
    bool control = false;
    Bytes bytes;
  };

  [[nodiscard]] Offset start_offset() const override { return now_.start; }
  [[nodiscard]] Offset end_offset() const override { return now_.batches.empty() ? now_.start : now_.batches.back().last + 1; }
  [[nodiscard]] Offset high_watermark() const override { return high_watermark_; }
  [[nodiscard]] Offset durable_offset() const override { return durable_to_; }
  [[nodiscard]] LeaderEpoch last_epoch() const override;
  [[nodiscard]] EpochEnd end_offset_for_epoch(LeaderEpoch epoch) const override;
  [[nodiscard]] Result<BytesChain> read(Offset from, std::int32_t max_bytes) const override;
  Result<void> append_as_leader(Bytes batch, LeaderEpoch epoch, WallTime wall) override;
  Result<void> append_as_follower(Bytes batches, WallTime wall) override;
  Result<void> truncate_to(Offset offset) override;
  void set_high_watermark(Offset offset) override { high_watermark_ = offset; }
  [[nodiscard]] std::int64_t size_bytes() const override;
  [[nodiscard]] std::vector<SnapshotId> snapshots() const override;
  [[nodiscard]] Result<std::uint64_t> snapshot_size(const SnapshotId& id) const override;
  [[nodiscard]] Result<Bytes> read_snapshot(const SnapshotId& id, std::uint64_t position, std::int32_t max_bytes) const override;
  Result<void> create_snapshot(const SnapshotId& id) override;
  Result<void> append_snapshot(const SnapshotId& id, Bytes piece) override;
  Result<void> freeze_snapshot(const SnapshotId& id) override;
  Result<void> truncate_fully_and_start_at(const SnapshotId& id) override;
  Result<void> delete_before(const SnapshotId& id) override;

  // --- for tests
  [[nodiscard]] const std::vector<Batch>& batches() const noexcept { return now_.batches; }
  [[nodiscard]] const Batch* find(Offset offset) const;  // the batch that holds it
  void flush();                // everything is durable
  void crash(Prng& prng);      // the process is gone: what comes back is what the disk held
  void add_snapshot(const SnapshotId& id, Bytes whole) { now_.snapshots[id] = whole; disk_.snapshots[id] = std::move(whole); }

 private:
  struct Contents {
    Offset start;
    std::vector<Batch> batches;  // contiguous
    std::map<SnapshotId, Bytes> snapshots;
  };
  Contents now_;
  Contents disk_;
  Offset durable_to_;
  Offset high_watermark_;
  std::map<SnapshotId, Bytes> unfinished_;
};

}  // namespace hw::raft
