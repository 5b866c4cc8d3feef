// SPDX-License-Identifier: Apache-2.0
// Segment: one run of a log, `%020d.log` with its indexes. Offsets in it are base_offset() + u31; positions are below 2^31.
//
// The active segment also remembers where its last batches begin, so that fetches at the tail ask no file anything.
// Thread rule: one thread. Errors: Errc::corrupt where the file does not hold what its indexes say.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/base/ids.h"
#include "engine/base/result.h"
#include "engine/base/time.h"
#include "engine/env/disk.h"
#include "engine/log/index_file.h"
#include "engine/log/transaction_index.h"
#include "engine/wire/record/batch.h"

namespace hw::log {

// "00000000000000000042": the stem of a segment's files.
[[nodiscard]] std::string segment_stem(Offset base);
// The offset in "<20 digits><suffix>", or nullopt where the name is not of that form.
[[nodiscard]] std::optional<Offset> parse_segment_name(std::string_view name, std::string_view suffix);

struct BatchPlace {
  Offset base_offset;
  Offset last_offset;
  std::uint32_t position = 0;
  std::uint32_t size = 0;
  std::int64_t max_timestamp_ms = -1;  // by scans of headers only
};

class Segment {
 public:
  static Result<std::unique_ptr<Segment>> create(env::Disk& disk, const std::string& directory, Offset base);
  static Result<std::unique_ptr<Segment>> open(env::Disk& disk, const std::string& directory, Offset base);

  [[nodiscard]] Offset base_offset() const { return base_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] const std::shared_ptr<env::File>& file() const { return file_; }
  [[nodiscard]] OffsetIndex& offset_index() { return offset_index_; }
  [[nodiscard]] TimeIndex& time_index() { return time_index_; }
  [[nodiscard]] TransactionIndex& transaction_index() { return transaction_index_; }

  // Appends whole batches whose offsets are assigned. On error the file is as before, or the segment is broken().
  Result<void> append(const Bytes& batches, std::int32_t index_interval_bytes);
  [[nodiscard]] bool broken() const { return broken_; }

  // First batch that ends at or behind `offset`; nullopt where the segment has none.
  Result<std::optional<BatchPlace>> locate(Offset offset);
  // Where data at or above `bound` begins: the end of what a reader below it may see.
  Result<std::uint32_t> position_of_bound(Offset bound);

  // Largest timestamp and the last offset of the first batch that has it; {-1, base} where no record has one.
  Result<TimeIndex::Entry> largest_timestamp();
  // What retention.ms is measured from: the largest timestamp, or, where no record has one, the last append.
  Result<std::int64_t> newest_ms(WallTime now);
  void appended_at(WallTime now) { appended_ms_ = now.ms; }
  // Of the first batch, -1 where there is none.
  Result<std::int64_t> first_timestamp();

  // Finds the end of the last batch from the indexes on, without checking records. Errc::corrupt: needs recover().
  Result<Offset> read_next_offset();
  // Whether the indexes of a sealed segment can be relied upon after a crash that may have torn them: entries ascend, and the time
  // index ends with the largest timestamp.
  Result<bool> indexes_sound();
  // Reads every batch and checks it; cuts the file at the first bad one; builds the indexes anew. `each` may refuse a batch
  // (false), which then counts as bad.
  struct Recovered {
    Offset next_offset;
    std::uint64_t cut_bytes = 0;
  };
  Result<Recovered> recover(Offset expected, std::int32_t index_interval_bytes,
                            const std::function<Result<bool>(const wire::BatchView&)>& each);
  // Calls `each` for every batch that ends at or behind `from`.
  Result<void> for_each_batch(Offset from, const std::function<Result<void>(const wire::BatchView&)>& each);
  // Calls `each` for the last batches that end below `end`: those within about `bytes` in front of it. What cannot be read ends it.
  Result<void> for_each_batch_before(Offset end, std::uint32_t bytes, const std::function<void(const wire::BatchView&)>& each);

  // Drops every batch that ends at or above `offset`.
  Result<void> truncate_to(Offset offset);
  // Index files get what is pending; the time index ends with the largest timestamp. Kafka trims here; ours are trimmed.
  Result<void> seal(Offset next_offset);
  // Index entries to the files, so that a flush covers them.
  Result<void> write_indexes(bool make);
  // The index files hold what no flush has synced. (Those of the active segment are rebuilt after a crash and do not count.)
  [[nodiscard]] bool indexes_unsynced() const { return indexes_unsynced_; }
  void set_indexes_unsynced(bool unsynced) { indexes_unsynced_ = unsynced; }
  void moved_to(const std::string& directory);  // the files were renamed, open ones included
  void become_inactive();  // forgets the tail memory
  // The files that are there, for fsync and removal.
  [[nodiscard]] std::vector<std::shared_ptr<env::File>> open_files() const;
  Result<void> remove_files();
  // Renames them to `.deleted` (the log first: what is left of a half renamed segment is no segment), for removal later.
  // On error nothing has changed.
  Result<std::vector<std::string>> retire_files();

 private:
  Segment(env::Disk& disk, const std::string& directory, Offset base);
  void note_batch(const wire::BatchView& batch, std::uint32_t position);
  Result<void> index_batch(Offset last_offset, std::int64_t max_timestamp, std::uint32_t position, std::uint32_t size,
                           std::int32_t interval);
  Result<void> scan(std::uint64_t from, std::uint64_t to, const std::function<bool(const BatchPlace&)>& each) const;

  // The last batches: a ring, grown to kTail entries on demand.
  static constexpr std::size_t kTail = 128;
  struct TailEntry {
    Offset base;
    std::int32_t last_delta = 0;
    std::uint32_t position = 0;
  };
  [[nodiscard]] const TailEntry& tail(std::size_t index) const { return tail_[(tail_first_ + index) % tail_.size()]; }
  [[nodiscard]] std::size_t tail_search(Offset offset) const;  // first entry that ends at or behind it

  env::Disk& disk_;
  std::string directory_;
  Offset base_;
  std::shared_ptr<env::File> file_;
  std::uint64_t size_ = 0;
  OffsetIndex offset_index_;
  TimeIndex time_index_;
  TransactionIndex transaction_index_;
  std::optional<TimeIndex::Entry> largest_;
  std::optional<std::int64_t> first_timestamp_;
  std::int64_t appended_ms_ = -1;  // -1: not by this process
  std::uint64_t since_index_ = 0;  // bytes since the last index entry
  std::vector<TailEntry> tail_;
  std::size_t tail_first_ = 0;  // oldest entry once the ring is full
  bool broken_ = false;
  bool indexes_unsynced_ = false;
};

}  // namespace hw::log
