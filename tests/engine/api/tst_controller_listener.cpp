// SPDX-License-Identifier: Apache-2.0
// A node's listener for controllers, by encoded frames: which APIs it has, and what brokers are answered there. The
// answers are those of 4.4.0 to the same questions (shared probes of a quorum).
#include <QtTest>

#include "engine/env/memory_disk.h"
#include "engine/metadata/controller.h"
#include "engine/wire/msg/allocate_producer_ids.h"
#include "engine/wire/msg/alter_partition.h"
#include "engine/wire/msg/api_versions.h"
#include "engine/wire/msg/assign_replicas_to_dirs.h"
#include "engine/wire/msg/broker_heartbeat.h"
#include "engine/wire/msg/broker_registration.h"
#include "engine/wire/msg/controller_registration.h"
#include "engine/wire/msg/create_topics.h"
#include "engine/wire/msg/describe_cluster.h"
#include "engine/wire/msg/list_partition_reassignments.h"
#include "engine/wire/msg/metadata.h"
#include "engine/wire/msg/unregister_controller.h"
#include "tests/engine/api/node_fixture.h"

using namespace hw;
using namespace hw::test;
using wire::ErrorCode;

namespace {

struct World {
  World() : disk(256U << 20U), node(disk) {
    const Result<void> started = node.start();
    HW_ASSERT(started.has_value(), "the node starts");
    controller = connect_controller();
  }
  ConnectionId connect_controller() {
    const ConnectionId id(++last);
    node.core->connected(id, "127.0.0.1:50000", node.now, node.out, nullptr, api::ListenerKind::controller);
    node.settle();
    return id;
  }
  wire::BrokerRegistrationRequest registration(std::int32_t id) {
    wire::BrokerRegistrationRequest request;
    request.broker_id = BrokerId(id);
    wire::DescribeClusterRequest ask;
    request.cluster_id = node.call<wire::DescribeClusterResponse>(node.connect(), ask, 2).cluster_id;
    request.incarnation_id = Uuid{7, 7};
    auto& listener = request.listeners.emplace_back();
    listener.name = std::string("PLAINTEXT");
    listener.host = std::string("elsewhere");
    listener.port = 9092;
    for (const metadata::FeatureRange& range : metadata::supported_features()) {
      auto& feature = request.features.emplace_back();
      feature.name = range.name;
      feature.min_supported_version = range.min_supported;
      feature.max_supported_version = range.max_supported;
    }
    request.log_dirs = {Uuid{7, 8}};
    return request;
  }

  env::MemoryDisk disk;
  TestNode node;
  ConnectionId controller;
  std::uint64_t last = 1'000'000;
};

}  // namespace

class TestControllerListener : public QObject {
  Q_OBJECT
 private slots:
  void its_apis_are_not_those_of_brokers();
  void controllers_are_described();
  void a_second_broker_registers_and_leads();
  void registrations_are_refused();
  void outdated_brokers_are_refused();
  void topics_are_created_there();
};

void TestControllerListener::its_apis_are_not_those_of_brokers() {
  World world;
  const auto offered = [&](ConnectionId connection) {
    std::map<std::int16_t, std::pair<std::int16_t, std::int16_t>> result;
    wire::ApiVersionsRequest ask;
    ask.client_software_name = std::string("x");
    ask.client_software_version = std::string("1");
    for (const auto& api : world.node.call<wire::ApiVersionsResponse>(connection, ask, 3).api_keys) {
      result[api.api_key] = {api.min_version, api.max_version};
    }
    return result;
  };
  const auto here = offered(world.controller);
  const auto at_broker = offered(world.node.connect());
  using Range = std::pair<std::int16_t, std::int16_t>;
  const std::map<std::int16_t, Range> golden{{56, {2, 3}}, {94, {0, 0}}, {58, {0, 0}}, {62, {0, 4}}, {63, {0, 2}},
                                             {67, {0, 0}}, {70, {0, 0}}, {73, {0, 0}}};
  for (const auto& [key, range] : golden) {
    QVERIFY2(here.contains(key) && here.at(key) == range, QByteArray::number(key));
    QVERIFY2(at_broker.contains(key) == (key == wire::UnregisterControllerRequest::kApiKey), QByteArray::number(key));
  }
  QVERIFY(!here.contains(wire::MetadataRequest::kApiKey));
  world.node.send(world.controller, wire::MetadataRequest{}, 9);
  QVERIFY(world.node.closed(world.controller));
}

