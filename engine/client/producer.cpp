// SPDX-License-Identifier: Apache-2.0
#include "engine/client/producer.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/client/partitioner.h"
#include "engine/wire/msg/init_producer_id.h"
#include "engine/wire/msg/produce.h"

namespace hw::client {

using wire::ErrorCode;

namespace {
constexpr std::int16_t kProduceByName = 12;  // from 13 on topics are addressed by id
constexpr std::size_t kRecordOverhead = 128; // what a record costs beside its bytes, roughly

std::size_t charge(const ProducerRecord& record) noexcept {
  std::size_t size = kRecordOverhead;
  size += record.key ? record.key->size() : 0;
  size += record.value ? record.value->size() : 0;
  for (const auto& [name, value] : record.headers) {
    size += name.size() + (value ? value->size() : 0);
  }
  return size;
}

std::optional<ByteSpan> span_of(const std::optional<Bytes>& bytes) {
  return bytes ? std::optional<ByteSpan>(bytes->span()) : std::nullopt;
}
}  // namespace

Producer::Producer(ProducerConfig config, Prng prng)
    : config_(std::move(config)), prng_(prng), cluster_(config_.cluster) {
  if (config_.acks != -1) {
    config_.idempotent = false;
  }
}

bool Producer::send(ProducerRecord record, Instant now, ProducerOutputs& out) {
  const std::size_t cost = charge(record);
  if (buffered_ + cost > config_.buffer_bytes && buffered_ != 0) {
    return false;
  }
  buffered_ += cost;
  ++unanswered_;
  cluster_.want(record.topic);
  Topic& topic = topics_[record.topic];
  const std::string name = record.topic;
  topic.waiting.push_back({std::move(record), now, cluster_.metadata().version});
  place_waiting(name, topic, out);
  return true;
}

void Producer::flush(Instant now, ProducerOutputs& out) {
  flushing_ = unanswered_ != 0;
  pump(now, out);
}

void Producer::step(const Input& input, Instant now, ProducerOutputs& out) {
  const std::uint64_t before = cluster_.metadata().version;
  cluster_.step(input, now, out.io, answers_);
  take_answers(now, out);
  if (cluster_.metadata().version != before) {
    for (auto& [name, topic] : topics_) {
      place_waiting(name, topic, out);
    }
  }
  pump(now, out);
}

void Producer::take_answers(Instant now, ProducerOutputs& out) {
  for (const Answer& answer : answers_) {
    take(answer, now, out);  // asks for nothing, so answers_ does not grow
  }
  answers_.clear();
}

void Producer::pump(Instant now, ProducerOutputs& out) {
  pumped_at_ = now;
  if (id_refused_ && unanswered_ != 0) {
    id_refused_ = false;  // later records ask anew
    give_up(Error{Errc::invalid, fmt::format("the broker gives no producer id: {}", id_error_)}, out);
  }
  expire(now, out);
  drain(now, out);
  take_answers(now, out);  // requests that failed at once, and those that have no answer
  if (unanswered_ == 0) {
    flushing_ = false;
  }
}

std::int32_t Producer::choose_sticky(const TopicInfo& info, std::int32_t other_than) {
  std::vector<std::int32_t> with_leader;
  for (std::size_t i = 0; i < info.partitions.size(); ++i) {
    const auto index = static_cast<std::int32_t>(i);
    if (info.partitions[i].leader != kNoBroker && index != other_than) {
      with_leader.push_back(index);
    }
  }
  if (with_leader.empty()) {
    return std::max(other_than, 0);
  }
  return with_leader[prng_.below(with_leader.size())];
}

void Producer::place_waiting(const std::string& name, Topic& topic, ProducerOutputs& out) {
  const TopicInfo* info = cluster_.metadata().topic(name);
  if (info == nullptr) {
    return;
  }
  if (info->error != ErrorCode::none && !wire::is_retriable(info->error)) {
    const Error error{Errc::invalid, fmt::format("topic '{}': {}", name, describe(info->error))};
    std::deque<Waiting> waiting;
    waiting.swap(topic.waiting);
    for (const Waiting& record : waiting) {
      buffered_ -= charge(record.record);
      deliver({record.record.token, record.record.timestamp_ms}, record.record.partition.value_or(-1), -1, error, out);
    }
    return;
  }
  if (info->partitions.empty()) {
    return;
  }
  std::deque<Waiting> later;
  while (!topic.waiting.empty()) {
    if (!place(name, topic, *info, topic.waiting.front(), out)) {
      later.push_back(std::move(topic.waiting.front()));
    }
    topic.waiting.pop_front();
  }
  topic.waiting = std::move(later);
}

// False where the record has to wait for newer metadata.
bool Producer::place(const std::string& name, Topic& topic, const TopicInfo& info, Waiting& waiting,
                     ProducerOutputs& out) {
  ProducerRecord& record = waiting.record;
  const auto count = static_cast<std::int32_t>(info.partitions.size());
  const bool sticky = !record.partition && !record.key;
  std::int32_t index = 0;
  if (record.partition) {
    index = *record.partition;
    if (index < 0 || index >= count) {
      if (index >= 0 && cluster_.metadata().version <= waiting.metadata_version) {
        cluster_.refresh();  // it may have been added
        return false;
      }
      buffered_ -= charge(record);
      deliver({record.token, record.timestamp_ms}, index, -1,
              Error{Errc::not_found, fmt::format("topic '{}' has no partition {}; it has {} ({})", name, index, count,
                                                 count == 1 ? "only 0" : fmt::format("0 to {}", count - 1))},
              out);
      return true;
    }
  } else if (record.key) {
    index = partition_for_key(record.key->span(), count);
  } else {
    if (topic.sticky < 0 || topic.sticky >= count) {
      topic.sticky = choose_sticky(info, -1);
    }
    index = topic.sticky;
  }

  std::vector<wire::HeaderIn> headers;
  headers.reserve(record.headers.size());
  for (const auto& [key, value] : record.headers) {
    headers.push_back({key, span_of(value)});
  }
  const wire::RecordIn in{span_of(record.key), span_of(record.value), headers, record.timestamp_ms};
  const std::size_t size = wire::BatchBuilder::upper_bound(in);

  Partition* partition = &topic.partitions[index];
  const auto has_room = [&](const Partition& p) {
    return !p.queue.empty() && !p.queue.back()->closed &&
           p.queue.back()->builder.size_bytes() + size <= config_.batch_bytes;
  };
  if (!has_room(*partition)) {
    if (!partition->queue.empty() && !partition->queue.back()->closed) {
      partition->queue.back()->closed = true;
      if (sticky) {  // the batch is full: on to another partition
        topic.sticky = index = choose_sticky(info, index);
        partition = &topic.partitions[index];
      }
    }
    if (!has_room(*partition)) {
      if (!partition->queue.empty()) {
        partition->queue.back()->closed = true;
      }
      wire::BatchOptions options;
      options.compression = config_.compression;
      partition->queue.push_back(std::make_unique<Batch>(options));
      partition->queue.back()->created = waiting.created;
    }
  }
  Batch& batch = *partition->queue.back();
  batch.builder.append(in);
  batch.marks.push_back({record.token, record.timestamp_ms});
  batch.charged += charge(record);
  if (batch.builder.size_bytes() >= config_.batch_bytes) {
    batch.closed = true;
  }
  return true;
}

Instant Producer::due_at(const Batch& batch) const noexcept {
  return batch.closed || flushing_ ? batch.not_before : std::max(batch.not_before, batch.created + config_.linger);
}
bool Producer::due(const Batch& batch, Instant now) const noexcept { return due_at(batch) <= now; }

void Producer::expire(Instant now, ProducerOutputs& out) {
  for (auto& [name, topic] : topics_) {
    while (!topic.waiting.empty() && topic.waiting.front().created + config_.delivery_timeout <= now) {
      const ProducerRecord record = std::move(topic.waiting.front().record);
      topic.waiting.pop_front();
      buffered_ -= charge(record);
      const TopicInfo* info = cluster_.metadata().topic(name);
      std::string why = cluster_.problem();
      if (why.empty()) {
        why = info != nullptr && info->error != ErrorCode::none ? describe(info->error) : "the topic stays unknown";
      }
      deliver({record.token, record.timestamp_ms}, record.partition.value_or(-1), -1,
              Error{Errc::closed, fmt::format("not delivered to '{}' within {} ms: {}", name,
                                              config_.delivery_timeout.ms(), why)},
              out);
    }
    for (auto& [index, partition] : topic.partitions) {
      // What is in flight is decided by its answer or by the request's own timeout.
      while (!partition.in_flight && !partition.queue.empty() &&
             partition.queue.front()->created + config_.delivery_timeout <= now) {
        const Batch& batch = *partition.queue.front();
        std::string why = batch.last_error.empty() ? cluster_.problem() : batch.last_error;
        if (why.empty()) {
          why = id_error_.empty() ? "no leader answered" : id_error_;
        }
        if (batch.sent && config_.idempotent) {
          forget_producer_id();
        }
        finish_front(partition, index, -1, -1,
                     Error{Errc::closed, fmt::format("not delivered to '{}' partition {} within {} ms: {}", name,
                                                     index, config_.delivery_timeout.ms(), why)},
                     out);
      }
    }
  }
}

void Producer::forget_producer_id() noexcept {
  producer_id_ = kNoProducerId;
  producer_epoch_ = kNoProducerEpoch;
}

void Producer::seal(Partition& partition, Batch& batch) {
  batch.closed = true;
  if (!batch.bytes.empty()) {
    return;
  }
  wire::BatchOptions& options = batch.builder.options();
  if (config_.idempotent) {
    if (partition.generation != generation_) {
      partition.generation = generation_;
      partition.next_sequence = 0;
    }
    options.producer_id = producer_id_;
    options.producer_epoch = producer_epoch_;
    options.base_sequence = partition.next_sequence;
    batch.generation = generation_;
    const auto count = static_cast<std::uint32_t>(batch.builder.count());
    partition.next_sequence =
        static_cast<std::int32_t>((static_cast<std::uint32_t>(partition.next_sequence) + count) & 0x7fffffffU);
  }
  batch.bytes = batch.builder.finish();
}

void Producer::drain(Instant now, ProducerOutputs& out) {
  if (unanswered_ == 0) {
    return;
  }
  if (config_.idempotent && producer_id_ == kNoProducerId) {
    if (id_token_ == 0 && id_not_before_ <= now) {
      id_token_ = next_token_++;
      wire::InitProducerIdRequest request;
      std::optional<std::string> none;
      request.transactional_id.swap(none);
      request.transaction_timeout_ms = 60'000;
      cluster_.request(kAnyBroker,
                       make_request(std::move(request), id_token_, now + config_.cluster.request_timeout), now, out.io,
                       answers_);
    }
    return;
  }
  struct Load {
    wire::ProduceRequest request;
    std::vector<Key> partitions;
    std::size_t bytes = 0;
  };
  std::map<BrokerId, std::vector<Load>> loads;
  for (auto& [name, topic] : topics_) {
    for (auto& [index, partition] : topic.partitions) {
      if (partition.in_flight || partition.queue.empty() || !due(*partition.queue.front(), now)) {
        continue;
      }
      const PartitionInfo* info = cluster_.metadata().partition(name, index);
      if (info == nullptr || info->leader == kNoBroker) {
        cluster_.refresh();
        continue;
      }
      std::vector<Load>& of_broker = loads[info->leader];
      if (requests_[info->leader] + of_broker.size() >= config_.requests_in_flight &&
          (of_broker.empty() || of_broker.back().bytes >= config_.request_bytes_max)) {
        continue;
      }
      Batch& batch = *partition.queue.front();
      if (!batch.closed && topic.sticky == index && partition.queue.size() == 1) {
        topic.sticky = -1;  // this one goes; the next batch of null keys goes elsewhere
      }
      seal(partition, batch);
      if (of_broker.empty() || of_broker.back().bytes + batch.bytes.size() > config_.request_bytes_max) {
        of_broker.emplace_back();
      }
      Load& load = of_broker.back();
      load.bytes += batch.bytes.size();
      if (load.request.topic_data.empty() || load.request.topic_data.back().name != name) {
        load.request.topic_data.emplace_back();
        load.request.topic_data.back().name = name;
      }
      auto& data = load.request.topic_data.back().partition_data.emplace_back();
      data.index = index;
      data.records = BytesChain(batch.bytes);
      load.partitions.emplace_back(name, index);
      batch.sent = true;
      partition.in_flight = true;
    }
  }
  for (auto& [broker, of_broker] : loads) {
    for (Load& load : of_broker) {
      load.request.acks = config_.acks;
      load.request.timeout_ms = static_cast<std::int32_t>(config_.cluster.request_timeout.ms());
      const std::uint64_t token = next_token_++;
      flights_[token] = {broker, std::move(load.partitions)};
      ++requests_[broker];
      Request request = make_request(std::move(load.request), token,
                                     now + config_.cluster.request_timeout, kProduceByName);
      request.no_answer = config_.acks == 0;
      cluster_.request(broker, std::move(request), now, out.io, answers_);
    }
  }
}

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

void Producer::retry(Partition& partition, std::string why, Instant now) {
  partition.in_flight = false;
  Batch& batch = *partition.queue.front();
  batch.last_error = std::move(why);
  batch.not_before = now + config_.cluster.retry_backoff;
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
  const auto partition_of = [this](const Key& key) -> Partition& {
    return topics_.at(key.first).partitions.at(key.second);
  };

  wire::ProduceResponse response;
  std::string trouble;
  if (answer.error) {
    trouble = answer.error->detail;
  } else if (config_.acks == 0) {
    for (const Key& key : flight.partitions) {
      finish_front(partition_of(key), key.second, -1, -1, std::nullopt, out);
    }
    return;
  } else if (!decode_answer(answer, response)) {
    trouble = "the answer to Produce cannot be read";
  }
  if (!trouble.empty()) {
    const bool final = answer.error && (answer.error->code == Errc::unsupported || answer.error->code == Errc::invalid);
    for (const Key& key : flight.partitions) {
      if (final) {
        finish_front(partition_of(key), key.second, -1, -1, answer.error, out);
      } else {
        retry(partition_of(key), trouble, now);
      }
    }
    return;
  }

  for (const Key& key : flight.partitions) {
    Partition& partition = partition_of(key);
    const wire::ProduceResponse::PartitionProduceResponse* result = nullptr;
    for (const auto& topic : response.responses) {
      for (const auto& candidate : topic.partition_responses) {
        if (topic.name == key.first && candidate.index == key.second) {
          result = &candidate;
        }
      }
    }
    if (result == nullptr) {
      retry(partition, "the answer leaves the partition out", now);
      continue;
    }
    const ErrorCode error = result->error_code;
    if (error == ErrorCode::none || error == ErrorCode::duplicate_sequence_number) {
      finish_front(partition, key.second, result->base_offset.value(), result->log_append_time_ms, std::nullopt, out);
      continue;
    }
    if (wants_fresh_metadata(error)) {
      cluster_.refresh();
    }
    if (wire::is_retriable(error)) {
      retry(partition, describe(error), now);
      continue;
    }
    if (config_.idempotent) {
      // Nothing was appended, so the sequence of this batch stays unused: later ones need a new producer id.
      if (partition.queue.front()->generation == generation_) {
        forget_producer_id();
      }
    }
    std::string text = describe(error);
    if (result->error_message) {
      text = fmt::format("{}: {}", text, *result->error_message);
    }
    finish_front(partition, key.second, -1, -1,
                 Error{Errc::invalid, fmt::format("'{}' partition {} refused the record: {}", key.first, key.second, text)},
                 out);
  }
}

void Producer::deliver(const Mark& mark, std::int32_t partition, std::int64_t offset,
                       const std::optional<Error>& error, ProducerOutputs& out) {
  --unanswered_;
  out.deliveries.push_back({mark.token, partition, offset, mark.timestamp_ms, error});
}

void Producer::finish_front(Partition& partition, std::int32_t index, std::int64_t base_offset,
                            std::int64_t append_time, const std::optional<Error>& error, ProducerOutputs& out) {
  const std::unique_ptr<Batch> batch = std::move(partition.queue.front());
  partition.queue.pop_front();
  partition.in_flight = false;
  buffered_ -= batch->charged;
  for (std::size_t i = 0; i < batch->marks.size(); ++i) {
    Mark mark = batch->marks[i];
    if (append_time >= 0) {
      mark.timestamp_ms = append_time;
    }
    deliver(mark, index, base_offset < 0 ? -1 : base_offset + static_cast<std::int64_t>(i), error, out);
  }
}

// Every record gets this error; answers to what is in flight are dropped when they come.
void Producer::give_up(const Error& error, ProducerOutputs& out) {
  for (auto& [name, topic] : topics_) {
    while (!topic.waiting.empty()) {
      const ProducerRecord& record = topic.waiting.front().record;
      buffered_ -= charge(record);
      deliver({record.token, record.timestamp_ms}, record.partition.value_or(-1), -1, error, out);
      topic.waiting.pop_front();
    }
    for (auto& [index, partition] : topic.partitions) {
      while (!partition.queue.empty()) {
        finish_front(partition, index, -1, -1, error, out);
      }
    }
  }
  flights_.clear();
  requests_.clear();
}

void Producer::abort(const Error& error, ProducerOutputs& out) {
  give_up(error, out);
  cluster_.close_all(out.io);
}

Instant Producer::next_deadline() const noexcept {
  Instant next = cluster_.next_deadline();
  // What was due at the last step has been tried then and waits for an answer or for metadata now.
  const auto consider = [&](Instant at) {
    if (at > pumped_at_) {
      next = std::min(next, at);
    }
  };
  if (unanswered_ == 0) {
    return next;
  }
  consider(id_not_before_);
  for (const auto& [name, topic] : topics_) {
    if (!topic.waiting.empty()) {
      consider(topic.waiting.front().created + config_.delivery_timeout);
    }
    for (const auto& [index, partition] : topic.partitions) {
      if (!partition.in_flight && !partition.queue.empty()) {
        const Batch& batch = *partition.queue.front();
        consider(batch.created + config_.delivery_timeout);
        consider(due_at(batch));
      }
    }
  }
  return next;
}

}  // namespace hw::client
