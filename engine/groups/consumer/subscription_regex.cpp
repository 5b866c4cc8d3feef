// SPDX-License-Identifier: Apache-2.0
#include "engine/groups/consumer/subscription_regex.h"

#include <re2/re2.h>

namespace hw::groups {
namespace {

RE2::Options options() {
  RE2::Options options;
  options.set_log_errors(false);
  return options;
}

// (?<name>…), which Kafka's library reads as well, to (?P<name>…), the only form that all versions
// of RE2 read. Quotes (\Q…\E), escapes and classes stay as they are.
std::string with_known_groups(const std::string& regex) {
  std::string known;
  bool quoted = false;
  std::size_t class_from = std::string::npos;  // where its first character would be
  for (std::size_t i = 0; i < regex.size(); ++i) {
    const std::string_view rest = std::string_view(regex).substr(i);
    known += regex[i];
    if (quoted || rest.starts_with("\\Q")) {
      quoted = !rest.starts_with("\\E");
    } else if (rest.front() == '\\' && rest.size() > 1) {
      known += regex[++i];
    } else if (class_from != std::string::npos) {
      // A bracket that comes first belongs to the class.
      class_from = rest.front() == ']' && i > class_from ? std::string::npos : class_from;
    } else if (rest.front() == '[') {
      class_from = i + (rest.starts_with("[^") ? 2 : 1);
    } else if (rest.starts_with("(?<")) {
      known += "?P";
      ++i;
    }
  }
  return known;
}

const char* words(RE2::ErrorCode code) noexcept {
  switch (code) {
    case RE2::ErrorBadEscape:
      return "invalid escape sequence";
    case RE2::ErrorBadCharClass:
    case RE2::ErrorBadCharRange:
      return "invalid character class range";
    case RE2::ErrorMissingBracket:
      return "missing closing ]";
    case RE2::ErrorMissingParen:
      return "missing closing )";
    case RE2::ErrorUnexpectedParen:
      return "unexpected )";
    case RE2::ErrorTrailingBackslash:
      return "trailing backslash at end of expression";
    case RE2::ErrorRepeatArgument:
      return "missing argument to repetition operator";
    case RE2::ErrorRepeatSize:
      return "invalid repeat count";
    case RE2::ErrorRepeatOp:
      return "invalid nested repetition operator";
    case RE2::ErrorBadPerlOp:
      return "invalid or unsupported Perl syntax";
    case RE2::ErrorBadUTF8:
      return "invalid UTF-8";
    case RE2::ErrorBadNamedCapture:
      return "invalid named capture";
    case RE2::ErrorPatternTooLarge:
      return "expression too large";
    case RE2::NoError:
    case RE2::ErrorInternal:
      break;
  }
  return "not understood";
}

}  // namespace

std::optional<std::string> subscription_regex_error(const std::string& regex) {
  const RE2 compiled(with_known_groups(regex), options());
  return compiled.ok() ? std::nullopt : std::optional<std::string>(words(compiled.error_code()));
}

std::vector<std::string> matching_topics(const std::string& regex,
                                         std::span<const std::string_view> topics) {
  std::vector<std::string> matching;
  const RE2 compiled(with_known_groups(regex), options());
  if (!compiled.ok()) {
    return matching;
  }
  for (const std::string_view topic : topics) {
    if (RE2::FullMatch({topic.data(), topic.size()}, compiled)) {
      matching.emplace_back(topic);
    }
  }
  return matching;
}

}  // namespace hw::groups
