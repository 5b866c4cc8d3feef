// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>

#include "engine/base/assert.h"
#include "engine/client/consumer_detail.h"

namespace hw::client {

using wire::ErrorCode;

Consumer::Consumer(ConsumerConfig config, Instant now) : config_(std::move(config)), cluster_(config_.cluster) {
  config_.heartbeat_interval = std::min(config_.heartbeat_interval, Duration{config_.session_timeout.ns / 3});
  config_.max_poll_records = std::max(config_.max_poll_records, std::size_t{1});
  if (config_.assignors.empty()) {
    config_.assignors.push_back(Assignor::range);
  }
  cooperative_ = std::all_of(config_.assignors.begin(), config_.assignors.end(), cooperates);
  polled_at_ = now;
  subscribed_ = config_.topics;
  for (const std::string& topic : subscribed_) {
    cluster_.want(topic);
  }
  HW_ASSERT(!coordinator_assigns() || !config_.member_id.empty(), "a member of a consumer group has an id of its own");
  member_id_ = config_.member_id;
  if (config_.topic_matches || !config_.topic_regex.empty()) {
    cluster_.want_all();
  }
  if (grouped()) {
    state_ = State::finding;
    commit_at_ = config_.commit_interval.ns > 0 ? now + config_.commit_interval : kNever;
    return;
  }
  for (const ConsumerConfig::Start& start : config_.assignment) {
    cluster_.want(start.partition.first);
    rewind(add(start.partition), start.offset);
  }
}

Consumer::Partition& Consumer::add(const TopicPartition& key) {
  Partition& partition = partitions_[key];
  partition.life = next_life_++;
  return partition;
}

Consumer::Partition* Consumer::live(const Asked& asked) {
  const auto found = partitions_.find(asked.partition);
  return found == partitions_.end() || found->second.life != asked.life ? nullptr : &found->second;
}

// To an offset, kFromEarliest or kFromLatest. What is on its way is of another life.
void Consumer::rewind(Partition& partition, std::int64_t to) {
  if (partition.chunk != nullptr) {
    buffered_ -= partition.chunk->bytes.size();
    partition.chunk.reset();
  }
  partition.life = next_life_++;
  partition.asked = partition.validate = partition.at_end = partition.failed = false;
  partition.epoch = kNoLeaderEpoch;
  partition.not_before = {};
  if (to >= 0) {
    partition.state = Position::known;
    partition.position = to;
  } else {
    partition.state = Position::reset;
    partition.reset_to = to == kFromLatest ? kFromLatest : kFromEarliest;
  }
}

void Consumer::step(const Input& input, Instant now, ConsumerOutputs& out) {
  if (state_ == State::closed) {
    return;
  }
  stepped_at_ = now;
  cluster_.step(input, now, out.io, answers_);
  take_answers(now, out);
  if (state_ == State::closed) {
    return;
  }
  take_metadata(now, out);
  end_work(now, out);
  if (config_.commit_mode == CommitMode::interval && state_ == State::stable && commit_at_ <= now && !busy_) {
    send_commit(now, out);  // before anything new is handed out
  }
  group_timers(now, out);
  if (state_ == State::closed) {
    return;
  }
  ask_positions(now, out);
  poll(now, out);
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
      coordinator_assigns() ? take_told(answer, pending, now, out) : take_join(answer, now, out);
      break;
    case Ask::sync:
      take_sync(answer, now, out);
      break;
    case Ask::heartbeat:
      coordinator_assigns() ? take_told(answer, pending, now, out) : take_heartbeat(answer, pending, now, out);
      break;
    case Ask::leave:
      state_ = State::closed;
      cluster_.close_all(out.io);
      break;
    case Ask::leave_late:
      break;  // it is gone either way
    case Ask::commit:
      take_commit(answer, pending, now, out);
      break;
    case Ask::committed:
      take_committed(answer, pending, now, out);
      break;
    case Ask::list:
      take_list(answer, pending, now, out);
      break;
    case Ask::validate:
      take_validation(answer, pending, now, out);
      break;
    case Ask::fetch:
      take_fetch(answer, pending, now, out);
      break;
  }
}

void Consumer::trouble(std::string why, ConsumerOutputs& out) {
  if (why != last_trouble_) {
    last_trouble_ = why;
    out.events.push_back({ConsumerEvent::Kind::error, {}, std::move(why), false, {}});
  }
}

void Consumer::passing_trouble(int& failures, std::string why, ConsumerOutputs& out) {
  constexpr int kTold = 10;  // about a second of attempts
  if (++failures >= kTold) {
    trouble(std::move(why), out);
  }
}

void Consumer::fatal(std::string why, ConsumerOutputs& out) {
  revoke_all(false, out);
  out.events.push_back({ConsumerEvent::Kind::error, {}, std::move(why), true, {}});
  state_ = State::closed;
  cluster_.close_all(out.io);
}

void Consumer::later(Partition& partition, Instant now) noexcept {
  partition.not_before = now + config_.cluster.retry_backoff;
}

// ---- topics

