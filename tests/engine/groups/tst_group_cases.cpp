// SPDX-License-Identifier: Apache-2.0
// What people ran into with groups and offsets, and the right result: encoded requests to a whole
// node, in the order in which a client sends them.
#include <optional>
#include <string>
#include <vector>

#include <QtTest>

#include "engine/env/memory_disk.h"
#include "engine/wire/msg/api_versions.h"
#include "engine/wire/msg/create_partitions.h"
#include "engine/wire/msg/delete_groups.h"
#include "engine/wire/msg/describe_groups.h"
#include "engine/wire/msg/find_coordinator.h"
#include "engine/wire/msg/heartbeat.h"
#include "engine/wire/msg/join_group.h"
#include "engine/wire/msg/leave_group.h"
#include "engine/wire/msg/offset_commit.h"
#include "engine/wire/msg/offset_delete.h"
#include "engine/wire/msg/offset_fetch.h"
#include "engine/wire/msg/sync_group.h"
#include "tests/engine/api/node_fixture.h"

using namespace hw;
using namespace hw::test;
using wire::ErrorCode;

namespace {

constexpr std::uint64_t kDiskBytes = 256U << 20U;

std::string name(const std::string& text) {
  return std::string{'\0', static_cast<char>(text.size())} + text;
}

// The consumer protocol's bytes: version 0: topics, no user data.
std::string subscription(const std::string& topic) {
  return std::string{'\0', '\0', '\0', '\0', '\0', '\1'} + name(topic) + std::string(4, '\xFF');
}

struct Node {
  env::MemoryDisk disk{kDiskBytes};
  TestNode node;

  explicit Node(std::map<std::string, std::string> configs = {})
      : node(disk, [&] {
          configs.emplace("group.initial.rebalance.delay.ms", "0");
          return configs;
        }()) {
    const Result<void> started = node.start();
    HW_ASSERT(started.has_value(), "the node starts");
    wire::FindCoordinatorRequest find;
    find.coordinator_keys = {"g"};
    static_cast<void>(node.call<wire::FindCoordinatorResponse>(node.connect(), find, 6));
  }
};

// One process with a consumer: a connection, and what it knows of its group.
struct Client {
  TestNode& node;
  ConnectionId c;
  std::vector<std::string> protocols = {"range"};
  std::string type = "consumer";
  std::optional<std::string> instance;
  std::string topic = "t";
  std::string member;
  std::int32_t generation = -1;
  std::string protocol;

  explicit Client(TestNode& at) : node(at), c(at.connect()) {}

  void send_join() {
    wire::JoinGroupRequest request;
    request.group_id = "g";
    request.member_id = member;
    request.group_instance_id = instance;
    request.session_timeout_ms = 10'000;
    request.rebalance_timeout_ms = 60'000;
    request.protocol_type = type;
    for (const std::string& offered : protocols) {
      auto& entry = request.protocols.emplace_back();
      entry.name = offered;
      entry.metadata = Bytes::copy_of(subscription(topic));
    }
    node.send(c, request, 9);
    node.advance(milliseconds(1));
  }

  wire::JoinGroupResponse joined() {
    auto response = node.receive<wire::JoinGroupResponse>(c, 9);
    if (response.error_code == ErrorCode::none ||
        response.error_code == ErrorCode::member_id_required) {
      member = response.member_id;
      generation = response.generation_id;
      protocol = response.protocol_name.value_or("");
    }
    return response;
  }

  // With the second step of KIP-394 where it is asked for.
  ErrorCode join() {
    send_join();
    auto response = joined();
    if (response.error_code == ErrorCode::member_id_required) {
      send_join();
      response = joined();
    }
    return response.error_code;
  }

  void send_sync(const std::vector<std::string>& members = {}) {
    wire::SyncGroupRequest request;
    request.group_id = "g";
    request.generation_id = generation;
    request.member_id = member;
    request.group_instance_id = instance;
    request.protocol_type = type;
    request.protocol_name = protocol;
    for (const std::string& id : members) {
      auto& entry = request.assignments.emplace_back();
      entry.member_id = id;
      entry.assignment = Bytes::copy_of("for " + id);
    }
    node.send(c, request, 5);
  }

