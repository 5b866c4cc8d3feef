// SPDX-License-Identifier: Apache-2.0
// PartitionFacts: how each replica of a partition stands to its leader, and what that means: who holds the high watermark back, who
// is about to leave the in-sync set and when.
//
// Pure: a view and the time in, facts and short words out. Thread rule: UI thread only (tr).
#pragma once

#include <QString>
#include <cstdint>
#include <vector>

#include "engine/observe/cluster_view.h"
#include "ui/session/session_nodes.h"

namespace hw::ui {

struct ReplicaFacts {
  std::int32_t node = -1;
  bool leads = false;
  bool online = false;
  bool in_sync = false;
  bool silenced = false;           // by hand: paused, or cut off from the others
  bool eligible = false;           // may lead although it is not in sync (KIP-966)
  std::int64_t log_end = -1;       // of its own log; where it ended when its node went; -1: not known
  std::int64_t told_end = -1;      // as the leader knows it; -1: it has not fetched in this epoch
  std::int64_t behind = 0;         // of the leader's log end
  std::int64_t fetched_ms = -1;    // since its last fetch from the leader; -1: not known
  std::int64_t caught_up_ms = -1;  // since it last had everything; 0: it has
  std::int64_t leaves_ms = -1;     // until the leader takes it out of the in-sync set; -1: it does not
  bool holds = false;              // the high watermark waits for it
  QString note;                    // "leaves in sync in 1.8 s"; short
  bool warns = false;
  bool fails = false;
};

struct PartitionFacts {
  std::vector<ReplicaFacts> replicas;  // as in PartitionView::replicas
  std::int64_t high_watermark = -1;    // the leader's; -1: there is none
  std::int64_t log_end = -1;
  std::int32_t min_in_sync = 1;        // effective
  std::int32_t in_sync = 0;
  std::int64_t lag_time_max_ms = 0;
  bool leader_gone = false;            // its node has ended, and nobody has taken over yet
  bool leader_silent = false;          // it runs, and answers none of its followers
  bool leader_paused = false;          // by hand, so it is known why
  bool controlled = true;              // a controller has a majority: somebody can change leaders and the in-sync set
  [[nodiscard]] bool frozen() const { return high_watermark >= 0 && in_sync < min_in_sync; }  // the high watermark does not move
  [[nodiscard]] const ReplicaFacts* find(std::int32_t node) const;
};

// What is known of a partition's log: the leader's counters. Where nobody leads, or the leader has ended, those of the replica that runs
// and is farthest: what was true last. Null where none runs.
struct KnownCounters {
  const event::ReplicaCounters* counters = nullptr;
  BrokerId node = kNoBroker;
  bool leads = false;
};
[[nodiscard]] KnownCounters known_counters(const observe::PartitionView& partition);

// Who leads, for a heading: "leader node 2", or that it is gone and what is awaited.
struct LeaderText {
  QString text;
  bool fails = false;  // nobody leads at this moment
  bool warns = false;
  friend bool operator==(const LeaderText&, const LeaderText&) = default;
};

[[nodiscard]] LeaderText leader_text(const observe::ClusterView& view, const observe::PartitionView& partition, const PartitionFacts& facts);

// What becomes of the partitions that a node leads, should it end now.
struct Bereft {
  int move = 0;  // another replica that runs is in sync
  int wait = 0;  // none is: they stand still until it is back
};
[[nodiscard]] Bereft bereft_of(const observe::ClusterView& view, const std::vector<NodeCondition>& conditions, std::int32_t node);

// "killed 12:00:05" of a node that has ended; short.
[[nodiscard]] QString ended_text(const observe::NodeView& node);

// How many replicas have to be in sync for acks=all: the topic's own min.insync.replicas or what the leader told, and never more than
// there are. `topic` may be null.
[[nodiscard]] std::int32_t min_in_sync(const observe::TopicView* topic, const observe::PartitionView& partition);

// `topic` may be null; it has the topic's own min.insync.replicas. `conditions`: what was done to nodes by hand.
[[nodiscard]] PartitionFacts partition_facts(const observe::ClusterView& view, const observe::TopicView* topic,
                                             const observe::PartitionView& partition, std::int64_t now_ms,
                                             const std::vector<NodeCondition>& conditions = {});

}  // namespace hw::ui
