// SPDX-License-Identifier: Apache-2.0
// The administrative side of a whole node by encoded frames: configurations that take effect, quotas that mute, telemetry.
#include <QtTest>

#include <algorithm>

#include "engine/env/memory_disk.h"
#include "engine/wire/msg/alter_client_quotas.h"
#include "engine/wire/msg/api_versions.h"
#include "engine/wire/msg/delete_topics.h"
#include "engine/wire/msg/describe_acls.h"
#include "engine/wire/msg/describe_configs.h"
#include "engine/wire/msg/describe_quorum.h"
#include "engine/wire/msg/get_telemetry_subscriptions.h"
#include "engine/wire/msg/incremental_alter_configs.h"
#include "engine/wire/msg/list_config_resources.h"
#include "engine/wire/msg/push_telemetry.h"
#include "engine/wire/msg/unregister_broker.h"
#include "tests/engine/api/node_fixture.h"

using namespace hw;
using namespace hw::test;
using wire::ErrorCode;

namespace {

constexpr std::uint64_t kDiskBytes = 256U << 20U;
constexpr std::int8_t kTopic = 2;
constexpr std::int8_t kBroker = 4;
constexpr std::int8_t kLogger = 8;
constexpr std::int8_t kClientMetrics = 16;
constexpr std::int8_t kGroup = 32;

struct World {
  explicit World(std::map<std::string, std::string> configs = {}) : disk(kDiskBytes), node(disk, std::move(configs)) {
    const Result<void> started = node.start();
    HW_ASSERT(started.has_value(), "the node starts");
    admin = node.connect();
  }
  ErrorCode set(std::int8_t type, const std::string& name, const std::string& key, std::optional<std::string> value) {
    wire::IncrementalAlterConfigsRequest request;
    auto& resource = request.resources.emplace_back();
    resource.resource_type = type;
    resource.resource_name = name;
    auto& config = resource.configs.emplace_back();
    config.name = key;
    config.config_operation = value ? 0 : 1;
    config.value = value;
    return node.call<wire::IncrementalAlterConfigsResponse>(admin, request, 1).responses.front().error_code;
  }
  // "value@source", or the error's name.
  std::string get(std::int8_t type, const std::string& name, const std::string& key) {
    wire::DescribeConfigsRequest request;
    auto& resource = request.resources.emplace_back();
    resource.resource_type = type;
    resource.resource_name = name;
    resource.configuration_keys = std::vector<std::string>{key};
    const auto result = node.call<wire::DescribeConfigsResponse>(admin, request, 4).results.front();
    if (result.error_code != ErrorCode::none) {
      return std::string(wire::error_name(result.error_code));
    }
    return result.configs.empty() ? "nothing"
                                  : result.configs.front().value.value_or("null") + "@" +
                                        std::to_string(result.configs.front().config_source);
  }
  void quota(const std::string& client_id, const std::string& key, double value, bool remove = false) {
    wire::AlterClientQuotasRequest request;
    auto& entry = request.entries.emplace_back();
    auto& part = entry.entity.emplace_back();
    part.entity_type = "client-id";
    part.entity_name = client_id;
    auto& op = entry.ops.emplace_back();
    op.key = key;
    op.value = value;
    op.remove = remove;
    const auto response = node.call<wire::AlterClientQuotasResponse>(admin, request, 1);
    HW_ASSERT(response.entries.front().error_code == ErrorCode::none, "the quota is set");
  }

  env::MemoryDisk disk;
  TestNode node;
  ConnectionId admin;
};

}  // namespace

class TestAdmin : public QObject {
  Q_OBJECT
 private slots:
  void a_topics_limit_takes_effect_at_once();
  void a_brokers_default_reaches_topics_and_survives();
  void groups_and_metrics_have_configs();
  void loggers();
  void resources_are_listed();
  void connections_are_limited();
  void connections_have_a_rate();
  void quiet_connections_are_closed();
  void producers_are_muted();
  void fetches_are_emptied();
  void the_nodes_time_is_shared();
  void mutations_are_limited();
  void quotas_survive_a_restart();
  void telemetry();
  void telemetry_follows_subscriptions();
  void the_quorum_describes_itself();
  void no_security_says_so();
  void a_broker_unregistered_by_mistake_comes_back();
};

