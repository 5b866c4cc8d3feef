// SPDX-License-Identifier: Apache-2.0
// TxnOffsetCommit: offsets as part of a transaction. That the group's partition of __consumer_offsets is in the transaction is asked
// of the transaction's coordinator first, as for any other partition that is written to (KIP-890).
#include <memory>
#include <utility>

#include "engine/api/group_offset_topics.h"
#include "engine/api/transaction_detail.h"
#include "engine/broker/broker.h"
#include "engine/wire/msg/txn_offset_commit.h"

namespace hw::api {
namespace {

using wire::ErrorCode;

constexpr std::int16_t kTopicIdsFrom = 6;
constexpr std::int16_t kAddsFrom = 5;
constexpr std::int16_t kAbortableFrom = 4;
constexpr std::int16_t kLoadingKnownFrom = 2;

TransactionSupport support_of(std::int16_t version) noexcept {
  return version >= kAddsFrom        ? TransactionSupport::add
         : version >= kAbortableFrom ? TransactionSupport::verify_abortable
                                     : TransactionSupport::verify;
}

// A coordinator's error as old producers know one.
ErrorCode as_known(ErrorCode error, std::int16_t version) noexcept {
  if (error == ErrorCode::network_exception) {
    error = ErrorCode::coordinator_load_in_progress;  // asked again, without looking for the coordinator
  }
  return error == ErrorCode::coordinator_load_in_progress && version < kLoadingKnownFrom ? ErrorCode::coordinator_not_available : error;
}

struct Committing {
  wire::TxnOffsetCommitRequest request;
  wire::TxnOffsetCommitResponse checked;  // what was answered without the coordinator
  groups::RequestContext context;
  ReplyToken token;
};

void answer(Node& node, Committing& committing, wire::TxnOffsetCommitResponse response) {
  for (auto& topic : response.topics) {
    for (auto& partition : topic.partitions) {
      partition.error_code = as_known(partition.error_code, committing.context.api_version);
    }
  }
  if (committing.context.api_version < kTopicIdsFrom) {
    forget_topic_ids(response);
  }
  merge(committing.checked, std::move(response));
  node.reply(committing.token, committing.checked);
}

void refuse(Node& node, Committing& committing, ErrorCode error) {
  wire::TxnOffsetCommitResponse response;
  for (const auto& topic : committing.request.topics) {
    auto& refused = response.topics.emplace_back();
    refused.name = topic.name;
    refused.topic_id = topic.topic_id;
    for (const auto& partition : topic.partitions) {
      auto& entry = refused.partitions.emplace_back();
      entry.partition_index = partition.partition_index;
      entry.error_code = error;
    }
  }
  answer(node, committing, std::move(response));
}

void commit(Node& node, const std::shared_ptr<Committing>& committing, std::uint64_t verification) {
  node.groups().commit_transactional_offsets(
      committing->request, committing->context, verification, group_now(node.now()),
      [&node, committing](wire::TxnOffsetCommitResponse response) { answer(node, *committing, std::move(response)); });
}

}  // namespace

void handle_txn_offset_commit(Node& node, const RequestContext& context, wire::TxnOffsetCommitRequest& request) {
  const auto committing = std::make_shared<Committing>();
  committing->context = group_context(context);
  committing->token = context.token;
  request.topics = take_known_topics(*node.image(), context.api_version >= kTopicIdsFrom, request.topics, committing->checked);
  if (request.topics.empty()) {
    node.reply(context.token, committing->checked);
    return;
  }
  committing->request = std::move(request);
  const wire::TxnOffsetCommitRequest& asked = committing->request;
  if (asked.group_id.empty()) {
    refuse(node, *committing, ErrorCode::invalid_group_id);
    return;
  }
  const PartitionIndex partition = node.groups().partition_of(asked.group_id);
  broker::Partition* offsets = node.broker().find(kGroupTopic, partition);
  std::uint64_t verification = 0;
  if (node.verifies_transactions() && offsets != nullptr && offsets->check(true, kNoLeaderEpoch) == ErrorCode::none) {
    constexpr std::int32_t kNoSequence = -1;
    verification =
        offsets->log()->begin_verification(asked.producer_id, asked.producer_epoch, kNoSequence, context.api_version >= kAddsFrom, context.now.wall);
  }
  if (verification == 0) {
    commit(node, committing, 0);
    return;
  }
  PartitionsQuestion question;
  question.producer = {asked.transactional_id, asked.producer_id, asked.producer_epoch};
  question.partitions.insert({kGroupTopic, partition});
  question.support = support_of(context.api_version);
  ask_about_partitions(node, std::move(question), [&node, committing, verification](const PartitionsAnswer& said) {
    const ErrorCode error = said.begin()->second;
    if (error == ErrorCode::none) {
      commit(node, committing, verification);
    } else {
      refuse(node, *committing, error);
    }
  });
}

}  // namespace hw::api
