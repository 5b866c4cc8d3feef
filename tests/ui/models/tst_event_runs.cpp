// SPDX-License-Identifier: Apache-2.0
// What a list of events makes of a flood: one row for what one cause did, nothing that matters pushed out, every number one that the
// list can show, and work in proportion to what is new.
#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <QTest>
#include <memory>

#include "ui/filter/filter_language.h"
#include "ui/models/event_filter.h"
#include "ui/models/event_model.h"
#include "ui/window/language.h"

using namespace hw;      // NOLINT(google-build-using-namespace): a test
using namespace hw::ui;  // NOLINT(google-build-using-namespace): a test

namespace {

constexpr Uuid kTopic{7, 9};

// A cluster of one topic, and what an observer would have told of it.
class Story {
 public:
  explicit Story(int partitions) {
    view_.topic_names = std::make_shared<const std::map<Uuid, std::string>>(std::map<Uuid, std::string>{{kTopic, "orders"}});
    topic_.name = "orders";
    topic_.id = kTopic;
    for (int i = 0; i < partitions; ++i) {
      observe::PartitionView p;
      p.topic_id = kTopic;
      p.index = PartitionIndex(i);
      p.leader = BrokerId(1 + i % 3);
      p.partition_epoch = 0;
      p.isr = {BrokerId(1), BrokerId(2), BrokerId(3)};
      topic_.partitions.push_back(std::make_shared<const observe::PartitionView>(p));
    }
    publish();
  }
  void at(std::int64_t ms) { now_ms_ = ms; }
  void happen(event::Any what, int node = 1) {
    recent_.push_back({++number_, BrokerId(node), WallTime{now_ms_}, std::make_shared<const event::Any>(std::move(what))});
  }
  // Node `gone` is out: what it led is led by `next`, and it is in sync nowhere. The events come from several nodes.
  void fail(int i, int gone, int next) {
    auto p = std::make_shared<observe::PartitionView>(*topic_.partitions[static_cast<std::size_t>(i)]);
    std::erase(p->isr, BrokerId(gone));
    p->leader = p->leader == BrokerId(gone) ? BrokerId(next) : p->leader;
    p->partition_epoch += 1;
    p->changed_at = WallTime{now_ms_};
    topic_.partitions[static_cast<std::size_t>(i)] = p;
    event::PartitionChanged change;
    change.topic_id = kTopic;
    change.partition = PartitionIndex(i);
    change.leader = p->leader;
    change.partition_epoch = p->partition_epoch;
    change.isr = p->isr;
    happen(change, 1 + i % 2);
  }
  const observe::ClusterView& publish() {
    if (recent_.size() > observe::ClusterView::kRecentMax) {
      recent_.erase(recent_.begin(), recent_.end() - static_cast<std::ptrdiff_t>(observe::ClusterView::kRecentMax));
    }
    view_.recent = std::make_shared<const std::vector<observe::RecentEvent>>(recent_);
    std::map<std::string, std::shared_ptr<const observe::TopicView>, std::less<>> topics;
    topics.emplace("orders", std::make_shared<const observe::TopicView>(topic_));
    view_.topics = std::make_shared<const decltype(topics)>(std::move(topics));
    return view_;
  }
  observe::ClusterView& view() { return view_; }

 private:
  observe::ClusterView view_;
  observe::TopicView topic_;
  std::vector<observe::RecentEvent> recent_;
  std::uint64_t number_ = 0;
  std::int64_t now_ms_ = 1'764'417'810'000;
};

constexpr std::int64_t kBegin = 1'764'417'810'000;

QString said(const EventModel& model, int row) { return model.index(row, EventModel::what).data().toString(); }

int row_of(const EventModel& model, const char* words) {
  for (int i = 0; i < model.rowCount(); ++i) {
    if (said(model, i).contains(QString::fromUtf8(words))) {
      return i;
    }
  }
  return -1;
}

filter::ProgramPtr filter_of(const char* text) {
  const auto parsed = filter::parse(QString::fromUtf8(text), *event_vocabulary(), {});
  return parsed.program;
}

int rows(const EventModel& model) {
  int out = 0;
  for (const Severity severity : kSeverities) {
    out += model.count(severity).rows;
  }
  return out;
}

}  // namespace

