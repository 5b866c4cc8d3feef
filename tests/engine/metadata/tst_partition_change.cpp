// SPDX-License-Identifier: Apache-2.0
// Who leads a partition and who is in sync: row by row, and a random run against a twin that ranks all brokers.
#include <QtTest/QTest>

#include <algorithm>
#include <set>

#include "engine/base/prng.h"
#include "engine/metadata/image/image_builder.h"
#include "engine/metadata/partition_change.h"

using namespace hw;
using namespace hw::metadata;

namespace {

using Set = std::set<BrokerId>;
using List = std::vector<BrokerId>;

constexpr int kUniverse = 7;

List list(std::initializer_list<int> ids) {
  List result;
  for (const int id : ids) {
    result.emplace_back(id);
  }
  return result;
}
Set set_of(const List& ids) { return {ids.begin(), ids.end()}; }
Set minus(const Set& a, const Set& b) {
  Set result;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::inserter(result, result.end()));
  return result;
}
bool covers(const Set& a, const Set& b) { return std::includes(a.begin(), a.end(), b.begin(), b.end()); }

struct Case {
  PartitionImage partition;
  PartitionWish wish;
  Set alive;
  std::int32_t min_insync = 1;
  bool elr = true;
};

Uuid directory_of(BrokerId id) { return Uuid{9, static_cast<std::uint64_t>(id.value()) + 200}; }

std::optional<wire::PartitionChangeRecord> decide(const Case& c) {
  PartitionRules rules;
  rules.may_lead = [&c](BrokerId id) { return c.alive.contains(id); };
  rules.default_directory = directory_of;
  rules.min_insync_replicas = c.min_insync;
  rules.elr = c.elr;
  return change_partition(Uuid{1, 1}, PartitionIndex(3), c.partition, c.wish, rules);
}
PartitionImage after(const Case& c) {
  PartitionImage result = c.partition;
  if (const auto record = decide(c)) {
    apply_change(*record, result);
  }
  return result;
}

