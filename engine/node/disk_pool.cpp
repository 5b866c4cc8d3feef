// SPDX-License-Identifier: Apache-2.0
#include "engine/node/disk_pool.h"

#include <pthread.h>

#include <utility>

namespace hw::node {

DiskPool::DiskPool(std::size_t threads) {
  for (std::size_t i = 0; i < threads; ++i) {
    threads_.emplace_back([this] {
      pthread_setname_np(pthread_self(), "hw-disk");
      run();
    });
  }
}

DiskPool::~DiskPool() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) {
    thread.join();
  }
}

void DiskPool::submit(std::function<Result<void>()> work, std::function<void(Result<void>)> done) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    jobs_.push_back({std::move(work), std::move(done)});
  }
  wake_.notify_one();
}

void DiskPool::run() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
    if (jobs_.empty()) {
      return;
    }
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job.done(job.work());
    job = {};  // destroy captures outside the lock
    lock.lock();
  }
}

}  // namespace hw::node
