// SPDX-License-Identifier: Apache-2.0
#include "engine/log/leader_epoch_cache.h"

#include <algorithm>

namespace hw::log {

void LeaderEpochCache::load(const std::vector<EpochEntry>& entries) {
  entries_.clear();
  for (const EpochEntry& entry : entries) {
    assign(entry.epoch, entry.start_offset);
  }
}

bool LeaderEpochCache::assign(LeaderEpoch epoch, Offset start) {
  if (epoch.value() < 0 || start.value() < 0) {
    return false;
  }
  if (!entries_.empty() && entries_.back().epoch == epoch) {
    // The first note of an epoch stands, unless the log was cut below it since.
    if (start >= entries_.back().start_offset) {
      return false;
    }
  }
  std::erase_if(entries_, [&](const EpochEntry& e) { return e.epoch >= epoch || e.start_offset >= start; });
  entries_.push_back({epoch, start});
  return true;
}

bool LeaderEpochCache::truncate_from_end(Offset end) {
  const std::size_t before = entries_.size();
  std::erase_if(entries_, [&](const EpochEntry& e) { return e.start_offset >= end; });
  return entries_.size() != before;
}

bool LeaderEpochCache::truncate_from_start(Offset start) {
  // The last entry that begins at or before `start` covers it.
  std::size_t covering = entries_.size();
  for (std::size_t i = 0; i < entries_.size() && entries_[i].start_offset <= start; ++i) {
    covering = i;
  }
  if (covering == entries_.size() || (covering == 0 && entries_[0].start_offset == start)) {
    return false;
  }
  entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(covering));
  entries_.front().start_offset = start;
  return true;
}

LeaderEpoch LeaderEpochCache::latest() const { return entries_.empty() ? kNoLeaderEpoch : entries_.back().epoch; }

LeaderEpoch LeaderEpochCache::epoch_of(Offset offset) const {
  const auto it = std::upper_bound(entries_.begin(), entries_.end(), offset,
                                   [](Offset at, const EpochEntry& e) { return at < e.start_offset; });
  return it == entries_.begin() ? kNoLeaderEpoch : std::prev(it)->epoch;
}

LeaderEpochCache::End LeaderEpochCache::end_offset(LeaderEpoch epoch, Offset log_end) const {
  if (entries_.empty() || epoch.value() < 0 || epoch > entries_.back().epoch) {
    return {};
  }
  if (epoch == entries_.back().epoch) {
    return {epoch, log_end};
  }
  const auto above = std::upper_bound(entries_.begin(), entries_.end(), epoch,
                                      [](LeaderEpoch asked, const EpochEntry& e) { return asked < e.epoch; });
  if (above == entries_.begin()) {
    return {epoch, above->start_offset};
  }
  return {std::prev(above)->epoch, above->start_offset};
}

}  // namespace hw::log
