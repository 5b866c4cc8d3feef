// SPDX-License-Identifier: Apache-2.0
#include "ui/window/severity_bar.h"

#include <QHBoxLayout>
#include <QPainter>
#include <algorithm>
#include <utility>

#include "ui/painting/text.h"
#include "ui/theme/glyphs.h"
#include "ui/theme/theme.h"

namespace hw::ui {

namespace {

Glyph glyph_of(Severity severity) {
  switch (severity) {
    case Severity::info:
      return Glyph::none;
    case Severity::notice:
      return Glyph::disc;
    case Severity::warning:
      return Glyph::quarter;
    case Severity::error:
      return Glyph::cross;
  }
  return Glyph::none;
}

// "1.2k": the button keeps its width.
QString short_count(int count) { return count < 1'000 ? QString::number(count) : QStringLiteral("%1k").arg(count / 1'000); }

}  // namespace

SeverityButton::SeverityButton(Severity severity, QWidget* parent) : QAbstractButton(parent), severity_(severity) {
  setCheckable(true);
  setChecked(true);
  setFocusPolicy(Qt::StrongFocus);
  setCursor(Qt::ArrowCursor);
  connect(this, &QAbstractButton::toggled, this, [this] {
    updateName();
    update();
  });
  connect(&Theme::current(), &Theme::changed, this, [this] {
    updateGeometry();
    update();
  });
  updateName();
}

void SeverityButton::updateName() {
  QString name;
  switch (severity_) {
    case Severity::info:
      name = tr("Info: %1");
      break;
    case Severity::notice:
      name = tr("Notices: %1");
      break;
    case Severity::warning:
      name = tr("Warnings: %1");
      break;
    case Severity::error:
      name = tr("Errors: %1");
      break;
  }
  name = name.arg(format_count(count_));
  if (events_ > count_) {
    name = tr("%1 (%Ln event(s))", nullptr, static_cast<int>(std::min<std::int64_t>(events_, INT32_MAX))).arg(name);
  }
  setAccessibleName(name);
  setToolTip(isChecked() ? tr("%1. Press to hide them.").arg(name) : tr("%1, hidden. Press to show them.").arg(name));
}

void SeverityButton::setCount(int rows, std::int64_t events) {
  if (rows == count_ && events == events_) {
    return;
  }
  events_ = events;
  if (std::exchange(count_, rows) != rows) {
    updateGeometry();
    update();
  }
  updateName();
}

QSize SeverityButton::sizeHint() const {
  const Theme& t = Theme::current();
  return {t.px(28) + t.px(7) * static_cast<int>(short_count(count_).size()), t.px(22)};
}

void SeverityButton::paintEvent(QPaintEvent*) {
  const Theme& t = Theme::current();
  const Colors& c = t.colors();
  QPainter p(this);
  p.setRenderHint(QPainter::Antialiasing);
  const QColor fill = isChecked() ? c.selected : (underMouse() ? c.hover : QColor(Qt::transparent));
  const double pen = isChecked() && t.highContrast() ? 2.0 : 1.0;
  p.setPen(QPen(isChecked() ? c.control : (t.highContrast() ? c.hair : c.border), pen));
  p.setBrush(fill);
  p.drawRoundedRect(QRectF(rect()).adjusted(pen / 2, pen / 2, -pen / 2, -pen / 2), t.pxf(4), t.pxf(4));
  p.scale(t.scale(), t.scale());
  const double y = height() / t.scale() / 2;
  const QColor ink = isChecked() ? c.text : c.text3;
  if (const Glyph glyph = glyph_of(severity_); glyph == Glyph::none) {
    text_left(p, 10, y, QStringLiteral("i"), FontRole::data_strong, ink);
  } else if (isChecked()) {
    paint_glyph(p, glyph, QPointF(12, y), 10);
  } else {
    paint_glyph(p, glyph, QPointF(12, y), 10, c.text3);
  }
  text_left(p, 22, y, short_count(count_), FontRole::small_data, ink);
}

void SeverityButton::enterEvent(QEnterEvent*) { update(); }
void SeverityButton::leaveEvent(QEvent*) { update(); }

SeverityBar::SeverityBar(QWidget* parent) : QWidget(parent) {
  setAccessibleName(tr("Severities that are shown"));
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(Theme::current().px(3));
  for (const Severity severity : kSeverities) {
    auto* button = new SeverityButton(severity, this);
    buttons_[static_cast<std::size_t>(severity)] = button;
    row->addWidget(button);
    connect(button, &QAbstractButton::toggled, this, [this] { Q_EMIT changed(severities()); });
  }
}

unsigned SeverityBar::severities() const {
  unsigned bits = 0;
  for (std::size_t i = 0; i < buttons_.size(); ++i) {
    bits |= buttons_[i]->isChecked() ? 1U << i : 0U;
  }
  return bits;
}

void SeverityBar::setSeverities(unsigned severities) {
  for (std::size_t i = 0; i < buttons_.size(); ++i) {
    buttons_[i]->setChecked((severities >> i & 1U) != 0);
  }
}

void SeverityBar::setCount(Severity severity, int rows, std::int64_t events) {
  buttons_[static_cast<std::size_t>(severity)]->setCount(rows, events);
}

}  // namespace hw::ui
