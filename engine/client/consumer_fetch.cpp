// SPDX-License-Identifier: Apache-2.0
// Fetching and handing out: sessions with brokers, chunks that wait, polls, and the handler's time.
#include <fmt/core.h>

#include <algorithm>

#include "engine/client/consumer_detail.h"
#include "engine/wire/msg/fetch.h"
#include "engine/wire/record/batch_builder.h"

namespace hw::client {

using wire::ErrorCode;

namespace {
constexpr std::int16_t kFetchByName = 12;
constexpr Duration kNearerFor = seconds(300);  // then the leader is asked again whom to read from, as after new metadata in Kafka

std::optional<Bytes> share(const wire::RecordIterator& records, const std::optional<ByteSpan>& view) {
  return view ? std::optional<Bytes>(records.share(*view)) : std::nullopt;
}
}  // namespace

// ---- out

// Whom to read from: the replica that the leader named, while it is good, or the leader. kNoBroker: not known yet.
BrokerId Consumer::source_of(const TopicPartition& key, Partition& partition, Instant now) const {
  const PartitionInfo* info = cluster_.metadata().partition(key.first, key.second);
  if (info == nullptr || info->leader == kNoBroker) {
    return kNoBroker;
  }
  if (partition.nearer != kNoBroker &&
      (now >= partition.nearer_until || cluster_.metadata().brokers.count(partition.nearer) == 0)) {
    partition.nearer = kNoBroker;
  }
  return partition.nearer != kNoBroker ? partition.nearer : info->leader;
}

void Consumer::fetch(Instant now, ConsumerOutputs& out) {
  if (state_ == State::closing || state_ == State::late || handed_out_ == config_.records_max ||
      buffered_ >= config_.prefetch_bytes_max) {
    return;
  }
  std::map<BrokerId, std::vector<TopicPartition>> wanted;
  for (auto& [key, partition] : partitions_) {
    if (partition.asked || partition.failed || partition.paused || partition.validate || partition.chunk != nullptr ||
        partition.state != Position::known || partition.not_before > now) {
      continue;
    }
    const BrokerId source = source_of(key, partition, now);
    if (source != kNoBroker && !sessions_[source].asking) {
      wanted[source].push_back(key);
    }
  }
  for (auto& [leader, list] : wanted) {
    // Another partition is first each time, so that none starves when the first ones fill the answer.
    std::rotate(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(next_token_ % list.size()), list.end());
    Session& session = sessions_[leader];
    // What was told of a partition went to somebody who had it before (and gave it back meanwhile, or began anew elsewhere): only a new
    // session tells the high watermark of an idle one again.
    const bool whole = session.epoch == 0 || std::any_of(list.begin(), list.end(), [&](const TopicPartition& key) {
      const auto known = session.entries.find(key);
      return known != session.entries.end() && known->second.life != partitions_.at(key).life;
    });
    if (whole) {
      session.epoch = 0;
      session.entries.clear();
    }
    wire::FetchRequest request;
    request.replica_id = kNoBroker;
    request.max_wait_ms = config_.max_wait_ms;
    request.min_bytes = config_.min_bytes;
    request.max_bytes = config_.fetch_bytes_max;
    request.isolation_level = config_.read_committed ? 1 : 0;
    request.session_id = session.id;
    request.session_epoch = session.epoch;
    request.rack_id = config_.client_rack;
    bool by_name = false;
    std::vector<Asked> asked;
    std::map<TopicPartition, Session::Entry> entries;
    for (const TopicPartition& key : list) {
      Partition& partition = partitions_.at(key);
      const TopicInfo* topic = cluster_.metadata().topic(key.first);
      const LeaderEpoch epoch = topic->partitions[static_cast<std::size_t>(key.second)].leader_epoch;
      by_name = by_name || topic->id == Uuid{};
      partition.asked = true;
      asked.push_back({key, partition.life, partition.position});
      const Session::Entry entry{topic->id, partition.position, epoch, partition.life};
      entries[key] = entry;
      const auto known = session.entries.find(key);
      if (known != session.entries.end() && known->second == entry) {
        continue;  // the broker remembers it
      }
      if (request.topics.empty() || request.topics.back().topic != key.first) {
        request.topics.emplace_back();
        request.topics.back().topic = key.first;
        request.topics.back().topic_id = topic->id;
      }
      auto& at = request.topics.back().partitions.emplace_back();
      at.partition = PartitionIndex(key.second);
      at.current_leader_epoch = epoch;
      at.fetch_offset = Offset(partition.position);
      at.partition_max_bytes = config_.partition_bytes_max;
    }
    for (const auto& [key, entry] : session.entries) {
      const auto still = entries.find(key);
      if (still != entries.end() && still->second.topic_id == entry.topic_id) {
        continue;
      }
      if (request.forgotten_topics_data.empty() || request.forgotten_topics_data.back().topic != key.first) {
        request.forgotten_topics_data.emplace_back();
        request.forgotten_topics_data.back().topic = key.first;
        request.forgotten_topics_data.back().topic_id = entry.topic_id;
      }
      request.forgotten_topics_data.back().partitions.emplace_back(key.second);
    }
    session.entries = std::move(entries);
    session.asking = true;
    const Duration allowed = config_.cluster.request_timeout + milliseconds(config_.max_wait_ms);
    ask(Ask::fetch, leader, Lane::fetch, std::move(request), 0,
        by_name ? kFetchByName : wire::FetchRequest::kHighestVersion, now + allowed, std::move(asked), now, out);
  }
}

// ---- in

void Consumer::take_fetch(const Answer& answer, const Pending& pending, Instant now, ConsumerOutputs& out) {
  Session& session = sessions_[pending.broker];
  session.asking = false;
  std::map<TopicPartition, const Asked*> asked_of;
  for (const Asked& asked : pending.partitions) {
    if (Partition* partition = live(asked)) {
      partition->asked = false;
      asked_of[asked.partition] = &asked;
    }
  }
  const auto all_later = [&](std::string why) {
    session.id = session.epoch = 0;
    for (const auto& [key, asked] : asked_of) {
      Partition& partition = partitions_.at(key);
      if (partition.nearer == pending.broker) {
        partition.nearer = kNoBroker;  // the leader has it too
      }
      later(partition, now);
    }
    if (!asked_of.empty()) {
      trouble(std::move(why), out);
    }
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
  switch (response.error_code) {
    case ErrorCode::none:
      break;
    case ErrorCode::fetch_session_id_not_found:  // the broker has given its place to another; begin anew, with all
    case ErrorCode::invalid_fetch_session_epoch:
    case ErrorCode::fetch_session_topic_id_error:
      session.id = session.epoch = 0;
      return;
    default:
      all_later(describe(response.error_code));
      return;
  }
  session.id = response.session_id;
  session.epoch = session.id == 0                                                 ? 0
                  : session.epoch == std::numeric_limits<std::int32_t>::max() ? 1
                                                                                  : session.epoch + 1;
  if (state_ == State::closing || state_ == State::late) {
    return;
  }
  std::map<Uuid, std::string> names;
  if (answer.version > kFetchByName) {
    for (const auto& [key, entry] : session.entries) {
      names[entry.topic_id] = key.first;
    }
  }
  for (auto& topic : response.responses) {
    const std::string& name = answer.version > kFetchByName ? names[topic.topic_id] : topic.topic;
    for (auto& result : topic.partitions) {
      const auto found = asked_of.find({name, result.partition_index.value()});
      if (found == asked_of.end()) {
        continue;
      }
      take_fetched(pending.broker, found->first, partitions_.at(found->first), result, now, out);
      if (state_ == State::closed) {
        return;
      }
    }
  }
}

template <class R>
void Consumer::take_fetched(BrokerId from, const TopicPartition& key, Partition& partition, R& result, Instant now,
                            ConsumerOutputs& out) {
  if (result.error_code != ErrorCode::none && partition.nearer == from) {
    // A follower may be behind or gone: what it says of the log does not count, the leader is asked.
    partition.nearer = kNoBroker;
    if (wants_fresh_metadata(result.error_code)) {
      cluster_.refresh();
    }
    return;
  }
  if (result.error_code == ErrorCode::none && result.preferred_read_replica != kNoBroker &&
      result.preferred_read_replica != from && (!result.records || result.records->empty())) {
    partition.nearer = result.preferred_read_replica;
    partition.nearer_until = now + kNearerFor;
    partition.failures = 0;
    return;  // it sent no records for that reason
  }
  if (result.error_code == ErrorCode::offset_out_of_range) {
    const std::int64_t was = partition.position;
    const std::string why = fmt::format("topic '{}' partition {}: offset {} is not in the log any more", key.first, key.second, was);
    if (reset(partition, why, now, out)) {
      trouble(fmt::format("{}, going on at the {}", why,
                          config_.reset == OffsetReset::earliest ? "earliest"
                          : config_.reset == OffsetReset::latest ? "latest"
                                                                 : "first of the time configured"),
              out);
    }
    return;
  }
  if (result.error_code != ErrorCode::none) {
    later(partition, now);
    const std::string why =
        fmt::format("topic '{}' partition {}: {}", key.first, key.second, describe(result.error_code));
    if (wants_fresh_metadata(result.error_code)) {
      if (result.current_leader.leader_id != kNoBroker) {  // KIP-951: it says who leads now
        cluster_.learn_leader(key.first, key.second, result.current_leader.leader_id, result.current_leader.leader_epoch);
      }
      cluster_.refresh();
      passing_trouble(partition.failures, why, out);
    } else {
      trouble(why, out);
    }
    return;
  }
  partition.failures = 0;
  partition.high_watermark = config_.read_committed ? result.last_stable_offset.value() : result.high_watermark;
  if (!result.records || result.records->empty()) {
    if (partition.position < partition.high_watermark) {
      partition.at_end = false;
    } else if (!partition.at_end) {
      partition.at_end = true;
      out.events.push_back({ConsumerEvent::Kind::reached_end, {key}, {}, false, {}});
    }
    return;
  }
  auto chunk = std::make_unique<Chunk>();
  chunk->bytes = result.records->flatten();
  if (result.aborted_transactions) {
    for (const auto& transaction : *result.aborted_transactions) {
      chunk->aborted.emplace_back(transaction.first_offset.value(), transaction.producer_id.value());
    }
    std::sort(chunk->aborted.begin(), chunk->aborted.end());
  }
  buffered_ += chunk->bytes.size();
  partition.chunk = std::move(chunk);
}

// ---- handing out

bool Consumer::polls() const noexcept {
  return config_.handler_delay.ns > 0 ||
         (grouped() && (config_.commit_mode == CommitMode::after_work || config_.commit_mode == CommitMode::before_work));
}

// The next batch of the chunk; false where there is none, or where it cannot be read.
bool Consumer::open_batch(const TopicPartition& key, Partition& partition, Instant now, ConsumerOutputs& out) {
  Chunk& chunk = *partition.chunk;
  const auto complain = [&](const std::string& why) {
    later(partition, now);
    trouble(fmt::format("topic '{}' partition {}: {}", key.first, key.second, why), out);
    return false;
  };
  wire::BatchCursor cursor(chunk.bytes.span().subspan(chunk.at));
  for (wire::BatchView batch; cursor.next(batch);) {
    const std::size_t at = chunk.at;
    chunk.at += batch.size();
    if (batch.last_offset().value() < partition.position) {
      continue;
    }
    if (!batch.crc_ok()) {
      return complain(fmt::format("the batch at offset {} is damaged (CRC)", batch.base_offset().value()));
    }
    for (; chunk.next_aborted < chunk.aborted.size() &&
           chunk.aborted[chunk.next_aborted].first <= batch.last_offset().value();
         ++chunk.next_aborted) {
      chunk.discarding.insert(chunk.aborted[chunk.next_aborted].second);
    }
    const bool skip = config_.read_committed && batch.transactional() && !batch.control() &&
                      chunk.discarding.contains(batch.producer_id().value());
    if (skip) {
      partition.position = batch.next_offset().value();
      partition.epoch = batch.leader_epoch();
      continue;
    }
    Result<wire::RecordIterator> records = wire::RecordIterator::open(chunk.bytes.slice(at, batch.size()));
    if (!records) {
      return complain(
          fmt::format("the batch at offset {} cannot be read: {}", batch.base_offset().value(), records.error().detail));
    }
    chunk.records = std::move(*records);
    return true;
  }
  if (cursor.status() == wire::BatchStatus::corrupt || cursor.status() == wire::BatchStatus::old_magic) {
    return complain(cursor.problem());
  }
  last_trouble_.clear();
  return false;
}

void Consumer::read(const TopicPartition& key, Partition& partition, std::size_t limit,
                    std::vector<ConsumedRecord>& records, Instant now, ConsumerOutputs& out) {
  std::shared_ptr<const std::string>& name = names_[key.first];
  if (name == nullptr) {
    name = std::make_shared<const std::string>(key.first);
  }
  const auto drop = [&] {
    buffered_ -= partition.chunk->bytes.size();
    partition.chunk.reset();
  };
  while (records.size() < limit) {
    Chunk& chunk = *partition.chunk;
    if (!chunk.records && !open_batch(key, partition, now, out)) {
      drop();
      return;
    }
    wire::RecordIterator& batch = *chunk.records;
    wire::RecordView record;
    if (!batch.next(record)) {
      if (batch.failed()) {  // what came before the bad record was handed out; the position stays in front of it
        later(partition, now);
        trouble(fmt::format("topic '{}' partition {}: {}", key.first, key.second, batch.problem()), out);
        drop();
        return;
      }
      partition.position = batch.batch().next_offset().value();
      partition.epoch = batch.batch().leader_epoch();
      chunk.records.reset();
      continue;
    }
    if (batch.batch().control()) {
      if (wire::parse_control_key(record.key) == wire::ControlType::abort) {
        chunk.discarding.erase(batch.batch().producer_id().value());
      }
      continue;
    }
    if (record.offset.value() < partition.position) {
      continue;
    }
    ConsumedRecord& made = records.emplace_back();
    made.topic = name;
    made.partition = key.second;
    made.offset = record.offset.value();
    made.timestamp_ms = record.timestamp_ms;
    made.log_append_time = batch.batch().timestamp_type() == wire::TimestampType::log_append_time;
    made.key = share(batch, record.key);
    made.value = share(batch, record.value);
    wire::HeaderCursor headers = record.headers();
    for (wire::HeaderView header; headers.next(header);) {
      made.headers.emplace_back(std::string(header.key), share(batch, header.value));
    }
    partition.position = record.offset.value() + 1;
    partition.epoch = batch.batch().leader_epoch();
  }
  // The limit is reached; where that was the last record of all, nothing waits any more.
  Chunk& chunk = *partition.chunk;
  if (chunk.records) {
    wire::RecordIterator rest = *chunk.records;
    wire::RecordView record;
    if (!rest.next(record) && !rest.failed()) {
      partition.position = rest.batch().next_offset().value();
      chunk.records.reset();
    }
  }
  if (!chunk.records && chunk.at == chunk.bytes.size()) {
    drop();
  }
}

void Consumer::poll(Instant now, ConsumerOutputs& out) {
  if (busy_ || waits_for_commit_ || state_ == State::closing || state_ == State::late) {
    return;
  }
  polled_at_ = now;
  if (!held_.empty()) {  // committed meanwhile
    hand_out(held_, now, out);
    return;
  }
  if (buffered_ == 0) {
    return;
  }
  std::vector<ConsumedRecord> records;
  std::vector<ConsumedRecord>& into = polls() ? records : out.records;
  const std::size_t before = into.size();
  std::int64_t count = config_.records_max - handed_out_;
  if (polls()) {
    count = std::min(count, static_cast<std::int64_t>(config_.max_poll_records));
  }
  const std::size_t room = std::numeric_limits<std::size_t>::max() - before;
  const std::size_t limit = before + std::min(static_cast<std::size_t>(count), room);
  ConsumerEvent ends;
  ends.kind = ConsumerEvent::Kind::reached_end;
  for (auto& [key, partition] : partitions_) {
    if (partition.chunk == nullptr || partition.paused) {
      continue;
    }
    if (into.size() >= limit) {
      break;
    }
    read(key, partition, limit, into, now, out);
    const bool at_end = partition.chunk == nullptr && partition.position >= partition.high_watermark;
    if (at_end && !partition.at_end) {
      ends.partitions.push_back(key);
    }
    partition.at_end = at_end;
  }
  if (polls() && !records.empty()) {
    handed_out_ += static_cast<std::int64_t>(records.size());
    if (grouped() && config_.commit_mode == CommitMode::before_work) {
      held_ = std::move(records);
      waits_for_commit_ = true;
      send_commit(now, out);
    } else {
      hand_out(records, now, out);
    }
  } else {
    handed_out_ += static_cast<std::int64_t>(into.size() - before);
  }
  if (!ends.partitions.empty()) {
    out.events.push_back(std::move(ends));
  }
}

// From here on the handler works.
void Consumer::hand_out(std::vector<ConsumedRecord>& records, Instant now, ConsumerOutputs& out) {
  const auto count = static_cast<std::int64_t>(records.size());
  busy_ = true;
  busy_until_ = now + Duration{config_.handler_delay.ns * count};
  for (ConsumedRecord& record : records) {
    out.records.push_back(std::move(record));
  }
  records.clear();
}

// The handler is through with what the last poll gave it.
void Consumer::end_work(Instant now, ConsumerOutputs& out) {
  if (busy_ && busy_until_ <= now) {
    busy_ = false;
    polled_at_ = now;
    waits_for_commit_ = grouped() && config_.commit_mode == CommitMode::after_work;
    if (state_ == State::late) {
      if (waits_for_commit_) {
        send_commit(now, out);  // in the name of who it was: the group refuses it
      }
      generation_ = -1;
      waits_for_commit_ = false;
      if (!config_.group_instance_id) {
        forget_member_id();
      }
      revoke_all(true, out);
      state_ = State::joining;
      group_not_before_ = std::min(group_not_before_, now);
    }
  }
  if (waits_for_commit_ && !commit_asked_ && state_ != State::closing) {
    if (member()) {
      if (state_ == State::stable && !commit_after_join_) {
        send_commit(now, out);
      }
    } else if (coordinator_ != kNoBroker) {
      waits_for_commit_ = false;  // no member any more: there is nothing to wait for
      held_.clear();
    }
  }
}

}  // namespace hw::client
