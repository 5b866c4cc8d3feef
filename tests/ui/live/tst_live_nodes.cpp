// SPDX-License-Identifier: Apache-2.0
// Several nodes in the window, on the real engine: the leader of the demo's partition is killed with K, others go on without a loss,
// it starts again; it is paused, cut off and healed through the commands; what nodes say to each other is not a client.
#include <algorithm>
#include <future>
#include <memory>
#include <thread>

#include <QApplication>
#include <QClipboard>
#include <QDateTime>
#include <QElapsedTimer>
#include <QLabel>
#include <QMenu>
#include <QRegularExpression>
#include <QTest>

#include "engine/node/http.h"
#include "engine/observe/cluster_view.h"
#include "ui/dialogs/question_dialog.h"
#include "ui/models/client_facts.h"
#include "ui/painting/text.h"
#include "ui/session/demo_traffic.h"
#include "ui/session/live_session.h"
#include "ui/session/undo_list.h"
#include "ui/theme/theme.h"
#include "ui/views/clients_connect.h"
#include "ui/views/clients_model.h"
#include "ui/views/clients_page.h"
#include "ui/views/cluster_page.h"
#include "ui/views/metadata_log_model.h"
#include "ui/views/partitions_page.h"
#include "ui/views/quorum_canvas.h"
#include "ui/views/quorum_page.h"
#include "ui/window/controls.h"
#include "ui/window/language.h"
#include "ui/window/main_window.h"

using namespace hw;      // NOLINT(google-build-using-namespace): a test
using namespace hw::ui;  // NOLINT(google-build-using-namespace): a test

namespace {
constexpr int kSoonMs = 40'000;
}

class TestLiveNodes : public QObject {
  Q_OBJECT

  std::unique_ptr<LiveSession> session_;
  std::unique_ptr<MainWindow> window_;

  const observe::PartitionView* partition(std::int32_t index) {
    const observe::TopicView* topic = session_->view()->find_topic(DemoTraffic::kTopic);
    return topic == nullptr || topic->partitions.size() <= static_cast<std::size_t>(index)
               ? nullptr
               : topic->partitions[static_cast<std::size_t>(index)].get();
  }
  int leader(std::int32_t index) { return partition(index) == nullptr ? -1 : partition(index)->leader.value(); }
  std::size_t inSync(std::int32_t index) { return partition(index) == nullptr ? 0 : partition(index)->isr.size(); }
  std::int64_t acknowledged(std::int32_t index) {
    const auto* counters = partition(index) == nullptr ? nullptr : partition(index)->leader_counters();
    return counters == nullptr ? -1 : counters->high_watermark.get();
  }
  QString told() { return window_->findChild<QLabel*>(QStringLiteral("clusterStory"))->text(); }
  void quiet(int node) { QTRY_VERIFY_WITH_TIMEOUT(!session_->conditionOf(node).working, kSoonMs); }
  void answer(const QString& text) {
    auto* question = window_->findChild<QuestionDialog*>();
    QVERIFY(question != nullptr);
    for (Button* button : question->findChildren<Button*>()) {
      if (button->text() == text) {
        button->click();
        return;
      }
    }
    QFAIL("no such answer");
  }
  // A record through the window; its offset, -1: refused.
  ProduceAnswer produce(std::int32_t to) {
    ProduceCommand command;
    command.topic = DemoTraffic::kTopic;
    command.partition = to;
    command.value = Bytes::copy_of(std::string_view("mine"));
    ProduceAnswer out;
    bool done = false;
    session_->produce(command, [&](const ProduceAnswer& got) {
      out = got;
      done = true;
    });
    [&] { QTRY_VERIFY_WITH_TIMEOUT(done, kSoonMs); }();
    return out;
  }
  ReadAnswer read(std::int32_t from, std::int64_t offset) {
    ReadQuery query;
    query.topic = DemoTraffic::kTopic;
    query.partition = from;
    query.from_offset = offset;
    ReadAnswer out;
    bool done = false;
    session_->read(query, [&](ReadAnswer got) {
      out = std::move(got);
      done = true;
    });
    [&] { QTRY_VERIFY_WITH_TIMEOUT(done, kSoonMs); }();
    return out;
  }

