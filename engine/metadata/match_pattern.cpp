// SPDX-License-Identifier: Apache-2.0
#include "engine/metadata/match_pattern.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace hw::metadata {
namespace {

constexpr std::size_t kStepsMax = 2'000;
constexpr std::size_t kRepeatMax = 1'000;
constexpr int kDepthMax = 100;

// Code points of a UTF-8 text; bytes that are none stand for themselves.
std::u32string code_points(std::string_view text) {
  std::u32string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t length = lead < 0x80 ? 1 : lead >> 5U == 6 ? 2 : lead >> 4U == 14 ? 3 : lead >> 3U == 30 ? 4 : 1;
    char32_t point = length == 1 ? lead : lead & (0xFFU >> (length + 1));
    bool whole = i + length <= text.size();
    for (std::size_t k = 1; whole && k < length; ++k) {
      const auto next = static_cast<unsigned char>(text[i + k]);
      whole = next >> 6U == 2;
      point = point << 6U | (next & 0x3FU);
    }
    result.push_back(whole ? point : lead);
    i += whole ? length : 1;
  }
  return result;
}

}  // namespace

class PatternParser {
 public:
  using Step = MatchPattern::Step;
  using Range = MatchPattern::Range;
  explicit PatternParser(std::string_view text) : text_(code_points(text)) {}

  Result<MatchPattern> parse() {
    MatchPattern pattern;
    steps_ = &pattern.steps_;
    alternatives(0);
    if (problem_.empty() && at_ < text_.size()) {
      problem_ = "a ) has no (";
    }
    if (!problem_.empty()) {
      return fail(Errc::invalid, problem_);
    }
    add({Step::Kind::accept, false, {}, 0, 0});
    return pattern;
  }

 private:
  [[nodiscard]] bool more() const { return problem_.empty() && at_ < text_.size(); }
  [[nodiscard]] bool looking_at(char32_t c) const { return more() && text_[at_] == c; }
  bool take(char32_t c) {
    if (!looking_at(c)) {
      return false;
    }
    ++at_;
    return true;
  }
  void refuse(const char* why) {
    if (problem_.empty()) {
      problem_ = why;
    }
  }
  [[nodiscard]] std::uint32_t here() const { return static_cast<std::uint32_t>(steps_->size()); }
  std::uint32_t add(Step step) {
    if (steps_->size() >= kStepsMax) {
      refuse("the expression is too large");
      return 0;
    }
    steps_->push_back(std::move(step));
    return here() - 1;
  }
  // Makes room for a step before `from`; what follows moves and its targets with it.
  void insert(std::uint32_t from, Step step) {
    if (add({}) == 0 && !problem_.empty()) {
      return;
    }
    for (std::uint32_t i = here() - 1; i > from; --i) {
      (*steps_)[i] = std::move((*steps_)[i - 1]);
    }
    (*steps_)[from] = std::move(step);
    for (std::uint32_t i = from + 1; i < here(); ++i) {
      Step& moved = (*steps_)[i];
      moved.next += moved.next >= from && moved.kind != Step::Kind::one_of ? 1 : 0;
      moved.other += moved.other >= from && moved.kind == Step::Kind::split ? 1 : 0;
    }
  }

  void alternatives(int depth) {
    if (depth > kDepthMax) {
      refuse("groups are nested too deeply");
      return;
    }
    const std::uint32_t begin = here();
    sequence(depth);
    if (take(U'|')) {
      insert(begin, {Step::Kind::split, false, {}, begin + 1, 0});
      const std::uint32_t jump = add({Step::Kind::jump, false, {}, 0, 0});
      if (!problem_.empty()) {
        return;
      }
      (*steps_)[begin].other = here();
      alternatives(depth + 1);
      (*steps_)[jump].next = here();
    }
  }

  void sequence(int depth) {
    while (more() && text_[at_] != U'|' && text_[at_] != U')') {
      const std::uint32_t begin = here();
      atom(depth);
      if (problem_.empty()) {
        quantifier(std::max(begin, quoted_));
      }
      quoted_ = 0;
    }
  }

