// SPDX-License-Identifier: Apache-2.0
#include <QAccessible>
#include <QApplication>
#include <QComboBox>
#include <QSignalSpy>
#include <QTableView>
#include <QtTest>

#include "tests/ui/support/fake_session.h"
#include "ui/theme/theme.h"
#include "ui/views/partitions_page.h"
#include "ui/views/record_cache.h"
#include "ui/views/record_model.h"
#include "ui/views/statistics_strip.h"

using namespace hw::ui;

namespace {

const QString kTopic = QStringLiteral("demo.orders");

struct Fixture {
  explicit Fixture(FakeSession::Options options = {}, int ticks = 200) : session(options) {
    for (int i = 0; i < ticks; ++i) {
      session.tick(100);
    }
    page.resize(944, 680);
    page.attach(&session);
    lanes().setClock([this] { return now; });
    page.show();
    QCoreApplication::processEvents();
    QObject::connect(&page, &Page::selectionRequested, &page, [this](const Selection& s) { page.setSelection(s); });
    frame(0);
    settle();
  }
  void frame(int ms) {
    now += std::max(ms, 50);
    if (ms > 0) {
      session.tick(ms);
    }
    page.deliverFrame();
    QCoreApplication::processEvents();
  }
  // Lets reads that are under way come home.
  void settle() {
    for (int i = 0; i < 20; ++i) {
      now += 200;
      page.deliverFrame();
      QCoreApplication::processEvents();
    }
  }
  LaneView& lanes() { return *page.lanes(); }
  QColor at(QPointF point) { return lanes().grab().toImage().pixelColor(point.toPoint()); }

  std::int64_t now = 10'000;
  FakeSession session;
  PartitionsPage page;
};

RecordRow row(std::int64_t offset, std::optional<hw::Bytes> key, std::optional<hw::Bytes> value) {
  RecordRow r;
  r.offset = offset;
  r.key = std::move(key);
  r.value = std::move(value);
  r.batch_base_offset = offset - offset % 5;
  r.batch_records = 5;
  return r;
}

}  // namespace

class TestLanes : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() { Theme::current().install(*qApp); }
  void init() { Theme::current().setMode(Theme::Mode::dark); }
  void cache_knows_what_it_knows();
  void cache_is_bounded();
  void shows_the_demo_topic();
  void flags_are_always_there();
  void record_cells_are_painted_with_tokens_data();
  void record_cells_are_painted_with_tokens();
  void tombstones_are_marked_after_reading();
  void zoom_and_follow();
  void drag_selects_a_range_and_shows_it();
  void click_selects_a_record_keys_walk_on();
  void tooltips_explain_watermarks();
  void every_partition_has_a_sentence();
  void nothing_changes_nothing_is_painted();
  void statistics_add_up();
  void statistics_are_of_the_moment_of_the_lanes();
  void a_heading_says_that_its_leader_is_gone();
  void rates_wait_for_their_own_second();
  void table_form_has_every_replica();
  void reads_are_bounded();
  void thousands_of_partitions_scroll();
};

void TestLanes::cache_knows_what_it_knows() {
  RecordCache cache;
  const std::vector<RecordRow> rows = {row(10, hw::Bytes::copy_of("A"), hw::Bytes::copy_of("x")),
                                       row(12, std::nullopt, std::nullopt),
                                       row(14, hw::Bytes::copy_of("B"), hw::Bytes())};
  cache.insert(10, 15, rows);
  QVERIFY(cache.find(10) != nullptr);
  QCOMPARE(cache.find(10)->letter, u'A');
  QCOMPARE(int(cache.find(12)->kind), int(RecordCache::Kind::tombstone));
  QCOMPARE(int(cache.find(12)->hue), -1);
  QCOMPARE(int(cache.find(14)->kind), int(RecordCache::Kind::empty_value));
  QVERIFY(cache.find(11) == nullptr && cache.known(11));  // removed
  QVERIFY(!cache.known(15));
  QCOMPARE(cache.missing(10, 15), std::nullopt);
  QCOMPARE(cache.missing(5, 20), std::make_optional(std::make_pair<std::int64_t, std::int64_t>(5, 10)));
  cache.insert(5, 10, {});
  QCOMPARE(cache.missing(5, 20), std::make_optional(std::make_pair<std::int64_t, std::int64_t>(15, 20)));
  const auto batches = cache.batches(0, 100);
  QCOMPARE(batches.size(), 1U);
  QCOMPARE(batches[0].from, 10);
  QCOMPARE(batches[0].to, 15);
}

