// SPDX-License-Identifier: Apache-2.0
#include "ui/window/omnibox.h"

#include <QKeyEvent>
#include <QListView>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "ui/painting/text.h"
#include "ui/theme/glyphs.h"
#include "ui/theme/theme.h"
#include "ui/window/controls.h"

namespace hw::ui {

namespace {

constexpr int kRowHeight = 32;
constexpr int kRowsShown = 9;
constexpr std::size_t kObjectsMax = 40;

PaletteEntry object_entry(const QString& icon, const Selection& selection, const QString& detail) {
  PaletteEntry e;
  e.kind = PaletteEntry::Kind::object;
  e.icon = icon;
  e.title = selection.address();
  e.detail = detail;
  e.object = selection;
  return e;
}

QString kind_word(const Selection& s) {
  switch (s.kind) {
    case Selection::Kind::none:
      return {};
    case Selection::Kind::cluster:
      return Omnibox::tr("cluster");
    case Selection::Kind::node:
      return Omnibox::tr("node");
    case Selection::Kind::topic:
      return Omnibox::tr("topic");
    case Selection::Kind::partition:
      return Omnibox::tr("partition");
    case Selection::Kind::offset_range:
      return Omnibox::tr("offsets");
    case Selection::Kind::record:
      return Omnibox::tr("record");
    case Selection::Kind::group:
      return Omnibox::tr("group");
    case Selection::Kind::member:
      return Omnibox::tr("member");
    case Selection::Kind::connection:
      return Omnibox::tr("connection");
  }
  return {};
}

bool exists(const Selection& s, const observe::ClusterView& view) {
  switch (s.kind) {
    case Selection::Kind::none:
      return false;
    case Selection::Kind::cluster:
      return true;
    case Selection::Kind::node:
      return view.nodes.count(BrokerId(s.node)) != 0;
    case Selection::Kind::topic:
      return view.find_topic(s.topic.toStdString()) != nullptr;
    case Selection::Kind::partition:
    case Selection::Kind::offset_range:
    case Selection::Kind::record: {
      const observe::TopicView* topic = view.find_topic(s.topic.toStdString());
      return topic != nullptr && s.partition >= 0 && static_cast<std::size_t>(s.partition) < topic->partitions.size();
    }
    case Selection::Kind::group:
    case Selection::Kind::member:
      return view.find_group(s.group.toStdString()) != nullptr;
    case Selection::Kind::connection:
      return view.connections->count(ConnectionId(s.connection)) != 0;
  }
  return false;
}

void add_objects(std::vector<PaletteEntry>& out, const QString& text, const observe::ClusterView& view) {
  // A whole address first: it may name what no list would hold, such as a record.
  if (const auto parsed = Selection::parse(text); parsed && exists(*parsed, view)) {
    out.push_back(object_entry(QStringLiteral("record"), *parsed, kind_word(*parsed)));
  }
  const auto add = [&](const QString& icon, const Selection& s, const QString& words) {
    if (out.size() >= kObjectsMax) {
      return;
    }
    const bool wanted = text.isEmpty() || s.address().contains(text, Qt::CaseInsensitive) ||
                        words.contains(text, Qt::CaseInsensitive);
    const bool there = std::any_of(out.begin(), out.end(), [&](const PaletteEntry& e) { return e.object == s; });
    if (wanted && !there) {
      out.push_back(object_entry(icon, s, words.isEmpty() ? kind_word(s) : words));
    }
  };
  for (const auto& [name, topic] : *view.topics) {
    if (!topic->internal || name.find(text.toStdString()) != std::string::npos) {
      if (!topic->internal || !text.isEmpty()) {
        add(QStringLiteral("topics"), Selection::ofTopic(QString::fromStdString(name)), {});
      }
    }
  }
  for (const auto& [id, group] : *view.groups) {
    add(QStringLiteral("groups"), Selection::ofGroup(QString::fromStdString(id)), {});
  }
  for (const auto& [id, node] : view.nodes) {
    add(QStringLiteral("node"), Selection::ofNode(id.value()), {});
  }
  for (const auto& [id, connection] : *view.connections) {
    add(QStringLiteral("plug"), Selection::ofConnection(id.value()), QString::fromStdString(connection->client_id));
  }
}

// Rows of the list: icon, title, what it is, shortcut.
class PaletteDelegate : public QStyledItemDelegate {
 public:
  PaletteDelegate(const PaletteModel* model, QObject* parent) : QStyledItemDelegate(parent), model_(model) {}

  QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const override {
    return {100, Theme::current().px(kRowHeight)};
  }

  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    const PaletteEntry* entry = model_->at(index.row());
    if (entry == nullptr) {
      return;
    }
    const Theme& t = Theme::current();
    const Colors& c = t.colors();
    QPainter& p = *painter;
    p.save();
    const bool current = option.state.testFlag(QStyle::State_Selected);
    const QRect r = option.rect.adjusted(t.px(4), 0, -t.px(4), 0);
    if (current || option.state.testFlag(QStyle::State_MouseOver)) {
      p.setRenderHint(QPainter::Antialiasing);
      p.setPen(current && t.highContrast() ? QPen(c.ring, 2.0) : QPen(Qt::NoPen));
      p.setBrush(current ? c.selected : c.hover);
      p.drawRoundedRect(p.pen().style() == Qt::NoPen ? r : r.adjusted(1, 1, -1, -1), t.pxf(4), t.pxf(4));
    }
    const int icon = t.px(14);
    p.drawPixmap(r.left() + t.px(10), r.center().y() - icon / 2 + 1,
                 icon_pixmap(entry->icon, c.text2, icon, option.widget == nullptr ? 1.0 : option.widget->devicePixelRatioF()));
    int right = r.right() - t.px(10);
    if (!entry->shortcut.isEmpty()) {
      const int w = cap_width(entry->shortcut);
      const int h = t.px(16);
      paint_cap(p, QRectF(right - w, r.center().y() - h / 2 + 1, w, h), entry->shortcut, c.border, c.text3);
      right -= w + t.px(10);
    }
    if (!entry->detail.isEmpty()) {
      p.setFont(t.font(FontRole::caption));
      p.setPen(c.text3);
      const int w = p.fontMetrics().horizontalAdvance(entry->detail);
      p.drawText(QRect(right - w, r.top(), w + 1, r.height()), Qt::AlignVCenter, entry->detail);
      right -= w + t.px(10);
    }
    const int x = r.left() + t.px(34);
    const bool data = entry->kind == PaletteEntry::Kind::object;
    p.setFont(t.font(data ? FontRole::data : FontRole::body));
    p.setPen(c.text);
    p.drawText(QRect(x, r.top(), right - x, r.height()), Qt::AlignVCenter,
               p.fontMetrics().elidedText(entry->title, data ? Qt::ElideMiddle : Qt::ElideRight, right - x));
    p.restore();
  }

 private:
  const PaletteModel* model_;
};

}  // namespace

std::vector<PaletteEntry> palette_entries(const QString& text, const CommandRegistry& commands,
                                          const observe::ClusterView& view) {
  const QString trimmed = text.trimmed();
  const bool only_commands = trimmed.startsWith(QLatin1Char('>'));
  const bool only_objects = trimmed.startsWith(QLatin1Char('@'));
  const QString wanted = only_commands || only_objects ? trimmed.mid(1).trimmed() : trimmed;
  std::vector<PaletteEntry> objects;
  std::vector<PaletteEntry> found;
  if (!only_commands && (only_objects || !wanted.isEmpty())) {
    add_objects(objects, wanted, view);
  }
  // An address that was typed in full comes before commands that happen to share letters with it.
  const bool exact = !wanted.isEmpty() && !objects.empty() && objects.front().title == wanted;
  if (exact) {
    found.insert(found.end(), objects.begin(), objects.end());
  }
  if (!only_objects) {
    std::vector<const Command*> list = commands.matching(wanted);
    // The field is open already; and with nothing typed, going somewhere is what most people want.
    std::erase_if(list, [](const Command* c) { return c->id.startsWith(QLatin1String("omnibox.")); });
    if (wanted.isEmpty()) {
      std::stable_partition(list.begin(), list.end(),
                            [](const Command* c) { return c->id.startsWith(QLatin1String("page.")); });
    }
    for (const Command* command : list) {
      PaletteEntry e;
      e.icon = command->id.startsWith(QLatin1String("page.")) ? command->id.mid(5) : QStringLiteral("command");
      e.title = command->title;
      e.shortcut = command->shortcut.toString(QKeySequence::NativeText);
      e.command = command->id;
      found.push_back(std::move(e));
    }
  }
  if (!exact) {
    found.insert(found.end(), objects.begin(), objects.end());
  }
  return found;
}

