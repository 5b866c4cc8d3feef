// SPDX-License-Identifier: Apache-2.0
#include "ui/geometry/lane_detail.h"

#include <algorithm>
#include <cmath>

namespace hw::ui::geometry {

LaneDetail lane_detail(const OffsetAxis& axis, double width, double mean_batch, std::size_t segments_visible) {
  if (axis.pitch() >= OffsetAxis::kHeatBelow) {
    return LaneDetail::records;
  }
  constexpr double min_batch_px = 4;
  if (mean_batch > 1 && mean_batch * axis.pitch() >= min_batch_px) {
    return LaneDetail::batches;
  }
  constexpr double min_segment_px = 6;
  if (segments_visible >= 2 && width / static_cast<double>(segments_visible) >= min_segment_px) {
    return LaneDetail::segments;
  }
  return LaneDetail::heat;
}

CellText cell_text(double pitch) noexcept {
  if (pitch >= 14) {
    return CellText::letter;
  }
  return pitch >= OffsetAxis::kRecordPitch ? CellText::mark : CellText::none;
}

std::vector<std::uint8_t> coverage(const OffsetAxis& axis, int width, std::span<const Run> runs) {
  std::vector<std::uint8_t> columns(static_cast<std::size_t>(std::max(0, width)), 0);
  if (width <= 0) {
    return columns;
  }
  std::vector<double> sums(columns.size(), 0.0);
  const auto visible = std::lower_bound(runs.begin(), runs.end(), axis.offset_at(0),
                                        [](const Run& run, std::int64_t offset) { return run.to <= offset; });
  for (auto run = visible; run != runs.end(); ++run) {
    const double left = std::max(0.0, axis.x(run->from));
    const double right = std::min(static_cast<double>(width), axis.x(run->to));
    if (left >= width) {
      break;
    }
    const double last_column = width - 1;
    const auto first = static_cast<std::size_t>(std::min(last_column, std::floor(left)));
    const auto last = static_cast<std::size_t>(std::clamp(std::ceil(right) - 1, 0.0, last_column));
    for (std::size_t column = first; column <= last && right > left; ++column) {
      const double from = std::max(left, static_cast<double>(column));
      const double to = std::min(right, static_cast<double>(column + 1));
      sums[column] += std::max(0.0, to - from);
    }
  }
  for (std::size_t column = 0; column < columns.size(); ++column) {
    columns[column] = static_cast<std::uint8_t>(std::lround(std::min(1.0, sums[column]) * 255));
  }
  return columns;
}

std::vector<SegmentSpan> visible_segments(const OffsetAxis& axis, double width, std::span<const std::int64_t> bases,
                                          std::int64_t log_start, std::int64_t log_end) {
  std::vector<SegmentSpan> spans;
  if (bases.empty() || log_end <= log_start) {
    return spans;
  }
  const std::int64_t from = std::max(log_start, axis.offset_at(0));
  auto at = std::upper_bound(bases.begin(), bases.end(), from);
  if (at != bases.begin()) {
    --at;
  }
  for (; at != bases.end(); ++at) {
    const bool active = at + 1 == bases.end();
    SegmentSpan span{std::max(*at, log_start), active ? log_end : std::min(*(at + 1), log_end), 0, 0, active};
    if (axis.x(span.base) >= width) {
      break;
    }
    if (span.end <= span.base && !active) {
      continue;
    }
    span.left = std::max(0.0, axis.x(span.base));
    span.right = std::min(width, axis.x(span.end));
    if (span.right < 0) {
      continue;
    }
    spans.push_back(span);
  }
  return spans;
}

}  // namespace hw::ui::geometry
