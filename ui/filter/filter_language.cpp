// SPDX-License-Identifier: Apache-2.0
#include "ui/filter/filter_language.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QRegularExpression>
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "ui/filter/filter_lexer.h"

namespace hw::ui::filter {

namespace {

class Words {
  Q_DECLARE_TR_FUNCTIONS(Filter)
};

constexpr int kMaxDepth = 64;
constexpr std::size_t kMaxNodes = 1'000;

struct Unit {
  const char* name;
  Type type;
  double factor;
};
constexpr std::array<Unit, 19> kUnits = {{
    {"B", Type::size, 1.0},
    {"kB", Type::size, 1e3},
    {"KB", Type::size, 1e3},
    {"MB", Type::size, 1e6},
    {"GB", Type::size, 1e9},
    {"KiB", Type::size, 1024.0},
    {"MiB", Type::size, 1048576.0},
    {"GiB", Type::size, 1073741824.0},
    {"K", Type::size, 1024.0},
    {"M", Type::size, 1048576.0},
    {"G", Type::size, 1073741824.0},
    {"us", Type::duration, 1e-3},
    {"ms", Type::duration, 1.0},
    {"s", Type::duration, 1e3},
    {"min", Type::duration, 60e3},
    {"m", Type::duration, 60e3},
    {"h", Type::duration, 3'600e3},
    {"d", Type::duration, 86'400e3},
    {"w", Type::duration, 604'800e3},
}};

const Unit* unit_of(QStringView name) {
  const auto at = std::find_if(kUnits.begin(), kUnits.end(), [&](const Unit& u) { return name == QLatin1String(u.name); });
  return at == kUnits.end() ? nullptr : &*at;
}

// The first and last millisecond that a written time may mean: "12:03" is a minute long.
struct TimeSpan {
  std::int64_t first = 0;
  std::int64_t last = 0;
};
std::optional<TimeSpan> time_of(const QString& written, const Options& options) {
  QString text = written.trimmed();
  text.replace(QLatin1Char('T'), QLatin1Char(' '));
  bool utc = options.utc;
  if (text.endsWith(QLatin1Char('Z'))) {
    text.chop(1);
    utc = true;
  }
  const std::int64_t now = options.now_ms != 0 ? options.now_ms : QDateTime::currentMSecsSinceEpoch();
  const QDateTime today = utc ? QDateTime::fromMSecsSinceEpoch(now, Qt::UTC) : QDateTime::fromMSecsSinceEpoch(now);
  struct Form {
    const char* format;
    bool date;
    std::int64_t span_ms;
  };
  static constexpr std::array<Form, 9> kForms = {{{"yyyy-MM-dd HH:mm:ss.zzz", true, 1},
                                                 {"yyyy-MM-dd HH:mm:ss", true, 1'000},
                                                 {"yyyy-MM-dd HH:mm", true, 60'000},
                                                 {"yyyy-MM-dd", true, 86'400'000},
                                                 {"HH:mm:ss.zzz", false, 1},
                                                 {"HH:mm:ss", false, 1'000},
                                                 {"HH:mm", false, 60'000},
                                                 {"H:mm:ss", false, 1'000},
                                                 {"H:mm", false, 60'000}}};
  for (const Form& form : kForms) {
    QDateTime at;
    if (form.date) {
      at = QDateTime::fromString(text, QString::fromLatin1(form.format));
    } else if (const QTime time = QTime::fromString(text, QString::fromLatin1(form.format)); time.isValid()) {
      at = QDateTime(today.date(), time);
    }
    if (at.isValid()) {
      at.setTimeSpec(utc ? Qt::UTC : Qt::LocalTime);
      const std::int64_t first = at.toMSecsSinceEpoch();
      return TimeSpan{first, first + form.span_ms - 1};
    }
  }
  if (text == QLatin1String("now")) {
    return TimeSpan{now, now};
  }
  return std::nullopt;
}

QString type_words(Type type) {
  switch (type) {
    case Type::number:
      return Words::tr("a number");
    case Type::size:
      return Words::tr("a size, for example 64 KiB");
    case Type::duration:
      return Words::tr("a duration, for example 50 ms");
    case Type::time:
      return Words::tr("a time, for example \"12:03\" or -5 min");
    case Type::boolean:
      return Words::tr("true or false");
    case Type::text:
    case Type::any:
      break;
  }
  return Words::tr("a value");
}

class Parser {
 public:
  Parser(const QString& text, const Vocabulary& vocabulary, const Options& options)
      : text_(text), vocabulary_(vocabulary), options_(options), lexemes_(lex(text)), kinds_(lexemes_.size()) {}

  Parsed run() {
    Parsed out;
    auto program = std::make_shared<Program>();
    program_ = program.get();
    if (peek().kind != Lexeme::Kind::end) {
      const int root = disjunction(0);
      if (!problem_ && peek().kind != Lexeme::Kind::end) {
        fail(peek(), Words::tr("expected && or || before this"));
      }
      program_->setRoot(root);
      if (!problem_) {
        expected_ = {Expectation::Kind::connector, nullptr};
        parts(root, out);
      }
    }
    out.tokens = colours();
    out.expected = expected_;
    out.tentative = tentative_;
    if (problem_) {
      out.problem = std::move(problem_);
    } else {
      out.program = std::move(program);
    }
    return out;
  }

 private:
  using Kind = Lexeme::Kind;
  using Node = Program::Node;

  [[nodiscard]] const Lexeme& peek(std::size_t ahead = 0) const {
    return lexemes_[std::min(at_ + ahead, lexemes_.size() - 1)];
  }
  [[nodiscard]] QStringView view(const Lexeme& l) const { return QStringView(text_).mid(l.begin, l.end - l.begin); }
  [[nodiscard]] bool is(const Lexeme& l, const char* text) const {
    return (l.kind == Kind::symbol || l.kind == Kind::word) && view(l).compare(QLatin1String(text), Qt::CaseInsensitive) == 0;
  }
  void mark(std::size_t index, TokenKind kind) { kinds_[index] = kind; }
  bool take(const char* text, TokenKind kind = TokenKind::op) {
    if (!is(peek(), text)) {
      return false;
    }
    mark(at_++, kind);
    return true;
  }
  void fail(const Lexeme& at, const QString& what) { fail(at.begin, at.end, what); }
  void fail(int begin, int end, const QString& what) {
    if (!problem_) {
      problem_ = Problem{begin, end, what, begin >= lexemes_.back().begin};
    }
  }
  bool needs(Expectation::Kind kind, const Field* field, const QString& what) {
    if (peek().kind == Kind::end) {
      expected_ = {kind, field};
      fail(peek(), what);
      return true;
    }
    return false;
  }
  int node(Node n) {
    if (program_->nodes().size() >= kMaxNodes) {
      fail(peek(), Words::tr("this filter is too long"));
      return 0;
    }
    return program_->add(std::move(n));
  }
  int test(Node n, int begin) {
    const int index = node(std::move(n));
    ends_[index] = {begin, at_ > 0 ? lexemes_[at_ - 1].end : 0};
    return index;
  }
  int negated(int child) {
    Node n;
    n.kind = Node::Kind::negate;
    n.children = {child};
    const int index = node(std::move(n));
    ends_[index] = ends_[child];
    return index;
  }

  int group(Node::Kind kind, int (Parser::*operand)(int), const char* symbol, const char* word, int depth) {
    const int begin = peek().begin;
    std::vector<int> children{(this->*operand)(depth)};
    while (!problem_ && (take(symbol) || take(word, TokenKind::keyword))) {
      if (needs(Expectation::Kind::field, nullptr, Words::tr("needs a condition after %1").arg(view(lexemes_[at_ - 1])))) {
        return 0;
      }
      children.push_back((this->*operand)(depth));
    }
    if (problem_ || children.size() == 1) {
      return children.front();
    }
    Node n;
    n.kind = kind;
    n.children = std::move(children);
    return test(std::move(n), begin);
  }
  int disjunction(int depth) { return group(Node::Kind::any, &Parser::conjunction, "||", "or", depth); }
  int conjunction(int depth) { return group(Node::Kind::all, &Parser::negation, "&&", "and", depth); }

  int negation(int depth) {
    if (depth > kMaxDepth) {
      fail(peek(), Words::tr("this filter is nested too deeply"));
      return 0;
    }
    const int begin = peek().begin;
    if (take("!") || take("not", TokenKind::keyword)) {
      if (needs(Expectation::Kind::field, nullptr, Words::tr("needs a condition after not"))) {
        return 0;
      }
      const int n = negated(negation(depth + 1));
      ends_[n].begin = begin;
      return n;
    }
    if (take("(")) {
      if (needs(Expectation::Kind::field, nullptr, Words::tr("needs a condition after ("))) {
        return 0;
      }
      const int inside = disjunction(depth + 1);
      if (!problem_ && !take(")")) {
        needs(Expectation::Kind::connector, nullptr, Words::tr("needs a closing )"));
        fail(peek(), Words::tr("expected a closing ) here"));
      }
      ends_[inside] = {begin, at_ > 0 ? lexemes_[at_ - 1].end : 0};
      return inside;
    }
    return condition();
  }

  // ---- one condition

  [[nodiscard]] bool operatorAt(const Lexeme& l) const {
    if (l.kind == Kind::symbol) {
      for (const char* s : {"==", "=", "!=", "<", "<=", ">", ">=", "~", "!~", "=~"}) {
        if (is(l, s)) {
          return true;
        }
      }
      return false;
    }
    return is(l, "in") || is(l, "contains") || is(l, "exists") || is(l, "is") || is(l, "matches");
  }

  int condition() {
    const Lexeme first = peek();
    if (first.kind == Kind::string || first.kind == Kind::number || (first.kind == Kind::word && fieldAt() == nullptr && !is(first, "exists"))) {
      return freeText();
    }
    if (first.kind == Kind::open_string) {
      mark(at_, TokenKind::string);
      fail(lexemes_.back(), Words::tr("needs a closing quotation mark"));
      return 0;
    }
    if (first.kind != Kind::word) {
      mark(at_, TokenKind::bad);
      fail(first, Words::tr("expected a field here, for example %1").arg(example()));
      return 0;
    }
    if (is(first, "exists")) {
      mark(at_++, TokenKind::keyword);
      const bool paren = take("(");
      Node n;
      n.op = Op::exists;
      if (reference(n) == nullptr) {
        return 0;
      }
      if (paren && !take(")")) {
        fail(peek(), Words::tr("needs a closing )"));
      }
      return test(std::move(n), first.begin);
    }
    Node n;
    const Field* field = reference(n);
    if (field == nullptr) {
      return 0;
    }
    type_ = n.ref.path.empty() ? field->type : Type::any;  // JSON decides
    return comparison(std::move(n), *field, first.begin);
  }

  [[nodiscard]] QString example() const {
    return vocabulary_.fields().empty() ? QString() : QString::fromStdString(vocabulary_.fields().front().name);
  }

  // The field with the longest name that begins here; `lexemes`: how many it takes.
  const Field* fieldAt(std::size_t* lexemes = nullptr) const {
    const Field* best = nullptr;
    std::string name;
    for (std::size_t i = 0; i < 8; i += 2) {
      if (peek(i).kind != Kind::word || (i > 0 && peek(i).begin != peek(i - 1).end)) {
        break;
      }
      name += view(peek(i)).toUtf8().toStdString();
      if (const Field* f = vocabulary_.find(name); f != nullptr) {
        best = f;
        if (lexemes != nullptr) {
          *lexemes = i + 1;
        }
      }
      if (!is(peek(i + 1), ".") || peek(i + 1).begin != peek(i).end) {
        break;
      }
      name += '.';
    }
    return best;
  }

  const Field* reference(Node& n) {
    std::size_t count = 0;
    const Field* field = fieldAt(&count);
    if (field == nullptr) {
      if (!needs(Expectation::Kind::field, nullptr, Words::tr("needs a field"))) {
        mark(at_, TokenKind::bad);
        unknown(peek().begin, peek().end);
      }
      return nullptr;
    }
    for (std::size_t i = 0; i < count; ++i) {
      mark(at_++, TokenKind::field);
    }
    n.ref.field = field->id;
    bool named = false;
    while (!problem_) {
      const int end = lexemes_[at_ - 1].end;
      if (is(peek(), ".") && peek().begin == end) {
        mark(at_++, TokenKind::field);
        if (peek().kind == Kind::end) {
          expected_ = {Expectation::Kind::value, nullptr};
          fail(peek(), Words::tr("needs a name after the dot"));
          return nullptr;
        }
        if (peek().kind != Kind::word) {
          fail(peek(), Words::tr("expected a name after the dot"));
          return nullptr;
        }
        const std::string name = view(peek()).toUtf8().toStdString();
        mark(at_, TokenKind::field);
        step(n, *field, {name, -1}, peek(), named);
        ++at_;
      } else if (is(peek(), "[") && peek().begin == end) {
        mark(at_++, TokenKind::op);
        const Lexeme inside = peek();
        if (needs(Expectation::Kind::value, field, Words::tr("needs a name in quotation marks"))) {
          return nullptr;
        }
        if (inside.kind == Kind::open_string) {
          mark(at_, TokenKind::string);
          fail(lexemes_.back(), Words::tr("needs a closing quotation mark"));
          return nullptr;
        }
        bool number = false;
        const std::int64_t index = inside.kind == Kind::number ? view(inside).toLongLong(&number) : 0;
        if (number && field->path && !field->subscript) {
          mark(at_, TokenKind::number);
          step(n, *field, {{}, index}, inside, named);
        } else if (inside.kind == Kind::string || inside.kind == Kind::word || inside.kind == Kind::number) {
          mark(at_, TokenKind::string);
          const QString name = inside.kind == Kind::string ? unquoted(view(inside), false) : view(inside).toString();
          step(n, *field, {name.toUtf8().toStdString(), -1}, inside, named);
        } else {
          fail(inside, Words::tr("expected a name in quotation marks"));
        }
        ++at_;
        if (!problem_ && !take("]")) {
          needs(Expectation::Kind::connector, nullptr, Words::tr("needs a closing ]"));
          fail(peek(), Words::tr("expected a closing ] here"));
        }
      } else {
        break;
      }
    }
    if (!problem_ && field->subscript && !named) {
      expected_ = {Expectation::Kind::op, field};
      fail(lexemes_[at_ - 1].begin, lexemes_[at_ - 1].end,
           Words::tr("%1 needs a name, for example %1[\"trace\"]").arg(QString::fromStdString(field->name)));
      problem_->incomplete = peek().kind == Kind::end;
    }
    return problem_ ? nullptr : field;
  }

  void step(Node& n, const Field& field, PathStep step, const Lexeme& at, bool& named) {
    if (field.subscript && !named) {
      n.ref.subscript = step.name;
      named = true;
    } else if (field.path) {
      n.ref.path.push_back(std::move(step));
    } else {
      fail(at, Words::tr("%1 has no parts").arg(QString::fromStdString(field.name)));
    }
  }

  void unknown(int begin, int end) {
    const QString name = text_.mid(begin, end - begin);
    const Field* near = vocabulary_.nearest(name.toUtf8().toStdString());
    fail(begin, end, near == nullptr ? Words::tr("unknown field %1").arg(name)
                                     : Words::tr("unknown field %1, did you mean %2?").arg(name, QString::fromStdString(near->name)));
    problem_->incomplete = false;
  }

  // A word, a number or a text alone.
  int freeText() {
    const Lexeme first = peek();
    QString what;
    if (first.kind == Kind::string) {
      what = unquoted(view(first), false);
      mark(at_++, TokenKind::string);
    } else {
      // Everything up to white space or a sign of the language is one word: demo.orders, 10.0.0.4:9092.
      int end = first.end;
      std::size_t last = at_;
      while (peek(last - at_ + 1).begin == end && peek(last - at_ + 1).kind != Kind::end &&
             (peek(last - at_ + 1).kind != Kind::symbol || is(peek(last - at_ + 1), ".") || is(peek(last - at_ + 1), "-"))) {
        ++last;
        end = lexemes_[last].end;
      }
      const Lexeme& next = peek(last - at_ + 1);
      const bool not_field = operatorAt(next) && next.kind == Kind::symbol;
      if (first.kind == Kind::word && (not_field || vocabulary_.freeText().empty() || operatorAt(next))) {
        for (std::size_t i = at_; i <= last; ++i) {
          mark(i, TokenKind::bad);
        }
        unknown(first.begin, end);
        if (next.kind == Kind::end && beginsField(text_.mid(first.begin, end - first.begin))) {
          problem_ = Problem{first.begin, end, Words::tr("a field that begins with this?"), true};
          expected_ = {Expectation::Kind::field, nullptr};
        }
        return 0;
      }
      for (std::size_t i = at_; i <= last; ++i) {
        mark(i, TokenKind::word);
      }
      what = text_.mid(first.begin, end - first.begin);
      at_ = last + 1;
      tentative_ = tentative_ || (peek().kind == Kind::end && beginsField(what));
    }
    if (vocabulary_.freeText().empty()) {
      fail(first, Words::tr("expected a field here, for example %1").arg(example()));
      return 0;
    }
    std::vector<int> children;
    for (const std::string& name : vocabulary_.freeText()) {
      const Field* field = vocabulary_.find(name);
      if (field == nullptr) {
        continue;
      }
      Node n;
      n.op = Op::contains;
      n.ref.field = field->id;
      n.pattern = Pattern::ofText(what.toUtf8().toStdString(), true);
      children.push_back(test(std::move(n), first.begin));
    }
    Node n;
    n.kind = Node::Kind::any;
    n.children = std::move(children);
    return test(std::move(n), first.begin);
  }

  [[nodiscard]] bool beginsField(const QString& word) const {
    const std::string begin = word.toUtf8().toStdString();
    return std::any_of(vocabulary_.fields().begin(), vocabulary_.fields().end(),
                       [&](const Field& f) { return f.name.starts_with(begin); });
  }

  int comparison(Node n, const Field& field, int begin) {
    const QString name = QString::fromStdString(field.name);
    const Lexeme op = peek();
    const bool boolean = type_ == Type::boolean;
    if (boolean && !operatorAt(op)) {
      n.op = Op::truth;
      return test(std::move(n), begin);
    }
    if (needs(Expectation::Kind::op, &field, Words::tr("needs an operator after %1").arg(name))) {
      return 0;
    }
    bool invert = false;
    if (take("exists", TokenKind::keyword)) {
      n.op = Op::exists;
      return test(std::move(n), begin);
    }
    if (take("is", TokenKind::keyword)) {
      invert = take("not", TokenKind::keyword);
      if (needs(Expectation::Kind::value, nullptr, Words::tr("needs null or empty after is"))) {
        return 0;
      }
      if (take("null", TokenKind::keyword)) {
        n.op = Op::is_null;
      } else if (take("empty", TokenKind::keyword)) {
        n.op = Op::is_empty;
      } else if (take("missing", TokenKind::keyword)) {
        n.op = Op::exists;
        invert = !invert;
      } else {
        fail(peek(), Words::tr("expected null, empty or missing after is"));
        return 0;
      }
      const int t = test(std::move(n), begin);
      return invert ? negated(t) : t;
    }
    if (is(op, "not") && (is(peek(1), "in") || is(peek(1), "contains") || is(peek(1), "exists"))) {
      mark(at_++, TokenKind::keyword);
      return negated(comparison(std::move(n), field, begin));
    }
    if (take("in", TokenKind::keyword)) {
      return membership(std::move(n), field, begin);
    }
    struct Symbol {
      const char* text;
      Op op;
      bool invert;
    };
    static constexpr std::array<Symbol, 12> kSymbols = {{{"==", Op::eq, false},
                                                        {"=", Op::eq, false},
                                                        {"!=", Op::eq, true},
                                                        {"<", Op::less, false},
                                                        {"<=", Op::less_eq, false},
                                                        {">", Op::greater, false},
                                                        {">=", Op::greater_eq, false},
                                                        {"~", Op::match, false},
                                                        {"=~", Op::match, false},
                                                        {"matches", Op::match, false},
                                                        {"!~", Op::match, true},
                                                        {"contains", Op::contains, false}}};
    const auto symbol = std::find_if(kSymbols.begin(), kSymbols.end(), [&](const Symbol& s) { return is(op, s.text); });
    if (symbol == kSymbols.end()) {
      fail(op, boolean ? Words::tr("expected && or || before this") : Words::tr("expected an operator after %1, for example ==").arg(name));
      return 0;
    }
    const bool word = op.kind == Kind::word;
    mark(at_++, word ? TokenKind::keyword : TokenKind::op);
    n.op = symbol->op;
    invert = symbol->invert;
    if ((n.op == Op::match || n.op == Op::contains) && type_ != Type::text && type_ != Type::any) {
      fail(op, Words::tr("%1 is %2: compare with ==, < or in").arg(name, type_words(type_)));
      return 0;
    }
    if (needs(Expectation::Kind::value, &field, Words::tr("needs %1 after %2").arg(type_words(type_), view(op)))) {
      return 0;
    }
    if (n.op == Op::match || n.op == Op::contains) {
      return pattern(std::move(n), begin, invert);
    }
    TimeSpan span;
    if (!literal(field, n.low, &span)) {
      return 0;
    }
    if (type_ == Type::time && n.low.kind == Literal::Kind::number) {
      // "12:03" is a minute: == means within it, > after it.
      n.high = n.low;
      n.high.number = span.last;
      if (n.op == Op::eq) {
        n.op = Op::range;
      } else if (n.op == Op::greater || n.op == Op::less_eq) {
        n.low.number = span.last;
      }
    }
    const int t = test(std::move(n), begin);
    return invert ? negated(t) : t;
  }

  int pattern(Node n, int begin, bool invert) {
    const Lexeme value = peek();
    if (value.kind == Kind::open_string) {
      mark(at_, TokenKind::string);
      fail(lexemes_.back(), Words::tr("needs a closing quotation mark"));
      return 0;
    }
    if (value.kind != Kind::string && value.kind != Kind::word && value.kind != Kind::number) {
      fail(value, Words::tr("expected a text in quotation marks"));
      return 0;
    }
    mark(at_++, TokenKind::string);
    const bool quoted = value.kind == Kind::string;
    if (n.op == Op::contains) {
      n.pattern = Pattern::ofText((quoted ? unquoted(view(value), false) : view(value).toString()).toUtf8().toStdString(), false);
    } else {
      n.pattern = Pattern::ofRegex(quoted ? unquoted(view(value), true) : view(value).toString());
      if (!n.pattern.valid()) {
        fail(value, Words::tr("not a regular expression: %1").arg(n.pattern.problem()));
        return 0;
      }
    }
    const int t = test(std::move(n), begin);
    return invert ? negated(t) : t;
  }

  int membership(Node n, const Field& field, int begin) {
    if (needs(Expectation::Kind::value, &field, Words::tr("needs a range a..b or a set {a, b} after in"))) {
      return 0;
    }
    if (take("{")) {
      n.op = Op::set;
      do {
        if (needs(Expectation::Kind::value, &field, Words::tr("needs a value"))) {
          return 0;
        }
        Literal l;
        if (!literal(field, l, nullptr)) {
          return 0;
        }
        n.set.push_back(std::move(l));
        if (n.set.size() > kMaxNodes) {
          fail(peek(), Words::tr("this filter is too long"));
          return 0;
        }
      } while (take(","));
      if (!take("}")) {
        needs(Expectation::Kind::connector, nullptr, Words::tr("needs a closing }"));
        fail(peek(), Words::tr("expected , or } here"));
        return 0;
      }
      return test(std::move(n), begin);
    }
    n.op = Op::range;
    TimeSpan span;
    if (!literal(field, n.low, &span)) {
      return 0;
    }
    if (!take("..")) {
      needs(Expectation::Kind::connector, nullptr, Words::tr("needs .. and the end of the range"));
      fail(peek(), Words::tr("expected .. and the end of the range"));
      return 0;
    }
    if (needs(Expectation::Kind::value, &field, Words::tr("needs the end of the range"))) {
      return 0;
    }
    if (!literal(field, n.high, &span)) {
      return 0;
    }
    if (type_ == Type::time && n.high.kind == Literal::Kind::number) {
      n.high.number = span.last;
    }
    return test(std::move(n), begin);
  }

  bool literal(const Field& field, Literal& out, TimeSpan* span) {
    const Lexeme value = peek();
    const QString name = QString::fromStdString(field.name);
    const bool textual = type_ == Type::text || type_ == Type::any;
    if (value.kind == Kind::open_string) {
      mark(at_, TokenKind::string);
      fail(lexemes_.back(), Words::tr("needs a closing quotation mark"));
      return false;
    }
    if (value.kind == Kind::word && is(value, "null")) {
      mark(at_++, TokenKind::keyword);
      out.kind = Literal::Kind::null;
      return true;
    }
    if (value.kind == Kind::word && (is(value, "true") || is(value, "false")) && type_ != Type::text) {
      if (type_ != Type::boolean && type_ != Type::any) {
        fail(value, Words::tr("%1 needs %2").arg(name, type_words(type_)));
        return false;
      }
      mark(at_++, TokenKind::keyword);
      out.kind = Literal::Kind::boolean;
      out.truth = is(value, "true");
      return true;
    }
    if (value.kind == Kind::number || (is(value, "-") && peek(1).kind == Kind::number)) {
      return number(field, out, span);
    }
    if (value.kind != Kind::string && value.kind != Kind::word) {
      mark(at_, TokenKind::bad);
      fail(value, Words::tr("expected %1 here").arg(type_words(type_)));
      return false;
    }
    QString text = unquoted(view(value), false);
    if (value.kind == Kind::word) {
      // demo.orders without quotation marks.
      int end = value.end;
      while (peek(1).begin == end && (peek(1).kind == Kind::word || peek(1).kind == Kind::number || is(peek(1), ".") || is(peek(1), "-"))) {
        mark(at_++, TokenKind::string);
        end = peek().end;
      }
      text = text_.mid(value.begin, end - value.begin);
    }
    mark(at_++, TokenKind::string);
    if (type_ == Type::time) {
      const std::optional<TimeSpan> time = time_of(text, options_);
      if (!time) {
        fail(value.begin, lexemes_[at_ - 1].end, Words::tr("not a time: write \"12:03\" or \"2026-11-29 12:03:31.004\""));
        return false;
      }
      out.kind = Literal::Kind::number;
      out.number = time->first;
      if (span != nullptr) {
        *span = *time;
      }
      return true;
    }
    if (!textual) {
      mark(at_ - 1, TokenKind::bad);
      fail(value.begin, lexemes_[at_ - 1].end, Words::tr("%1 needs %2").arg(name, type_words(type_)));
      return false;
    }
    if (!field.values.isEmpty() && !field.values.contains(text)) {
      mark(at_ - 1, TokenKind::bad);
      const auto near = std::find_if(field.values.begin(), field.values.end(), [&](const QString& v) {
        return v.startsWith(text, Qt::CaseInsensitive) || text.startsWith(v, Qt::CaseInsensitive);
      });
      fail(value.begin, lexemes_[at_ - 1].end,
           near == field.values.end() ? Words::tr("%1 is one of %2").arg(name, field.values.join(QStringLiteral(", ")))
                                      : Words::tr("%1 is never %2, did you mean %3?").arg(name, text, *near));
      return false;
    }
    out.kind = Literal::Kind::text;
    out.text = text.toUtf8().toStdString();
    return true;
  }

  bool number(const Field& field, Literal& out, TimeSpan* span) {
    const Lexeme first = peek();
    const bool minus = take("-");
    const Lexeme digits = peek();
    mark(at_++, TokenKind::number);
    const QString name = QString::fromStdString(field.name);
    QString written = view(digits).toString();
    if (type_ == Type::text) {
      // A key may be 42, 42-a, 42.7: as it is written.
      int end = digits.end;
      while (peek().begin == end && (peek().kind == Kind::word || peek().kind == Kind::number || is(peek(), ".") || is(peek(), "-"))) {
        end = peek().end;
        mark(at_++, TokenKind::number);
      }
      out.kind = Literal::Kind::text;
      out.text = text_.mid(first.begin, end - first.begin).toUtf8().toStdString();
      return true;
    }
    written.remove(QLatin1Char('_'));
    bool ok = false;
    std::int64_t whole = 0;
    double real = 0.0;
    const bool fraction = written.contains(QLatin1Char('.'));
    if (written.startsWith(QLatin1String("0x"), Qt::CaseInsensitive)) {
      whole = static_cast<std::int64_t>(written.mid(2).toULongLong(&ok, 16));
    } else if (fraction) {
      real = written.toDouble(&ok);
    } else {
      whole = written.toLongLong(&ok);
    }
    if (!ok) {
      fail(digits, Words::tr("this number is too large"));
      return false;
    }
    const Unit* unit = peek().kind == Kind::word ? unit_of(view(peek())) : nullptr;
    if (unit == nullptr && peek().kind == Kind::word && peek().begin == digits.end) {
      fail(peek(), Words::tr("unknown unit %1").arg(view(peek())));
      return false;
    }
    const Type type = unit == nullptr ? Type::number : unit->type;
    if (unit != nullptr) {
      const bool fits = type == type_ || (type_ == Type::time && type == Type::duration) || type_ == Type::any;
      if (!fits) {
        fail(peek(), Words::tr("%1 needs %2").arg(name, type_words(type_)));
        return false;
      }
      mark(at_++, TokenKind::number);
      const double scaled = (fraction ? real : static_cast<double>(whole)) * unit->factor;
      if (std::abs(scaled) > 9e18) {
        fail(digits, Words::tr("this number is too large"));
        return false;
      }
      whole = static_cast<std::int64_t>(std::llround(scaled));
    } else if (fraction && type_ != Type::any) {
      if (type_ == Type::number || type_ == Type::size || type_ == Type::duration) {
        out.kind = Literal::Kind::real;
        out.real = minus ? -real : real;
        return true;
      }
    } else if (fraction) {
      out.kind = Literal::Kind::real;
      out.real = minus ? -real : real;
      return true;
    }
    if (type_ == Type::boolean) {
      fail(digits, Words::tr("%1 needs %2").arg(name, type_words(type_)));
      return false;
    }
    out.kind = Literal::Kind::number;
    out.number = minus ? -whole : whole;
    if (type_ == Type::time) {
      if (unit != nullptr) {
        const std::int64_t now = options_.now_ms != 0 ? options_.now_ms : QDateTime::currentMSecsSinceEpoch();
        out.number += now;
      }
      if (span != nullptr) {
        *span = {out.number, out.number};
      }
    }
    return true;
  }

  // ---- what the widget shows

  void parts(int root, Parsed& out) const {
    const Program::Node& n = program_->nodes()[static_cast<std::size_t>(root)];
    const auto place = [this](int index) {
      const auto at = ends_.find(index);
      return at == ends_.end() ? Parsed::Part{} : at->second;
    };
    // "(a && b)" is one part: its brackets belong to it.
    if (n.kind == Program::Node::Kind::all && place(root).begin == place(n.children.front()).begin) {
      for (const int child : n.children) {
        out.parts.push_back(place(child));
      }
    } else {
      out.parts.push_back(place(root));
    }
  }

  [[nodiscard]] std::vector<Token> colours() const {
    std::vector<Token> tokens;
    for (std::size_t i = 0; i + 1 < lexemes_.size(); ++i) {
      const Lexeme& l = lexemes_[i];
      TokenKind kind = kinds_[i].value_or(TokenKind::word);
      if (!kinds_[i]) {
        if (l.kind == Kind::string || l.kind == Kind::open_string) {
          kind = TokenKind::string;
        } else if (l.kind == Kind::number) {
          kind = TokenKind::number;
        } else if (l.kind == Kind::symbol) {
          kind = TokenKind::op;
        } else if (l.kind == Kind::bad) {
          kind = TokenKind::bad;
        }
      }
      tokens.push_back({kind, l.begin, l.end});
    }
    return tokens;
  }

  const QString& text_;
  const Vocabulary& vocabulary_;
  const Options& options_;
  std::vector<Lexeme> lexemes_;
  std::vector<std::optional<TokenKind>> kinds_;
  std::size_t at_ = 0;
  Program* program_ = nullptr;
  std::optional<Problem> problem_;
  Expectation expected_{Expectation::Kind::field, nullptr};
  bool tentative_ = false;
  Type type_ = Type::any;  // of the condition at hand
  std::map<int, Parsed::Part> ends_;
};

}  // namespace

const Field* Vocabulary::find(std::string_view name) const {
  const auto at = std::find_if(fields_.begin(), fields_.end(), [&](const Field& f) { return f.name == name; });
  return at == fields_.end() ? nullptr : &*at;
}

const Field* Vocabulary::nearest(std::string_view name) const {
  // Edit distance with swapped neighbours; names are short.
  const auto distance = [](std::string_view a, std::string_view b) {
    std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i) {
      for (std::size_t j = 0; j <= b.size(); ++j) {
        if (i == 0 || j == 0) {
          d[i][j] = i + j;
          continue;
        }
        d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
        if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
          d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
        }
      }
    }
    return d[a.size()][b.size()];
  };
  if (name.size() > 40) {
    return nullptr;
  }
  const Field* best = nullptr;
  std::size_t least = std::max<std::size_t>(1, name.size() / 3) + 1;
  for (const Field& f : fields_) {
    const std::size_t d = f.name.starts_with(name) && name.size() >= 2 ? 1 : distance(name, f.name);
    if (d < least) {
      least = d;
      best = &f;
    }
  }
  return best;
}

namespace {

// Nothing in it that only a filter has.
bool plain(const QString& text) {
  static const QRegularExpression signs(
      QStringLiteral(R"sign([=<>~!"'(){}\[\]&|]|(^|\s)(and|or|not|in|is|contains|matches|exists)(\s|$))sign"),
      QRegularExpression::CaseInsensitiveOption);
  return !signs.match(text).hasMatch();
}

}  // namespace

Parsed parse(const QString& text, const Vocabulary& vocabulary, const Options& options) {
  Parsed parsed = Parser(text, vocabulary, options).run();
  if (parsed.ok() || !vocabulary.plainWords() || parsed.problem->incomplete || !plain(text)) {
    return parsed;
  }
  QStringList words;
  for (const QString& word : text.simplified().split(QLatin1Char(' '), Qt::SkipEmptyParts)) {
    words << quoted(word);
  }
  Parsed found = Parser(words.join(QStringLiteral(" && ")), vocabulary, options).run();
  if (!found.ok()) {
    return parsed;
  }
  // Places are those of what was typed: one piece.
  const int size = static_cast<int>(text.size());
  found.tokens = {{TokenKind::word, 0, size}};
  found.parts = {{0, size}};
  return found;
}

QString quoted(const QString& text) {
  QString out = QStringLiteral("\"");
  for (const QChar c : text) {
    if (c == QLatin1Char('"') || c == QLatin1Char('\\')) {
      out += QLatin1Char('\\');
      out += c;
    } else if (c == QLatin1Char('\n')) {
      out += QStringLiteral("\\n");
    } else if (c == QLatin1Char('\t')) {
      out += QStringLiteral("\\t");
    } else if (c == QLatin1Char('\r')) {
      out += QStringLiteral("\\r");
    } else {
      out += c;
    }
  }
  return out + QLatin1Char('"');
}

QString joined(const QString& text, const QString& join, const QString& condition, const Vocabulary& vocabulary) {
  const QString before = text.trimmed();
  if (before.isEmpty()) {
    return condition;
  }
  const Parsed parsed = parse(before, vocabulary);
  bool loose = false;  // an `or` at the top would take the new condition apart
  if (parsed.ok() && join == QLatin1String("&&") && !parsed.program->empty()) {
    const Program::Node& root = parsed.program->nodes()[static_cast<std::size_t>(parsed.program->root())];
    loose = root.kind == Program::Node::Kind::any && parsed.parts.size() == 1 && !before.startsWith(QLatin1Char('(')) &&
            parsed.tokens.size() > 1;
  }
  return QStringLiteral("%1 %2 %3").arg(loose ? QStringLiteral("(%1)").arg(before) : before, join, condition);
}

}  // namespace hw::ui::filter
