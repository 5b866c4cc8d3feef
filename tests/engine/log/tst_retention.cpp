// SPDX-License-Identifier: Apache-2.0
// What goes from the front of a log, when, and what is left of its files: DeleteRecords and retention.
#include <QTest>

#include "engine/log/log_directory.h"
#include "log_fixture.h"

using namespace hw;        // NOLINT(google-build-using-namespace): a test
using namespace hw::test;  // NOLINT(google-build-using-namespace)
using log::LogManager;
using log::LogManagerOptions;
using log::PartitionLog;
using log::ReadIsolation;
using wire::ErrorCode;

namespace {

constexpr WallTime kNow{1'000};

// Lets retention look until it wants nothing more; how many segments went.
std::size_t retain(OpenLog& open, std::int64_t now_ms) {
  std::size_t all = 0;
  for (int round = 0; round < 50; ++round) {
    const Result<std::size_t> gone = open.log->delete_old_segments(WallTime{now_ms}, 2);
    if (!gone) {
      qFatal("retention: %s", gone.error().detail.c_str());
    }
    all += *gone;
    if (open.log->deletion_waits()) {
      open.run_jobs();
    } else if (*gone == 0) {
      break;
    }
  }
  return all;
}

int count_with(env::Disk& disk, const std::string& directory, const std::string& tail) {
  int count = 0;
  const Result<std::vector<std::string>> names = disk.list(directory);
  for (const std::string& name : names ? names.value() : std::vector<std::string>{}) {
    count += name.size() >= tail.size() && name.compare(name.size() - tail.size(), tail.size(), tail) == 0 ? 1 : 0;
  }
  return count;
}

void fill(OpenLog& open, int batches, std::size_t value_size = 20, std::int64_t timestamp_ms = 1'000) {
  for (int i = 0; i < batches; ++i) {
    QCOMPARE(append(*open.log, make_batch({.value_size = value_size, .timestamp_ms = timestamp_ms})).error, ErrorCode::none);
  }
  open.log->maybe_advance_high_watermark(open.log->log_end_offset());
}

}  // namespace

class TstRetention : public QObject {
  Q_OBJECT

 private:
  static void disks() {
    QTest::addColumn<QString>("kind");
    QTest::newRow("memory") << "memory";
    QTest::newRow("posix") << "posix";
  }

