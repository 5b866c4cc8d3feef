// SPDX-License-Identifier: Apache-2.0
// Producers, consumers and an administrator in a World, with what a test wants to know of them.
#pragma once

#include <QTest>
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/client/admin.h"
#include "engine/client/consumer.h"
#include "engine/client/producer.h"
#include "engine/wire/record/record_iterator.h"
#include "engine_world.h"

namespace hw::test {

inline client::ClusterConfig at_world() {
  client::ClusterConfig config;
  config.bootstrap = {{"one", 1}};
  config.request_timeout = seconds(5);
  return config;
}

struct WorldAdmin {
  explicit WorldAdmin(World& in) : world(in) { actor = world.add(core, out); }
  World& world;
  client::Admin core{at_world()};
  client::AdminOutputs out;
  int actor = 0;

  client::AdminResult finish() {
    const bool done = world.run([this] { return !out.results.empty(); });
    HW_ASSERT(done, "the call ends");
    client::AdminResult result = std::move(out.results.front());
    out.results.clear();
    return result;
  }
  void create(const std::string& topic, std::int32_t partitions, std::vector<std::pair<std::string, std::string>> configs = {}) {
    core.create_topic(1, {topic, partitions, 1, std::move(configs)}, world.now + seconds(30));
    const client::AdminResult result = finish();
    HW_ASSERT(!result.error, "the topic is created");
  }
  template <class Response, class Body>
  Response call(client::Target target, Body body, client::CallOptions options = {}) {
    core.call(1, client::make_call<Response>(std::move(target), std::move(body), options), world.now + options.timeout);
    const client::AdminResult result = finish();
    HW_ASSERT(!result.error, "there is an answer");
    Response response;
    const bool read = client::decode_answer(std::get<client::Answer>(result.value), response);
    HW_ASSERT(read, "it can be read");
    return response;
  }
};

struct WorldProducer {
  explicit WorldProducer(World& in, client::ProducerConfig config = {}, std::uint64_t seed = 1)
      : world(in), core((config.cluster = at_world(), config), Prng(seed)) {
    actor = world.add(core, out);
  }
  World& world;
  client::Producer core;
  client::ProducerOutputs out;
  int actor = 0;
  std::uint64_t next = 1;

  std::uint64_t send(const std::string& topic, std::optional<std::int32_t> partition, const std::string& value,
                     std::optional<std::string> key = std::nullopt) {
    client::ProducerRecord record;
    record.topic = topic;
    record.partition = partition;
    if (key) {
      record.key = Bytes::copy_of(*key);
    }
    record.value = Bytes::copy_of(value);
    record.timestamp_ms = 1'700'000'000'000;
    record.token = next++;
    return core.send(std::move(record), world.now, out) ? next - 1 : 0;
  }
  bool settle(Duration limit = seconds(200)) {
    return world.run([this] { return core.unanswered() == 0; }, limit);
  }
  const client::Delivery* delivery(std::uint64_t token) const {
    const client::Delivery* found = nullptr;
    for (const client::Delivery& one : out.deliveries) {
      if (one.token == token) {
        HW_ASSERT(found == nullptr, "one delivery for each record");
        found = &one;
      }
    }
    return found;
  }
  [[nodiscard]] std::size_t failed() const {
    return static_cast<std::size_t>(std::count_if(out.deliveries.begin(), out.deliveries.end(),
                                                  [](const client::Delivery& one) { return one.error.has_value(); }));
  }
};

struct WorldConsumer {
  explicit WorldConsumer(World& in, client::ConsumerConfig config)
      : world(in), core((config.cluster.bootstrap = {{"one", 1}}, config), world.now) {
    actor = world.add(core, out);
  }
  World& world;
  client::Consumer core;
  client::ConsumerOutputs out;
  int actor = 0;

  [[nodiscard]] std::vector<std::string> values() const {
    std::vector<std::string> all;
    for (const client::ConsumedRecord& record : out.records) {
      all.emplace_back(record.value->text());
    }
    return all;
  }
  [[nodiscard]] std::size_t events(client::ConsumerEvent::Kind kind) const {
    return static_cast<std::size_t>(std::count_if(out.events.begin(), out.events.end(),
                                                  [kind](const client::ConsumerEvent& event) { return event.kind == kind; }));
  }
  [[nodiscard]] const client::ConsumerEvent* last(client::ConsumerEvent::Kind kind) const {
    for (auto event = out.events.rbegin(); event != out.events.rend(); ++event) {
      if (event->kind == kind) {
        return &*event;
      }
    }
    return nullptr;
  }
  // What it has now, from its events.
  [[nodiscard]] std::set<client::TopicPartition> has() const {
    std::set<client::TopicPartition> now;
    for (const client::ConsumerEvent& event : out.events) {
      for (const client::TopicPartition& partition : event.partitions) {
        if (event.kind == client::ConsumerEvent::Kind::assigned) {
          now.insert(partition);
        } else if (event.kind == client::ConsumerEvent::Kind::revoked) {
          now.erase(partition);
        }
      }
    }
    return now;
  }
  bool got(std::size_t count, Duration limit = seconds(120)) {
    return world.run([this, count] { return out.records.size() >= count; }, limit);
  }
  bool close() {
    core.close(world.now, out);
    return world.run([this] { return core.closed(); }, seconds(10));
  }
  void crash() {
    core.crash(out);
    world.remove(actor);
  }
};

inline std::vector<std::string> stored(World& world, const std::string& topic, std::int32_t partition) {
  std::vector<std::string> all;
  for (const Bytes& batch : world.batches(topic, partition)) {
    Result<wire::RecordIterator> records = wire::RecordIterator::open(batch);
    HW_ASSERT(records.has_value(), "the batch decodes");
    for (wire::RecordView record; records->next(record);) {
      all.emplace_back(as_text(*record.value));
    }
  }
  return all;
}

}  // namespace hw::test
