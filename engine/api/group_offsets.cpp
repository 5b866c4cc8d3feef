// SPDX-License-Identifier: Apache-2.0
// OffsetCommit, OffsetFetch, OffsetDelete: names, ids and partitions are checked here, against the
// metadata image; the coordinator knows nothing of topics.
#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "engine/api/group_offset_topics.h"

namespace hw::api {
namespace {

using wire::ErrorCode;

constexpr std::int16_t kTopicIdsFrom = 10;      // OffsetCommit and OffsetFetch, KIP-848
constexpr std::int16_t kTopLevelErrorFrom = 2;  // OffsetFetch
constexpr std::int16_t kManyGroupsFrom = 8;     // OffsetFetch, KIP-709

}  // namespace

void handle_offset_commit(Node& node, const RequestContext& context,
                          wire::OffsetCommitRequest& request) {
  const metadata::MetadataImage& image = *node.image();
  const bool by_id = context.api_version >= kTopicIdsFrom;
  wire::OffsetCommitResponse checked;
  auto valid = take_known_topics(image, by_id, request.topics, checked);
  if (valid.empty()) {
    node.reply(context.token, checked);
    return;
  }
  request.topics = std::move(valid);
  node.groups().commit_offsets(request, group_context(context), group_now(context.now),
                               [&node, token = context.token, by_id, checked = std::move(checked)](
                                   wire::OffsetCommitResponse response) mutable {
                                 if (!by_id) {
                                   for (auto& topic : response.topics) {
                                     topic.topic_id = Uuid();
                                   }
                                 }
                                 merge(checked, std::move(response));
                                 node.reply(token, checked);
                               });
}

void handle_offset_fetch(Node& node, const RequestContext& context,
                         wire::OffsetFetchRequest& request) {
  const metadata::MetadataImage& image = *node.image();
  const std::int16_t version = context.api_version;
  const bool by_id = version >= kTopicIdsFrom;
  if (version < kManyGroupsFrom) {
    wire::OffsetFetchRequest::OffsetFetchRequestGroup group;
    group.group_id = std::move(request.group_id);
    if (request.topics) {
      group.topics.emplace();
      for (auto& topic : *request.topics) {
        wire::OffsetFetchRequest::OffsetFetchRequestTopics asked;
        asked.name = std::move(topic.name);
        asked.partition_indexes = std::move(topic.partition_indexes);
        group.topics->push_back(std::move(asked));
      }
    } else {
      group.topics.reset();
    }
    request.groups.assign(1, std::move(group));
    request.topics.emplace();
  }
  // Version 1 has no place for an error but the partitions.
  std::vector<wire::OffsetFetchRequest::OffsetFetchRequestTopics> asked_partitions;
  if (version < kTopLevelErrorFrom && request.groups.front().topics) {
    asked_partitions = *request.groups.front().topics;
  }
  // Topics whose id nobody knows are answered here, after those that the coordinator answers.
  std::vector<std::vector<wire::OffsetFetchResponse::OffsetFetchResponseTopics>> unknown(
      request.groups.size());
  if (by_id) {
    for (std::size_t i = 0; i < request.groups.size(); ++i) {
      auto& topics = request.groups[i].topics;
      if (!topics) {
        continue;
      }
      std::vector<wire::OffsetFetchRequest::OffsetFetchRequestTopics> known;
      for (auto& topic : *topics) {
        const metadata::TopicImage* found = image.find_topic(topic.topic_id);
        if (found != nullptr) {
          topic.name = found->name;
          known.push_back(std::move(topic));
          continue;
        }
        wire::OffsetFetchResponse::OffsetFetchResponseTopics answer;
        answer.topic_id = topic.topic_id;
        for (const PartitionIndex partition : topic.partition_indexes) {
          wire::OffsetFetchResponse::OffsetFetchResponsePartitions entry;
          entry.partition_index = partition;
          entry.committed_offset = kNoOffset;
          entry.error_code = ErrorCode::unknown_topic_id;
          answer.partitions.push_back(std::move(entry));
        }
        unknown[i].push_back(std::move(answer));
      }
      topics = std::move(known);
    }
  }
  std::vector<bool> all_topics;
  for (const auto& group : request.groups) {
    all_topics.push_back(!group.topics.has_value());
  }
  node.groups().fetch_offsets(
      request, group_context(context), group_now(context.now),
      [&node, token = context.token, version, by_id, unknown = std::move(unknown),
       all_topics = std::move(all_topics),
       asked_partitions = std::move(asked_partitions)](wire::OffsetFetchResponse response) {
        if (by_id) {
          for (std::size_t i = 0; i < response.groups.size() && i < unknown.size(); ++i) {
            auto& group = response.groups[i];
            if (group.error_code != ErrorCode::none) {
              continue;
            }
            if (all_topics[i]) {  // offsets of topics that are gone have no id to be named by
              for (auto& topic : group.topics) {
                const metadata::TopicImage* found = node.image()->find_topic(topic.name);
                topic.topic_id = found == nullptr ? Uuid() : found->id;
              }
              std::erase_if(group.topics,
                            [](const auto& topic) { return topic.topic_id.is_zero(); });
            }
            group.topics.insert(group.topics.end(), unknown[i].begin(), unknown[i].end());
          }
        } else {
          for (auto& group : response.groups) {
            for (auto& topic : group.topics) {
              topic.topic_id = Uuid();
            }
          }
        }
        if (version < kManyGroupsFrom && !response.groups.empty()) {
          auto& group = response.groups.front();
          response.error_code = group.error_code;
          if (version < kTopLevelErrorFrom && group.error_code != ErrorCode::none) {
            for (const auto& topic : asked_partitions) {
              auto& answer = group.topics.emplace_back();
              answer.name = topic.name;
              for (const PartitionIndex partition : topic.partition_indexes) {
                auto& entry = answer.partitions.emplace_back();
                entry.partition_index = partition;
                entry.committed_offset = kNoOffset;
                entry.error_code = group.error_code;
              }
            }
          }
          for (auto& topic : group.topics) {
            wire::OffsetFetchResponse::OffsetFetchResponseTopic answer;
            answer.name = std::move(topic.name);
            for (auto& partition : topic.partitions) {
              wire::OffsetFetchResponse::OffsetFetchResponsePartition entry;
              entry.partition_index = partition.partition_index;
              entry.committed_offset = partition.committed_offset;
              entry.committed_leader_epoch = partition.committed_leader_epoch;
              entry.metadata = std::move(partition.metadata);
              entry.error_code = partition.error_code;
              answer.partitions.push_back(std::move(entry));
            }
            response.topics.push_back(std::move(answer));
          }
          response.groups.clear();
        }
        node.reply(token, response);
      });
}

void handle_offset_delete(Node& node, const RequestContext& context,
                          wire::OffsetDeleteRequest& request) {
  const metadata::MetadataImage& image = *node.image();
  wire::OffsetDeleteResponse checked;
  std::vector<wire::OffsetDeleteRequest::OffsetDeleteRequestTopic> valid;
  for (auto& topic : request.topics) {
    const metadata::TopicImage* known = image.find_topic(topic.name);
    wire::OffsetDeleteResponse::OffsetDeleteResponseTopic refused;
    refused.name = topic.name;
    wire::OffsetDeleteRequest::OffsetDeleteRequestTopic good;
    good.name = topic.name;
    for (const auto& partition : topic.partitions) {
      if (known != nullptr && has_partition(*known, partition.partition_index)) {
        good.partitions.push_back(partition);
      } else {
        wire::OffsetDeleteResponse::OffsetDeleteResponsePartition entry;
        entry.partition_index = partition.partition_index;
        entry.error_code = ErrorCode::unknown_topic_or_partition;
        refused.partitions.push_back(entry);
      }
    }
    if (!refused.partitions.empty()) {
      checked.topics.push_back(std::move(refused));
    }
    if (!good.partitions.empty()) {
      valid.push_back(std::move(good));
    }
  }
  request.topics = std::move(valid);
  node.groups().delete_offsets(request, group_context(context), group_now(context.now),
                               [&node, token = context.token,
                                checked = std::move(checked)](wire::OffsetDeleteResponse response) {
                                 if (response.error_code != ErrorCode::none) {
                                   node.reply(token, response);
                                   return;
                                 }
                                 wire::OffsetDeleteResponse answer = checked;
                                 merge(answer, std::move(response));
                                 node.reply(token, answer);
                               });
}

}  // namespace hw::api
