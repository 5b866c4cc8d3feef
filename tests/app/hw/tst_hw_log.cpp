// SPDX-License-Identifier: Apache-2.0
// `hw log dump` and `hw log verify` on files that Kafka 4.4 wrote, on our own, and on damaged ones.
#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QJsonArray>
#include <QTemporaryDir>
#include <QTest>

#include "tests/app/support/tool.h"

using hw::tests::Daemon;
using hw::tests::Run;
using hw::tests::run_hw;

namespace {

const QString kStem = QStringLiteral("00000000000000000000");

QMap<QString, QByteArray> contents(const QString& folder) {
  QMap<QString, QByteArray> all;
  QDirIterator files(folder, QDir::Files, QDirIterator::Subdirectories);
  while (files.hasNext()) {
    QFile file(files.next());
    if (file.open(QIODevice::ReadOnly)) {
      all[file.fileName()] = file.readAll();
    }
  }
  return all;
}

// A copy of the golden partition, and where a file of it is changed.
class Copy {
 public:
  Copy() {
    const QDir golden(QStringLiteral(HW_GOLDEN_DIR "/kafka-4.4-partition"));
    QDir(folder_.path()).mkdir(QStringLiteral("orders-0"));
    for (const QString& name : golden.entryList(QDir::Files)) {
      QFile::copy(golden.filePath(name), path(name));
      QFile(path(name)).setPermissions(QFile::ReadOwner | QFile::WriteOwner);
    }
  }
  [[nodiscard]] QString folder() const { return folder_.filePath(QStringLiteral("orders-0")); }
  [[nodiscard]] QString path(const QString& name) const { return folder() + QLatin1Char('/') + name; }
  [[nodiscard]] QByteArray read(const QString& name) const {
    QFile file(path(name));
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
  }
  void write(const QString& name, const QByteArray& bytes) const {
    QFile file(path(name));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(bytes);
  }
  void flip(const QString& name, int at) const {
    QByteArray bytes = read(name);
    const int place = at < 0 ? static_cast<int>(bytes.size()) + at : at;
    bytes[place] = static_cast<char>(bytes[place] ^ 0x40);
    write(name, bytes);
  }
  [[nodiscard]] Run verify() const { return run_hw({QStringLiteral("--json"), QStringLiteral("log"), QStringLiteral("verify"), folder()}); }

 private:
  QTemporaryDir folder_;
};

QStringList problems(const Run& run) {
  QStringList all;
  for (const QJsonObject& object : run.objects()) {
    if (object[QStringLiteral("type")] == QStringLiteral("fault")) {
      all.append(object[QStringLiteral("file")].toString().section(QLatin1Char('/'), -1) + QStringLiteral(": ") +
                 object[QStringLiteral("problem")].toString());
    }
  }
  return all;
}

}  // namespace

class TestHwLog : public QObject {
  Q_OBJECT
 private slots:
  void kafkasFilesAreSoundAndUntouched() {
    const Copy copy;
    const auto before = contents(copy.folder());
    const Run run = copy.verify();
    QVERIFY2(run.exit == 0, run.out + run.error);
    const QJsonObject summary = run.object();
    QCOMPARE(summary[QStringLiteral("records")].toInt(), 300);
    QCOMPARE(summary[QStringLiteral("last_offset")].toInt(), 299);
    QVERIFY(summary[QStringLiteral("sound")].toBool());
    QCOMPARE(run_hw({QStringLiteral("log"), QStringLiteral("dump"), QStringLiteral("--records"), copy.folder()}).exit, 0);
    QVERIFY(contents(copy.folder()) == before);
  }
  void dumpShowsBatchesRecordsAndWhatLiesBeside() {
    const Copy copy;
    const Run run = run_hw({QStringLiteral("--json"), QStringLiteral("log"), QStringLiteral("dump"), QStringLiteral("--records"), copy.folder()});
    QCOMPARE(run.exit, 0);
    QMap<QString, int> counts;
    qint64 next = 0;
    for (const QJsonObject& object : run.objects()) {
      const QString type = object[QStringLiteral("type")].toString();
      ++counts[type];
      if (type == QStringLiteral("record")) {
        QCOMPARE(object[QStringLiteral("offset")].toInteger(), next++);
      } else if (type == QStringLiteral("batch")) {
        QVERIFY(object[QStringLiteral("crc_ok")].toBool());
      }
    }
    QCOMPARE(counts[QStringLiteral("record")], 300);
    QVERIFY(counts[QStringLiteral("batch")] > 0 && counts[QStringLiteral("timeindex")] > 0 && counts[QStringLiteral("epoch")] > 0);
    const Run part = run_hw({QStringLiteral("--json"), QStringLiteral("log"), QStringLiteral("dump"), QStringLiteral("--records"),
                             QStringLiteral("--from-offset"), QStringLiteral("100"), QStringLiteral("--max"), QStringLiteral("2"),
                             copy.path(kStem + QStringLiteral(".log"))});
    QVERIFY(part.out.contains("\"offset\":100,") && part.out.contains("\"offset\":101,") && !part.out.contains("\"offset\":102,"));
  }

