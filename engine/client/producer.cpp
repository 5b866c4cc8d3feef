// SPDX-License-Identifier: Apache-2.0
#include "engine/client/producer.h"

#include <fmt/core.h>

#include <algorithm>


namespace hw::client {

using wire::ErrorCode;

namespace {
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

std::size_t Producer::Partition::flying() const noexcept {
  return static_cast<std::size_t>(
      std::count_if(queue.begin(), queue.end(), [](const std::unique_ptr<Batch>& batch) { return batch->flying; }));
}

Producer::Producer(ProducerConfig config, Prng prng)
    : config_(std::move(config)), prng_(prng), cluster_(config_.cluster) {
  if (config_.acks != -1) {
    config_.idempotent = false;
  }
  config_.requests_in_flight = std::max(config_.requests_in_flight, std::size_t{1});
  if (config_.idempotent) {
    config_.requests_in_flight = std::min(config_.requests_in_flight, std::size_t{kRemembered});
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
  // A batch of each partition goes into a request; what queues behind them goes into the next ones, as many as may be under way.
  while (drain(now, out)) {
    if (config_.acks == 0) {
      take_answers(now, out);  // nobody answers: what was handed out is done, and makes room
    }
  }
  take_answers(now, out);  // requests that failed at once
  if (unanswered_ == 0) {
    flushing_ = false;
  }
}

// Among partitions with a leader; one with many batches waiting is chosen less often (KIP-794).
std::int32_t Producer::choose_sticky(const Topic& topic, const TopicInfo& info) {
  const auto queued = [&](std::size_t index) {
    const auto partition = topic.partitions.find(static_cast<std::int32_t>(index));
    return partition == topic.partitions.end() ? std::size_t{0} : partition->second.queue.size();
  };
  std::size_t longest = 0;
  for (std::size_t i = 0; i < info.partitions.size(); ++i) {
    longest = std::max(longest, queued(i));
  }
  std::uint64_t weights = 0;
  for (std::size_t i = 0; i < info.partitions.size(); ++i) {
    weights += info.partitions[i].leader == kNoBroker ? 0 : longest + 1 - queued(i);
  }
  if (weights == 0) {
    return static_cast<std::int32_t>(prng_.below(info.partitions.size()));  // no leader anywhere: all are alike
  }
  std::uint64_t drawn = prng_.below(weights);
  for (std::size_t i = 0; i < info.partitions.size(); ++i) {
    const std::uint64_t weight = info.partitions[i].leader == kNoBroker ? 0 : longest + 1 - queued(i);
    if (drawn < weight) {
      return static_cast<std::int32_t>(i);
    }
    drawn -= weight;
  }
  return 0;
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
      deliver({record.record.token, record.record.timestamp_ms, charge(record.record)}, record.record.partition.value_or(-1), -1, error, out);
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
  const std::optional<std::int32_t> hashed =
      record.key ? partition_for_key(config_.partitioner, record.key->span(), count) : std::nullopt;
  const bool sticky = !record.partition && !hashed;
  std::int32_t index = 0;
  if (record.partition) {
    index = *record.partition;
    if (index < 0 || index >= count) {
      if (index >= 0 && cluster_.metadata().version <= waiting.metadata_version) {
        cluster_.refresh();  // it may have been added
        return false;
      }
      deliver({record.token, record.timestamp_ms, charge(record)}, index, -1,
              Error{Errc::not_found, fmt::format("topic '{}' has no partition {}; it has {} ({})", name, index, count,
                                                 count == 1 ? "only 0" : fmt::format("0 to {}", count - 1))},
              out);
      return true;
    }
  } else if (hashed) {
    index = *hashed;
  } else {
    const auto boundary = [&](std::int32_t of) {  // no open batch would be left behind half full
      const auto partition = topic.partitions.find(of);
      return partition == topic.partitions.end() || partition->second.queue.empty() ||
             partition->second.queue.back()->closed;
    };
    if (topic.sticky < 0 || topic.sticky >= count || topic.sticky_bytes >= 2 * config_.batch_bytes ||
        (topic.sticky_bytes >= config_.batch_bytes && boundary(topic.sticky))) {
      topic.sticky = choose_sticky(topic, info);
      topic.sticky_bytes = 0;
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

  Partition& partition = topic.partitions[index];
  if (partition.queue.empty() || partition.queue.back()->closed ||
      partition.queue.back()->builder.size_bytes() + size > config_.batch_bytes) {
    if (!partition.queue.empty()) {
      partition.queue.back()->closed = true;
    }
    wire::BatchOptions options;
    options.compression = config_.compression;
    options.level = config_.compression_level;
    partition.queue.push_back(std::make_unique<Batch>(options, next_batch_++));
    partition.queue.back()->created = waiting.created;
  }
  Batch& batch = *partition.queue.back();
  batch.builder.append(in);
  batch.marks.push_back({record.token, record.timestamp_ms, charge(record)});
  if (batch.builder.size_bytes() >= config_.batch_bytes) {
    batch.closed = true;
  }
  if (sticky) {
    topic.sticky_bytes += size;
  }
  return true;
}

Instant Producer::due_at(const Batch& batch) const noexcept {
  return batch.closed || flushing_ ? batch.not_before : std::max(batch.not_before, batch.created + config_.linger);
}

void Producer::expire(Instant now, ProducerOutputs& out) {
  for (auto& [name, topic] : topics_) {
    while (!topic.waiting.empty() && topic.waiting.front().created + config_.delivery_timeout <= now) {
      const ProducerRecord record = std::move(topic.waiting.front().record);
      topic.waiting.pop_front();
      const TopicInfo* info = cluster_.metadata().topic(name);
      std::string why = cluster_.problem();
      if (why.empty()) {
        why = info != nullptr && info->error != ErrorCode::none ? describe(info->error) : "the topic stays unknown";
      }
      deliver({record.token, record.timestamp_ms, charge(record)}, record.partition.value_or(-1), -1,
              Error{Errc::closed, fmt::format("not delivered to '{}' within {} ms: {}", name,
                                              config_.delivery_timeout.ms(), why)},
              out);
    }
    for (auto& [index, partition] : topic.partitions) {
      for (auto at = partition.queue.begin(); at != partition.queue.end();) {
        const Batch& batch = **at;
        // What is in flight is decided by its answer or by the request's own timeout.
        if (batch.flying || batch.created + config_.delivery_timeout > now) {
          ++at;
          continue;
        }
        std::string why = batch.last_error.empty() ? cluster_.problem() : batch.last_error;
        if (why.empty()) {
          why = id_error_.empty() ? "no leader answered" : id_error_;
        }
        mend_sequences(partition, batch);
        at = finish(partition, at, index, -1, -1,
                    Error{Errc::closed, fmt::format("not delivered to '{}' partition {} within {} ms: {}", name, index,
                                                    config_.delivery_timeout.ms(), why)},
                    out);
      }
    }
  }
}

void Producer::deliver(const Mark& mark, std::int32_t partition, std::int64_t offset, const std::optional<Error>& error,
                       ProducerOutputs& out) {
  --unanswered_;
  buffered_ -= mark.charged;
  out.deliveries.push_back({mark.token, partition, offset, mark.timestamp_ms, error});
}

Producer::Queue::iterator Producer::finish(Partition& partition, Queue::iterator at, std::int32_t index,
                                           std::int64_t base_offset, std::int64_t append_time,
                                           const std::optional<Error>& error, ProducerOutputs& out) {
  const std::unique_ptr<Batch> batch = std::move(*at);
  const auto next = partition.queue.erase(at);
  for (std::size_t i = 0; i < batch->marks.size(); ++i) {
    Mark mark = batch->marks[i];
    if (append_time >= 0) {
      mark.timestamp_ms = append_time;
    }
    deliver(mark, index, base_offset < 0 ? -1 : base_offset + static_cast<std::int64_t>(i), error, out);
  }
  return next;
}

// Every record gets this error; answers to what is in flight are dropped when they come.
void Producer::give_up(const Error& error, ProducerOutputs& out) {
  for (auto& [name, topic] : topics_) {
    while (!topic.waiting.empty()) {
      const ProducerRecord& record = topic.waiting.front().record;
      deliver({record.token, record.timestamp_ms, charge(record)}, record.partition.value_or(-1), -1, error, out);
      topic.waiting.pop_front();
    }
    for (auto& [index, partition] : topic.partitions) {
      for (auto at = partition.queue.begin(); at != partition.queue.end();) {
        mend_sequences(partition, **at);
        at = finish(partition, at, index, -1, -1, error, out);
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
      for (const std::unique_ptr<Batch>& batch : partition.queue) {
        if (!batch->flying) {
          consider(batch->created + config_.delivery_timeout);
          consider(due_at(*batch));
        }
      }
    }
  }
  return next;
}

}  // namespace hw::client
