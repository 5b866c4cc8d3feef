// SPDX-License-Identifier: Apache-2.0
// A small deterministic generator (xoshiro256**, Blackman and Vigna 2018). Not for secrets.
// Given by constructor, so that one seed repeats a run; probabilities are ratios, never floating point.
#pragma once

#include <array>
#include <cstdint>

namespace hw {

struct Ratio {
  std::uint32_t numerator = 0;
  std::uint32_t denominator = 1;
};

class Prng {
 public:
  explicit Prng(std::uint64_t seed) noexcept {
    for (std::uint64_t& word : state_) {  // splitmix64 spreads any seed, also 0
      seed += 0x9e3779b97f4a7c15ULL;
      std::uint64_t z = seed;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
      word = z ^ (z >> 31);
    }
  }
  std::uint64_t next() noexcept {
    const std::uint64_t result = rotate(state_[1] * 5, 7) * 9;
    const std::uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = rotate(state_[3], 45);
    return result;
  }
  // Uniform in [0, bound). REQUIRES: bound > 0.
  std::uint64_t below(std::uint64_t bound) noexcept {
    const std::uint64_t limit = (0 - bound) % bound;
    for (;;) {
      const std::uint64_t value = next();
      if (value >= limit) {
        return value % bound;
      }
    }
  }
  std::int64_t between(std::int64_t low, std::int64_t high) noexcept {  // both ends included
    return low + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(high - low) + 1));
  }
  bool chance(Ratio ratio) noexcept { return below(ratio.denominator) < ratio.numerator; }

 private:
  static constexpr std::uint64_t rotate(std::uint64_t x, int k) noexcept {
    return (x << k) | (x >> (64 - k));
  }
  std::array<std::uint64_t, 4> state_{};
};

}  // namespace hw
