// SPDX-License-Identifier: Apache-2.0
// Shared by the group_*.cpp handlers.
#pragma once

#include <string>

#include "engine/api/group_log.h"
#include "engine/api/handler.h"
#include "engine/groups/coordinator.h"
#include "engine/wire/msg/find_coordinator.h"
#include "engine/wire/msg/txn_offset_commit.h"

namespace hw::api {

[[nodiscard]] inline groups::RequestContext group_context(const RequestContext& context) {
  return {context.api_version, std::string(context.client_id), std::string(context.client_host),
          context.connection()};
}

// A completion that answers the request. REQUIRES: the node outlives its coordinator's completions
// (it owns it).
template <class Response>
[[nodiscard]] auto answer_with(Node& node, const RequestContext& context) {
  return [&node, token = context.token](const Response& response) { node.reply(token, response); };
}

// READ, DELETE, DESCRIBE, DESCRIBE_CONFIGS and ALTER_CONFIGS as a bit each: without an authorizer
// all are allowed.
inline constexpr std::int32_t kGroupOperations =
    (1 << 3) | (1 << 6) | (1 << 8) | (1 << 10) | (1 << 11);

void handle_find_coordinator(Node& node, const RequestContext& context,
                             wire::FindCoordinatorRequest& request);
void handle_join_group(Node& node, const RequestContext& context, wire::JoinGroupRequest& request);
void handle_sync_group(Node& node, const RequestContext& context, wire::SyncGroupRequest& request);
void handle_heartbeat(Node& node, const RequestContext& context, wire::HeartbeatRequest& request);
void handle_leave_group(Node& node, const RequestContext& context,
                        wire::LeaveGroupRequest& request);
void handle_consumer_group_heartbeat(Node& node, const RequestContext& context,
                                     wire::ConsumerGroupHeartbeatRequest& request);
void handle_consumer_group_describe(Node& node, const RequestContext& context,
                                    wire::ConsumerGroupDescribeRequest& request);
void handle_offset_commit(Node& node, const RequestContext& context,
                          wire::OffsetCommitRequest& request);
void handle_txn_offset_commit(Node& node, const RequestContext& context, wire::TxnOffsetCommitRequest& request);
void handle_offset_fetch(Node& node, const RequestContext& context,
                         wire::OffsetFetchRequest& request);
void handle_offset_delete(Node& node, const RequestContext& context,
                          wire::OffsetDeleteRequest& request);
void handle_describe_groups(Node& node, const RequestContext& context,
                            wire::DescribeGroupsRequest& request);
void handle_list_groups(Node& node, const RequestContext& context,
                        wire::ListGroupsRequest& request);
void handle_delete_groups(Node& node, const RequestContext& context,
                          wire::DeleteGroupsRequest& request);

}  // namespace hw::api
