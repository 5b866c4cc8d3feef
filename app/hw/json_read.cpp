// SPDX-License-Identifier: Apache-2.0
#include "app/hw/json_read.h"

#include <fmt/core.h>

#include <cstdint>

namespace hw::app {
namespace {

constexpr int kDeepest = 64;

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<JsonValue> whole() {
    JsonValue value;
    if (!parse(value, 0)) {
      return fail(Errc::invalid, fmt::format("{} at character {}", problem_, at_ + 1));
    }
    blanks();
    if (at_ != text_.size()) {
      return fail(Errc::invalid, fmt::format("something follows the value at character {}", at_ + 1));
    }
    return value;
  }

 private:
  void blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r' || text_[at_] == '\n')) {
      ++at_;
    }
  }
  bool wrong(const char* problem) {
    problem_ = problem;
    return false;
  }
  bool take(char c) {
    blanks();
    if (at_ < text_.size() && text_[at_] == c) {
      ++at_;
      return true;
    }
    return false;
  }
  bool word(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) {
      return wrong("no JSON value");
    }
    at_ += word.size();
    return true;
  }

  bool parse(JsonValue& value, int depth) {
    if (depth > kDeepest) {
      return wrong("nested too deep");
    }
    blanks();
    const std::size_t begin = at_;
    if (at_ == text_.size()) {
      return wrong("a value is missing");
    }
    bool good = true;
    switch (text_[at_]) {
      case '{':
        value.kind = JsonValue::Kind::object;
        good = object(value, depth);
        break;
      case '[':
        value.kind = JsonValue::Kind::array;
        good = array(value, depth);
        break;
      case '"':
        value.kind = JsonValue::Kind::string;
        return string(value.text);
      case 't':
      case 'f':
        value.kind = JsonValue::Kind::boolean;
        good = word(text_[at_] == 't' ? "true" : "false");
        break;
      case 'n':
        value.kind = JsonValue::Kind::null;
        good = word("null");
        break;
      default:
        value.kind = JsonValue::Kind::number;
        good = number();
    }
    value.text = text_.substr(begin, at_ - begin);
    return good;
  }
  bool object(JsonValue& value, int depth) {
    ++at_;
    if (take('}')) {
      return true;
    }
    do {
      blanks();
      if (at_ == text_.size() || text_[at_] != '"') {
        return wrong("a name in quotes is missing");
      }
      auto& [name, member] = value.members.emplace_back();
      if (!string(name)) {
        return false;
      }
      if (!take(':')) {
        return wrong("':' is missing");
      }
      if (!parse(member, depth + 1)) {
        return false;
      }
    } while (take(','));
    return take('}') || wrong("',' or '}' is missing");
  }
  bool array(JsonValue& value, int depth) {
    ++at_;
    if (take(']')) {
      return true;
    }
    do {
      if (!parse(value.elements.emplace_back(), depth + 1)) {
        return false;
      }
    } while (take(','));
    return take(']') || wrong("',' or ']' is missing");
  }
  bool number() {
    const std::size_t begin = at_;
    const auto digits = [this] {
      const std::size_t from = at_;
      while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') {
        ++at_;
      }
      return at_ > from;
    };
    at_ += text_[at_] == '-' ? 1U : 0U;
    bool good = digits();
    if (good && at_ < text_.size() && text_[at_] == '.') {
      ++at_;
      good = digits();
    }
    if (good && at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
      ++at_;
      at_ += at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-') ? 1U : 0U;
      good = digits();
    }
    if (!good) {
      at_ = begin;
      return wrong("no JSON value");
    }
    return true;
  }
  bool hex4(std::uint32_t& code) {
    code = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      const char c = at_ < text_.size() ? text_[at_] : '?';
      const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
      if (digit < 0) {
        return wrong("\\u needs four hexadecimal digits");
      }
      code = code * 16 + static_cast<std::uint32_t>(digit);
    }
    return true;
  }
  static void put(std::string& out, std::uint32_t code) {
    const auto byte = [&](std::uint32_t b) { out.push_back(static_cast<char>(b)); };
    if (code < 0x80) {
      byte(code);
    } else if (code < 0x800) {
      byte(0xc0U | code >> 6U);
      byte(0x80U | (code & 0x3fU));
    } else if (code < 0x10000) {
      byte(0xe0U | code >> 12U);
      byte(0x80U | (code >> 6U & 0x3fU));
      byte(0x80U | (code & 0x3fU));
    } else {
      byte(0xf0U | code >> 18U);
      byte(0x80U | (code >> 12U & 0x3fU));
      byte(0x80U | (code >> 6U & 0x3fU));
      byte(0x80U | (code & 0x3fU));
    }
  }
  bool escape(std::string& out) {
    const char c = at_ < text_.size() ? text_[at_++] : '\0';
    switch (c) {
      case '"':
      case '\\':
      case '/':
        out.push_back(c);
        return true;
      case 'b':
        out.push_back('\b');
        return true;
      case 'f':
        out.push_back('\f');
        return true;
      case 'n':
        out.push_back('\n');
        return true;
      case 'r':
        out.push_back('\r');
        return true;
      case 't':
        out.push_back('\t');
        return true;
      case 'u':
        break;
      default:
        return wrong("an unknown escape");
    }
    std::uint32_t code = 0;
    if (!hex4(code)) {
      return false;
    }
    if (code >= 0xd800 && code < 0xdc00) {
      std::uint32_t low = 0;
      if (!text_.substr(at_).starts_with("\\u")) {
        return wrong("half of a surrogate pair");
      }
      at_ += 2;
      if (!hex4(low)) {
        return false;
      }
      if (low < 0xdc00 || low > 0xdfff) {
        return wrong("half of a surrogate pair");
      }
      code = 0x10000 + ((code - 0xd800) << 10U) + (low - 0xdc00);
    } else if (code >= 0xdc00 && code < 0xe000) {
      return wrong("half of a surrogate pair");
    }
    put(out, code);
    return true;
  }
  bool string(std::string& out) {
    ++at_;
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '"') {
        return true;
      }
      if (static_cast<unsigned char>(c) < 0x20) {
        return wrong("a control character in a string");
      }
      if (c != '\\') {
        out.push_back(c);
      } else if (!escape(out)) {
        return false;
      }
    }
    return wrong("a string does not end");
  }

  std::string_view text_;
  std::size_t at_ = 0;
  const char* problem_ = "";
};

}  // namespace

