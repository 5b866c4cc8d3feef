// SPDX-License-Identifier: Apache-2.0
// Rules about the source tree that a machine can check. Pure functions over text, so that they have tests themselves.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace hw::tidy {

struct Finding {
  int line = 0;  // from 1; 0: the whole file
  std::string what;
};

// SPDX line, tabs, trailing blanks, left-over reminders.
std::vector<Finding> check_text(std::string_view path, std::string_view text);
// Words that are banned where `path` lies, each with what to use instead.
std::vector<Finding> check_words(std::string_view path, std::string_view text);

// Counts in texts of the window: %Ln writes 12,402 as the language does and picks its plural form; %n does half of it.
std::vector<Finding> check_counts(std::string_view path, std::string_view text);

// engine/module.cmake: module → modules it may name.
using Arrows = std::map<std::string, std::set<std::string>>;
Arrows parse_arrows(std::string_view module_cmake);
// The module of an engine header or source ("engine/wire/record/batch.h" → "wire_record"); nullopt outside engine.
std::optional<std::string> module_of(std::string_view path, const Arrows& arrows);
std::vector<Finding> check_includes(std::string_view path, std::string_view text, const Arrows& arrows);
// The five headings of a folder's README.
std::vector<Finding> check_readme(std::string_view text);

}  // namespace hw::tidy
