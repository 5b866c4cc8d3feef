// SPDX-License-Identifier: Apache-2.0
// ClientRunner: the built-in clients of the window and of `hw`, on a thread of their own, over real TCP connections.
//
// It drives the sans-I/O cores of engine/client (Producer, Consumer, Admin). Nothing here knows which broker answers:
// ours, or any other that speaks Kafka's protocol.
// Thread rule: every function from any thread; callbacks run on the runner's thread and must not block. A callback is
// called exactly once per request, also when the runner ends (with Errc::closed).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/base/result.h"
#include "engine/client/call.h"

namespace hw::node {

using ClientHandle = std::uint64_t;  // never reused; 0: none

struct ProducerOptions {
  std::string bootstrap = "127.0.0.1:9092";
  std::string client_id = "highwater-producer";
  std::int16_t acks = -1;
  bool idempotent = true;
  std::int64_t linger_ms = 0;
  std::int32_t batch_bytes = 16 * 1024;
  std::string compression = "none";  // none, gzip, snappy, lz4, zstd
  std::optional<int> compression_level = std::nullopt;
  std::string partitioner = "murmur2";  // Kafka's; or crc32 (librdkafka's default), fnv1a (Sarama's)
  std::int32_t requests_in_flight = 5;  // max.in.flight.requests.per.connection; idempotent: at most 5
  std::int32_t retries = INT32_MAX;
  std::int64_t buffer_bytes = 64 * 1024 * 1024;
  std::int64_t delivery_timeout_ms = 30'000;
  bool auto_create = true;           // let the broker create a topic that is not there (auto.create.topics.enable)
  std::int64_t close_timeout_ms = 5'000;  // closing waits so long for what was not delivered yet
};

struct OutgoingRecord {
  std::string topic;
  std::optional<std::int32_t> partition;  // nullopt: by the key's hash, or sticky batches for a null key
  std::optional<Bytes> key;
  std::optional<Bytes> value;
  std::vector<std::pair<std::string, std::optional<Bytes>>> headers;
  std::int64_t timestamp_ms = -1;         // -1: now
};

struct Delivery {
  std::int32_t partition = -1;
  std::int64_t offset = -1;
  std::int64_t timestamp_ms = -1;
};

// When a member of a group commits; engine/client/consumer.h draws it.
enum class CommitMode : std::uint8_t {
  interval,     // every commit_interval_ms, what earlier polls gave (enable.auto.commit)
  after_work,   // when the handler is through with a poll: at least once
  before_work,  // before the handler gets it: at most once
  manual,       // only commit()
};

struct ConsumerOptions {
  std::string bootstrap = "127.0.0.1:9092";
  std::string client_id = "highwater-consumer";
  std::string group_id;                    // empty: no group; then `assignment` says what to read
  std::optional<std::string> group_instance_id = std::nullopt;  // a static member
  std::vector<std::string> topics;         // with a group: what to subscribe to
  std::string pattern;                     // POSIX extended; topics of which it fits the whole name, besides `topics`, also later ones
  std::string group_protocol = "classic";  // or consumer: the coordinator assigns (group.protocol, KIP-848)
  // Classic: by preference, of range, roundrobin, sticky, cooperative-sticky; empty: range. Consumer: uniform or range; empty: the group's own.
  std::vector<std::string> assignors = {};
  struct Position {
    std::string topic;
    std::int32_t partition = 0;
    std::int64_t offset = -2;              // -2 earliest, -1 latest, or an offset
  };
  std::vector<Position> assignment;        // without a group; empty: all partitions of `topics` from `from_earliest`
  bool from_earliest = true;               // where a group without committed offset, or an assignment, begins
  std::string offset_reset;                // the same with more to choose: earliest, latest, none, by_duration:PT1H; empty: as above
  CommitMode commit_mode = CommitMode::interval;
  std::int64_t commit_interval_ms = 1'000; // interval: commits what was handed out, after the callback; 0: never
  std::int64_t session_timeout_ms = 10'000;
  std::int64_t heartbeat_interval_ms = 1'000;
  std::int64_t max_poll_interval_ms = 300'000;  // a handler that takes longer costs the membership
  std::int32_t max_poll_records = 500;     // where the handler has a delay, or commits stand before or after its work
  std::int64_t handler_delay_us = 0;       // microseconds of simulated work per record, after the callback
  std::int64_t metadata_max_age_ms = 0;    // how soon new topics are found; 0: five minutes
  std::int32_t max_wait_ms = 500;
  std::int32_t min_bytes = 1;
  std::int32_t fetch_bytes_max = 50 * 1024 * 1024;
  std::int32_t partition_bytes_max = 1024 * 1024;
  std::int64_t prefetch_bytes_max = 64 * 1024 * 1024;
  bool read_committed = false;
  std::int64_t records_max = INT64_MAX;    // handed out in all; what comes after is neither read nor committed
  bool auto_create = true;
};

struct IncomingRecord {
  std::string topic;
  std::int32_t partition = 0;
  std::int64_t offset = 0;
  std::int64_t timestamp_ms = -1;
  bool log_append_time = false;
  std::optional<Bytes> key;
  std::optional<Bytes> value;
  std::vector<std::pair<std::string, std::optional<Bytes>>> headers;
};

struct ConsumerEvent {
  enum class Kind : std::uint8_t {
    assigned,       // cooperative-sticky: what was added
    revoked,        // cooperative-sticky: what was taken away; a message where it was lost before
    reached_end,
    error,          // in words, with Kafka's error name
    committed,      // `partitions`, `offsets`
    commit_failed,  // the same, and why
    late,           // the handler took longer than max_poll_interval_ms; the group goes on without this member
    truncated,      // the log was cut below the position (after an unclean election); reading goes on at `offsets`
  } kind = Kind::error;
  std::vector<std::pair<std::string, std::int32_t>> partitions;
  std::string message;
  bool fatal = false;                    // error: this consumer will do nothing more
  std::vector<std::int64_t> offsets = {};  // of the partitions
};

struct ConsumerStatus {
  struct Partition {
    std::string topic;
    std::int32_t partition = 0;
    std::int64_t position = -1;        // next to be handed out; -1: not known yet
    std::int64_t committed = -1;
    std::int64_t high_watermark = -1;  // read_committed: the last stable offset
    std::int64_t lag = -1;
    std::int64_t prefetched_bytes = 0;
    bool paused = false;
  };
  std::string member_id;               // empty: not a member at the moment
  std::int32_t generation = -1;
  bool leader = false;                 // it computes the assignment
  std::vector<Partition> partitions;   // by topic and partition
};

struct NewTopic {
  std::string name;
  std::int32_t partitions = 1;
  std::int16_t replication_factor = 1;
  std::vector<std::pair<std::string, std::string>> configs;
};

struct TopicDescription {
  struct Partition {
    std::int32_t index = 0;
    std::int32_t leader = -1;
    std::vector<std::int32_t> replicas;
    std::vector<std::int32_t> isr;
  };
  std::string name;
  std::string id;
  bool internal = false;
  std::vector<Partition> partitions;
};

struct TopicConfig {
  std::string name;
  std::optional<std::string> value;  // nullopt: null, or sensitive
  bool set_on_topic = false;         // otherwise a default, or the broker's
};

class ConsumerDriver;

class ClientRunner {
 public:
  ClientRunner();   // starts the thread
  ~ClientRunner();  // closes every client (consumers leave their group) and ends the thread
  ClientRunner(const ClientRunner&) = delete;
  ClientRunner& operator=(const ClientRunner&) = delete;

