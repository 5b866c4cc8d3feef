// SPDX-License-Identifier: Apache-2.0
// What the inspector says about replication and about the quorum: the high watermark, the in-sync set, the leader and the log end,
// each with what it is made of now.
//
// Part of inspector_facts. Pure. Thread rule: UI thread only (tr).
#pragma once

#include <vector>

#include "ui/models/inspector_facts.h"
#include "ui/models/replica_facts.h"

namespace hw::ui {

// "HW 1042 = min LEO over ISR" and its inputs; where it is frozen, why.
[[nodiscard]] QStringList high_watermark_formula(const observe::PartitionView& partition, const PartitionFacts& facts);
// One sentence on what the partition waits for, with the formula below it.
[[nodiscard]] FactSection explain_partition_now(const observe::PartitionView& partition, const PartitionFacts& facts);
// Each replica with how far it is. Empty facts where there is one only.
[[nodiscard]] FactSection replicas_section(const PartitionFacts& facts);
// Of the Explain tab: high watermark, in-sync set, leader, log end.
[[nodiscard]] std::vector<FactSection> explain_replication(const observe::PartitionView& partition, const PartitionFacts& facts);

// A node in the eyes of the controller, and in the quorum. Sections without facts are left out.
struct NodeStanding {
  std::vector<FactSection> overview;
  std::vector<FactSection> explain;
};
[[nodiscard]] NodeStanding node_standing(const observe::ClusterView& view, const observe::NodeView& node, std::int64_t now_ms,
                                         std::int64_t fetch_timeout_ms);

}  // namespace hw::ui
