// SPDX-License-Identifier: Apache-2.0
#include "ui/views/partitions_page.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDateTime>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QPainter>
#include <QScrollBar>
#include <QStackedWidget>
#include <QStandardItemModel>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "ui/models/replica_facts.h"
#include "ui/painting/shapes.h"
#include "ui/painting/text.h"
#include "ui/views/data_delegate.h"
#include "ui/views/lane_table.h"
#include "ui/views/legend_bar.h"
#include "ui/views/pane.h"
#include "ui/views/record_model.h"
#include "ui/views/statistics_strip.h"
#include "ui/views/table_setup.h"
#include "ui/window/command_registry.h"
#include "ui/window/controls.h"

namespace hw::ui {

namespace {

constexpr int kSelectionRows = 200;
constexpr int kDrawerRows = 3;
constexpr int kDrawerHead = 27;
constexpr int kRoomForDrawer = 540;
constexpr int kCountedAtOnce = 64;  // partitions: with every look at the lanes; more of them, a few times a second
constexpr int kRoomForSize = 800;
constexpr int kRoomForGroups = 700;  // where less is left, names beside it would be cut

std::vector<LegendBar::Entry> legend_entries() {
  const auto cell = [](auto paint) {
    return [paint](QPainter& p, QPointF at) { paint(p, QRectF(at.x(), at.y() - 6, 8, 13)); };
  };
  const auto glyph = [](Glyph which) {
    return [which](QPainter& p, QPointF at) { paint_glyph(p, which, QPointF(at.x() + 5, at.y()), 12); };
  };
  const auto frame = [](QPainter& p, const QRectF& r, const QColor& color) {
    p.setPen(QPen(color, 1));
    p.setBrush(Qt::NoBrush);
    p.drawRect(r.adjusted(0.5, 0.5, -0.5, -0.5));
  };
  std::vector<LegendBar::Entry> entries;
  entries.push_back({8, cell([](QPainter& p, const QRectF& r) { p.fillRect(r, Theme::current().colors().leader); }),
                     PartitionsPage::tr("record")});
  entries.push_back({8, cell([frame](QPainter& p, const QRectF& r) {
                       frame(p, r, Theme::current().colors().border);
                       p.fillRect(QRectF(r.left() - 1, r.center().y(), r.width() + 2, 1), Theme::current().colors().control);
                     }),
                     PartitionsPage::tr("removed by compaction")});
  entries.push_back({8, cell([frame](QPainter& p, const QRectF& r) {
                       p.fillRect(r, hatch_brush(Hatch::above_hw));
                       frame(p, r, Theme::current().colors().leader);
                     }),
                     PartitionsPage::tr("above HW")});
  entries.push_back({8, cell([frame](QPainter& p, const QRectF& r) {
                       p.fillRect(r, Theme::current().colors().leader);
                       p.fillRect(r.adjusted(2, 2, -2, -2), Theme::current().colors().canvas);
                     }),
                     PartitionsPage::tr("empty value"), true});
  entries.push_back({8, cell([](QPainter& p, const QRectF& r) {
                       QPen pen(Theme::current().colors().past, 1, Qt::CustomDashLine, Qt::FlatCap);
                       pen.setDashPattern({2, 2});
                       p.setPen(pen);
                       p.setBrush(Qt::NoBrush);
                       p.drawRect(r.adjusted(0.5, 0.5, -0.5, -0.5));
                     }),
                     PartitionsPage::tr("cut off, never committed"), true});
  entries.push_back({10, glyph(Glyph::dagger), PartitionsPage::tr("tombstone")});
  entries.push_back({10, glyph(Glyph::diamond_filled), PartitionsPage::tr("commit marker"), true});
  entries.push_back({10, glyph(Glyph::slashed_ring), PartitionsPage::tr("abort marker"), true});
  entries.push_back({10,
                     [](QPainter& p, QPointF at) {
                       p.setRenderHint(QPainter::Antialiasing, true);
                       p.setPen(Qt::NoPen);
                       p.setBrush(Theme::current().colors().text);
                       const QPointF points[] = {{at.x() + 5, at.y() - 5}, {at.x() + 10, at.y() + 4}, {at.x(), at.y() + 4}};
                       p.drawPolygon(points, 3);
                       p.setRenderHint(QPainter::Antialiasing, false);
                     },
                     PartitionsPage::tr("committed by a group")});
  std::rotate(entries.begin() + 1, entries.end() - 1, entries.end());  // on every lane: what is seldom goes first where room lacks
  return entries;
}

// Fills a combo box with names, keeping what is chosen; quick for a thousand.
void set_names(QComboBox* box, const QStringList& names) {
  const QSignalBlocker block(box);
  const QString current = box->currentText();
  box->clear();
  box->addItems(names);
  const int at = box->findText(current);
  box->setCurrentIndex(at >= 0 ? at : (names.isEmpty() ? -1 : 0));
}

}  // namespace

PartitionsPage::PartitionsPage(QWidget* parent)
    : Page({QStringLiteral("partitions"), tr("Partitions"), QStringLiteral("partitions"), QKeySequence(Qt::Key_2),
            tr("Observe")},
           parent) {
  steady_.start();
  Theme& theme = Theme::current();
  // Header.
  topics_ = new QComboBox(this);
  topics_->setAccessibleName(tr("Topic"));
  follow_font(topics_, FontRole::data);
  topics_->setPlaceholderText(tr("no topic yet"));
  topics_->setMinimumContentsLength(12);
  topics_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  topics_->setMaxVisibleItems(24);
  header()->addLeft(topics_);
  const auto box = [this](const QString& text, bool on) {
    auto* made = new QCheckBox(text, this);
    made->setChecked(on);
    header()->addLeft(made);
    return made;
  };
  leader_ = box(tr("leader"), true);
  followers_ = box(tr("followers"), true);
  keys_ = box(tr("colour by key"), false);
  groups_ = new QComboBox(this);
  groups_->setAccessibleName(tr("Consumer group whose positions are shown"));
  groups_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  groups_->setMinimumContentsLength(9);
  header()->addRight(groups_);
  const auto tool = [this](const QString& icon, const QString& name, auto act) {
    auto* button = new Button(Button::Kind::quiet, icon, {}, this);
    button->setName(name);
    header()->addRight(button);
    connect(button, &QAbstractButton::clicked, this, act);
    return button;
  };
  tool(QStringLiteral("zoom-out"), tr("Zoom out (S)"), [this] { lanes_->zoom(-1); });
  tool(QStringLiteral("zoom-in"), tr("Zoom in (W)"), [this] { lanes_->zoom(1); });
  tool(QStringLiteral("fit"), tr("Fit the whole log (F)"), [this] { lanes_->fitAll(); });
  following_ = new Chip(this);
  header()->addRight(following_);
  connect(following_, &QAbstractButton::clicked, this,
          [this] { lanes_->setFollowing(lanes_->mode() != LaneView::Mode::follow); });
  // Content.
  auto* content = new Pane(this);
  auto* column = new QVBoxLayout(content);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  strip_ = new StatisticsStrip(content);
  column->addWidget(strip_);
  forms_ = new QStackedWidget(content);
  auto* picture = new Pane(forms_);
  auto* rows = new QVBoxLayout(picture);
  rows->setContentsMargins(0, 0, 0, 0);
  rows->setSpacing(0);
  auto* lane_row = new QHBoxLayout;
  lane_row->setContentsMargins(0, 0, 0, 0);
  lane_row->setSpacing(0);
  lanes_ = new LaneView(picture);
  bar_ = new QScrollBar(Qt::Vertical, picture);
  bar_->setFocusPolicy(Qt::NoFocus);
  lane_row->addWidget(lanes_, 1);
  lane_row->addWidget(bar_);
  rows->addLayout(lane_row, 1);
  legend_ = new LegendBar(legend_entries(), picture);
  rows->addWidget(legend_);
  // The records of the selected offsets.
  drawer_ = new Pane(picture);
  auto* drawer_rows = new QVBoxLayout(drawer_);
  drawer_rows->setContentsMargins(0, 0, 0, 0);
  drawer_rows->setSpacing(0);
  drawer_rows->addWidget(new Line(Qt::Horizontal, false, drawer_));
  drawer_hint_ = new TextLabel(tr("Click a record, or drag over offsets, to see what they hold."), FontRole::caption,
                               TextLabel::Tone::text3, drawer_);
  drawer_hint_->setAlignment(Qt::AlignCenter);
  drawer_rows->addWidget(drawer_hint_, 1);
  auto* drawer_head = new QHBoxLayout;
  drawer_head->setContentsMargins(0, 0, theme.px(16), 0);
  drawer_head->addStretch(1);
  drawer_open_ = new Button(Button::Kind::quiet, {}, {}, drawer_);
  drawer_open_->hide();
  drawer_head->addWidget(drawer_open_);
  drawer_rows->addLayout(drawer_head);
  records_ = new RecordModel(this, kSelectionRows);
  record_view_ = new QTableView(drawer_);
  setup_table(record_view_, tr("Records of the selected offsets"));
  record_view_->setModel(records_);
  record_view_->setItemDelegate(new RecordDelegate(record_view_));
  record_view_->setColumnHidden(RecordModel::kPartition, true);
  record_view_->setColumnWidth(RecordModel::kOffset, theme.px(96));
  record_view_->setColumnWidth(RecordModel::kTime, theme.px(118));
  record_view_->setColumnWidth(RecordModel::kKey, theme.px(120));
  record_view_->setColumnWidth(RecordModel::kHeaders, theme.px(110));
  record_view_->horizontalHeader()->setStretchLastSection(false);
  record_view_->horizontalHeader()->setSectionResizeMode(RecordModel::kValue, QHeaderView::Stretch);
  record_view_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  record_view_->hide();
  drawer_rows->addWidget(record_view_, 1);
  connect(drawer_open_, &QAbstractButton::clicked, this, [this] { Q_EMIT openRequested(read_); });
  rows->addWidget(drawer_);
  fitDrawer();
  forms_->addWidget(picture);
  table_ = new LaneTable(this);
  table_view_ = new QTableView(forms_);
  setup_table(table_view_, tr("Partitions as a table"));
  table_view_->setModel(table_);
  table_view_->setItemDelegate(new DataDelegate([](const QModelIndex& index, bool) {
    CellLook look;
    const int at = index.column();
    look.role = at == LaneTable::kRole || at == LaneTable::kInSync || at == LaneTable::kFetched ? FontRole::control : FontRole::data;
    look.color = Theme::current().colors().text;
    return look;
  }, table_view_));
  set_columns(table_view_, {72, 54, 74, 80, 72, 72, 80, 66, 66, 92, 80, 78}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11},
              {LaneTable::kSegments, LaneTable::kLogStart});
  forms_->addWidget(table_view_);
  column->addWidget(forms_, 1);
  setContent(content);
  setFocusProxy(lanes_);

