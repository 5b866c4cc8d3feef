// SPDX-License-Identifier: Apache-2.0
#include "ui/dialogs/add_consumer_dialog.h"

#include <QComboBox>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QSpinBox>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/session/session_admin.h"
#include "ui/dialogs/dialog_parts.h"
#include "ui/theme/theme.h"
#include "ui/window/controls.h"

namespace hw::ui {

AddConsumerDialog::AddConsumerDialog(Session* session, const ConsumerCommand& start, QWidget* parent)
    : QDialog(parent), session_(session) {
  const Theme& t = Theme::current();
  setWindowTitle(tr("Add a consumer"));
  setObjectName(QStringLiteral("consumerDialog"));
  setMinimumWidth(t.px(600));
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(t.px(20), t.px(18), t.px(20), t.px(16));
  column->setSpacing(t.px(8));
  column->addWidget(new TextLabel(tr("Add a consumer"), FontRole::page_title, TextLabel::Tone::text, this));
  auto* words = new TextLabel(tr("A real client of this window, over a real connection. It joins the group like any application would."),
                              FontRole::body, TextLabel::Tone::text2, this);
  words->setWordWrap(true);
  column->addWidget(words);
  auto* grid = new QGridLayout;
  grid->setHorizontalSpacing(t.px(16));
  grid->setVerticalSpacing(t.px(8));
  grid->setColumnStretch(1, 1);
  int row = 0;
  const auto add = [&](const QString& label, QWidget* field, QWidget* note = nullptr) {
    auto* text = new TextLabel(label, FontRole::control, TextLabel::Tone::text2, this);
    text->setBuddy(field);
    field->setAccessibleName(label);
    grid->addWidget(text, row, 0);
    auto* line = new QHBoxLayout;
    line->setSpacing(t.px(10));
    line->addWidget(field);
    if (note != nullptr) {
      note->setMinimumWidth(note->sizeHint().width());
      line->addWidget(note, 1);
    } else {
      line->addStretch(1);
    }
    grid->addLayout(line, row++, 1);
  };
  const QString mono = QStringLiteral("font-family: \"JetBrains Mono\";");
  group_ = new QLineEdit(QString::fromStdString(start.group), this);
  group_->setStyleSheet(mono);
  group_->setFixedWidth(t.px(220));
  group_->setPlaceholderText(tr("billing"));
  group_note_ = new TextLabel({}, FontRole::caption, TextLabel::Tone::text3, this);
  add(tr("Group"), group_, group_note_);
  topic_ = new QComboBox(this);
  topic_->setStyleSheet(mono);
  topic_->setEditable(true);
  topic_->setMinimumWidth(t.px(220));
  const observe::ViewPtr view = session_->view();
  for (const auto& [name, topic] : *view->topics) {
    if (!topic->internal) {
      topic_->addItem(QString::fromStdString(name));
    }
  }
  QStringList start_topics;
  for (const std::string& topic : start.topics) {
    start_topics << QString::fromStdString(topic);
  }
  topic_->setCurrentText(start_topics.isEmpty() ? topic_->itemText(0) : start_topics.join(QStringLiteral(", ")));
  add(tr("Reads"), topic_, new TextLabel(tr("several: separate by commas"), FontRole::caption, TextLabel::Tone::text3, this));
  protocol_ = new SegmentedControl({tr("Classic"), tr("Consumer")}, this);
  protocol_->setObjectName(QStringLiteral("consumerProtocol"));
  protocol_->setCurrent(static_cast<int>(start.protocol));
  protocol_note_ = new TextLabel({}, FontRole::caption, TextLabel::Tone::text3, this);
  add(tr("Protocol"), protocol_);
  grid->addWidget(protocol_note_, row++, 1);
  assignor_ = new QComboBox(this);
  assignor_->setObjectName(QStringLiteral("consumerAssignor"));
  assignor_note_ = new TextLabel({}, FontRole::caption, TextLabel::Tone::text3, this);
  add(tr("Assignor"), assignor_, assignor_note_);
  offerAssignors(QString::fromStdString(start.assignor));
  commit_ = new SegmentedControl({tr("Automatic"), tr("After work"), tr("Before work"), tr("Never")}, this);
  commit_->setCurrent(static_cast<int>(start.commit));
  add(tr("Commits"), commit_);
  commit_note_ = new TextLabel({}, FontRole::caption, TextLabel::Tone::text3, this);
  commit_note_->setWordWrap(true);
  commit_note_->setMinimumHeight(t.px(32));
  grid->addWidget(commit_note_, row++, 1);
  work_ = new QSpinBox(this);
  work_->setRange(0, 600'000);
  work_->setSuffix(tr(" ms"));
  work_->setValue(start.work_ms);
  work_->setStyleSheet(mono);
  add(tr("Work on each record"), work_, new TextLabel(tr("0: as fast as it can; more makes a slow consumer"), FontRole::caption, TextLabel::Tone::text3, this));
  crash_ = new QSpinBox(this);
  crash_->setRange(0, 1'000'000'000);
  crash_->setValue(static_cast<int>(start.crash_after));
  crash_->setSpecialValueText(tr("never"));
  crash_->setStyleSheet(mono);
  add(tr("Crashes after"), crash_, new TextLabel(tr("records; it vanishes without leaving the group"), FontRole::caption, TextLabel::Tone::text3, this));
  count_ = new QSpinBox(this);
  count_->setRange(1, 50);
  count_->setValue(1);
  count_->setStyleSheet(mono);
  add(tr("How many"), count_);
  for (QSpinBox* box : {work_, crash_, count_}) {
    box->setFixedWidth(t.px(130));
  }
  column->addLayout(grid);
  column->addSpacing(t.px(6));
  add_ = add_answer_row(column, this, tr("Add consumer")).accept;
  connect(add_, &Button::clicked, this, [this] {
    Q_EMIT chosen(command(), count_->value());
    accept();
  });
  connect(group_, &QLineEdit::textChanged, this, &AddConsumerDialog::validate);
  connect(topic_, &QComboBox::editTextChanged, this, &AddConsumerDialog::validate);
  connect(protocol_, &SegmentedControl::activated, this, [this](int index) {
    protocol_->setCurrent(index);
    offerAssignors(assignor_->currentText());
    validate();
  });
  connect(commit_, &SegmentedControl::activated, this, [this](int index) {
    commit_->setCurrent(index);
    validate();
  });
  new FocusRing(this);
  validate();
  (start.group.empty() ? static_cast<QWidget*>(group_) : add_)->setFocus();
}

ConsumerCommand AddConsumerDialog::command() const {
  ConsumerCommand command;
  command.group = group_->text().trimmed().toStdString();
  for (const QString& topic : topic_->currentText().split(QLatin1Char(','), Qt::SkipEmptyParts)) {
    if (!topic.trimmed().isEmpty()) {
      command.topics.push_back(topic.trimmed().toStdString());
    }
  }
  command.protocol = static_cast<ConsumerCommand::Protocol>(protocol_->current());
  if (!assignor_->currentText().isEmpty()) {
    command.assignor = assignor_->currentText().toStdString();
  }
  command.commit = static_cast<ConsumerCommand::Commit>(commit_->current());
  command.work_ms = work_->value();
  command.crash_after = crash_->value();
  return command;
}

void AddConsumerDialog::offerAssignors(const QString& wanted) {
  const auto protocol = static_cast<ConsumerCommand::Protocol>(protocol_->current());
  assignor_->clear();
  assignor_->addItems(SessionAdmin::of(session_).consumerAssignors(protocol));
  assignor_->setCurrentIndex(std::max(0, assignor_->findText(wanted)));
  const bool assigned = protocol == ConsumerCommand::Protocol::consumer;
  protocol_note_->setText(assigned ? tr("The coordinator assigns, and nobody stops reading for the others (KIP-848).")
                                   : tr("One member assigns for all, after all have joined."));
  assignor_note_->setText(assigned ? tr("what most members ask for counts") : tr("all members must share one"));
}

void AddConsumerDialog::validate() {
  const ConsumerCommand c = command();
  const observe::ViewPtr view = session_->view();
  const observe::GroupView* g = view->find_group(c.group);
  group_note_->setText(c.group.empty() ? tr("a name") : g == nullptr ? tr("a new group") : tr("has %Ln member(s)", nullptr, static_cast<int>(g->members.size())));
  switch (c.commit) {
    case ConsumerCommand::Commit::automatic:
      commit_note_->setText(tr("Every second, what was handed out so far. A crash repeats or loses up to a second."));
      break;
    case ConsumerCommand::Commit::after_work:
      commit_note_->setText(tr("When the work on a record is done: at least once. A crash repeats records."));
      break;
    case ConsumerCommand::Commit::before_work:
      commit_note_->setText(tr("Before the work begins: at most once. A crash loses records."));
      break;
    case ConsumerCommand::Commit::never:
      commit_note_->setText(tr("The group never has a position: each start reads everything again."));
      break;
  }
  add_->setEnabled(!c.group.empty() && !c.topics.empty());
}

}  // namespace hw::ui
