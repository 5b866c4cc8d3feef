// SPDX-License-Identifier: Apache-2.0
// Configuration keys of topics, brokers, groups and client metrics: what exists, what is valid, and which value applies.
//
// What a file may set in vain or must not set: config_effects.h.
// Precedence, highest first: the topic's own value, the broker's dynamic value, the cluster-wide dynamic default, the
// broker's static configuration, the built-in default. A topic key looks through its broker synonyms in order
// (retention.ms ← log.retention.ms ← log.retention.minutes ← log.retention.hours), a group key through its one, a broker
// key through its own. How they are changed: config_changes.h.
// The table (names, types, defaults, ranges) is Kafka 4.4's; see config_table.inc.
// Thread rule: BrokerConfigs is immutable after parse(); everything else is a free function of its arguments.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/ids.h"
#include "engine/base/result.h"
#include "engine/metadata/image/image.h"

namespace hw::metadata {

// Numbers of DescribeConfigs' ConfigType.
enum class ConfigType : std::int8_t {
  unknown = 0,
  boolean = 1,
  string = 2,
  int32 = 3,
  int16 = 4,
  int64 = 5,
  float64 = 6,
  list = 7,
  class_name = 8,
  password = 9,
};
// Numbers of DescribeConfigs' ConfigSource.
enum class ConfigSource : std::int8_t {
  unknown = 0,
  topic = 1,
  dynamic_broker = 2,
  dynamic_default_broker = 3,
  static_broker = 4,
  default_value = 5,
  broker_logger = 6,
  client_metrics = 7,
  group = 8,
};
enum class ConfigUpdateMode : std::uint8_t { read_only, per_broker, cluster_wide };
// What setting a key brings about here (config_table.inc).
enum class ConfigEffect : std::uint8_t { works, none, guards };
enum class ConfigImportance : std::uint8_t { high, medium, low };
// How a topic default is computed from its broker key.
enum class SynonymUnit : std::uint8_t { same, minutes_to_ms, hours_to_ms, first_item };
struct ConfigSynonym {
  std::string_view name;  // a broker key
  SynonymUnit unit = SynonymUnit::same;
};

struct ConfigDef {
  std::string_view name;
  ConfigType type = ConfigType::unknown;
  bool has_default = true;                        // false: required, or null
  std::string_view default_value;
  std::string_view range;                         // "[1,...,9] or -1", "[a, b]", empty: anything of the type
  ConfigImportance importance = ConfigImportance::low;
  ConfigUpdateMode update_mode = ConfigUpdateMode::read_only;  // broker keys
  bool internal = false;                          // not shown by DescribeConfigs
  ConfigEffect effect = ConfigEffect::works;
  std::span<const ConfigSynonym> synonyms;        // topic keys: broker keys, highest first; broker keys: older names
  std::string_view documentation;                 // for people, with a note where the key has no effect
  [[nodiscard]] bool sensitive() const noexcept { return type == ConfigType::password; }
};

[[nodiscard]] std::span<const ConfigDef> topic_config_defs() noexcept;   // sorted by name
[[nodiscard]] std::span<const ConfigDef> broker_config_defs() noexcept;  // sorted by name
[[nodiscard]] const ConfigDef* find_topic_config(std::string_view name) noexcept;
[[nodiscard]] const ConfigDef* find_broker_config(std::string_view name) noexcept;
[[nodiscard]] std::span<const ConfigDef> group_config_defs() noexcept;           // sorted by name
[[nodiscard]] std::span<const ConfigDef> client_metrics_config_defs() noexcept;  // sorted by name
[[nodiscard]] const ConfigDef* find_group_config(std::string_view name) noexcept;
[[nodiscard]] const ConfigDef* find_client_metrics_config(std::string_view name) noexcept;
// Also the keys that exist only as dynamic ones (replication throttles) and those of one listener (listener.name.X.key).
[[nodiscard]] const ConfigDef* find_settable_broker_config(std::string_view name) noexcept;
[[nodiscard]] std::span<const ConfigDef> replication_quota_config_defs() noexcept;  // those dynamic ones, sorted by name
[[nodiscard]] std::string_view without_listener_prefix(std::string_view name) noexcept;

// The value in the form that DescribeConfigs shows it (blanks trimmed, lists joined by commas without repetitions,
// booleans in lower case), or Errc::invalid with what is wrong, for people.
[[nodiscard]] Result<std::string> parse_config_value(const ConfigDef& def, std::string_view text);
// All of a topic's own values together: unknown keys, bad values, null values, values over 32767 bytes, combinations.
// Keys that are not set count with what the topic inherits from the broker.
[[nodiscard]] std::optional<std::string> topic_configs_error(
    const std::map<std::string, std::optional<std::string>, std::less<>>& configs, const MetadataImage& image,
    const class BrokerConfigs& broker, BrokerId node);
// The same for a group (bounds of the broker included) and for a client metrics subscription. An error says whether
// the request makes no sense or a value is bad: Kafka answers INVALID_REQUEST or INVALID_CONFIG.
struct ConfigFault {
  bool request = false;
  std::string why;
};
[[nodiscard]] std::optional<ConfigFault> group_configs_error(const ConfigMap& configs, const class BrokerConfigs& broker);
[[nodiscard]] std::optional<ConfigFault> client_metrics_configs_error(const ConfigMap& configs);

// The configuration of one broker, checked and typed: what its file says (Kafka's server.properties), and over it, where
// with_dynamic() put it there, what was set at run time.
class BrokerConfigs {
 public:
  // Errors name the key. Unknown keys are kept (Kafka ignores them, plug-ins read them).
  static Result<BrokerConfigs> parse(const std::map<std::string, std::string>& configs);
  BrokerConfigs() = default;  // all defaults
  // What a node knows about itself without being told: node.id, process.roles, listeners, log.dirs, … Keys in `configs`
  // win. For the argument of parse().
  static std::map<std::string, std::string> with_identity(std::map<std::string, std::string> configs, BrokerId node,
                                                          const std::string& advertised_host,
                                                          std::uint16_t advertised_port, const std::string& directory);

