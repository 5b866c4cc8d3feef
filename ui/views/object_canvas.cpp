// SPDX-License-Identifier: Apache-2.0
#include "ui/views/object_canvas.h"

#include <QContextMenuEvent>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>
#include <limits>

#include "ui/theme/glyphs.h"
#include "ui/theme/theme.h"

namespace hw::ui {

ObjectCanvas::ObjectCanvas(QWidget* parent) : QWidget(parent) {
  installAccessibility();
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setAttribute(Qt::WA_OpaquePaintEvent);
  setProperty("ownFocus", true);  // paints a ring around the object, not around itself
  connect(&Theme::current(), &Theme::changed, this, [this] { update(); });
}

QAccessible::Role ObjectCanvas::objectRole(int) const { return QAccessible::ListItem; }

int ObjectCanvas::objectAt(QPointF point) const {
  for (int i = objectCount() - 1; i >= 0; --i) {
    if (object(i).rect.contains(point)) {
      return i;
    }
  }
  return -1;
}

int ObjectCanvas::indexOf(const Selection& selection) const {
  if (selection.none()) {
    return -1;
  }
  for (int i = 0; i < objectCount(); ++i) {
    if (object(i).selection == selection) {
      return i;
    }
  }
  return -1;
}

QString ObjectCanvas::toolTipAt(QPointF point) const {
  const int index = objectAt(point);
  return index < 0 ? QString() : objectSentence(index);
}

QRect ObjectCanvas::toWidget(const QRectF& rect) const {
  const double s = Theme::current().scale();
  return QRectF(rect.topLeft() * s, rect.size() * s).toAlignedRect().adjusted(-1, -1, 1, 1);
}

QPointF ObjectCanvas::toCanvas(QPointF widget_point) const { return widget_point / Theme::current().scale(); }

void ObjectCanvas::setSelection(const Selection& selection) {
  if (selection == selection_) {
    return;
  }
  selection_ = selection;
  // Two objects may stand for one (a node and its controller): the one that has the focus keeps it.
  const bool here = focus_index_ >= 0 && focus_index_ < objectCount() && object(focus_index_).selection == selection;
  if (here) {
    focus_ = selection;
  } else {
    walking_ = false;  // it was chosen elsewhere
  }
  selectionChanged();  // may show other objects
  if (!here) {
    const int at = indexOf(selection);
    if (at >= 0 || !selection.none()) {
      focus_ = at >= 0 ? selection : Selection{};
      focus_index_ = at;
    }
  }
  update();
}

int ObjectCanvas::focusedObject() const {
  if (!hasFocus()) {
    return -1;
  }
  // An object without an address is known by its place only.
  if (focus_index_ >= 0 && focus_index_ < objectCount() && object(focus_index_).selection == focus_) {
    return focus_index_;
  }
  return focus_.none() ? -1 : indexOf(focus_);
}

void ObjectCanvas::focusObject(int index) {
  if (index < 0 || index >= objectCount()) {
    return;
  }
  const CanvasObject target = object(index);
  const int before = focusedObject();
  if (before >= 0) {
    updateRect(object(before).rect.adjusted(-6, -6, 6, 6));
  }
  focus_ = target.selection;
  focus_index_ = index;
  updateRect(target.rect.adjusted(-6, -6, 6, 6));
  if (!target.selection.none() && target.selection != selection_) {
    Q_EMIT selectionRequested(target.selection);
  }
  announceFocus();
}

void ObjectCanvas::openObject(int index) {
  if (index >= 0 && index < objectCount() && !object(index).selection.none()) {
    Q_EMIT openRequested(object(index).selection);
  }
}

void ObjectCanvas::announceFocus() {
  if (!QAccessible::isActive()) {
    return;
  }
  const int index = focusedObject();
  if (index >= 0) {
    QAccessibleEvent event(this, QAccessible::Focus);
    event.setChild(index);
    QAccessible::updateAccessibility(&event);
  }
}

void ObjectCanvas::objectsChanged() {
  if (pointer_inside_) {
    hovered_ = objectAt(last_pointer_);
  } else {
    hovered_ = -1;
  }
  const bool stays = focus_index_ >= 0 && focus_index_ < objectCount() && object(focus_index_).selection == focus_;
  if (focus_index_ >= 0 && !stays) {
    focus_index_ = focus_.none() ? -1 : indexOf(focus_);
  }
  if (QAccessible::isActive()) {
    QAccessibleEvent event(this, QAccessible::ObjectReorder);
    QAccessible::updateAccessibility(&event);
  }
}

void ObjectCanvas::setHovered(int index) {
  if (index == hovered_) {
    return;
  }
  const auto refresh = [this](int i) {
    if (i >= 0 && i < objectCount()) {
      updateRect(object(i).rect.adjusted(-3, -3, 3, 3));
    }
  };
  refresh(hovered_);
  hovered_ = index;
  refresh(hovered_);
  Q_EMIT hoveredChanged(index);
}

bool ObjectCanvas::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    const QPointF point = toCanvas(help->pos());
    const QString text = toolTipAt(point);
    if (text.isEmpty()) {
      QToolTip::hideText();
      event->ignore();
    } else {
      const int index = objectAt(point);
      const QRect keep = index >= 0 ? toWidget(object(index).rect) : QRect(help->pos(), QSize(1, 1)).adjusted(-3, -3, 3, 3);
      QToolTip::showText(help->globalPos(), text, this, keep);
    }
    return true;
  }
  return QWidget::event(event);
}

