// SPDX-License-Identifier: Apache-2.0
// `hw completion` and `hw man`: both walk the table of commands, so neither can know another one than --help does.
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>

#include "app/hw/output.h"
#include "app/hw/session.h"
#include "app/hw/text.h"

namespace hw::app {
namespace {

constexpr std::int64_t kCompletionPatience = 700;  // what a person at a prompt waits for a list of topics

const CLI::App* root_of(const CLI::App* app) {
  while (app->get_parent() != nullptr) {
    app = app->get_parent();
  }
  return app;
}

std::vector<const CLI::App*> below(const CLI::App* app) {
  std::vector<const CLI::App*> out;
  for (const CLI::App* command : app->get_subcommands([](const CLI::App*) { return true; })) {
    if (!command->get_group().empty()) {  // hidden ones have none
      out.push_back(command);
    }
  }
  return out;
}

std::string full_name(const CLI::App* app) {
  return app->get_parent() == nullptr ? app->get_name() : full_name(app->get_parent()) + " " + app->get_name();
}

bool takes_value(const CLI::Option* option) { return option->get_items_expected_max() > 0; }

// What an option or a positional argument names, as far as its name says.
std::string kind_of(const CLI::Option* option) {
  const std::string name = option->get_positional() ? option->get_name(true) : option->get_lnames().empty() ? "" : option->get_lnames().front();
  if (name == "topic" || name == "topics" || name == "like") {
    return "topic";
  }
  if (name == "group") {
    return "group";
  }
  return name == "path" || name == "file" || name == "files" ? "file" : "";
}

// ---- completion

// Values of an option that knows them all: CLI11 writes them into the type's name, "TEXT:{none,gzip}".
std::vector<std::string> choices(const CLI::Option* option) {
  const std::string type = option->get_type_name();
  const std::size_t open = type.find('{');
  const std::size_t close = type.find('}', open);
  std::vector<std::string> out;
  if (open == std::string::npos || close == std::string::npos) {
    return out;
  }
  for (std::size_t at = open + 1; at < close;) {
    const std::size_t end = std::min(type.find(',', at), close);
    out.push_back(type.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

std::vector<std::string> names_on_the_cluster(const std::string& kind, Common common) {
  common.timeout_ms = kCompletionPatience;
  Session session(common);
  std::vector<std::string> names;
  if (kind == "topic") {
    if (const auto topics = session.topics()) {
      for (const node::TopicDescription& topic : *topics) {
        names.push_back(topic.name);
      }
    }
  } else if (const auto groups = session.ask<std::vector<node::GroupRow>>(
                 [&](auto done) { session.questions().list_groups({}, {}, std::move(done)); })) {
    for (const node::GroupRow& group : *groups) {
      names.push_back(group.id);
    }
  }
  return names;
}

// Candidates for an option's value or a positional argument; ":file" asks the shell for file names.
std::vector<std::string> candidates(const CLI::Option* option, const Common& common) {
  std::vector<std::string> known = choices(option);
  if (!known.empty()) {
    return known;
  }
  const std::string kind = kind_of(option);
  return kind == "file" ? std::vector<std::string>{":file"} : kind.empty() ? known : names_on_the_cluster(kind, common);
}

const CLI::Option* find_option(const CLI::App* command, const std::string& word) {
  for (const CLI::App* app : {command, root_of(command)}) {
    for (const CLI::Option* option : app->get_options()) {
      if (!option->get_positional() && option->check_name(word)) {
        return option;
      }
    }
  }
  return nullptr;
}
// ---- man page

// Text as roff reads it; what is not ASCII by its number.
std::string roff(std::string_view text) {
  std::string out;
  bool line_start = true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const auto first = static_cast<unsigned char>(c);
    if (first >= 0xc0U && is_utf8(text)) {
      const std::size_t more = first >= 0xf0U ? 3 : first >= 0xe0U ? 2 : 1;
      std::uint32_t code = first & (0x3fU >> more);
      for (std::size_t k = 0; k < more; ++k) {
        code = code << 6U | (static_cast<unsigned char>(text[++i]) & 0x3fU);
      }
      out += fmt::format("\\[u{:04X}]", code);
      line_start = false;
      continue;
    }
    if (line_start && (c == '.' || c == '\'')) {
      out += "\\&";
    }
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out.push_back(c);
    }
    line_start = c == '\n';
  }
  return out;
}

std::string synopsis(const CLI::App* app) {
  std::string out = full_name(app);
  for (const CLI::Option* option : app->get_options()) {
    if (option->get_positional()) {
      const std::string name = option->get_name(true);
      out += option->get_required() ? " " + name : " [" + name + "]";
      out += option->get_items_expected_max() > 1 ? " …" : "";
    }
  }
  return out;
}

void man_options(const CLI::App* app) {
  for (const CLI::Option* option : app->get_options()) {
    if (option->get_description().empty() || (app->get_parent() != nullptr && option->check_name("--help"))) {
      continue;
    }
    std::string names;
    for (const std::string& name : option->get_snames()) {
      names += (names.empty() ? "" : ", ") + ("-" + name);
    }
    for (const std::string& name : option->get_lnames()) {
      names += (names.empty() ? "" : ", ") + ("--" + name);
    }
    if (option->get_positional()) {
      names = option->get_name(true);
    } else if (takes_value(option)) {
      const std::string type = option->get_type_name();  // "TEXT", "INT:POSITIVE", "TEXT:{none,gzip}"
      const std::size_t open = type.find('{');
      const bool checked = type.starts_with("INT:") || type.starts_with("FLOAT:") || type.starts_with("TEXT:");
      names += " " + (open == std::string::npos ? (checked ? type.substr(0, type.find(':')) : type) : type.substr(open + 1, type.find('}') - open - 1));
    }
    fmt::print(".TP\n.B {}\n{}\n", roff(names), roff(option->get_description()));
  }
}

void man_commands(const CLI::App* app) {
  for (const CLI::App* command : below(app)) {
    const auto nested = below(command);
    if (nested.empty()) {
      fmt::print(".SS {}\n{}\n", roff(synopsis(command)), roff(command->get_description()));
      man_options(command);
      const std::string footer = command->get_footer();
      const std::size_t end = footer.find("\n\n");
      if (footer.starts_with("Examples:\n")) {
        fmt::print(".PP\nExamples:\n.PP\n.nf\n.RS 4\n{}.RE\n.fi\n", roff(footer.substr(10, end == std::string::npos ? end : end - 9)));
      }
    } else {
      man_commands(command);
    }
  }
}

int man(const CLI::App* root) {
  fmt::print(".\\\" SPDX-License-Identifier: Apache-2.0\n.TH HW 1 \"\" \"Highwater\" \"User Commands\"\n");
  fmt::print(".SH NAME\nhw \\- {}\n", roff("topics, records, groups, configs and log files of a Kafka cluster"));
  fmt::print(".SH SYNOPSIS\n.B hw\n[\\-\\-bootstrap HOST:PORT] [\\-\\-json] [\\-\\-timeout DURATION] COMMAND \\&...\n");
  fmt::print(".SH DESCRIPTION\n{}\n", roff("hw talks to any broker that speaks Kafka's protocol, Highwater or another. Results go to "
                                           "standard output, everything else to standard error. With --json results are JSON objects, one "
                                           "a line where there are many; errors are {\"error\":…,\"exit\":…} on standard error."));
  fmt::print(".SH OPTIONS\n");
  man_options(root);
  fmt::print(".SH COMMANDS\n");
  man_commands(root);
  fmt::print(".SH EXIT STATUS\n");
  constexpr std::pair<Exit, const char*> kCodes[] = {
      {Exit::ok, "done"},
      {Exit::failed, "the cluster refused, not everything was done, or log verify found damage"},
      {Exit::usage, "wrong arguments"},
      {Exit::not_found, "no such topic, partition, group or file"},
      {Exit::unreachable, "no broker answers, or not in time"},
      {Exit::exists, "exists already"},
      {Exit::refused, "needs --yes or --execute, or the group still has members"},
      {Exit::interrupted, "interrupted"},
  };
  for (const auto& [code, what] : kCodes) {
    fmt::print(".TP\n.B {}\n{}\n", static_cast<int>(code), roff(what));
  }
  fmt::print(".SH ENVIRONMENT\n.TP\n.B HIGHWATER_BOOTSTRAP\n{}\n", roff("brokers, where --bootstrap is not given"));
  fmt::print(".TP\n.B HIGHWATER_CONTROL\n{}\n", roff("the control port, where --control is not given"));
  fmt::print(".TP\n.B HIGHWATER_CONTROL_TOKEN_FILE\n{}\n", roff("the file with its token, where --control-token-file is not given"));
  return 0;
}

constexpr const char* kBash = R"(# bash completion for hw: source <(hw completion bash)
_hw() {
  local words=("${COMP_WORDS[@]:1:COMP_CWORD}") cur=${COMP_WORDS[COMP_CWORD]} out
  out=$("${COMP_WORDS[0]}" __complete "${words[@]}" 2>/dev/null) || return 0
  if [ "$out" = :file ]; then
    mapfile -t COMPREPLY < <(compgen -f -- "$cur")
    compopt -o filenames 2>/dev/null
    return 0
  fi
  local IFS=$'\n'
  mapfile -t COMPREPLY < <(compgen -W "$out" -- "$cur")
}
complete -F _hw hw
)";

constexpr const char* kZsh = R"(#compdef hw
# zsh completion for hw: source <(hw completion zsh)
_hw() {
  local -a out
  out=("${(@f)$("${words[1]}" __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ "$out[1]" == :file ]]; then
    _files
  else
    compadd -a out
  fi
}
if [[ "$funcstack[1]" == _hw ]]; then
  _hw "$@"
else
  compdef _hw hw
fi
)";

constexpr const char* kFish = R"(# fish completion for hw: hw completion fish | source
function __hw_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l out (command $words[1] __complete $words[2..-1] 2>/dev/null)
  if test "$out[1]" = ":file"
    __fish_complete_path (commandline -ct)
  else
    printf '%s\n' $out
  end
end
complete -c hw -f -a '(__hw_complete)'
)";

}  // namespace

