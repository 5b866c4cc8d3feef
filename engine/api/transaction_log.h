// SPDX-License-Identifier: Apache-2.0
// Between the transaction coordinator and the logs of __transaction_state (group_log.h is the same for groups).
#pragma once

#include "engine/api/group_log.h"
#include "engine/base/bytes.h"
#include "engine/base/result.h"
#include "engine/metadata/configs.h"
#include "engine/txn/coordinator.h"

namespace hw::api {

inline constexpr const char* kTransactionTopic = "__transaction_state";

[[nodiscard]] txn::Config transaction_config(const metadata::BrokerConfigs& configs);

// Replays whole batches in log order; a cut-off tail is left. Returns the offset after the last batch read (kNoOffset: none).
// Errors: a batch that cannot be read.
[[nodiscard]] Result<Offset> load_transaction_batches(txn::TransactionCoordinator& coordinator, PartitionIndex partition, const Bytes& batches);

}  // namespace hw::api
