// SPDX-License-Identifier: Apache-2.0
#include "engine/wire/msg/messages.h"

#include "engine/base/assert.h"
#include "engine/wire/msg/apis.h"
#include "engine/wire/msg/detail/tables.h"
#include "engine/wire/runtime/reader.h"

namespace hw::wire {

std::span<const MessageInfo> all_messages() noexcept { return message_table(); }

const MessageInfo* find_message(std::string_view name) noexcept {
  for (const MessageInfo& message : message_table()) {
    if (message.name == name) {
      return &message;
    }
  }
  return nullptr;
}

const MessageInfo* find_message(std::int16_t api_key, bool is_request) noexcept {
  const MessageKind kind = is_request ? MessageKind::request : MessageKind::response;
  for (const MessageInfo& message : message_table()) {
    if (message.kind == kind && message.key == api_key) {
      return &message;
    }
  }
  return nullptr;
}

Dissection dissect(const Bytes& body, std::int16_t api_key, std::int16_t version, bool is_request,
                   const DissectOptions& options) {
  const MessageInfo* message = find_message(api_key, is_request);
  if (message == nullptr) {
    Dissection result;
    result.error = "an unknown api";
    result.left_over = body.size();
    return result;
  }
  return dissect(*message, version, body, options);
}

Dissection dissect_request(const Bytes& frame, const DissectOptions& options) {
  Reader peek(frame);
  const std::int16_t key = peek.int16();
  const std::int16_t version = peek.int16();
  const MessageInfo* header = find_message("RequestHeader");
  HW_ASSERT(header != nullptr, "the schemas have a request header");
  return dissect(*header, static_cast<std::int16_t>(request_header_version(key, version)), find_message(key, true),
                 version, frame, options);
}

Dissection dissect_response(const Bytes& frame, std::int16_t api_key, std::int16_t version,
                            const DissectOptions& options) {
  const MessageInfo* header = find_message("ResponseHeader");
  HW_ASSERT(header != nullptr, "the schemas have a response header");
  return dissect(*header, static_cast<std::int16_t>(response_header_version(api_key, version)),
                 find_message(api_key, false), version, frame, options);
}

}  // namespace hw::wire
