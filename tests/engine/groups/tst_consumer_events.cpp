// SPDX-License-Identifier: Apache-2.0
// What is told of consumer groups, for the Groups page: states, members with epochs and targets, rebalances.
#include <string>
#include <vector>

#include <QtTest>

#include "consumer_world.h"

using namespace hw;
using namespace hw::groups;
using namespace hw::groups::test;
using event::GroupRebalanced;
using Cause = GroupRebalanced::Cause;
using Named = std::vector<std::pair<std::string, PartitionIndex>>;

namespace {

Named orders(const std::vector<std::int32_t>& partitions) {
  Named named;
  for (const std::int32_t partition : partitions) {
    named.emplace_back("orders", PartitionIndex(partition));
  }
  return named;
}

Beat owning(std::vector<std::int32_t> partitions) {
  Beat beat;
  beat.owned = Parts{};
  if (!partitions.empty()) {
    (*beat.owned)["orders"] = std::move(partitions);
  }
  return beat;
}

std::vector<std::string> states(const World& world) {
  std::vector<std::string> result;
  for (const auto& told : world.told<event::GroupStateChanged>()) {
    result.push_back(told.state + "@" + std::to_string(told.generation));
  }
  return result;
}

}  // namespace

class TestConsumerEvents : public QObject {
  Q_OBJECT

 private slots:

  void the_first_member_has_all_in_one_step() {
    ConsumerWorld world;
    world.create_topic("orders", 3);
    world.join_consumer("g", "m1", {"orders"});
    const auto state = world.told<event::GroupStateChanged>().back();
    QCOMPARE(state.state, std::string("Stable"));
    QVERIFY(state.kind == event::GroupProtocol::consumer);
    QCOMPARE(state.protocol_type, std::string("consumer"));
    QCOMPARE(state.protocol, std::string("uniform"));
    const auto assigned = world.told<event::GroupAssigned>().back();
    QVERIFY(assigned.kind == event::GroupProtocol::consumer);
    QCOMPARE(assigned.generation, state.generation);
    QCOMPARE(assigned.target_epoch, state.generation);
    QCOMPARE(assigned.members.at(0).epoch, state.generation);
    QVERIFY(!assigned.members.at(0).speaks_classic);
    QVERIFY(assigned.members.at(0).partitions == orders({0, 1, 2}));
    QVERIFY(assigned.members.at(0).target == orders({0, 1, 2}));
    QCOMPARE(assigned.members.at(0).topics, std::vector<std::string>{"orders"});
    const auto told = world.told<GroupRebalanced>();
    QCOMPARE(told.size(), std::size_t{1});
    QVERIFY(told[0].kind == event::GroupProtocol::consumer);
    QCOMPARE(told[0].generation, state.generation);
    QCOMPARE(told[0].protocol, std::string("uniform"));
    QCOMPARE(told[0].members_before, 0);
    QCOMPARE(told[0].members_after, 1);
    QCOMPARE(told[0].partitions_after, 3);
    QCOMPARE(told[0].total_us, std::int64_t{0});
    QCOMPARE(told[0].triggers.size(), std::size_t{1});
    QVERIFY(told[0].triggers[0].cause == Cause::member_joined);
    QCOMPARE(told[0].triggers[0].member_id, std::string("m1"));
    QCOMPARE(told[0].triggers[0].client_id, std::string("cli"));
  }