  // As hw and curl ask, while the window goes on.
  node::Value over_http(const std::string& command, const std::string& arguments) {
    const QString address = session_->controlPort().address;
    const auto port = static_cast<std::uint16_t>(address.section(QLatin1Char(':'), -1).toInt());
    auto call = std::async(std::launch::async, [=] {
      node::HttpRequest request;
      request.method = "POST";
      request.target = "/v1/" + command;
      request.headers["Content-Type"] = "application/json";
      request.body = arguments;
      return node::http_call("127.0.0.1", port, request, seconds(60));
    });
    [&] { QTRY_VERIFY_WITH_TIMEOUT(call.wait_for(std::chrono::seconds(0)) == std::future_status::ready, kSoonMs); }();
    const Result<node::HttpResponse> response = call.get();
    Result<node::Value> value = response ? node::parse_value(response->body) : node::Value();
    return value ? std::move(*value) : node::Value();
  }
  node::Value status_of(int node) {
    const node::Value all = over_http("cluster.status", "{}");
    for (const node::Value& one : all["nodes"].list() == nullptr ? node::Value::List{} : *all["nodes"].list()) {
      if (one["node"].number_or(-1) == node) {
        return one;
      }
    }
    return {};
  }

 private slots:
  void initTestCase() {
    install_language(*qApp);
    Theme::current().install(*qApp);
    LiveSession::Options options;
    options.cluster.listen.port = 0;
    options.cluster.nodes = 3;
    options.cluster.configs["offsets.topic.num.partitions"] = "2";
    options.control.emplace();
    options.control->port = 0;
    session_ = std::make_unique<LiveSession>(std::move(options));
    window_ = std::make_unique<MainWindow>(session_.get(), MainWindow::Options{.persist = false, .hints = false});
    window_->resize(1440, 900);
    window_->show();
    QVERIFY(QTest::qWaitForWindowExposed(window_.get()));
    session_->start();
    QTRY_VERIFY_WITH_TIMEOUT(session_->running(), kSoonMs);
    QTRY_COMPARE_WITH_TIMEOUT(inSync(0), std::size_t{3}, kSoonMs);
  }
  void cleanupTestCase() {
    window_.reset();
    session_.reset();
  }

  void everyPartitionIsReadAtItsLeader() {
    for (std::int32_t p = 0; p < DemoTraffic::kPartitions; ++p) {
      const ProduceAnswer sent = produce(p);
      QVERIFY2(sent.error.isEmpty(), qPrintable(sent.error));
      const ReadAnswer got = read(p, sent.offset);
      QVERIFY2(got.error.isEmpty(), qPrintable(got.error));
      QVERIFY(!got.rows.empty());
      QCOMPARE(got.rows.front().offset, sent.offset);
    }
  }

  void whatNodesSayToEachOtherIsNoClient() {
    const observe::ViewPtr view = session_->view();
    QVERIFY(std::any_of(view->connections->begin(), view->connections->end(), [&](const auto& c) { return is_peer(*c.second, *view); }));
    window_->showPage(QStringLiteral("clients"));
    auto* page = window_->findChild<ClientsPage*>();
    const auto fetchers = [&] {
      int found = 0;
      for (int row = 0; row < page->model()->rowCount(); ++row) {
        found += page->model()->index(row, ClientsModel::client).data().toString().contains(QStringLiteral("-fetcher-")) ? 1 : 0;
      }
      return found;
    };
    QTRY_VERIFY(page->model()->rowCount() > 0);
    QCOMPARE(fetchers(), 0);
    page->model()->setPeersShown(true);
    page->model()->update(*session_->view(), 0);
    QVERIFY(fetchers() > 0);
    page->model()->setPeersShown(false);
    window_->showPage(QStringLiteral("cluster"));
  }

