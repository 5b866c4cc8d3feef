// SPDX-License-Identifier: Apache-2.0
#include "engine/client/partitioner.h"

#include <cstring>

namespace hw::client {

std::int32_t murmur2(ByteSpan data) noexcept {
  constexpr std::uint32_t kSeed = 0x9747b28cU;
  constexpr std::uint32_t kMultiplier = 0x5bd1e995U;
  constexpr int kRotate = 24;
  std::uint32_t hash = kSeed ^ static_cast<std::uint32_t>(data.size());
  const std::byte* p = data.data();
  std::size_t left = data.size();
  const auto byte = [&p](std::size_t i) { return static_cast<std::uint32_t>(p[i]); };
  for (; left >= 4; left -= 4, p += 4) {
    std::uint32_t word = byte(0) | byte(1) << 8 | byte(2) << 16 | byte(3) << 24;
    word *= kMultiplier;
    word ^= word >> kRotate;
    word *= kMultiplier;
    hash = hash * kMultiplier ^ word;
  }
  if (left > 0) {
    for (std::size_t i = left; i > 0; --i) {
      hash ^= byte(i - 1) << (8 * (i - 1));
    }
    hash *= kMultiplier;
  }
  hash ^= hash >> 13;
  hash *= kMultiplier;
  hash ^= hash >> 15;
  return static_cast<std::int32_t>(hash);
}

std::int32_t partition_for_key(ByteSpan key, std::int32_t partitions) noexcept {
  return (murmur2(key) & 0x7fffffff) % partitions;
}

}  // namespace hw::client
