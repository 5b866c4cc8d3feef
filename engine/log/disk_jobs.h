// SPDX-License-Identifier: Apache-2.0
// What logs want from the disk pool: fsync, unlink, checkpoint files. Logs queue jobs here; the shell takes them, runs
// `work` on any thread (it touches nothing but the Disk) and hands the result to LogManager::job_done() on the
// node's thread. Order does not matter between jobs.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "engine/base/ids.h"
#include "engine/base/result.h"
#include "engine/base/uuid.h"

namespace hw::log {

enum class JobKind : std::uint8_t { flush, remove, checkpoint };

struct DiskJob {
  std::uint64_t id = 0;
  JobKind kind = JobKind::flush;
  Uuid topic_id;             // flush: whose log
  PartitionIndex partition;  // flush
  Offset up_to;              // flush: everything below is on stable storage once the work has succeeded
  std::uint64_t generation = 0;  // flush: of the log's truncations; what was cut in between is not flushed
  std::function<Result<void>()> work;
};

class DiskJobs {
 public:
  std::uint64_t push(DiskJob job) {  // returns the id it gave
    job.id = next_id_++;
    jobs_.push_back(std::move(job));
    return jobs_.back().id;
  }
  // Offsets of some log moved: the checkpoints are behind.
  void note_change() noexcept { changed_ = true; }
  [[nodiscard]] bool changed() const noexcept { return changed_; }
  void changes_seen() noexcept { changed_ = false; }
  [[nodiscard]] bool empty() const noexcept { return jobs_.empty(); }
  [[nodiscard]] std::vector<DiskJob> take() { return std::exchange(jobs_, {}); }

 private:
  std::uint64_t next_id_ = 1;
  std::vector<DiskJob> jobs_;
  bool changed_ = false;
};

}  // namespace hw::log
