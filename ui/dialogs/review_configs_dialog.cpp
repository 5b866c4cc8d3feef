// SPDX-License-Identifier: Apache-2.0
#include "ui/dialogs/review_configs_dialog.h"

#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/dialogs/dialog_parts.h"
#include "ui/models/config_rules.h"
#include "ui/session/session_admin.h"
#include "ui/theme/glyphs.h"
#include "ui/theme/theme.h"
#include "ui/window/controls.h"

namespace hw::ui {

ReviewConfigsDialog::ReviewConfigsDialog(Session* session, Input input, QWidget* parent)
    : QDialog(parent), session_(session), input_(std::move(input)) {
  const Theme& t = Theme::current();
  setWindowTitle(tr("Review changes"));
  setObjectName(QStringLiteral("reviewDialog"));
  setMinimumWidth(t.px(680));
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(t.px(20), t.px(18), t.px(20), t.px(16));
  column->setSpacing(t.px(10));
  column->addWidget(new TextLabel(tr("Review %Ln change(s) of %1", nullptr, static_cast<int>(input_.changes.size())).arg(input_.title),
                                  FontRole::page_title, TextLabel::Tone::text, this));
  grid_ = new QGridLayout;
  grid_->setHorizontalSpacing(t.px(16));
  grid_->setVerticalSpacing(t.px(4));
  grid_->setColumnStretch(2, 1);
  column->addLayout(grid_);
  column->addSpacing(t.px(4));
  column->addWidget(new TextLabel(tr("The same as commands"), FontRole::caption, TextLabel::Tone::text3, this));
  command_ = add_command_line(column, this);
  command_->setTone(TextLabel::Tone::text2);
  command_->setAccessibleName(tr("The same as commands"));
  command_->setCommand(commandLines());
  column->addStretch(1);
  failure_ = add_failure_line(column, this);
  column->addSpacing(t.px(6));
  apply_ = add_answer_row(column, this, tr("Apply"), Button::Kind::primary, tr("Can be taken back for 10 minutes; deleted records cannot.")).accept;
  apply_->setObjectName(QStringLiteral("applyConfigs"));
  apply_->setEnabled(false);
  connect(apply_, &Button::clicked, this, &ReviewConfigsDialog::apply);
  new FocusRing(this);
  fill(effectsOf({}), false);
  readSegments();
}

void ReviewConfigsDialog::readSegments() {
  constexpr std::size_t kLookedMax = 32;
  std::string topic;
  if (input_.resource.kind == ConfigResource::Kind::topic) {
    topic = input_.resource.name;
  } else if (!needs_segments(input_.changes) || looked_ >= std::min(kLookedMax, input_.topics.size())) {
    known({});
    return;
  } else {
    topic = input_.topics[looked_].name;
  }
  const QPointer<ReviewConfigsDialog> self(this);
  SessionAdmin::of(session_).segments(topic, [self](const SegmentsAnswer& answer) {
    if (self == nullptr) {
      return;
    }
    if (self->input_.resource.kind == ConfigResource::Kind::topic) {
      if (!answer.error.isEmpty()) {
        self->failure_->setText(tr("The segments could not be read, so what the changes cause is not known: %1").arg(answer.error));
        self->failure_->show();
      }
      self->known(answer.partitions);
      return;
    }
    // A topic that went meanwhile has nothing to lose.
    self->input_.topics[self->looked_++].partitions = answer.partitions;
    self->readSegments();
  });
}

void ReviewConfigsDialog::known(const std::vector<PartitionSegments>& partitions) {
  fill(effectsOf(partitions), input_.resource.kind != ConfigResource::Kind::topic || !partitions.empty());
  apply_->setEnabled(true);
  apply_->setFocus();
}

std::vector<ChangeEffect> ReviewConfigsDialog::effectsOf(const std::vector<PartitionSegments>& partitions) const {
  switch (input_.resource.kind) {
    case ConfigResource::Kind::topic:
      break;
    case ConfigResource::Kind::broker:
      return broker_change_effects(input_.before, input_.after, input_.changes, input_.topics, needs_segments(input_.changes) ? looked_ : input_.topics.size(),
                                   input_.now_ms);
    case ConfigResource::Kind::group:
      return group_change_effects(input_.before, input_.after, input_.changes, input_.classic);
  }
  return change_effects(input_.before, input_.after, input_.changes, partitions, input_.replicas, input_.now_ms);
}

QString ReviewConfigsDialog::commandLines() const {
  const QString name = QString::fromStdString(input_.resource.name);
  QString entity = QStringLiteral("--topic %1").arg(name);
  QString words = QStringLiteral("topic %1").arg(name);
  if (input_.resource.kind == ConfigResource::Kind::broker) {
    entity = name.isEmpty() ? QStringLiteral("--broker-defaults") : QStringLiteral("--broker %1").arg(name);
    words = name.isEmpty() ? QStringLiteral("default") : QStringLiteral("broker %1").arg(name);
  } else if (input_.resource.kind == ConfigResource::Kind::group) {
    entity = QStringLiteral("--group %1").arg(name);
    words = QStringLiteral("group %1").arg(name);
  }
  // Values with commas are grouped with brackets, as kafka-configs wants it.
  QStringList set;
  QStringList gone;
  QStringList plain;
  for (const ConfigChange& change : input_.changes) {
    const QString key = QString::fromStdString(change.name);
    if (change.value) {
      const QString value = QString::fromStdString(*change.value);
      set << (value.contains(QLatin1Char(',')) ? QStringLiteral("%1=[%2]").arg(key, value) : QStringLiteral("%1=%2").arg(key, value));
      plain << QStringLiteral("%1=%2").arg(key, value);
    } else {
      gone << key;
    }
  }
  QString line = QStringLiteral("kafka-configs.sh --bootstrap-server %1 --alter %2").arg(session_->bootstrap(), entity);
  if (!set.isEmpty()) {
    line += QStringLiteral(" --add-config %1").arg(set.join(QLatin1Char(',')));
  }
  if (!gone.isEmpty()) {
    line += QStringLiteral(" --delete-config %1").arg(gone.join(QLatin1Char(',')));
  }
  const QString where = QStringLiteral(" --bootstrap %1").arg(session_->bootstrap());
  if (!plain.isEmpty()) {
    line += QStringLiteral("\nhw configs set %1 %2").arg(words, plain.join(QLatin1Char(' '))) + where;
  }
  if (!gone.isEmpty()) {
    line += QStringLiteral("\nhw configs unset %1 %2").arg(words, gone.join(QLatin1Char(' '))) + where;
  }
  return line;
}

void ReviewConfigsDialog::fill(std::vector<ChangeEffect> effects, bool known) {
  const Theme& t = Theme::current();
  while (QLayoutItem* item = grid_->takeAt(0)) {
    if (item->widget() != nullptr) {
      item->widget()->hide();
      item->widget()->deleteLater();
    }
    delete item;
  }
  effects_ = std::move(effects);
  int row = 0;
  // Shown at once: the layout counts no widget that waits for it.
  const auto put = [this](QWidget* widget, int at, int column, int columns) {
    grid_->addWidget(widget, at, column, 1, columns);
    widget->show();
  };
  for (const ChangeEffect& effect : effects_) {
    const auto said = [&](const QString& value) {
      const QString reading = config_reading(effect.key.toStdString(), value.toStdString());
      const QString shown = value.isEmpty() ? QStringLiteral("\"\"") : value;
      return reading.isEmpty() ? shown : QStringLiteral("%1 (%2)").arg(shown, reading);
    };
    auto* glyph = new QLabel(this);
    glyph->setPixmap(glyph_pixmap(effect.harmful ? Glyph::quarter : Glyph::disc, t.px(12), devicePixelRatioF()));
    glyph->setAccessibleName(effect.harmful ? tr("careful") : tr("harmless"));
    put(glyph, row, 0, 1);
    put(new TextLabel(effect.key, FontRole::data_strong, TextLabel::Tone::text, this), row, 1, 1);
    auto* change = new TextLabel(QStringLiteral("%1  →  %2").arg(said(effect.from), said(effect.to)), FontRole::data, TextLabel::Tone::text, this);
    change->setWordWrap(true);
    put(change, row, 2, 1);
    auto* words = new TextLabel(known ? tr("Now: %1.").arg(effect.effect) : tr("Looking at the segments …"), FontRole::body,
                                effect.harmful ? TextLabel::Tone::warn : TextLabel::Tone::text2, this);
    words->setWordWrap(true);
    put(words, row + 1, 1, 2);
    const QString danger = config_danger(effect.key.toStdString());
    if (!danger.isEmpty()) {
      auto* note = new TextLabel(danger, FontRole::caption, TextLabel::Tone::text3, this);
      note->setWordWrap(true);
      put(note, row + 2, 1, 2);
    }
    grid_->setRowMinimumHeight(row + 3, t.px(8));
    row += 4;
  }
  const int wide = std::max(width(), minimumWidth());
  const int high = layout()->totalHeightForWidth(wide);
  setMinimumHeight(high);
  resize(wide, high);
}

void ReviewConfigsDialog::apply() {
  if (!apply_->isEnabled()) {
    return;
  }
  apply_->setEnabled(false);
  failure_->hide();
  const QPointer<ReviewConfigsDialog> self(this);
  SessionAdmin::of(session_).alterConfigs(input_.resource, input_.changes, false, [self](const QString& error) {
    if (self == nullptr) {
      return;
    }
    if (error.isEmpty()) {
      Q_EMIT self->applied();
      self->accept();
      return;
    }
    self->failure_->setText(tr("Nothing was changed: %1").arg(error));
    self->failure_->show();
    self->apply_->setEnabled(true);
  });
}

}  // namespace hw::ui
