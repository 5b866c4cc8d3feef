// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <QJsonArray>
#include <QJsonDocument>
#include <QSet>
#include <QTemporaryDir>
#include <QTest>
#include <array>
#include <csignal>

#include "tests/app/support/tool.h"

using hw::tests::Daemon;
using hw::tests::Run;

namespace {

QStringList words(const QString& text) { return text.split(QLatin1Char(' '), Qt::SkipEmptyParts); }

// The orders topic of the guide: three partitions with four, two and three records.
const QByteArray kOrders =
    R"({"partition":0,"key":"ord-1","value":"created"})"
    "\n"
    R"({"partition":0,"key":"ord-4","value":"created"})"
    "\n"
    R"({"partition":0,"key":"ord-1","value":"paid"})"
    "\n"
    R"({"partition":0,"key":"ord-1","value":"shipped"})"
    "\n"
    R"({"partition":1,"key":"ord-2","value":"created"})"
    "\n"
    R"({"partition":1,"key":"ord-2","value":"paid"})"
    "\n"
    R"({"partition":2,"key":"ord-3","value":"created"})"
    "\n"
    R"({"partition":2,"key":"ord-5","value":"created"})"
    "\n"
    R"({"partition":2,"key":"ord-3","value":"cancelled"})"
    "\n";

// `hw consume jobs -g GROUP --commit GROUP`, whose output goes to a pipe that nobody reads after the first records.
class CrashedWorker {
 public:
  CrashedWorker(const Daemon& daemon, const QString& order) {
    const QString path = folder_.filePath(order);
    if (::mkfifo(path.toLocal8Bit().constData(), 0600) != 0) {
      return;
    }
    pipe_ = ::open(path.toLocal8Bit().constData(), O_RDONLY | O_NONBLOCK);  // NOLINT(cppcoreguidelines-pro-type-vararg)
    process_ = daemon.start_hw(words(QStringLiteral("--json consume jobs -g %1 --commit %1").arg(order)), path);
  }
  ~CrashedWorker() { ::close(pipe_); }
  CrashedWorker(const CrashedWorker&) = delete;
  CrashedWorker& operator=(const CrashedWorker&) = delete;

  // Reads until that many records were worked on; false: they did not come.
  [[nodiscard]] bool works_on(qsizetype records) {
    return process_ != nullptr && process_->waitForStarted() &&
           QTest::qWaitFor([&] { return take() && output_.count('\n') >= records; }, 60'000);
  }
  [[nodiscard]] bool pipe_is_full() const {
    int held = 0;
    return ::ioctl(pipe_, FIONREAD, &held) == 0 &&             // NOLINT(cppcoreguidelines-pro-type-vararg)
           held >= ::fcntl(pipe_, F_GETPIPE_SZ) - kPageBytes;  // NOLINT(cppcoreguidelines-pro-type-vararg)
  }
  [[nodiscard]] bool kill() {
    process_->kill();
    return process_->waitForFinished() && process_->exitStatus() == QProcess::CrashExit && take_all();
  }
  // Of the records that were worked on; one that was written in part was not.
  [[nodiscard]] QList<qint64> offsets() const {
    QList<qint64> all;
    for (const QByteArray& line : output_.left(output_.lastIndexOf('\n')).split('\n')) {
      all.append(QJsonDocument::fromJson(line).object()[QStringLiteral("offset")].toInteger(-1));
    }
    return all;
  }

 private:
  static constexpr int kPageBytes = 4096;  // a pipe's pages need not be filled to the last byte
  bool take() {
    std::array<char, kPageBytes> piece{};
    const auto got = ::read(pipe_, piece.data(), piece.size());
    if (got > 0) {
      output_.append(piece.data(), static_cast<qsizetype>(got));
    }
    return got > 0;
  }
  bool take_all() {
    while (take()) {
    }
    return true;
  }
  QTemporaryDir folder_;
  int pipe_ = -1;
  std::unique_ptr<QProcess> process_;
  QByteArray output_;
};

}  // namespace

class TestGuides : public QObject {
  Q_OBJECT
  std::unique_ptr<Daemon> daemon_;
  [[nodiscard]] Run hw(const QString& arguments, const QByteArray& input = {}) const { return daemon_->hw(words(arguments), input); }
  void orders(const QString& topic) const {
    QCOMPARE(hw(QStringLiteral("topics create %1 -p 3").arg(topic)).exit, 0);
    QCOMPARE(hw(QStringLiteral("produce %1 --input json").arg(topic), kOrders).exit, 0);
  }
  [[nodiscard]] QJsonObject group(const QString& id) const { return hw(QStringLiteral("--json groups describe ") + id).object(); }
  [[nodiscard]] QStringList read(const QString& arguments) const {
    QStringList values;
    for (const QJsonObject& record : hw(QStringLiteral("--json consume ") + arguments).objects()) {
      values.append(record[QStringLiteral("value")].toString());
    }
    return values;
  }

