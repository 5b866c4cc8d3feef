// SPDX-License-Identifier: Apache-2.0
#include "ui/geometry/offset_axis.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace hw::ui::geometry {

namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

std::int64_t saturating_add(std::int64_t a, double b) noexcept {
  // 2^62: beyond it the double no longer converts safely, and no log is that long.
  constexpr double limit = 4.6e18;
  const auto delta = static_cast<std::int64_t>(std::clamp(b, -limit, limit));
  if (delta > 0 && a > kMax - delta) {
    return kMax;
  }
  if (delta < 0 && a < kMin - delta) {
    return kMin;
  }
  return a + delta;
}

// a - b as a double, without overflow of the difference.
double difference(std::int64_t a, std::int64_t b) noexcept {
  if ((b < 0 && a > kMax + b) || (b > 0 && a < kMin + b)) {
    return static_cast<double>(a) - static_cast<double>(b);
  }
  return static_cast<double>(a - b);
}

// The part of the ladder above 3 pixels; below it every step halves.
constexpr std::array<double, 9> kWhole = {3, 4, 6, 9, 14, 18, 24, 32, 40};

}  // namespace

std::int64_t nice_step(double least) noexcept {
  constexpr std::int64_t limit = std::int64_t{1} << 62;
  for (std::int64_t power = 1;; power *= 10) {
    for (const std::int64_t factor : {1, 2, 5}) {
      if (power > limit / factor) {
        return limit;
      }
      if (static_cast<double>(power * factor) >= least) {
        return power * factor;
      }
    }
    if (power > limit / 10) {
      return limit;
    }
  }
}

double ladder_pitch(double pitch, int steps) noexcept {
  // Position on the ladder: 0 is 3 pixels, positive the whole pitches, negative the halvings.
  int at = 0;
  if (pitch >= kWhole.front()) {
    double best = std::numeric_limits<double>::max();
    for (std::size_t i = 0; i < kWhole.size(); ++i) {
      const double away = std::abs(kWhole[i] - pitch);
      if (away < best) {
        best = away;
        at = static_cast<int>(i);
      }
    }
  } else {
    const double halvings = std::log2(kWhole.front() / std::max(pitch, OffsetAxis::kMinPitch));
    // Zooming out of a free pitch (from fit) must not zoom in, and the other way round.
    at = -static_cast<int>(steps > 0 ? std::ceil(halvings - 1e-9) : std::floor(halvings + 1e-9));
  }
  at += steps;
  if (at >= 0) {
    return kWhole[std::min(static_cast<std::size_t>(at), kWhole.size() - 1)];
  }
  return std::max(OffsetAxis::kMinPitch, kWhole.front() * std::exp2(at));
}

OffsetAxis::OffsetAxis(std::int64_t origin, double fraction, double pitch)
    : origin_(origin), fraction_(fraction), pitch_(std::clamp(pitch, kMinPitch, kMaxPitch)) {
  const double whole = std::floor(fraction_);
  origin_ = saturating_add(origin_, whole);
  fraction_ -= whole;
  if (!(fraction_ >= 0 && fraction_ < 1)) {
    fraction_ = 0;  // 1 - epsilon rounded up, or not a number
  }
}

OffsetAxis OffsetAxis::fit(std::int64_t from, std::int64_t to, double width) {
  const double span = std::max(1.0, difference(to, from));
  double pitch = std::min(width / span, kRecordPitch);
  if (pitch >= kHeatBelow) {
    pitch = std::floor(pitch);
  }
  return OffsetAxis(from, 0, pitch);
}

OffsetAxis OffsetAxis::ending_at(std::int64_t to, double width, double pitch) {
  const double clamped = std::clamp(pitch, kMinPitch, kMaxPitch);
  const double before = width / clamped;
  if (clamped >= kHeatBelow) {
    return OffsetAxis(saturating_add(to, -std::floor(before)), 0, clamped);  // cells stay on the pixel grid
  }
  const double whole = std::ceil(before);
  return OffsetAxis(saturating_add(to, -whole), whole - before, clamped);
}

double OffsetAxis::x(std::int64_t offset) const noexcept {
  return (difference(offset, origin_) - fraction_) * pitch_;
}

int OffsetAxis::pixel(std::int64_t offset) const noexcept {
  constexpr double limit = 1e9;
  return static_cast<int>(std::floor(std::clamp(x(offset), -limit, limit) + 0.5));
}

std::int64_t OffsetAxis::offset_at(double px) const noexcept {
  std::int64_t offset = saturating_add(origin_, std::floor(px / pitch_ + fraction_));
  // Division and multiplication round differently; one step in either direction makes it the exact inverse.
  if (offset < kMax && x(offset + 1) <= px) {
    ++offset;
  } else if (offset > kMin && x(offset) > px) {
    --offset;
  }
  return offset;
}

std::int64_t OffsetAxis::offset_at_pixel(int px) const noexcept {
  std::int64_t offset = offset_at(px + 0.5);
  if (pitch_ >= 1 && offset < kMax && pixel(offset + 1) <= px) {
    ++offset;
  } else if (pitch_ >= 1 && offset > kMin && pixel(offset) > px) {
    --offset;
  }
  return offset;
}

OffsetAxis OffsetAxis::with_pitch(double pitch, double anchor_x) const {
  const double next = std::clamp(pitch, kMinPitch, kMaxPitch);
  const std::int64_t anchor = offset_at(anchor_x);
  const double inside = (anchor_x - x(anchor)) / pitch_;  // where in the anchor's cell, [0, 1)
  const double before = anchor_x / next - inside;         // offsets between x = 0 and the anchor's left edge
  const double whole = std::ceil(before);
  OffsetAxis axis(saturating_add(anchor, -whole), whole - before, next);
  if (next >= kHeatBelow) {
    axis.fraction_ = std::floor(axis.fraction_ * next) / next;
  }
  return axis;
}

OffsetAxis OffsetAxis::zoomed(int steps, double anchor_x) const {
  return with_pitch(ladder_pitch(pitch_, steps), anchor_x);
}

OffsetAxis OffsetAxis::panned(double dx) const {
  const double moved = fraction_ - dx / pitch_;
  return OffsetAxis(origin_, moved, pitch_);
}

std::vector<OffsetAxis::Tick> OffsetAxis::ticks(double width, double min_spacing) const {
  constexpr std::size_t most = 64;
  std::vector<Tick> result;
  const std::int64_t step = nice_step(std::max(1.0, min_spacing / pitch_));
  std::int64_t first = origin_ - origin_ % step;
  if (first < origin_ && first <= kMax - step) {
    first += step;
  }
  for (std::int64_t offset = first; result.size() < most; offset += step) {
    const double at = x(offset);
    if (at > width) {
      break;
    }
    if (at >= 0) {
      result.push_back({offset, at});
    }
    if (offset > kMax - step) {
      break;
    }
  }
  return result;
}

}  // namespace hw::ui::geometry
