// SPDX-License-Identifier: Apache-2.0
// `hw produce` and `hw consume`.
#include <QJsonArray>
#include <QTemporaryFile>
#include <QTest>
#include <csignal>

#include "tests/app/support/tool.h"

using hw::tests::Daemon;
using hw::tests::Run;

namespace {
QStringList words(const char* text) { return QString::fromUtf8(text).split(QLatin1Char(' '), Qt::SkipEmptyParts); }
QByteArray numbers(int count) {
  QByteArray lines;
  for (int i = 0; i < count; ++i) {
    lines += "k" + QByteArray::number(i % 10) + ";" + QByteArray::number(i) + "\n";
  }
  return lines;
}
QStringList values(const Run& run) {
  QStringList all;
  for (const QJsonObject& record : run.objects()) {
    all.append(record[QStringLiteral("value")].toString());
  }
  return all;
}
const QByteArray kJsonLines =
    R"({"key":"k","value":"text \u00e4\n","headers":{"a":"1","b":null},"partition":1,"timestamp":1764410400000})"
    "\n"
    R"({"key_base64":"/w==","value":{"nested":[1,2]},"partition":0,"timestamp":"2025-11-29T10:00:00.5Z"})"
    "\n\n"
    R"({"key":null,"value":null,"headers":[{"name":"x","value_base64":"/wE="}],"partition":0})"
    "\n";
const QByteArray kNested = "\"value\":\"{\\\"nested\\\":[1,2]}\"";
}  // namespace

class TestHwRecords : public QObject {
  Q_OBJECT
  std::unique_ptr<Daemon> daemon_;
  [[nodiscard]] Run hw(const char* arguments, const QByteArray& input = {}) const { return daemon_->hw(words(arguments), input); }

 private slots:
  void initTestCase() {
    daemon_ = std::make_unique<Daemon>();
    QVERIFY(daemon_->started());
  }

