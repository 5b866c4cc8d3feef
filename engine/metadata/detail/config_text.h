// SPDX-License-Identifier: Apache-2.0
// Texts of configuration values, as the files of the configuration share them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hw::metadata {

[[nodiscard]] std::string_view trimmed(std::string_view text) noexcept;
[[nodiscard]] std::string lower(std::string_view text);
[[nodiscard]] std::optional<std::int64_t> parse_integer(std::string_view text, std::int64_t low, std::int64_t high) noexcept;
[[nodiscard]] std::optional<double> parse_double(std::string_view text) noexcept;
// Items between commas, trimmed; nothing for a blank text.
[[nodiscard]] std::vector<std::string> split_list(std::string_view text);
[[nodiscard]] std::string join(const std::vector<std::string>& items);
// "P1DT2H3M4.5S" of java.time.Duration, not negative.
[[nodiscard]] bool is_iso_duration(std::string_view text) noexcept;

}  // namespace hw::metadata
