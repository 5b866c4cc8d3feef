// SPDX-License-Identifier: Apache-2.0
#include "ui/theme/style.h"

#include <QPainter>
#include <QScrollBar>
#include <QStyleFactory>
#include <QStyleOption>
#include <QWidget>
#include <cmath>

#include "ui/theme/glyphs.h"

namespace hw::ui {

namespace {

// "@name" in the sheet stands for a token, "%N px" is written as "{N}" and scaled.
constexpr const char* kSheet = R"(
QToolTip { background: @card; color: @text; border: 1px solid @border; padding: {4}px {6}px; }
QLineEdit, QPlainTextEdit, QTextEdit, QSpinBox, QAbstractSpinBox {
  background: @inset; border: 1px solid @control; border-radius: {4}px;
  padding: {3}px {8}px; selection-background-color: @selected; selection-color: @text; }
QPlainTextEdit, QTextEdit { padding: {4}px {6}px; }
QLineEdit:disabled, QPlainTextEdit:disabled, QSpinBox:disabled { color: @disabled; border-color: @border; }
QLineEdit[state="bad"], QPlainTextEdit[state="bad"], QSpinBox[state="bad"] { border: 1px solid @err; }
QLineEdit[state="good"] { border: 1px solid @ok; }
QLineEdit[state="warn"] { border: 1px solid @warn_line; }
QLineEdit:focus, QPlainTextEdit:focus, QTextEdit:focus, QSpinBox:focus, QDateTimeEdit:focus {
  border: 2px solid @ring; padding: {2}px {7}px; }
QPlainTextEdit:focus, QTextEdit:focus { padding: {3}px {5}px; }
QLineEdit[state="bad"]:focus, QPlainTextEdit[state="bad"]:focus, QSpinBox[state="bad"]:focus { border: 2px solid @err; }
QLineEdit[state="good"]:focus { border: 2px solid @ok; }
QLineEdit[state="warn"]:focus { border: 2px solid @warn_line; }
QSpinBox, QDateTimeEdit, QSpinBox:focus, QDateTimeEdit:focus { padding-right: {20}px; }
QSpinBox::up-button, QSpinBox::down-button, QDateTimeEdit::up-button, QDateTimeEdit::down-button {
  width: {18}px; border: none; background: transparent; }
QSpinBox::up-button:hover, QSpinBox::down-button:hover, QDateTimeEdit::up-button:hover, QDateTimeEdit::down-button:hover {
  background: @hover; }
QSpinBox::up-arrow, QDateTimeEdit::up-arrow { image: url(:/icons/@mode/chevron-up.svg); width: {10}px; height: {10}px; }
QSpinBox::down-arrow, QDateTimeEdit::down-arrow { image: url(:/icons/@mode/chevron-down.svg); width: {10}px; height: {10}px; }
QComboBox { background: @card; color: @text; border: 1px solid @border; border-radius: {4}px;
  padding: {3}px {10}px; min-height: {18}px; }
QComboBox:hover { background: @hover; }
QComboBox:focus { border: 2px solid @ring; padding: {2}px {9}px; }
QComboBox:disabled { color: @disabled; }
QComboBox::drop-down { width: {22}px; border: none; }
QComboBox::down-arrow { image: url(:/icons/@mode/chevron-down.svg); width: {12}px; height: {12}px; }
QComboBox QAbstractItemView { background: @card; color: @text; border: 1px solid @border; outline: none;
  selection-background-color: @selected; selection-color: @text; padding: {4}px; }
QMenu { background: @card; color: @text; border: 1px solid @border; padding: {4}px; }
QMenu::item { padding: {5}px {24}px {5}px {10}px; border-radius: {4}px; }
QMenu::item:selected { background: @selected; }
QMenu::item:disabled { color: @disabled; }
QMenu::separator { height: 1px; background: @hair; margin: {4}px {6}px; }
QCheckBox, QRadioButton { color: @text; spacing: {7}px; }
QCheckBox:disabled, QRadioButton:disabled { color: @disabled; }
QCheckBox::indicator, QRadioButton::indicator { width: {12}px; height: {12}px; border: 1px solid @control;
  background: @inset; border-radius: {3}px; }
QRadioButton::indicator { border-radius: {7}px; }
QCheckBox::indicator:checked { background: @leader; border-color: @leader;
  image: url(:/icons/@mode/check-on.svg); }
QRadioButton::indicator:checked { background: @leader; border: {3}px solid @inset; }
QAbstractItemView { background: @canvas; color: @text; border: none; outline: none; gridline-color: @hair;
  selection-background-color: @selected; selection-color: @text; }
QTableView::item, QListView::item { padding: 0 {8}px; border-bottom: 1px solid @hair; }
QTableView::item:hover, QListView::item:hover { background: @hover; }
QTableView::item:selected, QListView::item:selected, QTreeView::item:selected { background: @selected; color: @text; }
QTableView::item:selected:!active { background: @selected_idle; }
QHeaderView { background: @canvas; border: none; }
QHeaderView::section { background: @canvas; color: @text3; border: none; border-bottom: 1px solid @border;
  padding: 0 {8}px; height: {26}px; font-size: {11}px; font-weight: 600; }
QHeaderView::section:first { padding-left: {16}px; }
QTableCornerButton::section { background: @canvas; border: none; }
QScrollBar:vertical { background: transparent; width: {10}px; margin: 0; }
QScrollBar:horizontal { background: transparent; height: {10}px; margin: 0; }
QScrollBar::handle { background: @border; border-radius: {3}px; margin: {2}px; }
QScrollBar::handle:vertical { min-height: {28}px; }
QScrollBar::handle:horizontal { min-width: {28}px; }
QScrollBar::handle:disabled { background: transparent; }
QScrollBar::handle:hover, QScrollBar::handle:pressed { background: @control; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QAbstractScrollArea::corner { background: transparent; }
QSplitter::handle { background: @border; }
QSplitter::handle:hover { background: @ring; }
QDialog { background: @canvas; }
QLabel { color: @text; background: transparent; }
QLabel[tone="2"] { color: @text2; }
QLabel[tone="3"] { color: @text3; }
QLabel[tone="err"] { color: @err_t; }
QLabel[tone="warn"] { color: @warn_t; }
QLabel[tone="ok"] { color: @ok_t; }
QPushButton { background: @card; color: @text; border: 1px solid @border; border-radius: {4}px;
  padding: 0 {12}px; min-height: {24}px; }
QPushButton:hover { background: @hover; }
QPushButton:pressed { background: @pressed; }
QPushButton:disabled { color: @disabled; }
QPushButton[primary="true"] { background: @leader; color: @on_primary; border: 1px solid @leader; font-weight: 600; }
QPushButton[primary="true"]:disabled { background: @pressed; color: @disabled; border-color: @border; }
QPushButton[danger="true"] { color: @err_t; border-color: @err; font-weight: 600; }
QProgressBar { background: @inset; border: 1px solid @border; height: {8}px; text-align: center; color: @text; }
QProgressBar::chunk { background: @leader; }
)";

}  // namespace

QPalette make_palette(const Colors& c) {
  QPalette p;
  p.setColor(QPalette::Window, c.chrome);
  p.setColor(QPalette::WindowText, c.text);
  p.setColor(QPalette::Base, c.canvas);
  p.setColor(QPalette::AlternateBase, c.canvas);
  p.setColor(QPalette::Text, c.text);
  p.setColor(QPalette::Button, c.card);
  p.setColor(QPalette::ButtonText, c.text);
  p.setColor(QPalette::BrightText, c.on_primary);
  p.setColor(QPalette::ToolTipBase, c.card);
  p.setColor(QPalette::ToolTipText, c.text);
  p.setColor(QPalette::PlaceholderText, c.text3);
  p.setColor(QPalette::Highlight, c.selected);
  p.setColor(QPalette::HighlightedText, c.text);
  p.setColor(QPalette::Link, c.link);
  p.setColor(QPalette::LinkVisited, c.link);
  p.setColor(QPalette::Light, c.hover);
  p.setColor(QPalette::Midlight, c.hair);
  p.setColor(QPalette::Mid, c.border);
  p.setColor(QPalette::Dark, c.control);
  p.setColor(QPalette::Shadow, c.inset);
  for (const QPalette::ColorRole role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText}) {
    p.setColor(QPalette::Disabled, role, c.disabled);
  }
  return p;
}

