// SPDX-License-Identifier: Apache-2.0
#include "ui/dialogs/reset_offsets_dialog.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLineEdit>
#include <QTableWidget>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/dialogs/dialog_parts.h"
#include "ui/painting/shapes.h"
#include "ui/painting/text.h"
#include "ui/session/session_admin.h"
#include "ui/theme/theme.h"
#include "ui/views/data_delegate.h"
#include "ui/views/table_setup.h"
#include "ui/window/controls.h"

namespace hw::ui {

namespace {

constexpr int kRowsMax = 500;   // of the table; the plan covers all
constexpr int kKeysAsked = 60;  // partitions whose first key is looked up

enum Column : int { kPartition, kFrom, kTo, kSkipped, kReplayed, kKey, kColumns };

}  // namespace

ResetOffsetsDialog::ResetOffsetsDialog(Session* session, const QString& group, std::function<std::int64_t()> now, QWidget* parent)
    : QDialog(parent), session_(session), group_(group), now_(std::move(now)) {
  const Theme& t = Theme::current();
  setWindowTitle(tr("Reset offsets of %1").arg(group));
  setObjectName(QStringLiteral("resetDialog"));
  setMinimumSize(t.px(760), t.px(420));
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(t.px(20), t.px(18), t.px(20), t.px(16));
  column->setSpacing(t.px(8));
  column->addWidget(new TextLabel(tr("Reset offsets of %1").arg(group), FontRole::page_title, TextLabel::Tone::text, this));
  auto* words = new TextLabel(tr("Choose where the group goes on reading. The table shows what that means; nothing happens before Apply."),
                              FontRole::body, TextLabel::Tone::text2, this);
  words->setWordWrap(true);
  column->addWidget(words);
  auto* row = new QHBoxLayout;
  row->setSpacing(t.px(8));
  to_ = new SegmentedControl({tr("Earliest"), tr("Latest"), tr("Offset"), tr("Shift by"), tr("Time")}, this);
  row->addWidget(to_);
  value_ = new QLineEdit(this);
  value_->setFixedWidth(t.px(180));
  value_->setStyleSheet(QStringLiteral("font-family: \"JetBrains Mono\";"));
  value_->setAccessibleName(tr("Value"));
  row->addWidget(value_);
  row->addStretch(1);
  topics_ = new QComboBox(this);
  topics_->setAccessibleName(tr("Topic"));
  topics_->addItem(tr("all topics"), QString());
  row->addWidget(topics_);
  column->addLayout(row);
  value_note_ = new TextLabel({}, FontRole::caption, TextLabel::Tone::text3, this);
  value_note_->setMinimumHeight(t.px(16));
  column->addWidget(value_note_);
  table_ = new QTableWidget(0, kColumns, this);
  table_->setHorizontalHeaderLabels({tr("Partition"), tr("From"), tr("To"), tr("Skipped"), tr("Read again"), tr("First key after")});
  setup_table(table_, tr("What the reset does"));
  for (int c = kFrom; c <= kReplayed; ++c) {
    table_->horizontalHeaderItem(c)->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
  }
  table_->setSelectionMode(QAbstractItemView::NoSelection);
  table_->setItemDelegate(new DataDelegate([](const QModelIndex& index, bool) {
    CellLook look;
    look.first = index.column() == kPartition;
    look.elide = look.first ? Qt::ElideMiddle : Qt::ElideRight;
    look.color = index.data(Qt::ForegroundRole).value<QBrush>().color();
    return look;
  }, table_));
  const int widths[] = {190, 88, 88, 80, 92};
  for (int i = 0; i < kKey; ++i) {
    table_->setColumnWidth(i, t.px(widths[i]));
  }
  column->addWidget(table_, 1);
  summary_ = new TextLabel({}, FontRole::body_strong, TextLabel::Tone::text, this);
  summary_->setWordWrap(true);
  column->addWidget(summary_);
  command_ = add_command_line(column, this);
  failure_ = add_failure_line(column, this);
  apply_ = add_answer_row(column, this, tr("Apply")).accept;
  apply_->setObjectName(QStringLiteral("applyReset"));
  connect(apply_, &Button::clicked, this, &ResetOffsetsDialog::apply);

  const observe::ViewPtr view = session_->view();
  if (const observe::GroupView* g = view->find_group(group_.toStdString()); g != nullptr) {
    QStringList names;
    for (const auto& c : g->committed) {
      const QString name = QString::fromStdString(c.topic);
      if (names.isEmpty() || names.last() != name) {
        names << name;
      }
    }
    for (const QString& name : names) {
      topics_->addItem(name, name);
    }
  }
  topics_->setVisible(topics_->count() > 2);
  connect(to_, &SegmentedControl::activated, this, [this](int index) { choose(static_cast<ResetChoice::To>(index)); });
  connect(value_, &QLineEdit::textChanged, this, &ResetOffsetsDialog::replan);
  connect(topics_, &QComboBox::currentIndexChanged, this, &ResetOffsetsDialog::loadPositions);
  connect(session_, &Session::frameReady, this, [this] {
    if (active_ != groupActive()) {
      fill();
    }
  });
  new FocusRing(this);
  choose(ResetChoice::To::earliest);
  loadPositions();
}

QString ResetOffsetsDialog::topic() const { return topics_->currentData().toString(); }

bool ResetOffsetsDialog::groupActive() const {
  const observe::ViewPtr view = session_->view();
  const observe::GroupView* g = view->find_group(group_.toStdString());
  return g != nullptr && !g->members.empty();
}

bool ResetOffsetsDialog::ready() const { return waiting_ == 0 && valid_ && !plan_.empty(); }

void ResetOffsetsDialog::choose(ResetChoice::To to) {
  to_->setCurrent(static_cast<int>(to));
  const bool typed = to == ResetChoice::To::offset || to == ResetChoice::To::shift || to == ResetChoice::To::time;
  value_->setVisible(typed);
  switch (to) {
    case ResetChoice::To::earliest:
      value_note_->setText(tr("Everything that is still there is read again"));
      break;
    case ResetChoice::To::latest:
      value_note_->setText(tr("Everything that waits is skipped"));
      break;
    case ResetChoice::To::offset:
      value_->setPlaceholderText(QStringLiteral("1042"));
      break;
    case ResetChoice::To::shift:
      value_->setPlaceholderText(QStringLiteral("-100"));
      break;
    case ResetChoice::To::time:
      value_->setPlaceholderText(QStringLiteral("12:03, 15 min ago"));
      break;
  }
  if (typed) {
    value_->setFocus();
  }
  replan();
}

void ResetOffsetsDialog::setValue(const QString& text) { value_->setText(text); }

void ResetOffsetsDialog::loadPositions() {
  parts_.clear();
  const observe::ViewPtr view = session_->view();
  const observe::GroupView* g = view->find_group(group_.toStdString());
  std::vector<PartitionName> names;
  if (g != nullptr) {
    for (const auto& c : g->committed) {
      if ((topic().isEmpty() || topic() == QString::fromStdString(c.topic)) && view->find_topic(std::string_view(c.topic)) != nullptr) {
        parts_.push_back({{c.topic, c.partition.value()}, c.counters == nullptr ? -1 : c.counters->offset.get(), 0, 0, -1});
        names.push_back(parts_.back().partition);
      }
    }
  }
  const std::uint64_t round = ++round_;
  waiting_ = 2;
  const QPointer<ResetOffsetsDialog> self(this);
  const auto take = [self, round](bool latest, const OffsetsAnswer& answer) {
    if (self == nullptr || self->round_ != round) {
      return;
    }
    --self->waiting_;
    if (!answer.error.isEmpty()) {
      self->failure_->setText(tr("The offsets of the topic could not be read: %1").arg(answer.error));
      self->failure_->show();
      self->valid_ = false;
    }
    for (std::size_t i = 0; i < answer.rows.size() && i < self->parts_.size(); ++i) {
      (latest ? self->parts_[i].latest : self->parts_[i].earliest) = std::max<std::int64_t>(0, answer.rows[i].offset);
    }
    if (self->waiting_ == 0) {
      self->replan();
    }
  };
  SessionAdmin::of(session_).findOffsets(names, kOffsetEarliest, [take](const OffsetsAnswer& answer) { take(false, answer); });
  SessionAdmin::of(session_).findOffsets(names, kOffsetLatest, [take](const OffsetsAnswer& answer) { take(true, answer); });
}

void ResetOffsetsDialog::replan() {
  const auto to = static_cast<ResetChoice::To>(to_->current());
  ResetChoice choice{to, 0};
  valid_ = true;
  const QString typed = value_->text().trimmed();
  QString note;
  if (to == ResetChoice::To::offset || to == ResetChoice::To::shift) {
    bool number = false;
    choice.value = typed.toLongLong(&number);
    valid_ = number && (to == ResetChoice::To::shift || choice.value >= 0);
    note = valid_              ? (to == ResetChoice::To::shift ? tr("Negative numbers read again, positive ones skip") : tr("The same offset for every partition, within its log"))
           : typed.isEmpty() ? tr("A number of records, such as -100")
                             : tr("“%1” is not a number").arg(typed);
  } else if (to == ResetChoice::To::time) {
    const std::optional<std::int64_t> at = parse_moment(typed, now_());
    valid_ = at.has_value();
    choice.value = at.value_or(0);
    note = valid_              ? tr("The first record at or after %1").arg(format_date_time(choice.value))
           : typed.isEmpty() ? tr("A time such as 12:03, 2026-11-29 12:03, or 15 min ago")
                             : tr("“%1” is no time that can be read").arg(typed);
  }
  if (!note.isEmpty()) {
    value_note_->setText(note);
    value_note_->setTone(valid_ || typed.isEmpty() ? TextLabel::Tone::text3 : TextLabel::Tone::err);
  } else {
    value_note_->setTone(TextLabel::Tone::text3);
  }
  command_->setCommand(valid_ ? reset_command(session_->bootstrap(), group_, topic(), choice) : QString());
  if (!valid_ || waiting_ > 0) {
    plan_.clear();
    fill();
    return;
  }
  if (to != ResetChoice::To::time) {
    plan_ = plan_reset(parts_, choice);
    fill();
    return;
  }
  std::vector<PartitionName> names;
  for (const ResetPart& part : parts_) {
    names.push_back(part.partition);
  }
  const std::uint64_t round = ++round_;
  waiting_ = 1;
  plan_.clear();
  fill();
  const QPointer<ResetOffsetsDialog> self(this);
  SessionAdmin::of(session_).findOffsets(names, choice.value, [self, round, choice](const OffsetsAnswer& answer) {
    if (self == nullptr || self->round_ != round) {
      return;
    }
    self->waiting_ = 0;
    for (std::size_t i = 0; i < answer.rows.size() && i < self->parts_.size(); ++i) {
      self->parts_[i].found = answer.rows[i].offset;
    }
    self->plan_ = plan_reset(self->parts_, choice);
    self->fill();
  });
}

void ResetOffsetsDialog::fill() {
  const int rows = std::min<int>(kRowsMax, static_cast<int>(plan_.size()));
  table_->setRowCount(rows);
  const Theme& t = Theme::current();
  std::int64_t skipped = 0;
  std::int64_t replayed = 0;
  int changes = 0;
  int clamped = 0;
  for (const ResetRow& row : plan_) {
    skipped += row.skipped;
    replayed += row.replayed;
    changes += row.changes() ? 1 : 0;
    clamped += row.clamped ? 1 : 0;
  }
  for (int i = 0; i < rows; ++i) {
    const ResetRow& row = plan_[static_cast<std::size_t>(i)];
    const auto set = [&](int column, const QString& text, bool right, const QColor& color = {}) {
      auto* item = table_->item(i, column);
      if (item == nullptr) {
        item = new QTableWidgetItem;
        table_->setItem(i, column, item);
      }
      item->setText(text);
      item->setFont(t.font(FontRole::data));
      item->setForeground(color.isValid() ? color : (row.changes() ? t.colors().text : t.colors().text3));
      item->setTextAlignment((right ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    };
    set(kPartition, QStringLiteral("%1/%2").arg(QString::fromStdString(row.partition.topic)).arg(row.partition.partition), false);
    set(kFrom, row.from < 0 ? QStringLiteral("–") : format_offset(row.from), true);
    set(kTo, format_offset(row.to), true);
    set(kSkipped, format_count(row.skipped), true, row.skipped > 0 ? t.colors().warn_t : QColor());
    set(kReplayed, format_count(row.replayed), true);
    set(kKey, QString(), false);
  }
  QString words;
  if (waiting_ > 0) {
    words = tr("Asking for the offsets …");
  } else if (!valid_) {
    words.clear();
  } else if (plan_.empty()) {
    words = tr("The group has no offset to reset.");
  } else if (changes == 0) {
    words = tr("Nothing changes: the group is there already.");
  } else {
    words = tr("%Ln partition(s) move", nullptr, changes);
    words += QLatin1Char('.');
    if (replayed > 0) {
      words += QLatin1Char(' ') + tr("Records read again: %1.").arg(format_count(replayed));
    }
    if (skipped > 0) {
      words += QLatin1Char(' ') + tr("Records this group will never read: %1.").arg(format_count(skipped));
    }
    if (clamped > 0) {
      words += QLatin1Char(' ') + tr("%Ln partition(s) end at the edge of their log.", nullptr, clamped);
    }
  }
  active_ = groupActive();
  if (valid_ && active_) {
    words += (words.isEmpty() ? QString() : QStringLiteral(" ")) +
             tr("The group has members, and a broker would refuse: stop them first (Shift+G for built-in ones).");
    summary_->setTone(TextLabel::Tone::warn);
  } else {
    summary_->setTone(TextLabel::Tone::text);
  }
  summary_->setText(words);
  apply_->setEnabled(ready() && changes > 0 && !active_);
  askKeys();
}

// What the group will be handed first, so that a person can see whether it is the right place.
void ResetOffsetsDialog::askKeys() {
  const std::uint64_t round = round_;
  for (int i = 0; i < table_->rowCount() && i < kKeysAsked; ++i) {
    const ResetRow& row = plan_[static_cast<std::size_t>(i)];
    if (row.to >= parts_[static_cast<std::size_t>(i)].latest) {
      table_->item(i, kKey)->setText(tr("none yet: it waits for new records"));
      table_->item(i, kKey)->setForeground(Theme::current().colors().text3);
      continue;
    }
    ReadQuery query;
    query.topic = row.partition.topic;
    query.partition = row.partition.partition;
    query.from_offset = row.to;
    query.max_records = 1;
    query.max_bytes = 64 * 1024;
    const QPointer<ResetOffsetsDialog> self(this);
    session_->read(query, [self, round, i, at = row.to](const ReadAnswer& answer) {
      if (self == nullptr || self->round_ != round || i >= self->table_->rowCount() || static_cast<std::size_t>(i) >= self->plan_.size() ||
          self->plan_[static_cast<std::size_t>(i)].to != at || answer.rows.empty()) {
        return;
      }
      const RecordRow& record = answer.rows.front();
      const QString key = !record.key ? tr("no key") : record.key->empty() ? QStringLiteral("\"\"") : key_text(record.key->span(), 32);
      self->table_->item(i, kKey)->setText(QStringLiteral("%1  %2").arg(key, format_time(record.timestamp_ms)));
    });
  }
}

void ResetOffsetsDialog::apply() {
  if (!ready()) {
    return;
  }
  std::vector<PartitionOffset> before;
  std::vector<PartitionOffset> after;
  for (const ResetRow& row : plan_) {
    if (row.changes()) {
      before.push_back({row.partition, row.from});
      after.push_back({row.partition, row.to});
    }
  }
  apply_->setEnabled(false);
  failure_->hide();
  const QPointer<ResetOffsetsDialog> self(this);
  SessionAdmin::of(session_).commitGroupOffsets(group_.toStdString(), after, [self, before, after](const OffsetsAnswer& answer) {
    if (self == nullptr) {
      return;
    }
    QString error = answer.error;
    int refused = 0;
    for (const PartitionResult& row : answer.rows) {
      refused += row.error.isEmpty() ? 0 : 1;
      if (error.isEmpty() && !row.error.isEmpty()) {
        error = row.error;
      }
    }
    if (error.isEmpty()) {
      Q_EMIT self->applied(before, after);
      self->accept();
      return;
    }
    self->failure_->setText(error.contains(QLatin1String("UNKNOWN_MEMBER_ID"))
                                ? tr("The group is in use: a broker takes offsets from outside only while a group has no member. "
                                     "Stop its consumers (Shift+G for built-in ones), then apply again.")
                                : refused > 0 && refused < static_cast<int>(after.size())
                                    ? tr("%Ln partition(s) were not reset: %1", nullptr, refused).arg(error)
                                    : tr("Nothing was reset: %1").arg(error));
    self->failure_->show();
    self->apply_->setEnabled(!self->groupActive());
  });
}

}  // namespace hw::ui