const JsonValue* JsonValue::find(std::string_view name) const {
  for (const auto& [key, value] : members) {
    if (key == name) {
      return &value;
    }
  }
  return nullptr;
}

Result<JsonValue> parse_json(std::string_view text) { return Parser(text).whole(); }

std::optional<std::string> decode_base64(std::string_view text) {
  std::string out;
  std::uint32_t word = 0;
  int bits = 0;
  std::size_t padding = 0;
  for (const char c : text) {
    const int digit = c >= 'A' && c <= 'Z'   ? c - 'A'
                      : c >= 'a' && c <= 'z' ? c - 'a' + 26
                      : c >= '0' && c <= '9' ? c - '0' + 52
                      : c == '+'             ? 62
                      : c == '/'             ? 63
                                             : -1;
    if (c == '=') {
      ++padding;
      continue;
    }
    if (digit < 0 || padding > 0) {
      return std::nullopt;
    }
    word = word << 6U | static_cast<std::uint32_t>(digit);
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      out.push_back(static_cast<char>(word >> static_cast<unsigned>(bits)));
      word &= (1U << static_cast<unsigned>(bits)) - 1;
    }
  }
  if (padding > 2 || text.size() % 4 != 0 || word != 0) {
    return std::nullopt;
  }
  return out;
}

}  // namespace hw::app
