// SPDX-License-Identifier: Apache-2.0
// The Messages page over a fake session: filter, volume, isolation, newest per key, export, menus, and its four states.
#include <QAbstractButton>
#include <QApplication>
#include <QClipboard>
#include <QFile>
#include <QLineEdit>
#include <QLocale>
#include <QMenu>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QTreeWidget>

#include "tests/ui/support/fake_session.h"
#include "ui/filter/filter_box.h"
#include "ui/panels/record_panel.h"
#include "ui/theme/theme.h"
#include "ui/views/messages_page.h"
#include "ui/views/record_detail.h"
#include "ui/views/record_model.h"
#include "ui/views/table_notice.h"
#include "ui/views/volume_strip.h"
#include "ui/window/controls.h"

using namespace hw::ui;  // NOLINT(google-build-using-namespace): a test
using hw::Bytes;

namespace {

struct Fixture {
  explicit Fixture(int ticks = 400) {
    for (int i = 0; i < ticks; ++i) {
      session.tick(100);
    }
    page.resize(944, 760);
    page.attach(&session);
    page.show();
    QCoreApplication::processEvents();
    QObject::connect(&page, &Page::selectionRequested, &page, [this](const Selection& s) { page.setSelection(s); });
    frame(0);
  }
  void frame(int ms) {
    if (ms > 0) {
      session.tick(ms);
    }
    page.deliverFrame();
    for (int i = 0; i < 5; ++i) {
      QCoreApplication::processEvents();
    }
  }
  [[nodiscard]] bool scanned() const { return !page.scan()->running() && page.scan()->progress().done; }
  QAction* action(QMenu& menu, const QString& path) {
    page.fillRecordMenu(menu);
    QMenu* at = &menu;
    QAction* found = nullptr;
    for (const QString& part : path.split(QLatin1Char('/'))) {
      found = nullptr;
      for (QAction* one : at->actions()) {
        if (one->text().startsWith(part)) {
          found = one;
          break;
        }
      }
      if (found == nullptr) {
        return nullptr;
      }
      at = found->menu() != nullptr ? found->menu() : at;
    }
    return found;
  }
  FakeSession session;
  MessagesPage page;
};

std::int64_t all_records(const FakeSession& session) {
  std::int64_t sum = 0;
  for (int p = 0; p < 3; ++p) {
    sum += session.records("demo.orders", p);
  }
  return sum;
}

}  // namespace

