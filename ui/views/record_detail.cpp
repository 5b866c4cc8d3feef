// SPDX-License-Identifier: Apache-2.0
#include "ui/views/record_detail.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QMenu>
#include <QPlainTextEdit>
#include <QSplitter>
#include <QStackedWidget>
#include <QTreeWidget>
#include <QVBoxLayout>

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

constexpr int kPartRole = Qt::UserRole + 1;
constexpr int kKeyPart = 0;
constexpr int kValuePart = 1;
constexpr int kHeaderParts = 2;

QWidget* heading(const QString& text, TextLabel*& note, QWidget* parent, QWidget* right) {
  const Theme& theme = Theme::current();
  auto* bar = new Pane(parent);
  bar->setFixedHeight(theme.px(34));
  auto* row = new QHBoxLayout(bar);
  row->setContentsMargins(theme.px(Metrics::kPagePadding), 0, theme.px(8), 0);
  row->setSpacing(theme.px(8));
  row->addWidget(new TextLabel(text, FontRole::section_label, TextLabel::Tone::text2, bar));
  note = new TextLabel({}, FontRole::small_data, TextLabel::Tone::text2, bar);
  row->addWidget(note, 1);
  if (right != nullptr) {
    right->setParent(bar);
    row->addWidget(right);
  }
  return bar;
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
  copy_ = new Button(Button::Kind::quiet, QStringLiteral("copy"), tr("Copy as"), left);
  copy_->setMenuArrow(true);
  left_rows->addWidget(heading(tr("Batch and record"), tree_note_, left, copy_));
  left_rows->addWidget(new Line(Qt::Horizontal, false, left));
  tree_ = new QTreeWidget(left);
  tree_->setAccessibleName(tr("Batch and record"));
  tree_->setColumnCount(2);
  tree_->setHeaderHidden(true);
  tree_->setFrameShape(QFrame::NoFrame);
  tree_->setUniformRowHeights(true);
  tree_->setIndentation(theme.px(16));
  tree_->setColumnWidth(0, theme.px(132));
  tree_->header()->setStretchLastSection(true);
  left_rows->addWidget(tree_, 1);
  auto* right = new Pane(split);
  auto* right_rows = new QVBoxLayout(right);
  right_rows->setContentsMargins(0, 0, 0, 0);
  right_rows->setSpacing(0);
  form_ = new SegmentedControl({tr("bytes"), tr("text")}, right);
  form_->setAccessibleDescription(tr("How the value is shown"));
  right_rows->addWidget(heading(tr("Bytes"), bytes_note_, right, form_));
  right_rows->addWidget(new Line(Qt::Horizontal, false, right));
  right_ = new QStackedWidget(right);
  hex_ = new HexView(right_);
  right_->addWidget(hex_);
  text_ = new QPlainTextEdit(right_);
  text_->setReadOnly(true);
  text_->setFrameShape(QFrame::NoFrame);
  text_->setFont(theme.font(FontRole::data));
  text_->setAccessibleName(tr("Value as text"));
  right_->addWidget(text_);
  right_rows->addWidget(right_, 1);
  split->addWidget(left);
  split->addWidget(right);
  split->setStretchFactor(0, 2);
  split->setStretchFactor(1, 3);

  connect(form_, &SegmentedControl::activated, this, [this](int index) {
    right_->setCurrentIndex(index);
    if (index == 1) {
      showText();
    }
  });
  connect(tree_, &QTreeWidget::currentItemChanged, this, [this](QTreeWidgetItem* now) {
    if (now != nullptr) {
      hex_->select(now->data(0, kPartRole).toInt());
    }
  });
  connect(hex_, &HexView::partClicked, this, [this](int part) {
    for (QTreeWidgetItemIterator at(tree_); *at != nullptr; ++at) {
      if ((*at)->data(0, kPartRole).toInt() == part) {
        tree_->setCurrentItem(*at);
        break;
      }
    }
  });
  connect(copy_, &QAbstractButton::clicked, this, [this] {
    if (!row_) {
      return;
    }
    QMenu menu(this);
    const auto add = [&](const QString& title, auto make) {
      connect(menu.addAction(title), &QAction::triggered, this, [this, title, make] { copy(make(), title); });
    };
    add(tr("JSON"), [this] { return record_json(topic_, *row_); });
    add(tr("kcat line"), [this] { return kcat_line(bootstrap_, topic_, *row_); });
    add(tr("Address"), [this] { return QStringLiteral("%1/%2@%3").arg(topic_).arg(row_->partition).arg(row_->offset); });
    add(tr("Key"), [this] { return row_->key ? QString::fromUtf8(row_->key->text().data(), static_cast<qsizetype>(row_->key->size())) : QString(); });
    add(tr("Value"), [this] {
      const std::string_view value = row_->value ? row_->value->text().substr(0, 1U << 20) : std::string_view();
      return QString::fromUtf8(value.data(), static_cast<qsizetype>(value.size()));
    });
    menu.exec(copy_->mapToGlobal(QPoint(0, copy_->height())));
  });
  const auto fonts = [this] {
    const Theme& t = Theme::current();
    tree_->setFont(t.font(FontRole::control));
    text_->setFont(t.font(FontRole::data));
    tree_->setIndentation(t.px(16));
  };
  fonts();
  connect(&Theme::current(), &Theme::changed, this, fonts);
  clear();
}

