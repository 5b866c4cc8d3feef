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
  std::int64_t delivery_timeout_ms = 30'000;
  bool auto_create = true;           // let the broker create a topic that is not there (auto.create.topics.enable)
};

struct OutgoingRecord {
  std::string topic;
  std::optional<std::int32_t> partition;  // nullopt: murmur2 of the key, or sticky batches for a null key
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

struct ConsumerOptions {
  std::string bootstrap = "127.0.0.1:9092";
  std::string client_id = "highwater-consumer";
  std::string group_id;                    // empty: no group; then `assignment` says what to read
  std::vector<std::string> topics;         // with a group: what to subscribe to
  struct Position {
    std::string topic;
    std::int32_t partition = 0;
    std::int64_t offset = -2;              // -2 earliest, -1 latest, or an offset
  };
  std::vector<Position> assignment;        // without a group; empty: all partitions of `topics` from `from_earliest`
  bool from_earliest = true;               // where a group without committed offset, or an assignment, begins
  std::int64_t commit_interval_ms = 1'000; // with a group: commits what was handed out, after the callback; 0: never
  std::int64_t session_timeout_ms = 10'000;
  std::int32_t max_wait_ms = 500;
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
  enum class Kind : std::uint8_t { assigned, revoked, reached_end, error } kind = Kind::error;
  std::vector<std::pair<std::string, std::int32_t>> partitions;  // assigned, revoked, reached_end
  std::string message;                                           // error: in words, with Kafka's error name
  bool fatal = false;                                            // error: this consumer will do nothing more
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

class ClientRunner {
 public:
  ClientRunner();   // starts the thread
  ~ClientRunner();  // closes every client (consumers leave their group) and ends the thread
  ClientRunner(const ClientRunner&) = delete;
  ClientRunner& operator=(const ClientRunner&) = delete;

  [[nodiscard]] ClientHandle add_producer(ProducerOptions options);
  // Bounded: when more than 64 MiB wait in one producer, `done` gets Errc::too_large at once.
  void produce(ClientHandle producer, OutgoingRecord record, std::function<void(Result<Delivery>)> done);
  // Calls `done` when everything produced before has been answered.
  void flush(ClientHandle producer, std::function<void()> done);

  [[nodiscard]] ClientHandle add_consumer(ConsumerOptions options,
                                          std::function<void(std::vector<IncomingRecord>&)> on_records,
                                          std::function<void(const ConsumerEvent&)> on_event = {});

  // Producers flush at most 5 s, consumers commit and leave their group; then `done`, where given.
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
  void call_raw(const std::string& bootstrap, client::Call call, std::function<void(Result<client::Answer>)> done);

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hw::node
