// SPDX-License-Identifier: Apache-2.0
// Feature levels (KIP-584, KIP-778), leader elections (KIP-460), reassignments (KIP-455, KIP-860) and brokers that leave.
#include <algorithm>
#include <set>
#include <utility>

#include "engine/metadata/controller.h"
#include "engine/metadata/detail/controller_impl.h"

namespace hw::metadata {

using wire::ErrorCode;

namespace {

constexpr std::string_view kKRaftVersion = "kraft.version";  // kept by the quorum, not by feature records

enum UpgradeType : std::int8_t { kUpgrade = 1, kSafeDowngrade = 2, kUnsafeDowngrade = 3 };

std::string place(std::string_view topic, PartitionIndex partition) {
  return std::string(topic) + "-" + std::to_string(partition.value());
}

template <class Item>
void refuse(Item& item, const Refusal& refusal) {
  item.error_code = refusal.error;
  if (refusal.message.empty()) {
    item.error_message.reset();
  } else {
    item.error_message = refusal.message;
  }
}

}  // namespace

// --- features

std::optional<std::string> Controller::Impl::feature_error(const std::string& name, std::int16_t wanted, std::int8_t type,
                                                           std::vector<Record>& records) const {
  if (type != kUpgrade && type != kSafeDowngrade && type != kUnsafeDowngrade) {
    return "the upgrade type of " + name + " must be 1 (upgrade), 2 (safe downgrade) or 3 (unsafe downgrade)";
  }
  if (wanted < 0) {
    return "the level of " + name + " cannot be below 0";
  }
  const auto all = supported_features();
  const auto range = std::find_if(all.begin(), all.end(), [&](const FeatureRange& row) { return row.name == name; });
  if (range == all.end()) {
    return "this node has no feature '" + name + "'";
  }
  if (wanted < range->min_supported || wanted > range->max_supported) {
    return "this node supports " + name + " at levels " + std::to_string(range->min_supported) + " to " +
           std::to_string(range->max_supported) + ", not at " + std::to_string(wanted);
  }
  const bool of_quorum = name == kKRaftVersion;
  const std::int16_t now = of_quorum ? range->initial_level : image().feature_level(name);
  if (wanted < now) {
    return type == kUpgrade ? name + " is at level " + std::to_string(now) + "; a lower one needs a downgrade type"
                            : name + " cannot go back from level " + std::to_string(now) + ": what was written at it would be lost";
  }
  if (wanted > now) {
    wire::FeatureLevelRecord record;
    record.name = name;
    record.feature_level = wanted;
    records.emplace_back(std::move(record));
  }
  return std::nullopt;
}

void Controller::update_features(const wire::UpdateFeaturesRequest& request, std::int16_t version,
                                 Done<wire::UpdateFeaturesResponse> done) {
  constexpr std::int16_t kTypesFrom = 1;
  constexpr std::int16_t kNoResultsFrom = 2;
  wire::UpdateFeaturesResponse response;
  response.error_message.reset();
  wire::UpdateFeaturesResponse failure;
  failure.error_code = ErrorCode::not_controller;
  std::vector<Record> records;
  for (const auto& update : request.feature_updates) {
    // Before there were types, a downgrade could not be asked for in a way that Kafka 4.4 grants.
    const std::int8_t type = version < kTypesFrom ? std::int8_t{kUpgrade} : update.upgrade_type;
    if (std::optional<std::string> why = impl_->feature_error(update.feature, update.max_version_level, type, records)) {
      response.error_code = ErrorCode::invalid_update_version;
      response.error_message = "no feature was changed: " + *why;
      response.results.clear();
      records.clear();
      break;
    }
    if (version < kNoResultsFrom) {
      auto& result = response.results.emplace_back();
      result.feature = update.feature;
      result.error_message = "NONE";
    }
  }
  if (request.validate_only) {
    records.clear();
  }
  impl_->finish(std::move(records), std::move(response), std::move(failure), std::move(done));
}

// --- elections

Refusal Controller::Impl::elect(std::string_view topic_name, PartitionIndex index, ElectionType type,
                                std::vector<Record>& records) const {
  const TopicImage* topic = image().find_topic(topic_name);
  if (topic == nullptr || index.value() < 0 || static_cast<std::size_t>(index.value()) >= topic->partitions.size()) {
    return {ErrorCode::unknown_topic_or_partition, "there is no partition " + place(topic_name, index)};
  }
  const PartitionImage& partition = topic->partitions[static_cast<std::size_t>(index.value())];
  const bool settled = type == ElectionType::preferred ? partition.leader == partition.replicas.front()
                                                       : partition.leader != kNoBroker;
  if (settled) {
    return {ErrorCode::election_not_needed, place(topic_name, index) + " has the leader that the election would give it"};
  }
  const auto live = [this](BrokerId id) {
    const BrokerImage* broker = image().find_broker(id);
    return broker != nullptr && !broker->fenced && !broker->in_controlled_shutdown;
  };
  const auto in_sync = [&](BrokerId id) {
    return std::find(partition.isr.begin(), partition.isr.end(), id) != partition.isr.end();
  };
  wire::PartitionChangeRecord change;
  change.topic_id = topic->id;
  change.partition_id = index;
  if (type == ElectionType::preferred) {
    const BrokerId preferred = partition.replicas.front();
    if (!live(preferred) || !in_sync(preferred)) {
      return {ErrorCode::preferred_leader_not_available,
              "the preferred leader of " + place(topic_name, index) + " is not live and in sync"};
    }
    change.leader = preferred;
  } else {
    for (const bool only_in_sync : {true, false}) {
      for (const BrokerId id : partition.replicas) {
        if (change.leader == wire::PartitionChangeRecord{}.leader && live(id) && (!only_in_sync || in_sync(id))) {
          change.leader = id;
          if (!only_in_sync) {  // records that only others had are lost
            change.isr = std::vector<BrokerId>{id};
            change.leader_recovery_state = 1;
          }
        }
      }
    }
    if (change.leader == wire::PartitionChangeRecord{}.leader) {
      return {ErrorCode::eligible_leaders_not_available, "no replica of " + place(topic_name, index) + " is live"};
    }
  }
  records.emplace_back(std::move(change));
  return {};
}

void Controller::elect_leaders(const wire::ElectLeadersRequest& request, Done<wire::ElectLeadersResponse> done) {
  using ElectionType = Impl::ElectionType;
  using TopicResult = wire::ElectLeadersResponse::ReplicaElectionResult;
  wire::ElectLeadersResponse response;
  wire::ElectLeadersResponse failure;
  failure.error_code = ErrorCode::not_controller;
  std::vector<Record> records;
  const bool known_type = request.election_type == static_cast<std::int8_t>(ElectionType::preferred) ||
                          request.election_type == static_cast<std::int8_t>(ElectionType::unclean);
  const auto type = static_cast<ElectionType>(request.election_type);
  if (!known_type) {
    response.error_code = ErrorCode::invalid_request;
  }
  const auto add = [&](TopicResult& result, PartitionIndex index, const Refusal& answer) {
    auto& item = result.partition_result.emplace_back();
    item.partition_id = index;
    refuse(item, answer);
  };
  if (!request.topic_partitions) {
    // All: those that need no election are not told.
    for (const auto& [name, topic] : impl_->image().topics()) {
      TopicResult& result = response.replica_election_results.emplace_back();
      result.topic = name;
      for (std::size_t i = 0; known_type && i < topic->partitions.size(); ++i) {
        const PartitionIndex index(static_cast<std::int32_t>(i));
        if (const Refusal answer = impl_->elect(name, index, type, records); answer.error != ErrorCode::election_not_needed) {
          add(result, index, answer);
        }
      }
    }
  } else {
    for (const auto& topic : *request.topic_partitions) {
      TopicResult& result = response.replica_election_results.emplace_back();
      result.topic = topic.topic;
      std::set<PartitionIndex> answered;
      for (const PartitionIndex index : topic.partitions) {
        if (answered.insert(index).second) {
          add(result, index,
              known_type ? impl_->elect(topic.topic, index, type, records)
                         : Refusal{ErrorCode::invalid_request, "the election type must be 0 (preferred) or 1 (unclean)"});
        }
      }
    }
  }
  impl_->finish(std::move(records), std::move(response), std::move(failure), std::move(done));
}

// --- reassignments

Refusal Controller::Impl::reassign(const TopicImage* topic, const std::string& name,
                                   const wire::AlterPartitionReassignmentsRequest::ReassignablePartition& wanted,
                                   bool may_change_count) const {
  if (topic == nullptr) {
    return {ErrorCode::unknown_topic_or_partition, "there is no topic '" + name + "'"};
  }
  const auto index = static_cast<std::size_t>(wanted.partition_index.value());
  if (wanted.partition_index.value() < 0 || index >= topic->partitions.size()) {
    return {ErrorCode::unknown_topic_or_partition, "there is no partition " + place(name, wanted.partition_index)};
  }
  const PartitionImage& partition = topic->partitions[index];
  const bool under_way = !partition.adding_replicas.empty() || !partition.removing_replicas.empty();
  if (!wanted.replicas) {
    return {under_way ? ErrorCode::unsupported_version : ErrorCode::no_reassignment_in_progress, {}};
  }
  if (std::optional<Refusal> refusal = assignment_refusal(*wanted.replicas, std::nullopt)) {
    return *refusal;
  }
  if (!may_change_count && wanted.replicas->size() != partition.replicas.size()) {
    return {ErrorCode::invalid_replication_factor, place(name, wanted.partition_index) + " has " +
                                                       std::to_string(partition.replicas.size()) +
                                                       " replica(s), and the request says that the number stays"};
  }
  if (*wanted.replicas != partition.replicas) {
    // Not reachable while one node is all there is: only itself is registered.
    return {ErrorCode::invalid_replica_assignment, "this node does not move replicas to others"};
  }
  return {};
}

void Controller::alter_partition_reassignments(const wire::AlterPartitionReassignmentsRequest& request,
                                               Done<wire::AlterPartitionReassignmentsResponse> done) {
  wire::AlterPartitionReassignmentsResponse response;
  response.allow_replication_factor_change = request.allow_replication_factor_change;
  response.error_message.reset();
  wire::AlterPartitionReassignmentsResponse failure;
  failure.error_code = ErrorCode::not_controller;
  for (const auto& topic : request.topics) {
    auto& result = response.responses.emplace_back();
    result.name = topic.name;
    const TopicImage* known = impl_->image().find_topic(topic.name);
    for (const auto& partition : topic.partitions) {
      auto& item = result.partitions.emplace_back();
      item.partition_index = partition.partition_index;
      refuse(item, impl_->reassign(known, topic.name, partition, request.allow_replication_factor_change));
    }
  }
  impl_->finish({}, std::move(response), std::move(failure), std::move(done));
}

// --- brokers

void Controller::unregister_broker(BrokerId broker, Done<Refusal> done) {
  std::vector<Record> records;
  Refusal result;
  const BrokerImage* known = impl_->image().find_broker(broker);
  if (known == nullptr) {
    result = {ErrorCode::broker_id_not_registered, "broker " + std::to_string(broker.value()) + " is not registered"};
  } else if (impl_->active) {
    records = impl_->records_for_fencing(broker);
    wire::UnregisterBrokerRecord record;
    record.broker_id = broker;
    record.broker_epoch = known->epoch;
    records.emplace_back(std::move(record));
  }
  impl_->finish<Refusal>(std::move(records), std::move(result), {ErrorCode::not_controller, {}}, std::move(done),
                         Impl::Atomic::yes);
}

}  // namespace hw::metadata
