// SPDX-License-Identifier: Apache-2.0
// RecordScan without a window: what it finds, in which order, how it stops, and what a million records cost. The figures are
// printed; the guards are generous, because machines differ.
#include <QElapsedTimer>
#include <QFile>
#include <QJsonDocument>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QThreadPool>
#include <atomic>
#include <map>
#include <set>

#include "engine/wire/record/batch.h"
#include "engine/wire/record/batch_builder.h"
#include "ui/filter/filter_language.h"
#include "ui/filter/record_fields.h"
#include "ui/session/record_scan.h"
#include "ui/session/volume.h"
#include "ui/views/record_export.h"

using namespace hw;      // NOLINT(google-build-using-namespace): a test
using namespace hw::ui;  // NOLINT(google-build-using-namespace): a test

namespace {

constexpr std::int64_t kBegin = 1'764'417'810'000;

// Batches in memory, told on a thread of its own: the log of an engine without the engine.
class MemoryBatches final : public BatchReader {
 public:
  MemoryBatches() { pool_.setMaxThreadCount(1); }
  ~MemoryBatches() override { pool_.waitForDone(); }
  void fill(std::int32_t partition, std::int64_t records, int per_batch, int keys, wire::Compression codec = wire::Compression::none) {
    Log& log = logs_[partition];
    for (std::int64_t at = 0; at < records;) {
      wire::BatchOptions options;
      options.base_offset = Offset(log.end);
      options.compression = codec;
      wire::BatchBuilder builder(options, 1 << 15);
      for (int i = 0; i < per_batch && at < records; ++i, ++at) {
        const std::string key = "key-" + std::to_string(at % keys);
        const std::string value = "{\"id\":" + std::to_string(at) + ",\"item\":\"tea\",\"amount\":" + std::to_string(at % 90) + ",\"note\":\"some more words\"}";
        builder.append(key, value, kBegin + log.end + i);
      }
      add(partition, builder);
    }
  }
  void add(std::int32_t partition, wire::BatchBuilder& builder) {
    Log& log = logs_[partition];
    const std::int64_t base = log.end;
    builder.options().base_offset = Offset(base);
    const std::int32_t count = builder.count();
    log.batches.emplace(base, builder.finish());
    log.end = base + count;
  }
  [[nodiscard]] std::vector<ScanPart> parts() const {
    std::vector<ScanPart> out;
    for (const auto& [partition, log] : logs_) {
      out.push_back({partition, 0, log.end});
    }
    return out;
  }
  void read(const BatchQuery& query, std::function<void(BatchAnswer)> done) override {
    pool_.start([this, query, done = std::move(done)] {
      BatchAnswer answer;
      if (fails) {
        answer.error = QStringLiteral("the disk is on fire");
        done(std::move(answer));
        return;
      }
      const Log& log = logs_[query.partition];
      answer.high_watermark = log.end;
      ByteBuilder out(static_cast<std::size_t>(query.max_bytes) + 1'024);
      auto at = log.batches.upper_bound(query.from_offset);
      if (at != log.batches.begin() && query.from_offset < log.end) {
        --at;
        for (; at != log.batches.end() && (out.size() == 0 || out.size() + at->second.size() <= static_cast<std::size_t>(query.max_bytes)); ++at) {
          out.append(at->second.span());
        }
      }
      if (query.committed) {
        answer.aborted = aborted;
      }
      ++reads;
      answer.bytes = out.finish();
      done(std::move(answer));
    });
  }
  std::vector<BatchAnswer::Aborted> aborted;  // of every partition
  std::atomic<bool> fails{false};
  std::atomic<int> reads{0};

 private:
  struct Log {
    std::map<std::int64_t, Bytes> batches;
    std::int64_t end = 0;
  };
  std::map<std::int32_t, Log> logs_;
  QThreadPool pool_;
};

filter::ProgramPtr program(const char* text) {
  const filter::Parsed parsed = filter::parse(QString::fromUtf8(text), *filter::record_vocabulary());
  Q_ASSERT(parsed.ok());
  return parsed.program;
}

struct Found {
  explicit Found(RecordScan& scan) {
    QObject::connect(&scan, &RecordScan::rows, &scan, [this](const std::vector<RecordRow>& block, bool above) {
      if (rows.empty() && first_ms < 0) {
        first_ms = clock.elapsed();
      }
      rows.insert(above ? rows.begin() : rows.end(), block.begin(), block.end());
    });
    clock.start();
  }
  std::vector<RecordRow> rows;
  QElapsedTimer clock;
  std::int64_t first_ms = -1;
};

}  // namespace

class TestScan : public QObject {
  Q_OBJECT

