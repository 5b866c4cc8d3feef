// SPDX-License-Identifier: Apache-2.0
#include "engine/log/log_manager.h"

#include <algorithm>
#include <set>
#include <utility>

#include "engine/log/log_directory.h"
#include "engine/log/log_manager_impl.h"

namespace hw::log {

namespace {

Offset lookup(const OffsetCheckpoint& offsets, const LogKey& key) {
  const auto it = offsets.find(key);
  return it == offsets.end() ? Offset(0) : it->second;
}

bool ends_with(std::string_view text, std::string_view tail) {
  return text.size() > tail.size() && text.substr(text.size() - tail.size()) == tail;
}

}  // namespace

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
                                          BrokerId node_id, Prng& prng, Uuid directory_id) {
  HW_CHECK(disk.make_directories(directory));
  HW_TRY(const std::unique_ptr<env::Lock> lock, disk.lock(directory + "/" + kLockFile));
  if (disk.exists(directory + "/" + kMetaProperties)) {
    return fail(Errc::exists, directory + " is formatted already");
  }
  MetaProperties meta;
  meta.cluster_id = cluster_id;
  meta.node_id = node_id;
  meta.directory_id = directory_id == Uuid{} ? Uuid::random(prng) : directory_id;
  const std::string text = format_meta(meta);
  HW_CHECK(disk.write_whole(directory + "/" + kMetaProperties, as_bytes(text), true));
  return meta;
}

Result<std::unique_ptr<LogManager>> LogManager::open(env::Disk& disk, LogManagerOptions options,
                                                     event::EventSink* events, Prng prng) {
  HW_ASSERT(!options.directories.empty(), "a node has a log directory");
  std::unique_ptr<LogManager> manager(
      new LogManager(std::make_unique<Impl>(disk, std::move(options), events, prng)));
  Impl& state = *manager->impl_;
  for (const std::string& path : state.options.directories) {
    if (state.find_directory(path) != nullptr) {
      return fail(Errc::invalid, path + " is named twice among the log directories");
    }
    auto directory = std::make_unique<Impl::Directory>();
    directory->path = path;
    if (Result<void> opened = state.open_directory(*directory); !opened) {
      const Errc code = opened.error().code;
      const bool disk_failed = code == Errc::io || code == Errc::permission || code == Errc::not_found || code == Errc::no_space;
      if (state.directories.empty() || !disk_failed) {
        return Unexpected(std::move(opened.error()));
      }
      // Not the one with the metadata: the others go on without it.
      directory->failed = true;
      directory->lock.reset();
      if (events != nullptr) {
        events->emit(event::LogDirFailed{state.options.node_id, path, opened.error().detail});
      }
    }
    for (const auto& other : state.directories) {
      if (!directory->failed && !other->failed && directory->meta.directory_id == other->meta.directory_id &&
          !directory->meta.directory_id.is_zero()) {
        return fail(Errc::invalid, path + " has the same directory.id as " + other->path + ": one is a copy of the other");
      }
    }
    state.directories.push_back(std::move(directory));
  }
  return manager;
}

