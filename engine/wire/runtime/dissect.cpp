// SPDX-License-Identifier: Apache-2.0
#include "engine/wire/runtime/dissect.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "engine/wire/runtime/error_code.h"
#include "engine/wire/runtime/reader.h"

namespace hw::wire {
namespace {

std::string_view type_name(WireType type) {
  switch (type) {
    case WireType::boolean: return "bool";
    case WireType::int8: return "int8";
    case WireType::int16: return "int16";
    case WireType::uint16: return "uint16";
    case WireType::int32: return "int32";
    case WireType::uint32: return "uint32";
    case WireType::int64: return "int64";
    case WireType::float64: return "float64";
    case WireType::uuid: return "uuid";
    case WireType::string: return "string";
    case WireType::bytes: return "bytes";
    case WireType::records: return "records";
    case WireType::structure: return "struct";
  }
  return "";
}

std::string full_type(const FieldInfo& field) {
  std::string text = field.array ? "[]" : "";
  text += field.fields != nullptr ? field.fields->name : type_name(field.type);
  return field.nullable.empty() ? text : text + "?";
}

std::string plural(std::size_t count, std::string_view one) {
  return std::to_string(count) + " " + std::string(one) + (count == 1 ? "" : "s");
}

void append_escaped(std::string& out, std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  for (const char c : text) {
    const unsigned byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      out += "\\x";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += c;
    }
  }
}

std::string text_value(std::string_view text, std::size_t limit) {
  std::string out;
  std::size_t shown = std::min(text.size(), limit);
  while (shown < text.size() && shown > 0 && (static_cast<unsigned char>(text[shown]) & 0xc0) == 0x80) {
    --shown;  // do not cut a UTF-8 character in two
  }
  append_escaped(out, text.substr(0, shown));
  return shown < text.size() ? out + "… (" + plural(text.size(), "byte") + ")" : out;
}

std::string bytes_value(ByteSpan bytes, std::size_t limit) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out = plural(bytes.size(), "byte");
  const std::size_t shown = std::min(bytes.size(), limit);
  out += shown > 0 ? ":" : "";
  for (std::size_t i = 0; i < shown; ++i) {
    const unsigned byte = static_cast<unsigned>(bytes[i]);
    out += ' ';
    out += kHex[byte >> 4];
    out += kHex[byte & 15];
  }
  return shown < bytes.size() ? out + " …" : out;
}

