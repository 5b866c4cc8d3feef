// SPDX-License-Identifier: Apache-2.0
// LaneTable: the lanes as a table (Ctrl+T): one row per replica, with its four watermarks and how it follows its leader. Filled on
// demand; what a row says is worked out when it is looked at.
#pragma once

#include <QAbstractTableModel>
#include <vector>

#include "engine/observe/cluster_view.h"
#include "ui/models/replica_facts.h"
#include "ui/session/selection.h"

namespace hw::ui {

class LaneTable : public QAbstractTableModel {
  Q_OBJECT

 public:
  using QAbstractTableModel::QAbstractTableModel;
  enum Column : int { kPartition, kNode, kRole, kLogStart, kLso, kHw, kLeo, kBehind, kInSync, kFetched, kSize, kSegments, kColumns };

  void refresh(const observe::ViewPtr& view, const QString& topic, std::int64_t now_ms);
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
  [[nodiscard]] const ReplicaFacts* factsOf(const Row& row) const;
  mutable PartitionFacts facts_;
  mutable std::shared_ptr<const observe::PartitionView> facts_of_;
  mutable std::int64_t facts_at_ms_ = -1;
  observe::ViewPtr view_;
  std::int64_t now_ms_ = 0;
  QString topic_;
  std::vector<Row> rows_;
};

}  // namespace hw::ui