  connect(topics_, &QComboBox::activated, this, [this] {
    Q_EMIT selectionRequested(Selection::ofTopic(topics_->currentText()));
    setTopic(topics_->currentText());
  });
  connect(groups_, &QComboBox::activated, this,
          [this](int index) { lanes_->setGroup(index <= 0 ? QString() : groups_->itemText(index)); });
  const auto shown = [this] { lanes_->setShown(leader_->isChecked(), followers_->isChecked()); };
  connect(leader_, &QCheckBox::toggled, this, shown);
  connect(followers_, &QCheckBox::toggled, this, shown);
  connect(keys_, &QCheckBox::toggled, lanes_, &LaneView::setColorByKey);
  connect(lanes_, &ObjectCanvas::selectionRequested, this, &Page::selectionRequested);
  connect(lanes_, &ObjectCanvas::openRequested, this, &Page::openRequested);
  connect(lanes_, &LaneView::contentChanged, this, &PartitionsPage::refreshScroll);
  connect(lanes_, &LaneView::sampled, this, [this] {
    if (session() != nullptr && lanes_->partitionCount() <= kCountedAtOnce) {
      countStatistics();  // lanes and numbers that anybody can add up are of one moment
    }
  });
  connect(lanes_, &LaneView::modeChanged, this, &PartitionsPage::refreshMode);
  connect(lanes_, &LaneView::scrollRequested, this, [this](double y) {
    bar_->setValue(static_cast<int>(y));
  });
  connect(bar_, &QScrollBar::valueChanged, this, [this](int value) { lanes_->setScroll(value); });
  connect(table_view_->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& now) {
    const Selection s = table_->selectionOf(now.row());
    if (!s.none() && s != selection()) {
      Q_EMIT selectionRequested(s);
    }
  });
  connect(record_view_, &QTableView::activated, this, [this](const QModelIndex& index) {
    const RecordRow& row = records_->row(index.row());
    Q_EMIT openRequested(Selection::ofRecord(this->topic(), row.partition, row.offset));
  });
  statistics_later_.setSingleShot(true);
  statistics_later_.setInterval(100);
  connect(&statistics_later_, &QTimer::timeout, this, &PartitionsPage::refreshStatistics);
  rates_later_.setSingleShot(true);
  rates_later_.setInterval(1'000);
  connect(&rates_later_, &QTimer::timeout, this, &PartitionsPage::sampleRates);
  table_later_.setSingleShot(true);
  table_later_.setInterval(500);
  connect(&table_later_, &QTimer::timeout, this, [this] {
    if (forms_->currentWidget() == table_view_ && view()) {
      table_->refresh(view(), this->topic(), QDateTime::currentMSecsSinceEpoch());
    }
  });
  read_later_.setSingleShot(true);
  read_later_.setInterval(60);
  connect(&read_later_, &QTimer::timeout, this, &PartitionsPage::readSelection);
  refreshMode();
}

