// SPDX-License-Identifier: Apache-2.0
#include "ui/painting/shapes.h"

#include <QPainter>
#include <QStringDecoder>
#include <algorithm>
#include <cmath>

#include "ui/painting/text.h"

namespace hw::ui {

namespace {

const Colors& colors() { return Theme::current().colors(); }

void set_smooth(QPainter& painter, bool on) { painter.setRenderHint(QPainter::Antialiasing, on); }

QRectF snapped(const QRectF& rect) {
  const double left = std::round(rect.left());
  const double top = std::round(rect.top());
  return {left, top, std::max(1.0, std::round(rect.right()) - left), std::max(1.0, std::round(rect.bottom()) - top)};
}

void frame_rect(QPainter& painter, const QRectF& rect, double width, const QColor& color) {
  painter.fillRect(QRectF(rect.left(), rect.top(), rect.width(), width), color);
  painter.fillRect(QRectF(rect.left(), rect.bottom() - width, rect.width(), width), color);
  painter.fillRect(QRectF(rect.left(), rect.top() + width, width, rect.height() - 2 * width), color);
  painter.fillRect(QRectF(rect.right() - width, rect.top() + width, width, rect.height() - 2 * width), color);
}

void dashed_rect(QPainter& painter, const QRectF& rect, const QColor& color, double on, double off) {
  QPen pen(color, 1, Qt::CustomDashLine, Qt::FlatCap);
  pen.setDashPattern({on, off});
  painter.setPen(pen);
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(rect.adjusted(0.5, 0.5, -0.5, -0.5));
}

}  // namespace

void paint_card(QPainter& painter, const QRectF& rect, bool offline) {
  const Colors& c = colors();
  set_smooth(painter, true);
  QPen pen(offline ? c.err : c.border, offline ? 1.5 : 1.0);
  if (offline) {
    pen.setDashPattern({5 / 1.5, 3 / 1.5});
    pen.setCapStyle(Qt::FlatCap);
  }
  painter.setPen(pen);
  painter.setBrush(c.card);
  painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), Metrics::kRadiusCard, Metrics::kRadiusCard);
  set_smooth(painter, false);
}

void paint_hline(QPainter& painter, double left, double right, double y, const QColor& color) {
  painter.fillRect(QRectF(std::round(left), std::floor(y), std::round(right) - std::round(left), 1), color);
}

void paint_vline(QPainter& painter, double x, double top, double bottom, const QColor& color) {
  painter.fillRect(QRectF(std::floor(x), std::round(top), 1, std::round(bottom) - std::round(top)), color);
}

double plate_width(const QString& text) { return std::ceil(text_width(text, FontRole::small_data)) + 12; }

void paint_plate(QPainter& painter, const QRectF& rect, const QString& text, const PlateStyle& style) {
  set_smooth(painter, true);
  painter.setPen(QPen(style.border, 1));
  painter.setBrush(style.fill);
  painter.drawRoundedRect(snapped(rect).adjusted(0.5, 0.5, -0.5, -0.5), Metrics::kRadiusChip, Metrics::kRadiusChip);
  set_smooth(painter, false);
  text_center(painter, rect.center().x(), rect.center().y(), text, FontRole::small_data, style.text);
}

Glyph glyph_of(ReplicaState state) {
  switch (state) {
    case ReplicaState::leader:
      return Glyph::crown;
    case ReplicaState::in_sync:
      return Glyph::disc;
    case ReplicaState::behind:
      return Glyph::quarter;
    case ReplicaState::offline:
      return Glyph::cross;
  }
  return Glyph::none;
}

void paint_replica_bar(QPainter& painter, const QRectF& track, ReplicaState state, double fill, double tick) {
  const Colors& c = colors();
  const QRectF at = snapped(track);
  painter.fillRect(at, c.inset);
  frame_rect(painter, at, 1, c.border);
  const double length = std::round(at.width() * std::clamp(fill, 0.0, 1.0));
  if (length >= 1) {
    const QRectF bar(at.left(), at.top(), std::max(2.0, length), at.height());
    switch (state) {
      case ReplicaState::leader:
        painter.fillRect(bar, c.leader_fill);
        frame_rect(painter, bar, bar.width() >= 5 ? 2 : 1, c.leader);
        break;
      case ReplicaState::in_sync:
        painter.fillRect(bar, c.ok);
        break;
      case ReplicaState::behind:
        painter.fillRect(bar, hatch_brush(Hatch::behind));
        frame_rect(painter, bar, 1, c.warn_line);
        break;
      case ReplicaState::offline:
        painter.fillRect(bar, c.err_tint);
        dashed_rect(painter, bar, c.err, 4, 3);
        break;
    }
  }
  if (tick >= 0) {
    const double x = at.left() + std::round(at.width() * std::min(tick, 1.0));
    const double left = std::clamp(x - 1, at.left(), at.right() - 2);
    painter.fillRect(QRectF(left, at.top() - 3, 2, at.height() + 6), c.text);
  }
}

