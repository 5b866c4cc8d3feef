// SPDX-License-Identifier: Apache-2.0
// The metadata log over files does what the one in memory does, which the quorum's simulations run on; and its snapshots are
// files as Kafka names them.
#include <QtTest/QTest>

#include <memory>
#include <string>
#include <vector>

#include "engine/api/metadata_log.h"
#include "engine/env/memory_disk.h"
#include "engine/log/log_manager.h"
#include "engine/raft/control_records.h"
#include "engine/raft/memory_log.h"

using namespace hw;
using raft::EpochEnd;
using raft::SnapshotId;

namespace {

constexpr WallTime kWall{1'790'000'000'000};

struct OnDisk {
  env::MemoryDisk disk{64U << 20U};
  std::unique_ptr<log::PartitionLog> log;
  std::unique_ptr<api::MetadataLog> metadata;

  void open() {
    metadata.reset();
    log.reset();
    log::OpenParameters parameters;
    parameters.directory = "d/__cluster_metadata-0";
    parameters.identity = {"__cluster_metadata", PartitionIndex(0), Uuid{0, 1}};
    parameters.config.retention_ms = -1;
    parameters.clean = false;
    parameters.now = kWall;
    log::LogContext context;
    context.disk = &disk;
    Result<std::unique_ptr<log::PartitionLog>> opened = log::PartitionLog::open(context, parameters);
    HW_ASSERT(opened.has_value(), "the log opens");
    log = std::move(*opened);
    Result<std::unique_ptr<api::MetadataLog>> made = api::MetadataLog::open(disk, *log);
    HW_ASSERT(made.has_value(), "the metadata log opens");
    metadata = std::move(*made);
  }
};

Bytes batch_at(Offset base, LeaderEpoch epoch, std::size_t records) {
  std::vector<Bytes> values(records, Bytes::copy_of("value"));
  return raft::data_batch_of(values, base, epoch, kWall);
}

std::string text(const EpochEnd& end) {
  return std::to_string(end.epoch.value()) + "@" + std::to_string(end.end_offset.value());
}

}  // namespace

class TestMetadataLog : public QObject {
  Q_OBJECT
 private slots:
  void names();
  void equals_the_log_in_memory();
  void snapshots_are_files();
  void a_part_of_a_snapshot_is_thrown_away();
  void a_log_that_ends_before_its_snapshot_begins_behind_it();
};

void TestMetadataLog::names() {
  const SnapshotId id{Offset(123), LeaderEpoch(7)};
  QCOMPARE(api::snapshot_name(id), std::string("00000000000000000123-0000000007.checkpoint"));
  QVERIFY(api::parse_snapshot_name(api::snapshot_name(id)) == id);
  for (const char* other : {"00000000000000000123-0000000007.checkpoint.part", "00000000000000000000.log", "quorum-state",
                            "0000000000000000012x-0000000007.checkpoint", "00000000000000000123-99999999999.checkpoint", ""}) {
    QVERIFY2(!api::parse_snapshot_name(other).has_value(), other);
  }
}

void TestMetadataLog::equals_the_log_in_memory() {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Prng prng(seed);
    OnDisk files;
    files.open();
    raft::MemoryLog memory;
    std::int32_t epoch = 1;
    for (int i = 0; i < 60; ++i) {
      api::MetadataLog& log = *files.metadata;
      const auto what = prng.below(10);
      if (what < 5) {
        epoch += prng.chance({1, 3}) ? static_cast<std::int32_t>(1 + prng.below(3)) : 0;
        const Bytes batch = batch_at(memory.end_offset(), LeaderEpoch(epoch), 1 + prng.below(3));
        if (prng.chance({1, 2})) {
          QVERIFY(log.append_as_leader(Bytes::copy_of(batch.span()), LeaderEpoch(epoch), kWall).has_value());
        } else {
          QVERIFY(log.append_as_follower(Bytes::copy_of(batch.span()), kWall).has_value());
        }
        QVERIFY(memory.append_as_follower(batch, kWall).has_value());
      } else if (what == 5 && !memory.batches().empty()) {
        // Between batches, as the quorum cuts.
        const raft::MemoryLog::Batch& at = memory.batches()[prng.below(memory.batches().size())];
        const Offset to = std::max(at.base, memory.high_watermark());
        if (memory.find(to) != nullptr && memory.find(to)->base == to) {
          QVERIFY(memory.truncate_to(to).has_value());
          QVERIFY(log.truncate_to(to).has_value());
        }
      } else if (what == 6 && !memory.batches().empty()) {
        const Offset to = memory.batches()[prng.below(memory.batches().size())].last + 1;
        if (to > memory.high_watermark()) {
          memory.set_high_watermark(to);
          log.set_high_watermark(to);
        }
      } else if (what == 7 && memory.high_watermark() > memory.start_offset()) {
        const raft::MemoryLog::Batch* last = memory.find(memory.high_watermark() - 1);
        const SnapshotId id{memory.high_watermark(), last->epoch};
        for (raft::ReplicatedLog* each : {static_cast<raft::ReplicatedLog*>(&memory), static_cast<raft::ReplicatedLog*>(&log)}) {
          QVERIFY(each->create_snapshot(id).has_value());
          QVERIFY(each->append_snapshot(id, Bytes::copy_of("of a ")).has_value());
          QVERIFY(each->append_snapshot(id, Bytes::copy_of("snapshot")).has_value());
          QVERIFY(each->freeze_snapshot(id).has_value());
          QVERIFY(each->delete_before(id).has_value());
        }
      } else if (what == 8) {
        const SnapshotId id{memory.end_offset() + 5, LeaderEpoch(++epoch)};
        for (raft::ReplicatedLog* each : {static_cast<raft::ReplicatedLog*>(&memory), static_cast<raft::ReplicatedLog*>(&log)}) {
          QVERIFY(each->create_snapshot(id).has_value());
          QVERIFY(each->append_snapshot(id, Bytes::copy_of("another")).has_value());
          QVERIFY(each->freeze_snapshot(id).has_value());
          QVERIFY(each->truncate_fully_and_start_at(id).has_value());
        }
      } else if (what == 9) {
        QVERIFY(files.log->flush(kWall).has_value());
        QVERIFY(log.durable_offset() == log.end_offset());
      }
      QVERIFY(log.start_offset() == memory.start_offset());
      QVERIFY(log.end_offset() == memory.end_offset());
      QVERIFY(log.high_watermark() == memory.high_watermark());
      QCOMPARE(log.last_epoch().value(), memory.last_epoch().value());
      QVERIFY(log.snapshots() == memory.snapshots());
      for (std::int32_t asked = 0; asked <= epoch + 1; ++asked) {
        QCOMPARE(text(log.end_offset_for_epoch(LeaderEpoch(asked))), text(memory.end_offset_for_epoch(LeaderEpoch(asked))));
      }
      const Result<BytesChain> ours = log.read(memory.start_offset(), 1 << 20);
      const Result<BytesChain> theirs = memory.read(memory.start_offset(), 1 << 20);
      QVERIFY(ours.has_value() && theirs.has_value());
      QVERIFY(*ours == *theirs);
    }
  }
}

