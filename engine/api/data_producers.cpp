// SPDX-License-Identifier: Apache-2.0
// DescribeProducers (KIP-664): who wrote to a partition, as far as its log remembers.
#include "engine/api/data_handlers.h"
#include "engine/broker/broker.h"

namespace hw::api {

using wire::ErrorCode;

namespace {

void describe_in(Node& node, const std::string& topic, wire::DescribeProducersResponse::PartitionResponse& answer) {
  const PartitionIndex index = answer.partition_index;
  const metadata::TopicImage* known = node.image()->find_topic(topic);
  if (known == nullptr || index.value() < 0 || static_cast<std::size_t>(index.value()) >= known->partitions.size()) {
    answer.error_code = ErrorCode::unknown_topic_or_partition;
    return;
  }
  broker::Partition* partition = node.broker().find(topic, index);
  if (partition == nullptr) {
    answer.error_code = ErrorCode::not_leader_or_follower;
    return;
  }
  answer.error_code = partition->check(false, kNoLeaderEpoch);
  if (answer.error_code != ErrorCode::none) {
    return;
  }
  for (const log::PartitionLog::ProducerInfo& producer : partition->log()->producers()) {
    auto& one = answer.active_producers.emplace_back();
    one.producer_id = producer.producer_id;
    one.producer_epoch = producer.epoch.value();
    one.last_sequence = producer.last_sequence;
    one.last_timestamp = producer.last_timestamp_ms;
    one.coordinator_epoch = producer.coordinator_epoch;
    one.current_txn_start_offset = producer.current_txn_start_offset;
  }
}

}  // namespace

void handle_describe_producers(Node& node, const RequestContext& context, wire::DescribeProducersRequest& request) {
  wire::DescribeProducersResponse response;
  response.topics.reserve(request.topics.size());
  for (auto& topic : request.topics) {
    auto& topic_answer = response.topics.emplace_back();
    topic_answer.name = topic.name;
    topic_answer.partitions.reserve(topic.partition_indexes.size());
    for (const PartitionIndex index : topic.partition_indexes) {
      auto& answer = topic_answer.partitions.emplace_back();
      answer.partition_index = index;
      describe_in(node, topic.name, answer);
    }
  }
  node.reply(context.token, response);
}

}  // namespace hw::api
