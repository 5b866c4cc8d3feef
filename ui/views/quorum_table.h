// SPDX-License-Identifier: Apache-2.0
// QuorumTable: the replicas of the metadata log as an accessible table (Ctrl+T). Thread rule: UI thread only.
#pragma once

#include <QAbstractTableModel>
#include <vector>

#include "ui/models/quorum_facts.h"
#include "ui/session/selection.h"

namespace hw::ui {

class QuorumTable : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column : int { kNode, kRole, kState, kLogEnd, kHighWatermark, kBehind, kFetched, kCaughtUp, kSnapshot, kDirectory, kColumns };
  using QAbstractTableModel::QAbstractTableModel;

  void take(const QuorumFacts& facts);
  [[nodiscard]] Selection selectionOf(int row) const;
  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  std::vector<QuorumReplica> rows_;  // voters, then observers
};

}  // namespace hw::ui
