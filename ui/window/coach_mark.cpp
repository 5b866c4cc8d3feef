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
    setObjectName(QStringLiteral("hintCard"));
    const Theme& t = Theme::current();
    root = new QBoxLayout(QBoxLayout::TopToBottom, this);
    root->setContentsMargins(t.px(17), t.px(15), t.px(17), t.px(14));
    root->setSpacing(t.px(12));
    auto* words = new QVBoxLayout;
    words->setSpacing(t.px(6));
    title = new TextLabel({}, FontRole::page_title, TextLabel::Tone::text, this);
    title->setWordWrap(true);
    words->addWidget(title);
    text = new TextLabel({}, FontRole::body, TextLabel::Tone::text2, this);
    text->setTextFormat(Qt::RichText);
    text->setWordWrap(true);
    words->addWidget(text);
    root->addLayout(words, 1);
    auto* ways = new QVBoxLayout;
    ways->setSpacing(t.px(6));
    doors = new QBoxLayout(QBoxLayout::TopToBottom);
    doors->setSpacing(t.px(6));
    ways->addLayout(doors);
    row = new QBoxLayout(QBoxLayout::LeftToRight);
    action = new Button(Button::Kind::primary, {}, {}, this);
    row->addWidget(action);
    row->addStretch(1);
    refuse = new Button(Button::Kind::quiet, {}, CoachMark::tr("Don't show hints"), this);
    row->addWidget(refuse);
    ways->addLayout(row);
    root->addLayout(ways);
    setFixedWidth(t.px(kWide));
    QObject::connect(action, &Button::clicked, mark, &CoachMark::actionClicked);
    QObject::connect(refuse, &Button::clicked, mark, &CoachMark::hintsRefused);
  }

  static constexpr int kWide = 270;
  static constexpr int kNarrow = 190;

  void setForm(Form form) {
    const Theme& t = Theme::current();
    const bool strip = form == Form::strip;
    root->setDirection(strip ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom);
    doors->setDirection(strip ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom);
    row->setDirection(form == Form::narrow ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight);
    if (strip) {
      setMinimumWidth(0);
      setMaximumWidth(QWIDGETSIZE_MAX);
    } else {
      setFixedWidth(t.px(form == Form::narrow ? kNarrow : kWide));
    }
    root->invalidate();
    root->activate();
  }

  [[nodiscard]] int heightFor(int width) const {
    return root->hasHeightForWidth() ? root->totalHeightForWidth(width) : sizeHint().height();
  }

  TextLabel* title;
  TextLabel* text;
  QBoxLayout* root;
  QBoxLayout* doors;
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
  sizes_.clear();
}

void CoachMark::setForm(Form form) {
  if (form != form_) {
    form_ = form;
    card_->setForm(form);
  }
}

QString CoachMark::title() const { return card_->title->text(); }

QSize CoachMark::cardSize(Form form) {
  QSize& size = sizes_[{form, Theme::current().scale()}];
  if (size.isEmpty()) {
    const Form now = form_;
    setForm(form);
    size = QSize(card_->width(), card_->heightFor(card_->width()));
    setForm(now);
  }
  return size;
}

void CoachMark::placeStrip(int width) {
  setForm(Form::strip);
  line_.clear();
  clearMask();
  if (const int height = card_->heightFor(width);
      height != minimumHeight() || height != maximumHeight()) {
    setFixedHeight(height);
  }
  card_->setGeometry(rect());
}

void CoachMark::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  if (form_ == Form::strip) {
    card_->setGeometry(rect());
  }
}

void CoachMark::place(const QPoint& top_left, const QRect& anchor) {
  const QRect card(top_left, cardSize(form_));
  setMinimumHeight(0);
  setMaximumHeight(QWIDGETSIZE_MAX);
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
