// SPDX-License-Identifier: Apache-2.0
#include "ui/views/messages_page.h"

#include <QComboBox>
#include <QDateTimeEdit>
#include <QEvent>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLineEdit>
#include <QPainter>
#include <QResizeEvent>
#include <QScrollBar>
#include <QSplitter>
#include <QTableView>
#include <QTreeWidget>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/filter/filter_box.h"
#include "ui/painting/text.h"
#include "ui/views/pane.h"
#include "ui/views/record_detail.h"
#include "ui/views/record_model.h"
#include "ui/views/table_notice.h"
#include "ui/views/table_setup.h"
#include "ui/views/volume_strip.h"
#include "ui/window/controls.h"

namespace hw::ui {

MessagesPage::MessagesPage(QWidget* parent)
    : Page({QStringLiteral("messages"), tr("Messages"), QStringLiteral("messages"), QKeySequence(Qt::Key_3), tr("Observe")},
           parent) {
  buildHeader();
  auto* body = new Pane(this);
  auto* column = new QVBoxLayout(body);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  buildFilterRow(body);
  volume_ = new VolumeStrip(body);
  column->addWidget(volume_);
  buildTable(body);
  setContent(body);
  setFocusProxy(table_);
  feed_ = new RecordFeed(this);
  connectAll();
  loadView();
  setTail(true);
}

void MessagesPage::setFrom(RecordFeed::From from) {
  using From = RecordFeed::From;
  // Another place ended the tail; the newest are those of now again.
  const bool back = from == From::newest && from_->current() != static_cast<int>(From::newest);
  from_->setCurrent(static_cast<int>(from));
  offset_->setVisible(from == From::offset);
  time_->setVisible(from == From::time);
  groups_->setVisible(from == From::group);
  if (from == From::offset) {
    offset_->setFocus();
  }
  if (from != From::newest || back) {
    setTail(back);
  }
  if (from == From::group) {
    refreshGroups();
  }
  restart();  // without an offset from the first one on
}

void MessagesPage::setIsolation(Isolation isolation) {
  isolation_ = isolation;
  isolation_control_->setCurrent(static_cast<int>(isolation));
  restart();
}

QString MessagesPage::topic() const { return topics_->currentText(); }

std::int32_t MessagesPage::partition() const {
  return partitions_->currentIndex() <= 0 ? -1 : partitions_->currentIndex() - 1;
}

std::int32_t MessagesPage::partitionsOfTopic() const {
  const observe::ViewPtr now = session() != nullptr ? session()->view() : nullptr;
  const observe::TopicView* t = now ? now->find_topic(topic().toStdString()) : nullptr;
  return t == nullptr ? 0 : static_cast<std::int32_t>(t->partitions.size());
}

void MessagesPage::attach(Session* session) {
  Page::attach(session);
  feed_->setSession(session);
  detail_->setReader(session->batches());
  volume_->setVisible(session->batches() != nullptr);
  (void)RecordJournal::of(session);  // it sees what happens from now on
  refreshTopics();
}

void MessagesPage::setWidthClass(int width_class) {
  width_class_ = width_class;
  // The value has what the others can spare.
  const Theme& t = Theme::current();
  const bool tight = width() < t.px(760);  // a large scale, or presenting
  table_->setColumnWidth(RecordModel::kHeaders, t.px(width_class > 0 ? 260 : tight ? 68 : 84));
  table_->setColumnWidth(RecordModel::kKey, t.px(tight ? 116 : width_class > 0 ? 180 : 124));
  table_->setColumnWidth(RecordModel::kFlags, t.px(width_class > 0 ? 124 : 96));
}

bool MessagesPage::focusFilter() {
  filter_->focusText();
  return true;
}

bool MessagesPage::applyFilter(const QString& text) {
  filter_->setText(text);
  return true;
}

bool MessagesPage::exportView() {
  exportDialog();
  return true;
}

void MessagesPage::setTail(bool on) {
  tail_ = on;
  tail_button_->setChecked(on);
  tail_button_->setIconName(on ? QStringLiteral("pause") : QStringLiteral("play"));
  tail_button_->setName(on ? tr("Tailing: new records appear. Press to stop") : tr("Tail: show new records as they arrive"));
}

void MessagesPage::refreshTopics() {
  const observe::ViewPtr now = session()->view();
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
  notice.text = tr("Records are listed here as they arrive. They are kept in topics, and there is none yet.");
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
  notice.command_hint = tr("or send something yourself");
  notice.command_line = QStringLiteral("echo hello | kcat -b %1 -P -t orders").arg(session()->bootstrap());
  showNotice(notice);
}

void MessagesPage::refreshGroups() {
  const observe::ViewPtr now = session()->view();
  QStringList names;
  for (const auto& [id, group] : *now->groups) {
    const bool reads = std::any_of(group->committed.begin(), group->committed.end(),
                                   [this](const auto& c) { return c.topic == topic().toStdString(); });
    if (reads) {
      names << QString::fromStdString(id);
    }
  }
  const QString current = groups_->currentText();
  const QSignalBlocker block(groups_);
  groups_->clear();
  groups_->addItems(names);
  groups_->setCurrentIndex(std::max(0, groups_->findText(current)));
}

void MessagesPage::restart() {
  if (session() == nullptr || topic().isEmpty()) {
    return;
  }
  started_ = true;
  topics_->setMinimumContentsLength(static_cast<int>(std::clamp<qsizetype>(topic().size(), 12, 34)));
  topics_->setToolTip(topic());
  failure_.clear();
  notice_->hide();
  waiting_.start();
  if (from_->current() == static_cast<int>(RecordFeed::From::group)) {
    const observe::GroupView* group = session()->view()->find_group(groups_->currentText().toStdString());
    std::map<std::int32_t, std::int64_t> offsets;
    if (group != nullptr) {
      for (const observe::GroupView::Committed& c : group->committed) {
        if (c.topic == topic().toStdString() && c.counters != nullptr && c.counters->offset.get() >= 0) {
          offsets[c.partition.value()] = c.counters->offset.get();
        }
      }
    }
    feed_->setGroupOffsets(std::move(offsets));
  }
  if (scanning()) {
    feed_->stop();
    restartScan();
  } else {
    scan_.cancel();
    behind_.cancel();
    filter_->setCounts({});
    restartFeed();
  }
  sampleVolume();
}

void MessagesPage::restartFeed() {
  std::vector<std::int32_t> chosen;
  if (partition() >= 0) {
    chosen.push_back(partition());
  }
  std::int64_t value = 0;
  if (from_->current() == static_cast<int>(RecordFeed::From::offset)) {
    value = offset_->text().toLongLong();
  } else if (from_->current() == static_cast<int>(RecordFeed::From::time)) {
    value = time_->dateTime().toMSecsSinceEpoch();
  }
  feed_->setIsolation(isolation_);
  feed_->start(topic(), std::move(chosen), static_cast<RecordFeed::From>(from_->current()), value);
}

void MessagesPage::onPageDone() {
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
    if (from_->current() == 0 && model_->order() == RecordModel::Order::as_read) {
      table_->scrollToBottom();
    }
    selecting_ = false;
  }
}

