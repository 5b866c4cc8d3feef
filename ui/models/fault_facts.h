// SPDX-License-Identifier: Apache-2.0
// FaultFacts: what is wrong with the cluster at this moment, what that means for records, and what mends it, for somebody who has ten
// seconds. Nothing is wrong while every node runs, is reached, and every replica is in sync.
//
// Pure: a view, what was done to nodes by hand and what was lost in; words out. Thread rule: UI thread only (tr).
// Cost: the partitions of the cluster, so ask when the view's topics or nodes, or the conditions, are others.
#pragma once

#include <QString>
#include <cstdint>
#include <vector>

#include "engine/observe/cluster_view.h"
#include "ui/session/session_nodes.h"

namespace hw::ui {

struct FaultFacts {
  bool any = false;
  bool bad = false;      // a node is down, or records are lost; else it is only late or silent
  QString headline;      // "Node 2 was killed at 12:03:31."
  QString meaning;       // "18 partitions wait for a new leader: …"
  std::int32_t start = -1;  // the one node to start again; -1: none, or several
  bool heal = false;        // there is something that "heal all" mends
  // For those who say it shorter.
  bool majority = true;     // of the controllers runs
  int leaderless = 0;       // partitions that nobody leads: without a leader, or with one that is down
  int silent = 0;           // partitions whose leader is paused
  int behind = 0;           // partitions with replicas outside the in-sync set
  friend bool operator==(const FaultFacts&, const FaultFacts&) = default;
};

// `lost`: acknowledged records lost since all was well; -1: not known.
[[nodiscard]] FaultFacts fault_facts(const observe::ClusterView& view, const std::vector<NodeCondition>& conditions, std::int64_t lost);

}  // namespace hw::ui
