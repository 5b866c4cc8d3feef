// SPDX-License-Identifier: Apache-2.0
#include "engine/sim/options.h"

#include <fmt/core.h>

#include <array>

namespace hw::sim {

namespace {

template <class T, std::size_t N>
T one_of(Prng& prng, const std::array<T, N>& values) {
  return values[prng.below(N)];
}

}  // namespace

const char* fault_name(Fault fault) noexcept {
  static constexpr std::array<const char*, kFaults> names{"kill", "power", "stop", "pause", "cut", "cut-one-way",
                                                          "slow-links", "broken-streams", "slow-disk", "full-disk", "lost-client",
                                                          "clogged", "clock-step", "failing-disk", "old-life"};
  return names[static_cast<std::size_t>(fault)];
}

const char* deed_name(Deed deed) noexcept {
  static constexpr std::array<const char*, kDeeds> names{"come-and-go", "grow",      "delete-records", "reassign",
                                                         "elect",       "configure", "voters"};
  return names[static_cast<std::size_t>(deed)];
}

bool Options::has(Fault fault) const noexcept { return std::find(faults.begin(), faults.end(), fault) != faults.end(); }

std::string Options::text() const {
  std::string kinds;
  for (const Fault fault : faults) {
    kinds += (kinds.empty() ? "" : ",") + std::string(fault_name(fault));
  }
  std::string does;
  for (const Deed deed : deeds) {
    does += (does.empty() ? "" : ",") + std::string(deed_name(deed));
  }
  std::string settings;
  for (const auto& [key, value] : configs) {
    settings += (settings.empty() ? "" : " ") + key + "=" + value;
  }
  return fmt::format(
      "seed {}: {} controllers and {} spare, {} brokers{}, {} of them late; RF {}, min ISR {}; {} topics of {} partitions{}\n"
      "  clients: {} producers idempotent, {} acks=all, {} acks=1, {} acks=0, {} consumers ({} by KIP-848); a record of {} bytes every {} ms\n"
      "  faults: {}; one every {} ms, {} ms long; for {} s\n"
      "  deeds: {}; one every {} ms\n"
      "  network {} us + {} us, {} of 1000 lost; sync {} us, clocks drift by up to {} ppm{}{}\n"
      "  {}",
      seed, controllers, spare_controllers, brokers, combined ? " (combined)" : "", late_brokers, replication_factor, min_insync, topics, partitions,
      unclean ? ", unclean elections" : "", producers, plain_producers, careless_producers, mute_producers, consumers, consumer_members, record_bytes,
      record_interval_ms, kinds.empty() ? "none" : kinds, fault_interval_ms, fault_length_ms, faulty.ms() / 1000, does.empty() ? "none" : does,
      deed_interval_ms, network_delay_us, network_jitter_us, loss_per_mille, sync_us, drift_ppm, oddities ? "; oddities" : "",
      canary == trial::Canary::none ? "" : fmt::format("; canary {}", trial::name_of(canary)), settings);
}

void set_replication(Options& options, std::int16_t factor) {
  options.replication_factor = factor;
  options.min_insync = factor >= 3 ? 2 : 1;
  options.configs["min.insync.replicas"] = std::to_string(options.min_insync);
  options.configs["default.replication.factor"] = std::to_string(factor);
  options.configs["offsets.topic.replication.factor"] = std::to_string(factor);
}

Options draw(std::uint64_t seed, Duration faulty) {
  Prng prng(seed ^ 0x5157a6e5ULL);
  Options o;
  o.seed = seed;
  switch (prng.below(10)) {
    case 0:
      o.controllers = 1;
      o.brokers = 1;
      break;
    case 1:
      o.controllers = 1;
      o.brokers = 3;
      break;
    case 2:
      o.controllers = 3;
      o.brokers = 3;
      o.combined = false;
      break;
    case 3:
      o.controllers = 3;
      o.brokers = 5;
      o.spare_controllers = static_cast<std::int32_t>(prng.below(3));
      o.late_brokers = static_cast<std::int32_t>(prng.below(3));
      break;
    case 4:
      o.controllers = 5;
      o.brokers = 5;
      break;
    default:
      break;
  }
  set_replication(o, static_cast<std::int16_t>(std::min(o.brokers, 3)));
  o.topics = static_cast<std::int32_t>(prng.between(1, 3));
  o.partitions = static_cast<std::int32_t>(prng.between(1, 6));
  o.producers = static_cast<std::int32_t>(prng.between(1, 3));
  o.plain_producers = prng.chance({1, 3}) ? 1 : 0;
  o.careless_producers = prng.chance({1, 3}) ? 1 : 0;
  o.mute_producers = prng.chance({1, 4}) ? 1 : 0;
  o.unclean = prng.chance({1, 10});
  o.consumers = static_cast<std::int32_t>(prng.between(0, 3));
  o.record_interval_ms = one_of<std::int64_t, 4>(prng, {5, 10, 20, 100});
  o.record_bytes = one_of<std::size_t, 4>(prng, {20, 100, 1'000, 4'000});
  for (std::size_t i = 0; i < kDeeds; ++i) {
    const auto deed = static_cast<Deed>(i);
    if (prng.chance({1, 4}) && (deed != Deed::voters || o.spare_controllers > 0)) {
      o.deeds.push_back(deed);
    }
  }
  o.deed_interval_ms = one_of<std::int64_t, 3>(prng, {300, 1'500, 5'000});
  for (std::size_t i = 0; i < kFaults; ++i) {
    const auto fault = static_cast<Fault>(i);
    if (fault == Fault::old_life) {
      continue;  // below
    }
    const bool rare = fault == Fault::full_disk || fault == Fault::power || fault == Fault::failing_disk;
    if (prng.chance(rare ? Ratio{1, 4} : Ratio{2, 5})) {
      o.faults.push_back(fault);
    }
  }
  o.fault_interval_ms = one_of<std::int64_t, 4>(prng, {500, 2'000, 4'000, 8'000});
  o.fault_length_ms = one_of<std::int64_t, 4>(prng, {200, 1'000, 4'000, 12'000});
  o.network_delay_us = one_of<std::int64_t, 3>(prng, {30, 200, 5'000});
  o.network_jitter_us = one_of<std::int64_t, 3>(prng, {50, 1'000, 20'000});
  o.loss_per_mille = one_of<std::int32_t, 4>(prng, {0, 0, 1, 20});
  o.drift_ppm = one_of<std::int64_t, 3>(prng, {0, 100, 2'000});
  o.sync_us = one_of<std::int64_t, 3>(prng, {100, 1'000, 20'000});
  o.faulty = faulty == Duration{} ? seconds(prng.between(15, 60)) : faulty;

  const auto number = [](std::int64_t value) { return std::to_string(value); };
  const std::int64_t session = one_of<std::int64_t, 3>(prng, {1'500, 4'000, 9'000});
  o.configs["broker.session.timeout.ms"] = number(session);
  o.configs["broker.heartbeat.interval.ms"] = number(session / 4);
  const std::int64_t quorum = one_of<std::int64_t, 3>(prng, {1'000, 2'000, 3'000});
  o.configs["controller.quorum.election.timeout.ms"] = number(quorum / 2);
  o.configs["controller.quorum.election.backoff.max.ms"] = number(quorum / 2);
  o.configs["controller.quorum.fetch.timeout.ms"] = number(quorum);
  o.configs["controller.quorum.request.timeout.ms"] = number(quorum);
  o.configs["replica.lag.time.max.ms"] = number(one_of<std::int64_t, 3>(prng, {1'000, 4'000, 10'000}));
  o.configs["replica.fetch.backoff.ms"] = number(one_of<std::int64_t, 2>(prng, {100, 1'000}));
  o.configs["num.replica.fetchers"] = number(prng.between(1, 2));
  o.configs["offsets.topic.num.partitions"] = "3";
  o.configs["group.initial.rebalance.delay.ms"] = "100";
  o.configs["auto.create.topics.enable"] = "false";
  o.configs["log.retention.ms"] = "-1";
  o.configs["log.segment.bytes"] = number(one_of<std::int64_t, 3>(prng, {1'048'576, 4'194'304, 104'857'600}));
  o.configs["log.flush.offset.checkpoint.interval.ms"] = number(one_of<std::int64_t, 2>(prng, {1'000, 60'000}));
  o.configs["replica.high.watermark.checkpoint.interval.ms"] = number(one_of<std::int64_t, 2>(prng, {500, 5'000}));
  o.configs["leader.imbalance.check.interval.seconds"] = number(prng.between(3, 30));
  if (prng.chance({1, 3})) {
    o.configs["metadata.log.max.record.bytes.between.snapshots"] = "4000";
  }
  o.oddities = prng.chance({1, 2});
  // Drawn behind all that, so that it changes nothing else of a seed. Empty records twice a second are not in the way of most runs.
  o.configs["metadata.max.idle.interval.ms"] = prng.chance({1, 4}) ? "500" : "0";
  // Drawn apart: what a seed meant before, it still means.
  Prng apart(seed ^ 0x903ULL);
  if (apart.chance({1, 8})) {
    o.faults.push_back(Fault::old_life);
  }
  if (o.unclean && apart.chance({1, 2}) && std::find(o.deeds.begin(), o.deeds.end(), Deed::configure) == o.deeds.end()) {
    o.deeds.push_back(Deed::configure);  // min.insync.replicas changes only there
  }
  Prng groups(seed ^ 0x848ULL);
  if (groups.chance({1, 2})) {
    o.consumer_members = groups.chance({1, 3}) ? static_cast<std::int32_t>(groups.between(0, o.consumers)) : o.consumers;
  }
  o.configs["group.consumer.min.session.timeout.ms"] = "1000";
  o.configs["group.consumer.session.timeout.ms"] = "6000";
  o.configs["group.consumer.min.heartbeat.interval.ms"] = "100";
  o.configs["group.consumer.heartbeat.interval.ms"] = "500";
  return o;
}

}  // namespace hw::sim
