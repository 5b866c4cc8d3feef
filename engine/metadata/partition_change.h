// SPDX-License-Identifier: Apache-2.0
// What becomes of one partition: who leads it, which replicas are in sync, which could lead without losing records.
//
// The one place that decides. Given what a partition is, what is wished of it and who may lead, change_partition() gives
// the record that carries it out, or nothing where nothing changes. In this order:
//   1. A reassignment whose target replicas are all in sync is completed: the replicas that were to go go.
//   2. Eligible leader replicas (ELR, KIP-966): who leaves the ISR while fewer than min.insync.replicas are in it had every
//      record that was acknowledged, and stays eligible; with enough members in the ISR nobody needs to be.
//   3. Election. The present leader stays where it may. Otherwise the first replica, in the order of the assignment, that
//      is in the ISR (or, where the ISR is empty, in the ELR) and may lead; then the last known leader where ISR and ELR
//      are both empty; then, where losing records is allowed, the first that may lead. Otherwise nobody. A preferred
//      election tries the first replica of the assignment before the present leader.
//      Whoever is elected from outside ISR and ELR is alone in sync afterwards, and recovering.
//   4. The leader epoch rises when the leader changes or a replica is taken away, not when the ISR alone shrinks.
// Without ELR the ISR keeps its last member, which may lead again when it is back.
// Sources: KIP-631, KIP-704 (recovery state), KIP-858 (directories), KIP-966, behaviours of Kafka 4.4.
// Thread rule: a pure function. Lists of brokers are small and without repetitions.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "engine/base/ids.h"
#include "engine/base/uuid.h"
#include "engine/metadata/image/image.h"
#include "engine/wire/msg/partition_change_record.h"

namespace hw::metadata {

enum class Election : std::uint8_t {
  online,     // only members of ISR or ELR
  preferred,  // as online, the first replica of the assignment before all others
  unclean,    // as online, and anybody where there is nobody else
};

// What is wished; absent lists stay as they are.
struct PartitionWish {
  std::optional<std::vector<BrokerId>> isr;
  std::optional<std::vector<BrokerId>> replicas;
  std::optional<std::vector<BrokerId>> adding;
  std::optional<std::vector<BrokerId>> removing;
  std::optional<std::int8_t> leader_recovery_state;
  BrokerId lost = kNoBroker;         // its log may miss records that it had: it is neither in sync nor eligible
  BrokerId moved = kNoBroker;        // this broker keeps its replica in the directory `moved_to`
  Uuid moved_to;
  Election election = Election::online;
};

struct PartitionRules {
  std::function<bool(BrokerId)> may_lead;           // alive, not leaving, its directory works; never null
  std::function<Uuid(BrokerId)> default_directory;  // of a replica that is new on a broker; never null
  std::int32_t min_insync_replicas = 1;             // effective: not more than the topic has replicas
  bool elr = false;
};

[[nodiscard]] std::optional<wire::PartitionChangeRecord> change_partition(const Uuid& topic, PartitionIndex index,
                                                                          const PartitionImage& partition,
                                                                          const PartitionWish& wish,
                                                                          const PartitionRules& rules);

// Replicas of a partition while it moves to `target`: those of the target in their order, then those that are to go. What
// an earlier reassignment was adding is still being added.
struct Reassignment {
  std::vector<BrokerId> replicas;
  std::vector<BrokerId> adding;    // ascending
  std::vector<BrokerId> removing;  // ascending
};
[[nodiscard]] Reassignment reassignment_to(const std::vector<BrokerId>& target, const PartitionImage& partition);
// What the partition goes back to when its reassignment is given up. `unclean`: only replicas that were being added are in
// sync, so that going back would lose records.
struct RevertedReassignment {
  std::vector<BrokerId> replicas;
  std::vector<BrokerId> isr;
  bool unclean = false;
};
[[nodiscard]] RevertedReassignment reverted_reassignment(const PartitionImage& partition);
[[nodiscard]] bool is_reassigning(const PartitionImage& partition) noexcept;

// Directory ids that stand for no directory (KIP-858).
inline constexpr Uuid kDirectoryUnassigned{0, 0};
inline constexpr Uuid kDirectoryLost{0, 1};
inline constexpr Uuid kDirectoryMigrating{0, 2};
// Whether a replica in `directory` of a broker that reports `directories` can be used.
[[nodiscard]] bool directory_works(const Uuid& directory, const std::vector<Uuid>& directories) noexcept;

inline constexpr std::int8_t kRecovered = 0;
inline constexpr std::int8_t kRecovering = 1;

}  // namespace hw::metadata
