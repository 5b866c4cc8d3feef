// SPDX-License-Identifier: Apache-2.0
// The answer to a request that a broker could not pass on to an active controller: one error, where Kafka's own requests put it: at
// the top of a response that has a place for it there, otherwise at each thing that was asked for.
// Thread rule: the node's thread. Source: KIP-590.
#pragma once

#include <cstdint>
#include <string>

#include "engine/api/handler.h"

namespace hw::api {

// REQUIRES: forwardable(api_key). Answers `token`; a body that does not decode closes its connection. `message`: for people.
void answer_with_error(Node& node, const RequestContext& context, wire::Reader& body, wire::ErrorCode error,
                       const std::string& message);

}  // namespace hw::api
