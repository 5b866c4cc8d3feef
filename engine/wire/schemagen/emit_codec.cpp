// SPDX-License-Identifier: Apache-2.0
// decode() and encode() of one message. Version tests appear only where they can fail.
#include <algorithm>
#include <string>

#include "engine/wire/schemagen/emit.h"

namespace hw::schemagen {
namespace {

using Form = ScalarType::Form;

// "" for always, "false" for never, otherwise a condition on `version`.
std::string condition(Range wanted, Range context) {
  if (wanted.covers(context)) {
    return "";
  }
  if (intersect(wanted, context).empty()) {
    return "false";
  }
  std::string text;
  if (wanted.low > context.low) {
    text = "version >= " + std::to_string(wanted.low);
  }
  if (wanted.high < context.high) {
    text += (text.empty() ? "version <= " : " && version <= ") + std::to_string(wanted.high);
  }
  return text;
}

class CodecEmitter {
 public:
  explicit CodecEmitter(const Message& message) : message_(message) {}

  std::string run() {
    for (const Struct& each : message_.structs) {
      emit_struct(each, message_.name + "::" + each.name);
    }
    emit_struct(message_.root, message_.name);
    emit_entry();
    return out_.text();
  }

 private:
  void emit_struct(const Struct& from, const std::string& type) {
    context_ = intersect(from.versions, message_.valid);
    if (context_.empty()) {
      context_ = message_.valid;
    }
    out_.blank();
    out_.line("static bool get(Reader& r, " + type + "& m, [[maybe_unused]] std::int16_t version) {");
    emit_compact();
    for (const Field& field : from.fields) {
      if (field.tag < 0) {
        const std::string when = condition(field.versions, context_);
        if (when == "false") {
          continue;
        }
        open(when);
        emit_get(field);
        close(when);
      }
    }
    if (message_.flexible_from != kOpen) {
      emit_get_tags(from);
    }
    out_.line("return r.ok();");
    out_.line("}");
    out_.blank();
    out_.line("static bool put(Writer& w, const " + type + "& m, [[maybe_unused]] std::int16_t version) {");
    emit_compact();
    for (const Field& field : from.fields) {
      emit_put_field(field);
    }
    if (message_.flexible_from != kOpen) {
      emit_put_tags(from);
    }
    out_.line("return w.ok();");
    out_.line("}");
  }

  void emit_compact() {
    const std::string when = condition({message_.flexible_from, kOpen}, context_);
    out_.line("[[maybe_unused]] const bool compact = " + (when.empty() ? "true" : when) + ";");
  }

  void open(const std::string& when) {
    if (!when.empty()) {
      out_.line("if (" + when + ") {");
    }
  }
  void close(const std::string& when) {
    if (!when.empty()) {
      out_.line("}");
    }
  }

  static std::string read_scalar(const Field& field) {
    const ScalarType& type = *field.scalar;
    std::string read = "r." + std::string(type.method);
    if (type.has_length()) {
      return read + (field.never_compact ? "(false)" : "(compact)");
    }
    read += "()";
    if (type.form == Form::strong) {
      return std::string(type.cpp) + "(" + read + ")";
    }
    if (type.form == Form::enumeration) {
      return "static_cast<" + std::string(type.cpp) + ">(" + read + ")";
    }
    return read;
  }

  // A condition under which null may come: the field's own versions narrow the context.
  std::string null_condition(const Field& field) const {
    return condition(field.nullable, intersect(field.versions, context_));
  }

  void emit_get(const Field& field) {
    const std::string target = "m." + cpp_name(field);
    const std::string null_when = field.is_nullable() ? null_condition(field) : "false";
    if (field.array) {
      emit_get_array(field, target, null_when);
    } else if (field.scalar != nullptr) {
      if (null_when == "false") {
        out_.line(target + " = " + read_scalar(field) + ";");
        return;
      }
      const std::string compact = field.never_compact ? "(false)" : "(compact)";
      const std::string nullable = "r.nullable_" + std::string(field.scalar->method) + compact;
      if (null_when.empty()) {
        out_.line(target + " = " + nullable + ";");
      } else {
        out_.line("if (" + null_when + ") {");
        out_.line(target + " = " + nullable + ";");
        out_.line("} else {");
        out_.line(target + " = " + read_scalar(field) + ";");
        out_.line("}");
      }
    } else if (!field.is_nullable()) {
      out_.line("if (!get(r, " + target + ", version)) {");
      out_.line("return false;");
      out_.line("}");
    } else {
      const std::string follows =
          null_when.empty() ? "r.struct_follows()" : "!(" + null_when + ") || r.struct_follows()";
      out_.line("if (" + follows + ") {");
      out_.line("if (!get(r, " + target + ".emplace(), version)) {");
      out_.line("return false;");
      out_.line("}");
      out_.line("} else {");
      out_.line(target + ".reset();");
      out_.line("}");
    }
  }

