// SPDX-License-Identifier: Apache-2.0
// The filter box as a person uses it: typing, colours of its state, suggestions, chips, history, Stop.
#include <QAbstractButton>
#include <QAbstractItemView>
#include <QAccessible>
#include <QCompleter>
#include <QDialog>
#include <QLineEdit>
#include <QSignalSpy>
#include <QTest>

#include "ui/filter/filter_box.h"
#include "ui/filter/filter_chips.h"
#include "ui/filter/record_fields.h"
#include "ui/theme/theme.h"

using namespace hw::ui;  // NOLINT(google-build-using-namespace): a test

class TestFilterBox : public QObject {
  Q_OBJECT

  struct Box {
    Box() {
      box.resize(700, 60);
      box.show();
      box.activateWindow();
      box.focusText();
      QCoreApplication::processEvents();
    }
    FilterBox box{filter::record_vocabulary(), QString()};
    QSignalSpy applied{&box, &FilterBox::applied};
  };

 private slots:
  void initTestCase() { Theme::current().install(*qApp); }

  void typingIsJudged() {
    Box b;
    QCOMPARE(b.box.state(), FilterBox::State::empty);
    QTest::keyClicks(b.box.edit(), QStringLiteral("offset =="));
    QCOMPARE(b.box.state(), FilterBox::State::incomplete);
    QVERIFY(b.box.statusText().contains(QStringLiteral("needs a number after ==")));
    QTest::keyClicks(b.box.edit(), QStringLiteral(" 7"));
    QCOMPARE(b.box.state(), FilterBox::State::valid);
    QCOMPARE(b.applied.size(), 0);
    QTRY_COMPARE(b.applied.size(), 1);  // after the pause
    QVERIFY(b.box.filtering() && !b.box.program()->empty());
    QTest::keyClicks(b.box.edit(), QStringLiteral(" &&& "));
    QCOMPARE(b.box.state(), FilterBox::State::error);
    QCOMPARE(b.box.appliedText(), QStringLiteral("offset == 7"));  // what was good stays in force
  }

