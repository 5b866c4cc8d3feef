// SPDX-License-Identifier: Apache-2.0
// Brokers that come, go, die and return, as the controller sees them: registration, sessions, fencing, elections, ELR. Answers and states are those that 4.4.0 gave (shared probes of a cluster of three).
#include <QtTest/QTest>

#include "tests/engine/metadata/cluster_fixture.h"

using namespace hw;
using namespace hw::metadata;
using namespace hw::metadata::test;

class TestBrokers : public QObject {
  Q_OBJECT
 private slots:
  void a_broker_registers_and_is_unfenced();
  void registrations_are_checked_data();
  void registrations_are_checked();
  void a_second_life_waits_for_the_end_of_the_first();
  void an_answer_that_got_lost_is_given_again();
  void heartbeats_are_checked();
  void a_silent_broker_is_fenced_and_returns();
  void brokers_that_fall_silent_together();
  void a_controlled_shutdown_moves_leaderships_first();
  void who_is_fenced_may_stop_at_once();
  void a_new_controller_gives_fresh_sessions();
  void without_elr_the_last_member_of_the_isr_stays();
  void an_eligible_replica_leads_when_the_isr_is_empty();
  void an_unclean_restart_ends_eligibility();
  void records_of_the_quorum_move_those_of_the_controller();
  void who_never_heard_of_its_registration_names_the_epoch_before();
  void the_last_known_leader_comes_back();
  void who_is_eligible_is_reckoned_anew();
  void eligible_leaders_are_switched_on_and_off();
  void unclean_elections();
  void preferred_elections();
  void leaders_go_back_by_the_clock();
  void producer_ids_need_the_right_epoch();
  void unregistered_brokers();
  void topics_while_a_broker_is_dead();
  void controllers_register();
  void everything_is_refused_without_the_role();
  void equal_inputs_give_equal_logs();
  void empty_records_show_that_it_can_commit();
  void metadata_versions_go_back_where_nothing_is_lost();
};

void TestBrokers::a_broker_registers_and_is_unfenced() {
  Brokers cluster;
  const Offset at = cluster.end();
  const auto answer = cluster.register_broker(Brokers::registration(1));
  QCOMPARE(answer.error_code, ErrorCode::none);
  QCOMPARE(answer.broker_epoch, at.value());  // the offset of the record
  const BrokerImage* broker = cluster.image().find_broker(BrokerId(1));
  QVERIFY(broker != nullptr && broker->fenced);
  QCOMPARE(broker->features.at("metadata.version").max, kMetadataVersion);
  auto early = cluster.beat(1, false, false, at - 1);
  QVERIFY(!early.is_caught_up && early.is_fenced);
  auto unready = cluster.beat(1, true);
  QVERIFY(unready.is_caught_up && unready.is_fenced && !unready.should_shut_down);
  auto good = cluster.beat(1);
  QVERIFY(good.is_caught_up && !good.is_fenced);
  QVERIFY(!cluster.image().find_broker(BrokerId(1))->fenced);
  const Offset end = cluster.end();
  QVERIFY(!cluster.beat(1).is_fenced);
  QVERIFY(cluster.end() == end);  // a heartbeat that changes nothing writes nothing
}

void TestBrokers::registrations_are_checked_data() {
  QTest::addColumn<QString>("what");
  QTest::addColumn<int>("error");
  const auto row = [](const char* what, ErrorCode error) { QTest::newRow(what) << QString(what) << static_cast<int>(error); };
  row("bad_cluster", ErrorCode::inconsistent_cluster_id);
  row("only_metadata_version", ErrorCode::unsupported_version);
  row("no_metadata_version", ErrorCode::invalid_registration);
  row("metadata_version_too_low", ErrorCode::unsupported_version);
  row("no_directories", ErrorCode::invalid_registration);
  row("same_directory_twice", ErrorCode::invalid_registration);
  row("reserved_directory", ErrorCode::invalid_registration);
  row("taken_directory", ErrorCode::invalid_registration);
  row("unknown_feature", ErrorCode::none);
  row("unknown_feature_from_1", ErrorCode::unsupported_version);
  row("good", ErrorCode::none);
}
void TestBrokers::registrations_are_checked() {
  QFETCH(QString, what);
  QFETCH(int, error);
  Brokers cluster;
  cluster.up(2);
  wire::BrokerRegistrationRequest request = Brokers::registration(1);
  const auto drop = [&](std::string_view name, bool others) {
    std::erase_if(request.features, [&](const auto& feature) { return (feature.name == name) != others; });
  };
  if (what == "bad_cluster") {
    request.cluster_id = std::string("x");
  } else if (what == "only_metadata_version") {
    drop("metadata.version", true);
  } else if (what == "no_metadata_version") {
    drop("metadata.version", false);
  } else if (what == "metadata_version_too_low") {
    for (auto& feature : request.features) {
      feature.max_supported_version = feature.name == "metadata.version" ? 20 : feature.max_supported_version;
    }
  } else if (what == "no_directories") {
    request.log_dirs.clear();
  } else if (what == "same_directory_twice") {
    request.log_dirs.push_back(request.log_dirs.front());
  } else if (what == "reserved_directory") {
    request.log_dirs = {kDirectoryLost};
  } else if (what == "taken_directory") {
    request.log_dirs.push_back(Brokers::registration(2).log_dirs.front());
  } else if (what.startsWith("unknown_feature")) {
    auto& feature = request.features.emplace_back();
    feature.name = std::string("something.new");
    feature.min_supported_version = what.endsWith("1") ? 1 : 0;
    feature.max_supported_version = 3;
  }
  const Offset before = cluster.end();
  const auto answer = cluster.register_broker(request);
  QCOMPARE(static_cast<int>(answer.error_code), error);
  QCOMPARE(answer.broker_epoch >= 0, answer.error_code == ErrorCode::none);
  QCOMPARE(cluster.end() > before, answer.error_code == ErrorCode::none);
}

