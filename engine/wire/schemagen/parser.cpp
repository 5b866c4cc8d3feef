// SPDX-License-Identifier: Apache-2.0
#include "engine/wire/schemagen/parser.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <optional>
#include <utility>

namespace hw::schemagen {
namespace {

std::optional<int> parse_version(std::string_view text) {
  int value = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || at != end || value < 0 || value >= kOpen) {
    return std::nullopt;
  }
  return value;
}

std::optional<Range> parse_range(std::string_view text) {
  if (text.ends_with('+')) {
    const auto low = parse_version(text.substr(0, text.size() - 1));
    return low ? std::optional(Range{*low, kOpen}) : std::nullopt;
  }
  const std::size_t dash = text.find('-');
  const auto low = parse_version(text.substr(0, dash));
  const auto high = dash == std::string_view::npos ? low : parse_version(text.substr(dash + 1));
  if (!low || !high || *low > *high) {
    return std::nullopt;
  }
  return Range{*low, *high};
}

std::vector<std::string_view> split(std::string_view line) {
  std::vector<std::string_view> words;
  std::size_t at = 0;
  while (at < line.size()) {
    const std::size_t begin = line.find_first_not_of(' ', at);
    if (begin == std::string_view::npos) {
      break;
    }
    at = std::min(line.find(' ', begin), line.size());
    words.push_back(line.substr(begin, at - begin));
  }
  return words;
}

bool is_identifier(std::string_view name) {
  return !name.empty() && !(name[0] >= '0' && name[0] <= '9') && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

class FileParser {
 public:
  FileParser(const std::string& file, Schema& schema, Errors& errors)
      : file_(file), schema_(schema), errors_(errors) {}

  void parse(std::string_view content) {
    std::size_t at = 0;
    while (at < content.size()) {
      const std::size_t end = std::min(content.find('\n', at), content.size());
      ++line_;
      parse_line(content.substr(at, end - at));
      at = end + 1;
    }
    if (messages_.empty()) {
      error("no message in this file");
    }
    for (Message& message : messages_) {
      schema_.messages.push_back(std::move(message));
    }
  }

 private:
  void error(const std::string& what) { errors_.push_back(file_ + ":" + std::to_string(line_) + ": " + what); }

  void parse_line(std::string_view line) {
    if (line.find('\t') != std::string_view::npos) {
      error("a tab; levels are two spaces");
      return;
    }
    const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
    std::string_view rest = line.substr(indent);
    if (rest.empty()) {
      doc_.clear();
      return;
    }
    if (rest.starts_with("//")) {
      rest.remove_prefix(std::min<std::size_t>(rest.size(), rest.starts_with("// ") ? 3 : 2));
      if (!rest.starts_with("SPDX-")) {
        doc_.emplace_back(rest);
      }
      return;
    }
    if (const std::size_t comment = rest.find(" //"); comment != std::string_view::npos) {
      doc_.emplace_back(rest.substr(std::min(rest.size(), comment + 4)));
      rest = rest.substr(0, comment);
    }
    const std::vector<std::string_view> words = split(rest);
    if (indent % 2 != 0) {
      error("an odd indentation; levels are two spaces");
    } else if (indent == 0) {
      parse_top(words);
    } else {
      parse_member(words, indent / 2);
    }
    doc_.clear();
  }

  void parse_top(const std::vector<std::string_view>& words) {
    const std::string_view first = words[0];
    if (first == "request" || first == "response") {
      parse_section(words);
      return;
    }
    static constexpr std::pair<std::string_view, Kind> kKinds[] = {
        {"api", Kind::request},           {"header", Kind::header},
        {"data", Kind::data},             {"metadata", Kind::metadata},
        {"coordinator_key", Kind::coordinator_key}, {"coordinator_value", Kind::coordinator_value}};
    const auto* kind = std::ranges::find(kKinds, first, &std::pair<std::string_view, Kind>::first);
    if (kind == std::end(kKinds)) {
      error("'" + std::string(first) + "' begins no message");
      return;
    }
    if (started_) {
      error("a second message in one file");
      return;
    }
    started_ = true;
    is_api_ = first == "api";
    start_message(words, kind->second);
  }

  void start_message(const std::vector<std::string_view>& words, Kind kind) {
    head_.kind = kind;
    head_.file = file_;
    head_.line = line_;
    head_.doc = doc_;
    if (words.size() < 2 || !is_identifier(words[1])) {
      error("a message needs a name");
      return;
    }
    head_.name = words[1];
    head_.header = snake_case(words[1]);
    bool has_valid = false;
    for (std::size_t i = 2; i < words.size(); ++i) {
      const std::string_view word = words[i];
      const std::string_view next = i + 1 < words.size() ? words[i + 1] : std::string_view();
      if (word == "latest_unstable") {
        head_.latest_unstable = true;
      } else if (word == "listeners" && is_api_) {
        for (++i; i < words.size() && (words[i] == "broker" || words[i] == "controller"); ++i) {
          (words[i] == "broker" ? head_.broker_listener : head_.controller_listener) = true;
        }
        --i;
      } else if (word == "key") {
        const auto key = parse_version(next);
        if (!key) {
          error("'key' needs a number");
        }
        head_.key = key.value_or(-1);
        ++i;
      } else if (word == "valid" || word == "advertised" || word == "flexible") {
        const auto range = parse_range(next);
        if (!range || (word == "flexible" && range->high != kOpen)) {
          error("'" + std::string(word) + "' needs versions, not '" + std::string(next) + "'");
        } else if (word == "valid") {
          head_.valid = *range;
          has_valid = true;
        } else if (word == "advertised") {
          head_.advertised = *range;
        } else {
          head_.flexible_from = range->low;
        }
        ++i;
      } else {
        error("'" + std::string(word) + "' is not known here");
      }
    }
    if (!has_valid) {
      error("a message needs 'valid'");
    }
    if (head_.advertised.empty()) {
      head_.advertised = head_.valid;
    }
    if (is_api_) {
      if (head_.key < 0) {
        error("an api needs 'key'");
      }
      if (!head_.broker_listener && !head_.controller_listener) {
        error("an api needs 'listeners'");
      }
    } else {
      open_message(head_.name, kind);
    }
  }

  void parse_section(const std::vector<std::string_view>& words) {
    const Kind kind = words[0] == "request" ? Kind::request : Kind::response;
    const std::size_t expected = kind == Kind::request ? 0 : 1;
    if (!is_api_ || words.size() != 1 || messages_.size() != expected) {
      error("'" + std::string(words[0]) + "' does not belong here");
      return;
    }
    open_message(head_.name + (kind == Kind::request ? "Request" : "Response"), kind);
  }

  void open_message(const std::string& name, Kind kind) {
    Message message = head_;
    message.name = name;
    message.kind = kind;
    message.root.name = name;
    message.root.versions = message.valid;
    message.root.line = line_;
    messages_.push_back(std::move(message));
    levels_.assign(1, kRoot);
  }

  Struct& at_level(std::size_t level) {
    Message& message = messages_.back();
    const std::size_t index = levels_[level];
    return index == kRoot ? message.root : message.structs[index];
  }

  void parse_member(const std::vector<std::string_view>& words, std::size_t depth) {
    if (messages_.empty()) {
      error("a field before any message");
      return;
    }
    if (depth > levels_.size()) {
      open_inline_struct(depth);
      if (depth > levels_.size()) {
        error("indented deeper than a struct is open");
        return;
      }
    }
    levels_.resize(depth);
    if (words[0] == "struct") {
      const auto range = words.size() == 3 ? parse_range(words[2]) : std::nullopt;
      if (depth != 1 || !range || !is_identifier(words[1])) {
        error("a struct is written 'struct Name versions', at the first level");
        return;
      }
      add_struct(std::string(words[1]), *range, true);
      return;
    }
    Field field;
    if (parse_field(words, field)) {
      at_level(depth - 1).fields.push_back(std::move(field));
    }
  }

  // Deeper lines follow a field: they define the struct that is its type.
  void open_inline_struct(std::size_t depth) {
    if (depth != levels_.size() + 1) {
      return;
    }
    const Struct& parent = at_level(levels_.size() - 1);
    if (parent.fields.empty() || parent.fields.back().scalar != nullptr) {
      return;
    }
    const Field field = parent.fields.back();  // a copy: adding a struct moves the parent
    add_struct(field.type, field.versions, false);
  }

  void add_struct(std::string name, Range versions, bool shared) {
    Message& message = messages_.back();
    if (message.find(name) != nullptr || name == message.name) {
      error("struct '" + name + "' is defined twice");
    }
    Struct added;
    added.name = std::move(name);
    added.versions = versions;
    added.shared = shared;
    added.doc = doc_;
    added.line = line_;
    message.structs.push_back(std::move(added));
    levels_.push_back(message.structs.size() - 1);
    if (!shared) {
      message.structs.back().doc.clear();
    }
  }

  bool parse_type(std::string_view text, Field& field, bool& nullable_everywhere) {
    if (text.starts_with("[]")) {
      field.array = true;
      text.remove_prefix(2);
    }
    if (const std::size_t mark = text.find('?'); mark != std::string_view::npos) {
      const std::string_view range = text.substr(mark + 1);
      nullable_everywhere = range.empty();
      if (!range.empty()) {
        const auto parsed = parse_range(range);
        if (!parsed) {
          error("'" + std::string(range) + "' after '?' is no range of versions");
          return false;
        }
        field.nullable = *parsed;
      }
      text = text.substr(0, mark);
    }
    field.type = text;
    field.scalar = find_scalar(text);
    if (!is_identifier(text) || (field.scalar == nullptr && !(text[0] >= 'A' && text[0] <= 'Z'))) {
      error("'" + std::string(text) + "' is no type");
      return false;
    }
    return true;
  }

  bool parse_field(const std::vector<std::string_view>& words, Field& field) {
    field.line = line_;
    field.doc = doc_;
    field.name = words[0];
    if (!is_identifier(words[0]) || snake_case(words[0]) != words[0]) {
      error("'" + field.name + "' is no field name in snake_case");
      return false;
    }
    bool nullable_everywhere = false;
    if (words.size() < 3 || !parse_type(words[1], field, nullable_everywhere)) {
      error("a field is written 'name type [= default] versions'");
      return false;
    }
    std::size_t at = 2;
    if (words[at] == "=") {
      if (words.size() < 5) {
        error("a default and versions are missing after '='");
        return false;
      }
      field.has_default = true;
      field.default_text = words[at + 1];
      if (field.default_text.size() >= 2 && field.default_text.front() == '"' && field.default_text.back() == '"') {
        field.default_text = field.default_text.substr(1, field.default_text.size() - 2);
      }
      at += 2;
    }
    const auto range = parse_range(words[at]);
    if (!range) {
      error("'" + std::string(words[at]) + "' is no range of versions");
      return false;
    }
    field.versions = *range;
    if (nullable_everywhere) {
      field.nullable = field.versions;
    }
    for (++at; at < words.size(); ++at) {
      if (!parse_attribute(words, at, field)) {
        return false;
      }
    }
    return true;
  }

  bool parse_attribute(const std::vector<std::string_view>& words, std::size_t& at, Field& field) {
    const std::string_view word = words[at];
    if (word == "tag") {
      const auto tag = at + 1 < words.size() ? parse_version(words[at + 1]) : std::nullopt;
      if (!tag) {
        error("'tag' needs a number");
        return false;
      }
      field.tag = *tag;
      ++at;
      return true;
    }
    bool* flag = word == "ignorable"       ? &field.ignorable
                 : word == "mapkey"        ? &field.map_key
                 : word == "zerocopy"      ? &field.zero_copy
                 : word == "sensitive"     ? &field.sensitive
                 : word == "never_compact" ? &field.never_compact
                                           : nullptr;
    if (flag == nullptr) {
      error("'" + std::string(word) + "' is no attribute of a field");
      return false;
    }
    *flag = true;
    return true;
  }

  static constexpr std::size_t kRoot = static_cast<std::size_t>(-1);

  const std::string& file_;
  Schema& schema_;
  Errors& errors_;
  int line_ = 0;
  std::vector<std::string> doc_;
  bool started_ = false;
  bool is_api_ = false;
  Message head_;  // what the first line says
  std::vector<Message> messages_;
  std::vector<std::size_t> levels_;  // the open structs: index into structs, or kRoot
};

}  // namespace

void parse_text(std::string_view content, const std::string& file, Schema& schema, Errors& errors) {
  FileParser(file, schema, errors).parse(content);
}

void parse_file(const std::filesystem::path& path, Schema& schema, Errors& errors) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    errors.push_back(path.string() + ":0: cannot be read");
    return;
  }
  const std::string content((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const std::size_t before = schema.messages.size();
  parse_text(content, path.string(), schema, errors);
  for (std::size_t i = before; i < schema.messages.size(); ++i) {
    if (schema.messages[i].header != path.stem().string()) {
      errors.push_back(path.string() + ":1: the file should be named " + schema.messages[i].header + ".schema");
    }
  }
}

Schema parse_folder(const std::filesystem::path& folder, Errors& errors) {
  std::vector<std::filesystem::path> paths;
  std::error_code failed;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, failed)) {
    if (entry.path().extension() == ".schema") {
      paths.push_back(entry.path());
    }
  }
  if (failed || paths.empty()) {
    errors.push_back(folder.string() + ":0: no schema found");
  }
  std::ranges::sort(paths);
  Schema schema;
  for (const auto& path : paths) {
    parse_file(path, schema, errors);
  }
  return schema;
}

}  // namespace hw::schemagen
