// SPDX-License-Identifier: Apache-2.0
#include "ui/dialogs/question_dialog.h"

#include <QGridLayout>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/dialogs/dialog_parts.h"
#include "ui/theme/theme.h"
#include "ui/window/controls.h"

namespace hw::ui {

QuestionDialog::QuestionDialog(const QString& title, const QString& text, QWidget* parent) : QDialog(parent) {
  const Theme& t = Theme::current();
  setWindowTitle(title);
  setMinimumWidth(t.px(460));
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(t.px(20), t.px(18), t.px(20), t.px(16));
  column->setSpacing(t.px(8));
  column->addWidget(new TextLabel(title, FontRole::page_title, TextLabel::Tone::text, this));
  auto* words = new TextLabel(text, FontRole::body, TextLabel::Tone::text2, this);
  words->setTextFormat(Qt::RichText);
  words->setWordWrap(true);
  column->addWidget(words);
  body_ = new QVBoxLayout;
  body_->setSpacing(t.px(6));
  column->addLayout(body_);
  failure_ = add_failure_line(column, this);
  column->addSpacing(t.px(8));
  answers_ = new QHBoxLayout;
  answers_->setSpacing(t.px(8));
  answers_->addStretch(1);
  column->addLayout(answers_);
  new FocusRing(this);
}

void QuestionDialog::showEvent(QShowEvent* event) {
  // Words wrap, so the height follows the width.
  const int wide = std::max(width(), minimumWidth());
  resize(wide, layout()->totalHeightForWidth(wide));
  QDialog::showEvent(event);
}

void QuestionDialog::addFact(const QString& key, const QString& value) {
  auto* label = new TextLabel(value, FontRole::data, TextLabel::Tone::text, this);
  label->setWordWrap(true);
  addLine(key, label);
}

void QuestionDialog::addCommand(const QString& command) {
  auto* line = new CommandLine(this);
  line->setTone(TextLabel::Tone::text2);
  line->setCommand(command);
  setMinimumWidth(Theme::current().px(520));
  addLine(tr("Same as"), line);
}

void QuestionDialog::addLine(const QString& key, QWidget* value) {
  const Theme& t = Theme::current();
  if (facts_ == nullptr) {
    facts_ = new QGridLayout;
    facts_->setHorizontalSpacing(t.px(16));
    facts_->setVerticalSpacing(t.px(4));
    facts_->setColumnStretch(1, 1);
    body_->addSpacing(t.px(4));
    body_->addLayout(facts_);
  }
  facts_->addWidget(new TextLabel(key, FontRole::control, TextLabel::Tone::text2, this), fact_count_, 0, Qt::AlignTop);
  facts_->addWidget(value, fact_count_, 1);
  ++fact_count_;
}

QLineEdit* QuestionDialog::addInput(const QString& label, const QString& value) {
  if (!label.isEmpty()) {
    body_->addWidget(new TextLabel(label, FontRole::control, TextLabel::Tone::text2, this));
  }
  auto* edit = new QLineEdit(value, this);
  edit->setAccessibleName(label);
  edit->setStyleSheet(QStringLiteral("font-family: \"JetBrains Mono\";"));
  body_->addWidget(edit);
  edit->setFocus();
  return edit;
}

Button* QuestionDialog::addAnswer(const QString& text, AnswerKind kind) {
  Button::Kind look = Button::Kind::normal;
  switch (kind) {
    case AnswerKind::primary:
      look = Button::Kind::primary;
      break;
    case AnswerKind::normal:
      look = Button::Kind::normal;
      break;
    case AnswerKind::danger:
      look = Button::Kind::danger;
      break;
  }
  auto* button = new Button(look, {}, text, this);
  const int index = answer_count_++;
  connect(button, &Button::clicked, this, [this, index] {
    Q_EMIT answered(index);
    done(index + 1);
  });
  answers_->addWidget(button);
  return button;
}

Button* QuestionDialog::addCancel() { return addAnswer(cancel_text(), AnswerKind::normal); }

void QuestionDialog::setFailure(const QString& text) {
  failure_->setText(text);
  failure_->setVisible(!text.isEmpty());
}

}  // namespace hw::ui
