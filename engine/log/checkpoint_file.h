// SPDX-License-Identifier: Apache-2.0
// Kafka's text checkpoints: a version line, a count line, then one entry a line, '\n' at the end of each.
//
//   <log dir>/recovery-point-offset-checkpoint, replication-offset-checkpoint, log-start-offset-checkpoint,
//   cleaner-offset-checkpoint                      "<topic> <partition> <offset>"
//   <partition dir>/leader-epoch-checkpoint        "<epoch> <start offset>"
//
// Parsing is strict; an empty file is an empty checkpoint (Kafka makes such files before it first writes them).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/ids.h"
#include "engine/base/result.h"

namespace hw::log {

inline constexpr const char* kRecoveryPointCheckpoint = "recovery-point-offset-checkpoint";
inline constexpr const char* kHighWatermarkCheckpoint = "replication-offset-checkpoint";
inline constexpr const char* kLogStartCheckpoint = "log-start-offset-checkpoint";
inline constexpr const char* kCleanerCheckpoint = "cleaner-offset-checkpoint";
inline constexpr const char* kLeaderEpochCheckpoint = "leader-epoch-checkpoint";

using OffsetCheckpoint = std::map<std::pair<std::string, PartitionIndex>, Offset>;

struct EpochEntry {
  LeaderEpoch epoch;
  Offset start_offset;
  friend bool operator==(const EpochEntry&, const EpochEntry&) = default;
};

[[nodiscard]] std::string format_offsets(const OffsetCheckpoint& offsets);
[[nodiscard]] Result<OffsetCheckpoint> parse_offsets(std::string_view text);
[[nodiscard]] std::string format_epochs(const std::vector<EpochEntry>& entries);
[[nodiscard]] Result<std::vector<EpochEntry>> parse_epochs(std::string_view text);

}  // namespace hw::log
