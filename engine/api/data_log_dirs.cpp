// SPDX-License-Identifier: Apache-2.0
// DescribeLogDirs and AlterReplicaLogDirs (KIP-113): what lies in which log directory, and moving it to another one.
#include <map>
#include <set>
#include <utility>

#include "engine/api/data_handlers.h"
#include "engine/broker/broker.h"
#include "engine/log/log_directory.h"
#include "engine/log/log_manager.h"

namespace hw::api {

using wire::ErrorCode;

void handle_describe_log_dirs(Node& node, const RequestContext& context, wire::DescribeLogDirsRequest& request) {
  std::set<std::pair<std::string, PartitionIndex>> wanted;
  if (request.topics) {
    for (const auto& topic : *request.topics) {
      for (const PartitionIndex index : topic.partitions) {
        wanted.emplace(topic.topic, index);
      }
    }
  }
  wire::DescribeLogDirsResponse response;
  for (const log::DirectoryStatus& directory : node.broker().logs().directories()) {
    auto& result = response.results.emplace_back();
    result.log_dir = directory.path;
    if (directory.failed) {
      result.error_code = ErrorCode::kafka_storage_error;
      continue;
    }
    result.is_cordoned = directory.cordoned;
    result.total_bytes = directory.total_bytes;
    result.usable_bytes = directory.usable_bytes;
    for (const log::ReplicaPlace& replica : directory.replicas) {
      const log::LogIdentity& identity = replica.log->identity();
      if (request.topics && !wanted.contains({identity.topic, identity.partition})) {
        continue;
      }
      if (result.topics.empty() || result.topics.back().name != identity.topic) {
        result.topics.emplace_back().name = identity.topic;
      }
      auto& partition = result.topics.back().partitions.emplace_back();
      partition.partition_index = identity.partition;
      partition.partition_size = replica.log->size_bytes();
      partition.offset_lag = replica.lag;
      partition.is_future_key = replica.future;
    }
  }
  node.reply(context.token, response);
}

namespace {

ErrorCode move_replica(Node& node, const std::string& topic, PartitionIndex index, const std::string& path) {
  log::LogManager& logs = node.broker().logs();
  if (log::future_directory_length(topic, index) > 255) {
    return ErrorCode::invalid_topic_exception;
  }
  switch (logs.directory_state(path)) {
    case log::DirectoryState::unknown:
      return ErrorCode::log_dir_not_found;
    case log::DirectoryState::failed:
      return ErrorCode::kafka_storage_error;
    case log::DirectoryState::online:
      break;
  }
  broker::Partition* partition = node.broker().find(topic, index);
  if (partition == nullptr) {
    logs.prefer_directory(topic, index, path);  // where it will be made
    return ErrorCode::replica_not_available;
  }
  if (partition->check(false, kNoLeaderEpoch) != ErrorCode::none) {
    return ErrorCode::kafka_storage_error;
  }
  return logs.move_log(topic, index, path, node.now().wall) ? ErrorCode::none : ErrorCode::kafka_storage_error;
}

}  // namespace

void handle_alter_replica_log_dirs(Node& node, const RequestContext& context, wire::AlterReplicaLogDirsRequest& request) {
  wire::AlterReplicaLogDirsResponse response;
  std::map<std::string, std::size_t> places;
  for (const auto& directory : request.dirs) {
    for (const auto& topic : directory.topics) {
      const auto [place, fresh] = places.emplace(topic.name, response.results.size());
      if (fresh) {
        response.results.emplace_back().topic_name = topic.name;
      }
      for (const PartitionIndex index : topic.partitions) {
        auto& answer = response.results[place->second].partitions.emplace_back();
        answer.partition_index = index;
        answer.error_code = move_replica(node, topic.name, index, directory.path);
      }
    }
  }
  node.reply(context.token, response);
}

}  // namespace hw::api
