// SPDX-License-Identifier: Apache-2.0
// SpscRing<T>: a bounded queue from exactly one producer thread to exactly one consumer thread.
// Wait-free both ways. Full means push() returns false: the caller decides what is lost, and says so.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include "engine/base/assert.h"

namespace hw {

template <class T>
class SpscRing {
 public:
  // REQUIRES: capacity is a power of two.
  explicit SpscRing(std::size_t capacity)
      : mask_(capacity - 1), slots_(std::make_unique<std::optional<T>[]>(capacity)) {
    HW_ASSERT(std::has_single_bit(capacity), "ring capacity is a power of two");
  }
  // Producer: true where the next push() will succeed (so that a value is not given away in vain).
  [[nodiscard]] bool has_room() noexcept {
    const std::size_t tail = tail_.load(std::memory_order_relaxed);
    if (tail - head_seen_ > mask_) {
      head_seen_ = head_.load(std::memory_order_acquire);
    }
    return tail - head_seen_ <= mask_;
  }
  bool push(T value) {
    if (!has_room()) {
      return false;
    }
    const std::size_t tail = tail_.load(std::memory_order_relaxed);
    slots_[tail & mask_].emplace(std::move(value));
    tail_.store(tail + 1, std::memory_order_release);
    return true;
  }
  std::optional<T> pop() {
    const std::size_t head = head_.load(std::memory_order_relaxed);
    if (head == tail_seen_) {
      tail_seen_ = tail_.load(std::memory_order_acquire);
      if (head == tail_seen_) {
        return std::nullopt;
      }
    }
    std::optional<T> value = std::move(slots_[head & mask_]);
    slots_[head & mask_].reset();
    head_.store(head + 1, std::memory_order_release);
    return value;
  }
  [[nodiscard]] std::size_t capacity() const noexcept { return mask_ + 1; }
  [[nodiscard]] std::size_t size() const noexcept {  // exact only when both sides rest
    return tail_.load(std::memory_order_acquire) - head_.load(std::memory_order_acquire);
  }

 private:
  const std::size_t mask_;
  std::unique_ptr<std::optional<T>[]> slots_;
  alignas(64) std::atomic<std::size_t> tail_{0};
  std::size_t head_seen_ = 0;  // producer's copy of head_
  alignas(64) std::atomic<std::size_t> head_{0};
  std::size_t tail_seen_ = 0;  // consumer's copy of tail_
};

}  // namespace hw
