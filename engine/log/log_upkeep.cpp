// SPDX-License-Identifier: Apache-2.0
// What a node's logs do as time goes by: checkpoints, retention, removal of what was deleted, forgetting producers, and giving
// up a directory whose disk failed.
#include <algorithm>
#include <utility>

#include "engine/log/log_manager_impl.h"

namespace hw::log {

namespace {

// One turn of retention looks at so many logs and renames so many segments; the next one goes on.
constexpr std::size_t kLogsPerTurn = 256;
constexpr std::size_t kSegmentsPerTurn = 64;

}  // namespace

// ---- checkpoints

// Logs that this life has not opened keep what was read of them: a node may wait for long until it knows which of them it has.
template <class Value>
std::string LogManager::Impl::checkpoint_text(const Directory& directory, const OffsetCheckpoint& read, Value value) const {
  OffsetCheckpoint offsets;
  for (const auto& [key, offset] : read) {
    if (!logs.contains(key)) {
      offsets.emplace_hint(offsets.end(), key, offset);
    }
  }
  for (const auto& [key, held] : logs) {
    if (key.first == kMetadataTopic || held.directory != &directory) {
      continue;
    }
    if (const std::optional<Offset> offset = value(*held.log)) {
      offsets.emplace(key, *offset);
    }
  }
  return format_offsets(offsets);
}

std::string LogManager::Impl::recovery_text(const Directory& directory) const {
  return checkpoint_text(directory, directory.recovery_points,
                         [](const PartitionLog& log) { return std::optional<Offset>(log.recovery_point()); });
}
std::string LogManager::Impl::watermark_text(const Directory& directory) const {
  return checkpoint_text(directory, directory.high_watermarks,
                         [](const PartitionLog& log) { return std::optional<Offset>(log.high_watermark()); });
}
// Only logs that do not begin at 0.
std::string LogManager::Impl::start_text(const Directory& directory) const {
  return checkpoint_text(directory, directory.log_starts, [](const PartitionLog& log) {
    return log.log_start_offset() > Offset(0) ? std::optional<Offset>(log.log_start_offset()) : std::nullopt;
  });
}

void LogManager::Impl::queue(Directory& directory, Checkpoint& checkpoint, std::string text) {
  if (checkpoint.writing || text == checkpoint.written) {
    return;
  }
  checkpoint.writing = true;
  checkpoint.in_flight = std::move(text);
  DiskJob job;
  job.kind = JobKind::checkpoint;
  job.work = [disk_ptr = &disk, file = directory.file(checkpoint.name), text_copy = checkpoint.in_flight]() {
    return disk_ptr->write_whole(file, as_bytes(text_copy), true);
  };
  checkpoint.job_id = jobs.push(std::move(job));
}

Result<void> LogManager::Impl::write_now(Directory& directory, Checkpoint& checkpoint, const std::string& text) {
  HW_CHECK(disk.write_whole(directory.file(checkpoint.name), as_bytes(text), true));
  checkpoint.written = text;
  return {};
}

void LogManager::Impl::write_due_checkpoints(Instant instant, WallTime wall) {
  const bool changed = jobs.changed();
  const bool starts_changed = jobs.start_changed();
  jobs.changes_seen();
  jobs.start_changes_seen();
  bool flushes_due = false;
  for (const auto& directory : directories) {
    if (directory->failed) {
      continue;
    }
    const auto arm = [&](Checkpoint& checkpoint, bool wanted) {
      if (wanted && checkpoint.due == kNever) {
        checkpoint.due = instant + checkpoint.interval;
      }
    };
    arm(directory->recovery_checkpoint, changed);
    arm(directory->watermark_checkpoint, changed);
    arm(directory->start_checkpoint, starts_changed);
    // False: what is being written is older, and this one comes right behind it.
    const auto begin = [&](Checkpoint& checkpoint) {
      if (instant < checkpoint.due) {
        return false;
      }
      checkpoint.due = checkpoint.writing ? instant + milliseconds(10) : kNever;
      return !checkpoint.writing;
    };
    if (begin(directory->start_checkpoint)) {
      queue(*directory, directory->start_checkpoint, start_text(*directory));
    }
    if (begin(directory->watermark_checkpoint)) {
      queue(*directory, directory->watermark_checkpoint, watermark_text(*directory));
      flushes_due = true;
    }
    if (begin(directory->recovery_checkpoint)) {
      queue(*directory, directory->recovery_checkpoint, recovery_text(*directory));
    }
  }
  if (flushes_due) {
    for (const auto& [key, held] : logs) {
      if (held.log->flush_due(wall)) {
        held.log->queue_flush(wall);
      }
    }
  }
}

// ---- removal

void LogManager::Impl::push_removal(Removal removal) {
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

void LogManager::Impl::remove_soon(Removal removal) {
  if (options.keep_deleted) {
    jobs.remove_later(std::move(removal));
  } else {
    push_removal(std::move(removal));
  }
}

void LogManager::Impl::schedule_removals(Instant now) {
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

// ---- retention

// True: the allowance is used up and the log may have more to delete.
bool LogManager::Impl::retain(const LogKey& key, PartitionLog& log, WallTime wall, std::size_t& allowance) {
  if (key.first == kMetadataTopic || log.offline()) {
    return false;
  }
  Result<std::size_t> gone = log.delete_old_segments(wall, allowance);
  if (!gone) {
    logs.find(key)->second.directory->health.note(gone.error());
    problems.push_back(std::move(gone.error()));
    return false;
  }
  allowance -= std::min(allowance, *gone + (log.deletion_waits() ? 1 : 0));
  return allowance == 0 && !log.deletion_waits();
}

void LogManager::Impl::go_on_with_retention(Instant now, WallTime wall) {
  std::size_t allowance = kSegmentsPerTurn;
  while (!retention_again.empty() && allowance > 0) {
    const LogKey key = std::move(retention_again.front());
    retention_again.pop_front();
    if (const auto it = logs.find(key); it != logs.end() && retain(key, *it->second.log, wall, allowance)) {
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
    if (retain(it->first, *it->second.log, wall, allowance)) {
      break;  // the next turn begins with it
    }
    ++it;
  }
  retention_next = it == logs.end() ? std::nullopt : std::optional<LogKey>(it->first);
}

// ---- producers

void LogManager::Impl::expire_producers(Instant now, WallTime wall) {
  if (expiry_due > now) {
    return;
  }
  expiry_due = now + options.producer_check_interval;
  for (const auto& [key, held] : logs) {
    held.log->expire_producers(wall);
  }
}

// ---- directories that fail

void LogManager::Impl::give_up_failed_directories() {
  for (const auto& directory : directories) {
    if (directory->health.problem.empty() || directory->failed) {
      continue;
    }
    const std::string problem = std::exchange(directory->health.problem, {});
    const auto online = std::count_if(directories.begin(), directories.end(), [](const auto& d) { return !d->failed; });
    const bool metadata = directory == directories.front();
    if (std::none_of(failures.begin(), failures.end(), [&](const FailedDirectory& f) { return f.path == directory->path; })) {
      failures.push_back({directory->meta.directory_id, directory->path, problem, metadata, online == 1});
    }
    if (online == 1) {
      continue;  // the last one: its requests are answered with errors, and it goes on when the disk does
    }
    directory->failed = true;
    for (auto& [key, held] : logs) {
      if (held.move != nullptr && (held.directory == directory.get() || held.move->to == directory.get())) {
        held.move->log->abandon();
        held.move.reset();
        forget_move(key);
      }
      if (held.directory == directory.get() && key.first != kMetadataTopic) {
        held.log->abandon();
      }
    }
    if (events != nullptr) {
      events->emit(event::LogDirFailed{options.node_id, directory->path, problem});
    }
  }
}

// ---- the whole

void LogManager::start_tasks(Instant now) {
  impl_->retention_due = now + impl_->options.initial_task_delay;
  impl_->expiry_due = now + impl_->options.producer_check_interval;
}
void LogManager::set_delete_delay(std::int64_t delay_ms) { impl_->options.delete_delay_ms = delay_ms; }
std::vector<Error> LogManager::take_problems() { return std::exchange(impl_->problems, {}); }

void LogManager::job_done(const DiskJob& job, const Result<void>& result, WallTime now) {
  Impl& state = *impl_;
  switch (job.kind) {
    case JobKind::flush:
      if (Impl::Held* held = state.held(job.topic_id, job.partition)) {
        PartitionLog* log = !job.future ? held->log.get() : held->move != nullptr ? held->move->log.get() : nullptr;
        if (log == nullptr) {
          break;
        }
        if (!result) {
          log->flush_failed();
          (job.future ? held->move->to : held->directory)->health.note(result.error());
          break;
        }
        log->flushed(job, now);
        if (log->deletion_waits()) {
          state.retention_again.emplace_back(log->identity().topic, log->identity().partition);
        }
      }
      break;
    case JobKind::checkpoint:
      for (const auto& directory : state.directories) {
        for (Impl::Checkpoint* checkpoint :
             {&directory->recovery_checkpoint, &directory->watermark_checkpoint, &directory->start_checkpoint}) {
          if (!checkpoint->writing || checkpoint->job_id != job.id) {
            continue;
          }
          checkpoint->writing = false;
          if (result) {
            checkpoint->written = std::move(checkpoint->in_flight);
            continue;
          }
          directory->health.note(result.error());
          if (checkpoint == &directory->start_checkpoint) {
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
  state.give_up_failed_directories();
}

void LogManager::check_directories() { impl_->give_up_failed_directories(); }

std::vector<FailedDirectory> LogManager::take_failed() {
  return impl_->failures.empty() ? std::vector<FailedDirectory>{} : std::exchange(impl_->failures, {});
}

Uuid LogManager::directory_of(const Uuid& topic_id, PartitionIndex partition) const {
  const Impl::Held* held = impl_->held(topic_id, partition);
  return held == nullptr || held->directory->failed ? Uuid{} : held->directory->meta.directory_id;
}

void LogManager::tick(Instant instant, WallTime wall) {
  Impl& state = *impl_;
  state.go_on_with_retention(instant, wall);
  state.go_on_with_moves(wall);
  state.expire_producers(instant, wall);
  state.schedule_removals(instant);
  state.write_due_checkpoints(instant, wall);
  state.give_up_failed_directories();
}

Instant LogManager::next_deadline() const { return impl_->next_deadline(); }

Instant LogManager::Impl::next_deadline() const {
  if (retention_next || !retention_again.empty() || jobs.has_removals()) {
    return Instant{};
  }
  Instant due = std::min(retention_due, expiry_due);
  if (!removals.empty()) {
    due = std::min(due, removals.front().due);
  }
  for (const LogKey& key : moves) {
    const Held& held = logs.find(key)->second;
    const PartitionLog& to = *held.move->log;
    // Waiting for a flush to come back needs no turn.
    if (!held.move->flushed || to.log_end_offset() != held.log->log_end_offset() || !to.flush_waits()) {
      return Instant{};
    }
  }
  for (const auto& directory : directories) {
    if (directory->failed) {
      continue;
    }
    for (const Checkpoint* checkpoint :
         {&directory->recovery_checkpoint, &directory->watermark_checkpoint, &directory->start_checkpoint}) {
      due = std::min(due, checkpoint->due);
    }
    // A change that no tick has seen yet: at the next chance.
    const bool unnoticed = (jobs.changed() && (directory->recovery_checkpoint.due == kNever ||
                                               directory->watermark_checkpoint.due == kNever)) ||
                           (jobs.start_changed() && directory->start_checkpoint.due == kNever);
    if (unnoticed) {
      return Instant{};
    }
  }
  return due;
}

}  // namespace hw::log
