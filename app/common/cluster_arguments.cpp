// SPDX-License-Identifier: Apache-2.0
#include "app/common/cluster_arguments.h"

#include <algorithm>
#include <charconv>

#include "app/common/properties.h"
#include "engine/metadata/config_effects.h"

namespace hw::app {

namespace {

Result<std::int32_t> whole_number(const std::string& key, const std::string& text) {
  std::int32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    return fail(Errc::invalid, key + " must be a whole number, not '" + text + "'");
  }
  return value;
}

// The first listener of a list that clients use, or the first that controllers use.
Result<std::optional<ListenerText>> first_listener(const std::string& list, const std::vector<std::string>& controllers,
                                                   bool for_clients) {
  std::size_t begin = 0;
  while (begin < list.size()) {
    std::size_t end = list.find(',', begin);
    end = end == std::string::npos ? list.size() : end;
    HW_TRY(ListenerText listener, parse_listener(std::string_view(list).substr(begin, end - begin)));
    if (for_clients != (std::find(controllers.begin(), controllers.end(), listener.name) != controllers.end())) {
      return std::optional<ListenerText>(std::move(listener));
    }
    begin = end + 1;
  }
  return std::optional<ListenerText>();
}

// HOST:PORT, or ID@HOST:PORT[:DIRECTORY_ID]: a controller as Kafka's tools write it.
Result<api::ControllerPeer> controller_text(const std::string& what, const std::string& text) {
  api::ControllerPeer peer;
  peer.node = kNoBroker;
  std::string rest = text;
  if (const std::size_t at = text.find('@'); at != std::string::npos) {
    HW_TRY(const std::int32_t id, whole_number(what, text.substr(0, at)));
    peer.node = BrokerId(id);
    rest = text.substr(at + 1);
  }
  const std::size_t bracket = rest.find(']');
  const std::size_t first = rest.find(':', bracket == std::string::npos ? 0 : bracket);
  const std::size_t second = first == std::string::npos ? first : rest.find(':', first + 1);
  if (first == std::string::npos) {
    return fail(Errc::invalid, what + ": '" + text + "' is no controller; write HOST:PORT or ID@HOST:PORT");
  }
  if (second != std::string::npos) {
    const std::optional<Uuid> id = Uuid::parse(rest.substr(second + 1));
    if (!id) {
      return fail(Errc::invalid, what + ": '" + rest.substr(second + 1) + "' is no directory id (22 characters of base64)");
    }
    peer.directory = *id;
    rest.resize(second);
  }
  HW_TRY(const ListenerText address, parse_listener("CONTROLLER://" + rest));
  peer.host = address.host;
  peer.port = address.port;
  return peer;
}

// Without blanks around and slashes behind.
std::vector<std::string> comma_list(const std::string& list) {
  std::vector<std::string> all;
  std::size_t begin = 0;
  while (begin <= list.size()) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    std::string one = list.substr(begin, end - begin);
    one.erase(0, std::min(one.find_first_not_of(" \t"), one.size()));
    while (one.size() > 1 && (one.back() == ' ' || one.back() == '\t' || one.back() == '/')) {
      one.pop_back();
    }
    if (!one.empty()) {
      all.push_back(std::move(one));
    }
    begin = end + 1;
  }
  return all;
}

std::optional<std::string> take(Properties& properties, const std::string& key) {
  const auto found = properties.find(key);
  if (found == properties.end()) {
    return std::nullopt;
  }
  std::string value = std::move(found->second);
  properties.erase(found);
  return value;
}

