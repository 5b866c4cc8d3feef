// SPDX-License-Identifier: Apache-2.0
// ClusterView: everything a window (or a recording) knows about the cluster at one moment.
// Immutable once published.
//
// A tree of shared_ptr<const …> with structural sharing: the reducer copies only the path that
// changed, so a model finds differences by comparing pointers. Levels (offsets, rates) are not in
// the tree: it holds pointers to counters, which the reader samples when it paints. Thread rule:
// readable from any thread; never changed after publication.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/ids.h"
#include "engine/base/time.h"
#include "engine/base/uuid.h"
#include "engine/event/counters.h"
#include "engine/event/event.h"

namespace hw::observe {

inline constexpr Uuid kMetadataTopicId{0, 1};  // of __cluster_metadata, which is no topic of a ClusterView but its `quorum`

struct ReplicaView {
  BrokerId node;
  bool online = true;
  std::shared_ptr<const event::ReplicaCounters> counters;  // null until the replica is open
  std::vector<Offset> segments;  // base offsets, ascending; the last one is active
  Offset last_log_end = kNoOffset;  // where its log ended when its node went; kNoOffset: it is open, or never was
  // As the leader knows it; null: not told, or the leader itself.
  std::shared_ptr<const event::FollowerCounters> followed;
  std::shared_ptr<const event::FetcherCounters> fetcher;
};

// Where an epoch begins in the log, as its leader said.
struct EpochView {
  LeaderEpoch epoch{0};
  BrokerId leader = kNoBroker;
  Offset start;
  WallTime at;
};

// Records that a replica had and has not any more, because its leader went on from an earlier offset.
struct TruncationView {
  BrokerId node;
  Offset from;  // the log end before
  Offset to;
  BrokerId leader;
  LeaderEpoch leader_epoch;
  event::TruncationCause cause = event::TruncationCause::divergence;
  WallTime at;
};

struct PartitionView {
  Uuid topic_id;
  PartitionIndex index;
  BrokerId leader = kNoBroker;
  LeaderEpoch leader_epoch{0};
  std::int32_t partition_epoch = -1;  // -1: nothing of the metadata is known yet
  std::vector<BrokerId> isr;
  std::vector<BrokerId> elr;          // eligible leader replicas
  std::vector<ReplicaView> replicas;  // in assignment order
  WallTime changed_at;                // last leader or ISR change
  // Of the newest epoch whose leader has told of it; `epochs` may be empty.
  std::int32_t min_insync_replicas = 1;
  Duration lag_time_max;
  std::vector<EpochView> epochs;           // ascending, the newest kEpochsMax
  std::vector<TruncationView> truncations; // oldest first, the newest kTruncationsMax; `to` below `from` only
  static constexpr std::size_t kEpochsMax = 16;
  static constexpr std::size_t kTruncationsMax = 8;

  [[nodiscard]] const ReplicaView* replica(BrokerId node) const noexcept {
    for (const ReplicaView& r : replicas) {
      if (r.node == node) {
        return &r;
      }
    }
    return nullptr;
  }

  // True where the replicas' `followed` are those of the present leader's epoch.
  [[nodiscard]] bool followed_now() const noexcept {
    return !epochs.empty() && epochs.back().epoch == leader_epoch && epochs.back().leader == leader;
  }

  // The leader's counters, or null.
  [[nodiscard]] const event::ReplicaCounters* leader_counters() const noexcept {
    const ReplicaView* r = replica(leader);
    return r == nullptr ? nullptr : r->counters.get();
  }
};

struct TopicView {
  std::string name;
  Uuid id;
  bool internal = false;
  std::vector<std::shared_ptr<const PartitionView>> partitions;  // by index; null: not known yet
  std::map<std::string, std::string, std::less<>> configs;       // only what was set on the topic
};

struct NodeView {
  BrokerId id;
  std::string host;
  std::uint16_t port = 0;
  bool broker = true;
  bool controller = true;
  enum class State : std::uint8_t { starting, running, stopped, killed } state = State::starting;
  WallTime since;
  std::string directory;  // empty: in memory
  std::shared_ptr<const event::NodeCounters> counters;
  // As the metadata log has the broker; `registered` false: nothing is known, or it is none.
  bool registered = false;
  bool fenced = true;
  bool in_controlled_shutdown = false;
  std::string rack;
  WallTime registration_since;  // of the last of these changes
  std::string why;              // killed, and not empty: nobody killed it, it ended by itself because of this
};

// One replica of the metadata log.
struct QuorumReplicaView {
  struct Snapshot {
    Offset end_offset;
    LeaderEpoch epoch{0};
    std::int64_t size_bytes = 0;
    WallTime at;
  };

  BrokerId node;
  bool online = false;
  bool voter = false;  // as it believes itself
  event::QuorumRole role = event::QuorumRole::unattached;
  event::QuorumCause cause = event::QuorumCause::started;
  std::int32_t epoch = 0;
  BrokerId leader = kNoBroker;  // as far as it knows
  WallTime since;               // of the role
  // Of its own log; kept when the node ends, so that one sees how far it was.
  std::shared_ptr<const event::ReplicaCounters> counters;
  std::vector<Snapshot> snapshots;  // ascending
};

// The quorum of the metadata log.
struct QuorumView {
  // How far a replica is, as the leader of the newest epoch knows it.
  struct Tracked {
    BrokerId replica;
    Uuid directory;
    std::shared_ptr<const event::FollowerCounters> counters;  // never null
  };
  struct Step {  // an event::QuorumRoleChanged or event::QuorumVoteCast
    WallTime at;
    std::shared_ptr<const event::Any> what;
  };

