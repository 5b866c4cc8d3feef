// SPDX-License-Identifier: Apache-2.0
#include "engine/observe/ring_sink.h"

#include <utility>

namespace hw::observe {

RingSink::RingSink(BrokerId node, std::size_t ring_capacity, SleepFlag& flag, Clock clock,
                   std::size_t overflow_max)
    : node_(node), flag_(flag), clock_(clock), overflow_max_(overflow_max), ring_(ring_capacity) {}

void RingSink::emit(event::Any event) {
  event::Stamped stamped{++sequence_, node_, clock_(), std::move(event)};
  if (overflowing_.load(std::memory_order_acquire) || !ring_.has_room()) {
    emit_overflow(std::move(stamped));
  } else {
    ring_.push(std::move(stamped));
  }
  emitted_.fetch_add(1);
  if (flag_.claim()) {
    flag_.wake();
  }
}

void RingSink::emit_overflow(event::Stamped stamped) {
  const std::lock_guard lock(mutex_);
  // The observer may have taken the overflow between the look and the lock; then the ring is the
  // way again.
  if (!overflowing_.load(std::memory_order_relaxed) && ring_.has_room()) {
    ring_.push(std::move(stamped));
    return;
  }
  overflowing_.store(true, std::memory_order_release);
  if (event::low_priority(stamped.event) || overflow_.size() >= overflow_max_) {
    if (lost_.count == 0) {
      lost_.first = stamped.at;
    }
    ++lost_.count;
    lost_.last = stamped.at;
    lost_sequence_ = stamped.sequence;
  } else {
    overflow_.push_back(std::move(stamped));
  }
}

void RingSink::drain(std::vector<event::Stamped>& into) {
  drained_ = emitted_.load();
  // While this is true nothing enters the ring, so what the ring holds is older than the overflow.
  const bool overflowing = overflowing_.load(std::memory_order_acquire);
  // At most one ringful: a node that never rests must not keep the reader here for ever.
  for (std::size_t n = ring_.capacity(); n > 0; --n) {
    std::optional<event::Stamped> stamped = ring_.pop();
    if (!stamped) {
      break;
    }
    into.push_back(std::move(*stamped));
  }
  if (!overflowing) {
    return;
  }
  const std::lock_guard lock(mutex_);
  for (event::Stamped& stamped : overflow_) {
    into.push_back(std::move(stamped));
  }
  overflow_.clear();
  if (lost_.count != 0) {
    into.push_back({lost_sequence_, node_, lost_.last, lost_});
    lost_ = {};
  }
  overflowing_.store(false, std::memory_order_release);
}

}  // namespace hw::observe
