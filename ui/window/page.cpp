// SPDX-License-Identifier: Apache-2.0
#include "ui/window/page.h"

#include <QContextMenuEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QStackedLayout>
#include <QVBoxLayout>
#include <utility>

#include "ui/window/command_box.h"
#include "ui/window/controls.h"
#include "ui/window/elided_label.h"

namespace hw::ui {

namespace {

// The line drawing above a notice.
class Drawing : public QWidget {
 public:
  Drawing(std::function<void(QPainter&, const QRectF&)> paint, QWidget* parent)
      : QWidget(parent), paint_(std::move(paint)) {
    setFixedHeight(Theme::current().px(118));
  }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter p(this);
    p.setRenderHint(QPainter::Antialiasing);
    const double s = Theme::current().scale();
    p.scale(s, s);
    paint_(p, QRectF(0, 0, width() / s, height() / s));
  }

 private:
  std::function<void(QPainter&, const QRectF&)> paint_;
};

}  // namespace

PageHeader::PageHeader(const QString& title, QWidget* parent) : QWidget(parent) {
  Theme& t = Theme::current();
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(t.px(Metrics::kPagePadding), t.px(6), t.px(Metrics::kPagePadding), t.px(6));
  row->setSpacing(t.px(8));
  title_ = new TextLabel(title, FontRole::page_title, TextLabel::Tone::text, this);
  count_ = new ElidedLabel(FontRole::body, TextLabel::Tone::text2, Qt::ElideRight, this);
  count_->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Preferred);
  row->addWidget(title_);
  row->addSpacing(t.px(2));
  row->addWidget(count_);
  left_ = new QHBoxLayout;
  left_->setSpacing(t.px(8));
  row->addLayout(left_);
  row->addStretch(1);
  right_ = new QHBoxLayout;
  right_->setSpacing(t.px(8));
  row->addLayout(right_);
  // As high as a filter with its chips needs, usually one line.
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  const auto resize = [this] { setMinimumHeight(Theme::current().px(Metrics::kPageHeader)); };
  resize();
  connect(&t, &Theme::changed, this, resize);
}

void PageHeader::setTitle(const QString& title) { title_->setText(title); }

void PageHeader::setCount(const QString& text) {
  if (count_->text() != text) {
    count_->setText(text);
    layout()->activate();  // at once: a picture taken before the layout comes round would show it elided
  }
}

