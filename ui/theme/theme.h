// SPDX-License-Identifier: Apache-2.0
// Theme: the colours, fonts and measures that everything on the screen is painted with.
//
// Nobody writes a colour or a font anywhere else. Painted widgets read `Theme::current()` in paintEvent and
// connect to changed() (or override changeEvent and look for PaletteChange, which follows every change) to drop
// caches. All sizes are px at scale 1.0; `px()` multiplies them by the UI scale.
// Thread rule: UI thread only. The one instance lives as long as the process.
#pragma once

#include <QColor>
#include <QFont>
#include <QObject>
#include <QString>
#include <array>
#include <cstddef>
#include <optional>

#include "engine/base/bytes.h"

class QApplication;
class QWidget;

namespace hw::ui {

// The tokens of the visual guide. State colours never stand alone: glyphs.h has the shape that goes with each.
// `…T` is the state as text (4.5:1 on every surface), `…Tint` a background, `…Soft` a fill below a full outline.
struct Colors {
  // Surfaces.
  QColor chrome;         // bars, rail, docks, inspector
  QColor canvas;         // pages
  QColor card;           // node cards, buttons, chips, popups
  QColor inset;          // inputs, bar tracks, formulas
  QColor hover;          // hovered row or item
  QColor pressed;        // pressed control, neutral bands, badge
  QColor selected;       // selected row, item, range, segmented control
  QColor selected_idle;  // selection while the view has no focus
  // Lines.
  QColor hair;     // row and section lines
  QColor border;   // panel, card and button borders
  QColor control;  // borders of inputs and checkboxes, axes, brackets
  QColor grid;     // chart grid
  QColor edge;     // canvas edges, neutral chart bars, zig-zag
  // Text.
  QColor text;
  QColor text2;
  QColor text3;
  QColor disabled;
  QColor link;
  QColor on_primary;  // on a `leader` fill
  // Selection and focus.
  QColor ring;
  QColor ring_contrast;
  // States.
  QColor leader, leader_t, leader_tint, leader_soft;
  QColor ok, ok_t, ok_tint, ok_soft;
  QColor warn, warn_line, warn_t, warn_tint, warn_soft;  // warn_line outlines every warn fill and glyph
  QColor err, err_t, err_tint, err_soft;
  QColor txn, txn_t, txn_tint, txn_soft;
  QColor past, past_tint, past_soft;
  QColor leader_fill, ok_fill;  // bodies of bars and cells, with nothing written on them
  // Hash colours of keys, always shown together with the key's label.
  std::array<QColor, 8> key_hues;
};

// What a piece of text is for. Every number that changes or aligns uses one of the data roles (JetBrains Mono).
enum class FontRole : std::uint8_t {
  display,          // Inter 18/24 600: empty-state title
  page_title,       // Inter 15/20 600
  headline_number,  // Mono 15/20 500
  body,             // Inter 13/18 400
  body_strong,      // Inter 13/18 600
  control,          // Inter 12/16 400: buttons, tables, tabs
  control_medium,   // Inter 12/16 500: key cell
  control_strong,   // Inter 12/16 600: active tab, primary button
  data,             // Mono 12/16 400
  data_strong,      // Mono 12/16 600: selected
  data_title,       // Mono 13/18 600: inspector title
  caption,          // Inter 11/16 400
  caption_strong,   // Inter 11/16 600: table header
  section_label,    // Inter 11/16 600 capitals, spacing 0.4
  small_data,       // Mono 11/16 400: rulers, hex, shortcut caps, rates
  small_data_strong,// Mono 11/16 600: badges
  record_letter,    // Mono 9 700: the letter inside a record square
};
inline constexpr std::size_t kFontRoles = 17;

// Measures of the window and its components, px at scale 1.0.
struct Metrics {
  static constexpr int kTopBar = 44;
  static constexpr int kRail = 176;
  static constexpr int kRailCollapsed = 48;
  static constexpr int kPageHeader = 44;
  static constexpr int kInspector = 320;
  static constexpr int kInspectorWide = 400;
  static constexpr int kInspectorStrip = 36;
  static constexpr int kDockHeader = 30;
  static constexpr int kStatusBar = 26;
  static constexpr int kNarrow = 1200;  // windows below this are narrow
  static constexpr int kWide = 1920;    // windows from this are wide
  static constexpr int kPagePadding = 16;
  static constexpr int kRow = 25;        // table row with its line
  static constexpr int kRowHeader = 27;
  static constexpr int kButton = 26;
  static constexpr int kChip = 20;
  static constexpr int kInspectorRow = 22;
  static constexpr int kInspectorKey = 116;
  static constexpr int kReplicaRow = 22;
  static constexpr int kLane = 44;
  static constexpr int kLaneFollower = 36;
  static constexpr int kRadiusCard = 6;
  static constexpr int kRadiusControl = 4;
  static constexpr int kRadiusChip = 3;
};

class Theme : public QObject {
  Q_OBJECT

