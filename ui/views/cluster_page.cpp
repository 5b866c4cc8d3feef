// SPDX-License-Identifier: Apache-2.0
#include "ui/views/cluster_page.h"

#include <algorithm>

#include <QAbstractButton>
#include <QDateTime>
#include <QEvent>
#include <QHeaderView>
#include <QPainter>
#include <QPainterPath>
#include <QScrollArea>
#include <QScrollBar>
#include <QStackedWidget>
#include <QTableView>
#include <QVBoxLayout>

#include "ui/models/group_model.h"
#include "ui/painting/shapes.h"
#include "ui/painting/text.h"
#include "ui/views/cluster_table.h"
#include "ui/views/config_dialog.h"
#include "ui/views/data_delegate.h"
#include "ui/views/legend_bar.h"
#include "ui/views/pane.h"
#include "ui/views/table_setup.h"
#include "ui/window/command_registry.h"
#include "ui/window/controls.h"
#include "ui/window/hover_row.h"

namespace hw::ui {

namespace {

constexpr qsizetype kLinesTold = 4;
constexpr qsizetype kLinesNarrow = 2;
constexpr int kLowPage = 720;  // px at scale 1.0

std::vector<LegendBar::Entry> legend_entries() {
  const auto glyph = [](Glyph which) {
    return [which](QPainter& p, QPointF at) { paint_glyph(p, which, QPointF(at.x() + 6, at.y()), 12); };
  };
  std::vector<LegendBar::Entry> entries;
  entries.push_back({12, glyph(Glyph::crown), ClusterPage::tr("leader")});
  entries.push_back({12, glyph(Glyph::disc), ClusterPage::tr("in sync")});
  entries.push_back({12, glyph(Glyph::quarter), ClusterPage::tr("catching up")});
  entries.push_back({12, glyph(Glyph::cross), ClusterPage::tr("offline")});
  entries.push_back({4,
                     [](QPainter& p, QPointF at) {
                       p.fillRect(QRectF(at.x() + 1, at.y() - 7, 2, 14), Theme::current().colors().text);
                     },
                     ClusterPage::tr("high watermark")});
  entries.push_back({24,
                     [](QPainter& p, QPointF at) {
                       paint_replica_bar(p, QRectF(at.x(), at.y() - 4, 24, 8), ReplicaState::in_sync, 0.7, -1);
                     },
                     ClusterPage::tr("bar = log end, relative to leader"), true});
  entries.push_back({26,
                     [](QPainter& p, QPointF at) {
                       const QColor color = Theme::current().colors().edge;
                       p.setRenderHint(QPainter::Antialiasing, true);
                       p.setPen(QPen(color, 2));
                       p.drawLine(QPointF(at.x(), at.y()), QPointF(at.x() + 20, at.y()));
                       const auto head = geometry::arrow_head({at.x() + 26, at.y()}, {1, 0});
                       p.setPen(Qt::NoPen);
                       p.setBrush(color);
                       p.drawPolygon(head.data(), static_cast<int>(head.size()));
                       p.setRenderHint(QPainter::Antialiasing, false);
                     },
                     ClusterPage::tr("width = bytes/s, square = one record"), true});
  return entries;
}

// What will appear, as the empty state draws it.
void draw_empty(QPainter& p, const QRectF& rect) {
  const Colors& c = Theme::current().colors();
  const double cx = rect.center().x();
  const double top = rect.top() + 6;
  p.setRenderHint(QPainter::Antialiasing, false);
  for (int i = 0; i < 3; ++i) {
    const double y = top + 14 + i * 34;
    text_right(p, cx - 96, y, QStringLiteral("p%1").arg(i), FontRole::data, c.text2);
    for (int k = 0; k < 14 - i * 2; ++k) {
      p.fillRect(QRectF(cx - 84 + k * 12, y - 7, 11, 14), c.leader_fill);
      p.fillRect(QRectF(cx - 84 + k * 12, y - 7, 11, 2), c.leader);
    }
  }
}

}  // namespace

ClusterPage::ClusterPage(QWidget* parent)
    : Page({QStringLiteral("cluster"), tr("Cluster"), QStringLiteral("cluster"), QKeySequence(Qt::Key_1), tr("Observe")},
           parent) {
  auto* content = new Pane(this);
  auto* column = new QVBoxLayout(content);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  forms_ = new QStackedWidget(content);
  auto* picture = new Pane(forms_);
  auto* rows = new QVBoxLayout(picture);
  rows->setContentsMargins(0, 0, 0, 0);
  rows->setSpacing(0);
  scroll_ = new QScrollArea(picture);
  scroll_->setFrameShape(QFrame::NoFrame);
  scroll_->setWidgetResizable(true);
  scroll_->setFocusPolicy(Qt::NoFocus);
  canvas_ = new ClusterCanvas(scroll_);
  scroll_->setWidget(canvas_);
  scroll_->viewport()->installEventFilter(this);
  legend_ = new LegendBar(legend_entries(), picture);
  connect(scroll_->verticalScrollBar(), &QScrollBar::sliderPressed, this,
          [this] { revealed_ = -1; });
  rows->addWidget(scroll_, 1);
  told_ = new TextLabel({}, FontRole::control, TextLabel::Tone::text, picture);
  told_->setObjectName(QStringLiteral("clusterStory"));
  told_->setWordWrap(true);
  told_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  const auto margins = [this] {
    const Theme& t = Theme::current();
    told_->setContentsMargins(t.px(16), t.px(6), t.px(16), t.px(6));
  };
  margins();
  connect(&Theme::current(), &Theme::changed, told_, margins);
  told_->hide();
  rows->addWidget(told_);
  rows->addWidget(legend_);
  forms_->addWidget(picture);
  table_ = new ClusterTable(this);
  table_view_ = new QTableView(forms_);
  setup_table(table_view_, tr("Cluster as a table"));
  table_view_->setModel(table_);
  table_view_->setItemDelegate(new DataDelegate(
      [](const QModelIndex& index, bool) {
        CellLook look;
        look.role =
            index.column() == ClusterTable::kObject || index.column() >= ClusterTable::kLogStart
                ? FontRole::data
                : FontRole::control;
        look.color = Theme::current().colors().text;
        look.first = index.column() == ClusterTable::kObject;
        return look;
      },
      table_view_));
  new HoverRow(table_view_);
  // Who it is stays whole; what is told of it shares the rest, and gives way.
  set_columns(table_view_, {ClusterTable::kObjectWidth, 186, 150, 80, 112, 80, 98}, {1, 2}, {ClusterTable::kLogStart});
  forms_->addWidget(table_view_);
  column->addWidget(forms_, 1);
  setContent(content);
  setFocusProxy(canvas_);

  add_broker_ = header()->addAction(QStringLiteral("plus"), tr("Broker"), QStringLiteral("node.add"));
  add_broker_->setAccessibleName(tr("Add a broker"));
  add_broker_->setToolTip(tr("Adds a broker to the cluster while it runs"));
  add_broker_->hide();  // until it is known that it can be done
  header()->addAction(QStringLiteral("produce"), tr("Produce"), QStringLiteral("produce.open"), QStringLiteral("P"));
  detail_ = new SegmentedControl({tr("Low"), tr("Mid"), tr("Full")}, this);
  detail_->setAccessibleDescription(tr("How much each node shows"));
  detail_->setCurrent(1);
  header()->addRight(detail_);
  connect(detail_, &SegmentedControl::activated, this, [this](int index) {
    detail_chosen_ = true;
    canvas_->setDetail(static_cast<geometry::Detail>(index));
  });
  connect(canvas_, &ObjectCanvas::selectionRequested, this, &Page::selectionRequested);
  connect(canvas_, &ObjectCanvas::openRequested, this, &Page::openRequested);
  connect(canvas_, &ClusterCanvas::summaryChanged, this, &ClusterPage::refreshSummary);
  connect(canvas_, &ObjectCanvas::hoveredChanged, this, [this](int index) {
    canvas_->setCursor(index >= 0 ? Qt::PointingHandCursor : Qt::ArrowCursor);
  });
  connect(table_view_->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& now) {
    const Selection s = table_->selectionOf(now.row());
    if (!s.none() && s != selection() && !table_changes_) {
      Q_EMIT selectionRequested(s);
    }
  });
  connect(table_view_, &QTableView::activated, this,
          [this](const QModelIndex& index) { Q_EMIT openRequested(table_->selectionOf(index.row())); });
  // A table that somebody reads does not flicker: twice a second.
  table_later_.setSingleShot(true);
  table_later_.setInterval(500);
  connect(&table_later_, &QTimer::timeout, this, [this] {
    if (forms_->currentWidget() == table_view_ && isVisible()) {
      // The picture closes its rates only while it is seen.
      const bool flows = canvas_->tickHidden();
      refreshTable();
      if (flows) {
        table_later_.start();
      }
    }
  });
}

