// SPDX-License-Identifier: Apache-2.0
// Shared by the transaction_*.cpp handlers, and by those that write as part of a transaction.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "engine/api/handler.h"
#include "engine/api/transaction_log.h"
#include "engine/txn/coordinator.h"
#include "engine/wire/msg/add_offsets_to_txn.h"
#include "engine/wire/msg/add_partitions_to_txn.h"
#include "engine/wire/msg/describe_transactions.h"
#include "engine/wire/msg/end_txn.h"
#include "engine/wire/msg/list_transactions.h"
#include "engine/wire/msg/write_txn_markers.h"

namespace hw::api {

void handle_add_partitions_to_txn(Node& node, const RequestContext& context, wire::AddPartitionsToTxnRequest& request);
void handle_add_offsets_to_txn(Node& node, const RequestContext& context, wire::AddOffsetsToTxnRequest& request);
void handle_end_txn(Node& node, const RequestContext& context, wire::EndTxnRequest& request);
void handle_describe_transactions(Node& node, const RequestContext& context, wire::DescribeTransactionsRequest& request);
void handle_list_transactions(Node& node, const RequestContext& context, wire::ListTransactionsRequest& request);
void handle_write_txn_markers(Node& node, const RequestContext& context, wire::WriteTxnMarkersRequest& request);

// What a client of a version knows: before `from` a producer that is fenced is told of its epoch.
[[nodiscard]] inline wire::ErrorCode fenced_as_known(wire::ErrorCode error, std::int16_t version, std::int16_t from) noexcept {
  return version < from && error == wire::ErrorCode::producer_fenced ? wire::ErrorCode::invalid_producer_epoch : error;
}

// Appends the markers to partitions that this node leads; `done` runs when each is committed or refused.
void write_markers(Node& node, const wire::WriteTxnMarkersRequest& request, const std::function<void(wire::WriteTxnMarkersResponse)>& done);

// What a client of a transactional write knows (KIP-890).
enum class TransactionSupport : std::uint8_t {
  verify,            // the partition must have been added; errors of old
  verify_abortable,  // likewise, and TRANSACTION_ABORTABLE
  add,               // the write itself adds the partition
};

// Asks the coordinator of a transaction, wherever it is, about partitions that are to be written: they are added, or it is asked
// whether they were. Errors are in the words for a producer of that version; partitions that may be written have none.
struct PartitionsQuestion {
  txn::Producer producer;
  txn::Partitions partitions;
  TransactionSupport support = TransactionSupport::verify;
};

using PartitionsAnswer = std::map<txn::TopicPartition, wire::ErrorCode>;
void ask_about_partitions(Node& node, PartitionsQuestion question, std::function<void(const PartitionsAnswer&)> done);

}  // namespace hw::api