// What makes this process one node of a cluster of several.
Result<void> member_options(const ClusterArguments& arguments, Properties& properties, node::ClusterOptions& out) {
  const std::optional<std::string> roles_in_file = take(properties, "process.roles");
  const std::optional<std::string> voters = take(properties, "controller.quorum.voters");
  const std::optional<std::string> bootstrap = take(properties, "controller.quorum.bootstrap.servers");
  if (arguments.node) {
    if (*arguments.node < 0) {
      return fail(Errc::invalid, "--node must not be negative");
    }
    out.node_id = *arguments.node;
  }
  if (arguments.controller_port) {
    if (*arguments.controller_port < 0 || *arguments.controller_port > 65535) {
      return fail(Errc::invalid, "--controller-port must be between 0 and 65535 (0: the system chooses)");
    }
    out.listen.controller_port = static_cast<std::uint16_t>(*arguments.controller_port);
  }
  node::ClusterOptions::Member member;
  const std::string roles = !arguments.roles.empty() ? arguments.roles : roles_in_file.value_or("");
  if (!roles.empty()) {
    member.broker = member.controller = false;
    for (const std::string& role : comma_list(roles)) {
      if (role != "broker" && role != "controller") {
        return fail(Errc::invalid, "'" + role + "' is no role; a node is broker, controller, or broker,controller");
      }
      (role == "broker" ? member.broker : member.controller) = true;
    }
  }
  for (const std::string& text : comma_list(!arguments.join.empty() ? arguments.join : bootstrap.value_or(""))) {
    HW_TRY(api::ControllerPeer peer, controller_text(arguments.join.empty() ? "controller.quorum.bootstrap.servers" : "--join", text));
    member.controllers.push_back(std::move(peer));
  }
  for (const std::string& text : comma_list(voters.value_or(""))) {
    HW_TRY(api::ControllerPeer peer, controller_text("controller.quorum.voters", text));
    if (peer.node == kNoBroker) {
      return fail(Errc::invalid, "controller.quorum.voters: write ID@HOST:PORT, not '" + text + "'");
    }
    member.initial_voters.push_back(peer);
    member.controllers.push_back(std::move(peer));
  }
  for (const std::string& text : comma_list(arguments.initial_controllers)) {
    HW_TRY(api::ControllerPeer peer, controller_text("--initial-controllers", text));
    if (peer.node == kNoBroker || peer.directory == Uuid{}) {
      return fail(Errc::invalid, "--initial-controllers: write ID@HOST:PORT:DIRECTORY_ID, not '" + text + "'");
    }
    member.initial_voters.push_back(peer);
    member.controllers.push_back(std::move(peer));
  }
  member.cluster_id = arguments.cluster_id;
  // A lone combined node, as its properties file may describe it, needs none of this. Who says how the cluster is formatted wants more
  // nodes in it: they know it by that id.
  const std::int32_t self = out.node_id.value_or(1);
  const bool alone = member.broker && member.controller && arguments.join.empty() && arguments.cluster_id.empty() &&
                     arguments.initial_controllers.empty() &&
                     std::all_of(member.initial_voters.begin(), member.initial_voters.end(),
                                 [&](const api::ControllerPeer& peer) { return peer.node.value() == self; }) &&
                     (member.initial_voters.size() == 1 || member.controllers.size() <= 1);
  if (alone) {
    return {};
  }
  if (arguments.nodes != 1) {
    return fail(Errc::invalid, "--nodes starts a whole cluster in this process; a node that joins others is one (leave it out)");
  }
  if (member.initial_voters.empty() && member.controllers.empty()) {
    return fail(Errc::invalid, "a node that is only " + roles + " needs others: name their controllers with --join HOST:PORT");
  }
  out.member = std::move(member);
  return {};
}

}  // namespace

ExitCode exit_code_of(const Error& error) noexcept {
  switch (error.code) {
    case Errc::invalid:
      return ExitCode::usage;
    case Errc::in_use:
      return ExitCode::port_taken;
    case Errc::locked:
      return ExitCode::folder_locked;
    case Errc::permission:
    case Errc::no_space:
      return ExitCode::folder_unusable;
    case Errc::unsupported:
      return ExitCode::newer_version;
    default:
      return ExitCode::failed;
  }
}

namespace {

// Of file and arguments.
Result<Properties> all_properties(const ClusterArguments& arguments) {
  Properties properties;
  if (!arguments.properties_file.empty()) {
    HW_TRY(properties, read_properties(arguments.properties_file));
  }
  for (const std::string& pair : arguments.configs) {
    const std::size_t equals = pair.find('=');
    if (equals == std::string::npos || equals == 0) {
      return fail(Errc::invalid, "--config " + pair + ": write key=value, for example --config num.partitions=3");
    }
    properties[pair.substr(0, equals)] = pair.substr(equals + 1);
  }
  return properties;
}

}  // namespace

Result<std::vector<std::string>> configs_without_effect(const ClusterArguments& arguments) {
  HW_TRY(const Properties properties, all_properties(arguments));
  return metadata::configs_without_effect(properties);
}

