// SPDX-License-Identifier: Apache-2.0
// What is told of each rebalance, for the strip and the member rows of the Groups page.
#include <string>
#include <vector>

#include <QtTest>

#include "world.h"

using namespace hw;
using namespace hw::groups;
using namespace hw::groups::test;
using hw::wire::ErrorCode;
using event::GroupRebalanced;
using Cause = GroupRebalanced::Cause;

namespace {

std::string name(const std::string& text) {
  return std::string{'\0', static_cast<char>(text.size())} + text;
}

std::string number(std::size_t value) {
  return std::string(3, '\0') + static_cast<char>(value);
}

// The consumer protocol's bytes: version 1: topics, no user data, partitions that are still owned.
std::string subscription(const std::string& topic, const std::vector<char>& owned = {}) {
  std::string text = std::string{'\0', '\1'} + number(1) + name(topic) + std::string(4, '\xFF');
  text += number(owned.empty() ? 0 : 1);
  if (!owned.empty()) {
    text += name(topic) + number(owned.size());
    for (const char partition : owned) {
      text += number(static_cast<std::size_t>(partition));
    }
  }
  return text;
}

std::string assignment(const std::string& topic, const std::vector<char>& partitions) {
  std::string text = std::string{'\0', '\1'} + number(1) + name(topic) + number(partitions.size());
  for (const char partition : partitions) {
    text += number(static_cast<std::size_t>(partition));
  }
  return text + std::string(4, '\xFF');
}

JoinOptions reads(const std::string& client, const std::vector<char>& owned = {}) {
  JoinOptions options;
  options.client = client;
  options.protocols = {{"range", subscription("orders", owned)}};
  return options;
}

const GroupRebalanced& last(const std::vector<GroupRebalanced>& all) {
  return all.back();
}

// One member with partitions 0, 1, 2 of orders, generation 1.
std::string alone(World& world, const JoinOptions& options = reads("app-1")) {
  const std::string id = world.member_id("g", options);
  world.join("g", id, options);
  world.sync("g", 1, id, {{id, assignment("orders", {0, 1, 2})}});
  return id;
}

}  // namespace

class TestRebalanceEvents : public QObject {
  Q_OBJECT

 private slots:

  void the_first_member() {
    World world;
    const std::string id = alone(world);
    const auto told = world.told<GroupRebalanced>();
    QCOMPARE(told.size(), std::size_t{1});
    QCOMPARE(told[0].group, std::string("g"));
    QCOMPARE(told[0].generation_before, 0);
    QCOMPARE(told[0].generation, 1);
    QCOMPARE(told[0].protocol, std::string("range"));
    QCOMPARE(told[0].members_before, 0);
    QCOMPARE(told[0].members_after, 1);
    QCOMPARE(told[0].partitions_before, 0);
    QCOMPARE(told[0].partitions_after, 3);
    QCOMPARE(told[0].moved, 0);
    QCOMPARE(told[0].triggers.size(), std::size_t{1});
    QVERIFY(told[0].triggers[0].cause == Cause::member_joined);
    QCOMPARE(told[0].triggers[0].member_id, id);
    QCOMPARE(told[0].triggers[0].client_id, std::string("app-1"));
    QCOMPARE(told[0].triggers[0].client_host, std::string("/127.0.0.1"));
    QCOMPARE(world.told<event::GroupStateChanged>().back().protocol_type, std::string("consumer"));
  }