  void theLeaderIsKilledAndNothingIsLost() {
    const int old = leader(0);
    const std::int64_t before = produce(0).offset;
    window_->select(Selection::ofPartition(QString::fromLatin1(DemoTraffic::kTopic), 0));
    QVERIFY(window_->commands().run(QStringLiteral("node.kill_or_start")));
    answer(QStringLiteral("Kill node %1").arg(old));
    QTRY_VERIFY_WITH_TIMEOUT(session_->conditionOf(old).down, kSoonMs);
    QTRY_VERIFY_WITH_TIMEOUT(leader(0) >= 0 && leader(0) != old, kSoonMs);
    QTRY_VERIFY_WITH_TIMEOUT(told().contains(QStringLiteral("moved %1 → %2").arg(old).arg(leader(0))), kSoonMs);
    QVERIFY2(told().contains(QStringLiteral("; 0 acknowledged records lost.")), qPrintable(told()));
    const ReadAnswer kept = read(0, before);
    QVERIFY2(kept.error.isEmpty(), qPrintable(kept.error));
    QVERIFY(!kept.rows.empty());
    QCOMPARE(kept.rows.front().offset, before);
    QVERIFY2(produce(0).error.isEmpty(), "two of three are enough");
    QVERIFY(acknowledged(0) > before);
    // Again, without a question: it starts, catches up and is in sync.
    window_->select(Selection::ofNode(old));
    QVERIFY(window_->commands().run(QStringLiteral("node.kill_or_start")));
    QTRY_COMPARE_WITH_TIMEOUT(inSync(0), std::size_t{3}, kSoonMs);
    QVERIFY(session_->conditionOf(old).healthy());
  }

  void faultsComeAndGoThroughTheMenu() {
    const int node = leader(1);
    window_->select(Selection::ofNode(node));
    QVERIFY(window_->commands().run(QStringLiteral("node.faults")));
    auto* menu = window_->findChild<QMenu*>(QStringLiteral("faultMenu"));
    QVERIFY(menu != nullptr);
    const auto entry = [&](const char* id) { return menu->findChild<QAction*>(QString::fromLatin1(id)); };
    QVERIFY(entry("node.cut_off") != nullptr);
    QVERIFY(entry("node.resume") == nullptr);
    QVERIFY(!entry("nodes.heal_all")->isEnabled());
    entry("node.cut_off")->trigger();
    menu->close();
    QTRY_VERIFY_WITH_TIMEOUT(session_->conditionOf(node).cut_off, kSoonMs);
    QTRY_VERIFY_WITH_TIMEOUT(leader(1) >= 0 && leader(1) != node, kSoonMs);  // fenced: the others go on
    QVERIFY(window_->commands().run(QStringLiteral("nodes.heal_all")));
    QTRY_VERIFY_WITH_TIMEOUT(session_->conditionOf(node).healthy(), kSoonMs);
    QTRY_COMPARE_WITH_TIMEOUT(inSync(1), std::size_t{3}, kSoonMs);
    QVERIFY(window_->commands().run(QStringLiteral("node.pause")));
    QTRY_VERIFY_WITH_TIMEOUT(session_->conditionOf(node).paused && !session_->conditionOf(node).working, kSoonMs);
    QVERIFY(!window_->commands().enabled(QStringLiteral("node.pause")));
    QVERIFY(window_->commands().run(QStringLiteral("node.resume")));
    QTRY_VERIFY_WITH_TIMEOUT(session_->conditionOf(node).healthy(), kSoonMs);
    quiet(node);
  }

