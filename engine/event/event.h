// SPDX-License-Identifier: Apache-2.0
// The vocabulary of what can happen: one struct per kind. Facts only; no colour, no sentence, no formatted number.
//
// Cores append events to their outputs; the shell stamps them (Stamped) and pushes them into the node's ring.
// Strings appear only in rare events; those of the data path carry ids. Adding a kind: a struct here, a row in
// kind_name(), a case in observe/reducer.cpp, a test.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "engine/base/ids.h"
#include "engine/base/time.h"
#include "engine/base/uuid.h"
#include "engine/event/counters.h"

namespace hw::event {

// --- node and connections
struct NodeStarted {
  BrokerId node;
  std::string host;  // advertised
  std::uint16_t port = 0;
  bool broker = true;
  bool controller = true;
  std::string cluster_id;
  std::string directory;  // empty: in memory
  std::shared_ptr<const NodeCounters> counters;
};
struct NodeReady { BrokerId node; };
struct NodeStopped {
  BrokerId node;
  bool clean = true;
  std::string why{};  // not empty: it ended by itself, because of this
};
struct ConnectionOpened {
  ConnectionId connection;
  std::string peer;  // address:port
  std::shared_ptr<const ConnectionCounters> counters;
};
struct ClientIdentified {  // first request with a client id, or ApiVersions with software name and version
  ConnectionId connection;
  std::string client_id;
  std::string software_name;
  std::string software_version;
};
struct ConnectionClosed {
  ConnectionId connection;
  std::string reason;  // empty: the peer closed; otherwise what was wrong with what it sent
};
struct RequestRefused {  // answered with an error at the top level, or not answered at all
  ConnectionId connection;
  std::int16_t api_key = -1;
  std::int16_t api_version = -1;
  std::int16_t error_code = 0;
  std::string detail;
};

// --- metadata
struct TopicCreated {
  Uuid topic_id;
  std::string name;
  bool internal = false;
};
struct TopicDeleted {
  Uuid topic_id;
  std::string name;
};
struct TopicConfigChanged {
  Uuid topic_id;
  std::string key;
  std::string value;
  bool removed = false;
};
struct PartitionChanged {  // created, or leader, ISR or replicas changed
  Uuid topic_id;
  PartitionIndex partition;
  BrokerId leader;
  LeaderEpoch leader_epoch;
  std::int32_t partition_epoch = 0;
  std::vector<BrokerId> replicas;
  std::vector<BrokerId> isr;
  std::vector<BrokerId> elr{};  // eligible leader replicas (KIP-966): complete, but not in sync
};
struct BrokerChanged {  // as the metadata log has it: registered, fenced, unfenced, shutting down, or gone
  BrokerId broker;
  bool registered = true;  // false: unregistered, or never was
  bool fenced = true;
  bool in_controlled_shutdown = false;
  std::int64_t broker_epoch = -1;  // offset of its registration record
  Offset at;                       // the metadata log's end when it was so: of two that contradict each other the later counts
  std::string rack{};
};
struct ControllerElected {
  BrokerId controller;
  std::int32_t epoch = 0;
};
struct MetadataCommitted { Offset offset; };

// --- the quorum of the metadata log (KIP-595, 853, 996)
enum class QuorumRole : std::uint8_t { unattached, prospective, candidate, follower, leader, resigned };
// Why a replica took on its role.
enum class QuorumCause : std::uint8_t {
  started,            // the node has begun
  no_leader_found,    // nobody led within the election timeout
  leader_silent,      // the leader answered no fetch within controller.quorum.fetch.timeout.ms
  leader_handed_over, // EndQuorumEpoch
  pre_votes_won,      // a majority would vote for it
  pre_votes_lost,     // a majority would not, or did not answer in time
  votes_won,
  votes_lost,
  voted_for_other,    // it does not compete with the one that it votes for
  heard_of_leader,    // somebody leads this epoch or a later one
  newer_epoch,        // somebody is in a later epoch, and who leads it is not known
  majority_silent,    // of a leader: too few voters fetch
  not_a_voter,        // of a leader: the voters have changed, and it is none of them
  stopping,           // of a leader: its node stops
};
struct QuorumRoleChanged {
  BrokerId node;
  QuorumRole role = QuorumRole::unattached;
  QuorumCause cause = QuorumCause::started;
  bool voter = false;  // an observer otherwise
  std::int32_t epoch = 0;
  BrokerId leader = kNoBroker;  // as far as it knows
};
struct QuorumVoteCast {  // one voter's answer; a candidate's vote for itself is not told
  BrokerId voter;
  BrokerId candidate;
  std::int32_t epoch = 0;
  bool pre_vote = false;
  bool granted = false;
};
struct QuorumVotersChanged {  // what a node knows; also once when it starts
  struct Voter {
    BrokerId id;
    Uuid directory;  // zero: not known (kraft.version 0)
    std::string host;
    std::uint16_t port = 0;
  };
  BrokerId node;
  Offset at;  // of the record; -1: from the configuration
  std::vector<Voter> voters;
};
// The leader hears of a replica of the metadata log for the first time in this epoch; its later fetches move the counters.
struct QuorumReplicaTracked {
  BrokerId leader;
  std::int32_t epoch = 0;
  BrokerId replica;
  Uuid directory;
  std::shared_ptr<const FollowerCounters> counters;
};
struct SnapshotStored {  // also sent once per existing snapshot when a node starts
  BrokerId node;
  Offset end_offset;  // it holds everything below
  LeaderEpoch epoch;
  std::int64_t size_bytes = 0;
};
struct SnapshotDeleted {
  BrokerId node;
  Offset end_offset;
  LeaderEpoch epoch;
};

// --- logs
struct ReplicaOpened {
  BrokerId node;
  Uuid topic_id;
  PartitionIndex partition;
  std::shared_ptr<const ReplicaCounters> counters;
};
struct ReplicaClosed {
  BrokerId node;
  Uuid topic_id;
  PartitionIndex partition;
};
// A leader of a new epoch, or with other replicas, says how it follows its followers.
struct LeadershipBegan {
  struct Follower {
    BrokerId id;
    std::shared_ptr<const FollowerCounters> counters;  // of this partition
    std::shared_ptr<const FetcherCounters> fetcher;    // of all its partitions that this node leads
  };
  BrokerId node;
  Uuid topic_id;
  PartitionIndex partition;
  LeaderEpoch leader_epoch;
  Offset epoch_start;  // its log end when the epoch began
  std::int32_t min_insync_replicas = 1;
  Duration lag_time_max;  // replica.lag.time.max.ms
  std::vector<Follower> followers;  // in assignment order, without the leader
};
struct SegmentRolled {  // also sent once per existing segment when a log opens
  BrokerId node;
  Uuid topic_id;
  PartitionIndex partition;
  Offset base_offset;
};
// Why records at the start of a log went away.
enum class DeletionCause : std::uint8_t {
  truncation,      // the end of the log was cut: a follower, or a log that begins anew
  records,         // DeleteRecords
  retention_time,  // retention.ms
  retention_size,  // retention.bytes
};
struct SegmentDeleted {
  BrokerId node;
  Uuid topic_id;
  PartitionIndex partition;
  Offset base_offset;
  DeletionCause cause = DeletionCause::truncation;
  std::int64_t size_bytes = 0;
};
struct LogStartMoved {  // records below `to` are not readable any more; their segments may go later
  BrokerId node;
  Uuid topic_id;
  PartitionIndex partition;
  Offset from;
  Offset to;
  DeletionCause cause = DeletionCause::records;
};
struct LogRecovered {
  BrokerId node;
  Uuid topic_id;
  PartitionIndex partition;
  Offset truncated_to;
  std::int64_t truncated_bytes = 0;
};
struct ReplicaMoved {  // to another log directory of its node (KIP-113)
  BrokerId node;
  Uuid topic_id;
  PartitionIndex partition;
  std::string directory;
};
struct LogDirFailed {  // its replicas answer KAFKA_STORAGE_ERROR; the others go on
  BrokerId node;
  std::string directory;
  std::string reason;
};
struct BatchAppended {  // low priority: dropped first, and counted, when the ring is full
  BrokerId node;
  Uuid topic_id;
  PartitionIndex partition;
  Offset base_offset;
  Offset last_offset;
  std::int32_t size_bytes = 0;
  ConnectionId connection;
  // The first bytes of the key, where the batch holds one uncompressed record. key_size -1: null or not looked at.
  std::int16_t key_size = -1;
  std::array<char, 8> key_head{};
};
struct RecordsFetched {  // low priority
  BrokerId node;
  Uuid topic_id;
  PartitionIndex partition;
  Offset from;
  std::int64_t size_bytes = 0;
  ConnectionId connection;
};
struct ReplicaFetched {  // low priority: a follower appended what its leader sent
  BrokerId node;
  BrokerId leader;
  Uuid topic_id;
  PartitionIndex partition;
  Offset from;
  Offset log_end;      // of the follower, afterwards
  Offset high_watermark;  // as the follower knows it, afterwards
  std::int64_t size_bytes = 0;
};
// Why a follower cut its log at the end.
enum class TruncationCause : std::uint8_t {
  divergence,    // its last epochs are not those of the leader (KIP-101, KIP-279)
  out_of_range,  // its end is not within the leader's log
  no_epochs,     // it knows no epochs: what is not committed goes
};
struct LogTruncated {
  BrokerId node;
  Uuid topic_id;
  PartitionIndex partition;
  Offset from;  // the log end before
  Offset to;    // the log end afterwards; above `from` where the log began anew
  BrokerId leader;
  LeaderEpoch leader_epoch;
  TruncationCause cause = TruncationCause::divergence;
};
struct ProducerFenced {
  Uuid topic_id;
  PartitionIndex partition;
  ProducerId producer;
  ProducerEpoch epoch;
};
struct DuplicateSuppressed {
  Uuid topic_id;
  PartitionIndex partition;
  ProducerId producer;
  Offset original_base_offset;
};

// --- groups
// Which protocol a group's coordinator speaks with its members. Of a consumer group (KIP-848) `generation` is the epoch.
enum class GroupProtocol : std::uint8_t { classic, consumer };
struct GroupStateChanged {
  std::string group;
  // Kafka's name: Empty, PreparingRebalance, CompletingRebalance, Stable, Dead; of a consumer group Assigning, Reconciling
  std::string state;
  std::int32_t generation = 0;
  std::string protocol;
  std::string reason;  // why, in Kafka's or the client's words; empty where nothing was said
  std::string protocol_type{};  // "consumer", "connect", …; empty: nobody has joined yet
  GroupProtocol kind = GroupProtocol::classic;
};
struct GroupAssigned {  // the whole membership at once, so that a late observer needs nothing earlier
  struct Member {
    std::string member_id;
    std::string client_id;
    std::string client_host;
    std::string instance_id;
    ConnectionId connection;  // 0: unknown
    std::vector<std::pair<std::string, PartitionIndex>> partitions;  // assigned; by topic, partition
    std::vector<std::string> topics{};                               // subscribed to; sorted
    std::int32_t session_timeout_ms = 0;
    std::int32_t rebalance_timeout_ms = 0;  // a consumer's max.poll.interval.ms
    std::shared_ptr<const MemberCounters> counters{};
    // Of a consumer group: `partitions` holds what it still has to give back, too.
    std::int32_t epoch = -1;       // below the group's: it has not got there; -1: of a classic group
    bool speaks_classic = false;   // a classic member, while the group changes its protocol
    std::vector<std::pair<std::string, PartitionIndex>> target{};  // what it shall have; by topic, partition
  };
  std::string group;
  std::int32_t generation = 0;
  std::string leader;
  std::vector<Member> members;  // by id
  GroupProtocol kind = GroupProtocol::classic;
  std::int32_t target_epoch = 0;  // of a consumer group: what the targets were computed for
};
// A rebalance is over: the group is Stable again, or has become Empty. It began when the group last left Stable or
// Empty; generations (or epochs) that did not get that far are part of it.
struct GroupRebalanced {
  enum class Cause : std::uint8_t {
    member_joined,         // a new member, also a static one that had no member yet
    member_rejoined,       // a leader that asked again (it saw a change), or a member while a rebalance ran
    subscription_changed,  // a member joined again with other metadata
    static_returned,       // a static member came back in a way that needs a rebalance
    member_left,           // LeaveGroup; `said` holds the client's reason
    session_expired,       // no heartbeat within the session timeout
    join_expired,          // did not join again within the rebalance timeout
    sync_expired,          // did not fetch its assignment within the rebalance timeout
    assignment_not_stored, // the leader's assignment could not be written
    group_too_large,       // more members than group.max.size after a restart
    topics_changed,        // of a consumer group: a topic came, went or changed
    revoke_expired,        // of a consumer group: did not give partitions back within the rebalance timeout
  };
  struct Trigger {
    Cause cause = Cause::member_joined;
    std::string member_id;
    std::string client_id;
    std::string client_host;
    std::string said;  // the client's own reason (JoinGroup v8+, LeaveGroup v5+); empty: none
  };
  // The two barriers of one member, counted from the start of the rebalance. -1: not reached, or not again. Consumer groups
  // have none: `synced_us` is when the member had reached its target.
  struct Barrier {
    std::string member_id;
    std::int64_t joined_us = -1;
    std::int64_t synced_us = -1;
  };
  std::string group;
  std::int32_t generation_before = 0;
  std::int32_t generation = 0;  // of its end
  std::string protocol;         // empty: the group became Empty
  std::vector<Trigger> triggers;  // in order, the first kTriggersMax
  std::int32_t triggers_skipped = 0;
  std::int32_t members_before = 0;
  std::int32_t members_after = 0;
  // Counted in partitions of the consumer protocol; 0 where assignments cannot be read.
  std::int32_t partitions_before = 0;
  std::int32_t partitions_after = 0;
  std::int32_t moved = 0;  // had an owner before and have another one, or none, after; a static member stays itself
  std::int32_t kept = 0;   // were claimed by their owner while it joined, and stayed with it: never stopped (KIP-429)
  WallTime began;
  std::int64_t join_us = 0;   // from the start until the last generation had its members (a consumer group: the last target)
  std::int64_t total_us = 0;  // from the start until everybody had its assignment: how long eager consumers stood still
  std::vector<Barrier> barriers;  // of the members after, by id, the first kBarriersMax
  GroupProtocol kind = GroupProtocol::classic;
  static constexpr std::size_t kTriggersMax = 8;
  static constexpr std::size_t kBarriersMax = 64;
};
struct OffsetCommitted {
  std::string group;
  std::string topic;
  PartitionIndex partition;
  Offset offset;
  std::shared_ptr<const CommittedCounters> counters;
};
struct OffsetDeleted {
  std::string group;
  std::string topic;
  PartitionIndex partition;
};
struct GroupDeleted { std::string group; };

// --- the observer's own
struct EventsLost {
  std::uint64_t count = 0;
  WallTime first;
  WallTime last;
};

using Any = std::variant<NodeStarted, NodeReady, NodeStopped, ConnectionOpened, ClientIdentified, ConnectionClosed,
                         RequestRefused, TopicCreated, TopicDeleted, TopicConfigChanged, PartitionChanged,
                         BrokerChanged, ControllerElected, MetadataCommitted, QuorumRoleChanged, QuorumVoteCast,
                         QuorumVotersChanged, QuorumReplicaTracked, SnapshotStored, SnapshotDeleted, ReplicaOpened,
                         ReplicaClosed, LeadershipBegan, SegmentRolled,
                         SegmentDeleted, LogStartMoved, LogRecovered, ReplicaMoved, LogDirFailed, BatchAppended,
                         RecordsFetched, ReplicaFetched, LogTruncated, ProducerFenced, DuplicateSuppressed,
                         GroupStateChanged, GroupAssigned, GroupRebalanced, OffsetCommitted, OffsetDeleted, GroupDeleted, EventsLost>;

// "leader.elected" style name of a kind, stable across releases.
[[nodiscard]] const char* kind_name(const Any& event) noexcept;
// Events that may be dropped (and counted) when a ring is full.
[[nodiscard]] bool low_priority(const Any& event) noexcept;

struct Stamped {
  std::uint64_t sequence = 0;  // of its node, from 1
  BrokerId node;
  WallTime at;
  Any event;
};

// Qt makes `emit` a macro for nothing; the window includes this header too.
#pragma push_macro("emit")
#undef emit
// Where cores' shells put events. Called on the node's thread; never blocks.
class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void emit(Any event) = 0;
};
#pragma pop_macro("emit")

}  // namespace hw::event
