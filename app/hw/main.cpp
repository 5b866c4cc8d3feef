// SPDX-License-Identifier: Apache-2.0
// hw: topics, records, groups, configs and log files from the command line, against any broker that speaks Kafka's protocol.
#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>

#include "app/hw/commands.h"
#include "app/hw/output.h"
#include "app/hw/text.h"
#include "engine/client/io.h"

#ifndef HIGHWATER_VERSION
#define HIGHWATER_VERSION "development"
#endif

namespace {

using hw::app::nearest;

// Follows the words of the command line to the command they name, and to the first word that names none.
struct Walk {
  const CLI::App* command = nullptr;
  std::string path = "hw";
  std::string stray;
};
Walk walk(const CLI::App& cli, int argc, char** argv) {
  Walk out{&cli, "hw", {}};
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word.starts_with('-')) {
      const std::string name = word.substr(word.find_first_not_of('-') == std::string::npos ? 0 : word.find_first_not_of('-'));
      i += name == "bootstrap" || name == "b" || name == "timeout" || name == "control" || name == "control-token-file" ? 1 : 0;
      continue;
    }
    const auto below = out.command->get_subcommands([](const CLI::App*) { return true; });
    const CLI::App* next = nullptr;
    for (const CLI::App* candidate : below) {
      next = candidate->get_name() == word ? candidate : next;
    }
    if (next == nullptr) {
      out.stray = below.empty() ? std::string() : word;
      break;
    }
    out.command = next;
    out.path += " " + word;
  }
  return out;
}

std::vector<std::string> option_names(const CLI::App* command, const CLI::App* root) {
  std::vector<std::string> names;
  for (const CLI::App* app : {command, root}) {
    for (const CLI::Option* option : app->get_options()) {
      for (const std::string& name : option->get_lnames()) {
        names.push_back("--" + name);
      }
    }
  }
  return names;
}

int usage_error(const CLI::App& cli, int argc, char** argv, const CLI::ParseError& error) {
  const Walk at = walk(cli, argc, argv);
  if (!at.stray.empty()) {
    std::vector<std::string> names;
    for (const CLI::App* command : at.command->get_subcommands([](const CLI::App*) { return true; })) {
      names.push_back(command->get_name());
    }
    const std::string near = nearest(at.stray, names);
    std::fprintf(stderr, "hw: there is no command '%s %s'; %s`%s --help` lists them\n", at.path.c_str(), at.stray.c_str(),
                 near.empty() ? "" : ("did you mean '" + near + "'? ").c_str(), at.path.c_str());
    return static_cast<int>(hw::app::Exit::usage);
  }
  const auto names = option_names(at.command, &cli);
  for (int i = 1; i < argc; ++i) {
    const std::string word = std::string(argv[i]).substr(0, std::string_view(argv[i]).find('='));
    if (word == "--") {
      break;
    }
    if (word.starts_with("--") && std::find(names.begin(), names.end(), word) == names.end() && word != "--help" &&
        word != "--version") {
      const std::string near = nearest(word, names);
      std::fprintf(stderr, "hw: %s takes no option '%s'; %ssee `%s --help`\n", at.path.c_str(), word.c_str(),
                   near.empty() ? "" : ("did you mean '" + near + "'? ").c_str(), at.path.c_str());
      return static_cast<int>(hw::app::Exit::usage);
    }
  }
  if (!at.command->get_subcommands([](const CLI::App*) { return true; }).empty()) {
    std::fprintf(stderr, "%s", at.command->help().c_str());
    return static_cast<int>(hw::app::Exit::usage);
  }
  std::fprintf(stderr, "hw: %s\nhw: see `%s --help`\n", error.what(), at.path.c_str());
  return static_cast<int>(hw::app::Exit::usage);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "__complete") {
    return hw::app::complete({argv + 2, argv + argc});
  }
  hw::app::Common common;
  CLI::App cli;
  hw::app::build(cli, common);
  cli.set_version_flag("--version", "hw " HIGHWATER_VERSION);
  try {
    cli.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return error.get_exit_code() == 0 ? cli.exit(error) : usage_error(cli, argc, argv, error);
  }
  if (!common.timeout.empty()) {
    const hw::Result<std::int64_t> timeout = hw::app::parse_duration_ms(common.timeout);
    if (!timeout || *timeout == 0) {
      return hw::app::wrong("--timeout: " + (timeout ? std::string("0 leaves no time for an answer") : timeout.error().detail));
    }
    common.timeout_ms = *timeout;
  }
  const auto bootstrap = hw::client::parse_bootstrap(common.bootstrap);
  if (!bootstrap) {
    return hw::app::wrong("--bootstrap: " + bootstrap.error().detail);
  }
  return common.run();
}
