// SPDX-License-Identifier: Apache-2.0
// Topics: create, delete, more partitions. Every check of Kafka 4.4 in its order, because the first one answers.
#include <algorithm>
#include <map>
#include <set>

#include "engine/base/assert.h"
#include "engine/metadata/controller.h"
#include "engine/metadata/detail/controller_impl.h"

namespace hw::metadata {

using wire::ErrorCode;
using CreatableTopic = wire::CreateTopicsRequest::CreatableTopic;
using CreatableTopicResult = wire::CreateTopicsResponse::CreatableTopicResult;
using DeletableTopicResult = wire::DeleteTopicsResponse::DeletableTopicResult;
using PartitionsRequest = wire::CreatePartitionsRequest::CreatePartitionsTopic;
using PartitionsResult = wire::CreatePartitionsResponse::CreatePartitionsTopicResult;

std::optional<std::string> topic_name_error(std::string_view name) {
  constexpr std::size_t kLongest = 249;  // with "-" and a partition it still is a file name
  if (name.empty()) {
    return "a topic name may not be empty";
  }
  if (name == "." || name == "..") {
    return "'" + std::string(name) + "' cannot be a topic name";
  }
  if (name.size() > kLongest) {
    return "a topic name has at most 249 characters, '" + std::string(name) + "' has " + std::to_string(name.size());
  }
  const auto legal = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
  };
  if (!std::all_of(name.begin(), name.end(), legal)) {
    return "'" + std::string(name) + "' holds characters other than ASCII letters, digits, '.', '_' and '-'";
  }
  return std::nullopt;
}

namespace {

// Names that occur more than once.
template <class Range, class Name>
std::set<std::string> repeated(const Range& range, Name name) {
  std::set<std::string> seen;
  std::set<std::string> twice;
  for (const auto& item : range) {
    if (!seen.insert(name(item)).second) {
      twice.insert(name(item));
    }
  }
  return twice;
}

}  // namespace

// --- create

std::optional<Refusal> Controller::Impl::name_refusal(const std::string& name) const {
  if (std::optional<std::string> why = topic_name_error(name)) {
    return Refusal{ErrorCode::invalid_topic_exception, *why};
  }
  if (newest.find_topic(name) != nullptr) {
    return Refusal{ErrorCode::topic_already_exists, "topic '" + name + "' exists already"};
  }
  std::string key = name;
  std::replace(key.begin(), key.end(), '.', '_');
  if (const auto at = collisions.find(key); at != collisions.end()) {
    return Refusal{ErrorCode::invalid_topic_exception,
                   "topic '" + name + "' differs from the existing topic '" + *at->second.begin() + "' only in '.' and '_'"};
  }
  return std::nullopt;
}

std::optional<Refusal> Controller::Impl::assignment_refusal(const std::vector<BrokerId>& replicas,
                                                            std::optional<std::size_t> replication_factor,
                                                            Liveness liveness) const {
  const auto refused = [](std::string why) { return Refusal{ErrorCode::invalid_replica_assignment, std::move(why)}; };
  if (replicas.empty()) {
    return refused("an assignment names no broker");
  }
  std::set<BrokerId> seen;
  for (const BrokerId id : replicas) {
    if (!seen.insert(id).second) {
      return refused("an assignment names broker " + std::to_string(id.value()) + " twice");
    }
  }
  for (const BrokerId id : replicas) {
    if (image().find_broker(id) == nullptr) {
      return refused("an assignment names broker " + std::to_string(id.value()) + ", which is not registered");
    }
  }
  if (replication_factor && replicas.size() != *replication_factor) {
    return refused("an assignment names " + std::to_string(replicas.size()) + " broker(s) where the other partitions have " +
                   std::to_string(*replication_factor));
  }
  const bool any_live = std::any_of(replicas.begin(), replicas.end(), [this](BrokerId id) { return is_live(id); });
  if (!any_live && liveness == Liveness::one_live) {
    return refused("all brokers of an assignment are fenced or shutting down");
  }
  return std::nullopt;
}

