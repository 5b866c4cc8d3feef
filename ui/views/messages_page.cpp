// SPDX-License-Identifier: Apache-2.0
#include "ui/views/messages_page.h"

#include <QComboBox>
#include <QDateTimeEdit>
#include <QEvent>
#include <QHeaderView>
#include <QIntValidator>
#include <QLineEdit>
#include <QPainter>
#include <QRegularExpressionValidator>
#include <QScrollBar>
#include <QSplitter>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/painting/text.h"
#include "ui/views/record_detail.h"
#include "ui/views/record_model.h"
#include "ui/views/table_setup.h"
#include "ui/window/controls.h"

namespace hw::ui {

MessagesPage::MessagesPage(QWidget* parent)
    : Page({QStringLiteral("messages"), tr("Messages"), QStringLiteral("messages"), QKeySequence(Qt::Key_3), tr("Observe")},
           parent) {
  const Theme& theme = Theme::current();
  topics_ = new QComboBox(this);
  topics_->setAccessibleName(tr("Topic"));
  topics_->setFont(theme.font(FontRole::data));
  topics_->setMinimumContentsLength(12);
  topics_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  topics_->setMaxVisibleItems(24);
  header()->addLeft(topics_);
  partitions_ = new QComboBox(this);
  partitions_->setAccessibleName(tr("Partition"));
  partitions_->setMinimumContentsLength(9);
  partitions_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  partitions_->setMaxVisibleItems(24);
  header()->addLeft(partitions_);
  header()->addRight(new TextLabel(tr("from"), FontRole::control, TextLabel::Tone::text2, this));
  from_ = new SegmentedControl({tr("newest"), tr("oldest"), tr("offset"), tr("time")}, this);
  from_->setAccessibleDescription(tr("Where the list begins"));
  header()->addRight(from_);
  offset_ = new QLineEdit(this);
  offset_->setAccessibleName(tr("First offset"));
  offset_->setPlaceholderText(tr("offset"));
  offset_->setFont(theme.font(FontRole::data));
  offset_->setFixedWidth(theme.px(96));
  offset_->setValidator(new QRegularExpressionValidator(QRegularExpression(QStringLiteral("[0-9]{1,18}")), offset_));
  offset_->hide();
  header()->addRight(offset_);
  time_ = new QDateTimeEdit(QDateTime::currentDateTime().addSecs(-60), this);
  time_->setAccessibleName(tr("First time"));
  time_->setDisplayFormat(QStringLiteral("yyyy-MM-dd HH:mm:ss"));
  time_->setFont(theme.font(FontRole::data));
  time_->hide();
  header()->addRight(time_);
  tail_button_ = new Button(Button::Kind::normal, QStringLiteral("play"), tr("Tail"), this);
  tail_button_->setCheckable(true);
  header()->addRight(tail_button_);

  split_ = new QSplitter(Qt::Vertical, this);
  split_->setChildrenCollapsible(false);
  split_->setHandleWidth(theme.px(3));
  model_ = new RecordModel(this);
  table_ = new QTableView(split_);
  setup_table(table_, tr("Records"));
  table_->setModel(model_);
  table_->setItemDelegate(new RecordDelegate(table_));
  table_->setMouseTracking(true);
  table_->setMinimumHeight(theme.px(120));
  const int widths[] = {44, 92, 112, 116, 320, 104};
  for (int i = 0; i < 6; ++i) {
    table_->setColumnWidth(i, theme.px(widths[i]));
  }
  table_->horizontalHeader()->setStretchLastSection(false);
  table_->horizontalHeader()->setSectionResizeMode(RecordModel::kValue, QHeaderView::Stretch);
  table_->setColumnWidth(RecordModel::kFlags, theme.px(108));
  table_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  table_->viewport()->installEventFilter(this);
  detail_ = new RecordDetail(split_);
  detail_->setMinimumHeight(theme.px(120));
  split_->addWidget(table_);
  split_->addWidget(detail_);
  split_->setStretchFactor(0, 3);
  split_->setStretchFactor(1, 2);
  split_->setSizes({theme.px(360), theme.px(240)});
  setContent(split_);
  setFocusProxy(table_);
  pill_ = new Button(Button::Kind::primary, {}, {}, table_);
  pill_->hide();
  connect(pill_, &QAbstractButton::clicked, this, [this] {
    table_->scrollToBottom();
    unseen_ = 0;
    pill_->hide();
  });
  hint_ = new TextLabel({}, FontRole::control, TextLabel::Tone::text3, table_);
  hint_->setAlignment(Qt::AlignCenter);
  hint_->setAttribute(Qt::WA_TransparentForMouseEvents);
  hint_->hide();

  feed_ = new RecordFeed(this);
  connect(feed_, &RecordFeed::restarted, this, [this] {
    model_->clear();
    detail_->clear();
    unseen_ = 0;
    pill_->hide();
  });
  connect(feed_, &RecordFeed::arrived, this, &MessagesPage::onRows);
  connect(feed_, &RecordFeed::failed, this, [this](const QString& what) {
    hint_->setText(what);
    hint_->setVisible(model_->rowCount() == 0);
  });
  connect(feed_, &RecordFeed::pageDone, this, [this] {
    refreshState();
    if (pending_ && model_->rowCount() > 0) {
      const Selection wanted = *std::exchange(pending_, std::nullopt);
      const int row = model_->find(wanted.partition, wanted.offset);
      selecting_ = true;
      table_->selectRow(row >= 0 ? row : 0);
      table_->scrollTo(model_->index(row >= 0 ? row : 0, 0), QAbstractItemView::PositionAtCenter);
      selecting_ = false;
    } else if (!table_->currentIndex().isValid() && model_->rowCount() > 0) {
      // Something to look at from the start; the window's selection stays what it was.
      selecting_ = true;
      table_->selectRow(from_->current() == 0 ? model_->rowCount() - 1 : 0);
      selecting_ = false;
    }
  });
  connect(topics_, &QComboBox::activated, this, [this] {
    refreshPartitions();
    restart();
    Q_EMIT selectionRequested(Selection::ofTopic(topic()));
  });
  connect(partitions_, &QComboBox::activated, this, [this] { restart(); });
  connect(from_, &SegmentedControl::activated, this, [this](int index) {
    offset_->setVisible(index == 2);
    time_->setVisible(index == 3);
    if (index == 2) {
      offset_->setFocus();
    }
    if (index != 0) {
      setTail(false);
    }
    if (index != 2 || !offset_->text().isEmpty()) {
      restart();
    }
  });
  connect(offset_, &QLineEdit::returnPressed, this, &MessagesPage::restart);
  connect(time_, &QDateTimeEdit::editingFinished, this, &MessagesPage::restart);
  connect(tail_button_, &QAbstractButton::clicked, this, [this](bool on) {
    setTail(on);
    if (on) {
      from_->setCurrent(0);
      offset_->hide();
      time_->hide();
      restart();
    }
  });
  connect(table_->verticalScrollBar(), &QScrollBar::valueChanged, this, &MessagesPage::onScroll);
  connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this] { onCurrent(); });
  setTail(true);
}

