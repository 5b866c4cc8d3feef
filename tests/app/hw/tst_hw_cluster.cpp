// SPDX-License-Identifier: Apache-2.0
// `hw cluster` and `hw configs`.
#include <QJsonArray>
#include <QTest>
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/app/support/tool.h"

using hw::tests::Daemon;
using hw::tests::Run;

namespace {
QStringList words(const char* text) { return QString::fromUtf8(text).split(QLatin1Char(' '), Qt::SkipEmptyParts); }
// A port of 127.0.0.1 where nothing listens: bound for a moment, so the kernel gives it to nobody else soon.
int unused_port() {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* plain = reinterpret_cast<sockaddr*>(&address);
  const bool good = ::bind(descriptor, plain, size) == 0 && ::getsockname(descriptor, plain, &size) == 0;
  ::close(descriptor);
  return good ? ntohs(address.sin_port) : 0;
}
}  // namespace

class TestHwCluster : public QObject {
  Q_OBJECT
  std::unique_ptr<Daemon> daemon_;
  [[nodiscard]] Run hw(const char* arguments, const QByteArray& input = {}) const { return daemon_->hw(words(arguments), input); }

 private slots:
  void initTestCase() {
    daemon_ = std::make_unique<Daemon>();
    QVERIFY(daemon_->started());
    QCOMPARE(hw("topics create orders -p 2").exit, 0);
  }
  void describe() {
    const QJsonObject cluster = hw("--json cluster describe").object();
    QCOMPARE(cluster[QStringLiteral("brokers")].toArray().size(), 1);
    QCOMPARE(cluster[QStringLiteral("controller")].toInt(), cluster[QStringLiteral("brokers")].toArray()[0].toObject()[QStringLiteral("broker")].toInt());
    QVERIFY(!cluster[QStringLiteral("cluster")].toString().isEmpty());
  }
  void versionsAndFeatures() {
    bool produce = false;
    for (const QJsonObject& api : hw("--json cluster api-versions").objects()) {
      produce = produce || (api[QStringLiteral("api")] == QStringLiteral("Produce") && api[QStringLiteral("highest")].toInt() == 13);
    }
    QVERIFY(produce);
    bool metadata = false;
    for (const QJsonObject& feature : hw("--json cluster features").objects()) {
      metadata = metadata || (feature[QStringLiteral("feature")] == QStringLiteral("metadata.version") && feature[QStringLiteral("finalized")].toInt() > 0);
    }
    QVERIFY(metadata);
  }
  void configsAreDescribed() {
    QCOMPARE(hw("--json configs describe topic orders retention.ms").object()[QStringLiteral("value")].toString(), QStringLiteral("604800000"));
    QVERIFY(hw("configs describe topic orders").out.contains("nothing is set"));
    QVERIFY(hw("--json configs describe topic orders --all").objects().size() > 20);
    const Run wrong = hw("configs describe topic orders retention.m");
    QVERIFY2(wrong.exit == 3 && wrong.error.contains("did you mean 'retention.ms'?"), wrong.error);
    QCOMPARE(hw("configs describe topic oders").exit, 3);
    QCOMPARE(hw("configs describe tpoic orders").exit, 2);
    QCOMPARE(hw("configs describe topic").exit, 2);
  }
  void configsAreChanged() {
    Run run = hw("configs set topic orders retention.ms=3d max.message.bytes=2MiB --dry-run");
    QVERIFY2(run.exit == 0 && run.out.contains("604800000 (default)") && run.out.contains("259200000  (3 d)"), run.out + run.error);
    QVERIFY(hw("configs describe topic orders").out.contains("nothing is set"));
    run = hw("--json configs set topic orders retention.ms=3d max.message.bytes=2MiB");
    QVERIFY2(run.exit == 0, run.error);
    QCOMPARE(run.objects()[0][QStringLiteral("before")].toString(), QStringLiteral("604800000"));
    QCOMPARE(run.objects()[0][QStringLiteral("after")].toString(), QStringLiteral("259200000"));
    QCOMPARE(hw("--json configs describe topic orders").objects().size(), 2);
    QCOMPARE(hw("--json configs describe topic orders max.message.bytes").object()[QStringLiteral("value")].toString(), QStringLiteral("2097152"));
    QCOMPARE(hw("configs set topic orders cleanup.policy+=compact").exit, 0);
    QCOMPARE(hw("--json configs describe topic orders cleanup.policy").object()[QStringLiteral("value")].toString(), QStringLiteral("delete,compact"));
    QCOMPARE(hw("configs set topic orders cleanup.policy-=compact").exit, 0);
    QCOMPARE(hw("configs unset topic orders retention.ms max.message.bytes cleanup.policy").exit, 0);
    QVERIFY(hw("configs describe topic orders").out.contains("nothing is set"));
    run = hw("configs set topic orders retention.m=1");
    QVERIFY(run.exit == 3 && run.error.contains("did you mean 'retention.ms'?"));
    run = hw("configs set topic orders retention.ms=never");
    QVERIFY2(run.exit == 1 && run.error.contains("INVALID_CONFIG"), run.error);
    QCOMPARE(hw("configs set topic orders retention.ms").exit, 2);
    QCOMPARE(hw("configs set default log.retention.ms=1d").exit, 0);
    QCOMPARE(hw("--json configs describe default log.retention.ms").object()[QStringLiteral("value")].toString(), QStringLiteral("86400000"));
    QCOMPARE(hw("--json configs describe topic orders retention.ms").object()[QStringLiteral("value")].toString(), QStringLiteral("86400000"));
    QVERIFY(hw("--json configs describe topic orders retention.ms --synonyms").object()[QStringLiteral("synonyms")].toArray().size() >= 2);
    QCOMPARE(hw("configs set group billing consumer.session.timeout.ms=50s").exit, 0);
    QVERIFY(hw("configs list group").out.contains("billing"));
  }
  void quotasComeAndGo() {
    QVERIFY(hw("quotas describe").out.contains("no quota"));
    Run run = hw("quotas set --client-id billing producer_byte_rate=1048576 consumer_byte_rate=2097152");
    QVERIFY2(run.exit == 0, run.error);
    QCOMPARE(hw("quotas set --user-default request_percentage=50").exit, 0);
    run = hw("--json quotas describe --client-id billing");
    QCOMPARE(run.object()[QStringLiteral("quotas")].toObject()[QStringLiteral("producer_byte_rate")].toDouble(), 1048576.0);
    QCOMPARE(hw("--json quotas describe").objects().size(), 2);
    QCOMPARE(hw("quotas unset --client-id billing producer_byte_rate consumer_byte_rate").exit, 0);
    QCOMPARE(hw("--json quotas describe").objects().size(), 1);
    QCOMPARE(hw("quotas set producer_byte_rate=1").exit, 2);
    run = hw("quotas set --user x produce_byte_rate=1");
    QVERIFY(run.exit == 2 && run.error.contains("did you mean 'producer_byte_rate'?"));
    QCOMPARE(hw("quotas set --user x producer_byte_rate=much").exit, 2);
  }
  void quorum() {
    const QJsonObject told = hw("--json cluster quorum").object();
    QCOMPARE(told[QStringLiteral("replicas")].toArray()[0].toObject()[QStringLiteral("role")].toString(), QStringLiteral("leader"));
  }
  void logDirsAndSizes() {
    QCOMPARE(hw("produce orders x -n 10").exit, 0);
    const QJsonObject folder = hw("--json cluster log-dirs").object();
    QVERIFY2(folder[QStringLiteral("replicas")].toArray().size() >= 2 && folder[QStringLiteral("bytes")].toInteger() > 0, hw("cluster log-dirs").error);
    QVERIFY(hw("cluster log-dirs --partitions").out.contains("orders"));
    QVERIFY(hw("topics describe orders").out.contains("SIZE"));
    QVERIFY(hw("topics delete orders --dry-run").error.contains(" B"));
  }
  void doctorFindsNothingWrongHere() {
    const auto rows = hw("--json cluster doctor").objects();
    QCOMPARE(rows.size(), 2);
    for (const QJsonObject& row : rows) {
      QVERIFY(row[QStringLiteral("answers")].toBool());
    }
  }
  // Case 1 of the public cases: the broker answers at one address and tells clients to use another, where nothing listens.
  void doctorNamesTheAddressThatFails() {
    const QString dead = QStringLiteral("127.0.0.1:%1").arg(unused_port());
    Daemon daemon(QString(), {QStringLiteral("--advertise"), dead});
    QVERIFY(daemon.started());
    const QString reachable = daemon.address();
    QVERIFY(reachable != dead);
    const Run run = hw::tests::run_hw(words("cluster doctor"), {}, reachable);
    QCOMPARE(run.exit, 4);
    QVERIFY2(run.out.contains("advertised.listeners") && run.out.contains((dead + QStringLiteral(", which does not answer")).toUtf8()), run.out);
    const auto rows = hw::tests::run_hw(words("--json cluster doctor"), {}, reachable).objects();
    QCOMPARE(rows.size(), 2);
    QVERIFY(rows[0][QStringLiteral("answers")].toBool() && !rows[1][QStringLiteral("answers")].toBool());
    // A producer says which address refuses it.
    const Run produce = hw::tests::run_hw(words("--timeout 2s produce orders x"), {}, reachable);
    QVERIFY2(produce.exit == 4 && produce.error.contains(dead.toUtf8()), produce.error);
  }
};

QTEST_GUILESS_MAIN(TestHwCluster)
#include "tst_hw_cluster.moc"
