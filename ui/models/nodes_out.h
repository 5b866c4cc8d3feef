// SPDX-License-Identifier: Apache-2.0
// NodesOut: which nodes take no part at this moment, and in what way; the same for everybody who counts what that means.
//
// Pure: a view and what was done to nodes by hand in. Cost: the nodes of the cluster. Thread rule: any.
#pragma once

#include <set>
#include <vector>

#include "engine/observe/cluster_view.h"
#include "ui/session/session_nodes.h"

namespace hw::ui {

struct NodesOut {
  std::set<BrokerId> ended;  // killed or stopped
  std::set<BrokerId> paused;
  std::set<BrokerId> cut_off;  // from the other nodes; clients reach it
  friend bool operator==(const NodesOut&, const NodesOut&) = default;

  // No client gets an answer there.
  [[nodiscard]] bool mute(BrokerId id) const { return ended.contains(id) || paused.contains(id); }

  // Nor does another node.
  [[nodiscard]] bool away(BrokerId id) const { return mute(id) || cut_off.contains(id); }
};

[[nodiscard]] NodesOut nodes_out(const observe::ClusterView& view, const std::vector<NodeCondition>& conditions);

}  // namespace hw::ui
