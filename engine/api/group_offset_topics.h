// SPDX-License-Identifier: Apache-2.0
// Topics and partitions of requests about offsets, against the metadata image.
#pragma once

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "engine/api/group_detail.h"

namespace hw::api {

[[nodiscard]] inline bool has_partition(const metadata::TopicImage& topic, PartitionIndex partition) {
  return partition.value() >= 0 && static_cast<std::size_t>(partition.value()) < topic.partitions.size();
}

// Takes the partitions with an error first, then what the coordinator says; one entry per topic.
template <class Response>
void merge(Response& into, Response&& from) {
  for (auto& topic : from.topics) {
    const auto known = std::find_if(into.topics.begin(), into.topics.end(), [&](const auto& other) {
      if constexpr (requires { other.topic_id; }) {
        return other.name == topic.name && other.topic_id == topic.topic_id;
      } else {
        return other.name == topic.name;
      }
    });
    if (known == into.topics.end()) {
      into.topics.push_back(std::move(topic));
    } else {
      std::move(topic.partitions.begin(), topic.partitions.end(), std::back_inserter(known->partitions));
    }
  }
}

// Of a commit: what the cluster knows, with names and ids; the rest is answered in `refused`.
template <class Topic, class Response>
[[nodiscard]] std::vector<Topic> take_known_topics(const metadata::MetadataImage& image, bool by_id, std::vector<Topic>& topics, Response& refused) {
  std::vector<Topic> valid;
  for (Topic& topic : topics) {
    const metadata::TopicImage* known = by_id ? image.find_topic(topic.topic_id) : image.find_topic(topic.name);
    auto& answer = refused.topics.emplace_back();
    answer.name = by_id && known != nullptr ? known->name : topic.name;
    answer.topic_id = by_id ? topic.topic_id : Uuid();
    Topic good;
    for (auto& partition : topic.partitions) {
      if (known != nullptr && has_partition(*known, partition.partition_index)) {
        good.partitions.push_back(std::move(partition));
        continue;
      }
      auto& entry = answer.partitions.emplace_back();
      entry.partition_index = partition.partition_index;
      entry.error_code = by_id && known == nullptr ? wire::ErrorCode::unknown_topic_id : wire::ErrorCode::unknown_topic_or_partition;
    }
    if (answer.partitions.empty()) {
      refused.topics.pop_back();
    }
    if (!good.partitions.empty()) {
      good.name = known->name;
      good.topic_id = known->id;
      valid.push_back(std::move(good));
    }
  }
  return valid;
}

// Ids do not leave in versions that name topics.
template <class Response>
void forget_topic_ids(Response& response) {
  for (auto& topic : response.topics) {
    topic.topic_id = Uuid();
  }
}

}  // namespace hw::api