  // REQUIRES: a key of broker_config_defs() of that type, with a default or set. Synonyms are followed.
  [[nodiscard]] std::int64_t number(std::string_view name) const;
  [[nodiscard]] bool flag(std::string_view name) const;
  [[nodiscard]] std::string text(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> list(std::string_view name) const;
  [[nodiscard]] const std::string* find(std::string_view name) const;  // as given, null: not set statically
  [[nodiscard]] const ConfigMap& values() const noexcept { return values_; }  // of the file

  // These and the dynamic values that `image` holds for `node` and for all brokers. What cannot be dynamic is ignored.
  [[nodiscard]] BrokerConfigs with_dynamic(const MetadataImage& image, BrokerId node) const;
  [[nodiscard]] BrokerConfigs with_dynamic(ConfigMap of_broker, ConfigMap of_cluster) const;
  // Rules over several keys (log.retention.ms is -1 or above 0, …); nothing where all hold.
  [[nodiscard]] std::optional<std::string> contradiction() const;

 private:
  ConfigMap values_;
  ConfigMap of_broker_;
  ConfigMap of_cluster_;
};

// One line of DescribeConfigs.
struct ConfigValue {
  const ConfigDef* def = nullptr;
  std::string name;
  std::optional<std::string> value;  // nullopt: null, also for sensitive ones
  ConfigSource source = ConfigSource::default_value;
  bool read_only = false;
  struct Synonym {
    std::string name;
    std::optional<std::string> value;
    ConfigSource source = ConfigSource::default_value;
  };
  std::vector<Synonym> synonyms;  // every place that has a value, highest first; the first one is the value itself
};

// What CreateTopics answers: the topic's own values as they were given, everything else as inherited; 37 keys, sorted.
[[nodiscard]] std::vector<ConfigValue> created_topic_configs(const ConfigMap& own, const MetadataImage& image,
                                                             const BrokerConfigs& broker, BrokerId node);

// What a topic's keys resolve to on broker `node` (37 entries: internal keys are left out). `own`: the topic's values.
[[nodiscard]] std::vector<ConfigValue> describe_topic_configs(const ConfigMap* own, const MetadataImage& image,
                                                              const BrokerConfigs& broker, BrokerId node);
[[nodiscard]] std::vector<ConfigValue> describe_broker_configs(const MetadataImage& image, const BrokerConfigs& broker,
                                                               BrokerId node);
// `own`: what was set for the group or the subscription; null: nothing.
[[nodiscard]] std::vector<ConfigValue> describe_group_configs(const ConfigMap* own, const BrokerConfigs& broker,
                                                              const MetadataImage& image, BrokerId node);
[[nodiscard]] std::vector<ConfigValue> describe_client_metrics_configs(const ConfigMap* own);
// The cluster-wide dynamic defaults (DescribeConfigs of broker "").
[[nodiscard]] std::vector<ConfigValue> describe_default_broker_configs(const MetadataImage& image);

// Effective values of one topic, typed, for the log. -1 where a limit means none.
struct TopicConfigs {
  bool cleanup_delete = true;
  bool cleanup_compact = false;
  std::int64_t retention_ms = 604'800'000;
  std::int64_t retention_bytes = -1;
  std::int32_t segment_bytes = 1'073'741'824;
  std::int64_t segment_ms = 604'800'000;
  std::int64_t segment_jitter_ms = 0;
  std::int32_t segment_index_bytes = 10'485'760;
  std::int32_t index_interval_bytes = 4096;
  std::int32_t max_message_bytes = 1'048'588;
  std::int32_t max_decompressed_message_bytes = 2'147'483'639;
  bool log_append_time = false;
  std::int64_t timestamp_before_max_ms = 9'223'372'036'854'775'807;
  std::int64_t timestamp_after_max_ms = 3'600'000;
  std::string compression_type = "producer";  // producer, uncompressed, gzip, snappy, lz4, zstd
  std::int32_t gzip_level = -1;
  std::int32_t lz4_level = 9;
  std::int32_t zstd_level = 3;
  std::int32_t min_insync_replicas = 1;
  std::int64_t file_delete_delay_ms = 60'000;
  std::int64_t flush_messages = 9'223'372'036'854'775'807;
  std::int64_t flush_ms = 9'223'372'036'854'775'807;
  bool preallocate = false;
  friend bool operator==(const TopicConfigs&, const TopicConfigs&) = default;
};
// One key of them, as text.
[[nodiscard]] std::string effective_topic_config(std::string_view key, std::string_view topic, const MetadataImage& image,
                                                 const BrokerConfigs& broker, BrokerId node);
[[nodiscard]] TopicConfigs effective_topic_configs(std::string_view topic, const MetadataImage& image,
                                                   const BrokerConfigs& broker, BrokerId node);

}  // namespace hw::metadata