Result<std::vector<std::vector<BrokerId>>, Refusal> Controller::Impl::replicas_of(const CreatableTopic& topic) {
  const auto refused = [](ErrorCode error, std::string why) { return Unexpected<Refusal>(Refusal{error, std::move(why)}); };
  if (!topic.assignments.empty()) {
    if (topic.replication_factor != -1) {
      return refused(ErrorCode::invalid_request, "with assignments the replication factor must be -1");
    }
    if (topic.num_partitions != -1) {
      return refused(ErrorCode::invalid_request, "with assignments the number of partitions must be -1");
    }
    std::map<std::int32_t, std::vector<BrokerId>> by_index;
    std::optional<std::size_t> replication_factor;
    for (const auto& assignment : topic.assignments) {
      const std::int32_t index = assignment.partition_index.value();
      if (by_index.contains(index)) {
        return refused(ErrorCode::invalid_replica_assignment, "partition " + std::to_string(index) + " is assigned twice");
      }
      if (std::optional<Refusal> refusal = assignment_refusal(assignment.broker_ids, replication_factor)) {
        return Unexpected<Refusal>(std::move(*refusal));
      }
      replication_factor = assignment.broker_ids.size();
      by_index.emplace(index, assignment.broker_ids);
    }
    std::vector<std::vector<BrokerId>> replicas;
    for (auto& [index, ids] : by_index) {
      if (index != static_cast<std::int32_t>(replicas.size())) {
        return refused(ErrorCode::invalid_replica_assignment, "assigned partitions must count up from 0 without a gap");
      }
      replicas.push_back(std::move(ids));
    }
    return replicas;
  }
  if (topic.replication_factor < -1 || topic.replication_factor == 0) {
    return refused(ErrorCode::invalid_replication_factor, "the replication factor must be above 0, or -1 for the default");
  }
  if (topic.num_partitions < -1 || topic.num_partitions == 0) {
    return refused(ErrorCode::invalid_partitions, "the number of partitions must be above 0, or -1 for the default");
  }
  const BrokerConfigs& configs = *options.broker_configs;
  const std::int32_t partitions = topic.num_partitions == -1
                                      ? static_cast<std::int32_t>(configs.number("num.partitions"))
                                      : topic.num_partitions;
  const auto replication_factor = topic.replication_factor == -1
                                      ? static_cast<std::int16_t>(configs.number("default.replication.factor"))
                                      : topic.replication_factor;
  if (replication_factor < 1) {
    return refused(ErrorCode::invalid_replication_factor, "default.replication.factor is not above 0");
  }
  Result<std::vector<std::vector<BrokerId>>> placed =
      place_partitions(usable_brokers(), partitions, replication_factor, prng);
  if (!placed) {
    return refused(ErrorCode::invalid_replication_factor, placed.error().detail);
  }
  return std::move(*placed);
}

Record Controller::Impl::partition_record(const Uuid& topic, std::int32_t index, const std::vector<BrokerId>& replicas) const {
  wire::PartitionRecord record;
  record.partition_id = PartitionIndex(index);
  record.topic_id = topic;
  record.replicas = replicas;
  record.leader = kNoBroker;
  for (const BrokerId id : replicas) {
    record.directories.push_back(directory_of(id));
    if (is_live(id)) {
      if (record.isr.empty()) {
        record.leader = id;
      }
      record.isr.push_back(id.value());
    }
  }
  record.leader_epoch = LeaderEpoch(0);
  record.partition_epoch = 0;
  return record;
}

std::optional<Refusal> Controller::Impl::create_topic(const CreatableTopic& topic, const TakePartitions& take,
                                                      std::vector<Record>& records, CreatableTopicResult& result) {
  if (std::optional<Refusal> refusal = name_refusal(topic.name)) {
    return refusal;
  }
  std::map<std::string, std::optional<std::string>, std::less<>> given;  // a key given twice: the last one counts
  for (const auto& config : topic.configs) {
    given[config.name] = config.value;
  }
  if (std::optional<std::string> why = topic_configs_error(given, image(), *options.broker_configs, options.node)) {
    return Refusal{ErrorCode::invalid_config, *why};
  }
  Result<std::vector<std::vector<BrokerId>>, Refusal> replicas = replicas_of(topic);
  if (!replicas) {
    return replicas.error();
  }
  if (take && !take(static_cast<std::int64_t>(replicas->size()))) {
    return Refusal{ErrorCode::throttling_quota_exceeded, {}};
  }

  wire::TopicRecord created;
  created.name = topic.name;
  created.topic_id = Uuid::random(prng);
  result.topic_id = created.topic_id;
  result.num_partitions = static_cast<std::int32_t>(replicas->size());
  result.replication_factor = static_cast<std::int16_t>(replicas->front().size());
  records.emplace_back(created);
  ConfigMap own;
  for (auto& [name, value] : given) {
    wire::ConfigRecord record;
    record.resource_type = static_cast<std::int8_t>(ConfigResourceType::topic);
    record.resource_name = topic.name;
    record.name = name;
    record.value = *value;
    records.emplace_back(std::move(record));
    own.emplace(name, std::move(*value));
  }
  for (std::size_t i = 0; i < replicas->size(); ++i) {
    records.push_back(partition_record(created.topic_id, static_cast<std::int32_t>(i), (*replicas)[i]));
  }
  result.configs.emplace();
  for (ConfigValue& entry : created_topic_configs(own, image(), *options.broker_configs, options.node)) {
    wire::CreateTopicsResponse::CreatableTopicConfigs config;
    config.name = std::move(entry.name);
    config.value = std::move(entry.value);
    config.config_source = static_cast<std::int8_t>(entry.source);
    result.configs->push_back(std::move(config));
  }
  return std::nullopt;
}

