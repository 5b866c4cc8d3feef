// SPDX-License-Identifier: Apache-2.0
// UpdateFeatures, ElectLeaders, AlterPartitionReassignments, ListPartitionReassignments, DescribeQuorum, UnregisterBroker.
#include <utility>

#include "engine/api/admin_handlers.h"
#include "engine/metadata/controller.h"
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
  node.controller().list_partition_reassignments(
      request, [&node, token = context.token](const wire::ListPartitionReassignmentsResponse& response) {
        node.reply(token, response);
      });
}

void handle_describe_quorum(Node& node, const RequestContext& context, wire::DescribeQuorumRequest& request) {
  using Response = wire::DescribeQuorumResponse;
  Response response;
  response.error_message = "";
  // Exactly the one partition that a quorum keeps; anything else is not hosted here, and nothing is then told.
  const bool right = request.topics.size() == 1 && request.topics.front().topic_name == "__cluster_metadata" &&
                     request.topics.front().partitions.size() == 1 &&
                     request.topics.front().partitions.front().partition_index == PartitionIndex(0);
  if (!right) {
    for (const auto& topic : request.topics) {
      auto& answer = response.topics.emplace_back();
      answer.topic_name = topic.topic_name;
      for (const auto& partition : topic.partitions) {
        auto& item = answer.partitions.emplace_back();
        item.partition_index = partition.partition_index;
        item.error_code = ErrorCode::unknown_topic_or_partition;
        item.error_message = "the quorum keeps partition 0 of __cluster_metadata, alone in a request, and nothing else";
        item.leader_id = BrokerId(0);
        item.leader_epoch = LeaderEpoch(0);
      }
    }
    node.reply(context.token, response);
    return;
  }
  const raft::QuorumView view = node.quorum();
  auto& topic = response.topics.emplace_back();
  topic.topic_name = request.topics.front().topic_name;
  auto& item = topic.partitions.emplace_back();
  item.partition_index = PartitionIndex(0);
  item.error_message = "";
  item.leader_id = view.leader.value_or(kNoBroker);
  item.leader_epoch = view.epoch;
  item.high_watermark = view.high_watermark.value();
  // One voter today, this node, which is as far as its own log. A broker in the same process is no observer.
  auto& voter = item.current_voters.emplace_back();
  voter.replica_id = node.options().node;
  if (const metadata::BrokerImage* self = node.image()->find_broker(node.options().node);
      self != nullptr && !self->log_directories.empty()) {
    voter.replica_directory_id = self->log_directories.front();
  }
  voter.log_end_offset = view.log_end_offset;
  voter.last_fetch_timestamp = context.now.wall.ms;
  voter.last_caught_up_timestamp = context.now.wall.ms;
  constexpr std::int16_t kNodesFrom = 2;
  if (context.api_version >= kNodesFrom) {
    auto& self = response.nodes.emplace_back();
    self.node_id = node.options().node;
    auto& listener = self.listeners.emplace_back();
    listener.name = "CONTROLLER";
    const NodeOptions& options = node.options();
    listener.host = options.controller_port != 0 ? options.controller_host : options.advertised_host;
    listener.port = options.controller_port != 0 ? options.controller_port : options.advertised_port;
  }
  node.reply(context.token, response);
}

void handle_unregister_broker(Node& node, const RequestContext& context, wire::UnregisterBrokerRequest& request) {
  node.controller().unregister_broker(request.broker_id, [&node, token = context.token](const metadata::Refusal& refusal) {
    wire::UnregisterBrokerResponse response;
    response.error_code = refusal.error;
    response.error_message = refusal.message;
    node.reply(token, response);
  });
}

}  // namespace hw::api
