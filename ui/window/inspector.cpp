// SPDX-License-Identifier: Apache-2.0
#include "ui/window/inspector.h"

#include <algorithm>

#include <QClipboard>
#include <QFontMetrics>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollArea>
#include <QTextLayout>
#include <QVBoxLayout>

#include "ui/painting/text.h"
#include "ui/session/session_nodes.h"
#include "ui/theme/theme.h"
#include "ui/window/controls.h"
#include "ui/window/elided_label.h"

namespace hw::ui {

namespace {

constexpr int kPadding = 14;

QColor tone_color(Fact::Tone tone) {
  const Colors& c = Theme::current().colors();
  switch (tone) {
    case Fact::Tone::text:
      return c.text;
    case Fact::Tone::text2:
      return c.text2;
    case Fact::Tone::ok:
      return c.ok_t;
    case Fact::Tone::warn:
      return c.warn_t;
    case Fact::Tone::err:
      return c.err_t;
  }
  return c.text;
}

}  // namespace

// One fact: key, glyph, value. Links and explained numbers are buttons; the others cannot take the focus.
class FactRow : public QWidget {
  Q_OBJECT

 public:
  explicit FactRow(QWidget* parent) : QWidget(parent) {
    wrap();
    setAttribute(Qt::WA_Hover);
  }

  void setFact(const Fact& fact) {
    const bool same = fact.value == fact_.value && fact.glyph == fact_.glyph && fact.tone == fact_.tone &&
                      fact.key == fact_.key && fact.link == fact_.link;
    if (same) {
      return;
    }
    fact_ = fact;
    const bool acts = !fact.link.none() || fact.explained;
    setFocusPolicy(acts ? Qt::TabFocus : Qt::NoFocus);
    const QString glyph = glyph_name(fact.glyph);
    setAccessibleName(QStringLiteral("%1: %2").arg(fact.key, fact.value) +
                      (glyph.isEmpty() || fact.words ? QString() : QStringLiteral(", ") + glyph));
    if (fact.explained) {
      setToolTip(tr("Explain this number"));
    } else {
      setToolTip(elided_ ? fact.value : QString());
    }
    wrap();
    update();
  }

 signals:
  void activated(const hw::ui::Fact& fact);

 protected:
  void paintEvent(QPaintEvent*) override {
    const Theme& t = Theme::current();
    const Colors& c = t.colors();
    QPainter p(this);
    const int key_width = t.px(Metrics::kInspectorKey);
    const bool acts = !fact_.link.none() || fact_.explained;
    p.setFont(t.font(FontRole::control));
    p.setPen(c.text2);
    const QFontMetrics key_metrics(t.font(FontRole::control));
    const int line = t.px(Metrics::kInspectorRow);
    p.drawText(QRect(0, 0, key_width - t.px(6), line), Qt::AlignVCenter | Qt::AlignLeft,
               key_metrics.elidedText(fact_.key, Qt::ElideMiddle, key_width - t.px(6)));
    int x = key_width;
    if (fact_.glyph != Glyph::none) {
      paint_glyph(p, fact_.glyph, QPointF(x + t.pxf(6), line / 2.0), t.pxf(12));
      x += t.px(18);
    }
    const FontRole role = fact_.words ? FontRole::control : FontRole::data;
    const QFontMetrics metrics(t.font(role));
    const int room = width() - x;
    const QString& first = lines_.front();
    const bool from_right = fact_.words || first.endsWith(QChar(0x2026));
    const QString text = metrics.elidedText(first, from_right ? Qt::ElideRight : Qt::ElideMiddle, room);
    elided_ = text != first;
    if (const QString whole = elided_ ? fact_.value : QString(); !fact_.explained && toolTip() != whole) {
      setToolTip(whole);
    }
    p.setFont(t.font(role));
    p.setPen(!fact_.link.none() && underMouse() ? c.link : tone_color(fact_.tone));
    p.drawText(QRect(x, 0, room, line), Qt::AlignVCenter | Qt::AlignLeft, text);
    for (int i = 1; i < lines_.size(); ++i) {
      p.drawText(QRect(x, line + (i - 1) * metrics.height(), room, metrics.height()), Qt::AlignTop | Qt::AlignLeft, lines_[i]);
    }
    if (acts) {
      const int w = metrics.horizontalAdvance(text);
      const int y = (line + metrics.height()) / 2;
      p.setPen(QPen(underMouse() ? c.link : c.control, 1.0, fact_.explained ? Qt::DotLine : Qt::SolidLine));
      if (fact_.explained || underMouse()) {
        p.drawLine(QPointF(x, y + 0.5), QPointF(x + w, y + 0.5));
      }
    }
  }

