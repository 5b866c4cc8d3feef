// SPDX-License-Identifier: Apache-2.0
// The group APIs of a whole node by encoded frames, at every version: what a client sees, and what
// a restart keeps.
#include <optional>
#include <string>
#include <vector>

#include <QtTest>

#include "engine/env/memory_disk.h"
#include "engine/wire/msg/delete_groups.h"
#include "engine/wire/msg/delete_topics.h"
#include "engine/wire/msg/describe_groups.h"
#include "engine/wire/msg/find_coordinator.h"
#include "engine/wire/msg/heartbeat.h"
#include "engine/wire/msg/join_group.h"
#include "engine/wire/msg/leave_group.h"
#include "engine/wire/msg/list_groups.h"
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

// A node whose coordinator is there, and one connection to it.
struct Setup {
  env::MemoryDisk disk{kDiskBytes};
  TestNode node;
  ConnectionId c{0};

  explicit Setup(std::map<std::string, std::string> configs = {})
      : node(disk, [&] {
          configs.emplace("group.initial.rebalance.delay.ms", "0");
          return configs;
        }()) {
    const Result<void> started = node.start();
    HW_ASSERT(started.has_value(), "the node starts");
    c = node.connect();
    wire::FindCoordinatorRequest find;
    find.coordinator_keys = {"g"};
    static_cast<void>(node.call<wire::FindCoordinatorResponse>(c, find, 6));  // makes the topic
  }

  static wire::JoinGroupRequest join_request(const std::string& group, const std::string& member,
                                             const std::string& protocol = "range") {
    wire::JoinGroupRequest request;
    request.group_id = group;
    request.member_id = member;
    request.session_timeout_ms = 10'000;
    request.rebalance_timeout_ms = 10'000;
    request.protocol_type = "consumer";
    request.protocols.emplace_back().name = protocol;
    return request;
  }

  wire::JoinGroupResponse join(const std::string& group, const std::string& member,
                               const std::string& protocol = "range", std::int16_t version = 9) {
    node.send(c, join_request(group, member, protocol), version);
    node.advance(milliseconds(1));
    return node.receive<wire::JoinGroupResponse>(c, version);
  }

  wire::SyncGroupResponse sync(const std::string& group, std::int32_t generation,
                               const std::string& member, const std::string& protocol = "range",
                               std::int16_t version = 5, const std::string& assignment = "AA") {
    wire::SyncGroupRequest request;
    request.group_id = group;
    request.generation_id = generation;
    request.member_id = member;
    if (version >= 5) {
      request.protocol_type = "consumer";
      request.protocol_name = protocol;
    }
    auto& given = request.assignments.emplace_back();
    given.member_id = member;
    given.assignment = Bytes::copy_of(assignment);
    return node.call<wire::SyncGroupResponse>(c, request, version);
  }

  ErrorCode heartbeat(const std::string& group, std::int32_t generation, const std::string& member,
                      std::int16_t version = 4) {
    wire::HeartbeatRequest request;
    request.group_id = group;
    request.generation_id = generation;
    request.member_id = member;
    return node.call<wire::HeartbeatResponse>(c, request, version).error_code;
  }

  ErrorCode commit(const std::string& group, const std::string& topic, std::int64_t offset,
                   std::int32_t generation = -1, const std::string& member = {},
                   std::int32_t partition = 0, const std::string& metadata = {},
                   std::int16_t version = 9, Uuid id = {}) {
    wire::OffsetCommitRequest request;
    request.group_id = group;
    request.generation_id_or_member_epoch = generation;
    request.member_id = member;
    auto& asked = request.topics.emplace_back();
    asked.name = version < 10 ? topic : std::string();
    asked.topic_id = version < 10 ? Uuid() : id;
    auto& entry = asked.partitions.emplace_back();
    entry.partition_index = PartitionIndex(partition);
    entry.committed_offset = Offset(offset);
    entry.committed_metadata = metadata;
    const auto response = node.call<wire::OffsetCommitResponse>(c, request, version);
    HW_ASSERT(response.topics.size() == 1 && response.topics[0].partitions.size() == 1,
              "one answer");
    HW_ASSERT(version < 10 ? response.topics[0].name == topic : response.topics[0].topic_id == id,
              "for what was asked");
    return response.topics[0].partitions[0].error_code;
  }

