// SPDX-License-Identifier: Apache-2.0
#include "engine/node/control_commands.h"

#include <algorithm>

namespace hw::node {
namespace {

constexpr std::int64_t kMostMs = 600'000;
constexpr std::size_t kMostNodes = 64;

constexpr ControlArgument kNodes{"nodes", ArgumentType::nodes, true, "ids of the nodes"};
constexpr ControlArgument kNodeArguments[] = {kNodes};
constexpr ControlArgument kStartArguments[] = {
    kNodes, {"wait_ms", ArgumentType::milliseconds, false, "how long to wait until they serve clients (default 10000)"}};
constexpr ControlArgument kSlowArguments[] = {
    kNodes, {"delay_ms", ArgumentType::milliseconds, true, "how much longer each request takes; 0: no longer"}};
constexpr ControlArgument kKillArguments[] = {
    kNodes, {"power_cut", ArgumentType::flag, false, "their machines lose power too: of each file is gone what was never flushed"}};
constexpr ControlArgument kFrom{"from", ArgumentType::nodes, true, "ids of the nodes on one side"};
constexpr ControlArgument kTo{"to", ArgumentType::nodes, true, "ids of the nodes on the other side"};
constexpr ControlArgument kOneWay{"one_way", ArgumentType::flag, false, "only what `from` sends to `to`; the way back stays as it is"};
constexpr ControlArgument kLinkArguments[] = {kFrom, kTo, kOneWay};
constexpr ControlArgument kLinkSlowArguments[] = {
    kFrom, kTo, {"delay_ms", ArgumentType::milliseconds, true, "how much later each request arrives; 0: no later"}, kOneWay};

constexpr std::string_view kStates = "the status of these nodes, as in cluster.status";
constexpr std::string_view kLinks = "the links that are cut or slow afterwards, as in cluster.status";

using enum ControlAction;
constexpr ControlCommand kCommands[] = {
    {cluster_status, "cluster.status", "What runs, who is the active controller, which links are cut or slow, and since when",
     "cluster id, active controller, epoch, nodes, links and faults", {}, false},
    {cluster_heal, "cluster.heal", "Heals every link, resumes paused nodes and makes slow ones fast; what is stopped stays stopped",
     "as cluster.status", {}, true},
    {node_start, "node.start", "Starts nodes that were stopped or killed, with the same data on the same ports", kStates, kStartArguments, true},
    {node_stop, "node.stop", "Stops nodes cleanly: leaderships move to others first, unless that takes longer than 15 seconds", kStates,
     kNodeArguments, true},
    {node_kill, "node.kill", "Ends nodes at once, as the end of their process: no hand-over, no flush; what the disk was given stays",
     "the status of these nodes, as in cluster.status; after a power cut with what each lost", kKillArguments, true},
    {node_pause, "node.pause", "Stops nodes from doing anything while their sockets stay open, as a long pause for garbage collection does",
     kStates, kNodeArguments, true},
    {node_resume, "node.resume", "Lets paused nodes go on", kStates, kNodeArguments, true},
    {node_slow, "node.slow", "Makes each request to nodes take longer, whoever sends it", kStates, kSlowArguments, true},
    {node_add, "node.add", "Adds a broker to the running cluster, with the next id and ports of the system's choice", kStates, {}, true},
    {node_remove, "node.remove",
     "Stops brokers cleanly and unregisters them; replicas that are assigned to them stay assigned. Voters of the quorum are refused",
     "as cluster.status", kNodeArguments, true},
    {link_cut, "link.cut", "Cuts the links between two sets of nodes: what is sent waits until the link is healed or the sender gives up",
     kLinks, kLinkArguments, true},
    {link_slow, "link.slow", "Delays every request on the links between two sets of nodes", kLinks, kLinkSlowArguments, true},
    {link_heal, "link.heal", "Makes the links between two sets of nodes as they were", kLinks, kLinkArguments, true},
};

std::string expected(const ControlArgument& argument) {
  switch (argument.type) {
    case ArgumentType::nodes:
      return "a list of node ids, for example [1, 2]";
    case ArgumentType::milliseconds:
      return "milliseconds, from 0 to " + std::to_string(kMostMs);
    case ArgumentType::flag:
      return "true or false";
  }
  return {};
}

Unexpected<Error> bad(const ControlCommand& command, const ControlArgument& argument, const std::string& what) {
  return fail(Errc::invalid, std::string(command.name) + ": '" + std::string(argument.name) + "' " + what + "; write " + expected(argument));
}

Result<std::vector<BrokerId>> read_nodes(const ControlCommand& command, const ControlArgument& argument, const Value& given) {
  const Value::List single{given};
  const Value::List& list = given.list() != nullptr ? *given.list() : single;
  if (list.empty() || list.size() > kMostNodes) {
    return bad(command, argument, list.empty() ? "names no node" : "names too many nodes");
  }
  std::vector<BrokerId> out;
  for (const Value& one : list) {
    if (one.number() == nullptr || *one.number() < 0 || *one.number() > INT32_MAX) {
      return bad(command, argument, "holds " + to_json(one) + ", which is no node id");
    }
    const BrokerId id(static_cast<std::int32_t>(*one.number()));
    if (std::find(out.begin(), out.end(), id) == out.end()) {
      out.push_back(id);
    }
  }
  return out;
}

Value schema_of(ArgumentType type) {
  Value schema = Value::object();
  switch (type) {
    case ArgumentType::nodes:
      schema.set("type", "array").set("items", Value::object().set("type", "integer").set("minimum", 0)).set("minItems", 1);
      schema.set("maxItems", static_cast<std::int64_t>(kMostNodes));
      break;
    case ArgumentType::milliseconds:
      schema.set("type", "integer").set("minimum", 0).set("maximum", kMostMs);
      break;
    case ArgumentType::flag:
      schema.set("type", "boolean").set("default", false);
      break;
  }
  return schema;
}

Value answer(std::string_view what, Value schema) {
  Value content = Value::object().set("application/json", Value::object().set("schema", std::move(schema)));
  return Value::object().set("description", what).set("content", std::move(content));
}

Value reference(const char* name) { return Value::object().set("$ref", std::string("#/components/schemas/") + name); }

Value operation(const ControlCommand& command) {
  Value out = Value::object();
  out.set("operationId", command.name).set("summary", command.what);
  if (command.changes) {
    Value properties = Value::object();
    Value::List required;
    for (const ControlArgument& argument : command.arguments) {
      properties.set(std::string(argument.name), schema_of(argument.type).set("description", argument.what));
      if (argument.required) {
        required.emplace_back(argument.name);
      }
    }
    Value schema = Value::object().set("type", "object").set("properties", std::move(properties)).set("additionalProperties", false);
    const bool any = !required.empty();
    if (any) {
      schema.set("required", std::move(required));
    }
    Value content = Value::object().set("application/json", Value::object().set("schema", std::move(schema)));
    out.set("requestBody", Value::object().set("required", any).set("content", std::move(content)));
  }
  Value responses = Value::object();
  responses.set("200", answer(command.returns, Value::object().set("type", "object")));
  responses.set("400", answer("an argument is wrong", reference("Error")));
  responses.set("404", answer("there is no such node", reference("Error")));
  responses.set("409", answer("the node's state does not allow it", reference("Error")));
  responses.set("default", answer("refused or failed", reference("Error")));
  return out.set("responses", std::move(responses));
}

}  // namespace

std::span<const ControlCommand> control_commands() noexcept { return kCommands; }

const ControlCommand* find_command(std::string_view name) noexcept {
  const auto* found = std::find_if(std::begin(kCommands), std::end(kCommands), [&](const ControlCommand& row) { return row.name == name; });
  return found == std::end(kCommands) ? nullptr : found;
}

Result<ControlArguments> read_arguments(const ControlCommand& command, const Value& given) {
  if (!given.is_null() && given.members() == nullptr) {
    return fail(Errc::invalid, std::string(command.name) + ": arguments are an object, for example {\"nodes\": [1]}");
  }
  static const Value::Members none;
  for (const auto& [name, value] : given.members() != nullptr ? *given.members() : none) {
    const bool known = std::any_of(command.arguments.begin(), command.arguments.end(), [&](const ControlArgument& row) { return row.name == name; });
    if (!known) {
      std::string names;
      for (const ControlArgument& argument : command.arguments) {
        names += (names.empty() ? "" : ", ") + std::string(argument.name);
      }
      return fail(Errc::invalid, std::string(command.name) + " takes no '" + name + "'; " + (names.empty() ? "it takes nothing" : "it takes " + names));
    }
  }
  ControlArguments out;
  for (const ControlArgument& argument : command.arguments) {
    const Value& value = given[argument.name];
    if (value.is_null()) {
      if (argument.required) {
        return bad(command, argument, "is missing");
      }
      continue;
    }
    switch (argument.type) {
      case ArgumentType::nodes: {
        HW_TRY(std::vector<BrokerId> nodes, read_nodes(command, argument, value));
        (argument.name == "from" ? out.from : argument.name == "to" ? out.to : out.nodes) = std::move(nodes);
        break;
      }
      case ArgumentType::milliseconds:
        if (value.number() == nullptr || *value.number() < 0 || *value.number() > kMostMs) {
          return bad(command, argument, "is " + to_json(value));
        }
        (argument.name == "wait_ms" ? out.wait_ms : out.delay_ms) = *value.number();
        break;
      case ArgumentType::flag:
        if (value.truth() == nullptr) {
          return bad(command, argument, "is " + to_json(value));
        }
        (argument.name == "power_cut" ? out.power_cut : out.one_way) = *value.truth();
        break;
    }
  }
  return out;
}

Value openapi_document(std::string_view version) {
  Value paths = Value::object();
  for (const ControlCommand& command : kCommands) {
    paths.set("/v1/" + std::string(command.name), Value::object().set(command.changes ? "post" : "get", operation(command)));
  }
  Value error = Value::object();
  error.set("error", Value::object().set("type", "string").set("description", "what is wrong and what to do"));
  error.set("code", Value::object().set("type", "string"));
  Value schema = Value::object().set("type", "object").set("properties", std::move(error)).set("required", Value::List{"error", "code"});
  Value bearer = Value::object().set("type", "http").set("scheme", "bearer").set("description", "only where the server was given a token");
  Value components = Value::object();
  components.set("schemas", Value::object().set("Error", std::move(schema)));
  components.set("securitySchemes", Value::object().set("token", std::move(bearer)));
  Value info = Value::object().set("title", "Highwater cluster control").set("version", version);
  info.set("description", "Starts, stops, kills, pauses and cuts off the nodes of a running Highwater cluster.");
  Value security = Value::List{Value::object(), Value::object().set("token", Value::List{})};
  return Value::object().set("openapi", "3.0.3").set("info", std::move(info)).set("security", std::move(security)).set("paths", std::move(paths)).set("components", std::move(components));
}

}  // namespace hw::node
