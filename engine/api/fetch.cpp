// SPDX-License-Identifier: Apache-2.0
// Fetch (key 1, versions 4-18).
#include "engine/api/data_handlers.h"
#include "engine/broker/broker.h"

namespace hw::api {

void handle_fetch(Node& node, const RequestContext& context, wire::FetchRequest& request) {
  node.broker().fetch({context.token.connection, context.token.serial}, request, context.api_version,
                      {context.now.instant, context.now.wall}, node.broker_outputs());
}

}  // namespace hw::api
