// SPDX-License-Identifier: Apache-2.0
// The look and manners that all tables share: fixed rows of 25, no grid, whole rows, never sorted under the pointer.
#pragma once

#include <QEvent>
#include <QHeaderView>
#include <QString>
#include <QTableView>
#include <algorithm>
#include <utility>
#include <vector>

#include "ui/theme/theme.h"

namespace hw::ui {

inline void setup_table(QTableView* table, const QString& accessible_name) {
  const auto apply = [table] {
    const Theme& theme = Theme::current();
    table->verticalHeader()->setMinimumSectionSize(theme.px(16));
    table->verticalHeader()->setDefaultSectionSize(theme.px(Metrics::kRow));
    table->horizontalHeader()->setFixedHeight(theme.px(Metrics::kRowHeader));
    table->horizontalHeader()->setFont(theme.font(FontRole::caption_strong));
  };
  table->setAccessibleName(accessible_name);
  table->setFrameShape(QFrame::NoFrame);
  table->setShowGrid(false);
  table->setWordWrap(false);
  table->setSelectionBehavior(QAbstractItemView::SelectRows);
  table->setSelectionMode(QAbstractItemView::SingleSelection);
  table->setEditTriggers(QAbstractItemView::NoEditTriggers);
  table->setTabKeyNavigation(false);
  table->setVerticalScrollMode(QAbstractItemView::ScrollPerItem);
  table->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
  table->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOn);
  table->verticalHeader()->hide();
  table->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  table->horizontalHeader()->setHighlightSections(false);
  table->horizontalHeader()->setStretchLastSection(true);
  table->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
  apply();
  QObject::connect(&Theme::current(), &Theme::changed, table, apply);
}

// Widths of all columns in px at scale 1.0, now and after every change of the scale; the columns named by `grow` share
// what is left over, in proportion to their width.
inline void set_columns(QTableView* table, std::vector<int> widths, std::vector<int> grow) {
  class Fit : public QObject {
   public:
    Fit(QTableView* view, std::vector<int> base, std::vector<int> growing)
        : QObject(view), view_(view), widths_(std::move(base)), grow_(std::move(growing)) {
      view->viewport()->installEventFilter(this);
      connect(&Theme::current(), &Theme::changed, this, &Fit::apply);
      apply();
    }
    bool eventFilter(QObject* object, QEvent* event) override {
      if (event->type() == QEvent::Resize) {
        apply();
      }
      return QObject::eventFilter(object, event);
    }

   private:
    void apply() {
      const Theme& t = Theme::current();
      int used = 0;
      int shares = 0;
      for (std::size_t i = 0; i < widths_.size(); ++i) {
        used += view_->isColumnHidden(static_cast<int>(i)) ? 0 : t.px(widths_[i]);
      }
      for (const int i : grow_) {
        shares += widths_[static_cast<std::size_t>(i)];
      }
      const int left = std::max(0, view_->viewport()->width() - used);
      for (std::size_t i = 0; i < widths_.size(); ++i) {
        const bool grows = std::find(grow_.begin(), grow_.end(), static_cast<int>(i)) != grow_.end();
        view_->horizontalHeader()->resizeSection(static_cast<int>(i), t.px(widths_[i]) + (grows ? left * widths_[i] / shares : 0));
      }
    }
    QTableView* view_;
    std::vector<int> widths_;
    std::vector<int> grow_;
  };
  table->horizontalHeader()->setStretchLastSection(grow.empty());
  new Fit(table, std::move(widths), std::move(grow));
}

}  // namespace hw::ui
