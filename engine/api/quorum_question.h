// SPDX-License-Identifier: Apache-2.0
// What a handler hands over to the quorum. Its own header, so that handlers need not know every message of the quorum.
#pragma once

#include <utility>

#include "engine/api/handler.h"
#include "engine/raft/quorum.h"

namespace hw::api {

struct QuorumQuestion {
  raft::PeerRequest body;
};

// The handler of an API that the quorum answers as it is.
template <class Request>
void ask_quorum(Node& node, const RequestContext& context, Request& request) {
  node.ask_quorum(context, {std::move(request)});
}

}  // namespace hw::api
