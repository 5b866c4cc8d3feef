// SPDX-License-Identifier: Apache-2.0
// Observer: the thread between nodes and readers. Drains every node's ring, reduces, publishes
// views.
//
// Publishes at most every 16 ms and only after a change; then calls `wake`, unless the reader has
// not taken the previous view yet. An idle cluster costs nothing: the thread sleeps until a node
// has something for it. Thread rule: add_node() before the node starts, from one thread; latest()
// from any thread; emit() of a sink on its node's thread. `wake` runs on the observer's thread and
// must not block.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "engine/event/event.h"
#include "engine/observe/cluster_view.h"

namespace hw::observe {

class Observer {
 public:
  struct Options {
    std::size_t ring_capacity = 1U << 14U;  // events per node, a power of two
    std::int64_t publish_interval_ms = 16;
  };

  Observer(Options options, std::function<void()> wake);
  ~Observer();  // nodes have ended before
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;

  // Where that node's core and shell put their events. Owned by the observer, lives as long as it.
  // A node that starts again keeps its sink.
  [[nodiscard]] event::EventSink& add_node(BrokerId node);

  // The newest view; never null. Taking it lets the next publication wake the reader again.
  [[nodiscard]] ViewPtr latest();

  // Blocks until everything emitted before this call is in latest(). For tests and for stopping;
  // not on a UI thread.
  void flush();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hw::observe
