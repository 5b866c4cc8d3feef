// SPDX-License-Identifier: Apache-2.0
// Settings: theme, size, motion, layout, hints. Every control runs a command, so what it does is seen at once and can
// also be typed; there is nothing to apply.
#pragma once

#include <QDialog>

namespace hw::ui {

class CommandRegistry;

class SettingsDialog : public QDialog {
  Q_OBJECT

 public:
  SettingsDialog(CommandRegistry& commands, const QString& profile, QWidget* parent = nullptr);
};

}  // namespace hw::ui