  void resizeEvent(QResizeEvent*) override { wrap(); }
  void mouseReleaseEvent(QMouseEvent* event) override {
    if (event->button() == Qt::LeftButton && rect().contains(event->pos())) {
      act();
    }
  }
  void keyPressEvent(QKeyEvent* event) override {
    if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter || event->key() == Qt::Key_Space) {
      act();
    } else {
      QWidget::keyPressEvent(event);
    }
  }

 private:
  void act() {
    if (!fact_.link.none() || fact_.explained) {
      Q_EMIT activated(fact_);
    }
  }

  // A sentence that is too long for its line goes on in further ones: what comes last in it is often the cause.
  void wrap() {
    const Theme& t = Theme::current();
    lines_ = {fact_.value};
    const int room = width() - t.px(Metrics::kInspectorKey) - (fact_.glyph == Glyph::none ? 0 : t.px(18));
    const QFont font = t.font(FontRole::control);
    if (fact_.words && room > 0 && QFontMetrics(font).horizontalAdvance(fact_.value) > room) {
      lines_.clear();
      QTextLayout layout(fact_.value, font);
      QTextOption option;
      option.setWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
      layout.setTextOption(option);
      layout.beginLayout();
      for (QTextLine line = layout.createLine(); line.isValid(); line = layout.createLine()) {
        line.setLineWidth(room);
        lines_ << fact_.value.mid(line.textStart(), line.textLength()).trimmed();
      }
      layout.endLayout();
    }
    setFixedHeight(t.px(Metrics::kInspectorRow) + (static_cast<int>(lines_.size()) - 1) * QFontMetrics(font).height());
  }
  Fact fact_;
  QStringList lines_{QString()};
  bool elided_ = false;
};

// A formula with its current inputs.
class FormulaBox : public QWidget {
  Q_OBJECT

 public:
  explicit FormulaBox(QWidget* parent) : QWidget(parent) {}
  void setLines(const QStringList& lines) {
    if (lines == lines_) {
      return;
    }
    lines_ = lines;
    setAccessibleName(lines.join(QLatin1Char(' ')));
    relayout();
    update();
  }

 protected:
  void resizeEvent(QResizeEvent*) override { relayout(); }
  void paintEvent(QPaintEvent*) override {
    const Theme& t = Theme::current();
    const Colors& c = t.colors();
    QPainter p(this);
    p.setRenderHint(QPainter::Antialiasing);
    p.setPen(QPen(c.hair, 1.0));
    p.setBrush(c.inset);
    p.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4);
    p.setFont(t.font(FontRole::small_data));
    int y = t.px(6);
    for (const QString& line : wrapped_) {
      p.setPen(y == t.px(6) ? c.text : c.text2);
      p.drawText(QRect(t.px(8), y, width() - t.px(16), t.px(16)), Qt::AlignVCenter | Qt::AlignLeft, line);
      y += t.px(16);
    }
  }

 private:
  // Mono text wraps at spaces, as many characters as fit.
  void relayout() {
    const Theme& t = Theme::current();
    const int advance = std::max(1, QFontMetrics(t.font(FontRole::small_data)).horizontalAdvance(QLatin1Char('0')));
    const qsizetype room = std::max(12, (width() - t.px(16)) / advance);
    constexpr qsizetype kIndent = 2;
    wrapped_.clear();
    for (const QString& line : lines_) {
      QString rest = line;
      while (rest.size() > room) {
        const qsizetype space = rest.lastIndexOf(QLatin1Char(' '), room);
        const qsizetype comma = rest.lastIndexOf(QLatin1Char(','), room - 1) + 1;
        const qsizetype best = std::max(space, comma);
        const qsizetype cut = best > kIndent ? best : room;
        wrapped_ << rest.left(cut);
        rest = QString(kIndent, QLatin1Char(' ')) + rest.mid(cut).trimmed();
      }
      wrapped_ << rest;
    }
    setFixedHeight(t.px(12) + static_cast<int>(wrapped_.size()) * t.px(16));
  }
  QStringList lines_;
  QStringList wrapped_;
};

