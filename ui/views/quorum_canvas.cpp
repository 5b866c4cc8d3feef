// SPDX-License-Identifier: Apache-2.0
#include "ui/views/quorum_canvas.h"

#include <QFontMetricsF>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QStringList>
#include <algorithm>
#include <optional>
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
constexpr double kBarsLeast = 120;  // below it the last fetch is left to the tooltip
constexpr double kNumbersShort = 104;
constexpr double kLabelsShort = 176;
constexpr double kChartTitle = 66;  // and the reason below it
constexpr double kRuler = 24;
constexpr double kChartRow = 48;
constexpr double kBand = 20;
constexpr double kLegend = 20;
constexpr double kBandsFrom = 150;  // left edge of the chart's legend
constexpr double kStoryLeast = 40;
constexpr double kAwaited = 70;  // a title and two lines
constexpr double kStepGap = 14;  // between steps of the chart, however close in time
constexpr double kVoteReach = 10;
constexpr double kLeaderRoom = 60;  // behind the last step
constexpr double kGone = 0.45;      // opacity of what is over
constexpr double kListRow = Metrics::kRow;
constexpr double kListRowNarrow = 44;
constexpr double kListWide = 640;
constexpr std::size_t kListed = 12;
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
  switch (e.outcome) {
    case Election::Outcome::refused:
      return QuorumCanvas::tr("refused: %1 leads").arg(name_of(e.leader));
    case Election::Outcome::unanswered:
      return QuorumCanvas::tr("no majority: %1 of %2 answered").arg(e.answered).arg(e.voters);
    case Election::Outcome::found:
      return QuorumCanvas::tr("found leader %1").arg(name_of(e.leader));
    case Election::Outcome::won:
      return QuorumCanvas::tr("elected %1").arg(name_of(e.leader));
    case Election::Outcome::runs:
      break;
  }
  return QuorumCanvas::tr("no leader yet");
}

// Nobody stood: it was only asked who would win.
bool only_asked(const Election& e) {
  return e.outcome == Election::Outcome::refused || e.outcome == Election::Outcome::unanswered || e.outcome == Election::Outcome::found;
}

// Whoever only asks whether it would win is still in the epoch of before.
std::int32_t sought_epoch(const Election& e) {
  const bool stood = e.decided() || std::any_of(e.bands.begin(), e.bands.end(), [&](const Election::Band& band) {
                       return band.role == event::QuorumRole::candidate && band.epoch == e.epoch && band.from_ms >= e.began_ms;
                     });
  return stood ? e.epoch : e.epoch + 1;
}

QString took_text(const Election& e) {
  return e.tookMs() >= 0 ? QuorumCanvas::tr("%1 ms").arg(e.tookMs()) : QString();
}

// Its band, with whom it followed: after an election that is another one.
QString band_word(const Election::Band& band) {
  return band.role == event::QuorumRole::follower && band.leader >= 0 ? QuorumCanvas::tr("follows %1").arg(name_of(band.leader))
                                                                      : role_word(band.role);
}

// The end of the chart: a little behind the last step. Who follows, or answers, long after the decision would only squeeze it.
std::int64_t drawn_until(const Election& e) {
  const std::int64_t last =
      e.decided() ? std::min(e.ended_ms, e.decided_ms + std::max<std::int64_t>(40, (e.decided_ms - e.began_ms) / 2)) : e.ended_ms;
  return std::max({e.decided_ms, last, e.began_ms + 20});
}

struct BandLook {
  QColor fill;
  QColor line;
  bool dashed = false;  // as the arrows: what only would be
};

BandLook look_of(const Election::Band& band, const Election& e) {
  const Colors& c = Theme::current().colors();
  switch (band.role) {
    case event::QuorumRole::leader:
      return {c.leader_soft, c.leader};
    case event::QuorumRole::candidate:
      return {c.warn_tint, c.warn_line};
    case event::QuorumRole::prospective:
      return {c.canvas, c.warn_line, true};
    case event::QuorumRole::follower:
      return e.decided_step >= 0 && band.from_step > e.decided_step ? BandLook{c.ok_tint, c.ok} : BandLook{c.pressed, c.border};
    case event::QuorumRole::resigned:
      return {c.err_tint, c.err};
    case event::QuorumRole::unattached:
      break;
  }
  return {c.canvas, c.border};
}

