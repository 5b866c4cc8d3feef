// SPDX-License-Identifier: Apache-2.0
#include "engine/node/client_options.h"

#include <regex.h>

#include <charconv>
#include <memory>

#include "engine/wire/record/compression.h"

namespace hw::node {
namespace {

constexpr std::string_view kByDuration = "by_duration:";

client::CommitMode commit_mode(CommitMode mode) {
  switch (mode) {
    case CommitMode::interval:
      return client::CommitMode::interval;
    case CommitMode::after_work:
      return client::CommitMode::after_work;
    case CommitMode::before_work:
      return client::CommitMode::before_work;
    case CommitMode::manual:
      return client::CommitMode::manual;
  }
  return client::CommitMode::interval;
}

Result<void> set_reset(const std::string& text, client::ConsumerConfig& config) {
  if (text == "earliest") {
    config.reset = client::OffsetReset::earliest;
  } else if (text == "latest") {
    config.reset = client::OffsetReset::latest;
  } else if (text == "none") {
    config.reset = client::OffsetReset::none;
  } else if (text.starts_with(kByDuration)) {
    const std::optional<Duration> back = parse_iso_duration(std::string_view(text).substr(kByDuration.size()));
    if (!back) {
      return fail(Errc::invalid, "'" + text + "' holds no duration; write for example by_duration:PT1H (one hour back)");
    }
    config.reset = client::OffsetReset::by_duration;
    config.reset_duration = *back;
  } else {
    return fail(Errc::invalid, "offset reset '" + text + "' does not exist; choose earliest, latest, none or by_duration:PT1H");
  }
  return {};
}

// How the members of a group come to their partitions: they agree on an assignor, or the coordinator has one.
Result<void> set_protocol(const ConsumerOptions& options, client::ConsumerConfig& config) {
  if (options.group_protocol == "consumer") {
    config.protocol = client::GroupProtocol::consumer;
    if (options.assignors.size() > 1) {
      return fail(Errc::invalid, "the coordinator takes one assignor; choose uniform or range");
    }
    if (!options.assignors.empty()) {
      config.remote_assignor = options.assignors.front();
    }
    return {};
  }
  if (options.group_protocol != "classic") {
    return fail(Errc::invalid, "group protocol '" + options.group_protocol + "' does not exist; choose classic or consumer");
  }
  config.assignors.clear();
  for (const std::string& name : options.assignors) {
    const std::optional<client::Assignor> assignor = client::parse_assignor(name);
    if (!assignor) {
      return fail(Errc::invalid, "assignor '" + name + "' does not exist; choose range, roundrobin, sticky or cooperative-sticky");
    }
    config.assignors.push_back(*assignor);
  }
  return {};
}

// As Kafka's subscribe(Pattern), the whole name has to match; the expressions are POSIX's extended ones.
Result<std::function<bool(const std::string&)>> matcher(const std::string& pattern) {
  struct Compiled {
    regex_t expression{};
    bool good = false;
    Compiled() = default;
    Compiled(const Compiled&) = delete;
    Compiled& operator=(const Compiled&) = delete;
    ~Compiled() {
      if (good) {
        regfree(&expression);
      }
    }
  };
  const auto compiled = std::make_shared<Compiled>();
  const int error = regcomp(&compiled->expression, ("^(" + pattern + ")$").c_str(), REG_EXTENDED | REG_NOSUB);
  compiled->good = error == 0;
  if (error != 0) {
    char words[128] = {};
    regerror(error, &compiled->expression, words, sizeof words);
    return fail(Errc::invalid, "'" + pattern + "' is no regular expression: " + words);
  }
  return std::function<bool(const std::string&)>([compiled](const std::string& name) {
    return regexec(&compiled->expression, name.c_str(), 0, nullptr, 0) == 0;
  });
}

}  // namespace

std::optional<Duration> parse_iso_duration(std::string_view text) {
  if (text.size() < 3 || text.front() != 'P') {
    return std::nullopt;
  }
  text.remove_prefix(1);
  bool time = false;
  double total_s = 0;
  bool any = false;
  while (!text.empty()) {
    if (text.front() == 'T') {
      if (time) {
        return std::nullopt;
      }
      time = true;
      text.remove_prefix(1);
      continue;
    }
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end == text.data() + text.size() || number < 0) {
      return std::nullopt;
    }
    const char unit = *end;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
    if (!time && unit == 'D') {
      total_s += number * 86'400;
    } else if (time && unit == 'H') {
      total_s += number * 3'600;
    } else if (time && unit == 'M') {
      total_s += number * 60;
    } else if (time && unit == 'S') {
      total_s += number;
    } else {
      return std::nullopt;
    }
    any = true;
  }
  constexpr double kLongest_s = 1e8;  // three years: nanoseconds of more do not matter to a log
  return any ? std::optional<Duration>(Duration{static_cast<std::int64_t>(std::min(total_s, kLongest_s) * 1e9)})
             : std::nullopt;
}

