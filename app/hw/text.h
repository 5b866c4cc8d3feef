// SPDX-License-Identifier: Apache-2.0
// Text that people write and read: durations, points in time, sizes, names that were mistyped. Pure, but for the time zone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/base/result.h"

namespace hw::app {

// "500ms", "30s", "5m", "12h", "7d", "2w"; a bare number is milliseconds. Errc::invalid says what to write.
[[nodiscard]] Result<std::int64_t> parse_duration_ms(std::string_view text);
// "15 min", "3 d": short, for people.
[[nodiscard]] std::string duration_text(std::int64_t ms);

// "2026-11-29", "2026-11-29T10:00", "2026-11-29 10:00:00.123Z", "…+01:00" (without a zone: local time), "@1764410000000"
// (milliseconds since 1970), "now", or a duration: so long before `now_ms`.
[[nodiscard]] Result<std::int64_t> parse_time_ms(std::string_view text, std::int64_t now_ms);
// "2026-11-29T10:00:00.123Z"; "-" for -1.
[[nodiscard]] std::string time_text(std::int64_t ms);
[[nodiscard]] std::int64_t wall_now_ms();

// 1234567 → "1,234,567".
[[nodiscard]] std::string count_text(std::int64_t number);
// "1.5 MiB".
[[nodiscard]] std::string size_text(std::int64_t bytes);
// "1 record", "2,000 records".
[[nodiscard]] std::string counted(std::int64_t number, std::string_view noun);

// What a person writes as the value of a config: "7d" of *.ms and "1GiB" of *.bytes become numbers, all else stays. Errc::invalid
// for a unit that does not exist.
[[nodiscard]] Result<std::string> config_value(std::string_view name, std::string_view text);
// The other way round, where it helps: "(7 d)"; else "".
[[nodiscard]] std::string human_config(std::string_view name, std::string_view value);

// Whole numbers only, nothing around them.
[[nodiscard]] std::optional<std::int64_t> parse_number(std::string_view text);

// The candidate that was most likely meant, or empty where none is near.
[[nodiscard]] std::string nearest(std::string_view written, const std::vector<std::string>& candidates);
// '*' is any text, '?' any one character.
[[nodiscard]] bool glob_match(std::string_view pattern, std::string_view text);

// Null as (null), bytes that are no UTF-8 as base64:…, control characters escaped, so that one record stays one line.
[[nodiscard]] std::string printable(const std::optional<Bytes>& bytes);
[[nodiscard]] std::string printable(std::string_view text);
// The escapes \t \n \r \\ \0 \xHH of formats and separators. Errc::invalid for others.
[[nodiscard]] Result<std::string> unescape(std::string_view text);

}  // namespace hw::app
