// SPDX-License-Identifier: Apache-2.0
// HoverRow: the whole row below the pointer, where Qt alone would tell a delegate about one cell.
#pragma once

#include <QAbstractItemView>
#include <QEvent>
#include <QMouseEvent>
#include <QObject>
#include <QTableView>

namespace hw::ui {

class HoverRow : public QObject {
 public:
  // Lives as long as `view`. Delegates ask isHovered().
  explicit HoverRow(QTableView* view) : QObject(view), view_(view) {
    view->setMouseTracking(true);
    view->viewport()->installEventFilter(this);
    view->setProperty("hoverRow", -1);
  }
  static bool isHovered(const QWidget* view, const QModelIndex& index) {
    return view != nullptr && view->property("hoverRow").toInt() == index.row();
  }

 protected:
  bool eventFilter(QObject*, QEvent* event) override {
    if (event->type() == QEvent::MouseMove) {
      set(view_->rowAt(static_cast<QMouseEvent*>(event)->pos().y()));
    } else if (event->type() == QEvent::Leave || event->type() == QEvent::Hide) {
      set(-1);
    }
    return false;
  }

 private:
  void set(int row) {
    const int before = view_->property("hoverRow").toInt();
    if (row == before) {
      return;
    }
    view_->setProperty("hoverRow", row);
    for (const int changed : {before, row}) {
      if (changed >= 0) {
        view_->viewport()->update(0, view_->rowViewportPosition(changed), view_->viewport()->width(),
                                  view_->rowHeight(changed));
      }
    }
  }
  QTableView* view_;
};

}  // namespace hw::ui
