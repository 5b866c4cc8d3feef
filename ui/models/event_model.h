// SPDX-License-Identifier: Apache-2.0
// The events of the view as a table, oldest first. A new view costs what is new in it.
#pragma once

#include <QAbstractTableModel>
#include <deque>
#include <map>

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
  // Only events that hold every word of `text` in sentence, kind or address. Clears and refills.
  void setFilter(const QString& text);
  [[nodiscard]] const QString& filter() const { return filter_; }
  // Events that the filter has left out, of those that all() would show.
  [[nodiscard]] int hidden() const { return hidden_; }
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
  // A client that opens its second connection has connected already; one that closes the last but one is still there.
  struct Clients {
    struct Open {
      QString host;
      QString client;  // empty until it said who it is
    };
    std::map<std::uint64_t, Open> connections;
    std::map<QString, int> counts;
    // False: the event repeats what has been told.
    bool news(const event::Any& event);
    void forget(std::uint64_t connection);
  };
  void refill();
  [[nodiscard]] bool wanted(const EventText& text) const;
  std::deque<Row> rows_;
  std::shared_ptr<const std::vector<observe::RecentEvent>> seen_;
  std::uint64_t last_number_ = 0;
  std::uint64_t lost_ = 0;
  bool all_ = false;
  QString filter_;
  QStringList words_;
  int hidden_ = 0;
  Clients clients_;
};

}  // namespace hw::ui
