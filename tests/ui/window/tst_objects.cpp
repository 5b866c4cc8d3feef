// SPDX-License-Identifier: Apache-2.0
// Objects across pages: addresses, the common menu, what is copied, history; and the first minute's hints.
#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QJsonDocument>
#include <QJsonObject>
#include <QMenu>
#include <QScrollArea>
#include <QTest>
#include <memory>

#include "tests/ui/support/fake_session.h"
#include "ui/dialogs/shortcuts_dialog.h"
#include "ui/models/object_export.h"
#include "ui/theme/theme.h"
#include "ui/views/cluster_page.h"
#include "ui/window/bottom_dock.h"
#include "ui/window/coach_mark.h"
#include "ui/window/controls.h"
#include "ui/window/inspector.h"
#include "ui/window/language.h"
#include "ui/window/main_window.h"
#include "ui/window/object_menu.h"
#include "ui/window/omnibox.h"
#include "ui/window/page.h"

using namespace hw::ui;

namespace {

QAction* find_action(const QMenu* menu, const QString& text) {
  for (QAction* action : menu->actions()) {
    if (action->text() == text) {
      return action;
    }
    if (action->menu() != nullptr) {
      if (QAction* inner = find_action(action->menu(), text); inner != nullptr) {
        return inner;
      }
    }
  }
  return nullptr;
}

}  // namespace

class TestObjects : public QObject {
  Q_OBJECT

  std::unique_ptr<FakeSession> session_;
  std::unique_ptr<MainWindow> window_;

  void open(bool hints = false, int nodes = 1) {
    window_.reset();
    session_ =
        std::make_unique<FakeSession>(FakeSession::Options{.nodes = nodes, .external = true});
    for (int i = 0; i < 40; ++i) {
      session_->tick(250);
    }
    window_ = std::make_unique<MainWindow>(session_.get(), MainWindow::Options{.persist = false, .hints = hints});
    window_->resize(1440, 900);
    window_->show();
    QVERIFY(QTest::qWaitForWindowExposed(window_.get()));
    window_->activateWindow();
    QTRY_VERIFY(window_->isActiveWindow());
  }
  QMenu* menu_of(QWidget* widget) {
    QContextMenuEvent event(QContextMenuEvent::Keyboard, widget->rect().center(), widget->mapToGlobal(widget->rect().center()));
    QApplication::sendEvent(widget, &event);
    QCoreApplication::processEvents();
    return window_->findChild<QMenu*>(QStringLiteral("objectMenu"));
  }

 private slots:
  void initTestCase() {
    install_language(*qApp);
    Theme::current().install(*qApp);
  }
  void cleanup() {
    window_.reset();
    session_.reset();
  }

  void addresses_read_back_data() {
    QTest::addColumn<QString>("text");
    for (const char* text : {"cluster:", "node:1", "orders", "orders/2", "orders/2@1042", "orders/2@1036..1038", "group:billing",
                             "group:billing/m:3", "group:a/b:c@d", "wire:conn17"}) {
      QTest::newRow(text) << QString::fromLatin1(text);
    }
  }
  void addresses_read_back() {
    QFETCH(QString, text);
    const auto parsed = Selection::parse(text);
    QVERIFY(parsed.has_value());
    QCOMPARE(parsed->address(), text);
    QVERIFY(Selection::parse(QStringLiteral("  %1 ").arg(text)) == parsed);
  }

  void the_omnibox_takes_every_address() {
    open();
    for (const char* text : {"node:1", "demo.orders", "demo.orders/2", "demo.orders/2@3", "demo.orders/2@3..5", "group:demo.billing",
                             "wire:conn17"}) {
      auto* omnibox = window_->findChild<Omnibox*>();
      omnibox->open();
      omnibox->clear();
      QTest::keyClicks(omnibox, QString::fromLatin1(text));
      QTest::keyClick(omnibox, Qt::Key_Return);
      QCOMPARE(window_->selection().address(), QString::fromLatin1(text));
    }
    QCOMPARE(window_->currentPage()->id(), QStringLiteral("clients"));
  }

  void every_page_has_the_menu_of_what_is_selected() {
    open();
    for (const Page* page : window_->pages()) {
      window_->showPage(page->id());
      window_->select(Selection::ofTopic("demo.orders"));
      QMenu* menu = menu_of(window_->currentPage());
      QVERIFY2(menu != nullptr, qPrintable(page->id()));
      for (const char* entry : {"Open demo.orders", "Show in", "Filter by", "Explain", "Act", "Copy as", "JSON", "kcat command"}) {
        QVERIFY2(find_action(menu, QString::fromLatin1(entry)) != nullptr, entry);
      }
      menu->close();
      delete menu;
    }
  }

