// SPDX-License-Identifier: Apache-2.0
#include "ui/filter/filter_program.h"

#include <algorithm>

namespace hw::ui::filter {

namespace {

char folded(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool contains_folded(std::string_view text, std::string_view part) {
  // `part` is folded already.
  return std::search(text.begin(), text.end(), part.begin(), part.end(),
                     [](char a, char b) { return folded(a) == b; }) != text.end();
}

bool plain(QStringView text) {
  return std::none_of(text.begin(), text.end(), [](QChar c) {
    return QStringLiteral("\\^$.|?*+()[]{}").contains(c);
  });
}

enum class Order : std::uint8_t { less, equal, greater, none };

template <typename T>
Order order_of(const T& a, const T& b) {
  return a < b ? Order::less : (b < a ? Order::greater : Order::equal);
}

Order compare(const Datum& datum, const Literal& literal) {
  using D = Datum::Kind;
  using L = Literal::Kind;
  switch (literal.kind) {
    case L::null:
      return datum.kind == D::null ? Order::equal : Order::none;
    case L::boolean:
      return datum.kind == D::boolean && datum.truth == literal.truth ? Order::equal : Order::none;
    case L::text:
      return datum.kind == D::text ? order_of(datum.text, std::string_view(literal.text)) : Order::none;
    case L::number:
      if (datum.kind == D::number) {
        return order_of(datum.number, literal.number);
      }
      return datum.kind == D::real ? order_of(datum.real, static_cast<double>(literal.number)) : Order::none;
    case L::real:
      if (datum.kind == D::number) {
        return order_of(static_cast<double>(datum.number), literal.real);
      }
      return datum.kind == D::real ? order_of(datum.real, literal.real) : Order::none;
  }
  return Order::none;
}

}  // namespace

Pattern Pattern::ofText(std::string text, bool ignore_case) {
  Pattern p;
  p.kind_ = ignore_case ? Kind::contains_folded : Kind::contains;
  if (ignore_case) {
    std::transform(text.begin(), text.end(), text.begin(), folded);
  }
  p.text_ = std::move(text);
  return p;
}

Pattern Pattern::ofRegex(const QString& regex) {
  Pattern p;
  const bool from_start = regex.startsWith(QLatin1Char('^'));
  const bool to_end = regex.endsWith(QLatin1Char('$'));
  const QStringView middle = QStringView(regex).mid(from_start ? 1 : 0, regex.size() - (from_start ? 1 : 0) - (to_end ? 1 : 0));
  // "$" also matches before a last line feed; that is the only difference and nobody means it.
  if (plain(middle) && regex.size() >= (from_start ? 1 : 0) + (to_end ? 1 : 0)) {
    p.kind_ = from_start ? (to_end ? Kind::equals : Kind::starts) : (to_end ? Kind::ends : Kind::contains);
    p.text_ = middle.toUtf8().toStdString();
    return p;
  }
  p.kind_ = Kind::regex;
  p.regex_ = QRegularExpression(regex);
  if (!p.regex_.isValid()) {
    p.problem_ = p.regex_.errorString();
  } else {
    p.regex_.optimize();
  }
  return p;
}

bool Pattern::in(std::string_view text) const {
  switch (kind_) {
    case Kind::contains:
      return text.find(text_) != std::string_view::npos;
    case Kind::contains_folded:
      return contains_folded(text, text_);
    case Kind::starts:
      return text.starts_with(text_);
    case Kind::ends:
      return text.ends_with(text_);
    case Kind::equals:
      return text == text_;
    case Kind::regex: {
      const std::string_view head = text.substr(0, kRegexBytes);
      return regex_.match(QString::fromUtf8(head.data(), static_cast<qsizetype>(head.size()))).hasMatch();
    }
  }
  return false;
}

bool Program::uses(int field) const {
  return std::any_of(nodes_.begin(), nodes_.end(),
                     [field](const Node& n) { return n.kind == Node::Kind::test && n.ref.field == field; });
}

bool Program::test(const Node& node, const Datum& datum) {
  switch (node.op) {
    case Op::eq:
      return compare(datum, node.low) == Order::equal;
    case Op::less:
      return compare(datum, node.low) == Order::less;
    case Op::less_eq: {
      const Order o = compare(datum, node.low);
      return o == Order::less || o == Order::equal;
    }
    case Op::greater:
      return compare(datum, node.low) == Order::greater;
    case Op::greater_eq: {
      const Order o = compare(datum, node.low);
      return o == Order::greater || o == Order::equal;
    }
    case Op::range: {
      const Order low = compare(datum, node.low);
      const Order high = compare(datum, node.high);
      return (low == Order::greater || low == Order::equal) && (high == Order::less || high == Order::equal);
    }
    case Op::set:
      return std::any_of(node.set.begin(), node.set.end(),
                         [&datum](const Literal& l) { return compare(datum, l) == Order::equal; });
    case Op::match:
    case Op::contains:
      return datum.kind == Datum::Kind::text && node.pattern.in(datum.text);
    case Op::exists:
      return datum.kind != Datum::Kind::missing;
    case Op::is_null:
      return datum.kind == Datum::Kind::null;
    case Op::is_empty:
      return datum.kind == Datum::Kind::text && datum.text.empty();
    case Op::truth:
      return datum.kind == Datum::Kind::boolean && datum.truth;
  }
  return false;
}

bool Program::judge(int index, const Source& source) const {
  const Node& node = nodes_[static_cast<std::size_t>(index)];
  switch (node.kind) {
    case Node::Kind::all:
      return std::all_of(node.children.begin(), node.children.end(), [&](int child) { return judge(child, source); });
    case Node::Kind::any:
      return std::any_of(node.children.begin(), node.children.end(), [&](int child) { return judge(child, source); });
    case Node::Kind::negate:
      return !judge(node.children.front(), source);
    case Node::Kind::test:
      for (std::size_t occurrence = 0;; ++occurrence) {
        const Datum datum = source.get(node.ref, occurrence);
        if (test(node, datum)) {
          return true;
        }
        if (!datum.more) {
          return false;
        }
      }
  }
  return false;
}

Program::Chance Program::chance(int index, int field, std::int64_t low, std::int64_t high) const {
  const Node& node = nodes_[static_cast<std::size_t>(index)];
  switch (node.kind) {
    case Node::Kind::all: {
      Chance all{true, false};
      for (const int child : node.children) {
        const Chance c = chance(child, field, low, high);
        all.yes = all.yes && c.yes;
        all.no = all.no || c.no;
      }
      return all;
    }
    case Node::Kind::any: {
      Chance any{false, true};
      for (const int child : node.children) {
        const Chance c = chance(child, field, low, high);
        any.yes = any.yes || c.yes;
        any.no = any.no && c.no;
      }
      return any;
    }
    case Node::Kind::negate: {
      const Chance c = chance(node.children.front(), field, low, high);
      return {c.no, c.yes};
    }
    case Node::Kind::test:
      break;
  }
  if (node.ref.field != field || !node.ref.path.empty() || !node.ref.subscript.empty()) {
    return {};
  }
  // An interval test: can a number of [low, high] lie in [from, to], and can one lie outside?
  const auto within = [&](std::int64_t from, std::int64_t to) {
    return Chance{from <= high && to >= low && from <= to, !(from <= low && to >= high)};
  };
  const bool whole = node.low.kind == Literal::Kind::number;
  switch (node.op) {
    case Op::eq:
      return whole ? within(node.low.number, node.low.number) : Chance{};
    case Op::less:
      return !whole ? Chance{} : (node.low.number == INT64_MIN ? Chance{false, true} : within(INT64_MIN, node.low.number - 1));
    case Op::less_eq:
      return whole ? within(INT64_MIN, node.low.number) : Chance{};
    case Op::greater:
      return !whole ? Chance{} : (node.low.number == INT64_MAX ? Chance{false, true} : within(node.low.number + 1, INT64_MAX));
    case Op::greater_eq:
      return whole ? within(node.low.number, INT64_MAX) : Chance{};
    case Op::range:
      return whole && node.high.kind == Literal::Kind::number ? within(node.low.number, node.high.number) : Chance{};
    case Op::set: {
      Chance any{false, true};
      for (const Literal& l : node.set) {
        if (l.kind != Literal::Kind::number) {
          return {};
        }
        const Chance c = within(l.number, l.number);
        any.yes = any.yes || c.yes;
        any.no = any.no && c.no;
      }
      return any;
    }
    default:
      return {};
  }
}

}  // namespace hw::ui::filter
