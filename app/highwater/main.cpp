// SPDX-License-Identifier: Apache-2.0
// highwater: the window, with a cluster inside it.
//
//   highwater                              a demo in memory on localhost:9092
//   highwater --dir ~/orders --no-demo     a cluster on disk
//   highwater --shot cluster --out p1.png --theme dark --size 1440x900
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <QApplication>
#include <QSocketNotifier>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "app/highwater/application.h"
#include "engine/base/diagnostics.h"
#include "engine/node/limits.h"
#include "ui/theme/theme.h"
#include "ui/window/shot_matrix.h"
#include "ui/window/language.h"

namespace {

int signal_pipe[2] = {-1, -1};

void on_signal(int) {
  const char byte = 1;
  if (write(signal_pipe[1], &byte, 1) < 0) {
    _exit(1);
  }
}

}  // namespace

int main(int argc, char** argv) {
  hw::app::WindowArguments arguments;
  std::string level = "warn";
  CLI::App cli{"A Kafka-compatible cluster on this machine, and a window that shows it live.", "highwater"};
  cli.add_option("--port", arguments.port, "port to listen on (default 9092; 0: any free one)");
  cli.add_option("--nodes", arguments.cluster.nodes, "brokers in the cluster (default: 3 for the demo in memory, else 1)");
  cli.add_option("--listen", arguments.cluster.listen, "address to listen on (default 127.0.0.1)");
  cli.add_option("--advertise", arguments.cluster.advertise, "HOST:PORT that clients are told to connect to");
  cli.add_flag("--memory", arguments.cluster.memory, "keep records in memory (the default without --dir)");
  cli.add_option("--dir", arguments.cluster.directory, "keep records on disk, below this folder");
  cli.add_option("--config", arguments.cluster.configs, "a broker configuration, key=value; may be repeated")->take_all();
  cli.add_option("--properties", arguments.cluster.properties_file, "read a server.properties file");
  cli.add_option("--control", arguments.control,
                 "control port for hw and HTTP: [HOST:]PORT (0: any free one), or off (default 127.0.0.1:9099, or a free one where that is taken)");
  cli.add_option("--control-token-file", arguments.control_token_file, "who controls must know the first line of this file; needed off loopback");
  cli.add_option("--seed", arguments.cluster.seed, "seed of everything random in the cluster");
  cli.add_flag("--no-demo", arguments.no_demo, "no demo topic and no demo traffic");
  cli.add_option("--load", arguments.load, "a paced load: records per second")->expected(0, 1)->default_str("100000");
  cli.add_option("--theme", arguments.theme, "dark, light, contrast-dark, contrast-light or system (default: what was chosen last, at first as the desktop)")
      ->check(CLI::IsMember({"dark", "light", "contrast-dark", "contrast-light", "system"}));
  cli.add_option("--shot", arguments.shot, "write a picture of this page and quit");
  cli.add_option("--shot-matrix", arguments.shot_matrix, "write pictures of every page and dialog, in every theme and size, to this folder and quit");
  cli.add_option("--shot-partitions", arguments.shot_partitions, "with --shot-matrix: create about so many partitions first");
  cli.add_option("--out", arguments.out, "the picture's file");
  cli.add_option("--size", arguments.size, "the picture's size, for example 1440x900");
  cli.add_option("--select", arguments.select, "an address to select before the picture, for example demo.orders/1");
  cli.add_option("--filter", arguments.filter, "a filter for the page in the picture, for example 'key ~ \"^4\"'; with --shot-matrix: which pictures, a regular expression");
  cli.add_option("--settle-ms", arguments.settle_ms, "how long data may arrive before the picture");
  cli.add_option("--log-level", level, "trace, debug, info, warn, error or off (default warn)");
  cli.set_version_flag("--version", "highwater " HIGHWATER_VERSION);
  CLI11_PARSE(cli, argc, argv);
  const hw::app::ClusterArguments& cluster = arguments.cluster;
  if (cli.count("--nodes") == 0 && !arguments.no_demo && cluster.directory.empty() && cluster.properties_file.empty()) {
    constexpr int kDemoNodes = 3;  // one may go, and nothing that was acknowledged is lost
    arguments.cluster.nodes = kDemoNodes;
  }
  hw::diag::Level parsed = hw::diag::Level::warn;
  if (!hw::diag::parse_level(level, parsed)) {
    std::fprintf(stderr, "highwater: --log-level %s: write trace, debug, info, warn, error or off\n", level.c_str());
    return static_cast<int>(hw::app::ExitCode::usage);
  }
  hw::diag::set_level(parsed);
  signal(SIGPIPE, SIG_IGN);
  hw::node::tune_allocator();

  QCoreApplication::setOrganizationName(QStringLiteral("highwater"));
  QCoreApplication::setApplicationName(QStringLiteral("highwater"));
  QCoreApplication::setApplicationVersion(QStringLiteral(HIGHWATER_VERSION));
  QGuiApplication::setDesktopFileName(QStringLiteral("highwater"));
  QApplication application(argc, argv);
  hw::ui::install_language(application);
  hw::ui::Theme::current().install(application);

  // Ctrl-C in the terminal closes the window in good order.
  std::unique_ptr<QSocketNotifier> notifier;
  if (pipe(signal_pipe) == 0) {
    notifier = std::make_unique<QSocketNotifier>(signal_pipe[0], QSocketNotifier::Read);
    QObject::connect(notifier.get(), &QSocketNotifier::activated, &application, [] {
      hw::ui::stop_shot_matrix();  // its own event loops would go on
      QApplication::exit(0);
    });
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
  }

  hw::app::Application highwater(std::move(arguments));
  if (const int code = highwater.begin(); code != 0) {
    return code;
  }
  const int code = QApplication::exec();
  highwater.end();
  return code;
}
