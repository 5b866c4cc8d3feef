// SPDX-License-Identifier: Apache-2.0
// Rules over several keys: of a broker, of a group, of a client metrics subscription. Kafka 4.4 checks the same.
#include <algorithm>
#include <array>
#include <limits>
#include <set>

#include "engine/metadata/configs.h"
#include "engine/metadata/detail/config_layers.h"
#include "engine/metadata/detail/config_text.h"
#include "engine/metadata/match_pattern.h"

namespace hw::metadata {
namespace {

std::int64_t whole(std::string_view text) {
  return parse_integer(text, std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()).value_or(0);
}

// "group.consumer" + ".min" + ".session.timeout.ms" for "consumer.session.timeout.ms"; empty: there is no such bound.
std::string bound_key(std::string_view group_key, std::string_view bound) {
  const std::size_t dot = group_key.find('.');
  const std::string rest(group_key.substr(dot));
  const std::string kind = "group." + std::string(group_key.substr(0, dot));
  for (std::string key : {kind + '.' + std::string(bound) + rest,
                          // streams.num.standby.replicas is bounded by group.streams.max.standby.replicas
                          kind + '.' + std::string(bound) + (rest.starts_with(".num.") ? rest.substr(4) : rest)}) {
    if (find_broker_config(key) != nullptr) {
      return key;
    }
  }
  return {};
}

struct Pair {
  std::string_view smaller;
  std::string_view larger;
};

}  // namespace

std::optional<std::string> BrokerConfigs::contradiction() const {
  if (number("log.roll.ms") < 1) {
    return "log.roll.ms must be 1 or more";
  }
  if (number("log.roll.jitter.ms") < 0) {
    return "log.roll.jitter.ms must be 0 or more";
  }
  const std::int64_t retention = number("log.retention.ms");
  if (retention < 1 && retention != -1) {
    return "log.retention.ms must be 1 or more, or -1 for no limit";
  }
  const std::int64_t local_retention = number("log.local.retention.ms");
  if (local_retention != -2 && retention != -1 && (local_retention == -1 || local_retention > retention)) {
    return "log.local.retention.ms must be at most log.retention.ms";
  }
  const std::int64_t bytes = number("log.retention.bytes");
  const std::int64_t local_bytes = number("log.local.retention.bytes");
  if (local_bytes != -2 && bytes != -1 && (local_bytes == -1 || local_bytes > bytes)) {
    return "log.local.retention.bytes must be at most log.retention.bytes";
  }
  const std::int64_t cleaners = number("log.cleaner.threads");
  if (cleaners > 0 && number("log.cleaner.dedupe.buffer.size") / cleaners <= 1024 * 1024) {
    return "log.cleaner.dedupe.buffer.size must be more than 1 MiB for each of log.cleaner.threads";
  }
  if (number("max.connections.per.ip") == 0 && text("max.connections.per.ip.overrides").empty()) {
    return "max.connections.per.ip may be 0 only where max.connections.per.ip.overrides lets somebody in";
  }
  static constexpr std::array kPairs = {
      Pair{"replica.fetch.wait.max.ms", "replica.socket.timeout.ms"},
      Pair{"replica.fetch.wait.max.ms", "replica.lag.time.max.ms"},
      Pair{"group.min.session.timeout.ms", "group.max.session.timeout.ms"},
      Pair{"group.consumer.min.heartbeat.interval.ms", "group.consumer.heartbeat.interval.ms"},
      Pair{"group.consumer.heartbeat.interval.ms", "group.consumer.max.heartbeat.interval.ms"},
      Pair{"group.consumer.min.session.timeout.ms", "group.consumer.session.timeout.ms"},
      Pair{"group.consumer.session.timeout.ms", "group.consumer.max.session.timeout.ms"},
      Pair{"group.consumer.min.assignment.interval.ms", "group.consumer.assignment.interval.ms"},
      Pair{"group.consumer.assignment.interval.ms", "group.consumer.max.assignment.interval.ms"},
      Pair{"group.share.min.heartbeat.interval.ms", "group.share.heartbeat.interval.ms"},
      Pair{"group.share.heartbeat.interval.ms", "group.share.max.heartbeat.interval.ms"},
      Pair{"group.share.min.session.timeout.ms", "group.share.session.timeout.ms"},
      Pair{"group.share.session.timeout.ms", "group.share.max.session.timeout.ms"},
      Pair{"group.share.min.record.lock.duration.ms", "group.share.record.lock.duration.ms"},
      Pair{"group.share.record.lock.duration.ms", "group.share.max.record.lock.duration.ms"},
      Pair{"group.share.min.delivery.count.limit", "group.share.delivery.count.limit"},
      Pair{"group.share.delivery.count.limit", "group.share.max.delivery.count.limit"},
      Pair{"group.share.min.partition.max.record.locks", "group.share.partition.max.record.locks"},
      Pair{"group.share.partition.max.record.locks", "group.share.max.partition.max.record.locks"},
      Pair{"group.streams.min.heartbeat.interval.ms", "group.streams.heartbeat.interval.ms"},
      Pair{"group.streams.heartbeat.interval.ms", "group.streams.max.heartbeat.interval.ms"},
      Pair{"group.streams.min.session.timeout.ms", "group.streams.session.timeout.ms"},
      Pair{"group.streams.session.timeout.ms", "group.streams.max.session.timeout.ms"},
      Pair{"group.share.min.assignment.interval.ms", "group.share.assignment.interval.ms"},
      Pair{"group.share.assignment.interval.ms", "group.share.max.assignment.interval.ms"},
      Pair{"group.streams.min.assignment.interval.ms", "group.streams.assignment.interval.ms"},
      Pair{"group.streams.assignment.interval.ms", "group.streams.max.assignment.interval.ms"},
      Pair{"group.streams.num.standby.replicas", "group.streams.max.standby.replicas"},
  };
  for (const Pair& pair : kPairs) {
    if (number(pair.smaller) > number(pair.larger)) {
      return std::string(pair.smaller) + " (" + text(pair.smaller) + ") must be at most " + std::string(pair.larger) + " (" +
             text(pair.larger) + ")";
    }
  }
  static constexpr std::array kStrict = {
      Pair{"group.consumer.heartbeat.interval.ms", "group.consumer.session.timeout.ms"},
      Pair{"group.share.heartbeat.interval.ms", "group.share.session.timeout.ms"},
      Pair{"group.streams.heartbeat.interval.ms", "group.streams.session.timeout.ms"},
  };
  for (const Pair& pair : kStrict) {
    if (number(pair.smaller) >= number(pair.larger)) {
      return std::string(pair.smaller) + " must be below " + std::string(pair.larger);
    }
  }
  return std::nullopt;
}

std::optional<ConfigFault> group_configs_error(const ConfigMap& configs, const BrokerConfigs& broker) {
  for (const auto& [name, value] : configs) {
    if (find_group_config(name) == nullptr) {
      return ConfigFault{false, "groups have no configuration key '" + name + "'"};
    }
  }
  for (const auto& [name, text] : configs) {
    const ConfigDef& def = *find_group_config(name);
    const Result<std::string> value = parse_config_value(def, text);
    if (!value) {
      return ConfigFault{false, value.error().detail};
    }
    if (def.type == ConfigType::int32 || def.type == ConfigType::int64) {
      const std::int64_t number = whole(*value);
      if (const std::string low = bound_key(name, "min"); !low.empty() && number < broker.number(low)) {
        return ConfigFault{false, name + " is below " + low + " (" + broker.text(low) + ")"};
      }
      if (const std::string high = bound_key(name, "max"); !high.empty() && number > broker.number(high)) {
        return ConfigFault{false, name + " is above " + high + " (" + broker.text(high) + ")"};
      }
    }
  }
  const auto number = [&](const std::string& key) {
    const std::string* own = find_in(&configs, key);
    return own != nullptr ? whole(trimmed(*own)) : broker.number("group." + key);
  };
  for (const std::string kind : {"consumer", "share", "streams"}) {
    if (number(kind + ".session.timeout.ms") <= number(kind + ".heartbeat.interval.ms")) {
      return ConfigFault{false, kind + ".session.timeout.ms must be above " + kind + ".heartbeat.interval.ms"};
    }
  }
  const std::string* dead_letters = find_in(&configs, "errors.deadletterqueue.topic.name");
  if (dead_letters != nullptr && dead_letters->starts_with("__")) {
    return ConfigFault{false, "errors.deadletterqueue.topic.name may not begin with __: those topics are Kafka's own"};
  }
  if (const std::string* assignor = find_in(&configs, "streams.assignor.name")) {
    const std::vector<std::string> known = broker.list("group.streams.assignors");
    if (std::find(known.begin(), known.end(), *assignor) == known.end()) {
      return ConfigFault{false, "streams.assignor.name must be one of group.streams.assignors: " + join(known)};
    }
  }
  return std::nullopt;
}

std::optional<ConfigFault> client_metrics_configs_error(const ConfigMap& configs) {
  constexpr std::int64_t kIntervalMin = 100;
  constexpr std::int64_t kIntervalMax = 3'600'000;
  static const std::set<std::string, std::less<>> kMatchKeys = {
      "client_id",           "client_instance_id",    "client_software_name", "client_software_version",
      "client_source_address", "client_source_port"};
  for (const auto& [name, value] : configs) {
    if (find_client_metrics_config(name) == nullptr) {
      return ConfigFault{true, "client metrics have no configuration key '" + name + "'"};
    }
  }
  for (const auto& [name, text] : configs) {
    const Result<std::string> value = parse_config_value(*find_client_metrics_config(name), text);
    if (!value) {
      return ConfigFault{false, value.error().detail};
    }
    if (name == "interval.ms" && (whole(*value) < kIntervalMin || whole(*value) > kIntervalMax)) {
      return ConfigFault{true, "interval.ms must lie between 100 and 3600000"};
    }
    if (name == "match") {
      for (const std::string& pattern : split_list(*value)) {
        const std::size_t equals = pattern.find('=');
        const std::string_view key = trimmed(std::string_view(pattern).substr(0, equals));
        if (equals == std::string::npos || equals + 1 == pattern.size() ||
            pattern.find('=', equals + 1) != std::string::npos || !kMatchKeys.contains(key)) {
          return ConfigFault{false, "'" + pattern + "' is no client match: it must be a known name, = and a regular expression"};
        }
        const Result<MatchPattern> expression = MatchPattern::compile(trimmed(std::string_view(pattern).substr(equals + 1)));
        if (!expression) {
          return ConfigFault{false, "'" + pattern + "' is no client match: " + expression.error().detail};
        }
      }
    }
  }
  return std::nullopt;
}

}  // namespace hw::metadata
