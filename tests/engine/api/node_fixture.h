// SPDX-License-Identifier: Apache-2.0
// A node without sockets for tests: a client encodes a request, the node's frame comes back and is taken apart.
// Time moves only when a test says so; disk jobs run when settle() is called.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/api/core.h"
#include "engine/base/assert.h"
#include "engine/env/disk.h"
#include "engine/event/event.h"
#include "engine/wire/msg/apis.h"
#include "engine/wire/msg/create_topics.h"
#include "engine/wire/msg/fetch.h"
#include "engine/wire/msg/list_offsets.h"
#include "engine/wire/msg/metadata.h"
#include "engine/wire/msg/produce.h"
#include "engine/wire/record/batch.h"
#include "engine/wire/record/batch_builder.h"
#include "engine/wire/record/record_iterator.h"
#include "engine/wire/runtime/reader.h"
#include "engine/wire/runtime/writer.h"

namespace hw::test {

struct EventLog : event::EventSink {
  std::vector<event::Any> all;
  void emit(event::Any event) override { all.push_back(std::move(event)); }
  template <class Kind>
  [[nodiscard]] std::vector<Kind> of() const {
    std::vector<Kind> found;
    for (const event::Any& event : all) {
      if (const Kind* kind = std::get_if<Kind>(&event)) {
        found.push_back(*kind);
      }
    }
    return found;
  }
};

class TestNode {
 public:
  explicit TestNode(env::Disk& disk, std::map<std::string, std::string> configs = {}, std::uint64_t seed = 1)
      : disk_(disk), configs_(std::move(configs)), seed_(seed) {}

  Result<void> start() {
    api::NodeOptions options;
    options.node = BrokerId(1);
    options.directory = "data/node-1";
    options.more_directories = more_directories;
    options.initial_voters = initial_voters;
    options.advertised_host = "localhost";
    options.advertised_port = 9092;
    options.configs = configs_;
    core = std::make_unique<api::NodeCore>(std::move(options), disk_, &events, nullptr, Prng(seed_++));
    Result<void> started = core->start(now, out);
    settle();
    return started;
  }
  Result<void> stop() {
    Result<void> stopped = core->stop(now);
    core.reset();
    forget();
    return stopped;
  }
  // As a process that dies: nothing is written any more.
  void kill() {
    core.reset();
    forget();
  }
  Result<void> restart() {
    if (Result<void> stopped = stop(); !stopped) {
      return stopped;
    }
    return start();
  }

  ConnectionId connect() {
    const ConnectionId id(++connections_);
    core->connected(id, "127.0.0.1:" + std::to_string(40000 + connections_), now, out);
    settle();
    return id;
  }

  // Runs what the node wants done until it wants nothing.
  void settle() {
    collect();
    while (!jobs_.empty() && !hold_jobs) {
      std::vector<api::Outputs::DiskJob> jobs = std::move(jobs_);
      jobs_.clear();
      for (api::Outputs::DiskJob& job : jobs) {
        const Result<void> result = job.work();
        core->disk_done(job.id, result, now, out);
        collect();
      }
    }
  }
  // With hold_jobs: those that wait now run, what they bring about does not. How many ran.
  std::size_t run_held_jobs() {
    std::vector<api::Outputs::DiskJob> jobs = std::move(jobs_);
    jobs_.clear();
    for (api::Outputs::DiskJob& job : jobs) {
      const Result<void> result = job.work();
      core->disk_done(job.id, result, now, out);
      collect();
    }
    return jobs.size();
  }
  void advance(Duration by) {
    const Instant end = now.instant + by;
    // Deadlines on the way come at their time.
    while (core->next_deadline() <= end) {
      const Instant at = std::max(core->next_deadline(), now.instant);
      now.wall.ms += (at - now.instant).ms();
      now.instant = at;
      core->tick(now, out);
      settle();
    }
    now.wall.ms += (end - now.instant).ms();
    now.instant = end;
  }

