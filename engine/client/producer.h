// SPDX-License-Identifier: Apache-2.0
// Producer: records in, deliveries out. Sans-I/O, deterministic.
//
//   send() ─▶ waiting (topic unknown) ─▶ partition chosen ─▶ open batch ─▶ closed (full, lingered, flushed) ─▶ in flight ─▶ Delivery
//                                                                              ▲ retriable error, after a backoff │
//                                                                              └───────────────────────────────────┘
// Partition: the one given; else murmur2 of the key; else (null key) one partition until its batch closes, then another.
// One batch of a partition is in flight at a time, so order holds through retries whatever happens, and batches grow while one is
// on its way; batches of many partitions share a request, and several requests are in flight.
// Idempotent: a producer id is asked for first; a batch keeps its sequence through retries. When a batch that was sent is given
// up, the sequence has a hole, so a new producer id is taken (what KIP-360 does with the epoch).
//
// Every record gets exactly one Delivery, with an offset or an error. Memory: at most buffer_bytes of records.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/prng.h"
#include "engine/client/cluster.h"
#include "engine/wire/record/batch_builder.h"

namespace hw::client {

struct ProducerConfig {
  ClusterConfig cluster;
  std::int16_t acks = -1;
  bool idempotent = true;  // needs acks = -1
  Duration linger{};
  std::size_t batch_bytes = 16 * 1024;
  std::size_t request_bytes_max = 1024 * 1024;
  std::size_t buffer_bytes = 64 * 1024 * 1024;
  std::size_t requests_in_flight = 5;  // per broker
  wire::Compression compression = wire::Compression::none;
  Duration delivery_timeout = seconds(120);
};

struct ProducerRecord {
  std::string topic;
  std::optional<std::int32_t> partition;
  std::optional<Bytes> key;    // nullopt is null
  std::optional<Bytes> value;
  std::vector<std::pair<std::string, std::optional<Bytes>>> headers;
  std::int64_t timestamp_ms = -1;
  std::uint64_t token = 0;     // comes back in the Delivery
};

struct Delivery {
  std::uint64_t token = 0;
  std::int32_t partition = -1;
  std::int64_t offset = -1;        // -1 with acks=0
  std::int64_t timestamp_ms = -1;  // of the record as stored
  std::optional<Error> error;
};

struct ProducerOutputs {
  IoOutputs io;
  std::vector<Delivery> deliveries;
  void clear() {
    io.clear();
    deliveries.clear();
  }
};

class Producer {
 public:
  Producer(ProducerConfig config, Prng prng);

  // False when the buffer is full: the record was not taken, no Delivery will come; try again after deliveries.
  // Nothing is sent before the next step(): give all records that are at hand, then step with a tick.
  [[nodiscard]] bool send(ProducerRecord record, Instant now, ProducerOutputs& out);
  // Sends what is there without lingering, also what is added until everything is answered.
  void flush(Instant now, ProducerOutputs& out);
  void step(const Input& input, Instant now, ProducerOutputs& out);
  // Gives every record that is not answered this error and closes the links.
  void abort(const Error& error, ProducerOutputs& out);

  [[nodiscard]] Instant next_deadline() const noexcept;
  [[nodiscard]] std::size_t unanswered() const noexcept { return unanswered_; }
  [[nodiscard]] std::size_t buffered_bytes() const noexcept { return buffered_; }
  [[nodiscard]] const std::string& problem() const noexcept { return cluster_.problem(); }

 private:
  struct Mark {  // of a record in its batch
    std::uint64_t token = 0;
    std::int64_t timestamp_ms = -1;
  };
  struct Batch {
    explicit Batch(wire::BatchOptions options) : builder(options) {}
    wire::BatchBuilder builder;
    Bytes bytes;                 // after it was closed and sealed for the first time
    std::vector<Mark> marks;
    std::size_t charged = 0;
    Instant created;
    Instant not_before{};        // of the next attempt
    bool closed = false;
    bool sent = false;           // at least once
    std::uint64_t generation = 0;  // of the producer id it was sealed with
    std::string last_error;
  };
  struct Partition {
    std::deque<std::unique_ptr<Batch>> queue;  // the front may be in flight, the back may be open
    bool in_flight = false;
    std::int32_t next_sequence = 0;
    std::uint64_t generation = 0;              // of the producer id that next_sequence counts for
  };
  struct Waiting {
    ProducerRecord record;
    Instant created;
    std::uint64_t metadata_version = 0;  // when it came
  };
  struct Topic {
    std::deque<Waiting> waiting;
    std::map<std::int32_t, Partition> partitions;
    std::int32_t sticky = -1;
  };
  using Key = std::pair<std::string, std::int32_t>;
  struct Flight {
    BrokerId broker;
    std::vector<Key> partitions;
  };

  void pump(Instant now, ProducerOutputs& out);
  void take_answers(Instant now, ProducerOutputs& out);
  void place_waiting(const std::string& name, Topic& topic, ProducerOutputs& out);
  bool place(const std::string& name, Topic& topic, const TopicInfo& info, Waiting& waiting, ProducerOutputs& out);
  std::int32_t choose_sticky(const TopicInfo& info, std::int32_t other_than);
  void expire(Instant now, ProducerOutputs& out);
  void drain(Instant now, ProducerOutputs& out);
  void seal(Partition& partition, Batch& batch);
  void take(const Answer& answer, Instant now, ProducerOutputs& out);
  void take_producer_id(const Answer& answer, Instant now);
  void retry(Partition& partition, std::string why, Instant now);
  void finish_front(Partition& partition, std::int32_t index, std::int64_t base_offset, std::int64_t append_time,
                    const std::optional<Error>& error, ProducerOutputs& out);
  void deliver(const Mark& mark, std::int32_t partition, std::int64_t offset, const std::optional<Error>& error,
               ProducerOutputs& out);
  [[nodiscard]] bool due(const Batch& batch, Instant now) const noexcept;
  [[nodiscard]] Instant due_at(const Batch& batch) const noexcept;
  void forget_producer_id() noexcept;
  void give_up(const Error& error, ProducerOutputs& out);

  ProducerConfig config_;
  Prng prng_;
  Cluster cluster_;
  std::map<std::string, Topic> topics_;
  std::map<std::uint64_t, Flight> flights_;
  std::map<BrokerId, std::size_t> requests_;  // in flight per broker
  std::uint64_t next_token_ = 1;
  std::uint64_t id_token_ = 0;                // of the InitProducerId in flight
  Instant id_not_before_{};
  std::string id_error_;
  bool id_refused_ = false;
  ProducerId producer_id_ = kNoProducerId;
  ProducerEpoch producer_epoch_ = kNoProducerEpoch;
  std::uint64_t generation_ = 0;              // counts producer ids
  bool flushing_ = false;
  Instant pumped_at_{};
  std::size_t buffered_ = 0;
  std::size_t unanswered_ = 0;
  std::vector<Answer> answers_;               // reused
};

}  // namespace hw::client