QString make_style_sheet(const Colors& c, double scale, const QString& /*cache_directory*/) {
  QString sheet = QString::fromLatin1(kSheet);
  const std::pair<const char*, const QColor*> tokens[] = {
      // Longer names first: "@text2" must not be taken for "@text".
      {"@selected_idle", &c.selected_idle},
      {"@on_primary", &c.on_primary},
      {"@warn_line", &c.warn_line},
      {"@disabled", &c.disabled},
      {"@selected", &c.selected},
      {"@control", &c.control},
      {"@pressed", &c.pressed},
      {"@border", &c.border},
      {"@canvas", &c.canvas},
      {"@leader", &c.leader},
      {"@warn_t", &c.warn_t},
      {"@err_t", &c.err_t},
      {"@ok_t", &c.ok_t},
      {"@chrome", &c.chrome},
      {"@inset", &c.inset},
      {"@hover", &c.hover},
      {"@text2", &c.text2},
      {"@text3", &c.text3},
      {"@card", &c.card},
      {"@hair", &c.hair},
      {"@text", &c.text},
      {"@ring", &c.ring},
      {"@err", &c.err},
      {"@ok", &c.ok},
  };
  const bool dark = c.canvas.lightness() < 128;
  sheet.replace(QLatin1String("@mode"), dark ? QLatin1String("dark") : QLatin1String("light"));
  for (const auto& [name, color] : tokens) {
    sheet.replace(QLatin1String(name), color->name());
  }
  QString out;
  out.reserve(sheet.size());
  for (qsizetype i = 0; i < sheet.size(); ++i) {
    // "{12}" is a length; any other brace belongs to the sheet.
    if (sheet[i] == u'{') {
      const qsizetype end = sheet.indexOf(u'}', i);
      bool number = false;
      const double length = sheet.mid(i + 1, end - i - 1).toDouble(&number);
      if (number) {
        out += QString::number(std::lround(length * scale));
        i = end;
        continue;
      }
    }
    out += sheet[i];
  }
  return out;
}

