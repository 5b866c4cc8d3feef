// SPDX-License-Identifier: Apache-2.0
#include "ui/dialogs/dialog_parts.h"

#include <QCoreApplication>
#include <QDialog>
#include <QHBoxLayout>
#include <QVBoxLayout>

#include "ui/theme/theme.h"

namespace hw::ui {

TextLabel* add_command_line(QVBoxLayout* column, QDialog* dialog) {
  auto* line = new TextLabel({}, FontRole::small_data, TextLabel::Tone::text3, dialog);
  line->setTextInteractionFlags(Qt::TextSelectableByMouse);
  line->setWordWrap(true);
  column->addWidget(line);
  return line;
}

TextLabel* add_failure_line(QVBoxLayout* column, QDialog* dialog) {
  auto* line = new TextLabel({}, FontRole::control, TextLabel::Tone::err, dialog);
  line->setWordWrap(true);
  line->hide();
  column->addWidget(line);
  return line;
}

QString cancel_text() { return QCoreApplication::translate("Dialogs", "Cancel"); }

AnswerRow add_answer_row(QVBoxLayout* column, QDialog* dialog, const QString& accept, Button::Kind kind, const QString& note) {
  auto* row = new QHBoxLayout;
  row->setSpacing(Theme::current().px(8));
  if (!note.isEmpty()) {
    row->addWidget(new TextLabel(note, FontRole::caption, TextLabel::Tone::text3, dialog));
  }
  row->addStretch(1);
  auto* cancel = new Button(Button::Kind::normal, {}, cancel_text(), dialog);
  QObject::connect(cancel, &Button::clicked, dialog, &QDialog::reject);
  row->addWidget(cancel);
  auto* yes = new Button(kind, {}, accept, dialog);
  row->addWidget(yes);
  column->addLayout(row);
  return {cancel, yes};
}

}  // namespace hw::ui
