// SPDX-License-Identifier: Apache-2.0
// What the tests of logs share: batches, a disk to choose, events and jobs to look at.
#pragma once

#include <QTemporaryDir>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/env/memory_disk.h"
#include "engine/env/posix_disk.h"
#include "engine/log/log_manager.h"
#include "engine/log/partition_log.h"
#include "engine/wire/record/batch.h"
#include "engine/wire/record/batch_builder.h"
#include "engine/wire/record/record_iterator.h"

namespace hw::test {

inline const Uuid kTopicId{0x0123456789abcdefULL, 0x1122334455667788ULL};

class Events : public event::EventSink {
 public:
  void emit(event::Any event) override { all.push_back(std::move(event)); }
  template <class Kind>
  [[nodiscard]] std::vector<Kind> of() const {
    std::vector<Kind> found;
    for (const event::Any& event : all) {
      if (const Kind* kind = std::get_if<Kind>(&event)) {
        found.push_back(*kind);
      }
    }
    return found;
  }
  std::vector<event::Any> all;
};

// "memory" or "posix", with a directory to work in.
struct Place {
  explicit Place(const QString& kind) {
    if (kind == "memory") {
      disk = std::make_unique<env::MemoryDisk>(1ULL << 30U);
      root = "/data";
    } else {
      disk = std::make_unique<env::PosixDisk>(16);  // few, so that descriptors come and go
      root = folder.path().toStdString() + "/data";
    }
    static_cast<void>(disk->make_directories(root));
  }
  QTemporaryDir folder;
  std::unique_ptr<env::Disk> disk;
  std::string root;
};

struct BatchSpec {
  int records = 1;
  std::size_t value_size = 20;
  std::int64_t timestamp_ms = 1'000;
  std::int64_t timestamp_step = 0;
  std::int64_t producer_id = -1;
  std::int16_t epoch = 0;
  std::int32_t sequence = 0;
  bool transactional = false;
  wire::Compression compression = wire::Compression::none;
  std::string key = "key";
};

inline Bytes make_batch(const BatchSpec& spec) {
  wire::BatchOptions options;
  options.compression = spec.compression;
  if (spec.producer_id >= 0) {
    options.producer_id = ProducerId(spec.producer_id);
    options.producer_epoch = ProducerEpoch(spec.epoch);
    options.base_sequence = spec.sequence;
    options.transactional = spec.transactional;
  }
  wire::BatchBuilder builder(options);
  for (int i = 0; i < spec.records; ++i) {
    const std::string value(spec.value_size, static_cast<char>('a' + i % 26));
    builder.append(std::string_view(spec.key), std::string_view(value), spec.timestamp_ms + i * spec.timestamp_step);
  }
  return builder.finish();
}

inline log::AppendOutcome append(log::PartitionLog& log, Bytes records, std::int64_t now_ms = 1'000, int epoch = 0) {
  log::AppendRequest request;
  request.records = std::move(records);
  request.leader_epoch = LeaderEpoch(epoch);
  request.now = WallTime{now_ms};
  return log.append_as_leader(std::move(request));
}

inline Bytes read(log::PartitionLog& log, std::int64_t from, std::int64_t max_bytes = 1 << 20,
                  log::ReadIsolation isolation = log::ReadIsolation::log_end, bool at_least_one = true) {
  const log::ReadOutcome outcome = log.read({Offset(from), max_bytes, at_least_one, isolation});
  return outcome.error == wire::ErrorCode::none ? outcome.records.flatten() : Bytes{};
}

// Offsets of all records in whole batches.
inline std::vector<std::int64_t> offsets_of(const Bytes& bytes) {
  std::vector<std::int64_t> offsets;
  wire::BatchCursor cursor(bytes.span());
  wire::BatchView batch;
  while (cursor.next(batch)) {
    Result<wire::RecordIterator> records = wire::RecordIterator::open(batch);
    wire::RecordView record;
    while (records && records->next(record)) {
      offsets.push_back(record.offset.value());
    }
  }
  return offsets;
}

struct OpenLog {
  explicit OpenLog(Place& where) : place(where) {
    parameters.directory = place.root + "/t-0";
    parameters.identity = {"t", PartitionIndex(0), kTopicId};
    parameters.now = WallTime{1'000};
  }
  // Opens again with what a manager would remember.
  log::PartitionLog& reopen(bool clean) {
    if (log) {
      parameters.recovery_point = log->recovery_point();
      parameters.high_watermark = log->high_watermark();
      parameters.log_start_offset = log->log_start_offset();
    }
    log.reset();
    parameters.clean = clean;
    auto opened = log::PartitionLog::open({place.disk.get(), &jobs, &events, BrokerId(1), nullptr}, parameters);
    if (!opened) {
      qFatal("open: %s", opened.error().detail.c_str());
    }
    log = std::move(*opened);
    return *log;
  }
  void run_jobs() {
    for (log::DiskJob& job : jobs.take()) {
      const Result<void> done = job.work();
      if (job.kind == log::JobKind::flush && done) {
        log->flushed(job, WallTime{1'000});
      }
    }
  }
  Place& place;
  log::OpenParameters parameters;
  log::DiskJobs jobs;
  Events events;
  std::unique_ptr<log::PartitionLog> log;
};

}  // namespace hw::test