  // The window and the control port are two hands on the same nodes.
  void whatIsDoneOverHttpShowsHereAndTheOtherWayRound() {
    QVERIFY(session_->controlPort().address.startsWith(QStringLiteral("127.0.0.1:")));
    QCOMPARE(status_of(2)["state"].text_or(""), std::string("running"));
    over_http("node.pause", R"({"nodes": [2]})");
    QTRY_VERIFY_WITH_TIMEOUT(session_->conditionOf(2).paused, kSoonMs);
    over_http("node.resume", R"({"nodes": [2]})");
    QTRY_VERIFY_WITH_TIMEOUT(session_->conditionOf(2).healthy(), kSoonMs);
    over_http("link.cut", R"({"from": [3], "to": [1, 2]})");
    QTRY_VERIFY_WITH_TIMEOUT(session_->conditionOf(3).cut_off && !session_->conditionOf(1).cut_off, kSoonMs);
    over_http("cluster.heal", "{}");
    QTRY_VERIFY_WITH_TIMEOUT(session_->conditionOf(3).healthy(), kSoonMs);
    over_http("node.kill", R"({"nodes": [3], "power_cut": true})");
    QTRY_VERIFY_WITH_TIMEOUT(session_->conditionOf(3).down && session_->conditionOf(3).killed && !session_->conditionOf(3).working, kSoonMs);
    QVERIFY(session_->conditionOf(3).lost_bytes >= 0);
    window_->select(Selection::ofNode(3));
    QVERIFY(window_->commands().enabled(QStringLiteral("node.start")));
    QVERIFY(window_->commands().run(QStringLiteral("node.start")));
    QTRY_VERIFY_WITH_TIMEOUT(session_->conditionOf(3).healthy() && !session_->conditionOf(3).working, kSoonMs);
    QCOMPARE(status_of(3)["state"].text_or(""), std::string("running"));
    QTRY_COMPARE_WITH_TIMEOUT(inSync(0), std::size_t{3}, kSoonMs);
    QVERIFY(window_->commands().run(QStringLiteral("node.cut_power")));
    QTRY_VERIFY_WITH_TIMEOUT(session_->conditionOf(3).down, kSoonMs);
    QTRY_VERIFY_WITH_TIMEOUT(told().contains(QStringLiteral("lost power")), kSoonMs);
    QTRY_VERIFY_WITH_TIMEOUT(told().contains(QStringLiteral("fenced")), kSoonMs);
    // Another fault: what was told of the first one is not taken for its story, and what was done by hand stays while it is so.
    window_->select(Selection::ofNode(2));
    QVERIFY(window_->commands().run(QStringLiteral("node.pause")));
    QTRY_VERIFY_WITH_TIMEOUT(told().contains(QStringLiteral("Node 2 is paused")), kSoonMs);
    QVERIFY2(told().contains(QStringLiteral("Node 3 lost power")), qPrintable(told()));
    QVERIFY2(!told().contains(QStringLiteral("Node 3 is fenced")), qPrintable(told()));
    QCOMPARE(status_of(3)["state"].text_or(""), std::string("killed"));
    QVERIFY(status_of(3)["lost"]["bytes"].number_or(-1) >= 0);
    QVERIFY(window_->commands().run(QStringLiteral("nodes.heal_all")));
    QTRY_VERIFY_WITH_TIMEOUT(session_->conditionOf(3).healthy(), kSoonMs);
    QTRY_COMPARE_WITH_TIMEOUT(inSync(0), std::size_t{3}, kSoonMs);
  }

  void theControlPortIsShown() {
    window_->showPage(QStringLiteral("clients"));
    auto* doctor = window_->findChild<DoctorPanel*>();
    QVERIFY(doctor != nullptr);
    doctor->examine();
    const QString address = session_->controlPort().address;
    const auto labels = doctor->findChildren<QLabel*>();
    QVERIFY(std::any_of(labels.begin(), labels.end(), [&](const QLabel* label) { return label->text().contains(address); }));
  }

