// SPDX-License-Identifier: Apache-2.0
// The real window on the real engine, offscreen: what a person does first, from creating a topic to seeing a group move.
#include <QAbstractButton>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QTest>
#include <algorithm>
#include <chrono>
#include <memory>

#include "engine/node/client_runner.h"
#include "ui/dialogs/create_topic_dialog.h"
#include "ui/session/live_session.h"
#include "ui/theme/theme.h"
#include "ui/views/lane_view.h"
#include "ui/window/language.h"
#include "ui/window/main_window.h"
#include "ui/window/page.h"

using namespace hw;      // NOLINT(google-build-using-namespace): a test
using namespace hw::ui;  // NOLINT(google-build-using-namespace): a test

namespace {

constexpr const char* kTopic = "orders-live";

std::int64_t wall_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// Counts paint events of a widget, and notes how long after `since_ms` the next one came.
class PaintWatch : public QObject {
 public:
  explicit PaintWatch(QWidget* widget) { widget->installEventFilter(this); }
  int paints = 0;
  std::int64_t since_ms = -1;
  std::vector<std::int64_t> latencies_ms;

 protected:
  bool eventFilter(QObject*, QEvent* event) override {
    if (event->type() == QEvent::Paint) {
      ++paints;
      if (since_ms >= 0) {
        latencies_ms.push_back(wall_ms() - since_ms);
        since_ms = -1;
      }
    }
    return false;
  }
};

}  // namespace

class TestLive : public QObject {
  Q_OBJECT

  std::unique_ptr<LiveSession> session_;
  std::unique_ptr<MainWindow> window_;

  LaneView* lanes() { return window_->findChild<LaneView*>(); }

  std::int64_t leo(int partition) {
    const observe::ViewPtr view = session_->view();
    const observe::TopicView* topic = view->find_topic(std::string_view(kTopic));
    if (topic == nullptr || topic->partitions.size() <= static_cast<std::size_t>(partition) ||
        topic->partitions[static_cast<std::size_t>(partition)] == nullptr) {
      return -1;
    }
    const event::ReplicaCounters* counters = topic->partitions[static_cast<std::size_t>(partition)]->leader_counters();
    return counters == nullptr ? -1 : counters->log_end_offset.get();
  }
  std::int64_t committed(const char* group) {
    const observe::ViewPtr view = session_->view();
    const observe::GroupView* found = view->find_group(group);
    std::int64_t sum = 0;
    if (found != nullptr) {
      for (const observe::GroupView::Committed& c : found->committed) {
        sum += std::max<std::int64_t>(0, c.counters->offset.get());
      }
    }
    return sum;
  }

