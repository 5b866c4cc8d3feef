// SPDX-License-Identifier: Apache-2.0
#include "engine/broker/fetch_session.h"

#include <limits>
#include <tuple>
#include <utility>

#include "engine/base/trial.h"

namespace hw::broker {

std::int32_t next_session_epoch(std::int32_t epoch) noexcept {
  if (epoch < 0) {
    return kFinalSessionEpoch;
  }
  return epoch == std::numeric_limits<std::int32_t>::max() ? 1 : epoch + 1;
}

std::size_t FetchTargetHash::operator()(const FetchTarget& target) const noexcept {
  const std::size_t topic =
      target.topic.empty() ? std::hash<Uuid>{}(target.topic_id) : std::hash<std::string>{}(target.topic);
  return topic * 31 + static_cast<std::size_t>(static_cast<std::uint32_t>(target.partition.value()));
}

namespace {

// Whether a follower that names a partition again has used the last answer. It does not use one that came when it followed in
// another leader epoch already, or from another offset; then it names what it named before, in the new epoch or after a cut.
bool took_what_came(const FetchPartition& before, const FetchPartition& now) noexcept {
  return now.current_leader_epoch == before.current_leader_epoch && now.fetch_offset > before.fetch_offset;
}

}  // namespace

FetchPartition to_fetch_partition(const wire::FetchRequest::FetchTopic& topic,
                                  const wire::FetchRequest::FetchPartition& partition, std::int16_t version) {
  FetchPartition result;
  if (version >= 13) {
    result.target.topic_id = topic.topic_id;
  } else {
    result.target.topic = topic.topic;
  }
  result.target.partition = partition.partition;
  result.fetch_offset = partition.fetch_offset;
  result.max_bytes = partition.partition_max_bytes;
  result.current_leader_epoch = partition.current_leader_epoch;
  result.last_fetched_epoch = partition.last_fetched_epoch;
  result.fetcher_log_start_offset = partition.log_start_offset;
  return result;
}

bool FetchSession::is_news(const FetchPartition& told, const wire::FetchResponse::PartitionData& data) noexcept {
  return (data.records.has_value() && !data.records->empty()) ||
         told.told_high_watermark.value() != data.high_watermark ||
         told.told_log_start_offset != data.log_start_offset || data.preferred_read_replica.value() >= 0 ||
         data.error_code != wire::ErrorCode::none || data.diverging_epoch.epoch >= 0;
}

void FetchSession::remember_told(FetchPartition& told, const wire::FetchResponse::PartitionData& data) noexcept {
  // After an error the partition is told again as soon as the error has gone.
  told.told_high_watermark = data.error_code == wire::ErrorCode::none ? Offset(data.high_watermark) : kNoOffset;
  told.told_log_start_offset = data.log_start_offset;
}

void FetchSession::add(FetchTarget key, FetchPartition wanted) {
  const auto at = partitions_.emplace(partitions_.end(), std::move(wanted));
  index_.emplace(std::move(key), at);
  at->follow.session = this;
  at->follow.self = at;
  named(at);
}

void FetchSession::named(Partitions::iterator partition) noexcept {
  if (privileged_) {
    mark_ready(partition);
  }
}

FetchSessionCache::FetchSessionCache(Limits limits, Prng prng) : limits_(limits), prng_(prng) {}

FetchSession* FetchSessionCache::find(std::int32_t id) noexcept {
  const auto it = sessions_.find(id);
  return it == sessions_.end() ? nullptr : it->second.get();
}

void FetchSessionCache::remove(std::int32_t id) noexcept {
  const auto it = sessions_.find(id);
  if (it != sessions_.end()) {
    partitions_ -= it->second->counted_;
    sessions_.erase(it);
  }
}

void FetchSessionCache::recount(FetchSession& session) noexcept {
  partitions_ += session.index_.size();
  partitions_ -= session.counted_;
  session.counted_ = session.index_.size();
}

FetchSessionCache::Opening FetchSessionCache::begin(const wire::FetchRequest& request, std::int16_t version,
                                                    Instant now) {
  Opening opening;
  if (request.session_epoch == kInitialSessionEpoch || request.session_epoch == kFinalSessionEpoch) {
    if (request.session_id != kNoSession) {
      remove(request.session_id);
    }
    opening.wants_session = request.session_epoch == kInitialSessionEpoch;
    return opening;
  }
  if (trial::happens(trial::Oddity::lost_fetch_session)) {
    remove(request.session_id);
  }
  FetchSession* session = find(request.session_id);
  if (session == nullptr) {
    opening.error = wire::ErrorCode::fetch_session_id_not_found;
    return opening;
  }
  if (session->epoch_ != request.session_epoch) {
    opening.error = wire::ErrorCode::invalid_fetch_session_epoch;
    return opening;
  }
  if (session->uses_topic_ids_ != (version >= 13)) {
    opening.error = wire::ErrorCode::fetch_session_topic_id_error;
    return opening;
  }
  for (const auto& topic : request.topics) {
    for (const auto& partition : topic.partitions) {
      FetchPartition wanted = to_fetch_partition(topic, partition, version);
      const auto known = session->index_.find(wanted.target);
      if (known != session->index_.end()) {
        if (!session->privileged_ || took_what_came(*known->second, wanted)) {
          wanted.told_high_watermark = known->second->told_high_watermark;
          wanted.told_log_start_offset = known->second->told_log_start_offset;
        }
        static_cast<FetchPartition&>(*known->second) = std::move(wanted);
        session->named(known->second);
        continue;
      }
      if (partitions_ + session->index_.size() - session->counted_ >= limits_.partitions) {
        // Bounded: the fetcher learns that its session is gone and opens another (or goes without).
        remove(request.session_id);
        opening.error = wire::ErrorCode::fetch_session_id_not_found;
        return opening;
      }
      FetchTarget key = wanted.target;
      session->add(std::move(key), std::move(wanted));
    }
  }
  for (const auto& topic : request.forgotten_topics_data) {
    for (const PartitionIndex partition : topic.partitions) {
      FetchTarget target;
      if (version >= 13) {
        target.topic_id = topic.topic_id;
      } else {
        target.topic = topic.topic;
      }
      target.partition = partition;
      const auto known = session->index_.find(target);
      if (known != session->index_.end()) {
        (known->second->ready ? session->ready_ : session->partitions_).erase(known->second);
        session->index_.erase(known);
      }
    }
  }
  recount(*session);
  if (session->index_.empty()) {
    remove(request.session_id);  // nothing left: served as a fetch without partitions
    return opening;
  }
  session->used_ = now;
  session->epoch_ = next_session_epoch(session->epoch_);
  opening.session = session;
  return opening;
}

bool FetchSessionCache::make_room(bool privileged, std::size_t size, Instant now) {
  // Rare: only when the cache is full. The victim is found by order, never by the order of the hash table.
  FetchSession* oldest = nullptr;
  FetchSession* cheapest = nullptr;
  const auto worth = [](const FetchSession& s) { return std::make_tuple(s.privileged_, s.counted_, s.id_); };
  for (const auto& [id, session] : sessions_) {
    FetchSession& s = *session;
    if (oldest == nullptr || std::make_pair(s.used_, s.id_) < std::make_pair(oldest->used_, oldest->id_)) {
      oldest = &s;
    }
    const bool old_enough = now - s.created_ > limits_.eviction_age;
    const bool evictable = old_enough || (privileged && !s.privileged_);
    if (evictable && (cheapest == nullptr || worth(s) < worth(*cheapest))) {
      cheapest = &s;
    }
  }
  FetchSession* victim = nullptr;
  if (oldest != nullptr && now - oldest->used_ > limits_.eviction_age) {
    victim = oldest;
  } else if (cheapest != nullptr &&
             std::make_pair(privileged, size) >= std::make_pair(cheapest->privileged_, cheapest->counted_)) {
    victim = cheapest;
  }
  if (victim == nullptr) {
    return false;
  }
  remove(victim->id_);
  ++evictions_;
  return true;
}

FetchSession* FetchSessionCache::create(std::vector<FetchPartition> partitions, bool privileged, bool uses_topic_ids,
                                        Instant now) {
  if (partitions.size() > limits_.partitions) {
    return nullptr;
  }
  while (sessions_.size() >= limits_.sessions || partitions_ + partitions.size() > limits_.partitions) {
    if (!make_room(privileged, partitions.size(), now)) {
      return nullptr;
    }
  }
  auto session = std::make_unique<FetchSession>();
  do {
    session->id_ = static_cast<std::int32_t>(prng_.between(1, std::numeric_limits<std::int32_t>::max()));
  } while (sessions_.contains(session->id_));
  session->epoch_ = next_session_epoch(kInitialSessionEpoch);
  session->privileged_ = privileged;
  session->uses_topic_ids_ = uses_topic_ids;
  session->created_ = now;
  session->used_ = now;
  for (FetchPartition& partition : partitions) {
    FetchTarget key = partition.target;
    const auto known = session->index_.find(key);
    if (known != session->index_.end()) {
      static_cast<FetchPartition&>(*known->second) = std::move(partition);
      continue;
    }
    session->add(std::move(key), std::move(partition));
  }
  recount(*session);
  FetchSession* result = session.get();
  sessions_.emplace(result->id_, std::move(session));
  return result;
}

}  // namespace hw::broker
