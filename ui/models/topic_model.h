// SPDX-License-Identifier: Apache-2.0
// Topics as a table: structure follows the view by pointer comparison, numbers are sampled, rows come, go and move without
// a reset.
//
// Records are log end minus log start of the leaders. In this engine every offset of a topic that is not compacted and has no
// transaction markers holds a record, so the number is exact there; where compaction may have left gaps it is an upper bound,
// shown as "≤", until setCounted() brings what was counted.
// Thread rule: UI thread only.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/observe/cluster_view.h"
#include "ui/models/row_diff.h"
#include "ui/theme/glyphs.h"

namespace hw::ui {

// What is known of one topic at one moment; what filters and sorting look at.
struct TopicFacts {
  std::shared_ptr<const observe::TopicView> topic;
  std::size_t replicas = 0;     // of all partitions
  std::size_t in_sync = 0;
  std::size_t factor = 0;       // of the first partition
  std::size_t leaderless = 0;   // partitions without a leader
  std::size_t below_min = 0;    // partitions whose in-sync replicas are fewer than min.insync.replicas
  std::int64_t records = 0;
  bool at_most = false;         // `records` is an upper bound
  std::int64_t bytes = 0;
  double in = 0;                // records per second
  double out = 0;
  bool rated = false;           // `in` and `out` have been measured
  struct Group {
    std::string id;
    std::int64_t lag = 0;
    friend bool operator==(const Group&, const Group&) = default;
  };
  std::vector<Group> groups;    // the worst first; at most kGroupsShown
  std::size_t group_count = 0;
  std::int64_t worst_lag = -1;  // -1: no group
  QStringList findings;         // whole sentences, the worst first
  Glyph severity = Glyph::none; // of the worst
};

class TopicModel : public RowDiffModel {
  Q_OBJECT

 public:
  enum Column : int { name, partitions, factor, in_sync, records, bytes, rate_in, rate_out, policy, groups, findings, column_count };
  enum Role : int { sort_role = Qt::UserRole, internal_role, glyph_role };
  static constexpr std::size_t kGroupsShown = 3;

  explicit TopicModel(QObject* parent = nullptr) : RowDiffModel(parent) {}

  // Emits dataChanged only for rows whose numbers differ. `seconds` since the previous call, for rates: those of a second at least, or a
  // slow stream would show as nothing and then as a burst; 0: no rates; below 0: nobody has looked for a while, they begin anew.
  void update(const observe::ClusterView& view, double seconds);
  // Null: all. Called once per topic and update.
  void setMatcher(std::function<bool(const TopicFacts&)> matcher);
  void setInternalShown(bool shown);
  // Order of rows. While `held`, rows keep their order (the pointer is over the table); new rows go to the end.
  void setOrder(Column column, Qt::SortOrder order);
  void hold(bool held) { held_ = held; }
  [[nodiscard]] Column sortColumn() const { return sort_column_; }
  [[nodiscard]] Qt::SortOrder sortOrder() const { return sort_order_; }
  // Counted records of a topic (by id), good until its offsets move.
  void setCounted(const QString& topic, std::int64_t records);

  [[nodiscard]] const TopicFacts* facts(int row) const;
  [[nodiscard]] const TopicFacts* facts(const QString& topic) const;
  [[nodiscard]] QString topicAt(int row) const;
  [[nodiscard]] int rowOf(const QString& topic) const;
  [[nodiscard]] int total() const { return total_; }

  // Some topic had a rate above zero in the last update, or none yet.
  [[nodiscard]] bool moving() const { return moving_; }
  // The worst finding of all topics shown.
  [[nodiscard]] Glyph attention() const { return attention_; }

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  struct Known {  // of every topic, shown or not, by name
    TopicFacts facts;
    std::int64_t records_in = 0;
    std::int64_t records_out = 0;
    double waited = 0;  // seconds since they were taken
    std::uint64_t seen = 0;
    bool dirty = true;  // differs from what the row shows
  };
  struct Counted {
    std::int64_t records = 0;
    std::int64_t offsets = 0;  // when it was counted
  };
  struct Row {
    std::string name;
    std::array<QString, column_count> cells;
    Glyph in_sync_glyph = Glyph::disc;
    Glyph severity = Glyph::none;
    bool internal = false;
  };
  void sample(Known& known, bool fresh, double seconds);
  void judge(TopicFacts& facts) const;
  void lagOfGroups(const observe::ClusterView& view);
  [[nodiscard]] Row makeRow(const std::string& name) const;
  [[nodiscard]] std::vector<std::string> orderOf(std::vector<std::string> names) const;

  std::map<std::string, Known, std::less<>> known_;
  std::map<std::string, Counted, std::less<>> counted_;
  std::vector<Row> rows_;
  std::function<bool(const TopicFacts&)> matcher_;
  bool internal_ = false;
  bool held_ = false;
  Column sort_column_ = name;
  Qt::SortOrder sort_order_ = Qt::AscendingOrder;
  std::uint64_t round_ = 0;
  std::uint64_t lags_round_ = 0;  // when group_lags_ was read
  std::shared_ptr<const void> groups_seen_;
  int total_ = 0;
  bool moving_ = false;
  Glyph attention_ = Glyph::none;
  std::map<std::string, std::vector<TopicFacts::Group>, std::less<>> group_lags_;  // by topic
};

}  // namespace hw::ui
