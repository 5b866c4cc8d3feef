// SPDX-License-Identifier: Apache-2.0
// Top bar: which cluster, whether the view is live, the omnibox, health, where data lives, theme, presentation.
#pragma once

#include <QWidget>
#include <functional>

#include "ui/models/fault_facts.h"
#include "ui/session/session.h"
#include "ui/window/command_registry.h"

namespace hw::ui {

class Button;
class Chip;
class Omnibox;
class TextLabel;

class TopBar : public QWidget {
  Q_OBJECT

 public:
  TopBar(CommandRegistry* commands, std::function<observe::ViewPtr()> view, QWidget* window);
  [[nodiscard]] Omnibox* omnibox() const { return omnibox_; }
  void setCluster(const QString& name);
  void setStorage(const StorageInfo& storage);
  // Called with every frame; changes labels only when their words change. The health chip says the worst of `faults`, those of this view.
  void update(const observe::ClusterView& view, const FaultFacts& faults);
  // `waiting`: changes that arrived since the view was paused.
  void setPaused(bool paused, std::int64_t waiting);
  void setNarrow(bool narrow);

 signals:
  void healthClicked();
  void storageClicked();
  void menuRequested(const QPoint& global);
  void themeMenuRequested(const QPoint& global);

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  void runOn(Button* button, const QString& command);
  CommandRegistry* commands_;
  QWidget* mark_;
  TextLabel* name_;
  Button* cluster_;
  Chip* mode_;
  Button* pause_;
  Chip* waiting_;
  Omnibox* omnibox_;
  Chip* health_;
  Chip* storage_;
  Button* theme_;
  Button* present_;
};

}  // namespace hw::ui
