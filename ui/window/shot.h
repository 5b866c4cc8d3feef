// SPDX-License-Identifier: Apache-2.0
// A picture of a page of the real window, after data has arrived: what `./dev shot` prints to a file.
#pragma once

#include <QPixmap>
#include <QSize>
#include <QString>

namespace hw::ui {

class MainWindow;

struct ShotOptions {
  QString page;     // id of a page; also "produce", "first-run", "create-topic"
  QString file;     // .png
  QSize size{1440, 900};
  int settle_ms = 2'500;  // how long data may arrive before the picture
  QString selection;      // an address; empty: what the window selects itself
  QString filter;         // typed into the filter box of the page, where it has one
};

// Shows the window, waits on the event loop, writes the file and quits the application with 0, or 1 where the page does
// not exist or the file cannot be written.
void schedule_shot(MainWindow* window, const ShotOptions& options);

// The window as it stands, with dialogs and menus where they would be seen.
[[nodiscard]] QPixmap picture_of(MainWindow* window);

}  // namespace hw::ui