// Whether the value of a config with this name should stay hidden.
bool names_a_secret(std::string_view name) {
  std::string lower(name);
  std::ranges::transform(lower, lower.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  static constexpr std::string_view kParts[] = {"password", "secret", "jaas", "credential", "private.key", "keystore.key"};
  return std::ranges::any_of(kParts, [&](std::string_view part) { return lower.find(part) != std::string::npos; });
}

class Dissector {
 public:
  Dissector(Reader& reader, const DissectOptions& options) : reader_(reader), options_(options) {}

  void message(const MessageInfo& info, std::int16_t version, DissectedField& into) {
    version_ = version;
    compact_ = version >= info.flexible_from;
    into.name = info.name;
    into.type = info.name;
    into.begin = reader_.position();
    if (!info.versions.contains(version)) {
      reader_.fail("a version that is not supported");
    } else {
      structure(*info.root, into);
    }
    into.end = reader_.position();
  }
  [[nodiscard]] bool cut() const { return cut_; }

 private:
  // Adds a node below `parent`; null where the limit is reached.
  DissectedField* add(DissectedField* parent, std::string name, std::string type, std::size_t begin) {
    if (parent == nullptr || nodes_ >= options_.max_fields) {
      cut_ = true;
      return nullptr;
    }
    ++nodes_;
    DissectedField& node = parent->children.emplace_back();
    node.name = std::move(name);
    node.type = std::move(type);
    node.begin = begin;
    return &node;
  }
  void finish(DissectedField* node) {
    if (node != nullptr) {
      node->end = reader_.ok() ? reader_.position() : std::max(node->begin, reader_.error_position());
    }
  }

  void structure(const StructInfo& info, DissectedField& into) { structure(info, &into); }
  void structure(const StructInfo& info, DissectedField* into) {
    for (const FieldInfo& field : info.fields) {
      if (field.tag >= 0 || !field.versions.contains(version_)) {
        continue;
      }
      if (!reader_.ok()) {
        return;
      }
      const std::size_t begin = reader_.position();
      DissectedField* node = add(into, std::string(field.name), full_type(field), begin);
      value(field, node);
      finish(node);
    }
    if (compact_) {
      tags(info, into);
    }
    if (into != nullptr && !options_.show_sensitive) {
      hide_config_value(*into);
    }
  }

  void tags(const StructInfo& info, DissectedField* into) {
    if (!reader_.ok()) {
      return;
    }
    const std::size_t begin = reader_.position();
    std::uint32_t left = reader_.tag_count();
    DissectedField* section = add(into, "tagged_fields", "tags", begin);
    if (section != nullptr) {
      section->value = plural(left, "field");
    }
    for (; left > 0 && reader_.ok(); --left) {
      const std::size_t at = reader_.position();
      Reader::Tag tag;
      if (!reader_.open_tag(tag)) {
        break;
      }
      const auto known = std::ranges::find_if(info.fields, [&](const FieldInfo& field) {
        return field.tag >= 0 && static_cast<std::uint32_t>(field.tag) == tag.number;
      });
      DissectedField* node = nullptr;
      if (known != info.fields.end() && known->versions.contains(version_)) {
        node = add(section, std::string(known->name), full_type(*known), at);
        value(*known, node);
      } else if (known != info.fields.end()) {
        reader_.fail("a tagged field that this version does not have");
      } else {
        node = add(section, "tag " + std::to_string(tag.number), "unknown", at);
        const Bytes data = reader_.raw(tag.size);
        if (node != nullptr) {
          node->value = bytes_value(data.span(), options_.max_value_bytes / 4);
        }
      }
      reader_.close_tag(tag);
      finish(node);
    }
    finish(section);
  }

  void value(const FieldInfo& field, DissectedField* node) {
    if (node != nullptr) {
      node->info = &field;
    }
    const bool nullable = field.nullable.contains(version_);
    if (field.array) {
      array(field, nullable, node);
    } else if (field.type != WireType::structure) {
      std::string text = scalar(field, nullable);
      if (node != nullptr) {
        node->value = std::move(text);
      }
    } else if (nullable && !reader_.struct_follows()) {
      if (node != nullptr && reader_.ok()) {
        node->value = "null";
      }
    } else if (reader_.ok()) {
      structure(*field.fields, node);
    }
  }

  void array(const FieldInfo& field, bool nullable, DissectedField* node) {
    std::size_t count = 0;
    // Charged as one byte an element: the nodes have their own bound.
    if (!reader_.array_length(compact_, nullable, 1, 1, count)) {
      if (node != nullptr && reader_.ok()) {
        node->value = "null";
      }
      return;
    }
    if (node != nullptr) {
      node->value = plural(count, "item");
    }
    for (std::size_t i = 0; i < count && reader_.ok(); ++i) {
      const std::size_t begin = reader_.position();
      const bool keep = node != nullptr && nodes_ < options_.max_fields;
      const std::string_view type = field.fields != nullptr ? field.fields->name : type_name(field.type);
      DissectedField* element = add(keep ? node : nullptr, keep ? "[" + std::to_string(i) + "]" : "", std::string(type), begin);
      if (field.type == WireType::structure) {
        structure(*field.fields, element);
      } else {
        std::string text = scalar(field, false);
        if (element != nullptr) {
          element->value = std::move(text);
        }
      }
      finish(element);
    }
  }

  std::string number(const FieldInfo& field, std::int64_t value) {
    if (field.meaning == Meaning::error_code) {
      return std::string(error_name(static_cast<ErrorCode>(value))) + " (" + std::to_string(value) + ")";
    }
    return std::to_string(value);
  }

  std::string scalar(const FieldInfo& field, bool nullable) {
    const bool compact = compact_ && !field.never_compact;
    switch (field.type) {
      case WireType::boolean: return reader_.boolean() ? "true" : "false";
      case WireType::int8: return number(field, reader_.int8());
      case WireType::int16: return number(field, reader_.int16());
      case WireType::uint16: return number(field, reader_.uint16());
      case WireType::int32: return number(field, reader_.int32());
      case WireType::uint32: return number(field, reader_.uint32());
      case WireType::int64: return number(field, reader_.int64());
      case WireType::float64: return real(reader_.float64());
      case WireType::uuid: return reader_.uuid().text();
      case WireType::string: {
        std::optional<std::string> text = reader_.nullable_string(compact);
        if (!text.has_value()) {
          return null_value(nullable, "null for a string that may not be null");
        }
        return hidden(field) ? "(hidden)" : text_value(*text, options_.max_value_bytes);
      }
      case WireType::bytes:
      case WireType::records: {
        const std::optional<Bytes> bytes = reader_.nullable_bytes(compact);
        if (!bytes.has_value()) {
          return null_value(nullable, "null for bytes that may not be null");
        }
        if (field.type == WireType::records) {
          return plural(bytes->size(), "byte") + " of record batches";
        }
        return hidden(field) ? "(hidden)" : bytes_value(bytes->span(), options_.max_value_bytes / 4);
      }
      case WireType::structure: break;
    }
    return {};
  }

  std::string null_value(bool nullable, const char* why) {
    if (!nullable) {
      reader_.fail(why);
    }
    return "null";
  }

  static std::string real(double value) {
    std::array<char, 32> buffer{};
    const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
    return error == std::errc() ? std::string(buffer.data(), end) : std::string("?");
  }

  bool hidden(const FieldInfo& field) const { return field.sensitive && !options_.show_sensitive; }

  static void hide_config_value(DissectedField& node) {
    const DissectedField* name = nullptr;
    DissectedField* value = nullptr;
    for (DissectedField& child : node.children) {
      if (child.name == "name" || child.name == "config_name") {
        name = &child;
      } else if (child.name == "value" || child.name == "config_value") {
        value = &child;
      }
    }
    if (name != nullptr && value != nullptr && value->value != "null" && names_a_secret(name->value)) {
      value->value = "(hidden)";
    }
  }

  Reader& reader_;
  const DissectOptions& options_;
  std::int16_t version_ = 0;
  bool compact_ = false;
  bool cut_ = false;
  std::size_t nodes_ = 0;
};

void conclude(Reader& reader, const Dissector& dissector, Dissection& result) {
  result.cut = dissector.cut();
  result.left_over = reader.remaining();
  result.complete = reader.ok() && result.left_over == 0;
  if (!reader.ok()) {
    result.error = reader.error();
    result.error_position = reader.error_position();
  } else if (result.left_over != 0) {
    result.error = plural(result.left_over, "byte") + " left over after the message";
    result.error_position = reader.position();
  }
}

void print_into(const DissectedField& field, std::size_t level, std::string& out) {
  out.append(level * 2, ' ');
  out += field.name;
  if (!field.value.empty() || field.children.empty()) {
    out += ": " + field.value;
  }
  out += '\n';
  for (const DissectedField& child : field.children) {
    print_into(child, level + 1, out);
  }
}

// Returns false once `limit` is passed.
bool line_into(const DissectedField& field, bool is_element, std::size_t limit, std::string& out) {
  if (out.size() > limit) {
    return false;
  }
  if (!is_element) {
    out += field.name + "=";
  }
  if (field.value == "null" || (field.children.empty() && field.value != "0 items")) {
    out += field.value;
    return true;
  }
  const bool list = field.info != nullptr && field.info->array;
  out += list ? '[' : '{';
  bool first = true;
  for (const DissectedField& child : field.children) {
    if (child.name == "tagged_fields" && child.children.empty()) {
      continue;
    }
    out += first ? "" : " ";
    first = false;
    if (!line_into(child, list, limit, out)) {
      return false;
    }
  }
  out += list ? ']' : '}';
  return true;
}

}  // namespace

