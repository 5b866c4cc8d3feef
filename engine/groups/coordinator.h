// SPDX-License-Identifier: Apache-2.0
// GroupCoordinator: classic groups and committed offsets of the __consumer_offsets partitions that one node leads.
//
// Follows the contract of Kafka's coordinators (KIP-848 runtime, without its threads): a request produces records and a
// response; hard state changes only by replay of records; the response leaves when the records are committed; a failed
// append rolls back. Membership of classic groups is soft: it lives in memory and a record of it is written when a
// generation is complete. Timers are deadlines inside.
//
// The caller's part:
//   1. Call a request method. Reads (offset_fetch, describe_groups, list_groups) answer at once.
//   2. Write out.appends in their order, each as one batch to __consumer_offsets-<partition>. Before each ask pending():
//      a failed append takes the later ones of its partition with it. When the batch is committed (high watermark
//      above it), or cannot be written, call on_committed() once with the outcome.
//   3. Send out.replies, pass out.events on. Call tick() at next_deadline().
// One call may give several appends; none of the methods calls back.
//
// Units: names end in them. Errors: inside the responses. Bounds: Config.
// Thread rule: one thread. `now.instant` never decreases. Not re-entrant.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/base/ids.h"
#include "engine/base/prng.h"
#include "engine/base/time.h"
#include "engine/base/uuid.h"
#include "engine/event/event.h"
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

namespace hw::groups {

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
};

struct Now {
  Instant instant;  // deadlines
  WallTime wall;    // timestamps in records
};

using Token = std::uint64_t;     // the caller's name of a request; comes back in the reply
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

using Response = std::variant<wire::JoinGroupResponse, wire::SyncGroupResponse, wire::HeartbeatResponse,
                              wire::LeaveGroupResponse, wire::OffsetCommitResponse, wire::DeleteGroupsResponse,
                              wire::OffsetDeleteResponse>;

struct Outputs {
  struct Append {
    AppendId id = 0;
    PartitionIndex partition;
    std::vector<Record> records;  // never empty; timestamps: the append time
  };
  struct Reply {
    Token token = 0;
    Response response;
  };
  std::vector<Append> appends;
  std::vector<Reply> replies;
  std::vector<event::Any> events;
  void clear() {
    appends.clear();
    replies.clear();
    events.clear();
  }
};

class GroupCoordinator {
 public:
  GroupCoordinator(Config config, Prng prng);
  ~GroupCoordinator();
  GroupCoordinator(const GroupCoordinator&) = delete;
  GroupCoordinator& operator=(const GroupCoordinator&) = delete;

  // __consumer_offsets has as many partitions as it was created with, whatever the config says later.
  void set_partition_count(std::int32_t partitions);
  [[nodiscard]] PartitionIndex partition_of(std::string_view group) const;

  // --- leadership of partitions. Requests for groups of a partition answer NOT_COORDINATOR before begin_load() and
  // after unload(), COORDINATOR_LOAD_IN_PROGRESS between begin_load() and end_load().
  void begin_load(PartitionIndex partition);
  // Replays one record of the partition, in log order. Records of kinds that are not ours are skipped; one that cannot
  // be decoded is skipped and counted in load_errors(). Control records and aborted batches are not handed over.
  void load_record(PartitionIndex partition, const Record& record);
  void end_load(PartitionIndex partition, Now now, Outputs& out);  // sessions start afresh; events of what is there
  // Waiting requests get NOT_COORDINATOR; open appends are forgotten.
  void unload(PartitionIndex partition, Outputs& out);
  [[nodiscard]] bool leads(PartitionIndex partition) const;  // loaded and active
  [[nodiscard]] std::uint64_t load_errors() const;

  // --- requests: a reply with `token` comes out now or later
  void join(Token token, const wire::JoinGroupRequest& request, const RequestContext& context, Now now, Outputs& out);
  void sync(Token token, const wire::SyncGroupRequest& request, const RequestContext& context, Now now, Outputs& out);
  void heartbeat(Token token, const wire::HeartbeatRequest& request, const RequestContext& context, Now now,
                 Outputs& out);
  void leave(Token token, const wire::LeaveGroupRequest& request, const RequestContext& context, Now now, Outputs& out);
  // Topics carry names (and ids where known): the caller has resolved and checked them against the metadata image.
  void commit_offsets(Token token, const wire::OffsetCommitRequest& request, const RequestContext& context, Now now,
                      Outputs& out);
  void delete_groups(Token token, const wire::DeleteGroupsRequest& request, const RequestContext& context, Now now,
                     Outputs& out);
  void delete_offsets(Token token, const wire::OffsetDeleteRequest& request, const RequestContext& context, Now now,
                      Outputs& out);

  // --- reads of committed state: answer at once
  // One group of an OffsetFetch; topics by name, nullopt: every topic with a committed offset.
  [[nodiscard]] wire::OffsetFetchResponse::OffsetFetchResponseGroup fetch_offsets(
      const wire::OffsetFetchRequest::OffsetFetchRequestGroup& request, bool require_stable, Now now);
  [[nodiscard]] wire::DescribeGroupsResponse describe_groups(const wire::DescribeGroupsRequest& request,
                                                             const RequestContext& context) const;
  [[nodiscard]] wire::ListGroupsResponse list_groups(const wire::ListGroupsRequest& request) const;

  // Committed offsets of deleted topics go with them (their tombstones are appends without a reply).
  void topics_deleted(const std::vector<std::pair<Uuid, std::string>>& topics, Now now, Outputs& out);

  // --- outcome of appends and time
  [[nodiscard]] bool pending(AppendId id) const;
  // `error` none: committed. Otherwise the log's word (NOT_LEADER_OR_FOLLOWER, RECORD_LIST_TOO_LARGE, …); it is turned
  // into what a coordinator answers, and this append and the later ones of its partition are rolled back.
  void on_committed(AppendId id, wire::ErrorCode error, Now now, Outputs& out);
  void tick(Now now, Outputs& out);
  [[nodiscard]] Instant next_deadline() const;  // kNever: none

  // --- for tests and tools: everything that replay builds, in one printable form (equal text = equal state).
  [[nodiscard]] std::string dump_hard_state(PartitionIndex partition) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hw::groups
