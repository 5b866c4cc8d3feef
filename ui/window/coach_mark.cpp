// SPDX-License-Identifier: Apache-2.0
#include "ui/window/coach_mark.h"

#include <QHBoxLayout>
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
    auto* row = new QHBoxLayout;
    action = new Button(Button::Kind::primary, {}, {}, this);
    row->addWidget(action);
    row->addStretch(1);
    refuse = new Button(Button::Kind::quiet, {}, CoachMark::tr("Don't show hints"), this);
    row->addWidget(refuse);
    column->addLayout(row);
    setFixedWidth(t.px(270));
    QObject::connect(action, &Button::clicked, mark, &CoachMark::actionClicked);
    QObject::connect(refuse, &Button::clicked, mark, &CoachMark::hintsRefused);
  }

  TextLabel* title;
  TextLabel* text;
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
  card_->setAccessibleName(hint.title);
  card_->adjustSize();
}

QSize CoachMark::cardSize() const {
  const int width = card_->width();
  const int height = card_->layout()->hasHeightForWidth() ? card_->layout()->totalHeightForWidth(width)
                                                           : card_->sizeHint().height();
  return {width, height};
}

void CoachMark::place(const QPoint& top_left, const QRect& anchor) {
  const QSize size = cardSize();
  QRect all(top_left, size);
  anchor_ = anchor;
  QPoint target;
  if (!anchor.isEmpty()) {
    target = QPoint(anchor.right() + 1, anchor.center().y());
    all |= QRect(target - QPoint(8, 8), QSize(16, 16));
  }
  setGeometry(all.adjusted(-4, -4, 4, 4));
  card_->setGeometry(QRect(top_left - pos(), size));
  anchor_ = anchor.isEmpty() ? QRect() : QRect(target - pos(), QSize(1, 1));
  // Only the card and the line take the mouse; what lies between stays usable.
  QRegion mask(card_->geometry());
  if (!anchor_.isEmpty()) {
    const QPoint a = anchor_.topLeft();
    const int x = std::max(a.x() + 20, std::min(card_->geometry().left() - 24, a.x() + 20));
    mask += QRect(a - QPoint(7, 7), QSize(14, 14));
    mask += QRect(QPoint(std::min(a.x(), x), a.y() - 2), QPoint(std::max(a.x(), x), a.y() + 2));
    const int y = std::clamp(a.y(), card_->geometry().top() + 27, card_->geometry().bottom() - 27);
    mask += QRect(QPoint(x - 2, std::min(a.y(), y) - 2), QPoint(x + 2, std::max(a.y(), y) + 2));
    mask += QRect(QPoint(x, y - 2), QPoint(card_->geometry().left(), y + 2));
  }
  setMask(mask);
  update();
}

void CoachMark::paintEvent(QPaintEvent*) {
  if (anchor_.isEmpty()) {
    return;
  }
  const Colors& c = Theme::current().colors();
  QPainter p(this);
  p.setRenderHint(QPainter::Antialiasing);
  const QPointF a(anchor_.topLeft());
  const QRect card = card_->geometry();
  const double x = std::max(a.x() + 20, std::min<double>(card.left() - 24, a.x() + 20));
  const double y = std::clamp<double>(a.y(), card.top() + 27, card.bottom() - 27);
  p.setPen(QPen(c.ring, 1.5));
  p.setBrush(Qt::NoBrush);
  p.drawPolyline(QPolygonF({a, {x, a.y()}, {x, y}, {static_cast<double>(card.left()), y}}));
  p.setPen(QPen(c.canvas, 2.0));
  p.setBrush(c.ring);
  p.drawEllipse(a, 5.0, 5.0);
}

}  // namespace hw::ui
