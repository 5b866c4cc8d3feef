// SPDX-License-Identifier: Apache-2.0
// Selections and their addresses, topic rules, events and topics as tables, what the inspector says.
#include <QSignalSpy>
#include <QTest>

#include "tests/ui/support/fake_session.h"
#include "ui/models/event_model.h"
#include "ui/models/event_text.h"
#include "ui/models/inspector_facts.h"
#include "ui/models/topic_model.h"
#include "ui/models/topic_rules.h"
#include "ui/session/selection.h"

using namespace hw::ui;

class TestModels : public QObject {
  Q_OBJECT

 private slots:
  void addresses_read_back_data() {
    QTest::addColumn<Selection>("selection");
    QTest::addColumn<QString>("address");
    QTest::newRow("cluster") << Selection::ofCluster() << "cluster:";
    QTest::newRow("node") << Selection::ofNode(3) << "node:3";
    QTest::newRow("topic") << Selection::ofTopic("demo.orders") << "demo.orders";
    QTest::newRow("partition") << Selection::ofPartition("orders", 2) << "orders/2";
    QTest::newRow("record") << Selection::ofRecord("orders", 2, 1042) << "orders/2@1042";
    QTest::newRow("range") << Selection::ofRange("orders", 2, 1036, 1038) << "orders/2@1036..1038";
    QTest::newRow("group") << Selection::ofGroup("a/b@c:d") << "group:a/b@c:d";
    QTest::newRow("member") << Selection::ofMember("g/m:x", "c-1") << "group:g/m:x/m:c-1";
    QTest::newRow("connection") << Selection::ofConnection(17) << "wire:conn17";
    QTest::newRow("topic that looks like a word") << Selection::ofTopic("cluster") << "cluster";
    QTest::newRow("last offset") << Selection::ofRecord("t", 0, INT64_MAX) << "t/0@9223372036854775807";
  }
  void addresses_read_back() {
    QFETCH(Selection, selection);
    QFETCH(QString, address);
    QCOMPARE(selection.address(), address);
    const auto parsed = Selection::parse(address);
    QVERIFY(parsed.has_value());
    QVERIFY(*parsed == selection);
  }

  void what_is_no_address_data() {
    QTest::addColumn<QString>("text");
    for (const char* text : {"", " ", "orders/", "orders/x", "orders/-1", "orders/1@", "orders/1@x", "orders/1@5..3",
                             "orders/1@9223372036854775808", "a b", "node:", "node:x", "node:99999999999", "group:",
                             "group:/m:x", "group:g/m:", "wire:conn", "wire:conn+1", "..", "ä", "orders/1@1..", "wire:x"}) {
      QTest::newRow(text) << text;
    }
  }
  void what_is_no_address() {
    QFETCH(QString, text);
    QVERIFY(!Selection::parse(text).has_value());
  }

