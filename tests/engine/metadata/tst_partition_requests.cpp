// SPDX-License-Identifier: Apache-2.0
// What leaders, brokers and administrators ask of single partitions: the ISR, directories, reassignments. Answers and
// states are those that 4.4.0 gave (shared probes of a cluster of three).
#include <QtTest/QTest>

#include "tests/engine/metadata/cluster_fixture.h"

using namespace hw;
using namespace hw::metadata;
using namespace hw::metadata::test;

class TestPartitionRequests : public QObject {
  Q_OBJECT
 private slots:
  void alter_partition_is_checked_data();
  void alter_partition_is_checked();
  void the_isr_shrinks_and_grows();
  void a_recovering_leader_recovers();
  void reassignments_as_the_reference();
  void a_reassignment_is_given_up();
  void a_reassignment_that_takes_the_leadership();
  void reassignments_are_listed();
  void directories_fail();
  void replicas_are_assigned_to_directories();
};

void TestPartitionRequests::alter_partition_is_checked_data() {
  QTest::addColumn<QString>("what");
  QTest::addColumn<int>("whole");
  QTest::addColumn<int>("item");
  const auto row = [](const char* what, ErrorCode item, ErrorCode whole = ErrorCode::none) {
    QTest::newRow(what) << QString(what) << static_cast<int>(whole) << static_cast<int>(item);
  };
  row("good", ErrorCode::none);
  row("old_broker_epoch", ErrorCode::none, ErrorCode::stale_broker_epoch);
  row("unknown_broker", ErrorCode::none, ErrorCode::stale_broker_epoch);
  row("unknown_topic", ErrorCode::unknown_topic_id);
  row("unknown_partition", ErrorCode::unknown_topic_or_partition);
  row("old_leader_epoch", ErrorCode::fenced_leader_epoch);
  row("future_leader_epoch", ErrorCode::not_controller);
  row("old_partition_epoch", ErrorCode::invalid_update_version);
  row("future_partition_epoch", ErrorCode::not_controller);
  row("not_the_leader", ErrorCode::invalid_request);
  row("not_a_replica", ErrorCode::invalid_request);
  row("member_twice", ErrorCode::invalid_request);
  row("without_the_leader", ErrorCode::invalid_request);
  row("empty", ErrorCode::invalid_request);
  row("recovering_again", ErrorCode::invalid_request);
  row("fenced_member", ErrorCode::ineligible_replica);
  row("old_member_epoch", ErrorCode::ineligible_replica);
  row("any_member_epoch", ErrorCode::none);
  row("version_2", ErrorCode::none);
}
void TestPartitionRequests::alter_partition_is_checked() {
  QFETCH(QString, what);
  QFETCH(int, whole);
  QFETCH(int, item);
  Brokers cluster;
  for (const std::int32_t id : {0, 1, 2, 3}) {
    cluster.up(id);
  }
  cluster.create("t", {ids({0, 1, 2})});
  cluster.stop(0, {1, 2, 3});
  if (what != "fenced_member") {
    cluster.up(0, 2, true);
  }
  QCOMPARE(cluster.state(), "1 e1 [1 2] [] []");
  wire::AlterPartitionRequest request = cluster.isr_request(ids({1, 2, 0}));
  auto& asked = request.topics.front().partitions.front();
  std::int16_t version = 3;
  if (what == "old_broker_epoch") {
    request.broker_epoch -= 1;
  } else if (what == "unknown_broker") {
    request.broker_id = BrokerId(78);
  } else if (what == "unknown_topic") {
    request.topics.front().topic_id = Uuid{1, 2};
  } else if (what == "unknown_partition") {
    asked.partition_index = PartitionIndex(1);
  } else if (what == "old_leader_epoch") {
    asked.leader_epoch = LeaderEpoch(0);
  } else if (what == "future_leader_epoch") {
    asked.leader_epoch = LeaderEpoch(2);
  } else if (what == "old_partition_epoch") {
    asked.partition_epoch -= 1;
  } else if (what == "future_partition_epoch") {
    asked.partition_epoch += 1;
  } else if (what == "not_the_leader") {
    request.broker_id = BrokerId(2);
    request.broker_epoch = cluster.image().find_broker(BrokerId(2))->epoch;
  } else if (what == "not_a_replica") {
    asked.new_isr_with_epochs.back().broker_id = BrokerId(3);
  } else if (what == "member_twice") {
    asked.new_isr_with_epochs.push_back(asked.new_isr_with_epochs.back());
  } else if (what == "without_the_leader") {
    asked.new_isr_with_epochs.erase(asked.new_isr_with_epochs.begin());
  } else if (what == "empty") {
    asked.new_isr_with_epochs.clear();
  } else if (what == "recovering_again") {
    asked.leader_recovery_state = 1;
    asked.new_isr_with_epochs.resize(1);
  } else if (what == "old_member_epoch") {
    asked.new_isr_with_epochs.back().broker_epoch -= 1;
  } else if (what == "any_member_epoch") {
    asked.new_isr_with_epochs.back().broker_epoch = -1;
  } else if (what == "version_2") {
    version = 2;
    asked.new_isr = ids({1, 2, 0});
    asked.new_isr_with_epochs.clear();
  }
  const Offset before = cluster.end();
  const wire::AlterPartitionResponse answer = cluster.alter(request, version);
  QCOMPARE(static_cast<int>(answer.error_code), whole);
  if (whole != 0) {
    QVERIFY(answer.topics.empty());
  } else {
    const auto& got = answer.topics.front().partitions.front();
    QCOMPARE(static_cast<int>(got.error_code), item);
    if (item == 0) {
      QVERIFY(got.isr == ids({1, 2, 0}) && got.leader_id == BrokerId(1) && got.leader_epoch == LeaderEpoch(1));
      QCOMPARE(got.partition_epoch, 2);
    }
  }
  QCOMPARE(cluster.end() > before, whole == 0 && item == 0);
}

