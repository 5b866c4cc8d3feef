// SPDX-License-Identifier: Apache-2.0
#include "ui/views/list_page.h"

#include <QSplitter>
#include <QTimer>
#include <QVBoxLayout>
#include <utility>

#include "ui/session/undo_list.h"
#include "ui/theme/theme.h"
#include "ui/views/pane.h"
#include "ui/views/table_setup.h"
#include "ui/views/undo_bar.h"
#include "ui/window/hover_row.h"

namespace hw::ui {

namespace {
constexpr const char* kClearFilter = "list.clear_filter";  // of this page, not of the registry
}  // namespace

ListPage::ListPage(Info info, const Frame& frame, QWidget* parent) : Page(std::move(info), parent), frame_ms_(frame.frame_ms) {
  const Theme& t = Theme::current();
  filter_ = new FilterBox(frame.vocabulary, id(), this);
  filter_->setChipsShown(false);
  filter_->setHint(frame.hint);
  filter_->setMinimumWidth(t.px(140));  // how many there are is said before the filter's example in full
  filter_->setMaximumWidth(t.px(520));
  filter_->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
  header()->addLeft(filter_);

  auto* body = new Pane(this);
  auto* outer = new QVBoxLayout(body);
  outer->setContentsMargins(0, 0, 0, 0);
  outer->setSpacing(0);
  splitter_ = new QSplitter(Qt::Vertical, body);
  splitter_->setChildrenCollapsible(false);
  splitter_->setHandleWidth(t.px(3));
  outer->addWidget(splitter_, 1);
  undo_ = new UndoBar(body);
  outer->addWidget(undo_);
  connect(undo_, &UndoBar::undoRequested, this, [this] { Q_EMIT commandRequested(QStringLiteral("edit.undo"), {}); });

  table_ = new QTableView(splitter_);
  table_->setObjectName(frame.table_id);
  setup_table(table_, frame.table_name);
  new HoverRow(table_);
  table_->viewport()->installEventFilter(this);
  table_->setContextMenuPolicy(Qt::NoContextMenu);  // the page's own answers
  splitter_->addWidget(table_);
  connect(filter_, &FilterBox::leaveRequested, table_, [this] { table_->setFocus(); });
  connect(filter_, &FilterBox::applied, this, [this] { refresh(); });
  setContent(body);
  setFocusProxy(table_);
  connect(this, &Page::commandRequested, this, [this](const QString& command) {
    if (command == QLatin1String(kClearFilter)) {
      filter_->setText({});
    }
  });

  settle_ = new QTimer(this);
  settle_->setSingleShot(true);
  settle_->setInterval(frame.settle_ms);
  connect(settle_, &QTimer::timeout, this, [this] {
    if (isVisible() && session() != nullptr) {
      refresh();
    }
  });
}

void ListPage::setTableModel(QAbstractItemModel* model, DataDelegate::Look look, int sort_column, Qt::SortOrder sort_order) {
  table_->setModel(model);
  table_->setItemDelegate(new DataDelegate(std::move(look), table_));
  QHeaderView* head = table_->horizontalHeader();
  head->setSectionsClickable(true);
  head->setSortIndicatorShown(true);
  head->setSortIndicator(sort_column, sort_order);
  head->setStretchLastSection(false);
}

void ListPage::setDetails(QWidget* details, int table_stretch, int details_stretch) {
  splitter_->addWidget(details);
  splitter_->setStretchFactor(0, table_stretch);
  splitter_->setStretchFactor(1, details_stretch);
}

void ListPage::attach(Session* session) {
  Page::attach(session);
  undo_->attach(UndoList::of(session));
  connect(session, &Session::troubleChanged, this, [this] { refresh(); });
}

bool ListPage::focusFilter() {
  filter_->focusText();
  return true;
}

bool ListPage::applyFilter(const QString& text) {
  filter_->setText(text);
  return true;
}

void ListPage::setWidthClass(int /*width_class*/) { fitColumns(); }

void ListPage::frame() {
  // A table is read, not watched: some times a second is enough.
  if (!since_.isValid() || since_.elapsed() >= frame_ms_) {
    refresh();
  } else if (!settle_->isActive() || settle_->remainingTime() > frame_ms_) {
    settle_->start(frame_ms_);
  }
}

void ListPage::showEvent(QShowEvent* event) {
  Page::showEvent(event);
  fitColumns();
  since_.invalidate();
  if (session() != nullptr) {
    refresh();
  }
}

void ListPage::resizeEvent(QResizeEvent* event) {
  Page::resizeEvent(event);
  fitColumns();
}

bool ListPage::eventFilter(QObject* object, QEvent* event) {
  if (object == table_->viewport() && event->type() == QEvent::Resize) {
    fitColumns();
    // What is selected stays in sight when the room below takes some of the table's, once the table has its new size.
    QMetaObject::invokeMethod(this, [this] {
      if (table_->currentIndex().isValid() && !table_->viewport()->underMouse()) {
        table_->scrollTo(table_->currentIndex());
      }
    }, Qt::QueuedConnection);
  }
  return Page::eventFilter(object, event);
}

double ListPage::lap() {
  if (!since_.isValid()) {
    since_.start();
    return -1;
  }
  return static_cast<double>(since_.restart()) / 1000.0;
}

void ListPage::settleIn(int ms) { settle_->start(ms); }

void ListPage::showState(int shown, int total, bool filtered, const std::function<PageNotice()>& empty, const QString& hidden_title) {
  const std::optional<SessionTrouble> trouble = session()->trouble();
  QString state;
  if (trouble) {
    state = QStringLiteral("failed\n%1\n%2").arg(trouble->what, trouble->why);
  } else if (total == 0 && session()->view()->nodes.empty()) {
    state = QStringLiteral("starting");
  } else if (total == 0 && !filtered) {
    state = QStringLiteral("empty");
  } else if (shown == 0) {
    state = QStringLiteral("filtered\n%1\n%2").arg(hidden_title, filter_->appliedText());
  }
  if (state == state_ && noticeShown() == !state.isEmpty()) {
    return;
  }
  state_ = state;
  if (state.isEmpty()) {
    showContent();
    return;
  }
  PageNotice notice;
  if (trouble) {
    notice.kind = PageNotice::Kind::failed;
    notice.title = trouble->what;
    notice.text = trouble->why + QStringLiteral("\n\n") + trouble->advice;
    if (trouble->can_retry) {
      notice.action_text = tr("Try again");
      notice.action_command = QStringLiteral("cluster.retry");
    }
    notice.second_text = tr("Copy details");
    notice.second_command = QStringLiteral("cluster.copy_trouble");
  } else if (state == QLatin1String("starting")) {
    notice.kind = PageNotice::Kind::not_available;
    notice.title = tr("The cluster is starting");
    notice.text = tr("What is in it appears here as soon as a node serves. A folder that was not closed cleanly is checked first.");
  } else if (state == QLatin1String("empty")) {
    notice = empty();
  } else {
    notice.kind = PageNotice::Kind::filtered;
    notice.title = hidden_title;
    notice.text = filter_->filtering() ? tr("The filter “%1” hides all of them.").arg(filter_->appliedText())
                                       : tr("The choices above hide all of them.");
    if (filter_->filtering()) {
      notice.action_text = tr("Clear filter");
      notice.action_command = QLatin1String(kClearFilter);
    }
  }
  showNotice(notice);
}

}  // namespace hw::ui
