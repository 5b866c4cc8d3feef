// SPDX-License-Identifier: Apache-2.0
// Writes C++ from a checked schema. The output depends on nothing but the schema, and a file whose content did not
// change is not touched, so that an edit rebuilds only what it concerns.
#pragma once

#include <filesystem>
#include <string>

#include "engine/wire/schemagen/model.h"

namespace hw::schemagen {

inline constexpr int kShards = 8;

// msg/<api>.h, codec_0.cpp … codec_7.cpp, field_tables.cpp, api_table.cpp and for_each_message.inc in `folder`.
void emit_all(const Schema& schema, const std::filesystem::path& folder, Errors& errors);

// The parts, as text.
[[nodiscard]] std::string emit_header(const Schema& schema, const std::string& header);
[[nodiscard]] std::string emit_codec(const Message& message);
[[nodiscard]] std::string emit_field_tables(const Schema& schema);
[[nodiscard]] std::string emit_api_table(const Schema& schema);

// Helpers that the parts share.
// Lines with the indentation that braces give them.
class Lines {
 public:
  void line(const std::string& text);  // a line that begins with } goes one level out, one that ends with { one in
  void blank() { out_ += '\n'; }
  [[nodiscard]] const std::string& text() const { return out_; }

 private:
  std::string out_;
  int depth_ = 0;
};
// A field name as C++ has it: a keyword gets a trailing underscore.
[[nodiscard]] std::string cpp_name(const Field& field);
// The C++ type of one element, as code outside of the message's struct names it.
[[nodiscard]] std::string element_type(const Message& message, const Field& field);
// The number of a default, 0 where the schema says none.
[[nodiscard]] std::string number_literal(const Field& field);
// An expression that is true where `object.field` differs from its default.
[[nodiscard]] std::string differs_from_default(const Message& message, const Field& field, const std::string& object);
// The fewest bytes that a value of this struct takes in any version of the message.
[[nodiscard]] int least_size(const Message& message, const Struct& of, int version);

}  // namespace hw::schemagen
