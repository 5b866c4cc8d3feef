// SPDX-License-Identifier: Apache-2.0
// How the window looks: every text readable in every theme on every page, UI scale, presentation, layouts, settings.
#include <QApplication>
#include <QMap>
#include <QSettings>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>
#include <memory>

#include "tests/ui/support/fake_session.h"
#include "tests/ui/window/text_probe.h"
#include "ui/dialogs/settings_dialog.h"
#include "ui/theme/theme.h"
#include "ui/window/bottom_dock.h"
#include "ui/window/controls.h"
#include "ui/window/event_caption.h"
#include "ui/window/inspector.h"
#include "ui/window/language.h"
#include "ui/window/main_window.h"
#include "ui/window/page.h"
#include "ui/window/rail.h"
#include "ui/window/status_bar.h"
#include "ui/window/top_bar.h"

using namespace hw::ui;

namespace {

// The ground of a text: the colour that most pixels around it have.
QColor ground_of(const QImage& image, const QRectF& where) {
  const QRect rect = where.toAlignedRect().adjusted(-1, 0, 1, 0).intersected(image.rect());
  QMap<QRgb, int> counts;
  for (int y = rect.top(); y <= rect.bottom(); ++y) {
    for (int x = rect.left(); x <= rect.right(); ++x) {
      ++counts[image.pixel(x, y)];
    }
  }
  QRgb best = 0;
  int most = 0;
  for (auto at = counts.cbegin(); at != counts.cend(); ++at) {
    if (at.value() > most) {
      most = at.value();
      best = at.key();
    }
  }
  return QColor(best);
}

}  // namespace

class TestLook : public QObject {
  Q_OBJECT

  std::unique_ptr<QTemporaryDir> home_;
  std::unique_ptr<FakeSession> session_;
  std::unique_ptr<MainWindow> window_;

  void open(MainWindow::Options options = {.persist = false, .hints = false}) {
    window_.reset();
    if (session_ == nullptr) {
      session_ = std::make_unique<FakeSession>(FakeSession::Options{.external = true});
      for (int i = 0; i < 40; ++i) {
        session_->tick(250);
      }
    }
    window_ = std::make_unique<MainWindow>(session_.get(), options);
    window_->resize(1440, 900);
    window_->show();
    QVERIFY(QTest::qWaitForWindowExposed(window_.get()));
    window_->activateWindow();
    QTRY_VERIFY(window_->isActiveWindow());
    QCoreApplication::processEvents();
  }