  void everyPageTellsOfAKill() {
    // Before: a quorum of three, its log readable, everything replicated and in sync.
    window_->showPage(QStringLiteral("quorum"));
    auto* quorum = window_->findChild<QuorumPage*>();
    auto* lanes = window_->findChild<PartitionsPage*>();
    auto* cluster = window_->findChild<ClusterPage*>();
    QTRY_VERIFY_WITH_TIMEOUT(quorum->verdict().contains(QStringLiteral("One of them may fail")), kSoonMs);
    QTRY_VERIFY_WITH_TIMEOUT(quorum->records()->rowCount() > 10, kSoonMs);
    const auto says = [&](const QString& type) {
      for (int row = 0; row < quorum->records()->rowCount(); ++row) {
        const MetadataRecord* record = quorum->records()->record(row);
        if (record->broken) {
          return false;
        }
        if (record->type == type) {
          return true;
        }
      }
      return false;
    };
    QVERIFY(says(QStringLiteral("RegisterBroker")) && says(QStringLiteral("LeaderChange")) && says(QStringLiteral("Topic")));
    QVERIFY(quorum->applyFilter(QStringLiteral("type == \"Topic\"")));
    QTRY_VERIFY(quorum->records()->rowCount() > 0 && quorum->records()->record(0)->type == QStringLiteral("Topic"));
    QVERIFY(quorum->applyFilter({}));
    const std::size_t elections = quorum->canvas()->elections().size();
    QVERIFY(elections > 0);
    const int controller = quorum->canvas()->facts().leader;
    QVERIFY(controller >= 0);
    window_->showPage(QStringLiteral("partitions"));
    window_->select(Selection::ofPartition(QString::fromLatin1(DemoTraffic::kTopic), 0));
    const auto follower = [&] {
      for (const observe::ReplicaView& replica : partition(0)->replicas) {
        if (replica.node != partition(0)->leader) {
          return replica.node.value();
        }
      }
      return -1;
    };
    QTRY_COMPARE_WITH_TIMEOUT(lanes->lanes()->replicaNote(0, follower()), QStringLiteral("in sync"), kSoonMs);
    window_->showPage(QStringLiteral("cluster"));
    const auto broken = [&] {
      const auto& links = cluster->canvas()->model().links();
      return std::count_if(links.begin(), links.end(), [](const auto& link) { return link.trouble == ClusterModel::Link::Trouble::down; });
    };
    QTRY_VERIFY_WITH_TIMEOUT(!cluster->canvas()->model().links().empty(), kSoonMs);
    QCOMPARE(broken(), std::ptrdiff_t{0});

    const QString since = format_time(QDateTime::currentMSecsSinceEpoch()).left(8);
    bool done = false;
    SessionNodes::of(session_.get()).act(NodeAction::kill, controller, [&](const QString& error) {
      QVERIFY2(error.isEmpty(), qPrintable(error));
      done = true;
    });
    QTRY_VERIFY_WITH_TIMEOUT(done, kSoonMs);
    // During: its links are broken, its lanes say so, the quorum has a bare majority and elects.
    QTRY_VERIFY_WITH_TIMEOUT(broken() > 0, kSoonMs);
    window_->showPage(QStringLiteral("quorum"));
    QTRY_VERIFY_WITH_TIMEOUT(quorum->canvas()->facts().leader >= 0 && quorum->canvas()->facts().leader != controller, kSoonMs);
    QCOMPARE(quorum->canvas()->facts().answering, 2);
    QVERIFY2(quorum->verdict().contains(QStringLiteral("One more failure stops")), qPrintable(quorum->verdict()));
    QCOMPARE(quorum->attention({}), Glyph::quarter);
    const auto decided = [&] {
      for (const Election& each : quorum->canvas()->elections()) {
        if (each.before == controller && each.decided() && each.killed && each.leaderlessMs() > 0 && !each.votes.empty()) {
          return true;
        }
      }
      return false;
    };
    QVERIFY(decided());
    QVERIFY(quorum->canvas()->elections().size() > elections);
    window_->showPage(QStringLiteral("partitions"));
    QTRY_VERIFY_WITH_TIMEOUT(lanes->lanes()->replicaNote(0, controller).startsWith(QStringLiteral("killed")), kSoonMs);
    window_->showPage(QStringLiteral("cluster"));
    const QString moved = QStringLiteral("The active controller moved %1 → ").arg(controller);
    QTRY_VERIFY_WITH_TIMEOUT(told().contains(moved) || told().contains(QStringLiteral("fenced")), kSoonMs);
    // Nothing is told of the faults before, and of this one it is said when.
    static const QRegularExpression time(QStringLiteral("^\\d\\d:\\d\\d:\\d\\d  "));
    for (const QString& line : told().split(QRegularExpression(QStringLiteral("\n|   ")))) {
      QVERIFY2(time.match(line).hasMatch() && line.left(8) >= since, qPrintable(since + QLatin1String(" | ") + told()));
    }
    // After: it is back, a voter that follows.
    done = false;
    SessionNodes::of(session_.get()).act(NodeAction::start, controller, [&](const QString&) { done = true; });
    QTRY_VERIFY_WITH_TIMEOUT(done, kSoonMs);
    QTRY_COMPARE_WITH_TIMEOUT(inSync(0), std::size_t{3}, kSoonMs);
    QTRY_COMPARE_WITH_TIMEOUT(broken(), std::ptrdiff_t{0}, kSoonMs);
    window_->showPage(QStringLiteral("quorum"));
    QTRY_COMPARE_WITH_TIMEOUT(quorum->canvas()->facts().answering, 3, kSoonMs);
  }

