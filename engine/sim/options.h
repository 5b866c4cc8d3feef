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
#include "engine/base/trial.h"

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
  clogged,     // single directions of single links stand still for a moment
  clock_step,  // a wall clock jumps
  failing_disk,  // one write fails
  old_life,    // what a broker sent before it was killed arrives when it lives again (KIP-903)
};
inline constexpr std::size_t kFaults = 15;
[[nodiscard]] const char* fault_name(Fault fault) noexcept;

// What an administrator does meanwhile.
enum class Deed : std::uint8_t {
  come_and_go,     // topics beside those of the workload
  grow,            // partitions of the workload's topics
  delete_records,
  reassign,        // to other replicas, or back
  elect,           // preferred leaders; others too, where unclean elections are allowed
  configure,
  voters,          // spare controllers become voters, and voters spare controllers
};
inline constexpr std::size_t kDeeds = 7;
[[nodiscard]] const char* deed_name(Deed deed) noexcept;

struct Options {
  std::uint64_t seed = 1;
  std::int32_t controllers = 3;
  std::int32_t brokers = 3;
  bool combined = true;  // the first brokers are the controllers
  std::int16_t replication_factor = 3;
  std::int32_t min_insync = 2;
  std::int32_t topics = 2;
  std::int32_t partitions = 3;
  std::int32_t spare_controllers = 0;    // of the brokers, those behind the first controllers: no voters at first (KIP-853)
  std::int32_t late_brokers = 0;         // the last ones begin later, and are added so
  bool unclean = false;                  // unclean elections of the workload's topics: records may be lost, replicas must still agree
  std::int32_t producers = 2;            // acks=all, idempotent
  std::int32_t plain_producers = 0;      // acks=all
  std::int32_t careless_producers = 0;   // acks=1
  std::int32_t mute_producers = 0;       // acks=0
  std::int32_t consumers = 2;            // of one group
  std::int32_t consumer_members = 0;     // the last of them: members of a consumer group (KIP-848); beside others the group migrates
  std::int64_t record_interval_ms = 20;  // of a producer, on average
  std::size_t record_bytes = 100;
  std::vector<Deed> deeds;
  std::int64_t deed_interval_ms = 2'000;  // on average
  std::vector<Fault> faults;
  std::int64_t fault_interval_ms = 3'000;  // on average
  std::int64_t fault_length_ms = 3'000;
  std::int64_t network_delay_us = 200;
  std::int64_t network_jitter_us = 300;
  std::int32_t loss_per_mille = 0;       // of frames: sent again a moment later, with everything behind them
  std::int64_t sync_us = 500;
  std::int64_t drift_ppm = 100;          // of the nodes' clocks, wall and other, at most, either way
  std::map<std::string, std::string> configs;  // of every node
  Duration faulty = seconds(30);         // length of the first phase
  Duration calm_within = seconds(120);   // the second phase may last
  trial::Canary canary = trial::Canary::none;  // a bug on purpose
  bool oddities = false;                 // what is allowed and rare happens often (trial::Oddity)
  [[nodiscard]] std::int32_t nodes() const noexcept { return combined ? std::max(brokers, controllers) : brokers + controllers; }
  [[nodiscard]] std::int32_t first_controller() const noexcept { return combined ? 0 : brokers; }
  // By place: node ids begin with 1.
  [[nodiscard]] bool is_controller(std::int32_t place) const noexcept {
    return place >= first_controller() && place < first_controller() + controllers + spare_controllers;
  }
  [[nodiscard]] bool has(Fault fault) const noexcept;
  [[nodiscard]] std::string text() const;
};

// `faulty`: length of the first phase; zero: drawn as well.
[[nodiscard]] Options draw(std::uint64_t seed, Duration faulty = {});
// Another replication factor, with the min.insync.replicas that goes with it. REQUIRES: at most as many as brokers.
void set_replication(Options& options, std::int16_t factor);

}  // namespace hw::sim
