// SPDX-License-Identifier: Apache-2.0
// What a producer's EndTxn comes to, by the state it meets. Nothing is changed here.
//
// Version 2 (KIP-890): the epoch rises with every end, so that an end is told from its repeat by the epoch alone.
//
//                    abort                       commit
//                    repeat        now           repeat        now
//   Empty            fenced        abort         fenced        INVALID_TXN_STATE
//   CompleteAbort    done          abort         INVALID_…     INVALID_…
//   CompleteCommit   INVALID_…     abort         done          INVALID_…
//   Prepare*         CONCURRENT_TRANSACTIONS for the same end, INVALID_TXN_STATE for the other; fenced unless a repeat
//   Ongoing          fenced        abort         fenced        commit
//
// Before that a completed end answers its repeat, and nothing can be ended that was not begun.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/txn/transaction.h"
#include "engine/wire/runtime/error_code.h"

namespace hw::txn {

struct EndRequest {
  ProducerId producer_id;
  ProducerEpoch epoch;
  bool commit = false;
  ClientVersion version = ClientVersion::zero;
};

enum class EndAction : std::uint8_t { refuse, repeat, prepare };

struct EndDecision {
  EndAction action = EndAction::refuse;
  wire::ErrorCode error = wire::ErrorCode::none;  // of refuse
};

// `under_way`: a step of the transaction is not committed yet.
[[nodiscard]] EndDecision decide_end(const Transaction& transaction, bool under_way, const EndRequest& request) noexcept;

}  // namespace hw::txn
