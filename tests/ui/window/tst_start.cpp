// SPDX-License-Identifier: Apache-2.0
// What a person sees and clicks when the cluster cannot start: the port is taken, the folder is in use.
#include <sys/resource.h>

#include <QApplication>
#include <QLabel>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>
#include <algorithm>
#include <memory>

#include "app/highwater/application.h"
#include "engine/node/cluster.h"
#include "ui/dialogs/question_dialog.h"
#include "ui/theme/theme.h"
#include "ui/views/clients_connect.h"
#include "ui/window/controls.h"
#include "ui/window/language.h"
#include "ui/window/page.h"

using namespace hw::ui;
using hw::app::Application;
using hw::app::WindowArguments;

namespace {

// Waits for a question and clicks the answer that begins with `text`; what the question said is kept.
class Clicker : public QObject {
 public:
  explicit Clicker(QString text) : text_(std::move(text)) {
    timer_.setInterval(20);
    connect(&timer_, &QTimer::timeout, this, &Clicker::look);
    timer_.start();
  }
  QString said;
  bool clicked = false;

 private:
  void look() {
    auto* question = qobject_cast<QuestionDialog*>(QApplication::activeModalWidget());
    if (question == nullptr || !question->isVisible()) {
      return;
    }
    for (const QLabel* label : question->findChildren<QLabel*>()) {
      said += label->text() + QLatin1Char('\n');
    }
    for (Button* button : question->findChildren<Button*>()) {
      if (button->text().startsWith(text_)) {
        timer_.stop();
        clicked = true;
        button->click();
        return;
      }
    }
  }
  QTimer timer_;
  QString text_;
};

double processor_ms() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto ms = [](const timeval& t) { return static_cast<double>(t.tv_sec) * 1'000 + static_cast<double>(t.tv_usec) / 1'000; };
  return ms(usage.ru_utime) + ms(usage.ru_stime);
}

WindowArguments memory_on(int port) {
  WindowArguments arguments;
  arguments.cluster.memory = true;
  arguments.port = port;
  arguments.no_demo = true;
  arguments.persist = false;
  arguments.control = "off";
  return arguments;
}

}  // namespace

