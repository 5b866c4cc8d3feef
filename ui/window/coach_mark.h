// SPDX-License-Identifier: Apache-2.0
// Coach mark: one hint at a time, with a line to the object it is about. Never modal.
#pragma once

#include <QPointer>
#include <QPolygonF>
#include <QStringList>
#include <QWidget>

namespace hw::ui {

class Button;

class CoachMark : public QWidget {
  Q_OBJECT

 public:
  struct Hint {
    QString title;
    QString text;         // may hold <b> and <code>
    QString action_text;  // empty: no action, only doors
    QString action_cap;
    QStringList doors;    // ways on, one below the other
  };
  // Fills `page` (transparent where it paints nothing); mouse events outside the card pass through.
  explicit CoachMark(QWidget* page);
  void setHint(const Hint& hint);
  [[nodiscard]] QString title() const;
  // In the page's coordinates; an empty anchor draws no line.
  void place(const QPoint& top_left, const QRect& anchor);
  [[nodiscard]] QSize cardSize() const;
  // Narrow and high, for a crowded page.
  void setNarrow(bool narrow);
  [[nodiscard]] bool narrow() const { return narrow_; }

 signals:
  void actionClicked();
  void doorClicked(int index);
  void hintsRefused();

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  bool narrow_ = false;
  class Card;
  Card* card_;
  QPolygonF line_;  // from the object to the card; empty: none
};

}  // namespace hw::ui
