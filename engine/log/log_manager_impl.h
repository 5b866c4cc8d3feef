// SPDX-License-Identifier: Apache-2.0
// The inside of LogManager, shared by log_manager.cpp (what is there), log_upkeep.cpp (what happens as time goes by) and
// log_moves.cpp (replicas on their way to another directory).
//
// Invariants: a log stands in the directory that `Held::directory` names; by_id knows exactly the logs of `logs`; a failed
// directory keeps its logs, closed, so that who points at them gets storage errors.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/log/checkpoint_file.h"
#include "engine/log/log_manager.h"

namespace hw::log {

using LogKey = std::pair<std::string, PartitionIndex>;

// The metadata log's offsets belong to raft, not to the checkpoints; it is never moved or cut by retention.
inline constexpr const char* kMetadataTopic = "__cluster_metadata";

struct LogManager::Impl {
  Impl(env::Disk& the_disk, LogManagerOptions the_options, event::EventSink* the_events, Prng the_prng)
      : disk(the_disk), options(std::move(the_options)), events(the_events), prng(the_prng) {}

  // A checkpoint file that is written now and then, never twice at a time.
  struct Checkpoint {
    const char* name = nullptr;
    Duration interval{};
    Instant due = kNever;  // kNever: nothing changed since it was written
    bool writing = false;
    std::uint64_t job_id = 0;
    std::string written;   // what the file holds
    std::string in_flight;
  };
  struct Directory {
    std::string path;
    std::unique_ptr<env::Lock> lock;
    MetaProperties meta;
    bool clean = false;
    bool metadata_clean = false;  // and nobody has written to the metadata log since
    std::int64_t previous_epoch = -1;
    DirectoryHealth health;
    bool failed = false;
    std::size_t logs = 0;  // the metadata log does not count
    OffsetCheckpoint recovery_points;  // as they were read
    OffsetCheckpoint high_watermarks;
    OffsetCheckpoint log_starts;
    OffsetCheckpoint cleaned;
    Checkpoint recovery_checkpoint;
    Checkpoint watermark_checkpoint;
    Checkpoint start_checkpoint;
    [[nodiscard]] std::string file(const std::string& name) const { return path + "/" + name; }
  };
  // A replica on its way: `log` follows the one that serves until it has everything.
  struct Move {
    Directory* to = nullptr;
    std::unique_ptr<PartitionLog> log;
    bool flushed = false;  // most of it was put on stable storage
  };
  struct Held {
    std::unique_ptr<PartitionLog> log;
    Directory* directory = nullptr;
    std::unique_ptr<Move> move;
  };
  struct IdKey {
    Uuid topic_id;
    PartitionIndex partition;
    friend bool operator==(const IdKey&, const IdKey&) = default;
  };
  struct IdHash {
    std::size_t operator()(const IdKey& key) const noexcept {
      return std::hash<Uuid>{}(key.topic_id) ^
             (static_cast<std::size_t>(key.partition.value()) * std::size_t{0x9e3779b97f4a7c15});
    }
  };
  struct WaitingRemoval {
    Instant due;
    Removal removal;
  };

  env::Disk& disk;
  LogManagerOptions options;
  event::EventSink* events;
  Prng prng;
  std::vector<std::unique_ptr<Directory>> directories;  // as log.dirs names them; the first has the metadata log
  DiskJobs jobs;
  wire::RecordScratch scratch;
  std::map<LogKey, Held> logs;
  std::unordered_map<IdKey, PartitionLog*, IdHash> by_id;
  std::map<LogKey, std::string> preferred;  // where a log that is not there yet shall be made
  std::vector<LogKey> moves;                // those of `logs` that have a move
  std::vector<Moved> moved;
  std::vector<std::unique_ptr<PartitionLog>> retired;  // what moved logs were before, until pointers are renewed

  Instant retention_due = kNever;
  Instant expiry_due = kNever;
  std::optional<LogKey> retention_next;  // a pass is under way; it goes on here
  std::deque<LogKey> retention_again;    // a flush came back that a deletion waited for
  std::vector<WaitingRemoval> removals;  // ascending by due
  std::vector<Error> problems;
  std::vector<FailedDirectory> failures;  // one a directory

  // --- log_manager.cpp
  Result<void> open_directory(Directory& directory);
  Result<OffsetCheckpoint> read_checkpoint(const Directory& directory, const char* name);
  Result<PartitionLog*> open_log(Directory& directory, const LogIdentity& identity, const LogConfig& config, WallTime now,
                                 bool known);
  Result<void> load_directory(Directory& directory, const Wanted& wanted, WallTime now);
  [[nodiscard]] Directory* find_directory(const std::string& path) const;
  [[nodiscard]] Directory* place_for(const LogKey& key);
  [[nodiscard]] bool any_failed() const;
  Held* held(const Uuid& topic_id, PartitionIndex partition);
  void set_aside(const std::string& path, const LogIdentity& identity, Directory& directory, const char* suffix);

  // --- log_upkeep.cpp
  [[nodiscard]] std::string recovery_text(const Directory& directory) const;
  [[nodiscard]] std::string watermark_text(const Directory& directory) const;
  [[nodiscard]] std::string start_text(const Directory& directory) const;
  template <class Value>
  [[nodiscard]] std::string checkpoint_text(const Directory& directory, const OffsetCheckpoint& read, Value value) const;
  void queue(Directory& directory, Checkpoint& checkpoint, std::string text);
  Result<void> write_now(Directory& directory, Checkpoint& checkpoint, const std::string& text);
  void write_due_checkpoints(Instant instant, WallTime wall);
  void push_removal(Removal removal);
  void remove_soon(Removal removal);
  void schedule_removals(Instant now);
  bool retain(const LogKey& key, PartitionLog& log, WallTime wall, std::size_t& allowance);
  void go_on_with_retention(Instant now, WallTime wall);
  void expire_producers(Instant now, WallTime wall);
  void give_up_failed_directories();
  [[nodiscard]] Instant next_deadline() const;

  // --- log_moves.cpp
  void go_on_with_moves(WallTime wall);
  Result<bool> step(Held& held, WallTime wall);  // true: the move is done
  Result<void> swap(Held& held);
  void cancel_move(Held& held);
  void forget_move(const LogKey& key);
};

}  // namespace hw::log