void TestControllerListener::controllers_are_described() {
  World world;
  wire::DescribeClusterRequest ask;
  ask.endpoint_type = 2;
  const auto here = world.node.call<wire::DescribeClusterResponse>(world.controller, ask, 2);
  QCOMPARE(here.error_code, ErrorCode::none);
  QCOMPARE(here.brokers.size(), std::size_t{1});
  QVERIFY(here.brokers.front().broker_id == BrokerId(1) && here.controller_id == BrokerId(1));
  QCOMPARE(int{here.endpoint_type}, 2);
  ask.endpoint_type = 1;
  QCOMPARE(world.node.call<wire::DescribeClusterResponse>(world.controller, ask, 2).error_code,
           ErrorCode::mismatched_endpoint_type);
  ask.endpoint_type = 3;
  QCOMPARE(world.node.call<wire::DescribeClusterResponse>(world.controller, ask, 2).error_code,
           ErrorCode::unsupported_endpoint_type);
  ask.endpoint_type = 2;
  QCOMPARE(world.node.call<wire::DescribeClusterResponse>(world.node.connect(), ask, 2).error_code,
           ErrorCode::mismatched_endpoint_type);
}

void TestControllerListener::a_second_broker_registers_and_leads() {
  World world;
  const auto registered = world.node.call<wire::BrokerRegistrationResponse>(world.controller, world.registration(5), 4);
  QCOMPARE(registered.error_code, ErrorCode::none);
  wire::DescribeClusterRequest all;
  all.include_fenced_brokers = true;
  const auto cluster = world.node.call<wire::DescribeClusterResponse>(world.node.connect(), all, 2);
  QCOMPARE(cluster.brokers.size(), std::size_t{2});
  QVERIFY(!cluster.brokers[0].is_fenced && cluster.brokers[1].is_fenced);
  wire::BrokerHeartbeatRequest beat;
  beat.broker_id = BrokerId(5);
  beat.broker_epoch = registered.broker_epoch;
  beat.current_metadata_offset = Offset(registered.broker_epoch);
  const auto answer = world.node.call<wire::BrokerHeartbeatResponse>(world.controller, beat, 1);
  QVERIFY(answer.error_code == ErrorCode::none && answer.is_caught_up && !answer.is_fenced);

  wire::CreateTopicsRequest create;
  auto& topic = create.topics.emplace_back();
  topic.name = std::string("t");
  topic.num_partitions = -1;
  topic.replication_factor = -1;
  auto& assignment = topic.assignments.emplace_back();
  assignment.broker_ids = {BrokerId(5), BrokerId(1)};
  const auto created = world.node.call<wire::CreateTopicsResponse>(world.controller, create, 7);
  QCOMPARE(created.topics.front().error_code, ErrorCode::none);
  wire::AlterPartitionRequest alter;
  alter.broker_id = BrokerId(5);
  alter.broker_epoch = registered.broker_epoch;
  auto& altered = alter.topics.emplace_back();
  altered.topic_id = created.topics.front().topic_id;
  auto& item = altered.partitions.emplace_back();
  item.new_isr_with_epochs.emplace_back().broker_id = BrokerId(5);
  const auto shrunk = world.node.call<wire::AlterPartitionResponse>(world.controller, alter, 3);
  QCOMPARE(shrunk.error_code, ErrorCode::none);
  const auto& got = shrunk.topics.front().partitions.front();
  QVERIFY(got.error_code == ErrorCode::none && got.isr == std::vector<BrokerId>{BrokerId(5)} && got.partition_epoch == 1);
  wire::AllocateProducerIdsRequest allocate;
  allocate.broker_id = BrokerId(5);
  allocate.broker_epoch = registered.broker_epoch;
  QCOMPARE(world.node.call<wire::AllocateProducerIdsResponse>(world.controller, allocate, 0).producer_id_len, 1000);
  const auto list = world.node.call<wire::ListPartitionReassignmentsResponse>(world.node.connect(),
                                                                              wire::ListPartitionReassignmentsRequest{}, 0);
  QVERIFY(list.error_code == ErrorCode::none && list.topics.empty());
}

