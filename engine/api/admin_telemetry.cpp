// SPDX-License-Identifier: Apache-2.0
// GetTelemetrySubscriptions and PushTelemetry (KIP-714). Answered, and not offered: see client_telemetry.h.
#include "engine/api/admin_handlers.h"
#include "engine/api/client_telemetry.h"

namespace hw::api {
namespace {

ClientTelemetry::Caller caller_of(const RequestContext& context) {
  return {context.connection(), context.client_id, context.software_name, context.software_version, context.peer};
}

}  // namespace

void handle_get_telemetry_subscriptions(Node& node, const RequestContext& context,
                                        wire::GetTelemetrySubscriptionsRequest& request) {
  node.reply(context.token,
             node.telemetry().subscriptions_of(request, caller_of(context), node.prng(), context.now.instant));
}

void handle_push_telemetry(Node& node, const RequestContext& context, wire::PushTelemetryRequest& request) {
  node.reply(context.token, node.telemetry().push(request, caller_of(context), context.now.instant));
}

}  // namespace hw::api