void outline(QPainter& p, const QRectF& r, const QColor& color, double width = 1, bool dashed = false) {
  QPen pen(color, width);
  if (dashed) {
    pen.setDashPattern({3, 2});
    pen.setCapStyle(Qt::FlatCap);
  }
  p.setPen(pen);
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
    return a.began_ms == b.began_ms && a.bands.size() == b.bands.size() && a.votes.size() == b.votes.size() && a.decided_ms == b.decided_ms &&
           a.outcome == b.outcome;
  };
  const bool structure = facts.voters.size() != facts_.voters.size() || facts.observers.size() != facts_.observers.size() ||
                         !std::equal(elections.begin(), elections.end(), elections_.begin(), elections_.end(), same_election);
  const bool changed = structure || !(facts == facts_);
  const bool leaderless = facts.leader < 0 || facts_.leader < 0;  // the chart tells of that, too
  facts_ = std::move(facts);
  elections_ = std::move(elections);
  rows_ = listedRows();
  if (!changed) {
    return;
  }
  if (structure || leaderless) {
    fitHeight();
    objectsChanged();
    update();
  } else {
    const Places at = places();
    updateRect(QRectF(0, at.voters, wide(), (at.chart > 0 ? at.chart : at.list) - at.voters));  // none is awaited
  }
}

