// SPDX-License-Identifier: Apache-2.0
#include "ui/window/command_box.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QPainter>

#include "ui/window/controls.h"
#include "ui/window/elided_label.h"

namespace hw::ui {

CommandBox::CommandBox(const QString& command, const QString& prompt, QWidget* parent) : QWidget(parent), command_(command) {
  Theme& t = Theme::current();
  setFixedHeight(t.px(34));
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(t.px(9), 0, t.px(6), 0);
  row->setSpacing(t.px(7));
  if (!prompt.isEmpty()) {
    row->addWidget(new TextLabel(prompt, FontRole::data, TextLabel::Tone::text3, this));
  }
  line_ = new ElidedLabel(FontRole::data, TextLabel::Tone::text, Qt::ElideRight, this);
  line_->setText(command);
  line_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  line_->setTextFormat(Qt::PlainText);
  line_->setMinimumWidth(0);
  line_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  row->addWidget(line_, 1);
  auto* copy = new Button(Button::Kind::quiet, QStringLiteral("copy"), {}, this);
  copy->setName(tr("Copy command"));
  connect(copy, &Button::clicked, this, [this] { QGuiApplication::clipboard()->setText(command_); });
  row->addWidget(copy);
  setAccessibleName(command);
}

void CommandBox::setCommand(const QString& command) {
  command_ = command;
  line_->setText(command);
  setAccessibleName(command);
}

void CommandBox::paintEvent(QPaintEvent*) {
  const Colors& c = Theme::current().colors();
  QPainter p(this);
  p.setRenderHint(QPainter::Antialiasing);
  p.setPen(QPen(c.border, 1.0));
  p.setBrush(c.inset);
  p.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4);
}

}  // namespace hw::ui
