// SPDX-License-Identifier: Apache-2.0
#include "ui/dialogs/shortcuts_dialog.h"

#include <QGridLayout>
#include <QHBoxLayout>
#include <QPainter>
#include <QScrollArea>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/theme/theme.h"
#include "ui/window/controls.h"

namespace hw::ui {

namespace {

class Cap : public QWidget {
 public:
  Cap(const QString& keys, QWidget* parent) : QWidget(parent), keys_(keys) {
    setFixedSize(cap_width(keys) + 4, Theme::current().px(18));
    setAccessibleName(keys);
  }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter p(this);
    paint_cap(p, QRectF(rect()), keys_, Theme::current().colors().control, Theme::current().colors().text);
  }

 private:
  QString keys_;
};

}  // namespace

ShortcutsDialog::ShortcutsDialog(const CommandRegistry& commands, QWidget* parent) : QDialog(parent) {
  const Theme& t = Theme::current();
  setWindowTitle(tr("Keys"));
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(t.px(20), t.px(18), t.px(20), t.px(16));
  column->setSpacing(t.px(10));
  column->addWidget(new TextLabel(tr("Keys"), FontRole::page_title, TextLabel::Tone::text, this));
  column->addWidget(new TextLabel(tr("Single letters and digits act while no text field has the focus. "
                                     "Everything else is in the palette."),
                                  FontRole::control, TextLabel::Tone::text2, this));
  // In a low window the list scrolls, and the button stays in sight.
  auto* room = new QScrollArea(this);
  room->setFrameShape(QFrame::NoFrame);
  room->setWidgetResizable(true);
  room->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  room->setAccessibleName(tr("Keys"));
  auto* list = new QWidget;
  auto* grid = new QGridLayout(list);
  grid->setContentsMargins(0, 0, 0, 0);
  grid->setHorizontalSpacing(t.px(12));
  grid->setVerticalSpacing(t.px(6));
  std::vector<const Command*> keyed;
  for (const Command& command : commands.all()) {
    if (!command.shortcut.isEmpty()) {
      keyed.push_back(&command);
    }
  }
  // Three columns are low enough to leave the dock in sight, where the window is wide enough for them.
  const int columns = parent == nullptr || parent->window()->width() >= t.px(1'060) ? 3 : 2;
  const int rows = (static_cast<int>(keyed.size()) + columns - 1) / columns;
  for (int i = 0; i < static_cast<int>(keyed.size()); ++i) {
    const Command& command = *keyed[static_cast<std::size_t>(i)];
    const int row = i % rows;
    const int base = i / rows * 3;
    grid->addWidget(new Cap(command.shortcut.toString(QKeySequence::NativeText), list), row, base, Qt::AlignRight);
    grid->addWidget(new TextLabel(command.title, FontRole::control, TextLabel::Tone::text, list), row, base + 1);
  }
  for (int i = 1; i < columns; ++i) {
    grid->setColumnMinimumWidth(i * 3 - 1, t.px(16));
  }
  room->setWidget(list);
  room->viewport()->setAutoFillBackground(false);
  list->setAutoFillBackground(false);  // the dialog is the ground
  const QSize whole = list->sizeHint();
  const int most = parent == nullptr ? whole.height() : std::max(t.px(200), parent->window()->height() - t.px(180));
  room->setFocusPolicy(whole.height() > most ? Qt::StrongFocus : Qt::NoFocus);
  room->setMinimumSize(whole.width() + (whole.height() > most ? t.px(12) : 0), std::min(whole.height(), most));
  column->addWidget(room, 1);
  column->addSpacing(t.px(6));
  auto* row = new QHBoxLayout;
  row->addStretch(1);
  auto* close = new Button(Button::Kind::normal, {}, tr("Close"), this);
  connect(close, &Button::clicked, this, &QDialog::accept);
  row->addWidget(close);
  column->addLayout(row);
  close->setFocus();
  new FocusRing(this);
}

}  // namespace hw::ui