  void votersAreTakenOutAndIn() {
    auto* quorum = window_->findChild<QuorumPage*>();
    window_->showPage(QStringLiteral("quorum"));
    int node = -1;
    for (const QuorumReplica& voter : quorum->canvas()->facts().voters) {
      node = voter.leads ? node : voter.id;
    }
    window_->select(Selection::ofNode(node));
    QVERIFY(!window_->commands().enabled(QStringLiteral("quorum.add_voter")));
    QVERIFY(window_->commands().run(QStringLiteral("quorum.remove_voter")));
    answer(QStringLiteral("Remove voter %1").arg(node));
    const auto* told = quorum->findChild<QLabel*>(QStringLiteral("quorumTold"));
    QTRY_VERIFY2_WITH_TIMEOUT(quorum->canvas()->facts().voters.size() == 2, qPrintable(told->text()), kSoonMs);
    QVERIFY(!quorum->canvas()->facts().find(node)->voter);
    QTRY_VERIFY_WITH_TIMEOUT(window_->commands().enabled(QStringLiteral("quorum.add_voter")), kSoonMs);
    QVERIFY(window_->commands().run(QStringLiteral("quorum.add_voter")));
    QTRY_VERIFY2_WITH_TIMEOUT(quorum->canvas()->facts().voters.size() == 3, qPrintable(told->text()), kSoonMs);
    window_->showPage(QStringLiteral("cluster"));
  }

  // One broker more, and taken back while it holds nothing; who holds partitions or votes stays.
  void aBrokerComesAndGoes() {
    window_->showPage(QStringLiteral("cluster"));
    window_->select(Selection::ofNode(1));
    QVERIFY(!window_->commands().enabled(QStringLiteral("node.remove")));
    QVERIFY(window_->commands().run(QStringLiteral("node.add")));
    QVERIFY(!window_->commands().enabled(QStringLiteral("node.add")));  // one after the other
    QTRY_COMPARE_WITH_TIMEOUT(window_->selection().node, 4, kSoonMs);
    QTRY_VERIFY_WITH_TIMEOUT(window_->findChild<ClusterPage*>()->canvas()->model().nodes().size() == 4, kSoonMs);
    QTRY_VERIFY_WITH_TIMEOUT(told().contains(QStringLiteral("Node 4 has joined")), kSoonMs);
    QVERIFY(window_->commands().enabled(QStringLiteral("node.add")));
    QTRY_VERIFY_WITH_TIMEOUT(window_->commands().enabled(QStringLiteral("node.remove")), kSoonMs);
    QString failed = QStringLiteral("?");
    QVERIFY(UndoList::of(session_.get())->undo(Selection::ofNode(4).address(), [&](const QString&, const QString& error) { failed = error; }));
    QTRY_COMPARE_WITH_TIMEOUT(failed, QString(), kSoonMs);
    QTRY_VERIFY_WITH_TIMEOUT(window_->findChild<ClusterPage*>()->canvas()->model().nodes().size() == 3, kSoonMs);
    window_->select(Selection::ofPartition(QString::fromLatin1(DemoTraffic::kTopic), 0));
  }