void ClusterPage::attach(Session* session) {
  Page::attach(session);
  canvas_->takeView(session->view(), session->bootstrap());
  add_broker_->setVisible(addsBrokers());
}

void ClusterPage::addCommands(CommandRegistry& commands) {
  commands.add({QStringLiteral("broker.configs"), tr("Configuration of the brokers…"), {},
                [this](const QVariantMap& args) {
                  ConfigResource resource{ConfigResource::Kind::broker, {}};
                  if (const int node = args.value(QStringLiteral("node"), selection().node).toInt(); node >= 0) {
                    resource.name = std::to_string(node);
                  }
                  auto* dialog = new ConfigDialog(session(), resource, window());
                  dialog->setAttribute(Qt::WA_DeleteOnClose);
                  dialog->open();
                },
                {}, {tr("settings"), tr("broker"), tr("defaults")}});
  addNodeCommands(commands);
}

void ClusterPage::setSelection(const Selection& selection) {
  Page::setSelection(selection);
  canvas_->setSelection(selection);
  if (forms_->currentWidget() == table_view_ && table_->selectionOf(table_view_->currentIndex().row()) != selection) {
    showInTable();
  }
}

void ClusterPage::setWidthClass(int width_class) {
  narrow_ = width_class < 0;
  legend_->setNarrow(narrow_);
  static_cast<Button*>(add_broker_)->setTextShown(!narrow_);
  if (!detail_chosen_) {
    const auto detail = width_class < 0   ? geometry::Detail::low
                        : width_class > 0 ? geometry::Detail::full
                                          : geometry::Detail::mid;
    detail_->setCurrent(static_cast<int>(detail));
    canvas_->setDetail(detail);
  }
}

