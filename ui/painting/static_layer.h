// SPDX-License-Identifier: Apache-2.0
// StaticLayer: what changes rarely, painted once into a pixmap and then copied.
// Valid for one size, scale, pixel ratio and theme; invalidate() when its contents change. UI thread only.
#pragma once

#include <QPainter>
#include <QPixmap>
#include <QSize>
#include <utility>

#include "ui/theme/theme.h"

namespace hw::ui {

class StaticLayer {
 public:
  void invalidate() { valid_ = false; }
  // Copies the part inside `exposed` (widget coordinates, scale 1 painter); `draw(QPainter&)` fills the layer when it
  // is not valid, with a painter already scaled to the UI scale.
  template <typename Draw>
  void paint(QPainter& painter, const QRect& exposed, QSize size, double pixel_ratio, Draw&& draw) {
    const Theme& theme = Theme::current();
    const QSize wanted = size * pixel_ratio;
    if (!valid_ || pixmap_.size() != wanted || scale_ != theme.scale() || mode_ != theme.mode()) {
      pixmap_ = QPixmap(wanted);
      pixmap_.setDevicePixelRatio(pixel_ratio);
      pixmap_.fill(theme.colors().canvas);
      scale_ = theme.scale();
      mode_ = theme.mode();
      valid_ = true;
      ++rebuilds_;
      QPainter inner(&pixmap_);
      inner.scale(scale_, scale_);
      std::forward<Draw>(draw)(inner);
    }
    const QRectF source(QPointF(exposed.topLeft()) * pixel_ratio, QSizeF(exposed.size()) * pixel_ratio);
    painter.drawPixmap(QRectF(exposed), pixmap_, source);
  }
  [[nodiscard]] int rebuilds() const { return rebuilds_; }

 private:
  QPixmap pixmap_;
  double scale_ = 0;
  Theme::Mode mode_ = Theme::Mode::dark;
  bool valid_ = false;
  int rebuilds_ = 0;
};

}  // namespace hw::ui
