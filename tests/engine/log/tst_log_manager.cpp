// SPDX-License-Identifier: Apache-2.0
// One log directory: formatting, locking, loading, deleting, checkpoints, shutdown; and the exact text of its small files.
#include <QTest>
#include <unistd.h>

#include "engine/env/fault_disk.h"
#include "engine/log/checkpoint_file.h"
#include "engine/log/leader_epoch_cache.h"
#include "engine/log/log_directory.h"
#include "engine/log/producer_state.h"
#include "log_fixture.h"

using namespace hw;        // NOLINT(google-build-using-namespace): a test
using namespace hw::test;  // NOLINT(google-build-using-namespace)
using log::LogManager;
using log::LogManagerOptions;
using log::PartitionLog;
using wire::ErrorCode;

namespace {

constexpr WallTime kNow{1'000};

LogManagerOptions options_for(const Place& place) {
  LogManagerOptions options;
  options.directories = {place.root};
  options.node_id = BrokerId(1);
  return options;
}

std::unique_ptr<LogManager> open_manager(env::Disk& disk, const LogManagerOptions& options, event::EventSink* events = nullptr) {
  auto manager = LogManager::open(disk, options, events, Prng(5));
  if (!manager) {
    qFatal("open: %s", manager.error().detail.c_str());
  }
  return std::move(*manager);
}

log::LogManager::Wanted everything() {
  return [](const log::LogIdentity&) { return std::optional<log::LogConfig>(log::LogConfig{}); };
}

std::string text_of(env::Disk& disk, const std::string& path) {
  const Result<Bytes> bytes = disk.read_whole(path);
  return bytes ? std::string(bytes->text()) : std::string("not there");
}

std::vector<std::string> names_in(Place& place) {
  Result<std::vector<std::string>> names = place.disk->list(place.root);
  return names ? std::move(names.value()) : std::vector<std::string>{};
}

void run_jobs(LogManager& manager) {
  for (log::DiskJob& job : manager.jobs().take()) {
    manager.job_done(job, job.work(), kNow);
  }
}

}  // namespace

class TestLogManager : public QObject {
  Q_OBJECT

 private:
  static void disks() {
    QTest::addColumn<QString>("kind");
    QTest::newRow("memory") << "memory";
    QTest::newRow("posix") << "posix";
  }

