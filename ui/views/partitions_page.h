// SPDX-License-Identifier: Apache-2.0
// PartitionsPage (P2): lanes of one topic, its numbers, and the records of the selected offsets.
#pragma once

#include <QTimer>
#include <utility>

#include "ui/models/rate_meter.h"
#include "ui/views/lane_view.h"
#include "ui/window/command_source.h"
#include "ui/window/page.h"

class QCheckBox;
class QComboBox;
class QLabel;
class QScrollBar;
class QStackedWidget;
class QTableView;

namespace hw::ui {

class Button;
class Chip;
class LaneTable;
class LegendBar;
class RecordModel;
class StatisticsStrip;
class TextLabel;

class PartitionsPage : public Page, public CommandSource {
  Q_OBJECT

 public:
  explicit PartitionsPage(QWidget* parent = nullptr);
  void attach(Session* session) override;
  void addCommands(CommandRegistry& commands) override;
  void setSelection(const Selection& selection) override;
  void setWidthClass(int width_class) override;
  bool toggleTable() override;
  [[nodiscard]] Glyph attention(const FaultFacts& faults) const override;
  [[nodiscard]] LaneView* lanes() const { return lanes_; }
  [[nodiscard]] StatisticsStrip* statistics() const { return strip_; }
  [[nodiscard]] RecordModel* records() const { return records_; }
  [[nodiscard]] QString topic() const;
  void setTopic(const QString& topic);

 protected:
  void frame() override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void followSelection();
  void fitDrawer();
  void refreshTopics();
  void refreshGroups();
  void refreshScroll();
  void refreshMode();
  void refreshStatistics();
  void countStatistics();
  // What the leaders of the shown topic took in and handed out since it was asked last.
  std::pair<Flow, Flow> rise();
  void sampleRates();
  void forgetRates();
  [[nodiscard]] const observe::TopicView* topicView() const;
  void readSelection();
  void showEmpty();

  LaneView* lanes_;
  QScrollBar* bar_;
  StatisticsStrip* strip_;
  LegendBar* legend_;
  QComboBox* topics_;
  QComboBox* groups_;
  QCheckBox* leader_;
  QCheckBox* followers_;
  QCheckBox* keys_;
  Chip* following_;
  QWidget* drawer_;        // records of the selection
  TextLabel* drawer_hint_;
  Button* drawer_open_;
  RecordModel* records_;
  QTableView* record_view_;
  QStackedWidget* forms_;
  LaneTable* table_;
  QTableView* table_view_;
  QTimer statistics_later_;  // numbers of this moment: with the lanes, and no more often than anybody reads
  QTimer rates_later_;       // closes the rates, about once a second
  QTimer table_later_;
  QTimer read_later_;
  RateMeter in_;
  RateMeter out_;
  std::vector<Rise> came_;    // by partition
  std::vector<Rise> handed_;
  QElapsedTimer steady_;
  std::shared_ptr<const void> topics_seen_;
  std::shared_ptr<const void> groups_seen_;
  QString wanted_topic_;    // of the selection, until it is shown
  Selection read_;          // what the drawer shows
  std::uint64_t read_number_ = 0;
};

}  // namespace hw::ui
