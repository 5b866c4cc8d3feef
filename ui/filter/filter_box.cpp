// SPDX-License-Identifier: Apache-2.0
#include "ui/filter/filter_box.h"

#include <QAbstractItemView>
#include <QCompleter>
#include <QCoreApplication>
#include <QHBoxLayout>
#include <QInputDialog>
#include <QInputMethodEvent>
#include <QKeyEvent>
#include <QLineEdit>
#include <QLocale>
#include <QMenu>
#include <QPainter>
#include <QSettings>
#include <QStandardItemModel>
#include <QTextCharFormat>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/filter/filter_chips.h"
#include "ui/painting/text.h"
#include "ui/theme/glyphs.h"
#include "ui/theme/theme.h"
#include "ui/window/controls.h"

namespace hw::ui {

namespace {

// Where the cursor stands is known only to a descendant.
class CursorEdit : public QLineEdit {
 public:
  using QLineEdit::QLineEdit;
  [[nodiscard]] QRect cursorAt() const { return cursorRect(); }
};

}  // namespace

// The box itself: inset ground, a border in the colour of the state, glyph and words at the right.
class FilterBox::Frame : public QWidget {
 public:
  explicit Frame(FilterBox* box) : QWidget(box), box_(box) {
    connect(&Theme::current(), &Theme::changed, this, [this] { setLine(line_); });
    setLine(line_);
  }
  void setLine(int line) {
    line_ = line;
    setFixedHeight(Theme::current().px(line));
  }
  void setStatus(Glyph glyph, const QString& text) {
    const Theme& t = Theme::current();
    const double full = text.isEmpty() ? 0 : (glyph == Glyph::none ? 0 : 18) + text_width(text, FontRole::data) + 10;
    // The words have what the filter itself does not need: what is wrong must not be cut where there is room. In a narrow box
    // half is for what was written, without which the words mean nothing; the tip has them whole.
    const int written = t.px(text_width(box_->text(), FontRole::data) + 10 + 66);
    const int reserved = std::min(t.px(full), std::max({t.px(60), width() / 2, width() - written}));
    const int edge = t.px(2);
    if (glyph == glyph_ && text == text_ && reserved == reserved_ && layout()->contentsMargins().left() == edge) {
      return;  // a page says its counts with every frame, and what follows lays out the whole window again
    }
    glyph_ = glyph;
    text_ = text;
    reserved_ = reserved;
    layout()->setContentsMargins(edge, 0, t.px(4), 0);
    room_->changeSize(reserved_, 1, QSizePolicy::Fixed, QSizePolicy::Fixed);
    layout()->invalidate();
    update();
  }
  QSpacerItem* room_ = nullptr;

 protected:
  void paintEvent(QPaintEvent*) override {
    const Theme& t = Theme::current();
    const Colors& c = t.colors();
    QPainter p(this);
    p.setRenderHint(QPainter::Antialiasing);
    QColor line = c.control;
    switch (box_->state()) {
      case State::empty:
        break;
      case State::incomplete:
      case State::hides_all:
        line = c.warn_line;
        break;
      case State::valid:
      case State::scanning:
        line = c.ok;
        break;
      case State::error:
        line = c.err;
        break;
    }
    const bool focused = box_->edit()->hasFocus();
    if (focused && box_->state() == State::empty) {
      line = c.ring;
    }
    const double pen = focused ? 2.0 : 1.0;
    p.setPen(QPen(line, pen));
    p.setBrush(c.inset);
    p.drawRoundedRect(QRectF(rect()).adjusted(pen / 2, pen / 2, -pen / 2, -pen / 2), t.pxf(4), t.pxf(4));
    if (text_.isEmpty() || room_ == nullptr) {
      return;
    }
    p.scale(t.scale(), t.scale());
    const QRectF at(QPointF(room_->geometry().topLeft()) / t.scale(), QSizeF(room_->geometry().size()) / t.scale());
    const double y = height() / t.scale() / 2;
    double x = at.left() + 4;
    if (glyph_ != Glyph::none) {
      paint_glyph(p, glyph_, QPointF(x + 6, y), 12);
      x += 18;
    }
    QColor ink = c.text2;
    if (box_->state() == State::valid || box_->state() == State::scanning) {
      ink = c.ok_t;
    } else if (box_->state() == State::error) {
      ink = c.err_t;
    } else if (box_->state() == State::incomplete || box_->state() == State::hides_all) {
      ink = c.warn_t;
    }
    text_fit(p, x, y, at.right() - x, text_, FontRole::data, ink);
  }

