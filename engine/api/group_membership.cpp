// SPDX-License-Identifier: Apache-2.0
// JoinGroup, SyncGroup, Heartbeat, LeaveGroup.
#include <utility>

#include "engine/api/group_detail.h"

namespace hw::api {
namespace {

using wire::ErrorCode;

constexpr std::int16_t kNullProtocolFrom = 7;      // JoinGroup
constexpr std::int16_t kProtocolRequiredFrom = 5;  // SyncGroup, KIP-559
constexpr std::int16_t kManyMembersFrom = 3;       // LeaveGroup, KIP-345

}  // namespace

void handle_join_group(Node& node, const RequestContext& context, wire::JoinGroupRequest& request) {
  node.groups().join(request, group_context(context), group_now(context.now),
                     [&node, token = context.token,
                      version = context.api_version](wire::JoinGroupResponse response) {
                       if (version < kNullProtocolFrom && !response.protocol_name) {
                         response.protocol_name = std::string();
                       }
                       node.reply(token, response);
                     });
}

void handle_sync_group(Node& node, const RequestContext& context, wire::SyncGroupRequest& request) {
  if (context.api_version >= kProtocolRequiredFrom &&
      (!request.protocol_type || !request.protocol_name)) {
    wire::SyncGroupResponse response;
    response.error_code = ErrorCode::inconsistent_group_protocol;
    node.reply(context.token, response);
    return;
  }
  node.groups().sync(request, group_context(context), group_now(context.now),
                     answer_with<wire::SyncGroupResponse>(node, context));
}

void handle_heartbeat(Node& node, const RequestContext& context, wire::HeartbeatRequest& request) {
  node.groups().heartbeat(request, group_context(context), group_now(context.now),
                          answer_with<wire::HeartbeatResponse>(node, context));
}

void handle_leave_group(Node& node, const RequestContext& context,
                        wire::LeaveGroupRequest& request) {
  const bool one_member = context.api_version < kManyMembersFrom;
  if (one_member) {
    wire::LeaveGroupRequest::MemberIdentity member;
    member.member_id = request.member_id;
    request.members.assign(1, std::move(member));
  }
  node.groups().leave(
      request, group_context(context), group_now(context.now),
      [&node, token = context.token, one_member](wire::LeaveGroupResponse response) {
        if (one_member) {  // its outcome is the whole answer
          if (response.error_code == ErrorCode::none && !response.members.empty()) {
            response.error_code = response.members.front().error_code;
          }
          response.members.clear();
        }
        node.reply(token, response);
      });
}

}  // namespace hw::api
