// SPDX-License-Identifier: Apache-2.0
// Random worlds: producers that begin, add, end, come back and wait, appends that commit late or fail, markers that are refused,
// coordinators that change. Afterwards a fresh coordinator that replays the log holds the same, every request was answered once, no
// transaction is left half done, and the markers of a transaction all say the same.
#include <set>

#include <QtTest>

#include "engine/base/prng.h"
#include "tests/engine/txn/txn_world.h"

using namespace hw;
using namespace hw::txn;
using namespace hw::txn::test;
using hw::wire::ErrorCode;

class TestTransactionsRandom : public QObject {
  Q_OBJECT

 private slots:

  void replay_gives_the_same_state() {
    int committed = 0;
    int aborted = 0;
    int changed = 0;
    for (std::uint64_t seed = 1; seed <= 80; ++seed) {
      Prng prng(seed);
      World world;
      world.broker(1);
      world.broker(2);
      world.topic("t", {1, 2, 1, 2});
      const bool rising = seed % 3 != 0;
      world.version(rising ? 2 : 1);  // from 1 on records keep everything
      const ClientVersion version = rising ? ClientVersion::two : ClientVersion::zero;
      std::map<std::string, Producer> producers;
      int asked = 0;
      std::int32_t epoch = 1;
      std::vector<std::pair<std::string, Answer<Identity>>> identities;
      const auto hear = [&] {
        for (const auto& [id, answer] : identities) {
          if (*answer && (*answer)->error == ErrorCode::none && (*answer)->producer_id != kNoProducerId) {
            producers[id] = {id, (*answer)->producer_id, (*answer)->epoch};
          }
        }
        identities.clear();
      };
      for (int step = 0; step < 120; ++step) {
        const std::string id = "x" + std::to_string(prng.below(3));
        world.hold_appends = prng.below(3) == 0;
        world.hold_markers = prng.below(3) == 0;
        const Producer who = producers.contains(id) ? producers[id] : Producer{id, ProducerId(1), ProducerEpoch(0)};
        switch (prng.below(8)) {
          case 0:
            ++asked;
            identities.emplace_back(id, world.init(id, 2000));
            break;
          case 1:
          case 2:
          case 3:
            ++asked;
            world.add(who, {{"t", PartitionIndex(static_cast<std::int32_t>(prng.below(5)))}}, version);
            break;
          case 4:
          case 5: {
            ++asked;
            identities.emplace_back(id, world.end(who, prng.below(2) == 0, version));
            break;
          }
          case 6:
            world.advance(milliseconds(static_cast<std::int64_t>(prng.below(4000))));
            break;
          case 7:
            if (!world.appends.empty()) {
              world.commit_first(prng.below(3) == 0 ? ErrorCode::not_enough_replicas : ErrorCode::none);
            }
            if (!world.markers.empty()) {
              world.write_first(prng.below(3) == 0 ? ErrorCode::not_leader_or_follower : ErrorCode::none);
            }
            if (prng.below(10) == 0) {
              ++changed;
              world.appends.clear();  // whatever was not committed goes with the leader
              world.markers.clear();
              for (std::int32_t p = 0; p < 2; ++p) {
                world.coordinator->unload(PartitionIndex(p), world.now);
              }
              world.begin(++epoch);
            }
            break;
        }
        world.settle();
        if (prng.below(2) == 0) {
          hear();
        }
      }
      world.hold_appends = world.hold_markers = false;
      world.commit_all();
      world.write_all();
      world.settle();
      world.advance(seconds(30));
      QCOMPARE(world.answers, asked);
      for (const auto& one : world.coordinator->list({}, world.now).transaction_states) {
        QVERIFY2(one.transaction_state == "Empty" || one.transaction_state == "CompleteCommit" || one.transaction_state == "CompleteAbort",
                 qPrintable(QString("seed %1: %2").arg(seed).arg(QString::fromStdString(one.transaction_state))));
      }
      // A transaction of rising epochs is told from the next by the epoch of its markers.
      std::map<std::pair<std::int64_t, int>, bool> outcome;
      for (const World::Written& marker : world.written) {
        (marker.commit ? committed : aborted) += 1;
        const auto [at, fresh] = outcome.emplace(std::pair{marker.producer_id.value(), int{marker.epoch.value()}}, marker.commit);
        QVERIFY2(fresh || !rising || at->second == marker.commit, qPrintable(QString("seed %1").arg(seed)));
      }
      const std::string before = world.dump();
      QVERIFY(!before.empty());
      world.begin(++epoch);
      QVERIFY2(world.dump() == before, qPrintable(QString("seed %1").arg(seed)));
    }
    QVERIFY(committed > 100);
    QVERIFY(aborted > 100);
    QVERIFY(changed > 10);
  }
};

QTEST_APPLESS_MAIN(TestTransactionsRandom)
#include "tst_transactions_random.moc"
