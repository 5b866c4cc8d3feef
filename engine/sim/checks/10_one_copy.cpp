// SPDX-License-Identifier: Apache-2.0
// 10: a record of an idempotent producer is in its partition once, and behind those that the producer sent before it.
#include <fmt/core.h>

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
        std::int64_t& last = last_[{key, record.producer}];
        if (record.number < last) {
          wrong(fmt::format("record {} is in {} at offset {}, behind {} of the same producer", record.text(), text_of(key), next, last));
        }
        last = std::max(last, record.number);
      }
    }
  }
  void finish() override { sample(); }

 private:
  std::map<PartitionKey, std::size_t> next_;
  std::map<RecordName, std::pair<PartitionKey, std::size_t>> places_;
  std::map<std::pair<PartitionKey, std::int32_t>, std::int64_t> last_;
};

}  // namespace

CheckPtr make_one_copy(const Watched& watched, const Check::Report& report) { return std::make_unique<OneCopy>(watched, report); }

}  // namespace hw::sim
