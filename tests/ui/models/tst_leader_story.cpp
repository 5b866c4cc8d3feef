// SPDX-License-Identifier: Apache-2.0
// What a change of leaders meant: how long it took, from what, whether anything acknowledged was lost.
#include <QTest>
#include <memory>

#include "ui/models/client_facts.h"
#include "ui/models/fault_facts.h"
#include "ui/models/leader_story.h"
#include "ui/models/rate_meter.h"
#include "ui/models/replica_facts.h"

using namespace hw;      // NOLINT(google-build-using-namespace): a test
using namespace hw::ui;  // NOLINT(google-build-using-namespace): a test

class TestLeaderStory : public QObject {
  Q_OBJECT

  struct Shape {
    std::int32_t leader = 2;
    std::vector<std::int32_t> isr{1, 2, 3};
    std::int32_t epoch = 0;
    std::int64_t at_ms = 1'000;
  };
  std::map<std::int32_t, std::shared_ptr<event::ReplicaCounters>> counters_;
  std::map<std::int32_t, std::pair<observe::NodeView::State, std::int64_t>> nodes_;
  std::vector<std::int32_t> voters_;
  std::vector<std::int64_t> elections_;  // when a controller was elected
  bool internal_ = false;

  observe::ViewPtr view(const std::vector<Shape>& partitions) {
    auto out = std::make_shared<observe::ClusterView>();
    for (const auto& [id, state] : nodes_) {
      auto node = std::make_shared<observe::NodeView>();
      node->id = BrokerId(id);
      node->state = state.first;
      node->since = WallTime{state.second};
      out->nodes[BrokerId(id)] = node;
    }
    auto quorum = std::make_shared<observe::QuorumView>(*out->quorum);
    for (const std::int32_t id : voters_) {
      quorum->voters.emplace_back().id = BrokerId(id);
    }
    for (const std::int64_t at : elections_) {
      event::QuorumRoleChanged won;
      won.role = event::QuorumRole::leader;
      quorum->history.push_back({WallTime{at}, std::make_shared<const event::Any>(won)});
    }
    out->quorum = quorum;
    auto topic = std::make_shared<observe::TopicView>();
    topic->internal = internal_;
    topic->name = "orders";
    for (std::size_t i = 0; i < partitions.size(); ++i) {
      auto p = std::make_shared<observe::PartitionView>();
      p->index = PartitionIndex(static_cast<std::int32_t>(i));
      p->leader = BrokerId(partitions[i].leader);
      p->partition_epoch = partitions[i].epoch;
      p->changed_at = WallTime{partitions[i].at_ms};
      for (const std::int32_t id : partitions[i].isr) {
        p->isr.emplace_back(id);
      }
      for (const auto& [id, counters] : counters_) {
        observe::ReplicaView replica;
        replica.node = BrokerId(id);
        replica.counters = counters;
        p->replicas.push_back(std::move(replica));
      }
      topic->partitions.push_back(std::move(p));
    }
    auto topics = std::make_shared<std::map<std::string, std::shared_ptr<const observe::TopicView>, std::less<>>>();
    topics->emplace("orders", topic);
    out->topics = topics;
    return out;
  }

 private slots:
  void init() {
    counters_.clear();
    nodes_.clear();
    voters_.clear();
    elections_.clear();
    internal_ = false;
    for (const std::int32_t id : {1, 2, 3}) {
      counters_[id] = std::make_shared<event::ReplicaCounters>();
      counters_[id]->high_watermark.set(100);
      counters_[id]->log_end_offset.set(100);
      nodes_[id] = {observe::NodeView::State::running, 0};
    }
  }

  void theFirstViewTellsNothing() {
    LeaderStory story;
    const observe::ViewPtr first = view({{}});
    QVERIFY(story.take(first).isEmpty());
    QVERIFY(story.take(first).isEmpty());
    QVERIFY(story.take(view({{}})).isEmpty());
  }