Dissection dissect(const MessageInfo& message, std::int16_t version, const Bytes& body, const DissectOptions& options) {
  Dissection result;
  Reader reader(body);
  Dissector dissector(reader, options);
  dissector.message(message, version, result.root);
  conclude(reader, dissector, result);
  return result;
}

Dissection dissect(const MessageInfo& header, std::int16_t header_version, const MessageInfo* body,
                   std::int16_t version, const Bytes& frame, const DissectOptions& options) {
  Dissection result;
  result.root.name = "frame";
  result.root.type = "frame";
  result.root.children.reserve(2);
  Reader reader(frame);
  Dissector dissector(reader, options);
  dissector.message(header, header_version, result.root.children.emplace_back());
  if (reader.ok()) {
    DissectedField& node = result.root.children.emplace_back();
    if (body != nullptr) {
      dissector.message(*body, version, node);
    } else {
      node.name = "body";
      node.type = "bytes";
      node.begin = reader.position();
      node.value = bytes_value(reader.raw(reader.remaining()).span(), options.max_value_bytes / 4);
      node.end = reader.position();
    }
  }
  conclude(reader, dissector, result);
  result.root.end = frame.size();
  return result;
}

std::string print(const DissectedField& field) {
  std::string out;
  print_into(field, 0, out);
  return out;
}

std::string print_line(const DissectedField& field, std::size_t max_bytes) {
  std::string out;
  if (!line_into(field, true, max_bytes, out) || out.size() > max_bytes) {
    std::size_t cut = std::min(out.size(), max_bytes);
    while (cut > 0 && cut < out.size() && (static_cast<unsigned char>(out[cut]) & 0xc0) == 0x80) {
      --cut;
    }
    out.resize(cut);
    out += "…";
  }
  return out;
}

}  // namespace hw::wire
