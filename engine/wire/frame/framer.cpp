// SPDX-License-Identifier: Apache-2.0
#include "engine/wire/frame/framer.h"

#include <cstring>
#include <string>

namespace hw::wire {

namespace {

std::int32_t length_at(const std::byte* at) noexcept {
  return static_cast<std::int32_t>(std::to_integer<std::uint32_t>(at[0]) << 24 |
                                   std::to_integer<std::uint32_t>(at[1]) << 16 |
                                   std::to_integer<std::uint32_t>(at[2]) << 8 |
                                   std::to_integer<std::uint32_t>(at[3]));
}

}  // namespace

Framer::~Framer() {
  if (block_ != nullptr) {
    block_->release();
  }
}

void Framer::renew(std::size_t capacity) {
  const std::size_t kept = end_ - begin_;
  Block* fresh = Block::create(capacity < kept ? kept : capacity);
  if (kept != 0) {
    std::memcpy(fresh->data(), block_->data() + begin_, kept);
  }
  if (block_ != nullptr) {
    block_->release();
  }
  block_ = fresh;
  begin_ = 0;
  end_ = kept;
}

MutableByteSpan Framer::prepare() {
  const std::size_t have = end_ - begin_;
  if (block_ != nullptr && have >= 4) {
    const std::int32_t length = length_at(block_->data() + begin_);
    if (length >= 0 && length <= max_frame_bytes_) {
      const std::size_t whole = 4 + static_cast<std::size_t>(length);
      if (whole > have && whole > block_->capacity - begin_) {
        // A frame that ends a block alone goes into a block of its own size, so that whoever keeps it keeps no more.
        renew(whole > kSmallBlock / 2 ? whole : kSmallBlock);
      }
      if (whole > have && whole > kSmallBlock / 2) {
        return {block_->data() + end_, begin_ + whole - end_};
      }
    }
  }
  if (block_ == nullptr || block_->capacity - end_ < (have == 0 ? kRoom : 1)) {
    if (block_ != nullptr && have == 0 && block_->references.load(std::memory_order_acquire) == 1 &&
        block_->capacity >= kSmallBlock && block_->capacity <= 4 * kSmallBlock) {
      begin_ = end_ = 0;  // nobody kept a slice: the same memory serves again
    } else {
      renew(kSmallBlock);
    }
  }
  const std::size_t room = block_->capacity - end_;
  return {block_->data() + end_, have == 0 && large_before_ && room > kFirstLook ? kFirstLook : room};
}

void Framer::commit(std::size_t size) noexcept {
  HW_ASSERT(block_ != nullptr && size <= block_->capacity - end_, "I1");
  end_ += size;
}

Result<std::optional<Bytes>> Framer::next() {
  const std::size_t have = end_ - begin_;
  if (have < 4) {
    return std::optional<Bytes>();
  }
  const std::int32_t length = length_at(block_->data() + begin_);
  if (length < 0) {
    return fail(Errc::invalid, "frame length " + std::to_string(length) + " is negative");
  }
  if (length > max_frame_bytes_) {
    return fail(Errc::too_large, "frame length " + std::to_string(length) + " exceeds socket.request.max.bytes " +
                                     std::to_string(max_frame_bytes_));
  }
  const std::size_t size = static_cast<std::size_t>(length);
  if (have - 4 < size) {
    return std::optional<Bytes>();
  }
  const std::byte* at = block_->data() + begin_ + 4;
  begin_ += 4 + size;
  large_before_ = size > kSmallBlock / 2;
  if (large_before_ && begin_ == end_) {
    Block* whole = block_;  // hand the only reference over
    block_ = nullptr;
    begin_ = end_ = 0;
    return std::optional<Bytes>(Bytes::adopt(whole, at, size));
  }
  block_->retain();
  return std::optional<Bytes>(Bytes::adopt(block_, at, size));
}

}  // namespace hw::wire
