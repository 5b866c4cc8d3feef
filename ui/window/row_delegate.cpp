// SPDX-License-Identifier: Apache-2.0
#include "ui/window/row_delegate.h"

#include <QPainter>

#include "ui/window/hover_row.h"

namespace hw::ui {

void RowDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
  const Theme& t = Theme::current();
  const Colors& c = t.colors();
  QPainter& p = *painter;
  p.save();
  const bool selected = option.state.testFlag(QStyle::State_Selected);
  if (selected) {
    paint_chosen_row(p, option.rect, option.widget != nullptr && option.widget->hasFocus());
  } else if (HoverRow::isHovered(option.widget, index)) {
    p.fillRect(option.rect, c.hover);
  }
  if (lines_ && !(selected && t.highContrast())) {
    p.fillRect(option.rect.left(), option.rect.bottom(), option.rect.width(), 1, c.hair);
  }
  const RowCell what = cell(index, selected);
  const QString text = index.data().toString();
  p.setFont(t.font(what.role));
  QRectF r = QRectF(option.rect).adjusted(t.pxf(what.left), 0, -t.pxf(8), lines_ ? -1 : 0);
  if (what.glyph != Glyph::none || what.glyph_room || !what.icon.isEmpty()) {
    const bool right = what.alignment.testFlag(Qt::AlignRight);
    const double x = right ? r.right() - p.fontMetrics().horizontalAdvance(text) - t.pxf(12) : r.left() + t.pxf(6);
    if (what.glyph != Glyph::none) {
      paint_glyph(p, what.glyph, QPointF(x, r.center().y()), t.pxf(right ? 10 : 12));
    }
    if (!what.icon.isEmpty()) {
      const double size = t.pxf(14);
      p.drawPixmap(QPointF(x - size / 2, r.center().y() - size / 2), icon_pixmap(what.icon, c.text2, qRound(size), p.device()->devicePixelRatioF()));
    }
    if (!right) {
      r.setLeft(r.left() + t.pxf(20));
    }
  }
  p.setPen(what.color);
  p.drawText(r, static_cast<int>(what.alignment), p.fontMetrics().elidedText(text, what.elide, static_cast<int>(r.width())));
  p.restore();
}

}  // namespace hw::ui