  [[nodiscard]] ClientHandle add_producer(ProducerOptions options);
  // Bounded: when more than buffer_bytes wait in one producer, `done` gets Errc::too_large at once.
  void produce(ClientHandle producer, OutgoingRecord record, std::function<void(Result<Delivery>)> done);
  // Calls `done` when everything produced before has been answered.
  void flush(ClientHandle producer, std::function<void()> done);

  [[nodiscard]] ClientHandle add_consumer(ConsumerOptions options,
                                          std::function<void(std::vector<IncomingRecord>&)> on_records,
                                          std::function<void(const ConsumerEvent&)> on_event = {});

  // --- what a consumer is told while it runs; partitions that it does not have are left out, empty lists mean all
  using Partitions = std::vector<std::pair<std::string, std::int32_t>>;
  void pause(ClientHandle consumer, Partitions partitions = {});
  void resume(ClientHandle consumer, Partitions partitions = {});
  void seek(ClientHandle consumer, std::string topic, std::int32_t partition, std::int64_t offset);  // -2 beginning, -1 end
  void seek_to_time(ClientHandle consumer, std::string topic, std::int32_t partition, std::int64_t timestamp_ms);
  void commit(ClientHandle consumer);  // what was handed out; told by an event
  void set_handler_delay(ClientHandle consumer, std::int64_t per_record_us);
  void status(ClientHandle consumer, std::function<void(Result<ConsumerStatus>)> done);
  // Goes silent without a commit and without leaving the group, as a process that is killed.
  void crash(ClientHandle consumer, std::function<void()> done = {});

