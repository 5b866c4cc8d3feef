// SPDX-License-Identifier: Apache-2.0
#include "engine/client/partitioner.h"

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

std::uint32_t crc32(ByteSpan data) noexcept {
  constexpr std::uint32_t kPolynomial = 0xedb88320U;
  std::uint32_t crc = ~0U;
  for (const std::byte one : data) {
    crc ^= static_cast<std::uint32_t>(one);
    for (int bit = 0; bit < 8; ++bit) {  // keys are short: no table
      crc = crc >> 1 ^ ((crc & 1U) != 0 ? kPolynomial : 0U);
    }
  }
  return ~crc;
}

std::uint32_t fnv1a(ByteSpan data) noexcept {
  constexpr std::uint32_t kBasis = 2166136261U;
  constexpr std::uint32_t kPrime = 16777619U;
  std::uint32_t hash = kBasis;
  for (const std::byte one : data) {
    hash = (hash ^ static_cast<std::uint32_t>(one)) * kPrime;
  }
  return hash;
}

std::int32_t partition_for_key(ByteSpan key, std::int32_t partitions) noexcept {
  return (murmur2(key) & 0x7fffffff) % partitions;
}

std::optional<std::int32_t> partition_for_key(Partitioner partitioner, ByteSpan key, std::int32_t partitions) noexcept {
  switch (partitioner) {
    case Partitioner::murmur2:
      return partition_for_key(key, partitions);
    case Partitioner::crc32:
      if (key.empty()) {
        return std::nullopt;
      }
      return static_cast<std::int32_t>(crc32(key) % static_cast<std::uint32_t>(partitions));
    case Partitioner::fnv1a: {
      const std::int32_t rest = static_cast<std::int32_t>(fnv1a(key)) % partitions;  // signed, then its amount
      return rest < 0 ? -rest : rest;
    }
  }
  return std::nullopt;
}

const char* partitioner_name(Partitioner partitioner) noexcept {
  switch (partitioner) {
    case Partitioner::murmur2:
      return "murmur2";
    case Partitioner::crc32:
      return "crc32";
    case Partitioner::fnv1a:
      return "fnv1a";
  }
  return "murmur2";
}

std::optional<Partitioner> parse_partitioner(std::string_view name) noexcept {
  for (const Partitioner partitioner : {Partitioner::murmur2, Partitioner::crc32, Partitioner::fnv1a}) {
    if (name == partitioner_name(partitioner)) {
      return partitioner;
    }
  }
  return std::nullopt;
}

}  // namespace hw::client