Inspector::Inspector(QWidget* parent) : QWidget(parent) {
  setAccessibleName(tr("Inspector"));
  const Theme& t = Theme::current();
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(1, 0, 0, 0);
  column->setSpacing(0);

  auto* head = new QWidget(this);
  head->setFixedHeight(t.px(50));
  auto* head_row = new QHBoxLayout(head);
  head_row->setContentsMargins(t.px(kPadding), t.px(7), t.px(8), 0);
  head_row->setSpacing(t.px(4));
  auto* names = new QVBoxLayout;
  names->setSpacing(0);
  auto* first = new QHBoxLayout;
  first->setSpacing(t.px(4));
  title_ = new TextLabel({}, FontRole::data_title, TextLabel::Tone::text, head);
  title_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  title_->setFocusPolicy(Qt::NoFocus);
  title_->setMinimumWidth(0);
  title_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  first->addWidget(title_, 1);
  names->addLayout(first);
  subtitle_ = new ElidedLabel(FontRole::control, TextLabel::Tone::text2, Qt::ElideRight, head);
  subtitle_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  names->addWidget(subtitle_);
  names->addStretch(1);
  head_row->addLayout(names, 1);
  copy_ = new Button(Button::Kind::quiet, QStringLiteral("copy"), {}, head);
  copy_->setName(tr("Copy address"));
  connect(copy_, &Button::clicked, this, [this] { QGuiApplication::clipboard()->setText(selection_.address()); });
  head_row->addWidget(copy_, 0, Qt::AlignTop);
  auto* close = new Button(Button::Kind::quiet, QStringLiteral("close"), {}, head);
  close->setName(tr("Close inspector"));
  connect(close, &Button::clicked, this, &Inspector::closeRequested);
  head_row->addWidget(close, 0, Qt::AlignTop);
  column->addWidget(head);

  tabs_ = new TabStrip({tr("Overview"), tr("Explain"), tr("Config")}, this);
  tabs_->setAccessibleName(tr("Inspector tabs"));
  connect(tabs_, &TabStrip::activated, this, [this](int index) { showTab(static_cast<Tab>(index)); });
  column->addWidget(tabs_);

  scroll_ = new QScrollArea(this);
  scroll_->setWidgetResizable(true);
  scroll_->setFrameShape(QFrame::NoFrame);
  scroll_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll_->setFocusPolicy(Qt::NoFocus);
  const auto restyle = [this] {
    scroll_->setStyleSheet(QStringLiteral("QScrollArea, QScrollArea > QWidget > QWidget#inspectorBody { background: %1; }")
                               .arg(Theme::current().colors().chrome.name()));
  };
  restyle();
  connect(&t, &Theme::changed, this, restyle);
  column->addWidget(scroll_, 1);
}

void Inspector::attach(Session* session) {
  session_ = session;
  refresh();
}

void Inspector::setSelection(const Selection& selection) {
  if (selection == selection_) {
    return;
  }
  selection_ = selection;
  record_.reset();
  record_error_.clear();
  record_asked_ = {};
  scroll_->ensureVisible(0, 0);
  refresh();
}

void Inspector::readRecord() {
  if (selection_.kind != Selection::Kind::record || record_.has_value() || record_asked_ == selection_) {
    return;
  }
  record_asked_ = selection_;
  ReadQuery query;
  query.topic = selection_.topic.toStdString();
  query.partition = selection_.partition;
  query.from_offset = selection_.offset;
  query.to_offset = selection_.offset + 1;
  query.max_records = 1;
  const Selection asked = selection_;
  const QPointer<Inspector> self(this);
  session_->read(query, [self, asked](const ReadAnswer& answer) {
    if (self == nullptr || self->selection_ != asked) {
      return;
    }
    if (!answer.error.isEmpty()) {
      self->record_error_ = answer.error;
    } else if (!answer.rows.empty() && answer.rows.front().offset == asked.offset) {
      self->record_ = answer.rows.front();
    } else {
      self->record_error_ = tr("No record has this offset.");
    }
    self->refresh();
  });
}

