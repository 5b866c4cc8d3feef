// SPDX-License-Identifier: Apache-2.0
#include "ui/views/groups_page.h"

#include <algorithm>
#include <cmath>

#include <QCheckBox>
#include <QContextMenuEvent>
#include <QDateTime>
#include <QHBoxLayout>
#include <QPainter>
#include <QScrollArea>
#include <QScrollBar>
#include <QSplitter>
#include <QTableWidget>
#include <QVBoxLayout>

#include "ui/dialogs/add_consumer_dialog.h"
#include "ui/dialogs/question_dialog.h"
#include "ui/dialogs/reset_offsets_dialog.h"
#include "ui/models/connect_snippets.h"
#include "ui/models/group_why.h"
#include "ui/painting/shapes.h"
#include "ui/painting/text.h"
#include "ui/session/session_admin.h"
#include "ui/session/undo_list.h"
#include "ui/theme/theme.h"
#include "ui/views/assignment_matrix.h"
#include "ui/views/config_dialog.h"
#include "ui/views/list_filter.h"
#include "ui/views/pane.h"
#include "ui/views/rebalance_table.h"
#include "ui/views/table_setup.h"
#include "ui/views/undo_bar.h"
#include "ui/views/why_panel.h"
#include "ui/window/command_registry.h"
#include "ui/window/controls.h"
#include "ui/window/elided_label.h"

namespace hw::ui {

namespace {

constexpr std::int64_t kKeysAgainMs = 10'000;

// Lanes on the left, members on the right, arrows between: what the page will show.
void draw_groups(QPainter& p, const QRectF& r) {
  const Colors& c = Theme::current().colors();
  const double x = r.center().x() - 190;
  const double member_x = r.center().x() + 64;
  for (int lane = 0; lane < 3; ++lane) {
    const double y = r.top() + 14 + lane * 34;
    text_left(p, x, y + 7, QStringLiteral("p%1").arg(lane), FontRole::small_data, c.text2);
    p.setRenderHint(QPainter::Antialiasing, false);
    const int cells = 12 - lane;
    for (int i = 0; i < cells; ++i) {
      p.fillRect(QRectF(x + 28 + i * 9, y, 8, 15), c.leader_fill);
    }
    p.fillRect(QRectF(x + 28, y, cells * 9 - 1, 2), c.leader);
    p.setRenderHint(QPainter::Antialiasing);
    const double from = x + 28 + 12 * 9 + 8;
    const double to_y = r.top() + (lane < 2 ? 30 : 90);
    p.setPen(QPen(c.edge, 1.2, Qt::DashLine));
    p.setBrush(Qt::NoBrush);
    QPainterPath path(QPointF(from, y + 7));
    path.cubicTo(QPointF(from + 40, y + 7), QPointF(member_x - 50, to_y), QPointF(member_x - 8, to_y));
    p.drawPath(path);
    p.setPen(Qt::NoPen);
    p.setBrush(c.edge);
    p.drawPolygon(QPolygonF{QPointF(member_x - 9, to_y - 4), QPointF(member_x - 1, to_y), QPointF(member_x - 9, to_y + 4)});
  }
  for (int member = 0; member < 2; ++member) {
    const QRectF box(member_x, r.top() + 10 + member * 60, 126, 40);
    p.setPen(QPen(c.edge, 1.0, Qt::DashLine));
    p.setBrush(Qt::NoBrush);
    p.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4);
    text_left(p, box.left() + 16, box.center().y(), GroupsPage::tr("member %1").arg(member + 1), FontRole::control, c.text2);
  }
}

}  // namespace

