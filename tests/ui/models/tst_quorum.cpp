// SPDX-License-Identifier: Apache-2.0
// The quorum in facts and words: who may fail, how an election went and why, what a metadata record says; and how a partition's
// replicas stand to their leader.
#include <memory>

#include <QTest>

#include "engine/metadata/image/record.h"
#include "engine/observe/reducer.h"
#include "ui/models/election_history.h"
#include "ui/models/fault_facts.h"
#include "ui/models/inspector_facts.h"
#include "ui/models/inspector_replication.h"
#include "ui/models/leader_story.h"
#include "ui/models/quorum_facts.h"
#include "ui/models/replica_facts.h"
#include "ui/models/topic_model.h"
#include "ui/session/metadata_record.h"
#include "ui/views/quorum_canvas.h"

using namespace hw;      // NOLINT(google-build-using-namespace): a test
using namespace hw::ui;  // NOLINT(google-build-using-namespace): a test

namespace {

constexpr Uuid kTopic{1, 1};

struct Feed {
  observe::Reducer reducer;
  std::int64_t ms = 1'000'000;
  std::map<int, std::shared_ptr<event::FollowerCounters>> followers;
  std::map<int, std::shared_ptr<event::ReplicaCounters>> logs;

  void operator()(event::Any e, int node = 1) {
    static std::uint64_t sequence = 0;
    reducer.apply({++sequence, BrokerId(node), WallTime{ms}, std::move(e)});
  }
  void role(int node, event::QuorumRole r, std::int32_t epoch, int leader, event::QuorumCause cause) {
    (*this)(event::QuorumRoleChanged{BrokerId(node), r, cause, true, epoch, BrokerId(leader)}, node);
  }
  void vote(int voter, int candidate, std::int32_t epoch, bool pre_vote, bool granted) {
    (*this)(event::QuorumVoteCast{BrokerId(voter), BrokerId(candidate), epoch, pre_vote, granted}, voter);
  }
  void track(int leader, std::int32_t epoch, int replica, std::int64_t end) {
    auto& counters = followers[replica];
    counters = std::make_shared<event::FollowerCounters>();
    counters->log_end_offset.set(end);
    counters->fetched_at_ms.set(ms);
    counters->caught_up_at_ms.set(ms);
    (*this)(event::QuorumReplicaTracked{BrokerId(leader), epoch, BrokerId(replica), {}, counters}, leader);
  }
  // Three voters, the first leads epoch 1; the fourth node observes.
  void quorum() {
    event::QuorumVotersChanged voters{BrokerId(1), Offset(2), {}};
    for (const int id : {1, 2, 3}) {
      voters.voters.push_back({BrokerId(id), {}, "h", 1});
    }
    (*this)(voters);
    for (const int id : {1, 2, 3, 4}) {
      (*this)(event::NodeStarted{.node = BrokerId(id)}, id);
      logs[id] = std::make_shared<event::ReplicaCounters>();
      logs[id]->log_end_offset.set(100);
      logs[id]->high_watermark.set(100);
      (*this)(event::ReplicaOpened{BrokerId(id), observe::kMetadataTopicId, PartitionIndex(0), logs[id]}, id);
      role(id, event::QuorumRole::unattached, 0, -1, event::QuorumCause::started);
    }
    role(1, event::QuorumRole::prospective, 0, -1, event::QuorumCause::no_leader_found);
    vote(2, 1, 0, true, true);
    role(1, event::QuorumRole::candidate, 1, -1, event::QuorumCause::pre_votes_won);
    vote(2, 1, 1, false, true);
    ms += 12;
    role(1, event::QuorumRole::leader, 1, 1, event::QuorumCause::votes_won);
    for (const int id : {2, 3, 4}) {
      role(id, event::QuorumRole::follower, 1, 1, event::QuorumCause::heard_of_leader);
      track(1, 1, id, 100);
    }
  }
  QuorumFacts facts(const std::vector<NodeCondition>& conditions = {}) { return quorum_facts(*reducer.publish(), conditions, ms); }
};

RecordRow row_of(const metadata::Record& record) {
  RecordRow row;
  row.offset = 7;
  row.leader_epoch = 3;
  row.value = *metadata::encode_record(record);
  return row;
}

}  // namespace

class TestQuorum : public QObject {
  Q_OBJECT

 private slots:
  void saysHowManyMayFail() {
    Feed feed;
    feed.quorum();
    QuorumFacts facts = feed.facts();
    QCOMPARE(facts.voters.size(), std::size_t{3});
    QCOMPARE(facts.observers.size(), std::size_t{1});
    QCOMPARE(facts.leader, 1);
    QCOMPARE(facts.majority, 2);
    QCOMPARE(facts.answering, 3);
    QCOMPARE(facts.glyph, Glyph::disc);
    QVERIFY2(facts.verdict.contains(QStringLiteral("One of them may fail")), qPrintable(facts.verdict));
    QCOMPARE(facts.find(2)->role, QStringLiteral("voter"));
    QCOMPARE(facts.find(4)->role, QStringLiteral("observer"));
    // One is killed: the bare majority.
    feed.logs[1]->log_end_offset.set(110);
    feed(event::NodeStopped{BrokerId(3), false}, 3);
    facts = feed.facts();
    QCOMPARE(facts.answering, 2);
    QCOMPARE(facts.glyph, Glyph::quarter);
    QVERIFY2(facts.verdict.contains(QStringLiteral("One more failure stops")), qPrintable(facts.verdict));
    QVERIFY(facts.find(3)->role.startsWith(QStringLiteral("killed")));
    QCOMPARE(facts.find(3)->behind, std::int64_t{10});  // how far it was
    // One is paused: it is there and silent.
    NodeCondition paused;
    paused.node = 2;
    paused.paused = true;
    facts = feed.facts({paused});
    QVERIFY(facts.lost());
    QCOMPARE(facts.glyph, Glyph::cross);
    QCOMPARE(facts.find(2)->glyph, Glyph::bolt);
    // The leader goes too.
    feed(event::NodeStopped{BrokerId(1), false}, 1);
    facts = feed.facts();
    QCOMPARE(facts.leader, -1);
    QVERIFY2(facts.verdict.startsWith(QStringLiteral("No controller leads: 1 of 3")), qPrintable(facts.verdict));
  }

