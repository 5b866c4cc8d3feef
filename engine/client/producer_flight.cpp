// SPDX-License-Identifier: Apache-2.0
// Batches under way: requests out, answers in, what is tried again, and sequences kept whole.
#include <fmt/core.h>

#include <algorithm>

#include "engine/client/producer.h"
#include "engine/wire/msg/init_producer_id.h"
#include "engine/wire/msg/produce.h"
#include "engine/wire/record/crc32c.h"
#include "engine/wire/record/record_iterator.h"

namespace hw::client {

using wire::ErrorCode;

namespace {
constexpr std::int16_t kProduceByName = 12;  // from 13 on topics are addressed by id
constexpr std::uint32_t kSequenceMask = 0x7fffffffU;
// Where a sealed batch holds what is written anew; all of it is under the CRC.
constexpr std::size_t kCrcAt = 17;
constexpr std::size_t kProducerIdAt = 43;
constexpr std::size_t kProducerEpochAt = 51;
constexpr std::size_t kBaseSequenceAt = 53;

std::int32_t sequence_after(std::int32_t sequence, std::size_t count) noexcept {
  return static_cast<std::int32_t>((static_cast<std::uint32_t>(sequence) + static_cast<std::uint32_t>(count)) & kSequenceMask);
}

Bytes with_sequence(const Bytes& batch, ProducerId id, ProducerEpoch epoch, std::int32_t sequence) {
  Bytes made = Bytes::copy_of(batch.span());  // the old one may still be on its way to a socket
  std::byte* const at = made.unique_data();
  wire::store_u64(at + kProducerIdAt, static_cast<std::uint64_t>(id.value()));
  wire::store_u16(at + kProducerEpochAt, static_cast<std::uint16_t>(epoch.value()));
  wire::store_u32(at + kBaseSequenceAt, static_cast<std::uint32_t>(sequence));
  wire::store_u32(at + kCrcAt, wire::crc32c(made.span().subspan(wire::kCrcCoverageStart)));
  return made;
}

// What a broker says before it writes anything. Other errors it also gives to a batch that it has written, and that had to wait for the
// other replicas: the leader changed meanwhile, the time was up.
bool refused_unwritten(ErrorCode error) noexcept {
  switch (error) {
    case ErrorCode::out_of_order_sequence_number:
    case ErrorCode::unknown_producer_id:
    case ErrorCode::invalid_producer_epoch:
    case ErrorCode::invalid_producer_id_mapping:
    case ErrorCode::message_too_large:
    case ErrorCode::record_list_too_large:
    case ErrorCode::corrupt_message:
    case ErrorCode::invalid_record:
    case ErrorCode::invalid_timestamp:
    case ErrorCode::invalid_topic_exception:
    case ErrorCode::invalid_required_acks:
    case ErrorCode::not_enough_replicas:
    case ErrorCode::unknown_topic_id:
    case ErrorCode::inconsistent_topic_id:
    case ErrorCode::topic_authorization_failed:
    case ErrorCode::cluster_authorization_failed:
    case ErrorCode::unsupported_compression_type:
    case ErrorCode::unsupported_for_message_format:
      return true;
    default:
      return false;
  }
}
}  // namespace

// ---- sequences

void Producer::seal(Partition& partition, Batch& batch) {
  batch.closed = true;
  if (!batch.bytes.empty()) {
    return;
  }
  if (config_.idempotent) {
    if (partition.generation != generation_) {
      partition.generation = generation_;
      partition.next_sequence = 0;
    }
    wire::BatchOptions& options = batch.builder.options();
    options.producer_id = producer_id_;
    options.producer_epoch = producer_epoch_;
    options.base_sequence = batch.sequence = partition.next_sequence;
    batch.generation = generation_;
    batch.place = partition.next_place++;
    partition.next_sequence = sequence_after(partition.next_sequence, batch.marks.size());
  }
  batch.bytes = batch.builder.finish();
}

void Producer::mend_sequences(Partition& partition, const Batch& batch) {
  if (!config_.idempotent || batch.sequence < 0 || partition.renumber) {
    return;
  }
  const bool maybe_there = batch.maybe_there || batch.flying;
  const bool last = batch.generation == partition.generation &&
                    sequence_after(batch.sequence, batch.marks.size()) == partition.next_sequence;
  if (last && !maybe_there) {
    partition.next_sequence = batch.sequence;  // the next batch takes its place
    return;
  }
  // What was sent behind it may have arrived and keeps its sequence: the broker's answer to the first of them tells the fate of both.
  // Either it follows, or it is out of order, and then the broker has neither.
  const bool next_tells = std::any_of(partition.queue.begin(), partition.queue.end(), [&](const std::unique_ptr<Batch>& other) {
    return other->sequence >= 0 && other->place > batch.place && other->attempts > 0;
  });
  if (!maybe_there || !next_tells) {
    bump_epoch(partition);
  }
}

void Producer::bump_epoch(Partition& partition) {
  if (partition.renumber) {
    return;
  }
  partition.renumber = true;
  if (producer_id_ == kNoProducerId) {
    return;  // the next one brings its own epoch
  }
  if (producer_epoch_.value() == std::numeric_limits<std::int16_t>::max()) {
    producer_id_ = kNoProducerId;
    producer_epoch_ = kNoProducerEpoch;
    return;
  }
  producer_epoch_ = ProducerEpoch(static_cast<std::int16_t>(producer_epoch_.value() + 1));
  ++generation_;
}

// REQUIRES: nothing of the partition is flying, and there is a producer id.
void Producer::renumber(const std::string& name, std::int32_t index, Partition& partition, ProducerOutputs& out) {
  partition.renumber = false;
  partition.generation = generation_;
  partition.next_sequence = 0;
  for (auto at = partition.queue.begin(); at != partition.queue.end();) {
    Batch& batch = **at;
    const bool passed = batch.place < partition.acknowledged;
    if (batch.sequence >= 0 && (batch.maybe_there || passed)) {
      // Its bytes may be in the log, or still on their way there on a link that ended: it would be there twice. Or a leader that had
      // nothing of us took what came behind it (KIP-360: any sequence will do then).
      at = finish(partition, at, index, -1, -1,
                  Error{Errc::closed, batch.maybe_there
                                          ? fmt::format("'{}' partition {} may have the record or not: it was sent and no answer came, and "
                                                        "sent again it might be there twice ({})",
                                                        name, index, batch.last_error)
                                          : fmt::format("'{}' partition {} refused the record, and has records that follow it already ({})",
                                                        name, index, batch.last_error)},
                  out);
      continue;
    }
    if (batch.sequence >= 0) {
      batch.sequence = partition.next_sequence;
      batch.generation = generation_;
      batch.bytes = with_sequence(batch.bytes, producer_id_, producer_epoch_, batch.sequence);
      partition.next_sequence = sequence_after(partition.next_sequence, batch.marks.size());
    }
    ++at;
  }
}

// The batch was refused as too large: two halves take its place and, where it had one, its sequence.
void Producer::split(Partition& partition, Queue::iterator at) {
  const std::unique_ptr<Batch> whole = std::move(*at);
  const wire::BatchView view(whole->bytes.span());
  wire::BatchOptions options = whole->builder.options();
  options.producer_id = view.producer_id();
  options.producer_epoch = view.producer_epoch();
  const std::size_t half = (whole->marks.size() + 1) / 2;
  std::unique_ptr<Batch> parts[2];
  for (std::size_t i = 0; i < 2; ++i) {
    options.base_sequence = whole->sequence < 0 ? wire::kNoSequence : sequence_after(whole->sequence, i * half);
    parts[i] = std::make_unique<Batch>(options, next_batch_++);
    parts[i]->created = whole->created;
    parts[i]->closed = true;
    parts[i]->attempts = whole->attempts;
    parts[i]->place = whole->place;
    parts[i]->maybe_there = whole->maybe_there;
    parts[i]->generation = whole->generation;
    parts[i]->sequence = whole->sequence < 0 ? -1 : options.base_sequence;
    parts[i]->last_error = whole->last_error;
  }
  Result<wire::RecordIterator> records = wire::RecordIterator::open(whole->bytes);
  HW_ASSERT(records.has_value(), "a batch made here can be read");
  std::size_t index = 0;
  for (wire::RecordView record; records->next(record); ++index) {
    std::vector<wire::HeaderIn> headers;
    wire::HeaderCursor cursor = record.headers();
    for (wire::HeaderView header; cursor.next(header);) {
      headers.push_back({header.key, header.value});
    }
    Batch& part = *parts[index < half ? 0 : 1];
    part.builder.append({record.key, record.value, headers, record.timestamp_ms});
    part.marks.push_back(whole->marks[index]);
  }
  HW_ASSERT(index == whole->marks.size(), "every record is in one of the halves");
  for (std::unique_ptr<Batch>& part : parts) {
    part->bytes = part->builder.finish();
  }
  *at = std::move(parts[0]);
  partition.queue.insert(at + 1, std::move(parts[1]));
}

// ---- out

// The batch that may be sent now, or null.
Producer::Batch* Producer::next_of(const std::string& name, std::int32_t index, Partition& partition, Instant now, ProducerOutputs& out) {
  if (partition.renumber) {
    if (partition.flying() != 0) {
      return nullptr;
    }
    renumber(name, index, partition, out);
  }
  bool behind = false;        // something in front of it is under way
  bool behind_retry = false;  // for the second time: nothing passes it
  bool behind_other = false;  // under another epoch: its sequences do not go on
  for (const std::unique_ptr<Batch>& batch : partition.queue) {
    if (batch->flying) {
      behind = true;
      behind_retry = behind_retry || batch->attempts > 1;
      behind_other = behind_other || batch->generation != generation_;
      continue;
    }
    if (!due(*batch, now) || behind_retry || (behind && batch->attempts > 0)) {
      return nullptr;
    }
    if (behind && config_.idempotent) {
      const std::uint64_t place = batch->sequence < 0 ? partition.next_place : batch->place;
      const bool forgotten = place - partition.queue.front()->place >= kRemembered;
      if (partition.known_as != producer_id_ || forgotten || (behind_other && batch->sequence < 0)) {
        return nullptr;
      }
    }
    return batch.get();
  }
  return nullptr;
}

void Producer::ask_producer_id(Instant now, ProducerOutputs& out) {
  if (id_token_ != 0 || id_not_before_ > now) {
    return;
  }
  id_token_ = next_token_++;
  wire::InitProducerIdRequest request;
  make_null(request.transactional_id);
  request.transaction_timeout_ms = 60'000;
  cluster_.request(kAnyBroker, make_request(std::move(request), id_token_, now + config_.cluster.request_timeout), now,
                   out.io, answers_);
}

// At most one batch of each partition. False: nothing could be sent.
bool Producer::drain(Instant now, ProducerOutputs& out) {
  if (unanswered_ == 0) {
    return false;
  }
  if (config_.idempotent && producer_id_ == kNoProducerId) {
    ask_producer_id(now, out);
    return false;
  }
  struct Load {
    wire::ProduceRequest request;
    std::vector<Sent> batches;
    std::size_t bytes = 0;
    bool by_name = false;  // a topic of which no id is known
  };
  std::map<BrokerId, std::vector<Load>> loads;
  for (auto& [name, topic] : topics_) {
    for (auto& [index, partition] : topic.partitions) {
      Batch* const batch = next_of(name, index, partition, now, out);
      if (batch == nullptr) {
        continue;
      }
      const PartitionInfo* info = cluster_.metadata().partition(name, index);
      if (info == nullptr || info->leader == kNoBroker) {
        cluster_.refresh();
        continue;
      }
      std::vector<Load>& of_broker = loads[info->leader];
      const std::size_t size = batch->bytes.empty() ? batch->builder.size_bytes() : batch->bytes.size();
      const bool full = of_broker.empty() || of_broker.back().bytes + size > config_.request_bytes_max;
      if (full && requests_[info->leader] + of_broker.size() >= config_.requests_in_flight) {
        continue;
      }
      if (full) {
        of_broker.emplace_back();
      }
      seal(partition, *batch);
      const Uuid id = cluster_.metadata().topic(name)->id;
      Load& load = of_broker.back();
      load.bytes += batch->bytes.size();
      load.by_name = load.by_name || id == Uuid{};
      if (load.request.topic_data.empty() || load.request.topic_data.back().name != name) {
        load.request.topic_data.emplace_back();
        load.request.topic_data.back().name = name;
        load.request.topic_data.back().topic_id = id;
      }
      auto& data = load.request.topic_data.back().partition_data.emplace_back();
      data.index = index;
      data.records = BytesChain(batch->bytes);
      load.batches.push_back({name, id, index, batch->id});
      ++batch->attempts;
      batch->flying = true;
    }
  }
  bool sent = false;
  for (auto& [broker, of_broker] : loads) {
    for (Load& load : of_broker) {
      sent = true;
      load.request.acks = config_.acks;
      load.request.timeout_ms = static_cast<std::int32_t>(config_.cluster.request_timeout.ms());
      const std::uint64_t token = next_token_++;
      flights_[token] = {broker, std::move(load.batches)};
      ++requests_[broker];
      Request request = make_request(std::move(load.request), token, now + config_.cluster.request_timeout,
                                     load.by_name ? kProduceByName : wire::ProduceRequest::kHighestVersion);
      request.no_answer = config_.acks == 0;
      cluster_.request(broker, std::move(request), now, out.io, answers_);
    }
  }
  return sent;
}

// ---- in

void Producer::take_producer_id(const Answer& answer, Instant now) {
  id_token_ = 0;
  wire::InitProducerIdResponse response;
  if (answer.error) {
    id_error_ = answer.error->detail;
    if (answer.error->code == Errc::unsupported) {
      config_.idempotent = false;  // a broker without producer ids: go on without
      return;
    }
  } else if (!decode_answer(answer, response)) {
    id_error_ = "the answer to InitProducerId cannot be read";
  } else if (response.error_code != ErrorCode::none) {
    id_error_ = describe(response.error_code);
    id_refused_ = !wire::is_retriable(response.error_code);
  } else {
    id_error_.clear();
    id_refused_ = false;
    producer_id_ = response.producer_id;
    producer_epoch_ = response.producer_epoch;
    ++generation_;
    return;
  }
  id_not_before_ = now + config_.cluster.retry_backoff;
}

// Doubled with every attempt, a fifth more or less, so that many clients do not come back together (KIP-580).
Duration Producer::backoff(std::int32_t attempts) {
  constexpr std::int64_t kPercentLow = 80;
  constexpr std::int64_t kPercentHigh = 120;
  Duration wait = config_.cluster.retry_backoff;
  for (std::int32_t i = 1; i < attempts && wait < config_.cluster.retry_backoff_max; ++i) {
    wait = wait * 2;
  }
  wait = std::min(wait, config_.cluster.retry_backoff_max);
  return Duration{wait.ns / 100 * prng_.between(kPercentLow, kPercentHigh)};
}

void Producer::retry(const Sent& sent, Partition& partition, Queue::iterator at, std::string why, Instant now,
                     ProducerOutputs& out) {
  Batch& batch = **at;
  if (batch.attempts > config_.retries) {
    mend_sequences(partition, batch);
    finish(partition, at, sent.partition, -1, -1,
           Error{Errc::closed, fmt::format("not delivered to '{}' partition {} in {} attempts: {}", sent.topic,
                                           sent.partition, batch.attempts, why)},
           out);
    return;
  }
  batch.last_error = std::move(why);
  // Never at once: what fails at once would be tried without end.
  batch.not_before = now + std::max(backoff(batch.attempts), milliseconds(1));
}

void Producer::take(const Answer& answer, Instant now, ProducerOutputs& out) {
  if (answer.token == id_token_ && id_token_ != 0) {
    take_producer_id(answer, now);
    return;
  }
  const auto found = flights_.find(answer.token);
  if (found == flights_.end()) {
    return;
  }
  const Flight flight = std::move(found->second);
  flights_.erase(found);
  --requests_[flight.broker];
  const auto each = [&](const auto& handle) {
    for (const Sent& sent : flight.batches) {
      Partition& partition = topics_.at(sent.topic).partitions.at(sent.partition);
      const auto at = std::find_if(partition.queue.begin(), partition.queue.end(),
                                   [&](const std::unique_ptr<Batch>& batch) { return batch->id == sent.batch; });
      if (at != partition.queue.end()) {
        (*at)->flying = false;
        handle(sent, partition, at);
      }
    }
  };
  wire::ProduceResponse response;
  if (answer.error) {
    const bool final = answer.error->code == Errc::unsupported || answer.error->code == Errc::invalid;
    each([&](const Sent& sent, Partition& partition, Queue::iterator at) {
      (*at)->maybe_there = (*at)->maybe_there || answer.sent;
      if (final) {
        mend_sequences(partition, **at);
        finish(partition, at, sent.partition, -1, -1, answer.error, out);
      } else {
        retry(sent, partition, at, answer.error->detail, now, out);
      }
    });
  } else if (config_.acks == 0) {
    each([&](const Sent& sent, Partition& partition, Queue::iterator at) {
      finish(partition, at, sent.partition, -1, -1, std::nullopt, out);
    });
  } else if (!decode_answer(answer, response)) {
    each([&](const Sent& sent, Partition& partition, Queue::iterator at) {
      (*at)->maybe_there = true;
      retry(sent, partition, at, "the answer to Produce cannot be read", now, out);
    });
  } else {
    for (const auto& node : response.node_endpoints) {
      cluster_.learn(node.node_id, {node.host, static_cast<std::uint16_t>(node.port)});
    }
    each([&](const Sent& sent, Partition& partition, Queue::iterator at) {
      const wire::ProduceResponse::PartitionProduceResponse* result = nullptr;
      for (const auto& topic : response.responses) {
        const bool same = answer.version > kProduceByName ? topic.topic_id == sent.topic_id : topic.name == sent.topic;
        for (const auto& candidate : topic.partition_responses) {
          if (same && candidate.index == sent.partition) {
            result = &candidate;
          }
        }
      }
      if (result == nullptr) {
        (*at)->maybe_there = true;
        retry(sent, partition, at, "the answer leaves the partition out", now, out);
      } else if (result->error_code == ErrorCode::none || result->error_code == ErrorCode::duplicate_sequence_number) {
        if ((*at)->sequence >= 0) {
          partition.known_as = wire::BatchView((*at)->bytes.span()).producer_id();
          partition.acknowledged = std::max(partition.acknowledged, (*at)->place);
        }
        finish(partition, at, sent.partition, result->base_offset.value(), result->log_append_time_ms, std::nullopt, out);
      } else {
        if (result->current_leader.leader_id != kNoBroker) {  // KIP-951: it says who leads now
          cluster_.learn_leader(sent.topic, sent.partition, result->current_leader.leader_id,
                                result->current_leader.leader_epoch);
        }
        refused(sent, partition, at, result->error_code, result->error_message, now, out);
      }
    });
  }
}

void Producer::refused(const Sent& sent, Partition& partition, Queue::iterator at, ErrorCode error,
                       const std::optional<std::string>& message, Instant now, ProducerOutputs& out) {
  std::string text = describe(error);
  if (message) {
    text = fmt::format("{}: {}", text, *message);
  }
  (*at)->maybe_there = (*at)->maybe_there || !refused_unwritten(error);
  if (error == ErrorCode::message_too_large && (*at)->marks.size() > 1) {
    (*at)->last_error = text;
    split(partition, at);
    return;
  }
  if (config_.idempotent && (*at)->sequence >= 0) {
    switch (error) {
      case ErrorCode::out_of_order_sequence_number:
      case ErrorCode::unknown_producer_id:
        if (at == partition.queue.begin()) {
          bump_epoch(partition);  // nothing in front of it is missing: the broker's memory and ours have parted
        }
        retry(sent, partition, at, std::move(text), now, out);
        return;
      case ErrorCode::invalid_producer_epoch:
      case ErrorCode::invalid_producer_id_mapping:
        producer_id_ = kNoProducerId;
        producer_epoch_ = kNoProducerEpoch;
        partition.renumber = true;
        retry(sent, partition, at, std::move(text), now, out);
        return;
      default:
        break;
    }
  }
  if (wants_fresh_metadata(error)) {
    cluster_.refresh();
  }
  if (wire::is_retriable(error)) {
    retry(sent, partition, at, std::move(text), now, out);
    return;
  }
  mend_sequences(partition, **at);
  finish(partition, at, sent.partition, -1, -1,
         Error{Errc::invalid, fmt::format("'{}' partition {} refused the record: {}", sent.topic, sent.partition, text)},
         out);
}

}  // namespace hw::client