GroupsPage::GroupsPage(QWidget* parent)
    : ListPage({QStringLiteral("groups"), tr("Groups"), QStringLiteral("groups"), QKeySequence(Qt::Key_4), tr("Observe")},
               {.vocabulary = group_vocabulary(),
                .hint = QStringLiteral("lag > 0 && state == Stable"),
                .table_name = tr("Groups"),
                .table_id = QStringLiteral("groupTable"),
                .frame_ms = 200,
                .settle_ms = 1'000},
               parent),
      clock_([] { return QDateTime::currentMSecsSinceEpoch(); }) {
  const Theme& t = Theme::current();
  for (const GroupKind kind : kGroupKinds) {
    auto* box = new QCheckBox(kind_words(kind), this);
    box->setObjectName(QStringLiteral("kind-%1").arg(static_cast<int>(kind)));
    box->setAccessibleName(tr("Show groups of kind %1").arg(kind_words(kind)));
    box->setChecked(true);
    box->hide();
    kinds_[static_cast<std::size_t>(kind)] = box;
    connect(box, &QCheckBox::toggled, this, [this] { refresh(); });
    header()->addLeft(box);
  }
  header()->addAction(QStringLiteral("plus"), tr("Consumer"), QStringLiteral("consumer.add"), QStringLiteral("G"));
  auto* options = new Button(Button::Kind::normal, QStringLiteral("dots"), {}, this);
  options->setObjectName(QStringLiteral("consumerOptions"));
  options->setName(tr("Add a consumer with options…"));
  connect(options, &Button::clicked, this, [this] { Q_EMIT commandRequested(QStringLiteral("consumer.options"), {}); });
  header()->addRight(options);

  model_ = new GroupModel(this);
  setModel(
      model_,
      [this](const QModelIndex& index, bool selected) {
        const Colors& c = Theme::current().colors();
        CellLook look;
        look.glyph = static_cast<Glyph>(index.data(GroupModel::glyph_role).toInt());
        look.first = index.column() == GroupModel::name;
        look.detail = index.data(GroupModel::detail_role).toString();
        switch (index.column()) {
          case GroupModel::name:
            look.role = selected ? FontRole::control_strong : FontRole::control_medium;
            look.color = c.text;
            look.elide = Qt::ElideMiddle;
            break;
          case GroupModel::lag_records:
            look.role = FontRole::data_strong;
            look.color = c.text;
            break;
          case GroupModel::trend:
            look.bars = index.data(GroupModel::trend_role).toList();
            break;
          case GroupModel::status: {
            look.role = FontRole::control;
            const GroupFacts* f = model_->facts(index.row());
            const int bad = f == nullptr ? 0 : group_status(*f).severity;
            look.color = bad >= severity(LagStatus::stalled) ? c.err_t : (bad >= severity(LagStatus::slow) ? c.warn_t : c.text);
            break;
          }
          case GroupModel::kind:
          case GroupModel::state:
          case GroupModel::last_rebalance:
            look.role = FontRole::control;
            look.color = index.column() == GroupModel::state ? c.text : c.text2;
            break;
          default:
            break;
        }
        return look;
      },
      [](int column) { return column == GroupModel::name; });
  connect(table()->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& index) {
    const QString group = model_->groupAt(index.row());
    if (!group.isEmpty() && follow_selection_) {
      showGroup(group, true);
    }
  });
  connect(table(), &QTableView::activated, this, [this](const QModelIndex& index) {
    Q_EMIT openRequested(Selection::ofGroup(model_->groupAt(index.row())));
  });

  // --- below: one group
  details_ = new Pane(splitter());
  auto* room = new QVBoxLayout(details_);
  room_ = room;
  room->setContentsMargins(0, 0, 0, 0);
  room->setSpacing(0);
  auto* upper = new QHBoxLayout;
  upper->setSpacing(0);
  auto* left = new Pane(details_);
  auto* left_column = new QVBoxLayout(left);
  left_column->setContentsMargins(0, t.px(6), 0, t.px(8));
  left_column->setSpacing(t.px(4));
  auto* title = new QHBoxLayout;
  title->setContentsMargins(t.px(16), 0, t.px(16), 0);
  title->setSpacing(t.px(8));
  name_ = new ElidedLabel(FontRole::body_strong, TextLabel::Tone::text, Qt::ElideMiddle, left);
  caption_ = new ElidedLabel(FontRole::body, TextLabel::Tone::text2, Qt::ElideRight, left);
  caption_->setText(tr("who reads what"));
  title->addWidget(name_);
  title->addWidget(caption_, 1);
  // Beside the name, not below the matrix: they stay in sight in a low window.
  reset_ = new Button(Button::Kind::normal, {}, tr("Reset offsets…"), left);
  connect(reset_, &Button::clicked, this, [this] { Q_EMIT commandRequested(QStringLiteral("group.reset"), {}); });
  title->addWidget(reset_);
  rejoin_ = new Button(Button::Kind::normal, {}, tr("Rebalance"), left);
  rejoin_->setShortcutCap(QStringLiteral("R"));
  connect(rejoin_, &Button::clicked, this, [this] { Q_EMIT commandRequested(QStringLiteral("group.rebalance"), {}); });
  title->addWidget(rejoin_);
  delete_ = new Button(Button::Kind::quiet, QStringLiteral("trash"), {}, left);
  delete_->setName(tr("Delete the group…"));
  connect(delete_, &Button::clicked, this, [this] { Q_EMIT commandRequested(QStringLiteral("group.delete"), {}); });
  title->addWidget(delete_);
  left_column->addLayout(title);
  matrix_ = new AssignmentMatrix;
  matrix_room_ = new QScrollArea(left);
  matrix_room_->setFrameShape(QFrame::NoFrame);
  matrix_room_->setWidget(matrix_);
  matrix_room_->viewport()->installEventFilter(this);
  matrix_room_->viewport()->setAutoFillBackground(false);  // the pane below is the ground
  matrix_room_->setFocusPolicy(Qt::NoFocus);
  connect(matrix_, &ObjectCanvas::selectionRequested, this, &Page::selectionRequested);
  connect(matrix_, &ObjectCanvas::openRequested, this, &Page::openRequested);
  left_column->addWidget(matrix_room_, 1);
  matrix_table_ = new QTableWidget(0, 5, left);
  matrix_table_->setObjectName(QStringLiteral("memberTable"));
  matrix_table_->setHorizontalHeaderLabels({tr("Member"), tr("Client"), tr("From"), tr("Reads"), tr("Heard of")});
  setup_table(matrix_table_, tr("Members of the group and what they read"));
  matrix_table_->setItemDelegate(new DataDelegate([](const QModelIndex& index, bool) {
    CellLook look;
    look.first = index.column() == 0;
    look.color = look.first ? Theme::current().colors().text : QColor();
    return look;
  }, matrix_table_));
  set_columns(matrix_table_, {74, 98, 84, 124, 84}, {1, 3});
  matrix_table_->hide();
  left_column->addWidget(matrix_table_, 1);
  auto* idle_room = new QHBoxLayout;
  idle_room->setContentsMargins(t.px(16), t.px(4), t.px(16), 0);
  idle_ = new TextLabel({}, FontRole::control, TextLabel::Tone::text2, left);
  idle_->setWordWrap(true);
  idle_room->addWidget(idle_);
  left_column->addLayout(idle_room);
  upper->addWidget(left, 60);
  upper->addWidget(new Line(Qt::Vertical, false, details_));
  why_ = new WhyPanel(details_);
  why_->setMinimumWidth(t.px(280));
  upper->addWidget(why_, 40);
  connect(why_, &WhyPanel::partitionRequested, this, [this] {
    const GroupFacts* f = model_->facts(current_);
    if (f != nullptr && f->worst >= 0) {
      const GroupFacts::Part& part = f->parts[static_cast<std::size_t>(f->worst)];
      Q_EMIT openRequested(Selection::ofPartition(QString::fromStdString(part.topic), part.partition.value()));
    }
  });
  connect(why_, &WhyPanel::recordsRequested, this, [this] {
    const GroupFacts* f = model_->facts(current_);
    if (f != nullptr && f->worst >= 0) {
      const GroupFacts::Part& part = f->parts[static_cast<std::size_t>(f->worst)];
      Q_EMIT openRequested(Selection::ofRecord(QString::fromStdString(part.topic), part.partition.value(), part.now.committed));
    }
  });
  room->addLayout(upper, 5);
  upper_ = upper;
  room->addWidget(new Line(Qt::Horizontal, false, details_));
  auto* strip_title = new QHBoxLayout;
  strip_title->setContentsMargins(t.px(16), t.px(6), t.px(16), t.px(2));
  strip_title->setSpacing(t.px(8));
  strip_title->addWidget(new TextLabel(tr("Rebalances"), FontRole::body_strong, TextLabel::Tone::text, details_));
  rebalance_note_ = new TextLabel(tr("bar: from the first sign until everybody had partitions again; hatched: all stood still"),
                                  FontRole::body, TextLabel::Tone::text2, details_);
  rebalance_note_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  strip_title->addWidget(rebalance_note_, 1);
  room->addLayout(strip_title);
  rebalances_ = new RebalanceTable(details_);
  rebalances_->setMinimumHeight(t.px(27 + 25 + 2));
  room->addWidget(rebalances_, 2);
  table()->setMinimumHeight(t.px(27 + 3 * 25));  // three groups, also in a low window
  setDetails(details_, 2, 5);
  connect(splitter(), &QSplitter::splitterMoved, this, [this] { heights_chosen_ = true; });
}

