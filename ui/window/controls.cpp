// SPDX-License-Identifier: Apache-2.0
#include "ui/window/controls.h"

#include <QApplication>
#include <QEvent>
#include <QFontMetrics>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>

namespace hw::ui {

namespace {

Theme& theme() { return Theme::current(); }

const Colors& colors() { return Theme::current().colors(); }

int text_width(FontRole role, const QString& text) {
  return QFontMetrics(theme().font(role)).horizontalAdvance(text);
}

// A crisp 1 px rounded frame: the pen sits on half pixels.
void paint_box(QPainter& p, const QRectF& rect, const QColor& fill, const QColor& border, double radius) {
  p.setRenderHint(QPainter::Antialiasing);
  p.setBrush(fill);
  p.setPen(border.isValid() ? QPen(border, 1.0) : QPen(Qt::NoPen));
  p.drawRoundedRect(border.isValid() ? rect.adjusted(0.5, 0.5, -0.5, -0.5) : rect, radius, radius);
}

}  // namespace

void paint_cap(QPainter& p, const QRectF& rect, const QString& text, const QColor& border, const QColor& color) {
  p.save();
  paint_box(p, rect, Qt::transparent, border, theme().pxf(Metrics::kRadiusChip));
  p.setFont(theme().font(FontRole::small_data));
  p.setPen(color);
  p.drawText(rect, Qt::AlignCenter, text);
  p.restore();
}

int cap_width(const QString& text) {
  return text_width(FontRole::small_data, text) + theme().px(8);
}

// --- Button

Button::Button(const QString& text, QWidget* parent) : Button(Kind::normal, {}, text, parent) {}

Button::Button(Kind kind, const QString& icon, const QString& text, QWidget* parent)
    : QAbstractButton(parent), kind_(kind), icon_name_(icon) {
  setText(text);
  setFocusPolicy(Qt::TabFocus);
  setCursor(Qt::ArrowCursor);
  setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
  connect(&theme(), &Theme::changed, this, [this] {
    updateGeometry();
    update();
  });
}

void Button::setKind(Kind kind) {
  kind_ = kind;
  update();
}

void Button::setIconName(const QString& name) {
  if (name != icon_name_) {
    icon_name_ = name;
    updateGeometry();
    update();
  }
}

void Button::setShortcutCap(const QString& cap) {
  cap_ = cap;
  updateGeometry();
  update();
}

void Button::setLarge(bool large) {
  large_ = large;
  updateGeometry();
}

void Button::setMenuArrow(bool arrow) {
  arrow_ = arrow;
  updateGeometry();
}

void Button::setName(const QString& name) {
  setAccessibleName(name);
  setToolTip(cap_.isEmpty() ? name : QStringLiteral("%1  (%2)").arg(name, cap_));
}

void Button::setTextShown(bool shown) {
  if (shown != text_shown_) {
    text_shown_ = shown;
    if (accessibleName().isEmpty()) {
      setName(text());
    }
    updateGeometry();
    update();
  }
}

QSize Button::sizeHint() const {
  const Theme& t = theme();
  const bool label = text_shown_ && !text().isEmpty();
  const FontRole role = kind_ == Kind::primary || kind_ == Kind::danger ? FontRole::control_strong : FontRole::control;
  int width = 0;
  if (!icon_name_.isEmpty()) {
    width += t.px(14);
  }
  if (label) {
    width += (icon_name_.isEmpty() ? 0 : t.px(8)) + text_width(role, text());
  }
  if (label && !cap_.isEmpty()) {
    width += t.px(8) + (kind_ == Kind::primary ? text_width(FontRole::small_data, cap_) : cap_width(cap_));
  }
  if (arrow_) {
    width += t.px(18);
  }
  const int padding = large_ ? t.px(15) : (label || arrow_ ? t.px(11) : t.px(6));
  return {width + 2 * padding, large_ ? t.px(32) : t.px(Metrics::kButton)};
}

void Button::enterEvent(QEnterEvent*) { update(); }

void Button::leaveEvent(QEvent*) { update(); }

void Button::paintEvent(QPaintEvent*) {
  const Theme& t = theme();
  const Colors& c = colors();
  QPainter p(this);
  QColor fill = c.card;
  QColor border = c.border;
  QColor ink = kind_ == Kind::quiet ? c.text2 : c.text;
  if (kind_ == Kind::quiet) {
    fill = Qt::transparent;
    border = QColor();
  }
  if (isDown() || isChecked()) {
    const bool inverse = !isDown() && t.highContrast();  // its ground alone says too little
    fill = isDown() ? c.pressed : inverse ? c.text : c.selected;
    ink = inverse ? c.canvas : c.text;
  } else if (underMouse() && isEnabled()) {
    fill = c.hover;
    ink = c.text;
  }
  if (kind_ == Kind::primary && isEnabled()) {
    fill = isDown() ? c.leader_t : c.leader;
    border = fill;
    ink = c.on_primary;
  }
  if (kind_ == Kind::danger) {
    border = c.err;
    ink = c.err_t;
  }
  if (!isEnabled()) {
    ink = c.disabled;
    if (kind_ != Kind::quiet) {
      border = c.hair;
    }
  }
  if (fill.alpha() != 0 || border.isValid()) {
    paint_box(p, rect(), fill, border, t.pxf(Metrics::kRadiusControl));
  }
  const bool label = text_shown_ && !text().isEmpty();
  const FontRole role = kind_ == Kind::primary || kind_ == Kind::danger ? FontRole::control_strong : FontRole::control;
  const int hint = sizeHint().width();
  const int padding = large_ ? t.px(15) : (label || arrow_ ? t.px(11) : t.px(6));
  int x = padding + std::max(0, (width() - hint) / 2);
  if (!icon_name_.isEmpty()) {
    const int size = t.px(14);
    p.drawPixmap(x, (height() - size) / 2, icon_pixmap(icon_name_, ink, size, devicePixelRatioF()));
    x += size + t.px(8);
  }
  if (label) {
    p.setFont(t.font(role));
    p.setPen(ink);
    const int w = text_width(role, text());
    p.drawText(QRect(x, 0, w + 2, height()), Qt::AlignVCenter | Qt::AlignLeft, text());
    x += w + t.px(8);
    if (!cap_.isEmpty()) {
      if (kind_ == Kind::primary) {
        p.setFont(t.font(FontRole::small_data));
        p.drawText(QRect(x, 0, width() - x, height()), Qt::AlignVCenter | Qt::AlignLeft, cap_);
      } else {
        const int h = t.px(16);
        paint_cap(p, QRectF(x, (height() - h) / 2, cap_width(cap_), h), cap_, isEnabled() ? c.border : c.hair,
                  isEnabled() ? c.text3 : c.disabled);
      }
    }
  }
  if (arrow_) {
    const int size = t.px(12);
    p.drawPixmap(width() - padding - size + t.px(2), (height() - size) / 2,
                 icon_pixmap(QStringLiteral("chevron-down"), isEnabled() ? c.text2 : c.disabled, size,
                             devicePixelRatioF()));
  }
}

// --- SegmentedControl

SegmentedControl::SegmentedControl(const QStringList& labels, QWidget* parent) : QWidget(parent), labels_(labels) {
  setFocusPolicy(Qt::TabFocus);
  setMouseTracking(true);
  setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
  updateName();
  connect(&theme(), &Theme::changed, this, [this] {
    updateGeometry();
    update();
  });
}

void SegmentedControl::updateName() {
  setAccessibleName(labels_.join(QStringLiteral(", ")));
  setAccessibleDescription(labels_.value(current_));
}

void SegmentedControl::setCurrent(int index) {
  if (index >= 0 && index < labels_.size() && index != current_) {
    current_ = index;
    updateName();
    update();
  }
}

QSize SegmentedControl::sizeHint() const {
  int width = 2;
  for (const QString& label : labels_) {
    width += text_width(FontRole::control_strong, label) + theme().px(18);
  }
  return {width, theme().px(Metrics::kButton)};
}

QRect SegmentedControl::cell(int index) const {
  // Where there is too little room, all labels stand closer; none is cut before the others.
  const double missing = std::max(0, sizeHint().width() - width());
  const double around =
      std::max(theme().pxf(4), theme().px(18) - missing / static_cast<double>(labels_.size()));
  const auto left_of = [&](int cell) {
    double x = 1;
    for (int i = 0; i < cell; ++i) {
      x += text_width(FontRole::control_strong, labels_[i]) + around;
    }
    return qRound(x);
  };
  const int left = left_of(index);
  return {left, 1, left_of(index + 1) - left, height() - 2};
}

int SegmentedControl::cellAt(int x) const {
  for (int i = 0; i < labels_.size(); ++i) {
    const QRect r = cell(i);
    if (x >= r.left() && x <= r.right()) {
      return i;
    }
  }
  return -1;
}

void SegmentedControl::choose(int index) {
  if (index >= 0 && index < labels_.size() && index != current_) {
    setCurrent(index);
    Q_EMIT activated(index);
  }
}

void SegmentedControl::paintEvent(QPaintEvent*) {
  const Theme& t = theme();
  const Colors& c = colors();
  QPainter p(this);
  paint_box(p, rect(), c.card, c.border, t.pxf(Metrics::kRadiusControl));
  for (int i = 0; i < labels_.size(); ++i) {
    const QRect r = cell(i);
    p.setRenderHint(QPainter::Antialiasing, false);
    if (i == current_) {
      p.setRenderHint(QPainter::Antialiasing);
      p.setPen(Qt::NoPen);
      p.setBrush(!isEnabled() ? c.pressed : t.highContrast() ? c.text : c.selected);
      p.drawRoundedRect(r, t.pxf(3), t.pxf(3));
      p.setRenderHint(QPainter::Antialiasing, false);
    } else if (i == hover_ && isEnabled()) {
      p.fillRect(r, c.hover);
    }
    if (i > 0) {
      p.fillRect(r.left(), 1, 1, height() - 2, c.border);
    }
    p.setPen(!isEnabled() ? c.disabled : (i != current_ ? c.text2 : t.highContrast() ? c.canvas : c.text));
    p.setFont(t.font(i == current_ ? FontRole::control_strong : FontRole::control));
    p.drawText(r, Qt::AlignCenter, labels_[i]);
  }
}

void SegmentedControl::mousePressEvent(QMouseEvent* event) {
  if (event->button() == Qt::LeftButton) {
    choose(cellAt(static_cast<int>(event->position().x())));
  }
}

void SegmentedControl::mouseMoveEvent(QMouseEvent* event) {
  const int at = cellAt(static_cast<int>(event->position().x()));
  if (at != hover_) {
    hover_ = at;
    update();
  }
}

void SegmentedControl::leaveEvent(QEvent*) {
  hover_ = -1;
  update();
}

void SegmentedControl::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Left || event->key() == Qt::Key_Up) {
    choose(current_ - 1);
  } else if (event->key() == Qt::Key_Right || event->key() == Qt::Key_Down) {
    choose(current_ + 1);
  } else {
    QWidget::keyPressEvent(event);
  }
}

