// SPDX-License-Identifier: Apache-2.0
// A POSIX extended regular expression over bytes, and the templates that `hw consume --format` takes.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/node/client_runner.h"

namespace hw::app {

class Pattern {
 public:
  // Errc::invalid: the library's words.
  static Result<Pattern> make(const std::string& expression);
  [[nodiscard]] bool found_in(std::string_view text) const;

 private:
  struct Compiled;
  std::shared_ptr<Compiled> compiled_;
};

// "{offset} {key}={value}\n": {topic} {partition} {offset} {time} {timestamp} {key} {value} {headers} {key_size} {value_size};
// {key:raw} and {value:raw} are the bytes as they are, {header:NAME} is one header. "{{" is a brace. Escapes as unescape().
class Template {
 public:
  static Result<Template> parse(std::string_view text);
  void print(const node::IncomingRecord& record, std::string& into) const;

 private:
  struct Part {
    std::string literal;
    std::string field;   // empty: only the literal
    std::string argument;
  };
  std::vector<Part> parts_;
};

}  // namespace hw::app
