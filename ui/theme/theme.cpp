// SPDX-License-Identifier: Apache-2.0
#include "ui/theme/theme.h"

#include <QApplication>
#include <QDir>
#include <QFontDatabase>
#include <QGuiApplication>
#include <QPalette>
#include <QPixmapCache>
#include <QWidget>
#include <algorithm>
#include <cmath>
#include <iterator>

#include "ui/theme/rescale.h"
#include "ui/theme/style.h"
#include "ui/theme/system_scheme.h"

// Resource initialisers are plain functions outside every namespace.
static void load_highwater_resources() {
  Q_INIT_RESOURCE(highwater_fonts);
  Q_INIT_RESOURCE(highwater_icons);
}

namespace hw::ui {

namespace {

QColor rgb(std::uint32_t value) { return QColor::fromRgb(static_cast<QRgb>(value) | 0xff000000U); }

Colors make_dark() {
  Colors c;
  c.chrome = rgb(0x15181C);
  c.canvas = rgb(0x1B1E23);
  c.card = rgb(0x22262D);
  c.inset = rgb(0x131519);
  c.hover = rgb(0x2A2F37);
  c.pressed = rgb(0x333A44);
  c.selected = rgb(0x1D3150);
  c.selected_idle = rgb(0x2A303A);
  c.hair = rgb(0x2B3038);
  c.border = rgb(0x3A414C);
  c.control = rgb(0x6F7886);
  c.grid = rgb(0x262A31);
  c.edge = rgb(0x7C8696);
  c.text = rgb(0xE8EBF0);
  c.text2 = rgb(0xAEB6C2);
  c.text3 = rgb(0x9AA3B0);
  c.disabled = rgb(0x626B77);
  c.link = rgb(0x7FA5FF);
  c.on_primary = rgb(0x0B0E13);
  c.ring = rgb(0x3DAEE9);
  c.ring_contrast = rgb(0x0B0E13);
  c.leader = rgb(0x4C82FF);
  c.leader_t = rgb(0x7FA5FF);
  c.leader_tint = rgb(0x232E46);
  c.leader_soft = rgb(0x36559C);
  c.ok = rgb(0x01C585);
  c.ok_t = rgb(0x01C585);
  c.ok_tint = rgb(0x173933);
  c.ok_soft = rgb(0x0C7556);
  c.warn = rgb(0xFBCE39);
  c.warn_line = rgb(0xFBCE39);
  c.warn_t = rgb(0xFBCE39);
  c.warn_tint = rgb(0x3F3A27);
  c.warn_soft = rgb(0x967F2F);
  c.err = rgb(0xE0512B);
  c.err_t = rgb(0xFF805C);
  c.err_tint = rgb(0x3B2624);
  c.err_soft = rgb(0x873A27);
  c.txn = rgb(0xE160BE);
  c.txn_t = rgb(0xF08AD6);
  c.txn_tint = rgb(0x3B293C);
  c.txn_soft = rgb(0x884278);
  c.past = rgb(0xC9D0DA);
  c.past_tint = rgb(0x373A40);
  c.past_soft = rgb(0x7B8088);
  c.leader_fill = c.leader_soft;
  c.ok_fill = c.ok_soft;
  c.key_hues = {rgb(0xDF9B3A), rgb(0xECED27), rgb(0xACF59D), rgb(0x5CC39B),
                rgb(0x5383DC), rgb(0x8265F5), rgb(0xDFA4D4), rgb(0xD05E5E)};
  return c;
}

Colors make_light() {
  Colors c;
  c.chrome = rgb(0xF3F4F7);
  c.canvas = rgb(0xFFFFFF);
  c.card = rgb(0xFFFFFF);
  c.inset = rgb(0xF3F5F8);
  c.hover = rgb(0xECEFF4);
  c.pressed = rgb(0xDFE4EB);
  c.selected = rgb(0xDCEAFA);
  c.selected_idle = rgb(0xE8EBF0);
  c.hair = rgb(0xE4E7EC);
  c.border = rgb(0xCBD1DA);
  c.control = rgb(0x7C8593);
  c.grid = rgb(0xEEF0F3);
  c.edge = rgb(0x77818F);
  c.text = rgb(0x15181D);
  c.text2 = rgb(0x454D59);
  c.text3 = rgb(0x5D6571);
  c.disabled = rgb(0xA0A7B1);
  c.link = rgb(0x0148DC);
  c.on_primary = rgb(0xFFFFFF);
  c.ring = rgb(0x0079B8);
  c.ring_contrast = rgb(0xFFFFFF);
  c.leader = rgb(0x0151F9);
  c.leader_t = rgb(0x0148DC);
  c.leader_tint = rgb(0xE6EEFE);
  c.leader_soft = rgb(0x8DB1FC);
  c.ok = rgb(0x2F9D73);
  c.ok_t = rgb(0x1B7350);
  c.ok_tint = rgb(0xEAF5F1);
  c.ok_soft = rgb(0xA1D3C0);
  c.warn = rgb(0xF0A500);
  c.warn_line = rgb(0x5C3A00);
  c.warn_t = rgb(0x7A4F00);
  c.warn_tint = rgb(0xFCEFD1);
  c.warn_soft = rgb(0xF8D78C);
  c.err = rgb(0xA61B00);
  c.err_t = rgb(0xA61B00);
  c.err_tint = rgb(0xF6E8E6);
  c.err_soft = rgb(0xD7988C);
  c.txn = rgb(0xB5179E);
  c.txn_t = rgb(0xA3148E);
  c.txn_tint = rgb(0xF8E8F5);
  c.txn_soft = rgb(0xDE97D3);
  c.past = rgb(0x3C4045);
  c.past_tint = rgb(0xECECEC);
  c.past_soft = rgb(0xA7A9AB);
  c.leader_fill = c.leader_soft;
  c.ok_fill = c.ok_soft;
  c.key_hues = {rgb(0x730C3D), rgb(0x818210), rgb(0x485C1E), rgb(0x279D50),
                rgb(0x0F557B), rgb(0x140F80), rgb(0x870DBF), rgb(0xCA0E9F)};
  return c;
}

// Black, white and pure hues. Tints and softs are the ground itself: what they tell is told by outline, glyph and word.
Colors make_contrast(bool dark) {
  Colors c;
  const QColor ground = rgb(dark ? 0x000000 : 0xFFFFFF);
  const QColor ink = rgb(dark ? 0xFFFFFF : 0x000000);
  c.chrome = c.canvas = c.card = c.inset = ground;
  c.hover = rgb(dark ? 0x1E1E1E : 0xEDEDED);
  c.pressed = rgb(dark ? 0x333333 : 0xDDDDDD);
  c.selected = rgb(dark ? 0x00205A : 0xDCE8FF);
  c.selected_idle = rgb(dark ? 0x262626 : 0xE6E6E6);
  c.hair = rgb(dark ? 0x767676 : 0x8C8C8C);
  c.border = c.control = c.edge = ink;
  c.grid = rgb(dark ? 0x5A5A5A : 0xB0B0B0);
  c.text = c.text2 = ink;
  c.text3 = rgb(dark ? 0xE6E6E6 : 0x1F1F1F);
  c.disabled = rgb(dark ? 0x9A9A9A : 0x666666);
  c.on_primary = ground;
  c.ring = rgb(dark ? 0x00E5FF : 0x00606E);  // neither a warning nor a leader
  c.ring_contrast = ground;
  c.leader = c.leader_t = c.link = rgb(dark ? 0xA6C8FF : 0x00289A);
  c.ok = c.ok_t = rgb(dark ? 0x4CF0A8 : 0x004A2A);
  c.warn = rgb(dark ? 0xFFE15A : 0xFFC400);
  c.warn_line = c.warn_t = rgb(dark ? 0xFFE15A : 0x5A3200);
  c.err = c.err_t = rgb(dark ? 0xFFAB94 : 0x8A0000);
  c.txn = c.txn_t = rgb(dark ? 0xFFB0EE : 0x780064);
  c.past = rgb(dark ? 0xE6E6E6 : 0x2A2A2A);
  c.leader_tint = c.leader_soft = c.ok_tint = c.ok_soft = c.warn_tint = c.warn_soft = ground;
  c.err_tint = c.err_soft = c.txn_tint = c.txn_soft = c.past_tint = c.past_soft = ground;
  c.leader_fill = rgb(dark ? 0x4D82E6 : 0x3A62C8);
  c.ok_fill = rgb(dark ? 0x1FA86E : 0x2E7A52);
  c.key_hues = (dark ? make_dark() : make_light()).key_hues;
  return c;
}

struct RoleSpec {
  bool mono;
  int pixels;
  int line;
  QFont::Weight weight;
};

constexpr RoleSpec kRoles[kFontRoles] = {
    {false, 18, 24, QFont::DemiBold},  // display
    {false, 15, 20, QFont::DemiBold},  // page_title
    {true, 15, 20, QFont::Medium},     // headline_number
    {false, 13, 18, QFont::Normal},    // body
    {false, 13, 18, QFont::DemiBold},  // body_strong
    {false, 12, 16, QFont::Normal},    // control
    {false, 12, 16, QFont::Medium},    // control_medium
    {false, 12, 16, QFont::DemiBold},  // control_strong
    {true, 12, 16, QFont::Normal},     // data
    {true, 12, 16, QFont::DemiBold},   // data_strong
    {true, 13, 18, QFont::DemiBold},   // data_title
    {false, 11, 16, QFont::Normal},    // caption
    {false, 11, 16, QFont::DemiBold},  // caption_strong
    {false, 11, 16, QFont::DemiBold},  // section_label
    {true, 11, 16, QFont::Normal},     // small_data
    {true, 11, 16, QFont::DemiBold},   // small_data_strong
    {true, 9, 12, QFont::Bold},        // record_letter
};

double channel(int value) {
  const double v = value / 255.0;
  return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
}

double luminance(const QColor& c) {
  return 0.2126 * channel(c.red()) + 0.7152 * channel(c.green()) + 0.0722 * channel(c.blue());
}

}  // namespace

double contrast_ratio(const QColor& a, const QColor& b) {
  const double la = luminance(a);
  const double lb = luminance(b);
  return (std::max(la, lb) + 0.05) / (std::min(la, lb) + 0.05);
}

Theme::Theme() : colors_(colorsOf(Mode::dark)) { rebuildFonts(); }

Theme& Theme::current() {
  static Theme theme;
  return theme;
}

const Colors& Theme::colorsOf(Mode mode) {
  static const Colors dark = make_dark();
  static const Colors light = make_light();
  static const Colors contrast_dark = make_contrast(true);
  static const Colors contrast_light = make_contrast(false);
  switch (mode) {
    case Mode::light:
      return light;
    case Mode::contrast_light:
      return contrast_light;
    case Mode::contrast_dark:
      return contrast_dark;
    case Mode::dark:
      break;
  }
  return dark;
}

QString Theme::nameOf(Choice choice) {
  switch (choice) {
    case Choice::system:
      return QStringLiteral("system");
    case Choice::light:
      return QStringLiteral("light");
    case Choice::dark:
      return QStringLiteral("dark");
    case Choice::contrast_light:
      return QStringLiteral("contrast-light");
    case Choice::contrast_dark:
      return QStringLiteral("contrast-dark");
  }
  return {};
}

std::optional<Theme::Choice> Theme::choiceOf(const QString& name) {
  for (const Choice choice : {Choice::system, Choice::light, Choice::dark, Choice::contrast_light, Choice::contrast_dark}) {
    if (nameOf(choice) == name) {
      return choice;
    }
  }
  return std::nullopt;
}

void Theme::install(QApplication& application) {
  application_ = &application;
  load_highwater_resources();
  const QStringList files = QDir(QStringLiteral(":/fonts")).entryList(QDir::Files);
  for (const QString& file : files) {
    QFontDatabase::addApplicationFont(QStringLiteral(":/fonts/") + file);
  }
  system_dark_ = application.palette().color(QPalette::Window).lightness() < 128;
  mode_ = system_dark_ ? Mode::dark : Mode::light;
  // Platforms without a desktop have a highlight that nobody chose.
  const QString platform = QGuiApplication::platformName();
  if (platform != QLatin1String("offscreen") && !platform.startsWith(QLatin1String("minimal"))) {
    highlight_ = application.palette().color(QPalette::Highlight);
    auto* scheme = new SystemScheme(&application);
    connect(scheme, &SystemScheme::darkChanged, this, &Theme::setSystemDark);
    scheme->ask();
  }
  application.setStyle(new HighwaterStyle);
  apply();
}

int Theme::lineHeight(FontRole role) const { return px(kRoles[static_cast<std::size_t>(role)].line); }

int Theme::px(double length) const { return static_cast<int>(std::lround(length * scale_)); }

int Theme::keyHueIndex(ByteSpan key) const {
  // Neighbouring keys (tenant-1, tenant-2 …) shall differ, so the low bits of the last byte decide among eight.
  std::uint32_t hash = 0;
  for (const std::byte b : key) {
    hash = hash * 31U + static_cast<std::uint32_t>(b);
  }
  return static_cast<int>((hash - 1U) % 8U);
}

QColor Theme::keyHue(ByteSpan key) const { return colors_.key_hues[static_cast<std::size_t>(keyHueIndex(key))]; }

QColor Theme::onHue(const QColor& hue) const {
  const QColor black = rgb(0x0B0E13);
  const QColor white = rgb(0xFFFFFF);
  return contrast_ratio(black, hue) >= contrast_ratio(white, hue) ? black : white;
}

void Theme::setMode(Mode mode) {
  if (mode == mode_ && application_ == nullptr) {
    return;
  }
  mode_ = mode;
  apply();
}

void Theme::setChoice(Choice choice) {
  choice_ = choice;
  switch (choice) {
    case Choice::system:
      setMode(system_dark_ ? Mode::dark : Mode::light);
      break;
    case Choice::light:
      setMode(Mode::light);
      break;
    case Choice::dark:
      setMode(Mode::dark);
      break;
    case Choice::contrast_light:
      setMode(Mode::contrast_light);
      break;
    case Choice::contrast_dark:
      setMode(Mode::contrast_dark);
      break;
  }
}

void Theme::toggleMode() {
  if (highContrast()) {
    setChoice(dark() ? Choice::contrast_light : Choice::contrast_dark);
  } else {
    setChoice(dark() ? Choice::light : Choice::dark);
  }
}

void Theme::setSystemDark(bool dark) {
  const bool follows = choice_ == Choice::system && dark != system_dark_;
  system_dark_ = dark;
  if (follows) {
    setChoice(Choice::system);
  }
}

void Theme::setScale(double scale) {
  user_scale_ = std::clamp(scale, 0.75, 3.0);
  applyScale();
}

void Theme::setPresenting(bool on) {
  presenting_ = on;
  applyScale();
}

void Theme::applyScale() {
  // The smallest text is 11; a room reads 16.
  const double wanted = presenting_ ? std::max(user_scale_ * 1.5, 16.0 / 11.0) : user_scale_;
  if (std::abs(wanted - scale_) < 1e-6) {
    return;
  }
  const double before = scale_;
  scale_ = wanted;
  if (application_ != nullptr) {
    rescale_windows(before, wanted);
  }
  apply();
}

void Theme::setReduceMotion(bool on) {
  if (on != reduce_motion_) {
    reduce_motion_ = on;
    Q_EMIT changed();
  }
}

void Theme::rebuildFonts() {
  for (std::size_t i = 0; i < kFontRoles; ++i) {
    const RoleSpec& role = kRoles[i];
    QFont font;
    font.setFamilies(role.mono ? QStringList{QStringLiteral("JetBrains Mono"), QStringLiteral("monospace")}
                               : QStringList{QStringLiteral("Inter"), QStringLiteral("sans-serif")});
    font.setPixelSize(std::max(6, px(role.pixels)));
    font.setWeight(role.weight);
    if (role.mono) {
      font.setFixedPitch(true);
      // Ligatures would change the shape of != and >= in data.
      font.setStyleStrategy(QFont::PreferNoShaping);
    }
    fonts_[i] = font;
  }
  QFont& section = fonts_[static_cast<std::size_t>(FontRole::section_label)];
  section.setCapitalization(QFont::AllUppercase);
  section.setLetterSpacing(QFont::AbsoluteSpacing, 0.4 * scale_);
}

void Theme::apply() {
  colors_ = colorsOf(mode_);
  if (highlight_.isValid()) {
    const QColor grounds[] = {colors_.chrome, colors_.canvas, colors_.card, colors_.inset};
    const bool visible = std::all_of(std::begin(grounds), std::end(grounds),
                                     [this](const QColor& ground) { return contrast_ratio(highlight_, ground) >= 3.0; });
    if (visible) {
      colors_.ring = highlight_;
    }
  }
  rebuildFonts();
  QPixmapCache::clear();
  if (application_ != nullptr) {
    application_->setFont(font(FontRole::control));
    application_->setPalette(make_palette(colors_));
    application_->setStyleSheet(make_style_sheet(colors_, scale_, {}));
  }
  Q_EMIT changed();
}

void follow_font(QWidget* widget, FontRole role) {
  const auto apply = [widget, role] { widget->setFont(Theme::current().font(role)); };
  apply();
  QObject::connect(&Theme::current(), &Theme::changed, widget, apply);
}

}  // namespace hw::ui
