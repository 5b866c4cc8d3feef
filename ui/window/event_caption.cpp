// SPDX-License-Identifier: Apache-2.0
#include "ui/window/event_caption.h"

#include <QPainter>
#include <algorithm>

#include "ui/theme/theme.h"

namespace hw::ui {

EventCaption::EventCaption(QWidget* page) : QWidget(page) {
  setAttribute(Qt::WA_TransparentForMouseEvents);
  gone_.setSingleShot(true);
  gone_.setInterval(3'000);
  connect(&gone_, &QTimer::timeout, this, &QWidget::hide);
  hide();
}

void EventCaption::tell(const QString& sentence) {
  sentence_ = sentence;
  setAccessibleName(sentence);
  place();
  show();
  raise();
  update();
  gone_.start();
}

void EventCaption::place() {
  const Theme& t = Theme::current();
  const QFontMetrics metrics(t.font(FontRole::display));
  const int room = parentWidget()->width() - t.px(48);
  const int width = std::min(room, metrics.horizontalAdvance(sentence_) + t.px(40));
  const int height = t.px(44);
  setGeometry((parentWidget()->width() - width) / 2, parentWidget()->height() - height - t.px(28), width, height);
}

void EventCaption::paintEvent(QPaintEvent*) {
  const Theme& t = Theme::current();
  const Colors& c = t.colors();
  QPainter p(this);
  p.fillRect(rect(), c.canvas);
  p.setRenderHint(QPainter::Antialiasing);
  p.setPen(QPen(c.text, t.pxf(1.5)));
  p.setBrush(c.card);
  p.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), t.pxf(6), t.pxf(6));
  p.setFont(t.font(FontRole::display));
  p.setPen(c.text);
  const QRect line = rect().adjusted(t.px(16), 0, -t.px(16), 0);
  p.drawText(line, Qt::AlignCenter, p.fontMetrics().elidedText(sentence_, Qt::ElideRight, line.width()));
}

}  // namespace hw::ui
