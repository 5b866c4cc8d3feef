// SPDX-License-Identifier: Apache-2.0
// PartitionLog: the log of one replica, in Kafka's own file format, over an env::Disk.
//
// Appends and reads are synchronous calls into the page cache (or memory); fsync and unlink are queued as DiskJobs.
// Offsets: log_start_offset <= high_watermark <= log_end_offset, and last_stable_offset <= high_watermark.
// Thread rule: one thread. What read() returns may be used on any thread and outlives the log.
// Errors: protocol answers are wire::ErrorCode in the outcome; a failing disk is ErrorCode::kafka_storage_error there, and a
// Result elsewhere. After a failed write the log cuts itself back to what it held before.
// Sources: KIP-98 (producers, transactions), KIP-101 (leader epochs), KIP-516 (topic ids), Kafka's log format.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/base/ids.h"
#include "engine/base/prng.h"
#include "engine/base/result.h"
#include "engine/base/time.h"
#include "engine/base/uuid.h"
#include "engine/env/disk.h"
#include "engine/event/counters.h"
#include "engine/event/event.h"
#include "engine/log/disk_jobs.h"
#include "engine/log/log_config.h"
#include "engine/log/producer_state.h"
#include "engine/wire/record/validate.h"
#include "engine/wire/runtime/error_code.h"

namespace hw::log {

// Who appends: a client is held to Kafka's rules for producers; a coordinator may write control batches and several batches;
// raft writes what it likes, with its own epoch.
enum class AppendOrigin : std::uint8_t { client, coordinator, raft };

struct AppendRequest {
  Bytes records;  // the whole record data of one partition
  LeaderEpoch leader_epoch;
  AppendOrigin origin = AppendOrigin::client;
  WallTime now;
  ConnectionId connection;  // for the event only
  // The caller vouches that nobody else reads these bytes any more, although their block may have other slices (the
  // frame they came in): base offset and leader epoch are then patched in place. Otherwise shared bytes are copied.
  bool exclusive = false;
  TransactionTerms transaction;  // of transactional batches
};

struct RecordError {
  std::int32_t index = 0;
  std::string message;  // empty: none
};

struct AppendOutcome {
  wire::ErrorCode error = wire::ErrorCode::none;
  Offset base_offset = kNoOffset;
  Offset last_offset = kNoOffset;
  std::int64_t log_append_time_ms = -1;  // set for LogAppendTime topics (and for duplicates, as Kafka does)
  Offset log_start_offset = kNoOffset;
  bool duplicate = false;  // an idempotent producer's repeat: answered with the first append's offsets, nothing written
  std::vector<RecordError> record_errors;
  std::string error_message;  // empty: none
};

enum class ReadIsolation : std::uint8_t {
  log_end,         // followers, raft, coordinators loading
  high_watermark,  // read_uncommitted consumers
  last_stable,     // read_committed consumers
};

struct ReadRequest {
  Offset from;
  std::int64_t max_bytes = 0;
  bool at_least_one_batch = true;  // the first batch comes whole although it is larger than max_bytes (KIP-74)
  ReadIsolation isolation = ReadIsolation::high_watermark;
};

struct AbortedTransaction {
  ProducerId producer_id;
  Offset first_offset;
};

struct ReadOutcome {
  wire::ErrorCode error = wire::ErrorCode::none;  // offset_out_of_range, kafka_storage_error
  // Begins with the batch that holds `from`; may end in part of a batch where max_bytes cuts, as Kafka's does.
  BytesChain records;
  Offset high_watermark = kNoOffset;
  Offset last_stable_offset = kNoOffset;
  Offset log_start_offset = kNoOffset;
  Offset log_end_offset = kNoOffset;
  std::vector<AbortedTransaction> aborted;  // ReadIsolation::last_stable only
};

struct TimestampOffset {
  Offset offset = kNoOffset;  // kNoOffset: nothing found
  std::int64_t timestamp_ms = -1;
  LeaderEpoch leader_epoch = kNoLeaderEpoch;
};

struct EpochEndOffset {
  LeaderEpoch epoch = kNoLeaderEpoch;
  Offset end_offset = kNoOffset;
};

// A disk that failed is noted here by whoever met it; the manager decides what becomes of the directory.
struct DirectoryHealth {
  std::string problem;  // empty: none
  void note(const Error& error) {
    const bool disk = error.code == Errc::io || error.code == Errc::no_space || error.code == Errc::permission ||
                      error.code == Errc::not_found;
    if (problem.empty() && disk) {
      problem = error.detail.empty() ? "the disk failed" : error.detail;
    }
  }
};

// What a log needs around it. The referents outlive the log.
struct LogContext {
  env::Disk* disk = nullptr;
  DiskJobs* jobs = nullptr;                // may be null: flush only through flush()
  event::EventSink* events = nullptr;      // may be null
  BrokerId node = kNoBroker;
  wire::RecordScratch* scratch = nullptr;  // shared by the logs of one thread; null: the log makes its own
  DirectoryHealth* health = nullptr;       // may be null
  bool future = false;                     // not the one that serves (yet)
};

struct LogIdentity {
  std::string topic;
  PartitionIndex partition;
  Uuid topic_id;
};

struct OpenParameters {
  std::string directory;          // <log dir>/<topic>-<partition>; made when it is not there
  LogIdentity identity;
  LogConfig config;
  bool clean = true;              // the log directory was closed cleanly: no scan
  Offset recovery_point;          // everything below was flushed (checkpoint); the scan starts at its segment
  Offset log_start_offset;        // from the checkpoint, 0 when there is none
  Offset high_watermark;          // from the checkpoint, 0 when there is none
  Offset cleaned_below;           // segments from here on were never compacted (checkpoint of the cleaner, 0 when there is none)
  WallTime now;
  std::uint64_t seed = 0;         // of the roll jitter
  bool identity_known = false;    // the caller has read partition.metadata already
};

class PartitionLog {
 public:
  // Opens or creates. After an unclean stop: validates batches from the recovery point on, cuts the log at the first bad
  // one (event LogRecovered), rebuilds indexes, leader epochs and producer state.
  static Result<std::unique_ptr<PartitionLog>> open(const LogContext& context, const OpenParameters& parameters);
  ~PartitionLog();  // closes descriptors only; clean files need close()
  PartitionLog(const PartitionLog&) = delete;
  PartitionLog& operator=(const PartitionLog&) = delete;