void paint_replica_cell(QPainter& painter, const QRectF& cell, ReplicaState state, bool bright) {
  const Colors& c = colors();
  switch (state) {
    case ReplicaState::leader:
      if (cell.width() >= 8) {
        painter.fillRect(cell, bright ? c.leader : c.leader_fill);
        frame_rect(painter, cell, cell.width() >= 12 ? 2 : 1, c.leader);
      } else {
        painter.fillRect(cell, bright ? c.leader : c.leader_fill);
      }
      break;
    case ReplicaState::in_sync:
      if (!bright && Theme::current().highContrast() && cell.width() >= 4) {
        frame_rect(painter, cell, cell.width() >= 8 ? 2 : 1, c.ok);  // who leads is filled
      } else {
        painter.fillRect(cell, bright || cell.width() >= 8 ? c.ok : c.ok_fill);
      }
      break;
    case ReplicaState::behind:
      painter.fillRect(cell, cell.width() >= 6 ? hatch_brush(Hatch::behind) : QBrush(c.warn));
      if (cell.width() >= 4) {
        frame_rect(painter, cell, 1, c.warn_line);
      }
      break;
    case ReplicaState::offline:
      painter.fillRect(cell, cell.width() >= 6 ? c.err_tint : c.err);
      if (cell.width() >= 6) {
        dashed_rect(painter, cell, c.err, 3, 2);
      }
      break;
  }
}

QString key_letter(ByteSpan key) {
  const std::string_view text = as_text(key);
  for (auto at = text.rbegin(); at != text.rend(); ++at) {
    const auto c = static_cast<unsigned char>(*at);
    if ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z')) {
      return QString(QLatin1Char(*at));
    }
    if (c >= 'a' && c <= 'z') {
      return QString(QLatin1Char(static_cast<char>(c - 'a' + 'A')));
    }
  }
  return {};
}

QString key_text(ByteSpan key, int max) {
  if (key.empty()) {
    return QStringLiteral("\"\"");  // there, and of no length
  }
  // A character takes at most 4 bytes of UTF-8; more is never looked at.
  const std::size_t head = std::min(key.size(), static_cast<std::size_t>(max) * 4);
  const std::string_view bytes = as_text(key.first(head));
  QStringDecoder decode(QStringDecoder::Utf8);
  const QString text = decode(QByteArrayView(bytes.data(), static_cast<qsizetype>(bytes.size())));
  bool printable = !decode.hasError();
  for (qsizetype i = 0; printable && i < text.size(); ++i) {
    printable = text[i].isPrint();
  }
  if (!printable && head == key.size()) {
    const QByteArray hex = QByteArray(bytes.data(), static_cast<qsizetype>(bytes.size())).toHex();
    return QStringLiteral("0x") + QString::fromLatin1(hex.left(max));
  }
  return text.size() > max ? text.left(max - 1) + QChar(0x2026) : text;
}

void paint_record_square(QPainter& painter, QPointF center, double size, const std::optional<Bytes>& key, bool rim) {
  const Theme& theme = Theme::current();
  const Colors& c = theme.colors();
  const double left = std::round(center.x() - size / 2);
  const double top = std::round(center.y() - size / 2);
  const QRectF square(left, top, size, size);
  if (rim) {
    painter.fillRect(square.adjusted(-1.5, -1.5, 1.5, 1.5), c.canvas);
  }
  if (!key) {
    painter.fillRect(square, c.card);
    frame_rect(painter, square, 1, c.edge);
    paint_glyph(painter, Glyph::slashed_zero, square.center(), size - 3);
    return;
  }
  const QColor hue = theme.keyHue(key->span());
  painter.fillRect(square, hue);
  if (size >= 10) {
    text_center(painter, square.center().x() + 0.5, square.center().y(), key_letter(key->span()),
                FontRole::record_letter, theme.onHue(hue));
  }
}

void paint_plain_square(QPainter& painter, QPointF center, double size, bool rim) {
  const QRectF square(std::round(center.x() - size / 2), std::round(center.y() - size / 2), size, size);
  if (rim) {
    painter.fillRect(square.adjusted(-1.5, -1.5, 1.5, 1.5), colors().canvas);
  }
  painter.fillRect(square, colors().edge);
}

double paint_key_chip(QPainter& painter, double x, double y, double width, const std::optional<Bytes>& key,
                      bool strong) {
  const Theme& theme = Theme::current();
  const Colors& c = theme.colors();
  if (!key) {
    paint_glyph(painter, Glyph::slashed_zero, QPointF(x + 5, y), 10);
    return 16 + text_fit(painter, x + 16, y, width - 16, QStringLiteral("null"), FontRole::control, c.text2);
  }
  if (key->empty()) {
    return text_fit(painter, x, y, width, QStringLiteral("\"\""), FontRole::data, c.text2);
  }
  set_smooth(painter, true);
  painter.setPen(Qt::NoPen);
  painter.setBrush(theme.keyHue(key->span()));
  painter.drawRoundedRect(QRectF(x, std::round(y - 5), 10, 10), 2, 2);
  set_smooth(painter, false);
  return 16 + text_fit(painter, x + 16, y, width - 16, key_text(key->span()),
                       strong ? FontRole::data_strong : FontRole::data, c.text);
}

void CellBatch::add(const QColor& color, const QRectF& rect) {
  for (Group& group : groups_) {
    if (group.color == color) {
      group.rects.push_back(rect);
      return;
    }
  }
  groups_.push_back({color, {rect}});
}

void CellBatch::flush(QPainter& painter) {
  for (Group& group : groups_) {
    for (const QRectF& rect : group.rects) {
      painter.fillRect(rect, group.color);
    }
    group.rects.clear();
  }
}

}  // namespace hw::ui