void MessagesPage::frame() {
  refreshTopics();
  if (!started_) {
    restart();
    return;
  }
  if (scanning()) {
    pollScan();
  } else if (tail_ || (model_->rowCount() == 0 && from_->current() <= 1 && failure_.isEmpty())) {
    feed_->poll();  // an empty list waits for its first record, as it says
  }
  removeDeleted();
  if (newer_ != newerWait()) {
    refreshState();
  }
  constexpr qint64 kHistoryEveryMs = 1'000;
  if (history_at_.isValid() && history_at_.elapsed() >= kHistoryEveryMs) {
    refreshHistory();
  }
  constexpr qint64 kSampleEveryMs = 3'000;
  if (!sampled_at_.isValid() || sampled_at_.elapsed() >= kSampleEveryMs) {
    refreshState();  // of how many: it grows, also where nothing is read on
    sampleVolume();
  }
}

void MessagesPage::hideEvent(QHideEvent* event) {
  Page::hideEvent(event);
  saveView();
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
  expected_.reset();
  if (arrivesByItself(selection)) {
    expected_ = selection;
    return;
  }
  pending_ = selection;
  if (isVisible()) {
    jumpTo(selection);
  }
}

// A record that was just produced is on its way to the tail: neither filter nor place in the list is given up for it.
bool MessagesPage::arrivesByItself(const Selection& selection) const {
  if (selection.kind != Selection::Kind::record || selection.topic != topic() || !tail_ || !started_ || !isVisible() ||
      model_->rowCount() == 0 || (partition() >= 0 && partition() != selection.partition)) {
    return false;
  }
  if (scanning()) {
    // Younger than the scan: judged already, or soon.
    return std::any_of(scan_began_.begin(), scan_began_.end(), [&](const ScanPart& p) {
      return p.partition == selection.partition && selection.offset >= p.to;
    });
  }
  for (int i = model_->rowCount() - 1; i >= 0; --i) {
    if (model_->row(i).partition == selection.partition) {
      return selection.offset > model_->row(i).offset;
    }
  }
  return from_->current() == static_cast<int>(RecordFeed::From::newest) && feed_->follows(selection.partition, selection.offset);
}

