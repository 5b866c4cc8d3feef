// SPDX-License-Identifier: Apache-2.0
// LogManager: all partition logs of one node, over its log directories (`log.dirs`).
//
//   format()          writes meta.properties into a new directory
//   open()            of each: takes `.lock`, checks meta.properties, reads the offset checkpoints and the clean-shutdown marker
//   create_log() …    opens or makes single logs (the metadata log comes first)
//   load_all()        opens every partition directory that is wanted; strays are set aside
//   start_tasks()     retention begins log.initial.task.delay.ms later
//   tick()            queues the periodic checkpoints, deletes what retention lets go, moves replicas between
//                     directories, forgets producers: a bounded piece at a time
//   shut_down()       closes every log, writes checkpoints and the marker
//
// With several directories one whose disk fails goes offline: its logs answer storage errors, the others go on. The last one
// is never given up here: it answers errors and goes on when the disk does, unless whoever hears of it (take_failed()) ends the node.
// Thread rule: one thread (the node's). Jobs queued in jobs() run on the disk pool; their results come back in job_done().
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/ids.h"
#include "engine/base/prng.h"
#include "engine/base/result.h"
#include "engine/base/time.h"
#include "engine/base/uuid.h"
#include "engine/env/disk.h"
#include "engine/event/event.h"
#include "engine/log/disk_jobs.h"
#include "engine/log/log_config.h"
#include "engine/log/partition_log.h"

namespace hw::log {

struct MetaProperties {
  std::int32_t version = 1;
  std::string cluster_id;
  BrokerId node_id = kNoBroker;
  Uuid directory_id;
};

struct LogManagerOptions {
  std::vector<std::string> directories;  // at least one; the first one has the metadata log
  std::vector<std::string> cordoned;     // cordoned.log.dirs: no new replicas there (KIP-1066)
  BrokerId node_id;
  std::string cluster_id;  // empty: whatever the directory says
  Duration high_watermark_checkpoint_interval = seconds(5);
  Duration recovery_point_checkpoint_interval = seconds(60);
  Duration initial_task_delay = seconds(30);         // log.initial.task.delay.ms
  Duration retention_check_interval = seconds(300);  // log.retention.check.interval.ms
  Duration producer_check_interval = seconds(600);   // producer.id.expiration.check.interval.ms
  Duration start_checkpoint_delay = seconds(1);      // after a log start moved
  std::int64_t delete_delay_ms = 60'000;             // log.segment.delete.delay.ms: directories of deleted partitions
  bool keep_deleted = true;                          // false: files go at once (a disk in memory gives back what they take)
};

enum class DirectoryState : std::uint8_t { unknown, online, failed };

// A log in a directory; with `future` one that is on its way there.
struct ReplicaPlace {
  const PartitionLog* log = nullptr;
  std::int64_t lag = 0;  // records that it is behind
  bool future = false;
};

struct DirectoryStatus {
  std::string path;
  Uuid id;
  bool failed = false;
  bool cordoned = false;
  std::int64_t total_bytes = -1;   // of its file system; -1: unknown
  std::int64_t usable_bytes = -1;
  std::vector<ReplicaPlace> replicas;  // by topic and partition, the metadata log left out
};

// A directory whose disk failed.
struct FailedDirectory {
  Uuid id;
  std::string path;
  std::string problem;    // what the disk said
  bool metadata = false;  // it has the metadata log
  bool last = false;      // there is no other: it is still in use
};

// The log of a partition is another object now.
struct Moved {
  Uuid topic_id;
  PartitionIndex partition;
};

class LogManager {
 public:
  // What meta.properties says; Errc::not_found for a directory that was never formatted, Errc::unsupported for one of a newer
  // version, Errc::corrupt where it cannot be read.
  static Result<MetaProperties> read_meta(env::Disk& disk, const std::string& directory);
  // Makes the directory and writes meta.properties; Errc::exists where it is formatted already. `directory_id`: zero: drawn.
  static Result<MetaProperties> format(env::Disk& disk, const std::string& directory, const std::string& cluster_id,
                                       BrokerId node_id, Prng& prng, Uuid directory_id = {});