// --- Chip

Chip::Chip(QWidget* parent) : QAbstractButton(parent) {
  setFocusPolicy(Qt::TabFocus);
  setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
  connect(&theme(), &Theme::changed, this, [this] {
    updateGeometry();
    update();
  });
}

void Chip::setContent(Glyph glyph, const QString& words, Tone tone) {
  if (glyph == glyph_ && words == text() && tone == tone_) {
    return;
  }
  const bool resized = words.size() != text().size() || (glyph == Glyph::none) != (glyph_ == Glyph::none);
  glyph_ = glyph;
  tone_ = tone;
  setText(words);
  if (resized) {
    updateGeometry();
  }
  update();
}

void Chip::setIconName(const QString& name) {
  if (name != icon_name_) {
    icon_name_ = name;
    updateGeometry();
    update();
  }
}

void Chip::setStrong(bool strong) {
  strong_ = strong;
  updateGeometry();
}

void Chip::setTall(bool tall) {
  tall_ = tall;
  updateGeometry();
}

void Chip::setPassive(bool passive) {
  passive_ = passive;
  setFocusPolicy(passive ? Qt::NoFocus : Qt::TabFocus);
  setAttribute(Qt::WA_TransparentForMouseEvents, passive && toolTip().isEmpty());
}

QSize Chip::sizeHint() const {
  const Theme& t = theme();
  int width = t.px(14);
  if (glyph_ != Glyph::none || !icon_name_.isEmpty()) {
    width += t.px(icon_name_.isEmpty() ? 10 : 12) + (text().isEmpty() ? 0 : t.px(5));
  }
  width += text_width(strong_ ? FontRole::caption_strong : FontRole::control, text());
  return {width + 2, t.px(tall_ ? 22 : Metrics::kChip)};
}

