// SPDX-License-Identifier: Apache-2.0
// What a run is made of, drawn from its seed ("swarm": each run has some kinds of faults only, so that they do not hide each other).
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/base/prng.h"
#include "engine/base/time.h"

namespace hw::sim {

enum class Fault : std::uint8_t {
  kill,        // the process dies; what it wrote is in the page cache and stays
  power,       // the machine loses power: what was not synced is lost, torn, zeroed
  stop,        // clean, with handing over
  pause,       // a long stop of everything, sockets stay open
  cut,         // links between two sets of nodes, both ways
  cut_one_way,
  slow_links,
  broken_streams,
  slow_disk,
  full_disk,   // and started again when there is room
  lost_client, // a client dies
};
inline constexpr std::size_t kFaults = 11;
[[nodiscard]] const char* fault_name(Fault fault) noexcept;

struct Options {
  std::uint64_t seed = 1;
  std::int32_t controllers = 3;
  std::int32_t brokers = 3;
  bool combined = true;  // the first brokers are the controllers
  std::int16_t replication_factor = 3;
  std::int32_t min_insync = 2;
  std::int32_t topics = 2;
  std::int32_t partitions = 3;
  std::int32_t producers = 2;            // acks=all, idempotent
  std::int32_t careless_producers = 0;   // acks=1
  std::int32_t consumers = 2;            // of one group
  std::int64_t record_interval_ms = 20;  // of a producer, on average
  std::size_t record_bytes = 100;
  bool scratch_topics = false;           // an administrator makes and deletes topics meanwhile
  std::vector<Fault> faults;
  std::int64_t fault_interval_ms = 3'000;  // on average
  std::int64_t fault_length_ms = 3'000;
  std::int64_t network_delay_us = 200;
  std::int64_t network_jitter_us = 300;
  std::int64_t sync_us = 500;
  std::int64_t drift_ppm = 100;          // of the nodes' wall clocks, at most, either way
  std::map<std::string, std::string> configs;  // of every node
  Duration faulty = seconds(30);         // length of the first phase
  Duration calm_within = seconds(120);   // the second phase may last
  std::string canary;                    // a bug that a test switches on (NodeOptions::canary); empty: none
  [[nodiscard]] std::int32_t nodes() const noexcept { return combined ? std::max(brokers, controllers) : brokers + controllers; }
  [[nodiscard]] bool has(Fault fault) const noexcept;
  [[nodiscard]] std::string text() const;
};

// `faulty`: length of the first phase; zero: drawn as well.
[[nodiscard]] Options draw(std::uint64_t seed, Duration faulty = {});
// Another replication factor, with the min.insync.replicas that goes with it. REQUIRES: at most as many as brokers.
void set_replication(Options& options, std::int16_t factor);

}  // namespace hw::sim