 private slots:
  void initTestCase() {
    install_language(*qApp);
    Theme::current().install(*qApp);
    Theme::current().setMode(Theme::Mode::dark);
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
    QTRY_VERIFY_WITH_TIMEOUT(session_->running(), 10'000);
    QTRY_COMPARE(session_->view()->nodes.size(), std::size_t{1});
  }
  void cleanupTestCase() {
    window_.reset();
    session_.reset();
  }

  void aTopicIsCreatedByTyping() {
    window_->commands().run(QStringLiteral("topic.create"));
    auto* dialog = window_->findChild<CreateTopicDialog*>();
    QVERIFY(dialog != nullptr);
    auto* name = dialog->findChild<QLineEdit*>();
    QVERIFY(name != nullptr);
    dialog->setPartitions(1);
    name->clear();
    QTest::keyClicks(name, QString::fromLatin1(kTopic));
    QTest::keyClick(name, Qt::Key_Return);
    QTRY_VERIFY_WITH_TIMEOUT(session_->view()->find_topic(std::string_view(kTopic)) != nullptr, 10'000);
    QTRY_COMPARE(leo(0), std::int64_t{0});
    QTRY_VERIFY(window_->findChild<CreateTopicDialog*>() == nullptr);
  }

  void aRecordProducedByHandAppearsOnTheLane() {
    window_->showPage(QStringLiteral("partitions"));
    window_->select(Selection::ofPartition(QString::fromLatin1(kTopic), 0));
    QTRY_COMPARE(lanes()->topic(), QString::fromLatin1(kTopic));
    const auto cell_hue = [this] {
      const std::optional<QRectF> cell = lanes()->cellRect(0, 0);
      return cell ? lanes()->grab().toImage().pixelColor(cell->center().toPoint() + QPoint(0, 6)).hue() / 20 : -1;
    };
    const int leader_hue = Theme::current().colors().leader.hue() / 20;
    QVERIFY(cell_hue() != leader_hue);

    window_->commands().run(QStringLiteral("produce.open"));
    auto* panel = window_->findChild<QWidget*>(QStringLiteral("producePanel"));
    QVERIFY(panel != nullptr);
    auto* value = panel->findChild<QPlainTextEdit*>();
    QVERIFY(value != nullptr);
    value->setFocus();
    QTest::keyClicks(value, QStringLiteral("hello"));
    QTest::keyClick(value, Qt::Key_Return, Qt::ControlModifier);
    QTRY_COMPARE_WITH_TIMEOUT(leo(0), std::int64_t{1}, 10'000);
    QTRY_COMPARE(cell_hue(), leader_hue);
  }

  void aGroupThatReadsMovesItsPosition() {
    node::ClientRunner clients;
    std::atomic<int> seen{0};
    node::ConsumerOptions options;
    options.bootstrap = "127.0.0.1:" + session_->bootstrap().section(QLatin1Char(':'), -1).toStdString();
    options.group_id = "readers";
    options.topics = {kTopic};
    options.commit_interval_ms = 50;
    const node::ClientHandle reader = clients.add_consumer(
        options, [&seen](std::vector<node::IncomingRecord>& records) { seen += static_cast<int>(records.size()); });
    QVERIFY(reader != 0);
    QTRY_COMPARE_WITH_TIMEOUT(seen.load(), 1, 15'000);
    QTRY_COMPARE_WITH_TIMEOUT(committed("readers"), std::int64_t{1}, 10'000);
    QTRY_VERIFY(lanes()->objectSentence(0).contains(QStringLiteral("readers")));

    bool done = false;
    ProduceCommand command;
    command.topic = kTopic;
    command.value = Bytes::copy_of("again");
    session_->produce(command, [&done](const ProduceAnswer& answer) { done = answer.error.isEmpty() && answer.offset == 1; });
    QTRY_VERIFY_WITH_TIMEOUT(done, 10'000);
    QTRY_COMPARE_WITH_TIMEOUT(committed("readers"), std::int64_t{2}, 10'000);
  }

  void whatWasWrittenIsReadBack() {
    ReadAnswer answer;
    bool done = false;
    ReadQuery query;
    query.topic = kTopic;
    session_->read(query, [&](ReadAnswer got) {
      answer = std::move(got);
      done = true;
    });
    QTRY_VERIFY_WITH_TIMEOUT(done, 10'000);
    QVERIFY2(answer.error.isEmpty(), qPrintable(answer.error));
    QCOMPARE(answer.rows.size(), std::size_t{2});
    QCOMPARE(answer.rows[0].value->text(), std::string_view("hello"));
    QVERIFY(!answer.rows[1].key.has_value());
    QCOMPARE(answer.high_watermark, std::int64_t{2});
  }

  // Not an assertion on time (that is for ./dev bench, which reads the line), only that every record is painted.
  void everyRecordReachesThePixels() {
    PaintWatch watch(lanes());
    for (int i = 0; i < 100; ++i) {
      const std::int64_t before = leo(0);
      bool done = false;
      ProduceCommand command;
      command.topic = kTopic;
      command.value = Bytes::copy_of("x");
      watch.since_ms = wall_ms();
      session_->produce(command, [&done](const ProduceAnswer&) { done = true; });
      QTRY_VERIFY_WITH_TIMEOUT(done && leo(0) == before + 1 && watch.since_ms < 0, 5'000);
    }
    std::vector<std::int64_t> all = watch.latencies_ms;
    std::sort(all.begin(), all.end());
    qInfo("click_to_pixel_ms p50=%lld p95=%lld n=%zu", static_cast<long long>(all[all.size() / 2]),
          static_cast<long long>(all[all.size() * 95 / 100]), all.size());
  }

  void anIdleWindowPaintsNothing() {
    // The reader of an earlier test has left; wait until its events and the rates have settled. A caret would blink.
    lanes()->setFocus();
    PaintWatch lanes_watch(lanes());
    PaintWatch window_watch(window_.get());
    bool quiet = false;
    for (int tries = 0; tries < 20 && !quiet; ++tries) {
      const int before = lanes_watch.paints + window_watch.paints;
      QTest::qWait(700);  // what does not happen can only be seen by looking for a while
      quiet = lanes_watch.paints + window_watch.paints == before;
    }
    QVERIFY(quiet);
  }
};

QTEST_MAIN(TestLive)
#include "tst_live.moc"
