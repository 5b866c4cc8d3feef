// SPDX-License-Identifier: Apache-2.0
// The real window over a fake session: commands, keys, palette, selection, repaints, accessibility, closing.
#include <QAbstractSpinBox>
#include <QAccessible>
#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QLineEdit>
#include <QSignalSpy>
#include <QTest>
#include <QTimer>
#include <memory>
#include <set>

#include "tests/ui/support/fake_session.h"
#include "ui/dialogs/create_topic_dialog.h"
#include "ui/dialogs/question_dialog.h"
#include "ui/theme/theme.h"
#include "ui/window/bottom_dock.h"
#include "ui/window/coach_mark.h"
#include "ui/window/controls.h"
#include "ui/window/inspector.h"
#include "ui/window/language.h"
#include "ui/window/main_window.h"
#include "ui/window/omnibox.h"
#include "ui/window/page.h"
#include "ui/window/top_bar.h"

using namespace hw::ui;

namespace {

// Counts paint events of one window.
class PaintCounter : public QObject {
 public:
  explicit PaintCounter(QWidget* window) : window_(window) { qApp->installEventFilter(this); }
  ~PaintCounter() override { qApp->removeEventFilter(this); }
  int paints = 0;
  QStringList who;

 protected:
  bool eventFilter(QObject* object, QEvent* event) override {
    if (event->type() == QEvent::Paint && object->isWidgetType() && static_cast<QWidget*>(object)->window() == window_) {
      ++paints;
      who << QString::fromLatin1(object->metaObject()->className());
    }
    return false;
  }

 private:
  QWidget* window_;
};

}  // namespace

class TestWindow : public QObject {
  Q_OBJECT

  std::unique_ptr<FakeSession> session_;
  std::unique_ptr<MainWindow> window_;

  void open(FakeSession::Options options = {}, bool hints = false) {
    window_.reset();
    session_ = std::make_unique<FakeSession>(options);
    for (int i = 0; i < 40; ++i) {
      session_->tick(250);
    }
    window_ = std::make_unique<MainWindow>(session_.get(), MainWindow::Options{.persist = false, .hints = hints});
    window_->show();
    QVERIFY(QTest::qWaitForWindowExposed(window_.get()));
    window_->activateWindow();
    QTRY_VERIFY(window_->isActiveWindow());
    QCoreApplication::processEvents();
  }

 private slots:
  void initTestCase() {
    install_language(*qApp);
    Theme::current().install(*qApp);
    Theme::current().setMode(Theme::Mode::dark);
  }
  void cleanup() {
    window_.reset();
    session_.reset();
  }

  void it_opens_on_the_cluster_page() {
    open();
    QCOMPARE(window_->currentPage()->id(), QStringLiteral("cluster"));
    QVERIFY(window_->page("topics") != nullptr);
  }

  void the_demo_is_selected_once() {
    open();
    QVERIFY(window_->selection() == Selection::ofPartition("demo.orders", 0));
    window_->commands().run("selection.clear");
    session_->tick(16);
    QVERIFY(window_->selection().none());
  }

  void shortcuts_are_unique_and_commands_titled() {
    open();
    std::set<QString> keys;
    std::set<QString> ids;
    for (const Command& command : window_->commands().all()) {
      QVERIFY(ids.insert(command.id).second);
      QVERIFY(!command.title.isEmpty());
      if (!command.shortcut.isEmpty()) {
        QVERIFY2(keys.insert(command.shortcut.toString()).second, qPrintable(command.id));
      }
    }
    Command twice{QStringLiteral("x.y"), QStringLiteral("x"), QKeySequence(Qt::Key_P), [](const QVariantMap&) {}, {}, {}};
    QVERIFY(!window_->commands().add(twice));
  }

