// SPDX-License-Identifier: Apache-2.0
// Result<T>: a value or an Error, with std::expected's names (which C++20 lacks).
//
// For operating errors: short read, checksum mismatch, disk full, bad frame. Protocol answers are
// wire::ErrorCode values; bugs are HW_ASSERT. HW_TRY(name, expression) passes an error on to the caller.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>

#include "engine/base/assert.h"

namespace hw {

enum class Errc : std::uint8_t {
  io,            // the operating system said no; detail holds its words
  not_found,
  exists,
  corrupt,       // checksum, structure or range does not hold
  truncated,     // fewer bytes than the structure needs
  invalid,       // an argument that a person or a peer gave
  too_large,
  no_space,
  permission,
  locked,        // somebody else holds it
  in_use,        // port or folder taken
  unsupported,
  closed,
};

struct Error {
  Errc code = Errc::io;
  std::string detail;  // for people: what failed, on what, and what to do
};

template <class E>
class Unexpected {
 public:
  explicit Unexpected(E error) : error_(std::move(error)) {}
  E& error() { return error_; }

 private:
  E error_;
};

inline Unexpected<Error> fail(Errc code, std::string detail) {
  return Unexpected<Error>(Error{code, std::move(detail)});
}

template <class T, class E = Error>
class [[nodiscard]] Result {
 public:
  using value_type = T;
  // NOLINTNEXTLINE(google-explicit-constructor): std::expected converts as well
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  Result(Unexpected<E> error) : state_(std::in_place_index<1>, std::move(error.error())) {}

  [[nodiscard]] bool has_value() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }
  T& value() & {
    HW_ASSERT(has_value(), "value() of an error");
    return *std::get_if<0>(&state_);
  }
  const T& value() const& {
    HW_ASSERT(has_value(), "value() of an error");
    return *std::get_if<0>(&state_);
  }
  T&& value() && {
    HW_ASSERT(has_value(), "value() of an error");
    return std::move(*std::get_if<0>(&state_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  E& error() {
    HW_ASSERT(!has_value(), "error() of a value");
    return *std::get_if<1>(&state_);
  }
  const E& error() const {
    HW_ASSERT(!has_value(), "error() of a value");
    return *std::get_if<1>(&state_);
  }
  T value_or(T other) const& { return has_value() ? value() : std::move(other); }

 private:
  std::variant<T, E> state_;
};

template <class E>
class [[nodiscard]] Result<void, E> {
 public:
  using value_type = void;
  Result() = default;
  // NOLINTNEXTLINE(google-explicit-constructor)
  Result(Unexpected<E> error) : error_(std::move(error.error())), failed_(true) {}
  [[nodiscard]] bool has_value() const noexcept { return !failed_; }
  explicit operator bool() const noexcept { return has_value(); }
  const E& error() const {
    HW_ASSERT(failed_, "error() of a value");
    return error_;
  }
  E& error() {
    HW_ASSERT(failed_, "error() of a value");
    return error_;
  }

 private:
  E error_{};
  bool failed_ = false;
};

}  // namespace hw

#define HW_CONCAT_(a, b) a##b
#define HW_CONCAT(a, b) HW_CONCAT_(a, b)
// HW_TRY(auto file, disk.open(path));  HW_CHECK(file.append(bytes));
#define HW_TRY(declaration, expression)                                     \
  auto HW_CONCAT(hw_try_, __LINE__) = (expression);                         \
  if (!HW_CONCAT(hw_try_, __LINE__)) {                                      \
    return ::hw::Unexpected(std::move(HW_CONCAT(hw_try_, __LINE__).error())); \
  }                                                                         \
  declaration = std::move(HW_CONCAT(hw_try_, __LINE__)).value()
#define HW_CHECK(expression)                                   \
  do {                                                         \
    auto hw_check_ = (expression);                             \
    if (!hw_check_) {                                          \
      return ::hw::Unexpected(std::move(hw_check_.error()));   \
    }                                                          \
  } while (false)