void Chip::enterEvent(QEnterEvent*) { update(); }

void Chip::leaveEvent(QEvent*) { update(); }

void Chip::paintEvent(QPaintEvent*) {
  const Theme& t = theme();
  const Colors& c = colors();
  QColor fill = c.card;
  QColor border = c.border;
  switch (tone_) {
    case Tone::neutral:
      break;
    case Tone::ok:
      fill = c.ok_tint;
      border = c.ok;
      break;
    case Tone::warn:
      fill = c.warn_tint;
      border = c.warn_line;
      break;
    case Tone::err:
      fill = c.err_tint;
      border = c.err;
      break;
    case Tone::leader:
      fill = c.leader_tint;
      border = c.leader;
      break;
    case Tone::txn:
      fill = c.txn_tint;
      border = c.txn;
      break;
  }
  if (!passive_ && tone_ == Tone::neutral) {
    fill = isDown() ? c.pressed : (underMouse() ? c.hover : c.card);
  }
  QPainter p(this);
  paint_box(p, rect(), fill, border, t.pxf(Metrics::kRadiusChip));
  int x = t.px(8);
  if (!icon_name_.isEmpty()) {
    const int size = t.px(12);
    p.drawPixmap(x, (height() - size) / 2, icon_pixmap(icon_name_, c.text2, size, devicePixelRatioF()));
    x += size + t.px(5);
  } else if (glyph_ != Glyph::none) {
    paint_glyph(p, glyph_, QPointF(x + t.pxf(5), height() / 2.0), t.pxf(10));
    x += t.px(15);
  }
  p.setFont(t.font(strong_ ? FontRole::caption_strong : FontRole::control));
  p.setPen(isEnabled() ? c.text : c.disabled);
  p.drawText(QRect(x, 0, width() - x - t.px(4), height()), Qt::AlignVCenter | Qt::AlignLeft, text());
}