void MessagesPage::jumpTo(const Selection& wanted) {
  refreshTopics();  // it may be younger than the last frame
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
  if (record && scanning()) {
    // It may be one that the filter hides.
    const QSignalBlocker block(filter_);
    filter_->setText({});
    latest_per_key_ = false;
  }
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
  } else {
    pending_.reset();
    if (from_->current() != static_cast<int>(RecordFeed::From::newest)) {
      setTail(true);  // it was ended by the place that was looked at, which is left
    }
    from_->setCurrent(0);
    offset_->hide();
  }
  time_->hide();
  groups_->hide();
  restart();
}

bool MessagesPage::atEnd() const {
  const QScrollBar* bar = table_->verticalScrollBar();
  return bar->value() >= bar->maximum() - 1;
}

// Whether older rows may still come in: those that left the full list would be a gap.
bool MessagesPage::roomAbove() const {
  return model_->dropped() == 0 &&
         static_cast<std::size_t>(model_->rowCount() + RecordFeed::kPage) < RecordModel::kMaxRows;
}

bool MessagesPage::roomBelow() const {
  return static_cast<std::size_t>(model_->rowCount()) < RecordModel::kMaxRows;
}

// Records behind the list that come in when somebody scrolls there; to a tail they come by themselves.
bool MessagesPage::newerWait() const {
  return !scanning() && !tail_ && model_->rowCount() > 0 && feed_->canGoLater();
}

void MessagesPage::readOn() {
  if (newerWait() && roomBelow()) {
    feed_->more();
  }
}

void MessagesPage::onRows(const std::vector<RecordRow>& rows, bool above) {
  QScrollBar* bar = table_->verticalScrollBar();
  const bool end = atEnd();
  const bool first = model_->rowCount() == 0;
  const int before = bar->value();
  const std::int64_t dropped = model_->dropped();
  if (first) {
    lowest_.clear();
  }
  for (const RecordRow& row : rows) {
    std::int64_t& lowest = lowest_.try_emplace(row.partition, row.offset).first->second;
    lowest = std::min(lowest, row.offset);
  }
  if (model_->order() != RecordModel::Order::as_read) {
    insertOrdered(rows, above, first);
  } else if (above) {
    model_->prepend(rows);
    if (first || (end && scanning())) {
      table_->scrollToBottom();
    } else {
      // What was under the pointer stays there. Not through the bar: its range follows later.
      table_->scrollTo(model_->index(before + static_cast<int>(rows.size()), 0), QAbstractItemView::PositionAtTop);
    }
  } else {
    model_->append(rows);
    const auto gone = static_cast<int>(model_->dropped() - dropped);
    const bool follow = tail_ && (scanning() || from_->current() == 0) && (first || (end && !pointer_inside_));
    if (follow) {
      table_->scrollToBottom();
    } else {
      if (gone > 0) {
        bar->setValue(std::max(0, before - gone));
      }
      if (tail_ && !first) {
        unseen_ += static_cast<std::int64_t>(rows.size());
        pill_->setText(tr("+ %1 new").arg(format_count(unseen_)));
        placePill();
        pill_->show();
      }
    }
  }
  if (expected_) {
    if (const int row = model_->find(expected_->partition, expected_->offset); row >= 0) {
      expected_.reset();
      selecting_ = true;
      table_->selectRow(row);
      selecting_ = false;
    }
  }
  refreshState();
}

