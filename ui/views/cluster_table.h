// SPDX-License-Identifier: Apache-2.0
// ClusterTable: the cluster canvas as a table (Ctrl+T): the same objects and numbers, one row each.
// Filled on demand from the model; never touched while the canvas is shown.
#pragma once

#include <QAbstractTableModel>
#include <array>
#include <vector>

#include "ui/views/cluster_model.h"

namespace hw::ui {

class ClusterTable : public QAbstractTableModel {
  Q_OBJECT

 public:
  using QAbstractTableModel::QAbstractTableModel;
  enum Column : int { kObject, kWhere, kState, kLogStart, kHighWatermark, kLogEnd, kBehind, kColumns };

  static constexpr int kObjectWidth = 186;  // px at scale 1.0

  // Rows keep their place while the set of objects is the same; then only changed cells are announced.
  // True: rows came or went.
  bool refresh(const ClusterModel& model);
  [[nodiscard]] Selection selectionOf(int row) const;
  [[nodiscard]] int rowOf(const Selection& selection) const;

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  struct Row {
    Selection selection;
    std::array<QString, kColumns> cells;
  };
  std::vector<Row> rows_;
};

}  // namespace hw::ui
