// SPDX-License-Identifier: Apache-2.0
// State glyphs and hatches: the shape that goes with every state colour, so that colour never stands alone.
//
// Glyphs are paths on a 12 grid, painted (never font characters). Hatches are tiled brushes, cached per theme.
// Thread rule: UI thread only.
#pragma once

#include <QBrush>
#include <QColor>
#include <QIcon>
#include <QPixmap>
#include <QPointF>
#include <QRectF>
#include <QString>

class QPainter;

namespace hw::ui {

enum class Glyph : std::uint8_t {
  none,
  crown,           // leader of a partition or of the quorum
  disc,            // in sync, ok
  quarter,         // behind, warning
  cross,           // offline, error
  diamond_open,    // open transaction
  diamond_filled,  // commit marker
  slashed_ring,    // abort marker
  dagger,          // tombstone
  slashed_zero,    // null
  triangle_down,   // ISR shrinks
  triangle_up,     // ISR grows
  ring,            // idle, empty
  bolt,            // injected fault
  check,           // done, valid
};

// Paints the glyph in its own state colour, centred on `center`, `size` px high (12 in cards, 10 in chips, 14 in headers).
void paint_glyph(QPainter& painter, Glyph glyph, QPointF center, double size = 12.0);
// The same in a given colour (on a coloured fill, or selected text).
void paint_glyph(QPainter& painter, Glyph glyph, QPointF center, double size, const QColor& color);
// For labels and item views; follows the current theme at the time of the call.
[[nodiscard]] QPixmap glyph_pixmap(Glyph glyph, int size, double device_pixel_ratio);
// One word for assistive technology: "leader", "in sync", …; translated.
[[nodiscard]] QString glyph_name(Glyph glyph);

enum class Hatch : std::uint8_t {
  behind,        // 45°, 2.5 of 6, warn on warnTint
  above_hw,      // 45°, 1.5 of 5, leader on canvas
  above_hw_ok,   // the same in ok
  above_hw_warn, // the same in warn
  open_txn,      // 45°, 1.5 of 5, txn on txnTint
  fault,         // opposite direction, 1.5 of 6, err
  past,          // 45°, past on canvas
};
[[nodiscard]] QBrush hatch_brush(Hatch hatch);

// An icon of resources/icons by name ("cluster", "search" …), tinted with `color`; cached.
[[nodiscard]] QPixmap icon_pixmap(const QString& name, const QColor& color, int size, double device_pixel_ratio);
[[nodiscard]] QIcon themed_icon(const QString& name, int size = 16);

// The two marks of the guide: 2 px ring with its 1 px contrast line inside (selection), and 2 px ring 2 px outside (focus).
void paint_selection(QPainter& painter, const QRectF& rect, double radius = 3.0);
void paint_focus(QPainter& painter, const QRectF& rect, double radius = 4.0);
// The ground of the chosen row of a list, which may be asked for cell by cell; in a contrast theme with a line above and below.
void paint_chosen_row(QPainter& painter, const QRect& rect, bool focused);

}  // namespace hw::ui
