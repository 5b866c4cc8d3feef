// SPDX-License-Identifier: Apache-2.0
#include "engine/api/metadata_log.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace hw::api {

namespace {

constexpr std::size_t kOffsetDigits = 20;
constexpr std::size_t kEpochDigits = 10;
constexpr std::string_view kSuffix = ".checkpoint";
constexpr std::string_view kPartSuffix = ".part";

std::string padded(std::int64_t number, std::size_t digits) {
  std::string text = std::to_string(number);
  return text.size() < digits ? std::string(digits - text.size(), '0') + text : text;
}

std::optional<std::int64_t> digits_of(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() && number >= 0 ? std::optional(number) : std::nullopt;
}

}  // namespace

std::string snapshot_name(const raft::SnapshotId& id) {
  return padded(id.end_offset.value(), kOffsetDigits) + "-" + padded(id.epoch.value(), kEpochDigits) + std::string(kSuffix);
}

std::optional<raft::SnapshotId> parse_snapshot_name(std::string_view name) {
  if (name.size() != kOffsetDigits + 1 + kEpochDigits + kSuffix.size() || !name.ends_with(kSuffix) ||
      name[kOffsetDigits] != '-') {
    return std::nullopt;
  }
  const std::optional<std::int64_t> end = digits_of(name.substr(0, kOffsetDigits));
  const std::optional<std::int64_t> epoch = digits_of(name.substr(kOffsetDigits + 1, kEpochDigits));
  if (!end || !epoch || *epoch > std::numeric_limits<std::int32_t>::max()) {
    return std::nullopt;
  }
  return raft::SnapshotId{Offset(*end), LeaderEpoch(static_cast<std::int32_t>(*epoch))};
}

Result<std::unique_ptr<MetadataLog>> MetadataLog::open(env::Disk& disk, log::PartitionLog& log) {
  std::unique_ptr<MetadataLog> self(new MetadataLog(disk, log));
  HW_TRY(const std::vector<std::string> names, disk.list(log.directory()));
  for (const std::string& name : names) {
    if (const std::optional<raft::SnapshotId> id = parse_snapshot_name(name)) {
      self->snapshots_.push_back(*id);
    } else if (name.ends_with(std::string(kSuffix) + std::string(kPartSuffix))) {
      HW_CHECK(disk.remove(log.directory() + "/" + name));
    }
  }
  std::sort(self->snapshots_.begin(), self->snapshots_.end());
  if (!self->snapshots_.empty() && self->snapshots_.back().end_offset > log.log_end_offset()) {
    HW_CHECK(log.truncate_fully_and_start_at(self->snapshots_.back().end_offset));
  }
  return self;
}

std::string MetadataLog::path_of(const raft::SnapshotId& id) const { return log_.directory() + "/" + snapshot_name(id); }

Offset MetadataLog::durable_offset() const {
  // An empty log behind a snapshot has nothing to lose.
  return log_.log_end_offset() == log_.log_start_offset() ? log_.log_end_offset() : log_.recovery_point();
}

std::optional<LeaderEpoch> MetadataLog::epoch_of_start() const {
  const Offset start = log_.log_start_offset();
  for (const raft::SnapshotId& id : snapshots_) {
    if (id.end_offset == start) {
      return id.epoch;
    }
  }
  return std::nullopt;
}

LeaderEpoch MetadataLog::last_epoch() const {
  const LeaderEpoch latest = log_.latest_epoch();
  return latest != kNoLeaderEpoch ? latest : epoch_of_start().value_or(LeaderEpoch(0));
}

raft::EpochEnd MetadataLog::end_offset_for_epoch(LeaderEpoch epoch) const {
  const log::EpochEndOffset known = log_.end_offset_for_epoch(epoch);
  if (known.epoch == kNoLeaderEpoch) {
    return epoch < last_epoch() ? raft::EpochEnd{epoch, start_offset()} : raft::EpochEnd{last_epoch(), end_offset()};
  }
  if (known.end_offset == start_offset()) {
    const std::optional<LeaderEpoch> before = epoch_of_start();
    return {before && *before <= epoch ? *before : epoch, start_offset()};
  }
  return {known.epoch, known.end_offset};
}

Result<BytesChain> MetadataLog::read(Offset from, std::int32_t max_bytes) const {
  log::ReadOutcome outcome = log_.read({from, max_bytes, true, log::ReadIsolation::log_end});
  if (outcome.error != wire::ErrorCode::none) {
    return fail(Errc::corrupt, "cannot read " + log_.directory() + " at offset " + std::to_string(from.value()) + ": " +
                                   std::string(wire::error_name(outcome.error)));
  }
  return std::move(outcome.records);
}

Result<void> MetadataLog::append_as_leader(Bytes batch, LeaderEpoch epoch, WallTime wall) {
  wall_ = wall;
  log::AppendRequest append;
  append.records = std::move(batch);
  append.leader_epoch = epoch;
  append.origin = log::AppendOrigin::raft;
  append.now = wall;
  const log::AppendOutcome outcome = log_.append_as_leader(std::move(append));
  if (outcome.error != wire::ErrorCode::none) {
    return fail(Errc::io, outcome.error_message.empty() ? std::string(wire::error_name(outcome.error)) : outcome.error_message);
  }
  return {};
}

