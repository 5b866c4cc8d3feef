// SPDX-License-Identifier: Apache-2.0
#include "engine/quotas/sampled_rate.h"

#include <algorithm>

namespace hw::quotas {

void SampledRate::record(double amount, std::int64_t now_ms, const RateWindows& windows) {
  if (samples_.empty()) {
    samples_.push_back({0, now_ms, now_ms});
  } else if (now_ms - samples_[current_].begin_ms >= windows.length_ms) {
    // One more than there are windows: the oldest may still overlap the time that counts.
    const std::size_t ring = static_cast<std::size_t>(windows.count) + 1;
    current_ = (current_ + 1) % ring;
    if (current_ >= samples_.size()) {
      samples_.push_back({0, now_ms, now_ms});
      current_ = samples_.size() - 1;
    } else {
      samples_[current_] = {0, now_ms, now_ms};
    }
  }
  samples_[current_].amount += amount;
  samples_[current_].last_ms = now_ms;
}

void SampledRate::forget_old(std::int64_t now_ms, const RateWindows& windows) {
  const std::int64_t age = windows.count * windows.length_ms;
  for (Sample& sample : samples_) {
    if (now_ms - sample.last_ms >= age) {
      sample = {0, now_ms, now_ms};
    }
  }
}

std::int64_t SampledRate::measured_ms(std::int64_t now_ms, const RateWindows& windows) {
  forget_old(now_ms, windows);
  std::int64_t begin = now_ms;
  for (const Sample& sample : samples_) {
    begin = std::min(begin, sample.begin_ms);
  }
  std::int64_t elapsed = now_ms - begin;
  const std::int64_t whole = elapsed / windows.length_ms;
  const std::int64_t least = windows.count - 1;
  if (whole < least) {
    elapsed += (least - whole) * windows.length_ms;
  }
  return std::max<std::int64_t>(elapsed, 1);
}

double SampledRate::per_second(std::int64_t now_ms, const RateWindows& windows) {
  constexpr double kMsPerSecond = 1000;
  const std::int64_t measured = measured_ms(now_ms, windows);
  double sum = 0;
  for (const Sample& sample : samples_) {
    sum += sample.amount;
  }
  return sum / (static_cast<double>(measured) / kMsPerSecond);
}

void TokenBucket::refill(double per_second, std::int64_t now_ms, const RateWindows& windows) {
  constexpr double kMsPerSecond = 1000;
  const double most = (windows.count - 1) * (static_cast<double>(windows.length_ms) / kMsPerSecond) * per_second;
  if (!begun_) {
    begun_ = true;
    tokens_ = most;
  } else {
    tokens_ = std::min(most, tokens_ + per_second * static_cast<double>(now_ms - filled_ms_) / kMsPerSecond);
  }
  filled_ms_ = now_ms;
}

void TokenBucket::take(double tokens, double per_second, std::int64_t now_ms, const RateWindows& windows) {
  refill(per_second, now_ms, windows);
  tokens_ -= tokens;
}

double TokenBucket::level(double per_second, std::int64_t now_ms, const RateWindows& windows) {
  refill(per_second, now_ms, windows);
  return tokens_;
}

}  // namespace hw::quotas
