// SPDX-License-Identifier: Apache-2.0
// What the quorum remembers in each of its states; how it acts is in one file for each (unattached.cpp, …).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "engine/base/ids.h"
#include "engine/base/time.h"
#include "engine/raft/quorum.h"

namespace hw::raft {

// The leader of an epoch and where it is reached.
struct LeaderAt {
  BrokerId id;
  std::vector<VoterEndpoint> endpoints;
};

// Votes of one round: a voter counts once. `voters` is the set that the round began with.
struct Ballot {
  VoterSet voters;
  std::set<BrokerId> granted;
  std::set<BrokerId> rejected;
  [[nodiscard]] bool won() const noexcept { return granted.size() >= voters.majority(); }
  [[nodiscard]] bool lost() const noexcept { return voters.size() - rejected.size() < voters.majority(); }
  [[nodiscard]] bool open(BrokerId voter) const noexcept { return !granted.contains(voter) && !rejected.contains(voter); }
};

struct Unattached {
  Instant election_at;
};

// Asks whether an election would be won, without an epoch of its own (KIP-996).
struct Prospective {
  Ballot ballot;
  Instant election_at;
  std::optional<LeaderAt> leader;  // the one that it followed and lost sight of
};

struct Candidate {
  Ballot ballot;
  Instant election_at;
  std::optional<Instant> backoff_until;  // lost: the next round begins then
  bool sole = false;                     // its own vote is the majority; it waits for that to be durable
};

struct Follower {
  LeaderAt leader;
  Duration patience;  // the fetch timeout and a little that is drawn: followers of one that died must not all stand at once
  Instant fetch_timeout_at;
  Instant update_voter_at;
  bool handed_over = false;  // it said so itself (EndQuorumEpoch)
  bool has_fetched = false;  // successfully, from this leader: it lives, and pre-votes are refused
  struct Snapshot {
    SnapshotId id;
    std::uint64_t position = 0;
  };
  std::optional<Snapshot> fetching;
};

// How far another replica is, as its fetches tell.
struct Progress {
  ReplicaKey key;
  std::optional<Offset> end_offset;
  std::optional<Instant> last_fetch;
  std::optional<Instant> last_caught_up;
  std::optional<Offset> leader_end_at_last_fetch;
  std::shared_ptr<event::FollowerCounters> told;  // null until its first fetch
};

struct WaitingFetch {
  std::uint64_t token = 0;
  std::int16_t version = 0;
  ReplicaKey replica;
  wire::FetchRequest::FetchPartition partition;
  std::int32_t max_bytes = 0;
  Instant expires_at;
};

// One change of the voters at a time (KIP-853).
struct VoterChange {
  enum class Kind : std::uint8_t { add, remove } kind = Kind::add;
  std::uint64_t token = 0;
  Voter voter;                     // add: the new one
  bool ack_when_committed = true;  // false: answered when it is appended
  std::optional<std::uint64_t> asked;  // add: the ApiVersions request to the new voter
  std::optional<Offset> record;    // of the VotersRecord; answered when it is committed
  Instant expires_at;
};

struct Leader {
  Offset epoch_start;
  std::optional<Offset> high_watermark;   // known once a record of this epoch is committed
  std::map<BrokerId, Progress> voters;    // without this node
  std::map<ReplicaKey, Progress> observers;
  std::set<BrokerId> fetched;             // voters that fetched since the check began
  Instant check_quorum_at;
  Instant begin_epoch_at;
  std::set<BrokerId> begin_epoch_to;      // whose BeginQuorumEpoch is due
  std::vector<WaitingFetch> waiting;
  std::optional<VoterChange> change;
  bool resign_wanted = false;             // it is no voter any more
};

struct Resigned {
  std::vector<ReplicaKey> successors;  // by how far they are
  std::set<BrokerId> unheard;          // voters that have not answered EndQuorumEpoch
  Instant election_at;
};

using State = std::variant<Unattached, Prospective, Candidate, Follower, Leader, Resigned>;

// One request at a time goes to a destination, and none for a while after one that failed.
struct Link {
  std::uint64_t in_flight = 0;  // 0: none
  Instant expires_at;
  Instant backoff_until;
};

}  // namespace hw::raft