  std::vector<event::QuorumVotersChanged::Voter> voters;  // of the newest record that anybody knows
  Offset voters_at = kNoOffset;
  BrokerId leader = kNoBroker;  // kNoBroker: its node has ended, or it has resigned, and nobody has followed it yet
  std::int32_t epoch = 0;
  std::map<BrokerId, QuorumReplicaView> replicas;
  std::vector<Tracked> tracked;  // by `leader` in `epoch`; by id
  std::vector<Step> history;     // oldest first, the newest kStepsMax
  static constexpr std::size_t kStepsMax = 400;

  // Starts and ends of nodes, oldest first, the newest kLivesMax: elections are told with their causes, which events forget sooner.
  struct Life {
    WallTime at;
    BrokerId node;
    bool ended = false;
    bool clean = false;  // ended: after a shutdown
  };

  std::vector<Life> lives;
  static constexpr std::size_t kLivesMax = 200;
};

struct ConnectionView {
  ConnectionId id;
  BrokerId node;
  std::string peer;
  std::string client_id;
  std::string software_name;
  std::string software_version;
  WallTime opened_at;
  std::shared_ptr<const event::ConnectionCounters> counters;
};

// A group, for the Groups page and whoever else looks at groups.
//
//   a row of the member table   members[i]: id, client id and host, instance id, subscribed topics,
//                               assigned partitions, timeouts, connection (find its software in
//                               ClusterView::connections); last sign of life and heartbeats are
//                               levels: members[i].counters, null for groups of a recording
//   the assignment matrix       members[i].partitions, by topic and partition; members[i].target in a
//                               consumer group
//   the rebalance strip         rebalances: the last kRebalancesMax, oldest first, each with its
//                               triggers, members and partitions before and after, moved and kept
//                               partitions, the time of both barriers and of the whole; while one
//                               runs, `rebalancing_since` is set
//   positions                   committed: by topic and partition; offset and time of the newest
//                               commit are levels in `counters`
//
// While a rebalance runs members are those of the last generation told; partitions come with
// Stable.
struct GroupView {
  struct Committed {
    std::string topic;
    PartitionIndex partition;
    std::shared_ptr<const event::CommittedCounters> counters;
    WallTime at;  // when an event last told of it; counters->committed_at_ms is exact
  };

  struct Rebalance {
    WallTime at;  // its end
    std::shared_ptr<const event::GroupRebalanced> what;  // never null
  };

  std::string id;
  std::string state;
  std::int32_t generation = 0;
  std::string protocol;
  std::string leader;
  std::string reason;  // of the last state change
  WallTime changed_at;
  std::vector<event::GroupAssigned::Member> members;
  std::vector<Committed> committed;  // by topic, partition
  std::string protocol_type;         // "consumer", "connect", …; empty: nobody has joined yet
  WallTime rebalancing_since{};      // 0: no rebalance runs
  std::vector<Rebalance> rebalances; // oldest first
  event::GroupProtocol kind = event::GroupProtocol::classic;
  std::int32_t target_epoch = 0;     // of a consumer group; `generation` is its epoch
  static constexpr std::size_t kRebalancesMax = 50;
};

// What just happened, for animation, the timeline and the event list: bounded, newest last.
struct RecentEvent {
  std::uint64_t number = 0;  // 1, 2, 3 … over the life of the observer
  BrokerId node;
  WallTime at;
  std::shared_ptr<const event::Any> event;
};

struct ClusterView {
  std::uint64_t version = 0;  // rises with every publication
  std::string cluster_id;
  BrokerId controller = kNoBroker;
  std::int32_t controller_epoch = 0;
  std::map<BrokerId, std::shared_ptr<const NodeView>> nodes;
  std::shared_ptr<const QuorumView> quorum;  // never null
  std::shared_ptr<const std::map<std::string, std::shared_ptr<const TopicView>, std::less<>>>
      topics;                                                      // never null
  std::shared_ptr<const std::map<Uuid, std::string>> topic_names;  // never null
  std::shared_ptr<const std::map<std::string, std::shared_ptr<const GroupView>, std::less<>>>
      groups;  // never null
  std::shared_ptr<const std::map<ConnectionId, std::shared_ptr<const ConnectionView>>>
      connections;  // never null
  // Rare events of the last while, at most kRecentMax: not batch.appended, records.fetched, replica.fetched and
  // metadata.committed, and of offset.committed only a group's first on each partition (later ones
  // move the counter).
  std::shared_ptr<const std::vector<RecentEvent>> recent;  // never null
  // Batches appended since the previous publication: the newest kBatchesMax, batches_skipped counts
  // the others. Fetches of consumers and of followers (replications) alike.
  std::vector<event::Stamped> batches;
  std::vector<event::Stamped> fetches;
  std::vector<event::Stamped> replications;
  std::uint64_t batches_skipped = 0;
  std::uint64_t events_lost = 0;  // over the life of the observer
  static constexpr std::size_t kRecentMax = 2'000;
  static constexpr std::size_t kBatchesMax = 256;

  ClusterView();
  [[nodiscard]] const TopicView* find_topic(std::string_view name) const;
  [[nodiscard]] const TopicView* find_topic(const Uuid& id) const;
  [[nodiscard]] const GroupView* find_group(std::string_view id) const;
};

using ViewPtr = std::shared_ptr<const ClusterView>;

}  // namespace hw::observe
