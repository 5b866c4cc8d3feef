// SPDX-License-Identifier: Apache-2.0
// Record bytes are copied once, from the socket into a block; everything after that is a slice.
//
// Bytes       an immutable slice of a reference-counted block. Copying it is one atomic increment,
//             slicing is free. An empty Bytes holds no block.
// FileRegion  a run of bytes in a file, not read yet (sent with sendfile where the shell can).
// BytesChain  pieces of either kind in order: what a response is made of.
//
// Thread rule: Bytes may be copied and destroyed on any thread; a chain belongs to one.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "engine/base/assert.h"

namespace hw {

using ByteSpan = std::span<const std::byte>;
using MutableByteSpan = std::span<std::byte>;

inline ByteSpan as_bytes(std::string_view text) noexcept {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}
inline std::string_view as_text(ByteSpan bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// A reference-counted run of memory, header and bytes in one allocation.
struct Block {
  std::atomic<std::uint32_t> references{1};
  std::uint32_t capacity = 0;
  [[nodiscard]] std::byte* data() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
  static Block* create(std::size_t capacity);
  void retain() noexcept { references.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept;
};

class Bytes {
 public:
  Bytes() noexcept = default;
  static Bytes copy_of(ByteSpan source);
  static Bytes copy_of(std::string_view text) { return copy_of(as_bytes(text)); }
  // Takes over one reference to `block`; the slice must lie inside it.
  static Bytes adopt(Block* block, const std::byte* data, std::size_t size) noexcept {
    return Bytes(block, data, size);
  }
  // Bytes that outlive everything (string literals, static tables).
  static Bytes unowned(ByteSpan source) noexcept { return Bytes(nullptr, source.data(), source.size()); }

  Bytes(const Bytes& other) noexcept : block_(other.block_), data_(other.data_), size_(other.size_) {
    if (block_ != nullptr) {
      block_->retain();
    }
  }
  Bytes(Bytes&& other) noexcept
      : block_(std::exchange(other.block_, nullptr)),
        data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)) {}
  Bytes& operator=(const Bytes& other) noexcept {
    Bytes copy(other);
    swap(copy);
    return *this;
  }
  Bytes& operator=(Bytes&& other) noexcept {
    Bytes taken(std::move(other));
    swap(taken);
    return *this;
  }
  ~Bytes() {
    if (block_ != nullptr) {
      block_->release();
    }
  }
  void swap(Bytes& other) noexcept {
    std::swap(block_, other.block_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }

  [[nodiscard]] const std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] ByteSpan span() const noexcept { return {data_, size_}; }
  [[nodiscard]] std::string_view text() const noexcept { return as_text(span()); }
  // REQUIRES: offset + size <= this->size().
  [[nodiscard]] Bytes slice(std::size_t offset, std::size_t size) const noexcept {
    HW_ASSERT(offset <= size_ && size <= size_ - offset, "slice inside the bytes");
    if (block_ != nullptr) {
      block_->retain();
    }
    return Bytes(block_, data_ + offset, size);
  }
  // A pointer for patching in place, or null where somebody else also sees these bytes.
  [[nodiscard]] std::byte* unique_data() noexcept {
    return block_ != nullptr && block_->references.load(std::memory_order_acquire) == 1
               ? const_cast<std::byte*>(data_)  // NOLINT: this is the only owner
               : nullptr;
  }
  [[nodiscard]] long owners() const noexcept {
    return block_ == nullptr ? 0 : static_cast<long>(block_->references.load(std::memory_order_relaxed));
  }
  // The block behind the slice, for patching of a frame that one thread owns although several slices see it.
  [[nodiscard]] const Block* block() const noexcept { return block_; }

  friend bool operator==(const Bytes& a, const Bytes& b) noexcept {
    return a.size_ == b.size_ && (a.size_ == 0 || std::memcmp(a.data_, b.data_, a.size_) == 0);
  }

 private:
  Bytes(Block* block, const std::byte* data, std::size_t size) noexcept
      : block_(block), data_(data), size_(size) {}
  Block* block_ = nullptr;
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

// Where a FileRegion's bytes come from. Implemented by env files; kept alive by the regions that name it.
class RegionSource {
 public:
  virtual ~RegionSource() = default;
  // Copies [position, position + into.size()) into `into`; returns the bytes copied, fewer at the end, -1 on error.
  virtual std::ptrdiff_t read_at(std::uint64_t position, MutableByteSpan into) const = 0;
  // A descriptor that sendfile may use, or -1 where the bytes are not in a kernel file.
  [[nodiscard]] virtual int descriptor() const noexcept { return -1; }
};

struct FileRegion {
  std::shared_ptr<const RegionSource> source;
  std::uint64_t position = 0;
  std::uint64_t size = 0;
};

class BytesChain {
 public:
  using Piece = std::variant<Bytes, FileRegion>;
  BytesChain() = default;
  explicit BytesChain(Bytes bytes) { append(std::move(bytes)); }

  void append(Bytes bytes) {
    if (!bytes.empty()) {
      size_ += bytes.size();
      pieces_.emplace_back(std::move(bytes));
    }
  }
  void append(FileRegion region) {
    if (region.size != 0) {
      size_ += region.size;
      pieces_.emplace_back(std::move(region));
    }
  }
  void append(BytesChain other) {
    size_ += other.size_;
    for (Piece& piece : other.pieces_) {
      pieces_.push_back(std::move(piece));
    }
  }
  [[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(size_); }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] const std::vector<Piece>& pieces() const noexcept { return pieces_; }
  [[nodiscard]] std::vector<Piece>& pieces() noexcept { return pieces_; }
  void clear() noexcept {
    pieces_.clear();
    size_ = 0;
  }
  // One contiguous Bytes: the only piece itself, otherwise a copy. Regions that cannot be read come back short.
  [[nodiscard]] Bytes flatten() const;
  friend bool operator==(const BytesChain& a, const BytesChain& b) { return a.flatten() == b.flatten(); }

 private:
  std::vector<Piece> pieces_;
  std::uint64_t size_ = 0;
};

// An append-only writer of memory that becomes Bytes. Placeholders are patched with patch().
class ByteBuilder {
 public:
  explicit ByteBuilder(std::size_t capacity = 256) { reserve(capacity); }
  ~ByteBuilder();
  ByteBuilder(ByteBuilder&& other) noexcept
      : block_(std::exchange(other.block_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  ByteBuilder& operator=(ByteBuilder&&) = delete;
  ByteBuilder(const ByteBuilder&) = delete;
  ByteBuilder& operator=(const ByteBuilder&) = delete;

  void reserve(std::size_t capacity);
  // Room for `size` more bytes; returns where they go and counts them as written.
  std::byte* extend(std::size_t size) {
    if (block_ == nullptr || size > block_->capacity - size_) {
      reserve(size_ + size);
    }
    std::byte* at = block_->data() + size_;
    size_ += size;
    return at;
  }
  void append(ByteSpan bytes) {
    if (!bytes.empty()) {
      std::memcpy(extend(bytes.size()), bytes.data(), bytes.size());
    }
  }
  void truncate(std::size_t size) noexcept { size_ = size < size_ ? size : size_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::byte* data() noexcept { return block_ == nullptr ? nullptr : block_->data(); }
  [[nodiscard]] ByteSpan span() const noexcept {
    return {block_ == nullptr ? nullptr : block_->data(), size_};
  }
  // Hands the bytes over; the builder is empty afterwards.
  [[nodiscard]] Bytes finish() noexcept;

 private:
  Block* block_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace hw
