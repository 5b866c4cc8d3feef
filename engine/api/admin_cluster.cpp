// SPDX-License-Identifier: Apache-2.0
// UpdateFeatures, ElectLeaders, AlterPartitionReassignments, ListPartitionReassignments, DescribeQuorum, UnregisterBroker, UnregisterController.
#include <utility>

#include "engine/api/admin_handlers.h"
#include "engine/metadata/controller.h"
#include "engine/metadata/reassignments.h"
#include "engine/raft/quorum.h"

namespace hw::api {

using wire::ErrorCode;

void handle_update_features(Node& node, const RequestContext& context, wire::UpdateFeaturesRequest& request) {
  node.controller().update_features(request, context.api_version,
                                    [&node, token = context.token](const wire::UpdateFeaturesResponse& response) {
                                      node.reply(token, response);
                                    });
}

void handle_elect_leaders(Node& node, const RequestContext& context, wire::ElectLeadersRequest& request) {
  constexpr std::int16_t kTypesFrom = 1;  // and the error of the whole
  if (context.api_version < kTypesFrom) {
    request.election_type = 0;
  }
  node.controller().elect_leaders(request, [&node, token = context.token](const wire::ElectLeadersResponse& response) {
    node.reply(token, response);
  });
}

void handle_alter_partition_reassignments(Node& node, const RequestContext& context,
                                          wire::AlterPartitionReassignmentsRequest& request) {
  node.controller().alter_partition_reassignments(
      request, [&node, token = context.token](const wire::AlterPartitionReassignmentsResponse& response) {
        node.reply(token, response);
      });
}

void handle_list_partition_reassignments(Node& node, const RequestContext& context,
                                         wire::ListPartitionReassignmentsRequest& request) {
  if (context.listener_kind == ListenerKind::controller && !node.controller().active()) {
    node.reply(context.token, metadata::list_reassignments(*node.image(), request));  // as far as it knows, as Kafka's do
    return;
  }
  node.controller().list_partition_reassignments(
      request, [&node, token = context.token](const wire::ListPartitionReassignmentsResponse& response) {
        node.reply(token, response);
      });
}

void handle_unregister_broker(Node& node, const RequestContext& context, wire::UnregisterBrokerRequest& request) {
  node.controller().unregister_broker(request.broker_id, [&node, token = context.token](const metadata::Refusal& refusal) {
    wire::UnregisterBrokerResponse response;
    response.error_code = refusal.error;
    response.error_message = refusal.message;
    node.reply(token, response);
  });
}

void handle_unregister_controller(Node& node, const RequestContext& context, wire::UnregisterControllerRequest& request) {
  node.controller().unregister_controller(
      BrokerId(request.controller_id), [&node, token = context.token](const metadata::Refusal& refusal) {
        wire::UnregisterControllerResponse response;
        response.error_code = refusal.error;
        response.error_message.reset();
        if (!refusal.message.empty()) {
          response.error_message = refusal.message;
        }
        node.reply(token, response);
      });
}

}  // namespace hw::api
