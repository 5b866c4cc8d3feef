// SPDX-License-Identifier: Apache-2.0
// Consumer groups (KIP-848), clause by clause as Apache Kafka 4.4 behaves (the numbers are those of
// the reference's behaviours), and random worlds in which no partition may ever have two owners.
#include <string>
#include <vector>

#include <QtTest>

#include "consumer_world.h"

using namespace hw;
using namespace hw::groups;
using namespace hw::groups::test;
using hw::wire::ErrorCode;

class TestConsumerGroup : public QObject {
  Q_OBJECT

 private slots:

  // ---- 171, 174
  void the_first_member_gets_everything_at_epoch_two() {
    ConsumerWorld world;
    world.create_topic("t", 4);
    const BeatResponse joined = world.join_consumer("g", "m", {"t"});
    QCOMPARE(joined.error_code, ErrorCode::none);
    QCOMPARE(joined.member_id.value_or(""), std::string("m"));
    QCOMPARE(joined.member_epoch, 2);
    QCOMPARE(joined.heartbeat_interval_ms, 5'000);
    QVERIFY((world.told_parts(joined) == Parts{{"t", {0, 1, 2, 3}}}));
    const BeatResponse again = world.beat("g", "m", 2);
    QCOMPARE(again.member_epoch, 2);
    QVERIFY(!again.assignment);
    QCOMPARE(world.state_of("g"), std::string("Stable"));
  }

  void a_full_request_is_answered_in_full() {
    ConsumerWorld world;
    world.create_topic("t", 1);
    world.join_consumer("g", "m", {"t"});
    Beat full = joining({"t"});
    full.owned = Parts{{"t", {0}}};
    QVERIFY((world.told_parts(world.beat("g", "m", 2, full)) == Parts{{"t", {0}}}));
  }

  // ---- 172, 173
  void what_a_request_must_say() {
    ConsumerWorld world;
    const auto error = [&](const std::string& group, const std::string& member, std::int32_t epoch,
                           const Beat& beat) {
      return world.beat(group, member, epoch, beat).error_code;
    };
    const Beat good = joining({"t"});
    QCOMPARE(error("", "m", 0, good), ErrorCode::invalid_request);
    QCOMPARE(error("g", "", 0, good), ErrorCode::invalid_request);
    Beat bad = good;
    bad.topics.reset();
    QCOMPARE(error("g", "m", 0, bad), ErrorCode::invalid_request);
    bad = good;
    bad.rebalance_ms = -1;
    QCOMPARE(error("g", "m", 0, bad), ErrorCode::invalid_request);
    bad = good;
    bad.owned = Parts{{"t", {0}}};
    QCOMPARE(error("g", "m", 0, bad), ErrorCode::invalid_request);
    bad.owned.reset();
    QCOMPARE(error("g", "m", 0, bad), ErrorCode::invalid_request);
    bad = good;
    bad.instance = "";
    QCOMPARE(error("g", "m", 0, bad), ErrorCode::invalid_request);
    QCOMPARE(error("g", "m", -3, good), ErrorCode::invalid_request);
    QCOMPARE(error("g", "m", -2, good), ErrorCode::invalid_request);
    bad = good;
    bad.assignor = "nope";
    QCOMPARE(error("g", "m", 0, bad), ErrorCode::unsupported_assignor);
    bad = good;
    bad.regex = "(";
    QCOMPARE(error("g", "m", 0, bad), ErrorCode::invalid_regular_expression);
    QVERIFY(world.list().empty());
  }

  void an_old_client_gets_its_id() {
    ConsumerWorld world;
    world.create_topic("t", 1);
    Beat old = joining({"t"});
    old.version = 0;
    const BeatResponse joined = world.beat("g", "", 0, old);
    QCOMPARE(joined.error_code, ErrorCode::none);
    QCOMPARE(joined.member_id.value_or("").size(), std::size_t{22});
  }

  // ---- 175, 176
  void epochs_are_fenced() {
    ConsumerWorld world;
    world.create_topic("t", 2);
    QCOMPARE(world.beat("g", "m", 3).error_code, ErrorCode::group_id_not_found);
    world.join_consumer("g", "m", {"t"});
    QCOMPARE(world.beat("g", "other", 3).error_code, ErrorCode::unknown_member_id);
    QCOMPARE(world.beat("g", "m", 3).error_code, ErrorCode::fenced_member_epoch);
    QCOMPARE(world.beat("g", "m", 1).error_code, ErrorCode::fenced_member_epoch);
  }

  void a_lost_answer_may_be_asked_for_again() {
    ConsumerWorld world;
    world.create_topic("t", 2);
    world.join_consumer("g", "m", {"t"});
    world.grow_topic("t", 3);
    QCOMPARE(world.beat("g", "m", 2).member_epoch, 3);
    Beat retry;
    retry.owned = Parts{{"t", {0, 1}}};
    QCOMPARE(world.beat("g", "m", 2, retry).member_epoch, 3);
    retry.owned = Parts{{"t", {7}}};
    QCOMPARE(world.beat("g", "m", 2, retry).error_code, ErrorCode::fenced_member_epoch);
    QCOMPARE(world.beat("g", "m", 2).error_code, ErrorCode::fenced_member_epoch);
  }

  // ---- 177
  void a_partition_is_given_back_before_another_gets_it() {
    ConsumerWorld world;
    world.create_topic("t", 2);
    world.join_consumer("g", "a", {"t"});
    const BeatResponse second = world.join_consumer("g", "b", {"t"});
    QCOMPARE(second.member_epoch, 3);
    QVERIFY(world.told_parts(second) == Parts{});
    QCOMPARE(world.state_of("g"), std::string("Reconciling"));

    Beat has;
    has.owned = Parts{{"t", {0, 1}}};
    const BeatResponse told = world.beat("g", "a", 2, has);
    QCOMPARE(told.member_epoch, 2);
    const std::optional<Parts> keeps = world.told_parts(told);
    QVERIFY(keeps && keeps->at("t").size() == 1);
    QVERIFY(!world.beat("g", "b", 3).assignment);  // still the other's

    has.owned = keeps;
    QCOMPARE(world.beat("g", "a", 2, has).member_epoch, 3);
    const std::optional<Parts> gets = world.told_parts(world.beat("g", "b", 3));
    QVERIFY(gets && gets->at("t").size() == 1);
    QVERIFY(*gets != *keeps);
    QCOMPARE(world.state_of("g"), std::string("Stable"));
  }

  void whoever_says_nothing_of_what_it_owns_still_owns_it() {
    ConsumerWorld world;
    world.create_topic("t", 2);
    world.join_consumer("g", "a", {"t"});
    world.join_consumer("g", "b", {"t"});
    QVERIFY(world.beat("g", "a", 2).assignment);
    QCOMPARE(world.beat("g", "a", 2).member_epoch, 2);
    QVERIFY(!world.beat("g", "b", 3).assignment);
  }

  // ---- 179
  void targets_are_computed_once_per_interval() {
    Config config = ConsumerWorld::quick();
    config.consumer_assignment_interval_ms = {1'000, 0, 15'000};
    ConsumerWorld world(config);
    world.create_topic("t", 2);
    world.join_consumer("g", "a", {"t"});
    const BeatResponse second = world.join_consumer("g", "b", {"t"});
    QCOMPARE(second.member_epoch, 2);
    QVERIFY(world.told_parts(second) == Parts{});
    QCOMPARE(world.state_of("g"), std::string("Assigning"));
    world.advance(999);
    world.beat("g", "a", 2);
    QCOMPARE(world.state_of("g"), std::string("Assigning"));
    world.advance(1);
    world.beat("g", "a", 2);
    QCOMPARE(world.state_of("g"), std::string("Reconciling"));
    // A clock that is set back does not hold the next one up until it is there again.
    world.now.wall.ms -= 60'000;
    world.join_consumer("g", "c", {"t"});
    const auto after = world.describe_consumer("g");
    QCOMPARE(after.assignment_epoch, after.group_epoch);
  }

  // ---- 180
  void the_assignor_of_most_members_counts() {
    ConsumerWorld world;
    world.create_topic("t", 3);
    Beat ranged = joining({"t"});
    ranged.assignor = "range";
    world.beat("g", "a", 0, ranged);
    QCOMPARE(world.describe_consumer("g").assignor_name, std::string("range"));
    world.beat("g", "b", 0, ranged);
    QVERIFY((world.target_of("g", "a") == Parts{{"t", {0, 1}}}));
    QVERIFY((world.target_of("g", "b") == Parts{{"t", {2}}}));
    Beat other = joining({"t"});
    other.assignor = "uniform";
    const std::int32_t before = world.describe_consumer("g").group_epoch;
    world.beat("g", "a", 0, other);
    QCOMPARE(world.describe_consumer("g").group_epoch, before + 1);  // one each: the first offered
    QCOMPARE(world.describe_consumer("g").assignor_name, std::string("uniform"));
  }

  // ---- 181
  void a_silent_member_goes() {
    ConsumerWorld world;
    world.create_topic("t", 2);
    world.join_consumer("g", "a", {"t"});
    world.advance(44'999);
    QCOMPARE(world.beat("g", "a", 2).error_code, ErrorCode::none);
    world.advance(45'000);
    QCOMPARE(world.state_of("g"), std::string("Empty"));
    QCOMPARE(world.beat("g", "a", 2).error_code, ErrorCode::unknown_member_id);
  }

  void whoever_does_not_give_back_goes() {
    ConsumerWorld world;
    world.create_topic("t", 2);
    world.join_consumer("g", "a", {"t"});
    world.join_consumer("g", "b", {"t"});
    Beat has;
    has.owned = Parts{{"t", {0, 1}}};
    world.beat("g", "a", 2, has);
    for (int i = 0; i < 3; ++i) {
      world.advance(20'000 - (i == 2 ? 1 : 0));
      QCOMPARE(world.beat("g", "a", 2, has).error_code, ErrorCode::none);
      QCOMPARE(world.beat("g", "b", 3).error_code, ErrorCode::none);
    }
    world.advance(1);
    QCOMPARE(world.beat("g", "a", 2, has).error_code, ErrorCode::unknown_member_id);
    QVERIFY((world.told_parts(world.beat("g", "b", 3)) == Parts{{"t", {0, 1}}}));
  }

  // ---- 182
  void leaving() {
    ConsumerWorld world;
    world.create_topic("t", 2);
    world.join_consumer("g", "a", {"t"});
    QCOMPARE(world.beat("g", "b", -1).error_code, ErrorCode::unknown_member_id);
    const BeatResponse left = world.beat("g", "a", -1);
    QCOMPARE(left.error_code, ErrorCode::none);
    QCOMPARE(left.member_epoch, -1);
    QCOMPARE(world.state_of("g"), std::string("Empty"));
    QCOMPARE(world.beat("none", "a", -1).error_code, ErrorCode::group_id_not_found);
    // Nobody has to wait for the next target in an empty group.
    QVERIFY((world.told_parts(world.join_consumer("g", "c", {"t"})) == Parts{{"t", {0, 1}}}));
  }

  void a_static_member_keeps_its_place() {
    ConsumerWorld world;
    world.create_topic("t", 2);
    Beat fixed = joining({"t"});
    fixed.instance = "i";
    world.beat("g", "a", 0, fixed);
    QCOMPARE(world.beat("g", "b", 0, fixed).error_code, ErrorCode::unreleased_instance_id);
    Beat of_instance;
    of_instance.instance = "i";
    QCOMPARE(world.beat("g", "a", -2, of_instance).member_epoch, -2);
    world.join_consumer("g", "other", {"t"});
    const BeatResponse back = world.beat("g", "b", 0, fixed);
    QCOMPARE(back.error_code, ErrorCode::none);
    QVERIFY(world.told_parts(back)->at("t").size() ==
            1);  // what it gives up it does not own any more
    QCOMPARE(world.beat("g", "a", 2, of_instance).error_code, ErrorCode::fenced_instance_id);
    QCOMPARE(world.describe_consumer("g").members.size(), std::size_t{2});
  }

  void a_static_member_that_stays_away_goes() {
    ConsumerWorld world;
    world.create_topic("t", 2);
    Beat fixed = joining({"t"});
    fixed.instance = "i";
    world.beat("g", "a", 0, fixed);
    Beat of_instance;
    of_instance.instance = "i";
    world.beat("g", "a", -2, of_instance);
    world.advance(45'000);
    QCOMPARE(world.state_of("g"), std::string("Empty"));
  }

  // ---- 183, 184
  void offsets_by_member_epoch() {
    ConsumerWorld world;
    world.create_topic("t", 2);
    world.join_consumer("g", "a", {"t"});
    World::CommitOptions options;
    options.topic_id = world.topic_id("t");
    QCOMPARE(world.commit("g", "t", 5, 2, "a", options), ErrorCode::none);
    QCOMPARE(world.commit("g", "t", 5, 1, "a", options), ErrorCode::stale_member_epoch);
    QCOMPARE(world.commit("g", "t", 5, 3, "a", options), ErrorCode::stale_member_epoch);
    QCOMPARE(world.commit("g", "t", 5, 2, "b", options), ErrorCode::unknown_member_id);
    QCOMPARE(world.commit("g", "t", 5, -1, "", options), ErrorCode::unknown_member_id);
    // The partition has been its own since epoch 2: an older epoch of its own still counts.
    world.create_topic("u", 1);
    Beat more = joining({"t", "u"});
    more.owned = Parts{{"t", {0, 1}}};
    QCOMPARE(world.beat("g", "a", 2, more).member_epoch, 3);
    QCOMPARE(world.commit("g", "t", 6, 2, "a", options), ErrorCode::none);
    options.topic_id = world.topic_id("u");
    QCOMPARE(world.commit("g", "u", 6, 2, "a", options), ErrorCode::stale_member_epoch);
    options.version = 8;
    QCOMPARE(world.commit("g", "t", 5, 3, "a", options), ErrorCode::unsupported_version);

    const auto fetch = [&](const std::optional<std::string>& member, std::int32_t epoch) {
      wire::OffsetFetchRequest request;
      auto& group = request.groups.emplace_back();
      group.group_id = "g";
      group.member_id = member;
      group.member_epoch = epoch;
      group.topics.reset();
      Answer<wire::OffsetFetchResponse> answer;
      world.coordinator.fetch_offsets(request, world.context(9), world.now, answer.done());
      return answer->groups.at(0).error_code;
    };
    QCOMPARE(fetch({}, -1), ErrorCode::none);
    QCOMPARE(fetch("a", 3), ErrorCode::none);
    QCOMPARE(fetch("a", 2), ErrorCode::stale_member_epoch);
    QCOMPARE(fetch("b", 3), ErrorCode::unknown_member_id);
  }

  void offsets_of_topics_that_nobody_reads_expire() {
    Config config = ConsumerWorld::quick();
    config.offsets_retention_ms = 1'000'000;
    ConsumerWorld world(config);
    world.create_topic("t", 1);
    world.create_topic("u", 1);
    world.join_consumer("g", "a", {"t"});
    world.commit("g", "t", 5, 2, "a");
    world.commit("g", "u", 6, 2, "a");
    for (int i = 0; i < 60; ++i) {
      world.advance(30'000);
      world.beat("g", "a", 2);
    }
    QCOMPARE(world.fetch("g", "t"), 5);
    QCOMPARE(world.fetch("g", "u"), -1);
    world.beat("g", "a", -1);
    world.advance(2'000'000);
    QVERIFY(world.list().empty());  // with its last offset
    QVERIFY(world.coordinator.dump_hard_state(PartitionIndex(0)).empty());
  }

  // ---- 185
  void an_expression_is_resolved_a_moment_later() {
    ConsumerWorld world;
    world.create_topic("a-1", 2);
    world.create_topic("b-1", 1);
    Beat by_regex = joining({});
    by_regex.topics.reset();
    by_regex.regex = "a-.*";
    const BeatResponse joined = world.beat("g", "m", 0, by_regex);
    QCOMPARE(joined.member_epoch, 1);
    QVERIFY(world.told_parts(joined) == Parts{});
    world.advance(0);
    const BeatResponse told = world.beat("g", "m", 1);
    QCOMPARE(told.member_epoch, 2);
    QVERIFY((world.told_parts(told) == Parts{{"a-1", {0, 1}}}));
    // A new topic that matches comes along when expressions may be resolved again.
    world.advance(10'001);
    world.create_topic("a-2", 1);
    world.beat("g", "m", 2);
    world.advance(0);
    QVERIFY((world.told_parts(world.beat("g", "m", 2)) == Parts{{"a-1", {0, 1}}, {"a-2", {0}}}));
    Beat none;
    none.regex = "";
    none.topics = std::vector<std::string>{"b-1"};
    Parts left{{"b-1", {0}}};
    none.owned = Parts{};
    QVERIFY(world.told_parts(world.beat("g", "m", 3, none)) == left);
  }

  // ---- metadata
  void new_partitions_and_topics_raise_the_epoch() {
    ConsumerWorld world;
    world.join_consumer("g", "m", {"t"});
    QCOMPARE(world.describe_consumer("g").group_epoch, 2);
    world.create_topic("t", 1);
    QVERIFY((world.told_parts(world.beat("g", "m", 2)) == Parts{{"t", {0}}}));
    world.grow_topic("t", 2);
    QVERIFY((world.told_parts(world.beat("g", "m", 3)) == Parts{{"t", {0, 1}}}));
    world.create_topic("other", 1);
    QVERIFY(!world.beat("g", "m", 4).assignment);
    world.delete_topic("t");
    Beat has;
    has.owned = Parts{};
    const BeatResponse gone = world.beat("g", "m", 4, has);
    QVERIFY(world.told_parts(gone) == Parts{});
    QCOMPARE(gone.member_epoch, 5);
  }

  // ---- 189, 190
  void bounds() {
    Config config = ConsumerWorld::quick();
    config.consumer_max_size = 1;
    ConsumerWorld world(config);
    world.create_topic("t", 1);
    world.set_group_config("g", "consumer.heartbeat.interval.ms", "6000");
    world.set_group_config("g", "consumer.session.timeout.ms", "50000");
    QCOMPARE(world.join_consumer("g", "a", {"t"}).heartbeat_interval_ms, 6'000);
    QCOMPARE(world.join_consumer("g", "b", {"t"}).error_code, ErrorCode::group_max_size_reached);
    QCOMPARE(world.join_consumer("g", "a", {"t"}).error_code, ErrorCode::none);
    world.advance(49'999);
    QCOMPARE(world.state_of("g"), std::string("Stable"));
    world.advance(1);
    QCOMPARE(world.state_of("g"), std::string("Empty"));
  }

  // ---- what others see
  void lists_and_descriptions() {
    ConsumerWorld world;
    world.create_topic("t", 1);
    world.join_consumer("g", "a", {"t"});
    QVERIFY(world.list() == std::vector<std::string>{"g/Stable/consumer/consumer"});
    QVERIFY(world.list({"empty"}).empty());
    QVERIFY(world.list({}, {"Consumer"}).size() == 1);
    QVERIFY(world.list({}, {"classic"}).empty());
    QCOMPARE(world.describe("g").group_state, std::string("Dead"));
    QCOMPARE(world.describe("g").error_code, ErrorCode::group_id_not_found);
    const auto group = world.describe_consumer("g");
    QCOMPARE(group.assignment_epoch, 2);
    QCOMPARE(group.members.at(0).member_type, std::int8_t{1});
    QCOMPARE(group.members.at(0).client_host, std::string("/127.0.0.1"));
    QCOMPARE(world.describe_consumer("none").error_code, ErrorCode::group_id_not_found);
    QCOMPARE(world.remove("g"), ErrorCode::non_empty_group);
    world.beat("g", "a", -1);
    QCOMPARE(world.remove("g"), ErrorCode::none);
    QVERIFY(world.list().empty());
    QVERIFY(world.coordinator.dump_hard_state(PartitionIndex(0)).empty());
  }

  void members_come_in_the_order_of_kafkas_table() {
    ConsumerWorld world;
    world.join_consumer("g", "member-1", {"t"});
    world.join_consumer("g", "member-2", {"t"});
    const auto group = world.describe_consumer("g");
    QCOMPARE(group.members.at(0).member_id, std::string("member-2"));
    QCOMPARE(group.members.at(1).member_id, std::string("member-1"));
  }

  // ---- records
  void a_restart_goes_on_where_it_was() {
    ConsumerWorld world;
    world.create_topic("t", 3);
    world.join_consumer("g", "a", {"t"});
    world.join_consumer("g", "b", {"t"});
    const std::string before = world.coordinator.dump_hard_state(PartitionIndex(0));
    const auto group = world.describe_consumer("g");
    world.coordinator.unload(PartitionIndex(0), world.now);
    world.load();
    QCOMPARE(world.coordinator.dump_hard_state(PartitionIndex(0)), before);
    QVERIFY(world.describe_consumer("g") == group);
    QCOMPARE(world.beat("g", "b", 3).error_code, ErrorCode::none);
    world.advance(45'000);  // sessions begin with the load
    QCOMPARE(world.describe_consumer("g").members.size(), std::size_t{0});
  }

  void what_is_not_committed_is_taken_back() {
    ConsumerWorld world;
    world.create_topic("t", 2);
    world.join_consumer("g", "a", {"t"});
    const std::string before = world.coordinator.dump_hard_state(PartitionIndex(0));
    world.hold = true;
    auto joining_b = world.beat_later("g", "b", 0, joining({"t"}));
    auto leaving_a = world.beat_later("g", "a", -1, {});
    QVERIFY(!joining_b.here());
    QCOMPARE(world.describe_consumer("g").members.size(), std::size_t{1});  // as it is committed
    world.fail_held(ErrorCode::not_leader_or_follower);
    QCOMPARE(joining_b->error_code, ErrorCode::not_coordinator);
    QCOMPARE(leaving_a->error_code, ErrorCode::not_coordinator);
    QCOMPARE(world.coordinator.dump_hard_state(PartitionIndex(0)), before);
    QCOMPARE(world.beat("g", "a", 2).error_code, ErrorCode::none);
    QCOMPARE(world.beat("g", "b", 2).error_code, ErrorCode::unknown_member_id);
    world.advance(45'000);  // the session that ended with the leaving runs again
    QCOMPARE(world.state_of("g"), std::string("Empty"));
  }

  void a_group_that_could_not_be_made_never_was() {
    ConsumerWorld world;
    world.create_topic("t", 2);
    world.hold = true;
    auto first = world.beat_later("g", "a", 0, joining({"t"}));
    QVERIFY(world.list().empty());
    world.fail_held(ErrorCode::not_leader_or_follower);
    QCOMPARE(first->error_code, ErrorCode::not_coordinator);
    QCOMPARE(world.beat("g", "a", 2).error_code, ErrorCode::group_id_not_found);
    QCOMPARE(world.join_consumer("g", "a", {"t"}).member_epoch, 2);
  }

  // ---- random worlds
  void no_partition_has_two_owners_data() {
    QTest::addColumn<bool>("failures");
    QTest::newRow("appends commit") << false;
    QTest::newRow("appends are late, and some fail") << true;
  }

  void no_partition_has_two_owners() {
    QFETCH(bool, failures);
    int shared = 0;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
      Prng prng(seed);
      ConsumerWorld world(ConsumerWorld::quick(), seed);
      world.create_topic("t0", 5);
      std::vector<ConsumerClient> clients(5);
      for (std::size_t i = 0; i < clients.size(); ++i) {
        clients[i].group = "g";
        clients[i].id = "m" + std::to_string(i);
        clients[i].topics = {"t0"};
        if (i % 3 == 1) {
          clients[i].instance = "i" + std::to_string(i);
        }
      }
      std::vector<std::pair<std::size_t, Answer<BeatResponse>>> waiting;
      const auto nobody_shares = [&] {
        std::set<std::pair<std::string, std::int32_t>> seen;
        for (const ConsumerClient& client : clients) {
          for (const auto& [topic, partitions] : client.owned) {
            for (const std::int32_t partition : partitions) {
              if (world.topics().contains(topic) && !seen.emplace(topic, partition).second) {
                return false;
              }
            }
          }
        }
        return true;
      };
      int renamed = 0;
      for (int step = 0; step < 200; ++step) {
        const std::size_t which = prng.below(clients.size());
        ConsumerClient& client = clients[which];
        switch (prng.below(12)) {
          case 0:
            client.topics = prng.below(2) == 0 ? std::vector<std::string>{"t0"}
                                               : std::vector<std::string>{"t0", "t1"};
            if (client.epoch > 0) {  // it says so at once
              Beat says;
              says.topics = client.topics;
              says.instance = client.instance;
              says.owned = client.owned;
              waiting.emplace_back(which, world.beat_later("g", client.id, client.epoch, says));
            }
            break;
          case 1:
            if (!world.topics().contains("t1")) {
              world.create_topic("t1", 3);
            } else if (prng.below(2) == 0) {
              world.grow_topic("t1", world.topics().at("t1").second + 1);
            }
            break;
          case 2:
            if (client.epoch > 0) {  // it leaves
              Beat says;
              says.instance = client.instance;
              client.owned.clear();
              client.wanted.clear();
              waiting.emplace_back(
                  which, world.beat_later("g", client.id,
                                          client.instance && prng.below(2) == 0 ? -2 : -1, says));
              client.epoch = 0;
              client.id = "n" + std::to_string(++renamed);
              waiting.pop_back();
            }
            break;
          case 3:
            client.owned = {};  // it dies, and comes back when its session is over
            client.wanted = {};
            client.epoch = 0;
            client.id = "n" + std::to_string(++renamed);
            break;
          case 4:
            if (failures) {
              world.hold = true;
            }
            break;
          case 5:
            if (world.hold && !world.held.empty() && prng.below(3) == 0) {
              world.fail_held(ErrorCode::not_leader_or_follower);
            } else {
              world.commit_held();
            }
            break;
          case 6:
            world.advance(static_cast<std::int64_t>(prng.below(20'000)));
            // Whoever was silent for too long has noticed by itself.
            break;
          case 7:
            client.catch_up();
            break;
          default:
            client.catch_up();
            if (!world.hold) {
              client.beat(world);
              client.catch_up();
            }
            break;
        }
        std::erase_if(waiting, [&](auto& one) {
          if (one.second.here()) {
            clients[one.first].learn(world, one.second);
          }
          return one.second.here();
        });
        // Members that the group gave up stop working when their session is over, as clients do.
        const auto group = world.describe_consumer("g");
        for (ConsumerClient& one : clients) {
          const bool known =
              std::any_of(group.members.begin(), group.members.end(),
                          [&](const auto& member) { return member.member_id == one.id; });
          if (!known && one.epoch > 0) {
            one.epoch = 0;
            one.owned.clear();
            one.wanted.clear();
          }
        }
        std::set<std::pair<Uuid, PartitionIndex>> assigned;
        for (const auto& member : group.members) {
          for (const auto& topic : member.assignment.topic_partitions) {
            for (const PartitionIndex partition : topic.partitions) {
              QVERIFY2(assigned.emplace(topic.topic_id, partition).second,
                       qPrintable(QStringLiteral("seed %1 step %2").arg(seed).arg(step)));
            }
          }
        }
        QVERIFY2(nobody_shares(),
                 qPrintable(QStringLiteral("seed %1 step %2").arg(seed).arg(step)));
      }
      // Everything comes to rest: all partitions that somebody wants are worked with.
      world.commit_held();
      for (int round = 0; round < 40; ++round) {
        for (ConsumerClient& client : clients) {
          client.beat(world);
          client.catch_up();
        }
        world.advance(5'000);
      }
      QCOMPARE(world.state_of("g"), std::string("Stable"));
      std::set<std::pair<std::string, std::int32_t>> worked;
      for (const ConsumerClient& client : clients) {
        for (const auto& [topic, partitions] : client.owned) {
          for (const std::int32_t partition : partitions) {
            worked.emplace(topic, partition);
          }
        }
        shared += client.owned.empty() ? 0 : 1;
      }
      for (std::int32_t partition = 0; partition < 5; ++partition) {
        QVERIFY(worked.contains({"t0", partition}));
      }
      // A fresh coordinator that replays the log holds the same.
      const std::string before = world.coordinator.dump_hard_state(PartitionIndex(0));
      const auto group = world.describe_consumer("g");
      world.coordinator.unload(PartitionIndex(0), world.now);
      world.load();
      QCOMPARE(world.coordinator.load_errors(), std::uint64_t{0});
      QCOMPARE(world.coordinator.dump_hard_state(PartitionIndex(0)), before);
      QVERIFY(world.describe_consumer("g") == group);
    }
    QVERIFY(shared > 200);  // it was worth asking
  }
};

QTEST_APPLESS_MAIN(TestConsumerGroup)
#include "tst_consumer_group.moc"
