// SPDX-License-Identifier: Apache-2.0
// LeaderStory: what a change of leaders, in-sync replicas, brokers and controllers meant, in one sentence each, from two views that
// follow each other.
//
// "Leader of orders/0 moved 2 → 1 in 212 ms; 0 acknowledged records lost." The time runs from the end of the old leader's node, or
// from when the partition lost its leader. What was lost is what lay below the old leader's high watermark and is not in the new
// leader's log when it is first seen; a leader that was in sync has all of it.
// Thread rule: UI thread only (tr). Cost: topics, and partitions of those that changed; a sentence that stands is looked at again where
// one of its topics changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <QStringList>

#include "engine/observe/cluster_view.h"

namespace hw::ui {

class LeaderStory {
 public:
  // `view` is never null. Nothing is told of the first one.
  [[nodiscard]] QStringList take(const observe::ViewPtr& view);
  // Sentences told earlier that the newest view makes untrue: "orders/0 has no leader." once it has one. Of the last take().
  [[nodiscard]] const QStringList& over() const { return over_; }

  // When what the last take() told of happened, its newest part; 0: not known. Views may be far apart.
  [[nodiscard]] WallTime at() const { return at_; }
  // Acknowledged records that were lost by all moves of leaders since forget(); -1: of one it is not known.
  [[nodiscard]] std::int64_t lost() const { return lost_; }

  // All is well: what comes now is another story.
  void forget() {
    lost_ = 0;
    back_.clear();
  }
  static constexpr int kTold = 4;  // sentences at once, at most; the rest is counted
  // Partitions that were looked at for sentences that stand, since the beginning: the work that tests count.
  [[nodiscard]] std::uint64_t looked() const { return *looked_; }

 private:
  struct Orphan {  // without a leader
    BrokerId last = kNoBroker;
    WallTime since;
    std::int64_t high_watermark = -1;
    std::vector<BrokerId> isr;
  };

  struct Place {  // a partition
    Uuid topic;
    std::size_t index = 0;
    bool internal = false;

    friend bool operator<(const Place& a, const Place& b) { return std::tie(a.topic, a.index) < std::tie(b.topic, b.index); }
  };

  [[nodiscard]] static int internal_of(const std::vector<Place>& places);

  // What a node has got back since it ended or fell behind: told in one sentence, however many views it takes.
  // A replica that comes, goes and comes again is one partition.
  struct Back {
    std::map<Place, bool> partitions;  // true: it leads, and the partition had waited for it
    QString sentence;
  };

  // What changed in the in-sync replicas of one node.
  struct Change {
    std::vector<Place> waited;  // partitions had to wait for it: they have no other replica in sync
    std::vector<Place> came;
    std::vector<Place> went;
  };
  struct Standing {  // a sentence about how things are, not about what happened
    QString sentence;
    std::function<bool(const observe::ClusterView&)> holds;
  };
  void tellQuorum(const observe::ClusterView& before, const observe::ClusterView& view, QStringList& told);
  void tellBrokers(const observe::ClusterView& before, const observe::ClusterView& view, QStringList& told);
  void tellBack(BrokerId node, const Change& change, QStringList& told);
  void stands(QString sentence, std::function<bool(const observe::ClusterView&)> holds) { standing_.push_back({std::move(sentence), std::move(holds)}); }
  [[nodiscard]] static WallTime endedAt(const observe::ClusterView& view, BrokerId node);
  void tellPartitions(const observe::ClusterView& before, const observe::ClusterView& view, QStringList& told);

  observe::ViewPtr seen_;
  BrokerId controller_ = kNoBroker;  // the last one that led
  WallTime controller_gone_;         // when it was seen to lead no more; 0: it leads
  bool majority_ = true;
  QString majority_told_;
  std::vector<Standing> standing_;
  std::map<BrokerId, Back> back_;
  QStringList over_;
  WallTime at_;
  std::int64_t lost_ = 0;
  // What is remembered of a topic's partitions; goes with it.
  struct Topic {
    Uuid id;
    std::map<std::size_t, Orphan> orphans;
    // Of leaders whose node has ended, so that the view has them no more; by partition.
    std::vector<std::shared_ptr<const event::ReplicaCounters>> gone;
  };
  std::map<std::string, Topic> topics_;
  std::shared_ptr<std::uint64_t> looked_ = std::make_shared<std::uint64_t>(0);
};

}  // namespace hw::ui
