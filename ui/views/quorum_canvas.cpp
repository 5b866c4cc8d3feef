// SPDX-License-Identifier: Apache-2.0
#include "ui/views/quorum_canvas.h"

#include <QFontMetricsF>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QStringList>
#include <algorithm>
#include <cmath>
#include <map>

#include "ui/geometry/edge.h"
#include "ui/geometry/offset_axis.h"
#include "ui/painting/text.h"

namespace hw::ui {

namespace {

constexpr double kPad = Metrics::kPagePadding;
constexpr double kTitle = 30;
constexpr double kRow = 34;
constexpr double kBar = 18;
constexpr double kLabels = 210;    // of a replica: glyph, name, role
constexpr double kNumbers = 164;   // log end, distance, last fetch
constexpr double kChartTitle = 48;
constexpr double kRuler = 24;
constexpr double kChartRow = 48;
constexpr double kBand = 20;
constexpr double kStoryLeast = 40;
constexpr double kListRow = Metrics::kRow;
constexpr int kListed = 12;
constexpr std::int64_t kShownAtLeast = 60;  // offsets, so that one record is no mile

QString name_of(std::int32_t node) { return QuorumCanvas::tr("node %1").arg(node); }

QString ago(std::int64_t ms) { return ms == 0 ? QuorumCanvas::tr("now") : QuorumCanvas::tr("%1 ago").arg(format_duration(ms)); }

QString role_word(event::QuorumRole role) {
  switch (role) {
    case event::QuorumRole::unattached:
      return QuorumCanvas::tr("no leader known");
    case event::QuorumRole::prospective:
      return QuorumCanvas::tr("asks for pre-votes");
    case event::QuorumRole::candidate:
      return QuorumCanvas::tr("asks for votes");
    case event::QuorumRole::follower:
      return QuorumCanvas::tr("follows");
    case event::QuorumRole::leader:
      return QuorumCanvas::tr("leader");
    case event::QuorumRole::resigned:
      return QuorumCanvas::tr("gave up the lead");
  }
  return {};
}

QString outcome(const Election& e) {
  if (e.refused) {
    return QuorumCanvas::tr("refused: %1 leads").arg(name_of(e.leader));
  }
  return e.decided() ? QuorumCanvas::tr("leader %1").arg(name_of(e.leader)) : QuorumCanvas::tr("no leader yet");
}

void outline(QPainter& p, const QRectF& r, const QColor& color, double width = 1) {
  p.setPen(QPen(color, width));
  p.setBrush(Qt::NoBrush);
  p.drawRect(r.adjusted(width / 2, width / 2, -width / 2, -width / 2));
}

}  // namespace

QuorumCanvas::QuorumCanvas(QWidget* parent) : ObjectCanvas(parent) {
  setObjectName(QStringLiteral("quorumCanvas"));
  setAccessibleName(tr("Replicas of the metadata log, and elections"));
}

void QuorumCanvas::take(QuorumFacts facts, std::vector<Election> elections) {
  const auto same_election = [](const Election& a, const Election& b) {
    return a.began_ms == b.began_ms && a.bands.size() == b.bands.size() && a.votes.size() == b.votes.size() && a.decided_ms == b.decided_ms;
  };
  const bool structure = facts.voters.size() != facts_.voters.size() || facts.observers.size() != facts_.observers.size() ||
                         !std::equal(elections.begin(), elections.end(), elections_.begin(), elections_.end(), same_election);
  const bool changed = structure || !(facts == facts_);
  facts_ = std::move(facts);
  elections_ = std::move(elections);
  if (!changed) {
    return;
  }
  if (structure) {
    fitHeight();
    objectsChanged();
    update();
  } else {
    const Places at = places();
    updateRect(QRectF(0, at.voters, wide(), (at.chart > 0 ? at.chart : at.list) - at.voters));
  }
}

int QuorumCanvas::chosen() const {
  for (std::size_t i = 0; i < elections_.size(); ++i) {
    if (elections_[i].began_ms == chosen_began_) {
      return static_cast<int>(i);
    }
  }
  // The newest that was one: a refused pre-vote is chosen by hand.
  for (std::size_t i = elections_.size(); i-- > 0;) {
    if (!elections_[i].refused) {
      return static_cast<int>(i);
    }
  }
  return static_cast<int>(elections_.size()) - 1;
}

void QuorumCanvas::choose(int election) {
  if (election >= 0 && election < static_cast<int>(elections_.size())) {
    chosen_began_ = -1;
    if (election != chosen()) {  // the newest goes on being the newest
      chosen_began_ = elections_[static_cast<std::size_t>(election)].began_ms;
    }
    fitHeight();
    update();
  }
}

// --- places

double QuorumCanvas::wide() const { return width() / Theme::current().scale(); }
int QuorumCanvas::replicas() const { return static_cast<int>(facts_.voters.size() + facts_.observers.size()); }
int QuorumCanvas::listed() const { return std::min(kListed, static_cast<int>(elections_.size())); }

const QuorumReplica& QuorumCanvas::replica(int index) const {
  const auto i = static_cast<std::size_t>(index);
  return i < facts_.voters.size() ? facts_.voters[i] : facts_.observers[i - facts_.voters.size()];
}

QuorumCanvas::Places QuorumCanvas::places() const {
  Places at;
  at.voters = 4;
  double y = at.voters + kTitle + kRow * static_cast<double>(facts_.voters.size());
  if (!facts_.observers.empty()) {
    at.observers = y;
    y += kTitle + kRow * static_cast<double>(facts_.observers.size());
  }
  y += 10;
  if (!elections_.empty()) {
    at.chart = y;
    at.chart_rows = y + kChartTitle + kRuler;
    y = at.chart_rows + kChartRow * static_cast<double>(std::max<std::size_t>(1, facts_.voters.size())) + storyHeight();
  }
  at.list = y;
  at.end = y + kTitle + 6 + kListRow * std::max(1, listed()) + 10;
  return at;
}

// The sentence below the chart, as many lines as it needs.
double QuorumCanvas::storyHeight() const {
  const int at = chosen();
  if (at < 0 || at >= static_cast<int>(elections_.size())) {
    return kStoryLeast;
  }
  const QFontMetricsF metrics(canvas_font(FontRole::control));
  const QRectF text = metrics.boundingRect(QRectF(0, 0, std::max(80.0, wide() - 2 * kPad), 1'000), Qt::AlignLeft | Qt::TextWordWrap,
                                           story(elections_[static_cast<std::size_t>(at)]));
  return std::max(kStoryLeast, text.height() + 12);
}

void QuorumCanvas::fitHeight() { setMinimumHeight(Theme::current().px(places().end)); }

void QuorumCanvas::resizeEvent(QResizeEvent* event) {
  ObjectCanvas::resizeEvent(event);
  fitHeight();
}

QRectF QuorumCanvas::rowRect(int index) const {
  const Places at = places();
  const auto voters = static_cast<int>(facts_.voters.size());
  const double top = index < voters ? at.voters + kTitle + kRow * index : at.observers + kTitle + kRow * (index - voters);
  return {0, top, wide(), kRow};
}

QRectF QuorumCanvas::electionRect(int row) const { return {0, places().list + kTitle + 6 + kListRow * row, wide(), kListRow}; }

// --- objects

int QuorumCanvas::objectCount() const { return replicas() + listed(); }

CanvasObject QuorumCanvas::object(int index) const {
  if (index < replicas()) {
    return {Selection::ofNode(replica(index).id), rowRect(index).adjusted(4, 1, -4, -1), 0};
  }
  return {{}, electionRect(index - replicas()).adjusted(4, 0, -4, 0), 0};
}

QString QuorumCanvas::objectSentence(int index) const {
  if (index < replicas()) {
    const QuorumReplica& r = replica(index);
    QStringList parts{tr("%1, %2").arg(name_of(r.id), r.role)};
    if (r.log_end >= 0) {
      parts << tr("log end %1").arg(r.log_end);
    }
    if (r.high_watermark >= 0) {
      parts << tr("high watermark %1").arg(r.high_watermark);
    }
    if (r.behind > 0) {
      parts << tr("%Ln records behind", nullptr, static_cast<int>(r.behind));
    }
    if (r.fetched_ms >= 0) {
      parts << tr("last fetch %1").arg(ago(r.fetched_ms));
    }
    if (r.caught_up_ms >= 0) {
      parts << tr("had everything %1").arg(ago(r.caught_up_ms));
    }
    return parts.join(QStringLiteral(", "));
  }
  const auto i = static_cast<std::size_t>(static_cast<int>(elections_.size()) - 1 - (index - replicas()));
  const Election& e = elections_[i];
  return tr("Election of epoch %1 at %2: %3. %4").arg(e.epoch).arg(format_time(e.began_ms), e.reason, story(e));
}

QString QuorumCanvas::story(const Election& e) {
  QStringList out;
  const auto voters = [&](bool pre_vote, std::int32_t candidate, bool granted) {
    QStringList ids;
    for (const Election::Vote& vote : e.votes) {
      const QString id = QString::number(vote.voter);
      if (vote.pre_vote == pre_vote && vote.candidate == candidate && vote.granted == granted && !ids.contains(id)) {
        ids << id;
      }
    }
    return ids.join(QLatin1Char(' '));
  };
  std::vector<std::pair<bool, std::int32_t>> told;
  for (const Election::Vote& vote : e.votes) {
    const std::pair<bool, std::int32_t> round(vote.pre_vote, vote.candidate);
    if (std::find(told.begin(), told.end(), round) != told.end()) {
      continue;
    }
    told.push_back(round);
    const QString yes = voters(vote.pre_vote, vote.candidate, true);
    const QString no = voters(vote.pre_vote, vote.candidate, false);
    if (vote.pre_vote) {
      out << (yes.isEmpty() ? tr("%1 asked whether it would win: %2 said no").arg(name_of(vote.candidate), no)
                            : tr("%1 asked whether it would win: %2 said yes").arg(name_of(vote.candidate), yes));
    } else {
      out << (yes.isEmpty() ? tr("%1 stood: %2 refused").arg(name_of(vote.candidate), no)
                            : tr("%1 stood: %2 voted for it").arg(name_of(vote.candidate), yes));
    }
  }
  if (e.refused) {
    out << tr("%1 leads on").arg(name_of(e.leader));
  } else if (e.decided()) {
    QString leads = tr("%1 leads epoch %2").arg(name_of(e.leader)).arg(e.epoch);
    if (e.leaderlessMs() >= 0) {
      leads += tr(", %1 after the old leader ended").arg(format_duration(e.leaderlessMs()));
    }
    out << leads;
  } else {
    out << tr("nobody leads yet");
  }
  return out.join(QStringLiteral("; ")) + QLatin1Char('.');
}

void QuorumCanvas::chooseAt(int object) {
  if (object >= replicas() && object < objectCount()) {
    choose(static_cast<int>(elections_.size()) - 1 - (object - replicas()));
  }
}

void QuorumCanvas::mousePressEvent(QMouseEvent* event) {
  const int at = objectAt(toCanvas(event->position()));
  if (at >= replicas()) {
    focusObject(at);
    chooseAt(at);
    return;  // the selection stays
  }
  ObjectCanvas::mousePressEvent(event);
}

void QuorumCanvas::keyPressEvent(QKeyEvent* event) {
  ObjectCanvas::keyPressEvent(event);
  chooseAt(focusedObject());
}

QString QuorumCanvas::toolTipAt(QPointF point) const {
  const int index = objectAt(point);
  return index >= 0 ? objectSentence(index) : QString();
}

// --- painting

void QuorumCanvas::paintCanvas(QPainter& p, const QRectF& exposed) {
  p.fillRect(exposed, Theme::current().colors().canvas);
  const Places at = places();
  paintReplicas(p, at);
  if (at.chart > 0 && exposed.bottom() > at.chart) {
    paintChart(p, at, elections_[static_cast<std::size_t>(chosen())]);
  }
  if (exposed.bottom() > at.list) {
    paintList(p, at);
  }
}

void QuorumCanvas::paintReplicas(QPainter& p, const Places& at) {
  const Colors& c = Theme::current().colors();
  std::int64_t least = facts_.log_end;
  for (int i = 0; i < replicas(); ++i) {
    if (replica(i).log_end >= 0) {
      least = std::min(least, replica(i).log_end);
    }
  }
  const std::int64_t to = std::max<std::int64_t>(1, facts_.log_end);
  const std::int64_t span = std::max(kShownAtLeast, (to - least) * 5 / 4);
  const std::int64_t from = std::max(facts_.log_start, to - span);
  const double left = kLabels;
  const double width = std::max(60.0, wide() - kLabels - kNumbers);
  const geometry::OffsetAxis axis = geometry::OffsetAxis::fit(from, to + 1, width).with_pitch(width / static_cast<double>(to + 1 - from), 0);
  text_left(p, kPad, at.voters + kTitle / 2, tr("Voters"), FontRole::section_label, c.text2);
  const double spacing = std::max(70.0, (std::floor(std::log10(static_cast<double>(std::max<std::int64_t>(to, 1)))) + 1) * 7 + 28);
  const double bottom = rowRect(replicas() - 1).bottom();
  for (const geometry::OffsetAxis::Tick& tick : axis.ticks(width, spacing)) {
    const QString name = format_offset(tick.offset);
    if (tick.x + text_width(name, FontRole::small_data) / 2 <= width + 4) {  // the next heading begins there
      text_center(p, left + tick.x, at.voters + kTitle / 2, name, FontRole::small_data, c.text3);
    }
    paint_vline(p, left + std::round(tick.x), at.voters + kTitle, bottom, c.grid);
  }
  text_right(p, wide() - kPad, at.voters + kTitle / 2, tr("last fetch"), FontRole::caption, c.text3);
  text_left(p, wide() - kNumbers + 12, at.voters + kTitle / 2, tr("log end"), FontRole::caption, c.text3);
  paint_hline(p, 0, wide(), at.voters + kTitle, c.hair);
  if (at.observers > 0) {
    text_left(p, kPad, at.observers + kTitle / 2, tr("Observers: they copy the log and do not vote"), FontRole::section_label, c.text2);
    paint_hline(p, 0, wide(), at.observers + kTitle, c.hair);
  }
  for (int i = 0; i < replicas(); ++i) {
    paintReplica(p, i, left, width, from, to);
  }
  // The high watermark goes through all of them.
  if (facts_.high_watermark >= from && replicas() > 0) {
    const double x = left + std::clamp(axis.x(facts_.high_watermark), 0.0, width);
    p.fillRect(QRectF(std::round(x) - 1, at.voters + kTitle - 4, 2, bottom - at.voters - kTitle + 4), c.text);
  }
}

void QuorumCanvas::paintReplica(QPainter& p, int index, double left, double width, std::int64_t from, std::int64_t to) {
  const Colors& c = Theme::current().colors();
  const QuorumReplica& r = replica(index);
  const QRectF row = rowRect(index);
  const double y = row.center().y();
  const bool selected = selection() == Selection::ofNode(r.id);
  if (selected || hovered() == index) {
    p.fillRect(row.adjusted(0, 1, 0, -1), selected ? c.selected : c.hover);
  }
  paint_glyph(p, r.glyph, QPointF(kPad + 6, y), 12);
  const QString name = name_of(r.id);
  text_left(p, kPad + 20, y, name, r.leads ? FontRole::data_strong : FontRole::data, c.text);
  const bool bad = r.state == ReplicaState::offline;
  const bool odd = r.state == ReplicaState::behind;
  text_fit(p, kPad + 78, y, kLabels - kPad - 86, r.role, FontRole::control, bad ? c.err_t : (odd ? c.warn_t : c.text2));
  const QRectF track(left, std::round(y - kBar / 2), width, kBar);
  const double end = r.log_end < 0 || to <= from ? 0 : std::clamp(static_cast<double>(r.log_end - from) / static_cast<double>(to - from + 1), 0.0, 1.0);
  p.fillRect(track, c.inset);
  const QRectF bar(track.left(), track.top(), std::round(track.width() * end), track.height());
  if (bar.width() >= 1) {
    switch (r.state) {
      case ReplicaState::leader:
        p.fillRect(bar, c.leader_soft);
        outline(p, bar, c.leader, 2);
        break;
      case ReplicaState::in_sync:
        p.fillRect(bar, r.voter ? c.ok : c.edge);
        break;
      case ReplicaState::behind:
        p.fillRect(bar, hatch_brush(Hatch::behind));
        outline(p, bar, c.warn_line);
        break;
      case ReplicaState::offline: {
        p.fillRect(bar, c.err_tint);
        QPen pen(c.err, 1, Qt::CustomDashLine, Qt::FlatCap);
        pen.setDashPattern({5, 3});
        p.setPen(pen);
        p.setBrush(Qt::NoBrush);
        p.drawRect(bar.adjusted(0.5, 0.5, -0.5, -0.5));
        break;
      }
    }
  }
  const double numbers = wide() - kNumbers + 12;
  const QString log_end = r.log_end < 0 ? QStringLiteral("–") : format_offset(r.log_end);
  text_left(p, numbers, y, log_end, r.leads ? FontRole::data_strong : FontRole::data, bad ? c.text2 : c.text);
  if (r.behind > 0) {
    text_left(p, numbers + text_width(log_end, FontRole::data) + 8, y, QStringLiteral("-%1").arg(r.behind), FontRole::small_data,
              bad ? c.err_t : c.warn_t);
  }
  const QString fetched = r.leads ? tr("fetched from") : (r.fetched_ms < 0 ? QString() : ago(r.fetched_ms));
  text_right(p, wide() - kPad, y, fetched, r.leads ? FontRole::caption : FontRole::small_data, odd || bad ? c.warn_t : c.text2);
  paint_hline(p, 0, wide(), row.bottom() - 1, c.hair);
  if (selected) {
    paint_selection(p, row.adjusted(2, 1, -2, -2), 3);
  }
}

void QuorumCanvas::paintChart(QPainter& p, const Places& at, const Election& e) {
  const Colors& c = Theme::current().colors();
  paint_hline(p, 0, wide(), at.chart - 4, c.border);
  const QString title = e.refused ? tr("Pre-vote of epoch %1").arg(e.epoch + 1) : tr("Election of epoch %1").arg(e.epoch);
  const double y = at.chart + 14;
  text_left(p, kPad, y, title, FontRole::body_strong, c.text);
  const QString took = e.decided() ? tr("%1 ms").arg(e.tookMs()) : (e.refused ? tr("refused") : tr("runs"));
  text_right(p, wide() - kPad, y, took, FontRole::data_strong, e.decided() ? c.text : c.warn_t);
  const double after = kPad + text_width(title, FontRole::body_strong) + 12;
  text_fit(p, after, y, wide() - kPad - text_width(took, FontRole::data_strong) - 12 - after,
           tr("%1 · %2").arg(format_time(e.began_ms).section(QLatin1Char('.'), 0, 0), e.reason), FontRole::control, c.text2);
  // Time: a little before the first step, a little behind the last.
  const std::int64_t end = std::max({e.decided_ms, e.ended_ms, e.began_ms + 20});
  const auto span = static_cast<double>(end - e.began_ms);
  const double from = -0.12 * span;
  const double to = 1.22 * span;
  const double left = 150;
  const double width = std::max(60.0, wide() - left - kPad);
  const auto x_of = [&](std::int64_t ms) {
    return left + std::clamp((static_cast<double>(ms - e.began_ms) - from) / (to - from), 0.0, 1.0) * width;
  };
  const double ruler = at.chart + kChartTitle - 12;
  const auto step = static_cast<double>(geometry::nice_step(std::max(1.0, (to - from) * 90 / width)));
  const double bottom = at.chart_rows + kChartRow * static_cast<double>(facts_.voters.size());
  for (double t = 0; t <= to; t += step) {
    const double x = std::round(left + (t - from) / (to - from) * width);
    if (x > wide() - kPad - 20) {
      break;
    }
    text_center(p, x, ruler + 8, tr("%1 ms").arg(static_cast<std::int64_t>(t)), FontRole::small_data, c.text3);
    paint_vline(p, x, at.chart_rows - 4, bottom - 6, c.grid);
  }
  std::map<std::int32_t, double> lanes;
  for (std::size_t i = 0; i < facts_.voters.size(); ++i) {
    const QuorumReplica& r = facts_.voters[i];
    const double middle = at.chart_rows + kChartRow * static_cast<double>(i) + kBand / 2 + 4;
    lanes[r.id] = middle;
    const bool won = e.leader == r.id && !e.refused;
    paint_glyph(p, won ? Glyph::crown : Glyph::disc, QPointF(kPad + 6, middle), 12, won ? c.leader : c.edge);
    text_left(p, kPad + 20, middle, name_of(r.id), won ? FontRole::data_strong : FontRole::data, c.text);
    bool any = false;
    bool known = false;
    for (const Election::Band& band : e.bands) {
      if (band.node != r.id) {
        continue;
      }
      known = true;
      std::int64_t until = band.to_ms < 0 ? end + static_cast<std::int64_t>(span) : band.to_ms;
      const bool ended = e.before == r.id && e.silent_since_ms >= 0 && band.to_ms < 0 && band.from_ms <= e.began_ms;
      if (ended) {
        until = e.silent_since_ms;
      }
      const double x0 = band.from_ms <= e.began_ms && band.to_ms != band.from_ms ? (band.from_ms < e.began_ms ? left : x_of(band.from_ms)) : x_of(band.from_ms);
      const QRectF rect(std::round(x0), std::round(middle - kBand / 2), std::round(x_of(until)) - std::round(x0), kBand);
      any = any || !ended;
      if (rect.width() < 1) {
        continue;
      }
      QColor line = c.border;
      QColor fill = c.pressed;
      switch (band.role) {
        case event::QuorumRole::leader:
          fill = c.leader_soft;
          line = c.leader;
          break;
        case event::QuorumRole::candidate:
        case event::QuorumRole::prospective:
          fill = c.warn_tint;
          line = c.warn_line;
          break;
        case event::QuorumRole::follower:
          if (band.from_ms > e.began_ms) {
            fill = c.ok_tint;
            line = c.ok;
          }
          break;
        case event::QuorumRole::resigned:
          fill = c.err_tint;
          line = c.err;
          break;
        case event::QuorumRole::unattached:
          break;
      }
      p.fillRect(rect, fill);
      outline(p, rect, line, band.role == event::QuorumRole::leader ? 2 : 1);
      const QString word = role_word(band.role);
      if (text_width(word, FontRole::caption) + 12 <= rect.width()) {
        text_left(p, rect.left() + 6, middle, word, FontRole::caption, c.text);
      }
    }
    if (e.before == r.id && e.silent_since_ms >= 0 && !any) {
      paint_glyph(p, Glyph::cross, QPointF(left + 8, middle), 12);
      text_left(p, left + 20, middle,
                (e.killed ? tr("killed %1 before") : tr("stopped %1 before")).arg(format_duration(e.began_ms - e.silent_since_ms)),
                FontRole::caption, c.err_t);
    } else if (!known && r.state == ReplicaState::offline) {
      paint_glyph(p, Glyph::cross, QPointF(left + 8, middle), 12);
      text_left(p, left + 20, middle, r.role, FontRole::caption, c.err_t);
    }
  }
  // Votes: from who voted to who asked.
  p.setRenderHint(QPainter::Antialiasing, true);
  for (const Election::Vote& vote : e.votes) {
    const auto voter = lanes.find(vote.voter);
    const auto candidate = lanes.find(vote.candidate);
    if (voter == lanes.end() || candidate == lanes.end()) {
      continue;
    }
    const bool down = candidate->second > voter->second;
    const QPointF tail(x_of(vote.at_ms), voter->second + (down ? kBand / 2 : -kBand / 2));
    const QPointF tip(x_of(vote.at_ms) + 10, candidate->second + (down ? -kBand / 2 : kBand / 2));
    const QColor color = vote.granted ? c.leader : c.err;
    QPen pen(color, 1.5, vote.pre_vote ? Qt::DashLine : Qt::SolidLine, Qt::FlatCap);
    p.setPen(pen);
    p.drawLine(tail, tip);
    const QPointF way = tip - tail;
    const auto head = geometry::arrow_head(tip, way / std::max(1.0, std::hypot(way.x(), way.y())));
    p.setPen(Qt::NoPen);
    p.setBrush(color);
    p.drawPolygon(head.data(), static_cast<int>(head.size()));
  }
  p.setRenderHint(QPainter::Antialiasing, false);
  p.setFont(canvas_font(FontRole::control));
  p.setPen(c.text2);
  p.drawText(QRectF(kPad, bottom - 2, wide() - 2 * kPad, storyHeight()), Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap, story(e));
}

void QuorumCanvas::paintList(QPainter& p, const Places& at) {
  const Colors& c = Theme::current().colors();
  paint_hline(p, 0, wide(), at.list + 1, c.border);
  text_left(p, kPad, at.list + kTitle / 2 + 4, tr("Elections"), FontRole::body_strong, c.text);
  if (elections_.empty()) {
    text_left(p, kPad, electionRect(0).center().y(), tr("None since this window has watched."), FontRole::control, c.text3);
    return;
  }
  const int shown = chosen();
  for (int row = 0; row < listed(); ++row) {
    const int i = static_cast<int>(elections_.size()) - 1 - row;
    const Election& e = elections_[static_cast<std::size_t>(i)];
    const QRectF rect = electionRect(row);
    const double y = rect.center().y();
    if (i == shown) {
      p.fillRect(rect.adjusted(0, 0, 0, -1), c.selected);
      p.fillRect(QRectF(0, rect.top() + 3, 3, rect.height() - 7), c.leader);
    } else if (hovered() == replicas() + row) {
      p.fillRect(rect.adjusted(0, 0, 0, -1), c.hover);
    }
    text_left(p, kPad, y, tr("epoch %1").arg(e.epoch), FontRole::data, c.text);
    text_fit(p, kPad + 80, y, 138, outcome(e), FontRole::control, e.decided() || e.refused ? c.text : c.warn_t);
    text_left(p, kPad + 222, y, format_time(e.began_ms).section(QLatin1Char('.'), 0, 0), FontRole::small_data, c.text2);
    const QString took = e.decided() ? tr("%1 ms").arg(e.tookMs()) : QString();
    text_right(p, wide() - kPad, y, took, FontRole::data, c.text2);
    text_fit(p, kPad + 290, y, wide() - kPad - 298 - kPad - text_width(took, FontRole::data), e.reason, FontRole::control, c.text2);
    paint_hline(p, kPad, wide() - kPad, rect.bottom() - 1, c.hair);
  }
}

}  // namespace hw::ui