void PaletteModel::setEntries(std::vector<PaletteEntry> entries) {
  beginResetModel();
  entries_ = std::move(entries);
  endResetModel();
}

const PaletteEntry* PaletteModel::at(int row) const {
  return row < 0 || row >= rowCount() ? nullptr : &entries_[static_cast<std::size_t>(row)];
}

int PaletteModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(entries_.size());
}

QVariant PaletteModel::data(const QModelIndex& index, int role) const {
  const PaletteEntry* e = at(index.row());
  if (e == nullptr) {
    return {};
  }
  if (role == Qt::DisplayRole) {
    return e->title;
  }
  if (role == Qt::AccessibleTextRole) {
    return QStringList{e->title, e->detail, e->shortcut}.join(QLatin1Char(' ')).simplified();
  }
  return {};
}

Omnibox::Omnibox(CommandRegistry* commands, std::function<observe::ViewPtr()> view, QWidget* window)
    : QLineEdit(window), commands_(commands), view_(std::move(view)) {
  const Theme& t = Theme::current();
  setPlaceholderText(tr("Go to, run, find…"));
  setAccessibleName(tr("Go to, run a command, or find an object"));
  setFixedHeight(t.px(28));
  setTextMargins(t.px(20), 0, t.px(52), 0);
  setFocusPolicy(Qt::StrongFocus);
  popup_ = new QFrame(window);
  popup_->setObjectName(QStringLiteral("palette"));
  popup_->hide();
  auto* column = new QVBoxLayout(popup_);
  column->setContentsMargins(1, t.px(4), 1, t.px(4));
  list_ = new QListView(popup_);
  model_ = new PaletteModel(this);
  list_->setModel(model_);
  list_->setItemDelegate(new PaletteDelegate(model_, this));
  list_->setFocusPolicy(Qt::NoFocus);
  list_->setUniformItemSizes(true);
  list_->setMouseTracking(true);
  list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  list_->setAccessibleName(tr("Results"));
  column->addWidget(list_);
  nothing_ = new TextLabel({}, FontRole::control, TextLabel::Tone::text2, popup_);
  nothing_->setContentsMargins(t.px(12), 0, t.px(12), 0);
  nothing_->setWordWrap(true);
  column->addWidget(nothing_);
  connect(list_, &QListView::clicked, this, [this](const QModelIndex& index) { choose(index.row()); });
  connect(this, &QLineEdit::textEdited, this, &Omnibox::refresh);
  const auto restyle = [this] {
    const Colors& c = Theme::current().colors();
    setTextMargins(Theme::current().px(20), 0, Theme::current().px(52), 0);
    popup_->setStyleSheet(QStringLiteral("#palette { background: %1; border: 1px solid %2; border-radius: 6px; }"
                                         "QListView { background: %1; }")
                              .arg(c.card.name(), c.control.name()));
  };
  restyle();
  connect(&Theme::current(), &Theme::changed, this, restyle);
}

void Omnibox::open(const QString& text) {
  if (!hasFocus()) {
    before_ = window()->focusWidget();
  }
  setText(text);
  setFocus(Qt::ShortcutFocusReason);
  refresh();
}

bool Omnibox::listOpen() const { return popup_->isVisible(); }

void Omnibox::closeList() { popup_->hide(); }

