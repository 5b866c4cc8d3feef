// SPDX-License-Identifier: Apache-2.0
// Waiting of the main thread: for callbacks of other threads, for input, for Ctrl-C, without polling.
//
// Make it before any thread starts: they inherit the blocked SIGINT and SIGTERM, which only wait() lets through.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>

namespace hw::app {

class Waiter {
 public:
  Waiter();
  ~Waiter();
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  void wake() noexcept;  // from any thread; remembered when nobody waits

  enum class Why { woken, readable, interrupted, timed_out };
  // `descriptor`: also returns when this can be read (-1: none). `timeout_ms`: -1 for ever.
  Why wait(int descriptor = -1, int timeout_ms = -1);
  // Ctrl-C was heard and is being followed; the next one counts anew.
  void forget_interrupt() noexcept;

 private:
  int event_ = -1;
};

// Runs `start`, which gets a callback to be called once from any thread, and waits for that. Nullopt after Ctrl-C.
template <class T>
std::optional<T> await(Waiter& waiter, const std::function<void(std::function<void(T)>)>& start) {
  struct Shared {
    std::mutex mutex;
    std::optional<T> value;
  };
  const auto shared = std::make_shared<Shared>();
  start([shared, &waiter](T value) {
    {
      const std::lock_guard lock(shared->mutex);
      shared->value.emplace(std::move(value));
    }
    waiter.wake();
  });
  for (;;) {
    {
      const std::lock_guard lock(shared->mutex);
      if (shared->value) {
        return std::move(shared->value);
      }
    }
    if (waiter.wait() == Waiter::Why::interrupted) {
      return std::nullopt;
    }
  }
}

}  // namespace hw::app
