// SPDX-License-Identifier: Apache-2.0
// What Topics and Groups show when there is nothing to list: a cluster that failed, one that starts, choices that hide all.
#include <memory>

#include <QApplication>
#include <QCheckBox>
#include <QClipboard>
#include <QLabel>
#include <QTest>

#include "tests/ui/support/fake_session.h"
#include "ui/filter/filter_box.h"
#include "ui/theme/theme.h"
#include "ui/views/groups_page.h"
#include "ui/views/metadata_log_model.h"
#include "ui/views/quorum_page.h"
#include "ui/views/topics_page.h"
#include "ui/window/controls.h"
#include "ui/window/language.h"
#include "ui/window/main_window.h"

using namespace hw::ui;

class TestListStates : public QObject {
  Q_OBJECT

  std::unique_ptr<FakeSession> session_;
  std::unique_ptr<MainWindow> window_;
  GroupsPage* groups_ = nullptr;

  void open() {
    window_.reset();
    session_ = std::make_unique<FakeSession>(FakeSession::Options{});
    session_->tick(250);
    window_ = std::make_unique<MainWindow>(session_.get(), MainWindow::Options{.persist = false, .hints = false});
    window_->resize(1440, 900);
    window_->show();
    QVERIFY(QTest::qWaitForWindowExposed(window_.get()));
    window_->activateWindow();
    QTRY_VERIFY(window_->isActiveWindow());
    groups_ = qobject_cast<GroupsPage*>(window_->page("groups"));
    QVERIFY(groups_ != nullptr);
    groups_->setClock([this] { return session_->nowMs(); });
  }
  bool says(const QString& words) {
    for (const QLabel* label : window_->currentPage()->findChildren<QLabel*>()) {
      if (label->isVisible() && label->text().contains(words)) {
        return true;
      }
    }
    return false;
  }
  Button* button(const QString& text) {
    for (Button* each : window_->currentPage()->findChildren<Button*>()) {
      if (each->isVisible() && each->text() == text) {
        return each;
      }
    }
    return nullptr;
  }
  QCheckBox* kind(GroupKind kind) { return groups_->findChild<QCheckBox*>(QStringLiteral("kind-%1").arg(static_cast<int>(kind))); }

 private slots:
  void initTestCase() {
    install_language(*qApp);
    Theme::current().install(*qApp);
  }
  void cleanup() {
    window_.reset();
    session_.reset();
  }