// What comes and goes above a row moves it, and what is selected stays so: rows that go choose no neighbour.
void ClusterPage::refreshTable() {
  table_changes_ = true;
  const bool others = table_->refresh(canvas_->model());
  table_changes_ = false;
  if (others && table_->selectionOf(table_view_->currentIndex().row()) != selection()) {
    showInTable();
  }
}

void ClusterPage::showInTable() {
  table_changes_ = true;
  const int row = table_->rowOf(selection());
  table_view_->setCurrentIndex(row >= 0 ? table_->index(row, 0) : QModelIndex());
  table_changes_ = false;
}

bool ClusterPage::toggleTable() {
  const bool table = forms_->currentWidget() != table_view_;
  if (table) {
    refreshTable();
    forms_->setCurrentWidget(table_view_);
    showInTable();
    table_view_->setFocus();
  } else {
    forms_->setCurrentIndex(0);
    canvas_->setFocus();
  }
  return true;
}

Glyph ClusterPage::attention(const FaultFacts& faults) const { return faults.bad ? Glyph::cross : (faults.any ? Glyph::quarter : Glyph::none); }

QRect ClusterPage::anchor(const Selection& selection) const {
  const int index = forms_->currentIndex() == 0 ? canvas_->indexOf(selection) : -1;
  if (index < 0) {
    return {};
  }
  const QRect rect = canvas_->toWidget(canvas_->object(index).rect);
  return {canvas_->mapTo(this, rect.topLeft()), rect.size()};
}

std::optional<QPoint> ClusterPage::freeSpot(QSize size) const {
  const auto spot = canvas_->freeSpot(size);
  return spot ? std::optional<QPoint>(canvas_->mapTo(this, *spot)) : std::nullopt;
}

void ClusterPage::note(const QStringList& sentences, WallTime at) {
  const std::int64_t at_ms = at.ms > 0 ? at.ms : QDateTime::currentMSecsSinceEpoch();
  const QString time = format_time(at_ms).section(QLatin1Char('.'), 0, 0);
  QList<Line> newest;
  for (const QString& sentence : sentences) {
    newest.append({sentence, time, at_ms});
  }
  lines_ = newest + lines_;
  // The oldest go; what was done by hand and is so is the reason of the rest, and goes last.
  while (lines_.size() > kLinesTold) {
    const auto oldest = std::find_if(lines_.rbegin(), lines_.rend(), [this](const Line& line) { return !stands(line); });
    lines_.erase(oldest == lines_.rend() ? lines_.end() - 1 : oldest.base() - 1);
  }
  shown_ = story();
  tell(shown_);
}

