// SPDX-License-Identifier: Apache-2.0
#include <QAccessible>
#include <QApplication>
#include <QPainter>
#include <QSignalSpy>
#include <QTableView>
#include <QtTest>
#include <algorithm>

#include "tests/ui/support/fake_session.h"
#include "ui/theme/theme.h"
#include "ui/views/cluster_page.h"

using namespace hw::ui;

namespace {

// A page on a session, with a clock that only moves when told.
struct Fixture {
  explicit Fixture(FakeSession::Options options = {}) : session(options) {
    page.resize(944, 680);
    page.attach(&session);
    page.canvas()->setClock([this] { return now; });
    page.show();
    page.activateWindow();
    if (!QTest::qWaitForWindowActive(&page)) {
      qWarning("the window never became active");
    }
    frame(0);
  }
  void frame(int ms) {
    now += ms;
    if (ms > 0) {
      session.tick(ms);
    }
    page.deliverFrame();
    QCoreApplication::processEvents();
  }
  ClusterCanvas& canvas() { return *page.canvas(); }
  int find(const Selection& selection) { return canvas().indexOf(selection); }

  std::int64_t now = 10'000;
  FakeSession session;
  ClusterPage page;
};

QColor pixel(QWidget& widget, QPointF at) {
  return widget.grab().toImage().pixelColor(at.toPoint());
}

}  // namespace

class TestCluster : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() { Theme::current().install(*qApp); }
  void init() { Theme::current().setMode(Theme::Mode::dark); }
  void shows_what_the_view_holds();
  void who_writes_points_at_a_leader();
  void replica_rows_are_painted_with_tokens_data();
  void replica_rows_are_painted_with_tokens();
  void an_edge_appears_with_its_rate();
  void rates_are_right_when_the_page_comes_back();
  void copies_take_nothing_from_producers();
  void a_group_shows_what_it_reads_itself();
  void who_shares_a_client_id_shows_its_commits();
  void a_replica_counts_down();
  void rates_begin_anew_where_others_lead();
  void nothing_goes_to_who_leads_nothing_of_the_topic();
  void what_lay_there_is_not_read_now();
  void who_writes_follows_the_leader();
  void a_dead_line_ends_beside_the_others();
  void links_count_what_was_produced();
  void nothing_flows_to_a_node_that_is_out();
  void the_table_has_the_rates_of_now();
  void a_group_says_what_is_wrong_with_it();
  void controllers_are_as_their_nodes();
  void internal_partitions_are_counted_beside();
  void records_travel_and_arrive();
  void reduced_motion_lights_the_plate();
  void nothing_changes_nothing_is_painted();
  void a_counter_repaints_its_row_only();
  void clicks_select_and_double_clicks_open();
  void keyboard_walks_every_object();
  void focus_leaves_by_tab();
  void every_object_has_a_sentence();
  void accessible_action_selects();
  void a_stopped_node_is_offline();
  void a_node_that_stopped_itself_says_why();
  void topics_that_stay_are_not_looked_at_again();
  void many_partitions_become_a_matrix();
  void table_form_shows_the_same();
  void the_empty_cluster_says_so();
  void foreign_clients_take_the_placeholder();
};

