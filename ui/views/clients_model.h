// SPDX-License-Identifier: Apache-2.0
// ClientsModel: one row for each client, with what it does over all its connections: nodes, rates, APIs, errors. A client
// with several connections (one to each node that it speaks to) can be unfolded into them.
//
// Connections tell nothing of the process behind them, so a client here is what agrees in id, software and host; where groups
// know of several members behind one name, the row says how many. update() compares pointers of the view and samples counters;
// rows keep their place, a client where its first connection was seen, and only cells whose words differ are announced. Cost
// of update(): the connections, which are at most some hundreds in what this is made for; with more than kRowsMax the newest
// are left out, and the page says so.
// Thread rule: UI thread only.
#pragma once

#include <QAbstractTableModel>
#include <QString>
#include <array>
#include <compare>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "engine/observe/cluster_view.h"
#include "ui/filter/filter_program.h"
#include "ui/theme/glyphs.h"
#include "ui/views/clients_filter.h"

namespace hw::ui {

class ClientsModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column : int { client, software, from, node, since, requests, bytes_in, bytes_out, errors, apis, column_count };
  enum class Fold : int { none, closed, open, inside };  // inside: a connection below its client
  static constexpr int glyph_role = Qt::UserRole + 1;
  static constexpr int fold_role = Qt::UserRole + 2;      // Fold
  static constexpr std::size_t kRowsMax = 2'000;
  using BuiltIn = std::function<bool(const observe::ConnectionView&)>;

  explicit ClientsModel(BuiltIn built_in, QObject* parent = nullptr);
  // `seconds` since the last call, for rates; 0: rates stay; below 0: nobody has looked for a while, they begin anew.
  void update(const observe::ClusterView& view, double seconds);
  void setFilter(filter::ProgramPtr program);  // null: all
  // Connections of the client of this row that the filter lets through.
  [[nodiscard]] int connections(int row) const;
  [[nodiscard]] std::vector<std::uint64_t> connectionsAt(int row) const;
  [[nodiscard]] Fold fold(int row) const;
  void setOpen(int row, bool open);  // the row of a client with several connections; shown by the next update()
  void setBuiltInShown(bool shown);
  void setPeersShown(bool shown);  // what the cluster's nodes say to each other; at first not
  [[nodiscard]] std::uint64_t connectionAt(int row) const;  // of a client its first one; 0: none
  [[nodiscard]] int rowOf(std::uint64_t connection) const;  // its own row where its client is unfolded; -1: none
  [[nodiscard]] int total() const { return total_; }      // connections before filters, built-in ones as they are shown
  [[nodiscard]] int shown() const { return shown_; }      // connections behind the rows
  [[nodiscard]] int hiddenBuiltIn() const { return hidden_; }

  [[nodiscard]] bool moving() const { return moving_; }  // some rate is not zero, or not known yet

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  // A client is placed by the first connection that was seen of it; `connection` is 0 in its own row.
  struct Place {
    std::uint64_t client = 0;
    std::uint64_t connection = 0;
    friend auto operator<=>(const Place&, const Place&) = default;
  };
  struct Row {
    Place place;
    std::array<QString, column_count> cells;
    Glyph glyph = Glyph::none;
    Fold fold = Fold::none;
    std::vector<std::uint64_t> connections;
    QString told;    // what the cells do not say
    QString failed;  // which errors
    friend bool operator==(const Row&, const Row&) = default;
  };
  struct Seen {
    std::int64_t requests = 0;
    std::int64_t bytes_in = 0;
    std::int64_t bytes_out = 0;
    double requests_rate = 0;
    double in_rate = 0;
    double out_rate = 0;
    bool sampled = false;
    bool rated = false;
    std::uint64_t client = 0;  // the place of its client
  };
  // One client and those of its connections that are shown. `alike`: clients that groups tell apart behind the name.
  [[nodiscard]] Row row_of(const std::vector<ConnectionFacts>& all, std::uint64_t place, std::size_t alike) const;
  [[nodiscard]] Row row_inside(const ConnectionFacts& facts, std::uint64_t place) const;
  void fill(Row& row, const std::vector<const ConnectionFacts*>& all) const;
  void sample(const observe::ConnectionView& connection, double seconds, Seen& seen);
  void show(std::vector<Row> rows);
  void takeGroups(const observe::ClusterView& view);

  BuiltIn built_in_;
  std::vector<Row> rows_;
  std::map<std::uint64_t, Seen> seen_;
  filter::ProgramPtr program_;
  std::shared_ptr<const void> groups_seen_;
  std::map<std::uint64_t, std::vector<std::string>> groups_;  // of a connection
  std::set<std::uint64_t> open_;  // clients, by their place
  bool built_in_shown_ = true;
  bool peers_shown_ = false;
  bool moving_ = false;
  int total_ = 0;
  int shown_ = 0;
  int hidden_ = 0;
};

}  // namespace hw::ui
