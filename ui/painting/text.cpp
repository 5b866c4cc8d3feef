// SPDX-License-Identifier: Apache-2.0
#include "ui/painting/text.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QFontMetricsF>
#include <QLocale>
#include <QPainter>
#include <array>
#include <cmath>
#include <optional>

namespace hw::ui {

namespace {

struct RoleFont {
  QFont font;
  double cap_height = 0;
  double mono_advance = 0;  // 0: proportional
};

// Rebuilt when the theme changes (its fonts may be other families after install()).
class Fonts {
 public:
  static Fonts& instance() {
    static Fonts fonts;
    return fonts;
  }
  const RoleFont& at(FontRole role) {
    auto& slot = fonts_[static_cast<std::size_t>(role)];
    if (!slot) {
      slot = make(role);
    }
    return *slot;
  }

 private:
  Fonts() {
    QObject::connect(&Theme::current(), &Theme::changed, &Theme::current(), [this] { fonts_ = {}; });
  }
  static RoleFont make(FontRole role) {
    const Theme& theme = Theme::current();
    RoleFont made;
    made.font = theme.font(role);
    made.font.setPixelSize(std::max(1, static_cast<int>(std::lround(made.font.pixelSize() / theme.scale()))));
    if (made.font.letterSpacingType() == QFont::AbsoluteSpacing && made.font.letterSpacing() > 0) {
      made.font.setLetterSpacing(QFont::AbsoluteSpacing, made.font.letterSpacing() / theme.scale());
    }
    const QFontMetricsF metrics(made.font);
    made.cap_height = metrics.capHeight();
    switch (role) {
      case FontRole::headline_number:
      case FontRole::data:
      case FontRole::data_strong:
      case FontRole::data_title:
      case FontRole::small_data:
      case FontRole::small_data_strong:
      case FontRole::record_letter:
        made.mono_advance = metrics.horizontalAdvance(QLatin1Char('0'));
        break;
      case FontRole::display:
      case FontRole::page_title:
      case FontRole::body:
      case FontRole::body_strong:
      case FontRole::control:
      case FontRole::control_medium:
      case FontRole::control_strong:
      case FontRole::caption:
      case FontRole::caption_strong:
      case FontRole::section_label:
        break;
    }
    return made;
  }
  std::array<std::optional<RoleFont>, kFontRoles> fonts_;
};

bool plain(const QString& text) {
  for (const QChar c : text) {
    if (c.unicode() < 0x20 || c.unicode() > 0x7e) {
      return false;
    }
  }
  return true;
}

QString scaled(double value, const QString& unit) {
  const int decimals = value < 9.95 && std::abs(value - std::round(value)) > 0.05 ? 1 : 0;
  return QLocale().toString(value, 'f', decimals) + unit;
}

}  // namespace

const QFont& canvas_font(FontRole role) { return Fonts::instance().at(role).font; }

double text_width(const QString& text, FontRole role) {
  const RoleFont& font = Fonts::instance().at(role);
  if (font.mono_advance > 0 && plain(text)) {
    return font.mono_advance * static_cast<double>(text.size());
  }
  return QFontMetricsF(font.font).horizontalAdvance(text);
}

QString elided(const QString& text, FontRole role, double width, Qt::TextElideMode mode) {
  if (text_width(text, role) <= width) {
    return text;
  }
  return QFontMetricsF(canvas_font(role)).elidedText(text, mode, std::max(0.0, width));
}

void text_left(QPainter& painter, double x, double y, const QString& text, FontRole role, const QColor& color) {
  if (text.isEmpty()) {
    return;
  }
  const RoleFont& font = Fonts::instance().at(role);
  painter.setFont(font.font);
  painter.setPen(color);
  painter.drawText(QPointF(x, std::round(y + font.cap_height / 2)), text);
}

void text_right(QPainter& painter, double x, double y, const QString& text, FontRole role, const QColor& color) {
  text_left(painter, x - text_width(text, role), y, text, role, color);
}

void text_center(QPainter& painter, double x, double y, const QString& text, FontRole role, const QColor& color) {
  text_left(painter, x - text_width(text, role) / 2, y, text, role, color);
}

double text_fit(QPainter& painter, double x, double y, double width, const QString& text, FontRole role,
                const QColor& color, Qt::TextElideMode mode) {
  const QString shown = elided(text, role, width, mode);
  text_left(painter, x, y, shown, role, color);
  return text_width(shown, role);
}

QString format_count(std::int64_t value) { return QLocale().toString(static_cast<qlonglong>(value)); }

QString format_offset(std::int64_t offset) { return QString::number(offset); }

QString format_rate(double per_second) {
  if (!(per_second >= 0.05)) {
    return {};
  }
  const QString unit = QCoreApplication::translate("Format", "/s", "per second, after a number");
  if (per_second < 999.5) {
    return scaled(per_second, unit);
  }
  if (per_second < 999'500) {
    return scaled(per_second / 1e3, QLatin1Char('k') + unit);
  }
  return scaled(per_second / 1e6, QLatin1Char('M') + unit);
}

QString format_bytes(std::int64_t bytes) {
  if (bytes < 1'024) {
    return QStringLiteral("%1 B").arg(bytes);
  }
  static constexpr std::array<const char*, 5> units = {" KiB", " MiB", " GiB", " TiB", " PiB"};
  double value = static_cast<double>(bytes) / 1'024;
  std::size_t unit = 0;
  while (value >= 1'023.5 && unit + 1 < units.size()) {
    value /= 1'024;
    ++unit;
  }
  const int decimals = value < 99.95 ? 1 : 0;
  return QLocale().toString(value, 'f', decimals) + QLatin1String(units[unit]);
}

QString format_time(std::int64_t ms) {
  return ms < 0 ? QString() : QDateTime::fromMSecsSinceEpoch(ms).toString(QStringLiteral("HH:mm:ss.zzz"));
}

QString format_date_time(std::int64_t ms) {
  return ms < 0 ? QString() : QDateTime::fromMSecsSinceEpoch(ms).toString(QStringLiteral("yyyy-MM-dd HH:mm:ss.zzz"));
}

QString format_duration(std::int64_t ms) {
  const auto tr = [](const char* text) { return QCoreApplication::translate("Format", text); };
  if (ms < 1'000) {
    return tr("%1 ms").arg(std::max<std::int64_t>(0, ms));
  }
  if (ms < 60'000) {
    return tr("%1 s").arg(QLocale().toString(static_cast<double>(ms) / 1'000, 'f', ms < 10'000 ? 1 : 0));
  }
  if (ms < 3'600'000) {
    return tr("%1 min").arg(ms / 60'000);
  }
  if (ms < 86'400'000) {
    return tr("%1 h").arg(ms / 3'600'000);
  }
  return tr("%1 d").arg(ms / 86'400'000);
}

}  // namespace hw::ui
