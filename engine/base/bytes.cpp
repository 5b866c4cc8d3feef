// SPDX-License-Identifier: Apache-2.0
#include "engine/base/bytes.h"

#include <cstdlib>
#include <limits>
#include <new>

namespace hw {

Block* Block::create(std::size_t capacity) {
  HW_ASSERT(capacity <= std::numeric_limits<std::uint32_t>::max(), "a block is below 4 GiB");
  void* memory = std::malloc(sizeof(Block) + capacity);
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  Block* block = new (memory) Block;
  block->capacity = static_cast<std::uint32_t>(capacity);
  return block;
}

void Block::release() noexcept {
  if (references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    this->~Block();
    std::free(this);
  }
}

Bytes Bytes::copy_of(ByteSpan source) {
  if (source.empty()) {
    return {};
  }
  Block* block = Block::create(source.size());
  std::memcpy(block->data(), source.data(), source.size());
  return adopt(block, block->data(), source.size());
}

Bytes BytesChain::flatten() const {
  if (pieces_.empty()) {
    return {};
  }
  if (pieces_.size() == 1) {
    if (const Bytes* bytes = std::get_if<Bytes>(&pieces_.front())) {
      return *bytes;
    }
  }
  ByteBuilder builder(size());
  for (const Piece& piece : pieces_) {
    if (const Bytes* bytes = std::get_if<Bytes>(&piece)) {
      builder.append(bytes->span());
      continue;
    }
    const FileRegion& region = std::get<FileRegion>(piece);
    const std::size_t size = static_cast<std::size_t>(region.size);
    const std::size_t before = builder.size();
    std::byte* at = builder.extend(size);
    const std::ptrdiff_t got = region.source->read_at(region.position, {at, size});
    if (got < 0 || static_cast<std::size_t>(got) < size) {
      builder.truncate(before + (got < 0 ? 0 : static_cast<std::size_t>(got)));
      break;
    }
  }
  return builder.finish();
}

ByteBuilder::~ByteBuilder() {
  if (block_ != nullptr) {
    block_->release();
  }
}

void ByteBuilder::reserve(std::size_t capacity) {
  if (block_ != nullptr && capacity <= block_->capacity) {
    return;
  }
  std::size_t grown = block_ == nullptr ? capacity : std::size_t{block_->capacity} * 2;
  grown = grown < capacity ? capacity : grown;
  Block* block = Block::create(grown < 64 ? 64 : grown);
  if (block_ != nullptr) {
    std::memcpy(block->data(), block_->data(), size_);
    block_->release();
  }
  block_ = block;
}

Bytes ByteBuilder::finish() noexcept {
  if (size_ == 0) {
    return {};
  }
  Block* block = std::exchange(block_, nullptr);
  return Bytes::adopt(block, block->data(), std::exchange(size_, 0));
}

}  // namespace hw
