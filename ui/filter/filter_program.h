// SPDX-License-Identifier: Apache-2.0
// A filter, ready to judge: what parse() makes of a text.
//
// Immutable after parsing and safe to use from several threads at once. A judgement allocates nothing but what a
// regular expression or an escaped JSON string needs.
#pragma once

#include <QRegularExpression>
#include <memory>
#include <string>
#include <vector>

#include "ui/filter/filter_types.h"

namespace hw::ui::filter {

enum class Op : std::uint8_t { eq, less, less_eq, greater, greater_eq, match, contains, range, set, exists, is_null, is_empty, truth };

struct Literal {
  enum class Kind : std::uint8_t { null, text, number, real, boolean };
  Kind kind = Kind::null;
  bool truth = false;
  std::int64_t number = 0;
  double real = 0.0;
  std::string text;  // of a text; of everything else as it was written
};

// A regular expression; the usual simple ones ("^42", "tenant", "json$") are compared as bytes.
class Pattern {
 public:
  // Regular expressions look at this many bytes from the head of a value.
  static constexpr std::size_t kRegexBytes = 4U << 20;
  Pattern() = default;
  static Pattern ofRegex(const QString& regex);
  static Pattern ofText(std::string text, bool ignore_case);
  [[nodiscard]] bool valid() const { return problem_.isEmpty(); }
  [[nodiscard]] const QString& problem() const { return problem_; }
  [[nodiscard]] bool in(std::string_view text) const;

 private:
  enum class Kind : std::uint8_t { contains, contains_folded, starts, ends, equals, regex };
  Kind kind_ = Kind::contains;
  std::string text_;
  QRegularExpression regex_;
  QString problem_;
};

class Program {
 public:
  struct Node {
    enum class Kind : std::uint8_t { all, any, negate, test };
    Kind kind = Kind::test;
    std::vector<int> children;
    Op op = Op::truth;
    FieldRef ref;
    Literal low;   // the value; the lower end of a range
    Literal high;
    std::vector<Literal> set;
    Pattern pattern;
  };

  [[nodiscard]] bool empty() const { return nodes_.empty(); }  // an empty filter lets everything through
  [[nodiscard]] bool matches(const Source& source) const { return nodes_.empty() || judge(root_, source); }
  // False where nothing whose number `field` lies in [low, high] can match, whatever its other fields are: whole
  // partitions, ranges and batches need not be looked at.
  [[nodiscard]] bool possible(int field, std::int64_t low, std::int64_t high) const {
    return nodes_.empty() || chance(root_, field, low, high).yes;
  }
  [[nodiscard]] bool uses(int field) const;
  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }
  [[nodiscard]] int root() const { return root_; }

  // For the parser.
  int add(Node node) {
    nodes_.push_back(std::move(node));
    return static_cast<int>(nodes_.size()) - 1;
  }
  void setRoot(int root) { root_ = root; }

 private:
  struct Chance {
    bool yes = true;
    bool no = true;
  };
  [[nodiscard]] bool judge(int node, const Source& source) const;
  [[nodiscard]] static bool test(const Node& node, const Datum& datum);
  [[nodiscard]] Chance chance(int node, int field, std::int64_t low, std::int64_t high) const;
  std::vector<Node> nodes_;
  int root_ = -1;
};
using ProgramPtr = std::shared_ptr<const Program>;

}  // namespace hw::ui::filter
