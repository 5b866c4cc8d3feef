// SPDX-License-Identifier: Apache-2.0
// GroupCoordinator: classic and consumer groups and committed offsets of the __consumer_offsets
// partitions that one node leads.
//
// Follows the contract of Kafka's coordinators (KIP-848 runtime, without its threads): a request
// produces records and a response; hard state changes only by replay of records; the response
// leaves when the records are committed; a failed append rolls back. Membership of classic groups
// is soft: it lives in memory and a record of it is written when a generation is complete. Consumer
// groups are nothing but their records. Timers are deadlines inside.
//
// The caller's part:
//   1. Call a request method. Its completion runs exactly once: inside the call, or inside a later
//   one.
//   2. take() what came out: write the appends in their order, each as one batch to
//   __consumer_offsets-<partition>.
//      Before each ask pending(): a failed append takes the later ones of its partition with it.
//      When the batch is committed (high watermark above it), or cannot be written, call
//      on_committed() once with the outcome. Emit the events.
//   3. Call tick() at next_deadline(), and take() again.
// One call may give several appends.
//
// Units: names end in them. Errors: inside the responses. Bounds: Config.
// Thread rule: one thread. `now.instant` never decreases. Completions may call the coordinator
// again.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/base/ids.h"
#include "engine/base/prng.h"
#include "engine/base/time.h"
#include "engine/base/uuid.h"
#include "engine/event/event.h"
#include "engine/groups/consumer/assignor.h"
#include "engine/metadata/image/image.h"
#include "engine/wire/msg/consumer_group_describe.h"
#include "engine/wire/msg/consumer_group_heartbeat.h"
#include "engine/wire/msg/delete_groups.h"
#include "engine/wire/msg/describe_groups.h"
#include "engine/wire/msg/heartbeat.h"
#include "engine/wire/msg/join_group.h"
#include "engine/wire/msg/leave_group.h"
#include "engine/wire/msg/list_groups.h"
#include "engine/wire/msg/offset_commit.h"
#include "engine/wire/msg/offset_delete.h"
#include "engine/wire/msg/offset_fetch.h"
#include "engine/wire/msg/sync_group.h"
#include "engine/wire/msg/txn_offset_commit.h"
#include "engine/wire/runtime/error_code.h"

