// SPDX-License-Identifier: Apache-2.0
// 13: when DeleteRecords is answered without an error, the log of every replica that is alive begins at the low watermark or behind it
// (KIP-107). Only replicas count that were replicas and not fenced for everybody, in one life, since before it was asked: of others
// the leader may have thought otherwise.
#include <fmt/core.h>

#include <algorithm>

#include "engine/broker/broker.h"
#include "engine/sim/checks/all.h"

namespace hw::sim {

namespace {

class DeletedRecords final : public Check {
 public:
  using Check::Check;
  [[nodiscard]] const char* name() const noexcept override { return "13 deleted records are gone"; }

  void event(const NodeHost&, const event::Any& any) override {
    if (const auto* broker = std::get_if<event::BrokerChanged>(&any)) {
      ++broker_changes_[broker->broker];
    } else if (const auto* partition = std::get_if<event::PartitionChanged>(&any)) {
      ++partition_changes_[{partition->topic_id, partition->partition}];
    }
  }

  void sample() override {
    const std::vector<History::Deletion>& all = watched().history.deletions;
    for (; next_ < all.size(); ++next_) {
      open_.emplace_back(next_, standing_);
    }
    std::erase_if(open_, [&](const auto& one) {
      const History::Deletion& deletion = all[one.first];
      if (deletion.low_watermark) {
        look_at(deletion, one.second);
      }
      return deletion.over;
    });
    const auto& deeds = watched().options.deeds;
    if (std::find(deeds.begin(), deeds.end(), Deed::delete_records) != deeds.end()) {
      standing_ = standing();
    }
  }
  void finish() override { sample(); }

 private:
  // A replica that is alive in the eyes of every node, by the same registration, as long as this stays as it is.
  struct Alive {
    std::uint32_t life = 0;
    std::int64_t epoch = -1;
    std::uint64_t broker_changes = 0;
    std::uint64_t partition_changes = 0;
    friend bool operator==(const Alive&, const Alive&) = default;
  };
  using Standing = std::map<std::pair<PartitionKey, BrokerId>, Alive>;

  [[nodiscard]] Standing standing() {
    Standing all;
    std::map<std::pair<PartitionKey, BrokerId>, std::size_t> seen_by;
    std::size_t images = 0;
    for (const auto& node : watched().nodes) {
      const api::Insides in = node->insides();
      if (in.image == nullptr) {
        continue;
      }
      ++images;
      for (const auto& [name, topic] : in.image->topics()) {
        for (std::size_t i = 0; is_workload(name) && i < topic->partitions.size(); ++i) {
          const auto index = static_cast<std::int32_t>(i);
          for (const BrokerId id : topic->partitions[i].replicas) {
            const metadata::BrokerImage* broker = in.image->find_broker(id);
            const NodeHost* host = host_of(id);
            if (broker != nullptr && !broker->fenced && host != nullptr && host->alive()) {
              const auto [at, first] = all.try_emplace(
                  {{name, index}, id}, Alive{host->life(), broker->epoch, broker_changes_[id], partition_changes_[{topic->id, PartitionIndex(index)}]});
              seen_by[at->first] += first || at->second.epoch == broker->epoch ? 1U : 0U;
            }
          }
        }
      }
    }
    std::erase_if(all, [&](const auto& entry) { return seen_by[entry.first] != images; });
    return all;
  }

  void look_at(const History::Deletion& deletion, const Standing& before) {
    if (*deletion.low_watermark < deletion.offset) {
      wrong(fmt::format("DeleteRecords of {} up to {} was answered with {}", text_of(deletion.partition), deletion.offset,
                        *deletion.low_watermark));
    }
    const Standing now = standing();
    for (const auto& [key, alive] : now) {
      const auto then = before.find(key);
      if (key.first != deletion.partition || then == before.end() || then->second != alive) {
        continue;
      }
      const NodeHost& host = *host_of(key.second);
      const api::Insides in = host.insides();
      const broker::Partition* partition =
          in.broker == nullptr ? nullptr : in.broker->find(key.first.first, PartitionIndex(key.first.second));
      if (partition != nullptr && partition->log() != nullptr && partition->log()->log_start_offset().value() < *deletion.low_watermark) {
        wrong(fmt::format("{} begins {} at {}, although all below {} is deleted", node_text(host), text_of(key.first),
                          partition->log()->log_start_offset().value(), *deletion.low_watermark));
      }
    }
  }

  [[nodiscard]] const NodeHost* host_of(BrokerId id) const {
    const auto at = std::find_if(watched().nodes.begin(), watched().nodes.end(), [&](const auto& node) { return node->id() == id; });
    return at == watched().nodes.end() ? nullptr : at->get();
  }

  std::size_t next_ = 0;
  std::vector<std::pair<std::size_t, Standing>> open_;  // deletions under way, and who was alive before they were asked for
  Standing standing_;                                   // at the last sample
  std::map<BrokerId, std::uint64_t> broker_changes_;
  std::map<std::pair<Uuid, PartitionIndex>, std::uint64_t> partition_changes_;
};

}  // namespace

CheckPtr make_deleted_records(const Watched& watched, const Check::Report& report) {
  return std::make_unique<DeletedRecords>(watched, report);
}

}  // namespace hw::sim
