// SPDX-License-Identifier: Apache-2.0
// How much of a partition lane is drawn at a zoom: heat strip → segments → batches → records.
// Caps what a lane costs: never more primitives than pixels.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ui/geometry/offset_axis.h"

namespace hw::ui::geometry {

enum class LaneDetail : std::uint8_t { heat, segments, batches, records };

// Records from 3 pixels per offset (kHeatBelow). Batches while the mean batch (from `mean_batch` records; 0: unknown) is
// ≥ 4 pixels. Segments while `segments_visible` of them leave ≥ 6 pixels each. Otherwise heat.
[[nodiscard]] LaneDetail lane_detail(const OffsetAxis& axis, double width, double mean_batch,
                                     std::size_t segments_visible);

// What a record cell shows: nothing below 9, marks from 9, a key letter from 14 pixels.
enum class CellText : std::uint8_t { none, mark, letter };
[[nodiscard]] CellText cell_text(double pitch) noexcept;

// A run of offsets [from, to) with a weight each; ascending, not overlapping.
struct Run {
  std::int64_t from = 0;
  std::int64_t to = 0;
};

// For each pixel column of [0, width): the share (0…255) of its offsets that lies inside a run. Cost: runs + width.
[[nodiscard]] std::vector<std::uint8_t> coverage(const OffsetAxis& axis, int width, std::span<const Run> runs);

// Segment base offsets that fall into the visible range, with the one before it, as pixel spans clipped to [0, width).
struct SegmentSpan {
  std::int64_t base = 0;
  std::int64_t end = 0;  // exclusive: the next base, or the log end of the active one
  double left = 0;
  double right = 0;
  bool active = false;
};
[[nodiscard]] std::vector<SegmentSpan> visible_segments(const OffsetAxis& axis, double width,
                                                        std::span<const std::int64_t> bases, std::int64_t log_start,
                                                        std::int64_t log_end);

}  // namespace hw::ui::geometry
