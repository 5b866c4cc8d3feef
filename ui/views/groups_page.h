// SPDX-License-Identifier: Apache-2.0
// P5 Groups: who reads what, how far behind, why, and what to do about it.
#pragma once

#include <array>
#include <functional>

#include "ui/models/group_model.h"
#include "ui/models/key_moves.h"
#include "ui/session/admin.h"
#include "ui/views/list_page.h"
#include "ui/window/command_source.h"

class QCheckBox;
class QHBoxLayout;
class QScrollArea;
class QTableWidget;
class QVBoxLayout;

namespace hw::ui {

class AssignmentMatrix;
class Button;
class CommandRegistry;
class RebalanceTable;
class TextLabel;
class WhyPanel;

class GroupsPage : public ListPage, public CommandSource {
  Q_OBJECT

 public:
  explicit GroupsPage(QWidget* parent = nullptr);
  void attach(Session* session) override;
  void addCommands(CommandRegistry& commands) override;
  void setSelection(const Selection& selection) override;
  bool toggleTable() override;
  Glyph attention(const FaultFacts& faults) const override;
  QRect anchor(const Selection& selection) const override;

  [[nodiscard]] GroupModel* model() const { return model_; }
  [[nodiscard]] AssignmentMatrix* matrix() const { return matrix_; }
  [[nodiscard]] WhyPanel* whyPanel() const { return why_; }
  // The group that is shown below; empty: none.
  [[nodiscard]] QString current() const { return current_; }
  // Tests set the time: wall milliseconds.
  void setClock(std::function<std::int64_t()> clock) { clock_ = std::move(clock); }

  // What the commands do; true where there was something to do.
  void addConsumer(bool ask);
  void removeConsumer();
  void rebalance();
  void resetOffsets();
  void deleteGroup();
  void deleteOffsets();
  void refresh() override;

 protected:
  void fitColumns() override;
  bool eventFilter(QObject* object, QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void watch();
  void refreshDetails(std::int64_t now_ms);
  void fitHeights();
  void refreshNotice();
  void showGroup(const QString& group, bool request);
  void askKeys();
  void refreshKinds();
  [[nodiscard]] bool kindShown(GroupKind kind) const;
  void applyCapabilities();
  [[nodiscard]] ConsumerCommand consumerFor(const QString& group) const;

  std::function<std::int64_t()> clock_;
  GroupModel* model_;
  std::array<QCheckBox*, kGroupKinds.size()> kinds_{};
  QWidget* details_;
  QVBoxLayout* room_;   // of the details
  QHBoxLayout* upper_;  // matrix and words
  bool heights_chosen_ = false;
  std::array<int, 4> fitted_{};  // what the heights were made for: all there is, the part below, groups, scale
  TextLabel* name_;
  TextLabel* caption_;
  TextLabel* idle_;
  QScrollArea* matrix_room_;
  AssignmentMatrix* matrix_;
  QTableWidget* matrix_table_;
  WhyPanel* why_;
  RebalanceTable* rebalances_;
  TextLabel* rebalance_note_;
  Button* reset_;
  Button* rejoin_;
  Button* delete_;
  QString current_;
  bool as_table_ = false;
  bool follow_selection_ = true;
  static constexpr std::int64_t kWatchedMs = 1'000;
  std::int64_t watched_ms_ = 0;  // while the page is hidden
  ConsumerCommand last_options_;
  std::vector<KeyCounter::Share> keys_;
  QString keys_of_;              // "topic/partition" that keys_ is of
  std::int64_t keys_asked_ms_ = -1;
};

}  // namespace hw::ui
