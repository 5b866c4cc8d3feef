// SPDX-License-Identifier: Apache-2.0
#include "app/highwater/application.h"

#include <QApplication>
#include <QTimer>
#include <cstdio>
#include <utility>

#include "app/common/control_arguments.h"
#include "engine/node/port_holder.h"
#include "ui/dialogs/question_dialog.h"
#include "ui/theme/theme.h"
#include "ui/window/controls.h"
#include "ui/window/shot.h"
#include "ui/window/shot_matrix.h"

namespace hw::app {

Application::Application(WindowArguments arguments, std::function<void(int)> quit)
    : arguments_(std::move(arguments)), quit_(quit ? std::move(quit) : [](int code) { QApplication::exit(code); }) {}

Application::~Application() { end(); }

int Application::begin() {
  if (arguments_.port >= 0) {
    arguments_.cluster.port = arguments_.port;
  }
  Result<node::ClusterOptions> options = cluster_options(arguments_.cluster);
  if (!options) {
    std::fprintf(stderr, "highwater: %s\n", options.error().detail.c_str());
    return static_cast<int>(exit_code_of(options.error()));
  }
  end();
  ui::LiveSession::Options live;
  live.cluster = *options;
  live.demo = !arguments_.no_demo && (options->memory || arguments_.load > 0);
  const bool unasked = arguments_.control == "default";
  if (arguments_.control != "off" && !(unasked && pictures())) {
    Result<node::ControlServerOptions> control = control_options(unasked ? kControlDefault : arguments_.control, arguments_.control_token_file);
    if (!control) {
      std::fprintf(stderr, "highwater: %s\n", control.error().detail.c_str());
      return static_cast<int>(exit_code_of(control.error()));
    }
    control->version = HIGHWATER_VERSION;
    live.control = std::move(*control);
    live.control_elsewhere = unasked;
  }
  session_ = std::make_unique<ui::LiveSession>(std::move(live));
  connect(session_.get(), &ui::LiveSession::started, this, [this] {
    if (arguments_.load > 0) {
      session_->setLoad(arguments_.load);
    }
    if (const QString problem = session_->controlPort().problem; !problem.isEmpty()) {
      std::fprintf(stderr, "highwater: no control port: %s\n", qUtf8Printable(problem));
    }
  });
  connect(session_.get(), &ui::LiveSession::startFailed, this,
          [this](int code, const QString& detail) { failed(static_cast<Errc>(code), detail); });
  const bool picture = pictures();
  ui::MainWindow::Options look;
  look.persist = arguments_.persist && !picture;
  look.hints = picture ? arguments_.shot == "first-run" : !arguments_.no_demo && options->memory;
  window_ = std::make_unique<ui::MainWindow>(session_.get(), look);
  if (const auto choice = ui::Theme::choiceOf(QString::fromStdString(arguments_.theme)); choice) {
    ui::Theme::current().setChoice(*choice);
  }
  if (!arguments_.shot_matrix.empty()) {
    ui::ShotMatrixOptions matrix;
    matrix.directory = QString::fromStdString(arguments_.shot_matrix);
    matrix.partitions = arguments_.shot_partitions;
    matrix.empty = arguments_.no_demo;
    matrix.only = QString::fromStdString(arguments_.filter);
    ui::schedule_shot_matrix(window_.get(), session_.get(), matrix);
  } else if (picture) {
    ui::ShotOptions shot;
    shot.page = QString::fromStdString(arguments_.shot);
    shot.file = QString::fromStdString(arguments_.out);
    const QStringList size = QString::fromStdString(arguments_.size).split(QLatin1Char('x'));
    shot.size = QSize(size.value(0).toInt(), size.value(1).toInt());
    shot.settle_ms = arguments_.settle_ms;
    shot.selection = QString::fromStdString(arguments_.select);
    shot.filter = QString::fromStdString(arguments_.filter);
    if (shot.size.width() < 320 || shot.size.height() < 240) {
      std::fprintf(stderr, "highwater: --size %s: write for example 1440x900\n", arguments_.size.c_str());
      return static_cast<int>(ExitCode::usage);
    }
    ui::schedule_shot(window_.get(), shot);
  } else {
    window_->show();
  }
  session_->start();
  return 0;
}

void Application::end() {
  window_.reset();
  session_.reset();
}

void Application::failed(Errc code, const QString& detail) {
  std::fprintf(stderr, "highwater: %s\n", qUtf8Printable(detail));
  const int exit_code = static_cast<int>(exit_code_of(Error{code, detail.toStdString()}));
  if (pictures()) {
    quit_(exit_code);
    return;
  }
  using ui::MainWindow;
  using ui::QuestionDialog;
  bool stay = false;  // Esc: the pages say what failed, and offer to try again
  const int port = arguments_.cluster.port.value_or(9092);
  if (code == Errc::in_use) {
    const int other = node::next_free_port("127.0.0.1", static_cast<std::uint16_t>(port + 1));
    QuestionDialog question(MainWindow::tr("Port %1 is taken").arg(port), detail.toHtmlEscaped(), window_.get());
    question.addAnswer(MainWindow::tr("Quit"), QuestionDialog::AnswerKind::normal);
    if (other > 0) {
      question.addAnswer(MainWindow::tr("Open beside it on port %1").arg(other), QuestionDialog::AnswerKind::primary);
    }
    const int answer = question.exec();
    if (answer == 2) {
      arguments_.port = other;
      restart();
      return;
    }
    stay = answer == 0;
  } else if (code == Errc::locked) {
    QuestionDialog question(MainWindow::tr("This folder is in use"), detail.toHtmlEscaped(), window_.get());
    question.addAnswer(MainWindow::tr("Quit"), QuestionDialog::AnswerKind::normal);
    question.addAnswer(MainWindow::tr("Open another cluster in memory"), QuestionDialog::AnswerKind::primary);
    const int answer = question.exec();
    if (answer == 2) {
      arguments_.cluster.directory.clear();
      arguments_.cluster.memory = true;
      restart();
      return;
    }
    stay = answer == 0;
  } else {
    QuestionDialog question(MainWindow::tr("The cluster cannot start"), detail.toHtmlEscaped(), window_.get());
    question.addAnswer(MainWindow::tr("Quit"), QuestionDialog::AnswerKind::normal);
    question.addAnswer(MainWindow::tr("Try again"), QuestionDialog::AnswerKind::primary);
    const int answer = question.exec();
    if (answer == 2) {
      restart();
      return;
    }
    stay = answer == 0;
  }
  if (!stay) {
    quit_(exit_code);
  }
}

// Not from inside the session's own signal.
void Application::restart() {
  QTimer::singleShot(0, this, [this] {
    if (const int code = begin(); code != 0) {
      quit_(code);
    }
  });
}

}  // namespace hw::app
