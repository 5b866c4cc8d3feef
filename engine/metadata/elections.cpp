// SPDX-License-Identifier: Apache-2.0
// Elections that somebody asks for (KIP-460, KIP-183), and those that the controller holds by its clock.
#include <set>
#include <utility>

#include "engine/metadata/controller.h"
#include "engine/metadata/detail/controller_impl.h"

namespace hw::metadata {

using wire::ErrorCode;

Refusal Controller::Impl::elect(std::string_view topic_name, PartitionIndex index, ElectionType type,
                                std::vector<Record>& records) const {
  const TopicImage* topic = image().find_topic(topic_name);
  const PartitionImage* partition = topic == nullptr ? nullptr : partition_of(*topic, index);
  if (partition == nullptr) {
    return {ErrorCode::unknown_topic_or_partition, "there is no partition " + place(topic_name, index)};
  }
  const bool settled = type == ElectionType::preferred ? partition->leader == partition->replicas.front()
                                                       : partition->leader != kNoBroker;
  if (settled) {
    return {ErrorCode::election_not_needed, place(topic_name, index) + " has the leader that the election would give it"};
  }
  PartitionWish wish;
  wish.election = type == ElectionType::preferred ? Election::preferred : Election::unclean;
  std::optional<wire::PartitionChangeRecord> record = change_one(*topic, index, wish);
  if (!record) {
    return type == ElectionType::preferred
               ? Refusal{ErrorCode::preferred_leader_not_available,
                         "the preferred leader of " + place(topic_name, index) + " is not live and in sync"}
               : Refusal{ErrorCode::eligible_leaders_not_available, "no replica of " + place(topic_name, index) + " is live"};
  }
  records.emplace_back(std::move(*record));
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

// --- by the clock

namespace {

// So many partitions change in one batch; the rest follows a moment later.
constexpr std::size_t kElectionsPerRound = 1000;
constexpr Duration kNextRound = milliseconds(10);

}  // namespace

void Controller::Impl::balance_leaders(Instant now) {
  if (now < balance_due) {
    return;
  }
  std::vector<Record> records;
  for (const auto& [name, topic] : image().topics()) {
    for (std::size_t i = 0; i < topic->partitions.size() && records.size() < kElectionsPerRound; ++i) {
      const PartitionImage& partition = topic->partitions[i];
      if (partition.leader == partition.replicas.front()) {
        continue;
      }
      PartitionWish wish;
      wish.election = Election::preferred;
      if (std::optional<wire::PartitionChangeRecord> record =
              change_one(*topic, PartitionIndex(static_cast<std::int32_t>(i)), wish)) {
        records.emplace_back(std::move(*record));
      }
    }
  }
  const Duration interval = seconds(options.broker_configs->number("leader.imbalance.check.interval.seconds"));
  balance_due = now + (records.size() < kElectionsPerRound ? interval : kNextRound);
  if (!records.empty()) {
    write(std::move(records), [](bool) {}, Atomic::no);
  }
}

void Controller::Impl::elect_unclean_leaders(Instant now) {
  if (now < unclean_election_due) {
    return;
  }
  std::vector<Record> records;
  for (const auto& [name, topic] : image().topics()) {
    std::optional<bool> allowed;
    for (std::size_t i = 0; i < topic->partitions.size() && records.size() < kElectionsPerRound; ++i) {
      if (topic->partitions[i].leader != kNoBroker) {
        continue;
      }
      if (!allowed) {
        allowed = rules_of(*topic).unclean;
      }
      if (!*allowed) {
        break;
      }
      (void)elect(name, PartitionIndex(static_cast<std::int32_t>(i)), ElectionType::unclean, records);
    }
  }
  const Duration interval = milliseconds(options.broker_configs->number("unclean.leader.election.interval.ms"));
  unclean_election_due = now + (records.size() < kElectionsPerRound ? interval : kNextRound);
  if (!records.empty()) {
    write(std::move(records), [](bool) {}, Atomic::no);
  }
}

}  // namespace hw::metadata
