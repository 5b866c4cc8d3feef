// SPDX-License-Identifier: Apache-2.0
// Deleting records before an offset: what goes, from which partition, and which group has not read it yet. There is no way back.
#pragma once

#include <QDialog>
#include <QPointer>
#include <vector>

#include "ui/session/admin.h"
#include "ui/session/session.h"

class QComboBox;
class QLineEdit;

namespace hw::ui {

class Button;
class CommandLine;
class TextLabel;

class DeleteRecordsDialog : public QDialog {
  Q_OBJECT

 public:
  // `partition` -1: all partitions; `offset` -1: up to the end.
  DeleteRecordsDialog(Session* session, const QString& topic, std::int32_t partition, std::int64_t offset, QWidget* parent = nullptr);
  void submit();
  [[nodiscard]] QString summary() const;

 signals:
  void deleted(const QString& topic, qlonglong records);

 private:
  struct Plan {
    std::vector<PartitionOffset> before;
    std::int64_t records = 0;
    std::vector<std::pair<QString, std::int64_t>> unread;  // by group
  };
  [[nodiscard]] Plan plan() const;
  void refresh();
  QPointer<Session> session_;
  const QString topic_;
  QComboBox* partition_;
  QLineEdit* offset_;
  TextLabel* note_;
  TextLabel* summary_;
  TextLabel* groups_;
  CommandLine* command_;
  TextLabel* failure_;
  Button* delete_;
};

}  // namespace hw::ui
