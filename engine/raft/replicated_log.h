// SPDX-License-Identifier: Apache-2.0
// ReplicatedLog: the metadata log as the quorum needs it.
//
// Calls work in memory or the page cache and return at once; making the log durable is an output of the quorum (flush) that
// its shell performs. Offsets: start_offset() <= high_watermark() <= end_offset(). Snapshots lie beside the log; one with
// end offset E holds everything below E. Implementations: api::MetadataLog over files, MemoryLog for tests.
// Thread rule: one thread. Errors: Errc::io where the disk failed, Errc::corrupt where bytes are no batches.
// Source: KIP-595, KIP-630.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/base/ids.h"
#include "engine/base/result.h"
#include "engine/base/time.h"

namespace hw::raft {

struct SnapshotId {
  Offset end_offset;  // of the first record that it does not hold
  LeaderEpoch epoch;  // of the last one that it holds
  friend auto operator<=>(const SnapshotId&, const SnapshotId&) = default;
  friend bool operator==(const SnapshotId&, const SnapshotId&) = default;
};
// What formatting leaves; it is never sent to anybody.
inline constexpr SnapshotId kBootstrapSnapshot{Offset(0), LeaderEpoch(0)};

// Where an epoch ends in this log.
struct EpochEnd {
  LeaderEpoch epoch;
  Offset end_offset;
  friend bool operator==(const EpochEnd&, const EpochEnd&) = default;
};

class ReplicatedLog {
 public:
  virtual ~ReplicatedLog() = default;

  [[nodiscard]] virtual Offset start_offset() const = 0;
  [[nodiscard]] virtual Offset end_offset() const = 0;
  [[nodiscard]] virtual Offset high_watermark() const = 0;
  // Everything below is on stable storage. Falls with a truncation.
  [[nodiscard]] virtual Offset durable_offset() const = 0;
  // Of the last record, or of the snapshot that the log begins with; 0 where there is neither.
  [[nodiscard]] virtual LeaderEpoch last_epoch() const = 0;
  // The largest epoch <= `epoch` that the log knows and where it ends (KIP-320). Below the first known epoch: `epoch` itself
  // with the log's start; above the last: the last one with the log's end.
  [[nodiscard]] virtual EpochEnd end_offset_for_epoch(LeaderEpoch epoch) const = 0;

  // Batches from the one that holds `from` on; at least one whole batch where there is one, then at most about `max_bytes`.
  // The last one may be cut off. Empty at end_offset().
  [[nodiscard]] virtual Result<BytesChain> read(Offset from, std::int32_t max_bytes) const = 0;

  // One batch whose offsets begin at end_offset().
  virtual Result<void> append_as_leader(Bytes batch, LeaderEpoch epoch, WallTime wall) = 0;
  // Whole batches that carry offsets and epochs, from end_offset() on. Nothing is appended where one of them is bad.
  virtual Result<void> append_as_follower(Bytes batches, WallTime wall) = 0;
  // Records at and above `offset` go. REQUIRES: offset >= high_watermark().
  virtual Result<void> truncate_to(Offset offset) = 0;
  virtual void set_high_watermark(Offset offset) = 0;

  [[nodiscard]] virtual std::int64_t size_bytes() const = 0;  // records and snapshots

  // --- snapshots
  [[nodiscard]] virtual std::vector<SnapshotId> snapshots() const = 0;  // ascending; complete ones
  [[nodiscard]] virtual Result<std::uint64_t> snapshot_size(const SnapshotId& id) const = 0;  // Errc::not_found
  [[nodiscard]] virtual Result<Bytes> read_snapshot(const SnapshotId& id, std::uint64_t position, std::int32_t max_bytes) const = 0;
  // A snapshot in the making: create (what was there of it goes), append pieces, freeze (durable and listed from then on).
  virtual Result<void> create_snapshot(const SnapshotId& id) = 0;
  virtual Result<void> append_snapshot(const SnapshotId& id, Bytes piece) = 0;
  virtual Result<void> freeze_snapshot(const SnapshotId& id) = 0;
  // The log is empty and begins where the snapshot ends. REQUIRES: the snapshot is complete.
  virtual Result<void> truncate_fully_and_start_at(const SnapshotId& id) = 0;
  // Records below the snapshot's end may go, and so may older snapshots. REQUIRES: id.end_offset <= high_watermark().
  virtual Result<void> delete_before(const SnapshotId& id) = 0;

  [[nodiscard]] std::optional<SnapshotId> latest_snapshot() const {
    const std::vector<SnapshotId> all = snapshots();
    return all.empty() ? std::nullopt : std::optional<SnapshotId>(all.back());
  }
  [[nodiscard]] std::optional<SnapshotId> earliest_snapshot() const {
    const std::vector<SnapshotId> all = snapshots();
    return all.empty() ? std::nullopt : std::optional<SnapshotId>(all.front());
  }
};

}  // namespace hw::raft
