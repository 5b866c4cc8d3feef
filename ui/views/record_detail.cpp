// SPDX-License-Identifier: Apache-2.0
#include "ui/views/record_detail.h"

#include <QDesktopServices>
#include <QDir>
#include <QFile>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QPlainTextEdit>
#include <QSplitter>
#include <QStackedWidget>
#include <QStandardPaths>
#include <QTreeWidget>
#include <QTreeWidgetItemIterator>
#include <QUrl>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/painting/shapes.h"
#include "ui/painting/text.h"
#include "ui/theme/theme.h"
#include "ui/views/hex_view.h"
#include "ui/views/pane.h"
#include "ui/views/partition_choice.h"
#include "ui/views/record_text.h"
#include "ui/window/controls.h"

namespace hw::ui {

namespace {

using Kind = BytesField::Kind;

enum Role : int { kBegin = Qt::UserRole + 1, kEnd, kInRecords, kStructBegin, kStructEnd, kKind };

QWidget* heading(const QString& text, TextLabel*& note, QWidget* parent, std::initializer_list<QWidget*> right) {
  const Theme& theme = Theme::current();
  auto* bar = new Pane(parent);
  bar->setFixedHeight(theme.px(34));
  auto* row = new QHBoxLayout(bar);
  row->setContentsMargins(theme.px(Metrics::kPagePadding), 0, theme.px(8), 0);
  row->setSpacing(theme.px(8));
  row->addWidget(new TextLabel(text, FontRole::section_label, TextLabel::Tone::text2, bar));
  note = new TextLabel({}, FontRole::small_data, TextLabel::Tone::text2, bar);
  note->setMinimumWidth(0);
  note->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  row->addWidget(note, 1);
  for (QWidget* widget : right) {
    widget->setParent(bar);
    row->addWidget(widget);
  }
  return bar;
}

// A line of 64 KiB takes seconds to lay out; in pieces only what is visible is laid out.
QString in_short_lines(const QString& text) {
  constexpr qsizetype kLongest = 2'000;
  QString out;
  qsizetype line = 0;
  for (qsizetype from = 0; from < text.size();) {
    const qsizetype end = text.indexOf(QLatin1Char('\n'), from);
    line = (end < 0 ? text.size() : end) - from;
    const qsizetype piece = std::min(line, kLongest);
    out += QStringView(text).mid(from, piece);
    from += piece;
    if (piece == line && end >= 0) {
      ++from;
    }
    if (from < text.size() || (piece == line && end >= 0)) {
      out += QLatin1Char('\n');
    }
  }
  return out;
}

const BytesField* child(const BytesField* field, Kind kind) {
  if (field == nullptr) {
    return nullptr;
  }
  const auto at = std::find_if(field->children.begin(), field->children.end(), [kind](const BytesField& f) { return f.kind == kind; });
  return at == field->children.end() ? nullptr : &*at;
}

}  // namespace

RecordDetail::RecordDetail(QWidget* parent) : QWidget(parent) {
  const Theme& theme = Theme::current();
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(new Line(Qt::Horizontal, true, this));
  auto* split = new QSplitter(Qt::Horizontal, this);
  split->setChildrenCollapsible(false);
  split->setHandleWidth(1);
  column->addWidget(split, 1);
  auto* left = new Pane(split);
  auto* left_rows = new QVBoxLayout(left);
  left_rows->setContentsMargins(0, 0, 0, 0);
  left_rows->setSpacing(0);
  resend_ = new Button(Button::Kind::quiet, QStringLiteral("edit"), {}, left);
  resend_->setObjectName(QStringLiteral("resend"));
  resend_->setName(tr("Edit and resend"));
  copy_ = new Button(Button::Kind::quiet, QStringLiteral("copy"), {}, left);
  copy_->setName(tr("Copy as"));
  copy_->setMenuArrow(true);
  left_rows->addWidget(heading(tr("Batch and record"), tree_note_, left, {resend_, copy_}));
  left_rows->addWidget(new Line(Qt::Horizontal, false, left));
  tree_ = new QTreeWidget(left);
  tree_->setAccessibleName(tr("Batch and record"));
  tree_->setColumnCount(2);
  tree_->setHeaderHidden(true);
  tree_->setFrameShape(QFrame::NoFrame);
  tree_->setUniformRowHeights(true);
  tree_->setIndentation(theme.px(16));
  tree_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  // Stretched by its mode: a last section that is merely stretched stays too wide where the first one shrinks out of sight.
  tree_->header()->setStretchLastSection(false);
  tree_->header()->setSectionResizeMode(1, QHeaderView::Stretch);
  left_rows->addWidget(tree_, 1);
  auto* right = new Pane(split);
  auto* right_rows = new QVBoxLayout(right);
  right_rows->setContentsMargins(0, 0, 0, 0);
  right_rows->setSpacing(0);
  open_ = new Button(Button::Kind::quiet, QStringLiteral("link"), tr("Open"), right);
  open_->setName(tr("Write the whole value to a file and open it"));
  open_->hide();
  form_control_ = new SegmentedControl({tr("batch"), tr("decompressed"), tr("value")}, right);
  form_control_->setAccessibleDescription(tr("What is shown: the batch as stored, its records decompressed, or the value as text"));
  form_control_plain_ = new SegmentedControl({tr("batch"), tr("value")}, right);
  form_control_plain_->setAccessibleDescription(tr("What is shown: the batch as stored, or the value as text"));
  form_control_->hide();
  right_rows->addWidget(heading(tr("Bytes"), bytes_note_, right, {open_, form_control_, form_control_plain_}));
  right_rows->addWidget(new Line(Qt::Horizontal, false, right));
  right_ = new QStackedWidget(right);
  hex_ = new HexView(right_);
  right_->addWidget(hex_);
  text_ = new QPlainTextEdit(right_);
  text_->setReadOnly(true);
  text_->setFrameShape(QFrame::NoFrame);
  text_->setAccessibleName(tr("Value as text"));
  right_->addWidget(text_);
  right_rows->addWidget(right_, 1);
  split->addWidget(left);
  split->addWidget(right);
  split->setStretchFactor(0, 2);
  split->setStretchFactor(1, 3);

  connect(form_control_, &SegmentedControl::activated, this, [this](int index) { setForm(static_cast<Form>(index)); });
  connect(form_control_plain_, &SegmentedControl::activated, this, [this](int index) { setForm(index == 0 ? Form::stored : Form::value); });
  connect(tree_, &QTreeWidget::currentItemChanged, this, [this](QTreeWidgetItem* now) { onItem(now); });
  connect(tree_, &QTreeWidget::itemExpanded, this, [this](QTreeWidgetItem* item) {
    if (item == tree_->topLevelItem(0)) {
      batch_open_ = true;
    } else if (item == history_item_) {
      history_open_ = true;
    }
  });
  connect(tree_, &QTreeWidget::itemCollapsed, this, [this](QTreeWidgetItem* item) {
    if (item == tree_->topLevelItem(0)) {
      batch_open_ = false;
    } else if (item == history_item_) {
      history_open_ = false;
    }
  });
  connect(hex_, &HexView::byteClicked, this, &RecordDetail::onByte);
  connect(open_, &QAbstractButton::clicked, this, &RecordDetail::openValue);
  connect(copy_, &QAbstractButton::clicked, this, [this] {
    if (row_) {
      Q_EMIT copyMenuRequested(copy_->mapToGlobal(QPoint(0, copy_->height())));
    }
  });
  connect(resend_, &QAbstractButton::clicked, this, [this] {
    if (row_) {
      Q_EMIT resendRequested(shown());
    }
  });
  const auto fonts = [this] {
    const Theme& t = Theme::current();
    tree_->setFont(t.font(FontRole::control));
    text_->setFont(t.font(FontRole::data));
    tree_->setIndentation(t.px(16));
    tree_->setColumnWidth(0, t.px(148));
    if (row_) {
      build();
    }
  };
  fonts();
  connect(&Theme::current(), &Theme::changed, this, fonts);
  clear();
}

void RecordDetail::clear() {
  ++asked_;
  row_.reset();
  resend_->setEnabled(false);
  copy_->setEnabled(false);
  anatomy_.reset();
  history_item_ = nullptr;
  history_.clear();
  tree_->clear();
  hex_->setBytes({});
  hex_->setPlaceholder(tr("Select a record: its batch is shown byte by byte."));
  text_->clear();
  open_->hide();
  tree_note_->setText({});
  bytes_note_->setText({});
}

void RecordDetail::setUtc(bool utc) {
  if (utc != utc_) {
    utc_ = utc;
    if (row_) {
      build();
    }
  }
}

const RecordRow& RecordDetail::shown() const { return anatomy_ != nullptr && anatomy_->found ? anatomy_->row : *row_; }

void RecordDetail::show(const QString& topic, const QString& bootstrap, std::int32_t partitions, const RecordRow& row) {
  const bool same_batch = row_ && anatomy_ != nullptr && anatomy_->found && topic == topic_ && row.partition == row_->partition &&
                          row.offset == row_->offset;
  topic_ = topic;
  bootstrap_ = bootstrap;
  partitions_ = partitions;
  row_ = row;
  tree_note_->setText(QStringLiteral("%1@%2").arg(row.partition).arg(row.offset));
  if (same_batch) {
    return;
  }
  resend_->setEnabled(true);
  copy_->setEnabled(true);
  anatomy_.reset();
  history_.clear();
  text_made_ = false;
  hex_->setBytes({});
  hex_->setPlaceholder(reader_ != nullptr ? QString() : tr("A real broker does not show its stored batches; the embedded engine does."));
  build();
  const std::uint64_t asked = ++asked_;
  if (reader_ != nullptr) {
    read_anatomy(reader_, topic.toStdString(), row.partition, row.offset, this, [this, asked](const BatchAnatomyPtr& anatomy) {
      if (asked == asked_) {
        setAnatomy(anatomy);
      }
    });
  }
}

void RecordDetail::setAnatomy(const BatchAnatomyPtr& anatomy) {
  anatomy_ = anatomy;
  text_made_ = false;
  build();
}

void RecordDetail::setHistory(const std::vector<HistoryStep>& steps) {
  if (!row_ || steps == history_) {
    return;
  }
  history_ = steps;
  const QSignalBlocker block(tree_);
  buildHistory();
}

QString RecordDetail::historyText() const {
  QStringList lines;
  for (const HistoryStep& step : history_) {
    lines << QStringLiteral("%1: %2").arg(step.what, step.detail);
  }
  return lines.join(QLatin1Char('\n'));
}

void RecordDetail::buildHistory() {
  if (history_.empty()) {
    return;
  }
  if (history_item_ == nullptr) {
    history_item_ = add(nullptr, tr("History"), {});
    constexpr int kBehindBatch = 1;  // one line; behind the fields of the record it would be below the fold
    tree_->takeTopLevelItem(tree_->indexOfTopLevelItem(history_item_));
    tree_->insertTopLevelItem(kBehindBatch, history_item_);
  }
  qDeleteAll(history_item_->takeChildren());
  const QString line = history_line(history_);
  history_item_->setText(1, line);
  history_item_->setToolTip(1, line);
  history_item_->setData(1, Qt::AccessibleTextRole, QStringLiteral("%1 %2").arg(history_item_->text(0), line));
  for (const HistoryStep& step : history_) {
    add(history_item_, step.what, step.at_ms < 0 ? step.detail : QStringLiteral("%1  %2").arg(time_text(step.at_ms, utc_), step.detail));
  }
  history_item_->setExpanded(history_open_);
}

void RecordDetail::setForm(Form form) {
  const bool compressed = anatomy_ != nullptr && anatomy_->compressed;
  form_ = !compressed && form == Form::decompressed ? Form::stored : form;
  form_control_->setCurrent(static_cast<int>(form_));
  form_control_plain_->setCurrent(form_ == Form::value ? 1 : 0);
  right_->setCurrentIndex(form_ == Form::value ? 1 : 0);
  if (form_ == Form::value) {
    showText();
  } else {
    showBytes();
    onItem(tree_->currentItem());
  }
}

const BytesField* RecordDetail::headerField(Kind kind) const {
  if (anatomy_ == nullptr) {
    return nullptr;
  }
  const auto at = std::find_if(anatomy_->header.begin(), anatomy_->header.end(), [kind](const BytesField& f) { return f.kind == kind; });
  return at == anatomy_->header.end() ? nullptr : &*at;
}

const BytesField* RecordDetail::recordField() const {
  if (anatomy_ == nullptr || !row_) {
    return nullptr;
  }
  const auto& all = anatomy_->all_records.children;
  const auto at = std::find_if(all.begin(), all.end(), [this](const BytesField& f) { return f.number == row_->offset; });
  return at == all.end() ? nullptr : &*at;
}

QTreeWidgetItem* RecordDetail::add(QTreeWidgetItem* parent, const QString& name, const QString& value, const BytesField* field,
                                   const BytesField* structure) {
  const Theme& theme = Theme::current();
  auto* item = new QTreeWidgetItem(QStringList{name, value});
  item->setFont(1, theme.font(FontRole::data));
  item->setForeground(0, theme.colors().text2);
  item->setSizeHint(0, QSize(10, theme.px(22)));
  item->setToolTip(1, value);
  item->setData(1, Qt::AccessibleTextRole, QStringLiteral("%1 %2").arg(name, value));
  item->setData(0, kBegin, -1);
  item->setData(0, kKind, -1);
  if (field != nullptr) {
    item->setData(0, kBegin, static_cast<qlonglong>(field->begin));
    item->setData(0, kEnd, static_cast<qlonglong>(field->end));
    item->setData(0, kInRecords, field->in_records);
    item->setData(0, kKind, static_cast<int>(field->kind));
    if (structure != nullptr) {
      item->setData(0, kStructBegin, static_cast<qlonglong>(structure->begin));
      item->setData(0, kStructEnd, static_cast<qlonglong>(structure->end));
    }
  }
  if (parent == nullptr) {
    item->setForeground(0, theme.colors().text);
    item->setFont(0, theme.font(FontRole::control_strong));
    tree_->addTopLevelItem(item);
  } else {
    parent->addChild(item);
  }
  return item;
}

void RecordDetail::build() {
  const QSignalBlocker block(tree_);
  const Kind current = tree_->currentItem() != nullptr && tree_->currentItem()->data(0, kKind).toInt() >= 0
                           ? static_cast<Kind>(tree_->currentItem()->data(0, kKind).toInt())
                           : (anatomy_ != nullptr && anatomy_->compressed ? Kind::crc : Kind::value);
  history_item_ = nullptr;
  tree_->clear();
  buildBatch();
  buildRecord();
  buildHistory();
  const bool compressed = anatomy_ != nullptr && anatomy_->compressed;
  form_control_->setVisible(compressed);
  form_control_plain_->setVisible(!compressed);
  setForm(form_);
  QTreeWidgetItem* wanted = nullptr;
  const QTreeWidgetItem* record = tree_->topLevelItem(history_item_ == nullptr ? 1 : 2);
  for (QTreeWidgetItemIterator at(tree_); *at != nullptr; ++at) {
    const int kind = (*at)->data(0, kKind).toInt();
    const bool in_record = kind < static_cast<int>(Kind::record) || (*at)->parent() == nullptr || (*at)->parent() == record;
    if (kind == static_cast<int>(current) && in_record) {
      wanted = *at;
      break;
    }
  }
  // Where there is little room the batch is one line, so that the record is seen whole.
  constexpr int kRoomy = 330;
  tree_->topLevelItem(0)->setExpanded(batch_open_.value_or(tree_->viewport()->height() >= Theme::current().px(kRoomy)));
  tree_->setCurrentItem(wanted != nullptr ? wanted : tree_->topLevelItem(0));
  tree_->scrollToTop();
  if (wanted != nullptr) {
    tree_->scrollToItem(wanted);
  }
  onItem(tree_->currentItem());
}

void RecordDetail::buildBatch() {
  const RecordRow& row = *row_;
  const Theme& theme = Theme::current();
  const auto number = [&](Kind kind, std::int64_t otherwise) {
    const BytesField* f = headerField(kind);
    return f == nullptr ? otherwise : f->number;
  };
  const std::int64_t count = number(Kind::record_count, row.batch_records);
  BytesField whole;
  whole.kind = Kind::records;
  whole.end = anatomy_ == nullptr ? 0 : static_cast<std::int64_t>(anatomy_->stored.size());
  BytesField head;  // what the fields of the header stand in
  head.end = whole.end > 0 && !anatomy_->header.empty() ? anatomy_->header.back().end : 0;
  QTreeWidgetItem* batch = add(nullptr, tr("Batch"), (count == 1 ? tr("base %1, 1 record") : tr("base %1, %2 records").replace(QStringLiteral("%2"), format_count(count)))
                                                       .arg(row.batch_base_offset),
                               anatomy_ == nullptr ? nullptr : &whole);
  add(batch, tr("leader epoch"), QString::number(number(Kind::leader_epoch, row.leader_epoch)), headerField(Kind::leader_epoch), &head);
  QString crc = QStringLiteral("0x%1").arg(row.crc, 8, 16, QLatin1Char('0'));
  if (const BytesField* f = headerField(Kind::crc); f != nullptr) {
    crc = QStringLiteral("0x%1").arg(static_cast<quint32>(f->number), 8, 16, QLatin1Char('0'));
    crc += anatomy_->crc_ok ? tr(" valid") : tr(" wrong: the bytes give 0x%1").arg(anatomy_->computed_crc, 8, 16, QLatin1Char('0'));
  }
  QTreeWidgetItem* crc_item = add(batch, tr("CRC"), crc, headerField(Kind::crc), &head);
  if (anatomy_ != nullptr && !anatomy_->stored.empty()) {
    crc_item->setForeground(1, anatomy_->crc_ok ? theme.colors().ok_t : theme.colors().err_t);
  }
  QStringList attributes{QString::fromStdString(row.compression)};
  attributes << (row.log_append_time ? QStringLiteral("LogAppendTime") : QStringLiteral("CreateTime"));
  if (row.transactional) {
    attributes << tr("transactional");
  }
  if (row.control) {
    attributes << tr("control");
  }
  QTreeWidgetItem* bits = add(batch, tr("attributes"), attributes.join(QStringLiteral(", ")), headerField(Kind::attributes), &head);
  const std::int64_t raw = number(Kind::attributes, -1);
  if (raw >= 0) {
    const auto bit = [&](const QString& name, const QString& words) { add(bits, name, words, headerField(Kind::attributes), &head); };
    bit(tr("bits 0 to 2"), tr("%1: compression %2").arg(raw & 7).arg(QString::fromStdString(row.compression)));
    bit(tr("bit 3"), (raw & 8) != 0 ? tr("1: the broker set the time when it appended") : tr("0: the producer set the time"));
    bit(tr("bit 4"), (raw & 16) != 0 ? tr("1: part of a transaction") : tr("0: in no transaction"));
    bit(tr("bit 5"), (raw & 32) != 0 ? tr("1: a control batch") : tr("0: records of a client"));
    bit(tr("bit 6"), (raw & 64) != 0 ? tr("1: the base timestamp is a delete horizon") : tr("0: no delete horizon"));
  }
  const bool producer = row.producer_id >= 0;
  QTreeWidgetItem* who = add(batch, tr("producer"),
                             producer ? tr("%1 epoch %2, sequence %3").arg(row.producer_id).arg(row.producer_epoch).arg(row.base_sequence)
                                      : tr("none: not idempotent"),
                             headerField(Kind::producer_id), &head);
  add(who, tr("id"), QString::number(row.producer_id), headerField(Kind::producer_id), &head);
  add(who, tr("epoch"), QString::number(row.producer_epoch), headerField(Kind::producer_epoch), &head);
  add(who, tr("base sequence"), QString::number(row.base_sequence), headerField(Kind::base_sequence), &head);
  if (anatomy_ == nullptr || anatomy_->stored.empty()) {
    add(batch, tr("size"), format_bytes(row.batch_size_bytes));
    return;
  }
  QTreeWidgetItem* times = add(batch, tr("timestamps"),
                               tr("%1 to %2").arg(time_text(number(Kind::base_timestamp, -1), utc_), time_text(number(Kind::max_timestamp, -1), utc_)),
                               headerField(Kind::base_timestamp), &head);
  add(times, tr("base"), date_time_text(number(Kind::base_timestamp, -1), utc_), headerField(Kind::base_timestamp), &head);
  add(times, tr("largest"), date_time_text(number(Kind::max_timestamp, -1), utc_), headerField(Kind::max_timestamp), &head);
  QTreeWidgetItem* frame = add(batch, tr("frame"), format_bytes(static_cast<std::int64_t>(anatomy_->stored.size())), headerField(Kind::length), &head);
  add(frame, tr("base offset"), QString::number(number(Kind::base_offset, 0)), headerField(Kind::base_offset), &head);
  add(frame, tr("length"), tr("%1 bytes behind this field").arg(format_count(number(Kind::length, 0))), headerField(Kind::length), &head);
  add(frame, tr("magic"), QString::number(number(Kind::magic, 0)), headerField(Kind::magic), &head);
  add(frame, tr("last offset delta"), QString::number(number(Kind::last_offset_delta, 0)), headerField(Kind::last_offset_delta), &head);
  add(frame, tr("record count"), format_count(count), headerField(Kind::record_count), &head);
  QString size = format_bytes(anatomy_->recordsSize());
  if (anatomy_->compressed) {
    const std::int64_t packed = anatomy_->all_records.end - anatomy_->all_records.begin;
    size = tr("%1, %2 to %3 (%4 %)")
               .arg(QString::fromStdString(row.compression), format_bytes(anatomy_->recordsSize()), format_bytes(packed))
               .arg(anatomy_->recordsSize() > 0 ? packed * 100 / anatomy_->recordsSize() : 100);
  }
  add(batch, tr("records"), size, &anatomy_->all_records);
}

void RecordDetail::buildRecord() {
  const RecordRow& row = shown();
  const BytesField* field = recordField();
  const auto sub = [&](Kind kind) { return child(field, kind); };
  QTreeWidgetItem* record = add(nullptr, field == nullptr ? tr("Record") : tr("Record %1").arg(field->index),
                                field == nullptr ? QString() : format_bytes(field->end - field->begin), field);
  const QString key = row.key ? (row.key->empty() ? QStringLiteral("\"\"") : QStringLiteral("\"%1\"").arg(key_text(row.key->span(), 120)))
                              : QStringLiteral("\u2205 null");
  QTreeWidgetItem* key_item = add(record, tr("key"), key, sub(Kind::key), field);
  if (const BytesField* f = sub(Kind::key_length); f != nullptr) {
    add(key_item, tr("length"), QString::number(f->number), f, field);
  }
  if (!row.control && partitions_ > 0) {
    const PartitionChoice why = PartitionChoice::explain(row.key, partitions_, row.partition);
    QTreeWidgetItem* partition = add(record, tr("partition"), why.summary.isEmpty() ? QString::number(row.partition) : why.summary,
                                     sub(Kind::key), field);
    for (const auto& [name, words] : why.steps) {
      add(partition, name, words, sub(Kind::key), field);
    }
    add(partition, tr("why"), why.sentence);
  }
  const ValueKind kind = value_kind(row.value);
  QString value;
  switch (kind) {
    case ValueKind::null:
      value = tr("\u2205 null: a tombstone when the topic is compacted");
      break;
    case ValueKind::empty:
      value = QStringLiteral("\"\"");
      break;
    case ValueKind::json:
    case ValueKind::text:
    case ValueKind::binary:
      value = tr("%1, %2").arg(value_kind_name(kind), format_bytes(std::max(row.value_size, static_cast<std::int64_t>(row.value->size()))));
      break;
  }
  if (row.control) {
    value = marker_text(row);
  }
  QTreeWidgetItem* value_item = add(record, tr("value"), value, sub(Kind::value), field);
  if (const BytesField* f = sub(Kind::value_length); f != nullptr) {
    add(value_item, tr("length"), QString::number(f->number), f, field);
  }
  QTreeWidgetItem* headers = add(record, tr("headers"), row.headers.empty() ? tr("none") : headers_line(row, 80), sub(Kind::header_count), field);
  if (const BytesField* f = sub(Kind::header_count); f != nullptr) {
    add(headers, tr("count"), QString::number(f->number), f, field);
  }
  for (std::size_t i = 0; i < row.headers.size(); ++i) {
    const auto& [name, header] = row.headers[i];
    const BytesField* h = nullptr;
    if (field != nullptr) {
      const auto at = std::find_if(field->children.begin(), field->children.end(),
                                   [i](const BytesField& f) { return f.kind == Kind::header && f.index == static_cast<std::int32_t>(i); });
      h = at == field->children.end() ? nullptr : &*at;
    }
    const QString shown = header ? (header->empty() ? QStringLiteral("\"\"") : value_line(header, 200)) : QStringLiteral("\u2205 null");
    QTreeWidgetItem* item = add(headers, QString::fromStdString(name), shown, h, field);
    for (const auto& [part, words] : {std::pair(Kind::header_name_length, tr("length of the name")), std::pair(Kind::header_name, tr("name")),
                                      std::pair(Kind::header_value_length, tr("length of the value")), std::pair(Kind::header_value, tr("value"))}) {
      if (const BytesField* f = child(h, part); f != nullptr) {
        const bool length = part == Kind::header_name_length || part == Kind::header_value_length;
        add(item, words, length ? QString::number(f->number) : (part == Kind::header_name ? QString::fromStdString(name) : shown), f, h);
      }
    }
  }
  if (field != nullptr) {
    QTreeWidgetItem* frame = add(record, tr("frame"), tr("%1 bytes").arg(field->end - field->begin), sub(Kind::record_length), field);
    for (const auto& [part, words] : {std::pair(Kind::record_length, tr("length")), std::pair(Kind::record_attributes, tr("attributes")),
                                      std::pair(Kind::timestamp_delta, tr("timestamp delta")), std::pair(Kind::offset_delta, tr("offset delta"))}) {
      if (const BytesField* f = sub(part); f != nullptr) {
        add(frame, words, part == Kind::timestamp_delta ? tr("%1 ms").arg(f->number) : QString::number(f->number), f, field);
      }
    }
    headers->setExpanded(!row.headers.empty() && row.headers.size() <= 4);
  }
  record->setExpanded(true);
  if (anatomy_ == nullptr || anatomy_->all_records.children.size() < 2) {
    return;
  }
  QTreeWidgetItem* others = add(nullptr, tr("Other records"), tr("%1 in this batch").arg(format_count(static_cast<std::int64_t>(anatomy_->all_records.children.size()) - 1)));
  for (const BytesField& other : anatomy_->all_records.children) {
    if (&other != field) {
      add(others, tr("record %1").arg(other.index), tr("offset %1, %2").arg(other.number).arg(format_bytes(other.end - other.begin)), &other);
    }
  }
}

void RecordDetail::showBytes() {
  if (anatomy_ == nullptr) {
    bytes_note_->setText({});
    return;
  }
  if (anatomy_->stored.empty()) {
    hex_->setBytes({});
    hex_->setPlaceholder(anatomy_->error);
    bytes_note_->setText({});
    return;
  }
  hex_->setBytes(form_ == Form::decompressed ? anatomy_->records : anatomy_->stored);
  const auto stored = static_cast<std::int64_t>(anatomy_->stored.size());
  bytes_note_->setText(!anatomy_->error.isEmpty()
                           ? anatomy_->error
                           : (anatomy_->compressed ? tr("%1, %2 to %3").arg(QString::fromStdString(row_->compression),
                                                                            format_bytes(anatomy_->recordsSize()),
                                                                            format_bytes(anatomy_->all_records.end - anatomy_->all_records.begin))
                                                   : tr("not compressed, %1").arg(format_bytes(stored))));
  open_->hide();
}

// A field that lies in compressed records is shown decompressed; all others in the batch.
void RecordDetail::onItem(QTreeWidgetItem* item) {
  if (item == nullptr || anatomy_ == nullptr || anatomy_->stored.empty() || form_ == Form::value) {
    return;
  }
  const std::int64_t begin = item->data(0, kBegin).toLongLong();
  if (begin < 0) {
    hex_->select({}, {});
    return;
  }
  const bool in_records = item->data(0, kInRecords).toBool();
  if (anatomy_->compressed && in_records != (form_ == Form::decompressed)) {
    form_ = in_records ? Form::decompressed : Form::stored;
    form_control_->setCurrent(static_cast<int>(form_));
    showBytes();
  }
  const std::int64_t shift = in_records && !anatomy_->compressed ? anatomy_->all_records.begin : 0;
  hex_->select({begin + shift, item->data(0, kEnd).toLongLong() + shift},
               {item->data(0, kStructBegin).toLongLong() + shift, item->data(0, kStructEnd).toLongLong() + shift});
}

// The smallest field that has the byte.
void RecordDetail::onByte(std::int64_t at) {
  if (anatomy_ == nullptr) {
    return;
  }
  QTreeWidgetItem* best = nullptr;
  std::int64_t least = INT64_MAX;
  for (QTreeWidgetItemIterator it(tree_); *it != nullptr; ++it) {
    QTreeWidgetItem* item = *it;
    std::int64_t begin = item->data(0, kBegin).toLongLong();
    if (begin < 0) {
      continue;
    }
    std::int64_t end = item->data(0, kEnd).toLongLong();
    const bool in_records = item->data(0, kInRecords).toBool();
    if (anatomy_->compressed) {
      if (in_records != (form_ == Form::decompressed)) {
        continue;
      }
    } else if (in_records) {
      begin += anatomy_->all_records.begin;
      end += anatomy_->all_records.begin;
    }
    if (at >= begin && at < end && end - begin < least) {
      least = end - begin;
      best = item;
    }
  }
  if (best != nullptr) {
    tree_->setCurrentItem(best);
    tree_->scrollToItem(best);
  }
}

QString RecordDetail::fieldText(Kind kind) const {
  for (QTreeWidgetItemIterator at(tree_); *at != nullptr; ++at) {
    if ((*at)->data(0, kKind).toInt() == static_cast<int>(kind)) {
      return (*at)->text(0) + QLatin1Char(' ') + (*at)->text(1);
    }
  }
  return {};
}

void RecordDetail::selectField(Kind kind) {
  for (QTreeWidgetItemIterator at(tree_); *at != nullptr; ++at) {
    if ((*at)->data(0, kKind).toInt() == static_cast<int>(kind)) {
      tree_->setCurrentItem(*at);
      return;
    }
  }
}

void RecordDetail::showText() {
  if (!row_) {
    return;
  }
  const RecordRow& row = shown();
  const auto size = std::max<std::int64_t>(row.value_size, row.value ? static_cast<std::int64_t>(row.value->size()) : 0);
  const bool cut = size > static_cast<std::int64_t>(kTextHead);
  open_->setVisible(cut && !row.valueCut());
  if (!text_made_) {
    text_made_ = true;
    bool more = false;
    text_->setPlainText(in_short_lines(value_block(row.value, kTextHead, more)));
    text_->setPlaceholderText(!row.value ? QStringLiteral("\u2205 null") : QStringLiteral("\"\""));
  }
  const QString kind = row.value ? value_kind_name(value_kind(row.value)) : tr("no value");
  bytes_note_->setText(cut ? tr("%1, the first %2 of %3").arg(kind, format_bytes(static_cast<std::int64_t>(kTextHead)), format_bytes(size)) : kind);
}

QString RecordDetail::saveValue(const QString& folder) const {
  if (!row_ || !shown().value || shown().valueCut()) {
    return {};
  }
  const RecordRow& row = shown();
  const QString suffix = value_kind(row.value) == ValueKind::json ? QStringLiteral("json")
                                                                  : (value_kind(row.value) == ValueKind::text ? QStringLiteral("txt") : QStringLiteral("bin"));
  const QString path = QDir(folder).filePath(QStringLiteral("%1-%2-%3.%4").arg(topic_).arg(row.partition).arg(row.offset).arg(suffix));
  QFile file(path);
  if (!file.open(QIODevice::WriteOnly) ||
      file.write(reinterpret_cast<const char*>(row.value->data()), static_cast<qint64>(row.value->size())) != static_cast<qint64>(row.value->size())) {
    return {};
  }
  return path;
}

void RecordDetail::openValue() {
  const QString path = saveValue(QStandardPaths::writableLocation(QStandardPaths::TempLocation));
  if (path.isEmpty()) {
    bytes_note_->setText(tr("the value could not be written to a file"));
    return;
  }
  bytes_note_->setText(path);
  QDesktopServices::openUrl(QUrl::fromLocalFile(path));
}

}  // namespace hw::ui
