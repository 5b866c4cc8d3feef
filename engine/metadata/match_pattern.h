// SPDX-License-Identifier: Apache-2.0
// MatchPattern: the regular expressions of client metrics subscriptions (KIP-714), matched against a whole text.
//
// The everyday part of java.util.regex: literals, '.', classes, \d \w \s and their opposites, \Q…\E, groups, |, * + ? {n,m}
// and their reluctant forms, ^ and $. What would need backtracking (back references, look-around, possessive quantifiers) is
// refused with a sentence. Matching takes time in proportion to text times pattern, whatever both are.
// Thread rule: immutable after compile().
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"

namespace hw::metadata {

class MatchPattern {
 public:
  static Result<MatchPattern> compile(std::string_view expression);
  [[nodiscard]] bool matches(std::string_view text) const;

 private:
  friend class PatternParser;
  struct Range {
    char32_t low;
    char32_t high;
  };
  struct Step {
    enum class Kind : std::uint8_t { one_of, split, jump, at_begin, at_end, accept };
    Kind kind = Kind::accept;
    bool negated = false;        // one_of
    std::vector<Range> ranges;   // one_of
    std::uint32_t next = 0;      // split, jump
    std::uint32_t other = 0;     // split
  };
  void follow(std::vector<std::uint32_t>& states, std::vector<bool>& seen, std::uint32_t start, bool begin, bool end) const;

  std::vector<Step> steps_;
};

}  // namespace hw::metadata
