// SPDX-License-Identifier: Apache-2.0
// FaultBar: one line above every page while something is wrong with the cluster: what happened, what it means for records, and a
// button that mends it. Hidden while all is well. Thread rule: UI thread only.
#pragma once

#include <QWidget>

#include "ui/models/fault_facts.h"

namespace hw::ui {

class Button;
class TextLabel;

class FaultBar : public QWidget {
  Q_OBJECT

 public:
  explicit FaultBar(QWidget* parent = nullptr);
  void take(const FaultFacts& facts);
  [[nodiscard]] const FaultFacts& facts() const { return facts_; }

 signals:
  void startRequested(int node);
  void healRequested();

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  FaultFacts facts_;
  TextLabel* text_;
  Button* mend_;
};

}  // namespace hw::ui
