// SPDX-License-Identifier: Apache-2.0
// `hw topics`, the words of errors, exit codes, help, completion and the manual page.
#include <QJsonArray>
#include <QRegularExpression>
#include <QTest>

#include "tests/app/support/tool.h"

using hw::tests::Daemon;
using hw::tests::Run;
using hw::tests::run_hw;

namespace {
QStringList words(const char* text) { return QString::fromUtf8(text).split(QLatin1Char(' '), Qt::SkipEmptyParts); }
}  // namespace

class TestHwTopics : public QObject {
  Q_OBJECT
  std::unique_ptr<Daemon> daemon_;
  [[nodiscard]] Run hw(const char* arguments, const QByteArray& input = {}) const { return daemon_->hw(words(arguments), input); }

 private slots:
  void initTestCase() {
    daemon_ = std::make_unique<Daemon>();
    QVERIFY(daemon_->started());
  }

  void createDescribeDelete() {
    Run run = hw("--json topics create orders -p 3 -c retention.ms=7d");
    QCOMPARE(run.exit, 0);
    QCOMPARE(run.object()[QStringLiteral("partitions")].toInt(), 3);
    QVERIFY(run.object()[QStringLiteral("created")].toBool());
    run = hw("topics create orders");
    QCOMPARE(run.exit, 5);
    QVERIFY(run.error.contains("exists already"));
    QCOMPARE(hw("topics create orders --if-not-exists").exit, 0);

    QCOMPARE(hw("produce orders -s |", "a|1\nb|2\nc|3\n").exit, 0);
    run = hw("--json topics describe orders");
    const QJsonObject topic = run.object();
    QCOMPARE(topic[QStringLiteral("configs")].toObject()[QStringLiteral("retention.ms")].toString(), QStringLiteral("604800000"));
    qint64 records = 0;
    for (const auto& partition : topic[QStringLiteral("partitions")].toArray()) {
      records += partition.toObject()[QStringLiteral("end")].toInteger() - partition.toObject()[QStringLiteral("begin")].toInteger();
      QVERIFY(partition.toObject()[QStringLiteral("leader")].toInt() >= 0);
    }
    QCOMPARE(records, 3);
    QVERIFY(hw("topics list").out.contains("orders"));
    QCOMPARE(hw("--json topics list ord*").objects().size(), 1);
    QVERIFY(!hw("topics list").out.contains("__"));

    run = hw("topics delete orders --dry-run");
    QVERIFY(run.exit == 0 && run.error.contains("would delete orders: 3 partitions, 3 records"));
    QCOMPARE(hw("topics describe orders").exit, 0);
    run = hw("--json topics delete orders");
    QVERIFY(run.exit == 0 && run.object()[QStringLiteral("deleted")].toBool());
    QCOMPARE(hw("topics delete orders").exit, 3);
    QCOMPARE(hw("topics delete orders --if-exists").exit, 0);
  }
  void presetsAndDryRun() {
    QCOMPARE(hw("topics create scratchpad --preset scratch --dry-run").exit, 0);
    QCOMPARE(hw("topics describe scratchpad").exit, 3);
    QCOMPARE(hw("topics create scratchpad --preset scratch").exit, 0);
    const QJsonObject configs = hw("--json topics describe scratchpad").object()[QStringLiteral("configs")].toObject();
    QCOMPARE(configs[QStringLiteral("retention.ms")].toString(), QStringLiteral("3600000"));
    QCOMPARE(hw("topics create x --preset nonsense").exit, 2);
    const Run run = hw("topics create bad -c retention.ms=soon");
    QCOMPARE(run.exit, 1);
    QVERIFY2(run.error.contains("retention.ms"), run.error);
  }
  // Case 20 of the public cases: from 6 to 8 partitions, murmur2 moves these keys and no other.
  void alterShowsTheKeysThatMove() {
    QCOMPARE(hw("topics create grow -p 6").exit, 0);
    QByteArray lines;
    for (int i = 1; i <= 8; ++i) {
      lines += "order-" + QByteArray::number(i) + "|x\n";
    }
    QCOMPARE(hw("produce grow -s |", lines).exit, 0);
    Run run = hw("--json topics alter grow -p 8 --dry-run");
    QCOMPARE(run.exit, 0);
    const QJsonObject preview = run.object()[QStringLiteral("preview")].toObject();
    QCOMPARE(preview[QStringLiteral("keys")].toInt(), 8);
    QCOMPARE(preview[QStringLiteral("moved_keys")].toInt(), 4);
    QCOMPARE(preview[QStringLiteral("moved_records")].toInt(), 4);
    QVERIFY(preview[QStringLiteral("complete")].toBool());
    QStringList moves;
    for (const auto& move : preview[QStringLiteral("first_moves")].toArray()) {
      moves.append(QStringLiteral("%1 %2 %3").arg(move.toObject()[QStringLiteral("key")].toString()).arg(move.toObject()[QStringLiteral("from")].toInt())
                       .arg(move.toObject()[QStringLiteral("to")].toInt()));
    }
    QCOMPARE(moves, QStringList({QStringLiteral("order-1 4 6"), QStringLiteral("order-3 3 7"), QStringLiteral("order-5 2 6"), QStringLiteral("order-6 3 1")}));
    QVERIFY(hw("topics alter grow -p 8 --dry-run").out.contains("4 of 8 keys (50 %)"));
    QCOMPARE(hw("--json topics describe grow").object()[QStringLiteral("partitions")].toArray().size(), 6);
    QCOMPARE(hw("topics alter grow -p 8 --yes").exit, 0);
    QCOMPARE(hw("--json topics describe grow").object()[QStringLiteral("partitions")].toArray().size(), 8);
    // What is there stays; what comes goes to the new place.
    QCOMPARE(hw("produce grow new --key order-1").exit, 0);
    QList<qint64> partitions;
    for (const QJsonObject& record : hw("--json consume grow -e --key-match ^order-1$").objects()) {
      partitions.append(record[QStringLiteral("partition")].toInteger());
    }
    std::sort(partitions.begin(), partitions.end());
    QCOMPARE(partitions, QList<qint64>({4, 6}));
    run = hw("topics alter grow -p 8 --yes");
    QVERIFY(run.exit == 1 && run.error.contains("8 partitions already"));
    // Another partitioner's records are noticed.
    QCOMPARE(hw("topics create other -p 15").exit, 0);
    QCOMPARE(hw("produce other x --key TT0124 --partitioner crc32").exit, 0);
    const QJsonObject elsewhere = hw("--json topics alter other -p 20 --dry-run").object()[QStringLiteral("preview")].toObject();
    QCOMPARE(elsewhere[QStringLiteral("records_placed_otherwise")].toInt(), 1);
  }

