// SPDX-License-Identifier: Apache-2.0
// Random operations on a log beside an obviously right twin: a list of the batches that must be in it. By seed; a failure prints
// the seed and the step. `tst_log_opfuzz` runs a fixed range; HW_OPFUZZ_SEED=n runs one.
#include <QTest>
#include <algorithm>
#include <cstdlib>
#include <deque>

#include "engine/env/fault_disk.h"
#include "log_fixture.h"

using namespace hw;        // NOLINT(google-build-using-namespace): a test
using namespace hw::test;  // NOLINT(google-build-using-namespace)
using log::AppendOutcome;
using log::PartitionLog;
using log::ReadIsolation;
using wire::ErrorCode;

namespace {

struct TwinBatch {
  Offset base;
  Offset last;
  Bytes bytes;  // as stored
  std::int64_t producer = -1;
  std::int32_t first_sequence = 0;
  std::int32_t last_sequence = 0;
};

class Fuzz {
 public:
  Fuzz(std::uint64_t seed, bool posix)
      : seed_(seed), prng_(seed), place_(posix ? "posix" : "memory"), disk_(*place_.disk, Prng(seed * 31 + 7)) {
    parameters_.directory = place_.root + "/t-0";
    parameters_.identity = {"t", PartitionIndex(0), kTopicId};
    parameters_.now = WallTime{1'000};
    parameters_.config.segment_bytes = static_cast<std::int32_t>(prng_.between(600, 6'000));
    parameters_.config.index_interval_bytes = static_cast<std::int32_t>(prng_.below(3) * 300);
    parameters_.config.retention_ms = prng_.chance({1, 2}) ? prng_.between(0, 5'000) : -1;
    parameters_.config.retention_bytes = prng_.chance({1, 2}) ? prng_.between(0, 20'000) : -1;
    parameters_.config.cleanup_delete = prng_.chance({3, 4});
    parameters_.config.timestamp_after_max_ms = std::numeric_limits<std::int64_t>::max();
    open(true);
  }

  // Empty: all was well. Otherwise what was not.
  std::string run(int steps) {
    for (step_ = 0; step_ < steps && problem_.empty(); ++step_) {
      one();
      if (problem_.empty()) {
        check_ends();
      }
    }
    if (problem_.empty()) {
      check_all();
    }
    return problem_.empty() ? problem_
                            : "seed " + std::to_string(seed_) + " step " + std::to_string(step_) + ": " + problem_;
  }

 private:
  void complain(const std::string& what) {
    if (problem_.empty()) {
      problem_ = what;
    }
  }
  void check(bool good, const std::string& what) {
    if (!good) {
      complain(what);
    }
  }

  void open(bool clean) {
    log_.reset();
    parameters_.clean = clean;
    auto opened = PartitionLog::open({&disk_, &jobs_, &events_, BrokerId(1), nullptr}, parameters_);
    if (!opened) {
      complain("open: " + opened.error().detail);
      return;
    }
    log_ = std::move(*opened);
  }

  void one() {
    const std::uint64_t operation = prng_.below(27);
    if (std::getenv("HW_OPFUZZ_TRACE") != nullptr) {
      qInfo("%d: operation %d, log end %lld, recovery point %lld", step_, static_cast<int>(operation),
            static_cast<long long>(end_.value()), static_cast<long long>(log_->recovery_point().value()));
    }
    switch (operation) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4:
      case 5:
      case 6:
        return append_plain();
      case 7:
      case 8:
      case 9:
        return append_idempotent();
      case 10:
        return append_inside();
      case 11:
        log_->maybe_advance_high_watermark(Offset(prng_.between(0, log_->log_end_offset().value())));
        return;
      case 12:
      case 13:
      case 14:
      case 15:
        return read_some();
      case 16:
        return truncate();
      case 17:
        check(log_->roll(WallTime{1'000}).has_value(), "roll");
        return;
      case 18:
        return flush();
      case 19:
        return find_time();
      case 20:
        return restart_clean();
      case 21:
        return kill();
      case 22:
        return crash();
      case 23:
        return delete_records();
      case 24:
        return retain();
      case 25:
        stale_start_ = start_;
        return;
      default:
        return append_with_fault();
    }
  }

  AppendOutcome send(Bytes bytes, log::AppendOrigin origin = log::AppendOrigin::client) {
    log::AppendRequest request;
    request.records = std::move(bytes);
    request.leader_epoch = LeaderEpoch(epoch_);
    request.origin = origin;
    request.now = WallTime{1'000};
    if (prng_.chance({1, 15})) {
      ++epoch_;
    }
    return log_->append_as_leader(std::move(request));
  }

  BatchSpec random_spec() {
    BatchSpec spec;
    spec.records = static_cast<int>(prng_.between(1, 5));
    spec.value_size = prng_.below(90);
    spec.timestamp_ms = prng_.between(1'000, 5'000);
    spec.timestamp_step = prng_.between(-5, 20);
    spec.compression = prng_.chance({1, 6}) ? wire::Compression::zstd : wire::Compression::none;
    return spec;
  }

  // Takes over what the log stored at `base`, after checking that it is what was sent but for the stamped fields.
  void adopt(const AppendOutcome& outcome, const Bytes& sent, std::int64_t producer) {
    check(outcome.base_offset == end_, "appended at " + std::to_string(outcome.base_offset.value()));
    Bytes stored = Bytes::copy_of(sent.span());
    MutableByteSpan bytes(stored.unique_data(), stored.size());
    std::size_t at = 0;
    while (at < stored.size()) {
      const wire::BatchRead read = wire::read_batch(stored.span().subspan(at));
      wire::set_base_offset(bytes.subspan(at, read.size), end_);
      wire::set_leader_epoch(bytes.subspan(at, read.size), last_epoch_);
      TwinBatch batch;
      batch.base = end_;
      batch.last = end_ + read.view.last_offset_delta();
      batch.bytes = stored.slice(at, read.size);
      batch.producer = producer;
      batch.first_sequence = read.view.base_sequence();
      batch.last_sequence = read.view.last_sequence();
      end_ = batch.last + 1;
      if (producer >= 0) {
        history_.push_back(batch);
        history_.back().bytes = Bytes{};
      }
      twin_.push_back(std::move(batch));
      at += read.size;
    }
    check(outcome.last_offset == end_ - 1, "last offset");
  }

  void append_plain() {
    const Bytes bytes = make_batch(random_spec());
    last_epoch_ = LeaderEpoch(epoch_);
    const AppendOutcome outcome = send(bytes);
    if (outcome.error != ErrorCode::none) {
      return complain("append: " + std::to_string(static_cast<int>(outcome.error)) + " " + outcome.error_message);
    }
    adopt(outcome, bytes, -1);
  }

  void append_with_fault() {
    const Bytes bytes = make_batch(random_spec());
    last_epoch_ = LeaderEpoch(epoch_);
    disk_.fail_after(prng_.below(8));
    const AppendOutcome outcome = send(bytes);
    disk_.stop_failing();
    if (outcome.error == ErrorCode::none) {
      adopt(outcome, bytes, -1);
    } else {
      check(outcome.error == ErrorCode::kafka_storage_error, "a failing disk is a storage error");
    }
  }

  void append_inside() {
    ByteBuilder builder(1024);
    for (std::int64_t i = prng_.between(1, 3); i > 0; --i) {
      BatchSpec spec = random_spec();
      spec.value_size = prng_.below(20);
      builder.append(make_batch(spec).span());
    }
    const Bytes bytes = builder.finish();
    last_epoch_ = LeaderEpoch(epoch_);
    const AppendOutcome outcome = send(bytes, log::AppendOrigin::coordinator);
    if (outcome.error == ErrorCode::record_list_too_large) {
      return;
    }
    check(outcome.error == ErrorCode::none, "inside append " + outcome.error_message);
    if (problem_.empty()) {
      adopt(outcome, bytes, -1);
    }
  }

  // The batches of a producer, oldest first, also those that were deleted since.
  std::vector<const TwinBatch*> batches_of(std::int64_t producer) const {
    std::vector<const TwinBatch*> found;
    for (const TwinBatch& batch : history_) {
      if (batch.producer == producer) {
        found.push_back(&batch);
      }
    }
    return found;
  }

  void append_idempotent() {
    const std::int64_t producer = prng_.between(1, 3);
    const std::vector<const TwinBatch*> mine = batches_of(producer);
    BatchSpec spec = random_spec();
    spec.producer_id = producer;
    const std::int32_t next = mine.empty() ? 0 : mine.back()->last_sequence + 1;
    const std::uint64_t what = prng_.below(4);
    last_epoch_ = LeaderEpoch(epoch_);
    if (what == 0 && !mine.empty()) {  // a repeat of one of the last seven
      const std::size_t back = prng_.below(std::min<std::size_t>(mine.size(), 7)) + 1;
      const TwinBatch& old = *mine[mine.size() - back];
      spec.sequence = old.first_sequence;
      spec.records = old.last_sequence - old.first_sequence + 1;
      const AppendOutcome outcome = send(make_batch(spec));
      if (back == 1 || (back <= 5 && since_restart_[producer] >= back)) {
        check(outcome.duplicate && outcome.base_offset == old.base && outcome.last_offset == old.last,
              "repeat " + std::to_string(back) + " back is not recognised");
      } else if (back > 5) {
        check(outcome.error == ErrorCode::out_of_order_sequence_number, "repeat of a forgotten batch");
      } else {
        check(outcome.duplicate || outcome.error == ErrorCode::out_of_order_sequence_number, "repeat after restart");
      }
      return;
    }
    if (what == 1 && !mine.empty()) {
      spec.sequence = next + static_cast<std::int32_t>(prng_.between(1, 9));
      check(send(make_batch(spec)).error == ErrorCode::out_of_order_sequence_number, "a gap is not refused");
      return;
    }
    spec.sequence = next;
    const Bytes bytes = make_batch(spec);
    const AppendOutcome outcome = send(bytes);
    if (mine.empty() && log_->log_start_offset() > Offset(0) &&
        (outcome.error != ErrorCode::none || outcome.duplicate)) {
      return;  // a snapshot may know a producer whose batches a crash took with a whole first segment
    }
    check(outcome.error == ErrorCode::none && !outcome.duplicate,
          "the next sequence " + std::to_string(next) + " of producer " + std::to_string(producer) + " is refused: " +
              std::to_string(static_cast<int>(outcome.error)) + " " + std::to_string(outcome.duplicate) + " " +
              outcome.error_message);
    if (problem_.empty()) {
      adopt(outcome, bytes, producer);
      ++since_restart_[producer];
    }
  }

  void read_some() {
    // A crash may lose a first segment that was never flushed: then the log begins later.
    const Offset from(prng_.between(log_->log_start_offset().value(), log_->log_end_offset().value()));
    const std::int64_t max = static_cast<std::int64_t>(prng_.below(2'000));
    const ReadIsolation isolation = prng_.chance({1, 2}) ? ReadIsolation::log_end : ReadIsolation::high_watermark;
    const bool at_least_one = prng_.chance({3, 4});
    const Offset bound = isolation == ReadIsolation::log_end ? end_ : log_->high_watermark();
    const log::ReadOutcome outcome = log_->read({from, max, at_least_one, isolation});
    check(outcome.error == ErrorCode::none, "read");
    const Bytes got = outcome.records.flatten();
    check(got.size() == outcome.records.size(), "a region cannot be read");
    const std::int64_t promised = log_->readable_bytes(from, isolation);
    check(promised >= static_cast<std::int64_t>(got.size()), "readable_bytes says less than there is");
    auto first = std::find_if(twin_.begin(), twin_.end(), [&](const TwinBatch& b) { return b.last >= from; });
    std::vector<std::byte> expected;
    std::size_t first_size = 0;
    for (auto it = first; it != twin_.end() && it->last < bound; ++it) {
      expected.insert(expected.end(), it->bytes.data(), it->bytes.data() + it->bytes.size());
      first_size = first_size == 0 ? it->bytes.size() : first_size;
    }
    if (from >= bound || first_size == 0 || (!at_least_one && static_cast<std::size_t>(max) < first_size)) {
      return check(got.empty(), "bytes above the bound or the limit");
    }
    check(!got.empty(), "nothing at " + std::to_string(from.value()));
    check(got.size() >= std::min(first_size, expected.size()), "the first batch is not whole");
    check(got.size() <= std::max(static_cast<std::size_t>(max), first_size), "more than asked");
    check(got.size() <= expected.size() && std::memcmp(got.data(), expected.data(), got.size()) == 0,
          "other bytes at " + std::to_string(from.value()));
  }

  void find_time() {
    const std::int64_t asked = prng_.between(900, 5'200);
    Offset expected = kNoOffset;
    for (const TwinBatch& batch : twin_) {
      auto records = wire::RecordIterator::open(wire::BatchView(batch.bytes.span()));
      wire::RecordView record;
      while (expected == kNoOffset && records->next(record)) {
        expected = record.timestamp_ms >= asked && record.offset >= start_ ? record.offset : kNoOffset;
      }
    }
    const Result<log::TimestampOffset> found = log_->find_by_timestamp(asked);
    check(found.has_value() && found->offset == expected,
          "timestamp " + std::to_string(asked) + ": " +
              (found ? std::to_string(found->offset.value()) : found.error().detail) + " instead of " +
              std::to_string(expected.value()));
  }

  void delete_records() {
    if (prng_.chance({1, 2})) {
      return;
    }
    const Offset most = log_->high_watermark();
    const Offset to(prng_.between(std::max<std::int64_t>(0, most.value() - 60), most.value() + 1));
    const Result<void> done = log_->advance_log_start_offset(to);
    check(done.has_value() == (to <= most), "delete records to " + std::to_string(to.value()));
    if (done) {
      start_ = std::max(start_, to);
    }
  }

  // Retention as a person would do it with paper and pencil: which segments go, from the front on.
  void retain() {
    const WallTime now{prng_.between(1'000, 9'000)};
    const log::LogConfig& config = log_->config();
    const std::vector<PartitionLog::SegmentInfo> segments = log_->segments();
    std::vector<std::int64_t> newest(segments.size(), -1);
    std::vector<std::int64_t> sizes(segments.size(), 0);
    std::int64_t size = 0;
    for (const TwinBatch& batch : twin_) {
      std::size_t i = segments.size() - 1;
      while (i > 0 && segments[i].base_offset > batch.base) {
        --i;
      }
      newest[i] = std::max(newest[i], wire::BatchView(batch.bytes.span()).max_timestamp());
      sizes[i] += static_cast<std::int64_t>(batch.bytes.size());
      size += static_cast<std::int64_t>(batch.bytes.size());
    }
    std::size_t go = 0;
    const auto end_of = [&](std::size_t i) { return i + 1 < segments.size() ? segments[i + 1].base_offset : end_; };
    const auto may = [&](std::size_t i) {
      return i < segments.size() && end_of(i) <= log_->high_watermark() && (i + 1 < segments.size() || sizes[i] > 0);
    };
    while (may(go) && go + 1 < segments.size() && end_of(go) <= start_) {
      size -= sizes[go++];
    }
    if (config.cleanup_delete && config.retention_bytes >= 0) {
      while (may(go) && size - sizes[go] >= config.retention_bytes) {
        size -= sizes[go++];
      }
    }
    if (config.cleanup_delete && config.retention_ms >= 0) {
      while (may(go) && now.ms - newest[go] > config.retention_ms) {
        ++go;
      }
    }
    const Offset front = go == segments.size() ? end_ : segments[go].base_offset;
    for (int round = 0; round < 100; ++round) {
      const Result<std::size_t> gone = log_->delete_old_segments(now, 1 + prng_.below(3));
      check(gone.has_value(), "retention");
      if (!gone || (*gone == 0 && !log_->deletion_waits())) {
        break;
      }
      if (log_->deletion_waits()) {
        run_jobs();
      }
    }
    check(log_->segments().front().base_offset == front,
          "retention: the first segment is " + std::to_string(log_->segments().front().base_offset.value()) + ", not " +
              std::to_string(front.value()));
    if (go > 0) {
      start_ = std::max(start_, front);
    }
    while (!twin_.empty() && twin_.front().last < front) {
      twin_.pop_front();
    }
    for (const log::Removal& removal : jobs_.take_removals()) {
      for (const std::string& file : removal.files) {
        check(disk_.exists(file), file + " is not there to be removed");
        if (prng_.chance({1, 2})) {
          check(disk_.remove(file).has_value(), "remove " + file);
        }  // otherwise the next start finds it
      }
    }
  }

  // Also the end may have moved back: a gap behind the last batch, left by a truncation, is not on the disk.
  void forget_after_restart() {
    since_restart_.clear();
    const Offset front = log_->segments().front().base_offset;
    check(log_->log_start_offset() == std::max(parameters_.log_start_offset, front), "log start after a restart");
    start_ = log_->log_start_offset();
    stale_start_ = std::min(stale_start_, start_);
    while (!twin_.empty() && twin_.front().last < front) {
      check(twin_.front().last < start_, "a readable batch is gone");
      twin_.pop_front();
    }
    const Offset least = twin_.empty() ? log_->log_start_offset() : twin_.back().last + 1;
    check(log_->log_end_offset() >= least && log_->log_end_offset() <= end_, "log end after a restart");
    end_ = log_->log_end_offset();
    flushed_ = std::min(flushed_, end_);
  }

  void truncate() {
    if (prng_.chance({2, 3})) {
      return;
    }
    const Offset to(prng_.between(std::max<std::int64_t>(0, end_.value() - 40), end_.value()));
    const bool anew = to < log_->segments().front().base_offset;
    check(log_->truncate_to(to).has_value(), "truncate");
    if (to < end_) {
      while (!twin_.empty() && twin_.back().last >= to) {
        twin_.pop_back();
      }
      forget_history_from(to);
      end_ = to;
      start_ = std::min(start_, to);
      stale_start_ = std::min(stale_start_, start_);
      if (anew) {
        twin_.clear();  // below the first segment: nothing is left
      }
      forget_deleted();
      since_restart_.clear();
    }
    flushed_ = std::min(flushed_, to);
  }

  void forget_history_from(Offset to) {
    std::erase_if(history_, [&](const TwinBatch& batch) { return batch.last >= to; });
  }

  // Of a producer whose batches are all deleted, a snapshot may know after a rebuild or not.
  void forget_deleted() {
    std::erase_if(history_, [&](const TwinBatch& known) {
      return std::none_of(twin_.begin(), twin_.end(), [&](const TwinBatch& batch) { return batch.base == known.base; });
    });
  }

  void flush() {
    if (prng_.chance({1, 2})) {
      check(log_->flush(WallTime{1'000}).has_value(), "flush");
      flushed_ = end_;
    } else {
      log_->queue_flush(WallTime{1'000});
      run_jobs();
    }
    check(log_->recovery_point() >= flushed_, "recovery point");
  }

  void run_jobs() {
    for (log::DiskJob& job : jobs_.take()) {
      if (job.work()) {
        log_->flushed(job, WallTime{1'000});
      } else {
        log_->flush_failed();
      }
    }
    flushed_ = std::max(flushed_, log_->recovery_point());
  }

  void remember(bool stale) {
    parameters_.recovery_point = log_->recovery_point();
    parameters_.high_watermark = log_->high_watermark();
    // A kill may come before the checkpoint of log starts was written.
    parameters_.log_start_offset = stale && prng_.chance({1, 3}) ? stale_start_ : log_->log_start_offset();
  }

  void restart_clean() {
    run_jobs();
    check(log_->close(WallTime{1'000}).has_value(), "close");
    remember(false);
    open(true);
    flushed_ = end_;
    forget_after_restart();
  }

  void kill() {  // the process only: every byte that was written is there
    if (prng_.chance({1, 2})) {
      run_jobs();
    } else {
      static_cast<void>(jobs_.take());
      log_->flush_failed();
    }
    remember(true);
    disk_.kill();
    open(false);
    forget_after_restart();
    forget_deleted();
  }

  // The machine: what was flushed is there, and nothing that was never written.
  void crash() {
    if (prng_.chance({1, 2})) {
      run_jobs();
    } else {
      static_cast<void>(jobs_.take());
    }
    remember(true);
    const Offset durable = std::max(flushed_, log_->recovery_point());
    log_.reset();
    check(disk_.crash().has_value(), "crash");
    open(false);
    if (!problem_.empty()) {
      return;
    }
    std::deque<TwinBatch> left;
    const Offset at = log_->log_start_offset();
    const Offset front = log_->segments().front().base_offset;
    for (const TwinBatch& batch : twin_) {
      if (batch.last < at && (batch.last < start_ || batch.last >= front)) {
        if (batch.last >= front) {
          left.push_back(batch);  // deleted, but its segment is there
        }
        continue;
      }
      if (batch.last < at || batch.base >= log_->log_end_offset()) {
        check(batch.last >= durable, "a flushed batch is gone: " + std::to_string(batch.base.value()));
        continue;
      }
      const Bytes got = read_one(batch.last);
      if (got.size() >= batch.bytes.size() &&
          std::memcmp(got.data(), batch.bytes.data(), batch.bytes.size()) == 0) {
        left.push_back(batch);
      } else {
        check(batch.base >= durable, "a flushed batch is different: " + std::to_string(batch.base.value()) + ", durable " +
                                         std::to_string(durable.value()) + ", read " + std::to_string(got.size()));
      }
    }
    twin_ = std::move(left);
    check(twin_.empty() || twin_.back().last < log_->log_end_offset(), "log end after a crash");
    end_ = log_->log_end_offset();
    forget_deleted();
    flushed_ = std::min(durable, end_);
    forget_after_restart();
    check_all();
  }

  Bytes read_one(Offset offset) const {
    const log::ReadOutcome outcome = log_->read({offset, 1, true, ReadIsolation::log_end});
    return outcome.records.flatten();
  }

  void check_ends() {
    if (!log_) {
      return complain("no log");
    }
    check(log_->log_end_offset() == end_, "log end " + std::to_string(log_->log_end_offset().value()) + ", twin " +
                                              std::to_string(end_.value()));
    check(log_->log_start_offset() == start_, "log start " + std::to_string(log_->log_start_offset().value()) +
                                                  ", twin " + std::to_string(start_.value()));
    check(log_->high_watermark() <= end_ && log_->high_watermark() >= log_->log_start_offset(), "high watermark");
    std::int64_t size = 0;
    for (const TwinBatch& batch : twin_) {
      size += static_cast<std::int64_t>(batch.bytes.size());
    }
    check(log_->size_bytes() == size, "size " + std::to_string(log_->size_bytes()) + ", twin " + std::to_string(size));
  }

  // Everything, front to back.
  void check_all() {
    for (const TwinBatch& batch : twin_) {
      if (batch.last < start_) {
        continue;
      }
      const Bytes got = read_one(batch.last);
      check(got == batch.bytes, "batch " + std::to_string(batch.base.value()) + " reads differently");
    }
  }

  std::uint64_t seed_;
  Prng prng_;
  Place place_;
  env::FaultDisk disk_;
  log::OpenParameters parameters_;
  log::DiskJobs jobs_;
  Events events_;
  std::unique_ptr<PartitionLog> log_;
  std::deque<TwinBatch> twin_;       // what the segments hold
  std::vector<TwinBatch> history_;   // of producers, also what was deleted at the front
  Offset start_;                     // records below are deleted
  Offset stale_start_;               // what a checkpoint may still say
  Offset end_;
  Offset flushed_;  // everything below survives a crash
  std::int32_t epoch_ = 0;
  LeaderEpoch last_epoch_;
  std::map<std::int64_t, std::size_t> since_restart_;  // batches of a producer that the five-batch cache has seen
  int step_ = 0;
  std::string problem_;
};

}  // namespace

class TestLogOpfuzz : public QObject {
  Q_OBJECT

 private slots:
  void memory();
  void posix();
};

void TestLogOpfuzz::memory() {
  if (const char* seed = std::getenv("HW_OPFUZZ_SEED")) {
    const std::string problem = Fuzz(std::strtoull(seed, nullptr, 10), false).run(600);
    QVERIFY2(problem.empty(), problem.c_str());
    return;
  }
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    const std::string problem = Fuzz(seed, false).run(400);
    QVERIFY2(problem.empty(), problem.c_str());
  }
}

void TestLogOpfuzz::posix() {
  if (const char* seed = std::getenv("HW_OPFUZZ_SEED")) {
    const std::string problem = Fuzz(std::strtoull(seed, nullptr, 10), true).run(600);
    QVERIFY2(problem.empty(), problem.c_str());
    return;
  }
  for (std::uint64_t seed = 1'001; seed <= 1'010; ++seed) {
    const std::string problem = Fuzz(seed, true).run(400);
    QVERIFY2(problem.empty(), problem.c_str());
  }
}

QTEST_APPLESS_MAIN(TestLogOpfuzz)
#include "tst_log_opfuzz.moc"
