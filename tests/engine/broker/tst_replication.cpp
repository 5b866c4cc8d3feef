// SPDX-License-Identifier: Apache-2.0
// Three brokers that replicate, under faults, by seed. And proof that the checkers bite: each bug on purpose is found.
// HW_REPLICATION_SEED=n runs that seed alone; HW_REPLICATION_RUNS=n that many.
#include <QtTest>

#include <string>

#include "replica_world.h"

using namespace hw;
using namespace hw::test;

class TstReplication : public QObject {
  Q_OBJECT

 private:
  static QByteArray told(const std::string& violation) { return QByteArray::fromStdString(violation); }

 private slots:
  void nothing_acknowledged_is_lost() {
    const std::uint64_t first = qEnvironmentVariableIntValue("HW_REPLICATION_SEED") > 0
                                    ? static_cast<std::uint64_t>(qEnvironmentVariableIntValue("HW_REPLICATION_SEED"))
                                    : 1;
    int runs = qEnvironmentVariableIsSet("HW_REPLICATION_SEED") ? 1 : 40;
    if (qEnvironmentVariableIntValue("HW_REPLICATION_RUNS") > 0) {
      runs = qEnvironmentVariableIntValue("HW_REPLICATION_RUNS");
    }
    ReplicaWorld::Tally all;
    for (int i = 0; i < runs; ++i) {
      WorldOptions options;
      options.seed = first + static_cast<std::uint64_t>(i);
      ReplicaWorld world(options);
      const std::string violation = world.run();
      QVERIFY2(violation.empty(), told(violation));
      all.acknowledged += world.tally.acknowledged;
      all.elections += world.tally.elections;
      all.crashes += world.tally.crashes;
      all.truncations += world.tally.truncations;
      all.shrinks += world.tally.shrinks;
      all.expands += world.tally.expands;
    }
    qInfo("%d runs: %d acknowledged, %d elections, %d crashes, %d truncations, %d shrinks, %d expands", runs,
          all.acknowledged, all.elections, all.crashes, all.truncations, all.shrinks, all.expands);
    if (runs >= 40) {
      QVERIFY(all.acknowledged > 1'000);
      QVERIFY(all.elections > 100);
      QVERIFY(all.crashes > 20);
      QVERIFY(all.truncations > 10);
      QVERIFY(all.expands > 50);
    }
  }

  void one_seed_is_one_run() {
    WorldOptions options;
    options.seed = 77;
    ReplicaWorld one(options);
    ReplicaWorld other(options);
    QVERIFY(one.run().empty());
    QVERIFY(other.run().empty());
    QCOMPARE(one.tally.hash, other.tally.hash);
    options.seed = 78;
    ReplicaWorld third(options);
    QVERIFY(third.run().empty());
    QVERIFY(third.tally.hash != one.tally.hash);
  }

  void bugs_on_purpose_are_found_data() {
    using trial::Canary;
    QTest::addColumn<int>("canary");
    QTest::newRow("watermark without followers") << static_cast<int>(Canary::watermark_without_followers);
    QTest::newRow("watermark forgets the proposal") << static_cast<int>(Canary::watermark_forgets_proposal);
    QTest::newRow("no truncation") << static_cast<int>(Canary::no_truncation);
    QTest::newRow("early expand") << static_cast<int>(Canary::early_expand);
    QTest::newRow("stale fetch counts") << static_cast<int>(Canary::stale_fetch_counts);
  }
  void bugs_on_purpose_are_found() {
    QFETCH(int, canary);
    constexpr int kTries = 400;
    for (int i = 1; i <= kTries; ++i) {
      WorldOptions options;
      options.seed = static_cast<std::uint64_t>(i);
      options.canary = static_cast<trial::Canary>(canary);
      ReplicaWorld world(options);
      if (const std::string violation = world.run(); !violation.empty()) {
        qInfo("found: %s", violation.c_str());
        options.canary = trial::Canary::none;  // it was that bug, and nothing else
        ReplicaWorld sound(options);
        const std::string other = sound.run();
        QVERIFY2(other.empty(), told(other));
        return;
      }
    }
    QFAIL("not found");
  }
};

QTEST_APPLESS_MAIN(TstReplication)
#include "tst_replication.moc"
