// SPDX-License-Identifier: Apache-2.0
// SimDisk: what a machine has as its disk: the image that programs see (a memory disk), what of it is durable (FaultDisk knows), and
// how long a sync takes. Thread rule: one thread.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/base/prng.h"
#include "engine/base/time.h"
#include "engine/env/fault_disk.h"
#include "engine/env/memory_disk.h"

namespace hw::sim {

class SimDisk {
 public:
  SimDisk(Duration sync, Prng prng) : sync_(sync), prng_(prng), faults_(seen_, Prng(prng_.next())) {}

  [[nodiscard]] env::Disk& disk() noexcept { return faults_; }
  void process_died() { faults_.kill(); }
  [[nodiscard]] Result<void> power_lost() { return faults_.crash(); }
  // The next bytes that fit are few.
  void fill(std::uint64_t room) { faults_.set_capacity(faults_.written_bytes() + room); }
  void slow_down(std::int64_t factor) noexcept { slowness_ = factor; }
  void heal() noexcept {
    faults_.set_capacity(0);
    faults_.stop_failing();
    slowness_ = 1;
  }
  // When a job that is given to the disk now is done; one after the other.
  [[nodiscard]] Instant job_done(Instant now) {
    busy_until_ = std::max(busy_until_, now) + nanoseconds(prng_.between(sync_.ns / 2, sync_.ns * 2)) * slowness_;
    return busy_until_;
  }

 private:
  static constexpr std::uint64_t kMaxBytes = std::uint64_t{4} << 30U;
  Duration sync_;
  Prng prng_;
  env::MemoryDisk seen_{kMaxBytes};
  env::FaultDisk faults_;
  Instant busy_until_{};
  std::int64_t slowness_ = 1;
};

}  // namespace hw::sim
