// SPDX-License-Identifier: Apache-2.0
// The table of configuration keys.
#include <algorithm>
#include <array>

#include "engine/metadata/configs.h"

namespace hw::metadata {
namespace {

using Unit = SynonymUnit;
constexpr std::size_t kSynonymsMax = 3;
struct TopicSynonyms {
  std::string_view topic_key;
  std::array<ConfigSynonym, kSynonymsMax> broker_keys;
};
constexpr TopicSynonyms kTopicSynonyms[] = {
    {"cleanup.policy", {{{"log.cleanup.policy"}}}},
    {"compression.gzip.level", {{{"compression.gzip.level"}}}},
    {"compression.lz4.level", {{{"compression.lz4.level"}}}},
    {"compression.type", {{{"compression.type"}}}},
    {"compression.zstd.level", {{{"compression.zstd.level"}}}},
    {"delete.retention.ms", {{{"log.cleaner.delete.retention.ms"}}}},
    {"file.delete.delay.ms", {{{"log.segment.delete.delay.ms"}}}},
    {"flush.messages", {{{"log.flush.interval.messages"}}}},
    {"flush.ms", {{{"log.flush.interval.ms"}, {"log.flush.scheduler.interval.ms"}}}},
    {"index.interval.bytes", {{{"log.index.interval.bytes"}}}},
    {"local.retention.bytes", {{{"log.local.retention.bytes"}}}},
    {"local.retention.ms", {{{"log.local.retention.ms"}}}},
    {"max.compaction.lag.ms", {{{"log.cleaner.max.compaction.lag.ms"}}}},
    {"max.decompressed.message.bytes", {{{"max.decompressed.message.bytes"}}}},
    {"max.message.bytes", {{{"message.max.bytes"}}}},
    {"message.timestamp.after.max.ms", {{{"log.message.timestamp.after.max.ms"}}}},
    {"message.timestamp.before.max.ms", {{{"log.message.timestamp.before.max.ms"}}}},
    {"message.timestamp.type", {{{"log.message.timestamp.type"}}}},
    {"min.cleanable.dirty.ratio", {{{"log.cleaner.min.cleanable.ratio"}}}},
    {"min.compaction.lag.ms", {{{"log.cleaner.min.compaction.lag.ms"}}}},
    {"min.insync.replicas", {{{"min.insync.replicas"}}}},
    {"preallocate", {{{"log.preallocate"}}}},
    {"remote.copy.lag.bytes", {{{"log.remote.copy.lag.bytes"}}}},
    {"remote.copy.lag.ms", {{{"log.remote.copy.lag.ms"}}}},
    {"retention.bytes", {{{"log.retention.bytes"}}}},
    {"retention.ms",
     {{{"log.retention.ms"}, {"log.retention.minutes", Unit::minutes_to_ms}, {"log.retention.hours", Unit::hours_to_ms}}}},
    {"segment.bytes", {{{"log.segment.bytes"}}}},
    {"segment.index.bytes", {{{"log.index.size.max.bytes"}}}},
    {"segment.jitter.ms", {{{"log.roll.jitter.ms"}, {"log.roll.jitter.hours", Unit::hours_to_ms}}}},
    {"segment.ms", {{{"log.roll.ms"}, {"log.roll.hours", Unit::hours_to_ms}}}},
    {"unclean.leader.election.enable", {{{"unclean.leader.election.enable"}}}},
};
// Broker keys that are names for one setting in several units, highest first. A describe of any of them lists all.
constexpr std::array<ConfigSynonym, 2> kRollMs{{{"log.roll.ms"}, {"log.roll.hours", Unit::hours_to_ms}}};
constexpr std::array<ConfigSynonym, 2> kRollJitter{{{"log.roll.jitter.ms"}, {"log.roll.jitter.hours", Unit::hours_to_ms}}};
constexpr std::array<ConfigSynonym, 2> kFlush{{{"log.flush.interval.ms"}, {"log.flush.scheduler.interval.ms"}}};
constexpr std::array<ConfigSynonym, 3> kRetention{
    {{"log.retention.ms"}, {"log.retention.minutes", Unit::minutes_to_ms}, {"log.retention.hours", Unit::hours_to_ms}}};

constexpr std::span<const ConfigSynonym> topic_synonyms(std::string_view key) {
  for (const TopicSynonyms& row : kTopicSynonyms) {
    if (row.topic_key == key) {
      std::size_t count = 0;
      while (count < kSynonymsMax && !row.broker_keys[count].name.empty()) {
        ++count;
      }
      return std::span<const ConfigSynonym>(row.broker_keys.data(), count);
    }
  }
  return {};
}

constexpr std::span<const ConfigSynonym> broker_synonyms(std::string_view key) {
  if (key == "log.roll.ms" || key == "log.roll.hours") {
    return kRollMs;
  }
  if (key == "log.roll.jitter.ms" || key == "log.roll.jitter.hours") {
    return kRollJitter;
  }
  if (key == "log.flush.interval.ms") {
    return kFlush;
  }
  if (key == "log.retention.ms" || key == "log.retention.minutes" || key == "log.retention.hours") {
    return kRetention;
  }
  return {};
}

// What follows a text, by effect.
#define HW_NOTE_works ""
#define HW_NOTE_none " Highwater takes this key without effect so far."
#define HW_NOTE_guards " Not supported yet: Highwater does not start with it, so that nobody relies on it."

constexpr ConfigDef topic_def(std::string_view name, ConfigType type, bool has_default, std::string_view default_value,
                              std::string_view range, ConfigImportance importance, bool internal, ConfigEffect effect,
                              std::string_view documentation) {
  return {name,       type, has_default, default_value, range, importance, ConfigUpdateMode::cluster_wide, internal,
          effect, topic_synonyms(name), documentation};
}
constexpr ConfigDef broker_def(std::string_view name, ConfigType type, bool has_default, std::string_view default_value,
                               std::string_view range, ConfigImportance importance, ConfigUpdateMode mode, bool internal,
                               ConfigEffect effect, std::string_view documentation) {
  return {name, type, has_default, default_value, range, importance, mode, internal, effect, broker_synonyms(name), documentation};
}

#define HW_TOPIC_CONFIG(name, type, has_default, value, range, importance, internal, effect, documentation) \
  topic_def(name, ConfigType::type, has_default, value, range, ConfigImportance::importance, internal, ConfigEffect::effect, \
            documentation HW_NOTE_##effect),
constexpr ConfigDef kTopicDefs[] = {
#include "engine/metadata/config_table.inc"
};
#undef HW_TOPIC_CONFIG
#define HW_BROKER_CONFIG(name, type, has_default, value, range, importance, mode, internal, effect, documentation) \
  broker_def(name, ConfigType::type, has_default, value, range, ConfigImportance::importance, ConfigUpdateMode::mode, internal, \
             ConfigEffect::effect, documentation HW_NOTE_##effect),
constexpr ConfigDef kBrokerDefs[] = {
#include "engine/metadata/config_table.inc"
};
#undef HW_BROKER_CONFIG

struct GroupKey {
  std::string_view name;
  std::array<ConfigSynonym, 1> broker_key;
};
constexpr SynonymUnit group_unit(std::string_view key) {
  return key == "streams.assignor.name" ? Unit::first_item : Unit::same;
}
#define HW_GROUP_CONFIG(name, type, has_default, value, range, importance, internal, broker_key, effect, documentation) \
  GroupKey{name, {{{broker_key, group_unit(name)}}}},
constexpr GroupKey kGroupKeys[] = {
#include "engine/metadata/config_table.inc"
};
#undef HW_GROUP_CONFIG
constexpr std::span<const ConfigSynonym> group_synonyms(std::string_view key) {
  for (const GroupKey& row : kGroupKeys) {
    if (row.name == key && !row.broker_key.front().name.empty()) {
      return row.broker_key;
    }
  }
  return {};
}
#define HW_GROUP_CONFIG(name, type, has_default, value, range, importance, internal, broker_key, effect, documentation)          \
  ConfigDef{name, ConfigType::type, has_default, value, range, ConfigImportance::importance, ConfigUpdateMode::cluster_wide, \
            internal, ConfigEffect::effect, group_synonyms(name), documentation HW_NOTE_##effect},
constexpr ConfigDef kGroupDefs[] = {
#include "engine/metadata/config_table.inc"
};
#undef HW_GROUP_CONFIG
#define HW_CLIENT_METRICS_CONFIG(name, type, has_default, value, range, importance, internal, effect, documentation)      \
  ConfigDef{name, ConfigType::type, has_default, value, range, ConfigImportance::importance, ConfigUpdateMode::cluster_wide, \
            internal, ConfigEffect::effect, {}, documentation HW_NOTE_##effect},
constexpr ConfigDef kClientMetricsDefs[] = {
#include "engine/metadata/config_table.inc"
};
#undef HW_CLIENT_METRICS_CONFIG
#define HW_REPLICATION_QUOTA_CONFIG(name, type, value, range, importance, effect, documentation)                                    \
  ConfigDef{name, ConfigType::type, true, value, range, ConfigImportance::importance, ConfigUpdateMode::cluster_wide, false, \
            ConfigEffect::effect, {}, documentation HW_NOTE_##effect},
constexpr ConfigDef kReplicationQuotaDefs[] = {
#include "engine/metadata/config_table.inc"
};
#undef HW_REPLICATION_QUOTA_CONFIG

const ConfigDef* find_def(std::span<const ConfigDef> defs, std::string_view name) noexcept {
  const auto at = std::lower_bound(defs.begin(), defs.end(), name,
                                   [](const ConfigDef& def, std::string_view key) { return def.name < key; });
  return at != defs.end() && at->name == name ? &*at : nullptr;
}

}  // namespace

std::span<const ConfigDef> topic_config_defs() noexcept { return kTopicDefs; }
std::span<const ConfigDef> broker_config_defs() noexcept { return kBrokerDefs; }
std::span<const ConfigDef> replication_quota_config_defs() noexcept { return kReplicationQuotaDefs; }
const ConfigDef* find_topic_config(std::string_view name) noexcept { return find_def(kTopicDefs, name); }
const ConfigDef* find_broker_config(std::string_view name) noexcept { return find_def(kBrokerDefs, name); }
std::span<const ConfigDef> group_config_defs() noexcept { return kGroupDefs; }
std::span<const ConfigDef> client_metrics_config_defs() noexcept { return kClientMetricsDefs; }
const ConfigDef* find_group_config(std::string_view name) noexcept { return find_def(kGroupDefs, name); }
const ConfigDef* find_client_metrics_config(std::string_view name) noexcept { return find_def(kClientMetricsDefs, name); }

std::string_view without_listener_prefix(std::string_view name) noexcept {
  constexpr std::string_view kPrefix = "listener.name.";
  if (!name.starts_with(kPrefix)) {
    return name;
  }
  const std::size_t dot = name.find('.', kPrefix.size());
  return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

const ConfigDef* find_settable_broker_config(std::string_view name) noexcept {
  if (const ConfigDef* def = find_broker_config(name)) {
    return def;
  }
  if (const ConfigDef* def = find_def(kReplicationQuotaDefs, name)) {
    return def;
  }
  const std::string_view base = without_listener_prefix(name);
  return base == name ? nullptr : find_broker_config(base);
}

}  // namespace hw::metadata