void RecordDetail::copy(const QString& text, const QString& what) {
  QGuiApplication::clipboard()->setText(text);
  bytes_note_->setText(tr("%1 copied").arg(what));
}

QTreeWidgetItem* RecordDetail::add(QTreeWidgetItem* parent, const QString& name, const QString& value, int part) {
  auto* item = new QTreeWidgetItem(QStringList{name, value});
  item->setData(0, kPartRole, part);
  item->setFont(1, Theme::current().font(FontRole::data));
  item->setForeground(0, Theme::current().colors().text2);
  item->setSizeHint(0, QSize(10, Theme::current().px(22)));
  item->setToolTip(1, value);
  item->setData(1, Qt::AccessibleTextRole, QStringLiteral("%1 %2").arg(name, value));
  if (parent == nullptr) {
    item->setForeground(0, Theme::current().colors().text);
    item->setFont(0, Theme::current().font(FontRole::control_strong));
    tree_->addTopLevelItem(item);
  } else {
    parent->addChild(item);
  }
  return item;
}

void RecordDetail::clear() {
  row_.reset();
  tree_->clear();
  hex_->setParts({});
  text_->clear();
  tree_note_->setText({});
  bytes_note_->setText(tr("select a record"));
  copy_->setEnabled(false);
  text_made_ = false;
}

