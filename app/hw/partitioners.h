// SPDX-License-Identifier: Apache-2.0
// How clients of other make choose a partition, so that `hw` can write what they would have written.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string_view>

#include "engine/base/bytes.h"

namespace hw::app {

// zlib's CRC-32, modulo the partitions: librdkafka's "consistent".
[[nodiscard]] std::int32_t partition_crc32(ByteSpan key, std::int32_t partitions) noexcept;
// FNV-1a of 32 bit as a signed number, modulo, made positive: Sarama's default.
[[nodiscard]] std::int32_t partition_fnv1a(ByteSpan key, std::int32_t partitions) noexcept;

class Partitioner {
 public:
  // REQUIRES: partitions > 0, a name that --partitioner knows. murmur2: null, for the producer does it itself.
  [[nodiscard]] static std::optional<Partitioner> make(std::string_view name, std::int32_t partitions);
  [[nodiscard]] std::int32_t choose(const std::optional<Bytes>& key);

 private:
  enum class Kind : std::uint8_t { crc32, fnv1a, round_robin, random };
  Partitioner(Kind kind, std::int32_t partitions) : kind_(kind), partitions_(partitions), random_(std::random_device{}()) {}
  Kind kind_;
  std::int32_t partitions_;
  std::int32_t next_ = 0;
  std::mt19937 random_;
};

}  // namespace hw::app
