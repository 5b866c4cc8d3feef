// SPDX-License-Identifier: Apache-2.0
#include "ui/filter/json_path.h"

#include <charconv>
#include <cstddef>

namespace hw::ui::filter {

namespace {

constexpr int kMaxDepth = 256;

class Walk {
 public:
  explicit Walk(std::string_view text) : text_(text) {}

  [[nodiscard]] bool done() const { return at_ >= text_.size(); }
  [[nodiscard]] char peek() const { return done() ? '\0' : text_[at_]; }
  void space() {
    while (!done() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r')) {
      ++at_;
    }
  }
  bool eat(char c) {
    space();
    if (peek() != c || done()) {
      return false;
    }
    ++at_;
    return true;
  }
  // The inside of a string, escapes untouched.
  bool string(std::string_view& inside, bool& escapes) {
    space();
    if (peek() != '"' || done()) {
      return false;
    }
    const std::size_t begin = ++at_;
    escapes = false;
    while (!done()) {
      if (text_[at_] == '\\') {
        escapes = true;
        at_ += 2;
      } else if (text_[at_] == '"') {
        inside = text_.substr(begin, at_ - begin);
        ++at_;
        return true;
      } else {
        ++at_;
      }
    }
    return false;
  }
  // Over one value of any kind; structure is followed, scalars are not checked.
  bool skip(std::string_view& all) {
    space();
    const std::size_t begin = at_;
    int depth = 0;
    do {
      space();
      if (done()) {
        return false;
      }
      const char c = text_[at_];
      if (c == '"') {
        std::string_view inside;
        bool escapes = false;
        if (!string(inside, escapes)) {
          return false;
        }
      } else if (c == '{' || c == '[') {
        ++at_;
        if (++depth > kMaxDepth) {
          return false;
        }
      } else if (c == '}' || c == ']') {
        ++at_;
        if (--depth < 0) {
          return false;
        }
      } else if (c == ',' || c == ':') {
        if (depth == 0) {
          return false;
        }
        ++at_;
      } else {
        const std::size_t from = at_;
        while (!done() && text_[at_] != ',' && text_[at_] != '}' && text_[at_] != ']' && text_[at_] != ':' &&
               static_cast<unsigned char>(text_[at_]) > 0x20) {
          ++at_;
        }
        if (at_ == from) {
          return false;
        }
      }
    } while (depth > 0);
    all = text_.substr(begin, at_ - begin);
    return true;
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

void append_utf8(std::string& out, std::uint32_t c) {
  const auto put = [&out](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xc0U | (c >> 6));
    put(0x80U | (c & 0x3fU));
  } else if (c < 0x10000) {
    put(0xe0U | (c >> 12));
    put(0x80U | ((c >> 6) & 0x3fU));
    put(0x80U | (c & 0x3fU));
  } else {
    put(0xf0U | (c >> 18));
    put(0x80U | ((c >> 12) & 0x3fU));
    put(0x80U | ((c >> 6) & 0x3fU));
    put(0x80U | (c & 0x3fU));
  }
}

std::string unescape(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 >= text.size()) {
      out += text[i];
      continue;
    }
    const auto hex4 = [&text](std::size_t from, std::uint32_t& value) {
      return from + 4 <= text.size() &&
             std::from_chars(text.data() + from, text.data() + from + 4, value, 16).ptr == text.data() + from + 4;
    };
    switch (text[++i]) {
      case 'n':
        out += '\n';
        break;
      case 't':
        out += '\t';
        break;
      case 'r':
        out += '\r';
        break;
      case 'b':
        out += '\b';
        break;
      case 'f':
        out += '\f';
        break;
      case 'u': {
        std::uint32_t c = 0;
        if (!hex4(i + 1, c)) {
          break;
        }
        i += 4;
        std::uint32_t low = 0;
        if (c >= 0xd800 && c < 0xdc00 && i + 2 < text.size() && text[i + 1] == '\\' && text[i + 2] == 'u' &&
            hex4(i + 3, low) && low >= 0xdc00 && low < 0xe000) {
          c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
          i += 6;
        }
        append_utf8(out, c);
        break;
      }
      default:
        out += text[i];
    }
  }
  return out;
}

Datum scalar(std::string_view text, std::string& unescaped) {
  if (text.empty()) {
    return {};
  }
  if (text.front() == '"') {
    const std::string_view inside = text.substr(1, text.size() - 2);
    if (inside.find('\\') == std::string_view::npos) {
      return Datum::ofText(inside);
    }
    unescaped = unescape(inside);
    return Datum::ofText(unescaped);
  }
  if (text.front() == '{' || text.front() == '[') {
    return Datum::ofText(text);
  }
  if (text == "null") {
    return Datum::ofNull();
  }
  if (text == "true" || text == "false") {
    return Datum::ofBool(text == "true");
  }
  const char* end = text.data() + text.size();
  std::int64_t whole = 0;
  if (const auto r = std::from_chars(text.data(), end, whole); r.ec == std::errc() && r.ptr == end) {
    return Datum::ofNumber(whole);
  }
  double real = 0.0;
  if (const auto r = std::from_chars(text.data(), end, real); r.ec == std::errc() && r.ptr == end) {
    return Datum::ofReal(real);
  }
  return {};
}

}  // namespace

Datum json_find(std::string_view json, const std::vector<PathStep>& path, std::string& unescaped) {
  Walk walk(json);
  for (const PathStep& step : path) {
    bool found = false;
    if (step.index >= 0) {
      if (!walk.eat('[')) {
        return {};
      }
      for (std::int64_t i = 0; !found; ++i) {
        walk.space();
        if (walk.peek() == ']') {
          return {};
        }
        if (i == step.index) {
          found = true;
          break;
        }
        std::string_view skipped;
        if (!walk.skip(skipped) || !walk.eat(',')) {
          return {};
        }
      }
    } else {
      if (!walk.eat('{')) {
        return {};
      }
      while (!found) {
        std::string_view name;
        bool escapes = false;
        if (!walk.string(name, escapes) || !walk.eat(':')) {
          return {};
        }
        if (escapes ? unescape(name) == step.name : name == step.name) {
          found = true;
          break;
        }
        std::string_view skipped;
        if (!walk.skip(skipped) || !walk.eat(',')) {
          return {};
        }
      }
    }
  }
  std::string_view all;
  return walk.skip(all) ? scalar(all, unescaped) : Datum{};
}

}  // namespace hw::ui::filter
