// SPDX-License-Identifier: Apache-2.0
// SimDisk: what a machine has as its disk: the image that programs see (a memory disk), what of it is durable (FaultDisk knows), and
// how long a sync takes. Jobs are done one after the other, each as fast as the disk is when its turn comes; what a process had queued goes
// with it. Thread rule: one thread.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <utility>

#include "engine/base/prng.h"
#include "engine/base/time.h"
#include "engine/env/fault_disk.h"
#include "engine/env/memory_disk.h"
#include "engine/sim/event_queue.h"

namespace hw::sim {

class SimDisk {
 public:
  SimDisk(Duration sync, Prng prng) : sync_(sync), prng_(prng), faults_(seen_, Prng(prng_.next())) {}

  [[nodiscard]] env::Disk& disk() noexcept { return faults_; }
  void process_died() {
    forget_jobs();
    faults_.kill();
  }
  [[nodiscard]] Result<void> power_lost() {
    forget_jobs();
    return faults_.crash();
  }
  // The next bytes that fit are few.
  void fill(std::uint64_t room) {
    limited_ = true;
    spoiled_ = true;
    faults_.set_capacity(faults_.written_bytes() + room);
  }
  // One of the next writes fails.
  void fail_soon(std::uint64_t writes) noexcept {
    spoiled_ = true;
    faults_.fail_after(writes);
  }
  // Something was wrong with it in the life of this process: it may give up.
  [[nodiscard]] bool spoiled() const noexcept { return spoiled_; }
  void slow_down(std::int64_t factor) noexcept { slowness_ = factor; }
  void heal() noexcept {
    limited_ = false;
    faults_.set_capacity(0);
    faults_.stop_failing();
    slowness_ = 1;
  }
  // Calls `done` when the disk has had time for one more job.
  void queue(EventQueue& events, std::function<void()> done) {
    jobs_.push_back(std::move(done));
    if (jobs_.size() == 1) {
      begin(events);
    }
  }

 private:
  static constexpr std::uint64_t kMaxBytes = std::uint64_t{4} << 30U;
  void begin(EventQueue& events) {
    const Duration time = nanoseconds(prng_.between(sync_.ns / 2, sync_.ns * 2)) * slowness_;
    events.after(time, [this, &events, process = process_] {
      if (process != process_) {
        return;
      }
      const std::function<void()> done = jobs_.front();
      done();
      if (process != process_) {
        return;  // it did not survive the news
      }
      jobs_.pop_front();
      if (!jobs_.empty()) {
        begin(events);
      }
    });
  }
  void forget_jobs() {
    ++process_;
    spoiled_ = limited_;
    jobs_.clear();
  }

  Duration sync_;
  Prng prng_;
  env::MemoryDisk seen_{kMaxBytes};
  env::FaultDisk faults_;
  std::deque<std::function<void()>> jobs_;  // the first one is under way
  std::uint64_t process_ = 0;
  std::int64_t slowness_ = 1;
  bool limited_ = false;
  bool spoiled_ = false;
};

}  // namespace hw::sim
