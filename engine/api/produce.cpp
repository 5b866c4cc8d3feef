// SPDX-License-Identifier: Apache-2.0
// Produce (key 0, versions 3-13; 0-2 are offered for the sake of old librdkafka and close the connection, as in Kafka).
#include "engine/api/data_handlers.h"
#include "engine/broker/broker.h"

namespace hw::api {

void handle_produce(Node& node, const RequestContext& context, wire::ProduceRequest& request) {
  broker::Broker::ProduceCaller caller;
  caller.ticket = {context.token.connection, context.token.serial};
  caller.version = context.api_version;
  caller.counters = context.counters;
  // Kafka's rule, by name: its own admin client may write where others may not.
  caller.may_write_internal_topics = context.client_id == "__admin_client";
  node.broker().produce(caller, request, {context.now.instant, context.now.wall}, node.broker_outputs());
}

}  // namespace hw::api
