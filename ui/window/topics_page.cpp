// SPDX-License-Identifier: Apache-2.0
#include "ui/window/topics_page.h"

#include <QCheckBox>
#include <QHeaderView>
#include <QLineEdit>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QTableView>
#include <QTimer>
#include <QVBoxLayout>

#include "ui/painting/text.h"
#include "ui/theme/theme.h"
#include "ui/window/controls.h"
#include "ui/window/hover_row.h"

namespace hw::ui {

namespace {

class TopicDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    const Theme& t = Theme::current();
    const Colors& c = t.colors();
    QPainter& p = *painter;
    p.save();
    const bool selected = option.state.testFlag(QStyle::State_Selected);
    if (selected) {
      p.fillRect(option.rect, option.widget != nullptr && option.widget->hasFocus() ? c.selected : c.selected_idle);
    } else if (HoverRow::isHovered(option.widget, index)) {
      p.fillRect(option.rect, c.hover);
    }
    p.fillRect(option.rect.left(), option.rect.bottom(), option.rect.width(), 1, c.hair);
    const bool name = index.column() == TopicModel::name;
    const bool words = index.column() == TopicModel::policy;
    QRectF r = QRectF(option.rect).adjusted(t.pxf(name ? 16 : 8), 0, -t.pxf(8), -1);
    const auto alignment = static_cast<Qt::Alignment>(index.data(Qt::TextAlignmentRole).toInt());
    const QString text = index.data().toString();
    p.setFont(t.font(words ? FontRole::control : (name && selected ? FontRole::data_strong : FontRole::data)));
    const auto glyph = static_cast<Glyph>(index.data(TopicModel::glyph_role).toInt());
    if (glyph != Glyph::none) {
      const double w = p.fontMetrics().horizontalAdvance(text);
      paint_glyph(p, glyph, QPointF(r.right() - w - t.pxf(12), r.center().y()), t.pxf(10));
    }
    p.setPen(name ? c.text : (index.data(TopicModel::internal_role).toBool() ? c.text3 : c.text2));
    p.drawText(r, static_cast<int>(alignment),
               p.fontMetrics().elidedText(text, name ? Qt::ElideMiddle : Qt::ElideRight, static_cast<int>(r.width())));
    p.restore();
  }
};

// A stack of outlined lanes: what a topic will look like.
void draw_topics(QPainter& p, const QRectF& r) {
  const Colors& c = Theme::current().colors();
  const double x = r.center().x() - 130;
  for (int lane = 0; lane < 3; ++lane) {
    const double y = r.top() + 12 + lane * 34;
    p.setPen(QPen(c.edge, 1.0, Qt::DashLine));
    p.setBrush(Qt::NoBrush);
    p.drawRect(QRectF(x, y, 260, 18).adjusted(0.5, 0.5, -0.5, -0.5));
    p.setRenderHint(QPainter::Antialiasing, false);
    const int cells = 14 - lane * 4;
    for (int i = 0; i < cells; ++i) {
      p.fillRect(QRectF(x + 4 + i * 9, y + 4, 8, 10), c.leader_soft);
    }
    p.fillRect(QRectF(x + 4, y + 3, cells * 9 - 1, 2), c.leader);
    p.setRenderHint(QPainter::Antialiasing);
  }
}

}  // namespace

TopicsPage::TopicsPage(QWidget* parent)
    : Page({QStringLiteral("topics"), tr("Topics"), QStringLiteral("topics"), QKeySequence(Qt::Key_T), tr("Operate")},
           parent) {
  const Theme& t = Theme::current();
  filter_ = new QLineEdit(this);
  filter_->setPlaceholderText(tr("Filter by name"));
  filter_->setAccessibleName(tr("Filter topics by name"));
  filter_->setFixedWidth(t.px(200));
  filter_->setClearButtonEnabled(false);
  connect(filter_, &QLineEdit::textChanged, this, [this](const QString& text) {
    model_->setFilter(text.trimmed());
    refresh();
  });
  header()->addLeft(filter_);
  internal_ = new QCheckBox(tr("internal"), this);
  internal_->setToolTip(tr("Topics that Kafka keeps for itself"));
  connect(internal_, &QCheckBox::toggled, this, [this](bool on) {
    model_->setInternalShown(on);
    refresh();
  });
  header()->addLeft(internal_);
  header()->addAction(QStringLiteral("plus"), tr("New topic"), QStringLiteral("topic.create"));
  delete_ = header()->addAction(QStringLiteral("trash"), tr("Delete…"), QStringLiteral("topic.delete"));
  delete_->setEnabled(false);

  model_ = new TopicModel(this);
  table_ = new QTableView(this);
  table_->setModel(model_);
  table_->setItemDelegate(new TopicDelegate(table_));
  table_->setAccessibleName(tr("Topics"));
  table_->setSelectionBehavior(QAbstractItemView::SelectRows);
  table_->setSelectionMode(QAbstractItemView::SingleSelection);
  table_->setShowGrid(false);
  new HoverRow(table_);
  table_->setStyleSheet(QStringLiteral("QTableView::item:hover { background: transparent; }"));
  table_->setTabKeyNavigation(false);
  table_->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOn);
  table_->verticalHeader()->hide();
  table_->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  table_->verticalHeader()->setMinimumSectionSize(t.px(20));
  table_->verticalHeader()->setDefaultSectionSize(t.px(Metrics::kRow));
  QHeaderView* head = table_->horizontalHeader();
  head->setHighlightSections(false);
  head->setSectionsClickable(false);
  head->setFixedHeight(t.px(Metrics::kRowHeader));
  head->setSectionResizeMode(QHeaderView::Fixed);
  const int widths[] = {280, 84, 84, 84, 110, 96, 84, 130, 76};
  for (int i = 0; i < TopicModel::column_count; ++i) {
    head->resizeSection(i, t.px(widths[i]));
  }
  head->setSectionResizeMode(TopicModel::name, QHeaderView::Stretch);
  connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& index) {
    const QString topic = model_->topicAt(index.row());
    delete_->setEnabled(!topic.isEmpty());
    if (!topic.isEmpty() && selection().topic != topic) {
      Q_EMIT selectionRequested(Selection::ofTopic(topic));
    }
  });
  connect(table_, &QTableView::activated, this, [this](const QModelIndex& index) {
    Q_EMIT openRequested(Selection::ofTopic(model_->topicAt(index.row())));
  });
  setContent(table_);
  setFocusProxy(table_);

  connect(this, &Page::commandRequested, this, [this](const QString& id) {
    if (id == QLatin1String("topics.clear_filter")) {
      filter_->clear();
    }
  });

  settle_ = new QTimer(this);
  settle_->setSingleShot(true);
  settle_->setInterval(1'100);
  connect(settle_, &QTimer::timeout, this, [this] {
    if (isVisible() && session() != nullptr) {
      refresh();
    }
  });
}

