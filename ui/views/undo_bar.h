// SPDX-License-Identifier: Apache-2.0
// UndoBar: a line at the foot of a page that says what was done and offers to take it back.
#pragma once

#include <QPointer>
#include <QWidget>

#include "ui/session/undo_list.h"

namespace hw::ui {

class Button;
class TextLabel;

class UndoBar : public QWidget {
  Q_OBJECT

 public:
  explicit UndoBar(QWidget* parent = nullptr);
  // Shows the newest entry whose subject begins with `prefix` ("group:" for groups; "topic " …). The list outlives the bar.
  void attach(UndoList* list);
  // What stands there although nothing can be undone: a result, or an error.
  void say(const QString& text, bool bad);
  [[nodiscard]] QString text() const;

 signals:
  void undoRequested();

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  void refresh();
  QPointer<UndoList> list_;
  TextLabel* text_;
  Button* undo_;
  Button* close_;
  QString said_;
  bool bad_ = false;
  bool dismissed_ = false;
};

}  // namespace hw::ui