// What every request that makes partitions checks first, of each topic that it names.
std::optional<Refusal> Controller::Impl::item_refusal(bool named_twice, std::int64_t partitions) const {
  if (!active) {
    return Refusal{ErrorCode::not_controller, {}};
  }
  if (named_twice) {
    return Refusal{ErrorCode::invalid_request, "the request names this topic more than once"};
  }
  if (partitions > kPartitionsPerRequestMax) {
    return Refusal{ErrorCode::policy_violation, "one request may make at most 10000 partitions"};
  }
  return std::nullopt;
}

void Controller::create_topics(const wire::CreateTopicsRequest& request, Done<wire::CreateTopicsResponse> done,
                               const TakePartitions& take) {
  wire::CreateTopicsResponse response;
  wire::CreateTopicsResponse failure;
  std::vector<Record> records;
  const std::set<std::string> twice = repeated(request.topics, [](const CreatableTopic& topic) { return topic.name; });
  std::int64_t partitions = 0;
  for (const CreatableTopic& topic : request.topics) {
    const std::int64_t wanted = !topic.assignments.empty() ? static_cast<std::int64_t>(topic.assignments.size())
                                : topic.num_partitions == -1 ? broker_configs().number("num.partitions")
                                                             : topic.num_partitions;
    partitions += twice.contains(topic.name) ? 0 : std::max<std::int64_t>(0, wanted);
  }

  std::set<std::string> answered;
  std::vector<std::pair<const CreatableTopic*, std::size_t>> accepted;
  for (const CreatableTopic& topic : request.topics) {
    if (!answered.insert(topic.name).second) {
      continue;
    }
    CreatableTopicResult result;
    result.name = topic.name;
    result.error_message.reset();
    result.configs.emplace();
    CreatableTopicResult lost = result;
    refuse(lost, {ErrorCode::not_controller, "this node is not the active controller"});
    failure.topics.push_back(std::move(lost));
    std::vector<Record> of_topic;
    std::optional<Refusal> refusal = impl_->item_refusal(twice.contains(topic.name), partitions);
    if (!refusal) {
      refusal = impl_->create_topic(topic, take, of_topic, result);
    }
    if (refusal) {
      refuse(result, *refusal);
    } else if (!request.validate_only) {
      records.insert(records.end(), std::make_move_iterator(of_topic.begin()), std::make_move_iterator(of_topic.end()));
    }
    response.topics.push_back(std::move(result));
  }
  impl_->finish(std::move(records), std::move(response), std::move(failure), std::move(done));
}

// --- delete

