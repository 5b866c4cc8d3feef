// SPDX-License-Identifier: Apache-2.0
// MessagesPage: menus, copying, export, columns and time zone.
#include <QActionGroup>
#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QCoreApplication>
#include <QDir>
#include <QDateTimeEdit>
#include <QFileDialog>
#include <QFileInfo>
#include <QHeaderView>
#include <QLocale>
#include <QMenu>
#include <QSettings>
#include <QStandardPaths>
#include <QTableView>
#include <algorithm>
#include <utility>

#include "ui/filter/filter_box.h"
#include "ui/filter/record_fields.h"
#include "ui/painting/shapes.h"
#include "ui/painting/text.h"
#include "ui/views/messages_page.h"
#include "ui/views/record_detail.h"
#include "ui/views/record_model.h"
#include "ui/views/record_text.h"
#include "ui/views/volume_strip.h"
#include "ui/window/controls.h"

namespace hw::ui {

namespace {

QString text_of(const Bytes& bytes) { return QString::fromUtf8(bytes.text().data(), static_cast<qsizetype>(bytes.size())); }

}  // namespace

void MessagesPage::copy(const QString& text) { QApplication::clipboard()->setText(text); }

void MessagesPage::addFilterMenu(QMenu& menu, const QString& title, const QString& condition) {
  QMenu* sub = menu.addMenu(title);
  const auto add = [&](const QString& words, const QString& text, const QString& join) {
    connect(sub->addAction(words), &QAction::triggered, this, [this, text, join] { filter_->addCondition(text, join); });
  };
  add(tr("Apply"), condition, QString());
  add(tr("And"), condition, QStringLiteral("&&"));
  add(tr("Or"), condition, QStringLiteral("||"));
  add(tr("And not"), QStringLiteral("not (%1)").arg(condition), QStringLiteral("&&"));
}

void MessagesPage::fillRecordMenu(QMenu& menu) {
  const QModelIndex index = table_->currentIndex();
  if (!index.isValid()) {
    return;
  }
  const RecordRow row = detail_->row() && detail_->anatomy() != nullptr && detail_->anatomy()->found ? detail_->anatomy()->row
                                                                                                       : model_->row(index.row());
  const QString address = Selection::ofRecord(topic(), row.partition, row.offset).address();
  QMenu* copies = menu.addMenu(tr("Copy as"));
  const auto as = [&](const QString& title, const QString& text) {
    connect(copies->addAction(title), &QAction::triggered, this, [this, text] { copy(text); });
  };
  as(tr("Address"), address);
  as(tr("JSON"), record_json(topic(), row));
  as(tr("kcat line"), kcat_line(session()->bootstrap(), topic(), row));
  as(tr("hw line"), hw_line(session()->bootstrap(), topic(), row));
  if (row.key) {
    as(tr("Key"), text_of(*row.key));
  }
  if (row.value && row.value->size() <= (1U << 20)) {
    as(tr("Value"), text_of(*row.value));
  }
  menu.addSeparator();
  constexpr std::size_t kLongest = 200;
  if (!row.control) {
    if (!row.key || row.key->size() <= kLongest) {
      addFilterMenu(menu, row.key ? tr("Filter by key %1").arg(key_text(row.key->span(), 24)) : tr("Filter by null key"),
                    row.key ? QStringLiteral("key == %1").arg(filter::quoted(text_of(*row.key))) : QStringLiteral("key is null"));
    }
    if (!row.value || row.value->size() <= kLongest) {
      addFilterMenu(menu, row.value ? tr("Filter by this value") : tr("Filter by tombstones"),
                    row.value ? QStringLiteral("value == %1").arg(filter::quoted(text_of(*row.value))) : QStringLiteral("tombstone"));
    }
    for (const auto& [name, value] : row.headers) {
      const QString shown = QString::fromStdString(name);
      const QString ref = QStringLiteral("hdr[%1]").arg(filter::quoted(shown));
      if (value && value->size() <= kLongest) {
        addFilterMenu(menu, tr("Filter by header %1").arg(shown), QStringLiteral("%1 == %2").arg(ref, filter::quoted(text_of(*value))));
      }
      if (menu.actions().size() > 12) {
        break;
      }
    }
  }
  addFilterMenu(menu, tr("Filter by partition %1").arg(row.partition), QStringLiteral("partition == %1").arg(row.partition));
  menu.addSeparator();
  connect(menu.addAction(tr("Show in Partitions")), &QAction::triggered, this, [this, row] {
    Q_EMIT selectionRequested(Selection::ofRecord(topic(), row.partition, row.offset));
    Q_EMIT commandRequested(QStringLiteral("page.partitions"), {});
  });
  if (!row.control) {
    const auto produce = [this, row](bool choose_topic) {
      Q_EMIT produceRequested(topic(), row, choose_topic);
    };
    connect(menu.addAction(tr("Edit and resend\u2026")), &QAction::triggered, this, [produce] { produce(false); });
    connect(menu.addAction(tr("Copy to another topic\u2026")), &QAction::triggered, this, [produce] { produce(true); });
  }
  menu.addSeparator();
  QAction* remove = menu.addAction(tr("Delete records before here\u2026"));
  remove->setObjectName(QStringLiteral("topic.delete_records"));
  connect(remove, &QAction::triggered, this, [this, row] {
    Q_EMIT commandRequested(QStringLiteral("topic.delete_records"), {{QStringLiteral("topic"), topic()},
                                                                     {QStringLiteral("partition"), row.partition},
                                                                     {QStringLiteral("offset"), static_cast<qlonglong>(row.offset)}});
  });
}

void MessagesPage::recordMenu(const QPoint& global) {
  QMenu menu(this);
  fillRecordMenu(menu);
  if (!menu.isEmpty()) {
    menu.exec(global);
  }
}

void MessagesPage::columnsMenu(QMenu& menu) {
  for (int i = 0; i < RecordModel::kColumns; ++i) {
    const QString name = i == RecordModel::kPartition ? tr("Partition") : model_->headerData(i, Qt::Horizontal, Qt::DisplayRole).toString();
    QAction* action = menu.addAction(name);
    action->setCheckable(true);
    action->setChecked(!table_->isColumnHidden(i));
    action->setEnabled(i != RecordModel::kOffset && i != RecordModel::kValue);
    connect(action, &QAction::triggered, this, [this, i](bool on) {
      table_->setColumnHidden(i, !on);
      saveView();
    });
  }
}

void MessagesPage::orderMenu(QMenu& menu) {
  using Order = RecordModel::Order;
  const std::pair<Order, QString> orders[] = {{Order::as_read, tr("As read, by time within a page")},
                                              {Order::per_partition, tr("Per partition, by offset: Kafka's order")},
                                              {Order::oldest_first, tr("By timestamp, partitions mixed")},
                                              {Order::newest_first, tr("Newest first, partitions mixed")}};
  auto* group = new QActionGroup(&menu);
  for (const auto& [order, words] : orders) {
    QAction* action = menu.addAction(words);
    action->setCheckable(true);
    action->setChecked(order == model_->order());
    group->addAction(action);
    connect(action, &QAction::triggered, this, [this, order = order] { setOrder(order); });
  }
}

void MessagesPage::setOrder(RecordModel::Order order) {
  using Order = RecordModel::Order;
  if (order == model_->order()) {
    return;
  }
  model_->setOrder(order);
  QHeaderView* head = table_->horizontalHeader();
  head->setSortIndicatorShown(order != Order::as_read);
  if (order != Order::as_read) {
    head->setSortIndicator(order == Order::per_partition ? RecordModel::kOffset : RecordModel::kTime,
                           order == Order::newest_first ? Qt::DescendingOrder : Qt::AscendingOrder);
  }
  if (tail_ && !selection().inPartition()) {
    order == Order::newest_first ? table_->scrollToTop() : table_->scrollToBottom();
  } else if (table_->currentIndex().isValid()) {
    table_->scrollTo(table_->currentIndex(), QAbstractItemView::PositionAtCenter);
  }
  refreshState();  // where the others are
  saveView();
}

// A click on a heading: its order, the other way round, and back to how the records were read.
void MessagesPage::onSection(int section) {
  using Order = RecordModel::Order;
  const Order now = model_->order();
  if (section == RecordModel::kTime) {
    setOrder(now == Order::oldest_first ? Order::newest_first : now == Order::newest_first ? Order::as_read : Order::oldest_first);
  } else if (section == RecordModel::kOffset || section == RecordModel::kPartition) {
    setOrder(now == Order::per_partition ? Order::as_read : Order::per_partition);
  }
}

void MessagesPage::optionsMenu() {
  QMenu menu(this);
  orderMenu(*menu.addMenu(tr("Order")));
  columnsMenu(*menu.addMenu(tr("Columns")));
  if (isolation_control_->isHidden()) {
    QMenu* isolation = menu.addMenu(tr("Isolation"));
    const QString names[] = {tr("committed"), tr("all"), tr("raw")};
    for (int i = 0; i < 3; ++i) {
      QAction* action = isolation->addAction(names[i]);
      action->setCheckable(true);
      action->setChecked(static_cast<int>(isolation_) == i);
      connect(action, &QAction::triggered, this, [this, i] { setIsolation(static_cast<Isolation>(i)); });
    }
  }
  QAction* utc = menu.addAction(tr("Times in UTC"));
  utc->setCheckable(true);
  utc->setChecked(utc_);
  connect(utc, &QAction::triggered, this, &MessagesPage::setUtc);
  QAction* latest = menu.addAction(tr("Only the newest record of each key"));
  latest->setCheckable(true);
  latest->setChecked(latest_per_key_);
  latest->setEnabled(session() != nullptr && session()->batches() != nullptr);
  connect(latest, &QAction::triggered, this, &MessagesPage::setLatestPerKey);
  QAction* chips = menu.addAction(tr("Edit the filter as chips"));
  chips->setCheckable(true);
  chips->setChecked(filter_->chipsShown());
  connect(chips, &QAction::triggered, filter_, &FilterBox::setChipsShown);
  menu.addSeparator();
  QAction* produce = menu.addAction(tr("Produce a record\u2026"));
  connect(produce, &QAction::triggered, this, [this] { Q_EMIT commandRequested(QStringLiteral("produce.open"), {}); });
  menu.exec(options_->mapToGlobal(QPoint(0, options_->height())));
}

void MessagesPage::setUtc(bool utc) {
  utc_ = utc;
  model_->setUtc(utc);
  detail_->setUtc(utc);
  volume_->setUtc(utc);
  // The condition that the volume wrote keeps its meaning.
  const auto span = spanOfFilter();
  filter_->setUtc(utc);
  if (span) {
    onSpan(span);
  }
  saveView();
}

void MessagesPage::setLatestPerKey(bool on) {
  if (on != latest_per_key_) {
    latest_per_key_ = on;
    restart();
  }
}

// ---- export

bool MessagesPage::exportTo(const QString& path, RecordExport::Format format) {
  const std::shared_ptr<BatchReader> reader = session() == nullptr ? nullptr : session()->batches();
  if (reader == nullptr || export_.running() || topic().isEmpty()) {
    return false;
  }
  ScanRequest request;
  request.topic = topic().toStdString();
  request.parts = parts();
  request.filter = filter_->program();
  request.isolation = isolation_;
  request.latest_per_key = latest_per_key_;
  if (from_->current() == static_cast<int>(RecordFeed::From::time)) {
    request.from_time_ms = time_->dateTime().toMSecsSinceEpoch();
  }
  export_.start(reader, std::move(request), path, format);
  refreshState();
  return true;
}

void MessagesPage::exportDialog() {
  if (export_.running() || session() == nullptr || session()->batches() == nullptr) {
    return;
  }
  const QString csv = tr("CSV (*.csv)");
  const QString ndjson = tr("NDJSON, one object a line (*.ndjson)");
  auto* dialog = new QFileDialog(window(), tr("Export what the filter lets through"));
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setAcceptMode(QFileDialog::AcceptSave);
  dialog->setNameFilters({ndjson, csv});
  dialog->setDefaultSuffix(QStringLiteral("ndjson"));
  dialog->setDirectory(QStandardPaths::writableLocation(QStandardPaths::DocumentsLocation));
  dialog->selectFile(topic() + QStringLiteral(".ndjson"));
  connect(dialog, &QFileDialog::filterSelected, dialog, [dialog, csv](const QString& chosen) {
    dialog->setDefaultSuffix(chosen == csv ? QStringLiteral("csv") : QStringLiteral("ndjson"));
  });
  connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& path) {
    exportTo(path, path.endsWith(QLatin1String(".csv"), Qt::CaseInsensitive) ? RecordExport::Format::csv : RecordExport::Format::ndjson);
  });
  dialog->open();
}

