// SPDX-License-Identifier: Apache-2.0
// Lag: how far a group is behind on a partition, in offsets and in records, and what its movement says.
//
// Offsets: high watermark minus committed offset, what every Kafka tool shows. Records: what the group will really be handed:
// what retention or DeleteRecords took below the log start does not count. In a compacted topic it is an upper bound.
// The status, in this order, over a window of a minute; commits come in steps, so one moment proves nothing:
//   everything was read within half the window → ok · the position went back → rewound · no commit for longer than the window, or
//   nobody there → stopped · the position does not move → stalled · never more than 10 s behind, or more is handled than arrives → ok ·
//   else → slow. Out of slow leads less than 5 s behind, or a tenth more handled than arrives: a verdict does not flicker.
// Pure; no clock.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "engine/observe/cluster_view.h"
#include "ui/theme/glyphs.h"

namespace hw::ui {

struct PartitionLag {
  bool known = false;         // the group has committed and the partition is there
  std::int64_t offsets = 0;
  std::int64_t records = 0;
  bool at_most = false;       // `records` is an upper bound: the topic is compacted
  std::int64_t lost = 0;      // offsets between the committed one and the log start: nobody will read them any more
  std::int64_t end = 0;       // high watermark
};
[[nodiscard]] PartitionLag partition_lag(const observe::TopicView& topic, PartitionIndex partition, std::int64_t committed);

enum class LagStatus : std::uint8_t { ok, measuring, slow, stalled, stopped, rewound };
[[nodiscard]] int severity(LagStatus status);   // larger is worse
// A group that stopped because nobody is there any more stands still on purpose, as far as anybody can tell: no fault.
[[nodiscard]] Glyph glyph_of(LagStatus status, bool has_members);
[[nodiscard]] QString status_word(LagStatus status);
[[nodiscard]] QString status_rule(LagStatus status);  // why it is called so, one sentence

class LagWindow {
 public:
  static constexpr std::size_t kSamples = 12;
  static constexpr std::int64_t kStepMs = 5'000;  // between two samples
  static constexpr std::int64_t kWindowMs = static_cast<std::int64_t>(kSamples) * kStepMs;

  struct Sample {
    std::int64_t at_ms = 0;
    std::int64_t committed = 0;
    std::int64_t end = 0;
  };
  // Takes the sample where the last one is a step old.
  bool add(const Sample& sample);
  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] const Sample& at(std::size_t i) const { return samples_[(first_ + i) % kSamples]; }

  // `now` is what is true this moment (not yet a sample). `committed_at_ms` 0: not known. `before`: what was judged last.
  [[nodiscard]] LagStatus judge(const Sample& now, std::int64_t committed_at_ms, bool has_members, LagStatus before = LagStatus::measuring) const;
  // Records per second over the window; negative: not known. What is handled is measured from one commit to another.
  [[nodiscard]] double arriving(const Sample& now) const;
  [[nodiscard]] double handled(const Sample& now) const;
  // How long ago the end of the log was where the group is now; -1: longer than the window knows; 0 without lag.
  [[nodiscard]] std::int64_t behindMs(const Sample& now) const;

 private:
  std::array<Sample, kSamples> samples_{};
  std::size_t first_ = 0;
  std::size_t count_ = 0;
};

}  // namespace hw::ui
