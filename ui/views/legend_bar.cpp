// SPDX-License-Identifier: Apache-2.0
#include "ui/views/legend_bar.h"

#include <QPainter>

#include "ui/painting/text.h"
#include "ui/theme/theme.h"

namespace hw::ui {

LegendBar::LegendBar(std::vector<Entry> entries, QWidget* parent) : QWidget(parent), entries_(std::move(entries)) {
  setFixedHeight(Theme::current().px(34));
  QStringList words;
  for (const Entry& entry : entries_) {
    words.push_back(entry.text);
  }
  setAccessibleName(tr("Legend"));
  setAccessibleDescription(words.join(QStringLiteral(", ")));
  connect(&Theme::current(), &Theme::changed, this, [this] {
    setFixedHeight(Theme::current().px(34));
    update();
  });
}

void LegendBar::setNarrow(bool narrow) {
  if (narrow != narrow_) {
    narrow_ = narrow;
    update();
  }
}

QSize LegendBar::sizeHint() const { return {400, Theme::current().px(34)}; }

void LegendBar::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::current();
  QPainter p(this);
  p.fillRect(rect(), theme.colors().canvas);
  p.scale(theme.scale(), theme.scale());
  const double room = width() / theme.scale() - Metrics::kPagePadding;
  const double middle = height() / theme.scale() / 2;
  double x = Metrics::kPagePadding + 4;
  for (const Entry& entry : entries_) {
    const double needed = entry.width + 8 + text_width(entry.text, FontRole::caption);
    if (x + needed > room || (narrow_ && entry.rare)) {
      continue;
    }
    entry.paint(p, QPointF(x, middle));
    text_left(p, x + entry.width + 8, middle, entry.text, FontRole::caption, theme.colors().text2);
    x += needed + 20;
  }
}

}  // namespace hw::ui
