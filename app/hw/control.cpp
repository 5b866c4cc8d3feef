// SPDX-License-Identifier: Apache-2.0
// `hw node`, `hw link`, `hw cluster status` and `hw cluster heal`: the commands of engine/node/control_commands.h over the control port.
#include <fmt/core.h>

#include <algorithm>
#include <memory>

#include "app/common/control_arguments.h"
#include "app/hw/output.h"
#include "app/hw/text.h"
#include "engine/client/io.h"
#include "engine/node/control_commands.h"
#include "engine/node/http.h"

namespace hw::app {
namespace {

constexpr std::int64_t kPatience = 60'000;  // a clean stop may wait 15 seconds for each node

struct Arguments {
  std::vector<std::int64_t> nodes;
  std::string from;
  std::string to;
  std::string by;
  std::string wait;
  bool one_way = false;
  bool power_cut = false;
};

int answered_wrong(const Common& common, int status, const std::string& what) {
  const Exit exit = status == 400   ? Exit::usage
                    : status == 404 ? Exit::not_found
                    : status == 504 ? Exit::unreachable
                                    : Exit::failed;
  if (common.json) {
    JsonObject object;
    fmt::print(stderr, "{}\n", object.text("error", what).number("exit", static_cast<int>(exit)).str());
  } else {
    fmt::print(stderr, "hw: {}\n", what);
  }
  return static_cast<int>(exit);
}

std::string number_text(const node::Value& value) { return value.number() != nullptr ? std::to_string(*value.number()) : "-"; }

std::string since_text(const node::Value& since) {
  return since.number() == nullptr ? "" : " for " + duration_text(std::max<std::int64_t>(0, wall_now_ms() - *since.number()));
}

const node::Value::List& list_of(const node::Value& value) {
  static const node::Value::List none;
  return value.list() != nullptr ? *value.list() : none;
}

void print_nodes(const node::Value& answer) {
  std::vector<std::vector<std::string>> rows{{"NODE", "ROLES", "STATE", "PORT", "CONTROLLER PORT", "BROKER", "EPOCH SEEN", "SLOWED BY"}};
  for (const node::Value& one : list_of(answer["nodes"])) {
    std::string roles;
    for (const node::Value& role : list_of(one["roles"])) {
      roles += (roles.empty() ? "" : ",") + role.text_or("");
    }
    std::string state = one["state"].text_or("?");
    state += state == "running" && !one["answers"].truth_or(false) ? ", does not answer" : "";
    const node::Value& fenced = one["fenced"];
    const std::int64_t slow = one["slow_ms"].number_or(0);
    rows.push_back({number_text(one["node"]), roles, state, number_text(one["port"]), number_text(one["controller_port"]),
                    fenced.truth() == nullptr        ? "-"
                    : fenced.truth_or(false)         ? "fenced"
                    : one["serves"].truth_or(false)  ? "serving"
                                                     : "not fenced yet",
                    number_text(one["epoch_seen"]), slow > 0 ? fmt::format("{} ms", slow) : "-"});
  }
  print_table(rows);
  for (const node::Value& one : list_of(answer["nodes"])) {
    if (const std::string* why = one["why"].text()) {
      fmt::print("node {} has stopped by itself: {}\n", number_text(one["node"]), *why);
    }
    if (const node::Value& lost = one["lost"]; lost.members() != nullptr) {
      fmt::print("node {} lost power: {} bytes in {} files were written but not flushed, and are gone\n", number_text(one["node"]),
                 number_text(lost["bytes"]), number_text(lost["files"]));
    }
  }
}

void print_links(const node::Value& links) {
  for (const node::Value& link : list_of(links)) {
    const bool cut = link["cut"].truth_or(false);
    fmt::print("link {} -> {}: {}{}\n", number_text(link["from"]), number_text(link["to"]),
               cut ? std::string("cut") : fmt::format("{} ms slower", link["delay_ms"].number_or(0)), since_text(link["since_ms"]));
  }
}

void print_answer(const node::Value& answer) {
  if (answer["cluster"].text() != nullptr) {
    fmt::print("cluster {}  controller {}  epoch {}\n", *answer["cluster"].text(),
               answer["controller"].number() != nullptr ? number_text(answer["controller"]) : "none", number_text(answer["epoch"]));
  }
  if (!list_of(answer["nodes"]).empty()) {
    print_nodes(answer);
  }
  print_links(answer["links"]);
  for (const node::Value& fault : list_of(answer["faults"])) {
    fmt::print("node {}: {}{}\n", number_text(fault["node"]), fault["fault"].text_or("?"), since_text(fault["since_ms"]));
  }
  if (answer["links"].list() != nullptr && answer["nodes"].list() == nullptr && list_of(answer["links"]).empty()) {
    fmt::print("every link is whole\n");
  }
}

int call(const Common& common, const std::string& command, const node::Value& arguments) {
  const auto where = control_options(common.control, common.control_token_file);
  if (!where) {
    return wrong(where.error().detail);
  }
  node::HttpRequest request;
  request.method = "POST";
  request.target = "/v1/" + command;
  request.headers["Content-Type"] = "application/json";
  if (!where->token.empty()) {
    request.headers["Authorization"] = "Bearer " + where->token;
  }
  request.body = node::to_json(arguments);
  const auto response = node::http_call(where->address, where->port, request, milliseconds(common.timeout_ms > 0 ? common.timeout_ms : kPatience));
  if (!response) {
    return answered_wrong(common, 504, response.error().detail + "; `highwaterd --nodes 3 --control` opens a control port, --control HOST:PORT names another one");
  }
  const Result<node::Value> answer = node::parse_value(response->body);
  if (!answer) {
    return answered_wrong(common, 500, "what answers at " + common.control + " is no control port: " + answer.error().detail);
  }
  if (response->status != 200) {
    return answered_wrong(common, response->status, (*answer)["error"].text_or("the control port answered " + std::to_string(response->status)));
  }
  if (common.json) {
    fmt::print("{}\n", node::to_json(*answer));
  } else {
    print_answer(*answer);
  }
  return 0;
}

// "1,2"
Result<node::Value> node_list(const std::string& text) {
  node::Value::List out;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string one = text.substr(begin, end - begin);
    if (one.empty() || one.size() > 9 || one.find_first_not_of("0123456789") != std::string::npos) {
      return fail(Errc::invalid, "'" + text + "' names no nodes; write ids with commas, for example 1,2");
    }
    out.emplace_back(std::int64_t{std::stol(one)});
    begin = end + 1;
  }
  return node::Value(std::move(out));
}

int on_nodes(const Arguments& arguments, const Common& common, const std::string& command) {
  node::Value given = node::Value::object();
  if (!arguments.nodes.empty()) {
    node::Value::List ids;
    for (const std::int64_t id : arguments.nodes) {
      ids.emplace_back(id);
    }
    given.set("nodes", std::move(ids));
  }
  for (const auto& [text, name] : {std::pair{&arguments.by, "delay_ms"}, std::pair{&arguments.wait, "wait_ms"}}) {
    if (!text->empty()) {
      const Result<std::int64_t> time = parse_duration_ms(*text);
      if (!time) {
        return wrong(time.error().detail);
      }
      given.set(name, *time);
    }
  }
  if (arguments.power_cut) {
    given.set("power_cut", true);
  }
  return call(common, command, given);
}

int on_links(const Arguments& arguments, const Common& common, const std::string& command) {
  node::Value given = node::Value::object();
  for (const auto& [text, name] : {std::pair{&arguments.from, "from"}, std::pair{&arguments.to, "to"}}) {
    Result<node::Value> nodes = node_list(*text);
    if (!nodes) {
      return wrong(nodes.error().detail);
    }
    given.set(name, std::move(*nodes));
  }
  if (!arguments.by.empty()) {
    const Result<std::int64_t> time = parse_duration_ms(arguments.by);
    if (!time) {
      return wrong("--by: " + time.error().detail);
    }
    given.set("delay_ms", *time);
  }
  if (arguments.one_way) {
    given.set("one_way", true);
  }
  return call(common, command, given);
}

std::string what_of(const std::string& command) { return std::string(node::find_command(command)->what); }

}  // namespace