 private slots:
  void by_time_the_active_segment_goes_too_data() { disks(); }
  void by_time_the_active_segment_goes_too() {
    QFETCH(QString, kind);
    Place place(kind);
    OpenLog open(place);
    open.parameters.config.retention_ms = 500;
    PartitionLog* log = &open.reopen(true);
    fill(open, 3);
    QCOMPARE(retain(open, 1'500), std::size_t{0});  // not older than that yet
    QCOMPARE(log->log_start_offset(), Offset(0));
    QCOMPARE(retain(open, 1'501), std::size_t{1});
    QCOMPARE(log->log_start_offset(), Offset(3));
    QCOMPARE(log->log_end_offset(), Offset(3));
    QCOMPARE(log->size_bytes(), 0);
    QCOMPARE(log->read({Offset(0), 100, true, ReadIsolation::log_end}).error, ErrorCode::offset_out_of_range);
    QCOMPARE(log->read({Offset(3), 100, true, ReadIsolation::log_end}).error, ErrorCode::none);
    const auto deleted = open.events.of<event::SegmentDeleted>();
    QCOMPARE(deleted.size(), std::size_t{1});
    QVERIFY(deleted[0].cause == event::DeletionCause::retention_time);
    QVERIFY(deleted[0].size_bytes > 0);
    // The files are renamed, and what has to be removed later is said.
    QCOMPARE(count_with(*place.disk, open.parameters.directory, ".log"), 1);
    QCOMPARE(count_with(*place.disk, open.parameters.directory, ".log.deleted"), 1);
    const std::vector<log::Removal> removals = open.jobs.take_removals();
    QCOMPARE(removals.size(), std::size_t{1});
    QCOMPARE(removals[0].delay_ms, 60'000);
    // Offsets go on, also after a kill whose checkpoint knew nothing of it.
    open.parameters.log_start_offset = Offset(0);
    open.log.reset();
    log = &open.reopen(false);
    QCOMPARE(log->log_start_offset(), Offset(3));
    QCOMPARE(append(*log, make_batch({})).base_offset, Offset(3));
    QCOMPARE(count_with(*place.disk, open.parameters.directory, ".deleted"), 0);
  }

  void a_read_under_way_ends_although_its_segment_goes_data() { disks(); }
  void a_read_under_way_ends_although_its_segment_goes() {
    QFETCH(QString, kind);
    Place place(kind);
    OpenLog open(place);
    open.parameters.config.retention_ms = 0;
    PartitionLog& log = open.reopen(true);
    fill(open, 1, 50'000);
    const log::ReadOutcome reading = log.read({Offset(0), 1 << 20, true, ReadIsolation::high_watermark});
    QCOMPARE(retain(open, 9'000), std::size_t{1});
    QCOMPARE(reading.records.flatten().size(), reading.records.size());
  }

  void by_size_the_log_stays_at_least_that_large() {
    Place place("memory");
    OpenLog open(place);
    open.parameters.config.segment_bytes = 2'500;
    open.parameters.config.retention_bytes = 3'500;
    open.parameters.config.retention_ms = -1;
    PartitionLog& log = open.reopen(true);
    fill(open, 8, 1'000);  // two batches a segment
    const std::int64_t segment = log.segments()[0].size_bytes;
    QCOMPARE(log.segments().size(), std::size_t{4});
    QCOMPARE(retain(open, 1'000), std::size_t{2});
    QCOMPARE(log.log_start_offset(), Offset(4));
    QVERIFY(log.size_bytes() >= 3'500 && log.size_bytes() - segment < 3'500);
    QVERIFY(open.events.of<event::SegmentDeleted>()[0].cause == event::DeletionCause::retention_size);
  }

  void zero_bytes_leave_nothing() {
    Place place("memory");
    OpenLog open(place);
    open.parameters.config.retention_bytes = 0;
    PartitionLog& log = open.reopen(true);
    fill(open, 2);
    QCOMPARE(retain(open, 1'000), std::size_t{1});
    QCOMPARE(log.log_start_offset(), Offset(2));
    QCOMPARE(retain(open, 1'000), std::size_t{0});  // an empty segment stays
  }

  void minus_one_and_an_empty_policy_keep_everything() {
    Place place("memory");
    OpenLog open(place);
    open.parameters.config.segment_bytes = 300;
    open.parameters.config.retention_ms = -1;
    PartitionLog& log = open.reopen(true);
    fill(open, 9);
    QCOMPARE(retain(open, 1'000'000'000), std::size_t{0});
    log::LogConfig config = log.config();
    config.retention_ms = 1;
    config.retention_bytes = 1;
    config.cleanup_delete = false;
    log.set_config(config);
    QCOMPARE(retain(open, 1'000'000'000), std::size_t{0});
    // But what DeleteRecords took is not kept.
    QVERIFY(log.advance_log_start_offset(Offset(5)));
    QVERIFY(retain(open, 1'000) > 0);
    QCOMPARE(log.log_start_offset(), Offset(5));
    QVERIFY(log.segments()[0].base_offset <= Offset(5));
  }

  void nothing_at_or_above_the_high_watermark_goes() {
    Place place("memory");
    OpenLog open(place);
    open.parameters.config.segment_bytes = 300;
    open.parameters.config.retention_ms = 1;
    PartitionLog& log = open.reopen(true);
    for (int i = 0; i < 9; ++i) {
      append(log, make_batch({}));
    }
    const Offset second = log.segments()[1].base_offset;
    log.maybe_advance_high_watermark(second - 1);
    QCOMPARE(retain(open, 1'000'000), std::size_t{0});
    log.maybe_advance_high_watermark(second);
    QCOMPARE(retain(open, 1'000'000), std::size_t{1});
    QCOMPARE(log.log_start_offset(), second);
  }

  void a_record_from_the_future_stays() {
    Place place("memory");
    OpenLog open(place);
    open.parameters.config.retention_ms = 10;
    open.parameters.config.timestamp_after_max_ms = 1'000'000'000;
    open.reopen(true);
    fill(open, 1, 20, 1'000);
    fill(open, 1, 20, 500'000);
    QCOMPARE(retain(open, 400'000), std::size_t{0});
    QCOMPARE(retain(open, 500'011), std::size_t{1});
  }

  void records_without_timestamps_are_as_old_as_their_append_data() { disks(); }
  void records_without_timestamps_are_as_old_as_their_append() {
    QFETCH(QString, kind);
    Place place(kind);
    OpenLog open(place);
    open.parameters.config.retention_ms = 10'000;
    PartitionLog& log = open.reopen(true);
    QCOMPARE(append(log, make_batch({.timestamp_ms = -1}), 70'000).error, ErrorCode::none);
    log.maybe_advance_high_watermark(Offset(1));
    QCOMPARE(retain(open, 80'000), std::size_t{0});
    QCOMPARE(retain(open, 80'001), std::size_t{1});
  }

  void a_producer_is_known_although_its_records_are_gone() {
    Place place("posix");
    OpenLog open(place);
    open.parameters.config.retention_ms = 10;
    PartitionLog* log = &open.reopen(true);
    QCOMPARE(append(*log, make_batch({.records = 2, .producer_id = 7})).error, ErrorCode::none);
    log->maybe_advance_high_watermark(Offset(2));
    QCOMPARE(retain(open, 5'000), std::size_t{1});
    QCOMPARE(log->log_start_offset(), Offset(2));
    for (const bool clean : {true, false}) {
      // The last batch is a duplicate still, a gap is refused.
      const log::AppendOutcome again = append(*log, make_batch({.records = 2, .producer_id = 7}));
      QVERIFY(again.duplicate);
      QCOMPARE(again.base_offset, Offset(0));
      QCOMPARE(append(*log, make_batch({.producer_id = 7, .sequence = 9})).error, ErrorCode::out_of_order_sequence_number);
      if (clean) {
        QVERIFY(log->close(WallTime{5'000}));
      }
      log = &open.reopen(clean);
    }
    QCOMPARE(append(*log, make_batch({.producer_id = 7, .sequence = 2})).base_offset, Offset(2));
  }

  void a_changed_configuration_counts_at_once() {
    Place place("memory");
    OpenLog open(place);
    PartitionLog& log = open.reopen(true);
    fill(open, 4);
    QCOMPARE(retain(open, 100'000), std::size_t{0});
    log::LogConfig config = log.config();
    config.retention_ms = 1'000;
    config.max_message_bytes = 100;
    config.segment_bytes = 400;
    config.timestamp_type = wire::TimestampType::log_append_time;
    log.set_config(config);
    QCOMPARE(append(log, make_batch({.value_size = 200})).error, ErrorCode::message_too_large);
    QCOMPARE(read(log, 0).size(), static_cast<std::size_t>(log.size_bytes()));  // what is there stays readable
    const std::size_t before = log.segments().size();
    QCOMPARE(append(log, make_batch({}), 123'456).log_append_time_ms, 123'456);
    QCOMPARE(log.segments().size(), before + 1);  // the smaller segment size
    log.maybe_advance_high_watermark(Offset(5));
    QVERIFY(retain(open, 100'000) > 0);
    QCOMPARE(log.log_start_offset(), Offset(4));
    config.segment_ms = 50;
    log.set_config(config);
    append(log, make_batch({}), 123'500);
    QCOMPARE(log.segments().size(), std::size_t{1});
    append(log, make_batch({}), 123'600);
    QCOMPARE(log.segments().size(), std::size_t{2});
  }

  void the_manager_looks_after_its_delays() {
    Place place("posix");
    Prng prng(3);
    QVERIFY(LogManager::format(*place.disk, place.root, "c", BrokerId(1), prng));
    LogManagerOptions options;
    options.directories = {place.root};
    options.node_id = BrokerId(1);
    options.initial_task_delay = seconds(5);
    options.retention_check_interval = seconds(10);
    options.delete_delay_ms = 7'000;
    auto manager = std::move(*LogManager::open(*place.disk, options, nullptr, Prng(5)));
    log::LogConfig config;
    config.retention_ms = 500;
    config.file_delete_delay_ms = 3'000;
    PartitionLog* log = *manager->create_log({"t", PartitionIndex(0), kTopicId}, config, kNow);
    append(*log, make_batch({.records = 3}));
    log->maybe_advance_high_watermark(Offset(3));
    Instant now{0};
    const auto run_until = [&](Instant end) {
      while (manager->next_deadline() <= end) {
        now = std::max(now, manager->next_deadline());
        manager->tick(now, WallTime{10'000'000 + now.ns / 1'000'000});
        for (log::DiskJob& job : manager->jobs().take()) {
          manager->job_done(job, job.work(), kNow);
        }
      }
      now = end;
    };
    run_until(Instant{} + seconds(100));
    QCOMPARE(log->log_start_offset(), Offset(0));  // nobody said that tasks may run
    manager->start_tasks(now);
    const Instant began = now;
    run_until(began + milliseconds(4'999));
    QCOMPARE(log->log_start_offset(), Offset(0));
    run_until(began + seconds(5));
    QCOMPARE(log->log_start_offset(), Offset(3));
    const std::string directory = place.root + "/t-0";
    QCOMPARE(count_with(*place.disk, directory, ".log.deleted"), 1);
    run_until(began + milliseconds(6'500));
    // The checkpoint is there soon, so that a kill brings nothing back.
    const Result<Bytes> starts = place.disk->read_whole(place.root + "/log-start-offset-checkpoint");
    QVERIFY(starts);
    QCOMPARE(std::string(starts->text()), std::string("0\n1\nt 0 3\n"));
    run_until(began + milliseconds(7'999));
    QCOMPARE(count_with(*place.disk, directory, ".log.deleted"), 1);
    run_until(began + milliseconds(8'000));
    QCOMPARE(count_with(*place.disk, directory, ".deleted"), 0);
    // The next look comes an interval later.
    append(*log, make_batch({}));
    log->maybe_advance_high_watermark(Offset(4));
    run_until(began + milliseconds(14'999));
    QCOMPARE(log->log_start_offset(), Offset(3));
    run_until(began + seconds(15));
    QCOMPARE(log->log_start_offset(), Offset(4));
    // A deleted partition's directory waits as well.
    QVERIFY(manager->delete_log(kTopicId, PartitionIndex(0)));
    run_until(now + milliseconds(6'999));
    QCOMPARE(count_with(*place.disk, place.root, "-delete"), 1);
    run_until(now + milliseconds(10));
    QCOMPARE(count_with(*place.disk, place.root, "-delete"), 0);
    QVERIFY(manager->take_problems().empty());
  }

  void one_turn_deletes_a_bounded_piece() {
    Place place("memory");
    Prng prng(3);
    QVERIFY(LogManager::format(*place.disk, place.root, "c", BrokerId(1), prng));
    LogManagerOptions options;
    options.directories = {place.root};
    options.node_id = BrokerId(1);
    options.initial_task_delay = Duration{};
    options.keep_deleted = false;
    auto manager = std::move(*LogManager::open(*place.disk, options, nullptr, Prng(5)));
    log::LogConfig config;
    config.retention_ms = 500;
    for (int i = 0; i < 700; ++i) {
      PartitionLog* log = *manager->create_log({"t", PartitionIndex(i), kTopicId}, config, kNow);
      append(*log, make_batch({}));
      log->maybe_advance_high_watermark(Offset(1));
    }
    manager->start_tasks(Instant{});
    const auto emptied = [&] {
      int count = 0;
      for (PartitionLog* log : manager->logs()) {
        count += log->log_start_offset() == Offset(1) ? 1 : 0;
      }
      return count;
    };
    int before = 0;
    int rounds = 0;
    for (; rounds < 100 && before < 700; ++rounds) {
      manager->tick(Instant{1}, WallTime{100'000});
      for (log::DiskJob& job : manager->jobs().take()) {
        manager->job_done(job, job.work(), kNow);
      }
      const int after = emptied();
      QVERIFY2(after - before <= 64, std::to_string(after - before).c_str());
      QVERIFY(after == 700 || manager->next_deadline() <= Instant{1});
      before = after;
    }
    QCOMPARE(before, 700);
    QVERIFY(rounds >= 700 / 64);
  }
};

QTEST_APPLESS_MAIN(TstRetention)
#include "tst_retention.moc"