  struct Fetched {
    std::int64_t offset = 0;
    ErrorCode error = ErrorCode::none;
  };

  // The partition's entry, whatever the shape of the version.
  Fetched fetch(const std::string& group, const std::string& topic, std::int16_t version = 9,
                Uuid id = {}, std::int32_t partition = 0) {
    wire::OffsetFetchRequest request;
    if (version < 8) {
      request.group_id = group;
      request.topics.emplace();
      auto& asked = request.topics->emplace_back();
      asked.name = topic;
      asked.partition_indexes = {PartitionIndex(partition)};
      const auto response = node.call<wire::OffsetFetchResponse>(c, request, version);
      HW_ASSERT(response.topics.size() == 1 && response.topics[0].name == topic,
                "for what was asked");
      const auto& entry = response.topics[0].partitions.at(0);
      return {entry.committed_offset.value(),
              response.error_code != ErrorCode::none ? response.error_code : entry.error_code};
    }
    auto& asked_group = request.groups.emplace_back();
    asked_group.group_id = group;
    asked_group.topics.emplace();
    auto& asked = asked_group.topics->emplace_back();
    asked.name = version < 10 ? topic : std::string();
    asked.topic_id = version < 10 ? Uuid() : id;
    asked.partition_indexes = {PartitionIndex(partition)};
    request.topics.emplace();
    const auto response = node.call<wire::OffsetFetchResponse>(c, request, version);
    HW_ASSERT(response.groups.size() == 1 && response.groups[0].group_id == group,
              "for what was asked");
    const auto& answer = response.groups[0].topics.at(0);
    HW_ASSERT(version < 10 ? answer.name == topic : answer.topic_id == id, "for what was asked");
    const auto& entry = answer.partitions.at(0);
    return {entry.committed_offset.value(), response.groups[0].error_code != ErrorCode::none
                                                ? response.groups[0].error_code
                                                : entry.error_code};
  }

  wire::DescribeGroupsResponse::DescribedGroup describe(const std::string& group,
                                                        std::int16_t version = 6) {
    wire::DescribeGroupsRequest request;
    request.groups = {group};
    return node.call<wire::DescribeGroupsResponse>(c, request, version).groups.at(0);
  }

  ErrorCode remove(const std::string& group, std::int16_t version = 2) {
    wire::DeleteGroupsRequest request;
    request.groups_names = {group, group};  // once is meant
    const auto response = node.call<wire::DeleteGroupsResponse>(c, request, version);
    HW_ASSERT(response.results.size() == 1, "one outcome per group");
    return response.results[0].error_code;
  }
};

}  // namespace

class TstGroupApis : public QObject {
  Q_OBJECT

 private slots:

  void the_coordinator_is_found_once_its_topic_is_there() {
    env::MemoryDisk disk(kDiskBytes);
    TestNode node(disk);
    QVERIFY(node.start());
    const ConnectionId c = node.connect();
    wire::FindCoordinatorRequest find;
    find.coordinator_keys = {"", "g"};
    const auto first = node.call<wire::FindCoordinatorResponse>(c, find, 6);
    QCOMPARE(first.coordinators.size(), std::size_t{2});
    QCOMPARE(first.coordinators[0].error_code, ErrorCode::coordinator_not_available);
    QCOMPARE(first.coordinators[0].node_id, kNoBroker);
    for (std::int16_t version = 0; version <= 6; ++version) {
      wire::FindCoordinatorRequest ask;
      if (version < 4) {
        ask.key = "g";
        const auto found = node.call<wire::FindCoordinatorResponse>(c, ask, version);
        QCOMPARE(found.error_code, ErrorCode::none);
        QCOMPARE(found.node_id, BrokerId(1));
        QCOMPARE(found.host, std::string("localhost"));
        QCOMPARE(found.port, 9092);
      } else {
        ask.coordinator_keys = {"", "g"};
        const auto found = node.call<wire::FindCoordinatorResponse>(c, ask, version);
        QCOMPARE(found.coordinators.size(), std::size_t{2});
        QCOMPARE(found.coordinators[0].error_code, ErrorCode::none);
        QCOMPARE(found.coordinators[1].key, std::string("g"));
        QCOMPARE(found.coordinators[1].port, 9092);
        ask.key_type = 9;
        QCOMPARE(
            node.call<wire::FindCoordinatorResponse>(c, ask, version).coordinators[0].error_code,
            ErrorCode::invalid_request);
      }
    }
  }

