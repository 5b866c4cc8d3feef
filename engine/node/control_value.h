// SPDX-License-Identifier: Apache-2.0
// Value: what the commands of ClusterControl take and return: null, truth, whole number, text, list, object. Small, never hot.
// JSON in and out; nlohmann-json stays in control_value.cpp.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "engine/base/result.h"

namespace hw::node {

class Value {
 public:
  using List = std::vector<Value>;
  using Members = std::vector<std::pair<std::string, Value>>;  // in the order they were added

  // Out of line: g++ 12 takes the inlined moves of the variant for reads of what was never written.
  Value() noexcept;
  Value(const Value& other);
  Value(Value&& other) noexcept;
  Value& operator=(const Value& other);
  Value& operator=(Value&& other) noexcept;
  ~Value();
  // NOLINTBEGIN(google-explicit-constructor): a literal stands for its value
  Value(bool truth) : data_(truth) {}
  Value(std::int64_t number) : data_(number) {}
  Value(std::int32_t number) : data_(std::int64_t{number}) {}
  Value(std::string text) : data_(std::move(text)) {}
  Value(std::string_view text) : data_(std::string(text)) {}
  Value(const char* text) : data_(std::string(text)) {}
  Value(List list) : data_(std::move(list)) {}
  // NOLINTEND(google-explicit-constructor)
  [[nodiscard]] static Value object();
  Value& set(std::string name, Value value);  // of an object; `name` must not be there yet

  [[nodiscard]] bool is_null() const noexcept { return std::holds_alternative<std::monostate>(data_); }
  [[nodiscard]] const bool* truth() const noexcept { return std::get_if<bool>(&data_); }
  [[nodiscard]] const std::int64_t* number() const noexcept { return std::get_if<std::int64_t>(&data_); }
  [[nodiscard]] const std::string* text() const noexcept { return std::get_if<std::string>(&data_); }
  [[nodiscard]] const List* list() const noexcept { return std::get_if<List>(&data_); }
  [[nodiscard]] const Members* members() const noexcept { return std::get_if<Members>(&data_); }
  // A member of an object; null where there is none, or where this is no object.
  [[nodiscard]] const Value& operator[](std::string_view name) const noexcept;
  // With what stands in for another type.
  [[nodiscard]] std::int64_t number_or(std::int64_t other) const noexcept { return number() != nullptr ? *number() : other; }
  [[nodiscard]] bool truth_or(bool other) const noexcept { return truth() != nullptr ? *truth() : other; }
  [[nodiscard]] std::string text_or(std::string other) const { return text() != nullptr ? *text() : std::move(other); }

 private:
  std::variant<std::monostate, bool, std::int64_t, std::string, List, Members> data_;
};

[[nodiscard]] std::string to_json(const Value& value);
// Errc::invalid: no JSON, a fraction, a number beyond 64 bits, more than 16 levels, or a name twice in one object.
[[nodiscard]] Result<Value> parse_value(std::string_view json);

}  // namespace hw::node
