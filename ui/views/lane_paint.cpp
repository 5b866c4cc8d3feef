// SPDX-License-Identifier: Apache-2.0
// How partition lanes look. Cells and blocks are fillRect grouped by colour; nothing is smoothed but glyphs.
#include <algorithm>
#include <cmath>
#include <vector>

#include <QPainter>

#include "ui/painting/shapes.h"
#include "ui/painting/text.h"
#include "ui/theme/glyphs.h"
#include "ui/views/lane_metrics.h"
#include "ui/views/lane_view.h"

namespace hw::ui {

namespace {

using geometry::LaneDetail;
using geometry::Mark;
using geometry::OffsetAxis;
namespace m = lane_metrics;

const Colors& colors() { return Theme::current().colors(); }

QString mark_name(Mark mark) {
  switch (mark) {
    case Mark::log_start:
      return LaneView::tr("log start");
    case Mark::last_stable:
      return QStringLiteral("LSO");
    case Mark::high_watermark:
      return QStringLiteral("HW");
    case Mark::log_end:
      return QStringLiteral("LEO");
  }
  return {};
}

// The colour of the most important mark on a plate.
QColor mark_color(const std::vector<Mark>& marks) {
  const Colors& c = colors();
  const auto has = [&](Mark mark) { return std::find(marks.begin(), marks.end(), mark) != marks.end(); };
  if (has(Mark::high_watermark)) {
    return c.text;
  }
  if (has(Mark::last_stable)) {
    return c.txn;
  }
  return c.control;
}

void outline(QPainter& p, const QRectF& rect, const QColor& color) {
  p.fillRect(QRectF(rect.left(), rect.top(), rect.width(), 1), color);
  p.fillRect(QRectF(rect.left(), rect.bottom() - 1, rect.width(), 1), color);
  p.fillRect(QRectF(rect.left(), rect.top(), 1, rect.height()), color);
  p.fillRect(QRectF(rect.right() - 1, rect.top(), 1, rect.height()), color);
}

void triangle(QPainter& p, std::array<QPointF, 3> points, const QColor& color) {
  p.setRenderHint(QPainter::Antialiasing, true);
  p.setPen(Qt::NoPen);
  p.setBrush(color);
  p.drawPolygon(points.data(), 3);
  p.setRenderHint(QPainter::Antialiasing, false);
}

}  // namespace

QString flag_text(const geometry::Flag& flag) {
  QStringList names;
  for (const Mark mark : flag.marks) {
    names << mark_name(mark);
  }
  const QString text = QStringLiteral("%1 %2").arg(names.join(QStringLiteral(" = "))).arg(flag.offset);
  if (flag.outside == 0) {
    return text;
  }
  return flag.outside < 0 ? QStringLiteral("\u2190 ") + text : text + QStringLiteral(" \u2192");
}

double plate_width_of(const geometry::Flag& flag) { return plate_width(flag_text(flag)); }

void LaneView::paintCanvas(QPainter& p, const QRectF& exposed) {
  const Colors& c = colors();
  p.fillRect(exposed, c.canvas);
  const auto [first, last] = visiblePartitions();
  for (int i = first; i < last; ++i) {
    const Place place = placeOf(i);
    if (place.top > exposed.bottom() || place.top + place.height < exposed.top()) {
      continue;
    }
    const observe::PartitionView* view = partitionView(i);
    if (view == nullptr) {
      continue;
    }
    Lane& here = lane(i);
    if (place.expanded) {
      paintExpanded(p, i, place, *view, here);
    } else {
      paintCollapsed(p, i, place, *view, here);
    }
    paint_hline(p, 0, width() / Theme::current().scale(), place.top + place.height - 1, c.hair);
  }
}

void LaneView::paintExpanded(QPainter& p, int partition, const Place& place, const observe::PartitionView& view,
                             Lane& here) {
  const Colors& c = colors();
  const OffsetAxis axis = axisOf(partition, here);
  const double whole = width() / Theme::current().scale();
  const bool selected = indexOf(selection()) == partition;
  // Header.
  const double y = place.top + m::kHeader / 2 + 1;
  p.drawPixmap(QPointF(10, y - 7), icon_pixmap(QStringLiteral("chevron-down"), c.text2, 14, devicePixelRatioF() * Theme::current().scale()));
  const QString name = QStringLiteral("p%1").arg(partition);
  text_left(p, 30, y, name, FontRole::data_strong, c.text);
  QStringList isr;
  for (const BrokerId node : view.isr) {
    isr << QString::number(node.value());
  }
  const QString about = tr(" · epoch %1 · in-sync %2").arg(view.leader_epoch.value()).arg(isr.isEmpty() ? tr("none") : isr.join(QLatin1Char(' ')));
  const observe::ReplicaView* main = view.replica(view.leader);
  QString size;
  if (main != nullptr && main->counters) {
    const std::int64_t held = here.leader.leo - here.leader.start;
    const std::int64_t bytes = main->counters->size_bytes.get();
    const auto segments = static_cast<int>(std::max<std::size_t>(1, main->segments.size()));
    size = tr("%1 offsets · %2 · %3").arg(format_count(held), format_bytes(bytes),
                                          tr("%Ln segments", nullptr, segments));
  }
  const double size_width = text_width(size, FontRole::caption);
  // That nobody leads comes before all else, and in its colour.
  const LeaderText& led = here.leads;
  const double about_x = 30 + text_width(name, FontRole::data_strong) + 12;
  const double about_end = whole - Metrics::kPagePadding - size_width - (size.isEmpty() ? 0 : 16);
  text_fit(p, about_x, y, about_end - about_x, led.text, FontRole::control, led.fails ? c.err_t : led.warns ? c.warn_t : c.text2);
  const double rest_x = about_x + text_width(led.text, FontRole::control);
  if (rest_x + 40 < about_end) {
    text_fit(p, rest_x, y, about_end - rest_x, about, FontRole::control, c.text2);
  }
  text_right(p, whole - Metrics::kPagePadding, y, size, FontRole::caption, c.text2);
  if (selected) {
    p.fillRect(QRectF(0, place.top + 4, 3, m::kHeader - 8), c.leader);
  }
  // Ruler, flags, lanes, segments, groups.
  text_left(p, 30, place.ruler + 8, tr("offsets of p%1").arg(partition), FontRole::caption, c.text2);
  paintRuler(p, place.ruler, axis);
  const std::vector<int> order = replicaOrder(view);
  const double lanes_bottom = place.segments - 4;
  paintRange(p, partition, axis, place.lanes, lanes_bottom, true);
  double top = place.lanes;
  for (const int r : order) {
    const observe::ReplicaView& replica = view.replicas[static_cast<std::size_t>(r)];
    const bool leads = replica.node == view.leader;
    const bool in_sync = std::find(view.isr.begin(), view.isr.end(), replica.node) != view.isr.end();
    const double height = leads ? m::kLane : m::kFollower;
    const Levels levels = static_cast<std::size_t>(r) < here.replicas.size() ? here.replicas[static_cast<std::size_t>(r)]
                                                                              : here.leader;
    const QRectF rect(plotLeft(), top + m::kLaneGap, plotWidth(), height - 2 * m::kLaneGap);
    const Note* note = static_cast<std::size_t>(r) < here.notes.size() ? &here.notes[static_cast<std::size_t>(r)] : nullptr;
    paintLane(p, rect, axis, levels, here, replica, leads, in_sync, note);
    paintGhosts(p, rect, axis, view, replica.node);
    top += height;
  }
  if (here.leader.leo <= here.leader.start) {
    text_left(p, plotLeft() + 12, place.lanes + m::kLane / 2, tr("empty: the first record gets offset %1").arg(here.leader.leo),
              FontRole::caption, c.text3);
  }
  paintFlags(p, place, partition, here, lanes_bottom);
  paintRange(p, partition, axis, place.lanes, lanes_bottom, false);
  if (main != nullptr) {
    text_left(p, 48, place.segments + 15, tr("segments"), FontRole::caption, c.text2);
    paintSegments(p, place.segments, axis, here, *main);
  }
  if (place.epochs > 0) {
    text_left(p, 48, place.epochs + 15, tr("leader epochs"), FontRole::caption, c.text2);
    paintEpochs(p, place.epochs, axis, here, view);
  }
  paintGroups(p, place.groups, axis, here, true);
}

void LaneView::paintCollapsed(QPainter& p, int partition, const Place& place, const observe::PartitionView& view,
                              Lane& here) {
  const Colors& c = colors();
  const OffsetAxis axis = axisOf(partition, here);
  const double y = place.lanes + m::kCollapsedLane / 2;
  const bool selected = indexOf(selection()) == partition;
  p.drawPixmap(QPointF(10, y - 7), icon_pixmap(QStringLiteral("chevron-right"), c.text2, 14, devicePixelRatioF() * Theme::current().scale()));
  const QString name = QStringLiteral("p%1").arg(partition);
  text_left(p, 30, y, name, FontRole::data_strong, c.text);
  const double after = 30 + text_width(name, FontRole::data_strong) + 14;
  const observe::ReplicaView* main = view.replica(view.leader);
  if (main == nullptr) {
    paint_glyph(p, Glyph::cross, QPointF(after + 6, y), 12);
    text_left(p, after + 18, y, tr("no leader"), FontRole::data, c.err_t);
  } else {
    const bool paused = main->online && conditionOf(view.leader).paused;
    paint_glyph(p, !main->online ? Glyph::cross : (paused ? Glyph::bolt : Glyph::crown), QPointF(after + 6, y), 12);
    text_fit(p, after + 18, y, plotLeft() - after - 22, tr("node %1").arg(view.leader.value()), FontRole::data,
             !main->online ? c.err_t : (paused ? c.warn_t : c.text));
  }
  if (selected) {
    p.fillRect(QRectF(0, place.top + 8, 3, m::kCollapsedLane + 4), c.leader);
  }
  const QRectF lane_rect(plotLeft(), place.lanes, plotWidth(), m::kCollapsedLane);
  paintRange(p, partition, axis, lane_rect.top() - 3, lane_rect.bottom() + 3, true);
  if (main != nullptr) {
    paintLane(p, lane_rect, axis, here.leader, here, *main, true, true);
  }
  paintRange(p, partition, axis, lane_rect.top() - 3, lane_rect.bottom() + 3, false);
  // Ends of the visible range, and what is special, below.
  const double below = place.lanes + m::kCollapsedLane + 13;
  const std::int64_t from = std::max(here.leader.start, axis.offset_at(0));
  const std::int64_t to = std::min(here.leader.leo, axis.offset_at(plotWidth()));
  const double from_x = plotLeft() + std::max(0.0, axis.x(from));
  if (here.leader.leo > here.leader.start && to > from) {
    const QString first = format_offset(from);
    const double end_x = plotLeft() + std::clamp(axis.x(to), 0.0, plotWidth());
    // Its own axis: the ruler above belongs to another partition.
    const double base = std::round(lane_rect.bottom()) + 2;
    paint_hline(p, std::round(from_x), std::round(end_x), base, c.control);
    paint_vline(p, std::round(from_x), base, base + 4, c.control);
    paint_vline(p, std::round(end_x) - 1, base, base + 4, c.control);
    // Pins keep their places; words step aside to the right.
    std::vector<double> pins;
    for (const std::int64_t at : here.committed) {
      if (at >= 0) {
        pins.push_back(plotLeft() + std::clamp(axis.x(at), 0.0, plotWidth()));
      }
    }
    std::sort(pins.begin(), pins.end());
    const auto beside_pins = [&pins](double x, double wide) {
      for (const double pin : pins) {
        if (pin > x - 7 && pin < x + wide + 7) {
          x = pin + 12;
        }
      }
      return x;
    };
    const double first_x = beside_pins(from_x, text_width(first, FontRole::small_data));
    const double first_width = first_x - from_x + text_width(first, FontRole::small_data);
    if (first_x < end_x) {
      text_left(p, first_x, below, first, FontRole::small_data, c.text3);
    }
    const double last_width = text_width(format_offset(to), FontRole::small_data);
    // A pin near the end says more than the number there.
    const bool pinned = std::any_of(here.committed.begin(), here.committed.end(), [&](std::int64_t at) {
      return at >= 0 && std::abs(plotLeft() + axis.x(at) - end_x) < last_width + 8;
    });
    if (!pinned && end_x - last_width > from_x + first_width + 8) {
      text_right(p, end_x, below, format_offset(to), FontRole::small_data, c.text3);
    }
    QStringList notes;
    // Who does not answer is named; of the others it is counted who has everything.
    int followers = 0;
    int behind = 0;
    for (std::size_t r = 0; r < view.replicas.size() && r < here.replicas.size(); ++r) {
      const observe::ReplicaView& replica = view.replicas[r];
      if (!replica.online) {
        notes << tr("node %1 is down").arg(replica.node.value());
      } else if (conditionOf(replica.node).paused) {
        notes << tr("node %1 is paused").arg(replica.node.value());
      } else if (replica.node != view.leader) {
        ++followers;
        behind += here.replicas[r].leo < here.leader.leo ? 1 : 0;
      }
    }
    if (followers > 0) {
      notes << (behind == 0 ? tr("%Ln followers level", nullptr, followers)
                            : tr("%1 of %Ln followers behind", nullptr, followers).arg(behind));
    }
    if (here.leader.hw < here.leader.leo) {
      notes << tr("%1 above the high watermark").arg(format_count(here.leader.leo - here.leader.hw));
    }
    notes << tr("%1 offsets").arg(format_count(here.leader.leo - here.leader.start));
    // Whole notes only: of a number that is cut nothing can be read.
    double notes_x = 0;
    for (; !notes.isEmpty(); notes.removeLast()) {
      const double wide = text_width(notes.join(QStringLiteral(" · ")), FontRole::caption);
      notes_x = beside_pins(from_x + first_width + 16, wide);
      if (notes_x + wide <= end_x - last_width - 16) {
        break;
      }
    }
    text_left(p, notes_x, below, notes.join(QStringLiteral(" · ")), FontRole::caption, c.text2);
  } else {
    const bool pinned = std::any_of(here.committed.begin(), here.committed.end(), [](std::int64_t at) { return at >= 0; });
    text_left(p, plotLeft() + (pinned ? 12 : 0), below, tr("empty"), FontRole::caption, c.text3);
  }
  paintGroups(p, place.lanes + m::kCollapsedLane, axis, here, false);
}

void LaneView::paintLane(QPainter& p, const QRectF& rect, const OffsetAxis& axis, const Levels& levels, Lane& here,
                         const observe::ReplicaView& replica, bool leads, bool in_sync, const Note* note) {
  const Colors& c = colors();
  const bool tall = rect.height() > m::kCollapsedLane;
  const double y = rect.center().y();
  const bool behind = levels.leo < here.leader.leo;
  ReplicaState state = leads ? ReplicaState::leader : (in_sync && !behind ? ReplicaState::in_sync : ReplicaState::behind);
  if (!replica.online) {
    state = ReplicaState::offline;
  }
  if (tall) {
    paint_glyph(p, glyph_of(state), QPointF(36, y), 12);
    const QString name = tr("node %1").arg(replica.node.value());
    text_left(p, 48, y, name, leads ? FontRole::data_strong : FontRole::data, c.text);
    if (leads) {
      text_left(p, 48 + text_width(name, FontRole::data_strong) + 10, y, replica.online ? tr("leader") : tr("led"), FontRole::caption,
                replica.online ? c.text2 : c.err_t);
    } else if (state == ReplicaState::offline) {
      text_left(p, 48 + text_width(name, FontRole::data) + 10, y, tr("offline"), FontRole::caption, c.err_t);
    }
  }
  QColor fill = c.leader;
  QBrush above = hatch_brush(Hatch::above_hw);
  switch (state) {
    case ReplicaState::leader:
      break;
    case ReplicaState::in_sync:
      fill = c.ok;
      above = hatch_brush(Hatch::above_hw_ok);
      break;
    case ReplicaState::behind:
      fill = c.ok_soft == c.canvas ? c.warn : c.ok_soft;  // high contrast has no soft colours
      above = hatch_brush(Hatch::above_hw_warn);
      break;
    case ReplicaState::offline:
      fill = c.err_soft == c.canvas ? c.err : c.err_soft;
      above = QBrush(c.err_tint);
      break;
  }
  p.save();
  p.setClipRect(rect.adjusted(-1, -4, 1, 4), Qt::IntersectClip);
  if (axis.pitch() >= OffsetAxis::kHeatBelow) {
    paintCells(p, rect, axis, levels, here, fill, above, leads);
  } else {
    paintBlocks(p, rect, axis, levels, here, replica, fill, above);
  }
  p.restore();
  // What a follower does not have yet.
  const double end = rect.left() + std::clamp(axis.x(levels.leo), 0.0, rect.width());
  const double leader_end = rect.left() + std::clamp(axis.x(here.leader.leo), 0.0, rect.width());
  if (behind && leader_end > end + 1) {
    QPen pen(c.warn_line, 1, Qt::CustomDashLine, Qt::FlatCap);
    pen.setDashPattern({2, 4});
    p.setPen(pen);
    p.drawLine(QPointF(end, std::floor(y) + 0.5), QPointF(leader_end, std::floor(y) + 0.5));
  }
  const double label_x = rect.right() + 16;
  const double at_end = axis.x(here.leader.leo);
  if (leads && replica.online && at_end >= -1 && at_end <= rect.width() + 1) {
    const double x = rect.left() + std::round(at_end) + 3;
    triangle(p, {QPointF(x, y - 5), QPointF(x + 6, y), QPointF(x, y + 5)}, c.leader);
  }
  const bool two_lines = tall && note != nullptr && !note->text.isEmpty();
  const double number_y = two_lines ? y - 7 : y;
  const QString leo = replica.online || replica.last_log_end != kNoOffset ? format_offset(levels.leo) : QStringLiteral("–");
  text_left(p, label_x, number_y, leo, leads ? FontRole::data_strong : FontRole::data, state == ReplicaState::offline ? c.text2 : c.text);
  double after = label_x + text_width(leo, FontRole::data) + 8;
  if (behind) {
    const QString distance = QStringLiteral("-%1").arg(here.leader.leo - levels.leo);
    text_left(p, after, number_y, distance, FontRole::small_data, state == ReplicaState::offline ? c.err_t : c.warn_t);
    after += text_width(distance, FontRole::small_data) + 8;
  }
  if (note != nullptr && note->holds) {
    text_fit(p, after, number_y, rect.right() + m::kRight - after - 4, tr("holds HW"), FontRole::caption_strong, c.warn_t);
  }
  if (two_lines) {
    text_fit(p, label_x, y + 8, m::kRight - 20, note->text, FontRole::caption, note->fails ? c.err_t : (note->warns ? c.warn_t : c.text2));
  }
}

// Records that a replica had and cut off: outlines where they were.
void LaneView::paintGhosts(QPainter& p, const QRectF& rect, const OffsetAxis& axis, const observe::PartitionView& view, BrokerId node) {
  const Colors& c = colors();
  std::vector<QRectF> plates;
  for (const observe::TruncationView& cut : view.truncations) {
    if (cut.node != node || cut.at.ms <= ghosts_since_ms_) {
      continue;
    }
    const double from = axis.x(cut.to.value());
    const double to = axis.x(cut.from.value());
    if (to < 0 || from > rect.width()) {
      continue;
    }
    QPen pen(c.past, 1, Qt::CustomDashLine, Qt::FlatCap);
    pen.setDashPattern({2, 2});
    p.setPen(pen);
    p.setBrush(Qt::NoBrush);
    const double top = std::round(rect.bottom()) - 9;
    const std::int64_t count = cut.from.value() - cut.to.value();
    if (axis.pitch() >= OffsetAxis::kHeatBelow) {
      const double wide = std::max(2.0, std::floor(axis.pitch()) - 1);
      for (std::int64_t offset = std::max(cut.to.value(), axis.offset_at(0)); offset < cut.from.value(); ++offset) {
        const double x = rect.left() + axis.pixel(offset);
        if (x + wide > rect.right()) {
          break;
        }
        p.drawRect(QRectF(x + 0.5, top + 0.5, wide - 1, 8));
      }
    } else {
      const double left = rect.left() + std::max(0.0, std::round(from));
      p.drawRect(QRectF(left + 0.5, top + 0.5, std::max(2.0, rect.left() + std::min(rect.width(), std::round(to)) - left - 1), 8));
    }
    const QString text = count == 1 ? tr("1 record cut off in epoch %1").arg(cut.leader_epoch.value())
                                    : tr("%1 records cut off in epoch %2").arg(format_count(count)).arg(cut.leader_epoch.value());
    const double label = rect.left() + std::min(to, rect.width()) + 6;
    const double wide = text_width(text, FontRole::caption);
    // Behind it, else before it, and over no other; that they were never committed is in the legend.
    for (const double x : {label, rect.left() + from - wide - 6}) {
      const QRectF plate(x - 4, top - 5, wide + 8, 15);
      const bool free = std::none_of(plates.begin(), plates.end(), [&](const QRectF& other) { return other.intersects(plate); });
      if (free && plate.left() >= rect.left() - 4 && plate.right() <= rect.right() + 8) {
        p.fillRect(plate, c.canvas);  // over records that came after
        text_left(p, x, top + 4, text, FontRole::caption, c.text2);
        plates.push_back(plate);
        break;
      }
    }
  }
}

// Where each leader began, as brackets like those of the segments. REQUIRES: an epoch.
void LaneView::paintEpochs(QPainter& p, double y, const OffsetAxis& axis, const Lane& here, const observe::PartitionView& view) {
  const Colors& c = colors();
  const double left = plotLeft();
  // A view keeps the newest epochs only: an empty strip would look as if nobody had led.
  if (const std::int64_t known = view.epochs.front().start.value(); known > here.leader.start) {
    const double from_x = axis.x(here.leader.start);
    const double to_x = axis.x(known);
    if (to_x > 0 && from_x < plotWidth()) {
      const double from = left + std::round(std::max(0.0, from_x));
      const double to = left + std::round(std::min(plotWidth(), to_x));
      p.setPen(QPen(c.text3, 1.0, Qt::DotLine));
      p.drawLine(QPointF(from + 1, y + 5.5), QPointF(std::max(from + 3, to - 1), y + 5.5));
      const QString older = tr("older: not known");
      if (text_width(older, FontRole::caption) <= to - from - 8) {
        text_left(p, from + 4, y + 15, older, FontRole::caption, c.text3);
      }
    }
  }
  for (std::size_t i = 0; i < view.epochs.size(); ++i) {
    const observe::EpochView& epoch = view.epochs[i];
    const bool last = i + 1 == view.epochs.size();
    const std::int64_t end = last ? here.leader.leo : view.epochs[i + 1].start.value();
    const double from_x = axis.x(std::max(epoch.start.value(), here.leader.start));
    const double to_x = axis.x(end);
    if (to_x < 0 || from_x > plotWidth()) {
      continue;
    }
    const double from = left + std::round(std::max(0.0, from_x));
    const double to = left + std::round(std::min(plotWidth(), to_x));
    const bool empty = end <= epoch.start.value();
    paint_hline(p, from + 1, std::max(from + 3, to - 1), y + 5, c.leader);
    if (from_x >= 0) {
      paint_vline(p, from + 1, y, y + 6, c.leader);
    }
    if (empty && !last) {
      continue;  // nothing was written in it
    }
    const QString name = tr("epoch %1").arg(epoch.epoch.value());
    const QString who = tr("node %1").arg(epoch.leader.value());
    const double room = (last ? left + plotWidth() + m::kRight : to) - from - 8;
    const double name_width = text_width(name, FontRole::small_data);
    if (name_width <= room) {
      text_left(p, from + 4, y + 15, name, FontRole::small_data, c.text2);
      if (name_width + 8 + text_width(who, FontRole::caption) <= room) {
        text_left(p, from + 4 + name_width + 8, y + 15, who, FontRole::caption, c.text3);
      }
    }
  }
}

void LaneView::paintCells(QPainter& p, const QRectF& rect, const OffsetAxis& axis, const Levels& levels,
                          const Lane& here, const QColor& fill, const QBrush& above, bool leads) {
  const Theme& theme = Theme::current();
  const Colors& c = theme.colors();
  const std::int64_t from = std::max(levels.start, axis.offset_at(0));
  const std::int64_t to = std::min(levels.leo, axis.offset_at(rect.width()) + 1);
  const geometry::CellText detail = geometry::cell_text(axis.pitch());
  const double top = std::round(rect.top());
  const double height = std::round(rect.height());
  const double cell_width = std::max(1.0, axis.pitch() - 1);
  const double middle = std::floor(top + height / 2);
  CellBatch batch;
  struct Mark {
    QRectF cell;
    Glyph glyph;
  };
  std::vector<Mark> marks;
  struct Letter {
    QPointF at;
    char16_t letter;
    QColor color;
  };
  std::vector<Letter> letters;
  for (std::int64_t offset = from; offset < to; ++offset) {
    const QRectF cell(rect.left() + axis.pixel(offset), top, cell_width, height);
    const RecordCache::Cell* known = here.cache.find(offset);
    if (known == nullptr && here.cache.known(offset)) {
      // Removed: an empty slot with a line through it.
      batch.add(c.border, QRectF(cell.left(), top, 1, height));
      batch.add(c.border, QRectF(cell.right() - 1, top, 1, height));
      batch.add(c.control, QRectF(cell.left() - 1, middle, cell.width() + 2, 1));
      continue;
    }
    const bool waits = offset >= levels.hw;
    const bool marker = known != nullptr && (known->kind == RecordCache::Kind::commit_marker ||
                                             known->kind == RecordCache::Kind::abort_marker);
    if (marker) {
      marks.push_back({cell, known->kind == RecordCache::Kind::commit_marker ? Glyph::diamond_filled : Glyph::slashed_ring});
      continue;
    }
    if (known != nullptr && known->kind == RecordCache::Kind::tombstone && !waits) {
      batch.add(c.past_tint, cell);
      batch.add(c.past, QRectF(cell.left(), top, cell.width(), 1));
      batch.add(c.past, QRectF(cell.left(), top + height - 1, cell.width(), 1));
      batch.add(c.past, QRectF(cell.left(), top, 1, height));
      batch.add(c.past, QRectF(cell.right() - 1, top, 1, height));
      if (detail != geometry::CellText::none) {
        marks.push_back({cell, Glyph::dagger});
      }
      continue;
    }
    if (waits) {
      p.fillRect(cell, above);
      outline(p, cell, fill);
      continue;
    }
    const bool colored = color_by_key_ && leads && known != nullptr && known->hue >= 0;
    const QColor color = colored ? c.key_hues[static_cast<std::size_t>(known->hue)] : fill;
    batch.add(color, cell);
    if (known != nullptr && known->kind == RecordCache::Kind::empty_value && cell_width >= 5) {
      batch.add(c.canvas, cell.adjusted(2, 2, -2, -2));  // an empty value: a record without a filling
    }
    if (detail == geometry::CellText::letter && leads && known != nullptr) {
      const QColor on = known->kind == RecordCache::Kind::empty_value ? c.text : theme.onHue(color);
      if (known->letter != 0) {
        letters.push_back({cell.center(), known->letter, on});
      } else if (known->hue < 0) {
        letters.push_back({cell.center(), u'\x2205', on});
      }
    }
  }
  batch.flush(p);
  for (const Mark& mark : marks) {
    paint_glyph(p, mark.glyph, mark.cell.center(), std::min(12.0, axis.pitch() + 2));
  }
  for (const Letter& letter : letters) {
    if (letter.letter == u'\x2205') {
      paint_glyph(p, Glyph::slashed_zero, letter.at, 9, letter.color);
    } else {
      text_center(p, letter.at.x(), letter.at.y(), QString(QChar(letter.letter)), FontRole::record_letter, letter.color);
    }
  }
  if (leads && hover_.on == Hit::On::plot && drag_ == Drag::none && hover_.offset >= from && hover_.offset < to) {
    const auto cell = cellRect(hover_.partition, hover_.offset);
    if (cell && cell->top() <= rect.top() && cell->bottom() >= rect.top()) {
      outline(p, QRectF(rect.left() + axis.pixel(hover_.offset) - 1, top - 1, cell_width + 2, height + 2), c.text);
    }
  }
}

void LaneView::paintBlocks(QPainter& p, const QRectF& rect, const OffsetAxis& axis, const Levels& levels,
                           const Lane& here, const observe::ReplicaView& replica, const QColor& fill,
                           const QBrush& above) {
  const Colors& c = colors();
  std::vector<std::int64_t> bases;
  bases.reserve(replica.segments.size());
  for (const Offset base : replica.segments) {
    bases.push_back(base.value());
  }
  const auto segments = geometry::visible_segments(axis, rect.width(), bases, levels.start, levels.leo);
  double mean_batch = 0;
  if (!here.batches.empty()) {
    mean_batch = static_cast<double>(here.batches.back().to - here.batches.front().from) /
                 static_cast<double>(here.batches.size());
  }
  const LaneDetail detail = geometry::lane_detail(axis, rect.width(), mean_batch, segments.size());
  const double left = rect.left() + std::max(0.0, std::round(axis.x(levels.start)));
  const double end = rect.left() + std::min(rect.width(), std::round(axis.x(levels.leo)));
  const double hw = rect.left() + std::clamp(std::round(axis.x(levels.hw)), 0.0, rect.width());
  const double top = std::round(rect.top());
  const double height = std::round(rect.height());
  if (end <= left) {
    if (levels.leo > levels.start && end >= rect.left() && left <= rect.right()) {
      p.fillRect(QRectF(left, top, 1, height), fill);
    }
    return;
  }
  p.fillRect(QRectF(left, top, std::max(0.0, std::min(hw, end) - left), height), fill);
  if (end > hw) {
    const QRectF waiting(std::max(left, hw), top, end - std::max(left, hw), height);
    p.fillRect(waiting, above);
    outline(p, waiting, fill);
  }
  // Gaps between batches or segments, one pixel wide: the block stays one colour.
  if (detail == LaneDetail::batches) {
    for (const geometry::Run& run : here.batches) {
      const double x = std::round(axis.x(run.from));
      if (x > 0 && x < rect.width()) {
        p.fillRect(QRectF(rect.left() + x - 1, top, 1, height), c.canvas);
      }
    }
  }
  if (detail != LaneDetail::heat || segments.size() * 3 < static_cast<std::size_t>(rect.width())) {
    for (const geometry::SegmentSpan& span : segments) {
      if (span.left > 0) {
        p.fillRect(QRectF(rect.left() + std::round(span.left) - 1, top - 2, 1, height + 4), c.canvas);
      }
    }
  }
}

void LaneView::paintRuler(QPainter& p, double y, const OffsetAxis& axis) {
  const Colors& c = colors();
  const double left = plotLeft();
  const double base = y + 20;
  paint_hline(p, left, left + plotWidth(), base, c.control);
  const auto from = static_cast<double>(std::max<std::int64_t>(1, axis.offset_at(plotWidth())));
  const double spacing = std::max(60.0, (std::floor(std::log10(from)) + 1) * 7 + 28);
  for (const OffsetAxis::Tick& tick : axis.ticks(plotWidth(), spacing)) {
    if (tick.offset < 0) {
      continue;
    }
    const double x = left + std::round(tick.x);
    paint_vline(p, x, base - 4, base, c.control);
    text_center(p, x, y + 8, format_offset(tick.offset), FontRole::small_data, c.text2);
  }
}

void LaneView::paintFlags(QPainter& p, const Place& place, int partition, const Lane& here, double bottom) {
  const Colors& c = colors();
  const double left = plotLeft();
  static_cast<void>(here);
  for (const geometry::Flag& flag : flagsOf(partition)) {
    const double x = left + flag.line_x;
    const double top = place.flags + flag.row * m::kFlagRow;
    const auto has = [&](Mark mark) { return std::find(flag.marks.begin(), flag.marks.end(), mark) != flag.marks.end(); };
    const QColor color = mark_color(flag.marks);
    if (flag.outside != 0) {
      // Its line is out of sight.
    } else if (has(Mark::high_watermark)) {
      p.fillRect(QRectF(x - 1, top, 2, bottom - top), c.text);
    } else if (has(Mark::last_stable)) {
      QPen pen(c.txn, 1, Qt::CustomDashLine, Qt::FlatCap);
      pen.setDashPattern({3, 3});
      p.setPen(pen);
      p.drawLine(QPointF(x + 0.5, top), QPointF(x + 0.5, bottom));
    } else {
      p.fillRect(QRectF(x, top, 1, bottom - top), c.control);
    }
    const QRectF plate(left + flag.left, top, flag.width, kPlateHeight);
    p.fillRect(plate, c.card);
    outline(p, plate, color);
    const bool txn = flag.marks.size() == 1 && has(Mark::last_stable);
    text_center(p, plate.center().x(), plate.center().y(), flag_text(flag), FontRole::small_data, txn ? c.txn_t : c.text);
  }
}

void LaneView::paintSegments(QPainter& p, double y, const OffsetAxis& axis, const Lane& here,
                             const observe::ReplicaView& replica) {
  const Colors& c = colors();
  std::vector<std::int64_t> bases;
  for (const Offset base : replica.segments) {
    bases.push_back(base.value());
  }
  if (bases.empty() && here.leader.leo > here.leader.start) {
    bases.push_back(here.leader.start);
  }
  const double left = plotLeft();
  for (const geometry::SegmentSpan& span :
       geometry::visible_segments(axis, plotWidth(), bases, here.leader.start, here.leader.leo)) {
    const double from = left + std::round(span.left);
    const double to = left + std::round(span.right);
    if (to - from < 4) {
      continue;
    }
    const bool begins = axis.x(span.base) >= 0;
    const bool ends = axis.x(span.end) <= plotWidth();
    paint_hline(p, from + 1, to - 1, y + 5, c.control);
    if (begins) {
      paint_vline(p, from + 1, y, y + 6, c.control);
    }
    if (ends) {
      paint_vline(p, to - 1, y, y + 6, c.control);
    }
    const QString name = format_offset(span.base);
    QString note = tr("%1 offsets").arg(format_count(span.end - span.base));
    if (span.active) {
      note = tr("active · %1").arg(note);
    }
    const double room = to - from - 8;
    const double name_width = text_width(name, FontRole::small_data);
    if (name_width <= room) {
      text_left(p, from + 4, y + 15, name, FontRole::small_data, c.text2);
      if (text_width(note, FontRole::caption) + name_width + 8 <= room) {
        text_left(p, from + 4 + name_width + 8, y + 15, note, FontRole::caption, c.text3);
      }
    }
  }
}

void LaneView::paintGroups(QPainter& p, double y, const OffsetAxis& axis, const Lane& here, bool words) {
  const Colors& c = colors();
  const auto groups = shownGroups();
  const double left = plotLeft();
  for (std::size_t g = 0; g < groups.size() && g < here.committed.size(); ++g) {
    const std::int64_t committed = here.committed[g];
    const double row = words ? y + static_cast<double>(g) * m::kGroupRow + m::kGroupRow / 2 : y + 7;
    if (words) {
      const QString name = QString::fromStdString(groups[g]->id);
      text_fit(p, 48, row, left - 56, tr("group %1").arg(name), FontRole::caption, c.text2, Qt::ElideMiddle);
      if (committed < 0) {
        text_left(p, left, row, tr("nothing committed here"), FontRole::caption, c.text3);
        continue;
      }
    }
    if (committed < 0) {
      continue;
    }
    const double x = axis.x(committed);
    const bool before = x < -1;
    const bool after = x > plotWidth() + 1;
    const double px = left + std::clamp(std::round(x), 0.0, plotWidth());
    const std::int64_t lag = std::max<std::int64_t>(0, here.leader.hw - committed);
    if (before) {
      triangle(p, {QPointF(px + 9, row - 5), QPointF(px, row), QPointF(px + 9, row + 5)}, c.text);
    } else if (after) {
      triangle(p, {QPointF(px - 9, row - 5), QPointF(px, row), QPointF(px - 9, row + 5)}, c.text);
    } else {
      triangle(p, {QPointF(px, row - 5), QPointF(px + 5, row + 4), QPointF(px - 5, row + 4)}, c.text);
    }
    if (!words) {
      continue;
    }
    const QString text = tr("committed %1 · lag %2").arg(format_offset(committed), format_offset(lag));
    const double width = text_width(text, FontRole::caption);
    // The sentence stands left of its pin, where there is room.
    if (px - left > width + 14 && !before) {
      text_right(p, px - (after ? 15 : 10), row, text, FontRole::caption, c.text2);
    } else {
      text_left(p, px + (before ? 15 : 12), row, text, FontRole::caption, c.text2);
    }
  }
}

void LaneView::paintRange(QPainter& p, int partition, const OffsetAxis& axis, double top, double bottom, bool behind) {
  const auto range = rangeIn(partition);
  if (!range) {
    return;
  }
  const double from = std::clamp(axis.x(range->first), -3.0, plotWidth() + 3);
  const double to = std::clamp(axis.x(range->second + 1), -3.0, plotWidth() + 3);
  if (to <= 0 || from >= plotWidth()) {
    return;
  }
  const QRectF band(plotLeft() + std::round(from) - 1, top - 2, std::max(4.0, std::round(to - from) + 1), bottom - top + 4);
  if (behind) {
    p.fillRect(band, colors().selected);
  } else {
    paint_selection(p, band.adjusted(-2, 0, 2, 0), 0);
  }
}

}  // namespace hw::ui
