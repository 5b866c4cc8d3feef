// SPDX-License-Identifier: Apache-2.0
// Where reading begins and how far it has come: commits, committed offsets, ListOffsets, validation after a change of leader.
#include <fmt/core.h>

#include <algorithm>

#include "engine/client/consumer_detail.h"
#include "engine/wire/msg/list_offsets.h"
#include "engine/wire/msg/offset_commit.h"
#include "engine/wire/msg/offset_fetch.h"
#include "engine/wire/msg/offset_for_leader_epoch.h"

namespace hw::client {

using wire::ErrorCode;

namespace {
// Up to these versions topics go by name, from the next on by id; and up to this one a question is about one group.
constexpr std::int16_t kCommitByName = 9;
constexpr std::int16_t kFetchByName = 9;
constexpr std::int16_t kCommittedOfOneGroup = 7;
constexpr std::int16_t kCommittedIfStable = 7;  // from this version on

// Where a group is, in the form that the version has.
struct CommittedQuestion {
  static constexpr std::int16_t kApiKey = wire::OffsetFetchRequest::kApiKey;
  static constexpr std::int16_t kLowestVersion = wire::OffsetFetchRequest::kLowestVersion;
  static constexpr std::int16_t kHighestVersion = wire::OffsetFetchRequest::kHighestVersion;
  struct Topic {
    std::string name;
    Uuid id;
    std::vector<PartitionIndex> partitions;
  };
  std::string group_id;
  std::vector<Topic> topics;
};

bool encode(wire::Writer& writer, const CommittedQuestion& question, std::int16_t version) {
  wire::OffsetFetchRequest request;
  // As Kafka's consumer asks: a coordinator that has just taken over may not know yet that the newest commits are on all replicas.
  request.require_stable = version >= kCommittedIfStable;
  if (version <= kCommittedOfOneGroup) {
    request.group_id = question.group_id;
    request.topics.emplace();
    for (const CommittedQuestion::Topic& topic : question.topics) {
      auto& asked = request.topics->emplace_back();
      asked.name = topic.name;
      asked.partition_indexes = topic.partitions;
    }
  } else {
    auto& group = request.groups.emplace_back();
    group.group_id = question.group_id;
    group.topics.emplace();
    for (const CommittedQuestion::Topic& topic : question.topics) {
      auto& asked = group.topics->emplace_back();
      asked.name = topic.name;
      asked.topic_id = topic.id;
      asked.partition_indexes = topic.partitions;
    }
  }
  return encode(writer, request, version);
}

// Ids of topics as metadata has them now; an answer by id is about these.
std::map<Uuid, std::string> names_of(const Metadata& metadata, const std::vector<TopicPartition>& partitions) {
  std::map<Uuid, std::string> names;
  for (const TopicPartition& partition : partitions) {
    if (const TopicInfo* topic = metadata.topic(partition.first); topic != nullptr) {
      names[topic->id] = partition.first;
    }
  }
  return names;
}
}  // namespace

// ---- commits

void Consumer::commit(Instant now, ConsumerOutputs& out) {
  if (grouped() && member()) {
    send_commit(now, out);
  }
}

void Consumer::send_commit(Instant now, ConsumerOutputs& out) {
  commit_at_ = config_.commit_interval.ns > 0 ? now + config_.commit_interval : kNever;
  if (config_.commit_mode == CommitMode::interval && config_.commit_interval.ns <= 0) {
    return;
  }
  if (!member() || commit_asked_) {
    return;
  }
  wire::OffsetCommitRequest request;
  request.group_id = config_.group_id;
  request.generation_id_or_member_epoch = generation_;
  request.member_id = member_id_;
  request.group_instance_id = config_.group_instance_id;
  std::vector<Asked> offsets;
  bool by_id = true;
  for (const auto& [key, partition] : partitions_) {
    if (partition.state != Position::known || partition.position == partition.committed) {
      continue;
    }
    if (request.topics.empty() || request.topics.back().name != key.first) {
      const TopicInfo* topic = cluster_.metadata().topic(key.first);
      request.topics.emplace_back();
      request.topics.back().name = key.first;
      request.topics.back().topic_id = topic == nullptr ? Uuid{} : topic->id;
      by_id = by_id && request.topics.back().topic_id != Uuid{};
    }
    auto& at = request.topics.back().partitions.emplace_back();
    at.partition_index = PartitionIndex(key.second);
    at.committed_offset = Offset(partition.position);
    at.committed_leader_epoch = partition.epoch;
    at.committed_metadata = "";
    offsets.push_back({key, partition.life, partition.position});
  }
  if (offsets.empty()) {
    waits_for_commit_ = false;  // what is handed out is committed
    return;
  }
  commit_asked_ = true;
  ask(Ask::commit, coordinator_, Lane::group, std::move(request), 0,
      by_id ? wire::OffsetCommitRequest::kHighestVersion : kCommitByName, kNever, std::move(offsets), now, out);
}

// For good: the handler's work may be done a second time.
void Consumer::commit_refused(const Pending& pending, std::string why, ConsumerOutputs& out) {
  waits_for_commit_ = false;
  ConsumerEvent event;
  event.kind = ConsumerEvent::Kind::commit_failed;
  event.message = fmt::format("group '{}': the commit is refused: {}", config_.group_id, why);
  for (const Asked& asked : pending.partitions) {
    event.partitions.push_back(asked.partition);
    event.offsets.push_back(asked.value);
  }
  out.events.push_back(std::move(event));
}

void Consumer::take_commit(const Answer& answer, const Pending& pending, Instant now, ConsumerOutputs& out) {
  commit_asked_ = false;
  wire::OffsetCommitResponse response;
  const bool read = !answer.error && decode_answer(answer, response);
  if (state_ == State::closing && config_.group_instance_id && !coordinator_assigns()) {
    state_ = State::closed;  // a static member only waits for this
    cluster_.close_all(out.io);
  }
  if (!read) {
    if (state_ == State::stable) {
      coordinator_trouble(answer.error ? answer.error->detail : "the answer to OffsetCommit cannot be read", now, out);
    }
    return;  // a commit that is waited for is sent again
  }
  ErrorCode worst = ErrorCode::none;
  ConsumerEvent done;
  done.kind = ConsumerEvent::Kind::committed;
  std::map<Uuid, std::string> names;
  if (answer.version > kCommitByName) {
    std::vector<TopicPartition> asked;
    for (const Asked& one : pending.partitions) {
      asked.push_back(one.partition);
    }
    names = names_of(cluster_.metadata(), asked);
  }
  for (const auto& topic : response.topics) {
    const std::string& name = answer.version > kCommitByName ? names[topic.topic_id] : topic.name;
    for (const auto& result : topic.partitions) {
      if (result.error_code != ErrorCode::none) {
        worst = result.error_code;
        continue;
      }
      const TopicPartition key{name, result.partition_index.value()};
      for (const Asked& asked : pending.partitions) {
        if (asked.partition != key) {
          continue;
        }
        done.partitions.push_back(key);
        done.offsets.push_back(asked.value);
        if (Partition* partition = live(asked)) {
          partition->committed = asked.value;
        }
      }
    }
  }
  if (!done.partitions.empty()) {
    out.events.push_back(std::move(done));
  }
  if (worst == ErrorCode::none) {
    waits_for_commit_ = false;
    return;
  }
  const bool current = pending.generation == generation_;
  switch (worst) {
    case ErrorCode::coordinator_not_available:
    case ErrorCode::coordinator_load_in_progress:
    case ErrorCode::not_coordinator:
      if (state_ == State::stable) {
        handle_group_error(worst, now, out);
      }
      break;  // sent again
    case ErrorCode::unknown_topic_id:  // the topic was made anew, or the broker has not heard of it yet
      cluster_.refresh();
      if (waits_for_commit_) {
        break;  // sent again, with the id that is known then
      }
      commit_refused(pending, describe(worst), out);
      break;
    case ErrorCode::illegal_generation:
    case ErrorCode::unknown_member_id:
    case ErrorCode::fenced_instance_id:
      if (!current && worst == ErrorCode::illegal_generation && waits_for_commit_ && cooperative_ && member()) {
        break;  // sent before the rebalance and answered after it: once more, under the new generation
      }
      commit_refused(pending, describe(worst), out);
      if (current && state_ == State::stable) {
        handle_group_error(worst, now, out);
      }
      break;
    case ErrorCode::stale_member_epoch:  // the coordinator has gone on; its next answer brings the epoch
      heartbeat_at_ = std::min(heartbeat_at_, now);
      if (!waits_for_commit_) {
        commit_refused(pending, describe(worst), out);
      }
      break;  // sent again
    case ErrorCode::rebalance_in_progress:  // the next heartbeat says so too
      if (waits_for_commit_ && cooperative_) {
        commit_after_join_ = rejoin_ = true;
      } else if (waits_for_commit_) {
        commit_refused(pending, describe(worst), out);
      }
      break;
    default:
      if (wire::is_retriable(worst) && waits_for_commit_) {
        break;
      }
      commit_refused(pending, describe(worst), out);
      trouble(fmt::format("group '{}': offsets are not committed: {}", config_.group_id, describe(worst)), out);
      break;
  }
}

// ---- where to begin

std::int64_t Consumer::reset_target(Instant now) const noexcept {
  switch (config_.reset) {
    case OffsetReset::earliest:
    case OffsetReset::none:
      return kFromEarliest;
    case OffsetReset::latest:
      return kFromLatest;
    case OffsetReset::by_duration:
      return std::max<std::int64_t>(config_.wall_ms_at_zero + Duration{now.ns}.ms() - config_.reset_duration.ms(), 0);
  }
  return kFromEarliest;
}

bool Consumer::reset(Partition& partition, const std::string& why, Instant now, ConsumerOutputs& out) {
  if (config_.reset == OffsetReset::none) {
    fatal(fmt::format("{}, and auto.offset.reset is none; choose earliest, latest or a position", why), out);
    return false;
  }
  rewind(partition, kFromEarliest);
  partition.reset_to = reset_target(now);
  partition.not_before = now;
  return true;
}

void Consumer::ask_committed(Instant now, ConsumerOutputs& out) {
  if (state_ != State::stable || coordinator_ == kNoBroker) {
    return;
  }
  CommittedQuestion question;
  std::vector<Asked> asked;
  bool by_id = true;
  for (auto& [key, partition] : partitions_) {
    if (partition.asked || partition.failed || partition.not_before > now || partition.state != Position::committed) {
      continue;
    }
    if (question.topics.empty() || question.topics.back().name != key.first) {
      const TopicInfo* topic = cluster_.metadata().topic(key.first);
      question.topics.push_back({key.first, topic == nullptr ? Uuid{} : topic->id, {}});
      by_id = by_id && question.topics.back().id != Uuid{};
    }
    question.topics.back().partitions.emplace_back(key.second);
    asked.push_back({key, partition.life, 0});
    partition.asked = true;
  }
  if (asked.empty()) {
    return;
  }
  question.group_id = config_.group_id;
  ask(Ask::committed, coordinator_, Lane::group, std::move(question), 0,
      by_id ? CommittedQuestion::kHighestVersion : kFetchByName, kNever, std::move(asked), now, out);
}

void Consumer::take_committed(const Answer& answer, const Pending& pending, Instant now, ConsumerOutputs& out) {
  for (const Asked& asked : pending.partitions) {
    if (Partition* partition = live(asked)) {
      partition->asked = false;
      later(*partition, now);  // where nothing better follows
    }
  }
  wire::OffsetFetchResponse response;
  if (answer.error || !decode_answer(answer, response)) {
    coordinator_trouble(answer.error ? answer.error->detail : "the answer to OffsetFetch cannot be read", now, out);
    return;
  }
  const bool one = answer.version <= kCommittedOfOneGroup;
  if (!one && response.groups.size() != 1) {
    coordinator_trouble("the answer to OffsetFetch is about other groups", now, out);
    return;
  }
  const ErrorCode error = one ? response.error_code : response.groups.front().error_code;
  if (error != ErrorCode::none) {
    if (pending.generation == generation_) {
      handle_group_error(error, now, out);
    }
    return;
  }
  if (one) {
    take_committed_topics(response.topics, false, pending, now, out);
  } else {
    take_committed_topics(response.groups.front().topics, answer.version > kFetchByName, pending, now, out);
  }
}

template <class Topics>
void Consumer::take_committed_topics(const Topics& topics, bool by_id, const Pending& pending, Instant now,
                                     ConsumerOutputs& out) {
  std::map<TopicPartition, const Asked*> asked_of;
  for (const Asked& asked : pending.partitions) {
    asked_of[asked.partition] = &asked;
  }
  std::map<Uuid, std::string> names;
  if (by_id) {
    std::vector<TopicPartition> keys;
    for (const Asked& asked : pending.partitions) {
      keys.push_back(asked.partition);
    }
    names = names_of(cluster_.metadata(), keys);
  }
  for (const auto& topic : topics) {
    std::string name;
    if constexpr (requires { topic.topic_id; }) {
      name = by_id ? names[topic.topic_id] : topic.name;
    } else {
      name = topic.name;
    }
    for (const auto& result : topic.partitions) {
      const auto asked = asked_of.find({name, result.partition_index.value()});
      Partition* const partition = asked == asked_of.end() ? nullptr : live(*asked->second);
      if (partition == nullptr) {
        continue;
      }
      if (result.error_code != ErrorCode::none) {
        if (wants_fresh_metadata(result.error_code)) {
          cluster_.refresh();
        }
        if (!wire::is_retriable(result.error_code)) {
          trouble(fmt::format("group '{}': {}", config_.group_id, describe(result.error_code)), out);
        }
        continue;
      }
      partition->not_before = now;
      if (result.committed_offset.value() >= 0) {
        partition->state = Position::known;
        partition->position = partition->committed = result.committed_offset.value();
        partition->epoch = result.committed_leader_epoch;
        partition->validate = partition->epoch != kNoLeaderEpoch;
      } else if (!reset(*partition,
                        fmt::format("group '{}' has no committed offset for '{}' partition {}", config_.group_id,
                                    name, result.partition_index.value()),
                        now, out)) {
        return;
      }
    }
  }
}

// ---- ListOffsets, and OffsetForLeaderEpoch

void Consumer::ask_positions(Instant now, ConsumerOutputs& out) {
  ask_committed(now, out);
  struct List {
    wire::ListOffsetsRequest request;
    std::vector<Asked> partitions;
  };
  struct Validation {
    wire::OffsetForLeaderEpochRequest request;
    std::vector<Asked> partitions;
  };
  std::map<BrokerId, List> lists;
  std::map<BrokerId, Validation> validations;
  for (auto& [key, partition] : partitions_) {
    const bool lists_it = partition.state == Position::reset;
    const bool validates = partition.state == Position::known && partition.validate && partition.chunk == nullptr;
    if (partition.asked || partition.failed || partition.not_before > now || (!lists_it && !validates)) {
      continue;
    }
    const PartitionInfo* info = cluster_.metadata().partition(key.first, key.second);
    if (info == nullptr || info->leader == kNoBroker) {
      continue;  // the next metadata decides
    }
    // Who told us of the leader is behind. That one may still think it leads, and lack what was read from the next.
    if (validates && info->leader_epoch != kNoLeaderEpoch && info->leader_epoch < partition.epoch) {
      cluster_.learn_epoch(key.first, key.second, partition.epoch);
      continue;
    }
    if (validates && info->leader_epoch <= partition.epoch) {  // the record before is of this very leader
      partition.validate = false;
      partition.validated = info->leader_epoch;
      continue;
    }
    if (validates) {
      Validation& validation = validations[info->leader];
      if (validation.request.topics.empty() || validation.request.topics.back().topic != key.first) {
        validation.request.topics.emplace_back();
        validation.request.topics.back().topic = key.first;
      }
      auto& at = validation.request.topics.back().partitions.emplace_back();
      at.partition = PartitionIndex(key.second);
      at.current_leader_epoch = info->leader_epoch;
      at.leader_epoch = partition.epoch;
      validation.partitions.push_back({key, partition.life, info->leader_epoch.value()});
    } else {
      List& list = lists[info->leader];
      if (list.request.topics.empty() || list.request.topics.back().name != key.first) {
        list.request.topics.emplace_back();
        list.request.topics.back().name = key.first;
      }
      auto& at = list.request.topics.back().partitions.emplace_back();
      at.partition_index = PartitionIndex(key.second);
      at.current_leader_epoch = info->leader_epoch;
      at.timestamp = partition.reset_to;
      list.partitions.push_back({key, partition.life, partition.reset_to});
    }
    partition.asked = true;
  }
  for (auto& [leader, list] : lists) {
    list.request.replica_id = kNoBroker;
    list.request.isolation_level = config_.read_committed ? 1 : 0;
    ask(Ask::list, leader, Lane::main, std::move(list.request), 1, wire::ListOffsetsRequest::kHighestVersion, kNever,
        std::move(list.partitions), now, out);
  }
  for (auto& [leader, validation] : validations) {
    validation.request.replica_id = kNoBroker;
    ask(Ask::validate, leader, Lane::main, std::move(validation.request), 3,
        wire::OffsetForLeaderEpochRequest::kHighestVersion, kNever, std::move(validation.partitions), now, out);
  }
}

void Consumer::take_list(const Answer& answer, const Pending& pending, Instant now, ConsumerOutputs& out) {
  std::map<TopicPartition, const Asked*> asked_of;
  for (const Asked& asked : pending.partitions) {
    if (Partition* partition = live(asked)) {
      partition->asked = false;
      later(*partition, now);
      asked_of[asked.partition] = &asked;
    }
  }
  wire::ListOffsetsResponse response;
  if (answer.error || !decode_answer(answer, response)) {
    if (!asked_of.empty()) {
      trouble(answer.error ? answer.error->detail : "the answer to ListOffsets cannot be read", out);
    }
    return;
  }
  for (const auto& topic : response.topics) {
    for (const auto& result : topic.partitions) {
      const auto asked = asked_of.find({topic.name, result.partition_index.value()});
      if (asked == asked_of.end()) {
        continue;
      }
      Partition& partition = *live(*asked->second);
      if (result.error_code != ErrorCode::none) {
        if (wants_fresh_metadata(result.error_code)) {
          cluster_.refresh();
        }
        passing_trouble(partition.failures,
                        fmt::format("topic '{}' partition {}: {}", topic.name, asked->first.second,
                                    describe(result.error_code)),
                        out);
        continue;
      }
      partition.not_before = now;
      if (result.offset.value() < 0) {  // no record is that young
        partition.reset_to = kFromLatest;
        continue;
      }
      partition.state = Position::known;
      partition.position = result.offset.value();
      partition.epoch = kNoLeaderEpoch;  // of the record before, which nobody has told
      const PartitionInfo* info = cluster_.metadata().partition(topic.name, asked->first.second);
      partition.validated = info == nullptr ? kNoLeaderEpoch : info->leader_epoch;
    }
  }
}

void Consumer::take_validation(const Answer& answer, const Pending& pending, Instant now, ConsumerOutputs& out) {
  std::map<TopicPartition, const Asked*> asked_of;
  for (const Asked& asked : pending.partitions) {
    Partition* const partition = live(asked);
    if (partition == nullptr) {
      continue;
    }
    partition->asked = false;
    later(*partition, now);
    asked_of[asked.partition] = &asked;
    if (answer.error && answer.error->code == Errc::unsupported) {  // an old broker: as before KIP-320
      partition->validate = false;
      partition->validated = LeaderEpoch(static_cast<std::int32_t>(asked.value));
      partition->not_before = now;
    }
  }
  wire::OffsetForLeaderEpochResponse response;
  if (answer.error || !decode_answer(answer, response)) {
    if (answer.error && answer.error->code != Errc::unsupported) {
      trouble(answer.error->detail, out);
    }
    return;
  }
  for (const auto& topic : response.topics) {
    for (const auto& result : topic.partitions) {
      const auto found = asked_of.find({topic.topic, result.partition.value()});
      if (found == asked_of.end()) {
        continue;
      }
      const auto& [key, asked] = *found;
      Partition& partition = *live(*asked);
      if (result.error_code != ErrorCode::none) {
        cluster_.refresh();
        passing_trouble(partition.failures,
                        fmt::format("topic '{}' partition {}: {}", key.first, key.second, describe(result.error_code)),
                        out);
        continue;
      }
      partition.not_before = now;
      partition.validate = false;
      partition.validated = LeaderEpoch(static_cast<std::int32_t>(asked->value));
      const bool unknown = result.end_offset.value() < 0 || result.leader_epoch == kNoLeaderEpoch;
      if (!unknown && result.end_offset.value() >= partition.position) {
        continue;  // the new leader has everything that was read
      }
      const std::int64_t was = partition.position;
      const std::string why =
          fmt::format("topic '{}' partition {}: the log was truncated below offset {}, where reading had come to", key.first,
                      key.second, was);
      if (unknown || config_.reset == OffsetReset::none) {
        if (!reset(partition, why, now, out)) {
          return;
        }
      } else {
        rewind(partition, result.end_offset.value());
        partition.epoch = result.leader_epoch;
        partition.validated = LeaderEpoch(static_cast<std::int32_t>(asked->value));
      }
      ConsumerEvent event;
      event.kind = ConsumerEvent::Kind::truncated;
      event.partitions.push_back(key);
      event.offsets.push_back(unknown ? -1 : result.end_offset.value());
      event.message = unknown ? why : fmt::format("{}; going on at {}", why, result.end_offset.value());
      out.events.push_back(std::move(event));
    }
  }
}

}  // namespace hw::client
