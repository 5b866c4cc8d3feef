// SPDX-License-Identifier: Apache-2.0
// 06: the properties of Raft on the metadata log. One leader an epoch; a leader cuts nothing of its own; batches of the same offset and
// epoch are the same on all nodes, committed or not; a leader has all that was committed; what is committed stays, and is the same
// everywhere. Epochs and high watermarks of a node do not go back, epochs not even over restarts.
#include <fmt/core.h>

#include "engine/log/partition_log.h"
#include "engine/sim/checks/all.h"
#include "engine/wire/record/batch.h"

namespace hw::sim {

namespace {

constexpr std::int64_t kChunk = 1 << 20;

class Raft final : public Check {
 public:
  using Check::Check;
  [[nodiscard]] const char* name() const noexcept override { return "06 Raft on the metadata log"; }

  void sample() override {
    for (const auto& node : watched().nodes) {
      const api::Insides in = node->insides();
      if (in.image != nullptr && in.metadata_log != nullptr) {
        look(*node, in.quorum, *in.metadata_log);
      }
    }
  }
  void finish() override { sample(); }

 private:
  struct Last {
    std::uint32_t life = 0;
    LeaderEpoch epoch{-1};
    bool leads = false;
    Offset end;
    Offset high_watermark;
    std::int64_t compared = 0;
  };
  struct Batch {
    std::int64_t next = 0;
    std::uint32_t crc = 0;
    std::int32_t epoch = 0;
    bool operator==(const Batch&) const = default;
  };

  void look(const NodeHost& node, const raft::QuorumView& quorum, const log::PartitionLog& log) {
    Last& last = last_[node.id()];
    const bool leads = quorum.state == raft::QuorumView::State::leader;
    if (quorum.epoch < last.epoch) {
      wrong(fmt::format("{} goes back from epoch {} to {}", node_text(node), last.epoch.value(), quorum.epoch.value()));
    }
    if (quorum.leader) {
      const auto [it, fresh] = leaders_.emplace(quorum.epoch, *quorum.leader);
      if (!fresh && it->second != *quorum.leader) {
        wrong(fmt::format("{} says that {} leads epoch {}, which {} leads", node_text(node), quorum.leader->value(),
                          quorum.epoch.value(), it->second.value()));
      }
    }
    if (last.life == node.life()) {
      if (quorum.high_watermark < last.high_watermark) {
        wrong(fmt::format("{} takes its high watermark back from {} to {}", node_text(node), last.high_watermark.value(),
                          quorum.high_watermark.value()));
      }
      if (leads && last.leads && last.epoch == quorum.epoch && quorum.log_end_offset < last.end) {
        wrong(fmt::format("{} leads epoch {} and cuts its own log from {} to {}", node_text(node), quorum.epoch.value(),
                          last.end.value(), quorum.log_end_offset.value()));
      }
    } else {
      last.compared = 0;
    }
    // One of an older epoch may lead on for itself, paused or cut off, and lacks what a newer one committed.
    if (leads && quorum.epoch >= committed_epoch_ && quorum.log_end_offset.value() < committed_end_) {
      wrong(fmt::format("{} leads epoch {} with a log up to {}, but {} was committed", node_text(node), quorum.epoch.value(),
                        quorum.log_end_offset.value(), committed_end_));
    }
    last.life = node.life();
    last.epoch = quorum.epoch;
    last.leads = leads;
    last.end = quorum.log_end_offset;
    last.high_watermark = quorum.high_watermark;
    compare(node, quorum.high_watermark.value(), log, last);
  }

  void compare(const NodeHost& node, std::int64_t high_watermark, const log::PartitionLog& log, Last& last) {
    std::int64_t at = std::max(last.compared, log.log_start_offset().value());
    while (at < log.log_end_offset().value()) {
      const log::ReadOutcome read = log.read({Offset(at), kChunk, true, log::ReadIsolation::log_end});
      if (read.error != wire::ErrorCode::none) {
        return;  // behind a snapshot; what there is will be looked at
      }
      const Bytes bytes = read.records.flatten();
      wire::BatchCursor cursor(bytes.span());
      wire::BatchView batch;
      const std::int64_t before = at;
      while (cursor.next(batch)) {
        const Batch here{batch.next_offset().value(), batch.crc(), batch.leader_epoch().value()};
        const auto [twin, first] = written_.emplace(std::pair{batch.base_offset().value(), here.epoch}, here);
        if (!first && twin->second != here) {
          wrong(fmt::format("{} has another batch of the metadata log at offset {} and epoch {}: up to {}, crc {:08x}; elsewhere up to {}, crc {:08x}",
                            node_text(node), batch.base_offset().value(), here.epoch, here.next, here.crc, twin->second.next,
                            twin->second.crc));
          return;
        }
        if (here.next > high_watermark) {
          at = here.next;
          continue;
        }
        const auto [it, fresh] = committed_.emplace(batch.base_offset().value(), here);
        if (!fresh && it->second != here) {
          wrong(fmt::format("{} has another committed batch of the metadata log at offset {}: epoch {}, crc {:08x}; elsewhere epoch {}, crc {:08x}",
                            node_text(node), batch.base_offset().value(), here.epoch, here.crc, it->second.epoch, it->second.crc));
          return;
        }
        if (here.next > committed_end_) {
          committed_end_ = here.next;
          committed_epoch_ = batch.leader_epoch();
        }
        at = here.next;
        last.compared = at;
      }
      if (at == before) {
        break;
      }
    }
  }

  std::map<BrokerId, Last> last_;
  std::map<LeaderEpoch, BrokerId> leaders_;
  std::map<std::int64_t, Batch> committed_;  // by base offset
  std::map<std::pair<std::int64_t, std::int32_t>, Batch> written_;  // by base offset and epoch
  std::int64_t committed_end_ = 0;
  LeaderEpoch committed_epoch_{-1};  // of the batch in front of it
};

}  // namespace

CheckPtr make_raft(const Watched& watched, const Check::Report& report) { return std::make_unique<Raft>(watched, report); }

}  // namespace hw::sim
