// SPDX-License-Identifier: Apache-2.0
#include "engine/node/control_value.h"

#include <limits>
#include <nlohmann/json.hpp>

namespace hw::node {
namespace {

constexpr std::size_t kLevels = 16;

nlohmann::ordered_json json_of(const Value& value) {
  if (value.truth() != nullptr) {
    return *value.truth();
  }
  if (value.number() != nullptr) {
    return *value.number();
  }
  if (value.text() != nullptr) {
    return *value.text();
  }
  if (value.list() != nullptr) {
    nlohmann::ordered_json out = nlohmann::ordered_json::array();
    for (const Value& one : *value.list()) {
      out.push_back(json_of(one));
    }
    return out;
  }
  if (value.members() != nullptr) {
    nlohmann::ordered_json out = nlohmann::ordered_json::object();
    for (const auto& [name, member] : *value.members()) {
      out[name] = json_of(member);
    }
    return out;
  }
  return nullptr;
}

// Builds the value while the text is read, so that nothing is kept of what is refused.
class Reader : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool null() override { return put({}); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(number_integer_t value) override { return put(std::int64_t{value}); }
  bool number_unsigned(number_unsigned_t value) override {
    if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      return refuse("a number is too large");
    }
    return put(static_cast<std::int64_t>(value));
  }
  bool number_float(number_float_t, const string_t& text) override { return refuse("'" + text + "' is no whole number"); }
  bool string(string_t& text) override { return put(std::move(text)); }
  bool binary(binary_t&) override { return refuse("binary data"); }
  bool start_object(std::size_t) override { return open(Value::object()); }
  bool start_array(std::size_t) override { return open(Value(Value::List{})); }
  bool key(string_t& name) override {
    if (open_.back().value[name].is_null()) {
      open_.back().name = std::move(name);
      return true;
    }
    return refuse("'" + name + "' stands there twice");
  }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception&) override {
    return refuse("it is no JSON from character " + std::to_string(position) + " on");
  }

  Value result;
  std::string problem;

 private:
  struct Open {
    Value value;
    Value::List elements;
    std::string name;  // of the member that comes
  };
  bool refuse(std::string why) {
    problem = std::move(why);
    return false;
  }
  bool open(Value empty) {
    if (open_.size() >= kLevels) {
      return refuse("more than " + std::to_string(kLevels) + " levels");
    }
    open_.push_back({std::move(empty), {}, {}});
    return true;
  }
  bool close() {
    Open done = std::move(open_.back());
    open_.pop_back();
    return put(done.value.members() != nullptr ? std::move(done.value) : Value(std::move(done.elements)));
  }
  bool put(Value value) {
    if (open_.empty()) {
      result = std::move(value);
    } else if (open_.back().value.members() != nullptr) {
      open_.back().value.set(std::move(open_.back().name), std::move(value));
    } else {
      open_.back().elements.push_back(std::move(value));
    }
    return true;
  }
  std::vector<Open> open_;
};

}  // namespace

Value::Value() noexcept = default;
Value::Value(const Value& other) = default;
Value::Value(Value&& other) noexcept = default;
Value& Value::operator=(const Value& other) = default;
Value& Value::operator=(Value&& other) noexcept = default;
Value::~Value() = default;

Value Value::object() {
  Value out;
  out.data_ = Members{};
  return out;
}

Value& Value::set(std::string name, Value value) {
  std::get<Members>(data_).emplace_back(std::move(name), std::move(value));
  return *this;
}

const Value& Value::operator[](std::string_view name) const noexcept {
  static const Value none;
  if (const Members* all = members()) {
    for (const auto& [key, value] : *all) {
      if (key == name) {
        return value;
      }
    }
  }
  return none;
}

std::string to_json(const Value& value) {
  // What is no UTF-8 (a folder's name) is shown, not thrown about.
  return json_of(value).dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

Result<Value> parse_value(std::string_view json) {
  Reader reader;
  if (!nlohmann::json::sax_parse(json.begin(), json.end(), &reader)) {
    return fail(Errc::invalid, reader.problem);
  }
  return std::move(reader.result);
}

}  // namespace hw::node
