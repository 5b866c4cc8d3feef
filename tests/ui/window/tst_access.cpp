// SPDX-License-Identifier: Apache-2.0
// What assistive technology finds: the accessibility tree of the whole window on each page, and where Tab goes.
#include <QAccessible>
#include <QApplication>
#include <QDialog>
#include <QSet>
#include <QTest>
#include <memory>

#include "tests/ui/support/fake_session.h"
#include "ui/theme/theme.h"
#include "ui/views/object_canvas.h"
#include "ui/window/language.h"
#include "ui/window/main_window.h"
#include "ui/window/page.h"

using namespace hw::ui;

namespace {

QString path_of(QAccessibleInterface* at) {
  QStringList path;
  for (int i = 0; at != nullptr && i < 12; ++i, at = at->parent()) {
    path.prepend(at->object() != nullptr ? QString::fromLatin1(at->object()->metaObject()->className()) : QStringLiteral("item"));
  }
  return path.join('/');
}

struct Walk {
  QStringList bad;
  int seen = 0;
  int items = 0;  // children that are painted, not widgets

  void visit(QAccessibleInterface* at, int depth) {
    if (at == nullptr || depth > 40 || seen > 20'000) {
      return;
    }
    ++seen;
    const QAccessible::State state = at->state();
    if (state.invisible) {
      return;
    }
    const bool widget = at->object() != nullptr && at->object()->isWidgetType();
    // Cells say their text; a table with nothing to say in a cell is right to say nothing.
    const bool cell = at->role() == QAccessible::Cell || at->role() == QAccessible::ColumnHeader || at->role() == QAccessible::RowHeader;
    if (state.focusable && !state.disabled && !cell) {
      if (at->text(QAccessible::Name).isEmpty() && at->text(QAccessible::Value).isEmpty()) {
        bad << QStringLiteral("no name: %1").arg(path_of(at));
      }
      if (at->role() == QAccessible::NoRole) {
        bad << QStringLiteral("no role: %1").arg(path_of(at));
      }
    }
    if (!widget && !cell && at->role() != QAccessible::ScrollBar) {
      ++items;
      if (at->role() == QAccessible::ListItem && at->text(QAccessible::Name).isEmpty()) {
        bad << QStringLiteral("item without a sentence: %1").arg(path_of(at));
      }
    }
    // Rows of long tables are alike; the first hundred children tell.
    const int children = std::min(at->childCount(), 100);
    for (int i = 0; i < children; ++i) {
      visit(at->child(i), depth + 1);
    }
  }
};

}  // namespace

class TestAccess : public QObject {
  Q_OBJECT

  std::unique_ptr<FakeSession> session_;
  std::unique_ptr<MainWindow> window_;

 private slots:
  void initTestCase() {
    install_language(*qApp);
    Theme::current().install(*qApp);
    session_ = std::make_unique<FakeSession>(FakeSession::Options{.external = true});
    for (int i = 0; i < 40; ++i) {
      session_->tick(250);
    }
    window_ = std::make_unique<MainWindow>(session_.get(), MainWindow::Options{.persist = false, .hints = false});
    window_->resize(1440, 900);
    window_->show();
    QVERIFY(QTest::qWaitForWindowExposed(window_.get()));
    window_->activateWindow();
    QTRY_VERIFY(window_->isActiveWindow());
  }
  void cleanupTestCase() {
    window_.reset();
    session_.reset();
  }

  void every_focusable_has_a_name_and_a_role_data() {
    QTest::addColumn<QString>("page");
    for (const Page* page : window_->pages()) {
      QTest::newRow(qPrintable(page->id())) << page->id();
    }
  }
  void every_focusable_has_a_name_and_a_role() {
    QFETCH(QString, page);
    window_->showPage(page);
    session_->tick(100);
    QTest::qWait(100);
    Walk walk;
    walk.visit(QAccessible::queryAccessibleInterface(window_.get()), 0);
    QVERIFY2(walk.seen > 40, qPrintable(QString::number(walk.seen)));
    walk.bad.removeDuplicates();
    QVERIFY2(walk.bad.isEmpty(), qPrintable(walk.bad.mid(0, 15).join('\n')));
  }

  void painted_canvases_describe_what_they_show() {
    for (const char* id : {"cluster", "partitions"}) {
      window_->showPage(QString::fromLatin1(id));
      session_->tick(100);
      QTest::qWait(100);
      int objects = 0;
      for (ObjectCanvas* canvas : window_->currentPage()->findChildren<ObjectCanvas*>()) {
        if (!canvas->isVisible()) {
          continue;
        }
        QAccessibleInterface* list = QAccessible::queryAccessibleInterface(canvas);
        QVERIFY(list != nullptr);
        QVERIFY(!list->text(QAccessible::Name).isEmpty());
        QCOMPARE(list->childCount(), canvas->objectCount());
        for (int i = 0; i < list->childCount(); ++i) {
          QVERIFY(!list->child(i)->text(QAccessible::Name).isEmpty());
          ++objects;
        }
      }
      QVERIFY2(objects >= 3, qPrintable(QStringLiteral("%1: %2").arg(QString::fromLatin1(id)).arg(objects)));
    }
  }

  void tab_goes_round_the_window_once() {
    // From the page: through it, inspector, dock, top bar, rail, and back; nothing twice, nothing hidden.
    for (const Page* page : window_->pages()) {
      window_->showPage(page->id());
      QTest::qWait(50);
      QWidget* first = QApplication::focusWidget();
      QVERIFY(first != nullptr);
      QSet<QWidget*> seen{first};
      QWidget* at = first;
      int steps = 0;
      for (; steps < 400; ++steps) {
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Tab);
        QWidget* next = QApplication::focusWidget();
        QVERIFY(next != nullptr);
        QVERIFY2(next->isVisible() && next->isEnabled(), next->metaObject()->className());
        if (next == first && seen.size() > 1) {
          break;  // a canvas keeps the focus while Tab walks through its objects
        }
        if (next != at) {
          QVERIFY2(!seen.contains(next), qPrintable(QStringLiteral("%1: %2 again").arg(page->id(), next->metaObject()->className())));
          seen.insert(next);
          at = next;
        }
      }
      QVERIFY2(steps < 400, qPrintable(QStringLiteral("%1: %2 of %3 widgets, stays at %4 %5").arg(page->id()).arg(seen.size()).arg(steps).arg(at->metaObject()->className(), at->accessibleName())));
      QVERIFY2(seen.size() > 8, qPrintable(page->id()));
    }
  }

  void dialogs_have_names_too() {
    for (const char* id : {"topic.create", "app.settings", "cluster.keep"}) {
      window_->commands().run(QString::fromLatin1(id));
      QTRY_VERIFY2(QApplication::activeModalWidget() != nullptr, id);
      auto* dialog = qobject_cast<QDialog*>(QApplication::activeModalWidget());
      Walk walk;
      walk.visit(QAccessible::queryAccessibleInterface(dialog), 0);
      walk.bad.removeDuplicates();
      QVERIFY2(walk.bad.isEmpty(), qPrintable(QString::fromLatin1(id) + ": " + walk.bad.join('\n')));
      dialog->reject();
      QTRY_VERIFY(QApplication::activeModalWidget() == nullptr);
    }
  }
};

QTEST_MAIN(TestAccess)
#include "tst_access.moc"
