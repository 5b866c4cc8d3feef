// SPDX-License-Identifier: Apache-2.0
// MessagesPage: its parts, and what they say to each other.
#include <QComboBox>
#include <QDateTimeEdit>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLineEdit>
#include <QMenu>
#include <QRegularExpressionValidator>
#include <QScrollBar>
#include <QSplitter>
#include <QTableView>
#include <QTreeWidget>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/filter/filter_box.h"
#include "ui/filter/record_fields.h"
#include "ui/views/messages_page.h"
#include "ui/views/pane.h"
#include "ui/views/record_detail.h"
#include "ui/views/record_model.h"
#include "ui/views/table_notice.h"
#include "ui/views/table_setup.h"
#include "ui/views/volume_strip.h"
#include "ui/window/controls.h"

namespace hw::ui {

void MessagesPage::buildHeader() {
  const Theme& theme = Theme::current();
  topics_ = new QComboBox(this);
  topics_->setAccessibleName(tr("Topic"));
  follow_font(topics_, FontRole::data);
  topics_->setPlaceholderText(tr("no topic yet"));
  topics_->setMinimumContentsLength(12);
  topics_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  topics_->setMinimumWidth(theme.px(120));  // as wide as its topic asks for, where there is room
  topics_->setMaxVisibleItems(24);
  header()->addLeft(topics_);
  partitions_ = new QComboBox(this);
  partitions_->setAccessibleName(tr("Partition"));
  partitions_->setPlaceholderText(tr("all partitions"));  // of no topic yet
  partitions_->setMinimumContentsLength(6);
  partitions_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  partitions_->setFixedWidth(theme.px(118));
  partitions_->setMaxVisibleItems(24);
  header()->addLeft(partitions_);
  from_label_ = new TextLabel(tr("from"), FontRole::control, TextLabel::Tone::text2, this);
  header()->addRight(from_label_);
  from_ = new SegmentedControl({tr("newest"), tr("oldest"), tr("offset"), tr("time"), tr("group")}, this);
  from_->setObjectName(QStringLiteral("recordsFrom"));
  from_->setAccessibleDescription(tr("Where the list begins"));
  header()->addRight(from_);
  isolation_label_ = new TextLabel(tr("isolation"), FontRole::control, TextLabel::Tone::text2, this);
  header()->addRight(isolation_label_);
  isolation_control_ = new SegmentedControl({tr("committed"), tr("all"), tr("raw")}, this);
  isolation_control_->setAccessibleDescription(tr("What a read_committed consumer gets, what a read_uncommitted one gets, or with transaction markers"));
  isolation_control_->setToolTip(tr("committed: what a read_committed consumer gets. all: read_uncommitted. raw: with transaction markers."));
  isolation_control_->setCurrent(1);
  header()->addRight(isolation_control_);
}

void MessagesPage::buildFilterRow(QWidget* body) {
  const Theme& theme = Theme::current();
  auto* bar = new Pane(body);
  auto* row = new QHBoxLayout(bar);
  row->setContentsMargins(theme.px(Metrics::kPagePadding), theme.px(10), theme.px(Metrics::kPagePadding), theme.px(6));
  row->setSpacing(theme.px(8));
  row->setAlignment(Qt::AlignTop);
  offset_ = new QLineEdit(bar);
  offset_->setAccessibleName(tr("First offset"));
  offset_->setPlaceholderText(QStringLiteral("0"));
  follow_font(offset_, FontRole::data);
  offset_->setFixedWidth(theme.px(96));
  offset_->setValidator(new QRegularExpressionValidator(QRegularExpression(QStringLiteral("[0-9]{1,18}")), offset_));
  time_ = new QDateTimeEdit(QDateTime::currentDateTime().addSecs(-60), bar);
  time_->setAccessibleName(tr("First time"));
  time_->setDisplayFormat(QStringLiteral("yyyy-MM-dd HH:mm:ss"));
  follow_font(time_, FontRole::data);
  groups_ = new QComboBox(bar);
  groups_->setAccessibleName(tr("Where this group is"));
  groups_->setMinimumContentsLength(10);
  groups_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  for (QWidget* widget : {static_cast<QWidget*>(offset_), static_cast<QWidget*>(time_), static_cast<QWidget*>(groups_)}) {
    widget->setFixedHeight(theme.px(30));
    widget->hide();
    row->addWidget(widget, 0, Qt::AlignTop);
  }
  // The style gives a combo box its own least height, which the layout would take.
  const auto combo_height = [this] { groups_->setStyleSheet(QStringLiteral("QComboBox { min-height: %1px; }").arg(Theme::current().px(22))); };
  combo_height();
  connect(&theme, &Theme::changed, groups_, combo_height);
  filter_ = new FilterBox(filter::record_vocabulary(), QStringLiteral("messages"), bar);
  filter_->setExamples({{QStringLiteral("key ~ \"^42\""), tr("keys that begin with 42")},
                        {QStringLiteral("hdr[\"trace\"] == \"ab12\""), tr("by a header")},
                        {QStringLiteral("value.amount > 100"), tr("a place in JSON")},
                        {QStringLiteral("offset in 100..200 && partition == 1"), tr("a piece of one partition")},
                        {QStringLiteral("time >= -5 min"), tr("the last five minutes")},
                        {QStringLiteral("tombstone || value is empty"), tr("null is not empty")},
                        {QStringLiteral("size > 64 KiB"), tr("large records")},
                        {QStringLiteral("compression in {\"lz4\", \"zstd\"}"), tr("one of several")}});
  row->addWidget(filter_, 1, Qt::AlignTop);
  note_ = new TextLabel({}, FontRole::data, TextLabel::Tone::text2, bar);
  note_->setFixedHeight(theme.px(30));
  row->addWidget(note_, 0, Qt::AlignTop);
  export_button_ = new Button(Button::Kind::normal, {}, tr("Export"), bar);
  tail_button_ = new Button(Button::Kind::normal, QStringLiteral("play"), tr("Tail"), bar);
  tail_button_->setCheckable(true);
  options_ = new Button(Button::Kind::normal, QStringLiteral("dots"), {}, bar);
  options_->setObjectName(QStringLiteral("messagesMenu"));
  options_->setName(tr("Columns, time zone and more"));
  for (Button* button : {export_button_, tail_button_, options_}) {
    auto* holder = new QWidget(bar);
    holder->setFixedHeight(theme.px(30));
    auto* inner = new QHBoxLayout(holder);
    inner->setContentsMargins(0, 0, 0, 0);
    inner->addWidget(button);
    row->addWidget(holder, 0, Qt::AlignTop);
  }
  body->layout()->addWidget(bar);
  partial_ = new TextLabel({}, FontRole::caption, TextLabel::Tone::text2, body);
  partial_->setObjectName(QStringLiteral("partitionsRead"));
  partial_->setWordWrap(true);
  partial_->setContentsMargins(theme.px(Metrics::kPagePadding), 0, theme.px(Metrics::kPagePadding), theme.px(6));
  partial_->hide();
  body->layout()->addWidget(partial_);
}

void MessagesPage::buildTable(QWidget* body) {
  const Theme& theme = Theme::current();
  split_ = new QSplitter(Qt::Vertical, body);
  split_->setChildrenCollapsible(false);
  split_->setHandleWidth(theme.px(3));
  model_ = new RecordModel(this);
  table_ = new QTableView(split_);
  table_->setObjectName(QStringLiteral("records"));
  setup_table(table_, tr("Records"));
  table_->setModel(model_);
  table_->setItemDelegate(new RecordDelegate(table_));
  table_->setMouseTracking(true);
  table_->setMinimumHeight(theme.px(72));
  table_->setContextMenuPolicy(Qt::CustomContextMenu);
  const int widths[] = {44, 92, 112, 116, 320, 104, 78, 124};
  for (int i = 0; i < RecordModel::kColumns; ++i) {
    table_->setColumnWidth(i, theme.px(widths[i]));
  }
  table_->horizontalHeader()->setStretchLastSection(false);
  table_->horizontalHeader()->setSectionResizeMode(RecordModel::kValue, QHeaderView::Stretch);
  table_->horizontalHeader()->setContextMenuPolicy(Qt::CustomContextMenu);
  table_->horizontalHeader()->setSectionsClickable(true);
  table_->horizontalHeader()->setToolTip(tr("Click P, Offset or Time to order the list; again to turn it round, or back"));
  table_->setColumnHidden(RecordModel::kSize, true);
  table_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  table_->viewport()->installEventFilter(this);
  table_->installEventFilter(this);
  detail_ = new RecordDetail(split_);
  detail_->setMinimumHeight(theme.px(100));
  split_->addWidget(table_);
  split_->addWidget(detail_);
  split_->setStretchFactor(0, 3);
  split_->setStretchFactor(1, 2);
  split_->setSizes({theme.px(340), theme.px(260)});
  qobject_cast<QVBoxLayout*>(body->layout())->addWidget(split_, 1);
  pill_ = new Button(Button::Kind::primary, {}, {}, table_);
  pill_->hide();
  notice_ = new TableNotice(table_);
}

void MessagesPage::connectAll() {
  connect(pill_, &QAbstractButton::clicked, this, [this] {
    unseen_ = 0;
    pill_->hide();
    if (latest_per_key_) {
      restart();
    } else if (model_->order() == RecordModel::Order::newest_first) {
      table_->scrollToTop();
    } else {
      table_->scrollToBottom();
    }
  });
  connect(feed_, &RecordFeed::restarted, this, [this] {
    model_->clear();
    detail_->clear();
    unseen_ = 0;
    failure_.clear();
    pill_->hide();
    note_->setText({});  // the count was that of the list before
  });
  waiting_.setSingleShot(true);
  waiting_.setInterval(100);
  connect(&waiting_, &QTimer::timeout, this, &MessagesPage::refreshState);
  connect(feed_, &RecordFeed::arrived, this, &MessagesPage::onRows);
  connect(feed_, &RecordFeed::failed, this, [this](const QString& what) {
    failure_ = what;
    refreshState();
  });
  connect(feed_, &RecordFeed::pageDone, this, &MessagesPage::onPageDone);
  connect(&scan_, &RecordScan::rows, this, &MessagesPage::onRows);
  connect(&scan_, &RecordScan::progressed, this, &MessagesPage::onScanned);
  connect(&scan_, &RecordScan::finished, this, &MessagesPage::onScanned);
  connect(&behind_, &RecordScan::rows, this, [this](const std::vector<RecordRow>& rows) { onRows(rows, false); });
  connect(&behind_, &RecordScan::finished, this, [this] {
    behind_hits_ += behind_.progress().hits;
    behind_records_ += behind_.progress().records;
    not_listed_ += behind_.progress().hits - behind_.progress().kept;
    onScanned();
  });
  connect(filter_, &FilterBox::applied, this, &MessagesPage::onFilter);
  connect(filter_, &FilterBox::stopRequested, this, [this] {
    scan_.cancel();
    onScanned();
  });
  connect(filter_, &FilterBox::leaveRequested, this, [this] { table_->setFocus(); });
  filter_->setValues([this](const filter::Field& field) {
    QStringList values;
    const auto note = [&values](const QString& value) {
      if (!values.contains(value) && values.size() < 50) {
        values << value;
      }
    };
    // From the newest rows that are here: what a person sees is what a person asks for.
    for (int i = model_->rowCount() - 1; i >= std::max(0, model_->rowCount() - 500); --i) {
      const RecordRow& row = model_->row(i);
      if (field.name == "key" && row.key && row.key->size() <= 64) {
        note(QString::fromUtf8(row.key->text().data(), static_cast<qsizetype>(row.key->size())));
      } else if (field.name == "hdr[]") {
        for (const auto& [name, value] : row.headers) {
          note(QString::fromStdString(name));
        }
      } else if (field.name == "partition") {
        note(QString::number(row.partition));
      }
    }
    values.sort();
    return values;
  });
  connect(volume_, &VolumeStrip::spanSelected, this, [this](std::int64_t from, std::int64_t to) { onSpan(std::make_pair(from, to)); });
  connect(volume_, &VolumeStrip::spanCleared, this, [this] { onSpan(std::nullopt); });
  connect(&sampler_, &VolumeSampler::ready, volume_, &VolumeStrip::setVolume);
  connect(&export_, &RecordExport::progressed, this, &MessagesPage::refreshState);
  connect(&export_, &RecordExport::finished, this, &MessagesPage::onExported);
  connect(topics_, &QComboBox::activated, this, [this] {
    refreshPartitions();
    restart();
    Q_EMIT selectionRequested(Selection::ofTopic(topic()));
  });
  connect(partitions_, &QComboBox::activated, this, [this] { restart(); });
  connect(from_, &SegmentedControl::activated, this, [this](int index) { setFrom(static_cast<RecordFeed::From>(index)); });
  connect(isolation_control_, &SegmentedControl::activated, this, [this](int index) { setIsolation(static_cast<Isolation>(index)); });
  connect(offset_, &QLineEdit::returnPressed, this, &MessagesPage::restart);
  connect(time_, &QDateTimeEdit::editingFinished, this, &MessagesPage::restart);
  connect(groups_, &QComboBox::activated, this, [this] { restart(); });
  connect(tail_button_, &QAbstractButton::clicked, this, [this](bool on) {
    setTail(on);
    if (on && !scanning()) {
      setFrom(RecordFeed::From::newest);
    }
  });
  connect(export_button_, &QAbstractButton::clicked, this, [this] {
    if (export_.running()) {
      export_.cancel();
      onExported(tr("cancelled"), 0);
    } else {
      exportDialog();
    }
  });
  connect(options_, &QAbstractButton::clicked, this, &MessagesPage::optionsMenu);
  connect(table_, &QWidget::customContextMenuRequested, this, [this](const QPoint& at) { recordMenu(table_->viewport()->mapToGlobal(at)); });
  connect(table_->horizontalHeader(), &QHeaderView::sectionClicked, this, &MessagesPage::onSection);
  connect(table_->horizontalHeader(), &QWidget::customContextMenuRequested, this, [this](const QPoint& at) {
    QMenu menu(this);
    orderMenu(*menu.addMenu(tr("Order")));
    columnsMenu(menu);
    menu.exec(table_->horizontalHeader()->mapToGlobal(at));
  });
  connect(detail_, &RecordDetail::copyMenuRequested, this, &MessagesPage::recordMenu);
  connect(detail_, &RecordDetail::resendRequested, this, [this](const RecordRow& row) { Q_EMIT produceRequested(topic(), row, false); });
  connect(table_->verticalScrollBar(), &QScrollBar::valueChanged, this, &MessagesPage::onScroll);
  connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this] { onCurrent(); });
}

}  // namespace hw::ui
