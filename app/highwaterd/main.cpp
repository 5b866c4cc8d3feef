// SPDX-License-Identifier: Apache-2.0
// highwaterd: the cluster without a window. One line `ready ADDRESS:PORT …` on stdout when produce and fetch work.
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <cstdio>
#include <future>
#include <optional>
#include <string>
#include <thread>

#include "app/common/cluster_arguments.h"
#include "app/common/control_arguments.h"
#include "engine/base/diagnostics.h"
#include "engine/node/cluster.h"
#include "engine/node/cluster_control.h"
#include "engine/node/control_server.h"
#include "engine/node/limits.h"

namespace {

int report(const hw::Error& error, const hw::node::ClusterOptions& options) {
  std::fprintf(stderr, "highwaterd: %s\n", error.detail.c_str());
  if (error.code == hw::Errc::in_use) {
    std::fprintf(stderr, "highwaterd: choose another one with --port N (0: any free port)\n");
  } else if (error.code == hw::Errc::locked) {
    std::fprintf(stderr, "highwaterd: another Highwater or Kafka uses %s; stop it, or give another --dir\n",
                 options.directory.c_str());
  }
  return static_cast<int>(hw::app::exit_code_of(error));
}

// Takes the signals, which every other thread has blocked, from the start on: a node that waits for its quorum ends when it is told to.
// The first one begins the end; another one cuts short what that waits for.
class SignalThread {
 public:
  SignalThread(const sigset_t& signals, hw::node::Cluster& cluster) : thread_([this, signals, &cluster] {
    for (int number = 0; sigwait(&signals, &number) == 0 && !over_;) {
      cluster.interrupt();
      if (!got_.exchange(true)) {
        first_.set_value();
      }
    }
  }) {}
  ~SignalThread() {
    over_ = true;
    pthread_kill(thread_.native_handle(), SIGTERM);
    thread_.join();
  }
  SignalThread(const SignalThread&) = delete;
  SignalThread& operator=(const SignalThread&) = delete;

  [[nodiscard]] bool got() const { return got_; }
  void wait() { first_.get_future().wait(); }

 private:
  std::atomic<bool> over_{false};
  std::atomic<bool> got_{false};
  std::promise<void> first_;
  std::thread thread_;  // the last: it uses the others
};

}  // namespace