QString MessagesPage::topic() const { return topics_->currentText(); }

std::int32_t MessagesPage::partition() const {
  return partitions_->currentIndex() <= 0 ? -1 : partitions_->currentIndex() - 1;
}

std::int32_t MessagesPage::partitionsOfTopic() const {
  const observe::ViewPtr now = view() ? view() : (session() != nullptr ? session()->view() : nullptr);
  const observe::TopicView* t = now ? now->find_topic(topic().toStdString()) : nullptr;
  return t == nullptr ? 0 : static_cast<std::int32_t>(t->partitions.size());
}

void MessagesPage::attach(Session* session) {
  Page::attach(session);
  feed_->setSession(session);
  refreshTopics();
}

void MessagesPage::setWidthClass(int width_class) {
  table_->setColumnHidden(RecordModel::kHeaders, width_class < 0);
  table_->setColumnWidth(RecordModel::kHeaders, Theme::current().px(width_class > 0 ? 260 : 104));
}

bool MessagesPage::focusFilter() {
  // The list begins at an offset: that is what can be typed here.
  from_->setCurrent(2);
  offset_->show();
  time_->hide();
  offset_->setFocus();
  offset_->selectAll();
  return true;
}

void MessagesPage::setTail(bool on) {
  tail_ = on;
  tail_button_->setChecked(on);
  tail_button_->setIconName(on ? QStringLiteral("pause") : QStringLiteral("play"));
  tail_button_->setName(on ? tr("Tailing: new records appear. Press to stop") : tr("Tail: show new records as they arrive"));
}

