// SPDX-License-Identifier: Apache-2.0
#include <QAccessible>
#include <QAction>
#include <QApplication>
#include <QElapsedTimer>
#include <QHeaderView>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPlainTextEdit>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTableView>
#include <QTemporaryDir>
#include <QTreeWidget>
#include <QtTest>

#include "engine/wire/record/batch_builder.h"
#include "tests/ui/support/fake_session.h"
#include "ui/models/record_history.h"
#include "ui/panels/record_panel.h"
#include "ui/session/batch_anatomy.h"
#include "ui/theme/theme.h"
#include "ui/views/hex_view.h"
#include "ui/views/messages_page.h"
#include "ui/views/partition_choice.h"
#include "ui/views/record_detail.h"
#include "ui/views/record_model.h"
#include "ui/views/record_text.h"
#include "ui/views/table_notice.h"

using namespace hw::ui;
using hw::Bytes;

namespace {

struct Fixture {
  explicit Fixture(int ticks = 400) {
    for (int i = 0; i < ticks; ++i) {
      session.tick(100);
    }
    page.resize(944, 700);
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
  FakeSession session;
  MessagesPage page;
};

}  // namespace

class TestMessages : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() { Theme::current().install(*qApp); }
  void values_are_judged_data();
  void values_are_judged();
  void json_keeps_every_digit();
  void record_json_is_json();
  void a_large_value_costs_its_head();
  void newest_records_come_first();
  void a_large_topic_begins_with_what_is_newest();
  void what_takes_long_is_said();
  void newest_is_the_newest_of_all_partitions();
  void earlier_pages_leave_no_gap();
  void tail_appends_in_order();
  void from_offset_and_earlier();
  void the_tail_goes_on_after_a_record_was_looked_at();
  void newer_ones_that_wait_are_said();
  void selection_is_shown();
  void detail_follows_the_row();
  void rows_do_not_move_while_reading();
  void an_order_is_chosen();
  void in_an_order_rows_do_not_move_either();
  void the_model_forgets_what_came_first();
  void records_before_here_are_deleted();
  void history_of_a_record();
  void partition_choice_data();
  void partition_choice();
  void headers_are_parsed_data();
  void headers_are_parsed();
  void topic_names_data();
  void topic_names();
  void produce_panel_sends_what_was_typed();
  void produce_panel_null_is_not_empty();
  void produce_panel_repeats_and_stops();
  void everything_has_a_name();
};

void TestMessages::values_are_judged_data() {
  QTest::addColumn<QByteArray>("bytes");
  QTest::addColumn<bool>("null");
  QTest::addColumn<int>("kind");
  QTest::newRow("null") << QByteArray() << true << int(ValueKind::null);
  QTest::newRow("empty") << QByteArray() << false << int(ValueKind::empty);
  QTest::newRow("json") << QByteArray("{\"a\":1}") << false << int(ValueKind::json);
  QTest::newRow("json array") << QByteArray(" [1,2]") << false << int(ValueKind::json);
  QTest::newRow("broken json") << QByteArray("{\"a\":") << false << int(ValueKind::text);
  QTest::newRow("text") << QByteArray("h\xc3\xa9llo\n") << false << int(ValueKind::text);
  QTest::newRow("the word null") << QByteArray("null") << false << int(ValueKind::text);
  QTest::newRow("binary") << QByteArray("\x00\x01\x02", 3) << false << int(ValueKind::binary);
  QTest::newRow("broken utf-8") << QByteArray("\xff\xfe") << false << int(ValueKind::binary);
}

void TestMessages::values_are_judged() {
  QFETCH(QByteArray, bytes);
  QFETCH(bool, null);
  QFETCH(int, kind);
  std::optional<Bytes> value;
  if (!null) {
    value = Bytes::copy_of(std::string_view(bytes.constData(), static_cast<std::size_t>(bytes.size())));
  }
  QCOMPARE(int(value_kind(value)), kind);
  const QString line = value_line(value);
  QVERIFY(!line.contains(QLatin1Char('\n')));
  QCOMPARE(line.isEmpty(), null || bytes.isEmpty());
}

