// SPDX-License-Identifier: Apache-2.0
// Strong<Tag, Rep>: a number with a meaning. Explicit in, `.value()` out, ordered, hashable; no arithmetic.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace hw {

template <class Tag, class Rep>
class Strong {
 public:
  using rep = Rep;
  constexpr Strong() noexcept = default;
  explicit constexpr Strong(Rep value) noexcept : value_(value) {}
  [[nodiscard]] constexpr Rep value() const noexcept { return value_; }
  friend constexpr auto operator<=>(Strong, Strong) noexcept = default;
  friend constexpr bool operator==(Strong, Strong) noexcept = default;

 private:
  Rep value_{};
};

}  // namespace hw

template <class Tag, class Rep>
struct std::hash<hw::Strong<Tag, Rep>> {
  std::size_t operator()(hw::Strong<Tag, Rep> v) const noexcept {
    return std::hash<Rep>{}(v.value());
  }
};
