// SPDX-License-Identifier: Apache-2.0
#include "engine/log/segment.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <utility>

#include "engine/log/file_batch_reader.h"
#include "engine/wire/record/validate.h"

namespace hw::log {
namespace {

constexpr std::size_t kScanPiece = 4096;  // one read between two index entries of small batches

}  // namespace

std::string segment_stem(Offset base) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%020lld", static_cast<long long>(base.value()));
  return text.data();
}

std::optional<Offset> parse_segment_name(std::string_view name, std::string_view suffix) {
  if (name.size() != 20 + suffix.size() || name.substr(20) != suffix) {
    return std::nullopt;
  }
  std::int64_t value = 0;
  for (const char c : name.substr(0, 20)) {
    if (c < '0' || c > '9' || value > (std::numeric_limits<std::int64_t>::max() - (c - '0')) / 10) {
      return std::nullopt;
    }
    value = value * 10 + (c - '0');
  }
  return Offset(value);
}

Segment::Segment(env::Disk& disk, const std::string& directory, Offset base)
    : disk_(disk),
      directory_(directory),
      base_(base),
      offset_index_(disk, directory + "/" + segment_stem(base) + ".index", base),
      time_index_(disk, directory + "/" + segment_stem(base) + ".timeindex", base),
      transaction_index_(disk, directory + "/" + segment_stem(base) + ".txnindex") {}

Result<std::unique_ptr<Segment>> Segment::create(env::Disk& disk, const std::string& directory, Offset base) {
  std::unique_ptr<Segment> segment(new Segment(disk, directory, base));
  HW_TRY(segment->file_, disk.open(directory + "/" + segment_stem(base) + ".log", env::OpenMode::create_new));
  segment->largest_ = TimeIndex::Entry{-1, base};
  segment->transaction_index_.mark_new();
  return segment;
}

Result<std::unique_ptr<Segment>> Segment::open(env::Disk& disk, const std::string& directory, Offset base) {
  std::unique_ptr<Segment> segment(new Segment(disk, directory, base));
  HW_TRY(segment->file_, disk.open(directory + "/" + segment_stem(base) + ".log", env::OpenMode::create_or_open));
  segment->size_ = segment->file_->size();
  if (segment->size_ > static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max())) {
    return fail(Errc::corrupt, directory + "/" + segment_stem(base) + ".log is larger than a segment can be");
  }
  if (segment->size_ == 0) {
    segment->largest_ = TimeIndex::Entry{-1, base};
  }
  return segment;
}

Result<void> Segment::append(const Bytes& batches, std::int32_t index_interval_bytes) {
  if (broken_) {
    return fail(Errc::io, directory_ + " had a write error that could not be undone");
  }
  const std::uint64_t before = size_;
  if (auto written = file_->append_shared(batches); !written) {
    if (file_->size() != before) {
      broken_ = !file_->truncate(before).has_value();
    }
    return written;
  }
  size_ = before + batches.size();
  wire::BatchCursor cursor(batches.span());
  wire::BatchView batch;
  std::size_t position = 0;
  while (cursor.next(batch)) {
    const auto at = static_cast<std::uint32_t>(before + position);
    if (!first_timestamp_ && before + position == 0) {
      first_timestamp_ = batch.max_timestamp();
    }
    // An index that cannot be written is rebuilt at the next start; the data is there.
    static_cast<void>(index_batch(batch.last_offset(), batch.max_timestamp(), at,
                                  static_cast<std::uint32_t>(batch.size()), index_interval_bytes));
    note_batch(batch, at);
    position = cursor.position();
  }
  return {};
}

Result<void> Segment::index_batch(Offset last_offset, std::int64_t max_timestamp, std::uint32_t position,
                                  std::uint32_t size, std::int32_t interval) {
  if (!largest_) {
    HW_TRY(largest_, time_index_.last());
  }
  if (max_timestamp > largest_->timestamp_ms) {
    largest_ = TimeIndex::Entry{max_timestamp, last_offset};
  }
  if (since_index_ > static_cast<std::uint64_t>(std::max(interval, 0))) {
    since_index_ = size;
    indexes_unsynced_ = true;  // it may be written any time from now on
    HW_CHECK(offset_index_.append(last_offset, position));
    HW_CHECK(time_index_.maybe_append(largest_->timestamp_ms, largest_->offset));
  } else {
    since_index_ += size;
  }
  return {};
}

void Segment::note_batch(const wire::BatchView& batch, std::uint32_t position) {
  const TailEntry entry{batch.base_offset(), batch.last_offset_delta(), position};
  if (tail_.size() < kTail) {
    tail_.push_back(entry);  // not full yet: tail_first_ stays 0
  } else {
    tail_[tail_first_] = entry;
    tail_first_ = (tail_first_ + 1) % kTail;
  }
}

