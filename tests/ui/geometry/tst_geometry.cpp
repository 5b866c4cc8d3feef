// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include <QtTest>

#include "ui/geometry/cluster_layout.h"
#include "ui/geometry/edge.h"
#include "ui/geometry/flag_layout.h"
#include "ui/geometry/lane_detail.h"
#include "ui/geometry/offset_axis.h"
#include "ui/geometry/step_scale.h"

using namespace hw::ui::geometry;

class TestGeometry : public QObject {
  Q_OBJECT

 private slots:
  void axis_is_its_own_inverse_data() { axis_rows(std::numeric_limits<qint64>::max() - 4'000); }
  void axis_is_its_own_inverse();
  void axis_keeps_the_anchor_when_zooming_data() { axis_rows(qint64{1} << 60); }
  void axis_keeps_the_anchor_when_zooming();
  void axis_panning_there_and_back();
  void axis_fits_ranges_data();
  void axis_fits_ranges();
  void axis_follows_the_end();
  void ladder_in_and_out();
  void ticks_are_nice_data();
  void ticks_are_nice();
  void detail_by_zoom_data();
  void detail_by_zoom();
  void coverage_counts_shares();
  void segments_are_clipped();
  void flags_merge_and_move();
  void rows_first_fit();
  void cubic_is_horizontal_at_its_ends();
  void edge_width_grows_by_log();
  void ports_stay_inside();
  void plates_do_not_overlap();
  void steps_of_one_moment_keep_their_order();
  void cells_hit_test_data();
  void cells_hit_test();
  void layout_scales_data();
  void layout_scales();
  void layout_of_pictures();
  void layout_of_nothing();

 private:
  static void axis_rows(qint64 largest);
};

void TestGeometry::axis_rows(qint64 largest) {
  QTest::addColumn<qint64>("origin");
  QTest::addColumn<double>("fraction");
  QTest::addColumn<double>("pitch");
  const qint64 origins[] = {0, 1, 984, 1'000'000'007, (qint64{1} << 53) + 1, largest};
  const double pitches[] = {1e-4, 0.013, 0.25, 1.0 / 3, 0.999, 1, 3, 9, 14, 40};
  for (const qint64 origin : origins) {
    for (const double pitch : pitches) {
      for (const double fraction : {0.0, 0.1, 1.0 / 3, 0.999999}) {
        QTest::addRow("%lld at %g + %g", static_cast<long long>(origin), pitch, fraction) << origin << fraction << pitch;
      }
    }
  }
}

void TestGeometry::axis_is_its_own_inverse() {
  QFETCH(qint64, origin);
  QFETCH(double, fraction);
  QFETCH(double, pitch);
  const OffsetAxis axis(origin, fraction, pitch);
  double before = -1e18;
  for (qint64 i = 0; i < 2'000; ++i) {
    const qint64 offset = origin + i;
    const double x = axis.x(offset);
    QCOMPARE(axis.offset_at(x), offset);
    QVERIFY(x > before);
    before = x;
    if (pitch >= 1) {
      QCOMPARE(axis.offset_at_pixel(axis.pixel(offset)), offset);
      QVERIFY(axis.pixel(offset + 1) > axis.pixel(offset));
    }
  }
  // Every pixel belongs to the cell whose edges enclose it.
  for (int px = 0; px < 500; ++px) {
    const qint64 offset = axis.offset_at(px);
    QVERIFY(axis.x(offset) <= px);
    QVERIFY(offset == std::numeric_limits<qint64>::max() || axis.x(offset + 1) > px);
  }
}

void TestGeometry::axis_keeps_the_anchor_when_zooming() {
  QFETCH(qint64, origin);
  QFETCH(double, fraction);
  QFETCH(double, pitch);
  OffsetAxis axis(origin, fraction, pitch);
  const double anchor = 321.5;
  for (const int steps : {1, 1, -1, -1, -1, 1, 3, -2}) {
    const qint64 under = axis.offset_at(anchor);
    axis = axis.zoomed(steps, anchor);
    // Whole-pixel pitches move the anchor by less than a cell's rounding.
    QVERIFY(std::abs(static_cast<double>(axis.offset_at(anchor) - under)) <= 1);
    QVERIFY(axis.fraction() >= 0 && axis.fraction() < 1);
  }
}

void TestGeometry::axis_panning_there_and_back() {
  const OffsetAxis axis(1'000, 0, 9);
  const OffsetAxis moved = axis.panned(45);
  QCOMPARE(moved.origin(), 995);
  QCOMPARE(moved.x(1'000), 45.0);
  QCOMPARE(moved.panned(-45), axis);
  OffsetAxis small(0, 0, 3);
  for (int i = 0; i < 300; ++i) {
    small = small.panned(-1);
  }
  QCOMPARE(small.offset_at(0.01), 100);
}

void TestGeometry::axis_fits_ranges_data() {
  QTest::addColumn<qint64>("from");
  QTest::addColumn<qint64>("to");
  QTest::addColumn<double>("width");
  QTest::newRow("empty") << qint64{5} << qint64{5} << 600.0;
  QTest::newRow("few") << qint64{984} << qint64{1055} << 640.0;
  QTest::newRow("some") << qint64{0} << qint64{200} << 640.0;
  QTest::newRow("many") << qint64{7} << qint64{10'000'000} << 640.0;
  QTest::newRow("all") << qint64{0} << std::numeric_limits<qint64>::max() << 640.0;
}

void TestGeometry::axis_fits_ranges() {
  QFETCH(qint64, from);
  QFETCH(qint64, to);
  QFETCH(double, width);
  const OffsetAxis axis = OffsetAxis::fit(from, to, width);
  QCOMPARE(axis.x(from), 0.0);
  QVERIFY(axis.pitch() <= OffsetAxis::kRecordPitch);
  if (axis.pitch() > OffsetAxis::kMinPitch) {
    QVERIFY(axis.x(to) <= width + 1e-6);
  }
  if (axis.pitch() >= OffsetAxis::kHeatBelow) {
    QCOMPARE(axis.pitch(), std::floor(axis.pitch()));
  }
}

void TestGeometry::axis_follows_the_end() {
  for (const double pitch : {0.01, 0.4, 3.0, 9.0, 14.0}) {
    const OffsetAxis axis = OffsetAxis::ending_at(100'000, 640, pitch);
    QVERIFY(axis.x(100'000) <= 640 + 1e-6);
    QVERIFY(axis.x(100'000) > 640 - std::max(1.0, pitch) - 1e-6);
    if (pitch >= OffsetAxis::kHeatBelow) {
      QCOMPARE(axis.fraction(), 0.0);
    }
  }
}

void TestGeometry::ladder_in_and_out() {
  QCOMPARE(ladder_pitch(9, 0), 9.0);
  QCOMPARE(ladder_pitch(9, 1), 14.0);
  QCOMPARE(ladder_pitch(9, -1), 6.0);
  QCOMPARE(ladder_pitch(3, -1), 1.5);
  QCOMPARE(ladder_pitch(1.5, 1), 3.0);
  QCOMPARE(ladder_pitch(40, 5), 40.0);
  QVERIFY(ladder_pitch(1e-6, -3) >= OffsetAxis::kMinPitch);
  // From a free pitch, a step in is larger and a step out smaller.
  for (double pitch = 0.0007; pitch < 2.9; pitch *= 1.37) {
    QVERIFY(ladder_pitch(pitch, 1) > pitch);
    QVERIFY(ladder_pitch(pitch, -1) < pitch);
  }
}

void TestGeometry::ticks_are_nice_data() {
  QTest::addColumn<double>("pitch");
  for (const double pitch : {1e-5, 0.02, 0.5, 1.0, 3.0, 9.0, 24.0}) {
    QTest::addRow("%g", pitch) << pitch;
  }
}

void TestGeometry::ticks_are_nice() {
  QFETCH(double, pitch);
  const OffsetAxis axis(984, 0.25, pitch);
  const auto ticks = axis.ticks(640, 60);
  QVERIFY(!ticks.empty());
  for (std::size_t i = 0; i < ticks.size(); ++i) {
    QVERIFY(ticks[i].x >= 0 && ticks[i].x <= 640);
    QCOMPARE(ticks[i].x, axis.x(ticks[i].offset));
    if (i > 0) {
      QVERIFY(ticks[i].x - ticks[i - 1].x >= 60 - 1e-6);
      const qint64 step = ticks[i].offset - ticks[i - 1].offset;
      QCOMPARE(ticks[i].offset % step, 0);
      QCOMPARE(nice_step(static_cast<double>(step)), step);
    }
  }
}

void TestGeometry::detail_by_zoom_data() {
  QTest::addColumn<double>("pitch");
  QTest::addColumn<double>("mean_batch");
  QTest::addColumn<int>("segments");
  QTest::addColumn<int>("detail");
  QTest::newRow("records") << 9.0 << 10.0 << 3 << int(LaneDetail::records);
  QTest::newRow("records at 3") << 3.0 << 0.0 << 1 << int(LaneDetail::records);
  QTest::newRow("batches") << 1.5 << 10.0 << 3 << int(LaneDetail::batches);
  QTest::newRow("single records are no batches") << 1.5 << 1.0 << 1 << int(LaneDetail::heat);
  QTest::newRow("segments") << 0.01 << 10.0 << 12 << int(LaneDetail::segments);
  QTest::newRow("heat: one segment") << 0.01 << 10.0 << 1 << int(LaneDetail::heat);
  QTest::newRow("heat: too many segments") << 0.01 << 10.0 << 500 << int(LaneDetail::heat);
}

void TestGeometry::detail_by_zoom() {
  QFETCH(double, pitch);
  QFETCH(double, mean_batch);
  QFETCH(int, segments);
  QFETCH(int, detail);
  const OffsetAxis axis(0, 0, pitch);
  QCOMPARE(int(lane_detail(axis, 640, mean_batch, static_cast<std::size_t>(segments))), detail);
  QCOMPARE(cell_text(14), CellText::letter);
  QCOMPARE(cell_text(9), CellText::mark);
  QCOMPARE(cell_text(6), CellText::none);
}

void TestGeometry::coverage_counts_shares() {
  const OffsetAxis axis(100, 0, 0.5);  // two offsets per pixel
  const std::vector<Run> runs = {{90, 102}, {103, 104}, {110, 114}};
  const auto columns = coverage(axis, 8, runs);
  QCOMPARE(columns.size(), 8U);
  QCOMPARE(int(columns[0]), 255);  // 100, 101
  QCOMPARE(int(columns[1]), 128);  // 103 of 102, 103
  QCOMPARE(int(columns[2]), 0);
  QCOMPARE(int(columns[5]), 255);
  QCOMPARE(int(columns[6]), 255);
  QCOMPARE(int(columns[7]), 0);
  QVERIFY(coverage(axis, 0, runs).empty());
  QVERIFY(coverage(axis, -3, runs).empty());
  // Far more runs than pixels still costs one pass, and never writes outside.
  std::vector<Run> many;
  for (std::int64_t i = 0; i < 100'000; ++i) {
    many.push_back({i * 4, i * 4 + 2});
  }
  const OffsetAxis far(0, 0, 640.0 / 400'000);
  const auto half = coverage(far, 640, many);
  QVERIFY(std::all_of(half.begin(), half.end(), [](std::uint8_t v) { return v > 120 && v < 136; }));
}

void TestGeometry::segments_are_clipped() {
  const std::vector<std::int64_t> bases = {0, 1'000, 2'000, 3'000};
  const OffsetAxis axis(1'500, 0, 1);
  const auto spans = visible_segments(axis, 1'000, bases, 500, 3'120);
  QCOMPARE(spans.size(), 2U);
  QCOMPARE(spans[0].base, 1'000);
  QCOMPARE(spans[0].left, 0.0);
  QCOMPARE(spans[0].right, 500.0);
  QVERIFY(!spans[0].active);
  QCOMPARE(spans[1].end, 3'000);
  const auto all = visible_segments(OffsetAxis(0, 0, 0.1), 1'000, bases, 500, 3'120);
  QCOMPARE(all.size(), 4U);
  QCOMPARE(all.front().base, 500);  // clipped to the log start
  QVERIFY(all.back().active);
  QCOMPARE(all.back().end, 3'120);
  QVERIFY(visible_segments(axis, 1'000, {}, 0, 10).empty());
  QVERIFY(visible_segments(axis, 1'000, bases, 10, 10).empty());
}

void TestGeometry::flags_merge_and_move() {
  const std::vector<MarkIn> marks = {{Mark::log_start, 984, 0},
                                     {Mark::last_stable, 1'036, 468},
                                     {Mark::high_watermark, 1'042, 522},
                                     {Mark::log_end, 1'055, 639}};
  std::vector<Flag> flags = merge_marks(marks);
  QCOMPARE(flags.size(), 4U);
  for (Flag& flag : flags) {
    flag.width = 70;
  }
  place_flags(flags, 720, 2);
  QCOMPARE(flags[0].left, 0.0);
  QCOMPARE(flags[1].left, 398.0);  // LSO opens to the left
  QCOMPARE(flags[2].left, 522.0);
  QVERIFY(flags[3].left + flags[3].width <= 720);
  QCOMPARE(flag_rows(flags), 1);

  const std::vector<MarkIn> level = {{Mark::log_start, 0, 0},
                                     {Mark::last_stable, 7, 63},
                                     {Mark::high_watermark, 7, 63},
                                     {Mark::log_end, 7, 63}};
  std::vector<Flag> merged = merge_marks(level);
  QCOMPARE(merged.size(), 2U);
  QCOMPARE(merged[1].marks.size(), 3U);
  merged[0].width = 90;
  merged[1].width = 120;
  place_flags(merged, 640, 2);
  QCOMPARE(merged[0].row, 0);
  QCOMPARE(merged[1].row, 1);  // would overlap the log start's plate
  QCOMPARE(flag_rows(merged), 2);

  const std::vector<MarkIn> empty = {{Mark::log_end, 0, 0}, {Mark::log_start, 0, 0}, {Mark::high_watermark, 0, 0}};
  const auto one = merge_marks(empty);
  QCOMPARE(one.size(), 1U);
  QCOMPARE(one[0].marks.front(), Mark::log_start);
  QCOMPARE(one[0].marks.back(), Mark::log_end);
}

void TestGeometry::rows_first_fit() {
  const std::vector<std::pair<double, double>> spans = {{0, 50}, {40, 90}, {60, 100}, {95, 120}};
  const auto rows = first_fit_rows(spans, 2);
  QCOMPARE(rows, (std::vector<int>{0, 1, 0, 1}));
}

void TestGeometry::cubic_is_horizontal_at_its_ends() {
  const Cubic cubic = Cubic::between({100, 50}, {300, 250});
  QCOMPARE(cubic.tangent(0).y(), 0.0);
  QCOMPARE(cubic.tangent(1).y(), 0.0);
  QVERIFY(cubic.tangent(0).x() > 0);
  QCOMPARE(cubic.at(0), QPointF(100, 50));
  QCOMPARE(cubic.at(1), QPointF(300, 250));
  QCOMPARE(cubic.at(0.5), QPointF(200, 150));
  QVERIFY(cubic.distance_to(cubic.at(0.37)) < 0.5);
  QVERIFY(cubic.distance_to({100, 250}) > 60);
  QVERIFY(cubic.length() > 282 && cubic.length() < 330);
  double before = -1;
  for (int i = 0; i <= 10; ++i) {
    const double t = cubic.at_length(i / 10.0);
    QVERIFY(t > before && t <= 1);
    before = t;
  }
  QCOMPARE(cubic.bounds(), QRectF(100, 50, 200, 200));
  const auto head = arrow_head({10, 10}, {5, 0});
  QCOMPARE(head[0], QPointF(10, 10));
  QCOMPARE(head[1], QPointF(2, 14.5));
  QCOMPARE(arrow_head({0, 0}, {0, 0})[1], QPointF(-8, 4.5));
}

void TestGeometry::edge_width_grows_by_log() {
  QCOMPARE(edge_width(0), 1.5);
  QCOMPARE(edge_width(-5), 1.5);
  QCOMPARE(edge_width(std::nan("")), 1.5);
  QVERIFY(edge_width(1'000) < edge_width(1'000'000));
  QCOMPARE(edge_width(1e8), 4.0);
  QCOMPARE(edge_width(1e12), 4.0);
}

void TestGeometry::ports_stay_inside() {
  QCOMPARE(port_y(0, 100, 0, 1, 10), 50.0);
  QCOMPARE(port_y(0, 100, 0, 2, 10), 45.0);
  QCOMPARE(port_y(0, 100, 1, 2, 10), 55.0);
  for (std::size_t i = 0; i < 40; ++i) {
    const double y = port_y(10, 60, i, 40, 8);
    QVERIFY(y > 10 && y < 60);
  }
}

void TestGeometry::plates_do_not_overlap() {
  const Cubic curve = Cubic::between({0, 0}, {480, 60});
  std::vector<QRectF> plates;
  for (int i = 0; i < 4; ++i) {
    plates.push_back(plate_on(curve, {40, 18}, plates));
  }
  QCOMPARE(plates[0].center(), QPointF(240, 30));
  // Where the cards stand close, a plate lies on the border of neither.
  const Cubic close = Cubic::between({100, 20}, {156, 220});
  std::vector<QRectF> others;
  for (int i = 0; i < 4; ++i) {
    others.push_back(plate_on(close, {46, 18}, others));
    QVERIFY(others.back().left() > 102 && others.back().right() < 154);
  }
  // Every edge keeps its plate, even where it must cover a piece of another.
  for (int i = 0; i < 12; ++i) {
    others.push_back(plate_on(close, {46, 18}, others));
    QCOMPARE(others.back().size(), QSizeF(46, 18));
  }
  for (std::size_t i = 0; i < plates.size(); ++i) {
    QVERIFY(curve.distance_to(plates[i].center()) < 2);
    for (std::size_t j = 0; j < i; ++j) {
      QVERIFY(!plates[i].intersects(plates[j]));
    }
  }
}

void TestGeometry::cells_hit_test_data() {
  QTest::addColumn<int>("count");
  for (const int count : {0, 1, 5, 18, 50, 333, 10'000}) {
    QTest::addRow("%d", count) << count;
  }
}

void TestGeometry::cells_hit_test() {
  QFETCH(int, count);
  const CellGrid grid = CellGrid::fitting(QRectF(10, 20, 312, 500), count);
  for (int i = 0; i < count; ++i) {
    const QRectF cell = grid.cell(i);
    QCOMPARE(grid.at(cell.center()), std::optional<int>(i));
    QVERIFY(cell.right() <= 10 + 312 + 0.001);
  }
  QVERIFY(!grid.at(QPointF(9, 25)));
  QVERIFY(!grid.at(grid.cell(count).center()));
  QVERIFY(grid.bounds().height() <= 500);
}

void TestGeometry::layout_scales_data() {
  QTest::addColumn<int>("nodes");
  QTest::addColumn<int>("partitions");
  QTest::addColumn<int>("topics");
  QTest::addColumn<int>("groups");
  QTest::addColumn<int>("producers");
  QTest::addColumn<QSizeF>("size");
  for (const QSizeF size : {QSizeF(944, 636), QSizeF(704, 400), QSizeF(940, 470), QSizeF(1'340, 760), QSizeF(1'984, 1'060)}) {
    const auto name = [&](const char* what) {
      return QByteArray(what) + " in " + QByteArray::number(size.width());
    };
    QTest::newRow(name("one").constData()) << 1 << 3 << 2 << 1 << 2 << size;
    QTest::newRow(name("three").constData()) << 3 << 3 << 2 << 2 << 2 << size;
    QTest::newRow(name("limit of rows").constData()) << 8 << 24 << 3 << 4 << 6 << size;
    QTest::newRow(name("matrix").constData()) << 3 << 600 << 1'000 << 40 << 30 << size;
    QTest::newRow(name("10,000").constData()) << 1 << 10'000 << 2 << 1'000 << 200 << size;
    QTest::newRow(name("16 nodes").constData()) << 16 << 625 << 1'000 << 1'000 << 200 << size;
  }
}

void TestGeometry::layout_scales() {
  QFETCH(int, nodes);
  QFETCH(int, partitions);
  QFETCH(int, topics);
  QFETCH(int, groups);
  QFETCH(int, producers);
  QFETCH(QSizeF, size);
  for (const Detail detail : {Detail::low, Detail::mid, Detail::full}) {
    LayoutIn in;
    in.size = size;
    in.detail = detail;
    for (int n = 0; n < nodes; ++n) {
      LayoutNode node;
      for (int t = 0; t < topics; ++t) {
        node.topics.push_back({t == 0 ? partitions : 6});
      }
      in.nodes.push_back(std::move(node));
    }
    in.groups.assign(static_cast<std::size_t>(groups), LayoutGroup{{2, 1}, false});
    in.producers.assign(static_cast<std::size_t>(producers), LayoutProducer{true});
    in.controllers = std::min(nodes, 3);
    const ClusterLayout out = layout_cluster(in);
    QCOMPARE(out.nodes.size(), static_cast<std::size_t>(nodes));
    QCOMPARE(out.matrix, nodes > 8 || partitions > 24);
    QCOMPARE(static_cast<int>(out.producers.size()) + out.hidden_producers, producers);
    QCOMPARE(static_cast<int>(out.groups.size()) + out.hidden_groups, groups);
    const QRectF all(QPointF(0, 0), out.content);
    std::vector<QRectF> cards;
    for (const auto& p : out.producers) {
      cards.push_back(p.card);
    }
    for (const auto& n : out.nodes) {
      cards.push_back(n.card);
      for (const auto& row : n.rows) {
        QVERIFY(n.card.contains(row.rect));
        QVERIFY(row.rect.contains(row.bar));
      }
      for (const auto& t : n.topics) {
        if (t.cells) {
          QVERIFY(n.card.adjusted(0, 0, 0.01, 0.01).contains(t.cells->bounds()));
        }
      }
      QVERIFY(n.rows.size() <= 48);
    }
    for (const auto& g : out.groups) {
      cards.push_back(g.card);
    }
    cards.push_back(out.controllers);
    for (std::size_t i = 0; i < cards.size(); ++i) {
      QVERIFY2(all.contains(cards[i]), qPrintable(QStringLiteral("card %1 outside").arg(i)));
      for (std::size_t j = 0; j < i; ++j) {
        QVERIFY2(!cards[i].intersects(cards[j]), qPrintable(QStringLiteral("cards %1 and %2").arg(i).arg(j)));
      }
    }
    // Bars of all nodes share one x axis.
    for (const auto& n : out.nodes) {
      for (const auto& row : n.rows) {
        QCOMPARE(row.bar.left(), out.nodes.front().rows.front().bar.left());
        QCOMPARE(row.bar.width(), out.nodes.front().rows.front().bar.width());
      }
    }
  }
}

void TestGeometry::layout_of_pictures() {
  LayoutIn in;
  in.size = {944, 636};
  in.nodes.assign(3, LayoutNode{{{3}, {6}}});
  in.groups = {LayoutGroup{{2, 1}, false}, LayoutGroup{{0, 3}, false}};
  in.producers = {LayoutProducer{true}, LayoutProducer{false}};
  in.controllers = 3;
  const ClusterLayout out = layout_cluster(in);
  QCOMPARE(out.nodes[0].card.width(), 336.0);
  QCOMPARE(out.nodes[0].card.left(), 276.0);  // "highwater-window" fits left of it
  QCOMPARE(out.nodes[0].rows.size(), 3U);
  QCOMPARE(out.nodes[1].card.top() - out.nodes[0].card.bottom(), 46.0);
  QVERIFY(out.nodes[2].card.bottom() <= 636);
  QCOMPARE(out.controller_chips.size(), 3U);
  QCOMPARE(out.nodes[0].rows[0].bar.width(), 166.0);
  // Where a banner takes room, how many topics are not shown goes beside the first one's name: the last card stays whole.
  for (LayoutNode& node : in.nodes) {
    node = LayoutNode{{LayoutTopic{3}}};
    node.more_topics = 82;
  }
  in.size = {944, 540};
  const ClusterLayout roomy = layout_cluster(in);
  QVERIFY(roomy.nodes[0].hidden_label.top() > roomy.nodes[0].rows.back().rect.top());
  in.size = {944, 480};
  const ClusterLayout low = layout_cluster(in);
  QCOMPARE(low.nodes[0].hidden_label.top(), low.nodes[0].topics[0].label.top());
  QVERIFY(low.nodes[2].card.bottom() <= 480);
  QVERIFY(low.nodes[0].card.contains(low.nodes[0].hidden_label));
  // The smallest window, with a banner and a story: everything is there, whole.
  in.size = {1016, 372};
  in.detail = Detail::low;
  in.groups.assign(7, LayoutGroup{{2, 1}, false});
  const ClusterLayout smallest = layout_cluster(in);
  QCOMPARE(smallest.content.height(), 372.0);
  QCOMPARE(smallest.hidden_groups, 0);
  // And a large one is not left empty.
  in.size = {1980, 980};
  in.detail = Detail::full;
  const ClusterLayout large = layout_cluster(in);
  QVERIFY(large.nodes[2].card.bottom() > 500);
  QVERIFY(large.nodes[2].card.bottom() <= 980);
}

void TestGeometry::layout_of_nothing() {
  LayoutIn in;
  in.size = {300, 100};
  const ClusterLayout out = layout_cluster(in);
  QVERIFY(out.nodes.empty());
  QVERIFY(out.controllers.isEmpty());
  QVERIFY(out.content.width() >= 300);
  in.nodes.resize(1);
  in.groups.resize(1);
  in.groups[0].note = true;
  const ClusterLayout bare = layout_cluster(in);
  QCOMPARE(bare.nodes[0].rows.size(), 0U);
  QVERIFY(!bare.groups[0].hidden_label.isEmpty() || bare.groups[0].card.height() == 32);
}

void TestGeometry::steps_of_one_moment_keep_their_order() {
  const StepScale::Span span{100, 500, 0, 100};
  const StepScale calm({0, 50, 100}, span, 480, 14);
  QVERIFY(!calm.spread());
  QCOMPARE(calm.at(1), 300.0);
  QCOMPARE(calm.x(25), 200.0);
  QCOMPARE(calm.at(2), 480.0);  // no further than the last place
  // Five in the last millisecond: each behind the one before, none over the end, and times go on in between.
  const StepScale tight({0, 99, 99, 99, 99, 99}, span, 480, 14);
  QVERIFY(tight.spread());
  for (std::size_t i = 1; i < tight.size(); ++i) {
    QVERIFY(tight.at(i) - tight.at(i - 1) >= 14 - 1e-9);
  }
  QCOMPARE(tight.at(5), 480.0);
  QCOMPARE(tight.x(99), tight.at(1));
  QVERIFY(tight.x(50) > tight.at(0) && tight.x(50) < tight.at(1));
  QVERIFY(tight.x(100) > tight.at(5) || tight.x(100) == 500.0);
  // More than there is room for: closer together, still in order.
  const StepScale many(std::vector<std::int64_t>(100, 7), span, 480, 14);
  QVERIFY(many.at(99) <= 480.0);
  QVERIFY(many.at(1) > many.at(0));
  QCOMPARE(StepScale({}, span, 480, 14).x(100), 500.0);
}

QTEST_APPLESS_MAIN(TestGeometry)
#include "tst_geometry.moc"