class TestStart : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    install_language(*qApp);
    Theme::current().install(*qApp);
  }

  void a_taken_port_is_explained_and_another_one_opened() {
    hw::node::ClusterOptions options;
    options.listen.port = 0;
    hw::node::Cluster first(options);
    QVERIFY(first.start());
    int code = -1;
    Application app(memory_on(first.port()), [&](int c) { code = c; });
    Clicker clicker(QStringLiteral("Open beside it"));
    QCOMPARE(app.begin(), 0);
    QTRY_VERIFY_WITH_TIMEOUT(clicker.clicked, 10'000);
    QVERIFY2(clicker.said.contains(QStringLiteral("Port %1 is taken").arg(first.port())), qPrintable(clicker.said));
    QTRY_VERIFY_WITH_TIMEOUT(app.session() != nullptr && app.session()->running(), 15'000);
    QVERIFY(app.session()->bootstrap() != QStringLiteral("localhost:%1").arg(first.port()));
    QVERIFY(app.window()->isVisible());
    QCOMPARE(code, -1);
    app.end();
  }

  void a_taken_port_may_end_the_program() {
    hw::node::ClusterOptions options;
    options.listen.port = 0;
    hw::node::Cluster first(options);
    QVERIFY(first.start());
    int code = -1;
    Application app(memory_on(first.port()), [&](int c) { code = c; });
    Clicker clicker(QStringLiteral("Quit"));
    QCOMPARE(app.begin(), 0);
    QTRY_COMPARE_WITH_TIMEOUT(code, static_cast<int>(hw::app::ExitCode::port_taken), 10'000);
    app.end();
  }

  void a_folder_in_use_is_explained_and_memory_offered() {
    const QTemporaryDir folder;
    hw::node::ClusterOptions options;
    options.listen.port = 0;
    options.memory = false;
    options.directory = folder.path().toStdString();
    hw::node::Cluster first(options);
    QVERIFY(first.start());
    WindowArguments arguments = memory_on(0);
    arguments.cluster.memory = false;
    arguments.cluster.directory = options.directory;
    int code = -1;
    Application app(arguments, [&](int c) { code = c; });
    Clicker clicker(QStringLiteral("Open another cluster in memory"));
    QCOMPARE(app.begin(), 0);
    QTRY_VERIFY_WITH_TIMEOUT(clicker.clicked, 10'000);
    QVERIFY2(clicker.said.contains(QStringLiteral("in use")), qPrintable(clicker.said));
    QTRY_VERIFY_WITH_TIMEOUT(app.session() != nullptr && app.session()->running(), 15'000);
    QVERIFY(app.session()->storage().in_memory);
    QCOMPARE(code, -1);
    app.end();
  }

  void the_control_port_is_opened_elsewhere_or_not_at_all() {
    WindowArguments arguments = memory_on(0);
    {
      Application app(arguments, [](int) {});
      QCOMPARE(app.begin(), 0);
      QTRY_VERIFY_WITH_TIMEOUT(app.session()->running(), 15'000);
      QVERIFY(app.session()->controlPort() == hw::ui::SessionNodes::ControlPort{});
      QCOMPARE(app.session()->conditions().size(), std::size_t{1});  // the window's own hand needs no port
    }
    arguments.control = "127.0.0.1:0";
    Application first(arguments, [](int) {});
    QCOMPARE(first.begin(), 0);
    QTRY_VERIFY_WITH_TIMEOUT(first.session()->running(), 15'000);
    const QString taken = first.session()->controlPort().address;
    QVERIFY2(taken.startsWith(QStringLiteral("127.0.0.1:")), qPrintable(taken));
    // One that was asked for and is taken: the cluster runs, and says why nobody else controls it.
    arguments.control = taken.toStdString();
    {
      Application second(arguments, [](int) {});
      QCOMPARE(second.begin(), 0);
      QTRY_VERIFY_WITH_TIMEOUT(second.session()->running(), 15'000);
      QVERIFY(second.session()->controlPort().address.isEmpty());
      QVERIFY2(second.session()->controlPort().problem.contains(taken.section(QLatin1Char(':'), -1)), qPrintable(second.session()->controlPort().problem));
    }
    // The usual one need not be free.
    arguments.control = "default";
    Application third(arguments, [](int) {});
    QCOMPARE(third.begin(), 0);
    QTRY_VERIFY_WITH_TIMEOUT(third.session()->running(), 15'000);
    Application fourth(arguments, [](int) {});
    QCOMPARE(fourth.begin(), 0);
    QTRY_VERIFY_WITH_TIMEOUT(fourth.session()->running(), 15'000);
    QVERIFY(!third.session()->controlPort().address.isEmpty() && !fourth.session()->controlPort().address.isEmpty());
    QVERIFY(third.session()->controlPort().address != fourth.session()->controlPort().address);
    arguments.control = "nonsense";
    Application fifth(arguments, [](int) {});
    QCOMPARE(fifth.begin(), static_cast<int>(hw::app::ExitCode::usage));
  }

  void no_demo_means_no_demo_topic() {
    Application app(memory_on(0), [](int) {});
    QCOMPARE(app.begin(), 0);
    QTRY_VERIFY_WITH_TIMEOUT(app.session()->running(), 15'000);
    QTRY_VERIFY(!app.session()->view()->nodes.empty());
    QTest::qWait(600);
    QVERIFY(app.session()->view()->find_topic("demo.orders") == nullptr);
    QVERIFY(!app.session()->demoTraffic());
    QCOMPARE(app.session()->foreignRecords(), std::int64_t{0});
    app.end();
  }

  // Everything of this process: window, node, observer. Processor time; a busy machine makes the same work cost more (cold
  // caches), so the best of three windows counts.
  void an_idle_window_costs_less_than_a_hundredth_of_a_core() {
    Application app(memory_on(0), [](int) {});
    QCOMPARE(app.begin(), 0);
    QTRY_VERIFY_WITH_TIMEOUT(app.session()->running(), 15'000);
    app.window()->showPage(QStringLiteral("clients"));
    QTRY_VERIFY_WITH_TIMEOUT(!app.window()->findChild<DoctorPanel*>()->waiting() &&
                                 !app.window()->findChild<DoctorPanel*>()->rows().empty(),
                             15'000);
    for (const Page* page : app.window()->pages()) {
      app.window()->showPage(page->id());
      QTest::qWait(2'500);  // rates fall to nothing, timers run out
      constexpr int kWindowMs = 4'000;
      double used = kWindowMs;
      for (int attempt = 0; attempt < 3 && used >= kWindowMs * 0.01; ++attempt) {
        const double before = processor_ms();
        QTest::qWait(kWindowMs);
        used = std::min(used, processor_ms() - before);
      }
      qInfo("%s: %.1f ms of processor time in %d ms", qPrintable(page->id()), used, kWindowMs);
      QVERIFY2(used < kWindowMs * 0.01, qPrintable(QStringLiteral("%1: %2 ms").arg(page->id()).arg(used)));
    }
    app.end();
  }
};

QTEST_MAIN(TestStart)
#include "tst_start.moc"