  // The life of a group of one member, with every refusal on the way, as a real Kafka answers it.
  void a_groups_life() {
    Setup s;
    s.node.create_topic("t", 2);
    const auto first = s.join("g", "");
    QCOMPARE(first.error_code, ErrorCode::member_id_required);
    QVERIFY(first.member_id.starts_with("test-"));
    const std::string m = first.member_id;
    const auto joined = s.join("g", m);
    QCOMPARE(joined.error_code, ErrorCode::none);
    QCOMPARE(joined.generation_id, 1);
    QCOMPARE(joined.leader, m);
    QCOMPARE(joined.members.size(), std::size_t{1});
    QCOMPARE(s.heartbeat("g", 1, m), ErrorCode::none);
    QCOMPARE(s.sync("g", 1, m).assignment.text(), std::string_view("AA"));
    QCOMPARE(s.heartbeat("g", 2, m), ErrorCode::illegal_generation);
    QCOMPARE(s.heartbeat("g", 1, "zzz"), ErrorCode::unknown_member_id);
    QCOMPARE(s.heartbeat("other", 1, m), ErrorCode::unknown_member_id);
    QCOMPARE(s.sync("g", 9, m).error_code, ErrorCode::illegal_generation);
    QCOMPARE(s.sync("g", 1, m, "zz").error_code, ErrorCode::inconsistent_group_protocol);
    QCOMPARE(s.join("g", "", "zz").error_code, ErrorCode::inconsistent_group_protocol);
    QCOMPARE(s.join("", "").error_code, ErrorCode::invalid_group_id);
    QCOMPARE(s.commit("g", "t", 5, 1, m), ErrorCode::none);
    QCOMPARE(s.commit("g", "t", 5, 0, m), ErrorCode::illegal_generation);
    QCOMPARE(s.commit("g", "t", 5, 1, "x"), ErrorCode::unknown_member_id);
    QCOMPARE(s.commit("g", "t", 5), ErrorCode::unknown_member_id);
    QCOMPARE(s.commit("g", "t", 5, 1, m, 0, std::string(5'000, 'x')),
             ErrorCode::offset_metadata_too_large);
    QCOMPARE(s.commit("g", "t", 5, 1, m, 9), ErrorCode::unknown_topic_or_partition);
    QCOMPARE(s.commit("g", "nope", 5, 1, m), ErrorCode::unknown_topic_or_partition);
    QCOMPARE(s.fetch("g", "t").offset, std::int64_t{5});
    QCOMPARE(s.fetch("g", "t", 9, {}, 1).offset, std::int64_t{-1});
    const auto described = s.describe("g");
    QCOMPARE(described.error_code, ErrorCode::none);
    QCOMPARE(described.group_state, std::string("Stable"));
    QCOMPARE(described.protocol_data, std::string("range"));
    QCOMPARE(described.members.at(0).client_host, std::string("/127.0.0.1"));
    QCOMPARE(described.authorized_operations, std::numeric_limits<std::int32_t>::min());
    QCOMPARE(s.describe("none").error_code, ErrorCode::group_id_not_found);
    QCOMPARE(s.describe("none", 5).error_code, ErrorCode::none);
    QCOMPARE(s.describe("none", 5).group_state, std::string("Dead"));
    QCOMPARE(s.remove("g"), ErrorCode::non_empty_group);
    wire::LeaveGroupRequest leave;
    leave.group_id = "g";
    leave.members.emplace_back().member_id = m;
    leave.members.emplace_back().member_id = "zz";
    const auto left = s.node.call<wire::LeaveGroupResponse>(s.c, leave, 5);
    QCOMPARE(left.error_code, ErrorCode::none);
    QCOMPARE(left.members.at(0).error_code, ErrorCode::none);
    QCOMPARE(left.members.at(1).error_code, ErrorCode::unknown_member_id);
    QCOMPARE(s.describe("g").group_state, std::string("Empty"));
    QCOMPARE(s.commit("g", "t", 7), ErrorCode::none);
    QCOMPARE(s.heartbeat("g", 1, m), ErrorCode::unknown_member_id);
    wire::OffsetDeleteRequest remove;
    remove.group_id = "g";
    auto& topic = remove.topics.emplace_back();
    topic.name = "t";
    topic.partitions.emplace_back();
    topic.partitions.emplace_back().partition_index = PartitionIndex(7);
    const auto removed = s.node.call<wire::OffsetDeleteResponse>(s.c, remove, 0);
    QCOMPARE(removed.error_code, ErrorCode::none);
    QCOMPARE(removed.topics.size(), std::size_t{1});
    QCOMPARE(removed.topics[0].partitions.at(0).error_code, ErrorCode::unknown_topic_or_partition);
    QCOMPARE(removed.topics[0].partitions.at(1).error_code, ErrorCode::none);
    QCOMPARE(s.fetch("g", "t").offset, std::int64_t{-1});
    QCOMPARE(s.remove("g"), ErrorCode::none);
    QCOMPARE(s.remove("g"), ErrorCode::group_id_not_found);
  }

  void every_version_of_the_membership() {
    Setup s;
    for (std::int16_t version = 0; version <= 9; ++version) {
      const std::string group = "join-" + std::to_string(version);
      auto joined = s.join(group, "", "range", version);
      if (version >= 4) {
        QCOMPARE(joined.error_code, ErrorCode::member_id_required);
        joined = s.join(group, joined.member_id, "range", version);
      }
      QCOMPARE(joined.error_code, ErrorCode::none);
      QCOMPARE(joined.generation_id, 1);
      QCOMPARE(s.join(group, "stranger", "range", version).error_code,
               ErrorCode::unknown_member_id);
      const auto sync_version = static_cast<std::int16_t>(std::min<int>(version, 5));
      const auto beat_version = static_cast<std::int16_t>(std::min<int>(version, 4));
      const auto synced = s.sync(group, 1, joined.member_id, "range", sync_version);
      QCOMPARE(synced.assignment.text(), std::string_view("AA"));
      QCOMPARE(s.heartbeat(group, 1, joined.member_id, beat_version), ErrorCode::none);
      QCOMPARE(s.heartbeat(group, 1, "x", beat_version), ErrorCode::unknown_member_id);
      wire::LeaveGroupRequest leave;
      leave.group_id = group;
      const auto leave_version = static_cast<std::int16_t>(std::min<int>(version, 5));
      if (leave_version < 3) {
        leave.member_id = joined.member_id;
        const auto left = s.node.call<wire::LeaveGroupResponse>(s.c, leave, leave_version);
        QCOMPARE(left.error_code, ErrorCode::none);
        QCOMPARE(s.node.call<wire::LeaveGroupResponse>(s.c, leave, leave_version).error_code,
                 ErrorCode::unknown_member_id);
      } else {
        leave.members.emplace_back().member_id = joined.member_id;
        const auto left = s.node.call<wire::LeaveGroupResponse>(s.c, leave, leave_version);
        QCOMPARE(left.members.at(0).error_code, ErrorCode::none);
      }
    }
  }

  void sync_without_a_protocol_where_it_must_be_named() {
    Setup s;
    wire::SyncGroupRequest request;
    request.group_id = "g";
    QCOMPARE(s.node.call<wire::SyncGroupResponse>(s.c, request, 5).error_code,
             ErrorCode::inconsistent_group_protocol);
    QCOMPARE(s.node.call<wire::SyncGroupResponse>(s.c, request, 4).error_code,
             ErrorCode::unknown_member_id);
  }

  void every_version_of_the_offsets() {
    Setup s;
    const Uuid id = s.node.create_topic("t", 2);
    std::int64_t offset = 100;
    for (std::int16_t commit_version = 2; commit_version <= 10; ++commit_version) {
      QCOMPARE(s.commit("g", "t", ++offset, -1, {}, 0, "md", commit_version, id), ErrorCode::none);
      for (std::int16_t fetch_version = 1; fetch_version <= 10; ++fetch_version) {
        const auto fetched = s.fetch("g", "t", fetch_version, id);
        QCOMPARE(fetched.offset, offset);
        QCOMPARE(fetched.error, ErrorCode::none);
        QCOMPARE(s.fetch("nobody", "t", fetch_version, id).offset, std::int64_t{-1});
        QCOMPARE(s.fetch("nobody", "t", fetch_version, id).error, ErrorCode::none);
      }
    }
    const Uuid stranger{5, 5};
    QCOMPARE(s.commit("g", {}, 1, -1, {}, 0, {}, 10, stranger), ErrorCode::unknown_topic_id);
    const auto fetched = s.fetch("g", {}, 10, stranger);
    QCOMPARE(fetched.error, ErrorCode::unknown_topic_id);
    QCOMPARE(fetched.offset, std::int64_t{-1});
    // All topics: with names before version 10, with ids from there on.
    for (std::int16_t version = 2; version <= 10; ++version) {
      wire::OffsetFetchRequest all;
      all.topics.emplace();
      if (version < 8) {
        all.group_id = "g";
        all.topics.reset();
        const auto answer = s.node.call<wire::OffsetFetchResponse>(s.c, all, version);
        QCOMPARE(answer.topics.size(), std::size_t{1});
        QCOMPARE(answer.topics[0].name, std::string("t"));
      } else {
        auto& group = all.groups.emplace_back();
        group.group_id = "g";
        group.topics.reset();
        const auto answer = s.node.call<wire::OffsetFetchResponse>(s.c, all, version);
        QCOMPARE(answer.groups.at(0).topics.size(), std::size_t{1});
        QCOMPARE(answer.groups[0].topics[0].partitions.size(), std::size_t{1});
        QCOMPARE(version < 10 ? answer.groups[0].topics[0].name == "t"
                              : answer.groups[0].topics[0].topic_id == id,
                 true);
      }
    }
  }

  void an_error_of_the_group_in_every_shape() {
    env::MemoryDisk disk(kDiskBytes);
    TestNode node(disk);
    QVERIFY(node.start());
    const ConnectionId c = node.connect();  // nobody has asked for a coordinator yet: there is none
    for (std::int16_t version = 1; version <= 9; ++version) {
      wire::OffsetFetchRequest request;
      request.topics.emplace();
      if (version < 8) {
        request.group_id = "g";
        auto& topic = request.topics->emplace_back();
        topic.name = "t";
        topic.partition_indexes = {PartitionIndex(3)};
        const auto answer = node.call<wire::OffsetFetchResponse>(c, request, version);
        if (version == 1) {
          QCOMPARE(answer.topics.at(0).partitions.at(0).error_code, ErrorCode::not_coordinator);
          QCOMPARE(answer.topics[0].partitions[0].committed_offset, Offset(-1));
        } else {
          QCOMPARE(answer.error_code, ErrorCode::not_coordinator);
        }
      } else {
        auto& group = request.groups.emplace_back();
        group.group_id = "g";
        group.topics.emplace();
        const auto answer = node.call<wire::OffsetFetchResponse>(c, request, version);
        QCOMPARE(answer.groups.at(0).error_code, ErrorCode::not_coordinator);
      }
    }
  }

  void good_and_bad_partitions_in_one_commit() {
    Setup s;
    s.node.create_topic("t", 1);
    wire::OffsetCommitRequest request;
    request.group_id = "g";
    auto& topic = request.topics.emplace_back();
    topic.name = "t";
    topic.partitions.emplace_back().committed_offset = Offset(3);
    topic.partitions.emplace_back().partition_index = PartitionIndex(5);
    topic.partitions.emplace_back().partition_index = PartitionIndex(-1);
    request.topics.emplace_back().name = "nope";
    request.topics.back().partitions.emplace_back();
    const auto response = s.node.call<wire::OffsetCommitResponse>(s.c, request, 9);
    QCOMPARE(response.topics.size(), std::size_t{2});
    QCOMPARE(response.topics[0].partitions.size(), std::size_t{3});
    int good = 0;
    for (const auto& partition : response.topics[0].partitions) {
      good += partition.error_code == ErrorCode::none ? 1 : 0;
    }
    QCOMPARE(good, 1);
    QCOMPARE(s.fetch("g", "t").offset, std::int64_t{3});
  }

  void a_restart_keeps_members_and_offsets() {
    Setup s;
    s.node.create_topic("t", 2);
    const std::string m = s.join("g", "").member_id;
    s.join("g", m);
    s.sync("g", 1, m);
    QCOMPARE(s.commit("g", "t", 42, 1, m), ErrorCode::none);
    QCOMPARE(s.commit("simple", "t", 7), ErrorCode::none);
    QVERIFY(s.node.restart());
    s.c = s.node.connect();
    QCOMPARE(s.fetch("g", "t").offset, std::int64_t{42});
    QCOMPARE(s.fetch("simple", "t").offset, std::int64_t{7});
    QCOMPARE(s.describe("g").group_state, std::string("Stable"));
    QCOMPARE(s.heartbeat("g", 1, m), ErrorCode::none);
    QCOMPARE(s.sync("g", 1, m).assignment.text(), std::string_view("AA"));
    wire::ListGroupsRequest list;
    const auto listed = s.node.call<wire::ListGroupsResponse>(s.c, list, 5);
    QCOMPARE(listed.groups.size(), std::size_t{2});
    s.node.advance(seconds(11));
    QCOMPARE(s.describe("g").group_state, std::string("Empty"));
    QCOMPARE(s.fetch("g", "t").offset, std::int64_t{42});
  }

  void offsets_go_with_their_topic() {
    Setup s;
    s.node.create_topic("t", 1);
    QCOMPARE(s.commit("g", "t", 42), ErrorCode::none);
    wire::DeleteTopicsRequest remove;
    remove.topic_names = {"t"};
    remove.timeout_ms = 1'000;
    static_cast<void>(s.node.call<wire::DeleteTopicsResponse>(s.c, remove, 5));
    s.node.create_topic("t", 1);
    QCOMPARE(s.fetch("g", "t").offset, std::int64_t{-1});
  }

  void two_members_over_two_connections() {
    Setup s;
    const ConnectionId other = s.node.connect();
    const std::string a = s.join("g", "").member_id;
    s.join("g", a);
    s.sync("g", 1, a);
    const std::string b = s.join("g", "").member_id;
    s.node.send(other, Setup::join_request("g", b), 9);
    QVERIFY(!s.node.answered(other));
    QCOMPARE(s.heartbeat("g", 1, a), ErrorCode::rebalance_in_progress);
    const auto again = s.join("g", a);
    QCOMPARE(again.generation_id, 2);
    QCOMPARE(again.members.size(), std::size_t{2});
    const auto joined = s.node.receive<wire::JoinGroupResponse>(other, 9);
    QCOMPARE(joined.generation_id, 2);
    QCOMPARE(joined.leader, a);
    // Events carry who sits on which connection.
    bool seen = false;
    for (const auto& assigned : s.node.events.of<event::GroupAssigned>()) {
      for (const auto& member : assigned.members) {
        seen = seen || (member.member_id == b && member.connection == other);
      }
    }
    QVERIFY(seen);
  }

  // Each of Kafka's keys has its effect.
  void configurations() {
    Setup s({{"group.max.size", "1"},
             {"group.min.session.timeout.ms", "9000"},
             {"group.max.session.timeout.ms", "20000"},
             {"offset.metadata.max.bytes", "3"},
             {"offsets.topic.num.partitions", "7"},
             {"offsets.topic.segment.bytes", "1048576"}});
    s.node.create_topic("t", 1);
    auto request = Setup::join_request("g", "");
    request.session_timeout_ms = 8'999;
    QCOMPARE(s.node.call<wire::JoinGroupResponse>(s.c, request, 9).error_code,
             ErrorCode::invalid_session_timeout);
    request.session_timeout_ms = 20'001;
    QCOMPARE(s.node.call<wire::JoinGroupResponse>(s.c, request, 9).error_code,
             ErrorCode::invalid_session_timeout);
    const std::string a = s.join("g", "").member_id;
    const std::string b = s.join("g", "").member_id;
    QCOMPARE(s.join("g", a).error_code, ErrorCode::none);
    const auto turned_away = s.join("g", b);
    QCOMPARE(turned_away.error_code, ErrorCode::group_max_size_reached);
    QCOMPARE(turned_away.member_id, std::string());
    QCOMPARE(s.commit("x", "t", 1, -1, {}, 0, "abc"), ErrorCode::none);
    QCOMPARE(s.commit("x", "t", 1, -1, {}, 0, "abcd"), ErrorCode::offset_metadata_too_large);
    wire::MetadataRequest metadata;
    metadata.topics.emplace();
    metadata.topics->emplace_back().name = "__consumer_offsets";
    const auto topic =
        s.node.call<wire::MetadataResponse>(s.c, metadata, 9).topics.at(0);
    QCOMPARE(topic.partitions.size(), std::size_t{7});
    QVERIFY(topic.is_internal);
  }

  // offsets.retention.minutes counts from when the group became empty, of a simple group from each
  // commit; the tombstones keep what expired away after a restart.
  void offsets_expire() {
    Setup s({{"offsets.retention.minutes", "2"}, {"offsets.retention.check.interval.ms", "10000"}});
    s.node.create_topic("t", 2);
    const std::string m = s.join("g", "").member_id;
    s.join("g", m);
    s.sync("g", 1, m);
    QCOMPARE(s.commit("g", "t", 42, 1, m), ErrorCode::none);
    QCOMPARE(s.commit("simple", "t", 7), ErrorCode::none);
    for (int i = 0; i < 20; ++i) {  // the member lives for 160 s
      s.node.advance(seconds(8));
      QCOMPARE(s.heartbeat("g", 1, m), ErrorCode::none);
    }
    QCOMPARE(s.describe("simple").error_code, ErrorCode::group_id_not_found);
    QCOMPARE(s.fetch("simple", "t").offset, std::int64_t{-1});
    QCOMPARE(s.fetch("g", "t").offset, std::int64_t{42});
    s.node.advance(seconds(12));  // it falls silent
    QCOMPARE(s.describe("g").group_state, std::string("Empty"));
    s.node.advance(seconds(100));
    QCOMPARE(s.fetch("g", "t").offset, std::int64_t{42});
    s.node.advance(seconds(40));
    QCOMPARE(s.fetch("g", "t").offset, std::int64_t{-1});
    QCOMPARE(s.describe("g").error_code, ErrorCode::group_id_not_found);
    QVERIFY(s.node.restart());
    s.c = s.node.connect();
    QCOMPARE(s.fetch("g", "t").offset, std::int64_t{-1});
    QCOMPARE(s.fetch("simple", "t").offset, std::int64_t{-1});
    QVERIFY(s.node.call<wire::ListGroupsResponse>(s.c, wire::ListGroupsRequest(), 5).groups.empty());
  }

  void several_groups_in_one_fetch() {
    Setup s;
    const Uuid id = s.node.create_topic("t", 2);
    QCOMPARE(s.commit("g1", "t", 1), ErrorCode::none);
    QCOMPARE(s.commit("g2", "t", 2), ErrorCode::none);
    for (std::int16_t version = 8; version <= 10; ++version) {
      wire::OffsetFetchRequest request;
      request.topics.emplace();
      for (const char* group : {"g1", "nobody", "g2"}) {
        auto& asked = request.groups.emplace_back();
        asked.group_id = group;
        asked.topics.reset();
      }
      auto& one = request.groups.emplace_back();
      one.group_id = "g2";
      one.topics.emplace();
      auto& topic = one.topics->emplace_back();
      topic.name = version < 10 ? "t" : "";
      topic.topic_id = version < 10 ? Uuid() : id;
      topic.partition_indexes = {PartitionIndex(0), PartitionIndex(1)};
      for (const bool stable : {false, true}) {
        request.require_stable = stable;
        const auto answer = s.node.call<wire::OffsetFetchResponse>(s.c, request, version);
        QCOMPARE(answer.groups.size(), std::size_t{4});
        QCOMPARE(answer.groups[0].topics.at(0).partitions.at(0).committed_offset, Offset(1));
        QVERIFY(answer.groups[1].topics.empty());
        QCOMPARE(answer.groups[1].error_code, ErrorCode::none);
        QCOMPARE(answer.groups[2].topics.at(0).partitions.at(0).committed_offset, Offset(2));
        QCOMPARE(answer.groups[3].topics.at(0).partitions.at(0).committed_offset, Offset(2));
        QCOMPARE(answer.groups[3].topics.at(0).partitions.at(1).committed_offset, Offset(-1));
      }
    }
  }

  void filters_of_list_groups() {
    Setup s;
    s.node.create_topic("t", 1);
    QCOMPARE(s.commit("empty", "t", 1), ErrorCode::none);
    const std::string m = s.join("stable", "").member_id;
    s.join("stable", m);
    s.sync("stable", 1, m);
    const auto listed = [&](const std::vector<std::string>& states,
                            const std::vector<std::string>& types) {
      wire::ListGroupsRequest request;
      request.states_filter = states;
      request.types_filter = types;
      std::string names;
      const auto answer = s.node.call<wire::ListGroupsResponse>(s.c, request, 5);
      HW_ASSERT(answer.error_code == ErrorCode::none, "listed");
      for (const auto& group : answer.groups) {
        names += group.group_id + ":" + group.protocol_type + " ";
      }
      return names;
    };
    QCOMPARE(listed({}, {}).size(), std::string("empty: stable:consumer ").size());
    QCOMPARE(listed({"Stable"}, {}), std::string("stable:consumer "));
    QCOMPARE(listed({"sTaBle", "Dead"}, {}), std::string("stable:consumer "));
    QCOMPARE(listed({"Empty"}, {"Classic"}), std::string("empty: "));
    QCOMPARE(listed({"Nonsense"}, {}), std::string());
    QCOMPARE(listed({}, {"consumer"}), std::string());
    QCOMPARE(listed({}, {"share", "classic"}).size(), listed({}, {}).size());
  }

  void what_an_administrator_asks() {
    Setup s;
    s.node.create_topic("t", 1);
    QCOMPARE(s.commit("g", "t", 1), ErrorCode::none);
    wire::DescribeGroupsRequest describe;
    describe.groups = {"g"};
    describe.include_authorized_operations = true;
    QCOMPARE(s.node.call<wire::DescribeGroupsResponse>(s.c, describe, 6)
                 .groups.at(0)
                 .authorized_operations,
             3'400);
    for (std::int16_t version = 0; version <= 5; ++version) {
      const auto listed =
          s.node.call<wire::ListGroupsResponse>(s.c, wire::ListGroupsRequest(), version);
      QCOMPARE(listed.groups.size(), std::size_t{1});
      QCOMPARE(listed.groups[0].group_state, std::string(version >= 4 ? "Empty" : ""));
      QCOMPARE(listed.groups[0].group_type, std::string(version >= 5 ? "classic" : ""));
    }
    for (std::int16_t version = 0; version <= 3; ++version) {
      QCOMPARE(s.remove("g" + std::string(version == 0 ? "" : "x"), version),
               version == 0 ? ErrorCode::none : ErrorCode::group_id_not_found);
    }
  }
};

QTEST_APPLESS_MAIN(TstGroupApis)
#include "tst_group_apis.moc"
