// SPDX-License-Identifier: Apache-2.0
// Deletion at the start of a log: DeleteRecords, retention by time and by size.
//
// The log start moves first and is remembered in a checkpoint; files are renamed to `.deleted` and unlinked by the disk pool
// after file.delete.delay.ms, so that whoever still reads from them can finish.
#include <algorithm>
#include <utility>

#include "engine/log/partition_log_impl.h"

namespace hw::log {

Result<void> PartitionLog::Impl::raise_log_start(Offset offset, event::DeletionCause cause) {
  if (offset <= log_start_) {
    return {};
  }
  const Offset before = std::exchange(log_start_, offset);
  if (epochs_.truncate_from_start(offset)) {
    HW_CHECK(write_epochs());
  }
  update_stable_offset();
  publish();
  note_change();
  if (context_.jobs != nullptr) {
    context_.jobs->note_start_change();
  }
  emit(event::LogStartMoved{context_.node, identity_.topic_id, identity_.partition, before, offset, cause});
  return {};
}

// How many segments from the front on may go.
template <class Goes>
Result<std::size_t> PartitionLog::Impl::count_deletable(std::size_t most, Goes goes) {
  std::size_t count = 0;
  while (count < segments_.size() && count < most) {
    Segment& segment = *segments_[count];
    const bool last = count + 1 == segments_.size();
    const Offset end = last ? log_end_ : segments_[count + 1]->base_offset();
    if (end > high_watermark_ || (last && segment.size() == 0)) {
      break;
    }
    HW_TRY(const bool one_more, goes(segment, end, last));
    if (!one_more) {
      break;
    }
    ++count;
  }
  return count;
}

Result<std::size_t> PartitionLog::Impl::delete_old_segments(WallTime now, std::size_t most) {
  deletion_waits_ = false;
  if (closed_) {
    return std::size_t{0};
  }
  HW_TRY(const std::size_t below, count_deletable(most, [&](Segment&, Offset end, bool last) -> Result<bool> {
           return !last && end <= log_start_;
         }));
  HW_TRY(std::size_t gone, delete_first(below, event::DeletionCause::records, now));
  if (!config_.cleanup_delete) {
    return gone;
  }
  if (config_.retention_bytes >= 0 && size_ > config_.retention_bytes && !deletion_waits_) {
    std::int64_t surplus = size_ - config_.retention_bytes;
    HW_TRY(const std::size_t count, count_deletable(most - gone, [&](Segment& segment, Offset, bool) -> Result<bool> {
             surplus -= static_cast<std::int64_t>(segment.size());
             return surplus >= 0;
           }));
    HW_TRY(const std::size_t more, delete_first(count, event::DeletionCause::retention_size, now));
    gone += more;
  }
  if (config_.retention_ms >= 0 && !deletion_waits_) {
    HW_TRY(const std::size_t count, count_deletable(most - gone, [&](Segment& segment, Offset, bool) -> Result<bool> {
             if (segment.size() == 0) {
               return true;  // a gap between others: nothing to keep
             }
             HW_TRY(const std::int64_t newest, segment.newest_ms(now));
             return now.ms - newest > config_.retention_ms;
           }));
    HW_TRY(const std::size_t more, delete_first(count, event::DeletionCause::retention_time, now));
    gone += more;
  }
  return gone;
}

Result<std::size_t> PartitionLog::Impl::delete_first(std::size_t count, event::DeletionCause cause, WallTime now) {
  if (count == 0) {
    return count;
  }
  if (count == segments_.size()) {
    HW_CHECK(roll(now));
  }
  // The successor's name must survive whatever happens: a log without any segment would begin at an old offset again.
  if (!named(*segments_[count])) {
    if (context_.jobs == nullptr) {
      HW_CHECK(flush_work()());
      names_synced();
      flushed(log_end_, now);
    } else {
      deletion_waits_ = true;
      if (names_queued_ != names_) {
        push_flush(now);
      }
    }
  }
  while (count > 0 && !named(*segments_[count])) {
    --count;
  }
  if (count == 0) {
    return count;
  }
  HW_CHECK(raise_log_start(segments_[count]->base_offset(), cause));
  for (std::size_t i = 0; i < count; ++i) {
    HW_CHECK(retire_first(cause));
  }
  publish();
  return count;
}

Result<void> PartitionLog::Impl::retire_first(event::DeletionCause cause) {
  Segment& segment = *segments_.front();
  const Offset base = segment.base_offset();
  const auto size = static_cast<std::int64_t>(segment.size());
  Removal removal;
  removal.delay_ms = config_.file_delete_delay_ms;
  HW_TRY(removal.files, segment.retire_files());
  size_ -= size;
  segments_.erase(segments_.begin());
  // What a snapshot below the first segment says cannot be completed from the log any more.
  while (snapshots_.size() > 1 && snapshots_.front() < segments_.front()->base_offset()) {
    const std::string path = path_of(segment_stem(snapshots_.front()) + ".snapshot");
    if (context_.disk->rename(path, path + ".deleted")) {
      removal.files.push_back(path + ".deleted");
    }
    snapshots_.erase(snapshots_.begin());
  }
  emit(event::SegmentDeleted{context_.node, identity_.topic_id, identity_.partition, base, cause, size});
  if (context_.jobs != nullptr) {
    context_.jobs->remove_later(std::move(removal));
    return {};
  }
  for (const std::string& file : removal.files) {
    HW_CHECK(context_.disk->remove(file));
  }
  return {};
}

}  // namespace hw::log
