// SPDX-License-Identifier: Apache-2.0
// Replicas on their way to another log directory of their node (KIP-113).
//
//   move_log ─▶ an empty log `<topic>-<partition>.<id>-future` there ─▶ copied batch by batch, a piece a turn ─▶ flushed ─▶
//   takes the place of the one that served, whose directory is removed after the usual delay
//
// The one that serves goes on serving and growing meanwhile. At every moment a complete, named copy is on stable storage.
#include <algorithm>
#include <utility>

#include "engine/log/log_directory.h"
#include "engine/log/log_manager_impl.h"
#include "engine/wire/record/batch.h"

namespace hw::log {

namespace {

constexpr std::int64_t kPiece = 1 << 20;       // of one log in a turn
constexpr std::size_t kMovesPerTurn = 4;
constexpr std::int64_t kLastRecords = 10'000;  // so many may be flushed within a turn

}  // namespace

Result<void> LogManager::move_log(const std::string& topic, PartitionIndex partition, const std::string& path, WallTime now) {
  Impl& state = *impl_;
  const LogKey key{topic, partition};
  const auto it = state.logs.find(key);
  Impl::Directory* to = state.find_directory(path);
  HW_ASSERT(it != state.logs.end() && to != nullptr && !to->failed, "the log is there, the directory online");
  Impl::Held& held = it->second;
  if (held.move != nullptr && held.move->to == to) {
    return {};  // on its way there already
  }
  state.cancel_move(held);
  state.forget_move(key);
  if (held.directory == to) {
    return {};
  }
  const PartitionLog& from = *held.log;
  OpenParameters parameters;
  parameters.directory = to->file(renamed_directory(topic, partition, Uuid::random(state.prng), "-future"));
  parameters.identity = from.identity();
  parameters.config = from.config();
  parameters.log_start_offset = from.log_start_offset();
  parameters.now = now;
  parameters.seed = state.prng.next();
  auto move = std::make_unique<Impl::Move>();
  move->to = to;
  const LogContext context{&state.disk, &state.jobs, nullptr, state.options.node_id, &state.scratch, &to->health, true};
  Result<std::unique_ptr<PartitionLog>> log = PartitionLog::open(context, parameters);
  if (!log) {
    to->health.note(log.error());
    return Unexpected(std::move(log.error()));
  }
  move->log = std::move(*log);
  held.move = std::move(move);
  state.moves.push_back(key);
  return {};
}

void LogManager::Impl::cancel_move(Held& held) {
  if (held.move == nullptr) {
    return;
  }
  held.move->log->abandon();
  if (!held.move->to->failed) {
    push_removal(Removal{{}, held.move->log->directory(), 0});
  }
  held.move.reset();
}

void LogManager::Impl::forget_move(const LogKey& key) { std::erase(moves, key); }

void LogManager::Impl::go_on_with_moves(WallTime wall) {
  if (moved.empty()) {
    retired.clear();  // nobody points at them any more
  }
  const std::size_t turns = std::min(moves.size(), kMovesPerTurn);
  for (std::size_t i = 0; i < turns && !moves.empty(); ++i) {
    // The first one goes to the end: all come their turn.
    std::rotate(moves.begin(), moves.begin() + 1, moves.end());
    const LogKey key = moves.back();
    Held& held = logs.find(key)->second;
    Result<bool> done = step(held, wall);
    if (!done) {
      problems.push_back(std::move(done.error()));
      cancel_move(held);
      forget_move(key);
    } else if (*done) {
      forget_move(key);
    }
  }
}

// True: the move is done.
Result<bool> LogManager::Impl::step(Held& held, WallTime wall) {
  Move& move = *held.move;
  PartitionLog& from = *held.log;
  PartitionLog& to = *move.log;
  if (from.log_end_offset() < to.log_end_offset()) {
    HW_CHECK(to.truncate_to(from.log_end_offset()));  // a follower was cut back meanwhile
    move.flushed = false;
  }
  if (to.log_end_offset() < from.log_end_offset()) {
    const Offset at = std::max(to.log_end_offset(), from.log_start_offset());
    const ReadOutcome read = from.read({at, kPiece, true, ReadIsolation::log_end});
    if (read.error != wire::ErrorCode::none) {
      return fail(Errc::io, "cannot read " + from.directory() + " at offset " + std::to_string(at.value()));
    }
    Bytes bytes = read.records.flatten();
    const wire::BatchRead first = wire::read_batch(bytes.span());
    if (first.status != wire::BatchStatus::ok) {
      return fail(Errc::corrupt, "no whole batch in " + from.directory() + " at offset " + std::to_string(at.value()));
    }
    if (first.view.base_offset() < to.log_end_offset()) {
      // Nothing is there yet, and the log begins in the middle of a batch.
      HW_CHECK(to.truncate_fully_and_start_at(first.view.base_offset()));
    }
    const AppendOutcome appended = to.append_as_follower(std::move(bytes), wall);
    if (appended.error != wire::ErrorCode::none) {
      return fail(Errc::io, "cannot write " + to.directory() + ": " + appended.error_message);
    }
    return false;
  }
  if (!move.flushed) {
    move.flushed = true;
    to.queue_flush(wall);
    return false;
  }
  if (to.recovery_point() < to.log_end_offset()) {
    // The pool is at it, or a little came since.
    if (to.flush_waits()) {
      return false;
    }
    if (to.log_end_offset() - to.recovery_point() > kLastRecords) {
      to.queue_flush(wall);
      return false;
    }
    HW_CHECK(to.flush(wall));
  }
  HW_CHECK(swap(held));
  return true;
}

Result<void> LogManager::Impl::swap(Held& held) {
  Move& move = *held.move;
  PartitionLog& from = *held.log;
  const LogIdentity identity = from.identity();
  const LogKey key{identity.topic, identity.partition};
  const std::string target = move.to->file(partition_directory(identity.topic, identity.partition));
  const std::string future = move.log->directory();
  HW_CHECK(disk.rename(future, target));
  if (Result<void> synced = disk.sync_directory(move.to->path); !synced) {
    static_cast<void>(disk.rename(target, future));  // or a later start would take it for the log
    return synced;
  }
  // From here on the new one counts, whatever becomes of the old one.
  const std::string old = from.directory();
  from.abandon();
  move.log->take_over(from, target, events);
  std::unique_ptr<PartitionLog> before = std::exchange(held.log, std::move(move.log));
  Directory* was = std::exchange(held.directory, move.to);
  held.move.reset();
  by_id[{identity.topic_id, identity.partition}] = held.log.get();
  was->logs -= 1;
  held.directory->logs += 1;
  was->recovery_points.erase(key);
  was->high_watermarks.erase(key);
  was->log_starts.erase(key);
  was->start_checkpoint.due = Instant{};
  held.directory->start_checkpoint.due = Instant{};
  jobs.note_change();
  moved.push_back({identity.topic_id, identity.partition});
  if (events != nullptr) {
    events->emit(event::ReplicaMoved{options.node_id, identity.topic_id, identity.partition, held.directory->path});
  }
  const std::string gone = was->file(renamed_directory(identity.topic, identity.partition, Uuid::random(prng), "-delete"));
  if (Result<void> renamed = disk.rename(old, gone); renamed) {
    remove_soon(Removal{{}, gone, options.delete_delay_ms});
  } else {
    problems.push_back(std::move(renamed.error()));
  }
  retired.push_back(std::move(before));
  return {};
}

}  // namespace hw::log
