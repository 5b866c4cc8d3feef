// SPDX-License-Identifier: Apache-2.0
// 03: below the high watermark all replicas hold the same batches, for ever; at rest they are the same in whole. Nothing goes from the
// start of a log that nobody wants to delete. It also writes down what the records are, for other checks.
// Where a topic allows unclean elections the past may change; at rest its replicas must still be the same.
#include <fmt/core.h>

#include <algorithm>
#include <iterator>

#include "engine/broker/broker.h"
#include "engine/sim/checks/all.h"
#include "engine/wire/record/batch.h"
#include "engine/wire/record/record_iterator.h"

namespace hw::sim {

namespace {

constexpr std::int64_t kChunk = 1 << 20;

class LogsEqual final : public Check {
 public:
  using Check::Check;
  [[nodiscard]] const char* name() const noexcept override { return "03 logs equal below the high watermark"; }

  void sample() override {
    each_replica([this](const NodeHost& node, const PartitionKey& key, const log::PartitionLog& log) {
      const std::int64_t start = log.log_start_offset().value();
      if (start > watched().history.deletable[key]) {
        wrong(fmt::format("{} begins {} at {}, but nobody deleted anything behind {}", node_text(node), text_of(key), start,
                          watched().history.deletable[key]));
      }
      if (may_change(key)) {
        return;
      }
      Place& place = places_[{node.id(), key}];
      if (place.life != node.life()) {
        place = {node.life(), 0};  // recovery may have changed what was seen
      }
      place.offset = std::max(place.offset, start);
      compare(node, key, log, place);
    });
  }

  void finish() override {
    sample();
    places_.clear();
    std::map<PartitionKey, std::pair<std::int64_t, BrokerId>> ends;
    each_replica([&](const NodeHost& node, const PartitionKey& key, const log::PartitionLog& log) {
      const std::int64_t end = log.log_end_offset().value();
      const auto [it, fresh] = ends.try_emplace(key, end, node.id());
      if (!fresh && it->second.first != end) {
        wrong(fmt::format("at rest, {} has {} up to {}, node {} up to {}", node_text(node), text_of(key), end,
                          it->second.second.value(), it->second.first));
      }
      Place place{node.life(), log.log_start_offset().value()};
      compare(node, key, log, place);
    });
  }

 private:
  struct Place {
    std::uint32_t life = 0;
    std::int64_t offset = 0;  // of the one history, next to compare
  };

  [[nodiscard]] bool may_change(const PartitionKey& key) const { return watched().options.unclean && key.first != "__consumer_offsets"; }

  template <class Visit>
  void each_replica(Visit visit) {
    for (const auto& node : watched().nodes) {
      const api::Insides in = node->insides();
      if (in.broker == nullptr || in.image == nullptr) {
        continue;
      }
      for (const auto& [name, topic] : in.image->topics()) {
        if (!is_workload(name)) {
          continue;
        }
        for (std::size_t i = 0; i < topic->partitions.size(); ++i) {
          const auto index = static_cast<std::int32_t>(i);
          const broker::Partition* partition = in.broker->find(topic->id, PartitionIndex(index));
          if (partition != nullptr && partition->log() != nullptr) {
            visit(*node, PartitionKey{name, index}, *partition->log());
          }
        }
      }
    }
  }

  void compare(const NodeHost& node, const PartitionKey& key, const log::PartitionLog& log, Place& place) {
    const std::int64_t high_watermark = log.high_watermark().value();
    while (place.offset < high_watermark) {
      const log::ReadOutcome read = log.read({Offset(place.offset), kChunk, true, log::ReadIsolation::high_watermark});
      if (read.error != wire::ErrorCode::none) {
        wrong(fmt::format("{} cannot read {} at {}: {}", node_text(node), text_of(key), place.offset, wire::error_name(read.error)));
        return;
      }
      const Bytes bytes = read.records.flatten();
      wire::BatchCursor cursor(bytes.span());
      wire::BatchView batch;
      const std::int64_t before = place.offset;
      while (cursor.next(batch)) {
        if (batch.next_offset().value() > high_watermark) {
          break;
        }
        if (!take(node, key, batch, place)) {
          return;
        }
      }
      if (place.offset == before) {
        return;  // the high watermark stands inside a batch
      }
    }
  }

  bool take(const NodeHost& node, const PartitionKey& key, const wire::BatchView& batch, Place& place) {
    CommittedLog& known = watched().history.logs[key];
    const CommittedLog::Batch here{batch.base_offset().value(), batch.next_offset().value(), batch.crc(), batch.leader_epoch().value()};
    const bool inside = here.base < place.offset && here.next > place.offset;  // where the log begins, a batch may begin before
    if (here.base != place.offset && !inside) {
      wrong(fmt::format("{} has a batch of {} at offset {}, where {} is to follow", node_text(node), text_of(key), here.base, place.offset));
      return false;
    }
    if (!batch.crc_ok()) {
      wrong(fmt::format("{} has a damaged batch of {} at offset {}", node_text(node), text_of(key), here.base));
      return false;
    }
    const auto [known_batch, fresh] = known.batches.try_emplace(here.base, here);
    const CommittedLog::Batch& there = known_batch->second;
    if (!fresh && (there.next != here.next || there.crc != here.crc || there.epoch != here.epoch)) {
      wrong(fmt::format("{} has other records of {}: at offset {} to {}, epoch {}, crc {:08x}; committed are {} to {}, epoch {}, crc {:08x}",
                        node_text(node), text_of(key), here.base, here.next, here.epoch, here.crc, there.base, there.next,
                        there.epoch, there.crc));
      return false;
    }
    if (fresh) {
      const auto after = std::next(known_batch);
      const bool over_next = after != known.batches.end() && after->first < here.next;
      const bool over_last = known_batch != known.batches.begin() && std::prev(known_batch)->second.next > here.base;
      if (over_next || over_last) {
        wrong(fmt::format("{} has a batch of {} from offset {} to {}, and committed are other batches there", node_text(node), text_of(key),
                          here.base, here.next));
        return false;
      }
      note_records(known, batch);
    }
    place.offset = here.next;
    return true;
  }

  static void note_records(CommittedLog& known, const wire::BatchView& batch) {
    const auto base = static_cast<std::size_t>(batch.base_offset().value());
    const auto end = static_cast<std::size_t>(batch.next_offset().value());
    if (known.records.size() < base) {
      known.records.resize(base, {RecordName::kDeleted, 0});
    }
    std::vector<RecordName> names;
    if (Result<wire::RecordIterator> records = batch.control() ? fail(Errc::invalid, "control") : wire::RecordIterator::open(batch)) {
      wire::RecordView record;
      while (records->next(record) && names.size() < end - base) {
        names.push_back(record.value ? name_of(as_text(*record.value)) : RecordName{});
      }
    }
    names.resize(end - base);
    known.records.resize(std::max(known.records.size(), end), {RecordName::kDeleted, 0});
    std::copy(names.begin(), names.end(), known.records.begin() + static_cast<std::ptrdiff_t>(base));
  }

  std::map<std::pair<BrokerId, PartitionKey>, Place> places_;
};

}  // namespace

CheckPtr make_logs_equal(const Watched& watched, const Check::Report& report) {
  return std::make_unique<LogsEqual>(watched, report);
}

}  // namespace hw::sim
