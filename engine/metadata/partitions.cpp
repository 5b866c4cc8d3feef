// SPDX-License-Identifier: Apache-2.0
// What a change of brokers means for partitions, and the requests by which brokers change partitions: AlterPartition
// (KIP-497, KIP-841, KIP-966) and AssignReplicasToDirs (KIP-858).
#include <algorithm>
#include <charconv>
#include <utility>

#include "engine/base/trial.h"
#include "engine/metadata/controller.h"
#include "engine/metadata/detail/controller_impl.h"
#include "engine/metadata/image/image_builder.h"

namespace hw::metadata {

using wire::ErrorCode;

// --- what decides

bool Controller::Impl::elr_enabled() const { return image().feature_level(kElrVersion) >= 1; }

std::vector<Record> Controller::Impl::records_for_elr() const {
  std::vector<Record> records;
  const auto set = [&](const std::string& broker, std::optional<std::string> value) {
    wire::ConfigRecord record;
    record.resource_type = static_cast<std::int8_t>(ConfigResourceType::broker);
    record.resource_name = broker;
    record.name = kMinInsyncReplicas;
    record.value = std::move(value);
    records.emplace_back(std::move(record));
  };
  const ConfigMap* of_all = image().find_configs({ConfigResourceType::broker, ""});
  if (of_all == nullptr || !of_all->contains(kMinInsyncReplicas)) {
    set("", std::to_string(options.broker_configs->number(kMinInsyncReplicas)));
  }
  for (const auto& [resource, configs] : image().configs()) {
    if (resource.type == ConfigResourceType::broker && !resource.name.empty() && configs.contains(kMinInsyncReplicas)) {
      set(resource.name, std::nullopt);
    }
  }
  return records;
}

void Controller::Impl::forget_eligible_leaders(std::vector<Record>& records) const {
  std::vector<Record> clear;
  for (const Record& record : records) {
    const auto* config = std::get_if<wire::ConfigRecord>(&record);
    if (config == nullptr || config->name != kMinInsyncReplicas) {
      continue;
    }
    wire::ClearElrRecord row;  // without a name: of all topics
    if (config->resource_type == static_cast<std::int8_t>(ConfigResourceType::topic)) {
      row.topic_name = config->resource_name;
    }
    clear.emplace_back(std::move(row));
  }
  if (elr_enabled()) {
    records.insert(records.end(), clear.begin(), clear.end());
  }
}

Controller::Impl::TopicRules Controller::Impl::rules_of(const TopicImage& topic) const {
  const auto value = [&](std::string_view key) {
    return effective_topic_config(key, topic.name, image(), *options.broker_configs, options.node);
  };
  TopicRules rules;
  const std::string text = value("min.insync.replicas");
  std::from_chars(text.data(), text.data() + text.size(), rules.min_insync_replicas);
  if (!topic.partitions.empty()) {
    const auto replicas = static_cast<std::int32_t>(topic.partitions.front().replicas.size());
    rules.min_insync_replicas = std::min(rules.min_insync_replicas, replicas);
  }
  rules.unclean = value("unclean.leader.election.enable") == "true";
  rules.elr = elr_enabled();
  return rules;
}

PartitionRules Controller::Impl::rules_of(const TopicRules& topic, const PartitionImage& partition,
                                          const BrokerChange& change) const {
  PartitionRules rules;
  rules.min_insync_replicas = topic.min_insync_replicas;
  rules.elr = topic.elr;
  rules.may_lead = [this, &partition, change](BrokerId id) {
    if (id == change.removed || id == change.lost || (id != change.added && !is_live(id))) {
      return false;
    }
    const BrokerImage* broker = image().find_broker(id);
    const auto at = std::find(partition.replicas.begin(), partition.replicas.end(), id);
    return broker != nullptr &&
           (at == partition.replicas.end() ||
            directory_works(partition.directories[static_cast<std::size_t>(at - partition.replicas.begin())],
                            broker->log_directories));
  };
  rules.default_directory = [this](BrokerId id) { return directory_of(id); };
  return rules;
}

void Controller::Impl::change_partitions(const BrokerChange& change, const Which& which,
                                         std::vector<Record>& records) const {
  for (const auto& [name, topic] : image().topics()) {
    std::optional<TopicRules> topic_rules;
    for (std::size_t i = 0; i < topic->partitions.size(); ++i) {
      const PartitionImage& partition = topic->partitions[i];
      if (!which(partition)) {
        continue;
      }
      if (!topic_rules) {
        topic_rules = rules_of(*topic);
      }
      PartitionWish wish;
      wish.isr = partition.isr;
      std::erase(*wish.isr, change.removed);
      wish.lost = change.lost;
      wish.election = topic_rules->unclean ? Election::unclean : Election::online;
      if (std::optional<wire::PartitionChangeRecord> record =
              change_partition(topic->id, PartitionIndex(static_cast<std::int32_t>(i)), partition, wish,
                               rules_of(*topic_rules, partition, change))) {
        records.emplace_back(std::move(*record));
      }
    }
  }
}

std::optional<wire::PartitionChangeRecord> Controller::Impl::change_one(const TopicImage& topic, PartitionIndex index,
                                                                        const PartitionWish& wish) const {
  const PartitionImage& partition = *partition_of(topic, index);
  return change_partition(topic.id, index, partition, wish, rules_of(rules_of(topic), partition, {}));
}

std::vector<Record> Controller::Impl::records_for_leaving(BrokerId broker) const {
  std::vector<Record> records;
  change_partitions({broker, kNoBroker, kNoBroker},
                    [broker](const PartitionImage& p) { return contains(p.isr, broker) || p.leader == broker; }, records);
  return records;
}

// --- AlterPartition

ErrorCode Controller::Impl::alter_error(BrokerId asker, const PartitionImage& partition,
                                        const wire::AlterPartitionRequest::PartitionData& wanted) const {
  // A leader that knows more than this controller talks to one whose time is over.
  if (wanted.leader_epoch > partition.leader_epoch || wanted.partition_epoch > partition.partition_epoch) {
    return ErrorCode::not_controller;
  }
  if (wanted.leader_epoch < partition.leader_epoch) {
    return ErrorCode::fenced_leader_epoch;
  }
  if (asker != partition.leader) {
    return ErrorCode::invalid_request;
  }
  if (wanted.partition_epoch < partition.partition_epoch) {
    return ErrorCode::invalid_update_version;
  }
  std::vector<BrokerId> isr;
  for (const auto& member : wanted.new_isr_with_epochs) {
    if (contains(isr, member.broker_id) || !contains(partition.replicas, member.broker_id)) {
      return ErrorCode::invalid_request;
    }
    isr.push_back(member.broker_id);
  }
  const bool recovering = wanted.leader_recovery_state == kRecovering;
  if (!contains(isr, partition.leader) || (wanted.leader_recovery_state != kRecovered && !recovering) ||
      (recovering && (isr.size() > 1 || partition.leader_recovery_state == kRecovered))) {
    return ErrorCode::invalid_request;
  }
  constexpr std::int64_t kAnyEpoch = -1;
  for (const auto& member : wanted.new_isr_with_epochs) {
    const BrokerImage* broker = image().find_broker(member.broker_id);
    if (!is_live(member.broker_id) || (member.broker_epoch != kAnyEpoch && member.broker_epoch != broker->epoch)) {
      return ErrorCode::ineligible_replica;
    }
  }
  return ErrorCode::none;
}

wire::AlterPartitionResponse::PartitionData Controller::Impl::alter_one(
    BrokerId asker, const TopicImage* topic, const wire::AlterPartitionRequest::PartitionData& wanted,
    std::vector<Record>& records) const {
  wire::AlterPartitionResponse::PartitionData answer;
  answer.partition_index = wanted.partition_index;
  if (topic == nullptr) {
    answer.error_code = ErrorCode::unknown_topic_id;
    return answer;
  }
  const PartitionImage* known = partition_of(*topic, wanted.partition_index);
  answer.error_code =
      known == nullptr ? ErrorCode::unknown_topic_or_partition : alter_error(asker, *known, wanted);
  if (answer.error_code != ErrorCode::none) {
    return answer;
  }
  if (trial::happens(trial::Oddity::refused_isr)) {
    answer.error_code = ErrorCode::operation_not_attempted;
    return answer;
  }
  PartitionWish wish;
  wish.isr.emplace();
  for (const auto& member : wanted.new_isr_with_epochs) {
    wish.isr->push_back(member.broker_id);
  }
  wish.leader_recovery_state = wanted.leader_recovery_state;
  wish.election = rules_of(*topic).unclean ? Election::unclean : Election::online;
  PartitionImage partition = *known;
  if (std::optional<wire::PartitionChangeRecord> record = change_one(*topic, wanted.partition_index, wish)) {
    apply_change(*record, partition);
    records.emplace_back(std::move(*record));
    if (partition.leader != asker) {
      // It completed a reassignment that takes its leadership: both an error and a change.
      answer.error_code = ErrorCode::new_leader_elected;
      return answer;
    }
  }
  answer.leader_id = partition.leader;
  answer.leader_epoch = partition.leader_epoch;
  answer.isr = partition.isr;
  answer.leader_recovery_state = partition.leader_recovery_state;
  answer.partition_epoch = partition.partition_epoch;
  return answer;
}

void Controller::alter_partition(const wire::AlterPartitionRequest& request, std::int16_t version,
                                 Done<wire::AlterPartitionResponse> done) {
  constexpr std::int16_t kEpochsFrom = 3;
  wire::AlterPartitionResponse response;
  wire::AlterPartitionResponse failure;
  failure.error_code = ErrorCode::not_controller;
  std::vector<Record> records;
  if (impl_->active && !impl_->knows(request.broker_id, request.broker_epoch)) {
    response.error_code = ErrorCode::stale_broker_epoch;
  } else if (impl_->active) {
    for (const auto& topic : request.topics) {
      auto& answer = response.topics.emplace_back();
      answer.topic_id = topic.topic_id;
      const TopicImage* known = impl_->image().find_topic(topic.topic_id);
      for (auto partition : topic.partitions) {
        if (version < kEpochsFrom) {
          partition.new_isr_with_epochs.clear();
          for (const BrokerId id : partition.new_isr) {
            partition.new_isr_with_epochs.emplace_back().broker_id = id;
          }
        }
        answer.partitions.push_back(impl_->alter_one(request.broker_id, known, partition, records));
      }
    }
  }
  impl_->finish(std::move(records), std::move(response), std::move(failure), std::move(done), Impl::Atomic::no);
}

// --- AssignReplicasToDirs

void Controller::assign_replicas_to_dirs(const wire::AssignReplicasToDirsRequest& request,
                                         Done<wire::AssignReplicasToDirsResponse> done) {
  wire::AssignReplicasToDirsResponse response;
  wire::AssignReplicasToDirsResponse failure;
  failure.error_code = ErrorCode::not_controller;
  std::vector<Record> records;
  const BrokerImage* broker = impl_->image().find_broker(request.broker_id);
  if (!impl_->active) {
  } else if (!impl_->knows(request.broker_id, request.broker_epoch)) {
    response.error_code = ErrorCode::stale_broker_epoch;
  } else {
    const BrokerId id = request.broker_id;
    for (const auto& directory : request.directories) {
      auto& directory_answer = response.directories.emplace_back();
      directory_answer.id = directory.id;
      const bool works = directory_works(directory.id, broker->log_directories);
      for (const auto& topic : directory.topics) {
        auto& topic_answer = directory_answer.topics.emplace_back();
        topic_answer.topic_id = topic.topic_id;
        const TopicImage* known = impl_->image().find_topic(topic.topic_id);
        for (const auto& asked : topic.partitions) {
          auto& item = topic_answer.partitions.emplace_back();
          item.partition_index = asked.partition_index;
          const PartitionImage* partition = known == nullptr ? nullptr : partition_of(*known, asked.partition_index);
          if (known == nullptr) {
            item.error_code = ErrorCode::unknown_topic_id;
          } else if (partition == nullptr) {
            item.error_code = ErrorCode::unknown_topic_or_partition;
          } else if (!contains(partition->replicas, id)) {
            item.error_code = ErrorCode::not_leader_or_follower;
          } else {
            PartitionWish wish;
            wish.moved = id;
            wish.moved_to = directory.id;
            const Impl::TopicRules topic_rules = impl_->rules_of(*known);
            wish.election = topic_rules.unclean ? Election::unclean : Election::online;
            Impl::BrokerChange change;
            if (!works) {  // into a directory that has failed meanwhile: as if it failed now
              wish.isr = partition->isr;
              std::erase(*wish.isr, id);
              change.removed = id;
            }
            if (std::optional<wire::PartitionChangeRecord> record =
                    change_partition(known->id, asked.partition_index, *partition, wish,
                                     impl_->rules_of(topic_rules, *partition, change))) {
              records.emplace_back(std::move(*record));
            }
          }
        }
      }
    }
  }
  impl_->finish(std::move(records), std::move(response), std::move(failure), std::move(done), Impl::Atomic::no);
}

}  // namespace hw::metadata
