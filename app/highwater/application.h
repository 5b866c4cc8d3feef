// SPDX-License-Identifier: Apache-2.0
// Application: the session and the window of one cluster; starts over with other arguments where the first cannot run
// (port taken, folder locked) and the person says so.
// Thread rule: UI thread only.
#pragma once

#include <QObject>
#include <functional>
#include <memory>
#include <string>

#include "app/common/cluster_arguments.h"
#include "engine/base/result.h"
#include "ui/session/live_session.h"
#include "ui/window/main_window.h"

namespace hw::app {

struct WindowArguments {
  ClusterArguments cluster;
  int port = -1;  // -1: as the configuration says, else 9092
  bool no_demo = false;
  std::string control = "default";  // [HOST:]PORT; "default": 127.0.0.1:9099, or another port where that is taken; "off"
  std::string control_token_file;
  int load = 0;
  std::string theme;
  std::string shot;
  std::string shot_matrix;   // a folder for pictures of everything
  int shot_partitions = 0;   // created for them, besides the demo's
  std::string out = "shot.png";
  std::string size = "1440x900";
  std::string select;
  std::string filter;
  int settle_ms = 3'000;
  bool persist = true;
};

class Application : public QObject {
  Q_OBJECT

 public:
  // `quit` ends the program with a code; QApplication::exit where it is null.
  explicit Application(WindowArguments arguments, std::function<void(int)> quit = {});
  ~Application() override;

  // 0, or the exit code of arguments that cannot be used.
  int begin();
  void end();
  [[nodiscard]] ui::LiveSession* session() const { return session_.get(); }
  [[nodiscard]] ui::MainWindow* window() const { return window_.get(); }

 private:
  void failed(Errc code, const QString& detail);
  void restart();
  [[nodiscard]] bool pictures() const { return !arguments_.shot.empty() || !arguments_.shot_matrix.empty(); }

  WindowArguments arguments_;
  std::function<void(int)> quit_;
  std::unique_ptr<ui::LiveSession> session_;
  std::unique_ptr<ui::MainWindow> window_;
};

}  // namespace hw::app
