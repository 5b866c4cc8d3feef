// SPDX-License-Identifier: Apache-2.0
// The look of Qt's own controls (inputs, menus, tables, scroll bars), derived from the tokens.
#pragma once

#include <QPalette>
#include <QProxyStyle>
#include <QString>

#include "ui/theme/theme.h"

namespace hw::ui {

[[nodiscard]] QPalette make_palette(const Colors& colors);
[[nodiscard]] QString make_style_sheet(const Colors& colors, double scale, const QString& cache_directory);

// Fusion without what the guide forbids: no animations, no focus rectangle (FocusRing paints it),
// no etched text, no handle in a scroll bar that has nothing to scroll.
class HighwaterStyle : public QProxyStyle {
  Q_OBJECT

 public:
  HighwaterStyle();
  int styleHint(StyleHint hint, const QStyleOption* option, const QWidget* widget,
                QStyleHintReturn* data) const override;
  void drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                     const QWidget* widget) const override;
  using QProxyStyle::polish;
  void polish(QWidget* widget) override;
  int pixelMetric(PixelMetric metric, const QStyleOption* option,
                  const QWidget* widget) const override;
};

}  // namespace hw::ui