// The same rules said once more, as sets and a ranking of everybody.
PartitionImage twin(const Case& c) {
  const PartitionImage& p = c.partition;
  PartitionImage r = p;
  r.replicas = c.wish.replicas.value_or(p.replicas);
  r.adding_replicas = c.wish.adding.value_or(p.adding_replicas);
  r.removing_replicas = c.wish.removing.value_or(p.removing_replicas);
  r.leader_recovery_state = c.wish.leader_recovery_state.value_or(p.leader_recovery_state);
  Set isr = minus(set_of(c.wish.isr.value_or(p.isr)), {c.wish.lost});
  Set replicas = set_of(r.replicas);

  if (!r.adding_replicas.empty() || !r.removing_replicas.empty()) {
    const Set rest = minus(replicas, set_of(r.removing_replicas));
    if (!rest.empty() && covers(isr, rest)) {
      std::erase_if(r.replicas, [&](BrokerId id) { return !rest.contains(id); });
      r.adding_replicas.clear();
      r.removing_replicas.clear();
      isr = minus(isr, minus(replicas, rest));
      replicas = rest;
    }
  }
  Set elr;
  if (c.elr && static_cast<int>(isr.size()) < c.min_insync) {
    for (const BrokerId id : replicas) {
      const bool was_good = set_of(p.isr).contains(id) || set_of(p.elr).contains(id);
      if (was_good && !isr.contains(id) && id != c.wish.lost) {
        elr.insert(id);
      }
    }
  }
  const Set& clean = isr.empty() ? elr : isr;
  const auto rank = [&](BrokerId id) {
    constexpr int kNever = 1'000'000;
    const auto place = std::find(r.replicas.begin(), r.replicas.end(), id);
    const int position = static_cast<int>(place - r.replicas.begin());
    if (!c.alive.contains(id) || id == c.wish.lost || (place == r.replicas.end() && id != p.leader)) {
      return kNever;
    }
    if (clean.contains(id)) {
      if (position == 0 && c.wish.election == Election::preferred) {
        return 0;
      }
      return id == p.leader ? 1 : 10 + position;
    }
    if (c.elr && clean.empty() && p.last_known_elr == List{id} && place != r.replicas.end()) {
      return 100;
    }
    return c.wish.election == Election::unclean && place != r.replicas.end() ? 1000 + position : kNever;
  };
  BrokerId best = kNoBroker;
  int best_rank = 1'000'000;
  for (int i = 0; i < kUniverse; ++i) {
    if (rank(BrokerId(i)) < best_rank) {
      best = BrokerId(i);
      best_rank = rank(best);
    }
  }
  r.leader = best;
  if (best != kNoBroker && !isr.contains(best)) {
    const bool eligible = elr.contains(best);
    isr = {best};
    elr = eligible ? minus(elr, {best}) : Set{};
    if (!eligible) {
      r.leader_recovery_state = kRecovering;
    }
    if (static_cast<int>(isr.size()) >= c.min_insync) {
      elr.clear();
    }
  }
  const bool lost_replica = !covers(replicas, set_of(p.replicas));
  if (best != p.leader || lost_replica) {
    r.leader_epoch = LeaderEpoch(p.leader_epoch.value() + 1);
  }
  if (!c.elr || (best != kNoBroker && (best != p.leader || lost_replica))) {
    r.last_known_elr.clear();
  } else if (best == kNoBroker && p.leader != kNoBroker && p.last_known_elr.empty()) {
    r.last_known_elr = {p.leader};
  }
  if (isr.empty() && !c.elr) {
    isr = set_of(p.isr);
  }
  r.isr.assign(isr.begin(), isr.end());
  r.elr.assign(elr.begin(), elr.end());
  r.directories.clear();
  for (const BrokerId id : r.replicas) {
    const auto at = std::find(p.replicas.begin(), p.replicas.end(), id);
    r.directories.push_back(at == p.replicas.end() ? directory_of(id)
                                                   : p.directories[static_cast<std::size_t>(at - p.replicas.begin())]);
  }
  return r;
}

List some(Prng& prng, const List& from, std::uint32_t in_ten) {
  List result;
  for (const BrokerId id : from) {
    if (prng.chance({in_ten, 10})) {
      result.push_back(id);
    }
  }
  return result;
}
void shuffle(Prng& prng, List& ids) {
  for (std::size_t i = ids.size(); i > 1; --i) {
    std::swap(ids[i - 1], ids[static_cast<std::size_t>(prng.below(i))]);
  }
}

