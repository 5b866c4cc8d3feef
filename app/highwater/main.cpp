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
#include <QTimer>
#include <cstdio>
#include <memory>
#include <string>

#include "app/common/cluster_arguments.h"
#include "engine/base/diagnostics.h"
#include "engine/node/limits.h"
#include "engine/node/port_holder.h"
#include "ui/dialogs/question_dialog.h"
#include "ui/session/live_session.h"
#include "ui/theme/theme.h"
#include "ui/window/controls.h"
#include "ui/window/language.h"
#include "ui/window/main_window.h"
#include "ui/window/shot.h"

namespace {

struct Arguments {
  hw::app::ClusterArguments cluster;
  int port = -1;
  bool no_demo = false;
  int load = 0;
  std::string theme;
  std::string shot;
  std::string out = "shot.png";
  std::string size = "1440x900";
  std::string select;
  std::string filter;
  int settle_ms = 3'000;
};

// Owns the session and the window of one cluster; starts over with other arguments when the first cannot run.
class Application : public QObject {
 public:
  explicit Application(Arguments arguments) : arguments_(std::move(arguments)) {}

  int begin() {
    if (arguments_.port >= 0) {
      arguments_.cluster.port = arguments_.port;
    }
    hw::Result<hw::node::ClusterOptions> options = hw::app::cluster_options(arguments_.cluster);
    if (!options) {
      std::fprintf(stderr, "highwater: %s\n", options.error().detail.c_str());
      return static_cast<int>(hw::app::exit_code_of(options.error()));
    }
    window_.reset();
    session_.reset();
    hw::ui::LiveSession::Options live;
    live.cluster = *options;
    live.demo = !arguments_.no_demo && (options->memory || arguments_.load > 0);
    session_ = std::make_unique<hw::ui::LiveSession>(std::move(live));
    connect(session_.get(), &hw::ui::LiveSession::started, this, [this] {
      if (arguments_.load > 0) {
        session_->setLoad(arguments_.load);
      }
    });
    connect(session_.get(), &hw::ui::LiveSession::startFailed, this,
            [this](int code, const QString& detail) { failed(static_cast<hw::Errc>(code), detail); });
    const bool picture = !arguments_.shot.empty();
    hw::ui::MainWindow::Options look;
    look.persist = !picture;
    look.hints = picture ? arguments_.shot == "first-run" : !arguments_.no_demo && options->memory;
    window_ = std::make_unique<hw::ui::MainWindow>(session_.get(), look);
    if (arguments_.theme == "dark" || arguments_.theme == "light") {
      hw::ui::Theme::current().setMode(arguments_.theme == "dark" ? hw::ui::Theme::Mode::dark
                                                                  : hw::ui::Theme::Mode::light);
    }
    if (picture) {
      hw::ui::ShotOptions shot;
      shot.page = QString::fromStdString(arguments_.shot);
      shot.file = QString::fromStdString(arguments_.out);
      const QStringList size = QString::fromStdString(arguments_.size).split(QLatin1Char('x'));
      shot.size = QSize(size.value(0).toInt(), size.value(1).toInt());
      shot.settle_ms = arguments_.settle_ms;
      shot.selection = QString::fromStdString(arguments_.select);
      shot.filter = QString::fromStdString(arguments_.filter);
      if (shot.size.width() < 320 || shot.size.height() < 240) {
        std::fprintf(stderr, "highwater: --size %s: write for example 1440x900\n", arguments_.size.c_str());
        return static_cast<int>(hw::app::ExitCode::usage);
      }
      hw::ui::schedule_shot(window_.get(), shot);
    } else {
      window_->show();
    }
    session_->start();
    return 0;
  }

  void end() {
    window_.reset();
    session_.reset();
  }