void MessagesPage::refreshTopics() {
  const observe::ViewPtr now = view() ? view() : session()->view();
  if (topics_seen_ == now->topics) {
    return;
  }
  topics_seen_ = now->topics;
  QStringList names;
  QStringList internal;
  for (const auto& [name, t] : *now->topics) {
    (t->internal ? internal : names) << QString::fromStdString(name);
  }
  names += internal;
  QStringList before;
  for (int i = 0; i < topics_->count(); ++i) {
    before << topics_->itemText(i);
  }
  if (names.isEmpty()) {
    topics_->clear();
    showEmpty();
    return;
  }
  showContent();
  if (names != before) {
    const QSignalBlocker block(topics_);
    const QString current = topic();
    topics_->clear();
    topics_->addItems(names);
    int at = topics_->findText(current);
    if (at < 0) {
      const auto demo = std::find_if(names.begin(), names.end(),
                                     [](const QString& n) { return n.startsWith(QLatin1String("demo.")); });
      at = demo == names.end() ? 0 : static_cast<int>(demo - names.begin());
      started_ = false;
    }
    topics_->setCurrentIndex(at);
  }
  if (partitions_->count() != partitionsOfTopic() + 1) {
    refreshPartitions();
  }
}

void MessagesPage::refreshPartitions() {
  const QSignalBlocker block(partitions_);
  const int current = std::max(0, partitions_->currentIndex());
  partitions_->clear();
  QStringList names{tr("all partitions")};
  const std::int32_t count = partitionsOfTopic();
  for (std::int32_t p = 0; p < count; ++p) {
    names << tr("partition %1").arg(p);
  }
  partitions_->addItems(names);
  partitions_->setCurrentIndex(current < names.size() ? current : 0);
}

void MessagesPage::showEmpty() {
  PageNotice notice;
  notice.title = tr("No messages yet");
  notice.text = tr("Records of your topics are listed here as they arrive. Create a topic, or let your application produce.");
  notice.drawing = [](QPainter& p, const QRectF& rect) {
    const Colors& c = Theme::current().colors();
    for (int row = 0; row < 4; ++row) {
      const double y = rect.top() + 12 + row * 26;
      const double left = rect.center().x() - 180;
      p.fillRect(QRectF(left, y + 12, 360, 1), c.hair);
      text_left(p, left, y, QString::number(row), FontRole::data, c.text3);
      p.fillRect(QRectF(left + 40, y - 5, 10, 10), c.key_hues[static_cast<std::size_t>(row)]);
      p.fillRect(QRectF(left + 60, y - 3, 60, 6), c.pressed);
      p.fillRect(QRectF(left + 150, y - 3, 210 - row * 30, 6), c.pressed);
    }
  };
  notice.action_text = tr("Create topic");
  notice.action_command = QStringLiteral("topic.create");
  notice.second_text = tr("Produce a record");
  notice.second_command = QStringLiteral("produce.open");
  notice.command_hint = tr("or connect your own");
  notice.command_line = QStringLiteral("kcat -b %1 -P -t orders").arg(session()->bootstrap());
  showNotice(notice);
}

void MessagesPage::restart() {
  if (session() == nullptr || topic().isEmpty()) {
    return;
  }
  started_ = true;
  std::vector<std::int32_t> chosen;
  if (partition() >= 0) {
    chosen.push_back(partition());
  }
  std::int64_t value = 0;
  if (from_->current() == 2) {
    value = offset_->text().toLongLong();
  } else if (from_->current() == 3) {
    value = time_->dateTime().toMSecsSinceEpoch();
  }
  hint_->hide();
  feed_->start(topic(), std::move(chosen), static_cast<RecordFeed::From>(from_->current()), value);
}

void MessagesPage::frame() {
  refreshTopics();
  if (!started_) {
    restart();
  } else if (tail_) {
    feed_->poll();
  }
}

void MessagesPage::showEvent(QShowEvent* event) {
  Page::showEvent(event);
  if (pending_) {
    jumpTo(*pending_);
  } else if (!started_) {
    restart();
  }
}

void MessagesPage::setSelection(const Selection& selection) {
  Page::setSelection(selection);
  if (selection.topic.isEmpty()) {
    return;
  }
  if (selection.topic == topic() && selection.inPartition() && selection.offset >= 0) {
    const int row = model_->find(selection.partition, selection.offset);
    if (row >= 0) {
      if (table_->currentIndex().row() != row) {
        selecting_ = true;
        table_->selectRow(row);
        table_->scrollTo(model_->index(row, 0));
        selecting_ = false;
      }
      return;
    }
  }
  if (selection.kind == Selection::Kind::topic && selection.topic == topic()) {
    return;
  }
  pending_ = selection;
  if (isVisible()) {
    jumpTo(selection);
  }
}