const std::vector<FactSection>& Inspector::shown(const InspectorFacts& facts) const {
  switch (tab_) {
    case Tab::overview:
      return facts.overview;
    case Tab::explain:
      return facts.explain;
    case Tab::config:
      return facts.config;
  }
  return facts.overview;
}

void Inspector::refresh() {
  if (session_ == nullptr) {
    return;
  }
  readRecord();
  InspectorContext context;
  context.cluster_name = session_->clusterName();
  context.bootstrap = session_->bootstrapList();
  context.quorum_fetch_timeout_ms = SessionNodes::of(session_).quorumFetchTimeoutMs();
  context.conditions = SessionNodes::of(session_).conditions();
  context.storage = session_->storage();
  context.record = record_ ? &*record_ : nullptr;
  context.record_error = record_error_;
  const observe::ViewPtr view = session_->view();
  const InspectorFacts facts = inspect(*view, selection_, context);
  const int room = std::max(80, title_->width());
  const QString title = elided(facts.title, FontRole::data_title, room / Theme::current().scale(), Qt::ElideMiddle);
  if (title_->text() != title) {
    title_->setText(title);
    title_->setToolTip(facts.title);
  }
  if (subtitle_->text() != facts.subtitle) {
    subtitle_->setText(facts.subtitle);
  }
  copy_->setEnabled(!selection_.none());
  std::vector<FactSection> sections = shown(facts);
  if (sections.empty()) {
    FactSection nothing;
    nothing.note = tab_ == Tab::config ? tr("This object has no settings of its own.") : tr("Nothing to explain here.");
    sections.push_back(nothing);
  }
  if (body_ == nullptr || !same_shape(sections, shown_)) {
    rebuild(sections);
  }
  fill(sections);
  shown_ = std::move(sections);
}

void Inspector::rebuild(const std::vector<FactSection>& sections) {
  const Theme& t = Theme::current();
  auto* body = new QWidget;
  body->setObjectName(QStringLiteral("inspectorBody"));
  auto* column = new QVBoxLayout(body);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  live_.clear();
  for (const FactSection& section : sections) {
    Live live;
    auto* part = new QWidget(body);
    live.part = part;
    auto* inner = new QVBoxLayout(part);
    inner->setContentsMargins(t.px(kPadding), t.px(10), t.px(kPadding), t.px(10));
    inner->setSpacing(0);
    if (!section.label.isEmpty()) {
      auto* label = new TextLabel(section.label, FontRole::section_label, TextLabel::Tone::text3, part);
      inner->addWidget(label);
      inner->addSpacing(t.px(4));
    }
    for (std::size_t i = 0; i < section.facts.size(); ++i) {
      auto* row = new FactRow(part);
      connect(row, &FactRow::activated, this, [this](const Fact& fact) {
        if (!fact.link.none()) {
          Q_EMIT selectionRequested(fact.link);
        } else {
          showTab(Tab::explain);
        }
      });
      live.rows.push_back(row);
      inner->addWidget(row);
    }
    if (!section.prose.isEmpty()) {
      live.prose = new TextLabel({}, FontRole::body, TextLabel::Tone::text, part);
      live.prose->setTextFormat(Qt::RichText);
      live.prose->setWordWrap(true);
      if (!section.facts.empty()) {
        inner->addSpacing(t.px(4));
      }
      inner->addWidget(live.prose);
    }
    if (!section.formula.isEmpty()) {
      live.formula = new FormulaBox(part);
      inner->addSpacing(t.px(8));
      inner->addWidget(live.formula);
    }
    if (!section.note.isEmpty()) {
      live.note = new TextLabel({}, FontRole::control, TextLabel::Tone::text2, part);
      live.note->setWordWrap(true);
      inner->addSpacing(t.px(section.facts.empty() && section.prose.isEmpty() ? 2 : 8));
      inner->addWidget(live.note);
    }
    if (!section.actions.empty()) {
      inner->addSpacing(t.px(section.facts.empty() && section.prose.isEmpty() ? 4 : 8));
      auto* row = new QHBoxLayout;
      row->setSpacing(t.px(6));
      for (const FactAction& action : section.actions) {
        auto* button = new Button(action.danger ? Button::Kind::danger : Button::Kind::normal, {}, action.text, part);
        button->setShortcutCap(action.cap);
        connect(button, &Button::clicked, this,
                [this, action] { Q_EMIT commandRequested(action.command, action.args); });
        row->addWidget(button);
      }
      row->addStretch(1);
      inner->addLayout(row);
    }
    column->addWidget(part);
    column->addWidget(new Line(Qt::Horizontal, false, body));
    live_.push_back(live);
  }
  column->addStretch(1);
  scroll_->setWidget(body);  // deletes the previous one
  body_ = body;
  body->show();
}