  // Producers flush for close_timeout_ms at most, consumers commit and leave their group; then `done`, where given.
  void close(ClientHandle client, std::function<void()> done = {});

  // --- administration; one connection per bootstrap address is kept for a while
  void create_topic(const std::string& bootstrap, NewTopic topic, std::function<void(Result<void>)> done);
  void delete_topic(const std::string& bootstrap, std::string name, std::function<void(Result<void>)> done);
  void create_partitions(const std::string& bootstrap, std::string topic, std::int32_t total,
                         std::function<void(Result<void>)> done);
  void list_topics(const std::string& bootstrap, std::function<void(Result<std::vector<TopicDescription>>)> done);
  void describe_topic(const std::string& bootstrap, std::string name, std::function<void(Result<TopicDescription>)> done);
  void topic_configs(const std::string& bootstrap, std::string name,
                     std::function<void(Result<std::vector<TopicConfig>>)> done);
  // (partition, offset) in order; `timestamp`: -2 the earliest offset, -1 the next one to be written.
  void topic_offsets(const std::string& bootstrap, std::string name, std::int64_t timestamp,
                     std::function<void(Result<std::vector<std::pair<std::int32_t, std::int64_t>>>)> done);

  // Any request of engine/wire/msg, to whoever `target` names; see engine/client/call.h for retries and errors. Usage:
  //   runner.call<wire::ListGroupsResponse>(bootstrap, client::Target::any(), wire::ListGroupsRequest{}, [](auto result) {…});
  // client_admin.h has ready questions with plain structs.
  template <class Response, class Body>
  void call(const std::string& bootstrap, client::Target target, Body body, std::function<void(Result<Response>)> done,
            client::CallOptions options = {}) {
    call_raw(bootstrap, client::make_call<Response>(std::move(target), std::move(body), options),
             [done = std::move(done)](Result<client::Answer> answer) {
               if (!answer) {
                 done(Unexpected(std::move(answer.error())));
                 return;
               }
               Response response;
               if (client::decode_answer(*answer, response)) {  // has been decoded once, to be judged
                 done(std::move(response));
               } else {
                 done(fail(Errc::corrupt, "the broker's answer cannot be read"));
               }
             });
  }

  // Runs `work` on the runner's thread after `delay_ms`; for pacing (demo traffic). Dropped when the runner ends.
  void after(std::int64_t delay_ms, std::function<void()> work);

 private:
  void with_consumer(ClientHandle consumer, std::function<void(ConsumerDriver&)> work);
  void call_raw(const std::string& bootstrap, client::Call call, std::function<void(Result<client::Answer>)> done);

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hw::node
