// SPDX-License-Identifier: Apache-2.0
#include "engine/log/log_manager.h"

#include <algorithm>
#include <deque>
#include <map>
#include <unordered_map>
#include <utility>

#include "engine/log/checkpoint_file.h"
#include "engine/log/log_directory.h"

namespace hw::log {
namespace {

using Key = std::pair<std::string, PartitionIndex>;

struct IdKey {
  Uuid topic_id;
  PartitionIndex partition;
  friend bool operator==(const IdKey&, const IdKey&) = default;
};
struct IdHash {
  std::size_t operator()(const IdKey& key) const noexcept {
    return std::hash<Uuid>{}(key.topic_id) ^ (static_cast<std::size_t>(key.partition.value()) * std::size_t{0x9e3779b97f4a7c15});
  }
};

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

// One turn of retention looks at so many logs and renames so many segments; the next one goes on.
constexpr std::size_t kLogsPerTurn = 256;
constexpr std::size_t kSegmentsPerTurn = 64;

struct WaitingRemoval {
  Instant due;
  Removal removal;
};

// The metadata log's offsets belong to raft, not to these files.
constexpr const char* kMetadataTopic = "__cluster_metadata";

}  // namespace

struct LogManager::Impl {
  Impl(env::Disk& the_disk, LogManagerOptions the_options, event::EventSink* the_events, Prng the_prng)
      : disk(the_disk), options(std::move(the_options)), events(the_events), prng(the_prng) {}

  env::Disk& disk;
  LogManagerOptions options;
  event::EventSink* events;
  Prng prng;
  std::unique_ptr<env::Lock> lock;
  MetaProperties meta;
  bool clean = false;
  std::int64_t previous_epoch = -1;
  DiskJobs jobs;
  wire::RecordScratch scratch;
  std::map<Key, std::unique_ptr<PartitionLog>> logs;
  std::unordered_map<IdKey, PartitionLog*, IdHash> by_id;
  OffsetCheckpoint recovery_points;
  OffsetCheckpoint high_watermarks;
  OffsetCheckpoint log_starts;
  Checkpoint recovery_checkpoint;
  Checkpoint watermark_checkpoint;
  Checkpoint start_checkpoint;
  Instant retention_due = kNever;
  std::optional<Key> retention_next;     // a pass is under way; it goes on here
  std::deque<Key> retention_again;       // a flush came back that a deletion waited for
  std::vector<WaitingRemoval> removals;  // ascending by due
  std::vector<Error> problems;

  [[nodiscard]] std::string path(const std::string& name) const { return options.directory + "/" + name; }

  Result<OffsetCheckpoint> read_checkpoint(const char* name) {
    if (!disk.exists(path(name))) {
      return OffsetCheckpoint{};
    }
    HW_TRY(const Bytes bytes, disk.read_whole(path(name)));
    Result<OffsetCheckpoint> offsets = parse_offsets(bytes.text());
    if (!offsets) {
      offsets.error().detail = path(name) + ": " + offsets.error().detail;
    }
    return offsets;
  }

  static Offset lookup(const OffsetCheckpoint& offsets, const Key& key) {
    const auto it = offsets.find(key);
    return it == offsets.end() ? Offset(0) : it->second;
  }

  Result<PartitionLog*> open_log(const LogIdentity& identity, const LogConfig& config, WallTime now, bool known) {
    const Key key{identity.topic, identity.partition};
    OpenParameters parameters;
    parameters.directory = path(partition_directory(identity.topic, identity.partition));
    parameters.identity = identity;
    parameters.config = config;
    parameters.clean = clean;
    parameters.recovery_point = lookup(recovery_points, key);
    parameters.log_start_offset = lookup(log_starts, key);
    parameters.high_watermark = lookup(high_watermarks, key);
    parameters.now = now;
    parameters.seed = prng.next();
    parameters.identity_known = known;
    const LogContext context{&disk, &jobs, events, options.node_id, &scratch};
    HW_TRY(std::unique_ptr<PartitionLog> log, PartitionLog::open(context, parameters));
    PartitionLog* raw = log.get();
    by_id[{identity.topic_id, identity.partition}] = raw;
    logs[key] = std::move(log);
    return raw;
  }

