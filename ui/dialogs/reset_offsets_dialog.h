// SPDX-License-Identifier: Apache-2.0
// Resetting a group's offsets: choose where to, see for every partition what that means, then apply. Nothing is sent before.
#pragma once

#include <QDialog>
#include <QPointer>
#include <functional>
#include <vector>

#include "ui/models/offset_reset.h"
#include "ui/session/session.h"

class QComboBox;
class QLineEdit;
class QTableWidget;

namespace hw::ui {

class Button;
class SegmentedControl;
class CommandLine;
class TextLabel;

class ResetOffsetsDialog : public QDialog {
  Q_OBJECT

 public:
  // `now`: wall time in milliseconds.
  ResetOffsetsDialog(Session* session, const QString& group, std::function<std::int64_t()> now, QWidget* parent = nullptr);
  void choose(ResetChoice::To to);
  void setValue(const QString& text);
  [[nodiscard]] const std::vector<ResetRow>& plan() const { return plan_; }
  [[nodiscard]] bool ready() const;
  void apply();

 signals:
  // What was there before, so that it can be put back.
  void applied(const std::vector<hw::ui::PartitionOffset>& before, const std::vector<hw::ui::PartitionOffset>& after);

 private:
  void loadPositions();
  void replan();
  void fill();
  void askKeys();
  [[nodiscard]] QString topic() const;
  [[nodiscard]] bool groupActive() const;

  QPointer<Session> session_;
  const QString group_;
  std::function<std::int64_t()> now_;
  SegmentedControl* to_;
  QLineEdit* value_;
  TextLabel* value_note_;
  QComboBox* topics_;
  QTableWidget* table_;
  TextLabel* summary_;
  CommandLine* command_;
  TextLabel* failure_;
  Button* apply_;
  std::vector<ResetPart> parts_;
  std::vector<ResetRow> plan_;
  std::uint64_t round_ = 0;
  int waiting_ = 0;
  bool valid_ = true;
  bool active_ = false;  // the group has members
};

}  // namespace hw::ui