QString PartitionsPage::topic() const { return lanes_->topic(); }

void PartitionsPage::addCommands(CommandRegistry& commands) {
  commands.add({QStringLiteral("partitions.dismiss_ghosts"), tr("Hide records that were cut off (ghosts)"), {},
                [this](const QVariantMap&) { lanes_->dismissGhosts(); }, [this] { return lanes_->ghosts() > 0; },
                {tr("truncated"), tr("ghost")}});
}

void PartitionsPage::attach(Session* session) {
  Page::attach(session);
  lanes_->setSession(session);
  frame();
}

void PartitionsPage::setTopic(const QString& topic) {
  if (topic.isEmpty() || topic == lanes_->topic()) {
    return;
  }
  const int at = topics_->findText(topic);
  if (at >= 0) {
    topics_->setCurrentIndex(at);
  }
  lanes_->setTopic(topic);
  groups_seen_.reset();
  forgetRates();
  if (view()) {
    refreshGroups();
    refreshStatistics();
    bool replicated = false;
    if (const observe::TopicView* t = view()->find_topic(topic.toStdString())) {
      for (const auto& p : t->partitions) {
        replicated = replicated || (p && p->replicas.size() > 1);
      }
    }
    leader_->setVisible(replicated);
    followers_->setVisible(replicated);
  }
}