  template <class Value>
  std::string checkpoint_text(Value value) const {
    OffsetCheckpoint offsets;
    for (const auto& [key, log] : logs) {
      if (key.first == kMetadataTopic) {
        continue;
      }
      offsets.emplace_hint(offsets.end(), key, value(*log));
    }
    return format_offsets(offsets);
  }
  std::string recovery_text() const {
    return checkpoint_text([](const PartitionLog& log) { return log.recovery_point(); });
  }
  std::string watermark_text() const {
    return checkpoint_text([](const PartitionLog& log) { return log.high_watermark(); });
  }
  // Only logs whose start is not where their first segment begins.
  std::string start_text() const {
    OffsetCheckpoint offsets;
    for (const auto& [key, log] : logs) {
      if (key.first != kMetadataTopic && log->log_start_offset() > Offset(0)) {
        offsets.emplace_hint(offsets.end(), key, log->log_start_offset());
      }
    }
    return format_offsets(offsets);
  }

  void queue(Checkpoint& checkpoint, std::string text) {
    if (checkpoint.writing || text == checkpoint.written) {
      return;
    }
    checkpoint.writing = true;
    checkpoint.in_flight = std::move(text);
    DiskJob job;
    job.kind = JobKind::checkpoint;
    job.work = [disk_ptr = &disk, file = path(checkpoint.name), text_copy = checkpoint.in_flight]() {
      return disk_ptr->write_whole(file, as_bytes(text_copy), true);
    };
    checkpoint.job_id = jobs.push(std::move(job));
  }

  void push_removal(Removal removal) {
    DiskJob job;
    job.kind = JobKind::remove;
    job.work = [disk_ptr = &disk, gone = std::move(removal)]() -> Result<void> {
      for (const std::string& file : gone.files) {
        if (Result<void> done = disk_ptr->remove(file); !done && done.error().code != Errc::not_found) {
          return done;
        }
      }
      if (!gone.tree.empty()) {
        return disk_ptr->remove_tree(gone.tree);
      }
      return {};
    };
    jobs.push(std::move(job));
  }

  void schedule_removals(Instant now) {
    for (Removal& removal : jobs.take_removals()) {
      if (!options.keep_deleted || removal.delay_ms <= 0) {
        push_removal(std::move(removal));
        continue;
      }
      const Instant due = now + milliseconds(removal.delay_ms);
      const auto at = std::upper_bound(removals.begin(), removals.end(), due,
                                       [](Instant when, const WaitingRemoval& other) { return when < other.due; });
      removals.insert(at, WaitingRemoval{due, std::move(removal)});
    }
    std::size_t due = 0;
    while (due < removals.size() && removals[due].due <= now) {
      push_removal(std::move(removals[due].removal));
      ++due;
    }
    removals.erase(removals.begin(), removals.begin() + static_cast<std::ptrdiff_t>(due));
  }

  // True: the allowance is used up and the log may have more to delete.
  bool retain(const Key& key, PartitionLog& log, WallTime wall, std::size_t& allowance) {
    if (key.first == kMetadataTopic) {
      return false;
    }
    Result<std::size_t> gone = log.delete_old_segments(wall, allowance);
    if (!gone) {
      problems.push_back(std::move(gone.error()));
      return false;
    }
    allowance -= std::min(allowance, *gone + (log.deletion_waits() ? 1 : 0));
    return allowance == 0 && !log.deletion_waits();
  }

  void go_on_with_retention(Instant now, WallTime wall) {
    std::size_t allowance = kSegmentsPerTurn;
    while (!retention_again.empty() && allowance > 0) {
      const Key key = std::move(retention_again.front());
      retention_again.pop_front();
      if (const auto it = logs.find(key); it != logs.end() && retain(key, *it->second, wall, allowance)) {
        retention_again.push_front(key);  // it may have more
      }
    }
    if (retention_due <= now) {
      retention_due = now + options.retention_check_interval;
      if (!retention_next && !logs.empty()) {
        retention_next = logs.begin()->first;
      }
    }
    if (!retention_next || allowance == 0) {
      return;
    }
    auto it = logs.lower_bound(*retention_next);
    for (std::size_t i = 0; i < kLogsPerTurn && it != logs.end() && allowance > 0; ++i) {
      if (retain(it->first, *it->second, wall, allowance)) {
        break;  // the next turn begins with it
      }
      ++it;
    }
    retention_next = it == logs.end() ? std::nullopt : std::optional<Key>(it->first);
  }

  [[nodiscard]] Instant retention_deadline() const {
    return retention_next || !retention_again.empty() || jobs.has_removals() ? Instant{} : retention_due;
  }