int complete(const std::vector<std::string>& words) {
  Common common;
  CLI::App cli;
  build(cli, common);
  if (const char* bootstrap = std::getenv("HIGHWATER_BOOTSTRAP")) {
    common.bootstrap = bootstrap;
  }
  const CLI::App* command = &cli;
  const CLI::Option* valued = nullptr;  // the word before wants a value
  std::size_t positionals = 0;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string& word = words[i];
    if (valued != nullptr) {
      if (valued == cli.get_option("--bootstrap")) {
        common.bootstrap = word;
      }
      valued = nullptr;
    } else if (word.starts_with('-')) {
      const CLI::Option* option = find_option(command, word.substr(0, word.find('=')));
      valued = option != nullptr && takes_value(option) && word.find('=') == std::string::npos ? option : nullptr;
    } else {
      const auto commands = below(command);
      const auto next = std::find_if(commands.begin(), commands.end(), [&](const CLI::App* c) { return c->get_name() == word; });
      if (next != commands.end()) {
        command = *next;
      } else {
        ++positionals;
      }
    }
  }
  const std::string partial = words.empty() ? "" : words.back();
  std::vector<std::string> found;
  if (valued != nullptr) {
    found = candidates(valued, common);
  } else if (partial.starts_with('-')) {
    for (const CLI::App* app : {command, static_cast<const CLI::App*>(&cli)}) {
      for (const CLI::Option* option : app->get_options()) {
        for (const std::string& name : option->get_lnames()) {
          found.push_back("--" + name);
        }
      }
    }
  } else if (const auto commands = below(command); !commands.empty()) {
    for (const CLI::App* next : commands) {
      found.push_back(next->get_name());
    }
  } else {
    std::size_t at = 0;
    const CLI::Option* last = nullptr;
    for (const CLI::Option* option : command->get_options()) {
      if (option->get_positional()) {
        last = option;
        if (at++ == positionals) {
          break;
        }
      }
    }
    if (last != nullptr && (at > positionals || last->get_items_expected_max() > 1)) {
      found = candidates(last, common);
    }
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  for (const std::string& word : found) {
    if (word.starts_with(partial) || word == ":file") {
      fmt::print("{}\n", word);
    }
  }
  return 0;
}

void add_shell(CLI::App& cli, Common& common) {
  CLI::App* command = add_command(cli, "completion", "Print the completion for a shell; it asks this program, so it never goes stale",
                                  {"source <(hw completion bash)", "hw completion fish > ~/.config/fish/completions/hw.fish"});
  const auto shell = std::make_shared<std::string>();
  command->add_option("shell", *shell, "bash, zsh or fish")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->callback([&common, shell] {
    common.run = [shell] {
      fmt::print("{}", *shell == "bash" ? kBash : *shell == "zsh" ? kZsh : kFish);
      return 0;
    };
  });
  command = add_command(cli, "man", "Print the manual page", {"hw man | man -l -"});
  command->callback([&common, &cli] { common.run = [&cli] { return man(&cli); }; });
}

}  // namespace hw::app
