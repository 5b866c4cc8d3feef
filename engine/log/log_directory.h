// SPDX-License-Identifier: Apache-2.0
// The small files of a log directory and of a partition directory, as text: meta.properties, .kafka_cleanshutdown,
// partition.metadata; and the names of partition directories. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/ids.h"
#include "engine/base/result.h"
#include "engine/base/uuid.h"
#include "engine/log/log_manager.h"

namespace hw::log {

inline constexpr const char* kMetaProperties = "meta.properties";
inline constexpr const char* kCleanShutdown = ".kafka_cleanshutdown";
// As kCleanShutdown, of a directory whose logs (but the metadata log) have not been opened since: with the epoch of the newest life.
inline constexpr const char* kNotOpened = ".not-opened-since-cleanshutdown";
inline constexpr const char* kLockFile = ".lock";
inline constexpr const char* kPartitionMetadata = "partition.metadata";

[[nodiscard]] std::string format_meta(const MetaProperties& meta);
[[nodiscard]] Result<MetaProperties> parse_meta(std::string_view text);

[[nodiscard]] std::string format_clean_shutdown(std::int64_t broker_epoch);
[[nodiscard]] Result<std::int64_t> parse_clean_shutdown(std::string_view text);

[[nodiscard]] std::string format_partition_metadata(const Uuid& topic_id);
[[nodiscard]] Result<Uuid> parse_partition_metadata(std::string_view text);

struct DirectoryName {
  std::string topic;
  PartitionIndex partition;
};
[[nodiscard]] std::string partition_directory(std::string_view topic, PartitionIndex partition);
// nullopt where the name is not `<topic>-<number>`.
[[nodiscard]] std::optional<DirectoryName> parse_partition_directory(std::string_view name);
// How long the name of a directory on its way to another one is, uncut: Kafka refuses to move what would not fit.
[[nodiscard]] std::size_t future_directory_length(std::string_view topic, PartitionIndex partition);
// "<topic>-<partition>.<32 hex digits>-delete" and alike; the topic is cut so that the name fits 255 bytes.
[[nodiscard]] std::string renamed_directory(std::string_view topic, PartitionIndex partition, const Uuid& unique,
                                            std::string_view suffix);

}  // namespace hw::log
