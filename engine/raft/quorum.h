// SPDX-License-Identifier: Apache-2.0
// Quorum: the KRaft protocol of one voter, sans-I/O (KIP-595, KIP-853; Ongaro's Raft with Kafka's log and fetches).
//
//   unattached ──timeout──▶ candidate ──majority of votes──▶ leader
//
// A sole voter's own vote is the majority, so its vote and its election are one durable fact.
// Today the quorum has one voter, so a candidate has its majority at once; followers, pre-votes and votes of others
// join this class later, and its shape is made for them: inputs and `now` in, outputs out, nothing else.
// The metadata log itself (__cluster_metadata-0) belongs to the node; the quorum says what to append and to flush.
//
// Invariants:
//  Q1  an election state is durable before anything that depends on it leaves (appends of a new epoch)
//  Q2  the leader epoch rises at every start and never falls
//  Q3  the high watermark advances only over flushed records of the current epoch, and never falls
//  Q4  a new leader's first batch is a control batch that begins with LeaderChange; in an empty log the level of
//      kraft.version and the voters follow in the same batch
// Thread rule: one thread; `now` never decreases.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/base/ids.h"
#include "engine/base/prng.h"
#include "engine/base/result.h"
#include "engine/base/time.h"
#include "engine/base/uuid.h"
#include "engine/event/event.h"

namespace hw::raft {

struct ReplicaKey {
  BrokerId id;
  Uuid directory;  // zero: not known
  friend bool operator==(const ReplicaKey&, const ReplicaKey&) = default;
};

struct VoterEndpoint {
  std::string listener;  // CONTROLLER
  std::string host;
  std::uint16_t port = 0;
};
struct Voter {
  ReplicaKey key;
  std::vector<VoterEndpoint> endpoints;
};
inline constexpr std::int16_t kKRaftVersion = 1;  // dynamic voters (KIP-853)

// What the file `quorum-state` holds.
struct ElectionState {
  LeaderEpoch epoch{0};
  std::optional<BrokerId> leader;
  std::optional<ReplicaKey> voted;
  friend bool operator==(const ElectionState&, const ElectionState&) = default;
};
// One line of JSON as Kafka 4.4 writes it (data_version 1), and back (data_version 0 is read as well).
[[nodiscard]] std::string encode_quorum_state(const ElectionState& state);
[[nodiscard]] Result<ElectionState> decode_quorum_state(std::string_view text);

struct Config {
  Voter self;
  std::vector<Voter> voters;  // today: exactly self
  Duration election_timeout = milliseconds(1000);  // controller.quorum.election.timeout.ms; a sole voter does not wait
};

// Where the log stood when the quorum started.
struct LogPosition {
  Offset log_start_offset;
  Offset log_end_offset;
  LeaderEpoch last_epoch{0};
  Offset high_watermark{0};  // everything below is committed; a sole voter's log is, all of it
};

// One batch for the metadata log, encoded, offsets and leader epoch assigned.
struct AppendBatch {
  Offset base_offset;
  Offset last_offset;
  LeaderEpoch epoch;
  bool control = false;
  Bytes bytes;
};

struct Tick {
  WallTime wall;
};
struct Persisted {};               // the election state asked for last is durable
struct Flushed { Offset up_to; };  // the log is durable up to (not including) this offset
using Input = std::variant<Tick, Persisted, Flushed>;

struct Outputs {                             // the caller owns and reuses it
  std::optional<ElectionState> persist;      // write quorum-state durably, then step(Persisted)
  std::vector<AppendBatch> appends;          // append to the log, in order
  bool flush = false;                        // after the appends: make the log durable, then step(Flushed{log end})
  std::optional<Offset> high_watermark;      // moved
  std::vector<event::Any> events;
  void clear() {
    persist.reset();
    appends.clear();
    flush = false;
    high_watermark.reset();
    events.clear();
  }
};

struct QuorumView {
  enum class State : std::uint8_t { unattached, candidate, leader } state = State::unattached;
  LeaderEpoch epoch{0};
  std::optional<BrokerId> leader;
  Offset log_end_offset;
  Offset high_watermark;
};

class Quorum {
 public:
  Quorum(Config config, ElectionState state, LogPosition log, Prng prng, Instant now);

  void step(const Input& input, Instant now, Outputs& out);
  [[nodiscard]] Instant next_deadline() const noexcept;  // kNever: waits for an input
  [[nodiscard]] QuorumView view() const;

  [[nodiscard]] bool is_leader() const noexcept;
  // Appends one batch with these record values (keys are null, as Kafka's metadata records have none). Returns the
  // offset of the first. REQUIRES: is_leader(), values not empty. The batch and a flush request go to `out`.
  Offset append(const std::vector<Bytes>& values, WallTime wall, Outputs& out);
  [[nodiscard]] Offset log_end_offset() const noexcept { return log_end_; }
  [[nodiscard]] Offset high_watermark() const noexcept { return high_watermark_; }
  [[nodiscard]] LeaderEpoch epoch() const noexcept { return election_.epoch; }

 private:
  struct Unattached {
    Instant election_at;
  };
  struct Candidate {};  // waits for its vote to be durable
  struct Leader {
    Offset epoch_start;
    Offset flushed;
  };
  Instant election_deadline(Instant now);  // uniform in [timeout, 2 · timeout), so that voters do not tie
  void become_candidate(Outputs& out);
  void become_leader(WallTime wall, Outputs& out);
  void advance_high_watermark(Outputs& out);

  Config config_;
  ElectionState election_;
  Prng prng_;
  std::variant<Unattached, Candidate, Leader> state_;
  Offset log_end_;
  Offset high_watermark_;
  WallTime wall_;  // newest seen; stamps control batches
};

}  // namespace hw::raft
