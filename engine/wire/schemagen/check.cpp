// SPDX-License-Identifier: Apache-2.0
#include "engine/wire/schemagen/check.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace hw::schemagen {
namespace {

class MessageCheck {
 public:
  MessageCheck(Message& message, Errors& errors) : message_(message), errors_(errors) {}

  void run() {
    if (message_.valid.high == kOpen) {
      error(message_.line, "valid versions need an end");
      return;
    }
    check_struct(message_.root);
    for (const Struct& each : message_.structs) {
      check_struct(each);
    }
    sort_structs();
  }

 private:
  void error(int line, const std::string& what) {
    errors_.push_back(message_.file + ":" + std::to_string(line) + ": " + what);
  }

  void check_struct(const Struct& each) {
    std::set<std::string> names;
    std::set<int> tags;
    for (const Field& field : each.fields) {
      if (!names.insert(field.name).second) {
        error(field.line, "field '" + field.name + "' is there twice");
      }
      if (field.tag >= 0 && !tags.insert(field.tag).second) {
        error(field.line, "tag " + std::to_string(field.tag) + " is there twice");
      }
      check_field(field);
    }
    int expected = 0;
    for (const int tag : tags) {
      if (tag != expected++) {
        error(each.line, "tags of '" + each.name + "' are not contiguous: " + std::to_string(tag));
        break;
      }
    }
  }

  void check_field(const Field& field) {
    // A field may outlive the versions that had it (it stays unused), but not come before there are any.
    if (field.versions.low > message_.valid.high) {
      error(field.line, "'" + field.name + "' is in no version of the message (" + text(message_.valid) + ")");
    }
    if (field.versions.high != kOpen && field.versions.high > message_.valid.high) {
      error(field.line, "'" + field.name + "' ends above the last version of the message");
    }
    if (field.scalar == nullptr && message_.find(field.type) == nullptr) {
      error(field.line, "struct '" + field.type + "' is not defined");
    }
    if (field.is_nullable()) {
      const bool may_be = field.array || field.scalar == nullptr || field.scalar->has_length();
      if (!may_be) {
        error(field.line, "'" + field.name + "' cannot be null: " + field.type + " has no form for it");
      }
      if (intersect(field.versions, field.nullable).empty()) {
        error(field.line, "'" + field.name + "' may be null only in versions where it does not exist");
      }
    }
    if (field.tag >= 0) {
      const Range versions = intersect(field.versions, message_.valid);
      if (versions.low < message_.flexible_from) {
        error(field.line, "'" + field.name + "' has a tag in a version that is not flexible");
      }
      if (field.scalar != nullptr && field.scalar->form == ScalarType::Form::records) {
        error(field.line, "records cannot be tagged");
      }
    }
    if (field.never_compact && (field.array || field.scalar == nullptr || !field.scalar->has_length())) {
      error(field.line, "never_compact is for strings, bytes and records");
    }
    check_default(field);
  }

  void check_default(const Field& field) {
    if (!field.has_default) {
      return;
    }
    if (field.default_is_null()) {
      if (!field.is_nullable()) {
        error(field.line, "the default of '" + field.name + "' is null, but it may not be null");
      }
      return;
    }
    if (field.array || field.scalar == nullptr) {
      error(field.line, "the only default of an array or a struct is null");
      return;
    }
    if (!default_fits(*field.scalar, field.default_text)) {
      error(field.line, "the default '" + field.default_text + "' does not fit " + field.type);
    }
  }

  static bool default_fits(const ScalarType& type, const std::string& value) {
    if (type.wire == "boolean") {
      return value == "true" || value == "false";
    }
    if (type.form == ScalarType::Form::string) {
      return true;
    }
    std::int64_t number = 0;
    if (!type.integer() || !parse_number(value, number)) {
      return false;
    }
    if (type.size == 8) {
      return true;
    }
    const bool is_signed = type.wire.starts_with("int");
    const std::int64_t span = std::int64_t{1} << (8 * type.size - (is_signed ? 1 : 0));
    return number < span && number >= (is_signed ? -span : 0);
  }

  // Depth first in the order of writing, so that the output is the same for the same input.
  void sort_structs() {
    std::vector<Struct> sorted;
    std::map<std::string, int> state;  // 1 being visited, 2 done
    for (const Struct& each : message_.structs) {
      visit(each, state, sorted);
    }
    message_.structs = std::move(sorted);
  }

  void visit(const Struct& each, std::map<std::string, int>& state, std::vector<Struct>& sorted) {
    int& mine = state[each.name];
    if (mine == 2) {
      return;
    }
    if (mine == 1) {
      error(each.line, "struct '" + each.name + "' contains itself");
      return;
    }
    mine = 1;
    for (const Field& field : each.fields) {
      const Struct* used = field.scalar == nullptr ? message_.find(field.type) : nullptr;
      if (used != nullptr) {
        visit(*used, state, sorted);
      }
    }
    state[each.name] = 2;
    sorted.push_back(each);
  }

