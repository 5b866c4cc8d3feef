// SPDX-License-Identifier: Apache-2.0
// TopicDetails: the configurations of one topic with staged edits, and what lies in it, counted.
//
// Nothing is sent before Review → Apply. Thread rule: UI thread only.
#pragma once

#include <QPointer>
#include <QWidget>
#include <functional>

#include "ui/models/config_model.h"
#include "ui/models/topic_model.h"
#include "ui/session/admin.h"
#include "ui/session/session.h"

class QLineEdit;
class QTableView;
class QTimer;

namespace hw::ui {

class Button;
class SegmentedControl;
class StatisticsStrip;
class TextLabel;

class TopicDetails : public QWidget {
  Q_OBJECT

 public:
  explicit TopicDetails(QWidget* parent = nullptr);
  void attach(Session* session);
  // Shows a topic; staged edits of another one are kept until it is shown again or discarded.
  void showTopic(const QString& topic);
  // After a frame: configurations are asked for again when the view's differ; numbers follow `facts`.
  void refresh(const TopicFacts* facts);
  void setClock(std::function<std::int64_t()> clock) { clock_ = std::move(clock); }

  [[nodiscard]] QString topic() const { return topic_; }
  [[nodiscard]] ConfigModel* configs() const { return configs_; }
  [[nodiscard]] QTableView* table() const { return table_; }
  [[nodiscard]] QLineEdit* editor() const { return editor_; }
  [[nodiscard]] Button* reviewButton() const { return review_; }
  [[nodiscard]] bool counted() const { return counted_; }
  void review();
  void chooseKey(const std::string& key);

 signals:
  void recordsCounted(const QString& topic, qlonglong records);
  // Applied: what takes it back.
  void applied(const QString& topic, const std::vector<hw::ui::ConfigChange>& inverse, int count);
  void said(const QString& text, bool bad);

 protected:
  void resizeEvent(QResizeEvent* event) override;
  bool eventFilter(QObject* object, QEvent* event) override;

 private:
  void load();
  void count();
  void showKey();
  void stageEditor();
  void judgeEditor();
  void refreshStaged();
  void fitColumns();
  void showStatistics();

  QPointer<Session> session_;
  std::function<std::int64_t()> clock_;
  QString topic_;
  ConfigModel* configs_;
  TextLabel* title_;
  TextLabel* problem_;
  SegmentedControl* which_;
  QLineEdit* search_;
  Button* review_;
  Button* discard_;
  StatisticsStrip* strip_;
  QTableView* table_;
  QWidget* side_;
  TextLabel* key_;
  TextLabel* doc_;
  TextLabel* danger_;
  TextLabel* chain_;
  QLineEdit* editor_;
  TextLabel* editor_note_;
  Button* stage_;
  Button* inherit_;
  QTimer* count_timer_;
  TopicFacts facts_;
  std::map<std::string, std::string, std::less<>> seen_configs_;
  std::map<QString, std::map<std::string, std::optional<std::string>>> parked_;  // staged edits of other topics
  std::string shown_key_;
  RecordCount count_;
  std::int64_t counted_offsets_ = -1;
  std::uint64_t round_ = 0;
  bool counting_ = false;
  bool counted_ = false;
};

}  // namespace hw::ui