void TestLanes::cache_is_bounded() {
  RecordCache cache;
  for (std::int64_t from = 0; from < 60'000; from += 400) {
    std::vector<RecordRow> rows;
    for (std::int64_t o = from; o < from + 400; ++o) {
      rows.push_back(row(o, std::nullopt, hw::Bytes::copy_of("v")));
    }
    cache.insert(from, from + 400, rows);
  }
  QVERIFY(!cache.known(0));
  QVERIFY(cache.known(59'999));
  QVERIFY(cache.find(59'999) != nullptr);
}

void TestLanes::shows_the_demo_topic() {
  Fixture f;
  QCOMPARE(f.lanes().topic(), kTopic);
  QCOMPARE(f.lanes().partitionCount(), 3);
  QVERIFY(f.lanes().expanded(0));
  QCOMPARE(f.page.findChild<QComboBox*>()->currentText(), kTopic);
  f.page.setSelection(Selection::ofPartition(QStringLiteral("orders-state"), 4));
  QCOMPARE(f.lanes().topic(), QStringLiteral("orders-state"));
  QVERIFY(f.lanes().expanded(4));
}

void TestLanes::flags_are_always_there() {
  Fixture f;
  const auto flags = f.lanes().flagsOf(0);
  std::size_t marks = 0;
  for (const auto& flag : flags) {
    marks += flag.marks.size();
  }
  QCOMPARE(marks, 4U);  // log start, LSO, HW and LEO, whatever they share
  FakeSession::Options empty;
  empty.demo = false;
  Fixture none(empty, 0);
  none.session.createTopic({"bare", 1, 1, {}}, [](const QString&) {});
  QCoreApplication::processEvents();
  none.frame(100);
  const auto one = none.lanes().flagsOf(0);
  QCOMPARE(one.size(), 1U);
  QCOMPARE(one[0].marks.size(), 4U);
}

void TestLanes::record_cells_are_painted_with_tokens_data() {
  QTest::addColumn<bool>("dark");
  QTest::newRow("dark") << true;
  QTest::newRow("light") << false;
}

void TestLanes::record_cells_are_painted_with_tokens() {
  QFETCH(bool, dark);
  Theme::current().setMode(dark ? Theme::Mode::dark : Theme::Mode::light);
  Fixture f;
  const Colors& c = Theme::current().colors();
  const auto cell = f.lanes().cellRect(0, 3);
  QVERIFY(cell.has_value());
  QCOMPARE(f.at(cell->center() - QPointF(1, 0)), c.leader);
  QCOMPARE(f.at(QPointF(cell->right() - 1, cell->center().y())), c.canvas);  // the gap
  f.lanes().setColorByKey(true);
  const QColor colored = f.at(cell->center() - QPointF(1, 0));
  QVERIFY(std::find(c.key_hues.begin(), c.key_hues.end(), colored) != c.key_hues.end());
}

void TestLanes::tombstones_are_marked_after_reading() {
  Fixture f;
  // The fake writes a null value with every 29th record.
  std::int64_t tombstone = -1;
  int partition = -1;
  for (int p = 0; p < 3 && tombstone < 0; ++p) {
    ReadQuery query;
    query.topic = "demo.orders";
    query.partition = p;
    f.session.read(query, [&, p](const ReadAnswer& answer) {
      for (const RecordRow& r : answer.rows) {
        if (!r.value && tombstone < 0) {
          tombstone = r.offset;
          partition = p;
        }
      }
    });
    QCoreApplication::processEvents();
  }
  QVERIFY(tombstone >= 0);
  f.page.setSelection(Selection::ofRecord(kTopic, partition, tombstone));
  f.settle();
  const auto cell = f.lanes().cellRect(partition, tombstone);
  QVERIFY(cell.has_value());
  QCOMPARE(f.at(QPointF(cell->left() + 1, cell->bottom() - 7)), Theme::current().colors().past_tint);
}

void TestLanes::zoom_and_follow() {
  Fixture f({}, 6'000);
  LaneView& v = f.lanes();
  QCOMPARE(int(v.mode()), int(LaneView::Mode::follow));
  QCOMPARE(v.pitch(), 9.0);
  const std::int64_t end = f.session.records("demo.orders", 0);
  QVERIFY(v.cellRect(0, end - 1).has_value());
  QVERIFY(!v.cellRect(0, 0).has_value());
  QTest::keyClick(&v, Qt::Key_W);
  QCOMPARE(v.pitch(), 14.0);
  QTest::keyClick(&v, Qt::Key_S);
  QTest::keyClick(&v, Qt::Key_S);
  QCOMPARE(v.pitch(), 6.0);
  QTest::keyClick(&v, Qt::Key_A);
  QCOMPARE(int(v.mode()), int(LaneView::Mode::free));
  QTest::keyClick(&v, Qt::Key_F);
  QCOMPARE(int(v.mode()), int(LaneView::Mode::fit));
  QVERIFY(v.cellRect(0, 0).has_value() && v.cellRect(0, end - 1).has_value());
  v.grab();  // the heat strip paints
  v.setFollowing(true);
  f.frame(2'000);
  QVERIFY(v.cellRect(0, f.session.records("demo.orders", 0) - 1).has_value());
}

void TestLanes::drag_selects_a_range_and_shows_it() {
  Fixture f;
  QSignalSpy selected(&f.page, &Page::selectionRequested);
  const QPoint from = f.lanes().cellRect(0, 5)->center().toPoint();
  const QPoint to = f.lanes().cellRect(0, 9)->center().toPoint();
  QTest::mousePress(&f.lanes(), Qt::LeftButton, {}, from);
  QMouseEvent move(QEvent::MouseMove, to, f.lanes().mapToGlobal(to), Qt::NoButton, Qt::LeftButton, Qt::NoModifier);
  QCoreApplication::sendEvent(&f.lanes(), &move);
  QTest::mouseRelease(&f.lanes(), Qt::LeftButton, {}, to);
  QCOMPARE(selected.back()[0].value<Selection>().address(), QStringLiteral("demo.orders/0@5..9"));
  QTRY_COMPARE(f.page.records()->rowCount(), 5);
  QCOMPARE(f.page.records()->row(0).offset, 5);
  f.page.setSelection({});
  QTRY_COMPARE(f.page.records()->rowCount(), 0);
}

void TestLanes::click_selects_a_record_keys_walk_on() {
  Fixture f;
  QTest::mouseClick(&f.lanes(), Qt::LeftButton, {}, f.lanes().cellRect(0, 7)->center().toPoint());
  QCOMPARE(f.page.selection().address(), QStringLiteral("demo.orders/0@7"));
  f.lanes().setFocus();
  QTest::keyClick(&f.lanes(), Qt::Key_Right);
  QCOMPARE(f.page.selection().address(), QStringLiteral("demo.orders/0@8"));
  for (int i = 0; i < 20; ++i) {
    QTest::keyClick(&f.lanes(), Qt::Key_Left);
  }
  QCOMPARE(f.page.selection().address(), QStringLiteral("demo.orders/0@0"));
  QSignalSpy opened(&f.page, &Page::openRequested);
  QTest::keyClick(&f.lanes(), Qt::Key_Return);
  QCOMPARE(opened.size(), 1);
  QTest::keyClick(&f.lanes(), Qt::Key_Down);
  QCOMPARE(f.page.selection().partition, 1);
}

void TestLanes::tooltips_explain_watermarks() {
  FakeSession::Options options;
  options.nodes = 3;
  Fixture f(options);
  QHelpEvent help(QEvent::ToolTip, QPoint(), QPoint());
  const int index = f.lanes().indexOf(Selection::ofPartition(kTopic, 0));
  const QString sentence = f.lanes().objectSentence(index);
  QVERIFY(sentence.contains(QStringLiteral("high watermark")));
  QVERIFY(sentence.contains(QStringLiteral("group demo.billing committed")));
}

void TestLanes::every_partition_has_a_sentence() {
  Fixture f;
  QAccessibleInterface* canvas = QAccessible::queryAccessibleInterface(&f.lanes());
  QCOMPARE(canvas->childCount(), 3);
  for (int i = 0; i < 3; ++i) {
    QVERIFY(canvas->child(i)->text(QAccessible::Name).contains(QStringLiteral("log end")));
  }
  for (QWidget* widget : f.page.findChildren<QWidget*>()) {
    if (widget->focusPolicy() != Qt::NoFocus && widget->isVisible() && widget->parentWidget() != nullptr &&
        !widget->inherits("QComboBoxPrivateContainer") && !widget->inherits("QAbstractScrollAreaScrollBarContainer")) {
      QAccessibleInterface* face = QAccessible::queryAccessibleInterface(widget);
      QVERIFY2(face != nullptr && !face->text(QAccessible::Name).isEmpty(), widget->metaObject()->className());
    }
  }
}

void TestLanes::nothing_changes_nothing_is_painted() {
  Fixture f;
  f.session.setDemoTraffic(false);
  f.frame(100);
  f.settle();
  const int before = f.lanes().paints();
  for (int i = 0; i < 20; ++i) {
    f.now += 200;
    f.page.deliverFrame();
    QCoreApplication::processEvents();
  }
  QCOMPARE(f.lanes().paints(), before);
  QCOMPARE(f.lanes().readsInFlight(), 0);
}

void TestLanes::statistics_add_up() {
  Fixture f;
  QMetaObject::invokeMethod(&f.page, [&] { f.page.setTopic(QStringLiteral("orders-state")); });
  QMetaObject::invokeMethod(&f.page, [&] { f.page.setTopic(kTopic); });
  std::int64_t held = 0;
  for (int p = 0; p < 3; ++p) {
    held += f.session.records("demo.orders", p);
  }
  QVERIFY(!f.page.statistics()->values().empty());
  QCOMPARE(f.page.statistics()->values()[0].value, QLocale().toString(static_cast<qlonglong>(held)));
}

// Whoever adds up what the lanes say comes to what stands above them.
void TestLanes::statistics_are_of_the_moment_of_the_lanes() {
  Fixture f;
  for (int i = 0; i < 5; ++i) {
    f.session.tick(300);
    f.lanes().sample();  // as for a frame; the numbers' own time has not come
    std::int64_t drawn = 0;
    for (int p = 0; p < 3; ++p) {
      QVERIFY(f.lanes().levelsOf(p).has_value());
      drawn += f.lanes().levelsOf(p)->leo - f.lanes().levelsOf(p)->start;
    }
    QCOMPARE(f.page.statistics()->values()[0].value, QLocale().toString(static_cast<qlonglong>(drawn)));
  }
}

void TestLanes::a_heading_says_that_its_leader_is_gone() {
  FakeSession::Options options;
  options.nodes = 3;
  Fixture f(options);
  const int leader = f.session.view()->find_topic("demo.orders")->partitions[0]->leader.value();
  QCOMPARE(f.lanes().leaderText(0), (LeaderText{QStringLiteral("leader node %1").arg(leader)}));
  f.session.stopNode(leader);
  f.frame(100);
  f.settle();
  QCOMPARE(f.lanes().leaderText(0), (LeaderText{QStringLiteral("leader node %1 is gone, an election is awaited").arg(leader), true}));
  QVERIFY(f.lanes().objectSentence(0).contains(QStringLiteral("is gone, an election is awaited")));
  // It is painted as what is wrong.
  const QImage image = f.lanes().grab().toImage();
  const QColor wrong = Theme::current().colors().err_t;
  bool found = false;
  for (int x = 60; x < 400; ++x) {
    for (int y = 4; y < 30; ++y) {
      found = found || image.pixelColor(x, y) == wrong;
    }
  }
  QVERIFY(found);
  // Two of three are gone: who could lead is not elected.
  f.session.stopNode(leader % 3 + 1);
  f.frame(100);
  f.settle();
  QVERIFY2(f.lanes().leaderText(0).text.contains(QStringLiteral("no majority of controllers")), qPrintable(f.lanes().leaderText(0).text));
}

void TestLanes::rates_wait_for_their_own_second() {
  Fixture f;
  const auto came = [&] { return f.page.statistics()->values()[2].value; };
  const auto frames = [&] {
    f.frame(100);
    return came();
  };
  QTRY_VERIFY_WITH_TIMEOUT(frames() != QStringLiteral("measuring") && came() != QStringLiteral("0/s"), 5'000);
  // Somebody looks at another page for a while.
  f.page.hide();
  QTRY_COMPARE_WITH_TIMEOUT(came(), QStringLiteral("measuring"), 5'000);
  for (int i = 0; i < 50; ++i) {
    f.session.tick(100);
  }
  f.page.show();
  f.frame(100);
  QCOMPARE(came(), QStringLiteral("measuring"));
  QString first;
  QTRY_VERIFY_WITH_TIMEOUT((first = frames()) != QStringLiteral("measuring"), 5'000);
  QVERIFY2(first != QStringLiteral("0/s"), qPrintable(first));
  // Another topic is another rate.
  f.page.setTopic(QStringLiteral("orders-state"));
  QCOMPARE(came(), QStringLiteral("measuring"));
}

void TestLanes::table_form_has_every_replica() {
  FakeSession::Options options;
  options.nodes = 3;
  Fixture f(options);
  QVERIFY(f.page.toggleTable());
  QTableView* visible = nullptr;
  for (auto* table : f.page.findChildren<QTableView*>()) {
    visible = table->isVisible() ? table : visible;
  }
  QVERIFY(visible != nullptr);
  QCOMPARE(visible->model()->rowCount(), 9);
  QVERIFY(f.page.toggleTable());
}

void TestLanes::reads_are_bounded() {
  Fixture f;
  f.session.createTopic({"many", 300, 1, {}}, [](const QString&) {});
  QCoreApplication::processEvents();
  f.frame(100);
  f.page.setTopic(QStringLiteral("many"));
  for (int i = 0; i < 50; ++i) {
    f.frame(100);
    QVERIFY(f.lanes().readsInFlight() <= 4);
  }
}

void TestLanes::thousands_of_partitions_scroll() {
  Fixture f;
  f.session.createTopic({"huge", 10'000, 1, {}}, [](const QString&) {});
  QCoreApplication::processEvents();
  f.frame(100);
  f.page.setTopic(QStringLiteral("huge"));
  f.frame(100);
  QCOMPARE(f.lanes().partitionCount(), 10'000);
  QVERIFY(f.lanes().contentHeight() > 500'000);
  f.page.setSelection(Selection::ofPartition(QStringLiteral("huge"), 7'777));
  f.frame(100);
  const QRectF rect = f.lanes().object(7'777).rect;
  QVERIFY(rect.top() >= 0 && rect.bottom() <= f.lanes().viewHeight() + 300);
  QCOMPARE(f.lanes().objectAt(rect.center()), 7'777);
}

QTEST_MAIN(TestLanes)
#include "tst_lanes.moc"
