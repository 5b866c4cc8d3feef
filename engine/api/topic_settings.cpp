// SPDX-License-Identifier: Apache-2.0
#include "engine/api/topic_settings.h"

namespace hw::api {

broker::TopicSettings topic_settings(const metadata::TopicConfigs& configs, const metadata::BrokerConfigs& broker) {
  broker::TopicSettings settings;
  settings.min_insync_replicas = configs.min_insync_replicas;
  log::LogConfig& log = settings.log;
  log.segment_bytes = configs.segment_bytes;
  log.segment_ms = configs.segment_ms;
  log.segment_jitter_ms = configs.segment_jitter_ms;
  log.segment_index_bytes = configs.segment_index_bytes;
  log.index_interval_bytes = configs.index_interval_bytes;
  log.max_message_bytes = configs.max_message_bytes;
  log.max_decompressed_message_bytes = configs.max_decompressed_message_bytes;
  log.timestamp_type = configs.log_append_time ? wire::TimestampType::log_append_time : wire::TimestampType::create_time;
  log.timestamp_before_max_ms = configs.timestamp_before_max_ms;
  log.timestamp_after_max_ms = configs.timestamp_after_max_ms;
  log.retention_ms = configs.retention_ms;
  log.retention_bytes = configs.retention_bytes;
  log.cleanup_delete = configs.cleanup_delete;
  log.cleanup_compact = configs.cleanup_compact;
  log.compression_type = configs.compression_type;
  log.gzip_level = configs.gzip_level;
  log.lz4_level = configs.lz4_level;
  log.zstd_level = configs.zstd_level;
  log.flush_messages = configs.flush_messages;
  log.flush_ms = configs.flush_ms;
  log.file_delete_delay_ms = configs.file_delete_delay_ms;
  log.preallocate = configs.preallocate;
  log.producer_id_expiration_ms = static_cast<std::int32_t>(broker.number("producer.id.expiration.ms"));
  return settings;
}

}  // namespace hw::api
