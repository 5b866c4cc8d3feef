// SPDX-License-Identifier: Apache-2.0
// EventQueue: virtual time. It stands still while something happens and jumps to when the next thing does.
//
// What is due at the same instant happens in the order in which it was asked for, so that a run depends on nothing but its seed.
// Thread rule: one thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "engine/base/time.h"

namespace hw::sim {

class EventQueue {
 public:
  using Action = std::function<void()>;

  [[nodiscard]] Instant now() const noexcept { return now_; }
  void at(Instant when, Action action) {
    heap_.push_back({when < now_ ? now_ : when, ++sequence_, std::move(action)});
    std::push_heap(heap_.begin(), heap_.end(), later);
  }
  void after(Duration delay, Action action) { at(now_ + delay, std::move(action)); }
  [[nodiscard]] Instant next() const noexcept { return heap_.empty() ? kNever : heap_.front().when; }
  // REQUIRES: next() < kNever.
  void run_one() {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    const Entry entry = std::move(heap_.back());
    heap_.pop_back();
    now_ = entry.when;
    ++done_;
    entry.action();
  }
  [[nodiscard]] std::uint64_t done() const noexcept { return done_; }

 private:
  struct Entry {
    Instant when;
    std::uint64_t sequence = 0;
    Action action;
  };
  static bool later(const Entry& a, const Entry& b) noexcept {
    return a.when != b.when ? a.when > b.when : a.sequence > b.sequence;
  }
  std::vector<Entry> heap_;
  Instant now_{};
  std::uint64_t sequence_ = 0;
  std::uint64_t done_ = 0;
};

}  // namespace hw::sim