Result<void> LogManager::Impl::open_directory(Directory& directory) {
  if (!disk.is_directory(directory.path)) {
    return fail(Errc::not_found, directory.path + " is not a directory");
  }
  HW_TRY(directory.meta, read_meta(disk, directory.path));
  if (!options.cluster_id.empty() && directory.meta.cluster_id != options.cluster_id) {
    return fail(Errc::invalid, directory.path + " belongs to cluster " + directory.meta.cluster_id + ", not to " +
                                   options.cluster_id + ": give this node the folder that it had in this cluster, or an empty one");
  }
  if (!directories.empty() && directory.meta.cluster_id != directories.front()->meta.cluster_id) {
    return fail(Errc::invalid, directory.path + " belongs to cluster " + directory.meta.cluster_id + ", " +
                                   directories.front()->path + " to " + directories.front()->meta.cluster_id);
  }
  if (directory.meta.node_id != options.node_id) {
    return fail(Errc::invalid, directory.path + " belongs to node " + std::to_string(directory.meta.node_id.value()) +
                                   ", not to node " + std::to_string(options.node_id.value()));
  }
  // Only now is anything touched.
  HW_TRY(directory.lock, disk.lock(directory.file(kLockFile)));
  HW_TRY(directory.recovery_points, read_checkpoint(directory, kRecoveryPointCheckpoint));
  HW_TRY(directory.high_watermarks, read_checkpoint(directory, kHighWatermarkCheckpoint));
  HW_TRY(directory.log_starts, read_checkpoint(directory, kLogStartCheckpoint));
  HW_TRY(directory.cleaned, read_checkpoint(directory, kCleanerCheckpoint));
  directory.recovery_checkpoint.name = kRecoveryPointCheckpoint;
  directory.recovery_checkpoint.interval = options.recovery_point_checkpoint_interval;
  directory.watermark_checkpoint.name = kHighWatermarkCheckpoint;
  directory.watermark_checkpoint.interval = options.high_watermark_checkpoint_interval;
  directory.start_checkpoint.name = kLogStartCheckpoint;
  directory.start_checkpoint.interval = options.start_checkpoint_delay;
  directory.recovery_checkpoint.written = format_offsets(directory.recovery_points);
  directory.watermark_checkpoint.written = format_offsets(directory.high_watermarks);
  directory.start_checkpoint.written = format_offsets(directory.log_starts);
  const bool stopped = disk.exists(directory.file(kCleanShutdown));
  if (stopped || disk.exists(directory.file(kNotOpened))) {
    HW_TRY(const Bytes bytes, disk.read_whole(directory.file(stopped ? kCleanShutdown : kNotOpened), 4096));
    const Result<std::int64_t> epoch = parse_clean_shutdown(bytes.text());
    directory.clean = true;  // its presence says it; what it holds is extra
    directory.metadata_clean = stopped;
    directory.previous_epoch = epoch.value_or(-1);
  }
  // The metadata log is written from now on. The others are as they were until they are opened, which may take long: whoever ends before that
  // has lost nothing of them, and the controller must not take it for one that has (KIP-966).
  if (stopped) {
    HW_CHECK(disk.rename(directory.file(kCleanShutdown), directory.file(kNotOpened)));
  }
  return {};
}

Result<OffsetCheckpoint> LogManager::Impl::read_checkpoint(const Directory& directory, const char* name) {
  const std::string path = directory.file(name);
  if (!disk.exists(path)) {
    return OffsetCheckpoint{};
  }
  HW_TRY(const Bytes bytes, disk.read_whole(path));
  Result<OffsetCheckpoint> offsets = parse_offsets(bytes.text());
  if (!offsets) {
    offsets.error().detail = path + ": " + offsets.error().detail;
  }
  return offsets;
}

const MetaProperties& LogManager::meta() const { return impl_->directories.front()->meta; }
bool LogManager::was_clean() const {
  return std::all_of(impl_->directories.begin(), impl_->directories.end(),
                     [](const auto& directory) { return directory->clean; });
}
std::int64_t LogManager::previous_broker_epoch() const { return impl_->directories.front()->previous_epoch; }

// ---- directories

LogManager::Impl::Directory* LogManager::Impl::find_directory(const std::string& path) const {
  for (const auto& directory : directories) {
    if (directory->path == path) {
      return directory.get();
    }
  }
  return nullptr;
}

bool LogManager::Impl::any_failed() const {
  return std::any_of(directories.begin(), directories.end(), [](const auto& directory) { return directory->failed; });
}

// Where a new log goes: where somebody asked for, otherwise to the directory with the fewest.
LogManager::Impl::Directory* LogManager::Impl::place_for(const LogKey& key) {
  if (key.first == kMetadataTopic) {
    return directories.front().get();
  }
  if (const auto wish = preferred.find(key); wish != preferred.end()) {
    Directory* wanted = find_directory(wish->second);
    if (wanted != nullptr && !wanted->failed) {
      return wanted;
    }
  }
  Directory* best = nullptr;
  for (const bool cordoned_too : {false, true}) {
    for (const auto& directory : directories) {
      const bool cordoned =
          std::find(options.cordoned.begin(), options.cordoned.end(), directory->path) != options.cordoned.end();
      if (!directory->failed && (cordoned_too || !cordoned) && (best == nullptr || directory->logs < best->logs)) {
        best = directory.get();
      }
    }
    if (best != nullptr) {
      break;
    }
  }
  return best;
}

