// SPDX-License-Identifier: Apache-2.0
// Producer: records in, deliveries out. Sans-I/O, deterministic (randomness comes from the Prng it is given).
//
//   send() ─▶ waiting (topic unknown) ─▶ partition chosen ─▶ open batch ─▶ closed (full, lingered, flushed) ─▶ in flight ─▶ Delivery
//                                                                              ▲ retriable error, after a backoff │
//                                                                              └───────────────────────────────────┘
// Partition: the one given; else the hash of the key; else (no key) one partition until batch_bytes went there, then another,
// rather one with a short queue (KIP-794). Batches of many partitions share a request; up to requests_in_flight requests, and so
// batches of one partition, are under way to a broker. A batch the broker finds too large is halved and sent again.
//
// Idempotent (KIP-98): a producer id is asked for first; a batch gets its sequence when it is sent first and keeps it, so a retry
// that had arrived already is answered with the first offset. While a batch waits for its retry nothing behind it is sent; what
// was sent behind it is refused with OUT_OF_ORDER_SEQUENCE_NUMBER and follows in order. Where the order cannot be mended that way
// (the broker has lost its memory of us, or a batch was given up whose fate is unknown) the epoch goes up and the partition's
// sequences begin at 0 again, once nothing of it is in flight (KIP-360). Under a new sequence a broker does not recognise what it has
// already: a batch that may be there is not sent again then, nor one that would come behind its successors; it fails, and its error says
// so. A broker remembers five batches: from the oldest that is unanswered on, wherever it was sent, five of a partition may have been
// sent. A leader that has nothing of a producer takes any sequence: until one is acknowledged in a partition, its batches fly one at a
// time. Without idempotence retries may swap batches and repeat records, unless requests_in_flight is 1.
//
// Every record gets exactly one Delivery, with an offset or an error. Memory: at most buffer_bytes of records.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/prng.h"
#include "engine/client/cluster.h"
#include "engine/client/partitioner.h"
#include "engine/wire/record/batch_builder.h"


namespace hw::client {

struct ProducerConfig {
  ClusterConfig cluster;
  std::int16_t acks = -1;
  bool idempotent = true;  // needs acks = -1; requests_in_flight is then at most 5, as many batches as a broker remembers
  Partitioner partitioner = Partitioner::murmur2;
  Duration linger{};
  std::size_t batch_bytes = 16 * 1024;
  std::size_t request_bytes_max = 1024 * 1024;
  std::size_t buffer_bytes = 64 * 1024 * 1024;
  std::size_t requests_in_flight = 5;  // per broker
  std::int32_t retries = std::numeric_limits<std::int32_t>::max();  // of a batch; delivery_timeout is the usual bound
  wire::Compression compression = wire::Compression::none;
  std::optional<int> compression_level;
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
  [[nodiscard]] ProducerId producer_id() const noexcept { return producer_id_; }
  [[nodiscard]] ProducerEpoch producer_epoch() const noexcept { return producer_epoch_; }

 private:
  struct Mark {  // of a record in its batch
    std::uint64_t token = 0;
    std::int64_t timestamp_ms = -1;
    std::size_t charged = 0;
  };
  struct Batch {
    Batch(wire::BatchOptions options, std::uint64_t number) : builder(options), id(number) {}
    wire::BatchBuilder builder;
    Bytes bytes;                    // after it was closed and sealed for the first time
    std::vector<Mark> marks;
    std::uint64_t id = 0;
    Instant created;
    Instant not_before{};           // of the next attempt
    bool closed = false;
    bool flying = false;
    std::int32_t attempts = 0;
    std::int32_t sequence = -1;     // of its first record; -1: none yet
    std::uint64_t generation = 0;   // of the producer id and epoch it was sealed with
    std::uint64_t place = 0;        // among the batches of its partition that got a sequence
    bool maybe_there = false;       // some attempt ended so that nobody knows whether the broker took it
    std::string last_error;
  };
  struct Partition {
    std::deque<std::unique_ptr<Batch>> queue;  // in order; any of them may be flying, the back may be open
    std::int32_t next_sequence = 0;
    std::uint64_t generation = 0;              // that next_sequence counts for
    std::uint64_t next_place = 0;
    std::uint64_t acknowledged = 0;            // the furthest place that was
    ProducerId known_as = kNoProducerId;       // something sent under this id was acknowledged: every leader from then on knows it
    bool renumber = false;                     // once nothing is flying, what is queued is sealed anew from sequence 0
    [[nodiscard]] std::size_t flying() const noexcept;
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
    std::size_t sticky_bytes = 0;  // that went to `sticky` since it was chosen
  };
  struct Sent {  // a batch in a request; it may be gone when the answer comes
    std::string topic;
    Uuid topic_id;
    std::int32_t partition = 0;
    std::uint64_t batch = 0;
  };
  struct Flight {
    BrokerId broker;
    std::vector<Sent> batches;
  };
  using Queue = std::deque<std::unique_ptr<Batch>>;
  static constexpr std::uint64_t kRemembered = 5;  // as many batches a broker remembers of a producer

