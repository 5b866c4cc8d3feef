// SPDX-License-Identifier: Apache-2.0
#include "engine/api/client_telemetry.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "engine/metadata/configs.h"
#include "engine/wire/record/crc32c.h"

namespace hw::api {
namespace {

using wire::ErrorCode;

constexpr std::size_t kInstancesMax = 16'384;
constexpr std::int64_t kLifeMs = 60'000;
constexpr std::int32_t kIntervalDefaultMs = 300'000;
constexpr std::array<std::int8_t, 4> kCompressions = {4, 3, 1, 2};  // zstd, lz4, gzip, snappy
constexpr std::array<std::string_view, 6> kMatchKeys = {"client_instance_id",      "client_id",
                                                        "client_software_name",    "client_software_version",
                                                        "client_source_address",   "client_source_port"};

std::int64_t ms(Instant now) { return now.ns / 1'000'000; }

// What an instance that never spoke counts as its last word: long ago.
constexpr std::int64_t kLongAgo = INT64_MIN / 2;

std::string trimmed(std::string text) {
  text.erase(0, text.find_first_not_of(' '));
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

std::vector<std::string> items(std::string_view text) {
  std::vector<std::string> result;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    if (std::string item = trimmed(std::string(text.substr(0, comma))); !item.empty()) {
      result.push_back(std::move(item));
    }
    text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
  }
  return result;
}

// As Kafka computes it: CRC-32C of "[metric, metric]interval", mixed with a hash of the instance.
std::int32_t subscription_id(const std::vector<std::string>& metrics, std::int32_t interval_ms, const Uuid& id) {
  std::string text = "[";
  for (const std::string& metric : metrics) {
    text += (text.size() == 1 ? "" : ", ") + metric;
  }
  text += "]" + std::to_string(interval_ms);
  const std::uint64_t mixed = id.high ^ id.low;
  const auto hash = static_cast<std::uint32_t>(mixed >> 32U) ^ static_cast<std::uint32_t>(mixed);
  return static_cast<std::int32_t>(wire::crc32c(as_bytes(text)) ^ hash);
}

}  // namespace

void ClientTelemetry::set_subscriptions(const metadata::MetadataImage& image) {
  subscriptions_.clear();
  ++generation_;
  const metadata::ConfigResource first{metadata::ConfigResourceType::client_metrics, ""};
  for (auto at = image.configs().lower_bound(first); at != image.configs().end() && at->first.type == first.type; ++at) {
    Subscription subscription;
    subscription.interval_ms = kIntervalDefaultMs;
    for (const metadata::ConfigValue& value : metadata::describe_client_metrics_configs(&at->second)) {
      const std::string text = value.value.value_or("");
      if (value.name == "metrics") {
        subscription.metrics = items(text);
      } else if (value.name == "interval.ms") {
        std::from_chars(text.data(), text.data() + text.size(), subscription.interval_ms);
      } else {
        for (const std::string& item : items(text)) {
          const std::size_t equals = item.find('=');
          Result<metadata::MatchPattern> pattern = metadata::MatchPattern::compile(trimmed(item.substr(equals + 1)));
          if (pattern) {  // it was checked when it was set
            subscription.match.emplace_back(trimmed(item.substr(0, equals)), std::move(*pattern));
          }
        }
      }
    }
    subscriptions_.emplace(at->first.name, std::move(subscription));
  }
}

void ClientTelemetry::look_up(Instance& instance) const {
  std::set<std::string> metrics;
  instance.interval_ms = kIntervalDefaultMs;
  for (const auto& [name, subscription] : subscriptions_) {
    const bool meant = std::all_of(subscription.match.begin(), subscription.match.end(), [&](const auto& rule) {
      const auto key = std::find(kMatchKeys.begin(), kMatchKeys.end(), rule.first);
      return key != kMatchKeys.end() &&
             rule.second.matches(instance.facts[static_cast<std::size_t>(key - kMatchKeys.begin())]);
    });
    if (meant) {
      metrics.insert(subscription.metrics.begin(), subscription.metrics.end());
      instance.interval_ms = std::min(instance.interval_ms, subscription.interval_ms);
    }
  }
  if (metrics.contains("*")) {
    metrics = {"*"};
  }
  instance.metrics.assign(metrics.begin(), metrics.end());
  instance.subscription_id = subscription_id(instance.metrics, instance.interval_ms, instance.id);
  instance.generation = generation_;
}

void ClientTelemetry::forget(std::list<Instance>::iterator instance) {
  if (const auto at = of_connection_.find(instance->connection); at != of_connection_.end() && at->second == instance->id) {
    of_connection_.erase(at);
  }
  by_id_.erase(instance->id);
  by_use_.erase(instance);
}

ClientTelemetry::Instance& ClientTelemetry::instance_of(const Uuid& id, const Caller& caller, std::int64_t now_ms) {
  // Whoever was quiet too long is new again. Lives differ by interval, so those at the front are only mostly the first.
  while (!by_use_.empty() &&
         now_ms - by_use_.front().last_heard_ms > std::max<std::int64_t>(kLifeMs, 3LL * by_use_.front().interval_ms)) {
    forget(by_use_.begin());
  }
  const auto known = by_id_.find(id);
  if (known != by_id_.end()) {
    Instance& instance = *known->second;
    const bool expired = now_ms - instance.last_heard_ms > std::max<std::int64_t>(kLifeMs, 3LL * instance.interval_ms);
    if (!expired && instance.generation == generation_) {
      by_use_.splice(by_use_.end(), by_use_, known->second);
      instance.last_heard_ms = now_ms;
      return instance;
    }
    forget(known->second);
  }
  if (by_use_.size() >= kInstancesMax) {
    forget(by_use_.begin());
  }
  Instance& made = by_use_.emplace_back();
  made.id = id;
  made.connection = caller.connection;
  const std::size_t colon = caller.peer.rfind(':');
  made.facts = {id.text(), std::string(caller.client_id), std::string(caller.software_name),
                std::string(caller.software_version), std::string(caller.peer.substr(0, colon)),
                colon == std::string_view::npos ? std::string() : std::string(caller.peer.substr(colon + 1))};
  made.last_get_ms = kLongAgo;
  made.last_push_ms = kLongAgo;
  made.last_heard_ms = now_ms;
  look_up(made);
  by_id_[id] = std::prev(by_use_.end());
  of_connection_[caller.connection] = id;
  return made;
}

wire::GetTelemetrySubscriptionsResponse ClientTelemetry::subscriptions_of(
    const wire::GetTelemetrySubscriptionsRequest& request, const Caller& caller, Prng& prng, Instant now) {
  Uuid id = request.client_instance_id;
  while (id.is_zero() || (request.client_instance_id.is_zero() && by_id_.contains(id))) {
    id = Uuid::random(prng);
  }
  Instance& instance = instance_of(id, caller, ms(now));
  wire::GetTelemetrySubscriptionsResponse response;
  const std::int64_t last = std::max(instance.last_get_ms, instance.last_push_ms);
  if (ms(now) - last >= instance.interval_ms) {
    instance.last_get_ms = ms(now);
  } else if (instance.last_error != ErrorCode::unknown_subscription_id &&
             instance.last_error != ErrorCode::unsupported_compression_type) {
    response.error_code = ErrorCode::throttling_quota_exceeded;
    return response;
  }
  instance.last_error = ErrorCode::none;
  response.client_instance_id = id;
  response.subscription_id = instance.subscription_id;
  response.accepted_compression_types.assign(kCompressions.begin(), kCompressions.end());
  response.push_interval_ms = instance.interval_ms;
  response.telemetry_max_bytes = max_bytes_;
  response.delta_temporality = true;
  response.requested_metrics = instance.metrics;
  return response;
}

wire::PushTelemetryResponse ClientTelemetry::push(const wire::PushTelemetryRequest& request, const Caller& caller,
                                                  Instant now) {
  wire::PushTelemetryResponse response;
  const Uuid one{0, 1};  // reserved in Kafka, as zero is
  if (request.client_instance_id.is_zero() || request.client_instance_id == one) {
    response.error_code = ErrorCode::invalid_request;
    return response;
  }
  Instance& instance = instance_of(request.client_instance_id, caller, ms(now));
  const auto verdict = [&] {
    if (instance.terminating) {
      return ErrorCode::invalid_request;
    }
    // The first push after the client asked comes when it likes: clients spread themselves over the interval.
    const bool in_time =
        instance.last_get_ms > instance.last_push_ms || ms(now) - instance.last_push_ms >= instance.interval_ms;
    if (in_time) {
      instance.last_push_ms = ms(now);
    } else if (!request.terminating) {
      return ErrorCode::throttling_quota_exceeded;
    }
    if (request.subscription_id != instance.subscription_id) {
      return ErrorCode::unknown_subscription_id;
    }
    if (request.compression_type != 0 &&
        std::find(kCompressions.begin(), kCompressions.end(), request.compression_type) == kCompressions.end()) {
      return ErrorCode::unsupported_compression_type;
    }
    if (request.metrics.size() > static_cast<std::size_t>(max_bytes_)) {
      return ErrorCode::telemetry_too_large;
    }
    return ErrorCode::none;
  };
  response.error_code = verdict();
  instance.last_error = response.error_code;
  instance.terminating = request.terminating;
  return response;
}

void ClientTelemetry::disconnected(ConnectionId connection) {
  const auto at = of_connection_.find(connection);
  if (at == of_connection_.end()) {
    return;
  }
  const auto instance = by_id_.find(at->second);
  of_connection_.erase(at);
  if (instance != by_id_.end()) {
    forget(instance->second);
  }
}

}  // namespace hw::api
