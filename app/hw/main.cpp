// SPDX-License-Identifier: Apache-2.0
// hw: topics, produce and consume from the command line, against any broker that speaks Kafka's protocol.
#include <cstdio>

#include "app/hw/commands.h"
#include "engine/client/io.h"

#ifndef HIGHWATER_VERSION
#define HIGHWATER_VERSION "development"
#endif

int main(int argc, char** argv) {
  hw::app::Common common;
  CLI::App cli{"Topics, records and groups of a Kafka cluster.", "hw"};
  cli.add_option("--bootstrap,-b", common.bootstrap, "brokers, HOST:PORT[,HOST:PORT…] (default localhost:9092)")
      ->envname("HW_BOOTSTRAP");
  cli.add_flag("--json", common.json, "print JSON, one object a line");
  cli.set_version_flag("--version", "hw " HIGHWATER_VERSION);
  cli.fallthrough();
  cli.require_subcommand(1);
  cli.footer(
      "Exit codes: 0 done, 1 refused or not all delivered, 2 wrong arguments, 3 no broker answers,\n"
      "            4 no such topic or partition, 5 the topic exists, 130 interrupted.");
  hw::app::add_topics(cli, common);
  hw::app::add_produce(cli, common);
  hw::app::add_consume(cli, common);
  for (CLI::App* command : cli.get_subcommands({})) {
    command->fallthrough();
    for (CLI::App* nested : command->get_subcommands({})) {
      nested->fallthrough();
    }
  }
  try {
    cli.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return cli.exit(error) == 0 ? 0 : static_cast<int>(hw::app::Exit::usage);
  }
  const auto bootstrap = hw::client::parse_bootstrap(common.bootstrap);
  if (!bootstrap) {
    std::fprintf(stderr, "hw: %s\n", bootstrap.error().detail.c_str());
    return static_cast<int>(hw::app::Exit::usage);
  }
  return common.run();
}