void MessagesPage::onExported(const QString& error, std::int64_t records) {
  export_told_.invalidate();
  refreshState();
  export_told_.start();
  note_->setText(error.isEmpty() ? tr("%1 records in %2").arg(format_count(records), QFileInfo(export_.path()).fileName())
                                 : tr("not exported: %1").arg(error));
  note_->setToolTip(error.isEmpty() ? export_.path() : error);
  note_->show();
}

// ---- what stays from one start to the next

void MessagesPage::saveView() const {
  if (QCoreApplication::organizationName().isEmpty()) {
    return;  // tests
  }
  QSettings settings;
  QStringList hidden;
  for (int i = 0; i < RecordModel::kColumns; ++i) {
    if (table_->isColumnHidden(i)) {
      hidden << QString::number(i);
    }
  }
  settings.setValue(QStringLiteral("messages/hidden"), hidden);
  settings.setValue(QStringLiteral("messages/utc"), utc_);
  settings.setValue(QStringLiteral("messages/order"), static_cast<int>(model_->order()));
}

void MessagesPage::loadView() {
  if (QCoreApplication::organizationName().isEmpty()) {
    return;
  }
  const QSettings settings;
  if (settings.contains(QStringLiteral("messages/hidden"))) {
    const QStringList hidden = settings.value(QStringLiteral("messages/hidden")).toStringList();
    for (int i = 0; i < RecordModel::kColumns; ++i) {
      table_->setColumnHidden(i, hidden.contains(QString::number(i)));
    }
  }
  if (settings.value(QStringLiteral("messages/utc")).toBool()) {
    setUtc(true);
  }
  const int order = settings.value(QStringLiteral("messages/order")).toInt();
  setOrder(static_cast<RecordModel::Order>(std::clamp(order, 0, static_cast<int>(RecordModel::Order::newest_first))));
}

}  // namespace hw::ui
