// SPDX-License-Identifier: Apache-2.0
#include "engine/metadata/configs.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

namespace hw::metadata {
namespace {

// --- the table

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

constexpr ConfigDef topic_def(std::string_view name, ConfigType type, bool has_default, std::string_view default_value,
                              std::string_view range, ConfigImportance importance, bool internal,
                              std::string_view documentation) {
  return {name,       type, has_default, default_value, range, importance, ConfigUpdateMode::cluster_wide, internal,
          topic_synonyms(name), documentation};
}
constexpr ConfigDef broker_def(std::string_view name, ConfigType type, bool has_default, std::string_view default_value,
                               std::string_view range, ConfigImportance importance, ConfigUpdateMode mode, bool internal) {
  return {name, type, has_default, default_value, range, importance, mode, internal, broker_synonyms(name), {}};
}

#define HW_TOPIC_CONFIG(name, type, has_default, value, range, importance, internal, documentation) \
  topic_def(name, ConfigType::type, has_default, value, range, ConfigImportance::importance, internal, documentation),
constexpr ConfigDef kTopicDefs[] = {
#include "engine/metadata/config_table.inc"
};
#undef HW_TOPIC_CONFIG
#define HW_BROKER_CONFIG(name, type, has_default, value, range, importance, mode, internal) \
  broker_def(name, ConfigType::type, has_default, value, range, ConfigImportance::importance, ConfigUpdateMode::mode, internal),
constexpr ConfigDef kBrokerDefs[] = {
#include "engine/metadata/config_table.inc"
};
#undef HW_BROKER_CONFIG

const ConfigDef* find_def(std::span<const ConfigDef> defs, std::string_view name) noexcept {
  const auto at = std::lower_bound(defs.begin(), defs.end(), name,
                                   [](const ConfigDef& def, std::string_view key) { return def.name < key; });
  return at != defs.end() && at->name == name ? &*at : nullptr;
}

// --- values

std::string_view trimmed(std::string_view text) noexcept {
  const auto blank = [](char c) { return static_cast<unsigned char>(c) <= ' '; };
  while (!text.empty() && blank(text.front())) {
    text.remove_prefix(1);
  }
  while (!text.empty() && blank(text.back())) {
    text.remove_suffix(1);
  }
  return text;
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return result;
}

std::optional<std::int64_t> parse_integer(std::string_view text, std::int64_t low, std::int64_t high) noexcept {
  if (!text.empty() && text.front() == '+') {
    text.remove_prefix(1);
    if (!text.empty() && text.front() == '-') {
      return std::nullopt;
    }
  }
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < low || value > high) {
    return std::nullopt;
  }
  return value;
}

std::optional<double> parse_double(std::string_view text) noexcept {
  if (!text.empty() && text.front() == '+') {
    text.remove_prefix(1);
  }
  if (text.size() > 1 && std::string_view("fFdD").find(text.back()) != std::string_view::npos) {
    text.remove_suffix(1);  // Java's suffixes of literals
  }
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

// As Java prints it: at least one digit after the point, an exponent below 10^-3 and from 10^7 on.
std::string double_text(double value) {
  std::array<char, 64> buffer{};
  const double magnitude = std::fabs(value);
  const bool plain = magnitude == 0 || (magnitude >= 1e-3 && magnitude < 1e7);
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                          plain ? std::chars_format::fixed : std::chars_format::scientific);
  std::string text(buffer.data(), error == std::errc{} ? end : buffer.data());
  if (plain) {
    return text.find('.') == std::string::npos ? text + ".0" : text;
  }
  const std::size_t e = text.find('e');
  std::string mantissa = text.substr(0, e);
  if (mantissa.find('.') == std::string::npos) {
    mantissa += ".0";
  }
  std::string exponent = text.substr(e + 1);
  const bool negative = !exponent.empty() && exponent.front() == '-';
  exponent.erase(0, exponent.find_first_not_of("+-0"));
  return mantissa + 'E' + (negative ? "-" : "") + exponent;
}

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> items;
  text = trimmed(text);
  if (text.empty()) {
    return items;
  }
  for (;;) {
    const std::size_t comma = text.find(',');
    items.emplace_back(trimmed(text.substr(0, comma)));
    if (comma == std::string_view::npos) {
      return items;
    }
    text.remove_prefix(comma + 1);
  }
}

std::string join(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) {
    if (!text.empty()) {
      text += ',';
    }
    text += item;
  }
  return text;
}

Unexpected<Error> bad_value(const ConfigDef& def, std::string_view value, const std::string& why) {
  return fail(Errc::invalid, "'" + std::string(value) + "' is not a value for " + std::string(def.name) + ": " + why);
}

// The words between the brackets of "[a, b, c]"; empty where the range is no enumeration.
std::vector<std::string> enumeration(std::string_view range) {
  const std::size_t open = range.find('[');
  if (open == std::string_view::npos || range.back() != ']' || range.find("...") != std::string_view::npos) {
    return {};
  }
  return split_list(range.substr(open + 1, range.size() - open - 2));
}

