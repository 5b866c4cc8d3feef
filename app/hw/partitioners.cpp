// SPDX-License-Identifier: Apache-2.0
#include "app/hw/partitioners.h"

namespace hw::app {

std::int32_t partition_crc32(ByteSpan key, std::int32_t partitions) noexcept {
  constexpr std::uint32_t kPolynomial = 0xEDB88320U;
  std::uint32_t crc = 0xffffffffU;
  for (const std::byte b : key) {
    crc ^= static_cast<std::uint32_t>(b);
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? kPolynomial : 0U);
    }
  }
  return static_cast<std::int32_t>(~crc % static_cast<std::uint32_t>(partitions));
}

std::int32_t partition_fnv1a(ByteSpan key, std::int32_t partitions) noexcept {
  std::uint32_t hash = 2166136261U;
  for (const std::byte b : key) {
    hash = (hash ^ static_cast<std::uint32_t>(b)) * 16777619U;
  }
  const std::int32_t partition = static_cast<std::int32_t>(hash) % partitions;
  return partition < 0 ? -partition : partition;
}

std::optional<Partitioner> Partitioner::make(std::string_view name, std::int32_t partitions) {
  if (name == "crc32") {
    return Partitioner(Kind::crc32, partitions);
  }
  if (name == "fnv1a") {
    return Partitioner(Kind::fnv1a, partitions);
  }
  if (name == "round-robin") {
    return Partitioner(Kind::round_robin, partitions);
  }
  if (name == "random") {
    return Partitioner(Kind::random, partitions);
  }
  return std::nullopt;
}

std::int32_t Partitioner::choose(const std::optional<Bytes>& key) {
  const auto any = [&] { return static_cast<std::int32_t>(random_() % static_cast<std::uint32_t>(partitions_)); };
  switch (kind_) {
    case Kind::crc32:  // as "consistent_random": without a key, or with an empty one, anywhere
      return key && !key->empty() ? partition_crc32(key->span(), partitions_) : any();
    case Kind::fnv1a:
      return key ? partition_fnv1a(key->span(), partitions_) : any();
    case Kind::round_robin:
      next_ = (next_ + 1) % partitions_;
      return next_;
    case Kind::random:
      break;
  }
  return any();
}

}  // namespace hw::app