void add_control(CLI::App& cli, Common& common) {
  const auto arguments = std::make_shared<Arguments>();
  const auto add = [&](CLI::App& parent, const std::string& family, const std::string& name, const std::vector<std::string>& examples,
                       int (*run)(const Arguments&, const Common&, const std::string&)) {
    const std::string command = family + "." + name;
    CLI::App* one = add_command(parent, name, what_of(command), examples);
    one->callback([&common, arguments, run, command] { common.run = [&common, arguments, run, command] { return run(*arguments, common, command); }; });
    return one;
  };

  CLI::App* nodes = add_command(cli, "node", "Start, stop, kill, pause and slow down nodes of a running Highwater cluster");
  nodes->require_subcommand(1);
  for (const char* name : {"start", "stop", "kill", "pause", "resume", "slow", "remove"}) {
    const std::string verb = name;
    std::vector<std::string> examples{verb == "slow" ? "hw node slow 2 --by 200ms" : "hw node " + verb + " 2"};
    if (verb == "kill") {
      examples.emplace_back("hw node kill 2 --power-cut");
    }
    CLI::App* one = add(*nodes, "node", verb, examples, on_nodes);
    one->add_option("nodes", arguments->nodes, "ids of the nodes")->required();
    if (verb == "slow") {
      one->add_option("--by", arguments->by, "how much longer each request takes: 200ms, 1s; 0: no longer")->required()->type_name("DURATION");
    } else if (verb == "kill") {
      one->add_flag("--power-cut", arguments->power_cut, "their machines lose power: what was written but not flushed is gone");
    } else if (verb == "start") {
      one->add_option("--wait", arguments->wait, "how long to wait until they serve (default 10s)")->type_name("DURATION");
    }
  }
  add(*nodes, "node", "add", {"hw node add"}, on_nodes);

  CLI::App* links = add_command(cli, "link", "Cut, slow down and heal the links between nodes of a running Highwater cluster");
  links->require_subcommand(1);
  for (const char* name : {"cut", "slow", "heal"}) {
    const std::string verb = name;
    CLI::App* one = add(*links, "link", verb, {"hw link " + verb + " 1 2,3" + (verb == "slow" ? " --by 100ms" : ""), "hw link " + verb + " 1 2 --one-way" + (verb == "slow" ? " --by 100ms" : "")}, on_links);
    one->add_option("from", arguments->from, "nodes on one side, with commas")->required();
    one->add_option("to", arguments->to, "nodes on the other side, with commas")->required();
    one->add_flag("--one-way", arguments->one_way, "only what the first send to the second");
    if (verb == "slow") {
      one->add_option("--by", arguments->by, "how much later each request arrives: 100ms, 1s")->required()->type_name("DURATION");
    }
  }

  CLI::App* cluster = cli.get_subcommand("cluster");
  add(*cluster, "cluster", "status", {"hw cluster status", "hw --json cluster status | jq .controller"}, on_nodes);
  add(*cluster, "cluster", "heal", {"hw cluster heal"}, on_nodes);
}

}  // namespace hw::app