void TestPartitionRequests::the_isr_shrinks_and_grows() {
  Brokers cluster;
  for (const std::int32_t id : {0, 1, 2}) {
    cluster.up(id);
  }
  cluster.create("t", {ids({0, 1, 2})}, {{"min.insync.replicas", "2"}});
  QCOMPARE(cluster.in_sync(ids({0, 1})), ErrorCode::none);
  QCOMPARE(cluster.state(), "0 e0 [0 1] [] []");
  QCOMPARE(cluster.in_sync(ids({0})), ErrorCode::none);
  QCOMPARE(cluster.state(), "0 e0 [0] [1] []");  // 2 left while there were enough without it
  const Offset before = cluster.end();
  QCOMPARE(cluster.in_sync(ids({0})), ErrorCode::none);
  QVERIFY(cluster.end() == before);
  QCOMPARE(cluster.in_sync(ids({0, 2})), ErrorCode::none);
  QCOMPARE(cluster.state(), "0 e0 [0 2] [] []");
}

void TestPartitionRequests::a_recovering_leader_recovers() {
  Brokers cluster;
  cluster.up(0);
  cluster.up(1);
  cluster.create("t", {ids({0, 1})});
  QCOMPARE(cluster.in_sync(ids({0})), ErrorCode::none);
  cluster.silence({1});
  QCOMPARE(cluster.elect(1), ErrorCode::none);
  QCOMPARE(cluster.state(), "1 e2 [1] [] []");
  QCOMPARE(int{cluster.partition().leader_recovery_state}, 1);
  cluster.up(0, 2);
  wire::AlterPartitionRequest request = cluster.isr_request(ids({1, 0}));
  request.topics.front().partitions.front().leader_recovery_state = 1;
  QCOMPARE(cluster.alter(request).topics.front().partitions.front().error_code, ErrorCode::invalid_request);
  request = cluster.isr_request(ids({1}));
  const auto answer = cluster.alter(request).topics.front().partitions.front();
  QCOMPARE(answer.error_code, ErrorCode::none);
  QCOMPARE(int{answer.leader_recovery_state}, 0);
  QCOMPARE(int{cluster.partition().leader_recovery_state}, 0);
  QCOMPARE(cluster.state(), "1 e2 [1] [] []");
}

