// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <string>

#include "engine/wire/schemagen/emit.h"

namespace hw::schemagen {
namespace {

std::string initializer(const Field& field, const std::string& type) {
  if (field.is_nullable()) {
    const bool records = field.scalar != nullptr && field.scalar->form == ScalarType::Form::records && !field.array;
    if (field.default_is_null() || records) {
      return "";
    }
    const std::string value =
        !field.array && field.has_default && !field.default_text.empty() ? "\"" + field.default_text + "\"" : "";
    const std::string inner = type.substr(std::string_view("std::optional<").size());
    return "{" + inner.substr(0, inner.size() - 1) + "(" + value + ")}";
  }
  if (field.array || field.scalar == nullptr) {
    return "";
  }
  switch (field.scalar->form) {
    case ScalarType::Form::raw:
      if (field.scalar->wire == "boolean") {
        return field.has_default && field.default_text == "true" ? " = true" : " = false";
      }
      return " = " + number_literal(field);
    case ScalarType::Form::strong: return "{" + number_literal(field) + "}";
    case ScalarType::Form::enumeration: {
      const std::string number = number_literal(field);
      return number == "0" ? " = ErrorCode::none" : " = static_cast<ErrorCode>(" + number + ")";
    }
    case ScalarType::Form::string:
      return field.has_default && !field.default_text.empty() ? " = \"" + field.default_text + "\"" : "";
    case ScalarType::Form::uuid:
    case ScalarType::Form::bytes:
    case ScalarType::Form::records: return "";
  }
  return "";
}

void emit_doc(const std::vector<std::string>& doc, Lines& out) {
  for (const std::string& text : doc) {
    out.line("// " + text);
  }
}

// A nullable struct cannot be nested: until the outer class is complete, clang does not count a class with default
// member initializers as default constructible, and std::optional has asked by then. Such a message gets its structs
// in front, and the nested names as aliases.
bool structs_in_front(const Message& message) {
  const auto is_optional_struct = [](const Field& field) {
    return field.scalar == nullptr && !field.array && field.is_nullable();
  };
  return std::ranges::any_of(message.root.fields, is_optional_struct) ||
         std::ranges::any_of(message.structs, [&](const Struct& each) {
           return std::ranges::any_of(each.fields, is_optional_struct);
         });
}

std::string struct_name(const Message& message, const std::string& name) {
  return structs_in_front(message) && name != message.name ? message.name + "_" + name : name;
}

std::string field_type(const Message& message, const Field& field) {
  std::string type = field.scalar == nullptr ? struct_name(message, field.type) : std::string(field.scalar->cpp);
  if (field.array) {
    type = "std::vector<" + type + ">";
  }
  return field.is_nullable() ? "std::optional<" + type + ">" : type;
}

void emit_fields(const Message& message, const Struct& from, Lines& out) {
  for (const Field& field : from.fields) {
    emit_doc(field.doc, out);
    const std::string type = field_type(message, field);
    std::string note = field.versions.covers(message.valid) ? "" : "  // " + text(field.versions);
    if (field.tag >= 0) {
      note += (note.empty() ? "  // tag " : ", tag ") + std::to_string(field.tag);
    }
    out.line(type + " " + cpp_name(field) + initializer(field, type) + ";" + note);
  }
  if (message.flexible_from != kOpen) {
    out.line("std::vector<RawTaggedField> unknown_tagged_fields;");
  }
  const std::string self = "const " + struct_name(message, from.name) + "&";
  out.line("friend bool operator==(" + self + ", " + self + ") = default;");
}

void emit_struct(const Message& message, const Struct& each, Lines& out) {
  emit_doc(each.doc, out);
  out.line("struct " + struct_name(message, each.name) + " {");
  emit_fields(message, each, out);
  out.line("};");
}

void emit_message(const Message& message, Lines& out) {
  const bool in_front = structs_in_front(message);
  for (const Struct& each : message.structs) {
    if (in_front) {
      emit_struct(message, each, out);
      out.blank();
    }
  }
  emit_doc(message.doc, out);
  out.line("struct " + message.name + " {");
  out.line("static constexpr std::string_view kName = \"" + message.name + "\";");
  if (message.key >= 0) {
    out.line("static constexpr std::int16_t kApiKey = " + std::to_string(message.key) + ";");
  }
  out.line("static constexpr std::int16_t kLowestVersion = " + std::to_string(message.valid.low) + ";");
  out.line("static constexpr std::int16_t kHighestVersion = " + std::to_string(message.valid.high) + ";");
  out.line("static constexpr std::int16_t kFlexibleFrom = " +
           (message.flexible_from == kOpen ? "INT16_MAX" : std::to_string(message.flexible_from)) + ";");
  if (in_front && !message.structs.empty()) {
    out.blank();
  }
  for (const Struct& each : message.structs) {
    if (in_front) {
      out.line("using " + each.name + " = " + struct_name(message, each.name) + ";");
    } else {
      out.blank();
      emit_struct(message, each, out);
    }
  }
  out.blank();
  emit_fields(message, message.root, out);
  out.line("};");
  out.line("[[nodiscard]] bool decode(Reader& reader, " + message.name + "& message, std::int16_t version);");
  out.line("[[nodiscard]] bool encode(Writer& writer, const " + message.name + "& message, std::int16_t version);");
}

}  // namespace

std::string emit_header(const Schema& schema, const std::string& header) {
  std::set<std::string> includes;
  Lines out;
  const auto include_for = [&](const Struct& each) {
    for (const Field& field : each.fields) {
      const std::string_view cpp = field.scalar == nullptr ? std::string_view() : field.scalar->cpp;
      if (cpp == "Uuid") {
        includes.insert("engine/base/uuid.h");
      } else if (cpp == "ErrorCode") {
        includes.insert("engine/wire/runtime/error_code.h");
      } else if (cpp == "Bytes" || cpp == "BytesChain") {
        includes.insert("engine/base/bytes.h");
      } else if (field.scalar != nullptr && field.scalar->form == ScalarType::Form::strong) {
        includes.insert("engine/base/ids.h");
      }
    }
  };
  for (const Message& message : schema.messages) {
    if (message.header != header) {
      continue;
    }
    if (message.flexible_from != kOpen) {
      includes.insert("engine/wire/runtime/raw_tagged_field.h");
    }
    include_for(message.root);
    std::ranges::for_each(message.structs, include_for);
    out.blank();
    emit_message(message, out);
  }
  std::string text = "// SPDX-License-Identifier: Apache-2.0\n// Generated by schemagen from engine/wire/schema.\n";
  text += "#pragma once\n\n#include <cstdint>\n#include <optional>\n#include <string>\n#include <string_view>\n";
  text += "#include <vector>\n\n";
  for (const std::string& include : includes) {
    text += "#include \"" + include + "\"\n";
  }
  text += "\nnamespace hw::wire {\n\nclass Reader;\nclass Writer;\n";
  return text + out.text() + "\n}  // namespace hw::wire\n";
}

}  // namespace hw::schemagen
