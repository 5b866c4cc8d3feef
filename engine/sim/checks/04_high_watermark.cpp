// SPDX-License-Identifier: Apache-2.0
// 04: while a leader leads in an epoch its high watermark does not go back, and never passes its log's end.
#include <fmt/core.h>

#include "engine/broker/broker.h"
#include "engine/sim/checks/all.h"

namespace hw::sim {

namespace {

class HighWatermark final : public Check {
 public:
  using Check::Check;
  [[nodiscard]] const char* name() const noexcept override { return "04 high watermarks do not go back"; }

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
          if (partition == nullptr || partition->log() == nullptr) {
            continue;
          }
          look(*node, name, *partition);
        }
      }
    }
  }

 private:
  struct Last {
    std::uint32_t life = 0;
    LeaderEpoch epoch = kNoLeaderEpoch;
    bool leads = false;
    Offset high_watermark;
  };

  void look(const NodeHost& node, const std::string& topic, const broker::Partition& partition) {
    const Offset high_watermark = partition.log()->high_watermark();
    if (high_watermark > partition.log()->log_end_offset()) {
      wrong(fmt::format("{}: high watermark {} of {}-{} is behind the end {}", node_text(node), high_watermark.value(), topic,
                        partition.index().value(), partition.log()->log_end_offset().value()));
    }
    Last& last = last_[{node.id(), partition.topic().id, partition.index()}];
    if (last.life == node.life() && last.epoch == partition.leader_epoch() && last.leads && partition.is_leader() &&
        high_watermark < last.high_watermark) {
      wrong(fmt::format("{} leads {}-{} in epoch {} and takes its high watermark back from {} to {}", node_text(node), topic,
                        partition.index().value(), last.epoch.value(), last.high_watermark.value(), high_watermark.value()));
    }
    last = {node.life(), partition.leader_epoch(), partition.is_leader(), high_watermark};
  }

  std::map<std::tuple<BrokerId, Uuid, PartitionIndex>, Last> last_;
};

}  // namespace

CheckPtr make_high_watermark(const Watched& watched, const Check::Report& report) {
  return std::make_unique<HighWatermark>(watched, report);
}

}  // namespace hw::sim