  ErrorCode sync(const std::vector<std::string>& members = {}) {
    send_sync(members);
    return node.receive<wire::SyncGroupResponse>(c, 5).error_code;
  }

  ErrorCode heartbeat() {
    wire::HeartbeatRequest request;
    request.group_id = "g";
    request.generation_id = generation;
    request.member_id = member;
    request.group_instance_id = instance;
    return node.call<wire::HeartbeatResponse>(c, request, 4).error_code;
  }

  ErrorCode commit(std::int64_t offset, std::int32_t partition = 0) {
    wire::OffsetCommitRequest request;
    request.group_id = "g";
    request.generation_id_or_member_epoch = generation;
    request.member_id = member;
    request.group_instance_id = instance;
    auto& asked = request.topics.emplace_back();
    asked.name = topic;
    auto& entry = asked.partitions.emplace_back();
    entry.partition_index = PartitionIndex(partition);
    entry.committed_offset = Offset(offset);
    return node.call<wire::OffsetCommitResponse>(c, request, 9)
        .topics.at(0)
        .partitions.at(0)
        .error_code;
  }

  std::int64_t committed(std::int32_t partition = 0) {
    wire::OffsetFetchRequest request;
    request.topics.emplace();
    auto& group = request.groups.emplace_back();
    group.group_id = "g";
    group.topics.emplace();
    auto& asked = group.topics->emplace_back();
    asked.name = topic;
    asked.partition_indexes = {PartitionIndex(partition)};
    return node.call<wire::OffsetFetchResponse>(c, request, 9)
        .groups.at(0)
        .topics.at(0)
        .partitions.at(0)
        .committed_offset.value();
  }

  ErrorCode leave() {
    wire::LeaveGroupRequest request;
    request.group_id = "g";
    request.members.emplace_back().member_id = member;
    member.clear();
    return node.call<wire::LeaveGroupResponse>(c, request, 5).members.at(0).error_code;
  }

  std::int64_t offset_for(std::int64_t timestamp, std::int32_t partition) {
    wire::ListOffsetsRequest request;
    request.replica_id = BrokerId(-1);
    auto& asked = request.topics.emplace_back();
    asked.name = topic;
    auto& entry = asked.partitions.emplace_back();
    entry.partition_index = PartitionIndex(partition);
    entry.timestamp = timestamp;
    return node.call<wire::ListOffsetsResponse>(c, request, 10)
        .topics.at(0)
        .partitions.at(0)
        .offset.value();
  }

  void produce(const std::string& value, std::int32_t partition) {
    const auto done = node.produce(c, topic, partition, node.batch({{"k", value}}));
    HW_ASSERT(done.error_code == ErrorCode::none, "appended");
  }

  // Values from an offset on, in order.
  std::string read(std::int32_t partition, std::int64_t from) {
    std::string values;
    const auto answer = node.fetch(c, topic, partition, from);
    HW_ASSERT(answer.error_code == ErrorCode::none, "fetched");
    const Bytes bytes = answer.records ? answer.records->flatten() : Bytes();
    wire::BatchCursor cursor(bytes.span());
    wire::BatchView batch;
    while (cursor.next(batch)) {
      auto records = wire::RecordIterator::open(batch);
      HW_ASSERT(records.has_value(), "a batch opens");
      wire::RecordView view;
      while (records->next(view)) {
        if (view.offset.value() >= from) {
          values += std::string(as_text(*view.value));
        }
      }
    }
    return values;
  }
};

std::string state(TestNode& node) {
  wire::DescribeGroupsRequest request;
  request.groups = {"g"};
  return node.call<wire::DescribeGroupsResponse>(node.connect(), request, 6)
      .groups.at(0)
      .group_state;
}

}  // namespace