// In a chosen order rows come in anywhere. What is at the top of the view stays there, but for whoever watches the end that grows.
void MessagesPage::insertOrdered(const std::vector<RecordRow>& rows, bool above, bool first) {
  using Order = RecordModel::Order;
  QScrollBar* bar = table_->verticalScrollBar();
  const bool newest_first = model_->order() == Order::newest_first;
  const bool watching = newest_first ? bar->value() <= 1 : atEnd();
  const QPersistentModelIndex top = first ? QModelIndex() : model_->index(bar->value(), 0);
  if (above) {
    model_->prepend(rows);
  } else {
    model_->append(rows);
  }
  const bool follow = tail_ && !above && model_->order() != Order::per_partition && (scanning() || from_->current() == 0) &&
                      (first || (watching && !pointer_inside_));
  if (follow || first) {
    newest_first ? table_->scrollToTop() : table_->scrollToBottom();
    if (first && !newest_first && model_->order() == Order::per_partition) {
      table_->scrollToTop();
    }
    return;
  }
  if (top.isValid()) {
    table_->scrollTo(top, QAbstractItemView::PositionAtTop);
  }
  if (tail_ && !above) {
    unseen_ += static_cast<std::int64_t>(rows.size());
    pill_->setText(tr("+ %1 new").arg(format_count(unseen_)));
    placePill();
    pill_->show();
  }
}

// Records that somebody, or retention, deleted while they were listed.
void MessagesPage::removeDeleted() {
  const observe::ViewPtr now = session()->view();
  const observe::TopicView* t = now->find_topic(topic().toStdString());
  if (t == nullptr || model_->rowCount() == 0) {
    lowest_.clear();
    return;
  }
  int gone = 0;
  for (auto& [partition, lowest] : lowest_) {
    const auto index = static_cast<std::size_t>(partition);
    const auto* p = index < t->partitions.size() ? t->partitions[index].get() : nullptr;
    const event::ReplicaCounters* c = p == nullptr ? nullptr : p->leader_counters();
    if (const std::int64_t start = c == nullptr ? 0 : c->log_start_offset.get(); start > lowest) {
      lowest = start;
      gone += model_->removeBefore(partition, start);
    }
  }
  if (gone > 0) {
    if (model_->rowCount() == 0) {
      detail_->clear();
    }
    refreshState();
  }
}