  Message& message_;
  Errors& errors_;
};

class EvolutionCheck {
 public:
  EvolutionCheck(const Message& before, const Message& after, Errors& errors)
      : before_(before), after_(after), errors_(errors) {}

  void run() {
    if (after_.key != before_.key) {
      error(after_.line, "'" + after_.name + "' changed its key");
    }
    if (after_.valid.low > before_.valid.low || after_.valid.high < before_.valid.high) {
      error(after_.line, "'" + after_.name + "' gave up versions: " + text(before_.valid) + " became " +
                             text(after_.valid));
    }
    // A version that exists keeps its form; only versions that are new may be flexible or not.
    const bool was_flexible = before_.flexible_from <= before_.valid.high;
    if (was_flexible ? after_.flexible_from != before_.flexible_from
                     : after_.flexible_from <= before_.valid.high) {
      error(after_.line, "'" + after_.name + "' changed in which versions it is flexible");
    }
    compare(before_.root, after_.root);
    for (const Struct& each : before_.structs) {
      if (const Struct* now = after_.find(each.name)) {
        compare(each, *now);
      }
    }
  }

 private:
  void error(int line, const std::string& what) {
    errors_.push_back(after_.file + ":" + std::to_string(line) + ": " + what);
  }

  void compare(const Struct& old_struct, const Struct& new_struct) {
    for (const Field& old_field : old_struct.fields) {
      const auto found = std::ranges::find(new_struct.fields, old_field.name, &Field::name);
      if (found == new_struct.fields.end()) {
        error(new_struct.line, "'" + old_field.name + "' is gone from '" + new_struct.name + "'");
      } else {
        compare(old_field, *found);
      }
    }
    for (const Field& field : new_struct.fields) {
      if (std::ranges::find(old_struct.fields, field.name, &Field::name) == old_struct.fields.end()) {
        check_added(old_struct, field);
      }
    }
  }

  void compare(const Field& old_field, const Field& field) {
    const auto wire = [](const Field& each) { return each.scalar == nullptr ? each.type : each.scalar->wire; };
    if (wire(old_field) != wire(field) || old_field.array != field.array) {
      error(field.line, "'" + field.name + "' changed its type");
    }
    if (old_field.tag != field.tag) {
      error(field.line, "'" + field.name + "' changed its tag");
    }
    for (int version = before_.valid.low; version <= before_.valid.high; ++version) {
      if (old_field.versions.contains(version) != field.versions.contains(version)) {
        error(field.line, "'" + field.name + "' changed whether it is in version " + std::to_string(version));
        return;
      }
      if (old_field.nullable.contains(version) != field.nullable.contains(version)) {
        error(field.line, "'" + field.name + "' changed whether it may be null in version " + std::to_string(version));
        return;
      }
    }
  }

  void check_added(const Struct& old_struct, const Field& field) {
    const bool tag_known = field.tag >= 0 && std::ranges::find(old_struct.fields, field.tag, &Field::tag) !=
                                                 old_struct.fields.end();
    if (tag_known) {
      error(field.line, "'" + field.name + "' uses the tag of another field again");
    }
    // A tagged field may come to an existing version, that is what tags are for; any other may not.
    if (field.tag < 0 && !intersect(field.versions, before_.valid).empty()) {
      error(field.line, "'" + field.name + "' is new, but in a version that exists already");
    }
  }

  const Message& before_;
  const Message& after_;
  Errors& errors_;
};

}  // namespace

void check(Schema& schema, Errors& errors) {
  std::map<std::string, const Message*> names;
  std::map<int, const Message*> keys;
  for (Message& message : schema.messages) {
    MessageCheck(message, errors).run();
    const std::string where = message.file + ":" + std::to_string(message.line) + ": ";
    if (const auto [at, added] = names.emplace(message.name, &message); !added) {
      errors.push_back(where + "'" + message.name + "' is also in " + at->second->file);
    }
    if (message.kind == Kind::request) {
      if (const auto [at, added] = keys.emplace(message.key, &message); !added) {
        errors.push_back(where + "key " + std::to_string(message.key) + " is also in " + at->second->file);
      }
    }
  }
}

void check_evolution(const Schema& before, const Schema& after, Errors& errors) {
  for (const Message& old_message : before.messages) {
    const auto found = std::ranges::find(after.messages, old_message.name, &Message::name);
    if (found == after.messages.end()) {
      errors.push_back(old_message.file + ":" + std::to_string(old_message.line) + ": '" + old_message.name +
                       "' is gone");
    } else {
      EvolutionCheck(old_message, *found, errors).run();
    }
  }
}

}  // namespace hw::schemagen
