// SPDX-License-Identifier: Apache-2.0
#include "ui/dialogs/settings_dialog.h"

#include <QCheckBox>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QVBoxLayout>
#include <algorithm>
#include <array>
#include <cmath>

#include "ui/theme/theme.h"
#include "ui/window/command_registry.h"
#include "ui/window/controls.h"

namespace hw::ui {

SettingsDialog::SettingsDialog(CommandRegistry& commands, const QString& profile, QWidget* parent) : QDialog(parent) {
  const Theme& t = Theme::current();
  setWindowTitle(tr("Settings"));
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(t.px(20), t.px(18), t.px(20), t.px(16));
  column->setSpacing(t.px(14));
  column->addWidget(new TextLabel(tr("Settings"), FontRole::page_title, TextLabel::Tone::text, this));
  auto* grid = new QGridLayout;
  grid->setHorizontalSpacing(t.px(16));
  grid->setVerticalSpacing(t.px(3));
  int line = 0;
  const auto row = [&](const QString& label, QWidget* control, const QString& note = {}) {
    grid->addWidget(new TextLabel(label, FontRole::body, TextLabel::Tone::text2, this), line, 0, Qt::AlignLeft | Qt::AlignVCenter);
    grid->addWidget(control, line, 1, Qt::AlignLeft);
    ++line;
    if (!note.isEmpty()) {
      grid->addWidget(new TextLabel(note, FontRole::caption, TextLabel::Tone::text3, this), line++, 1);
    }
    grid->setRowMinimumHeight(line++, t.px(10));  // a note belongs to what stands above it
  };

  constexpr std::array kThemes = {Theme::Choice::system, Theme::Choice::light, Theme::Choice::dark,
                                  Theme::Choice::contrast_light, Theme::Choice::contrast_dark};
  auto* theme = new SegmentedControl({tr("Desktop"), tr("Light"), tr("Dark"), tr("Contrast, light"), tr("Contrast, dark")}, this);
  theme->setAccessibleDescription(tr("Theme"));
  for (std::size_t i = 0; i < kThemes.size(); ++i) {
    if (kThemes[i] == t.choice()) {
      theme->setCurrent(static_cast<int>(i));
    }
  }
  connect(theme, &SegmentedControl::activated, this, [&commands, kThemes](int index) {
    commands.run(QStringLiteral("theme.") + Theme::nameOf(kThemes[static_cast<std::size_t>(index)]));
  });
  row(tr("Theme"), theme);

  constexpr std::array kPercents = {75, 100, 125, 150, 200, 300};
  QStringList sizes;
  for (const int percent : kPercents) {
    sizes << tr("%1 %").arg(percent);
  }
  auto* size = new SegmentedControl(sizes, this);
  size->setAccessibleDescription(tr("Size of text and controls"));
  int nearest = 0;
  for (std::size_t i = 0; i < kPercents.size(); ++i) {
    if (std::abs(kPercents[i] - t.userScale() * 100) < std::abs(kPercents[static_cast<std::size_t>(nearest)] - t.userScale() * 100)) {
      nearest = static_cast<int>(i);
    }
  }
  size->setCurrent(nearest);
  connect(size, &SegmentedControl::activated, this, [&commands, kPercents](int index) {
    commands.run(QStringLiteral("scale.reset"), {{QStringLiteral("percent"), kPercents[static_cast<std::size_t>(index)]}});
  });
  row(tr("Size"), size, tr("Ctrl + and Ctrl - change it anywhere."));

  auto* motion = new QCheckBox(tr("Reduce motion"), this);
  motion->setChecked(t.reduceMotion());
  connect(motion, &QCheckBox::toggled, this, [&commands](bool on) {
    if (on != Theme::current().reduceMotion()) {
      commands.run(QStringLiteral("motion.toggle"));
    }
  });
  row(tr("Motion"), motion, tr("Nothing travels; what changed is highlighted instead."));

  const QStringList names{QStringLiteral("learn"), QStringLiteral("debug"), QStringLiteral("operate")};
  auto* layouts = new SegmentedControl({tr("Learn"), tr("Debug"), tr("Operate")}, this);
  layouts->setAccessibleDescription(tr("Layout"));
  layouts->setCurrent(static_cast<int>(std::max<qsizetype>(0, names.indexOf(profile))));
  connect(layouts, &SegmentedControl::activated, this,
          [&commands, names](int index) { commands.run(QStringLiteral("layout.") + names[index]); });
  auto* layout_row = new QWidget(this);
  auto* layout_box = new QHBoxLayout(layout_row);
  layout_box->setContentsMargins(0, 0, 0, 0);
  layout_box->setSpacing(t.px(8));
  layout_box->addWidget(layouts);
  auto* reset = new Button(Button::Kind::normal, {}, tr("Reset"), layout_row);
  reset->setAccessibleName(tr("Reset layout"));
  connect(reset, &Button::clicked, this, [&commands] { commands.run(QStringLiteral("layout.reset")); });
  layout_box->addWidget(reset);
  row(tr("Layout"), layout_row, tr("Which parts are open; each layout remembers your changes."));

  auto* hints = new Button(Button::Kind::normal, {}, tr("Show again"), this);
  hints->setAccessibleName(tr("Show the hints of the first start again"));
  connect(hints, &Button::clicked, this, [this, &commands] {
    accept();
    commands.run(QStringLiteral("hints.reset"));
  });
  row(tr("First hints"), hints);
  column->addLayout(grid);
  column->addSpacing(t.px(4));
  auto* buttons = new QHBoxLayout;
  buttons->addStretch(1);
  auto* close = new Button(Button::Kind::normal, {}, tr("Close"), this);
  connect(close, &Button::clicked, this, &QDialog::accept);
  buttons->addWidget(close);
  column->addLayout(buttons);
  new FocusRing(this);
}

}  // namespace hw::ui
