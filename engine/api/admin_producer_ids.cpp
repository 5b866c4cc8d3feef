// SPDX-License-Identifier: Apache-2.0
// InitProducerId (KIP-98, KIP-360): an id for a producer that is idempotent only, or the coordinator's word for a transactional id.
#include <optional>

#include "engine/api/admin_handlers.h"
#include "engine/api/transaction_detail.h"
#include "engine/metadata/controller.h"

namespace hw::api {

using wire::ErrorCode;

namespace {

constexpr std::int16_t kFencedFrom = 4;

}  // namespace

void handle_init_producer_id(Node& node, const RequestContext& context, wire::InitProducerIdRequest& request) {
  const auto answer = [&node, token = context.token, version = context.api_version](ErrorCode error, ProducerId id, ProducerEpoch epoch) {
    wire::InitProducerIdResponse response;
    response.error_code = fenced_as_known(error, version, kFencedFrom);
    response.producer_id = id;
    response.producer_epoch = epoch;
    node.reply(token, response);
  };
  if ((request.producer_id == kNoProducerId) != (request.producer_epoch == kNoProducerEpoch)) {
    node.refused(context, ErrorCode::invalid_request, "InitProducerId: producer id and epoch come together");
    answer(ErrorCode::invalid_request, kNoProducerId, kNoProducerEpoch);
    return;
  }
  if (request.transactional_id) {
    std::optional<std::pair<ProducerId, ProducerEpoch>> expected;
    if (request.producer_id != kNoProducerId) {
      expected = {request.producer_id, request.producer_epoch};
    }
    node.transactions().init_producer_id(*request.transactional_id, request.transaction_timeout_ms, expected, group_now(context.now),
                                         [answer](const txn::Identity& identity) { answer(identity.error, identity.producer_id, identity.epoch); });
    return;
  }
  node.new_producer_id([answer](std::pair<ErrorCode, ProducerId> result) {
    if (result.first == ErrorCode::none) {
      answer(ErrorCode::none, result.second, ProducerEpoch(0));
    } else {
      // Without a block of ids for the moment: producers ask again.
      answer(ErrorCode::coordinator_load_in_progress, kNoProducerId, kNoProducerEpoch);
    }
  });
}

}  // namespace hw::api
