// SPDX-License-Identifier: Apache-2.0
// What listeners of controllers serve beyond what those of brokers do.
#include "engine/api/controller_handlers.h"

#include <array>

#include "engine/api/quorum_question.h"

namespace hw::api {
namespace {

void handle_envelope(Node& node, const RequestContext& context, wire::EnvelopeRequest& request) {
  // Four bytes are an IPv4 address, sixteen an IPv6 one; what else it may be is nobody's host.
  std::string host;
  const ByteSpan address = request.client_host_address.span();
  if (address.size() == 4) {
    for (std::size_t i = 0; i < address.size(); ++i) {
      host += (i == 0 ? "" : ".") + std::to_string(std::to_integer<unsigned>(address[i]));
    }
  } else if (address.size() == 16) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    for (std::size_t i = 0; i < address.size(); i += 2) {
      host += i == 0 ? "[" : ":";
      for (const unsigned byte : {std::to_integer<unsigned>(address[i]), std::to_integer<unsigned>(address[i + 1])}) {
        host += kDigits[byte >> 4U];
        host += kDigits[byte & 15U];
      }
    }
    host += "]";
  }
  node.serve_enveloped(context, request.request_data, host);
}

}  // namespace

std::span<const Handler> controller_handlers() {
  static constexpr std::array kHandlers{
      handler<wire::BrokerRegistrationRequest, handle_broker_registration>(),
      handler<wire::BrokerHeartbeatRequest, handle_broker_heartbeat>(),
      handler<wire::ControllerRegistrationRequest, handle_controller_registration>(),
      handler<wire::AlterPartitionRequest, handle_alter_partition>(),
      handler<wire::AllocateProducerIdsRequest, handle_allocate_producer_ids>(),
      handler<wire::AssignReplicasToDirsRequest, handle_assign_replicas_to_dirs>(),
      handler<wire::EnvelopeRequest, handle_envelope>(),
      handler<wire::FetchRequest, ask_quorum<wire::FetchRequest>>(),
      handler<wire::VoteRequest, ask_quorum<wire::VoteRequest>>(),
      handler<wire::BeginQuorumEpochRequest, ask_quorum<wire::BeginQuorumEpochRequest>>(),
      handler<wire::EndQuorumEpochRequest, ask_quorum<wire::EndQuorumEpochRequest>>(),
      handler<wire::FetchSnapshotRequest, ask_quorum<wire::FetchSnapshotRequest>>(),
      handler<wire::UpdateRaftVoterRequest, ask_quorum<wire::UpdateRaftVoterRequest>>(),
  };
  return kHandlers;
}

}  // namespace hw::api