std::size_t Segment::tail_search(Offset offset) const {
  std::size_t low = 0;
  std::size_t high = tail_.size();
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (tail(middle).base + tail(middle).last_delta >= offset) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

// Walks batch headers in [from, to); `each` returns false to stop.
Result<void> Segment::scan(std::uint64_t from, std::uint64_t to,
                           const std::function<bool(const BatchPlace&)>& each) const {
  std::array<std::byte, kScanPiece> buffer;
  std::uint64_t at = from;
  while (at < to) {
    const std::size_t wanted = static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), to - at));
    const std::ptrdiff_t got = file_->read_at(at, {buffer.data(), wanted});
    if (got < 0) {
      return fail(Errc::io, "cannot read " + directory_ + "/" + segment_stem(base_) + ".log");
    }
    const std::uint64_t piece_at = at;
    const std::uint64_t piece_end = at + static_cast<std::uint64_t>(got);
    while (at + wire::kBatchHeaderSize <= piece_end) {
      const wire::BatchView header(ByteSpan(buffer.data() + (at - piece_at), wire::kBatchHeaderSize));
      const std::int64_t size = std::int64_t{header.length()} + static_cast<std::int64_t>(wire::kLogOverhead);
      if (size < static_cast<std::int64_t>(wire::kBatchHeaderSize) || static_cast<std::uint64_t>(size) > to - at ||
          header.magic() != wire::kBatchMagic || header.base_offset() < base_ || header.last_offset_delta() < 0) {
        return fail(Errc::corrupt, directory_ + "/" + segment_stem(base_) + ".log has no batch at position " +
                                       std::to_string(at));
      }
      if (!each({header.base_offset(), header.last_offset(), static_cast<std::uint32_t>(at),
                 static_cast<std::uint32_t>(size), header.max_timestamp()})) {
        return {};
      }
      at += static_cast<std::uint64_t>(size);
    }
    if (at == piece_at) {
      return fail(Errc::corrupt, directory_ + "/" + segment_stem(base_) + ".log ends inside a batch");
    }
  }
  return {};
}

Result<std::optional<BatchPlace>> Segment::locate(Offset offset) {
  const std::size_t count = tail_.size();
  if (count > 0 && (offset >= tail(0).base || tail(0).position == 0)) {
    const std::size_t found = tail_search(offset);
    if (found == count) {
      return std::optional<BatchPlace>{};
    }
    const TailEntry& entry = tail(found);
    const std::uint64_t end = found + 1 < count ? tail(found + 1).position : size_;
    return std::optional<BatchPlace>(BatchPlace{entry.base, entry.base + entry.last_delta, entry.position,
                                                static_cast<std::uint32_t>(end - entry.position), -1});
  }
  if (size_ == 0) {
    return std::optional<BatchPlace>{};
  }
  HW_TRY(OffsetIndex::Entry hint, offset_index_.lookup(offset));
  if (hint.position >= size_) {
    hint.position = 0;  // an index that says more than the file holds is no help
  }
  std::optional<BatchPlace> place;
  HW_CHECK(scan(hint.position, size_, [&](const BatchPlace& at) {
    if (at.last_offset >= offset) {
      place = at;
      return false;
    }
    return true;
  }));
  return place;
}

Result<std::uint32_t> Segment::position_of_bound(Offset bound) {
  HW_TRY(const std::optional<BatchPlace> place, locate(bound));
  return place ? place->position : static_cast<std::uint32_t>(size_);
}

Result<TimeIndex::Entry> Segment::largest_timestamp() {
  if (!largest_) {
    HW_TRY(largest_, time_index_.last());
  }
  return *largest_;
}

Result<std::int64_t> Segment::newest_ms(WallTime now) {
  HW_TRY(const TimeIndex::Entry largest, largest_timestamp());
  if (largest.timestamp_ms >= 0) {
    return largest.timestamp_ms;
  }
  if (appended_ms_ < 0) {
    // A disk that keeps no times: from now on.
    appended_ms_ = disk_.modified_ms(directory_ + "/" + segment_stem(base_) + ".log").value_or(now.ms);
  }
  return appended_ms_;
}

Result<std::int64_t> Segment::first_timestamp() {
  if (!first_timestamp_) {
    if (size_ < wire::kBatchHeaderSize) {
      return std::int64_t{-1};
    }
    std::array<std::byte, wire::kBatchHeaderSize> header{};
    if (file_->read_at(0, header) != static_cast<std::ptrdiff_t>(header.size())) {
      return fail(Errc::io, "cannot read " + directory_ + "/" + segment_stem(base_) + ".log");
    }
    first_timestamp_ = wire::BatchView(header).max_timestamp();
  }
  return *first_timestamp_;
}

