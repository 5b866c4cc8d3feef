// SPDX-License-Identifier: Apache-2.0
#include "app/hw/text.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <ctime>

#include "app/hw/output.h"

namespace hw::app {
namespace {

constexpr std::int64_t kSecond = 1000;
constexpr std::int64_t kMinute = 60 * kSecond;
constexpr std::int64_t kHour = 60 * kMinute;
constexpr std::int64_t kDay = 24 * kHour;
constexpr std::int64_t kMostDurationMs = 200LL * 365 * kDay;

// Days since 1970-01-01 of the proleptic Gregorian calendar.
std::int64_t days_of(std::int64_t year, int month, int day) {
  year -= month <= 2 ? 1 : 0;
  const std::int64_t era = (year >= 0 ? year : year - 399) / 400;
  const auto of_era = static_cast<std::int64_t>(year - era * 400);
  const std::int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}
  bool digits(std::size_t count, int& into) {
    if (text_.size() < count) {
      return false;
    }
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + count, into);
    if (error != std::errc() || end != text_.data() + count) {
      return false;
    }
    text_.remove_prefix(count);
    return true;
  }
  bool one_of(std::string_view characters) {
    if (text_.empty() || characters.find(text_.front()) == std::string_view::npos) {
      return false;
    }
    last_ = text_.front();
    text_.remove_prefix(1);
    return true;
  }
  [[nodiscard]] bool done() const { return text_.empty(); }
  [[nodiscard]] char last() const { return last_; }

 private:
  std::string_view text_;
  char last_ = 0;
};

int days_in(int year, int month) {
  constexpr std::array<int, 12> kDays{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return month == 2 && leap ? 29 : kDays[static_cast<std::size_t>(month - 1)];
}

std::optional<std::int64_t> parse_calendar(std::string_view text) {
  Scanner scan(text);
  int year = 0;
  int month = 0;
  int day = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
  std::int64_t fraction_ms = 0;
  if (!scan.digits(4, year) || !scan.one_of("-") || !scan.digits(2, month) || !scan.one_of("-") || !scan.digits(2, day)) {
    return std::nullopt;
  }
  std::optional<std::int64_t> zone_ms;
  if (scan.one_of("T ")) {
    if (!scan.digits(2, hour) || !scan.one_of(":") || !scan.digits(2, minute)) {
      return std::nullopt;
    }
    if (scan.one_of(":") && !scan.digits(2, second)) {
      return std::nullopt;
    }
    if (scan.one_of(".")) {
      std::int64_t unit = 100;
      int digit = 0;
      while (scan.digits(1, digit)) {
        fraction_ms += digit * unit;
        unit /= 10;
      }
    }
    if (scan.one_of("Z")) {
      zone_ms = 0;
    } else if (scan.one_of("+-")) {
      const int sign = scan.last() == '-' ? -1 : 1;
      int zone_hour = 0;
      int zone_minute = 0;
      if (!scan.digits(2, zone_hour) || (scan.one_of(":"), !scan.digits(2, zone_minute)) || zone_hour > 14 || zone_minute > 59) {
        return std::nullopt;
      }
      zone_ms = sign * (zone_hour * kHour + zone_minute * kMinute);
    }
  }
  if (!scan.done() || year < 1970 || month < 1 || month > 12 || day < 1 || day > days_in(year, month) || hour > 23 || minute > 59 ||
      second > 60) {
    return std::nullopt;
  }
  if (!zone_ms) {
    std::tm local{};
    local.tm_year = year - 1900;
    local.tm_mon = month - 1;
    local.tm_mday = day;
    local.tm_hour = hour;
    local.tm_min = minute;
    local.tm_sec = second;
    local.tm_isdst = -1;
    return static_cast<std::int64_t>(std::mktime(&local)) * kSecond + fraction_ms;
  }
  return days_of(year, month, day) * kDay + hour * kHour + minute * kMinute + second * kSecond + fraction_ms - *zone_ms;
}

std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
      }
    }
  }
  return cost[a.size()][b.size()];
}

int hex_digit(char c) {
  return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

}  // namespace

std::optional<std::int64_t> parse_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) {
    return std::nullopt;
  }
  return value;
}

Result<std::int64_t> parse_duration_ms(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::optional<std::int64_t> number = parse_number(text.substr(0, digits));
  const std::string_view unit = text.substr(digits);
  std::int64_t factor = 0;
  if (unit.empty() || unit == "ms") {
    factor = 1;
  } else if (unit == "s") {
    factor = kSecond;
  } else if (unit == "m" || unit == "min") {
    factor = kMinute;
  } else if (unit == "h") {
    factor = kHour;
  } else if (unit == "d") {
    factor = kDay;
  } else if (unit == "w") {
    factor = 7 * kDay;
  }
  if (!number || factor == 0 || *number > kMostDurationMs / factor) {
    return fail(Errc::invalid, fmt::format("'{}' is no duration; write 500ms, 30s, 5m, 12h, 7d or 2w", text));
  }
  return *number * factor;
}

std::string duration_text(std::int64_t ms) {
  if (ms < kSecond) {
    return fmt::format("{} ms", ms);
  }
  if (ms < 2 * kMinute) {
    return ms % kSecond == 0 ? fmt::format("{} s", ms / kSecond) : fmt::format("{:.1f} s", static_cast<double>(ms) / kSecond);
  }
  if (ms < 2 * kHour) {
    return fmt::format("{} min", ms / kMinute);
  }
  return ms < 2 * kDay ? fmt::format("{} h", ms / kHour) : fmt::format("{} d", ms / kDay);
}