 private:
  int line_ = 30;
  FilterBox* box_;
  Glyph glyph_ = Glyph::none;
  QString text_;
  int reserved_ = 0;
};

FilterBox::FilterBox(filter::VocabularyPtr vocabulary, const QString& store, QWidget* parent)
    : QWidget(parent), vocabulary_(std::move(vocabulary)), store_(store), program_(std::make_shared<const filter::Program>()) {
  const Theme& theme = Theme::current();
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(theme.px(6));
  frame_ = new Frame(this);
  auto* row = new QHBoxLayout(frame_);
  row->setSpacing(theme.px(4));
  menu_button_ = new Button(Button::Kind::quiet, QStringLiteral("filter"), {}, frame_);
  menu_button_->setName(tr("Filters: chips, history, named filters"));
  row->addWidget(menu_button_);
  edit_ = new CursorEdit(frame_);
  edit_->setFrame(false);
  edit_->setAccessibleName(tr("Filter"));
  edit_->setProperty("filterEdit", true);
  edit_->setStyleSheet(QStringLiteral("QLineEdit { border: none; background: transparent; padding: 0; }"));
  edit_->installEventFilter(this);
  row->addWidget(edit_, 1);
  frame_->room_ = new QSpacerItem(0, 1, QSizePolicy::Fixed, QSizePolicy::Fixed);
  row->addItem(frame_->room_);
  stop_ = new Button(Button::Kind::quiet, QStringLiteral("close"), tr("Stop"), frame_);
  stop_->hide();
  row->addWidget(stop_);
  clear_ = new Button(Button::Kind::quiet, QStringLiteral("close"), {}, frame_);
  clear_->setName(tr("Clear the filter"));
  clear_->hide();
  row->addWidget(clear_);
  column->addWidget(frame_);
  suggestions_ = new QStandardItemModel(this);
  completer_ = new QCompleter(suggestions_, this);
  completer_->setWidget(edit_);
  completer_->setCompletionMode(QCompleter::UnfilteredPopupCompletion);
  completer_->setMaxVisibleItems(12);
  chips_ = new FilterChips(this);
  chips_->hide();
  column->addWidget(chips_);
  delay_.setSingleShot(true);
  delay_.setInterval(kDelayMs);
  hint_ = QStringLiteral("key ~ \"^42\"");
  load();
  const auto fonts = [this] {
    edit_->setFont(Theme::current().font(FontRole::data));
    const Theme& t = Theme::current();
    completer_->popup()->setFont(t.font(FontRole::data));
    completer_->popup()->setStyleSheet(QStringLiteral("QListView { background: %1; border: 1px solid %2; padding: %3px 0; }"
                                                      "QListView::item { border: none; padding: 0 %4px; height: %5px; }")
                                           .arg(t.colors().card.name(), t.colors().border.name())
                                           .arg(t.px(3))
                                           .arg(t.px(8))
                                           .arg(t.px(23)));
    colour();
    refreshStatus();
  };
  connect(&Theme::current(), &Theme::changed, this, fonts);
  connect(edit_, &QLineEdit::textChanged, this, &FilterBox::onText);
  connect(edit_, &QLineEdit::textEdited, this, &FilterBox::showSuggestions);
  connect(edit_, &QLineEdit::returnPressed, this, [this] { apply(true); });
  connect(&delay_, &QTimer::timeout, this, [this] { apply(false); });
  connect(completer_, qOverload<const QModelIndex&>(&QCompleter::activated), this,
          [this](const QModelIndex& index) { takeSuggestion(index.row()); });
  connect(clear_, &QAbstractButton::clicked, this, [this] {
    edit_->clear();
    apply(true);
    edit_->setFocus();
  });
  connect(stop_, &QAbstractButton::clicked, this, &FilterBox::stopRequested);
  connect(menu_button_, &QAbstractButton::clicked, this, &FilterBox::showMenu);
  setFocusProxy(edit_);
  judge();
  fonts();
}

QString FilterBox::text() const { return edit_->text(); }

void FilterBox::setHint(const QString& hint) {
  hint_ = hint;
  edit_->setPlaceholderText(hint);
}

void FilterBox::setText(const QString& text) {
  edit_->setText(text);
  edit_->setCursorPosition(static_cast<int>(text.size()));
  apply(true);
}

void FilterBox::addCondition(const QString& condition, const QString& join) {
  setText(join.isEmpty() ? condition : filter::joined(parsed_.ok() ? text() : applied_, join, condition, *vocabulary_));
}

void FilterBox::setUtc(bool utc) {
  if (utc != utc_) {
    utc_ = utc;
    judge();
    if (filtering()) {
      apply(true);
    }
  }
}

void FilterBox::focusText() {
  edit_->setFocus(Qt::ShortcutFocusReason);
  edit_->selectAll();
}

void FilterBox::setChipsShown(bool shown) {
  chips_->setVisible(shown);
  chips_->refresh();
}

void FilterBox::setCompact() {
  frame_->setLine(24);
  layout()->setSpacing(Theme::current().px(3));
}

bool FilterBox::chipsShown() const { return !chips_->isHidden(); }

void FilterBox::setCounts(const Counts& counts) {
  counts_ = counts;
  refreshStatus();
}

void FilterBox::onText() {
  judge();
  delay_.start();
}

void FilterBox::judge() {
  filter::Options options;
  options.utc = utc_;
  parsed_ = filter::parse(edit_->text(), *vocabulary_, options);
  colour();
  refreshStatus();
}

// `now`: on Return and from code; otherwise after a pause in typing.
void FilterBox::apply(bool now) {
  delay_.stop();
  if (now) {
    judge();  // "-5 min" counts from here
  }
  if (!parsed_.ok() || (parsed_.tentative && !now)) {
    return;
  }
  const QString text = edit_->text().trimmed();
  if (text == applied_ && !(now && text.contains(QLatin1Char('-')))) {
    return;
  }
  applied_ = text;
  program_ = parsed_.program;
  counts_ = {};
  if (now) {
    remember();
  }
  refreshStatus();
  chips_->refresh();
  Q_EMIT applied();
}

void FilterBox::remember() {
  if (applied_.isEmpty()) {
    return;
  }
  history_.removeAll(applied_);
  history_.prepend(applied_);
  while (history_.size() > kHistory) {
    history_.removeLast();
  }
  save();
}

// QLineEdit has no highlighter; formats travel with an input method event that inserts nothing.
void FilterBox::colour() {
  const Colors& c = Theme::current().colors();
  QList<QInputMethodEvent::Attribute> attributes;
  const int cursor = edit_->cursorPosition();
  for (const filter::Token& token : parsed_.tokens) {
    QTextCharFormat format;
    switch (token.kind) {
      case filter::TokenKind::field:
        format.setForeground(c.leader_t);
        break;
      case filter::TokenKind::number:
        format.setForeground(c.txn_t);
        break;
      case filter::TokenKind::string:
        format.setForeground(c.ok_t);
        break;
      case filter::TokenKind::op:
      case filter::TokenKind::keyword:
        format.setForeground(c.text2);
        break;
      case filter::TokenKind::bad:
        format.setForeground(c.err_t);
        break;
      case filter::TokenKind::word:
        format.setForeground(c.text);
        break;
    }
    const bool wrong = parsed_.problem && !parsed_.problem->incomplete && token.begin < parsed_.problem->end &&
                       token.end > parsed_.problem->begin;
    if (wrong) {
      format.setFontUnderline(true);
      format.setUnderlineColor(c.err);
    }
    attributes.append({QInputMethodEvent::TextFormat, token.begin - cursor, token.end - token.begin, format});
  }
  QInputMethodEvent event(QString(), attributes);
  QCoreApplication::sendEvent(edit_, &event);
}

void FilterBox::refreshStatus() {
  const bool empty = edit_->text().trimmed().isEmpty();
  const bool stale = edit_->text().trimmed() != applied_;
  Glyph glyph = Glyph::none;
  status_.clear();
  if (parsed_.problem) {
    const bool incomplete = parsed_.problem->incomplete;
    state_ = incomplete ? State::incomplete : State::error;
    glyph = incomplete ? Glyph::quarter : Glyph::cross;
    status_ = parsed_.problem->text;
  } else if (empty) {
    state_ = State::empty;
    if (counts_.percent >= 0) {
      state_ = State::scanning;
      status_ = tr("%1 %").arg(counts_.percent);
    }
  } else if (stale) {
    state_ = State::valid;
    glyph = Glyph::check;
    status_ = parsed_.tentative ? tr("Return: search for this text") : QString();
  } else if (counts_.percent >= 0) {
    state_ = State::scanning;
    status_ = tr("%1 so far, %2 %").arg(format_count(std::max<std::int64_t>(0, counts_.shown))).arg(counts_.percent);
  } else if (counts_.shown == 0 && counts_.total > 0) {
    state_ = State::hides_all;
    glyph = Glyph::quarter;
    status_ = tr("0 of %1, clear").arg(format_count(counts_.total));
  } else {
    state_ = State::valid;
    glyph = Glyph::check;
    status_ = counts_.shown < 0 ? QString() : tr("%1 of %2").arg(format_count(counts_.shown), format_count(counts_.total));
  }
  if (edit_->placeholderText().isEmpty()) {
    edit_->setPlaceholderText(hint_);
  }
  stop_->setVisible(counts_.percent >= 0);
  clear_->setVisible(!empty && counts_.percent < 0);
  frame_->setStatus(glyph, status_);
  edit_->setAccessibleDescription(status_);
  edit_->setToolTip(status_);
}

QString FilterBox::statusText() const { return status_; }

void FilterBox::showSuggestions() {
  offered_ = filter::suggest(edit_->text(), edit_->cursorPosition(), *vocabulary_, values_);
  suggestions_->clear();
  if (offered_.list.empty() || edit_->hasSelectedText()) {
    completer_->popup()->hide();
    return;
  }
  qsizetype widest = 8;
  for (const filter::Suggestion& s : offered_.list) {
    widest = std::max(widest, std::min<qsizetype>(s.shown.size(), 28));
  }
  qsizetype columns = 0;
  for (const filter::Suggestion& s : offered_.list) {
    const QString line = s.help.isEmpty() ? s.shown : s.shown.leftJustified(widest + 2) + s.help;
    columns = std::max(columns, line.size());
    auto* item = new QStandardItem(line);
    item->setEditable(false);
    suggestions_->appendRow(item);
  }
  const Theme& t = Theme::current();
  const int width = t.px(text_width(QString(columns, QLatin1Char('x')), FontRole::data) + 44);
  QRect at = static_cast<CursorEdit*>(edit_)->cursorAt();
  at.setLeft(std::max(0, at.left() - t.px(8)));
  at.setWidth(std::clamp(width, t.px(120), t.px(560)));
  completer_->complete(at);
  completer_->popup()->setCurrentIndex({});
}

void FilterBox::takeSuggestion(int row) {
  if (row < 0 || static_cast<std::size_t>(row) >= offered_.list.size()) {
    return;
  }
  const QString insert = offered_.list[static_cast<std::size_t>(row)].insert;
  QString text = edit_->text();
  // A quotation mark or space that stands there already is not written twice.
  int end = offered_.end;
  if (insert.endsWith(QLatin1Char(' ')) && end < text.size() && text[end] == QLatin1Char(' ')) {
    ++end;
  }
  text.replace(offered_.begin, end - offered_.begin, insert);
  edit_->setText(text);
  edit_->setCursorPosition(offered_.begin + static_cast<int>(insert.size()));
  QTimer::singleShot(0, this, &FilterBox::showSuggestions);
}

bool FilterBox::eventFilter(QObject* object, QEvent* event) {
  if (object == edit_ && (event->type() == QEvent::FocusIn || event->type() == QEvent::FocusOut)) {
    frame_->update();
  }
  if (object == edit_ && event->type() == QEvent::KeyPress) {
    auto* key = static_cast<QKeyEvent*>(event);
    const bool open = completer_->popup()->isVisible();
    const bool enter = key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter || key->key() == Qt::Key_Tab;
    if (open && enter && completer_->popup()->currentIndex().isValid()) {
      const int row = completer_->popup()->currentIndex().row();
      completer_->popup()->hide();
      takeSuggestion(row);
      return true;
    }
    if (open && enter) {
      completer_->popup()->hide();
    }
    if (!open && key->key() == Qt::Key_Space && key->modifiers() == Qt::ControlModifier) {
      showSuggestions();
      return true;
    }
    if (!open && key->key() == Qt::Key_Down) {
      apply(true);
      Q_EMIT leaveRequested();
      return true;
    }
    if (!open && key->key() == Qt::Key_Escape) {
      if (edit_->text().isEmpty()) {
        Q_EMIT leaveRequested();
      } else {
        edit_->clear();
        apply(true);
      }
      return true;
    }
  }
  return QWidget::eventFilter(object, event);
}

void FilterBox::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  refreshStatus();
}

