// SPDX-License-Identifier: Apache-2.0
#include "ui/window/coach_mark.h"

#include <QBoxLayout>
#include <QPainter>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/theme/theme.h"
#include "ui/window/controls.h"

namespace hw::ui {

class CoachMark::Card : public QWidget {
 public:
  explicit Card(CoachMark* mark) : QWidget(mark) {
    const Theme& t = Theme::current();
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(t.px(17), t.px(15), t.px(17), t.px(14));
    column->setSpacing(t.px(6));
    title = new TextLabel({}, FontRole::page_title, TextLabel::Tone::text, this);
    title->setWordWrap(true);
    column->addWidget(title);
    text = new TextLabel({}, FontRole::body, TextLabel::Tone::text2, this);
    text->setTextFormat(Qt::RichText);
    text->setWordWrap(true);
    column->addWidget(text);
    column->addSpacing(t.px(6));
    doors = new QVBoxLayout;
    doors->setSpacing(t.px(6));
    column->addLayout(doors);
    row = new QBoxLayout(QBoxLayout::LeftToRight);
    action = new Button(Button::Kind::primary, {}, {}, this);
    row->addWidget(action);
    row->addStretch(1);
    refuse = new Button(Button::Kind::quiet, {}, CoachMark::tr("Don't show hints"), this);
    row->addWidget(refuse);
    column->addLayout(row);
    setFixedWidth(t.px(kWide));
    QObject::connect(action, &Button::clicked, mark, &CoachMark::actionClicked);
    QObject::connect(refuse, &Button::clicked, mark, &CoachMark::hintsRefused);
  }

  static constexpr int kWide = 270;
  static constexpr int kNarrow = 190;
  void setNarrow(bool narrow) {
    row->setDirection(narrow ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight);
    setFixedWidth(Theme::current().px(narrow ? kNarrow : kWide));
  }

  TextLabel* title;
  TextLabel* text;
  QVBoxLayout* doors;
  QBoxLayout* row;
  Button* action;
  Button* refuse;

 protected:
  void paintEvent(QPaintEvent*) override {
    const Colors& c = Theme::current().colors();
    QPainter p(this);
    p.setRenderHint(QPainter::Antialiasing);
    p.setPen(QPen(c.ring, 2.0));
    p.setBrush(c.card);
    p.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), 6, 6);
  }
};

CoachMark::CoachMark(QWidget* page) : QWidget(page), card_(new Card(this)) {
  setAttribute(Qt::WA_NoSystemBackground);
  setAccessibleName(tr("Hint"));
}

void CoachMark::setHint(const Hint& hint) {
  card_->title->setText(hint.title);
  card_->text->setText(hint.text);
  card_->action->setText(hint.action_text);
  card_->action->setShortcutCap(hint.action_cap);
  card_->action->setVisible(!hint.action_text.isEmpty());
  while (QLayoutItem* item = card_->doors->takeAt(0)) {
    item->widget()->deleteLater();
    delete item;
  }
  for (int i = 0; i < hint.doors.size(); ++i) {
    auto* door = new Button(i == 0 ? Button::Kind::primary : Button::Kind::normal, {}, hint.doors[i], card_);
    connect(door, &Button::clicked, this, [this, i] { Q_EMIT doorClicked(i); });
    card_->doors->addWidget(door);
  }
  card_->setAccessibleName(hint.title);
  card_->adjustSize();
}

void CoachMark::setNarrow(bool narrow) {
  if (narrow != narrow_) {
    narrow_ = narrow;
    card_->setNarrow(narrow);
    card_->layout()->activate();
  }
}

QString CoachMark::title() const { return card_->title->text(); }

QSize CoachMark::cardSize() const {
  const int width = card_->width();
  const int height = card_->layout()->hasHeightForWidth() ? card_->layout()->totalHeightForWidth(width)
                                                           : card_->sizeHint().height();
  return {width, height};
}

void CoachMark::place(const QPoint& top_left, const QRect& anchor) {
  const QRect card(top_left, cardSize());
  line_.clear();
  if (!anchor.isEmpty()) {
    // From the object's side that faces the card (the right one where neither does), then straight to the card's nearer side, 27 below
    // its corner.
    const bool card_is_left = card.right() + 40 < anchor.left();
    const QPointF from(card_is_left ? anchor.left() - 1 : anchor.right() + 1, anchor.center().y());
    const bool card_is_right = card.left() > from.x() + 40;
    const double x = card_is_left    ? std::max<double>(from.x() - 20, card.right() + 20)
                     : card_is_right ? std::min<double>(from.x() + 20, card.left() - 20)
                                     : std::max<double>(from.x() + 20, card.right() + 20);
    const double y = std::clamp<double>(from.y(), card.top() + 27, card.bottom() - 27);
    line_ = QPolygonF({from, {x, from.y()}, {x, y}, {card_is_right ? card.left() + 0.0 : card.right() + 1.0, y}});
  }
  QRect all = card;
  for (const QPointF& point : line_) {
    all |= QRect(point.toPoint() - QPoint(8, 8), QSize(16, 16));
  }
  all.adjust(-4, -4, 4, 4);
  if (geometry() != all) {
    setGeometry(all);
  }
  line_.translate(-all.topLeft());
  card_->setGeometry(card.translated(-all.topLeft()));
  // Only the card and the line take the mouse; what lies between stays usable.
  QRegion mask(card_->geometry());
  for (qsizetype i = 0; i < line_.size(); ++i) {
    if (i == 0) {
      mask += QRect(line_[0].toPoint() - QPoint(7, 7), QSize(14, 14));
    } else {
      mask += QRectF(line_[i - 1], line_[i]).normalized().adjusted(-2, -2, 2, 2).toAlignedRect();
    }
  }
  if (mask != this->mask()) {
    setMask(mask);
    update();
  }
}

void CoachMark::paintEvent(QPaintEvent*) {
  if (line_.isEmpty()) {
    return;
  }
  const Colors& c = Theme::current().colors();
  QPainter p(this);
  p.setRenderHint(QPainter::Antialiasing);
  p.setPen(QPen(c.ring, 1.5));
  p.setBrush(Qt::NoBrush);
  p.drawPolyline(line_);
  p.setPen(QPen(c.canvas, 2.0));
  p.setBrush(c.ring);
  p.drawEllipse(line_.front(), 5.0, 5.0);
}

}  // namespace hw::ui