void TestBrokers::a_second_life_waits_for_the_end_of_the_first() {
  Brokers cluster;
  cluster.up(1);
  QCOMPARE(cluster.register_broker(Brokers::registration(1, 2)).error_code, ErrorCode::duplicate_broker_registration);
  cluster.now = cluster.now + Brokers::kSession;
  QCOMPARE(cluster.register_broker(Brokers::registration(1, 2)).error_code, ErrorCode::duplicate_broker_registration);
  cluster.now = cluster.now + milliseconds(1);
  QCOMPARE(cluster.register_broker(Brokers::registration(1, 2)).error_code, ErrorCode::none);
  QVERIFY(cluster.image().find_broker(BrokerId(1))->fenced);
  // One that was let go does not keep its next life waiting.
  QVERIFY(!cluster.beat(1).is_fenced);
  QVERIFY(cluster.beat(1, false, true).should_shut_down);
  QCOMPARE(cluster.register_broker(Brokers::registration(1, 3)).error_code, ErrorCode::none);
}

void TestBrokers::an_answer_that_got_lost_is_given_again() {
  Brokers cluster;
  cluster.up(1);
  const std::int64_t epoch = cluster.image().find_broker(BrokerId(1))->epoch;
  const auto again = cluster.register_broker(Brokers::registration(1));
  QCOMPARE(again.error_code, ErrorCode::none);
  QCOMPARE(again.broker_epoch, epoch);
  QVERIFY(!cluster.image().find_broker(BrokerId(1))->fenced);  // the same life goes on
}

void TestBrokers::heartbeats_are_checked() {
  Brokers cluster;
  cluster.up(1);
  wire::BrokerHeartbeatRequest request;
  request.broker_id = BrokerId(1);
  request.broker_epoch = 1;
  QCOMPARE(cluster.beat(request).error_code, ErrorCode::stale_broker_epoch);
  request.broker_id = BrokerId(78);
  QCOMPARE(cluster.beat(request).error_code, ErrorCode::stale_broker_epoch);
}

void TestBrokers::a_silent_broker_is_fenced_and_returns() {
  Brokers cluster;
  for (const std::int32_t id : {0, 1, 2}) {
    cluster.up(id);
  }
  cluster.create("t", {ids({0, 1, 2}), ids({1, 2, 0}), ids({2, 0, 1})});
  QCOMPARE(cluster.state(), "0 e0 [0 1 2] [] []");
  const Instant last = cluster.now;
  cluster.now = last + milliseconds(5000);
  cluster.beat(1);
  cluster.beat(2);
  cluster.now = last + Brokers::kSession;
  cluster.tick();
  QCOMPARE(cluster.state(), "0 e0 [0 1 2] [] []");
  QVERIFY(cluster.controller().next_deadline() == cluster.now + nanoseconds(1));
  cluster.now = cluster.now + nanoseconds(1);
  cluster.tick();
  QVERIFY(cluster.image().find_broker(BrokerId(0))->fenced);
  QCOMPARE(cluster.state("t", 0), "1 e1 [1 2] [] []");
  QCOMPARE(cluster.state("t", 1), "1 e0 [1 2] [] []");  // the epoch stays where the leader stays
  QCOMPARE(cluster.state("t", 2), "2 e0 [1 2] [] []");
  QCOMPARE(cluster.partition("t", 1).partition_epoch, 1);
  // It wakes up: nobody knows it under its epoch as a member, but it is registered and may be unfenced again.
  QVERIFY(!cluster.beat(0).is_fenced);
  QCOMPARE(cluster.state("t", 0), "1 e1 [1 2] [] []");
  QCOMPARE(cluster.in_sync(ids({1, 2, 0})), ErrorCode::none);
  QCOMPARE(cluster.state("t", 0), "1 e1 [0 1 2] [] []");
}