void Consumer::take_metadata(Instant now, ConsumerOutputs& out) {
  if (cluster_.metadata().version == seen_metadata_) {
    return;
  }
  seen_metadata_ = cluster_.metadata().version;
  match_topics();
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
      // It may be added, or is known to whoever leads the group and not yet to the broker that was asked.
      partition.failed = true;
      if (grouped()) {
        cluster_.refresh();
      }
      trouble(fmt::format("topic '{}' has no partition {}; it has {}", key.first, key.second,
                          count == 1 ? std::string("only 0") : fmt::format("0 to {}", count - 1)),
              out);
    } else if (count != 0) {
      partition.failed = false;
      // A new leader may have fewer records than the one the position comes from.
      const LeaderEpoch epoch = topic->partitions[static_cast<std::size_t>(key.second)].leader_epoch;
      if (partition.state == Position::known && partition.epoch != kNoLeaderEpoch && partition.validated < epoch) {
        partition.validate = true;
      }
    }
  }
  if (!grouped()) {
    follow_topics(now, out);
  } else if (state_ == State::stable && leading_) {
    std::vector<std::string> topics;
    for (const auto& [topic, count] : assigned_of_) {
      topics.push_back(topic);
    }
    if (partition_counts(topics) != assigned_of_) {
      rejoin_ = true;
    }
  }
}

// A pattern: which topics there are now. A member tells its group by joining again.
void Consumer::match_topics() {
  if (!config_.topic_matches) {
    return;
  }
  std::set<std::string> topics(config_.topics.begin(), config_.topics.end());
  for (const auto& [name, info] : cluster_.metadata().topics) {
    if (info.error == ErrorCode::none && !info.internal && config_.topic_matches(name)) {
      topics.insert(name);
    }
  }
  std::vector<std::string> matched(topics.begin(), topics.end());
  if (matched != subscribed_) {
    subscribed_ = std::move(matched);
    rejoin_ = rejoin_ || (grouped() && state_ != State::finding);
  }
}

// Without a group and without a list: every partition that the topics have, also those that are added later.
void Consumer::follow_topics(Instant now, ConsumerOutputs& out) {
  ConsumerEvent event;
  event.kind = ConsumerEvent::Kind::assigned;
  if (config_.assignment.empty()) {
    for (const std::string& topic : subscribed_) {
      const TopicInfo* info = cluster_.metadata().topic(topic);
      for (std::size_t i = 0; info != nullptr && i < info->partitions.size(); ++i) {
        const TopicPartition key{topic, static_cast<std::int32_t>(i)};
        if (!partitions_.contains(key)) {
          Partition& partition = add(key);
          rewind(partition, kFromEarliest);
          if (!followed_) {
            partition.reset_to = reset_target(now);
          }
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

// ---- what the owner wants

void Consumer::pause(const std::vector<TopicPartition>& partitions) {
  for (auto& [key, partition] : partitions_) {
    if (partitions.empty() || std::find(partitions.begin(), partitions.end(), key) != partitions.end()) {
      partition.paused = true;
    }
  }
}
void Consumer::resume(const std::vector<TopicPartition>& partitions) {
  for (auto& [key, partition] : partitions_) {
    if (partitions.empty() || std::find(partitions.begin(), partitions.end(), key) != partitions.end()) {
      partition.paused = false;
    }
  }
}
void Consumer::seek(const TopicPartition& key, std::int64_t to) {
  if (const auto found = partitions_.find(key); found != partitions_.end()) {
    rewind(found->second, to);
  }
}
void Consumer::seek_to_time(const TopicPartition& key, std::int64_t timestamp_ms) {
  if (const auto found = partitions_.find(key); found != partitions_.end()) {
    rewind(found->second, kFromLatest);
    found->second.reset_to = std::max<std::int64_t>(timestamp_ms, 0);
  }
}

// ---- the end

void Consumer::close(Instant now, ConsumerOutputs& out) {
  if (state_ == State::closed || state_ == State::closing) {
    return;
  }
  const auto end = [&] {
    revoke_all(false, out);
    state_ = State::closed;
    cluster_.close_all(out.io);
  };
  if (!grouped() || coordinator_ == kNoBroker || member_id_.empty() || state_ == State::late) {
    end();
    return;
  }
  const bool unfinished = busy_ && config_.commit_mode != CommitMode::interval;  // the handler is not through
  if (member() && !unfinished && config_.commit_mode != CommitMode::manual) {
    commit_asked_ = false;  // one that is under way may hold older positions
    send_commit(now, out);
  }
  if (config_.group_instance_id && !coordinator_assigns()) {  // a static member stays: it is expected back (KIP-345)
    if (!commit_asked_) {
      end();
      return;
    }
    revoke_all(false, out);
    state_ = State::closing;
    close_by_ = now + kCloseAllowance;
  } else {
    revoke_all(false, out);
    state_ = State::closing;
    close_by_ = now + kCloseAllowance;
    leave_group(Ask::leave, "the consumer is being closed", close_by_, now, out);
  }
  take_answers(now, out);
}

void Consumer::crash(ConsumerOutputs& out) {
  state_ = State::closed;
  cluster_.close_all(out.io);
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
  if (busy_) {
    next = std::min(next, busy_until_);  // perhaps at once: the work of the last poll took no time
    consider(polled_at_ + config_.max_poll_interval);
  }
  if (grouped()) {
    consider(group_not_before_);
    if (state_ == State::stable) {
      consider(heartbeat_at_);
      if (!busy_ && config_.commit_mode == CommitMode::interval) {
        consider(commit_at_);
      }
    }
  }
  for (const auto& [key, partition] : partitions_) {
    if (!partition.asked && !partition.failed) {
      consider(partition.not_before);
    }
  }
  return next;
}

std::vector<PartitionStatus> Consumer::status() const {
  std::vector<PartitionStatus> all;
  for (const auto& [key, partition] : partitions_) {
    all.push_back({key, partition.state == Position::known ? partition.position : -1, partition.committed,
                   partition.high_watermark, partition.chunk == nullptr ? 0 : partition.chunk->bytes.size(),
                   partition.paused});
  }
  return all;
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
