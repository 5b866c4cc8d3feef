// SPDX-License-Identifier: Apache-2.0
// ObjectCanvas: a painted widget whose contents are objects: hover, selection, keyboard walk, accessibility.
//
// A subclass paints, and says which objects it shows, in reading order; the base does the rest. Objects are virtual:
// asked for by index, so ten thousand cells cost nothing until looked at. Up and down walk inside a column, left and
// right between columns, Tab and Shift+Tab through all and then out of the canvas; moving selects, Return opens.
// Everything is in px at scale 1.0; the base scales. Thread rule: UI thread only.
#pragma once

#include <QAccessible>
#include <QPointF>
#include <QRectF>
#include <QString>
#include <QWidget>

#include "ui/session/selection.h"

namespace hw::ui {

struct CanvasObject {
  Selection selection;  // none: can be walked to, not selected
  QRectF rect;
  int column = 0;
};

class ObjectCanvas : public QWidget {
  Q_OBJECT

 public:
  explicit ObjectCanvas(QWidget* parent = nullptr);

  // --- what a subclass tells
  [[nodiscard]] virtual int objectCount() const = 0;
  [[nodiscard]] virtual CanvasObject object(int index) const = 0;
  // A whole sentence: "demo.orders 2 on node 3, offline, 13 behind".
  [[nodiscard]] virtual QString objectSentence(int index) const = 0;
  [[nodiscard]] virtual QAccessible::Role objectRole(int index) const;
  // Index under a point, -1: nothing. The default looks from the last to the first.
  [[nodiscard]] virtual int objectAt(QPointF point) const;
  // First index with this selection, -1: none. The default compares all.
  [[nodiscard]] virtual int indexOf(const Selection& selection) const;

  // --- state
  void setSelection(const Selection& selection);
  [[nodiscard]] const Selection& selection() const { return selection_; }
  [[nodiscard]] int hovered() const { return hovered_; }
  // The object with the keyboard focus, -1 while the canvas has none.
  [[nodiscard]] int focusedObject() const;
  void focusObject(int index);
  // The keyboard is walking through this canvas; selections that it makes must not rearrange what it walks through.
  [[nodiscard]] bool walking() const { return walking_ && hasFocus(); }
  void openObject(int index);
  // How often paintEvent ran; tests count.
  [[nodiscard]] int paints() const { return paints_; }

  [[nodiscard]] QRect toWidget(const QRectF& rect) const;
  [[nodiscard]] QPointF toCanvas(QPointF widget_point) const;
  void updateRect(const QRectF& rect) { update(toWidget(rect)); }

  // Registers the accessible interfaces of canvases; called by the constructor, once per process.
  static void installAccessibility();

 signals:
  void selectionRequested(const hw::ui::Selection& selection);
  void openRequested(const hw::ui::Selection& selection);
  void hoveredChanged(int index);

 protected:
  // Called for each paint with a painter scaled to the UI scale; `exposed` in canvas units.
  virtual void paintCanvas(QPainter& painter, const QRectF& exposed) = 0;
  // Tooltip for an object or point; empty: none.
  [[nodiscard]] virtual QString toolTipAt(QPointF point) const;
  // The selection changed from outside or inside.
  virtual void selectionChanged() {}
  // To be called after objects appeared or vanished: hover and focus find their objects again.
  void objectsChanged();

  bool event(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool focusNextPrevChild(bool next) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;

 private:
  void setHovered(int index);
  [[nodiscard]] int neighbour(int from, Qt::Key key) const;
  void announceFocus();

  Selection selection_;
  Selection focus_;        // what has the focus, found again by address
  int focus_index_ = -1;   // its index when last looked up
  bool walking_ = false;   // the keyboard moved the focus last: its ring is shown
  QPointF last_pointer_;
  bool pointer_inside_ = false;
  int hovered_ = -1;
  int paints_ = 0;
};

}  // namespace hw::ui