  void digits_and_letters_go_to_pages() {
    open();
    QTest::keyClick(window_->currentPage(), Qt::Key_T);
    QCOMPARE(window_->currentPage()->id(), QStringLiteral("topics"));
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_1);
    QCOMPARE(window_->currentPage()->id(), QStringLiteral("cluster"));
  }

  void letters_belong_to_text_fields() {
    open();
    auto* omnibox = window_->findChild<Omnibox*>();
    omnibox->open();
    QTest::keyClicks(omnibox, "t1");
    QCOMPARE(omnibox->text(), QStringLiteral("t1"));
    QCOMPARE(window_->currentPage()->id(), QStringLiteral("cluster"));
  }

  void the_palette_finds_commands_and_objects() {
    open();
    const auto view = session_->view();
    const auto commands = palette_entries(">full", window_->commands(), *view);
    QVERIFY(!commands.empty());
    QCOMPARE(commands.front().command, QStringLiteral("window.fullscreen"));
    const auto objects = palette_entries("@demo.orders/1@5", window_->commands(), *view);
    QVERIFY(!objects.empty());
    QVERIFY(objects.front().object == Selection::ofRecord("demo.orders", 1, 5));
    QVERIFY(palette_entries("@no-such-topic/1", window_->commands(), *view).empty());
    for (const auto& entry : palette_entries("@", window_->commands(), *view)) {
      QVERIFY(entry.kind == PaletteEntry::Kind::object);
    }
  }

  void return_in_the_palette_selects() {
    open();
    auto* omnibox = window_->findChild<Omnibox*>();
    QTest::keyClick(window_->currentPage(), Qt::Key_K, Qt::ControlModifier);
    QTRY_VERIFY(omnibox->hasFocus());
    QVERIFY(omnibox->listOpen());
    QTest::keyClicks(omnibox, "group:demo.billing");
    QTest::keyClick(omnibox, Qt::Key_Return);
    QVERIFY(window_->selection() == Selection::ofGroup("demo.billing"));
    QVERIFY(!omnibox->listOpen());
    QVERIFY(!omnibox->hasFocus());
  }

  void escape_closes_then_clears() {
    open();
    window_->select(Selection::ofNode(1));
    auto* omnibox = window_->findChild<Omnibox*>();
    omnibox->open();
    QTest::keyClick(omnibox, Qt::Key_Escape);
    QVERIFY(!omnibox->listOpen());
    QVERIFY(window_->selection() == Selection::ofNode(1));
    QTest::keyClick(window_->currentPage(), Qt::Key_Escape);
    QVERIFY(window_->selection().none());
  }

  void history_goes_back_and_forward() {
    open();
    window_->select(Selection::ofNode(1));
    window_->showPage("topics");
    window_->select(Selection::ofTopic("orders-state"));
    window_->commands().run("history.back");
    window_->commands().run("history.back");
    QCOMPARE(window_->currentPage()->id(), QStringLiteral("cluster"));
    QVERIFY(window_->selection() == Selection::ofNode(1));
    window_->commands().run("history.forward");
    QCOMPARE(window_->currentPage()->id(), QStringLiteral("topics"));
  }

  void nothing_is_painted_when_nothing_changes() {
    open();
    window_->select(Selection::ofPartition("demo.orders", 1));
    session_->setDemoTraffic(false);
    session_->tick(16);
    QTest::qWait(2'400);  // rates fall to zero, animations end
    PaintCounter counter(window_.get());
    for (int i = 0; i < 20; ++i) {
      session_->sendEmptyFrame();
      QTest::qWait(20);
    }
    QTest::qWait(1'300);
    QVERIFY2(counter.paints == 0, qPrintable(counter.who.join(' ')));
  }

  void a_change_repaints_the_inspector_value() {
    open();
    window_->select(Selection::ofPartition("demo.orders", 0));
    QTest::qWait(50);
    PaintCounter counter(window_.get());
    session_->produce({"demo.orders", 0, hw::Bytes::copy_of("A"), hw::Bytes::copy_of("x"), {}}, [](const ProduceAnswer&) {});
    QTRY_VERIFY(counter.who.contains(QStringLiteral("hw::ui::FactRow")));
  }

  void a_paused_view_stands_still() {
    open();
    QTest::qWait(1'500);
    window_->setPaused(true);
    QTest::qWait(50);
    QCOMPARE(window_->dock()->events()->rowCount() > 0, true);
    const int events = window_->dock()->events()->rowCount();
    session_->deleteTopic("orders-state", [](const QString&) {});
    QCOMPARE(window_->dock()->events()->rowCount(), events);
    window_->setPaused(false);
    QCOMPARE(window_->dock()->events()->rowCount(), events + 1);
  }

  void every_focusable_has_a_name() {
    open();
    for (const Page* page : window_->pages()) {
      window_->showPage(page->id());
      QTest::qWait(50);
      const auto widgets = window_->findChildren<QWidget*>();
      for (QWidget* w : widgets) {
        if (w->focusPolicy() == Qt::NoFocus || !w->isVisible() || !w->isEnabled() ||
            qobject_cast<QAbstractSpinBox*>(w->parentWidget()) != nullptr ||
            qobject_cast<QComboBox*>(w->parentWidget()) != nullptr || w->focusProxy() != nullptr) {
          continue;
        }
        QAccessibleInterface* accessible = QAccessible::queryAccessibleInterface(w);
        QVERIFY(accessible != nullptr);
        QVERIFY2(!accessible->text(QAccessible::Name).isEmpty(),
                 qPrintable(QStringLiteral("%1 %2 on %3").arg(w->metaObject()->className(), w->objectName(), page->id())));
      }
    }
  }

  void narrow_windows_fold() {
    open();
    window_->resize(1440, 900);
    QTRY_VERIFY(window_->inspector()->isVisible());
    window_->resize(1024, 680);
    QTRY_VERIFY(!window_->inspector()->isVisible());
    QVERIFY(window_->findChild<InspectorStrip*>()->isVisible());
    window_->resize(1440, 900);
    QTRY_VERIFY(window_->inspector()->isVisible());
  }

  void topics_are_created_from_the_dialog() {
    open();
    window_->commands().run("topic.create");
    auto* dialog = window_->findChild<CreateTopicDialog*>();
    QVERIFY(dialog != nullptr);
    auto* name = dialog->findChild<QLineEdit*>();
    QTest::keyClicks(name, "pay ments");
    QCOMPARE(name->property("state").toString(), QStringLiteral("bad"));
    name->clear();
    QTest::keyClicks(name, "payments");
    QCOMPARE(name->property("state").toString(), QStringLiteral("good"));
    dialog->setPartitions(5);
    QTest::keyClick(name, Qt::Key_Return);
    QTRY_VERIFY(session_->view()->find_topic("payments") != nullptr);
    QCOMPARE(session_->view()->find_topic("payments")->partitions.size(), std::size_t{5});
    QTRY_VERIFY(window_->selection() == Selection::ofTopic("payments"));
  }

  void a_refused_topic_stays_in_the_dialog() {
    open();
    window_->commands().run("topic.create", {{"name", "payments"}});
    auto* dialog = window_->findChild<CreateTopicDialog*>();
    session_->failNext("The controller said no.");
    QTest::keyClick(dialog->findChild<QLineEdit*>(), Qt::Key_Return);
    QTest::qWait(20);
    QVERIFY(dialog->isVisible());
    bool said = false;
    for (const QLabel* label : dialog->findChildren<QLabel*>()) {
      said = said || (label->isVisible() && label->text() == "The controller said no.");
    }
    QVERIFY(said);
    dialog->reject();
  }

  void deleting_asks_and_tells_what_is_lost() {
    open();
    window_->select(Selection::ofTopic("demo.orders"));
    window_->commands().run("topic.delete");
    auto* question = window_->findChild<QuestionDialog*>();
    QVERIFY(question != nullptr);
    QString words;
    for (const QLabel* label : question->findChildren<QLabel*>()) {
      words += label->text() + ' ';
    }
    QVERIFY(words.contains("demo.billing"));
    QVERIFY(session_->view()->find_topic("demo.orders") != nullptr);
    for (Button* button : question->findChildren<Button*>()) {
      if (button->text() == "Delete topic") {
        button->click();
      }
    }
    QTRY_VERIFY(session_->view()->find_topic("demo.orders") == nullptr);
    QTRY_VERIFY(window_->selection().none());
  }

  void closing_with_foreign_records_asks() {
    open();
    session_->setForeignRecords(12);
    QTimer::singleShot(50, this, [] {
      auto* question = qobject_cast<QuestionDialog*>(QApplication::activeModalWidget());
      QVERIFY(question != nullptr);
      question->reject();
    });
    QVERIFY(!window_->close());
    QVERIFY(window_->isVisible());
    session_->setForeignRecords(0);
    QVERIFY(window_->close());
  }

  void the_hint_goes_when_an_app_connects() {
    open({}, true);
    QTRY_VERIFY(window_->coachMark() != nullptr);
    // One record on its way is no app.
    session_->setForeignRecords(1);
    session_->tick(16);
    session_->setForeignRecords(0);
    session_->tick(16);
    QTest::qWait(50);
    QVERIFY(window_->coachMark() != nullptr);
    session_->setForeignRecords(1);
    for (int i = 0; i < 40 && window_->coachMark() != nullptr; ++i) {
      session_->tick(16);
      QTest::qWait(100);
    }
    QVERIFY(window_->coachMark() == nullptr);
  }

  void both_themes_repaint_everything() {
    open();
    Theme::current().toggleMode();
    QTest::qWait(30);
    const QImage light = window_->grab().toImage();
    Theme::current().toggleMode();
    QTest::qWait(30);
    const QImage dark = window_->grab().toImage();
    // The four bars and the page: no part may keep the other theme's ground.
    for (const QPoint& at : {QPoint(300, 3), QPoint(4, 500), QPoint(700, 500), QPoint(1300, 700), QPoint(700, 890)}) {
      QVERIFY2(qGray(light.pixel(at)) > 200, qPrintable(QStringLiteral("%1,%2").arg(at.x()).arg(at.y())));
      QVERIFY2(qGray(dark.pixel(at)) < 60, qPrintable(QStringLiteral("%1,%2").arg(at.x()).arg(at.y())));
    }
  }

  void copying_gives_the_address() {
    open();
    window_->select(Selection::ofPartition("demo.orders", 2));
    window_->commands().run("selection.copy");
    QCOMPARE(QApplication::clipboard()->text(), QStringLiteral("demo.orders/2"));
    window_->commands().run("connect.copy");
    QCOMPARE(QApplication::clipboard()->text(), QStringLiteral("localhost:9092"));
  }
};

QTEST_MAIN(TestWindow)
#include "tst_window.moc"