void TestControllerListener::registrations_are_refused() {
  World world;
  const auto ask = [&](const wire::BrokerRegistrationRequest& request) {
    return world.node.call<wire::BrokerRegistrationResponse>(world.controller, request, 4).error_code;
  };
  auto request = world.registration(78);
  request.cluster_id = std::string("x");
  QCOMPARE(ask(request), ErrorCode::inconsistent_cluster_id);
  request = world.registration(78);
  std::erase_if(request.features, [](const auto& feature) { return feature.name == "metadata.version"; });
  QCOMPARE(ask(request), ErrorCode::invalid_registration);
  request = world.registration(78);
  request.log_dirs.clear();
  QCOMPARE(ask(request), ErrorCode::invalid_registration);
}

void TestControllerListener::outdated_brokers_are_refused() {
  World world;
  for (const std::int32_t id : {1, 78}) {
    wire::BrokerHeartbeatRequest beat;
    beat.broker_id = BrokerId(id);
    beat.broker_epoch = 1;
    QCOMPARE(world.node.call<wire::BrokerHeartbeatResponse>(world.controller, beat, 1).error_code,
             ErrorCode::stale_broker_epoch);
    wire::AllocateProducerIdsRequest allocate;
    allocate.broker_id = BrokerId(id);
    allocate.broker_epoch = 1;
    QCOMPARE(world.node.call<wire::AllocateProducerIdsResponse>(world.controller, allocate, 0).error_code,
             ErrorCode::stale_broker_epoch);
    wire::AssignReplicasToDirsRequest assign;
    assign.broker_id = BrokerId(id);
    assign.broker_epoch = 1;
    QCOMPARE(world.node.call<wire::AssignReplicasToDirsResponse>(world.controller, assign, 0).error_code,
             ErrorCode::stale_broker_epoch);
    wire::AlterPartitionRequest alter;
    alter.broker_id = BrokerId(id);
    alter.broker_epoch = 1;
    const auto altered = world.node.call<wire::AlterPartitionResponse>(world.controller, alter, 3);
    QVERIFY(altered.error_code == ErrorCode::stale_broker_epoch && altered.topics.empty());
  }
}

void TestControllerListener::topics_are_created_there() {
  World world;
  wire::CreateTopicsRequest create;
  auto& topic = create.topics.emplace_back();
  topic.name = std::string("via");
  topic.num_partitions = 1;
  topic.replication_factor = 1;
  QCOMPARE(world.node.call<wire::CreateTopicsResponse>(world.controller, create, 7).topics.front().error_code,
           ErrorCode::none);
  wire::ControllerRegistrationRequest another;
  another.controller_id = 3;
  auto& listener = another.listeners.emplace_back();
  listener.name = std::string("CONTROLLER");
  listener.host = std::string("h");
  listener.port = 1;
  QCOMPARE(world.node.call<wire::ControllerRegistrationResponse>(world.controller, another, 0).error_code, ErrorCode::none);
  wire::DescribeClusterRequest ask;
  ask.endpoint_type = 2;
  QCOMPARE(world.node.call<wire::DescribeClusterResponse>(world.controller, ask, 2).brokers.size(), std::size_t{2});
  wire::UnregisterControllerRequest gone;
  const auto unregister = [&](std::int32_t id) {
    gone.controller_id = id;
    return world.node.call<wire::UnregisterControllerResponse>(world.node.connect(), gone, 0).error_code;
  };
  QCOMPARE(unregister(3), ErrorCode::none);
  QCOMPARE(unregister(3), ErrorCode::controller_id_not_registered);
  QCOMPARE(unregister(1), ErrorCode::invalid_request);
  QCOMPARE(world.node.call<wire::DescribeClusterResponse>(world.controller, ask, 2).brokers.size(), std::size_t{1});
}

QTEST_APPLESS_MAIN(TestControllerListener)
#include "tst_controller_listener.moc"
