// SPDX-License-Identifier: Apache-2.0
#include "engine/api/data_handlers.h"

#include <array>

#include "engine/broker/broker.h"

namespace hw::api {

std::span<const Handler> data_handlers() {
  static constexpr std::array kHandlers{
      handler<wire::ProduceRequest, handle_produce>(),
      handler<wire::FetchRequest, handle_fetch>(),
      handler<wire::ListOffsetsRequest, handle_list_offsets>(),
      handler<wire::OffsetForLeaderEpochRequest, handle_offset_for_leader_epoch>(),
      handler<wire::DeleteRecordsRequest, handle_delete_records>(),
      handler<wire::DescribeProducersRequest, handle_describe_producers>(),
      handler<wire::DescribeLogDirsRequest, handle_describe_log_dirs>(),
      handler<wire::AlterReplicaLogDirsRequest, handle_alter_replica_log_dirs>(),
  };
  return kHandlers;
}

void handle_list_offsets(Node& node, const RequestContext& context, wire::ListOffsetsRequest& request) {
  node.reply(context.token, node.broker().list_offsets(request, context.api_version));
}

void handle_offset_for_leader_epoch(Node& node, const RequestContext& context,
                                    wire::OffsetForLeaderEpochRequest& request) {
  node.reply(context.token, node.broker().offset_for_leader_epoch(request));
}

}  // namespace hw::api
