// SPDX-License-Identifier: Apache-2.0
// DiskPool: two threads that wait for the disk (fsync, unlink, cold reads) so that nodes never do.
// Thread rule: submit() from any thread. `work` runs on a pool thread, then `done` right after it on the same thread;
// a node's `done` posts to its loop. Jobs of the pool are run in order of submission, two at a time.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/base/result.h"

namespace hw::node {

class DiskPool {
 public:
  explicit DiskPool(std::size_t threads = 2);
  ~DiskPool();  // finishes what was submitted
  DiskPool(const DiskPool&) = delete;
  DiskPool& operator=(const DiskPool&) = delete;

  void submit(std::function<Result<void>()> work, std::function<void(Result<void>)> done);

 private:
  struct Job {
    std::function<Result<void>()> work;
    std::function<void(Result<void>)> done;
  };
  void run();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Job> jobs_;   // guarded by mutex_
  bool stopping_ = false;  // guarded by mutex_
  std::vector<std::thread> threads_;
};

}  // namespace hw::node