qsizetype ClusterPage::drop(const QString& sentence) {
  return lines_.removeIf([&](const Line& line) { return line.sentence == sentence; });
}

// One sentence a line, and when it was so; on a low page they share the lines, and on a narrow one there are fewer, so that the picture
// keeps its own.
QString ClusterPage::story() const {
  QStringList lines;
  for (const Line& line : lines_.mid(0, narrow_ ? kLinesNarrow : kLinesTold)) {
    lines << QStringLiteral("%1  %2").arg(line.time, line.sentence);
  }
  return lines.join(!narrow_ && height() < Theme::current().px(kLowPage) ? QStringLiteral("   ") : QStringLiteral("\n"));
}

// The story goes on while another page is shown: a leader that moved twice meanwhile did not move from the first to the third.
void ClusterPage::setFaults(const FaultFacts& faults) {
  qsizetype gone = 0;
  if (faults.any && !faulty_) {
    // Of a fault that was mended. What was done by hand just now is what this one is about.
    gone = lines_.removeIf([this](const Line& line) { return !stands(line); });
  }
  faulty_ = faults.any;
  takeStory(gone);
  if (!faulty_) {
    story_.forget();
  }
}

void ClusterPage::takeStory(qsizetype gone) {
  const QStringList told = story_.take(session()->view());
  const qsizetype over = gone + dropOver() + dropEarlier();
  if (!told.isEmpty() || (over > 0 && told_->text() == shown_)) {
    note(told, story_.at());
  }
}

bool ClusterPage::stands(const Line& line) const {
  return std::any_of(done_.begin(), done_.end(), [&](const auto& each) {
    const NodeAction action = each.second.action;
    return each.second.sentence == line.sentence && action != NodeAction::start && action != NodeAction::resume && action != NodeAction::heal;
  });
}

// A fault may begin before the last one is over, and its first sentence comes seconds later: until then what stands there would be
// taken for its story.
qsizetype ClusterPage::dropEarlier() {
  std::set<std::int32_t> out;
  std::int64_t began_ms = 0;
  const auto takes = [&](std::int32_t node, std::int64_t since_ms) {
    if (out.insert(node).second && !out_.contains(node)) {
      began_ms = std::max(began_ms, since_ms);
    }
  };
  for (const auto& [id, node] : session()->view()->nodes) {
    using State = observe::NodeView::State;
    const bool leaving = node->registered && node->in_controlled_shutdown;
    if (leaving && node->state == State::running) {
      takes(id.value(), node->registration_since.ms);  // what it leads moves before it ends
    } else if (node->state == State::killed || node->state == State::stopped) {
      takes(id.value(), leaving ? std::min(node->since.ms, node->registration_since.ms) : node->since.ms);
    }
  }
  for (const NodeCondition& condition : SessionNodes::of(session()).conditions()) {
    if (condition.paused || condition.cut_off || condition.slow) {
      takes(condition.node, QDateTime::currentMSecsSinceEpoch());
    }
  }
  out_ = std::move(out);
  return began_ms == 0 ? 0 : lines_.removeIf([&](const Line& line) { return line.at_ms < began_ms && !stands(line); });
}

void ClusterPage::setGroups(const GroupModel* groups) {
  canvas_->setJudge([groups](const QString& group) {
    const GroupFacts* facts = groups->facts(group);
    return facts == nullptr ? LagStatus::ok : facts->status;
  });
}

qsizetype ClusterPage::dropOver() {
  qsizetype over = 0;
  for (const QString& sentence : story_.over()) {
    over += drop(sentence);
  }
  std::erase_if(done_, [&](const auto& each) {
    const NodeCondition at = SessionNodes::of(session()).conditionOf(each.first);
    bool holds = true;
    switch (each.second.action) {
      case NodeAction::kill:
      case NodeAction::cut_power:
      case NodeAction::stop:
        holds = at.down || at.working;
        break;
      case NodeAction::pause:
        holds = at.paused;
        break;
      case NodeAction::cut_off:
        holds = at.cut_off;
        break;
      case NodeAction::slow:
        holds = at.slow;
        break;
      case NodeAction::start:
      case NodeAction::resume:
      case NodeAction::heal:
        holds = !at.down;
        break;
    }
    over += holds ? 0 : drop(each.second.sentence);
    return !holds;
  });
  return over;
}

