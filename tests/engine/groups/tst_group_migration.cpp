// SPDX-License-Identifier: Apache-2.0
// Groups that change between the classic and the consumer protocol, as Apache Kafka 4.4 behaves
// (behaviours 186, 187): with members, without, and when the change cannot be stored.
#include <string>
#include <vector>

#include <QtTest>

#include "engine/groups/classic/classic_group.h"
#include "engine/wire/msg/consumer_protocol_assignment.h"
#include "engine/wire/msg/consumer_protocol_subscription.h"
#include "engine/wire/runtime/reader.h"
#include "engine/wire/runtime/writer.h"

#include "consumer_world.h"

using namespace hw;
using namespace hw::groups;
using namespace hw::groups::test;
using hw::wire::ErrorCode;

namespace {

template <class Message>
std::string embedded(const Message& message, std::int16_t version) {
  wire::Writer writer;
  writer.int16(version);
  HW_ASSERT(encode(writer, message, version), "the test's own message");
  return std::string(writer.finish().flatten().text());
}

std::string subscription(const Parts& owned, const std::string& topic = "t") {
  wire::ConsumerProtocolSubscription message;
  message.topics = {topic};
  for (const auto& [name, partitions] : owned) {
    auto& entry = message.owned_partitions.emplace_back();
    entry.topic = name;
    for (const std::int32_t partition : partitions) {
      entry.partitions.push_back(PartitionIndex(partition));
    }
  }
  return embedded(message, 1);
}

std::string assignment(const Parts& parts) {
  wire::ConsumerProtocolAssignment message;
  for (const auto& [name, partitions] : parts) {
    auto& entry = message.assigned_partitions.emplace_back();
    entry.topic = name;
    for (const std::int32_t partition : partitions) {
      entry.partitions.push_back(PartitionIndex(partition));
    }
  }
  return embedded(message, 1);
}

Parts parts_of(const Bytes& bytes) {
  Parts parts;
  for (const auto& [topic, partition] : decode_assignment(bytes)) {
    parts[topic].push_back(partition.value());
  }
  return parts;
}

JoinOptions classic(const Parts& owned = {}, std::optional<std::string> instance = {}) {
  JoinOptions options;
  options.protocols = {{"range", subscription(owned)}};
  options.instance = std::move(instance);
  return options;
}

// A classic member that is alone in generation 1 and has all three partitions of t.
std::string classic_alone(ConsumerWorld& world, std::optional<std::string> instance = {}) {
  const JoinOptions options = classic({}, instance);
  const std::string id = instance ? std::string() : world.member_id("g", options);
  const Answer<wire::JoinGroupResponse> joined = world.join("g", id, options);
  world.sync("g", 1, joined->member_id, {{joined->member_id, assignment({{"t", {0, 1, 2}}})}},
             instance);
  return joined->member_id;
}

Config with(MigrationPolicy policy) {
  Config config = ConsumerWorld::quick();
  config.consumer_migration_policy = policy;
  return config;
}

}  // namespace

class TestGroupMigration : public QObject {
  Q_OBJECT

 private slots:

  void a_classic_member_that_was_told_too_late_is_watched_over() {
    ConsumerWorld world;
    world.create_topic("t", 3);
    world.join_consumer("g", "m", {"t"});
    const std::string id = world.join("g", {}, classic())->member_id;
    world.hold = true;
    const Answer<wire::JoinGroupResponse> late = world.join("g", id, classic());
    world.advance(6'000);  // longer than offsets.commit.timeout.ms
    QVERIFY(late.here() && late->error_code != ErrorCode::none);
    world.commit_held();
    QCOMPARE(world.describe_consumer("g").members.size(), std::size_t{2});
    world.advance(30'000);  // its session is over, that of the other one is not
    const auto group = world.describe_consumer("g");
    QCOMPARE(group.members.size(), std::size_t{1});
    QCOMPARE(group.members.front().member_id, std::string("m"));
  }

  void an_empty_group_changes_its_kind_whatever_the_policy_is() {
    for (const MigrationPolicy policy :
         {MigrationPolicy::disabled, MigrationPolicy::upgrade, MigrationPolicy::downgrade,
          MigrationPolicy::bidirectional}) {
      ConsumerWorld world(with(policy));
      world.create_topic("t", 3);
      const std::string id = classic_alone(world);
      world.leave("g", {{id, {}, {}}});
      QVERIFY(world.list() == std::vector<std::string>{"g/Empty/classic/consumer"});
      QCOMPARE(world.join_consumer("g", "m", {"t"}).member_epoch, 2);
      QVERIFY(world.list() == std::vector<std::string>{"g/Stable/consumer/consumer"});
      world.beat("g", "m", -1);
      QVERIFY(world.list() == std::vector<std::string>{"g/Empty/consumer/consumer"});
      classic_alone(world);
      QVERIFY(world.list() == std::vector<std::string>{"g/Stable/classic/consumer"});
      const std::string before = world.coordinator.dump_hard_state(PartitionIndex(0));
      world.coordinator.unload(PartitionIndex(0), world.now);
      world.load();
      QCOMPARE(world.coordinator.dump_hard_state(PartitionIndex(0)), before);
      QVERIFY(world.list() == std::vector<std::string>{"g/Stable/classic/consumer"});
    }
  }

  void a_group_that_only_has_offsets_becomes_one_of_consumers() {
    ConsumerWorld world(with(MigrationPolicy::disabled));
    world.create_topic("t", 1);
    world.commit("g", "t", 7);
    QCOMPARE(world.join_consumer("g", "m", {"t"}).error_code, ErrorCode::none);
    QCOMPARE(world.fetch("g", "t"), 7);
    QVERIFY(world.list() == std::vector<std::string>{"g/Stable/consumer/consumer"});
  }

  void an_eager_member_goes_on_in_a_consumer_group() {
    ConsumerWorld world;
    world.create_topic("t", 3);
    const std::string one = classic_alone(world);
    const BeatResponse two = world.join_consumer("g", "two", {"t"});
    QCOMPARE(two.member_epoch, 2);
    QVERIFY(world.told_parts(two) == Parts{});
    QVERIFY(world.list() == std::vector<std::string>{"g/Reconciling/consumer/consumer"});
    QCOMPARE(world.describe_consumer("g").members.at(0).member_type +
                 world.describe_consumer("g").members.at(1).member_type,
             1);
    QCOMPARE(world.heartbeat("g", 2, one), ErrorCode::illegal_generation);
    QCOMPARE(world.heartbeat("g", 1, "nobody"), ErrorCode::unknown_member_id);
    QCOMPARE(world.heartbeat("g", 2, "two"), ErrorCode::unknown_member_id);
    QCOMPARE(world.heartbeat("g", 1, one), ErrorCode::rebalance_in_progress);
    World::CommitOptions commit;
    commit.topic_id = world.topic_id("t");
    commit.version = 2;  // it knows nothing of epochs
    QCOMPARE(world.commit("g", "t", 5, 1, one, commit), ErrorCode::none);

    // It gives everything back before it joins again.
    JoinOptions connect = classic();
    connect.type = "connect";
    QCOMPARE(world.join("g", one, connect)->error_code, ErrorCode::inconsistent_group_protocol);
    const auto joined = world.join("g", one, classic());
    QCOMPARE(joined->error_code, ErrorCode::none);
    QCOMPARE(joined->generation_id, 2);
    QCOMPARE(joined->protocol_name.value_or(""), std::string("range"));
    QVERIFY(joined->members.empty() && joined->leader.empty());
    const std::optional<Parts> gets = world.told_parts(world.beat("g", "two", 2));
    QVERIFY(gets && !gets->at("t").empty());
    QVERIFY(world.list() == std::vector<std::string>{"g/Stable/consumer/consumer"});
    QCOMPARE(world.sync("g", 1, one)->error_code, ErrorCode::illegal_generation);
    QCOMPARE(world.sync("g", 2, one, {}, {}, "roundrobin")->error_code,
             ErrorCode::inconsistent_group_protocol);
    const auto synced = world.sync("g", 2, one);
    QCOMPARE(synced->error_code, ErrorCode::none);
    QCOMPARE(parts_of(synced->assignment).at("t").size() + gets->at("t").size(), std::size_t{3});
    QCOMPARE(world.heartbeat("g", 2, one), ErrorCode::none);

    // The last member of the consumer protocol goes: what is left is a classic group again.
    world.beat("g", "two", -1);
    QVERIFY(world.list() == std::vector<std::string>{"g/PreparingRebalance/classic/consumer"});
    QCOMPARE(world.heartbeat("g", 2, one), ErrorCode::rebalance_in_progress);
    const auto again = world.join("g", one, classic());
    QCOMPARE(again->generation_id, 3);
    QCOMPARE(again->leader, one);
  }

  void a_cooperative_member_keeps_what_stays_its_own() {
    ConsumerWorld world;
    world.create_topic("t", 3);
    const std::string one = classic_alone(world);
    world.join_consumer("g", "two", {"t"});
    const auto first = world.join("g", one, classic({{"t", {0, 1, 2}}}));
    QCOMPARE(first->generation_id, 1);  // it has something to give back
    const Parts keeps = parts_of(world.sync("g", 1, one)->assignment);
    QVERIFY(keeps.at("t").size() < 3);
    QCOMPARE(world.heartbeat("g", 1, one), ErrorCode::rebalance_in_progress);
    const auto second = world.join("g", one, classic(keeps));
    QCOMPARE(second->generation_id, 2);
    QVERIFY(parts_of(world.sync("g", 2, one)->assignment) == keeps);
    const std::optional<Parts> gets = world.told_parts(world.beat("g", "two", 2));
    QCOMPARE(gets->at("t").size() + keeps.at("t").size(), std::size_t{3});
  }

  void a_static_member_comes_back_with_the_other_protocol() {
    ConsumerWorld world;
    world.create_topic("t", 3);
    const std::string one = classic_alone(world, "i1");
    Beat fixed = joining({"t"});
    fixed.instance = "i2";
    world.beat("g", "two", 0, fixed);
    world.join("g", one, classic({}, "i1"));
    Beat of_two;
    of_two.instance = "i2";
    const std::optional<Parts> gets = world.told_parts(world.beat("g", "two", 2, of_two));
    QVERIFY(gets && !gets->empty());
    world.sync("g", 2, one, {}, "i1");
    // Its next process speaks the classic protocol: nobody has to rebalance.
    const auto back = world.join("g", "", classic({}, "i2"));
    QCOMPARE(back->error_code, ErrorCode::none);
    QVERIFY(world.list() == std::vector<std::string>{"g/Stable/classic/consumer"});
    QVERIFY(parts_of(world.sync("g", back->generation_id, back->member_id, {}, "i2")->assignment) ==
            *gets);
    // And the other way: a consumer takes the place of a classic static member.
    ConsumerWorld other;
    other.create_topic("t", 3);
    classic_alone(other, "i1");
    Beat takes = joining({"t"});
    takes.instance = "i1";
    const BeatResponse taken = other.beat("g", "new", 0, takes);
    QCOMPARE(taken.error_code, ErrorCode::none);
    QCOMPARE(other.describe_consumer("g").members.size(), std::size_t{1});
    QVERIFY((other.told_parts(taken) == Parts{{"t", {0, 1, 2}}}));
  }

  void policies() {
    for (const MigrationPolicy policy : {MigrationPolicy::disabled, MigrationPolicy::downgrade}) {
      ConsumerWorld world(with(policy));
      world.create_topic("t", 3);
      const std::string one = classic_alone(world);
      QCOMPARE(world.join_consumer("g", "two", {"t"}).error_code, ErrorCode::group_id_not_found);
      QCOMPARE(world.heartbeat("g", 1, one), ErrorCode::none);
    }
    for (const MigrationPolicy policy : {MigrationPolicy::disabled, MigrationPolicy::upgrade}) {
      ConsumerWorld world(with(policy));
      world.create_topic("t", 3);
      world.join_consumer("g", "one", {"t"});
      const auto asked = world.join("g", "", classic());
      QCOMPARE(asked->error_code, policy == MigrationPolicy::disabled
                                      ? ErrorCode::inconsistent_group_protocol
                                      : ErrorCode::member_id_required);
      if (policy == MigrationPolicy::upgrade) {
        QCOMPARE(world.join("g", asked->member_id, classic())->error_code, ErrorCode::none);
        world.beat("g", "one", -1);
        QVERIFY(world.list() == std::vector<std::string>{"g/Assigning/consumer/consumer"});
      }
    }
  }

  void what_cannot_be_read_is_not_taken_over() {
    ConsumerWorld world;
    world.create_topic("t", 3);
    const std::string id = world.lone_member("g");  // its metadata is "meta"
    QCOMPARE(world.join_consumer("g", "two", {"t"}).error_code, ErrorCode::group_id_not_found);
    QCOMPARE(world.heartbeat("g", 1, id), ErrorCode::none);
    JoinOptions connect;
    connect.type = "connect";
    world.lone_member("h", connect);
    QCOMPARE(world.join_consumer("h", "two", {"t"}).error_code, ErrorCode::group_id_not_found);
  }

  void classic_members_are_timed() {
    ConsumerWorld world;
    world.create_topic("t", 3);
    const std::string one = classic_alone(world);
    world.join_consumer("g", "two", {"t"});
    // It never joins again: its session (10 s) ends first, then the group is the other's.
    world.advance(10'000);
    QCOMPARE(world.heartbeat("g", 1, one), ErrorCode::unknown_member_id);
    QVERIFY((world.told_parts(world.beat("g", "two", 2)) == Parts{{"t", {0, 1, 2}}}));
    // One that only sends heartbeats goes when the rebalance timeout (60 s) is over.
    ConsumerWorld other;
    other.create_topic("t", 3);
    const std::string slow = classic_alone(other);
    other.join_consumer("g", "two", {"t"});
    for (int i = 0; i < 12; ++i) {
      QCOMPARE(other.heartbeat("g", 1, slow), ErrorCode::rebalance_in_progress);
      other.beat("g", "two", 2);
      other.advance(5'000);
    }
    QCOMPARE(other.heartbeat("g", 1, slow), ErrorCode::unknown_member_id);
  }

  void classic_members_leave() {
    ConsumerWorld world;
    world.create_topic("t", 3);
    const std::string one = classic_alone(world, "i1");
    world.join_consumer("g", "two", {"t"});
    auto left = world.leave("g", {{"nobody", {}, {}}, {"other", "i1", {}}, {"", "i1", {}}});
    QCOMPARE(left.members.at(0).error_code, ErrorCode::unknown_member_id);
    QCOMPARE(left.members.at(1).error_code, ErrorCode::fenced_instance_id);
    QCOMPARE(left.members.at(2).error_code, ErrorCode::none);
    QVERIFY((world.told_parts(world.beat("g", "two", 2)) == Parts{{"t", {0, 1, 2}}}));
  }

  void a_change_that_is_not_stored_never_was() {
    ConsumerWorld world;
    world.create_topic("t", 3);
    const std::string one = classic_alone(world);
    world.hold = true;
    auto two = world.beat_later("g", "two", 0, joining({"t"}));
    world.fail_held(ErrorCode::not_leader_or_follower);
    QCOMPARE(two->error_code, ErrorCode::not_coordinator);
    QVERIFY(world.list() == std::vector<std::string>{"g/Stable/classic/consumer"});
    QCOMPARE(world.heartbeat("g", 1, one), ErrorCode::none);

    world.join_consumer("g", "two", {"t"});
    world.hold = true;
    auto leaving = world.beat_later("g", "two", -1, {});
    auto waiting =
        world.join("g", one, classic());  // a member of the classic group that is not to be
    world.fail_held(ErrorCode::not_leader_or_follower);
    QCOMPARE(leaving->error_code, ErrorCode::not_coordinator);
    QCOMPARE(waiting.times(), 1);
    QVERIFY(world.list() == std::vector<std::string>{"g/Reconciling/consumer/consumer"});
    QCOMPARE(world.heartbeat("g", 1, one), ErrorCode::rebalance_in_progress);

    world.beat("g", "two", -1);
    QVERIFY(world.list() == std::vector<std::string>{"g/PreparingRebalance/classic/consumer"});
  }
};

QTEST_APPLESS_MAIN(TestGroupMigration)
#include "tst_group_migration.moc"
