// SPDX-License-Identifier: Apache-2.0
// Metadata, DescribeCluster and DescribeTopicPartitions: what the image says, in the words of each API.
#include <algorithm>
#include <map>
#include <set>

#include "engine/api/admin_handlers.h"
#include "engine/metadata/controller.h"
#include "engine/metadata/image/image_builder.h"
#include "engine/raft/quorum.h"

namespace hw::api {

namespace {

// Kinds of endpoints that DescribeCluster tells apart.
constexpr std::int8_t kBrokerEndpoints = 1;
constexpr std::int8_t kControllerEndpoints = 2;

using wire::ErrorCode;
using MetadataTopic = wire::MetadataResponse::MetadataResponseTopic;
using MetadataPartition = wire::MetadataResponse::MetadataResponsePartition;

MetadataPartition describe_partition(const metadata::MetadataImage& image, const metadata::PartitionImage& partition,
                                     std::int32_t index, const RequestContext& context) {
  MetadataPartition entry;
  PartitionSight sight = look_at(image, partition, context.listener);
  entry.error_code = sight.error;
  entry.partition_index = PartitionIndex(index);
  entry.leader_id = sight.leader;
  entry.leader_epoch = partition.leader_epoch;
  entry.replica_nodes = partition.replicas;
  entry.isr_nodes = partition.isr;
  entry.offline_replicas = std::move(sight.offline);
  if (context.api_version == 0) {  // shows reachable replicas only, and has no list of the others
    const auto unreachable = [&](BrokerId id) { return live_endpoint(image, id, context.listener) == nullptr; };
    const std::size_t replicas = entry.replica_nodes.size();
    const std::size_t isr = entry.isr_nodes.size();
    std::erase_if(entry.replica_nodes, unreachable);
    std::erase_if(entry.isr_nodes, unreachable);
    if (entry.error_code == ErrorCode::none &&
        (entry.replica_nodes.size() < replicas || entry.isr_nodes.size() < isr)) {
      entry.error_code = ErrorCode::replica_not_available;
    }
  }
  return entry;
}

MetadataTopic describe_topic(const metadata::MetadataImage& image, const metadata::TopicImage& topic,
                             const RequestContext& context, bool operations) {
  MetadataTopic entry;
  entry.name = topic.name;
  entry.topic_id = topic.id;
  entry.is_internal = metadata::is_internal_topic(topic.name);
  entry.partitions.reserve(topic.partitions.size());
  for (std::size_t i = 0; i < topic.partitions.size(); ++i) {
    entry.partitions.push_back(describe_partition(image, topic.partitions[i], static_cast<std::int32_t>(i), context));
  }
  if (operations) {
    entry.topic_authorized_operations = kAllTopicOperations;
  }
  return entry;
}

// A request that is refused as a whole: no brokers, no cluster, the same error for each topic asked for.
void refuse_metadata(Node& node, const RequestContext& context, const wire::MetadataRequest& request, ErrorCode error,
                     const char* why) {
  wire::MetadataResponse response;
  if (request.topics) {
    for (const auto& asked : *request.topics) {
      MetadataTopic entry;
      entry.error_code = error;
      entry.name = asked.name.value_or("");
      entry.topic_id = asked.topic_id;
      response.topics.push_back(std::move(entry));
    }
  }
  response.error_code = error;
  node.refused(context, error, why);
  node.reply(context.token, response);
}

// Topics asked for by name; those that are missing are created where the request and the broker allow it. The answer
// does not wait for that: it says that the topic is unknown, and the client asks again.
void add_named_topics(Node& node, const RequestContext& context, const wire::MetadataRequest& request,
                      wire::MetadataResponse& response) {
  const metadata::MetadataImage& image = *node.image();
  const bool create = request.allow_auto_topic_creation && node.controller().broker_configs().flag("auto.create.topics.enable");
  const bool operations = request.include_topic_authorized_operations;
  std::set<std::string> seen;
  std::vector<std::string> missing;
  for (const auto& asked : *request.topics) {
    if (!asked.name || !seen.insert(*asked.name).second) {
      continue;
    }
    if (const metadata::TopicImage* topic = image.find_topic(*asked.name)) {
      response.topics.push_back(describe_topic(image, *topic, context, operations));
      continue;
    }
    MetadataTopic entry;
    entry.name = *asked.name;
    entry.is_internal = metadata::is_internal_topic(*asked.name);
    if (metadata::topic_name_error(*asked.name)) {
      entry.error_code = ErrorCode::invalid_topic_exception;
    } else {
      entry.error_code = ErrorCode::unknown_topic_or_partition;
      if (create) {
        missing.push_back(*asked.name);
      }
    }
    if (operations) {
      entry.topic_authorized_operations = kAllTopicOperations;
    }
    response.topics.push_back(std::move(entry));
  }
  if (!missing.empty()) {
    node.auto_create_topics(missing);
  }
}

}  // namespace

void handle_metadata(Node& node, const RequestContext& context, wire::MetadataRequest& request) {
  constexpr std::int16_t kAsksByIdFrom = 12;  // ids are on the wire since 10, but not to ask by
  const metadata::MetadataImage& image = *node.image();
  const bool all = !request.topics || (context.api_version == 0 && request.topics->empty());
  std::set<Uuid> ids;
  bool nameless = false;
  if (!all) {
    for (const auto& asked : *request.topics) {
      if (!asked.topic_id.is_zero()) {
        ids.insert(asked.topic_id);
      }
      nameless = nameless || !asked.name;
      if (context.api_version < kAsksByIdFrom && (!asked.name || !asked.topic_id.is_zero())) {
        refuse_metadata(node, context, request, ErrorCode::invalid_request,
                        "Metadata: topics are asked for by id from version 12 on");
        return;
      }
    }
    if (nameless && ids.empty()) {
      refuse_metadata(node, context, request, ErrorCode::unknown_server_error,
                      "Metadata: a topic has neither a name nor an id");
      return;
    }
  }

  wire::MetadataResponse response;
  for (const auto& [id, broker] : image.brokers()) {
    if (const metadata::ListenerImage* endpoint = live_endpoint(image, id, context.listener)) {
      wire::MetadataResponse::MetadataResponseBroker entry;
      entry.node_id = id;
      entry.host = endpoint->host;
      entry.port = endpoint->port;
      entry.rack = broker.rack;
      response.brokers.push_back(std::move(entry));
    }
  }
  response.cluster_id = node.cluster_id();
  // Any live broker will do: requests for the controller find their way from it.
  if (live_endpoint(image, node.options().node, context.listener) != nullptr) {
    response.controller_id = node.options().node;
  } else if (!response.brokers.empty()) {
    response.controller_id = response.brokers.front().node_id;
  }
  if (all) {
    for (const auto& [name, topic] : image.topics()) {
      response.topics.push_back(describe_topic(image, *topic, context, request.include_topic_authorized_operations));
    }
  } else if (!ids.empty()) {
    std::set<Uuid> seen;
    for (const auto& asked : *request.topics) {
      if (asked.topic_id.is_zero() || !seen.insert(asked.topic_id).second) {
        continue;
      }
      if (const metadata::TopicImage* topic = image.find_topic(asked.topic_id)) {
        response.topics.push_back(describe_topic(image, *topic, context, request.include_topic_authorized_operations));
      } else {
        MetadataTopic entry;
        entry.error_code = ErrorCode::unknown_topic_id;
        entry.topic_id = asked.topic_id;
        entry.name.reset();
        response.topics.push_back(std::move(entry));
      }
    }
  } else {
    add_named_topics(node, context, request, response);
  }
  if (request.include_cluster_authorized_operations) {
    response.cluster_authorized_operations = kAllClusterOperations;
  }
  node.reply(context.token, response);
}

namespace {

// What DescribeCluster tells at a listener of controllers (KIP-919): the controllers that registered there.
wire::DescribeClusterResponse describe_controllers(Node& node, std::string_view listener) {
  wire::DescribeClusterResponse response;
  response.endpoint_type = kControllerEndpoints;
  response.cluster_id = node.cluster_id();
  response.controller_id = node.quorum().leader.value_or(kNoBroker);
  for (const auto& [id, controller] : node.image()->controllers()) {
    const auto endpoint = std::find_if(controller.listeners.begin(), controller.listeners.end(),
                                       [&](const metadata::ListenerImage& l) { return l.name == listener; });
    if (endpoint != controller.listeners.end()) {
      auto& entry = response.brokers.emplace_back();
      entry.broker_id = id;
      entry.host = endpoint->host;
      entry.port = endpoint->port;
    }
  }
  return response;
}

}  // namespace

void handle_describe_cluster(Node& node, const RequestContext& context, wire::DescribeClusterRequest& request) {
  const bool at_controller = context.listener_kind == ListenerKind::controller;
  const std::int8_t here = at_controller ? kControllerEndpoints : kBrokerEndpoints;
  wire::DescribeClusterResponse response;
  if (request.endpoint_type != here) {
    const bool known = request.endpoint_type == kBrokerEndpoints || request.endpoint_type == kControllerEndpoints;
    response.error_code = known ? ErrorCode::mismatched_endpoint_type : ErrorCode::unsupported_endpoint_type;
    response.error_message = !known ? "there is no endpoint type " + std::to_string(request.endpoint_type)
                             : at_controller ? std::string("this endpoint is a controller's, brokers were asked for")
                                             : std::string("this endpoint is a broker's, controllers were asked for");
    node.refused(context, response.error_code, *response.error_message);
    node.reply(context.token, response);
    return;
  }
  if (at_controller) {
    response = describe_controllers(node, context.listener);
    if (request.include_cluster_authorized_operations) {
      response.cluster_authorized_operations = kAllClusterOperations;
    }
    node.reply(context.token, response);
    return;
  }
  const metadata::MetadataImage& image = *node.image();
  response.cluster_id = node.cluster_id();
  for (const auto& [id, broker] : image.brokers()) {
    if (broker.fenced && !request.include_fenced_brokers) {
      continue;
    }
    const auto endpoint = std::find_if(broker.listeners.begin(), broker.listeners.end(),
                                       [&](const metadata::ListenerImage& l) { return l.name == context.listener; });
    if (endpoint == broker.listeners.end()) {
      continue;
    }
    wire::DescribeClusterResponse::DescribeClusterBroker entry;
    entry.broker_id = id;
    entry.host = endpoint->host;
    entry.port = endpoint->port;
    entry.rack = broker.rack;
    entry.is_fenced = broker.fenced;
    response.brokers.push_back(std::move(entry));
  }
  if (live_endpoint(image, node.options().node, context.listener) != nullptr) {
    response.controller_id = node.options().node;
  }
  if (request.include_cluster_authorized_operations) {
    response.cluster_authorized_operations = kAllClusterOperations;
  }
  // Only version 2 can say that a broker is fenced.
  node.reply(context.token, response);
}

namespace {

using DescribedTopic = wire::DescribeTopicPartitionsResponse::DescribeTopicPartitionsResponseTopic;
using DescribedPartition = wire::DescribeTopicPartitionsResponse::DescribeTopicPartitionsResponsePartition;

DescribedTopic partitions_of(const metadata::MetadataImage& image, const metadata::TopicImage& topic, std::size_t first,
                             std::size_t most, std::string_view listener) {
  DescribedTopic entry;
  entry.name = topic.name;
  entry.topic_id = topic.id;
  entry.is_internal = metadata::is_internal_topic(topic.name);
  entry.topic_authorized_operations = kAllTopicOperations;
  for (std::size_t i = first; i < topic.partitions.size() && entry.partitions.size() < most; ++i) {
    const metadata::PartitionImage& partition = topic.partitions[i];
    PartitionSight sight = look_at(image, partition, listener);
    DescribedPartition described;
    // A missing leader is no error here: the lists say why there is none (KIP-966).
    described.partition_index = PartitionIndex(static_cast<std::int32_t>(i));
    described.leader_id = sight.leader;
    described.leader_epoch = partition.leader_epoch;
    described.replica_nodes = partition.replicas;
    described.isr_nodes = partition.isr;
    described.eligible_leader_replicas = partition.elr;
    described.last_known_elr = partition.last_known_elr;
    described.offline_replicas = std::move(sight.offline);
    entry.partitions.push_back(std::move(described));
  }
  return entry;
}

}  // namespace

void handle_describe_topic_partitions(Node& node, const RequestContext& context,
                                      wire::DescribeTopicPartitionsRequest& request) {
  const metadata::MetadataImage& image = *node.image();
  const bool all = request.topics.empty();
  std::set<std::string> names;  // sorted: that is what makes a cursor mean anything
  const std::string from = request.cursor ? request.cursor->topic_name : std::string();
  if (all) {
    for (const auto& [name, topic] : image.topics()) {
      if (name >= from) {
        names.insert(name);
      }
    }
  } else {
    for (const auto& topic : request.topics) {
      if (topic.name >= from) {
        names.insert(topic.name);
      }
    }
  }
  if (request.cursor && (request.cursor->partition_index.value() < 0 || (!all && !names.contains(from)))) {
    wire::DescribeTopicPartitionsResponse response;
    for (const auto& topic : request.topics) {
      DescribedTopic entry;
      entry.error_code = ErrorCode::invalid_request;
      entry.name = topic.name;
      response.topics.push_back(std::move(entry));
    }
    node.refused(context, ErrorCode::invalid_request,
                 "DescribeTopicPartitions: the cursor names no topic of the request, or a negative partition");
    node.reply(context.token, response);
    return;
  }
  const std::int64_t most = node.controller().broker_configs().number("max.request.partition.size.limit");
  auto left = static_cast<std::size_t>(
      std::max<std::int64_t>(1, std::min<std::int64_t>(most, request.response_partition_limit)));

  wire::DescribeTopicPartitionsResponse response;
  for (const std::string& name : names) {
    if (left == 0) {
      response.next_cursor.emplace();
      response.next_cursor->topic_name = name;
      response.next_cursor->partition_index = PartitionIndex(0);
      break;
    }
    const metadata::TopicImage* topic = image.find_topic(name);
    if (topic == nullptr) {
      DescribedTopic entry;
      entry.error_code = metadata::topic_name_error(name) ? ErrorCode::invalid_topic_exception
                                                          : ErrorCode::unknown_topic_or_partition;
      entry.name = name;
      entry.is_internal = metadata::is_internal_topic(name);
      entry.topic_authorized_operations = kAllTopicOperations;
      response.topics.push_back(std::move(entry));
      continue;
    }
    const std::size_t first = request.cursor && name == from
                                  ? static_cast<std::size_t>(request.cursor->partition_index.value())
                                  : 0;
    DescribedTopic entry = partitions_of(image, *topic, first, left, context.listener);
    const std::size_t end = first + entry.partitions.size();
    left -= entry.partitions.size();
    response.topics.push_back(std::move(entry));
    if (end < topic->partitions.size() && first < topic->partitions.size()) {
      response.next_cursor.emplace();
      response.next_cursor->topic_name = name;
      response.next_cursor->partition_index = PartitionIndex(static_cast<std::int32_t>(end));
      break;
    }
  }
  node.reply(context.token, response);
}

}  // namespace hw::api
