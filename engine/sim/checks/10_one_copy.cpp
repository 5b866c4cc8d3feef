// SPDX-License-Identifier: Apache-2.0
// 10: a record of an idempotent producer is in its partition once, and behind those that the producer sent before it in the same life.
// One that dies begins anew with another producer id, and nothing fences the old one (that takes a transactional id, KIP-98): what was on
// its way to a broker then may arrive behind what the next life sends.
#include <fmt/core.h>

#include <algorithm>
#include <tuple>

#include "engine/sim/checks/all.h"

namespace hw::sim {

namespace {

class OneCopy final : public Check {
 public:
  using Check::Check;
  [[nodiscard]] const char* name() const noexcept override { return "10 one copy, in order"; }

  void sample() override {
    if (watched().options.unclean) {
      return;  // a leader that lost records does not know either what it had of the producer
    }
    for (const auto& [key, log] : watched().history.logs) {
      std::size_t& next = next_[key];
      for (; next < log.records.size(); ++next) {
        const RecordName& record = log.records[next];
        if (!watched().history.idempotent.contains(record.producer)) {
          continue;
        }
        if (const auto [it, fresh] = places_.emplace(record, std::pair{key, next}); !fresh) {
          wrong(fmt::format("record {} is in {} at offset {} and in {} at offset {}", record.text(), text_of(it->second.first),
                            it->second.second, text_of(key), next));
          continue;
        }
        std::int64_t& last = last_[{key, record.producer, life_of(record)}];
        if (record.number < last) {
          wrong(fmt::format("record {} is in {} at offset {}, behind {} of the same producer", record.text(), text_of(key), next, last));
        }
        last = std::max(last, record.number);
      }
    }
  }
  void finish() override { sample(); }

 private:
  [[nodiscard]] std::ptrdiff_t life_of(const RecordName& record) const {
    const auto lives = watched().history.lives.find(record.producer);
    if (lives == watched().history.lives.end()) {
      return 0;
    }
    return std::upper_bound(lives->second.begin(), lives->second.end(), record.number) - lives->second.begin();
  }

  std::map<PartitionKey, std::size_t> next_;
  std::map<RecordName, std::pair<PartitionKey, std::size_t>> places_;
  std::map<std::tuple<PartitionKey, std::int32_t, std::ptrdiff_t>, std::int64_t> last_;  // by producer and life
};

}  // namespace

CheckPtr make_one_copy(const Watched& watched, const Check::Report& report) { return std::make_unique<OneCopy>(watched, report); }

}  // namespace hw::sim
