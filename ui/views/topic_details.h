// SPDX-License-Identifier: Apache-2.0
// TopicDetails: what lies in a topic, counted, and its configurations (config_panel.h). Thread rule: UI thread only.
#pragma once

#include <QPointer>
#include <QWidget>
#include <functional>

#include "ui/models/topic_model.h"
#include "ui/session/admin.h"
#include "ui/session/session.h"
#include "ui/views/config_panel.h"

class QTimer;

namespace hw::ui {

class StatisticsStrip;

class TopicDetails : public QWidget {
  Q_OBJECT

 public:
  explicit TopicDetails(QWidget* parent = nullptr);
  void attach(Session* session);
  // Shows a topic; staged edits of another one are kept until it is shown again or discarded.
  void showTopic(const QString& topic);
  // After a frame: configurations are asked for again when the view's differ; numbers follow `facts`.
  void refresh(const TopicFacts* facts);
  void setClock(std::function<std::int64_t()> clock);

  [[nodiscard]] QString topic() const { return topic_; }
  [[nodiscard]] ConfigPanel* panel() const { return panel_; }
  [[nodiscard]] ConfigModel* configs() const { return panel_->configs(); }
  [[nodiscard]] QTableView* table() const { return panel_->table(); }
  [[nodiscard]] QLineEdit* editor() const { return panel_->editor(); }
  [[nodiscard]] Button* reviewButton() const { return panel_->reviewButton(); }
  [[nodiscard]] bool counted() const { return counted_; }
  void review() { panel_->review(); }
  void chooseKey(const std::string& key) { panel_->chooseKey(key); }

 signals:
  void recordsCounted(const QString& topic, qlonglong records);
  void applied();

 private:
  void count();
  void showStatistics();

  QPointer<Session> session_;
  QString topic_;
  StatisticsStrip* strip_;
  ConfigPanel* panel_;
  QTimer* count_timer_;
  TopicFacts facts_;
  std::map<std::string, std::string, std::less<>> seen_configs_;
  RecordCount count_;
  std::int64_t counted_offsets_ = -1;
  std::uint64_t round_ = 0;
  bool counting_ = false;
  bool counted_ = false;
};

}  // namespace hw::ui
