// SPDX-License-Identifier: Apache-2.0
// QuorumPage (P8): who keeps the metadata: voters and observers with how far they are, the elections and their reasons, what works
// without a majority, and the newest records of the metadata log.
#pragma once

#include <functional>
#include <vector>

#include <QTimer>

#include "ui/models/election_history.h"
#include "ui/models/fault_facts.h"
#include "ui/models/quorum_facts.h"
#include "ui/window/command_source.h"
#include "ui/window/page.h"

class QAbstractButton;
class QScrollArea;
class QStackedWidget;
class QTableView;

namespace hw::ui {

class Button;
class Chip;
class FilterBox;
class MetadataLogModel;
class QuorumBoard;
class QuorumCanvas;
class QuorumTable;
class TableNotice;
class TextLabel;

class QuorumPage : public Page, public CommandSource {
  Q_OBJECT

 public:
  explicit QuorumPage(QWidget* parent = nullptr);
  void attach(Session* session) override;
  void addCommands(CommandRegistry& commands) override;
  void setSelection(const Selection& selection) override;
  void setWidthClass(int width_class) override;

  void setFaults(const FaultFacts& faults) override { reach_ = faults.reach; }
  [[nodiscard]] Glyph attention(const FaultFacts& faults) const override;
  bool focusFilter() override;
  bool applyFilter(const QString& text) override;
  bool toggleTable() override;
  [[nodiscard]] QuorumCanvas* canvas() const { return canvas_; }
  [[nodiscard]] MetadataLogModel* records() const { return records_; }
  [[nodiscard]] QString verdict() const;
  // Wall time in ms; tests replace it.
  void setClock(std::function<std::int64_t()> clock) { clock_ = std::move(clock); }

 protected:
  void frame() override;
  void resizeEvent(QResizeEvent* event) override;
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;

 private:
  void refresh(QuorumFacts facts);
  [[nodiscard]] QuorumFacts factsOf(const observe::ClusterView& view) const;
  void readRecords();
  void showCounts();
  void sayBehind();
  [[nodiscard]] bool mayVote() const;   // the selected node, as one more voter
  [[nodiscard]] bool mayLeave() const;  // the selected voter
  void refreshActions();
  void changeVoter(bool voter);
  void carryOut(int node, bool voter);
  [[nodiscard]] int chosenNode() const;  // -1: no replica of the metadata log is selected
  void tell(const QString& sentence, bool bad);

  std::function<std::int64_t()> clock_;
  Chip* majority_;
  QAbstractButton* add_;
  QAbstractButton* remove_;
  Button* kill_;
  TextLabel* verdict_;
  TextLabel* told_;
  QStackedWidget* forms_;
  QScrollArea* scroll_;
  QuorumCanvas* canvas_;
  QuorumTable* table_;
  QTableView* table_view_;
  QWidget* side_;
  QuorumBoard* board_;
  TextLabel* snapshot_;
  TextLabel* behind_;  // what of the metadata log the list lacks at its end
  FilterBox* filter_;
  MetadataLogModel* records_;
  QTableView* record_view_;
  TextLabel* record_text_;  // the chosen record in full
  TableNotice* record_notice_;
  QTimer tick_;
  QTimer rest_;       // runs after a look while nothing is wrong
  bool due_ = false;  // a view came meanwhile
  std::shared_ptr<const void> quorum_seen_;
  std::vector<Election> elections_;
  DataReach reach_;
  std::int64_t next_ = -1;  // offset of the metadata log to go on reading at; -1: nothing was read
  std::int64_t reading_since_ = -1;  // -1: nothing is being read
  std::uint64_t read_number_ = 0;    // answers to earlier reads are late
  std::int64_t unanswered_since_ = -1;  // what was asked then has not been answered; -1: nothing is open
  std::int64_t read_at_ = 0;            // when the list was last as new as the log
  bool gap_ = false;                    // what is read now does not follow what is listed
  int width_class_ = 0;
  QString read_error_;
};

}  // namespace hw::ui