struct NumericRange {
  std::optional<double> low;
  std::optional<double> high;
  std::optional<double> or_else;
};
// "[low,...]", "[low,...,high]", either followed by " or value".
NumericRange numeric_range(std::string_view text) {
  NumericRange range;
  if (text.empty() || text.front() != '[') {
    return range;
  }
  const std::size_t close = text.find(']');
  const std::string_view inside = text.substr(1, close - 1);
  const std::size_t first_comma = inside.find(',');
  const std::size_t last_comma = inside.rfind(',');
  range.low = parse_double(inside.substr(0, first_comma));
  if (last_comma != first_comma) {
    range.high = parse_double(inside.substr(last_comma + 1));
  }
  const std::size_t alternative = text.find(" or ");
  if (alternative != std::string_view::npos) {
    range.or_else = parse_double(text.substr(alternative + 4));
  }
  return range;
}

std::optional<std::string> range_error(const ConfigDef& def, double value) {
  const NumericRange range = numeric_range(def.range);
  if (range.or_else && value == *range.or_else) {
    return std::nullopt;
  }
  if ((range.low && value < *range.low) || (range.high && value > *range.high)) {
    return "it must lie in " + std::string(def.range);
  }
  return std::nullopt;
}

bool is_throttled_replica(std::string_view item) {
  const std::size_t colon = item.find(':');
  if (colon == std::string_view::npos) {
    return false;
  }
  const auto digits = [](std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  };
  return digits(item.substr(0, colon)) && digits(item.substr(colon + 1));
}

Result<std::string> parse_list(const ConfigDef& def, std::string_view text) {
  const std::vector<std::string> items = split_list(text);
  if (std::find(items.begin(), items.end(), "") != items.end()) {
    return bad_value(def, text, "a list may not hold empty items");
  }
  if (def.range == "non-empty list" && items.empty()) {
    return bad_value(def, text, "the list may not be empty");
  }
  if (def.range.starts_with("[partitionId]")) {
    const bool all = items.size() == 1 && items.front() == "*";
    if (!all && !std::all_of(items.begin(), items.end(), is_throttled_replica)) {
      return bad_value(def, text, "it must be * or pairs of partition:broker");
    }
    return join(items);
  }
  const std::vector<std::string> allowed = enumeration(def.range);
  std::vector<std::string> kept;
  for (const std::string& item : items) {
    if (!allowed.empty() && std::find(allowed.begin(), allowed.end(), item) == allowed.end()) {
      return bad_value(def, item, "it must be one of " + join(allowed));
    }
    if (std::find(kept.begin(), kept.end(), item) == kept.end()) {
      kept.push_back(item);
    }
  }
  return join(kept);
}

Result<std::string> parse_text(const ConfigDef& def, std::string_view text) {
  const std::vector<std::string> allowed = enumeration(def.range);
  if (!allowed.empty()) {
    const bool any_case = def.range.starts_with("(case insensitive)");
    const bool found = std::any_of(allowed.begin(), allowed.end(), [&](const std::string& word) {
      return any_case ? lower(word) == lower(text) : word == text;
    });
    if (!found) {
      return bad_value(def, text, "it must be one of " + join(allowed));
    }
  }
  if (def.range == "non-empty string" && text.empty()) {
    return bad_value(def, text, "it may not be empty");
  }
  return std::string(text);
}

Result<std::string> parse_number(const ConfigDef& def, std::string_view text, std::int64_t low, std::int64_t high,
                                 const char* kind) {
  const std::optional<std::int64_t> value = parse_integer(text, low, high);
  if (!value) {
    return bad_value(def, text, std::string("it must be ") + kind);
  }
  if (std::optional<std::string> why = range_error(def, static_cast<double>(*value))) {
    return bad_value(def, text, *why);
  }
  return std::to_string(*value);
}

// --- resolution

std::string convert(const std::string& value, SynonymUnit unit) {
  std::int64_t factor = 1;
  switch (unit) {
    case SynonymUnit::same: return value;
    case SynonymUnit::minutes_to_ms: factor = 60'000; break;
    case SynonymUnit::hours_to_ms: factor = 3'600'000; break;
  }
  const std::optional<std::int64_t> number =
      parse_integer(value, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max());
  return !number ? value : *number < 0 ? "-1" : std::to_string(*number * factor);
}

struct BrokerLayers {
  const ConfigMap* of_broker = nullptr;
  const ConfigMap* of_cluster = nullptr;
  const std::map<std::string, std::string, std::less<>>* of_file = nullptr;
};

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

struct Resolved {
  std::optional<std::string> value;
  ConfigSource source = ConfigSource::default_value;
};

std::string canonical(const ConfigDef& def, const std::string& text) {
  Result<std::string> value = parse_config_value(def, text);
  return value ? *value : std::string(def.default_value);  // cannot be: values are checked before they are written
}

