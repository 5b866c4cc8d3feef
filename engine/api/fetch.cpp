// SPDX-License-Identifier: Apache-2.0
// Fetch (key 1, versions 4-18).
#include <algorithm>

#include "engine/api/data_handlers.h"
#include "engine/broker/broker.h"
#include "engine/quotas/client_quotas.h"

namespace hw::api {

void handle_fetch(Node& node, const RequestContext& context, wire::FetchRequest& request) {
  const BrokerId replica = context.api_version >= 15 ? request.replica_state.replica_id : request.replica_id;
  if (replica == kNoBroker && node.quotas().active(quotas::QuotaKind::fetch)) {
    request.max_bytes = std::min(
        request.max_bytes, node.quotas().most_in_windows(quotas::QuotaKind::fetch, {context.user, context.client_id}));
  }
  node.broker().fetch({context.token.connection, context.token.serial}, request, context.api_version,
                      {context.now.instant, context.now.wall}, node.broker_outputs());
}

}  // namespace hw::api
