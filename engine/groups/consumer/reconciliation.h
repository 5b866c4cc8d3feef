// SPDX-License-Identifier: Apache-2.0
// One step of a member towards its target (KIP-848): first it gives back what it shall not have any
// more and stays at its epoch, then it comes to the target's epoch and gets what nobody else holds.
//
// A pure function of the member, its group, and what the member says that it owns.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <set>

#include "engine/base/uuid.h"
#include "engine/groups/consumer/consumer_group.h"

namespace hw::groups {

struct Reconciliation {
  const ConsumerGroup& group;  // who owns what, and the target
  const ConsumerMember& member;
  std::int32_t target_epoch = 0;
  const Assignment& target;
  std::set<Uuid> subscribed;  // the topics that it subscribes to now
  bool subscription_changed = false;
  std::optional<Assignment> owned;  // what it says that it owns; nothing: it says nothing
};

// The member as it is after the step; nothing where it must leave all and join again.
[[nodiscard]] std::optional<ConsumerMember> reconcile(const Reconciliation& step);

}  // namespace hw::groups
