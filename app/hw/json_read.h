// SPDX-License-Identifier: Apache-2.0
// Reads one JSON value of a line. Numbers and nested values keep their text, for they are passed on and not computed with.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/result.h"

namespace hw::app {

struct JsonValue {
  enum class Kind { null, boolean, number, string, array, object } kind = Kind::null;
  std::string text;  // of a string without escapes; of everything else as it was written
  std::vector<JsonValue> elements;
  std::vector<std::pair<std::string, JsonValue>> members;
  [[nodiscard]] const JsonValue* find(std::string_view name) const;
};

// Errc::invalid: what is wrong, and at which character. At most 64 levels deep.
[[nodiscard]] Result<JsonValue> parse_json(std::string_view text);

[[nodiscard]] std::optional<std::string> decode_base64(std::string_view text);

}  // namespace hw::app