  void deleteRecordsMovesTheBeginning() {
    QCOMPARE(hw("topics create old -p 2").exit, 0);
    QByteArray lines;
    for (int i = 0; i < 20; ++i) {
      lines += QStringLiteral("{\"value\":\"%1\",\"partition\":%2,\"timestamp\":%3}\n").arg(i).arg(i % 2).arg(1'764'410'400'000 + i * 60'000).toUtf8();
    }
    QCOMPARE(hw("produce old --input json", lines).exit, 0);
    const auto begins = [this] {
      QList<int> all;
      for (const auto& partition : hw("--json topics describe old").object()[QStringLiteral("partitions")].toArray()) {
        all.append(partition.toObject()[QStringLiteral("begin")].toInt());
      }
      return all;
    };
    QCOMPARE(hw("topics delete-records old").exit, 2);
    QCOMPARE(hw("topics delete-records old --before-offset 3 -p 1 --dry-run").exit, 0);
    QCOMPARE(begins(), QList<int>({0, 0}));
    QCOMPARE(hw("topics delete-records old --before-offset 3 -p 1").exit, 0);
    QCOMPARE(begins(), QList<int>({0, 3}));
    QCOMPARE(hw("topics delete-records old --before 2025-11-29T10:09:00Z").exit, 0);  // 10, 11, … stay, and 9
    QCOMPARE(begins(), QList<int>({5, 4}));
    QCOMPARE(hw("topics delete-records old --before-offset 99 -p 0").exit, 1);
    QCOMPARE(hw("topics delete-records old -p 9 --all").exit, 3);
    QCOMPARE(hw("topics delete-records old --all --yes").exit, 0);
    QCOMPARE(begins(), QList<int>({10, 10}));
    QVERIFY(hw("consume old -e").out.isEmpty());
  }

  void errorsSayWhatWasMeant() {
    QCOMPARE(hw("topics create payments").exit, 0);
    Run run = hw("topics describe paymnets");
    QCOMPARE(run.exit, 3);
    QVERIFY(run.error.contains("did you mean 'payments'?"));
    run = hw("--json topics describe paymnets");
    QVERIFY(run.exit == 3 && run.out.isEmpty() && run.error.startsWith("{\"error\":") && run.error.contains("\"exit\":3"));
    run = hw("topics lst");
    QVERIFY(run.exit == 2 && run.error.contains("did you mean 'list'?"));
    run = hw("topic list");
    QVERIFY(run.exit == 2 && run.error.contains("did you mean 'topics'?"));
    run = hw("topics list --jsn");
    QVERIFY(run.exit == 2 && run.error.contains("did you mean '--json'?"));
    QCOMPARE(hw("topics create p -p 0").exit, 2);
    QCOMPARE(hw("--timeout soon topics list").exit, 2);
    run = run_hw(words("--bootstrap 127.0.0.1:1 topics list"));
    QVERIFY(run.exit == 4 && run.error.contains("127.0.0.1:1: connection refused") && run.error.contains("--bootstrap"));
    run = run_hw(words("--bootstrap host:port topics list"));
    QCOMPARE(run.exit, 2);
  }
  void completionAsksTheBroker() {
    QCOMPARE(hw("topics create complete-me").exit, 0);
    const auto complete = [this](const QStringList& typed) { return daemon_->hw(QStringList{QStringLiteral("__complete")} + typed).out; };
    QVERIFY(complete({QStringLiteral("topics"), QStringLiteral("desc")}) == "describe\n");
    QVERIFY(complete({QStringLiteral("topics"), QStringLiteral("describe"), QStringLiteral("compl")}) == "complete-me\n");
    QVERIFY(complete({QStringLiteral("produce"), QStringLiteral("x"), QStringLiteral("--compression"), QStringLiteral("z")}) == "zstd\n");
    QVERIFY(complete({QStringLiteral("consume"), QStringLiteral("--key")}) == "--key-match\n");
    QVERIFY(complete({QStringLiteral("log"), QStringLiteral("dump"), QString()}) == ":file\n");
    QVERIFY(run_hw({QStringLiteral("__complete"), QStringLiteral("topics"), QStringLiteral("describe"), QString()}, {},
                   QStringLiteral("127.0.0.1:1")).out.isEmpty());
    for (const char* shell : {"bash", "zsh", "fish"}) {
      const Run run = run_hw({QStringLiteral("completion"), QLatin1String(shell)});
      QVERIFY(run.exit == 0 && run.out.contains("__complete"));
    }
  }
  // The manual page knows every command that --help knows.
  void manualPageIsComplete() {
    const QByteArray page = run_hw({QStringLiteral("man")}).out;
    QVERIFY(page.contains(".TH HW 1"));
    const QRegularExpression entry(QStringLiteral("^  ([a-z][a-z-]*) {2,}"), QRegularExpression::MultilineOption);
    auto commands = entry.globalMatch(QString::fromUtf8(run_hw({QStringLiteral("--help")}).out).section(QStringLiteral("Subcommands:"), 1));
    int seen = 0;
    while (commands.hasNext()) {
      const QString name = commands.next().captured(1);
      const QByteArray heading = ".SS hw " + QString(name).replace(QLatin1Char('-'), QStringLiteral("\\-")).toUtf8();
      QVERIFY2(page.contains(heading), heading);
      ++seen;
    }
    QVERIFY(seen >= 9);
  }
};

QTEST_GUILESS_MAIN(TestHwTopics)
#include "tst_hw_topics.moc"
