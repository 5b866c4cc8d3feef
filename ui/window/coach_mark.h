// SPDX-License-Identifier: Apache-2.0
// Coach mark: one hint at a time, with a line to the object it is about. Never modal. Where the
// page has no free place for its card, it is a strip that takes room of its own, so that it never
// lies on what it speaks of.
#pragma once

#include <QPointer>
#include <QPolygonF>
#include <QStringList>
#include <QWidget>
#include <map>

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
  // A card; one that is narrow and high, for a crowded page; a strip as wide as it is given.
  enum class Form : std::uint8_t { card, narrow, strip };
  void setForm(Form form);
  [[nodiscard]] Form form() const { return form_; }
  // Of the card in a form other than the strip.
  [[nodiscard]] QSize cardSize(Form form);
  // In the page's coordinates; an empty anchor draws no line.
  void place(const QPoint& top_left, const QRect& anchor);
  // As a strip of this width, in a layout.
  void placeStrip(int width);

 signals:
  void actionClicked();
  void doorClicked(int index);
  void hintsRefused();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  class Card;
  Form form_ = Form::card;
  std::map<std::pair<Form, double>, QSize> sizes_;  // by form and UI scale
  Card* card_;
  QPolygonF line_;  // from the object to the card; empty: none
};

}  // namespace hw::ui
