// SPDX-License-Identifier: Apache-2.0
// The data shapes of the guide: cards, plates, replica bars, record squares, key chips, cells in bulk.
// Data is painted with fillRect and no anti-aliasing; only cards, edges and glyphs are smoothed.
// All sizes at scale 1.0. Thread rule: UI thread only.
#pragma once

#include <QColor>
#include <QRectF>
#include <QString>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/base/bytes.h"
#include "ui/theme/glyphs.h"
#include "ui/theme/theme.h"

class QPainter;

namespace hw::ui {

// A card: fill, 1 px border on half pixels, radius 6. Offline: 1.5 err, dashed 5-3.
void paint_card(QPainter& painter, const QRectF& rect, bool offline = false);
// A 1 px line in the middle of pixels.
void paint_hline(QPainter& painter, double left, double right, double y, const QColor& color);
void paint_vline(QPainter& painter, double x, double top, double bottom, const QColor& color);

// A plate 18 high with mono text: rates, watermark flags. Returns its rectangle.
struct PlateStyle {
  QColor fill;
  QColor border;
  QColor text;
};
void paint_plate(QPainter& painter, const QRectF& rect, const QString& text, const PlateStyle& style);
[[nodiscard]] double plate_width(const QString& text);
inline constexpr double kPlateHeight = 18;

enum class ReplicaState : std::uint8_t { leader, in_sync, behind, offline };
[[nodiscard]] Glyph glyph_of(ReplicaState state);

// The track of a replica: filled to `fill` (0…1), a high watermark tick at `tick` (0…1; negative: none).
void paint_replica_bar(QPainter& painter, const QRectF& track, ReplicaState state, double fill, double tick);
// One cell of a matrix. `bright`: records arrived just now.
void paint_replica_cell(QPainter& painter, const QRectF& cell, ReplicaState state, bool bright);

// What a key is called in one character: its last letter or digit in upper case; empty for null and empty keys.
[[nodiscard]] QString key_letter(ByteSpan key);
// A key as text on one line: printable UTF-8, otherwise hexadecimal; at most `max` characters.
[[nodiscard]] QString key_text(ByteSpan key, int max = 64);
// A record square of `size` px around `center`: hue, letter; with a `rim` in canvas colour where it lies on an edge.
void paint_record_square(QPainter& painter, QPointF center, double size, const std::optional<Bytes>& key, bool rim);
// A record whose key is not known: the same square in the colour of edges, without a letter.
void paint_plain_square(QPainter& painter, QPointF center, double size, bool rim);
// 10×10 square and label in mono; ∅ for null, "" for empty. Elided to `width`; returns the width used.
double paint_key_chip(QPainter& painter, double x, double y, double width, const std::optional<Bytes>& key,
                      bool strong = false);

// Rectangles grouped by colour, painted with one pen-less pass per colour.
class CellBatch {
 public:
  void add(const QColor& color, const QRectF& rect);
  void flush(QPainter& painter);

 private:
  struct Group {
    QColor color;
    std::vector<QRectF> rects;
  };
  std::vector<Group> groups_;
};

}  // namespace hw::ui
