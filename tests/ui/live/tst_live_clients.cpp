// SPDX-License-Identifier: Apache-2.0
// The Clients page on the real engine, offscreen: who is connected, one of them opened with its requests and errors, filtered,
// disconnected; code to connect with, copied; the listener doctor, asked over real sockets.
#include <QApplication>
#include <QClipboard>
#include <QLabel>
#include <QTableView>
#include <QTest>
#include <algorithm>
#include <atomic>
#include <memory>
#include <string>

#include "engine/node/client_runner.h"
#include "ui/filter/filter_box.h"
#include "ui/models/client_facts.h"
#include "ui/session/live_session.h"
#include "ui/theme/theme.h"
#include "ui/views/clients_connect.h"
#include "ui/views/clients_model.h"
#include "ui/views/clients_page.h"
#include "ui/window/controls.h"
#include "ui/window/inspector.h"
#include "ui/window/language.h"
#include "ui/window/main_window.h"

using namespace hw;      // NOLINT(google-build-using-namespace): a test
using namespace hw::ui;  // NOLINT(google-build-using-namespace): a test

namespace {
constexpr int kSoonMs = 20'000;
}

class TestLiveClients : public QObject {
  Q_OBJECT

  std::unique_ptr<LiveSession> session_;
  std::unique_ptr<MainWindow> window_;
  std::unique_ptr<node::ClientRunner> clients_;
  ClientsPage* page_ = nullptr;
  std::atomic<int> read_{0};

  std::string address() { return "127.0.0.1:" + session_->bootstrap().section(QLatin1Char(':'), -1).toStdString(); }
  // Rows of a client, however many connections it has.
  std::vector<int> rowsOf(const QString& client) {
    std::vector<int> out;
    for (int i = 0; i < page_->model()->rowCount(); ++i) {
      const QString name = cell(i, ClientsModel::client);
      if (name == client || name.startsWith(client + QStringLiteral(" · "))) {
        out.push_back(i);
      }
    }
    return out;
  }
  QString cell(int row, ClientsModel::Column column) { return page_->model()->index(row, column).data().toString(); }
  // The row of the client in which the column says this; -1: none.
  int rowWith(const QString& client, ClientsModel::Column column, const QString& words) {
    for (const int row : rowsOf(client)) {
      if (cell(row, column).contains(words)) {
        return row;
      }
    }
    return -1;
  }
  Button* button(QWidget* inside, const QString& text) {
    for (Button* each : inside->findChildren<Button*>()) {
      if (each->isVisible() && each->text() == text) {
        return each;
      }
    }
    return nullptr;
  }
  bool inspectorSays(const QString& words) {
    for (const QWidget* widget : window_->findChild<Inspector*>()->findChildren<QWidget*>()) {
      const auto* label = qobject_cast<const QLabel*>(widget);
      if (widget->isVisible() && (widget->accessibleName().contains(words) || (label != nullptr && label->text().contains(words)))) {
        return true;
      }
    }
    return false;
  }

 private slots:
  void initTestCase() {
    install_language(*qApp);
    Theme::current().install(*qApp);
    LiveSession::Options options;
    options.cluster.listen.port = 0;
    options.cluster.configs["group.initial.rebalance.delay.ms"] = "0";
    options.cluster.configs["offsets.topic.num.partitions"] = "2";
    options.demo = false;
    session_ = std::make_unique<LiveSession>(std::move(options));
    window_ = std::make_unique<MainWindow>(session_.get(), MainWindow::Options{.persist = false, .hints = false});
    window_->resize(1440, 900);
    window_->show();
    QVERIFY(QTest::qWaitForWindowExposed(window_.get()));
    session_->start();
    QTRY_VERIFY_WITH_TIMEOUT(session_->running(), kSoonMs);
    window_->showPage(QStringLiteral("clients"));
    page_ = window_->findChild<ClientsPage*>();
    QVERIFY(page_ != nullptr);
  }
  void cleanupTestCase() {
    clients_.reset();
    window_.reset();
    session_.reset();
  }

