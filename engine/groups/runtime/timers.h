// SPDX-License-Identifier: Apache-2.0
// Deadlines of a coordinator, each under a key. Scheduling a key again replaces its deadline; what
// is due comes out in order of deadline, then of scheduling, so that a run repeats. Thread rule:
// one thread.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "engine/base/ids.h"
#include "engine/base/time.h"

namespace hw::groups {

struct TimerKey {
  enum class Kind : std::uint8_t { heartbeat, join, sync, expire_offsets };
  PartitionIndex partition;
  Kind kind = Kind::heartbeat;
  std::string group;
  std::string member;
  friend auto operator<=>(const TimerKey&, const TimerKey&) = default;
  friend bool operator==(const TimerKey&, const TimerKey&) = default;
};

class Timers {
 public:
  void schedule(const TimerKey& key, Instant at) {
    const auto [slot, inserted] = by_key_.try_emplace(key);
    if (!inserted) {
      by_time_.erase(slot->second);
    }
    slot->second = {at, ++serial_};
    by_time_.emplace(slot->second, slot);
  }

  void cancel(const TimerKey& key) {
    const auto slot = by_key_.find(key);
    if (slot != by_key_.end()) {
      by_time_.erase(slot->second);
      by_key_.erase(slot);
    }
  }

  void cancel_all(PartitionIndex partition) {
    auto slot = by_key_.lower_bound(TimerKey{partition, TimerKey::Kind::heartbeat, {}, {}});
    while (slot != by_key_.end() && slot->first.partition == partition) {
      by_time_.erase(slot->second);
      slot = by_key_.erase(slot);
    }
  }

  // Takes the first key whose deadline is not after `now`.
  std::optional<TimerKey> pop_due(Instant now) {
    if (by_time_.empty() || by_time_.begin()->first.first > now) {
      return std::nullopt;
    }
    const auto slot = by_time_.begin()->second;
    by_time_.erase(by_time_.begin());
    TimerKey key = slot->first;
    by_key_.erase(slot);
    return key;
  }

  [[nodiscard]] std::optional<Instant> deadline(const TimerKey& key) const {
    const auto slot = by_key_.find(key);
    return slot == by_key_.end() ? std::nullopt : std::optional<Instant>(slot->second.first);
  }

  [[nodiscard]] Instant next() const {
    return by_time_.empty() ? kNever : by_time_.begin()->first.first;
  }

  [[nodiscard]] std::size_t size() const noexcept { return by_key_.size(); }

 private:
  using Order = std::pair<Instant, std::uint64_t>;
  std::map<TimerKey, Order> by_key_;
  std::map<Order, std::map<TimerKey, Order>::iterator> by_time_;
  std::uint64_t serial_ = 0;
};

}  // namespace hw::groups
