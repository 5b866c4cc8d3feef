// SPDX-License-Identifier: Apache-2.0
// The rebalances of a group, the newest first: how long partitions were not read, as a bar, by which protocol, what moved,
// and why it happened.
#pragma once

#include <QTableView>
#include <array>
#include <memory>
#include <vector>

#include "engine/observe/cluster_view.h"
#include "ui/models/row_diff.h"

namespace hw::ui {

class RebalanceModel : public RowDiffModel {
  Q_OBJECT

 public:
  enum Column : int { generation, time, stopped, protocol, moved, reason, column_count };
  enum Role : int { share_role = Qt::UserRole + 1, eager_role };
  explicit RebalanceModel(QObject* parent = nullptr) : RowDiffModel(parent) {}
  void show(const observe::GroupView* group);  // null: none
  [[nodiscard]] const observe::GroupView::Rebalance* rebalance(int row) const;

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  std::vector<observe::GroupView::Rebalance> rows_;
  std::string group_;
  bool epochs_ = false;  // of a consumer group
};

class RebalanceTable : public QTableView {
  Q_OBJECT

 public:
  explicit RebalanceTable(QWidget* parent = nullptr);
  [[nodiscard]] RebalanceModel* rebalances() const { return model_; }
  void fitColumns();

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void paintEvent(QPaintEvent* event) override;

 private:
  RebalanceModel* model_;
};

}  // namespace hw::ui
