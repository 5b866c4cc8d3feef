// SPDX-License-Identifier: Apache-2.0
// Nemesis: what happens to nodes, links and disks, drawn from the run's options; it takes everything back after a while, and at the end.
//
// What it does not do: take away what nobody can survive. Power is lost only where every partition is in sync on all its replicas and
// nobody else is down, and disks fill up one at a time: acknowledged records are safe from one such loss (min ISR 2 of 3), not from more.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/prng.h"
#include "engine/sim/event_queue.h"
#include "engine/sim/network.h"
#include "engine/sim/node_host.h"
#include "engine/sim/options.h"
#include "engine/sim/trace.h"

namespace hw::sim {

class Nemesis {
 public:
  struct Setting {
    const Options& options;
    EventQueue& queue;
    Network& network;
    Trace& trace;
    const std::vector<std::unique_ptr<NodeHost>>& nodes;
    std::function<void(NodeHost&)> start;  // a node that is down
    std::function<void()> lose_client;
  };
  Nemesis(Setting setting, Prng prng) : set_(std::move(setting)), prng_(prng) {}

  void begin();
  // No more of it, and everything works again.
  void end();
  // A node that gave up by itself is replaced: its process ends and begins anew, with room on its disk.
  void replace(NodeHost& node);
  [[nodiscard]] std::uint64_t faults() const noexcept { return count_; }

 private:
  void next();
  void strike(Fault fault);
  void come_back(NodeHost& node);
  bool kill(NodeHost& node);
  void old_life(NodeHost& node);
  void cut(bool one_way);
  void clog();
  [[nodiscard]] NodeHost* some_node(bool alive);
  [[nodiscard]] bool all_is_well() const;
  [[nodiscard]] Duration length();
  void say(const std::string& text) { set_.trace.line(set_.queue.now(), text); }

  Setting set_;
  Prng prng_;
  bool ended_ = false;
  bool records_lost_ = false;  // a node has lost power and may not have caught up yet
  std::uint64_t count_ = 0;
  std::uint64_t links_ = 0;  // counts changes, so that an old heal does not undo a newer fault
};

}  // namespace hw::sim