// --- TextLabel

TextLabel::TextLabel(const QString& text, FontRole role, Tone tone, QWidget* parent)
    : QLabel(text, parent), role_(role), tone_(tone) {
  setTextFormat(Qt::PlainText);
  refresh();
  connect(&theme(), &Theme::changed, this, &TextLabel::refresh);
}

void TextLabel::setTone(Tone tone) {
  if (tone != tone_) {
    tone_ = tone;
    refresh();
  }
}

void TextLabel::setRole(FontRole role) {
  if (role != role_) {
    role_ = role;
    refresh();
  }
}

void TextLabel::refresh() {
  const Colors& c = colors();
  QColor color = c.text;
  switch (tone_) {
    case Tone::text:
      color = c.text;
      break;
    case Tone::text2:
      color = c.text2;
      break;
    case Tone::text3:
      color = c.text3;
      break;
    case Tone::ok:
      color = c.ok_t;
      break;
    case Tone::warn:
      color = c.warn_t;
      break;
    case Tone::err:
      color = c.err_t;
      break;
    case Tone::link:
      color = c.link;
      break;
  }
  const QFont& f = theme().font(role_);
  // The sheet of the application outranks setFont() and palettes, so the label speaks in its terms.
  const char* family = f.families().value(0).startsWith(QLatin1String("JetBrains")) ? "JetBrains Mono" : "Inter";
  setFont(f);
  setStyleSheet(QStringLiteral("color: %1; font-family: \"%2\"; font-size: %3px; font-weight: %4;")
                    .arg(color.name(), QLatin1String(family))
                    .arg(f.pixelSize())
                    .arg(static_cast<int>(f.weight())));
}

