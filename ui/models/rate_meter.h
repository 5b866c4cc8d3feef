// SPDX-License-Identifier: Apache-2.0
// RateMeter: what flows per second, from a running total sampled about once a second, over the last three seconds. Every rate of the
// window is one of these, so that what stands beside each other agrees.
// Rise: what a pair of counters has risen by since it was last looked at, to fill a meter with.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace hw::ui {

struct Flow {
  double records = 0;
  double bytes = 0;
  Flow& operator+=(const Flow& other) noexcept {
    records += other.records;
    bytes += other.bytes;
    return *this;
  }
};

class Rise {
 public:
  // `of`: the counters' object. Another one, of a leader elsewhere or of a node that started again, begins anew.
  Flow take(std::shared_ptr<const void> of, std::int64_t records, std::int64_t bytes) {
    const bool same = of != nullptr && of == of_;
    of_ = std::move(of);
    const std::int64_t more = records - std::exchange(records_, records);
    const std::int64_t more_bytes = bytes - std::exchange(bytes_, bytes);
    return same ? Flow{static_cast<double>(std::max<std::int64_t>(0, more)), static_cast<double>(std::max<std::int64_t>(0, more_bytes))} : Flow{};
  }

 private:
  std::shared_ptr<const void> of_;
  std::int64_t records_ = 0;
  std::int64_t bytes_ = 0;
};

class RateMeter {
 public:
  void add(double records, double bytes) noexcept {
    records_ += records;
    bytes_ += bytes;
  }
  void add(const Flow& flow) noexcept { add(flow.records, flow.bytes); }
  // Nothing flows from now on, and nobody has to wait until the window has passed.
  void stop() noexcept {
    count_ = 0;
    records_per_s_ = 0;
    bytes_per_s_ = 0;
  }

  // Nothing has flowed here while the other one was ticked: what comes now is divided by the same time.
  void follow(const RateMeter& other) noexcept {
    count_ = other.count_;
    for (std::size_t i = 0; i < count_; ++i) {
      samples_[i] = {other.samples_[i].at_ms, records_, bytes_};
    }
    records_per_s_ = 0;
    bytes_per_s_ = 0;
  }
  // Closes a sample. Returns true while anything is left in the window.
  bool tick(std::int64_t now_ms) noexcept {
    if (count_ > 0 && now_ms <= newest().at_ms) {
      return records_per_s_ > 0 || records_ > newest().records;
    }
    const Sample sample{now_ms, records_, bytes_};
    if (count_ == kSamples) {
      for (std::size_t i = 1; i < kSamples; ++i) {
        samples_[i - 1] = samples_[i];
      }
      samples_[kSamples - 1] = sample;
    } else {
      samples_[count_++] = sample;
    }
    std::size_t from = 0;
    while (from + 2 < count_ && now_ms - samples_[from].at_ms > kWindowMs) {
      ++from;
    }
    const Sample& oldest = samples_[from];
    const double seconds = static_cast<double>(now_ms - oldest.at_ms) / 1000;
    records_per_s_ = seconds > 0 ? (records_ - oldest.records) / seconds : 0;
    bytes_per_s_ = seconds > 0 ? (bytes_ - oldest.bytes) / seconds : 0;
    return records_per_s_ > 0;
  }
  // Two samples at least: before that, 0 a second would be a guess.
  [[nodiscard]] bool measured() const noexcept { return count_ > 1; }
  [[nodiscard]] double records_per_second() const noexcept { return records_per_s_; }
  [[nodiscard]] double bytes_per_second() const noexcept { return bytes_per_s_; }
  [[nodiscard]] double records_total() const noexcept { return records_; }

 private:
  struct Sample {
    std::int64_t at_ms = 0;
    double records = 0;
    double bytes = 0;
  };
  static constexpr std::size_t kSamples = 5;
  static constexpr std::int64_t kWindowMs = 3'200;
  [[nodiscard]] const Sample& newest() const noexcept { return samples_[count_ - 1]; }
  std::array<Sample, kSamples> samples_{};
  std::size_t count_ = 0;
  double records_ = 0;
  double bytes_ = 0;
  double records_per_s_ = 0;
  double bytes_per_s_ = 0;
};

}  // namespace hw::ui
