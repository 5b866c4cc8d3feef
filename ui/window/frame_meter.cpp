// SPDX-License-Identifier: Apache-2.0
#include "ui/window/frame_meter.h"

#include <algorithm>
#include <vector>

namespace hw::ui {

void FrameMeter::addPaint(std::int64_t ns) {
  const std::int64_t total = open_ns_ + ns;
  open_ns_ = 0;
  worst_ns_ = std::max(worst_ns_, total);
  last_[static_cast<std::size_t>(frames_) % last_.size()] = total;
  ++frames_;
}

double FrameMeter::takeWorst() {
  const double ms = static_cast<double>(worst_ns_) / 1e6;
  worst_ns_ = 0;
  return ms;
}

double FrameMeter::percentile(double p) const {
  const std::size_t n = std::min(static_cast<std::size_t>(frames_), last_.size());
  if (n == 0) {
    return 0;
  }
  std::vector<std::int64_t> sorted(last_.begin(), last_.begin() + static_cast<std::ptrdiff_t>(n));
  std::sort(sorted.begin(), sorted.end());
  const auto at = static_cast<std::size_t>(p * static_cast<double>(n - 1));
  return static_cast<double>(sorted[at]) / 1e6;
}

}  // namespace hw::ui