Case random_case(Prng& prng) {
  Case c;
  List all;
  for (int i = 0; i < kUniverse; ++i) {
    all.emplace_back(i);
  }
  shuffle(prng, all);
  PartitionImage& p = c.partition;
  p.replicas.assign(all.begin(), all.begin() + prng.between(1, 5));
  for (const BrokerId id : p.replicas) {
    p.directories.push_back(Uuid{3, static_cast<std::uint64_t>(id.value()) + 100});
  }
  p.leader_epoch = LeaderEpoch(5);
  p.partition_epoch = 8;
  c.elr = prng.chance({3, 4});
  p.isr = some(prng, p.replicas, 6);
  if (p.isr.empty() && !c.elr) {
    p.isr = {p.replicas.back()};
  }
  if (!p.isr.empty() && prng.chance({4, 5})) {
    p.leader = p.isr[static_cast<std::size_t>(prng.below(p.isr.size()))];
  }
  shuffle(prng, p.isr);
  if (c.elr) {
    List out;
    std::copy_if(p.replicas.begin(), p.replicas.end(), std::back_inserter(out),
                 [&](BrokerId id) { return std::find(p.isr.begin(), p.isr.end(), id) == p.isr.end(); });
    p.elr = some(prng, out, 4);
    std::sort(p.elr.begin(), p.elr.end());
    if (p.leader == kNoBroker && prng.chance({2, 3})) {
      p.last_known_elr = {all[static_cast<std::size_t>(prng.below(all.size()))]};
    }
  }
  p.leader_recovery_state = prng.chance({1, 5}) ? kRecovering : kRecovered;
  if (prng.chance({1, 3})) {  // a reassignment is under way
    const std::int64_t adds = prng.between(0, static_cast<std::int64_t>(p.replicas.size()) - 1);
    p.adding_replicas.assign(p.replicas.begin(), p.replicas.begin() + adds);
    p.removing_replicas = some(prng, List(p.replicas.begin() + adds, p.replicas.end()), 5);
    std::sort(p.adding_replicas.begin(), p.adding_replicas.end());
    std::sort(p.removing_replicas.begin(), p.removing_replicas.end());
  }
  if (prng.chance({1, 2})) {
    c.wish.isr = some(prng, p.replicas, 7);
  }
  if (prng.chance({1, 4})) {
    shuffle(prng, all);
    const Reassignment moves = reassignment_to(List(all.begin(), all.begin() + prng.between(1, 4)), p);
    c.wish.replicas = moves.replicas;
    c.wish.adding = moves.adding;
    c.wish.removing = moves.removing;
  } else if (is_reassigning(p) && prng.chance({1, 3})) {
    const RevertedReassignment back = reverted_reassignment(p);
    c.wish.isr = back.isr;
    c.wish.replicas = back.replicas;
    c.wish.adding.emplace();
    c.wish.removing.emplace();
  }
  if (c.elr && prng.chance({1, 5})) {
    c.wish.lost = p.replicas[static_cast<std::size_t>(prng.below(p.replicas.size()))];
  }
  if (prng.chance({1, 6})) {
    c.wish.leader_recovery_state = kRecovered;
  }
  c.wish.election = static_cast<Election>(prng.below(3));
  c.alive = set_of(some(prng, all, static_cast<std::uint32_t>(prng.between(1, 9))));
  c.min_insync = static_cast<std::int32_t>(prng.between(1, 4));
  return c;
}

std::string text_of(const List& ids) {
  std::string text = "[";
  for (const BrokerId id : ids) {
    text += (text.size() == 1 ? "" : " ") + std::to_string(id.value());
  }
  return text + "]";
}

}  // namespace

class TestPartitionChange : public QObject {
  Q_OBJECT
 private slots:
  void elections_data();
  void elections();
  void equals_the_twin();
  void moves_and_returns();
  void directories_that_work();
};

