// SPDX-License-Identifier: Apache-2.0
// What connections say about clients: how many there are, what they use, what fails.
// Thread rule: UI thread only (tr).
#pragma once

#include <QString>
#include <cstddef>
#include <string>

#include "engine/observe/cluster_view.h"

namespace hw::ui {

// How many programs stand behind these connections: a client usually has several, and they agree in what they call
// themselves and where they come from.
[[nodiscard]] std::size_t count_clients(const observe::ClusterView& view);
// "127.0.0.1" of "127.0.0.1:4711", "::1" of "[::1]:4711".
[[nodiscard]] QString peer_host(const std::string& peer);
// "Fetch v17 (120), Heartbeat v4 (3)", the most used first.
[[nodiscard]] QString apis_in_words(const event::ConnectionCounters& counters);
// "3 × UNKNOWN_TOPIC_OR_PARTITION (3)"; empty without errors.
[[nodiscard]] QString errors_in_words(const event::ConnectionCounters& counters);

}  // namespace hw::ui
