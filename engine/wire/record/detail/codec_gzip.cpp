// SPDX-License-Identifier: Apache-2.0
#include <zlib.h>

#include <algorithm>
#include <limits>

#include "engine/wire/record/detail/codec.h"

namespace hw::wire::detail {
namespace {

constexpr int kGzipWindow = 15 + 16;  // the largest window; +16 selects the gzip wrapper

Bytef* zlib_in(const std::byte* p) noexcept {
  return const_cast<Bytef*>(reinterpret_cast<const Bytef*>(p));  // NOLINT: zlib only reads
}

class GzipDecompressor final : public Decompressor {
 public:
  GzipDecompressor() {
    const int ok = inflateInit2(&stream_, kGzipWindow);
    HW_ASSERT(ok == Z_OK, "zlib starts");
  }
  ~GzipDecompressor() override { inflateEnd(&stream_); }
  GzipDecompressor(const GzipDecompressor&) = delete;
  GzipDecompressor& operator=(const GzipDecompressor&) = delete;

  void reset(ByteSpan input, std::size_t max_output) override {
    inflateReset(&stream_);
    input_ = input;
    bound_ = max_output;
    produced_ = 0;
    done_ = false;
  }

  Result<std::size_t> read(MutableByteSpan into) override {
    std::size_t written = 0;
    while (written < into.size() && !done_) {
      constexpr std::size_t kStep = std::numeric_limits<uInt>::max();
      const std::size_t offered = std::min(input_.size(), kStep);
      const std::size_t room = std::min(into.size() - written, kStep);
      stream_.next_in = zlib_in(input_.data());
      stream_.avail_in = static_cast<uInt>(offered);
      stream_.next_out = reinterpret_cast<Bytef*>(into.data() + written);
      stream_.avail_out = static_cast<uInt>(room);
      const int answer = inflate(&stream_, Z_NO_FLUSH);
      const std::size_t made = room - stream_.avail_out;
      input_ = input_.subspan(offered - stream_.avail_in);
      written += made;
      produced_ += made;
      if (produced_ > bound_) {
        return over_bound("gzip", bound_);
      }
      if (answer == Z_STREAM_END) {
        // Members may follow one another (RFC 1952); anything else behind the last one is not looked at, as in Java.
        if (input_.size() >= 2 && input_[0] == std::byte{0x1f} && input_[1] == std::byte{0x8b}) {
          inflateReset(&stream_);
        } else {
          done_ = true;
        }
      } else if (answer == Z_BUF_ERROR || (answer == Z_OK && made == 0 && input_.empty())) {
        return corrupt_data("gzip", "the data ends early");
      } else if (answer != Z_OK) {
        return corrupt_data("gzip", stream_.msg != nullptr ? stream_.msg : "not gzip data");
      }
    }
    return written;
  }

 private:
  z_stream stream_{};
  ByteSpan input_;
  std::size_t bound_ = 0;
  std::size_t produced_ = 0;
  bool done_ = true;
};

}  // namespace

std::unique_ptr<Decompressor> make_gzip_decompressor() { return std::make_unique<GzipDecompressor>(); }

void compress_gzip(ByteSpan input, ByteBuilder& into, std::optional<int> level) {
  z_stream stream{};
  const int chosen = level ? std::clamp(*level, 1, 9) : Z_DEFAULT_COMPRESSION;
  constexpr int kMemory = 8;
  int answer = deflateInit2(&stream, chosen, Z_DEFLATED, kGzipWindow, kMemory, Z_DEFAULT_STRATEGY);
  HW_ASSERT(answer == Z_OK, "zlib starts");
  HW_ASSERT(input.size() <= std::numeric_limits<uInt>::max() / 2, "a batch fits zlib");
  const std::size_t bound = deflateBound(&stream, static_cast<uLong>(input.size()));
  const std::size_t before = into.size();
  std::byte* at = into.extend(bound);
  stream.next_in = zlib_in(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(at);
  stream.avail_out = static_cast<uInt>(bound);
  answer = deflate(&stream, Z_FINISH);
  HW_ASSERT(answer == Z_STREAM_END, "deflateBound holds");
  into.truncate(before + bound - stream.avail_out);
  deflateEnd(&stream);
}

}  // namespace hw::wire::detail
