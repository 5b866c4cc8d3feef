// SPDX-License-Identifier: Apache-2.0
// RebalanceTracker: what there is to tell of one group's rebalances: why, who came and went, which
// partitions moved, and how long the two barriers took.
//
// It only looks: nothing of the protocol depends on it. A rebalance begins when the group leaves
// Stable or Empty and ends when it is back in one of them; whatever happens between is part of it.
// Cost: reads assignments once per rebalance. Bounds: those of event::GroupRebalanced.
// Thread rule: one thread.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/base/ids.h"
#include "engine/base/time.h"
#include "engine/event/event.h"
#include "engine/groups/coordinator.h"

namespace hw::groups {

class ClassicGroup;
struct ClassicMember;

class RebalanceTracker {
 public:
  using Cause = event::GroupRebalanced::Cause;
  using Trigger = event::GroupRebalanced::Trigger;

  // The group is as it was stored: what comes next is compared with this.
  void loaded(const ClassicGroup& group);
  // Nothing where a rebalance runs already.
  void begin(std::int32_t generation, Now now);

  [[nodiscard]] bool running() const noexcept { return running_; }

  // REQUIRES of the others: none; without a running rebalance they do nothing.
  void trigger(Trigger trigger);
  void joined(const std::string& member, Now now);   // its JoinGroup came
  void generation(Now now);                          // barrier 1: everybody has joined
  void start_over();                                 // the generation ends before it was Stable
  void synced(const std::string& member, Now now);   // its SyncGroup came
  // Barrier 2, or nobody is left. REQUIRES: the group is Stable or Empty.
  [[nodiscard]] std::optional<event::GroupRebalanced> finish(const ClassicGroup& group, Now now);

 private:
  // A static member is the same one under its next id.
  struct Owner {
    std::string name;
    bool is_static = false;
    friend bool operator==(const Owner&, const Owner&) = default;
  };

  using Owned = std::map<std::pair<std::string, PartitionIndex>, Owner>;

  [[nodiscard]] static Owned owned(const ClassicGroup& group);
  [[nodiscard]] std::int64_t since_us(Now now) const noexcept {
    return (now.instant - began_).us();
  }

  bool running_ = false;
  Instant began_;
  event::GroupRebalanced event_;  // of the one that runs
  std::map<std::string, event::GroupRebalanced::Barrier, std::less<>> barriers_;
  std::int32_t members_ = 0;  // when the group was last settled
  Owned owned_;
};

[[nodiscard]] RebalanceTracker::Trigger trigger_of(RebalanceTracker::Cause cause,
                                                   const ClassicMember& member,
                                                   const std::optional<std::string>& said = {});

}  // namespace hw::groups