void MessagesPage::onScroll(int value) {
  const QScrollBar* bar = table_->verticalScrollBar();
  if (atEnd()) {
    if (model_->order() != RecordModel::Order::newest_first) {
      unseen_ = 0;
      pill_->hide();
    }
    if (model_->order() != RecordModel::Order::newest_first) {
      readOn();
    }
  }
  if (model_->order() == RecordModel::Order::newest_first) {
    if (value <= 1) {
      unseen_ = 0;
      pill_->hide();
      readOn();  // newer ones are above here
    }
    if (!scanning() && atEnd() && bar->maximum() > 0 && roomAbove() && feed_->canGoEarlier()) {
      feed_->earlier();  // older ones are below here
    }
  }
  // A range as long as all rows is that of the list before: nobody scrolled.
  if (!scanning() && value <= 2 && model_->order() != RecordModel::Order::newest_first &&
      bar->maximum() > 0 && bar->maximum() < model_->rowCount() && roomAbove() &&
      feed_->canGoEarlier()) {
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
  refreshHistory();
  if (!selecting_) {
    Q_EMIT selectionRequested(Selection::ofRecord(topic(), row.partition, row.offset));
  }
}

void MessagesPage::refreshHistory() {
  if (detail_->row()) {
    history_at_.start();
    detail_->setHistory(record_history(*session()->view(), *RecordJournal::of(session()), topic(), *detail_->row()));
  }
}

// Offsets of the partitions that the list is of. Fewer of a compacted topic are records.
std::int64_t MessagesPage::held() const {
  const observe::ViewPtr now = session()->view();
  const observe::TopicView* t = now->find_topic(topic().toStdString());
  std::int64_t sum = 0;
  for (std::size_t i = 0; t != nullptr && i < t->partitions.size(); ++i) {
    const event::ReplicaCounters* c = t->partitions[i] == nullptr ? nullptr : t->partitions[i]->leader_counters();
    if (c != nullptr && (partition() < 0 || static_cast<std::size_t>(partition()) == i)) {
      sum += c->high_watermark.get() - c->log_start_offset.get();
    }
  }
  return sum;
}

void MessagesPage::refreshState() {
  constexpr qint64 kExportToldMs = 6'000;
  if (export_told_.isValid() && export_told_.elapsed() < kExportToldMs && !export_.running()) {
    return;
  }
  export_told_.invalidate();
  QStringList parts;
  if (export_.running()) {
    parts << tr("exporting, %1 %").arg(export_.progress().percent());
  } else if (scanning() && !scan_.running() && started_ && scan_.progress().offsets_total > 0) {
    const ScanProgress& p = scan_.progress();
    if (latest_per_key_) {
      parts << tr("%1 keys").arg(format_count(p.keys)) + (p.keys_cut ? tr(", not all") : QString());
    }
    if (const std::int64_t more = not_listed_ + (latest_per_key_ ? 0 : p.hits - p.kept); more > 0) {
      parts << tr("%1 not listed").arg(format_count(more));
    }
    parts << tr("scanned %1 % in %2").arg(p.percent()).arg(format_duration(p.elapsed_ms));
  } else if (!scanning()) {
    const bool more = feed_->canGoEarlier() || newerWait();
    parts << (more ? tr("%1 of %2 records").arg(format_count(model_->rowCount()), format_count(std::max<std::int64_t>(model_->rowCount(), held())))
              : model_->rowCount() == 1 ? tr("1 record")
                                        : tr("%1 records").arg(format_count(model_->rowCount())));
    if (feed_->canGoEarlier()) {
      parts << (!roomAbove()                                          ? tr("older ones not listed")
                : model_->order() == RecordModel::Order::newest_first ? tr("older ones below")
                                                                      : tr("older ones above"));
    }
    if (newer_ = newerWait(); newer_) {
      parts << (!roomBelow()                                          ? tr("newer ones not listed")
                : model_->order() == RecordModel::Order::newest_first ? tr("newer ones above")
                                                                      : tr("newer ones below"));
    }
    if (const int count = feed_->unreadable(); count > 0) {
      parts << tr("%Ln partition(s) cannot be read", nullptr, count);
    }
    if (feed_->skipped() > 0) {
      parts << tr("%1 skipped while tailing").arg(format_count(feed_->skipped()));
    }
  }
  sayPartial();
  note_->setText(parts.join(QStringLiteral(" \u00b7 ")));
  // Rows that were left out are said wherever the list is shown.
  note_->setVisible(!parts.isEmpty() && (width() > Theme::current().px(760) || export_.running() ||
                                         (!scanning() && feed_->skipped() > 0)));
  export_button_->setText(export_.running() ? tr("Cancel export") : tr("Export"));
  export_button_->updateGeometry();
  const bool busy = scanning() ? scan_.running() : feed_->busy();
  if (scanning() && started_ && session()->batches() == nullptr) {
    notice_->show({.title = tr("Filters are not available here"),
                   .text = tr("A filter needs the stored batches, which a cluster outside this program does not hand out; the embedded engine does."),
                   .action = tr("Clear the filter"),
                   .run = [this] { filter_->setText({}); }});
  } else if (!failure_.isEmpty() && model_->rowCount() == 0) {
    notice_->show({.title = tr("The records cannot be read"),
                   .text = failure_,
                   .failed = true,
                   .action = tr("Try again"),
                   .run = [this] { restart(); },
                   .second = tr("Copy details"),
                   .run_second = [this] { copy(QStringLiteral("%1: %2").arg(topic(), failure_)); }});
  } else if (model_->rowCount() == 0 && busy && !waiting_.isActive()) {
    const std::int64_t left = scanning() ? 0 : feed_->left();
    notice_->show(
        {.title = tr("Reading…"),
         .text = left > 0 ? tr("%1 partitions have not answered yet.").arg(format_count(left)) : tr("The first records are on their way.")});
  } else if (model_->rowCount() > 0 || busy || !started_) {
    notice_->hide();
  } else if (filter_->filtering()) {
    notice_->show({.title = tr("The filter hides everything"),
                   .text = tr("0 of %1 records match %2").arg(format_count(scan_.progress().records + behind_records_), filter_->appliedText()),
                   .action = tr("Clear the filter"),
                   .run = [this] { filter_->setText({}); }});
  } else {
    const bool begin = from_->current() <= 1;
    const bool group = from_->current() == static_cast<int>(RecordFeed::From::group) && groups_->currentIndex() >= 0;
    notice_->show({.title = begin ? tr("Nothing here yet") : tr("No records from there on"),
                   .text = begin   ? tr("The next record of this topic appears as it arrives.")
                           : group ? tr("The group %1 has nothing left to read here.").arg(groups_->currentText())
                                   : QString(),
                   .action = begin ? tr("Produce a record") : tr("Show the newest"),
                   .run = [this, begin] {
                     if (begin) {
                       Q_EMIT commandRequested(QStringLiteral("produce.open"), {});
                     } else {
                       setFrom(RecordFeed::From::newest);
                     }
                   }});
  }
}

// At every width: a list that lacks partitions looks like one of all.
void MessagesPage::sayPartial() {
  const bool partial = !scanning() && feed_->partial() && feed_->partitions() > 0;
  const QString all = partial ? tr("%1 of %2").arg(format_count(static_cast<std::int64_t>(feed_->partitions())), format_count(partitionsOfTopic()))
                              : tr("all partitions");
  if (partitions_->itemText(0) != all) {
    partitions_->setItemText(0, all);
  }
  QString words;
  if (partial) {
    using From = RecordFeed::From;
    const auto from = static_cast<From>(from_->current());
    const bool asked = session()->batches() != nullptr;
    words = (from == From::newest && asked   ? tr("Read: the %1 of %2 partitions that were written to last.")
             : from == From::oldest && asked ? tr("Read: the %1 of %2 partitions with the oldest records.")
                                             : tr("Read: %1 of %2 partitions."))
                .arg(format_count(static_cast<std::int64_t>(feed_->partitions())), format_count(partitionsOfTopic()));
    words += QLatin1Char(' ') + (from == From::newest && tail_
                                     ? tr("Others come in as they are written to. For more choose a partition above, or filter: a filter reads all.")
                                     : tr("For more choose a partition above, or filter: a filter reads all."));
  }
  partial_->setText(words);
  partial_->setVisible(partial);
}

QString MessagesPage::noteText() const { return note_->text(); }

void MessagesPage::placePill() {
  pill_->adjustSize();
  pill_->move((table_->width() - pill_->width()) / 2, table_->height() - pill_->height() - Theme::current().px(10));
  pill_->raise();
}

void MessagesPage::resizeEvent(QResizeEvent* event) {
  Page::resizeEvent(event);
  const int tight = Theme::current().px(760);
  if ((width() < tight) != (event->oldSize().width() < tight)) {
    setWidthClass(width_class_);
  }
  partitions_->setFixedWidth(Theme::current().px(width() < tight ? 112 : 118));
  from_label_->setVisible(width() > Theme::current().px(900));
  isolation_label_->setVisible(width() > Theme::current().px(900));
  // Where not all fits, where the list begins is asked more often; the menu has the other.
  isolation_control_->setVisible(width() > Theme::current().px(820));
  // In a low page the records come before their volume.
  volume_->setVisible(session() != nullptr && session()->batches() != nullptr && height() >= Theme::current().px(330));
  placePill();
}

bool MessagesPage::eventFilter(QObject* object, QEvent* event) {
  if (object == table_ && event->type() == QEvent::KeyPress) {
    const int key = static_cast<QKeyEvent*>(event)->key();
    if (key == Qt::Key_Escape && selection().none() && filter_->filtering()) {
      filter_->setText({});
      return true;
    }
    if (key == Qt::Key_Return || key == Qt::Key_Enter) {
      detail_->tree()->setFocus();  // the record is open below
      return true;
    }
  }
  if (object == table_->viewport()) {
    if (event->type() == QEvent::Enter) {
      pointer_inside_ = true;
    } else if (event->type() == QEvent::Leave) {
      pointer_inside_ = false;
      if (unseen_ == 0 && tail_) {
        table_->scrollToBottom();
      }
    } else if (event->type() == QEvent::Resize && model_->rowCount() > 0) {
      // What is shown below stays in sight here when the room shrinks; a tail that follows its end goes on doing so.
      const bool follows = tail_ && model_->order() != RecordModel::Order::newest_first;
      const QModelIndex kept = follows ? model_->index(model_->rowCount() - 1, 0) : table_->currentIndex();
      const int top = kept.isValid() ? table_->visualRect(kept).top() : -1;
      if (top >= 0 && top < static_cast<QResizeEvent*>(event)->oldSize().height()) {
        QMetaObject::invokeMethod(this, [this, follows] { follows ? table_->scrollToBottom() : table_->scrollTo(table_->currentIndex()); }, Qt::QueuedConnection);
      }
    }
  }
  return Page::eventFilter(object, event);
}

}  // namespace hw::ui