  void atom(int depth) {
    const char32_t c = text_[at_++];
    switch (c) {
      case U'(': {
        if (take(U'?')) {
          if (take(U'<') && !looking_at(U'=') && !looking_at(U'!')) {
            while (more() && !looking_at(U'>')) {
              ++at_;
            }
            take(U'>');
          } else if (!take(U':')) {
            refuse("look-around and flags are not supported");
          }
        }
        alternatives(depth + 1);
        if (!take(U')')) {
          refuse("a ( has no )");
        }
        return;
      }
      case U'*':
      case U'+':
      case U'?': refuse("a quantifier follows nothing"); return;
      case U'[': char_class(); return;
      case U'.': add({Step::Kind::one_of, true, {{U'\n', U'\n'}, {U'\r', U'\r'}}, 0, 0}); return;
      case U'^': add({Step::Kind::at_begin, false, {}, 0, 0}); return;
      case U'$': add({Step::Kind::at_end, false, {}, 0, 0}); return;
      case U'\\': escape(); return;
      default: add({Step::Kind::one_of, false, {{c, c}}, 0, 0}); return;
    }
  }

  // \d and the like; nothing where `c` is no class.
  static std::optional<std::pair<std::vector<Range>, bool>> named_class(char32_t c) {
    const std::vector<Range> digit = {{U'0', U'9'}};
    const std::vector<Range> word = {{U'a', U'z'}, {U'A', U'Z'}, {U'0', U'9'}, {U'_', U'_'}};
    const std::vector<Range> space = {{U' ', U' '}, {U'\t', U'\r'}};
    switch (c) {
      case U'd': return std::pair(digit, false);
      case U'D': return std::pair(digit, true);
      case U'w': return std::pair(word, false);
      case U'W': return std::pair(word, true);
      case U's': return std::pair(space, false);
      case U'S': return std::pair(space, true);
      default: return std::nullopt;
    }
  }
  static bool is_letter(char32_t c) { return (c >= U'a' && c <= U'z') || (c >= U'A' && c <= U'Z'); }
  std::optional<char32_t> escaped_char(char32_t c) {
    switch (c) {
      case U't': return U'\t';
      case U'n': return U'\n';
      case U'r': return U'\r';
      default: break;
    }
    if (is_letter(c) || (c >= U'0' && c <= U'9')) {
      refuse("this escape is not supported");
      return std::nullopt;
    }
    return c;
  }

  void escape() {
    if (!more()) {
      refuse("the expression ends in a backslash");
      return;
    }
    const char32_t c = text_[at_++];
    if (c == U'Q') {
      while (more() && !(text_[at_] == U'\\' && at_ + 1 < text_.size() && text_[at_ + 1] == U'E')) {
        quoted_ = here();
        add({Step::Kind::one_of, false, {{text_[at_], text_[at_]}}, 0, 0});
        ++at_;
      }
      at_ = std::min(at_ + 2, text_.size());
      return;
    }
    if (c == U'A' || c == U'z') {
      add({c == U'A' ? Step::Kind::at_begin : Step::Kind::at_end, false, {}, 0, 0});
      return;
    }
    if (auto known = named_class(c)) {
      add({Step::Kind::one_of, known->second, std::move(known->first), 0, 0});
      return;
    }
    if (const std::optional<char32_t> literal = escaped_char(c)) {
      add({Step::Kind::one_of, false, {{*literal, *literal}}, 0, 0});
    }
  }

  void char_class() {
    Step step{Step::Kind::one_of, take(U'^'), {}, 0, 0};
    bool first = true;
    while (more() && (first || text_[at_] != U']')) {
      first = false;
      char32_t low = text_[at_++];
      if (low == U'[' || (low == U'&' && looking_at(U'&'))) {
        refuse("classes within classes are not supported");
        return;
      }
      if (low == U'\\') {
        if (!more()) {
          break;
        }
        const char32_t c = text_[at_++];
        if (const auto known = named_class(c)) {
          if (known->second) {
            refuse("\\D, \\W and \\S within a class are not supported");
            return;
          }
          step.ranges.insert(step.ranges.end(), known->first.begin(), known->first.end());
          continue;
        }
        const std::optional<char32_t> literal = escaped_char(c);
        if (!literal) {
          return;
        }
        low = *literal;
      }
      char32_t high = low;
      if (looking_at(U'-') && at_ + 1 < text_.size() && text_[at_ + 1] != U']') {
        ++at_;
        high = text_[at_++];
        if (high == U'\\' && more()) {
          high = escaped_char(text_[at_++]).value_or(low);
        }
      }
      if (high < low) {
        refuse("a range of a class runs backwards");
        return;
      }
      step.ranges.push_back({low, high});
    }
    if (!take(U']')) {
      refuse("a [ has no ]");
      return;
    }
    add(std::move(step));
  }

  std::optional<std::size_t> number() {
    std::optional<std::size_t> value;
    while (more() && text_[at_] >= U'0' && text_[at_] <= U'9') {
      value = std::min<std::size_t>(value.value_or(0) * 10 + (text_[at_] - U'0'), kRepeatMax + 1);
      ++at_;
    }
    return value;
  }

