// SPDX-License-Identifier: Apache-2.0
// InitProducerId (KIP-98, KIP-360) for idempotent producers. Transactions are not served yet, and a transactional id is
// refused in a way that producers give up on at once.
#include "engine/api/admin_handlers.h"
#include "engine/metadata/controller.h"

namespace hw::api {

using wire::ErrorCode;

void handle_init_producer_id(Node& node, const RequestContext& context, wire::InitProducerIdRequest& request) {
  const auto refuse = [&](ErrorCode error, const char* why) {
    wire::InitProducerIdResponse response;
    response.error_code = error;
    response.producer_epoch = kNoProducerEpoch;
    node.refused(context, error, why);
    node.reply(context.token, response);
  };
  if ((request.producer_id == kNoProducerId) != (request.producer_epoch == kNoProducerEpoch)) {
    refuse(ErrorCode::invalid_request, "InitProducerId: producer id and epoch come together");
    return;
  }
  if (request.transactional_id) {
    if (request.transactional_id->empty()) {
      refuse(ErrorCode::invalid_request, "InitProducerId: the transactional id is empty");
    } else {
      refuse(ErrorCode::unsupported_version, "InitProducerId: this broker has no transaction coordinator");
    }
    return;
  }
  node.new_producer_id([&node, token = context.token](std::pair<ErrorCode, ProducerId> result) {
    wire::InitProducerIdResponse response;
    const bool ok = result.first == ErrorCode::none;
    // Without a block of ids for the moment: producers ask again.
    response.error_code = ok ? ErrorCode::none : ErrorCode::coordinator_load_in_progress;
    response.producer_id = ok ? result.second : kNoProducerId;
    response.producer_epoch = ok ? ProducerEpoch(0) : kNoProducerEpoch;
    node.reply(token, response);
  });
}

}  // namespace hw::api
