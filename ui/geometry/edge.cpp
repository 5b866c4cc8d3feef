// SPDX-License-Identifier: Apache-2.0
#include "ui/geometry/edge.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hw::ui::geometry {

namespace {

constexpr int kSamples = 24;

double distance(QPointF a, QPointF b) noexcept { return std::hypot(a.x() - b.x(), a.y() - b.y()); }

double distance_to_segment(QPointF p, QPointF a, QPointF b) noexcept {
  const QPointF d = b - a;
  const double square = QPointF::dotProduct(d, d);
  if (square <= 0) {
    return distance(p, a);
  }
  const double t = std::clamp(QPointF::dotProduct(p - a, d) / square, 0.0, 1.0);
  return distance(p, a + t * d);
}

}  // namespace

Cubic Cubic::between(QPointF from, QPointF to) {
  const double reach = std::max(24.0, std::abs(to.x() - from.x()) / 2);
  return {from, QPointF(from.x() + reach, from.y()), QPointF(to.x() - reach, to.y()), to};
}

QPointF Cubic::at(double t) const noexcept {
  const double u = 1 - t;
  return u * u * u * from + 3 * u * u * t * control1 + 3 * u * t * t * control2 + t * t * t * to;
}

QPointF Cubic::tangent(double t) const noexcept {
  const double u = 1 - t;
  return 3 * u * u * (control1 - from) + 6 * u * t * (control2 - control1) + 3 * t * t * (to - control2);
}

double Cubic::length() const noexcept {
  double sum = 0;
  QPointF before = from;
  for (int i = 1; i <= kSamples; ++i) {
    const QPointF here = at(static_cast<double>(i) / kSamples);
    sum += distance(before, here);
    before = here;
  }
  return sum;
}

double Cubic::at_length(double share) const noexcept {
  if (share <= 0) {
    return 0;
  }
  if (share >= 1) {
    return 1;
  }
  const double wanted = share * length();
  double sum = 0;
  QPointF before = from;
  for (int i = 1; i <= kSamples; ++i) {
    const QPointF here = at(static_cast<double>(i) / kSamples);
    const double step = distance(before, here);
    if (sum + step >= wanted) {
      const double inside = step > 0 ? (wanted - sum) / step : 0;
      return (static_cast<double>(i - 1) + inside) / kSamples;
    }
    sum += step;
    before = here;
  }
  return 1;
}

double Cubic::distance_to(QPointF point) const noexcept {
  double best = std::numeric_limits<double>::max();
  QPointF before = from;
  for (int i = 1; i <= kSamples; ++i) {
    const QPointF here = at(static_cast<double>(i) / kSamples);
    best = std::min(best, distance_to_segment(point, before, here));
    before = here;
  }
  return best;
}

QRectF Cubic::bounds() const noexcept {
  double left = from.x();
  double right = from.x();
  double top = from.y();
  double bottom = from.y();
  for (int i = 1; i <= kSamples; ++i) {
    const QPointF here = at(static_cast<double>(i) / kSamples);
    left = std::min(left, here.x());
    right = std::max(right, here.x());
    top = std::min(top, here.y());
    bottom = std::max(bottom, here.y());
  }
  return {left, top, right - left, bottom - top};
}

double edge_width(double bytes_per_second) noexcept {
  constexpr double thin = 1.5;
  constexpr double thick = 4;
  constexpr double full = 8;  // 10^8 bytes per second
  if (!(bytes_per_second > 1)) {
    return thin;
  }
  return thin + (thick - thin) * std::min(1.0, std::log10(bytes_per_second) / full);
}

std::array<QPointF, 3> arrow_head(QPointF tip, QPointF direction) noexcept {
  const double size = std::hypot(direction.x(), direction.y());
  const QPointF along = size > 0 ? direction / size : QPointF(1, 0);
  const QPointF across(-along.y(), along.x());
  const QPointF base = tip - 8 * along;
  return {tip, base + 4.5 * across, base - 4.5 * across};
}

double port_y(double top, double bottom, std::size_t index, std::size_t count, double spacing) noexcept {
  if (count == 0) {
    return (top + bottom) / 2;
  }
  const double room = (bottom - top) / static_cast<double>(count + 1);
  const double step = std::min(spacing, room);
  const double middle = (top + bottom) / 2;
  return middle + (static_cast<double>(index) - static_cast<double>(count - 1) / 2) * step;
}

QRectF plate_on(const Cubic& curve, QSizeF size, const std::vector<QRectF>& taken) {
  constexpr double gap = 2;
  const auto at = [&](double share) {
    const QPointF middle = curve.at(curve.at_length(share));
    // Between the cards, on the border of neither.
    constexpr double clear = 4;
    const double least = std::min(curve.from.x(), curve.to.x()) + clear;
    const double most =
        std::max(least, std::max(curve.from.x(), curve.to.x()) - clear - size.width());
    return QRectF(std::round(std::clamp(middle.x() - size.width() / 2, least, most)),
                  std::round(middle.y() - size.height() / 2), size.width(), size.height());
  };
  // A plate that covers a piece of another says more than none.
  QRectF best;
  double least_covered = 0;
  for (const double share : {0.5, 0.38, 0.62, 0.28, 0.72, 0.2, 0.8, 0.12, 0.88}) {
    const QRectF plate = at(share);
    double covered = 0;
    for (const QRectF& other : taken) {
      const QRectF both = other.adjusted(-gap, -gap, gap, gap).intersected(plate);
      covered += both.width() * both.height();
    }
    if (best.isNull() || covered < least_covered) {
      best = plate;
      least_covered = covered;
    }
    if (covered == 0) {
      break;
    }
  }
  return best;
}

}  // namespace hw::ui::geometry