  void whoConnectsAppears() {
    QVERIFY(rowsOf(QStringLiteral("shop-reader")).empty());
    clients_ = std::make_unique<node::ClientRunner>();
    std::atomic<bool> made{false};
    node::NewTopic topic;
    topic.name = "orders";
    clients_->create_topic(address(), topic, [&made](const Result<void>& result) { made = result.has_value(); });
    QTRY_VERIFY_WITH_TIMEOUT(made.load(), kSoonMs);
    node::ConsumerOptions reader;
    reader.bootstrap = address();
    reader.client_id = "shop-reader";
    reader.group_id = "shop";
    reader.topics = {"orders"};
    QVERIFY(clients_->add_consumer(reader, [this](std::vector<node::IncomingRecord>& got) { read_ += static_cast<int>(got.size()); }) != 0);
    node::ProducerOptions writer;
    writer.bootstrap = address();
    writer.client_id = "shop-writer";
    const node::ClientHandle producer = clients_->add_producer(writer);
    node::OutgoingRecord record;
    record.topic = "orders";
    record.value = Bytes::copy_of("one");
    clients_->produce(producer, std::move(record), {});
    QTRY_VERIFY_WITH_TIMEOUT(read_.load() == 1, kSoonMs);
    QTRY_VERIFY_WITH_TIMEOUT(rowWith("shop-reader", ClientsModel::apis, "Fetch") >= 0, kSoonMs);
    QTRY_VERIFY_WITH_TIMEOUT(rowWith("shop-writer", ClientsModel::apis, "Produce") >= 0, kSoonMs);
    const int row = rowWith("shop-writer", ClientsModel::apis, "Produce");
    QVERIFY(cell(row, ClientsModel::from).startsWith(QStringLiteral("127.0.0.1")));
    QVERIFY(!cell(row, ClientsModel::software).isEmpty());
    QVERIFY(count_clients(*session_->view()) >= 2);
  }

  void twoOfTheSameNameAreTwo() {
    const std::size_t before = count_clients(*session_->view());
    node::ConsumerOptions reader;
    reader.bootstrap = address();
    reader.client_id = "shop-reader";
    reader.group_id = "shop";
    reader.topics = {"orders"};
    const node::ClientHandle second = clients_->add_consumer(reader, [](std::vector<node::IncomingRecord>&) {});
    QTRY_COMPARE_WITH_TIMEOUT(count_clients(*session_->view()), before + 1, kSoonMs);
    page_->filter()->setText(QStringLiteral("group == shop"));
    QTRY_COMPARE_WITH_TIMEOUT(page_->model()->shown(), 2, kSoonMs);
    QCOMPARE(page_->model()->rowCount(), 1);  // told apart by their memberships, not by their connections
    QVERIFY2(cell(0, ClientsModel::client).endsWith(QStringLiteral("· 2 clients")), qPrintable(cell(0, ClientsModel::client)));
    page_->filter()->setText({});
    std::atomic<bool> gone{false};
    clients_->close(second, [&gone] { gone = true; });
    QTRY_VERIFY_WITH_TIMEOUT(gone.load(), kSoonMs);
    QTRY_COMPARE_WITH_TIMEOUT(count_clients(*session_->view()), before, kSoonMs);
  }