void PartitionsPage::setSelection(const Selection& selection) {
  Page::setSelection(selection);
  wanted_topic_ = selection.topic;
  followSelection();
  lanes_->setSelection(selection);
  read_later_.start();
}

// The topic may be younger than the view that this page has; then the next frame shows it.
void PartitionsPage::followSelection() {
  if (!wanted_topic_.isEmpty() && view() && view()->find_topic(wanted_topic_.toStdString()) != nullptr) {
    setTopic(std::exchange(wanted_topic_, QString()));
    lanes_->setSelection(selection());
  }
}

void PartitionsPage::setWidthClass(int width_class) {
  legend_->setNarrow(width_class < 0);
  keys_->setVisible(width_class >= 0);
}

Glyph PartitionsPage::attention(const FaultFacts& faults) const {
  return faults.leaderless + faults.silent > 0 ? Glyph::cross : (faults.behind > 0 ? Glyph::quarter : Glyph::none);
}

bool PartitionsPage::toggleTable() {
  if (forms_->currentWidget() == table_view_) {
    forms_->setCurrentIndex(0);
    lanes_->setFocus();
  } else {
    table_->refresh(view(), topic(), QDateTime::currentMSecsSinceEpoch());
    forms_->setCurrentWidget(table_view_);
    table_view_->setFocus();
  }
  return true;
}

void PartitionsPage::frame() {
  const observe::ViewPtr now = view() ? view() : session()->view();
  if (topics_seen_ != now->topics) {
    lanes_->takeView(now);
    refreshTopics();
    topics_seen_ = now->topics;
    followSelection();
  }
  if (groups_seen_ != now->groups) {
    refreshGroups();
  }
  lanes_->takeView(now);
  if (!statistics_later_.isActive()) {
    statistics_later_.start();
  }
  if (!rates_later_.isActive()) {
    // From here on there is something to be measured. Afterwards that a frame comes is the work of what came in.
    if (came_.empty()) {
      static_cast<void>(rise());
    }
    static_cast<void>(in_.tick(steady_.elapsed()));
    static_cast<void>(out_.tick(steady_.elapsed()));
    rates_later_.start();
  }
  if (forms_->currentWidget() == table_view_ && !table_later_.isActive()) {
    table_later_.start();
  }
}

