// SPDX-License-Identifier: Apache-2.0
// Opening a log: new, closed cleanly, or left behind by a crash.
#include <algorithm>
#include <set>
#include <utility>

#include "engine/base/trial.h"
#include "engine/log/checkpoint_file.h"
#include "engine/log/file_batch_reader.h"
#include "engine/log/log_directory.h"
#include "engine/log/partition_log_impl.h"

namespace hw::log {
namespace {

bool ends_with(std::string_view text, std::string_view tail) {
  return text.size() >= tail.size() && text.substr(text.size() - tail.size()) == tail;
}

// A compaction that was interrupted after its result was complete: the `.swap` files take the place of every segment in their
// range. Returns true where names changed.
Result<bool> finish_swaps(env::Disk& disk, const std::string& directory, const std::vector<std::string>& names) {
  bool changed = false;
  for (const std::string& name : names) {
    const std::optional<Offset> base = parse_segment_name(name, ".log.swap");
    if (!base) {
      continue;
    }
    Offset last = *base;
    {
      HW_TRY(const std::shared_ptr<env::File> file, disk.open(directory + "/" + name, env::OpenMode::read));
      FileBatchReader reader(*file, 0, file->size());
      wire::BatchView batch;
      while (reader.next(batch)) {
        last = std::max(last, batch.last_offset());
      }
    }
    for (const std::string& other : names) {
      const std::size_t dot = other.find('.');
      const std::optional<Offset> at = dot == std::string::npos ? std::nullopt : parse_segment_name(other.substr(0, dot), "");
      const bool part = ends_with(other, ".log") || ends_with(other, ".index") || ends_with(other, ".timeindex") ||
                        ends_with(other, ".txnindex");
      if (at && part && *at >= *base && *at <= last) {
        HW_CHECK(disk.remove(directory + "/" + other));
      }
    }
    for (const std::string& other : names) {
      if (ends_with(other, ".swap") && other.compare(0, 20, name, 0, 20) == 0) {
        HW_CHECK(disk.rename(directory + "/" + other, directory + "/" + other.substr(0, other.size() - 5)));
      }
    }
    changed = true;
  }
  return changed;
}

}  // namespace

Result<void> PartitionLog::Impl::open(const OpenParameters& parameters) {
  Result<std::vector<std::string>> names = context_.disk->list(directory_);
  if (names) {
    HW_CHECK(load(parameters, *names));
  } else if (names.error().code == Errc::not_found) {
    HW_CHECK(make_new(parameters));
  } else {
    return Unexpected(std::move(names.error()));
  }
  flush_queued_ = recovery_point_;
  producers_.high_watermark_moved(high_watermark_);
  update_stable_offset();
  publish();
  if (context_.jobs != nullptr && records_due()) {
    // After an unclean stop, under flush.messages: what is here is read and acknowledged again as soon as the log is led.
    HW_CHECK(flush_work()());
    names_synced();
    flushed(log_end_, parameters.now);
    flush_queued_ = recovery_point_;
  }
  return {};
}

Result<void> PartitionLog::Impl::make_new(const OpenParameters& parameters) {
  HW_CHECK(context_.disk->make_directories(directory_));
  HW_CHECK(check_identity(parameters, false));
  HW_TRY(std::unique_ptr<Segment> segment, Segment::create(*context_.disk, directory_, parameters.log_start_offset));
  segments_.push_back(std::move(segment));
  log_start_ = log_end_ = high_watermark_ = recovery_point_ = parameters.log_start_offset;
  producers_.set_end_offset(log_end_);
  note_names(log_end_);
  emit(event::ReplicaOpened{context_.node, identity_.topic_id, identity_.partition, counters_});
  emit(event::SegmentRolled{context_.node, identity_.topic_id, identity_.partition, log_end_});
  return {};
}

Result<void> PartitionLog::Impl::check_identity(const OpenParameters& parameters, bool present) {
  if (parameters.identity_known || identity_.topic_id.is_zero()) {
    return {};
  }
  const std::string path = path_of(kPartitionMetadata);
  if (present) {
    HW_TRY(const Bytes bytes, context_.disk->read_whole(path, 4096));
    const Result<Uuid> id = parse_partition_metadata(bytes.text());
    if (id) {
      if (*id == identity_.topic_id) {
        return {};
      }
      return fail(Errc::invalid, directory_ + " belongs to topic id " + id->text() + ", not to " +
                                     identity_.topic_id.text());
    }
    if (id.error().code == Errc::unsupported) {
      return Unexpected(Error(id.error()));
    }
    // Cut off by a crash before it was synced: the caller knows the id.
  }
  HW_TRY(const std::shared_ptr<env::File> file, context_.disk->open(path, env::OpenMode::create_or_open));
  HW_CHECK(file->truncate(0));
  const std::string text = format_partition_metadata(identity_.topic_id);
  const ByteSpan piece = as_bytes(text);
  note_names(log_end_);
  return file->append({&piece, 1});
}

Result<void> PartitionLog::Impl::load(const OpenParameters& parameters, const std::vector<std::string>& found) {
  env::Disk& disk = *context_.disk;
  std::vector<std::string> names = found;
  HW_TRY(const bool swapped, finish_swaps(disk, directory_, names));
  if (swapped) {
    HW_TRY(names, disk.list(directory_));
  }
  const std::set<std::string> there(names.begin(), names.end());
  std::vector<Offset> bases;
  for (const std::string& name : names) {
    if (const std::optional<Offset> base = parse_segment_name(name, ".log")) {
      bases.push_back(*base);
    } else if (const std::optional<Offset> at = parse_segment_name(name, ".snapshot")) {
      snapshots_.push_back(*at);
    } else if (ends_with(name, ".deleted") || ends_with(name, ".cleaned") || ends_with(name, ".tmp")) {
      HW_CHECK(disk.remove(path_of(name)));
    } else if (ends_with(name, ".index") || ends_with(name, ".timeindex") || ends_with(name, ".txnindex")) {
      if (there.count(name.substr(0, name.find('.')) + ".log") == 0) {
        HW_CHECK(disk.remove(path_of(name)));  // its log is gone
      }
    }
  }
  HW_CHECK(check_identity(parameters, there.count(kPartitionMetadata) != 0));
  std::size_t scan_from = bases.size();  // first segment whose batches have to be read
  for (const Offset base : bases) {
    HW_TRY(std::unique_ptr<Segment> segment, Segment::open(disk, directory_, base));
    const std::string stem = segment_stem(base);
    const auto torn = [&](const std::string& name, std::uint64_t entry) {
      return there.count(name) != 0 && disk.file_size(path_of(name)).value_or(0) % entry != 0;
    };
    if (segment->size() > 0 &&
        (there.count(stem + ".index") == 0 ||
         (!parameters.clean && (torn(stem + ".index", 8) || torn(stem + ".timeindex", 12))))) {
      scan_from = std::min(scan_from, segments_.size());
    }
    segments_.push_back(std::move(segment));
  }
  recovery_point_ = parameters.recovery_point;
  if (segments_.empty()) {
    HW_TRY(std::unique_ptr<Segment> segment, Segment::create(disk, directory_, parameters.log_start_offset));
    segments_.push_back(std::move(segment));
    note_names(log_end_);
    recovery_point_ = std::min(recovery_point_, parameters.log_start_offset);
    scan_from = 1;
  }
  log_start_ = std::max(parameters.log_start_offset, segments_.front()->base_offset());
  if (there.count(kLeaderEpochCheckpoint) != 0) {
    HW_TRY(const Bytes bytes, disk.read_whole(path_of(kLeaderEpochCheckpoint)));
    Result<std::vector<EpochEntry>> epochs = parse_epochs(bytes.text());
    if (epochs) {
      epochs_.load(*epochs);
    } else if (epochs.error().code == Errc::unsupported) {
      return Unexpected(std::move(epochs.error()));
    } else {
      scan_from = 0;  // the batches say it as well
    }
  }
  if (!parameters.clean && !epochs_.entries().empty() && epochs_.entries().front().start_offset > log_start_) {
    // The log start had gone on, and the epochs with it; its checkpoint is older. What lies between is here again, and without its epochs a
    // follower that has other records there would never be told where to cut.
    epochs_.clear();
    scan_from = std::min(scan_from, segment_of(log_start_));
  }
  if (!parameters.clean) {
    scan_from = std::min(scan_from, segment_of(std::max(recovery_point_, segments_.front()->base_offset())));
    // A segment that was rolled exactly at the recovery point: its records are safe, its indexes may not be.
    if (scan_from > 0 && scan_from < segments_.size() && segments_[scan_from]->base_offset() >= recovery_point_) {
      HW_TRY(const bool sound, segments_[scan_from - 1]->indexes_sound());
      segments_[scan_from - 1]->set_indexes_unsynced(true);
      scan_from = sound ? scan_from : scan_from - 1;
    }
  }
  emit(event::ReplicaOpened{context_.node, identity_.topic_id, identity_.partition, counters_});
  for (const auto& segment : segments_) {
    size_ += static_cast<std::int64_t>(segment->size());
  }
  if (scan_from >= segments_.size()) {
    const Result<Offset> next = active().read_next_offset();
    if (next) {
      log_end_ = *next;
      HW_CHECK(rebuild_producers(log_end_, parameters.now));
    } else if (next.error().code == Errc::corrupt) {
      scan_from = segments_.size() - 1;
    } else {
      return Unexpected(Error(next.error()));
    }
  }
  const std::vector<EpochEntry> epochs_before = epochs_.entries();
  if (scan_from < segments_.size()) {
    HW_CHECK(recover_from(scan_from, parameters));
  }
  for (const auto& segment : segments_) {
    emit(event::SegmentRolled{context_.node, identity_.topic_id, identity_.partition, segment->base_offset()});
  }
  if (log_end_ < log_start_) {
    // Everything that was kept is below the log's start.
    HW_CHECK(restart_at(log_start_));
  }
  recovery_point_ = std::min(std::max(recovery_point_, log_start_), log_end_);
  high_watermark_ = std::clamp(parameters.high_watermark, log_start_, log_end_);
  epochs_.truncate_from_end(log_end_);
  epochs_.truncate_from_start(log_start_);
  if (epochs_.entries() != epochs_before) {
    HW_CHECK(write_epochs());  // made durable with the next flush: a sync per log would be seconds of every start
  }
  // Only the newest snapshot, and those that lie at segment borders, are of use later.
  std::vector<Offset> kept;
  for (std::size_t i = 0; i < snapshots_.size(); ++i) {
    const Offset at = snapshots_[i];
    const bool border = segments_[segment_of(at)]->base_offset() == at;
    if (border || i + 1 == snapshots_.size()) {
      kept.push_back(at);
    } else {
      HW_CHECK(disk.remove(path_of(segment_stem(at) + ".snapshot")));
    }
  }
  snapshots_ = std::move(kept);
  active_created_ = parameters.now;
  return {};
}

Result<void> PartitionLog::Impl::rebuild_producers(Offset end, WallTime now) {
  constexpr std::int64_t kAtWorkMs = 180'000;  // longer than a producer tries to deliver a record (delivery.timeout.ms)
  producers_.clear();
  recall_before_.reset();
  HW_CHECK(remove_snapshots_from(end));
  Offset from = segments_.front()->base_offset();
  while (!snapshots_.empty()) {
    const Offset at = snapshots_.back();
    const std::string path = path_of(segment_stem(at) + ".snapshot");
    if (at < segments_.front()->base_offset()) {
      // The batches between it and the first segment are gone: it would know producers by sequences long passed.
      HW_CHECK(remove_snapshots_from(kNoOffset));
      break;
    }
    Result<Bytes> bytes = context_.disk->read_whole(path);
    if (bytes && producers_.load_snapshot(bytes->span(), at, now, config_.producer_id_expiration_ms)) {
      from = at;
      if (producers_.active_since(now.ms - kAtWorkMs)) {
        recall_before_ = at;
      }
      break;
    }
    if (!bytes && bytes.error().code == Errc::io) {
      return Unexpected(std::move(bytes.error()));
    }
    HW_CHECK(context_.disk->remove(path));  // torn by a crash: an earlier one and more of the log do as well
    snapshots_.pop_back();
  }
  producers_.set_end_offset(from);
  for (std::size_t i = segment_of(from); from < end && i < segments_.size() && segments_[i]->base_offset() < end; ++i) {
    HW_CHECK(segments_[i]->for_each_batch(from, [&](const wire::BatchView& batch) -> Result<void> {
      if (batch.base_offset() >= from && batch.base_offset() < end) {
        producers_.update(batch);
      }
      return {};
    }));
  }
  producers_.set_end_offset(end);
  return {};
}

Result<void> PartitionLog::Impl::recall_batches() {
  constexpr std::uint32_t kBytes = 4U << 20U;
  const Offset at = *std::exchange(recall_before_, std::nullopt);
  if (at <= segments_.front()->base_offset()) {
    return {};
  }
  const std::size_t last = segment_of(at - 1);
  std::size_t first = last;
  std::uint32_t left = kBytes;
  while (first > 0 && segments_[first]->size() < left) {
    left -= static_cast<std::uint32_t>(segments_[first]->size());
    --first;
  }
  ProducerState seen;
  for (std::size_t i = first; i <= last; ++i) {
    const Offset end = i == last ? at : segments_[i + 1]->base_offset();
    HW_CHECK(segments_[i]->for_each_batch_before(end, i == first ? left : kBytes, [&](const wire::BatchView& batch) {
      static_cast<void>(seen.update(batch));
    }));
  }
  producers_.recall(seen);
  return {};
}

Result<void> PartitionLog::Impl::recover_from(std::size_t first, const OpenParameters& parameters) {
  HW_CHECK(rebuild_producers(segments_[first]->base_offset(), parameters.now));
  std::int64_t cut = 0;
  Offset expected = segments_[first]->base_offset();
  for (std::size_t i = first; i < segments_.size(); ++i) {
    Segment& segment = *segments_[i];
    HW_TRY(const Segment::Recovered recovered,
           segment.recover(expected, config_.index_interval_bytes, [&](const wire::BatchView& batch) -> Result<bool> {
             if (batch.leader_epoch().value() >= 0 && batch.leader_epoch() > epochs_.latest()) {
               epochs_.assign(batch.leader_epoch(), batch.base_offset());
             }
             if (const std::optional<AbortedTxnEntry> aborted = producers_.update(batch)) {
               HW_CHECK(segment.transaction_index().append(*aborted));
             }
             return true;
           }));
    expected = std::max(recovered.next_offset, segment.base_offset());
    log_end_ = expected;
    if (recovered.cut_bytes > 0) {
      if (trial::has_bug(trial::Canary::refuses_torn_tail)) {
        return fail(Errc::corrupt, directory_ + " ends in part of a batch");
      }
      cut += static_cast<std::int64_t>(recovered.cut_bytes);
      size_ -= static_cast<std::int64_t>(recovered.cut_bytes);
      const std::int64_t before = size_;
      HW_CHECK(remove_segments_from(i + 1));
      cut += before - size_;
      break;
    }
    // Where nothing was compacted, one segment begins where the one before ends. A power cut may take the end of a segment, or all of it, and
    // leave the next one.
    const bool compacted = config_.cleanup_compact && segment.base_offset() < parameters.cleaned_below;
    if (i + 1 < segments_.size() && segments_[i + 1]->base_offset() > log_end_ && log_end_ >= recovery_point_ && !compacted) {
      const std::int64_t before = size_;
      HW_CHECK(remove_segments_from(i + 1));
      cut += std::max(before - size_, std::int64_t{1});  // told also where the rest was empty
      break;
    }
    if (i + 1 < segments_.size()) {
      HW_CHECK(segment.seal(log_end_));
      segment.become_inactive();
      // At once: this segment may lie below a recovery point, and then nobody would look at its indexes again.
      for (const std::shared_ptr<env::File>& file : segment.open_files()) {
        HW_CHECK(file->sync());
      }
      segment.set_indexes_unsynced(false);
      // The snapshots of before the crash may know of batches that are gone.
      HW_CHECK(write_snapshot(segments_[i + 1]->base_offset()));
    }
  }
  producers_.set_end_offset(log_end_);
  HW_CHECK(remove_snapshots_from(log_end_));
  if (cut > 0) {
    trial::mark(trial::Mark::tail_cut_at_recovery);
    emit(event::LogRecovered{context_.node, identity_.topic_id, identity_.partition, log_end_, cut});
  }
  return {};
}

}  // namespace hw::log
