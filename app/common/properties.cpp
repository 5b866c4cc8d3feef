// SPDX-License-Identifier: Apache-2.0
#include "app/common/properties.h"

#include <charconv>
#include <fstream>
#include <sstream>
#include <vector>

namespace hw::app {

namespace {

bool blank(char c) noexcept { return c == ' ' || c == '\t' || c == '\f'; }

// Natural lines joined where a line ends in an odd number of backslashes.
std::vector<std::pair<int, std::string>> logical_lines(std::string_view text) {
  std::vector<std::pair<int, std::string>> lines;
  std::string current;
  bool continuing = false;
  int number = 0;
  int started = 1;
  while (!text.empty()) {
    ++number;
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) {
      line.remove_suffix(1);
    }
    while (!line.empty() && blank(line.front())) {
      line.remove_prefix(1);
    }
    if (!continuing) {
      started = number;
      if (line.empty() || line.front() == '#' || line.front() == '!') {
        continue;
      }
    }
    std::size_t slashes = 0;
    while (slashes < line.size() && line[line.size() - 1 - slashes] == '\\') {
      ++slashes;
    }
    continuing = slashes % 2 == 1;
    current += continuing ? line.substr(0, line.size() - 1) : line;
    if (!continuing) {
      lines.emplace_back(started, std::move(current));
      current.clear();
    }
  }
  if (!current.empty()) {
    lines.emplace_back(started, std::move(current));
  }
  return lines;
}

void append_utf8(std::string& out, unsigned code) {
  if (code < 0x80U) {
    out.push_back(static_cast<char>(code));
  } else if (code < 0x800U) {
    out.push_back(static_cast<char>(0xc0U | code >> 6U));
    out.push_back(static_cast<char>(0x80U | (code & 0x3fU)));
  } else {
    out.push_back(static_cast<char>(0xe0U | code >> 12U));
    out.push_back(static_cast<char>(0x80U | (code >> 6U & 0x3fU)));
    out.push_back(static_cast<char>(0x80U | (code & 0x3fU)));
  }
}

Result<std::string> unescape(std::string_view text, int line) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out.push_back(text[i]);
      continue;
    }
    const char c = text[++i];
    switch (c) {
      case 'n':
        out.push_back('\n');
        break;
      case 't':
        out.push_back('\t');
        break;
      case 'r':
        out.push_back('\r');
        break;
      case 'f':
        out.push_back('\f');
        break;
      case 'u': {
        unsigned code = 0;
        const std::string_view digits = text.substr(i + 1, 4);
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
        if (error != std::errc() || end != digits.data() + 4 || digits.size() != 4) {
          return fail(Errc::invalid, "line " + std::to_string(line) + ": \\u needs four hexadecimal digits");
        }
        append_utf8(out, code);
        i += 4;
        break;
      }
      default:
        out.push_back(c);
    }
  }
  return out;
}

}  // namespace

Result<Properties> parse_properties(std::string_view text) {
  Properties out;
  for (const auto& [number, line] : logical_lines(text)) {
    std::size_t end = 0;
    while (end < line.size() && line[end] != '=' && line[end] != ':' && !blank(line[end])) {
      end += line[end] == '\\' && end + 1 < line.size() ? std::size_t{2} : std::size_t{1};
    }
    std::size_t value = end;
    while (value < line.size() && blank(line[value])) {
      ++value;
    }
    if (value < line.size() && (line[value] == '=' || line[value] == ':')) {
      ++value;
      while (value < line.size() && blank(line[value])) {
        ++value;
      }
    }
    HW_TRY(std::string key, unescape(std::string_view(line).substr(0, end), number));
    HW_TRY(std::string content, unescape(std::string_view(line).substr(value), number));
    out[std::move(key)] = std::move(content);
  }
  return out;
}

Result<Properties> read_properties(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return fail(Errc::not_found, "cannot read " + path);
  }
  std::ostringstream text;
  text << file.rdbuf();
  Result<Properties> parsed = parse_properties(text.str());
  if (!parsed) {
    return fail(parsed.error().code, path + ", " + parsed.error().detail);
  }
  return parsed;
}

Result<ListenerText> parse_listener(std::string_view text) {
  const std::size_t scheme = text.find("://");
  const std::size_t colon = text.rfind(':');
  ListenerText out;
  if (scheme == std::string_view::npos || colon == std::string_view::npos || colon < scheme + 3) {
    return fail(Errc::invalid, "'" + std::string(text) + "' is not a listener; write NAME://host:port");
  }
  out.name = text.substr(0, scheme);
  out.host = text.substr(scheme + 3, colon - scheme - 3);
  if (out.host.size() >= 2 && out.host.front() == '[' && out.host.back() == ']') {
    out.host = out.host.substr(1, out.host.size() - 2);
  }
  const std::string_view digits = text.substr(colon + 1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out.port);
  if (error != std::errc() || end != digits.data() + digits.size() || digits.empty()) {
    return fail(Errc::invalid, "'" + std::string(text) + "' has no port between 0 and 65535");
  }
  return out;
}

}  // namespace hw::app
