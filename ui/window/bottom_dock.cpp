// SPDX-License-Identifier: Apache-2.0
#include "ui/window/bottom_dock.h"

#include <QCheckBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <QStackedWidget>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/filter/filter_box.h"
#include "ui/models/event_filter.h"
#include "ui/theme/theme.h"
#include "ui/window/controls.h"
#include "ui/window/hover_row.h"
#include "ui/window/inspector.h"
#include "ui/window/page.h"
#include "ui/window/row_delegate.h"
#include "ui/window/severity_bar.h"

namespace hw::ui {

namespace {

constexpr int kEventsHeight = 168;
constexpr int kProduceHeight = 262;
constexpr int kHeightMin = 96;

// Time and kind in mono, a glyph before the sentence.
class EventDelegate : public RowDelegate {
 public:
  explicit EventDelegate(QObject* parent) : RowDelegate(false, parent) {}

 protected:
  RowCell cell(const QModelIndex& index, bool /*selected*/) const override {
    const Colors& c = Theme::current().colors();
    RowCell out;
    switch (index.column()) {
      case EventModel::time: {
        const int fold = index.data(EventModel::fold_role).toInt();
        out.role = FontRole::data;
        out.color = c.text2;
        out.left = 2;
        out.glyph_room = true;
        out.icon = fold < 0 ? QString() : fold > 0 ? QStringLiteral("chevron-down") : QStringLiteral("chevron-right");
        break;
      }
      case EventModel::what:
        out.role = FontRole::control;
        out.color = c.text;
        out.left = index.data(EventModel::inner_role).toBool() ? 28 : out.left;
        out.glyph = static_cast<Glyph>(index.data(EventModel::glyph_role).toInt());
        out.glyph_room = true;
        break;
      default:
        out.role = FontRole::small_data;
        out.color = c.text3;
        break;
    }
    return out;
  }
};

}  // namespace

BottomDock::BottomDock(ProducePanel* produce, QWidget* parent)
    : QWidget(parent), produce_(produce), events_height_(Theme::current().px(kEventsHeight)) {
  setAccessibleName(tr("Events and produce"));
  setMouseTracking(true);
  const Theme& t = Theme::current();
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 1, 0, 0);
  column->setSpacing(0);
  head_ = new QWidget(this);
  auto* head = head_;
  head->setFixedHeight(t.px(Metrics::kDockHeader));
  head->setAttribute(Qt::WA_TransparentForMouseEvents, false);
  auto* row = new QHBoxLayout(head);
  row->setContentsMargins(0, 0, t.px(10), 0);
  row->setSpacing(t.px(10));
  tabs_ = new TabStrip(produce == nullptr ? QStringList{tr("Events")} : QStringList{tr("Events"), tr("Produce")}, head);
  tabs_->setAccessibleName(tr("Dock tabs"));
  connect(tabs_, &TabStrip::activated, this, [this](int index) {
    showTab(static_cast<Tab>(index));
    setOpen(true);
  });
  row->addWidget(tabs_, 1);
  severities_ = new SeverityBar(head);
  connect(severities_, &SeverityBar::changed, this, [this](unsigned severities) {
    events_->setSeverities(severities);
    refill();
  });
  row->addWidget(severities_);
  filter_ = new FilterBox(event_vocabulary(), QStringLiteral("events"), head);
  filter_->setChipsShown(false);
  filter_->setCompact();
  filter_->setHint(QStringLiteral("severity == warning"));
  filter_->edit()->setAccessibleName(tr("Filter events"));
  filter_->setMinimumWidth(t.px(220));
  filter_->setMaximumWidth(t.px(420));
  filter_->setValues([this](const filter::Field& field) { return valuesOf(field.name); });
  filter_->setExamples({{QStringLiteral("severity in {warning, error}"), tr("what needs a look")},
                        {QStringLiteral("group == \"billing\" && time >= -5 min"), tr("one group, lately")},
                        {QStringLiteral("kind ~ \"^topic\""), tr("topics that come, change and go")}});
  connect(filter_, &FilterBox::applied, this, [this] {
    events_->setFilter(filter_->filtering() ? filter_->program() : nullptr);
    refill();
  });
  connect(filter_, &FilterBox::leaveRequested, this, [this] { table_->setFocus(); });
  filter_->installEventFilter(this);
  row->addWidget(filter_, 2);
  all_ = new QCheckBox(tr("all details"), head);
  all_->setToolTip(tr("Also internal topics, replicas and connections"));
  connect(all_, &QCheckBox::toggled, this, [this](bool on) {
    events_->setAll(on);
    refresh();
  });
  row->addWidget(all_);
  fold_ = new Button(Button::Kind::quiet, QStringLiteral("chevron-down"), {}, head);
  fold_->setName(tr("Fold the dock"));
  connect(fold_, &Button::clicked, this, [this] { setOpen(!open_); });
  row->addWidget(fold_);
  column->addWidget(head);