  template <class Request>
  static Bytes encode_request(const Request& request, std::int16_t version, std::int32_t correlation,
                              const std::string& client_id = "test") {
    wire::Writer writer;
    writer.int16(Request::kApiKey);
    writer.int16(version);
    writer.int32(correlation);
    writer.string(client_id, false);
    if (wire::request_header_version(Request::kApiKey, version) >= 2) {
      writer.tag_count(0);
    }
    const bool encoded = encode(writer, request, version);
    HW_ASSERT(encoded, "a test's request encodes");
    return Bytes::copy_of(writer.finish().flatten().span());
  }

  template <class Request>
  void send(ConnectionId connection, const Request& request, std::int16_t version) {
    send_frame(connection, encode_request(request, version, ++correlation_, client_id));
  }
  void send_frame(ConnectionId connection, Bytes frame) {
    core->request(connection, std::move(frame), now, out);
    settle();
  }
  [[nodiscard]] bool answered(ConnectionId connection) const { return frames_.contains(connection.value()); }
  [[nodiscard]] bool closed(ConnectionId connection) const { return closed_.contains(connection.value()); }
  [[nodiscard]] std::string close_reason(ConnectionId connection) const {
    const auto it = closed_.find(connection.value());
    return it == closed_.end() ? std::string() : it->second;
  }

  // Takes the answer that waits for `connection`.
  template <class Response>
  Response receive(ConnectionId connection, std::int16_t version) {
    const auto it = frames_.find(connection.value());
    HW_ASSERT(it != frames_.end(), "an answer is there");
    const Bytes frame = it->second;
    frames_.erase(it);
    HW_ASSERT(frame.size() >= 4 && wire::load_u32(frame.data()) == frame.size() - 4, "the frame's length is right");
    return decode_response<Response>(frame.slice(4, frame.size() - 4), version, last_correlation);
  }
  // `frame` without its length.
  template <class Response>
  static Response decode_response(const Bytes& frame, std::int16_t version, std::int32_t& correlation) {
    wire::Reader reader(frame);
    correlation = reader.int32();
    if (wire::response_header_version(Response::kApiKey, version) >= 1) {
      std::vector<wire::RawTaggedField> unknown;
      reader.skip_tags(unknown);
    }
    Response response;
    const bool decoded = decode(reader, response, version) && reader.remaining() == 0;
    HW_ASSERT(decoded, "an answer decodes exactly");
    return response;
  }
  template <class Response, class Request>
  Response call(ConnectionId connection, const Request& request, std::int16_t version) {
    send(connection, request, version);
    return receive<Response>(connection, version);
  }

  // ---- the usual requests
  Uuid create_topic(const std::string& name, std::int32_t partitions = 1, std::map<std::string, std::string> topic_configs = {}) {
    wire::CreateTopicsRequest request;
    auto& topic = request.topics.emplace_back();
    topic.name = name;
    topic.num_partitions = partitions;
    topic.replication_factor = 1;
    for (const auto& [key, value] : topic_configs) {
      auto& config = topic.configs.emplace_back();
      config.name = key;
      config.value = value;
    }
    request.timeout_ms = 1000;
    const ConnectionId connection = connect();
    const auto response = call<wire::CreateTopicsResponse>(connection, request, 7);
    HW_ASSERT(response.topics.size() == 1 && response.topics[0].error_code == wire::ErrorCode::none, "topic created");
    return response.topics[0].topic_id;
  }

  Bytes batch(const std::vector<std::pair<std::string, std::string>>& records, wire::BatchOptions options = {}) const {
    wire::BatchBuilder builder(options);
    for (const auto& [key, value] : records) {
      builder.append(key, value, now.wall.ms);
    }
    return builder.finish();
  }