void Omnibox::refresh() {
  const observe::ViewPtr view = view_();
  model_->setEntries(palette_entries(text(), *commands_, *view));
  const bool any = model_->rowCount() > 0;
  list_->setVisible(any);
  nothing_->setVisible(!any);
  if (any) {
    list_->setCurrentIndex(model_->index(0));
  } else {
    const QString wanted = text().trimmed().left(40);
    nothing_->setText(wanted == QLatin1String("@") ? tr("There is no topic, group or client yet.")
                                                   : tr("Nothing matches “%1”. > lists commands, @ lists objects.").arg(wanted));
    setAccessibleDescription(nothing_->text());
  }
  place();
  popup_->show();
  popup_->raise();
}

void Omnibox::place() {
  const Theme& t = Theme::current();
  const int width = std::max(this->width(), t.px(440));
  const int rows = std::clamp(model_->rowCount(), 1, kRowsShown);
  const QPoint below = mapTo(popup_->parentWidget(), QPoint(this->width() / 2, height() + t.px(4)));
  int x = below.x() - width / 2;
  x = std::clamp(x, t.px(8), std::max(t.px(8), popup_->parentWidget()->width() - width - t.px(8)));
  popup_->setGeometry(x, below.y(), width, rows * t.px(kRowHeight) + t.px(8) + 2);
}

void Omnibox::choose(int row) {
  const PaletteEntry* entry = model_->at(row);
  if (entry == nullptr) {
    return;
  }
  const PaletteEntry chosen = *entry;
  popup_->hide();
  clear();
  if (before_ != nullptr) {
    before_->setFocus(Qt::OtherFocusReason);
  } else {
    clearFocus();
  }
  if (chosen.kind == PaletteEntry::Kind::object) {
    Q_EMIT objectChosen(chosen.object);
  } else {
    Q_EMIT commandChosen(chosen.command);
  }
}

void Omnibox::keyPressEvent(QKeyEvent* event) {
  switch (event->key()) {
    case Qt::Key_Down:
    case Qt::Key_Up: {
      if (!popup_->isVisible()) {
        refresh();
        return;
      }
      const int rows = model_->rowCount();
      const int step = event->key() == Qt::Key_Down ? 1 : -1;
      const int row = (list_->currentIndex().row() + step + rows) % std::max(1, rows);
      list_->setCurrentIndex(model_->index(row));
      setAccessibleDescription(model_->data(model_->index(row), Qt::AccessibleTextRole).toString());
      return;
    }
    case Qt::Key_Return:
    case Qt::Key_Enter:
      choose(list_->currentIndex().row());
      return;
    case Qt::Key_Escape:
      popup_->hide();
      clear();
      if (before_ != nullptr) {
        before_->setFocus(Qt::OtherFocusReason);
      } else {
        clearFocus();
      }
      return;
    default:
      QLineEdit::keyPressEvent(event);
  }
}

void Omnibox::focusInEvent(QFocusEvent* event) {
  QLineEdit::focusInEvent(event);
  if (event->reason() == Qt::MouseFocusReason) {
    refresh();
  }
}

void Omnibox::focusOutEvent(QFocusEvent* event) {
  QLineEdit::focusOutEvent(event);
  if (event->reason() != Qt::PopupFocusReason && event->reason() != Qt::ActiveWindowFocusReason) {
    popup_->hide();
  }
}

void Omnibox::resizeEvent(QResizeEvent* event) {
  QLineEdit::resizeEvent(event);
  if (popup_->isVisible()) {
    place();
  }
}

void Omnibox::paintEvent(QPaintEvent* event) {
  QLineEdit::paintEvent(event);
  const Theme& t = Theme::current();
  const Colors& c = t.colors();
  QPainter p(this);
  const int icon = t.px(14);
  p.drawPixmap(t.px(9), (height() - icon) / 2, icon_pixmap(QStringLiteral("search"), c.text3, icon, devicePixelRatioF()));
  if (text().isEmpty()) {
    const QString keys = commands_->shortcutText(QStringLiteral("omnibox.open")).replace(QLatin1Char('+'), QLatin1Char(' '));
    const int w = cap_width(keys);
    const int h = t.px(16);
    paint_cap(p, QRectF(width() - w - t.px(7), (height() - h) / 2, w, h), keys, c.border, c.text3);
  }
}

}  // namespace hw::ui