  void topic_names_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<int>("level");
    QTest::newRow("empty") << "" << 2;
    QTest::newRow("good") << "payments" << 0;
    QTest::newRow("dot and underscore") << "pay.ments_x" << 1;
    QTest::newRow("dot") << "." << 2;
    QTest::newRow("two dots") << ".." << 2;
    QTest::newRow("three dots") << "..." << 0;
    QTest::newRow("space") << "my topic" << 2;
    QTest::newRow("slash") << "a/b" << 2;
    QTest::newRow("umlaut") << "größe" << 2;
    QTest::newRow("249") << QString(249, 'a') << 0;
    QTest::newRow("250") << QString(250, 'a') << 2;
    QTest::newRow("exists") << "demo.orders" << 2;
    QTest::newRow("collides") << "demo_orders" << 2;
    QTest::newRow("metadata") << "__cluster_metadata" << 2;
  }
  void topic_names() {
    QFETCH(QString, name);
    QFETCH(int, level);
    FakeSession session;
    QCOMPARE(static_cast<int>(check_topic_name(name, *session.view()).level), level);
  }

  void more_replicas_than_brokers_are_refused() {
    FakeSession session;
    QVERIFY(check_replication_factor(1, *session.view()).level == RuleAnswer::Level::ok);
    QVERIFY(check_replication_factor(2, *session.view()).level == RuleAnswer::Level::error);
  }

  void events_arrive_once_and_in_order() {
    FakeSession session;
    EventModel model;
    model.setAll(true);
    model.update(*session.view());
    const int first = model.rowCount();
    QVERIFY(first > 5);
    model.update(*session.view());
    QCOMPARE(model.rowCount(), first);
    QSignalSpy inserted(&model, &QAbstractItemModel::rowsInserted);
    session.deleteTopic("orders-state", [](const QString&) {});
    model.update(*session.view());
    QCOMPARE(model.rowCount(), first + 1);
    QCOMPARE(inserted.count(), 1);
    QVERIFY(model.index(first, EventModel::what).data().toString().contains("orders-state"));
    QCOMPARE(model.index(first, EventModel::kind).data().toString(), QStringLiteral("topic.deleted"));
  }

  void the_short_list_leaves_out_internal_topics() {
    FakeSession session;
    EventModel model;
    model.update(*session.view());
    for (int row = 0; row < model.rowCount(); ++row) {
      QVERIFY(!model.index(row, EventModel::what).data().toString().contains("__consumer_offsets"));
    }
    const int few = model.rowCount();
    model.setAll(true);
    model.update(*session.view());
    QVERIFY(model.rowCount() > few);
  }

  void topics_follow_the_view_and_filter() {
    FakeSession session;
    TopicModel model;
    model.update(*session.view(), 0);
    QCOMPARE(model.rowCount(), 2);
    QCOMPARE(model.topicAt(0), QStringLiteral("demo.orders"));
    model.setInternalShown(true);
    model.update(*session.view(), 0);
    QCOMPARE(model.rowCount(), 3);
    model.setMatcher([](const TopicFacts& facts) { return facts.topic->name.find("state") != std::string::npos; });
    model.update(*session.view(), 0);
    QCOMPARE(model.rowCount(), 1);
    QCOMPARE(model.topicAt(0), QStringLiteral("orders-state"));
  }

  // What came while nobody looked is of no second, and the first look after it is none either.
  void rates_begin_anew_when_somebody_looks_again() {
    FakeSession session;
    TopicModel model;
    const auto rate = [&] { return model.index(0, TopicModel::rate_in).data().toString(); };
    model.update(*session.view(), -1);
    QCOMPARE(rate(), QStringLiteral("–"));
    QVERIFY(model.moving());
    session.tick(1'000);
    model.update(*session.view(), 1);
    QVERIFY(rate().endsWith(QStringLiteral("/s")) && rate() != QStringLiteral("0/s"));
    for (int i = 0; i < 20; ++i) {
      session.tick(1'000);
    }
    model.update(*session.view(), -1);
    QCOMPARE(rate(), QStringLiteral("–"));
    QCOMPARE(model.facts(QStringLiteral("demo.orders"))->in, 0.0);
    model.update(*session.view(), 1);
    QCOMPARE(rate(), QStringLiteral("0/s"));
  }

  void only_cells_that_differ_change() {
    FakeSession session;
    TopicModel model;
    model.update(*session.view(), 1);
    QCOMPARE(model.index(0, TopicModel::rate_in).data().toString(), QStringLiteral("–"));  // one look is no rate
    model.update(*session.view(), 1);
    QCOMPARE(model.index(0, TopicModel::rate_in).data().toString(), QStringLiteral("0/s"));
    QSignalSpy changed(&model, &QAbstractItemModel::dataChanged);
    model.update(*session.view(), 1);
    QCOMPARE(changed.count(), 0);
    session.tick(1'000);
    model.update(*session.view(), 1);
    QVERIFY(changed.count() > 0);
    for (const QList<QVariant>& arguments : changed) {
      QCOMPARE(arguments.at(0).toModelIndex().row(), 0);  // only demo.orders moves
    }
    QCOMPARE(model.index(0, TopicModel::records).data().toString(), QStringLiteral("4"));
  }

  void a_partition_explains_its_high_watermark() {
    FakeSession session(FakeSession::Options{.nodes = 3});
    for (int i = 0; i < 40; ++i) {
      session.tick(250);
    }
    session.stopNode(2);
    for (int i = 0; i < 40; ++i) {
      session.tick(250);
    }
    const InspectorFacts facts = inspect(*session.view(), Selection::ofPartition("demo.orders", 0), {});
    QVERIFY(facts.exists);
    QCOMPARE(facts.title, QStringLiteral("demo.orders/0"));
    const FactSection& explain = facts.overview.at(1);
    QVERIFY(explain.prose.contains("node 2"));
    QVERIFY(explain.formula.join(' ').contains("min LEO over ISR"));
    QVERIFY(facts.explain.size() >= 4);
  }

  void a_node_that_stopped_itself_says_why() {
    FakeSession session(FakeSession::Options{.nodes = 3});
    session.tick(250);
    const auto says = [&](const char* word) {
      const InspectorFacts facts = inspect(*session.view(), Selection::ofNode(2), {});
      const std::vector<Fact>& state = facts.overview.at(0).facts;
      return std::any_of(state.begin(), state.end(), [&](const Fact& fact) { return fact.value.contains(QLatin1String(word)); });
    };
    QVERIFY(!says("stopped itself"));
    session.stopNode(2, "cannot flush the metadata log");
    QVERIFY(says("stopped itself"));
    QVERIFY(says("cannot flush the metadata log"));
    const EventText told = describe_event(session.view()->recent->back(), *session.view());
    QVERIFY2(told.sentence.contains(QStringLiteral("stopped itself: cannot flush the metadata log")), qPrintable(told.sentence));
  }

  void what_is_gone_is_said() {
    FakeSession session;
    for (const Selection& s : {Selection::ofTopic("nothing"), Selection::ofPartition("demo.orders", 99), Selection::ofNode(9),
                               Selection::ofGroup("no"), Selection::ofConnection(1234), Selection::ofMember("no", "m")}) {
      const InspectorFacts facts = inspect(*session.view(), s, {});
      QVERIFY(!facts.exists);
      QVERIFY(!facts.overview.empty());
    }
  }

  void the_same_object_keeps_its_shape() {
    FakeSession session;
    const Selection s = Selection::ofPartition("demo.orders", 1);
    session.tick(1'000);
    const InspectorFacts before = inspect(*session.view(), s, {});
    session.tick(1'000);
    const InspectorFacts after = inspect(*session.view(), s, {});
    QVERIFY(same_shape(before.overview, after.overview));
    QVERIFY(!same_shape(before.overview, before.explain));
  }
};

QTEST_MAIN(TestModels)
#include "tst_models.moc"
