// SPDX-License-Identifier: Apache-2.0
#include "engine/observe/observer.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "engine/observe/reducer.h"
#include "engine/observe/ring_sink.h"

namespace hw::observe {
namespace {

WallTime wall_now() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<std::chrono::milliseconds>(since).count()};
}

}  // namespace

struct Observer::Impl final : SleepFlag {
  Impl(Options given, std::function<void()> wake_reader)
      : options(given),
        wake_callback(std::move(wake_reader)),
        newest(reducer.publish()),
        thread([this] { run(); }) {}

  ~Impl() override {
    {
      const std::lock_guard lock(mutex);
      stopping = true;
    }
    condition.notify_all();
    thread.join();
  }

  // From a node's thread, once per sleep.
  void wake() override {
    {
      const std::lock_guard lock(mutex);
      woken = true;
    }
    condition.notify_all();
  }

  void run() {
    std::vector<event::Stamped> batch;
    auto next_publish = std::chrono::steady_clock::now();
    std::unique_lock lock(mutex);
    for (;;) {
      // ---- take what there is
      const std::uint64_t flush_wanted = flushes_wanted;
      const bool last_round = stopping;
      lock.unlock();
      drain(batch);
      const bool due = std::chrono::steady_clock::now() >= next_publish;
      const bool flushing = flush_wanted != flushes_done;  // only this thread writes flushes_done
      if (reducer.changed() && (due || flushing || last_round)) {
        publish();
        next_publish = std::chrono::steady_clock::now() +
                       std::chrono::milliseconds(options.publish_interval_ms);
      }
      lock.lock();
      if (flushing) {
        flushes_done = flush_wanted;
        condition.notify_all();
        continue;
      }
      if (last_round) {
        return;
      }
      // ---- wait: for the time of the next view where there is something to show, otherwise for
      // the next event
      const auto interrupted = [this] { return stopping || flushes_wanted != flushes_done; };
      if (reducer.changed()) {
        condition.wait_until(lock, next_publish, interrupted);
        continue;
      }
      woken = false;
      announce();
      lock.unlock();
      const bool empty = all_drained();
      lock.lock();
      if (empty) {
        condition.wait(lock, [&] { return woken || interrupted(); });
      }
      awake();
    }
  }

  void drain(std::vector<event::Stamped>& batch) {
    std::size_t known = 0;
    {
      const std::lock_guard lock(sinks_mutex);
      known = sinks.size();
    }
    for (std::size_t i = 0; i < known; ++i) {
      batch.clear();
      sink_at(i).drain(batch);
      for (const event::Stamped& stamped : batch) {
        reducer.apply(stamped);
      }
    }
    batch.clear();
  }

  [[nodiscard]] RingSink& sink_at(std::size_t i) {
    const std::lock_guard lock(sinks_mutex);
    return sinks[i];
  }

  [[nodiscard]] bool all_drained() {
    const std::lock_guard lock(sinks_mutex);
    for (const RingSink& sink : sinks) {
      if (!sink.drained()) {
        return false;
      }
    }
    return true;
  }

  void publish() {
    ViewPtr view = reducer.publish();
    bool wake_up = false;
    {
      const std::lock_guard lock(view_mutex);
      newest.swap(view);
      wake_up = std::exchange(taken, false);
    }
    if (wake_up && wake_callback) {
      wake_callback();
    }
  }

  const Options options;
  const std::function<void()> wake_callback;
  Reducer reducer;  // the thread's

  std::mutex sinks_mutex;
  std::deque<RingSink> sinks;  // never shrinks; addresses stay

  std::mutex view_mutex;
  ViewPtr newest;
  bool taken = true;  // the reader has seen `newest`

  std::mutex mutex;  // the rest
  std::condition_variable condition;
  bool woken = false;
  bool stopping = false;
  std::uint64_t flushes_wanted = 0;
  std::uint64_t flushes_done = 0;
  std::thread thread;  // last: starts when everything above is there
};

Observer::Observer(Options options, std::function<void()> wake)
    : impl_(std::make_unique<Impl>(options, std::move(wake))) {}

Observer::~Observer() = default;

event::EventSink& Observer::add_node(BrokerId node) {
  const std::lock_guard lock(impl_->sinks_mutex);
  for (RingSink& sink : impl_->sinks) {
    if (sink.node() == node) {
      return sink;
    }
  }
  return impl_->sinks.emplace_back(node, impl_->options.ring_capacity,
                                   static_cast<SleepFlag&>(*impl_), &wall_now);
}

ViewPtr Observer::latest() {
  const std::lock_guard lock(impl_->view_mutex);
  impl_->taken = true;
  return impl_->newest;
}

void Observer::flush() {
  std::unique_lock lock(impl_->mutex);
  const std::uint64_t wanted = ++impl_->flushes_wanted;
  impl_->condition.notify_all();
  impl_->condition.wait(lock, [&] { return impl_->flushes_done >= wanted; });
}

}  // namespace hw::observe
