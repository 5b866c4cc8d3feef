// SPDX-License-Identifier: Apache-2.0
// What of a table is seen where the inspector stands over the right side of the pages, as it does in a narrow window.
#pragma once

#include <algorithm>

#include <QTableView>

namespace hw::ui {

// Of the pages' common parent, in px; absent or 0: nothing stands there.
inline constexpr const char* kCoveredProperty = "covered";

[[nodiscard]] inline int seen_width(const QTableView* table) {
  const int whole = table->viewport()->width();
  for (const QWidget* above = table; above != nullptr; above = above->parentWidget()) {
    if (const int covered = above->property(kCoveredProperty).toInt(); covered > 0) {
      const int right = table->viewport()->mapTo(above, QPoint(whole, 0)).x();
      return std::clamp(whole - (right - (above->width() - covered)), 0, whole);
    }
  }
  return whole;
}

}  // namespace hw::ui
