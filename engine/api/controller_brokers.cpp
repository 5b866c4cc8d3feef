// SPDX-License-Identifier: Apache-2.0
// What brokers and controllers ask of the active controller: to be known, to stay alive, to change who is in sync.
#include <utility>

#include "engine/api/controller_handlers.h"
#include "engine/metadata/controller.h"

namespace hw::api {

namespace {

// Answers when the controller has.
template <class Response>
auto replies(Node& node, const RequestContext& context) {
  return metadata::Controller::Done<Response>(
      [&node, token = context.token](const Response& response) { node.reply(token, response); });
}

}  // namespace

void handle_broker_registration(Node& node, const RequestContext& context, wire::BrokerRegistrationRequest& request) {
  // Compared here and not by the controller alone, which may be one that was never told of which cluster it is.
  if (node.controller().active() && request.cluster_id != node.cluster_id()) {
    wire::BrokerRegistrationResponse response;
    response.error_code = wire::ErrorCode::inconsistent_cluster_id;
    node.refused(context, response.error_code, "a broker of cluster " + request.cluster_id + " wants to register here");
    node.reply(context.token, response);
    return;
  }
  node.controller().broker_registration(request, context.now.instant,
                                        replies<wire::BrokerRegistrationResponse>(node, context));
}

void handle_broker_heartbeat(Node& node, const RequestContext& context, wire::BrokerHeartbeatRequest& request) {
  node.controller().broker_heartbeat(request, context.now.instant, replies<wire::BrokerHeartbeatResponse>(node, context));
}

void handle_controller_registration(Node& node, const RequestContext& context,
                                    wire::ControllerRegistrationRequest& request) {
  node.controller().controller_registration(request, replies<wire::ControllerRegistrationResponse>(node, context));
}

void handle_alter_partition(Node& node, const RequestContext& context, wire::AlterPartitionRequest& request) {
  node.controller().alter_partition(request, context.api_version, replies<wire::AlterPartitionResponse>(node, context));
}

void handle_assign_replicas_to_dirs(Node& node, const RequestContext& context,
                                    wire::AssignReplicasToDirsRequest& request) {
  node.controller().assign_replicas_to_dirs(request, replies<wire::AssignReplicasToDirsResponse>(node, context));
}

void handle_allocate_producer_ids(Node& node, const RequestContext& context, wire::AllocateProducerIdsRequest& request) {
  node.controller().allocate_producer_ids(request, replies<wire::AllocateProducerIdsResponse>(node, context));
}

}  // namespace hw::api
