// SPDX-License-Identifier: Apache-2.0
// ConfigDialog: the configuration of a broker, of all brokers, or of a group, in a window of its own: the panel that topics have.
// Thread rule: UI thread only.
#pragma once

#include <QDialog>
#include <QPointer>
#include <cstdint>
#include <vector>

#include "ui/session/admin.h"
#include "ui/session/session.h"

namespace hw::ui {

class ConfigPanel;
class SegmentedControl;
class TextLabel;
class UndoBar;

class ConfigDialog : public QDialog {
  Q_OBJECT

 public:
  // A broker resource without a name begins with what all brokers have in common.
  ConfigDialog(Session* session, const ConfigResource& resource, QWidget* parent = nullptr);
  [[nodiscard]] ConfigPanel* panel() const { return panel_; }
  [[nodiscard]] UndoBar* undoBar() const { return undo_; }
  void showAllBrokers(bool all);
  void showBroker(std::int32_t id);

 private:
  void undo();
  QPointer<Session> session_;
  ConfigResource resource_;   // the broker, or the group
  TextLabel* words_;
  SegmentedControl* scope_ = nullptr;  // brokers only: each of brokers_, then all
  std::vector<std::int32_t> brokers_;
  ConfigPanel* panel_;
  UndoBar* undo_;
};

}  // namespace hw::ui
