// SPDX-License-Identifier: Apache-2.0
// 08: whoever is given a partition begins at what was committed last, or later: no committed offset of a group goes back. (Where unclean
// elections lose records, the group begins where the log ends now.)
#include <fmt/core.h>

#include "engine/sim/checks/all.h"

namespace hw::sim {

namespace {

class GroupOffsets final : public Check {
 public:
  using Check::Check;
  [[nodiscard]] const char* name() const noexcept override { return "08 committed offsets do not go back"; }

  void sample() override {
    const std::vector<History::Begun>& begun = watched().history.begun;
    for (; next_ < begun.size(); ++next_) {
      const History::Begun& one = begun[next_];
      if (one.position < one.committed_before && !watched().options.unclean) {
        wrong(fmt::format("group {} begins {} at {} although {} was committed", one.group, text_of(one.partition), one.position,
                          one.committed_before));
      }
    }
  }
  void finish() override { sample(); }

 private:
  std::size_t next_ = 0;
};

}  // namespace

CheckPtr make_group_offsets(const Watched& watched, const Check::Report& report) {
  return std::make_unique<GroupOffsets>(watched, report);
}

}  // namespace hw::sim