  // --- append
  // Validates, answers duplicates, assigns offsets and writes, all or nothing.
  AppendOutcome append_as_leader(AppendRequest request);
  // Batches that carry their offsets and epochs already, contiguous or with gaps, all at or above log_end_offset().
  AppendOutcome append_as_follower(Bytes records, WallTime now);

  // ProducerState::begin_verification().
  [[nodiscard]] std::uint64_t begin_verification(ProducerId producer, ProducerEpoch epoch, std::int32_t sequence, bool epochs_rise, WallTime now);

  // --- read
  [[nodiscard]] ReadOutcome read(const ReadRequest& request) const;
  // About how many bytes read() could give now, without reading: what a long poll weighs against min.bytes. Counts no
  // further than the end of the segment `from` lies in; 0 when `from` is at or above the bound.
  [[nodiscard]] std::int64_t readable_bytes(Offset from, ReadIsolation isolation) const;
  // First record whose timestamp is >= `timestamp_ms`; offset kNoOffset when there is none. Not bounded by the high watermark.
  [[nodiscard]] Result<TimestampOffset> find_by_timestamp(std::int64_t timestamp_ms) const;
  // First record that has the largest timestamp of the log (ListOffsets -3).
  [[nodiscard]] Result<TimestampOffset> find_max_timestamp() const;
  // OffsetForLeaderEpoch: the largest epoch <= `epoch` and where it ends; both -1 where `epoch` is above the latest.
  [[nodiscard]] EpochEndOffset end_offset_for_epoch(LeaderEpoch epoch) const;
  [[nodiscard]] LeaderEpoch latest_epoch() const;  // kNoLeaderEpoch: no entry yet
  [[nodiscard]] LeaderEpoch epoch_of(Offset offset) const;

