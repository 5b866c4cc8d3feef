// SPDX-License-Identifier: Apache-2.0
#include "ui/window/fault_bar.h"

#include <QHBoxLayout>
#include <QPainter>

#include "ui/theme/glyphs.h"
#include "ui/theme/theme.h"
#include "ui/window/controls.h"

namespace hw::ui {

FaultBar::FaultBar(QWidget* parent) : QWidget(parent) {
  setObjectName(QStringLiteral("faultBar"));
  const Theme& t = Theme::current();
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(t.px(38), t.px(5), t.px(16), t.px(6));
  row->setSpacing(t.px(12));
  text_ = new TextLabel({}, FontRole::body, TextLabel::Tone::text, this);
  text_->setObjectName(QStringLiteral("faultText"));
  text_->setTextFormat(Qt::RichText);
  text_->setWordWrap(true);
  text_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  row->addWidget(text_, 1);
  mend_ = new Button(Button::Kind::normal, {}, {}, this);
  mend_->setObjectName(QStringLiteral("faultMend"));
  connect(mend_, &QAbstractButton::clicked, this, [this] {
    if (facts_.start >= 0) {
      Q_EMIT startRequested(facts_.start);
    } else {
      Q_EMIT healRequested();
    }
  });
  row->addWidget(mend_, 0, Qt::AlignVCenter);
  hide();
}

void FaultBar::take(const FaultFacts& facts) {
  if (facts == facts_) {
    return;
  }
  facts_ = facts;
  text_->setText(QStringLiteral("<b>%1</b> %2").arg(facts.headline.toHtmlEscaped(), facts.meaning.toHtmlEscaped()));
  setAccessibleName(tr("What is wrong"));
  setAccessibleDescription(QStringLiteral("%1 %2").arg(facts.headline, facts.meaning));
  mend_->setText(facts.start >= 0 ? tr("Start node %1").arg(facts.start) : tr("Heal all"));
  mend_->setToolTip(facts.start >= 0 ? tr("Starts it again, so that it catches up") : tr("Starts, resumes and connects every node again"));
  mend_->setVisible(facts.start >= 0 || facts.heal);
  setVisible(facts.any);
  update();
}

void FaultBar::paintEvent(QPaintEvent*) {
  const Theme& t = Theme::current();
  const Colors& c = t.colors();
  QPainter p(this);
  p.fillRect(rect(), facts_.bad ? c.err_tint : c.warn_tint);
  p.fillRect(QRect(0, 0, t.px(3), height()), facts_.bad ? c.err : c.warn_line);
  p.fillRect(QRect(0, height() - 1, width(), 1), c.border);
  paint_glyph(p, facts_.bad ? Glyph::cross : Glyph::quarter, QPointF(t.pxf(22), height() / 2.0), t.pxf(13));
}

}  // namespace hw::ui