void TestPartitionRequests::reassignments_as_the_reference() {
  Brokers cluster;
  for (const std::int32_t id : {0, 1, 2}) {
    cluster.up(id);
  }
  cluster.create("t", {ids({0, 1})});
  QCOMPARE(cluster.reassign(ids({0, 1, 2}), false), ErrorCode::invalid_replication_factor);
  QCOMPARE(cluster.reassign(ids({0, 1})), ErrorCode::none);
  QCOMPARE(cluster.reassign(ids({0, 77})), ErrorCode::invalid_replica_assignment);
  QCOMPARE(cluster.reassign(std::nullopt), ErrorCode::no_reassignment_in_progress);
  // Grow: over when the new one is in sync.
  QCOMPARE(cluster.reassign(ids({0, 1, 2})), ErrorCode::none);
  QVERIFY(cluster.partition().adding_replicas == ids({2}) && cluster.partition().directories.back() == (Uuid{7, 102}));
  QCOMPARE(cluster.in_sync(ids({0, 1, 2})), ErrorCode::none);
  QCOMPARE(cluster.state(), "0 e0 [0 1 2] [] []");
  QVERIFY(cluster.partition().replicas == ids({0, 1, 2}) && cluster.partition().adding_replicas.empty());
  // Everybody of the target is in sync already: over at once, with another leader.
  QCOMPARE(cluster.reassign(ids({1, 2})), ErrorCode::none);
  QCOMPARE(cluster.state(), "1 e1 [1 2] [] []");
  QVERIFY(cluster.partition().replicas == ids({1, 2}) && cluster.partition().removing_replicas.empty());
  // The order alone.
  QCOMPARE(cluster.reassign(ids({2, 1})), ErrorCode::none);
  QVERIFY(cluster.partition().replicas == ids({2, 1}));
  QCOMPARE(cluster.state(), "1 e1 [1 2] [] []");
  QCOMPARE(cluster.reassign(ids({2})), ErrorCode::none);
  QCOMPARE(cluster.state(), "2 e2 [2] [] []");
  QCOMPARE(cluster.partition().directories.size(), std::size_t{1});
}

void TestPartitionRequests::a_reassignment_is_given_up() {
  Brokers cluster;
  for (const std::int32_t id : {0, 1, 2, 3, 4}) {
    cluster.up(id);
  }
  cluster.create("t", {ids({0, 1})});
  QCOMPARE(cluster.reassign(ids({2, 3})), ErrorCode::none);
  QVERIFY(cluster.partition().replicas == ids({2, 3, 0, 1}));
  QCOMPARE(cluster.in_sync(ids({0, 1, 2})), ErrorCode::none);
  QCOMPARE(cluster.reassign(ids({2, 3})), ErrorCode::none);  // the same again changes nothing
  QVERIFY(cluster.partition().adding_replicas == ids({2, 3}) && cluster.partition().removing_replicas == ids({0, 1}));
  QCOMPARE(cluster.reassign(ids({3, 4}), false), ErrorCode::none);  // somewhere else
  QVERIFY(cluster.partition().replicas == ids({3, 4, 0, 1, 2}));
  QCOMPARE(cluster.reassign(ids({0, 1})), ErrorCode::none);
  QVERIFY(cluster.partition().replicas == ids({0, 1}) && cluster.partition().isr == ids({0, 1}));
  QVERIFY(cluster.partition().adding_replicas.empty() && cluster.partition().removing_replicas.empty());

  QCOMPARE(cluster.reassign(ids({2, 3})), ErrorCode::none);
  QCOMPARE(cluster.reassign(std::nullopt), ErrorCode::none);
  QVERIFY(cluster.partition().replicas == ids({0, 1}) && cluster.partition().removing_replicas.empty());
  // Only what was being added is in sync: going back would lose records.
  QCOMPARE(cluster.reassign(ids({2, 3})), ErrorCode::none);
  QCOMPARE(cluster.in_sync(ids({0, 1, 2})), ErrorCode::none);
  cluster.silence({2, 3, 4});
  QVERIFY(cluster.partition().leader == BrokerId(2) && cluster.partition().isr == ids({2}));
  QCOMPARE(cluster.reassign(std::nullopt), ErrorCode::invalid_replica_assignment);
  cluster.set_topic_config("t", "unclean.leader.election.enable", "true");
  cluster.up(0, 2);
  QCOMPARE(cluster.reassign(std::nullopt), ErrorCode::none);
  QVERIFY(cluster.partition().replicas == ids({0, 1}) && cluster.partition().leader == BrokerId(0));
}

