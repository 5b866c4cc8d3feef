// SPDX-License-Identifier: Apache-2.0
// The small controls of the guide, painted with tokens: buttons, segmented controls, chips, badges, drop-downs.
// All of them are reachable by Tab, act on Space and Return, and carry an accessible name (their text, or setName()).
#pragma once

#include <QAbstractButton>
#include <QComboBox>
#include <QLabel>
#include <QPointer>
#include <QString>
#include <QStringList>
#include <QWidget>

#include "ui/theme/glyphs.h"
#include "ui/theme/theme.h"

class QMenu;

namespace hw::ui {

// 26 high (32 with setLarge): icon, text, shortcut cap.
class Button : public QAbstractButton {
  Q_OBJECT

 public:
  enum class Kind : std::uint8_t { normal, primary, quiet, danger };
  explicit Button(const QString& text = {}, QWidget* parent = nullptr);
  Button(Kind kind, const QString& icon, const QString& text, QWidget* parent = nullptr);
  void setKind(Kind kind);
  void setIconName(const QString& name);
  void setShortcutCap(const QString& cap);  // "P": shown as a cap, not bound
  void setLarge(bool large);
  void setMenuArrow(bool arrow);  // a chevron at the right
  // For buttons without text: the accessible name and tooltip.
  void setName(const QString& name);
  // In narrow windows a button may hide its text; its name stays.
  void setTextShown(bool shown);
  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override { return sizeHint(); }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void enterEvent(QEnterEvent* event) override;
  void leaveEvent(QEvent* event) override;

 private:
  Kind kind_ = Kind::normal;
  QString icon_name_;
  QString cap_;
  bool large_ = false;
  bool arrow_ = false;
  bool text_shown_ = true;
};

// "Low | Mid | Full": one of a few. Left and right arrows move.
class SegmentedControl : public QWidget {
  Q_OBJECT

 public:
  explicit SegmentedControl(const QStringList& labels, QWidget* parent = nullptr);
  [[nodiscard]] int current() const { return current_; }
  void setCurrent(int index);  // no signal
  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override { return sizeHint(); }

 signals:
  void activated(int index);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  [[nodiscard]] QRect cell(int index) const;
  [[nodiscard]] int cellAt(int x) const;
  void choose(int index);
  void updateName();
  QStringList labels_;
  int current_ = 0;
  int hover_ = -1;
};

// 20 high (22 in the top bar): glyph and words. A state chip has the state's tint and border.
class Chip : public QAbstractButton {
  Q_OBJECT

 public:
  enum class Tone : std::uint8_t { neutral, ok, warn, err, leader, txn };
  explicit Chip(QWidget* parent = nullptr);
  void setContent(Glyph glyph, const QString& text, Tone tone = Tone::neutral);
  void setIconName(const QString& name);
  void setStrong(bool strong);  // 600: the LIVE badge
  void setTall(bool tall);
  // Chips that only tell something take no focus and no clicks.
  void setPassive(bool passive);
  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override { return sizeHint(); }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void enterEvent(QEnterEvent* event) override;
  void leaveEvent(QEvent* event) override;

 private:
  Glyph glyph_ = Glyph::none;
  QString icon_name_;
  Tone tone_ = Tone::neutral;
  bool strong_ = false;
  bool tall_ = false;
  bool passive_ = false;
};

// Section label in capitals, caption, body … : a QLabel with a font role and a tone that follow the theme.
class TextLabel : public QLabel {
  Q_OBJECT

 public:
  enum class Tone : std::uint8_t { text, text2, text3, ok, warn, err, link };
  TextLabel(const QString& text, FontRole role, Tone tone = Tone::text, QWidget* parent = nullptr);
  void setTone(Tone tone);
  void setRole(FontRole role);

 private:
  void refresh();
  FontRole role_;
  Tone tone_;
};

// A line of 1 px in `hair` or `border`.
class Line : public QWidget {
  Q_OBJECT

 public:
  explicit Line(Qt::Orientation orientation, bool strong = false, QWidget* parent = nullptr);

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  bool strong_;
};

// Text and a value in mono, painted as one plate: used for shortcut caps inside rich layouts.
void paint_cap(QPainter& painter, const QRectF& rect, const QString& text, const QColor& border, const QColor& color);
[[nodiscard]] int cap_width(const QString& text);

// The ring around whatever has the keyboard focus, 2 px outside of it; one per window.
class FocusRing : public QWidget {
  Q_OBJECT

 public:
  explicit FocusRing(QWidget* window);

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool eventFilter(QObject* object, QEvent* event) override;

 private:
  void follow(QWidget* widget);
  void place();
  QPointer<QWidget> target_;
};

}  // namespace hw::ui
