// SPDX-License-Identifier: Apache-2.0
#include "ui/views/data_delegate.h"

#include <QLocale>
#include <QPainter>
#include <algorithm>

#include "ui/painting/text.h"
#include "ui/window/hover_row.h"

namespace hw::ui {

namespace {

// As many whole items as fit, and how many there are besides. A last item "+3" counts for three.
QString whole_items(const QString& text, const QFontMetricsF& metrics, double room) {
  if (metrics.horizontalAdvance(text) <= room) {
    return text;
  }
  QStringList items = text.split(QStringLiteral("  "));
  int more = items.last().startsWith(QLatin1Char('+')) ? QLocale().toInt(items.takeLast().mid(1)) : 0;
  while (items.size() > 1) {
    items.removeLast();
    ++more;
    const QString shown = items.join(QStringLiteral("  ")) + QStringLiteral("  +%1").arg(format_count(more));
    if (metrics.horizontalAdvance(shown) <= room) {
      return shown;
    }
  }
  const QString rest = more > 0 ? QStringLiteral("  +%1").arg(format_count(more)) : QString();
  return metrics.elidedText(items.value(0), Qt::ElideMiddle, std::max(0.0, room - metrics.horizontalAdvance(rest))) + rest;
}

}  // namespace

void DataDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
  const Theme& t = Theme::current();
  const Colors& c = t.colors();
  QPainter& p = *painter;
  p.save();
  const bool selected = option.state.testFlag(QStyle::State_Selected);
  const CellLook look = look_(index, selected);
  if (selected) {
    paint_chosen_row(p, option.rect, option.widget != nullptr && option.widget->hasFocus());
  } else if (HoverRow::isHovered(option.widget, index)) {
    p.fillRect(option.rect, c.hover);
  } else if (look.ground.isValid()) {
    p.fillRect(option.rect, look.ground);
  }
  if (!(selected && t.highContrast())) {
    p.fillRect(option.rect.left(), option.rect.bottom(), option.rect.width(), 1, c.hair);
  }
  QRectF r = QRectF(option.rect).adjusted(t.pxf(look.first ? 16 : 8), 0, -t.pxf(8), -1);
  if (!look.bars.isEmpty()) {
    double most = 1;
    for (const QVariant& bar : look.bars) {
      most = std::max(most, bar.toDouble());
    }
    const double pitch = t.pxf(4.5);
    const double high = r.height() - t.pxf(10);
    double x = r.left() + pitch * static_cast<double>(std::max<qsizetype>(0, 12 - look.bars.size()));
    for (const QVariant& bar : look.bars) {
      const double h = std::max(t.pxf(1.5), high * bar.toDouble() / most);
      p.fillRect(QRectF(x, r.bottom() - t.pxf(5) - h, t.pxf(3), h), c.edge);
      x += pitch;
    }
    p.restore();
    return;
  }
  auto alignment = static_cast<Qt::Alignment>(index.data(Qt::TextAlignmentRole).toInt());
  if (!(alignment & Qt::AlignVertical_Mask)) {
    alignment |= Qt::AlignVCenter;
  }
  const bool right = alignment.testFlag(Qt::AlignRight);
  const QString text = index.data().toString();
  p.setFont(t.font(look.role));
  const QFontMetricsF metrics(p.font());
  if (look.glyph != Glyph::none) {
    const double width = metrics.horizontalAdvance(text);
    const double x = right ? std::max(r.left() + t.pxf(6), r.right() - width - t.pxf(11)) : r.left() + t.pxf(6);
    paint_glyph(p, look.glyph, QPointF(x, r.center().y()), t.pxf(10));
    if (!right) {
      r.setLeft(r.left() + t.pxf(18));
    }
  }
  p.setPen(look.color.isValid() ? look.color : c.text2);
  const QString shown = look.items ? whole_items(text, metrics, r.width()) : metrics.elidedText(text, look.elide, r.width());
  p.drawText(r, static_cast<int>(alignment), shown);
  if (!look.detail.isEmpty()) {
    const double used = metrics.horizontalAdvance(shown) + t.pxf(6);
    if (used < r.width()) {
      p.setFont(t.font(FontRole::small_data));
      p.setPen(selected ? c.text2 : c.text3);
      const QRectF rest = r.adjusted(used, 0, 0, 0);
      p.drawText(rest, Qt::AlignLeft | Qt::AlignVCenter, p.fontMetrics().elidedText(look.detail, Qt::ElideRight, static_cast<int>(rest.width())));
    }
  }
  p.restore();
}

}  // namespace hw::ui
