// SPDX-License-Identifier: Apache-2.0
// Reads: where an offset is, how far a reader may go, and what time belongs to which record.
#include <algorithm>
#include <limits>
#include <utility>

#include "engine/log/file_batch_reader.h"
#include "engine/log/partition_log_impl.h"
#include "engine/wire/record/record_iterator.h"

namespace hw::log {
namespace {

// First record of a batch that `wanted` accepts; nullopt where there is none.
template <class Predicate>
Result<std::optional<TimestampOffset>> first_record(const wire::BatchView& batch, std::size_t max_decompressed,
                                                    Predicate wanted) {
  HW_TRY(wire::RecordIterator records, wire::RecordIterator::open(batch, max_decompressed));
  wire::RecordView record;
  while (records.next(record)) {
    if (wanted(record)) {
      return std::optional<TimestampOffset>({record.offset, record.timestamp_ms, batch.leader_epoch()});
    }
  }
  if (records.failed()) {
    return fail(Errc::corrupt, records.problem());
  }
  return std::optional<TimestampOffset>{};
}

}  // namespace

ReadOutcome PartitionLog::Impl::read(const ReadRequest& request) {
  ReadOutcome outcome;
  outcome.high_watermark = high_watermark_;
  outcome.last_stable_offset = last_stable_;
  outcome.log_start_offset = log_start_;
  outcome.log_end_offset = log_end_;
  if (closed_) {
    outcome.error = wire::ErrorCode::kafka_storage_error;
    return outcome;
  }
  if (request.from < log_start_ || request.from > log_end_) {
    outcome.error = wire::ErrorCode::offset_out_of_range;
    return outcome;
  }
  Offset bound = log_end_;
  switch (request.isolation) {
    case ReadIsolation::log_end:
      break;
    case ReadIsolation::high_watermark:
      bound = high_watermark_;
      break;
    case ReadIsolation::last_stable:
      bound = last_stable_;
      break;
  }
  if (request.from >= bound) {
    return outcome;
  }
  if (auto done = read_into(request, bound, outcome); !done) {
    if (context_.health != nullptr) {
      context_.health->note(done.error());
    }
    outcome.records.clear();
    outcome.aborted.clear();
    outcome.error = wire::ErrorCode::kafka_storage_error;
  }
  return outcome;
}

Result<void> PartitionLog::Impl::read_into(const ReadRequest& request, Offset bound, ReadOutcome& outcome) {
  // The segment the offset lies in may end before it (a gap): then the next one that has a batch.
  for (std::size_t index = segment_of(request.from); index < segments_.size(); ++index) {
    Segment& segment = *segments_[index];
    HW_TRY(const std::optional<BatchPlace> place, segment.locate(request.from));
    if (!place) {
      continue;
    }
    const Offset segment_end = index + 1 < segments_.size() ? segments_[index + 1]->base_offset() : log_end_;
    std::uint64_t end = segment.size();
    if (bound < segment_end) {
      HW_TRY(end, segment.position_of_bound(bound));
    }
    if (end <= place->position) {
      return {};  // the batch reaches up to the bound or beyond
    }
    std::uint64_t size = std::min<std::uint64_t>(end - place->position,
                                                 static_cast<std::uint64_t>(std::max<std::int64_t>(request.max_bytes, 0)));
    if (size < place->size) {
      if (!request.at_least_one_batch) {
        return {};
      }
      size = place->size;
    }
    BytesChain slices = segment.file()->slices(place->position, size);
    if (slices.empty()) {
      outcome.records.append(FileRegion{segment.file(), place->position, size});
    } else {
      outcome.records = std::move(slices);
    }
    if (request.isolation == ReadIsolation::last_stable) {
      // How far the bytes may reach, by the index: a consumer takes aborted transactions behind its data in its stride.
      Offset below = segment_end;
      HW_TRY(const std::optional<OffsetIndex::Entry> entry,
             segment.offset_index().first_from(static_cast<std::uint32_t>(place->position + size)));
      if (entry) {
        below = entry->offset;
      }
      HW_CHECK(collect_aborted(request.from, below, outcome.aborted));
    }
    return {};
  }
  return {};
}

Result<void> PartitionLog::Impl::collect_aborted(Offset from, Offset below, std::vector<AbortedTransaction>& aborted) {
  for (std::size_t index = segment_of(from); index < segments_.size(); ++index) {
    HW_TRY(const std::vector<AbortedTxnEntry>* entries, segments_[index]->transaction_index().entries());
    for (const AbortedTxnEntry& entry : *entries) {
      if (entry.last_offset >= from && entry.first_offset < below) {
        aborted.push_back({entry.producer_id, entry.first_offset});
      }
      if (entry.last_stable_offset >= below) {
        return {};  // every later entry begins behind the range
      }
    }
  }
  return {};
}

Result<std::int64_t> PartitionLog::Impl::readable(Offset from, Offset bound) {
  if (from >= bound || from < log_start_) {
    return std::int64_t{0};
  }
  for (std::size_t index = segment_of(from); index < segments_.size(); ++index) {
    Segment& segment = *segments_[index];
    HW_TRY(const std::optional<BatchPlace> place, segment.locate(from));
    if (!place) {
      continue;
    }
    const Offset segment_end = index + 1 < segments_.size() ? segments_[index + 1]->base_offset() : log_end_;
    std::uint64_t end = segment.size();
    if (bound < segment_end) {
      HW_TRY(end, segment.position_of_bound(bound));
    }
    return end > place->position ? static_cast<std::int64_t>(end - place->position) : std::int64_t{0};
  }
  return std::int64_t{0};
}

Result<TimestampOffset> PartitionLog::Impl::find_by_timestamp(std::int64_t timestamp_ms) {
  for (const auto& segment : segments_) {
    HW_TRY(const TimeIndex::Entry largest, segment->largest_timestamp());
    if (segment->size() == 0 || largest.timestamp_ms < timestamp_ms) {
      continue;
    }
    // Everything up to the index entry is older, so the search begins behind it.
    HW_TRY(const TimeIndex::Entry hint, segment->time_index().lookup(timestamp_ms));
    const Offset from = std::max(hint.offset, log_start_);
    HW_TRY(const OffsetIndex::Entry start, segment->offset_index().lookup(from));
    FileBatchReader reader(*segment->file(), start.position < segment->size() ? start.position : 0, segment->size());
    wire::BatchView batch;
    while (reader.next(batch)) {
      if (batch.max_timestamp() < timestamp_ms || batch.last_offset() < log_start_) {
        continue;
      }
      HW_TRY(const std::optional<TimestampOffset> found,
             first_record(batch, rules_.max_decompressed_bytes, [&](const wire::RecordView& record) {
               return record.timestamp_ms >= timestamp_ms && record.offset >= log_start_;
             }));
      if (found) {
        return *found;
      }
    }
    if (reader.read_failed()) {
      return fail(Errc::io, "cannot read a segment of " + directory_);
    }
  }
  return TimestampOffset{};
}

Result<TimestampOffset> PartitionLog::Impl::find_max_timestamp() {
  Segment* best = nullptr;
  TimeIndex::Entry largest{-1, Offset(0)};
  for (const auto& segment : segments_) {
    HW_TRY(const TimeIndex::Entry entry, segment->largest_timestamp());
    if (segment->size() > 0 && entry.timestamp_ms > largest.timestamp_ms) {
      best = segment.get();
      largest = entry;
    }
  }
  if (best == nullptr) {
    return TimestampOffset{};
  }
  HW_TRY(const OffsetIndex::Entry start, best->offset_index().lookup(largest.offset));
  FileBatchReader reader(*best->file(), start.position, best->size());
  wire::BatchView batch;
  while (reader.next(batch)) {
    if (batch.max_timestamp() != largest.timestamp_ms) {
      continue;
    }
    HW_TRY(const std::optional<TimestampOffset> found,
           first_record(batch, rules_.max_decompressed_bytes,
                        [&](const wire::RecordView& record) { return record.timestamp_ms == largest.timestamp_ms; }));
    if (found) {
      return *found;
    }
  }
  if (reader.read_failed()) {
    return fail(Errc::io, "cannot read a segment of " + directory_);
  }
  return TimestampOffset{};
}

}  // namespace hw::log
