// SPDX-License-Identifier: Apache-2.0
// Accessible interfaces of painted canvases: the canvas is a list, each visible object one of its items.
#include <QAccessibleWidget>
#include <QApplication>
#include <QHash>
#include <QPointer>

#include "ui/views/object_canvas.h"

namespace hw::ui {

namespace {

class ObjectInterface : public QAccessibleInterface, public QAccessibleActionInterface {
 public:
  ObjectInterface(ObjectCanvas* canvas, int index) : canvas_(canvas), index_(index) {}

  bool isValid() const override { return canvas_ != nullptr && index_ < canvas_->objectCount(); }
  QObject* object() const override { return nullptr; }
  QWindow* window() const override { return canvas_ == nullptr ? nullptr : canvas_->window()->windowHandle(); }
  QAccessibleInterface* parent() const override { return QAccessible::queryAccessibleInterface(canvas_); }
  QAccessibleInterface* child(int) const override { return nullptr; }
  QAccessibleInterface* childAt(int, int) const override { return nullptr; }
  int childCount() const override { return 0; }
  int indexOfChild(const QAccessibleInterface*) const override { return -1; }
  QAccessible::Role role() const override {
    return isValid() ? canvas_->objectRole(index_) : QAccessible::NoRole;
  }
  QRect rect() const override {
    if (!isValid()) {
      return {};
    }
    const QRect local = canvas_->toWidget(canvas_->object(index_).rect);
    return {canvas_->mapToGlobal(local.topLeft()), local.size()};
  }
  QAccessible::State state() const override {
    QAccessible::State s;
    if (!isValid()) {
      s.invalid = true;
      return s;
    }
    s.focusable = true;
    s.selectable = true;
    s.focused = canvas_->focusedObject() == index_;
    s.selected = !canvas_->selection().none() && canvas_->object(index_).selection == canvas_->selection();
    s.offscreen = !canvas_->visibleRegion().intersects(canvas_->toWidget(canvas_->object(index_).rect));
    return s;
  }
  QString text(QAccessible::Text what) const override {
    if (!isValid()) {
      return {};
    }
    switch (what) {
      case QAccessible::Name:
        return canvas_->objectSentence(index_);
      case QAccessible::Description:
        return canvas_->object(index_).selection.address();
      default:
        return {};
    }
  }
  void setText(QAccessible::Text, const QString&) override {}
  void* interface_cast(QAccessible::InterfaceType type) override {
    return type == QAccessible::ActionInterface ? static_cast<QAccessibleActionInterface*>(this) : nullptr;
  }
  QStringList actionNames() const override { return {pressAction(), setFocusAction()}; }
  void doAction(const QString& action) override {
    if (!isValid()) {
      return;
    }
    if (action == setFocusAction()) {
      canvas_->setFocus();
      canvas_->focusObject(index_);
    } else if (action == pressAction()) {
      canvas_->openObject(index_);
    }
  }
  QStringList keyBindingsForAction(const QString&) const override { return {}; }

 private:
  QPointer<ObjectCanvas> canvas_;
  int index_;
};

class CanvasInterface : public QAccessibleWidget {
 public:
  explicit CanvasInterface(ObjectCanvas* canvas) : QAccessibleWidget(canvas, QAccessible::List) {}
  ~CanvasInterface() override {
    for (const QAccessible::Id id : std::as_const(children_)) {
      QAccessible::deleteAccessibleInterface(id);
    }
  }
  int childCount() const override { return canvas()->objectCount(); }
  QAccessibleInterface* child(int index) const override {
    if (index < 0 || index >= childCount()) {
      return nullptr;
    }
    const auto known = children_.constFind(index);
    if (known != children_.constEnd()) {
      return QAccessible::accessibleInterface(*known);
    }
    auto* made = new ObjectInterface(canvas(), index);
    children_.insert(index, QAccessible::registerAccessibleInterface(made));
    return made;
  }
  int indexOfChild(const QAccessibleInterface* wanted) const override {
    for (auto at = children_.constBegin(); at != children_.constEnd(); ++at) {
      if (QAccessible::accessibleInterface(at.value()) == wanted) {
        return at.key();
      }
    }
    return -1;
  }
  QAccessibleInterface* childAt(int x, int y) const override {
    const QPoint local = canvas()->mapFromGlobal(QPoint(x, y));
    return child(canvas()->objectAt(canvas()->toCanvas(local)));
  }
  QAccessibleInterface* focusChild() const override {
    const int index = canvas()->focusedObject();
    return index >= 0 ? child(index) : QAccessibleWidget::focusChild();
  }

 private:
  ObjectCanvas* canvas() const { return static_cast<ObjectCanvas*>(widget()); }
  mutable QHash<int, QAccessible::Id> children_;
};

QAccessibleInterface* make_interface(const QString&, QObject* object) {
  auto* canvas = qobject_cast<ObjectCanvas*>(object);
  return canvas == nullptr ? nullptr : new CanvasInterface(canvas);
}

}  // namespace

void ObjectCanvas::installAccessibility() {
  static const bool once = [] {
    QAccessible::installFactory(make_interface);
    return true;
  }();
  static_cast<void>(once);
}

}  // namespace hw::ui