void TestAdmin::a_topics_limit_takes_effect_at_once() {
  World world;
  world.node.create_topic("t");
  const Bytes big = world.node.batch({{"k", std::string(5'000, 'x')}});
  QVERIFY(world.node.produce(world.admin, "t", 0, big).error_code == ErrorCode::none);
  QVERIFY(world.set(kTopic, "t", "max.message.bytes", "1000") == ErrorCode::none);
  QVERIFY(world.node.produce(world.admin, "t", 0, big).error_code == ErrorCode::message_too_large);
  QVERIFY(world.set(kTopic, "t", "max.message.bytes", std::nullopt) == ErrorCode::none);
  QVERIFY(world.node.produce(world.admin, "t", 0, big).error_code == ErrorCode::none);
}

void TestAdmin::a_brokers_default_reaches_topics_and_survives() {
  World world;
  world.node.create_topic("t");
  world.node.create_topic("own", 1, {{"max.message.bytes", "2000000"}});
  QVERIFY(world.set(kBroker, "", "message.max.bytes", "1000") == ErrorCode::none);
  QCOMPARE(world.get(kTopic, "t", "max.message.bytes"), std::string("1000@3"));
  const Bytes big = world.node.batch({{"k", std::string(5'000, 'x')}});
  QVERIFY(world.node.produce(world.admin, "t", 0, big).error_code == ErrorCode::message_too_large);
  QVERIFY(world.node.produce(world.admin, "own", 0, big).error_code == ErrorCode::none);
  QVERIFY(world.set(kBroker, "1", "message.max.bytes", "9000") == ErrorCode::none);
  QCOMPARE(world.get(kTopic, "t", "max.message.bytes"), std::string("9000@2"));
  QVERIFY(world.node.produce(world.admin, "t", 0, big).error_code == ErrorCode::none);
  QVERIFY(world.node.restart().has_value());
  world.admin = world.node.connect();
  QCOMPARE(world.get(kTopic, "t", "max.message.bytes"), std::string("9000@2"));
  QCOMPARE(world.get(kBroker, "", "message.max.bytes"), std::string("1000@3"));
  QVERIFY(world.node.produce(world.admin, "t", 0, big).error_code == ErrorCode::none);
}

void TestAdmin::groups_and_metrics_have_configs() {
  World world;
  QCOMPARE(world.get(kGroup, "g", "streams.assignor.name"), std::string("sticky@5"));
  QVERIFY(world.set(kGroup, "g", "consumer.session.timeout.ms", "50000") == ErrorCode::none);
  QCOMPARE(world.get(kGroup, "g", "consumer.session.timeout.ms"), std::string("50000@8"));
  QCOMPARE(world.get(kGroup, "", "consumer.session.timeout.ms"), std::string("INVALID_REQUEST"));
  QVERIFY(world.set(kClientMetrics, "m", "interval.ms", "1000") == ErrorCode::none);
  QCOMPARE(world.get(kClientMetrics, "m", "interval.ms"), std::string("1000@7"));
  QCOMPARE(world.get(77, "x", "a"), std::string("INVALID_REQUEST"));
}

void TestAdmin::loggers() {
  World world;
  QCOMPARE(world.get(kLogger, "1", "root"), std::string("INFO@6"));
  QVERIFY(world.set(kLogger, "1", "root", "WARN") == ErrorCode::none);
  QCOMPARE(world.node.log_level, std::string("WARN"));
  QCOMPARE(world.get(kLogger, "1", "root"), std::string("WARN@6"));
  QVERIFY(world.set(kLogger, "1", "root", "LOUD") == ErrorCode::invalid_config);
  QVERIFY(world.set(kLogger, "1", "no.such.logger", "WARN") == ErrorCode::invalid_config);
  QVERIFY(world.set(kLogger, "1", "root", std::nullopt) == ErrorCode::invalid_request);
  QVERIFY(world.set(kLogger, "77", "root", "INFO") == ErrorCode::invalid_request);
  QCOMPARE(world.get(kLogger, "77", "root"), std::string("INVALID_REQUEST"));
  QCOMPARE(world.node.log_level, std::string("WARN"));
}

void TestAdmin::resources_are_listed() {
  World world;
  world.node.create_topic("t");
  world.set(kGroup, "g", "consumer.session.timeout.ms", "50000");
  world.set(kClientMetrics, "m", "interval.ms", "1000");
  const auto list = [&](std::vector<std::int8_t> types, std::int16_t version) {
    wire::ListConfigResourcesRequest request;
    request.resource_types = std::move(types);
    const auto response = world.node.call<wire::ListConfigResourcesResponse>(world.admin, request, version);
    std::string text = response.error_code == ErrorCode::none ? "" : std::string(wire::error_name(response.error_code));
    for (const auto& resource : response.config_resources) {
      text += std::to_string(resource.resource_type) + ":" + resource.resource_name + " ";
    }
    return text;
  };
  QCOMPARE(list({}, 1), std::string("32:g 16:m 8:1 4:1 2:t "));
  QCOMPARE(list({}, 0), std::string("16:m "));
  QCOMPARE(list({2, 2}, 1), std::string("2:t "));
  QCOMPARE(list({2, 77}, 1), std::string("UNSUPPORTED_VERSION"));
}

void TestAdmin::connections_are_limited() {
  World world;
  QVERIFY(world.set(kBroker, "", "max.connections.per.ip", "3") == ErrorCode::none);
  std::vector<ConnectionId> open = {world.node.connect(), world.node.connect()};
  const ConnectionId refused = world.node.connect();
  QVERIFY(!world.node.closed(open[1]));
  QVERIFY(world.node.closed(refused));
  QVERIFY(world.node.close_reason(refused).find("max.connections.per.ip") != std::string::npos);
  QVERIFY(world.set(kBroker, "", "max.connections.per.ip.overrides", "127.0.0.1:4") == ErrorCode::none);
  QVERIFY(!world.node.closed(world.node.connect()));
  QVERIFY(world.node.closed(world.node.connect()));
  QVERIFY(world.node.core->may_accept());
  QVERIFY(world.set(kBroker, "1", "max.connections", "4") == ErrorCode::none);
  QVERIFY(!world.node.core->may_accept());
  world.node.core->disconnected(open[0], world.node.now, world.node.out);
  QVERIFY(world.node.core->may_accept());
}

void TestAdmin::connections_have_a_rate() {
  World world;
  wire::AlterClientQuotasRequest request;
  auto& entry = request.entries.emplace_back();
  auto& part = entry.entity.emplace_back();
  part.entity_type = "ip";
  part.entity_name.reset();
  auto& op = entry.ops.emplace_back();
  op.key = "connection_creation_rate";
  op.value = 1;
  world.node.call<wire::AlterClientQuotasResponse>(world.admin, request, 1);
  for (int i = 0; i < 10; ++i) {  // ten windows' worth at once
    QVERIFY(!world.node.closed(world.node.connect()));
  }
  const ConnectionId refused = world.node.connect();
  QVERIFY(world.node.close_reason(refused).find("connection_creation_rate") != std::string::npos);
  world.node.advance(milliseconds(11'000));
  QVERIFY(!world.node.closed(world.node.connect()));

  QVERIFY(world.set(kBroker, "", "max.connection.creation.rate", "1") == ErrorCode::none);
  QVERIFY(world.node.core->may_accept());
  for (int i = 0; i < 11; ++i) {
    world.node.connect();
  }
  QVERIFY(!world.node.core->may_accept());
  world.node.advance(milliseconds(1'100));
  QVERIFY(world.node.core->may_accept());
}

void TestAdmin::quiet_connections_are_closed() {
  World world(std::map<std::string, std::string>{{"connections.max.idle.ms", "10000"}});
  const ConnectionId quiet = world.node.connect();
  world.node.advance(milliseconds(6'000));
  QCOMPARE(world.get(kBroker, "1", "num.partitions"), std::string("1@5"));
  world.node.advance(milliseconds(6'000));
  QVERIFY(world.node.closed(quiet));
  QVERIFY(!world.node.closed(world.admin));
  world.node.advance(milliseconds(6'000));
  QVERIFY(world.node.closed(world.admin));
}

void TestAdmin::producers_are_muted() {
  World world;
  world.node.create_topic("t");
  world.quota("slow", "producer_byte_rate", 1000);
  world.node.client_id = "slow";
  const ConnectionId slow = world.node.connect();
  const auto produce = [&](std::size_t bytes, std::int16_t acks) {
    return TestNode::produce_request("t", 0, world.node.batch({{"k", std::string(bytes, 'x')}}), acks);
  };
  const auto first = world.node.call<wire::ProduceResponse>(slow, produce(100, -1), 12);
  QCOMPARE(first.throttle_time_ms, 0);
  QCOMPARE(world.node.muted_ms, 0);
  // The records are taken, the answer comes at once, and the connection is not read for as long as it says.
  const auto second = world.node.call<wire::ProduceResponse>(slow, produce(20'000, -1), 12);
  QVERIFY(second.responses[0].partition_responses[0].error_code == ErrorCode::none);
  QVERIFY(second.throttle_time_ms > 10'000 && second.throttle_time_ms < 10'600);
  QCOMPARE(world.node.muted_ms, std::int64_t{second.throttle_time_ms});
  const int silent = world.node.silent;
  world.node.send(slow, produce(100, 0), 12);
  QCOMPARE(world.node.silent, silent + 1);
  QVERIFY(world.node.muted_ms > 10'000);  // nobody is told with acks=0, but muted all the same
  world.node.client_id = "other";
  QCOMPARE(world.node.call<wire::ProduceResponse>(world.node.connect(), produce(20'000, -1), 12).throttle_time_ms, 0);
  world.node.advance(milliseconds(21'000));
  world.node.client_id = "slow";
  QCOMPARE(world.node.call<wire::ProduceResponse>(slow, produce(100, -1), 12).throttle_time_ms, 0);
}

void TestAdmin::fetches_are_emptied() {
  World world;
  world.node.create_topic("t");
  for (int i = 0; i < 5; ++i) {
    QVERIFY(world.node.produce(world.admin, "t", 0, world.node.batch({{"k", std::string(6'000, 'x')}})).error_code == ErrorCode::none);
  }
  world.quota("slow", "consumer_byte_rate", 1000);
  world.node.client_id = "slow";
  const ConnectionId slow = world.node.connect();
  wire::FetchRequest request = TestNode::fetch_request("t", {{0, 0, 7'000}});
  request.session_epoch = 0;  // a new session
  const auto first = world.node.call<wire::FetchResponse>(slow, request, 12);
  QCOMPARE(first.throttle_time_ms, 0);
  QVERIFY(first.responses[0].partitions[0].records->size() > 6'000);
  QVERIFY(first.session_id != 0);
  wire::FetchRequest next = TestNode::fetch_request("", {});
  next.session_id = first.session_id;
  next.session_epoch = 1;
  const auto second = world.node.call<wire::FetchResponse>(slow, next, 12);
  QVERIFY(second.error_code == ErrorCode::none);
  QVERIFY(second.throttle_time_ms > 0);
  QVERIFY(second.responses.empty());
  QCOMPARE(second.session_id, first.session_id);
  QCOMPARE(world.node.muted_ms, std::int64_t{second.throttle_time_ms});
  // What was not sent does not count: after the window the same records come.
  world.node.advance(milliseconds(11'000));
  next.session_epoch = 2;
  const auto third = world.node.call<wire::FetchResponse>(slow, next, 12);
  QCOMPARE(third.throttle_time_ms, 0);
  QVERIFY(third.responses[0].partitions[0].records->size() > 6'000);
}

void TestAdmin::the_nodes_time_is_shared() {
  World world;
  world.quota("slow", "request_percentage", 1);
  world.node.client_id = "slow";
  const ConnectionId slow = world.node.connect();
  const auto ask = [&] {
    wire::MetadataRequest request;
    request.topics.emplace();
    return world.node.call<wire::MetadataResponse>(slow, request, 13).throttle_time_ms;
  };
  QCOMPARE(ask(), 0);
  world.node.core->spent(slow, milliseconds(50), world.node.now);  // half of what ten seconds allow
  QCOMPARE(ask(), 0);
  world.node.core->spent(slow, milliseconds(60), world.node.now);
  QCOMPARE(ask(), 1'000);  // 10 % too much of ten seconds, and never more than one window
  QCOMPARE(world.node.muted_ms, std::int64_t{1'000});
  world.node.advance(milliseconds(11'000));
  QCOMPARE(ask(), 0);
}

void TestAdmin::mutations_are_limited() {
  World world;
  world.quota("test", "controller_mutation_rate", 1);
  const auto create = [&](const std::string& name, std::int16_t version) {
    wire::CreateTopicsRequest request;
    auto& topic = request.topics.emplace_back();
    topic.name = name;
    topic.num_partitions = 6;
    topic.replication_factor = 1;
    return world.node.call<wire::CreateTopicsResponse>(world.admin, request, version);
  };
  QVERIFY(create("a", 7).topics[0].error_code == ErrorCode::none);
  QVERIFY(create("b", 7).topics[0].error_code == ErrorCode::none);
  const auto refused = create("c", 7);
  QVERIFY(refused.topics[0].error_code == ErrorCode::throttling_quota_exceeded);
  QCOMPARE(refused.throttle_time_ms, 2'000);  // twelve taken of ten
  QCOMPARE(world.node.muted_ms, std::int64_t{2'000});
  const auto permissive = create("d", 5);  // does not know the error
  QVERIFY(permissive.topics[0].error_code == ErrorCode::none);
  QCOMPARE(permissive.throttle_time_ms, 8'000);
  world.node.advance(milliseconds(8'000));
  QVERIFY(create("e", 7).topics[0].error_code == ErrorCode::none);
}

void TestAdmin::quotas_survive_a_restart() {
  World world;
  world.node.create_topic("t");
  world.quota("test", "producer_byte_rate", 10);
  QVERIFY(world.node.restart().has_value());
  world.admin = world.node.connect();
  const auto request = TestNode::produce_request("t", 0, world.node.batch({{"k", std::string(10'000, 'x')}}));
  QVERIFY(world.node.call<wire::ProduceResponse>(world.admin, request, 12).throttle_time_ms > 0);
  world.quota("test", "producer_byte_rate", 0, true);
  const auto again = TestNode::produce_request("t", 0, world.node.batch({{"k", std::string(10'000, 'x')}}));
  QCOMPARE(world.node.call<wire::ProduceResponse>(world.admin, again, 12).throttle_time_ms, 0);
}

void TestAdmin::telemetry() {
  World world;
  const auto ask = [&](const Uuid& id) {
    wire::GetTelemetrySubscriptionsRequest request;
    request.client_instance_id = id;
    return world.node.call<wire::GetTelemetrySubscriptionsResponse>(world.admin, request, 0);
  };
  const auto push = [&](const Uuid& id, std::int32_t subscription, bool terminating = false, std::int8_t compression = 0,
                        std::size_t bytes = 0) {
    wire::PushTelemetryRequest request;
    request.client_instance_id = id;
    request.subscription_id = subscription;
    request.terminating = terminating;
    request.compression_type = compression;
    request.metrics = Bytes::copy_of(as_bytes(std::string(bytes, 'x')));
    return world.node.call<wire::PushTelemetryResponse>(world.admin, request, 0).error_code;
  };
  const auto first = ask({});
  QVERIFY(first.error_code == ErrorCode::none && !first.client_instance_id.is_zero());
  QCOMPARE(first.push_interval_ms, 300'000);
  QCOMPARE(first.telemetry_max_bytes, 1'048'576);
  QVERIFY(first.delta_temporality && first.requested_metrics.empty());
  QVERIFY((first.accepted_compression_types == std::vector<std::int8_t>{4, 3, 1, 2}));
  const Uuid id = first.client_instance_id;
  QVERIFY(ask(id).error_code == ErrorCode::throttling_quota_exceeded);
  QVERIFY(push(id, first.subscription_id) == ErrorCode::none);  // the first comes when it likes
  QVERIFY(push(id, first.subscription_id) == ErrorCode::throttling_quota_exceeded);
  QVERIFY(push(id, first.subscription_id + 1) == ErrorCode::throttling_quota_exceeded);
  QVERIFY(push(id, first.subscription_id, true, 9) == ErrorCode::unsupported_compression_type);
  QVERIFY(push(id, first.subscription_id, true) == ErrorCode::invalid_request);  // it said that it ends
  QVERIFY(push({}, first.subscription_id) == ErrorCode::invalid_request);

  const auto second = ask({});
  QVERIFY(push(second.client_instance_id, second.subscription_id, false, 0, 1'048'577) == ErrorCode::telemetry_too_large);
  const auto third = ask({});
  QVERIFY(push(third.client_instance_id, third.subscription_id + 1) == ErrorCode::unknown_subscription_id);
  QVERIFY(ask(third.client_instance_id).error_code == ErrorCode::none);  // it must ask again, so it may
  const auto fourth = ask({});
  QVERIFY(push(fourth.client_instance_id, fourth.subscription_id, true) == ErrorCode::none);  // out of its turn, once
  // The id of 4.4.0 for an instance without subscriptions: a CRC of "[]300000", mixed with the instance.
  QCOMPARE(ask(*Uuid::parse("stOmceNuSX6_NLFukjwFSw")).subscription_id, -1'468'923'660);

  wire::ApiVersionsRequest versions;
  versions.client_software_name = "x";
  versions.client_software_version = "1";
  const auto offered = world.node.call<wire::ApiVersionsResponse>(world.admin, versions, 4);
  QVERIFY(std::none_of(offered.api_keys.begin(), offered.api_keys.end(),
                       [](const auto& api) { return api.api_key == 71 || api.api_key == 72; }));
}

void TestAdmin::telemetry_follows_subscriptions() {
  World world;
  const auto ask = [&](const std::string& client_id, const Uuid& id = {}) {
    world.node.client_id = client_id;
    wire::GetTelemetrySubscriptionsRequest request;
    request.client_instance_id = id;
    return world.node.call<wire::GetTelemetrySubscriptionsResponse>(world.node.connect(), request, 0);
  };
  const auto before = ask("abcd");
  QVERIFY(world.set(kClientMetrics, "m", "match", "client_id=ab.*") == ErrorCode::none);
  QVERIFY(world.set(kClientMetrics, "m", "metrics", "a.b,c") == ErrorCode::none);
  QVERIFY(world.set(kClientMetrics, "m", "interval.ms", "1000") == ErrorCode::none);
  const auto after = ask("abcd", before.client_instance_id);  // before its time, but there is news
  QVERIFY(after.error_code == ErrorCode::none);
  QVERIFY((after.requested_metrics == std::vector<std::string>{"a.b", "c"}));
  QCOMPARE(after.push_interval_ms, 1'000);
  QVERIFY(after.subscription_id != before.subscription_id);
  QVERIFY(ask("xyz").requested_metrics.empty());
  QVERIFY(world.set(kClientMetrics, "all", "metrics", "*") == ErrorCode::none);
  QVERIFY((ask("xyz").requested_metrics == std::vector<std::string>{"*"}));
  QVERIFY((ask("abcd").requested_metrics == std::vector<std::string>{"*"}));
  for (const char* key : {"match", "metrics", "interval.ms"}) {
    QVERIFY(world.set(kClientMetrics, "m", key, std::nullopt) == ErrorCode::none);
  }
  QCOMPARE(ask("abcd").push_interval_ms, 300'000);
}

void TestAdmin::the_quorum_describes_itself() {
  World world;
  wire::DescribeQuorumRequest request;
  auto& topic = request.topics.emplace_back();
  topic.topic_name = "__cluster_metadata";
  topic.partitions.emplace_back().partition_index = PartitionIndex(0);
  const auto right = world.node.call<wire::DescribeQuorumResponse>(world.admin, request, 2);
  const auto& partition = right.topics[0].partitions[0];
  QVERIFY(partition.error_code == ErrorCode::none);
  QVERIFY(partition.leader_id == BrokerId(1) && partition.leader_epoch.value() > 0);
  QCOMPARE(partition.current_voters.size(), std::size_t{1});
  QCOMPARE(partition.current_voters[0].log_end_offset.value(), partition.high_watermark);
  QVERIFY(!partition.current_voters[0].replica_directory_id.is_zero());
  QVERIFY(partition.observers.empty());
  QCOMPARE(right.nodes.size(), std::size_t{1});
  request.topics[0].topic_name = "zz";
  const auto wrong = world.node.call<wire::DescribeQuorumResponse>(world.admin, request, 2);
  QVERIFY(wrong.error_code == ErrorCode::none);
  QVERIFY(wrong.topics[0].partitions[0].error_code == ErrorCode::unknown_topic_or_partition);
  QVERIFY(wrong.nodes.empty());
}

void TestAdmin::no_security_says_so() {
  World world;
  wire::DescribeAclsRequest request;
  request.resource_type_filter = 1;
  request.pattern_type_filter = 1;
  request.operation = 1;
  request.permission_type = 1;
  QVERIFY(world.node.call<wire::DescribeAclsResponse>(world.admin, request, 3).error_code == ErrorCode::security_disabled);
}

void TestAdmin::a_broker_unregistered_by_mistake_comes_back() {
  World world;
  world.node.create_topic("t");
  const auto unregister = [&](std::int32_t id) {
    wire::UnregisterBrokerRequest request;
    request.broker_id = BrokerId(id);
    return world.node.call<wire::UnregisterBrokerResponse>(world.admin, request, 0).error_code;
  };
  QVERIFY(unregister(99) == ErrorCode::broker_id_not_registered);
  QVERIFY(unregister(1) == ErrorCode::none);
  // Its next heartbeat tells it, and it registers anew.
  for (int i = 0; i < 5; ++i) {
    world.node.advance(milliseconds(200));
  }
  QVERIFY(world.node.produce(world.admin, "t", 0, world.node.batch({{"k", "v"}})).error_code == ErrorCode::none);
}

QTEST_APPLESS_MAIN(TestAdmin)
#include "tst_admin.moc"
