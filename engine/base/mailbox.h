// SPDX-License-Identifier: Apache-2.0
// Mailbox<T>: one slot from one thread to another; the newest value wins, older ones are deleted.
// Wait-free both ways. (std::atomic<std::shared_ptr> is neither lock-free nor race-free in libstdc++ 12.)
#pragma once

#include <atomic>
#include <memory>

namespace hw {

template <class T>
class Mailbox {
 public:
  Mailbox() = default;
  ~Mailbox() { delete slot_.load(std::memory_order_acquire); }
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;
  // Returns true when the previous value had been taken already (so the reader needs a wake-up).
  bool put(std::unique_ptr<T> value) noexcept {
    T* displaced = slot_.exchange(value.release(), std::memory_order_acq_rel);
    delete displaced;
    return displaced == nullptr;
  }
  [[nodiscard]] std::unique_ptr<T> take() noexcept {
    return std::unique_ptr<T>(slot_.exchange(nullptr, std::memory_order_acq_rel));
  }

 private:
  std::atomic<T*> slot_{nullptr};
};

}  // namespace hw