void Controller::delete_topics(const wire::DeleteTopicsRequest& request, Done<wire::DeleteTopicsResponse> done,
                               const TakePartitions& take) {
  using State = wire::DeleteTopicsRequest::DeleteTopicState;
  std::vector<State> asked = request.topics;
  for (const std::string& name : request.topic_names) {  // before version 6
    State state;
    state.name = name;
    asked.push_back(std::move(state));
  }
  wire::DeleteTopicsResponse response;
  wire::DeleteTopicsResponse failure;
  std::vector<Record> records;
  const bool enabled = broker_configs().flag("delete.topic.enable");

  std::map<std::string, int> names;
  std::map<Uuid, int> ids;
  for (const State& state : asked) {
    if (state.name && state.topic_id.is_zero()) {
      ++names[*state.name];
    } else if (!state.name && !state.topic_id.is_zero()) {
      ++ids[state.topic_id];
    }
  }
  std::set<std::string> names_answered;
  std::set<Uuid> ids_answered;
  for (const State& state : asked) {
    DeletableTopicResult result;
    result.name = state.name;
    result.topic_id = state.topic_id;
    std::optional<Refusal> refusal;
    const TopicImage* topic = nullptr;
    if (state.name && !state.topic_id.is_zero()) {
      refusal = Refusal{ErrorCode::invalid_request, "give a topic's name or its id, not both"};
    } else if (!state.name && state.topic_id.is_zero()) {
      refusal = Refusal{ErrorCode::invalid_request, "neither a topic's name nor its id was given"};
    } else if (state.name) {
      if (!names_answered.insert(*state.name).second) {
        continue;
      }
      topic = impl_->image().find_topic(*state.name);
      if (names[*state.name] > 1) {
        refusal = Refusal{ErrorCode::invalid_request, "the request names this topic more than once"};
      } else if (topic == nullptr) {
        refusal = Refusal{ErrorCode::unknown_topic_or_partition, "there is no such topic"};
      } else if (ids.contains(topic->id)) {
        refusal = Refusal{ErrorCode::invalid_request, "the request names this topic by its id as well"};
      }
    } else {
      if (!ids_answered.insert(state.topic_id).second) {
        continue;
      }
      topic = impl_->image().find_topic(state.topic_id);
      if (ids[state.topic_id] > 1) {
        refusal = Refusal{ErrorCode::invalid_request, "the request gives this topic id more than once"};
      } else if (topic == nullptr) {
        refusal = Refusal{ErrorCode::unknown_topic_id, "there is no topic with this id"};
      } else if (names.contains(topic->name)) {
        refusal = Refusal{ErrorCode::invalid_request, "the request gives this topic by its name as well"};
      }
    }
    DeletableTopicResult lost = result;
    refuse(lost, {ErrorCode::not_controller, "this node is not the active controller"});
    failure.responses.push_back(std::move(lost));
    if (!impl_->active) {
      refusal = Refusal{ErrorCode::not_controller, {}};
    } else if (!enabled) {
      refusal = Refusal{ErrorCode::topic_deletion_disabled, "delete.topic.enable is false"};
    } else if (!refusal && take && !take(static_cast<std::int64_t>(topic->partitions.size()))) {
      refusal = Refusal{ErrorCode::throttling_quota_exceeded, {}};
      result.name = topic->name;
      result.topic_id = topic->id;
    }
    if (refusal) {
      refuse(result, *refusal);
    } else {
      result.name = topic->name;
      result.topic_id = topic->id;
      wire::RemoveTopicRecord record;
      record.topic_id = topic->id;
      records.emplace_back(record);
    }
    response.responses.push_back(std::move(result));
  }
  impl_->finish(std::move(records), std::move(response), std::move(failure), std::move(done));
}

// --- more partitions

std::optional<Refusal> Controller::Impl::grow_topic(const PartitionsRequest& request, const TakePartitions& take,
                                                    std::vector<Record>& records) {
  const TopicImage* topic = newest.find_topic(request.name);
  if (topic == nullptr) {
    return Refusal{ErrorCode::unknown_topic_or_partition, {}};
  }
  const auto existing = static_cast<std::int32_t>(topic->partitions.size());
  if (request.count <= existing) {
    return Refusal{ErrorCode::invalid_partitions, "topic '" + request.name + "' has " + std::to_string(existing) +
                                                      " partition(s) already, " + std::to_string(request.count) +
                                                      " would not be more"};
  }
  const std::int32_t additional = request.count - existing;
  if (take && !take(additional)) {
    return Refusal{ErrorCode::throttling_quota_exceeded, {}};
  }
  const std::size_t replication_factor = existing == 0 ? 1 : topic->partitions.front().replicas.size();
  std::vector<std::vector<BrokerId>> replicas;
  if (request.assignments) {
    if (request.assignments->size() != static_cast<std::size_t>(additional)) {
      return Refusal{ErrorCode::invalid_replica_assignment,
                     std::to_string(additional) + " partition(s) are to be added, but assignments for " +
                         std::to_string(request.assignments->size()) + " were given"};
    }
    for (const auto& assignment : *request.assignments) {
      if (std::optional<Refusal> refusal = assignment_refusal(assignment.broker_ids, replication_factor)) {
        return refusal;
      }
      replicas.push_back(assignment.broker_ids);
    }
  } else {
    Result<std::vector<std::vector<BrokerId>>> placed =
        place_partitions(usable_brokers(), additional, static_cast<std::int16_t>(replication_factor), prng);
    if (!placed) {
      return Refusal{ErrorCode::invalid_replication_factor, placed.error().detail};
    }
    replicas = std::move(*placed);
  }
  for (std::size_t i = 0; i < replicas.size(); ++i) {
    records.push_back(partition_record(topic->id, existing + static_cast<std::int32_t>(i), replicas[i]));
  }
  return std::nullopt;
}

