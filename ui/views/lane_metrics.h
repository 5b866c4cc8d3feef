// SPDX-License-Identifier: Apache-2.0
// Measures of the partition lanes, px at scale 1.0, shared by what places and what paints them.
#pragma once

#include <QString>
#include <cstddef>

#include "ui/geometry/flag_layout.h"

namespace hw::ui {

namespace lane_metrics {
inline constexpr double kTop = 4;
inline constexpr double kLabels = 160;   // left of the plot
inline constexpr double kRight = 146;    // right of it: log end, lag
inline constexpr double kHeader = 32;
inline constexpr double kRuler = 24;
inline constexpr double kFlagRow = 22;
inline constexpr double kLane = 44;
inline constexpr double kFollower = 36;
inline constexpr double kLaneGap = 4;    // above and below the cells
inline constexpr double kSegments = 30;
inline constexpr double kEpochs = 30;     // leader epochs, where there are several
inline constexpr double kGroupRow = 24;
inline constexpr double kBottom = 12;
inline constexpr double kCollapsed = 56;
inline constexpr double kCollapsedLaneTop = 10;
inline constexpr double kCollapsedLane = 20;
inline constexpr std::size_t kMaxGroups = 6;
}  // namespace lane_metrics

// "HW = LEO 1055"
[[nodiscard]] QString flag_text(const geometry::Flag& flag);
[[nodiscard]] double plate_width_of(const geometry::Flag& flag);

}  // namespace hw::ui
