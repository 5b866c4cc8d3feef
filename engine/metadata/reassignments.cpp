// SPDX-License-Identifier: Apache-2.0
// Reassignments: partitions that move to other replicas (KIP-455, KIP-860).
#include <utility>

#include "engine/base/trial.h"
#include "engine/metadata/controller.h"
#include "engine/metadata/detail/controller_impl.h"
#include "engine/metadata/reassignments.h"

namespace hw::metadata {

using wire::ErrorCode;

Refusal Controller::Impl::reassign(const TopicImage* topic, const std::string& name,
                                   const wire::AlterPartitionReassignmentsRequest::ReassignablePartition& wanted,
                                   bool may_change_count, std::vector<Record>& records) const {
  if (topic == nullptr) {
    return {ErrorCode::unknown_topic_or_partition, "there is no topic '" + name + "'"};
  }
  const PartitionImage* partition = partition_of(*topic, wanted.partition_index);
  if (partition == nullptr) {
    return {ErrorCode::unknown_topic_or_partition, "there is no partition " + place(name, wanted.partition_index)};
  }
  PartitionWish wish;
  if (!wanted.replicas) {
    if (!is_reassigning(*partition)) {
      return {ErrorCode::no_reassignment_in_progress, {}};
    }
    const RevertedReassignment back = reverted_reassignment(*partition);
    const bool unclean_allowed = rules_of(*topic).unclean;
    if (back.replicas.empty() || (back.unclean && !unclean_allowed)) {
      return {ErrorCode::invalid_replica_assignment, "only replicas that " + place(name, wanted.partition_index) +
                                                         " moves to are in sync; going back would lose records"};
    }
    trial::mark(trial::Mark::reassignment_cancelled);
    wish.isr = back.isr;
    wish.replicas = back.replicas;
    wish.adding.emplace();
    wish.removing.emplace();
    wish.election = unclean_allowed ? Election::unclean : Election::online;
  } else {
    if (std::optional<Refusal> refusal = assignment_refusal(*wanted.replicas, std::nullopt, Liveness::any)) {
      return *refusal;
    }
    // What counts is what the partition will have when the reassignment that may be under way is over.
    const std::size_t replicas = partition->replicas.size() - partition->removing_replicas.size();
    if (!may_change_count && wanted.replicas->size() != replicas) {
      return {ErrorCode::invalid_replication_factor, place(name, wanted.partition_index) + " has " +
                                                         std::to_string(replicas) +
                                                         " replica(s), and the request says that the number stays"};
    }
    Reassignment moves = reassignment_to(*wanted.replicas, *partition);
    wish.replicas = std::move(moves.replicas);
    wish.adding = std::move(moves.adding);
    wish.removing = std::move(moves.removing);
  }
  if (std::optional<wire::PartitionChangeRecord> record = change_one(*topic, wanted.partition_index, wish)) {
    records.emplace_back(std::move(*record));
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
  std::vector<Record> records;
  for (const auto& topic : request.topics) {
    auto& result = response.responses.emplace_back();
    result.name = topic.name;
    const TopicImage* known = impl_->image().find_topic(topic.name);
    for (const auto& partition : topic.partitions) {
      auto& item = result.partitions.emplace_back();
      item.partition_index = partition.partition_index;
      refuse(item, impl_->reassign(known, topic.name, partition, request.allow_replication_factor_change, records));
    }
  }
  impl_->finish(std::move(records), std::move(response), std::move(failure), std::move(done));
}

wire::ListPartitionReassignmentsResponse list_reassignments(const MetadataImage& image,
                                                            const wire::ListPartitionReassignmentsRequest& request) {
  wire::ListPartitionReassignmentsResponse response;
  response.error_message.reset();
  const auto add = [&](const TopicImage& topic, const std::vector<PartitionIndex>* only) {
    wire::ListPartitionReassignmentsResponse::OngoingTopicReassignment found;
    found.name = topic.name;
    const auto look_at = [&](PartitionIndex index) {
      const PartitionImage* partition = partition_of(topic, index);
      if (partition == nullptr || !is_reassigning(*partition)) {
        return;
      }
      auto& item = found.partitions.emplace_back();
      item.partition_index = index;
      item.replicas = partition->replicas;
      item.adding_replicas = partition->adding_replicas;
      item.removing_replicas = partition->removing_replicas;
    };
    if (only != nullptr) {
      for (const PartitionIndex index : *only) {
        look_at(index);
      }
    } else {
      for (std::size_t i = 0; i < topic.partitions.size(); ++i) {
        look_at(PartitionIndex(static_cast<std::int32_t>(i)));
      }
    }
    if (!found.partitions.empty()) {
      response.topics.push_back(std::move(found));
    }
  };
  if (!request.topics) {
    for (const auto& [name, topic] : image.topics()) {
      add(*topic, nullptr);
    }
  } else {
    for (const auto& asked : *request.topics) {
      if (const TopicImage* topic = image.find_topic(asked.name)) {
        add(*topic, &asked.partition_indexes);
      }
    }
  }
  return response;
}

void Controller::list_partition_reassignments(const wire::ListPartitionReassignmentsRequest& request,
                                              Done<wire::ListPartitionReassignmentsResponse> done) {
  wire::ListPartitionReassignmentsResponse failure;
  failure.error_code = ErrorCode::not_controller;
  failure.error_message.reset();
  impl_->finish({}, list_reassignments(impl_->image(), request), std::move(failure), std::move(done));
}

}  // namespace hw::metadata
