// SPDX-License-Identifier: Apache-2.0
#include "engine/log/transaction_index.h"

#include <array>
#include <utility>

#include "engine/base/bytes.h"
#include "engine/wire/record/batch.h"

namespace hw::log {
namespace {

constexpr std::size_t kEntrySize = 34;

std::int64_t i64(const std::byte* p) { return static_cast<std::int64_t>(wire::load_u64(p)); }
void put_i64(std::byte* p, std::int64_t v) { wire::store_u64(p, static_cast<std::uint64_t>(v)); }

}  // namespace

Result<void> TransactionIndex::load() {
  if (loaded_) {
    return {};
  }
  if (!disk_.exists(path_)) {
    loaded_ = true;
    return {};
  }
  HW_TRY(file_, disk_.open(path_, env::OpenMode::create_or_open));
  const std::uint64_t size = file_->size();
  const std::size_t count = static_cast<std::size_t>(size / kEntrySize);  // a torn tail is dropped
  std::vector<std::byte> bytes(count * kEntrySize);
  if (!bytes.empty() && file_->read_at(0, bytes) != static_cast<std::ptrdiff_t>(bytes.size())) {
    return fail(Errc::io, "cannot read " + path_);
  }
  entries_.clear();
  for (std::size_t i = 0; i < count; ++i) {
    const std::byte* p = bytes.data() + i * kEntrySize;
    const auto version = static_cast<std::int16_t>(wire::load_u16(p));
    if (version != 0) {
      return fail(Errc::corrupt, path_ + " has an entry of version " + std::to_string(version));
    }
    entries_.push_back({ProducerId(i64(p + 2)), Offset(i64(p + 10)), Offset(i64(p + 18)), Offset(i64(p + 26))});
  }
  if (size != bytes.size()) {
    HW_CHECK(file_->truncate(bytes.size()));
  }
  loaded_ = true;
  return {};
}

Result<void> TransactionIndex::append(const AbortedTxnEntry& entry) {
  HW_CHECK(load());
  if (!file_) {
    HW_TRY(file_, disk_.open(path_, env::OpenMode::create_or_open));
  }
  std::array<std::byte, kEntrySize> bytes{};
  wire::store_u16(bytes.data(), 0);
  put_i64(bytes.data() + 2, entry.producer_id.value());
  put_i64(bytes.data() + 10, entry.first_offset.value());
  put_i64(bytes.data() + 18, entry.last_offset.value());
  put_i64(bytes.data() + 26, entry.last_stable_offset.value());
  const ByteSpan piece(bytes);
  HW_CHECK(file_->append({&piece, 1}));
  entries_.push_back(entry);
  return {};
}

Result<const std::vector<AbortedTxnEntry>*> TransactionIndex::entries() {
  HW_CHECK(load());
  return static_cast<const std::vector<AbortedTxnEntry>*>(&entries_);
}

Result<void> TransactionIndex::truncate_to(Offset offset) {
  if (auto loaded = load(); !loaded) {
    // Unreadable: it is rebuilt from the log by whoever truncates to the segment's base.
    entries_.clear();
    loaded_ = true;
  }
  std::erase_if(entries_, [&](const AbortedTxnEntry& e) { return e.last_offset >= offset; });
  if (file_) {
    HW_CHECK(file_->truncate(entries_.size() * kEntrySize));
  }
  return {};
}

}  // namespace hw::log
