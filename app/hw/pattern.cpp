// SPDX-License-Identifier: Apache-2.0
#include "app/hw/pattern.h"

#include <fmt/core.h>
#include <regex.h>

#include <algorithm>
#include <array>

#include "app/hw/text.h"

namespace hw::app {
namespace {

constexpr std::array<std::string_view, 11> kFields{"topic", "partition", "offset", "time", "timestamp", "key",
                                                   "value", "headers", "header", "key_size", "value_size"};

std::string raw(const std::optional<Bytes>& bytes) { return bytes ? std::string(bytes->text()) : std::string(); }
std::string size_of(const std::optional<Bytes>& bytes) { return bytes ? std::to_string(bytes->size()) : "-1"; }

}  // namespace

struct Pattern::Compiled {
  regex_t expression{};
  bool good = false;
  ~Compiled() {
    if (good) {
      regfree(&expression);
    }
  }
};

Result<Pattern> Pattern::make(const std::string& expression) {
  Pattern pattern;
  pattern.compiled_ = std::make_shared<Compiled>();
  const int error = regcomp(&pattern.compiled_->expression, expression.c_str(), REG_EXTENDED | REG_NEWLINE);
  if (error != 0) {
    std::array<char, 256> words{};
    regerror(error, &pattern.compiled_->expression, words.data(), words.size());
    return fail(Errc::invalid, fmt::format("'{}': {}", expression, words.data()));
  }
  pattern.compiled_->good = true;
  return pattern;
}

bool Pattern::found_in(std::string_view text) const {
  regmatch_t range{};
  range.rm_so = 0;
  range.rm_eo = static_cast<regoff_t>(text.size());
  return regexec(&compiled_->expression, text.empty() ? "" : text.data(), 1, &range, REG_STARTEND) == 0;
}

Result<Template> Template::parse(std::string_view text) {
  HW_TRY(const std::string plain, unescape(text));
  Template out;
  std::string literal;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    if (plain[i] != '{' || (i + 1 < plain.size() && plain[i + 1] == '{')) {
      literal.push_back(plain[i]);
      i += plain[i] == '{' ? 1U : 0U;
      continue;
    }
    const std::size_t close = plain.find('}', i);
    if (close == std::string::npos) {
      return fail(Errc::invalid, fmt::format("'{}': a '{{' without '}}'; write {{{{ for a brace", text));
    }
    const std::string inside = plain.substr(i + 1, close - i - 1);
    Part part{std::exchange(literal, {}), inside.substr(0, inside.find(':')), ""};
    if (inside.find(':') != std::string::npos) {
      part.argument = inside.substr(inside.find(':') + 1);
    }
    if (std::find(kFields.begin(), kFields.end(), part.field) == kFields.end()) {
      const std::string near = nearest(part.field, std::vector<std::string>(kFields.begin(), kFields.end()));
      return fail(Errc::invalid, fmt::format("there is no {{{}}}{}", part.field, near.empty() ? "" : fmt::format("; did you mean {{{}}}?", near)));
    }
    out.parts_.push_back(std::move(part));
    i = close;
  }
  out.parts_.push_back({std::move(literal), "", ""});
  return out;
}

void Template::print(const node::IncomingRecord& record, std::string& into) const {
  for (const Part& part : parts_) {
    into += part.literal;
    if (part.field == "topic") {
      into += record.topic;
    } else if (part.field == "partition") {
      into += std::to_string(record.partition);
    } else if (part.field == "offset") {
      into += std::to_string(record.offset);
    } else if (part.field == "time") {
      into += time_text(record.timestamp_ms);
    } else if (part.field == "timestamp") {
      into += std::to_string(record.timestamp_ms);
    } else if (part.field == "key") {
      into += part.argument == "raw" ? raw(record.key) : printable(record.key);
    } else if (part.field == "value") {
      into += part.argument == "raw" ? raw(record.value) : printable(record.value);
    } else if (part.field == "key_size") {
      into += size_of(record.key);
    } else if (part.field == "value_size") {
      into += size_of(record.value);
    } else if (part.field == "headers" || part.field == "header") {
      bool first = true;
      for (const auto& [name, value] : record.headers) {
        if (part.field == "headers") {
          into += fmt::format("{}{}={}", first ? "" : ",", printable(name), printable(value));
          first = false;
        } else if (name == part.argument) {
          into += printable(value);
          break;
        }
      }
    }
  }
}

}  // namespace hw::app