void Controller::create_partitions(const wire::CreatePartitionsRequest& request,
                                   Done<wire::CreatePartitionsResponse> done, const TakePartitions& take) {
  wire::CreatePartitionsResponse response;
  wire::CreatePartitionsResponse failure;
  std::vector<Record> records;
  const std::set<std::string> twice = repeated(request.topics, [](const PartitionsRequest& topic) { return topic.name; });
  std::int64_t additional = 0;
  for (const PartitionsRequest& topic : request.topics) {
    const TopicImage* known = impl_->image().find_topic(topic.name);
    const auto existing = known == nullptr ? 0 : static_cast<std::int64_t>(known->partitions.size());
    additional += twice.contains(topic.name) ? 0 : std::max<std::int64_t>(0, topic.count - existing);
  }
  std::set<std::string> answered;
  for (const PartitionsRequest& topic : request.topics) {
    if (!answered.insert(topic.name).second) {
      continue;
    }
    PartitionsResult result;
    result.name = topic.name;
    PartitionsResult lost = result;
    refuse(lost, {ErrorCode::not_controller, "this node is not the active controller"});
    failure.results.push_back(std::move(lost));
    std::vector<Record> of_topic;
    std::optional<Refusal> refusal = impl_->item_refusal(twice.contains(topic.name), additional);
    if (!refusal) {
      refusal = impl_->grow_topic(topic, take, of_topic);
    }
    if (refusal) {
      refuse(result, *refusal);
    } else if (!request.validate_only) {
      records.insert(records.end(), std::make_move_iterator(of_topic.begin()), std::make_move_iterator(of_topic.end()));
    }
    response.results.push_back(std::move(result));
  }
  impl_->finish(std::move(records), std::move(response), std::move(failure), std::move(done));
}

// --- topics that nobody asked for by name

CreatableTopic Controller::topic_template(std::string_view name, std::size_t brokers) const {
  const BrokerConfigs& configs = broker_configs();
  CreatableTopic topic;
  topic.name = name;
  topic.num_partitions = -1;
  topic.replication_factor = -1;
  const auto config = [&topic](const char* key, std::string value) {
    wire::CreateTopicsRequest::CreatableTopicConfig entry;
    entry.name = key;
    entry.value = std::move(value);
    topic.configs.push_back(std::move(entry));
  };
  // The defaults of 3 replicas cannot be met by a small cluster; what was configured is taken at its word.
  const auto replicas = [&](const char* key) {
    const auto there = static_cast<std::int64_t>(brokers);
    const std::int64_t wanted = configs.number(key);
    return static_cast<std::int16_t>(configs.find(key) != nullptr ? wanted
                                                                  : std::min(wanted, std::max<std::int64_t>(1, there)));
  };
  if (name == "__consumer_offsets") {
    topic.num_partitions = static_cast<std::int32_t>(configs.number("offsets.topic.num.partitions"));
    topic.replication_factor = replicas("offsets.topic.replication.factor");
    config("cleanup.policy", "compact");
    config("compression.type", "producer");
    config("segment.bytes", configs.text("offsets.topic.segment.bytes"));
  } else if (name == "__transaction_state") {
    topic.num_partitions = static_cast<std::int32_t>(configs.number("transaction.state.log.num.partitions"));
    topic.replication_factor = replicas("transaction.state.log.replication.factor");
    config("cleanup.policy", "compact");
    config("compression.type", "uncompressed");
    config("min.insync.replicas", std::to_string(replicas("transaction.state.log.min.isr")));
    config("segment.bytes", configs.text("transaction.state.log.segment.bytes"));
    config("unclean.leader.election.enable", "false");
  } else if (name == "__share_group_state") {
    topic.num_partitions = static_cast<std::int32_t>(configs.number("share.coordinator.state.topic.num.partitions"));
    topic.replication_factor = replicas("share.coordinator.state.topic.replication.factor");
    config("cleanup.policy", "delete");
    config("compression.type", "producer");
    config("min.insync.replicas", std::to_string(replicas("share.coordinator.state.topic.min.isr")));
    config("retention.ms", "-1");
    config("segment.bytes", configs.text("share.coordinator.state.topic.segment.bytes"));
  }
  return topic;
}

}  // namespace hw::metadata
