// SPDX-License-Identifier: Apache-2.0
#include "ui/dialogs/dialog_parts.h"

#include <QCoreApplication>
#include <QDialog>
#include <QEvent>
#include <QFontMetricsF>
#include <QHBoxLayout>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <utility>

#include "ui/theme/theme.h"

namespace hw::ui {

CommandLine::CommandLine(QWidget* parent) : TextLabel({}, FontRole::small_data, Tone::text3, parent) {
  setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  setFocusPolicy(Qt::ClickFocus);
  QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Minimum);
  policy.setHeightForWidth(true);
  setSizePolicy(policy);
  setAlignment(Qt::AlignLeft | Qt::AlignTop);
}

void CommandLine::setCommand(const QString& command) {
  if (command != command_) {
    command_ = command;
    setText(broken(width()));
    updateGeometry();
  }
}

QString CommandLine::broken(int width) const {
  const QFontMetricsF metrics(font());
  const double room = std::max(width, Theme::current().px(120)) - metrics.horizontalAdvance(QStringLiteral(" \\")) - 1;
  QStringList lines;
  for (const QString& command : command_.split(QLatin1Char('\n'))) {
    QString line;
    // An option and its value stay together.
    QStringList arguments;
    for (const QString& word : command.split(QLatin1Char(' '))) {
      const bool value = !arguments.isEmpty() && arguments.last().startsWith(QLatin1Char('-')) && !arguments.last().contains(QLatin1Char(' ')) &&
                         !word.startsWith(QLatin1Char('-'));
      if (value) {
        arguments.last() += QLatin1Char(' ') + word;
      } else {
        arguments << word;
      }
    }
    for (const QString& argument : std::as_const(arguments)) {
      const QString longer = line.isEmpty() ? argument : line + QLatin1Char(' ') + argument;
      if (line.trimmed().isEmpty() || metrics.horizontalAdvance(longer) <= room) {
        line = longer;
      } else {
        lines << line + QStringLiteral(" \\");
        line = QStringLiteral("  ") + argument;
      }
      // One argument alone may be longer than the line: what follows then begins at the very left, and the shell joins it.
      while (metrics.horizontalAdvance(line) > room) {
        qsizetype fits = line.size() - 1;
        while (fits > 8 && metrics.horizontalAdvance(line.left(fits)) > room) {
          --fits;
        }
        const qsizetype comma = std::max(line.lastIndexOf(QLatin1Char(','), fits - 2), line.lastIndexOf(QLatin1Char('|'), fits - 2));
        const qsizetype at = comma > fits / 2 ? comma + 1 : fits;
        // Between quotation marks a backslash is a backslash: they are closed and opened again, which the shell joins too.
        const QString quote = line.left(at).count(QLatin1Char('\'')) % 2 == 1 ? QStringLiteral("'") : QString();
        lines << line.left(at) + quote + QLatin1Char('\\');
        line = quote + line.mid(at);
      }
    }
    lines << line;
  }
  return lines.join(QLatin1Char('\n'));
}

int CommandLine::heightForWidth(int width) const {
  // The label rounds each of its lines up.
  const int line = static_cast<int>(std::ceil(QFontMetricsF(font()).lineSpacing()));
  return command_.isEmpty() ? 0 : static_cast<int>(broken(width).count(QLatin1Char('\n')) + 1) * line + 1;
}

QSize CommandLine::sizeHint() const {
  const int wide = Theme::current().px(300);
  return {wide, heightForWidth(std::max(wide, width()))};
}

QSize CommandLine::minimumSizeHint() const { return {Theme::current().px(120), command_.isEmpty() ? 0 : fontMetrics().lineSpacing()}; }

void CommandLine::resizeEvent(QResizeEvent* event) {
  TextLabel::resizeEvent(event);
  const QString text = broken(width());
  if (text != this->text()) {
    setText(text);
  }
}

void CommandLine::changeEvent(QEvent* event) {
  TextLabel::changeEvent(event);
  if (event->type() == QEvent::FontChange) {
    setText(broken(width()));
  }
}

CommandLine* add_command_line(QVBoxLayout* column, QDialog* dialog) {
  auto* line = new CommandLine(dialog);
  column->addWidget(line);
  return line;
}

TextLabel* add_failure_line(QVBoxLayout* column, QDialog* dialog) {
  auto* line = new TextLabel({}, FontRole::control, TextLabel::Tone::err, dialog);
  line->setWordWrap(true);
  line->hide();
  column->addWidget(line);
  return line;
}

QString cancel_text() { return QCoreApplication::translate("Dialogs", "Cancel"); }

AnswerRow add_answer_row(QVBoxLayout* column, QDialog* dialog, const QString& accept, Button::Kind kind, const QString& note) {
  auto* row = new QHBoxLayout;
  row->setSpacing(Theme::current().px(8));
  if (!note.isEmpty()) {
    row->addWidget(new TextLabel(note, FontRole::caption, TextLabel::Tone::text3, dialog));
  }
  row->addStretch(1);
  auto* cancel = new Button(Button::Kind::normal, {}, cancel_text(), dialog);
  QObject::connect(cancel, &Button::clicked, dialog, &QDialog::reject);
  row->addWidget(cancel);
  auto* yes = new Button(kind, {}, accept, dialog);
  row->addWidget(yes);
  column->addLayout(row);
  return {cancel, yes};
}

}  // namespace hw::ui
