// SPDX-License-Identifier: Apache-2.0
#include "engine/api/admin_handlers.h"
#include "engine/api/quorum_question.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "engine/metadata/partition_change.h"

namespace hw::api {

std::span<const Handler> admin_handlers() {
  static constexpr std::array kHandlers{
      handler<wire::ApiVersionsRequest, handle_api_versions>(),
      handler<wire::MetadataRequest, handle_metadata>(),
      handler<wire::DescribeClusterRequest, handle_describe_cluster>(),
      handler<wire::DescribeTopicPartitionsRequest, handle_describe_topic_partitions>(),
      handler<wire::DescribeConfigsRequest, handle_describe_configs>(),
      handler<wire::AlterConfigsRequest, handle_alter_configs>(),
      handler<wire::IncrementalAlterConfigsRequest, handle_incremental_alter_configs>(),
      handler<wire::ListConfigResourcesRequest, handle_list_config_resources>(),
      handler<wire::DescribeClientQuotasRequest, handle_describe_client_quotas>(),
      handler<wire::AlterClientQuotasRequest, handle_alter_client_quotas>(),
      handler<wire::DescribeAclsRequest, handle_describe_acls>(),
      handler<wire::CreateAclsRequest, handle_create_acls>(),
      handler<wire::DeleteAclsRequest, handle_delete_acls>(),
      handler<wire::SaslHandshakeRequest, handle_sasl_handshake>(),
      handler<wire::SaslAuthenticateRequest, handle_sasl_authenticate>(),
      handler<wire::CreateDelegationTokenRequest, handle_create_delegation_token>(),
      handler<wire::RenewDelegationTokenRequest, handle_renew_delegation_token>(),
      handler<wire::ExpireDelegationTokenRequest, handle_expire_delegation_token>(),
      handler<wire::DescribeDelegationTokenRequest, handle_describe_delegation_token>(),
      handler<wire::UpdateFeaturesRequest, handle_update_features>(),
      handler<wire::ElectLeadersRequest, handle_elect_leaders>(),
      handler<wire::AlterPartitionReassignmentsRequest, handle_alter_partition_reassignments>(),
      handler<wire::ListPartitionReassignmentsRequest, handle_list_partition_reassignments>(),
      handler<wire::DescribeQuorumRequest, ask_quorum<wire::DescribeQuorumRequest>>(),
      handler<wire::AddRaftVoterRequest, ask_quorum<wire::AddRaftVoterRequest>>(),
      handler<wire::RemoveRaftVoterRequest, ask_quorum<wire::RemoveRaftVoterRequest>>(),
      handler<wire::UnregisterBrokerRequest, handle_unregister_broker>(),
      handler<wire::UnregisterControllerRequest, handle_unregister_controller>(),
      handler<wire::GetTelemetrySubscriptionsRequest, handle_get_telemetry_subscriptions>(false),
      handler<wire::PushTelemetryRequest, handle_push_telemetry>(false),
      handler<wire::CreateTopicsRequest, handle_create_topics>(),
      handler<wire::DeleteTopicsRequest, handle_delete_topics>(),
      handler<wire::CreatePartitionsRequest, handle_create_partitions>(),
      handler<wire::InitProducerIdRequest, handle_init_producer_id>(),
  };
  return kHandlers;
}

std::optional<std::string> other_node(std::string_view name, BrokerId self) {
  std::string_view digits = name;
  if (digits.starts_with('+')) {
    digits.remove_prefix(1);
  }
  std::int32_t id = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), id);
  if (error != std::errc{} || end != digits.data() + digits.size()) {
    return "'" + std::string(name) + "' is no broker id";
  }
  if (id != self.value()) {
    return "broker " + std::string(name) + " answers for itself, this is broker " + std::to_string(self.value());
  }
  return std::nullopt;
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
  for (std::size_t i = 0; i < partition.replicas.size(); ++i) {
    const metadata::BrokerImage* broker = image.find_broker(partition.replicas[i]);
    const auto here = [&](const metadata::ListenerImage& endpoint) { return endpoint.name == listener; };
    if (broker == nullptr || broker->fenced ||
        std::none_of(broker->listeners.begin(), broker->listeners.end(), here) ||
        !metadata::directory_works(partition.directories[i], broker->log_directories)) {
      sight.offline.push_back(partition.replicas[i]);
    }
  }
  return sight;
}

}  // namespace hw::api
