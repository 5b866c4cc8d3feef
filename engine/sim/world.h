// SPDX-License-Identifier: Apache-2.0
// World: a whole cluster, its clients and its bad luck in one thread, with a clock of its own. A run is repeated by its seed.
//
//   safety   faults for a while; every check must hold at any time
//   calm     everything is healed; within a bound all brokers are registered and unfenced, all replicas in sync, all images equal, every
//            record answered and every consumer at the end
// Thread rule: one thread. Nothing outside of the process is touched: no file, no socket, no clock.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/sim/options.h"

namespace hw::sim {

struct Outcome {
  std::vector<std::string> violations;  // empty: all is well
  std::vector<std::string> last_lines;  // of the trace
  std::uint64_t hash = 0;               // of everything that happened
  Duration simulated;
  std::uint64_t events = 0;
  std::uint64_t frames = 0;
  std::uint64_t faults = 0;
  std::uint64_t sent = 0;
  std::uint64_t acknowledged = 0;
  std::uint64_t consumed = 0;
  std::uint64_t commits = 0;
  std::uint64_t elections = 0;  // of partitions
  trial::MarkCounts marks{};
  [[nodiscard]] std::string text() const;
};

// `print` (may be empty) gets a line per transition.
[[nodiscard]] Outcome run(const Options& options, const std::function<void(const std::string&)>& print = {});

}  // namespace hw::sim
