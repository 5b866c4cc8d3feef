// SPDX-License-Identifier: Apache-2.0
// Where the plates of the watermarks go: log start, LSO, high watermark, log end.
//
// Marks on the same offset share one plate; a plate opens to the right of its line (LSO to the left); plates that would
// overlap move to the next row. Everything stays inside [0, width].
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace hw::ui::geometry {

enum class Mark : std::uint8_t { log_start, last_stable, high_watermark, log_end };

struct MarkIn {
  Mark mark = Mark::log_start;
  std::int64_t offset = 0;
  double x = 0;  // of the line
  int outside = 0;
};

struct Flag {
  std::vector<Mark> marks;  // in the order of Mark; the last one gives the colour of the border
  std::int64_t offset = 0;
  double line_x = 0;
  int outside = 0;  // -1: left of the plot, +1: right of it; then there is no line, only the plate at that edge
  double left = 0;
  double width = 0;
  int row = 0;
};

// Groups marks at one offset. `marks` need no order. The log start joins others only where the log is empty.
[[nodiscard]] std::vector<Flag> merge_marks(std::span<const MarkIn> marks);
// Places flags whose `width` is set. Rows are filled from 0; at most 4 are needed.
void place_flags(std::vector<Flag>& flags, double total_width, double gap);
[[nodiscard]] int flag_rows(std::span<const Flag> flags) noexcept;

// Row for each of several labels given as [left, right), first fit; used for pins and brackets too.
[[nodiscard]] std::vector<int> first_fit_rows(std::span<const std::pair<double, double>> spans, double gap);

}  // namespace hw::ui::geometry
