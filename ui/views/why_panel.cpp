// SPDX-License-Identifier: Apache-2.0
#include "ui/views/why_panel.h"

#include <QHBoxLayout>
#include <QPainter>
#include <QScrollArea>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "ui/painting/shapes.h"
#include "ui/painting/text.h"
#include "ui/theme/theme.h"
#include "ui/views/pane.h"
#include "ui/window/controls.h"

namespace hw::ui {

class WhyPanel::Bars : public QWidget {
 public:
  explicit Bars(QWidget* parent) : QWidget(parent) { setAccessibleName(WhyPanel::tr("Rates and keys")); }

  void show(double arriving, double handled, const std::vector<KeyCounter::Share>& keys) {
    const auto same_keys = [&] {
      return keys.size() == keys_.size() && std::equal(keys.begin(), keys.end(), keys_.begin(), [](const auto& a, const auto& b) {
               return a.key.text() == b.key.text() && std::abs(a.share - b.share) < 0.005;
             });
    };
    if (std::abs(arriving - arriving_) < 0.01 && std::abs(handled - handled_) < 0.01 && same_keys()) {
      return;
    }
    arriving_ = arriving;
    handled_ = handled;
    keys_ = keys;
    const int high = Theme::current().px((arriving_ >= 0 ? 42 : 0) + (keys_.empty() ? 0 : 46));
    if (high != height()) {
      setFixedHeight(high);
    }
    QStringList words;
    if (arriving_ >= 0) {
      words << WhyPanel::tr("%1 arriving, %2 handled").arg(format_rate(arriving_), format_rate(handled_));
    }
    for (const KeyCounter::Share& share : keys_) {
      words << QStringLiteral("%1 %2 %").arg(key_text(share.key.span(), 20)).arg(std::lround(share.share * 100));
    }
    setAccessibleDescription(words.join(QStringLiteral(", ")));
    update();
  }

 protected:
  void paintEvent(QPaintEvent*) override {
    const Theme& t = Theme::current();
    const Colors& c = t.colors();
    QPainter p(this);
    p.scale(t.scale(), t.scale());
    const double wide = width() / t.scale();
    const double left = 78;
    const double room = std::max(40.0, wide - left - 64);
    double y = 4;
    if (arriving_ >= 0) {
      const double most = std::max({arriving_, handled_, 0.001});
      const auto bar = [&](const QString& label, double value, const QColor& soft, const QColor& line) {
        text_left(p, 0, y + 7, label, FontRole::caption, c.text2);
        const double w = std::max(value > 0 ? 2.0 : 0.0, room * value / most);
        p.fillRect(QRectF(left, y + 2, w, 11), soft);
        p.fillRect(QRectF(left, y + 1, w, 2), line);
        const QString text = value < 0.05 ? QStringLiteral("0/s") : format_rate(value);
        text_left(p, left + w + 8, y + 7, text, FontRole::small_data, c.text);
        y += 21;
      };
      bar(WhyPanel::tr("arriving"), arriving_, c.leader_fill, c.leader);
      bar(WhyPanel::tr("handled"), std::max(0.0, handled_), c.ok_fill, c.ok);
    }
    if (!keys_.empty()) {
      text_left(p, 0, y + 8, WhyPanel::tr("keys there"), FontRole::caption, c.text2);
      double x = left;
      const double whole = wide - left - 8;
      double label_end = 0;
      for (const KeyCounter::Share& share : keys_) {
        const double w = whole * share.share;
        if (w < 3) {
          continue;
        }
        p.fillRect(QRectF(x, y + 2, w - 1, 12), t.keyHue(share.key.span()));
        const QString label = QStringLiteral("%1 %2 %").arg(key_text(share.key.span(), 16)).arg(std::lround(share.share * 100));
        const double lw = text_width(label, FontRole::small_data);
        if (x >= label_end && lw <= std::max(w - 4, keys_.size() == 1 ? whole : 0) && x + lw <= wide) {
          text_left(p, x, y + 25, label, FontRole::small_data, c.text2);
          label_end = x + lw + 8;
        }
        x += w;
      }
      p.fillRect(QRectF(x, y + 2, std::max(0.0, left + whole - x), 12), c.inset);
    }
  }

