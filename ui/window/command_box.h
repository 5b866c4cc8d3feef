// SPDX-License-Identifier: Apache-2.0
// CommandBox: one line to copy, with the button that copies it.
#pragma once

#include <QWidget>

namespace hw::ui {

class TextLabel;

class CommandBox : public QWidget {
  Q_OBJECT

 public:
  // `prompt` stands before the line and is not copied; empty: none.
  CommandBox(const QString& command, const QString& prompt, QWidget* parent = nullptr);
  void setCommand(const QString& command);
  [[nodiscard]] const QString& command() const { return command_; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  TextLabel* line_;
  QString command_;
};

}  // namespace hw::ui
