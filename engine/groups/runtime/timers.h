// SPDX-License-Identifier: Apache-2.0
// Deadlines of a coordinator, each under a key. Scheduling a key again replaces its deadline; what
// is due comes out in order of deadline, then of scheduling, so that a run repeats.
//
// A session that begins anew with every heartbeat and commit moves its deadline away again and
// again: moving one away costs a look-up only. Its place in the order stays where it is, and is
// mended when its old time has come; so next() may be early, never late. Thread rule: one thread.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "engine/base/ids.h"
#include "engine/base/time.h"

namespace hw::groups {

struct TimerKey {
  // heartbeat, join, sync: of classic groups; session to regex: of consumer groups (member_join and
  // member_sync: of their classic members).
  enum class Kind : std::uint8_t {
    heartbeat,
    join,
    sync,
    session,
    rebalance,
    member_join,
    member_sync,
    regex,
    expire_offsets
  };
  PartitionIndex partition;
  Kind kind = Kind::heartbeat;
  std::string group;
  std::string member;
  friend auto operator<=>(const TimerKey&, const TimerKey&) = default;
  friend bool operator==(const TimerKey&, const TimerKey&) = default;
};

// The same without strings of its own.
struct TimerKeyView {
  PartitionIndex partition;
  TimerKey::Kind kind = TimerKey::Kind::heartbeat;
  std::string_view group;
  std::string_view member;

  TimerKeyView(PartitionIndex in, TimerKey::Kind of, std::string_view named,
               std::string_view whose) noexcept
      : partition(in), kind(of), group(named), member(whose) {}

  TimerKeyView(const TimerKey& key) noexcept  // NOLINT: a view of what it is made from
      : partition(key.partition), kind(key.kind), group(key.group), member(key.member) {}

  friend auto operator<=>(const TimerKeyView&, const TimerKeyView&) = default;
  friend bool operator==(const TimerKeyView&, const TimerKeyView&) = default;
};

class Timers {
 public:
  void schedule(TimerKeyView key, Instant at) {
    const auto known = by_key_.find(key);
    if (known != by_key_.end()) {
      Slot& slot = known->second;
      slot.wanted = {at, ++serial_};
      if (slot.wanted < slot.placed) {
        by_time_.erase(slot.placed);
        place(known);
      }
      return;
    }
    const auto slot = by_key_
                          .emplace(TimerKey{key.partition, key.kind, std::string(key.group),
                                            std::string(key.member)},
                                   Slot{{at, ++serial_}, {}})
                          .first;
    place(slot);
  }

  void cancel(TimerKeyView key) {
    const auto slot = by_key_.find(key);
    if (slot != by_key_.end()) {
      by_time_.erase(slot->second.placed);
      by_key_.erase(slot);
    }
  }

  void cancel_all(PartitionIndex partition) {
    auto slot = by_key_.lower_bound(TimerKeyView{partition, TimerKey::Kind::heartbeat, {}, {}});
    while (slot != by_key_.end() && slot->first.partition == partition) {
      by_time_.erase(slot->second.placed);
      slot = by_key_.erase(slot);
    }
  }

  // Takes the first key whose deadline is not after `now`.
  std::optional<TimerKey> pop_due(Instant now) {
    while (!by_time_.empty() && by_time_.begin()->first.first <= now) {
      const auto slot = by_time_.begin()->second;
      by_time_.erase(by_time_.begin());
      if (slot->second.wanted != slot->second.placed) {  // moved away meanwhile
        place(slot);
        continue;
      }
      TimerKey key = slot->first;
      by_key_.erase(slot);
      return key;
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<Instant> deadline(TimerKeyView key) const {
    const auto slot = by_key_.find(key);
    return slot == by_key_.end() ? std::nullopt : std::optional<Instant>(slot->second.wanted.first);
  }

  // Not after the first deadline; kNever: there is none.
  [[nodiscard]] Instant next() const {
    return by_time_.empty() ? kNever : by_time_.begin()->first.first;
  }

  [[nodiscard]] std::size_t size() const noexcept { return by_key_.size(); }

 private:
  using Order = std::pair<Instant, std::uint64_t>;

  struct Slot {
    Order wanted;
    Order placed;  // its key in by_time_; not after `wanted`
  };

  struct Less {
    using is_transparent = void;

    bool operator()(const TimerKeyView& a, const TimerKeyView& b) const noexcept { return a < b; }
  };

  using Slots = std::map<TimerKey, Slot, Less>;

  void place(Slots::iterator slot) {
    slot->second.placed = slot->second.wanted;
    by_time_.emplace(slot->second.placed, slot);
  }

  Slots by_key_;
  std::map<Order, Slots::iterator> by_time_;
  std::uint64_t serial_ = 0;
};

}  // namespace hw::groups