void TestPartitionRequests::a_reassignment_that_takes_the_leadership() {
  Brokers cluster;
  for (const std::int32_t id : {0, 1, 2}) {
    cluster.up(id);
  }
  cluster.create("t", {ids({0, 1})});
  QCOMPARE(cluster.reassign(ids({1, 2})), ErrorCode::none);
  QCOMPARE(cluster.state(), "0 e0 [0 1] [] []");
  QCOMPARE(cluster.in_sync(ids({0, 1, 2})), ErrorCode::new_leader_elected);
  QCOMPARE(cluster.state(), "1 e1 [1 2] [] []");
}

void TestPartitionRequests::reassignments_are_listed() {
  Brokers cluster;
  for (const std::int32_t id : {0, 1, 2}) {
    cluster.up(id);
  }
  cluster.create("t", {ids({0, 1}), ids({0, 1})});
  cluster.create("u", {ids({0, 1})});
  QCOMPARE(cluster.reassign(ids({2, 1})), ErrorCode::none);
  const auto list = [&](std::optional<std::vector<std::string>> topics) {
    wire::ListPartitionReassignmentsRequest request;
    request.topics.reset();
    if (topics) {
      request.topics.emplace();
      for (const std::string& name : *topics) {
        auto& topic = request.topics->emplace_back();
        topic.name = name;
        topic.partition_indexes = {PartitionIndex(0), PartitionIndex(1), PartitionIndex(9)};
      }
    }
    return cluster.ask<wire::ListPartitionReassignmentsResponse>(
        [&](auto done) { cluster.controller().list_partition_reassignments(request, std::move(done)); });
  };
  const auto all = list(std::nullopt);
  QCOMPARE(all.topics.size(), std::size_t{1});
  QCOMPARE(all.topics.front().partitions.size(), std::size_t{1});
  const auto& item = all.topics.front().partitions.front();
  QVERIFY(item.replicas == ids({2, 1, 0}) && item.adding_replicas == ids({2}) && item.removing_replicas == ids({0}));
  QVERIFY(list(std::vector<std::string>{"t", "nope"}).topics == all.topics);
  QVERIFY(list(std::vector<std::string>{"u"}).topics.empty());
}

