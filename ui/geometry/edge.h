// SPDX-License-Identifier: Apache-2.0
// Edges of the cluster canvas: cubics with horizontal tangents, hit tests along them, ports on the side of a card.
#pragma once

#include <QPointF>
#include <QRectF>
#include <QSizeF>
#include <array>
#include <cstddef>
#include <vector>

namespace hw::ui::geometry {

struct Cubic {
  QPointF from;
  QPointF control1;
  QPointF control2;
  QPointF to;

  // Leaves and arrives horizontally; the controls are half the horizontal distance away, at least 24.
  [[nodiscard]] static Cubic between(QPointF from, QPointF to);
  [[nodiscard]] QPointF at(double t) const noexcept;  // t in [0, 1]
  [[nodiscard]] QPointF tangent(double t) const noexcept;
  [[nodiscard]] double length() const noexcept;
  // The t at which `share` (0…1) of the length has been travelled, so that squares move evenly.
  [[nodiscard]] double at_length(double share) const noexcept;
  [[nodiscard]] double distance_to(QPointF point) const noexcept;
  [[nodiscard]] QRectF bounds() const noexcept;  // of the curve itself
};

// 1.5 for nothing, 4 from 100 MB/s on, by the logarithm between.
[[nodiscard]] double edge_width(double bytes_per_second) noexcept;

// Tip, and the two other corners of an arrow head 8 × 9 whose tip is `tip`, pointing along `direction`.
[[nodiscard]] std::array<QPointF, 3> arrow_head(QPointF tip, QPointF direction) noexcept;

// y of port `index` of `count` on a side between top and bottom, never closer than `spacing` unless there is no room.
[[nodiscard]] double port_y(double top, double bottom, std::size_t index, std::size_t count, double spacing) noexcept;

// Where a plate of this size sits on a curve: in the middle, or further along where `taken` ones would overlap it;
// where there is no free place, where it covers least of them.
[[nodiscard]] QRectF plate_on(const Cubic& curve, QSizeF size, const std::vector<QRectF>& taken);

}  // namespace hw::ui::geometry