  void pump(Instant now, ProducerOutputs& out);
  void take_answers(Instant now, ProducerOutputs& out);
  void place_waiting(const std::string& name, Topic& topic, ProducerOutputs& out);
  bool place(const std::string& name, Topic& topic, const TopicInfo& info, Waiting& waiting, ProducerOutputs& out);
  [[nodiscard]] std::int32_t choose_sticky(const Topic& topic, const TopicInfo& info);
  void expire(Instant now, ProducerOutputs& out);
  bool drain(Instant now, ProducerOutputs& out);
  [[nodiscard]] Batch* next_of(const std::string& name, std::int32_t index, Partition& partition, Instant now, ProducerOutputs& out);
  void ask_producer_id(Instant now, ProducerOutputs& out);
  void seal(Partition& partition, Batch& batch);
  void take(const Answer& answer, Instant now, ProducerOutputs& out);
  void take_producer_id(const Answer& answer, Instant now);
  void refused(const Sent& sent, Partition& partition, Queue::iterator at, wire::ErrorCode error,
               const std::optional<std::string>& message, Instant now, ProducerOutputs& out);
  void retry(const Sent& sent, Partition& partition, Queue::iterator at, std::string why, Instant now, ProducerOutputs& out);
  void split(Partition& partition, Queue::iterator at);
  Queue::iterator finish(Partition& partition, Queue::iterator at, std::int32_t index, std::int64_t base_offset,
                         std::int64_t append_time, const std::optional<Error>& error, ProducerOutputs& out);
  void deliver(const Mark& mark, std::int32_t partition, std::int64_t offset, const std::optional<Error>& error,
               ProducerOutputs& out);
  [[nodiscard]] bool due(const Batch& batch, Instant now) const noexcept { return due_at(batch) <= now; }
  [[nodiscard]] Instant due_at(const Batch& batch) const noexcept;
  // A batch leaves without a known place in the log.
  void mend_sequences(Partition& partition, const Batch& batch);
  void bump_epoch(Partition& partition);
  void renumber(const std::string& name, std::int32_t index, Partition& partition, ProducerOutputs& out);
  [[nodiscard]] Duration backoff(std::int32_t attempts);
  void give_up(const Error& error, ProducerOutputs& out);

  ProducerConfig config_;
  Prng prng_;
  Cluster cluster_;
  std::map<std::string, Topic> topics_;
  std::map<std::uint64_t, Flight> flights_;
  std::map<BrokerId, std::size_t> requests_;  // in flight per broker
  std::uint64_t next_token_ = 1;
  std::uint64_t next_batch_ = 1;
  std::uint64_t id_token_ = 0;                // of the InitProducerId in flight
  Instant id_not_before_{};
  std::string id_error_;
  bool id_refused_ = false;
  ProducerId producer_id_ = kNoProducerId;
  ProducerEpoch producer_epoch_ = kNoProducerEpoch;
  std::uint64_t generation_ = 0;              // counts producer ids and epochs
  bool flushing_ = false;
  Instant pumped_at_{};
  std::size_t buffered_ = 0;
  std::size_t unanswered_ = 0;
  std::vector<Answer> answers_;               // reused
};

}  // namespace hw::client