void GroupsPage::attach(Session* session) {
  ListPage::attach(session);
  connect(session, &Session::frameReady, this, &GroupsPage::watch);
  refresh();
}

void GroupsPage::addCommands(CommandRegistry& commands) {
  const auto has_group = [this] { return !current_.isEmpty(); };
  const auto choose = [this](const QVariantMap& args) {
    const QString group = args.value(QStringLiteral("group")).toString();
    if (!group.isEmpty() && group != current_) {
      showGroup(group, false);
    }
  };
  commands.add({QStringLiteral("consumer.add"), tr("Add a consumer"), QKeySequence(Qt::Key_G),
                [this, choose](const QVariantMap& args) {
                  choose(args);
                  addConsumer(false);
                },
                {},
                {tr("group"), tr("member")}});
  commands.add({QStringLiteral("consumer.options"), tr("Add a consumer with options…"), {},
                [this, choose](const QVariantMap& args) {
                  choose(args);
                  addConsumer(true);
                },
                {},
                {tr("group"), tr("assignor"), tr("slow"), tr("crash")}});
  commands.add({QStringLiteral("consumer.remove"), tr("Remove a built-in consumer"), QKeySequence(Qt::SHIFT | Qt::Key_G),
                [this, choose](const QVariantMap& args) {
                  choose(args);
                  removeConsumer();
                },
                has_group, {tr("group"), tr("member")}});
  commands.add({QStringLiteral("group.rebalance"), tr("Rebalance the group"), QKeySequence(Qt::Key_R),
                [this, choose](const QVariantMap& args) {
                  choose(args);
                  rebalance();
                },
                has_group, {}});
  commands.add({QStringLiteral("group.reset"), tr("Reset offsets of a group…"), {},
                [this, choose](const QVariantMap& args) {
                  choose(args);
                  resetOffsets();
                },
                has_group, {tr("rewind"), tr("replay"), tr("skip")}});
  commands.add({QStringLiteral("group.configs"), tr("Configuration of a group…"), {},
                [this, choose](const QVariantMap& args) {
                  choose(args);
                  auto* dialog = new ConfigDialog(session(), {ConfigResource::Kind::group, current_.toStdString()}, window());
                  dialog->setAttribute(Qt::WA_DeleteOnClose);
                  dialog->open();
                },
                has_group, {tr("settings")}});
  commands.add({QStringLiteral("group.delete"), tr("Delete a group…"), {},
                [this, choose](const QVariantMap& args) {
                  choose(args);
                  deleteGroup();
                },
                has_group, {tr("remove")}});
  commands.add({QStringLiteral("group.delete_offsets"), tr("Delete offsets of a group…"), {},
                [this, choose](const QVariantMap& args) {
                  choose(args);
                  deleteOffsets();
                },
                has_group, {tr("remove"), tr("forget")}});
}

bool GroupsPage::eventFilter(QObject* object, QEvent* event) {
  if (object == matrix_room_->viewport() && event->type() == QEvent::Resize) {
    matrix_->setRoom(matrix_room_->viewport()->width() / Theme::current().scale());
    // The name and what the buttons do come before what the picture below says by itself.
    const bool tight = matrix_room_->viewport()->width() < Theme::current().px(470);
    if (tight != caption_->isHidden()) {
      caption_->setVisible(!tight);
      rejoin_->setShortcutCap(tight ? QString() : QStringLiteral("R"));
    }
  }
  return ListPage::eventFilter(object, event);
}