void RecordDetail::show(const QString& topic, const QString& bootstrap, std::int32_t partitions, const RecordRow& row) {
  topic_ = topic;
  bootstrap_ = bootstrap;
  row_ = row;
  text_made_ = false;
  copy_->setEnabled(true);
  tree_note_->setText(QString::number(row.offset));
  tree_->clear();
  // Batch.
  QTreeWidgetItem* batch = add(nullptr, tr("Batch"), row.batch_records == 1
                                                         ? tr("base %1, 1 record").arg(row.batch_base_offset)
                                                         : tr("base %1, %2 records").arg(row.batch_base_offset).arg(row.batch_records));
  add(batch, tr("size"), format_bytes(row.batch_size_bytes));
  add(batch, tr("compression"), QString::fromStdString(row.compression));
  add(batch, tr("leader epoch"), QString::number(row.leader_epoch));
  add(batch, QStringLiteral("CRC-32C"), QStringLiteral("0x%1").arg(row.crc, 8, 16, QLatin1Char('0')));
  QStringList attributes;
  attributes << (row.log_append_time ? QStringLiteral("LogAppendTime") : QStringLiteral("CreateTime"));
  if (row.transactional) {
    attributes << tr("transactional");
  }
  if (row.control) {
    attributes << tr("control");
  }
  add(batch, tr("attributes"), attributes.join(QStringLiteral(", ")));
  add(batch, tr("producer"),
      row.producer_id < 0 ? tr("none: not idempotent")
                          : tr("%1 epoch %2, sequence %3").arg(row.producer_id).arg(row.producer_epoch).arg(row.base_sequence));
  // Record.
  const std::size_t bytes = (row.key ? row.key->size() : 0) + (row.value ? row.value->size() : 0);
  QTreeWidgetItem* record = add(nullptr, tr("Record"), tr("offset %1, %2").arg(row.offset).arg(format_bytes(static_cast<std::int64_t>(bytes))));
  add(record, tr("time"), format_date_time(row.timestamp_ms));
  QString key = row.key ? (row.key->empty() ? QStringLiteral("\"\"") : QStringLiteral("\"%1\"").arg(key_text(row.key->span(), 120)))
                        : QStringLiteral("\u2205 null");
  QTreeWidgetItem* key_item = add(record, tr("key"), key, row.key ? kKeyPart : -1);
  if (!row.control && partitions > 0) {
    const PartitionChoice why = PartitionChoice::explain(row.key, partitions, row.partition);
    QString formula = why.formula;
    formula.replace(QLatin1Char('\n'), QLatin1Char(' '));
    QTreeWidgetItem* partition = add(record, tr("partition"), formula.isEmpty() ? QString::number(row.partition) : formula,
                                     row.key ? kKeyPart : -1);
    add(partition, tr("why"), why.sentence);
  }
  const ValueKind kind = value_kind(row.value);
  QString value;
  switch (kind) {
    case ValueKind::null:
      value = row.control ? tr("marker") : tr("\u2205 null: a tombstone when the topic is compacted");
      break;
    case ValueKind::empty:
      value = QStringLiteral("\"\"");
      break;
    case ValueKind::json:
    case ValueKind::text:
    case ValueKind::binary:
      value = tr("%1, %2").arg(value_kind_name(kind), format_bytes(static_cast<std::int64_t>(row.value->size())));
      break;
  }
  QTreeWidgetItem* value_item = add(record, tr("value"), value, row.value ? kValuePart : -1);
  QTreeWidgetItem* headers = add(record, tr("headers"), row.headers.empty() ? tr("none") : QString::number(row.headers.size()));
  int part = kHeaderParts;
  std::vector<HexView::Part> parts;
  if (row.key) {
    parts.push_back({kKeyPart, tr("key"), *row.key});
  }
  if (row.value) {
    parts.push_back({kValuePart, tr("value"), *row.value});
  }
  for (const auto& [name, header] : row.headers) {
    const QString shown = QString::fromStdString(name);
    add(headers, shown, header ? (header->empty() ? QStringLiteral("\"\"") : value_line(header, 200)) : QStringLiteral("\u2205 null"),
        header ? part : -1);
    if (header) {
      parts.push_back({part, tr("header %1").arg(shown), *header});
    }
    ++part;
  }
  tree_->expandAll();
  // Where there is little room, the batch is one line and the record is seen whole.
  constexpr int roomy = 330;
  batch->setExpanded(tree_->viewport()->height() >= Theme::current().px(roomy));
  hex_->setParts(std::move(parts));
  tree_->setCurrentItem(row.value ? value_item : key_item);
  tree_->scrollToTop();
  bytes_note_->setText(row.value ? value_kind_name(kind) : tr("no value"));
  if (form_->current() == 1) {
    showText();
  }
}

void RecordDetail::showText() {
  if (!row_ || text_made_) {
    return;
  }
  text_made_ = true;
  bool cut = false;
  const QString block = value_block(row_->value, kTextHead, cut);
  text_->setPlainText(block);
  text_->setPlaceholderText(!row_->value ? QStringLiteral("\u2205 null") : QStringLiteral("\"\""));
  if (cut) {
    bytes_note_->setText(tr("the first %1 of %2").arg(format_bytes(static_cast<std::int64_t>(kTextHead)),
                                                     format_bytes(static_cast<std::int64_t>(row_->value->size()))));
  }
}

}  // namespace hw::ui