int QuorumCanvas::chosen() const {
  for (std::size_t i = 0; i < elections_.size(); ++i) {
    if (elections_[i].began_ms == chosen_began_) {
      return static_cast<int>(i);
    }
  }
  // The newest that was one: a pre-vote that came to nothing is chosen by hand.
  for (std::size_t i = elections_.size(); i-- > 0;) {
    if (!only_asked(elections_[i])) {
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

bool QuorumCanvas::narrow() const {
  return wide() < kListWide;
}

double QuorumCanvas::numbersRoom() const {
  return wide() - kLabels - kNumbers >= kBarsLeast ? kNumbers : kNumbersShort;
}

double QuorumCanvas::labelsRoom() const {
  return wide() - kLabels - numbersRoom() >= kBarsLeast ? kLabels : kLabelsShort;
}

double QuorumCanvas::listRow() const {
  return narrow() ? kListRowNarrow : kListRow;
}

std::vector<QuorumCanvas::Listed> QuorumCanvas::listedRows() const {
  std::vector<Listed> rows;
  for (auto i = static_cast<int>(elections_.size()) - 1; i >= 0; --i) {
    const Election& e = elections_[static_cast<std::size_t>(i)];
    const Election* newer = rows.empty() ? nullptr : &elections_[static_cast<std::size_t>(rows.back().newest)];
    if (newer != nullptr && only_asked(e) && e.outcome == newer->outcome && e.epoch == newer->epoch && e.leader == newer->leader) {
      ++rows.back().count;
    } else if (rows.size() == kListed) {
      break;
    } else {
      rows.push_back({i, 1});
    }
  }
  return rows;
}

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
  if (!awaited().isEmpty()) {
    at.awaited = y;
    y += kAwaited;
  }
  if (!elections_.empty()) {
    at.chart = y;
    at.chart_rows = y + kChartTitle + kRuler;
    y = at.chart_rows + kChartRow * static_cast<double>(std::max<std::size_t>(1, facts_.voters.size())) + kLegend + storyHeight();
  }
  at.list = y;
  at.end = y + kTitle + 6 + listRow() * std::max(1, listed()) + 10;
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

QRectF QuorumCanvas::electionRect(int row) const {
  return {0, places().list + kTitle + 6 + listRow() * row, wide(), listRow()};
}

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
  const Listed& row = rows_[static_cast<std::size_t>(index - replicas())];
  const Election& e = elections_[static_cast<std::size_t>(row.newest)];
  const QString said =
      (only_asked(e) ? tr("Pre-vote in epoch %1 at %2: %3. %4").arg(e.epoch) : tr("Election of epoch %1 at %2: %3. %4").arg(sought_epoch(e)))
          .arg(format_time(e.began_ms), e.reason, story(e));
  return row.count == 1 ? said : tr("%1 So it came %2 times.").arg(said).arg(row.count);
}

QString QuorumCanvas::awaited() const {
  if (facts_.leader >= 0 || elections_.empty() || elections_.back().outcome == Election::Outcome::runs) {
    return {};
  }
  if (elections_.back().outcome == Election::Outcome::unanswered) {
    const Election& e = elections_.back();
    return tr("The last question who would win was answered by %1 of %2 voters, %3 are needed. It is asked again.")
        .arg(e.answered)
        .arg(e.voters)
        .arg(e.voters / 2 + 1);
  }
  const auto led = std::find_if(elections_.rbegin(), elections_.rend(), [](const Election& e) { return e.decided(); });
  const QuorumReplica* leader = led == elections_.rend() ? nullptr : facts_.find(led->leader);
  const QString missed = tr("Voters ask for one after %1 without a leader.").arg(format_duration(facts_.missed_after_ms));
  return leader == nullptr || leader->state != ReplicaState::offline ? missed : tr("%1 led: %2. %3").arg(name_of(leader->id), leader->role, missed);
}

bool QuorumCanvas::previous() const {
  const int at = chosen();
  return at >= 0 && !awaited().isEmpty() && elections_[static_cast<std::size_t>(at)].decided() &&
         std::none_of(elections_.begin() + at + 1, elections_.end(), [](const Election& e) { return e.decided(); });
}

geometry::StepScale QuorumCanvas::scaleOf(const Election& e, std::int64_t until_ms, double left, double width) {
  std::vector<std::int64_t> steps;
  for (const std::int64_t ms : e.steps) {
    if (ms <= until_ms) {
      steps.push_back(ms);
    }
  }
  const auto span = static_cast<double>(until_ms - e.began_ms);
  const geometry::StepScale::Span all{left, left + width, e.began_ms - static_cast<std::int64_t>(0.12 * span),
                                      until_ms + static_cast<std::int64_t>(0.22 * span)};
  return {std::move(steps), all, left + width - std::min(kLeaderRoom, width / 5), kStepGap};
}

// It has arrived before what it leads to begins.
double QuorumCanvas::voteReach(const geometry::StepScale& scale, int step) {
  const auto next = static_cast<std::size_t>(step) + 1;
  return next < scale.size() ? std::min(kVoteReach, scale.at(next) - scale.at(next - 1) - 2) : kVoteReach;
}

QString QuorumCanvas::story(const Election& e) {
  QStringList out;
  const std::int64_t end = drawn_until(e);
  const auto voters = [&](bool pre_vote, std::int32_t candidate, bool granted) {
    QStringList ids;
    for (const Election::Vote& vote : e.votes) {
      const QString id = QString::number(vote.voter);
      if (vote.at_ms <= end && vote.pre_vote == pre_vote && vote.candidate == candidate && vote.granted == granted && !ids.contains(id)) {
        ids << id;
      }
    }
    const QString last = ids.isEmpty() ? QString() : ids.takeLast();
    return ids.isEmpty() ? last : tr("%1 and %2").arg(ids.join(QStringLiteral(", ")), last);
  };
  // By candidate, as they began to ask: who stands has asked before whether it would win, also where a late answer to that comes after
  // the votes. Who was not answered is in the chart, too.
  std::vector<std::pair<int, std::int32_t>> asked;
  for (const Election::Band& band : e.bands) {
    const bool asks = band.role == event::QuorumRole::prospective || band.role == event::QuorumRole::candidate;
    if (asks && band.from_step >= 0 && band.from_ms <= end) {
      asked.emplace_back(band.from_step, band.node);
    }
  }
  for (const Election::Vote& vote : e.votes) {
    if (vote.at_ms <= end) {
      asked.emplace_back(vote.step, vote.candidate);
    }
  }
  std::sort(asked.begin(), asked.end());
  std::set<std::int32_t> told;
  for (const auto& [step, candidate] : asked) {
    if (!told.insert(candidate).second) {
      continue;
    }
    const QString name = name_of(candidate);
    bool answered = false;
    for (const bool pre_vote : {true, false}) {
      const QString yes = voters(pre_vote, candidate, true);
      const QString no = voters(pre_vote, candidate, false);
      answered = answered || !yes.isEmpty() || !no.isEmpty();
      if (!yes.isEmpty()) {
        out << (pre_vote ? tr("%1 asked whether it would win: %2 said yes") : tr("%1 stood: %2 voted for it")).arg(name, yes);
      } else if (!no.isEmpty()) {
        out << (pre_vote ? tr("%1 asked whether it would win: %2 said no") : tr("%1 stood: %2 refused")).arg(name, no);
      }
    }
    if (!answered && e.voters > 1 && e.outcome != Election::Outcome::unanswered) {
      out << tr("%1 asked whether it would win: nobody answered").arg(name);
    }
  }
  if (e.outcome == Election::Outcome::unanswered) {
    out << tr("%1 of %2 voters answered, %3 are needed; whoever asked asks again").arg(e.answered).arg(e.voters).arg(e.voters / 2 + 1);
  } else if (e.outcome == Election::Outcome::refused) {
    out << tr("%1 leads on").arg(name_of(e.leader));
  } else if (e.outcome == Election::Outcome::found) {
    out << tr("%1 led already").arg(name_of(e.leader));
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
    choose(rows_[static_cast<std::size_t>(object - replicas())].newest);
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
  if (at.awaited > 0) {
    const Colors& c = Theme::current().colors();
    paint_hline(p, 0, wide(), at.awaited - 4, c.border);
    text_left(p, kPad, at.awaited + 14, tr("No election has begun yet"), FontRole::body_strong, c.warn_t);
    p.setFont(canvas_font(FontRole::control));
    p.setPen(c.text2);
    p.drawText(QRectF(kPad, at.awaited + 25, wide() - 2 * kPad, kAwaited - 34), Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap, awaited());
  }
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
  const double left = labelsRoom();
  const double numbers = numbersRoom();
  const double width = std::max(60.0, wide() - left - numbers);
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
  if (numbers == kNumbers) {
    text_right(p, wide() - kPad, at.voters + kTitle / 2, tr("last fetch"), FontRole::caption, c.text3);
  }
  text_left(p, wide() - numbers + 12, at.voters + kTitle / 2, tr("log end"), FontRole::caption, c.text3);
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
  text_fit(p, kPad + 78, y, left - kPad - 86, r.role, FontRole::control, bad ? c.err_t : (odd ? c.warn_t : c.text2));
  const QRectF track(left, std::round(y - kBar / 2), width, kBar);
  const double end = r.log_end < 0 || to <= from ? 0 : std::clamp(static_cast<double>(r.log_end - from) / static_cast<double>(to - from + 1), 0.0, 1.0);
  p.fillRect(track, c.inset);
  const QRectF bar(track.left(), track.top(), std::round(track.width() * end), track.height());
  if (bar.width() >= 1) {
    switch (r.state) {
      case ReplicaState::leader:
        p.fillRect(bar, c.leader_fill);
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
  const double numbers = wide() - numbersRoom() + 12;
  const QString log_end = r.log_end < 0 ? QStringLiteral("–") : format_offset(r.log_end);
  text_left(p, numbers, y, log_end, r.leads ? FontRole::data_strong : FontRole::data, bad ? c.text2 : c.text);
  if (r.behind > 0) {
    text_left(p, numbers + text_width(log_end, FontRole::data) + 8, y, QStringLiteral("-%1").arg(r.behind), FontRole::small_data,
              bad ? c.err_t : c.warn_t);
  }
  const QString fetched = r.fetched_ms < 0 || r.leads ? QStringLiteral("–") : ago(r.fetched_ms);  // nobody has it fetch
  if (numbersRoom() == kNumbers) {
    text_right(p, wide() - kPad, y, fetched, FontRole::small_data, odd || bad ? c.warn_t : c.text2);
  }
  paint_hline(p, 0, wide(), row.bottom() - 1, c.hair);
  if (selected) {
    paint_selection(p, row.adjusted(2, 1, -2, -2), 3);
  }
}

void QuorumCanvas::paintChart(QPainter& p, const Places& at, const Election& e) {
  const Colors& c = Theme::current().colors();
  paint_hline(p, 0, wide(), at.chart - 4, c.border);
  const bool over = previous();
  const bool runs = e.outcome == Election::Outcome::runs;
  const QString title = over            ? tr("The previous election, epoch %1").arg(e.epoch)
                        : only_asked(e) ? tr("Pre-vote in epoch %1").arg(e.epoch)
                                        : tr("Election of epoch %1").arg(sought_epoch(e));
  const double y = at.chart + 14;
  text_left(p, kPad, y, title, FontRole::body_strong, over ? c.text2 : c.text);
  // One that runs goes on to this moment.
  const std::int64_t end = runs ? std::max(drawn_until(e), facts_.seen_ms) : drawn_until(e);
  const QString took = e.decided()     ? took_text(e)
                       : only_asked(e) ? outcome(e).section(QLatin1Char(':'), 0, 0)
                                       : tr("runs for %1").arg(format_duration(end - e.began_ms));
  text_right(p, wide() - kPad, y, took, FontRole::data_strong, over ? c.text2 : e.decided() ? c.text : c.warn_t);
  const double after = kPad + text_width(title, FontRole::body_strong) + 12;
  text_left(p, after, y, format_time(e.began_ms).section(QLatin1Char('.'), 0, 0), FontRole::control, c.text2);
  text_fit(p, kPad, y + 19, wide() - 2 * kPad, e.reason, FontRole::control, c.text2);
  const auto span = static_cast<double>(end - e.began_ms);
  const double to = 1.22 * span;
  const double left = 150;
  const double width = std::max(60.0, wide() - left - kPad);
  const geometry::StepScale scale = scaleOf(e, end, left, width);
  const auto x_of = [&](std::int64_t ms) { return std::clamp(scale.x(ms), left, left + width); };
  const auto x_at = [&](int step) { return static_cast<std::size_t>(step) < scale.size() ? scale.at(static_cast<std::size_t>(step)) : left + width; };
  const double ruler = at.chart + kChartTitle - 12;
  const auto step = static_cast<double>(geometry::nice_step(std::max(1.0, 1.34 * span * 90 / width)));
  const double bottom = at.chart_rows + kChartRow * static_cast<double>(facts_.voters.size());
  if (scale.spread()) {
    text_left(p, kPad, ruler + 8, tr("not to scale"), FontRole::caption, c.text3);
  }
  double ticked = -1'000;
  for (double t = 0; t <= to; t += step) {
    const double x = std::round(x_of(e.began_ms + static_cast<std::int64_t>(t)));
    if (x > wide() - kPad - 20) {
      break;
    }
    if (x < ticked + 60) {
      continue;  // steps that stand apart have taken its place
    }
    ticked = x;
    text_center(p, x, ruler + 8, tr("%1 ms").arg(static_cast<std::int64_t>(t)), FontRole::small_data, c.text3);
    paint_vline(p, x, at.chart_rows - 4, bottom - 6, c.grid);
  }
  std::map<std::int32_t, double> lanes;
  std::set<event::QuorumRole> unnamed;  // of bands too short for a word
  std::set<event::QuorumRole> named;    // elsewhere in the chart
  if (over) {
    p.setOpacity(kGone);
  }

  struct Note {
    double middle;
    QString text;
  };

  std::vector<Note> notes;  // above the arrows

  struct Word {
    double x;
    double middle;
    QString text;
    QColor ground;
  };

  std::vector<Word> words;  // of bands, above the arrows, too: one passes over whoever stands between
  for (std::size_t i = 0; i < facts_.voters.size(); ++i) {
    const QuorumReplica& r = facts_.voters[i];
    const double middle = at.chart_rows + kChartRow * static_cast<double>(i) + kBand / 2 + 4;
    lanes[r.id] = middle;
    const bool won = e.leader == r.id;
    paint_glyph(p, won ? Glyph::crown : Glyph::disc, QPointF(kPad + 6, middle), 12, won ? c.leader : c.edge);
    text_left(p, kPad + 20, middle, name_of(r.id), won ? FontRole::data_strong : FontRole::data, c.text);
    bool any = false;
    bool known = false;
    for (const Election::Band& band : e.bands) {
      if (band.node != r.id) {
        continue;
      }
      known = true;
      double until = band.to_step < 0 ? left + width : x_at(band.to_step);
      const bool ended = e.before == r.id && e.silent_since_ms >= 0 && band.to_ms < 0 && band.from_ms <= e.began_ms;
      if (ended) {
        until = x_of(e.silent_since_ms);
      }
      // A leader of before that is out of reach believes that it leads: until the decision that was so.
      const bool deposed = e.decided() && band.role == event::QuorumRole::leader && band.node != e.leader && band.to_ms < 0 && !ended;
      if (deposed) {
        until = x_at(e.decided_step);
      }
      const double x0 = band.from_step < 0 ? left : x_at(band.from_step);
      const QRectF rect(std::round(x0), std::round(middle - kBand / 2), std::round(until) - std::round(x0), kBand);
      any = any || !ended;
      if (rect.width() < 1) {
        continue;
      }
      const BandLook look = look_of(band, e);
      p.fillRect(rect, look.fill);
      outline(p, rect, look.line, band.role == event::QuorumRole::leader ? 2 : 1, look.dashed);
      QString word = band_word(band);
      if (text_width(word, FontRole::caption) + 12 > rect.width()) {
        word = role_word(band.role);
      }
      if (text_width(word, FontRole::caption) + 12 <= rect.width()) {
        words.push_back({rect.left() + 6, middle, word, look.fill});
        named.insert(band.role);
      } else {
        unnamed.insert(band.role);
      }
      if (deposed) {
        const QRectF after_it(rect.right(), rect.top(), left + width - rect.right(), rect.height());
        p.fillRect(after_it, c.pressed);
        text_fit(p, after_it.left() + 6, middle, after_it.width() - 8, tr("does not know yet"), FontRole::caption, c.text2);
      }
    }
    if (e.before == r.id && e.silent_since_ms >= 0 && !any) {
      notes.push_back({middle, (e.killed ? tr("killed %1 before") : tr("stopped %1 before")).arg(format_duration(e.began_ms - e.silent_since_ms))});
    } else if (!known && r.state == ReplicaState::offline) {
      notes.push_back({middle, r.role});
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
    if (static_cast<std::size_t>(vote.step) >= scale.size()) {
      continue;
    }
    const bool down = candidate->second > voter->second;
    const double x = x_at(vote.step);
    const QPointF tail(x, voter->second + (down ? kBand / 2 : -kBand / 2));
    const QPointF tip(x + voteReach(scale, vote.step), candidate->second + (down ? -kBand / 2 : kBand / 2));
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
  p.setOpacity(1);
  for (const Word& word : words) {
    p.fillRect(QRectF(word.x - 2, word.middle - 7, text_width(word.text, FontRole::caption) + 4, 14), word.ground);
    text_left(p, word.x, word.middle, word.text, FontRole::caption, over ? c.text2 : c.text);
  }
  for (const Note& note : notes) {
    p.fillRect(QRectF(left, note.middle - 8, 24 + text_width(note.text, FontRole::caption), 16), c.canvas);
    paint_glyph(p, Glyph::cross, QPointF(left + 8, note.middle), 12);
    text_left(p, left + 20, note.middle, note.text, FontRole::caption, c.err_t);
  }
  std::erase_if(unnamed, [&](event::QuorumRole role) { return named.contains(role); });
  paintLegend(p, bottom + 2, e, unnamed);
  p.setFont(canvas_font(FontRole::control));
  p.setPen(c.text2);
  p.drawText(QRectF(kPad, bottom + kLegend - 2, wide() - 2 * kPad, storyHeight()), Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap, story(e));
}

// What stands in the chart without a word of its own.
void QuorumCanvas::paintLegend(QPainter& p, double y, const Election& e, const std::set<event::QuorumRole>& unnamed) {
  const Colors& c = Theme::current().colors();
  struct Entry {
    QString text;
    QPen arrow;  // or, without one,
    std::optional<BandLook> band;
  };
  std::vector<Entry> entries;
  const auto arrow = [&](const QColor& color, bool dashed, const QString& text) {
    entries.push_back({text, QPen(color, 1.5, dashed ? Qt::DashLine : Qt::SolidLine, Qt::FlatCap), std::nullopt});
  };
  const auto any = [&](bool pre_vote, bool granted) {
    return std::any_of(e.votes.begin(), e.votes.end(),
                       [&](const Election::Vote& v) { return v.granted == granted && (v.pre_vote == pre_vote || !granted); });
  };
  if (any(true, true)) {
    arrow(c.leader, true, tr("would vote"));
  }
  if (any(false, true)) {
    arrow(c.leader, false, tr("votes"));
  }
  if (any(true, false)) {
    // As it is drawn: a vote that is refused has a full line, a question whether one would vote has not.
    const bool asked = std::all_of(e.votes.begin(), e.votes.end(), [](const Election::Vote& v) { return v.granted || v.pre_vote; });
    arrow(c.err, asked, tr("says no"));
  }
  for (const event::QuorumRole role : unnamed) {
    if (role == event::QuorumRole::follower || role == event::QuorumRole::leader) {
      continue;  // its lane says it elsewhere, or it has the crown
    }
    entries.push_back({role_word(role), QPen(), look_of({-1, role, 0, -1, e.began_ms, -1}, e)});
  }
  constexpr double kArrow = 21;
  constexpr double kSwatch = 15;
  constexpr double kApart = 14;
  const auto mark_of = [&](const Entry& entry) { return entry.band ? kSwatch : kArrow; };
  double total = -kApart;
  for (const Entry& entry : entries) {
    total += mark_of(entry) + text_width(entry.text, FontRole::caption) + kApart;
  }
  // Under the lanes, where there is room; else from the edge on, and what has no room is not begun.
  double x = kBandsFrom + total <= wide() - kPad ? kBandsFrom : kPad;
  for (const Entry& entry : entries) {
    const double mark = mark_of(entry);
    const double end = x + mark + text_width(entry.text, FontRole::caption);
    if (end > wide() - kPad) {
      break;
    }
    if (entry.band) {
      const QRectF swatch(x, y - 5, 10, 10);
      p.fillRect(swatch, entry.band->fill);
      outline(p, swatch, entry.band->line, 1, entry.band->dashed);
    } else {
      p.setPen(entry.arrow);
      p.drawLine(QPointF(x, y), QPointF(x + 16, y));
    }
    text_left(p, x + mark, y, entry.text, FontRole::caption, c.text2);
    x = end + kApart;
  }
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
    const auto& [i, count] = rows_[static_cast<std::size_t>(row)];
    const Election& e = elections_[static_cast<std::size_t>(i)];
    const QRectF rect = electionRect(row);
    const double y = narrow() ? rect.top() + 13 : rect.center().y();
    if (shown <= i && shown > i - count) {
      p.fillRect(rect.adjusted(0, 0, 0, -1), c.selected);
      p.fillRect(QRectF(0, rect.top() + 3, 3, rect.height() - 7), c.leader);
    } else if (hovered() == replicas() + row) {
      p.fillRect(rect.adjusted(0, 0, 0, -1), c.hover);
    }
    text_left(p, kPad, y, tr("epoch %1").arg(e.outcome == Election::Outcome::runs ? sought_epoch(e) : e.epoch), FontRole::data, c.text);
    const QString came = count == 1 ? outcome(e) : tr("%1, %2 times").arg(outcome(e)).arg(count);
    const bool open = e.outcome == Election::Outcome::runs || e.outcome == Election::Outcome::unanswered;
    text_fit(p, kPad + 80, y, 196, came, FontRole::control, open ? c.warn_t : c.text);
    text_left(p, kPad + 282, y, format_time(e.began_ms).section(QLatin1Char('.'), 0, 0), FontRole::small_data, c.text2);
    const QString took = took_text(e);
    text_right(p, wide() - kPad, y, took, FontRole::data, c.text2);
    if (narrow()) {
      text_fit(p, kPad + 80, y + 18, wide() - 80 - 2 * kPad, e.reason, FontRole::control, c.text2);
    } else {
      text_fit(p, kPad + 350, y, wide() - kPad - 358 - kPad - text_width(took, FontRole::data), e.reason, FontRole::control, c.text2);
    }
    paint_hline(p, kPad, wide() - kPad, rect.bottom() - 1, c.hair);
  }
}

}  // namespace hw::ui
