// SPDX-License-Identifier: Apache-2.0
// F1: every command that has a key, taken from the registry, so that the sheet cannot be wrong.
#pragma once

#include <QDialog>

#include "ui/window/command_registry.h"

namespace hw::ui {

class ShortcutsDialog : public QDialog {
  Q_OBJECT

 public:
  ShortcutsDialog(const CommandRegistry& commands, QWidget* parent = nullptr);
};

}  // namespace hw::ui
