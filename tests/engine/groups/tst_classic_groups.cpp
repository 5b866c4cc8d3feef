// SPDX-License-Identifier: Apache-2.0
// Classic groups, clause by clause as Apache Kafka 4.4 behaves (the numbers are those of the
// reference's behaviours).
#include <algorithm>
#include <string>
#include <vector>

#include <QtTest>

#include "world.h"

using namespace hw;
using namespace hw::groups;
using namespace hw::groups::test;
using hw::wire::ErrorCode;

namespace {

struct Pair {
  std::string leader;
  std::string follower;
  std::int32_t generation = 0;
};

// Two members in a stable group; protocol metadata "meta" for both.
Pair stable_pair(World& world, const std::string& group, const JoinOptions& first = {},
                 const JoinOptions& second = {}) {
  Pair pair;
  pair.leader = world.lone_member(group, first);
  std::string id = second.instance ? std::string() : world.member_id(group, second);
  auto joining = world.join(group, id, second);
  auto again = world.join(group, pair.leader, first);
  pair.follower = joining->member_id;
  pair.generation = again->generation_id;
  auto waiting = world.sync(group, pair.generation, pair.follower, {}, second.instance);
  world.sync(group, pair.generation, pair.leader, {{pair.leader, "1"}, {pair.follower, "2"}},
             first.instance);
  return pair;
}

// The consumer protocol's bytes: version 0, topics, no user data.
std::string subscription(const std::vector<std::string>& topics) {
  std::string text{'\0', '\0', '\0', '\0', '\0', static_cast<char>(topics.size())};
  for (const std::string& topic : topics) {
    text += '\0';
    text += static_cast<char>(topic.size());
    text += topic;
  }
  return text + std::string(4, '\xFF');
}

std::string assignment(const std::string& topic, const std::vector<char>& partitions) {
  std::string text{'\0', '\0', '\0', '\0', '\0', '\1', '\0', static_cast<char>(topic.size())};
  text += topic;
  text += std::string(3, '\0') + static_cast<char>(partitions.size());
  for (const char partition : partitions) {
    text += std::string(3, '\0') + partition;
  }
  return text + std::string(4, '\xFF');
}

}  // namespace

class TestClassicGroups : public QObject {
  Q_OBJECT

 private slots:

  // ---- 147
  void a_member_without_id_gets_one_and_comes_back() {
    World world;
    auto first = world.join("g", "");
    QCOMPARE(first->error_code, ErrorCode::member_id_required);
    QVERIFY(first->member_id.starts_with("cli-"));
    QCOMPARE(first->member_id.size(), std::string("cli-").size() + 36);
    QCOMPARE(first->generation_id, -1);
    QCOMPARE(world.state("g"), std::string("Empty"));
    auto second = world.join("g", first->member_id);
    QCOMPARE(second->error_code, ErrorCode::none);
    QCOMPARE(second->member_id, first->member_id);
  }

  void an_old_client_joins_at_once() {
    World world;
    JoinOptions old;
    old.version = 3;
    auto joined = world.join("g", "", old);
    QCOMPARE(joined->error_code, ErrorCode::none);
    QCOMPARE(joined->generation_id, 1);
    QCOMPARE(joined->leader, joined->member_id);
  }

  void a_static_member_joins_at_once_under_its_instance() {
    World world;
    JoinOptions options;
    options.instance = "inst";
    auto joined = world.join("g", "", options);
    QCOMPARE(joined->error_code, ErrorCode::none);
    QVERIFY(joined->member_id.starts_with("inst-"));
  }