  int least_element(const Field& field) const {
    const Range versions = intersect(intersect(field.versions, context_), message_.valid);
    int least = 1 << 20;
    for (int version = versions.low; version <= versions.high; ++version) {
      int size = 0;
      if (field.scalar == nullptr) {
        size = least_size(message_, *message_.find(field.type), version);
      } else if (field.scalar->has_length()) {
        size = version >= message_.flexible_from ? 1 : field.scalar->form == Form::string ? 2 : 4;
      } else {
        size = field.scalar->size;
      }
      least = std::min(least, size);
    }
    return std::max(least, 1);
  }

  void emit_get_array(const Field& field, const std::string& target, const std::string& null_when) {
    const std::string nullable = null_when.empty() ? "true" : null_when;
    out_.line("if (std::size_t count = 0; r.array_length(compact, " + nullable + ", " +
              std::to_string(least_element(field)) + ", sizeof(" + element_type(message_, field) + "), count)) {");
    // Constructed with its size: resize() would instantiate the moving of elements for every struct.
    if (field.is_nullable()) {
      out_.line("for (auto& item : " + target + ".emplace(count)) {");
    } else {
      out_.line(target + " = std::vector<" + element_type(message_, field) + ">(count);");
      out_.line("for (auto& item : " + target + ") {");
    }
    if (field.scalar != nullptr) {
      out_.line("item = " + read_scalar(field) + ";");
    } else {
      out_.line("if (!get(r, item, version)) {");
      out_.line("return false;");
      out_.line("}");
    }
    out_.line("}");
    if (field.is_nullable()) {
      out_.line("} else {");
      out_.line(target + ".reset();");
    }
    out_.line("}");
  }

  void emit_get_tags(const Struct& from) {
    const std::string when = condition({message_.flexible_from, kOpen}, context_);
    const bool any = std::ranges::any_of(from.fields, [&](const Field& field) {
      return field.tag >= 0 && condition(field.versions, context_) != "false";
    });
    if (when == "false") {
      return;
    }
    open(when);
    if (!any) {
      out_.line("if (!r.skip_tags(m.unknown_tagged_fields)) {");
      out_.line("return false;");
      out_.line("}");
      close(when);
      return;
    }
    out_.line("for (std::uint32_t left = r.tag_count(); left > 0; --left) {");
    out_.line("Reader::Tag tag;");
    out_.line("if (!r.open_tag(tag)) {");
    out_.line("return false;");
    out_.line("}");
    out_.line("switch (tag.number) {");
    for (const Field& field : from.fields) {
      const Range flexible{std::max(context_.low, message_.flexible_from), context_.high};
      const std::string tag_when = condition(field.versions, flexible);
      if (field.tag < 0 || tag_when == "false") {
        continue;
      }
      out_.line("case " + std::to_string(field.tag) + ": {");
      if (!tag_when.empty()) {
        out_.line("if (!(" + tag_when + ")) {");
        out_.line("return r.fail(\"a tagged field that this version does not have\");");
        out_.line("}");
      }
      if (field.scalar == nullptr && !field.array) {
        out_.line("m." + cpp_name(field) + " = {};");  // should the tag come twice
      }
      emit_get(field);
      out_.line("break;");
      out_.line("}");
    }
    out_.line("default: {");
    out_.line("r.keep_tag(tag, m.unknown_tagged_fields);");
    out_.line("break;");
    out_.line("}");
    out_.line("}");
    out_.line("if (!r.close_tag(tag)) {");
    out_.line("return false;");
    out_.line("}");
    out_.line("}");
    close(when);
  }

  static std::string write_scalar(const Field& field, const std::string& value) {
    const ScalarType& type = *field.scalar;
    const std::string call = "w." + std::string(type.method) + "(";
    if (type.has_length()) {
      return call + value + (field.never_compact ? ", false);" : ", compact);");
    }
    if (type.form == Form::strong) {
      return call + value + ".value());";
    }
    if (type.form == Form::enumeration) {
      return call + "static_cast<std::int16_t>(" + value + "));";
    }
    return call + value + ");";
  }

  void emit_put_field(const Field& field) {
    const std::string when = condition(field.versions, context_);
    const bool guarded = !field.ignorable && !when.empty();
    if (field.tag < 0 && when != "false") {
      open(when);
      emit_put(field);
      if (!guarded) {
        close(when);
        return;
      }
    }
    if (!guarded) {
      return;
    }
    // Here `when` is neither "" nor, unless the field is in no version, "false".
    const std::string differs = differs_from_default(message_, field, "m");
    const std::string fail =
        "return w.fail(\"a value that this version cannot carry\", \"" + message_.name + "." + field.name + "\");";
    if (field.tag < 0 && when != "false") {
      out_.line("} else if (" + differs + ") {");
    } else {
      out_.line("if (" + (when == "false" ? "" : "!(" + when + ") && ") + differs + ") {");
    }
    out_.line(fail);
    out_.line("}");
  }

