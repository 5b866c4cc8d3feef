// SPDX-License-Identifier: Apache-2.0
#include "engine/client/consumer.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "engine/wire/msg/fetch.h"
#include "engine/wire/msg/find_coordinator.h"
#include "engine/wire/msg/heartbeat.h"
#include "engine/wire/msg/join_group.h"
#include "engine/wire/msg/leave_group.h"
#include "engine/wire/msg/list_offsets.h"
#include "engine/wire/msg/offset_commit.h"
#include "engine/wire/msg/offset_fetch.h"
#include "engine/wire/msg/sync_group.h"
#include "engine/wire/record/batch_builder.h"
#include "engine/wire/record/record_iterator.h"

namespace hw::client {

using wire::ErrorCode;

namespace {
// The newest versions that address topics by name and ask for one group.
constexpr std::int16_t kFetchByName = 12;
constexpr std::int16_t kCommitByName = 9;
constexpr std::int16_t kCommittedOfOneGroup = 7;
constexpr std::int16_t kFindOneCoordinator = 3;
constexpr std::int16_t kLeaveWithMembers = 3;
constexpr const char* kRange = "range";
constexpr Duration kCloseAllowance = seconds(2);
constexpr Duration kJoinAllowance = seconds(5);  // beyond the rebalance timeout, within which a coordinator answers

std::optional<Bytes> share(const wire::RecordIterator& records, const std::optional<ByteSpan>& view) {
  return view ? std::optional<Bytes>(records.share(*view)) : std::nullopt;
}
}  // namespace

Consumer::Consumer(ConsumerConfig config, Instant now) : config_(std::move(config)), cluster_(config_.cluster) {
  config_.heartbeat_interval = std::min(config_.heartbeat_interval, Duration{config_.session_timeout.ns / 3});
  for (const std::string& topic : config_.topics) {
    cluster_.want(topic);
  }
  if (grouped()) {
    state_ = State::finding;
    commit_at_ = config_.commit_interval.ns > 0 ? now + config_.commit_interval : kNever;
    return;
  }
  for (const ConsumerConfig::Start& start : config_.assignment) {
    cluster_.want(start.partition.first);
    Partition& partition = partitions_[start.partition];
    if (start.offset >= 0) {
      partition.state = Position::known;
      partition.position = start.offset;
    } else {
      partition.reset_to = start.offset == kFromLatest ? kFromLatest : kFromEarliest;
    }
  }
}

template <class T>
void Consumer::ask(Ask what, BrokerId broker, Lane lane, T request, std::int16_t lowest, std::int16_t highest,
                   Instant deadline, std::vector<std::pair<TopicPartition, std::int64_t>> partitions, Instant now,
                   ConsumerOutputs& out) {
  const std::uint64_t token = next_token_++;
  pending_[token] = {what, broker, epoch_, std::move(partitions)};
  Request made = make_request(std::move(request), token, deadline, highest);
  made.lowest = std::max(made.lowest, lowest);
  cluster_.request(broker, std::move(made), now, out.io, answers_, lane);
}

void Consumer::step(const Input& input, Instant now, ConsumerOutputs& out) {
  if (state_ == State::closed) {
    return;
  }
  stepped_at_ = now;
  if (state_ == State::stable && commit_at_ <= now) {
    commit(now, out);  // before anything new is handed out
  }
  cluster_.step(input, now, out.io, answers_);
  take_answers(now, out);
  if (state_ == State::closed) {
    return;
  }
  if (cluster_.metadata().version != seen_metadata_) {
    seen_metadata_ = cluster_.metadata().version;
    for (const std::string& topic : config_.topics) {
      const TopicInfo* info = cluster_.metadata().topic(topic);
      if (info != nullptr && info->error != ErrorCode::none) {
        trouble(fmt::format("topic '{}': {}", topic, describe(info->error)), out);
      }
    }
    for (auto& [key, partition] : partitions_) {
      const TopicInfo* topic = cluster_.metadata().topic(key.first);
      const std::size_t count = topic == nullptr ? 0 : topic->partitions.size();
      if (count != 0 && (key.second < 0 || static_cast<std::size_t>(key.second) >= count)) {
        partition.failed = true;
        trouble(fmt::format("topic '{}' has no partition {}; it has {}", key.first, key.second,
                            count == 1 ? std::string("only 0") : fmt::format("0 to {}", count - 1)),
                out);
      }
    }
    if (!grouped()) {
      follow_topics(out);
    } else if (state_ == State::stable && leading_) {
      std::vector<std::string> topics;
      for (const auto& [topic, count] : assigned_of_) {
        topics.push_back(topic);
      }
      if (partition_counts(topics) != assigned_of_) {
        commit(now, out);
        revoke(out);
        state_ = State::joining;
      }
    }
  }
  group_timers(now, out);
  if (state_ == State::closed) {
    return;
  }
  ask_positions(now, out);
  fetch(now, out);
  take_answers(now, out);  // requests that failed at once
  if (!cluster_.problem().empty()) {
    trouble(cluster_.problem(), out);
  }
}

void Consumer::take_answers(Instant now, ConsumerOutputs& out) {
  // What the group says comes first: a fetch answered after a revocation is dropped, not handed out.
  std::stable_partition(answers_.begin(), answers_.end(), [this](const Answer& answer) {
    const auto found = pending_.find(answer.token);
    return found != pending_.end() && found->second.ask != Ask::fetch;
  });
  for (std::size_t i = 0; i < answers_.size() && state_ != State::closed; ++i) {  // it may grow meanwhile
    const Answer answer = std::move(answers_[i]);
    const auto found = pending_.find(answer.token);
    if (found != pending_.end()) {
      const Pending pending = std::move(found->second);
      pending_.erase(found);
      take(answer, pending, now, out);
    }
  }
  answers_.clear();
}

void Consumer::take(const Answer& answer, const Pending& pending, Instant now, ConsumerOutputs& out) {
  switch (pending.ask) {
    case Ask::find:
      take_find(answer, now, out);
      break;
    case Ask::join:
      take_join(answer, now, out);
      break;
    case Ask::sync:
      take_sync(answer, now, out);
      break;
    case Ask::heartbeat:
      take_heartbeat(answer, now, out);
      break;
    case Ask::leave:
      state_ = State::closed;
      cluster_.close_all(out.io);
      break;
    case Ask::commit:
      take_commit(answer, pending, now, out);
      break;
    case Ask::committed:
      take_committed(answer, pending, now, out);
      break;
    case Ask::list:
      take_list(answer, pending, now, out);
      break;
    case Ask::fetch:
      take_fetch(answer, pending, now, out);
      break;
  }
}

void Consumer::trouble(std::string why, ConsumerOutputs& out) {
  if (why != last_trouble_) {
    last_trouble_ = why;
    out.events.push_back({ConsumerEvent::Kind::error, {}, std::move(why), false});
  }
}

void Consumer::passing_trouble(int& failures, std::string why, ConsumerOutputs& out) {
  constexpr int kTold = 10;  // about a second of attempts
  if (++failures >= kTold) {
    trouble(std::move(why), out);
  }
}

void Consumer::fatal(std::string why, ConsumerOutputs& out) {
  revoke(out);
  out.events.push_back({ConsumerEvent::Kind::error, {}, std::move(why), true});
  state_ = State::closed;
  cluster_.close_all(out.io);
}

void Consumer::later(Partition& partition, Instant now) noexcept {
  partition.not_before = now + config_.cluster.retry_backoff;
}

// ---- the group

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
  if (coordinator_ == kNoBroker) {
    if (!group_asked_ && group_not_before_ <= now) {
      find_coordinator(now, out);
    }
    return;
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
        wire::HeartbeatRequest request;
        request.group_id = config_.group_id;
        request.generation_id = generation_;
        request.member_id = member_id_;
        heartbeat_asked_ = true;
        ask(Ask::heartbeat, coordinator_, Lane::group, std::move(request), 0, wire::HeartbeatRequest::kHighestVersion,
            now + config_.session_timeout, {}, now, out);
      }
      break;
    case State::free:
    case State::finding:
    case State::syncing:
    case State::closing:
    case State::closed:
      break;
  }
}

