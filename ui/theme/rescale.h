// SPDX-License-Identifier: Apache-2.0
// What a change of the UI scale does to widgets that exist already: fixed sizes, margins, spacings and the sections of
// tables are multiplied, so that nobody has to write it down twice. Whoever sets a size in answer to Theme::changed()
// has the last word, because that comes after.
//
// Sizes go back to what they were when the scale does: the first value seen is kept with the widget.
// Thread rule: UI thread only.
#pragma once

class QWidget;

namespace hw::ui {

void rescale(QWidget* root, double from, double to);
// All windows of the application.
void rescale_windows(double from, double to);

}  // namespace hw::ui