Result<std::int64_t> parse_time_ms(std::string_view text, std::int64_t now_ms) {
  if (text == "now") {
    return now_ms;
  }
  if (text.starts_with('@')) {
    if (const auto ms = parse_number(text.substr(1)); ms && *ms >= 0) {
      return *ms;
    }
  } else if (const auto calendar = parse_calendar(text)) {
    return *calendar;
  } else if (const Result<std::int64_t> ago = parse_duration_ms(text); ago && !parse_number(text)) {
    return std::max<std::int64_t>(0, now_ms - *ago);
  }
  return fail(Errc::invalid, fmt::format("'{}' is no point in time; write 2026-11-29T10:00:00Z, 2026-11-29 10:00 (local time), "
                                         "@1764410400000 (milliseconds) or 2h (so long ago)",
                                         text));
}

std::string time_text(std::int64_t ms) {
  if (ms < 0) {
    return "-";
  }
  const std::time_t seconds = ms / kSecond;
  std::tm utc{};
  if (gmtime_r(&seconds, &utc) == nullptr || utc.tm_year > 8099) {
    return fmt::format("@{}", ms);
  }
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday, utc.tm_hour,
                     utc.tm_min, utc.tm_sec, ms % kSecond);
}

std::int64_t wall_now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string count_text(std::int64_t number) {
  std::string digits = std::to_string(number);
  const std::size_t first = number < 0 ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3; at -= 3) {
    digits.insert(at - 3, ",");
  }
  return digits;
}

std::string size_text(std::int64_t bytes) {
  constexpr std::array<const char*, 5> kUnits{"KiB", "MiB", "GiB", "TiB", "PiB"};
  if (bytes < 1024) {
    return fmt::format("{} B", bytes);
  }
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  while (value >= 1023.95 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string counted(std::int64_t number, std::string_view noun) {
  return fmt::format("{} {}{}", count_text(number), noun, number == 1 ? "" : "s");
}

Result<std::string> config_value(std::string_view name, std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  if (digits == 0 || digits == text.size()) {
    return std::string(text);
  }
  if (name.ends_with(".ms")) {
    HW_TRY(const std::int64_t ms, parse_duration_ms(text));
    return std::to_string(ms);
  }
  if (name.ends_with(".bytes")) {
    constexpr std::array<std::pair<std::string_view, int>, 9> kUnits{
        {{"B", 0}, {"KiB", 10}, {"K", 10}, {"MiB", 20}, {"M", 20}, {"GiB", 30}, {"G", 30}, {"TiB", 40}, {"T", 40}}};
    const std::optional<std::int64_t> number = parse_number(text.substr(0, digits));
    for (const auto& [unit, shift] : kUnits) {
      if (text.substr(digits) == unit && number && *number <= (INT64_MAX >> shift)) {
        return std::to_string(*number << shift);
      }
    }
    return fail(Errc::invalid, fmt::format("{}={}: write bytes, or a size such as 512KiB, 100MiB or 1GiB", name, text));
  }
  return std::string(text);
}

std::string human_config(std::string_view name, std::string_view value) {
  const std::optional<std::int64_t> number = parse_number(value);
  if (!number || *number < 1000 || *number == INT64_MAX) {
    return number && *number == -1 && (name == "retention.ms" || name == "retention.bytes") ? "(no limit)" : "";
  }
  if (name.ends_with(".ms")) {
    return "(" + duration_text(*number) + ")";
  }
  return name.ends_with(".bytes") ? "(" + size_text(*number) + ")" : "";
}

std::string nearest(std::string_view written, const std::vector<std::string>& candidates) {
  std::string best;
  std::size_t best_cost = written.size() / 3 + 2;  // further away is another word
  for (const std::string& candidate : candidates) {
    if (candidate.size() > written.size() + best_cost || written.size() > candidate.size() + best_cost) {
      continue;
    }
    const std::size_t cost = distance(written, candidate);
    if (cost < best_cost && cost < candidate.size()) {
      best = candidate;
      best_cost = cost;
    }
  }
  if (best.empty() && written.size() >= 3) {
    for (const std::string& candidate : candidates) {
      if (candidate.find(written) != std::string::npos && (best.empty() || candidate.size() < best.size())) {
        best = candidate;
      }
    }
  }
  return best;
}

bool glob_match(std::string_view pattern, std::string_view text) {
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;
  std::size_t resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || (pattern[p] == text[t] && pattern[p] != '*'))) {
      ++p;
      ++t;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') {
    ++p;
  }
  return p == pattern.size();
}

std::string printable(std::string_view text) {
  if (!is_utf8(text)) {
    return "base64:" + base64(text);
  }
  std::string out;
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '\t') {
      out += "\\t";
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\\') {
      out += "\\\\";
    } else if (code < 0x20 || code == 0x7f) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned>(code));
    } else {
      out.push_back(c);
    }
  }
  return out;
}

std::string printable(const std::optional<Bytes>& bytes) { return bytes ? printable(bytes->text()) : "(null)"; }

Result<std::string> unescape(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out.push_back(text[i]);
      continue;
    }
    const char c = i + 1 < text.size() ? text[++i] : '\0';
    if (c == 't') {
      out.push_back('\t');
    } else if (c == 'n') {
      out.push_back('\n');
    } else if (c == 'r') {
      out.push_back('\r');
    } else if (c == '\\') {
      out.push_back('\\');
    } else if (c == '0') {
      out.push_back('\0');
    } else if (c == 'x' && i + 2 < text.size() && hex_digit(text[i + 1]) >= 0 && hex_digit(text[i + 2]) >= 0) {
      out.push_back(static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2])));
      i += 2;
    } else {
      return fail(Errc::invalid, fmt::format("'{}': a backslash is followed by t, n, r, 0, \\ or xHH", text));
    }
  }
  return out;
}

}  // namespace hw::app