void PartitionsPage::refreshTopics() {
  const observe::ViewPtr now = view() ? view() : session()->view();
  QStringList names;
  QStringList internal;
  for (const auto& [name, topic] : *now->topics) {
    (topic->internal ? internal : names) << QString::fromStdString(name);
  }
  names += internal;
  QStringList before;
  for (int i = 0; i < topics_->count(); ++i) {
    before << topics_->itemText(i);
  }
  if (names != before) {
    set_names(topics_, names);
    if (const int at = topics_->findText(topic()); at >= 0) {
      topics_->setCurrentIndex(at);
    }
  }
  if (names.isEmpty()) {
    showEmpty();
    return;
  }
  showContent();
  if (!names.contains(topic())) {
    const auto demo = std::find_if(names.begin(), names.end(),
                                   [](const QString& n) { return n.startsWith(QLatin1String("demo.")); });
    setTopic(demo != names.end() ? *demo : names.front());
  }
}

void PartitionsPage::showEmpty() {
  PageNotice notice;
  notice.title = tr("No partitions yet");
  notice.text = tr("Each partition of a topic is a lane of offsets. Create a topic, or let your application produce.");
  notice.drawing = [](QPainter& p, const QRectF& rect) {
    const Colors& c = Theme::current().colors();
    p.setRenderHint(QPainter::Antialiasing, false);
    for (int lane = 0; lane < 3; ++lane) {
      const double y = rect.top() + 16 + lane * 34;
      text_right(p, rect.center().x() - 110, y, QStringLiteral("p%1").arg(lane), FontRole::data, c.text2);
      for (int k = 0; k < 20 - lane * 3; ++k) {
        p.fillRect(QRectF(rect.center().x() - 98 + k * 9, y - 9, 8, 18), c.leader_fill);
      }
    }
  };
  notice.action_text = tr("Create topic");
  notice.action_command = QStringLiteral("topic.create");
  notice.command_hint = tr("or connect your own");
  notice.command_line = QStringLiteral("kcat -b %1 -P -t orders").arg(session()->bootstrap());
  showNotice(notice);
}

void PartitionsPage::refreshGroups() {
  const observe::ViewPtr now = view() ? view() : session()->view();
  groups_seen_ = now->groups;
  QStringList names{tr("all groups")};
  const std::string here = topic().toStdString();
  for (const auto& [id, group] : *now->groups) {
    if (std::any_of(group->committed.begin(), group->committed.end(), [&](const auto& c) { return c.topic == here; })) {
      names << QString::fromStdString(id);
    }
  }
  QStringList before;
  for (int i = 0; i < groups_->count(); ++i) {
    before << groups_->itemText(i);
  }
  if (names != before) {
    set_names(groups_, names);
    lanes_->setGroup(groups_->currentIndex() <= 0 ? QString() : groups_->currentText());
  }
  groups_->setEnabled(names.size() > 1);
}

void PartitionsPage::refreshScroll() {
  const int content = static_cast<int>(lanes_->contentHeight());
  const int page = static_cast<int>(lanes_->viewHeight());
  bar_->setPageStep(page);
  bar_->setSingleStep(28);
  bar_->setRange(0, std::max(0, content - page));
  bar_->setVisible(content > page);
}

void PartitionsPage::refreshMode() {
  const bool on = lanes_->mode() == LaneView::Mode::follow;
  following_->setContent(on ? Glyph::disc : Glyph::ring, on ? tr("following") : tr("follow"),
                         on ? Chip::Tone::ok : Chip::Tone::neutral);
  following_->setAccessibleName(on ? tr("Following the end of each log") : tr("Follow the end of each log"));
}

const observe::TopicView* PartitionsPage::topicView() const {
  const observe::ViewPtr now = view() ? view() : session()->view();
  return now->find_topic(topic().toStdString());
}