void TestPartitionChange::elections_data() {
  QTest::addColumn<QString>("leader_isr_elr_last");
  QTest::addColumn<QString>("wished_isr");
  QTest::addColumn<QString>("alive");
  QTest::addColumn<int>("election");
  QTest::addColumn<int>("min_insync");
  QTest::addColumn<QString>("result");  // leader epoch isr elr last, "" where nothing changes
  const auto row = [](const char* name, const char* state, const char* isr, const char* alive, Election election, int min,
                      const char* result) {
    QTest::newRow(name) << QString(state) << QString(isr) << QString(alive) << static_cast<int>(election) << min
                        << QString(result);
  };
  using enum Election;
  // Replicas are always 2 0 1, the leader epoch 5.
  row("nothing", "0|0 1 2||", "0 1 2", "0 1 2", online, 1, "");
  row("the leader stays although it is not the preferred one", "0|0 1 2||", "0 1 2", "0 1 2", unclean, 1, "");
  row("preferred", "0|0 1 2||", "0 1 2", "0 1 2", preferred, 1, "2 e6 [0 1 2] [] []");
  row("preferred is dead", "0|0 1 2||", "0 1 2", "0 1", preferred, 1, "");
  row("preferred is not in sync", "0|0 1||", "0 1", "0 1 2", preferred, 1, "");
  row("a plain shrink", "0|0 1 2||", "0 1", "0 1", online, 1, "0 e5 [0 1] [] []");
  row("a shrink below the minimum", "0|0 1||", "0", "0", online, 2, "0 e5 [0] [1] []");
  row("more of it", "0|0|1|", "0", "0", online, 3, "");
  row("growth", "0|0|1|", "0 2", "0 2", online, 2, "0 e5 [0 2] [] []");
  row("growth that is not enough", "0|0|1|", "0 2", "0 2", online, 3, "0 e5 [0 2] [1] []");
  row("the leader dies", "0|0 1 2||", "1 2", "1 2", online, 1, "2 e6 [1 2] [] []");
  row("the leader dies, its first follower is dead", "0|0 1 2||", "1 2", "1", online, 1, "1 e6 [1 2] [] []");
  row("the last one dies", "0|0||", "", "1 2", online, 1, "-1 e6 [] [0] [0]");
  row("the last one dies, another is eligible", "0|0|1|", "", "1 2", online, 2, "1 e6 [1] [0] []");
  row("the last one dies, losing records is allowed", "0|0||", "", "1 2", unclean, 1, "2 e6 [2] [] []");
  row("an eligible one comes", "-1||0 1|0", "", "1", online, 2, "1 e6 [1] [0] []");
  row("one that is not eligible comes", "-1||0|0", "", "2", online, 2, "");
  row("the last known leader comes", "-1|||0", "", "0 1", online, 2, "0 e6 [0] [] []");
  row("the last known leader does not come", "-1|||0", "", "1", online, 2, "");
  row("the last known leader is not alone known", "-1|||0 1", "", "0 1", online, 2, "");
}
void TestPartitionChange::elections() {
  QFETCH(QString, leader_isr_elr_last);
  QFETCH(QString, wished_isr);
  QFETCH(QString, alive);
  QFETCH(int, election);
  QFETCH(int, min_insync);
  QFETCH(QString, result);
  const auto parse = [](const QString& text) {
    List ids;
    for (const QString& id : text.split(' ', Qt::SkipEmptyParts)) {
      ids.emplace_back(id.toInt());
    }
    return ids;
  };
  const QStringList parts = leader_isr_elr_last.split('|');
  Case c;
  c.partition.replicas = list({2, 0, 1});
  c.partition.directories.resize(3);
  c.partition.leader = BrokerId(parts[0].toInt());
  c.partition.isr = parse(parts[1]);
  c.partition.elr = parse(parts[2]);
  c.partition.last_known_elr = parse(parts[3]);
  c.partition.leader_epoch = LeaderEpoch(5);
  c.wish.isr = parse(wished_isr);
  c.wish.election = static_cast<Election>(election);
  c.alive = set_of(parse(alive));
  c.min_insync = min_insync;
  QCOMPARE(decide(c).has_value(), !result.isEmpty());
  if (!result.isEmpty()) {
    const PartitionImage got = after(c);
    const std::string text = std::to_string(got.leader.value()) + " e" + std::to_string(got.leader_epoch.value()) + " " +
                             text_of(got.isr) + " " + text_of(got.elr) + " " + text_of(got.last_known_elr);
    QCOMPARE(QString::fromStdString(text), result);
  }
}