 private slots:
  void init() {
    daemon_ = std::make_unique<Daemon>();
    QVERIFY(daemon_->started());
  }
  void cleanup() { QVERIFY(daemon_->stop()); }

  // "group billing: P0 committed=4, P1 committed=1, P2 committed=3 -> lag 0 + 1 + 0 = 1"
  void lagIsTheSumOverPartitions() {
    orders(QStringLiteral("orders"));
    QCOMPARE(hw(QStringLiteral("groups reset billing --from-file - --execute"), "orders,0,4\norders,1,1\norders,2,3\n").exit, 0);
    const QJsonObject billing = group(QStringLiteral("billing"));
    QList<qint64> lags;
    for (const auto& partition : billing[QStringLiteral("partitions")].toArray()) {
      lags.append(partition.toObject()[QStringLiteral("lag")].toInteger());
    }
    QCOMPARE(lags, QList<qint64>({0, 1, 0}));
    QCOMPARE(billing[QStringLiteral("lag")].toInt(), 1);
    QCOMPARE(read(QStringLiteral("orders -g billing -e")), QStringList({QStringLiteral("paid")}));
    QCOMPARE(group(QStringLiteral("billing"))[QStringLiteral("lag")].toInt(), 0);
    // "group analytics: everything at 0 -> reads everything again"
    QCOMPARE(hw(QStringLiteral("groups reset analytics --topic orders --to-earliest --execute")).exit, 0);
    QCOMPARE(group(QStringLiteral("analytics"))[QStringLiteral("lag")].toInt(), 9);
    QCOMPARE(read(QStringLiteral("orders -g analytics -e")).size(), 9);
  }
  void twoGroupsAreIndependent() {
    orders(QStringLiteral("orders"));
    QCOMPARE(read(QStringLiteral("orders -g billing -e")).size(), 9);
    QCOMPARE(read(QStringLiteral("orders -g analytics -e")).size(), 9);
    QCOMPARE(read(QStringLiteral("orders -g billing -e")).size(), 0);
    QCOMPARE(hw(QStringLiteral("groups reset billing --topic orders --shift-by -1 --execute")).exit, 0);
    QCOMPARE(read(QStringLiteral("orders -g billing -e")).size(), 3);
    QCOMPARE(read(QStringLiteral("orders -g analytics -e")).size(), 0);
  }
  // "Six consumers on a three-partition topic leave three idle."
  void sixConsumersOnThreePartitions() {
    orders(QStringLiteral("orders"));
    std::vector<std::unique_ptr<QProcess>> members;
    for (int i = 0; i < 6; ++i) {
      members.push_back(daemon_->start_hw(words(QStringLiteral("consume orders -g six -q"))));
    }
    const auto shape = [this] {
      int idle = 0;
      int busy = 0;
      const QJsonObject six = group(QStringLiteral("six"));
      for (const auto& member : six[QStringLiteral("members")].toArray()) {
        const int partitions = member.toObject()[QStringLiteral("partitions")].toInt();
        idle += partitions == 0 ? 1 : 0;
        busy += partitions == 1 ? 1 : 0;
      }
      return six[QStringLiteral("state")].toString() + QStringLiteral(" %1 idle %2 busy").arg(idle).arg(busy);
    };
    QTRY_COMPARE_WITH_TIMEOUT(shape(), QStringLiteral("Stable 3 idle 3 busy"), 60'000);
    for (const auto& member : members) {
      ::kill(static_cast<pid_t>(member->processId()), SIGINT);
    }
    for (const auto& member : members) {
      QVERIFY(member->waitForFinished(60'000));
      QCOMPARE(member->exitCode(), 0);
    }
    QCOMPARE(group(QStringLiteral("six"))[QStringLiteral("state")].toString(), QStringLiteral("Empty"));
  }
  // "Partition counts only increase", and a key may then land elsewhere while its older records stay.
  void partitionIncrease() {
    QCOMPARE(hw(QStringLiteral("topics create accounts -p 6")).exit, 0);
    QCOMPARE(hw(QStringLiteral("produce accounts before -k order-1")).exit, 0);
    const Run less = hw(QStringLiteral("topics alter accounts -p 3 --yes"));
    QVERIFY(less.exit == 1 && less.error.contains("only become more"));
    QCOMPARE(hw(QStringLiteral("topics alter accounts -p 8 --yes")).exit, 0);
    QCOMPARE(hw(QStringLiteral("produce accounts after -k order-1")).exit, 0);
    QCOMPARE(read(QStringLiteral("accounts -e -p 4")), QStringList({QStringLiteral("before")}));
    QCOMPARE(read(QStringLiteral("accounts -e -p 6")), QStringList({QStringLiteral("after")}));
  }
  // "Every record with the same key lands on the same partition and stays ordered."
  void orderHoldsPerKey() {
    QCOMPARE(hw(QStringLiteral("topics create events -p 3")).exit, 0);
    QByteArray lines;
    for (int i = 0; i < 300; ++i) {
      lines += "key-" + QByteArray::number(i % 7) + ";" + QByteArray::number(i) + "\n";
    }
    QCOMPARE(hw(QStringLiteral("produce events -s ;"), lines).exit, 0);
    QMap<QString, QPair<qint64, qint64>> last;  // partition and value by key
    int seen = 0;
    for (const QJsonObject& record : hw(QStringLiteral("--json consume events -e")).objects()) {
      const QString key = record[QStringLiteral("key")].toString();
      const qint64 partition = record[QStringLiteral("partition")].toInteger();
      const qint64 value = record[QStringLiteral("value")].toString().toLongLong();
      QVERIFY(!last.contains(key) || (last[key].first == partition && last[key].second < value));
      last[key] = {partition, value};
      ++seen;
    }
    QCOMPARE(seen, 300);
  }
  // "A script that produces and exits without calling flush() drops the rest with no error at all": a producer that waits for fuller
  // batches is ended while records lie in its buffer.
  void forgottenFlush() {
    QCOMPARE(hw(QStringLiteral("topics create forgotten -p 1")).exit, 0);
    const auto producer = daemon_->start_hw(words(QStringLiteral("produce forgotten --linger 600000")));
    QVERIFY(producer->waitForStarted());
    QByteArray lines;
    for (int i = 0; i < 5000; ++i) {
      lines += "value-" + QByteArray::number(i) + "\n";
    }
    producer->write(lines);
    const auto stored = [this] {
      return hw(QStringLiteral("--json topics describe forgotten")).object()[QStringLiteral("partitions")].toArray()[0].toObject()[QStringLiteral("end")].toInteger();
    };
    QTRY_VERIFY_WITH_TIMEOUT(producer->bytesToWrite() == 0 && stored() > 0, 30'000);  // full batches went
    producer->kill();
    QVERIFY(producer->waitForFinished());
    const qint64 before = stored();
    QVERIFY2(before < 5000, "the last batch was never full");
    QCOMPARE(hw(QStringLiteral("produce forgotten --linger 600000"), lines).exit, 0);  // hw flushes at the end
    QCOMPARE(stored(), before + 5000);
  }
  // "Committing after the work is at-least-once; committing first would be at-most-once and loses records on a crash." The crash is a
  // SIGKILL while the second poll of hw is worked on: its work is to write to a pipe, which is full.
  void commitBeforeAndAfterWork() {
    constexpr int kRecords = 1500;
    QCOMPARE(hw(QStringLiteral("topics create jobs -p 1")).exit, 0);
    QByteArray lines;
    for (int i = 0; i < kRecords; ++i) {
      lines += QByteArray::number(i).rightJustified(1000, '0') + "\n";
    }
    QCOMPARE(hw(QStringLiteral("produce jobs"), lines).exit, 0);
    const auto committed = [this](const QString& id) {
      return group(id)[QStringLiteral("partitions")].toArray()[0].toObject()[QStringLiteral("committed")].toInteger(-1);
    };
    struct Order {
      QString name;
      QList<qint64> worked;  // the offsets that were worked on, in order
      qint64 committed = -1;
    };
    std::array<Order, 2> orders{Order{QStringLiteral("after"), {}}, Order{QStringLiteral("before"), {}}};
    for (Order& order : orders) {
      CrashedWorker worker(*daemon_, order.name);
      QVERIFY(worker.works_on(500));
      QTRY_VERIFY_WITH_TIMEOUT(worker.pipe_is_full(), 60'000);
      QVERIFY(worker.kill());
      order.worked = worker.offsets();
      order.committed = committed(order.name);
    }
    for (Order& order : orders) {
      QCOMPARE(order.worked.first(), 0);
      QCOMPARE(order.worked.last(), order.worked.size() - 1);
      QVERIFY2(order.worked.size() > 500 && order.worked.size() < 1000, "the crash falls into the second poll");
      const qsizetype first = order.worked.size();
      for (const QJsonObject& record : hw(QStringLiteral("--json consume jobs -e -g ") + order.name).objects()) {
        order.worked.append(record[QStringLiteral("offset")].toInteger());
      }
      QCOMPARE(order.worked[first], order.committed);
      QCOMPARE(order.worked.last(), kRecords - 1);
      QCOMPARE(order.worked.size() - first, kRecords - order.committed);
      const QSet<qint64> distinct(order.worked.begin(), order.worked.end());
      if (order.name == QStringLiteral("after")) {
        QCOMPARE(order.committed, 500);  // the first poll
        QCOMPARE(distinct.size(), kRecords);
        QCOMPARE(order.worked.size(), kRecords + first - order.committed);  // at least once: those come again
      } else {
        QVERIFY(order.committed > first);
        QCOMPARE(order.worked.size(), distinct.size());
        QCOMPARE(distinct.size(), kRecords - (order.committed - first));  // at most once: those never come
      }
    }
  }
  // Case 9: a committed offset is the next to read. Who commits the offset of what it has read gets that again.
  void commitMeansNextToRead() {
    QCOMPARE(hw(QStringLiteral("topics create pair -p 1")).exit, 0);
    QCOMPARE(hw(QStringLiteral("produce pair"), "zero\none\n").exit, 0);
    QCOMPARE(hw(QStringLiteral("groups reset nine --topic pair --to-offset 1 --execute")).exit, 0);
    QCOMPARE(group(QStringLiteral("nine"))[QStringLiteral("lag")].toInt(), 1);
    QCOMPARE(read(QStringLiteral("pair -g nine -e")), QStringList({QStringLiteral("one")}));
    QCOMPARE(hw(QStringLiteral("groups reset nine --topic pair --to-offset 2 --execute")).exit, 0);
    QCOMPARE(group(QStringLiteral("nine"))[QStringLiteral("lag")].toInt(), 0);
    QVERIFY(read(QStringLiteral("pair -g nine -e")).isEmpty());
  }
  // "Reading does not remove records: a new group or an offset reset replays history", and "latest skips history".
  void resetReplaysHistory() {
    orders(QStringLiteral("orders"));
    QCOMPARE(read(QStringLiteral("orders -g billing -e")).size(), 9);
    QCOMPARE(hw(QStringLiteral("groups reset billing --topic orders --to-earliest --execute")).exit, 0);
    QCOMPARE(read(QStringLiteral("orders -g billing -e")).size(), 9);
    QCOMPARE(read(QStringLiteral("orders -g newcomer --from latest -e")).size(), 0);
    QCOMPARE(read(QStringLiteral("orders -g replayer --from earliest -e")).size(), 9);
  }
};

QTEST_GUILESS_MAIN(TestGuides)
#include "tst_guides.moc"