class TstGroupCases : public QObject {
  Q_OBJECT

 private slots:

  // Records of a partition that a group does not know yet: with `latest` they are passed over.
  void case_3_partitions_added_with_latest() {
    Node n;
    n.node.create_topic("t", 1);
    Client consumer(n.node);
    QCOMPARE(consumer.join(), ErrorCode::none);
    QCOMPARE(consumer.sync({consumer.member}), ErrorCode::none);

    wire::CreatePartitionsRequest grow;
    auto& wanted = grow.topics.emplace_back();
    wanted.name = "t";
    wanted.count = 2;
    wanted.assignments.reset();
    grow.timeout_ms = 1'000;
    Client producer(n.node);
    QCOMPARE(
        n.node.call<wire::CreatePartitionsResponse>(producer.c, grow, 3).results.at(0).error_code,
        ErrorCode::none);
    for (const char* value : {"a", "b", "c"}) {
      producer.produce(value, 1);
    }
    n.node.advance(seconds(5));  // its metadata gets old, and it joins again
    QCOMPARE(consumer.heartbeat(), ErrorCode::none);
    QCOMPARE(consumer.join(), ErrorCode::none);
    QCOMPARE(consumer.sync({consumer.member}), ErrorCode::none);
    QCOMPARE(consumer.committed(1), std::int64_t{-1});
    const std::int64_t position = consumer.offset_for(-1, 1);
    QCOMPARE(position, std::int64_t{3});
    QCOMPARE(consumer.commit(position, 1), ErrorCode::none);
    producer.produce("d", 1);
    QCOMPARE(consumer.read(1, position), std::string("d"));
    QCOMPARE(consumer.committed(1), std::int64_t{3});
    QCOMPARE(consumer.offset_for(-1, 1), std::int64_t{4});
    // With earliest, or by_duration:PT1H, nothing is passed over.
    QCOMPARE(consumer.read(1, consumer.offset_for(-2, 1)), std::string("abcd"));
    const std::int64_t an_hour_ago = n.node.now.wall.ms - 3'600'000;
    QCOMPARE(consumer.read(1, consumer.offset_for(an_hour_ago, 1)), std::string("abcd"));
  }

  void case_6_a_consumer_before_its_topic() {
    Node n({{"auto.create.topics.enable", "true"}, {"num.partitions", "2"}});
    const ConnectionId c = n.node.connect();
    const auto ask = [&](const std::string& topic, bool create) {
      wire::MetadataRequest request;
      request.topics.emplace();
      request.topics->emplace_back().name = topic;
      request.allow_auto_topic_creation = create;
      return n.node.call<wire::MetadataResponse>(c, request, 12).topics.at(0);
    };
    // Without leave nothing is made, however often it is asked for.
    QCOMPARE(ask("no", false).error_code, ErrorCode::unknown_topic_or_partition);
    QCOMPARE(ask("no", false).error_code, ErrorCode::unknown_topic_or_partition);
    QCOMPARE(ask("yes", true).error_code, ErrorCode::unknown_topic_or_partition);
    const auto made = ask("yes", true);
    QCOMPARE(made.error_code, ErrorCode::none);
    QCOMPARE(made.partitions.size(), std::size_t{2});
    QCOMPARE(ask("no", false).error_code, ErrorCode::unknown_topic_or_partition);
    Client producer(n.node);
    producer.topic = "yes";
    producer.produce("v", 1);
    QCOMPARE(producer.read(1, 0), std::string("v"));
  }

