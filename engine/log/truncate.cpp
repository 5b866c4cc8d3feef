// SPDX-License-Identifier: Apache-2.0
// Cutting a log at its end, and what a flush of the rest has to sync.
#include <algorithm>
#include <utility>

#include "engine/log/partition_log_impl.h"

namespace hw::log {

Result<void> PartitionLog::Impl::remove_segments_from(std::size_t first) {
  while (segments_.size() > first) {
    Segment& last = *segments_.back();
    size_ -= static_cast<std::int64_t>(last.size());
    HW_CHECK(last.remove_files());
    emit(event::SegmentDeleted{context_.node, identity_.topic_id, identity_.partition, last.base_offset(),
                               event::DeletionCause::truncation, static_cast<std::int64_t>(last.size())});
    segments_.pop_back();
  }
  return {};
}

Result<void> PartitionLog::Impl::truncate_to(Offset offset) {
  if (offset >= log_end_) {
    // An epoch in which nothing was appended before another leader came is not to be found in the leader's log.
    if (epochs_.truncate_from_end(log_end_)) {
      HW_CHECK(write_epochs());
    }
    return {};
  }
  if (offset < segments_.front()->base_offset()) {
    return restart_at(offset);
  }
  cut_again();
  const std::size_t keep = segment_of(offset);
  HW_CHECK(remove_segments_from(keep + 1));
  Segment& last = active();
  size_ -= static_cast<std::int64_t>(last.size());
  const Result<void> cut = last.truncate_to(offset);
  size_ += static_cast<std::int64_t>(last.size());
  HW_CHECK(cut);
  log_end_ = offset;
  log_start_ = std::min(log_start_, offset);
  high_watermark_ = std::clamp(high_watermark_, log_start_, log_end_);
  recovery_point_ = std::min(recovery_point_, offset);
  flush_queued_ = std::min(flush_queued_, offset);
  if (epochs_.truncate_from_end(offset)) {
    HW_CHECK(write_epochs());
  }
  HW_CHECK(rebuild_producers(offset, wall_));
  producers_.high_watermark_moved(high_watermark_);
  update_stable_offset();
  publish();
  note_change();
  return {};
}

Result<void> PartitionLog::Impl::restart_at(Offset offset) {
  cut_again();
  HW_CHECK(remove_segments_from(0));
  size_ = 0;
  HW_CHECK(remove_snapshots_from(kNoOffset));
  producers_.clear();
  recall_before_.reset();
  producers_.set_end_offset(offset);
  epochs_.clear();
  HW_CHECK(write_epochs());
  HW_TRY(std::unique_ptr<Segment> fresh, Segment::create(*context_.disk, directory_, offset));
  segments_.push_back(std::move(fresh));
  note_names(offset);
  log_start_ = log_end_ = high_watermark_ = offset;
  recovery_point_ = std::min(recovery_point_, offset);
  flush_queued_ = std::min(flush_queued_, offset);
  emit(event::SegmentRolled{context_.node, identity_.topic_id, identity_.partition, offset});
  update_stable_offset();
  publish();
  note_change();
  return {};
}

// Files from the recovery point's segment on. Index files of the active segment are left out: recovery scans that segment and
// builds them anew.
std::function<Result<void>()> PartitionLog::Impl::flush_work(bool closing) {
  std::vector<std::shared_ptr<env::File>> files;
  const std::size_t first = segment_of(recovery_point_);
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    Segment& segment = *segments_[i];
    if ((closing || i + 1 < segments_.size()) && segment.indexes_unsynced()) {
      for (std::shared_ptr<env::File>& file : segment.open_files()) {
        files.push_back(std::move(file));
      }
    } else if (i >= first && segment.size() > 0) {
      files.push_back(segment.file());
    }
  }
  std::vector<std::string> paths;
  if (epochs_since_ != kNoOffset) {
    paths.push_back(path_of(kLeaderEpochCheckpoint));
  }
  std::string directory;
  std::string parent;
  if (names_since_ != kNoOffset) {
    paths.push_back(path_of("partition.metadata"));
    for (const Offset at : fresh_snapshots_) {
      paths.push_back(path_of(segment_stem(at) + ".snapshot"));
    }
    directory = directory_;
    parent = directory_.substr(0, directory_.find_last_of('/'));
  }
  return [disk = context_.disk, files = std::move(files), paths = std::move(paths), directory, parent]() -> Result<void> {
    for (const std::shared_ptr<env::File>& file : files) {
      HW_CHECK(file->sync());
    }
    for (const std::string& path : paths) {
      // A small file may have been replaced or removed since: then its successor is synced by the next job.
      if (auto file = disk->open(path, env::OpenMode::read); file) {
        HW_CHECK(file.value()->sync());
      }
    }
    if (!directory.empty()) {
      HW_CHECK(disk->sync_directory(directory));
      HW_CHECK(disk->sync_directory(parent));
    }
    return {};
  };
}

}  // namespace hw::log
