// SPDX-License-Identifier: Apache-2.0
// Java properties text (server.properties): key=value, key:value or key value; '#' and '!' comments; '\' continues a
// line and escapes; \uXXXX. Later keys win.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "engine/base/result.h"

namespace hw::app {

using Properties = std::map<std::string, std::string>;

// Errc::invalid names the line. A key without a value has the empty value, as in Java.
Result<Properties> parse_properties(std::string_view text);
Result<Properties> read_properties(const std::string& path);

// One listener of `listeners` / `advertised.listeners`: NAME://host:port. An empty host means every address.
struct ListenerText {
  std::string name;
  std::string host;
  std::uint16_t port = 0;
};
Result<ListenerText> parse_listener(std::string_view text);

}  // namespace hw::app
