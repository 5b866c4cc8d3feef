// SPDX-License-Identifier: Apache-2.0
#include "ui/geometry/flag_layout.h"

#include <algorithm>

namespace hw::ui::geometry {

std::vector<Flag> merge_marks(std::span<const MarkIn> marks) {
  std::vector<MarkIn> sorted(marks.begin(), marks.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const MarkIn& a, const MarkIn& b) {
    return a.offset != b.offset ? a.offset < b.offset : a.mark < b.mark;
  });
  std::vector<Flag> flags;
  for (const MarkIn& in : sorted) {
    if (!flags.empty() && flags.back().offset == in.offset) {
      flags.back().marks.push_back(in.mark);
      continue;
    }
    Flag flag;
    flag.marks.push_back(in.mark);
    flag.offset = in.offset;
    flag.line_x = in.x;
    flag.outside = in.outside;
    flags.push_back(std::move(flag));
  }
  return flags;
}

std::vector<int> first_fit_rows(std::span<const std::pair<double, double>> spans, double gap) {
  std::vector<int> rows(spans.size(), 0);
  std::vector<std::vector<std::pair<double, double>>> taken;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    std::size_t row = 0;
    for (;; ++row) {
      if (row == taken.size()) {
        taken.emplace_back();
      }
      const bool free = std::none_of(taken[row].begin(), taken[row].end(), [&](const auto& other) {
        return spans[i].first < other.second + gap && other.first < spans[i].second + gap;
      });
      if (free) {
        break;
      }
    }
    taken[row].push_back(spans[i]);
    rows[i] = static_cast<int>(row);
  }
  return rows;
}

void place_flags(std::vector<Flag>& flags, double total_width, double gap) {
  std::vector<std::pair<double, double>> spans;
  spans.reserve(flags.size());
  for (Flag& flag : flags) {
    const bool opens_left = flag.marks.size() == 1 && flag.marks.front() == Mark::last_stable;
    const double wanted = opens_left ? flag.line_x - flag.width : flag.line_x;
    flag.left = std::max(0.0, std::min(wanted, total_width - flag.width));
    spans.emplace_back(flag.left, flag.left + flag.width);
  }
  const std::vector<int> rows = first_fit_rows(spans, gap);
  for (std::size_t i = 0; i < flags.size(); ++i) {
    flags[i].row = rows[i];
  }
}

int flag_rows(std::span<const Flag> flags) noexcept {
  int rows = 0;
  for (const Flag& flag : flags) {
    rows = std::max(rows, flag.row + 1);
  }
  return rows;
}

}  // namespace hw::ui::geometry
