// SPDX-License-Identifier: Apache-2.0
// ClusterPage (P1): the cluster canvas with its header, legend, table form and the hint of a first run.
#pragma once

#include <map>
#include <set>

#include "ui/models/leader_story.h"
#include "ui/views/cluster_canvas.h"
#include "ui/window/command_source.h"
#include "ui/window/page.h"

class QAbstractButton;
class QScrollArea;
class QStackedWidget;
class QTableView;

namespace hw::ui {

class ClusterTable;
class GroupModel;
class CommandRegistry;
class LegendBar;
class TextLabel;
class SegmentedControl;

class ClusterPage : public Page, public CommandSource {
  Q_OBJECT

 public:
  explicit ClusterPage(QWidget* parent = nullptr);
  void attach(Session* session) override;
  void addCommands(CommandRegistry& commands) override;
  void setSelection(const Selection& selection) override;
  void setWidthClass(int width_class) override;
  void setFaults(const FaultFacts& faults) override;
  bool toggleTable() override;
  [[nodiscard]] Glyph attention(const FaultFacts& faults) const override;
  [[nodiscard]] QRect anchor(const Selection& selection) const override;
  [[nodiscard]] std::optional<QPoint> freeSpot(QSize size) const override;
  [[nodiscard]] ClusterCanvas* canvas() const { return canvas_; }
  // Who judges how groups keep up; outlives the page.
  void setGroups(const GroupModel* groups);
  [[nodiscard]] QScrollArea* scrollArea() const { return scroll_; }

 protected:
  void frame() override;
  bool eventFilter(QObject* object, QEvent* event) override;

 private:
  struct Line {
    QString sentence;
    QString time;
    std::int64_t at_ms = 0;
  };

  void refreshSummary();
  void refreshTable();
  void showInTable();
  void placeViewport();
  void followTouched();
  void revealTouched();
  void addNodeCommands(CommandRegistry& commands);
  [[nodiscard]] int nodeOf(const QVariantMap& args) const;  // -1: none is meant
  void act(NodeAction action, int node);
  void killOrStart(int node);
  void openFaults(int node);
  void addBroker();
  void removeBroker(int node);
  [[nodiscard]] QString staysFor(int node) const;
  void showAdding(bool adding);
  [[nodiscard]] bool addsBrokers() const;
  void tell(const QString& sentence, bool bad = false);
  void takeStory(qsizetype gone = 0);                         // lines that have just been taken away
  void note(const QStringList& sentences, WallTime at = {});  // the newest come first, and stay; `at` 0: now
  void noteDone(NodeAction action, int node, const QString& sentence);
  [[nodiscard]] qsizetype dropEarlier();              // what is told of another fault, when one begins
  [[nodiscard]] bool stands(const Line& line) const;  // what was done by hand to a node, and is so
  [[nodiscard]] qsizetype dropOver();       // what is said and is not so any more; how many lines
  [[nodiscard]] QString story() const;      // of them
  qsizetype drop(const QString& sentence);

  ClusterCanvas* canvas_;
  QScrollArea* scroll_;
  LegendBar* legend_;
  QStackedWidget* forms_;
  ClusterTable* table_;
  QTableView* table_view_;
  SegmentedControl* detail_;
  TextLabel* told_;
  LeaderStory story_;

  QList<Line> lines_;    // what happened in the present fault, else in the last one; the newest first
  bool faulty_ = false;  // something is wrong with the cluster
  struct Done {
    NodeAction action;
    QString sentence;
  };
  std::map<int, Done> done_;  // by hand, to a node: the last of it
  std::set<std::int32_t> out_;  // nodes that had ended, or were ending, or were under a fault, when last told
  QString shown_;      // of it
  std::set<std::int32_t> touched_;  // nodes that had ended or were under a fault when last looked
  std::int32_t revealed_ = -1;      // the last one of them stays in sight until somebody scrolls
  bool narrow_ = false;
  CommandRegistry* commands_ = nullptr;
  bool kill_confirmed_ = false;  // asked once
  bool adding_ = false;          // a broker is on its way
  QAbstractButton* add_broker_ = nullptr;
  QTimer table_later_;
  bool table_changes_ = false;  // by us, not by who chooses a row
  bool detail_chosen_ = false;  // by hand: the window's width no longer decides
};

}  // namespace hw::ui
