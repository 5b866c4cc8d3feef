// SPDX-License-Identifier: Apache-2.0
// `hw groups`.
#include <QJsonArray>
#include <QTemporaryDir>
#include <QTest>
#include <csignal>

#include "tests/app/support/tool.h"

using hw::tests::Daemon;
using hw::tests::Run;

namespace {
QStringList words(const char* text) { return QString::fromUtf8(text).split(QLatin1Char(' '), Qt::SkipEmptyParts); }
}  // namespace

class TestHwGroups : public QObject {
  Q_OBJECT
  std::unique_ptr<Daemon> daemon_;
  [[nodiscard]] Run hw(const char* arguments, const QByteArray& input = {}) const { return daemon_->hw(words(arguments), input); }
  // Where each partition of the group stands, "0:5 1:3".
  [[nodiscard]] QString committed(const char* group) const {
    QStringList all;
    for (const auto& row : daemon_->hw({QStringLiteral("--json"), QStringLiteral("groups"), QStringLiteral("describe"), QLatin1String(group)})
                               .object()[QStringLiteral("partitions")].toArray()) {
      all.append(QStringLiteral("%1:%2").arg(row.toObject()[QStringLiteral("partition")].toInt()).arg(row.toObject()[QStringLiteral("committed")].toInteger(-1)));
    }
    return all.join(QLatin1Char(' '));
  }

