// SPDX-License-Identifier: Apache-2.0
#include "ui/dialogs/dialog_parts.h"

#include <QDialog>
#include <QVBoxLayout>

#include "ui/theme/theme.h"
#include "ui/window/controls.h"

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

}  // namespace hw::ui
