// SPDX-License-Identifier: Apache-2.0
// A 128-bit id as Kafka prints it: 22 characters of URL-safe base64 without padding.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace hw {

class Prng;

struct Uuid {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  friend constexpr auto operator<=>(const Uuid&, const Uuid&) noexcept = default;
  [[nodiscard]] constexpr bool is_zero() const noexcept { return high == 0 && low == 0; }
  [[nodiscard]] std::string text() const;
  // 8-4-4-4-12 hexadecimal, the form of member ids.
  [[nodiscard]] std::string hex() const;
  static std::optional<Uuid> parse(std::string_view text);
  // A random version 4 id that is not one of Kafka's reserved ids and does not begin with '-'.
  static Uuid random(Prng& prng);
};

}  // namespace hw

template <>
struct std::hash<hw::Uuid> {
  std::size_t operator()(const hw::Uuid& id) const noexcept {
    return static_cast<std::size_t>(id.high * 0x9e3779b97f4a7c15ULL ^ id.low);
  }
};
