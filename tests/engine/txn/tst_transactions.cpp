// SPDX-License-Identifier: Apache-2.0
// The transaction coordinator, clause by clause (behaviours 223-250).
#include <limits>

#include <QtTest>

#include "engine/txn/transaction_records.h"
#include "tests/engine/txn/txn_world.h"

using namespace hw;
using namespace hw::txn;
using namespace hw::txn::test;
using hw::wire::ErrorCode;

namespace {

const TopicPartition kA{"t", PartitionIndex(0)};
const TopicPartition kB{"t", PartitionIndex(1)};

// A cluster of two brokers that lead a partition each.
struct Cluster : World {
  explicit Cluster(std::int16_t level = 2, Config config = config_of_tests()) : World(config) {
    broker(1);
    broker(2);
    topic("t", {1, 2});
    version(level);
  }
};

Producer with_epoch(Producer producer, int by) {
  producer.epoch = ProducerEpoch(static_cast<std::int16_t>(producer.epoch.value() + by));
  return producer;
}

// Sets the epoch of an id that is in no transaction, as its record would.
void wear_out(World& world, const std::string& id, std::int16_t epoch) {
  Transaction transaction;
  transaction.producer_id = ProducerId(77);
  transaction.epoch = ProducerEpoch(epoch);
  transaction.timeout_ms = 60'000;
  transaction.last_update_ms = world.now.wall.ms;
  world.log[world.coordinator->partition_of(id)].push_back({*encode_key(id), *encode_value(transaction, true)});
  world.begin(2);
}

}  // namespace

class TestTransactions : public QObject {
  Q_OBJECT

 private slots:

  void a_transaction_is_written_to_every_partition() {
    Cluster world;
    const Producer p = world.producer("x");
    QCOMPARE(p.epoch, ProducerEpoch(0));
    QCOMPARE(of(world.add(p, {kA, kB})), ErrorCode::none);
    QCOMPARE(world.state("x"), std::string("Ongoing"));
    const Identity next = of(world.end(p, true));
    QCOMPARE(next.error, ErrorCode::none);
    QCOMPARE(next.producer_id, p.id);
    QCOMPARE(next.epoch, ProducerEpoch(1));
    QCOMPARE(world.state("x"), std::string("CompleteCommit"));
    QCOMPARE(world.written.size(), std::size_t{2});
    for (const World::Written& marker : world.written) {
      QVERIFY(marker.commit);
      QCOMPARE(marker.epoch, ProducerEpoch(1));  // above that of the data
    }
  }

