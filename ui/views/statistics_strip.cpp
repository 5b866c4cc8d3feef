// SPDX-License-Identifier: Apache-2.0
#include "ui/views/statistics_strip.h"

#include <QPainter>
#include <algorithm>

#include "ui/painting/shapes.h"
#include "ui/painting/text.h"
#include "ui/theme/theme.h"

namespace hw::ui {

StatisticsStrip::StatisticsStrip(QWidget* parent) : QWidget(parent) {
  setFixedHeight(Theme::current().px(52));
  connect(&Theme::current(), &Theme::changed, this, [this] {
    setFixedHeight(Theme::current().px(52));
    widths_.clear();
    update();
  });
}

void StatisticsStrip::setValues(std::vector<Value> values) {
  if (values == values_) {
    return;
  }
  if (values.size() != values_.size()) {
    widths_.clear();
  }
  values_ = std::move(values);
  QStringList words;
  for (const Value& v : values_) {
    words << QStringLiteral("%1 %2").arg(v.value, v.label);
  }
  setAccessibleName(words.join(QStringLiteral(", ")));
  update();
}

void StatisticsStrip::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::current();
  const Colors& c = theme.colors();
  QPainter p(this);
  p.fillRect(rect(), c.canvas);
  p.scale(theme.scale(), theme.scale());
  const double whole = width() / theme.scale();
  widths_.resize(values_.size(), 0);
  double x = Metrics::kPagePadding;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const Value& v = values_[i];
    widths_[i] = std::max({widths_[i], text_width(v.value, FontRole::headline_number), text_width(v.label, FontRole::caption)});
    if (x + widths_[i] > whole - 8) {
      break;
    }
    if (i > 0) {
      paint_vline(p, x - 17, 10, 42, c.hair);
    }
    text_left(p, x, 18, v.value, FontRole::headline_number, v.warn ? c.warn_t : c.text);
    text_left(p, x, 36, v.label, FontRole::caption, c.text2);
    x += widths_[i] + 34;
  }
  paint_hline(p, 0, whole, 51, c.hair);
}

}  // namespace hw::ui