void TestPartitionChange::equals_the_twin() {
  int changed = 0;
  int unclean = 0;
  int eligible = 0;
  int leaderless = 0;
  for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
    Prng prng(seed);
    const Case c = random_case(prng);
    const PartitionImage& before = c.partition;
    const auto record = decide(c);
    PartitionImage got = after(c);
    const PartitionImage wanted = twin(c);
    const bool same = set_of(got.isr) == set_of(wanted.isr) && got.elr == wanted.elr && got.leader == wanted.leader &&
                      got.leader_epoch == wanted.leader_epoch && got.replicas == wanted.replicas &&
                      got.adding_replicas == wanted.adding_replicas && got.removing_replicas == wanted.removing_replicas &&
                      got.last_known_elr == wanted.last_known_elr && got.directories == wanted.directories &&
                      got.leader_recovery_state == wanted.leader_recovery_state;
    if (!same) {
      const std::string what = "seed " + std::to_string(seed) + ": leader " + std::to_string(got.leader.value()) + " for " +
                               std::to_string(wanted.leader.value()) + ", isr " + text_of(got.isr) + " for " +
                               text_of(wanted.isr) + ", elr " + text_of(got.elr) + " for " + text_of(wanted.elr) +
                               ", last known " + text_of(got.last_known_elr) + " for " + text_of(wanted.last_known_elr) +
                               ", replicas " + text_of(got.replicas) + " for " + text_of(wanted.replicas);
      QFAIL(what.c_str());
    }
    // What holds whatever was wished.
    QVERIFY(got.leader == kNoBroker || set_of(got.isr).contains(got.leader));
    QVERIFY(covers(set_of(got.replicas), set_of(got.elr)));
    QVERIFY(minus(set_of(got.isr), set_of(got.elr)) == set_of(got.isr));
    QCOMPARE(got.directories.size(), got.replicas.size());
    QVERIFY(static_cast<int>(got.isr.size()) < c.min_insync || got.elr.empty());
    if (!record) {
      QVERIFY(got == before);
      continue;
    }
    ++changed;
    QCOMPARE(got.partition_epoch, before.partition_epoch + 1);
    // Asked again with nothing new, there is nothing to do.
    Case again = c;
    again.partition = got;
    again.wish = {};
    again.wish.election = c.wish.election == Election::preferred ? Election::preferred : Election::online;
    if (c.elr && c.wish.lost == kNoBroker && !is_reassigning(got)) {
      QVERIFY(!decide(again));
    }
    const bool elected = got.leader != before.leader && got.leader != kNoBroker;
    unclean += elected && got.leader_recovery_state == kRecovering && before.leader_recovery_state == kRecovered ? 1 : 0;
    eligible += elected && set_of(before.elr).contains(got.leader) ? 1 : 0;
    leaderless += got.leader == kNoBroker ? 1 : 0;
  }
  QVERIFY(changed > 5'000 && unclean > 100 && eligible > 100 && leaderless > 100);  // all of it was tried
}

void TestPartitionChange::moves_and_returns() {
  PartitionImage partition;
  partition.replicas = list({0, 1});
  partition.isr = list({1, 0});
  const Reassignment moves = reassignment_to(list({3, 2}), partition);
  QVERIFY(moves.replicas == list({3, 2, 0, 1}) && moves.adding == list({2, 3}) && moves.removing == list({0, 1}));
  partition.replicas = moves.replicas;
  partition.adding_replicas = moves.adding;
  partition.removing_replicas = moves.removing;
  QVERIFY(is_reassigning(partition));
  QVERIFY(reassignment_to(list({3, 2}), partition).adding == moves.adding);
  const RevertedReassignment back = reverted_reassignment(partition);
  QVERIFY(back.replicas == list({0, 1}) && back.isr == list({1, 0}) && !back.unclean);
  partition.isr = list({3});
  const RevertedReassignment lossy = reverted_reassignment(partition);
  QVERIFY(lossy.isr == list({0}) && lossy.unclean);
}

void TestPartitionChange::directories_that_work() {
  const std::vector<Uuid> online{Uuid{5, 5}, Uuid{6, 6}};
  QVERIFY(directory_works(Uuid{5, 5}, online));
  QVERIFY(!directory_works(Uuid{7, 7}, online));
  QVERIFY(directory_works(kDirectoryUnassigned, online) && directory_works(kDirectoryMigrating, online));
  QVERIFY(!directory_works(kDirectoryLost, online) && !directory_works(kDirectoryLost, {}));
  QVERIFY(directory_works(Uuid{7, 7}, {}));  // a broker that says nothing about its directories
}

QTEST_APPLESS_MAIN(TestPartitionChange)
#include "tst_partition_change.moc"