  stack_ = new QStackedWidget(this);
  events_ = new EventModel(this);
  table_ = new QTableView(stack_);
  table_->setModel(events_);
  table_->setItemDelegate(new EventDelegate(table_));
  table_->setAccessibleName(tr("Events"));
  table_->setSelectionBehavior(QAbstractItemView::SelectRows);
  table_->setSelectionMode(QAbstractItemView::SingleSelection);
  table_->setShowGrid(false);
  new HoverRow(table_);
  table_->verticalHeader()->hide();
  table_->horizontalHeader()->hide();
  table_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  table_->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
  table_->setTabKeyNavigation(false);
  table_->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  table_->verticalHeader()->setMinimumSectionSize(t.px(20));
  table_->verticalHeader()->setDefaultSectionSize(t.px(23));
  applyColumns();
  connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& index) {
    const Selection about = events_->about(index.row());
    if (!about.none() && table_->hasFocus()) {
      Q_EMIT selectionRequested(about);
    }
  });
  connect(table_, &QTableView::clicked, this, [this](const QModelIndex& index) {
    if (index.column() == EventModel::time && events_->canOpen(index.row())) {
      events_->setOpen(index.row(), !events_->isOpen(index.row()));
      return;
    }
    const Selection about = events_->about(index.row());
    if (!about.none()) {
      Q_EMIT selectionRequested(about);
    }
  });
  connect(table_, &QTableView::doubleClicked, this, [this](const QModelIndex& index) {
    if (index.column() != EventModel::time) {
      events_->setOpen(index.row(), !events_->isOpen(index.row()));
    }
  });
  connect(events_, &EventModel::judgedMore, this, &BottomDock::showCounts);
  table_->installEventFilter(this);
  // A list that becomes lower shows its end as before.
  connect(table_->verticalScrollBar(), &QScrollBar::valueChanged, this, [this](int value) { following_ = value >= table_->verticalScrollBar()->maximum() - 2; });
  connect(table_->verticalScrollBar(), &QScrollBar::rangeChanged, this, [this](int, int most) {
    if (following_) {
      table_->verticalScrollBar()->setValue(most);
    }
  });
  notice_ = new TextLabel({}, FontRole::control, TextLabel::Tone::text3, table_);
  notice_->setAlignment(Qt::AlignCenter);
  notice_->hide();
  table_->viewport()->installEventFilter(this);
  stack_->addWidget(table_);
  if (produce_ != nullptr) {
    stack_->addWidget(produce_);
  }
  column->addWidget(stack_, 1);
  applyHeight();
  const auto restyle = [this] {
    table_->setStyleSheet(QStringLiteral("QTableView { background: %1; } QTableView::item { border: none; }"
                                         " QTableView::item:hover { background: transparent; }")
                              .arg(Theme::current().colors().chrome.name()));
    all_->setStyleSheet(QStringLiteral("color: %1;").arg(Theme::current().colors().text2.name()));
  };
  restyle();
  connect(&t, &Theme::changed, this, restyle);
  // As high as before in lines, not in pixels; there and back ends where it began.
  struct Kept {
    double base = 0;  // at scale 1
    int made = -1;
    void follow(int& height, double from, double to) {
      base = height == made ? base : height / from;
      height = made = qRound(base * to);
    }
  };
  connect(&t, &Theme::changed, this, [this, scale = t.scale(), open = Kept(), narrow = Kept()]() mutable {
    const double now = Theme::current().scale();
    if (now != scale) {
      open.follow(events_height_, scale, now);
      narrow.follow(narrow_height_, scale, now);
      scale = now;
      applyHeight();
    }
  });
}

