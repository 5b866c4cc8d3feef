// SPDX-License-Identifier: Apache-2.0
// The look and manners that all tables share: fixed rows of 25, no grid, whole rows, never sorted under the pointer.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include <QAbstractItemModel>
#include <QEvent>
#include <QHeaderView>
#include <QString>
#include <QTableView>

#include "ui/theme/theme.h"
#include "ui/window/seen_width.h"

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
// what is left over, in proportion to their width. In a narrow window all give way, down to their titles; where that is not
// enough, the columns named by `spare` are left out, the first one first.
inline void set_columns(QTableView* table, std::vector<int> widths, std::vector<int> grow, std::vector<int> spare = {}) {
  class Fit : public QObject {
   public:
    Fit(QTableView* view, std::vector<int> base, std::vector<int> growing, std::vector<int> spare)
        : QObject(view), view_(view), widths_(std::move(base)), grow_(std::move(growing)), spare_(std::move(spare)) {
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
    // No narrower than its title with what stands around it.
    [[nodiscard]] int least(int column) const {
      return std::min(Theme::current().px(widths_[static_cast<std::size_t>(column)]),
                      view_->horizontalHeader()->sectionSizeHint(column));
    }
    void apply() {
      const Theme& t = Theme::current();
      const int room = seen_width(view_);
      for (const int column : left_out_) {
        view_->setColumnHidden(column, false);
      }
      left_out_.clear();
      const auto sum = [this](auto width_of) {
        int all = 0;
        for (int i = 0; i < static_cast<int>(widths_.size()); ++i) {
          all += view_->isColumnHidden(i) ? 0 : width_of(i);
        }
        return all;
      };
      const auto wanted = [&](int i) { return t.px(widths_[static_cast<std::size_t>(i)]); };
      int smallest = sum([this](int i) { return least(i); });
      for (const int column : spare_) {
        if (smallest <= room || view_->isColumnHidden(column)) {
          continue;
        }
        smallest -= least(column);
        view_->setColumnHidden(column, true);
        left_out_.push_back(column);
      }
      const int used = sum(wanted);
      int shares = 0;
      for (const int i : grow_) {
        shares += view_->isColumnHidden(i) ? 0 : widths_[static_cast<std::size_t>(i)];
      }
      const int left = std::max(0, room - used);
      const int missing = std::max(0, used - room);
      // What shares the rest gives way first, the others after it.
      const auto grows_at = [this](int i) { return std::find(grow_.begin(), grow_.end(), i) != grow_.end(); };
      const int soft = sum([&](int i) { return grows_at(i) ? wanted(i) - least(i) : 0; });
      const int hard = used - smallest - soft;
      const auto share_of = [&](int i) {
        const int give = wanted(i) - least(i);
        const int first = std::min(missing, soft);
        const int all = grows_at(i) ? soft : hard;
        const int part = grows_at(i) ? first : std::min(missing - first, hard);
        return all <= 0 ? 0 : (part * give + all - 1) / all;
      };
      for (int i = 0; i < static_cast<int>(widths_.size()); ++i) {
        view_->horizontalHeader()->resizeSection(i, wanted(i) - share_of(i) + (grows_at(i) && shares > 0 ? left * widths_[static_cast<std::size_t>(i)] / shares : 0));
      }
    }
    QTableView* view_;
    std::vector<int> widths_;
    std::vector<int> grow_;
    std::vector<int> spare_;
    std::vector<int> left_out_;
  };
  table->horizontalHeader()->setStretchLastSection(grow.empty());
  new Fit(table, std::move(widths), std::move(grow), std::move(spare));
}

}  // namespace hw::ui
