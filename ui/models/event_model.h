// SPDX-License-Identifier: Apache-2.0
// The events of the view as a table, oldest first. A new view costs what is new in it.
#pragma once

#include <QAbstractTableModel>
#include <deque>

#include "ui/models/event_text.h"

namespace hw::ui {

class EventModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column : int { time, what, node, kind, column_count };
  enum Role : int { glyph_role = Qt::UserRole, address_role };
  static constexpr std::size_t kRowsMax = 2'000;

  using QAbstractTableModel::QAbstractTableModel;

  // Takes over what happened since the last call.
  void update(const observe::ClusterView& view);
  // Everything, or only what a person cares about (no internal topics, no details). Clears and refills.
  void setAll(bool all);
  [[nodiscard]] bool all() const { return all_; }
  [[nodiscard]] Selection about(int row) const;
  [[nodiscard]] std::uint64_t lost() const { return lost_; }

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  struct Row {
    std::int64_t at_ms;
    std::int32_t node;
    EventText text;
  };
  std::deque<Row> rows_;
  std::shared_ptr<const std::vector<observe::RecentEvent>> seen_;
  std::uint64_t last_number_ = 0;
  std::uint64_t lost_ = 0;
  bool all_ = false;
};

}  // namespace hw::ui