  // Versions that Kafka 4 has removed are not offered; asking all the same closes the connection.
  void case_8_an_old_client() {
    Node n;
    n.node.create_topic("t", 1);
    const ConnectionId c = n.node.connect();
    wire::ApiVersionsRequest ask;
    ask.client_software_name = "old";
    ask.client_software_version = "1";
    const auto offered = n.node.call<wire::ApiVersionsResponse>(c, ask, 3);
    QCOMPARE(offered.error_code, ErrorCode::none);
    const auto range = [&](std::int16_t key) {
      for (const auto& api : offered.api_keys) {
        if (api.api_key == key) {
          return std::pair(api.min_version, api.max_version);
        }
      }
      return std::pair<std::int16_t, std::int16_t>(-1, -1);
    };
    using Range = std::pair<std::int16_t, std::int16_t>;
    QCOMPARE(range(0), (Range{0, 13}));  // said for librdkafka's sake; see below
    QCOMPARE(range(1), (Range{4, 18}));
    QCOMPARE(range(2), (Range{1, 11}));
    QCOMPARE(range(8), (Range{2, 10}));
    QCOMPARE(range(11), (Range{0, 9}));
    struct Old {
      std::int16_t key;
      std::int16_t version;
    };
    for (const Old old : {Old{0, 2}, Old{1, 3}, Old{8, 1}, Old{2, 0}}) {
      const ConnectionId client = n.node.connect();
      wire::Writer writer;
      writer.int16(old.key);
      writer.int16(old.version);
      writer.int32(7);
      writer.string("old", false);
      writer.int32(0);
      n.node.send_frame(client, Bytes::copy_of(writer.finish().flatten().span()));
      QVERIFY(!n.node.answered(client));
      QVERIFY(n.node.closed(client));
      QVERIFY(!n.node.close_reason(client).empty());
    }
    // Nobody else is touched, and a new connection with an offered version works.
    Client fresh(n.node);
    QCOMPARE(fresh.commit(1), ErrorCode::none);
    QCOMPARE(n.node.call<wire::ApiVersionsResponse>(c, ask, 3).error_code, ErrorCode::none);
  }

  void case_9_committed_means_next_to_read() {
    Node n;
    n.node.create_topic("t", 1);
    Client app(n.node);
    app.produce("0", 0);
    app.produce("1", 0);
    const auto restart = [&](std::int64_t commit) {
      Client before(n.node);
      QCOMPARE(before.join(), ErrorCode::none);
      QCOMPARE(before.sync({before.member}), ErrorCode::none);
      QCOMPARE(before.commit(commit), ErrorCode::none);
      QCOMPARE(before.leave(), ErrorCode::none);
    };
    restart(1);  // the offset of the record it has processed
    QCOMPARE(app.read(0, app.committed()), std::string("1"));
    QCOMPARE(app.offset_for(-1, 0) - app.committed(), std::int64_t{1});
    restart(2);  // the one after it
    QCOMPARE(app.read(0, app.committed()), std::string());
    QCOMPARE(app.offset_for(-1, 0) - app.committed(), std::int64_t{0});
  }

  void case_28_mixed_assignors() {
    Node n;
    n.node.create_topic("t", 1);
    Client a(n.node);
    QCOMPARE(a.join(), ErrorCode::none);
    QCOMPARE(a.sync({a.member}), ErrorCode::none);

    Client b(n.node);
    b.protocols = {"cooperative-sticky"};
    QCOMPARE(b.join(), ErrorCode::inconsistent_group_protocol);
    QCOMPARE(a.heartbeat(), ErrorCode::none);
    Client connect(n.node);
    connect.type = "connect";
    QCOMPARE(connect.join(), ErrorCode::inconsistent_group_protocol);
    QCOMPARE(a.heartbeat(), ErrorCode::none);
    QCOMPARE(state(n.node), std::string("Stable"));

    b.protocols = {"cooperative-sticky", "range"};
    b.send_join();
    QCOMPARE(b.joined().error_code, ErrorCode::member_id_required);
    b.send_join();  // waits for A
    QCOMPARE(a.heartbeat(), ErrorCode::rebalance_in_progress);
    QCOMPARE(a.join(), ErrorCode::none);
    QCOMPARE(b.joined().error_code, ErrorCode::none);
    QCOMPARE(a.protocol, std::string("range"));
    QCOMPARE(b.protocol, std::string("range"));
    b.send_sync();
    QCOMPARE(a.sync({a.member, b.member}), ErrorCode::none);
    QCOMPARE(n.node.receive<wire::SyncGroupResponse>(b.c, 5).error_code, ErrorCode::none);

    QCOMPARE(a.leave(), ErrorCode::none);
    QCOMPARE(b.heartbeat(), ErrorCode::rebalance_in_progress);
    QCOMPARE(b.join(), ErrorCode::none);
    QCOMPARE(b.protocol, std::string("cooperative-sticky"));
    QCOMPARE(b.sync({b.member}), ErrorCode::none);
  }