 private:
  double arriving_ = -1;
  double handled_ = -1;
  std::vector<KeyCounter::Share> keys_;
};

WhyPanel::WhyPanel(QWidget* parent) : QWidget(parent) {
  const Theme& t = Theme::current();
  setObjectName(QStringLiteral("whyPanel"));
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(t.px(16), t.px(6), 0, t.px(8));
  column->setSpacing(t.px(6));
  // What it is about and what can be done stay in sight; the words between them scroll where there is little room.
  auto* head = new QHBoxLayout;
  title_ = new TextLabel(tr("Why?"), FontRole::body_strong, TextLabel::Tone::text, this);
  head->addWidget(title_);
  head->addStretch(1);
  chip_ = new Chip(this);
  chip_->setPassive(true);
  head->addWidget(chip_);
  head->setContentsMargins(0, 0, t.px(16), 0);
  column->addLayout(head);
  auto* room = new QScrollArea(this);
  room->setFrameShape(QFrame::NoFrame);
  room->setWidgetResizable(true);
  room->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  room->setFocusPolicy(Qt::NoFocus);
  column->addWidget(room, 1'000);
  room_ = room;
  told_ = new Pane;
  told_->installEventFilter(this);
  installEventFilter(this);
  auto* told = new QVBoxLayout(told_);
  told->setContentsMargins(0, 0, t.px(16), 0);
  told->setSpacing(t.px(6));
  room->setWidget(told_);
  headline_ = new TextLabel({}, FontRole::body_strong, TextLabel::Tone::text, told_);
  headline_->setWordWrap(true);
  told->addWidget(headline_);
  sentences_ = new TextLabel({}, FontRole::body, TextLabel::Tone::text2, told_);
  sentences_->setWordWrap(true);
  told->addWidget(sentences_);
  bars_ = new Bars(told_);
  bars_->setFixedHeight(0);
  told->addWidget(bars_);
  catch_up_ = new TextLabel({}, FontRole::control, TextLabel::Tone::text, told_);
  catch_up_->setWordWrap(true);
  told->addWidget(catch_up_);
  told->addStretch(1);
  auto* row = new QHBoxLayout;
  row->setContentsMargins(0, 0, t.px(16), 0);
  row->setSpacing(t.px(8));
  partition_ = new Button(Button::Kind::normal, {}, tr("Show partition"), this);
  records_ = new Button(Button::Kind::quiet, {}, tr("Records that wait"), this);
  connect(partition_, &Button::clicked, this, &WhyPanel::partitionRequested);
  connect(records_, &Button::clicked, this, &WhyPanel::recordsRequested);
  row->addWidget(partition_);
  row->addWidget(records_);
  row->addStretch(1);
  column->addLayout(row);
  column->addStretch(1);  // what is left over, once the words have all they need
}

void WhyPanel::show(const GroupVerdict& v, const std::vector<KeyCounter::Share>& keys, const QString& status, Glyph glyph) {
  Chip::Tone tone = Chip::Tone::neutral;
  if (glyph == Glyph::disc) {
    tone = Chip::Tone::ok;
  } else if (glyph == Glyph::quarter) {
    tone = Chip::Tone::warn;
  } else if (glyph == Glyph::cross) {
    tone = Chip::Tone::err;
  }
  chip_->setContent(glyph, status, tone);
  const auto set = [](TextLabel* label, const QString& text) {
    if (label->text() != text) {
      label->setText(text);
      label->setVisible(!text.isEmpty());
    }
  };
  set(title_, v.partition >= 0 ? tr("Why is there lag?") : tr("How is it doing?"));
  set(headline_, v.headline);
  set(sentences_, v.sentences.join(QLatin1Char(' ')));
  set(catch_up_, v.catch_up);
  catch_up_->setTone(v.never ? TextLabel::Tone::warn : TextLabel::Tone::text);
  bars_->show(v.arriving, v.handled, keys);
  partition_->setVisible(v.partition >= 0);
  records_->setVisible(v.partition >= 0);
  holdHeights();
}

bool WhyPanel::eventFilter(QObject* object, QEvent* event) {
  if ((object == told_ || object == this) && event->type() == QEvent::Resize) {
    holdHeights();
  }
  return QWidget::eventFilter(object, event);
}

void WhyPanel::holdHeights() {
  const QMargins margins = told_->layout()->contentsMargins();
  const int width = told_->width() - margins.left() - margins.right();
  int high = 0;
  for (TextLabel* label : {headline_, sentences_, catch_up_}) {
    if (!label->text().isEmpty() && width > 0) {
      // Not heightForWidth(): a label never says less than the height it was held at before.
      const int lines = label->fontMetrics().boundingRect(0, 0, width, 10'000, Qt::TextWordWrap | Qt::AlignLeft, label->text()).height();
      if (label->maximumHeight() != lines) {
        label->setFixedHeight(lines);
      }
      high += lines + told_->layout()->spacing();
    }
  }
  // The bars say once more what the words say: where only part of them would be seen they are left out.
  const int spacing = layout()->spacing();
  const int beside = chip_->sizeHint().height() + (partition_->isHidden() ? 0 : partition_->sizeHint().height() + spacing) + spacing;
  const int rest = contentsRect().height() - layout()->contentsMargins().top() - layout()->contentsMargins().bottom() - beside;
  const int with_bars = high + bars_->maximumHeight() + told_->layout()->spacing();
  const bool whole = bars_->maximumHeight() > 0 && (with_bars <= rest || high > rest);
  bars_->setVisible(whole);
  room_->setMaximumHeight(whole ? with_bars : high + told_->layout()->spacing());
}

QString WhyPanel::text() const {
  return QStringList{headline_->text(), sentences_->text(), catch_up_->text()}.join(QLatin1Char(' '));
}

}  // namespace hw::ui
