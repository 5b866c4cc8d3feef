// SPDX-License-Identifier: Apache-2.0
#include "app/hw/commands.h"

namespace hw::app {

CLI::App* add_command(CLI::App& parent, const std::string& name, const std::string& what, const std::vector<std::string>& examples) {
  CLI::App* command = parent.add_subcommand(name, what);
  command->fallthrough();
  std::string footer;
  if (!examples.empty()) {
    footer = "Examples:\n";
    for (const std::string& example : examples) {
      footer += "  " + example + "\n";
    }
    footer += "\nEverywhere: --bootstrap, --json, --timeout; see `hw --help`.";
  }
  command->footer(footer);
  return command;
}

void build(CLI::App& cli, Common& common) {
  cli.name("hw");
  cli.description("Topics, records, groups, configs and log files of a Kafka cluster; nodes and links of a Highwater cluster.");
  cli.add_option("--bootstrap,-b", common.bootstrap, "brokers, HOST:PORT[,HOST:PORT…] (default localhost:9092)")
      ->envname("HIGHWATER_BOOTSTRAP")
      ->type_name("HOST:PORT");
  cli.add_flag("--json", common.json, "print JSON: one object, or one a line where there are many");
  cli.add_option("--control", common.control, "where the control port is, for node, link, cluster status and heal (default 127.0.0.1:9099)")
      ->envname("HIGHWATER_CONTROL")
      ->type_name("HOST:PORT");
  cli.add_option("--control-token-file", common.control_token_file, "file with the token that the control port asks for")
      ->envname("HIGHWATER_CONTROL_TOKEN_FILE")
      ->type_name("FILE");
  cli.add_option("--timeout", common.timeout, "how long to wait for the cluster: 500ms, 15s, 2m (default 15s; produce: 30s a record)")
      ->type_name("DURATION");
  cli.fallthrough();
  cli.require_subcommand(1);
  cli.footer(
      "Exit codes:\n"
      "  0 done   1 refused, or not everything was done   2 wrong arguments   3 no such topic, partition, group or file\n"
      "  4 no broker answers in time   5 exists already   6 needs --yes or --execute, or the group has members   130 interrupted\n"
      "\n"
      "`hw COMMAND --help` shows examples. `hw completion bash` completes commands, topics and groups in a shell.");
  add_topics(cli, common);
  add_produce(cli, common);
  add_consume(cli, common);
  add_groups(cli, common);
  add_configs(cli, common);
  add_quotas(cli, common);
  add_cluster(cli, common);
  add_control(cli, common);
  add_log(cli, common);
  add_sim(cli, common);
  add_shell(cli, common);
}

}  // namespace hw::app