  // A list of the metadata log that is not read on says so: it would look like a log in which nothing happens.
  void a_metadata_log_that_is_not_read_on_says_so() {
    open();
    auto* quorum = qobject_cast<QuorumPage*>(window_->page("quorum"));
    QVERIFY(quorum != nullptr);
    std::int64_t now = 1'000'000;
    quorum->setClock([&now] { return now; });
    window_->showPage(QStringLiteral("quorum"));
    const auto* behind = quorum->findChild<QLabel*>(QStringLiteral("quorumBehind"));
    QVERIFY(behind != nullptr);
    const auto later = [&](std::int64_t ms) {
      now += ms;
      session_->sendEmptyFrame();
      QCoreApplication::processEvents();
    };
    later(20);
    QVERIFY(!behind->isVisible());
    session_->holdReads(true);  // whoever leads is paused
    session_->setMetadataEnd(140);
    QTRY_VERIFY([&] {
      later(300);
      return behind->isVisible();
    }());
    session_->holdReads(false);
    QTRY_VERIFY2(
        [&] {
          later(20);
          return !behind->isVisible();
        }(),
        qPrintable(behind->text()));
    // What grew by more than is read at once leaves a gap, also where the first that was asked did not answer.
    QTRY_VERIFY(quorum->records()->rowOf(139) >= 0);
    session_->failNext(QStringLiteral("not now"));
    session_->setMetadataEnd(5'000);
    QTRY_VERIFY([&] {
      later(20);
      return quorum->records()->rowOf(4'999) >= 0;
    }());
    QCOMPARE(quorum->records()->rowOf(139), -1);
  }

  void a_failed_cluster_fills_the_page_data() {
    QTest::addColumn<QString>("page");
    QTest::newRow("topics") << QStringLiteral("topics");
    QTest::newRow("groups") << QStringLiteral("groups");
  }
  void a_failed_cluster_fills_the_page() {
    QFETCH(QString, page);
    open();
    window_->showPage(page);
    QVERIFY(!window_->commands().enabled(QStringLiteral("cluster.retry")));
    session_->setTrouble(SessionTrouble{QStringLiteral("The cluster did not start"), QStringLiteral("Port 9092 is taken by kafka (pid 7)."),
                                        QStringLiteral("End that program, then try again."), true});
    QTRY_VERIFY(says(QStringLiteral("The cluster did not start")));
    QVERIFY(says(QStringLiteral("Port 9092 is taken by kafka (pid 7).")));
    QVERIFY(says(QStringLiteral("End that program")));
    Button* copy = button(QStringLiteral("Copy details"));
    QVERIFY(copy != nullptr);
    copy->click();
    QCOMPARE(QApplication::clipboard()->text(), QStringLiteral("The cluster did not start: Port 9092 is taken by kafka (pid 7)."));
    // Another reason is said at once.
    session_->setTrouble(SessionTrouble{QStringLiteral("The cluster did not start"), QStringLiteral("The disk is full."), {}, true});
    QTRY_VERIFY(says(QStringLiteral("The disk is full.")));
    Button* retry = button(QStringLiteral("Try again"));
    QVERIFY(retry != nullptr);
    retry->setFocus();
    QTest::keyClick(retry, Qt::Key_Space);
    QCOMPARE(session_->retries(), 1);
    QTRY_VERIFY(!says(QStringLiteral("The cluster did not start")));
    QVERIFY(window_->currentPage()->findChild<QTableView*>()->isVisible());
  }
  void what_cannot_be_tried_again_offers_no_button() {
    open();
    window_->showPage("topics");
    session_->setTrouble(SessionTrouble{QStringLiteral("Gone"), QStringLiteral("For good."), {}, false});
    QTRY_VERIFY(says(QStringLiteral("For good.")));
    QVERIFY(button(QStringLiteral("Try again")) == nullptr);
    QVERIFY(button(QStringLiteral("Copy details")) != nullptr);
  }

  void kinds_are_a_choice_only_where_there_are_several() {
    open();
    window_->showPage("groups");
    groups_->refresh();
    for (const GroupKind each : kGroupKinds) {
      QVERIFY(!kind(each)->isVisible());
    }
    session_->setGroup("sink", "demo.orders", 1);
    session_->setProtocolType("sink", "connect");
    session_->setGroup("keeper", "demo.orders", 0);
    session_->setProtocolType("keeper", "");
    groups_->refresh();
    const int all = groups_->model()->rowCount();
    QVERIFY(kind(GroupKind::classic)->isVisible());
    QVERIFY(kind(GroupKind::other)->isVisible());
    QVERIFY(kind(GroupKind::offsets)->isVisible());
    for (const GroupKind none : {GroupKind::consumer, GroupKind::share, GroupKind::streams}) {
      QVERIFY(!kind(none)->isVisible());
    }
    kind(GroupKind::offsets)->click();
    QCOMPARE(groups_->model()->rowCount(), all - 1);
    QCOMPARE(groups_->model()->rowOf(QStringLiteral("keeper")), -1);
    groups_->filter()->setText(QStringLiteral("name ~ \"^demo\""));
    QCOMPARE(groups_->model()->rowCount(), 1);
    groups_->filter()->setText({});
    kind(GroupKind::classic)->click();
    kind(GroupKind::other)->click();
    QCOMPARE(groups_->model()->rowCount(), 0);
    QVERIFY(says(QStringLiteral("The choices above hide all of them.")));
    // The last of a kind goes; whoever hid it can still show it.
    session_->setProtocolType("keeper", "consumer");
    groups_->refresh();
    QVERIFY(kind(GroupKind::offsets)->isVisible());
    kind(GroupKind::classic)->click();
    QVERIFY(groups_->model()->rowOf(QStringLiteral("keeper")) >= 0);
  }
};

QTEST_MAIN(TestListStates)
#include "tst_list_states.moc"