  void what_is_asked_for_an_id() {
    Cluster world;
    QCOMPARE(of(world.init("")).error, ErrorCode::invalid_request);
    QCOMPARE(of(world.init("x", 0)).error, ErrorCode::invalid_transaction_timeout);
    QCOMPARE(of(world.init("x", 900'001)).error, ErrorCode::invalid_transaction_timeout);
    world.ids_fail = true;
    QCOMPARE(of(world.init("x")).error, ErrorCode::coordinator_load_in_progress);
    world.ids_fail = false;
    const Producer p = world.producer("x");
    QCOMPARE(of(world.init("x")).epoch, ProducerEpoch(1));
    QCOMPARE(of(world.init("x")).producer_id, p.id);
    // With what the producer believes that it is (KIP-360).
    QCOMPARE(of(world.init("x", 60'000, {{p.id, ProducerEpoch(2)}})).epoch, ProducerEpoch(3));
    QCOMPARE(of(world.init("x", 60'000, {{p.id, ProducerEpoch(2)}})).epoch, ProducerEpoch(3));  // the answer was lost
    QCOMPARE(of(world.init("x", 60'000, {{p.id, ProducerEpoch(1)}})).error, ErrorCode::producer_fenced);
    QCOMPARE(of(world.init("x", 60'000, {{ProducerId(1), ProducerEpoch(3)}})).error, ErrorCode::producer_fenced);
  }

  void an_exhausted_epoch_gets_another_producer_id() {
    Cluster world;
    wear_out(world, "x", 32'766);
    const Identity fresh = of(world.init("x"));
    QCOMPARE(fresh.epoch, ProducerEpoch(0));
    QVERIFY(fresh.producer_id != ProducerId(77));
    // It did not hear that.
    QCOMPARE(of(world.init("x", 60'000, {{ProducerId(77), ProducerEpoch(32'766)}})).error, ErrorCode::producer_fenced);
    wear_out(world, "y", 32'766);
    const Identity told = of(world.init("y", 60'000, {{ProducerId(77), ProducerEpoch(32'766)}}));
    QCOMPARE(told.epoch, ProducerEpoch(0));
    QCOMPARE(of(world.init("y", 60'000, {{ProducerId(77), ProducerEpoch(32'766)}})).producer_id, told.producer_id);
  }

  void an_end_with_an_exhausted_epoch_goes_on_with_another_producer_id() {
    Cluster world;
    wear_out(world, "x", 32'766);
    const Producer p{"x", ProducerId(77), ProducerEpoch(32'766)};
    QCOMPARE(of(world.add(p, {kA})), ErrorCode::none);
    const Identity next = of(world.end(p, true));
    QCOMPARE(next.error, ErrorCode::none);
    QCOMPARE(next.epoch, ProducerEpoch(0));
    QVERIFY(next.producer_id != p.id);
    QCOMPARE(world.written.at(0).epoch, ProducerEpoch(std::numeric_limits<std::int16_t>::max()));
    QCOMPARE(world.written.at(0).producer_id, p.id);
    const Identity again = of(world.end(p, true));  // the answer was lost
    QCOMPARE(again.producer_id, next.producer_id);
    QCOMPARE(again.epoch, ProducerEpoch(0));
    QCOMPARE(of(world.end(p, false)).error, ErrorCode::invalid_txn_state);
    QCOMPARE(of(world.add({"x", next.producer_id, next.epoch}, {kA})), ErrorCode::none);
  }

  void an_open_transaction_is_aborted_by_whoever_takes_the_id_over() {
    Cluster world;
    const Producer p = world.producer("x");
    QCOMPARE(of(world.add(p, {kA})), ErrorCode::none);
    world.hold_markers = true;
    QCOMPARE(of(world.init("x")).error, ErrorCode::concurrent_transactions);
    QCOMPARE(world.state("x"), std::string("PrepareAbort"));
    QCOMPARE(of(world.init("x")).error, ErrorCode::concurrent_transactions);
    QCOMPARE(of(world.end(p, true)).error, ErrorCode::invalid_txn_state);  // as if its own abort had been lost
    world.hold_markers = false;
    world.write_all();
    world.settle();
    QCOMPARE(of(world.init("x")).epoch, ProducerEpoch(2));
    QVERIFY(!world.written.at(0).commit);
    QCOMPARE(of(world.end(p, true)).error, ErrorCode::producer_fenced);
    QCOMPARE(of(world.add(p, {kA})), ErrorCode::producer_fenced);
  }

  void who_may_add_partitions() {
    Cluster world;
    const Producer p = world.producer("x");
    QCOMPARE(of(world.add({"nobody", p.id, p.epoch}, {kA})), ErrorCode::invalid_producer_id_mapping);
    QCOMPARE(of(world.add({"x", ProducerId(1), p.epoch}, {kA})), ErrorCode::invalid_producer_id_mapping);
    QCOMPARE(of(world.add(with_epoch(p, 1), {kA})), ErrorCode::producer_fenced);
    QCOMPARE(of(world.add({"", p.id, p.epoch}, {kA})), ErrorCode::invalid_request);
    world.hold_appends = true;
    const auto first = world.add(p, {kA});
    QVERIFY(!first->has_value());
    QCOMPARE(of(world.add(p, {kB})), ErrorCode::concurrent_transactions);
    world.hold_appends = false;
    world.commit_all();
    QCOMPARE(of(first), ErrorCode::none);
    const std::size_t before = world.log[world.coordinator->partition_of("x")].size();
    QCOMPARE(of(world.add(p, {kA})), ErrorCode::none);  // it is there already: nothing is written
    QCOMPARE(world.log[world.coordinator->partition_of("x")].size(), before);
  }

  void partitions_are_verified() {
    Cluster world;
    const Producer p = world.producer("x");
    const auto verify = [&](const Producer& who, const TopicPartition& partition) {
      return world.coordinator->verify_partitions(who, {partition}).at(partition);
    };
    QCOMPARE(of(world.add(p, {kA})), ErrorCode::none);
    QCOMPARE(verify(p, kA), ErrorCode::none);
    QCOMPARE(verify(p, kB), ErrorCode::transaction_abortable);
    QCOMPARE(verify(with_epoch(p, 1), kA), ErrorCode::producer_fenced);
    QCOMPARE(verify({"x", ProducerId(1), p.epoch}, kA), ErrorCode::invalid_producer_id_mapping);
    QCOMPARE(verify({"nobody", p.id, p.epoch}, kA), ErrorCode::invalid_producer_id_mapping);
    world.hold_markers = true;
    QCOMPARE(of(world.end(p, true, ClientVersion::zero)).error, ErrorCode::none);
    QCOMPARE(verify(p, kA), ErrorCode::concurrent_transactions);
  }

  void an_end_and_its_repeat_with_rising_epochs() {
    Cluster world;
    Producer p = world.producer("x");
    QCOMPARE(of(world.end(p, true)).error, ErrorCode::invalid_txn_state);  // nothing was begun
    QCOMPARE(of(world.end(p, false)).epoch, ProducerEpoch(1));             // an abort of nothing is one
    QCOMPARE(world.state("x"), std::string("CompleteAbort"));
    QCOMPARE(of(world.end(p, false)).epoch, ProducerEpoch(1));  // its repeat
    QCOMPARE(of(world.end(p, true)).error, ErrorCode::invalid_txn_state);
    p = with_epoch(p, 1);
    QCOMPARE(of(world.add(p, {kA})), ErrorCode::none);
    QCOMPARE(of(world.end(with_epoch(p, -1), true)).error, ErrorCode::producer_fenced);
    world.hold_markers = true;
    QCOMPARE(of(world.end(p, true)).epoch, ProducerEpoch(2));
    QCOMPARE(of(world.end(p, true)).error, ErrorCode::concurrent_transactions);
    QCOMPARE(of(world.end(p, false)).error, ErrorCode::invalid_txn_state);
    QCOMPARE(of(world.end(with_epoch(p, 1), true)).error, ErrorCode::producer_fenced);
    world.hold_markers = false;
    world.write_all();
    world.settle();
    QCOMPARE(of(world.end(p, true)).epoch, ProducerEpoch(2));
    QCOMPARE(of(world.end(p, false)).error, ErrorCode::invalid_txn_state);
    p = with_epoch(p, 1);
    QCOMPARE(of(world.end(p, true)).error, ErrorCode::invalid_txn_state);
    QCOMPARE(of(world.end(p, false)).epoch, ProducerEpoch(3));
    QCOMPARE(of(world.end({"nobody", p.id, p.epoch}, true)).error, ErrorCode::invalid_producer_id_mapping);
    QCOMPARE(of(world.end({"x", ProducerId(1), p.epoch}, true)).error, ErrorCode::invalid_producer_id_mapping);
  }

  void an_end_of_old() {
    Cluster world(0);
    const Producer p = world.producer("x");
    const auto end = [&](bool commit) { return of(world.end(p, commit, ClientVersion::zero)); };
    QCOMPARE(end(false).error, ErrorCode::invalid_txn_state);
    QCOMPARE(of(world.add(p, {kA}, ClientVersion::zero)), ErrorCode::none);
    QCOMPARE(end(true).error, ErrorCode::none);
    QCOMPARE(end(true).error, ErrorCode::none);
    QCOMPARE(end(true).producer_id, kNoProducerId);
    QCOMPARE(end(false).error, ErrorCode::invalid_txn_state);
    QCOMPARE(world.written.at(0).epoch, p.epoch);
    QCOMPARE(of(world.add(p, {kB}, ClientVersion::zero)), ErrorCode::none);  // the same epoch goes on
    QCOMPARE(end(false).error, ErrorCode::none);
    QCOMPARE(world.state("x"), std::string("CompleteAbort"));
  }

  void what_takes_too_long_is_aborted_data() {
    QTest::addColumn<int>("level");
    QTest::newRow("epochs rise") << 2;
    QTest::newRow("epochs stay") << 0;
  }

  void what_takes_too_long_is_aborted() {
    QFETCH(int, level);
    Cluster world(static_cast<std::int16_t>(level));
    const ClientVersion version = level == 2 ? ClientVersion::two : ClientVersion::zero;
    const Producer p = world.producer("x", 1000);
    QCOMPARE(of(world.add(p, {kA}, version)), ErrorCode::none);
    world.advance(milliseconds(500));
    QCOMPARE(world.state("x"), std::string("Ongoing"));
    world.advance(seconds(11));
    QCOMPARE(world.state("x"), std::string("CompleteAbort"));
    QCOMPARE(world.written.at(0).epoch, ProducerEpoch(1));
    QCOMPARE(of(world.end(p, true, version)).error, level == 2 ? ErrorCode::invalid_txn_state : ErrorCode::producer_fenced);
    QCOMPARE(of(world.add(p, {kA}, version)), ErrorCode::producer_fenced);
  }

  void ids_that_nobody_uses_expire() {
    Config config = World::config_of_tests();
    config.transactional_id_expiration_ms = 10'000'000;
    Cluster world(2, config);
    const Producer p = world.producer("x");
    const Producer open = world.producer("open", 900'000);
    world.advance(seconds(5000));
    QCOMPARE(of(world.add(open, {kA})), ErrorCode::none);
    QCOMPARE(world.state("x"), std::string("Empty"));
    world.advance(seconds(9000));
    QCOMPARE(world.coordinator->describe("x").error_code, ErrorCode::transactional_id_not_found);
    QCOMPARE(of(world.add(p, {kA})), ErrorCode::invalid_producer_id_mapping);
    QCOMPARE(world.state("open"), std::string("CompleteAbort"));  // younger than that
    const std::string before = world.dump();
    world.begin(2);
    QCOMPARE(world.dump(), before);
  }

  void markers_are_asked_for_until_they_are_written() {
    Cluster world;
    const Producer p = world.producer("x");
    QCOMPARE(of(world.add(p, {kA, kB})), ErrorCode::none);
    world.hold_markers = true;
    QCOMPARE(of(world.end(p, true)).error, ErrorCode::none);
    QCOMPARE(world.markers.size(), std::size_t{2});  // a request to each broker
    world.write_first(ErrorCode::not_leader_or_follower);
    world.coordinator->markers_failed(world.markers.front().id, world.now);
    world.markers.clear();
    world.settle();
    QCOMPARE(world.markers.size(), std::size_t{0});  // not at once
    world.hold_markers = false;
    world.advance(milliseconds(50));
    QCOMPARE(world.state("x"), std::string("CompleteCommit"));
  }

  void a_partition_without_a_leader_is_waited_for_and_one_that_is_gone_is_not() {
    Cluster world;
    world.broker(3, true);
    world.topic("u", {3});
    const TopicPartition elsewhere{"u", PartitionIndex(0)};
    const Producer p = world.producer("x");
    QCOMPARE(of(world.add(p, {kA, elsewhere, {"gone", PartitionIndex(0)}})), ErrorCode::none);
    QCOMPARE(of(world.end(p, true)).error, ErrorCode::none);
    QCOMPARE(world.state("x"), std::string("PrepareCommit"));
    const auto described = world.coordinator->describe("x");
    QCOMPARE(described.topics.size(), std::size_t{1});  // those that lack their marker
    QCOMPARE(described.topics.front().topic, std::string("u"));
    world.broker(3);
    QCOMPARE(world.state("x"), std::string("CompleteCommit"));
  }

  void whoever_coordinates_next_goes_on() {
    Cluster world;
    const Producer p = world.producer("x");
    QCOMPARE(of(world.add(p, {kA})), ErrorCode::none);
    world.hold_markers = true;
    QCOMPARE(of(world.end(p, true)).error, ErrorCode::none);
    QCOMPARE(world.state("x"), std::string("PrepareCommit"));
    const MarkerRequest old = world.markers.front();
    world.markers.clear();
    world.begin(7);
    QCOMPARE(world.markers.size(), std::size_t{1});
    QCOMPARE(world.markers.front().request.markers.front().coordinator_epoch, 7);
    world.coordinator->unload(world.coordinator->partition_of("x"), world.now);
    world.write_all();  // too late: it is not the coordinator any more
    QCOMPARE(of(world.end(p, true)).error, ErrorCode::not_coordinator);
    QCOMPARE(world.coordinator->describe("x").error_code, ErrorCode::not_coordinator);
    world.hold_markers = false;
    world.load(world.coordinator->partition_of("x"), 8);
    world.settle();
    QCOMPARE(world.state("x"), std::string("CompleteCommit"));
  }

  void a_failed_append_leaves_everything_as_it_was() {
    Cluster world;
    const Producer p = world.producer("x");
    world.hold_appends = true;
    auto answer = world.add(p, {kA});
    world.commit_first(ErrorCode::not_enough_replicas);
    QCOMPARE(of(answer), ErrorCode::coordinator_not_available);
    QCOMPARE(world.state("x"), std::string("Empty"));
    answer = world.add(p, {kA});
    world.commit_first(ErrorCode::none);
    QCOMPARE(of(answer), ErrorCode::none);
    const auto ended = world.end(p, true);
    world.commit_first(ErrorCode::none);
    QCOMPARE(of(ended).error, ErrorCode::none);
    world.settle();
    world.commit_first(ErrorCode::not_enough_replicas);  // that it is complete
    QCOMPARE(world.state("x"), std::string("PrepareCommit"));
    world.hold_appends = false;
    world.advance(milliseconds(100));
    QCOMPARE(world.state("x"), std::string("CompleteCommit"));
  }

  void who_waits_longer_than_the_transaction_may_take_is_told() {
    Cluster world;
    const Producer p = world.producer("x", 1000);
    world.hold_appends = true;
    const auto answer = world.add(p, {kA});
    world.advance(milliseconds(999));
    QVERIFY(!answer->has_value());
    world.advance(milliseconds(1));
    QCOMPARE(of(answer), ErrorCode::coordinator_not_available);
    world.commit_all();
    QCOMPARE(world.state("x"), std::string("Ongoing"));  // it was written all the same
  }

  void while_it_loads_nobody_is_answered() {
    Cluster world;
    const PartitionIndex partition = world.coordinator->partition_of("x");
    world.coordinator->unload(partition, world.now);
    QCOMPARE(of(world.init("x")).error, ErrorCode::not_coordinator);
    world.coordinator->begin_load(partition, LeaderEpoch(3));
    QCOMPARE(of(world.init("x")).error, ErrorCode::coordinator_load_in_progress);
    QCOMPARE(world.coordinator->list({}, world.now).error_code, ErrorCode::coordinator_load_in_progress);
    world.coordinator->end_load(partition, LeaderEpoch(2), world.now);  // of an earlier time
    QVERIFY(!world.coordinator->leads(partition));
    world.coordinator->end_load(partition, LeaderEpoch(3), world.now);
    QCOMPARE(of(world.init("x")).error, ErrorCode::none);
  }

  void transactions_are_listed() {
    Cluster world;
    const Producer p = world.producer("a1");
    world.producer("b1");
    QCOMPARE(of(world.add(p, {kA})), ErrorCode::none);
    world.advance(milliseconds(10));
    const auto list = [&](auto set) {
      wire::ListTransactionsRequest request;
      set(request);
      std::string text;
      const auto response = world.coordinator->list(request, world.now);
      for (const auto& one : response.transaction_states) {
        text += one.transactional_id + " " + one.transaction_state + ";";
      }
      for (const std::string& unknown : response.unknown_state_filters) {
        text += "?" + unknown;
      }
      return response.error_code == ErrorCode::none ? text : std::string(wire::error_name(response.error_code));
    };
    QVERIFY(list([](auto&) {}).find("b1 Empty") != std::string::npos);
    QCOMPARE(list([](auto& r) { r.state_filters = {"Ongoing"}; }), std::string("a1 Ongoing;"));
    QCOMPARE(list([](auto& r) { r.state_filters = {"Odd"}; }), std::string("?Odd"));
    QCOMPARE(list([&](auto& r) { r.producer_id_filters = {p.id}; }), std::string("a1 Ongoing;"));
    QCOMPARE(list([](auto& r) {
               r.duration_filter = 9;
               r.state_filters = {"Ongoing"};
             }),
             std::string("a1 Ongoing;"));
    QCOMPARE(list([](auto& r) {
               r.duration_filter = 10;
               r.state_filters = {"Ongoing"};
             }),
             std::string());
    QCOMPARE(list([](auto& r) { r.transactional_id_pattern = "b.*"; }), std::string("b1 Empty;"));
    QCOMPARE(list([](auto& r) { r.transactional_id_pattern = "("; }), std::string("INVALID_REGULAR_EXPRESSION"));
  }

  void records_are_kafkas() {
    Transaction transaction;
    transaction.producer_id = ProducerId(5);
    transaction.previous_producer_id = ProducerId(4);
    transaction.next_producer_id = ProducerId(6);
    transaction.epoch = ProducerEpoch(3);
    transaction.timeout_ms = 1000;
    transaction.state = State::prepare_commit;
    transaction.partitions = {kA, kB, {"u", PartitionIndex(4)}};
    transaction.start_ms = 10;
    transaction.last_update_ms = 20;
    transaction.version = ClientVersion::two;
    QCOMPARE(decode_value(*encode_value(transaction, true)), std::optional(transaction));
    Transaction of_old = transaction;
    of_old.previous_producer_id = of_old.next_producer_id = kNoProducerId;
    of_old.version = ClientVersion::zero;
    const Bytes old = *encode_value(of_old, false);
    QCOMPARE(decode_value(old), std::optional(of_old));
    QCOMPARE(old.span()[1], std::byte{0});
    QCOMPARE(decode_key(*encode_key("x")), std::optional(std::string("x")));
    QVERIFY(!decode_value(Bytes::copy_of(as_bytes("nonsense"))).has_value());
  }
};

QTEST_APPLESS_MAIN(TestTransactions)
#include "tst_transactions.moc"
