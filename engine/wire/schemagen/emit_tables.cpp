// SPDX-License-Identifier: Apache-2.0
// The tables: every field of every message, and all APIs.
#include <algorithm>
#include <string>
#include <vector>

#include "engine/wire/schemagen/emit.h"

namespace hw::schemagen {
namespace {

std::string range_literal(Range range) {
  if (range.empty()) {
    return "{}";
  }
  return "{" + std::to_string(range.low) + ", " + (range.high == kOpen ? "kNever" : std::to_string(range.high)) + "}";
}

const char* boolean(bool value) { return value ? "true" : "false"; }

std::string table_name(const Message& message, const std::string& of) {
  return of == message.name ? "k" + of : "k" + message.name + "_" + of;
}

std::string field_row(const Message& message, const Field& field) {
  const std::string wire = field.scalar == nullptr ? "structure" : std::string(field.scalar->wire);
  const std::string meaning = field.scalar == nullptr ? "plain" : std::string(field.scalar->meaning);
  std::string row = "{\"" + field.name + "\", WireType::" + wire + ", Meaning::" + meaning + ", ";
  row += std::string(boolean(field.array)) + ", " + range_literal(field.versions) + ", " +
         range_literal(intersect(field.versions, field.nullable)) + ", " + std::to_string(field.tag) + ", ";
  row += "\"" + (field.has_default ? field.default_text : "") + "\", ";
  for (const bool flag : {field.ignorable, field.map_key, field.zero_copy, field.sensitive, field.never_compact}) {
    row += std::string(boolean(flag)) + ", ";
  }
  row += field.scalar == nullptr ? "&" + table_name(message, field.type) : "nullptr";
  return row + "},";
}

void emit_struct(const Message& message, const Struct& each, Lines& out) {
  const std::string name = table_name(message, each.name);
  if (!each.fields.empty()) {
    out.line("constexpr FieldInfo " + name + "_fields[] = {");
    for (const Field& field : each.fields) {
      out.line(field_row(message, field));
    }
    out.line("};");
  }
  out.line("constexpr StructInfo " + name + "{\"" + each.name + "\", " + range_literal(each.versions) + ", " +
           (each.fields.empty() ? "{}" : name + "_fields") + "};");
}

std::string flexible_literal(const Message& message) {
  return message.flexible_from == kOpen ? "kNever" : std::to_string(message.flexible_from);
}

}  // namespace

std::string emit_field_tables(const Schema& schema) {
  Lines out;
  out.line("#include \"engine/wire/msg/detail/tables.h\"");
  out.blank();
  out.line("namespace hw::wire {");
  out.line("namespace {");
  std::string rows;
  for (const Message& message : schema.messages) {
    for (const Struct& each : message.structs) {
      emit_struct(message, each, out);
    }
    emit_struct(message, message.root, out);
    rows += "    {\"" + message.name + "\", MessageKind::" + std::string(text(message.kind)) + ", " +
            std::to_string(message.key) + ", " + range_literal(message.valid) + ", " + flexible_literal(message) +
            ", &" + table_name(message, message.name) + "},\n";
  }
  std::string result = out.text() + "    constexpr MessageInfo kMessages[] = {\n" + rows + "    };\n";
  result += "  }  // namespace\n  std::span<const MessageInfo> message_table() noexcept { return kMessages; }\n";
  return result + "}  // namespace hw::wire\n";
}

std::string emit_api_table(const Schema& schema) {
  std::vector<const Message*> requests;
  for (const Message& message : schema.messages) {
    if (message.kind == Kind::request) {
      requests.push_back(&message);
    }
  }
  std::ranges::sort(requests, {}, &Message::key);
  std::string result = "#include \"engine/wire/msg/detail/tables.h\"\n\nnamespace hw::wire {\nnamespace {\n";
  result += "constexpr ApiInfo kApis[] = {\n";
  for (const Message* message : requests) {
    const std::string name = message->name.substr(0, message->name.size() - std::string_view("Request").size());
    result += "    {" + std::to_string(message->key) + ", \"" + name + "\", " + std::to_string(message->valid.low) +
              ", " + std::to_string(message->valid.high) + ", " + std::to_string(message->advertised.low) + ", " +
              std::to_string(message->advertised.high) + ", " + flexible_literal(*message) + ", " +
              boolean(message->broker_listener) + ", " + boolean(message->controller_listener) + "},\n";
  }
  result += "};\n}  // namespace\nstd::span<const ApiInfo> api_table() noexcept { return kApis; }\n";
  return result + "}  // namespace hw::wire\n";
}

}  // namespace hw::schemagen
