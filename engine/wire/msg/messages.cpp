// SPDX-License-Identifier: Apache-2.0
#include "engine/wire/msg/messages.h"

#include "engine/wire/msg/detail/tables.h"

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

}  // namespace hw::wire
