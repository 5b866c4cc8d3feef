// SPDX-License-Identifier: Apache-2.0
// What logs want from the disk pool: fsync, unlink, checkpoint files. Logs queue jobs here; the shell takes them, runs
// `work` on any thread (it touches nothing but the Disk) and hands the result to LogManager::job_done() on the
// node's thread. Order does not matter between jobs.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
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
  bool future = false;           // flush: of the log that is on its way to another directory
  std::uint64_t names = 0;       // flush: of the log's files; names made later are not flushed
  std::function<Result<void>()> work;
};

// Files that nobody needs any more, renamed already; they go after a while (file.delete.delay.ms), readers having left.
struct Removal {
  std::vector<std::string> files;
  std::string tree;  // a directory with all it holds; empty: none
  std::int64_t delay_ms = 0;
};

class DiskJobs {
 public:
  std::uint64_t push(DiskJob job) {  // returns the id it gave
    job.id = next_id_++;
    jobs_.push_back(std::move(job));
    return jobs_.back().id;
  }
  void remove_later(Removal removal) { removals_.push_back(std::move(removal)); }
  [[nodiscard]] bool has_removals() const noexcept { return !removals_.empty(); }
  [[nodiscard]] std::vector<Removal> take_removals() { return std::exchange(removals_, {}); }
  // Offsets of some log moved: the checkpoints are behind.
  void note_change() noexcept { changed_ = true; }
  [[nodiscard]] bool changed() const noexcept { return changed_; }
  void changes_seen() noexcept { changed_ = false; }
  // The start of some log moved: soon written, or a kill would bring deleted records back.
  void note_start_change() noexcept { start_changed_ = true; }
  [[nodiscard]] bool start_changed() const noexcept { return start_changed_; }
  void start_changes_seen() noexcept { start_changed_ = false; }
  [[nodiscard]] bool empty() const noexcept { return jobs_.empty(); }
  [[nodiscard]] std::vector<DiskJob> take() { return std::exchange(jobs_, {}); }

 private:
  std::uint64_t next_id_ = 1;
  std::vector<DiskJob> jobs_;
  std::vector<Removal> removals_;
  bool changed_ = false;
  bool start_changed_ = false;
};

}  // namespace hw::log