  void countsSpeak() {
    Box b;
    b.box.setText(QStringLiteral("partition == 2"));
    b.box.setCounts({.shown = 312, .total = 48'211, .percent = 41});
    QCOMPARE(b.box.state(), FilterBox::State::scanning);
    QVERIFY(b.box.statusText().contains(QStringLiteral("312 so far, 41 %")));
    QSignalSpy stop(&b.box, &FilterBox::stopRequested);
    QAbstractButton* button = nullptr;
    for (auto* one : b.box.findChildren<QAbstractButton*>()) {
      button = one->text() == QLatin1String("Stop") ? one : button;
    }
    QVERIFY(button != nullptr && button->isVisible());
    button->click();
    QCOMPARE(stop.size(), 1);
    b.box.setCounts({.shown = 312, .total = 48'211, .scanned_ms = 200});
    QCOMPARE(b.box.state(), FilterBox::State::valid);
    QCOMPARE(b.box.statusText(), QStringLiteral("312 of 48,211"));
    QVERIFY(!button->isVisible());
    b.box.setCounts({.shown = 0, .total = 48'211, .scanned_ms = 200});
    QCOMPARE(b.box.state(), FilterBox::State::hides_all);
  }

  void suggestionsAreTaken() {
    Box b;
    QTest::keyClicks(b.box.edit(), QStringLiteral("compr"));
    auto* completer = b.box.findChild<QCompleter*>();
    QVERIFY(completer->popup()->isVisible());
    QTest::keyClick(completer->popup(), Qt::Key_Down);
    QTest::keyClick(completer->popup(), Qt::Key_Return);
    QCOMPARE(b.box.text(), QStringLiteral("compression "));
    QTest::keyClicks(b.box.edit(), QStringLiteral("== \"zs"));
    QVERIFY(completer->popup()->isVisible());
    QTest::keyClick(completer->popup(), Qt::Key_Down);
    QTest::keyClick(completer->popup(), Qt::Key_Return);
    QCOMPARE(b.box.text(), QStringLiteral("compression == \"zstd\" "));
    QVERIFY(b.box.parsed().ok());
  }

  void aWordThatBeginsAFieldWaits() {
    Box b;
    QTest::keyClicks(b.box.edit(), QStringLiteral("ke"));
    QTest::qWait(FilterBox::kDelayMs * 2);  // what does not happen can only be seen by looking for a while
    QCOMPARE(b.applied.size(), 0);
    QTest::keyClick(b.box.edit(), Qt::Key_Return);
    QCOMPARE(b.applied.size(), 1);
  }

  void escapeClearsThenLeaves() {
    Box b;
    QSignalSpy leave(&b.box, &FilterBox::leaveRequested);
    b.box.setText(QStringLiteral("partition == 2"));
    QTest::keyClick(b.box.edit(), Qt::Key_Escape);
    QVERIFY(!b.box.filtering());
    QCOMPARE(b.applied.size(), 2);
    QCOMPARE(leave.size(), 0);
    QTest::keyClick(b.box.edit(), Qt::Key_Escape);
    QCOMPARE(leave.size(), 1);
    QTest::keyClick(b.box.edit(), Qt::Key_Down);
    QCOMPARE(leave.size(), 2);
  }

  void chipsAreConditions() {
    Box b;
    b.box.setChipsShown(true);
    auto* chips = b.box.findChild<FilterChips*>();
    b.box.setText(QStringLiteral("partition == 2 && (key == a || key == b) && !tombstone"));
    QCOMPARE(chips->texts().size(), 3);
    chips->removePart(1);
    QCOMPARE(b.box.text(), QStringLiteral("partition == 2 && !tombstone"));
    chips->addDialog();
    auto* dialog = b.box.window()->findChild<QDialog*>(QStringLiteral("addCondition"));
    QVERIFY(dialog != nullptr);
    QLineEdit* value = nullptr;
    for (auto* edit : dialog->findChildren<QLineEdit*>()) {
      value = edit->accessibleName() == QLatin1String("Value") ? edit : value;
    }
    QVERIFY(value != nullptr);
    QTest::keyClicks(value, QStringLiteral("tenant-7"));
    dialog->accept();
    QCOMPARE(b.box.text(), QStringLiteral("partition == 2 && !tombstone && key == \"tenant-7\""));
    // The cross of a chip, with the mouse.
    QWidget* first = nullptr;
    for (auto* one : chips->findChildren<QAbstractButton*>()) {
      first = one->text() == QLatin1String("partition == 2") ? one : first;
    }
    QVERIFY(first != nullptr);
    QTest::mouseClick(first, Qt::LeftButton, {}, QPoint(first->width() - 8, first->height() / 2));
    QTRY_COMPARE(b.box.text(), QStringLiteral("!tombstone && key == \"tenant-7\""));
  }

  void conditionsAreWellFormed() {
    for (const filter::Field& field : filter::record_vocabulary()->fields()) {
      for (const char* op : {"==", "!=", "contains", "^", "~", "is null", "is empty", "exists", ">=", "<="}) {
        const bool text = field.type == filter::Type::text;
        const bool needs_text = QLatin1String(op) != QLatin1String("==") && QLatin1String(op) != QLatin1String("!=") && !QString::fromLatin1(op).contains(QLatin1Char('='));
        if (!text && needs_text) {
          continue;
        }
        QString value = QStringLiteral("a\"b");
        if (field.type == filter::Type::number || field.type == filter::Type::size) {
          value = QStringLiteral("12");
        } else if (field.type == filter::Type::time) {
          value = QStringLiteral("12:03");
        } else if (!field.values.isEmpty()) {
          value = field.values.front();
        }
        const QString condition = make_condition(field, QStringLiteral("name"), QString::fromLatin1(op), value);
        const filter::Parsed parsed = filter::parse(condition, *filter::record_vocabulary());
        QVERIFY2(parsed.ok(), qPrintable(condition + QStringLiteral(": ") + (parsed.problem ? parsed.problem->text : QString())));
      }
    }
  }

  void historyAndNames() {
    Box b;
    b.box.setText(QStringLiteral("partition == 1"));
    b.box.setText(QStringLiteral("partition == 2"));
    b.box.setText(QStringLiteral("partition == 1"));
    QCOMPARE(b.box.history(), QStringList({QStringLiteral("partition == 1"), QStringLiteral("partition == 2")}));
    b.box.saveNamed(QStringLiteral("mine"), b.box.appliedText());
    QCOMPARE(b.box.named().size(), 1);
    b.box.setText(QString());
    QAbstractButton* mine = nullptr;
    for (auto* one : b.box.findChildren<QAbstractButton*>()) {
      mine = one->text() == QLatin1String("mine") ? one : mine;
    }
    QVERIFY(mine != nullptr && mine->isVisible());
    mine->click();
    QCOMPARE(b.box.appliedText(), QStringLiteral("partition == 1"));
    b.box.removeNamed(QStringLiteral("mine"));
    QVERIFY(b.box.named().isEmpty());
  }

  void everythingHasAName() {
    Box b;
    b.box.setChipsShown(true);
    b.box.setText(QStringLiteral("partition == 2 && !tombstone"));
    QCoreApplication::processEvents();
    for (QWidget* widget : b.box.findChildren<QWidget*>()) {
      if (widget->focusPolicy() == Qt::NoFocus || !widget->isVisible()) {
        continue;
      }
      QAccessibleInterface* face = QAccessible::queryAccessibleInterface(widget);
      QVERIFY2(face != nullptr && !face->text(QAccessible::Name).isEmpty(), widget->metaObject()->className());
    }
  }
};

QTEST_MAIN(TestFilterBox)
#include "tst_filter_box.moc"
