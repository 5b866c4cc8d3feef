// SPDX-License-Identifier: Apache-2.0
// Quorums under bad days, drawn from seeds (quorum_world.h says what is checked), and scenes led by hand.
// More seeds:  HIGHWATER_QUORUM_SEEDS=20000 tst_quorum_sim seeds        one seed:  HIGHWATER_QUORUM_SEED=17 tst_quorum_sim seeds
#include <QtTest/QTest>

#include <cstdint>
#include <string>

#include "tests/engine/raft/quorum_world.h"

using namespace hw;
using namespace hw::raft;
using namespace hw::raft::test;

namespace {

std::string run(std::uint64_t seed, trial::Canary canary = trial::Canary::none) {
  WorldOptions options = WorldOptions::drawn(seed);
  options.canary = canary;
  World world(options, seed);
  return world.run();
}

}  // namespace

class TestQuorumSim : public QObject {
  Q_OBJECT
 private slots:
  void seeds();
  void same_seed_same_trace();
  void three_voters_elect_and_commit();
  void leader_that_dies_is_replaced_in_time();
  void leader_that_hands_over_is_replaced_at_once();
  void node_that_was_cut_off_does_not_depose_the_leader();
  void leader_without_majority_resigns();
  void observers_follow();
  void canaries_are_found_data();
  void canaries_are_found();
};

void TestQuorumSim::seeds() {
  bool ok = false;
  const int one = qEnvironmentVariableIntValue("HIGHWATER_QUORUM_SEED", &ok);
  const int from = ok ? one : 1;
  int count = qEnvironmentVariableIntValue("HIGHWATER_QUORUM_SEEDS");
  count = ok ? 1 : (count > 0 ? count : 250);
  int elections = 0;
  int snapshots = 0;
  std::int64_t committed = 0;
  for (int seed = from; seed < from + count; ++seed) {
    World world(WorldOptions::drawn(static_cast<std::uint64_t>(seed)), static_cast<std::uint64_t>(seed));
    const std::string violation = world.run();
    QVERIFY2(violation.empty(), ("seed " + std::to_string(seed) + " " + violation + "\n  again with HIGHWATER_QUORUM_SEED=" +
                                 std::to_string(seed))
                                    .c_str());
    elections += world.elections();
    snapshots += world.snapshot_loads();
    committed += world.committed();
  }
  qInfo("%d seeds: %d elections, %lld records committed, %d snapshots loaded", count, elections,
        static_cast<long long>(committed), snapshots);
  if (count >= 100) {
    QVERIFY(elections > count);  // the days were bad
    QVERIFY(snapshots > 0);
    QVERIFY(committed > count);
  }
}

void TestQuorumSim::same_seed_same_trace() {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    World first(WorldOptions::drawn(seed), seed);
    World second(WorldOptions::drawn(seed), seed);
    QCOMPARE(first.run(), std::string());
    QCOMPARE(second.run(), std::string());
    QCOMPARE(first.trace_hash(), second.trace_hash());
  }
}

void TestQuorumSim::three_voters_elect_and_commit() {
  World world({}, 1);
  world.advance(milliseconds(300));
  QVERIFY2(world.violation().empty(), world.violation().c_str());
  QVERIFY(world.leader().has_value());  // a cluster that starts as a whole need not wait for an election timeout
  const std::int64_t before = world.committed();
  world.propose();
  world.advance(milliseconds(50));
  QCOMPARE(world.committed(), before + 1);
  for (int i = 0; i < 3; ++i) {
    QCOMPARE(world.quorum(i).high_watermark().value(), world.committed());  // followers hear of it at once (KIP-1166)
    QCOMPARE(world.quorum(i).voters().size(), std::size_t{3});
  }
}

void TestQuorumSim::leader_that_dies_is_replaced_in_time() {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    World world({}, seed);
    world.advance(milliseconds(500));
    const int old = world.leader().value_or(-1);
    QVERIFY(old >= 0);
    const LeaderEpoch epoch = world.quorum(old).epoch();
    world.crash(old);
    // controller.quorum.fetch.timeout.ms is 2 s: a follower notices by then, and nobody waits for another timeout.
    world.advance(milliseconds(3000));
    QVERIFY2(world.violation().empty(), world.violation().c_str());
    QVERIFY(world.leader().has_value());
    QVERIFY(world.quorum(*world.leader()).epoch() > epoch);
  }
}