client::ClusterConfig cluster_config(std::vector<client::Endpoint> bootstrap, std::string client_id) {
  client::ClusterConfig config;
  config.bootstrap = std::move(bootstrap);
  config.client_id = std::move(client_id);
  return config;
}

Result<client::ProducerConfig> producer_config(ProducerOptions options) {
  HW_TRY(std::vector<client::Endpoint> bootstrap, client::parse_bootstrap(options.bootstrap));
  const std::optional<wire::Compression> compression = wire::parse_compression(options.compression);
  if (!compression) {
    return fail(Errc::invalid,
                "compression '" + options.compression + "' does not exist; choose none, gzip, snappy, lz4 or zstd");
  }
  const std::optional<client::Partitioner> partitioner = client::parse_partitioner(options.partitioner);
  if (!partitioner) {
    return fail(Errc::invalid, "partitioner '" + options.partitioner + "' does not exist; choose murmur2, crc32 or fnv1a");
  }
  if (options.acks < -1 || options.acks > 1) {
    return fail(Errc::invalid, "acks is 0, 1, or -1 for all");
  }
  if (options.requests_in_flight < 1) {
    return fail(Errc::invalid, "at least one request is in flight");
  }
  client::ProducerConfig config;
  config.cluster = cluster_config(std::move(bootstrap), std::move(options.client_id));
  config.cluster.auto_create_topics = options.auto_create;
  config.acks = options.acks;
  config.idempotent = options.idempotent && options.acks == -1;
  config.partitioner = *partitioner;
  config.linger = milliseconds(options.linger_ms);
  config.batch_bytes = static_cast<std::size_t>(std::max(options.batch_bytes, 0));
  config.requests_in_flight = static_cast<std::size_t>(options.requests_in_flight);
  config.retries = std::max(options.retries, 0);
  config.buffer_bytes = static_cast<std::size_t>(std::max<std::int64_t>(options.buffer_bytes, 1));
  config.compression = *compression;
  config.compression_level = options.compression_level;
  config.delivery_timeout = milliseconds(options.delivery_timeout_ms);
  return config;
}

Result<client::ConsumerConfig> consumer_config(ConsumerOptions options, std::int64_t wall_ms_at_zero) {
  HW_TRY(std::vector<client::Endpoint> bootstrap, client::parse_bootstrap(options.bootstrap));
  client::ConsumerConfig config;
  config.cluster = cluster_config(std::move(bootstrap), std::move(options.client_id));
  config.cluster.auto_create_topics = options.auto_create;
  if (options.metadata_max_age_ms > 0) {
    config.cluster.metadata_max_age = milliseconds(options.metadata_max_age_ms);
  }
  config.group_id = std::move(options.group_id);
  config.group_instance_id = std::move(options.group_instance_id);
  config.topics = std::move(options.topics);
  if (!options.pattern.empty()) {
    HW_TRY(config.topic_matches, matcher(options.pattern));
  }
  for (ConsumerOptions::Position& at : options.assignment) {
    config.assignment.push_back({{std::move(at.topic), at.partition}, at.offset});
  }
  HW_CHECK(set_protocol(options, config));
  config.reset = options.from_earliest ? client::OffsetReset::earliest : client::OffsetReset::latest;
  if (!options.offset_reset.empty()) {
    const Result<void> known = set_reset(options.offset_reset, config);
    if (!known) {
      return fail(known.error().code, known.error().detail);
    }
  }
  config.wall_ms_at_zero = wall_ms_at_zero;
  config.commit_mode = commit_mode(options.commit_mode);
  config.commit_interval = milliseconds(options.commit_interval_ms);
  config.session_timeout = milliseconds(options.session_timeout_ms);
  config.heartbeat_interval = milliseconds(options.heartbeat_interval_ms);
  config.max_poll_interval = milliseconds(options.max_poll_interval_ms);
  config.max_poll_records = static_cast<std::size_t>(std::max(options.max_poll_records, 1));
  config.handler_delay = microseconds(std::max<std::int64_t>(options.handler_delay_us, 0));
  config.max_wait_ms = options.max_wait_ms;
  config.min_bytes = options.min_bytes;
  config.fetch_bytes_max = options.fetch_bytes_max;
  config.partition_bytes_max = options.partition_bytes_max;
  config.prefetch_bytes_max = static_cast<std::size_t>(std::max<std::int64_t>(options.prefetch_bytes_max, 1));
  config.read_committed = options.read_committed;
  config.records_max = options.records_max;
  return config;
}

}  // namespace hw::node