 private:
  void failed(hw::Errc code, const QString& detail) {
    std::fprintf(stderr, "highwater: %s\n", qUtf8Printable(detail));
    const int exit_code = static_cast<int>(hw::app::exit_code_of(hw::Error{code, detail.toStdString()}));
    if (!arguments_.shot.empty()) {
      QApplication::exit(exit_code);
      return;
    }
    const int port = arguments_.cluster.port.value_or(9092);
    if (code == hw::Errc::in_use) {
      const int other = hw::node::next_free_port("127.0.0.1", static_cast<std::uint16_t>(port + 1));
      hw::ui::QuestionDialog question(hw::ui::MainWindow::tr("Port %1 is taken").arg(port), detail.toHtmlEscaped(),
                                      window_.get());
      question.addAnswer(hw::ui::MainWindow::tr("Quit"), hw::ui::QuestionDialog::AnswerKind::normal);
      if (other > 0) {
        question.addAnswer(hw::ui::MainWindow::tr("Open beside it on port %1").arg(other),
                           hw::ui::QuestionDialog::AnswerKind::primary);
      }
      if (question.exec() == 2) {
        arguments_.port = other;
        restart();
        return;
      }
    } else if (code == hw::Errc::locked) {
      hw::ui::QuestionDialog question(hw::ui::MainWindow::tr("This folder is in use"), detail.toHtmlEscaped(), window_.get());
      question.addAnswer(hw::ui::MainWindow::tr("Quit"), hw::ui::QuestionDialog::AnswerKind::normal);
      question.addAnswer(hw::ui::MainWindow::tr("Open another cluster in memory"),
                         hw::ui::QuestionDialog::AnswerKind::primary);
      if (question.exec() == 2) {
        arguments_.cluster.directory.clear();
        arguments_.cluster.memory = true;
        restart();
        return;
      }
    } else {
      hw::ui::QuestionDialog question(hw::ui::MainWindow::tr("The cluster cannot start"), detail.toHtmlEscaped(),
                                      window_.get());
      question.addAnswer(hw::ui::MainWindow::tr("Quit"), hw::ui::QuestionDialog::AnswerKind::primary);
      question.exec();
    }
    QApplication::exit(exit_code);
  }

  // Not from inside the session's own signal.
  void restart() {
    QTimer::singleShot(0, this, [this] {
      if (const int code = begin(); code != 0) {
        QApplication::exit(code);
      }
    });
  }

  Arguments arguments_;
  std::unique_ptr<hw::ui::LiveSession> session_;
  std::unique_ptr<hw::ui::MainWindow> window_;
};

int signal_pipe[2] = {-1, -1};

void on_signal(int) {
  const char byte = 1;
  if (write(signal_pipe[1], &byte, 1) < 0) {
    _exit(1);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  std::string level = "warn";
  CLI::App cli{"A Kafka-compatible cluster on this machine, and a window that shows it live.", "highwater"};
  cli.add_option("--port", arguments.port, "port to listen on (default 9092; 0: any free one)");
  cli.add_option("--nodes", arguments.cluster.nodes, "brokers in the cluster (this version: 1)");
  cli.add_option("--listen", arguments.cluster.listen, "address to listen on (default 127.0.0.1)");
  cli.add_option("--advertise", arguments.cluster.advertise, "HOST:PORT that clients are told to connect to");
  cli.add_flag("--memory", arguments.cluster.memory, "keep records in memory (the default without --dir)");
  cli.add_option("--dir", arguments.cluster.directory, "keep records on disk, below this folder");
  cli.add_option("--config", arguments.cluster.configs, "a broker configuration, key=value; may be repeated")->take_all();
  cli.add_option("--properties", arguments.cluster.properties_file, "read a server.properties file");
  cli.add_option("--seed", arguments.cluster.seed, "seed of everything random in the cluster");
  cli.add_flag("--no-demo", arguments.no_demo, "no demo topic and no demo traffic");
  cli.add_option("--load", arguments.load, "a paced load: records per second")->expected(0, 1)->default_str("100000");
  cli.add_option("--theme", arguments.theme, "dark or light (default: as the desktop)")->check(CLI::IsMember({"dark", "light"}));
  cli.add_option("--shot", arguments.shot, "write a picture of this page and quit");
  cli.add_option("--out", arguments.out, "the picture's file");
  cli.add_option("--size", arguments.size, "the picture's size, for example 1440x900");
  cli.add_option("--select", arguments.select, "an address to select before the picture, for example demo.orders/1");
  cli.add_option("--filter", arguments.filter, "a filter for the page in the picture, for example 'key ~ \"^4\"'");
  cli.add_option("--settle-ms", arguments.settle_ms, "how long data may arrive before the picture");
  cli.add_option("--log-level", level, "trace, debug, info, warn, error or off (default warn)");
  cli.set_version_flag("--version", "highwater " HIGHWATER_VERSION);
  CLI11_PARSE(cli, argc, argv);
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
    QObject::connect(notifier.get(), &QSocketNotifier::activated, &application, [] { QApplication::exit(0); });
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
  }

  Application highwater(std::move(arguments));
  if (const int code = highwater.begin(); code != 0) {
    return code;
  }
  const int code = QApplication::exec();
  highwater.end();
  return code;
}