 private slots:
  void formats_and_locks_data() { disks(); }
  void formats_and_locks();
  void refuses_foreign_folders();
  void loads_what_was_there_data() { disks(); }
  void loads_what_was_there();
  void deletes_data() { disks(); }
  void deletes();
  void strays();
  void checkpoints_on_time();
  void checkpoints_before_logs_are_open();
  void fifty_crashes();
  void many_partitions();
  void checkpoint_text();
  void directory_names();
  void epoch_cache();
  void producer_snapshot_bytes();
  void config();
};

void TestLogManager::formats_and_locks() {
  QFETCH(QString, kind);
  Place place(kind);
  Prng prng(3);
  QCOMPARE(LogManager::read_meta(*place.disk, place.root).error().code, Errc::not_found);
  const auto meta = LogManager::format(*place.disk, place.root, "Some-ClusterId", BrokerId(1), prng);
  QVERIFY(meta);
  QCOMPARE(text_of(*place.disk, place.root + "/meta.properties"),
           "#\ncluster.id=Some-ClusterId\ndirectory.id=" + meta->directory_id.text() + "\nnode.id=1\nversion=1\n");
  QCOMPARE(LogManager::format(*place.disk, place.root, "x", BrokerId(1), prng).error().code, Errc::exists);
  auto manager = open_manager(*place.disk, options_for(place));
  QCOMPARE(manager->meta().directory_id, meta->directory_id);
  QVERIFY(!manager->was_clean());
  const auto second = LogManager::open(*place.disk, options_for(place), nullptr, Prng(1));
  QCOMPARE(second.error().code, Errc::locked);
  if (kind == "posix") {
    QVERIFY(second.error().detail.find(std::to_string(getpid())) != std::string::npos);  // says who
  }
  manager.reset();
  QVERIFY(LogManager::open(*place.disk, options_for(place), nullptr, Prng(1)));
}

void TestLogManager::refuses_foreign_folders() {
  Place place("posix");
  Prng prng(3);
  QVERIFY(LogManager::format(*place.disk, place.root, "mine", BrokerId(1), prng));
  LogManagerOptions options = options_for(place);
  options.cluster_id = "other";
  QCOMPARE(LogManager::open(*place.disk, options, nullptr, Prng(1)).error().code, Errc::invalid);
  options = options_for(place);
  options.node_id = BrokerId(2);
  QCOMPARE(LogManager::open(*place.disk, options, nullptr, Prng(1)).error().code, Errc::invalid);
  const std::string newer = "version=2\ncluster.id=mine\nnode.id=1\n";
  QVERIFY(place.disk->write_whole(place.root + "/meta.properties", as_bytes(newer)));
  QVERIFY(place.disk->remove(place.root + "/.lock"));
  const std::vector<std::string> names = names_in(place);
  const auto refused = LogManager::open(*place.disk, options_for(place), nullptr, Prng(1));
  QCOMPARE(refused.error().code, Errc::unsupported);
  QVERIFY(refused.error().detail.find("newer") != std::string::npos);
  QCOMPARE(text_of(*place.disk, place.root + "/meta.properties"), newer);
  QCOMPARE(names_in(place), names);  // nothing was made, not even a lock
  // As Kafka itself writes it.
  const std::string kafka = "#\n#Sun Nov 29 16:00:00 UTC 2026\nnode.id=1\ndirectory.id=" + kTopicId.text() +
                            "\nversion=1\ncluster.id=mine\n";
  QVERIFY(place.disk->write_whole(place.root + "/meta.properties", as_bytes(kafka)));
  QCOMPARE(open_manager(*place.disk, options_for(place))->meta().cluster_id, std::string("mine"));
}

void TestLogManager::loads_what_was_there() {
  QFETCH(QString, kind);
  Place place(kind);
  Prng prng(3);
  QVERIFY(LogManager::format(*place.disk, place.root, "c", BrokerId(1), prng));
  const Uuid other{7, 9};
  {
    auto manager = open_manager(*place.disk, options_for(place));
    PartitionLog* first = *manager->create_log({"some-topic-1", PartitionIndex(0), kTopicId}, {}, kNow);
    PartitionLog* second = *manager->create_log({"other", PartitionIndex(12), other}, {}, kNow);
    QCOMPARE(*manager->create_log({"other", PartitionIndex(12), other}, {}, kNow), second);
    QCOMPARE(manager->create_log({"other", PartitionIndex(12), kTopicId}, {}, kNow).error().code, Errc::exists);
    for (int i = 0; i < 5; ++i) {
      QCOMPARE(append(*first, make_batch({})).error, ErrorCode::none);
    }
    append(*second, make_batch({.records = 3, .producer_id = 4}));
    first->maybe_advance_high_watermark(Offset(4));
    QVERIFY(first->advance_log_start_offset(Offset(2)));
    QVERIFY(manager->shut_down(kNow, 77));
    QCOMPARE(text_of(*place.disk, place.root + "/.kafka_cleanshutdown"),
             std::string("{\"version\":0,\"brokerEpoch\":77}"));
    QCOMPARE(text_of(*place.disk, place.root + "/recovery-point-offset-checkpoint"),
             std::string("0\n2\nother 12 3\nsome-topic-1 0 5\n"));
    QCOMPARE(text_of(*place.disk, place.root + "/replication-offset-checkpoint"),
             std::string("0\n2\nother 12 0\nsome-topic-1 0 4\n"));
    QCOMPARE(text_of(*place.disk, place.root + "/log-start-offset-checkpoint"),
             std::string("0\n1\nsome-topic-1 0 2\n"));
    QCOMPARE(text_of(*place.disk, place.root + "/some-topic-1-0/partition.metadata"),
             "version: 0\ntopic_id: " + kTopicId.text());
  }
  for (int life = 0; life < 2; ++life) {  // two that end before they open their logs
    auto manager = open_manager(*place.disk, options_for(place));
    QVERIFY(manager->was_clean());
    QCOMPARE(manager->previous_broker_epoch(), std::int64_t{77});
  }
  for (const bool clean : {true, false}) {
    auto manager = open_manager(*place.disk, options_for(place));
    QCOMPARE(manager->was_clean(), clean);
    QCOMPARE(manager->previous_broker_epoch(), clean ? 77 : -1);
    QVERIFY(!place.disk->exists(place.root + "/.kafka_cleanshutdown"));
    QVERIFY(manager->load_all(everything(), kNow));
    QCOMPARE(manager->logs().size(), std::size_t{2});
    PartitionLog* first = manager->find("some-topic-1", PartitionIndex(0));
    QVERIFY(first != nullptr);
    QCOMPARE(manager->find(kTopicId, PartitionIndex(0)), first);
    QCOMPARE(first->log_start_offset(), Offset(2));
    QCOMPARE(first->high_watermark(), Offset(4));
    QCOMPARE(first->log_end_offset(), Offset(5));
    QCOMPARE(manager->find(other, PartitionIndex(12))->producers().size(), std::size_t{1});
    QVERIFY(manager->find(other, PartitionIndex(1)) == nullptr);
    // Left without shut_down(): as if the process were killed.
  }
}

void TestLogManager::deletes() {
  QFETCH(QString, kind);
  Place place(kind);
  Prng prng(3);
  QVERIFY(LogManager::format(*place.disk, place.root, "c", BrokerId(1), prng));
  auto manager = open_manager(*place.disk, options_for(place));
  PartitionLog* log = *manager->create_log({"t", PartitionIndex(0), kTopicId}, {}, kNow);
  append(*log, make_batch({.value_size = 5'000}));
  const log::ReadOutcome in_flight = log->read({Offset(0), 1 << 20, true, log::ReadIsolation::log_end});
  QVERIFY(manager->delete_log(kTopicId, PartitionIndex(0)));
  QCOMPARE(manager->delete_log(kTopicId, PartitionIndex(0)).error().code, Errc::not_found);
  QVERIFY(!place.disk->exists(place.root + "/t-0"));
  QVERIFY(manager->find("t", PartitionIndex(0)) == nullptr);
  // The name is free at once, and a fetch that was under way still gets its bytes.
  PartitionLog* again = *manager->create_log({"t", PartitionIndex(0), Uuid{1, 2}}, {}, kNow);
  QCOMPARE(again->log_end_offset(), Offset(0));
  QCOMPARE(in_flight.records.flatten().size(), in_flight.records.size());
  int left = 0;
  for (const std::string& name : names_in(place)) {
    left += name.size() > 7 && name.substr(name.size() - 7) == "-delete" ? 1 : 0;
  }
  QCOMPARE(left, 1);
  manager.reset();  // the removal did not run: the next start does it
  manager = open_manager(*place.disk, options_for(place));
  QVERIFY(manager->load_all(everything(), kNow));
  run_jobs(*manager);
  for (const std::string& name : names_in(place)) {
    QVERIFY(name.find("-delete") == std::string::npos);
  }
  QCOMPARE(manager->logs().size(), std::size_t{1});
}

void TestLogManager::strays() {
  Place place("posix");
  Prng prng(3);
  QVERIFY(LogManager::format(*place.disk, place.root, "c", BrokerId(1), prng));
  {
    auto manager = open_manager(*place.disk, options_for(place));
    QVERIFY(manager->create_log({"a", PartitionIndex(0), kTopicId}, {}, kNow));
    QVERIFY(manager->create_log({"b", PartitionIndex(0), Uuid{1, 2}}, {}, kNow));
    QVERIFY(manager->shut_down(kNow, 1));
  }
  auto manager = open_manager(*place.disk, options_for(place));
  QVERIFY(manager->load_all(
      [](const log::LogIdentity& identity) {
        return identity.topic_id == kTopicId ? std::optional<log::LogConfig>(log::LogConfig{}) : std::nullopt;
      },
      kNow));
  QCOMPARE(manager->logs().size(), std::size_t{1});
  QVERIFY(!place.disk->exists(place.root + "/b-0"));
  const std::vector<std::string> names = names_in(place);
  QVERIFY(std::any_of(names.begin(), names.end(), [](const std::string& name) {
    return name.size() == 42 && name.substr(0, 4) == "b-0." && name.substr(36) == "-stray";
  }));
}

void TestLogManager::checkpoints_on_time() {
  Place place("memory");
  Prng prng(3);
  QVERIFY(LogManager::format(*place.disk, place.root, "c", BrokerId(1), prng));
  auto manager = open_manager(*place.disk, options_for(place));
  const std::string watermarks = place.root + "/replication-offset-checkpoint";
  QCOMPARE(manager->next_deadline(), kNever);
  PartitionLog* log = *manager->create_log({"t", PartitionIndex(0), kTopicId}, {}, kNow);
  append(*log, make_batch({}));
  log->maybe_advance_high_watermark(Offset(1));
  Instant now{1'000};
  QVERIFY(manager->next_deadline() <= now);
  manager->tick(now, kNow);
  QCOMPARE(manager->next_deadline(), now + seconds(5));
  QVERIFY(manager->jobs().empty());
  now = now + seconds(5);
  manager->tick(now, kNow);
  run_jobs(*manager);
  QCOMPARE(text_of(*place.disk, watermarks), std::string("0\n1\nt 0 1\n"));
  QCOMPARE(manager->next_deadline(), Instant{1'000} + seconds(60));
  now = Instant{1'000} + seconds(60);
  manager->tick(now, kNow);
  run_jobs(*manager);
  QCOMPARE(manager->next_deadline(), kNever);  // idle: nothing to write, nobody wakes up
  manager->tick(now + seconds(500), kNow);
  QVERIFY(manager->jobs().empty());
  // The recovery point moves when a flush has come back.
  append(*log, make_batch({}));
  log->queue_flush(kNow);
  QCOMPARE(log->recovery_point(), Offset(0));
  run_jobs(*manager);
  QCOMPARE(log->recovery_point(), Offset(2));
}

// A node writes checkpoints while it waits to hear which logs it has: what they say of those that are not open yet stays.
void TestLogManager::checkpoints_before_logs_are_open() {
  Place place("memory");
  Prng prng(3);
  QVERIFY(LogManager::format(*place.disk, place.root, "c", BrokerId(1), prng));
  const std::vector<std::string> files{"/recovery-point-offset-checkpoint", "/replication-offset-checkpoint",
                                       "/log-start-offset-checkpoint"};
  const auto texts = [&] {
    std::vector<std::string> all;
    for (const std::string& file : files) {
      all.push_back(text_of(*place.disk, place.root + file));
    }
    return all;
  };
  {
    auto manager = open_manager(*place.disk, options_for(place));
    PartitionLog* log = *manager->create_log({"t", PartitionIndex(0), kTopicId}, {}, kNow);
    append(*log, make_batch({}));
    append(*log, make_batch({}));
    log->maybe_advance_high_watermark(Offset(2));
    QVERIFY(log->advance_log_start_offset(Offset(1)));
    QVERIFY(manager->shut_down(kNow, 1));
  }
  QCOMPARE(texts(), (std::vector<std::string>{"0\n1\nt 0 2\n", "0\n1\nt 0 2\n", "0\n1\nt 0 1\n"}));
  const auto write_all = [&](LogManager& manager, PartitionLog& metadata) {
    append(metadata, make_batch({}));
    QVERIFY(metadata.flush(kNow));
    for (const Duration later : {seconds(0), seconds(5), seconds(60), seconds(120)}) {
      manager.tick(Instant{1'000} + later, kNow);
      run_jobs(manager);
    }
  };
  auto manager = open_manager(*place.disk, options_for(place));
  PartitionLog* metadata = *manager->create_log({"__cluster_metadata", PartitionIndex(0), Uuid{0, 1}}, {}, kNow);
  write_all(*manager, *metadata);
  QCOMPARE(texts(), (std::vector<std::string>{"0\n1\nt 0 2\n", "0\n1\nt 0 2\n", "0\n1\nt 0 1\n"}));
  // Nobody wants it any more: one of the same name begins anew.
  QVERIFY(manager->load_all([](const log::LogIdentity&) { return std::optional<log::LogConfig>{}; }, kNow));
  write_all(*manager, *metadata);
  QCOMPARE(text_of(*place.disk, place.root + files[1]), std::string("0\n0\n"));
  QCOMPARE((*manager->create_log({"t", PartitionIndex(0), kTopicId}, {}, kNow))->log_start_offset(), Offset(0));
}

void TestLogManager::fifty_crashes() {
  env::MemoryDisk memory(1ULL << 28U);
  env::FaultDisk disk(memory, Prng(99));
  QVERIFY(disk.make_directories("/d"));
  Prng prng(4);
  QVERIFY(LogManager::format(disk, "/d", "c", BrokerId(1), prng));
  LogManagerOptions options;
  options.directories = {"/d"};
  options.node_id = BrokerId(1);
  log::LogConfig config;
  config.segment_bytes = 4'000;
  std::map<int, std::int64_t> acknowledged;  // by partition, kept by kill -9
  std::map<int, std::int32_t> sequence;
  for (int round = 0; round < 50; ++round) {
    auto manager = open_manager(disk, options);
    QVERIFY(manager->load_all([&](const log::LogIdentity&) { return std::optional<log::LogConfig>(config); }, kNow));
    for (int p = 0; p < 4; ++p) {
      PartitionLog* log = *manager->create_log({"t", PartitionIndex(p), kTopicId}, config, kNow);
      QCOMPARE(log->log_end_offset().value(), acknowledged[p]);  // nothing lost, nothing twice
      // The producer repeats its last batch, as one would that never saw the answer.
      if (acknowledged[p] > 0) {
        const auto again = append(*log, make_batch({.producer_id = p, .sequence = sequence[p] - 1}));
        QVERIFY(again.duplicate);
        QCOMPARE(again.base_offset.value(), acknowledged[p] - 1);
      }
    }
    Instant now{round};
    for (int i = static_cast<int>(prng.between(5, 60)); i > 0; --i) {
      const int p = static_cast<int>(prng.below(4));
      PartitionLog* log = manager->find("t", PartitionIndex(p));
      const auto outcome = append(*log, make_batch({.value_size = prng.below(200), .producer_id = p, .sequence = sequence[p]}));
      QCOMPARE(outcome.error, ErrorCode::none);
      QCOMPARE(outcome.base_offset.value(), acknowledged[p]);
      ++acknowledged[p];
      ++sequence[p];
      log->maybe_advance_high_watermark(log->log_end_offset());
      now = now + seconds(2);
      manager->tick(now, kNow);
      if (prng.chance({1, 2})) {
        run_jobs(*manager);
      }
    }
    disk.kill();
  }
  auto manager = open_manager(disk, options);
  QVERIFY(manager->load_all([&](const log::LogIdentity&) { return std::optional<log::LogConfig>(config); }, kNow));
  for (int p = 0; p < 4; ++p) {
    std::int64_t expected = 0;
    while (expected < acknowledged[p]) {
      for (const std::int64_t offset : offsets_of(read(*manager->find("t", PartitionIndex(p)), expected))) {
        QCOMPARE(offset, expected);
        ++expected;
      }
    }
  }
}

void TestLogManager::many_partitions() {
  Place place("posix");  // with room for 16 descriptors
  Prng prng(3);
  QVERIFY(LogManager::format(*place.disk, place.root, "c", BrokerId(1), prng));
  constexpr int kPartitions = 500;
  {
    auto manager = open_manager(*place.disk, options_for(place));
    for (int p = 0; p < kPartitions; ++p) {
      QVERIFY(manager->create_log({"t", PartitionIndex(p), kTopicId}, {}, kNow));
    }
    QVERIFY(static_cast<env::PosixDisk&>(*place.disk).open_descriptors() <= 16 + env::PosixDisk::kGrace);
    for (int p = 0; p < kPartitions; p += 97) {
      QCOMPARE(append(*manager->find("t", PartitionIndex(p)), make_batch({})).base_offset, Offset(0));
    }
    QVERIFY(manager->shut_down(kNow, 1));
  }
  auto manager = open_manager(*place.disk, options_for(place));
  QVERIFY(manager->load_all(everything(), kNow));
  QCOMPARE(manager->logs().size(), static_cast<std::size_t>(kPartitions));
  for (int p = 0; p < kPartitions; ++p) {
    QCOMPARE(manager->find(kTopicId, PartitionIndex(p))->log_end_offset(), Offset(p % 97 == 0 ? 1 : 0));
  }
}

void TestLogManager::checkpoint_text() {
  log::OffsetCheckpoint offsets;
  offsets[{"b.c_d-e", PartitionIndex(3)}] = Offset(9'000'000'000);
  offsets[{"a", PartitionIndex(0)}] = Offset(0);
  const std::string text = "0\n2\na 0 0\nb.c_d-e 3 9000000000\n";
  QCOMPARE(log::format_offsets(offsets), text);
  QCOMPARE(*log::parse_offsets(text), offsets);
  QVERIFY(log::parse_offsets("")->empty());
  QCOMPARE(log::format_offsets({}), std::string("0\n0\n"));
  for (const char* bad : {"0\n", "1\n0\n", "0\n2\na 0 0\n", "0\n1\na 0\n", "0\n1\na x 0\n", "0\n1\na 0 0\nb 0 0\n", "0\n-1\n",
                          "0\n1\na -1 0\n", "x", "0\n1\na 0 99999999999999999999\n"}) {
    QVERIFY2(!log::parse_offsets(bad), bad);
  }
  const std::vector<log::EpochEntry> epochs{{LeaderEpoch(0), Offset(0)}, {LeaderEpoch(5), Offset(77)}};
  QCOMPARE(log::format_epochs(epochs), std::string("0\n2\n0 0\n5 77\n"));
  QCOMPARE(*log::parse_epochs("0\n2\n0 0\n5 77\n"), epochs);
  QVERIFY(!log::parse_epochs("0\n1\n0\n"));
}

void TestLogManager::directory_names() {
  QCOMPARE(log::partition_directory("a-b", PartitionIndex(3)), std::string("a-b-3"));
  QCOMPARE(log::parse_partition_directory("a-b-3")->topic, std::string("a-b"));
  QCOMPARE(log::parse_partition_directory("a-b-3")->partition, PartitionIndex(3));
  for (const char* other : {"meta.properties", "recovery-point-offset-checkpoint", "-3", "a-", "a--1", "a-3x", "a-99999999999"}) {
    QVERIFY2(!log::parse_partition_directory(other) || std::string(other) == "a--1", other);
  }
  const std::string renamed = log::renamed_directory("t", PartitionIndex(1), kTopicId, "-delete");
  QCOMPARE(renamed.size(), std::string("t-1.").size() + 32 + 7);
  QVERIFY(!log::parse_partition_directory(renamed));
  QCOMPARE(log::renamed_directory(std::string(249, 'x'), PartitionIndex(1), kTopicId, "-delete").size(), std::size_t{255});
  QCOMPARE(*log::parse_partition_metadata("version: 0\ntopic_id: " + kTopicId.text()), kTopicId);
  QVERIFY(!log::parse_partition_metadata("version: 1\ntopic_id: " + kTopicId.text()));
  QVERIFY(!log::parse_partition_metadata(""));
  QCOMPARE(*log::parse_clean_shutdown("{\"version\":0,\"brokerEpoch\":12}"), 12);
}

void TestLogManager::epoch_cache() {
  log::LeaderEpochCache cache;
  QVERIFY(cache.assign(LeaderEpoch(1), Offset(0)));
  QVERIFY(!cache.assign(LeaderEpoch(1), Offset(5)));
  QVERIFY(cache.assign(LeaderEpoch(3), Offset(10)));
  QVERIFY(cache.assign(LeaderEpoch(4), Offset(10)));  // 3 wrote nothing
  QCOMPARE(cache.entries().size(), std::size_t{2});
  QVERIFY(cache.assign(LeaderEpoch(6), Offset(20)));
  QVERIFY(cache.truncate_from_start(Offset(15)));
  QCOMPARE(cache.entries().front(), (log::EpochEntry{LeaderEpoch(4), Offset(15)}));
  QVERIFY(!cache.truncate_from_start(Offset(15)));
  QVERIFY(cache.truncate_from_end(Offset(20)));
  QCOMPARE(cache.latest(), LeaderEpoch(4));
  QCOMPARE(cache.end_offset(LeaderEpoch(2), Offset(18)).offset, Offset(15));
  QCOMPARE(cache.end_offset(LeaderEpoch(2), Offset(18)).epoch, LeaderEpoch(2));
}

void TestLogManager::producer_snapshot_bytes() {
  log::ProducerState state;
  Bytes batch = make_batch({.records = 3, .timestamp_ms = 5'000, .producer_id = 258, .epoch = 1, .sequence = 7});
  wire::set_base_offset({batch.unique_data(), batch.size()}, Offset(100));
  state.update(wire::BatchView(batch.span()));
  const Bytes bytes = state.snapshot();
  QCOMPARE(bytes.size(), std::size_t{10 + 46});
  const QByteArray expected = QByteArray::fromHex(
      "00000001"                                     // one entry
      "0000000000000102" "0001" "00000009"           // id, epoch, last sequence
      "0000000000000066" "00000002"                  // last offset, offset delta
      "0000000000001388" "ffffffff" "ffffffffffffffff");  // timestamp, coordinator epoch, no transaction
  QCOMPARE(QByteArray(reinterpret_cast<const char*>(bytes.data() + 6), 50), expected);
  QCOMPARE(QByteArray(reinterpret_cast<const char*>(bytes.data()), 2), QByteArray::fromHex("0001"));
  log::ProducerState copy;
  QVERIFY(copy.load_snapshot(bytes.span(), Offset(103), WallTime{5'001}, 86'400'000));
  QCOMPARE(copy.snapshot(), bytes);
  QVERIFY(copy.load_snapshot(bytes.span(), Offset(103), WallTime{5'000 + 86'400'000}, 86'400'000));
  QVERIFY(copy.entries().empty());  // expired
  Bytes bad = Bytes::copy_of(bytes.span());
  bad.unique_data()[20] ^= std::byte{1};
  QCOMPARE(copy.load_snapshot(bad.span(), Offset(0), kNow, 1).error().code, Errc::corrupt);
  QVERIFY(!copy.load_snapshot(bytes.span().first(30), Offset(0), kNow, 1));
}

void TestLogManager::config() {
  const auto config = log::LogConfig::parse({{"segment.bytes", "1048576"},
                                             {"cleanup.policy", "compact, delete"},
                                             {"message.timestamp.type", "LogAppendTime"},
                                             {"compression.type", "zstd"},
                                             {"unknown.key", "x"}});
  QVERIFY(config);
  QCOMPARE(config->segment_bytes, 1'048'576);
  QVERIFY(config->cleanup_compact && config->cleanup_delete);
  QCOMPARE(config->timestamp_type, wire::TimestampType::log_append_time);
  QVERIFY(!log::LogConfig::parse({{"cleanup.policy", ""}})->cleanup_delete);
  QCOMPARE(log::LogConfig::parse({{"segment.bytes", "2000000"}, {"internal.segment.bytes", "500"}})->segment_bytes, 500);
  QVERIFY(!log::LogConfig::parse({{"segment.ms", "soon"}}));
  QVERIFY(!log::LogConfig::parse({{"segment.bytes", "99999999999"}}));
  QVERIFY(!log::LogConfig::parse({{"cleanup.policy", "shred"}}));
}

QTEST_APPLESS_MAIN(TestLogManager)
#include "tst_log_manager.moc"
