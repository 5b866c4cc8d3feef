// SPDX-License-Identifier: Apache-2.0
// LogConfig: the topic configuration keys that a partition's log obeys, final values (topic over broker over default).
// Units are in the names; defaults are Kafka 4.4's. Source: Kafka topic configs.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>

#include "engine/base/result.h"
#include "engine/wire/record/validate.h"

namespace hw::log {

struct LogConfig {
  std::int32_t segment_bytes = 1'073'741'824;  // internal.segment.bytes wins where it is set
  std::int64_t segment_ms = 604'800'000;
  std::int64_t segment_jitter_ms = 0;
  std::int32_t segment_index_bytes = 10'485'760;
  std::int32_t index_interval_bytes = 4096;
  std::int32_t max_message_bytes = 1'048'588;
  std::int32_t max_decompressed_message_bytes = 2'147'483'639;
  wire::TimestampType timestamp_type = wire::TimestampType::create_time;
  std::int64_t timestamp_before_max_ms = std::numeric_limits<std::int64_t>::max();
  std::int64_t timestamp_after_max_ms = 3'600'000;
  std::int64_t retention_ms = 604'800'000;  // -1: for ever
  std::int64_t retention_bytes = -1;        // -1: no limit
  bool cleanup_delete = true;
  bool cleanup_compact = false;
  std::string compression_type = "producer";
  std::int32_t gzip_level = -1;
  std::int32_t lz4_level = 9;
  std::int32_t zstd_level = 3;
  std::int64_t flush_messages = std::numeric_limits<std::int64_t>::max();
  std::int64_t flush_ms = std::numeric_limits<std::int64_t>::max();
  std::int64_t file_delete_delay_ms = 60'000;
  bool preallocate = false;
  // Broker-wide, handed in beside the topic's keys: producer.id.expiration.ms.
  std::int32_t producer_id_expiration_ms = 86'400'000;

  // Keys that the log does not know are ignored; a value that is not of the key's type is Errc::invalid.
  [[nodiscard]] wire::ProduceRules produce_rules() const;
  static Result<LogConfig> parse(const std::map<std::string, std::string>& values);
};

}  // namespace hw::log
