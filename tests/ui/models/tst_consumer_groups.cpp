// SPDX-License-Identifier: Apache-2.0
// Groups of the consumer protocol (KIP-848) in the window's words: kind, state, epochs, targets, rebalances.
#include <QtTest>

#include "engine/observe/reducer.h"
#include "ui/models/event_text.h"
#include "ui/models/group_model.h"
#include "ui/models/group_why.h"
#include "ui/models/inspector_facts.h"
#include "ui/models/object_export.h"

using namespace hw;
using namespace hw::ui;

namespace {

using Partitions = std::vector<std::pair<std::string, PartitionIndex>>;

Partitions orders(const std::vector<std::int32_t>& partitions) {
  Partitions all;
  for (const std::int32_t partition : partitions) {
    all.emplace_back("orders", PartitionIndex(partition));
  }
  return all;
}

event::GroupAssigned::Member member(const std::string& id, std::int32_t epoch, const std::vector<std::int32_t>& has,
                                    const std::vector<std::int32_t>& target) {
  event::GroupAssigned::Member m;
  m.member_id = id + "-Vd1fOkSCTTO";
  m.client_id = id;
  m.partitions = orders(has);
  m.epoch = epoch;
  m.target = orders(target);
  return m;
}

event::GroupStateChanged state(const std::string& name, std::int32_t epoch) {
  return {"g", name, epoch, "uniform", {}, "consumer", event::GroupProtocol::consumer};
}

struct Feed {
  observe::Reducer reducer;
  std::uint64_t sequence = 0;

  void operator()(event::Any e) { reducer.apply({++sequence, BrokerId(1), WallTime{1'000'000}, std::move(e)}); }

  // The second of two members waits for a partition that the first has to give back.
  observe::ViewPtr between() {
    (*this)(state("Reconciling", 6));
    event::GroupAssigned assigned;
    assigned.group = "g";
    assigned.generation = 6;
    assigned.kind = event::GroupProtocol::consumer;
    assigned.target_epoch = 6;
    assigned.members = {member("one", 5, {0, 1, 2}, {0, 1}), member("two", 6, {}, {2})};
    (*this)(assigned);
    return reducer.publish();
  }
};

QString fact(const InspectorFacts& facts, const QString& label) {
  for (const FactSection& section : facts.overview) {
    for (const Fact& one : section.facts) {
      if (one.key == label) {
        return one.value;
      }
    }
  }
  return {};
}

}  // namespace

class TestConsumerGroups : public QObject {
  Q_OBJECT

 private slots:

  void aRowOfTheTable() {
    Feed feed;
    GroupModel model;
    model.update(*feed.between(), 1'002'000);
    QCOMPARE(model.rowCount(), 1);
    const auto cell = [&](GroupModel::Column column, int role = Qt::AccessibleTextRole) { return model.index(0, column).data(role).toString(); };
    QCOMPARE(cell(GroupModel::kind), QStringLiteral("consumer"));
    QCOMPARE(cell(GroupModel::state), QStringLiteral("Reconciling"));
    QCOMPARE(cell(GroupModel::state, GroupModel::detail_role), QStringLiteral("epoch 6"));
    QVERIFY(cell(GroupModel::state, Qt::ToolTipRole).contains(QStringLiteral("read what they keep")));
    QCOMPARE(cell(GroupModel::members), QStringLiteral("2"));
    QCOMPARE(cell(GroupModel::status), QStringLiteral("rebalancing"));
    QCOMPARE(model.count(GroupKind::consumer), 1);
    QCOMPARE(model.count(GroupKind::classic), 0);
    QVERIFY(why(*model.facts(0), {}, 1'002'000).headline.contains(QStringLiteral("go on with what they keep")));

    feed(state("Stable", 6));
    model.update(*feed.reducer.publish(), 1'003'000);
    QCOMPARE(cell(GroupModel::status), QStringLiteral("no position"));
    QVERIFY(cell(GroupModel::state, Qt::ToolTipRole).isEmpty());
    // While its members change the protocol, the group changes its kind.
    feed(event::GroupStateChanged{"g", "Stable", 7, "range", {}, "consumer"});
    model.update(*feed.reducer.publish(), 1'004'000);
    QCOMPARE(cell(GroupModel::kind), QStringLiteral("classic"));
    QCOMPARE(cell(GroupModel::state, GroupModel::detail_role), QStringLiteral("gen 7"));
  }