void Consumer::find_coordinator(Instant now, ConsumerOutputs& out) {
  wire::FindCoordinatorRequest request;
  request.key = config_.group_id;
  group_asked_ = true;
  ask(Ask::find, kAnyBroker, Lane::main, std::move(request), 0, kFindOneCoordinator, kNever, {}, now, out);
}

void Consumer::coordinator_trouble(const std::string& why, Instant now, ConsumerOutputs& out) {
  passing_trouble(group_failures_, fmt::format("group '{}': {}", config_.group_id, why), out);
  coordinator_ = kNoBroker;
  group_asked_ = false;
  group_not_before_ = now + config_.cluster.retry_backoff;
  if (state_ == State::assigning || state_ == State::syncing) {
    state_ = State::joining;
  }
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
      member_id_.clear();
      [[fallthrough]];
    case ErrorCode::illegal_generation:
      generation_ = -1;
      revoke(out);
      state_ = State::joining;
      return true;
    case ErrorCode::rebalance_in_progress:
      if (state_ == State::stable) {
        commit(now, out);
        revoke(out);
      }
      state_ = State::joining;
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

void Consumer::join(Instant now, ConsumerOutputs& out) {
  wire::JoinGroupRequest request;
  request.group_id = config_.group_id;
  request.session_timeout_ms = static_cast<std::int32_t>(config_.session_timeout.ms());
  request.rebalance_timeout_ms = static_cast<std::int32_t>(config_.rebalance_timeout.ms());
  request.member_id = member_id_;
  request.protocol_type = "consumer";
  request.protocols.emplace_back();
  request.protocols.back().name = kRange;
  request.protocols.back().metadata = encode_subscription(config_.topics);
  group_asked_ = true;
  ask(Ask::join, coordinator_, Lane::group, std::move(request), 0, wire::JoinGroupRequest::kHighestVersion,
      now + config_.rebalance_timeout + kJoinAllowance, {}, now, out);
}

void Consumer::take_join(const Answer& answer, Instant now, ConsumerOutputs& out) {
  group_asked_ = false;
  if (state_ != State::joining) {
    return;
  }
  wire::JoinGroupResponse response;
  if (answer.error) {
    coordinator_trouble(answer.error->detail, now, out);
    return;
  }
  if (!decode_answer(answer, response)) {
    coordinator_trouble("the answer to JoinGroup cannot be read", now, out);
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
  protocol_ = response.protocol_name.value_or(kRange);
  leading_ = response.leader == member_id_;
  if (leading_) {
    members_.clear();
    for (const auto& member : response.members) {
      members_.push_back({member.member_id, decode_subscription(member.metadata).value_or(std::vector<std::string>{})});
      for (const std::string& topic : members_.back().topics) {
        cluster_.want(topic);
      }
    }
    state_ = State::assigning;
    try_assign(now, out);
    return;
  }
  state_ = State::syncing;
  wire::SyncGroupRequest request;
  request.group_id = config_.group_id;
  request.generation_id = generation_;
  request.member_id = member_id_;
  request.protocol_type = "consumer";
  request.protocol_name = protocol_;
  group_asked_ = true;
  ask(Ask::sync, coordinator_, Lane::group, std::move(request), 0, wire::SyncGroupRequest::kHighestVersion,
      now + config_.rebalance_timeout + kJoinAllowance, {}, now, out);
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
  for (const GroupMember& member : members_) {
    topics.insert(topics.end(), member.topics.begin(), member.topics.end());
  }
  for (const std::string& topic : topics) {
    if (cluster_.metadata().topic(topic) == nullptr) {
      return;  // metadata is on its way
    }
  }
  assigned_of_ = partition_counts(topics);
  const std::map<std::string, std::vector<TopicPartition>> assigned = assign_range(members_, assigned_of_);
  wire::SyncGroupRequest request;
  request.group_id = config_.group_id;
  request.generation_id = generation_;
  request.member_id = member_id_;
  request.protocol_type = "consumer";
  request.protocol_name = protocol_;
  for (const auto& [member, partitions] : assigned) {
    auto& assignment = request.assignments.emplace_back();
    assignment.member_id = member;
    assignment.assignment = encode_assignment(partitions);
  }
  state_ = State::syncing;
  group_asked_ = true;
  ask(Ask::sync, coordinator_, Lane::group, std::move(request), 0, wire::SyncGroupRequest::kHighestVersion,
      now + config_.rebalance_timeout + kJoinAllowance, {}, now, out);
}

void Consumer::take_sync(const Answer& answer, Instant now, ConsumerOutputs& out) {
  group_asked_ = false;
  if (state_ != State::syncing) {
    return;
  }
  wire::SyncGroupResponse response;
  if (answer.error) {
    coordinator_trouble(answer.error->detail, now, out);
    return;
  }
  if (!decode_answer(answer, response)) {
    coordinator_trouble("the answer to SyncGroup cannot be read", now, out);
    return;
  }
  if (handle_group_error(response.error_code, now, out)) {
    return;
  }
  const std::optional<std::vector<TopicPartition>> partitions = decode_assignment(response.assignment);
  if (!partitions) {
    fatal(fmt::format("group '{}': the leader's assignment cannot be read", config_.group_id), out);
    return;
  }
  state_ = State::stable;
  group_failures_ = 0;
  heartbeat_asked_ = false;
  heartbeat_at_ = now + config_.heartbeat_interval;
  if (config_.commit_interval.ns > 0) {
    commit_at_ = now + config_.commit_interval;
  }
  last_trouble_.clear();
  assign(*partitions, out);
}

void Consumer::take_heartbeat(const Answer& answer, Instant now, ConsumerOutputs& out) {
  heartbeat_asked_ = false;
  heartbeat_at_ = now + config_.heartbeat_interval;
  if (state_ != State::stable) {
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

void Consumer::revoke(ConsumerOutputs& out) {
  ++epoch_;
  if (partitions_.empty()) {
    return;
  }
  ConsumerEvent event;
  event.kind = ConsumerEvent::Kind::revoked;
  for (const auto& [key, partition] : partitions_) {
    event.partitions.push_back(key);
  }
  partitions_.clear();
  out.events.push_back(std::move(event));
}

void Consumer::assign(const std::vector<TopicPartition>& partitions, ConsumerOutputs& out) {
  ++epoch_;
  partitions_.clear();
  for (const TopicPartition& key : partitions) {
    cluster_.want(key.first);
    partitions_[key].state = Position::committed;
  }
  ConsumerEvent event;
  event.kind = ConsumerEvent::Kind::assigned;
  event.partitions = partitions;
  out.events.push_back(std::move(event));
}

// Without a group and without a list: every partition that the topics have, also those that are added later.
void Consumer::follow_topics(ConsumerOutputs& out) {
  ConsumerEvent event;
  event.kind = ConsumerEvent::Kind::assigned;
  if (config_.assignment.empty()) {
    for (const std::string& topic : config_.topics) {
      const TopicInfo* info = cluster_.metadata().topic(topic);
      for (std::size_t i = 0; info != nullptr && i < info->partitions.size(); ++i) {
        const TopicPartition key{topic, static_cast<std::int32_t>(i)};
        const auto [at, added] = partitions_.try_emplace(key);
        if (added) {
          at->second.reset_to = config_.reset == OffsetReset::earliest || followed_ ? kFromEarliest : kFromLatest;
          event.partitions.push_back(key);
        }
      }
    }
    followed_ = followed_ || !partitions_.empty();
  } else if (!followed_) {
    followed_ = true;
    for (const auto& [key, partition] : partitions_) {
      event.partitions.push_back(key);
    }
  }
  if (!event.partitions.empty()) {
    out.events.push_back(std::move(event));
  }
}

// ---- offsets of the group

void Consumer::commit(Instant now, ConsumerOutputs& out) {
  if (config_.commit_interval.ns > 0) {
    commit_at_ = now + config_.commit_interval;
  } else {
    return;
  }
  if (coordinator_ == kNoBroker || commit_asked_) {
    return;
  }
  wire::OffsetCommitRequest request;
  request.group_id = config_.group_id;
  request.generation_id_or_member_epoch = generation_;
  request.member_id = member_id_;
  std::vector<std::pair<TopicPartition, std::int64_t>> offsets;
  for (const auto& [key, partition] : partitions_) {
    if (partition.state != Position::known || partition.position == partition.committed) {
      continue;
    }
    if (request.topics.empty() || request.topics.back().name != key.first) {
      request.topics.emplace_back();
      request.topics.back().name = key.first;
    }
    auto& at = request.topics.back().partitions.emplace_back();
    at.partition_index = PartitionIndex(key.second);
    at.committed_offset = Offset(partition.position);
    at.committed_metadata = "";
    offsets.emplace_back(key, partition.position);
  }
  if (offsets.empty()) {
    return;
  }
  commit_asked_ = true;
  ask(Ask::commit, coordinator_, Lane::group, std::move(request), 0, kCommitByName, kNever, std::move(offsets), now,
      out);
}

void Consumer::take_commit(const Answer& answer, const Pending& pending, Instant now, ConsumerOutputs& out) {
  commit_asked_ = false;
  wire::OffsetCommitResponse response;
  if (answer.error || !decode_answer(answer, response)) {
    if (state_ == State::stable) {
      coordinator_trouble(answer.error ? answer.error->detail : "the answer to OffsetCommit cannot be read", now, out);
    }
    return;
  }
  if (pending.epoch != epoch_) {
    return;
  }
  ErrorCode worst = ErrorCode::none;
  for (const auto& topic : response.topics) {
    for (const auto& result : topic.partitions) {
      const TopicPartition key{topic.name, result.partition_index.value()};
      if (result.error_code != ErrorCode::none) {
        worst = result.error_code;
        continue;
      }
      const auto partition = partitions_.find(key);
      for (const auto& [asked, offset] : pending.partitions) {
        if (asked == key && partition != partitions_.end()) {
          partition->second.committed = offset;
        }
      }
    }
  }
  if (worst == ErrorCode::none || state_ != State::stable) {
    return;
  }
  switch (worst) {
    case ErrorCode::rebalance_in_progress:  // the next heartbeat says so too
      break;
    case ErrorCode::illegal_generation:
    case ErrorCode::unknown_member_id:
    case ErrorCode::coordinator_not_available:
    case ErrorCode::coordinator_load_in_progress:
    case ErrorCode::not_coordinator:
      handle_group_error(worst, now, out);
      break;
    default:
      trouble(fmt::format("group '{}': offsets are not committed: {}", config_.group_id, describe(worst)), out);
      break;
  }
}

void Consumer::take_committed(const Answer& answer, const Pending& pending, Instant now, ConsumerOutputs& out) {
  if (pending.epoch != epoch_) {
    return;
  }
  for (const auto& [key, unused] : pending.partitions) {
    Partition& partition = partitions_.at(key);
    partition.asked = false;
    later(partition, now);  // where nothing better follows
  }
  wire::OffsetFetchResponse response;
  if (answer.error || !decode_answer(answer, response)) {
    coordinator_trouble(answer.error ? answer.error->detail : "the answer to OffsetFetch cannot be read", now, out);
    return;
  }
  if (response.error_code != ErrorCode::none) {
    handle_group_error(response.error_code, now, out);
    return;
  }
  for (const auto& topic : response.topics) {
    for (const auto& result : topic.partitions) {
      const auto found = partitions_.find({topic.name, result.partition_index.value()});
      if (found == partitions_.end()) {
        continue;
      }
      Partition& partition = found->second;
      if (result.error_code != ErrorCode::none) {
        trouble(fmt::format("group '{}': {}", config_.group_id, describe(result.error_code)), out);
        continue;
      }
      partition.not_before = now;
      if (result.committed_offset.value() >= 0) {
        partition.state = Position::known;
        partition.position = partition.committed = result.committed_offset.value();
      } else {
        partition.state = Position::reset;
        partition.reset_to = config_.reset == OffsetReset::earliest ? kFromEarliest : kFromLatest;
      }
    }
  }
}

// ---- positions

void Consumer::ask_positions(Instant now, ConsumerOutputs& out) {
  wire::OffsetFetchRequest committed;
  std::vector<std::pair<TopicPartition, std::int64_t>> committed_of;
  struct List {
    wire::ListOffsetsRequest request;
    std::vector<std::pair<TopicPartition, std::int64_t>> partitions;
  };
  std::map<BrokerId, List> lists;
  for (auto& [key, partition] : partitions_) {
    if (partition.asked || partition.failed || partition.not_before > now || partition.state == Position::known) {
      continue;
    }
    if (partition.state == Position::committed) {
      if (state_ != State::stable || coordinator_ == kNoBroker) {
        continue;
      }
      if (!committed.topics) {
        committed.topics.emplace();
      }
      if (committed.topics->empty() || committed.topics->back().name != key.first) {
        committed.topics->emplace_back();
        committed.topics->back().name = key.first;
      }
      committed.topics->back().partition_indexes.emplace_back(key.second);
      committed_of.emplace_back(key, 0);
      partition.asked = true;
      continue;
    }
    const PartitionInfo* info = cluster_.metadata().partition(key.first, key.second);
    if (info == nullptr || info->leader == kNoBroker) {
      continue;  // the next metadata decides
    }
    List& list = lists[info->leader];
    if (list.request.topics.empty() || list.request.topics.back().name != key.first) {
      list.request.topics.emplace_back();
      list.request.topics.back().name = key.first;
    }
    auto& at = list.request.topics.back().partitions.emplace_back();
    at.partition_index = PartitionIndex(key.second);
    at.current_leader_epoch = info->leader_epoch;
    at.timestamp = partition.reset_to;
    list.partitions.emplace_back(key, partition.reset_to);
    partition.asked = true;
  }
  if (!committed_of.empty()) {
    committed.group_id = config_.group_id;
    ask(Ask::committed, coordinator_, Lane::group, std::move(committed), 0, kCommittedOfOneGroup, kNever,
        std::move(committed_of), now, out);
  }
  for (auto& [leader, list] : lists) {
    list.request.replica_id = kNoBroker;
    list.request.isolation_level = config_.read_committed ? 1 : 0;
    ask(Ask::list, leader, Lane::main, std::move(list.request), 1, wire::ListOffsetsRequest::kHighestVersion, kNever,
        std::move(list.partitions), now, out);
  }
}

void Consumer::take_list(const Answer& answer, const Pending& pending, Instant now, ConsumerOutputs& out) {
  if (pending.epoch != epoch_) {
    return;
  }
  for (const auto& [key, unused] : pending.partitions) {
    Partition& partition = partitions_.at(key);
    partition.asked = false;
    later(partition, now);
  }
  wire::ListOffsetsResponse response;
  if (answer.error || !decode_answer(answer, response)) {
    trouble(answer.error ? answer.error->detail : "the answer to ListOffsets cannot be read", out);
    return;
  }
  for (const auto& topic : response.topics) {
    for (const auto& result : topic.partitions) {
      const auto found = partitions_.find({topic.name, result.partition_index.value()});
      if (found == partitions_.end() || found->second.state != Position::reset) {
        continue;
      }
      if (result.error_code != ErrorCode::none) {
        if (wants_fresh_metadata(result.error_code)) {
          cluster_.refresh();
        }
        passing_trouble(found->second.failures,
                        fmt::format("topic '{}' partition {}: {}", topic.name, found->first.second,
                                    describe(result.error_code)),
                        out);
        continue;
      }
      found->second.state = Position::known;
      found->second.position = result.offset.value();
      found->second.not_before = now;
    }
  }
}

// ---- records

void Consumer::fetch(Instant now, ConsumerOutputs& out) {
  if (state_ == State::closing || handed_out_ == config_.records_max) {
    return;
  }
  std::map<BrokerId, std::vector<std::pair<TopicPartition, std::int64_t>>> wanted;
  for (const auto& [key, partition] : partitions_) {
    if (partition.asked || partition.failed || partition.state != Position::known || partition.not_before > now) {
      continue;
    }
    const PartitionInfo* info = cluster_.metadata().partition(key.first, key.second);
    if (info != nullptr && info->leader != kNoBroker && !fetching_[info->leader]) {
      wanted[info->leader].emplace_back(key, partition.position);
    }
  }
  for (auto& [leader, list] : wanted) {
    // Another partition is first each time, so that none starves when the first ones fill the answer.
    std::rotate(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(next_token_ % list.size()), list.end());
    wire::FetchRequest request;
    request.replica_id = kNoBroker;
    request.max_wait_ms = config_.max_wait_ms;
    request.min_bytes = config_.min_bytes;
    request.max_bytes = config_.fetch_bytes_max;
    request.isolation_level = config_.read_committed ? 1 : 0;
    request.session_epoch = -1;  // no session: the whole list every time
    for (const auto& [key, position] : list) {
      if (request.topics.empty() || request.topics.back().topic != key.first) {
        request.topics.emplace_back();
        request.topics.back().topic = key.first;
      }
      auto& at = request.topics.back().partitions.emplace_back();
      at.partition = PartitionIndex(key.second);
      at.current_leader_epoch = cluster_.metadata().partition(key.first, key.second)->leader_epoch;
      at.fetch_offset = Offset(position);
      at.partition_max_bytes = config_.partition_bytes_max;
      partitions_.at(key).asked = true;
    }
    fetching_[leader] = true;
    const Duration allowed = config_.cluster.request_timeout + milliseconds(config_.max_wait_ms);
    ask(Ask::fetch, leader, Lane::fetch, std::move(request), 0, kFetchByName, now + allowed, std::move(list), now, out);
  }
}

void Consumer::take_fetch(const Answer& answer, const Pending& pending, Instant now, ConsumerOutputs& out) {
  fetching_[pending.broker] = false;
  if (pending.epoch != epoch_ || state_ == State::closing) {
    return;
  }
  for (const auto& [key, unused] : pending.partitions) {
    partitions_.at(key).asked = false;
  }
  const auto all_later = [&](std::string why) {
    for (const auto& [key, unused] : pending.partitions) {
      later(partitions_.at(key), now);
    }
    trouble(std::move(why), out);
  };
  if (answer.error) {
    all_later(answer.error->detail);
    return;
  }
  wire::FetchResponse response;
  if (!decode_answer(answer, response)) {
    all_later("the answer to Fetch cannot be read");
    return;
  }
  if (response.error_code != ErrorCode::none) {
    all_later(describe(response.error_code));
    return;
  }
  ConsumerEvent ends;
  ends.kind = ConsumerEvent::Kind::reached_end;
  for (auto& topic : response.responses) {
    for (auto& result : topic.partitions) {
      const auto found = partitions_.find({topic.topic, result.partition_index.value()});
      if (found == partitions_.end()) {
        continue;
      }
      Partition& partition = found->second;
      take_fetched(found->first, partition, result, now, out);
      const bool at_end = partition.state == Position::known && result.error_code == ErrorCode::none &&
                          partition.position >= partition.high_watermark;
      if (at_end && !partition.at_end) {
        ends.partitions.push_back(found->first);
      }
      partition.at_end = at_end;
    }
  }
  if (!ends.partitions.empty()) {
    out.events.push_back(std::move(ends));
  }
}

template <class R>
void Consumer::take_fetched(const TopicPartition& key, Partition& partition, R& result, Instant now,
                            ConsumerOutputs& out) {
  const auto complain = [&](const std::string& why) {
    later(partition, now);
    trouble(fmt::format("topic '{}' partition {}: {}", key.first, key.second, why), out);
  };
  if (result.error_code == ErrorCode::offset_out_of_range) {
    partition.state = Position::reset;
    partition.reset_to = config_.reset == OffsetReset::earliest ? kFromEarliest : kFromLatest;
    complain(fmt::format("offset {} is not in the log any more, going on at the {}", partition.position,
                         config_.reset == OffsetReset::earliest ? "earliest" : "latest"));
    partition.not_before = now;
    return;
  }
  if (result.error_code != ErrorCode::none) {
    later(partition, now);
    const std::string why =
        fmt::format("topic '{}' partition {}: {}", key.first, key.second, describe(result.error_code));
    if (wants_fresh_metadata(result.error_code)) {
      cluster_.refresh();
      passing_trouble(partition.failures, why, out);
    } else {
      trouble(why, out);
    }
    return;
  }
  partition.failures = 0;
  partition.high_watermark = config_.read_committed ? result.last_stable_offset.value() : result.high_watermark;
  if (!result.records) {
    return;
  }
  const Bytes bytes = result.records->flatten();

  // Producers whose transaction was aborted, from the offset where it began until its marker (read_committed).
  using Aborted = std::pair<std::int64_t, std::int64_t>;  // first offset, producer
  std::vector<Aborted> aborted;
  if (result.aborted_transactions) {
    for (const auto& transaction : *result.aborted_transactions) {
      aborted.emplace_back(transaction.first_offset.value(), transaction.producer_id.value());
    }
    std::sort(aborted.begin(), aborted.end());
  }
  std::size_t next_aborted = 0;
  std::set<std::int64_t> discarding;

  std::shared_ptr<const std::string>& name = names_[key.first];
  if (name == nullptr) {
    name = std::make_shared<const std::string>(key.first);
  }
  wire::BatchCursor cursor(bytes.span());
  for (wire::BatchView batch; cursor.next(batch);) {
    if (batch.last_offset().value() < partition.position) {
      continue;
    }
    if (!batch.crc_ok()) {
      complain(fmt::format("the batch at offset {} is damaged (CRC)", batch.base_offset().value()));
      return;
    }
    for (; next_aborted < aborted.size() && aborted[next_aborted].first <= batch.last_offset().value(); ++next_aborted) {
      discarding.insert(aborted[next_aborted].second);
    }
    const bool skip = batch.control() || (config_.read_committed && batch.transactional() &&
                                          discarding.count(batch.producer_id().value()) != 0);
    const auto at = static_cast<std::size_t>(batch.span().data() - bytes.data());
    if (!skip || batch.control()) {
      Result<wire::RecordIterator> records = wire::RecordIterator::open(bytes.slice(at, batch.size()));
      if (!records) {
        complain(fmt::format("the batch at offset {} cannot be read: {}", batch.base_offset().value(),
                             records.error().detail));
        return;
      }
      for (wire::RecordView record; records->next(record);) {
        if (batch.control()) {
          if (wire::parse_control_key(record.key) == wire::ControlType::abort) {
            discarding.erase(batch.producer_id().value());
          }
          continue;
        }
        if (record.offset.value() < partition.position) {
          continue;
        }
        if (handed_out_ == config_.records_max) {
          partition.position = record.offset.value();
          return;
        }
        ++handed_out_;
        ConsumedRecord& made = out.records.emplace_back();
        made.topic = name;
        made.partition = key.second;
        made.offset = record.offset.value();
        made.timestamp_ms = record.timestamp_ms;
        made.log_append_time = batch.timestamp_type() == wire::TimestampType::log_append_time;
        made.key = share(*records, record.key);
        made.value = share(*records, record.value);
        wire::HeaderCursor headers = record.headers();
        for (wire::HeaderView header; headers.next(header);) {
          made.headers.emplace_back(std::string(header.key), share(*records, header.value));
        }
      }
      if (records->failed()) {
        // What came before the bad record was handed out; the position stays in front of it.
        if (!out.records.empty() && out.records.back().topic == name && out.records.back().partition == key.second) {
          partition.position = std::max(partition.position, out.records.back().offset + 1);
        }
        complain(records->problem());
        return;
      }
    }
    partition.position = batch.next_offset().value();
  }
  if (cursor.status() == wire::BatchStatus::corrupt || cursor.status() == wire::BatchStatus::old_magic) {
    complain(cursor.problem());
    return;
  }
  last_trouble_.clear();
}

// ---- the end

void Consumer::close(Instant now, ConsumerOutputs& out) {
  if (state_ == State::closed || state_ == State::closing) {
    return;
  }
  const bool member = grouped() && coordinator_ != kNoBroker && !member_id_.empty();
  if (!member) {
    revoke(out);
    state_ = State::closed;
    cluster_.close_all(out.io);
    return;
  }
  if (state_ == State::stable) {
    commit_asked_ = false;  // one that is under way may hold older positions
    commit(now, out);
  }
  revoke(out);
  state_ = State::closing;
  close_by_ = now + kCloseAllowance;
  wire::LeaveGroupRequest request;
  request.group_id = config_.group_id;
  auto& self = request.members.emplace_back();
  self.member_id = member_id_;
  ask(Ask::leave, coordinator_, Lane::group, std::move(request), kLeaveWithMembers,
      wire::LeaveGroupRequest::kHighestVersion, close_by_, {}, now, out);
  take_answers(now, out);
}

Instant Consumer::next_deadline() const noexcept {
  if (state_ == State::closed) {
    return kNever;
  }
  Instant next = cluster_.next_deadline();
  // What was due at the last step has been tried then.
  const auto consider = [&](Instant at) {
    if (at > stepped_at_) {
      next = std::min(next, at);
    }
  };
  if (state_ == State::closing) {
    consider(close_by_);
    return next;
  }
  if (grouped()) {
    consider(group_not_before_);
    if (state_ == State::stable) {
      consider(heartbeat_at_);
      consider(commit_at_);
    }
  }
  for (const auto& [key, partition] : partitions_) {
    if (!partition.asked && !partition.failed) {
      consider(partition.not_before);
    }
  }
  return next;
}

std::optional<std::int64_t> Consumer::position(const TopicPartition& key) const {
  const auto found = partitions_.find(key);
  return found == partitions_.end() || found->second.state != Position::known
             ? std::nullopt
             : std::optional<std::int64_t>(found->second.position);
}
std::optional<std::int64_t> Consumer::high_watermark(const TopicPartition& key) const {
  const auto found = partitions_.find(key);
  return found == partitions_.end() || found->second.high_watermark < 0
             ? std::nullopt
             : std::optional<std::int64_t>(found->second.high_watermark);
}

}  // namespace hw::client
