// SPDX-License-Identifier: Apache-2.0
#include "tests/tools/tree_rules.h"

#include <algorithm>

namespace hw::tidy {

namespace {

template <class Visit>
void each_line(std::string_view text, Visit visit) {
  int number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = text.find('\n');
    visit(number, text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

// The code of a line, without a // comment. Good enough: string literals with "//" only hide what follows them.
std::string_view code_of(std::string_view line) { return line.substr(0, line.find("//")); }

bool word_at(std::string_view line, std::size_t at, std::size_t size) {
  const auto part = [](char c) { return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return (at == 0 || !part(line[at - 1])) && (at + size == line.size() || !part(line[at + size]));
}

struct Ban {
  std::string_view word;
  std::string_view instead;
  bool cores_only;
};

constexpr Ban kBans[] = {
    {"co_await", "callbacks; see ARCHITECTURE.md", false},
    {"std::regex", "a small parser; std::regex recurses on input", false},
    {"sleep_for", "the time as a parameter, or QTRY_VERIFY on a condition", false},
    {"qDebug", "hw::diag", false},
    {"steady_clock::now", "the parameter `now`", true},
    {"system_clock::now", "the wall time in the input", true},
    {"clock_gettime", "the parameter `now`", true},
    {"random_device", "the Prng given by constructor", true},
    {"std::thread", "a shell (engine/node)", true},
    {"std::mutex", "one owner per object", true},
    {"getenv", "an option given by the shell", true},
    {"diag::", "an event", true},
};

// Where the rules of cores do not hold, each with its reason.
constexpr std::string_view kShells[] = {
    "engine/base/",             // diagnostics themselves
    "engine/node/",             // the shell
    "engine/observe/observer",   // the observer's thread
    "engine/observe/ring_sink",  // its overflow list
    "engine/env/",              // the operating system's file system
    "engine/wire/schemagen/",   // a host tool
};

bool is_core(std::string_view path) {
  return path.starts_with("engine/") &&
         std::none_of(std::begin(kShells), std::end(kShells), [&](std::string_view s) { return path.starts_with(s); });
}

}  // namespace

std::vector<Finding> check_text(std::string_view path, std::string_view text) {
  std::vector<Finding> out;
  const std::string_view head = text.substr(0, 200);
  if (head.find("SPDX-License-Identifier: Apache-2.0") == std::string_view::npos) {
    out.push_back({1, "no SPDX-License-Identifier line"});
  }
  if (!text.empty() && text.back() != '\n') {
    out.push_back({0, "no newline at the end"});
  }
  const bool makefile = path.ends_with("Makefile");
  each_line(text, [&](int number, std::string_view line) {
    if (!makefile && line.find('\t') != std::string_view::npos) {
      out.push_back({number, "a tab"});
    }
    if (!line.empty() && line.back() == ' ') {
      out.push_back({number, "a blank at the end"});
    }
    if (line.find(std::string("FIX") + "ME") != std::string_view::npos) {
      out.push_back({number, "left-over FIX" "ME"});
    }
  });
  return out;
}

std::vector<Finding> check_words(std::string_view path, std::string_view text) {
  std::vector<Finding> out;
  const bool core = is_core(path);
  each_line(text, [&](int number, std::string_view line) {
    const std::string_view code = code_of(line);
    for (const Ban& ban : kBans) {
      if (ban.cores_only && !core) {
        continue;
      }
      const std::size_t at = code.find(ban.word);
      const std::size_t size = ban.word.ends_with("::") ? ban.word.size() - 2 : ban.word.size();
      if (at != std::string_view::npos && word_at(code, at, size)) {
        out.push_back({number, std::string(ban.word) + " is banned here; use " + std::string(ban.instead)});
      }
    }
  });
  return out;
}

std::vector<Finding> check_counts(std::string_view path, std::string_view text) {
  std::vector<Finding> out;
  if (!path.starts_with("ui/") && !path.starts_with("app/highwater/") && !path.starts_with("translations/")) {
    return out;
  }
  each_line(text, [&](int number, std::string_view line) {
    const std::string_view code = code_of(line);
    for (std::size_t at = code.find("%n"); at != std::string_view::npos; at = code.find("%n", at + 2)) {
      const char next = at + 2 < code.size() ? code[at + 2] : ' ';
      if (next < 'a' || next > 'z') {
        out.push_back({number, "%n is banned here; use tr(\"… %Ln …\", nullptr, n)"});
      }
    }
  });
  return out;
}

Arrows parse_arrows(std::string_view module_cmake) {
  Arrows out;
  each_line(module_cmake, [&](int, std::string_view line) {
    constexpr std::string_view start = "set(HW_ARROWS_";
    if (!line.starts_with(start)) {
      return;
    }
    line.remove_prefix(start.size());
    const std::size_t blank = line.find(' ');
    const std::size_t open = line.find('"');
    const std::size_t close = line.rfind('"');
    std::set<std::string>& targets = out[std::string(line.substr(0, blank))];
    std::string_view list = line.substr(open + 1, close - open - 1);
    while (!list.empty()) {
      const std::size_t end = list.find(';');
      targets.emplace(list.substr(0, end));
      list.remove_prefix(end == std::string_view::npos ? list.size() : end + 1);
    }
  });
  return out;
}

std::optional<std::string> module_of(std::string_view path, const Arrows& arrows) {
  constexpr std::string_view root = "engine/";
  if (!path.starts_with(root)) {
    return std::nullopt;
  }
  path.remove_prefix(root.size());
  std::optional<std::string> best;
  std::string name;
  for (std::size_t slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/', slash + 1)) {
    name = std::string(path.substr(0, slash));
    std::replace(name.begin(), name.end(), '/', '_');
    if (arrows.contains(name)) {
      best = name;
    }
  }
  return best;
}

std::vector<Finding> check_includes(std::string_view path, std::string_view text, const Arrows& arrows) {
  std::vector<Finding> out;
  const std::optional<std::string> from = module_of(path, arrows);
  if (!from) {
    return out;
  }
  each_line(text, [&](int number, std::string_view line) {
    constexpr std::string_view start = "#include \"";
    if (!line.starts_with(start)) {
      return;
    }
    const std::string_view target = line.substr(start.size(), line.rfind('"') - start.size());
    if (target.starts_with("ui/") || target.starts_with("app/") || target.starts_with("tests/")) {
      out.push_back({number, "the engine includes " + std::string(target)});
      return;
    }
    const std::optional<std::string> to = module_of(target, arrows);
    if (to && *to != *from && !arrows.at(*from).contains(*to)) {
      out.push_back({number, "the arrow " + *from + " -> " + *to + " is forbidden (engine/module.cmake)"});
    }
  });
  return out;
}

std::vector<Finding> check_readme(std::string_view text) {
  std::vector<Finding> out;
  std::size_t at = 0;
  for (const char* heading : {"## What this is", "## Start here", "## Rules", "## How it is tested", "## What it does not do"}) {
    const std::size_t found = text.find(heading, at);
    if (found == std::string_view::npos) {
      out.push_back({0, std::string("the heading '") + heading + "' is missing or out of order"});
    } else {
      at = found;
    }
  }
  return out;
}

}  // namespace hw::tidy
