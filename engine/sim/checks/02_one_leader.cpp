// SPDX-License-Identifier: Apache-2.0
// 02: an epoch of a partition has one leader, in what nodes tell and in what brokers do; it never becomes smaller on a node.
#include <fmt/core.h>

#include "engine/broker/broker.h"
#include "engine/sim/checks/all.h"

namespace hw::sim {

namespace {

class OneLeader final : public Check {
 public:
  using Check::Check;
  [[nodiscard]] const char* name() const noexcept override { return "02 one leader an epoch"; }

  void event(const NodeHost& node, const event::Any& any) override {
    if (const auto* change = std::get_if<event::PartitionChanged>(&any)) {
      leads(node, change->topic_id, change->partition, change->leader_epoch, change->leader);
    }
  }

  void sample() override {
    for (const auto& node : watched().nodes) {
      const api::Insides in = node->insides();
      if (in.broker == nullptr || in.image == nullptr) {
        continue;
      }
      for (const auto& [name, topic] : in.image->topics()) {
        for (std::size_t i = 0; i < topic->partitions.size(); ++i) {
          const PartitionIndex index(static_cast<std::int32_t>(i));
          const broker::Partition* partition = in.broker->find(topic->id, index);
          if (partition != nullptr && partition->is_leader()) {
            leads(*node, topic->id, index, partition->leader_epoch(), node->id());
          }
        }
      }
    }
  }

 private:
  void leads(const NodeHost& node, const Uuid& topic, PartitionIndex partition, LeaderEpoch epoch, BrokerId leader) {
    if (leader == kNoBroker) {
      return;
    }
    const auto [it, fresh] = leaders_.emplace(std::tuple{topic, partition, epoch}, leader);
    if (!fresh && it->second != leader) {
      wrong(fmt::format("{} says that {} leads partition {} of {} in epoch {}, which {} leads", node_text(node), leader.value(),
                        partition.value(), topic.text(), epoch.value(), it->second.value()));
    }
  }

  std::map<std::tuple<Uuid, PartitionIndex, LeaderEpoch>, BrokerId> leaders_;
};

}  // namespace

CheckPtr make_one_leader(const Watched& watched, const Check::Report& report) {
  return std::make_unique<OneLeader>(watched, report);
}

}  // namespace hw::sim
