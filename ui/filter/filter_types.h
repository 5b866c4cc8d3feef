// SPDX-License-Identifier: Apache-2.0
// What a filter can speak about: fields with a type (Vocabulary), and where their values come from (Source).
//
// The language knows neither records nor topics. A page says which fields it has, and hands an object of its own as a
// Source when something is to be judged. Thread rule: a Vocabulary does not change after it was built and may be read
// anywhere; a Source belongs to whoever evaluates.
#pragma once

#include <QString>
#include <QStringList>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace hw::ui::filter {

enum class Type : std::uint8_t {
  text,      // bytes, compared as they are; regular expressions see them as UTF-8
  number,    // whole numbers
  size,      // bytes: "1 KiB"
  duration,  // milliseconds: "2 s"
  time,      // milliseconds since 1970: "12:03", "2026-11-29 12:03:31.004", -5 min (ago)
  boolean,   // a field that stands alone: tombstone
  any,       // decided by the value (JSON)
};

struct Field {
  int id = 0;                // what Source::get is asked with
  std::string name;          // "key"; may contain dots ("txn.state")
  Type type = Type::text;
  QString help;              // one line for the list of suggestions, translated
  bool subscript = false;    // hdr["trace"]
  bool path = false;         // value.customer.id, value["odd name"][0]
  QStringList values;        // the only values it can have; empty: open
};

class Vocabulary {
 public:
  Vocabulary() = default;
  explicit Vocabulary(std::vector<Field> fields, std::vector<std::string> free_text = {})
      : fields_(std::move(fields)), free_text_(std::move(free_text)) {}
  [[nodiscard]] const std::vector<Field>& fields() const { return fields_; }
  [[nodiscard]] const Field* find(std::string_view name) const;
  // A word alone ("tenant-7") is looked for in these fields; without any, a word alone is an error.
  [[nodiscard]] const std::vector<std::string>& freeText() const { return free_text_; }
  // Words with a space or another strange sign between them are looked for one by one where the text is no filter:
  // "orders/2 deleted". For lists that were searched by words alone before.
  void setPlainWords(bool plain) { plain_words_ = plain; }
  [[nodiscard]] bool plainWords() const { return plain_words_; }
  // The field whose name is most like a misspelt one; null: none is close.
  [[nodiscard]] const Field* nearest(std::string_view name) const;

 private:
  std::vector<Field> fields_;
  std::vector<std::string> free_text_;
  bool plain_words_ = false;
};
using VocabularyPtr = std::shared_ptr<const Vocabulary>;

// The value of a field. Views point into what the Source keeps; they are used before the next call.
struct Datum {
  enum class Kind : std::uint8_t { missing, null, text, number, real, boolean };
  Kind kind = Kind::missing;
  bool more = false;  // there is another occurrence (headers of the same name, replicas of a set)
  bool truth = false;
  std::int64_t number = 0;
  double real = 0.0;
  std::string_view text;

  static Datum of(Kind kind) {
    Datum d;
    d.kind = kind;
    return d;
  }
  static Datum ofNull() { return of(Kind::null); }
  static Datum ofText(std::string_view t) {
    Datum d = of(Kind::text);
    d.text = t;
    return d;
  }
  static Datum ofNumber(std::int64_t n) {
    Datum d = of(Kind::number);
    d.number = n;
    return d;
  }
  static Datum ofReal(double r) {
    Datum d = of(Kind::real);
    d.real = r;
    return d;
  }
  static Datum ofBool(bool b) {
    Datum d = of(Kind::boolean);
    d.truth = b;
    return d;
  }
};

// value.items[0].id: names and indexes. An index is a step without a name.
struct PathStep {
  std::string name;
  std::int64_t index = -1;  // >= 0: element of an array
};

struct FieldRef {
  int field = 0;
  std::string subscript;
  std::vector<PathStep> path;
};

class Source {
 public:
  virtual ~Source() = default;
  // `occurrence` counts from 0 and goes on while the answer before said `more`.
  [[nodiscard]] virtual Datum get(const FieldRef& ref, std::size_t occurrence) const = 0;
};

}  // namespace hw::ui::filter