  void damageIsFound_data() {
    QTest::addColumn<QString>("file");
    QTest::addColumn<int>("flip");        // this byte; from the end where negative
    QTest::addColumn<QByteArray>("append");
    QTest::addColumn<QString>("problem");
    const QString log = kStem + QStringLiteral(".log");
    QTest::newRow("record bytes") << log << 100 << QByteArray() << QStringLiteral("checksum does not hold");
    QTest::newRow("last byte") << log << -1 << QByteArray() << QStringLiteral("checksum does not hold");
    QTest::newRow("base offset") << log << 0 << QByteArray() << QStringLiteral("offset");
    QTest::newRow("magic") << log << 16 << QByteArray() << QStringLiteral("no whole batch");
    QTest::newRow("leader epoch") << log << 15 << QByteArray() << QStringLiteral("leader epoch 64, but leader-epoch-checkpoint says 0");
    QTest::newRow("torn tail") << log << 0x7fffffff << QByteArray("torn") << QStringLiteral("4 bytes that are no whole batch");
    QTest::newRow("index position") << kStem + QStringLiteral(".index") << 7 << QByteArray() << QStringLiteral("no batch begins at position");
    QTest::newRow("index offset") << kStem + QStringLiteral(".index") << 1 << QByteArray() << QStringLiteral("ends with offset");
    QTest::newRow("index cut") << kStem + QStringLiteral(".index") << 0x7fffffff << QByteArray("\1\2\3") << QStringLiteral("no whole entry");
    QTest::newRow("time index") << kStem + QStringLiteral(".timeindex") << 1 << QByteArray() << QStringLiteral("does not agree");
    QTest::newRow("snapshot") << QStringLiteral("00000000000000000300.snapshot") << -1 << QByteArray() << QStringLiteral("checksum");
    QTest::newRow("epochs") << QStringLiteral("leader-epoch-checkpoint") << 0 << QByteArray() << QString();
  }
  void damageIsFound() {
    QFETCH(QString, file);
    QFETCH(int, flip);
    QFETCH(QByteArray, append);
    QFETCH(QString, problem);
    const Copy copy;
    if (flip != 0x7fffffff) {
      copy.flip(file, flip);
    }
    copy.write(file, copy.read(file) + append);
    const auto before = contents(copy.folder());
    const Run run = copy.verify();
    QCOMPARE(run.exit, 1);
    const QStringList found = problems(run);
    QVERIFY2(!found.filter(file).filter(problem).isEmpty(), run.out);
    QVERIFY(contents(copy.folder()) == before);
    QVERIFY(!run.objects().back()[QStringLiteral("sound")].toBool());
  }
  void preallocatedZerosAreNoDamage() {
    const Copy copy;
    for (const char* suffix : {".index", ".timeindex", ".log"}) {
      const QString name = kStem + QLatin1String(suffix);
      copy.write(name, copy.read(name) + QByteArray(12 * 8 * 100, '\0'));
    }
    const Run run = copy.verify();
    QVERIFY2(run.exit == 0, run.out);
  }
  void whatIsNoLogIsSaid() {
    const QTemporaryDir folder;
    const Run none = run_hw({QStringLiteral("log"), QStringLiteral("verify"), folder.path()});
    QCOMPARE(none.exit, 3);
    QVERIFY(none.error.contains("no segment file"));
    QCOMPARE(run_hw({QStringLiteral("log"), QStringLiteral("dump"), folder.filePath(QStringLiteral("x.log"))}).exit, 3);
    const Copy copy;
    const Run alone = run_hw({QStringLiteral("log"), QStringLiteral("verify"), copy.path(kStem + QStringLiteral(".log"))});
    QCOMPARE(alone.exit, 2);
  }
  // What highwaterd writes, while it runs and after it stopped: records, metadata, committed offsets.
  void ourOwnFiles() {
    const QTemporaryDir folder;
    Daemon daemon(folder.path());
    QVERIFY(daemon.started());
    QByteArray lines;
    for (int i = 0; i < 2000; ++i) {
      lines += "key-" + QByteArray::number(i % 50) + "\tvalue-" + QByteArray::number(i) + "\n";
    }
    QCOMPARE(daemon.hw({QStringLiteral("topics"), QStringLiteral("create"), QStringLiteral("orders"), QStringLiteral("-p"), QStringLiteral("3")}).exit, 0);
    for (const char* codec : {"none", "gzip", "snappy", "lz4", "zstd"}) {
      QCOMPARE(daemon.hw({QStringLiteral("produce"), QStringLiteral("orders"), QStringLiteral("-s"), QStringLiteral("\\t"), QStringLiteral("-z"), QLatin1String(codec)},
                         lines).exit, 0);
    }
    QCOMPARE(daemon.hw({QStringLiteral("consume"), QStringLiteral("orders"), QStringLiteral("--group"), QStringLiteral("billing"), QStringLiteral("-q"),
                        QStringLiteral("--exit-at-end")}).exit, 0);
    const Run live = run_hw({QStringLiteral("log"), QStringLiteral("verify"), folder.path()});
    QVERIFY2(live.exit == 0, live.out + live.error);
    QVERIFY(daemon.stop());
    const Run stopped = run_hw({QStringLiteral("--json"), QStringLiteral("log"), QStringLiteral("verify"), folder.path()});
    QVERIFY2(stopped.exit == 0, stopped.out + stopped.error);
    qint64 records = 0;
    for (const QJsonObject& object : stopped.objects()) {
      records += object[QStringLiteral("folder")].toString().contains(QStringLiteral("/orders-")) ? object[QStringLiteral("records")].toInteger() : 0;
    }
    QCOMPARE(records, 10000);
    const Run decoded = run_hw({QStringLiteral("log"), QStringLiteral("dump"), QStringLiteral("--decode"), folder.path()});
    QCOMPARE(decoded.exit, 0);
    QVERIFY(decoded.out.contains("TopicRecord {name=orders"));
    QVERIFY2(decoded.out.contains("OffsetCommitKey {group=billing topic=orders"), decoded.out.right(3000));
    QVERIFY(decoded.out.contains("LEADER_CHANGE"));
  }
};

QTEST_GUILESS_MAIN(TestHwLog)
#include "tst_hw_log.moc"