  static void run(RecordScan& scan, const std::shared_ptr<MemoryBatches>& reader, ScanRequest request) {
    QSignalSpy finished(&scan, &RecordScan::finished);
    request.topic = "t";
    if (request.parts.empty()) {
      request.parts = reader->parts();
    }
    scan.start(reader, std::move(request));
    QTRY_COMPARE_WITH_TIMEOUT(finished.size(), 1, 60'000);
  }

 private slots:
  void findsByKey_data() {
    QTest::addColumn<bool>("newest_first");
    QTest::addColumn<int>("codec");
    QTest::newRow("oldest first") << false << 0;
    QTest::newRow("newest first") << true << 0;
    QTest::newRow("newest first, zstd") << true << static_cast<int>(wire::Compression::zstd);
  }
  void findsByKey() {
    QFETCH(bool, newest_first);
    QFETCH(int, codec);
    const auto reader = std::make_shared<MemoryBatches>();
    for (int p = 0; p < 3; ++p) {
      reader->fill(p, 20'000, 37, 1'000, static_cast<wire::Compression>(codec));
    }
    RecordScan scan;
    Found found(scan);
    ScanRequest request;
    request.filter = program("key == \"key-7\"");
    request.newest_first = newest_first;
    run(scan, reader, std::move(request));
    QCOMPARE(scan.progress().records, 60'000);
    QCOMPARE(scan.progress().hits, 60);
    QCOMPARE(scan.progress().percent(), 100);
    QCOMPARE(found.rows.size(), std::size_t{60});
    std::map<int, std::int64_t> last;
    for (const RecordRow& row : found.rows) {
      QCOMPARE(row.offset % 1'000, 7);
      QVERIFY(!last.contains(row.partition) || last[row.partition] < row.offset);  // Kafka's order holds in each partition
      last[row.partition] = row.offset;
    }
    // Between partitions the time decides.
    for (std::size_t i = 1; i < found.rows.size(); ++i) {
      QVERIFY(found.rows[i - 1].timestamp_ms <= found.rows[i].timestamp_ms);
    }
  }

  void theLogsOrderStandsWhateverTheTimesSay() {
    const auto reader = std::make_shared<MemoryBatches>();
    std::uint32_t seed = 7;
    for (int p = 0; p < 3; ++p) {
      for (int b = 0; b < 300; ++b) {
        wire::BatchBuilder builder;
        for (int i = 0; i < 10; ++i) {
          seed = seed * 1'664'525U + 1'013'904'223U;
          builder.append("k", "v", kBegin + b * 100 + static_cast<std::int64_t>((seed >> 16) % 2'000));
        }
        reader->add(p, builder);
      }
    }
    for (const bool newest : {false, true}) {
      RecordScan scan;
      Found found(scan);
      ScanRequest request;
      request.newest_first = newest;
      run(scan, reader, std::move(request));
      QCOMPARE(found.rows.size(), std::size_t{9'000});
      std::map<int, std::int64_t> next;
      for (const RecordRow& row : found.rows) {
        QCOMPARE(row.offset, next[row.partition]++);
      }
    }
  }

  void partitionsAndOffsetsAreNotReadInVain() {
    const auto reader = std::make_shared<MemoryBatches>();
    for (int p = 0; p < 8; ++p) {
      reader->fill(p, 5'000, 50, 10);
    }
    RecordScan scan;
    Found found(scan);
    ScanRequest request;
    request.filter = program("partition == 3 && offset in 100..109");
    run(scan, reader, std::move(request));
    QCOMPARE(found.rows.size(), std::size_t{10});
    QCOMPARE(scan.progress().records, 40'000);  // ruled out is looked at
    QVERIFY(reader->reads <= 3);
  }

  void theListIsBoundedTheCountIsNot() {
    const auto reader = std::make_shared<MemoryBatches>();
    reader->fill(0, 30'000, 100, 10);
    RecordScan scan;
    Found found(scan);
    ScanRequest request;
    request.max_rows = 1'000;
    request.newest_first = true;
    run(scan, reader, std::move(request));
    QCOMPARE(found.rows.size(), std::size_t{1'000});
    QCOMPARE(scan.progress().hits, 30'000);
    QVERIFY(found.rows.back().offset == 29'999);
  }

  void bytesAreBoundedToo() {
    const auto reader = std::make_shared<MemoryBatches>();
    for (int i = 0; i < 100; ++i) {
      wire::BatchBuilder builder;
      builder.append("key-" + std::to_string(i), std::string(20'000, 'x'), kBegin + i);
      reader->add(0, builder);
    }
    for (const bool latest : {false, true}) {
      RecordScan scan;
      Found found(scan);
      ScanRequest request;
      request.max_bytes = 200'000;
      request.latest_per_key = latest;
      run(scan, reader, std::move(request));
      QCOMPARE(scan.progress().hits, 100);
      QVERIFY(found.rows.size() >= 9 && found.rows.size() <= 11);
      QCOMPARE(scan.progress().keys_cut, latest);
    }
  }

  void longValuesAreCutAndKeepNothingAlive() {
    const auto reader = std::make_shared<MemoryBatches>();
    wire::BatchBuilder builder;
    builder.append("k", std::string(1 << 20, 'x'), kBegin);
    builder.append("k", std::nullopt, kBegin);
    builder.append("k", "", kBegin);
    reader->add(0, builder);
    RecordScan scan;
    Found found(scan);
    run(scan, reader, {});
    QCOMPARE(found.rows.size(), std::size_t{3});
    QVERIFY(found.rows[0].valueCut());
    QCOMPARE(found.rows[0].value->size(), std::size_t{64 << 10});
    QCOMPARE(found.rows[0].value_size, std::int64_t{1 << 20});
    QVERIFY(!found.rows[1].value.has_value());
    QVERIFY(found.rows[2].value.has_value() && found.rows[2].value->empty());
    QVERIFY(found.rows[0].value->block()->capacity < (70 << 10));
  }

  void latestPerKey() {
    const auto reader = std::make_shared<MemoryBatches>();
    reader->fill(0, 10'000, 33, 100);
    reader->fill(1, 10'000, 33, 50);
    RecordScan scan;
    Found found(scan);
    ScanRequest request;
    request.latest_per_key = true;
    run(scan, reader, std::move(request));
    QCOMPARE(scan.progress().keys, 100);
    QCOMPARE(found.rows.size(), std::size_t{100});
    std::set<std::string> keys;
    for (const RecordRow& row : found.rows) {
      keys.insert(std::string(row.key->text()));
      QVERIFY(row.offset >= 9'900);
    }
    QCOMPARE(keys.size(), std::size_t{100});
  }

  void onlyFromATimeOn() {
    const auto reader = std::make_shared<MemoryBatches>();
    reader->fill(0, 10'000, 100, 10);
    RecordScan scan;
    Found found(scan);
    ScanRequest request;
    request.from_time_ms = kBegin + 9'950;
    run(scan, reader, std::move(request));
    QCOMPARE(found.rows.size(), std::size_t{50});
  }

  void controlBatchesOnlyInRaw() {
    const auto reader = std::make_shared<MemoryBatches>();
    wire::BatchBuilder builder;
    builder.append("k", "v", kBegin);
    reader->add(0, builder);
    wire::BatchOptions control;
    control.control = true;
    control.transactional = true;
    wire::BatchBuilder marker(control);
    const std::byte key[] = {std::byte{0}, std::byte{0}, std::byte{0}, std::byte{1}};
    wire::RecordIn record;
    record.key = ByteSpan(key);
    record.value = ByteSpan(key);
    record.timestamp_ms = kBegin;
    marker.append(record);
    reader->add(0, marker);
    for (const auto& [isolation, rows] : {std::pair(Isolation::committed, 1U), std::pair(Isolation::all, 1U), std::pair(Isolation::raw, 2U)}) {
      RecordScan scan;
      Found found(scan);
      ScanRequest request;
      request.isolation = isolation;
      run(scan, reader, std::move(request));
      QCOMPARE(found.rows.size(), std::size_t{rows});
    }
  }

  void abortedRecordsAreLeftOutWhereCommitted() {
    const auto reader = std::make_shared<MemoryBatches>();
    const auto data = [&reader](std::int64_t producer, const char* value) {
      wire::BatchOptions options;
      options.transactional = true;
      options.producer_id = ProducerId(producer);
      options.producer_epoch = ProducerEpoch(0);
      options.base_sequence = 0;
      wire::BatchBuilder builder(options);
      builder.append("k", value, kBegin);
      reader->add(0, builder);
    };
    const auto marker = [&reader](std::int64_t producer, bool commit) {
      wire::BatchOptions options;
      options.transactional = true;
      options.control = true;
      options.producer_id = ProducerId(producer);
      wire::BatchBuilder builder(options);
      const std::byte key[] = {std::byte{0}, std::byte{0}, std::byte{0}, std::byte{commit ? std::uint8_t{1} : std::uint8_t{0}}};
      wire::RecordIn record;
      record.key = ByteSpan(key);
      record.timestamp_ms = kBegin;
      builder.append(record);
      reader->add(0, builder);
    };
    data(1, "aborted");   // 0
    data(2, "kept");      // 1
    marker(1, false);     // 2
    data(1, "kept too");  // 3
    marker(2, true);      // 4
    marker(1, true);      // 5
    reader->aborted = {{1, 0}};
    for (const auto& [isolation, offsets] : {std::pair(Isolation::committed, std::vector<std::int64_t>{1, 3}),
                                             std::pair(Isolation::all, std::vector<std::int64_t>{0, 1, 3}),
                                             std::pair(Isolation::raw, std::vector<std::int64_t>{0, 1, 2, 3, 4, 5})}) {
      RecordScan scan;
      Found found(scan);
      ScanRequest request;
      request.isolation = isolation;
      run(scan, reader, std::move(request));
      std::vector<std::int64_t> got;
      for (const RecordRow& row : found.rows) {
        got.push_back(row.offset);
      }
      QCOMPARE(got, offsets);
    }
  }

  void errorsAreTold() {
    const auto reader = std::make_shared<MemoryBatches>();
    reader->fill(0, 1'000, 100, 10);
    reader->fails = true;
    RecordScan scan;
    run(scan, reader, {});
    QCOMPARE(scan.progress().error, QStringLiteral("the disk is on fire"));
    QSignalSpy finished(&scan, &RecordScan::finished);
    scan.start(nullptr, {});
    QTRY_COMPARE(finished.size(), 1);
    QVERIFY(!scan.progress().error.isEmpty());
    QVERIFY(!scan.running());
  }

  void whoeverAskedMayGoAnyTime() {
    const auto reader = std::make_shared<MemoryBatches>();
    reader->fill(0, 50'000, 100, 10);
    for (int i = 0; i < 50; ++i) {
      RecordScan scan;
      VolumeSampler sampler;
      ScanRequest request;
      request.topic = "t";
      request.parts = reader->parts();
      scan.start(reader, request);
      sampler.start(reader, "t", reader->parts());
      if (i % 2 == 0) {
        QCoreApplication::processEvents();
      }
      if (i % 3 == 0) {
        scan.start(reader, request);  // gives the first one up
      }
    }
    RecordScan scan;
    Found found(scan);
    run(scan, reader, {});
    QCOMPARE(scan.progress().hits, 50'000);
  }

  void nothingToReadFinishesToo() {
    const auto reader = std::make_shared<MemoryBatches>();
    reader->fill(0, 10, 10, 10);
    RecordScan scan;
    ScanRequest request;
    request.parts = {{0, 5, 5}};
    run(scan, reader, std::move(request));
    QCOMPARE(scan.progress().hits, 0);
    QVERIFY(scan.progress().done);
  }

  void exportIsStreamedAndReadBack() {
    const auto reader = std::make_shared<MemoryBatches>();
    wire::BatchBuilder builder;
    builder.append("a,\"b\"\n", "{\"x\":1}", kBegin);
    builder.append(std::nullopt, std::nullopt, kBegin + 1);
    builder.append("", "", kBegin + 2);
    builder.append(std::string_view("\xff\x00", 2), "h\xc3\xa9", kBegin + 3);
    reader->add(0, builder);
    reader->fill(1, 25'000, 100, 10);
    QTemporaryDir folder;
    for (const auto format : {RecordExport::Format::csv, RecordExport::Format::ndjson}) {
      RecordExport exporter;
      QSignalSpy finished(&exporter, &RecordExport::finished);
      ScanRequest request;
      request.topic = "t";
      request.parts = reader->parts();
      const QString path = folder.filePath(format == RecordExport::Format::csv ? QStringLiteral("a.csv") : QStringLiteral("a.ndjson"));
      exporter.start(reader, std::move(request), path, format);
      QTRY_COMPARE_WITH_TIMEOUT(finished.size(), 1, 60'000);
      QCOMPARE(finished[0][0].toString(), QString());
      QCOMPARE(finished[0][1].toLongLong(), 25'004);
      QFile file(path);
      QVERIFY(file.open(QIODevice::ReadOnly));
      const QByteArray text = file.readAll();
      if (format == RecordExport::Format::csv) {
        QVERIFY(text.startsWith("partition,offset,timestamp,key,value,headers\n0,0,2025-11-29T12:03:30.000Z,\"a,\"\"b\"\"\n\",\"{\"\"x\"\":1}\",\n0,1,"));
        QVERIFY(text.contains("0,1,2025-11-29T12:03:30.001Z,,,\n"));
        QVERIFY(text.contains("0,2,2025-11-29T12:03:30.002Z,\"\",\"\",\n"));
        QVERIFY(text.contains("\"base64:/wA=\",\"h\xc3\xa9\""));
        QCOMPARE(text.count('\n'), 25'004 + 2);
      } else {
        const QList<QByteArray> lines = text.split('\n');
        QCOMPARE(lines.size(), 25'005);
        for (const int i : {0, 1, 2, 3, 100, 25'003}) {
          QJsonParseError error{};
          const QJsonDocument doc = QJsonDocument::fromJson(lines[i], &error);
          QVERIFY2(error.error == QJsonParseError::NoError, lines[i].constData());
          QCOMPARE(doc[QStringLiteral("topic")].toString(), QStringLiteral("t"));
        }
        QVERIFY(QJsonDocument::fromJson(lines[1])[QStringLiteral("value")].isNull());
        QCOMPARE(QJsonDocument::fromJson(lines[0])[QStringLiteral("key")].toString(), QStringLiteral("a,\"b\"\n"));
      }
    }
    // A file that is not finished does not appear.
    RecordExport exporter;
    ScanRequest request;
    request.topic = "t";
    request.parts = reader->parts();
    exporter.start(reader, std::move(request), folder.filePath(QStringLiteral("b.csv")), RecordExport::Format::csv);
    exporter.cancel();
    QTest::qWait(50);
    QVERIFY(!QFile::exists(folder.filePath(QStringLiteral("b.csv"))));
    // A place that cannot be written is said.
    QSignalSpy failed(&exporter, &RecordExport::finished);
    ScanRequest other;
    other.topic = "t";
    other.parts = reader->parts();
    exporter.start(reader, std::move(other), folder.filePath(QStringLiteral("no/such/place.csv")), RecordExport::Format::csv);
    QTRY_COMPARE(failed.size(), 1);
    QVERIFY(!failed[0][0].toString().isEmpty());
  }

  void theVolumeIsCounted() {
    const auto reader = std::make_shared<MemoryBatches>();
    reader->fill(0, 2'000, 10, 10);     // batch by batch
    reader->fill(1, 200'000, 100, 10);  // by looks
    VolumeSampler sampler;
    Volume volume;
    QSignalSpy ready(&sampler, &VolumeSampler::ready);
    connect(&sampler, &VolumeSampler::ready, &sampler, [&volume](const Volume& v) { volume = v; });
    sampler.start(reader, "t", reader->parts());
    QTRY_COMPARE(ready.size(), 1);
    QVERIFY(volume.sampled);
    QCOMPARE(volume.first_ms, kBegin);
    QVERIFY(volume.last_ms >= kBegin + 199'999);
    const std::vector<double> bins = volume.bins(volume.first_ms, volume.last_ms + 1, 50);
    double sum = 0;
    for (const double b : bins) {
      sum += b;
    }
    QVERIFY2(sum > 200'000 && sum < 203'000, qPrintable(QString::number(sum)));
    QVERIFY(bins[25] > 3'500 && bins[25] < 4'500);  // a thousand a second in each, evenly
    QVERIFY(reader->reads < 100);
  }

  // A batch of two moments is no even stream between them.
  void fewRecordsCountAtTheirOwnTime() {
    const auto reader = std::make_shared<MemoryBatches>();
    wire::BatchBuilder builder(wire::BatchOptions{}, 1 << 15);
    for (int i = 0; i < 6; ++i) {
      builder.append(std::string("key"), std::string("value"), kBegin + (i < 4 ? 0 : 800));
    }
    reader->add(0, builder);
    VolumeSampler sampler;
    Volume volume;
    QSignalSpy ready(&sampler, &VolumeSampler::ready);
    connect(&sampler, &VolumeSampler::ready, &sampler, [&volume](const Volume& v) { volume = v; });
    sampler.start(reader, "t", reader->parts());
    QTRY_COMPARE(ready.size(), 1);
    QCOMPARE(volume.bins(kBegin, kBegin + 801, 4), (std::vector<double>{4, 0, 0, 2}));
  }

  void aMillionRecords() {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    constexpr std::int64_t kRecords = 100'000;
#else
    constexpr std::int64_t kRecords = 1'000'000;
#endif
    const auto reader = std::make_shared<MemoryBatches>();
    for (int p = 0; p < 4; ++p) {
      reader->fill(p, kRecords / 4, 100, 5'000);
    }
    const auto measure = [&](const char* what, const char* text, bool newest) {
      RecordScan scan;
      Found found(scan);
      ScanRequest request;
      request.filter = program(text);
      request.newest_first = newest;
      run(scan, reader, std::move(request));
      qInfo("scan_%s_ms total=%lld first=%lld hits=%lld records=%lld", what, static_cast<long long>(scan.progress().elapsed_ms),
            static_cast<long long>(found.first_ms), static_cast<long long>(scan.progress().hits), static_cast<long long>(scan.progress().records));
      QCOMPARE(scan.progress().records, kRecords);
      QVERIFY(scan.progress().hits > 0);
      QVERIFY2(scan.progress().elapsed_ms < 40'000, "2 s on a quiet machine");
      QVERIFY2(found.first_ms < 5'000, "150 ms on a quiet machine");
    };
    measure("key", "key == \"key-4242\"", true);
    measure("prefix", "key ~ \"^key-42\"", false);
    measure("regex", "value ~ \"amount.:8[89]\"", true);
    measure("json", "value.amount > 88", true);
    measure("word", "words", true);
    // Giving up.
    RecordScan scan;
    ScanRequest request;
    request.topic = "t";
    request.parts = reader->parts();
    request.filter = program("value ~ \"amount.:8[89]\"");
    QSignalSpy progressed(&scan, &RecordScan::progressed);
    scan.start(reader, std::move(request));
    QTRY_VERIFY(progressed.size() >= 1);
    QElapsedTimer clock;
    clock.start();
    scan.cancel();
    QVERIFY(!scan.running());
    // The reader's thread is free again as soon as the scan has noticed.
    std::atomic<bool> answered{false};
    reader->read({}, [&answered](const BatchAnswer&) { answered = true; });
    QTRY_VERIFY(answered.load());
    qInfo("scan_cancel_ms %lld", static_cast<long long>(clock.elapsed()));
    QVERIFY2(clock.elapsed() < 2'000, "50 ms on a quiet machine");
  }
};

QTEST_GUILESS_MAIN(TestScan)
#include "tst_scan.moc"