void TestBrokers::brokers_that_fall_silent_together() {
  Brokers cluster;
  for (const std::int32_t id : {0, 1, 2}) {
    cluster.up(id);
  }
  cluster.create("t", {ids({0, 1, 2})}, {{"min.insync.replicas", "2"}});
  cluster.silence({});
  QCOMPARE(cluster.state(), "-1 e3 [] [1 2] [2]");
  for (const std::int32_t id : {0, 1, 2}) {
    QVERIFY(cluster.image().find_broker(BrokerId(id))->fenced);
  }
  QVERIFY(cluster.controller().next_deadline() > cluster.now + Brokers::kSession);
}

void TestBrokers::a_controlled_shutdown_moves_leaderships_first() {
  Brokers cluster;
  for (const std::int32_t id : {0, 1, 2}) {
    cluster.up(id);
  }
  cluster.create("t", {ids({0, 1, 2})});
  const Offset before = cluster.end();
  auto first = cluster.beat(0, false, true);
  QVERIFY(!first.should_shut_down && !first.is_fenced);
  QVERIFY(cluster.image().find_broker(BrokerId(0))->in_controlled_shutdown);
  QCOMPARE(cluster.state(), "1 e1 [1 2] [] []");
  // Not before the others know: broker 2 has not replayed it yet.
  cluster.beat(1);
  cluster.beat(2, false, false, before - 1);
  QVERIFY(!cluster.beat(0, false, true).should_shut_down);
  // Nor does the leader take it in again.
  QCOMPARE(cluster.in_sync(ids({1, 2, 0})), ErrorCode::ineligible_replica);
  cluster.beat(2);
  auto last = cluster.beat(0, false, true);
  QVERIFY(last.should_shut_down && last.is_fenced);
  QVERIFY(cluster.image().find_broker(BrokerId(0))->fenced);
  cluster.up(0, 2, true);
  QVERIFY(!cluster.image().find_broker(BrokerId(0))->in_controlled_shutdown);
  QCOMPARE(cluster.state(), "1 e1 [1 2] [] []");
}

void TestBrokers::who_is_fenced_may_stop_at_once() {
  Brokers cluster;
  cluster.register_broker(Brokers::registration(1));
  QVERIFY(cluster.beat(1, true, true).should_shut_down);
  cluster.up(2);
  const auto fenced = cluster.beat(2, true);
  QVERIFY(fenced.is_fenced && !fenced.should_shut_down && cluster.image().find_broker(BrokerId(2))->fenced);
  cluster.up(3);
  const auto leads_nothing = cluster.beat(3, false, true);
  QVERIFY(leads_nothing.should_shut_down);
}

void TestBrokers::a_new_controller_gives_fresh_sessions() {
  Brokers cluster;
  for (const std::int32_t id : {0, 1}) {
    cluster.up(id);
  }
  cluster.create("t", {ids({0, 1})});
  cluster.now = cluster.now + milliseconds(8999);
  cluster.new_controller();
  QVERIFY(cluster.controller().next_deadline() <= cluster.now);  // it wants its first tick
  cluster.tick();
  cluster.now = cluster.now + milliseconds(5000);
  cluster.tick();
  QVERIFY(!cluster.image().find_broker(BrokerId(0))->fenced);
  cluster.beat(1);
  cluster.now = cluster.now + milliseconds(4001);
  cluster.tick();
  QVERIFY(cluster.image().find_broker(BrokerId(0))->fenced && !cluster.image().find_broker(BrokerId(1))->fenced);
  QCOMPARE(cluster.state(), "1 e1 [1] [] []");
}

void TestBrokers::without_elr_the_last_member_of_the_isr_stays() {
  Brokers cluster({.elr = false});
  for (const std::int32_t id : {0, 1}) {
    cluster.up(id);
  }
  cluster.create("t", {ids({0, 1})}, {{"min.insync.replicas", "2"}});
  cluster.silence({1});
  QCOMPARE(cluster.state(), "1 e1 [1] [] []");
  cluster.silence({});
  QCOMPARE(cluster.state(), "-1 e2 [1] [] []");
  cluster.up(0, 2);
  QCOMPARE(cluster.state(), "-1 e2 [1] [] []");  // it was not in sync
  cluster.up(1, 2);
  QCOMPARE(cluster.state(), "1 e3 [1] [] []");
}

void TestBrokers::an_eligible_replica_leads_when_the_isr_is_empty() {
  // min.insync.replicas 2: the second that leaves stays eligible, and leads when the leader is gone as well.
  Brokers cluster;
  for (const std::int32_t id : {0, 1, 2}) {
    cluster.up(id);
  }
  cluster.create("t", {ids({0, 1, 2})}, {{"min.insync.replicas", "2"}});
  cluster.stop(1, {0, 2});
  QCOMPARE(cluster.state(), "0 e0 [0 2] [] []");
  cluster.stop(2, {0});
  QCOMPARE(cluster.state(), "0 e0 [0] [2] []");
  cluster.up(1, 2, true);
  QCOMPARE(cluster.in_sync(ids({0, 1})), ErrorCode::none);
  QCOMPARE(cluster.state(), "0 e0 [0 1] [] []");  // enough again
  cluster.stop(1, {0});
  QCOMPARE(cluster.state(), "0 e0 [0] [1] []");
  cluster.stop(0, {});
  QCOMPARE(cluster.state(), "-1 e1 [] [0 1] [0]");
  cluster.up(1, 3, true);
  QCOMPARE(cluster.state(), "1 e2 [1] [0] []");
  cluster.up(0, 2, true);
  cluster.up(2, 2, true);
  QCOMPARE(cluster.in_sync(ids({1, 0, 2})), ErrorCode::none);
  QCOMPARE(cluster.state(), "1 e2 [0 1 2] [] []");
}