  void a_row_of_the_member_table() {
    World world;
    const std::string id = alone(world);
    const auto assigned = world.told<event::GroupAssigned>().back();
    const auto& member = assigned.members.at(0);
    QCOMPARE(member.member_id, id);
    QCOMPARE(member.topics, std::vector<std::string>{"orders"});
    QCOMPARE(member.partitions.size(), std::size_t{3});
    QCOMPARE(member.session_timeout_ms, 10'000);
    QCOMPARE(member.rebalance_timeout_ms, 60'000);
    QVERIFY(member.counters != nullptr);
    const std::int64_t joined = world.now.wall.ms;
    QCOMPARE(member.counters->last_seen_ms.get(), joined);
    world.advance(2'500);
    QCOMPARE(world.heartbeat("g", 1, id), ErrorCode::none);
    QCOMPARE(member.counters->last_seen_ms.get(), joined + 2'500);
    QCOMPARE(member.counters->heartbeats.get(), std::int64_t{1});
    world.advance(1'000);
    QCOMPARE(world.commit("g", "orders", 7, 1, id), ErrorCode::none);
    QCOMPARE(member.counters->last_seen_ms.get(), joined + 3'500);
    QCOMPARE(world.heartbeat("g", 2, id), ErrorCode::illegal_generation);
    QCOMPARE(member.counters->heartbeats.get(), std::int64_t{1});
    const auto committed = world.told<event::OffsetCommitted>().back();
    QCOMPARE(committed.counters->committed_at_ms.get(), world.now.wall.ms);
  }

  // A takes part with everything given back, B gets one of three: eager.
  void an_eager_rebalance() {
    World world;
    const std::string a = alone(world);
    const std::string b = world.member_id("g", reads("app-2"));
    const WallTime began = world.now.wall;
    auto joining = world.join("g", b, reads("app-2"));
    world.advance(800);
    world.join("g", a, reads("app-1"));
    world.advance(40);
    auto waiting = world.sync("g", 2, b);
    world.sync("g", 2, a, {{a, assignment("orders", {0, 1})}, {b, assignment("orders", {2})}});
    const GroupRebalanced one = last(world.told<GroupRebalanced>());
    QCOMPARE(one.generation_before, 1);
    QCOMPARE(one.generation, 2);
    QCOMPARE(one.members_before, 1);
    QCOMPARE(one.members_after, 2);
    QCOMPARE(one.partitions_before, 3);
    QCOMPARE(one.partitions_after, 3);
    QCOMPARE(one.moved, 1);
    QCOMPARE(one.kept, 0);
    QCOMPARE(one.began, began);
    QCOMPARE(one.join_us, std::int64_t{800'000});
    QCOMPARE(one.total_us, std::int64_t{840'000});
    QCOMPARE(one.triggers.size(), std::size_t{1});  // that A came back is no reason
    QCOMPARE(one.triggers[0].member_id, b);
    QCOMPARE(one.barriers.size(), std::size_t{2});
    for (const auto& barrier : one.barriers) {
      QCOMPARE(barrier.joined_us, barrier.member_id == a ? std::int64_t{800'000} : std::int64_t{0});
      QCOMPARE(barrier.synced_us, std::int64_t{840'000});
    }
  }

  // The cooperative assignor takes two generations; nobody but the moved partition stops.
  void a_cooperative_rebalance() {
    World world;
    const std::string a = alone(world);
    const std::string b = world.member_id("g", reads("app-2"));
    auto joining = world.join("g", b, reads("app-2"));
    world.join("g", a, reads("app-1", {0, 1, 2}));
    const auto assigned = world.told<event::GroupAssigned>().back();
    for (const auto& member : assigned.members) {
      QCOMPARE(member.partitions.size(), member.member_id == a ? std::size_t{3} : std::size_t{0});
    }
    auto waiting = world.sync("g", 2, b);
    world.sync("g", 2, a, {{a, assignment("orders", {0, 1})}, {b, assignment("orders", {})}});
    const GroupRebalanced first = last(world.told<GroupRebalanced>());
    QCOMPARE(first.moved, 1);
    QCOMPARE(first.kept, 2);
    QCOMPARE(first.partitions_after, 2);

    world.join("g", a, reads("app-1", {0, 1}));
    world.join("g", b, reads("app-2"));
    waiting = world.sync("g", 3, b);
    world.sync("g", 3, a, {{a, assignment("orders", {0, 1})}, {b, assignment("orders", {2})}});
    const GroupRebalanced second = last(world.told<GroupRebalanced>());
    QCOMPARE(second.moved, 0);
    QCOMPARE(second.kept, 2);
    QCOMPARE(second.partitions_after, 3);
    QVERIFY(second.triggers.at(0).cause == Cause::subscription_changed);
    QCOMPARE(second.triggers.at(0).member_id, a);
  }

  void leaving_and_expiring() {
    World world;
    const std::string a = alone(world);
    const std::string b = world.member_id("g", reads("app-2"));
    auto joining = world.join("g", b, reads("app-2"));
    world.join("g", a, reads("app-1"));
    auto waiting = world.sync("g", 2, b);
    world.sync("g", 2, a, {{a, assignment("orders", {0, 1})}, {b, assignment("orders", {2})}});

    world.leave("g", {{b, {}, "max.poll.interval exceeded"}});
    world.join("g", a, reads("app-1"));
    world.sync("g", 3, a, {{a, assignment("orders", {0, 1, 2})}});
    const GroupRebalanced left = last(world.told<GroupRebalanced>());
    QCOMPARE(left.members_before, 2);
    QCOMPARE(left.members_after, 1);
    QCOMPARE(left.moved, 1);
    QVERIFY(left.triggers.at(0).cause == Cause::member_left);
    QCOMPARE(left.triggers.at(0).said, std::string("max.poll.interval exceeded"));
    QCOMPARE(left.triggers.at(0).client_id, std::string("app-2"));

    world.advance(10'001);  // the last one falls silent: Empty is an end too
    const GroupRebalanced expired = last(world.told<GroupRebalanced>());
    QVERIFY(expired.triggers.at(0).cause == Cause::session_expired);
    QCOMPARE(expired.members_after, 0);
    QCOMPARE(expired.partitions_before, 3);
    QCOMPARE(expired.partitions_after, 0);
    QCOMPARE(expired.moved, 3);
    QCOMPARE(expired.protocol, std::string());
    QCOMPARE(world.state("g"), std::string("Empty"));
  }

  // A generation that never got its assignment belongs to the same rebalance.
  void late_members_and_generations_that_failed() {
    World world;
    const std::string a = alone(world);
    const std::string b = world.member_id("g", reads("app-2"));
    auto joining = world.join("g", b, reads("app-2"));
    for (int i = 0; i < 7; ++i) {  // A lives but does not join again
      world.advance(9'000);
      world.heartbeat("g", 1, a);
    }
    QCOMPARE(joining->generation_id, 2);  // B alone now
    QCOMPARE(world.told<GroupRebalanced>().size(), std::size_t{1});
    for (int i = 0; i < 7; ++i) {  // B lives but does not fetch its assignment
      world.heartbeat("g", 2, b);
      world.advance(9'000);
    }
    QCOMPARE(world.told<GroupRebalanced>().size(), std::size_t{2});
    const GroupRebalanced one = last(world.told<GroupRebalanced>());
    QCOMPARE(one.generation_before, 1);
    QCOMPARE(one.generation, 3);
    QCOMPARE(one.members_after, 0);
    QCOMPARE(one.triggers.size(), std::size_t{3});
    QVERIFY(one.triggers[0].cause == Cause::member_joined);
    QVERIFY(one.triggers[1].cause == Cause::join_expired);
    QCOMPARE(one.triggers[1].member_id, a);
    QVERIFY(one.triggers[2].cause == Cause::sync_expired);
    QCOMPARE(one.triggers[2].member_id, b);
    QCOMPARE(one.total_us, std::int64_t{120'000'000});
  }

  void a_static_member_stays_the_same_owner() {
    World world;
    JoinOptions first = reads("app-1");
    first.instance = "i1";
    const std::string a = world.join("g", "", first)->member_id;
    world.sync("g", 1, a, {{a, assignment("orders", {0, 1, 2})}}, "i1");
    const std::size_t before = world.told<GroupRebalanced>().size();
    const std::string again = world.join("g", "", first)->member_id;  // no rebalance
    QCOMPARE(world.told<GroupRebalanced>().size(), before);
    world.join("g", again, first);  // the leader asks for one
    world.sync("g", 2, again, {{again, assignment("orders", {0, 1, 2})}}, "i1");
    const GroupRebalanced one = last(world.told<GroupRebalanced>());
    QCOMPARE(one.moved, 0);
    QCOMPARE(one.members_before, 1);
    QVERIFY(one.triggers.at(0).cause == Cause::member_rejoined);
  }

  void many_triggers_are_counted() {
    Config config = World::fast();
    config.group_initial_rebalance_delay_ms = 3'000;
    World world(config);
    std::vector<Answer<wire::JoinGroupResponse>> joins;
    for (int i = 0; i < 100; ++i) {
      const JoinOptions options = reads("app-" + std::to_string(i));
      joins.push_back(world.join("g", world.member_id("g", options), options));
    }
    world.advance(6'000);
    QVERIFY(joins.front().here());
    const std::string leader = joins.front()->leader;
    world.sync("g", 1, leader, {});
    const GroupRebalanced one = last(world.told<GroupRebalanced>());
    QCOMPARE(one.triggers.size(), GroupRebalanced::kTriggersMax);
    QCOMPARE(one.triggers_skipped, 92);
    QCOMPARE(one.members_after, 100);
    QCOMPARE(one.barriers.size(), GroupRebalanced::kBarriersMax);
    QVERIFY(one.join_us >= 3'000'000);
  }

  // What was stored is what the next rebalance is compared with.
  void after_a_restart() {
    World before;
    const std::string a = alone(before);
    World after;
    after.coordinator.unload(PartitionIndex(0), after.now);
    after.log = before.log;
    after.load();
    const auto members = after.told<event::GroupAssigned>().back().members;
    QCOMPARE(members.at(0).topics, std::vector<std::string>{"orders"});
    QCOMPARE(members.at(0).counters->last_seen_ms.get(), std::int64_t{0});  // not heard of yet
    QVERIFY(after.told<GroupRebalanced>().empty());
    after.leave("g", {{a, {}, {}}});
    const GroupRebalanced one = last(after.told<GroupRebalanced>());
    QCOMPARE(one.members_before, 1);
    QCOMPARE(one.partitions_before, 3);
    QCOMPARE(one.moved, 3);
  }

  void assignments_that_cannot_be_read_count_nothing() {
    World world;
    JoinOptions options;
    options.type = "connect";
    const std::string a = world.lone_member("g", options);
    const GroupRebalanced one = last(world.told<GroupRebalanced>());
    QCOMPARE(one.members_after, 1);
    QCOMPARE(one.partitions_after, 0);
    QVERIFY(world.told<event::GroupAssigned>().back().members.at(0).topics.empty());
  }
};

QTEST_APPLESS_MAIN(TestRebalanceEvents)
#include "tst_rebalance_events.moc"
