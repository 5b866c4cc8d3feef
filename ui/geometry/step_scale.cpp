// SPDX-License-Identifier: Apache-2.0
#include "ui/geometry/step_scale.h"

#include <algorithm>
#include <utility>

namespace hw::ui::geometry {

StepScale::StepScale(std::vector<std::int64_t> steps, const Span& span, double last, double gap) : ms_(std::move(steps)), span_(span) {
  if (ms_.empty()) {
    return;
  }
  const double first = linear(ms_.front());
  const auto gaps = static_cast<double>(ms_.size() - 1);
  const double apart = gaps > 0 ? std::clamp((last - first) / gaps, 0.0, gap) : gap;
  x_.reserve(ms_.size());
  for (const std::int64_t ms : ms_) {
    x_.push_back(x_.empty() ? first : std::max(linear(ms), x_.back() + apart));
  }
  // What is pushed over the end pushes those before it back.
  double limit = std::max(last, first);
  for (std::size_t i = x_.size(); i-- > 0; limit = x_[i] - apart) {
    x_[i] = std::min(x_[i], limit);
    spread_ = spread_ || (i > 0 && ms_[i] == ms_[i - 1]);
  }
}

double StepScale::linear(std::int64_t ms) const {
  const auto whole = static_cast<double>(std::max<std::int64_t>(1, span_.to_ms - span_.from_ms));
  return span_.from + static_cast<double>(ms - span_.from_ms) / whole * (span_.to - span_.from);
}

double StepScale::x(std::int64_t ms) const {
  const auto next = static_cast<std::size_t>(std::lower_bound(ms_.begin(), ms_.end(), ms) - ms_.begin());
  if (next < ms_.size() && ms_[next] == ms) {
    return x_[next];
  }
  // Between its neighbours, or the ends of the scale.
  const double left = next == 0 ? span_.from : x_[next - 1];
  const double right = next == ms_.size() ? std::max(span_.to, left) : x_[next];
  const std::int64_t from = next == 0 ? std::min(span_.from_ms, ms) : ms_[next - 1];
  const std::int64_t to = next == ms_.size() ? std::max(span_.to_ms, ms) : ms_[next];
  return to <= from ? left : left + static_cast<double>(ms - from) / static_cast<double>(to - from) * (right - left);
}

}  // namespace hw::ui::geometry
