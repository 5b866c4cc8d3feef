// SPDX-License-Identifier: Apache-2.0
// Finds the description of a message; what it describes is engine/wire/runtime/field_table.h. Constant, any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "engine/base/bytes.h"
#include "engine/wire/runtime/dissect.h"
#include "engine/wire/runtime/field_table.h"

namespace hw::wire {

// Requests, responses, headers and records, in the order of the schema files.
[[nodiscard]] std::span<const MessageInfo> all_messages() noexcept;
// Null where there is none.
[[nodiscard]] const MessageInfo* find_message(std::string_view name) noexcept;
[[nodiscard]] const MessageInfo* find_message(std::int16_t api_key, bool is_request) noexcept;

// A body, without its header. An unknown API gives a dissection that is not complete and says so.
[[nodiscard]] Dissection dissect(const Bytes& body, std::int16_t api_key, std::int16_t version, bool is_request,
                                 const DissectOptions& options = {});
// A whole request frame without its length prefix: the header says which API and version follow.
[[nodiscard]] Dissection dissect_request(const Bytes& frame, const DissectOptions& options = {});
// A whole response frame without its length prefix; API and version are those of the request.
[[nodiscard]] Dissection dissect_response(const Bytes& frame, std::int16_t api_key, std::int16_t version,
                                          const DissectOptions& options = {});

}  // namespace hw::wire