  static wire::ProduceRequest produce_request(const std::string& topic, std::int32_t partition, const Bytes& records,
                                              std::int16_t acks = -1, Uuid id = {}) {
    wire::ProduceRequest request;
    request.acks = acks;
    request.timeout_ms = 1000;
    auto& data = request.topic_data.emplace_back();
    data.name = topic;
    data.topic_id = id;
    auto& entry = data.partition_data.emplace_back();
    entry.index = partition;
    entry.records = BytesChain(records);
    return request;
  }
  wire::ProduceResponse::PartitionProduceResponse produce(ConnectionId connection, const std::string& topic,
                                                          std::int32_t partition, const Bytes& records,
                                                          std::int16_t version = 12) {
    const auto response =
        call<wire::ProduceResponse>(connection, produce_request(topic, partition, records), version);
    HW_ASSERT(response.responses.size() == 1 && response.responses[0].partition_responses.size() == 1, "one answer");
    return response.responses[0].partition_responses[0];
  }

  struct FetchWish {
    std::int32_t partition = 0;
    std::int64_t offset = 0;
    std::int32_t max_bytes = 1 << 20;
  };
  static wire::FetchRequest fetch_request(const std::string& topic, const std::vector<FetchWish>& wishes, Uuid id = {}) {
    wire::FetchRequest request;
    request.max_bytes = 1 << 24;
    request.max_wait_ms = 0;
    request.min_bytes = 1;
    if (!wishes.empty()) {
      auto& entry = request.topics.emplace_back();
      entry.topic = topic;
      entry.topic_id = id;
      for (const FetchWish& wish : wishes) {
        auto& partition = entry.partitions.emplace_back();
        partition.partition = PartitionIndex(wish.partition);
        partition.fetch_offset = Offset(wish.offset);
        partition.partition_max_bytes = wish.max_bytes;
      }
    }
    return request;
  }
  wire::FetchResponse::PartitionData fetch(ConnectionId connection, const std::string& topic, std::int32_t partition,
                                           std::int64_t offset, std::int32_t max_bytes = 1 << 20) {
    const auto response =
        call<wire::FetchResponse>(connection, fetch_request(topic, {{partition, offset, max_bytes}}), 12);
    HW_ASSERT(response.responses.size() == 1 && response.responses[0].partitions.size() == 1, "one answer");
    return response.responses[0].partitions[0];
  }

  api::Now now{Instant{1'000'000'000}, WallTime{1'700'000'000'000}};
  api::Outputs out;
  EventLog events;
  std::unique_ptr<api::NodeCore> core;
  std::int32_t last_correlation = 0;
  std::string client_id = "test";
  std::vector<std::string> more_directories;  // beside data/node-1
  std::vector<api::ControllerPeer> initial_voters;  // empty: this node alone
  bool hold_jobs = false;                     // a disk that takes its time

 private:
  void collect() {
    if (out.log_level) {
      log_level = *out.log_level;
    }
    for (api::Outputs::Reply& reply : out.replies) {
      muted_ms = reply.throttle.ms();
      if (!reply.frame.empty()) {
        frames_[reply.connection.value()] = reply.frame.flatten();
      } else {
        ++silent;
      }
    }
    std::vector<ConnectionId> gone;
    for (api::Outputs::Close& close : out.closes) {
      closed_.emplace(close.connection.value(), close.reason);
      gone.push_back(close.connection);
    }
    for (api::Outputs::DiskJob& job : out.disk_jobs) {
      jobs_.push_back(std::move(job));
    }
    out.clear();
    for (const ConnectionId connection : gone) {
      core->disconnected(connection, now, out);
    }
  }
  void forget() {
    frames_.clear();
    jobs_.clear();
    out.clear();
  }

 public:
  int silent = 0;             // answers that were not owed
  std::int64_t muted_ms = 0;  // after the last answer
  std::string log_level;      // what the node last asked its shell for

 private:
  env::Disk& disk_;
  std::map<std::string, std::string> configs_;
  std::uint64_t seed_;
  std::uint64_t connections_ = 0;
  std::int32_t correlation_ = 0;
  std::map<std::uint64_t, Bytes> frames_;
  std::map<std::uint64_t, std::string> closed_;
  std::vector<api::Outputs::DiskJob> jobs_;
};

}  // namespace hw::test
