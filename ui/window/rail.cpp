// SPDX-License-Identifier: Apache-2.0
#include "ui/window/rail.h"

#include <QPainter>
#include <QVBoxLayout>

#include "ui/theme/theme.h"
#include "ui/window/controls.h"
#include "ui/window/page.h"

namespace hw::ui {

RailItem::RailItem(const QString& id, const QString& icon, const QString& title, const QString& shortcut,
                   QWidget* parent)
    : QAbstractButton(parent), id_(id), icon_(icon), shortcut_(shortcut) {
  setText(title);
  setAccessibleName(title);
  setFocusPolicy(Qt::TabFocus);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void RailItem::setCurrent(bool current) {
  if (current != current_) {
    current_ = current;
    setAccessibleDescription(current ? tr("current page") : QString());
    update();
  }
}

void RailItem::setCollapsed(bool collapsed) {
  collapsed_ = collapsed;
  setToolTip(collapsed ? (shortcut_.isEmpty() ? text() : QStringLiteral("%1  (%2)").arg(text(), shortcut_)) : QString());
  updateGeometry();
  update();
}

void RailItem::setAttention(Glyph glyph) {
  if (glyph != attention_) {
    attention_ = glyph;
    update();
  }
}

void RailItem::setIconName(const QString& icon) {
  icon_ = icon;
  update();
}

QSize RailItem::sizeHint() const { return {Theme::current().px(collapsed_ ? 36 : 160), Theme::current().px(28)}; }

void RailItem::enterEvent(QEnterEvent*) { update(); }

void RailItem::leaveEvent(QEvent*) { update(); }

void RailItem::paintEvent(QPaintEvent*) {
  const Theme& t = Theme::current();
  const Colors& c = t.colors();
  QPainter p(this);
  p.setRenderHint(QPainter::Antialiasing);
  if (current_ || underMouse() || isDown()) {
    p.setPen(Qt::NoPen);
    p.setBrush(current_ ? c.selected : (isDown() ? c.pressed : c.hover));
    p.drawRoundedRect(rect(), t.pxf(4), t.pxf(4));
  }
  if (current_) {
    p.setBrush(c.leader);
    p.setPen(Qt::NoPen);
    p.drawRoundedRect(QRectF(0, (height() - t.pxf(18)) / 2, t.pxf(3), t.pxf(18)), 1.5, 1.5);
  }
  const QColor ink = current_ ? c.text : c.text2;
  const int icon = t.px(16);
  const int x = collapsed_ ? (width() - icon) / 2 : t.px(8);
  p.drawPixmap(x, (height() - icon) / 2, icon_pixmap(icon_, ink, icon, devicePixelRatioF()));
  if (collapsed_) {
    if (attention_ != Glyph::none) {
      paint_glyph(p, attention_, QPointF(width() - t.pxf(6), t.pxf(6)), t.pxf(10));
    }
    return;
  }
  p.setFont(t.font(current_ ? FontRole::body_strong : FontRole::body));
  p.setPen(ink);
  const int text_x = x + icon + t.px(10);
  p.drawText(QRect(text_x, 0, width() - text_x - t.px(40), height()), Qt::AlignVCenter | Qt::AlignLeft, text());
  if (!shortcut_.isEmpty()) {
    p.setFont(t.font(FontRole::small_data));
    p.setPen(c.text3);
    p.drawText(QRect(0, 0, width() - t.px(8), height()), Qt::AlignVCenter | Qt::AlignRight, shortcut_);
  }
  if (attention_ != Glyph::none) {
    paint_glyph(p, attention_, QPointF(width() - t.pxf(27), height() / 2.0), t.pxf(12));
  }
}

Rail::Rail(const QList<Page*>& pages, QWidget* parent) : QWidget(parent) {
  setAccessibleName(tr("Pages"));
  const Theme& t = Theme::current();
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(t.px(8), t.px(8), t.px(8), t.px(8));
  column->setSpacing(1);
  QString section;
  for (Page* page : pages) {
    if (page->section() != section) {
      section = page->section();
      // A layout keeps its margins when the sheet changes; a styled label does not.
      auto* plate = new QWidget(this);
      auto* room = new QVBoxLayout(plate);
      room->setContentsMargins(t.px(8), labels_.isEmpty() ? t.px(2) : t.px(12), 0, t.px(4));
      room->addWidget(new TextLabel(section, FontRole::section_label, TextLabel::Tone::text3, plate));
      labels_ << plate;
      column->addWidget(plate);
    }
    auto* item = new RailItem(page->id(), page->icon(), page->title(), page->shortcut().toString(), this);
    connect(item, &RailItem::clicked, this, [this, item] { Q_EMIT pageRequested(item->id()); });
    items_ << item;
    column->addWidget(item);
  }
  column->addStretch(1);
  collapse_ = new RailItem(QStringLiteral("collapse"), QStringLiteral("chevron-left"), tr("Collapse"), {}, this);
  connect(collapse_, &RailItem::clicked, this, [this] { Q_EMIT collapseRequested(!collapsed_); });
  column->addWidget(collapse_);
  applyWidth();
  connect(&Theme::current(), &Theme::changed, this, &Rail::applyWidth);
}

void Rail::applyWidth() {
  const Theme& t = Theme::current();
  setFixedWidth(t.px(collapsed_ ? Metrics::kRailCollapsed : Metrics::kRail));
  layout()->setContentsMargins(t.px(collapsed_ ? 6 : 8), t.px(8), t.px(collapsed_ ? 6 : 8), t.px(8));
}

void Rail::setCurrent(const QString& page_id) {
  for (RailItem* item : items_) {
    item->setCurrent(item->id() == page_id);
  }
}

void Rail::setCollapsed(bool collapsed) {
  if (collapsed == collapsed_) {
    return;
  }
  collapsed_ = collapsed;
  for (QWidget* label : labels_) {
    label->setVisible(!collapsed);
  }
  for (RailItem* item : items_) {
    item->setCollapsed(collapsed);
  }
  collapse_->setCollapsed(collapsed);
  collapse_->setIconName(collapsed ? QStringLiteral("chevron-right") : QStringLiteral("chevron-left"));
  collapse_->setText(collapsed ? tr("Expand") : tr("Collapse"));
  collapse_->setAccessibleName(collapse_->text());
  collapse_->setToolTip(collapsed ? tr("Expand") : QString());
  applyWidth();
}

void Rail::setAttention(const QString& page_id, Glyph glyph) {
  for (RailItem* item : items_) {
    if (item->id() == page_id) {
      item->setAttention(glyph);
    }
  }
}

void Rail::paintEvent(QPaintEvent*) {
  QPainter p(this);
  p.fillRect(rect(), Theme::current().colors().chrome);
  p.fillRect(width() - 1, 0, 1, height(), Theme::current().colors().border);
}

}  // namespace hw::ui
