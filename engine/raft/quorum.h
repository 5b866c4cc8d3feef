// SPDX-License-Identifier: Apache-2.0
// Quorum: the KRaft protocol of one replica of the metadata log, sans-I/O (KIP-595, 630, 853, 996; Ongaro's Raft with
// Kafka's log, in which followers fetch).
//
//   unattached ──timeout──▶ prospective ──pre-votes──▶ candidate ──votes──▶ leader ──no majority fetches──▶ resigned
//        ▲                      │ ▲                        │                                                    │
//        └──── higher epoch ────┴─┼──────────▶ follower ◀──┴── somebody leads                                   │
//                                 └── fetch timeout ──┘                 ◀──────────── next epoch ───────────────┘
//
// A sole voter skips the votes: its own is the majority, so that its vote and its election are one durable fact. Observers
// (brokers, and controllers that are not voters) are followers that never become prospective.
//
// How a shell drives it: it gives inputs with the time and performs the outputs: `persist` durably, then Persisted with that
// state; `flush` the log, then Flushed; sends and replies at any time. Whatever depends on a state that is not durable yet is
// held back inside and comes out with Persisted, so that a shell cannot get the order wrong. The log is reached through
// ReplicatedLog, synchronously; making it durable is the shell's.
//
// Invariants:
//  Q1  an election state is durable before anything that depends on it leaves (votes, requests, answers, appends of a new epoch)
//  Q2  the leader epoch rises with every election and never falls; one vote an epoch
//  Q3  the high watermark advances only to what a majority holds durably, up to a record of the current epoch at least, and
//      never falls
//  Q4  a new leader's first batch is a control batch that begins with LeaderChange; where the log does not tell the voters yet,
//      the level of kraft.version and the voters follow in the same batch
//  Q5  a voter's fetch from an offset says that everything below is durable in its log
//  Q6  what waits for the log to be durable has asked for that: while Q5 needs more than is flushed, a flush is on its way
// Bad requests get Kafka's errors; what cannot happen between correct replicas (two leaders in an epoch, truncation below the
// high watermark) changes nothing and is told in Outputs::broken.
// Thread rule: one thread; `now` never decreases.
#pragma once

#include <cstdint>
#include <memory>
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
#include "engine/raft/replicated_log.h"
#include "engine/raft/voters.h"
#include "engine/wire/msg/add_raft_voter.h"
#include "engine/wire/msg/api_versions.h"
#include "engine/wire/msg/begin_quorum_epoch.h"
#include "engine/wire/msg/describe_quorum.h"
#include "engine/wire/msg/end_quorum_epoch.h"
#include "engine/wire/msg/fetch.h"
#include "engine/wire/msg/fetch_snapshot.h"
#include "engine/wire/msg/remove_raft_voter.h"
#include "engine/wire/msg/update_raft_voter.h"
#include "engine/wire/msg/vote.h"

namespace hw::raft {

inline constexpr const char* kMetadataTopicName = "__cluster_metadata";
inline constexpr Uuid kMetadataTopicUuid{0, 1};  // Kafka's reserved id of that topic

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
  std::string cluster_id;             // empty: requests' cluster ids are not checked
  std::string listener = "CONTROLLER";
  // The voters where neither log nor snapshot tells them: controller.quorum.voters, or none (an observer that has just begun).
  std::vector<Voter> voters;
  std::int16_t kraft_version = kKRaftVersion;  // of those
  // Where replicas are. With a node id it wins over what the log says, whose ports may be of an earlier life; without one it
  // is whom to ask where no voter is known (controller.quorum.bootstrap.servers).
  struct Address {
    BrokerId node = kNoBroker;
    std::string host;
    std::uint16_t port = 0;
  };
  std::vector<Address> addresses;
  bool always_flush = true;        // controllers; a broker that only observes need not flush before it fetches
  Duration election_timeout = milliseconds(1000);     // controller.quorum.election.timeout.ms; drawn from [T, 2T)
  Duration election_backoff_max = milliseconds(1000); // controller.quorum.election.backoff.max.ms
  Duration fetch_timeout = milliseconds(2000);        // controller.quorum.fetch.timeout.ms
  Duration request_timeout = milliseconds(2000);      // controller.quorum.request.timeout.ms
  Duration retry_backoff = milliseconds(20);          // controller.quorum.retry.backoff.ms
  // A voter that has just started asks for pre-votes after a time drawn from [0, this): nobody who follows a leader is
  // disturbed by it, and a cluster that starts as a whole need not wait for an election timeout.
  Duration first_election = milliseconds(30);
  std::int32_t max_fetch_bytes = 1024 * 1024;           // controller.quorum.fetch.max.bytes
  std::int32_t max_snapshot_fetch_bytes = 1024 * 1024;  // controller.quorum.fetch.snapshot.max.bytes
};

// ---------------------------------------------------------------- inputs

using PeerRequest = std::variant<wire::VoteRequest, wire::BeginQuorumEpochRequest, wire::EndQuorumEpochRequest,
                                 wire::FetchRequest, wire::FetchSnapshotRequest, wire::AddRaftVoterRequest,
                                 wire::RemoveRaftVoterRequest, wire::UpdateRaftVoterRequest, wire::DescribeQuorumRequest>;
