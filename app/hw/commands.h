// SPDX-License-Identifier: Apache-2.0
// The commands of `hw`. Each adds its options to the command line, and runs when it was chosen. What stands there is the one table
// that --help, the man page and the shell completions are made from.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

namespace hw::app {

// Exit codes; scripts may rely on them.
enum class Exit : int {
  ok = 0,
  failed = 1,       // the cluster refused, not everything was done, or `log verify` found damage
  usage = 2,
  not_found = 3,    // no such topic, partition, group or file
  unreachable = 4,  // no broker answers, or not in time
  exists = 5,       // the topic is there already
  refused = 6,      // it would need --yes or --execute, or the group still has members
  interrupted = 130,
};

struct Common {
  std::string bootstrap = "localhost:9092";
  bool json = false;
  std::string control = "127.0.0.1:9099";  // of `node`, `link` and parts of `cluster`
  std::string control_token_file;
  std::string timeout;           // as written
  std::int64_t timeout_ms = 0;   // 0: each command's own default
  std::function<int()> run;      // of the command chosen
};

// A command below `parent`. `examples` are whole command lines.
CLI::App* add_command(CLI::App& parent, const std::string& name, const std::string& what, const std::vector<std::string>& examples = {});

void add_topics(CLI::App& cli, Common& common);
void add_produce(CLI::App& cli, Common& common);
void add_consume(CLI::App& cli, Common& common);
void add_groups(CLI::App& cli, Common& common);
void add_configs(CLI::App& cli, Common& common);
void add_quotas(CLI::App& cli, Common& common);
void add_cluster(CLI::App& cli, Common& common);
void add_log(CLI::App& cli, Common& common);
void add_control(CLI::App& cli, Common& common);  // node, link, and what `cluster` gets of it; after add_cluster
void add_sim(CLI::App& cli, Common& common);
void add_shell(CLI::App& cli, Common& common);  // completion, man

// The whole command line.
void build(CLI::App& cli, Common& common);

// `hw __complete WORD…`, what the completions of shells run: the words behind `hw`, the last one unfinished. One candidate a line.
int complete(const std::vector<std::string>& words);

}  // namespace hw::app
