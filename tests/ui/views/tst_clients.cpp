// SPDX-License-Identifier: Apache-2.0
// The Clients page: who is connected, code to connect with, the listener doctor, disconnecting.
#include <QApplication>
#include <QCheckBox>
#include <QClipboard>
#include <QLabel>
#include <QLineEdit>
#include <QTableView>
#include <QTest>
#include <memory>

#include "tests/ui/support/fake_session.h"
#include "ui/filter/filter_box.h"
#include "ui/models/client_facts.h"
#include "ui/models/connect_snippets.h"
#include "ui/models/listener_doctor.h"
#include "ui/theme/theme.h"
#include "ui/views/clients_connect.h"
#include "ui/views/clients_model.h"
#include "ui/views/clients_page.h"
#include "ui/window/controls.h"
#include "ui/window/language.h"
#include "ui/window/main_window.h"

using namespace hw::ui;

namespace {

using Outcome = ListenerCheck::Outcome;
using Verdict = DoctorRow::Verdict;

ListenerCheck answers(const QString& cluster, const QStringList& addresses = {QStringLiteral("127.0.0.1")}) {
  ListenerCheck check;
  check.outcome = Outcome::speaks_kafka;
  check.cluster_id = cluster;
  check.addresses = addresses;
  return check;
}

ListenerCheck fails(Outcome outcome) {
  ListenerCheck check;
  check.outcome = outcome;
  return check;
}

DoctorInput usual() {
  DoctorInput in;
  in.listener = {QStringLiteral("127.0.0.1"), 9092, QStringLiteral("localhost"), 9092};
  in.cluster_id = QStringLiteral("ours");
  in.machine = {{MachineAddress::Kind::loopback, QStringLiteral("lo"), QStringLiteral("127.0.0.1"), false},
                {MachineAddress::Kind::network, QStringLiteral("eth0"), QStringLiteral("192.168.1.5"), false},
                {MachineAddress::Kind::container, QStringLiteral("docker0"), QStringLiteral("172.17.0.1"), false}};
  in.checks[QStringLiteral("localhost:9092")] = answers(in.cluster_id);
  in.checks[QStringLiteral("192.168.1.5:9092")] = fails(Outcome::refused);
  in.checks[QStringLiteral("172.17.0.1:9092")] = fails(Outcome::refused);
  return in;
}

}  // namespace

class TestClients : public QObject {
  Q_OBJECT

  std::unique_ptr<FakeSession> session_;
  std::unique_ptr<MainWindow> window_;
  ClientsPage* page_ = nullptr;

  void open(FakeSession::Options options = {.external = true}) {
    window_.reset();
    session_ = std::make_unique<FakeSession>(options);
    session_->tick(250);
    window_ = std::make_unique<MainWindow>(session_.get(), MainWindow::Options{.persist = false, .hints = false});
    window_->resize(1440, 900);
    window_->show();
    QVERIFY(QTest::qWaitForWindowExposed(window_.get()));
    window_->activateWindow();
    QTRY_VERIFY(window_->isActiveWindow());
    window_->showPage("clients");
    page_ = window_->findChild<ClientsPage*>();
    QVERIFY(page_ != nullptr);
  }
  QString cell(int row, ClientsModel::Column column) const { return page_->model()->index(row, column).data().toString(); }
  int row_named(const QString& client) const {
    for (int i = 0; i < page_->model()->rowCount(); ++i) {
      if (cell(i, ClientsModel::client) == client) {
        return i;
      }
    }
    return -1;
  }

 private slots:
  void initTestCase() {
    install_language(*qApp);
    Theme::current().install(*qApp);
  }
  void cleanup() {
    window_.reset();
    session_.reset();
  }

