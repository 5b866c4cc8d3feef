// SPDX-License-Identifier: Apache-2.0
#include "engine/broker/replica_fetcher.h"

#include <algorithm>

namespace hw::broker {

namespace {

using wire::ErrorCode;
using Stage = Following::Stage;

constexpr Duration kFirstBackoff = milliseconds(10);
constexpr std::int64_t kLatest = -1;
constexpr std::int64_t kEarliest = -2;

bool usable(const Partition& partition) noexcept {
  return partition.log() != nullptr && !partition.log()->offline();
}

}  // namespace

Following* ReplicaFetcher::find(const Uuid& topic, PartitionIndex partition) noexcept {
  const auto known = topics_.find(topic);
  if (known == topics_.end() || partition.value() < 0 ||
      static_cast<std::size_t>(partition.value()) >= known->second.size()) {
    return nullptr;
  }
  return known->second[static_cast<std::size_t>(partition.value())].get();
}

Instant ReplicaFetcher::backoff(std::int32_t failures, Instant now) const noexcept {
  constexpr std::int32_t kDoublings = 10;
  return now + std::min(kFirstBackoff * (std::int64_t{1} << std::min(failures, kDoublings)), options_.backoff_max);
}

// ---- which partitions

void ReplicaFetcher::follow(Partition& partition, Instant /*now*/) {
  auto& slots = topics_[partition.topic().id];
  const auto at = static_cast<std::size_t>(partition.index().value());
  if (slots.size() <= at) {
    slots.resize(at + 1);
  }
  if (slots[at] != nullptr) {
    unfollow(*slots[at]);
  }
  auto& here = topics_[partition.topic().id];  // unfollow() may have dropped an empty topic
  if (here.size() <= at) {
    here.resize(at + 1);
  }
  here[at] = std::make_unique<Following>(partition, *this);
  Following& following = *here[at];
  following.epoch = partition.leader_epoch();
  partition.following = &following;
  all_.add(following, following.all_at);
  ++size_;
  ++fetching_;
  changed(following);
}

void ReplicaFetcher::unfollow(Following& following) {
  const Uuid topic = following.partition->topic().id;
  const PartitionIndex index = following.partition->index();
  leave_session(following);
  stop_waiting(following);
  asking_.remove(following.asking_at);
  all_.remove(following.all_at);
  if (following.stage == Stage::fetching) {
    --fetching_;
  }
  --size_;
  following.partition->following = nullptr;
  auto& slots = topics_[topic];
  slots[static_cast<std::size_t>(index.value())].reset();
  if (std::all_of(slots.begin(), slots.end(), [](const auto& slot) { return slot == nullptr; })) {
    topics_.erase(topic);
  }
}

void ReplicaFetcher::changed(Following& following) { changed_.add(following, following.changed_at); }

void ReplicaFetcher::leave_session(Following& following) {
  changed_.remove(following.changed_at);
  if (following.in_session) {
    following.in_session = false;
    if (session_id_ != kNoSession || flight_ == Flight::fetch) {
      forgotten_.emplace(following.partition->topic().id, following.partition->index());
    }
  }
}

void ReplicaFetcher::stop_waiting(Following& following) {
  if (following.stage == Stage::waiting) {
    waiting_.erase({following.retry_at, following.order, &following});
  }
}

void ReplicaFetcher::wait(Following& following, Instant now) {
  leave_session(following);
  if (following.stage == Stage::fetching) {
    --fetching_;
  }
  asking_.remove(following.asking_at);
  following.stage = Stage::waiting;
  following.retry_at = backoff(following.failures++, now);
  following.order = ++waits_;
  waiting_.emplace(following.retry_at, following.order, &following);
}

void ReplicaFetcher::fail(Following& following) {
  leave_session(following);
  if (following.stage == Stage::fetching) {
    --fetching_;
  }
  asking_.remove(following.asking_at);
  following.stage = Stage::failed;
}

void ReplicaFetcher::disk_refused(Following& following, Instant now) {
  if (usable(*following.partition)) {
    wait(following, now);  // it may have room again
  } else {
    fail(following);
  }
}

void ReplicaFetcher::ask(Following& following, Stage stage) {
  leave_session(following);
  if (following.stage == Stage::fetching) {
    --fetching_;
  }
  following.stage = stage;
  asking_.add(following, following.asking_at);
}

void ReplicaFetcher::resume(Following& following) {
  asking_.remove(following.asking_at);
  following.stage = Stage::fetching;
  ++fetching_;
  changed(following);
}

void ReplicaFetcher::log_flushed(Following& following) {
  const log::PartitionLog* log = following.partition->log();
  if (following.stage == Stage::settling &&
      (!usable(*following.partition) || log->settled_end() >= log->log_end_offset())) {
    resume(following);
  }
}

// ---- requests

void ReplicaFetcher::forget_session(bool known_to_leader) {
  if (!known_to_leader) {
    session_id_ = kNoSession;
  }
  session_epoch_ = kInitialSessionEpoch;
  forgotten_.clear();
  for (std::size_t i = 0; i < all_.end(); ++i) {
    if (all_[i] != nullptr) {
      all_[i]->in_session = false;
    }
  }
}

bool ReplicaFetcher::send(std::uint64_t id, std::int64_t broker_epoch, Now now, PeerRequests& out) {
  if (flight_ != Flight::none || now.instant < retry_at_) {
    return false;
  }
  while (!waiting_.empty() && std::get<0>(*waiting_.begin()) <= now.instant) {
    Following& following = *std::get<2>(*waiting_.begin());
    waiting_.erase(waiting_.begin());
    resume(following);
  }
  if (!asking_.empty()) {
    PeerListOffsets& list = out.peer_list_offsets.emplace_back();
    list.leader = leader_;
    list.fetcher = index_;
    list.id = id;
    send_list(list);
    flight_ = Flight::list;
    in_flight_ = id;
    return true;
  }
  if (fetching_ == 0) {
    return false;
  }
  PeerFetch& fetch = out.peer_fetches.emplace_back();
  fetch.leader = leader_;
  fetch.fetcher = index_;
  fetch.id = id;
  send_fetch(broker_epoch, fetch);
  flight_ = Flight::fetch;
  in_flight_ = id;
  return true;
}

void ReplicaFetcher::send_fetch(std::int64_t broker_epoch, PeerFetch& out) {
  out.version = wire::FetchRequest::kHighestVersion;
  wire::FetchRequest& request = out.request;
  request.replica_state.replica_id = options_.self;
  request.replica_state.replica_epoch = broker_epoch;
  request.max_wait_ms = static_cast<std::int32_t>(options_.wait_max.ms());
  request.min_bytes = options_.min_bytes;
  request.max_bytes = options_.response_max_bytes;
  request.session_id = session_id_;
  request.session_epoch = session_epoch_;
  full_ = session_epoch_ == kInitialSessionEpoch;
  const StableList<Following>& named = full_ ? all_ : changed_;
  if (full_) {
    forgotten_.clear();
  }
  for (std::size_t i = 0; i < named.end(); ++i) {
    if (named[i] != nullptr && named[i]->stage == Stage::fetching) {
      name(*named[i], request);
    }
  }
  for (const auto& [topic, partition] : forgotten_) {
    if (request.forgotten_topics_data.empty() || request.forgotten_topics_data.back().topic_id != topic) {
      request.forgotten_topics_data.emplace_back().topic_id = topic;
    }
    request.forgotten_topics_data.back().partitions.push_back(partition);
  }
  forgotten_.clear();
}

void ReplicaFetcher::name(Following& following, wire::FetchRequest& request) {
  changed_.remove(following.changed_at);
  const Partition& partition = *following.partition;
  if (!usable(partition)) {
    fail(following);
    return;
  }
  const log::PartitionLog& log = *partition.log();
  if (request.topics.empty() || request.topics.back().topic_id != partition.topic().id) {
    request.topics.emplace_back().topic_id = partition.topic().id;
  }
  auto& entry = request.topics.back().partitions.emplace_back();
  entry.partition = partition.index();
  entry.current_leader_epoch = following.epoch;
  entry.fetch_offset = log.log_end_offset();
  entry.last_fetched_epoch = log.latest_epoch();
  entry.log_start_offset = log.log_start_offset();
  entry.partition_max_bytes = options_.partition_max_bytes;
  following.sent_offset = entry.fetch_offset;
  following.sent_epoch = following.epoch;
  following.in_session = true;
  forgotten_.erase({partition.topic().id, partition.index()});
}

void ReplicaFetcher::send_list(PeerListOffsets& out) {
  out.version = wire::ListOffsetsRequest::kHighestVersion;
  out.request.replica_id = options_.self;
  std::size_t count = 0;
  for (std::size_t i = 0; i < asking_.end() && count < kListMost; ++i) {
    const Following* following = asking_[i];
    if (following == nullptr) {
      continue;
    }
    ++count;
    const Partition& partition = *following->partition;
    if (out.request.topics.empty() || out.request.topics.back().name != partition.topic().name) {
      out.request.topics.emplace_back().name = partition.topic().name;
    }
    auto& entry = out.request.topics.back().partitions.emplace_back();
    entry.partition_index = partition.index();
    entry.current_leader_epoch = following->epoch;
    entry.timestamp = following->stage == Stage::ask_end ? kLatest : kEarliest;
  }
}

// ---- answers

void ReplicaFetcher::failed(Now now) {
  const bool was_fetch = flight_ == Flight::fetch;
  flight_ = Flight::none;
  in_flight_ = 0;
  retry_at_ = backoff(failures_++, now.instant);
  if (was_fetch) {
    forget_session(true);  // whether the leader saw the request is not known: the next one names everything and closes the old
  }
}

void ReplicaFetcher::fetched(wire::FetchResponse&& response, Now now, std::vector<Partition*>& moved) {
  if (flight_ != Flight::fetch) {
    failed(now);
    return;
  }
  flight_ = Flight::none;
  in_flight_ = 0;
  if (response.error_code != ErrorCode::none) {
    // Usually only the session has gone, and a new one is opened at once.
    forget_session(response.error_code != ErrorCode::fetch_session_id_not_found);
    retry_at_ = failures_ == 0 ? now.instant : backoff(failures_, now.instant);
    ++failures_;
    return;
  }
  failures_ = 0;
  if (full_) {
    session_id_ = response.session_id;
    session_epoch_ = session_id_ == kNoSession ? kInitialSessionEpoch : next_session_epoch(kInitialSessionEpoch);
  } else if (response.session_id == session_id_) {
    session_epoch_ = next_session_epoch(session_epoch_);
  } else {
    forget_session(false);
  }
  for (auto& topic : response.responses) {
    for (auto& data : topic.partitions) {
      Following* following = find(topic.topic_id, data.partition_index);
      if (following == nullptr || following->stage != Stage::fetching || following->sent_epoch != following->epoch) {
        continue;
      }
      if (!usable(*following->partition)) {
        fail(*following);
        continue;
      }
      if (following->sent_offset != following->partition->log()->log_end_offset()) {
        changed(*following);
        continue;
      }
      take(*following, data, now, moved);
    }
  }
}

void ReplicaFetcher::take(Following& following, wire::FetchResponse::PartitionData& data, Now now,
                          std::vector<Partition*>& moved) {
  Partition& partition = *following.partition;
  log::PartitionLog& log = *partition.log();
  if (data.error_code == ErrorCode::offset_out_of_range) {
    ask(following, Stage::ask_end);
    return;
  }
  if (data.error_code != ErrorCode::none) {
    wait(following, now.instant);
    return;
  }
  if (data.diverging_epoch.epoch >= 0 || data.diverging_epoch.end_offset != kNoOffset) {
    if (!partition.truncate_to_divergence(LeaderEpoch(data.diverging_epoch.epoch), data.diverging_epoch.end_offset)) {
      disk_refused(following, now.instant);
      return;
    }
    changed(following);
    return;
  }
  const Offset start_before = log.log_start_offset();
  Bytes records = data.records.has_value() ? data.records->flatten() : Bytes{};
  const bool came = !records.empty();
  const auto size = static_cast<std::int64_t>(records.size());
  bool more = false;
  const log::AppendOutcome outcome = partition.append_from_leader(std::move(records), Offset(data.high_watermark),
                                                                  data.log_start_offset, now.wall, more);
  if (more) {
    moved.push_back(&partition);
  }
  if (outcome.error == ErrorCode::kafka_storage_error) {
    disk_refused(following, now.instant);
    return;
  }
  // Damaged on the way, or not one whole batch: asked for again.
  if (outcome.error != ErrorCode::none || (came && log.log_end_offset() == following.sent_offset)) {
    wait(following, now.instant);
    return;
  }
  following.failures = 0;
  if (log.settled_end() < log.log_end_offset()) {
    leave_session(following);
    --fetching_;
    following.stage = Stage::settling;
  } else if (came || log.log_start_offset() != start_before) {
    changed(following);
  }
  if (came) {
    partition.note_replicated(following.sent_offset, size);
  }
}

void ReplicaFetcher::offsets_listed(const wire::ListOffsetsResponse& response, Now now) {
  if (flight_ != Flight::list) {
    failed(now);
    return;
  }
  flight_ = Flight::none;
  in_flight_ = 0;
  failures_ = 0;
  std::map<std::pair<std::string_view, PartitionIndex>, const wire::ListOffsetsResponse::ListOffsetsPartitionResponse*>
      answers;
  for (const auto& topic : response.topics) {
    for (const auto& partition : topic.partitions) {
      answers.insert_or_assign({topic.name, partition.partition_index}, &partition);
    }
  }
  std::size_t count = 0;
  for (std::size_t i = 0; i < asking_.end() && count < kListMost; ++i) {
    Following* following = asking_[i];
    if (following == nullptr) {
      continue;
    }
    ++count;
    const auto answer = answers.find({following->partition->topic().name, following->partition->index()});
    if (answer != answers.end()) {
      listed(*following, *answer->second, now);
    }
  }
}

void ReplicaFetcher::listed(Following& following,
                            const wire::ListOffsetsResponse::ListOffsetsPartitionResponse& answer, Now now) {
  Partition& partition = *following.partition;
  if (!usable(partition)) {
    fail(following);
    return;
  }
  if (answer.error_code != ErrorCode::none || answer.offset < Offset(0)) {
    wait(following, now.instant);
    return;
  }
  const Offset end = partition.log()->log_end_offset();
  if (following.stage == Stage::ask_end && answer.offset >= end) {
    following.stage = Stage::ask_start;  // it is not that the leader has less: so its log begins further on
    return;
  }
  Result<void> done;
  if (following.stage == Stage::ask_end) {
    done = partition.truncate_to(answer.offset, event::TruncationCause::out_of_range);
  } else if (answer.offset > end) {
    done = partition.restart_at(answer.offset);
  }
  if (!done) {
    disk_refused(following, now.instant);
    return;
  }
  resume(following);
}

Instant ReplicaFetcher::next_deadline() const noexcept {
  if (flight_ != Flight::none) {
    return kNever;
  }
  if (fetching_ > 0 || !asking_.empty()) {
    return retry_at_;
  }
  return waiting_.empty() ? kNever : std::max(retry_at_, std::get<0>(*waiting_.begin()));
}

// ---- all fetchers

void FetcherSet::follow(Partition& partition, Instant now) {
  const std::int32_t index =
      partition.index().value() % std::max(options_.fetchers, 1);  // spreads the partitions of each topic
  auto& fetcher = all_[{partition.leader(), index}];
  if (fetcher == nullptr) {
    fetcher = std::make_unique<ReplicaFetcher>(options_, partition.leader(), index);
  }
  ReplicaFetcher& by = *fetcher;
  if (partition.following != nullptr && partition.following->fetcher != &by) {
    unfollow(partition);
  }
  by.follow(partition, now);
}

void FetcherSet::unfollow(Partition& partition) {
  if (partition.following == nullptr) {
    return;
  }
  ReplicaFetcher* fetcher = partition.following->fetcher;
  fetcher->unfollow(*partition.following);
  drop_idle(*fetcher);
}

void FetcherSet::log_flushed(Partition& partition) {
  if (partition.following != nullptr) {
    partition.following->fetcher->log_flushed(*partition.following);
  }
}

void FetcherSet::send(std::int64_t broker_epoch, Now now, PeerRequests& out) {
  for (auto& [key, fetcher] : all_) {
    if (fetcher->send(last_id_ + 1, broker_epoch, now, out)) {
      ++last_id_;
    }
  }
}

ReplicaFetcher* FetcherSet::waiting_for(std::uint64_t id) noexcept {
  for (auto& [key, fetcher] : all_) {
    if (id != 0 && fetcher->in_flight() == id) {
      return fetcher.get();
    }
  }
  return nullptr;
}

void FetcherSet::fetched(std::uint64_t id, wire::FetchResponse&& response, Now now, std::vector<Partition*>& moved) {
  if (ReplicaFetcher* fetcher = waiting_for(id)) {
    fetcher->fetched(std::move(response), now, moved);
    drop_idle(*fetcher);
  }
}

void FetcherSet::offsets_listed(std::uint64_t id, const wire::ListOffsetsResponse& response, Now now) {
  if (ReplicaFetcher* fetcher = waiting_for(id)) {
    fetcher->offsets_listed(response, now);
    drop_idle(*fetcher);
  }
}

void FetcherSet::failed(std::uint64_t id, Now now) {
  if (ReplicaFetcher* fetcher = waiting_for(id)) {
    fetcher->failed(now);
    drop_idle(*fetcher);
  }
}

void FetcherSet::drop_idle(const ReplicaFetcher& fetcher) {
  if (fetcher.size() == 0 && fetcher.in_flight() == 0) {
    std::erase_if(all_, [&](const auto& entry) { return entry.second.get() == &fetcher; });
  }
}

Instant FetcherSet::next_deadline() const noexcept {
  Instant first = kNever;
  for (const auto& [key, fetcher] : all_) {
    first = std::min(first, fetcher->next_deadline());
  }
  return first;
}

}  // namespace hw::broker
