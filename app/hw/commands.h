// SPDX-License-Identifier: Apache-2.0
// The commands of `hw`. Each adds its options to the command line, and runs when it was chosen.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

namespace hw::app {

// Exit codes; scripts may rely on them.
enum class Exit : int {
  ok = 0,
  failed = 1,       // the broker refused, or not everything was delivered
  usage = 2,
  unreachable = 3,  // no broker answers
  not_found = 4,    // no such topic or partition
  exists = 5,       // the topic is there already
  interrupted = 130,
};

struct Common {
  std::string bootstrap = "localhost:9092";
  bool json = false;
  std::function<int()> run;  // of the command chosen
};

void add_topics(CLI::App& cli, Common& common);
void add_produce(CLI::App& cli, Common& common);
void add_consume(CLI::App& cli, Common& common);

}  // namespace hw::app