  void errorsAreCountedAndNamed() {
    node::ProducerOptions writer;
    writer.bootstrap = address();
    writer.client_id = "lost-writer";
    writer.auto_create = false;
    writer.delivery_timeout_ms = 1'000;
    const node::ClientHandle producer = clients_->add_producer(writer);
    std::atomic<int> answered{0};
    node::OutgoingRecord record;
    record.topic = "not-there";
    record.value = Bytes::copy_of("x");
    clients_->produce(producer, std::move(record), [&answered](const Result<node::Delivery>& delivery) { answered = delivery ? 1 : -1; });
    QTRY_COMPARE_WITH_TIMEOUT(answered.load(), -1, kSoonMs);
    QTRY_VERIFY_WITH_TIMEOUT(rowsOf("lost-writer").size() >= 1, kSoonMs);
    page_->filter()->setText(QStringLiteral("id == \"lost-writer\" && errors > 0 && error == UNKNOWN_TOPIC_OR_PARTITION"));
    QTRY_COMPARE_WITH_TIMEOUT(page_->model()->rowCount(), 1, kSoonMs);
    QVERIFY(cell(0, ClientsModel::errors).toInt() > 0);
    // Opened by a click: the inspector tells what was asked and what failed.
    const QRect place = page_->table()->visualRect(page_->model()->index(0, ClientsModel::client));
    QTest::mouseClick(page_->table()->viewport(), Qt::LeftButton, Qt::NoModifier, place.center());
    QCOMPARE(window_->selection().kind, Selection::Kind::connection);
    QCOMPARE(window_->selection().connection, page_->model()->connectionAt(0));
    if (!window_->findChild<Inspector*>()->isVisible()) {
      window_->commands().run(QStringLiteral("inspector.toggle"));
    }
    QTRY_VERIFY_WITH_TIMEOUT(inspectorSays(QStringLiteral("lost-writer")), kSoonMs);
    QTRY_VERIFY_WITH_TIMEOUT(inspectorSays(QStringLiteral("UNKNOWN_TOPIC_OR_PARTITION")), kSoonMs);
    QVERIFY(inspectorSays(QStringLiteral("Metadata")));
    page_->filter()->setText({});
    clients_->close(producer);
    QTRY_VERIFY_WITH_TIMEOUT(rowsOf("lost-writer").empty(), kSoonMs);
  }

  void disconnectingEndsOneConnectionAndTheClientComesBack() {
    const int row = rowWith("shop-reader", ClientsModel::apis, "Fetch");
    QVERIFY(row >= 0);
    const std::uint64_t connection = page_->model()->connectionAt(row);
    page_->table()->setCurrentIndex(page_->model()->index(row, 0));
    Button* end = button(page_, QStringLiteral("Disconnect"));
    QVERIFY(end != nullptr && end->isEnabled());
    end->click();
    QTRY_COMPARE_WITH_TIMEOUT(page_->model()->rowOf(connection), -1, kSoonMs);
    QTRY_VERIFY_WITH_TIMEOUT(rowWith("shop-reader", ClientsModel::apis, "Fetch") >= 0, kSoonMs);
  }

  void codeThatConnectsIsCopied() {
    window_->select(Selection::ofTopic(QStringLiteral("orders")));
    const QString port = session_->bootstrap();
    QTRY_VERIFY_WITH_TIMEOUT(page_->connectPanel()->code().contains(port), kSoonMs);
    QApplication::clipboard()->clear();
    Button* copy = button(page_->connectPanel(), QStringLiteral("Copy code"));
    QVERIFY(copy != nullptr);
    copy->click();
    QVERIFY(QApplication::clipboard()->text().contains(port));
    QVERIFY(QApplication::clipboard()->text().contains(QStringLiteral("orders")));
  }

  void theDoctorAsksOverRealSockets() {
    auto* tabs = page_->findChild<TabStrip*>();
    QVERIFY(tabs != nullptr);
    tabs->setFocus();
    QTest::keyClick(tabs, Qt::Key_Right);
    QTRY_VERIFY_WITH_TIMEOUT(page_->doctor()->isVisible(), kSoonMs);
    QTRY_VERIFY_WITH_TIMEOUT(!page_->doctor()->waiting() && !page_->doctor()->rows().empty(), kSoonMs);
    QCOMPARE(page_->doctor()->rows().front().verdict, DoctorRow::Verdict::works);  // this machine
    for (const DoctorRow& row : page_->doctor()->rows()) {
      QVERIFY(!row.sentence.isEmpty());
      QVERIFY(row.verdict != DoctorRow::Verdict::checking);
    }
    QCOMPARE(page_->attention({}), Glyph::none);
  }
};

QTEST_MAIN(TestLiveClients)
#include "tst_live_clients.moc"
