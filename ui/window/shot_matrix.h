// SPDX-License-Identifier: Apache-2.0
// Pictures of the whole window, all in one run: every page and dialog, in every theme and size that counts. What
// `./dev shot --matrix DIR` writes, once with an empty cluster, once with the demo and once with 10,000 partitions.
//
// A file is called SCENE-THEME-WxH.png, in DIR; at another UI scale than 1 that is part of the size (1440x900@150).
// One line a picture goes to stdout: file, and the slowest frame of the window while the scene stood.
#pragma once

#include <QString>

namespace hw::ui {

class MainWindow;
class Session;

struct ShotMatrixOptions {
  QString directory;
  int partitions = 0;  // about so many are created besides the demo's
  bool empty = false;  // a cluster without topics: only the pages and what greets a newcomer
  QString only;        // a regular expression over SCENE-THEME-WxH; empty: all
};

// Fills the cluster through the session, takes the pictures and quits the application with 0, or 1 where something could
// not be made or written. The session may start after this call.
void schedule_shot_matrix(MainWindow* window, Session* session, const ShotMatrixOptions& options);

// The program is to end: no further picture is begun, and nothing is waited for. UI thread.
void stop_shot_matrix();

}  // namespace hw::ui