void BottomDock::applyColumns() {
  const Theme& t = Theme::current();
  QHeaderView* header = table_->horizontalHeader();
  header->setMinimumSectionSize(t.px(24));
  header->setSectionResizeMode(QHeaderView::Fixed);
  header->resizeSection(EventModel::time, t.px(122));
  header->resizeSection(EventModel::node, t.px(44));
  header->resizeSection(EventModel::kind, t.px(156));
  header->setSectionResizeMode(EventModel::what, QHeaderView::Stretch);
  table_->setColumnHidden(EventModel::kind, narrow_);
}

void BottomDock::attach(Session* session) {
  session_ = session;
  if (produce_ != nullptr) {
    produce_->attach(session);
  }
  refresh();
}

void BottomDock::refresh() {
  if (session_ == nullptr) {
    return;
  }
  events_->update(*session_->view());
  if (open_ && tab_ == Tab::events) {
    showCounts();
  }
}

void BottomDock::showCounts() {
  for (const Severity severity : kSeverities) {
    const EventJournal::Tally tally = events_->count(severity);
    severities_->setCount(severity, tally.rows, tally.events);
  }
  const int shown = events_->shown();
  const int total = shown + events_->hidden();
  if (shown != told_shown_ || total != told_total_) {
    told_shown_ = shown;
    told_total_ = total;
    filter_->setCounts({.shown = shown, .total = total});
    showNotice(shown, total);
  }
}

bool BottomDock::foldKey(int key) {
  const int row = table_->currentIndex().row();
  const bool can = events_->canOpen(row);
  if (key == Qt::Key_Left && !can && events_->outer(row) != row) {
    table_->setCurrentIndex(events_->index(events_->outer(row), EventModel::what));
    return true;
  }
  if (!can || (key != Qt::Key_Left && key != Qt::Key_Right && key != Qt::Key_Return && key != Qt::Key_Enter)) {
    return false;
  }
  events_->setOpen(row, key == Qt::Key_Right || (key != Qt::Key_Left && !events_->isOpen(row)));
  return true;
}

void BottomDock::showNotice(int shown, int total) {
  notice_->setVisible(shown == 0);
  if (shown == 0) {
    notice_->setText(total == 0 ? tr("Nothing has happened yet. What the nodes, topics, groups and clients do is listed here.")
                     : filter_->filtering() ? tr("The filter hides all %Ln row(s).", nullptr, total)
                                            : tr("%Ln row(s) of severities that are not shown.", nullptr, total));
    notice_->setGeometry(table_->viewport()->geometry());
  }
}

void BottomDock::refill() {
  told_shown_ = -1;
  following_ = true;
  refresh();
  table_->scrollToBottom();
}

void BottomDock::setFilter(const QString& text) { filter_->setText(text); }

// At most a screenful: names are suggested, not listed.
QStringList BottomDock::valuesOf(const std::string& field) const {
  constexpr int kMost = 50;
  QStringList out;
  if (session_ == nullptr) {
    return out;
  }
  const observe::ViewPtr view = session_->view();
  const auto take = [&out](const std::string& name) {
    out << QString::fromStdString(name);
    return out.size() < kMost;
  };
  if (field == "topic") {
    for (const auto& [name, topic] : *view->topics) {
      if (!take(name)) {
        break;
      }
    }
  } else if (field == "group") {
    for (const auto& [name, group] : *view->groups) {
      if (!take(name)) {
        break;
      }
    }
  } else if (field == "kind" || field == "client") {
    out = events_->values(field == "client", kMost);
  }
  return out;
}

