// SPDX-License-Identifier: Apache-2.0
// The inside of PartitionLog, shared by append.cpp, read.cpp, recovery.cpp, truncate.cpp and partition_log.cpp.
//
// Invariants: segments_ is never empty and ascends by base offset; the last one is active. log_start <= high_watermark <=
// log_end. producers_ has taken in exactly the batches below log_end.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/log/leader_epoch_cache.h"
#include "engine/log/partition_log.h"
#include "engine/log/producer_state.h"
#include "engine/log/segment.h"

namespace hw::log {

struct PartitionLog::Impl {
  Impl(const LogContext& context, const OpenParameters& parameters);

  LogContext context_;
  LogIdentity identity_;
  std::string directory_;
  LogConfig config_;
  wire::ProduceRules rules_;
  std::optional<wire::Compression> codec_;  // nullopt: as the producer sent it
  std::unique_ptr<wire::RecordScratch> own_scratch_;

  std::vector<std::unique_ptr<Segment>> segments_;
  LeaderEpochCache epochs_;
  ProducerState producers_;
  Offset log_start_;
  Offset log_end_;
  Offset high_watermark_;
  Offset last_stable_;
  Offset recovery_point_;
  Offset flush_queued_;  // a queued job covers everything below
  std::uint32_t flushes_open_ = 0;  // queued jobs that have not come back
  std::int64_t size_ = 0;
  std::int64_t records_in_ = 0;
  WallTime active_created_;
  WallTime last_flush_;
  WallTime wall_;  // the latest time anybody told
  Prng prng_;
  std::int64_t roll_jitter_ms_ = 0;
  // The log end when files were made, or the epochs written, that no finished flush has synced; kNoOffset: none.
  Offset names_since_ = kNoOffset;
  Offset epochs_since_ = kNoOffset;
  // An epoch that has no batch yet is in memory only: the file is written before its first batch. (A start drops such entries
  // anyway, and ten thousand partitions would write ten thousand files whenever their leader changes.)
  bool epochs_unwritten_ = false;
  std::uint64_t names_ = 1;         // counts the changes that names_since_ tells of
  std::uint64_t names_queued_ = 0;  // a queued flush covers them up to here
  std::uint64_t generation_ = 0;    // counts truncations
  bool deletion_waits_ = false;     // for names to be on stable storage
  bool closed_ = false;
  std::vector<Offset> fresh_snapshots_;     // those that no finished flush has synced
  std::vector<Offset> snapshots_;           // offsets of the .snapshot files, ascending
  // Where the snapshot of producers lies that was loaded, as long as nobody has asked for what it does not hold.
  std::optional<Offset> recall_before_;
  std::shared_ptr<event::ReplicaCounters> counters_ = std::make_shared<event::ReplicaCounters>();

  // --- partition_log.cpp
  void apply_config(const LogConfig& config);
  [[nodiscard]] wire::RecordScratch& scratch();
  [[nodiscard]] Segment& active() { return *segments_.back(); }
  // Index of the segment that `offset` lies in: the last one that begins at or below it.
  [[nodiscard]] std::size_t segment_of(Offset offset) const;
  [[nodiscard]] std::string path_of(const std::string& name) const { return directory_ + "/" + name; }
  void update_stable_offset();
  void publish();  // counters
  void emit(event::Any event);
  void note_change();
  Result<void> write_epochs();
  Result<void> write_snapshot(Offset at);
  Result<void> remove_snapshots_from(Offset offset);  // those above it
  void draw_jitter();
  void note_names(Offset end);
  void names_synced();
  // Whether the segment's name is on stable storage for sure.
  [[nodiscard]] bool named(const Segment& segment) const {
    return names_since_ == kNoOffset || segment.base_offset() < recovery_point_;
  }
  void cut_again();  // jobs of before do not count
  void queue_flush(WallTime now);
  void push_flush(WallTime now);
  // By flush.messages. One flush at a time: what is appended meanwhile goes with the next one, however much it is.
  [[nodiscard]] bool records_due() const;
  void queue_due_flush(WallTime now);
  void flush_came_back() { flushes_open_ -= flushes_open_ > 0 ? 1 : 0; }
  void flushed(Offset up_to, WallTime now);

  // --- append.cpp
  AppendOutcome append_leader(AppendRequest request);
  AppendOutcome append_follower(Bytes records, WallTime now);
  AppendOutcome append_from_client(AppendRequest request);
  AppendOutcome append_from_inside(AppendRequest request);
  // Room for `size` bytes up to `last_offset` in the active segment, in a new one if need be.
  Result<void> maybe_roll(std::size_t size, std::int64_t max_timestamp_ms, Offset last_offset, WallTime now);
  Result<void> roll(WallTime now);
  // Writes stamped batches and takes them into producers, epochs and counters.
  Result<void> write(const Bytes& batches, ConnectionId connection, WallTime now);
  void announce(const wire::BatchView& batch, ConnectionId connection);
  void fail_with(AppendOutcome& outcome, const Error& error) const;

  // --- read.cpp
  ReadOutcome read(const ReadRequest& request);
  Result<void> read_into(const ReadRequest& request, Offset bound, ReadOutcome& outcome);
  Result<void> collect_aborted(Offset from, Offset below, std::vector<AbortedTransaction>& aborted);
  Result<std::int64_t> readable(Offset from, Offset bound);
  Result<TimestampOffset> find_by_timestamp(std::int64_t timestamp_ms);
  Result<TimestampOffset> find_max_timestamp();

  // --- recovery.cpp
  Result<void> open(const OpenParameters& parameters);
  Result<void> make_new(const OpenParameters& parameters);
  Result<void> load(const OpenParameters& parameters, const std::vector<std::string>& names);
  Result<void> check_identity(const OpenParameters& parameters, bool present);
  // Reads batches from `from` on into the producer state, up to log_end_; the newest usable snapshot first.
  Result<void> rebuild_producers(Offset end, WallTime now);
  // The snapshot holds the last batch of each producer; one that is at work may repeat any of its last five, and a repeat that is not
  // known for one would be there twice in the end. Reads them from the end of what the snapshot covers, once, when a batch comes that
  // may be such a repeat: a start with a thousand logs would read gigabytes for what is rarely asked.
  Result<void> recall_batches();
  Result<void> recover_from(std::size_t first, const OpenParameters& parameters);

  // --- retention.cpp
  Result<void> raise_log_start(Offset offset, event::DeletionCause cause);
  Result<std::size_t> delete_old_segments(WallTime now, std::size_t most);
  template <class Goes>
  Result<std::size_t> count_deletable(std::size_t most, Goes goes);
  Result<std::size_t> delete_first(std::size_t count, event::DeletionCause cause, WallTime now);
  Result<void> retire_first(event::DeletionCause cause);

  // --- truncate.cpp
  Result<void> truncate_to(Offset offset);
  Result<void> restart_at(Offset offset);
  Result<void> remove_segments_from(std::size_t first);
  // What a flush has to sync, and the work that does it. `closing`: the active segment's indexes too.
  std::function<Result<void>()> flush_work(bool closing = false);
};

}  // namespace hw::log