class TestMessagesFilter : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() { Theme::current().install(*qApp); }

  void typingFilters() {
    Fixture f(2'000);
    QVERIFY(f.page.focusFilter());
    QTest::keyClicks(f.page.filterBox()->edit(), QStringLiteral("key == \"A\" && !tombstone"));
    QTest::keyClick(f.page.filterBox()->edit(), Qt::Key_Return);
    QTRY_VERIFY(f.scanned());
    RecordModel* m = f.page.records();
    QVERIFY(m->rowCount() > 10);
    for (int i = 0; i < m->rowCount(); ++i) {
      QCOMPARE(m->row(i).key->text(), std::string_view("A"));
      QVERIFY(m->row(i).value.has_value());
      QVERIFY(i == 0 || m->row(i).timestamp_ms >= m->row(i - 1).timestamp_ms);
    }
    QCOMPARE(f.page.filterBox()->statusText(),
             QStringLiteral("%1 of %2").arg(QLocale().toString(m->rowCount()), QLocale().toString(static_cast<qlonglong>(all_records(f.session)))));
    QVERIFY2(f.page.noteText().contains(QStringLiteral("scanned 100 %")), qPrintable(f.page.noteText()));
    // What arrives later is judged too, below.
    const int before = m->rowCount();
    f.frame(10'000);
    f.frame(0);
    QTRY_VERIFY(m->rowCount() > before);
    QCOMPARE(m->row(m->rowCount() - 1).key->text(), std::string_view("A"));
    // Escape: everything again.
    QTest::keyClick(f.page.filterBox()->edit(), Qt::Key_Escape);
    QTRY_VERIFY(m->rowCount() > before && !f.page.filterBox()->filtering());
  }

  void hidingEverythingIsSaid() {
    Fixture f;
    f.page.filterBox()->setText(QStringLiteral("key == \"nobody\""));
    QTRY_VERIFY(f.page.notice()->isVisible());
    QVERIFY(f.page.notice()->title().contains(QStringLiteral("hides everything")));
    QVERIFY(f.page.notice()->text().contains(QLocale().toString(static_cast<qlonglong>(all_records(f.session)))));
    QCOMPARE(f.page.filterBox()->state(), FilterBox::State::hides_all);
    f.page.notice()->action()->click();
    QTRY_VERIFY(f.page.records()->rowCount() > 0);
    QVERIFY(!f.page.notice()->isVisible());
  }

  void anEmptyTopicSaysWhatWillAppear() {
    FakeSession session;
    session.setDemoTraffic(false);
    MessagesPage page;
    page.resize(944, 700);
    page.attach(&session);
    page.show();
    page.deliverFrame();
    QTRY_VERIFY(page.notice()->isVisible());
    QSignalSpy commands(&page, &Page::commandRequested);
    page.notice()->action()->click();
    QCOMPARE(commands.size(), 1);
    QCOMPARE(commands[0][0].toString(), QStringLiteral("produce.open"));
  }

  void aFailureIsSaidAndTriedAgain() {
    Fixture f;
    f.session.failNext(QStringLiteral("NOT_LEADER_OR_FOLLOWER"));
    f.page.setIsolation(Isolation::raw);
    // One of three partitions failed: the others are shown. With one partition nothing is.
    f.session.setDemoTraffic(false);
    f.page.setSelection(Selection::ofPartition(QStringLiteral("demo.orders"), 1));
    QTRY_VERIFY(f.page.records()->rowCount() > 0);
    f.session.failNext(QStringLiteral("NOT_LEADER_OR_FOLLOWER"));
    f.page.setIsolation(Isolation::all);
    QTRY_VERIFY(f.page.notice()->isVisible());
    QCOMPARE(f.page.notice()->text(), QStringLiteral("NOT_LEADER_OR_FOLLOWER"));
    f.page.notice()->action()->click();
    QTRY_VERIFY(f.page.records()->rowCount() > 0);
    QVERIFY(!f.page.notice()->isVisible());
  }

  void withoutBatchesFiltersAreNotAvailable() {
    FakeSession session;
    session.setBatchesAvailable(false);
    for (int i = 0; i < 100; ++i) {
      session.tick(100);
    }
    MessagesPage page;
    page.resize(944, 700);
    page.attach(&session);
    page.show();
    page.deliverFrame();
    QTRY_VERIFY(page.records()->rowCount() > 0);
    page.filterBox()->setText(QStringLiteral("partition == 1"));
    QTRY_VERIFY(page.notice()->isVisible());
    QVERIFY(page.notice()->title().contains(QStringLiteral("not available")));
    QVERIFY(page.notice()->text().contains(QStringLiteral("embedded engine")));
    page.notice()->action()->click();
    QTRY_VERIFY(page.records()->rowCount() > 0);
  }

  void isolationDecidesAboutMarkers() {
    Fixture f(50);
    f.session.setDemoTraffic(false);
    RecordRow marker;
    marker.control = true;
    marker.transactional = true;
    marker.producer_id = 4'011;
    marker.key = Bytes::copy_of(std::string_view("\0\0\0\0", 4));
    marker.value = Bytes::copy_of(std::string_view("\0\0\0\0\0\0", 6));
    f.session.appendRecord("demo.orders", 1, marker);
    const auto markers = [&f] {
      int count = 0;
      for (int i = 0; i < f.page.records()->rowCount(); ++i) {
        count += f.page.records()->row(i).control ? 1 : 0;
      }
      return count;
    };
    for (const bool filtered : {false, true}) {
      f.page.filterBox()->setText(filtered ? QStringLiteral("partition == 1") : QString());
      f.page.setIsolation(Isolation::all);
      QTRY_VERIFY(f.page.records()->rowCount() > 0 && !f.page.scan()->running() && !f.page.feed()->busy());
      QCOMPARE(markers(), 0);
      f.page.setIsolation(Isolation::raw);
      QTRY_COMPARE(markers(), 1);
    }
    const QModelIndex last = f.page.records()->index(f.page.records()->rowCount() - 1, RecordModel::kValue);
    QVERIFY(last.data().toString().contains(QStringLiteral("ABORT marker, pid 4011")));
  }

  void newestPerKey() {
    Fixture f(1'000);
    f.page.setLatestPerKey(true);
    QTRY_VERIFY(f.scanned() && f.page.records()->rowCount() > 0);
    QCOMPARE(f.page.records()->rowCount(), 6);  // A to F
    QVERIFY2(f.page.noteText().contains(QStringLiteral("6 keys")), qPrintable(f.page.noteText()));
    f.frame(3'000);
    f.frame(0);
    QCOMPARE(f.page.records()->rowCount(), 6);
    f.page.setLatestPerKey(false);
    QTRY_VERIFY(f.page.records()->rowCount() > 50);
  }

  void whereAGroupIs() {
    Fixture f(1'000);
    f.page.setTail(false);
    f.page.setFrom(RecordFeed::From::group);
    QTRY_COMPARE(f.page.records()->rowCount(), 3);  // demo.billing commits three behind the end of partition 2
    for (int i = 0; i < 3; ++i) {
      QCOMPARE(f.page.records()->row(i).partition, 2);
    }
  }

  void draggingSelectsASpan() {
    Fixture f(3'000);
    VolumeStrip* strip = f.page.volumeStrip();
    QTRY_VERIFY(!strip->volume().empty());
    QVERIFY(strip->bars().size() > 20);
    const QPoint from(strip->width() / 3, 20);
    const QPoint to(strip->width() / 2, 20);
    QTest::mousePress(strip, Qt::LeftButton, {}, from);
    QTest::mouseMove(strip, (from + to) / 2);
    QTest::mouseMove(strip, to);
    QTest::mouseRelease(strip, Qt::LeftButton, {}, to);
    QVERIFY(strip->selected().has_value());
    QVERIFY(f.page.filterBox()->appliedText().startsWith(QStringLiteral("time in \"")));
    QTRY_VERIFY(f.scanned() && f.page.records()->rowCount() > 0);
    const auto [first, last] = *strip->selected();
    for (int i = 0; i < f.page.records()->rowCount(); ++i) {
      QVERIFY(f.page.records()->row(i).timestamp_ms >= first && f.page.records()->row(i).timestamp_ms <= last);
    }
    QVERIFY(std::abs(strip->xOf(first) - from.x()) < 2 && std::abs(strip->xOf(last) - to.x()) < 2);
    // Other conditions stay, the span is replaced; the zone changes its words and not its meaning.
    f.page.filterBox()->addCondition(QStringLiteral("partition == 1"));
    f.page.setUtc(true);
    QCOMPARE(*strip->selected(), std::make_pair(first, last));
    QVERIFY(f.page.filterBox()->appliedText().contains(QStringLiteral("partition == 1")));
    QCOMPARE(f.page.filterBox()->appliedText().count(QStringLiteral("time in")), 1);
    strip->setFocus();
    QTest::keyClick(strip, Qt::Key_Right);
    QCOMPARE(f.page.filterBox()->appliedText().count(QStringLiteral("time in")), 1);
    QVERIFY(strip->selected()->first > first);
    QTest::mouseDClick(strip, Qt::LeftButton, {}, from);
    QCOMPARE(f.page.filterBox()->appliedText(), QStringLiteral("partition == 1"));
  }

  void rowsStayUnderThePointer() {
    Fixture f(2'000);
    f.page.filterBox()->setText(QStringLiteral("!tombstone"));
    QTRY_VERIFY(f.scanned() && f.page.records()->rowCount() > 100);
    QScrollBar* bar = f.page.table()->verticalScrollBar();
    QCOMPARE(bar->value(), bar->maximum());  // the newest are shown
    // The pointer is over the list: what it points at stays, a pill counts what came.
    QEvent enter(QEvent::Enter);
    QCoreApplication::sendEvent(f.page.table()->viewport(), &enter);
    const int value = bar->value();
    const int count = f.page.records()->rowCount();
    f.frame(5'000);
    f.frame(0);
    QTRY_VERIFY(f.page.records()->rowCount() > count);
    QCOMPARE(bar->value(), value);
    QAbstractButton* pill = nullptr;
    for (auto* button : f.page.table()->findChildren<QAbstractButton*>()) {
      pill = button->isVisible() && button->text().startsWith(QLatin1String("+ ")) ? button : pill;
    }
    QVERIFY(pill != nullptr);
    QVERIFY(pill->text().endsWith(QStringLiteral("new")));
    pill->click();
    QCOMPARE(bar->value(), bar->maximum());
    QVERIFY(!pill->isVisible());
  }

  void theMenuFiltersCopiesAndResends() {
    Fixture f;
    int with_key = -1;
    for (int i = 0; i < f.page.records()->rowCount() && with_key < 0; ++i) {
      const RecordRow& row = f.page.records()->row(i);
      with_key = row.key && row.value && !row.value->empty() && !row.headers.empty() ? i : -1;
    }
    QVERIFY(with_key >= 0);
    f.page.table()->selectRow(with_key);
    const RecordRow row = f.page.records()->row(with_key);
    QTRY_VERIFY(f.page.detail()->anatomy() != nullptr);
    {
      QMenu menu;
      f.action(menu, QStringLiteral("Copy as/kcat"))->trigger();
      QVERIFY(QApplication::clipboard()->text().startsWith(QStringLiteral("kcat -b localhost:9092 -C -t demo.orders")));
      QMenu again;
      f.action(again, QStringLiteral("Copy as/hw"))->trigger();
      QCOMPARE(QApplication::clipboard()->text(),
               QStringLiteral("hw --bootstrap localhost:9092 consume demo.orders --partition %1 --from %2 --max 1").arg(row.partition).arg(row.offset));
      QMenu third;
      f.action(third, QStringLiteral("Copy as/Address"))->trigger();
      QCOMPARE(QApplication::clipboard()->text(), QStringLiteral("demo.orders/%1@%2").arg(row.partition).arg(row.offset));
    }
    {
      QSignalSpy produce(&f.page, &Page::produceRequested);
      QMenu menu;
      f.action(menu, QStringLiteral("Edit and resend"))->trigger();
      QCOMPARE(produce.size(), 1);
      const auto sent = produce[0][1].value<RecordRow>();
      QCOMPARE(sent.offset, row.offset);
      QVERIFY(sent.value == row.value);
      RecordPanel panel;
      panel.attach(&f.session);
      panel.show();
      const std::int64_t before = f.session.records("demo.orders", row.partition);
      panel.openWith(QStringLiteral("demo.orders"), sent, false);
      QVERIFY(panel.valid());
      panel.send();
      QTRY_COMPARE(panel.sent(), 1);
      QCOMPARE(f.session.records("demo.orders", row.partition), before + 1);
    }
    {
      QMenu menu;
      f.action(menu, QStringLiteral("Filter by key/Apply"))->trigger();
      QCOMPARE(f.page.filterBox()->appliedText(), QStringLiteral("key == \"%1\"").arg(QString::fromStdString(std::string(row.key->text()))));
      QTRY_VERIFY(f.scanned() && f.page.records()->rowCount() > 0);
      f.page.table()->selectRow(0);
      QMenu second;
      f.action(second, QStringLiteral("Filter by partition/And not"))->trigger();
      QVERIFY(f.page.filterBox()->appliedText().contains(QStringLiteral("&& not (partition == ")));
      QVERIFY(f.page.filterBox()->parsed().ok());
    }
  }

  void whatWasJustProducedArrivesByItself() {
    Fixture f(500);
    f.session.setDemoTraffic(false);
    for (const bool filtered : {false, true}) {
      f.page.filterBox()->setText(filtered ? QStringLiteral("key == \"A\"") : QString());
      QTRY_VERIFY(f.page.records()->rowCount() > 0 && !f.page.scan()->running() && !f.page.feed()->busy());
      const int before = f.page.records()->rowCount();
      RecordRow row;
      row.key = Bytes::copy_of("A");
      row.value = Bytes::copy_of("new");
      const std::int64_t offset = f.session.appendRecord("demo.orders", 0, row);
      f.page.setSelection(Selection::ofRecord(QStringLiteral("demo.orders"), 0, offset));
      f.frame(0);
      QTRY_COMPARE(f.page.records()->rowCount(), before + 1);
      QTRY_COMPARE(f.page.table()->currentIndex().row(), before);
      QVERIFY(f.page.tail());
      QCOMPARE(f.page.filterBox()->filtering(), filtered);
    }
    // An older one is gone to, and the filter that would hide it goes.
    f.page.setSelection(Selection::ofRecord(QStringLiteral("demo.orders"), 1, 3));
    QTRY_VERIFY(f.page.records()->rowCount() > 0 && f.page.records()->row(0).offset == 3);
    QVERIFY(!f.page.filterBox()->filtering());
  }

  void bytesAreResentAsTheyAre() {
    Fixture f(10);
    f.session.setDemoTraffic(false);
    RecordRow row;
    row.key = Bytes::copy_of(std::string_view("\xff\x00k", 3));
    row.value = Bytes::copy_of(std::string_view("a ${n} \xfe", 8));
    row.headers.emplace_back("a;b=c", Bytes::copy_of("x;y=\x01"));
    row.headers.emplace_back("gone", std::nullopt);
    row.partition = 1;
    RecordPanel panel;
    panel.attach(&f.session);
    panel.show();
    panel.openWith(QStringLiteral("demo.orders"), row, false);
    QVERIFY(panel.valid());
    const std::int64_t at = f.session.records("demo.orders", 1);
    panel.send();
    QTRY_COMPARE(panel.sent(), 1);
    ReadQuery query;
    query.topic = "demo.orders";
    query.partition = 1;
    query.from_offset = at;
    std::vector<RecordRow> rows;
    f.session.read(query, [&rows](const ReadAnswer& answer) { rows = answer.rows; });
    QTRY_COMPARE(rows.size(), std::size_t{1});
    QVERIFY(rows[0].key == row.key && rows[0].value == row.value && rows[0].headers == row.headers);
  }

  void whatIsShownIsExported() {
    Fixture f(1'000);
    f.page.filterBox()->setText(QStringLiteral("key == \"A\""));
    QTRY_VERIFY(f.scanned());
    QTemporaryDir folder;
    QSignalSpy finished(f.page.exporter(), &RecordExport::finished);
    QVERIFY(f.page.exportTo(folder.filePath(QStringLiteral("a.ndjson")), RecordExport::Format::ndjson));
    QTRY_COMPARE(finished.size(), 1);
    QFile file(folder.filePath(QStringLiteral("a.ndjson")));
    QVERIFY(file.open(QIODevice::ReadOnly));
    QCOMPARE(file.readAll().count('\n'), f.page.records()->rowCount());
    QVERIFY2(f.page.noteText().contains(QStringLiteral("a.ndjson")), qPrintable(f.page.noteText()));
  }

  void keysWalkTheList() {
    Fixture f;
    f.page.table()->setFocus();
    f.page.table()->selectRow(3);
    QTest::keyClick(f.page.table(), Qt::Key_Down);
    QCOMPARE(f.page.table()->currentIndex().row(), 4);
    QTest::keyClick(f.page.table(), Qt::Key_Return);
    QTRY_VERIFY(f.page.detail()->tree()->hasFocus() || !f.page.isActiveWindow());
  }
};

QTEST_MAIN(TestMessagesFilter)
#include "tst_messages_filter.moc"