std::vector<DirectoryStatus> LogManager::directories() const {
  const Impl& state = *impl_;
  std::vector<DirectoryStatus> all;
  for (const auto& directory : state.directories) {
    DirectoryStatus& status = all.emplace_back();
    status.path = directory->path;
    status.id = directory->meta.directory_id;
    status.failed = directory->failed;
    status.cordoned =
        std::find(state.options.cordoned.begin(), state.options.cordoned.end(), directory->path) != state.options.cordoned.end();
    if (status.failed) {
      continue;
    }
    const auto known = [](const Result<std::uint64_t>& bytes) { return bytes ? static_cast<std::int64_t>(*bytes) : -1; };
    status.total_bytes = known(state.disk.total_bytes(directory->path));
    status.usable_bytes = known(state.disk.free_bytes(directory->path));
  }
  const auto status_of = [&](const Impl::Directory* wanted) -> DirectoryStatus& {
    std::size_t i = 0;
    while (state.directories[i].get() != wanted) {
      ++i;
    }
    return all[i];
  };
  for (const auto& [key, held] : state.logs) {
    if (key.first == kMetadataTopic || held.directory->failed) {
      continue;
    }
    const PartitionLog& log = *held.log;
    status_of(held.directory).replicas.push_back({&log, std::max<std::int64_t>(log.high_watermark() - log.log_end_offset(), 0)});
    if (held.move != nullptr) {
      status_of(held.move->to).replicas.push_back(
          {held.move->log.get(), log.log_end_offset() - held.move->log->log_end_offset(), true});
    }
  }
  return all;
}

DirectoryState LogManager::directory_state(const std::string& path) const {
  const Impl::Directory* directory = impl_->find_directory(path);
  return directory == nullptr  ? DirectoryState::unknown
         : directory->failed ? DirectoryState::failed
                             : DirectoryState::online;
}

void LogManager::set_cordoned(std::vector<std::string> paths) { impl_->options.cordoned = std::move(paths); }

void LogManager::prefer_directory(const std::string& topic, PartitionIndex partition, const std::string& path) {
  constexpr std::size_t kWishes = 10'000;
  if (impl_->preferred.size() < kWishes) {
    impl_->preferred[{topic, partition}] = path;
  }
}

std::vector<Moved> LogManager::take_moved() { return std::exchange(impl_->moved, {}); }

// ---- logs

Result<PartitionLog*> LogManager::Impl::open_log(Directory& directory, const LogIdentity& identity, const LogConfig& config,
                                                 WallTime now, bool known) {
  const LogKey key{identity.topic, identity.partition};
  OpenParameters parameters;
  parameters.directory = directory.file(partition_directory(identity.topic, identity.partition));
  parameters.identity = identity;
  parameters.config = config;
  parameters.clean = directory.clean && (directory.metadata_clean || key.first != kMetadataTopic);
  parameters.recovery_point = lookup(directory.recovery_points, key);
  parameters.log_start_offset = lookup(directory.log_starts, key);
  parameters.high_watermark = lookup(directory.high_watermarks, key);
  parameters.cleaned_below = lookup(directory.cleaned, key);
  parameters.now = now;
  parameters.seed = prng.next();
  parameters.identity_known = known;
  const LogContext context{&disk, &jobs, events, options.node_id, &scratch, &directory.health, false};
  Result<std::unique_ptr<PartitionLog>> log = PartitionLog::open(context, parameters);
  if (!log) {
    directory.health.note(log.error());
    return Unexpected(std::move(log.error()));
  }
  PartitionLog* raw = log->get();
  by_id[{identity.topic_id, identity.partition}] = raw;
  Held& held = logs[key];
  held.log = std::move(*log);
  held.directory = &directory;
  directory.logs += key.first == kMetadataTopic ? std::size_t{0} : std::size_t{1};
  preferred.erase(key);
  return raw;
}