void ClusterPage::frame() {
  const SessionNodes& nodes = SessionNodes::of(session());
  add_broker_->setVisible(addsBrokers());
  canvas_->setConditions(nodes.conditions());
  takeStory();
  if (told_->text().isEmpty() && view()->nodes.size() > 1 && !nodes.profile().isEmpty()) {
    tell(nodes.profile());
  }
  canvas_->takeView(view(), session()->bootstrap());
  followTouched();
  if (forms_->currentWidget() == table_view_ && !table_later_.isActive()) {
    table_later_.start();
  }
}

// Who ends, pauses or cuts off a node wants to see it: where the picture is longer than the page,
// the card comes into sight.
void ClusterPage::followTouched() {
  std::set<std::int32_t> touched;
  for (const ClusterModel::Node& node : canvas_->model().nodes()) {
    if (node.offline() || !node.condition.healthy()) {
      touched.insert(node.id);
      if (!touched_.contains(node.id)) {
        revealed_ = node.id;
      }
    }
  }
  if (!touched.contains(revealed_)) {
    revealed_ = -1;
  }
  if (touched != touched_) {
    touched_ = std::move(touched);
    // The sentence about it takes its room first.
    QMetaObject::invokeMethod(this, &ClusterPage::revealTouched, Qt::QueuedConnection);
  }
}

void ClusterPage::revealTouched() {
  if (const QRect card = canvas_->cardOf(revealed_); !card.isEmpty()) {
    const int margin = Theme::current().px(8);
    scroll_->ensureVisible(card.center().x(), card.center().y(), 0, card.height() / 2 + margin);
  }
}

void ClusterPage::refreshSummary() {
  const ClusterModel& m = canvas_->model();
  QStringList parts;
  parts << tr("%Ln nodes", nullptr, static_cast<int>(m.nodes().size()));
  parts << tr("%Ln topics", nullptr, m.topicCount());
  const QString partitions = tr("%Ln partitions", nullptr, m.partitionCount());
  parts << (m.internalPartitions() == 0 ? partitions : tr("%1 + %2 internal").arg(partitions, format_count(m.internalPartitions())));
  int groups = 0;
  for (const ClusterModel::Group& g : m.groups()) {
    groups += g.plain ? 0 : 1;
  }
  if (groups > 0) {
    parts << tr("%Ln groups", nullptr, groups);
  }
  header()->setCount(parts.join(QStringLiteral(" · ")));
  header()->setToolTip(m.internalPartitions() == 0 ? QString()
                                                   : tr("Nodes lead and copy the partitions of internal topics like all others, and what is said of "
                                                        "leaders counts them: %1 of %2.")
                                                         .arg(format_count(m.internalPartitions()), m.internalTopics().join(QStringLiteral(", "))));
  if (m.topicCount() == 0 && session() != nullptr && !m.nodes().empty()) {
    PageNotice notice;
    notice.title = tr("No topics yet");
    notice.text = tr("A topic holds records in partitions. Create one, or let your application do it: "
                     "producing to a new name is enough.");
    notice.drawing = draw_empty;
    notice.action_text = tr("Create topic");
    notice.action_command = QStringLiteral("topic.create");
    notice.command_hint = tr("or connect your own");
    notice.command_line = QStringLiteral("kcat -b %1 -P -t orders").arg(session()->bootstrap());
    showNotice(notice);
  } else {
    showContent();
  }
}

bool ClusterPage::eventFilter(QObject* object, QEvent* event) {
  if (object == scroll_->viewport() && event->type() == QEvent::Resize) {
    placeViewport();
    QMetaObject::invokeMethod(this, &ClusterPage::revealTouched, Qt::QueuedConnection);
    // An error that stands there stays.
    if (const QString wanted = story(); wanted != shown_ && told_->text() == shown_ && !shown_.isEmpty()) {
      shown_ = wanted;
      tell(wanted);
    }
  }
  if (object == scroll_->viewport() && event->type() == QEvent::Wheel) {
    revealed_ = -1;
  }
  return Page::eventFilter(object, event);
}

void ClusterPage::placeViewport() { canvas_->setViewport(scroll_->maximumViewportSize()); }

}  // namespace hw::ui
