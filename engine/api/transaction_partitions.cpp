// SPDX-License-Identifier: Apache-2.0
// Whether partitions are in a transaction, before something is written there as part of it (KIP-890).
#include <algorithm>
#include <memory>
#include <utility>

#include "engine/api/transaction_detail.h"

namespace hw::api {
namespace {

using wire::ErrorCode;

ErrorCode for_producer(ErrorCode error, TransactionSupport support) noexcept {
  if (error == ErrorCode::producer_fenced) {
    return ErrorCode::invalid_producer_epoch;
  }
  return error == ErrorCode::transaction_abortable && support == TransactionSupport::verify ? ErrorCode::invalid_txn_state : error;
}

PartitionsAnswer all(const txn::Partitions& partitions, ErrorCode error) {
  PartitionsAnswer answer;
  for (const txn::TopicPartition& one : partitions) {
    answer[one] = error;
  }
  return answer;
}

BrokerId coordinator_of(Node& node, const std::string& transactional_id) {
  const metadata::TopicImage* topic = node.image()->find_topic(kTransactionTopic);
  const auto partition = static_cast<std::size_t>(node.transactions().partition_of(transactional_id).value());
  if (topic == nullptr || partition >= topic->partitions.size()) {
    return kNoBroker;
  }
  const BrokerId leader = topic->partitions[partition].leader;
  const metadata::BrokerImage* broker = node.image()->find_broker(leader);
  return broker == nullptr || broker->fenced ? kNoBroker : leader;
}

wire::AddPartitionsToTxnRequest request_of(const PartitionsQuestion& question) {
  wire::AddPartitionsToTxnRequest request;
  auto& transaction = request.transactions.emplace_back();
  transaction.transactional_id = question.producer.transactional_id;
  transaction.producer_id = question.producer.id;
  transaction.producer_epoch = question.producer.epoch;
  transaction.verify_only = question.support != TransactionSupport::add;
  for (const txn::TopicPartition& one : question.partitions) {
    if (transaction.topics.empty() || transaction.topics.back().name != one.topic) {
      transaction.topics.emplace_back().name = one.topic;
    }
    transaction.topics.back().partitions.push_back(one.partition);
  }
  return request;
}

PartitionsAnswer answer_of(const PartitionsQuestion& question, const Result<wire::AddPartitionsToTxnResponse>& response) {
  if (!response) {
    return all(question.partitions, ErrorCode::network_exception);
  }
  if (response->error_code != ErrorCode::none) {
    return all(question.partitions, response->error_code);
  }
  PartitionsAnswer answer = all(question.partitions, ErrorCode::unknown_server_error);
  for (const auto& transaction : response->results_by_transaction) {
    for (const auto& topic : transaction.topic_results) {
      for (const auto& partition : topic.results_by_partition) {
        answer[{topic.name, partition.partition_index}] = partition.partition_error_code;
      }
    }
  }
  return answer;
}

struct Asking {
  PartitionsQuestion question;
  std::function<void(const PartitionsAnswer&)> done;
  Instant until;
};

void ask(Node& node, const std::shared_ptr<Asking>& asking);

void answered(Node& node, const std::shared_ptr<Asking>& asking, PartitionsAnswer answer) {
  const bool busy = std::any_of(answer.begin(), answer.end(), [](const auto& one) { return one.second == ErrorCode::concurrent_transactions; });
  if (busy && asking->question.support == TransactionSupport::add && node.now().instant < asking->until) {
    // The transaction before is being completed; the producer need not ask a second time.
    node.later(node.add_partitions_backoff().first, [&node, asking] { ask(node, asking); });
    return;
  }
  for (auto& [partition, error] : answer) {
    error = for_producer(error, asking->question.support);
  }
  asking->done(answer);
}

void ask(Node& node, const std::shared_ptr<Asking>& asking) {
  const PartitionsQuestion& question = asking->question;
  const BrokerId coordinator = coordinator_of(node, question.producer.transactional_id);
  if (coordinator == kNoBroker) {
    answered(node, asking, all(question.partitions, ErrorCode::coordinator_not_available));
  } else if (coordinator != node.options().node) {
    node.ask_coordinator(coordinator, request_of(question), [&node, asking](const Result<wire::AddPartitionsToTxnResponse>& response) {
      answered(node, asking, answer_of(asking->question, response));
    });
  } else if (question.support == TransactionSupport::add) {
    node.transactions().add_partitions(question.producer, question.partitions, txn::ClientVersion::two, group_now(node.now()),
                                       [&node, asking](ErrorCode error) { answered(node, asking, all(asking->question.partitions, error)); });
  } else {
    answered(node, asking, node.transactions().verify_partitions(question.producer, question.partitions));
  }
}

}  // namespace

void ask_about_partitions(Node& node, PartitionsQuestion question, std::function<void(const PartitionsAnswer&)> done) {
  const Instant until = node.now().instant + node.add_partitions_backoff().second;
  ask(node, std::make_shared<Asking>(Asking{std::move(question), std::move(done), until}));
}

}  // namespace hw::api
