// SPDX-License-Identifier: Apache-2.0
#include "engine/wire/record/batch.h"

#include <fmt/core.h>

#include "engine/wire/record/crc32c.h"

namespace hw::wire {
namespace {
// The smallest length any format has: offset and size, then crc, magic, attributes, two lengths (magic 0).
constexpr std::int32_t kSmallestLength = 14;
constexpr std::int32_t kSmallestLengthOfMagic2 = static_cast<std::int32_t>(kBatchHeaderSize - kLogOverhead);
}  // namespace

std::int32_t BatchView::last_sequence() const noexcept {
  const std::int32_t first = base_sequence();
  if (first == kNoSequence) {
    return kNoSequence;
  }
  // Modulo 2^31, done without sign.
  const std::uint32_t sum = static_cast<std::uint32_t>(first) + static_cast<std::uint32_t>(last_offset_delta());
  return static_cast<std::int32_t>(sum & 0x7fffffffU);
}

std::uint32_t BatchView::computed_crc() const noexcept { return crc32c(batch_.subspan(kCrcCoverageStart)); }

const char* batch_status_name(BatchStatus status) noexcept {
  switch (status) {
    case BatchStatus::ok:
      return "ok";
    case BatchStatus::end:
      return "end";
    case BatchStatus::truncated:
      return "truncated";
    case BatchStatus::corrupt:
      return "corrupt";
    case BatchStatus::old_magic:
      return "old magic";
  }
  return "?";
}

BatchRead read_batch(ByteSpan bytes) noexcept {
  BatchRead read;
  if (bytes.empty()) {
    return read;
  }
  if (bytes.size() < kLogOverhead) {
    read.status = BatchStatus::truncated;
    return read;
  }
  const auto length = static_cast<std::int32_t>(load_u32(bytes.data() + 8));
  if (length < kSmallestLength) {
    read.status = BatchStatus::corrupt;
    return read;
  }
  const std::size_t size = static_cast<std::size_t>(length) + kLogOverhead;
  if (bytes.size() < kSizeUpToMagic) {
    read.status = BatchStatus::truncated;
    read.size = size;
    return read;
  }
  const auto magic = static_cast<std::int8_t>(bytes[16]);
  if (magic < 0 || magic > kBatchMagic || (magic == kBatchMagic && length < kSmallestLengthOfMagic2)) {
    read.status = BatchStatus::corrupt;
    return read;
  }
  read.size = size;
  if (bytes.size() < size) {
    read.status = BatchStatus::truncated;
  } else if (magic != kBatchMagic) {
    read.status = BatchStatus::old_magic;
  } else {
    read.status = BatchStatus::ok;
    read.view = BatchView(bytes.first(size));
  }
  return read;
}

bool BatchCursor::next(BatchView& batch) noexcept {
  if (status_ != BatchStatus::ok) {
    return false;
  }
  const BatchRead read = read_batch(bytes_.subspan(position_));
  status_ = read.status;
  if (status_ != BatchStatus::ok) {
    return false;
  }
  batch = read.view;
  position_ += read.size;
  return true;
}

std::string BatchCursor::problem() const {
  switch (status_) {
    case BatchStatus::ok:
    case BatchStatus::end:
      return {};
    case BatchStatus::truncated:
      return fmt::format("the batch at byte {} is cut off: {} bytes are here", position_, bytes_.size() - position_);
    case BatchStatus::old_magic:
      return fmt::format("the batch at byte {} has the old message format {}", position_,
                         static_cast<int>(bytes_[position_ + 16]));
    case BatchStatus::corrupt: {
      const auto length = static_cast<std::int32_t>(load_u32(bytes_.data() + position_ + 8));
      if (bytes_.size() - position_ < kSizeUpToMagic) {
        return fmt::format("no batch begins at byte {}: length {}", position_, length);
      }
      return fmt::format("no batch begins at byte {}: length {}, magic {}", position_, length,
                         static_cast<int>(static_cast<std::int8_t>(bytes_[position_ + 16])));
    }
  }
  return {};
}

void set_base_offset(MutableByteSpan batch, Offset base) noexcept {
  store_u64(batch.data(), static_cast<std::uint64_t>(base.value()));
}

void set_last_offset(MutableByteSpan batch, Offset last) noexcept {
  set_base_offset(batch, last - static_cast<OffsetDelta>(BatchView(batch).last_offset_delta()));
}

void set_leader_epoch(MutableByteSpan batch, LeaderEpoch epoch) noexcept {
  store_u32(batch.data() + 12, static_cast<std::uint32_t>(epoch.value()));
}

bool set_max_timestamp(MutableByteSpan batch, TimestampType type, std::int64_t max_timestamp) noexcept {
  const BatchView view(batch);
  if (view.timestamp_type() == type && view.max_timestamp() == max_timestamp) {
    return false;
  }
  const int bits = view.attributes() & ~kLogAppendTimeBit;
  const int attributes = type == TimestampType::log_append_time ? bits | kLogAppendTimeBit : bits;
  store_u16(batch.data() + 21, static_cast<std::uint16_t>(attributes));
  store_u64(batch.data() + 35, static_cast<std::uint64_t>(max_timestamp));
  seal_batch(batch);
  return true;
}

void seal_batch(MutableByteSpan batch) noexcept { store_u32(batch.data() + 17, BatchView(batch).computed_crc()); }

}  // namespace hw::wire
