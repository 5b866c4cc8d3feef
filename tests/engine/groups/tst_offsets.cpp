// SPDX-License-Identifier: Apache-2.0
// Committed offsets: who may commit, what is read back, deletion, expiry, rollback.
#include <string>
#include <vector>

#include <QtTest>

#include "world.h"

using namespace hw;
using namespace hw::groups;
using namespace hw::groups::test;
using hw::wire::ErrorCode;

namespace {

std::string subscription(const std::string& topic) {
  return std::string{'\0', '\0', '\0', '\0', '\0', '\1', '\0', static_cast<char>(topic.size())} +
         topic + std::string(4, '\xFF');
}

JoinOptions subscribed(const std::string& topic) {
  JoinOptions options;
  options.protocols = {{"range", subscription(topic)}};
  return options;
}

wire::OffsetDeleteResponse delete_offset(World& world, const std::string& group,
                                         const std::string& topic) {
  wire::OffsetDeleteRequest request;
  request.group_id = group;
  wire::OffsetDeleteRequest::OffsetDeleteRequestTopic asked;
  asked.name = topic;
  asked.partitions.resize(1);
  request.topics.push_back(std::move(asked));
  Answer<wire::OffsetDeleteResponse> answer;
  world.coordinator.delete_offsets(request, world.context(0), world.now, answer.done());
  world.pump();
  return *answer;
}

}  // namespace

class TestOffsets : public QObject {
  Q_OBJECT

 private slots:

  // ---- 163
  void who_may_commit() {
    World world;
    const std::string a = world.lone_member("g");
    QCOMPARE(world.commit("g", "t", 5, 1, a), ErrorCode::none);
    QCOMPARE(world.commit("g", "t", 6, 0, a), ErrorCode::illegal_generation);
    QCOMPARE(world.commit("g", "t", 6, 1, "x"), ErrorCode::unknown_member_id);
    QCOMPARE(world.commit("g", "t", 6),
             ErrorCode::unknown_member_id);  // nobody in particular, but there are members
    QCOMPARE(world.fetch("g", "t"), std::int64_t{5});
    auto joining = world.join("g", world.member_id("g"));
    QCOMPARE(world.commit("g", "t", 7, 1, a),
             ErrorCode::none);  // PreparingRebalance: the last chance
    world.join("g", a);
    QCOMPARE(world.commit("g", "t", 8, 2, a), ErrorCode::rebalance_in_progress);
    QCOMPARE(world.fetch("g", "t"), std::int64_t{7});
    world.leave("g", {{a, {}, {}}, {joining->member_id, {}, {}}});
    QCOMPARE(world.commit("g", "t", 9), ErrorCode::none);
    QCOMPARE(world.fetch("g", "t"), std::int64_t{9});
  }

  void a_group_that_does_not_exist() {
    World world;
    World::CommitOptions options;
    QCOMPARE(world.commit("none", "t", 1, 3, "m", options), ErrorCode::group_id_not_found);
    options.version = 8;
    QCOMPARE(world.commit("none", "t", 1, 3, "m", options), ErrorCode::illegal_generation);
    QCOMPARE(world.list().size(), std::size_t{0});
    QCOMPARE(world.commit("simple", "t", 1), ErrorCode::none);
    QCOMPARE(world.list(), std::vector<std::string>{"simple/Empty/classic/"});
    QCOMPARE(world.commit("", "t", 1), ErrorCode::none);  // the empty group may, as it always could
    QCOMPARE(world.fetch("", "t"), std::int64_t{1});
  }

