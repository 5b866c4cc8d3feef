// SPDX-License-Identifier: Apache-2.0
// The real window over FakeSession, for working on its looks without an engine:
//   fake_window --shot cluster --out p1.png --theme dark --size 1440x900 [--nodes 3 --stop 3] [--external]
#include <QApplication>
#include <QCommandLineParser>
#include <QTimer>

#include "tests/ui/support/fake_session.h"
#include "ui/theme/theme.h"
#include "ui/views/groups_page.h"
#include "ui/window/language.h"
#include "ui/window/main_window.h"
#include "ui/window/shot.h"

int main(int argc, char** argv) {
  QApplication application(argc, argv);
  QCommandLineParser parser;
  parser.addHelpOption();
  parser.addOptions({{"shot", "page", "PAGE"},
                     {"out", "file", "FILE", "shot.png"},
                     {"theme", "dark or light", "THEME", "dark"},
                     {"size", "WxH", "SIZE", "1440x900"},
                     {"select", "address", "ADDRESS"},
                     {"run", "a command before the picture", "COMMAND"},
                     {"nodes", "brokers", "N", "1"},
                     {"stop", "a node that is stopped", "N", "0"},
                     {"topics", "more topics", "N", "0"},
                     {"groups", "more groups", "N", "0"},
                     {"operate", "groups in several states: behind, empty, with idle members"},
                     {"load", "records per second", "N", "0"},
                     {"seconds", "cluster time before the picture", "N", "60"},
                     {"scale", "UI scale", "S", "1"},
                     {"external", "a foreign client"},
                     {"empty", "no demo"}});
  parser.process(application);
  hw::ui::install_language(application);
  hw::ui::Theme& theme = hw::ui::Theme::current();
  theme.install(application);
  theme.setChoice(hw::ui::Theme::choiceOf(parser.value("theme")).value_or(hw::ui::Theme::Choice::dark));
  theme.setScale(parser.value("scale").toDouble());
  hw::ui::FakeSession::Options options;
  options.nodes = parser.value("nodes").toInt();
  options.demo = !parser.isSet("empty");
  options.external = parser.isSet("external");
  options.more_topics = parser.value("topics").toInt();
  options.more_groups = parser.value("groups").toInt();
  hw::ui::FakeSession session(options);
  if (parser.isSet("operate")) {
    session.setGroup("billing", "demo.orders", 4);
    session.setGroup("audit", "orders-state", 3);
    session.setGroup("reports", "demo.orders", 0, "Empty");
    session.setGroup("billing", "demo.orders", 3);
    session.setGroup("billing", "demo.orders", 4);
  }
  session.setLoad(parser.value("load").toInt());
  for (int ms = 0; ms < parser.value("seconds").toInt() * 1000; ms += 250) {
    session.tick(250);
  }
  if (parser.isSet("operate")) {
    session.setCommitted("billing", "demo.orders", 0, session.records("demo.orders", 0));
    session.setCommitted("billing", "demo.orders", 1, session.records("demo.orders", 1) - 9);
    session.setCommitted("billing", "demo.orders", 2, session.records("demo.orders", 2) / 4);
  }
  if (parser.value("stop").toInt() > 0) {
    session.stopNode(parser.value("stop").toInt());
    for (int i = 0; i < 20; ++i) {
      session.tick(200);
    }
  }
  hw::ui::MainWindow window(&session, {.persist = false, .hints = parser.value("shot") == "first-run"});
  if (auto* groups = qobject_cast<hw::ui::GroupsPage*>(window.page("groups")); groups != nullptr) {
    groups->setClock([&session] { return session.nowMs(); });
  }
  if (parser.isSet("shot")) {
    const QStringList size = parser.value("size").split('x');
    hw::ui::ShotOptions shot;
    shot.page = parser.value("shot") == "first-run" ? "cluster" : parser.value("shot");
    shot.file = parser.value("out");
    shot.size = QSize(size.value(0).toInt(), size.value(1).toInt());
    shot.settle_ms = 600;
    shot.selection = parser.value("select");
    hw::ui::schedule_shot(&window, shot);
    if (parser.isSet("run")) {
      QTimer::singleShot(shot.settle_ms + 300, &window, [&] { window.commands().run(parser.value("run")); });
    }
  } else {
    window.show();
  }
  session.startClock();
  return QApplication::exec();
}
