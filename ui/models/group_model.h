// SPDX-License-Identifier: Apache-2.0
// Groups as a table: state, members, lag in offsets, records and time, its trend, a status by Burrow's rules, and the last
// rebalance. Lags are sampled from counters; rows come, go and move without a reset.
// Thread rule: UI thread only.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/observe/cluster_view.h"
#include "ui/models/group_lag.h"
#include "ui/models/row_diff.h"

namespace hw::ui {

struct GroupFacts {
  static constexpr std::size_t kTrend = 12;
  struct Part {
    std::string topic;
    PartitionIndex partition;
    std::shared_ptr<const event::CommittedCounters> committed;
    std::shared_ptr<const observe::PartitionView> log;  // null: the topic is gone
    bool compacted = false;
    LagWindow window;
    LagWindow::Sample now;
    PartitionLag lag;
    LagStatus status = LagStatus::ok;
  };
  std::shared_ptr<const observe::GroupView> group;
  std::vector<Part> parts;            // by topic, partition
  std::int64_t lag_offsets = 0;
  std::int64_t lag_records = 0;
  bool lag_known = false;             // something is committed
  bool at_most = false;               // some topic is compacted
  std::int64_t behind_ms = 0;         // of the part furthest behind; -1: longer than it has been watched
  std::int64_t watched_ms = 0;        // how long the parts have been watched
  LagStatus status = LagStatus::ok;
  int worst = -1;                     // index of the part with most lag; -1: no lag
  std::array<std::int64_t, kTrend> trend{};  // lag in records, the newest last
  std::size_t trend_count = 0;
};

// What kind a group is, as ListGroups and its like tell them apart. Only those that a coordinator here serves occur.
enum class GroupKind : std::uint8_t {
  classic,   // consumers of the classic protocol
  consumer,  // KIP-848
  share,     // KIP-932
  streams,   // KIP-1071
  other,     // members of another protocol type: connect, sr …
  offsets,   // nobody has ever joined: it only keeps offsets
};
inline constexpr std::array<GroupKind, 6> kGroupKinds = {GroupKind::classic, GroupKind::consumer, GroupKind::share,
                                                         GroupKind::streams, GroupKind::other,    GroupKind::offsets};
[[nodiscard]] GroupKind kind_of(const observe::GroupView& group);
[[nodiscard]] QString kind_words(GroupKind kind);
// "gen 5", of a consumer group "epoch 5": what counts its rebalances.
[[nodiscard]] QString count_words(event::GroupProtocol kind, std::int32_t generation);
// "generation 5", "epoch 5": the same in a sentence.
[[nodiscard]] QString count_sentence(event::GroupProtocol kind, std::int32_t generation);
// What the group's target and what a member has differ in: "gives back orders 2–3", "waits for orders 0"; empty: nothing.
[[nodiscard]] QString target_words(const event::GroupAssigned::Member& member);
// "orders 0–2, 5, audit 1"
[[nodiscard]] QString partition_words(const std::vector<std::pair<std::string, PartitionIndex>>& partitions);
// "classic", "consumer", "connect", "offsets only": what kind of group this is.
[[nodiscard]] QString group_kind(const observe::GroupView& group);
[[nodiscard]] Glyph state_glyph(const observe::GroupView& group);
[[nodiscard]] QString state_words(const std::string& state);  // "Stable", "Members join"
// What a state of a consumer group means; empty: it needs no words.
[[nodiscard]] QString state_rule(const observe::GroupView& group);
// Why a group is in its state, as its coordinator told it, with as much of each member's id as tells members apart.
[[nodiscard]] QString reason_words(const std::string& reason);

// How a group is doing, in a word: "rebalancing", the verdict on its lag, "no position".
struct GroupStatus {
  QString word;
  Glyph glyph = Glyph::none;
  int severity = 0;  // as of a LagStatus
};

[[nodiscard]] GroupStatus group_status(const GroupFacts& facts);
// For how long a rebalance runs: below a second no number, it would only run.
[[nodiscard]] QString rebalancing_words(const observe::GroupView& group, std::int64_t now_ms);
// One line for a rebalance: "orders-2 joined", "m:5 left: max.poll.interval exceeded".
[[nodiscard]] QString trigger_words(const event::GroupRebalanced& rebalance);
// True where partitions were taken from everybody first.
[[nodiscard]] bool eager(const event::GroupRebalanced& rebalance);
// "20 s ago", in steps: a time that a person reads is not counted. The steps are those of the clock, so that what happened together
// is told alike, whenever it is told.
[[nodiscard]] QString ago_words(std::int64_t at_ms, std::int64_t now_ms);
// "340 ms" from microseconds, with a digit more where it is short.
[[nodiscard]] QString short_duration(std::int64_t us);

class GroupModel : public RowDiffModel {
  Q_OBJECT

 public:
  enum Column : int { name, kind, state, members, lag_records, lag_offsets, lag_time, trend, status, last_rebalance, column_count };
  enum Role : int { glyph_role = Qt::UserRole + 1, trend_role, detail_role };

  explicit GroupModel(QObject* parent = nullptr) : RowDiffModel(parent) {}

  // `now_ms`: wall time. Judges and orders anew once a second.
  void update(const observe::ClusterView& view, std::int64_t now_ms);
  void setMatcher(std::function<bool(const GroupFacts&)> matcher) { matcher_ = std::move(matcher); }
  void setOrder(Column column, Qt::SortOrder order);
  void hold(bool held) { held_ = held; }
  [[nodiscard]] Column sortColumn() const { return sort_column_; }
  [[nodiscard]] Qt::SortOrder sortOrder() const { return sort_order_; }

  [[nodiscard]] const GroupFacts* facts(const QString& group) const;
  [[nodiscard]] const GroupFacts* facts(int row) const;
  [[nodiscard]] QString groupAt(int row) const;
  [[nodiscard]] int rowOf(const QString& group) const;
  [[nodiscard]] int total() const { return static_cast<int>(known_.size()); }
  [[nodiscard]] int count(GroupKind of) const;  // hidden ones included
  [[nodiscard]] Glyph attention() const { return attention_; }
  // Something with a time in it is shown: look again in a while although nothing moves.
  [[nodiscard]] bool ticking() const { return ticking_; }

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  struct Known {
    GroupFacts facts;
    std::shared_ptr<const void> topics_seen;
    std::uint64_t seen = 0;
    bool dirty = true;
    QString ago;       // since the last rebalance, as its row says it
    int severity = 0;  // as it was sorted
  };
  struct Row {
    std::string id;
    std::array<QString, column_count> cells;
    Glyph state_glyph = Glyph::none;
    Glyph status_glyph = Glyph::none;
  };
  void link(Known& known, const observe::ClusterView& view) const;
  void relink(GroupFacts& facts, const observe::ClusterView& view) const;
  void sample(Known& known, std::int64_t now_ms, bool judge) const;
  [[nodiscard]] Row makeRow(const std::string& id) const;
  [[nodiscard]] std::vector<std::string> orderOf(std::vector<std::string> ids) const;

  std::map<std::string, Known, std::less<>> known_;
  std::vector<Row> rows_;
  std::function<bool(const GroupFacts&)> matcher_;
  Column sort_column_ = status;
  Qt::SortOrder sort_order_ = Qt::DescendingOrder;
  bool held_ = false;
  bool ticking_ = false;
  std::uint64_t round_ = 0;
  std::int64_t now_ms_ = 0;
  std::int64_t judged_ms_ = -1;
  Glyph attention_ = Glyph::none;
};

}  // namespace hw::ui