void TestBrokers::an_unclean_restart_ends_eligibility() {
  Brokers cluster;
  for (const std::int32_t id : {1, 2}) {
    cluster.up(id);
  }
  cluster.create("t", {ids({1, 2})}, {{"min.insync.replicas", "2"}});
  cluster.silence({1});
  QCOMPARE(cluster.state(), "1 e0 [1] [2] []");
  cluster.silence({});
  QCOMPARE(cluster.state(), "-1 e1 [] [1 2] [1]");
  QCOMPARE(cluster.register_broker(Brokers::registration(2, 2)).error_code, ErrorCode::none);  // names no former epoch
  QCOMPARE(cluster.state(), "-1 e1 [] [1] [1]");
  cluster.beat(2);
  QCOMPARE(cluster.state(), "-1 e1 [] [1] [1]");
  cluster.up(1, 2, true);
  QCOMPARE(cluster.state(), "1 e2 [1] [] []");
}

// Seed 1009930 of the simulator: a voter was added, and from then on answers came one record before what they spoke of was committed.
void TestBrokers::records_of_the_quorum_move_those_of_the_controller() {
  Brokers cluster;
  const Offset end = cluster.end();
  Controller& controller = cluster.controller();
  QCOMPARE(controller.next_offset(), end);
  controller.log_ends_at(end + 2);
  std::optional<wire::BrokerRegistrationResponse> answer;
  controller.broker_registration(Brokers::registration(1), cluster.now, [&](wire::BrokerRegistrationResponse response) { answer = std::move(response); });
  QCOMPARE(controller.take_records().size(), std::size_t{1});
  QCOMPARE(controller.next_offset(), end + 3);
  controller.committed(end + 2);
  QVERIFY(!answer);
  controller.committed(end + 3);
  QVERIFY(answer.has_value());
  QCOMPARE(answer->broker_epoch, (end + 2).value());
}

// Seed 1010982 of the simulator: a broker that had stopped cleanly began, registered, ended before the answer came, and began again.
void TestBrokers::who_never_heard_of_its_registration_names_the_epoch_before() {
  Brokers cluster;
  for (const std::int32_t id : {1, 2}) {
    cluster.up(id);
  }
  cluster.create("t", {ids({1, 2})}, {{"min.insync.replicas", "2"}});
  cluster.stop(2, {1});
  cluster.stop(1, {});
  QCOMPARE(cluster.state(), "-1 e1 [] [1 2] [1]");
  auto comes = [&, life = std::uint64_t{2}](std::int64_t names) mutable {
    wire::BrokerRegistrationRequest request = Brokers::registration(2, life++);
    request.previous_broker_epoch = names;
    cluster.silence({});  // the session of the life before ends
    QCOMPARE(cluster.register_broker(request).error_code, ErrorCode::none);
  };
  const std::int64_t stopped = cluster.image().find_broker(BrokerId(2))->epoch;
  for (int i = 0; i < 3; ++i) {
    comes(stopped);
    QCOMPARE(cluster.state(), "-1 e1 [] [1 2] [1]");
  }
  // Once it has been unfenced it has a life that counts.
  cluster.beat(2);
  QCOMPARE(cluster.state(), "2 e2 [2] [1] []");
  comes(stopped);
  QCOMPARE(cluster.state(), "-1 e3 [] [1] [2]");
}

void TestBrokers::the_last_known_leader_comes_back() {
  Brokers cluster;
  cluster.up(1);
  cluster.create("t", {ids({1})});
  cluster.silence({});
  QCOMPARE(cluster.state(), "-1 e1 [] [1] [1]");
  // Its log may have lost records: nobody is eligible any more, and it leads all the same, recovering.
  QCOMPARE(cluster.register_broker(Brokers::registration(1, 2)).error_code, ErrorCode::none);
  QCOMPARE(cluster.state(), "-1 e1 [] [] [1]");
  cluster.beat(1);
  QCOMPARE(cluster.state(), "1 e2 [1] [] []");
  QCOMPARE(int{cluster.partition().leader_recovery_state}, 1);
}

