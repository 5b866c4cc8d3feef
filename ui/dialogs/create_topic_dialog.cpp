// SPDX-License-Identifier: Apache-2.0
#include "ui/dialogs/create_topic_dialog.h"

#include <QGridLayout>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QSpinBox>
#include <QStyle>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/models/topic_rules.h"
#include "ui/dialogs/dialog_parts.h"
#include "ui/theme/theme.h"
#include "ui/window/controls.h"

namespace hw::ui {

namespace {

struct Preset {
  const char* name;
  const char* note;
  std::vector<std::pair<std::string, std::string>> configs;
};

// What the words of a preset mean, in configs of the topic.
const std::vector<Preset>& presets() {
  static const std::vector<Preset> all = {
      {QT_TRANSLATE_NOOP("CreateTopicDialog", "Event log"),
       QT_TRANSLATE_NOOP("CreateTopicDialog",
                         "Kafka's defaults: what happened, kept for 7 days; whole segments are deleted then."),
       {}},
      {QT_TRANSLATE_NOOP("CreateTopicDialog", "Queue-like"),
       QT_TRANSLATE_NOOP("CreateTopicDialog",
                         "Work in passing: one hour is kept, in segments of 10 minutes. More partitions let more consumers share the work."),
       {{"retention.ms", "3600000"}, {"segment.ms", "600000"}}},
      {QT_TRANSLATE_NOOP("CreateTopicDialog", "Changelog"),
       QT_TRANSLATE_NOOP("CreateTopicDialog",
                         "The newest record of every key stays; older ones may be removed by compaction. Every record needs a key."),
       {{"cleanup.policy", "compact"}}},
      {QT_TRANSLATE_NOOP("CreateTopicDialog", "Fast-rolling"),
       QT_TRANSLATE_NOOP("CreateTopicDialog",
                         "For learning: segments of 1 MiB that roll every minute and are deleted after five, so that you can watch it."),
       {{"segment.bytes", "1048576"}, {"segment.ms", "60000"}, {"retention.ms", "300000"}}},
  };
  return all;
}

void set_state(QWidget* widget, const char* state) {
  if (widget->property("state").toString() != QLatin1String(state)) {
    widget->setProperty("state", QString::fromLatin1(state));
    widget->style()->unpolish(widget);
    widget->style()->polish(widget);
  }
}

}  // namespace

CreateTopicDialog::CreateTopicDialog(Session* session, QWidget* parent) : QDialog(parent), session_(session) {
  const Theme& t = Theme::current();
  setWindowTitle(tr("Create topic"));
  setMinimumWidth(t.px(520));
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(t.px(20), t.px(18), t.px(20), t.px(16));
  column->setSpacing(t.px(6));
  title_ = new TextLabel(tr("Create topic"), FontRole::page_title, TextLabel::Tone::text, this);
  column->addWidget(title_);
  reason_ = new TextLabel({}, FontRole::body, TextLabel::Tone::text2, this);
  reason_->setWordWrap(true);
  reason_->hide();
  column->addWidget(reason_);
  column->addSpacing(t.px(8));

  auto* name_label = new TextLabel(tr("Name"), FontRole::control, TextLabel::Tone::text2, this);
  column->addWidget(name_label);
  name_ = new QLineEdit(this);
  name_->setPlaceholderText(tr("orders"));
  name_->setAccessibleName(tr("Name"));
  follow_font(name_, FontRole::data);
  name_->setStyleSheet(QStringLiteral("font-family: \"JetBrains Mono\";"));
  name_label->setBuddy(name_);
  column->addWidget(name_);
  name_note_ = new TextLabel({}, FontRole::caption, TextLabel::Tone::text3, this);
  name_note_->setWordWrap(true);
  name_note_->setMinimumHeight(t.px(16));
  column->addWidget(name_note_);

  auto* grid = new QGridLayout;
  grid->setHorizontalSpacing(t.px(16));
  grid->setVerticalSpacing(t.px(6));
  grid->addWidget(new TextLabel(tr("Partitions"), FontRole::control, TextLabel::Tone::text2, this), 0, 0);
  grid->addWidget(new TextLabel(tr("Replicas of each"), FontRole::control, TextLabel::Tone::text2, this), 0, 1);
  partitions_ = new QSpinBox(this);
  partitions_->setRange(1, 10'000);
  partitions_->setValue(3);
  partitions_->setAccessibleName(tr("Partitions"));
  replicas_ = new QSpinBox(this);
  replicas_->setRange(1, 32);
  // As many as a topic wants that outlives a node, where there are so many.
  replicas_->setValue(std::clamp(session == nullptr ? 1 : static_cast<int>(session->view()->nodes.size()), 1, 3));
  replicas_->setAccessibleName(tr("Replicas of each partition"));
  for (QSpinBox* box : {partitions_, replicas_}) {
    box->setGroupSeparatorShown(true);
    box->setFixedWidth(t.px(110));
    box->setStyleSheet(QStringLiteral("font-family: \"JetBrains Mono\";"));
  }
  grid->addWidget(partitions_, 1, 0);
  grid->addWidget(replicas_, 1, 1);
  grid->setColumnStretch(2, 1);
  column->addLayout(grid);
  replicas_note_ = new TextLabel(tr("Order holds inside a partition. More partitions let more consumers of a group work."),
                                 FontRole::caption, TextLabel::Tone::text3, this);
  replicas_note_->setWordWrap(true);
  column->addWidget(replicas_note_);
  column->addSpacing(t.px(8));

  preset_label_ = new TextLabel(tr("Preset"), FontRole::control, TextLabel::Tone::text2, this);
  column->addWidget(preset_label_);
  QStringList names;
  for (const Preset& preset : presets()) {
    names << tr(preset.name);
  }
  preset_ = new SegmentedControl(names, this);
  preset_->setAccessibleName(tr("Preset: %1").arg(names.join(QStringLiteral(", "))));
  column->addWidget(preset_);
  preset_note_ = new TextLabel({}, FontRole::caption, TextLabel::Tone::text3, this);
  preset_note_->setWordWrap(true);
  column->addWidget(preset_note_);
  column->addSpacing(t.px(4));
  command_line_ = add_command_line(column, this);
  column->addSpacing(t.px(8));

  failure_ = add_failure_line(column, this);
  create_ = add_answer_row(column, this, tr("Create topic")).accept;
  connect(create_, &Button::clicked, this, &CreateTopicDialog::submit);

  connect(name_, &QLineEdit::textChanged, this, &CreateTopicDialog::validate);
  connect(name_, &QLineEdit::returnPressed, this, &CreateTopicDialog::submit);
  connect(partitions_, &QSpinBox::valueChanged, this, &CreateTopicDialog::validate);
  connect(replicas_, &QSpinBox::valueChanged, this, &CreateTopicDialog::validate);
  connect(preset_, &SegmentedControl::activated, this, &CreateTopicDialog::choosePreset);
  choosePreset(0);
  new FocusRing(this);
  name_->setFocus();
}

QString CreateTopicDialog::topicName() const { return name_->text(); }

void CreateTopicDialog::setTopicName(const QString& name) { name_->setText(name); }

void CreateTopicDialog::setReason(const QString& reason) {
  reason_->setText(reason);
  reason_->setVisible(!reason.isEmpty());
  fit();
}

void CreateTopicDialog::setPartitions(int partitions) { partitions_->setValue(partitions); }

void CreateTopicDialog::copyOf(const QString& topic, int partitions, int replicas,
                               std::vector<std::pair<std::string, std::string>> configs) {
  copied_ = std::move(configs);
  copied_from_ = topic;
  setWindowTitle(tr("Copy topic %1").arg(topic));
  title_->setText(tr("Copy topic %1").arg(topic));
  partitions_->setValue(partitions);
  replicas_->setValue(std::max(1, replicas));
  preset_label_->hide();
  preset_->hide();
  preset_note_->setText(copied_.empty() ? tr("The same number of partitions; the topic has no configuration of its own. Records are not copied.")
                                        : tr("%Ln configuration value(s) are taken over. Records are not copied.", nullptr, static_cast<int>(copied_.size())));
  const observe::ViewPtr view = session_->view();
  QString name = topic + QStringLiteral("-copy");
  for (int i = 2; view->topics->find(name.toStdString()) != view->topics->end() && i < 1000; ++i) {
    name = topic + QStringLiteral("-copy%1").arg(i);
  }
  name_->setText(name);
  name_->selectAll();
  validate();
}

CreateTopicCommand CreateTopicDialog::command() const {
  CreateTopicCommand command;
  command.name = name_->text().toStdString();
  command.partitions = partitions_->value();
  command.replication_factor = static_cast<std::int16_t>(replicas_->value());
  command.configs = copied_from_.isEmpty() ? presets()[static_cast<std::size_t>(preset_->current())].configs : copied_;
  return command;
}

void CreateTopicDialog::choosePreset(int preset) {
  preset_->setCurrent(preset);
  preset_note_->setText(tr(presets()[static_cast<std::size_t>(preset)].note));
  validate();
}

void CreateTopicDialog::validate() {
  const observe::ViewPtr view = session_->view();
  const RuleAnswer name = check_topic_name(name_->text(), *view);
  switch (name.level) {
    case RuleAnswer::Level::ok:
      set_state(name_, "good");
      name_note_->setTone(TextLabel::Tone::text3);
      name_note_->setText({});
      break;
    case RuleAnswer::Level::warning:
      set_state(name_, "warn");
      name_note_->setTone(TextLabel::Tone::warn);
      name_note_->setText(name.text);
      break;
    case RuleAnswer::Level::error:
      set_state(name_, name.text.isEmpty() ? "" : "bad");
      name_note_->setTone(name.text.isEmpty() ? TextLabel::Tone::text3 : TextLabel::Tone::err);
      name_note_->setText(name.text.isEmpty() ? tr("Letters a to z, digits, “.”, “_” and “-”, at most 249") : name.text);
      break;
  }
  const RuleAnswer replicas = check_replication_factor(replicas_->value(), *view);
  const bool bad_replicas = replicas.level == RuleAnswer::Level::error;
  set_state(replicas_, bad_replicas ? "bad" : "");
  replicas_note_->setTone(bad_replicas ? TextLabel::Tone::err : TextLabel::Tone::text3);
  replicas_note_->setText(bad_replicas
                              ? replicas.text
                              : tr("Order holds inside a partition. More partitions let more consumers of a group work."));
  const CreateTopicCommand c = command();
  QString line = QStringLiteral("kafka-topics.sh --bootstrap-server %1 --create --topic %2 --partitions %3 --replication-factor %4")
                     .arg(session_->bootstrap(), name_->text().isEmpty() ? QStringLiteral("NAME") : name_->text())
                     .arg(c.partitions)
                     .arg(c.replication_factor);
  for (const auto& [key, value] : c.configs) {
    line += QStringLiteral(" --config %1=%2").arg(QString::fromStdString(key), QString::fromStdString(value));
  }
  command_line_->setCommand(line);
  create_->setEnabled(name.level != RuleAnswer::Level::error && !bad_replicas);
  fit();
}

void CreateTopicDialog::fit() {
  const int wide = std::max(width(), minimumWidth());
  const int high = layout()->totalHeightForWidth(wide);
  setMinimumHeight(high);
  resize(wide, high);
}

void CreateTopicDialog::submit() {
  if (!create_->isEnabled()) {
    return;
  }
  create_->setEnabled(false);
  failure_->hide();
  const QString name = name_->text();
  const QPointer<CreateTopicDialog> self(this);
  session_->createTopic(command(), [self, name](const QString& error) {
    if (self == nullptr) {
      return;
    }
    if (error.isEmpty()) {
      Q_EMIT self->created(name);
      self->accept();
      return;
    }
    self->failure_->setText(error);
    self->failure_->show();
    self->fit();
    self->create_->setEnabled(true);
  });
}

}  // namespace hw::ui
