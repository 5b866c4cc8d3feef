// SPDX-License-Identifier: Apache-2.0
// Who votes in the quorum (KIP-853): replica keys, their endpoints, and the set of voters as the log tells it.
//
// A voter is a node id with the id of the directory that holds its metadata log, so that a node with an empty disk is not
// taken for the voter it replaces. A directory that is zero is not known (kraft.version 0) and matches any.
// Thread rule: values.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/base/ids.h"
#include "engine/base/result.h"
#include "engine/base/uuid.h"

namespace hw::raft {

struct ReplicaKey {
  BrokerId id;
  Uuid directory;  // zero: not known
  friend bool operator==(const ReplicaKey&, const ReplicaKey&) = default;
  friend auto operator<=>(const ReplicaKey&, const ReplicaKey&) = default;
  // The same replica as far as both sides know.
  [[nodiscard]] bool matches(const ReplicaKey& other) const noexcept {
    return id == other.id && (directory == Uuid{} || other.directory == Uuid{} || directory == other.directory);
  }
};

struct VoterEndpoint {
  std::string listener;  // CONTROLLER
  std::string host;
  std::uint16_t port = 0;
  friend bool operator==(const VoterEndpoint&, const VoterEndpoint&) = default;
};

inline constexpr std::int16_t kKRaftVersion = 1;  // dynamic voters

struct Voter {
  ReplicaKey key;
  std::vector<VoterEndpoint> endpoints;
  std::int16_t min_kraft_version = 0;
  std::int16_t max_kraft_version = kKRaftVersion;
  friend bool operator==(const Voter&, const Voter&) = default;
};

// The endpoint of that listener; where there is none of that name, nothing.
[[nodiscard]] const VoterEndpoint* find_endpoint(const std::vector<VoterEndpoint>& endpoints, std::string_view listener) noexcept;

class VoterSet {
 public:
  VoterSet() = default;
  explicit VoterSet(std::vector<Voter> voters);  // an id that comes twice counts once
  [[nodiscard]] const std::vector<Voter>& all() const noexcept { return voters_; }  // by id
  [[nodiscard]] std::size_t size() const noexcept { return voters_.size(); }
  [[nodiscard]] bool empty() const noexcept { return voters_.empty(); }
  [[nodiscard]] std::size_t majority() const noexcept { return voters_.size() / 2 + 1; }
  [[nodiscard]] const Voter* find(BrokerId id) const noexcept;
  [[nodiscard]] bool is_voter(const ReplicaKey& key) const noexcept;
  [[nodiscard]] bool only(const ReplicaKey& key) const noexcept { return voters_.size() == 1 && is_voter(key); }
  // The set with one voter more, less, or with other endpoints; nothing where that cannot be.
  [[nodiscard]] std::optional<VoterSet> with(const Voter& voter) const;
  [[nodiscard]] std::optional<VoterSet> without(const ReplicaKey& key) const;
  [[nodiscard]] std::optional<VoterSet> updated(const Voter& voter) const;
  friend bool operator==(const VoterSet&, const VoterSet&) = default;

 private:
  std::vector<Voter> voters_;
};

// What the control records of a log say about the quorum: the last one counts, committed or not. Offsets ascend.
class VoterHistory {
 public:
  // What holds before any record: static voters, or those of the format (kraft.version and voters of the first snapshot).
  VoterHistory(VoterSet initial, std::int16_t kraft_version) : initial_(std::move(initial)), initial_version_(kraft_version) {}
  void add(Offset offset, VoterSet voters) { sets_.push_back({offset, std::move(voters)}); }
  void add_version(Offset offset, std::int16_t version) { versions_.push_back({offset, version}); }
  // A snapshot took the place of everything below `end`.
  void restart(VoterSet voters, std::int16_t kraft_version, Offset end);
  void truncate_to(Offset offset);    // records at and above it are gone
  void forget_below(Offset offset);   // keeps the last entry below it
  [[nodiscard]] const VoterSet& last() const noexcept { return sets_.empty() ? initial_ : sets_.back().second; }
  [[nodiscard]] std::int16_t version() const noexcept { return versions_.empty() ? initial_version_ : versions_.back().second; }
  [[nodiscard]] Offset last_offset() const noexcept { return sets_.empty() ? kNoOffset : sets_.back().first; }  // -1: initial
  // As of the records below `offset`: what a snapshot that ends there has to say.
  [[nodiscard]] const VoterSet& at(Offset offset) const noexcept;
  [[nodiscard]] std::int16_t version_at(Offset offset) const noexcept;

 private:
  VoterSet initial_;
  std::int16_t initial_version_;
  std::deque<std::pair<Offset, VoterSet>> sets_;
  std::deque<std::pair<Offset, std::int16_t>> versions_;
};

// Reads the records of one control batch into `history`. Errc::corrupt: it does not decode.
Result<void> read_control_batch(const Bytes& batch, VoterHistory& history);

}  // namespace hw::raft
