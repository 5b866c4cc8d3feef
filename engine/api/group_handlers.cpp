// SPDX-License-Identifier: Apache-2.0
// The table of the group APIs, and FindCoordinator.
#include <array>
#include <utility>

#include "engine/api/group_detail.h"
#include "engine/api/transaction_log.h"
#include "engine/wire/msg/find_coordinator.h"

namespace hw::api {
namespace {

using wire::ErrorCode;

constexpr std::int8_t kGroupKey = 0;
constexpr std::int8_t kTransactionKey = 1;
constexpr std::int16_t kManyKeysFrom = 4;

wire::FindCoordinatorResponse::Coordinator failed(const std::string& key, ErrorCode error,
                                                  std::string message) {
  wire::FindCoordinatorResponse::Coordinator answer;
  answer.key = key;
  answer.node_id = kNoBroker;
  answer.port = -1;
  answer.error_code = error;
  answer.error_message = std::move(message);
  return answer;
}

wire::FindCoordinatorResponse::Coordinator find(Node& node, const RequestContext& context,
                                                std::int8_t type, const std::string& key) {
  if (type != kGroupKey && type != kTransactionKey) {
    return failed(key, ErrorCode::invalid_request,
                  "This broker coordinates groups (key type 0) and transactions (1) only, not key type " + std::to_string(type) + ".");
  }
  const metadata::MetadataImage& image = *node.image();
  const std::string topic_name = type == kGroupKey ? kGroupTopic : kTransactionTopic;
  const metadata::TopicImage* topic = image.find_topic(topic_name);
  if (topic == nullptr) {
    node.auto_create_topics({topic_name});
    return failed(key, ErrorCode::coordinator_not_available,
                  "The topic of the coordinator is being created.");
  }
  const std::size_t partition =
      static_cast<std::size_t>((type == kGroupKey ? node.groups().partition_of(key) : node.transactions().partition_of(key)).value());
  const metadata::BrokerImage* leader = partition < topic->partitions.size()
                                            ? image.find_broker(topic->partitions[partition].leader)
                                            : nullptr;
  if (leader != nullptr && !leader->fenced) {
    for (const metadata::ListenerImage& listener : leader->listeners) {
      if (listener.name == context.listener) {
        wire::FindCoordinatorResponse::Coordinator answer;
        answer.key = key;
        answer.node_id = leader->id;
        answer.host = listener.host;
        answer.port = listener.port;
        answer.error_message = std::string();
        return answer;
      }
    }
  }
  return failed(key, ErrorCode::coordinator_not_available,
                "The coordinator has no leader at the moment.");
}

}  // namespace

void handle_find_coordinator(Node& node, const RequestContext& context,
                             wire::FindCoordinatorRequest& request) {
  wire::FindCoordinatorResponse response;
  if (context.api_version < kManyKeysFrom) {
    wire::FindCoordinatorResponse::Coordinator found =
        find(node, context, request.key_type, request.key);
    response.node_id = found.node_id;
    response.host = std::move(found.host);
    response.port = found.port;
    response.error_code = found.error_code;
    response.error_message =
        found.error_code == ErrorCode::none ? std::string("NONE") : std::move(found.error_message);
  } else {
    for (const std::string& key : request.coordinator_keys) {
      response.coordinators.push_back(find(node, context, request.key_type, key));
    }
  }
  node.reply(context.token, response);
}

std::span<const Handler> group_handlers() {
  static constexpr std::array kTable{
      handler<wire::FindCoordinatorRequest, handle_find_coordinator>(),
      handler<wire::JoinGroupRequest, handle_join_group>(),
      handler<wire::SyncGroupRequest, handle_sync_group>(),
      handler<wire::HeartbeatRequest, handle_heartbeat>(),
      handler<wire::LeaveGroupRequest, handle_leave_group>(),
      handler<wire::ConsumerGroupHeartbeatRequest, handle_consumer_group_heartbeat>(),
      handler<wire::ConsumerGroupDescribeRequest, handle_consumer_group_describe>(),
      handler<wire::OffsetCommitRequest, handle_offset_commit>(),
      handler<wire::TxnOffsetCommitRequest, handle_txn_offset_commit>(),
      handler<wire::OffsetFetchRequest, handle_offset_fetch>(),
      handler<wire::OffsetDeleteRequest, handle_offset_delete>(),
      handler<wire::DescribeGroupsRequest, handle_describe_groups>(),
      handler<wire::ListGroupsRequest, handle_list_groups>(),
      handler<wire::DeleteGroupsRequest, handle_delete_groups>(),
  };
  return kTable;
}

}  // namespace hw::api
