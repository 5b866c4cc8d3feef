// SPDX-License-Identifier: Apache-2.0
// The events of the view as a table, oldest first. A new view costs what is new in it.
#pragma once

#include <QAbstractTableModel>
#include <array>
#include <deque>
#include <map>
#include <string>

#include "ui/filter/filter_program.h"
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
  // Only events that it lets through; null: all. Clears; the next update() fills again.
  void setFilter(filter::ProgramPtr program);
  // Only events of these severities, as bits (1 << severity). Clears as above.
  void setSeverities(unsigned severities);
  [[nodiscard]] unsigned severities() const { return severities_; }
  static constexpr unsigned kAllSeverities = 0b1111;
  // How many of each severity there are, whether they are shown or not.
  [[nodiscard]] int count(Severity severity) const { return counts_[static_cast<std::size_t>(severity)]; }
  // Events that filter and severities have left out.
  [[nodiscard]] int hidden() const { return hidden_; }
  // Kinds (or ids of clients) among the rows, each once, the newest first, `most` at most.
  [[nodiscard]] QStringList values(bool clients, int most) const;
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
  // A group's members are told when they are known and when they have partitions; the second is the news.
  bool groupNews(const event::Any& event);
  void refill();
  [[nodiscard]] bool wanted(const Row& row) const;
  std::deque<Row> rows_;
  std::shared_ptr<const std::vector<observe::RecentEvent>> seen_;
  std::uint64_t last_number_ = 0;
  std::uint64_t lost_ = 0;
  bool all_ = false;
  filter::ProgramPtr program_;
  unsigned severities_ = kAllSeverities;
  std::array<int, kSeverities.size()> counts_{};
  int hidden_ = 0;
  Clients clients_;
  std::map<std::string, std::string> group_states_;  // by group; only groups that were told of
};

}  // namespace hw::ui