Result<node::ClusterOptions> cluster_options(const ClusterArguments& arguments) {
  node::ClusterOptions out;
  HW_TRY(Properties properties, all_properties(arguments));
  if (std::optional<std::string> why = metadata::unsupported_protection(properties)) {
    return fail(Errc::invalid, std::move(*why));
  }
  std::vector<std::string> controllers = comma_list(take(properties, "controller.listener.names").value_or(""));
  if (controllers.empty()) {
    controllers.emplace_back("CONTROLLER");
  }

  if (const std::optional<std::string> listeners = take(properties, "listeners")) {
    HW_TRY(const std::optional<ListenerText> listener, first_listener(*listeners, controllers, true));
    if (listener) {
      out.listen.address = listener->host.empty() ? "0.0.0.0" : (listener->host == "localhost" ? "127.0.0.1" : listener->host);
      out.listen.port = listener->port;
    }
    HW_TRY(const std::optional<ListenerText> controller, first_listener(*listeners, controllers, false));
    if (controller) {
      out.listen.controller_port = controller->port;
    }
  }
  if (const std::optional<std::string> advertised = take(properties, "advertised.listeners")) {
    HW_TRY(const std::optional<ListenerText> listener, first_listener(*advertised, controllers, true));
    if (listener) {
      out.listen.advertised_host = listener->host;
      out.listen.advertised_port = listener->port;
    }
  }
  std::optional<std::string> directory = take(properties, "log.dirs");
  if (!directory) {
    directory = take(properties, "log.dir");
  }
  if (directory) {
    std::vector<std::string> all = comma_list(*directory);
    directory = all.empty() ? std::string() : all.front();
    out.more_directories.assign(all.empty() ? all.end() : all.begin() + 1, all.end());
  }
  if (const std::optional<std::string> id = take(properties, "node.id")) {
    HW_TRY(const std::int32_t number, whole_number("node.id", *id));
    if (number < 0) {
      return fail(Errc::invalid, "node.id must not be negative");
    }
    out.node_id = number;
  }
  HW_CHECK(member_options(arguments, properties, out));
  for (const char* fixed : {"listener.security.protocol.map", "inter.broker.listener.name"}) {
    (void)take(properties, fixed);
  }

  if (arguments.port) {
    if (*arguments.port < 0 || *arguments.port > 65535) {
      return fail(Errc::invalid, "--port must be between 0 and 65535 (0: the system chooses)");
    }
    out.listen.port = static_cast<std::uint16_t>(*arguments.port);
  }
  if (!arguments.listen.empty()) {
    out.listen.address = arguments.listen == "localhost" ? "127.0.0.1" : arguments.listen;
  }
  if (!arguments.advertise.empty()) {
    HW_TRY(const ListenerText listener, parse_listener("PLAINTEXT://" + arguments.advertise));
    if (listener.host.empty()) {
      return fail(Errc::invalid, "--advertise needs HOST:PORT, for example --advertise 192.168.1.5:9092");
    }
    out.listen.advertised_host = listener.host;
    out.listen.advertised_port = listener.port;
  }
  if (arguments.memory && !arguments.directory.empty()) {
    return fail(Errc::invalid, "--memory and --dir exclude each other: choose where records live");
  }
  constexpr int kMostNodes = 32;
  if (arguments.nodes < 1 || arguments.nodes > kMostNodes) {
    return fail(Errc::invalid, "--nodes must be between 1 and " + std::to_string(kMostNodes));
  }
  out.nodes = arguments.nodes;
  out.memory = arguments.memory;
  if (!arguments.memory) {
    out.directory = !arguments.directory.empty() ? arguments.directory : directory.value_or("");
    out.memory = out.directory.empty();
  }
  if (out.memory || !arguments.directory.empty()) {
    out.more_directories.clear();
  }
  while (out.directory.size() > 1 && out.directory.ends_with('/')) {
    out.directory.pop_back();
  }
  out.configs = std::move(properties);
  if (arguments.auto_join) {
    out.configs.insert_or_assign("controller.quorum.auto.join.enable", "true");
  }
  out.seed = arguments.seed;
  return out;
}

}  // namespace hw::app
