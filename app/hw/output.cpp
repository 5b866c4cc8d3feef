// SPDX-License-Identifier: Apache-2.0
#include "app/hw/output.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

#include "app/hw/text.h"

namespace hw::app {

bool is_utf8(std::string_view text) noexcept {
  std::size_t i = 0;
  const auto byte = [&](std::size_t at) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[at])); };
  while (i < text.size()) {
    const std::uint32_t first = byte(i);
    std::size_t more = 0;
    std::uint32_t code = first;
    std::uint32_t least = 0;
    if (first < 0x80) {
      ++i;
      continue;
    }
    if (first >= 0xc2 && first < 0xe0) {
      more = 1;
      code = first & 0x1f;
      least = 0x80;
    } else if (first >= 0xe0 && first < 0xf0) {
      more = 2;
      code = first & 0x0f;
      least = 0x800;
    } else if (first >= 0xf0 && first < 0xf5) {
      more = 3;
      code = first & 0x07;
      least = 0x10000;
    } else {
      return false;
    }
    if (text.size() - i <= more) {
      return false;
    }
    for (std::size_t k = 1; k <= more; ++k) {
      if ((byte(i + k) & 0xc0) != 0x80) {
        return false;
      }
      code = (code << 6) | (byte(i + k) & 0x3f);
    }
    if (code < least || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) {
      return false;
    }
    i += more + 1;
  }
  return true;
}

std::string base64(std::string_view bytes) {
  static constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t word = 0;
    const std::size_t here = std::min<std::size_t>(3, bytes.size() - i);
    for (std::size_t k = 0; k < 3; ++k) {
      word = (word << 8) | (k < here ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      out.push_back(k <= here ? kDigits[(word >> (18 - 6 * k)) & 63] : '=');
    }
  }
  return out;
}

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          out += fmt::format("\\u{:04x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
        } else {
          out.push_back(c);
        }
    }
  }
  return out + "\"";
}

std::string json_array(const std::vector<std::string>& elements) {
  std::string out = "[";
  for (const std::string& element : elements) {
    out += (out.size() > 1 ? "," : "") + element;
  }
  return out + "]";
}

void JsonObject::key(std::string_view name) {
  if (!body_.empty()) {
    body_ += ",";
  }
  body_ += json_string(name) + ":";
}
JsonObject& JsonObject::text(std::string_view name, std::string_view value) {
  key(name);
  body_ += json_string(value);
  return *this;
}
JsonObject& JsonObject::number(std::string_view name, std::int64_t value) {
  key(name);
  body_ += std::to_string(value);
  return *this;
}
JsonObject& JsonObject::boolean(std::string_view name, bool value) {
  key(name);
  body_ += value ? "true" : "false";
  return *this;
}
JsonObject& JsonObject::null(std::string_view name) {
  key(name);
  body_ += "null";
  return *this;
}
JsonObject& JsonObject::bytes(std::string_view name, const std::optional<Bytes>& value) {
  if (!value) {
    return null(name);
  }
  if (is_utf8(value->text())) {
    return text(name, value->text());
  }
  return text(std::string(name) + "_base64", base64(value->text()));
}
JsonObject& JsonObject::raw(std::string_view name, std::string_view json) {
  key(name);
  body_ += json;
  return *this;
}

std::string json_headers(const std::vector<std::pair<std::string, std::optional<Bytes>>>& headers) {
  std::vector<std::string> elements;
  for (const auto& [name, value] : headers) {
    JsonObject header;
    header.text("name", name).bytes("value", value);
    elements.push_back(header.str());
  }
  return json_array(elements);
}

Progress::Progress(std::string verb, std::uint64_t total_bytes)
    : verb_(std::move(verb)),
      total_(total_bytes),
      next_(std::chrono::steady_clock::now() + std::chrono::seconds(1)),
      terminal_(isatty(STDERR_FILENO) != 0) {}

void Progress::at(std::uint64_t more_bytes) {
  done_ += more_bytes;
  if (!terminal_) {
    return;
  }
  const auto now = std::chrono::steady_clock::now();
  if (now >= next_) {
    next_ = now + std::chrono::milliseconds(200);
    shown_ = true;
    fmt::print(stderr, "\r\x1b[K{} {} of {}", verb_, size_text(static_cast<std::int64_t>(done_)),
               size_text(static_cast<std::int64_t>(total_)));
    std::fflush(stderr);
  }
}

void Progress::clear() {
  if (std::exchange(shown_, false)) {
    fmt::print(stderr, "\r\x1b[K");
    std::fflush(stderr);
  }
}

namespace {
// Code points; good enough for columns.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}
}  // namespace

void print_table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], width_of(row[i]));
    }
  }
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      if (i + 1 < row.size()) {
        line.append(widths[i] + 2 - width_of(row[i]), ' ');
      }
    }
    fmt::print("{}\n", line);
  }
}

Exit exit_of(const Error& error) noexcept {
  switch (error.code) {
    case Errc::closed:
      return Exit::unreachable;
    case Errc::not_found:
      return Exit::not_found;
    case Errc::exists:
      return Exit::exists;
    case Errc::io:
    case Errc::corrupt:
    case Errc::truncated:
    case Errc::invalid:
    case Errc::too_large:
    case Errc::no_space:
    case Errc::permission:
    case Errc::locked:
    case Errc::in_use:
    case Errc::unsupported:
      return Exit::failed;
  }
  return Exit::failed;
}

int report(const Error& error, const Common& common) {
  const Exit exit = exit_of(error);
  if (common.json) {
    JsonObject object;
    object.text("error", error.detail).number("exit", static_cast<int>(exit));
    fmt::print(stderr, "{}\n", object.str());
    return static_cast<int>(exit);
  }
  fmt::print(stderr, "hw: {}\n", error.detail);
  if (exit == Exit::unreachable) {
    fmt::print(stderr, "hw: is a broker running at {}? Start one with `highwaterd`, or name another with --bootstrap HOST:PORT\n",
               common.bootstrap);
  }
  return static_cast<int>(exit);
}

int wrong(const std::string& what) {
  fmt::print(stderr, "hw: {}\n", what);
  return static_cast<int>(Exit::usage);
}

std::optional<std::pair<std::string, std::string>> split_pair(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) {
    return std::nullopt;
  }
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

}  // namespace hw::app
