// SPDX-License-Identifier: Apache-2.0
#include "engine/api/admin_handlers.h"

#include <array>

namespace hw::api {

std::span<const Handler> admin_handlers() {
  static constexpr std::array kHandlers{
      handler<wire::ApiVersionsRequest, handle_api_versions>(),
      handler<wire::MetadataRequest, handle_metadata>(),
      handler<wire::DescribeClusterRequest, handle_describe_cluster>(),
      handler<wire::DescribeTopicPartitionsRequest, handle_describe_topic_partitions>(),
      handler<wire::DescribeConfigsRequest, handle_describe_configs>(),
      handler<wire::CreateTopicsRequest, handle_create_topics>(),
      handler<wire::DeleteTopicsRequest, handle_delete_topics>(),
      handler<wire::CreatePartitionsRequest, handle_create_partitions>(),
      handler<wire::InitProducerIdRequest, handle_init_producer_id>(),
  };
  return kHandlers;
}

const metadata::ListenerImage* live_endpoint(const metadata::MetadataImage& image, BrokerId id, std::string_view listener) {
  const metadata::BrokerImage* broker = image.find_broker(id);
  if (broker == nullptr || broker->fenced) {
    return nullptr;
  }
  for (const metadata::ListenerImage& endpoint : broker->listeners) {
    if (endpoint.name == listener) {
      return &endpoint;
    }
  }
  return nullptr;
}

PartitionSight look_at(const metadata::MetadataImage& image, const metadata::PartitionImage& partition,
                       std::string_view listener) {
  PartitionSight sight;
  if (live_endpoint(image, partition.leader, listener) != nullptr) {
    sight.leader = partition.leader;
  } else {
    sight.error = wire::ErrorCode::leader_not_available;
  }
  for (const BrokerId replica : partition.replicas) {
    const metadata::BrokerImage* broker = image.find_broker(replica);
    if (broker == nullptr || broker->fenced) {
      sight.offline.push_back(replica);
    }
  }
  return sight;
}

}  // namespace hw::api
