// SPDX-License-Identifier: Apache-2.0
// Text on painted canvases, and how numbers are written.
//
// A canvas paints at scale 1.0 into a scaled painter, so these fonts ignore the UI scale. Text is centred by cap height,
// which is what the eye sees between two lines. Thread rule: UI thread only.
#pragma once

#include <QColor>
#include <QFont>
#include <QPointF>
#include <QRectF>
#include <QString>
#include <cstdint>

#include "ui/theme/theme.h"

class QPainter;

namespace hw::ui {

// The font of a role at scale 1.0.
[[nodiscard]] const QFont& canvas_font(FontRole role);
// Width of one line at scale 1.0; mono roles cost a multiplication.
[[nodiscard]] double text_width(const QString& text, FontRole role);
[[nodiscard]] QString elided(const QString& text, FontRole role, double width, Qt::TextElideMode mode = Qt::ElideRight);

// One line, its cap height centred on y. `x` is the left edge, the right edge or the middle.
void text_left(QPainter& painter, double x, double y, const QString& text, FontRole role, const QColor& color);
void text_right(QPainter& painter, double x, double y, const QString& text, FontRole role, const QColor& color);
void text_center(QPainter& painter, double x, double y, const QString& text, FontRole role, const QColor& color);
// Elided to `width`; returns the width used.
double text_fit(QPainter& painter, double x, double y, double width, const QString& text, FontRole role,
                const QColor& color, Qt::TextElideMode mode = Qt::ElideRight);

// Counts follow the locale (12,402); offsets and ids never do.
[[nodiscard]] QString format_count(std::int64_t value);
[[nodiscard]] QString format_offset(std::int64_t offset);
// "0.4/s", "4/s", "12.4k/s"; empty for nothing.
[[nodiscard]] QString format_rate(double per_second);
// "164 B", "6.2 KiB".
[[nodiscard]] QString format_bytes(std::int64_t bytes);
// "12:03:31.004" in local time; empty for -1.
[[nodiscard]] QString format_time(std::int64_t ms_since_epoch);
// "2026-11-29 12:03:31.004".
[[nodiscard]] QString format_date_time(std::int64_t ms_since_epoch);
// "340 ms", "4.2 s", "3 min", "2 h".
[[nodiscard]] QString format_duration(std::int64_t ms);

}  // namespace hw::ui
