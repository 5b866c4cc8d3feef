// SPDX-License-Identifier: Apache-2.0
// The event list of the dock: its filter, in the language of all pages and by words alone; its severities, remembered; and
// what is told once.
#include <QLineEdit>
#include <QSettings>
#include <QStandardPaths>
#include <QTableView>
#include <QTest>
#include <memory>

#include "tests/ui/support/fake_session.h"
#include "ui/filter/filter_box.h"
#include "ui/models/event_model.h"
#include "ui/theme/theme.h"
#include "ui/window/bottom_dock.h"
#include "ui/window/language.h"
#include "ui/window/main_window.h"
#include "ui/window/severity_bar.h"

using namespace hw;      // NOLINT(google-build-using-namespace): a test
using namespace hw::ui;  // NOLINT(google-build-using-namespace): a test

class TestEvents : public QObject {
  Q_OBJECT

  std::unique_ptr<FakeSession> session_;
  std::unique_ptr<MainWindow> window_;

  void open(bool persist = false) {
    window_.reset();
    session_ = std::make_unique<FakeSession>(FakeSession::Options{.external = true});
    session_->tick(250);
    window_ = std::make_unique<MainWindow>(session_.get(), MainWindow::Options{.persist = persist, .hints = false});
    window_->resize(1440, 900);
    window_->show();
    QVERIFY(QTest::qWaitForWindowExposed(window_.get()));
    window_->activateWindow();
    QTRY_VERIFY(window_->isActiveWindow());
    QCoreApplication::processEvents();
    QVERIFY(model()->rowCount() > 4);
  }
  BottomDock* dock() { return window_->dock(); }
  const EventModel* model() { return window_->dock()->events(); }
  QString cell(int row, EventModel::Column column) { return model()->index(row, column).data().toString(); }
  int rows(const char* filter) {
    dock()->setFilter(QString::fromUtf8(filter));
    return dock()->filter()->parsed().ok() ? model()->rowCount() : -1;
  }
  // A view in which these events, and only these, have happened.
  static observe::ClusterView happened(const std::vector<event::Any>& events) {
    observe::ClusterView view;
    auto recent = std::make_shared<std::vector<observe::RecentEvent>>();
    for (const event::Any& each : events) {
      recent->push_back({recent->size() + 1, BrokerId(1), WallTime{1'764'417'810'000}, std::make_shared<const event::Any>(each)});
    }
    view.recent = recent;
    return view;
  }
  static event::GroupAssigned members(bool with_partitions) {
    event::GroupAssigned assigned;
    assigned.group = "g";
    for (const char* id : {"a", "b"}) {
      event::GroupAssigned::Member member;
      member.member_id = id;
      if (with_partitions) {
        member.partitions.emplace_back("orders", PartitionIndex(0));
      }
      assigned.members.push_back(member);
    }
    return assigned;
  }

 private slots:
  void initTestCase() {
    QStandardPaths::setTestModeEnabled(true);
    install_language(*qApp);
    Theme::current().install(*qApp);
  }
  void cleanup() {
    window_.reset();
    session_.reset();
  }

  void the_filter_speaks_of_events() {
    open();
    session_->deleteTopic("orders-state", [](const QString&) {});
    session_->tick(100);
    const int all = rows("");
    QCOMPARE(rows("kind == \"topic.deleted\""), 1);
    QVERIFY(cell(0, EventModel::what).contains(QStringLiteral("orders-state")));
    QCOMPARE(rows("topic == \"orders-state\" && kind == \"topic.deleted\""), 1);
    QVERIFY(rows("group == \"demo.billing\"") > 0);
    QVERIFY(rows("client == \"app-17\"") > 0);
    QCOMPARE(rows("node == 1"), all);
    QCOMPARE(rows("node == 2"), 0);
    QVERIFY(rows("severity in {notice, warning}") > 0);
    QVERIFY(rows("text contains \"is ready\"") == 1);
    QCOMPARE(rows("time >= \"2001-01-01\""), all);
    QCOMPARE(rows("time < \"2001-01-01\""), 0);
    QCOMPARE(rows("about == \"node:1\""), rows("about == \"node:1\" && node == 1"));
    QCOMPARE(rows("kind"), -1);
    QCOMPARE(dock()->filter()->state(), FilterBox::State::incomplete);
    QCOMPARE(rows(""), all);
  }

