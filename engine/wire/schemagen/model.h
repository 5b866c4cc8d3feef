// SPDX-License-Identifier: Apache-2.0
// What a schema file says, after parsing. Owned by the tool, one thread, filled by parser.h, checked by check.h,
// written out by emit.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hw::schemagen {

inline constexpr int kOpen = 32767;  // "and all later versions"

// Both ends included; empty where low > high.
struct Range {
  int low = 1;
  int high = 0;
  [[nodiscard]] bool empty() const { return low > high; }
  [[nodiscard]] bool contains(int version) const { return low <= version && version <= high; }
  [[nodiscard]] bool covers(Range other) const { return other.empty() || (low <= other.low && other.high <= high); }
  friend bool operator==(Range, Range) = default;
};
[[nodiscard]] Range intersect(Range a, Range b);
[[nodiscard]] std::string text(Range range);  // "3+", "3", "0-12", "none"

// One of the types that the language knows. Names that are not in the table are structs.
struct ScalarType {
  std::string_view name;     // in schemas
  std::string_view wire;     // enumerator of wire::WireType
  std::string_view meaning;  // enumerator of wire::Meaning
  std::string_view cpp;      // in generated structs
  std::string_view method;   // of Reader and Writer
  int size;                  // on the wire; 0: begins with a length
  enum class Form : std::uint8_t { raw, strong, enumeration, uuid, string, bytes, records } form;
  [[nodiscard]] bool has_length() const { return size == 0; }
  [[nodiscard]] bool integer() const;
};
// Null for the name of a struct.
[[nodiscard]] const ScalarType* find_scalar(std::string_view name);

struct Field {
  std::string name;
  std::string type;  // without "[]" and "?"
  bool array = false;
  Range versions;
  Range nullable;
  int tag = -1;
  bool has_default = false;
  std::string default_text;  // as written; quotes of strings are taken off
  bool ignorable = false;
  bool map_key = false;
  bool zero_copy = false;
  bool sensitive = false;
  bool never_compact = false;
  std::vector<std::string> doc;
  int line = 0;
  const ScalarType* scalar = nullptr;  // null for a struct
  [[nodiscard]] bool is_nullable() const { return !nullable.empty(); }
  [[nodiscard]] bool default_is_null() const { return has_default && default_text == "null"; }
};

struct Struct {
  std::string name;
  Range versions;
  bool shared = false;  // written with `struct`, not in place
  std::vector<std::string> doc;
  std::vector<Field> fields;
  int line = 0;
};

enum class Kind : std::uint8_t { request, response, header, data, metadata, coordinator_key, coordinator_value };
[[nodiscard]] std::string_view text(Kind kind);

struct Message {
  Kind kind = Kind::data;
  std::string name;    // "ProduceRequest"
  std::string header;  // "produce": file name of the generated header, shared by request and response
  int key = -1;
  Range valid;
  Range advertised;       // of an API: what ApiVersions offers
  int flexible_from = kOpen;
  bool broker_listener = false;
  bool controller_listener = false;
  bool latest_unstable = false;
  std::vector<std::string> doc;
  Struct root;
  std::vector<Struct> structs;  // after check(): each one after those that it uses
  std::string file;
  int line = 0;
  [[nodiscard]] const Struct* find(std::string_view struct_name) const;
};

struct Schema {
  std::vector<Message> messages;  // in the order of the files; the request before its response
};

// "file:line: text", in the order found.
using Errors = std::vector<std::string>;

// Kafka's CamelCase to snake_case: a word begins at a capital after a small letter or a digit, and at a capital
// before a small letter inside a run of capitals.
[[nodiscard]] std::string snake_case(std::string_view camel);

// A number as schemas write it (decimal, or 0x…), false where it is none.
[[nodiscard]] bool parse_number(std::string_view text, std::int64_t& value);

}  // namespace hw::schemagen
