// SPDX-License-Identifier: Apache-2.0
// A single log on both disks: appends, reads, rolls, truncation, times, epochs, producers, restart.
#include <QTest>

#include "engine/env/fault_disk.h"
#include "log_fixture.h"

using namespace hw;        // NOLINT(google-build-using-namespace): a test
using namespace hw::test;  // NOLINT(google-build-using-namespace)
using log::AppendOutcome;
using log::PartitionLog;
using log::ReadIsolation;
using wire::ErrorCode;

class TestLog : public QObject {
  Q_OBJECT

 private:
  static void disks() {
    QTest::addColumn<QString>("kind");
    QTest::newRow("memory") << "memory";
    QTest::newRow("posix") << "posix";
  }

 private slots:
  void appends_and_reads_data() { disks(); }
  void appends_and_reads();
  void bounds_and_limits_data() { disks(); }
  void bounds_and_limits();
  void refuses_bad_batches();
  void shared_bytes_are_not_changed();
  void rolls_data() { disks(); }
  void rolls();
  void every_offset_is_found_data() { disks(); }
  void every_offset_is_found();
  void producers_and_duplicates_data() { disks(); }
  void producers_and_duplicates();
  void producer_state_survives_restart_data() { disks(); }
  void producer_state_survives_restart();
  void a_repeat_is_known_behind_what_came_since_the_start();
  void times_data() { disks(); }
  void times();
  void epochs_data() { disks(); }
  void epochs();
  void truncates_data() { disks(); }
  void truncates();
  void torn_tail_is_cut_data() { disks(); }
  void torn_tail_is_cut();
  void a_power_cut_leaves_no_hole();
  void clean_reopen_scans_nothing();
  void log_append_time();
  void recompression();
  void open_transactions_hold_the_stable_offset_back_data() { disks(); }
  void open_transactions_hold_the_stable_offset_back();
  void transactional_records_need_an_open_transaction();
  void full_disk();
  void follower_keeps_offsets();
  void epochs_of_what_a_crash_brought_back();
  void log_start_moves();
  void events_and_counters();
};

