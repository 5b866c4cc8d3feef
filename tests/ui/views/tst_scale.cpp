// SPDX-License-Identifier: Apache-2.0
// What a frame costs with 10,000 partitions: taking the view, sampling counters and painting, per page.
// Measured in processor time of the UI thread, so that other work on the machine does not count. Prints p50 and p95;
// the budget is 8 ms, and the test fails at twice that: the processor is shared, and caches are cold in a test.
#include <algorithm>
#include <ctime>
#include <memory>
#include <utility>
#include <vector>

#include <QApplication>
#include <QImage>
#include <QPainter>
#include <QtTest>

#include "tests/ui/support/fake_session.h"
#include "ui/theme/theme.h"
#include "ui/views/cluster_page.h"
#include "ui/views/groups_page.h"
#include "ui/views/messages_page.h"
#include "ui/views/partitions_page.h"
#include "ui/views/topics_page.h"

using namespace hw::ui;

namespace {

constexpr double kLimitMs = 16;
// A machine that others use, too, has stretches in which everything takes twice as long. The same work beside each frame tells: what it
// takes where nothing else runs is about kReferenceMs, and the limit grows by what it takes more.
constexpr double kReferenceMs = 2.6;

double thread_ms() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

struct Cost {
  double p50 = 0;
  double p95 = 0;
};

// Paints a canvas of the page's size: what a frame does most of, in an amount that no change of the window alters.
double reference_ms() {
  static const QImage above = [] {
    QImage image(2560, 1440, QImage::Format_ARGB32_Premultiplied);
    image.fill(QColor(10, 20, 30, 128));
    return image;
  }();
  static QImage canvas(2560, 1440, QImage::Format_ARGB32_Premultiplied);
  const double start = thread_ms();
  canvas.fill(Qt::black);
  QPainter(&canvas).drawImage(0, 0, above);
  return thread_ms() - start;
}

Cost cost_of(std::vector<double> ms) {
  std::sort(ms.begin(), ms.end());
  return {ms[ms.size() / 2], ms[ms.size() * 95 / 100]};
}

// Of the frames, and of the reference between them.
template <typename Before>
std::pair<Cost, Cost> measure(Page& page, FakeSession& session, Before before) {
  std::vector<double> ms;
  std::vector<double> reference;
  for (int i = 0; i < 80; ++i) {
    session.tick(33);  // the fake's own work is not the window's
    before(i);
    const double start = thread_ms();
    page.deliverFrame();
    // The tables follow at 10 Hz; what is measured is the frame in which they do.
    if (auto* topics = qobject_cast<TopicsPage*>(&page)) {
      topics->refresh();
    } else if (auto* groups = qobject_cast<GroupsPage*>(&page)) {
      groups->refresh();
    }
    QCoreApplication::processEvents();  // paints what the frame marked
    if (i >= 10) {
      ms.push_back(thread_ms() - start);
      reference.push_back(reference_ms());
    }
  }
  return {cost_of(std::move(ms)), cost_of(std::move(reference))};
}

}  // namespace

class TestScale : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() { Theme::current().install(*qApp); }
  void frame_work_data();
  void frame_work();
};

void TestScale::frame_work_data() {
  QTest::addColumn<QString>("page");
  QTest::addColumn<QString>("topic");
  QTest::newRow("cluster, 1,000 topics") << QStringLiteral("cluster") << QStringLiteral("demo.orders");
  QTest::newRow("cluster, one topic of 10,000") << QStringLiteral("cluster") << QStringLiteral("huge");
  QTest::newRow("partitions, one topic of 10,000") << QStringLiteral("partitions") << QStringLiteral("huge");
  QTest::newRow("partitions under load") << QStringLiteral("partitions") << QStringLiteral("demo.orders");
  QTest::newRow("topics, 1,000 with 1,000 groups") << QStringLiteral("topics") << QStringLiteral("demo.orders");
  QTest::newRow("topics, one of 10,000") << QStringLiteral("topics") << QStringLiteral("huge");
  QTest::newRow("groups, 1,000") << QStringLiteral("groups") << QStringLiteral("demo.orders");
  QTest::newRow("groups, one of 10,000 partitions") << QStringLiteral("groups") << QStringLiteral("huge");
  QTest::newRow("messages under load") << QStringLiteral("messages") << QStringLiteral("demo.orders");
}

void TestScale::frame_work() {
  QFETCH(QString, page);
  QFETCH(QString, topic);
  FakeSession::Options options;
  const bool huge = topic == QLatin1String("huge");
  options.more_topics = huge ? 0 : 1'000;
  const bool with_groups = page == QLatin1String("topics") || page == QLatin1String("groups");
  options.more_groups = huge || !with_groups ? 0 : 1'000;
  FakeSession session(options);
  if (huge) {
    session.createTopic({"huge", 10'000, 1, {}}, [](const QString&) {});
    QCoreApplication::processEvents();
    if (with_groups) {
      session.setGroup("crowd", "huge", 50);
    }
  }
  session.setLoad(20'000);
  session.tick(100);
  std::unique_ptr<Page> shown;
  std::int64_t now = 10'000;
  if (page == QLatin1String("cluster")) {
    auto made = std::make_unique<ClusterPage>();
    made->canvas()->setClock([&now] { return now; });
    shown = std::move(made);
  } else if (page == QLatin1String("partitions")) {
    auto made = std::make_unique<PartitionsPage>();
    made->lanes()->setClock([&now] { return now; });
    shown = std::move(made);
  } else if (page == QLatin1String("topics")) {
    shown = std::make_unique<TopicsPage>();
  } else if (page == QLatin1String("groups")) {
    auto made = std::make_unique<GroupsPage>();
    made->setClock([&session] { return session.nowMs(); });
    shown = std::move(made);
  } else {
    shown = std::make_unique<MessagesPage>();
  }
  shown->resize(2560, 1440);
  shown->attach(&session);
  shown->show();
  QCoreApplication::processEvents();
  shown->deliverFrame();
  shown->setSelection(huge && page == QLatin1String("groups") ? Selection::ofGroup(QStringLiteral("crowd")) : Selection::ofTopic(topic));
  const auto [cost, reference] = measure(*shown, session, [&](int) { now += 33; });
  const double limit = kLimitMs * std::max(1.0, reference.p95 / kReferenceMs);
  qInfo("frame with 10,000 partitions, %s: p50 %.2f ms, p95 %.2f ms; the reference %.2f and %.2f ms, so that %.1f are allowed",
        QTest::currentDataTag(), cost.p50, cost.p95, reference.p50, reference.p95, limit);
  QVERIFY2(cost.p95 <= limit, qPrintable(QString::number(cost.p95)));
}

QTEST_MAIN(TestScale)
#include "tst_scale.moc"
