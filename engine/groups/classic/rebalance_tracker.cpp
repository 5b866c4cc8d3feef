// SPDX-License-Identifier: Apache-2.0
#include "engine/groups/classic/rebalance_tracker.h"

#include <algorithm>

#include "engine/groups/classic/classic_group.h"

namespace hw::groups {

using event::GroupRebalanced;

RebalanceTracker::Trigger trigger_of(RebalanceTracker::Cause cause, const ClassicMember& member,
                                     const std::optional<std::string>& said) {
  return {cause, member.id, member.client_id, member.client_host, said.value_or(std::string())};
}

RebalanceTracker::Owned RebalanceTracker::owned(const ClassicGroup& group) {
  Owned result;
  if (!group.uses_consumer_protocol()) {
    return result;
  }
  for (const auto& [id, member] : group.members()) {
    const Owner owner{member.instance_id.value_or(id), member.is_static()};
    for (auto& partition : decode_assignment(member.assignment)) {
      result.emplace(std::move(partition), owner);
    }
  }
  return result;
}

void RebalanceTracker::loaded(const ClassicGroup& group) {
  members_ = static_cast<std::int32_t>(group.size());
  owned_ = owned(group);
}

void RebalanceTracker::begin(std::int32_t generation, Now now) {
  if (running_) {
    return;
  }
  running_ = true;
  began_ = now.instant;
  event_ = {};
  event_.began = now.wall;
  event_.generation_before = generation;
  event_.members_before = members_;
  barriers_.clear();
}

void RebalanceTracker::trigger(Trigger trigger) {
  if (!running_) {
    return;
  }
  if (event_.triggers.size() < GroupRebalanced::kTriggersMax) {
    event_.triggers.push_back(std::move(trigger));
  } else {
    ++event_.triggers_skipped;
  }
}

void RebalanceTracker::joined(const std::string& member, Now now) {
  if (running_) {
    barriers_[member] = {member, since_us(now), -1};
  }
}

void RebalanceTracker::generation(Now now) {
  if (running_) {
    event_.join_us = since_us(now);
  }
}

void RebalanceTracker::start_over() {
  for (auto& [id, barrier] : barriers_) {
    barrier.joined_us = barrier.synced_us = -1;
  }
}

void RebalanceTracker::synced(const std::string& member, Now now) {
  if (const auto barrier = barriers_.find(member); running_ && barrier != barriers_.end()) {
    barrier->second.synced_us = since_us(now);
  }
}

std::optional<GroupRebalanced> RebalanceTracker::finish(const ClassicGroup& group, Now now) {
  if (!running_) {
    return std::nullopt;
  }
  running_ = false;
  GroupRebalanced result = std::move(event_);
  Owned after = owned(group);
  result.group = group.id();
  result.generation = group.generation();
  result.protocol = group.protocol_name().value_or(std::string());
  result.members_after = static_cast<std::int32_t>(group.size());
  result.partitions_before = static_cast<std::int32_t>(owned_.size());
  result.partitions_after = static_cast<std::int32_t>(after.size());
  for (const auto& [partition, owner] : owned_) {
    const auto next = after.find(partition);
    if (next == after.end() || next->second != owner) {
      ++result.moved;
    }
  }
  if (group.uses_consumer_protocol() && group.protocol_name()) {
    for (const auto& [id, member] : group.members()) {
      const Protocol* protocol = member.find_protocol(*group.protocol_name());
      const std::optional<Subscription> said =
          protocol == nullptr ? std::nullopt : decode_subscription(protocol->metadata);
      if (!said) {
        continue;
      }
      const Owner owner{member.instance_id.value_or(id), member.is_static()};
      for (const auto& partition : said->owned) {
        const auto before = owned_.find(partition);
        const auto next = after.find(partition);
        if (before != owned_.end() && before->second == owner && next != after.end() &&
            next->second == owner) {
          ++result.kept;
        }
      }
    }
  }
  result.total_us = since_us(now);
  for (auto& [id, barrier] : barriers_) {
    if (group.has(id) && result.barriers.size() < GroupRebalanced::kBarriersMax) {
      result.barriers.push_back(std::move(barrier));
    }
  }
  barriers_.clear();
  event_ = {};
  members_ = result.members_after;
  owned_ = std::move(after);
  return result;
}

}  // namespace hw::groups
