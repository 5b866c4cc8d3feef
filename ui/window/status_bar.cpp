// SPDX-License-Identifier: Apache-2.0
#include "ui/window/status_bar.h"

#include <QFontMetrics>
#include <QPainter>
#include <utility>

#include "ui/painting/text.h"
#include "ui/theme/theme.h"

namespace hw::ui {

namespace {

QString rate(double per_second) {
  if (per_second < 0.05) {
    return QStringLiteral("0");
  }
  QString text = format_rate(per_second);
  return text.replace(QLatin1String("/s"), QString()).trimmed();
}

}  // namespace

StatusBar::StatusBar(QWidget* parent) : QWidget(parent) {
  const auto resize = [this] { setFixedHeight(Theme::current().px(Metrics::kStatusBar)); };
  resize();
  connect(&Theme::current(), &Theme::changed, this, resize);
}

void StatusBar::setValues(const Values& v) {
  std::vector<Part> parts;
  parts.push_back({tr("%Ln client(s)", nullptr, static_cast<int>(v.clients)), v.port, {}, Glyph::none});
  parts.push_back({{}, rate(v.records_in), tr("rec/s in"), Glyph::none});
  parts.push_back({{}, rate(v.records_out), tr("rec/s out"), Glyph::none});
  if (v.frame_ms > 0) {
    parts.push_back({tr("UI"), tr("%1 ms").arg(v.frame_ms, 0, 'f', 1), {}, Glyph::none});
  } else {
    parts.push_back({tr("UI idle"), {}, {}, Glyph::none});
  }
  if (v.lost > 0) {
    parts.push_back({tr("%Ln event(s) not shown", nullptr, static_cast<int>(v.lost)), {}, {}, Glyph::quarter});
  }
  const QString right = v.message.isEmpty() ? v.hint : v.message;
  if (parts == parts_ && right == right_ && v.message_bad == right_bad_) {
    return;
  }
  parts_ = std::move(parts);
  right_ = right;
  right_bad_ = v.message_bad && !v.message.isEmpty();
  QStringList spoken;
  for (const Part& part : parts_) {
    spoken << QStringList{part.data, part.words, part.after}.join(QLatin1Char(' ')).simplified();
  }
  spoken << right_;
  spoken_ = spoken.join(QStringLiteral(", "));
  setAccessibleName(spoken_);
  update();
}

void StatusBar::paintEvent(QPaintEvent*) {
  const Theme& t = Theme::current();
  const Colors& c = t.colors();
  QPainter p(this);
  p.fillRect(rect(), c.chrome);
  p.fillRect(0, 0, width(), 1, c.border);
  const QFontMetrics word_metrics(t.font(FontRole::control));
  const QFontMetrics data_metrics(t.font(FontRole::data));
  int x = t.px(14);
  const QRect line(0, 1, width(), height() - 1);
  const auto write = [&](const QString& text, FontRole role, const QColor& color, const QFontMetrics& metrics) {
    if (text.isEmpty()) {
      return;
    }
    p.setFont(t.font(role));
    p.setPen(color);
    const int w = metrics.horizontalAdvance(text);
    p.drawText(QRect(x, line.top(), w + 2, line.height()), Qt::AlignVCenter | Qt::AlignLeft, text);
    x += w + t.px(5);
  };
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const Part& part = parts_[i];
    if (part.glyph != Glyph::none) {
      paint_glyph(p, part.glyph, QPointF(x + t.pxf(5), height() / 2.0), t.pxf(10));
      x += t.px(15);
    }
    // "9092 4 clients" and "12 rec/s in": data first; "UI 2.1 ms": words first.
    const bool words_first = part.words == tr("UI");
    if (words_first) {
      write(part.words, FontRole::control, c.text2, word_metrics);
    }
    write(part.data, FontRole::data, c.text2, data_metrics);
    if (!words_first) {
      write(part.words, FontRole::control, c.text2, word_metrics);
    }
    write(part.after, FontRole::control, c.text2, word_metrics);
    if (i + 1 < parts_.size()) {
      x += t.px(5);
      p.fillRect(x, (height() - t.px(14)) / 2, 1, t.px(14), c.border);
      x += t.px(11);
    }
  }
  p.setFont(t.font(FontRole::control));
  p.setPen(right_bad_ ? c.err_t : c.text2);
  const int room = width() - x - t.px(26);
  if (room > t.px(60)) {
    p.drawText(QRect(width() - t.px(12) - room, line.top(), room, line.height()), Qt::AlignVCenter | Qt::AlignRight,
               word_metrics.elidedText(right_, Qt::ElideRight, room));
  }
}

}  // namespace hw::ui
