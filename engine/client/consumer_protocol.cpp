// SPDX-License-Identifier: Apache-2.0
// Membership of a consumer group (KIP-848): ConsumerGroupHeartbeat joins, tells what changed,
// acknowledges and leaves. The coordinator assigns; what it gives is taken up when the handler is
// through, and told at once, as others wait for what goes.
#include <algorithm>

#include <fmt/core.h>

#include "engine/client/consumer_detail.h"
#include "engine/wire/msg/consumer_group_heartbeat.h"

namespace hw::client {

namespace {
// Epochs that say something else.
constexpr std::int32_t kJoins = 0;
constexpr std::int32_t kLeaves = -1;
constexpr std::int32_t kLeavesForNow = -2;  // a static member, which is expected back
constexpr std::int16_t kWithRegex = 1;
}  // namespace

void Consumer::member_timers(Instant now, ConsumerOutputs& out) {
  if (state_ == State::joining && !group_asked_ && group_not_before_ <= now) {
    tell_group(now, out);
  }
  if (state_ != State::stable) {
    return;
  }
  take_up_target(now, out);
  if (rejoin_) {  // other topics, or partitions given up
    rejoin_ = false;
    heartbeat_at_ = now;
  }
  if (heartbeat_at_ <= now && !heartbeat_asked_) {
    tell_group(now, out);
  }
}

void Consumer::tell_group(Instant now, ConsumerOutputs& out) {
  const bool joins = state_ == State::joining;
  const bool all = joins || !told_;
  if (joins) {
    target_.reset();  // was given to who it was before
  }
  Told tell{subscribed_, {}};
  for (const auto& [key, partition] : partitions_) {
    tell.owned.push_back(key);
  }
  wire::ConsumerGroupHeartbeatRequest request;
  request.group_id = config_.group_id;
  request.member_id = member_id_;
  request.member_epoch = joins ? kJoins : generation_;
  request.instance_id = config_.group_instance_id;
  if (all) {
    request.rebalance_timeout_ms = static_cast<std::int32_t>(config_.max_poll_interval.ms());
    if (!config_.client_rack.empty()) {
      request.rack_id = config_.client_rack;
    }
    if (!config_.topic_regex.empty()) {
      request.subscribed_topic_regex = config_.topic_regex;
    }
    if (!config_.remote_assignor.empty()) {
      request.server_assignor = config_.remote_assignor;
    }
  }
  const bool only_by_regex = subscribed_.empty() && !config_.topic_regex.empty();
  if ((all || told_->topics != tell.topics) && !only_by_regex) {
    request.subscribed_topic_names = tell.topics;
  }
  if (all || told_->owned != tell.owned) {
    auto& topics = request.topic_partitions.emplace();
    std::string name;
    for (const auto& [topic, partition] : tell.owned) {
      const TopicInfo* info = cluster_.metadata().topic(topic);
      if (info == nullptr) {
        continue;  // it is no more
      }
      if (name != topic) {
        name = topic;
        topics.emplace_back().topic_id = info->id;
      }
      topics.back().partitions.emplace_back(partition);
    }
  }
  told_ = std::move(tell);
  (joins ? group_asked_ : heartbeat_asked_) = true;
  ask(joins ? Ask::join : Ask::heartbeat, coordinator_, Lane::group, std::move(request),
      config_.topic_regex.empty() ? std::int16_t{0} : kWithRegex,
      wire::ConsumerGroupHeartbeatRequest::kHighestVersion, now + config_.session_timeout, {}, now,
      out);
}

void Consumer::take_told(const Answer& answer, const Pending& pending, Instant now,
                         ConsumerOutputs& out) {
  const bool joins = pending.ask == Ask::join;
  (joins ? group_asked_ : heartbeat_asked_) = false;
  heartbeat_at_ = now + config_.heartbeat_interval;
  if (joins ? state_ != State::joining
            : state_ != State::stable || pending.generation != generation_) {
    return;
  }
  if (answer.error && answer.error->code == Errc::unsupported) {
    fatal(fmt::format("group '{}': {}; use group.protocol=classic", config_.group_id,
                      answer.error->detail),
          out);
    return;
  }
  wire::ConsumerGroupHeartbeatResponse response;
  if (!read_group_answer(answer, "ConsumerGroupHeartbeat", response, now, out)) {
    heartbeat_at_ = now;
    return;
  }
  if (handle_group_error(response.error_code, now, out)) {
    told_.reset();
    return;
  }
  if (response.member_id && !response.member_id->empty()) {
    member_id_ = *response.member_id;
  }
  generation_ = response.member_epoch;
  if (response.heartbeat_interval_ms > 0) {
    config_.heartbeat_interval = milliseconds(response.heartbeat_interval_ms);
  }
  heartbeat_at_ = now + config_.heartbeat_interval;
  if (joins) {
    become_stable(now);
  }
  if (response.assignment) {
    auto& target = target_.emplace();
    for (const auto& topic : response.assignment->topic_partitions) {
      for (const PartitionIndex partition : topic.partitions) {
        target.emplace_back(topic.topic_id, partition.value());
      }
    }
  }
}

void Consumer::take_up_target(Instant now, ConsumerOutputs& out) {
  if (!target_ || busy_ || waits_for_commit_) {
    return;
  }
  std::map<Uuid, std::string> names;
  for (const auto& [name, topic] : cluster_.metadata().topics) {
    names.try_emplace(topic.id, name);
  }
  std::vector<TopicPartition> partitions;
  for (const auto& [id, partition] : *target_) {
    const auto name = names.find(id);
    if (name == names.end()) {  // the coordinator has heard of it before us
      cluster_.refresh();
      return;
    }
    partitions.emplace_back(name->second, partition);
  }
  target_.reset();
  std::sort(partitions.begin(), partitions.end());
  const bool same =
      std::equal(partitions.begin(), partitions.end(), partitions_.begin(), partitions_.end(),
                 [](const auto& given, const auto& had) { return given == had.first; });
  if (!same) {
    assign(partitions, now, out);
    heartbeat_at_ = now;
  }
}

void Consumer::tell_leaving(Ask why, Instant deadline, Instant now, ConsumerOutputs& out) {
  wire::ConsumerGroupHeartbeatRequest request;
  request.group_id = config_.group_id;
  request.member_id = member_id_;
  request.instance_id = config_.group_instance_id;
  request.member_epoch = config_.group_instance_id ? kLeavesForNow : kLeaves;
  ask(why, coordinator_, Lane::group, std::move(request), 0,
      wire::ConsumerGroupHeartbeatRequest::kHighestVersion, deadline, {}, now, out);
}

}  // namespace hw::client
