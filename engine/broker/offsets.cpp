// SPDX-License-Identifier: Apache-2.0
// ListOffsets and OffsetForLeaderEpoch.
#include <functional>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "engine/broker/broker_impl.h"

namespace hw::broker {

namespace {

constexpr std::int64_t kLatest = -1;
constexpr std::int64_t kEarliest = -2;
constexpr std::int64_t kMaxTimestamp = -3;
constexpr std::int64_t kEarliestLocal = -4;
constexpr std::int64_t kLatestTiered = -5;
constexpr std::int64_t kEarliestPendingUpload = -6;

}  // namespace

wire::ListOffsetsResponse Broker::list_offsets(const wire::ListOffsetsRequest& request, std::int16_t version) {
  struct Key {
    std::string_view topic;
    std::int32_t partition;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const noexcept {
      return std::hash<std::string_view>{}(key.topic) * 31 + static_cast<std::size_t>(key.partition);
    }
  };
  std::unordered_set<Key, KeyHash> seen;
  std::unordered_set<Key, KeyHash> twice;
  for (const auto& topic : request.topics) {
    for (const auto& partition : topic.partitions) {
      const Key key{topic.name, partition.partition_index.value()};
      if (!seen.insert(key).second) {
        twice.insert(key);
      }
    }
  }
  wire::ListOffsetsResponse response;
  response.topics.reserve(request.topics.size());
  for (const auto& topic : request.topics) {
    auto& topic_answer = response.topics.emplace_back();
    topic_answer.name = topic.name;
    topic_answer.partitions.reserve(topic.partitions.size());
    for (const auto& wanted : topic.partitions) {
      auto& answer = topic_answer.partitions.emplace_back();
      answer.partition_index = wanted.partition_index;
      const std::int64_t time = wanted.timestamp;
      if (twice.contains({topic.name, wanted.partition_index.value()})) {
        answer.error_code = ErrorCode::invalid_request;
        continue;
      }
      const bool special_known = (time >= kEarliest) || (time == kMaxTimestamp && version >= 7) ||
                                 (time == kEarliestLocal && version >= 8) || (time == kLatestTiered && version >= 9) ||
                                 (time == kEarliestPendingUpload && version >= 11);
      if (!special_known) {
        answer.error_code = ErrorCode::unsupported_version;
        continue;
      }
      const Impl::Resolved where = impl_->resolve(topic.name, {}, false, wanted.partition_index);
      if (where.error != ErrorCode::none) {
        answer.error_code = where.error;
        continue;
      }
      if (where.partition == nullptr) {
        answer.error_code = ErrorCode::not_leader_or_follower;
        continue;
      }
      Partition& partition = *where.partition;
      // -2 as replica is a tool that wants to look at whatever replica it asked.
      answer.error_code = partition.check(request.replica_id.value() != -2, wanted.current_leader_epoch);
      if (answer.error_code != ErrorCode::none) {
        continue;
      }
      const log::PartitionLog& log = *partition.log();
      const bool consumer = request.replica_id.value() < 0;
      const Offset bound = !consumer                      ? log.log_end_offset()
                           : request.isolation_level == 1 ? log.last_stable_offset()
                                                          : log.high_watermark();
      // Just elected, and followers have not told yet how far the log of the epoch before was committed (KIP-207).
      const bool lagging = consumer && partition.is_leader() && log.high_watermark() < partition.leader_epoch_start();
      const ErrorCode not_yet = version >= 5 ? ErrorCode::offset_not_available : ErrorCode::leader_not_available;
      if (time == kLatest) {
        if (lagging) {
          answer.error_code = not_yet;
          continue;
        }
        answer.offset = bound;
        answer.leader_epoch = partition.leader_epoch();
      } else if (time == kEarliest || time == kEarliestLocal) {
        answer.offset = log.log_start_offset();
        answer.leader_epoch = log.epoch_of(log.log_start_offset());
      } else if (time == kLatestTiered || time == kEarliestPendingUpload) {
        // Nothing is tiered: no offset, no error.
      } else {
        Result<log::TimestampOffset> at_time = time == kMaxTimestamp ? log.find_max_timestamp() : log.find_by_timestamp(time);
        if (!at_time) {
          answer.error_code = ErrorCode::kafka_storage_error;
          continue;
        }
        if (at_time->offset != kNoOffset && at_time->offset < bound) {
          answer.offset = at_time->offset;
          answer.timestamp = at_time->timestamp_ms;
          answer.leader_epoch = at_time->leader_epoch;
        } else if (lagging) {
          answer.error_code = not_yet;
        }
      }
      if (version < 4) {
        answer.leader_epoch = kNoLeaderEpoch;  // has no place in older answers
      }
    }
  }
  return response;
}

wire::OffsetForLeaderEpochResponse Broker::offset_for_leader_epoch(const wire::OffsetForLeaderEpochRequest& request) {
  wire::OffsetForLeaderEpochResponse response;
  response.topics.reserve(request.topics.size());
  for (const auto& topic : request.topics) {
    auto& topic_answer = response.topics.emplace_back();
    topic_answer.topic = topic.topic;
    topic_answer.partitions.reserve(topic.partitions.size());
    for (const auto& wanted : topic.partitions) {
      auto& answer = topic_answer.partitions.emplace_back();
      answer.partition = wanted.partition;
      const Impl::Resolved where = impl_->resolve(topic.topic, {}, false, wanted.partition);
      if (where.error != ErrorCode::none) {
        answer.error_code = where.error;
      } else if (where.partition == nullptr) {
        answer.error_code = ErrorCode::not_leader_or_follower;
      } else {
        answer.error_code = where.partition->check(true, wanted.current_leader_epoch);
      }
      if (answer.error_code != ErrorCode::none) {
        continue;
      }
      const log::EpochEndOffset end = where.partition->log()->end_offset_for_epoch(wanted.leader_epoch);
      answer.leader_epoch = end.epoch;
      answer.end_offset = end.end_offset;
    }
  }
  return response;
}

}  // namespace hw::broker