void BottomDock::showTab(Tab tab) {
  if (tab == Tab::produce && produce_ == nullptr) {
    return;
  }
  tab_ = tab;
  tabs_->setCurrent(static_cast<int>(tab));
  stack_->setCurrentIndex(static_cast<int>(tab));
  all_->setVisible(tab == Tab::events);
  filter_->setVisible(tab == Tab::events);
  severities_->setVisible(tab == Tab::events);
  applyHeight();
  refresh();
}

void BottomDock::setOpen(bool open) {
  if (open == open_) {
    return;
  }
  open_ = open;
  fold_->setIconName(open ? QStringLiteral("chevron-down") : QStringLiteral("chevron-up"));
  fold_->setName(open ? tr("Fold the dock") : tr("Open the dock"));
  applyHeight();
  refresh();
  Q_EMIT openChanged(open);
}

void BottomDock::setOpenHeight(int height) {
  events_height_ = std::max(Theme::current().px(kHeightMin), height);
  applyHeight();
}

void BottomDock::setNarrow(bool narrow) {
  if (narrow != narrow_) {
    narrow_ = narrow;
    applyColumns();
    applyHeight();
  }
}

void BottomDock::applyHeight() {
  const Theme& t = Theme::current();
  stack_->setVisible(open_);
  // Chips below the filter need a second line of the head.
  const int head = t.px(Metrics::kDockHeader) + (tab_ == Tab::events && filter_->chipsShown() ? t.px(30) : 0);
  if (head_->height() != head) {
    head_->setFixedHeight(head);
  }
  int height = head + 1;
  if (open_) {
    height = tab_ == Tab::produce ? std::max(events_height_, t.px(kProduceHeight))
                                  : (!narrow_ ? events_height_ : narrow_height_ > 0 ? narrow_height_ : std::min(events_height_, t.px(100)));
  }
  setFixedHeight(height);
}

bool BottomDock::eventFilter(QObject* object, QEvent* event) {
  if (object == filter_ && event->type() == QEvent::LayoutRequest) {
    applyHeight();
  }
  if (object == table_ && event->type() == QEvent::KeyPress && foldKey(static_cast<QKeyEvent*>(event)->key())) {
    return true;
  }
  if (object == table_->viewport() && event->type() == QEvent::Resize) {
    notice_->setGeometry(table_->viewport()->geometry());
  }
  return QWidget::eventFilter(object, event);
}

void BottomDock::paintEvent(QPaintEvent*) {
  const Colors& c = Theme::current().colors();
  QPainter p(this);
  p.fillRect(rect(), c.chrome);
  p.fillRect(0, 0, width(), 1, c.border);
  p.fillRect(0, head_->geometry().bottom(), width(), 1, c.border);
}

void BottomDock::mousePressEvent(QMouseEvent* event) {
  if (event->position().y() < Theme::current().px(6) && open_) {
    drag_from_ = static_cast<int>(event->globalPosition().y());
    drag_height_ = height();
  }
}

void BottomDock::mouseMoveEvent(QMouseEvent* event) {
  if (drag_from_ >= 0) {
    const int limit = std::max(Theme::current().px(kHeightMin), window()->height() / 2);
    const int wanted = std::min(limit, drag_height_ + drag_from_ - static_cast<int>(event->globalPosition().y()));
    if (narrow_ && tab_ == Tab::events) {
      narrow_height_ = std::max(Theme::current().px(kHeightMin), wanted);
      applyHeight();
    } else {
      setOpenHeight(wanted);
    }
  } else {
    setCursor(event->position().y() < Theme::current().px(6) && open_ ? Qt::SizeVerCursor : Qt::ArrowCursor);
  }
}

void BottomDock::mouseReleaseEvent(QMouseEvent*) { drag_from_ = -1; }

void BottomDock::mouseDoubleClickEvent(QMouseEvent* event) {
  if (event->position().y() < Theme::current().px(Metrics::kDockHeader)) {
    setOpen(!open_);
  }
}

}  // namespace hw::ui
