// SPDX-License-Identifier: Apache-2.0
#include "engine/groups/consumer/consumer_group.h"

#include <algorithm>
#include <utility>

#include "engine/base/assert.h"

namespace hw::groups {
namespace {

using wire::ErrorCode;

constexpr std::int16_t kMemberEpochFrom = 9;  // OffsetCommit, KIP-848

// One more or less; whoever is at zero is not counted at all.
void add(std::map<std::string, std::int32_t, std::less<>>& counts, const std::string& name,
         std::int32_t by) {
  const auto at = counts.try_emplace(name, 0).first;
  at->second += by;
  HW_ASSERT(at->second >= 0, "C3");
  if (at->second == 0) {
    counts.erase(at);
  }
}

// A classic member knows generations, the others know epochs.
ErrorCode wrong_epoch(const ConsumerMember& member) {
  return member.classic ? ErrorCode::illegal_generation : ErrorCode::stale_member_epoch;
}

}  // namespace

const char* state_name(ConsumerState state) noexcept {
  switch (state) {
    case ConsumerState::empty:
      return "Empty";
    case ConsumerState::assigning:
      return "Assigning";
    case ConsumerState::reconciling:
      return "Reconciling";
    case ConsumerState::stable:
      return "Stable";
  }
  return "";
}

ErrorCode ConsumerGroup::validate_commit(const Committer& by) const {
  if (by.generation < 0 && members_.empty()) {
    return ErrorCode::none;  // an administrator, or a consumer that assigns itself
  }
  if (by.transactional && by.generation < 0 && by.member.empty() && !by.instance) {
    return ErrorCode::none;
  }
  const ConsumerMember* member = find(by.member);
  if (member == nullptr) {
    return ErrorCode::unknown_member_id;
  }
  if (!by.transactional && !member->classic && by.api_version < kMemberEpochFrom) {
    return ErrorCode::unsupported_version;
  }
  return by.generation > member->epoch ? wrong_epoch(*member) : ErrorCode::none;
}

ErrorCode ConsumerGroup::validate_commit_of(const Committer& by, const Uuid& topic,
                                            PartitionIndex partition) const {
  const ConsumerMember* member = find(by.member);
  if (member == nullptr || by.generation == member->epoch) {
    return ErrorCode::none;
  }
  // An older epoch counts as long as the partition has been the member's since then (KIP-1251).
  for (const Owned* owned : {&member->assigned, &member->revoking}) {
    const auto in_topic = owned->find(topic);
    if (in_topic != owned->end()) {
      const auto at = in_topic->second.find(partition);
      if (at != in_topic->second.end()) {
        return by.generation < at->second ? wrong_epoch(*member) : ErrorCode::none;
      }
    }
  }
  return wrong_epoch(*member);
}

ErrorCode ConsumerGroup::validate_fetch(const std::optional<std::string>& member,
                                        std::int32_t epoch) const {
  if (!member && epoch < 0) {
    return ErrorCode::none;  // an administrator, or a client that does not say who it is
  }
  const ConsumerMember* known = find(member.value_or(std::string()));
  if (known == nullptr) {
    return ErrorCode::unknown_member_id;
  }
  return epoch == known->epoch ? ErrorCode::none : wrong_epoch(*known);
}

void ConsumerGroup::tombstones(std::vector<Record>& records) const {
  for (const ConsumerRecord kind : {ConsumerRecord::current, ConsumerRecord::target_member}) {
    for (const auto& [id, member] : members_) {
      records.push_back(tombstone(this->id(), kind, id));
    }
  }
  records.push_back(tombstone(id(), ConsumerRecord::target));
  for (const auto& [id, member] : members_) {
    records.push_back(tombstone(this->id(), ConsumerRecord::member, id));
  }
  for (const auto& [regex, resolved] : regexes_) {
    records.push_back(tombstone(id(), ConsumerRecord::regex, regex));
  }
  records.push_back(tombstone(id(), ConsumerRecord::partition_metadata));
  records.push_back(tombstone(id(), ConsumerRecord::group));
}

ConsumerState ConsumerGroup::state() const noexcept {
  if (members_.empty()) {
    return ConsumerState::empty;
  }
  if (epoch_ > target_epoch_) {
    return ConsumerState::assigning;
  }
  const bool settled = std::all_of(members_.begin(), members_.end(), [this](const auto& entry) {
    return entry.second.reconciled_to(target_epoch_);
  });
  return settled ? ConsumerState::stable : ConsumerState::reconciling;
}

const ConsumerMember* ConsumerGroup::find(std::string_view member) const {
  const auto found = members_.find(member);
  return found == members_.end() ? nullptr : &found->second;
}

const ConsumerMember* ConsumerGroup::find_static(std::string_view instance) const {
  const auto found = instances_.find(instance);
  return found == instances_.end() ? nullptr : find(found->second);
}

const Assignment& ConsumerGroup::target_of(std::string_view member) const {
  static const Assignment kNone;
  const auto found = targets_.find(member);
  return found == targets_.end() ? kNone : found->second;
}

std::string_view ConsumerGroup::owner_of(const Uuid& topic, PartitionIndex partition) const {
  const auto in_topic = owners_.find(topic);
  if (in_topic == owners_.end()) {
    return {};
  }
  const auto owner = in_topic->second.find(partition);
  return owner == in_topic->second.end() ? std::string_view() : std::string_view(owner->second);
}

std::int32_t ConsumerGroup::subscribers_of_regex(std::string_view regex) const {
  const auto found = regex_subscribers_.find(regex);
  return found == regex_subscribers_.end() ? 0 : found->second;
}

Assignor ConsumerGroup::preferred_assignor(const std::vector<Assignor>& offered) const {
  HW_ASSERT(!offered.empty(), "a broker offers an assignor");
  Assignor best = offered.front();
  std::int32_t most = 0;
  for (const Assignor assignor : offered) {
    const auto votes = assignors_.find(assignor_name(assignor));
    if (votes != assignors_.end() && votes->second > most) {
      best = assignor;
      most = votes->second;
    }
  }
  return best;
}

std::size_t ConsumerGroup::classic_size() const noexcept {
  return static_cast<std::size_t>(
      std::count_if(members_.begin(), members_.end(),
                    [](const auto& entry) { return entry.second.classic.has_value(); }));
}

bool ConsumerGroup::supports_classic(std::string_view type,
                                     const std::vector<Protocol>& protocols) const {
  if (type != "consumer") {
    return false;
  }
  if (members_.empty()) {
    return !protocols.empty();
  }
  const auto knows = [](const ConsumerMember& member, const std::string& name) {
    return std::any_of(member.classic->protocols.begin(), member.classic->protocols.end(),
                       [&](const Protocol& one) { return one.name == name; });
  };
  return std::any_of(protocols.begin(), protocols.end(), [&](const Protocol& protocol) {
    return std::all_of(members_.begin(), members_.end(), [&](const auto& entry) {
      return !entry.second.classic || knows(entry.second, protocol.name);
    });
  });
}

bool ConsumerGroup::waits_for_partition(const ConsumerMember& member) const {
  if (member.state != MemberState::unreleased) {
    return false;
  }
  for (const auto& [topic, partitions] : target_of(member.id)) {
    const auto has = member.assigned.find(topic);
    for (const PartitionIndex partition : partitions) {
      const bool own = has != member.assigned.end() && has->second.contains(partition);
      if (!own && !owner_of(topic, partition).empty()) {
        return true;
      }
    }
  }
  return false;
}

void ConsumerGroup::apply(ConsumerRecord kind, const std::string& name,
                          const ConsumerValue* value) {
  switch (kind) {
    case ConsumerRecord::group:
      if (value != nullptr) {
        const auto& group = std::get<wire::ConsumerGroupMetadataValue>(*value);
        epoch_ = group.epoch;
        metadata_hash_ = group.metadata_hash;
      }
      return;
    case ConsumerRecord::partition_metadata:
      has_partition_metadata_ = value != nullptr;
      return;
    case ConsumerRecord::member:
      change_member(name, value);
      return;
    case ConsumerRecord::target:
      if (value == nullptr) {
        target_epoch_ = -1;
        target_timestamp_ms_ = 0;
      } else {
        const auto& target = std::get<wire::ConsumerGroupTargetAssignmentMetadataValue>(*value);
        target_epoch_ = target.assignment_epoch;
        target_timestamp_ms_ = target.assignment_timestamp;
      }
      return;
    case ConsumerRecord::target_member:
      if (value == nullptr) {
        targets_.erase(name);
      } else {
        targets_[name] =
            to_assignment(std::get<wire::ConsumerGroupTargetAssignmentMemberValue>(*value));
      }
      return;
    case ConsumerRecord::current:
      change_current(name, value);
      return;
    case ConsumerRecord::regex:
      change_regex(name, value);
      return;
  }
}

void ConsumerGroup::change_member(const std::string& id, const ConsumerValue* value) {
  const auto known = members_.find(id);
  if (known != members_.end()) {
    count(known->second, -1);
  }
  if (value == nullptr) {
    if (known != members_.end()) {
      disown(known->second);
      members_.erase(known);
    }
    seen.erase(id);
    return;
  }
  ConsumerMember& member = members_[id];
  member.id = id;
  groups::apply(std::get<wire::ConsumerGroupMemberMetadataValue>(*value), member);
  count(member, 1);
}

void ConsumerGroup::change_current(const std::string& id, const ConsumerValue* value) {
  auto known = members_.find(id);
  if (known == members_.end()) {
    if (value == nullptr) {
      return;
    }
    known = members_.emplace(id, ConsumerMember{}).first;
    known->second.id = id;
  }
  ConsumerMember& member = known->second;
  disown(member);
  if (value == nullptr) {
    member.epoch = kLeavingEpoch;
    member.previous_epoch = kLeavingEpoch;
    member.state = MemberState::stable;
    member.assigned.clear();
    member.revoking.clear();
  } else {
    groups::apply(std::get<wire::ConsumerGroupCurrentMemberAssignmentValue>(*value), member);
  }
  own(member);
}

void ConsumerGroup::change_regex(const std::string& regex, const ConsumerValue* value) {
  if (const auto known = regexes_.find(regex); known != regexes_.end()) {
    for (const std::string& topic : known->second.topics) {
      add(subscribers_, topic, -1);
    }
    regexes_.erase(known);
  }
  if (value != nullptr) {
    ResolvedRegex resolved = to_regex(std::get<wire::ConsumerGroupRegularExpressionValue>(*value));
    for (const std::string& topic : resolved.topics) {
      add(subscribers_, topic, 1);
    }
    regexes_.emplace(regex, std::move(resolved));
  }
}

void ConsumerGroup::count(const ConsumerMember& member, std::int32_t by) {
  for (const std::string& topic : member.topics) {
    add(subscribers_, topic, by);
  }
  if (!member.regex.empty()) {
    add(regex_subscribers_, member.regex, by);
  }
  if (member.assignor) {
    add(assignors_, *member.assignor, by);
  }
  if (member.instance) {
    if (by > 0) {
      instances_[*member.instance] = member.id;
    } else if (const auto known = instances_.find(*member.instance);
               known != instances_.end() && known->second == member.id) {
      instances_.erase(known);
    }
  }
}

void ConsumerGroup::own(const ConsumerMember& member) {
  for (const Owned* owned : {&member.assigned, &member.revoking}) {
    for (const auto& [topic, partitions] : *owned) {
      for (const auto& [partition, epoch] : partitions) {
        owners_[topic].emplace(partition, member.id);
      }
    }
  }
}

void ConsumerGroup::disown(const ConsumerMember& member) {
  for (const Owned* owned : {&member.assigned, &member.revoking}) {
    for (const auto& [topic, partitions] : *owned) {
      const auto in_topic = owners_.find(topic);
      if (in_topic == owners_.end()) {
        continue;
      }
      for (const auto& [partition, epoch] : partitions) {
        const auto at = in_topic->second.find(partition);
        if (at != in_topic->second.end() && at->second == member.id) {
          in_topic->second.erase(at);
        }
      }
      if (in_topic->second.empty()) {
        owners_.erase(in_topic);
      }
    }
  }
}

}  // namespace hw::groups