  void quantifier(std::uint32_t begin) {
    std::size_t least = 1;
    std::optional<std::size_t> most = 1;
    if (take(U'*')) {
      least = 0;
      most.reset();
    } else if (take(U'+')) {
      most.reset();
    } else if (take(U'?')) {
      least = 0;
    } else if (take(U'{')) {
      const std::optional<std::size_t> low = number();
      if (!low) {
        refuse("a { is followed by no number");
        return;
      }
      least = *low;
      most = least;
      if (take(U',')) {
        most = number();
      }
      if (!take(U'}') || (most && *most < least) || least > kRepeatMax || most.value_or(0) > kRepeatMax) {
        refuse("a repetition must be {n}, {n,} or {n,m} with n up to m up to 1000");
        return;
      }
    } else {
      return;
    }
    if (looking_at(U'+')) {
      refuse("possessive quantifiers are not supported");
      return;
    }
    take(U'?');  // the whole text must match, so reluctance makes no difference
    repeat(begin, least, most);
  }

  void repeat(std::uint32_t begin, std::size_t least, std::optional<std::size_t> most) {
    const std::vector<Step> unit(steps_->begin() + begin, steps_->end());
    steps_->resize(begin);
    const auto again = [&] {
      const std::uint32_t shift = here() - begin;
      for (Step step : unit) {
        if (step.kind != Step::Kind::one_of) {
          step.next += shift;
          step.other += shift;
        }
        add(std::move(step));
      }
    };
    for (std::size_t i = 0; i < least && problem_.empty(); ++i) {
      again();
    }
    if (!most) {
      const std::uint32_t split = add({Step::Kind::split, false, {}, here() + 1, 0});
      again();
      add({Step::Kind::jump, false, {}, split, 0});
      if (problem_.empty()) {
        (*steps_)[split].other = here();
      }
      return;
    }
    std::vector<std::uint32_t> splits;
    for (std::size_t i = least; i < *most && problem_.empty(); ++i) {
      splits.push_back(add({Step::Kind::split, false, {}, here() + 1, 0}));
      again();
    }
    if (problem_.empty()) {
      for (const std::uint32_t split : splits) {
        (*steps_)[split].other = here();
      }
    }
  }

  std::u32string text_;
  std::size_t at_ = 0;
  std::vector<Step>* steps_ = nullptr;
  std::uint32_t quoted_ = 0;  // the last character of a quotation: a quantifier behind it is about that one
  std::string problem_;
};

Result<MatchPattern> MatchPattern::compile(std::string_view expression) { return PatternParser(expression).parse(); }

void MatchPattern::follow(std::vector<std::uint32_t>& states, std::vector<bool>& seen, std::uint32_t start, bool begin,
                          bool end) const {
  std::vector<std::uint32_t> open = {start};
  while (!open.empty()) {
    const std::uint32_t at = open.back();
    open.pop_back();
    if (seen[at]) {
      continue;
    }
    seen[at] = true;
    const Step& step = steps_[at];
    switch (step.kind) {
      case Step::Kind::one_of:
      case Step::Kind::accept: states.push_back(at); break;
      case Step::Kind::split:
        open.push_back(step.other);
        open.push_back(step.next);
        break;
      case Step::Kind::jump: open.push_back(step.next); break;
      case Step::Kind::at_begin:
        if (begin) {
          open.push_back(at + 1);
        }
        break;
      case Step::Kind::at_end:
        if (end) {
          open.push_back(at + 1);
        }
        break;
    }
  }
}

bool MatchPattern::matches(std::string_view text) const {
  const std::u32string points = code_points(text);
  std::vector<std::uint32_t> states;
  std::vector<std::uint32_t> next;
  std::vector<bool> seen(steps_.size());
  follow(states, seen, 0, true, points.empty());
  for (std::size_t i = 0; i < points.size(); ++i) {
    next.clear();
    seen.assign(steps_.size(), false);
    for (const std::uint32_t at : states) {
      const Step& step = steps_[at];
      if (step.kind != Step::Kind::one_of) {
        continue;
      }
      const bool inside = std::any_of(step.ranges.begin(), step.ranges.end(),
                                      [&](const Range& range) { return points[i] >= range.low && points[i] <= range.high; });
      if (inside != step.negated) {
        follow(next, seen, at + 1, false, i + 1 == points.size());
      }
    }
    std::swap(states, next);
  }
  return std::any_of(states.begin(), states.end(),
                     [this](std::uint32_t at) { return steps_[at].kind == Step::Kind::accept; });
}

}  // namespace hw::metadata