 public:
  // The contrast modes have white or black surfaces, strong lines and no fills behind text: outlines carry the state.
  enum class Mode { light, dark, contrast_light, contrast_dark };
  Q_ENUM(Mode)
  // What a person asked for; `system` is light or dark as the desktop is.
  enum class Choice { system, light, dark, contrast_light, contrast_dark };

  // Made with the first call, which needs a QGuiApplication.
  static Theme& current();
  // The tokens of a mode without making it the current one (tests, exports).
  static const Colors& colorsOf(Mode mode);

  // Loads the embedded fonts, follows the system palette's lightness, and installs palette, style and style sheet.
  void install(QApplication& application);

  [[nodiscard]] const Colors& colors() const { return colors_; }
  [[nodiscard]] const QFont& font(FontRole role) const { return fonts_[static_cast<std::size_t>(role)]; }
  // Height of a line of this role.
  [[nodiscard]] int lineHeight(FontRole role) const;
  [[nodiscard]] Mode mode() const { return mode_; }
  [[nodiscard]] bool dark() const { return mode_ == Mode::dark || mode_ == Mode::contrast_dark; }
  [[nodiscard]] bool highContrast() const { return mode_ == Mode::contrast_light || mode_ == Mode::contrast_dark; }
  [[nodiscard]] Choice choice() const { return choice_; }
  // "system", "light", "dark", "contrast-light", "contrast-dark": for settings and the command line.
  [[nodiscard]] static QString nameOf(Choice choice);
  [[nodiscard]] static std::optional<Choice> choiceOf(const QString& name);
  // What everything is multiplied with: the person's scale, and half as much again while presenting.
  [[nodiscard]] double scale() const { return scale_; }
  [[nodiscard]] double userScale() const { return user_scale_; }
  [[nodiscard]] bool presenting() const { return presenting_; }
  // A length at the current UI scale.
  [[nodiscard]] int px(double length) const;
  [[nodiscard]] double pxf(double length) const { return length * scale_; }
  // Own setting: the platform cannot be asked on Qt 6.4. True: no travelling squares, a highlight of 1 s instead.
  [[nodiscard]] bool reduceMotion() const { return reduce_motion_; }

  // The hash colour of a key and the text colour on it.
  [[nodiscard]] int keyHueIndex(ByteSpan key) const;
  [[nodiscard]] QColor keyHue(ByteSpan key) const;
  [[nodiscard]] QColor onHue(const QColor& hue) const;

 public slots:
  void setMode(hw::ui::Theme::Mode mode);
  void setChoice(hw::ui::Theme::Choice choice);
  // Light to dark and back; a contrast mode stays one.
  void toggleMode();
  // The desktop's choice, now or after a change; followed while choice() is `system`.
  void setSystemDark(bool dark);
  // 0.75 … 3.0. Widgets whose sizes are fixed are resized with it (rescale.h).
  void setScale(double scale);
  void setPresenting(bool on);
  void setReduceMotion(bool on);

 signals:
  // Colours, fonts or scale are different now; every top-level widget has been repolished.
  void changed();

 private:
  Theme();
  void rebuildFonts();
  void apply();
  void applyScale();

  Mode mode_ = Mode::dark;
  Choice choice_ = Choice::system;
  bool system_dark_ = true;
  double scale_ = 1.0;
  double user_scale_ = 1.0;
  bool presenting_ = false;
  bool reduce_motion_ = false;
  Colors colors_;
  std::array<QFont, kFontRoles> fonts_;
  QApplication* application_ = nullptr;
  QColor highlight_;  // of the desktop; invalid: none
};

// The font of a role, now and after every change of the scale; the widget keeps it for life.
void follow_font(QWidget* widget, FontRole role);

// WCAG 2.1 contrast ratio of two opaque colours, 1 … 21.
[[nodiscard]] double contrast_ratio(const QColor& a, const QColor& b);

}  // namespace hw::ui