void TestLog::appends_and_reads() {
  QFETCH(QString, kind);
  Place place(kind);
  OpenLog open(place);
  PartitionLog& log = open.reopen(true);
  QCOMPARE(log.log_end_offset(), Offset(0));
  const AppendOutcome first = append(log, make_batch({.records = 3}), 1'000, 7);
  QCOMPARE(first.error, ErrorCode::none);
  QCOMPARE(first.base_offset, Offset(0));
  QCOMPARE(first.last_offset, Offset(2));
  QCOMPARE(first.log_append_time_ms, -1);
  QCOMPARE(first.log_start_offset, Offset(0));
  const AppendOutcome second = append(log, make_batch({.records = 2, .compression = wire::Compression::lz4}));
  QCOMPARE(second.base_offset, Offset(3));
  QCOMPARE(log.log_end_offset(), Offset(5));
  QCOMPARE(log.high_watermark(), Offset(0));
  // An offset inside a batch gives the batch from its beginning.
  const Bytes all = read(log, 1);
  QCOMPARE(offsets_of(all), (std::vector<std::int64_t>{0, 1, 2, 3, 4}));
  QCOMPARE(wire::BatchView(all.span()).leader_epoch(), LeaderEpoch(7));
  QVERIFY(wire::read_batch(all.span()).view.crc_ok());
  QCOMPARE(offsets_of(read(log, 3)), (std::vector<std::int64_t>{3, 4}));
  QCOMPARE(static_cast<std::int64_t>(all.size()), log.size_bytes());
}

void TestLog::bounds_and_limits() {
  QFETCH(QString, kind);
  Place place(kind);
  OpenLog open(place);
  PartitionLog& log = open.reopen(true);
  for (int i = 0; i < 10; ++i) {
    QCOMPARE(append(log, make_batch({.records = 2})).error, ErrorCode::none);
  }
  const auto batch_size = static_cast<std::int64_t>(read(log, 0).size()) / 10;
  QVERIFY(read(log, 0, 1 << 20, ReadIsolation::high_watermark).empty());
  QVERIFY(log.maybe_advance_high_watermark(Offset(6)));
  QVERIFY(!log.maybe_advance_high_watermark(Offset(5)));
  QCOMPARE(offsets_of(read(log, 4, 1 << 20, ReadIsolation::high_watermark)), (std::vector<std::int64_t>{4, 5}));
  QVERIFY(read(log, 6, 1 << 20, ReadIsolation::high_watermark).empty());
  QCOMPARE(log.read({Offset(8), 100, true, ReadIsolation::high_watermark}).error, ErrorCode::none);  // below the end
  QCOMPARE(log.read({Offset(21), 100, true, ReadIsolation::high_watermark}).error, ErrorCode::offset_out_of_range);
  QCOMPARE(log.read({Offset(-1), 100, true, ReadIsolation::log_end}).error, ErrorCode::offset_out_of_range);
  QCOMPARE(log.readable_bytes(Offset(0), ReadIsolation::high_watermark), 3 * batch_size);
  QCOMPARE(log.readable_bytes(Offset(3), ReadIsolation::log_end), 9 * batch_size);
  QCOMPARE(log.readable_bytes(Offset(20), ReadIsolation::log_end), 0);
  // The first batch comes whole, the rest is cut where max_bytes says, also inside a batch.
  QCOMPARE(static_cast<std::int64_t>(read(log, 0, 0).size()), batch_size);
  QVERIFY(read(log, 0, batch_size - 1, ReadIsolation::log_end, false).empty());
  QCOMPARE(static_cast<std::int64_t>(read(log, 0, batch_size + 7).size()), batch_size + 7);
  QCOMPARE(log.maybe_advance_high_watermark(Offset(1000)), true);
  QCOMPARE(log.high_watermark(), Offset(20));
}

void TestLog::refuses_bad_batches() {
  Place place("memory");
  OpenLog open(place);
  open.parameters.config.max_message_bytes = 500;
  open.parameters.config.segment_bytes = 400;
  PartitionLog& log = open.reopen(true);
  QCOMPARE(append(log, make_batch({.value_size = 600})).error, ErrorCode::message_too_large);
  QCOMPARE(append(log, make_batch({.value_size = 410})).error, ErrorCode::record_list_too_large);
  Bytes broken = make_batch({});
  broken.unique_data()[70] ^= std::byte{1};
  QCOMPARE(append(log, broken).error, ErrorCode::corrupt_message);
  ByteBuilder two(512);
  two.append(make_batch({}).span());
  two.append(make_batch({}).span());
  QCOMPARE(append(log, two.finish()).error, ErrorCode::invalid_record);
  QCOMPARE(append(log, Bytes::copy_of("short")).error, ErrorCode::corrupt_message);
  QCOMPARE(append(log, Bytes{}).error, ErrorCode::corrupt_message);
  QCOMPARE(append(log, make_batch({.timestamp_ms = 9'000'000})).error, ErrorCode::invalid_timestamp);
  const AppendOutcome late = append(log, make_batch({.timestamp_ms = 9'000'000}));
  QCOMPARE(late.record_errors.size(), std::size_t{1});
  QCOMPARE(late.log_start_offset, Offset(0));
  QCOMPARE(log.log_end_offset(), Offset(0));
  QCOMPARE(log.size_bytes(), 0);
}

void TestLog::shared_bytes_are_not_changed() {
  Place place("memory");
  OpenLog open(place);
  PartitionLog& log = open.reopen(true);
  append(log, make_batch({}));
  const Bytes batch = make_batch({.value_size = 4000});
  const Bytes before = Bytes::copy_of(batch.span());
  QCOMPARE(append(log, batch).base_offset, Offset(1));
  QVERIFY(batch == before);  // somebody else (this test) still reads it
  // Vouched for, the very block is patched and kept: what is read is the same memory.
  log::AppendRequest request;
  Bytes frame = make_batch({.value_size = 4000});
  request.records = frame;
  request.leader_epoch = LeaderEpoch(0);
  request.exclusive = true;
  request.now = WallTime{1'000};
  QCOMPARE(log.append_as_leader(std::move(request)).base_offset, Offset(2));
  QCOMPARE(wire::BatchView(frame.span()).base_offset(), Offset(2));
  const log::ReadOutcome outcome = log.read({Offset(2), 1 << 20, true, ReadIsolation::log_end});
  QCOMPARE(outcome.records.pieces().size(), std::size_t{1});
  QCOMPARE(std::get<Bytes>(outcome.records.pieces()[0]).data(), frame.data());
}

void TestLog::rolls() {
  QFETCH(QString, kind);
  Place place(kind);
  OpenLog open(place);
  open.parameters.config.segment_bytes = 1000;
  open.parameters.config.segment_ms = 5'000;
  PartitionLog& log = open.reopen(true);
  for (int i = 0; i < 30; ++i) {
    QCOMPARE(append(log, make_batch({.value_size = 100})).error, ErrorCode::none);
  }
  std::size_t before = log.segments().size();
  QVERIFY2(before >= 5, "by size");
  for (const PartitionLog::SegmentInfo& segment : log.segments()) {
    QVERIFY(segment.size_bytes <= 1000);
  }
  append(log, make_batch({.timestamp_ms = 7'000}), 7'000);
  QCOMPARE(log.segments().size(), before + 1);  // by time of the records
  QCOMPARE(log.segments().back().base_offset, Offset(30));
  // Reading goes through all of them, one at a time.
  std::int64_t at = 0;
  while (at < 31) {
    const std::vector<std::int64_t> offsets = offsets_of(read(log, at));
    QVERIFY(!offsets.empty());
    QCOMPARE(offsets.front(), at);
    at = offsets.back() + 1;
  }
  log::LogConfig config = log.config();
  config.segment_index_bytes = 16;  // two entries of the offset index, one of the time index
  config.index_interval_bytes = 0;
  config.segment_bytes = 1 << 20;
  log.set_config(config);
  before = log.segments().size();
  for (int i = 0; i < 12; ++i) {
    append(log, make_batch({.timestamp_ms = 7'000 + i}), 7'000);
  }
  QVERIFY2(log.segments().size() >= before + 3, "by full index");
  QVERIFY(place.disk->exists(place.root + "/t-0/00000000000000000030.snapshot"));
  open.run_jobs();
  QVERIFY(log.recovery_point() > Offset(30));  // rolled segments are flushed
}

void TestLog::every_offset_is_found() {
  QFETCH(QString, kind);
  Place place(kind);
  OpenLog open(place);
  open.parameters.config.index_interval_bytes = 256;
  open.parameters.config.segment_bytes = 20'000;
  PartitionLog* log = &open.reopen(true);
  Prng prng(7);
  std::vector<std::int64_t> base_of;  // by offset
  while (base_of.size() < 3'000) {
    const int records = static_cast<int>(prng.between(1, 9));
    const AppendOutcome outcome =
        append(*log, make_batch({.records = records, .value_size = static_cast<std::size_t>(prng.below(60))}));
    QCOMPARE(outcome.base_offset.value(), static_cast<std::int64_t>(base_of.size()));
    base_of.insert(base_of.end(), static_cast<std::size_t>(records), outcome.base_offset.value());
  }
  for (int round = 0; round < 3; ++round) {
    for (std::size_t offset = 0; offset < base_of.size(); ++offset) {
      const log::ReadOutcome outcome =
          log->read({Offset(static_cast<std::int64_t>(offset)), 61, false, ReadIsolation::log_end});
      const Bytes one = read(*log, static_cast<std::int64_t>(offset), 1);
      QVERIFY(outcome.error == ErrorCode::none);
      QCOMPARE(wire::BatchView(one.span()).base_offset().value(), base_of[offset]);
      QCOMPARE(wire::BatchView(one.span()).size(), wire::read_batch(one.span()).size);
    }
    if (round == 0) {
      QVERIFY(log->close(WallTime{1'000}));
      log = &open.reopen(true);  // closed cleanly: indexes from the disk
    } else {
      log = &open.reopen(false);  // indexes built anew
    }
    QCOMPARE(log->log_end_offset().value(), static_cast<std::int64_t>(base_of.size()));
  }
}

void TestLog::producers_and_duplicates() {
  QFETCH(QString, kind);
  Place place(kind);
  OpenLog open(place);
  PartitionLog& log = open.reopen(true);
  const auto send = [&](std::int32_t sequence, int records, std::int16_t epoch = 0, std::int64_t id = 9) {
    return append(log, make_batch({.records = records, .producer_id = id, .epoch = epoch, .sequence = sequence}));
  };
  QCOMPARE(send(5, 2).error, ErrorCode::none);  // unknown here: any first sequence
  QCOMPARE(send(8, 1).error, ErrorCode::out_of_order_sequence_number);
  QCOMPARE(send(7, 1).base_offset, Offset(2));
  const AppendOutcome again = send(5, 2);
  QVERIFY(again.duplicate);
  QCOMPARE(again.error, ErrorCode::none);
  QCOMPARE(again.base_offset, Offset(0));
  QCOMPARE(again.last_offset, Offset(1));
  QCOMPARE(send(5, 1).error, ErrorCode::out_of_order_sequence_number);  // another range is no repeat
  for (int i = 0; i < 4; ++i) {
    QCOMPARE(send(8 + i, 1).error, ErrorCode::none);
  }
  QVERIFY(send(7, 1).duplicate);                                        // fifth from the end
  QCOMPARE(send(5, 2).error, ErrorCode::out_of_order_sequence_number);  // sixth
  QCOMPARE(log.log_end_offset(), Offset(7));
  QCOMPARE(send(3, 1, 1).error, ErrorCode::out_of_order_sequence_number);  // a new epoch begins at 0
  QCOMPARE(send(0, 1, 1).error, ErrorCode::none);
  QCOMPARE(send(12, 1, 0).error, ErrorCode::invalid_producer_epoch);
  // Wrap: 2^31-1 is followed by 0, also inside a batch.
  const std::int32_t last = std::numeric_limits<std::int32_t>::max();
  QCOMPARE(send(last - 1, 2, 0, 10).error, ErrorCode::none);
  QCOMPARE(send(0, 1, 0, 10).error, ErrorCode::none);
  QCOMPARE(send(last - 1, 4, 0, 11).error, ErrorCode::none);
  QCOMPARE(send(2, 1, 0, 11).error, ErrorCode::none);
  QVERIFY(send(last - 1, 4, 0, 11).duplicate);
  const std::vector<PartitionLog::ProducerInfo> producers = log.producers();
  QCOMPARE(producers.size(), std::size_t{3});
  QCOMPARE(producers[0].epoch, ProducerEpoch(1));
  QCOMPARE(producers[0].last_sequence, 0);
  QCOMPARE(open.events.of<event::DuplicateSuppressed>().size(), std::size_t{3});
  QCOMPARE(open.events.of<event::ProducerFenced>().size(), std::size_t{1});
  log.expire_producers(WallTime{1'000 + 86'400'000});
  QVERIFY(log.producers().empty());
  QCOMPARE(send(77, 1).error, ErrorCode::none);
}

void TestLog::producer_state_survives_restart() {
  QFETCH(QString, kind);
  enum class End { clean, killed, killed_after_flush };
  for (const End end : {End::clean, End::killed, End::killed_after_flush}) {
    const bool clean = end == End::clean;
    Place place(kind);
    OpenLog open(place);
    open.parameters.config.segment_bytes = 600;
    PartitionLog* log = &open.reopen(true);
    const auto send = [&](std::int32_t sequence) {
      return append(*log, make_batch({.producer_id = 9, .sequence = sequence}));
    };
    for (int i = 0; i < 25; ++i) {
      QCOMPARE(send(i).error, ErrorCode::none);
    }
    if (end == End::killed_after_flush) {
      QVERIFY(log->flush(WallTime{1'000}));
    }
    if (clean) {
      QVERIFY(log->close(WallTime{1'000}));
    }
    log = &open.reopen(clean);
    QCOMPARE(log->log_end_offset(), Offset(25));
    // Snapshots hold the last batch only; a producer that was at work may repeat any of its last five.
    for (int i = 24; i >= 20; --i) {
      QVERIFY(send(i).duplicate);
      QCOMPARE(send(i).base_offset, Offset(i));
    }
    QCOMPARE(send(19).error, ErrorCode::out_of_order_sequence_number);
    QCOMPARE(send(26).error, ErrorCode::out_of_order_sequence_number);
    QCOMPARE(send(25).error, ErrorCode::none);
    // A snapshot that a crash tore: an earlier one and the log behind it say the same.
    if (clean) {
      QVERIFY(log->close(WallTime{1'000}));
      const std::string newest = place.root + "/t-0/00000000000000000026.snapshot";
      QVERIFY(place.disk->exists(newest));
      auto file = place.disk->open(newest, env::OpenMode::create_or_open);
      QVERIFY(file);
      QVERIFY(file.value()->truncate(20));
      log = &open.reopen(false);
      QVERIFY(send(25).duplicate);
      QCOMPARE(send(26).error, ErrorCode::none);
    }
  }
}

// What the snapshot does not hold is read when the first repeat comes, not at the start.
void TestLog::a_repeat_is_known_behind_what_came_since_the_start() {
  Place place("memory");
  OpenLog open(place);
  PartitionLog* log = &open.reopen(true);
  const auto send = [&](std::int32_t sequence) { return append(*log, make_batch({.producer_id = 9, .sequence = sequence})); };
  for (int i = 0; i < 10; ++i) {
    QCOMPARE(send(i).error, ErrorCode::none);
  }
  QVERIFY(log->close(WallTime{1'000}));
  log = &open.reopen(true);
  QCOMPARE(send(10).error, ErrorCode::none);
  QCOMPARE(send(11).error, ErrorCode::none);
  QCOMPARE(send(7).base_offset, Offset(7));
  QVERIFY(send(9).duplicate);
  QCOMPARE(send(6).error, ErrorCode::out_of_order_sequence_number);  // the last five are 7 to 11
  // What is cut off is not recalled.
  QVERIFY(log->close(WallTime{1'000}));
  log = &open.reopen(true);
  QVERIFY(log->truncate_to(Offset(9)));
  QCOMPARE(send(10).error, ErrorCode::out_of_order_sequence_number);
  QVERIFY(send(8).duplicate);
  QCOMPARE(send(9).base_offset, Offset(9));
}

void TestLog::times() {
  QFETCH(QString, kind);
  Place place(kind);
  OpenLog open(place);
  open.parameters.config.index_interval_bytes = 200;
  open.parameters.config.segment_bytes = 3'000;
  open.parameters.config.timestamp_after_max_ms = std::numeric_limits<std::int64_t>::max();
  PartitionLog* log = &open.reopen(true);
  QCOMPARE(log->find_max_timestamp()->offset, kNoOffset);
  QCOMPARE(log->find_by_timestamp(0)->offset, kNoOffset);
  Prng prng(11);
  std::vector<std::int64_t> stamps;
  for (int i = 0; i < 200; ++i) {
    const int records = static_cast<int>(prng.between(1, 4));
    const std::int64_t first = prng.between(1'000, 9'000);
    const std::int64_t step = prng.between(-20, 40);
    const wire::Compression codec = prng.chance({1, 3}) ? wire::Compression::snappy : wire::Compression::none;
    QCOMPARE(append(*log, make_batch({.records = records, .timestamp_ms = first, .timestamp_step = step, .compression = codec}))
                 .error,
             ErrorCode::none);
    for (int r = 0; r < records; ++r) {
      stamps.push_back(first + r * step);
    }
  }
  QVERIFY(log->segments().size() > 3);
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 300; ++i) {
      const std::int64_t asked = prng.between(900, 9'200);
      const auto found = std::find_if(stamps.begin(), stamps.end(), [&](std::int64_t t) { return t >= asked; });
      const Result<log::TimestampOffset> answer = log->find_by_timestamp(asked);
      QVERIFY(answer);
      if (found == stamps.end()) {
        QCOMPARE(answer->offset, kNoOffset);
      } else {
        QCOMPARE(answer->offset.value(), found - stamps.begin());
        QCOMPARE(answer->timestamp_ms, *found);
        QCOMPARE(answer->leader_epoch, LeaderEpoch(0));
      }
    }
    const auto largest = std::max_element(stamps.begin(), stamps.end());
    QCOMPARE(log->find_max_timestamp()->timestamp_ms, *largest);
    QCOMPARE(log->find_max_timestamp()->offset.value(), largest - stamps.begin());
    QVERIFY(log->close(WallTime{1'000}));
    log = &open.reopen(true);
  }
}

void TestLog::epochs() {
  QFETCH(QString, kind);
  Place place(kind);
  OpenLog open(place);
  PartitionLog* log = &open.reopen(true);
  QCOMPARE(log->latest_epoch(), kNoLeaderEpoch);
  QCOMPARE(log->end_offset_for_epoch(LeaderEpoch(0)).end_offset, kNoOffset);
  append(*log, make_batch({.records = 5}), 1'000, 2);
  append(*log, make_batch({.records = 5}), 1'000, 2);
  append(*log, make_batch({.records = 5}), 1'000, 4);
  QVERIFY(log->assign_epoch_start(LeaderEpoch(7), Offset(15)));
  append(*log, make_batch({.records = 1}), 1'000, 7);
  for (int round = 0; round < 3; ++round) {
    QCOMPARE(log->latest_epoch(), LeaderEpoch(7));
    QCOMPARE(log->end_offset_for_epoch(LeaderEpoch(7)).end_offset, Offset(16));
    QCOMPARE(log->end_offset_for_epoch(LeaderEpoch(4)).end_offset, Offset(15));
    QCOMPARE(log->end_offset_for_epoch(LeaderEpoch(3)).end_offset, Offset(10));
    QCOMPARE(log->end_offset_for_epoch(LeaderEpoch(3)).epoch, LeaderEpoch(2));
    QCOMPARE(log->end_offset_for_epoch(LeaderEpoch(1)).end_offset, Offset(0));
    QCOMPARE(log->end_offset_for_epoch(LeaderEpoch(8)).end_offset, kNoOffset);
    QCOMPARE(log->epoch_of(Offset(9)), LeaderEpoch(2));
    QCOMPARE(log->epoch_of(Offset(10)), LeaderEpoch(4));
    if (round == 0) {
      const Result<Bytes> text = place.disk->read_whole(place.root + "/t-0/leader-epoch-checkpoint");
      QVERIFY(text);
      QCOMPARE(std::string(text->text()), std::string("0\n3\n2 0\n4 10\n7 15\n"));
      QVERIFY(log->close(WallTime{1'000}));
      log = &open.reopen(true);
    } else if (round == 1) {
      // The checkpoint torn: the batches say it as well.
      QVERIFY(place.disk->write_whole(place.root + "/t-0/leader-epoch-checkpoint", as_bytes("0\n3\n2 "), false));
      log = &open.reopen(false);
    }
  }
  QVERIFY(log->truncate_to(Offset(10)));
  QCOMPARE(log->latest_epoch(), LeaderEpoch(2));
}

void TestLog::truncates() {
  QFETCH(QString, kind);
  Place place(kind);
  OpenLog open(place);
  open.parameters.config.segment_bytes = 500;
  PartitionLog& log = open.reopen(true);
  for (int i = 0; i < 20; ++i) {
    append(log, make_batch({.records = 2, .timestamp_ms = 1'000 + i, .producer_id = 3, .sequence = i * 2}));
  }
  log.maybe_advance_high_watermark(Offset(40));
  QVERIFY(log.truncate_to(Offset(100)));
  QCOMPARE(log.log_end_offset(), Offset(40));
  QVERIFY(log.truncate_to(Offset(21)));  // inside a batch: the batch goes, the end is what was asked
  QCOMPARE(log.log_end_offset(), Offset(21));
  QCOMPARE(log.high_watermark(), Offset(21));
  QCOMPARE(offsets_of(read(log, 18)).back(), 19);
  QCOMPARE(log.producers()[0].last_sequence, 19);
  QCOMPARE(log.find_max_timestamp()->timestamp_ms, 1'009);
  QCOMPARE(append(log, make_batch({.producer_id = 3, .sequence = 20})).base_offset, Offset(21));
  // The gap is skipped.
  QCOMPARE(offsets_of(read(log, 20)).front(), 21);
  QVERIFY(log.truncate_fully_and_start_at(Offset(1'000)));
  QCOMPARE(log.log_start_offset(), Offset(1'000));
  QCOMPARE(log.size_bytes(), 0);
  QVERIFY(log.producers().empty());
  QCOMPARE(append(log, make_batch({})).base_offset, Offset(1'000));
  QCOMPARE(log.segments().size(), std::size_t{1});
  QVERIFY(place.disk->exists(place.root + "/t-0/00000000000000001000.log"));
}

void TestLog::torn_tail_is_cut() {
  QFETCH(QString, kind);
  for (int damage = 0; damage < 6; ++damage) {
    Place place(kind);
    OpenLog open(place);
    open.parameters.config.segment_bytes = 2'000;
    open.parameters.config.cleanup_compact = damage >= 4;
    open.parameters.cleaned_below = Offset(damage == 5 ? 120 : 0);
    PartitionLog* log = &open.reopen(true);
    for (int i = 0; i < 40; ++i) {
      append(*log, make_batch({.records = 3, .producer_id = 1, .sequence = i * 3}));
    }
    const std::vector<PartitionLog::SegmentInfo> segments = log->segments();
    QVERIFY(segments.size() >= 3);
    // The last segment, or the one before it: then what follows goes too.
    const Offset base = segments[segments.size() - (damage >= 3 ? 2 : 1)].base_offset;
    char name[64];
    std::snprintf(name, sizeof name, "/t-0/%020lld.log", static_cast<long long>(base.value()));
    auto file = place.disk->open(place.root + name, env::OpenMode::create_or_open);
    QVERIFY(file);
    const std::uint64_t size = file.value()->size();
    Offset expected;
    if (damage == 0) {
      QVERIFY(file.value()->truncate(size - 5));
      expected = Offset(117);
    } else if (damage == 1) {
      const std::byte zeros[300] = {};
      const ByteSpan piece(zeros);
      QVERIFY(file.value()->append({&piece, 1}));
      expected = Offset(120);
    } else if (damage >= 4) {
      QVERIFY(place.disk->remove(place.root + name));  // its name was not on the disk yet
      expected = base;
    } else {
      const std::byte bad{0x55};
      QVERIFY(file.value()->write_at(70, {&bad, 1}));  // in the first batch of the segment
      expected = base;
    }
    log = &open.reopen(false);
    if (damage == 5) {
      QCOMPARE(log->log_end_offset(), Offset(120));  // compaction leaves such gaps
      continue;
    }
    QCOMPARE(log->log_end_offset(), expected);
    const auto recovered = open.events.of<event::LogRecovered>();
    QCOMPARE(recovered.size(), std::size_t{1});
    QCOMPARE(recovered[0].truncated_to, expected);
    QVERIFY(recovered[0].truncated_bytes > 0);
    std::int64_t on_disk = 0;
    for (const PartitionLog::SegmentInfo& segment : log->segments()) {
      on_disk += segment.size_bytes;
    }
    QCOMPARE(on_disk, log->size_bytes());
    const auto next = static_cast<std::int32_t>(expected.value());
    QCOMPARE(append(*log, make_batch({.producer_id = 1, .sequence = next + 1})).error,
             ErrorCode::out_of_order_sequence_number);
    QCOMPARE(append(*log, make_batch({.producer_id = 1, .sequence = next})).base_offset, expected);
  }
}

// Names that are not on stable storage go in any order. Seed 31120 of the simulator: the first segment went, the second stayed, and the
// replica began where the second does.
void TestLog::a_power_cut_leaves_no_hole() {
  int lost_some = 0;
  for (std::uint64_t seed = 1; seed <= 64; ++seed) {
    env::MemoryDisk memory(1ULL << 30U);
    env::FaultDisk disk(memory, Prng(seed));
    log::DiskJobs jobs;  // its flushes are still on their way when the power goes
    log::OpenParameters parameters;
    parameters.directory = "/data/t-0";
    parameters.identity = {"t", PartitionIndex(0), kTopicId};
    parameters.now = WallTime{1'000};
    parameters.config.segment_bytes = 1'000;
    parameters.config.cleanup_compact = seed % 2 == 0;  // but nothing was compacted yet
    const auto open = [&](bool clean) {
      parameters.clean = clean;
      auto opened = PartitionLog::open({&disk, &jobs, nullptr, BrokerId(1), nullptr}, parameters);
      return opened ? std::move(*opened) : nullptr;
    };
    std::unique_ptr<PartitionLog> log = open(true);
    QVERIFY(log);
    for (int i = 0; i < 40; ++i) {
      QCOMPARE(append(*log, make_batch({.records = 2})).error, ErrorCode::none);
    }
    QVERIFY(log->segments().size() >= 4);
    log.reset();
    QVERIFY(disk.crash());
    log = open(false);
    QVERIFY(log);
    QCOMPARE(log->log_start_offset(), Offset(0));
    std::int64_t next = 0;  // a read ends with its segment
    while (next < log->log_end_offset().value()) {
      const std::vector<std::int64_t> some = offsets_of(read(*log, next));
      QVERIFY(!some.empty());
      for (const std::int64_t offset : some) {
        QCOMPARE(offset, next++);
      }
    }
    lost_some += next < 80 ? 1 : 0;
  }
  QVERIFY(lost_some > 10);
}

void TestLog::clean_reopen_scans_nothing() {
  Place place("posix");
  OpenLog open(place);
  PartitionLog* log = &open.reopen(true);
  for (int i = 0; i < 100; ++i) {
    append(*log, make_batch({.value_size = 500}));
  }
  QVERIFY(log->close(WallTime{1'000}));
  // A damaged record in the middle goes unnoticed: proof that a clean start reads headers at the end only.
  auto file = place.disk->open(place.root + "/t-0/00000000000000000000.log", env::OpenMode::create_or_open);
  QVERIFY(file);
  const std::byte bad{0x55};
  QVERIFY(file.value()->write_at(5'000, {&bad, 1}));
  log = &open.reopen(true);
  QCOMPARE(log->log_end_offset(), Offset(100));
  log = &open.reopen(false);
  open.parameters.recovery_point = Offset(0);
  QVERIFY(open.events.of<event::LogRecovered>().size() == 1);
}

void TestLog::log_append_time() {
  Place place("memory");
  OpenLog open(place);
  open.parameters.config.timestamp_type = wire::TimestampType::log_append_time;
  PartitionLog& log = open.reopen(true);
  const AppendOutcome outcome = append(log, make_batch({.records = 2, .timestamp_ms = 5}), 77'000);
  QCOMPARE(outcome.log_append_time_ms, 77'000);
  const Bytes stored = read(log, 0);
  const wire::BatchView batch = wire::read_batch(stored.span()).view;
  QCOMPARE(batch.max_timestamp(), 77'000);
  QCOMPARE(batch.timestamp_type(), wire::TimestampType::log_append_time);
  QVERIFY(batch.crc_ok());
  QCOMPARE(log.find_max_timestamp()->offset, Offset(0));
}

void TestLog::recompression() {
  Place place("memory");
  OpenLog open(place);
  open.parameters.config.compression_type = "gzip";
  PartitionLog& log = open.reopen(true);
  QCOMPARE(append(log, make_batch({.records = 50, .compression = wire::Compression::zstd})).last_offset, Offset(49));
  const Bytes stored = read(log, 0);
  QCOMPARE(wire::read_batch(stored.span()).view.compression(), wire::Compression::gzip);
  QCOMPARE(offsets_of(stored).size(), std::size_t{50});
}

void TestLog::open_transactions_hold_the_stable_offset_back() {
  QFETCH(QString, kind);
  Place place(kind);
  OpenLog open(place);
  PartitionLog* log = &open.reopen(true);
  const auto marker = [&](std::int64_t id, bool commit) {
    log::AppendRequest request;
    request.records = wire::end_txn_marker_batch(commit, 0, ProducerId(id), ProducerEpoch(0), 1'000);
    request.leader_epoch = LeaderEpoch(0);
    request.origin = log::AppendOrigin::coordinator;
    request.now = WallTime{1'000};
    return log->append_as_leader(std::move(request));
  };
  append(*log, make_batch({}));
  append(*log, make_batch({.records = 2, .producer_id = 1, .transactional = true}));   // 1, 2
  append(*log, make_batch({.records = 2, .producer_id = 2, .transactional = true}));   // 3, 4
  log->maybe_advance_high_watermark(Offset(5));
  QCOMPARE(log->last_stable_offset(), Offset(1));
  QCOMPARE(offsets_of(read(*log, 0, 1 << 20, ReadIsolation::last_stable)), (std::vector<std::int64_t>{0}));
  QCOMPARE(marker(1, false).base_offset, Offset(5));
  log->maybe_advance_high_watermark(Offset(6));
  QCOMPARE(log->last_stable_offset(), Offset(3));
  for (int round = 0; round < 3; ++round) {
    const log::ReadOutcome outcome = log->read({Offset(0), 1 << 20, true, ReadIsolation::last_stable});
    QCOMPARE(outcome.aborted.size(), std::size_t{1});
    QCOMPARE(outcome.aborted[0].producer_id, ProducerId(1));
    QCOMPARE(outcome.aborted[0].first_offset, Offset(1));
    QCOMPARE(log->last_stable_offset(), Offset(3));
    if (round == 0) {
      log = &open.reopen(false);  // the transaction index is built anew
    } else if (round == 1) {
      QVERIFY(log->close(WallTime{1'000}));
      log = &open.reopen(true);
    }
  }
  QCOMPARE(marker(2, true).error, ErrorCode::none);
  QCOMPARE(log->last_stable_offset(), Offset(3));  // until the marker is below the high watermark
  log->maybe_advance_high_watermark(Offset(7));
  QCOMPARE(log->last_stable_offset(), Offset(7));
}

// KIP-890: what nobody would end is not written.
void TestLog::transactional_records_need_an_open_transaction() {
  Place place("memory");
  OpenLog open(place);
  PartitionLog& log = open.reopen(true);
  const auto write = [&](std::int16_t epoch, std::int32_t sequence, std::uint64_t verification, bool transactional = true) {
    log::AppendRequest request;
    request.records = make_batch({.producer_id = 1, .epoch = epoch, .sequence = sequence, .transactional = transactional});
    request.leader_epoch = LeaderEpoch(0);
    request.now = WallTime{1'000};
    request.transaction.verify = true;
    request.transaction.verification = verification;
    return log.append_as_leader(std::move(request)).error;
  };
  const auto ask = [&](std::int16_t epoch, std::int32_t sequence, bool epochs_rise = true) {
    return log.begin_verification(ProducerId(1), ProducerEpoch(epoch), sequence, epochs_rise, WallTime{1'000});
  };
  const auto mark = [&](std::int16_t epoch, std::int8_t version) {
    log::AppendRequest request;
    request.records = wire::end_txn_marker_batch(true, 0, ProducerId(1), ProducerEpoch(epoch), 1'000);
    request.leader_epoch = LeaderEpoch(0);
    request.origin = log::AppendOrigin::coordinator;
    request.now = WallTime{1'000};
    request.transaction.marker_version = version;
    return log.append_as_leader(std::move(request)).error;
  };
  QCOMPARE(write(0, 0, 0), ErrorCode::invalid_txn_state);
  const std::uint64_t first = ask(0, 0);
  QVERIFY(first != 0);
  QCOMPARE(ask(0, 0), first);  // the same question
  QCOMPARE(write(0, 0, first + 1), ErrorCode::invalid_txn_state);
  QCOMPARE(write(0, 2, first), ErrorCode::out_of_order_sequence_number);
  QCOMPARE(write(0, 0, first), ErrorCode::none);
  QCOMPARE(ask(0, 1), std::uint64_t{0});  // it is open now
  QCOMPARE(write(0, 1, 0), ErrorCode::none);
  QCOMPARE(write(0, 2, 0, false), ErrorCode::invalid_txn_state);
  QCOMPARE(mark(0, 2), ErrorCode::invalid_producer_epoch);
  QCOMPARE(mark(1, 2), ErrorCode::none);
  // An answer that comes after the end is worth nothing.
  const std::uint64_t second = ask(1, 0);
  QVERIFY(second != first);
  QCOMPARE(write(1, 0, first), ErrorCode::invalid_txn_state);
  QCOMPARE(mark(2, 2), ErrorCode::none);
  QCOMPARE(write(2, 0, second), ErrorCode::invalid_txn_state);
  QCOMPARE(write(2, 0, ask(2, 0)), ErrorCode::none);
  // The next transaction asks while the marker of this one is on its way.
  const std::uint64_t next = ask(3, 0);
  QCOMPARE(mark(3, 2), ErrorCode::none);
  QCOMPARE(write(3, 0, next), ErrorCode::none);
  QCOMPARE(mark(3, 0), ErrorCode::none);  // of old: the same epoch
  const std::uint64_t of_old = ask(3, 1, false);
  QCOMPARE(mark(3, 0), ErrorCode::none);
  QCOMPARE(write(3, 1, of_old), ErrorCode::invalid_txn_state);
}

void TestLog::full_disk() {
  Place place("memory");
  place.disk = std::make_unique<env::MemoryDisk>(20'000);
  QVERIFY(place.disk->make_directories(place.root));
  OpenLog open(place);
  PartitionLog& log = open.reopen(true);
  int appended = 0;
  AppendOutcome outcome;
  while ((outcome = append(log, make_batch({.value_size = 700}))).error == ErrorCode::none) {
    ++appended;
  }
  QCOMPARE(outcome.error, ErrorCode::kafka_storage_error);
  QVERIFY(appended > 10);
  QCOMPARE(log.log_end_offset(), Offset(appended));
  QCOMPARE(static_cast<int>(offsets_of(read(log, 0)).size()), appended);
  QVERIFY(log.truncate_to(Offset(5)));
  QCOMPARE(append(log, make_batch({})).base_offset, Offset(5));
}

void TestLog::follower_keeps_offsets() {
  Place place("memory");
  OpenLog open(place);
  open.parameters.config.segment_bytes = 700;
  PartitionLog& leader = open.reopen(true);
  for (int i = 0; i < 12; ++i) {
    append(leader, make_batch({.records = 3}), 1'000, i / 4);
  }
  OpenLog copy(place);
  copy.parameters.directory = place.root + "/u-0";
  copy.parameters.config.segment_bytes = 700;
  PartitionLog& follower = copy.reopen(true);
  std::int64_t at = 0;
  while (at < 36) {
    const Bytes bytes = read(leader, at, 500);
    const AppendOutcome outcome = follower.append_as_follower(bytes, WallTime{1'000});
    QCOMPARE(outcome.error, ErrorCode::none);
    QVERIFY(outcome.last_offset.value() >= at);
    at = outcome.last_offset.value() + 1;
  }
  QCOMPARE(follower.log_end_offset(), leader.log_end_offset());
  QCOMPARE(follower.end_offset_for_epoch(LeaderEpoch(1)).end_offset, Offset(24));
  for (std::int64_t offset = 0; offset < 36; ++offset) {
    QCOMPARE(read(follower, offset, 1), read(leader, offset, 1));
  }
  QCOMPARE(follower.append_as_follower(read(leader, 0, 1), WallTime{1'000}).error, ErrorCode::offset_out_of_range);
}

// The log start's checkpoint is written now and then, the epochs with every change: after a crash the log begins lower than its epochs do.
void TestLog::epochs_of_what_a_crash_brought_back() {
  Place place("posix");
  OpenLog open(place);
  PartitionLog* log = &open.reopen(true);
  append(*log, make_batch({.records = 10}), 1'000, 0);
  append(*log, make_batch({.records = 10}), 1'000, 1);
  append(*log, make_batch({.records = 10}), 1'000, 3);
  log->maybe_advance_high_watermark(Offset(30));
  QVERIFY(log->advance_log_start_offset(Offset(25)));
  QCOMPARE(log->end_offset_for_epoch(LeaderEpoch(0)).end_offset, Offset(25));  // all that is known
  open.log.reset();
  open.parameters.log_start_offset = Offset(0);
  log = &open.reopen(false);
  QCOMPARE(log->log_start_offset(), Offset(0));
  QCOMPARE(log->log_end_offset(), Offset(30));
  QCOMPARE(log->end_offset_for_epoch(LeaderEpoch(0)).end_offset, Offset(10));
  QCOMPARE(log->end_offset_for_epoch(LeaderEpoch(2)).end_offset, Offset(20));
  QCOMPARE(log->epoch_of(Offset(15)), LeaderEpoch(1));
}

void TestLog::log_start_moves() {
  Place place("posix");
  OpenLog open(place);
  open.parameters.config.segment_bytes = 500;
  PartitionLog* log = &open.reopen(true);
  for (int i = 0; i < 30; ++i) {
    append(*log, make_batch({}));
  }
  QVERIFY(!log->advance_log_start_offset(Offset(10)));  // not above the high watermark
  log->maybe_advance_high_watermark(Offset(30));
  const std::size_t before = log->segments().size();
  QVERIFY(log->advance_log_start_offset(Offset(17)));
  QCOMPARE(log->log_start_offset(), Offset(17));
  QCOMPARE(log->segments().size(), before);  // they go with the next round of retention
  open.run_jobs();
  const Result<std::size_t> gone = log->delete_old_segments(WallTime{2'000}, 1'000);
  QVERIFY(gone && *gone > 0);
  QCOMPARE(log->segments().size(), before - *gone);
  QVERIFY(log->segments().front().base_offset <= Offset(17));
  QVERIFY(log->segments()[1].base_offset > Offset(17));
  const auto moved = open.events.of<event::LogStartMoved>();
  QCOMPARE(moved.size(), std::size_t{1});
  QCOMPARE(moved[0].from, Offset(0));
  QCOMPARE(moved[0].to, Offset(17));
  QVERIFY(moved[0].cause == event::DeletionCause::records);
  QCOMPARE(log->read({Offset(16), 100, true, ReadIsolation::log_end}).error, ErrorCode::offset_out_of_range);
  QCOMPARE(open.events.of<event::SegmentDeleted>().size(), *gone);
  log = &open.reopen(false);
  QCOMPARE(log->log_start_offset(), Offset(17));
  QCOMPARE(log->log_end_offset(), Offset(30));
}

void TestLog::events_and_counters() {
  Place place("memory");
  OpenLog open(place);
  PartitionLog& log = open.reopen(true);
  const auto opened = open.events.of<event::ReplicaOpened>();
  QCOMPARE(opened.size(), std::size_t{1});
  append(log, make_batch({.key = "abcdefghij"}));
  append(log, make_batch({.records = 4}));
  log.maybe_advance_high_watermark(Offset(2));
  const event::ReplicaCounters& counters = *opened[0].counters;
  QCOMPARE(counters.log_end_offset.get(), 5);
  QCOMPARE(counters.high_watermark.get(), 2);
  QCOMPARE(counters.records_in.get(), 5);
  QCOMPARE(counters.bytes_in.get(), log.size_bytes());
  QCOMPARE(counters.segments.get(), 1);
  const auto batches = open.events.of<event::BatchAppended>();
  QCOMPARE(batches.size(), std::size_t{2});
  QCOMPARE(int{batches[0].key_size}, 10);
  QCOMPARE(std::string(batches[0].key_head.data(), 8), std::string("abcdefgh"));
  QCOMPARE(batches[1].base_offset, Offset(1));
  QCOMPARE(batches[1].last_offset, Offset(4));
}

QTEST_APPLESS_MAIN(TestLog)
#include "tst_log.moc"
