// SPDX-License-Identifier: Apache-2.0
// The filter language: text in, a Program or one Problem out, and what could stand at the cursor.
//
//   topic == "orders" && key ~ "^42" && hdr["trace"] == "ab"
//   offset in 10..20                    both ends included
//   time >= "12:03"                     today; also "2026-11-29 12:03:31.004", and -5 min (ago)
//   value.customer.id == 3              a place in JSON; value["odd name"][0]
//   size > 1 KiB                        B, KB, KiB … ; ms, s, min, h, d for durations
//   key is null · value is empty · tombstone · hdr["trace"] exists
//   compression in {"lz4", "zstd"} · not (partition == 2 or partition == 3)
//   tenant-7                            a word alone: anywhere, upper and lower case alike
//
// and = &&, or = ||, not = !; && binds tighter than ||. `!=` is exactly `not ==`. With several occurrences (headers of the
// same name) a test holds where one of them does. Comparing with what is missing or null is false.
// A word may stand without quotation marks on the right side. In a regular expression a backslash is a backslash.
// Pure; any thread. Times without a date are of the day of Options::now_ms.
#pragma once

#include <QString>
#include <QStringList>
#include <functional>
#include <optional>
#include <vector>

#include "ui/filter/filter_program.h"
#include "ui/filter/filter_types.h"

namespace hw::ui::filter {

struct Options {
  std::int64_t now_ms = 0;  // 0: the clock of this machine
  bool utc = false;         // times are written in UTC, otherwise local
};

struct Problem {
  int begin = 0;  // in UTF-16 units of the text
  int end = 0;
  QString text;        // "unknown field kye, did you mean key?", translated
  bool incomplete = false;  // the text ends too early; more typing may mend it
};

enum class TokenKind : std::uint8_t { field, number, string, op, keyword, word, bad };
struct Token {
  TokenKind kind = TokenKind::word;
  int begin = 0;
  int end = 0;
};

// What may follow a text that is complete so far.
struct Expectation {
  enum class Kind : std::uint8_t { field, op, value, connector } kind = Kind::field;
  const Field* field = nullptr;  // of op and value
};

struct Parsed {
  ProgramPtr program;               // null with a problem; empty for an empty text
  std::optional<Problem> problem;
  std::vector<Token> tokens;        // for colours; ascending
  // Parts joined by `and` at the top, with their places: what the chips show. One part for anything else.
  struct Part {
    int begin = 0;
    int end = 0;
  };
  std::vector<Part> parts;
  Expectation expected;             // at the end of the text
  bool tentative = false;           // a word that may become a field's name: apply it on Return only
  [[nodiscard]] bool ok() const { return program != nullptr; }
};

[[nodiscard]] Parsed parse(const QString& text, const Vocabulary& vocabulary, const Options& options = {});

struct Suggestion {
  QString shown;   // "key"
  QString insert;  // "key "
  QString help;
};
struct Suggestions {
  int begin = 0;  // what is replaced
  int end = 0;
  std::vector<Suggestion> list;
};
// `values` knows values of a field, may be null. At most 50 suggestions.
using ValueProvider = std::function<QStringList(const Field& field)>;
[[nodiscard]] Suggestions suggest(const QString& text, int cursor, const Vocabulary& vocabulary,
                                  const ValueProvider& values = {});

// A text as it is written in a filter, quotation marks included.
[[nodiscard]] QString quoted(const QString& text);
// "a && b"; parenthesised where `text` is not one part already; `join` is "&&" or "||".
[[nodiscard]] QString joined(const QString& text, const QString& join, const QString& condition, const Vocabulary& vocabulary);

}  // namespace hw::ui::filter