  void case_29_offsets_of_a_running_group_from_outside() {
    Node n;
    n.node.create_topic("t", 1);
    Client member(n.node);
    QCOMPARE(member.join(), ErrorCode::none);
    QCOMPARE(member.sync({member.member}), ErrorCode::none);
    QCOMPARE(member.commit(5), ErrorCode::none);

    Client tool(n.node);  // no member id, generation -1
    const auto remove_group = [&] {
      wire::DeleteGroupsRequest request;
      request.groups_names = {"g"};
      return n.node.call<wire::DeleteGroupsResponse>(tool.c, request, 2).results.at(0).error_code;
    };
    const auto remove_offset = [&] {
      wire::OffsetDeleteRequest request;
      request.group_id = "g";
      auto& topic = request.topics.emplace_back();
      topic.name = "t";
      topic.partitions.emplace_back();
      const auto response = n.node.call<wire::OffsetDeleteResponse>(tool.c, request, 0);
      HW_ASSERT(response.error_code == ErrorCode::none, "an error stands at the partition");
      return response.topics.at(0).partitions.at(0).error_code;
    };
    QCOMPARE(tool.commit(1), ErrorCode::unknown_member_id);
    QCOMPARE(remove_group(), ErrorCode::non_empty_group);
    QCOMPARE(remove_offset(), ErrorCode::group_subscribed_to_topic);
    QCOMPARE(tool.committed(), std::int64_t{5});
    QCOMPARE(member.heartbeat(), ErrorCode::none);

    QCOMPARE(member.leave(), ErrorCode::none);
    QCOMPARE(tool.commit(1), ErrorCode::none);
    QCOMPARE(tool.committed(), std::int64_t{1});
    QCOMPARE(remove_offset(), ErrorCode::none);
    QCOMPARE(tool.committed(), std::int64_t{-1});
    QCOMPARE(remove_group(), ErrorCode::none);
  }

  void case_30_two_processes_with_one_instance_id() {
    Node n;
    n.node.create_topic("t", 1);
    Client first(n.node);
    first.instance = "i1";
    QCOMPARE(first.join(), ErrorCode::none);
    QCOMPARE(first.sync({first.member}), ErrorCode::none);

    Client second(n.node);
    second.instance = "i1";
    QCOMPARE(second.join(), ErrorCode::none);
    QVERIFY(second.member != first.member);
    QCOMPARE(second.generation, first.generation);  // it takes the place, without a rebalance
    QCOMPARE(second.sync(), ErrorCode::none);
    QCOMPARE(first.heartbeat(), ErrorCode::fenced_instance_id);
    QCOMPARE(first.commit(1), ErrorCode::fenced_instance_id);
    QCOMPARE(second.heartbeat(), ErrorCode::none);
    QCOMPARE(second.commit(1), ErrorCode::none);

    // Started again, the first one takes the place back, and so on.
    first.member.clear();
    QCOMPARE(first.join(), ErrorCode::none);
    QCOMPARE(second.heartbeat(), ErrorCode::fenced_instance_id);
    QCOMPARE(second.commit(2), ErrorCode::fenced_instance_id);
    QCOMPARE(first.heartbeat(), ErrorCode::none);
    QCOMPARE(first.committed(), std::int64_t{1});
  }
};

QTEST_APPLESS_MAIN(TstGroupCases)
#include "tst_group_cases.moc"