std::pair<Flow, Flow> PartitionsPage::rise() {
  const observe::TopicView* t = topicView();
  if (t == nullptr) {
    return {};
  }
  came_.resize(t->partitions.size());
  handed_.resize(t->partitions.size());
  Flow came;
  Flow handed;
  for (std::size_t i = 0; i < t->partitions.size(); ++i) {
    const auto& partition = t->partitions[i];
    const observe::ReplicaView* leader = partition ? partition->replica(partition->leader) : nullptr;
    if (leader == nullptr || !leader->counters) {
      continue;
    }
    const event::ReplicaCounters& c = *leader->counters;
    came += came_[i].take(leader->counters, c.records_in.get(), c.bytes_in.get());
    handed += handed_[i].take(leader->counters, c.records_out.get(), c.bytes_out.get());
  }
  return {came, handed};
}

// The next frame begins to measure, and until a second later there is no rate.
void PartitionsPage::forgetRates() {
  rates_later_.stop();
  in_ = {};
  out_ = {};
  came_.clear();
  handed_.clear();
}

void PartitionsPage::sampleRates() {
  if (topicView() == nullptr) {
    return;
  }
  if (!isVisible()) {
    forgetRates();  // what comes meanwhile is not of one second
    refreshStatistics();
    return;
  }
  const auto [came, handed] = rise();
  in_.add(came);
  out_.add(handed);
  const bool flows = in_.tick(steady_.elapsed());
  const bool reads = out_.tick(steady_.elapsed());
  refreshStatistics();
  if (flows || reads || !in_.measured()) {
    rates_later_.start();  // until they have come to rest
  }
}

void PartitionsPage::refreshStatistics() {
  lanes_->sample();
  if (lanes_->partitionCount() > kCountedAtOnce) {
    countStatistics();
  }
}

void PartitionsPage::countStatistics() {
  const observe::ViewPtr now = view() ? view() : session()->view();
  const observe::TopicView* t = topicView();
  if (t == nullptr) {
    strip_->setValues({});
    return;
  }
  std::int64_t held = 0;
  std::int64_t bytes = 0;
  std::int64_t segments = 0;
  std::int64_t above = 0;
  std::int64_t biggest = 0;
  bool led = false;
  // What is in sight is counted as it is drawn, also where nobody has it any more.
  const auto [first, last] = lanes_->inSight();
  const auto levels_of = [this, first = first, last = last](std::size_t i, const event::ReplicaCounters* c) {
    const auto at = static_cast<int>(i);
    std::optional<LaneView::Levels> drawn = at >= first && at < last ? lanes_->levelsOf(at) : std::nullopt;
    if (!drawn && c != nullptr) {
      drawn = {c->log_start_offset.get(), 0, c->high_watermark.get(), c->log_end_offset.get()};
    }
    return drawn.value_or(LaneView::Levels());
  };
  for (std::size_t i = 0; i < t->partitions.size(); ++i) {
    // What a leader that has ended held, the replica that is farthest has too.
    const auto& partition = t->partitions[i];
    const KnownCounters known = partition ? known_counters(*partition) : KnownCounters();
    const event::ReplicaCounters* c = known.counters;
    led = led || known.leads;
    const LaneView::Levels levels = levels_of(i, c);
    const std::int64_t length = std::max<std::int64_t>(0, levels.leo - levels.start);
    held += length;
    biggest = std::max(biggest, length);
    bytes += c == nullptr ? 0 : c->size_bytes.get();
    segments += c == nullptr ? 0 : std::max<std::int64_t>(1, c->segments.get());
    above += std::max<std::int64_t>(0, levels.leo - levels.hw);
  }
  std::int64_t worst = -1;
  QString worst_group;
  for (const auto& [id, group] : *now->groups) {
    std::int64_t lag = -1;
    for (const auto& c : group->committed) {
      const auto index = static_cast<std::size_t>(std::max(0, c.partition.value()));
      if (c.topic != t->name || !c.counters || index >= t->partitions.size() || !t->partitions[index]) {
        continue;
      }
      const auto* counters = known_counters(*t->partitions[index]).counters;
      const std::int64_t offset = c.counters->offset.get();
      if (counters != nullptr && offset >= 0) {
        lag = std::max<std::int64_t>(0, lag) + std::max<std::int64_t>(0, levels_of(index, counters).hw - offset);
      }
    }
    if (lag > worst) {
      worst = lag;
      worst_group = QString::fromStdString(id);
    }
  }
  std::vector<StatisticsStrip::Value> values;
  values.push_back({format_count(held), tr("offsets in the log")});
  values.push_back({format_bytes(bytes), tr("%Ln segments", nullptr, static_cast<int>(segments))});
  // Where nobody leads nothing flows, whatever the last seconds had.
  const QString none = in_.measured() || !led ? QStringLiteral("0/s") : tr("measuring", "in place of a rate");
  const QString in_rate = led ? format_rate(in_.records_per_second()) : QString();
  const QString out_rate = led ? format_rate(out_.records_per_second()) : QString();
  values.push_back({in_rate.isEmpty() ? none : in_rate, tr("records in")});
  values.push_back({out_rate.isEmpty() ? none : out_rate, tr("records out")});
  values.push_back({format_count(above), tr("above the high watermark"), above > 0});
  if (worst >= 0) {
    values.push_back({format_count(worst), tr("lag of %1").arg(worst_group)});
  }
  if (t->partitions.size() > 1 && held > 0) {
    const std::int64_t share = (100 * biggest + held / 2) / held;
    values.push_back({share == 0 ? QStringLiteral("< 1 %") : QStringLiteral("%1 %").arg(share), tr("in the largest partition")});
  }
  strip_->setValues(std::move(values));
  header()->setCount({});
}

