// SPDX-License-Identifier: Apache-2.0
// What `hw` prints: lines for people, JSON for programs, errors with what to do.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/hw/commands.h"
#include "engine/base/bytes.h"
#include "engine/base/result.h"

namespace hw::app {

// One JSON object, written in order of the calls; nested text goes in with raw().
class JsonObject {
 public:
  JsonObject& text(std::string_view name, std::string_view value);
  JsonObject& number(std::string_view name, std::int64_t value);
  JsonObject& boolean(std::string_view name, bool value);
  JsonObject& null(std::string_view name);
  // UTF-8 text as a string, null as null, anything else as `name_base64`.
  JsonObject& bytes(std::string_view name, const std::optional<Bytes>& value);
  JsonObject& raw(std::string_view name, std::string_view json);
  [[nodiscard]] std::string str() const { return "{" + body_ + "}"; }

 private:
  void key(std::string_view name);
  std::string body_;
};
[[nodiscard]] std::string json_string(std::string_view text);
[[nodiscard]] std::string json_array(const std::vector<std::string>& elements);
[[nodiscard]] bool is_utf8(std::string_view text) noexcept;
[[nodiscard]] std::string base64(std::string_view bytes);

// [{"name":…,"value":…}] with values as JsonObject::bytes writes them.
[[nodiscard]] std::string json_headers(const std::vector<std::pair<std::string, std::optional<Bytes>>>& headers);

// How far long work is, on stderr, rewritten in place; silent where stderr is no terminal and in the first second.
class Progress {
 public:
  Progress(std::string verb, std::uint64_t total_bytes);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void at(std::uint64_t more_bytes);
  void clear();  // before something else is printed

 private:
  std::string verb_;
  std::uint64_t total_;
  std::uint64_t done_ = 0;
  std::chrono::steady_clock::time_point next_;
  bool terminal_;
  bool shown_ = false;
};

// Columns as wide as their widest cell; the first row is the head.
void print_table(const std::vector<std::vector<std::string>>& rows);

// Prints the error (as JSON on stderr with --json) and gives the exit code for it.
int report(const Error& error, const Common& common);
[[nodiscard]] Exit exit_of(const Error& error) noexcept;
// A wrong argument, in words. Exit::usage.
int wrong(const std::string& what);

// "name=value"; nullopt where there is no '='.
[[nodiscard]] std::optional<std::pair<std::string, std::string>> split_pair(const std::string& text);

}  // namespace hw::app