// The list is as high as its groups want and as what is below can spare, whichever of them is selected: nothing moves by a click.
// Who draws the line between them has the last word.
void GroupsPage::fitHeights() {
  const Theme& t = Theme::current();
  const int all = splitter()->height() - splitter()->handleWidth();
  if (all <= 0 || !details_->isVisibleTo(this)) {
    return;
  }
  // Setting what is set already would lay out and paint the whole page again, for ever.
  const std::array<int, 4> fitted{all, details_->height(), model_->rowCount(), t.px(1'000)};
  if (fitted == fitted_) {
    return;
  }
  fitted_ = fitted;
  constexpr int kTitle = 28;
  const int strip = t.px(kTitle + Metrics::kRowHeader + 2 * Metrics::kRow);
  const int told = t.px(272);  // what there is to say about a group that lags
  if (!heights_chosen_) {
    const int rows = std::max(3, model_->rowCount());
    const int list = t.px(Metrics::kRowHeader + rows * Metrics::kRow + 2);
    const int spared = std::max(all - told - strip, table()->minimumHeight());
    const int whole = t.px(Metrics::kRowHeader) + (spared - t.px(Metrics::kRowHeader)) / t.px(Metrics::kRow) * t.px(Metrics::kRow);
    const int high = std::min(list, whole);
    if (splitter()->sizes().value(0) != high) {
      splitter()->setSizes({high, all - high});
    }
  }
  // Of what is left, the matrix and the words first; the rebalances have a share where there is much.
  const int below = details_->height() - t.px(kTitle);
  const int rebalances = std::max(strip - t.px(kTitle), std::min(below * 2 / 7, below - told));
  room_->setStretchFactor(upper_, std::max(1, below - rebalances));
  room_->setStretchFactor(rebalances_, std::max(1, rebalances));
}

void GroupsPage::resizeEvent(QResizeEvent* event) {
  ListPage::resizeEvent(event);
  fitHeights();
}

void GroupsPage::refresh() {
  if (session() == nullptr) {
    return;
  }
  lap();
  const std::int64_t now = clock_();
  const observe::ViewPtr view = session()->view();
  model_->hold(table()->viewport()->underMouse());
  const bool all_kinds = std::all_of(kGroupKinds.begin(), kGroupKinds.end(), [this](GroupKind kind) { return kindShown(kind); });
  if (filter()->filtering() || !all_kinds) {
    model_->setMatcher([this, program = filter()->program()](const GroupFacts& f) {
      return kindShown(kind_of(*f.group)) && matches(*program, f);
    });
  } else {
    model_->setMatcher(nullptr);
  }
  follow_selection_ = false;
  const int row_before = table()->currentIndex().row();
  model_->update(*view, now);
  follow_selection_ = true;
  // The group that is shown below stays in sight where the order puts its row elsewhere.
  if (table()->currentIndex().isValid() && table()->currentIndex().row() != row_before && !table()->viewport()->underMouse()) {
    table()->scrollTo(table()->currentIndex());
  }
  const int shown = model_->rowCount();
  header()->setCount(shown == model_->total() ? tr("%Ln group(s)", nullptr, shown) : tr("%1 of %2").arg(format_count(shown), format_count(model_->total())));
  if (!current_.isEmpty() && model_->facts(current_) == nullptr) {
    current_.clear();
  }
  if (current_.isEmpty() && shown > 0) {
    showGroup(model_->groupAt(0), false);
  } else if (!current_.isEmpty() && model_->groupAt(table()->currentIndex().row()) != current_) {
    showGroup(current_, false);
  }
  refreshKinds();
  refreshDetails(now);
  refreshNotice();
  fitHeights();
  filter()->setCounts({.shown = shown, .total = model_->total()});
  // Times go on although nothing moves: signs of life every second, "3 min ago" now and then.
  const GroupFacts* f = model_->facts(current_);
  settleIn(model_->ticking() || (f != nullptr && !f->group->members.empty()) ? 1'000 : 10'000);
}

// The rail's mark and the cards of the Cluster page are about how groups keep up now, not when this page was shown last.
void GroupsPage::watch() {
  const std::int64_t now = clock_();
  if (isVisible() || (now >= watched_ms_ && now - watched_ms_ < kWatchedMs)) {
    return;
  }
  watched_ms_ = now;
  follow_selection_ = false;
  model_->update(*session()->view(), now);
  follow_selection_ = true;
}

bool GroupsPage::kindShown(GroupKind kind) const { return kinds_[static_cast<std::size_t>(kind)]->isChecked(); }

// A choice among what is there: kinds that no group has are not offered, and one kind alone is no choice. Who has hidden a
// kind can show it again.
void GroupsPage::refreshKinds() {
  std::array<int, kGroupKinds.size()> counts{};
  int there = 0;
  for (const GroupKind kind : kGroupKinds) {
    const int count = model_->count(kind);
    counts[static_cast<std::size_t>(kind)] = count;
    there += count > 0 ? 1 : 0;
  }
  for (const GroupKind kind : kGroupKinds) {
    const int count = counts[static_cast<std::size_t>(kind)];
    QCheckBox* const box = kinds_[static_cast<std::size_t>(kind)];
    box->setVisible((there > 1 && count > 0) || !box->isChecked());
    box->setToolTip(tr("Groups of this kind: %1").arg(format_count(count)));
  }
}

void GroupsPage::refreshNotice() {
  const int total = model_->total();
  const auto empty = [this] {
    PageNotice notice;
    notice.kind = PageNotice::Kind::empty;
    notice.title = tr("No consumer group yet");
    notice.text = tr("A group shares the partitions of a topic among its members. Here you will see who reads what, how far behind, and "
                     "why it rebalanced.");
    notice.drawing = draw_groups;
    notice.action_text = tr("Add a consumer");
    notice.action_command = QStringLiteral("consumer.add");
    notice.action_shortcut = QStringLiteral("G");
    notice.command_hint = tr("or connect your own");
    notice.command_line = QStringLiteral("kcat -b %1 -G billing %2").arg(session()->bootstrap(), example_topic(*session()->view()));
    return notice;
  };
  // Where nothing is, a filter hides nothing.
  showState(model_->rowCount(), total, total > 0 && filter()->filtering(), empty, tr("0 of %1 groups").arg(format_count(total)));
}

void GroupsPage::showGroup(const QString& group, bool request) {
  if (group != current_) {
    current_ = group;
    keys_.clear();
    keys_of_.clear();
    keys_asked_ms_ = -1;
    applyCapabilities();
  }
  const int row = model_->rowOf(group);
  if (row >= 0 && table()->currentIndex().row() != row) {
    const bool before = std::exchange(follow_selection_, false);
    table()->setCurrentIndex(model_->index(row, 0));
    follow_selection_ = before;
  }
  if (request) {
    refreshDetails(clock_());
    if (selection().group != group) {
      Q_EMIT selectionRequested(Selection::ofGroup(group));
    }
  }
}

void GroupsPage::applyCapabilities() {
  const bool any = !current_.isEmpty();
  for (Button* button : {reset_, rejoin_, delete_}) {
    button->setEnabled(any);
  }
}

void GroupsPage::refreshDetails(std::int64_t now_ms) {
  const GroupFacts* f = model_->facts(current_);
  details_->setVisible(f != nullptr);
  if (f == nullptr) {
    matrix_->show(nullptr, now_ms);
    rebalances_->rebalances()->show(nullptr);
    return;
  }
  const auto set = [](TextLabel* label, const QString& text) {
    if (label->text() != text) {
      label->setText(text);
    }
  };
  set(name_, current_);
  matrix_->show(f, now_ms);
  const int moving = matrix_->onTheWay();
  const int wanted = matrix_->wanted();
  const QString idle = wanted > 0 ? tr("%Ln partition(s) change hands, dashed: the reader gives back with a heartbeat, the next one takes with its own. All others are read on.", nullptr, wanted)
                     : moving > 0 ? tr("%Ln partition(s) on the way, dashed: the reader has given back, and the next assignment hands on. Nobody reads meanwhile.", nullptr, moving)
                                  : idle_words(*f->group, matrix_->partitionCount());
  set(idle_, idle);
  idle_->setVisible(!idle.isEmpty());
  if (as_table_) {
    const auto rows = static_cast<int>(f->group->members.size());
    matrix_table_->setRowCount(rows);
    for (int i = 0; i < rows; ++i) {
      const event::GroupAssigned::Member& m = f->group->members[static_cast<std::size_t>(i)];
      QString reads = partition_words(m.partitions);
      reads = reads.isEmpty() ? tr("nothing") : reads;
      if (const QString target = target_words(m); !target.isEmpty()) {
        reads = QStringLiteral("%1 · %2").arg(reads, target);
      }
      const std::int64_t seen = m.counters == nullptr ? 0 : m.counters->last_seen_ms.get();
      QString host = QString::fromStdString(m.client_host);
      host = host.startsWith(QLatin1Char('/')) ? host.mid(1) : host;  // as Kafka writes an address without a name
      const QString cells[] = {m.instance_id.empty() ? AssignmentMatrix::shortMember(m.member_id, m.client_id) : QString::fromStdString(m.instance_id),
                               QString::fromStdString(m.client_id), host, reads,
                               seen > 0 ? AssignmentMatrix::seenWords(now_ms - seen) : QString()};
      const QString tips[] = {QString::fromStdString(m.member_id), {}, {}, reads, {}};
      for (int c = 0; c < 5; ++c) {
        QTableWidgetItem* item = matrix_table_->item(i, c);
        if (item == nullptr) {
          item = new QTableWidgetItem;
          item->setFont(Theme::current().font(FontRole::data));
          matrix_table_->setItem(i, c, item);
        }
        if (item->text() != cells[c]) {
          item->setText(cells[c]);
          item->setToolTip(tips[c]);
        }
      }
    }
  }
  const GroupVerdict verdict = hw::ui::why(*f, keys_, now_ms);
  const bool same_place = verdict.partition >= 0 && keys_of_ == QStringLiteral("%1/%2").arg(verdict.topic).arg(verdict.partition);
  const GroupStatus status = group_status(*f);
  why_->show(verdict, same_place ? keys_ : std::vector<KeyCounter::Share>{}, status.word, status.glyph);
  rebalances_->rebalances()->show(f->group.get());
  if (verdict.partition >= 0 && isVisible()) {
    askKeys();
  }
}

// Which keys the newest records of the worst partition have, asked again now and then while the page is looked at.
void GroupsPage::askKeys() {
  const GroupFacts* f = model_->facts(current_);
  const std::int64_t now = clock_();
  if (f == nullptr || f->worst < 0) {
    return;
  }
  const GroupFacts::Part& part = f->parts[static_cast<std::size_t>(f->worst)];
  const QString place = QStringLiteral("%1/%2").arg(QString::fromStdString(part.topic)).arg(part.partition.value());
  if (keys_asked_ms_ >= 0 && place == keys_of_ && now - keys_asked_ms_ < kKeysAgainMs) {
    return;
  }
  keys_asked_ms_ = now;
  if (place != keys_of_) {
    keys_.clear();
  }
  keys_of_ = place;
  ReadQuery query;
  query.topic = part.topic;
  query.partition = part.partition.value();
  query.from_offset = std::max<std::int64_t>(0, part.lag.end - 500);
  query.max_records = 500;
  query.max_bytes = 512 * 1024;
  const QPointer<GroupsPage> self(this);
  session()->read(query, [self, place](const ReadAnswer& answer) {
    if (self == nullptr || self->keys_of_ != place || !answer.error.isEmpty()) {
      return;
    }
    KeyCounter counter;
    for (const RecordRow& row : answer.rows) {
      counter.add(row.key);
    }
    self->keys_ = counter.shares(6);
    self->refreshDetails(self->clock_());
  });
}

void GroupsPage::setSelection(const Selection& selection) {
  Page::setSelection(selection);
  matrix_->setSelection(selection);
  if (!selection.group.isEmpty() && selection.group != current_ && model_->facts(selection.group) != nullptr) {
    showGroup(selection.group, false);
    refreshDetails(clock_());
  } else if (!selection.group.isEmpty() && selection.group != current_ && session() != nullptr &&
             session()->view()->find_group(selection.group.toStdString()) != nullptr) {
    current_ = selection.group;  // the model has not seen it yet
    refresh();
  }
}

void GroupsPage::fitColumns() {
  const Theme& t = Theme::current();
  const int room = seen_width(table());
  const double wide = room / t.scale();
  table()->setColumnHidden(GroupModel::kind, wide < 1060);
  table()->setColumnHidden(GroupModel::lag_offsets, wide < 990);
  table()->setColumnHidden(GroupModel::trend, wide < 850);
  table()->setColumnHidden(GroupModel::last_rebalance, wide < 776);
  table()->setColumnHidden(GroupModel::members, wide < 640);
  const int widths[] = {0, 86, wide < 640 ? 148 : wide < 1060 ? 160 : 170, 76, 96, 96, 80, 74, 104, 0};
  int used = 0;
  for (int i = GroupModel::kind; i <= GroupModel::status; ++i) {
    if (!table()->isColumnHidden(i)) {
      table()->horizontalHeader()->resizeSection(i, t.px(widths[i]));
      used += t.px(widths[i]);
    }
  }
  const int rest = std::max(0, room - used);
  const int last = table()->isColumnHidden(GroupModel::last_rebalance) ? 0 : std::clamp(rest * 45 / 100, t.px(154), t.px(260));
  table()->horizontalHeader()->resizeSection(GroupModel::name, std::max(t.px(120), rest - last));
  table()->horizontalHeader()->resizeSection(GroupModel::last_rebalance, last);
}

bool GroupsPage::toggleTable() {
  as_table_ = !as_table_;
  matrix_room_->setVisible(!as_table_);
  matrix_table_->setVisible(as_table_);
  refreshDetails(clock_());
  if (as_table_) {
    matrix_table_->setFocus();
  }
  return true;
}

Glyph GroupsPage::attention(const FaultFacts& faults) const {
  // Who keeps a group is gone: what is known of its lag is of before, or nothing.
  const DataReach::Count& coordinators = faults.reach.coordinators;
  const bool alone = coordinators.served < coordinators.all && session() != nullptr && !session()->view()->groups->empty();
  return alone ? Glyph::cross : model_->attention();
}

QRect GroupsPage::anchor(const Selection& selection) const {
  const int row = model_->rowOf(selection.group);
  if (selection.group.isEmpty() || row < 0) {
    return {};
  }
  const QRect cell = table()->visualRect(model_->index(row, GroupModel::name));
  return {table()->viewport()->mapTo(this, cell.topLeft()), cell.size()};
}

ConsumerCommand GroupsPage::consumerFor(const QString& group) const {
  ConsumerCommand command = last_options_;
  command.client_id.clear();
  command.group = group.toStdString();
  command.topics.clear();
  const observe::ViewPtr view = session()->view();
  if (const observe::GroupView* g = view->find_group(command.group); g != nullptr) {
    const auto add = [&](const std::string& topic) {
      if (std::find(command.topics.begin(), command.topics.end(), topic) == command.topics.end()) {
        command.topics.push_back(topic);
      }
    };
    for (const auto& m : g->members) {
      for (const std::string& topic : m.topics) {
        add(topic);
      }
    }
    if (command.topics.empty()) {
      for (const auto& c : g->committed) {
        add(c.topic);
      }
    }
    // A group has one protocol and one assignor at a time; a newcomer speaks the same.
    if (!g->members.empty()) {
      const auto protocol = g->kind == event::GroupProtocol::consumer ? ConsumerCommand::Protocol::consumer : ConsumerCommand::Protocol::classic;
      const QStringList known = SessionAdmin::of(session()).consumerAssignors(protocol);
      if (known.contains(QString::fromStdString(g->protocol))) {
        command.assignor = g->protocol;
      } else if (command.protocol != protocol && !known.isEmpty()) {
        command.assignor = known.front().toStdString();
      }
      command.protocol = protocol;
    }
  }
  if (command.topics.empty()) {
    const QString chosen = selection().topic;
    if (!chosen.isEmpty() && view->find_topic(chosen.toStdString()) != nullptr) {
      command.topics.push_back(chosen.toStdString());
    } else {
      for (const auto& [name, topic] : *view->topics) {
        if (!topic->internal) {
          command.topics.push_back(name);
          break;
        }
      }
    }
  }
  return command;
}

void GroupsPage::addConsumer(bool ask) {
  ConsumerCommand command = consumerFor(current_);
  if (command.topics.empty()) {
    Q_EMIT commandRequested(QStringLiteral("topic.create"), {{QStringLiteral("reason"), tr("A consumer needs a topic to read, and there is none yet.")}});
    return;
  }
  const QPointer<GroupsPage> self(this);
  const auto add = [self](const ConsumerCommand& wanted, int count) {
    for (int i = 0; i < count; ++i) {
      SessionAdmin::of(self->session()).addConsumer(wanted, [self, wanted](const QString& error) {
        if (self == nullptr) {
          return;
        }
        const QString group = QString::fromStdString(wanted.group);
        self->undoBar()->say(error.isEmpty() ? tr("A consumer joins %1. Shift+G removes one again.").arg(group)
                                         : tr("No consumer was added to %1: %2").arg(group, error),
                         !error.isEmpty());
        self->refresh();
      });
    }
  };
  if (!ask && !command.group.empty()) {
    add(command, 1);
    return;
  }
  if (command.group.empty()) {
    command.group = session()->view()->groups->empty() ? command.topics.front() + ".readers" : "";
  }
  auto* dialog = new AddConsumerDialog(session(), command, this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  connect(dialog, &AddConsumerDialog::chosen, this, [this, add](const ConsumerCommand& wanted, int count) {
    last_options_ = wanted;
    last_options_.crash_after = 0;
    add(wanted, count);
  });
  dialog->open();
}

void GroupsPage::removeConsumer() {
  if (!SessionAdmin::of(session()).removeConsumer(current_.toStdString())) {
    undoBar()->say(tr("%1 has no built-in consumer. Others leave when their program stops.").arg(current_), true);
    return;
  }
  undoBar()->say(tr("A built-in consumer leaves %1.").arg(current_), false);
}

void GroupsPage::rebalance() {
  if (!SessionAdmin::of(session()).rejoinConsumer(current_.toStdString())) {
    undoBar()->say(tr("%1 has no built-in member that could rejoin. Add one with G; only a member can start a rebalance.").arg(current_), true);
    return;
  }
  undoBar()->say(tr("A built-in member of %1 leaves and joins again.").arg(current_), false);
}

void GroupsPage::resetOffsets() {
  if (current_.isEmpty() || session()->view()->find_group(current_.toStdString()) == nullptr) {
    return;
  }
  auto* dialog = new ResetOffsetsDialog(session(), current_, clock_, this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  connect(dialog, &ResetOffsetsDialog::applied, this,
          [this, group = current_](const std::vector<PartitionOffset>& before, const std::vector<PartitionOffset>& after) {
            const QPointer<Session> session = this->session();
            UndoList::of(session)->add(
                tr("Offsets of %1 were reset on %Ln partition(s)", nullptr, static_cast<int>(after.size())).arg(group),
                Selection::ofGroup(group).address(), [session, group, before](const std::function<void(QString)>& done) {
                  if (session == nullptr) {
                    return;
                  }
                  std::vector<PartitionOffset> back;
                  std::vector<PartitionName> none;
                  for (const PartitionOffset& each : before) {
                    if (each.offset < 0) {
                      none.push_back(each.partition);
                    } else {
                      back.push_back(each);
                    }
                  }
                  const auto first_error = [](const OffsetsAnswer& answer) {
                    QString error = answer.error;
                    for (const PartitionResult& row : answer.rows) {
                      error = error.isEmpty() ? row.error : error;
                    }
                    return error;
                  };
                  SessionAdmin::of(session).commitGroupOffsets(group.toStdString(), back, [session, group, none, done, first_error](const OffsetsAnswer& answer) {
                    const QString error = first_error(answer);
                    if (!error.isEmpty() || none.empty() || session == nullptr) {
                      done(error);
                      return;
                    }
                    SessionAdmin::of(session).deleteGroupOffsets(group.toStdString(), none,
                                                [done, first_error](const OffsetsAnswer& gone) { done(first_error(gone)); });
                  });
                });
            undoBar()->say({}, false);
            refresh();
          });
  dialog->open();
}

void GroupsPage::deleteGroup() {
  const observe::ViewPtr view = session()->view();
  const observe::GroupView* g = view->find_group(current_.toStdString());
  if (g == nullptr) {
    return;
  }
  const GroupFacts* f = model_->facts(current_);
  auto* question = new QuestionDialog(tr("Delete group %1?").arg(current_),
                                      tr("Its positions are forgotten. If a consumer of this group comes back, it begins where "
                                         "auto.offset.reset says."),
                                      this);
  question->setAttribute(Qt::WA_DeleteOnClose);
  question->addFact(tr("State"), QStringLiteral("%1, %2").arg(state_words(g->state), tr("%Ln member(s)", nullptr, static_cast<int>(g->members.size()))));
  question->addFact(tr("Positions"), tr("%Ln partition(s)", nullptr, static_cast<int>(g->committed.size())));
  if (f != nullptr && f->lag_known) {
    question->addFact(tr("Not read yet"), tr("%1 records").arg(format_count(f->lag_records)));
  }
  question->addCommand(QStringLiteral("kafka-consumer-groups.sh --bootstrap-server %1 --delete --group %2").arg(session()->bootstrap(), current_));
  question->addCancel()->setFocus();
  Button* accept = question->addAnswer(tr("Delete group"), QuestionDialog::AnswerKind::danger);
  const auto may = [this, question, accept, group = current_.toStdString()] {
    const observe::ViewPtr now = session()->view();
    const observe::GroupView* still = now->find_group(group);
    const bool used = still != nullptr && !still->members.empty();
    accept->setEnabled(!used);
    question->setFailure(used ? tr("The group has members, and a broker would refuse (NON_EMPTY_GROUP). Stop them first (Shift+G for built-in ones).")
                              : QString());
  };
  may();
  connect(session(), &Session::frameReady, question, may);
  std::vector<PartitionOffset> before;
  for (const auto& c : g->committed) {
    if (c.counters != nullptr && c.counters->offset.get() >= 0) {
      before.push_back({{c.topic, c.partition.value()}, c.counters->offset.get()});
    }
  }
  connect(question, &QuestionDialog::answered, this, [this, group = current_, before](int index) {
    if (index != 1) {
      return;
    }
    const QPointer<GroupsPage> self(this);
    SessionAdmin::of(session()).deleteGroup(group.toStdString(), [self, group, before](const QString& error) {
      if (self == nullptr) {
        return;
      }
      if (!error.isEmpty()) {
        self->undoBar()->say(error.contains(QLatin1String("NON_EMPTY_GROUP"))
                             ? tr("%1 was not deleted: it has members. Stop its consumers first (Shift+G for built-in ones).").arg(group)
                             : tr("%1 was not deleted: %2").arg(group, error),
                         true);
        return;
      }
      const QPointer<Session> session = self->session();
      UndoList::of(session)->add(tr("Group %1 was deleted").arg(group), Selection::ofGroup(group).address(),
                                 [session, group, before](const std::function<void(QString)>& done) {
                                   if (session != nullptr) {
                                     SessionAdmin::of(session).commitGroupOffsets(group.toStdString(), before, [done](const OffsetsAnswer& answer) {
                                       QString first = answer.error;
                                       for (const PartitionResult& row : answer.rows) {
                                         first = first.isEmpty() ? row.error : first;
                                       }
                                       done(first);
                                     });
                                   }
                                 });
      self->undoBar()->say({}, false);
      self->refresh();
    });
  });
  question->open();
}

void GroupsPage::deleteOffsets() {
  const observe::ViewPtr view = session()->view();
  const observe::GroupView* g = view->find_group(current_.toStdString());
  if (g == nullptr || g->committed.empty()) {
    undoBar()->say(tr("%1 has no offset to delete.").arg(current_), true);
    return;
  }
  // Of the topic that is selected, otherwise of the first.
  std::string topic = selection().topic.toStdString();
  if (std::none_of(g->committed.begin(), g->committed.end(), [&](const auto& c) { return c.topic == topic; })) {
    topic = g->committed.front().topic;
  }
  std::vector<PartitionOffset> before;
  std::vector<PartitionName> names;
  for (const auto& c : g->committed) {
    if (c.topic == topic) {
      names.push_back({c.topic, c.partition.value()});
      before.push_back({names.back(), c.counters == nullptr ? -1 : c.counters->offset.get()});
    }
  }
  const QString topic_name = QString::fromStdString(topic);
  auto* question = new QuestionDialog(tr("Delete the offsets of %1 on %2?").arg(current_, topic_name),
                                      tr("The group forgets where it is in this topic and begins there where auto.offset.reset says."), this);
  question->setAttribute(Qt::WA_DeleteOnClose);
  question->addFact(tr("Positions"), tr("%Ln partition(s)", nullptr, static_cast<int>(names.size())));
  question->addCommand(QStringLiteral("kafka-consumer-groups.sh --bootstrap-server %1 --delete-offsets --group %2 --topic %3")
                                       .arg(session()->bootstrap(), current_, topic_name));
  question->addCancel()->setFocus();
  question->addAnswer(tr("Delete offsets"), QuestionDialog::AnswerKind::danger);
  connect(question, &QuestionDialog::answered, this, [this, group = current_, topic_name, names, before](int index) {
    if (index != 1) {
      return;
    }
    const QPointer<GroupsPage> self(this);
    SessionAdmin::of(session()).deleteGroupOffsets(group.toStdString(), names, [self, group, topic_name, before](const OffsetsAnswer& answer) {
      if (self == nullptr) {
        return;
      }
      QString error = answer.error;
      for (const PartitionResult& row : answer.rows) {
        error = error.isEmpty() ? row.error : error;
      }
      if (!error.isEmpty()) {
        self->undoBar()->say(error.contains(QLatin1String("GROUP_SUBSCRIBED_TO_TOPIC"))
                             ? tr("Not deleted: a member of %1 still reads %2. Stop it first.").arg(group, topic_name)
                             : tr("Not deleted: %1").arg(error),
                         true);
        return;
      }
      const QPointer<Session> session = self->session();
      UndoList::of(session)->add(tr("Offsets of %1 on %2 were deleted").arg(group, topic_name), Selection::ofGroup(group).address(),
                                 [session, group, before](const std::function<void(QString)>& done) {
                                   if (session != nullptr) {
                                     SessionAdmin::of(session).commitGroupOffsets(group.toStdString(), before, [done](const OffsetsAnswer& back) {
                                       QString first = back.error;
                                       for (const PartitionResult& row : back.rows) {
                                         first = first.isEmpty() ? row.error : first;
                                       }
                                       done(first);
                                     });
                                   }
                                 });
      self->undoBar()->say({}, false);
      self->refresh();
    });
  });
  question->open();
}

}  // namespace hw::ui