 private slots:
  void initTestCase() {
    home_ = std::make_unique<QTemporaryDir>();
    QVERIFY(home_->isValid());
    QCoreApplication::setOrganizationName(QStringLiteral("highwater-test"));
    QCoreApplication::setApplicationName(QStringLiteral("look"));
    QSettings::setDefaultFormat(QSettings::IniFormat);
    QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, home_->path());
    install_language(*qApp);
    Theme::current().install(*qApp);
    Theme::current().setChoice(Theme::Choice::dark);
  }
  void cleanup() {
    window_.reset();
    session_.reset();
    QSettings().clear();
    Theme::current().setPresenting(false);
    Theme::current().setScale(1.0);
    Theme::current().setChoice(Theme::Choice::dark);
  }

  void every_text_is_readable_data() {
    QTest::addColumn<QString>("theme");
    for (const char* name : {"light", "dark", "contrast-light", "contrast-dark"}) {
      QTest::newRow(name) << QString::fromLatin1(name);
    }
  }
  void every_text_is_readable() {
    QFETCH(QString, theme);
    open();
    window_->commands().run(QStringLiteral("theme.") + theme);
    window_->select(Selection::ofPartition("demo.orders", 1));
    const bool contrast = theme.startsWith(QLatin1String("contrast"));
    const Colors& c = Theme::current().colors();
    QStringList bad;
    int runs = 0;
    for (const Page* page : window_->pages()) {
      window_->showPage(page->id());
      for (int i = 0; i < 3; ++i) {
        session_->tick(100);
        QTest::qWait(30);
      }
      const QImage image = window_->grab().toImage();
      hw::test::TextProbe probe(window_->size());
      window_->render(&probe);
      for (const hw::test::TextRun& run : probe.runs()) {
        // Letters below 11 px stand inside record squares, which move between the two pictures.
        if (run.pixel_size < 10.5 || run.color == c.disabled || !QRectF(image.rect()).contains(run.rect.center())) {
          continue;
        }
        ++runs;
        const double ratio = contrast_ratio(run.color, ground_of(image, run.rect));
        if (ratio < (contrast ? 7.0 : 4.45)) {
          bad << QStringLiteral("%1: \"%2\" %3 on %4 = %5").arg(page->id(), run.text, run.color.name(), ground_of(image, run.rect).name()).arg(ratio, 0, 'f', 2);
        }
      }
    }
    bad.removeDuplicates();
    QVERIFY2(runs > 300, qPrintable(QString::number(runs)));
    QVERIFY2(bad.isEmpty(), qPrintable(bad.mid(0, 12).join('\n')));
  }

  void the_scale_moves_everything_and_comes_back() {
    open();
    window_->resize(1800, 1000);  // no other layout at either scale
    QTest::qWait(30);
    const int bar = window_->findChild<TopBar*>()->height();
    const int rail = window_->findChild<Rail*>()->width();
    const int inspector = window_->inspector()->width();
    const int dock = window_->dock()->height();
    QTest::keyClick(window_->currentPage(), Qt::Key_Plus, Qt::ControlModifier);
    QTRY_COMPARE(Theme::current().userScale(), 1.1);
    QTest::keyClick(window_->currentPage(), Qt::Key_Equal, Qt::ControlModifier);
    QTRY_COMPARE(Theme::current().userScale(), 1.25);
    QTRY_COMPARE(window_->findChild<TopBar*>()->height(), 55);
    QTRY_COMPARE(window_->findChild<Rail*>()->width(), 220);
    QTRY_VERIFY(window_->dock()->height() > dock);
    for (Button* button : window_->findChildren<Button*>()) {
      QVERIFY(!button->isVisible() || button->height() >= 26);
    }
    QTest::keyClick(window_->currentPage(), Qt::Key_0, Qt::ControlModifier);
    QTRY_COMPARE(window_->findChild<TopBar*>()->height(), bar);
    QTRY_COMPARE(window_->findChild<Rail*>()->width(), rail);
    QTRY_COMPARE(window_->inspector()->width(), inspector);
    QTRY_COMPARE(window_->dock()->height(), dock);
  }

  void sizes_end_where_they_began() {
    open();
    window_->resize(1800, 1000);
    QTest::qWait(30);
    QMap<QWidget*, QPair<QSize, QSize>> before;
    for (QWidget* w : window_->findChildren<QWidget*>()) {
      before[w] = {w->minimumSize(), w->maximumSize()};
    }
    for (const int percent : {110, 125, 140, 95, 100}) {
      window_->commands().run("scale.reset", {{"percent", percent}});
    }
    QTest::qWait(30);
    for (QWidget* w : window_->findChildren<QWidget*>()) {
      // Qt sizes the places of scroll bars itself, when it next lays them out.
      if (before.contains(w) && !w->objectName().startsWith(QLatin1String("qt_scrollarea_"))) {
        QVERIFY2((before[w] == QPair{w->minimumSize(), w->maximumSize()}), qPrintable(QStringLiteral("%1 in %2: %3x%4 is %5x%6, at most %7x%8 was %9")
                                .arg(w->metaObject()->className(), w->parentWidget()->metaObject()->className())
                                .arg(before[w].first.width()).arg(before[w].first.height())
                                .arg(w->minimumWidth()).arg(w->minimumHeight())
                                .arg(w->maximumWidth()).arg(w->maximumHeight()).arg(before[w].second.width())));
      }
    }
  }

  void presenting_leaves_the_page_and_large_text() {
    open();
    window_->commands().run("view.present");
    QTRY_VERIFY(window_->presenting());
    QVERIFY(!window_->findChild<Rail*>()->isVisible());
    QVERIFY(!window_->findChild<TopBar*>()->isVisible());
    QVERIFY(!window_->findChild<StatusBar*>()->isVisible());
    QVERIFY(!window_->inspector()->isVisible());
    QVERIFY(!window_->dock()->isVisible());
    hw::test::TextProbe probe(window_->size());
    window_->render(&probe);
    QVERIFY(!probe.runs().empty());
    for (const hw::test::TextRun& run : probe.runs()) {
      // Letters inside record squares are pictures of keys, not text.
      QVERIFY2(run.pixel_size >= 15.9 || run.text.size() <= 1, qPrintable(QStringLiteral("%1 %2").arg(run.text).arg(run.pixel_size)));
    }
    session_->deleteTopic("orders-state", [](const QString&) {});
    QTRY_VERIFY(window_->findChild<EventCaption*>() != nullptr);
    QVERIFY(window_->findChild<EventCaption*>()->sentence().contains(QStringLiteral("orders-state")));
    QVERIFY(window_->findChild<EventCaption*>()->isVisible());
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Escape);
    QTRY_VERIFY(!window_->presenting());
    QVERIFY(window_->findChild<Rail*>()->isVisible());
    QCOMPARE(Theme::current().scale(), 1.0);
  }

  void what_was_chosen_is_there_next_time() {
    open({.persist = true, .hints = false});
    window_->commands().run("theme.contrast-light");
    window_->commands().run("scale.reset", {{"percent", 125}});
    window_->commands().run("motion.toggle");
    window_->commands().run("layout.debug");
    QCOMPARE(window_->currentPage()->id(), QStringLiteral("partitions"));
    window_->dock()->setOpen(false);
    window_->close();
    Theme::current().setChoice(Theme::Choice::dark);
    Theme::current().setScale(1.0);
    Theme::current().setReduceMotion(false);
    open({.persist = true, .hints = false});
    QCOMPARE(Theme::current().mode(), Theme::Mode::contrast_light);
    QCOMPARE(Theme::current().userScale(), 1.25);
    QVERIFY(Theme::current().reduceMotion());
    QCOMPARE(window_->profile(), QStringLiteral("debug"));
    QVERIFY(!window_->dock()->isOpen());
    window_->commands().run("layout.reset");
    QVERIFY(window_->dock()->isOpen());
    window_->commands().run("layout.operate");
    QVERIFY(!window_->dock()->isOpen());
    QCOMPARE(window_->currentPage()->id(), QStringLiteral("topics"));
    Theme::current().setReduceMotion(false);
  }

  void the_desktop_is_followed_until_somebody_chooses() {
    Theme& theme = Theme::current();
    theme.setChoice(Theme::Choice::system);
    theme.setSystemDark(false);
    QVERIFY(!theme.dark());
    theme.setSystemDark(true);
    QVERIFY(theme.dark());
    theme.setChoice(Theme::Choice::light);
    theme.setSystemDark(false);
    theme.setSystemDark(true);
    QVERIFY(!theme.dark());
  }

  void settings_act_at_once() {
    open();
    window_->commands().run("app.settings");
    auto* dialog = window_->findChild<SettingsDialog*>();
    QVERIFY(dialog != nullptr);
    QTRY_VERIFY(dialog->isVisible());
    const auto controls = dialog->findChildren<SegmentedControl*>();
    QVERIFY(controls.size() >= 3);
    controls[0]->setFocus();
    while (controls[0]->current() < 4) {
      QTest::keyClick(controls[0], Qt::Key_Right);
    }
    QCOMPARE(Theme::current().mode(), Theme::Mode::contrast_dark);
    controls[1]->setFocus();
    QTest::keyClick(controls[1], Qt::Key_Right);
    QVERIFY(Theme::current().userScale() > 1.0);
    dialog->accept();
  }
};

QTEST_MAIN(TestLook)
#include "tst_look.moc"
