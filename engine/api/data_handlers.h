// SPDX-License-Identifier: Apache-2.0
// Handlers of the data plane. They hand the request to the broker; what it answers, now or later, leaves through
// NodeCore, which drains the broker's outputs after every turn.
#pragma once

#include "engine/api/handler.h"
#include "engine/wire/msg/alter_replica_log_dirs.h"
#include "engine/wire/msg/delete_records.h"
#include "engine/wire/msg/describe_log_dirs.h"
#include "engine/wire/msg/describe_producers.h"
#include "engine/wire/msg/fetch.h"
#include "engine/wire/msg/list_offsets.h"
#include "engine/wire/msg/offset_for_leader_epoch.h"
#include "engine/wire/msg/produce.h"

namespace hw::api {

void handle_produce(Node& node, const RequestContext& context, wire::ProduceRequest& request);
void handle_fetch(Node& node, const RequestContext& context, wire::FetchRequest& request);
void handle_list_offsets(Node& node, const RequestContext& context, wire::ListOffsetsRequest& request);
void handle_offset_for_leader_epoch(Node& node, const RequestContext& context,
                                    wire::OffsetForLeaderEpochRequest& request);
void handle_delete_records(Node& node, const RequestContext& context, wire::DeleteRecordsRequest& request);
void handle_describe_producers(Node& node, const RequestContext& context, wire::DescribeProducersRequest& request);
void handle_describe_log_dirs(Node& node, const RequestContext& context, wire::DescribeLogDirsRequest& request);
void handle_alter_replica_log_dirs(Node& node, const RequestContext& context, wire::AlterReplicaLogDirsRequest& request);

}  // namespace hw::api