int main(int argc, char** argv) {
  hw::app::ClusterArguments arguments;
  int port = -1;
  int ready_fd = -1;
  std::string control_address;
  std::string control_token_file;
  std::string level = "warn";
  CLI::App cli{"A Kafka-compatible broker for this machine. Clients connect to localhost:9092.", "highwaterd"};
  cli.add_option("--port", port, "port to listen on (default 9092; 0: any free one)");
  cli.add_option("--nodes", arguments.nodes, "brokers in the cluster (default 1)");
  cli.add_option("--listen", arguments.listen, "address to listen on (default 127.0.0.1; 0.0.0.0: every network)");
  cli.add_option("--advertise", arguments.advertise, "HOST:PORT that clients are told to connect to");
  cli.add_flag("--memory", arguments.memory, "keep records in memory (the default without --dir)");
  cli.add_option("--dir", arguments.directory, "keep records on disk, below this folder");
  cli.add_option("--config", arguments.configs, "a broker configuration, key=value; may be repeated")->take_all();
  cli.add_option("--properties", arguments.properties_file, "read a server.properties file");
  cli.add_option("--node", arguments.node, "id of this node, in a cluster of several processes")->group("A node among others");
  cli.add_option("--roles", arguments.roles, "broker, controller or broker,controller (default: both)")->group("A node among others");
  cli.add_option("--controller-port", arguments.controller_port, "port of the controller's listener (default: any free one)")
      ->group("A node among others");
  cli.add_option("--join", arguments.join, "HOST:PORT of the controllers of a cluster that runs")->group("A node among others");
  cli.add_flag("--auto-join", arguments.auto_join, "a controller that joins becomes a voter of the quorum")->group("A node among others");
  cli.add_option("--cluster-id", arguments.cluster_id, "id of a new cluster, the same for all its nodes; one that joins asks for it")->group("A node among others");
  cli.add_option("--initial-controllers", arguments.initial_controllers, "first voters of a new cluster, ID@HOST:PORT:DIRECTORY_ID,…")
      ->group("A node among others");
  CLI::Option* control_option =
      cli.add_option("--control", control_address, "open the control port: [HOST:]PORT (0: any free one); without a value 127.0.0.1:9099")
          ->expected(0, 1)
          ->default_str(hw::app::kControlDefault)
          ->group("Control");
  cli.add_option("--control-token-file", control_token_file, "who controls must know the first line of this file; needed off loopback")
      ->needs(control_option)
      ->group("Control");
  cli.add_option("--ready-fd", ready_fd, "also write the ready line to this descriptor");
  cli.add_option("--seed", arguments.seed, "seed of everything random in the cluster");
  cli.add_option("--log-level", level, "trace, debug, info, warn, error or off (default warn)");
  cli.set_version_flag("--version", "highwaterd " HIGHWATER_VERSION);
  CLI11_PARSE(cli, argc, argv);

  hw::diag::Level parsed = hw::diag::Level::warn;
  if (!hw::diag::parse_level(level, parsed)) {
    std::fprintf(stderr, "highwaterd: --log-level %s: write trace, debug, info, warn, error or off\n", level.c_str());
    return static_cast<int>(hw::app::ExitCode::usage);
  }
  hw::diag::set_level(parsed);
  if (cli.count("--port") > 0) {
    arguments.port = port;
  }

  // Every thread inherits the blocked signals; this one waits for them.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
  hw::node::tune_allocator();

  hw::Result<hw::node::ClusterOptions> options = hw::app::cluster_options(arguments);
  if (!options) {
    return report(options.error(), {});
  }
  if (const auto idle = hw::app::configs_without_effect(arguments); idle && !idle->empty()) {
    std::string names;
    for (const std::string& name : *idle) {
      names += (names.empty() ? "" : ", ") + name;
    }
    std::fprintf(stderr, "highwaterd: set, but without effect here: %s\n", names.c_str());
  }
  hw::node::ControlServerOptions control_options;
  if (cli.count("--control") > 0) {
    hw::Result<hw::node::ControlServerOptions> given = hw::app::control_options(control_address, control_token_file);
    if (!given) {
      return report(given.error(), {});
    }
    control_options = std::move(*given);
    control_options.version = HIGHWATER_VERSION;
  }
  hw::node::Cluster cluster(*options);
  SignalThread ended(signals, cluster);
  if (const hw::Result<void> started = cluster.start(); !started) {
    return ended.got() ? 0 : report(started.error(), *options);
  }
  hw::node::ClusterControl control(cluster);
  std::optional<hw::node::ControlServer> server;
  if (cli.count("--control") > 0) {
    server.emplace(control_options, control);
    if (const hw::Result<void> started = server->start(); !started) {
      std::fprintf(stderr, "highwaterd: %s\n", started.error().detail.c_str());
      if (started.error().code == hw::Errc::in_use) {
        std::fprintf(stderr, "highwaterd: choose another one with --control PORT (0: any free port)\n");
      }
      return static_cast<int>(hw::app::exit_code_of(started.error()));
    }
  }
  const std::string line = "ready " + cluster.bootstrap_list() + " cluster " + cluster.cluster_id() + " " +
                           (options->memory ? std::string("memory") : options->directory) +
                           (server ? " control " + server->address() : std::string()) + "\n";
  std::fputs(line.c_str(), stdout);
  std::fflush(stdout);
  if (ready_fd >= 0) {
    if (write(ready_fd, line.data(), line.size()) < 0) {
      std::fprintf(stderr, "highwaterd: cannot write to descriptor %d\n", ready_fd);
    }
    close(ready_fd);
  }

  ended.wait();
  server.reset();  // after the command that is under way
  if (const hw::Result<void> stopped = cluster.stop(); !stopped) {
    return report(stopped.error(), *options);
  }
  return 0;
}