Result<PartitionLog*> LogManager::create_log(const LogIdentity& identity, const LogConfig& config, WallTime now,
                                             bool is_new) {
  Impl& state = *impl_;
  if (PartitionLog* there = find(identity.topic, identity.partition)) {
    if (there->identity().topic_id == identity.topic_id) {
      return there;
    }
    return fail(Errc::exists, there->directory() + " belongs to topic id " + there->identity().topic_id.text());
  }
  const LogKey key{identity.topic, identity.partition};
  Impl::Directory* place = nullptr;
  // One that was not loaded may lie in any of them.
  for (const auto& directory : state.directories) {
    if (!directory->failed && state.disk.is_directory(directory->file(partition_directory(key.first, key.second)))) {
      place = directory.get();
      break;
    }
  }
  if (place == nullptr) {
    if (!is_new && state.any_failed()) {
      return fail(Errc::io, identity.topic + "-" + std::to_string(identity.partition.value()) +
                                " may lie in a log directory that is offline");
    }
    place = state.place_for(key);
  }
  if (place == nullptr) {
    return fail(Errc::io, "every log directory is offline");
  }
  return state.open_log(*place, identity, config, now, false);
}

Result<void> LogManager::load_all(const Wanted& wanted, WallTime now) {
  for (const auto& directory : impl_->directories) {
    if (directory->failed) {
      continue;
    }
    Result<void> loaded = impl_->load_directory(*directory, wanted, now);
    if (!loaded && impl_->directories.size() == 1) {
      return loaded;
    }
    if (!loaded) {
      directory->health.note(loaded.error());
      if (directory->health.problem.empty()) {
        return loaded;  // not the disk: corrupt, or of a newer version
      }
    }
  }
  impl_->give_up_failed_directories();
  return {};
}

void LogManager::Impl::set_aside(const std::string& path, const LogIdentity& identity, Directory& directory,
                                 const char* suffix) {
  const std::string name = renamed_directory(identity.topic, identity.partition, Uuid::random(prng), suffix);
  if (Result<void> renamed = disk.rename(path, directory.file(name)); !renamed) {
    problems.push_back(std::move(renamed.error()));
  }
}

Result<void> LogManager::Impl::load_directory(Directory& directory, const Wanted& wanted, WallTime now) {
  if (disk.exists(directory.file(kNotOpened))) {
    HW_CHECK(disk.remove(directory.file(kNotOpened)));
  }
  HW_TRY(const std::vector<std::string> names, disk.list(directory.path));
  for (const std::string& name : names) {
    // What was on its way to here when the node stopped begins anew when it is asked for again.
    if (ends_with(name, "-delete") || ends_with(name, "-future")) {
      push_removal(Removal{{}, directory.file(name), 0});
      continue;
    }
    const std::optional<DirectoryName> parsed = parse_partition_directory(name);
    if (!parsed || !disk.is_directory(directory.file(name))) {
      continue;
    }
    LogIdentity identity{parsed->topic, parsed->partition, Uuid{}};
    if (const auto there = logs.find({parsed->topic, parsed->partition}); there != logs.end()) {
      if (there->second.directory != &directory) {
        set_aside(directory.file(name), identity, directory, "-stray");  // a copy: a move that ended in a crash
      }
      continue;
    }
    bool known = false;
    const std::string metadata = directory.file(name) + "/" + kPartitionMetadata;
    if (const Result<Bytes> bytes = disk.read_whole(metadata, 4096)) {
      if (const Result<Uuid> id = parse_partition_metadata(bytes->text())) {
        identity.topic_id = *id;
        known = true;
      }
    }
    const std::optional<LogConfig> config = wanted(identity);
    if (!config) {
      const std::string stray = renamed_directory(parsed->topic, parsed->partition, Uuid::random(prng), "-stray");
      HW_CHECK(disk.rename(directory.file(name), directory.file(stray)));
      continue;
    }
    HW_TRY(PartitionLog * log, open_log(directory, identity, *config, now, known));
    static_cast<void>(log);
  }
  // What is not open now is not there any more: a log of that name that comes later begins anew.
  for (OffsetCheckpoint* read : {&directory.recovery_points, &directory.high_watermarks, &directory.log_starts}) {
    std::erase_if(*read, [this](const auto& entry) { return !logs.contains(entry.first); });
  }
  return {};
}