void Inspector::fill(const std::vector<FactSection>& sections) {
  bool grown = false;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    Live& live = live_[i];
    for (std::size_t k = 0; k < live.rows.size(); ++k) {
      live.rows[k]->setFact(sections[i].facts[k]);
    }
    if (live.prose != nullptr && live.prose->text() != sections[i].prose) {
      live.prose->setText(sections[i].prose);
      grown = true;
    }
    if (live.formula != nullptr) {
      live.formula->setLines(sections[i].formula);
    }
    if (live.note != nullptr && live.note->text() != sections[i].note) {
      live.note->setText(sections[i].note);
      grown = true;
    }
  }
  // A sentence that has become longer has its lines at once: half of one says something else.
  for (std::size_t i = 0; grown && i < live_.size(); ++i) {
    QCoreApplication::sendPostedEvents(live_[i].part, QEvent::LayoutRequest);
  }
  if (grown) {
    QCoreApplication::sendPostedEvents(body_, QEvent::LayoutRequest);
  }
}

void Inspector::showTab(Tab tab) {
  tab_ = tab;
  tabs_->setCurrent(static_cast<int>(tab));
  shown_.clear();
  refresh();
}

void Inspector::paintEvent(QPaintEvent*) {
  const Colors& c = Theme::current().colors();
  QPainter p(this);
  p.fillRect(rect(), c.chrome);
  p.fillRect(0, 0, 1, height(), c.border);
}

InspectorStrip::InspectorStrip(QWidget* parent) : QWidget(parent) {
  setFocusPolicy(Qt::TabFocus);
  setCursor(Qt::PointingHandCursor);
  setFixedWidth(Theme::current().px(Metrics::kInspectorStrip));
  setAddress({});
}

void InspectorStrip::setAddress(const QString& address) {
  address_ = address;
  setAccessibleName(address.isEmpty() ? tr("Open inspector") : tr("Open inspector, %1").arg(address));
  setToolTip(tr("Open inspector"));
  update();
}

void InspectorStrip::paintEvent(QPaintEvent*) {
  const Theme& t = Theme::current();
  const Colors& c = t.colors();
  QPainter p(this);
  p.fillRect(rect(), c.chrome);
  p.fillRect(0, 0, 1, height(), c.border);
  const int icon = t.px(16);
  p.drawPixmap((width() - icon) / 2, t.px(10), icon_pixmap(QStringLiteral("inspector"), c.text2, icon, devicePixelRatioF()));
  p.translate(width() / 2.0, t.px(38));
  p.rotate(90);
  p.setFont(t.font(FontRole::control_strong));
  p.setPen(c.text);
  const QString word = tr("Inspector");
  const int w = p.fontMetrics().horizontalAdvance(word);
  const int h = t.px(16);
  p.drawText(QRect(0, -h / 2, w + 2, h), Qt::AlignVCenter, word);
  p.setFont(t.font(FontRole::data));
  p.setPen(c.text2);
  const int room = height() - t.px(60) - w;
  p.drawText(QRect(w + t.px(10), -h / 2, room, h), Qt::AlignVCenter,
             p.fontMetrics().elidedText(address_, Qt::ElideMiddle, room));
}

void InspectorStrip::mousePressEvent(QMouseEvent* event) {
  if (event->button() == Qt::LeftButton) {
    Q_EMIT openRequested();
  }
}

void InspectorStrip::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Space || event->key() == Qt::Key_Enter) {
    Q_EMIT openRequested();
  } else {
    QWidget::keyPressEvent(event);
  }
}

