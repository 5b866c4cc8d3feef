// SPDX-License-Identifier: Apache-2.0
// Which partition a key goes to, as the usual clients compute it. Pure functions, any thread.
//
//   murmur2  Kafka's Java client, and librdkafka's murmur2(_random): every key, also the empty one, has its partition
//   crc32    librdkafka's default (consistent_random): the empty key is like no key
//   fnv1a    Sarama's hash partitioner
// So one topic written by two kinds of clients may have one key in two partitions.
// Sources: Appleby's MurmurHash2 (32 bit) with Kafka's seed, the sign bit dropped before the modulo; CRC-32 of zlib; FNV-1a, 32 bit.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/base/bytes.h"

namespace hw::client {

enum class Partitioner : std::uint8_t { murmur2, crc32, fnv1a };
[[nodiscard]] const char* partitioner_name(Partitioner partitioner) noexcept;  // "murmur2", …
[[nodiscard]] std::optional<Partitioner> parse_partitioner(std::string_view name) noexcept;

[[nodiscard]] std::int32_t murmur2(ByteSpan data) noexcept;
[[nodiscard]] std::uint32_t crc32(ByteSpan data) noexcept;
[[nodiscard]] std::uint32_t fnv1a(ByteSpan data) noexcept;

// REQUIRES: partitions > 0. A null key has no place here.
[[nodiscard]] std::int32_t partition_for_key(ByteSpan key, std::int32_t partitions) noexcept;  // murmur2
// nullopt: this partitioner treats the key like none.
[[nodiscard]] std::optional<std::int32_t> partition_for_key(Partitioner partitioner, ByteSpan key,
                                                            std::int32_t partitions) noexcept;

}  // namespace hw::client