void FilterBox::showMenu() {
  QMenu menu(this);
  QAction* chips = menu.addAction(tr("Edit as chips"));
  chips->setCheckable(true);
  chips->setChecked(chipsShown());
  connect(chips, &QAction::triggered, this, &FilterBox::setChipsShown);
  QAction* keep = menu.addAction(tr("Name this filter\u2026"));
  keep->setEnabled(filtering());
  connect(keep, &QAction::triggered, this, [this] {
    auto* ask = new QInputDialog(this);
    ask->setAttribute(Qt::WA_DeleteOnClose);
    ask->setWindowTitle(tr("Name this filter"));
    ask->setLabelText(tr("It becomes a button below the filter."));
    connect(ask, &QInputDialog::textValueSelected, this, [this](const QString& name) { saveNamed(name.trimmed(), applied_); });
    ask->open();
  });
  if (!examples_.isEmpty()) {
    QMenu* examples = menu.addMenu(tr("Examples"));
    for (const auto& [text, words] : examples_) {
      QString shown = text;
      QAction* action = examples->addAction(shown.replace(QLatin1Char('&'), QStringLiteral("&&")) + QLatin1Char('\t') + words);
      connect(action, &QAction::triggered, this, [this, text = text] { setText(text); });
    }
  }
  if (!named_.isEmpty()) {
    menu.addSection(tr("Named"));
    for (const auto& [name, text] : named_) {
      QAction* action = menu.addAction(name);
      action->setToolTip(text);
      connect(action, &QAction::triggered, this, [this, text = text] { setText(text); });
    }
    QMenu* forget = menu.addMenu(tr("Remove"));
    for (const auto& [name, text] : named_) {
      connect(forget->addAction(name), &QAction::triggered, this, [this, name = name] { removeNamed(name); });
    }
  }
  if (!history_.isEmpty()) {
    menu.addSection(tr("Used before"));
    for (const QString& text : history_) {
      QString shown = text.size() > 60 ? text.left(60) + QChar(0x2026) : text;
      connect(menu.addAction(shown.replace(QLatin1Char('&'), QStringLiteral("&&"))), &QAction::triggered, this,
              [this, text] { setText(text); });
    }
  }
  menu.exec(menu_button_->mapToGlobal(QPoint(0, menu_button_->height())));
}

