// SPDX-License-Identifier: Apache-2.0
#include "app/hw/wait.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>

namespace hw::app {
namespace {
volatile sig_atomic_t interrupted = 0;
void on_signal(int) { interrupted = 1; }
}  // namespace

Waiter::Waiter() : event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGINT);
  sigaddset(&blocked, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  signal(SIGPIPE, SIG_DFL);  // `hw consume … | head` ends quietly
}

Waiter::~Waiter() { close(event_); }

void Waiter::forget_interrupt() noexcept { interrupted = 0; }

void Waiter::wake() noexcept {
  const std::uint64_t one = 1;
  const ssize_t written = write(event_, &one, sizeof one);
  static_cast<void>(written);
}

Waiter::Why Waiter::wait(int descriptor, int timeout_ms) {
  std::array<pollfd, 2> watched{{{event_, POLLIN, 0}, {descriptor, POLLIN, 0}}};
  sigset_t none;
  sigemptyset(&none);
  timespec timeout{timeout_ms / 1000, (timeout_ms % 1000) * 1'000'000L};
  const int ready = ppoll(watched.data(), descriptor < 0 ? 1 : 2, timeout_ms < 0 ? nullptr : &timeout, &none);
  if (interrupted != 0) {
    return Why::interrupted;
  }
  if (ready == 0) {
    return Why::timed_out;
  }
  if (ready > 0 && watched[0].revents != 0) {
    std::uint64_t count = 0;
    const ssize_t taken = read(event_, &count, sizeof count);
    static_cast<void>(taken);
    return Why::woken;
  }
  return ready > 0 ? Why::readable : Why::woken;
}

}  // namespace hw::app
