// SPDX-License-Identifier: Apache-2.0
// DeleteRecords (KIP-107).
#include "engine/api/data_handlers.h"
#include "engine/broker/broker.h"

namespace hw::api {

void handle_delete_records(Node& node, const RequestContext& context, wire::DeleteRecordsRequest& request) {
  node.broker().delete_records({context.token.connection, context.token.serial}, request,
                               {context.now.instant, context.now.wall}, node.broker_outputs());
}

}  // namespace hw::api
