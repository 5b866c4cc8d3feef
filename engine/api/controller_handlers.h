// SPDX-License-Identifier: Apache-2.0
// What listeners of controllers serve beyond what those of brokers do: requests of brokers and of other controllers.
#pragma once

#include "engine/api/handler.h"
#include "engine/wire/msg/allocate_producer_ids.h"
#include "engine/wire/msg/alter_partition.h"
#include "engine/wire/msg/assign_replicas_to_dirs.h"
#include "engine/wire/msg/broker_heartbeat.h"
#include "engine/wire/msg/broker_registration.h"
#include "engine/wire/msg/controller_registration.h"
#include "engine/wire/msg/envelope.h"

namespace hw::api {

void handle_broker_registration(Node& node, const RequestContext& context, wire::BrokerRegistrationRequest& request);
void handle_broker_heartbeat(Node& node, const RequestContext& context, wire::BrokerHeartbeatRequest& request);
void handle_controller_registration(Node& node, const RequestContext& context,
                                    wire::ControllerRegistrationRequest& request);
void handle_alter_partition(Node& node, const RequestContext& context, wire::AlterPartitionRequest& request);
void handle_assign_replicas_to_dirs(Node& node, const RequestContext& context,
                                    wire::AssignReplicasToDirsRequest& request);
void handle_allocate_producer_ids(Node& node, const RequestContext& context, wire::AllocateProducerIdsRequest& request);

}  // namespace hw::api
