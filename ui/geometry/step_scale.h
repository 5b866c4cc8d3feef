// SPDX-License-Identifier: Apache-2.0
// StepScale: times along x, for steps that may all fall into one millisecond. Each stands where its time is, and at least a gap behind
// the one before it, so that their order can be seen; times between them are mapped in between.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hw::ui::geometry {

class StepScale {
 public:
  struct Span {
    double from = 0;  // x of `from_ms`
    double to = 0;    // x of `to_ms`
    std::int64_t from_ms = 0;
    std::int64_t to_ms = 1;
  };

  // `steps`: their times, in the order in which they happened, none before the one before it. Where `gap` has no room up to `last`,
  // the largest x of a step, it is smaller.
  StepScale(std::vector<std::int64_t> steps, const Span& span, double last, double gap);

  // x of a step. REQUIRES: index < steps.size().
  [[nodiscard]] double at(std::size_t step) const { return x_[step]; }

  [[nodiscard]] std::size_t size() const { return x_.size(); }

  // x of any time: of the first step of that time, or between those around it.
  [[nodiscard]] double x(std::int64_t ms) const;

  // Whether steps stand apart although they are of one time.
  [[nodiscard]] bool spread() const { return spread_; }

 private:
  [[nodiscard]] double linear(std::int64_t ms) const;

  std::vector<std::int64_t> ms_;
  std::vector<double> x_;
  Span span_;
  bool spread_ = false;
};

}  // namespace hw::ui::geometry