Result<Offset> Segment::read_next_offset() {
  if (size_ == 0) {
    return base_;
  }
  HW_TRY(const OffsetIndex::Entry last, offset_index_.last());
  if (last.position >= size_) {
    return fail(Errc::corrupt, offset_index_.file().path() + " names a position behind the end of its log");
  }
  // The memory of the tail is built on the way.
  tail_.clear();
  tail_first_ = 0;
  since_index_ = 0;
  Offset next = base_;
  bool first = true;
  bool index_agrees = true;
  HW_CHECK(scan(last.position, size_, [&](const BatchPlace& place) {
    if (first && last.position != 0) {
      index_agrees = place.last_offset == last.offset;
    }
    first = false;
    next = place.last_offset + 1;
    since_index_ += place.size;
    const TailEntry entry{place.base_offset, static_cast<std::int32_t>(place.last_offset - place.base_offset),
                          place.position};
    if (tail_.size() < kTail) {
      tail_.push_back(entry);
    } else {
      tail_[tail_first_] = entry;
      tail_first_ = (tail_first_ + 1) % kTail;
    }
    return true;
  }));
  if (!index_agrees) {
    return fail(Errc::corrupt, offset_index_.file().path() + " disagrees with its log");
  }
  return next;
}

Result<bool> Segment::indexes_sound() {
  const Result<bool> offsets = offset_index_.ascending();
  const Result<bool> times = time_index_.ascending();
  if (!offsets || !times || !*offsets || !*times) {
    return false;
  }
  HW_TRY(const OffsetIndex::Entry last, offset_index_.last());
  HW_TRY(const TimeIndex::Entry newest, time_index_.last());
  if (last.position >= size_ && size_ > 0) {
    return false;
  }
  // Entries behind a torn one are zeros and do not ascend; a torn last one has to be looked at.
  bool sound = true;
  if (last.position > 0) {
    const Result<void> looked = scan(last.position, size_, [&](const BatchPlace& place) {
      sound = place.last_offset == last.offset;
      return false;
    });
    if (!looked || !sound) {
      return false;
    }
  }
  HW_TRY(const OffsetIndex::Entry from, offset_index_.lookup(newest.offset));
  const Result<void> walked = scan(from.position, size_, [&](const BatchPlace& place) {
    sound = place.max_timestamp_ms <= newest.timestamp_ms;
    return sound;
  });
  return walked.has_value() && sound;
}

Result<Segment::Recovered> Segment::recover(Offset expected, std::int32_t index_interval_bytes,
                                            const std::function<Result<bool>(const wire::BatchView&)>& each) {
  HW_CHECK(offset_index_.file().truncate(0));
  HW_CHECK(time_index_.file().truncate(0));
  HW_CHECK(time_index_.truncate_to(base_));
  HW_CHECK(transaction_index_.reset());
  largest_ = TimeIndex::Entry{-1, base_};
  first_timestamp_.reset();
  since_index_ = 0;
  tail_.clear();
  tail_first_ = 0;
  FileBatchReader reader(*file_, 0, size_);
  wire::BatchView batch;
  Offset next = std::max(expected, base_);
  std::uint64_t valid = 0;
  while (reader.next(batch)) {
    const bool fits = batch.base_offset() >= next && batch.last_offset_delta() >= 0 &&
                      batch.last_offset() - base_ <= std::numeric_limits<std::int32_t>::max() &&
                      wire::batch_intact(batch);
    if (!fits) {
      break;
    }
    HW_TRY(const bool accepted, each(batch));
    if (!accepted) {
      break;
    }
    if (valid == 0) {
      first_timestamp_ = batch.max_timestamp();
    }
    HW_CHECK(index_batch(batch.last_offset(), batch.max_timestamp(), static_cast<std::uint32_t>(valid),
                         static_cast<std::uint32_t>(batch.size()), index_interval_bytes));
    note_batch(batch, static_cast<std::uint32_t>(valid));
    next = batch.next_offset();
    valid = reader.position_after();
  }
  if (reader.read_failed()) {
    return fail(Errc::io, "cannot read " + directory_ + "/" + segment_stem(base_) + ".log");
  }
  Recovered result{next, size_ - valid};
  if (result.cut_bytes > 0) {
    HW_CHECK(file_->truncate(valid));
    size_ = valid;
  }
  if (valid == 0) {
    result.next_offset = std::max(expected, base_);
  }
  return result;
}

Result<void> Segment::for_each_batch(Offset from, const std::function<Result<void>(const wire::BatchView&)>& each) {
  std::uint64_t start = 0;
  if (from > base_) {
    HW_TRY(const std::optional<BatchPlace> place, locate(from));
    if (!place) {
      return {};
    }
    start = place->position;
  }
  FileBatchReader reader(*file_, start, size_);
  wire::BatchView batch;
  while (reader.next(batch)) {
    HW_CHECK(each(batch));
  }
  if (reader.read_failed() || !reader.clean_end()) {
    return fail(Errc::corrupt, directory_ + "/" + segment_stem(base_) + ".log has no batch at position " +
                                   std::to_string(reader.position_after()));
  }
  return {};
}

