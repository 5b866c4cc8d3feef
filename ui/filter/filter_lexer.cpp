// SPDX-License-Identifier: Apache-2.0
#include "ui/filter/filter_lexer.h"

#include <algorithm>
#include <array>

namespace hw::ui::filter {

bool is_word_start(QChar c) { return c.isLetter() || c == QLatin1Char('_') || c == QLatin1Char('$') || c == QLatin1Char('@'); }
bool is_word_char(QChar c) { return is_word_start(c) || c.isDigit() || c == QLatin1Char('-') || c == QLatin1Char(':'); }

std::vector<Lexeme> lex(const QString& text) {
  static constexpr std::array<const char*, 9> kTwo = {"==", "!=", "<=", ">=", "&&", "||", "!~", "..", "=~"};
  std::vector<Lexeme> out;
  const int size = static_cast<int>(text.size());
  const auto at = [&](int i) { return i < size ? text[i] : QChar(); };
  int i = 0;
  while (i < size) {
    const QChar c = text[i];
    const int begin = i;
    Lexeme::Kind kind = Lexeme::Kind::symbol;
    if (c.isSpace()) {
      ++i;
      continue;
    }
    if (is_word_start(c)) {
      while (i < size && is_word_char(text[i])) {
        ++i;
      }
      kind = Lexeme::Kind::word;
    } else if (c.isDigit()) {
      kind = Lexeme::Kind::number;
      if (c == QLatin1Char('0') && (at(i + 1) == QLatin1Char('x') || at(i + 1) == QLatin1Char('X'))) {
        i += 2;
        while (i < size && (text[i].isDigit() || (text[i].toLower() >= QLatin1Char('a') && text[i].toLower() <= QLatin1Char('f')))) {
          ++i;
        }
      } else {
        while (i < size && (text[i].isDigit() || text[i] == QLatin1Char('_'))) {
          ++i;
        }
        // "10..20" is a range, "1.5" a number.
        if (at(i) == QLatin1Char('.') && at(i + 1).isDigit()) {
          ++i;
          while (i < size && text[i].isDigit()) {
            ++i;
          }
        }
      }
    } else if (c == QLatin1Char('"') || c == QLatin1Char('\'')) {
      kind = Lexeme::Kind::open_string;
      ++i;
      while (i < size) {
        if (text[i] == QLatin1Char('\\')) {
          i = std::min(i + 2, size);
        } else if (text[i++] == c) {
          kind = Lexeme::Kind::string;
          break;
        }
      }
    } else {
      ++i;
      const QStringView two = QStringView(text).mid(begin, 2);
      if (std::any_of(kTwo.begin(), kTwo.end(), [&](const char* s) { return two == QLatin1String(s); })) {
        ++i;
      } else if (!QStringLiteral("=<>~!(){}[],.-").contains(c)) {
        kind = Lexeme::Kind::bad;
      }
    }
    out.push_back({kind, begin, i});
  }
  out.push_back({Lexeme::Kind::end, size, size});
  return out;
}

QString unquoted(QStringView with_marks, bool regex) {
  if (with_marks.isEmpty()) {
    return {};
  }
  const QChar mark = with_marks.front();
  const bool closed = with_marks.size() > 1 && with_marks.back() == mark;
  const QStringView inside = with_marks.mid(1, with_marks.size() - (closed ? 2 : 1));
  QString out;
  out.reserve(inside.size());
  for (qsizetype i = 0; i < inside.size(); ++i) {
    if (inside[i] != QLatin1Char('\\') || i + 1 >= inside.size()) {
      out += inside[i];
      continue;
    }
    const QChar next = inside[++i];
    if (next == mark) {
      out += next;
    } else if (regex) {
      out += QLatin1Char('\\');
      out += next;
    } else if (next == QLatin1Char('n')) {
      out += QLatin1Char('\n');
    } else if (next == QLatin1Char('t')) {
      out += QLatin1Char('\t');
    } else if (next == QLatin1Char('r')) {
      out += QLatin1Char('\r');
    } else if (next == QLatin1Char('\\')) {
      out += next;
    } else {
      out += QLatin1Char('\\');
      out += next;
    }
  }
  return out;
}

}  // namespace hw::ui::filter
