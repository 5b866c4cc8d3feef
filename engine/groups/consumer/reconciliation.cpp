// SPDX-License-Identifier: Apache-2.0
#include "engine/groups/consumer/reconciliation.h"

#include <algorithm>
#include <utility>

namespace hw::groups {
namespace {

// Whether it may still work with one of these partitions.
bool still_owns(const Reconciliation& step, const Owned& revoked) {
  if (!step.owned) {
    return true;
  }
  for (const auto& [topic, partitions] : *step.owned) {
    const auto taken = revoked.find(topic);
    if (taken != revoked.end() &&
        std::any_of(partitions.begin(), partitions.end(),
                    [&](PartitionIndex one) { return taken->second.contains(one); })) {
      return true;
    }
  }
  return false;
}

ConsumerMember at(const ConsumerMember& member, std::int32_t epoch, Owned assigned) {
  ConsumerMember next = member;
  next.previous_epoch = member.epoch;
  next.epoch = epoch;
  next.assigned = std::move(assigned);
  return next;
}

ConsumerMember revokes(const Reconciliation& step, Owned assigned, Owned revoked) {
  ConsumerMember next = at(step.member, step.member.epoch, std::move(assigned));
  next.state = MemberState::unrevoked;
  next.revoking = std::move(revoked);
  return next;
}

// Its subscription has changed, the target has not yet: topics that it does not want go at once.
ConsumerMember drop_unsubscribed(const Reconciliation& step) {
  Owned assigned = step.member.assigned;
  Owned revoked = step.member.revoking;
  bool changed = false;
  for (auto topic = assigned.begin(); topic != assigned.end();) {
    if (step.subscribed.contains(topic->first)) {
      ++topic;
      continue;
    }
    revoked[topic->first].insert(topic->second.begin(), topic->second.end());
    topic = assigned.erase(topic);
    changed = true;
  }
  if (!changed) {
    return step.member;
  }
  if (still_owns(step, revoked)) {
    return revokes(step, std::move(assigned), std::move(revoked));
  }
  return at(step.member, step.member.epoch, std::move(assigned));
}

ConsumerMember towards_target(const Reconciliation& step) {
  Owned assigned;
  Owned revoked;
  for (const auto& [topic, partitions] : step.member.assigned) {
    const auto wanted =
        step.subscribed.contains(topic) ? step.target.find(topic) : step.target.end();
    for (const auto& [partition, epoch] : partitions) {
      const bool stays =
          wanted != step.target.end() &&
          std::binary_search(wanted->second.begin(), wanted->second.end(), partition);
      (stays ? assigned : revoked)[topic][partition] = epoch;
    }
  }
  if (!revoked.empty() && still_owns(step, revoked)) {
    return revokes(step, std::move(assigned), std::move(revoked));
  }
  bool unreleased = false;
  for (const auto& [topic, partitions] : step.target) {
    if (!step.subscribed.contains(topic)) {
      continue;
    }
    for (const PartitionIndex partition : partitions) {
      const auto has = assigned.find(topic);
      if (has != assigned.end() && has->second.contains(partition)) {
        continue;
      }
      if (step.group.owner_of(topic, partition).empty()) {
        assigned[topic][partition] = step.target_epoch;
      } else {
        unreleased = true;
      }
    }
  }
  ConsumerMember next = at(step.member, step.target_epoch, std::move(assigned));
  next.state = unreleased ? MemberState::unreleased : MemberState::stable;
  next.revoking.clear();
  return next;
}

}  // namespace

std::optional<ConsumerMember> reconcile(const Reconciliation& step) {
  switch (step.member.state) {
    case MemberState::stable:
      if (step.member.epoch != step.target_epoch) {
        return towards_target(step);
      }
      return step.subscription_changed ? drop_unsubscribed(step) : step.member;
    case MemberState::unrevoked:
      if (!still_owns(step, step.member.revoking)) {
        return towards_target(step);
      }
      return step.subscription_changed ? drop_unsubscribed(step) : step.member;
    case MemberState::unreleased:
      return towards_target(step);
    case MemberState::unknown:
      break;
  }
  if (!step.owned || !step.owned->empty()) {
    return std::nullopt;
  }
  return towards_target(step);
}

}  // namespace hw::groups
