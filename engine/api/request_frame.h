// SPDX-License-Identifier: Apache-2.0
// Takes the header off a request frame and says whether this node serves what it asks for.
//
// A frame that cannot be answered gets `refusal`: the connection closes, as Kafka's does. The one exception is ApiVersions
// in a version that is not offered: `version_unsupported`, answered in version 0 (KIP-511).
// Thread rule: none; free functions of their arguments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "engine/api/core.h"
#include "engine/base/bytes.h"

namespace hw::api {

struct RequestFrame {
  std::int16_t api_key = -1;
  std::int16_t api_version = -1;
  std::int32_t correlation_id = 0;
  std::string_view client_id;  // into the frame; empty also for null
  std::size_t body = 0;        // where the body begins
  bool version_unsupported = false;
  std::string refusal;  // empty: go on
};

// `listener`: where it came to; each kind serves its own APIs.
[[nodiscard]] RequestFrame parse_request_frame(ByteSpan frame, ListenerKind listener = ListenerKind::client);

// "127.0.0.1:5000" → "/127.0.0.1", "[::1]:5000" → "/0:0:0:0:0:0:0:1": a host as Kafka prints it.
[[nodiscard]] std::string client_host_of(std::string_view peer);

}  // namespace hw::api