void MessagesPage::jumpTo(const Selection& wanted) {
  const int at = topics_->findText(wanted.topic);
  if (at < 0) {
    pending_.reset();
    return;
  }
  const bool other = at != topics_->currentIndex();
  topics_->setCurrentIndex(at);
  if (other) {
    partitions_->setCurrentIndex(0);
    refreshPartitions();
  }
  const bool record = wanted.offset >= 0;
  const int partition_index = wanted.partition >= 0 ? wanted.partition + 1 : 0;
  if (!record && started_ && !other && (partition_index == 0 || partition_index == partitions_->currentIndex())) {
    pending_.reset();
    return;
  }
  if (partition_index < partitions_->count()) {
    partitions_->setCurrentIndex(partition_index);
  }
  if (record) {
    setTail(false);
    from_->setCurrent(2);
    offset_->setText(QString::number(wanted.offset));
    offset_->show();
    time_->hide();
  } else {
    pending_.reset();
    from_->setCurrent(0);
    offset_->hide();
    time_->hide();
  }
  restart();
}

bool MessagesPage::atEnd() const {
  const QScrollBar* bar = table_->verticalScrollBar();
  return bar->value() >= bar->maximum() - 1;
}

void MessagesPage::onRows(const std::vector<RecordRow>& rows, bool above) {
  QScrollBar* bar = table_->verticalScrollBar();
  const bool end = atEnd();
  const bool first = model_->rowCount() == 0;
  const int before = bar->value();
  const std::int64_t dropped = model_->dropped();
  if (above) {
    model_->prepend(rows);
    bar->setValue(before + static_cast<int>(rows.size()));  // what was under the pointer stays there
  } else {
    model_->append(rows);
    const auto gone = static_cast<int>(model_->dropped() - dropped);
    const bool follow = tail_ && from_->current() == 0 && (first || (end && !pointer_inside_));
    if (follow) {
      table_->scrollToBottom();
    } else {
      if (gone > 0) {
        bar->setValue(std::max(0, before - gone));
      }
      if (tail_ && !first) {
        unseen_ += static_cast<std::int64_t>(rows.size());
        pill_->setText(tr("%1 new").arg(format_count(unseen_)));
        placePill();
        pill_->show();
      }
    }
  }
  hint_->hide();
  refreshState();
}

void MessagesPage::onScroll(int value) {
  const QScrollBar* bar = table_->verticalScrollBar();
  if (atEnd()) {
    unseen_ = 0;
    pill_->hide();
    if (!tail_ && model_->rowCount() > 0 && static_cast<std::size_t>(model_->rowCount()) < RecordModel::kMaxRows) {
      feed_->more();
    }
  }
  if (value <= 2 && bar->maximum() > 0 && model_->dropped() == 0 && feed_->canGoEarlier() &&
      static_cast<std::size_t>(model_->rowCount() + RecordFeed::kPage) < RecordModel::kMaxRows) {
    feed_->earlier();
  }
}

void MessagesPage::onCurrent() {
  const QModelIndex index = table_->currentIndex();
  if (!index.isValid()) {
    return;
  }
  const RecordRow& row = model_->row(index.row());
  detail_->show(topic(), session()->bootstrap(), partitionsOfTopic(), row);
  if (!selecting_) {
    Q_EMIT selectionRequested(Selection::ofRecord(topic(), row.partition, row.offset));
  }
}

void MessagesPage::refreshState() {
  QStringList parts;
  parts << (model_->rowCount() == 1 ? tr("1 record") : tr("%1 records").arg(format_count(model_->rowCount())));
  if (feed_->skipped() > 0) {
    parts << tr("%1 skipped while tailing").arg(format_count(feed_->skipped()));
  }
  if (feed_->partial()) {
    parts << tr("first %1 partitions").arg(RecordFeed::kMaxPartitions);
  }
  header()->setCount(width() > Theme::current().px(820) || parts.size() > 1 ? parts.join(QStringLiteral(" · ")) : QString());
  if (model_->rowCount() == 0 && !feed_->busy()) {
    hint_->setText(from_->current() == 0 || from_->current() == 1
                       ? tr("Nothing here yet. The next record appears as it arrives.")
                       : tr("No records from there on."));
    hint_->setGeometry(0, table_->height() / 2 - 20, table_->width(), 40);
    hint_->show();
  } else {
    hint_->hide();
  }
}

void MessagesPage::placePill() {
  pill_->adjustSize();
  pill_->move((table_->width() - pill_->width()) / 2, table_->height() - pill_->height() - Theme::current().px(10));
  pill_->raise();
}

void MessagesPage::resizeEvent(QResizeEvent* event) {
  Page::resizeEvent(event);
  placePill();
}

bool MessagesPage::eventFilter(QObject* object, QEvent* event) {
  if (object == table_->viewport()) {
    if (event->type() == QEvent::Enter) {
      pointer_inside_ = true;
    } else if (event->type() == QEvent::Leave) {
      pointer_inside_ = false;
      if (unseen_ == 0 && tail_) {
        table_->scrollToBottom();
      }
    }
  }
  return Page::eventFilter(object, event);
}

}  // namespace hw::ui
