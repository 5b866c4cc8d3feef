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
  for (const char* fixed : {"process.roles", "controller.quorum.voters", "controller.quorum.bootstrap.servers",
                            "listener.security.protocol.map", "inter.broker.listener.name"}) {
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
  if (arguments.nodes != 1) {
    return fail(Errc::invalid, "--nodes " + std::to_string(arguments.nodes) +
                                   ": this version runs one node; clusters of several come with replication");
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
  out.seed = arguments.seed;
  return out;
}

}  // namespace hw::app
