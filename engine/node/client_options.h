// SPDX-License-Identifier: Apache-2.0
// From the options of ClientRunner, which people write, to the configs of the client cores; errors say which option and why.
// Pure functions, any thread.
#pragma once

#include "engine/client/admin.h"
#include "engine/client/consumer.h"
#include "engine/client/producer.h"
#include "engine/node/client_runner.h"

namespace hw::node {

[[nodiscard]] client::ClusterConfig cluster_config(std::vector<client::Endpoint> bootstrap, std::string client_id);
[[nodiscard]] Result<client::ProducerConfig> producer_config(ProducerOptions options);
// `wall_ms_at_zero`: the wall clock when Instant was 0, for offset_reset by_duration.
[[nodiscard]] Result<client::ConsumerConfig> consumer_config(ConsumerOptions options, std::int64_t wall_ms_at_zero);
// ISO 8601 as Kafka's by_duration takes it: "PT1H30M", "P2D", "PT0.5S".
[[nodiscard]] std::optional<Duration> parse_iso_duration(std::string_view text);

}  // namespace hw::node