  void an_id_that_is_not_used_is_forgotten() {
    World world;
    const std::string id = world.member_id("g");
    world.advance(10'001);
    QCOMPARE(world.join("g", id)->error_code, ErrorCode::unknown_member_id);
  }

  // ---- 148
  void refusals_of_join() {
    World world;
    JoinOptions options;
    options.session_ms = 5'999;
    QCOMPARE(world.join("g", "", options)->error_code, ErrorCode::invalid_session_timeout);
    options.session_ms = 1'800'001;
    QCOMPARE(world.join("g", "", options)->error_code, ErrorCode::invalid_session_timeout);
    QCOMPARE(world.join("", "")->error_code, ErrorCode::invalid_group_id);
    QCOMPARE(world.join("none", "somebody")->error_code, ErrorCode::unknown_member_id);
    QCOMPARE(world.join("none", "somebody")->member_id, std::string("somebody"));
    const std::string member = world.lone_member("g");
    QCOMPARE(world.join("g", "nobody")->error_code, ErrorCode::unknown_member_id);
    options = {};
    options.type = "other";
    QCOMPARE(world.join("g", "", options)->error_code, ErrorCode::inconsistent_group_protocol);
    options = {};
    options.protocols = {{"zz", ""}};
    QCOMPARE(world.join("g", "", options)->error_code, ErrorCode::inconsistent_group_protocol);
    options.protocols = {};
    QCOMPARE(world.join("new", "", options)->error_code, ErrorCode::inconsistent_group_protocol);
    QCOMPARE(world.heartbeat("g", 1, member), ErrorCode::none);  // nobody was disturbed
  }

  // ---- 149
  void the_first_generation() {
    World world;
    const std::string id = world.member_id("g");
    auto joined = world.join("g", id);
    QCOMPARE(joined->generation_id, 1);
    QCOMPARE(joined->leader, id);
    QCOMPARE(joined->members.size(), std::size_t{1});
    QCOMPARE(joined->members[0].member_id, id);
    QCOMPARE(joined->members[0].metadata.text(), std::string_view("meta"));
    QCOMPARE(joined->protocol_name.value(), std::string("range"));
    QCOMPARE(joined->protocol_type.value(), std::string("consumer"));
    QVERIFY(!joined->skip_assignment);
  }

  void only_the_leader_gets_the_members() {
    World world;
    const std::string leader = world.lone_member("g");
    auto follower = world.join("g", world.member_id("g"));
    QVERIFY(!follower.here());  // waits for the leader to join again
    auto again = world.join("g", leader);
    QCOMPARE(again->members.size(), std::size_t{2});
    QCOMPARE(follower->members.size(), std::size_t{0});
    QCOMPARE(follower->leader, leader);
    QCOMPARE(again->generation_id, 2);
    QCOMPARE(follower->generation_id, 2);
  }

  // ---- 150
  void the_protocol_with_most_first_votes() {
    World world;
    JoinOptions a;
    a.protocols = {{"range", "a"}, {"sticky", "a"}, {"mine", "a"}};
    JoinOptions b;
    b.protocols = {{"sticky", "b"}, {"range", "b"}};
    JoinOptions c;
    c.protocols = {{"sticky", "c"}, {"range", "c"}};
    const std::string leader = world.lone_member("g", a);
    auto joining_b = world.join("g", world.member_id("g", b), b);
    auto joining_c = world.join("g", world.member_id("g", c), c);
    auto again = world.join("g", leader, a);
    QCOMPARE(again->protocol_name.value(), std::string("sticky"));
    QCOMPARE(joining_b->protocol_name.value(), std::string("sticky"));
    QCOMPARE(joining_c->generation_id, 2);
    for (const auto& member : again->members) {
      QCOMPARE(member.metadata.size(),
               std::size_t{1});  // the bytes that go with the chosen protocol
    }
  }

  void a_vote_counts_only_for_what_all_support() {
    World world;
    JoinOptions a;
    a.protocols = {{"mine", "a"}, {"range", "a"}};
    const std::string leader = world.lone_member("g", a);
    auto joining = world.join("g", world.member_id("g"));
    QCOMPARE(world.join("g", leader, a)->protocol_name.value(), std::string("range"));
    QVERIFY(joining.here());
  }

  // ---- 151
  void the_initial_delay_waits_for_others() {
    Config config = World::fast();
    config.group_initial_rebalance_delay_ms = 3'000;
    World world(config);
    const std::string a = world.member_id("g");
    auto first = world.join("g", a);
    QVERIFY(!first.here());
    QCOMPARE(world.state("g"), std::string("PreparingRebalance"));
    world.advance(2'000);
    auto second = world.join("g", world.member_id("g"));
    world.advance(1'000);  // 3 s since the first: a member came, another 3 s
    QVERIFY(!first.here());
    world.advance(2'999);
    QVERIFY(!first.here());
    world.advance(1);
    QCOMPARE(first->generation_id, 1);
    QCOMPARE(second->generation_id, 1);
    QCOMPARE(first->members.size(), std::size_t{2});
  }

  void the_initial_delay_is_bounded_by_the_rebalance_timeout() {
    Config config = World::fast();
    config.group_initial_rebalance_delay_ms = 3'000;
    World world(config);
    JoinOptions options;
    options.rebalance_ms = 7'000;
    auto first = world.join("g", world.member_id("g", options), options);
    std::vector<Answer<wire::JoinGroupResponse>> others;
    for (int i = 0; i < 7; ++i) {
      QVERIFY(!first.here());
      others.push_back(world.join("g", world.member_id("g", options), options));
      world.advance(1'000);
    }
    QVERIFY(first.here());  // 3 s + 3 s + 1 s, although somebody came every second
    QCOMPARE(first->members.size(), std::size_t{8});
  }

  // ---- 152
  void heartbeats() {
    World world;
    const std::string a = world.lone_member("g");
    QCOMPARE(world.heartbeat("g", 1, a), ErrorCode::none);
    QCOMPARE(world.heartbeat("g", 2, a), ErrorCode::illegal_generation);
    QCOMPARE(world.heartbeat("g", 1, "x"), ErrorCode::unknown_member_id);
    QCOMPARE(world.heartbeat("other", 1, a), ErrorCode::unknown_member_id);
    QCOMPARE(world.heartbeat("", 1, a), ErrorCode::invalid_group_id);
    auto joining = world.join("g", world.member_id("g"));
    QCOMPARE(world.heartbeat("g", 1, a), ErrorCode::rebalance_in_progress);
    auto again = world.join("g", a);
    QCOMPARE(world.state("g"), std::string("CompletingRebalance"));
    QCOMPARE(world.heartbeat("g", 2, a), ErrorCode::none);
    QCOMPARE(world.heartbeat("g", 2, joining->member_id), ErrorCode::none);
  }

  // ---- 153
  void sync_group() {
    World world;
    const std::string a = world.member_id("g");
    world.join("g", a);
    auto synced = world.sync("g", 1, a, {{a, "AA"}});
    QCOMPARE(synced->error_code, ErrorCode::none);
    QCOMPARE(synced->assignment.text(), std::string_view("AA"));
    QCOMPARE(synced->protocol_name.value(), std::string("range"));
    QCOMPARE(world.state("g"), std::string("Stable"));
    QCOMPARE(world.sync("g", 1, a)->assignment.text(), std::string_view("AA"));  // stored
    QCOMPARE(world.sync("g", 9, a)->error_code, ErrorCode::illegal_generation);
    QCOMPARE(world.sync("g", 1, a, {}, {}, "zz")->error_code,
             ErrorCode::inconsistent_group_protocol);
    QCOMPARE(world.sync("g", 1, "x")->error_code, ErrorCode::unknown_member_id);
    QCOMPARE(world.sync("none", 1, a)->error_code, ErrorCode::unknown_member_id);
    QCOMPARE(world.sync("", 1, a)->error_code, ErrorCode::invalid_group_id);
    world.join("g", world.member_id("g"));
    QCOMPARE(world.sync("g", 1, a)->error_code, ErrorCode::rebalance_in_progress);
  }

  void every_member_gets_its_own_assignment() {
    World world;
    const std::string a = world.lone_member("g");
    auto joining = world.join("g", world.member_id("g"));
    world.join("g", a);
    const std::string b = joining->member_id;
    auto waiting = world.sync("g", 2, b);
    QVERIFY(!waiting.here());
    auto leader = world.sync("g", 2, a, {{a, "1"}, {b, "2"}, {"stranger", "3"}});
    QCOMPARE(leader->assignment.text(), std::string_view("1"));
    QCOMPARE(waiting->assignment.text(), std::string_view("2"));
  }

  void a_member_that_was_forgotten_by_the_leader_gets_nothing() {
    World world;
    const std::string a = world.lone_member("g");
    auto joining = world.join("g", world.member_id("g"));
    world.join("g", a);
    auto waiting = world.sync("g", 2, joining->member_id);
    world.sync("g", 2, a, {{a, "1"}});
    QCOMPARE(waiting->error_code, ErrorCode::none);
    QVERIFY(waiting->assignment.empty());
  }

  void the_assignment_leaves_when_it_is_committed() {
    World world;
    const std::string a = world.member_id("g");
    world.join("g", a);
    world.hold = true;
    auto synced = world.sync("g", 1, a, {{a, "AA"}});
    QVERIFY(!synced.here());
    QCOMPARE(world.state("g"), std::string("CompletingRebalance"));
    world.commit_held();
    QCOMPARE(synced->assignment.text(), std::string_view("AA"));
    QCOMPARE(world.state("g"), std::string("Stable"));
  }

  void an_assignment_that_cannot_be_written_starts_over() {
    World world;
    const std::string a = world.member_id("g");
    world.join("g", a);
    world.hold = true;
    auto synced = world.sync("g", 1, a, {{a, "AA"}});
    world.fail_held(ErrorCode::not_leader_or_follower);
    QCOMPARE(synced->error_code, ErrorCode::not_coordinator);
    QVERIFY(synced->assignment.empty());
    QCOMPARE(world.state("g"), std::string("PreparingRebalance"));
    QCOMPARE(world.join("g", a)->generation_id, 2);
  }

  void a_leader_that_assigns_twice_is_heard_once() {
    World world;
    const std::string a = world.member_id("g");
    world.join("g", a);
    world.hold = true;
    auto first = world.sync("g", 1, a, {{a, "1"}});
    auto second = world.sync("g", 1, a, {{a, "2"}});  // another connection: the first is given up
    QCOMPARE(first->error_code, ErrorCode::rebalance_in_progress);
    QCOMPARE(world.held.size(), std::size_t{1});
    world.commit_held();
    QCOMPARE(second->assignment.text(), std::string_view("1"));
    QCOMPARE(world.sync("g", 1, a)->assignment.text(), std::string_view("1"));
  }

  void an_assignment_that_comes_too_late_is_dropped() {
    World world;
    const std::string a = world.member_id("g");
    world.join("g", a);
    world.hold = true;
    auto synced = world.sync("g", 1, a, {{a, "AA"}});
    auto joining = world.join("g", world.member_id("g"));  // the write is still on its way
    QCOMPARE(synced->error_code, ErrorCode::rebalance_in_progress);
    world.commit_held();
    QCOMPARE(world.state("g"), std::string("PreparingRebalance"));
    QCOMPARE(synced.times(), 1);
  }

  // ---- 154
  void who_does_not_sync_in_time_is_removed() {
    World world;
    const std::string a = world.lone_member("g");
    auto joining = world.join("g", world.member_id("g"));
    world.join("g", a);
    const std::string b = joining->member_id;
    auto waiting = world.sync("g", 2, b);
    for (int i = 0; i < 12; ++i) {  // the leader lives, and never sends its assignment
      world.advance(5'000);
      if (i < 11) {
        QCOMPARE(world.heartbeat("g", 2, a), ErrorCode::none);
      }
    }
    QCOMPARE(waiting->error_code, ErrorCode::rebalance_in_progress);
    QCOMPARE(world.state("g"), std::string("PreparingRebalance"));
    QCOMPARE(world.heartbeat("g", 2, a), ErrorCode::unknown_member_id);
    auto rejoined = world.join("g", b);
    QCOMPARE(rejoined->leader, b);
    QCOMPARE(rejoined->generation_id, 3);
  }

  // ---- 155
  void a_follower_that_joins_again_with_the_same_metadata() {
    World world;
    const Pair pair = stable_pair(world, "g");
    auto again = world.join("g", pair.follower);
    QVERIFY(again.here());
    QCOMPARE(again->generation_id, pair.generation);
    QCOMPARE(again->leader, pair.leader);
    QVERIFY(again->members.empty());
    QCOMPARE(world.state("g"), std::string("Stable"));
    QCOMPARE(world.heartbeat("g", pair.generation, pair.leader), ErrorCode::none);
  }

  void a_leader_that_joins_again_rebalances() {
    World world;
    const Pair pair = stable_pair(world, "g");
    auto again = world.join("g", pair.leader);
    QVERIFY(!again.here());
    QCOMPARE(world.heartbeat("g", pair.generation, pair.follower),
             ErrorCode::rebalance_in_progress);
  }

  void changed_metadata_rebalances() {
    World world;
    const Pair pair = stable_pair(world, "g");
    JoinOptions options;
    options.protocols = {{"range", "other topics"}};
    auto again = world.join("g", pair.follower, options);
    QVERIFY(!again.here());
    QCOMPARE(world.state("g"), std::string("PreparingRebalance"));
  }

  void joining_again_while_assignments_are_made() {
    World world;
    const std::string a = world.lone_member("g");
    auto joining = world.join("g", world.member_id("g"));
    world.join("g", a);
    auto again = world.join("g", joining->member_id);  // the answer was lost
    QCOMPARE(again->generation_id, 2);
    QVERIFY(again->members.empty());
    QCOMPARE(world.join("g", a)->members.size(), std::size_t{2});
    JoinOptions options;
    options.protocols = {{"range", "changed"}};
    QVERIFY(!world.join("g", joining->member_id, options).here());
    QCOMPARE(world.state("g"), std::string("PreparingRebalance"));
  }

  // ---- 156
  void who_does_not_join_in_time_is_removed() {
    World world;
    JoinOptions options;
    options.session_ms = 100'000;
    options.rebalance_ms = 20'000;
    const std::string a = world.lone_member("g", options);
    auto joining = world.join("g", world.member_id("g", options), options);
    world.advance(19'999);
    QVERIFY(!joining.here());
    world.advance(1);
    QCOMPARE(joining->generation_id, 2);
    QCOMPARE(joining->leader, joining->member_id);
    QCOMPARE(joining->members.size(), std::size_t{1});
    QCOMPARE(world.heartbeat("g", 2, a), ErrorCode::unknown_member_id);
  }

  void a_static_member_stays_until_its_session_ends() {
    World world;
    JoinOptions fixed;
    fixed.instance = "s";
    fixed.session_ms = 100'000;
    fixed.rebalance_ms = 20'000;
    const std::string a = world.lone_member("g", fixed);
    JoinOptions moving;
    moving.session_ms = 100'000;
    moving.rebalance_ms = 20'000;
    auto joining = world.join("g", world.member_id("g", moving), moving);
    world.advance(20'000);
    QCOMPARE(joining->members.size(), std::size_t{2});  // the static one is a member still
    QCOMPARE(joining->leader, joining->member_id);      // and not the leader: it has not joined
    QCOMPARE(world.heartbeat("g", 2, a, "s"), ErrorCode::none);
  }

  // ---- 157
  void a_session_ends_without_heartbeats() {
    World world;
    JoinOptions options;
    options.session_ms = 6'000;
    const std::string a = world.lone_member("g", options);
    world.advance(5'000);
    QCOMPARE(world.heartbeat("g", 1, a), ErrorCode::none);
    world.advance(5'999);
    QCOMPARE(world.state("g"), std::string("Stable"));
    world.advance(1);
    QCOMPARE(world.state("g"), std::string("Empty"));
    QCOMPARE(world.heartbeat("g", 1, a), ErrorCode::unknown_member_id);
    QCOMPARE(world.told<event::GroupStateChanged>().back().state, std::string("Empty"));
    QCOMPARE(world.told<event::GroupStateChanged>().back().reason,
             a + " sent no heartbeat for 6 s");
  }

  void who_waits_for_an_answer_is_alive() {
    World world;
    const std::string a = world.lone_member("g");
    JoinOptions patient;
    patient.session_ms = 6'000;
    auto joining = world.join("g", world.member_id("g", patient), patient);
    for (int i = 0; i < 5; ++i) {
      world.advance(9'000);
      QCOMPARE(world.heartbeat("g", 1, a), ErrorCode::rebalance_in_progress);
    }
    QVERIFY(!joining.here());  // 45 s, seven times its session
    world.join("g", a);
    QCOMPARE(joining->error_code, ErrorCode::none);
  }

  void a_new_member_does_not_wait_for_ever() {
    World world;
    JoinOptions slow;
    slow.rebalance_ms = 3'600'000;
    const std::string a = world.lone_member("g", slow);
    auto joining = world.join("g", world.member_id("g", slow), slow);
    for (int i = 0; i < 75; ++i) {  // 300 s
      world.advance(4'000);
      world.heartbeat("g", 1, a);
    }
    QCOMPARE(joining->error_code, ErrorCode::unknown_member_id);
  }

  // ---- 158
  void a_static_member_comes_back_without_a_rebalance() {
    World world;
    JoinOptions a;
    a.instance = "a";
    JoinOptions b;
    b.instance = "b";
    const Pair pair = stable_pair(world, "g", a, b);
    auto back = world.join("g", "", b);
    QCOMPARE(back->error_code, ErrorCode::none);
    QVERIFY(back->member_id != pair.follower);
    QCOMPARE(back->generation_id, pair.generation);
    QVERIFY(!back->skip_assignment);
    QCOMPARE(world.state("g"), std::string("Stable"));
    QCOMPARE(world.sync("g", pair.generation, back->member_id, {}, "b")->assignment.text(),
             std::string_view("2"));
    // The leader: it is told to leave the assignment as it is, and gets the members to look at.
    auto leader = world.join("g", "", a);
    QVERIFY(leader->skip_assignment);
    QCOMPARE(leader->members.size(), std::size_t{2});
    QCOMPARE(leader->leader, leader->member_id);
    QCOMPARE(world.state("g"), std::string("Stable"));
  }

  void an_old_static_leader_is_told_that_another_leads() {
    World world;
    JoinOptions a;
    a.instance = "a";
    a.version = 8;
    const std::string old_id = world.lone_member("g", a);
    auto back = world.join("g", "", a);
    QCOMPARE(back->leader, old_id);
    QVERIFY(back->members.empty());
    QVERIFY(!back->skip_assignment);
  }

  void a_static_member_with_another_protocol_rebalances() {
    World world;
    JoinOptions a;
    a.instance = "a";
    world.lone_member("g", a);
    a.protocols = {{"range", "meta"}, {"sticky", "meta"}};
    QCOMPARE(world.join("g", "", a)->generation_id, 1);  // still range
    a.protocols = {{"sticky", "meta"}, {"range", "meta"}};
    QCOMPARE(world.join("g", "", a)->generation_id, 2);
  }

  void a_static_return_that_cannot_be_written_is_undone() {
    World world;
    JoinOptions a;
    a.instance = "a";
    const std::string id = world.lone_member("g", a);
    world.hold = true;
    auto back = world.join("g", "", a);
    QVERIFY(!back.here());
    world.fail_held(ErrorCode::not_enough_replicas);
    QCOMPARE(back->error_code, ErrorCode::coordinator_not_available);
    QCOMPARE(world.heartbeat("g", 1, id, "a"), ErrorCode::none);  // the old id is valid again
  }

  // ---- 159
  void the_old_id_of_a_static_member_is_fenced() {
    World world;
    JoinOptions a;
    a.instance = "a";
    const std::string old_id = world.lone_member("g", a);
    const std::string new_id = world.join("g", "", a)->member_id;
    QVERIFY(new_id != old_id);
    QCOMPARE(world.heartbeat("g", 1, old_id, "a"), ErrorCode::fenced_instance_id);
    QCOMPARE(world.sync("g", 1, old_id, {}, "a")->error_code, ErrorCode::fenced_instance_id);
    QCOMPARE(world.join("g", old_id, a)->error_code, ErrorCode::fenced_instance_id);
    World::CommitOptions commit;
    commit.instance = "a";
    QCOMPARE(world.commit("g", "t", 5, 1, old_id, commit), ErrorCode::fenced_instance_id);
    QCOMPARE(world.commit("g", "t", 5, 1, new_id, commit), ErrorCode::none);
    QCOMPARE(world.heartbeat("g", 1, new_id, "a"), ErrorCode::none);
    QCOMPARE(world.heartbeat("g", 1, new_id, "b"), ErrorCode::unknown_member_id);
  }

  void who_waits_under_a_fenced_id_is_told() {
    World world;
    const std::string leader = world.lone_member("g");
    JoinOptions b;
    b.instance = "b";
    auto first = world.join("g", "", b);
    QVERIFY(!first.here());
    auto second = world.join("g", "", b);
    QCOMPARE(first->error_code, ErrorCode::fenced_instance_id);
    QVERIFY(!second.here());
    world.join("g", leader);
    QCOMPARE(second->error_code, ErrorCode::none);
  }

  // ---- 160
  void leaving() {
    World world;
    JoinOptions fixed;
    fixed.instance = "s";
    const Pair pair = stable_pair(world, "g", {}, fixed);
    wire::LeaveGroupResponse left =
        world.leave("g", {{pair.leader, {}, "done"}, {"zz", {}, {}}, {"", "s", {}}, {"", "t", {}}});
    QCOMPARE(left.error_code, ErrorCode::none);
    QCOMPARE(left.members.size(), std::size_t{4});
    QCOMPARE(left.members[0].error_code, ErrorCode::none);
    QCOMPARE(left.members[1].error_code, ErrorCode::unknown_member_id);
    QCOMPARE(left.members[2].error_code, ErrorCode::none);
    QCOMPARE(left.members[2].group_instance_id.value(), std::string("s"));
    QCOMPARE(left.members[3].error_code, ErrorCode::unknown_member_id);
    QCOMPARE(world.state("g"), std::string("Empty"));
    left = world.leave("none", {{"m", {}, {}}});
    QCOMPARE(left.error_code, ErrorCode::none);
    QCOMPARE(left.members[0].error_code, ErrorCode::unknown_member_id);
    QCOMPARE(world.leave("", {{"m", {}, {}}}).error_code, ErrorCode::invalid_group_id);
  }

  void the_others_rebalance_when_one_leaves() {
    World world;
    const Pair pair = stable_pair(world, "g");
    world.leave("g", {{pair.leader, {}, "the consumer is being closed"}});
    QCOMPARE(world.state("g"), std::string("PreparingRebalance"));
    QCOMPARE(world.told<event::GroupStateChanged>().back().reason,
             pair.leader + " left: the consumer is being closed");
    auto again = world.join("g", pair.follower);
    QCOMPARE(again->generation_id, 3);
    QCOMPARE(again->leader, pair.follower);
  }

  void a_member_that_waits_and_leaves_is_answered() {
    World world;
    const std::string a = world.lone_member("g");
    const std::string b = world.member_id("g");
    auto joining = world.join("g", b);
    world.leave("g", {{b, {}, {}}});
    QCOMPARE(joining->error_code, ErrorCode::unknown_member_id);
    QCOMPARE(joining.times(), 1);
    QCOMPARE(world.join("g", a)->generation_id, 2);
  }

  void a_pending_member_can_leave() {
    World world;
    const std::string id = world.member_id("g");
    QCOMPARE(world.leave("g", {{id, {}, {}}}).members[0].error_code, ErrorCode::none);
    QCOMPARE(world.join("g", id)->error_code, ErrorCode::unknown_member_id);
  }

  // ---- 161
  void a_full_group() {
    Config config = World::fast();
    config.group_max_size = 2;
    World world(config);
    const Pair pair = stable_pair(world, "g");
    QCOMPARE(world.join("g", "")->error_code, ErrorCode::group_max_size_reached);
    JoinOptions fixed;
    fixed.instance = "x";
    QCOMPARE(world.join("g", "", fixed)->error_code, ErrorCode::group_max_size_reached);
    QCOMPARE(world.heartbeat("g", pair.generation, pair.leader), ErrorCode::none);
    QVERIFY(!world.join("g", pair.leader).here());  // members may join again
  }

  // ---- 162
  void states_in_describe_and_list() {
    World world;
    QCOMPARE(world.describe("none").error_code, ErrorCode::group_id_not_found);
    QCOMPARE(world.describe("none").group_state, std::string("Dead"));
    QVERIFY(world.describe("none").error_message.has_value());
    const std::string a = world.member_id("g");
    QCOMPARE(world.list(), std::vector<std::string>{"g/Empty/classic/"});
    world.join("g", a);
    QCOMPARE(world.state("g"), std::string("CompletingRebalance"));
    QVERIFY(world.describe("g").protocol_data.empty());
    world.sync("g", 1, a, {{a, "A"}});
    const auto stable = world.describe("g");
    QCOMPARE(stable.group_state, std::string("Stable"));
    QCOMPARE(stable.protocol_data, std::string("range"));
    QCOMPARE(stable.members.size(), std::size_t{1});
    QCOMPARE(stable.members[0].client_id, std::string("cli"));
    QCOMPARE(stable.members[0].client_host, std::string("/127.0.0.1"));
    QCOMPARE(stable.members[0].member_assignment.text(), std::string_view("A"));
    QCOMPARE(stable.members[0].member_metadata.text(), std::string_view("meta"));
    QCOMPARE(world.list({"STABLE "}, {"Classic"}),
             std::vector<std::string>{"g/Stable/classic/consumer"});
    QCOMPARE(world.list({"Empty"}).size(), std::size_t{0});
    QCOMPARE(world.list({}, {"consumer"}).size(), std::size_t{0});
    world.join("g", world.member_id("g"));
    QCOMPARE(world.state("g"), std::string("PreparingRebalance"));
    world.leave("g", {{a, {}, {}}});
    QCOMPARE(world.state("g"), std::string("CompletingRebalance"));
  }

  // ---- 169
  void who_does_not_lead_says_so() {
    Config config = World::fast();
    GroupCoordinator coordinator(config, Prng(1));
    Now now{{0}, {0}};
    wire::JoinGroupRequest join;
    join.group_id = "g";
    join.member_id = "somebody";
    join.session_timeout_ms = 10'000;
    wire::HeartbeatRequest beat;
    beat.group_id = "g";
    wire::ListGroupsRequest list;
    Answer<wire::JoinGroupResponse> joined;
    coordinator.join(join, {}, now, joined.done());
    QCOMPARE(joined->error_code, ErrorCode::not_coordinator);
    QCOMPARE(joined->member_id, std::string());
    coordinator.begin_load(PartitionIndex(0));
    QVERIFY(!coordinator.leads(PartitionIndex(0)));
    Answer<wire::JoinGroupResponse> loading;
    coordinator.join(join, {}, now, loading.done());
    QCOMPARE(loading->error_code, ErrorCode::coordinator_load_in_progress);
    Answer<wire::HeartbeatResponse> alive;
    coordinator.heartbeat(beat, {}, now, alive.done());
    QCOMPARE(alive->error_code, ErrorCode::none);  // nobody loses its session because we are slow
    Answer<wire::ListGroupsResponse> listed;
    coordinator.list_groups(list, {}, now, listed.done());
    QCOMPARE(listed->error_code, ErrorCode::coordinator_load_in_progress);
    coordinator.end_load(PartitionIndex(0), now);
    QVERIFY(coordinator.leads(PartitionIndex(0)));
    Answer<wire::HeartbeatResponse> unknown;
    coordinator.heartbeat(beat, {}, now, unknown.done());
    QCOMPARE(unknown->error_code, ErrorCode::unknown_member_id);
  }

  void unloading_answers_all_who_wait() {
    World world;
    const std::string a = world.lone_member("g");
    auto joining = world.join("g", world.member_id("g"));
    JoinOptions fixed;
    fixed.instance = "s";
    const std::string c = world.member_id("h");
    world.join("h", c);
    world.hold = true;
    auto syncing = world.sync("h", 1, c, {{c, "A"}});
    auto committing = world.commit_later("k", "t", 1, -1, "", {});
    world.coordinator.unload(PartitionIndex(0), world.now);
    QCOMPARE(joining->error_code, ErrorCode::not_coordinator);
    QCOMPARE(syncing->error_code, ErrorCode::not_coordinator);
    QCOMPARE(committing->topics[0].partitions[0].error_code, ErrorCode::not_coordinator);
    QCOMPARE(world.heartbeat("g", 1, a), ErrorCode::not_coordinator);
    QCOMPARE(world.coordinator.next_deadline().ns, kNever.ns);
    for (const Outputs::Append& append : world.held) {
      QVERIFY(!world.coordinator.pending(append.id));
      world.coordinator.on_committed(append.id, ErrorCode::none,
                                     world.now);  // late, and without effect
    }
    QVERIFY(!world.coordinator.has_outputs() || world.coordinator.take().appends.empty());
    QCOMPARE(joining.times() + syncing.times() + committing.times(), 3);
  }

  // ---- restart: membership survives, sessions begin anew
  void a_stable_group_survives_a_restart() {
    World world;
    const Pair pair = stable_pair(world, "g");
    World after;
    after.coordinator.unload(PartitionIndex(0), after.now);
    after.log = world.log;
    after.load();
    QCOMPARE(after.state("g"), std::string("Stable"));
    QCOMPARE(after.heartbeat("g", pair.generation, pair.leader), ErrorCode::none);
    QCOMPARE(after.sync("g", pair.generation, pair.follower)->assignment.text(),
             std::string_view("2"));
    QCOMPARE(after.told<event::GroupAssigned>().back().members.size(), std::size_t{2});
    after.advance(10'000);
    QCOMPARE(after.heartbeat("g", pair.generation, pair.follower), ErrorCode::unknown_member_id);
  }

  void records_that_cannot_be_read_are_counted() {
    World world;
    const std::string id = world.lone_member("g");
    World after;
    after.coordinator.unload(PartitionIndex(0), after.now);
    after.log = world.log;
    after.log[0].push_back({Bytes::copy_of(std::string_view("\0\2\0\x09", 4)), std::nullopt});
    after.log[0].push_back({Bytes::copy_of(std::string_view("\0\2\0\1g", 5)),
                            Bytes::copy_of(std::string_view("\0\x63", 2))});
    after.log[0].push_back(
        {Bytes::copy_of(std::string_view("\0\x03\0\1k", 5)), Bytes::copy_of("whatever")});
    after.log[0].push_back(  // a share group's: passed over
        {Bytes::copy_of(std::string_view("\0\x0b\0\1k", 5)), Bytes::copy_of("whatever")});
    after.load();
    QCOMPARE(after.coordinator.load_errors(), std::uint64_t{3});
    QCOMPARE(after.heartbeat("g", 1, id), ErrorCode::none);
    QCOMPARE(after.list().size(), std::size_t{1});
  }

  void a_group_that_was_never_written_never_was() {
    World world;
    world.hold = true;
    auto first = world.join("g", "");
    QCOMPARE(first->error_code, ErrorCode::member_id_required);
    world.fail_held(ErrorCode::not_leader_or_follower);
    QCOMPARE(world.list().size(), std::size_t{0});
    QCOMPARE(world.join("g", first->member_id)->error_code, ErrorCode::unknown_member_id);
  }

  // ---- what the screen is told
  void events_tell_who_and_why() {
    World world;
    JoinOptions a;
    a.protocols = {{"range", subscription({"orders"})}};
    a.reason = "fresh start";
    const std::string leader = world.member_id("g", a);
    auto joined = world.join("g", leader, a);
    world.sync("g", 1, leader, {{leader, assignment("orders", {0, 2})}});
    const auto states = world.told<event::GroupStateChanged>();
    QCOMPARE(states.size(), std::size_t{3});
    QCOMPARE(states[0].state, std::string("PreparingRebalance"));
    QCOMPARE(states[0].reason, leader + " joined: fresh start");
    QCOMPARE(states[1].state, std::string("CompletingRebalance"));
    QCOMPARE(states[1].generation, 1);
    QCOMPARE(states[2].state, std::string("Stable"));
    QCOMPARE(states[2].protocol, std::string("range"));
    const event::GroupAssigned assigned = world.told<event::GroupAssigned>().back();
    QCOMPARE(assigned.leader, leader);
    QCOMPARE(assigned.members.size(), std::size_t{1});
    QCOMPARE(assigned.members[0].connection, ConnectionId(1));
    const std::vector<std::pair<std::string, PartitionIndex>> expected{
        {"orders", PartitionIndex(0)}, {"orders", PartitionIndex(2)}};
    QCOMPARE(assigned.members[0].partitions == expected, true);
  }

  void an_assignment_that_is_not_the_consumers_is_shown_as_none() {
    World world;
    world.lone_member("g");  // assigns the byte "A"
    QVERIFY(world.told<event::GroupAssigned>().back().members[0].partitions.empty());
  }

  // ---- the same seed, the same run
  void a_run_repeats() {
    const auto play = [] {
      World world(World::fast(), 99);
      const Pair pair = stable_pair(world, "g");
      world.leave("g", {{pair.leader, {}, {}}});
      return pair.leader + pair.follower + world.coordinator.dump_hard_state(PartitionIndex(0));
    };
    QCOMPARE(play(), play());
  }
};

QTEST_APPLESS_MAIN(TestClassicGroups)
#include "tst_classic_groups.moc"
