// SPDX-License-Identifier: Apache-2.0
// WhyPanel: why a group lags, in words and three bars: what arrives, what is handled, and the keys of the partition that holds
// the lag.
#pragma once

#include <QWidget>
#include <vector>

#include "ui/models/group_why.h"

class QScrollArea;

namespace hw::ui {

class Button;
class Chip;
class TextLabel;

class WhyPanel : public QWidget {
  Q_OBJECT

 public:
  explicit WhyPanel(QWidget* parent = nullptr);
  // Repaints what differs.
  void show(const GroupVerdict& verdict, const std::vector<KeyCounter::Share>& keys, const QString& status, Glyph glyph);
  [[nodiscard]] QString text() const;  // all sentences, for tests and assistive technology

 signals:
  void partitionRequested();
  void recordsRequested();

 protected:
  bool eventFilter(QObject* object, QEvent* event) override;

 private:
  class Bars;
  // A sentence is as high as its lines: where there is no room the words scroll, nothing is cut.
  void holdHeights();
  QScrollArea* room_;
  QWidget* told_;  // the words, inside room_
  TextLabel* title_;
  Chip* chip_;
  TextLabel* headline_;
  TextLabel* sentences_;
  Bars* bars_;
  TextLabel* catch_up_;
  Button* partition_;
  Button* records_;
};

}  // namespace hw::ui