void TestPartitionRequests::directories_fail() {
  Brokers cluster;
  wire::BrokerRegistrationRequest two = Brokers::registration(0);
  const Uuid first = two.log_dirs.front();
  const Uuid second{8, 8};
  two.log_dirs.push_back(second);
  cluster.register_broker(two);
  cluster.beat(0);
  cluster.up(1);
  cluster.create("t", {ids({0, 1}), ids({0, 1})});
  QVERIFY(cluster.partition().directories.front().is_zero());  // of two, the broker says which
  wire::AssignReplicasToDirsRequest assign;
  assign.broker_id = BrokerId(0);
  assign.broker_epoch = cluster.image().find_broker(BrokerId(0))->epoch;
  for (const auto& [directory, index] : {std::pair{first, 0}, std::pair{second, 1}}) {
    auto& row = assign.directories.emplace_back();
    row.id = directory;
    auto& topic = row.topics.emplace_back();
    topic.topic_id = cluster.image().find_topic("t")->id;
    topic.partitions.emplace_back().partition_index = PartitionIndex(index);
  }
  const auto answer = cluster.ask<wire::AssignReplicasToDirsResponse>(
      [&](auto done) { cluster.controller().assign_replicas_to_dirs(assign, std::move(done)); });
  QCOMPARE(answer.error_code, ErrorCode::none);
  QVERIFY(cluster.partition("t", 1).directories.front() == second);
  wire::BrokerHeartbeatRequest beat;
  beat.broker_id = BrokerId(0);
  beat.broker_epoch = assign.broker_epoch;
  beat.current_metadata_offset = cluster.end() - 1;
  beat.offline_log_dirs = {second};
  QVERIFY(!cluster.beat(beat).is_fenced);
  QCOMPARE(cluster.state("t", 0), "0 e0 [0 1] [] []");
  QCOMPARE(cluster.state("t", 1), "1 e1 [1] [] []");
  QVERIFY(cluster.image().find_broker(BrokerId(0))->log_directories == std::vector<Uuid>{first});
  const Offset before = cluster.end();
  cluster.beat(beat);  // it says so in every heartbeat
  QVERIFY(cluster.end() == before);
  beat.cordoned_log_dirs = std::vector<Uuid>{first};
  cluster.beat(beat);
  QVERIFY(cluster.image().find_broker(BrokerId(0))->cordoned_directories == std::vector<Uuid>{first});
  // Into a directory that has failed: out of the ISR.
  cluster.create("u", {ids({0, 1})});
  assign.directories.resize(1);
  assign.directories.front().id = second;
  assign.directories.front().topics.front().topic_id = cluster.image().find_topic("u")->id;
  (void)cluster.ask<wire::AssignReplicasToDirsResponse>(
      [&](auto done) { cluster.controller().assign_replicas_to_dirs(assign, std::move(done)); });
  QCOMPARE(cluster.state("u"), "1 e1 [1] [] []");
}

void TestPartitionRequests::replicas_are_assigned_to_directories() {
  Brokers cluster;
  cluster.up(0);
  cluster.up(1);
  cluster.create("t", {ids({0})});
  const auto ask = [&](std::int32_t broker, std::int64_t epoch, Uuid topic_id, std::int32_t index) {
    wire::AssignReplicasToDirsRequest request;
    request.broker_id = BrokerId(broker);
    request.broker_epoch = epoch;
    auto& row = request.directories.emplace_back();
    row.id = Uuid{7, 100};
    auto& topic = row.topics.emplace_back();
    topic.topic_id = topic_id;
    topic.partitions.emplace_back().partition_index = PartitionIndex(index);
    const auto answer = cluster.ask<wire::AssignReplicasToDirsResponse>(
        [&](auto done) { cluster.controller().assign_replicas_to_dirs(request, std::move(done)); });
    return answer.error_code != ErrorCode::none
               ? answer.error_code
               : answer.directories.front().topics.front().partitions.front().error_code;
  };
  const Uuid t = cluster.image().find_topic("t")->id;
  const std::int64_t epoch = cluster.image().find_broker(BrokerId(0))->epoch;
  QCOMPARE(ask(0, epoch - 1, t, 0), ErrorCode::stale_broker_epoch);
  QCOMPARE(ask(0, epoch, Uuid{1, 1}, 0), ErrorCode::unknown_topic_id);
  QCOMPARE(ask(0, epoch, t, 1), ErrorCode::unknown_topic_or_partition);
  QCOMPARE(ask(1, cluster.image().find_broker(BrokerId(1))->epoch, t, 0), ErrorCode::not_leader_or_follower);
  QCOMPARE(ask(0, epoch, t, 0), ErrorCode::none);
}

QTEST_APPLESS_MAIN(TestPartitionRequests)
#include "tst_partition_requests.moc"
