// SPDX-License-Identifier: Apache-2.0
#include "engine/txn/end_transaction.h"

namespace hw::txn {
namespace {

using wire::ErrorCode;

constexpr EndDecision refuse(ErrorCode error) noexcept {
  return {EndAction::refuse, error};
}

bool same_end(State state, bool commit) noexcept {
  return (state == State::prepare_commit || state == State::complete_commit) == commit;
}

EndDecision decide_before_version_two(const Transaction& transaction, bool under_way, const EndRequest& request) noexcept {
  if (transaction.producer_id != request.producer_id) {
    return refuse(ErrorCode::invalid_producer_id_mapping);
  }
  if (transaction.epoch != request.epoch) {
    return refuse(ErrorCode::producer_fenced);
  }
  if (under_way) {
    return refuse(ErrorCode::concurrent_transactions);
  }
  if (transaction.state == State::ongoing) {
    return {EndAction::prepare, ErrorCode::none};
  }
  if (is_complete(transaction.state) && same_end(transaction.state, request.commit)) {
    return {EndAction::repeat, ErrorCode::none};
  }
  if (is_prepared(transaction.state) && same_end(transaction.state, request.commit)) {
    return refuse(ErrorCode::concurrent_transactions);
  }
  return refuse(ErrorCode::invalid_txn_state);
}

}  // namespace

EndDecision decide_end(const Transaction& transaction, bool under_way, const EndRequest& request) noexcept {
  if (!bumps_epoch(request.version)) {
    return decide_before_version_two(transaction, under_way, request);
  }
  // The producer did not hear the answer, and the epoch it should have heard is one above its own, or 0 of the next producer id.
  const bool overflowed = transaction.previous_producer_id == request.producer_id && is_exhausted(request.epoch) &&
                          request.epoch.value() != INT16_MAX && transaction.epoch == ProducerEpoch(0);
  const bool bumped = transaction.epoch.value() == request.epoch.value() + 1;
  const bool repeat = bumped || overflowed;
  if (transaction.producer_id != request.producer_id && !overflowed) {
    return refuse(ErrorCode::invalid_producer_id_mapping);
  }
  const bool now = transaction.epoch == request.epoch;
  const bool epoch_fine = is_prepared(transaction.state) ? bumped : is_complete(transaction.state) ? repeat || now : now;
  if (!epoch_fine) {
    return refuse(ErrorCode::producer_fenced);
  }
  if (under_way) {
    return refuse(ErrorCode::concurrent_transactions);
  }
  if (is_prepared(transaction.state)) {
    return refuse(same_end(transaction.state, request.commit) ? ErrorCode::concurrent_transactions : ErrorCode::invalid_txn_state);
  }
  if (is_complete(transaction.state) && repeat) {
    return same_end(transaction.state, request.commit) ? EndDecision{EndAction::repeat, ErrorCode::none} : refuse(ErrorCode::invalid_txn_state);
  }
  if (transaction.state != State::ongoing && request.commit) {
    return refuse(ErrorCode::invalid_txn_state);
  }
  return {EndAction::prepare, ErrorCode::none};
}

}  // namespace hw::txn
