// SPDX-License-Identifier: Apache-2.0
// What this broker asks of other nodes for the sake of its replicas.
#include <utility>

#include "engine/broker/broker_impl.h"

namespace hw::broker {

void Broker::set_broker_epoch(std::int64_t epoch) { impl_->broker_epoch = epoch; }

// Nothing is sent yet, so nothing that comes is an answer.
void Broker::fetched(std::uint64_t /*id*/, wire::FetchResponse&& /*response*/, Now /*now*/) {}  // NOLINT
void Broker::offsets_listed(std::uint64_t /*id*/, const wire::ListOffsetsResponse& /*response*/, Now /*now*/) {}
void Broker::fetch_failed(std::uint64_t /*id*/, Now /*now*/) {}
void Broker::alter_partition_answered(const wire::AlterPartitionResponse& /*response*/, Now /*now*/) {}
void Broker::alter_partition_failed(Now /*now*/) {}

}  // namespace hw::broker
