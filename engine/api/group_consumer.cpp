// SPDX-License-Identifier: Apache-2.0
// ConsumerGroupHeartbeat, ConsumerGroupDescribe (KIP-848).
#include <utility>

#include "engine/api/group_detail.h"

namespace hw::api {
namespace {

using wire::ErrorCode;

constexpr std::string_view kGroupVersion = "group.version";

// group.version switches the protocol on for the cluster, group.coordinator.rebalance.protocols for
// the node.
bool serves_consumer_groups(Node& node) {
  return node.groups().serves_consumer_groups() && node.image()->feature_level(kGroupVersion) > 0;
}

}  // namespace

void handle_consumer_group_heartbeat(Node& node, const RequestContext& context,
                                     wire::ConsumerGroupHeartbeatRequest& request) {
  if (!serves_consumer_groups(node)) {
    wire::ConsumerGroupHeartbeatResponse response;
    response.error_code = ErrorCode::unsupported_version;
    node.reply(context.token, response);
    return;
  }
  node.groups().consumer_heartbeat(
      request, group_context(context), group_now(context.now),
      answer_with<wire::ConsumerGroupHeartbeatResponse>(node, context));
}

void handle_consumer_group_describe(Node& node, const RequestContext& context,
                                    wire::ConsumerGroupDescribeRequest& request) {
  if (!serves_consumer_groups(node)) {
    wire::ConsumerGroupDescribeResponse response;
    for (std::string& id : request.group_ids) {
      auto& group = response.groups.emplace_back();
      group.group_id = std::move(id);
      group.error_code = ErrorCode::unsupported_version;
    }
    node.reply(context.token, response);
    return;
  }
  node.groups().describe_consumer_groups(
      request, group_context(context), group_now(context.now),
      [&node, token = context.token, operations = request.include_authorized_operations](
          wire::ConsumerGroupDescribeResponse response) {
        for (auto& group : response.groups) {
          if (operations && group.error_code == ErrorCode::none) {
            group.authorized_operations = kGroupOperations;
          }
        }
        node.reply(token, response);
      });
}

}  // namespace hw::api