Resolved resolve(const ConfigDef& def, std::span<const ConfigSynonym> names, const BrokerLayers& layers) {
  const std::pair<const ConfigMap*, ConfigSource> in_order[] = {
      {layers.of_broker, ConfigSource::dynamic_broker},
      {layers.of_cluster, ConfigSource::dynamic_default_broker},
      {layers.of_file, ConfigSource::static_broker}};
  for (const auto& [map, source] : in_order) {
    for (const ConfigSynonym& synonym : names) {
      if (const std::string* value = find_in(map, synonym.name)) {
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
      if (const std::string* value = find_in(map, synonym.name)) {
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

std::span<const ConfigDef> topic_config_defs() noexcept { return kTopicDefs; }
std::span<const ConfigDef> broker_config_defs() noexcept { return kBrokerDefs; }
const ConfigDef* find_topic_config(std::string_view name) noexcept { return find_def(kTopicDefs, name); }
const ConfigDef* find_broker_config(std::string_view name) noexcept { return find_def(kBrokerDefs, name); }

Result<std::string> parse_config_value(const ConfigDef& def, std::string_view raw) {
  const std::string_view text = def.type == ConfigType::password ? raw : trimmed(raw);
  switch (def.type) {
    case ConfigType::boolean: {
      std::string word = lower(text);
      if (word != "true" && word != "false") {
        return bad_value(def, text, "it must be true or false");
      }
      return word;
    }
    case ConfigType::int16:
      return parse_number(def, text, std::numeric_limits<std::int16_t>::min(), std::numeric_limits<std::int16_t>::max(),
                          "a 16-bit integer");
    case ConfigType::int32:
      return parse_number(def, text, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max(),
                          "a 32-bit integer");
    case ConfigType::int64:
      return parse_number(def, text, std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max(),
                          "a 64-bit integer");
    case ConfigType::float64: {
      const std::optional<double> value = parse_double(text);
      if (!value) {
        return bad_value(def, text, "it must be a number");
      }
      if (std::optional<std::string> why = range_error(def, *value)) {
        return bad_value(def, text, *why);
      }
      return double_text(*value);
    }
    case ConfigType::list: return parse_list(def, text);
    case ConfigType::string:
    case ConfigType::class_name:
    case ConfigType::password:
    case ConfigType::unknown: return parse_text(def, text);
  }
  return std::string(text);
}

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
  const auto number = [&](std::string_view key) {
    const ConfigDef& def = *find_topic_config(key);
    const auto own = parsed.find(key);
    const std::string text = own != parsed.end() ? own->second : resolve(def, def.synonyms, layers).value.value_or("0");
    return parse_integer(text, std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()).value_or(0);
  };
  const std::int64_t min_lag = number("min.compaction.lag.ms");
  const std::int64_t max_lag = number("max.compaction.lag.ms");
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
  return result;
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
    for (ConfigValue::Synonym& place : places(first, broker_synonyms(first), layers, false)) {
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
  for (const ConfigDef& def : kTopicDefs) {
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
  for (const ConfigDef& def : kTopicDefs) {
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
  for (const ConfigDef& def : kBrokerDefs) {
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
  for (const auto& [name, value] : broker.values()) {
    if (find_broker_config(name) == nullptr) {  // a plug-in's: nobody knows whether it is a secret
      ConfigValue entry;
      entry.name = name;
      entry.read_only = true;
      entry.source = ConfigSource::static_broker;
      entry.synonyms.push_back({name, std::nullopt, ConfigSource::static_broker});
      result.push_back(std::move(entry));
    }
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
    entry.def = find_broker_config(name);
    entry.name = name;
    const bool sensitive = entry.def == nullptr || entry.def->sensitive();
    entry.value = sensitive ? std::nullopt : std::optional<std::string>(value);
    entry.source = ConfigSource::dynamic_default_broker;
    entry.read_only = entry.def == nullptr || entry.def->update_mode == ConfigUpdateMode::read_only;
    entry.synonyms.push_back({name, entry.value, ConfigSource::dynamic_default_broker});
    result.push_back(std::move(entry));
  }
  return result;
}

// --- typed

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
  result.unclean_leader_election = flag("unclean.leader.election.enable");
  result.delete_retention_ms = int64("delete.retention.ms");
  result.min_cleanable_dirty_ratio = parse_double(text("min.cleanable.dirty.ratio")).value_or(0.5);
  result.min_compaction_lag_ms = int64("min.compaction.lag.ms");
  result.max_compaction_lag_ms = int64("max.compaction.lag.ms");
  result.file_delete_delay_ms = int64("file.delete.delay.ms");
  result.flush_messages = int64("flush.messages");
  result.flush_ms = int64("flush.ms");
  result.preallocate = flag("preallocate");
  return result;
}

}  // namespace hw::metadata
