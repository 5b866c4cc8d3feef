// SPDX-License-Identifier: Apache-2.0
#include "engine/txn/transaction_records.h"

#include <utility>

#include "engine/groups/runtime/record_frame.h"
#include "engine/wire/msg/transaction_log_key.h"
#include "engine/wire/msg/transaction_log_value.h"

namespace hw::txn {

std::optional<std::string> decode_key(const Bytes& key) {
  std::optional<wire::TransactionLogKey> message = groups::unframed<wire::TransactionLogKey>(key);
  return message ? std::optional(std::move(message->transactional_id)) : std::nullopt;
}

std::optional<Transaction> decode_value(const Bytes& value) {
  const std::optional<wire::TransactionLogValue> message = groups::unframed<wire::TransactionLogValue>(value);
  if (!message || message->transaction_status < 0 || message->transaction_status > static_cast<std::int8_t>(State::prepare_epoch_fence)) {
    return std::nullopt;
  }
  Transaction transaction;
  transaction.producer_id = message->producer_id;
  transaction.previous_producer_id = ProducerId(message->previous_producer_id);
  transaction.next_producer_id = ProducerId(message->next_producer_id);
  transaction.epoch = message->producer_epoch;
  transaction.timeout_ms = message->transaction_timeout_ms;
  transaction.state = static_cast<State>(message->transaction_status);
  if (message->transaction_partitions) {
    for (const auto& topic : *message->transaction_partitions) {
      for (const std::int32_t partition : topic.partition_ids) {
        transaction.partitions.insert({topic.topic, PartitionIndex(partition)});
      }
    }
  }
  transaction.start_ms = message->transaction_start_timestamp_ms;
  transaction.last_update_ms = message->transaction_last_update_timestamp_ms;
  transaction.version = static_cast<ClientVersion>(message->client_transaction_version);
  return transaction;
}

std::optional<Bytes> encode_key(std::string_view transactional_id) {
  wire::TransactionLogKey key;
  key.transactional_id = transactional_id;
  return groups::framed(0, key, 0);
}

std::optional<Bytes> encode_value(const Transaction& transaction, bool flexible) {
  wire::TransactionLogValue value;
  value.producer_id = transaction.producer_id;
  value.producer_epoch = transaction.epoch;
  value.transaction_timeout_ms = transaction.timeout_ms;
  value.transaction_status = static_cast<std::int8_t>(transaction.state);
  if (transaction.state == State::empty) {
    value.transaction_partitions.reset();
  } else {
    value.transaction_partitions.emplace();
    for (const TopicPartition& one : transaction.partitions) {
      if (value.transaction_partitions->empty() || value.transaction_partitions->back().topic != one.topic) {
        value.transaction_partitions->emplace_back().topic = one.topic;
      }
      value.transaction_partitions->back().partition_ids.push_back(one.partition.value());
    }
  }
  value.transaction_last_update_timestamp_ms = transaction.last_update_ms;
  value.transaction_start_timestamp_ms = transaction.start_ms;
  if (flexible) {
    value.previous_producer_id = transaction.previous_producer_id.value();
    value.next_producer_id = transaction.next_producer_id.value();
    value.client_transaction_version = static_cast<std::int16_t>(transaction.version);
  }
  const std::int16_t version = flexible ? 1 : 0;
  return groups::framed(version, value, version);
}

}  // namespace hw::txn