Result<void> MetadataLog::append_as_follower(Bytes batches, WallTime wall) {
  wall_ = wall;
  const log::AppendOutcome outcome = log_.append_as_follower(std::move(batches), wall);
  if (outcome.error != wire::ErrorCode::none) {
    return fail(Errc::io, outcome.error_message.empty() ? std::string(wire::error_name(outcome.error)) : outcome.error_message);
  }
  return {};
}

Result<void> MetadataLog::truncate_to(Offset offset) { return log_.truncate_to(offset); }

// ---------------------------------------------------------------- snapshots

std::int64_t MetadataLog::size_bytes() const {
  std::int64_t size = log_.size_bytes();
  for (const raft::SnapshotId& id : snapshots_) {
    if (const Result<std::uint64_t> bytes = disk_.file_size(path_of(id))) {
      size += static_cast<std::int64_t>(*bytes);
    }
  }
  return size;
}

Result<std::uint64_t> MetadataLog::snapshot_size(const raft::SnapshotId& id) const {
  if (!std::binary_search(snapshots_.begin(), snapshots_.end(), id)) {
    return fail(Errc::not_found, "there is no snapshot " + snapshot_name(id));
  }
  return disk_.file_size(path_of(id));
}

Result<Bytes> MetadataLog::read_snapshot(const raft::SnapshotId& id, std::uint64_t position, std::int32_t max_bytes) const {
  HW_TRY(const std::uint64_t size, snapshot_size(id));
  if (position > size) {
    return fail(Errc::not_found, snapshot_name(id) + " is not that long");
  }
  HW_TRY(const std::shared_ptr<env::File> file, disk_.open(path_of(id), env::OpenMode::read));
  ByteBuilder piece(std::min<std::uint64_t>(size - position, static_cast<std::uint64_t>(std::max(max_bytes, 0))));
  const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(size - position, static_cast<std::uint64_t>(std::max(max_bytes, 0))));
  if (wanted == 0) {
    return Bytes{};
  }
  std::byte* at = piece.extend(wanted);
  const std::ptrdiff_t read = file->read_at(position, {at, wanted});
  if (read != static_cast<std::ptrdiff_t>(wanted)) {
    return fail(Errc::io, "cannot read " + path_of(id));
  }
  return piece.finish();
}

Result<void> MetadataLog::create_snapshot(const raft::SnapshotId& id) {
  parts_.clear();  // one at a time
  const std::string path = path_of(id) + std::string(kPartSuffix);
  if (disk_.exists(path)) {
    HW_CHECK(disk_.remove(path));
  }
  HW_TRY(parts_[id], disk_.open(path, env::OpenMode::create_new));
  return {};
}

Result<void> MetadataLog::append_snapshot(const raft::SnapshotId& id, Bytes piece) {
  const auto it = parts_.find(id);
  if (it == parts_.end()) {
    return fail(Errc::not_found, snapshot_name(id) + " is not being written");
  }
  const std::array<ByteSpan, 1> pieces{piece.span()};
  return it->second->append(pieces);
}

Result<void> MetadataLog::freeze_snapshot(const raft::SnapshotId& id) {
  const auto it = parts_.find(id);
  if (it == parts_.end()) {
    return fail(Errc::not_found, snapshot_name(id) + " is not being written");
  }
  HW_CHECK(it->second->sync());
  parts_.erase(it);
  HW_CHECK(disk_.rename(path_of(id) + std::string(kPartSuffix), path_of(id)));
  HW_CHECK(disk_.sync_directory(log_.directory()));
  const auto place = std::lower_bound(snapshots_.begin(), snapshots_.end(), id);
  if (place == snapshots_.end() || *place != id) {
    snapshots_.insert(place, id);
  }
  tell_stored(id);
  return {};
}

Result<void> MetadataLog::truncate_fully_and_start_at(const raft::SnapshotId& id) {
  HW_CHECK(log_.truncate_fully_and_start_at(id.end_offset));
  return delete_before(id);
}

Result<void> MetadataLog::delete_before(const raft::SnapshotId& id) {
  HW_CHECK(log_.advance_log_start_offset(id.end_offset));
  constexpr std::size_t kMostSegments = 1024;
  HW_TRY([[maybe_unused]] const std::size_t gone, log_.delete_old_segments(wall_, kMostSegments));
  while (!snapshots_.empty() && snapshots_.front() < id) {
    HW_CHECK(disk_.remove(path_of(snapshots_.front())));
    if (events_ != nullptr) {
      events_->emit(event::SnapshotDeleted{node_, snapshots_.front().end_offset, snapshots_.front().epoch});
    }
    snapshots_.erase(snapshots_.begin());
  }
  return {};
}

void MetadataLog::watch(BrokerId node, event::EventSink* events) {
  node_ = node;
  events_ = events;
  for (const raft::SnapshotId& id : snapshots_) {
    tell_stored(id);
  }
}

void MetadataLog::tell_stored(const raft::SnapshotId& id) const {
  if (events_ != nullptr) {
    const Result<std::uint64_t> size = snapshot_size(id);
    events_->emit(event::SnapshotStored{node_, id.end_offset, id.epoch, size ? static_cast<std::int64_t>(*size) : 0});
  }
}

}  // namespace hw::api
