// SPDX-License-Identifier: Apache-2.0
#include "engine/observe/cluster_view.h"

namespace hw::observe {

ClusterView::ClusterView()
    : quorum(std::make_shared<const QuorumView>()),
      topics(std::make_shared<
             const std::map<std::string, std::shared_ptr<const TopicView>, std::less<>>>()),
      topic_names(std::make_shared<const std::map<Uuid, std::string>>()),
      groups(std::make_shared<
             const std::map<std::string, std::shared_ptr<const GroupView>, std::less<>>>()),
      connections(
          std::make_shared<const std::map<ConnectionId, std::shared_ptr<const ConnectionView>>>()),
      recent(std::make_shared<const std::vector<RecentEvent>>()) {}

const TopicView* ClusterView::find_topic(std::string_view name) const {
  const auto found = topics->find(name);
  return found == topics->end() ? nullptr : found->second.get();
}

const TopicView* ClusterView::find_topic(const Uuid& id) const {
  const auto name = topic_names->find(id);
  return name == topic_names->end() ? nullptr : find_topic(name->second);
}

const GroupView* ClusterView::find_group(std::string_view id) const {
  const auto found = groups->find(id);
  return found == groups->end() ? nullptr : found->second.get();
}

}  // namespace hw::observe
