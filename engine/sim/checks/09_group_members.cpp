// SPDX-License-Identifier: Apache-2.0
// 09: in a generation (member epoch) of a group a partition belongs to one member. Not where members speak both protocols: an empty consumer
// group that a classic member joins is a new classic group, which counts from 1 again, as with Kafka.
#include <fmt/core.h>

#include "engine/sim/checks/all.h"

namespace hw::sim {

namespace {

class GroupMembers final : public Check {
 public:
  using Check::Check;
  [[nodiscard]] const char* name() const noexcept override { return "09 one member a partition and generation"; }

  void sample() override {
    if (watched().options.consumer_members > 0 && watched().options.consumer_members < watched().options.consumers) {
      return;
    }
    const std::vector<History::Assigned>& assigned = watched().history.assigned;
    for (; next_ < assigned.size(); ++next_) {
      const History::Assigned& one = assigned[next_];
      const auto [it, fresh] = owners_.emplace(std::tuple{one.group, one.generation, one.partition}, one.member);
      if (!fresh && it->second != one.member) {
        wrong(fmt::format("{} belongs to {} and to {} in generation {} of group {}", text_of(one.partition), it->second, one.member,
                          one.generation, one.group));
      }
    }
  }
  void finish() override { sample(); }

 private:
  std::size_t next_ = 0;
  std::map<std::tuple<std::string, std::int32_t, PartitionKey>, std::string> owners_;
};

}  // namespace

CheckPtr make_group_members(const Watched& watched, const Check::Report& report) {
  return std::make_unique<GroupMembers>(watched, report);
}

}  // namespace hw::sim