  // --- offsets
  [[nodiscard]] Offset log_start_offset() const;
  [[nodiscard]] Offset log_end_offset() const;
  [[nodiscard]] Offset high_watermark() const;
  [[nodiscard]] Offset last_stable_offset() const;
  [[nodiscard]] Offset recovery_point() const;
  // Below it nothing has to reach stable storage any more before it may be acknowledged and read: the log end, or with
  // flush.messages records waiting the recovery point.
  [[nodiscard]] Offset settled_end() const;
  [[nodiscard]] Offset bound(ReadIsolation isolation) const;
  // Raises the high watermark to min(offset, log end); lower values are ignored. True: it moved.
  bool maybe_advance_high_watermark(Offset offset);
  // Sets it, also lower (a follower after truncation, raft after an election); clamped into [start, end].
  void set_high_watermark(Offset offset);
  // DeleteRecords and snapshots of raft: raises the log start (never above the high watermark). Whole segments below it go with
  // the next delete_old_segments(), as in Kafka.
  Result<void> advance_log_start_offset(Offset offset);
  // Retention, as of `now`: segments below the log start go; with cleanup.policy delete also the oldest while the log stays at
  // least retention.bytes, and those whose largest timestamp is older than retention.ms. The active segment is rolled
  // where it would go as well; nothing at or above the high watermark goes. At most `most` at a call; how many went.
  // A segment goes only when the name of its successor is on stable storage: deletion_waits() says that a flush was
  // queued for that, and the call has to be repeated when it is done.
  Result<std::size_t> delete_old_segments(WallTime now, std::size_t most);
  [[nodiscard]] bool deletion_waits() const;
  // A leader notes where its epoch begins, before its first batch.
  Result<void> assign_epoch_start(LeaderEpoch epoch, Offset start);

  // --- change
  Result<void> truncate_to(Offset offset);
  Result<void> truncate_fully_and_start_at(Offset offset);
  Result<void> roll(WallTime now);  // a new segment at log_end_offset(); nothing when the active one is empty
  void set_config(const LogConfig& config);

  // --- durability
  [[nodiscard]] bool flush_due(WallTime now) const;  // by flush.messages and flush.ms
  [[nodiscard]] bool flush_waits() const;  // a queued one, not done yet, covers everything
  // Queues the fsync of everything below log_end_offset() (needs LogContext::jobs); flushed() comes back through LogManager.
  void queue_flush(WallTime now);
  void flushed(const DiskJob& job, WallTime now);
  void flush_failed();  // a job of queue_flush() did; everything above the recovery point is due again
  // The same on this thread: tests, clean shutdown, raft.
  Result<void> flush(WallTime now);
  // Trims, writes the producer snapshot, flushes. The object answers nothing afterwards.
  Result<void> close(WallTime now);
  // It answers nothing any more: abandoned, closed, or its directory is offline.
  [[nodiscard]] bool offline() const;
  // A log that was on its way takes the place of `before`: its counters, its configuration and its place in the events. REQUIRES:
  // it holds all that `before` holds; the files are in `directory` now.
  void take_over(const PartitionLog& before, const std::string& directory, event::EventSink* events);
  // Forgets descriptors and emits ReplicaClosed; the files stay (LogManager renames and removes them).
  void abandon();

  // --- facts
  [[nodiscard]] const LogIdentity& identity() const;
  [[nodiscard]] const LogConfig& config() const;
  [[nodiscard]] const std::string& directory() const;
  [[nodiscard]] std::shared_ptr<const event::ReplicaCounters> counters() const;
  [[nodiscard]] std::int64_t size_bytes() const;
  struct SegmentInfo {
    Offset base_offset;
    std::int64_t size_bytes = 0;
    std::int64_t largest_timestamp_ms = -1;
  };
  [[nodiscard]] std::vector<SegmentInfo> segments() const;
  struct ProducerInfo {  // as DescribeProducers shows it
    ProducerId producer_id;
    ProducerEpoch epoch;
    std::int32_t last_sequence = -1;
    std::int64_t last_timestamp_ms = -1;
    std::int32_t coordinator_epoch = -1;
    Offset current_txn_start_offset = kNoOffset;
  };
  [[nodiscard]] std::vector<ProducerInfo> producers() const;  // by id
  // Drops producers idle for producer.id.expiration.ms; called now and then.
  void expire_producers(WallTime now);
  // Counts what the broker handed to consumers, into ReplicaCounters.
  void count_fetched(std::int64_t records, std::int64_t bytes);

  struct Impl;  // for the files of this folder

 private:
  explicit PartitionLog(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace hw::log
