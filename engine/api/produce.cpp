// SPDX-License-Identifier: Apache-2.0
// Produce (key 0, versions 3-13; 0-2 are offered for the sake of old librdkafka and close the connection, as in Kafka).
#include <memory>
#include <utility>

#include "engine/api/data_handlers.h"
#include "engine/api/transaction_detail.h"
#include "engine/broker/broker.h"

namespace hw::api {
namespace {

using wire::ErrorCode;
using Question = broker::Broker::TransactionQuestion;

TransactionSupport support_of(std::int16_t version) noexcept {
  constexpr std::int16_t kAddsFrom = 12;
  constexpr std::int16_t kAbortableFrom = 11;
  return version >= kAddsFrom        ? TransactionSupport::add
         : version >= kAbortableFrom ? TransactionSupport::verify_abortable
                                     : TransactionSupport::verify;
}

// A coordinator's error as producers know one: what may go over is said in a word that makes old clients send the batch again without
// looking for another leader.
void answer_part(Question::Part& part, ErrorCode error, TransactionSupport support) {
  part.error = error;
  switch (error) {
    case ErrorCode::invalid_txn_state:
      part.message = "The partition was not added to the transaction.";
      return;
    case ErrorCode::concurrent_transactions:
      if (support == TransactionSupport::add) {
        return;
      }
      break;
    case ErrorCode::network_exception:
    case ErrorCode::coordinator_load_in_progress:
    case ErrorCode::coordinator_not_available:
    case ErrorCode::not_coordinator:
      break;
    default:
      return;
  }
  part.error = ErrorCode::not_enough_replicas;
  part.message = "Whether the partition is in the transaction could not be found out: " + std::string(wire::error_name(error)) + ".";
}

struct Waiting {
  broker::Broker::ProduceCaller caller;
  wire::ProduceRequest request;
  Question question;
};

}  // namespace

void handle_produce(Node& node, const RequestContext& context, wire::ProduceRequest& request) {
  broker::Broker::ProduceCaller caller;
  caller.ticket = {context.token.connection, context.token.serial};
  caller.version = context.api_version;
  caller.counters = context.counters;
  // Kafka's rule, by name: its own admin client may write where others may not.
  caller.may_write_internal_topics = context.client_id == "__admin_client";
  caller.verify_transactions = node.verifies_transactions();
  const broker::Now now{context.now.instant, context.now.wall};
  Question question = request.transactional_id ? node.broker().transaction_question(caller, request, now) : Question{};
  if (question.parts.empty()) {
    node.broker().produce(caller, request, now, node.broker_outputs());
    return;
  }
  PartitionsQuestion asked;
  asked.producer = {*request.transactional_id, question.producer_id, question.epoch};
  asked.support = support_of(context.api_version);
  for (const Question::Part& part : question.parts) {
    asked.partitions.insert({part.topic, part.partition});
  }
  const auto waiting = std::make_shared<Waiting>(Waiting{caller, std::move(request), std::move(question)});
  ask_about_partitions(node, std::move(asked),
                       [&node, waiting, token = context.token, support = support_of(context.api_version)](const PartitionsAnswer& answer) {
                         for (Question::Part& part : waiting->question.parts) {
                           answer_part(part, answer.at({part.topic, part.partition}), support);
                         }
                         waiting->caller.answered = &waiting->question;
                         waiting->caller.counters = node.counters_of(token);
                         node.broker().produce(waiting->caller, waiting->request, {node.now().instant, node.now().wall}, node.broker_outputs());
                       });
}

}  // namespace hw::api
