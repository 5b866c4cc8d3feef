// SPDX-License-Identifier: Apache-2.0
#include "ui/theme/rescale.h"

#include <QApplication>
#include <QBoxLayout>
#include <QGridLayout>
#include <QHeaderView>
#include <QSplitter>
#include <QStackedLayout>
#include <QTableView>
#include <QVariant>
#include <cmath>

namespace hw::ui {

namespace {

// A length at another scale. `key` names what it is; the exact value at scale 1.0 stays with the object, so that
// rounding does not add up and the way back ends where it began.
int scaled(QObject* owner, const char* key, int now, double from, double to) {
  if (now <= 0) {
    return now;
  }
  const QVariant kept = owner->property(key);
  double base = kept.isValid() ? kept.toDouble() : now / from;
  if (std::lround(base * from) != now) {
    base = now / from;  // somebody has set another size since
  }
  owner->setProperty(key, base);
  return static_cast<int>(std::lround(base * to));
}

void rescale_layout(QLayout* layout, double from, double to) {
  const QMargins m = layout->contentsMargins();
  layout->setContentsMargins(scaled(layout, "_hw_left", m.left(), from, to), scaled(layout, "_hw_top", m.top(), from, to),
                             scaled(layout, "_hw_right", m.right(), from, to),
                             scaled(layout, "_hw_bottom", m.bottom(), from, to));
  if (auto* grid = qobject_cast<QGridLayout*>(layout)) {
    grid->setHorizontalSpacing(scaled(layout, "_hw_across", grid->horizontalSpacing(), from, to));
    grid->setVerticalSpacing(scaled(layout, "_hw_down", grid->verticalSpacing(), from, to));
  } else if (qobject_cast<QStackedLayout*>(layout) == nullptr) {
    layout->setSpacing(scaled(layout, "_hw_spacing", layout->spacing(), from, to));
  }
  const auto* box = qobject_cast<QBoxLayout*>(layout);
  for (int i = 0; i < layout->count(); ++i) {
    QLayoutItem* item = layout->itemAt(i);
    if (item->layout() != nullptr) {
      rescale_layout(item->layout(), from, to);
    } else if (QSpacerItem* space = item->spacerItem(); space != nullptr && box != nullptr && space->expandingDirections() == Qt::Orientations()) {
      const QSize size = space->sizeHint();
      const QByteArray key = QByteArray("_hw_space_") + QByteArray::number(i);
      const bool across = box->direction() == QBoxLayout::LeftToRight || box->direction() == QBoxLayout::RightToLeft;
      const int length = scaled(layout, key.constData(), across ? size.width() : size.height(), from, to);
      space->changeSize(across ? length : 0, across ? 0 : length, across ? QSizePolicy::Fixed : QSizePolicy::Minimum,
                        across ? QSizePolicy::Minimum : QSizePolicy::Fixed);
    }
  }
  layout->invalidate();
}

void rescale_header(QHeaderView* header, double from, double to) {
  header->setMinimumSectionSize(scaled(header, "_hw_section_least", header->minimumSectionSize(), from, to));
  if (header->orientation() == Qt::Vertical) {
    header->setDefaultSectionSize(scaled(header, "_hw_section", header->defaultSectionSize(), from, to));
    return;
  }
  for (int i = 0; i < header->count(); ++i) {
    if (header->sectionResizeMode(i) != QHeaderView::Stretch && !header->isSectionHidden(i)) {
      const QByteArray key = QByteArray("_hw_section_") + QByteArray::number(i);
      header->resizeSection(i, scaled(header, key.constData(), header->sectionSize(i), from, to));
    }
  }
}

}  // namespace

void rescale(QWidget* root, double from, double to) {
  QList<QWidget*> widgets = root->findChildren<QWidget*>();
  widgets.prepend(root);
  for (QWidget* widget : widgets) {
    const QSize least = widget->minimumSize();
    const QSize most = widget->maximumSize();
    // Qt sizes the places of scroll bars itself.
    const bool ours = !widget->isWindow() && !widget->objectName().startsWith(QLatin1String("qt_scrollarea_"));
    if (ours) {
      const QSize new_least(scaled(widget, "_hw_least_w", least.width(), from, to), scaled(widget, "_hw_least_h", least.height(), from, to));
      const QSize new_most(most.width() >= QWIDGETSIZE_MAX ? QWIDGETSIZE_MAX : scaled(widget, "_hw_most_w", most.width(), from, to),
                           most.height() >= QWIDGETSIZE_MAX ? QWIDGETSIZE_MAX : scaled(widget, "_hw_most_h", most.height(), from, to));
      if (new_most != most) {
        widget->setMaximumSize(new_most);
      }
      if (new_least != least) {
        widget->setMinimumSize(new_least);
      }
    }
    if (widget->layout() != nullptr) {
      rescale_layout(widget->layout(), from, to);
    }
    if (auto* header = qobject_cast<QHeaderView*>(widget)) {
      rescale_header(header, from, to);
    } else if (auto* splitter = qobject_cast<QSplitter*>(widget)) {
      splitter->setHandleWidth(scaled(splitter, "_hw_handle", splitter->handleWidth(), from, to));
    }
    widget->updateGeometry();
  }
}

void rescale_windows(double from, double to) {
  const QWidgetList windows = QApplication::topLevelWidgets();
  for (QWidget* window : windows) {
    rescale(window, from, to);
  }
}

}  // namespace hw::ui
