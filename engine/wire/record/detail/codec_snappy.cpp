// SPDX-License-Identifier: Apache-2.0
// Two forms: the block framing of the xerial Java library, which is what Kafka clients send (16 bytes of header, then
// big-endian length and block, repeated), and one raw block, which some clients send.
#include <snappy.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "engine/wire/record/batch.h"
#include "engine/wire/record/detail/codec.h"

namespace hw::wire::detail {
namespace {

constexpr std::array<unsigned char, 16> kHeader = {0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0, 0, 0, 0, 1, 0, 0, 0, 1};
constexpr std::size_t kMagicSize = 8;
constexpr std::size_t kBlock = 32 * 1024;
// No element of the format makes more than 64 bytes of three: a larger claim is a lie, seen before memory is taken.
constexpr std::size_t kLargestRatio = 22;

const char* chars(const std::byte* p) noexcept { return reinterpret_cast<const char*>(p); }

class SnappyDecompressor final : public Decompressor {
 public:
  void reset(ByteSpan input, std::size_t max_output) override {
    input_ = input;
    bound_ = max_output;
    produced_ = 0;
    block_size_ = block_position_ = 0;
    framed_ = input.size() >= kMagicSize && std::memcmp(input.data(), kHeader.data(), kMagicSize) == 0;
    started_ = false;
  }

  Result<std::size_t> read(MutableByteSpan into) override {
    std::size_t written = 0;
    while (written < into.size()) {
      if (block_position_ == block_size_) {
        HW_TRY(const bool more, next_block());
        if (!more) {
          break;
        }
        continue;
      }
      const std::size_t take = std::min(block_size_ - block_position_, into.size() - written);
      std::memcpy(into.data() + written, block_.data() + block_position_, take);
      block_position_ += take;
      written += take;
    }
    return written;
  }

 private:
  Result<bool> next_block() {
    if (!framed_) {
      if (started_) {
        return false;
      }
      started_ = true;
      HW_CHECK(unpack(input_));
      input_ = {};
      return true;
    }
    // A header may come again between blocks, where a writer was flushed and another one went on.
    while (input_.size() >= kHeader.size() && std::memcmp(input_.data(), kHeader.data(), kMagicSize) == 0) {
      input_ = input_.subspan(kHeader.size());
      started_ = true;
    }
    if (!started_) {
      return corrupt_data("snappy", "the header is cut off");
    }
    if (input_.empty()) {
      return false;
    }
    if (input_.size() < 4) {
      return corrupt_data("snappy", "the data ends early");
    }
    const std::size_t size = load_u32(input_.data());
    input_ = input_.subspan(4);
    if (size > input_.size()) {
      return corrupt_data("snappy", "the data ends early");
    }
    HW_CHECK(unpack(input_.first(size)));
    input_ = input_.subspan(size);
    return true;
  }

  Result<void> unpack(ByteSpan packed) {
    std::size_t size = 0;
    if (!snappy::GetUncompressedLength(chars(packed.data()), packed.size(), &size) ||
        size > packed.size() * kLargestRatio + 64) {
      return corrupt_data("snappy", "the length of a block is wrong");
    }
    produced_ += size;
    if (produced_ > bound_) {
      return over_bound("snappy", bound_);
    }
    if (block_.size() < size) {
      block_.resize(std::max(size, kBlock));
    }
    if (!snappy::RawUncompress(chars(packed.data()), packed.size(), reinterpret_cast<char*>(block_.data()))) {
      return corrupt_data("snappy", "a block does not decode");
    }
    block_size_ = size;
    block_position_ = 0;
    return {};
  }

  ByteSpan input_;
  std::size_t bound_ = 0;
  std::size_t produced_ = 0;
  std::vector<std::byte> block_;
  std::size_t block_size_ = 0;
  std::size_t block_position_ = 0;
  bool framed_ = false;
  bool started_ = false;
};

}  // namespace

std::unique_ptr<Decompressor> make_snappy_decompressor() { return std::make_unique<SnappyDecompressor>(); }

void compress_snappy(ByteSpan input, ByteBuilder& into) {
  into.append(as_bytes({reinterpret_cast<const char*>(kHeader.data()), kHeader.size()}));
  while (!input.empty()) {
    const ByteSpan block = input.first(std::min(kBlock, input.size()));
    const std::size_t before = into.size();
    const std::size_t bound = snappy::MaxCompressedLength(block.size());
    std::byte* at = into.extend(4 + bound);
    std::size_t size = bound;
    snappy::RawCompress(chars(block.data()), block.size(), reinterpret_cast<char*>(at + 4), &size);
    store_u32(at, static_cast<std::uint32_t>(size));
    into.truncate(before + 4 + size);
    input = input.subspan(block.size());
  }
}

}  // namespace hw::wire::detail
