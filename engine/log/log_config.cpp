// SPDX-License-Identifier: Apache-2.0
#include "engine/log/log_config.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <string_view>

namespace hw::log {
namespace {

template <class Number>
Result<void> read_number(const std::string& key, const std::string& value, Number& into) {
  Number parsed{};
  const char* end = value.data() + value.size();
  const auto [at, error] = std::from_chars(value.data(), end, parsed);
  if (error != std::errc{} || at != end) {
    return fail(Errc::invalid, key + ": '" + value + "' is not a number of its type");
  }
  into = parsed;
  return {};
}

Result<void> read_flag(const std::string& key, const std::string& value, bool& into) {
  if (value != "true" && value != "false") {
    return fail(Errc::invalid, key + ": '" + value + "' is neither true nor false");
  }
  into = value == "true";
  return {};
}

Result<void> read_policy(const std::string& value, LogConfig& config) {
  config.cleanup_delete = false;
  config.cleanup_compact = false;
  std::string_view rest = value;
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    std::string_view word = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
    while (!word.empty() && word.front() == ' ') {
      word.remove_prefix(1);
    }
    while (!word.empty() && word.back() == ' ') {
      word.remove_suffix(1);
    }
    if (word == "delete") {
      config.cleanup_delete = true;
    } else if (word == "compact") {
      config.cleanup_compact = true;
    } else if (!word.empty()) {
      return fail(Errc::invalid, "cleanup.policy: '" + std::string(word) + "' is neither delete nor compact");
    }
  }
  return {};
}

Result<void> read_one(const std::string& key, const std::string& value, LogConfig& config) {
  if (key == "segment.bytes") {
    return read_number(key, value, config.segment_bytes);
  }
  if (key == "segment.ms") {
    return read_number(key, value, config.segment_ms);
  }
  if (key == "segment.jitter.ms") {
    return read_number(key, value, config.segment_jitter_ms);
  }
  if (key == "segment.index.bytes") {
    return read_number(key, value, config.segment_index_bytes);
  }
  if (key == "index.interval.bytes") {
    return read_number(key, value, config.index_interval_bytes);
  }
  if (key == "max.message.bytes") {
    return read_number(key, value, config.max_message_bytes);
  }
  if (key == "max.decompressed.message.bytes") {
    return read_number(key, value, config.max_decompressed_message_bytes);
  }
  if (key == "message.timestamp.type") {
    if (value != "CreateTime" && value != "LogAppendTime") {
      return fail(Errc::invalid, key + ": '" + value + "' is neither CreateTime nor LogAppendTime");
    }
    config.timestamp_type =
        value == "CreateTime" ? wire::TimestampType::create_time : wire::TimestampType::log_append_time;
    return {};
  }
  if (key == "message.timestamp.before.max.ms") {
    return read_number(key, value, config.timestamp_before_max_ms);
  }
  if (key == "message.timestamp.after.max.ms") {
    return read_number(key, value, config.timestamp_after_max_ms);
  }
  if (key == "retention.ms") {
    return read_number(key, value, config.retention_ms);
  }
  if (key == "retention.bytes") {
    return read_number(key, value, config.retention_bytes);
  }
  if (key == "cleanup.policy") {
    return read_policy(value, config);
  }
  if (key == "compression.type") {
    config.compression_type = value;
    return {};
  }
  if (key == "compression.gzip.level") {
    return read_number(key, value, config.gzip_level);
  }
  if (key == "compression.lz4.level") {
    return read_number(key, value, config.lz4_level);
  }
  if (key == "compression.zstd.level") {
    return read_number(key, value, config.zstd_level);
  }
  if (key == "flush.messages") {
    return read_number(key, value, config.flush_messages);
  }
  if (key == "flush.ms") {
    return read_number(key, value, config.flush_ms);
  }
  if (key == "file.delete.delay.ms") {
    return read_number(key, value, config.file_delete_delay_ms);
  }
  if (key == "preallocate") {
    return read_flag(key, value, config.preallocate);
  }
  if (key == "producer.id.expiration.ms") {
    return read_number(key, value, config.producer_id_expiration_ms);
  }
  return {};
}

}  // namespace

wire::ProduceRules LogConfig::produce_rules() const {
  wire::ProduceRules rules;
  rules.timestamp_type = timestamp_type;
  rules.before_max_ms = timestamp_before_max_ms;
  rules.after_max_ms = timestamp_after_max_ms;
  rules.compacted = cleanup_compact;
  rules.max_message_bytes = max_message_bytes;
  rules.max_decompressed_bytes =
      std::min(static_cast<std::size_t>(std::max(max_decompressed_message_bytes, 0)), wire::kDefaultMaxDecompressed);
  return rules;
}

Result<LogConfig> LogConfig::parse(const std::map<std::string, std::string>& values) {
  LogConfig config;
  for (const auto& [key, value] : values) {
    HW_CHECK(read_one(key, value, config));
  }
  if (const auto it = values.find("internal.segment.bytes"); it != values.end() && !it->second.empty()) {
    HW_CHECK(read_number(it->first, it->second, config.segment_bytes));
  }
  return config;
}

}  // namespace hw::log