// --- Line

Line::Line(Qt::Orientation orientation, bool strong, QWidget* parent) : QWidget(parent), strong_(strong) {
  if (orientation == Qt::Horizontal) {
    setFixedHeight(1);
  } else {
    setFixedWidth(1);
  }
}

void Line::paintEvent(QPaintEvent*) {
  QPainter p(this);
  p.fillRect(rect(), strong_ ? colors().border : colors().hair);
}

// --- FocusRing

FocusRing::FocusRing(QWidget* window) : QWidget(window) {
  setAttribute(Qt::WA_TransparentForMouseEvents);
  setAttribute(Qt::WA_NoSystemBackground);
  setFocusPolicy(Qt::NoFocus);
  hide();
  window->installEventFilter(this);
  connect(qApp, &QApplication::focusChanged, this, [this](QWidget*, QWidget* now) { follow(now); });
  connect(&theme(), &Theme::changed, this, [this] { update(); });
}

void FocusRing::follow(QWidget* widget) {
  if (target_ != nullptr && target_ != parentWidget()) {
    target_->removeEventFilter(this);
  }
  target_ = widget;
  const bool wanted = widget != nullptr && widget != parentWidget() && widget->window() == parentWidget() &&
                      !widget->property("ownFocus").toBool() && !widget->inherits("QAbstractItemView") &&
                      !widget->inherits("QLineEdit") && !widget->inherits("QAbstractSpinBox") &&
                      !widget->inherits("QPlainTextEdit") && !widget->inherits("QComboBox");
  if (!wanted) {
    target_ = nullptr;
    hide();
    return;
  }
  widget->installEventFilter(this);
  place();
  raise();
  show();
}

void FocusRing::place() {
  if (target_ == nullptr || !target_->isVisible()) {
    hide();
    return;
  }
  const QPoint at = target_->mapTo(parentWidget(), QPoint(0, 0));
  setGeometry(QRect(at, target_->size()).adjusted(-4, -4, 4, 4));
}

bool FocusRing::eventFilter(QObject* object, QEvent* event) {
  if (object == target_ || object == parentWidget()) {
    switch (event->type()) {
      case QEvent::Move:
      case QEvent::Resize:
      case QEvent::Hide:
      case QEvent::Show:
      case QEvent::LayoutRequest:
        if (target_ != nullptr) {
          place();
          if (target_->isVisible()) {
            show();
            raise();
          }
        }
        break;
      default:
        break;
    }
  }
  return QWidget::eventFilter(object, event);
}

void FocusRing::paintEvent(QPaintEvent*) {
  QPainter p(this);
  p.setRenderHint(QPainter::Antialiasing);
  p.setPen(QPen(colors().ring, 2.0));
  p.setBrush(Qt::NoBrush);
  p.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), 6, 6);
}

}  // namespace hw::ui
