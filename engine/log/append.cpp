// SPDX-License-Identifier: Apache-2.0
// Appends: what a leader checks and stamps, and how bytes get into the active segment.
#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "engine/base/trial.h"
#include "engine/log/partition_log_impl.h"
#include "engine/wire/record/record_iterator.h"
#include "engine/wire/record/validate.h"

namespace hw::log {
namespace {

// The bytes for patching: in place where nobody else sees them, otherwise in a copy that replaces `records`.
MutableByteSpan writable(Bytes& records, bool exclusive) {
  std::byte* data = records.unique_data();
  if (data == nullptr && exclusive && records.block() != nullptr) {
    data = const_cast<std::byte*>(records.data());  // NOLINT: the caller vouches for it
  }
  if (data == nullptr) {
    records = Bytes::copy_of(records.span());
    data = records.unique_data();
  }
  return {data, records.size()};
}

void refuse(AppendOutcome& outcome, wire::ErrorCode error, std::string message) {
  outcome.error = error;
  outcome.error_message = std::move(message);
}

}  // namespace

void PartitionLog::Impl::fail_with(AppendOutcome& outcome, const Error& error) const {
  if (context_.health != nullptr) {
    context_.health->note(error);
  }
  outcome = AppendOutcome{};
  outcome.error = wire::ErrorCode::kafka_storage_error;
  outcome.error_message = error.detail;
}

AppendOutcome PartitionLog::Impl::append_leader(AppendRequest request) {
  if (closed_) {
    AppendOutcome outcome;
    outcome.error = wire::ErrorCode::kafka_storage_error;
    return outcome;
  }
  return request.origin == AppendOrigin::client ? append_from_client(std::move(request))
                                                : append_from_inside(std::move(request));
}

AppendOutcome PartitionLog::Impl::append_from_client(AppendRequest request) {
  AppendOutcome outcome;
  const wire::BatchRead read = wire::read_batch(request.records.span());
  if (read.status != wire::BatchStatus::ok) {
    refuse(outcome, wire::ErrorCode::corrupt_message, wire::batch_status_name(read.status));
    return outcome;
  }
  if (read.size < request.records.size()) {
    if (wire::read_batch(request.records.span().subspan(read.size)).status == wire::BatchStatus::ok) {
      refuse(outcome, wire::ErrorCode::invalid_record, "more than one batch for a partition");
      return outcome;
    }
    request.records = request.records.slice(0, read.size);
  }
  wire::BatchView batch = read.view;
  wire::ClientBatchCheck check = wire::check_client_batch(batch, rules_, request.now, scratch());
  if (!check.verdict.ok()) {
    outcome.error = check.verdict.error;
    if (check.verdict.message_in_answer) {
      outcome.error_message = std::move(check.verdict.detail);
    }
    if (check.verdict.log_start_in_answer) {
      outcome.log_start_offset = log_start_;
    }
    outcome.record_errors.reserve(check.verdict.record_faults.size());
    for (wire::RecordFault& fault : check.verdict.record_faults) {
      outcome.record_errors.push_back({fault.index, std::move(fault.message)});
    }
    return outcome;
  }
  const wire::Compression codec = codec_.value_or(batch.compression());
  if (codec != batch.compression()) {
    std::optional<int> level;
    if (codec == wire::Compression::gzip && config_.gzip_level != -1) {
      level = config_.gzip_level;
    } else if (codec == wire::Compression::lz4) {
      level = config_.lz4_level;
    } else if (codec == wire::Compression::zstd) {
      level = config_.zstd_level;
    }
    Result<Bytes> rebuilt = wire::rebuild_batch(batch, codec, level, rules_.max_decompressed_bytes);
    if (!rebuilt) {
      outcome.error = rebuilt.error().code == Errc::unsupported ? wire::ErrorCode::unsupported_compression_type
                                                                : wire::ErrorCode::corrupt_message;
      return outcome;
    }
    if (rebuilt->size() > static_cast<std::size_t>(std::max(config_.max_message_bytes, 0))) {
      outcome.error = wire::ErrorCode::message_too_large;
      return outcome;
    }
    request.records = std::move(rebuilt).value();
    request.exclusive = true;
    batch = wire::BatchView(request.records.span());
  }
  if (batch.size() > static_cast<std::size_t>(config_.segment_bytes)) {
    outcome.error = wire::ErrorCode::record_list_too_large;
    return outcome;
  }
  outcome.log_start_offset = log_start_;
  if (batch.has_producer_id()) {
    ProducerVerdict verdict = producers_.check(batch, ProducerCheck::sequence, request.transaction);
    if (verdict.error == wire::ErrorCode::out_of_order_sequence_number && recall_before_) {
      if (auto recalled = recall_batches(); !recalled) {
        fail_with(outcome, recalled.error());
        return outcome;
      }
      verdict = producers_.check(batch, ProducerCheck::sequence, request.transaction);
    }
    if (verdict.duplicate != nullptr) {
      trial::mark(trial::Mark::repeat_answered);
      outcome.duplicate = true;
      outcome.base_offset = verdict.duplicate->first_offset();
      outcome.last_offset = verdict.duplicate->last_offset;
      outcome.log_append_time_ms = verdict.duplicate->timestamp_ms;
      emit(event::DuplicateSuppressed{identity_.topic_id, identity_.partition, batch.producer_id(),
                                      outcome.base_offset});
      return outcome;
    }
    if (verdict.error != wire::ErrorCode::none) {
      outcome.error = verdict.error;
      if (verdict.error == wire::ErrorCode::invalid_producer_epoch) {
        emit(event::ProducerFenced{identity_.topic_id, identity_.partition, batch.producer_id(),
                                   batch.producer_epoch()});
      }
      return outcome;
    }
  }
  const bool append_time = rules_.timestamp_type == wire::TimestampType::log_append_time;
  const Offset base = log_end_;
  const Offset last = base + batch.last_offset_delta();
  if (auto room = maybe_roll(batch.size(), append_time ? request.now.ms : check.max_timestamp, last, request.now); !room) {
    fail_with(outcome, room.error());
    return outcome;
  }
  const MutableByteSpan bytes = writable(request.records, request.exclusive);
  wire::stamp_batch(bytes, base, request.leader_epoch, rules_, request.now, check);
  if (auto written = write(request.records, request.connection, request.now); !written) {
    fail_with(outcome, written.error());
    return outcome;
  }
  outcome.base_offset = base;
  outcome.last_offset = last;
  outcome.log_append_time_ms = append_time ? request.now.ms : -1;
  return outcome;
}

// Coordinators and raft: bytes that this program made. Structure is looked at all the same, records are not.
AppendOutcome PartitionLog::Impl::append_from_inside(AppendRequest request) {
  AppendOutcome outcome;
  Offset next = log_end_;
  std::int64_t max_timestamp = -1;
  {
    wire::BatchCursor cursor(request.records.span());
    wire::BatchView batch;
    while (cursor.next(batch)) {
      if (batch.last_offset_delta() < 0) {
        refuse(outcome, wire::ErrorCode::invalid_record, "a batch with a negative last offset");
        return outcome;
      }
      if (request.origin == AppendOrigin::coordinator &&
          batch.size() > static_cast<std::size_t>(std::max(config_.max_message_bytes, 0))) {
        outcome.error = wire::ErrorCode::message_too_large;
        return outcome;
      }
      if (batch.has_producer_id()) {
        const ProducerVerdict verdict = producers_.check(batch, ProducerCheck::epoch, request.transaction);
        if (verdict.error != wire::ErrorCode::none) {
          refuse(outcome, verdict.error, verdict.detail);
          return outcome;
        }
      }
      max_timestamp = std::max(max_timestamp, batch.max_timestamp());
      next += std::int64_t{batch.last_offset_delta()} + 1;
    }
    if (cursor.status() != wire::BatchStatus::end || next == log_end_) {
      refuse(outcome, wire::ErrorCode::corrupt_message, cursor.problem());
      return outcome;
    }
  }
  if (request.records.size() > static_cast<std::size_t>(config_.segment_bytes)) {
    outcome.error = wire::ErrorCode::record_list_too_large;
    return outcome;
  }
  const bool append_time =
      rules_.timestamp_type == wire::TimestampType::log_append_time && request.origin == AppendOrigin::coordinator;
  if (auto room = maybe_roll(request.records.size(), append_time ? request.now.ms : max_timestamp, next - 1, request.now);
      !room) {
    fail_with(outcome, room.error());
    return outcome;
  }
  const MutableByteSpan bytes = writable(request.records, request.exclusive);
  const Offset base = log_end_;
  Offset at = base;
  wire::BatchCursor cursor(request.records.span());
  wire::BatchView batch;
  std::size_t begin = 0;
  while (cursor.next(batch)) {
    const MutableByteSpan one = bytes.subspan(begin, batch.size());
    begin = cursor.position();
    at += std::int64_t{batch.last_offset_delta()} + 1;
    wire::set_last_offset(one, at - 1);
    wire::set_leader_epoch(one, request.leader_epoch);
    if (append_time) {
      wire::set_max_timestamp(one, wire::TimestampType::log_append_time, request.now.ms);
    }
  }
  if (auto written = write(request.records, request.connection, request.now); !written) {
    fail_with(outcome, written.error());
    return outcome;
  }
  outcome.base_offset = base;
  outcome.last_offset = next - 1;
  outcome.log_append_time_ms = append_time ? request.now.ms : -1;
  outcome.log_start_offset = log_start_;
  return outcome;
}

AppendOutcome PartitionLog::Impl::append_follower(Bytes records, WallTime now) {
  AppendOutcome outcome;
  if (closed_) {
    outcome.error = wire::ErrorCode::kafka_storage_error;
    return outcome;
  }
  // Whole batches only: what a fetch cut off comes again. Several may go in one write as long as no segment has to be rolled.
  std::size_t whole = 0;
  Offset next = log_end_;
  {
    wire::BatchCursor cursor(records.span());
    wire::BatchView batch;
    while (cursor.next(batch)) {
      if (batch.base_offset() < next || batch.last_offset_delta() < 0) {
        refuse(outcome, wire::ErrorCode::offset_out_of_range, "a batch below the log's end");
        return outcome;
      }
      if (!wire::batch_intact(batch)) {
        refuse(outcome, wire::ErrorCode::corrupt_message, "a batch whose checksum does not hold");
        return outcome;
      }
      next = batch.next_offset();
      whole = cursor.position();
    }
    if (cursor.status() != wire::BatchStatus::end && cursor.status() != wire::BatchStatus::truncated) {
      refuse(outcome, wire::ErrorCode::corrupt_message, cursor.problem());
      return outcome;
    }
  }
  std::size_t from = 0;
  while (from < whole) {
    // As many batches as fit into one segment.
    wire::BatchCursor cursor(records.span().subspan(from, whole - from));
    wire::BatchView batch;
    std::size_t size = 0;
    std::int64_t max_timestamp = -1;
    Offset first = kNoOffset;
    Offset last = kNoOffset;
    while (cursor.next(batch)) {
      if (size > 0 && size + batch.size() > static_cast<std::size_t>(config_.segment_bytes)) {
        break;
      }
      size = cursor.position();
      max_timestamp = std::max(max_timestamp, batch.max_timestamp());
      first = first == kNoOffset ? batch.base_offset() : first;
      last = batch.last_offset();
    }
    Result<void> done = maybe_roll(size, max_timestamp, last, now);
    if (done) {
      done = write(records.slice(from, size), ConnectionId{}, now);
    }
    if (!done) {
      fail_with(outcome, done.error());
      return outcome;
    }
    outcome.base_offset = outcome.base_offset == kNoOffset ? first : outcome.base_offset;
    outcome.last_offset = last;
    from += size;
  }
  outcome.log_start_offset = log_start_;
  return outcome;
}

Result<void> PartitionLog::Impl::maybe_roll(std::size_t size, std::int64_t max_timestamp_ms, Offset last_offset,
                                            WallTime now) {
  Segment& segment = active();
  bool due = false;
  if (segment.size() > 0) {
    HW_TRY(const std::int64_t first, segment.first_timestamp());
    const std::int64_t waited = first >= 0 ? max_timestamp_ms - first : now.ms - active_created_.ms;
    const auto max_index = static_cast<std::size_t>(std::max(config_.segment_index_bytes, 0));
    due = segment.size() + size > static_cast<std::size_t>(config_.segment_bytes) ||
          waited > config_.segment_ms - roll_jitter_ms_ ||
          segment.offset_index().file().count() >= max_index / 8 ||
          segment.time_index().file().count() + 1 >= std::max<std::size_t>(max_index / 12, 1);
  }
  constexpr OffsetDelta kEarlyRollFrom = 100;
  due = due || last_offset - segment.base_offset() > std::numeric_limits<std::int32_t>::max() ||
        (last_offset - segment.base_offset() > kEarlyRollFrom && trial::happens(trial::Oddity::early_roll));
  if (!due) {
    return {};
  }
  return roll(now);
}

Result<void> PartitionLog::Impl::roll(WallTime now) {
  Segment& old = active();
  if (old.size() == 0 && old.base_offset() == log_end_) {
    return {};  // an empty segment that begins here already
  }
  // A power cut takes names in any order: a segment that went while its successor stayed would be a hole, and at the front of a log
  // nobody could tell it from what retention deleted.
  if (old.size() > 0 && !named(old)) {
    HW_CHECK(context_.disk->sync_directory(directory_));
  }
  HW_CHECK(old.seal(log_end_));
  HW_CHECK(write_snapshot(log_end_));
  HW_TRY(std::unique_ptr<Segment> fresh, Segment::create(*context_.disk, directory_, log_end_));
  if (old.size() == 0) {
    // Nothing was ever written where it begins, and offsets have gone on: the new one takes its place.
    static_cast<void>(old.remove_files());
    segments_.back() = std::move(fresh);
  } else {
    old.become_inactive();
    segments_.push_back(std::move(fresh));
  }
  note_names(log_end_);
  active_created_ = now;
  draw_jitter();
  counters_->segments.set(static_cast<std::int64_t>(segments_.size()));
  emit(event::SegmentRolled{context_.node, identity_.topic_id, identity_.partition, log_end_});
  queue_flush(now);
  return {};
}

Result<void> PartitionLog::Impl::write(const Bytes& batches, ConnectionId connection, WallTime now) {
  wall_ = std::max(wall_, now);
  wire::BatchView batch;
  {
    // Epochs first: a record whose epoch is not noted would be lost to a follower's truncation.
    bool changed = false;
    wire::BatchCursor cursor(batches.span());
    while (cursor.next(batch)) {
      if (batch.leader_epoch().value() >= 0 && batch.leader_epoch() > epochs_.latest()) {
        changed = epochs_.assign(batch.leader_epoch(), batch.base_offset()) || changed;
      }
    }
    if (changed || epochs_unwritten_) {
      if (auto noted = write_epochs(); !noted) {
        if (changed) {
          epochs_.truncate_from_end(log_end_);
        }
        return noted;
      }
    }
  }
  Segment& segment = active();
  HW_CHECK(segment.append(batches, config_.index_interval_bytes));
  segment.appended_at(now);
  size_ += static_cast<std::int64_t>(batches.size());
  wire::BatchCursor cursor(batches.span());
  while (cursor.next(batch)) {
    if (std::optional<AbortedTxnEntry> aborted = producers_.update(batch)) {
      static_cast<void>(segment.transaction_index().append(*aborted));  // rebuilt at the next recovery if it failed
    }
    log_end_ = batch.next_offset();
    records_in_ += batch.count();
    if (context_.events != nullptr) {
      announce(batch, connection);
    }
  }
  counters_->log_end_offset.set(log_end_.value());
  counters_->size_bytes.set(size_);
  counters_->records_in.set(records_in_);
  counters_->bytes_in.add(static_cast<std::int64_t>(batches.size()));
  note_change();
  if (context_.jobs != nullptr && !named(segment) && names_queued_ != names_ &&
      segment.size() > static_cast<std::size_t>(std::max(config_.segment_bytes, 0)) / 2) {
    push_flush(now);  // beside the appends, long before roll() would have to wait for the name
  }
  queue_due_flush(now);
  return {};
}

void PartitionLog::Impl::announce(const wire::BatchView& batch, ConnectionId connection) {
  event::BatchAppended event;
  event.node = context_.node;
  event.topic_id = identity_.topic_id;
  event.partition = identity_.partition;
  event.base_offset = batch.base_offset();
  event.last_offset = batch.last_offset();
  event.size_bytes = static_cast<std::int32_t>(batch.size());
  event.connection = connection;
  if (batch.count() == 1 && batch.compression_bits() == 0 && !batch.control()) {
    wire::RecordView record;
    const char* problem = nullptr;
    if (wire::parse_record(batch.payload(), batch, record, problem) != 0 && record.key) {
      event.key_size = static_cast<std::int16_t>(std::min<std::size_t>(record.key->size(), 32'767));
      std::memcpy(event.key_head.data(), record.key->data(), std::min(record.key->size(), event.key_head.size()));
    }
  }
  context_.events->emit(event);
}

}  // namespace hw::log
