// SPDX-License-Identifier: Apache-2.0
// "Review 2 changes": what changes, what it will cause now, computed from the segments that are there, and the same as command
// lines. Apply sends all changes at once; the broker takes all or none.
#pragma once

#include <QDialog>
#include <QPointer>
#include <map>
#include <string>
#include <vector>

#include "ui/models/retention_preview.h"
#include "ui/session/admin.h"
#include "ui/session/session.h"

class QGridLayout;

namespace hw::ui {

class Button;
class TextLabel;

class ReviewConfigsDialog : public QDialog {
  Q_OBJECT

 public:
  struct Input {
    QString topic;
    std::vector<ConfigChange> changes;
    std::map<std::string, std::string> before;  // effective values
    std::map<std::string, std::string> after;
    std::size_t replicas = 1;                   // of a partition
    std::int64_t now_ms = 0;
  };
  ReviewConfigsDialog(Session* session, Input input, QWidget* parent = nullptr);
  [[nodiscard]] const std::vector<ChangeEffect>& effects() const { return effects_; }
  [[nodiscard]] QString commandLines() const;
  void apply();

 signals:
  void applied();

 private:
  void fill(const std::vector<PartitionSegments>& partitions);
  QPointer<Session> session_;
  Input input_;
  QGridLayout* grid_;
  TextLabel* command_;
  TextLabel* failure_;
  Button* apply_;
  std::vector<ChangeEffect> effects_;
};

}  // namespace hw::ui