TabStrip::TabStrip(const QStringList& labels, QWidget* parent) : QWidget(parent), labels_(labels) {
  badges_.resize(labels.size());
  setFocusPolicy(Qt::TabFocus);
  setMouseTracking(true);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  setFixedHeight(Theme::current().px(Metrics::kDockHeader));
  setAccessibleName(labels.join(QStringLiteral(", ")));
  setAccessibleDescription(labels.value(0));
}

void TabStrip::setCurrent(int index) {
  if (index != current_ && index >= 0 && index < labels_.size()) {
    current_ = index;
    setAccessibleDescription(labels_[index]);
    update();
  }
}

void TabStrip::setCount(int index, const QString& badge) {
  if (badges_[index] != badge) {
    badges_[index] = badge;
    update();
  }
}

QRect TabStrip::cell(int index) const {
  const Theme& t = Theme::current();
  int x = t.px(kPadding);
  for (int i = 0;; ++i) {
    int w = QFontMetrics(t.font(FontRole::control_strong)).horizontalAdvance(labels_[i]);
    if (!badges_[i].isEmpty()) {
      w += t.px(16) + QFontMetrics(t.font(FontRole::small_data_strong)).horizontalAdvance(badges_[i]);
    }
    if (i == index) {
      return {x, 0, w, height()};
    }
    x += w + t.px(17);
  }
}

QSize TabStrip::sizeHint() const {
  return {cell(static_cast<int>(labels_.size()) - 1).right() + Theme::current().px(kPadding), height()};
}

void TabStrip::choose(int index) {
  if (index >= 0 && index < labels_.size() && index != current_) {
    setCurrent(index);
    Q_EMIT activated(index);
  } else if (index == current_) {
    Q_EMIT activated(index);
  }
}

void TabStrip::paintEvent(QPaintEvent*) {
  const Theme& t = Theme::current();
  const Colors& c = t.colors();
  QPainter p(this);
  p.fillRect(0, height() - 1, width(), 1, c.border);
  for (int i = 0; i < labels_.size(); ++i) {
    const QRect r = cell(i);
    p.setFont(t.font(i == current_ ? FontRole::control_strong : FontRole::control));
    p.setPen(i == current_ || i == hover_ ? c.text : c.text2);
    p.drawText(r.adjusted(0, 0, 2, -1), Qt::AlignVCenter | Qt::AlignLeft, labels_[i]);
    if (!badges_[i].isEmpty()) {
      const QFontMetrics m(t.font(FontRole::small_data_strong));
      const int w = m.horizontalAdvance(badges_[i]) + t.px(10);
      const QRect badge(r.right() - w + 1, (height() - t.px(16)) / 2, w, t.px(16));
      p.setRenderHint(QPainter::Antialiasing);
      p.setPen(Qt::NoPen);
      p.setBrush(c.pressed);
      p.drawRoundedRect(badge, 3, 3);
      p.setRenderHint(QPainter::Antialiasing, false);
      p.setPen(c.text);
      p.setFont(t.font(FontRole::small_data_strong));
      p.drawText(badge, Qt::AlignCenter, badges_[i]);
    }
    if (i == current_) {
      p.fillRect(r.left(), height() - t.px(2), r.width(), t.px(2), c.leader);
    }
  }
}

void TabStrip::mousePressEvent(QMouseEvent* event) {
  for (int i = 0; i < labels_.size(); ++i) {
    if (cell(i).adjusted(-8, 0, 8, 0).contains(event->pos())) {
      choose(i);
      return;
    }
  }
}

void TabStrip::mouseMoveEvent(QMouseEvent* event) {
  int at = -1;
  for (int i = 0; i < labels_.size(); ++i) {
    at = cell(i).adjusted(-8, 0, 8, 0).contains(event->pos()) ? i : at;
  }
  if (at != hover_) {
    hover_ = at;
    update();
  }
}

void TabStrip::leaveEvent(QEvent*) {
  hover_ = -1;
  update();
}

void TabStrip::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Left) {
    choose(std::max(0, current_ - 1));
  } else if (event->key() == Qt::Key_Right) {
    choose(std::min(static_cast<int>(labels_.size()) - 1, current_ + 1));
  } else {
    QWidget::keyPressEvent(event);
  }
}

}  // namespace hw::ui

#include "inspector.moc"