  void every_kind_of_object_has_a_menu() {
    open();
    for (const Selection& s : {Selection::ofCluster(), Selection::ofNode(1), Selection::ofTopic("demo.orders"),
                               Selection::ofPartition("demo.orders", 1), Selection::ofRange("demo.orders", 1, 2, 4),
                               Selection::ofRecord("demo.orders", 1, 2), Selection::ofGroup("demo.billing"),
                               Selection::ofConnection(17)}) {
      QMenu menu;
      fill_object_menu(&menu, s, {&window_->commands(), session_.get(), window_->pages()});
      QVERIFY(find_action(&menu, QStringLiteral("Address")) != nullptr);
      QVERIFY(find_action(&menu, QStringLiteral("JSON")) != nullptr);
      find_action(&menu, QStringLiteral("JSON"))->trigger();
      const QJsonObject json = QJsonDocument::fromJson(QApplication::clipboard()->text().toUtf8()).object();
      QCOMPARE(json["address"].toString(), s.address());
      QVERIFY2(json.size() > 1, qPrintable(s.address()));
    }
  }

  void a_table_row_is_selected_and_its_menu_opens() {
    open();
    window_->showPage("clients");
    QTest::keyClick(window_.get(), Qt::Key_F10, Qt::ShiftModifier);
    QCoreApplication::processEvents();
    auto* menu = window_->findChild<QMenu*>(QStringLiteral("objectMenu"));
    QVERIFY(menu != nullptr);
    menu->close();
  }

  void what_is_copied_fits_the_tool() {
    const QString at = QStringLiteral("localhost:9092");
    QCOMPARE(object_kcat(Selection::ofRecord("orders", 2, 1042), at), QStringLiteral("kcat -b localhost:9092 -C -t orders -p 2 -o 1042 -c 1"));
    QCOMPARE(object_kafka_cli(Selection::ofTopic("orders"), at),
             QStringLiteral("kafka-topics.sh --bootstrap-server localhost:9092 --describe --topic orders"));
    // Whatever a group is called, a shell reads one word.
    QCOMPARE(object_kafka_cli(Selection::ofGroup("my group's"), at),
             QStringLiteral("kafka-consumer-groups.sh --bootstrap-server localhost:9092 --describe --group 'my group'\\''s'"));
    QCOMPARE(object_hw(Selection::ofRange("orders", 0, 5, 7), at),
             QStringLiteral("hw consume orders --partition 0 --from 5 --max 3 --bootstrap localhost:9092"));
    QVERIFY(object_kcat(Selection::ofConnection(1), at).isEmpty());
    QVERIFY(object_python(Selection::ofPartition("orders", 1), at).contains(QStringLiteral("TopicPartition(\"orders\", 1, 0)")));
  }

  void events_about_an_object_are_filtered_in_the_dock() {
    open();
    window_->select(Selection::ofTopic("orders-state"));
    window_->commands().run("events.about");
    const EventModel* events = window_->dock()->events();
    QVERIFY(events->rowCount() > 0);
    for (int i = 0; i < events->rowCount(); ++i) {
      QVERIFY(events->about(i).address().contains(QStringLiteral("orders-state")));
    }
    window_->dock()->setFilter({});
    QVERIFY(events->rowCount() > 2);
  }

  void a_client_is_told_once_however_many_connections_it_has() {
    open();
    const EventModel* events = window_->dock()->events();
    const auto told = [&](const QString& name) {
      int n = 0;
      for (int i = 0; i < events->rowCount(); ++i) {
        const QString words = events->index(i, EventModel::what).data().toString();
        n += words.contains(name) && words.contains(QStringLiteral("connected")) ? 1 : 0;
      }
      return n;
    };
    QCOMPARE(told(QStringLiteral("app-17")), 1);
    session_->connectClient(31, "app-17", "apache-kafka-java", "4.4.0");
    session_->connectClient(32, "app-17", "apache-kafka-java", "4.4.0");
    session_->connectClient(33, "app-18", "apache-kafka-java", "4.4.0");
    session_->tick(100);
    QCOMPARE(told(QStringLiteral("app-17")), 1);
    QCOMPARE(told(QStringLiteral("app-18")), 1);
  }