  void whoDoesNotFetchDoesNotAnswer() {
    Feed feed;
    feed.quorum();
    feed.ms += 5'000;
    feed.followers[2]->fetched_at_ms.set(feed.ms);
    const QuorumFacts facts = feed.facts();
    QCOMPARE(facts.answering, 2);
    QCOMPARE(facts.find(3)->glyph, Glyph::quarter);
    QCOMPARE(facts.find(3)->fetched_ms, std::int64_t{5'000});
    QCOMPARE(facts.find(2)->fetched_ms, std::int64_t{0});
  }

  // The page looks at once where more changed than numbers that run anyway.
  void whatOnlyCountsOnIsNoChangeOfStanding() {
    Feed feed;
    feed.quorum();
    const QuorumFacts before = feed.facts();
    feed.ms += 900;
    for (const int id : {1, 2, 3, 4}) {
      feed.logs[id]->log_end_offset.set(102);
      feed.logs[id]->high_watermark.set(102);
    }
    for (const int id : {2, 3, 4}) {
      feed.followers[id]->fetched_at_ms.set(feed.ms);
      feed.followers[id]->log_end_offset.set(102);
    }
    QuorumFacts now = feed.facts();
    QVERIFY(now != before);
    QVERIFY(same_standing(before, now));
    feed(event::NodeStopped{BrokerId(3), false}, 3);
    QVERIFY(!same_standing(now, feed.facts()));
    now = feed.facts();
    feed.role(2, event::QuorumRole::leader, 2, 2, event::QuorumCause::votes_won);
    QVERIFY(!same_standing(now, feed.facts()));
    // One more observer.
    now = feed.facts();
    feed(event::NodeStarted{.node = BrokerId(5)}, 5);
    feed.role(5, event::QuorumRole::follower, 2, 2, event::QuorumCause::heard_of_leader);
    QVERIFY(!same_standing(now, feed.facts()));
  }

  // A controller that lost its majority is still written down as the leader for a moment.
  void withoutAMajorityNoSetChanges() {
    Feed feed;
    feed.quorum();
    feed(event::TopicCreated{kTopic, "orders", false});
    const std::vector<BrokerId> all{BrokerId(1), BrokerId(2), BrokerId(3)};
    feed(event::PartitionChanged{kTopic, PartitionIndex(0), BrokerId(1), LeaderEpoch(4), 1, all,
                                 all});
    event::LeadershipBegan began{BrokerId(1), kTopic, PartitionIndex(0), LeaderEpoch(4),
                                 Offset(0),   2,      seconds(3),        {}};
    for (const int id : {1, 2, 3}) {
      feed(event::ReplicaOpened{BrokerId(id), kTopic, PartitionIndex(0), feed.logs[id]}, id);
      if (id != 1) {
        began.followers.push_back({BrokerId(id), feed.followers[id], nullptr});
      }
    }
    feed(began);
    const auto explained = [&feed] {
      const observe::ViewPtr view = feed.reducer.publish();
      const observe::TopicView* topic = view->find_topic("orders");
      return explain_partition_now(*topic->partitions[0],
                                   partition_facts(*view, topic, *topic->partitions[0], feed.ms))
          .prose;
    };
    feed(event::NodeStopped{BrokerId(2), false}, 2);
    QVERIFY(quorum_commits(*feed.reducer.publish(), feed.ms));
    QVERIFY2(explained().contains(QStringLiteral("misses the heartbeats")),
             qPrintable(explained()));
    feed(event::NodeStopped{BrokerId(3), false}, 3);
    QCOMPARE(feed.reducer.publish()->quorum->leader, BrokerId(1));
    QVERIFY(!quorum_commits(*feed.reducer.publish(), feed.ms));
    QVERIFY2(explained().contains(QStringLiteral("No controller has a majority")),
             qPrintable(explained()));
  }

  void anElectionSaysWhyAndHowLong() {
    Feed feed;
    feed.quorum();
    feed.ms += 60'000;
    feed(event::NodeStopped{BrokerId(1), false}, 1);
    feed.ms += 1'600;
    feed.role(2, event::QuorumRole::prospective, 1, 1, event::QuorumCause::leader_silent);
    feed.ms += 2;
    feed.vote(3, 2, 1, true, true);
    feed.role(2, event::QuorumRole::candidate, 2, -1, event::QuorumCause::pre_votes_won);
    feed.ms += 5;
    feed.vote(3, 2, 2, false, true);
    feed.ms += 1;
    feed.role(2, event::QuorumRole::leader, 2, 2, event::QuorumCause::votes_won);
    feed.ms += 1;
    feed.role(3, event::QuorumRole::follower, 2, 2, event::QuorumCause::heard_of_leader);
    // More is told than events are kept: the cause stays.
    for (int i = 0; i < 20'000; ++i) {
      feed(event::GroupStateChanged{.group = "g", .state = "Empty"}, 1);
    }
    const std::vector<Election> all = election_history(*feed.reducer.publish());
    QCOMPARE(all.size(), std::size_t{2});
    QCOMPARE(all[0].reason, QStringLiteral("the quorum starts"));
    QCOMPARE(all[0].tookMs(), std::int64_t{12});
    const Election& e = all[1];
    QCOMPARE(e.epoch, 2);
    QCOMPARE(e.leader, 2);
    QCOMPARE(e.before, 1);
    QCOMPARE(e.tookMs(), std::int64_t{8});
    QCOMPARE(e.leaderlessMs(), std::int64_t{1'608});
    QVERIFY(e.killed);
    QCOMPARE(e.reason, QStringLiteral("leader 1 was killed; controller 2 missed it"));
    QCOMPARE(e.votes.size(), std::size_t{2});
    QVERIFY(e.votes[0].pre_vote && e.votes[0].granted && !e.votes[1].pre_vote);
    // What 3 was before, and that it follows now.
    const auto of = [&](int node) { return std::count_if(e.bands.begin(), e.bands.end(), [&](const auto& b) { return b.node == node; }); };
    QCOMPARE(of(3), std::ptrdiff_t{2});
    QCOMPARE(of(2), std::ptrdiff_t{4});  // follower, pre-vote, candidate, leader
  }

  // A vote that comes when all is decided is not in the chart, and so not in its words.
  void whoVotesTooLateIsNotTold() {
    Feed feed;
    feed.quorum();
    feed.ms += 60'000;
    feed.role(2, event::QuorumRole::prospective, 1, 1, event::QuorumCause::leader_silent);
    feed.ms += 2;
    feed.vote(3, 2, 1, true, true);
    feed.role(2, event::QuorumRole::candidate, 2, -1, event::QuorumCause::pre_votes_won);
    feed.vote(3, 2, 2, false, true);
    feed.role(2, event::QuorumRole::leader, 2, 2, event::QuorumCause::votes_won);
    feed.ms += 5'000;
    feed.vote(1, 2, 2, false, true);
    const std::vector<Election> all = election_history(*feed.reducer.publish());
    const QString story = QuorumCanvas::story(all.back());
    QVERIFY2(story.contains(QStringLiteral("node 2 stood: 3 voted for it")), qPrintable(story));
  }

  void whatEndedBeforeItLedIsNoReason() {
    Feed feed;
    feed.quorum();
    feed.ms += 60'000;
    feed(event::NodeStopped{BrokerId(2), false}, 2);
    feed.ms += 1'000;
    feed(event::NodeStopped{BrokerId(3), false}, 3);
    feed.ms += 1'000;
    feed(event::NodeStarted{BrokerId(2)}, 2);
    feed.ms += 10'000;
    feed.role(2, event::QuorumRole::candidate, 2, -1, event::QuorumCause::pre_votes_won);
    feed.ms += 2;
    feed.role(2, event::QuorumRole::leader, 2, 2, event::QuorumCause::votes_won);
    feed.ms += 5'000;
    feed.role(1, event::QuorumRole::prospective, 2, 2, event::QuorumCause::leader_silent);
    const std::vector<Election> all = election_history(*feed.reducer.publish());
    QCOMPARE(all.size(), std::size_t{3});
    QCOMPARE(all[2].before, 2);
    QVERIFY(!all[2].killed);
    QCOMPARE(all[2].silent_since_ms, std::int64_t{-1});
    QCOMPARE(all[2].reason, QStringLiteral("controller 1 did not hear from leader 2 in time"));
    const auto of = [&](int node) { return std::count_if(all[2].bands.begin(), all[2].bands.end(), [&](const auto& b) { return b.node == node; }); };
    QCOMPARE(of(3), std::ptrdiff_t{0});  // it is down
    QVERIFY(of(2) > 0);
  }

  void aRefusedPreVoteIsNoElection() {
    Feed feed;
    feed.quorum();
    feed.ms += 10'000;
    feed.role(3, event::QuorumRole::prospective, 1, 1, event::QuorumCause::leader_silent);
    feed.vote(2, 3, 1, true, false);
    feed.role(3, event::QuorumRole::follower, 1, 1, event::QuorumCause::pre_votes_lost);
    const std::vector<Election> all = election_history(*feed.reducer.publish());
    QCOMPARE(all.size(), std::size_t{2});
    QCOMPARE(all[1].outcome, Election::Outcome::refused);
    QVERIFY(!all[1].decided());
    QCOMPARE(all[1].leader, 1);
  }

  // Whoever asks goes back to the leader that it believes in, also where that one is gone: nobody refused, too few answered.
  void whoIsNotAnsweredWasNotRefused() {
    Feed feed;
    feed.quorum();
    feed.ms += 10'000;
    feed(event::NodeStopped{BrokerId(1), false}, 1);
    feed(event::NodeStopped{BrokerId(2), false}, 2);
    for (int i = 0; i < 3; ++i) {
      feed.ms += 1'000;
      feed.role(3, event::QuorumRole::prospective, 1, 1, event::QuorumCause::leader_silent);
      feed.ms += 1'000;
      feed.role(3, event::QuorumRole::follower, 1, 1, event::QuorumCause::pre_votes_lost);
    }
    const std::vector<Election> all = election_history(*feed.reducer.publish());
    QCOMPARE(all.size(), std::size_t{4});
    for (std::size_t i = 1; i < all.size(); ++i) {
      QCOMPARE(all[i].outcome, Election::Outcome::unanswered);
      QCOMPARE(all[i].leader, -1);
      QCOMPARE(all[i].answered, 1);
      QCOMPARE(all[i].voters, 3);
      QVERIFY2(all[i].reason.startsWith(QStringLiteral("leader 1 was killed")), qPrintable(all[i].reason));
      QVERIFY2(QuorumCanvas::story(all[i]).startsWith(QStringLiteral("1 of 3 voters answered, 2 are needed")),
               qPrintable(QuorumCanvas::story(all[i])));
    }
    // The list of the page has one row for them, and one for the election before.
    QuorumCanvas canvas;
    canvas.take(feed.facts(), all);
    QCOMPARE(canvas.objectCount(), 4 + 2);
    QVERIFY2(canvas.objectSentence(4).contains(QStringLiteral("3 times")), qPrintable(canvas.objectSentence(4)));
    QCOMPARE(canvas.chosen(), 0);
  }

  void whoComesBackFindsTheLeader() {
    Feed feed;
    feed.quorum();
    feed.ms += 10'000;
    feed.role(3, event::QuorumRole::unattached, 1, -1, event::QuorumCause::started);
    feed.role(3, event::QuorumRole::prospective, 1, -1, event::QuorumCause::no_leader_found);
    feed.vote(2, 3, 1, true, false);
    feed.role(3, event::QuorumRole::follower, 1, 1, event::QuorumCause::heard_of_leader);
    const std::vector<Election> all = election_history(*feed.reducer.publish());
    QCOMPARE(all.size(), std::size_t{2});
    QCOMPARE(all[1].outcome, Election::Outcome::found);
    QCOMPARE(all[1].leader, 1);
  }

  // What its node went through is said of it, not what it asked itself.
  void whoWasKilledCameBackAfterIt() {
    Feed feed;
    feed.quorum();
    const auto comes_back = [&](int node, bool clean) {
      feed.ms += 10'000;
      feed(event::NodeStopped{BrokerId(node), clean}, node);
      feed.ms += 2'000;
      feed(event::NodeStarted{.node = BrokerId(node)}, node);
      feed.role(node, event::QuorumRole::unattached, 1, -1, event::QuorumCause::started);
      feed.role(node, event::QuorumRole::prospective, 1, -1, event::QuorumCause::no_leader_found);
      feed.vote(2, node, 1, true, false);
      feed.role(node, event::QuorumRole::follower, 1, 1, event::QuorumCause::heard_of_leader);
      return election_history(*feed.reducer.publish()).back().reason;
    };
    QCOMPARE(comes_back(3, false), QStringLiteral("controller 3 came back after it was killed"));
    QCOMPARE(comes_back(3, true), QStringLiteral("controller 3 came back after it was stopped"));
    // Not after a start: an epoch went by in which it voted for somebody who did not win.
    feed.ms += 10'000;
    feed.role(3, event::QuorumRole::unattached, 2, -1, event::QuorumCause::newer_epoch);
    feed.role(3, event::QuorumRole::prospective, 2, -1, event::QuorumCause::no_leader_found);
    QCOMPARE(election_history(*feed.reducer.publish()).back().reason, QStringLiteral("controller 3 did not know who leads"));
    // The only voter, which led.
    Feed alone;
    alone(event::QuorumVotersChanged{BrokerId(1), Offset(2), {{BrokerId(1), {}, "h", 1}}});
    for (const int epoch : {1, 2}) {
      alone.ms += 1'000;
      alone(event::NodeStarted{.node = BrokerId(1)}, 1);
      alone.role(1, event::QuorumRole::unattached, epoch - 1, -1, event::QuorumCause::started);
      alone.role(1, event::QuorumRole::candidate, epoch, -1, event::QuorumCause::no_leader_found);
      alone.role(1, event::QuorumRole::leader, epoch, 1, event::QuorumCause::votes_won);
      alone.ms += 1'000;
      alone(event::NodeStopped{BrokerId(1), false}, 1);
    }
    const std::vector<Election> all = election_history(*alone.reducer.publish());
    QCOMPARE(all.front().reason, QStringLiteral("the quorum starts"));
    QCOMPARE(all.back().reason, QStringLiteral("leader 1 came back after it was killed"));
  }

  // All within a millisecond, and the voter's ring read last: the chart has it in the order in which it can have happened only.
  void votesComeBeforeWhatTheyLeadTo() {
    Feed feed;
    feed.quorum();
    feed.ms += 60'000;
    feed.role(2, event::QuorumRole::prospective, 1, 1, event::QuorumCause::leader_silent);
    feed.role(2, event::QuorumRole::candidate, 2, -1, event::QuorumCause::pre_votes_won);
    feed.role(2, event::QuorumRole::leader, 2, 2, event::QuorumCause::votes_won);
    feed.vote(3, 2, 1, true, true);
    feed.role(3, event::QuorumRole::unattached, 2, -1, event::QuorumCause::voted_for_other);
    feed.vote(3, 2, 2, false, true);
    feed.role(3, event::QuorumRole::follower, 2, 2, event::QuorumCause::heard_of_leader);
    const Election e = election_history(*feed.reducer.publish()).back();
    QCOMPARE(e.tookMs(), std::int64_t{0});
    const auto band = [&](int node, event::QuorumRole role) {
      return *std::find_if(e.bands.begin(), e.bands.end(), [&](const auto& b) { return b.node == node && b.role == role && b.from_step >= 0; });
    };
    const Election::Band asks = band(2, event::QuorumRole::prospective);
    const Election::Band stands = band(2, event::QuorumRole::candidate);
    QCOMPARE(e.votes.size(), std::size_t{2});
    QVERIFY(asks.from_step < e.votes[0].step && e.votes[0].step < stands.from_step);
    QVERIFY(stands.from_step < e.votes[1].step && e.votes[1].step < e.decided_step);
    QVERIFY(band(3, event::QuorumRole::follower).from_step > e.decided_step);
    // Where it is drawn: whoever asked for no time at all is seen to ask, and a vote has arrived before its leader leads.
    const geometry::StepScale scale = QuorumCanvas::scaleOf(e, e.ended_ms + 20, 150, 280);
    QVERIFY(scale.at(static_cast<std::size_t>(asks.to_step)) - scale.at(static_cast<std::size_t>(asks.from_step)) >= 10);
    const double arrived = scale.at(static_cast<std::size_t>(e.votes[1].step)) + QuorumCanvas::voteReach(scale, e.votes[1].step);
    QVERIFY(arrived < scale.at(static_cast<std::size_t>(e.decided_step)));
  }

  // Between the end of a leader and the next election the last one is of the past.
  void theElectionBeforeIsNotThePresentOne() {
    Feed feed;
    feed.quorum();
    QuorumCanvas canvas;
    const auto look = [&] { canvas.take(feed.facts(), election_history(*feed.reducer.publish())); };
    look();
    QVERIFY(canvas.awaited().isEmpty() && !canvas.previous());
    feed.ms += 60'000;
    feed(event::NodeStopped{BrokerId(1), false}, 1);
    look();
    QVERIFY2(canvas.awaited().startsWith(QStringLiteral("node 1 led: killed")), qPrintable(canvas.awaited()));
    QVERIFY(canvas.previous());
    // It begins.
    feed.ms += 1'600;
    feed.role(2, event::QuorumRole::prospective, 1, 1, event::QuorumCause::leader_silent);
    look();
    QVERIFY(canvas.awaited().isEmpty() && !canvas.previous());
    QVERIFY2(QuorumCanvas::story(canvas.elections().back()).startsWith(QStringLiteral("node 2 asked whether it would win: nobody answered")),
             qPrintable(QuorumCanvas::story(canvas.elections().back())));
    // It comes to nothing: the one before is still the last that was won.
    feed.ms += 1'000;
    feed.role(2, event::QuorumRole::follower, 1, 1, event::QuorumCause::pre_votes_lost);
    look();
    QVERIFY2(canvas.awaited().contains(QStringLiteral("1 of 3 voters")), qPrintable(canvas.awaited()));
    QVERIFY(canvas.previous());
    feed.ms += 1'000;
    feed.role(2, event::QuorumRole::candidate, 2, -1, event::QuorumCause::pre_votes_won);
    feed.role(2, event::QuorumRole::leader, 2, 2, event::QuorumCause::votes_won);
    look();
    QVERIFY(canvas.awaited().isEmpty() && !canvas.previous());
  }

  // A window that opens later sees only who leads: it does not say that this took no time.
  void whatWasNotWatchedIsNotTold() {
    Feed feed;
    feed(event::QuorumVotersChanged{BrokerId(1), Offset(2), {{BrokerId(1), {}, "h", 1}}});
    feed.role(1, event::QuorumRole::leader, 4, 1, event::QuorumCause::votes_won);
    const std::vector<Election> all = election_history(*feed.reducer.publish());
    QCOMPARE(all.size(), std::size_t{1});
    QCOMPARE(all[0].outcome, Election::Outcome::won);
    QCOMPARE(all[0].tookMs(), std::int64_t{-1});
    QCOMPARE(all[0].reason, QStringLiteral("it was elected before it was watched"));
  }

  void anElectionIsToldInOrder() {
    Feed feed;
    feed.quorum();
    feed.ms += 60'000;
    feed.role(2, event::QuorumRole::prospective, 1, 1, event::QuorumCause::leader_silent);
    feed.ms += 2;
    feed.role(2, event::QuorumRole::candidate, 2, -1, event::QuorumCause::pre_votes_won);
    feed.ms += 2;
    feed.vote(1, 2, 2, false, true);
    feed.vote(3, 2, 2, false, true);
    feed.vote(3, 2, 1, true, true);  // of the question before; its ring was read last
    feed.ms += 1;
    feed.role(2, event::QuorumRole::leader, 2, 2, event::QuorumCause::votes_won);
    const std::vector<Election> all = election_history(*feed.reducer.publish());
    QCOMPARE(QuorumCanvas::story(all.back()),
             QStringLiteral("node 2 asked whether it would win: 3 said yes; node 2 stood: 1 and 3 voted for it; node 2 leads epoch 2."));
  }

  void whatWorksFollowsWhoRuns() {
    using Works = QuorumEffect::Works;
    const auto works = [](const std::vector<QuorumEffect>& all) {
      std::vector<Works> out;
      for (std::size_t i = 0; i < 3; ++i) {
        out.push_back(all[i].works);
      }
      return out;
    };
    QCOMPARE(works(quorum_effects(MetadataChanges::would_wait)), (std::vector<Works>{Works::yes, Works::yes, Works::yes}));
    QCOMPARE(quorum_effects(MetadataChanges::would_wait)[4].why, QStringLiteral("would wait"));
    QCOMPARE(quorum_effects(MetadataChanges::wait_for_election)[4].why, QStringLiteral("waits for the election"));
    QCOMPARE(quorum_effects(MetadataChanges::wait_for_election)[4].works, Works::no);
    Feed feed;
    feed.quorum();
    QCOMPARE(metadata_changes(feed.facts()), MetadataChanges::commit);
    feed(event::TopicCreated{kTopic, "orders", false});
    feed(event::TopicCreated{Uuid{1, 2}, "__consumer_offsets", true});
    const std::vector<BrokerId> all{BrokerId(1), BrokerId(2), BrokerId(3)};
    feed(event::PartitionChanged{kTopic, PartitionIndex(0), BrokerId(1), LeaderEpoch(1), 1, all, all});
    feed(event::PartitionChanged{kTopic, PartitionIndex(1), BrokerId(3), LeaderEpoch(1), 1, {BrokerId(3)}, {BrokerId(3)}});
    feed(event::PartitionChanged{kTopic, PartitionIndex(2), BrokerId(2), LeaderEpoch(1), 1, all, all});
    feed(event::PartitionChanged{Uuid{1, 2}, PartitionIndex(0), BrokerId(1), LeaderEpoch(1), 1, all, all});
    DataReach reach = fault_facts(*feed.reducer.publish(), {}, 0).reach;
    QCOMPARE(reach.partitions, (DataReach::Count{4, 4, 4}));
    QCOMPARE(works(quorum_effects(MetadataChanges::wait_for_majority, &reach)), (std::vector<Works>{Works::yes, Works::yes, Works::yes}));
    // Two of three are killed: one partition is whole, one is only written with acks=1, and no commit is answered.
    feed(event::NodeStopped{BrokerId(2), false}, 2);
    feed(event::NodeStopped{BrokerId(3), false}, 3);
    reach = fault_facts(*feed.reducer.publish(), {}, 0).reach;
    QCOMPARE(reach.partitions, (DataReach::Count{4, 2, 0}));
    QCOMPARE(reach.coordinators, (DataReach::Count{1, 1, 0}));
    const std::vector<QuorumEffect> now = quorum_effects(MetadataChanges::wait_for_majority, &reach);
    QCOMPARE(works(now), (std::vector<Works>{Works::partly, Works::partly, Works::no}));
    QCOMPARE(now[0].why, QStringLiteral("acks=1 in 2 of 4, acks=all in 0"));
    QCOMPARE(now[2].why, QStringLiteral("waits for in-sync replicas"));
    // Paused, a leader answers nobody.
    NodeCondition paused;
    paused.node = 1;
    paused.paused = true;
    reach = fault_facts(*feed.reducer.publish(), {paused}, 0).reach;
    QCOMPARE(works(quorum_effects(MetadataChanges::wait_for_majority, &reach)), (std::vector<Works>{Works::no, Works::no, Works::no}));
  }

  void aStoryOfControllersAndBrokers() {
    Feed feed;
    feed.quorum();
    const auto registered = [&](int node, bool fenced, bool leaving, std::int64_t at) {
      feed(event::BrokerChanged{BrokerId(node), true, fenced, leaving, 5, Offset(at)});
    };
    registered(1, false, false, 10);
    registered(3, false, false, 11);
    LeaderStory story;
    QVERIFY(story.take(feed.reducer.publish()).isEmpty());
    feed.ms = 2'000'000;
    feed(event::NodeStopped{BrokerId(1), false}, 1);
    QVERIFY(story.take(feed.reducer.publish()).isEmpty());  // that it was killed says who did it
    feed.ms += 1'700;
    feed.role(2, event::QuorumRole::leader, 2, 2, event::QuorumCause::votes_won);
    QCOMPARE(story.take(feed.reducer.publish()),
             QStringList{QStringLiteral("The active controller moved 1 → 2 in 1.7 s (epoch 2); changes of the metadata waited so long.")});
    feed.ms += 400;
    registered(1, true, false, 12);
    QCOMPARE(story.take(feed.reducer.publish()), QStringList{QStringLiteral("Node 1 is fenced 2.1 s after it ended: no heartbeat within broker.session.timeout.ms.")});
    registered(3, false, true, 13);
    QCOMPARE(story.take(feed.reducer.publish()), QStringList{QStringLiteral("Node 3 shuts down under control: what it leads moves first.")});
    registered(3, true, true, 14);
    QVERIFY(story.take(feed.reducer.publish()).isEmpty());
    feed(event::NodeStopped{BrokerId(3), true}, 3);
    const QStringList lost = story.take(feed.reducer.publish());
    QCOMPARE(lost.size(), 1);
    QVERIFY2(lost.front().startsWith(QStringLiteral("No majority of controllers: 1 of 3 up.")), qPrintable(lost.front()));
    // Whoever tells of it counts the same.
    const observe::ViewPtr view = feed.reducer.publish();
    QCOMPARE(running_voters(*view).running, 1);
    QVERIFY(!running_voters(*view).majority());
    const QString meaning = fault_facts(*view, {}, 0).meaning;
    QVERIFY2(meaning.startsWith(QStringLiteral("No majority of controllers")), qPrintable(meaning));
  }

  void metadataRecordsAreReadable() {
    Feed feed;
    feed(event::TopicCreated{kTopic, "orders", false});
    const observe::ViewPtr view = feed.reducer.publish();
    wire::PartitionChangeRecord change;
    change.topic_id = kTopic;
    change.partition_id = PartitionIndex(2);
    change.leader = BrokerId(3);
    change.isr = std::vector<BrokerId>{BrokerId(1), BrokerId(3)};
    const MetadataRecord told = describe_metadata(row_of(change), *view);
    QCOMPARE(told.type, QStringLiteral("PartitionChange"));
    QCOMPARE(told.text, QStringLiteral("orders/2: leader 3, in sync 1 3"));
    QCOMPARE(told.about, Selection::ofPartition(QStringLiteral("orders"), 2));
    QVERIFY2(told.fields.contains(QStringLiteral("leader=3")), qPrintable(told.fields));
    wire::BrokerRegistrationChangeRecord fenced;
    fenced.broker_id = BrokerId(2);
    fenced.fenced = 1;
    QCOMPARE(describe_metadata(row_of(fenced), *view).text, QStringLiteral("broker 2: fenced"));
    RecordRow broken;
    broken.value = Bytes::copy_of(std::string_view("\x01\x05"));
    QVERIFY(describe_metadata(broken, *view).broken);
  }

  void whoHoldsTheHighWatermarkBack() {
    Feed feed;
    feed(event::TopicCreated{kTopic, "orders", false});
    const std::vector<BrokerId> all{BrokerId(1), BrokerId(2), BrokerId(3)};
    std::map<int, std::shared_ptr<event::ReplicaCounters>> logs;
    std::map<int, std::shared_ptr<event::FollowerCounters>> told;
    event::LeadershipBegan began{BrokerId(1), kTopic, PartitionIndex(0), LeaderEpoch(4), Offset(0), 2, seconds(3), {}};
    for (const int id : {1, 2, 3}) {
      logs[id] = std::make_shared<event::ReplicaCounters>();
      logs[id]->log_end_offset.set(id == 3 ? 42 : 55);
      logs[id]->high_watermark.set(42);
      feed(event::ReplicaOpened{BrokerId(id), kTopic, PartitionIndex(0), logs[id]}, id);
      if (id != 1) {
        told[id] = std::make_shared<event::FollowerCounters>();
        told[id]->log_end_offset.set(id == 3 ? 42 : 55);
        told[id]->fetched_at_ms.set(feed.ms - (id == 3 ? 1'800 : 10));
        told[id]->caught_up_at_ms.set(feed.ms - (id == 3 ? 1'800 : 10));
        began.followers.push_back({BrokerId(id), told[id], nullptr});
      }
    }
    feed(event::PartitionChanged{kTopic, PartitionIndex(0), BrokerId(1), LeaderEpoch(4), 1, all, all});
    feed(began);
    observe::ViewPtr view = feed.reducer.publish();
    const observe::TopicView* topic = view->find_topic("orders");
    PartitionFacts facts = partition_facts(*view, topic, *topic->partitions[0], feed.ms);
    QVERIFY(!facts.frozen());
    QVERIFY(facts.find(3)->holds);
    QVERIFY(!facts.find(2)->holds);
    QCOMPARE(facts.find(3)->leaves_ms, std::int64_t{1'200});
    QCOMPARE(facts.find(3)->note, QStringLiteral("leaves in sync in 1.2 s"));
    QCOMPARE(facts.find(2)->note, QStringLiteral("in sync"));
    const FactSection now = explain_partition_now(*topic->partitions[0], facts);
    QVERIFY2(now.prose.contains(QStringLiteral("Node 3")) && now.prose.contains(QStringLiteral("1.2 s")), qPrintable(now.prose));
    QCOMPARE(now.formula.join(QLatin1Char(' ')), QStringLiteral("HW 42 = min LEO over ISR { n1 55, n2 55, n3 42 }"));
    // A follower that is paused says nothing of the leader, although nobody else fetches at this moment either.
    told[2]->fetched_at_ms.set(feed.ms - 1'700);
    NodeCondition condition;
    condition.node = 3;
    condition.paused = true;
    QVERIFY(partition_facts(*view, topic, *topic->partitions[0], feed.ms).leader_silent);
    PartitionFacts known = partition_facts(*view, topic, *topic->partitions[0], feed.ms, {condition});
    QVERIFY(!known.leader_silent);
    QVERIFY2(known.find(3)->note.startsWith(QStringLiteral("paused")), qPrintable(known.find(3)->note));
    const QString why = explain_partition_now(*topic->partitions[0], known).prose;
    QVERIFY2(why.contains(QStringLiteral("Node 3")) && why.contains(QStringLiteral("paused")), qPrintable(why));
    condition.node = 1;
    known = partition_facts(*view, topic, *topic->partitions[0], feed.ms, {condition});
    QVERIFY(known.leader_silent && known.leader_paused);
    QVERIFY2(explain_partition_now(*topic->partitions[0], known).prose.contains(QStringLiteral("<b>node 1</b>, is paused")), "who leads is paused");
    // What it told its leader it has, although its own numbers are older.
    logs[2]->log_end_offset.set(54);
    QCOMPARE(partition_facts(*view, topic, *topic->partitions[0], feed.ms).find(2)->log_end, std::int64_t{55});
    logs[2]->log_end_offset.set(55);
    told[2]->fetched_at_ms.set(feed.ms - 10);
    // Out of the set: how long it has been silent, in few words.
    observe::PartitionView out = *topic->partitions[0];
    out.isr = {BrokerId(1), BrokerId(2)};
    QCOMPARE(partition_facts(*view, topic, out, feed.ms).find(3)->note,
             QStringLiteral("out, no fetch 1.8 s"));
    QCOMPARE(partition_facts(*view, topic, out, feed.ms + 200'000).find(3)->note,
             QStringLiteral("out, no fetch 3 min"));
    // The leader's node ends: nobody counts down, and it is said who comes next.
    observe::PartitionView orphan = *topic->partitions[0];
    orphan.replicas[0].online = false;
    orphan.replicas[0].counters.reset();
    const PartitionFacts gone = partition_facts(*view, topic, orphan, feed.ms);
    QVERIFY(gone.leader_gone);
    const KnownCounters last = known_counters(orphan);
    QVERIFY(!last.leads);
    QCOMPARE(last.node, BrokerId(2));  // who is farthest of those that run
    QCOMPARE(gone.find(3)->leaves_ms, std::int64_t{-1});
    QCOMPARE(gone.find(3)->note, QStringLiteral("in sync, may lead"));
    QCOMPARE(explain_partition_now(orphan, gone).formula, QStringList{QStringLiteral("next leader = first in sync of { n2, n3 }")});
    // No other replica may lead: it is the leader's node that has to come back.
    orphan.isr = {BrokerId(1)};
    QVERIFY(explain_partition_now(orphan, partition_facts(*view, topic, orphan, feed.ms)).prose.contains(QStringLiteral("until it comes back")));
    QCOMPARE(replicas_section(gone).facts.front().glyph, Glyph::cross);
    // One that ended and is still in the in-sync set leaves at once or never, by the controller alone.
    observe::PartitionView held = *topic->partitions[0];
    held.replicas[2].online = false;
    PartitionFacts ended = partition_facts(*view, topic, held, feed.ms);
    QCOMPARE(ended.find(3)->leaves_ms, std::int64_t{-1});
    QVERIFY(explain_partition_now(held, ended).prose.contains(QStringLiteral("misses the heartbeats")));
    ended.controlled = false;
    QVERIFY(explain_partition_now(held, ended)
                .prose.contains(QStringLiteral("No controller has a majority")));
    // Two are gone: fewer than min.insync.replicas.
    feed(event::PartitionChanged{kTopic, PartitionIndex(0), BrokerId(1), LeaderEpoch(4), 2, all, {BrokerId(1)}, {BrokerId(2)}});
    feed(event::NodeStarted{.node = BrokerId(3)}, 3);
    feed(event::NodeStopped{BrokerId(3), false}, 3);
    view = feed.reducer.publish();
    topic = view->find_topic("orders");
    facts = partition_facts(*view, topic, *topic->partitions[0], feed.ms);
    QVERIFY(facts.frozen());
    QVERIFY(facts.find(2)->eligible);
    QVERIFY(facts.find(3)->fails);
    QCOMPARE(facts.find(3)->log_end, std::int64_t{42});
    const QStringList formula = high_watermark_formula(*topic->partitions[0], facts);
    QCOMPARE(formula.front(), QStringLiteral("HW 42 stays: ISR 1 < min 2"));
    const std::vector<FactSection> explained = explain_replication(*topic->partitions[0], facts);
    QCOMPARE(explained.size(), std::size_t{4});
    QVERIFY2(explained[1].note.contains(QStringLiteral("node 2 may still lead cleanly")), qPrintable(explained[1].note));
    // The leader's node ends: what was known last stays, and says what it is.
    feed(event::NodeStarted{.node = BrokerId(1)}, 1);
    feed(event::NodeStopped{BrokerId(1), false}, 1);
    view = feed.reducer.publish();
    const InspectorFacts inspected = inspect(*view, Selection::ofPartition(QStringLiteral("orders"), 0), {});
    const FactSection& state = inspected.overview.front();
    const auto fact = [&](const char* key) {
      const auto at = std::find_if(state.facts.begin(), state.facts.end(), [key](const Fact& f) { return f.key == QLatin1String(key); });
      return at == state.facts.end() ? QString() : at->value;
    };
    QCOMPARE(fact("High watermark"), QStringLiteral("42"));
    QCOMPARE(fact("Log end (LEO)"), QStringLiteral("55"));
    QVERIFY2(state.note.contains(QStringLiteral("last known, of node 2")), qPrintable(state.note));
  }

  // A topic holds what it held when the node of a leader ends: the farthest of the others has it.
  void aTopicWithoutALeaderIsNotEmpty() {
    Feed feed;
    feed(event::TopicCreated{kTopic, "orders", false});
    const std::vector<BrokerId> all{BrokerId(1), BrokerId(2), BrokerId(3)};
    std::map<int, std::shared_ptr<event::ReplicaCounters>> logs;
    for (const int id : {1, 2, 3}) {
      feed(event::NodeStarted{.node = BrokerId(id)}, id);
      logs[id] = std::make_shared<event::ReplicaCounters>();
      logs[id]->log_end_offset.set(40 + id);
      logs[id]->size_bytes.set(1'000);
      feed(event::ReplicaOpened{BrokerId(id), kTopic, PartitionIndex(0), logs[id]}, id);
    }
    feed(event::PartitionChanged{kTopic, PartitionIndex(0), BrokerId(1), LeaderEpoch(0), 1, all, all});
    const auto partition = [&] { return *feed.reducer.publish()->find_topic("orders")->partitions[0]; };
    const auto offsets = [&] {
      const InspectorFacts about = inspect(*feed.reducer.publish(), Selection::ofTopic(QStringLiteral("orders")), {});
      const auto& facts = about.overview.front().facts;
      const auto at = std::find_if(facts.begin(), facts.end(), [](const Fact& f) { return f.key == QLatin1String("Offsets"); });
      return at == facts.end() ? QString() : at->value;
    };
    const auto records = [&] {
      TopicModel model;
      model.update(*feed.reducer.publish(), 0);
      return model.facts(QStringLiteral("orders"))->records;
    };
    QCOMPARE(known_counters(partition()).counters, logs[1].get());  // the leader, whoever else is farther
    QCOMPARE(offsets(), QStringLiteral("41"));
    feed(event::NodeStopped{BrokerId(1), false}, 1);
    QCOMPARE(known_counters(partition()).counters, logs[3].get());
    QCOMPARE(offsets(), QStringLiteral("43"));
    QCOMPARE(records(), std::int64_t{43});
    feed(event::NodeStopped{BrokerId(2), false}, 2);
    feed(event::NodeStopped{BrokerId(3), false}, 3);
    QCOMPARE(known_counters(partition()).counters, nullptr);
  }
};

QTEST_MAIN(TestQuorum)
#include "tst_quorum.moc"