void FilterBox::saveNamed(const QString& name, const QString& text) {
  if (name.isEmpty() || text.isEmpty()) {
    return;
  }
  const auto at = std::find_if(named_.begin(), named_.end(), [&](const auto& entry) { return entry.first == name; });
  if (at != named_.end()) {
    at->second = text;
  } else {
    named_.append({name, text});
  }
  save();
  setChipsShown(true);
  chips_->refresh();
}

void FilterBox::removeNamed(const QString& name) {
  named_.removeIf([&](const auto& entry) { return entry.first == name; });
  save();
  chips_->refresh();
}

void FilterBox::load() {
  // Without an organisation there is no place for settings (tests).
  if (store_.isEmpty() || QCoreApplication::organizationName().isEmpty()) {
    return;
  }
  const QSettings settings;
  history_ = settings.value(QStringLiteral("filter/%1/history").arg(store_)).toStringList().mid(0, kHistory);
  const QVariantMap named = settings.value(QStringLiteral("filter/%1/named").arg(store_)).toMap();
  for (auto at = named.begin(); at != named.end(); ++at) {
    named_.append({at.key(), at.value().toString()});
  }
}

void FilterBox::save() const {
  if (store_.isEmpty() || QCoreApplication::organizationName().isEmpty()) {
    return;
  }
  QSettings settings;
  settings.setValue(QStringLiteral("filter/%1/history").arg(store_), history_);
  QVariantMap named;
  for (const auto& [name, text] : named_) {
    named.insert(name, text);
  }
  settings.setValue(QStringLiteral("filter/%1/named").arg(store_), named);
}

}  // namespace hw::ui
