// SPDX-License-Identifier: Apache-2.0
// 10: a record of an idempotent producer is in its partition once, and behind those that the producer sent before it in the same life.
// One that dies begins anew with another producer id, and nothing fences the old one (that takes a transactional id, KIP-98): what was on
// its way to a broker then may arrive behind what the next life sends.
// What DeleteRecords took away is not there any more, and a replica that begins at the leader's log start never heard of it: once it leads, it
// takes a repeat of such a record for a first copy, as a broker of Kafka does.
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
          if (!may_be_gone(it->second.first, it->second.second)) {
            wrong(fmt::format("record {} is in {} at offset {} and in {} at offset {}", record.text(), text_of(it->second.first), it->second.second,
                              text_of(key), next));
            continue;
          }
          it->second = {key, next};
        }
        Latest& last = last_[{key, record.producer, life_of(record)}];
        if (record.number < last.number && !may_be_gone(key, last.offset)) {
          wrong(fmt::format("record {} is in {} at offset {}, behind {} of the same producer", record.text(), text_of(key), next, last.number));
        }
        if (record.number > last.number || may_be_gone(key, last.offset)) {
          last = {record.number, next};
        }
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

  [[nodiscard]] bool may_be_gone(const PartitionKey& key, std::size_t offset) const {
    const auto deletable = watched().history.deletable.find(key);
    return deletable != watched().history.deletable.end() && static_cast<std::int64_t>(offset) < deletable->second;
  }

  struct Latest {
    std::int64_t number = 0;
    std::size_t offset = 0;
  };

  std::map<PartitionKey, std::size_t> next_;
  std::map<RecordName, std::pair<PartitionKey, std::size_t>> places_;
  std::map<std::tuple<PartitionKey, std::int32_t, std::ptrdiff_t>, Latest> last_;  // by producer and life
};

}  // namespace

CheckPtr make_one_copy(const Watched& watched, const Check::Report& report) { return std::make_unique<OneCopy>(watched, report); }

}  // namespace hw::sim
