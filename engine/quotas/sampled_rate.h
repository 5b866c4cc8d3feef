// SPDX-License-Identifier: Apache-2.0
// SampledRate: an amount per second over the last few windows, as Kafka's quotas measure it (KIP-13).
//
// Amounts fall into samples of one window each; samples older than all windows together count no more. The rate is their
// sum over the time since the oldest of them began, which counts as at least `windows - 1` whole windows: a client that
// just started has its whole allowance before it.
// TokenBucket: allowance that refills with time and may be overdrawn once (KIP-599).
// Thread rule: one thread. Times are milliseconds of one monotonic clock, as in Kafka.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hw::quotas {

struct RateWindows {
  std::int32_t count = 11;        // quota.window.num
  std::int64_t length_ms = 1000;  // quota.window.size.seconds
  friend bool operator==(const RateWindows&, const RateWindows&) = default;
};

class SampledRate {
 public:
  void record(double amount, std::int64_t now_ms, const RateWindows& windows);
  [[nodiscard]] double per_second(std::int64_t now_ms, const RateWindows& windows);
  // What per_second() divided by, in milliseconds.
  [[nodiscard]] std::int64_t measured_ms(std::int64_t now_ms, const RateWindows& windows);

 private:
  struct Sample {
    double amount = 0;
    std::int64_t begin_ms = 0;
    std::int64_t last_ms = 0;  // of the newest amount in it
  };
  void forget_old(std::int64_t now_ms, const RateWindows& windows);

  std::vector<Sample> samples_;  // a ring of at most windows.count + 1
  std::size_t current_ = 0;
};

class TokenBucket {
 public:
  // `per_second`: the quota. At most (windows - 1) windows' worth of tokens are kept.
  void take(double tokens, double per_second, std::int64_t now_ms, const RateWindows& windows);
  [[nodiscard]] double level(double per_second, std::int64_t now_ms, const RateWindows& windows);

 private:
  void refill(double per_second, std::int64_t now_ms, const RateWindows& windows);
  double tokens_ = 0;
  std::int64_t filled_ms_ = 0;
  bool begun_ = false;  // a new bucket is full
};

}  // namespace hw::quotas