void TestBrokers::who_is_eligible_is_reckoned_anew() {
  Brokers cluster;
  for (const std::int32_t id : {0, 1}) {
    cluster.up(id);
  }
  for (const char* name : {"t", "u"}) {
    cluster.create(name, {ids({0, 1})}, {{"min.insync.replicas", "2"}});
  }
  cluster.silence({0});
  QCOMPARE(cluster.state(), "0 e0 [0] [1] []");
  const auto set = [&](std::int8_t type, const std::string& resource, const std::string& key, std::optional<std::string> value) {
    ResourceEdit edit;
    edit.type = type;
    edit.name = resource;
    edit.edits.push_back({key, static_cast<std::int8_t>(value ? 0 : 1), value});
    return cluster
        .ask<std::vector<Refusal>>([&](auto done) { cluster.controller().alter_configs({edit}, false, std::move(done)); })
        .front()
        .error;
  };
  QCOMPARE(set(2, "t", "retention.ms", "1000"), ErrorCode::none);
  QCOMPARE(cluster.state(), "0 e0 [0] [1] []");
  QCOMPARE(set(2, "t", "min.insync.replicas", "1"), ErrorCode::none);
  QCOMPARE(cluster.state(), "0 e0 [0] [] []");
  QCOMPARE(cluster.state("u"), "0 e0 [0] [1] []");
  QCOMPARE(set(4, "", "min.insync.replicas", "2"), ErrorCode::none);
  QCOMPARE(cluster.state("u"), "0 e0 [0] [] []");
  QCOMPARE(set(4, "", "min.insync.replicas", std::nullopt), ErrorCode::invalid_config);
}

void TestBrokers::eligible_leaders_are_switched_on_and_off() {
  Brokers cluster({.elr = false, .configs = {{"min.insync.replicas", "2"}}});
  wire::BrokerRegistrationRequest old = Brokers::registration(5);
  std::erase_if(old.features, [](const auto& feature) { return feature.name == "eligible.leader.replicas.version"; });
  QCOMPARE(cluster.register_broker(old).error_code, ErrorCode::none);
  for (const std::int32_t id : {0, 1}) {
    cluster.up(id);
  }
  cluster.create("t", {ids({0, 1})});
  const std::string feature = "eligible.leader.replicas.version";
  const auto update = [&](std::int16_t level, std::int8_t type) { return cluster.update_feature(feature, level, type).error_code; };
  const auto level = [&] { return int{cluster.image().feature_level(feature)}; };
  QCOMPARE(update(1, 1), ErrorCode::invalid_update_version);  // broker 5 cannot
  cluster.controller().unregister_broker(BrokerId(5), [](const Refusal&) {});
  cluster.run();
  QCOMPARE(update(1, 2), ErrorCode::invalid_update_version);  // that is no downgrade
  QCOMPARE(update(1, 1), ErrorCode::none);
  QCOMPARE(level(), 1);
  const ConfigMap* of_all = cluster.image().find_configs({ConfigResourceType::broker, ""});
  QVERIFY(of_all != nullptr && of_all->at("min.insync.replicas") == "2");  // what was configured is written down
  cluster.silence({0});
  QCOMPARE(cluster.state(), "0 e0 [0] [1] []");
  QCOMPARE(update(0, 1), ErrorCode::invalid_update_version);
  QCOMPARE(update(0, 2), ErrorCode::none);
  QCOMPARE(level(), 0);
  QCOMPARE(cluster.state(), "0 e0 [0] [] []");
}

void TestBrokers::unclean_elections() {
  Brokers cluster({.configs = {{"unclean.leader.election.interval.ms", "2000"}}});
  for (const std::int32_t id : {0, 1, 2}) {
    cluster.up(id);
  }
  for (const char* name : {"t", "auto"}) {
    cluster.create(name, {ids({0, 1, 2})});
    QCOMPARE(cluster.in_sync(ids({0}), name), ErrorCode::none);
  }
  cluster.stop(1, {0, 2});
  cluster.stop(0, {2});
  QCOMPARE(cluster.state(), "-1 e1 [] [0] [0]");
  QCOMPARE(cluster.elect(0), ErrorCode::preferred_leader_not_available);
  cluster.set_topic_config("auto", "unclean.leader.election.enable", "true");
  cluster.now = cluster.now + milliseconds(2000);
  cluster.tick();
  QCOMPARE(cluster.state("auto"), "2 e2 [2] [] []");
  QCOMPARE(int{cluster.partition("auto").leader_recovery_state}, 1);
  QCOMPARE(cluster.state(), "-1 e1 [] [0] [0]");  // not allowed there
  QCOMPARE(cluster.elect(1), ErrorCode::none);     // by hand it is
  QCOMPARE(cluster.state(), "2 e2 [2] [] []");
  QCOMPARE(cluster.elect(1), ErrorCode::election_not_needed);
  // Where it is allowed it happens when the last one is fenced, too.
  cluster.up(0, 2, true);
  cluster.silence({0});
  QCOMPARE(cluster.state("auto"), "0 e3 [0] [] []");
  QCOMPARE(cluster.state(), "-1 e3 [] [2] [2]");
  cluster.silence({});
  QCOMPARE(cluster.elect(1), ErrorCode::eligible_leaders_not_available);
}