  void a_commit_keeps_the_session() {
    World world;
    const std::string a = world.lone_member("g");
    for (int i = 0; i < 5; ++i) {
      world.advance(9'000);
      QCOMPARE(world.commit("g", "t", i, 1, a), ErrorCode::none);
    }
    QCOMPARE(world.state("g"), std::string("Stable"));
  }

  // ---- 164
  void metadata_has_a_bound_in_javas_characters() {
    World world;
    World::CommitOptions options;
    options.metadata = std::string(4'096, 'x');
    QCOMPARE(world.commit("g", "t", 1, -1, "", options), ErrorCode::none);
    options.metadata += 'x';
    QCOMPARE(world.commit("g", "t", 2, -1, "", options), ErrorCode::offset_metadata_too_large);
    options.metadata.clear();
    for (int i = 0; i < 4'096; ++i) {
      options.metadata += "\xC3\xA9";
    }
    QCOMPARE(world.commit("g", "t", 3, -1, "", options),
             ErrorCode::none);  // 8192 bytes, 4096 characters
    QCOMPARE(world.fetch("g", "t"), std::int64_t{3});
  }

  // ---- 165
  void what_was_not_committed_is_minus_one() {
    World world;
    world.commit("g", "t", 5);
    auto fetched = world.fetch_later("g", "t", {0, 1}, false);
    const auto& partitions = fetched->groups[0].topics[0].partitions;
    QCOMPARE(fetched->groups[0].error_code, ErrorCode::none);
    QCOMPARE(partitions[0].committed_offset, Offset(5));
    QCOMPARE(partitions[0].committed_leader_epoch, LeaderEpoch(3));
    QCOMPARE(partitions[1].committed_offset, Offset(-1));
    QCOMPARE(partitions[1].committed_leader_epoch, LeaderEpoch(-1));
    QCOMPARE(partitions[1].metadata.value(), std::string());
    QCOMPARE(partitions[1].error_code, ErrorCode::none);
    QCOMPARE(world.fetch("unknown", "t"), std::int64_t{-1});
  }

  void every_topic_of_a_group() {
    World world;
    World::CommitOptions second;
    second.partition = 4;
    second.metadata = "here";
    world.commit("g", "b", 5);
    world.commit("g", "a", 6);
    world.commit("g", "b", 7, -1, "", second);
    world.commit("h", "c", 8);
    const auto all = world.fetch_all("g");
    QCOMPARE(all.topics.size(), std::size_t{2});
    QCOMPARE(all.topics[0].name, std::string("a"));
    QCOMPARE(all.topics[1].partitions.size(), std::size_t{2});
    QCOMPARE(all.topics[1].partitions[1].partition_index, PartitionIndex(4));
    QCOMPARE(all.topics[1].partitions[1].metadata.value(), std::string("here"));
    QVERIFY(world.fetch_all("none").topics.empty());
  }

  void a_topic_created_again_has_no_offsets() {
    World world;
    World::CommitOptions options;
    options.topic_id = {1, 1};
    world.commit("g", "t", 5, -1, "", options);
    wire::OffsetFetchRequest request;
    request.groups.resize(1);
    request.groups[0].group_id = "g";
    request.groups[0].topics.emplace(1);
    request.groups[0].topics->front().name = "t";
    request.groups[0].topics->front().partition_indexes = {PartitionIndex(0)};
    for (const std::uint64_t id : {1U, 2U}) {
      request.groups[0].topics->front().topic_id = {1, id};
      Answer<wire::OffsetFetchResponse> answer;
      world.coordinator.fetch_offsets(request, world.context(10), world.now, answer.done());
      QCOMPARE(answer->groups[0].topics[0].partitions[0].committed_offset,
               Offset(id == 1 ? 5 : -1));
    }
  }

  // ---- answers wait for the log; reads see what is committed
  void a_commit_is_answered_and_seen_when_it_is_committed() {
    World world;
    world.commit("g", "t", 1);
    world.hold = true;
    auto answer = world.commit_later("g", "t", 2, -1, "", {});
    QVERIFY(!answer.here());
    QCOMPARE(world.fetch("g", "t"), std::int64_t{1});
    auto stable = world.fetch_later("g", "t", {0}, true);
    QVERIFY(!stable.here());
    world.commit_held();
    QCOMPARE(answer->topics[0].partitions[0].error_code, ErrorCode::none);
    QCOMPARE(stable->groups[0].topics[0].partitions[0].committed_offset, Offset(2));
    QCOMPARE(world.fetch("g", "t"), std::int64_t{2});
  }

  // As Apache Kafka 4.4.0 answers while the offsets topic cannot be replicated: after offsets.commit.timeout.ms, each for itself. What
  // was written stays written.
  void who_waits_too_long_for_the_log_is_told() {
    World world;
    const std::string member = world.lone_member("g");
    QCOMPARE(world.commit("g", "t", 1, 1, member), ErrorCode::none);
    QCOMPARE(world.heartbeat("g", 1, member), ErrorCode::none);
    world.hold = true;
    auto commit = world.commit_later("g", "t", 2, 1, member, {});
    world.advance(1'000);
    auto second = world.commit_later("g", "t", 3, 1, member, {});
    auto stable = world.fetch_later("g", "t", {0}, true);
    auto behind = world.heartbeat_later("g", 1, member);
    world.advance(3'999);
    QVERIFY(!commit.here() && !second.here() && !stable.here() && !behind.here());
    world.advance(1);
    QCOMPARE(commit->topics[0].partitions[0].error_code, ErrorCode::coordinator_not_available);
    QVERIFY(!second.here() && !stable.here() && !behind.here());
    world.advance(1'000);
    QCOMPARE(second->topics[0].partitions[0].error_code, ErrorCode::coordinator_not_available);
    QCOMPARE(stable->groups[0].error_code, ErrorCode::not_coordinator);
    QCOMPARE(behind->error_code, ErrorCode::coordinator_not_available);
    QCOMPARE(world.fetch("g", "t"), std::int64_t{1});
    QCOMPARE(world.state("g"), std::string("Stable"));
    world.commit_held();
    QCOMPARE(world.fetch("g", "t"), std::int64_t{3});
    QCOMPARE(commit.times() + second.times() + stable.times() + behind.times(), 4);
    world.hold = false;
    QCOMPARE(world.heartbeat("g", 1, member), ErrorCode::none);
  }

  // The assignment that is not stored in time is void: the members join again. The group that is deleted is gone, whoever heard of it.
  void an_assignment_and_a_deletion_that_take_too_long() {
    World world;
    const std::string id = world.member_id("g");
    auto join = world.join("g", id);
    QVERIFY(join.here() && join->error_code == ErrorCode::none);
    world.hold = true;
    auto sync = world.sync("g", join->generation_id, id, {{id, "all"}});
    world.advance(4'999);
    QVERIFY(!sync.here());
    world.advance(1);
    QCOMPARE(sync->error_code, ErrorCode::coordinator_not_available);
    QCOMPARE(world.state("g"), std::string("PreparingRebalance"));
    world.commit_held();
    world.hold = false;
    auto again = world.join("g", id);
    QVERIFY(again.here() && again->error_code == ErrorCode::none);
    auto assigned = world.sync("g", again->generation_id, id, {{id, "all"}});
    QVERIFY(assigned.here() && assigned->error_code == ErrorCode::none);

    world.commit("idle", "t", 1);
    world.hold = true;
    auto deleted = world.remove_later("idle");
    world.advance(5'000);
    QCOMPARE(deleted->results[0].error_code, ErrorCode::coordinator_not_available);
    world.commit_held();
    world.hold = false;
    QCOMPARE(world.remove("idle"), ErrorCode::group_id_not_found);
    QCOMPARE(world.fetch("idle", "t"), std::int64_t{-1});
  }

  void a_failed_append_takes_the_later_ones_back() {
    World world;
    world.commit("g", "t", 1);
    world.hold = true;
    auto first = world.commit_later("g", "t", 2, -1, "", {});
    auto second = world.commit_later("g", "t", 3, -1, "", {});
    auto other = world.commit_later("fresh", "t", 3, -1, "", {});
    auto stable = world.fetch_later("g", "t", {0}, true);
    const std::vector<Outputs::Append> held = world.held;
    world.fail_held(ErrorCode::not_enough_replicas);
    QCOMPARE(first->topics[0].partitions[0].error_code, ErrorCode::coordinator_not_available);
    QCOMPARE(second->topics[0].partitions[0].error_code, ErrorCode::coordinator_not_available);
    QCOMPARE(other->topics[0].partitions[0].error_code, ErrorCode::coordinator_not_available);
    QCOMPARE(stable->groups[0].error_code, ErrorCode::not_coordinator);
    for (const Outputs::Append& append : held) {
      QVERIFY(!world.coordinator.pending(append.id));
    }
    QCOMPARE(world.fetch("g", "t"), std::int64_t{1});
    QCOMPARE(world.list().size(), std::size_t{1});
    world.held.clear();
    QCOMPARE(world.commit("g", "t", 4), ErrorCode::none);
    QCOMPARE(world.fetch("g", "t"), std::int64_t{4});
  }

  void errors_of_the_log_become_a_coordinators() {
    const std::vector<std::pair<ErrorCode, ErrorCode>> table{
        {ErrorCode::unknown_topic_or_partition, ErrorCode::coordinator_not_available},
        {ErrorCode::request_timed_out, ErrorCode::coordinator_not_available},
        {ErrorCode::kafka_storage_error, ErrorCode::not_coordinator},
        {ErrorCode::record_list_too_large, ErrorCode::unknown_server_error},
        {ErrorCode::message_too_large, ErrorCode::unknown_server_error},
        {ErrorCode::invalid_required_acks, ErrorCode::invalid_required_acks},
    };
    for (const auto& [given, answered] : table) {
      World world;
      world.hold = true;
      auto answer = world.commit_later("g", "t", 2, -1, "", {});
      world.fail_held(given);
      QCOMPARE(answer->topics[0].partitions[0].error_code, answered);
    }
  }

  // ---- 166
  void deleting_groups() {
    World world;
    const std::string a = world.lone_member("g");
    world.commit("g", "t", 5, 1, a);
    QCOMPARE(world.remove("g"), ErrorCode::non_empty_group);
    QCOMPARE(world.remove("none"), ErrorCode::group_id_not_found);
    world.leave("g", {{a, {}, {}}});
    QCOMPARE(world.remove("g"), ErrorCode::none);
    QCOMPARE(world.remove("g"), ErrorCode::group_id_not_found);
    QCOMPARE(world.fetch("g", "t"), std::int64_t{-1});
    QCOMPARE(world.told<event::GroupDeleted>().size(), std::size_t{1});
    QVERIFY(world.coordinator.dump_hard_state(PartitionIndex(0)).empty());
  }

  void a_deletion_that_fails_brings_everything_back() {
    World world;
    const std::string a = world.lone_member("g");
    world.commit("g", "t", 5, 1, a);
    world.leave("g", {{a, {}, {}}});
    world.hold = true;
    wire::DeleteGroupsRequest request;
    request.groups_names = {"g", "none"};
    Answer<wire::DeleteGroupsResponse> answer;
    world.coordinator.delete_groups(request, world.context(2), world.now, answer.done());
    world.pump();
    QVERIFY(!answer.here());
    // Meanwhile the group is gone for whoever comes: somebody joins a new one of that name.
    auto joining = world.join("g", "");
    QCOMPARE(joining->error_code, ErrorCode::member_id_required);
    world.fail_held(ErrorCode::not_leader_or_follower);
    QCOMPARE(answer->results[0].error_code, ErrorCode::not_coordinator);
    QCOMPARE(answer->results[1].error_code, ErrorCode::group_id_not_found);
    QCOMPARE(world.state("g"), std::string("Empty"));
    QCOMPARE(world.describe("g").protocol_type, std::string("consumer"));  // the old one
    QCOMPARE(world.fetch("g", "t"), std::int64_t{5});
  }

  void a_commit_on_its_way_is_deleted_with_the_group() {
    World world;
    world.commit("g", "t", 1);
    world.hold = true;
    auto commit = world.commit_later("g", "u", 2, -1, "", {});
    wire::DeleteGroupsRequest request;
    request.groups_names = {"g"};
    Answer<wire::DeleteGroupsResponse> answer;
    world.coordinator.delete_groups(request, world.context(2), world.now, answer.done());
    world.pump();
    world.commit_held();
    QCOMPARE(commit->topics[0].partitions[0].error_code, ErrorCode::none);
    QCOMPARE(answer->results[0].error_code, ErrorCode::none);
    QVERIFY(world.list().empty());
    QVERIFY(world.coordinator.dump_hard_state(PartitionIndex(0)).empty());
  }

  void deleting_offsets() {
    World world;
    const std::string a = world.lone_member("g", subscribed("read"));
    world.commit("g", "read", 5, 1, a);
    world.commit("g", "other", 6, 1, a);
    QCOMPARE(delete_offset(world, "g", "read").topics[0].partitions[0].error_code,
             ErrorCode::group_subscribed_to_topic);
    QCOMPARE(delete_offset(world, "g", "other").topics[0].partitions[0].error_code,
             ErrorCode::none);
    QCOMPARE(world.fetch("g", "read"), std::int64_t{5});
    QCOMPARE(world.fetch("g", "other"), std::int64_t{-1});
    QCOMPARE(delete_offset(world, "none", "read").error_code, ErrorCode::group_id_not_found);
    QCOMPARE(delete_offset(world, "", "read").error_code, ErrorCode::invalid_group_id);
    JoinOptions connect;
    connect.type = "connect";
    world.lone_member("workers", connect);
    QCOMPARE(delete_offset(world, "workers", "read").error_code, ErrorCode::non_empty_group);
    world.leave("g", {{a, {}, {}}});
    QCOMPARE(delete_offset(world, "g", "read").topics[0].partitions[0].error_code, ErrorCode::none);
    QCOMPARE(world.told<event::OffsetDeleted>().size(), std::size_t{2});
  }

  // ---- 167
  void offsets_expire_after_the_group_became_empty() {
    Config config = World::fast();
    config.offsets_retention_ms = 3'600'000;
    World world(config);
    const std::string a = world.lone_member("g");
    world.commit("g", "t", 5, 1, a);
    for (int i = 0; i < 800; ++i) {  // two hours with a live member: nothing expires
      world.advance(9'000);
      world.heartbeat("g", 1, a);
    }
    QCOMPARE(world.fetch("g", "t"), std::int64_t{5});
    world.leave("g", {{a, {}, {}}});
    world.advance(3'000'000);
    QCOMPARE(world.fetch("g", "t"), std::int64_t{5});
    world.advance(1'300'000);  // past the hour, and past the next look (every ten minutes)
    QCOMPARE(world.fetch("g", "t"), std::int64_t{-1});
    QVERIFY(world.list().empty());
    QCOMPARE(world.told<event::GroupDeleted>().size(), std::size_t{1});
    QVERIFY(world.coordinator.dump_hard_state(PartitionIndex(0)).empty());
  }

  void a_stable_group_loses_what_it_does_not_read() {
    Config config = World::fast();
    config.offsets_retention_ms = 1'000'000;
    World world(config);
    JoinOptions options = subscribed("read");
    options.session_ms = 1'800'000;
    const std::string a = world.lone_member("g", options);
    world.commit("g", "read", 5, 1, a);
    world.commit("g", "other", 6, 1, a);
    world.advance(1'700'000);
    QCOMPARE(world.heartbeat("g", 1, a), ErrorCode::none);
    world.advance(200'000);
    QCOMPARE(world.fetch("g", "read"), std::int64_t{5});
    QCOMPARE(world.fetch("g", "other"), std::int64_t{-1});
    QCOMPARE(world.state("g"), std::string("Stable"));
  }

  void simple_groups_expire_by_commit() {
    Config config = World::fast();
    config.offsets_retention_ms = 1'000'000;
    World world(config);
    world.commit("g", "old", 5);
    world.advance(900'000);
    world.commit("g", "new", 6);
    world.advance(600'000);
    QCOMPARE(world.fetch("g", "old"), std::int64_t{-1});
    QCOMPARE(world.fetch("g", "new"), std::int64_t{6});
    world.advance(1'000'000);
    QVERIFY(world.list().empty());
  }

  void an_old_client_says_how_long() {
    World world;
    World::CommitOptions options;
    options.version = 4;
    options.retention_ms = 1'000;
    world.commit("g", "t", 5, -1, "", options);
    world.advance(600'000);
    QCOMPARE(world.fetch("g", "t"), std::int64_t{-1});
  }

  // ---- 168
  void offsets_of_deleted_topics_go() {
    World world;
    world.commit("g", "t", 5);
    world.commit("g", "u", 6);
    world.commit("h", "t", 7);
    world.coordinator.topics_deleted({"t"}, world.now);
    world.pump();
    QCOMPARE(world.fetch("g", "t"), std::int64_t{-1});
    QCOMPARE(world.fetch("h", "t"), std::int64_t{-1});
    QCOMPARE(world.fetch("g", "u"), std::int64_t{6});
    world.coordinator.topics_deleted({"t"}, world.now);
    QVERIFY(!world.coordinator.has_outputs());
  }

  // ---- what the screen is told
  // No batch that a log would refuse, however many groups read the topic.
  void many_offsets_of_a_deleted_topic_go_in_pieces() {
    World world;
    constexpr int kGroups = 8'000;
    for (int g = 0; g < kGroups; ++g) {
      QCOMPARE(world.commit("group-" + std::to_string(g), "t", 1), ErrorCode::none);
    }
    QCOMPARE(world.commit("group-0", "other", 1), ErrorCode::none);
    world.hold = true;
    world.coordinator.topics_deleted({"t", "never"}, world.now);
    world.pump();
    QVERIFY(world.held.size() > 1);
    std::size_t records = 0;
    for (const Outputs::Append& append : world.held) {
      std::size_t bytes = 0;
      for (const Record& record : append.records) {
        QVERIFY(!record.value);
        bytes += record.key.size();
      }
      QVERIFY(bytes < std::size_t{256} << 10U);
      records += append.records.size();
    }
    QCOMPARE(records, std::size_t{kGroups});
    world.commit_held();
    QCOMPARE(world.fetch("group-7999", "t"), std::int64_t{-1});
    QCOMPARE(world.fetch("group-0", "t"), std::int64_t{-1});
    QCOMPARE(world.fetch("group-0", "other"), std::int64_t{1});
  }

  void positions_are_counters_and_events_are_few() {
    World world;
    world.commit("g", "t", 1);
    const auto first = world.told<event::OffsetCommitted>();
    QCOMPARE(first.size(), std::size_t{1});
    QCOMPARE(first[0].counters->offset.get(), std::int64_t{1});
    for (int i = 2; i <= 100; ++i) {
      world.commit("g", "t", i);
    }
    QCOMPARE(first[0].counters->offset.get(), std::int64_t{100});
    QCOMPARE(world.told<event::OffsetCommitted>().size(), std::size_t{1});
    world.advance(1'000);
    world.commit("g", "t", 101);
    QCOMPARE(world.told<event::OffsetCommitted>().size(), std::size_t{2});
    QCOMPARE(world.told<event::OffsetCommitted>().back().counters, first[0].counters);
  }

  void after_a_restart_everything_is_told_again() {
    World world;
    world.commit("g", "t", 1);
    World after;
    after.coordinator.unload(PartitionIndex(0), after.now);
    after.log = world.log;
    after.load();
    QCOMPARE(after.told<event::OffsetCommitted>().size(), std::size_t{1});
    QCOMPARE(after.told<event::OffsetCommitted>()[0].counters->offset.get(), std::int64_t{1});
    QCOMPARE(after.told<event::GroupStateChanged>()[0].state, std::string("Empty"));
    QCOMPARE(after.fetch("g", "t"), std::int64_t{1});
  }

  // As Kafka 4.4.0 does while followers are silent: a new coordinator serves what was committed, not what it found in its log
  // beyond the high watermark.
  void what_was_loaded_but_is_not_committed_is_not_served() {
    World before;
    before.commit("g", "t", 5);
    before.commit("g", "t", 10);
    before.commit("fresh", "t", 1);
    World after;
    after.coordinator.unload(PartitionIndex(0), after.now);
    const std::vector<Record>& log = before.log[0];
    QCOMPARE(log.size(), std::size_t{3});
    after.coordinator.begin_load(PartitionIndex(0));
    after.coordinator.load_record(PartitionIndex(0), log[0], after.now);
    std::vector<AppendId> ids;
    for (std::size_t i = 1; i < log.size(); ++i) {
      ids.push_back(after.coordinator.load_uncommitted(PartitionIndex(0)));
      after.coordinator.load_record(PartitionIndex(0), log[i], after.now);
    }
    after.coordinator.end_load(PartitionIndex(0), after.now);
    after.pump();
    QCOMPARE(after.fetch("g", "t"), std::int64_t{5});
    QCOMPARE(after.fetch("fresh", "t"), std::int64_t{-1});
    auto stable = after.fetch_later("g", "t", {0}, true);
    auto next = after.commit_later("g", "t", 11, -1, "", {});
    QVERIFY(!stable.here() && !next.here());  // the log commits in its order
    QCOMPARE(after.told<event::OffsetCommitted>().size(), std::size_t{1});

    after.coordinator.on_committed(ids[0], ErrorCode::none, after.now);
    QCOMPARE(after.fetch("g", "t"), std::int64_t{10});
    QCOMPARE(after.fetch("fresh", "t"), std::int64_t{-1});
    QVERIFY(!stable.here());
    after.coordinator.on_committed(ids[1], ErrorCode::none, after.now);
    QCOMPARE(after.fetch("g", "t"), std::int64_t{11});
    QCOMPARE(after.fetch("fresh", "t"), std::int64_t{1});
    QCOMPARE(stable->groups[0].topics[0].partitions[0].committed_offset, Offset(10));
    QCOMPARE(next->topics[0].partitions[0].error_code, ErrorCode::none);
    QCOMPARE(after.list().size(), std::size_t{2});
  }

  void a_coordinator_that_goes_forgets_what_it_loaded() {
    World before;
    before.commit("g", "t", 5);
    World after;
    after.coordinator.unload(PartitionIndex(0), after.now);
    after.coordinator.begin_load(PartitionIndex(0));
    const AppendId id = after.coordinator.load_uncommitted(PartitionIndex(0));
    after.coordinator.load_record(PartitionIndex(0), before.log[0][0], after.now);
    after.coordinator.end_load(PartitionIndex(0), after.now);
    auto stable = after.fetch_later("g", "t", {0}, true);
    after.coordinator.unload(PartitionIndex(0), after.now);
    QCOMPARE(stable->groups[0].error_code, ErrorCode::not_coordinator);
    after.coordinator.on_committed(id, ErrorCode::not_leader_or_follower, after.now);
    after.log = before.log;
    after.load();
    QCOMPARE(after.fetch("g", "t"), std::int64_t{5});
  }

  void many_groups_in_one_request() {
    Config config = World::fast();
    config.offsets_topic_num_partitions = 50;
    World world(config);
    wire::OffsetFetchRequest request;
    for (int i = 0; i < 20; ++i) {
      const std::string group = "g" + std::to_string(i);
      world.commit(group, "t", i);
      wire::OffsetFetchRequest::OffsetFetchRequestGroup asked;
      asked.group_id = group;
      asked.topics.reset();
      request.groups.push_back(asked);
    }
    world.coordinator.unload(world.coordinator.partition_of("g3"), world.now);
    Answer<wire::OffsetFetchResponse> answer;
    world.coordinator.fetch_offsets(request, world.context(9), world.now, answer.done());
    QCOMPARE(answer->groups.size(), std::size_t{20});
    QCOMPARE(answer.times(), 1);
    for (int i = 0; i < 20; ++i) {
      const auto& group = answer->groups[static_cast<std::size_t>(i)];
      QCOMPARE(group.group_id, "g" + std::to_string(i));
      if (world.coordinator.leads(world.coordinator.partition_of(group.group_id))) {
        QCOMPARE(group.topics[0].partitions[0].committed_offset, Offset(i));
      } else {
        QCOMPARE(group.error_code, ErrorCode::not_coordinator);
      }
    }
    request.groups.clear();
    Answer<wire::OffsetFetchResponse> none;
    world.coordinator.fetch_offsets(request, world.context(9), world.now, none.done());
    QVERIFY(none.here());
  }
};

QTEST_APPLESS_MAIN(TestOffsets)
#include "tst_offsets.moc"
