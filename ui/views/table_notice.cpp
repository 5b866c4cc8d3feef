// SPDX-License-Identifier: Apache-2.0
#include "ui/views/table_notice.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QPainter>
#include <QVBoxLayout>

#include "ui/theme/theme.h"
#include "ui/window/controls.h"

namespace hw::ui {

TableNotice::TableNotice(QWidget* table) : QWidget(table) {
  const Theme& t = Theme::current();
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(t.px(16), t.px(8), t.px(16), t.px(8));
  column->setSpacing(t.px(6));
  column->addStretch(1);
  title_ = new TextLabel({}, FontRole::page_title, TextLabel::Tone::text, this);
  title_->setAlignment(Qt::AlignHCenter);
  title_->setWordWrap(true);
  text_ = new TextLabel({}, FontRole::body, TextLabel::Tone::text2, this);
  text_->setAlignment(Qt::AlignHCenter);
  text_->setWordWrap(true);
  column->addWidget(title_);
  column->addWidget(text_);
  auto* row = new QHBoxLayout;
  row->setSpacing(t.px(8));
  row->addStretch(1);
  action_ = new Button(Button::Kind::normal, {}, {}, this);
  second_ = new Button(Button::Kind::quiet, {}, {}, this);
  row->addWidget(action_);
  row->addWidget(second_);
  row->addStretch(1);
  column->addSpacing(t.px(4));
  column->addLayout(row);
  column->addStretch(2);
  connect(action_, &QAbstractButton::clicked, this, [this] {
    if (const auto run = run_) {
      run();
    }
  });
  connect(second_, &QAbstractButton::clicked, this, [this] {
    if (const auto run = run_second_) {
      run();
    }
  });
  table->installEventFilter(this);
  hide();
}

void TableNotice::show(const Content& content) {
  title_->setText(content.title);
  title_->setTone(content.failed ? TextLabel::Tone::err : TextLabel::Tone::text);
  text_->setText(content.text);
  text_->setVisible(!content.text.isEmpty());
  action_->setText(content.action);
  action_->setVisible(!content.action.isEmpty());
  action_->updateGeometry();
  second_->setText(content.second);
  second_->setVisible(!content.second.isEmpty());
  second_->updateGeometry();
  run_ = content.run;
  run_second_ = content.run_second;
  place();
  QWidget::show();
  raise();
}

QString TableNotice::title() const { return title_->text(); }
QString TableNotice::text() const { return text_->text(); }

void TableNotice::place() {
  const int head = Theme::current().px(Metrics::kRowHeader) + 2;
  const QWidget* table = parentWidget();
  setGeometry(0, head, table->width() - Theme::current().px(12), std::max(0, table->height() - head));
}

bool TableNotice::eventFilter(QObject* object, QEvent* event) {
  if (object == parentWidget() && event->type() == QEvent::Resize) {
    place();
  }
  return QWidget::eventFilter(object, event);
}

void TableNotice::paintEvent(QPaintEvent*) { QPainter(this).fillRect(rect(), Theme::current().colors().canvas); }

}  // namespace hw::ui
