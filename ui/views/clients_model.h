// SPDX-License-Identifier: Apache-2.0
// ClientsModel: one row for each connection, with what it does: rates, APIs, errors.
//
// update() compares pointers of the view and samples counters; rows keep their place by connection id, and only cells
// whose words differ are announced. Cost of update(): the connections, which are at most some hundreds in what this is
// made for; with more than kRowsMax the newest are left out, and the page says so.
// Thread rule: UI thread only.
#pragma once

#include <QAbstractTableModel>
#include <QString>
#include <array>
#include <functional>
#include <map>
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
  static constexpr int glyph_role = Qt::UserRole + 1;
  static constexpr std::size_t kRowsMax = 2'000;
  using BuiltIn = std::function<bool(const observe::ConnectionView&)>;

  explicit ClientsModel(BuiltIn built_in, QObject* parent = nullptr);
  // `seconds` since the last call, for rates; 0: rates stay.
  void update(const observe::ClusterView& view, double seconds);
  void setFilter(filter::ProgramPtr program);  // null: all
  // Connections with the same id, software and host as that of this row, itself included.
  [[nodiscard]] int siblings(int row) const;
  void setBuiltInShown(bool shown);
  void setPeersShown(bool shown);  // what the cluster's nodes say to each other; at first not
  [[nodiscard]] std::uint64_t connectionAt(int row) const;  // 0: none
  [[nodiscard]] int rowOf(std::uint64_t connection) const;
  [[nodiscard]] int total() const { return total_; }      // before filters, built-in ones as they are shown
  [[nodiscard]] int hiddenBuiltIn() const { return hidden_; }
  [[nodiscard]] bool moving() const { return moving_; }   // some rate is not zero

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  struct Row {
    std::uint64_t id = 0;
    std::array<QString, column_count> cells;
    Glyph glyph = Glyph::none;
    int siblings = 1;
    QString told;  // of the client: what its name does not say
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
  };
  // `place`: which of its siblings it is, from 1.
  [[nodiscard]] Row row_of(const ConnectionFacts& facts, int place) const;
  void takeGroups(const observe::ClusterView& view);

  BuiltIn built_in_;
  std::vector<Row> rows_;
  std::map<std::uint64_t, Seen> seen_;
  filter::ProgramPtr program_;
  std::shared_ptr<const void> groups_seen_;
  std::map<std::uint64_t, std::vector<std::string>> groups_;  // of a connection
  bool built_in_shown_ = true;
  bool peers_shown_ = false;
  bool moving_ = false;
  int total_ = 0;
  int hidden_ = 0;
};

}  // namespace hw::ui