  void theBoardIsTriedForReal() {
    // After what the tests before did, preferred leaders come back first: an election asks for them.
    for (std::int32_t index = 0; index < 3; ++index) {
      QTRY_COMPARE_WITH_TIMEOUT(inSync(index), std::size_t{3}, kSoonMs);
      QTRY_VERIFY_WITH_TIMEOUT(partition(index)->leader_counters() != nullptr, kSoonMs);  // and who leads is known to run
    }
    window_->showPage(QStringLiteral("quorum"));
    int tried = 0;
    for (Button* button : window_->findChild<QuorumPage*>()->findChildren<Button*>()) {
      if (!button->accessibleName().startsWith(QStringLiteral("Test: "))) {
        continue;
      }
      ++tried;
      button->click();
      QVERIFY2(!button->isEnabled(), qPrintable(button->accessibleName() + QStringLiteral(": ") + button->accessibleDescription()));
      QTRY_VERIFY2_WITH_TIMEOUT(button->isEnabled(), qPrintable(button->accessibleName()), kSoonMs);
      QVERIFY2(button->accessibleDescription().startsWith(QStringLiteral("works, ")),
               qPrintable(button->accessibleName() + QStringLiteral(": ") + button->accessibleDescription()));
    }
    QCOMPARE(tried, 5);
    // What it made is gone.
    QTRY_VERIFY_WITH_TIMEOUT(session_->view()->find_topic("highwater-test") == nullptr, kSoonMs);
    QTRY_VERIFY_WITH_TIMEOUT(session_->view()->find_group("highwater-test") == nullptr, kSoonMs);
    window_->showPage(QStringLiteral("cluster"));
  }

  // A busy window is no slow cluster: the time of an answer is that of its arrival.
  void aBusyWindowIsNoPartOfATrialsTime() {
    session_->setDemoTraffic(false);
    const observe::ViewPtr view = session_->view();
    const observe::TopicView* topic = view->find_topic(DemoTraffic::kTopic);
    QVERIFY(topic != nullptr);
    const auto written = [topic] {
      std::int64_t sum = 0;
      for (const auto& each : topic->partitions) {
        sum += each->leader_counters() == nullptr ? 0 : each->leader_counters()->high_watermark.get();
      }
      return sum;
    };
    const std::int64_t before = written();
    TrialAnswer got;
    bool done = false;
    QElapsedTimer busy;
    busy.start();
    session_->tryOut(Trial::produce, [&](const TrialAnswer& answer) {
      got = answer;
      done = true;
    });
    // The window does nothing else until the record is acknowledged, and for three times as long.
    while (written() == before && busy.elapsed() < kSoonMs) {
      std::this_thread::yield();
    }
    const qint64 until = 3 * busy.elapsed() + 1'000;
    while (busy.elapsed() < until) {
      std::this_thread::yield();
    }
    QTRY_VERIFY_WITH_TIMEOUT(done, kSoonMs);
    QVERIFY2(got.error.isEmpty(), qPrintable(got.error));
    QVERIFY2(got.ms < until, qPrintable(QStringLiteral("%1 of %2").arg(got.ms).arg(until)));
    session_->setDemoTraffic(true);
  }

  void everyBrokerIsNamedForClients() {
    const QStringList all = session_->bootstrapList().split(QLatin1Char(','));
    QCOMPARE(all.size(), 3);
    QCOMPARE(all.front(), session_->bootstrap());
    QVERIFY(window_->commands().run(QStringLiteral("connect.copy")));
    QCOMPARE(QGuiApplication::clipboard()->text(), all.join(QLatin1Char(',')));
  }

  void timeoutsOfTheDemoAreNamed() {
    QVERIFY2(session_->profile().contains(QStringLiteral("2 s (Kafka: 9 s)")), qPrintable(session_->profile()));
  }
};

QTEST_MAIN(TestLiveNodes)
#include "tst_live_nodes.moc"
