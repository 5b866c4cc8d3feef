// SPDX-License-Identifier: Apache-2.0
// 01: what was acknowledged with acks=all is there for ever, at the offset that was told, until DeleteRecords; and nobody reads anything
// else. (Min ISR 2 of 3, no unclean election; or one replica that loses no power.) With unclean elections only what holds then as well:
// nobody reads what no producer made.
#include <fmt/core.h>

#include "engine/broker/broker.h"
#include "engine/sim/checks/all.h"

namespace hw::sim {

namespace {

class AcknowledgedSurvive final : public Check {
 public:
  using Check::Check;
  [[nodiscard]] const char* name() const noexcept override { return "01 acknowledged records survive"; }

  void event(const NodeHost&, const event::Any& any) override {
    if (const auto* change = std::get_if<event::PartitionChanged>(&any)) {
      LeaderEpoch& epoch = newest_[{change->topic_id, change->partition}];
      epoch = std::max(epoch, change->leader_epoch);
    }
  }

  void sample() override {
    std::vector<Seen>& seen = watched().history.seen;
    for (; next_ < seen.size(); ++next_) {
      if (watched().options.unclean) {
        was_made(seen[next_]);
      } else {
        waiting_.push_back(seen[next_]);
      }
    }
    std::erase_if(waiting_, [this](const Seen& one) { return settled(one); });
    if (watched().options.unclean) {
      return;
    }
    // A leader of the newest epoch has everything that was acknowledged.
    for (const auto& node : watched().nodes) {
      const api::Insides in = node->insides();
      if (in.broker == nullptr || in.image == nullptr) {
        continue;
      }
      for (const auto& [key, end] : watched().history.acknowledged_end) {
        const broker::Partition* partition = in.broker->find(key.first, PartitionIndex(key.second));
        if (partition == nullptr || !partition->is_leader() || partition->log() == nullptr) {
          continue;
        }
        const auto newest = newest_.find({partition->topic().id, partition->index()});
        if (newest != newest_.end() && partition->leader_epoch() >= newest->second &&
            partition->log()->log_end_offset() < Offset(end)) {
          wrong(fmt::format("{} leads {} in epoch {} with {} records, but offset {} was acknowledged", node_text(*node),
                            text_of(key), partition->leader_epoch().value(), partition->log()->log_end_offset().value(), end - 1));
        }
      }
    }
  }

  void finish() override {
    sample();
    for (const Seen& one : waiting_) {
      wrong(fmt::format("record {} of {} at offset {} was {}, but the partition ends at {}", one.record.text(),
                        text_of(one.partition), one.offset, one.consumed ? "read" : "acknowledged",
                        watched().history.logs[one.partition].end()));
    }
  }

 private:
  void was_made(const Seen& one) {
    const auto made = watched().history.made.find(one.record.producer);
    if (one.record.producer < 0 || made == watched().history.made.end() || one.record.number >= made->second) {
      wrong(fmt::format("record {} of {} at offset {} was {}, but nobody made it", one.record.text(), text_of(one.partition), one.offset,
                        one.consumed ? "read" : "acknowledged"));
    }
  }

  bool settled(const Seen& one) {
    const CommittedLog& log = watched().history.logs[one.partition];
    if (one.offset >= log.end()) {
      return false;
    }
    const RecordName& there = log.records[static_cast<std::size_t>(one.offset)];
    if (there.producer == RecordName::kDeleted && one.offset < watched().history.deletable[one.partition]) {
      return true;
    }
    if (there != one.record) {
      wrong(fmt::format("record {} of {} at offset {} was {}, but {} is there", one.record.text(), text_of(one.partition),
                        one.offset, one.consumed ? "read" : "acknowledged", there.text()));
    }
    return true;
  }

  std::size_t next_ = 0;
  std::vector<Seen> waiting_;
  std::map<std::pair<Uuid, PartitionIndex>, LeaderEpoch> newest_;
};

}  // namespace

CheckPtr make_acknowledged_survive(const Watched& watched, const Check::Report& report) {
  return std::make_unique<AcknowledgedSurvive>(watched, report);
}

}  // namespace hw::sim
