// SPDX-License-Identifier: Apache-2.0
// JobGate: lets a node end its disk jobs before it writes its last files.
//
// Jobs run on the disk pool, and one that was queued may start after the node stopped: it would write an old checkpoint
// over the last one. A job passes the gate before it works; close() waits for those inside and turns the others away.
// Thread rule: any thread.
#pragma once

#include <atomic>

namespace hw::api {

class JobGate {
 public:
  // False: closed, do nothing. True: leave() afterwards.
  [[nodiscard]] bool enter() noexcept {
    state_.fetch_add(1, std::memory_order_acq_rel);
    if ((state_.load(std::memory_order_acquire) & kClosed) != 0) {
      leave();
      return false;
    }
    return true;
  }
  void leave() noexcept {
    state_.fetch_sub(1, std::memory_order_acq_rel);
    state_.notify_all();
  }
  void close() noexcept {
    unsigned seen = state_.fetch_or(kClosed, std::memory_order_acq_rel) | kClosed;
    while ((seen & ~kClosed) != 0) {
      state_.wait(seen, std::memory_order_acquire);
      seen = state_.load(std::memory_order_acquire);
    }
  }

 private:
  static constexpr unsigned kClosed = 1U << 31U;
  std::atomic<unsigned> state_{0};
};

}  // namespace hw::api
