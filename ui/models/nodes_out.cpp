// SPDX-License-Identifier: Apache-2.0
#include "ui/models/nodes_out.h"

namespace hw::ui {

NodesOut nodes_out(const observe::ClusterView& view, const std::vector<NodeCondition>& conditions) {
  using State = observe::NodeView::State;
  NodesOut out;
  for (const auto& [id, node] : view.nodes) {
    if (node->state == State::killed || node->state == State::stopped) {
      out.ended.insert(id);
    }
  }
  for (const NodeCondition& each : conditions) {
    if (each.down) {
      continue;  // what was done to it before has ended with it
    }
    if (each.paused) {
      out.paused.insert(BrokerId(each.node));
    }
    if (each.cut_off) {
      out.cut_off.insert(BrokerId(each.node));
    }
  }
  return out;
}

}  // namespace hw::ui