namespace hw::groups {

// group.consumer.migration.policy: which way a group may change its protocol while it has members.
enum class MigrationPolicy : std::uint8_t { disabled, upgrade, downgrade, bidirectional };

// A value and what it must lie between.
struct Bounded {
  std::int32_t value = 0;
  std::int32_t least = 0;
  std::int32_t most = 0;
};

// Kafka's broker keys of the same names.
struct Config {
  std::int32_t offsets_topic_num_partitions = 50;
  std::int32_t group_min_session_timeout_ms = 6'000;
  std::int32_t group_max_session_timeout_ms = 1'800'000;
  std::int32_t group_initial_rebalance_delay_ms = 3'000;
  std::int32_t group_max_size = 2'147'483'647;
  std::int32_t offset_metadata_max_bytes = 4'096;
  std::int64_t offsets_retention_ms = 10'080LL * 60'000;
  std::int64_t offsets_retention_check_interval_ms = 600'000;
  std::int32_t offsets_commit_timeout_ms = 5'000;
  // Of consumer groups: group.consumer.*, and what bounds the configuration of a single group.
  std::vector<Assignor> consumer_assignors = {Assignor::uniform, Assignor::range};  // never empty
  Bounded consumer_session_timeout_ms = {45'000, 45'000, 60'000};
  Bounded consumer_heartbeat_interval_ms = {5'000, 5'000, 15'000};
  Bounded consumer_assignment_interval_ms = {1'000, 0, 15'000};
  bool consumer_protocol = true;  // group.coordinator.rebalance.protocols names it
  std::int32_t consumer_max_size = 2'147'483'647;
  std::int32_t consumer_regex_refresh_interval_ms = 600'000;
  MigrationPolicy consumer_migration_policy = MigrationPolicy::bidirectional;
};

struct Now {
  Instant instant;  // deadlines
  WallTime wall;    // timestamps in records
};

using AppendId = std::uint64_t;  // rises with every append of this coordinator

struct RequestContext {
  std::int16_t api_version = 0;
  std::string client_id;
  std::string client_host;  // as Kafka prints it: "/127.0.0.1"
  ConnectionId connection;  // for events; 0: unknown
};

// One record of __consumer_offsets. No value: a tombstone.
struct Record {
  Bytes key;
  std::optional<Bytes> value;
  friend bool operator==(const Record&, const Record&) = default;
};

// Whose transaction an append belongs to; `verification`: that the partition is in it (log::TransactionTerms).
struct TransactionalWrite {
  ProducerId producer_id = kNoProducerId;
  ProducerEpoch epoch = kNoProducerEpoch;
  std::uint64_t verification = 0;
};

// The end of a producer's transaction in one partition.
struct EndMarker {
  ProducerId producer_id = kNoProducerId;
  ProducerEpoch epoch = kNoProducerEpoch;
  std::int32_t coordinator_epoch = -1;
  bool commit = false;
  std::int8_t transaction_version = 0;
};

struct Outputs {
  struct Append {
    AppendId id = 0;
    PartitionIndex partition;
    std::vector<Record> records;  // timestamps: the append time; empty only with a marker
    std::optional<TransactionalWrite> transaction;
    std::optional<EndMarker> marker;  // instead of records
  };

  std::vector<Append> appends;
  std::vector<event::Any> events;
};

template <class Response>
using Done = std::function<void(Response)>;

class GroupCoordinator {
 public:
  GroupCoordinator(Config config, Prng prng);
  ~GroupCoordinator();
  GroupCoordinator(const GroupCoordinator&) = delete;
  GroupCoordinator& operator=(const GroupCoordinator&) = delete;

  // __consumer_offsets has as many partitions as it was created with, whatever the config says
  // later.
  void set_partition_count(std::int32_t partitions);
  [[nodiscard]] PartitionIndex partition_of(std::string_view group) const;
  // What may change while it runs: keys that a broker takes over without a restart.
  void set_config(const Config& config);
  [[nodiscard]] bool serves_consumer_groups() const;
  // The topics and the groups' own configuration. Before the first call there are none. `delta`:
  // what changed since the last one.
  void set_image(metadata::ImagePtr image, const metadata::MetadataDelta& delta);

  // --- leadership of partitions. Requests for groups of a partition answer NOT_COORDINATOR before
  // begin_load() and after unload(), COORDINATOR_LOAD_IN_PROGRESS between begin_load() and
  // end_load().
  void begin_load(PartitionIndex partition);
  // Replays one record of the partition, in log order. Records of kinds that are not ours are
  // skipped; one that cannot be decoded is skipped and counted in load_errors(). `producer`: of a
  // transactional batch, whose offsets count with the commit marker.
  void load_record(PartitionIndex partition, const Record& record, Now now, ProducerId producer = kNoProducerId);
  void load_marker(PartitionIndex partition, ProducerId producer, bool commit);
  // The records that follow, up to the next call, are in the log and not committed yet: they count
  // like an append of this coordinator, for whose id on_committed() is called after end_load().
  [[nodiscard]] AppendId load_uncommitted(PartitionIndex partition);
  void end_load(PartitionIndex partition,
                Now now);  // sessions start afresh; events tell what is there
  // Waiting requests get NOT_COORDINATOR; open appends are forgotten.
  void unload(PartitionIndex partition, Now now);
  [[nodiscard]] bool leads(PartitionIndex partition) const;  // loaded and active
  [[nodiscard]] std::uint64_t load_errors() const;

  // --- requests
  void join(const wire::JoinGroupRequest& request, const RequestContext& context, Now now,
            Done<wire::JoinGroupResponse> done);
  void sync(const wire::SyncGroupRequest& request, const RequestContext& context, Now now,
            Done<wire::SyncGroupResponse> done);
  void heartbeat(const wire::HeartbeatRequest& request, const RequestContext& context, Now now,
                 Done<wire::HeartbeatResponse> done);
  // The one request of members of consumer groups (KIP-848).
  void consumer_heartbeat(const wire::ConsumerGroupHeartbeatRequest& request,
                          const RequestContext& context, Now now,
                          Done<wire::ConsumerGroupHeartbeatResponse> done);
  void describe_consumer_groups(const wire::ConsumerGroupDescribeRequest& request,
                                const RequestContext& context, Now now,
                                Done<wire::ConsumerGroupDescribeResponse> done);
  // Versions 0-2 name their one member in member_id; the caller turns that into `members` of one,
  // and back.
  void leave(const wire::LeaveGroupRequest& request, const RequestContext& context, Now now,
             Done<wire::LeaveGroupResponse> done);
  // Topics carry names (and ids where known): the caller has resolved and checked them against the
  // metadata image.
  void commit_offsets(const wire::OffsetCommitRequest& request, const RequestContext& context,
                      Now now, Done<wire::OffsetCommitResponse> done);
  // As part of a transaction: invisible until the marker comes. Whoever asks has made sure that the
  // partition of the group is in the transaction.
  void commit_transactional_offsets(const wire::TxnOffsetCommitRequest& request, const RequestContext& context, std::uint64_t verification, Now now,
                                    Done<wire::TxnOffsetCommitResponse> done);
  // Writes the marker; what the producer's transaction committed counts, or is forgotten, with it.
  void complete_transaction(PartitionIndex partition, const EndMarker& marker, Now now, Done<wire::ErrorCode> done);
  // `groups` of the request are served (the caller turns versions before 8 into one group); topics
  // by name, none: every topic with a committed offset. With require_stable the answer waits for
  // commits that are on their way.
  void fetch_offsets(const wire::OffsetFetchRequest& request, const RequestContext& context,
                     Now now, Done<wire::OffsetFetchResponse> done);
  void describe_groups(const wire::DescribeGroupsRequest& request, const RequestContext& context,
                       Now now, Done<wire::DescribeGroupsResponse> done);
  void list_groups(const wire::ListGroupsRequest& request, const RequestContext& context, Now now,
                   Done<wire::ListGroupsResponse> done);
  void delete_groups(const wire::DeleteGroupsRequest& request, const RequestContext& context,
                     Now now, Done<wire::DeleteGroupsResponse> done);
  void delete_offsets(const wire::OffsetDeleteRequest& request, const RequestContext& context,
                      Now now, Done<wire::OffsetDeleteResponse> done);
  // Committed offsets of deleted topics go with them.
  void topics_deleted(const std::vector<std::string>& topics, Now now);

  // --- outputs, outcome of appends, time
  [[nodiscard]] bool has_outputs() const;
  [[nodiscard]] Outputs take();
  [[nodiscard]] bool pending(AppendId id) const;
  // `error` none: committed. Otherwise the log's word (NOT_LEADER_OR_FOLLOWER,
  // RECORD_LIST_TOO_LARGE, …); it is turned into what a coordinator answers, and this append and
  // the later ones of its partition are rolled back.
  void on_committed(AppendId id, wire::ErrorCode error, Now now);
  void tick(Now now);
  [[nodiscard]] Instant next_deadline() const;  // kNever: none

  // --- for tests and tools: everything that replay builds, in one printable form (equal text =
  // equal state).
  [[nodiscard]] std::string dump_hard_state(PartitionIndex partition) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hw::groups
