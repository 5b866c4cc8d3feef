// SPDX-License-Identifier: Apache-2.0
// `hw node`, `hw link` and `hw cluster status|heal` against a daemon with three nodes; and nodes that join it in processes of their own.
#include <QJsonArray>
#include <QTemporaryDir>
#include <QTest>

#include "tests/app/support/tool.h"

using hw::tests::Daemon;
using hw::tests::Run;

namespace {
QStringList words(const QString& text) { return text.split(QLatin1Char(' '), Qt::SkipEmptyParts); }
QJsonObject node_of(const QJsonObject& answer, int id) {
  for (const QJsonValue& one : answer[QStringLiteral("nodes")].toArray()) {
    if (one.toObject()[QStringLiteral("node")].toInt() == id) {
      return one.toObject();
    }
  }
  return {};
}
}  // namespace

class TestHwControl : public QObject {
  Q_OBJECT
  std::unique_ptr<Daemon> daemon_;
  [[nodiscard]] Run hw(const QString& arguments) const {
    return daemon_->hw(QStringList{QStringLiteral("--control"), daemon_->control()} + words(arguments));
  }
  [[nodiscard]] QJsonObject status() const { return hw(QStringLiteral("--json cluster status")).object(); }

 private slots:
  void initTestCase() {
    daemon_ = std::make_unique<Daemon>(QString(), words(QStringLiteral("--nodes 3 --control 0")));
    QVERIFY(daemon_->started());
    QVERIFY(!daemon_->control().isEmpty());
    QCOMPARE(daemon_->address().count(QLatin1Char(',')), 2);  // each of the three can be the first that a client asks
  }
  void powerIsCut() {
    Run run = hw(QStringLiteral("node kill 2 --power-cut"));
    QCOMPARE(run.exit, 0);
    QVERIFY(run.out.contains("node 2 lost power"));
    QVERIFY(hw(QStringLiteral("cluster status")).out.contains("power cut"));
    QCOMPARE(hw(QStringLiteral("node stop 3 --power-cut")).exit, 2);
    QCOMPARE(hw(QStringLiteral("node start 2")).exit, 0);
  }

  void killedAndStarted() {
    const int leader = status()[QStringLiteral("controller")].toInt();
    QVERIFY(leader > 0);
    Run run = hw(QStringLiteral("--json node kill %1").arg(leader));
    QVERIFY2(run.exit == 0, run.error);
    QCOMPARE(node_of(run.object(), leader)[QStringLiteral("state")].toString(), QStringLiteral("killed"));
    QTRY_VERIFY_WITH_TIMEOUT(status()[QStringLiteral("controller")].toInt() > 0 && status()[QStringLiteral("controller")].toInt() != leader, 60'000);
    QVERIFY(hw(QStringLiteral("cluster status")).out.contains("killed"));
    run = hw(QStringLiteral("node kill %1").arg(leader));
    QVERIFY2(run.exit == 1 && run.error.contains("node.start"), run.error);
    run = hw(QStringLiteral("--json node start %1 --wait 60s").arg(leader));
    QVERIFY2(run.exit == 0 && node_of(run.object(), leader)[QStringLiteral("serves")].toBool(), run.out + run.error);
  }
  void links() {
    QVERIFY(hw(QStringLiteral("link cut 1 2,3 --one-way")).out.contains("link 1 -> 3: cut"));
    QCOMPARE(hw(QStringLiteral("--json link slow 2 3 --by 20ms")).object()[QStringLiteral("links")].toArray().size(), 4);
    QVERIFY(hw(QStringLiteral("link heal 1,2,3 1,2,3")).out.contains("every link is whole"));
    QCOMPARE(hw(QStringLiteral("node slow 2 --by 5ms")).exit, 0);
    QCOMPARE(hw(QStringLiteral("node pause 3")).exit, 0);
    QCOMPARE(hw(QStringLiteral("--json cluster heal")).object()[QStringLiteral("faults")].toArray().size(), 0);
  }
  void wrongWords() {
    QCOMPARE(hw(QStringLiteral("node kill 9")).exit, 3);
    QCOMPARE(hw(QStringLiteral("node kill one")).exit, 2);
    QCOMPARE(hw(QStringLiteral("node kill")).exit, 2);
    QCOMPARE(hw(QStringLiteral("link cut 1 two")).exit, 2);
    QCOMPARE(hw(QStringLiteral("link cut 1 1")).exit, 2);
    QCOMPARE(hw(QStringLiteral("node slow 1 --by fast")).exit, 2);
    QCOMPARE(daemon_->hw(words(QStringLiteral("--control nowhere cluster status"))).exit, 2);
    const Run run = daemon_->hw(words(QStringLiteral("--control 127.0.0.1:1 --json cluster status")));
    QCOMPARE(run.exit, 4);
    QVERIFY2(run.error.contains("\"exit\":4") && run.error.contains("--control"), run.error);
    // The port of clients speaks no HTTP.
    QCOMPARE(daemon_->hw(QStringList{QStringLiteral("--control"), daemon_->address().section(QLatin1Char(','), 0, 0)} + words(QStringLiteral("--timeout 5s cluster status"))).exit, 4);
  }
  void completed() {
    QCOMPARE(hw::tests::run_hw(words(QStringLiteral("__complete node ki"))).out.trimmed(), QByteArray("kill"));
  }
  // A node in a process of its own asks a controller which cluster it is.
  void aProcessJoins() {
    const int port = node_of(status(), 1)[QStringLiteral("controller_port")].toInt();
    const Daemon other(QString(), words(QStringLiteral("--node 7 --roles broker --join 127.0.0.1:%1").arg(port)));
    QVERIFY(other.started());
    const QJsonObject cluster = hw(QStringLiteral("--json cluster describe")).object();
    QCOMPARE(cluster[QStringLiteral("cluster")], status()[QStringLiteral("cluster")]);
    QCOMPARE(cluster[QStringLiteral("brokers")].toArray().size(), 4);
  }
  void aControllerJoinsTheVoters() {
    const int port = node_of(status(), 1)[QStringLiteral("controller_port")].toInt();
    const Daemon other(QString(), words(QStringLiteral("--node 8 --auto-join --join 127.0.0.1:%1").arg(port)));
    QVERIFY(other.started());
    const auto votes = [&] {
      for (const QJsonValue& one : hw(QStringLiteral("--json cluster quorum")).object()[QStringLiteral("replicas")].toArray()) {
        if (one.toObject()[QStringLiteral("replica")].toInt() == 8) {
          return one.toObject()[QStringLiteral("role")].toString() != QStringLiteral("observer");
        }
      }
      return false;
    };
    QTRY_VERIFY_WITH_TIMEOUT(votes(), 60'000);
  }
};

QTEST_GUILESS_MAIN(TestHwControl)
#include "tst_hw_control.moc"
