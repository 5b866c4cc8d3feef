// SPDX-License-Identifier: Apache-2.0
// RingSink: a node's end of the ring to the observer.
//
// emit() stamps an event (sequence of the node, wall time) and pushes it. When the ring is full,
// low-priority events are dropped and counted; the others go to an overflow list behind a mutex, so
// that a leader election is never lost silently. The overflow has a bound too, far above what a
// stalled reader can miss; beyond it losses are counted the same way. The reader gets the ring
// first, then the overflow, then one EventsLost: in order, whatever happened.
//
// Waking: the reader announces that it sleeps; only then emit() calls `wake`. Otherwise an event
// costs one uncontended atomic add beyond the push.
//
// Thread rule: emit() on the node's thread, drain() and may_sleep() on the observer's.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include "engine/base/ids.h"
#include "engine/base/spsc_ring.h"
#include "engine/event/event.h"

namespace hw::observe {

// Shared by all sinks of one observer: whether it sleeps, and how to wake it.
class SleepFlag {
 public:
  virtual ~SleepFlag() = default;

  // True for exactly one caller after each announcement: that one wakes the reader.
  [[nodiscard]] bool claim() noexcept { return asleep_.load() && asleep_.exchange(false); }

  void announce() noexcept { asleep_.store(true); }

  void awake() noexcept { asleep_.store(false); }

  virtual void wake() = 0;

 private:
  std::atomic<bool> asleep_{false};  // sequentially consistent: pairs with RingSink::emitted_
};

class RingSink final : public event::EventSink {
 public:
  using Clock = WallTime (*)();  // wall time; a parameter for tests

  // REQUIRES: `ring_capacity` is a power of two. `flag` outlives the sink.
  RingSink(BrokerId node, std::size_t ring_capacity, SleepFlag& flag, Clock clock,
           std::size_t overflow_max = 65'536);

  void emit(event::Any event) override;

  // Appends everything there is to `into`, in order.
  void drain(std::vector<event::Stamped>& into);

  // After the announcement: false where something came since the last drain() began.
  [[nodiscard]] bool drained() const noexcept { return emitted_.load() == drained_; }

  [[nodiscard]] BrokerId node() const noexcept { return node_; }

 private:
  void emit_overflow(event::Stamped stamped);

  const BrokerId node_;
  SleepFlag& flag_;
  const Clock clock_;
  const std::size_t overflow_max_;
  SpscRing<event::Stamped> ring_;
  std::uint64_t sequence_ = 0;  // node's thread
  std::uint64_t drained_ = 0;   // observer's thread: emitted_ as it was when the last drain began
  std::atomic<std::uint64_t> emitted_{0};  // sequentially consistent: pairs with SleepFlag
  std::atomic<bool> overflowing_{
      false};  // true: the ring gets nothing more until the overflow is taken

  std::mutex mutex_;  // only where the ring is or was full
  std::deque<event::Stamped> overflow_;
  event::EventsLost lost_;
  std::uint64_t lost_sequence_ = 0;
};

}  // namespace hw::observe