using PeerAnswer = std::variant<wire::VoteResponse, wire::BeginQuorumEpochResponse, wire::EndQuorumEpochResponse,
                                wire::FetchResponse, wire::FetchSnapshotResponse, wire::AddRaftVoterResponse,
                                wire::RemoveRaftVoterResponse, wire::UpdateRaftVoterResponse, wire::DescribeQuorumResponse>;

struct Tick {
  WallTime wall;
};
struct Persisted {  // this election state is durable
  ElectionState state;
};
struct Flushed {  // the log is durable up to (not including) this offset
  Offset up_to;
};
struct Request {  // somebody asks; exactly one Reply with this token follows, at once or later
  std::uint64_t token = 0;
  std::int16_t version = 0;
  PeerRequest body;
};
struct Response {  // to the Send with this id; late ones are ignored
  std::uint64_t id = 0;
  std::variant<wire::VoteResponse, wire::BeginQuorumEpochResponse, wire::EndQuorumEpochResponse, wire::FetchResponse,
               wire::FetchSnapshotResponse, wire::UpdateRaftVoterResponse, wire::ApiVersionsResponse>
      body;
};
struct Failed {  // no answer will come: refused, broken off, timed out
  std::uint64_t id = 0;
};
struct Resign {};  // the node stops: a leader hands over (EndQuorumEpoch), nobody begins an election any more
using Input = std::variant<Tick, Persisted, Flushed, Request, Response, Failed, Resign>;

// ---------------------------------------------------------------- outputs

struct Destination {
  BrokerId node = kNoBroker;  // kNoBroker: a bootstrap address
  std::string host;
  std::uint16_t port = 0;
};
struct Send {
  std::uint64_t id = 0;
  Destination to;
  std::int16_t version = 0;  // to encode the body in
  std::variant<wire::VoteRequest, wire::BeginQuorumEpochRequest, wire::EndQuorumEpochRequest, wire::FetchRequest,
               wire::FetchSnapshotRequest, wire::UpdateRaftVoterRequest, wire::ApiVersionsRequest>
      body;
  Duration timeout;  // the quorum gives it up by itself then
};
struct Reply {
  std::uint64_t token = 0;
  PeerAnswer body;
};

struct Outputs {                         // the caller owns and reuses it
  std::optional<ElectionState> persist;  // write quorum-state durably, then step(Persisted{it})
  bool flush = false;                    // make the log durable, then step(Flushed{its end})
  std::vector<Send> sends;
  std::vector<Reply> replies;
  std::optional<Offset> high_watermark;  // moved
  bool leader_changed = false;           // view() tells to whom
  bool log_restarted = false;            // the log was cut off whole and begins behind a snapshot
  std::string broken;                    // not empty: the replica cannot go on; for people
  std::vector<event::Any> events;
  void clear() {
    persist.reset();
    flush = false;
    sends.clear();
    replies.clear();
    high_watermark.reset();
    leader_changed = false;
    log_restarted = false;
    broken.clear();
    events.clear();
  }
};

struct QuorumView {
  enum class State : std::uint8_t { unattached, prospective, candidate, follower, leader, resigned } state = State::unattached;
  bool voter = false;  // an observer otherwise
  LeaderEpoch epoch{0};
  std::optional<BrokerId> leader;
  Offset log_start_offset;
  Offset log_end_offset;
  Offset high_watermark;
  Offset epoch_start;    // of the leader itself: where its epoch begins in the log
  bool resigning = false;  // Resign was asked for and some voter has not heard of it yet
};
[[nodiscard]] const char* state_name(QuorumView::State state) noexcept;  // Kafka's: Unattached, Follower, …

class Quorum {
 public:
  // Reads the voters out of the log and its newest snapshot. The log outlives the quorum. A sole voter's log is committed, all
  // of it; otherwise only what a snapshot holds is known to be.
  Quorum(Config config, ElectionState state, ReplicatedLog& log, Prng prng, Instant now);
  ~Quorum();
  Quorum(Quorum&&) noexcept;
  Quorum& operator=(Quorum&&) noexcept;

  void step(const Input& input, Instant now, Outputs& out);
  [[nodiscard]] Instant next_deadline() const noexcept;  // kNever: waits for an input
  [[nodiscard]] QuorumView view() const;
  [[nodiscard]] const VoterSet& voters() const noexcept;  // newest, committed or not
  [[nodiscard]] const std::string& problem() const noexcept;  // not empty: the log could not be read at the start

  [[nodiscard]] bool is_leader() const noexcept;
  // Appends one batch with these record values (keys are null, as Kafka's metadata records have none). Returns the
  // offset of the first. REQUIRES: is_leader(), values not empty. A flush request goes to `out`.
  Offset append(const std::vector<Bytes>& values, WallTime wall, Instant now, Outputs& out);
  [[nodiscard]] Offset log_end_offset() const noexcept;
  [[nodiscard]] Offset high_watermark() const noexcept;
  [[nodiscard]] LeaderEpoch epoch() const noexcept;

  // Who votes and at which level as of the records below `end`: the head of a snapshot that ends there.
  [[nodiscard]] const VoterSet& voters_at(Offset end) const noexcept;
  [[nodiscard]] std::int16_t kraft_version_at(Offset end) const noexcept;

 private:
  struct Impl;
  friend struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hw::raft