  Result<void> write_now(Checkpoint& checkpoint, const std::string& text, bool always) {
    if (!always && text == checkpoint.written) {
      return {};
    }
    HW_CHECK(disk.write_whole(path(checkpoint.name), as_bytes(text), true));
    checkpoint.written = text;
    return {};
  }
};

LogManager::LogManager(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
LogManager::~LogManager() = default;

Result<MetaProperties> LogManager::read_meta(env::Disk& disk, const std::string& directory) {
  const std::string path = directory + "/" + kMetaProperties;
  if (!disk.exists(path)) {
    return fail(Errc::not_found, directory + " is not formatted: it has no meta.properties");
  }
  HW_TRY(const Bytes bytes, disk.read_whole(path, 1U << 20U));
  Result<MetaProperties> meta = parse_meta(bytes.text());
  if (!meta) {
    meta.error().detail = directory + ": " + meta.error().detail;
  }
  return meta;
}

Result<MetaProperties> LogManager::format(env::Disk& disk, const std::string& directory, const std::string& cluster_id,
                                          BrokerId node_id, Prng& prng) {
  HW_CHECK(disk.make_directories(directory));
  HW_TRY(const std::unique_ptr<env::Lock> lock, disk.lock(directory + "/" + kLockFile));
  if (disk.exists(directory + "/" + kMetaProperties)) {
    return fail(Errc::exists, directory + " is formatted already");
  }
  MetaProperties meta;
  meta.cluster_id = cluster_id;
  meta.node_id = node_id;
  meta.directory_id = Uuid::random(prng);
  const std::string text = format_meta(meta);
  HW_CHECK(disk.write_whole(directory + "/" + kMetaProperties, as_bytes(text), true));
  return meta;
}

Result<std::unique_ptr<LogManager>> LogManager::open(env::Disk& disk, LogManagerOptions options,
                                                     event::EventSink* events, Prng prng) {
  std::unique_ptr<LogManager> manager(
      new LogManager(std::make_unique<Impl>(disk, std::move(options), events, prng)));
  Impl& state = *manager->impl_;
  const std::string& directory = state.options.directory;
  if (!disk.is_directory(directory)) {
    return fail(Errc::not_found, directory + " is not a directory");
  }
  HW_TRY(state.meta, read_meta(disk, directory));
  if (!state.options.cluster_id.empty() && state.meta.cluster_id != state.options.cluster_id) {
    return fail(Errc::invalid, directory + " belongs to cluster " + state.meta.cluster_id + ", not to " +
                                   state.options.cluster_id);
  }
  if (state.meta.node_id != state.options.node_id) {
    return fail(Errc::invalid, directory + " belongs to node " + std::to_string(state.meta.node_id.value()) +
                                   ", not to node " + std::to_string(state.options.node_id.value()));
  }
  // Only now is anything touched.
  Result<std::unique_ptr<env::Lock>> lock = disk.lock(state.path(kLockFile));
  if (!lock) {
    return Unexpected(std::move(lock.error()));
  }
  state.lock = std::move(*lock);
  HW_TRY(state.recovery_points, state.read_checkpoint(kRecoveryPointCheckpoint));
  HW_TRY(state.high_watermarks, state.read_checkpoint(kHighWatermarkCheckpoint));
  HW_TRY(state.log_starts, state.read_checkpoint(kLogStartCheckpoint));
  state.recovery_checkpoint.name = kRecoveryPointCheckpoint;
  state.recovery_checkpoint.interval = state.options.recovery_point_checkpoint_interval;
  state.watermark_checkpoint.name = kHighWatermarkCheckpoint;
  state.watermark_checkpoint.interval = state.options.high_watermark_checkpoint_interval;
  state.start_checkpoint.name = kLogStartCheckpoint;
  state.start_checkpoint.interval = state.options.start_checkpoint_delay;
  state.recovery_checkpoint.written = format_offsets(state.recovery_points);
  state.watermark_checkpoint.written = format_offsets(state.high_watermarks);
  state.start_checkpoint.written = format_offsets(state.log_starts);
  if (disk.exists(state.path(kCleanShutdown))) {
    HW_TRY(const Bytes bytes, disk.read_whole(state.path(kCleanShutdown), 4096));
    const Result<std::int64_t> epoch = parse_clean_shutdown(bytes.text());
    state.clean = true;  // its presence says it; what it holds is extra
    state.previous_epoch = epoch.value_or(-1);
    // From the first write on, the directory is not closed cleanly any more.
    HW_CHECK(disk.remove(state.path(kCleanShutdown)));
  }
  return manager;
}

const MetaProperties& LogManager::meta() const { return impl_->meta; }
bool LogManager::was_clean() const { return impl_->clean; }
std::int64_t LogManager::previous_broker_epoch() const { return impl_->previous_epoch; }

Result<PartitionLog*> LogManager::create_log(const LogIdentity& identity, const LogConfig& config, WallTime now) {
  if (PartitionLog* there = find(identity.topic, identity.partition)) {
    if (there->identity().topic_id == identity.topic_id) {
      return there;
    }
    return fail(Errc::exists, there->directory() + " belongs to topic id " + there->identity().topic_id.text());
  }
  return impl_->open_log(identity, config, now, false);
}

Result<void> LogManager::load_all(const Wanted& wanted, WallTime now) {
  Impl& state = *impl_;
  HW_TRY(const std::vector<std::string> names, state.disk.list(state.options.directory));
  for (const std::string& name : names) {
    if (name.size() > 7 && name.compare(name.size() - 7, 7, "-delete") == 0) {
      state.push_removal(Removal{{}, state.path(name), 0});
      continue;
    }
    const std::optional<DirectoryName> parsed = parse_partition_directory(name);
    if (!parsed || find(parsed->topic, parsed->partition) != nullptr || !state.disk.is_directory(state.path(name))) {
      continue;
    }
    LogIdentity identity{parsed->topic, parsed->partition, Uuid{}};
    bool known = false;
    const std::string metadata = state.path(name) + "/" + kPartitionMetadata;
    if (const Result<Bytes> bytes = state.disk.read_whole(metadata, 4096)) {
      if (const Result<Uuid> id = parse_partition_metadata(bytes->text())) {
        identity.topic_id = *id;
        known = true;
      }
    }
    const std::optional<LogConfig> config = wanted(identity);
    if (!config) {
      const std::string stray = renamed_directory(parsed->topic, parsed->partition, Uuid::random(state.prng), "-stray");
      HW_CHECK(state.disk.rename(state.path(name), state.path(stray)));
      continue;
    }
    HW_TRY(PartitionLog * log, state.open_log(identity, *config, now, known));
    static_cast<void>(log);
  }
  return {};
}

PartitionLog* LogManager::find(const Uuid& topic_id, PartitionIndex partition) const {
  const auto it = impl_->by_id.find({topic_id, partition});
  return it == impl_->by_id.end() ? nullptr : it->second;
}

PartitionLog* LogManager::find(const std::string& topic, PartitionIndex partition) const {
  const auto it = impl_->logs.find({topic, partition});
  return it == impl_->logs.end() ? nullptr : it->second.get();
}

std::vector<PartitionLog*> LogManager::logs() const {
  std::vector<PartitionLog*> all;
  all.reserve(impl_->logs.size());
  for (const auto& [key, log] : impl_->logs) {
    all.push_back(log.get());
  }
  return all;
}

Result<void> LogManager::delete_log(const Uuid& topic_id, PartitionIndex partition) {
  Impl& state = *impl_;
  const auto it = state.by_id.find({topic_id, partition});
  if (it == state.by_id.end()) {
    return fail(Errc::not_found, "no log of this topic id and partition");
  }
  PartitionLog& log = *it->second;
  const LogIdentity identity = log.identity();
  const std::string renamed =
      state.path(renamed_directory(identity.topic, identity.partition, Uuid::random(state.prng), "-delete"));
  HW_CHECK(state.disk.rename(log.directory(), renamed));
  if (log.log_start_offset() > Offset(0)) {
    state.start_checkpoint.due = Instant{};  // a topic of the same name must not find this start
  }
  log.abandon();
  state.by_id.erase(it);
  state.logs.erase({identity.topic, identity.partition});
  Removal removal{{}, renamed, state.options.delete_delay_ms};
  if (state.options.keep_deleted) {
    state.jobs.remove_later(std::move(removal));
  } else {
    state.push_removal(std::move(removal));
  }
  state.jobs.note_change();
  // A topic of the same name that comes later begins anew.
  const Key key{identity.topic, identity.partition};
  state.recovery_points.erase(key);
  state.high_watermarks.erase(key);
  state.log_starts.erase(key);
  return {};
}

DiskJobs& LogManager::jobs() { return impl_->jobs; }

void LogManager::job_done(const DiskJob& job, const Result<void>& result, WallTime now) {
  Impl& state = *impl_;
  switch (job.kind) {
    case JobKind::flush:
      if (PartitionLog* log = find(job.topic_id, job.partition)) {
        if (result) {
          log->flushed(job, now);
          if (log->deletion_waits()) {
            state.retention_again.emplace_back(log->identity().topic, log->identity().partition);
          }
        } else {
          log->flush_failed();
        }
      }
      break;
    case JobKind::checkpoint:
      for (Checkpoint* checkpoint :
           {&state.recovery_checkpoint, &state.watermark_checkpoint, &state.start_checkpoint}) {
        if (checkpoint->writing && checkpoint->job_id == job.id) {
          checkpoint->writing = false;
          if (result) {
            checkpoint->written = std::move(checkpoint->in_flight);
          } else if (checkpoint == &state.start_checkpoint) {
            state.jobs.note_start_change();
          } else {
            state.jobs.note_change();
          }
        }
      }
      break;
    case JobKind::remove:
      break;  // what could not be removed is removed at the next start
  }
}

void LogManager::start_tasks(Instant now) { impl_->retention_due = now + impl_->options.initial_task_delay; }
void LogManager::set_delete_delay(std::int64_t delay_ms) { impl_->options.delete_delay_ms = delay_ms; }
std::vector<Error> LogManager::take_problems() { return std::exchange(impl_->problems, {}); }

void LogManager::tick(Instant instant, WallTime wall) {
  Impl& state = *impl_;
  state.go_on_with_retention(instant, wall);
  state.schedule_removals(instant);
  if (state.jobs.start_changed()) {
    state.jobs.start_changes_seen();
    if (state.start_checkpoint.due == kNever) {
      state.start_checkpoint.due = instant + state.start_checkpoint.interval;
    }
  }
  if (instant >= state.start_checkpoint.due) {
    if (state.start_checkpoint.writing) {
      state.start_checkpoint.due = instant + milliseconds(10);  // what is being written is older
    } else {
      state.start_checkpoint.due = kNever;
      state.queue(state.start_checkpoint, state.start_text());
    }
  }
  if (state.jobs.changed()) {
    state.jobs.changes_seen();
    for (Checkpoint* checkpoint : {&state.recovery_checkpoint, &state.watermark_checkpoint}) {
      if (checkpoint->due == kNever) {
        checkpoint->due = instant + checkpoint->interval;
      }
    }
  }
  if (instant >= state.watermark_checkpoint.due) {
    state.watermark_checkpoint.due = kNever;
    state.queue(state.watermark_checkpoint, state.watermark_text());
    for (const auto& [key, log] : state.logs) {
      if (log->flush_due(wall)) {
        log->queue_flush(wall);
      }
    }
  }
  if (instant >= state.recovery_checkpoint.due) {
    state.recovery_checkpoint.due = kNever;
    state.queue(state.recovery_checkpoint, state.recovery_text());
    for (const auto& [key, log] : state.logs) {
      log->expire_producers(wall);
    }
  }
}

Instant LogManager::next_deadline() const {
  const Impl& state = *impl_;
  Instant due = std::min({state.recovery_checkpoint.due, state.watermark_checkpoint.due, state.start_checkpoint.due,
                          state.retention_deadline()});
  if (!state.removals.empty()) {
    due = std::min(due, state.removals.front().due);
  }
  if (state.jobs.start_changed() && state.start_checkpoint.due == kNever) {
    return Instant{};
  }
  const bool unnoticed = state.recovery_checkpoint.due == kNever || state.watermark_checkpoint.due == kNever;
  // A change that no tick has seen yet: at the next chance.
  return state.jobs.changed() && unnoticed ? Instant{} : due;
}

Result<void> LogManager::shut_down(WallTime now, std::int64_t broker_epoch) {
  Impl& state = *impl_;
  for (const auto& [key, log] : state.logs) {
    HW_CHECK(log->close(now));
  }
  HW_CHECK(state.write_now(state.recovery_checkpoint, state.recovery_text(), true));
  HW_CHECK(state.write_now(state.watermark_checkpoint, state.watermark_text(), true));
  HW_CHECK(state.write_now(state.start_checkpoint, state.start_text(), true));
  const std::string marker = format_clean_shutdown(broker_epoch);
  HW_CHECK(state.disk.write_whole(state.path(kCleanShutdown), as_bytes(marker), true));
  state.by_id.clear();
  state.logs.clear();
  state.lock.reset();
  return {};
}

}  // namespace hw::log
