// SPDX-License-Identifier: Apache-2.0
// Handlers of the administrative APIs, and what they share.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/api/handler.h"
#include "engine/metadata/image/image.h"
#include "engine/wire/msg/alter_client_quotas.h"
#include "engine/wire/msg/alter_configs.h"
#include "engine/wire/msg/alter_partition_reassignments.h"
#include "engine/wire/msg/api_versions.h"
#include "engine/wire/msg/create_acls.h"
#include "engine/wire/msg/create_delegation_token.h"
#include "engine/wire/msg/create_partitions.h"
#include "engine/wire/msg/create_topics.h"
#include "engine/wire/msg/delete_acls.h"
#include "engine/wire/msg/delete_topics.h"
#include "engine/wire/msg/describe_acls.h"
#include "engine/wire/msg/describe_client_quotas.h"
#include "engine/wire/msg/describe_cluster.h"
#include "engine/wire/msg/describe_configs.h"
#include "engine/wire/msg/describe_delegation_token.h"
#include "engine/wire/msg/describe_topic_partitions.h"
#include "engine/wire/msg/elect_leaders.h"
#include "engine/wire/msg/expire_delegation_token.h"
#include "engine/wire/msg/get_telemetry_subscriptions.h"
#include "engine/wire/msg/incremental_alter_configs.h"
#include "engine/wire/msg/init_producer_id.h"
#include "engine/wire/msg/list_config_resources.h"
#include "engine/wire/msg/list_partition_reassignments.h"
#include "engine/wire/msg/metadata.h"
#include "engine/wire/msg/push_telemetry.h"
#include "engine/wire/msg/renew_delegation_token.h"
#include "engine/wire/msg/sasl_authenticate.h"
#include "engine/wire/msg/sasl_handshake.h"
#include "engine/wire/msg/unregister_broker.h"
#include "engine/wire/msg/unregister_controller.h"
#include "engine/wire/msg/update_features.h"

namespace hw::api {

void handle_api_versions(Node& node, const RequestContext& context, wire::ApiVersionsRequest& request);
void handle_metadata(Node& node, const RequestContext& context, wire::MetadataRequest& request);
void handle_describe_cluster(Node& node, const RequestContext& context, wire::DescribeClusterRequest& request);
void handle_describe_topic_partitions(Node& node, const RequestContext& context,
                                      wire::DescribeTopicPartitionsRequest& request);
void handle_describe_configs(Node& node, const RequestContext& context, wire::DescribeConfigsRequest& request);
void handle_alter_configs(Node& node, const RequestContext& context, wire::AlterConfigsRequest& request);
void handle_incremental_alter_configs(Node& node, const RequestContext& context,
                                      wire::IncrementalAlterConfigsRequest& request);
void handle_list_config_resources(Node& node, const RequestContext& context, wire::ListConfigResourcesRequest& request);
void handle_describe_client_quotas(Node& node, const RequestContext& context, wire::DescribeClientQuotasRequest& request);
void handle_alter_client_quotas(Node& node, const RequestContext& context, wire::AlterClientQuotasRequest& request);
void handle_describe_acls(Node& node, const RequestContext& context, wire::DescribeAclsRequest& request);
void handle_create_acls(Node& node, const RequestContext& context, wire::CreateAclsRequest& request);
void handle_delete_acls(Node& node, const RequestContext& context, wire::DeleteAclsRequest& request);
void handle_sasl_handshake(Node& node, const RequestContext& context, wire::SaslHandshakeRequest& request);
void handle_sasl_authenticate(Node& node, const RequestContext& context, wire::SaslAuthenticateRequest& request);
void handle_create_delegation_token(Node& node, const RequestContext& context,
                                    wire::CreateDelegationTokenRequest& request);
void handle_renew_delegation_token(Node& node, const RequestContext& context,
                                   wire::RenewDelegationTokenRequest& request);
void handle_expire_delegation_token(Node& node, const RequestContext& context,
                                    wire::ExpireDelegationTokenRequest& request);
void handle_describe_delegation_token(Node& node, const RequestContext& context,
                                      wire::DescribeDelegationTokenRequest& request);
void handle_update_features(Node& node, const RequestContext& context, wire::UpdateFeaturesRequest& request);
void handle_elect_leaders(Node& node, const RequestContext& context, wire::ElectLeadersRequest& request);
void handle_alter_partition_reassignments(Node& node, const RequestContext& context,
                                          wire::AlterPartitionReassignmentsRequest& request);
void handle_list_partition_reassignments(Node& node, const RequestContext& context,
                                         wire::ListPartitionReassignmentsRequest& request);
void handle_unregister_broker(Node& node, const RequestContext& context, wire::UnregisterBrokerRequest& request);
void handle_unregister_controller(Node& node, const RequestContext& context, wire::UnregisterControllerRequest& request);
void handle_get_telemetry_subscriptions(Node& node, const RequestContext& context,
                                        wire::GetTelemetrySubscriptionsRequest& request);
void handle_push_telemetry(Node& node, const RequestContext& context, wire::PushTelemetryRequest& request);
void handle_create_topics(Node& node, const RequestContext& context, wire::CreateTopicsRequest& request);
void handle_delete_topics(Node& node, const RequestContext& context, wire::DeleteTopicsRequest& request);
void handle_create_partitions(Node& node, const RequestContext& context, wire::CreatePartitionsRequest& request);
void handle_init_producer_id(Node& node, const RequestContext& context, wire::InitProducerIdRequest& request);

// Operations that everybody may do where no authorizer is configured: bits of AclOperation.
inline constexpr std::int32_t kAllTopicOperations = 3576;    // READ … ALTER_CONFIGS
inline constexpr std::int32_t kAllClusterOperations = 8096;  // CREATE … CREATE_TOKENS

// Why a resource named `name` is not for this node: nothing where it is its own id (Kafka's broker and logger resources).
[[nodiscard]] std::optional<std::string> other_node(std::string_view name, BrokerId self);

// Where clients of `listener` reach a broker; null where it is unknown, fenced or has no such listener.
[[nodiscard]] const metadata::ListenerImage* live_endpoint(const metadata::MetadataImage& image, BrokerId broker,
                                                           std::string_view listener);

// A partition as clients of `listener` see it.
struct PartitionSight {
  wire::ErrorCode error = wire::ErrorCode::none;  // leader_not_available
  BrokerId leader = kNoBroker;
  std::vector<BrokerId> offline;                  // replicas that clients cannot reach
};
[[nodiscard]] PartitionSight look_at(const metadata::MetadataImage& image, const metadata::PartitionImage& partition,
                                     std::string_view listener);

}  // namespace hw::api
