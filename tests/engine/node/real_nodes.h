// SPDX-License-Identifier: Apache-2.0
// Nodes of this process with real sockets, and what a client that asks one of them gets to know.
#pragma once

#include <QElapsedTimer>
#include <QtGlobal>
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/node/cluster.h"
#include "engine/wire/msg/alter_partition_reassignments.h"
#include "engine/wire/msg/create_topics.h"
#include "engine/wire/msg/describe_configs.h"
#include "engine/wire/msg/elect_leaders.h"
#include "engine/wire/msg/fetch.h"
#include "engine/wire/msg/metadata.h"
#include "engine/wire/msg/offset_for_leader_epoch.h"
#include "engine/wire/msg/produce.h"
#include "engine/wire/record/batch.h"
#include "engine/wire/record/batch_builder.h"
#include "tests/engine/node/blocking_client.h"

namespace hw::test {

inline constexpr std::int64_t kPatienceMs = 30'000;

struct RealNodes {
  // The first three are controllers as well. `options` are a beginning: what stands here wins.
  explicit RealNodes(const std::string& directory = {}, std::int32_t nodes = 3, node::ClusterOptions options = {}) {
    options.nodes = nodes;
    options.memory = directory.empty();
    options.directory = directory;
    options.listen.port = 0;
    options.seed = 7;
    const std::map<std::string, std::string> more = std::exchange(
        options.configs, {{"broker.session.timeout.ms", "1000"},  {"broker.heartbeat.interval.ms", "200"},
                          {"replica.lag.time.max.ms", "1500"},    {"controller.quorum.fetch.timeout.ms", "500"},
                          {"controller.quorum.election.timeout.ms", "300"}, {"offsets.topic.num.partitions", "1"},
                          {"group.initial.rebalance.delay.ms", "0"}});
    options.configs.insert(more.begin(), more.end());
    cluster = std::make_unique<node::Cluster>(options);
    if (const Result<void> started = cluster->start(); !started) {
      qWarning("%s", started.error().detail.c_str());
      cluster.reset();
    }
  }

  [[nodiscard]] std::uint16_t port_of(BrokerId id) const {
    const std::vector<BrokerId> ids = cluster->node_ids();
    return cluster->node(static_cast<std::size_t>(std::find(ids.begin(), ids.end(), id) - ids.begin())).port();
  }

  struct Partition {
    BrokerId leader = kNoBroker;
    std::int32_t epoch = -1;
    std::set<BrokerId> isr;
    std::vector<BrokerId> replicas;
    Uuid topic_id;
    std::size_t brokers = 0;
  };
  // As node `asked` sees partition 0 of a topic; nothing while it does not answer.
  [[nodiscard]] std::optional<Partition> look(BrokerId asked, const std::string& topic) const {
    try {
      BlockingClient client(port_of(asked));
      wire::MetadataRequest request;
      request.topics.emplace();
      request.topics->emplace_back().name = topic;
      const auto response = client.ask<wire::MetadataResponse>(request, 12);
      if (response.topics.size() != 1 || response.topics[0].partitions.empty()) {
        return std::nullopt;
      }
      const auto& partition = response.topics[0].partitions[0];
      Partition seen;
      seen.leader = partition.leader_id;
      seen.epoch = partition.leader_epoch.value();
      seen.isr.insert(partition.isr_nodes.begin(), partition.isr_nodes.end());
      seen.replicas = partition.replica_nodes;
      seen.topic_id = response.topics[0].topic_id;
      seen.brokers = response.brokers.size();
      return seen;
    } catch (const std::runtime_error&) {
      return std::nullopt;
    }
  }
  template <class Condition>
  std::optional<Partition> until(BrokerId asked, const std::string& topic, Condition condition) const {
    QElapsedTimer clock;
    clock.start();
    while (clock.elapsed() < kPatienceMs) {
      if (const std::optional<Partition> seen = look(asked, topic); seen && condition(*seen)) {
        return seen;
      }
      std::this_thread::yield();
    }
    return std::nullopt;
  }

  // `replicas` empty: three, where the controller likes.
  wire::ErrorCode create(BrokerId asked, const std::string& name, const std::vector<BrokerId>& replicas = {},
                         const std::map<std::string, std::string>& configs = {{"min.insync.replicas", "2"}}) const {
    BlockingClient client(port_of(asked));
    wire::CreateTopicsRequest request;
    request.timeout_ms = 10'000;
    auto& topic = request.topics.emplace_back();
    topic.name = name;
    topic.num_partitions = replicas.empty() ? 1 : -1;
    topic.replication_factor = replicas.empty() ? 3 : -1;
    if (!replicas.empty()) {
      topic.assignments.emplace_back().broker_ids = replicas;
    }
    for (const auto& [key, value] : configs) {
      auto& config = topic.configs.emplace_back();
      config.name = key;
      config.value = value;
    }
    return client.ask<wire::CreateTopicsResponse>(request, 7).topics.at(0).error_code;
  }

  struct Produced {
    wire::ErrorCode error = wire::ErrorCode::none;
    std::int64_t offset = -1;
  };
  Produced produce(BrokerId at, const std::string& topic, const std::string& value, std::int16_t acks = -1) const {
    BlockingClient client(port_of(at));
    return produce(client, topic, value, acks);
  }
  static Produced produce(BlockingClient& client, const std::string& topic, const std::string& value, std::int16_t acks = -1) {
    send_produce(client, topic, value, acks);
    return receive_produce(client);
  }
  static void send_produce(BlockingClient& client, const std::string& topic, const std::string& value, std::int16_t acks) {
    wire::BatchBuilder builder;
    builder.append(std::nullopt, value, 1'700'000'000'000);
    wire::ProduceRequest request;
    request.acks = acks;
    request.timeout_ms = 10'000;
    wire::ProduceRequest::PartitionProduceData data;
    data.records = BytesChain(builder.finish());
    auto& entry = request.topic_data.emplace_back();
    entry.name = topic;
    entry.partition_data.push_back(std::move(data));
    client.send(request, 9);
  }
  static Produced receive_produce(BlockingClient& client) {
    const auto response = client.receive<wire::ProduceResponse>(9);
    const auto& answer = response.responses.at(0).partition_responses.at(0);
    return {answer.error_code, answer.base_offset.value()};
  }

