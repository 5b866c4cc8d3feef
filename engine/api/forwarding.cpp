// SPDX-License-Identifier: Apache-2.0
#include "engine/api/forwarding.h"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/wire/msg/add_raft_voter.h"
#include "engine/wire/msg/alter_client_quotas.h"
#include "engine/wire/msg/alter_configs.h"
#include "engine/wire/msg/alter_partition_reassignments.h"
#include "engine/wire/msg/create_partitions.h"
#include "engine/wire/msg/create_topics.h"
#include "engine/wire/msg/delete_topics.h"
#include "engine/wire/msg/describe_quorum.h"
#include "engine/wire/msg/elect_leaders.h"
#include "engine/wire/msg/envelope.h"
#include "engine/wire/msg/incremental_alter_configs.h"
#include "engine/wire/msg/list_partition_reassignments.h"
#include "engine/wire/msg/remove_raft_voter.h"
#include "engine/wire/msg/unregister_broker.h"
#include "engine/wire/msg/unregister_controller.h"
#include "engine/wire/msg/update_features.h"

namespace hw::api {

namespace {

constexpr Duration kRetryAfter = milliseconds(50);

// The principal's own encoding: version 0 of DefaultPrincipalData, everybody being ANONYMOUS so far.
Bytes principal() {
  wire::Writer writer;
  writer.int16(0);
  writer.string("User", true);
  writer.string("ANONYMOUS", true);
  writer.boolean(false);  // no token was shown
  writer.tag_count(0);
  return writer.finish().flatten();
}

// "127.0.0.1:5000" as four bytes; whatever is no IPv4 address as those of an IPv6 one.
Bytes address_of(std::string_view peer) {
  std::array<std::byte, 16> bytes{};
  std::size_t size = 4;
  if (peer.starts_with('[')) {
    size = 16;
    bytes[15] = std::byte{1};  // ::1, the only one that is listened on so far
  } else {
    std::size_t at = 0;
    unsigned value = 0;
    for (const char c : peer) {
      if (c >= '0' && c <= '9') {
        value = value * 10 + static_cast<unsigned>(c - '0');
      } else {
        if (at < size) {
          bytes[at++] = static_cast<std::byte>(value);
        }
        value = 0;
        if (c == ':') {
          break;
        }
      }
    }
  }
  return Bytes::copy_of(ByteSpan(bytes.data(), size));
}

}  // namespace

bool forwardable(std::int16_t api_key) noexcept {
  switch (api_key) {
    case wire::CreateTopicsRequest::kApiKey:
    case wire::DeleteTopicsRequest::kApiKey:
    case wire::AlterConfigsRequest::kApiKey:
    case wire::CreatePartitionsRequest::kApiKey:
    case wire::ElectLeadersRequest::kApiKey:
    case wire::IncrementalAlterConfigsRequest::kApiKey:
    case wire::AlterPartitionReassignmentsRequest::kApiKey:
    case wire::ListPartitionReassignmentsRequest::kApiKey:
    case wire::AlterClientQuotasRequest::kApiKey:
    case wire::DescribeQuorumRequest::kApiKey:
    case wire::UpdateFeaturesRequest::kApiKey:
    case wire::UnregisterBrokerRequest::kApiKey:
    case wire::UnregisterControllerRequest::kApiKey:
    case wire::AddRaftVoterRequest::kApiKey:
    case wire::RemoveRaftVoterRequest::kApiKey:
      return true;
    default:
      return false;
  }
}

bool answered_in_part(std::int16_t api_key) noexcept {
  return api_key == wire::AlterConfigsRequest::kApiKey || api_key == wire::IncrementalAlterConfigsRequest::kApiKey;
}

void Forwarding::pump(const std::optional<PeerAddress>& controller, PeerChannels& channels, Now now, Outputs& out) {
  for (Waiting& request : std::exchange(waiting_, {})) {
    if (request.deadline > now.instant) {
      waiting_.push_back(std::move(request));
    } else {
      timed_out_(request);
    }
  }
  if (retry_at_ <= now.instant) {
    retry_at_ = Instant{};
  }
  if (!controller || retry_at_ != Instant{}) {
    return;
  }
  for (Waiting& request : std::exchange(waiting_, {})) {
    wire::EnvelopeRequest envelope;
    envelope.request_data = request.part ? request.part->request : request.frame;
    envelope.request_principal = principal();
    envelope.client_host_address = address_of(request.peer);
    const Duration left = std::min(request.deadline - now.instant, kPeerRequestTimeout);
    channels.ask<wire::EnvelopeResponse>(
        PeerChannels::Purpose::controller, 0, *controller, envelope, 0, left, out,
        [this, instant = now.instant, request = std::move(request)](Result<wire::EnvelopeResponse> response) mutable {
          if (response && response->error_code == wire::ErrorCode::none && response->response_data) {
            answer_(request.token, request.part ? request.part->complete(*response->response_data) : *response->response_data);
          } else if (response && response->error_code != wire::ErrorCode::not_controller) {
            answer_(request.token, fail(Errc::invalid, "the controller refused the envelope: " +
                                                           std::string(wire::error_name(response->error_code))));
          } else {
            retry_at_ = instant + kRetryAfter;
            waiting_.push_back(std::move(request));
          }
        });
  }
}

Instant Forwarding::next_deadline() const noexcept {
  if (waiting_.empty()) {
    return kNever;
  }
  const Instant given_up = std::min_element(waiting_.begin(), waiting_.end(), [](const Waiting& a, const Waiting& b) {
                             return a.deadline < b.deadline;
                           })->deadline;
  return retry_at_ == Instant{} ? given_up : std::min(given_up, retry_at_);
}

}  // namespace hw::api
