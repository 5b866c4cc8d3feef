// SPDX-License-Identifier: Apache-2.0
// The table of all APIs: keys, version ranges, headers. Generated from engine/wire/schema; constant, any thread.
#pragma once

#include <cstdint>
#include <span>

namespace hw::wire {

struct ApiInfo {
  std::int16_t key;
  const char* name;             // Kafka's, without Request or Response: "ListOffsets"
  std::int16_t lowest;          // what the codec reads and writes
  std::int16_t highest;
  std::int16_t advertised_lowest;  // what Kafka 4.4 offers in ApiVersions, where it offers the API at all
  std::int16_t advertised_highest;
  std::int16_t flexible_from;   // INT16_MAX where no version is flexible
  bool broker_listener;         // the API exists on listeners of brokers
  bool controller_listener;
};

// In ascending order of the keys.
[[nodiscard]] std::span<const ApiInfo> all_apis() noexcept;
// Null for a key that Kafka 4.4 does not define or has removed.
[[nodiscard]] const ApiInfo* find_api(std::int16_t key) noexcept;
// Version of the header before a request or response body. Defined for versions above `highest` too, because a
// client may ask for ApiVersions in a version that is newer than ours. 1 and 0 for unknown keys.
[[nodiscard]] int request_header_version(std::int16_t key, std::int16_t version) noexcept;
// Always 0 for ApiVersions: its answer must be readable before versions are agreed (KIP-511).
[[nodiscard]] int response_header_version(std::int16_t key, std::int16_t version) noexcept;

}  // namespace hw::wire