void TestBrokers::preferred_elections() {
  Brokers cluster;
  for (const std::int32_t id : {0, 1, 2}) {
    cluster.up(id);
  }
  cluster.create("t", {ids({0, 1, 2})});
  QCOMPARE(cluster.elect(0), ErrorCode::election_not_needed);
  cluster.stop(0, {1, 2});
  QCOMPARE(cluster.elect(0), ErrorCode::preferred_leader_not_available);
  cluster.up(0, 2, true);
  QCOMPARE(cluster.elect(0), ErrorCode::preferred_leader_not_available);  // live, not in sync
  QCOMPARE(cluster.in_sync(ids({1, 2, 0})), ErrorCode::none);
  QCOMPARE(cluster.elect(0), ErrorCode::none);
  QCOMPARE(cluster.state(), "0 e2 [0 1 2] [] []");
}

void TestBrokers::leaders_go_back_by_the_clock() {
  for (const bool enabled : {true, false}) {
    Brokers cluster({.configs = {{"leader.imbalance.check.interval.seconds", "5"},
                                 {"auto.leader.rebalance.enable", enabled ? "true" : "false"},
                                 {"broker.session.timeout.ms", "60000"}}});
    for (const std::int32_t id : {0, 1}) {
      cluster.up(id);
    }
    const std::size_t many = 1500;  // more than one round
    cluster.create("t", std::vector<std::vector<BrokerId>>(many, ids({0, 1})));
    cluster.stop(0, {1});
    cluster.up(0, 2, true);
    wire::AlterPartitionRequest request = cluster.isr_request(ids({1, 0}));
    auto& list = request.topics.front().partitions;
    for (std::size_t i = 1; i < many; ++i) {
      list.push_back(list.front());
      list.back().partition_index = PartitionIndex(static_cast<std::int32_t>(i));
    }
    QCOMPARE(cluster.alter(request).error_code, ErrorCode::none);
    const auto led_by_0 = [&] {
      const auto& partitions = cluster.image().find_topic("t")->partitions;
      return static_cast<std::size_t>(std::count_if(partitions.begin(), partitions.end(),
                                                    [](const PartitionImage& p) { return p.leader == BrokerId(0); }));
    };
    QCOMPARE(led_by_0(), std::size_t{0});
    cluster.now = cluster.now + seconds(5);
    cluster.tick();
    QCOMPARE(led_by_0(), enabled ? std::size_t{1000} : std::size_t{0});
    cluster.now = cluster.now + milliseconds(10);
    cluster.tick();
    QCOMPARE(led_by_0(), enabled ? many : std::size_t{0});
  }
}

void TestBrokers::producer_ids_need_the_right_epoch() {
  Brokers cluster;
  cluster.up(1);
  const auto allocate = [&](std::int32_t id, std::int64_t epoch) {
    wire::AllocateProducerIdsRequest request;
    request.broker_id = BrokerId(id);
    request.broker_epoch = epoch;
    return cluster.ask<wire::AllocateProducerIdsResponse>([&](auto done) {
      cluster.controller().allocate_producer_ids(request, Controller::Done<wire::AllocateProducerIdsResponse>(std::move(done)));
    });
  };
  const std::int64_t epoch = cluster.image().find_broker(BrokerId(1))->epoch;
  QCOMPARE(allocate(1, epoch + 1).error_code, ErrorCode::stale_broker_epoch);
  QCOMPARE(allocate(78, 1).error_code, ErrorCode::stale_broker_epoch);
  const auto first = allocate(1, epoch);
  const auto second = allocate(1, epoch);
  QVERIFY(first.error_code == ErrorCode::none && second.error_code == ErrorCode::none);
  QCOMPARE(first.producer_id_len, 1000);
  QCOMPARE(second.producer_id_start.value(), first.producer_id_start.value() + 1000);
}

void TestBrokers::unregistered_brokers() {
  Brokers cluster;
  cluster.up(0);
  cluster.up(1);
  cluster.create("t", {ids({0, 1})});
  const auto unregister = [&](std::int32_t id) {
    return cluster
        .ask<Refusal>([&](auto done) { cluster.controller().unregister_broker(BrokerId(id), std::move(done)); })
        .error;
  };
  QCOMPARE(unregister(0), ErrorCode::none);
  QVERIFY(cluster.image().find_broker(BrokerId(0)) == nullptr);
  QCOMPARE(cluster.state(), "1 e1 [1] [] []");
  QCOMPARE(unregister(0), ErrorCode::broker_id_not_registered);
  QCOMPARE(cluster.beat(0).error_code, ErrorCode::stale_broker_epoch);
  cluster.silence({1});  // nothing is left of its session
  cluster.up(0, 1);
  QCOMPARE(cluster.in_sync(ids({1, 0})), ErrorCode::none);
}