void ObjectCanvas::paintEvent(QPaintEvent* event) {
  ++paints_;
  QPainter painter(this);
  const double s = Theme::current().scale();
  painter.scale(s, s);
  const QRectF exposed(QPointF(event->rect().topLeft()) / s, QSizeF(event->rect().size()) / s);
  paintCanvas(painter, exposed);
  const int focused = focusedObject();
  if (focused >= 0 && walking_) {
    paint_focus(painter, object(focused).rect);
  }
}

void ObjectCanvas::mouseMoveEvent(QMouseEvent* event) {
  pointer_inside_ = true;
  last_pointer_ = toCanvas(event->position());
  setHovered(objectAt(last_pointer_));
}

void ObjectCanvas::mousePressEvent(QMouseEvent* event) {
  const int index = objectAt(toCanvas(event->position()));
  walking_ = false;
  if (event->button() != Qt::LeftButton && event->button() != Qt::RightButton) {
    return;
  }
  const Selection target = index >= 0 ? object(index).selection : Selection{};
  if (index >= 0) {
    focus_ = target;
    focus_index_ = index;
  }
  if (target != selection_) {
    Q_EMIT selectionRequested(target);
  }
}

void ObjectCanvas::mouseDoubleClickEvent(QMouseEvent* event) {
  if (event->button() == Qt::LeftButton) {
    openObject(objectAt(toCanvas(event->position())));
  }
}

void ObjectCanvas::leaveEvent(QEvent*) {
  pointer_inside_ = false;
  setHovered(-1);
}

int ObjectCanvas::neighbour(int from, Qt::Key key) const {
  const CanvasObject here = object(from);
  if (key == Qt::Key_Up || key == Qt::Key_Down) {
    const int step = key == Qt::Key_Down ? 1 : -1;
    for (int i = from + step; i >= 0 && i < objectCount(); i += step) {
      if (object(i).column == here.column) {
        return i;
      }
    }
    return from;
  }
  // The nearest by height in the next column that has anything.
  const int direction = key == Qt::Key_Right ? 1 : -1;
  int column = direction > 0 ? std::numeric_limits<int>::max() : std::numeric_limits<int>::min();
  for (int i = 0; i < objectCount(); ++i) {
    const int c = object(i).column;
    if (direction > 0 && c > here.column) {
      column = std::min(column, c);
    } else if (direction < 0 && c < here.column) {
      column = std::max(column, c);
    }
  }
  int best = from;
  double away = std::numeric_limits<double>::max();
  for (int i = 0; i < objectCount(); ++i) {
    const CanvasObject other = object(i);
    const double distance = std::abs(other.rect.center().y() - here.rect.center().y());
    if (other.column == column && distance < away) {
      away = distance;
      best = i;
    }
  }
  return best;
}

void ObjectCanvas::keyPressEvent(QKeyEvent* event) {
  const int at = focusedObject();
  walking_ = true;
  switch (event->key()) {
    case Qt::Key_Up:
    case Qt::Key_Down:
    case Qt::Key_Left:
    case Qt::Key_Right:
      if (event->modifiers() & ~Qt::KeypadModifier) {
        break;
      }
      if (objectCount() > 0) {
        focusObject(at < 0 ? 0 : neighbour(at, static_cast<Qt::Key>(event->key())));
      }
      return;
    case Qt::Key_Home:
      focusObject(0);
      return;
    case Qt::Key_End:
      focusObject(objectCount() - 1);
      return;
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (event->modifiers() == Qt::NoModifier || event->modifiers() == Qt::KeypadModifier) {
        openObject(at);
        return;
      }
      break;
    default:
      break;
  }
  QWidget::keyPressEvent(event);
}

bool ObjectCanvas::focusNextPrevChild(bool next) {
  const int at = focusedObject();
  walking_ = true;
  const int target = at < 0 ? (next ? 0 : objectCount() - 1) : at + (next ? 1 : -1);
  if (target >= 0 && target < objectCount()) {
    focusObject(target);
    return true;
  }
  return QWidget::focusNextPrevChild(next);
}

void ObjectCanvas::focusInEvent(QFocusEvent* event) {
  QWidget::focusInEvent(event);
  const bool walked = event->reason() == Qt::TabFocusReason || event->reason() == Qt::BacktabFocusReason;
  walking_ = walked;
  if (walked && objectCount() > 0 && indexOf(focus_) < 0) {
    focusObject(event->reason() == Qt::TabFocusReason ? 0 : objectCount() - 1);
  }
  update();
  announceFocus();
}

void ObjectCanvas::focusOutEvent(QFocusEvent* event) {
  QWidget::focusOutEvent(event);
  update();
}

}  // namespace hw::ui