void TopicsPage::attach(Session* session) {
  Page::attach(session);
  refresh();
}

void TopicsPage::frame() {
  // A table is read, not watched: structure at once, numbers at 10 Hz.
  if (!since_.isValid() || since_.elapsed() >= 100) {
    refresh();
  } else if (!settle_->isActive()) {
    settle_->start();
  }
}

void TopicsPage::showEvent(QShowEvent* event) {
  Page::showEvent(event);
  if (session() != nullptr) {
    refresh();
  }
}

void TopicsPage::refresh() {
  if (session() == nullptr) {
    return;
  }
  const double seconds = since_.isValid() ? static_cast<double>(since_.restart()) / 1000.0 : 0;
  if (!since_.isValid()) {
    since_.start();
  }
  const QString current = model_->topicAt(table_->currentIndex().row());
  const observe::ViewPtr now = session()->view();
  model_->update(*now, seconds > 0.05 ? seconds : 0);
  if (!current.isEmpty() && model_->topicAt(table_->currentIndex().row()) != current) {
    selectRow(current);
  }
  const int total = model_->total();
  header()->setCount(model_->rowCount() == total ? tr("%n topic(s)", nullptr, total)
                                                 : tr("%1 of %2").arg(model_->rowCount()).arg(total));
  if (total == 0 && filter_->text().isEmpty()) {
    if (!noticeShown()) {
      PageNotice notice;
      notice.kind = PageNotice::Kind::empty;
      notice.title = tr("No topic yet");
      notice.text = tr("A topic is a named log, split into partitions. Records that your application sends will appear "
                       "here as they land; any produce creates its topic.");
      notice.drawing = draw_topics;
      notice.action_text = tr("Create topic");
      notice.action_command = QStringLiteral("topic.create");
      notice.second_text = tr("Start demo traffic");
      notice.second_command = QStringLiteral("demo.toggle");
      notice.command_hint = tr("or send something yourself");
      notice.command_line = QStringLiteral("echo hello | kcat -b %1 -P -t orders").arg(session()->bootstrap());
      showNotice(notice);
    }
  } else if (model_->rowCount() == 0) {
    if (!noticeShown()) {
      PageNotice notice;
      notice.kind = PageNotice::Kind::filtered;
      notice.title = tr("0 of %1 topics").arg(total);
      notice.text = tr("The filter “%1” hides all of them.").arg(filter_->text());
      notice.action_text = tr("Clear filter");
      notice.action_command = QStringLiteral("topics.clear_filter");
      showNotice(notice);
    }
  } else if (noticeShown()) {
    showContent();
  }
  // Rates need a second look once nothing moves any more.
  if (model_->moving()) {
    settle_->start();
  }
}

void TopicsPage::selectRow(const QString& topic) {
  const int row = model_->rowOf(topic);
  if (row >= 0) {
    table_->setCurrentIndex(model_->index(row, 0));
  } else {
    table_->clearSelection();
    delete_->setEnabled(false);
  }
}

void TopicsPage::setSelection(const Selection& selection) {
  Page::setSelection(selection);
  if (!selection.topic.isEmpty()) {
    selectRow(selection.topic);
  }
}

void TopicsPage::setWidthClass(int width_class) {
  for (const int column : {TopicModel::replicas, TopicModel::groups}) {
    table_->setColumnHidden(column, width_class < 0);
  }
}

bool TopicsPage::focusFilter() {
  filter_->setFocus(Qt::ShortcutFocusReason);
  filter_->selectAll();
  return true;
}

}  // namespace hw::ui