void PageHeader::addLeft(QWidget* widget) {
  left_->addWidget(widget);
  // What grows, a filter, takes the room in the middle before anything else does.
  if (widget->sizePolicy().horizontalPolicy() == QSizePolicy::Expanding) {
    qobject_cast<QHBoxLayout*>(layout())->setStretchFactor(left_, 1'000);
    left_->setStretchFactor(widget, 1'000);
    left_->addStretch(1);
  }
}

void PageHeader::addRight(QWidget* widget) { right_->addWidget(widget); }

QAbstractButton* PageHeader::addAction(const QString& icon, const QString& text, const QString& command_id,
                                       const QString& shortcut) {
  auto* button = new Button(Button::Kind::normal, icon, text, this);
  if (!shortcut.isEmpty()) {
    button->setShortcutCap(shortcut);
  }
  connect(button, &Button::clicked, this, [this, command_id] { Q_EMIT commandRequested(command_id, {}); });
  right_->addWidget(button);
  return button;
}

void PageHeader::paintEvent(QPaintEvent*) {
  const Colors& c = Theme::current().colors();
  QPainter p(this);
  p.fillRect(rect(), c.canvas);
  p.fillRect(0, height() - 1, width(), 1, c.hair);
}

Page::Page(Info info, QWidget* parent) : QWidget(parent), info_(std::move(info)) {
  setAccessibleName(info_.title);
  setProperty("ownFocus", true);  // a ring around the whole page would say nothing
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  header_ = new PageHeader(info_.title, this);
  connect(header_, &PageHeader::commandRequested, this, &Page::commandRequested);
  column->addWidget(header_);
  auto* body = new QWidget(this);
  stack_ = new QStackedLayout(body);
  column->addWidget(body, 1);
  setAutoFillBackground(true);
  const auto paint_ground = [this] {
    QPalette p = palette();
    p.setColor(QPalette::Window, Theme::current().colors().canvas);
    setPalette(p);
  };
  paint_ground();
  connect(&Theme::current(), &Theme::changed, this, paint_ground);
}

void Page::attach(Session* session) {
  session_ = session;
  view_ = session->view();
}

void Page::setSelection(const Selection& selection) { selection_ = selection; }

void Page::setWidthClass(int /*width_class*/) {}

QRect Page::anchor(const Selection& /*selection*/) const { return {}; }

std::optional<QPoint> Page::freeSpot(QSize /*size*/) const { return std::nullopt; }

void Page::deliverFrame() {
  if (session_ == nullptr) {
    return;
  }
  view_ = session_->view();
  // The notice of a page names the address; before the cluster serves, it has none to name.
  if (notice_ != nullptr && notice_->property("address").toString() != session_->bootstrap()) {
    showContent();
  }
  frame();
}

void Page::setContent(QWidget* content) {
  content_ = content;
  stack_->addWidget(content);
  if (notice_ == nullptr) {
    stack_->setCurrentWidget(content);
  }
}

namespace {

// Where there is not enough height for all, the drawing goes first: it says nothing that the words do not.
class NoticeWidget : public QWidget {
 public:
  using QWidget::QWidget;
  QWidget* picture = nullptr;

 protected:
  void resizeEvent(QResizeEvent* event) override {
    QWidget::resizeEvent(event);
    if (picture != nullptr) {
      const int words = layout()->minimumSize().height() - (picture->isHidden() ? 0 : picture->minimumHeight());
      picture->setVisible(height() >= words + picture->minimumHeight());
    }
  }
};

}  // namespace

QWidget* make_notice(const PageNotice& notice, QWidget* parent, const std::function<void(const QString& command)>& run) {
  Theme& t = Theme::current();
  auto* widget = new NoticeWidget(parent);
  auto* outer = new QVBoxLayout(widget);
  outer->setContentsMargins(t.px(16), t.px(16), t.px(16), t.px(16));
  outer->setSpacing(0);
  outer->addStretch(2);
  if (notice.drawing) {
    auto* picture = new QWidget(widget);
    auto* frame = new QVBoxLayout(picture);
    frame->setContentsMargins(0, 0, 0, t.px(30));
    frame->addWidget(new Drawing(notice.drawing, picture));
    picture->setFixedHeight(t.px(118 + 30));
    widget->picture = picture;
    outer->addWidget(picture);
  }
  auto* title = new TextLabel(notice.title, FontRole::display,
                              notice.kind == PageNotice::Kind::failed ? TextLabel::Tone::err : TextLabel::Tone::text,
                              widget);
  title->setAlignment(Qt::AlignHCenter);
  outer->addWidget(title);
  if (!notice.text.isEmpty()) {
    outer->addSpacing(t.px(8));
    auto* text = new TextLabel(notice.text, FontRole::body, TextLabel::Tone::text2, widget);
    text->setAlignment(Qt::AlignHCenter);
    text->setWordWrap(true);
    text->setFixedWidth(t.px(440));
    text->setMinimumHeight(text->heightForWidth(t.px(440)));
    outer->addWidget(text, 0, Qt::AlignHCenter);
  }
  if (!notice.action_text.isEmpty() || !notice.second_text.isEmpty()) {
    outer->addSpacing(t.px(18));
    auto* row = new QHBoxLayout;
    row->setSpacing(t.px(8));
    row->addStretch(1);
    if (!notice.action_text.isEmpty()) {
      auto* action = new Button(Button::Kind::primary, {}, notice.action_text, widget);
      action->setLarge(true);
      action->setShortcutCap(notice.action_shortcut);
      const QString id = notice.action_command;
      QObject::connect(action, &Button::clicked, widget, [run, id] { run(id); });
      row->addWidget(action);
    }
    if (!notice.second_text.isEmpty()) {
      auto* second = new Button(Button::Kind::normal, {}, notice.second_text, widget);
      second->setLarge(true);
      const QString id = notice.second_command;
      QObject::connect(second, &Button::clicked, widget, [run, id] { run(id); });
      row->addWidget(second);
    }
    row->addStretch(1);
    outer->addLayout(row);
  }
  if (!notice.command_line.isEmpty()) {
    outer->addSpacing(t.px(30));
    auto* column = new QWidget(widget);
    column->setFixedWidth(t.px(520));
    auto* inner = new QVBoxLayout(column);
    inner->setContentsMargins(0, 0, 0, 0);
    inner->setSpacing(t.px(8));
    if (!notice.command_hint.isEmpty()) {
      inner->addWidget(new TextLabel(notice.command_hint, FontRole::control, TextLabel::Tone::text3, column));
    }
    inner->addWidget(new CommandBox(notice.command_line, QStringLiteral("$"), column));
    outer->addWidget(column, 0, Qt::AlignHCenter);
  }
  outer->addStretch(3);
  return widget;
}

void Page::showNotice(const PageNotice& notice) {
  if (notice_ != nullptr) {
    stack_->removeWidget(notice_);
    notice_->deleteLater();
  }
  notice_ = make_notice(notice, this, [this](const QString& command) { Q_EMIT commandRequested(command, {}); });
  if (session_ != nullptr) {
    notice_->setProperty("address", session_->bootstrap());
  }
  stack_->addWidget(notice_);
  stack_->setCurrentWidget(notice_);
}

void Page::showContent() {
  if (notice_ != nullptr) {
    stack_->removeWidget(notice_);
    notice_->deleteLater();
    notice_ = nullptr;
  }
  if (content_ != nullptr) {
    stack_->setCurrentWidget(content_);
  }
}

void Page::contextMenuEvent(QContextMenuEvent* event) {
  // What was clicked is selected already. The keyboard's menu opens at the object, wherever the pointer is.
  QPoint at = event->globalPos();
  if (event->reason() == QContextMenuEvent::Keyboard) {
    const QRect place = anchor(selection_);
    at = mapToGlobal(place.isEmpty() ? rect().center() : place.center());
  }
  Q_EMIT contextRequested(selection_, at);
  event->accept();
}

bool Page::noticeShown() const { return notice_ != nullptr; }

}  // namespace hw::ui
