// SPDX-License-Identifier: Apache-2.0
// LogManager: all partition logs of one log directory (one `log.dirs` entry of one node).
//
//   format()          writes meta.properties into a new directory
//   open()            takes `.lock`, checks meta.properties, reads the offset checkpoints and the clean-shutdown marker
//   create_log() …    opens or makes single logs (the metadata log comes first)
//   load_all()        opens every partition directory that is wanted; strays are set aside
//   start_tasks()     retention begins log.initial.task.delay.ms later
//   tick()            queues the periodic checkpoints, deletes what retention lets go, a bounded piece at a time
//   shut_down()       closes every log, writes checkpoints and the marker
//
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
  std::string directory;
  BrokerId node_id;
  std::string cluster_id;  // empty: whatever the directory says
  Duration high_watermark_checkpoint_interval = seconds(5);
  Duration recovery_point_checkpoint_interval = seconds(60);
  Duration initial_task_delay = seconds(30);         // log.initial.task.delay.ms
  Duration retention_check_interval = seconds(300);  // log.retention.check.interval.ms
  Duration start_checkpoint_delay = seconds(1);      // after a log start moved
  std::int64_t delete_delay_ms = 60'000;             // log.segment.delete.delay.ms: directories of deleted partitions
  bool keep_deleted = true;                          // false: files go at once (a disk in memory gives back what they take)
};

class LogManager {
 public:
  // What meta.properties says; Errc::not_found for a directory that was never formatted, Errc::unsupported for one of a newer
  // version, Errc::corrupt where it cannot be read.
  static Result<MetaProperties> read_meta(env::Disk& disk, const std::string& directory);
  // Makes the directory and writes meta.properties; Errc::exists where it is formatted already.
  static Result<MetaProperties> format(env::Disk& disk, const std::string& directory, const std::string& cluster_id,
                                       BrokerId node_id, Prng& prng);

  // Errc::locked: another process holds the directory. Errc::invalid: it belongs to another cluster or node.
  // Nothing is changed in the directory where an error comes back.
  static Result<std::unique_ptr<LogManager>> open(env::Disk& disk, LogManagerOptions options,
                                                  event::EventSink* events, Prng prng);
  ~LogManager();  // as after a crash: nothing is written
  LogManager(const LogManager&) = delete;
  LogManager& operator=(const LogManager&) = delete;

  [[nodiscard]] const MetaProperties& meta() const;
  [[nodiscard]] bool was_clean() const;                    // the marker was there
  [[nodiscard]] std::int64_t previous_broker_epoch() const;  // from the marker; -1 when unclean

  // Opens the log's directory or makes a new one. Errc::exists where a log of this topic and partition with another id is
  // there. The pointer lives until delete_log() or shut_down().
  Result<PartitionLog*> create_log(const LogIdentity& identity, const LogConfig& config, WallTime now);
  // Says which partitions this node should hold, given what a directory claims to be; nullopt: a stray, renamed to
  // `<topic>-<partition>.<id>-stray` and left for a person to look at.
  using Wanted = std::function<std::optional<LogConfig>(const LogIdentity&)>;
  Result<void> load_all(const Wanted& wanted, WallTime now);

  [[nodiscard]] PartitionLog* find(const Uuid& topic_id, PartitionIndex partition) const;
  [[nodiscard]] PartitionLog* find(const std::string& topic, PartitionIndex partition) const;
  [[nodiscard]] std::vector<PartitionLog*> logs() const;  // sorted by topic, partition

  // Retention starts to look, every log.retention.check.interval.ms. Never called: nothing is ever deleted.
  void start_tasks(Instant now);
  void set_delete_delay(std::int64_t delay_ms);

  // Renames the directory at once (the name is free again) and lets it be removed after the delay.
  Result<void> delete_log(const Uuid& topic_id, PartitionIndex partition);

  [[nodiscard]] DiskJobs& jobs();
  void job_done(const DiskJob& job, const Result<void>& result, WallTime now);

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
