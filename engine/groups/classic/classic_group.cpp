// SPDX-License-Identifier: Apache-2.0
#include "engine/groups/classic/classic_group.h"

#include <algorithm>
#include <utility>

#include "engine/base/assert.h"
#include "engine/groups/runtime/records.h"
#include "engine/wire/msg/consumer_protocol_assignment.h"
#include "engine/wire/msg/consumer_protocol_subscription.h"
#include "engine/wire/runtime/reader.h"

namespace hw::groups {

const char* state_name(ClassicState state) noexcept {
  switch (state) {
    case ClassicState::empty:
      return "Empty";
    case ClassicState::preparing_rebalance:
      return "PreparingRebalance";
    case ClassicState::completing_rebalance:
      return "CompletingRebalance";
    case ClassicState::stable:
      return "Stable";
    case ClassicState::dead:
      return "Dead";
  }
  return "";
}

const Protocol* ClassicMember::find_protocol(std::string_view name) const {
  for (const Protocol& protocol : protocols) {
    if (protocol.name == name) {
      return &protocol;
    }
  }
  return nullptr;
}

ClassicGroup::ClassicGroup(std::string id, std::uint64_t serial, WallTime now)
    : Group(std::move(id), serial), state_timestamp_ms_(now.ms) {}

ClassicGroup::ClassicGroup(std::string id, std::uint64_t serial,
                           const wire::GroupMetadataValue& value)
    : Group(std::move(id), serial) {
  generation_ = value.generation;
  if (!value.protocol_type.empty()) {
    protocol_type_ = value.protocol_type;
  }
  protocol_name_ = value.protocol;
  leader_ = value.leader;
  if (value.current_state_timestamp != -1) {
    state_timestamp_ms_ = value.current_state_timestamp;
  }
  state_ = value.members.empty() ? ClassicState::empty : ClassicState::stable;
  for (const auto& stored : value.members) {
    if (has(stored.member_id) ||
        (stored.group_instance_id && static_member(*stored.group_instance_id))) {
      continue;  // a record that names somebody twice: the first one counts
    }
    ClassicMember member;
    member.id = stored.member_id;
    member.instance_id = stored.group_instance_id;
    member.client_id = stored.client_id;
    member.client_host = stored.client_host;
    member.session_timeout_ms = stored.session_timeout;
    member.rebalance_timeout_ms =
        stored.rebalance_timeout == -1 ? stored.session_timeout : stored.rebalance_timeout;
    member.protocol_type = value.protocol_type;
    member.protocols.push_back(
        {value.protocol.value_or(std::string()), Bytes::copy_of(stored.subscription.span())});
    member.assignment = Bytes::copy_of(stored.assignment.span());
    add(std::move(member), {});
  }
  compute_subscription();
}

ClassicMember* ClassicGroup::find(std::string_view member) {
  const auto found = members_.find(member);
  return found == members_.end() ? nullptr : &found->second;
}

std::optional<std::string> ClassicGroup::static_member(std::string_view instance) const {
  const auto found = instances_.find(instance);
  return found == instances_.end() ? std::nullopt : std::optional<std::string>(found->second);
}

bool ClassicGroup::can_rebalance() const noexcept {
  switch (state_) {
    case ClassicState::empty:
    case ClassicState::completing_rebalance:
    case ClassicState::stable:
      return true;
    case ClassicState::preparing_rebalance:
    case ClassicState::dead:
      return false;
  }
  return false;
}

bool ClassicGroup::supports(std::string_view protocol_type,
                            const std::vector<Protocol>& protocols) const {
  if (state_ == ClassicState::empty) {
    return !protocol_type.empty() && !protocols.empty();
  }
  if (!protocol_type_ || *protocol_type_ != protocol_type) {
    return false;
  }
  return std::any_of(protocols.begin(), protocols.end(), [&](const Protocol& protocol) {
    const auto found = supported_.find(protocol.name);
    return (found == supported_.end() ? 0 : found->second) ==
           static_cast<std::int32_t>(members_.size());
  });
}

wire::ErrorCode ClassicGroup::validate_member(std::string_view member,
                                              const std::optional<std::string>& instance) const {
  if (instance) {
    const auto known = instances_.find(*instance);
    if (known == instances_.end()) {
      return wire::ErrorCode::unknown_member_id;
    }
    if (known->second != member) {
      return wire::ErrorCode::fenced_instance_id;
    }
  }
  return has(member) ? wire::ErrorCode::none : wire::ErrorCode::unknown_member_id;
}

wire::ErrorCode ClassicGroup::validate_commit(const Committer& by) const {
  if (state_ == ClassicState::dead) {
    return wire::ErrorCode::coordinator_not_available;
  }
  if (by.generation < 0 && state_ == ClassicState::empty) {
    return wire::ErrorCode::none;  // an administrator, or a consumer that assigns itself
  }
  if (by.generation >= 0 || !by.member.empty() || by.instance) {
    const wire::ErrorCode error = validate_member(by.member, by.instance);
    if (error != wire::ErrorCode::none) {
      return error;
    }
    if (by.generation != generation_) {
      return wire::ErrorCode::illegal_generation;
    }
  } else if (!by.transactional) {
    return wire::ErrorCode::unknown_member_id;  // nobody in particular, while the group has members
  }
  return state_ == ClassicState::completing_rebalance && !by.transactional ? wire::ErrorCode::rebalance_in_progress : wire::ErrorCode::none;
}

std::int32_t ClassicGroup::rebalance_timeout_ms() const noexcept {
  std::int32_t longest = 0;
  for (const auto& [id, member] : members_) {
    longest = std::max(longest, member.rebalance_timeout_ms);
  }
  return longest;
}

std::string ClassicGroup::select_protocol() const {
  HW_ASSERT(!members_.empty(), "a protocol is chosen by members");
  std::map<std::string_view, std::int32_t> votes;
  for (const auto& [id, member] : members_) {
    for (const Protocol& protocol : member.protocols) {
      const auto found = supported_.find(protocol.name);
      if (found != supported_.end() &&
          found->second == static_cast<std::int32_t>(members_.size())) {
        ++votes[protocol.name];
        break;
      }
    }
  }
  HW_ASSERT(!votes.empty(), "G4: a member is let in only with a protocol that all support");
  const auto most = std::max_element(
      votes.begin(), votes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return std::string(most->first);
}

bool ClassicGroup::subscribed_to(std::string_view topic) const {
  return subscribed_ ? subscribed_->find(topic) != subscribed_->end() : uses_consumer_protocol();
}

wire::ErrorCode ClassicGroup::validate_offset_delete() const noexcept {
  // What the members of another protocol read cannot be known.
  return state_ == ClassicState::empty || uses_consumer_protocol()
             ? wire::ErrorCode::none
             : wire::ErrorCode::non_empty_group;
}

std::optional<std::int64_t> ClassicGroup::unused_since_ms(std::string_view topic,
                                                          std::int64_t committed_ms) const {
  if (subscribed_to(topic)) {
    return std::nullopt;
  }
  if (!protocol_type_) {  // nobody ever joined: a consumer that assigns itself
    return committed_ms;
  }
  if (state_ == ClassicState::empty) {
    return state_timestamp_ms_.value_or(committed_ms);
  }
  const bool known = uses_consumer_protocol() && subscribed_.has_value();
  return state_ == ClassicState::stable && known ? std::optional(committed_ms) : std::nullopt;
}

void ClassicGroup::tombstones(std::vector<Record>& records) const {
  records.push_back({encode_group_key(id()), std::nullopt});
}

void ClassicGroup::transition(ClassicState to, WallTime now) {
  const bool allowed = [&] {
    switch (to) {
      case ClassicState::empty:
        return state_ == ClassicState::preparing_rebalance;
      case ClassicState::preparing_rebalance:
        return can_rebalance();
      case ClassicState::completing_rebalance:
        return state_ == ClassicState::preparing_rebalance;
      case ClassicState::stable:
        return state_ == ClassicState::completing_rebalance;
      case ClassicState::dead:
        return true;
    }
    return false;
  }();
  HW_ASSERT(allowed, "an arrow of the state diagram");
  previous_state_ = state_;
  state_ = to;
  state_timestamp_ms_ = now.ms;
}

void ClassicGroup::add(ClassicMember member, Done<wire::JoinGroupResponse> waiting) {
  HW_ASSERT(!has(member.id), "G2: a member is added once");
  if (member.instance_id) {
    const bool fresh = instances_.emplace(*member.instance_id, member.id).second;
    HW_ASSERT(fresh, "G3: one member per instance id");
  }
  if (members_.empty()) {
    protocol_type_ = member.protocol_type;
  }
  if (!leader_) {
    leader_ = member.id;
  }
  pending_.erase(member.id);
  count_protocols(member, 1);
  member.joined = ++joined_;
  member.awaiting_join = std::move(waiting);
  if (member.awaiting_join) {
    ++awaiting_join_;
  }
  std::string id = member.id;
  members_.emplace(std::move(id), std::move(member));
}

void ClassicGroup::remove(std::string_view member) {
  // `member` may be a view of the very key that is erased below.
  const std::string id(member);
  const auto found = members_.find(id);
  if (found != members_.end()) {
    HW_ASSERT(!found->second.awaiting_sync, "answers are given before a member goes");
    count_protocols(found->second, -1);
    if (found->second.awaiting_join) {
      --awaiting_join_;
    }
    if (found->second.instance_id) {
      instances_.erase(*found->second.instance_id);
    }
    members_.erase(found);
  }
  if (is_leader(id)) {
    const auto eldest = std::min_element(
        members_.begin(), members_.end(),
        [](const auto& a, const auto& b) { return a.second.joined < b.second.joined; });
    leader_ = eldest == members_.end() ? std::nullopt : std::optional<std::string>(eldest->first);
  }
  if (const auto pending = pending_.find(id); pending != pending_.end()) {
    pending_.erase(pending);
  }
  if (const auto pending = pending_sync_.find(id); pending != pending_sync_.end()) {
    pending_sync_.erase(pending);
  }
}

void ClassicGroup::update(ClassicMember& member, std::vector<Protocol> protocols,
                          std::int32_t rebalance_timeout_ms, std::int32_t session_timeout_ms,
                          Done<wire::JoinGroupResponse> waiting) {
  count_protocols(member, -1);
  member.protocols = std::move(protocols);
  count_protocols(member, 1);
  member.rebalance_timeout_ms = rebalance_timeout_ms;
  member.session_timeout_ms = session_timeout_ms;
  if (waiting && !member.awaiting_join) {
    ++awaiting_join_;
  } else if (!waiting && member.awaiting_join) {
    --awaiting_join_;
  }
  member.awaiting_join = std::move(waiting);
}

Done<wire::JoinGroupResponse> ClassicGroup::take_join(ClassicMember& member) {
  Done<wire::JoinGroupResponse> waiting = std::exchange(member.awaiting_join, {});
  if (waiting) {
    HW_ASSERT(awaiting_join_ > 0, "G1");
    --awaiting_join_;
  }
  return waiting;
}

Done<wire::SyncGroupResponse> ClassicGroup::take_sync(ClassicMember& member) {
  return std::exchange(member.awaiting_sync, {});
}

ClassicMember& ClassicGroup::rename_static(std::string_view instance, const std::string& old_id,
                                           const std::string& new_id) {
  auto node = members_.extract(old_id);
  HW_ASSERT(!node.empty(), "a static member that is replaced exists");
  HW_ASSERT(!node.mapped().awaiting_join && !node.mapped().awaiting_sync,
            "answers are given before a member goes");
  node.key() = new_id;
  node.mapped().id = new_id;
  ClassicMember& member = members_.insert(std::move(node)).position->second;
  if (is_leader(old_id)) {
    leader_ = new_id;
  }
  if (const auto known = instances_.find(instance); known != instances_.end()) {
    known->second = new_id;
  }
  return member;
}

bool ClassicGroup::elect_joined_leader() {
  if (!leader_) {
    return false;
  }
  const ClassicMember* current = find(*leader_);
  if (current != nullptr && current->awaiting_join) {
    return true;
  }
  const ClassicMember* eldest = nullptr;
  for (const auto& [id, member] : members_) {
    if (member.awaiting_join && (eldest == nullptr || member.joined < eldest->joined)) {
      eldest = &member;
    }
  }
  if (eldest == nullptr) {
    return false;
  }
  leader_ = eldest->id;
  return true;
}

void ClassicGroup::next_generation(WallTime now) {
  // Kafka counts with Java's int: after the greatest comes the smallest.
  generation_ = static_cast<std::int32_t>(static_cast<std::uint32_t>(generation_) + 1U);
  if (members_.empty()) {
    protocol_name_.reset();
    compute_subscription();
    transition(ClassicState::empty, now);
  } else {
    protocol_name_ = select_protocol();
    compute_subscription();
    transition(ClassicState::completing_rebalance, now);
  }
  pending_sync_.clear();
}

wire::GroupMetadataValue ClassicGroup::to_record(
    const std::map<std::string, Bytes, std::less<>>* assignments) const {
  wire::GroupMetadataValue value;
  value.protocol_type = protocol_type_.value_or(std::string());
  value.generation = generation_;
  value.protocol = protocol_name_;
  value.leader = leader_;
  value.current_state_timestamp = state_timestamp_ms_.value_or(-1);
  for (const auto& [id, member] : members_) {
    wire::GroupMetadataValue::MemberMetadata stored;
    stored.member_id = id;
    stored.group_instance_id = member.instance_id;
    stored.client_id = member.client_id;
    stored.client_host = member.client_host;
    stored.rebalance_timeout = member.rebalance_timeout_ms;
    stored.session_timeout = member.session_timeout_ms;
    if (const Protocol* protocol = member.find_protocol(protocol_name_.value_or(std::string()));
        protocol != nullptr) {
      stored.subscription = protocol->metadata;
    }
    if (assignments == nullptr) {
      stored.assignment = member.assignment;
    } else if (const auto given = assignments->find(id); given != assignments->end()) {
      stored.assignment = given->second;
    }
    value.members.push_back(std::move(stored));
  }
  return value;
}

void ClassicGroup::count_protocols(const ClassicMember& member, std::int32_t by) {
  for (const Protocol& protocol : member.protocols) {
    const auto counted = supported_.try_emplace(protocol.name, 0).first;
    counted->second += by;
    if (counted->second == 0) {
      supported_.erase(counted);
    }
  }
}

void ClassicGroup::compute_subscription() {
  subscribed_.reset();
  if (!uses_consumer_protocol()) {
    return;
  }
  std::set<std::string, std::less<>> topics;
  if (!members_.empty()) {
    if (!protocol_name_) {
      return;
    }
    for (const auto& [id, member] : members_) {
      const Protocol* protocol = member.find_protocol(*protocol_name_);
      if (protocol == nullptr) {
        return;
      }
      // Every version begins with the fields of version 0, which is all that is needed here.
      wire::Reader reader(protocol->metadata);
      wire::ConsumerProtocolSubscription subscription;
      static_cast<void>(reader.int16());
      if (!reader.ok() || !decode(reader, subscription, 0)) {
        return;
      }
      topics.insert(subscription.topics.begin(), subscription.topics.end());
    }
  }
  subscribed_ = std::move(topics);
}

std::optional<wire::ConsumerProtocolSubscription> decode_subscription_message(const Bytes& metadata) {
  wire::Reader reader(metadata);
  const std::int16_t version = reader.int16();
  wire::ConsumerProtocolSubscription message;
  // Newer versions than ours only add to the end.
  if (!reader.ok() || version < 0 ||
      !decode(reader, message,
              std::min(version, wire::ConsumerProtocolSubscription::kHighestVersion))) {
    return std::nullopt;
  }
  return message;
}

std::optional<Subscription> decode_subscription(const Bytes& metadata) {
  std::optional<wire::ConsumerProtocolSubscription> message = decode_subscription_message(metadata);
  if (!message) {
    return std::nullopt;
  }
  Subscription result;
  result.topics = std::move(message->topics);
  for (const auto& topic : message->owned_partitions) {
    for (const auto partition : topic.partitions) {
      result.owned.emplace_back(topic.topic, partition);
    }
  }
  return result;
}

std::vector<std::pair<std::string, PartitionIndex>> decode_assignment(const Bytes& assignment) {
  std::vector<std::pair<std::string, PartitionIndex>> partitions;
  wire::Reader reader(assignment);
  wire::ConsumerProtocolAssignment message;
  static_cast<void>(reader.int16());
  if (assignment.empty() || !reader.ok() || !decode(reader, message, 0)) {
    return partitions;
  }
  for (const auto& topic : message.assigned_partitions) {
    for (const auto partition : topic.partitions) {
      partitions.emplace_back(topic.topic, partition);
    }
  }
  std::sort(partitions.begin(), partitions.end());
  return partitions;
}

}  // namespace hw::groups