void PartitionsPage::resizeEvent(QResizeEvent* event) {
  Page::resizeEvent(event);
  drawer_->setVisible(height() >= Theme::current().px(kRoomForDrawer));
  groups_->setVisible(width() >= Theme::current().px(kRoomForGroups));
  // Beside an inspector roles and times come before it: a column whose values are all cut says nothing.
  table_view_->setColumnHidden(LaneTable::kSize, width() < Theme::current().px(kRoomForSize));
  fitDrawer();
  refreshScroll();
}

// One line while there is nothing in it: the lanes need the room.
void PartitionsPage::fitDrawer() {
  const Theme& theme = Theme::current();
  drawer_->setFixedHeight(record_view_->isHidden() ? theme.px(34) : theme.px(kDrawerHead + Metrics::kRowHeader + kDrawerRows * Metrics::kRow + 1));
}

void PartitionsPage::readSelection() {
  const Selection wanted = selection();
  const bool records = wanted.topic == topic() &&
                       (wanted.kind == Selection::Kind::record || wanted.kind == Selection::Kind::offset_range);
  if (!records || !session()) {
    ++read_number_;
    read_ = {};
    records_->clear();
    record_view_->hide();
    drawer_open_->hide();
    drawer_hint_->show();
    fitDrawer();
    return;
  }
  if (wanted == read_) {
    return;
  }
  read_ = wanted;
  const std::uint64_t number = ++read_number_;
  ReadQuery query;
  query.topic = wanted.topic.toStdString();
  query.partition = wanted.partition;
  query.from_offset = wanted.offset;
  query.to_offset = (wanted.kind == Selection::Kind::record ? wanted.offset : wanted.last_offset) + 1;
  query.max_records = kSelectionRows;
  const QPointer<PartitionsPage> self(this);
  session()->read(query, [self, number, wanted](const ReadAnswer& answer) {
    if (!self || number != self->read_number_) {
      return;
    }
    self->records_->clear();
    std::vector<RecordRow> rows;
    const std::int64_t last = wanted.kind == Selection::Kind::record ? wanted.offset : wanted.last_offset;
    for (const RecordRow& row : answer.rows) {
      if (row.offset >= wanted.offset && row.offset <= last) {
        rows.push_back(row);
      }
    }
    const auto count = static_cast<int>(rows.size());
    self->records_->append(std::move(rows));
    const bool any = count > 0;
    self->drawer_hint_->setText(!answer.error.isEmpty() ? answer.error
                                : any ? tr("Click a record, or drag over offsets, to see what they hold.")
                                      : tr("No records at these offsets: removed, above the high watermark, or never written."));
    self->drawer_hint_->setVisible(!any);
    self->record_view_->setVisible(any);
    self->drawer_open_->setVisible(any);
    self->fitDrawer();
    if (any) {
      self->drawer_open_->setText(tr("Open %Ln in Messages", nullptr, count));
    }
  });
}

}  // namespace hw::ui
