// SPDX-License-Identifier: Apache-2.0
// Consumer groups on a whole node by encoded frames (KIP-848): what a client sees, what a restart
// keeps, and what the node answers where the protocol is switched off.
#include <map>
#include <string>
#include <vector>

#include <QtTest>

#include "engine/env/memory_disk.h"
#include "engine/wire/msg/consumer_group_describe.h"
#include "engine/wire/msg/consumer_group_heartbeat.h"
#include "engine/wire/msg/delete_groups.h"
#include "engine/wire/msg/find_coordinator.h"
#include "engine/wire/msg/incremental_alter_configs.h"
#include "engine/wire/msg/list_groups.h"
#include "engine/wire/msg/offset_commit.h"
#include "engine/wire/msg/update_features.h"
#include "tests/engine/api/node_fixture.h"

using namespace hw;
using namespace hw::test;
using wire::ErrorCode;

namespace {

constexpr std::uint64_t kDiskBytes = 256U << 20U;
using Heartbeat = wire::ConsumerGroupHeartbeatRequest;

struct Setup {
  env::MemoryDisk disk{kDiskBytes};
  TestNode node;
  ConnectionId c{0};

  explicit Setup(std::map<std::string, std::string> configs = {})
      : node(disk, [&] {
          configs.emplace("group.consumer.assignment.interval.ms", "0");
          return configs;
        }()) {
    const Result<void> started = node.start();
    HW_ASSERT(started.has_value(), "the node starts");
    c = node.connect();
    wire::FindCoordinatorRequest find;
    find.coordinator_keys = {"g"};
    static_cast<void>(node.call<wire::FindCoordinatorResponse>(c, find, 6));  // makes the topic
  }

  static Heartbeat joining(const std::string& member, const std::vector<std::string>& topics) {
    Heartbeat request;
    request.group_id = "g";
    request.member_id = member;
    request.rebalance_timeout_ms = 60'000;
    request.subscribed_topic_names = topics;
    request.topic_partitions.emplace();
    return request;
  }

  wire::ConsumerGroupHeartbeatResponse beat(const Heartbeat& request, std::int16_t version = 1) {
    return node.call<wire::ConsumerGroupHeartbeatResponse>(c, request, version);
  }

  wire::ConsumerGroupHeartbeatResponse beat(const std::string& member, std::int32_t epoch) {
    Heartbeat request;
    request.group_id = "g";
    request.member_id = member;
    request.member_epoch = epoch;
    return beat(request);
  }

  wire::ConsumerGroupDescribeResponse::DescribedGroup describe(const std::string& group = "g") {
    wire::ConsumerGroupDescribeRequest request;
    request.group_ids = {group};
    request.include_authorized_operations = true;
    return node.call<wire::ConsumerGroupDescribeResponse>(c, request, 1).groups.at(0);
  }

  void level(std::int16_t wanted) {
    wire::UpdateFeaturesRequest request;
    request.timeout_ms = 1'000;
    auto& update = request.feature_updates.emplace_back();
    update.feature = "group.version";
    update.max_version_level = wanted;
    update.upgrade_type = wanted == 0 ? 2 : 1;
    const auto answer = node.call<wire::UpdateFeaturesResponse>(c, request, 2);
    QCOMPARE(answer.error_code, ErrorCode::none);
  }
};

}  // namespace

class TestConsumerGroupApis : public QObject {
  Q_OBJECT

 private slots:

  void a_member_gets_partitions_and_a_restart_keeps_them() {
    Setup s;
    const Uuid id = s.node.create_topic("t", 3);
    const auto joined = s.beat(Setup::joining("m", {"t"}));
    QCOMPARE(joined.error_code, ErrorCode::none);
    QCOMPARE(joined.member_epoch, 2);
    QCOMPARE(joined.assignment->topic_partitions.at(0).topic_id, id);
    QCOMPARE(joined.assignment->topic_partitions.at(0).partitions.size(), std::size_t{3});
    QVERIFY(s.node.restart());
    s.c = s.node.connect();
    const auto again = s.beat("m", 2);
    QCOMPARE(again.error_code, ErrorCode::none);
    QVERIFY(!again.assignment);
    const auto group = s.describe();
    QCOMPARE(group.group_state, std::string("Stable"));
    QCOMPARE(group.authorized_operations, (1 << 3) | (1 << 6) | (1 << 8) | (1 << 10) | (1 << 11));
    QCOMPARE(group.members.at(0).assignment.topic_partitions.at(0).topic_name, std::string("t"));
    s.node.advance(seconds(46));
    QCOMPARE(s.describe().group_state, std::string("Empty"));
    wire::ListGroupsRequest list;
    const auto listed = s.node.call<wire::ListGroupsResponse>(s.c, list, 5);
    QCOMPARE(listed.groups.at(0).group_type, std::string("consumer"));
    wire::DeleteGroupsRequest remove;
    remove.groups_names = {"g"};
    QCOMPARE(s.node.call<wire::DeleteGroupsResponse>(s.c, remove, 2).results.at(0).error_code,
             ErrorCode::none);
    QCOMPARE(s.describe().error_code, ErrorCode::group_id_not_found);
  }

  void topics_that_come_and_groups_that_are_configured() {
    Setup s;
    QVERIFY(s.beat(Setup::joining("m", {"t"})).assignment->topic_partitions.empty());
    s.node.create_topic("t", 2);
    const auto told = s.beat("m", 2);
    QCOMPARE(told.member_epoch, 3);
    QCOMPARE(told.assignment->topic_partitions.at(0).partitions.size(), std::size_t{2});
    QCOMPARE(told.heartbeat_interval_ms, 5'000);
    wire::IncrementalAlterConfigsRequest alter;
    auto& resource = alter.resources.emplace_back();
    resource.resource_type = 32;
    resource.resource_name = "g";
    auto& config = resource.configs.emplace_back();
    config.name = "consumer.heartbeat.interval.ms";
    config.value = "10000";
    QCOMPARE(s.node.call<wire::IncrementalAlterConfigsResponse>(s.c, alter, 1)
                 .responses.at(0)
                 .error_code,
             ErrorCode::none);
    QCOMPARE(s.beat("m", 3).heartbeat_interval_ms, 10'000);
  }

  void an_expression_is_resolved_by_the_node() {
    Setup s;
    s.node.create_topic("a-1", 1);
    Heartbeat request = Setup::joining("m", {});
    request.subscribed_topic_names.reset();
    request.subscribed_topic_regex = "a-.*";
    QCOMPARE(s.beat(request).member_epoch, 1);
    s.node.advance(milliseconds(1));
    QCOMPARE(s.beat("m", 1).assignment->topic_partitions.size(), std::size_t{1});
  }

  void it_may_be_switched_off() {
    const std::map<std::string, std::string> classic{
        {"group.coordinator.rebalance.protocols", "classic"}};
    Setup off(classic);
    QCOMPARE(off.beat(Setup::joining("m", {"t"})).error_code, ErrorCode::unsupported_version);
    QCOMPARE(off.describe().error_code, ErrorCode::unsupported_version);
    Setup s;
    s.level(0);
    QCOMPARE(s.beat(Setup::joining("m", {"t"})).error_code, ErrorCode::unsupported_version);
    s.level(1);
    QCOMPARE(s.beat(Setup::joining("m", {"t"})).error_code, ErrorCode::none);
  }
};

QTEST_APPLESS_MAIN(TestConsumerGroupApis)
#include "tst_consumer_group_apis.moc"
