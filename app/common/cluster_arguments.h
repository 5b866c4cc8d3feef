// SPDX-License-Identifier: Apache-2.0
// What the daemon and the window both understand about the cluster to start: command line and server.properties.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/node/cluster.h"

namespace hw::app {

// Exit codes of the daemon; scripts may rely on them.
enum class ExitCode : int {
  ok = 0,
  failed = 1,
  usage = 2,
  port_taken = 3,
  folder_locked = 4,
  folder_unusable = 5,  // not writable, full
  newer_version = 6,
};
[[nodiscard]] ExitCode exit_code_of(const Error& error) noexcept;

struct ClusterArguments {
  std::optional<int> port;
  int nodes = 1;
  std::string listen;                // address
  std::string advertise;             // host:port
  bool memory = false;
  std::string directory;
  std::vector<std::string> configs;  // key=value
  std::string properties_file;
  std::uint64_t seed = 0;
  // One node of a cluster in several processes.
  std::optional<int> node;           // its id
  std::string roles;                 // broker,controller
  std::optional<int> controller_port;
  std::string join;                  // HOST:PORT[,HOST:PORT…] of controllers
  bool auto_join = false;            // a controller that joins asks for a vote
  std::string cluster_id;
  std::string initial_controllers;   // ID@HOST:PORT[:DIRECTORY_ID],…
};

// Arguments win over the file, the file over defaults. Errc::invalid says which argument is wrong and what to write.
// Keys with a place of their own (listeners, advertised.listeners, log.dirs, node.id, process.roles …) are taken out of
// the configs that the broker gets.
// Keys that would protect something which is not supported yet are refused: see engine/metadata/config_effects.h.
Result<node::ClusterOptions> cluster_options(const ClusterArguments& arguments);
// The keys of file and arguments that nothing heeds, for a notice.
Result<std::vector<std::string>> configs_without_effect(const ClusterArguments& arguments);

}  // namespace hw::app
