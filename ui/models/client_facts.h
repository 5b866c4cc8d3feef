// SPDX-License-Identifier: Apache-2.0
// What connections say about clients: how many there are, what they use, what fails.
// Thread rule: UI thread only (tr).
#pragma once

#include <QString>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "engine/observe/cluster_view.h"

namespace hw::ui {

// Connections that agree in what they call themselves and where they come from: usually those of one client. Two clients
// that agree in all of it cannot be told apart by their connections, but members of groups can.
struct ClientName {
  std::string_view client_id;
  std::string_view software_name;
  std::string_view software_version;
  std::string_view host;
  friend auto operator<=>(const ClientName&, const ClientName&) = default;
};
// Views into `connection`.
[[nodiscard]] ClientName client_name(const observe::ConnectionView& connection);
// Answered connections that only looked around (port checks) have said nothing yet.
[[nodiscard]] bool is_silent(const observe::ConnectionView& connection);
// One node of the cluster talks to another: a follower that fetches, a voter, a node that passes a request on.
[[nodiscard]] bool is_peer(const observe::ConnectionView& connection, const observe::ClusterView& view);
// How many clients stand behind these connections, at least: one for each name, and one for each member of a group. A
// client has a connection to each node that it speaks to, and those are no clients of their own. Keys live as long as `view`.
[[nodiscard]] std::map<ClientName, std::size_t> clients_by_name(const observe::ClusterView& view);
[[nodiscard]] std::size_t count_clients(const observe::ClusterView& view);
// "127.0.0.1" of "127.0.0.1:4711", "::1" of "[::1]:4711".
[[nodiscard]] QString peer_host(const std::string& peer);
// "Fetch v17, Heartbeat v4", the most used first, over all of these; of versions the newest. No pointer is null.
[[nodiscard]] QString apis_in_words(std::span<const event::ConnectionCounters* const> counters);
// Answers that were errors; without MEMBER_ID_REQUIRED, with which every first JoinGroup of a member is answered.
[[nodiscard]] std::int64_t failures(const event::ConnectionCounters& counters);
// "3 × UNKNOWN_TOPIC_OR_PARTITION (3)"; empty without errors.
[[nodiscard]] QString errors_in_words(const event::ConnectionCounters& counters);

}  // namespace hw::ui
