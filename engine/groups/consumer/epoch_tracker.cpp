// SPDX-License-Identifier: Apache-2.0
#include "engine/groups/consumer/epoch_tracker.h"

#include "engine/groups/consumer/consumer_group.h"

namespace hw::groups {

using event::GroupRebalanced;

EpochTracker::Trigger trigger_of(EpochTracker::Cause cause, const ConsumerMember& member) {
  return {cause, member.id, member.client_id, member.client_host, {}};
}

EpochTracker::Owners EpochTracker::owners(const ConsumerGroup& group) {
  Owners result;
  for (const auto& [id, member] : group.members()) {
    // An instance id may be another member's id: what tells them apart goes before the name.
    const std::string name = member.instance ? "i" + *member.instance : "m" + id;
    for (const Owned* owned : {&member.assigned, &member.revoking}) {
      for (const auto& [topic, partitions] : *owned) {
        for (const auto& [partition, epoch] : partitions) {
          result.emplace(std::pair(topic, partition), name);
        }
      }
    }
  }
  return result;
}

void EpochTracker::loaded(const ConsumerGroup& group) {
  running_ = false;
  target_epoch_ = group.target_epoch();
  reached_us_.clear();
  epoch_ = group.epoch();
  members_ = static_cast<std::int32_t>(group.size());
  owned_ = owners(group);
}

std::optional<GroupRebalanced> EpochTracker::changed(const ConsumerGroup& group,
                                                     std::string_view assignor,
                                                     const std::vector<Trigger>& triggers,
                                                     Now now) {
  const ConsumerState state = group.state();
  const bool at_rest = state == ConsumerState::stable || state == ConsumerState::empty;
  if (!running_) {
    if (at_rest && group.epoch() == epoch_) {
      return std::nullopt;
    }
    running_ = true;
    began_ = now.instant;
    event_ = {};
    event_.kind = event::GroupProtocol::consumer;
    event_.began = now.wall;
    event_.generation_before = epoch_;
    event_.members_before = members_;
    reached_us_.clear();
  }
  for (const Trigger& trigger : triggers) {
    if (event_.triggers.size() < GroupRebalanced::kTriggersMax) {
      event_.triggers.push_back(trigger);
    } else {
      ++event_.triggers_skipped;
    }
  }
  const std::int64_t since_us = (now.instant - began_).us();
  if (group.target_epoch() != target_epoch_) {
    target_epoch_ = group.target_epoch();
    event_.join_us = since_us;
    reached_us_.clear();
  }
  for (const auto& [id, member] : group.members()) {
    if (member.reconciled_to(target_epoch_)) {
      reached_us_.try_emplace(id, since_us);
    }
  }
  if (!at_rest) {
    return std::nullopt;
  }
  running_ = false;
  GroupRebalanced result = std::move(event_);
  event_ = {};
  Owners after = owners(group);
  result.group = group.id();
  result.generation = group.epoch();
  result.protocol = state == ConsumerState::empty ? std::string() : std::string(assignor);
  result.members_after = static_cast<std::int32_t>(group.size());
  result.partitions_before = static_cast<std::int32_t>(owned_.size());
  result.partitions_after = static_cast<std::int32_t>(after.size());
  for (const auto& [partition, owner] : owned_) {
    const auto next = after.find(partition);
    const bool stayed = next != after.end() && next->second == owner;
    ++(stayed ? result.kept : result.moved);
  }
  result.total_us = since_us;
  for (const auto& [id, us] : reached_us_) {
    if (group.find(id) != nullptr && result.barriers.size() < GroupRebalanced::kBarriersMax) {
      result.barriers.push_back({id, -1, us});
    }
  }
  epoch_ = result.generation;
  members_ = result.members_after;
  owned_ = std::move(after);
  return result;
}

}  // namespace hw::groups
