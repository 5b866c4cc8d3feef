// SPDX-License-Identifier: Apache-2.0
// What dialogs end with: the same as a command line, what went wrong, and the answers. Thread rule: UI thread. Ownership: `dialog` owns what is made.
#pragma once

#include <QString>

#include "ui/window/controls.h"

class QDialog;
class QVBoxLayout;

namespace hw::ui {

// The same as a command line, small, to be selected and copied.
[[nodiscard]] TextLabel* add_command_line(QVBoxLayout* column, QDialog* dialog);
// What went wrong; hidden until there is something.
[[nodiscard]] TextLabel* add_failure_line(QVBoxLayout* column, QDialog* dialog);

// "Cancel", as every dialog says it.
[[nodiscard]] QString cancel_text();
// The last row: Cancel, which rejects, and at its right what the dialog is for. `note` stands at the left.
struct AnswerRow {
  Button* cancel;
  Button* accept;  // the dialog says what it does
};
[[nodiscard]] AnswerRow add_answer_row(QVBoxLayout* column, QDialog* dialog, const QString& accept,
                                       Button::Kind kind = Button::Kind::primary, const QString& note = {});

}  // namespace hw::ui