  // How many records there are for consumers.
  std::int64_t readable(BrokerId at, const std::string& topic) const {
    BlockingClient client(port_of(at));
    wire::FetchRequest request;
    request.max_bytes = 50'000'000;
    auto& entry = request.topics.emplace_back();
    entry.topic = topic;
    auto& wanted = entry.partitions.emplace_back();
    wanted.partition_max_bytes = 50'000'000;
    const auto response = client.ask<wire::FetchResponse>(request, 12);
    const auto& partition = response.responses.at(0).partitions.at(0);
    if (partition.error_code != wire::ErrorCode::none || !partition.records) {
      return partition.error_code == wire::ErrorCode::none ? 0 : -1;
    }
    const Bytes bytes = partition.records->flatten();
    wire::BatchCursor cursor(bytes.span());
    wire::BatchView batch;
    std::int64_t count = 0;
    while (cursor.next(batch)) {
      count = batch.next_offset().value();  // every batch holds one record, from offset 0 on
    }
    return count;
  }

  // The leader's log end offset, which clients see as the end of its own epoch; and where an older epoch ends there.
  struct EpochEnd {
    wire::ErrorCode error = wire::ErrorCode::none;
    std::int32_t epoch = -1;
    std::int64_t offset = -1;
  };
  EpochEnd end_of(BrokerId at, const std::string& topic, std::int32_t epoch, std::int32_t current = -1) const {
    BlockingClient client(port_of(at));
    wire::OffsetForLeaderEpochRequest request;
    request.replica_id = BrokerId(-1);
    auto& wanted = request.topics.emplace_back();
    wanted.topic = topic;
    auto& partition = wanted.partitions.emplace_back();
    partition.leader_epoch = LeaderEpoch(epoch);
    partition.current_leader_epoch = LeaderEpoch(current);
    const auto answer = client.ask<wire::OffsetForLeaderEpochResponse>(request, 4).topics.at(0).partitions.at(0);
    return {answer.error_code, answer.leader_epoch.value(), answer.end_offset.value()};
  }

  // What a consumer is told that fetches from `offset`, knowing so much of epochs.
  wire::FetchResponse::PartitionData fetch(BrokerId at, const std::string& topic, std::int64_t offset, std::int32_t current = -1,
                                           std::int32_t last = -1) const {
    BlockingClient client(port_of(at));
    wire::FetchRequest request;
    request.max_bytes = 50'000'000;
    auto& entry = request.topics.emplace_back();
    entry.topic = topic;
    auto& wanted = entry.partitions.emplace_back();
    wanted.partition_max_bytes = 50'000'000;
    wanted.fetch_offset = Offset(offset);
    wanted.current_leader_epoch = LeaderEpoch(current);
    wanted.last_fetched_epoch = LeaderEpoch(last);
    return client.ask<wire::FetchResponse>(request, 12).responses.at(0).partitions.at(0);
  }

  // Whether a configuration of a topic gets this value where it is asked for: a broker learns of it a little after the controller.
  bool config_becomes(BrokerId asked, const std::string& topic, const std::string& key, const std::string& value) const {
    BlockingClient client(port_of(asked));
    wire::DescribeConfigsRequest request;
    auto& wanted = request.resources.emplace_back();
    wanted.resource_type = 2;
    wanted.resource_name = topic;
    wanted.configuration_keys = {key};
    QElapsedTimer clock;
    clock.start();
    while (clock.elapsed() < kPatienceMs) {
      if (client.ask<wire::DescribeConfigsResponse>(request, 4).results.at(0).configs.at(0).value == value) {
        return true;
      }
      std::this_thread::yield();
    }
    return false;
  }

  // preferred: 0, unclean: 1
  wire::ErrorCode elect(BrokerId asked, const std::string& topic, std::int8_t type) const {
    BlockingClient client(port_of(asked));
    wire::ElectLeadersRequest request;
    request.election_type = type;
    request.topic_partitions.emplace();
    auto& wanted = request.topic_partitions->emplace_back();
    wanted.topic = topic;
    wanted.partitions = {PartitionIndex(0)};
    const auto response = client.ask<wire::ElectLeadersResponse>(request, 2);
    return response.error_code != wire::ErrorCode::none ? response.error_code
                                                        : response.replica_election_results.at(0).partition_result.at(0).error_code;
  }
  wire::ErrorCode reassign(BrokerId asked, const std::string& topic, const std::vector<BrokerId>& replicas) const {
    BlockingClient client(port_of(asked));
    wire::AlterPartitionReassignmentsRequest request;
    auto& wanted = request.topics.emplace_back();
    wanted.name = topic;
    wanted.partitions.emplace_back().replicas = replicas;
    const auto response = client.ask<wire::AlterPartitionReassignmentsResponse>(request, 1);
    return response.error_code != wire::ErrorCode::none ? response.error_code : response.responses.at(0).partitions.at(0).error_code;
  }

  std::unique_ptr<node::Cluster> cluster;
};

inline BrokerId another(BrokerId than) { return BrokerId(than.value() % 3 + 1); }

}  // namespace hw::test
