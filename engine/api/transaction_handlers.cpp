// SPDX-License-Identifier: Apache-2.0
// The table of the transaction APIs, and what producers and administrators ask of the coordinator. InitProducerId is in
// admin_producer_ids.cpp, TxnOffsetCommit in group_txn_offsets.cpp.
#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "engine/api/transaction_detail.h"
#include "engine/groups/coordinator.h"

namespace hw::api {
namespace {

using wire::ErrorCode;

constexpr std::int16_t kManyTransactionsFrom = 4;  // AddPartitionsToTxn
constexpr std::int16_t kFencedFrom = 2;            // AddPartitionsToTxn, AddOffsetsToTxn, EndTxn: PRODUCER_FENCED is known
constexpr std::int16_t kEpochsRiseFrom = 5;        // EndTxn

using Topics = std::vector<wire::AddPartitionsToTxnRequest::AddPartitionsToTxnTopic>;
using TopicResults = std::vector<wire::AddPartitionsToTxnResponse::AddPartitionsToTxnTopicResult>;

TopicResults results_of(const PartitionsAnswer& answer) {
  TopicResults results;
  for (const auto& [partition, error] : answer) {
    if (results.empty() || results.back().name != partition.topic) {
      results.emplace_back().name = partition.topic;
    }
    auto& one = results.back().results_by_partition.emplace_back();
    one.partition_index = partition.partition;
    one.partition_error_code = error;
  }
  return results;
}

// One transaction of a request. Where a partition does not exist none is added.
void add_or_verify(Node& node, std::int16_t version, const txn::Producer& producer, const Topics& topics, bool verify_only,
                   const std::function<void(const PartitionsAnswer&)>& done) {
  txn::Partitions partitions;
  PartitionsAnswer refused;
  bool all_there = true;
  for (const auto& topic : topics) {
    const metadata::TopicImage* known = node.image()->find_topic(topic.name);
    for (const PartitionIndex partition : topic.partitions) {
      const bool there = known != nullptr && partition.value() >= 0 && static_cast<std::size_t>(partition.value()) < known->partitions.size();
      refused[{topic.name, partition}] = there ? ErrorCode::operation_not_attempted : ErrorCode::unknown_topic_or_partition;
      partitions.insert({topic.name, partition});
      all_there = all_there && there;
    }
  }
  if (!all_there) {
    done(refused);
    return;
  }
  if (verify_only) {
    done(node.transactions().verify_partitions(producer, partitions));
    return;
  }
  const txn::ClientVersion client = version >= kManyTransactionsFrom ? txn::ClientVersion::two : txn::ClientVersion::zero;
  node.transactions().add_partitions(producer, partitions, client, group_now(node.now()),
                                     [done, version, answer = std::move(refused)](ErrorCode error) mutable {
                                       for (auto& [partition, code] : answer) {
                                         code = fenced_as_known(error, version, kFencedFrom);
                                       }
                                       done(answer);
                                     });
}

}  // namespace

void handle_add_partitions_to_txn(Node& node, const RequestContext& context, wire::AddPartitionsToTxnRequest& request) {
  if (context.api_version < kManyTransactionsFrom) {
    const txn::Producer producer{request.v3_and_below_transactional_id, request.v3_and_below_producer_id,
                                 ProducerEpoch(request.v3_and_below_producer_epoch)};
    add_or_verify(node, context.api_version, producer, request.v3_and_below_topics, false,
                  [&node, token = context.token](const PartitionsAnswer& answer) {
                    wire::AddPartitionsToTxnResponse response;
                    response.results_by_topic_v3_and_below = results_of(answer);
                    node.reply(token, response);
                  });
    return;
  }

  struct Gathered {
    wire::AddPartitionsToTxnResponse response;
    std::size_t open = 1;
  };

  const auto gathered = std::make_shared<Gathered>();
  gathered->response.results_by_transaction.resize(request.transactions.size());
  const auto arrived = [&node, token = context.token, gathered] {
    if (--gathered->open == 0) {
      node.reply(token, gathered->response);
    }
  };
  for (std::size_t i = 0; i < request.transactions.size(); ++i) {
    const auto& transaction = request.transactions[i];
    gathered->response.results_by_transaction[i].transactional_id = transaction.transactional_id;
    ++gathered->open;
    add_or_verify(node, context.api_version, {transaction.transactional_id, transaction.producer_id, transaction.producer_epoch}, transaction.topics,
                  transaction.verify_only, [gathered, arrived, i](const PartitionsAnswer& answer) {
                    gathered->response.results_by_transaction[i].topic_results = results_of(answer);
                    arrived();
                  });
  }
  arrived();
}

void handle_add_offsets_to_txn(Node& node, const RequestContext& context, wire::AddOffsetsToTxnRequest& request) {
  node.transactions().add_partitions({request.transactional_id, request.producer_id, request.producer_epoch},
                                     {{kGroupTopic, node.groups().partition_of(request.group_id)}}, txn::ClientVersion::zero, group_now(context.now),
                                     [&node, token = context.token, version = context.api_version](ErrorCode error) {
                                       wire::AddOffsetsToTxnResponse response;
                                       response.error_code = fenced_as_known(error, version, kFencedFrom);
                                       node.reply(token, response);
                                     });
}

void handle_end_txn(Node& node, const RequestContext& context, wire::EndTxnRequest& request) {
  const txn::ClientVersion client = context.api_version >= kEpochsRiseFrom ? txn::ClientVersion::two : txn::ClientVersion::zero;
  node.transactions().end({request.transactional_id, request.producer_id, request.producer_epoch}, request.committed, client, group_now(context.now),
                          [&node, token = context.token, version = context.api_version](const txn::Identity& identity) {
                            wire::EndTxnResponse response;
                            response.error_code = fenced_as_known(identity.error, version, kFencedFrom);
                            response.producer_id = identity.producer_id;
                            response.producer_epoch = identity.epoch;
                            node.reply(token, response);
                          });
}

void handle_describe_transactions(Node& node, const RequestContext& context, wire::DescribeTransactionsRequest& request) {
  wire::DescribeTransactionsResponse response;
  for (const std::string& id : request.transactional_ids) {
    response.transaction_states.push_back(node.transactions().describe(id));
  }
  node.reply(context.token, response);
}

void handle_list_transactions(Node& node, const RequestContext& context, wire::ListTransactionsRequest& request) {
  node.reply(context.token, node.transactions().list(request, group_now(context.now)));
}

std::span<const Handler> transaction_handlers() {
  static constexpr std::array kTable{
      handler<wire::AddPartitionsToTxnRequest, handle_add_partitions_to_txn>(),
      handler<wire::AddOffsetsToTxnRequest, handle_add_offsets_to_txn>(),
      handler<wire::EndTxnRequest, handle_end_txn>(),
      handler<wire::WriteTxnMarkersRequest, handle_write_txn_markers>(),
      handler<wire::DescribeTransactionsRequest, handle_describe_transactions>(),
      handler<wire::ListTransactionsRequest, handle_list_transactions>(),
  };
  return kTable;
}

}  // namespace hw::api
