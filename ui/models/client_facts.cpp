// SPDX-License-Identifier: Apache-2.0
#include "ui/models/client_facts.h"

#include <QCoreApplication>
#include <QStringList>
#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>
#include <tuple>
#include <vector>

#include "engine/observe/protocol_names.h"
#include "ui/painting/text.h"

namespace hw::ui {

namespace {

struct ClientFacts {
  Q_DECLARE_TR_FUNCTIONS(ClientFacts)
};

std::string_view host_part(std::string_view peer) {
  const std::size_t colon = peer.rfind(':');
  std::string_view host = colon == std::string_view::npos ? peer : peer.substr(0, colon);
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  return host;
}

QString text_of(std::string_view s) { return QString::fromUtf8(s.data(), static_cast<qsizetype>(s.size())); }

}  // namespace

ClientName client_name(const observe::ConnectionView& c) {
  return {c.client_id, c.software_name, c.software_version, host_part(c.peer)};
}

bool is_silent(const observe::ConnectionView& c) { return c.client_id.empty() && c.software_name.empty(); }

// Nodes name themselves as Kafka's do: "broker-2-fetcher-0", "raft-client-2", or with their bare id.
bool is_peer(const observe::ConnectionView& c, const observe::ClusterView& view) {
  if (view.nodes.size() < 2 || c.client_id.empty()) {
    return false;
  }
  const std::string_view name = c.client_id;
  const auto number_at = [&](std::size_t from) {
    const std::size_t end = std::min(name.find_first_not_of("0123456789", from), name.size());
    std::int32_t id = -1;
    const auto [stop, error] = std::from_chars(name.data() + from, name.data() + end, id);
    return error == std::errc() && stop == name.data() + end ? std::pair(id, end) : std::pair(-1, from);
  };
  std::size_t from = 0;
  std::string_view behind;
  if (name.starts_with("raft-client-")) {
    from = std::string_view("raft-client-").size();
  } else if (name.starts_with("broker-")) {
    from = std::string_view("broker-").size();
    behind = "-fetcher-";
  }
  const auto [id, end] = number_at(from);
  if (id < 0 || view.nodes.count(BrokerId(id)) == 0) {
    return false;
  }
  return behind.empty() ? end == name.size() : name.substr(end).starts_with(behind);
}

std::map<ClientName, std::size_t> clients_by_name(const observe::ClusterView& view) {
  std::map<ClientName, std::size_t> members;
  for (const auto& [id, connection] : *view.connections) {
    if (!is_silent(*connection) && !is_peer(*connection, view)) {
      members.emplace(client_name(*connection), 0);
    }
  }
  for (const auto& [id, group] : *view.groups) {
    for (const event::GroupAssigned::Member& member : group->members) {
      const auto connection = view.connections->find(member.connection);
      if (connection != view.connections->end()) {
        ++members[client_name(*connection->second)];
      }
    }
  }
  for (auto& [name, count] : members) {
    count = std::max<std::size_t>(1, count);
  }
  return members;
}

std::size_t count_clients(const observe::ClusterView& view) {
  std::size_t clients = 0;
  for (const auto& [name, count] : clients_by_name(view)) {
    clients += count;
  }
  return clients;
}

QString peer_host(const std::string& peer) { return text_of(host_part(peer)); }

QString apis_in_words(std::span<const event::ConnectionCounters* const> counters) {
  std::map<std::int64_t, std::pair<std::int64_t, std::int64_t>> by_key;  // requests, version
  for (const event::ConnectionCounters* each : counters) {
    for (const event::ConnectionCounters::Api& api : each->apis) {
      if (const std::int64_t key = api.key.get(); key >= 0) {
        auto& [requests, version] = by_key[key];
        requests += api.requests.get();
        version = std::max(version, api.version.get());
      }
    }
  }
  std::vector<std::tuple<std::int64_t, std::int64_t, std::int64_t>> used;  // requests, key, version
  for (const auto& [key, api] : by_key) {
    used.emplace_back(api.first, key, api.second);
  }
  std::sort(used.begin(), used.end(), [](const auto& a, const auto& b) {
    return std::get<0>(a) != std::get<0>(b) ? std::get<0>(a) > std::get<0>(b) : std::get<1>(a) < std::get<1>(b);
  });
  QStringList words;
  for (const auto& [requests, key, version] : used) {
    const std::string_view name = observe::api_name(static_cast<std::int16_t>(key));
    words << QStringLiteral("%1 v%2").arg(name.empty() ? QStringLiteral("API %1").arg(key) : text_of(name)).arg(version);
  }
  return words.join(QStringLiteral(", "));
}

std::int64_t failures(const event::ConnectionCounters& counters) {
  constexpr std::int64_t kMemberIdRequired = 79;
  std::int64_t sum = counters.error_total();
  for (const event::ConnectionCounters::Error& error : counters.errors) {
    sum -= error.code.get() == kMemberIdRequired ? error.count.get() : 0;
  }
  return std::max<std::int64_t>(0, sum);
}

QString errors_in_words(const event::ConnectionCounters& counters) {
  QStringList words;
  for (const event::ConnectionCounters::Error& error : counters.errors) {
    if (error.count.get() > 0) {
      const std::int64_t kept = error.code.get();
      const auto code = static_cast<std::int16_t>(kept == event::ConnectionCounters::kUnknownError ? -1 : kept);
      words << QStringLiteral("%1 × %2 (%3)").arg(format_count(error.count.get()), text_of(observe::error_name(code))).arg(code);
    }
  }
  if (counters.errors_other.get() > 0) {
    words << ClientFacts::tr("%1 × others").arg(format_count(counters.errors_other.get()));
  }
  return words.join(QStringLiteral(", "));
}

}  // namespace hw::ui
