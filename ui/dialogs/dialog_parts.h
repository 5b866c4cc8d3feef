// SPDX-License-Identifier: Apache-2.0
// What dialogs end with: the same as a command line, what went wrong, and the answers. Thread rule: UI thread. Ownership: `dialog` owns what is made.
#pragma once

#include <QString>

#include "ui/window/controls.h"

class QDialog;
class QVBoxLayout;

namespace hw::ui {

// A command for a shell, small, to be selected and copied. Broken between arguments only, as a shell takes it: with a backslash.
class CommandLine : public TextLabel {
 public:
  explicit CommandLine(QWidget* parent);
  // Several lines are several commands.
  void setCommand(const QString& command);
  [[nodiscard]] QString command() const { return command_; }
  [[nodiscard]] bool hasHeightForWidth() const override { return true; }
  [[nodiscard]] int heightForWidth(int width) const override;
  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override;

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  [[nodiscard]] QString broken(int width) const;
  QString command_;
};

// The same as a command line.
[[nodiscard]] CommandLine* add_command_line(QVBoxLayout* column, QDialog* dialog);
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
