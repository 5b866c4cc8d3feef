// SPDX-License-Identifier: Apache-2.0
// Finds the description of a message; what it describes is engine/wire/runtime/field_table.h. Constant, any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "engine/wire/runtime/field_table.h"

namespace hw::wire {

// Requests, responses, headers and records, in the order of the schema files.
[[nodiscard]] std::span<const MessageInfo> all_messages() noexcept;
// Null where there is none.
[[nodiscard]] const MessageInfo* find_message(std::string_view name) noexcept;
[[nodiscard]] const MessageInfo* find_message(std::int16_t api_key, bool is_request) noexcept;

}  // namespace hw::wire