void TestMessages::json_keeps_every_digit() {
  bool cut = false;
  const QString block = value_block(Bytes::copy_of("{\"id\":9007199254740993,\"o\":{},\"t\":\"a{b\"}"), 4'096, cut);
  QVERIFY(block.contains(QStringLiteral("9007199254740993")));
  QVERIFY(block.contains(QStringLiteral("\"o\": {}")));
  QVERIFY(block.contains(QStringLiteral("a{b")));
  QCOMPARE(block.count(QLatin1Char('\n')), 4);
  QVERIFY(!cut);
}

void TestMessages::record_json_is_json() {
  RecordRow row;
  row.offset = 1'042;
  row.partition = 2;
  row.timestamp_ms = 1'764'417'810'000;
  row.key = Bytes::copy_of("a\"b\n");
  row.headers.emplace_back("trace", Bytes::copy_of("x"));
  row.headers.emplace_back("gone", std::nullopt);
  const QJsonDocument doc = QJsonDocument::fromJson(record_json(QStringLiteral("orders"), row).toUtf8());
  QVERIFY(doc.isObject());
  QCOMPARE(doc[QStringLiteral("key")].toString(), QStringLiteral("a\"b\n"));
  QVERIFY(doc[QStringLiteral("value")].isNull());
  QCOMPARE(doc[QStringLiteral("offset")].toInt(), 1'042);
  QCOMPARE(kcat_line(QStringLiteral("localhost:9092"), QStringLiteral("orders"), row),
           QStringLiteral("kcat -b localhost:9092 -C -t orders -p 2 -o 1042 -c 1 -f '%k: %s\\n'"));
}

void TestMessages::a_large_value_costs_its_head() {
  std::string big = "{\"data\":\"";
  big.append(24U << 20, 'x');
  RecordRow row;
  row.value = Bytes::copy_of(big);
  hw::wire::BatchBuilder builder;
  builder.append(std::nullopt, big, 1'764'417'810'000);
  const Bytes stored = builder.finish();
  RecordDetail detail;
  detail.resize(900, 260);
  QElapsedTimer clock;
  clock.start();
  // Off the UI thread in the window; here to be sure that it is there.
  const auto anatomy = std::make_shared<BatchAnatomy>(anatomy_of(stored, 0, 0));
  const qint64 apart = clock.restart();
  detail.show(QStringLiteral("t"), QStringLiteral("localhost:9092"), 3, row);
  detail.setAnatomy(anatomy);
  detail.grab();
  detail.setForm(RecordDetail::Form::value);
  detail.grab();
  const qint64 ms = clock.elapsed();
  qInfo("a value of 24 MiB: taken apart in %lld ms, shown in %lld ms", static_cast<long long>(apart), static_cast<long long>(ms));
  QVERIFY2(ms <= 5'000, qPrintable(QString::number(ms)));  // 50 on a quiet machine
  QVERIFY(detail.hex()->rowCount() > 1'500'000);
  QVERIFY(detail.text()->toPlainText().size() < (1 << 20));
  QTemporaryDir folder;
  const QString file = detail.saveValue(folder.path());
  QCOMPARE(QFileInfo(file).size(), static_cast<qint64>(big.size()));
}

void TestMessages::newest_records_come_first() {
  Fixture f;
  RecordModel* m = f.page.records();
  QVERIFY(m->rowCount() > 50);
  std::map<int, std::int64_t> last;
  std::int64_t time = 0;
  for (int i = 0; i < m->rowCount(); ++i) {
    const RecordRow& row = m->row(i);
    QVERIFY(!last.contains(row.partition) || last[row.partition] < row.offset);
    QVERIFY(row.timestamp_ms >= time);
    last[row.partition] = row.offset;
    time = row.timestamp_ms;
  }
  for (int p = 0; p < 3; ++p) {
    QCOMPARE(last[p], f.session.records("demo.orders", p) - 1);
  }
}

void TestMessages::what_takes_long_is_said() {
  Fixture f;
  const auto* notice = f.page.findChild<TableNotice*>();
  QVERIFY(notice->isHidden());
  f.session.holdReads(true);
  f.page.setFrom(RecordFeed::From::oldest);
  QCOMPARE(f.page.records()->rowCount(), 0);
  QVERIFY(notice->isHidden());  // what comes at once needs no word
  QTRY_VERIFY(!notice->isHidden());
  QCOMPARE(notice->title(), QStringLiteral("Reading…"));
  QVERIFY2(notice->text().startsWith(QLatin1Char('3')), qPrintable(notice->text()));  // partitions
  f.session.holdReads(false);
  QTRY_VERIFY(f.page.records()->rowCount() > 0);
  QVERIFY(notice->isHidden());
}

// A busy partition, one that got a record now and then, and one that has been quiet for long.
void TestMessages::newest_is_the_newest_of_all_partitions() {
  FakeSession session(FakeSession::Options{.demo = false});
  session.createTopic({"mixed", 3, 1, {}}, [](const QString&) {});
  session.tick(0);
  const auto add = [&session](int partition) { session.produceMany("mixed", partition, 1, "k"); };
  for (int i = 0; i < 5; ++i) {
    add(2);
    session.tick(1'000);
  }
  for (int i = 0; i < 700; ++i) {
    add(0);
    if (i % 50 == 0) {
      add(1);  // at the same time as the one before
    }
    session.tick(10);
  }
  RecordFeed feed;
  feed.setSession(&session);
  std::vector<RecordRow> shown;
  QSignalSpy done(&feed, &RecordFeed::pageDone);
  connect(&feed, &RecordFeed::arrived, this,
          [&shown](const std::vector<RecordRow>& rows, bool above) {
            shown.insert(above ? shown.begin() : shown.end(), rows.begin(), rows.end());
          });
  std::vector<RecordRow> all;
  const auto of = [](const RecordRow& row) {
    return std::make_tuple(row.timestamp_ms, row.partition, row.offset);
  };
  for (int p = 0; p < 3; ++p) {
    ReadQuery query;
    query.topic = "mixed";
    query.partition = p;
    query.max_records = 1'000;
    const auto before = all.size();
    session.read(query, [&all](const ReadAnswer& answer) {
      all.insert(all.end(), answer.rows.begin(), answer.rows.end());
    });
    QTRY_VERIFY(all.size() > before);
  }
  QCOMPARE(all.size(), 5U + 700U + 14U);
  std::sort(all.begin(), all.end(),
            [&of](const RecordRow& a, const RecordRow& b) { return of(a) < of(b); });
  feed.start(QStringLiteral("mixed"), {}, RecordFeed::From::newest, 0);
  QTRY_COMPARE(done.size(), 1);
  QCOMPARE(shown.size(), static_cast<std::size_t>(RecordFeed::kPage));
  for (int pages = 1;; ++pages) {
    for (std::size_t i = 0; i < shown.size(); ++i) {
      QCOMPARE(of(shown[i]), of(all[all.size() - shown.size() + i]));
    }
    if (!feed.canGoEarlier()) {
      break;
    }
    feed.earlier();
    QTRY_COMPARE(done.size(), pages + 1);
  }
  QCOMPARE(shown.size(), all.size());
}

// More partitions than are read: those with the newest records, whatever their numbers, and it is said.
void TestMessages::a_large_topic_begins_with_what_is_newest() {
  constexpr int kMany = 200;
  FakeSession session(FakeSession::Options{.demo = false});
  session.createTopic({"wide", kMany, 1, {}}, [](const QString&) {});
  session.tick(0);
  for (int p = 0; p < kMany; ++p) {
    session.produceMany("wide", p, 1, "k");
    session.tick(1'000);
  }
  MessagesPage page;
  page.resize(944, 700);
  page.attach(&session);
  page.show();
  page.deliverFrame();
  QTRY_COMPARE(page.records()->rowCount(), static_cast<int>(RecordFeed::kMaxPartitions));
  for (int row = 0; row < page.records()->rowCount(); ++row) {
    QCOMPARE(page.records()->row(row).partition, kMany - static_cast<int>(RecordFeed::kMaxPartitions) + row);
  }
  const auto* said = page.findChild<QLabel*>(QStringLiteral("partitionsRead"));
  for (const int width : {1'600, 944, 700}) {
    page.resize(width, 700);
    QTRY_VERIFY(said->isVisible());
    QVERIFY2(said->text().contains(QStringLiteral("64 of 200 partitions")), qPrintable(said->text()));
  }
  // What is written to another one comes in with the tail.
  session.produceMany("wide", 3, 1, "k");
  session.tick(100);
  QTRY_VERIFY([&] {
    page.deliverFrame();
    return page.records()->rowCount() == static_cast<int>(RecordFeed::kMaxPartitions) + 1;
  }());
  QCOMPARE(page.records()->row(page.records()->rowCount() - 1).partition, 3);
  QVERIFY2(said->text().contains(QStringLiteral("65 of 200 partitions")), qPrintable(said->text()));
  // So does one that was produced by hand: no other place is looked at for it.
  session.produceMany("wide", 5, 1, "k");
  session.tick(100);
  page.setSelection(Selection::ofRecord(QStringLiteral("wide"), 5, 1));
  QTRY_VERIFY([&] {
    page.deliverFrame();
    const int row = page.records()->find(5, 1);
    return row >= 0 && page.table()->currentIndex().row() == row;
  }());
  QVERIFY(page.tail());
  page.setFrom(RecordFeed::From::oldest);
  QTRY_COMPARE(page.records()->rowCount(), static_cast<int>(RecordFeed::kMaxPartitions) + 2);  // two of them have two by now
  QCOMPARE(page.records()->row(0).partition, 0);
  QVERIFY2(said->text().contains(QStringLiteral("oldest")), qPrintable(said->text()));
  // An old one is gone to.
  page.setFrom(RecordFeed::From::newest);
  QTRY_VERIFY(page.tail() && page.records()->rowCount() >= static_cast<int>(RecordFeed::kMaxPartitions) && page.records()->find(7, 0) < 0);
  page.setSelection(Selection::ofRecord(QStringLiteral("wide"), 7, 0));
  QTRY_COMPARE(page.records()->rowCount(), 1);
  QCOMPARE(page.records()->row(0).partition, 7);
}

// An answer is full before the piece that was asked for is: large values.
void TestMessages::earlier_pages_leave_no_gap() {
  FakeSession session(FakeSession::Options{.demo = false});
  session.createTopic({"large", 1, 1, {}}, [](const QString&) {});
  const std::string value(300'000, 'x');
  for (int i = 0; i < 250; ++i) {
    RecordRow row;
    row.value = hw::Bytes::copy_of(value);
    session.appendRecord("large", 0, std::move(row));
  }
  RecordFeed feed;
  feed.setSession(&session);
  std::vector<std::int64_t> shown;
  QSignalSpy done(&feed, &RecordFeed::pageDone);
  connect(&feed, &RecordFeed::arrived, this,
          [&shown](const std::vector<RecordRow>& rows, bool above) {
            auto at = above ? shown.begin() : shown.end();
            for (const RecordRow& row : rows) {
              at = shown.insert(at, row.offset) + 1;
            }
          });
  feed.start(QStringLiteral("large"), {}, RecordFeed::From::offset, 230);
  QTRY_COMPARE(done.size(), 1);
  feed.earlier();
  QTRY_COMPARE(done.size(), 2);
  QVERIFY(shown.front() < 100);
  for (std::size_t i = 1; i < shown.size(); ++i) {
    QCOMPARE(shown[i], shown[i - 1] + 1);
  }
}

void TestMessages::tail_appends_in_order() {
  Fixture f;
  const int before = f.page.records()->rowCount();
  QVERIFY(f.page.tail());
  f.frame(2'000);
  QTRY_VERIFY(f.page.records()->rowCount() >= before + 8);
  QCOMPARE(f.page.records()->rowCount(), before + 8);  // each once
  f.page.setTail(false);
  f.frame(2'000);
  f.frame(0);
  QCOMPARE(f.page.records()->rowCount(), before + 8);
}

void TestMessages::from_offset_and_earlier() {
  Fixture f(6'000);
  f.page.setSelection(Selection::ofRecord(QStringLiteral("demo.orders"), 1, 300));
  QTRY_VERIFY(f.page.records()->rowCount() > 0);
  QTRY_COMPARE(f.page.records()->row(0).offset, 300);
  QCOMPARE(f.page.records()->row(0).partition, 1);
  QVERIFY(f.page.feed()->canGoEarlier());
  f.page.feed()->earlier();
  QTRY_VERIFY(f.page.records()->row(0).offset < 300);
  QVERIFY(f.page.records()->find(1, 300) > 0);
  for (int i = 1; i < f.page.records()->rowCount(); ++i) {
    QCOMPARE(f.page.records()->row(i).offset, f.page.records()->row(i - 1).offset + 1);
  }
}

// The newest are those of now again once the place that was looked at is left.
void TestMessages::the_tail_goes_on_after_a_record_was_looked_at() {
  Fixture f(6'000);
  f.page.setSelection(Selection::ofRecord(QStringLiteral("demo.orders"), 1, 300));
  QTRY_COMPARE(f.page.records()->row(0).offset, 300);
  QVERIFY(!f.page.tail());
  f.page.setSelection(Selection::ofPartition(QStringLiteral("demo.orders"), 0));
  QVERIFY(f.page.tail());
  QTRY_VERIFY(f.page.records()->rowCount() > 0);
  const int before = f.page.records()->rowCount();
  f.frame(2'000);
  QTRY_VERIFY(f.page.records()->rowCount() > before);
}

void TestMessages::newer_ones_that_wait_are_said() {
  Fixture f(2'000);
  f.page.resize(1'600, 700);
  const QString below = QStringLiteral("newer ones below");
  QVERIFY(!f.page.noteText().contains(below));  // a tail has them
  f.page.setFrom(RecordFeed::From::oldest);
  QTRY_VERIFY(f.page.records()->rowCount() > 0);
  QVERIFY2(f.page.noteText().contains(below), qPrintable(f.page.noteText()));
  const std::int64_t held = f.session.records("demo.orders", 0) + f.session.records("demo.orders", 1) + f.session.records("demo.orders", 2);
  const QString of_all = QStringLiteral(" of %1 records").arg(QLocale().toString(static_cast<qlonglong>(held)));
  QVERIFY2(f.page.noteText().contains(of_all), qPrintable(f.page.noteText()));
  while (f.page.feed()->canGoLater()) {
    const int before = f.page.records()->rowCount();
    f.page.feed()->more();
    QTRY_VERIFY(f.page.records()->rowCount() > before);
  }
  QVERIFY2(!f.page.noteText().contains(below), qPrintable(f.page.noteText()));
  QVERIFY2(!f.page.noteText().contains(QStringLiteral(" of ")), qPrintable(f.page.noteText()));
  // What arrives later waits, too.
  f.frame(2'000);
  QVERIFY2(f.page.noteText().contains(below), qPrintable(f.page.noteText()));
  f.page.setOrder(RecordModel::Order::newest_first);
  QVERIFY2(f.page.noteText().contains(QLatin1String("newer ones above")), qPrintable(f.page.noteText()));
}

void TestMessages::selection_is_shown() {
  Fixture f;
  const RecordRow row = f.page.records()->row(10);
  f.page.setSelection(Selection::ofRecord(QStringLiteral("demo.orders"), row.partition, row.offset));
  QCOMPARE(f.page.table()->currentIndex().row(), 10);
  QSignalSpy selected(&f.page, &Page::selectionRequested);
  f.page.table()->selectRow(12);
  QCOMPARE(selected.size(), 1);
}

void TestMessages::detail_follows_the_row() {
  Fixture f;
  f.page.table()->selectRow(3);
  const RecordRow& row = f.page.records()->row(3);
  QVERIFY(f.page.detail()->row().has_value());
  QCOMPARE(f.page.detail()->row()->offset, row.offset);
  QTreeWidget* tree = f.page.detail()->tree();
  QCOMPARE(tree->topLevelItemCount(), 3);  // batch, record, history
  QTRY_VERIFY(f.page.detail()->anatomy() != nullptr && f.page.detail()->anatomy()->found);
  QCOMPARE(f.page.detail()->anatomy()->row.offset, row.offset);
  QVERIFY(f.page.detail()->fieldText(BytesField::Kind::crc).contains(QStringLiteral("valid")));
}

void TestMessages::rows_do_not_move_while_reading() {
  Fixture f(6'000);
  QScrollBar* bar = f.page.table()->verticalScrollBar();
  bar->setValue(bar->maximum() / 2);
  QCoreApplication::processEvents();
  const QModelIndex under = f.page.table()->indexAt(QPoint(50, 80));
  const RecordRow before = f.page.records()->row(under.row());
  const int count = f.page.records()->rowCount();
  f.frame(3'000);
  QTRY_VERIFY(f.page.records()->rowCount() > count);
  const RecordRow after = f.page.records()->row(f.page.table()->indexAt(QPoint(50, 80)).row());
  QCOMPARE(after.offset, before.offset);
  QCOMPARE(after.partition, before.partition);
}

void TestMessages::an_order_is_chosen() {
  using Order = RecordModel::Order;
  Fixture f;
  RecordModel* m = f.page.records();
  f.page.table()->selectRow(7);
  const RecordRow chosen = m->row(7);
  const std::int64_t first = m->row(0).offset;
  QHeaderView* head = f.page.table()->horizontalHeader();
  const auto click = [head](int section) {
    QTest::mouseClick(head->viewport(), Qt::LeftButton, {}, QPoint(head->sectionViewportPosition(section) + 12, head->height() / 2));
  };
  click(RecordModel::kOffset);
  QCOMPARE(m->order(), Order::per_partition);
  for (int i = 1; i < m->rowCount(); ++i) {
    QVERIFY(std::make_pair(m->row(i - 1).partition, m->row(i - 1).offset) < std::make_pair(m->row(i).partition, m->row(i).offset));
  }
  // The selection went with its record.
  QCOMPARE(m->row(f.page.table()->currentIndex().row()).offset, chosen.offset);
  QCOMPARE(m->row(f.page.table()->currentIndex().row()).partition, chosen.partition);
  click(RecordModel::kTime);
  QCOMPARE(m->order(), Order::oldest_first);
  click(RecordModel::kTime);
  QCOMPARE(m->order(), Order::newest_first);
  // What comes finds its place.
  const int before = m->rowCount();
  f.frame(2'000);
  QTRY_COMPARE(m->rowCount(), before + 8);
  for (int i = 1; i < m->rowCount(); ++i) {
    QVERIFY(m->row(i - 1).timestamp_ms >= m->row(i).timestamp_ms);
  }
  click(RecordModel::kTime);
  QCOMPARE(m->order(), Order::as_read);
  QCOMPARE(m->row(0).offset, first);
  for (int i = 1; i < m->rowCount(); ++i) {
    QVERIFY(m->row(i - 1).timestamp_ms <= m->row(i).timestamp_ms);
  }
}

void TestMessages::in_an_order_rows_do_not_move_either() {
  Fixture f(6'000);
  f.page.setOrder(RecordModel::Order::newest_first);
  QScrollBar* bar = f.page.table()->verticalScrollBar();
  bar->setValue(bar->maximum() / 2);
  QCoreApplication::processEvents();
  const RecordRow before = f.page.records()->row(f.page.table()->indexAt(QPoint(50, 80)).row());
  const int count = f.page.records()->rowCount();
  f.frame(3'000);
  QTRY_VERIFY(f.page.records()->rowCount() > count);
  QCoreApplication::processEvents();
  const RecordRow after = f.page.records()->row(f.page.table()->indexAt(QPoint(50, 80)).row());
  QCOMPARE(after.offset, before.offset);
  QCOMPARE(after.partition, before.partition);
}

void TestMessages::the_model_forgets_what_came_first() {
  RecordModel model(nullptr, 10);
  model.setOrder(RecordModel::Order::newest_first);
  const auto rows = [](std::int64_t from, int count) {
    std::vector<RecordRow> out;
    for (int i = 0; i < count; ++i) {
      RecordRow row;
      row.offset = from + i;
      row.timestamp_ms = from + i;
      out.push_back(row);
    }
    return out;
  };
  model.append(rows(0, 8));
  model.append(rows(8, 4));
  QCOMPARE(model.rowCount(), 10);
  QCOMPARE(model.dropped(), std::int64_t{2});
  QCOMPARE(model.row(0).offset, std::int64_t{11});
  QCOMPARE(model.row(9).offset, std::int64_t{2});  // 0 and 1 came first
  QCOMPARE(model.removeBefore(0, 5), 3);
  QCOMPARE(model.rowCount(), 7);
  model.setOrder(RecordModel::Order::as_read);
  QCOMPARE(model.row(0).offset, std::int64_t{5});
}

void TestMessages::records_before_here_are_deleted() {
  Fixture f;
  int row = f.page.records()->rowCount() - 1;
  while (f.page.records()->row(row).partition != 1) {
    --row;
  }
  f.page.table()->selectRow(row);
  const std::int64_t offset = f.page.records()->row(row).offset;
  QMenu menu;
  f.page.fillRecordMenu(menu);
  QAction* action = nullptr;
  for (QAction* each : menu.actions()) {
    action = each->objectName() == QLatin1String("topic.delete_records") ? each : action;
  }
  QVERIFY(action != nullptr);
  QSignalSpy commands(&f.page, &Page::commandRequested);
  action->trigger();
  QCOMPARE(commands.size(), 1);
  const QVariantMap args = commands[0][1].toMap();
  QCOMPARE(args.value(QStringLiteral("topic")).toString(), QStringLiteral("demo.orders"));
  QCOMPARE(args.value(QStringLiteral("partition")).toInt(), 1);
  QCOMPARE(args.value(QStringLiteral("offset")).toLongLong(), offset);
  // What was deleted leaves the list.
  f.session.deleteRecords({{{"demo.orders", 1}, offset}}, [](const OffsetsAnswer&) {});
  f.frame(0);
  QTRY_COMPARE(f.page.records()->find(1, offset - 1), -1);
  QVERIFY(f.page.records()->find(1, offset) >= 0);
}

void TestMessages::history_of_a_record() {
  Fixture f;
  f.frame(2'000);  // seen while they were appended
  const int last = f.page.records()->rowCount() - 1;
  QTRY_VERIFY(f.page.records()->rowCount() > 0);
  f.page.table()->selectRow(last);
  const RecordRow row = f.page.records()->row(last);
  const auto steps = [&] {
    return record_history(*f.session.view(), *RecordJournal::of(&f.session), QStringLiteral("demo.orders"), row);
  };
  QVERIFY(steps().size() >= 3);
  QCOMPARE(steps()[0].what, QStringLiteral("produced"));
  QCOMPARE(steps()[1].what, QStringLiteral("appended"));
  QVERIFY2(f.page.detail()->historyText().contains(QStringLiteral("readable")), qPrintable(f.page.detail()->historyText()));
  QVERIFY(history_line(steps()).startsWith(QStringLiteral("produced")));
  // A group that is behind waits, and then has passed it.
  f.session.setGroup("late", "demo.orders", 0, "Empty");
  f.session.setCommitted("late", "demo.orders", row.partition, row.offset - 2);
  const auto said = [&](const QString& words) {
    const std::vector<HistoryStep> now = steps();
    return std::any_of(now.begin(), now.end(), [&](const HistoryStep& step) { return step.detail.contains(words); });
  };
  QTRY_VERIFY(said(QStringLiteral("group late is at %1, 2 before it").arg(row.offset - 2)));
  f.session.setCommitted("late", "demo.orders", row.partition, row.offset + 1);
  QTRY_VERIFY(said(QStringLiteral("group late has passed it")));
}

void TestMessages::partition_choice_data() {
  QTest::addColumn<QString>("key");
  QTest::addColumn<int>("partitions");
  QTest::addColumn<int>("expected");
  // Values of the Java client's murmur2 for these keys.
  QTest::newRow("21") << QStringLiteral("21") << 1'000'000'000 << ((-973932308) & 0x7fffffff) % 1'000'000'000;
  QTest::newRow("foobar") << QStringLiteral("foobar") << 1'000'000'000 << ((-790332482) & 0x7fffffff) % 1'000'000'000;
  QTest::newRow("abc") << QStringLiteral("abc") << 7 << (479470107 & 0x7fffffff) % 7;
}

void TestMessages::partition_choice() {
  QFETCH(QString, key);
  QFETCH(int, partitions);
  QFETCH(int, expected);
  const auto choice = PartitionChoice::of(Bytes::copy_of(key.toStdString()), partitions, std::nullopt);
  QCOMPARE(choice.partition, std::make_optional<std::int32_t>(expected));
  QVERIFY(choice.formula.contains(QStringLiteral("0x7fffffff")));
  QVERIFY(!PartitionChoice::of(std::nullopt, 3, std::nullopt).partition.has_value());
  QVERIFY(PartitionChoice::of(Bytes(), 3, std::nullopt).partition.has_value());  // an empty key is a key
  QCOMPARE(PartitionChoice::of(std::nullopt, 3, 2).partition, std::make_optional<std::int32_t>(2));
}

void TestMessages::headers_are_parsed_data() {
  QTest::addColumn<QString>("text");
  QTest::addColumn<int>("count");
  QTest::addColumn<bool>("error");
  QTest::newRow("none") << QString() << 0 << false;
  QTest::newRow("one") << QStringLiteral("a=1") << 1 << false;
  QTest::newRow("three") << QStringLiteral("a=1; b=; c") << 3 << false;
  QTest::newRow("last semicolon") << QStringLiteral("a=1;") << 1 << false;
  QTest::newRow("value with =") << QStringLiteral("a=b=c") << 1 << false;
  QTest::newRow("no name") << QStringLiteral("=x") << 0 << true;
}

void TestMessages::headers_are_parsed() {
  QFETCH(QString, text);
  QFETCH(int, count);
  QFETCH(bool, error);
  const HeadersText parsed = HeadersText::parse(text);
  QCOMPARE(!parsed.error.isEmpty(), error);
  QCOMPARE(static_cast<int>(parsed.headers.size()), count);
  if (count == 3) {
    QCOMPARE(parsed.headers[0].second->text(), std::string_view("1"));
    QVERIFY(parsed.headers[1].second.has_value() && parsed.headers[1].second->empty());
    QVERIFY(!parsed.headers[2].second.has_value());
  }
}

void TestMessages::topic_names_data() {
  QTest::addColumn<QString>("name");
  QTest::addColumn<bool>("fine");
  QTest::newRow("plain") << QStringLiteral("orders") << true;
  QTest::newRow("all kinds") << QStringLiteral("a.B_c-9") << true;
  QTest::newRow("empty") << QString() << false;
  QTest::newRow("dot") << QStringLiteral(".") << false;
  QTest::newRow("two dots") << QStringLiteral("..") << false;
  QTest::newRow("space") << QStringLiteral("a b") << false;
  QTest::newRow("umlaut") << QString(QChar(0xe4)) << false;
  QTest::newRow("249") << QString(249, QLatin1Char('x')) << true;
  QTest::newRow("250") << QString(250, QLatin1Char('x')) << false;
}

void TestMessages::topic_names() {
  QFETCH(QString, name);
  QFETCH(bool, fine);
  QCOMPARE(topic_name_error(name).isEmpty(), fine);
}

void TestMessages::produce_panel_sends_what_was_typed() {
  FakeSession session;
  session.setDemoTraffic(false);
  RecordPanel panel;
  panel.resize(900, 240);
  panel.attach(&session);
  panel.show();
  panel.openFor(Selection::ofPartition(QStringLiteral("demo.orders"), 1));
  QVERIFY(panel.valid());
  QVERIFY(panel.whyText().contains(QStringLiteral("partition 1")));
  auto* value = panel.findChild<QPlainTextEdit*>();
  value->setPlainText(QStringLiteral("hello ${n}"));
  QSignalSpy selected(&panel, &ProducePanel::selectionRequested);
  QTest::keyClick(value, Qt::Key_Return, Qt::ControlModifier);
  QTRY_COMPARE(panel.sent(), 1);
  QCOMPARE(session.records("demo.orders", 1), 1);
  QVERIFY(panel.resultText().contains(QStringLiteral("demo.orders/1@0")));
  QCOMPARE(selected.size(), 1);
  std::vector<RecordRow> rows;
  ReadQuery query;
  query.topic = "demo.orders";
  query.partition = 1;
  session.read(query, [&](const ReadAnswer& answer) { rows = answer.rows; });
  QTRY_COMPARE(rows.size(), 1U);
  QCOMPARE(rows[0].value->text(), std::string_view("hello 0"));
  QVERIFY(!rows[0].key.has_value());
  session.failNext(QStringLiteral("NOT_ENOUGH_REPLICAS"));
  panel.send();
  QTRY_VERIFY(panel.resultText().contains(QStringLiteral("NOT_ENOUGH_REPLICAS")));
}

void TestMessages::produce_panel_null_is_not_empty() {
  FakeSession session;
  RecordPanel panel;
  panel.attach(&session);
  panel.show();
  panel.openFor(Selection::ofTopic(QStringLiteral("demo.orders")));
  QVERIFY(panel.whyText().contains(QStringLiteral("No key")));
  QLineEdit* key = nullptr;
  for (auto* edit : panel.findChildren<QLineEdit*>()) {
    key = edit->accessibleName() == QLatin1String("Key") ? edit : key;
  }
  QVERIFY(key != nullptr);
  QTest::keyClicks(key, QStringLiteral("abc"));
  QVERIFY(panel.whyText().contains(QStringLiteral("murmur2(\"abc\")")));
  QTest::keyClick(key, Qt::Key_A, Qt::ControlModifier);
  QTest::keyClick(key, Qt::Key_Delete);
  QVERIFY(panel.whyText().contains(QStringLiteral("An empty key is a key")));
}

void TestMessages::produce_panel_repeats_and_stops() {
  FakeSession session;
  session.setDemoTraffic(false);
  RecordPanel panel;
  panel.attach(&session);
  panel.show();
  panel.openFor(Selection::ofPartition(QStringLiteral("demo.orders"), 0));
  panel.setRepeating(true);
  QVERIFY(panel.repeating());
  QTRY_VERIFY(panel.sent() >= 2);
  panel.setRepeating(false);
  QVERIFY(!panel.repeating());
  session.failNext(QStringLiteral("no"));
  panel.setRepeating(true);
  QTRY_VERIFY(!panel.repeating());  // an error stops it
}

void TestMessages::everything_has_a_name() {
  Fixture f;
  RecordPanel panel;
  panel.attach(&f.session);
  panel.show();
  QCoreApplication::processEvents();
  for (QWidget* root : {static_cast<QWidget*>(&f.page), static_cast<QWidget*>(&panel)}) {
    for (QWidget* widget : root->findChildren<QWidget*>()) {
      if (widget->focusPolicy() == Qt::NoFocus || !widget->isVisible() || widget->inherits("QLabel") ||
          (widget->inherits("QLineEdit") && !widget->parentWidget()->accessibleName().isEmpty())) {
        continue;
      }
      QAccessibleInterface* face = QAccessible::queryAccessibleInterface(widget);
      QVERIFY2(face != nullptr && !face->text(QAccessible::Name).isEmpty(), widget->metaObject()->className());
    }
  }
}

QTEST_MAIN(TestMessages)
#include "tst_messages.moc"