  void emit_put(const Field& field) {
    const std::string source = "m." + cpp_name(field);
    if (!field.is_nullable()) {
      emit_put_value(field, source);
      return;
    }
    const bool structure = field.scalar == nullptr && !field.array;
    const std::string null_when = null_condition(field);
    std::string null_call = "w.null_bytes(";
    if (field.array) {
      null_call = "w.null_array(";
    } else if (structure) {
      null_call = "w.int8(-1";
    } else if (field.scalar->form == Form::string) {
      null_call = "w.null_string(";
    }
    if (!structure) {
      null_call += field.never_compact ? "false" : "compact";
    }
    out_.line("if (" + source + ".has_value()) {");
    if (structure) {
      out_.line(null_when.empty() ? "w.int8(1);" : "if (" + null_when + ") { w.int8(1); }");
      emit_put_value(field, "*" + source);
    } else {
      emit_put_value(field, "*" + source);
    }
    const std::string fail =
        "return w.fail(\"null in a version that does not know it\", \"" + message_.name + "." + field.name + "\");";
    if (null_when.empty()) {
      out_.line("} else {");
      out_.line(null_call + ");");
    } else if (null_when == "false") {
      out_.line("} else {");
      out_.line(fail);
    } else {
      out_.line("} else if (" + null_when + ") {");
      out_.line(null_call + ");");
      out_.line("} else {");
      out_.line(fail);
    }
    out_.line("}");
  }

  void emit_put_value(const Field& field, const std::string& value) {
    if (field.array) {
      const std::string list = value.starts_with('*') ? "(" + value + ")" : value;
      out_.line("w.array_length(" + list + ".size(), compact);");
      out_.line("for (const auto& item : " + value + ") {");
      if (field.scalar != nullptr) {
        out_.line(write_scalar(field, "item"));
      } else {
        out_.line("if (!put(w, item, version)) {");
        out_.line("return false;");
        out_.line("}");
      }
      out_.line("}");
    } else if (field.scalar != nullptr) {
      out_.line(write_scalar(field, value));
    } else {
      out_.line("if (!put(w, " + value + ", version)) {");
      out_.line("return false;");
      out_.line("}");
    }
  }

  void emit_put_tags(const Struct& from) {
    const Range flexible{std::max(context_.low, message_.flexible_from), context_.high};
    const std::string when = condition({message_.flexible_from, kOpen}, context_);
    std::vector<const Field*> tagged;
    for (const Field& field : from.fields) {
      if (field.tag >= 0 && condition(field.versions, flexible) != "false") {
        tagged.push_back(&field);
      }
    }
    std::ranges::sort(tagged, {}, &Field::tag);
    if (when == "false") {
      return;
    }
    open(when);
    if (tagged.empty()) {
      out_.line("w.only_unknown(m.unknown_tagged_fields);");
    } else {
      out_.line("std::size_t count = m.unknown_tagged_fields.size();");
      for (const Field* field : tagged) {
        const std::string name = "has_" + field->name;
        const std::string tag_when = condition(field->versions, flexible);
        out_.line("const bool " + name + " = " + (tag_when.empty() ? "" : tag_when + " && ") +
                  differs_from_default(message_, *field, "m") + ";");
        out_.line("count += " + name + " ? 1 : 0;");
      }
      out_.line("w.tag_count(count);");
      out_.line("std::size_t next = 0;");
      for (const Field* field : tagged) {
        const std::string tag = std::to_string(field->tag);
        out_.line("w.write_unknown_below(m.unknown_tagged_fields, next, " + tag + ");");
        out_.line("if (has_" + field->name + ") {");
        out_.line("const std::size_t mark = w.begin_tag(" + tag + ");");
        emit_put(*field);
        out_.line("w.end_tag(mark);");
        out_.line("}");
      }
      out_.line("w.write_unknown_below(m.unknown_tagged_fields, next, Writer::kNoMoreTags);");
    }
    if (!when.empty()) {
      out_.line("} else if (!m.unknown_tagged_fields.empty()) {");
      out_.line("return w.fail(\"tagged fields in a version that has none\", \"" + message_.name + "\");");
    }
    close(when);
  }

  void emit_entry() {
    const std::string range = "version < " + message_.name + "::kLowestVersion || version > " + message_.name +
                              "::kHighestVersion";
    out_.blank();
    out_.line("bool decode(Reader& reader, " + message_.name + "& message, std::int16_t version) {");
    out_.line("if (" + range + ") {");
    out_.line("return reader.fail(\"a version that is not supported\");");
    out_.line("}");
    out_.line("message = " + message_.name + "();");
    out_.line("return get(reader, message, version);");
    out_.line("}");
    out_.blank();
    out_.line("bool encode(Writer& writer, const " + message_.name + "& message, std::int16_t version) {");
    out_.line("if (" + range + ") {");
    out_.line("return writer.fail(\"a version that is not supported\", \"" + message_.name + "\");");
    out_.line("}");
    out_.line("return put(writer, message, version);");
    out_.line("}");
  }

  const Message& message_;
  Range context_;  // versions in which the struct at hand can occur
  Lines out_;
};

}  // namespace

std::string emit_codec(const Message& message) { return CodecEmitter(message).run(); }

}  // namespace hw::schemagen
