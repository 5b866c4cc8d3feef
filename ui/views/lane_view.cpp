// SPDX-License-Identifier: Apache-2.0
// What the lanes know and how they are moved; lane_paint.cpp has how they look.
#include "ui/views/lane_view.h"

#include <algorithm>
#include <cmath>

#include <QDateTime>
#include <QKeyEvent>
#include <QLocale>
#include <QMouseEvent>
#include <QScrollBar>
#include <QWheelEvent>

#include "ui/painting/shapes.h"
#include "ui/painting/text.h"
#include "ui/theme/theme.h"
#include "ui/views/lane_metrics.h"
#include "ui/views/record_model.h"

namespace hw::ui {

namespace {

using geometry::Mark;
using geometry::OffsetAxis;

constexpr std::int64_t kSampleEveryMs = 30;
constexpr std::int64_t kReadEveryMs = 100;
constexpr int kMaxReads = 4;
constexpr int kCountdownMs = 200;
constexpr std::int64_t kFlagRowsMs = 3'000;
constexpr std::size_t kMaxLanes = 256;      // with a cache; beyond, those out of sight are forgotten
constexpr std::size_t kMaxBatches = 1'024;  // per lane
constexpr std::int64_t kReadRecords = 400;

}  // namespace

LaneView::LaneView(QWidget* parent) : ObjectCanvas(parent) {
  setObjectName(QStringLiteral("laneView"));
  setAccessibleName(tr("Partition lanes"));
  steady_.start();
  clock_ = [this] { return steady_.elapsed(); };
  wall_ = [] { return QDateTime::currentMSecsSinceEpoch(); };
  later_.setSingleShot(true);
  connect(&later_, &QTimer::timeout, this, [this] { sample(); });
}

const observe::TopicView* LaneView::topicView() const {
  return view_ && !topic_.isEmpty() ? view_->find_topic(topic_.toStdString()) : nullptr;
}

const observe::PartitionView* LaneView::partitionView(int partition) const {
  const observe::TopicView* topic = topicView();
  if (topic == nullptr || partition < 0 || partition >= static_cast<int>(topic->partitions.size())) {
    return nullptr;
  }
  return topic->partitions[static_cast<std::size_t>(partition)].get();
}

int LaneView::partitionCount() const {
  const observe::TopicView* topic = topicView();
  return topic == nullptr ? 0 : static_cast<int>(topic->partitions.size());
}

LaneView::Lane& LaneView::lane(int partition) {
  if (lanes_.size() >= kMaxLanes && !lanes_.contains(partition)) {
    const auto [first, last] = visiblePartitions();
    std::erase_if(lanes_, [&](const auto& entry) {
      return (entry.first < first || entry.first >= last) && !entry.second.reading && entry.first != partition;
    });
  }
  return lanes_[partition];
}

const LaneView::Lane* LaneView::laneIfAny(int partition) const {
  const auto at = lanes_.find(partition);
  return at == lanes_.end() ? nullptr : &at->second;
}

void LaneView::setTopic(const QString& topic) {
  if (topic == topic_) {
    return;
  }
  topic_ = topic;
  ++generation_;
  lanes_.clear();
  expanded_.clear();
  expanded_chosen_ = false;
  scroll_ = 0;
  if (mode_ == Mode::free) {
    mode_ = Mode::follow;
    Q_EMIT modeChanged();
  }
  if (partitionCount() > 0) {
    expanded_.insert(0);
  }
  refreshAll();
}

void LaneView::setGroup(const QString& group) {
  if (group != group_) {
    group_ = group;
    refreshAll();
  }
}

void LaneView::setShown(bool leader, bool followers) {
  if (leader != show_leader_ || followers != show_followers_) {
    show_leader_ = leader;
    show_followers_ = followers;
    refreshAll();
  }
}

void LaneView::setColorByKey(bool on) {
  if (on != color_by_key_) {
    color_by_key_ = on;
    update();
  }
}

void LaneView::refreshAll() {
  const auto [first, last] = visiblePartitions();
  for (int p = first; p < last; ++p) {
    static_cast<void>(sampleLane(p, lane(p)));
    growFlags(p);
  }
  objectsChanged();
  Q_EMIT contentChanged();
  update();
  readVisible();
  Q_EMIT sampled();
}

void LaneView::takeView(const observe::ViewPtr& view) {
  const observe::TopicView* before = topicView();
  const auto groups_before = view_ ? view_->groups : nullptr;
  const int count_before = partitionCount();
  view_ = view;
  const observe::TopicView* now = topicView();
  std::vector<NodeCondition> conditions = session_ == nullptr ? std::vector<NodeCondition>() : SessionNodes::of(session_).conditions();
  const bool touched = conditions != conditions_;
  conditions_ = std::move(conditions);
  if (before != now || groups_before != view->groups || touched) {
    if (now != nullptr && expanded_.empty() && !expanded_chosen_ && partitionCount() > 0) {
      expanded_.insert(0);
    }
    if (count_before != partitionCount()) {
      lanes_.clear();
    }
    refreshAll();
  }
  // Batches of what is looked at: their bounds are drawn without reading anything.
  if (view->version != last_version_ && now != nullptr) {
    last_version_ = view->version;
    for (const event::Stamped& stamped : view->batches) {
      const auto* batch = std::get_if<event::BatchAppended>(&stamped.event);
      if (batch == nullptr || batch->topic_id != now->id) {
        continue;
      }
      const auto at = lanes_.find(batch->partition.value());
      if (at != lanes_.end()) {
        at->second.batches.push_back({batch->base_offset.value(), batch->last_offset.value() + 1});
        if (at->second.batches.size() > kMaxBatches) {
          at->second.batches.pop_front();
        }
      }
    }
  }
  const std::int64_t since = clock_() - sampled_at_;
  if (since >= kSampleEveryMs) {
    sample();
  } else if (!later_.isActive()) {
    later_.start(static_cast<int>(kSampleEveryMs - since));
  }
}

NodeCondition LaneView::conditionOf(BrokerId node) const {
  const auto at = std::find_if(conditions_.begin(), conditions_.end(), [node](const NodeCondition& c) { return c.node == node.value(); });
  return at == conditions_.end() ? NodeCondition() : *at;
}

bool LaneView::sampleLane(int partition, Lane& lane) {
  const observe::PartitionView* view = partitionView(partition);
  if (view == nullptr) {
    return false;
  }
  std::vector<Levels> replicas;
  Levels leader = lane.leader;
  const auto levels_of = [](const event::ReplicaCounters& counters, std::int64_t high_watermark) {
    Levels levels;
    levels.start = counters.log_start_offset.get();
    levels.leo = std::max(levels.start, counters.log_end_offset.get());
    levels.hw = std::clamp(high_watermark, levels.start, levels.leo);
    levels.lso = std::clamp(counters.last_stable_offset.get(), levels.start, levels.hw);
    return levels;
  };
  const KnownCounters known = known_counters(*view);
  // The counters move meanwhile. First the high watermark, then the followers' ends, which are never below it while they are in sync, and the
  // leader's end last, which none of them is above.
  const event::ReplicaCounters* led = view->leader_counters();
  const std::int64_t led_to = led != nullptr ? led->high_watermark.get() : -1;
  for (const observe::ReplicaView& replica : view->replicas) {
    Levels levels;
    if (replica.counters && replica.counters.get() != led) {
      levels = levels_of(*replica.counters, replica.counters->high_watermark.get());
    } else if (replica.last_log_end != kNoOffset) {
      // How far it was when its node went.
      levels.leo = replica.last_log_end.value();
      levels.start = std::min(lane.leader.start, levels.leo);
      levels.hw = levels.lso = std::clamp(lane.leader.hw, levels.start, levels.leo);
    }
    replicas.push_back(levels);
  }
  for (std::size_t i = 0; i < replicas.size(); ++i) {
    if (led != nullptr && view->replicas[i].counters.get() == led) {
      replicas[i] = levels_of(*led, led_to);
    }
    if (view->replicas[i].node == view->leader) {
      leader = replicas[i];
    }
  }
  if (known.counters != nullptr && !known.leads) {
    leader = levels_of(*known.counters, known.counters->high_watermark.get());  // what is known last, as the inspector and the page's header have it
  }
  std::vector<std::int64_t> committed;
  for (const observe::GroupView* group : shownGroups()) {
    std::int64_t offset = -1;
    for (const auto& c : group->committed) {
      if (c.partition.value() == partition && c.counters && topic_ == QString::fromStdString(c.topic)) {
        offset = c.counters->offset.get();
      }
    }
    committed.push_back(offset);
  }
  std::vector<Note> notes;
  LeaderText leads;
  if (expanded_.contains(partition)) {
    PartitionFacts facts = partition_facts(*view_, topicView(), *view, wall_(), conditions_);
    leads = leader_text(*view_, *view, facts);
    for (ReplicaFacts& r : facts.replicas) {
      if (view->replicas.size() > 1) {
        notes.push_back({std::move(r.note), r.warns, r.fails, r.holds, r.leaves_ms >= 0 || (r.online && r.warns)});
      }
    }
  }
  const bool changed =
      leads != lane.leads || leader != lane.leader || replicas != lane.replicas || committed != lane.committed || notes != lane.notes;
  lane.notes = std::move(notes);
  lane.leads = std::move(leads);
  if (leader.leo < lane.leader.leo) {
    lane.cache.clear();  // truncated, or another log under the same name
    lane.batches.clear();
  }
  lane.leader = leader;
  lane.replicas = std::move(replicas);
  lane.committed = std::move(committed);
  return changed;
}

void LaneView::sample() {
  sampled_at_ = clock_();
  const auto [first, last] = visiblePartitions();
  for (int p = first; p < last; ++p) {
    Lane& here = lane(p);
    if (sampleLane(p, here)) {
      const Place place = placeOf(p);
      updateRect(QRectF(0, place.top, width(), place.height));
      if (growFlags(p)) {
        Q_EMIT contentChanged();
        update();
      }
    }
    const bool runs = std::any_of(here.notes.begin(), here.notes.end(), [](const Note& note) { return note.runs; });
    if (runs && isVisible() && !later_.isActive()) {
      later_.start(kCountdownMs);
    }
  }
  readVisible();
  Q_EMIT sampled();
}

std::optional<LaneView::Levels> LaneView::levelsOf(int partition) const {
  const Lane* here = laneIfAny(partition);
  return here == nullptr ? std::nullopt : std::optional(here->leader);
}

LeaderText LaneView::leaderText(int partition) const {
  const Lane* here = laneIfAny(partition);
  return here == nullptr ? LeaderText() : here->leads;
}

// Plates that would overlap take another row, and the lanes below make room; a row that was not needed for a while goes again, so
// that nothing jumps back and forth.
bool LaneView::growFlags(int partition) {
  Lane& here = lane(partition);
  const int rows = expanded_.contains(partition) ? geometry::flag_rows(flagsOf(partition)) : 0;
  const std::int64_t now = clock_();
  if (rows == here.flag_rows || rows == 0) {
    here.flag_rows_at = now;
    return false;
  }
  if (rows < here.flag_rows && now - here.flag_rows_at < kFlagRowsMs) {
    return false;
  }
  here.flag_rows = rows;
  here.flag_rows_at = now;
  return true;
}

// The same log elsewhere on the screen, or at another scale.
void LaneView::axisMoved() {
  bool grown = false;
  const auto [first, last] = visiblePartitions();
  for (int p = first; p < last; ++p) {
    grown = growFlags(p) || grown;
  }
  if (grown) {
    Q_EMIT contentChanged();
  }
  update();
  readVisible();
}

void LaneView::dismissGhosts() {
  ghosts_since_ms_ = wall_();
  update();
}

int LaneView::ghosts() const {
  int found = 0;
  const auto [first, last] = visiblePartitions();
  for (int p = first; p < last; ++p) {
    if (const observe::PartitionView* view = partitionView(p); view != nullptr && expanded_.contains(p)) {
      found += static_cast<int>(std::count_if(view->truncations.begin(), view->truncations.end(),
                                              [this](const observe::TruncationView& t) { return t.at.ms > ghosts_since_ms_; }));
    }
  }
  return found;
}

QString LaneView::replicaNote(int partition, std::int32_t node) const {
  const observe::PartitionView* view = partitionView(partition);
  const Lane* here = laneIfAny(partition);
  for (std::size_t i = 0; view != nullptr && here != nullptr && i < std::min(view->replicas.size(), here->notes.size()); ++i) {
    if (view->replicas[i].node.value() == node) {
      return here->notes[i].text;
    }
  }
  return {};
}

std::vector<const observe::GroupView*> LaneView::shownGroups() const {
  std::vector<const observe::GroupView*> groups;
  if (!view_) {
    return groups;
  }
  for (const auto& [id, group] : *view_->groups) {
    const QString name = QString::fromStdString(id);
    if (!group_.isEmpty() && name != group_) {
      continue;
    }
    const bool here = std::any_of(group->committed.begin(), group->committed.end(), [&](const auto& c) {
      return topic_ == QString::fromStdString(c.topic);
    });
    if (here && groups.size() < lane_metrics::kMaxGroups) {
      groups.push_back(group.get());
    }
  }
  return groups;
}

// --- reading

void LaneView::readVisible() {
  if (!session_ || !isVisible() || pitch_ < OffsetAxis::kHeatBelow) {
    return;
  }
  const auto [first, last] = visiblePartitions();
  for (int p = first; p < last && reads_ < kMaxReads; ++p) {
    Lane& here = lane(p);
    const OffsetAxis axis = axisOf(p, here);
    if (here.reading || axis.pitch() < OffsetAxis::kHeatBelow) {
      continue;
    }
    const std::int64_t from = std::max(here.leader.start, axis.offset_at(0));
    const std::int64_t to = std::min(here.leader.hw, axis.offset_at(plotWidth()) + 1);
    const auto gap = here.cache.missing(from, to);
    if (!gap) {
      continue;
    }
    const std::int64_t since = clock_() - here.read_at;
    // When the tail runs faster than anybody could look at a record, its cells are drawn without contents.
    const bool racing = mode_ == Mode::follow && here.leader.leo - here.leo_at_read > (to - from) * 2 && since < 1'000;
    if (since < kReadEveryMs || racing) {
      if (!later_.isActive()) {
        later_.start(static_cast<int>(racing ? 500 : kReadEveryMs));
      }
      if (racing) {
        here.leo_at_read = here.leader.leo;
        here.read_at = clock_();
      }
      continue;
    }
    startRead(p, gap->first, gap->second);
  }
}

void LaneView::startRead(int partition, std::int64_t from, std::int64_t to) {
  Lane& here = lane(partition);
  here.reading = true;
  here.read_at = clock_();
  here.leo_at_read = here.leader.leo;
  ++reads_;
  ReadQuery query;
  query.topic = topic_.toStdString();
  query.partition = partition;
  query.from_offset = from;
  query.to_offset = std::min(to, from + kReadRecords);
  query.max_records = static_cast<std::int32_t>(kReadRecords);
  query.max_bytes = 256 << 10;
  const QPointer<LaneView> self(this);
  const std::uint64_t generation = generation_;
  session_->read(query, [self, generation, partition, query](const ReadAnswer& answer) {
    if (!self) {
      return;
    }
    --self->reads_;
    if (generation != self->generation_) {
      return;
    }
    Lane& lane = self->lane(partition);
    lane.reading = false;
    if (!answer.error.isEmpty()) {
      lane.read_at = self->clock_() + 2'000;  // asked again, but not at once
      return;
    }
    std::int64_t end = std::min(answer.next_offset, query.to_offset);
    if (!answer.rows.empty()) {
      end = std::max(end, answer.rows.back().offset + 1);
    }
    lane.cache.insert(query.from_offset, end, answer.rows);
    const Place place = self->placeOf(partition);
    self->updateRect(QRectF(0, place.top, self->width(), place.height));
    self->readVisible();
  });
}

// --- zoom and pan

double LaneView::plotLeft() const { return lane_metrics::kLabels; }

double LaneView::plotWidth() const {
  const double whole = width() / Theme::current().scale();
  return std::max(60.0, whole - lane_metrics::kLabels - lane_metrics::kRight);
}

OffsetAxis LaneView::axisOf(int, const Lane& lane) const {
  switch (mode_) {
    case Mode::fit:
      return OffsetAxis::fit(lane.leader.start, lane.leader.leo, plotWidth());
    case Mode::follow: {
      const double all = static_cast<double>(lane.leader.leo - lane.leader.start) * pitch_;
      return all <= plotWidth() ? OffsetAxis(lane.leader.start, 0, pitch_)
                                : OffsetAxis::ending_at(lane.leader.leo, plotWidth(), pitch_);
    }
    case Mode::free:
      break;
  }
  return lane.axis ? *lane.axis : OffsetAxis::ending_at(lane.leader.leo, plotWidth(), pitch_);
}

void LaneView::makeFree() {
  if (mode_ == Mode::free) {
    return;
  }
  const auto [first, last] = visiblePartitions();
  for (auto& [index, lane] : lanes_) {
    lane.axis.reset();
  }
  std::map<int, OffsetAxis> axes;
  for (int p = first; p < last; ++p) {
    axes.emplace(p, axisOf(p, lane(p)));
  }
  for (const auto& [p, axis] : axes) {
    lane(p).axis = axis;
  }
  mode_ = Mode::free;
  Q_EMIT modeChanged();
}

void LaneView::zoom(int steps) {
  if (mode_ == Mode::fit) {
    const auto [first, last] = visiblePartitions();
    pitch_ = first < last ? axisOf(first, lane(first)).pitch() : pitch_;
  }
  if (mode_ == Mode::follow) {
    pitch_ = geometry::ladder_pitch(pitch_, steps);
  } else {
    const bool was_fit = mode_ == Mode::fit;
    makeFree();
    const double middle = plotWidth() / 2;
    for (auto& [index, lane] : lanes_) {
      if (lane.axis) {
        lane.axis = lane.axis->zoomed(steps, was_fit ? plotWidth() : middle);
        pitch_ = lane.axis->pitch();
      }
    }
  }
  Q_EMIT modeChanged();
  axisMoved();
}

void LaneView::pan(double pixels) {
  makeFree();
  for (auto& [index, lane] : lanes_) {
    if (lane.axis) {
      lane.axis = lane.axis->panned(pixels);
    }
  }
  axisMoved();
}

void LaneView::fitAll() {
  mode_ = Mode::fit;
  Q_EMIT modeChanged();
  axisMoved();
}

void LaneView::setFollowing(bool on) {
  if (on) {
    if (mode_ == Mode::fit) {
      pitch_ = std::max(pitch_, OffsetAxis::kHeatBelow);
    }
    mode_ = Mode::follow;
    Q_EMIT modeChanged();
    axisMoved();
  } else {
    makeFree();
    axisMoved();
  }
}

// --- places

int LaneView::shownReplicas(const observe::PartitionView& view) const {
  return static_cast<int>(replicaOrder(view).size());
}

// The leader first, then followers in assignment order.
std::vector<int> LaneView::replicaOrder(const observe::PartitionView& view) const {
  std::vector<int> order;
  for (const bool leader : {true, false}) {
    for (std::size_t i = 0; i < view.replicas.size(); ++i) {
      const bool leads = view.replicas[i].node == view.leader;
      if (leads == leader && (leads ? show_leader_ : show_followers_)) {
        order.push_back(static_cast<int>(i));
      }
    }
  }
  return order;
}

double LaneView::heightOf(int partition) const {
  namespace m = lane_metrics;
  if (!expanded_.contains(partition)) {
    return m::kCollapsed;
  }
  const observe::PartitionView* view = partitionView(partition);
  const int replicas = view == nullptr ? 1 : std::max(1, shownReplicas(*view));
  const Lane* lane = laneIfAny(partition);
  const int flags = lane == nullptr ? 1 : lane->flag_rows;
  const auto groups = static_cast<double>(shownGroups().size());
  const double epochs = view != nullptr && view->epochs.size() > 1 ? m::kEpochs : 0;
  return m::kHeader + m::kRuler + flags * m::kFlagRow + m::kLane + (replicas - 1) * m::kFollower + m::kSegments + epochs +
         groups * m::kGroupRow + m::kBottom;
}

double LaneView::topOf(int partition) const {
  double top = lane_metrics::kTop - scroll_ + partition * lane_metrics::kCollapsed;
  for (const int e : expanded_) {
    if (e >= partition) {
      break;
    }
    top += heightOf(e) - lane_metrics::kCollapsed;
  }
  return top;
}

LaneView::Place LaneView::placeOf(int partition) const {
  namespace m = lane_metrics;
  Place place;
  place.top = topOf(partition);
  place.height = heightOf(partition);
  place.expanded = expanded_.contains(partition);
  if (!place.expanded) {
    place.lanes = place.top + m::kCollapsedLaneTop;
    return place;
  }
  const observe::PartitionView* view = partitionView(partition);
  const int replicas = view == nullptr ? 1 : std::max(1, shownReplicas(*view));
  const Lane* lane = laneIfAny(partition);
  place.ruler = place.top + m::kHeader;
  place.flags = place.ruler + m::kRuler;
  place.lanes = place.flags + (lane == nullptr ? 1 : lane->flag_rows) * m::kFlagRow;
  place.segments = place.lanes + m::kLane + (replicas - 1) * m::kFollower;
  const bool epochs = view != nullptr && view->epochs.size() > 1;
  place.epochs = epochs ? place.segments + m::kSegments : 0;
  place.groups = place.segments + m::kSegments + (epochs ? m::kEpochs : 0);
  return place;
}

double LaneView::contentHeight() const {
  const int count = partitionCount();
  return count == 0 ? 0 : topOf(count) + scroll_ + lane_metrics::kBottom;
}

double LaneView::viewHeight() const { return height() / Theme::current().scale(); }

std::pair<int, int> LaneView::visiblePartitions() const {
  const int count = partitionCount();
  if (count == 0) {
    return {0, 0};
  }
  // Tops rise with the index: the first whose bottom is below 0.
  int low = 0;
  int high = count;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (topOf(middle) + heightOf(middle) <= 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  int last = low;
  const double bottom = viewHeight();
  while (last < count && topOf(last) < bottom) {
    ++last;
  }
  return {low, last};
}

void LaneView::setScroll(double y) {
  const double limit = std::max(0.0, contentHeight() - viewHeight());
  const double wanted = std::clamp(y, 0.0, limit);
  if (wanted == scroll_) {
    return;
  }
  scroll_ = wanted;
  const auto [first, last] = visiblePartitions();
  for (int p = first; p < last; ++p) {
    static_cast<void>(sampleLane(p, lane(p)));
    growFlags(p);
    if (mode_ == Mode::free && !lane(p).axis) {
      lane(p).axis = OffsetAxis::ending_at(lane(p).leader.leo, plotWidth(), pitch_);
    }
  }
  objectsChanged();
  update();
  readVisible();
  Q_EMIT sampled();
}

void LaneView::setExpanded(int partition, bool on) {
  expanded_chosen_ = true;
  if (on == expanded_.contains(partition)) {
    return;
  }
  if (on) {
    expanded_.insert(partition);
    if (expanded_.size() > 32) {
      expanded_.erase(*expanded_.begin() == partition ? *std::next(expanded_.begin()) : *expanded_.begin());
    }
  } else {
    expanded_.erase(partition);
  }
  refreshAll();
}

void LaneView::resizeEvent(QResizeEvent* event) {
  ObjectCanvas::resizeEvent(event);
  refreshAll();
}

void LaneView::hideEvent(QHideEvent* event) {
  later_.stop();
  ObjectCanvas::hideEvent(event);
}

std::vector<geometry::Flag> LaneView::flagsOf(int partition) const {
  const Lane* here = laneIfAny(partition);
  if (here == nullptr) {
    return {};
  }
  const OffsetAxis axis = axisOf(partition, *here);
  std::vector<geometry::MarkIn> marks;
  const auto add = [&](Mark mark, std::int64_t offset) {
    // Out of sight they stand at the edge, with an arrow: all four are always there.
    const double x = axis.x(offset);
    const int outside = x < -0.5 ? -1 : (x > plotWidth() + 0.5 ? 1 : 0);
    marks.push_back({mark, offset, std::round(std::clamp(x, 0.0, plotWidth())), outside});
  };
  add(Mark::log_start, here->leader.start);
  add(Mark::last_stable, here->leader.lso);
  add(Mark::high_watermark, here->leader.hw);
  add(Mark::log_end, here->leader.leo);
  std::vector<geometry::Flag> flags = geometry::merge_marks(marks);
  for (geometry::Flag& flag : flags) {
    flag.width = plate_width_of(flag);
  }
  const bool beyond = std::any_of(flags.begin(), flags.end(), [](const geometry::Flag& f) { return f.outside > 0; });
  geometry::place_flags(flags, beyond ? plotWidth() : plotWidth() + lane_metrics::kRight - 16, 3);
  return flags;
}

std::optional<QRectF> LaneView::cellRect(int partition, std::int64_t offset) const {
  const Lane* here = laneIfAny(partition);
  if (here == nullptr || partitionView(partition) == nullptr) {
    return std::nullopt;
  }
  const OffsetAxis axis = axisOf(partition, *here);
  const double left = axis.x(offset);
  const double right = axis.x(offset + 1);
  if (right <= 0 || left >= plotWidth()) {
    return std::nullopt;
  }
  const Place place = placeOf(partition);
  const double height = place.expanded ? lane_metrics::kLane : lane_metrics::kCollapsedLane;
  return QRectF(plotLeft() + left, place.lanes, std::max(1.0, right - left), height);
}

// --- objects

CanvasObject LaneView::object(int index) const {
  const Place place = placeOf(index);
  return {Selection::ofPartition(topic_, index),
          QRectF(6, place.top + 2, width() / Theme::current().scale() - 12, place.height - 4), 0};
}

int LaneView::objectAt(QPointF point) const {
  const auto [first, last] = visiblePartitions();
  for (int p = first; p < last; ++p) {
    const double top = topOf(p);
    if (point.y() >= top && point.y() < top + heightOf(p)) {
      return p;
    }
  }
  return -1;
}

int LaneView::indexOf(const Selection& selection) const {
  return selection.inPartition() && selection.topic == topic_ && selection.partition < partitionCount()
             ? selection.partition
             : -1;
}

QString LaneView::objectSentence(int index) const {
  const observe::PartitionView* view = partitionView(index);
  const Lane* here = laneIfAny(index);
  if (view == nullptr) {
    return tr("Partition %1, not known yet").arg(index);
  }
  const bool told = here != nullptr && !here->leads.text.isEmpty();
  QString text = told ? tr("%1 partition %2, %3").arg(topic_).arg(index).arg(here->leads.text)
                      : tr("%1 partition %2, leader %3")
                            .arg(topic_)
                            .arg(index)
                            .arg(view->leader == kNoBroker ? tr("none") : tr("node %1").arg(view->leader.value()));
  if (here != nullptr) {
    const Levels& l = here->leader;
    text += tr(", log start %1, last stable offset %2, high watermark %3, log end %4")
                .arg(l.start).arg(l.lso).arg(l.hw).arg(l.leo);
    for (std::size_t r = 0; r < view->replicas.size() && r < here->notes.size() && r < here->replicas.size(); ++r) {
      if (view->replicas[r].node != view->leader) {
        text += tr(", node %1 at %2: %3").arg(view->replicas[r].node.value()).arg(here->replicas[r].leo).arg(here->notes[r].text);
      }
    }
    const auto groups = shownGroups();
    for (std::size_t g = 0; g < groups.size() && g < here->committed.size(); ++g) {
      if (here->committed[g] >= 0) {
        text += tr(", group %1 committed %2, lag %3").arg(QString::fromStdString(groups[g]->id)).arg(here->committed[g])
                    .arg(std::max<std::int64_t>(0, l.hw - here->committed[g]));
      }
    }
  }
  if (selection().kind == Selection::Kind::record && indexOf(selection()) == index) {
    text += tr("; selected: %1").arg(recordSentence(index, selection().offset));
  }
  return text;
}

QString LaneView::recordSentence(int partition, std::int64_t offset) const {
  const Lane* here = laneIfAny(partition);
  if (here == nullptr) {
    return {};
  }
  const QString name = QStringLiteral("%1/%2@%3").arg(topic_).arg(partition).arg(offset);
  if (offset >= here->leader.leo || offset < here->leader.start) {
    return tr("%1, no record here").arg(name);
  }
  const RecordCache::Cell* cell = here->cache.find(offset);
  const QString above = offset >= here->leader.hw ? tr(", above the high watermark: consumers do not see it yet") : QString();
  if (cell == nullptr) {
    return here->cache.known(offset) ? tr("%1, no record: removed by compaction, or never written").arg(name)
                                     : name + above;
  }
  QString what;
  switch (cell->kind) {
    case RecordCache::Kind::record:
      what = tr("record of %1").arg(format_bytes(cell->size_bytes));
      break;
    case RecordCache::Kind::tombstone:
      what = tr("tombstone: the value is null");
      break;
    case RecordCache::Kind::empty_value:
      what = tr("record with an empty value");
      break;
    case RecordCache::Kind::commit_marker:
      what = tr("commit marker of a transaction");
      break;
    case RecordCache::Kind::abort_marker:
      what = tr("abort marker of a transaction");
      break;
  }
  QString text = tr("%1, %2").arg(name, what);
  if (cell->batch_records > 1) {
    text += tr(", in a batch of %1 from %2").arg(cell->batch_records).arg(cell->batch_base);
  }
  return text + above;
}

QString LaneView::markSentence(int partition, Mark mark) const {
  const Lane* here = laneIfAny(partition);
  const observe::PartitionView* view = partitionView(partition);
  if (here == nullptr || view == nullptr) {
    return {};
  }
  const Levels& l = here->leader;
  switch (mark) {
    case Mark::log_start:
      return tr("Log start %1: the first offset that can still be read. It rises when retention deletes a segment or "
                "somebody deletes records.").arg(l.start);
    case Mark::last_stable:
      return l.lso < l.hw
                 ? tr("LSO %1 = min( HW %2, first offset of an open transaction %1 ). read_committed consumers stop here.")
                       .arg(l.lso).arg(l.hw)
                 : tr("LSO %1 = HW %2: no transaction is open. read_committed consumers stop here.").arg(l.lso).arg(l.hw);
    case Mark::high_watermark: {
      QStringList inputs;
      for (std::size_t i = 0; i < view->replicas.size() && i < here->replicas.size(); ++i) {
        const BrokerId node = view->replicas[i].node;
        if (std::find(view->isr.begin(), view->isr.end(), node) != view->isr.end()) {
          inputs << tr("n%1 %2", "node and its log end").arg(node.value()).arg(here->replicas[i].leo);
        }
      }
      return tr("HW %1 = min LEO over ISR { %2 }. Consumers read below it.").arg(l.hw).arg(inputs.join(QStringLiteral(", ")));
    }
    case Mark::log_end:
      return tr("LEO %1: the next record gets this offset.").arg(l.leo);
  }
  return {};
}

LaneView::Hit LaneView::hit(QPointF point) const {
  namespace m = lane_metrics;
  Hit result;
  result.partition = objectAt(point);
  const observe::PartitionView* view = partitionView(result.partition);
  const Lane* here = laneIfAny(result.partition);
  if (view == nullptr || here == nullptr) {
    return result;
  }
  const Place place = placeOf(result.partition);
  const OffsetAxis axis = axisOf(result.partition, *here);
  const double x = point.x() - plotLeft();
  result.offset = axis.offset_at(x);
  if (point.x() < plotLeft() || (place.expanded && point.y() < place.ruler)) {
    result.on = Hit::On::header;
    return result;
  }
  if (place.expanded && point.y() < place.lanes) {
    for (const geometry::Flag& flag : flagsOf(result.partition)) {
      const QRectF plate(flag.left, place.flags + flag.row * m::kFlagRow, flag.width, kPlateHeight);
      if (plate.contains(QPointF(x, point.y()))) {
        result.on = Hit::On::flag;
        result.mark = flag.marks.back();
        return result;
      }
    }
    return result;
  }
  const double lanes_end = place.expanded ? place.segments : place.lanes + m::kCollapsedLane;
  if (point.y() >= place.lanes && point.y() < lanes_end && x < plotWidth()) {
    result.on = Hit::On::plot;
    result.offset = std::clamp(result.offset, here->leader.start, std::max(here->leader.start, here->leader.leo - 1));
    return result;
  }
  if (place.expanded && point.y() >= place.groups) {
    const int group = static_cast<int>((point.y() - place.groups) / m::kGroupRow);
    if (group < static_cast<int>(shownGroups().size())) {
      result.on = Hit::On::group;
      result.group = group;
    }
  }
  return result;
}

QString LaneView::toolTipAt(QPointF point) const {
  const Hit at = hit(point);
  const Lane* here = laneIfAny(at.partition);
  switch (at.on) {
    case Hit::On::none:
      return {};
    case Hit::On::header:
      return objectSentence(at.partition);
    case Hit::On::flag: {
      // A shared plate explains each of its marks.
      QStringList lines;
      for (const geometry::Flag& flag : flagsOf(at.partition)) {
        if (flag.marks.back() == at.mark) {
          for (const Mark mark : flag.marks) {
            lines << markSentence(at.partition, mark);
          }
        }
      }
      return lines.join(QStringLiteral("\n"));
    }
    case Hit::On::plot:
      return here != nullptr && here->leader.leo > here->leader.start && axisOf(at.partition, *here).pitch() >= 1
                 ? recordSentence(at.partition, at.offset)
                 : objectSentence(at.partition);
    case Hit::On::group: {
      const auto groups = shownGroups();
      const auto index = static_cast<std::size_t>(at.group);
      if (here == nullptr || index >= groups.size() || index >= here->committed.size()) {
        return {};
      }
      const QString name = QString::fromStdString(groups[index]->id);
      const std::int64_t committed = here->committed[index];
      return committed < 0 ? tr("%1 has committed nothing here").arg(name)
                           : tr("%1 committed %2: the next record it will read after a restart.\nLag %3 = HW %4 − %2")
                                 .arg(name).arg(committed).arg(std::max<std::int64_t>(0, here->leader.hw - committed))
                                 .arg(here->leader.hw);
    }
  }
  return {};
}

void LaneView::selectionChanged() {
  const int partition = indexOf(selection());
  if (partition < 0) {
    return;
  }
  // The selected partition is the open one, until somebody opens or folds lanes by hand.
  if (!expanded_chosen_ && !expanded_.contains(partition)) {
    expanded_ = {partition};
    refreshAll();
  }
  const Place place = placeOf(partition);
  if (place.top < 0 || place.top + std::min(place.height, viewHeight()) > viewHeight()) {
    Q_EMIT scrollRequested(std::max(0.0, place.top + scroll_ - 8));
  }
  // A record that is not in sight is brought into sight.
  if (selection().offset >= 0 && laneIfAny(partition) != nullptr) {
    const OffsetAxis axis = axisOf(partition, lane(partition));
    const double x = axis.x(selection().offset);
    const bool exists = selection().offset >= lane(partition).leader.start && selection().offset < lane(partition).leader.leo;
    if (exists && (x < 0 || x > plotWidth() - axis.pitch())) {
      makeFree();
      lane(partition).axis = axis.panned(plotWidth() / 2 - x);
      readVisible();
    }
  }
}

// --- input

void LaneView::keyPressEvent(QKeyEvent* event) {
  const bool plain = !(event->modifiers() & ~(Qt::KeypadModifier | Qt::ShiftModifier));
  if (plain) {
    switch (event->key()) {
      case Qt::Key_W:
      case Qt::Key_Plus:
        zoom(1);
        return;
      case Qt::Key_S:
      case Qt::Key_Minus:
        zoom(-1);
        return;
      case Qt::Key_A:
        pan(plotWidth() / 8);
        return;
      case Qt::Key_D:
        pan(-plotWidth() / 8);
        return;
      case Qt::Key_F:
        fitAll();
        return;
      case Qt::Key_O:  // Space belongs to the whole window: pause
        if (const int at = indexOf(selection()); at >= 0) {
          setExpanded(at, !expanded(at));
          return;
        }
        break;
      case Qt::Key_Left:
      case Qt::Key_Right: {
        const int partition = indexOf(selection());
        if (partition < 0) {
          break;
        }
        const Levels& levels = lane(partition).leader;
        if (levels.leo <= levels.start) {
          return;
        }
        const std::int64_t step = event->key() == Qt::Key_Right ? 1 : -1;
        const Selection& s = selection();
        std::int64_t offset = levels.leo - 1;
        if (s.kind == Selection::Kind::record) {
          offset = s.offset + step;
        } else if (s.kind == Selection::Kind::offset_range) {
          offset = step > 0 ? s.last_offset : s.offset;
        }
        offset = std::clamp(offset, levels.start, levels.leo - 1);
        Q_EMIT selectionRequested(Selection::ofRecord(topic_, partition, offset));
        return;
      }
      case Qt::Key_Return:
      case Qt::Key_Enter:
        if (selection().inPartition() && selection().topic == topic_) {
          Q_EMIT openRequested(selection());
          return;
        }
        break;
      default:
        break;
    }
  }
  ObjectCanvas::keyPressEvent(event);
}

void LaneView::wheelEvent(QWheelEvent* event) {
  const int delta = event->angleDelta().y();
  if (event->modifiers() & Qt::ControlModifier) {
    const QPointF at = toCanvas(event->position());
    const int steps = delta > 0 ? 1 : (delta < 0 ? -1 : 0);
    if (steps != 0) {
      makeFree();
      for (auto& [index, lane] : lanes_) {
        if (lane.axis) {
          lane.axis = lane.axis->zoomed(steps, at.x() - plotLeft());
          pitch_ = lane.axis->pitch();
        }
      }
      Q_EMIT modeChanged();
      axisMoved();
    }
    event->accept();
    return;
  }
  if (event->angleDelta().x() != 0 && delta == 0) {
    pan(event->angleDelta().x() / 2.0);
    event->accept();
    return;
  }
  const double limit = contentHeight() - viewHeight();
  if (limit > 0) {
    Q_EMIT scrollRequested(std::clamp(scroll_ - delta / 2.0, 0.0, limit));
  }
  event->accept();
}

void LaneView::mousePressEvent(QMouseEvent* event) {
  const QPointF point = toCanvas(event->position());
  const Hit at = hit(point);
  if (event->button() == Qt::LeftButton && at.on == Hit::On::plot) {
    drag_ = event->modifiers() & Qt::ShiftModifier ? Drag::pan : Drag::maybe;
    drag_from_ = point;
    drag_partition_ = at.partition;
    drag_offset_ = at.offset;
    drag_to_ = at.offset;
    return;
  }
  if (event->button() == Qt::LeftButton && at.on == Hit::On::header && point.x() < 30) {
    setExpanded(at.partition, !expanded(at.partition));
    return;
  }
  ObjectCanvas::mousePressEvent(event);
}

void LaneView::mouseMoveEvent(QMouseEvent* event) {
  const QPointF point = toCanvas(event->position());
  if (drag_ == Drag::pan) {
    pan(point.x() - drag_from_.x());
    drag_from_ = point;
    return;
  }
  if (drag_ == Drag::maybe && std::abs(point.x() - drag_from_.x()) > 3) {
    drag_ = Drag::range;
  }
  const Lane* here = laneIfAny(drag_partition_);
  if (drag_ == Drag::range && here != nullptr) {
    const OffsetAxis axis = axisOf(drag_partition_, *here);
    const std::int64_t to = std::clamp(axis.offset_at(std::clamp(point.x() - plotLeft(), 0.0, plotWidth())),
                                       here->leader.start, std::max(here->leader.start, here->leader.leo - 1));
    if (to != drag_to_) {
      drag_to_ = to;
      const Place place = placeOf(drag_partition_);
      updateRect(QRectF(0, place.top, width(), place.height));
    }
    return;
  }
  const Hit before = hover_;
  hover_ = hit(point);
  if (before.on != hover_.on || before.partition != hover_.partition || before.offset != hover_.offset) {
    for (const Hit& h : {before, hover_}) {
      if (h.on == Hit::On::plot && h.partition < partitionCount()) {
        if (const auto cell = cellRect(h.partition, h.offset)) {
          updateRect(cell->adjusted(-2, -2, 2, 2));
        }
      }
    }
  }
  ObjectCanvas::mouseMoveEvent(event);
}

void LaneView::leaveEvent(QEvent* event) {
  if (hover_.on == Hit::On::plot) {
    if (const auto cell = cellRect(hover_.partition, hover_.offset)) {
      updateRect(cell->adjusted(-2, -2, 2, 2));
    }
  }
  hover_ = {};
  ObjectCanvas::leaveEvent(event);
}

void LaneView::mouseReleaseEvent(QMouseEvent* event) {
  if (event->button() == Qt::LeftButton && (drag_ == Drag::maybe || drag_ == Drag::range)) {
    const Lane* here = laneIfAny(drag_partition_);
    const bool any = here != nullptr && here->leader.leo > here->leader.start;
    const bool cell = any && axisOf(drag_partition_, *here).pitch() >= OffsetAxis::kHeatBelow;
    if (drag_ == Drag::range && any) {
      const auto [first, last] = std::minmax(drag_offset_, drag_to_);
      Q_EMIT selectionRequested(Selection::ofRange(topic_, drag_partition_, first, last));
    } else if (cell) {
      Q_EMIT selectionRequested(Selection::ofRecord(topic_, drag_partition_, drag_offset_));
    } else {
      Q_EMIT selectionRequested(Selection::ofPartition(topic_, drag_partition_));
    }
  }
  drag_ = Drag::none;
  ObjectCanvas::mouseReleaseEvent(event);
}

void LaneView::mouseDoubleClickEvent(QMouseEvent* event) {
  const Hit at = hit(toCanvas(event->position()));
  if (at.on == Hit::On::plot && event->button() == Qt::LeftButton) {
    Q_EMIT openRequested(Selection::ofRecord(topic_, at.partition, at.offset));
  } else if (at.on == Hit::On::header) {
    setExpanded(at.partition, !expanded(at.partition));
  }
}

std::optional<std::pair<std::int64_t, std::int64_t>> LaneView::rangeIn(int partition) const {
  if (drag_ == Drag::range && drag_partition_ == partition) {
    const auto [first, last] = std::minmax(drag_offset_, drag_to_);
    return std::make_pair(first, last);
  }
  const Selection& s = selection();
  if (indexOf(s) == partition && s.kind != Selection::Kind::partition && s.inPartition()) {
    return std::make_pair(s.offset, s.kind == Selection::Kind::record ? s.offset : s.last_offset);
  }
  return std::nullopt;
}

}  // namespace hw::ui
