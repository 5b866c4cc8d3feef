// SPDX-License-Identifier: Apache-2.0
// Transaction: what a coordinator knows about one transactional id, and the steps from one state to the next. A step makes the
// next value; it counts once its record is committed (coordinator.h).
//
//   Empty, Complete* ── add partitions ──▶ Ongoing ── end ──▶ PrepareCommit/PrepareAbort ── all markers written ──▶ Complete*
//   any but Ongoing, Prepare* ── InitProducerId ──▶ Empty;   Ongoing ── InitProducerId, time out ──▶ PrepareAbort (fenced)
//   Empty, Complete* ── aborted without partitions (version 2) ──▶ PrepareAbort;   ── expired ──▶ Dead
//
// Invariants, asserted by may_follow():
//  T1  the new state is one that may follow the old one
//  T2  an epoch of a producer id never goes down; a new producer id begins with epoch 0
//  T3  partitions are added only on the way to Ongoing, and none is lost before Complete*
//  T4  the time of the last update never goes back
// Sources: KIP-98, KIP-360 (epochs), KIP-588 (fencing), KIP-890 (version 2: the epoch rises with every end).
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "engine/base/ids.h"

namespace hw::txn {

// The numbers are those of the records.
enum class State : std::int8_t {
  empty = 0,
  ongoing = 1,
  prepare_commit = 2,
  prepare_abort = 3,
  complete_commit = 4,
  complete_abort = 5,
  dead = 6,
  prepare_epoch_fence = 7,  // known by name only: a fence is written as the abort that it leads to
};

[[nodiscard]] std::string_view state_name(State state) noexcept;  // as Kafka shows it
[[nodiscard]] std::optional<State> state_of(std::string_view name) noexcept;

[[nodiscard]] constexpr bool is_prepared(State state) noexcept {
  return state == State::prepare_commit || state == State::prepare_abort;
}

[[nodiscard]] constexpr bool is_complete(State state) noexcept {
  return state == State::complete_commit || state == State::complete_abort;
}

struct TopicPartition {
  std::string topic;
  PartitionIndex partition;
  friend auto operator<=>(const TopicPartition&, const TopicPartition&) = default;
  friend bool operator==(const TopicPartition&, const TopicPartition&) = default;
};

using Partitions = std::set<TopicPartition>;

// Which protocol a client follows: 2 knows that the epoch rises with every end (KIP-890); nothing tells 0 and 1 apart here.
enum class ClientVersion : std::int8_t { zero = 0, one = 1, two = 2 };

[[nodiscard]] constexpr bool bumps_epoch(ClientVersion version) noexcept {
  return version >= ClientVersion::two;
}

// The last epoch is kept for the coordinator, which can so fence whoever has the one before.
[[nodiscard]] constexpr bool is_exhausted(ProducerEpoch epoch) noexcept {
  return epoch.value() >= 32'766;
}

struct Transaction {
  ProducerId producer_id = kNoProducerId;
  ProducerId previous_producer_id = kNoProducerId;
  ProducerId next_producer_id = kNoProducerId;  // takes over when this transaction is complete
  ProducerEpoch epoch = kNoProducerEpoch;
  ProducerEpoch last_epoch = kNoProducerEpoch;  // of the producer's own last bump; not in the log
  std::int32_t timeout_ms = 0;
  State state = State::empty;
  Partitions partitions;
  std::int64_t start_ms = -1;
  std::int64_t last_update_ms = -1;
  ClientVersion version = ClientVersion::zero;

  // --- steps. REQUIRES of each: the state allows it.
  [[nodiscard]] Transaction with_next_epoch(ProducerEpoch epoch_now, ProducerEpoch epoch_before, std::int32_t timeout, std::int64_t now_ms) const;
  [[nodiscard]] Transaction with_new_producer(ProducerId fresh, bool keep_last_epoch, std::int32_t timeout, std::int64_t now_ms) const;
  [[nodiscard]] Transaction with_partitions(const Partitions& added, ClientVersion by, std::int64_t now_ms) const;
  // `fresh`: a producer id where the epoch is exhausted and rises (version 2), kNoProducerId otherwise.
  [[nodiscard]] Transaction prepared(bool commit, ClientVersion by, ProducerId fresh, std::int64_t now_ms) const;
  // As prepared() to abort, by the coordinator itself: the epoch rises, so that the producer is fenced.
  [[nodiscard]] Transaction fenced(ClientVersion by, ProducerId fresh, std::int64_t now_ms) const;
  [[nodiscard]] Transaction completed(std::int64_t now_ms) const;
  [[nodiscard]] Transaction expired() const;

  friend bool operator==(const Transaction&, const Transaction&) = default;

 private:
  [[nodiscard]] Transaction step(State to, std::int64_t now_ms) const;
};

// T1-T4.
[[nodiscard]] bool may_follow(const Transaction& before, const Transaction& after) noexcept;

}  // namespace hw::txn