Result<void> Segment::for_each_batch_before(Offset end, std::uint32_t bytes,
                                            const std::function<void(const wire::BatchView&)>& each) {
  HW_TRY(const std::uint32_t stop, position_of_bound(end));
  std::uint32_t start = 0;
  if (stop > bytes) {
    HW_TRY(const std::optional<OffsetIndex::Entry> entry, offset_index_.first_from(stop - bytes));
    HW_TRY(const OffsetIndex::Entry nearest, offset_index_.lookup(end));
    start = entry && entry->position < stop ? entry->position : std::min(nearest.position, stop);
  }
  FileBatchReader reader(*file_, start, stop);
  wire::BatchView batch;
  while (reader.next(batch)) {
    each(batch);
  }
  return {};
}

Result<void> Segment::truncate_to(Offset offset) {
  HW_TRY(const std::uint32_t position, position_of_bound(offset));
  HW_CHECK(offset_index_.truncate_to(offset));
  HW_CHECK(time_index_.truncate_to(offset));
  HW_CHECK(transaction_index_.truncate_to(offset));
  HW_CHECK(file_->truncate(position));
  size_ = position;
  largest_.reset();
  if (size_ == 0) {
    first_timestamp_.reset();
    largest_ = TimeIndex::Entry{-1, base_};
  }
  // The rest behind the last index entry decides about largest timestamp, tail and index distance.
  HW_TRY(const OffsetIndex::Entry last, offset_index_.last());
  tail_.clear();
  tail_first_ = 0;
  since_index_ = 0;
  HW_TRY(largest_, time_index_.last());
  FileBatchReader reader(*file_, last.position, size_);
  wire::BatchView batch;
  while (reader.next(batch)) {
    if (batch.max_timestamp() > largest_->timestamp_ms) {
      largest_ = TimeIndex::Entry{batch.max_timestamp(), batch.last_offset()};
    }
    since_index_ += batch.size();
    note_batch(batch, static_cast<std::uint32_t>(reader.position()));
  }
  return {};
}

Result<void> Segment::write_indexes(bool make) {
  indexes_unsynced_ = indexes_unsynced_ || offset_index_.file().has_pending() || time_index_.file().has_pending();
  HW_CHECK(offset_index_.file().write_pending(make));
  return time_index_.file().write_pending(make);
}

Result<void> Segment::seal(Offset /*next_offset*/) {
  if (size_ > 0) {
    HW_TRY(const TimeIndex::Entry largest, largest_timestamp());
    HW_CHECK(time_index_.maybe_append(largest.timestamp_ms, largest.offset));
  }
  return write_indexes(true);
}

void Segment::moved_to(const std::string& directory) {
  directory_ = directory;
  offset_index_.file().moved_to(directory + "/" + segment_stem(base_) + ".index");
  time_index_.file().moved_to(directory + "/" + segment_stem(base_) + ".timeindex");
  transaction_index_.moved_to(directory + "/" + segment_stem(base_) + ".txnindex");
}

void Segment::become_inactive() {
  tail_.clear();
  tail_.shrink_to_fit();
  tail_first_ = 0;
}

std::vector<std::shared_ptr<env::File>> Segment::open_files() const {
  std::vector<std::shared_ptr<env::File>> files{file_};
  for (std::shared_ptr<env::File> file : {const_cast<OffsetIndex&>(offset_index_).file().file(),
                                          const_cast<TimeIndex&>(time_index_).file().file(), transaction_index_.file()}) {
    if (file) {
      files.push_back(std::move(file));
    }
  }
  return files;
}

Result<void> Segment::remove_files() {
  // Names as they are on the disk: also files that this process never opened.
  for (const char* suffix : {".index", ".timeindex", ".txnindex", ".log"}) {
    const std::string path = directory_ + "/" + segment_stem(base_) + suffix;
    if (disk_.exists(path)) {
      HW_CHECK(disk_.remove(path));
    }
  }
  return {};
}

Result<std::vector<std::string>> Segment::retire_files() {
  std::vector<std::string> renamed;
  const std::string stem = directory_ + "/" + segment_stem(base_);
  for (const char* suffix : {".log", ".index", ".timeindex", ".txnindex"}) {
    const std::string path = stem + suffix;
    if (!disk_.exists(path)) {
      continue;
    }
    std::string to = path + ".deleted";
    if (Result<void> done = disk_.rename(path, to); !done) {
      if (renamed.empty()) {
        return Unexpected(std::move(done.error()));
      }
      to = path;  // an index without its log: removed all the same
    }
    renamed.push_back(std::move(to));
  }
  return renamed;
}

}  // namespace hw::log
