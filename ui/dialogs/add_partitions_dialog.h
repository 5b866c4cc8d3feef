// SPDX-License-Identifier: Apache-2.0
// More partitions: shows where the keys that are in the log now go, before and after, and which share of them moves.
#pragma once

#include <QDialog>
#include <QPointer>

#include "ui/models/key_moves.h"
#include "ui/session/session.h"

class QSpinBox;

namespace hw::ui {

class Button;
class CommandLine;
class TextLabel;

class AddPartitionsDialog : public QDialog {
  Q_OBJECT

 public:
  AddPartitionsDialog(Session* session, const QString& topic, QWidget* parent = nullptr);
  void setTotal(int total);
  [[nodiscard]] const KeyMoves& moves() const { return moves_; }
  [[nodiscard]] QString summary() const;
  [[nodiscard]] bool keysRead() const { return reading_ == 0; }
  void submit();

 signals:
  void grown(const QString& topic, int before, int total);

 private:
  class Map;
  void readKeys();
  void readSome(std::int32_t partition);
  void refresh();
  QPointer<Session> session_;
  const QString topic_;
  int before_ = 1;
  int looked_at_ = 0;  // partitions
  QSpinBox* total_;
  TextLabel* note_;
  TextLabel* summary_;
  Map* map_;
  CommandLine* command_;
  TextLabel* failure_;
  Button* add_;
  KeyCounter keys_;
  KeyMoves moves_;
  int reading_ = 0;
};

}  // namespace hw::ui