void TestMetadataLog::snapshots_are_files() {
  OnDisk files;
  files.open();
  api::MetadataLog& log = *files.metadata;
  QVERIFY(log.append_as_leader(batch_at(Offset(0), LeaderEpoch(3), 4), LeaderEpoch(3), kWall).has_value());
  log.set_high_watermark(Offset(4));
  const SnapshotId id{Offset(4), LeaderEpoch(3)};
  QVERIFY(log.create_snapshot(id).has_value());
  QVERIFY(log.append_snapshot(id, Bytes::copy_of("0123456789")).has_value());
  QVERIFY(log.snapshots().empty());
  QVERIFY(!log.snapshot_size(id).has_value());
  QVERIFY(log.freeze_snapshot(id).has_value());
  QVERIFY(files.disk.exists("d/__cluster_metadata-0/00000000000000000004-0000000003.checkpoint"));
  QCOMPARE(*log.snapshot_size(id), std::uint64_t{10});
  QCOMPARE(std::string(log.read_snapshot(id, 3, 4)->text()), std::string("3456"));
  QCOMPARE(std::string(log.read_snapshot(id, 8, 100)->text()), std::string("89"));
  QVERIFY(!log.read_snapshot(id, 11, 1).has_value());
  QVERIFY(files.log->flush(kWall).has_value());
  files.open();
  QVERIFY(files.metadata->snapshots() == std::vector<SnapshotId>{id});
  QCOMPARE(files.metadata->end_offset().value(), 4);
}

void TestMetadataLog::a_part_of_a_snapshot_is_thrown_away() {
  OnDisk files;
  files.open();
  const SnapshotId id{Offset(9), LeaderEpoch(1)};
  QVERIFY(files.metadata->create_snapshot(id).has_value());
  QVERIFY(files.metadata->append_snapshot(id, Bytes::copy_of("half")).has_value());
  const std::string part = "d/__cluster_metadata-0/00000000000000000009-0000000001.checkpoint.part";
  QVERIFY(files.disk.exists(part));
  files.open();
  QVERIFY(!files.disk.exists(part));
  QVERIFY(files.metadata->snapshots().empty());
}

void TestMetadataLog::a_log_that_ends_before_its_snapshot_begins_behind_it() {
  OnDisk files;
  files.open();
  QVERIFY(files.metadata->append_as_leader(batch_at(Offset(0), LeaderEpoch(1), 2), LeaderEpoch(1), kWall).has_value());
  QVERIFY(files.log->flush(kWall).has_value());
  // The snapshot came from the leader, and the node died before its log was cut.
  const SnapshotId id{Offset(50), LeaderEpoch(6)};
  QVERIFY(files.metadata->create_snapshot(id).has_value());
  QVERIFY(files.metadata->append_snapshot(id, Bytes::copy_of("all")).has_value());
  QVERIFY(files.metadata->freeze_snapshot(id).has_value());
  files.open();
  QCOMPARE(files.metadata->start_offset().value(), 50);
  QCOMPARE(files.metadata->end_offset().value(), 50);
  QCOMPARE(files.metadata->last_epoch().value(), 6);
  QVERIFY(files.metadata->durable_offset() == Offset(50));
}

QTEST_APPLESS_MAIN(TestMetadataLog)
#include "tst_metadata_log.moc"
