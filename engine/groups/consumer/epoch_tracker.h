// SPDX-License-Identifier: Apache-2.0
// EpochTracker: what there is to tell of one consumer group's ways from rest to rest: why its epoch
// rose, which partitions moved, which never stopped, and when each member had got there.
//
// It only looks: nothing of the protocol depends on it. A rebalance begins when the group leaves
// Stable or Empty, or its epoch rises, and ends when it is in one of them; often that is one step.
// Cost: reads the group once per change. Bounds: those of event::GroupRebalanced.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/ids.h"
#include "engine/base/time.h"
#include "engine/base/uuid.h"
#include "engine/event/event.h"
#include "engine/groups/coordinator.h"

namespace hw::groups {

class ConsumerGroup;
struct ConsumerMember;

class EpochTracker {
 public:
  using Cause = event::GroupRebalanced::Cause;
  using Trigger = event::GroupRebalanced::Trigger;

  // The group is as it was stored: what comes next is compared with this.
  void loaded(const ConsumerGroup& group);
  // The group after a change, and what caused it. The event where a rebalance is over.
  [[nodiscard]] std::optional<event::GroupRebalanced> changed(const ConsumerGroup& group,
                                                              std::string_view assignor,
                                                              const std::vector<Trigger>& triggers,
                                                              Now now);

 private:
  // Who owns what, by topic and partition; a static member is the same one under its next id.
  using Owners = std::map<std::pair<Uuid, PartitionIndex>, std::string>;

  [[nodiscard]] static Owners owners(const ConsumerGroup& group);

  bool running_ = false;
  Instant began_;
  event::GroupRebalanced event_;  // of the one that runs
  std::int32_t target_epoch_ = 0;
  std::map<std::string, std::int64_t, std::less<>> reached_us_;  // members at the target's epoch
  // When the group was last at rest.
  std::int32_t epoch_ = 0;
  std::int32_t members_ = 0;
  Owners owned_;
};

[[nodiscard]] EpochTracker::Trigger trigger_of(EpochTracker::Cause cause,
                                               const ConsumerMember& member);

}  // namespace hw::groups