  void words_alone_are_looked_for() {
    open();
    const int all = model()->rowCount();
    QCOMPARE(rows("READY"), 1);
    QCOMPARE(rows("ready 1"), 1);
    QVERIFY(rows("demo.orders") > 0);
    QVERIFY(rows("group:demo.billing") > 0);
    QVERIFY(rows("demo.billing stable") > 0);
    QCOMPARE(rows("demo.billing/7"), 0);
    QVERIFY(all > 4);
  }

  void typing_filters_and_the_box_counts() {
    open();
    const int all = model()->rowCount();
    QLineEdit* edit = dock()->filter()->edit();
    edit->setFocus();
    QTest::keyClicks(edit, "kind == \"node.ready\"");
    QTRY_COMPARE(model()->rowCount(), 1);
    QTRY_VERIFY2(dock()->filter()->statusText().contains(QString::number(all)), qPrintable(dock()->filter()->statusText()));
    dock()->filter()->setChipsShown(true);
    const QWidget* head = dock()->filter()->parentWidget();  // chips need a second line of it
    QTRY_VERIFY(head->height() > Theme::current().px(Metrics::kDockHeader));
    dock()->filter()->setChipsShown(false);
    QTRY_COMPARE(head->height(), Theme::current().px(Metrics::kDockHeader));
  }

  void severities_are_switched_and_remembered() {
    QCoreApplication::setOrganizationName(QStringLiteral("highwater-test"));
    QCoreApplication::setApplicationName(QStringLiteral("tst_ui_events"));
    QSettings().clear();
    open(true);
    const int all = model()->rowCount();
    const int info = model()->count(Severity::info).rows;
    QVERIFY(info > 0 && info < all);
    SeverityButton* button = dock()->severities()->button(Severity::info);
    QVERIFY2(button->accessibleName().contains(QString::number(info)), qPrintable(button->accessibleName()));
    button->setFocus();
    QTest::keyClick(button, Qt::Key_Space);
    QCOMPARE(model()->rowCount(), all - info);
    QCOMPARE(model()->hidden(), info);
    QCOMPARE(model()->count(Severity::info).rows, info);  // what is hidden is still counted
    QCOMPARE(rows("severity == info"), 0);
    window_->close();
    open(true);
    QVERIFY(!dock()->severities()->button(Severity::info)->isChecked());
    QVERIFY(dock()->severities()->button(Severity::error)->isChecked());
    QCOMPARE(model()->rowCount(), all - info);
    QSettings().clear();
    QCoreApplication::setOrganizationName({});
  }

  void a_group_tells_its_assignment_once() {
    const std::vector<event::Any> events = {
        event::GroupStateChanged{"g", "PreparingRebalance", 0, "", "a new member"},
        event::GroupStateChanged{"g", "CompletingRebalance", 1, "range", "all have joined"},
        members(false),
        event::GroupStateChanged{"g", "Stable", 1, "range", ""},
        members(true),
        // Cooperative: they keep what they have while the next generation is made.
        event::GroupStateChanged{"g", "CompletingRebalance", 2, "cooperative-sticky", ""},
        members(true),
        event::GroupStateChanged{"g", "Stable", 2, "cooperative-sticky", ""},
        members(true),
    };
    EventModel model;
    model.update(happened(events));
    int assigned = 0;
    int stable = 0;
    for (int i = 0; i < model.rowCount(); ++i) {
      const QString words = model.index(i, EventModel::what).data().toString();
      assigned += words.contains(QStringLiteral("assigned its partitions")) ? 1 : 0;
      stable += words.contains(QStringLiteral("is Stable")) ? 1 : 0;
    }
    QCOMPARE(stable, 2);
    QCOMPARE(assigned, 2);  // once a generation
    model.setAll(true);
    model.update(happened(events));
    QCOMPARE(model.rowCount(), static_cast<int>(events.size()));
  }
};

QTEST_MAIN(TestEvents)
#include "tst_events.moc"