HighwaterStyle::HighwaterStyle() : QProxyStyle(QStyleFactory::create(QStringLiteral("Fusion"))) {}

int HighwaterStyle::styleHint(StyleHint hint, const QStyleOption* option, const QWidget* widget,
                              QStyleHintReturn* data) const {
  switch (hint) {
    case SH_Widget_Animate:
    case SH_Widget_Animation_Duration:
    case SH_EtchDisabledText:
    case SH_DitherDisabledText:
      return 0;
    case SH_ToolTip_WakeUpDelay:
      return 500;
    default:
      return QProxyStyle::styleHint(hint, option, widget, data);
  }
}

void HighwaterStyle::drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                                   const QWidget* widget) const {
  if (element == PE_FrameFocusRect) {
    return;
  }
  QProxyStyle::drawPrimitive(element, option, painter, widget);
}

void HighwaterStyle::polish(QWidget* widget) {
  QProxyStyle::polish(widget);
  auto* bar = qobject_cast<QScrollBar*>(widget);
  if (bar == nullptr) {
    return;
  }
  // Tables keep the room of their bar, so that columns do not move; a bar that is not enabled shows
  // no handle there.
  bar->setEnabled(bar->maximum() > bar->minimum());
  constexpr const char* kWatched = "highwaterRangeWatched";  // every change of the look polishes again
  if (!bar->property(kWatched).toBool()) {
    bar->setProperty(kWatched, true);
    connect(bar, &QScrollBar::rangeChanged, bar,
            [bar](int least, int most) { bar->setEnabled(most > least); });
  }
}

int HighwaterStyle::pixelMetric(PixelMetric metric, const QStyleOption* option,
                                const QWidget* widget) const {
  switch (metric) {
    case PM_ScrollBarExtent:
      return Theme::current().px(10);
    case PM_SplitterWidth:
      return 1;
    default:
      return QProxyStyle::pixelMetric(metric, option, widget);
  }
}

}  // namespace hw::ui
