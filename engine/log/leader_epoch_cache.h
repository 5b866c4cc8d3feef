// SPDX-License-Identifier: Apache-2.0
// LeaderEpochCache: where each leader epoch of a log begins (KIP-101). Epochs and start offsets both strictly increase.
// Kept in memory; PartitionLog writes it to leader-epoch-checkpoint whenever a call says that it changed.
#pragma once

#include <vector>

#include "engine/base/ids.h"
#include "engine/log/checkpoint_file.h"

namespace hw::log {

class LeaderEpochCache {
 public:
  // Entries out of order are brought into order as assign() would.
  void load(const std::vector<EpochEntry>& entries);
  // Notes that `epoch` begins at `start`. Earlier entries that contradict it are dropped. True: something changed.
  bool assign(LeaderEpoch epoch, Offset start);
  bool truncate_from_end(Offset end);      // drops entries that begin at or behind `end`
  bool truncate_from_start(Offset start);  // the entry that covers `start` begins there from now on
  void clear() { entries_.clear(); }

  [[nodiscard]] LeaderEpoch latest() const;  // kNoLeaderEpoch where empty
  [[nodiscard]] LeaderEpoch epoch_of(Offset offset) const;
  // The largest epoch <= `epoch` and where it ends (`log_end` for the latest); both -1 above the latest or in an empty cache.
  // An epoch below the first known one comes back with the first one's start.
  struct End {
    LeaderEpoch epoch = kNoLeaderEpoch;
    Offset offset = kNoOffset;
  };
  [[nodiscard]] End end_offset(LeaderEpoch epoch, Offset log_end) const;
  [[nodiscard]] const std::vector<EpochEntry>& entries() const { return entries_; }

 private:
  std::vector<EpochEntry> entries_;
};

}  // namespace hw::log
