// SPDX-License-Identifier: Apache-2.0
// Membership of a classic group: coordinator, JoinGroup, SyncGroup, Heartbeat, LeaveGroup; what is assigned and revoked.
#include <fmt/core.h>

#include <algorithm>

#include "engine/client/consumer_detail.h"
#include "engine/wire/msg/find_coordinator.h"
#include "engine/wire/msg/heartbeat.h"
#include "engine/wire/msg/join_group.h"
#include "engine/wire/msg/leave_group.h"
#include "engine/wire/msg/sync_group.h"

namespace hw::client {

using wire::ErrorCode;

namespace {
constexpr std::int16_t kFindOneCoordinator = 3;
constexpr std::int16_t kLeaveWithMembers = 3;
constexpr const char* kProtocolType = "consumer";
}  // namespace

void Consumer::group_timers(Instant now, ConsumerOutputs& out) {
  if (!grouped()) {
    return;
  }
  if (state_ == State::closing) {
    if (close_by_ <= now) {
      state_ = State::closed;
      cluster_.close_all(out.io);
    }
    return;
  }
  if (busy_ && state_ == State::stable && polled_at_ + config_.max_poll_interval <= now) {
    leave_late(now, out);
  }
  if (coordinator_ == kNoBroker) {
    if (!group_asked_ && group_not_before_ <= now) {
      find_coordinator(now, out);
    }
    return;
  }
  if (coordinator_assigns()) {
    member_timers(now, out);
    return;
  }
  if (rejoin_ && state_ == State::stable && !busy_ && (!waits_for_commit_ || commit_after_join_)) {
    prepare_join(now, out);
  }
  switch (state_) {
    case State::joining:
      if (!group_asked_ && group_not_before_ <= now) {
        join(now, out);
      }
      break;
    case State::assigning:
      try_assign(now, out);
      break;
    case State::stable:
      if (heartbeat_at_ <= now && !heartbeat_asked_) {
        heartbeat(now, out);
      }
      break;
    case State::free:
    case State::finding:
    case State::syncing:
    case State::late:
    case State::closing:
    case State::closed:
      break;
  }
}

void Consumer::coordinator_trouble(const std::string& why, Instant now, ConsumerOutputs& out) {
  passing_trouble(group_failures_, fmt::format("group '{}': {}", config_.group_id, why), out);
  coordinator_ = kNoBroker;
  group_asked_ = false;
  told_.reset();
  group_not_before_ = now + config_.cluster.retry_backoff;
  if (state_ == State::assigning || state_ == State::syncing) {
    state_ = State::joining;
  }
}

// The coordinator gives it; a member of a consumer group has its own.
void Consumer::forget_member_id() {
  if (!coordinator_assigns()) {
    member_id_.clear();
  }
}

// What it had belongs to others now. A handler at work finds out when it is through.
void Consumer::lose_membership(Instant now, ConsumerOutputs& out) {
  if (busy_ && state_ == State::stable) {
    state_ = State::late;
    return;
  }
  generation_ = -1;
  waits_for_commit_ = commit_after_join_ = false;
  revoke_all(true, out);
  state_ = State::joining;
  group_not_before_ = std::min(group_not_before_, now);
}

// False where the member goes on as before.
bool Consumer::handle_group_error(ErrorCode error, Instant now, ConsumerOutputs& out) {
  switch (error) {
    case ErrorCode::none:
      return false;
    case ErrorCode::coordinator_not_available:
    case ErrorCode::coordinator_load_in_progress:
    case ErrorCode::not_coordinator:
      coordinator_trouble(describe(error), now, out);
      return true;
    case ErrorCode::unknown_member_id:
      lose_membership(now, out);
      if (state_ != State::late) {
        forget_member_id();
      }
      return true;
    case ErrorCode::illegal_generation:
    case ErrorCode::fenced_member_epoch:
      lose_membership(now, out);
      return true;
    case ErrorCode::group_id_not_found:
      // It was fenced while nobody could tell it so, and the group was deleted meanwhile, or is a classic one now.
      if (coordinator_assigns() && generation_ > 0) {
        lose_membership(now, out);
        return true;
      }
      break;
    case ErrorCode::rebalance_in_progress:
      if (state_ == State::stable) {
        rejoin_ = true;  // as soon as the handler is through
      } else {
        state_ = State::joining;
      }
      return true;
    case ErrorCode::fenced_instance_id:
      fatal(fmt::format("group '{}': another member has taken the place of '{}' (FENCED_INSTANCE_ID)", config_.group_id,
                        config_.group_instance_id.value_or("")),
            out);
      return true;
    default:
      break;
  }
  if (wire::is_retriable(error)) {
    trouble(fmt::format("group '{}': {}", config_.group_id, describe(error)), out);
    group_not_before_ = now + config_.cluster.retry_backoff;
    if (state_ == State::assigning || state_ == State::syncing) {
      state_ = State::joining;
    }
    return true;
  }
  fatal(fmt::format("group '{}': {}", config_.group_id, describe(error)), out);
  return true;
}

// ---- coordinator

void Consumer::find_coordinator(Instant now, ConsumerOutputs& out) {
  wire::FindCoordinatorRequest request;
  request.key = config_.group_id;
  group_asked_ = true;
  ask(Ask::find, kAnyBroker, Lane::main, std::move(request), 0, kFindOneCoordinator, kNever, {}, now, out);
}

void Consumer::take_find(const Answer& answer, Instant now, ConsumerOutputs& out) {
  group_asked_ = false;
  wire::FindCoordinatorResponse response;
  if (answer.error) {
    if (answer.error->code == Errc::unsupported) {
      fatal(answer.error->detail, out);
    } else {
      coordinator_trouble(answer.error->detail, now, out);
    }
    return;
  }
  if (!decode_answer(answer, response)) {
    coordinator_trouble("the answer to FindCoordinator cannot be read", now, out);
    return;
  }
  if (response.error_code != ErrorCode::none) {
    if (wire::is_retriable(response.error_code)) {
      coordinator_trouble(describe(response.error_code), now, out);
    } else {
      fatal(fmt::format("group '{}': {}", config_.group_id, describe(response.error_code)), out);
    }
    return;
  }
  coordinator_ = response.node_id;
  cluster_.learn(coordinator_, {response.host, static_cast<std::uint16_t>(response.port)});
  last_trouble_.clear();
  if (state_ == State::finding) {
    state_ = State::joining;
  }
  group_not_before_ = now;
}

// ---- joining

void Consumer::prepare_join(Instant now, ConsumerOutputs& out) {
  if (config_.commit_mode == CommitMode::interval) {
    send_commit(now, out);
  }
  if (!cooperative_) {
    revoke_all(false, out);
  } else {
    std::vector<TopicPartition> unwanted;
    for (const auto& [key, partition] : partitions_) {
      if (std::find(subscribed_.begin(), subscribed_.end(), key.first) == subscribed_.end()) {
        unwanted.push_back(key);
      }
    }
    revoke(unwanted, false, out);
  }
  state_ = State::joining;
}

void Consumer::join(Instant now, ConsumerOutputs& out) {
  rejoin_ = false;
  wire::JoinGroupRequest request;
  request.group_id = config_.group_id;
  request.session_timeout_ms = static_cast<std::int32_t>(config_.session_timeout.ms());
  request.rebalance_timeout_ms = static_cast<std::int32_t>(config_.max_poll_interval.ms());
  request.member_id = member_id_;
  request.group_instance_id = config_.group_instance_id;
  request.protocol_type = kProtocolType;
  for (const Assignor assignor : config_.assignors) {
    Subscription subscription;
    subscription.topics = subscribed_;
    if (assignor == Assignor::sticky) {
      subscription.owned = previous_;
      subscription.generation = previous_generation_;
    } else if (cooperates(assignor)) {
      for (const auto& [key, partition] : partitions_) {
        subscription.owned.push_back(key);
      }
      subscription.generation = generation_;
    }
    if (!config_.client_rack.empty()) {
      subscription.rack = config_.client_rack;
    }
    auto& protocol = request.protocols.emplace_back();
    protocol.name = assignor_name(assignor);
    protocol.metadata = encode_subscription(assignor, subscription);
  }
  group_asked_ = true;
  ask(Ask::join, coordinator_, Lane::group, std::move(request), 0, wire::JoinGroupRequest::kHighestVersion,
      now + config_.max_poll_interval + kJoinAllowance, {}, now, out);
}

void Consumer::take_join(const Answer& answer, Instant now, ConsumerOutputs& out) {
  group_asked_ = false;
  if (state_ != State::joining) {
    return;
  }
  wire::JoinGroupResponse response;
  if (!read_group_answer(answer, "JoinGroup", response, now, out)) {
    return;
  }
  if (response.error_code == ErrorCode::member_id_required) {
    member_id_ = response.member_id;  // joins with it in this same step
    return;
  }
  if (response.error_code == ErrorCode::rebalance_in_progress) {
    group_not_before_ = now + config_.cluster.retry_backoff;
    return;
  }
  if (handle_group_error(response.error_code, now, out)) {
    return;
  }
  member_id_ = response.member_id;
  generation_ = response.generation_id;
  const std::string chosen = response.protocol_name.value_or(assignor_name(config_.assignors.front()));
  const std::optional<Assignor> assignor = parse_assignor(chosen);
  if (!assignor) {
    fatal(fmt::format("group '{}' assigns by '{}', which is not known here", config_.group_id, chosen), out);
    return;
  }
  assignor_ = *assignor;
  leading_ = response.leader == member_id_;
  members_.clear();
  if (!leading_) {
    sync({}, now, out);
    return;
  }
  for (const auto& told : response.members) {
    Subscription subscription = decode_subscription(assignor_, told.metadata).value_or(Subscription{});
    GroupMember& one = members_.emplace_back();
    one.id = told.member_id;
    one.instance_id = told.group_instance_id;
    one.topics = std::move(subscription.topics);
    one.owned = std::move(subscription.owned);
    one.generation = subscription.generation;
    for (const std::string& topic : one.topics) {
      cluster_.want(topic);
    }
  }
  if (response.skip_assignment) {  // a static leader is back: the assignment stands (KIP-814)
    std::vector<std::string> topics;
    for (const GroupMember& one : members_) {
      topics.insert(topics.end(), one.topics.begin(), one.topics.end());
    }
    assigned_of_ = partition_counts(topics);
    sync({}, now, out);
    return;
  }
  state_ = State::assigning;
  try_assign(now, out);
}

std::map<std::string, std::int32_t> Consumer::partition_counts(const std::vector<std::string>& topics) const {
  std::map<std::string, std::int32_t> counts;
  for (const std::string& topic : topics) {
    const TopicInfo* info = cluster_.metadata().topic(topic);
    counts[topic] = info == nullptr ? 0 : static_cast<std::int32_t>(info->partitions.size());
  }
  return counts;
}

// The leader needs to know how many partitions every topic of every member has.
void Consumer::try_assign(Instant now, ConsumerOutputs& out) {
  std::vector<std::string> topics;
  for (const GroupMember& one : members_) {
    topics.insert(topics.end(), one.topics.begin(), one.topics.end());
  }
  for (const std::string& topic : topics) {
    if (cluster_.metadata().topic(topic) == nullptr) {
      return;  // metadata is on its way
    }
  }
  assigned_of_ = partition_counts(topics);
  std::vector<std::pair<std::string, Bytes>> assignments;
  for (const auto& [id, partitions] : client::assign(assignor_, members_, assigned_of_)) {
    assignments.emplace_back(id, encode_assignment(partitions));
  }
  sync(std::move(assignments), now, out);
}

void Consumer::sync(std::vector<std::pair<std::string, Bytes>> assignments, Instant now, ConsumerOutputs& out) {
  wire::SyncGroupRequest request;
  request.group_id = config_.group_id;
  request.generation_id = generation_;
  request.member_id = member_id_;
  request.group_instance_id = config_.group_instance_id;
  request.protocol_type = kProtocolType;
  request.protocol_name = assignor_name(assignor_);
  for (auto& [id, assignment] : assignments) {
    auto& one = request.assignments.emplace_back();
    one.member_id = std::move(id);
    one.assignment = std::move(assignment);
  }
  state_ = State::syncing;
  group_asked_ = true;
  ask(Ask::sync, coordinator_, Lane::group, std::move(request), 0, wire::SyncGroupRequest::kHighestVersion,
      now + config_.max_poll_interval + kJoinAllowance, {}, now, out);
}

void Consumer::take_sync(const Answer& answer, Instant now, ConsumerOutputs& out) {
  group_asked_ = false;
  if (state_ != State::syncing) {
    return;
  }
  wire::SyncGroupResponse response;
  if (!read_group_answer(answer, "SyncGroup", response, now, out) ||
      handle_group_error(response.error_code, now, out)) {
    return;
  }
  const std::optional<std::vector<TopicPartition>> partitions = decode_assignment(response.assignment);
  if (!partitions) {
    fatal(fmt::format("group '{}': the leader's assignment cannot be read", config_.group_id), out);
    return;
  }
  become_stable(now);
  assign(*partitions, now, out);
}

void Consumer::become_stable(Instant now) {
  state_ = State::stable;
  group_failures_ = 0;
  commit_after_join_ = false;
  heartbeat_asked_ = false;
  heartbeat_at_ = now + config_.heartbeat_interval;
  last_trouble_.clear();
  if (config_.commit_interval.ns > 0) {
    commit_at_ = now + config_.commit_interval;
  }
}

// ---- staying and leaving

void Consumer::heartbeat(Instant now, ConsumerOutputs& out) {
  wire::HeartbeatRequest request;
  request.group_id = config_.group_id;
  request.generation_id = generation_;
  request.member_id = member_id_;
  request.group_instance_id = config_.group_instance_id;
  heartbeat_asked_ = true;
  ask(Ask::heartbeat, coordinator_, Lane::group, std::move(request), 0, wire::HeartbeatRequest::kHighestVersion,
      now + config_.session_timeout, {}, now, out);
}

void Consumer::take_heartbeat(const Answer& answer, const Pending& pending, Instant now, ConsumerOutputs& out) {
  heartbeat_asked_ = false;
  heartbeat_at_ = now + config_.heartbeat_interval;
  if (state_ != State::stable || pending.generation != generation_) {
    return;
  }
  wire::HeartbeatResponse response;
  if (answer.error) {
    coordinator_trouble(answer.error->detail, now, out);
    heartbeat_at_ = now;
  } else if (!decode_answer(answer, response)) {
    coordinator_trouble("the answer to Heartbeat cannot be read", now, out);
  } else {
    handle_group_error(response.error_code, now, out);
  }
}

void Consumer::leave_group(Ask why, const char* reason, Instant deadline, Instant now, ConsumerOutputs& out) {
  if (coordinator_assigns()) {
    tell_leaving(why, deadline, now, out);
    return;
  }
  wire::LeaveGroupRequest request;
  request.group_id = config_.group_id;
  auto& self = request.members.emplace_back();
  self.member_id = member_id_;
  self.reason = reason;
  ask(why, coordinator_, Lane::group, std::move(request), kLeaveWithMembers, wire::LeaveGroupRequest::kHighestVersion,
      deadline, {}, now, out);
}

// The handler is still at work, and the group does not wait for it any longer (max.poll.interval.ms).
void Consumer::leave_late(Instant now, ConsumerOutputs& out) {
  ConsumerEvent event;
  event.kind = ConsumerEvent::Kind::late;
  event.message = fmt::format("group '{}': the handler has worked longer than {} ms on what one poll gave it, so the group goes "
                              "on without this member; give it less at once (max.poll.records) or more time "
                              "(max.poll.interval.ms)",
                              config_.group_id, config_.max_poll_interval.ms());
  for (const auto& [key, partition] : partitions_) {
    event.partitions.push_back(key);
  }
  out.events.push_back(std::move(event));
  state_ = State::late;
  // A static member of a classic group is only not heard of any more.
  if ((!config_.group_instance_id || coordinator_assigns()) && coordinator_ != kNoBroker) {
    leave_group(Ask::leave_late, "the consumer's handler exceeded max.poll.interval.ms", kNever, now, out);
  }
}

// ---- what is assigned

void Consumer::revoke(const std::vector<TopicPartition>& partitions, bool lost, ConsumerOutputs& out) {
  if (partitions.empty()) {
    return;
  }
  ConsumerEvent event;
  event.kind = ConsumerEvent::Kind::revoked;
  event.partitions = partitions;
  if (lost) {
    event.message = "lost: the group has given them to others already";
  }
  for (const TopicPartition& key : partitions) {
    const auto found = partitions_.find(key);
    if (found != partitions_.end()) {
      if (found->second.chunk != nullptr) {
        buffered_ -= found->second.chunk->bytes.size();
      }
      partitions_.erase(found);
    }
    std::erase_if(held_, [&](const ConsumedRecord& record) {
      return *record.topic == key.first && record.partition == key.second;
    });
  }
  out.events.push_back(std::move(event));
}

void Consumer::revoke_all(bool lost, ConsumerOutputs& out) {
  std::vector<TopicPartition> all;
  for (const auto& [key, partition] : partitions_) {
    all.push_back(key);
  }
  revoke(all, lost, out);
}

void Consumer::assign(const std::vector<TopicPartition>& partitions, Instant now, ConsumerOutputs& out) {
  previous_ = partitions;
  previous_generation_ = generation_;
  const std::set<TopicPartition> given(partitions.begin(), partitions.end());
  std::vector<TopicPartition> taken;
  for (const auto& [key, partition] : partitions_) {
    if (!given.contains(key)) {
      taken.push_back(key);
    }
  }
  if (!taken.empty()) {  // only where members cooperate or the coordinator assigns; otherwise nothing was kept
    if (config_.commit_mode == CommitMode::interval) {
      send_commit(now, out);
    }
    revoke(taken, false, out);
    rejoin_ = true;  // so that who is to have them gets them
  }
  ConsumerEvent event;
  event.kind = ConsumerEvent::Kind::assigned;
  for (const TopicPartition& key : given) {
    if (!partitions_.contains(key)) {
      cluster_.want(key.first);
      add(key).state = Position::committed;
      event.partitions.push_back(key);
    }
  }
  out.events.push_back(std::move(event));
}

}  // namespace hw::client
