// SPDX-License-Identifier: Apache-2.0
// What a change of configurations will cause at once, computed from the segments that are there.
//
// The rules are Kafka's: only with cleanup.policy delete; oldest segment first; by time where the newest record of a segment is
// older than retention.ms; by size while the log without the segment still has at least retention.bytes; only below the high
// watermark. The active segment goes by time as well, after a new one began. Pure; no clock.
#pragma once

#include <QStringList>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ui/session/admin.h"

namespace hw::ui {

struct RetentionSettings {
  bool deletes = true;               // cleanup.policy contains delete
  std::int64_t retention_ms = -1;    // -1: without end
  std::int64_t retention_bytes = -1;
};
struct Deletable {
  std::int64_t segments = 0;
  std::int64_t bytes = 0;
  std::int64_t offsets = 0;
  std::int32_t partitions = 0;       // in which something goes
  friend bool operator==(const Deletable&, const Deletable&) = default;
};
[[nodiscard]] RetentionSettings retention_settings(const std::string& policy, const std::string& retention_ms,
                                                   const std::string& retention_bytes);
[[nodiscard]] Deletable deletable(const std::vector<PartitionSegments>& partitions, const RetentionSettings& settings,
                                  std::int64_t now_ms);

// One sentence for each staged change: what it will do now. `before` and `after` are effective values by key.
struct ChangeEffect {
  QString key;
  QString from;
  QString to;
  QString effect;      // never empty
  bool harmful = false;  // records go, or writes will be refused
};
[[nodiscard]] std::vector<ChangeEffect> change_effects(const std::map<std::string, std::string>& before,
                                                       const std::map<std::string, std::string>& after,
                                                       const std::vector<ConfigChange>& changes,
                                                       const std::vector<PartitionSegments>& partitions,
                                                       std::size_t replicas, std::int64_t now_ms);

}  // namespace hw::ui
