// SPDX-License-Identifier: Apache-2.0
// ConfigPanel: the configurations of one topic, broker or group, or what all brokers have in common, with staged edits.
//
// Nothing is sent before Review → Apply; what was applied can be taken back (UndoList). While somebody types, the rules judge
// at once, and a little later the broker itself is asked what it would say.
// Thread rule: UI thread only.
#pragma once

#include <QPointer>
#include <QWidget>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "ui/dialogs/review_configs_dialog.h"
#include "ui/models/config_model.h"
#include "ui/session/admin.h"
#include "ui/session/session.h"

class QLineEdit;
class QScrollArea;
class QTableView;
class QTimer;

namespace hw::ui {

class Button;
class SegmentedControl;
class TextLabel;

class ConfigPanel : public QWidget {
  Q_OBJECT

 public:
  explicit ConfigPanel(QWidget* parent = nullptr);
  void attach(Session* session) { session_ = session; }
  // Staged edits of another resource are kept until it is shown again or discarded. `through`: which broker is asked for
  // what all brokers have in common (a broker resource without a name).
  void show(const ConfigResource& resource, const std::string& through = {});
  void clear();  // shows nothing
  void load();
  void setClock(std::function<std::int64_t()> clock) { clock_ = std::move(clock); }
  void setReplicas(std::size_t replicas) { replicas_ = replicas; }  // of a partition of the topic

  [[nodiscard]] const ConfigResource& resource() const { return resource_; }
  // "orders", "broker 1", "all brokers", "group billing".
  [[nodiscard]] static QString nameOf(const ConfigResource& resource);
  [[nodiscard]] ConfigModel* configs() const { return configs_; }
  [[nodiscard]] QTableView* table() const { return table_; }
  [[nodiscard]] QLineEdit* editor() const { return editor_; }
  [[nodiscard]] Button* reviewButton() const { return review_; }
  [[nodiscard]] QString editorNote() const;
  // The last value that was typed has been judged by the broker too.
  [[nodiscard]] bool judged() const { return judged_; }
  void review();
  void chooseKey(const std::string& key);

 signals:
  void applied();

 protected:
  void resizeEvent(QResizeEvent* event) override;
  bool eventFilter(QObject* object, QEvent* event) override;

 private:
  void buildHead();
  void buildTable();
  void buildSide();
  void take(ConfigAnswer answer);
  void askForStandards();  // a broker, where a topic's answer says too little
  void showKey();
  void showAnswered();
  void stageEditor();
  void judgeEditor();
  void askBroker();
  void refreshStaged();
  void fitColumns();
  void addUndo(const std::vector<ConfigChange>& inverse, int count);
  [[nodiscard]] ReviewConfigsDialog::Input reviewInput() const;
  [[nodiscard]] std::string key() const;  // of what is parked

  QPointer<Session> session_;
  std::function<std::int64_t()> clock_;
  ConfigResource resource_;
  std::string through_;
  bool shown_ = false;
  ConfigModel* configs_;
  TextLabel* title_;
  TextLabel* problem_;
  SegmentedControl* which_;
  QLineEdit* search_;
  Button* review_;
  Button* discard_;
  QTableView* table_;
  QScrollArea* scroll_;
  QWidget* side_;
  TextLabel* key_;
  TextLabel* doc_;
  TextLabel* danger_;
  TextLabel* from_;
  TextLabel* chain_;
  QLineEdit* editor_;
  TextLabel* editor_note_;
  Button* stage_;
  Button* inherit_;
  QTimer* ask_timer_;
  std::map<std::string, std::map<std::string, std::optional<std::string>>> parked_;  // staged edits of other resources
  std::string shown_key_;
  std::size_t replicas_ = 1;
  bool judged_ = true;
};

}  // namespace hw::ui