void TestBrokers::topics_while_a_broker_is_dead() {
  Brokers cluster;
  for (const std::int32_t id : {0, 1, 2}) {
    cluster.up(id);
  }
  cluster.silence({0, 1});
  const auto create = [&](std::int16_t replicas, std::vector<BrokerId> assigned = {}) {
    wire::CreateTopicsRequest request;
    auto& topic = request.topics.emplace_back();
    static int count = 0;
    topic.name = "n" + std::to_string(count++);
    topic.num_partitions = assigned.empty() ? 3 : -1;
    topic.replication_factor = assigned.empty() ? replicas : std::int16_t{-1};
    if (!assigned.empty()) {
      auto& row = topic.assignments.emplace_back();
      row.partition_index = PartitionIndex(0);
      row.broker_ids = std::move(assigned);
    }
    return cluster.ask<wire::CreateTopicsResponse>(
        [&](auto done) { cluster.controller().create_topics(request, std::move(done)); }).topics.front();
  };
  const auto full = create(3);
  QCOMPARE(full.error_code, ErrorCode::none);
  for (const PartitionImage& partition : cluster.image().find_topic(full.name)->partitions) {
    QVERIFY(partition.replicas.back() == BrokerId(2) && partition.isr.size() == 2);
  }
  const auto two = create(2);
  QCOMPARE(two.error_code, ErrorCode::none);
  for (const PartitionImage& partition : cluster.image().find_topic(two.name)->partitions) {
    QVERIFY(std::find(partition.replicas.begin(), partition.replicas.end(), BrokerId(2)) == partition.replicas.end());
  }
  QCOMPARE(create(4).error_code, ErrorCode::invalid_replication_factor);
  const auto mixed = create(0, ids({2, 0}));
  QCOMPARE(mixed.error_code, ErrorCode::none);
  QCOMPARE(cluster.state(mixed.name), "0 e0 [0] [] []");
  QCOMPARE(create(0, ids({2})).error_code, ErrorCode::invalid_replica_assignment);
}

void TestBrokers::controllers_register() {
  Brokers cluster;
  wire::ControllerRegistrationRequest request;
  request.controller_id = 5;
  request.incarnation_id = Uuid{5, 5};
  auto& listener = request.listeners.emplace_back();
  listener.name = std::string("CONTROLLER");
  listener.host = std::string("h");
  listener.port = 9093;
  auto& feature = request.features.emplace_back();
  feature.name = std::string("metadata.version");
  feature.min_supported_version = 7;
  feature.max_supported_version = 33;
  const auto answer = cluster.ask<wire::ControllerRegistrationResponse>(
      [&](auto done) { cluster.controller().controller_registration(request, std::move(done)); });
  QCOMPARE(answer.error_code, ErrorCode::none);
  const auto at = cluster.image().controllers().find(BrokerId(5));
  QVERIFY(at != cluster.image().controllers().end());
  QCOMPARE(at->second.listeners.front().port, std::uint16_t{9093});
  QCOMPARE(at->second.features.at("metadata.version").min, std::int16_t{7});
  wire::UnregisterControllerRecord gone;
  gone.controller_id = 5;
  cluster.controller().write_records({Record(gone)});
  cluster.run();
  QVERIFY(cluster.image().controllers().empty());
}

void TestBrokers::everything_is_refused_without_the_role() {
  Brokers cluster;
  cluster.up(1);
  cluster.create("t", {ids({1})});
  const wire::AlterPartitionRequest isr = cluster.isr_request(ids({1}));
  cluster.controller().resign();
  QCOMPARE(cluster.register_broker(Brokers::registration(1)).error_code, ErrorCode::not_controller);
  QCOMPARE(cluster.beat(1).error_code, ErrorCode::not_controller);
  QCOMPARE(cluster.alter(isr).error_code, ErrorCode::not_controller);
  wire::AllocateProducerIdsRequest allocate;
  QCOMPARE(cluster.ask<wire::AllocateProducerIdsResponse>([&](auto done) {
    cluster.controller().allocate_producer_ids(allocate, Controller::Done<wire::AllocateProducerIdsResponse>(std::move(done)));
  }).error_code, ErrorCode::not_controller);
  wire::AssignReplicasToDirsRequest assign;
  QCOMPARE(cluster.ask<wire::AssignReplicasToDirsResponse>([&](auto done) {
    cluster.controller().assign_replicas_to_dirs(assign, std::move(done));
  }).error_code, ErrorCode::not_controller);
  wire::ControllerRegistrationRequest controller;
  QCOMPARE(cluster.ask<wire::ControllerRegistrationResponse>([&](auto done) {
    cluster.controller().controller_registration(controller, std::move(done));
  }).error_code, ErrorCode::not_controller);
  wire::ListPartitionReassignmentsRequest list;
  QCOMPARE(cluster.ask<wire::ListPartitionReassignmentsResponse>([&](auto done) {
    cluster.controller().list_partition_reassignments(list, std::move(done));
  }).error_code, ErrorCode::not_controller);
  cluster.silence({});
  QVERIFY(cluster.controller().next_deadline() == kNever);
  QVERIFY(!cluster.image().find_broker(BrokerId(1))->fenced);
}

