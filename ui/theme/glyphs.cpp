// SPDX-License-Identifier: Apache-2.0
#include "ui/theme/glyphs.h"

#include <QCoreApplication>
#include <QFile>
#include <QImage>
#include <QPainter>
#include <QPainterPath>
#include <QPixmapCache>
#include <QSvgRenderer>
#include <cmath>

#include "ui/theme/theme.h"

namespace hw::ui {

namespace {

QPen pen(const QColor& color, double width, Qt::PenCapStyle cap = Qt::RoundCap) {
  return QPen(color, width, Qt::SolidLine, cap, Qt::RoundJoin);
}

QPolygonF crown() {
  return QPolygonF({{2.0, 9.6}, {1.1, 3.4}, {3.9, 5.9}, {6.0, 2.2}, {8.1, 5.9}, {10.9, 3.4}, {10.0, 9.6}});
}

QPolygonF diamond(double r) { return QPolygonF({{6, 6 - r}, {6 + r, 6}, {6, 6 + r}, {6 - r, 6}}); }

// The state colour of a glyph, and for warnings the outline that goes with it.
QColor fill_of(Glyph glyph, const Colors& c) {
  switch (glyph) {
    case Glyph::none:
      return {};
    case Glyph::crown:
      return c.leader;
    case Glyph::disc:
    case Glyph::triangle_up:
    case Glyph::check:
      return c.ok;
    case Glyph::quarter:
    case Glyph::triangle_down:
      return c.warn;
    case Glyph::cross:
    case Glyph::bolt:
      return c.err;
    case Glyph::diamond_open:
    case Glyph::diamond_filled:
      return c.txn;
    case Glyph::slashed_ring:
    case Glyph::dagger:
      return c.past;
    case Glyph::slashed_zero:
      return c.text2;
    case Glyph::ring:
      return c.edge;
  }
  return {};
}

void draw(QPainter& p, Glyph glyph, const QColor& fill, const QColor& line) {
  switch (glyph) {
    case Glyph::none:
      return;
    case Glyph::crown:
      p.setPen(Qt::NoPen);
      p.setBrush(fill);
      p.drawPolygon(crown());
      return;
    case Glyph::disc:
      p.setPen(Qt::NoPen);
      p.setBrush(fill);
      p.drawEllipse(QPointF(6, 6), 4, 4);
      return;
    case Glyph::quarter: {
      p.setBrush(Qt::NoBrush);
      p.setPen(Qt::NoPen);
      p.setBrush(fill);
      // The top right quarter: from three o'clock to twelve.
      p.drawPie(QRectF(2, 2, 8, 8), 0, 90 * 16);
      p.setBrush(Qt::NoBrush);
      p.setPen(pen(line, 1.3));
      p.drawEllipse(QPointF(6, 6), 4.2, 4.2);
      return;
    }
    case Glyph::cross:
      p.setPen(pen(fill, 2.2, Qt::FlatCap));
      p.drawLine(QPointF(2.2, 2.2), QPointF(9.8, 9.8));
      p.drawLine(QPointF(9.8, 2.2), QPointF(2.2, 9.8));
      return;
    case Glyph::diamond_open:
      p.setBrush(Qt::NoBrush);
      p.setPen(QPen(fill, 1.5, Qt::SolidLine, Qt::SquareCap, Qt::MiterJoin));
      p.drawPolygon(diamond(4.4));
      return;
    case Glyph::diamond_filled:
      p.setPen(Qt::NoPen);
      p.setBrush(fill);
      p.drawPolygon(diamond(5.0));
      return;
    case Glyph::slashed_ring:
      p.setBrush(Qt::NoBrush);
      p.setPen(pen(fill, 1.4));
      p.drawEllipse(QPointF(6, 6), 4.2, 4.2);
      p.drawLine(QPointF(3.1, 8.9), QPointF(8.9, 3.1));
      return;
    case Glyph::dagger:
      p.setPen(pen(fill, 1.6, Qt::FlatCap));
      p.drawLine(QPointF(6, 1.5), QPointF(6, 10.8));
      p.drawLine(QPointF(3.2, 4.4), QPointF(8.8, 4.4));
      return;
    case Glyph::slashed_zero:
      p.setBrush(Qt::NoBrush);
      p.setPen(pen(fill, 1.3));
      p.drawEllipse(QPointF(6, 6), 3.2, 4.2);
      p.drawLine(QPointF(2.4, 10.4), QPointF(9.6, 1.6));
      return;
    case Glyph::triangle_down:
    case Glyph::triangle_up: {
      QPolygonF shape({{1.6, 2.8}, {10.4, 2.8}, {6, 10.0}});
      if (glyph == Glyph::triangle_up) {
        shape = QPolygonF({{1.6, 9.2}, {10.4, 9.2}, {6, 2.0}});
      }
      p.setBrush(fill);
      p.setPen(QPen(glyph == Glyph::triangle_down ? line : fill, 1.0, Qt::SolidLine, Qt::SquareCap, Qt::MiterJoin));
      p.drawPolygon(shape);
      return;
    }
    case Glyph::ring:
      p.setBrush(Qt::NoBrush);
      p.setPen(pen(fill, 1.4));
      p.drawEllipse(QPointF(6, 6), 3.8, 3.8);
      return;
    case Glyph::bolt:
      p.setPen(Qt::NoPen);
      p.setBrush(fill);
      p.drawPolygon(QPolygonF({{7.4, 0.8}, {2.4, 6.9}, {5.5, 6.9}, {4.6, 11.2}, {9.6, 5.1}, {6.5, 5.1}}));
      return;
    case Glyph::check:
      p.setBrush(Qt::NoBrush);
      p.setPen(pen(fill, 1.7));
      p.drawPolyline(QPolygonF({{2.0, 6.4}, {4.8, 9.2}, {10.2, 3.0}}));
      return;
  }
}

void draw_at(QPainter& painter, Glyph glyph, QPointF center, double size, const QColor& fill, const QColor& line) {
  if (glyph == Glyph::none) {
    return;
  }
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.translate(center.x() - size / 2, center.y() - size / 2);
  painter.scale(size / 12.0, size / 12.0);
  draw(painter, glyph, fill, line);
  painter.restore();
}

// A tile of diagonal stripes. Drawn at twice the size would blur, so the tile is the pattern's own period.
QBrush stripes(const QColor& stripe, const QColor& ground, double width, int period, bool rising) {
  constexpr int kOversample = 4;
  QImage big(period * kOversample, period * kOversample, QImage::Format_RGB32);
  big.fill(ground);
  for (int y = 0; y < big.height(); ++y) {
    for (int x = 0; x < big.width(); ++x) {
      // Distance along the diagonal, measured in the pattern's period; `width` is across the stripe.
      const int d = rising ? x + y : x - y + big.height();
      const double t = std::fmod(static_cast<double>(d) / kOversample, period);
      if (t < width * 1.2) {
        big.setPixelColor(x, y, stripe);
      }
    }
  }
  return QBrush(QPixmap::fromImage(big.scaled(period, period, Qt::IgnoreAspectRatio, Qt::SmoothTransformation)));
}

}  // namespace

void paint_glyph(QPainter& painter, Glyph glyph, QPointF center, double size) {
  const Colors& c = Theme::current().colors();
  draw_at(painter, glyph, center, size, fill_of(glyph, c), c.warn_line);
}

void paint_glyph(QPainter& painter, Glyph glyph, QPointF center, double size, const QColor& color) {
  draw_at(painter, glyph, center, size, color, color);
}

QPixmap glyph_pixmap(Glyph glyph, int size, double device_pixel_ratio) {
  const QString key = QStringLiteral("glyph/%1/%2/%3/%4")
                          .arg(static_cast<int>(glyph))
                          .arg(size)
                          .arg(device_pixel_ratio)
                          .arg(Theme::current().dark());
  QPixmap pixmap;
  if (!QPixmapCache::find(key, &pixmap)) {
    pixmap = QPixmap(QSize(size, size) * device_pixel_ratio);
    pixmap.setDevicePixelRatio(device_pixel_ratio);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    paint_glyph(painter, glyph, QPointF(size / 2.0, size / 2.0), size);
    painter.end();
    QPixmapCache::insert(key, pixmap);
  }
  return pixmap;
}

QString glyph_name(Glyph glyph) {
  const auto tr = [](const char* text) { return QCoreApplication::translate("Glyph", text); };
  switch (glyph) {
    case Glyph::none:
      return {};
    case Glyph::crown:
      return tr(QT_TRANSLATE_NOOP("Glyph", "leader"));
    case Glyph::disc:
      return tr(QT_TRANSLATE_NOOP("Glyph", "in sync"));
    case Glyph::quarter:
      return tr(QT_TRANSLATE_NOOP("Glyph", "behind"));
    case Glyph::cross:
      return tr(QT_TRANSLATE_NOOP("Glyph", "offline"));
    case Glyph::diamond_open:
      return tr(QT_TRANSLATE_NOOP("Glyph", "open transaction"));
    case Glyph::diamond_filled:
      return tr(QT_TRANSLATE_NOOP("Glyph", "commit marker"));
    case Glyph::slashed_ring:
      return tr(QT_TRANSLATE_NOOP("Glyph", "abort marker"));
    case Glyph::dagger:
      return tr(QT_TRANSLATE_NOOP("Glyph", "tombstone"));
    case Glyph::slashed_zero:
      return tr(QT_TRANSLATE_NOOP("Glyph", "null"));
    case Glyph::triangle_down:
      return tr(QT_TRANSLATE_NOOP("Glyph", "ISR shrinks"));
    case Glyph::triangle_up:
      return tr(QT_TRANSLATE_NOOP("Glyph", "ISR grows"));
    case Glyph::ring:
      return tr(QT_TRANSLATE_NOOP("Glyph", "idle"));
    case Glyph::bolt:
      return tr(QT_TRANSLATE_NOOP("Glyph", "injected fault"));
    case Glyph::check:
      return tr(QT_TRANSLATE_NOOP("Glyph", "done"));
  }
  return {};
}

QBrush hatch_brush(Hatch hatch) {
  struct Cache {
    bool dark = false;
    bool filled = false;
    QBrush brushes[7];
  };
  static Cache cache;
  const Theme& theme = Theme::current();
  if (!cache.filled || cache.dark != theme.dark()) {
    const Colors& c = theme.colors();
    cache.filled = true;
    cache.dark = theme.dark();
    const auto set = [](Hatch h, QBrush brush) { cache.brushes[static_cast<int>(h)] = std::move(brush); };
    set(Hatch::behind, stripes(c.warn, c.warn_tint, 2.5, 6, true));
    set(Hatch::above_hw, stripes(c.leader, c.canvas, 1.5, 5, true));
    set(Hatch::above_hw_ok, stripes(c.ok, c.canvas, 1.5, 5, true));
    set(Hatch::above_hw_warn, stripes(c.warn_line, c.canvas, 1.5, 5, true));
    set(Hatch::open_txn, stripes(c.txn, c.txn_tint, 1.5, 5, true));
    set(Hatch::fault, stripes(c.err, c.canvas, 1.5, 6, false));
    set(Hatch::past, stripes(c.past, c.canvas, 1.5, 6, true));
  }
  return cache.brushes[static_cast<int>(hatch)];
}

QPixmap icon_pixmap(const QString& name, const QColor& color, int size, double device_pixel_ratio) {
  const QString key = QStringLiteral("icon/%1/%2/%3/%4").arg(name, color.name()).arg(size).arg(device_pixel_ratio);
  QPixmap pixmap;
  if (QPixmapCache::find(key, &pixmap)) {
    return pixmap;
  }
  pixmap = QPixmap(QSize(size, size) * device_pixel_ratio);
  pixmap.setDevicePixelRatio(device_pixel_ratio);
  pixmap.fill(Qt::transparent);
  QSvgRenderer renderer(QStringLiteral(":/icons/") + name + QStringLiteral(".svg"));
  if (renderer.isValid()) {
    QPainter painter(&pixmap);
    painter.setRenderHint(QPainter::Antialiasing);
    renderer.render(&painter, QRectF(0, 0, size, size));
    painter.setCompositionMode(QPainter::CompositionMode_SourceIn);
    painter.fillRect(QRectF(0, 0, size, size), color);
  }
  QPixmapCache::insert(key, pixmap);
  return pixmap;
}

QIcon themed_icon(const QString& name, int size) {
  const Colors& c = Theme::current().colors();
  QIcon icon;
  for (const double ratio : {1.0, 2.0}) {
    icon.addPixmap(icon_pixmap(name, c.text2, size, ratio), QIcon::Normal);
    icon.addPixmap(icon_pixmap(name, c.disabled, size, ratio), QIcon::Disabled);
    icon.addPixmap(icon_pixmap(name, c.text, size, ratio), QIcon::Active);
  }
  return icon;
}

void paint_selection(QPainter& painter, const QRectF& rect, double radius) {
  const Colors& c = Theme::current().colors();
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(c.ring_contrast, 1.0));
  painter.drawRoundedRect(rect.adjusted(2.5, 2.5, -2.5, -2.5), radius - 1, radius - 1);
  painter.setPen(QPen(c.ring, 2.0));
  painter.drawRoundedRect(rect.adjusted(1, 1, -1, -1), radius, radius);
  painter.restore();
}

void paint_chosen_row(QPainter& painter, const QRect& rect, bool focused) {
  const Colors& c = Theme::current().colors();
  painter.fillRect(rect, focused ? c.selected : c.selected_idle);
  if (Theme::current().highContrast()) {
    const QColor& line = focused ? c.ring : c.text;
    painter.fillRect(rect.left(), rect.top(), rect.width(), 2, line);
    painter.fillRect(rect.left(), rect.bottom() - 1, rect.width(), 2, line);
  }
}

void paint_focus(QPainter& painter, const QRectF& rect, double radius) {
  const Colors& c = Theme::current().colors();
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(c.ring, 2.0));
  painter.drawRoundedRect(rect.adjusted(-3, -3, 3, 3), radius + 2, radius + 2);
  painter.restore();
}

}  // namespace hw::ui
