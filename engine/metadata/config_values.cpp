// SPDX-License-Identifier: Apache-2.0
// Values of configuration keys as texts: what is valid, and the form in which they are shown.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "engine/metadata/configs.h"
#include "engine/metadata/detail/config_text.h"

namespace hw::metadata {

std::string_view trimmed(std::string_view text) noexcept {
  const auto blank = [](char c) { return static_cast<unsigned char>(c) <= ' '; };
  while (!text.empty() && blank(text.front())) {
    text.remove_prefix(1);
  }
  while (!text.empty() && blank(text.back())) {
    text.remove_suffix(1);
  }
  return text;
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return result;
}

std::optional<std::int64_t> parse_integer(std::string_view text, std::int64_t low, std::int64_t high) noexcept {
  if (!text.empty() && text.front() == '+') {
    text.remove_prefix(1);
    if (!text.empty() && text.front() == '-') {
      return std::nullopt;
    }
  }
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < low || value > high) {
    return std::nullopt;
  }
  return value;
}

std::optional<double> parse_double(std::string_view text) noexcept {
  if (!text.empty() && text.front() == '+') {
    text.remove_prefix(1);
  }
  if (text.size() > 1 && std::string_view("fFdD").find(text.back()) != std::string_view::npos) {
    text.remove_suffix(1);  // Java's suffixes of literals
  }
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> items;
  text = trimmed(text);
  if (text.empty()) {
    return items;
  }
  for (;;) {
    const std::size_t comma = text.find(',');
    items.emplace_back(trimmed(text.substr(0, comma)));
    if (comma == std::string_view::npos) {
      return items;
    }
    text.remove_prefix(comma + 1);
  }
}

std::string join(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) {
    if (!text.empty()) {
      text += ',';
    }
    text += item;
  }
  return text;
}

namespace {

// Takes "12H" off the front of `text`: digits and the unit. False: it does not begin so.
bool take_number(std::string_view& text, char unit, bool fraction) noexcept {
  std::size_t at = 0;
  bool point = false;
  while (at < text.size() && ((text[at] >= '0' && text[at] <= '9') || (fraction && !point && at > 0 && text[at] == '.'))) {
    point = point || text[at] == '.';
    ++at;
  }
  if (at == 0 || at == text.size() || (text[at] != unit && text[at] != unit - 'A' + 'a')) {
    return false;
  }
  text.remove_prefix(at + 1);
  return true;
}

}  // namespace

bool is_iso_duration(std::string_view text) noexcept {
  if (text.empty() || (text.front() != 'P' && text.front() != 'p')) {
    return false;
  }
  text.remove_prefix(1);
  bool any = take_number(text, 'D', false);
  if (!text.empty() && (text.front() == 'T' || text.front() == 't')) {
    text.remove_prefix(1);
    const bool hours = take_number(text, 'H', false);
    const bool minutes = take_number(text, 'M', false);
    const bool seconds = take_number(text, 'S', true);
    if (!hours && !minutes && !seconds) {
      return false;
    }
    any = true;
  }
  return any && text.empty();
}

namespace {

// As Java prints it: at least one digit after the point, an exponent below 10^-3 and from 10^7 on.
std::string double_text(double value) {
  std::array<char, 64> buffer{};
  const double magnitude = std::fabs(value);
  const bool plain = magnitude == 0 || (magnitude >= 1e-3 && magnitude < 1e7);
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                          plain ? std::chars_format::fixed : std::chars_format::scientific);
  std::string text(buffer.data(), error == std::errc{} ? end : buffer.data());
  if (plain) {
    return text.find('.') == std::string::npos ? text + ".0" : text;
  }
  const std::size_t e = text.find('e');
  std::string mantissa = text.substr(0, e);
  if (mantissa.find('.') == std::string::npos) {
    mantissa += ".0";
  }
  std::string exponent = text.substr(e + 1);
  const bool negative = !exponent.empty() && exponent.front() == '-';
  exponent.erase(0, exponent.find_first_not_of("+-0"));
  return mantissa + 'E' + (negative ? "-" : "") + exponent;
}

Unexpected<Error> bad_value(const ConfigDef& def, std::string_view value, const std::string& why) {
  return fail(Errc::invalid, "'" + std::string(value) + "' is not a value for " + std::string(def.name) + ": " + why);
}

// The words between the brackets of "[a, b, c]"; empty where the range is no enumeration.
std::vector<std::string> enumeration(std::string_view range) {
  const std::size_t open = range.find('[');
  if (open == std::string_view::npos || range.back() != ']' || range.find("...") != std::string_view::npos) {
    return {};
  }
  return split_list(range.substr(open + 1, range.size() - open - 2));
}