void TestBrokers::equal_inputs_give_equal_logs() {
  const auto play = [] {
    Brokers cluster({.seed = 7});
    for (const std::int32_t id : {0, 1, 2, 3, 4}) {
      cluster.up(id);
    }
    wire::CreateTopicsRequest request;
    for (const char* name : {"a", "b", "c"}) {
      auto& topic = request.topics.emplace_back();
      topic.name = std::string(name);
      topic.num_partitions = 20;
      topic.replication_factor = 3;
    }
    cluster.controller().create_topics(request, [](const wire::CreateTopicsResponse&) {});
    cluster.run();
    cluster.silence({1, 2, 4});
    cluster.up(0, 2);
    cluster.stop(4, {0, 1, 2});
    cluster.new_controller();
    cluster.tick();
    cluster.silence({0, 1});
    return cluster.log;
  };
  const std::vector<std::string> first = play();
  QVERIFY(first.size() > 100);
  QVERIFY(first == play());
}

// Apache Kafka 4.4.0 writes one every metadata.max.idle.interval.ms, whatever else happens, each a batch of its own.
void TestBrokers::empty_records_show_that_it_can_commit() {
  const auto empty_ones = [](const Brokers& cluster) {
    std::size_t count = 0;
    for (const std::string& bytes : cluster.log) {
      const Result<Record> record = decode_record(Bytes::copy_of(bytes));
      HW_ASSERT(record.has_value(), "records decode");
      count += std::holds_alternative<wire::NoOpRecord>(*record) ? 1U : 0U;
    }
    return count;
  };
  const auto run_for = [](Brokers& cluster, Duration time) {
    const Instant until = cluster.now + time;
    while (cluster.controller().next_deadline() <= until) {
      cluster.now = std::max(cluster.now, cluster.controller().next_deadline());
      cluster.controller().tick(cluster.now);
      const std::vector<std::vector<Record>> batches = cluster.controller().take_records();
      QVERIFY(batches.size() <= 1 && (batches.empty() || batches.front().size() == 1));
      cluster.commit(batches);
    }
    cluster.now = until;
  };
  Brokers cluster({.elr = true, .configs = {{"metadata.max.idle.interval.ms", "500"}}});
  cluster.controller().tick(cluster.now);
  run_for(cluster, milliseconds(499));
  QCOMPARE(empty_ones(cluster), std::size_t{0});
  run_for(cluster, milliseconds(1));
  QCOMPARE(empty_ones(cluster), std::size_t{1});
  run_for(cluster, seconds(10));
  QCOMPARE(empty_ones(cluster), std::size_t{21});
  // After a pause it goes on, and does not make up for what it missed.
  cluster.now = cluster.now + seconds(60);
  run_for(cluster, milliseconds(900));
  QCOMPARE(empty_ones(cluster), std::size_t{23});
  // Another controller has its own rhythm.
  cluster.new_controller();
  cluster.controller().tick(cluster.now);
  run_for(cluster, milliseconds(1000));
  QCOMPARE(empty_ones(cluster), std::size_t{25});

  Brokers silent({.elr = true, .configs = {{"metadata.max.idle.interval.ms", "0"}}});
  silent.controller().tick(silent.now);
  run_for(silent, seconds(10));
  QCOMPARE(empty_ones(silent), std::size_t{0});
}

// For every level: how far down Apache Kafka 4.4.0 lets a cluster go that was formatted at it, by a safe downgrade and by an unsafe one.
void TestBrokers::metadata_versions_go_back_where_nothing_is_lost() {
  const std::map<std::int16_t, std::int16_t> lowest{{33, 33}, {32, 32}, {31, 30}, {30, 30}, {29, 23}, {28, 23}, {27, 23},
                                                    {26, 23}, {25, 23}, {24, 23}, {23, 23}, {22, 17}, {21, 17}, {20, 17},
                                                    {19, 17}, {18, 17}, {17, 17}, {16, 15}, {15, 15}, {14, 14}, {13, 13},
                                                    {12, 11}, {11, 11}, {10, 8},  {9, 8},   {8, 8},   {7, 7}};
  for (std::int16_t level = 7; level <= kMetadataVersion; ++level) {
    for (std::int16_t wanted = 7; wanted < level; ++wanted) {
      for (const std::int8_t type : {std::int8_t{2}, std::int8_t{3}}) {
        Brokers cluster({.elr = false, .metadata_version = level});
        cluster.up(1);
        const wire::UpdateFeaturesResponse answer = cluster.update_feature("metadata.version", wanted, type);
        const bool granted = wanted >= lowest.at(level);
        const std::string what = std::to_string(level) + " to " + std::to_string(wanted);
        QVERIFY2((answer.error_code == ErrorCode::none) == granted, what.c_str());
        if (!granted) {
          QCOMPARE(answer.error_code, ErrorCode::invalid_update_version);
          QVERIFY2(answer.error_message->find("metadata could be lost") != std::string::npos, answer.error_message->c_str());
        }
        QCOMPARE(cluster.image().feature_level("metadata.version"), granted ? wanted : level);
        // And up again.
        QCOMPARE(cluster.update_feature("metadata.version", kMetadataVersion, 1).error_code, ErrorCode::none);
        QCOMPARE(cluster.image().feature_level("metadata.version"), kMetadataVersion);
      }
    }
  }
}

QTEST_APPLESS_MAIN(TestBrokers)
#include "tst_brokers.moc"
