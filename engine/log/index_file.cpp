// SPDX-License-Identifier: Apache-2.0
#include "engine/log/index_file.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "engine/wire/record/batch.h"

namespace hw::log {
namespace {

constexpr std::size_t kPendingMax = 256;  // entries

using wire::load_u32;
using wire::load_u64;
using wire::store_u32;
using wire::store_u64;

}  // namespace

IndexFile::IndexFile(env::Disk& disk, std::string path, std::size_t entry_size)
    : disk_(disk), path_(std::move(path)), entry_size_(entry_size) {}

Result<void> IndexFile::load() {
  if (loaded_) {
    return {};
  }
  HW_CHECK(ensure_file(false));
  const std::uint64_t size = file_ ? file_->size() : 0;
  if (size % entry_size_ != 0) {
    return fail(Errc::corrupt, path_ + " is " + std::to_string(size) + " bytes long, which is no whole number of entries");
  }
  stored_ = static_cast<std::size_t>(size / entry_size_);
  loaded_ = true;
  return trim_zeros();
}

// Kafka makes index files as long as they may become, and trims them when it stops cleanly. An entry of zeros is never real.
Result<void> IndexFile::trim_zeros() {
  const auto is_zero = [&](std::size_t index) -> Result<bool> {
    std::byte buffer[16] = {};
    HW_CHECK(entry(index, buffer));
    return std::all_of(buffer, buffer + entry_size_, [](std::byte b) { return b == std::byte{0}; });
  };
  if (stored_ == 0) {
    return {};
  }
  HW_TRY(const bool padded, is_zero(stored_ - 1));
  if (!padded) {
    return {};
  }
  std::size_t low = 0;
  std::size_t high = stored_ - 1;
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    HW_TRY(const bool zero, is_zero(middle));
    if (zero) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  HW_CHECK(file_->truncate(low * entry_size_));
  stored_ = low;
  return {};
}

bool IndexFile::on_disk() { return file_ != nullptr || disk_.exists(path_); }

Result<void> IndexFile::ensure_file(bool make) {
  if (file_) {
    return {};
  }
  if (!make && !disk_.exists(path_)) {
    return {};
  }
  HW_TRY(file_, disk_.open(path_, env::OpenMode::create_or_open));
  return {};
}

std::size_t IndexFile::count() { return stored_ + pending_.size() / entry_size_; }

Result<void> IndexFile::entry(std::size_t index, std::byte* into) {
  if (index >= stored_) {
    std::memcpy(into, pending_.data() + (index - stored_) * entry_size_, entry_size_);
    return {};
  }
  HW_CHECK(ensure_file(false));
  if (!file_ || file_->read_at(index * entry_size_, {into, entry_size_}) != static_cast<std::ptrdiff_t>(entry_size_)) {
    return fail(Errc::io, "cannot read " + path_);
  }
  return {};
}

Result<std::vector<std::byte>> IndexFile::contents() {
  HW_CHECK(load());
  std::vector<std::byte> all(stored_ * entry_size_);
  if (!all.empty() && file_->read_at(0, all) != static_cast<std::ptrdiff_t>(all.size())) {
    return fail(Errc::io, "cannot read " + path_);
  }
  all.insert(all.end(), pending_.begin(), pending_.end());
  return all;
}

Result<void> IndexFile::append(const std::byte* entry) {
  HW_CHECK(load());
  if (pending_.size() >= kPendingMax * entry_size_) {
    HW_CHECK(write_pending(true));
  }
  pending_.insert(pending_.end(), entry, entry + entry_size_);
  return {};
}

Result<void> IndexFile::truncate(std::size_t count) {
  if (loaded_ && count >= stored_) {
    if (count < this->count()) {
      pending_.resize((count - stored_) * entry_size_);
    }
    return {};
  }
  pending_.clear();
  HW_CHECK(ensure_file(false));
  if (file_ && file_->size() > count * entry_size_) {
    HW_CHECK(file_->truncate(count * entry_size_));
  }
  stored_ = file_ ? static_cast<std::size_t>(file_->size() / entry_size_) : 0;
  loaded_ = true;
  return {};
}

Result<void> IndexFile::write_pending(bool make) {
  HW_CHECK(load());
  if (pending_.empty() && !make) {
    return {};
  }
  HW_CHECK(ensure_file(true));
  if (!pending_.empty()) {
    const ByteSpan piece(pending_);
    if (auto written = file_->append({&piece, 1}); !written) {
      // Back to whole entries; the pending ones stay for the next time.
      static_cast<void>(file_->truncate(stored_ * entry_size_));
      return written;
    }
    stored_ += pending_.size() / entry_size_;
    pending_.clear();
  }
  return {};
}

Result<void> OffsetIndex::append(Offset offset, std::uint32_t position) {
  std::byte entry[8];
  store_u32(entry, static_cast<std::uint32_t>(offset - base_));
  store_u32(entry + 4, position);
  return file_.append(entry);
}

Result<OffsetIndex::Entry> OffsetIndex::at(std::size_t index) {
  std::byte entry[8];
  HW_CHECK(file_.entry(index, entry));
  return Entry{base_ + load_u32(entry), load_u32(entry + 4)};
}

Result<OffsetIndex::Entry> OffsetIndex::lookup(Offset offset) {
  if (offset < base_) {
    return Entry{base_, 0};
  }
  const OffsetDelta relative = offset - base_;
  HW_TRY(const std::size_t above,
         file_.partition_point([&](const std::byte* entry) { return load_u32(entry) > relative; }));
  if (above == 0) {
    return Entry{base_, 0};
  }
  return at(above - 1);
}

Result<std::optional<OffsetIndex::Entry>> OffsetIndex::first_from(std::uint32_t position) {
  HW_TRY(const std::size_t first,
         file_.partition_point([&](const std::byte* entry) { return load_u32(entry + 4) >= position; }));
  if (first == file_.count()) {
    return std::optional<Entry>{};
  }
  HW_TRY(const Entry entry, at(first));
  return std::optional<Entry>{entry};
}

Result<OffsetIndex::Entry> OffsetIndex::last() {
  HW_CHECK(file_.load());
  if (file_.count() == 0) {
    return Entry{base_, 0};
  }
  return at(file_.count() - 1);
}

Result<void> OffsetIndex::truncate_to(Offset offset) {
  const OffsetDelta relative = offset - base_;
  HW_TRY(const std::size_t keep,
         file_.partition_point([&](const std::byte* entry) { return load_u32(entry) >= relative; }));
  return file_.truncate(keep);
}

Result<TimeIndex::Entry> TimeIndex::at(std::size_t index) {
  std::byte entry[12];
  HW_CHECK(file_.entry(index, entry));
  return Entry{static_cast<std::int64_t>(load_u64(entry)), base_ + load_u32(entry + 8)};
}

Result<TimeIndex::Entry> TimeIndex::last() {
  if (!last_) {
    HW_CHECK(file_.load());
    if (file_.count() == 0) {
      last_ = Entry{-1, base_};
    } else {
      HW_TRY(last_, at(file_.count() - 1));
    }
  }
  return *last_;
}

Result<void> TimeIndex::maybe_append(std::int64_t timestamp_ms, Offset offset) {
  HW_TRY(const Entry newest, last());
  if (timestamp_ms <= newest.timestamp_ms || offset < newest.offset) {
    return {};
  }
  std::byte entry[12];
  store_u64(entry, static_cast<std::uint64_t>(timestamp_ms));
  store_u32(entry + 8, static_cast<std::uint32_t>(offset - base_));
  HW_CHECK(file_.append(entry));
  last_ = Entry{timestamp_ms, offset};
  return {};
}

Result<TimeIndex::Entry> TimeIndex::lookup(std::int64_t timestamp_ms) {
  HW_TRY(const std::size_t above, file_.partition_point([&](const std::byte* entry) {
    return static_cast<std::int64_t>(load_u64(entry)) > timestamp_ms;
  }));
  if (above == 0) {
    return Entry{-1, base_};
  }
  return at(above - 1);
}

Result<void> TimeIndex::truncate_to(Offset offset) {
  const OffsetDelta relative = offset - base_;
  HW_TRY(const std::size_t keep,
         file_.partition_point([&](const std::byte* entry) { return load_u32(entry + 8) >= relative; }));
  last_.reset();
  return file_.truncate(keep);
}

Result<bool> OffsetIndex::ascending() {
  return file_.all_ascend([](const std::byte* a, const std::byte* b) {
    return load_u32(a) < load_u32(b) && load_u32(a + 4) < load_u32(b + 4);
  });
}

Result<bool> TimeIndex::ascending() {
  return file_.all_ascend([](const std::byte* a, const std::byte* b) {
    return static_cast<std::int64_t>(load_u64(a)) < static_cast<std::int64_t>(load_u64(b)) &&
           load_u32(a + 8) <= load_u32(b + 8);
  });
}

}  // namespace hw::log
