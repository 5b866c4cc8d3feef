// SPDX-License-Identifier: Apache-2.0
// Lexer of the filter language: part of filter_language.cpp, apart for its size. Pure; any thread.
#pragma once

#include <QString>
#include <vector>

namespace hw::ui::filter {

struct Lexeme {
  enum class Kind : std::uint8_t { word, number, string, open_string, symbol, bad, end } kind = Kind::end;
  int begin = 0;
  int end = 0;
};

// The last one is always `end`. Nothing is thrown away but white space.
[[nodiscard]] std::vector<Lexeme> lex(const QString& text);
[[nodiscard]] bool is_word_start(QChar c);
[[nodiscard]] bool is_word_char(QChar c);
// The text between the quotation marks. `regex`: only the escaped quotation mark is one character.
[[nodiscard]] QString unquoted(QStringView with_marks, bool regex);

}  // namespace hw::ui::filter
