// SPDX-License-Identifier: Apache-2.0
// A partition directory that Kafka 4.4.0 wrote: we open it, read it, go on with it, and build the same indexes from its log.
#include <QDir>
#include <QFile>
#include <QTest>

#include "log_fixture.h"

using namespace hw;        // NOLINT(google-build-using-namespace): a test
using namespace hw::test;  // NOLINT(google-build-using-namespace)
using log::PartitionLog;
using wire::ErrorCode;

namespace {

struct Golden {
  Golden() {
    const QDir from(QString(HW_GOLDEN_DIR) + "/kafka-4.4-partition");
    to = QString::fromStdString(place.root) + "/small-0";
    QDir().mkpath(to);
    for (const QString& name : from.entryList(QDir::Files)) {
      QFile::copy(from.filePath(name), to + "/" + name);
      QFile::setPermissions(to + "/" + name, QFile::ReadOwner | QFile::WriteOwner);
    }
    parameters.directory = to.toStdString();
    parameters.identity = {"small", PartitionIndex(0), Uuid{}};
    parameters.config.index_interval_bytes = 150;
    // A day has not passed since the producers wrote.
    parameters.now = WallTime{1'795'971'700'000};
  }
  std::unique_ptr<PartitionLog> open(bool clean) {
    parameters.clean = clean;
    auto log = PartitionLog::open({place.disk.get(), nullptr, &events, BrokerId(1), nullptr}, parameters);
    return log ? std::move(*log) : nullptr;
  }
  [[nodiscard]] QByteArray bytes(const QString& name) const {
    QFile file(to + "/" + name);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray("not there");
  }
  Place place{"posix"};
  QString to;
  Events events;
  log::OpenParameters parameters;
};

}  // namespace

class TestLogGolden : public QObject {
  Q_OBJECT

 private slots:
  void opens_and_reads();
  void builds_the_same_indexes();
  void goes_on();
  void untrimmed_indexes();
};

void TestLogGolden::opens_and_reads() {
  Golden golden;
  const std::unique_ptr<PartitionLog> log = golden.open(true);
  QVERIFY(log != nullptr);
  QCOMPARE(log->log_end_offset(), Offset(300));
  QCOMPARE(log->latest_epoch(), LeaderEpoch(0));
  QCOMPARE(log->producers().size(), std::size_t{5});
  for (const PartitionLog::ProducerInfo& producer : log->producers()) {
    QCOMPARE(producer.last_sequence, 59);
    QCOMPARE(producer.epoch, ProducerEpoch(0));
  }
  std::int64_t next = 0;
  int codecs = 0;
  while (next < 300) {
    const Bytes bytes = read(*log, next, 5'000);
    wire::BatchCursor cursor(bytes.span());
    wire::BatchView batch;
    while (cursor.next(batch)) {
      QVERIFY(batch.crc_ok());
      codecs |= 1 << batch.compression_bits();
      auto records = wire::RecordIterator::open(batch);
      QVERIFY(records);
      wire::RecordView record;
      while (records->next(record)) {
        QCOMPARE(record.offset.value(), next);
        const std::string expected = "value number " + std::to_string(next % 60) + " ";
        QCOMPARE(std::string(as_text(*record.value).substr(0, expected.size())), expected);
        QCOMPARE(std::string(as_text(*record.key)), "key" + std::to_string(next % 60 % 7));
        ++next;
      }
      QVERIFY(!records->failed());
    }
  }
  QCOMPARE(codecs, 0b11111);
  // Every record's time leads back to a record of that time.
  const Result<log::TimestampOffset> newest = log->find_max_timestamp();
  QVERIFY(newest && newest->offset.value() > 200);
  QCOMPARE(log->find_by_timestamp(newest->timestamp_ms)->timestamp_ms, newest->timestamp_ms);
}

void TestLogGolden::builds_the_same_indexes() {
  Golden golden;
  const QByteArray index = golden.bytes("00000000000000000000.index");
  const QByteArray times = golden.bytes("00000000000000000000.timeindex");
  QVERIFY(index.size() > 500);
  QFile::remove(golden.to + "/00000000000000000000.index");
  QFile::remove(golden.to + "/00000000000000000000.timeindex");
  QFile::remove(golden.to + "/00000000000000000300.snapshot");
  const std::unique_ptr<PartitionLog> log = golden.open(false);
  QVERIFY(log != nullptr);
  QCOMPARE(log->log_end_offset(), Offset(300));
  QCOMPARE(log->producers().size(), std::size_t{5});
  QVERIFY(log->close(golden.parameters.now));
  QCOMPARE(golden.bytes("00000000000000000000.index"), index);
  QCOMPARE(golden.bytes("00000000000000000000.timeindex"), times);
  QVERIFY(golden.events.of<event::LogRecovered>().empty());
}

void TestLogGolden::goes_on() {
  Golden golden;
  std::unique_ptr<PartitionLog> log = golden.open(true);
  const ProducerId producer = log->producers().front().producer_id;
  const BatchSpec next{.timestamp_ms = 1'795'971'600'000, .producer_id = producer.value(), .sequence = 60};
  QCOMPARE(append(*log, make_batch(next), 1'795'971'700'000).base_offset, Offset(300));
  QCOMPARE(append(*log, make_batch({.timestamp_ms = 1'795'971'600'000, .producer_id = producer.value(), .sequence = 62}),
                  1'795'971'700'000)
               .error,
           ErrorCode::out_of_order_sequence_number);
  QVERIFY(log->close(golden.parameters.now));
  log = golden.open(true);
  QCOMPARE(log->log_end_offset(), Offset(301));
  QVERIFY(append(*log, make_batch(next), 1'795'971'700'000).duplicate);
}

// A Kafka that did not stop cleanly, or its metadata log, leaves indexes as long as they may become, filled with zeros.
void TestLogGolden::untrimmed_indexes() {
  for (const bool clean : {true, false}) {
    Golden golden;
    for (const char* name : {"/00000000000000000000.index", "/00000000000000000000.timeindex"}) {
      QFile file(golden.to + name);
      QVERIFY(file.open(QIODevice::ReadWrite));
      QVERIFY(file.resize(file.size() + 24'000));
    }
    std::unique_ptr<PartitionLog> log = golden.open(clean);
    QVERIFY(log != nullptr);
    QCOMPARE(log->log_end_offset(), Offset(300));
    QVERIFY(log->find_max_timestamp()->offset.value() > 200);
    for (int i = 0; i < 20; ++i) {
      QCOMPARE(append(*log, make_batch({.value_size = 100, .timestamp_ms = 1'795'971'600'000}), 1'795'971'700'000).error,
               ErrorCode::none);
    }
    QCOMPARE(log->segments().size(), std::size_t{1});
    QVERIFY(log->close(golden.parameters.now));
    QVERIFY(golden.bytes("00000000000000000000.index").size() < 2'000);
    log = golden.open(true);
    for (std::int64_t offset = 0; offset < 320; ++offset) {
      QCOMPARE(offsets_of(read(*log, offset, 1)).empty(), false);
    }
  }
}

QTEST_APPLESS_MAIN(TestLogGolden)
#include "tst_log_golden.moc"
