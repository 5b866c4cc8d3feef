// SPDX-License-Identifier: Apache-2.0
// A reset of a group's offsets before it is done: where each partition would go, and what is read again or never.
// The choices are those of kafka-consumer-groups --reset-offsets; results stay between log start and high watermark. Pure.
#pragma once

#include <QString>
#include <cstdint>
#include <optional>
#include <vector>

#include "ui/session/admin.h"

namespace hw::ui {

struct ResetChoice {
  enum class To : std::uint8_t { earliest, latest, offset, shift, time } to = To::earliest;
  std::int64_t value = 0;  // offset; shift; milliseconds since 1970
};
struct ResetPart {
  PartitionName partition;
  std::int64_t committed = -1;  // -1: none
  std::int64_t earliest = 0;
  std::int64_t latest = 0;
  std::int64_t found = -1;      // ResetChoice::To::time: first record at or after the time; -1: none
};
struct ResetRow {
  PartitionName partition;
  std::int64_t from = -1;       // -1: none
  std::int64_t to = 0;
  std::int64_t skipped = 0;     // records that the group will not be handed any more
  std::int64_t replayed = 0;    // records that it will be handed again
  bool clamped = false;         // what was asked for lies outside of the log
  [[nodiscard]] bool changes() const { return from != to; }
};
[[nodiscard]] std::vector<ResetRow> plan_reset(const std::vector<ResetPart>& parts, const ResetChoice& choice);
// The same as a command line.
[[nodiscard]] QString reset_command(const QString& bootstrap, const QString& group, const QString& topic, const ResetChoice& choice);
// "2026-11-29 12:03", "12:03:31" (today), "15 min ago", "2 h"; nullopt: no time.
[[nodiscard]] std::optional<std::int64_t> parse_moment(const QString& text, std::int64_t now_ms);

}  // namespace hw::ui
