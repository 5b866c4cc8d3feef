// SPDX-License-Identifier: Apache-2.0
// hw sim: a cluster with clients and bad luck inside this process, in virtual time, repeated by its seed.
#include <fmt/core.h>

#include <chrono>
#include <cstdio>
#include <ctime>
#include <map>
#include <memory>
#include <string>

#include "app/hw/commands.h"
#include "engine/sim/world.h"

namespace hw::app {

namespace {

struct SimArguments {
  std::uint64_t seed = 1;
  std::uint64_t runs = 1;
  std::int64_t seconds = 0;
  std::int64_t budget = 0;
  std::int16_t replicas = 0;
  std::int32_t consumer_members = -1;
  trial::Canary canary = trial::Canary::none;
  bool quiet = false;
  bool twice = false;
  bool marks = false;
};

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

sim::Options options_of(const SimArguments& arguments, std::uint64_t seed) {
  sim::Options options = sim::draw(seed, hw::seconds(arguments.seconds));
  options.canary = arguments.canary;
  if (arguments.replicas > 0) {
    sim::set_replication(options, static_cast<std::int16_t>(std::min<std::int32_t>(arguments.replicas, options.brokers)));
  }
  if (arguments.consumer_members >= 0) {
    options.consumer_members = std::min(arguments.consumer_members, options.consumers);
  }
  return options;
}

std::string repeat_command(const SimArguments& arguments, std::uint64_t seed) {
  return fmt::format("hw sim --seed {}{}{}{}{}", seed, arguments.seconds > 0 ? fmt::format(" --time {}", arguments.seconds) : "",
                     arguments.replicas > 0 ? fmt::format(" --replicas {}", arguments.replicas) : "",
                     arguments.consumer_members >= 0 ? fmt::format(" --consumer-members {}", arguments.consumer_members) : "",
                     arguments.canary == trial::Canary::none ? "" : fmt::format(" --canary {}", trial::name_of(arguments.canary)));
}

void print_marks(const trial::MarkCounts& marks) {
  std::size_t never = 0;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    fmt::print("  {:>12}  {}\n", marks[i] == 0 ? "never" : std::to_string(marks[i]), trial::name_of(static_cast<trial::Mark>(i)));
    never += marks[i] == 0 ? 1U : 0U;
  }
  fmt::print("{} of {} marks were reached\n", marks.size() - never, marks.size());
}

int simulate(const SimArguments& arguments) {
  std::uint64_t failed = 0;
  std::uint64_t done = 0;
  double simulated = 0;
  trial::MarkCounts marks{};
  const double began = cpu_seconds();
  const auto wall_began = std::chrono::steady_clock::now();
  const bool one = arguments.runs == 1 && !arguments.quiet;
  for (; done < arguments.runs; ++done) {
    if (arguments.budget > 0 && std::chrono::steady_clock::now() - wall_began > std::chrono::seconds(arguments.budget)) {
      break;
    }
    const std::uint64_t seed = arguments.seed + done;
    const sim::Options options = options_of(arguments, seed);
    const auto print = [](const std::string& line) { fmt::print("{}\n", line); };
    if (one) {
      fmt::print("{}\n", options.text());
    }
    const sim::Outcome outcome = one ? sim::run(options, print) : sim::run(options);
    simulated += static_cast<double>(outcome.simulated.ns) / 1e9;
    for (std::size_t i = 0; i < marks.size(); ++i) {
      marks[i] += outcome.marks[i];
    }
    if (one || !outcome.violations.empty()) {
      fmt::print("seed {}: {}\n", seed, outcome.text());
    }
    if (arguments.twice) {
      const sim::Outcome again = sim::run(options);
      if (again.hash != outcome.hash) {
        fmt::print("seed {}: NOT REPEATED: trace {:016x}, then {:016x}\n", seed, outcome.hash, again.hash);
        ++failed;
      }
    }
    if (!outcome.violations.empty()) {
      ++failed;
      for (const std::string& violation : outcome.violations) {
        fmt::print("  VIOLATION {}\n", violation);
      }
      fmt::print("  repeat: {}\n", repeat_command(arguments, seed));
    }
    std::fflush(stdout);
  }
  const double cpu = cpu_seconds() - began;
  if (arguments.marks) {
    print_marks(marks);
  }
  fmt::print("{} of {} runs with a violation; {:.0f} simulated seconds in {:.1f} s of CPU ({:.0f} a second)\n", failed, done, simulated, cpu,
             cpu > 0 ? simulated / cpu : 0.0);
  return static_cast<int>(failed == 0 ? Exit::ok : Exit::failed);
}

}  // namespace

void add_sim(CLI::App& cli, Common& common) {
  CLI::App* const command = add_command(cli, "sim", "run a cluster with faults in virtual time, and check what it promises",
                                        {"hw sim --seed 7", "hw sim --seed 1 --runs 500 --time 30"});
  auto arguments = std::make_shared<SimArguments>();
  command->add_option("--seed", arguments->seed, "everything is drawn from it; the first one where there are many (default 1)");
  command->add_option("--runs", arguments->runs, "so many runs, seed after seed (default 1)");
  command->add_option("--time", arguments->seconds, "simulated seconds with faults (default: drawn from the seed)");
  command->add_option("--replicas", arguments->replicas, "replication factor (default: drawn from the seed)")->check(CLI::Range(1, 5));
  command->add_option("--consumer-members", arguments->consumer_members, "consumers that join by KIP-848's protocol (default: drawn from the seed)")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--for", arguments->budget, "begin no run after so many real seconds");
  std::map<std::string, trial::Canary> canaries;
  for (std::size_t i = 1; i < static_cast<std::size_t>(trial::Canary::count); ++i) {
    const auto canary = static_cast<trial::Canary>(i);
    canaries.emplace(trial::name_of(canary), canary);
  }
  command->add_option("--canary", arguments->canary, "switch a known bug on, to see that it is found")
      ->option_text("NAME")
      ->transform(CLI::CheckedTransformer(canaries));
  command->add_flag("--quiet,-q", arguments->quiet, "of one run only the result");
  command->add_flag("--marks", arguments->marks, "at the end, how often each rare branch was reached");
  command->add_flag("--twice", arguments->twice, "run each seed twice and compare the traces");
  command->callback([arguments, &common] { common.run = [arguments] { return simulate(*arguments); }; });
}

}  // namespace hw::app