  // Errc::locked: another process holds the directory. Errc::invalid: it belongs to another cluster or node.
  // Nothing is changed in the directory where an error comes back.
  static Result<std::unique_ptr<LogManager>> open(env::Disk& disk, LogManagerOptions options,
                                                  event::EventSink* events, Prng prng);
  ~LogManager();  // as after a crash: nothing is written
  LogManager(const LogManager&) = delete;
  LogManager& operator=(const LogManager&) = delete;

  [[nodiscard]] const MetaProperties& meta() const;        // of the first directory
  [[nodiscard]] bool was_clean() const;                    // the marker was there, in every directory
  [[nodiscard]] std::int64_t previous_broker_epoch() const;  // from the marker; -1 when unclean

  // Opens the log's directory or makes a new one. Errc::exists where a log of this topic and partition with another id is
  // there. A new one is made in the directory with the fewest logs. `is_new`: the cluster made the partition just now;
  // otherwise it may lie in a directory that is offline, and none is made then (Errc::io). The pointer lives until
  // delete_log(), shut_down() or a move (take_moved()).
  Result<PartitionLog*> create_log(const LogIdentity& identity, const LogConfig& config, WallTime now, bool is_new = true);
  // Says which partitions this node should hold, given what a directory claims to be; nullopt: a stray, renamed to
  // `<topic>-<partition>.<id>-stray` and left for a person to look at.
  using Wanted = std::function<std::optional<LogConfig>(const LogIdentity&)>;
  Result<void> load_all(const Wanted& wanted, WallTime now);

  [[nodiscard]] PartitionLog* find(const Uuid& topic_id, PartitionIndex partition) const;
  [[nodiscard]] PartitionLog* find(const std::string& topic, PartitionIndex partition) const;
  [[nodiscard]] std::vector<PartitionLog*> logs() const;  // sorted by topic, partition

  // --- directories
  [[nodiscard]] std::vector<DirectoryStatus> directories() const;
  [[nodiscard]] DirectoryState directory_state(const std::string& path) const;
  // Where a log lies; zero: there is none, or its directory is offline.
  [[nodiscard]] Uuid directory_of(const Uuid& topic_id, PartitionIndex partition) const;
  // Those that check_directories() and its like gave up since the last call; the last one each time its disk failed.
  [[nodiscard]] std::vector<FailedDirectory> take_failed();
  void set_cordoned(std::vector<std::string> paths);
  // A log of that name that will be made is made there.
  void prefer_directory(const std::string& topic, PartitionIndex partition, const std::string& path);
  // Begins to move a log (KIP-113); a move to somewhere else is given up for it, one to where the log is already ends it.
  // REQUIRES: the log is there, the directory online.
  Result<void> move_log(const std::string& topic, PartitionIndex partition, const std::string& path, WallTime now);
  [[nodiscard]] std::vector<Moved> take_moved();  // since the last call; pointers of before are not valid any more

  // Retention starts to look, every log.retention.check.interval.ms. Never called: nothing is ever deleted.
  void start_tasks(Instant now);
  void set_delete_delay(std::int64_t delay_ms);

  // Renames the directory at once (the name is free again) and lets it be removed after the delay.
  Result<void> delete_log(const Uuid& topic_id, PartitionIndex partition);

  [[nodiscard]] DiskJobs& jobs();
  void job_done(const DiskJob& job, const Result<void>& result, WallTime now);

  // Gives up a directory whose disk failed in an append or a read. Call after every turn; costs nothing where none did.
  void check_directories();
  // Queues due checkpoints, flushes and removals and goes on with retention.
  void tick(Instant instant, WallTime wall);
  [[nodiscard]] Instant next_deadline() const;  // kNever: nothing changed

  // What went wrong with single logs since the last call, for people.
  [[nodiscard]] std::vector<Error> take_problems();

  // Closes every log, then writes the checkpoints and `.kafka_cleanshutdown`. Outstanding jobs must have been run or dropped.
  Result<void> shut_down(WallTime now, std::int64_t broker_epoch);

 private:
  struct Impl;
  explicit LogManager(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace hw::log
