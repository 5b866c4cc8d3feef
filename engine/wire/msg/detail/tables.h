// SPDX-License-Identifier: Apache-2.0
// Between the generated tables and the functions that search them.
#pragma once

#include <span>

#include "engine/wire/msg/apis.h"
#include "engine/wire/runtime/field_table.h"

namespace hw::wire {

[[nodiscard]] std::span<const ApiInfo> api_table() noexcept;          // ascending keys
[[nodiscard]] std::span<const MessageInfo> message_table() noexcept;  // in the order of the schema files

}  // namespace hw::wire
