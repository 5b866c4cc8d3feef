// SPDX-License-Identifier: Apache-2.0
// The lines that the dialogs of Topics and Groups end with. Thread rule: UI thread. Ownership: `dialog` owns what is made.
#pragma once

class QDialog;
class QVBoxLayout;

namespace hw::ui {

class TextLabel;

// The same as a command line, small, to be selected and copied.
[[nodiscard]] TextLabel* add_command_line(QVBoxLayout* column, QDialog* dialog);
// What went wrong; hidden until there is something.
[[nodiscard]] TextLabel* add_failure_line(QVBoxLayout* column, QDialog* dialog);

}  // namespace hw::ui