void TestQuorumSim::leader_that_hands_over_is_replaced_at_once() {
  int quick = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    World world({}, seed);
    world.advance(milliseconds(500));
    const int old = world.leader().value_or(-1);
    QVERIFY(old >= 0);
    world.hand_over(old);
    world.advance(milliseconds(100));
    const std::optional<int> next = world.leader();
    quick += next && *next != old ? 1 : 0;
    QVERIFY2(world.violation().empty(), world.violation().c_str());
    QVERIFY(!world.quorum(old).is_leader());
    QVERIFY(!world.quorum(old).view().resigning);
  }
  QVERIFY2(quick >= 18, std::to_string(quick).c_str());
}

void TestQuorumSim::node_that_was_cut_off_does_not_depose_the_leader() {
  // The check is good for something: where pre-votes are not refused, the leader is deposed in some of the worlds.
  for (const trial::Canary canary : {trial::Canary::none, trial::Canary::grants_every_pre_vote}) {
    int deposed = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      WorldOptions options;
      options.canary = canary;
      World world(options, seed);
      world.advance(milliseconds(500));
      const int leading = world.leader().value_or(-1);
      QVERIFY(leading >= 0);
      const LeaderEpoch epoch = world.quorum(leading).epoch();
      const int away = (leading + 1) % 3;
      world.isolate(away);
      // It looks for votes, without an epoch of its own, when it comes back.
      for (int i = 0; i < 200 && world.quorum(away).view().state != QuorumView::State::prospective; ++i) {
        world.advance(milliseconds(25));
      }
      QVERIFY(world.quorum(away).view().state == QuorumView::State::prospective);
      QCOMPARE(world.quorum(away).epoch().value(), epoch.value());
      world.heal();
      world.advance(seconds(5));
      QVERIFY2(world.violation().empty(), world.violation().c_str());
      if (world.leader() != leading || world.quorum(leading).epoch() != epoch) {
        ++deposed;
      } else {
        QVERIFY(world.quorum(away).view().state == QuorumView::State::follower);
      }
    }
    QCOMPARE(deposed > 0, canary != trial::Canary::none);
  }
}

void TestQuorumSim::leader_without_majority_resigns() {
  World world({}, 4);
  world.advance(milliseconds(500));
  const int leading = world.leader().value_or(-1);
  QVERIFY(leading >= 0);
  world.isolate(leading);
  world.advance(milliseconds(3100));  // 1.5 times the fetch timeout
  QVERIFY(!world.quorum(leading).is_leader());
  world.advance(seconds(2));
  QVERIFY2(world.violation().empty(), world.violation().c_str());
  QVERIFY(world.leader().has_value() && *world.leader() != leading);
}

void TestQuorumSim::observers_follow() {
  WorldOptions options;
  options.observers = 2;
  World world(options, 5);
  world.advance(milliseconds(500));
  world.propose();
  world.advance(milliseconds(100));
  QVERIFY2(world.violation().empty(), world.violation().c_str());
  for (int i = 3; i < 5; ++i) {
    QCOMPARE(world.quorum(i).high_watermark().value(), world.committed());
    QVERIFY(!world.quorum(i).view().voter);
  }
  // An observer finds the next leader by itself.
  const int old = world.leader().value_or(-1);
  world.crash(old);
  world.advance(seconds(4));
  world.propose();
  world.advance(milliseconds(200));
  for (int i = 3; i < 5; ++i) {
    QCOMPARE(world.quorum(i).high_watermark().value(), world.committed());
    QVERIFY(world.quorum(i).view().leader == world.voter(*world.leader()).key.id);
  }
}

void TestQuorumSim::canaries_are_found_data() {
  QTest::addColumn<int>("canary");
  const auto row = [](const char* name, trial::Canary canary) { QTest::newRow(name) << static_cast<int>(canary); };
  row("votes twice", trial::Canary::votes_twice);
  row("commits an older epoch alone", trial::Canary::commits_old_epoch);
  row("answers before it is durable", trial::Canary::answers_unpersisted);
  row("fetches from what is not flushed", trial::Canary::fetches_unflushed);
  row("cuts what is committed", trial::Canary::truncates_committed);
  row("votes for logs that are behind", trial::Canary::ignores_log_order);
  row("keeps what diverges", trial::Canary::keeps_divergence);
}

void TestQuorumSim::canaries_are_found() {
  QFETCH(int, canary);
  constexpr std::uint64_t kMost = 400;
  std::string found;
  std::uint64_t seed = 1;
  for (; seed <= kMost && found.empty(); ++seed) {
    found = run(seed, static_cast<trial::Canary>(canary));
  }
  QVERIFY2(!found.empty(), "no seed finds it");
  qInfo("seed %llu: %s", static_cast<unsigned long long>(seed - 1), found.c_str());
}

QTEST_APPLESS_MAIN(TestQuorumSim)
#include "tst_quorum_sim.moc"
