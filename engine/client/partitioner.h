// SPDX-License-Identifier: Apache-2.0
// Which partition a key goes to, as Kafka's Java client computes it. Pure functions, any thread.
// Source: Appleby's MurmurHash2 (32 bit) with Kafka's seed; the sign bit is dropped before the modulo.
#pragma once

#include <cstdint>

#include "engine/base/bytes.h"

namespace hw::client {

[[nodiscard]] std::int32_t murmur2(ByteSpan data) noexcept;

// REQUIRES: partitions > 0. An empty key is a key: it always goes to the same partition. A null key has no place here.
[[nodiscard]] std::int32_t partition_for_key(ByteSpan key, std::int32_t partitions) noexcept;

}  // namespace hw::client
