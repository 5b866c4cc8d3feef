// SPDX-License-Identifier: Apache-2.0
// LaneTable: the lanes as a table (Ctrl+T): one row per replica, with its four watermarks. Filled on demand.
#pragma once

#include <QAbstractTableModel>
#include <vector>

#include "engine/observe/cluster_view.h"
#include "ui/session/selection.h"

namespace hw::ui {

class LaneTable : public QAbstractTableModel {
  Q_OBJECT

 public:
  using QAbstractTableModel::QAbstractTableModel;
  enum Column : int { kPartition, kNode, kRole, kLogStart, kLso, kHw, kLeo, kInSync, kSize, kSegments, kColumns };

  void refresh(const observe::ClusterView& view, const QString& topic);
  [[nodiscard]] Selection selectionOf(int row) const;

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  struct Row {
    std::shared_ptr<const observe::PartitionView> partition;
    std::size_t replica = 0;
  };
  QString topic_;
  std::vector<Row> rows_;
};

}  // namespace hw::ui
