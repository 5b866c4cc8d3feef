// SPDX-License-Identifier: Apache-2.0
// Topics as a table, sorted by name. Structure follows the view by pointer comparison; numbers are sampled.
#pragma once

#include <QAbstractTableModel>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/observe/cluster_view.h"

namespace hw::ui {

class TopicModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column : int { name, partitions, replicas, in_sync, records, bytes, rate_in, policy, groups, column_count };
  enum Role : int { sort_role = Qt::UserRole, internal_role, glyph_role };

  using QAbstractTableModel::QAbstractTableModel;

  // Emits dataChanged only for cells whose text differs. `seconds` since the previous call, for rates; 0: no rates.
  void update(const observe::ClusterView& view, double seconds);
  void setFilter(const QString& text);
  void setInternalShown(bool shown);
  [[nodiscard]] QString topicAt(int row) const;
  [[nodiscard]] int rowOf(const QString& topic) const;
  [[nodiscard]] int total() const { return total_; }
  // Some topic had a rate above zero in the last update.
  [[nodiscard]] bool moving() const { return moving_; }

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  struct Row {
    std::shared_ptr<const observe::TopicView> topic;
    std::int64_t records = 0;
    std::int64_t bytes = 0;
    std::int64_t records_in = 0;
    double rate = 0;
    std::size_t in_sync = 0;
    std::size_t replicas = 0;
    int group_count = 0;
  };
  void sample(Row& row, double seconds) const;
  void countGroups(const observe::ClusterView& view);

  std::vector<Row> rows_;
  QString filter_;
  bool internal_ = false;
  bool stale_ = true;
  int total_ = 0;
  bool moving_ = false;
  std::shared_ptr<const void> groups_seen_;
  std::map<std::string, int, std::less<>> group_counts_;  // by topic
};

}  // namespace hw::ui
