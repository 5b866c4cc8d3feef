// SPDX-License-Identifier: Apache-2.0
// The sparse indexes of a segment: files of fixed-size big-endian entries in ascending order, always trimmed to their entries
// (Kafka preallocates them while they are active; it reads trimmed ones just as well).
//
//   .index      relative offset u32 · position u32      the batch that ends at the offset begins at the position
//   .timeindex  timestamp i64 · relative offset u32     no record up to the offset has a larger timestamp
//
// New entries collect in memory and are written a few hundred at a time: a lost tail only makes a search scan further. The file is
// made with its first write, so that an empty partition costs none. Lookups search the pending entries, then the file.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/base/ids.h"
#include "engine/base/result.h"
#include "engine/env/disk.h"

namespace hw::log {

// What both indexes share: an array of entries, its tail in memory.
class IndexFile {
 public:
  IndexFile(env::Disk& disk, std::string path, std::size_t entry_size);

  // Looks at the file, once. A size that is no multiple of an entry is Errc::corrupt. A missing file is an empty index.
  Result<void> load();
  [[nodiscard]] bool on_disk();                     // the file is there
  [[nodiscard]] std::size_t count();                // entries, pending ones included
  // REQUIRES: index < count().
  Result<void> entry(std::size_t index, std::byte* into);
  Result<void> append(const std::byte* entry);
  Result<void> truncate(std::size_t count);
  // Writes what is pending; with `make`, the file is there afterwards even if it is empty.
  Result<void> write_pending(bool make);
  [[nodiscard]] bool has_pending() const { return !pending_.empty(); }
  void moved_to(std::string path) { path_ = std::move(path); }
  // For fsync jobs; null where there is no file.
  [[nodiscard]] std::shared_ptr<env::File> file() const { return file_; }
  [[nodiscard]] const std::string& path() const { return path_; }

  // Whether every entry compares less to the next one; reads the whole file.
  template <class Less>
  Result<bool> all_ascend(Less less) {
    HW_TRY(const std::vector<std::byte> all, contents());
    for (std::size_t at = entry_size_; at + entry_size_ <= all.size(); at += entry_size_) {
      if (!less(all.data() + at - entry_size_, all.data() + at)) {
        return false;
      }
    }
    return true;
  }

  // First index for which `above(entry)` holds; entries must be ordered by it.
  template <class Predicate>
  Result<std::size_t> partition_point(Predicate above) {
    HW_CHECK(load());
    std::byte buffer[16];
    std::size_t low = 0;
    std::size_t high = count();
    // Most searches are for the tail: look whether the pending entries decide before reading the file.
    if (stored_ > 0 && stored_ < high) {
      HW_CHECK(entry(stored_, buffer));
      (above(buffer) ? high : low) = stored_;
    }
    while (low < high) {
      const std::size_t middle = low + (high - low) / 2;
      HW_CHECK(entry(middle, buffer));
      if (above(buffer)) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }

 private:
  Result<void> ensure_file(bool make);
  Result<std::vector<std::byte>> contents();
  Result<void> trim_zeros();
  env::Disk& disk_;
  std::string path_;
  std::size_t entry_size_;
  bool loaded_ = false;
  std::size_t stored_ = 0;  // entries in the file
  std::shared_ptr<env::File> file_;
  std::vector<std::byte> pending_;
};

class OffsetIndex {
 public:
  struct Entry {
    Offset offset;
    std::uint32_t position = 0;
  };
  OffsetIndex(env::Disk& disk, std::string path, Offset base) : file_(disk, std::move(path), 8), base_(base) {}
  Result<void> append(Offset offset, std::uint32_t position);
  // The last entry at or below `offset`; {base, 0} where there is none.
  Result<Entry> lookup(Offset offset);
  // The first entry whose position is at or behind `position`: an upper bound for what a read up to there holds.
  Result<std::optional<Entry>> first_from(std::uint32_t position);
  Result<Entry> last();
  Result<void> truncate_to(Offset offset);  // drops entries at or above it
  Result<bool> ascending();                 // reads them all
  [[nodiscard]] IndexFile& file() { return file_; }

 private:
  Result<Entry> at(std::size_t index);
  IndexFile file_;
  Offset base_;
};

class TimeIndex {
 public:
  struct Entry {
    std::int64_t timestamp_ms = -1;
    Offset offset;
  };
  TimeIndex(env::Disk& disk, std::string path, Offset base) : file_(disk, std::move(path), 12), base_(base) {}
  // Appends where the timestamp is larger than the last entry's.
  Result<void> maybe_append(std::int64_t timestamp_ms, Offset offset);
  // The last entry at or below `timestamp_ms`; {-1, base} where there is none.
  Result<Entry> lookup(std::int64_t timestamp_ms);
  Result<Entry> last();
  Result<void> truncate_to(Offset offset);
  Result<bool> ascending();
  [[nodiscard]] IndexFile& file() { return file_; }

 private:
  Result<Entry> at(std::size_t index);
  IndexFile file_;
  Offset base_;
  std::optional<Entry> last_;
};

}  // namespace hw::log
