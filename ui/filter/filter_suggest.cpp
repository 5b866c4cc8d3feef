// SPDX-License-Identifier: Apache-2.0
#include <QCoreApplication>
#include <algorithm>

#include "ui/filter/filter_language.h"
#include "ui/filter/filter_lexer.h"

namespace hw::ui::filter {

namespace {

constexpr std::size_t kMost = 50;

class Words {
  Q_DECLARE_TR_FUNCTIONS(Filter)
};

void add(Suggestions& into, const QString& prefix, const QString& shown, const QString& insert, const QString& help) {
  if (into.list.size() < kMost && shown.startsWith(prefix, Qt::CaseInsensitive)) {
    into.list.push_back({shown, insert, help});
  }
}

void add_fields(Suggestions& into, const QString& prefix, const Vocabulary& vocabulary) {
  for (const Field& f : vocabulary.fields()) {
    const QString name = QString::fromStdString(f.name);
    if (f.subscript) {
      add(into, prefix, name + QStringLiteral("[\"\u2026\"]"), name + QStringLiteral("[\""), f.help);
    } else {
      add(into, prefix, name, name + QLatin1Char(' '), f.help);
    }
  }
  add(into, prefix, QStringLiteral("not"), QStringLiteral("not "), Words::tr("the opposite of what follows"));
}

void add_operators(Suggestions& into, const QString& prefix, const Field* field) {
  const Type type = field == nullptr ? Type::text : field->type;
  const bool text = type == Type::text || type == Type::any;
  const auto op = [&](const char* shown, const QString& help) {
    const QString name = QString::fromLatin1(shown);
    add(into, prefix, name, name + QLatin1Char(' '), help);
  };
  if (type != Type::boolean) {
    op("==", Words::tr("is equal to"));
    op("!=", Words::tr("is not equal to"));
  }
  if (text) {
    op("~", Words::tr("matches a regular expression"));
    op("contains", Words::tr("has this text in it"));
  }
  if (type != Type::boolean) {
    op(">=", Words::tr("at least"));
    op("<=", Words::tr("at most"));
    op(">", Words::tr("more than"));
    op("<", Words::tr("less than"));
    add(into, prefix, QStringLiteral("in a..b"), QStringLiteral("in "), Words::tr("a range, both ends included"));
    add(into, prefix, QStringLiteral("in {a, b}"), QStringLiteral("in {"), Words::tr("one of several"));
  }
  if (text) {
    op("is null", Words::tr("is null, which is not empty"));
    op("is empty", Words::tr("has zero bytes, which is not null"));
    op("exists", Words::tr("is there at all"));
  }
}

void add_values(Suggestions& into, const QString& prefix, const Field* field, const ValueProvider& values) {
  if (field == nullptr) {
    add(into, prefix, QStringLiteral("null"), QStringLiteral("null "), {});
    add(into, prefix, QStringLiteral("empty"), QStringLiteral("empty "), {});
    return;
  }
  QStringList known = field->values;
  if (known.isEmpty() && values) {
    known = values(*field);
  }
  const bool text = field->type == Type::text || field->type == Type::any;
  for (const QString& value : known) {
    add(into, prefix, value, (text ? quoted(value) : value) + QLatin1Char(' '), {});
  }
  const auto example = [&](const QString& shown, const QString& help) {
    if (known.isEmpty()) {
      add(into, prefix, shown, shown + QLatin1Char(' '), help);
    }
  };
  switch (field->type) {
    case Type::size:
      example(QStringLiteral("1 KiB"), Words::tr("B, KB, MB, KiB, MiB"));
      example(QStringLiteral("1 MiB"), {});
      break;
    case Type::duration:
      example(QStringLiteral("50 ms"), Words::tr("ms, s, min, h"));
      example(QStringLiteral("1 s"), {});
      break;
    case Type::time:
      example(QStringLiteral("-5 min"), Words::tr("five minutes ago"));
      example(QStringLiteral("\"12:03\""), Words::tr("today, or with a date"));
      break;
    case Type::boolean:
      example(QStringLiteral("true"), {});
      example(QStringLiteral("false"), {});
      break;
    default:
      break;
  }
}

}  // namespace

Suggestions suggest(const QString& text, int cursor, const Vocabulary& vocabulary, const ValueProvider& values) {
  Suggestions out;
  const QString before = text.left(cursor);
  const std::vector<Lexeme> lexemes = lex(before);
  // What is being typed: the last word with what it hangs together with, or an open string.
  int begin = cursor;
  bool in_string = false;
  for (std::size_t i = lexemes.size() - 1; i-- > 0;) {
    const Lexeme& l = lexemes[i];
    const bool dot = l.kind == Lexeme::Kind::symbol && l.end - l.begin == 1 && before[l.begin] == QLatin1Char('.');
    if (l.end != begin) {
      break;
    }
    if (l.kind == Lexeme::Kind::open_string) {
      begin = l.begin;
      in_string = true;
      break;
    }
    if (l.kind != Lexeme::Kind::word && l.kind != Lexeme::Kind::number && !dot) {
      break;
    }
    begin = l.begin;
  }
  out.begin = begin;
  out.end = cursor;
  QString prefix = before.mid(begin);
  if (in_string) {
    prefix = prefix.mid(1);
  }
  const QString head = before.left(begin);
  const Parsed parsed = parse(head, vocabulary);
  if (parsed.problem && !parsed.problem->incomplete) {
    return out;
  }
  if (in_string && parsed.expected.kind != Expectation::Kind::value) {
    return out;
  }
  switch (parsed.expected.kind) {
    case Expectation::Kind::field:
      add_fields(out, prefix, vocabulary);
      break;
    case Expectation::Kind::op:
      add_operators(out, prefix, parsed.expected.field);
      break;
    case Expectation::Kind::value: {
      const Field* field = parsed.expected.field;
      // hdr[" asks for names, which are the values of a field of that name with "[]" behind it.
      if (field != nullptr && head.endsWith(QLatin1Char('['))) {
        Field names = *field;
        names.name += "[]";
        names.values.clear();
        if (values) {
          const QStringList known = values(names);
          for (const QString& name : known) {
            add(out, prefix, name, quoted(name) + QStringLiteral("] "), {});
          }
        }
        break;
      }
      add_values(out, prefix, field, values);
      break;
    }
    case Expectation::Kind::connector:
      if (!head.trimmed().isEmpty()) {
        add(out, prefix, QStringLiteral("&&"), QStringLiteral("&& "), Words::tr("and"));
        add(out, prefix, QStringLiteral("||"), QStringLiteral("|| "), Words::tr("or"));
      }
      break;
  }
  // Nothing to say that is not typed already.
  if (out.list.size() == 1 && out.list.front().shown == prefix) {
    out.list.clear();
  }
  return out;
}

}  // namespace hw::ui::filter