  void aCleanFailoverLosesNothing() {
    LeaderStory story;
    (void)story.take(view({{}}));
    nodes_[2] = {observe::NodeView::State::killed, 2'000};
    const QStringList told = story.take(view({{.leader = 1, .isr = {1, 3}, .epoch = 1, .at_ms = 2'212}}));
    QCOMPARE(told, QStringList{QStringLiteral("Leader of orders/0 moved 2 → 1 in 212 ms; 0 acknowledged records lost.")});
  }

  // Whether a controller had to be elected is read from the elections, not from who led the quorum before.
  void anElectionIsToldWhereThereWasOne() {
    const auto told = [this] {
      LeaderStory story;
      nodes_[2] = {observe::NodeView::State::running, 0};
      (void)story.take(view({{}}));
      nodes_[2] = {observe::NodeView::State::killed, 2'000};
      return story.take(view({{.leader = 1, .isr = {1, 3}, .epoch = 1, .at_ms = 4'000}})).join(QLatin1Char(' '));
    };
    const QString elected = QStringLiteral("a controller had to be elected first");
    QVERIFY2(!told().contains(elected), qPrintable(told()));
    elections_ = {1'500};  // before the kill
    QVERIFY2(!told().contains(elected), qPrintable(told()));
    elections_ = {1'500, 4'200};  // and after all had moved
    QVERIFY2(!told().contains(elected), qPrintable(told()));
    elections_ = {1'500, 3'100};
    QVERIFY2(told().contains(QStringLiteral("in 2.0 s, ") + elected), qPrintable(told()));
  }

  // Lists of partitions leave internal ones out; a count that has them says so.
  void internalPartitionsAreCountedApart() {
    internal_ = true;
    LeaderStory story;
    (void)story.take(view({{}, {}}));
    nodes_[2] = {observe::NodeView::State::killed, 2'000};
    const observe::ViewPtr during = view({{}, {}});
    (void)story.take(during);
    const QString bar = fault_facts(*during, {}, 0).meaning;
    QVERIFY2(bar.startsWith(QStringLiteral("2 partition(s) (2 internal) wait for a new leader")), qPrintable(bar));
    const QStringList moved =
        story.take(view({{.leader = 1, .isr = {1, 3}, .epoch = 1, .at_ms = 4'000}, {.leader = 1, .isr = {1, 3}, .epoch = 1, .at_ms = 4'000}}));
    QVERIFY2(moved.front().startsWith(QStringLiteral("Leaders of 2 partitions (2 internal) moved 2 → 1")), qPrintable(moved.front()));
    nodes_[2] = {observe::NodeView::State::running, 5'000};
    const QStringList back = story.take(view({{.leader = 1, .epoch = 2}, {.leader = 1, .epoch = 2}}));
    QCOMPARE(back, QStringList{QStringLiteral("Node 2 is in sync again in 2 partition(s) (2 internal).")});
  }

  // Who reads that one partition stands still wants to know which, and why no other node helps.
  void whatStandsStillIsNamed() {
    nodes_[2] = {observe::NodeView::State::killed, 2'000};
    counters_.erase(1);
    counters_.erase(3);
    QString meaning = fault_facts(*view({{.leader = -1, .isr = {2}}}), {}, 0).meaning;
    QVERIFY2(meaning.startsWith(QStringLiteral("orders/0 waits for node 2 to come back: its only replica is there.")), qPrintable(meaning));
    meaning = fault_facts(*view({{.leader = -1, .isr = {2}}, {.leader = -1, .isr = {2}}}), {}, 0).meaning;
    QVERIFY2(meaning.startsWith(QStringLiteral("orders/0, orders/1 wait for node 2 to come back: their only replicas are there.")),
             qPrintable(meaning));
    meaning = fault_facts(*view(std::vector<Shape>(12, Shape{.leader = -1, .isr = {2}})), {}, 0).meaning;
    QVERIFY2(meaning.startsWith(QStringLiteral("12 partitions wait for their nodes to come back (orders/0, orders/1, orders/2 and 9 more)")),
             qPrintable(meaning));
  }

  // What appears while others have been measured for seconds is measured over the same time: what stands side by side adds up.
  void aRateThatAppearsHasTheSpanOfTheOthers() {
    RateMeter clock;
    for (const std::int64_t at : {0, 1'000, 2'000, 3'000}) {
      (void)clock.tick(at);
    }
    RateMeter late;
    late.follow(clock);
    QVERIFY(late.measured());
    late.add(6, 600);
    QVERIFY(late.tick(4'000));
    QCOMPARE(late.records_per_second(), 2.0);
  }

  void severalThatMoveAlikeAreOneSentence() {
    LeaderStory story;
    (void)story.take(view({{}, {}}));
    nodes_[2] = {observe::NodeView::State::stopped, 2'000};
    const QStringList told = story.take(view({{.leader = 1, .isr = {1, 3}, .epoch = 1, .at_ms = 2'030},
                                              {.leader = 1, .isr = {1, 3}, .epoch = 1, .at_ms = 2'050}}));
    QCOMPARE(told.size(), 1);
    QVERIFY2(told.front().contains(QStringLiteral("2 partitions moved 2 → 1 in 50 ms")), qPrintable(told.front()));
  }

  void anUncleanLeaderSaysWhatIsLost() {
    LeaderStory story;
    (void)story.take(view({{.isr = {2}}}));
    counters_[1]->log_end_offset.set(83);
    const QStringList none = story.take(view({{.leader = -1, .isr = {2}, .epoch = 1, .at_ms = 2'000}}));
    QCOMPARE(none, QStringList{QStringLiteral("orders/0 has no leader.")});
    const QStringList told = story.take(view({{.leader = 1, .isr = {1}, .epoch = 2, .at_ms = 5'000}}));
    QVERIFY(!told.isEmpty());
    QCOMPARE(told.front(), QStringLiteral("Leader of orders/0 moved 2 → 1 in 3.0 s; 1 was not in sync: 17 acknowledged records lost."));
  }

  // What is not so any more does not stand.
  void aSentenceThatStandsEndsWithWhatItSays() {
    LeaderStory story;
    (void)story.take(view({{.isr = {2}}, {.isr = {2}}}));
    const QStringList none = story.take(view({{.leader = -1, .isr = {2}, .epoch = 1}, {.leader = -1, .isr = {2}, .epoch = 1}}));
    QCOMPARE(none, QStringList{QStringLiteral("2 partitions have no leader.")});
    QVERIFY(story.over().isEmpty());
    const observe::ViewPtr same = view({{.leader = -1, .isr = {2}, .epoch = 1}, {.leader = -1, .isr = {2}, .epoch = 1}});
    (void)story.take(same);
    QVERIFY(story.over().isEmpty());
    (void)story.take(view({{.isr = {2}, .epoch = 2}, {.leader = -1, .isr = {2}, .epoch = 1}}));
    QCOMPARE(story.over(), none);  // one of the two has a leader: the number is wrong
    (void)story.take(view({{.isr = {2}, .epoch = 2}, {.isr = {2}, .epoch = 2}}));
    QVERIFY(story.over().isEmpty());
  }

  // A node that comes back and a new leader are two things to wait for, and a leader that is paused is neither.
  void whoWaitsForWhat() {
    nodes_[2] = {observe::NodeView::State::killed, 2'000};
    std::vector<NodeCondition> conditions(3);
    for (int i = 0; i < 3; ++i) {
      conditions[static_cast<std::size_t>(i)].node = i + 1;
    }
    conditions[1].down = conditions[1].killed = true;
    FaultFacts facts = fault_facts(*view({{}, {.isr = {2}}, {.leader = -1, .isr = {2}}, {.leader = 1, .isr = {1, 3}}}), conditions, 0);
    QVERIFY2(facts.meaning.startsWith(QStringLiteral("1 partition(s) wait for a new leader")), qPrintable(facts.meaning));
    QVERIFY2(facts.meaning.contains(QStringLiteral("2 partitions wait for their nodes to come back (orders/1, orders/2)")),
             qPrintable(facts.meaning));
    nodes_[2] = {observe::NodeView::State::running, 0};
    conditions[1] = {};
    conditions[1].node = 2;
    conditions[1].paused = true;
    facts = fault_facts(*view({{}, {.leader = 1}}), conditions, 0);
    QVERIFY2(facts.meaning.startsWith(QStringLiteral("1 partition has a leader that is paused")), qPrintable(facts.meaning));
    QVERIFY(facts.bad);
    QCOMPARE(facts.silent, 1);
    QVERIFY(!facts.meaning.contains(QStringLiteral("Every partition has a leader")));
    facts = fault_facts(*view({{.leader = 1}}), conditions, 0);
    QVERIFY2(facts.meaning.startsWith(QStringLiteral("Every partition has a leader.")), qPrintable(facts.meaning));
  }

  // A dead replica stays in the in-sync set as long as nobody can take it out: then acks=all waits, although a leader runs.
  void withoutAMajorityAnInSyncReplicaHoldsRecordsBack() {
    for (const std::int32_t id : {2, 3}) {
      nodes_[id] = {observe::NodeView::State::killed, 2'000};
    }
    voters_ = {1, 2, 3};
    FaultFacts facts = fault_facts(*view({{.leader = 1, .isr = {1}}}), {}, 0);
    QVERIFY(!facts.majority);
    QVERIFY2(facts.meaning.contains(QStringLiteral("records still flow")), qPrintable(facts.meaning));
    facts = fault_facts(*view({{.leader = 1, .isr = {1}}, {.leader = 1, .isr = {1, 2}}}), {}, 0);
    QVERIFY2(!facts.meaning.contains(QStringLiteral("flow")), qPrintable(facts.meaning));
    QVERIFY2(facts.meaning.contains(QStringLiteral("1 partition(s) wait for an in-sync replica")), qPrintable(facts.meaning));
  }

  // What chips and marks say is what the bar says.
  void countsAreOfTheSameMoment() {
    nodes_[2] = {observe::NodeView::State::killed, 2'000};
    const FaultFacts facts = fault_facts(*view({{}, {.leader = 1, .isr = {1, 3}}, {.leader = -1, .isr = {2}}}), {}, 0);
    QCOMPARE(facts.leaderless, 2);
    QCOMPARE(facts.behind, 2);
    QVERIFY(facts.majority);
  }

  void replicasLeaveAndReturn() {
    LeaderStory story;
    (void)story.take(view({{}}));
    const QStringList left = story.take(view({{.isr = {1, 2}, .epoch = 1}}));
    QCOMPARE(left.size(), 1);
    QVERIFY2(left.front().startsWith(QStringLiteral("Node 3 left the in-sync replicas")), qPrintable(left.front()));
    const QStringList back = story.take(view({{.epoch = 2}}));
    QCOMPARE(back.size(), 1);
    QVERIFY2(back.front().startsWith(QStringLiteral("Node 3 is in sync again")), qPrintable(back.front()));
  }

  // What a node gets back is one sentence, however many views it takes; partitions that waited for it never left its set.
  void whatANodeGetsBackIsOneSentence() {
    LeaderStory story;
    (void)story.take(view({{}, {}, {.isr = {2}}}));
    nodes_[2] = {observe::NodeView::State::killed, 2'000};
    (void)story.take(view({{.leader = 1, .isr = {1, 3}, .epoch = 1}, {.leader = 1, .isr = {1, 3}, .epoch = 1}, {.leader = -1, .isr = {}, .epoch = 1}}));
    nodes_[2] = {observe::NodeView::State::running, 5'000};
    const QStringList first = story.take(
        view({{.leader = 1, .isr = {1, 3, 2}, .epoch = 2}, {.leader = 1, .isr = {1, 3}, .epoch = 1}, {.leader = 2, .isr = {2}, .epoch = 2}}));
    QCOMPARE(first, QStringList{QStringLiteral("Node 2 leads 1 partition(s) again that waited for it, and is in sync again in 1 partition(s).")});
    const QStringList second = story.take(
        view({{.leader = 1, .isr = {1, 3, 2}, .epoch = 2}, {.leader = 1, .isr = {1, 3, 2}, .epoch = 2}, {.leader = 2, .isr = {2}, .epoch = 2}}));
    QCOMPARE(second, QStringList{QStringLiteral("Node 2 leads 1 partition(s) again that waited for it, and is in sync again in 2 partition(s).")});
    QCOMPARE(story.over(), first);
    // It ends again: nothing of it is in sync any more.
    nodes_[2] = {observe::NodeView::State::killed, 9'000};
    (void)story.take(
        view({{.leader = 1, .isr = {1, 3, 2}, .epoch = 2}, {.leader = 1, .isr = {1, 3, 2}, .epoch = 2}, {.leader = 2, .isr = {2}, .epoch = 2}}));
    QCOMPARE(story.over(), second);
  }

  // A replica that comes, goes and comes again is one partition; and after all was well the count begins anew.
  void whatComesAgainIsNotCountedTwice() {
    LeaderStory story;
    (void)story.take(view({{.isr = {1, 2}}, {.isr = {1, 2}}}));
    const QStringList both = story.take(view({{.epoch = 1}, {.epoch = 1}}));
    QCOMPARE(both, QStringList{QStringLiteral("Node 3 is in sync again in 2 partition(s).")});
    (void)story.take(view({{.isr = {1, 2}, .epoch = 2}, {.epoch = 1}}));
    QCOMPARE(story.over(), both);
    const QStringList again = story.take(view({{.epoch = 3}, {.epoch = 1}}));
    QCOMPARE(again, both);
    QVERIFY(!story.over().contains(both.front()));
    // Both within one look: what stands, stands.
    QVERIFY(story.take(view({{.epoch = 5}, {.epoch = 1}})).isEmpty());
    QVERIFY(story.over().isEmpty());
    story.forget();
    (void)story.take(view({{.isr = {1, 2}, .epoch = 6}, {.epoch = 1}}));
    QCOMPARE(story.take(view({{.epoch = 7}, {.epoch = 1}})), QStringList{QStringLiteral("Node 3 is in sync again in 1 partition(s).")});
  }

  // Who led in between is who lost the lead, although nobody looked meanwhile.
  void aMoveIsFromWhoLedLast() {
    LeaderStory story;
    const auto with_epochs = [this](std::int32_t leader, std::int32_t partition_epoch, std::int32_t leader_epoch,
                                    const std::vector<std::int32_t>& led) {
      const observe::ViewPtr plain = view({{.leader = leader, .epoch = partition_epoch, .at_ms = 9'000}});
      auto partition = std::make_shared<observe::PartitionView>(*plain->topics->begin()->second->partitions.front());
      partition->leader_epoch = LeaderEpoch(leader_epoch);
      for (std::size_t i = 0; i < led.size(); ++i) {
        partition->epochs.push_back({LeaderEpoch(static_cast<std::int32_t>(i)), BrokerId(led[i]), Offset(0), WallTime{1'000}});
      }
      auto topic = std::make_shared<observe::TopicView>(*plain->topics->begin()->second);
      topic->partitions.front() = partition;
      auto out = std::make_shared<observe::ClusterView>(*plain);
      out->topics = std::make_shared<const std::map<std::string, std::shared_ptr<const observe::TopicView>, std::less<>>>(
          std::map<std::string, std::shared_ptr<const observe::TopicView>, std::less<>>{{"orders", topic}});
      return out;
    };
    (void)story.take(with_epochs(1, 0, 0, {1}));
    const QStringList told = story.take(with_epochs(2, 3, 2, {1, 3}));
    QCOMPARE(told, QStringList{QStringLiteral("Leader of orders/0 moved 3 → 2.")});
    QCOMPARE(story.at().ms, 9'000);
    // The next one is what both views show.
    QVERIFY2(story.take(with_epochs(3, 4, 3, {1, 3, 2})).front().startsWith(QStringLiteral("Leader of orders/0 moved 2 → 3")), "");
  }

  // "Moved 2 → 1" is over when 1 has ended.
  void aMoveIsOverWithWhoLeads() {
    LeaderStory story;
    (void)story.take(view({{}}));
    nodes_[2] = {observe::NodeView::State::killed, 2'000};
    const QStringList told = story.take(view({{.leader = 1, .isr = {1, 3}, .epoch = 1, .at_ms = 2'212}}));
    QVERIFY(story.over().isEmpty());
    nodes_[1] = {observe::NodeView::State::killed, 4'000};
    (void)story.take(view({{.leader = 1, .isr = {1, 3}, .epoch = 1, .at_ms = 2'212}}));
    QCOMPARE(story.over(), told);
  }

  // Another leader's counters are another story: what it has handed out before is no rate of this second.
  void aRateBeginsAnewWithOtherCounters() {
    Rise rise;
    const auto first = std::make_shared<int>();
    const auto second = std::make_shared<int>();
    QCOMPARE(rise.take(first, 100, 1'000).records, 0.0);
    QCOMPARE(rise.take(first, 104, 1'400).records, 4.0);
    QCOMPARE(rise.take(second, 7, 70).records, 0.0);
    QCOMPARE(rise.take(second, 9, 90).bytes, 20.0);
    QCOMPARE(rise.take(second, 9, 90).records, 0.0);
    RateMeter meter;
    (void)meter.tick(0);
    meter.add(4, 400);
    QVERIFY(meter.tick(1'000));
    QCOMPARE(meter.records_per_second(), 4.0);
    meter.stop();
    QCOMPARE(meter.records_per_second(), 0.0);
    (void)meter.tick(2'000);
    meter.add(2, 200);
    QVERIFY(meter.tick(3'000));
    QCOMPARE(meter.records_per_second(), 2.0);  // what was before it stopped is not in it
  }

  // What a kill would do: not everything has somewhere to go.
  void whatAKilledNodeLeavesBehind() {
    const observe::ViewPtr all = view({{}, {.isr = {2}}, {.isr = {2, 3}}, {.leader = 1}});
    Bereft bereft = bereft_of(*all, {}, 2);
    QCOMPARE(bereft.move, 2);
    QCOMPARE(bereft.wait, 1);
    std::vector<NodeCondition> conditions(1);
    conditions.front().node = 3;
    conditions.front().paused = true;
    bereft = bereft_of(*all, conditions, 2);
    QCOMPARE(bereft.move, 1);
    QCOMPARE(bereft.wait, 2);
  }

  // What the bar above every page says before, during and after a kill.
  void aKillIsToldInTenSeconds() {
    LeaderStory story;
    std::vector<NodeCondition> conditions(3);
    for (int i = 0; i < 3; ++i) {
      conditions[static_cast<std::size_t>(i)].node = i + 1;
    }
    const observe::ViewPtr before = view({{}, {.leader = 1}});
    (void)story.take(before);
    QVERIFY(!fault_facts(*before, conditions, story.lost()).any);
    // During: who, and what it means for records.
    nodes_[2] = {observe::NodeView::State::killed, 2'000};
    conditions[1].down = conditions[1].killed = true;
    const observe::ViewPtr during = view({{}, {.leader = 1}});
    (void)story.take(during);
    FaultFacts facts = fault_facts(*during, conditions, story.lost());
    QVERIFY(facts.any && facts.bad);
    QVERIFY2(facts.headline.startsWith(QStringLiteral("Node 2 was killed at ")), qPrintable(facts.headline));
    QVERIFY2(facts.meaning.contains(QStringLiteral("wait for a new leader")), qPrintable(facts.meaning));
    QVERIFY(!facts.meaning.contains(QStringLiteral("lost")));  // not known before another one leads
    QCOMPARE(facts.start, 2);
    QVERIFY(!facts.heal);
    // After: others lead, nothing acknowledged is lost, and how to go on.
    const observe::ViewPtr after = view({{.leader = 1, .isr = {1, 3}, .epoch = 1, .at_ms = 2'212}, {.leader = 1, .isr = {1, 3}, .epoch = 1, .at_ms = 2'212}});
    (void)story.take(after);
    facts = fault_facts(*after, conditions, story.lost());
    QVERIFY2(facts.meaning.startsWith(QStringLiteral("Every partition has a leader. No acknowledged record is lost.")), qPrintable(facts.meaning));
    QCOMPARE(facts.start, 2);
    // It runs again, and copies.
    nodes_[2] = {observe::NodeView::State::running, 5'000};
    conditions[1] = {};
    conditions[1].node = 2;
    const observe::ViewPtr back = view({{.leader = 1, .isr = {1, 3}, .epoch = 1}, {.leader = 1, .epoch = 2}});
    facts = fault_facts(*back, conditions, 0);
    QVERIFY(facts.any && !facts.bad);
    QCOMPARE(facts.start, -1);
    QVERIFY2(facts.meaning.contains(QStringLiteral("what they missed")), qPrintable(facts.meaning));
    QVERIFY(!fault_facts(*view({{.leader = 1, .epoch = 3}, {.leader = 1, .epoch = 3}}), conditions, 0).any);
  }

  // With ten thousand partitions only what changed is looked at again.
  void whatStandsIsLookedAtWhereItsTopicChanged() {
    LeaderStory story;
    FaultMemory memory;
    const std::vector<Shape> led(500, Shape{.isr = {2}});
    const std::vector<Shape> lost(500, Shape{.leader = -1, .isr = {2}, .epoch = 1});
    (void)story.take(view(led));
    auto now = std::make_shared<observe::ClusterView>(*view(lost));
    const QStringList told = story.take(now);
    QCOMPARE(told, QStringList{QStringLiteral("500 partitions have no leader.")});
    (void)fault_facts(*now, {}, 0, &memory);
    QCOMPARE(story.looked(), std::uint64_t{500});
    QCOMPARE(memory.partitions, std::uint64_t{500});
    auto more = std::make_shared<observe::ClusterView>(*now);
    auto topics = std::make_shared<std::map<std::string, std::shared_ptr<const observe::TopicView>, std::less<>>>(*now->topics);
    topics->emplace("other", view({{}, {}})->topics->begin()->second);
    more->topics = topics;
    (void)story.take(more);
    const FaultFacts facts = fault_facts(*more, {}, 0, &memory);
    QCOMPARE(story.looked(), std::uint64_t{500});
    QCOMPARE(memory.partitions, std::uint64_t{502});
    QVERIFY(facts == fault_facts(*more, {}, 0));
    // Another node is out: another answer for each.
    nodes_[3] = {observe::NodeView::State::killed, 2'000};
    const observe::ViewPtr killed = view(lost);
    QVERIFY(fault_facts(*killed, {}, 0, &memory) == fault_facts(*killed, {}, 0));
    QCOMPARE(memory.partitions, std::uint64_t{502 + 500});
    (void)story.take(view(led));
    QCOMPARE(story.over(), told);
  }

  void lossIsSaid() {
    nodes_[2] = {observe::NodeView::State::killed, 2'000};
    std::vector<NodeCondition> conditions(1);
    conditions.front().node = 2;
    conditions.front().down = true;
    const FaultFacts facts = fault_facts(*view({{.leader = 1, .isr = {1}}}), conditions, 17);
    QVERIFY2(facts.meaning.contains(QStringLiteral("17 acknowledged record(s) are lost")), qPrintable(facts.meaning));
    // Two faults at once: one button for all.
    NodeCondition paused;
    paused.node = 3;
    paused.paused = true;
    conditions.push_back(paused);
    const FaultFacts both = fault_facts(*view({{.leader = 1, .isr = {1}}}), conditions, 0);
    QVERIFY2(both.headline.contains(QStringLiteral("Node 3 is paused")), qPrintable(both.headline));
    QVERIFY(both.heal && both.start < 0);
  }

  void nodesAreToldFromClients() {
    const observe::ViewPtr three = view({{}});
    const auto peer = [&](const char* id) {
      observe::ConnectionView c;
      c.client_id = id;
      return is_peer(c, *three);
    };
    QVERIFY(peer("broker-2-fetcher-0"));
    QVERIFY(peer("raft-client-3"));
    QVERIFY(peer("1"));
    QVERIFY(!peer("7"));
    QVERIFY(!peer("broker-2"));
    QVERIFY(!peer("broker-9-fetcher-0"));
    QVERIFY(!peer("raft-client-"));
    QVERIFY(!peer("raft-client-3x"));
    QVERIFY(!peer("shop"));
    QVERIFY(!peer(""));
  }
};

QTEST_APPLESS_MAIN(TestLeaderStory)
#include "tst_leader_story.moc"
