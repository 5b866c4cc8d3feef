// SPDX-License-Identifier: Apache-2.0
// ElidedLabel: one line that gives way where there is little room: the text is elided, and whole in the tooltip. For names
// of objects and for counts beside a title, never for sentences. Thread rule: UI thread only.
#pragma once

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>

#include "ui/window/controls.h"

namespace hw::ui {

class ElidedLabel : public TextLabel {
 public:
  ElidedLabel(FontRole role, Tone tone, Qt::TextElideMode mode, QWidget* parent) : TextLabel({}, role, tone, parent), mode_(mode) {
    setProperty("elides", true);  // known to the tests of what is cut
  }
  [[nodiscard]] QSize minimumSizeHint() const override {
    const QSize whole = TextLabel::minimumSizeHint();
    return {std::min(whole.width(), Theme::current().px(48)), whole.height()};
  }

 protected:
  void paintEvent(QPaintEvent* event) override {
    if (!cut()) {
      TextLabel::paintEvent(event);
      return;
    }
    QPainter p(this);
    p.setPen(palette().color(QPalette::WindowText));
    p.drawText(contentsRect(), static_cast<int>(alignment()), fontMetrics().elidedText(text(), mode_, contentsRect().width()));
  }
  bool event(QEvent* event) override {
    if (event->type() == QEvent::ToolTip && toolTip().isEmpty() && cut()) {
      QToolTip::showText(static_cast<QHelpEvent*>(event)->globalPos(), text(), this);
      return true;
    }
    return TextLabel::event(event);
  }

 private:
  [[nodiscard]] bool cut() const { return fontMetrics().horizontalAdvance(text()) > contentsRect().width(); }
  Qt::TextElideMode mode_;
};

}  // namespace hw::ui
