// SPDX-License-Identifier: Apache-2.0
// DeleteRecords (KIP-107): the log start of partitions moves forward; segments go with the next round of retention.
#include <map>
#include <utility>

#include "engine/api/data_handlers.h"
#include "engine/broker/broker.h"

namespace hw::api {

using wire::ErrorCode;

namespace {

broker::Partition::Deleted delete_in(Node& node, const std::string& topic, PartitionIndex index, Offset offset) {
  broker::Partition::Deleted result;
  const metadata::TopicImage* known = node.image()->find_topic(topic);
  if (known == nullptr || index.value() < 0 || static_cast<std::size_t>(index.value()) >= known->partitions.size()) {
    result.error = ErrorCode::unknown_topic_or_partition;
    return result;
  }
  broker::Partition* partition = node.broker().find(topic, index);
  if (partition == nullptr) {
    result.error = ErrorCode::not_leader_or_follower;
  } else if (partition->topic().internal) {
    result.error = ErrorCode::invalid_topic_exception;
  } else {
    result = partition->delete_records(offset);
  }
  return result;
}

}  // namespace

void handle_delete_records(Node& node, const RequestContext& context, wire::DeleteRecordsRequest& request) {
  // A partition that is named more than once counts with its last offset, and is answered once.
  std::map<std::pair<std::string, PartitionIndex>, Offset> wanted;
  for (const auto& topic : request.topics) {
    for (const auto& partition : topic.partitions) {
      wanted[{topic.name, partition.partition_index}] = partition.offset;
    }
  }
  wire::DeleteRecordsResponse response;
  std::map<std::string, std::size_t> places;
  for (const auto& topic : request.topics) {
    for (const auto& partition : topic.partitions) {
      const auto it = wanted.find({topic.name, partition.partition_index});
      if (it == wanted.end()) {
        continue;
      }
      const auto [place, fresh] = places.emplace(topic.name, response.topics.size());
      if (fresh) {
        response.topics.emplace_back().name = topic.name;
      }
      const broker::Partition::Deleted done = delete_in(node, topic.name, partition.partition_index, it->second);
      wanted.erase(it);
      auto& answer = response.topics[place->second].partitions.emplace_back();
      answer.partition_index = partition.partition_index;
      answer.low_watermark = done.low_watermark.value();
      answer.error_code = done.error;
    }
  }
  node.reply(context.token, response);
}

}  // namespace hw::api