  // One that gives back, one that waits for it: owned and wanted partitions differ meanwhile, and who keeps some reads on.
  void a_second_member_is_given_what_the_first_one_gives_back() {
    ConsumerWorld world;
    world.create_topic("orders", 4);
    const std::int32_t first = world.join_consumer("g", "m1", {"orders"}).member_epoch;
    world.advance(1'000);
    world.join_consumer("g", "m2", {"orders"});
    QCOMPARE(states(world).back(), "Reconciling@" + std::to_string(first + 1));
    auto assigned = world.told<event::GroupAssigned>().back();
    const event::GroupAssigned::Member* m1 = &assigned.members.at(0);
    const event::GroupAssigned::Member* m2 = &assigned.members.at(1);
    QCOMPARE(m1->epoch, first);
    QVERIFY(m1->partitions == orders({0, 1, 2, 3}));
    QCOMPARE(m1->target.size(), std::size_t{2});
    QVERIFY(m2->partitions.empty());
    QCOMPARE(m2->target.size(), std::size_t{2});
    QCOMPARE(world.told<GroupRebalanced>().size(), std::size_t{1});

    world.advance(2'000);
    world.beat("g", "m1", first, owning({0, 1, 2, 3}));  // is told what to give back
    assigned = world.told<event::GroupAssigned>().back();
    QVERIFY(assigned.members.at(0).partitions == orders({0, 1, 2, 3}));  // and owns it until then
    world.advance(1'000);
    std::vector<std::int32_t> kept;
    for (const auto& [topic, partition] : assigned.members.at(0).target) {
      kept.push_back(partition.value());
    }
    world.beat("g", "m1", first, owning(kept));
    world.advance(1'000);
    world.beat("g", "m2", first + 1, owning({}));
    QCOMPARE(states(world).back(), "Stable@" + std::to_string(first + 1));
    assigned = world.told<event::GroupAssigned>().back();
    for (const auto& member : assigned.members) {
      QCOMPARE(member.epoch, first + 1);
      QVERIFY(member.partitions == member.target);
    }
    const auto told = world.told<GroupRebalanced>();
    QCOMPARE(told.size(), std::size_t{2});
    QCOMPARE(told[1].generation_before, first);
    QCOMPARE(told[1].generation, first + 1);
    QCOMPARE(told[1].members_before, 1);
    QCOMPARE(told[1].members_after, 2);
    QCOMPARE(told[1].partitions_before, 4);
    QCOMPARE(told[1].moved, 2);
    QCOMPARE(told[1].kept, 2);
    QCOMPARE(told[1].join_us, std::int64_t{0});  // the target came with the join
    QCOMPARE(told[1].total_us, std::int64_t{4'000'000});
    QCOMPARE(told[1].barriers.size(), std::size_t{2});
    QCOMPARE(told[1].barriers[0].member_id, std::string("m1"));
    QCOMPARE(told[1].barriers[0].joined_us, std::int64_t{-1});
    QCOMPARE(told[1].barriers[0].synced_us, std::int64_t{3'000'000});
    QCOMPARE(told[1].barriers[1].synced_us, std::int64_t{4'000'000});
    QVERIFY(told[1].triggers.at(0).cause == Cause::member_joined);
    QCOMPARE(told[1].triggers.at(0).member_id, std::string("m2"));
  }

  void who_leaves_and_who_falls_silent() {
    ConsumerWorld world;
    world.create_topic("orders", 2);
    const std::int32_t first = world.join_consumer("g", "m1", {"orders"}).member_epoch;
    world.beat("g", "m1", -1);
    auto told = world.told<GroupRebalanced>().back();
    QVERIFY(told.triggers.at(0).cause == Cause::member_left);
    QCOMPARE(told.members_after, 0);
    QCOMPARE(told.moved, 2);
    QCOMPARE(told.protocol, std::string());
    QCOMPARE(states(world).back(), "Empty@" + std::to_string(first + 1));
    QVERIFY(world.told<event::GroupAssigned>().back().members.empty());

    world.join_consumer("g", "m2", {"orders"});
    world.advance(46'000);
    told = world.told<GroupRebalanced>().back();
    QVERIFY(told.triggers.at(0).cause == Cause::session_expired);
    QCOMPARE(told.triggers.at(0).member_id, std::string("m2"));
  }

  void who_does_not_give_back_in_time() {
    ConsumerWorld world;
    world.create_topic("orders", 2);
    Beat slow = joining({"orders"});
    slow.rebalance_ms = 5'000;
    const std::int32_t first = world.beat("g", "m1", 0, slow).member_epoch;
    world.join_consumer("g", "m2", {"orders"});
    world.beat("g", "m1", first, owning({0, 1}));
    world.advance(6'000);
    const std::int32_t second = world.beat("g", "m2", first + 1, owning({})).member_epoch;
    QCOMPARE(second, first + 2);
    const auto told = world.told<GroupRebalanced>().back();
    QCOMPARE(told.triggers.size(), std::size_t{2});
    QVERIFY(told.triggers[0].cause == Cause::member_joined);
    QVERIFY(told.triggers[1].cause == Cause::revoke_expired);
    QCOMPARE(told.triggers[1].member_id, std::string("m1"));
    QCOMPARE(told.members_after, 1);
    QCOMPARE(told.moved, 2);
  }

  void a_topic_grows() {
    ConsumerWorld world;
    world.create_topic("orders", 2);
    const std::int32_t first = world.join_consumer("g", "m1", {"orders"}).member_epoch;
    world.grow_topic("orders", 3);
    world.beat("g", "m1", first, owning({0, 1}));
    const auto told = world.told<GroupRebalanced>().back();
    QVERIFY(told.triggers.at(0).cause == Cause::topics_changed);
    QCOMPARE(told.partitions_after, 3);
    QCOMPARE(told.kept, 2);
    QCOMPARE(told.moved, 0);
  }

  // Its partitions stay with the instance, whatever its member is called.
  void a_static_member_comes_back() {
    ConsumerWorld world;
    world.create_topic("orders", 2);
    Beat fixed = joining({"orders"});
    fixed.instance = "one";
    world.beat("g", "m1", 0, fixed);
    Beat leaving;
    leaving.instance = "one";
    world.beat("g", "m1", -2, leaving);
    world.beat("g", "m2", 0, fixed);
    const auto told = world.told<GroupRebalanced>().back();
    QCOMPARE(told.triggers.size(), std::size_t{2});
    QVERIFY(told.triggers[0].cause == Cause::member_left);
    QVERIFY(told.triggers[1].cause == Cause::static_returned);
    QCOMPARE(told.moved, 0);
    QCOMPARE(told.kept, 2);
    QCOMPARE(told.members_before, 1);
    QCOMPARE(told.members_after, 1);
  }

  // What the log holds is no news; what changes after it is compared with it.
  void after_a_load() {
    ConsumerWorld world;
    world.create_topic("orders", 4);
    const std::int32_t first = world.join_consumer("g", "m1", {"orders"}).member_epoch;
    world.coordinator.unload(PartitionIndex(0), world.now);
    world.load();
    QCOMPARE(world.told<GroupRebalanced>().size(), std::size_t{1});
    world.beat("g", "m1", -1);
    const auto told = world.told<GroupRebalanced>().back();
    QCOMPARE(told.generation_before, first);
    QCOMPARE(told.members_before, 1);
    QCOMPARE(told.partitions_before, 4);
  }
};

QTEST_GUILESS_MAIN(TestConsumerEvents)
#include "tst_consumer_events.moc"
