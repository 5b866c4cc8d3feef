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