 private slots:
  void initTestCase() {
    daemon_ = std::make_unique<Daemon>();
    QVERIFY(daemon_->started());
    QCOMPARE(hw("topics create orders -p 2").exit, 0);
    QByteArray lines;
    for (int i = 0; i < 20; ++i) {
      lines += QStringLiteral("{\"value\":\"%1\",\"partition\":%2,\"timestamp\":%3}\n").arg(i).arg(i % 2).arg(1'764'410'400'000 + i * 60'000).toUtf8();
    }
    QCOMPARE(hw("produce orders --input json", lines).exit, 0);
    QCOMPARE(hw("consume orders -g billing -e -q").exit, 0);
  }

  void listAndDescribe() {
    const Run list = hw("--json groups list bill*");
    QCOMPARE(list.object()[QStringLiteral("state")].toString(), QStringLiteral("Empty"));
    QVERIFY(hw("--json groups list --state Stable").objects().isEmpty());
    const QJsonObject group = hw("--json groups describe billing").object();
    QCOMPARE(group[QStringLiteral("lag")].toInt(), 0);
    QCOMPARE(committed("billing"), QStringLiteral("0:10 1:10"));
    QCOMPARE(hw("produce orders more -p 1").exit, 0);
    QCOMPARE(hw("--json groups describe billing").object()[QStringLiteral("lag")].toInt(), 1);
    const Run wrong = hw("groups describe biling");
    QVERIFY(wrong.exit == 3 && wrong.error.contains("did you mean 'billing'?"));
  }
  void resetShowsBeforeItDoes() {
    QCOMPARE(hw("consume orders -g mover -e -q").exit, 0);
    const Run dry = hw("groups reset mover --topic orders --to-earliest");
    QVERIFY(dry.exit == 0 && dry.error.contains("--execute") && dry.out.contains("repeats"));
    QCOMPARE(committed("mover"), QStringLiteral("0:10 1:11"));
    const auto reset = [this](const char* how) { return daemon_->hw(words("groups reset mover --execute") + words(how)).exit; };
    QCOMPARE(reset("--topic orders --to-earliest"), 0);
    QCOMPARE(committed("mover"), QStringLiteral("0:0 1:0"));
    QCOMPARE(reset("--topic orders:1 --to-latest"), 0);
    QCOMPARE(committed("mover"), QStringLiteral("0:0 1:11"));
    QCOMPARE(reset("--all-topics --shift-by -4"), 0);
    QCOMPARE(committed("mover"), QStringLiteral("0:0 1:7"));
    QCOMPARE(reset("--topic ord* --to-offset 99"), 0);  // brought inside the log
    QCOMPARE(committed("mover"), QStringLiteral("0:10 1:11"));
    QCOMPARE(reset("--topic orders --to-time 2025-11-29T10:05:00Z"), 0);  // records 5, 7, … of partition 1; 6, 8, … of partition 0
    QCOMPARE(committed("mover"), QStringLiteral("0:3 1:2"));
    QCOMPARE(reset("--topic orders --by-duration 1h"), 0);  // all of partition 0 is older
    QCOMPARE(committed("mover"), QStringLiteral("0:10 1:10"));
    QCOMPARE(reset("--topic orders --to-current"), 0);
    QCOMPARE(committed("mover"), QStringLiteral("0:10 1:10"));
    const Run file = hw("groups reset mover --from-file - --execute", "# by hand\norders,0,4\norders,1,5\n");
    QVERIFY2(file.exit == 0, file.error);
    QCOMPARE(committed("mover"), QStringLiteral("0:4 1:5"));
    QCOMPARE(hw("consume orders -g mover -e --values").out.count('\n'), 6 + 6);
  }
  void resetSaysWhatIsWrong() {
    QCOMPARE(hw("groups reset mover --topic orders").exit, 2);
    QCOMPARE(hw("groups reset mover --topic orders --to-latest --to-earliest").exit, 2);
    QCOMPARE(hw("groups reset mover --to-latest").exit, 2);
    QCOMPARE(hw("groups reset mover --topic oders --to-latest").exit, 3);
    QCOMPARE(hw("groups reset mover --topic orders:9 --to-latest").exit, 3);
    QCOMPARE(hw("groups reset nobody --all-topics --to-latest").exit, 3);
    const Run file = hw("groups reset mover --from-file -", "orders,0,4\norders;1;5\n");
    QVERIFY(file.exit == 2 && file.error.contains("line 2"));
    // A group that does not exist yet can be given a place to begin.
    QCOMPARE(hw("groups reset brand-new --topic orders --to-latest --execute").exit, 0);
    QCOMPARE(hw("--json groups describe brand-new").object()[QStringLiteral("lag")].toInt(), 0);
  }
  // Case 29: offsets of a group that has members are not changed from outside, and the answer says why.
  void aGroupWithMembersIsLeftAlone() {
    const auto consumer = daemon_->start_hw(words("consume orders -g busy --from earliest --assignor cooperative-sticky --instance-id first"));
    QVERIFY(consumer->waitForReadyRead(30'000));
    QTRY_COMPARE_WITH_TIMEOUT(hw("--json groups describe busy").object()[QStringLiteral("state")].toString(), QStringLiteral("Stable"), 30'000);
    const QJsonObject group = hw("--json groups describe busy").object();
    QCOMPARE(group[QStringLiteral("members")].toArray().size(), 1);
    QCOMPARE(group[QStringLiteral("members")].toArray()[0].toObject()[QStringLiteral("instance_id")].toString(), QStringLiteral("first"));
    QCOMPARE(group[QStringLiteral("assignor")].toString(), QStringLiteral("cooperative-sticky"));
    QVERIFY(hw("groups describe busy --members").out.contains("orders-0 orders-1"));
    const Run reset = hw("groups reset busy --topic orders --to-earliest --execute");
    QCOMPARE(reset.exit, 6);
    QVERIFY2(reset.error.contains("Stable with 1 member (hw at") && reset.error.contains("stop them"), reset.error);
    QCOMPARE(hw("groups delete busy").exit, 6);
    const Run offsets = hw("groups delete-offsets busy --topic orders");
    QVERIFY2(offsets.exit == 1 && offsets.error.contains("GROUP_SUBSCRIBED_TO_TOPIC"), offsets.error);
    ::kill(static_cast<pid_t>(consumer->processId()), SIGTERM);
    QVERIFY(consumer->waitForFinished(30'000));
    // A static member does not leave when it stops: its place is kept until the session times out.
    QTRY_COMPARE_WITH_TIMEOUT(hw("--json groups describe busy").object()[QStringLiteral("state")].toString(), QStringLiteral("Empty"), 60'000);
    QCOMPARE(hw("groups reset busy --topic orders --to-earliest --execute").exit, 0);
    QCOMPARE(hw("groups delete-offsets busy --topic orders:0").exit, 0);
    QCOMPARE(committed("busy"), QStringLiteral("1:0"));
    QCOMPARE(hw("groups delete busy").exit, 0);
    QCOMPARE(hw("groups describe busy").exit, 3);
    QCOMPARE(hw("groups delete busy").exit, 3);
    QCOMPARE(hw("groups delete busy --if-exists").exit, 0);
  }
};

QTEST_GUILESS_MAIN(TestHwGroups)
#include "tst_hw_groups.moc"