PartitionLog* LogManager::find(const Uuid& topic_id, PartitionIndex partition) const {
  const auto it = impl_->by_id.find({topic_id, partition});
  return it == impl_->by_id.end() ? nullptr : it->second;
}

PartitionLog* LogManager::find(const std::string& topic, PartitionIndex partition) const {
  const auto it = impl_->logs.find({topic, partition});
  return it == impl_->logs.end() ? nullptr : it->second.log.get();
}

LogManager::Impl::Held* LogManager::Impl::held(const Uuid& topic_id, PartitionIndex partition) {
  const auto it = by_id.find({topic_id, partition});
  if (it == by_id.end()) {
    return nullptr;
  }
  const auto at = logs.find({it->second->identity().topic, partition});
  return at == logs.end() ? nullptr : &at->second;
}

std::vector<PartitionLog*> LogManager::logs() const {
  std::vector<PartitionLog*> all;
  all.reserve(impl_->logs.size());
  for (const auto& [key, held] : impl_->logs) {
    all.push_back(held.log.get());
  }
  return all;
}

Result<void> LogManager::delete_log(const Uuid& topic_id, PartitionIndex partition) {
  Impl& state = *impl_;
  Impl::Held* held = state.held(topic_id, partition);
  if (held == nullptr) {
    return fail(Errc::not_found, "no log of this topic id and partition");
  }
  PartitionLog& log = *held->log;
  const LogIdentity identity = log.identity();
  const LogKey key{identity.topic, identity.partition};
  Impl::Directory& directory = *held->directory;
  state.cancel_move(*held);
  state.forget_move(key);
  if (!directory.failed) {
    const std::string renamed =
        directory.file(renamed_directory(identity.topic, identity.partition, Uuid::random(state.prng), "-delete"));
    HW_CHECK(state.disk.rename(log.directory(), renamed));
    state.remove_soon(Removal{{}, renamed, state.options.delete_delay_ms});
  }
  if (log.log_start_offset() > Offset(0)) {
    directory.start_checkpoint.due = Instant{};  // a topic of the same name must not find this start
  }
  log.abandon();
  state.by_id.erase({topic_id, partition});
  state.logs.erase(key);
  directory.logs -= 1;
  state.jobs.note_change();
  // A topic of the same name that comes later begins anew.
  directory.recovery_points.erase(key);
  directory.high_watermarks.erase(key);
  directory.log_starts.erase(key);
  return {};
}

DiskJobs& LogManager::jobs() { return impl_->jobs; }

Result<void> LogManager::shut_down(WallTime now, std::int64_t broker_epoch) {
  Impl& state = *impl_;
  for (auto& [key, held] : state.logs) {
    state.cancel_move(held);
  }
  state.moves.clear();
  std::set<const Impl::Directory*> damaged;  // has a log that the disk left half cut: the next life looks into each, as after a kill
  for (const auto& [key, held] : state.logs) {
    if (held.log->offline()) {
      damaged.insert(held.directory);
    }
    HW_CHECK(held.log->close(now));
  }
  for (const auto& directory : state.directories) {
    if (directory->failed) {
      continue;
    }
    HW_CHECK(state.write_now(*directory, directory->recovery_checkpoint, state.recovery_text(*directory)));
    HW_CHECK(state.write_now(*directory, directory->watermark_checkpoint, state.watermark_text(*directory)));
    HW_CHECK(state.write_now(*directory, directory->start_checkpoint, state.start_text(*directory)));
    if (damaged.contains(directory.get())) {
      continue;
    }
    const std::string marker = format_clean_shutdown(broker_epoch);
    HW_CHECK(state.disk.write_whole(directory->file(kCleanShutdown), as_bytes(marker), true));
  }
  state.by_id.clear();
  state.logs.clear();
  for (const auto& directory : state.directories) {
    directory->lock.reset();
  }
  return {};
}

}  // namespace hw::log
