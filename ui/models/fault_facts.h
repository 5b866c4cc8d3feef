// SPDX-License-Identifier: Apache-2.0
// FaultFacts: what is wrong with the cluster at this moment, what that means for records, and what mends it, for somebody who has ten
// seconds. Nothing is wrong while every node runs, is reached, and every replica is in sync.
//
// Pure: a view, what was done to nodes by hand and what was lost in; words out. Thread rule: UI thread only (tr).
// Cost: the partitions of the cluster, so ask when the view's topics or nodes, or the conditions, are others; with a memory of the last
// answer only those of topics that changed since, unless it is other nodes that are out.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <QString>

#include "engine/observe/cluster_view.h"
#include "ui/models/nodes_out.h"
#include "ui/session/session_nodes.h"

namespace hw::ui {

// How many partitions are served at this moment, of all topics and of __consumer_offsets, without which nobody commits.
struct DataReach {
  struct Count {
    int all = 0;
    int served = 0;  // led by a node that answers
    int whole = 0;   // of these, every in-sync replica is there: acks=all is answered
    friend bool operator==(const Count&, const Count&) = default;
  };

  Count partitions;
  Count coordinators;
  friend bool operator==(const DataReach&, const DataReach&) = default;
};

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
  DataReach reach;
  friend bool operator==(const FaultFacts&, const FaultFacts&) = default;
};

// What was counted of each topic, and while which nodes were out.
struct FaultMemory {
  struct Partitions {
    int leaderless = 0;    // nobody writes or reads there
    int stranded = 0;      // of these, where no replica that may lead runs: only a node that comes back helps
    int silent = 0;        // led by a node that is paused
    int out_of_sync = 0;   // replicas
    int behind = 0;        // partitions with such replicas
    int all = 0;
    int whole = 0;         // served, and every in-sync replica is there
    int held = 0;          // led, but an in-sync replica is away: the high watermark waits for it
    int below_minimum = 0;
  };
  struct Topic {
    std::shared_ptr<const observe::TopicView> of;
    Partitions counted;
  };

  NodesOut out;
  std::map<std::string, Topic> topics;
  std::uint64_t partitions = 0;  // counted since the beginning: the work that tests count
};

// `lost`: acknowledged records lost since all was well; -1: not known.
[[nodiscard]] FaultFacts fault_facts(const observe::ClusterView& view, const std::vector<NodeCondition>& conditions, std::int64_t lost, FaultMemory* memory = nullptr);

}  // namespace hw::ui
