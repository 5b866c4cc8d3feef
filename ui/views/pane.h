// SPDX-License-Identifier: Apache-2.0
// Pane: a widget that is nothing but canvas. Containers inside pages use it, so that no palette shines through.
#pragma once

#include <QPaintEvent>
#include <QPainter>
#include <QWidget>

#include "ui/theme/theme.h"

namespace hw::ui {

class Pane : public QWidget {
 public:
  using QWidget::QWidget;

 protected:
  void paintEvent(QPaintEvent* event) override {
    QPainter(this).fillRect(event->rect(), Theme::current().colors().canvas);
  }
};

}  // namespace hw::ui