struct NumericRange {
  std::optional<double> low;
  std::optional<double> high;
  std::optional<double> or_else;
};
// "[low,...]", "[low,...,high]", either followed by " or value".
NumericRange numeric_range(std::string_view text) {
  NumericRange range;
  if (text.empty() || text.front() != '[') {
    return range;
  }
  const std::size_t close = text.find(']');
  const std::string_view inside = text.substr(1, close - 1);
  const std::size_t first_comma = inside.find(',');
  const std::size_t last_comma = inside.rfind(',');
  range.low = parse_double(inside.substr(0, first_comma));
  if (last_comma != first_comma) {
    range.high = parse_double(inside.substr(last_comma + 1));
  }
  const std::size_t alternative = text.find(" or ");
  if (alternative != std::string_view::npos) {
    range.or_else = parse_double(text.substr(alternative + 4));
  }
  return range;
}

std::optional<std::string> range_error(const ConfigDef& def, double value) {
  const NumericRange range = numeric_range(def.range);
  if (range.or_else && value == *range.or_else) {
    return std::nullopt;
  }
  if ((range.low && value < *range.low) || (range.high && value > *range.high)) {
    return "it must lie in " + std::string(def.range);
  }
  return std::nullopt;
}

bool is_throttled_replica(std::string_view item) {
  const std::size_t colon = item.find(':');
  if (colon == std::string_view::npos) {
    return false;
  }
  const auto digits = [](std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  };
  return digits(item.substr(0, colon)) && digits(item.substr(colon + 1));
}

Result<std::string> parse_list(const ConfigDef& def, std::string_view text) {
  const std::vector<std::string> items = split_list(text);
  if (std::find(items.begin(), items.end(), "") != items.end()) {
    return bad_value(def, text, "a list may not hold empty items");
  }
  if (def.range == "non-empty list" && items.empty()) {
    return bad_value(def, text, "the list may not be empty");
  }
  if (def.range.starts_with("[partitionId]")) {
    const bool all = items.size() == 1 && items.front() == "*";
    if (!all && !std::all_of(items.begin(), items.end(), is_throttled_replica)) {
      return bad_value(def, text, "it must be * or pairs of partition:broker");
    }
    return join(items);
  }
  const std::vector<std::string> allowed = enumeration(def.range);
  std::vector<std::string> kept;
  for (const std::string& item : items) {
    if (!allowed.empty() && std::find(allowed.begin(), allowed.end(), item) == allowed.end()) {
      return bad_value(def, item, "it must be one of " + join(allowed));
    }
    if (std::find(kept.begin(), kept.end(), item) == kept.end()) {
      kept.push_back(item);
    }
  }
  return join(kept);
}

Result<std::string> parse_text(const ConfigDef& def, std::string_view text) {
  const std::vector<std::string> allowed = enumeration(def.range);
  if (!allowed.empty()) {
    const bool any_case = def.range.starts_with("(case insensitive)");
    const bool found = std::any_of(allowed.begin(), allowed.end(), [&](const std::string& word) {
      constexpr std::string_view kDuration = "by_duration:";
      if (word.starts_with(kDuration)) {
        return text.starts_with(kDuration) && is_iso_duration(text.substr(kDuration.size()));
      }
      return any_case ? lower(word) == lower(text) : word == text;
    });
    if (!found) {
      return bad_value(def, text, "it must be one of " + join(allowed));
    }
  }
  if (def.range == "non-empty string" && text.empty()) {
    return bad_value(def, text, "it may not be empty");
  }
  return std::string(text);
}

Result<std::string> parse_number(const ConfigDef& def, std::string_view text, std::int64_t low, std::int64_t high,
                                 const char* kind) {
  const std::optional<std::int64_t> value = parse_integer(text, low, high);
  if (!value) {
    return bad_value(def, text, std::string("it must be ") + kind);
  }
  if (std::optional<std::string> why = range_error(def, static_cast<double>(*value))) {
    return bad_value(def, text, *why);
  }
  return std::to_string(*value);
}

}  // namespace

Result<std::string> parse_config_value(const ConfigDef& def, std::string_view raw) {
  const std::string_view text = def.type == ConfigType::password ? raw : trimmed(raw);
  switch (def.type) {
    case ConfigType::boolean: {
      std::string word = lower(text);
      if (word != "true" && word != "false") {
        return bad_value(def, text, "it must be true or false");
      }
      return word;
    }
    case ConfigType::int16:
      return parse_number(def, text, std::numeric_limits<std::int16_t>::min(), std::numeric_limits<std::int16_t>::max(),
                          "a 16-bit integer");
    case ConfigType::int32:
      return parse_number(def, text, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max(),
                          "a 32-bit integer");
    case ConfigType::int64:
      return parse_number(def, text, std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max(),
                          "a 64-bit integer");
    case ConfigType::float64: {
      const std::optional<double> value = parse_double(text);
      if (!value) {
        return bad_value(def, text, "it must be a number");
      }
      if (std::optional<std::string> why = range_error(def, *value)) {
        return bad_value(def, text, *why);
      }
      return double_text(*value);
    }
    case ConfigType::list: return parse_list(def, text);
    case ConfigType::string:
    case ConfigType::class_name:
    case ConfigType::password:
    case ConfigType::unknown: return parse_text(def, text);
  }
  return std::string(text);
}

}  // namespace hw::metadata
