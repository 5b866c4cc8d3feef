// SPDX-License-Identifier: Apache-2.0
#include "engine/log/partition_log.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "engine/base/trial.h"
#include "engine/log/partition_log_impl.h"

namespace hw::log {

namespace {

// Where the disk breaks a cut off, part of the files may be gone: what is in memory describes nothing that could be gone on with. The log is
// offline from then on, and its directory's health says why.
template <class Cut>
Result<void> cut(PartitionLog& log, PartitionLog::Impl& state, Cut how) {
  if (state.closed_) {
    return fail(Errc::closed, log.directory() + " is offline");
  }
  Result<void> done = how(state);
  if (!done) {
    if (state.context_.health != nullptr) {
      state.context_.health->note(done.error());
    }
    log.abandon();
  }
  return done;
}

}  // namespace

PartitionLog::Impl::Impl(const LogContext& context, const OpenParameters& parameters)
    : context_(context),
      identity_(parameters.identity),
      directory_(parameters.directory),
      active_created_(parameters.now),
      last_flush_(parameters.now),
      wall_(parameters.now),
      prng_(parameters.seed) {
  apply_config(parameters.config);
}

void PartitionLog::Impl::apply_config(const LogConfig& config) {
  config_ = config;
  rules_ = config.produce_rules();
  codec_ = config.compression_type == "producer"
               ? std::nullopt
               : wire::parse_compression(config.compression_type == "uncompressed" ? "none" : config.compression_type);
  draw_jitter();
}

void PartitionLog::Impl::draw_jitter() {
  const std::int64_t most = std::min(config_.segment_jitter_ms, config_.segment_ms);
  roll_jitter_ms_ = most <= 0 ? 0 : prng_.between(0, most - 1);
}

wire::RecordScratch& PartitionLog::Impl::scratch() {
  if (context_.scratch != nullptr) {
    return *context_.scratch;
  }
  if (!own_scratch_) {
    own_scratch_ = std::make_unique<wire::RecordScratch>();
  }
  return *own_scratch_;
}

std::size_t PartitionLog::Impl::segment_of(Offset offset) const {
  if (offset >= segments_.back()->base_offset()) {
    return segments_.size() - 1;
  }
  const auto above = std::upper_bound(segments_.begin(), segments_.end(), offset,
                                      [](Offset at, const auto& segment) { return at < segment->base_offset(); });
  return above == segments_.begin() ? 0 : static_cast<std::size_t>(above - segments_.begin()) - 1;
}

void PartitionLog::Impl::update_stable_offset() {
  const std::optional<Offset> unstable = producers_.first_unstable_offset();
  last_stable_ = unstable ? std::max(std::min(*unstable, high_watermark_), log_start_) : high_watermark_;
}

void PartitionLog::Impl::publish() {
  counters_->log_start_offset.set(log_start_.value());
  counters_->high_watermark.set(high_watermark_.value());
  counters_->last_stable_offset.set(last_stable_.value());
  counters_->log_end_offset.set(log_end_.value());
  counters_->size_bytes.set(size_);
  counters_->segments.set(static_cast<std::int64_t>(segments_.size()));
}

void PartitionLog::Impl::emit(event::Any event) {
  if (context_.events != nullptr) {
    context_.events->emit(std::move(event));
  }
}

void PartitionLog::Impl::note_change() {
  if (context_.jobs != nullptr) {
    context_.jobs->note_change();
  }
}

Result<void> PartitionLog::Impl::write_epochs() {
  const std::string text = format_epochs(epochs_.entries());
  HW_CHECK(context_.disk->write_whole(path_of(kLeaderEpochCheckpoint), as_bytes(text), false));
  epochs_since_ = log_end_;
  epochs_unwritten_ = false;
  return {};
}

Result<void> PartitionLog::Impl::write_snapshot(Offset at) {
  if (!snapshots_.empty() && snapshots_.back() >= at) {
    return {};
  }
  const Bytes bytes = producers_.snapshot();
  HW_CHECK(context_.disk->write_whole(path_of(segment_stem(at) + ".snapshot"), bytes.span(), false));
  snapshots_.push_back(at);
  fresh_snapshots_.push_back(at);
  note_names(log_end_);
  return {};
}

Result<void> PartitionLog::Impl::remove_snapshots_from(Offset offset) {
  while (!snapshots_.empty() && snapshots_.back() > offset) {
    const std::string path = path_of(segment_stem(snapshots_.back()) + ".snapshot");
    if (context_.disk->exists(path)) {
      HW_CHECK(context_.disk->remove(path));
    }
    snapshots_.pop_back();
  }
  return {};
}

void PartitionLog::Impl::note_names(Offset end) {
  names_since_ = end;
  ++names_;
}

void PartitionLog::Impl::names_synced() {
  names_since_ = kNoOffset;
  fresh_snapshots_.clear();
}

void PartitionLog::Impl::cut_again() {
  ++generation_;
  names_queued_ = 0;
}

void PartitionLog::Impl::queue_flush(WallTime now) {
  if (context_.jobs != nullptr && !closed_ && log_end_ > std::max(recovery_point_, flush_queued_)) {
    push_flush(now);
  }
}

void PartitionLog::Impl::push_flush(WallTime now) {
  DiskJob job;
  job.kind = JobKind::flush;
  job.topic_id = identity_.topic_id;
  job.partition = identity_.partition;
  job.up_to = log_end_;
  job.generation = generation_;
  job.future = context_.future;
  job.names = names_queued_ = names_;
  job.work = flush_work();
  flush_queued_ = log_end_;
  last_flush_ = now;
  ++flushes_open_;
  context_.jobs->push(std::move(job));
}

bool PartitionLog::Impl::records_due() const { return log_end_ - recovery_point_ >= config_.flush_messages; }

void PartitionLog::Impl::queue_due_flush(WallTime now) {
  if (flushes_open_ == 0 && records_due()) {
    queue_flush(now);
  }
}

Result<std::unique_ptr<PartitionLog>> PartitionLog::open(const LogContext& context, const OpenParameters& parameters) {
  HW_ASSERT(context.disk != nullptr, "a log has a disk");
  std::unique_ptr<PartitionLog> log(new PartitionLog(std::make_unique<Impl>(context, parameters)));
  HW_CHECK(log->impl_->open(parameters));
  return log;
}

PartitionLog::PartitionLog(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
PartitionLog::~PartitionLog() = default;

std::uint64_t PartitionLog::begin_verification(ProducerId producer, ProducerEpoch epoch, std::int32_t sequence, bool epochs_rise, WallTime now) {
  return impl_->producers_.begin_verification(producer, epoch, sequence, epochs_rise, now);
}
AppendOutcome PartitionLog::append_as_leader(AppendRequest request) { return impl_->append_leader(std::move(request)); }
AppendOutcome PartitionLog::append_as_follower(Bytes records, WallTime now) {
  return impl_->append_follower(std::move(records), now);
}

ReadOutcome PartitionLog::read(const ReadRequest& request) const { return impl_->read(request); }

std::int64_t PartitionLog::readable_bytes(Offset from, ReadIsolation isolation) const {
  const Result<std::int64_t> bytes = impl_->readable(from, bound(isolation));
  // A file that cannot be read answers its reader with an error: let the poll end.
  return bytes ? bytes.value() : std::numeric_limits<std::int64_t>::max();
}

Result<TimestampOffset> PartitionLog::find_by_timestamp(std::int64_t timestamp_ms) const {
  return impl_->find_by_timestamp(timestamp_ms);
}
Result<TimestampOffset> PartitionLog::find_max_timestamp() const { return impl_->find_max_timestamp(); }

EpochEndOffset PartitionLog::end_offset_for_epoch(LeaderEpoch epoch) const {
  const LeaderEpochCache::End end = impl_->epochs_.end_offset(epoch, impl_->log_end_);
  return {end.epoch, end.offset};
}
LeaderEpoch PartitionLog::latest_epoch() const { return impl_->epochs_.latest(); }
LeaderEpoch PartitionLog::epoch_of(Offset offset) const { return impl_->epochs_.epoch_of(offset); }

Offset PartitionLog::log_start_offset() const { return impl_->log_start_; }
Offset PartitionLog::log_end_offset() const { return impl_->log_end_; }
Offset PartitionLog::high_watermark() const { return impl_->high_watermark_; }
Offset PartitionLog::last_stable_offset() const { return impl_->last_stable_; }
Offset PartitionLog::recovery_point() const { return impl_->recovery_point_; }
Offset PartitionLog::settled_end() const {
  return impl_->context_.jobs != nullptr && impl_->records_due() ? impl_->recovery_point_ : impl_->log_end_;
}

Offset PartitionLog::bound(ReadIsolation isolation) const {
  switch (isolation) {
    case ReadIsolation::log_end:
      return impl_->log_end_;
    case ReadIsolation::high_watermark:
      return impl_->high_watermark_;
    case ReadIsolation::last_stable:
      return impl_->last_stable_;
  }
  return impl_->log_start_;
}

bool PartitionLog::maybe_advance_high_watermark(Offset offset) {
  Impl& log = *impl_;
  const Offset wanted = std::min(offset, log.log_end_);
  if (wanted <= log.high_watermark_) {
    return false;
  }
  set_high_watermark(wanted);
  return true;
}

void PartitionLog::set_high_watermark(Offset offset) {
  Impl& log = *impl_;
  log.high_watermark_ = std::clamp(offset, log.log_start_, log.log_end_);
  log.producers_.high_watermark_moved(log.high_watermark_);
  log.update_stable_offset();
  log.counters_->high_watermark.set(log.high_watermark_.value());
  log.counters_->last_stable_offset.set(log.last_stable_.value());
  log.note_change();
}

Result<void> PartitionLog::advance_log_start_offset(Offset offset) {
  if (offset > impl_->high_watermark_) {
    return fail(Errc::invalid, "the log start cannot pass the high watermark");
  }
  trial::mark(trial::Mark::log_start_moved);
  Result<void> done = impl_->raise_log_start(offset, event::DeletionCause::records);
  if (!done && impl_->context_.health != nullptr) {
    impl_->context_.health->note(done.error());
  }
  return done;
}

Result<std::size_t> PartitionLog::delete_old_segments(WallTime now, std::size_t most) {
  return impl_->delete_old_segments(now, most);
}
bool PartitionLog::deletion_waits() const { return impl_->deletion_waits_; }

Result<void> PartitionLog::assign_epoch_start(LeaderEpoch epoch, Offset start) {
  if (impl_->epochs_.assign(epoch, start)) {
    impl_->epochs_unwritten_ = true;
  }
  return {};
}

Result<void> PartitionLog::truncate_to(Offset offset) {
  return cut(*this, *impl_, [offset](Impl& log) { return log.truncate_to(offset); });
}
Result<void> PartitionLog::truncate_fully_and_start_at(Offset offset) {
  return cut(*this, *impl_, [offset](Impl& log) { return log.restart_at(offset); });
}

Result<void> PartitionLog::roll(WallTime now) {
  if (impl_->active().size() == 0) {
    return {};
  }
  return impl_->roll(now);
}

void PartitionLog::set_config(const LogConfig& config) {
  impl_->apply_config(config);
  impl_->queue_due_flush(impl_->wall_);
}

bool PartitionLog::flush_due(WallTime now) const {
  const Impl& log = *impl_;
  const OffsetDelta waiting = log.log_end_ - std::max(log.recovery_point_, log.flush_queued_);
  return waiting > 0 &&
         (waiting >= log.config_.flush_messages || now.ms - log.last_flush_.ms >= log.config_.flush_ms);
}

bool PartitionLog::flush_waits() const {
  return impl_->flush_queued_ >= impl_->log_end_ && impl_->recovery_point_ < impl_->log_end_;
}

void PartitionLog::queue_flush(WallTime now) { impl_->queue_flush(now); }

void PartitionLog::flushed(const DiskJob& job, WallTime now) {
  impl_->flush_came_back();
  if (job.generation == impl_->generation_) {
    if (job.names == impl_->names_) {
      impl_->names_synced();
    }
    impl_->flushed(job.up_to, now);
  } else if (impl_->flushes_open_ == 0) {
    impl_->flush_queued_ = impl_->recovery_point_;  // a truncation came between, and nothing is on the way any more
  }
  impl_->queue_due_flush(now);
}

void PartitionLog::Impl::flushed(Offset up_to, WallTime now) {
  // What became due while the work ran stays due: only what lies wholly below is ticked off.
  for (std::size_t i = 0; i + 1 < segments_.size() && segments_[i + 1]->base_offset() < up_to; ++i) {
    segments_[i]->set_indexes_unsynced(false);
  }
  if (names_since_ < up_to) {
    names_synced();
  }
  if (epochs_since_ < up_to) {
    epochs_since_ = kNoOffset;
  }
  recovery_point_ = std::max(recovery_point_, std::min(up_to, log_end_));
  last_flush_ = now;
  note_change();
}

void PartitionLog::flush_failed() {
  impl_->flush_came_back();
  impl_->flush_queued_ = impl_->recovery_point_;
  impl_->names_queued_ = 0;
}

Result<void> PartitionLog::flush(WallTime now) {
  Impl& log = *impl_;
  if (log.closed_) {
    return fail(Errc::closed, directory() + " is offline");
  }
  if (log.log_end_ > log.recovery_point_) {
    const Offset up_to = log.log_end_;
    if (auto done = log.flush_work()(); !done) {
      flush_failed();
      return done;
    }
    log.names_synced();
    log.flushed(up_to, now);
  }
  return {};
}

Result<void> PartitionLog::close(WallTime now) {
  Impl& log = *impl_;
  if (log.closed_) {
    return {};
  }
  HW_CHECK(log.active().seal(log.log_end_));
  log.producers_.expire(now, log.config_.producer_id_expiration_ms);
  if (log.log_end_ > Offset(0)) {
    HW_CHECK(log.write_snapshot(log.log_end_));
  }
  // An empty log has nothing to lose: ten thousand of them close without ten thousand syncs.
  const bool unsynced = log.names_since_ != kNoOffset || log.epochs_since_ != kNoOffset ||
                        std::any_of(log.segments_.begin(), log.segments_.end(),
                                    [](const auto& segment) { return segment->indexes_unsynced(); });
  if (log.log_end_ > log.recovery_point_ || (unsynced && log.log_end_ > Offset(0))) {
    HW_CHECK(log.flush_work(true)());
    log.flushed(log.log_end_, now);
  }
  abandon();
  return {};
}

void PartitionLog::abandon() {
  Impl& log = *impl_;
  if (!log.closed_) {
    log.closed_ = true;
    log.emit(event::ReplicaClosed{log.context_.node, log.identity_.topic_id, log.identity_.partition});
  }
}

bool PartitionLog::offline() const { return impl_->closed_; }

void PartitionLog::take_over(const PartitionLog& before, const std::string& directory, event::EventSink* events) {
  Impl& log = *impl_;
  const Impl& old = *before.impl_;
  log.directory_ = directory;
  for (const auto& segment : log.segments_) {
    segment->moved_to(directory);
  }
  log.context_.events = events;
  log.context_.future = false;
  log.apply_config(old.config_);
  log.flushes_open_ = 0;
  flush_failed();  // jobs of the time on the way are not handed over
  log.producers_ = old.producers_;  // also those whose batches are deleted
  log.recall_before_ = old.recall_before_;
  log.records_in_ = old.records_in_;
  log.counters_->records_in.set(old.records_in_);
  log.counters_->bytes_in.set(old.counters_->bytes_in.get());
  log.counters_->records_out.set(old.counters_->records_out.get());
  log.counters_->bytes_out.set(old.counters_->bytes_out.get());
  log.emit(event::ReplicaOpened{log.context_.node, log.identity_.topic_id, log.identity_.partition, log.counters_});
  for (const auto& segment : log.segments_) {
    log.emit(event::SegmentRolled{log.context_.node, log.identity_.topic_id, log.identity_.partition, segment->base_offset()});
  }
  if (old.log_start_ > log.log_start_) {
    log.log_start_ = old.log_start_;
    log.epochs_unwritten_ = log.epochs_.truncate_from_start(old.log_start_) || log.epochs_unwritten_;
  }
  set_high_watermark(old.high_watermark_);
  log.publish();
}

const LogIdentity& PartitionLog::identity() const { return impl_->identity_; }
const LogConfig& PartitionLog::config() const { return impl_->config_; }
const std::string& PartitionLog::directory() const { return impl_->directory_; }
std::shared_ptr<const event::ReplicaCounters> PartitionLog::counters() const { return impl_->counters_; }
std::int64_t PartitionLog::size_bytes() const { return impl_->size_; }

std::vector<PartitionLog::SegmentInfo> PartitionLog::segments() const {
  std::vector<SegmentInfo> infos;
  infos.reserve(impl_->segments_.size());
  for (const auto& segment : impl_->segments_) {
    const Result<TimeIndex::Entry> largest = segment->largest_timestamp();
    infos.push_back({segment->base_offset(), static_cast<std::int64_t>(segment->size()),
                     largest ? largest->timestamp_ms : -1});
  }
  return infos;
}

std::vector<PartitionLog::ProducerInfo> PartitionLog::producers() const {
  std::vector<ProducerInfo> infos;
  for (const auto& [id, entry] : impl_->producers_.entries()) {
    infos.push_back({id, entry.epoch, entry.last_sequence(), entry.last_timestamp_ms, entry.coordinator_epoch,
                     entry.current_txn_first_offset});
  }
  return infos;
}

void PartitionLog::expire_producers(WallTime now) {
  impl_->producers_.expire(now, impl_->config_.producer_id_expiration_ms);
}

void PartitionLog::count_fetched(std::int64_t records, std::int64_t bytes) {
  impl_->counters_->records_out.add(records);
  impl_->counters_->bytes_out.add(bytes);
}

}  // namespace hw::log
