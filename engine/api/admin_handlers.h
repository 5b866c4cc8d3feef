// SPDX-License-Identifier: Apache-2.0
// Handlers of the administrative APIs, and what they share.
#pragma once

#include <string_view>
#include <vector>

#include "engine/api/handler.h"
#include "engine/metadata/image/image.h"
#include "engine/wire/msg/api_versions.h"
#include "engine/wire/msg/create_partitions.h"
#include "engine/wire/msg/create_topics.h"
#include "engine/wire/msg/delete_topics.h"
#include "engine/wire/msg/describe_cluster.h"
#include "engine/wire/msg/describe_configs.h"
#include "engine/wire/msg/describe_topic_partitions.h"
#include "engine/wire/msg/init_producer_id.h"
#include "engine/wire/msg/metadata.h"

namespace hw::api {

void handle_api_versions(Node& node, const RequestContext& context, wire::ApiVersionsRequest& request);
void handle_metadata(Node& node, const RequestContext& context, wire::MetadataRequest& request);
void handle_describe_cluster(Node& node, const RequestContext& context, wire::DescribeClusterRequest& request);
void handle_describe_topic_partitions(Node& node, const RequestContext& context,
                                      wire::DescribeTopicPartitionsRequest& request);
void handle_describe_configs(Node& node, const RequestContext& context, wire::DescribeConfigsRequest& request);
void handle_create_topics(Node& node, const RequestContext& context, wire::CreateTopicsRequest& request);
void handle_delete_topics(Node& node, const RequestContext& context, wire::DeleteTopicsRequest& request);
void handle_create_partitions(Node& node, const RequestContext& context, wire::CreatePartitionsRequest& request);
void handle_init_producer_id(Node& node, const RequestContext& context, wire::InitProducerIdRequest& request);

// Operations that everybody may do where no authorizer is configured: bits of AclOperation.
inline constexpr std::int32_t kAllTopicOperations = 3576;    // READ … ALTER_CONFIGS
inline constexpr std::int32_t kAllClusterOperations = 8096;  // CREATE … CREATE_TOKENS

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