void TestCluster::shows_what_the_view_holds() {
  Fixture f;
  const ClusterModel& m = f.canvas().model();
  QCOMPARE(m.nodes().size(), 1U);
  QCOMPARE(m.focusTopic(), QStringLiteral("demo.orders"));
  QCOMPARE(m.nodes()[0].topics[0].replicas.size(), 3U);
  QCOMPARE(m.groups().size(), 1U);
  QCOMPARE(m.groups()[0].members.size(), 2U);
  QCOMPARE(m.controllers().size(), 1U);
  QVERIFY(m.controllers()[0].leader);
  QCOMPARE(m.producers().size(), 1U);  // nobody has produced: only the place for an application
  QVERIFY(m.producers()[0].placeholder);
  f.frame(1'000);
  QCOMPARE(m.producers().size(), 2U);
  QVERIFY(m.producers()[0].built_in);
  QCOMPARE(m.producers()[0].title, QStringLiteral("demo-producer"));
}

void TestCluster::replica_rows_are_painted_with_tokens_data() {
  QTest::addColumn<bool>("dark");
  QTest::newRow("dark") << true;
  QTest::newRow("light") << false;
}

void TestCluster::replica_rows_are_painted_with_tokens() {
  QFETCH(bool, dark);
  Theme::current().setMode(dark ? Theme::Mode::dark : Theme::Mode::light);
  FakeSession::Options options;
  options.nodes = 3;
  Fixture f(options);
  for (int i = 0; i < 40; ++i) {
    f.frame(100);
  }
  const Colors& c = Theme::current().colors();
  const auto& rows = f.canvas().layoutOf().nodes[0].rows;
  QVERIFY(rows.size() >= 3);
  const auto inside = [](const QRectF& bar) { return QPointF(bar.left() + 20, bar.center().y()); };
  QCOMPARE(pixel(f.canvas(), inside(rows[0].bar)), c.leader_fill);  // partition 0 is led by node 1
  QCOMPARE(pixel(f.canvas(), QPointF(rows[0].bar.left() + 20, rows[0].bar.top() + 1)), c.leader);
  QCOMPARE(pixel(f.canvas(), inside(rows[1].bar)), c.ok);
  QCOMPARE(pixel(f.canvas(), QPointF(2, 2)), c.canvas);
  // The high watermark stands 3 beyond the bar.
  QCOMPARE(pixel(f.canvas(), QPointF(rows[0].bar.right() - 1, rows[0].bar.top() - 2)), c.text);
  f.page.setSelection(Selection::ofPartition(QStringLiteral("demo.orders"), 1));
  QCOMPARE(pixel(f.canvas(), QPointF(rows[1].rect.right() - 30, rows[1].rect.center().y())), c.selected);
  // A leader's bar that is hollow would say that it has nothing.
  Theme::current().setMode(Theme::Mode::contrast_dark);
  const QColor body = pixel(f.canvas(), inside(f.canvas().layoutOf().nodes[0].rows[0].bar));
  QCOMPARE(body, Theme::current().colors().leader_fill);
  QVERIFY(body != Theme::current().colors().inset);
}

void TestCluster::an_edge_appears_with_its_rate() {
  Fixture f;
  for (int i = 0; i < 30; ++i) {
    f.frame(100);
    if (i % 10 == 9) {
      f.canvas().tickNow();
    }
  }
  double produced = 0;
  double consumed = 0;
  int consumers = 0;
  for (const auto& [key, edge] : f.canvas().model().edges()) {
    if (edge.kind == ClusterModel::Edge::Kind::produce) {
      produced += edge.meter.records_per_second();
    } else {
      consumed += edge.meter.records_per_second();
      ++consumers;
    }
  }
  QCOMPARE(consumers, 2);
  QVERIFY2(std::abs(produced - 4) < 0.6, qPrintable(QString::number(produced)));
  QVERIFY2(std::abs(consumed - 4) < 1.2, qPrintable(QString::number(consumed)));
  // And falls to nothing when the traffic stops.
  f.session.setDemoTraffic(false);
  for (int i = 0; i < 6; ++i) {
    f.frame(1'000);
    f.canvas().tickNow();
  }
  for (const auto& [key, edge] : f.canvas().model().edges()) {
    QCOMPARE(edge.meter.records_per_second(), 0.0);
  }
  QTRY_VERIFY(!f.canvas().timersRunning());
}

// What went by while another page was shown was not seen here; the nodes have counted it.
void TestCluster::rates_are_right_when_the_page_comes_back() {
  FakeSession::Options options;
  options.nodes = 3;
  Fixture f(options);
  const auto produced = [&] {
    double sum = 0;
    for (const auto& [key, edge] : f.canvas().model().edges()) {
      sum += edge.kind == ClusterModel::Edge::Kind::produce ? edge.meter.records_per_second() : 0;
    }
    return sum;
  };
  for (int i = 0; i < 40; ++i) {
    f.frame(100);
    if (i % 10 == 9) {
      f.canvas().tickNow();
    }
  }
  QVERIFY2(std::abs(produced() - 4) < 0.6, qPrintable(QString::number(produced())));
  for (int i = 0; i < 300; ++i) {
    f.now += 100;
    f.session.appendRecord("__consumer_offsets", i % 4, RecordRow());  // commits are nothing that a producer sent
    f.session.tick(100);
  }
  f.frame(100);
  f.canvas().tickNow();
  QVERIFY2(std::abs(produced() - 4) < 0.6, qPrintable(QString::number(produced())));
}

// Followers tell of what they append, too: nobody produced it there.
void TestCluster::copies_take_nothing_from_producers() {
  FakeSession::Options options;
  options.nodes = 3;
  FakeSession session(options);
  ClusterModel model;
  std::int64_t now = 10'000;
  for (int i = 0; i < 40; ++i) {
    now += 100;
    session.tick(100);
    auto view = std::make_shared<hw::observe::ClusterView>(*session.view());
    auto copies = view->batches;
    for (auto& copy : copies) {
      auto& batch = std::get<hw::event::BatchAppended>(copy.event);
      batch.node = hw::BrokerId(batch.node.value() % 3 + 1);
      batch.connection = hw::ConnectionId(0);
    }
    view->batches.insert(view->batches.end(), copies.begin(), copies.end());
    (void)model.take(view, now);
    if (i % 10 == 9) {
      model.tick(now);
    }
  }
  double sum = 0;
  for (const auto& [key, edge] : model.edges()) {
    sum += edge.kind == ClusterModel::Edge::Kind::produce ? edge.meter.records_per_second() : 0;
  }
  QVERIFY2(std::abs(sum - 4) < 0.6, qPrintable(QString::number(sum)));
}

// Two groups are given the same partitions; only one of them fetches.
void TestCluster::a_group_shows_what_it_reads_itself() {
  Fixture f;
  f.session.setGroup("audit", "demo.orders", 1);
  for (int i = 0; i < 50; ++i) {
    f.frame(100);
    if (i % 10 == 9) {
      f.canvas().tickNow();
    }
  }
  const ClusterModel& model = f.canvas().model();
  const auto rate = [&](const QString& group) {
    double sum = 0;
    int edges = 0;
    for (const auto& [key, edge] : model.edges()) {
      if (edge.kind == ClusterModel::Edge::Kind::consume && model.groups()[edge.client].id == group) {
        sum += edge.rate();
        ++edges;
      }
    }
    return edges == 0 ? -1.0 : sum;
  };
  QVERIFY2(std::abs(rate(QStringLiteral("demo.billing")) - 4) < 1.2, qPrintable(QString::number(rate(QStringLiteral("demo.billing")))));
  QCOMPARE(rate(QStringLiteral("audit")), 0.0);
}

// Another group has a member of the same client id that reads the same partition: whose the fetches are nobody can tell.
void TestCluster::who_shares_a_client_id_shows_its_commits() {
  FakeSession session;
  session.setGroup("audit", "demo.orders", 1);
  ClusterModel model;
  std::int64_t wall = 5'000'000;
  model.setWallClock([&wall] { return wall; });
  std::int64_t now = 10'000;
  const auto committed = std::make_shared<hw::event::CommittedCounters>();
  committed->offset.set(100);
  committed->committed_at_ms.set(wall);
  for (int i = 0; i < 120; ++i) {
    now += 100;
    wall += 100;
    session.tick(100);
    if (i % 50 == 49) {  // every five seconds, as clients do
      committed->offset.set(committed->offset.get() + 10);
      committed->committed_at_ms.set(wall);
    }
    auto view = std::make_shared<hw::observe::ClusterView>(*session.view());
    auto connections = *view->connections;
    auto other = std::make_shared<hw::observe::ConnectionView>(*connections.begin()->second);
    other->id = hw::ConnectionId(77);
    other->client_id = "demo-consumer-2";
    connections[other->id] = other;
    view->connections = std::make_shared<const std::map<hw::ConnectionId, std::shared_ptr<const hw::observe::ConnectionView>>>(connections);
    auto groups = *view->groups;
    auto audit = std::make_shared<hw::observe::GroupView>(*groups.at("audit"));
    audit->members.front().client_id = "demo-consumer-2";
    audit->members.front().client_host = "/127.0.0.1";
    audit->members.front().partitions = {{"demo.orders", hw::PartitionIndex(1)}, {"demo.orders", hw::PartitionIndex(2)}};
    audit->committed = {{"demo.orders", hw::PartitionIndex(2), committed, {}}};
    if (i >= 99) {  // where it stood before it committed is nothing that it has read since
      const auto first = std::make_shared<hw::event::CommittedCounters>();
      first->offset.set(500);
      first->committed_at_ms.set(committed->committed_at_ms.get());
      audit->committed.insert(audit->committed.begin(), {"demo.orders", hw::PartitionIndex(1), first, {}});
    }
    groups["audit"] = audit;
    view->groups = std::make_shared<const std::map<std::string, std::shared_ptr<const hw::observe::GroupView>, std::less<>>>(groups);
    for (auto& fetch : view->fetches) {
      auto& fetched = std::get<hw::event::RecordsFetched>(fetch.event);
      fetched.connection = fetched.partition.value() == 2 ? other->id : fetched.connection;
    }
    (void)model.take(view, now);
    if (i % 10 == 9) {
      model.tick(now);
    }
  }
  bool found = false;
  for (const auto& [key, edge] : model.edges()) {
    if (edge.kind == ClusterModel::Edge::Kind::consume && model.groups()[edge.client].id == QLatin1String("audit")) {
      found = true;
      QVERIFY(edge.by_commits);
      QCOMPARE(edge.rate(), 2.0);  // ten records in five seconds, whatever the other one fetched
    }
  }
  QVERIFY(found);
}

// While the page was not shown others became leaders: what they took in before is not known, and no rate is made of the rest.
void TestCluster::rates_begin_anew_where_others_lead() {
  FakeSession::Options options;
  options.nodes = 3;
  FakeSession session(options);
  ClusterModel model;
  std::int64_t now = 10'000;
  const auto view_of = [&](bool moved) {
    auto view = std::make_shared<hw::observe::ClusterView>(*session.view());
    auto topics = *view->topics;
    auto topic = std::make_shared<hw::observe::TopicView>(*topics.at("demo.orders"));
    for (auto& each : topic->partitions) {
      auto partition = std::make_shared<hw::observe::PartitionView>(*each);
      partition->leader = moved ? partition->replicas.back().node : partition->leader;
      each = partition;
    }
    topics["demo.orders"] = topic;
    view->topics = std::make_shared<const std::map<std::string, std::shared_ptr<const hw::observe::TopicView>, std::less<>>>(topics);
    return view;
  };
  for (int i = 0; i < 40; ++i) {
    now += 100;
    session.tick(100);
    (void)model.take(view_of(false), now);
    if (i % 10 == 9) {
      model.tick(now);
    }
  }
  for (int i = 0; i < 300; ++i) {
    now += 100;
    session.tick(100);
  }
  (void)model.take(view_of(true), now);
  model.tick(now);
  for (const auto& [key, edge] : model.edges()) {
    QVERIFY(!edge.meter.measured() || edge.meter.records_per_second() > 0.5);
  }
  for (const ClusterModel::Link& link : model.links()) {
    QVERIFY(!link.meter.measured());
  }
}

// A follower that is late says on its row when it leaves the in-sync set.
void TestCluster::a_replica_counts_down() {
  FakeSession::Options options;
  options.nodes = 3;
  FakeSession session(options);
  session.tick(5'000);
  ClusterModel model;
  std::int64_t wall = session.nowMs();
  model.setWallClock([&wall] { return wall; });
  auto view = std::make_shared<hw::observe::ClusterView>(*session.view());
  auto topics = *view->topics;
  auto topic = std::make_shared<hw::observe::TopicView>(*topics.at("demo.orders"));
  auto partition = std::make_shared<hw::observe::PartitionView>(*topic->partitions.front());
  const hw::BrokerId leader = partition->leader;
  partition->lag_time_max = hw::milliseconds(5'000);
  partition->epochs = {{partition->leader_epoch, leader, hw::Offset(0), {}}};
  std::int32_t late = -1;
  for (hw::observe::ReplicaView& replica : partition->replicas) {
    if (replica.node != leader) {
      auto followed = std::make_shared<hw::event::FollowerCounters>();
      const bool behind = std::exchange(late, late < 0 ? replica.node.value() : late) < 0;
      followed->log_end_offset.set(replica.counters->log_end_offset.get() - (behind ? 3 : 0));
      followed->fetched_at_ms.set(wall);
      followed->caught_up_at_ms.set(behind ? wall - 2'000 : wall);
      replica.followed = followed;
    }
  }
  topic->partitions.front() = partition;
  topics["demo.orders"] = topic;
  view->topics = std::make_shared<const std::map<std::string, std::shared_ptr<const hw::observe::TopicView>, std::less<>>>(topics);
  (void)model.take(view, 10'000);
  const auto leaves = [&](std::int32_t node) {
    for (const ClusterModel::Node& each : model.nodes()) {
      if (each.id == node) {
        return each.topics.front().replicas.front().leaves_s;
      }
    }
    return std::int64_t{-2};
  };
  QCOMPARE(leaves(late), 3);
  for (const ClusterModel::Node& each : model.nodes()) {
    QVERIFY(each.id == late || leaves(each.id) == -1);
  }
  wall += 1'100;
  QVERIFY(model.tick(11'100).again);
  QCOMPARE(leaves(late), 2);
}

void TestCluster::nothing_goes_to_who_leads_nothing_of_the_topic() {
  FakeSession::Options options;
  options.nodes = 3;
  FakeSession session(options);
  ClusterModel model;
  std::int64_t now = 10'000;
  for (int i = 0; i < 20; ++i) {
    now += 100;
    session.tick(100);
    (void)model.take(session.view(), now);
    if (i % 10 == 9) {
      model.tick(now);
    }
  }
  const auto edge_to = [&](std::int32_t id) {
    return std::any_of(model.edges().begin(), model.edges().end(), [&](const auto& each) {
      return each.second.kind == ClusterModel::Edge::Kind::produce && model.nodes()[each.second.node].id == id;
    });
  };
  QVERIFY(edge_to(1) && edge_to(2) && edge_to(3));
  // All that node 3 led is led by node 1 now.
  auto view = std::make_shared<hw::observe::ClusterView>(*session.view());
  auto topics = std::make_shared<std::remove_const_t<std::remove_reference_t<decltype(*view->topics)>>>(*view->topics);
  auto orders = std::make_shared<hw::observe::TopicView>(*topics->at("demo.orders"));
  for (auto& partition : orders->partitions) {
    if (partition->leader == hw::BrokerId(3)) {
      auto moved = std::make_shared<hw::observe::PartitionView>(*partition);
      moved->leader = hw::BrokerId(1);
      partition = std::move(moved);
    }
  }
  (*topics)["demo.orders"] = std::move(orders);
  view->topics = std::move(topics);
  (void)model.take(view, now + 100);
  QVERIFY(edge_to(1) && edge_to(2));
  QVERIFY(!edge_to(3));
}

// A group that comes is handed at once what was written before it: that is not what it reads in a second.
void TestCluster::what_lay_there_is_not_read_now() {
  FakeSession session;
  ClusterModel model;
  std::int64_t now = 10'000;
  double rate = 0;
  double most = 0;
  bool here = false;
  const auto second = [&](int handed) {
    for (int i = 0; i < 10; ++i) {
      now += 100;
      session.tick(100);
      auto view = std::make_shared<hw::observe::ClusterView>(*session.view());
      std::map<std::string, std::shared_ptr<const hw::observe::GroupView>, std::less<>> groups;
      if (here) {
        auto late = std::make_shared<hw::observe::GroupView>(*view->groups->begin()->second);
        late->members.resize(1);
        late->members.front().partitions = {{"demo.orders", hw::PartitionIndex(0)}};
        late->committed.clear();
        groups["late"] = late;
      }
      view->groups = std::make_shared<const std::map<std::string, std::shared_ptr<const hw::observe::GroupView>, std::less<>>>(groups);
      view->fetches.clear();
      (void)model.take(view, now);
    }
    const hw::observe::PartitionView& first = *session.view()->find_topic("demo.orders")->partitions.front();
    const auto counters = std::const_pointer_cast<hw::event::ReplicaCounters>(first.replica(first.leader)->counters);
    counters->records_out.set(counters->records_out.get() + handed);
    model.tick(now);
    rate = 0;
    for (const auto& [key, edge] : model.edges()) {
      rate += edge.kind == ClusterModel::Edge::Kind::consume ? edge.meter.records_per_second() : 0;
    }
    most = std::max(most, rate);
  };
  for (int i = 0; i < 4; ++i) {
    second(0);
  }
  session.setDemoTraffic(false);
  second(0);
  here = true;
  second(0);
  second(500);
  for (int i = 0; i < 3; ++i) {
    second(4);
  }
  QCOMPARE(most, 4.0);
  QCOMPARE(rate, 4.0);
}

// Where a node has ended the line to it is broken until another one leads; then the line goes there, and not only with the next record.
void TestCluster::who_writes_follows_the_leader() {
  FakeSession::Options options;
  options.nodes = 3;
  FakeSession session(options);
  ClusterModel model;
  std::int64_t now = 10'000;
  const auto view_of = [&](std::int32_t leader, bool killed, bool batches) {
    auto view = std::make_shared<hw::observe::ClusterView>(*session.view());
    auto topics = *view->topics;
    auto topic = std::make_shared<hw::observe::TopicView>(*topics.at("demo.orders"));
    for (auto& each : topic->partitions) {
      auto partition = std::make_shared<hw::observe::PartitionView>(*each);
      partition->leader = hw::BrokerId(leader);
      each = partition;
    }
    topics["demo.orders"] = topic;
    view->topics = std::make_shared<const std::map<std::string, std::shared_ptr<const hw::observe::TopicView>, std::less<>>>(topics);
    for (auto& batch : view->batches) {
      std::get<hw::event::BatchAppended>(batch.event).node = hw::BrokerId(leader);
    }
    if (!batches) {
      view->batches.clear();
    }
    if (killed) {
      auto node = std::make_shared<hw::observe::NodeView>(*view->nodes.at(hw::BrokerId(3)));
      node->state = hw::observe::NodeView::State::killed;
      view->nodes[hw::BrokerId(3)] = node;
    }
    return view;
  };
  const auto line_to = [&](std::int32_t id) {
    const auto at = std::find_if(model.edges().begin(), model.edges().end(), [&](const auto& each) {
      return each.second.kind == ClusterModel::Edge::Kind::produce && model.nodes()[each.second.node].id == id;
    });
    return at == model.edges().end() ? nullptr : &at->second;
  };
  for (int i = 0; i < 20; ++i) {
    now += 100;
    session.tick(100);
    (void)model.take(view_of(3, false, true), now);
  }
  QVERIFY(line_to(3) != nullptr && line_to(1) == nullptr);
  (void)model.take(view_of(3, true, false), now += 100);
  QVERIFY(line_to(3) != nullptr && line_to(3)->broken);
  (void)model.take(view_of(-1, true, false), now += 100);
  QVERIFY(line_to(3) != nullptr && line_to(3)->broken);  // nobody takes the records
  (void)model.take(view_of(1, true, false), now += 100);
  QVERIFY(line_to(3) == nullptr);
  QVERIFY(line_to(1) != nullptr && !line_to(1)->broken);
}

// What others bring is told where they arrive; a line on which nothing comes does not end there.
void TestCluster::a_dead_line_ends_beside_the_others() {
  FakeSession::Options options;
  options.nodes = 3;
  Fixture f(options);
  f.frame(1'000);
  f.canvas().tickNow();
  std::map<QString, std::pair<std::int32_t, QPointF>> ends;
  for (const auto& [key, edge] : f.canvas().model().edges()) {
    if (const auto end = f.canvas().edgeEnd(key); end && edge.kind == ClusterModel::Edge::Kind::consume) {
      ends[key] = {f.canvas().model().nodes()[edge.node].id, *end};
    }
  }
  QCOMPARE(ends.size(), std::size_t{3});
  NodeCondition paused;
  paused.node = 2;
  paused.paused = true;
  f.canvas().setConditions({paused});
  for (const auto& [key, end] : ends) {
    QVERIFY(f.canvas().edgeEnd(key).has_value());
    QCOMPARE(*f.canvas().edgeEnd(key) != end.second, end.first == 2);
  }
  f.canvas().setConditions({});
  for (const auto& [key, end] : ends) {
    QCOMPARE(*f.canvas().edgeEnd(key), end.second);
  }
}

// What nodes copy is told in the measure of everything else: what was produced.
void TestCluster::links_count_what_was_produced() {
  FakeSession::Options options;
  options.nodes = 3;
  Fixture f(options);
  const auto copied = [&] {
    double sum = 0;
    for (const ClusterModel::Link& link : f.canvas().model().links()) {
      sum += link.meter.records_per_second();
    }
    return sum;
  };
  for (int i = 0; i < 40; ++i) {
    for (int commits = 0; commits < 3; ++commits) {
      f.session.appendRecord("__consumer_offsets", i % 4, RecordRow());
    }
    f.frame(100);
    if (i % 10 == 9) {
      f.canvas().tickNow();
    }
  }
  QVERIFY2(std::abs(copied() - 8) < 1.2, qPrintable(QString::number(copied())));  // of 4 records a second two copies each
}

void TestCluster::nothing_flows_to_a_node_that_is_out() {
  FakeSession::Options options;
  options.nodes = 3;
  Fixture f(options);
  const auto rate = [&](std::int32_t id) {
    double sum = 0;
    for (const auto& [key, edge] : f.canvas().model().edges()) {
      sum += f.canvas().model().nodes()[edge.node].id == id ? edge.meter.records_per_second() : 0;
    }
    return sum;
  };
  for (int i = 0; i < 4; ++i) {
    f.frame(1'000);
    f.canvas().tickNow();
  }
  QVERIFY(rate(1) > 0);
  QVERIFY(rate(2) > 0);
  QVERIFY(rate(3) > 0);
  // Paused or ended: at once, not when the window of the rates has passed.
  NodeCondition paused;
  paused.node = 2;
  paused.paused = true;
  f.canvas().setConditions({paused});
  QCOMPARE(rate(2), 0.0);
  QVERIFY(std::any_of(f.canvas().model().edges().begin(), f.canvas().model().edges().end(), [](const auto& each) { return each.second.halted; }));
  f.canvas().setConditions({});
  f.session.stopNode(3);
  f.frame(0);
  QCOMPARE(rate(3), 0.0);
  QVERIFY(rate(1) > 0);
  // One that is cut off from the others is still reached by clients: what really flows is shown.
  NodeCondition cut;
  cut.node = 1;
  cut.cut_off = true;
  f.canvas().setConditions({cut});
  QCOMPARE(rate(1), 0.0);
}

void TestCluster::the_table_has_the_rates_of_now() {
  Fixture f;
  f.frame(1'000);
  QVERIFY(f.page.toggleTable());
  const QAbstractItemModel* m = f.page.findChild<QTableView*>()->model();
  const auto producer = [&] {
    f.frame(1'000);
    for (int r = 0; r < m->rowCount(); ++r) {
      if (m->index(r, 0).data().toString() == QLatin1String("demo-producer")) {
        return m->index(r, 2).data().toString();
      }
    }
    return QString();
  };
  // The picture is hidden, and its rates go on.
  QTRY_VERIFY2_WITH_TIMEOUT(producer().contains(QStringLiteral("4")), qPrintable(producer()), 20'000);
  f.session.setDemoTraffic(false);
  QTRY_VERIFY2_WITH_TIMEOUT(producer().contains(QStringLiteral("idle")), qPrintable(producer()), 20'000);
}

void TestCluster::a_group_says_what_is_wrong_with_it() {
  FakeSession::Options options;
  options.nodes = 3;
  Fixture f(options);
  LagStatus status = LagStatus::ok;
  f.canvas().setJudge([&status](const QString&) { return status; });
  f.frame(1'000);
  f.canvas().tickNow();
  const auto group = [&] { return f.canvas().model().groups().front(); };
  QVERIFY2(group().trouble.isEmpty(), qPrintable(group().trouble));
  // What the Groups page marks in the rail is found on the card.
  status = LagStatus::stopped;
  f.canvas().tickNow();
  QCOMPARE(group().trouble, status_word(LagStatus::stopped));
  QCOMPARE(group().trouble_glyph, glyph_of(LagStatus::stopped, true));
  // One whose members are gone is no fault.
  f.session.setGroup("reports", "demo.orders", 0, "Empty");
  f.frame(100);
  f.canvas().tickNow();
  const auto& all = f.canvas().model().groups();
  const auto reports = std::find_if(all.begin(), all.end(), [](const auto& each) { return each.id == QLatin1String("reports"); });
  QVERIFY(reports != all.end() && reports->members.empty());
  QCOMPARE(reports->trouble, status_word(LagStatus::stopped));
  QCOMPARE(reports->trouble_glyph, Glyph::ring);
  status = LagStatus::ok;
  f.canvas().tickNow();
  QVERIFY(group().trouble.isEmpty());
  // Partitions without a leader that answers.
  NodeCondition paused;
  paused.node = 2;
  paused.paused = true;
  f.canvas().setConditions({paused});
  QCOMPARE(group().trouble, QStringLiteral("1 of 3 stand still"));
  // Its coordinator leads partition 0 of the offsets, by its name's hash: that is worse.
  paused.node = 1;
  f.canvas().setConditions({paused});
  QCOMPARE(group().trouble, QStringLiteral("coordinator paused"));
  f.canvas().setConditions({});
  f.session.stopNode(2);
  f.frame(0);
  QCOMPARE(group().trouble, QStringLiteral("1 of 3 stand still"));
  const QString sentence = f.canvas().objectSentence(f.find(Selection::ofGroup(group().id)));
  QVERIFY2(sentence.contains(QStringLiteral("have no leader that answers")), qPrintable(sentence));
}

void TestCluster::controllers_are_as_their_nodes() {
  FakeSession::Options options;
  options.nodes = 3;
  Fixture f(options);
  NodeCondition paused;
  paused.node = 2;
  paused.paused = true;
  NodeCondition cut;
  cut.node = 3;
  cut.cut_off = true;
  f.canvas().setConditions({paused, cut});
  for (const ClusterModel::Controller& each : f.canvas().model().controllers()) {
    QCOMPARE(each.silent(), each.id != 1);
  }
  f.canvas().setConditions({});
  QVERIFY(!f.canvas().model().controllers().back().silent());
}

void TestCluster::internal_partitions_are_counted_beside() {
  FakeSession::Options options;
  options.nodes = 3;
  Fixture f(options);
  const ClusterModel& m = f.canvas().model();
  int leaders = 0;
  for (const ClusterModel::Node& node : m.nodes()) {
    leaders += node.leaders;
  }
  QCOMPARE(leaders, m.partitionCount() + m.internalPartitions());
}

void TestCluster::records_travel_and_arrive() {
  Fixture f;
  f.frame(300);  // the first record makes the edge
  f.frame(300);
  QVERIFY(f.canvas().travelling() > 0);
  QVERIFY(f.canvas().travelling() <= 8);
  f.now += 400;
  QTRY_COMPARE(f.canvas().travelling(), 0U);
}

void TestCluster::reduced_motion_lights_the_plate() {
  Theme::current().setReduceMotion(true);
  {
    Fixture f;
    f.frame(300);
    f.frame(300);
    QCOMPARE(f.canvas().travelling(), 0U);
  }
  Theme::current().setReduceMotion(false);
}

void TestCluster::nothing_changes_nothing_is_painted() {
  FakeSession::Options options;
  Fixture f(options);
  f.session.setDemoTraffic(false);
  for (int i = 0; i < 8; ++i) {
    f.frame(1'000);
    f.canvas().tickNow();
  }
  QCoreApplication::processEvents();
  QTRY_VERIFY(!f.canvas().timersRunning());
  const int before = f.canvas().paints();
  for (int i = 0; i < 20; ++i) {
    f.now += 100;
    f.session.sendEmptyFrame();
    f.page.deliverFrame();
    QCoreApplication::processEvents();
  }
  QCOMPARE(f.canvas().paints(), before);
  QVERIFY(!f.canvas().timersRunning());
}

void TestCluster::a_counter_repaints_its_row_only() {
  Fixture f;
  f.frame(2'000);
  f.now += 2'000;
  f.canvas().tickNow();
  QCoreApplication::processEvents();
  class Exposed : public QObject {
   public:
    QRegion region;
    bool eventFilter(QObject*, QEvent* event) override {
      if (event->type() == QEvent::Paint) {
        region += static_cast<QPaintEvent*>(event)->region();
      }
      return false;
    }
  } exposed;
  f.canvas().installEventFilter(&exposed);
  f.session.setDemoTraffic(false);
  ProduceCommand command;
  command.topic = "demo.orders";
  command.partition = 1;
  command.value = hw::Bytes::copy_of("x");
  f.session.produce(command, [](const ProduceAnswer&) {});
  QCoreApplication::processEvents();
  f.frame(100);
  const QRect row = f.canvas().toWidget(f.canvas().layoutOf().nodes[0].rows[1].rect);
  const QRect other = f.canvas().toWidget(f.canvas().layoutOf().nodes[0].rows[2].rect.adjusted(0, 4, 0, 0));
  QVERIFY(exposed.region.intersects(row));
  QVERIFY(!exposed.region.intersects(other));
}

void TestCluster::clicks_select_and_double_clicks_open() {
  Fixture f;
  f.frame(500);
  QSignalSpy selected(&f.page, &Page::selectionRequested);
  QSignalSpy opened(&f.page, &Page::openRequested);
  const QRectF row = f.canvas().layoutOf().nodes[0].rows[2].rect;
  QTest::mouseClick(&f.canvas(), Qt::LeftButton, {}, row.center().toPoint());
  QCOMPARE(selected.size(), 1);
  QCOMPARE(selected[0][0].value<Selection>().address(), QStringLiteral("demo.orders/2"));
  QTest::mouseDClick(&f.canvas(), Qt::LeftButton, {}, f.canvas().layoutOf().groups[0].header.center().toPoint());
  QCOMPARE(opened.size(), 1);
  QCOMPARE(opened[0][0].value<Selection>().address(), QStringLiteral("group:demo.billing"));
  f.page.setSelection(Selection::ofPartition(QStringLiteral("demo.orders"), 2));
  QTest::mouseClick(&f.canvas(), Qt::LeftButton, {}, QPoint(500, 560));  // nothing there
  QVERIFY(selected.back()[0].value<Selection>().none());
}

void TestCluster::keyboard_walks_every_object() {
  Fixture f;
  f.frame(1'000);
  ClusterCanvas& c = f.canvas();
  connect(&f.page, &Page::selectionRequested, &f.page, [&](const Selection& s) { f.page.setSelection(s); });
  c.clearFocus();
  c.setFocus(Qt::TabFocusReason);
  QCOMPARE(c.focusedObject(), 0);
  for (int i = 1; i < c.objectCount(); ++i) {
    QTest::keyClick(&c, Qt::Key_Tab);
    QCOMPARE(c.focusedObject(), i);  // each place once, also where the same object stands in two
  }
  // Columns: from the first producer right to a broker row, right again to a group.
  c.focusObject(0);
  QTest::keyClick(&c, Qt::Key_Right);
  QCOMPARE(c.object(c.focusedObject()).column, 1);
  QTest::keyClick(&c, Qt::Key_Right);
  QCOMPARE(c.object(c.focusedObject()).column, 2);
  QTest::keyClick(&c, Qt::Key_Left);
  QTest::keyClick(&c, Qt::Key_Left);
  QCOMPARE(c.object(c.focusedObject()).column, 0);
  c.focusObject(f.find(Selection::ofPartition(QStringLiteral("demo.orders"), 0)));
  QTest::keyClick(&c, Qt::Key_Down);
  QCOMPARE(f.page.selection().address(), QStringLiteral("demo.orders/1"));
  QSignalSpy opened(&f.page, &Page::openRequested);
  QTest::keyClick(&c, Qt::Key_Return);
  QCOMPARE(opened.size(), 1);
  QCOMPARE(opened[0][0].value<Selection>().address(), QStringLiteral("demo.orders/1"));
}

void TestCluster::focus_leaves_by_tab() {
  Fixture f;
  f.frame(1'000);
  f.canvas().setFocus();
  f.canvas().focusObject(f.canvas().objectCount() - 1);
  QTest::keyClick(&f.canvas(), Qt::Key_Tab);
  QVERIFY(!f.canvas().hasFocus());
}

void TestCluster::every_object_has_a_sentence() {
  FakeSession::Options options;
  options.nodes = 3;
  options.external = true;
  Fixture f(options);
  for (int i = 0; i < 10; ++i) {
    f.frame(300);
  }
  QAccessibleInterface* canvas = QAccessible::queryAccessibleInterface(&f.canvas());
  QVERIFY(canvas != nullptr);
  QCOMPARE(canvas->role(), QAccessible::List);
  QCOMPARE(canvas->childCount(), f.canvas().objectCount());
  QVERIFY(canvas->childCount() > 15);
  QStringList names;
  for (int i = 0; i < canvas->childCount(); ++i) {
    QAccessibleInterface* child = canvas->child(i);
    QVERIFY(child != nullptr && child->isValid());
    QVERIFY2(child->text(QAccessible::Name).size() > 8, qPrintable(QString::number(i)));
    QVERIFY(!child->rect().isEmpty());
    QVERIFY(child->state().focusable);
    QCOMPARE(child->parent(), canvas);
    names << child->text(QAccessible::Name);
  }
  QVERIFY(!names.filter(QStringLiteral("demo.orders 2 on node 3, leader")).isEmpty());
  QVERIFY(!names.filter(QStringLiteral("consumer group demo.billing, Stable")).isEmpty());
  QVERIFY(!names.filter(QStringLiteral("app-17, producer at 127.0.0.1")).isEmpty());
  // Everything that can take the focus has a name, on the whole page.
  for (QWidget* widget : f.page.findChildren<QWidget*>()) {
    if (widget->focusPolicy() == Qt::NoFocus || !widget->isVisible()) {
      continue;
    }
    QAccessibleInterface* face = QAccessible::queryAccessibleInterface(widget);
    QVERIFY(face != nullptr);
    QVERIFY2(!face->text(QAccessible::Name).isEmpty(), widget->metaObject()->className());
  }
}

void TestCluster::accessible_action_selects() {
  Fixture f;
  QSignalSpy selected(&f.page, &Page::selectionRequested);
  QAccessibleInterface* canvas = QAccessible::queryAccessibleInterface(&f.canvas());
  const int row = f.find(Selection::ofPartition(QStringLiteral("demo.orders"), 1));
  QAccessibleActionInterface* actions = canvas->child(row)->actionInterface();
  QVERIFY(actions != nullptr);
  actions->doAction(QAccessibleActionInterface::setFocusAction());
  QCOMPARE(selected.size(), 1);
  QSignalSpy opened(&f.page, &Page::openRequested);
  actions->doAction(QAccessibleActionInterface::pressAction());
  QCOMPARE(opened.size(), 1);
}

void TestCluster::who_writes_points_at_a_leader() {
  FakeSession::Options options;
  options.nodes = 3;
  Fixture f(options);
  for (int i = 0; i < 20; ++i) {
    f.frame(200);
  }
  int seen = 0;
  for (const auto& [key, edge] : f.canvas().model().edges()) {
    const std::optional<QPointF> end = f.canvas().edgeEnd(key);
    if (edge.kind != ClusterModel::Edge::Kind::produce || edge.topic != f.canvas().model().focusTopic() || !end) {
      continue;
    }
    bool leads = false;
    for (const geometry::RowPlace& row : f.canvas().layoutOf().nodes[edge.node].rows) {
      const ClusterModel::Topic& topic = f.canvas().model().nodes()[edge.node].topics[static_cast<std::size_t>(row.topic)];
      leads = leads || (topic.replicas[static_cast<std::size_t>(row.partition)].state == ReplicaState::leader && row.rect.top() <= end->y() &&
                        end->y() <= row.rect.bottom());
    }
    QVERIFY2(leads, qPrintable(key));
    ++seen;
  }
  QVERIFY(seen > 1);
}

void TestCluster::a_stopped_node_is_offline() {
  FakeSession::Options options;
  options.nodes = 3;
  Fixture f(options);
  f.frame(1'000);
  f.session.stopNode(3);
  f.frame(0);
  QVERIFY(f.canvas().model().nodes()[2].offline());
  QCOMPARE(f.canvas().model().nodes()[2].topics[0].replicas[0].state, ReplicaState::offline);
  QCOMPARE(f.page.attention(fault_facts(*f.session.view(), {}, 0)), Glyph::cross);
  const int index = f.find(Selection::ofNode(3));
  QVERIFY(f.canvas().objectSentence(index).contains(QStringLiteral("stopped")));
}

void TestCluster::a_node_that_stopped_itself_says_why() {
  FakeSession::Options options;
  options.nodes = 3;
  Fixture f(options);
  f.frame(1'000);
  f.session.stopNode(3, "cannot flush the metadata log: no space left");
  f.frame(0);
  const ClusterModel::Node& node = f.canvas().model().nodes()[2];
  QVERIFY(node.offline());
  const QString sentence = f.canvas().objectSentence(f.find(Selection::ofNode(3)));  // the tooltip, too
  QVERIFY2(sentence.contains(QStringLiteral("stopped itself: cannot flush the metadata log: no space left")), qPrintable(sentence));
  QVERIFY(!sentence.contains(QStringLiteral("killed")));
}

// Ten thousand partitions make no view dearer than what changed in it.
void TestCluster::topics_that_stay_are_not_looked_at_again() {
  FakeSession::Options options;
  options.nodes = 3;
  options.more_topics = 200;
  Fixture f(options);
  f.frame(100);
  const ClusterModel& m = f.canvas().model();
  const std::uint64_t before = m.looked();
  QVERIFY(before >= 2'000);
  const std::vector<ClusterModel::Link> links = m.links();
  QVERIFY(!links.empty());
  const int partitions = links.front().partitions;
  f.session.createTopic({"ledger", 30, 3, {}}, [](const QString&) {});
  QCoreApplication::processEvents();
  f.frame(100);
  QCOMPARE(m.looked() - before, std::uint64_t{30});
  QCOMPARE(m.links().size(), links.size());
  QCOMPARE(m.links().front().partitions, partitions + 10);
  int leaders = 0;
  for (const ClusterModel::Node& node : m.nodes()) {
    leaders += node.leaders;
  }
  std::size_t led = 0;
  for (const auto& [name, topic] : *f.session.view()->topics) {
    led += topic->partitions.size();
  }
  QCOMPARE(static_cast<std::size_t>(leaders), led);
}

void TestCluster::many_partitions_become_a_matrix() {
  Fixture f;
  f.session.createTopic({"wide", 500, 1, {}}, [](const QString&) {});
  QCoreApplication::processEvents();
  f.frame(100);
  f.page.setSelection(Selection::ofTopic(QStringLiteral("wide")));
  f.frame(100);
  QVERIFY(f.canvas().layoutOf().matrix);
  QCOMPARE(f.canvas().layoutOf().nodes[0].topics[0].cells->count, 500);
  const int cell = f.find(Selection::ofPartition(QStringLiteral("wide"), 321));
  QVERIFY(cell >= 0);
  const QPointF middle = f.canvas().object(cell).rect.center();
  QCOMPARE(f.canvas().objectAt(middle), cell);
  QVERIFY(f.canvas().objectSentence(cell).contains(QStringLiteral("wide 321 on node 1")));
}

void TestCluster::table_form_shows_the_same() {
  Fixture f;
  f.frame(1'000);
  QVERIFY(f.page.toggleTable());
  auto* table = f.page.findChild<QTableView*>();
  QVERIFY(table != nullptr && table->isVisible());
  const QAbstractItemModel* m = table->model();
  bool found = false;
  for (int r = 0; r < m->rowCount(); ++r) {
    found = found || m->index(r, 0).data().toString() == QLatin1String("demo.orders/1");
    QVERIFY(!m->index(r, 0).data().toString().isEmpty());
  }
  QVERIFY(found);
  QVERIFY(f.page.toggleTable());
  QVERIFY(f.canvas().isVisible());
}

void TestCluster::the_empty_cluster_says_so() {
  FakeSession::Options options;
  options.demo = false;
  Fixture f(options);
  QVERIFY(!f.canvas().isVisible());
  f.session.createTopic({"first", 3, 1, {}}, [](const QString&) {});
  QCoreApplication::processEvents();
  f.frame(100);
  QVERIFY(f.canvas().isVisible());
  QCOMPARE(f.canvas().model().focusTopic(), QStringLiteral("first"));
}

void TestCluster::foreign_clients_take_the_placeholder() {
  FakeSession::Options options;
  options.external = true;
  Fixture f(options);
  for (int i = 0; i < 10; ++i) {
    f.frame(300);
  }
  const auto& producers = f.canvas().model().producers();
  QCOMPARE(producers.size(), 2U);
  QVERIFY(producers[0].built_in);
  QCOMPARE(producers[1].title, QStringLiteral("app-17"));
  QCOMPARE(producers[1].host, QStringLiteral("127.0.0.1"));
  QVERIFY(!producers[1].placeholder);
}

QTEST_MAIN(TestCluster)
#include "tst_cluster.moc"
