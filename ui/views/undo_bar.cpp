// SPDX-License-Identifier: Apache-2.0
#include "ui/views/undo_bar.h"

#include <QHBoxLayout>
#include <QPainter>

#include "ui/theme/theme.h"
#include "ui/window/controls.h"

namespace hw::ui {

UndoBar::UndoBar(QWidget* parent) : QWidget(parent) {
  const Theme& t = Theme::current();
  setObjectName(QStringLiteral("undoBar"));
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(t.px(16), t.px(4), t.px(10), t.px(4));
  row->setSpacing(t.px(10));
  text_ = new TextLabel({}, FontRole::control, TextLabel::Tone::text, this);
  text_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  row->addWidget(text_, 1);
  undo_ = new Button(Button::Kind::normal, {}, tr("Undo"), this);
  undo_->setObjectName(QStringLiteral("undoButton"));
  undo_->setShortcutCap(QStringLiteral("Ctrl Z"));
  connect(undo_, &Button::clicked, this, &UndoBar::undoRequested);
  row->addWidget(undo_);
  close_ = new Button(Button::Kind::quiet, QStringLiteral("close"), {}, this);
  close_->setName(tr("Hide this line"));
  connect(close_, &Button::clicked, this, [this] {
    dismissed_ = true;
    said_.clear();
    refresh();
  });
  row->addWidget(close_);
  hide();
}

void UndoBar::attach(UndoList* list) {
  list_ = list;
  connect(list, &UndoList::changed, this, [this] {
    dismissed_ = false;
    refresh();
  });
  refresh();
}

void UndoBar::say(const QString& text, bool bad) {
  said_ = text;
  bad_ = bad;
  dismissed_ = false;
  refresh();
}

QString UndoBar::text() const { return isHidden() ? QString() : text_->text(); }

void UndoBar::refresh() {
  const UndoList::Entry* entry = list_ == nullptr ? nullptr : list_->newest();
  const bool show = !dismissed_ && (!said_.isEmpty() || entry != nullptr);
  if (show) {
    text_->setText(!said_.isEmpty() ? said_ : tr("%1. It can be taken back for 10 minutes.").arg(entry->text));
    text_->setTone(!said_.isEmpty() && bad_ ? TextLabel::Tone::err : TextLabel::Tone::text);
    text_->setToolTip(text_->text());
    undo_->setVisible(entry != nullptr && !(bad_ && !said_.isEmpty()));
  }
  setVisible(show);
}

void UndoBar::paintEvent(QPaintEvent*) {
  const Colors& c = Theme::current().colors();
  QPainter p(this);
  p.fillRect(rect(), c.chrome);
  p.fillRect(0, 0, width(), 1, c.border);
}

}  // namespace hw::ui