class TestEventRuns : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() { install_language(*qApp); }

  void oneKillIsAFewRows() {
    constexpr int kPartitions = 10'000;
    Story story(kPartitions);
    EventModel model;
    const QAbstractItemModelTester tester(&model);
    story.happen(event::NodeReady{BrokerId(1)});
    model.update(story.publish());
    story.happen(event::NodeStopped{BrokerId(2), false, {}}, 2);
    std::uint64_t most = 0;
    for (int i = 0; i < kPartitions; ++i) {
      story.at(kBegin + 1'000 + i / 10);
      story.fail(i, 2, 1);
      if (i % 1'000 == 999) {
        const std::uint64_t before = model.journal().described();
        QSignalSpy changed(&model, &QAbstractItemModel::dataChanged);
        QSignalSpy inserted(&model, &QAbstractItemModel::rowsInserted);
        model.update(story.publish());
        most = std::max(most, model.journal().described() - before);
        QVERIFY(changed.count() + inserted.count() <= 4);
      }
    }
    QCOMPARE(model.rowCount(), 4);
    QVERIFY2(said(model, 1).contains(QStringLiteral("Node 2 was killed")), qPrintable(said(model, 1)));
    QVERIFY2(row_of(model, "Leader moved 2 → 1: 3,333 partitions (orders/1, orders/4, orders/7, …)") > 1, qPrintable(said(model, 3)));
    QVERIFY2(row_of(model, "Node 2 left the in-sync replicas: 6,667 partitions (orders/0, orders/2, orders/3, …)") > 1, qPrintable(said(model, 2)));
    // Sentences were made for what the rows name, whatever the number of events.
    QVERIFY2(most <= 8, qPrintable(QString::number(most)));
    QCOMPARE(model.count(Severity::notice).rows, 3);
    QCOMPARE(model.count(Severity::notice).events, std::int64_t{1 + kPartitions});
    QCOMPARE(model.hidden(), 0);
    // Told by two nodes: of none alone.
    QVERIFY(model.index(3, EventModel::node).data().toString().isEmpty());
    QCOMPARE(model.about(3), Selection::ofTopic(QStringLiteral("orders")));
  }

  // One node's events come after another's, also where they happened before them.
  void rowsAreInOrderOfTime() {
    Story story(3);
    EventModel model;
    model.setAll(true);
    story.at(kBegin + 696);
    story.happen(event::NodeReady{BrokerId(1)}, 1);
    story.at(kBegin + 695);
    story.happen(event::NodeStopped{BrokerId(2), false, {}}, 2);
    model.update(story.publish());
    QCOMPARE(model.rowCount(), 2);
    QVERIFY2(said(model, 0).contains(QStringLiteral("Node 2 was killed")), qPrintable(said(model, 0)));
  }

  void whatMattersIsNotPushedOut() {
    Story story(3);
    EventModel model;
    const QAbstractItemModelTester tester(&model);
    story.happen(event::NodeStopped{BrokerId(2), false, {}}, 2);
    story.happen(event::RequestRefused{ConnectionId(4), 0, 0, 35, "too old"});
    model.update(story.publish());
    constexpr int kFlood = 3'000;
    for (int i = 0; i < kFlood; ++i) {
      story.happen(event::GroupStateChanged{"g" + std::to_string(i), "Stable", 1, "range", ""});
      if (i % 500 == 499) {
        model.update(story.publish());
      }
    }
    QVERIFY(row_of(model, "Node 2 was killed") > 0);
    QVERIFY(row_of(model, "too old") > 0);
    QCOMPARE(model.count(Severity::notice).rows, static_cast<int>(EventJournal::kRowsMax));
    QCOMPARE(model.rowCount(), rows(model) + 1);  // and one that says what is not there
    QVERIFY2(said(model, 0).contains(QStringLiteral("2,500 notices")), qPrintable(said(model, 0)));
    model.setSeverities(0b1000);
    QCOMPARE(model.rowCount(), 1);  // of what is shown nothing is missing
    QCOMPARE(model.hidden(), rows(model) - 1);
  }

  void whatWasNeverSeenIsSaidAndWhatChangedIsListed() {
    constexpr int kPartitions = 10'000;
    Story story(kPartitions);
    auto node = std::make_shared<observe::NodeView>();
    node->state = observe::NodeView::State::running;
    story.view().nodes[BrokerId(2)] = node;
    EventModel model;
    const QAbstractItemModelTester tester(&model);
    story.happen(event::NodeReady{BrokerId(2)}, 2);
    model.update(story.publish());
    node = std::make_shared<observe::NodeView>(*node);
    node->state = observe::NodeView::State::killed;
    node->since = WallTime{kBegin + 5};
    story.view().nodes[BrokerId(2)] = node;
    story.happen(event::NodeStopped{BrokerId(2), false, {}}, 2);
    for (int i = 0; i < kPartitions; ++i) {
      story.fail(i, 2, 1);
    }
    model.update(story.publish());
    QVERIFY(row_of(model, "8,001 events came too fast") > 0);
    QVERIFY(row_of(model, "Node 2 was killed") > 0);
    QVERIFY(row_of(model, "Leader moved 2 → 1: 3,333 partitions") > 0);
    QVERIFY(row_of(model, "Node 2 left the in-sync replicas: 6,667 partitions") > 0);
    QCOMPARE(model.rowCount(), 5);
  }

  void aRowOpensAndIsFilteredToItsEvents() {
    Story story(600);
    EventModel model;
    const QAbstractItemModelTester tester(&model);
    model.update(story.view());
    for (int i = 0; i < 600; ++i) {
      story.fail(i, 2, 1);
    }
    story.happen(event::NodeStopped{BrokerId(2), false, {}}, 2);
    model.update(story.publish());
    QCOMPARE(model.rowCount(), 3);
    const int moved = row_of(model, "Leader moved");
    QVERIFY(model.canOpen(moved) && !model.isOpen(moved) && !model.canOpen(2));
    model.setOpen(moved, true);
    QVERIFY(model.isOpen(moved));
    QCOMPARE(model.rowCount(), 3 + 200);
    QVERIFY2(said(model, moved + 1).startsWith(QStringLiteral("orders/1: leader node 1")), qPrintable(said(model, moved + 1)));
    QCOMPARE(model.about(moved + 1), Selection::ofPartition(QStringLiteral("orders"), 1));
    QCOMPARE(model.outer(moved + 7), moved);
    QVERIFY(model.index(moved + 1, 0).data(EventModel::inner_role).toBool());
    model.setOpen(moved, false);
    QCOMPARE(model.rowCount(), 3);
    model.setOpen(row_of(model, "left the in-sync"), true);
    QVERIFY(row_of(model, "200 more: a filter such as partition == 7") > 0);

    model.setFilter(filter_of("partition == 301"));
    QTRY_COMPARE(model.rowCount(), 1);
    QVERIFY2(said(model, 0).startsWith(QStringLiteral("orders/301: leader node 1")), qPrintable(said(model, 0)));
    QCOMPARE(model.about(0).address(), QStringLiteral("orders/301"));
    QCOMPARE(model.shown() + model.hidden(), 3);
    model.setFilter(filter_of("partition in 1..8 && text contains \"Leader moved\""));
    QTRY_COMPARE(model.shown(), 1);
    QTRY_COMPARE(said(model, 0), QStringLiteral("Leader moved 2 → 1: 3 partitions (orders/1, orders/4, orders/7)"));
    model.setFilter(nullptr);
    QCOMPARE(model.shown(), 3);
  }

  void aFilterJudgesInSlices() {
    Story story(2'000);
    EventModel model;
    const QAbstractItemModelTester tester(&model);
    model.update(story.view());
    for (int i = 0; i < 2'000; ++i) {
      story.fail(i, 2, 1);
    }
    model.update(story.publish());
    const std::uint64_t before = model.journal().described();
    model.setFilter(filter_of("partition >= 0"));
    QVERIFY(model.journal().described() - before <= EventModel::kJudgedAtOnce);
    QTRY_VERIFY(row_of(model, "left the in-sync replicas: 1,333 partitions") >= 0);
    QTRY_VERIFY(row_of(model, "Leader moved 2 → 1: 667 partitions") >= 0);
  }

  // The same again, or much later, is another row.
  void anotherCauseIsAnotherRow() {
    Story story(4);
    EventModel model;
    const QAbstractItemModelTester tester(&model);
    model.update(story.view());
    story.fail(0, 2, 1);
    story.fail(1, 2, 1);
    story.fail(3, 2, 1);
    story.at(kBegin + EventJournal::kGapMs + 1);
    story.fail(2, 2, 1);
    model.update(story.publish());
    QCOMPARE(model.rowCount(), 3);
    QVERIFY(said(model, 0).contains(QStringLiteral("2 partitions (orders/0, orders/3)")));
    QVERIFY2(said(model, 1).startsWith(QStringLiteral("orders/1: leader node 1")), qPrintable(said(model, 1)));  // one alone is told as ever
    QVERIFY(said(model, 2).startsWith(QStringLiteral("orders/2: leader node 3")));
  }

  void eventsOfARowAreKeptUpToABound() {
    constexpr int kMany = 14'000;
    Story story(kMany);
    EventModel model;
    model.update(story.view());
    for (int i = 0; i < kMany; ++i) {
      story.fail(i, 2, 1);
      if (i % 2'000 == 1'999) {
        model.update(story.publish());
      }
    }
    std::size_t kept = 0;
    for (const auto& [id, run] : model.journal().runs()) {
      kept += run.parts.size();
    }
    QCOMPARE(kept, EventJournal::kPartsMax);
    QCOMPARE(model.count(Severity::notice).events, std::int64_t{kMany});
    const int left = row_of(model, "left the in-sync replicas: 9,333 partitions");
    QVERIFY(left >= 0);
    model.setOpen(left, true);
    QVERIFY(row_of(model, "9,133 more: a filter such as partition == 7") > 0);
  }

  // What a severity counts is what it shows, with a filter too, and also where the events of a row are not kept any more.
  void aSeverityCountsWhatItShows() {
    constexpr int kMany = 18'000;  // a third each: the first row keeps none of its events, the second some
    Story story(kMany);
    EventModel model;
    const QAbstractItemModelTester tester(&model);
    model.update(story.view());
    for (int node = 1; node <= 3; ++node) {
      story.at(kBegin + node * 10'000);
      int told = 0;
      for (int i = node - 1; i < kMany; i += 3) {
        story.fail(i, node, -1);
        if (++told % 1'500 == 0) {
          model.update(story.publish());
        }
      }
      model.update(story.publish());
    }
    QCOMPARE(model.count(Severity::error).rows, 3);
    const auto shows = [&model](Severity severity) {
      model.setSeverities(1U << static_cast<unsigned>(severity));
      const int rows = model.shown();
      model.setSeverities(EventModel::kAllSeverities);
      return rows;
    };
    for (const char* text :
         {"severity == error", "text contains \"leader\"", "partition in 1..40", "partition == 17999", "topic == \"none\"", "severity == notice"}) {
      model.setFilter(filter_of(text));
      for (const Severity severity : kSeverities) {
        QVERIFY2(model.count(severity).rows == shows(severity), text);
      }
    }
    model.setFilter(filter_of("severity == error"));
    QTRY_COMPARE(model.count(Severity::error).events, std::int64_t{kMany});
    QCOMPARE(model.shown(), 3);
    QVERIFY2(said(model, 1).contains(QStringLiteral("6,000 partitions")), qPrintable(said(model, 1)));
    model.setFilter(filter_of("partition == 17999"));  // node 3's
    QTRY_COMPARE(model.count(Severity::error).rows, 1);
    QCOMPARE(model.count(Severity::error).events, std::int64_t{1});
    QCOMPARE(model.hidden(), 2);
  }

  void anotherClusterBeginsAnew() {
    EventModel model;
    Story first(3);
    first.happen(event::NodeReady{BrokerId(1)});
    first.happen(event::NodeReady{BrokerId(2)}, 2);
    model.update(first.publish());
    QCOMPARE(model.rowCount(), 2);
    Story second(3);
    second.happen(event::NodeReady{BrokerId(7)}, 7);
    model.update(second.publish());
    QCOMPARE(model.rowCount(), 1);
    QVERIFY(said(model, 0).contains(QStringLiteral("Node 7")));
  }
};

QTEST_MAIN(TestEventRuns)
#include "tst_event_runs.moc"
