// SPDX-License-Identifier: Apache-2.0
// The look and manners that all tables share: fixed rows of 25, no grid, whole rows, never sorted under the pointer.
#pragma once

#include <QHeaderView>
#include <QString>
#include <QTableView>

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

}  // namespace hw::ui
