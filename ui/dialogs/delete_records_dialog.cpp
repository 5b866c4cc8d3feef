// SPDX-License-Identifier: Apache-2.0
#include "ui/dialogs/delete_records_dialog.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QVBoxLayout>
#include <algorithm>
#include <map>

#include "ui/dialogs/dialog_parts.h"
#include "ui/painting/text.h"
#include "ui/session/session_admin.h"
#include "ui/theme/theme.h"
#include "ui/window/controls.h"

namespace hw::ui {

namespace {
constexpr int kPartitionsListed = 1'000;
}

DeleteRecordsDialog::DeleteRecordsDialog(Session* session, const QString& topic, std::int32_t partition, std::int64_t offset, QWidget* parent)
    : QDialog(parent), session_(session), topic_(topic) {
  const Theme& t = Theme::current();
  setWindowTitle(tr("Delete records of %1").arg(topic));
  setObjectName(QStringLiteral("deleteRecordsDialog"));
  setMinimumWidth(t.px(540));
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(t.px(20), t.px(18), t.px(20), t.px(16));
  column->setSpacing(t.px(8));
  column->addWidget(new TextLabel(tr("Delete records of %1").arg(topic), FontRole::page_title, TextLabel::Tone::text, this));
  auto* words = new TextLabel(tr("Everything before an offset becomes unreadable, for good. Whole segments below it are removed from disk."),
                              FontRole::body, TextLabel::Tone::text2, this);
  words->setWordWrap(true);
  column->addWidget(words);
  auto* row = new QHBoxLayout;
  row->setSpacing(t.px(8));
  partition_ = new QComboBox(this);
  partition_->setAccessibleName(tr("Partition"));
  partition_->addItem(tr("all partitions"), -1);
  const observe::ViewPtr view = session_->view();
  const observe::TopicView* known = view->find_topic(topic.toStdString());
  const int count = known == nullptr ? 0 : static_cast<int>(known->partitions.size());
  for (int i = 0; i < std::min(count, kPartitionsListed); ++i) {
    partition_->addItem(tr("partition %1").arg(i), i);
  }
  partition_->setCurrentIndex(partition >= 0 && partition < kPartitionsListed ? partition + 1 : 0);
  row->addWidget(partition_);
  row->addWidget(new TextLabel(tr("before offset"), FontRole::body, TextLabel::Tone::text2, this));
  offset_ = new QLineEdit(offset < 0 ? QString() : QString::number(offset), this);
  offset_->setPlaceholderText(tr("the end"));
  offset_->setAccessibleName(tr("Offset; empty is the end"));
  offset_->setFixedWidth(t.px(140));
  offset_->setStyleSheet(QStringLiteral("font-family: \"JetBrains Mono\";"));
  row->addWidget(offset_);
  row->addStretch(1);
  column->addLayout(row);
  note_ = new TextLabel({}, FontRole::caption, TextLabel::Tone::text3, this);
  note_->setMinimumHeight(t.px(16));
  column->addWidget(note_);
  summary_ = new TextLabel({}, FontRole::body_strong, TextLabel::Tone::text, this);
  summary_->setWordWrap(true);
  column->addWidget(summary_);
  groups_ = new TextLabel({}, FontRole::body, TextLabel::Tone::warn, this);
  groups_->setWordWrap(true);
  column->addWidget(groups_);
  command_ = add_command_line(column, this);
  failure_ = add_failure_line(column, this);
  column->addStretch(1);
  const AnswerRow answers = add_answer_row(column, this, tr("Delete records"), Button::Kind::danger);
  delete_ = answers.accept;
  delete_->setObjectName(QStringLiteral("deleteRecords"));
  connect(delete_, &Button::clicked, this, &DeleteRecordsDialog::submit);
  connect(partition_, &QComboBox::currentIndexChanged, this, &DeleteRecordsDialog::refresh);
  connect(offset_, &QLineEdit::textChanged, this, &DeleteRecordsDialog::refresh);
  new FocusRing(this);
  refresh();
  answers.cancel->setFocus();
}

QString DeleteRecordsDialog::summary() const { return summary_->text(); }

DeleteRecordsDialog::Plan DeleteRecordsDialog::plan() const {
  Plan plan;
  const observe::ViewPtr view = session_->view();
  const observe::TopicView* topic = view->find_topic(topic_.toStdString());
  if (topic == nullptr) {
    return plan;
  }
  const int only = partition_->currentData().toInt();
  const QString typed = offset_->text().trimmed();
  const std::int64_t wanted = typed.isEmpty() ? -1 : typed.toLongLong();
  std::vector<std::pair<std::int64_t, std::int64_t>> range(topic->partitions.size(), {0, 0});  // log start, what goes
  for (std::size_t i = 0; i < topic->partitions.size(); ++i) {
    if ((only >= 0 && static_cast<int>(i) != only) || topic->partitions[i] == nullptr) {
      continue;
    }
    const event::ReplicaCounters* c = topic->partitions[i]->leader_counters();
    if (c == nullptr) {
      continue;
    }
    const std::int64_t start = c->log_start_offset.get();
    const std::int64_t high = c->high_watermark.get();
    const std::int64_t to = wanted < 0 ? high : std::min(wanted, high);
    if (to <= start) {
      continue;
    }
    range[i] = {start, to};
    plan.before.push_back({{topic->name, static_cast<std::int32_t>(i)}, to});
    plan.records += to - start;
  }
  std::map<std::string, std::int64_t> unread;
  for (const auto& [id, group] : *view->groups) {
    for (const auto& committed : group->committed) {
      const auto at = static_cast<std::size_t>(committed.partition.value());
      if (committed.topic != topic->name || committed.counters == nullptr || at >= range.size()) {
        continue;
      }
      const std::int64_t position = std::max(range[at].first, committed.counters->offset.get());
      if (position < range[at].second) {
        unread[id] += range[at].second - position;
      }
    }
  }
  for (const auto& [id, records] : unread) {
    plan.unread.emplace_back(QString::fromStdString(id), records);
  }
  return plan;
}

void DeleteRecordsDialog::refresh() {
  const QString typed = offset_->text().trimmed();
  bool number = true;
  if (!typed.isEmpty()) {
    number = typed.toLongLong(&number) >= 0 && number;
  }
  note_->setText(number ? tr("Empty: up to the end") : tr("“%1” is not an offset").arg(typed));
  note_->setTone(number ? TextLabel::Tone::text3 : TextLabel::Tone::err);
  const Plan p = number ? plan() : Plan{};
  summary_->setText(!number ? QString()
                    : p.before.empty()
                        ? tr("Nothing lies before that offset.")
                        : tr("%1 records on %Ln partition(s) go.", nullptr, static_cast<int>(p.before.size())).arg(format_count(p.records)));
  QStringList unread;
  for (const auto& [group, records] : p.unread) {
    if (unread.size() < 6) {
      unread << tr("%1 has not read %2 of them").arg(group, format_count(records));
    }
  }
  groups_->setText(unread.join(QStringLiteral("; ")));
  groups_->setVisible(!unread.isEmpty());
  command_->setCommand(p.before.empty() ? QString()
                                     : QStringLiteral("kafka-delete-records.sh --bootstrap-server %1 --offset-json-file %2")
                                           .arg(session_->bootstrap(), QStringLiteral("offsets.json")));
  delete_->setEnabled(number && !p.before.empty());
}

void DeleteRecordsDialog::submit() {
  const Plan p = plan();
  if (!delete_->isEnabled() || p.before.empty()) {
    return;
  }
  delete_->setEnabled(false);
  failure_->hide();
  const QPointer<DeleteRecordsDialog> self(this);
  SessionAdmin::of(session_).deleteRecords(p.before, [self, records = p.records](const OffsetsAnswer& answer) {
    if (self == nullptr) {
      return;
    }
    QString error = answer.error;
    for (const PartitionResult& row : answer.rows) {
      error = error.isEmpty() ? row.error : error;
    }
    if (error.isEmpty()) {
      Q_EMIT self->deleted(self->topic_, records);
      self->accept();
      return;
    }
    self->failure_->setText(error.contains(QLatin1String("POLICY_VIOLATION"))
                                ? tr("Refused: records can be deleted only where cleanup.policy contains delete.")
                                : error);
    self->failure_->show();
    self->delete_->setEnabled(true);
  });
}

}  // namespace hw::ui