  void whatAMemberHasAndShallHave() {
    QCOMPARE(target_words(member("m", 5, {0, 1, 2}, {0, 1})), QStringLiteral("gives back orders 2"));
    QCOMPARE(target_words(member("m", 5, {}, {2})), QStringLiteral("waits for orders 2"));
    QCOMPARE(target_words(member("m", 5, {0, 1}, {1, 2, 3})), QStringLiteral("gives back orders 0, waits for orders 2, 3"));
    QVERIFY(target_words(member("m", 5, {0}, {0})).isEmpty());
    QVERIFY(target_words(member("m", -1, {0}, {})).isEmpty());  // of a classic group nothing is known
  }

  void theInspector() {
    Feed feed;
    const observe::ViewPtr view = feed.between();
    const InspectorFacts group = inspect(*view, Selection::ofGroup(QStringLiteral("g")), {});
    QCOMPARE(group.subtitle, QStringLiteral("Consumer group · consumer"));
    QCOMPARE(fact(group, QStringLiteral("Group epoch")), QStringLiteral("6"));
    QCOMPARE(fact(group, QStringLiteral("Target epoch")), QStringLiteral("6"));
    QVERIFY(fact(group, QStringLiteral("Generation")).isEmpty());
    const InspectorFacts one = inspect(*view, Selection::ofMember(QStringLiteral("g"), QStringLiteral("one-Vd1fOkSCTTO")), {});
    QCOMPARE(fact(one, QStringLiteral("Member epoch")), QStringLiteral("5, the group is at 6"));
    QCOMPARE(fact(one, QStringLiteral("Protocol")), QStringLiteral("consumer"));
    QVERIFY(fact(one, QStringLiteral("Role")).isEmpty());
    QCOMPARE(fact(one, QStringLiteral("orders/1")), QStringLiteral("assigned"));
    QCOMPARE(fact(one, QStringLiteral("orders/2")), QStringLiteral("to be given back"));
    const InspectorFacts two = inspect(*view, Selection::ofMember(QStringLiteral("g"), QStringLiteral("two-Vd1fOkSCTTO")), {});
    QCOMPARE(fact(two, QStringLiteral("orders/2")), QStringLiteral("to come"));
    const QString json = object_json(*view, Selection::ofGroup(QStringLiteral("g")));
    QVERIFY2(json.contains("\"epoch\": 6") && json.contains("\"target_epoch\": 6") && !json.contains("generation"), qPrintable(json));
  }

  void itsEventsInWords() {
    const EventText told = describe_event(state("Assigning", 6), BrokerId(1), EventNames());
    QCOMPARE(told.sentence, QStringLiteral("Group g is Assigning, epoch 6"));
    event::GroupRebalanced rebalance;
    rebalance.kind = event::GroupProtocol::consumer;
    QVERIFY(!eager(rebalance));  // nothing was kept, but nobody stood still for others
    rebalance.kind = event::GroupProtocol::classic;
    QVERIFY(eager(rebalance));
    rebalance.triggers = {{event::GroupRebalanced::Cause::topics_changed, "m", "one", {}, {}}};
    QCOMPARE(trigger_words(rebalance), QStringLiteral("the topics that it reads changed"));
    rebalance.triggers = {{event::GroupRebalanced::Cause::revoke_expired, "m", "one", {}, {}}};
    QVERIFY(trigger_words(rebalance).startsWith(QStringLiteral("one did not give its partitions back in time")));
  }
};

QTEST_MAIN(TestConsumerGroups)
#include "tst_consumer_groups.moc"