  void a_row_says_who_it_is_and_what_it_does() {
    open();
    auto counters = session_->connectClient(40, "billing-app", "librdkafka", "2.3.0");
    counters->note_request(1, 11);
    counters->note_request(1, 11);
    counters->note_error(3);
    counters->note_error(3);
    counters->note_error(-1);
    session_->tick(1'100);
    const int row = row_named(QStringLiteral("billing-app"));
    QVERIFY(row >= 0);
    QCOMPARE(cell(row, ClientsModel::software), QStringLiteral("librdkafka 2.3.0"));
    QCOMPARE(cell(row, ClientsModel::from), QStringLiteral("127.0.0.1:40040"));
    QTRY_COMPARE(cell(row, ClientsModel::errors), QStringLiteral("3"));
    QCOMPARE(cell(row, ClientsModel::requests), QStringLiteral("–"));
    QVERIFY(page_->model()->index(row, ClientsModel::errors).data(Qt::ToolTipRole).toString().contains(QStringLiteral("UNKNOWN_TOPIC_OR_PARTITION")));
    QVERIFY2(cell(row, ClientsModel::apis).startsWith(QStringLiteral("Fetch v11")), qPrintable(cell(row, ClientsModel::apis)));
    QVERIFY(cell(row, ClientsModel::apis).contains(QStringLiteral("Metadata v13")));
    QVERIFY(errors_in_words(*counters).contains(QStringLiteral("2 × UNKNOWN_TOPIC_OR_PARTITION (3)")));
    QVERIFY(errors_in_words(*counters).contains(QStringLiteral("UNKNOWN_SERVER_ERROR (-1)")));
    // Rates come with the second look and fall to nothing when the client is quiet.
    counters->requests.add(400);
    QTest::qWait(1'050);
    session_->tick(16);
    const auto asks = [this] { return cell(row_named(QStringLiteral("billing-app")), ClientsModel::requests); };
    QTRY_VERIFY(asks() != QStringLiteral("–") && asks() != QStringLiteral("0/s"));
    QTRY_COMPARE_WITH_TIMEOUT(asks(), QStringLiteral("0/s"), 5'000);
  }

  // What was asked while another page was shown is of no second; the first look after it is none either.
  void rates_begin_anew_when_somebody_looks_again() {
    open();
    auto counters = session_->connectClient(47, "billing-app", "librdkafka", "2.3.0");
    session_->tick(1'100);
    const auto asks = [this] { return cell(row_named(QStringLiteral("billing-app")), ClientsModel::requests); };
    QTRY_COMPARE_WITH_TIMEOUT(asks(), QStringLiteral("0/s"), 5'000);
    page_->hide();
    counters->requests.add(4'000);
    page_->show();
    QCOMPARE(asks(), QStringLiteral("–"));
    QTRY_COMPARE_WITH_TIMEOUT(asks(), QStringLiteral("0/s"), 5'000);
  }

  void connections_of_one_program_are_one_client() {
    open();
    const std::size_t before = count_clients(*session_->view());
    session_->connectClient(41, "shop", "kafkajs", "2.2.4");
    session_->connectClient(42, "shop", "kafkajs", "2.2.4");
    session_->connectClient(43, "shop", "kafkajs", "2.2.4");
    session_->connectClient(44, "", "", "");  // a port check says nothing
    session_->tick(100);
    QCOMPARE(count_clients(*session_->view()), before + 1);
    QVERIFY(session_->view()->connections->size() >= before + 4);
  }

  void the_filter_and_its_empty_state() {
    open();
    QTest::keyClick(page_, Qt::Key_Slash);  // to the filter of this page
    auto* filter = page_->filter()->edit();
    QVERIFY(filter->hasFocus());
    QTest::keyClicks(filter, "app-17");
    QTRY_COMPARE(page_->model()->rowCount(), 1);
    QTest::keyClicks(filter, "xx");
    QTRY_COMPARE(page_->model()->rowCount(), 0);
    Button* clear = nullptr;
    for (Button* button : page_->findChildren<Button*>()) {
      clear = button->isVisible() && button->text() == QStringLiteral("Clear filter") ? button : clear;
    }
    QVERIFY(clear != nullptr);
    clear->click();
    QVERIFY(page_->model()->rowCount() > 1);
    QVERIFY(page_->table()->isVisible());
    page_->findChild<QCheckBox*>()->setChecked(false);
    QCOMPARE(page_->model()->rowCount(), 1);
  }

  void the_filter_speaks_of_clients() {
    open();
    auto counters = session_->connectClient(40, "billing-app", "librdkafka", "2.3.0");
    counters->note_request(1, 11);
    counters->note_error(3);
    session_->tick(100);
    const int all = page_->model()->rowCount();
    const auto rows = [&](const char* text) {
      page_->filter()->setText(QString::fromUtf8(text));
      return page_->filter()->parsed().ok() ? page_->model()->rowCount() : -1;
    };
    QCOMPARE(rows("id == \"billing-app\""), 1);
    QCOMPARE(cell(0, ClientsModel::client), QStringLiteral("billing-app"));
    QCOMPARE(rows("software == librdkafka && version ~ \"^2\""), 1);
    QCOMPARE(rows("errors > 0 && error == UNKNOWN_TOPIC_OR_PARTITION"), 1);
    QCOMPARE(rows("errors > 1"), 0);
    QCOMPARE(rows("api == Fetch && id ~ billing"), 1);
    QCOMPARE(rows("connection == 40"), 1);
    QCOMPARE(rows("not (host == \"127.0.0.1\")"), 0);
    QVERIFY(rows("built_in") > 0);
    QCOMPARE(rows("built_in") + rows("not built_in"), all);
    // Words alone, as before there was a language: an address, two words, a sign that is none of the language's.
    QCOMPARE(rows("127.0.0.1:40040"), 1);
    QCOMPARE(rows("librdkafka 2.3.0"), 1);
    QCOMPARE(rows("librdkafka/2"), 0);
    QCOMPARE(rows(""), all);
    QCOMPARE(rows("kye == 3"), -1);
  }

  // A client has a connection to each node that it speaks to; they are one client, and can be seen one by one.
  void connections_of_a_client_are_one_row() {
    open();
    session_->connectClient(70, "shop", "kafkajs", "2.2.4")->note_request(1, 11);
    session_->connectClient(71, "alone", "kafkajs", "2.2.4");
    auto second = session_->connectClient(72, "shop", "kafkajs", "2.2.4");
    second->note_request(0, 9);
    second->note_request(1, 12);
    second->note_error(3);
    session_->tick(1'100);
    const std::size_t before = count_clients(*session_->view());
    const int all = page_->model()->rowCount();
    const int row = row_named(QStringLiteral("shop"));
    QVERIFY(row >= 0);
    QCOMPARE(row_named(QStringLiteral("alone")), row + 1);
    QCOMPARE(page_->model()->connectionsAt(row), (std::vector<std::uint64_t>{70, 72}));
    QCOMPARE(cell(row, ClientsModel::from), QStringLiteral("127.0.0.1 ×2"));
    QTRY_COMPARE(cell(row, ClientsModel::errors), QStringLiteral("1"));
    QCOMPARE(cell(row, ClientsModel::apis), QStringLiteral("Fetch v12, Metadata v13, ApiVersions v4, Produce v9"));
    // Unfolded by the keyboard, the mark or a double click.
    page_->table()->setFocus();
    page_->table()->setCurrentIndex(page_->model()->index(row, 0));
    QVERIFY(window_->selection() == Selection::ofConnection(70));
    QTest::keyClick(page_->table(), Qt::Key_Right);
    QCOMPARE(page_->model()->rowCount(), all + 2);
    QCOMPARE(cell(row + 2, ClientsModel::client), QStringLiteral("conn72"));
    QCOMPARE(cell(row + 2, ClientsModel::from), QStringLiteral("127.0.0.1:40072"));
    QCOMPARE(cell(row + 1, ClientsModel::apis), QStringLiteral("Fetch v11, Metadata v13, ApiVersions v4"));
    window_->select(Selection::ofConnection(72));
    QCOMPARE(page_->table()->currentIndex().row(), row + 2);
    QTest::keyClick(page_->table(), Qt::Key_Left);  // from within, to its client
    QCOMPARE(page_->model()->rowCount(), all);
    QCOMPARE(page_->table()->currentIndex().row(), row);
    QVERIFY(window_->selection() == Selection::ofConnection(72));
    const QRect mark = page_->table()->visualRect(page_->model()->index(row, 0));
    QTest::mouseClick(page_->table()->viewport(), Qt::LeftButton, {}, QPoint(mark.left() + 18, mark.center().y()));
    QCOMPARE(page_->model()->rowCount(), all + 2);
    QTest::mouseClick(page_->table()->viewport(), Qt::LeftButton, {}, QPoint(mark.left() + 18, mark.center().y()));
    QCOMPARE(page_->model()->rowCount(), all);
    page_->filter()->setText(QStringLiteral("connections > 1"));
    QCOMPARE(page_->model()->rowCount(), 1);
    page_->filter()->setText(QStringLiteral("connection == 72"));
    QCOMPARE(cell(0, ClientsModel::from), QStringLiteral("127.0.0.1:40072"));
    page_->filter()->setText({});
    // Two members of one group are two clients, whatever they call themselves.
    hw::observe::ClusterView view = *session_->view();
    auto groups = *view.groups;
    auto group = std::make_shared<hw::observe::GroupView>();
    group->id = "shops";
    for (const std::uint64_t connection : {std::uint64_t{70}, std::uint64_t{72}}) {
      hw::event::GroupAssigned::Member member;
      member.member_id = "m" + std::to_string(connection);
      member.connection = hw::ConnectionId(connection);
      group->members.push_back(member);
    }
    groups["shops"] = group;
    view.groups = std::make_shared<const std::remove_const_t<decltype(groups)>>(groups);
    QCOMPARE(count_clients(view), before + 1);
    page_->model()->update(view, 0);
    QCOMPARE(cell(row, ClientsModel::client), QStringLiteral("shop · 2 clients"));
    QVERIFY(page_->model()->index(row, ClientsModel::client).data(Qt::ToolTipRole).toString().contains(QStringLiteral("Member of shops")));
  }

  void a_client_keeps_its_place_and_leaves_whole() {
    open();
    session_->connectClient(70, "shop", "kafkajs", "2.2.4");
    session_->connectClient(71, "alone", "kafkajs", "2.2.4");
    session_->connectClient(72, "shop", "kafkajs", "2.2.4");
    session_->connectClient(73, "shop", "kafkajs", "2.2.4");
    session_->tick(100);
    const int row = row_named(QStringLiteral("shop"));
    session_->closeConnection(70, [](const QString&) {});
    session_->tick(100);
    QCOMPARE(row_named(QStringLiteral("shop")), row);
    QCOMPARE(page_->model()->connectionsAt(row), (std::vector<std::uint64_t>{72, 73}));
    page_->table()->setCurrentIndex(page_->model()->index(row, 0));
    for (Button* each : page_->findChildren<Button*>()) {
      if (each->text() == QStringLiteral("Disconnect")) {
        QVERIFY(each->isEnabled());
        each->click();
      }
    }
    QTRY_COMPARE(session_->closed(), (std::vector<std::uint64_t>{70, 72, 73}));
    QTRY_COMPARE(row_named(QStringLiteral("shop")), -1);
  }

  void nobody_there_is_said_so() {
    open({.demo = false});
    QVERIFY(!page_->table()->isVisible());
    bool said = false;
    for (const QLabel* label : page_->findChildren<QLabel*>()) {
      said = said || (label->isVisible() && label->text() == QStringLiteral("No client is connected"));
    }
    QVERIFY(said);
    QVERIFY(page_->connectPanel()->isVisible());
    session_->connectClient(50, "first", "kcat", "1.7");
    session_->tick(100);
    QTRY_VERIFY(page_->table()->isVisible());
  }

  void rows_stay_where_they_are() {
    open();
    session_->connectClient(60, "a", "x", "1");
    session_->connectClient(61, "b", "x", "1");
    session_->tick(100);
    page_->table()->setCurrentIndex(page_->model()->index(row_named(QStringLiteral("b")), 0));
    QVERIFY(window_->selection() == Selection::ofConnection(61));
    session_->closeConnection(60, [](const QString&) {});
    session_->tick(100);
    QCOMPARE(page_->model()->connectionAt(page_->table()->currentIndex().row()), std::uint64_t{61});
    QVERIFY(window_->selection() == Selection::ofConnection(61));
  }

  void focus_chooses_nobody_and_a_click_does() {
    open();
    window_->select(Selection::ofTopic("demo.orders"));
    page_->filter()->focusText();
    page_->table()->setFocus();
    QVERIFY(window_->selection() == Selection::ofTopic("demo.orders"));
    const QRect first = page_->table()->visualRect(page_->model()->index(0, ClientsModel::software));
    QTest::mouseClick(page_->table()->viewport(), Qt::LeftButton, {}, first.center());
    QVERIFY(window_->selection() == Selection::ofConnection(page_->model()->connectionAt(0)));
    window_->select(Selection::ofTopic("demo.orders"));
    QTest::mouseClick(page_->table()->viewport(), Qt::LeftButton, {}, first.center());
    QVERIFY(window_->selection() == Selection::ofConnection(page_->model()->connectionAt(0)));
  }

  void disconnecting_closes_the_selected_one() {
    open();
    page_->table()->setCurrentIndex(page_->model()->index(row_named(QStringLiteral("app-17")), 0));
    Button* button = nullptr;
    for (Button* each : page_->findChildren<Button*>()) {
      button = each->text() == QStringLiteral("Disconnect") ? each : button;
    }
    QVERIFY(button != nullptr && button->isEnabled());
    button->click();
    QTRY_COMPARE(session_->closed(), std::vector<std::uint64_t>{17});
    QTRY_COMPARE(row_named(QStringLiteral("app-17")), -1);
    session_->failNext("The node said no.");
    window_->commands().run("client.disconnect", {{"connection", 1}});
    QTest::qWait(20);
    QCOMPARE(session_->closed().size(), std::size_t{1});
  }

  void code_holds_the_address_of_this_cluster() {
    open();
    const auto all = connect_snippets("example:19092", "orders");
    QVERIFY(all.size() >= 6);
    for (const ConnectSnippet& s : all) {
      QVERIFY2(s.code.contains(QStringLiteral("example:19092")), qPrintable(s.id));
      QVERIFY2(s.code.contains(QStringLiteral("orders")), qPrintable(s.id));
      QVERIFY2(!s.code.contains(QStringLiteral("@SERVERS@")) && !s.code.contains(QStringLiteral("@TOPIC@")), qPrintable(s.id));
    }
    window_->select(Selection::ofTopic("demo.orders"));
    QTRY_VERIFY(page_->connectPanel()->code().contains(QStringLiteral("demo.orders")));
    QVERIFY(page_->connectPanel()->code().contains(QStringLiteral("localhost:9092")));
    auto* languages = page_->connectPanel()->findChild<SegmentedControl*>();
    languages->setFocus();
    QTest::keyClick(languages, Qt::Key_Right);
    QCOMPARE(page_->connectPanel()->shownLanguage(), QStringLiteral("python"));
    for (Button* button : page_->connectPanel()->findChildren<Button*>()) {
      if (button->text() == QStringLiteral("Copy code")) {
        button->click();
      }
    }
    QVERIFY(QApplication::clipboard()->text().startsWith(QStringLiteral("from confluent_kafka")));
  }

  // --- the doctor

  void alone_on_this_machine_is_fine_and_others_are_told_how() {
    const auto rows = diagnose(usual());
    QCOMPARE(rows.size(), std::size_t{3});
    QCOMPARE(rows[0].verdict, Verdict::works);
    QCOMPARE(rows[1].verdict, Verdict::fails);
    QVERIFY(rows[1].sentence.contains(QStringLiteral("127.0.0.1 only")));
    QCOMPARE(rows[1].options, QStringLiteral("--listen 0.0.0.0 --advertise 192.168.1.5:9092"));
    QCOMPARE(rows[2].verdict, Verdict::fails);
    QVERIFY(rows[2].bootstrap.startsWith(QStringLiteral("host.docker.internal")));
  }

  // Case 1 of the public cases: reachable at A, advertised as B, where nothing listens.
  void an_advertised_address_where_nothing_listens() {
    DoctorInput in = usual();
    in.listener.advertised_host = QStringLiteral("127.0.0.1");
    in.listener.advertised_port = 19092;
    in.checks[QStringLiteral("127.0.0.1:19092")] = fails(Outcome::refused);
    const auto rows = diagnose(in);
    QCOMPARE(rows[0].verdict, Verdict::fails);
    QVERIFY(rows[0].sentence.contains(QStringLiteral("localhost:9092")));
    QVERIFY(rows[0].sentence.contains(QStringLiteral("127.0.0.1:19092")));
    QVERIFY(rows[0].sentence.contains(QStringLiteral("nothing listens")));
    QCOMPARE(rows[0].options, QStringLiteral("--advertise localhost:9092"));
  }

  void localhost_advertised_to_the_network() {
    DoctorInput in = usual();
    in.listener.bind_address = QStringLiteral("0.0.0.0");
    in.checks[QStringLiteral("192.168.1.5:9092")] = answers("ours");
    in.checks[QStringLiteral("172.17.0.1:9092")] = answers("ours");
    const auto rows = diagnose(in);
    QCOMPARE(rows[0].verdict, Verdict::works);
    QCOMPARE(rows[1].verdict, Verdict::fails);
    QVERIFY(rows[1].sentence.contains(QStringLiteral("their own machine")));
    QCOMPARE(rows[2].verdict, Verdict::fails);
    QVERIFY(rows[2].sentence.contains(QStringLiteral("container itself")));
  }

  void an_address_that_means_the_same_everywhere_works_for_all() {
    DoctorInput in = usual();
    in.listener = {QStringLiteral("0.0.0.0"), 9092, QStringLiteral("192.168.1.5"), 9092};
    for (const char* at : {"localhost:9092", "192.168.1.5:9092", "172.17.0.1:9092"}) {
      in.checks[QString::fromLatin1(at)] = answers("ours", {QStringLiteral("192.168.1.5")});
    }
    for (const DoctorRow& row : diagnose(in)) {
      QVERIFY2(row.verdict == Verdict::works, qPrintable(row.who + ": " + row.sentence));
      QVERIFY(row.options.isEmpty());
    }
  }

  void names_that_only_some_know() {
    DoctorInput in = usual();
    in.listener = {QStringLiteral("0.0.0.0"), 9092, QStringLiteral("broker.internal"), 9092};
    in.checks[QStringLiteral("192.168.1.5:9092")] = answers("ours");
    in.checks[QStringLiteral("172.17.0.1:9092")] = answers("ours");
    in.checks[QStringLiteral("broker.internal:9092")] = fails(Outcome::not_resolved);
    auto rows = diagnose(in);
    QCOMPARE(rows[0].verdict, Verdict::fails);
    QVERIFY(rows[0].sentence.contains(QStringLiteral("means nothing on this machine")));
    QCOMPARE(rows[1].verdict, Verdict::unsure);
    // A host name that /etc/hosts points at 127.0.1.1: right here, wrong elsewhere unless resolved otherwise.
    in.checks[QStringLiteral("broker.internal:9092")] = answers("ours", {QStringLiteral("127.0.1.1")});
    rows = diagnose(in);
    QCOMPARE(rows[0].verdict, Verdict::works);
    QCOMPARE(rows[1].verdict, Verdict::unsure);
    QVERIFY(rows[1].sentence.contains(QStringLiteral("127.0.1.1")));
  }

  void another_cluster_and_another_program_are_noticed() {
    DoctorInput in = usual();
    in.listener.advertised_host = QStringLiteral("other");
    in.checks[QStringLiteral("other:9092")] = answers("theirs");
    QVERIFY(diagnose(in)[0].sentence.contains(QStringLiteral("another Kafka cluster")));
    in.checks[QStringLiteral("other:9092")] = fails(Outcome::other_protocol);
    QVERIFY(diagnose(in)[0].sentence.contains(QStringLiteral("does not speak Kafka")));
    QCOMPARE(diagnose(in)[0].verdict, Verdict::fails);
  }

  void what_has_not_answered_yet_is_no_verdict() {
    DoctorInput in = usual();
    in.checks.clear();
    for (const DoctorRow& row : diagnose(in)) {
      QCOMPARE(row.verdict, Verdict::checking);
      QVERIFY(!row.sentence.isEmpty());
    }
    QCOMPARE(to_ask(in).size(), std::size_t{3});  // localhost once, though it is entrance and advertised
  }

  void the_page_asks_and_shows_the_verdict() {
    open();
    session_->setMachine(usual().machine);
    session_->setListener({QStringLiteral("127.0.0.1"), 9092, QStringLiteral("127.0.0.1"), 19092});
    session_->setCheck(QStringLiteral("localhost:9092"), answers("pHDb4LMTSlqDpTiC0rcXyg"));
    page_->showTab(ClientsPage::Tab::doctor);
    QTRY_VERIFY(!page_->doctor()->waiting() && !page_->doctor()->rows().empty());
    QTRY_COMPARE(page_->doctor()->rows()[0].verdict, Verdict::fails);
    QCOMPARE(page_->attention({}), Glyph::quarter);
    const auto shown = [&] {
      bool any = false;
      for (const QLabel* label : page_->doctor()->findChildren<QLabel*>()) {
        any = any || (label->isVisible() && label->text().contains(QStringLiteral("127.0.0.1:19092, where nothing listens")));
      }
      return any;
    };
    QTRY_VERIFY(shown());
  }
};

QTEST_MAIN(TestClients)
#include "tst_clients.moc"
