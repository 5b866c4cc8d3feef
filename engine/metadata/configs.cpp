// SPDX-License-Identifier: Apache-2.0
#include "engine/metadata/configs.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "engine/base/assert.h"
#include "engine/metadata/detail/config_layers.h"
#include "engine/metadata/detail/config_text.h"

namespace hw::metadata {
namespace {

std::string convert(const std::string& value, SynonymUnit unit) {
  std::int64_t factor = 1;
  switch (unit) {
    case SynonymUnit::same: return value;
    case SynonymUnit::minutes_to_ms: factor = 60'000; break;
    case SynonymUnit::hours_to_ms: factor = 3'600'000; break;
    case SynonymUnit::first_item: return value.substr(0, value.find(','));
  }
  const std::optional<std::int64_t> number =
      parse_integer(value, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max());
  return !number ? value : *number < 0 ? "-1" : std::to_string(*number * factor);
}

}  // namespace

// --- resolution

BrokerLayers layers_of(const MetadataImage& image, const BrokerConfigs& broker, BrokerId node) {
  return {image.find_configs({ConfigResourceType::broker, std::to_string(node.value())}),
          image.find_configs({ConfigResourceType::broker, ""}), &broker.values()};
}

const std::string* find_in(const ConfigMap* map, std::string_view key) {
  if (map == nullptr) {
    return nullptr;
  }
  const auto at = map->find(key);
  return at == map->end() ? nullptr : &at->second;
}

std::string canonical(const ConfigDef& def, const std::string& text) {
  Result<std::string> value = parse_config_value(def, text);
  return value ? *value : std::string(def.default_value);  // only a controller that was asked directly takes what is no value
}

namespace {

// The value of a layer. A controller takes what a broker would refuse (KIP-919); where it is a key that cannot change while the broker
// runs, the broker goes on without it.
const std::string* in_layer(const ConfigMap* map, ConfigSource source, std::string_view name) {
  const std::string* value = find_in(map, name);
  if (value != nullptr && source != ConfigSource::static_broker) {
    const ConfigDef* def = find_broker_config(name);
    return def != nullptr && def->update_mode == ConfigUpdateMode::read_only ? nullptr : value;
  }
  return value;
}

}  // namespace

Resolved resolve(const ConfigDef& def, std::span<const ConfigSynonym> names, const BrokerLayers& layers) {
  const std::pair<const ConfigMap*, ConfigSource> in_order[] = {
      {layers.of_broker, ConfigSource::dynamic_broker},
      {layers.of_cluster, ConfigSource::dynamic_default_broker},
      {layers.of_file, ConfigSource::static_broker}};
  for (const auto& [map, source] : in_order) {
    for (const ConfigSynonym& synonym : names) {
      if (const std::string* value = in_layer(map, source, synonym.name)) {
        return {canonical(def, convert(std::string(trimmed(*value)), synonym.unit)), source};
      }
    }
  }
  for (const ConfigSynonym& synonym : names) {  // a broker key that has another name with a default
    const ConfigDef* other = find_broker_config(synonym.name);
    if (!def.has_default && other != nullptr && other->has_default) {
      return {convert(std::string(other->default_value), synonym.unit), ConfigSource::default_value};
    }
  }
  if (!def.has_default) {
    return {};
  }
  return {canonical(def, std::string(def.default_value)), ConfigSource::default_value};
}

namespace {

// Every place that holds a value for one of `names`, from the first that is called `name` on (what Kafka 4.4 lists).
std::vector<ConfigValue::Synonym> places(std::string_view name, std::span<const ConfigSynonym> names,
                                         const BrokerLayers& layers, bool sensitive) {
  std::vector<ConfigValue::Synonym> found;
  const std::pair<const ConfigMap*, ConfigSource> in_order[] = {
      {layers.of_broker, ConfigSource::dynamic_broker},
      {layers.of_cluster, ConfigSource::dynamic_default_broker},
      {layers.of_file, ConfigSource::static_broker}};
  const auto add = [&](std::string_view key, const std::string& value, ConfigSource source) {
    found.push_back({std::string(key), sensitive ? std::nullopt : std::optional<std::string>(value), source});
  };
  const ConfigSynonym itself{name};
  if (names.empty()) {
    names = std::span<const ConfigSynonym>(&itself, 1);
  }
  for (const auto& [map, source] : in_order) {
    for (const ConfigSynonym& synonym : names) {
      if (const std::string* value = in_layer(map, source, synonym.name)) {
        add(synonym.name, *value, source);
      }
    }
  }
  for (const ConfigSynonym& synonym : names) {
    const ConfigDef* def = find_broker_config(synonym.name);
    if (def != nullptr && def->has_default) {
      add(synonym.name, std::string(def->default_value), ConfigSource::default_value);
    }
  }
  const auto first = std::find_if(found.begin(), found.end(), [&](const auto& place) { return place.name == name; });
  found.erase(found.begin(), first);
  return found;
}

}  // namespace

std::optional<std::string> topic_configs_error(
    const std::map<std::string, std::optional<std::string>, std::less<>>& configs, const MetadataImage& image,
    const BrokerConfigs& broker, BrokerId node) {
  constexpr std::size_t kValueMax = 32'767;
  for (const auto& [name, value] : configs) {
    if (!value) {
      return "a topic's " + name + " cannot be null";
    }
    if (value->size() > kValueMax) {
      return "the value of " + name + " is longer than 32767 bytes";
    }
  }
  for (const auto& [name, value] : configs) {
    if (find_topic_config(name) == nullptr) {
      return "topics have no configuration key '" + name + "'";
    }
  }
  std::map<std::string, std::string, std::less<>> parsed;
  for (const auto& [name, value] : configs) {
    Result<std::string> text = parse_config_value(*find_topic_config(name), *value);
    if (!text) {
      return text.error().detail;
    }
    parsed.emplace(name, *text);
  }
  if (const auto at = parsed.find("remote.storage.enable"); at != parsed.end() && at->second == "true") {
    return "this broker has no remote storage, so remote.storage.enable cannot be set";
  }
  const BrokerLayers layers = layers_of(image, broker, node);
  const auto to_be = [&](std::string_view key) {
    const ConfigDef& def = *find_topic_config(key);
    const auto own = parsed.find(key);
    const std::string text = own != parsed.end() ? own->second : resolve(def, def.synonyms, layers).value.value_or("0");
    return parse_integer(text, std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()).value_or(0);
  };
  const std::int64_t min_lag = to_be("min.compaction.lag.ms");
  const std::int64_t max_lag = to_be("max.compaction.lag.ms");
  if (min_lag > max_lag) {
    return "min.compaction.lag.ms (" + std::to_string(min_lag) + ") is above max.compaction.lag.ms (" +
           std::to_string(max_lag) + ")";
  }
  return std::nullopt;
}

// --- BrokerConfigs

Result<BrokerConfigs> BrokerConfigs::parse(const std::map<std::string, std::string>& configs) {
  BrokerConfigs result;
  for (const auto& [name, value] : configs) {
    if (const ConfigDef* def = find_broker_config(name)) {
      HW_CHECK(parse_config_value(*def, value));
    }
    result.values_.emplace(name, value);
  }
  if (std::optional<std::string> why = result.contradiction()) {
    return fail(Errc::invalid, std::move(*why));
  }
  return result;
}

BrokerConfigs BrokerConfigs::with_dynamic(ConfigMap of_broker, ConfigMap of_cluster) const {
  BrokerConfigs result;
  result.values_ = values_;
  result.of_broker_ = std::move(of_broker);
  result.of_cluster_ = std::move(of_cluster);
  return result;
}

BrokerConfigs BrokerConfigs::with_dynamic(const MetadataImage& image, BrokerId node) const {
  const BrokerLayers layers = layers_of(image, *this, node);
  return with_dynamic(layers.of_broker == nullptr ? ConfigMap{} : *layers.of_broker,
                      layers.of_cluster == nullptr ? ConfigMap{} : *layers.of_cluster);
}

std::map<std::string, std::string> BrokerConfigs::with_identity(std::map<std::string, std::string> configs, BrokerId node,
                                                                const std::string& advertised_host,
                                                                std::uint16_t advertised_port, const std::string& directory) {
  const std::string id = std::to_string(node.value());
  const std::string endpoint = "PLAINTEXT://" + advertised_host + ":" + std::to_string(advertised_port);
  configs.emplace("node.id", id);
  configs.emplace("broker.id", id);
  configs.emplace("process.roles", "broker,controller");
  configs.emplace("controller.listener.names", "CONTROLLER");
  configs.emplace("listeners", endpoint);
  configs.emplace("advertised.listeners", endpoint);
  configs.emplace("log.dirs", directory);
  return configs;
}

const std::string* BrokerConfigs::find(std::string_view name) const { return find_in(&values_, name); }

std::string BrokerConfigs::text(std::string_view name) const {
  const ConfigDef* def = find_broker_config(name);
  HW_ASSERT(def != nullptr, "a key of the table");
  const ConfigSynonym itself{name};
  BrokerLayers layers;
  layers.of_broker = &of_broker_;
  layers.of_cluster = &of_cluster_;
  layers.of_file = &values_;
  const std::span<const ConfigSynonym> names =
      def->synonyms.empty() ? std::span<const ConfigSynonym>(&itself, 1) : def->synonyms;
  return resolve(*def, names, layers).value.value_or("");
}

std::int64_t BrokerConfigs::number(std::string_view name) const {
  return parse_integer(text(name), std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max())
      .value_or(-1);
}
bool BrokerConfigs::flag(std::string_view name) const { return text(name) == "true"; }
std::vector<std::string> BrokerConfigs::list(std::string_view name) const { return split_list(text(name)); }

// --- describing

namespace {

ConfigValue describe_topic_config(const ConfigDef& def, const ConfigMap* own, const BrokerLayers& layers) {
  ConfigValue entry;
  entry.def = &def;
  entry.name = def.name;
  const std::string* own_value = find_in(own, def.name);
  entry.value = own_value != nullptr ? std::optional<std::string>(canonical(def, *own_value))
                                     : resolve(def, def.synonyms, layers).value;
  if (own_value != nullptr) {
    entry.synonyms.push_back({entry.name, entry.value, ConfigSource::topic});
  }
  if (!def.synonyms.empty()) {
    const std::string_view first = def.synonyms.front().name;
    for (ConfigValue::Synonym& place : places(first, find_broker_config(first)->synonyms, layers, false)) {
      entry.synonyms.push_back(std::move(place));
    }
  }
  entry.source = entry.synonyms.empty() ? ConfigSource::default_value : entry.synonyms.front().source;
  return entry;
}

}  // namespace

std::vector<ConfigValue> describe_topic_configs(const ConfigMap* own, const MetadataImage& image,
                                                const BrokerConfigs& broker, BrokerId node) {
  const BrokerLayers layers = layers_of(image, broker, node);
  std::vector<ConfigValue> result;
  for (const ConfigDef& def : topic_config_defs()) {
    if (def.internal && find_in(own, def.name) == nullptr) {
      continue;
    }
    result.push_back(describe_topic_config(def, own, layers));
  }
  return result;
}

std::vector<ConfigValue> created_topic_configs(const ConfigMap& own, const MetadataImage& image,
                                               const BrokerConfigs& broker, BrokerId node) {
  const BrokerLayers layers = layers_of(image, broker, node);
  std::vector<ConfigValue> result;
  for (const ConfigDef& def : topic_config_defs()) {
    ConfigValue entry;
    entry.def = &def;
    entry.name = def.name;
    if (const std::string* value = find_in(&own, def.name)) {
      entry.value = *value;
      entry.source = ConfigSource::topic;
    } else if (def.internal) {
      continue;
    } else {
      Resolved resolved = resolve(def, def.synonyms, layers);
      entry.value = std::move(resolved.value);
      entry.source = resolved.source;
    }
    result.push_back(std::move(entry));
  }
  return result;
}

std::vector<ConfigValue> describe_broker_configs(const MetadataImage& image, const BrokerConfigs& broker, BrokerId node) {
  const BrokerLayers layers = layers_of(image, broker, node);
  std::vector<ConfigValue> result;
  for (const ConfigDef& def : broker_config_defs()) {
    if (def.internal && broker.find(def.name) == nullptr) {
      continue;
    }
    ConfigValue entry;
    entry.def = &def;
    entry.name = def.name;
    entry.read_only = def.update_mode == ConfigUpdateMode::read_only;
    entry.synonyms = places(def.name, def.synonyms, layers, def.sensitive());
    entry.source = entry.synonyms.empty() ? ConfigSource::default_value : entry.synonyms.front().source;
    if (!def.sensitive()) {
      // The key itself only: log.retention.ms stays null although log.retention.hours has a value.
      const ConfigSynonym itself{def.name};
      ConfigDef alone = def;
      alone.synonyms = {};
      entry.value = resolve(alone, std::span<const ConfigSynonym>(&itself, 1), layers).value;
    }
    result.push_back(std::move(entry));
  }
  // Keys without a row of their own: a plug-in's, of which nobody knows whether it is a secret, and those of one listener.
  std::set<std::string_view> others;
  for (const ConfigMap* map : {layers.of_broker, layers.of_cluster, layers.of_file}) {
    if (map == nullptr) {
      continue;
    }
    for (const auto& [name, value] : *map) {
      if (find_broker_config(name) == nullptr) {
        others.insert(name);
      }
    }
  }
  for (const std::string_view name : others) {
    ConfigValue entry;
    entry.def = find_settable_broker_config(name);
    entry.name = name;
    entry.read_only = entry.def == nullptr || entry.def->name != name;
    const bool sensitive = entry.def == nullptr || entry.def->sensitive();
    entry.synonyms = places(name, {}, layers, sensitive);
    entry.source = entry.synonyms.front().source;
    entry.value = entry.synonyms.front().value;
    result.push_back(std::move(entry));
  }
  return result;
}

std::vector<ConfigValue> describe_group_configs(const ConfigMap* own, const BrokerConfigs& broker,
                                                const MetadataImage& image, BrokerId node) {
  const BrokerLayers layers = layers_of(image, broker, node);
  std::vector<ConfigValue> result;
  for (const ConfigDef& def : group_config_defs()) {
    const std::string* own_value = find_in(own, def.name);
    if (def.internal && own_value == nullptr) {
      continue;
    }
    ConfigValue entry;
    entry.def = &def;
    entry.name = def.name;
    entry.value = own_value != nullptr ? std::optional<std::string>(canonical(def, *own_value))
                                       : resolve(def, def.synonyms, layers).value;
    if (own_value != nullptr) {
      entry.synonyms.push_back({entry.name, entry.value, ConfigSource::group});
    }
    if (!def.synonyms.empty()) {
      const std::string_view first = def.synonyms.front().name;
      for (ConfigValue::Synonym& place : places(first, {}, layers, false)) {
        entry.synonyms.push_back(std::move(place));
      }
    } else if (def.has_default) {
      entry.synonyms.push_back({entry.name, std::string(def.default_value), ConfigSource::default_value});
    }
    entry.source = entry.synonyms.empty() ? ConfigSource::default_value : entry.synonyms.front().source;
    result.push_back(std::move(entry));
  }
  return result;
}

std::vector<ConfigValue> describe_client_metrics_configs(const ConfigMap* own) {
  std::vector<ConfigValue> result;
  for (const ConfigDef& def : client_metrics_config_defs()) {
    const std::string* own_value = find_in(own, def.name);
    ConfigValue entry;
    entry.def = &def;
    entry.name = def.name;
    entry.value = canonical(def, own_value != nullptr ? *own_value : std::string(def.default_value));
    if (own_value != nullptr) {
      entry.source = ConfigSource::client_metrics;
      entry.synonyms.push_back({entry.name, entry.value, ConfigSource::client_metrics});
    }
    result.push_back(std::move(entry));
  }
  return result;
}

std::vector<ConfigValue> describe_default_broker_configs(const MetadataImage& image) {
  std::vector<ConfigValue> result;
  const ConfigMap* configs = image.find_configs({ConfigResourceType::broker, ""});
  if (configs == nullptr) {
    return result;
  }
  for (const auto& [name, value] : *configs) {
    ConfigValue entry;
    entry.def = find_settable_broker_config(name);
    entry.name = name;
    const bool sensitive = entry.def == nullptr || entry.def->sensitive();
    entry.value = sensitive ? std::nullopt : std::optional<std::string>(value);
    entry.source = ConfigSource::dynamic_default_broker;
    entry.read_only =
        entry.def == nullptr || entry.def->name != name || entry.def->update_mode == ConfigUpdateMode::read_only;
    entry.synonyms.push_back({name, entry.value, ConfigSource::dynamic_default_broker});
    result.push_back(std::move(entry));
  }
  return result;
}

// --- typed

std::string effective_topic_config(std::string_view key, std::string_view topic, const MetadataImage& image,
                                   const BrokerConfigs& broker, BrokerId node) {
  const ConfigDef* def = find_topic_config(key);
  HW_ASSERT(def != nullptr, "a key of topics");
  const ConfigMap* own = image.find_configs({ConfigResourceType::topic, std::string(topic)});
  if (const std::string* value = find_in(own, key)) {
    return canonical(*def, *value);
  }
  return resolve(*def, def->synonyms, layers_of(image, broker, node)).value.value_or("");
}

TopicConfigs effective_topic_configs(std::string_view topic, const MetadataImage& image, const BrokerConfigs& broker,
                                     BrokerId node) {
  const BrokerLayers layers = layers_of(image, broker, node);
  const ConfigMap* own = image.find_configs({ConfigResourceType::topic, std::string(topic)});
  const auto text = [&](std::string_view key) {
    const ConfigDef& def = *find_topic_config(key);
    if (const std::string* value = find_in(own, key)) {
      return canonical(def, *value);
    }
    return resolve(def, def.synonyms, layers).value.value_or("");
  };
  const auto int64 = [&](std::string_view key) {
    return parse_integer(text(key), std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max())
        .value_or(0);
  };
  const auto int32 = [&](std::string_view key) { return static_cast<std::int32_t>(int64(key)); };
  const auto flag = [&](std::string_view key) { return text(key) == "true"; };

  TopicConfigs result;
  const std::vector<std::string> policy = split_list(text("cleanup.policy"));
  result.cleanup_delete = std::find(policy.begin(), policy.end(), "delete") != policy.end();
  result.cleanup_compact = std::find(policy.begin(), policy.end(), "compact") != policy.end();
  result.retention_ms = int64("retention.ms");
  result.retention_bytes = int64("retention.bytes");
  result.segment_bytes = int32("segment.bytes");
  if (const std::string* value = find_in(own, "internal.segment.bytes")) {
    result.segment_bytes =
        static_cast<std::int32_t>(parse_integer(trimmed(*value), 1, std::numeric_limits<std::int32_t>::max())
                                      .value_or(result.segment_bytes));
  }
  result.segment_ms = int64("segment.ms");
  result.segment_jitter_ms = int64("segment.jitter.ms");
  result.segment_index_bytes = int32("segment.index.bytes");
  result.index_interval_bytes = int32("index.interval.bytes");
  result.max_message_bytes = int32("max.message.bytes");
  result.max_decompressed_message_bytes = int32("max.decompressed.message.bytes");
  result.log_append_time = text("message.timestamp.type") == "LogAppendTime";
  result.timestamp_before_max_ms = int64("message.timestamp.before.max.ms");
  result.timestamp_after_max_ms = int64("message.timestamp.after.max.ms");
  result.compression_type = text("compression.type");
  result.gzip_level = int32("compression.gzip.level");
  result.lz4_level = int32("compression.lz4.level");
  result.zstd_level = int32("compression.zstd.level");
  result.min_insync_replicas = int32("min.insync.replicas");
  result.file_delete_delay_ms = int64("file.delete.delay.ms");
  result.flush_messages = int64("flush.messages");
  result.flush_ms = int64("flush.ms");
  result.preallocate = flag("preallocate");
  return result;
}

}  // namespace hw::metadata