  void back_and_forward_by_key() {
    open();
    window_->select(Selection::ofNode(1));
    QTest::keyClick(window_->currentPage(), Qt::Key_C);
    QCOMPARE(window_->currentPage()->id(), QStringLiteral("clients"));
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Backspace);
    QCOMPARE(window_->currentPage()->id(), QStringLiteral("cluster"));
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Right, Qt::AltModifier);
    QCOMPARE(window_->currentPage()->id(), QStringLiteral("clients"));
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Left, Qt::AltModifier);
    QCOMPARE(window_->currentPage()->id(), QStringLiteral("cluster"));
  }

  void question_mark_opens_the_keys() {
    open();
    bool shown = false;
    QTimer::singleShot(100, this, [&] {
      auto* dialog = qobject_cast<ShortcutsDialog*>(QApplication::activeModalWidget());
      shown = dialog != nullptr;
      if (dialog != nullptr) {
        dialog->reject();
      }
    });
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Question, Qt::ShiftModifier);
    QTRY_VERIFY(shown);
  }

  // K on a small screen: what was killed does not lie below the fold.
  void a_node_that_ends_comes_into_sight() {
    open(false, 3);
    window_->resize(1440, 860);
    window_->commands().run("scale.reset", {{"percent", 150}});
    auto* page = qobject_cast<ClusterPage*>(window_->currentPage());
    QVERIFY(page != nullptr);
    const auto seen = [page] { return page->scrollArea()->viewport()->rect(); };
    const auto card = [page] {
      const QRect rect = page->canvas()->cardOf(3);
      return QRect(page->canvas()->mapTo(page->scrollArea()->viewport(), rect.topLeft()),
                   rect.size());
    };
    QTRY_VERIFY(!card().isEmpty() && !seen().contains(card()));
    session_->stopNode(3);
    QTRY_VERIFY(seen().contains(card()));
    window_->commands().run("scale.reset");
  }

  void hints_come_one_after_the_other() {
    open(true);
    QTRY_VERIFY(window_->coachMark() != nullptr);
    const QString first = window_->coachMark()->title();
    // The first step is over when a record of the panel has landed, not when the panel opens.
    window_->commands().run("produce.open");
    session_->tick(100);
    QVERIFY(window_->coachMark() == nullptr || window_->coachMark()->title() == first);
    auto* panel = window_->findChild<ProducePanel*>();
    Q_EMIT panel->selectionRequested(Selection::ofRecord("demo.orders", 1, 3));
    QTRY_VERIFY(window_->coachMark() != nullptr);
    const QString second = window_->coachMark()->title();
    QVERIFY(second != first);
    window_->showPage("messages");
    QTRY_VERIFY(window_->coachMark() != nullptr);
    QVERIFY(window_->coachMark()->title() != second);
    QTRY_COMPARE(window_->findChildren<CoachMark*>().size(), 1);
    Button* door = nullptr;
    for (Button* button : window_->coachMark()->findChildren<Button*>()) {
      door = button->text() == QStringLiteral("Connect your app") ? button : door;
    }
    QVERIFY(door != nullptr);
    door->click();
    QCOMPARE(window_->currentPage()->id(), QStringLiteral("clients"));
    session_->tick(100);
    QVERIFY(window_->coachMark() == nullptr);
  }

  void the_hint_covers_nothing_data() {
    QTest::addColumn<QSize>("size");
    QTest::addColumn<int>("percent");
    QTest::newRow("small") << QSize(1100, 700) << 100;
    QTest::newRow("usual") << QSize(1440, 900) << 100;
    QTest::newRow("usual, 150 %") << QSize(1440, 900) << 150;
  }

  void the_hint_covers_nothing() {
    QFETCH(QSize, size);
    QFETCH(int, percent);
    open(true, 3);
    window_->resize(size);
    window_->commands().run("scale.reset", {{"percent", percent}});
    auto* page = qobject_cast<ClusterPage*>(window_->currentPage());
    QVERIFY(page != nullptr);
    const auto* story = page->findChild<QWidget*>(QStringLiteral("clusterStory"));
    QVERIFY(story != nullptr);
    const auto place = [page](const QWidget* widget, const QRect& rect) {
      return QRect(widget->mapTo(page, rect.topLeft()), rect.size());
    };
    const auto covered = [&] {
      const CoachMark* mark = window_->coachMark();
      QStringList out;
      // The line to its object may cross the picture.
      const QWidget* card = mark->findChild<QWidget*>(QStringLiteral("hintCard"));
      const QRect hint = place(card, card->rect());
      const QRect seen =
          place(page->scrollArea()->viewport(), page->scrollArea()->viewport()->rect());
      const ClusterCanvas* canvas = page->canvas();
      for (int i = 0; i < canvas->objectCount(); ++i) {
        if (place(canvas, canvas->toWidget(canvas->object(i).rect))
                .intersected(seen)
                .intersects(hint)) {
          out << canvas->objectSentence(i);
        }
      }
      if (story->isVisible() && place(story, story->rect()).intersects(hint)) {
        out << QStringLiteral("the story");
      }
      return out.join(QStringLiteral("; "));
    };
    QTRY_VERIFY(window_->coachMark() != nullptr);
    QVERIFY(!story->isVisible());
    QTRY_VERIFY2(covered().isEmpty(), qPrintable(covered()));
    // Two of three controllers: that is told below the picture.
    session_->stopNode(2);
    session_->stopNode(3);
    QTRY_VERIFY(story->isVisible());
    session_->tick(100);
    QTRY_VERIFY2(covered().isEmpty(), qPrintable(covered()));
    window_->commands().run("scale.reset");
  }

  void refused_hints_stay_away() {
    open(true);
    QTRY_VERIFY(window_->coachMark() != nullptr);
    for (Button* button : window_->coachMark()->findChildren<Button*>()) {
      if (button->text() == QStringLiteral("Don't show hints")) {
        button->click();
        break;
      }
    }
    for (int i = 0; i < 10; ++i) {
      session_->tick(50);
    }
    QVERIFY(window_->coachMark() == nullptr);
  }
};

QTEST_MAIN(TestObjects)
#include "tst_objects.moc"