  void linesOfEveryCodecAndAcks() {
    QCOMPARE(hw("topics create lines -p 1").exit, 0);
    int sent = 0;
    for (const char* how : {"-z none --acks all", "-z gzip --acks 1", "-z snappy --acks 0", "-z lz4 --linger 5", "-z zstd --rate 100000"}) {
      const Run run = daemon_->hw(words("produce lines -s ;") + words(how), numbers(200));
      QVERIFY2(run.exit == 0 && run.error.contains("200 records delivered"), run.error);
      sent += 200;
    }
    const Run run = hw("--json consume lines --exit-at-end");
    QCOMPARE(run.objects().size(), sent);
    qint64 next = 0;
    for (const QJsonObject& record : run.objects()) {
      QCOMPARE(record[QStringLiteral("offset")].toInteger(), next++);
    }
    QCOMPARE(hw("produce lines --file /nowhere").exit, 3);
    const Run torn = hw("produce lines -s ;", "a;1\nno separator\nb;2\n");
    QVERIFY(torn.exit == 1 && torn.error.contains("line 2"));
  }
  void nullIsNotEmpty() {
    QCOMPARE(hw("topics create nulls -p 1").exit, 0);
    QCOMPARE(hw("produce nulls -s ; --null-marker NULL", "NULL;a\n;b\nc;NULL\nd;\n").exit, 0);
    QCOMPARE(hw("produce nulls --null --key e -H trace=1 -H none").exit, 0);
    const auto records = hw("--json consume nulls -e").objects();
    QCOMPARE(records.size(), 5);
    const auto key = [&](int i) { return records[i][QStringLiteral("key")]; };
    const auto value = [&](int i) { return records[i][QStringLiteral("value")]; };
    QVERIFY(key(0).isNull() && key(1) == QString() && !key(1).isNull());
    QVERIFY(value(2).isNull() && value(3) == QString() && !value(3).isNull() && value(4).isNull());
    const QJsonArray headers = records[4][QStringLiteral("headers")].toArray();
    QVERIFY(headers[0].toObject()[QStringLiteral("value")] == QStringLiteral("1") && headers[1].toObject()[QStringLiteral("value")].isNull());
    QVERIFY(hw("consume nulls -e").out.startsWith("0\t0\t(null)\ta\n0\t1\t\tb\n0\t2\tc\t(null)\n"));
  }
  // What consume prints, produce reads: everything but the offset comes out the same.
  void jsonGoesRound() {
    QCOMPARE(hw("topics create from -p 2").exit, 0);
    QCOMPARE(hw("topics create to -p 2").exit, 0);
    QCOMPARE(hw("produce from --input json", kJsonLines).exit, 0);
    const Run first = hw("--json consume from -e");
    QCOMPARE(first.objects().size(), 3);
    QCOMPARE(hw("produce to --input json", first.out).exit, 0);
    const Run second = hw("--json consume to -e");
    QByteArray expected = first.out;
    QCOMPARE(second.out, expected.replace("\"topic\":\"from\"", "\"topic\":\"to\""));
    QVERIFY(second.out.contains("\"timestamp\":1764410400500") && second.out.contains("\"key_base64\":\"/w==\"") &&
            second.out.contains(kNested) && second.out.contains("\"value_base64\":\"/wE=\""));
    for (const char* wrong : {"{\"valu\":1}", "[1]", "{\"value\":1", "{\"value\":1,\"partition\":-1}", "{\"value\":1,\"timestamp\":\"then\"}"}) {
      const Run run = hw("produce to --input json", QByteArray(wrong) + "\n");
      QVERIFY2(run.exit == 1 && run.error.contains("line 1: "), run.error);
    }
  }
  void whereReadingBegins() {
    QCOMPARE(hw("topics create places -p 1").exit, 0);
    QByteArray lines;
    for (int i = 0; i < 20; ++i) {
      lines += QStringLiteral("{\"value\":\"%1\",\"timestamp\":%2}\n").arg(i).arg(1'764'410'400'000 + i * 60'000).toUtf8();
    }
    QCOMPARE(hw("produce places --input json", lines).exit, 0);
    QCOMPARE(values(hw("--json consume places -e --from -3")), QStringList({QStringLiteral("17"), QStringLiteral("18"), QStringLiteral("19")}));
    QCOMPARE(values(hw("--json consume places -e --from 18")), QStringList({QStringLiteral("18"), QStringLiteral("19")}));
    QCOMPARE(values(hw("--json consume places -e --from 2025-11-29T10:18:30Z")), QStringList({QStringLiteral("19")}));
    QCOMPARE(values(hw("--json consume places --from earliest --max 2")), QStringList({QStringLiteral("0"), QStringLiteral("1")}));
    QCOMPARE(values(hw("--json consume places -e --from latest")), QStringList());
    QCOMPARE(values(hw("--json consume places -e --from 1h")), QStringList());
    QCOMPARE(hw("consume places --from sometime").exit, 2);
    QCOMPARE(hw("consume places -p 7").exit, 3);
    QCOMPARE(hw("consume plaecs -e").exit, 3);
    const Run waited = hw("consume places --from 18 --max 5 --idle 300ms");
    QVERIFY(waited.exit == 4 && waited.error.contains("2 of 5 records came"));
  }
  void filtersAndTemplates() {
    QCOMPARE(hw("topics create shown -p 1").exit, 0);
    QCOMPARE(hw("produce shown -s ;", numbers(100)).exit, 0);
    const Run run = hw("consume shown -e --key-match ^k[37]$ --value-match ^1.$ --format {key}={value}\\n");
    QCOMPARE(run.out, QByteArray("k3=13\nk7=17\n"));
    QVERIFY(run.error.contains("2 of 100 records fit"));
    QCOMPARE(hw("consume shown -e --key-match k9 --max 3 --values").out, QByteArray("9\n19\n29\n"));
    QCOMPARE(hw("consume shown -e --format {offest}").exit, 2);
    QCOMPARE(hw("consume shown -e --key-match a(b").exit, 2);
    QVERIFY(hw("consume shown -e -q").out.isEmpty());
  }
  // A value that says where it went, under each client's partitioner: case 18.
  void partitioners() {
    QCOMPARE(hw("topics create placed -p 15").exit, 0);
    const auto where = [this](const char* how) { return daemon_->hw(words("--json produce placed x --key TT0124") + words(how)).object()[QStringLiteral("partition")].toInt(); };
    QCOMPARE(where(""), 10);
    QCOMPARE(where("--partitioner crc32"), 9);
    QCOMPARE(where("-p 3"), 3);
    QCOMPARE(hw("produce nowhere x --partitioner crc32").exit, 3);
    QCOMPARE(hw("produce nowhere x --no-create").exit, 3);
  }
  // Case 19: an empty key is a key, murmur2 of nothing is 275646681, so partition 3 of 6, always.
  void emptyKeyHasOnePlace() {
    QCOMPARE(hw("topics create empty-keys -p 6").exit, 0);
    QCOMPARE(hw("produce empty-keys -s ;", ";a\n;b\n;c\n").exit, 0);
    for (const QJsonObject& record : hw("--json consume empty-keys -e").objects()) {
      QCOMPARE(record[QStringLiteral("partition")].toInt(), 3);
    }
  }
  // Ctrl-C commits what was printed and leaves the group at once: nobody waits for a session to time out.
  void interruptLeavesTheGroup() {
    QCOMPARE(hw("topics create left -p 2").exit, 0);
    QCOMPARE(hw("produce left -s ;", numbers(50)).exit, 0);
    const auto consumer = daemon_->start_hw(words("--json consume left --group leavers"));
    QVERIFY(consumer->waitForStarted());
    QByteArray seen;
    while (seen.count('\n') < 50 && consumer->waitForReadyRead(30'000)) {
      seen += consumer->readAllStandardOutput();
    }
    QCOMPARE(seen.count('\n'), 50);
    QCOMPARE(hw("--json groups describe leavers").object()[QStringLiteral("state")].toString(), QStringLiteral("Stable"));
    ::kill(static_cast<pid_t>(consumer->processId()), SIGINT);
    QVERIFY(consumer->waitForFinished(30'000));
    QCOMPARE(consumer->exitCode(), 0);
    const QJsonObject group = hw("--json groups describe leavers").object();
    QCOMPARE(group[QStringLiteral("state")].toString(), QStringLiteral("Empty"));
    QCOMPARE(group[QStringLiteral("lag")].toInt(), 0);
    QCOMPARE(group[QStringLiteral("partitions")].toArray().size(), 2);
  }
  void commitNeverCommitsNothing() {
    QCOMPARE(hw("topics create unsaved -p 1").exit, 0);
    QCOMPARE(hw("produce unsaved x -n 3").exit, 0);
    QCOMPARE(hw("consume unsaved -g forgetful --commit never -e -q").exit, 0);
    QCOMPARE(values(hw("--json consume unsaved -g forgetful -e")).size(), 3);
    QCOMPARE(values(hw("--json consume unsaved -g forgetful -e")).size(), 0);
    for (const char* mode : {"auto", "after", "before"}) {
      const QString group = QStringLiteral("saved-") + QLatin1String(mode);
      QCOMPARE(daemon_->hw(words("consume unsaved -e -q -g") + QStringList{group, QStringLiteral("--commit"), QLatin1String(mode)}).exit, 0);
      QCOMPARE(daemon_->hw(words("--json groups describe") + QStringList{group}).object()[QStringLiteral("lag")].toInt(-1), 0);
    }
    QCOMPARE(hw("consume unsaved --commit after").exit, 2);
    QCOMPARE(hw("consume unsaved -g g --from 5").exit, 2);
    QCOMPARE(hw("consume unsaved -g g -p 0").exit, 2);
  }
};

QTEST_GUILESS_MAIN(TestHwRecords)
#include "tst_hw_records.moc"
