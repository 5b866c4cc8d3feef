// SPDX-License-Identifier: Apache-2.0
// Time as cores see it: always a parameter, never read from a clock.
//
// Duration  nanoseconds between two instants
// Instant   monotonic; only differences mean anything (the shell's steady clock, the simulator's virtual clock)
// WallTime  milliseconds since 1970-01-01 UTC, as Kafka writes it into records
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

namespace hw {

struct Duration {
  std::int64_t ns = 0;
  friend constexpr auto operator<=>(Duration, Duration) noexcept = default;
  friend constexpr Duration operator+(Duration a, Duration b) noexcept { return {a.ns + b.ns}; }
  friend constexpr Duration operator-(Duration a, Duration b) noexcept { return {a.ns - b.ns}; }
  friend constexpr Duration operator*(Duration a, std::int64_t n) noexcept { return {a.ns * n}; }
  [[nodiscard]] constexpr std::int64_t ms() const noexcept { return ns / 1'000'000; }
  [[nodiscard]] constexpr std::int64_t us() const noexcept { return ns / 1'000; }
};
constexpr Duration nanoseconds(std::int64_t n) noexcept { return {n}; }
constexpr Duration microseconds(std::int64_t n) noexcept { return {n * 1'000}; }
// Saturates: Kafka's "for ever" is Long.MAX_VALUE milliseconds.
constexpr Duration milliseconds(std::int64_t n) noexcept {
  constexpr std::int64_t max = std::numeric_limits<std::int64_t>::max() / 4'000'000;
  return {(n > max ? max : (n < -max ? -max : n)) * 1'000'000};
}
constexpr Duration seconds(std::int64_t n) noexcept { return milliseconds(n * 1'000); }

struct Instant {
  std::int64_t ns = 0;
  friend constexpr auto operator<=>(Instant, Instant) noexcept = default;
  friend constexpr Instant operator+(Instant a, Duration d) noexcept { return {a.ns + d.ns}; }
  friend constexpr Instant operator-(Instant a, Duration d) noexcept { return {a.ns - d.ns}; }
  friend constexpr Duration operator-(Instant a, Instant b) noexcept { return {a.ns - b.ns}; }
};
inline constexpr Instant kNever{std::numeric_limits<std::int64_t>::max() / 2};

struct WallTime {
  std::int64_t ms = 0;
  friend constexpr auto operator<=>(WallTime, WallTime) noexcept = default;
};

}  // namespace hw
