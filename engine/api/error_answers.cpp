// SPDX-License-Identifier: Apache-2.0
#include "engine/api/error_answers.h"

#include <optional>

#include "engine/wire/msg/add_raft_voter.h"
#include "engine/wire/msg/alter_client_quotas.h"
#include "engine/wire/msg/alter_configs.h"
#include "engine/wire/msg/alter_partition_reassignments.h"
#include "engine/wire/msg/create_partitions.h"
#include "engine/wire/msg/create_topics.h"
#include "engine/wire/msg/delete_topics.h"
#include "engine/wire/msg/describe_quorum.h"
#include "engine/wire/msg/elect_leaders.h"
#include "engine/wire/msg/incremental_alter_configs.h"
#include "engine/wire/msg/list_partition_reassignments.h"
#include "engine/wire/msg/remove_raft_voter.h"
#include "engine/wire/msg/unregister_broker.h"
#include "engine/wire/msg/unregister_controller.h"
#include "engine/wire/msg/update_features.h"

namespace hw::api {
namespace {

struct Failure {
  wire::ErrorCode error;
  const std::string& message;

  template <class Place>
  void put(Place& place) const {
    place.error_code = error;
    if constexpr (requires { place.error_message; }) {
      place.error_message = message;
    }
  }
};

// Everything below the top is empty, unless one of the functions that follow says otherwise.
template <class Request, class Response>
void fill(const Request& /*request*/, Response& response, const Failure& failure) {
  failure.put(response);
}

void fill(const wire::CreateTopicsRequest& request, wire::CreateTopicsResponse& response, const Failure& failure) {
  for (const auto& topic : request.topics) {
    auto& result = response.topics.emplace_back();
    result.name = topic.name;
    result.configs.emplace();
    failure.put(result);
  }
}

void fill(const wire::DeleteTopicsRequest& request, wire::DeleteTopicsResponse& response, const Failure& failure) {
  for (const auto& topic : request.topics) {
    auto& result = response.responses.emplace_back();
    result.name = topic.name;
    result.topic_id = topic.topic_id;
    failure.put(result);
  }
  for (const auto& name : request.topic_names) {
    auto& result = response.responses.emplace_back();
    result.name = name;
    failure.put(result);
  }
}

void fill(const wire::CreatePartitionsRequest& request, wire::CreatePartitionsResponse& response, const Failure& failure) {
  for (const auto& topic : request.topics) {
    auto& result = response.results.emplace_back();
    result.name = topic.name;
    failure.put(result);
  }
}

template <class Request, class Response>
void fill_resources(const Request& request, Response& response, const Failure& failure) {
  for (const auto& resource : request.resources) {
    auto& result = response.responses.emplace_back();
    result.resource_type = resource.resource_type;
    result.resource_name = resource.resource_name;
    failure.put(result);
  }
}
void fill(const wire::AlterConfigsRequest& request, wire::AlterConfigsResponse& response, const Failure& failure) {
  fill_resources(request, response, failure);
}
void fill(const wire::IncrementalAlterConfigsRequest& request, wire::IncrementalAlterConfigsResponse& response,
          const Failure& failure) {
  fill_resources(request, response, failure);
}

void fill(const wire::ElectLeadersRequest& request, wire::ElectLeadersResponse& response, const Failure& failure) {
  response.error_code = failure.error;
  if (!request.topic_partitions) {
    return;
  }
  for (const auto& topic : *request.topic_partitions) {
    auto& result = response.replica_election_results.emplace_back();
    result.topic = topic.topic;
    for (const PartitionIndex partition : topic.partitions) {
      auto& one = result.partition_result.emplace_back();
      one.partition_id = partition;
      failure.put(one);
    }
  }
}

void fill(const wire::AlterPartitionReassignmentsRequest& request, wire::AlterPartitionReassignmentsResponse& response,
          const Failure& failure) {
  failure.put(response);
  for (const auto& topic : request.topics) {
    auto& result = response.responses.emplace_back();
    result.name = topic.name;
    for (const auto& partition : topic.partitions) {
      auto& one = result.partitions.emplace_back();
      one.partition_index = partition.partition_index;
      failure.put(one);
    }
  }
}

void fill(const wire::AlterClientQuotasRequest& request, wire::AlterClientQuotasResponse& response, const Failure& failure) {
  for (const auto& entry : request.entries) {
    auto& result = response.entries.emplace_back();
    for (const auto& entity : entry.entity) {
      auto& one = result.entity.emplace_back();
      one.entity_type = entity.entity_type;
      one.entity_name = entity.entity_name;
    }
    failure.put(result);
  }
}

template <class Request, class Response>
void answer(Node& node, const RequestContext& context, wire::Reader& body, const Failure& failure) {
  Request request;
  if (!decode(body, request, context.api_version)) {
    close_undecodable(node, context, Request::kName);
    return;
  }
  Response response;
  fill(request, response, failure);
  node.reply(context.token, response);
}

}  // namespace

void answer_with_error(Node& node, const RequestContext& context, wire::Reader& body, wire::ErrorCode error,
                       const std::string& message) {
  const Failure failure{error, message};
#define HW_ANSWER(name)                                                                         \
  if (context.api_key == wire::name##Request::kApiKey) {                                        \
    answer<wire::name##Request, wire::name##Response>(node, context, body, failure);            \
    return;                                                                                     \
  }
  HW_ANSWER(CreateTopics)
  HW_ANSWER(DeleteTopics)
  HW_ANSWER(CreatePartitions)
  HW_ANSWER(AlterConfigs)
  HW_ANSWER(IncrementalAlterConfigs)
  HW_ANSWER(ElectLeaders)
  HW_ANSWER(AlterPartitionReassignments)
  HW_ANSWER(ListPartitionReassignments)
  HW_ANSWER(AlterClientQuotas)
  HW_ANSWER(DescribeQuorum)
  HW_ANSWER(UpdateFeatures)
  HW_ANSWER(UnregisterBroker)
  HW_ANSWER(UnregisterController)
  HW_ANSWER(AddRaftVoter)
  HW_ANSWER(RemoveRaftVoter)
#undef HW_ANSWER
  node.close(context.connection(), message);
}

}  // namespace hw::api
