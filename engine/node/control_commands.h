// SPDX-License-Identifier: Apache-2.0
// The vocabulary of cluster control: one table for the window, `hw` and HTTP. What each command takes, does and returns stands here
// and nowhere else; the OpenAPI document is made from it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/ids.h"
#include "engine/base/result.h"
#include "engine/node/control_value.h"

namespace hw::node {

enum class ArgumentType : std::uint8_t {
  nodes,         // a list of node ids, at least one; a single id stands for a list of one
  milliseconds,  // 0 to 10 minutes
  flag,          // false unless given
};

struct ControlArgument {
  std::string_view name;
  ArgumentType type;
  bool required;
  std::string_view what;
};

enum class ControlAction : std::uint8_t {
  node_start, node_stop, node_kill, node_pause, node_resume, node_slow, node_add, node_remove,
  link_cut, link_slow, link_heal, cluster_heal, cluster_status,
};

struct ControlCommand {
  ControlAction action;
  std::string_view name;     // "node.kill"
  std::string_view what;     // one sentence
  std::string_view returns;
  std::span<const ControlArgument> arguments;
  bool changes;              // false: it only tells
};

[[nodiscard]] std::span<const ControlCommand> control_commands() noexcept;
[[nodiscard]] const ControlCommand* find_command(std::string_view name) noexcept;

// Arguments that fit the command's row.
struct ControlArguments {
  std::vector<BrokerId> nodes;  // without repetitions, in the order given
  std::vector<BrokerId> from;
  std::vector<BrokerId> to;
  std::int64_t delay_ms = 0;
  std::int64_t wait_ms = -1;    // not given
  bool one_way = false;
  bool power_cut = false;
};
// Errc::invalid names the argument, what is wrong, and what to write.
[[nodiscard]] Result<ControlArguments> read_arguments(const ControlCommand& command, const Value& given);

// The OpenAPI 3 document of the HTTP interface.
[[nodiscard]] Value openapi_document(std::string_view version);

}  // namespace hw::node
