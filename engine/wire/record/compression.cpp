// SPDX-License-Identifier: Apache-2.0
#include "engine/wire/record/compression.h"

#include <algorithm>
#include <cstring>

#include "engine/wire/record/detail/codec.h"

namespace hw::wire {
namespace {

class PlainReader final : public Decompressor {
 public:
  void reset(ByteSpan input, std::size_t max_output) override {
    input_ = input;
    bound_ = max_output;
    produced_ = 0;
  }
  Result<std::size_t> read(MutableByteSpan into) override {
    const std::size_t take = std::min(into.size(), input_.size());
    if (take == 0) {
      return std::size_t{0};
    }
    produced_ += take;
    if (produced_ > bound_) {
      return detail::over_bound("uncompressed", bound_);
    }
    std::memcpy(into.data(), input_.data(), take);
    input_ = input_.subspan(take);
    return take;
  }

 private:
  ByteSpan input_;
  std::size_t bound_ = 0;
  std::size_t produced_ = 0;
};

}  // namespace

const char* compression_name(Compression codec) noexcept {
  switch (codec) {
    case Compression::none:
      return "none";
    case Compression::gzip:
      return "gzip";
    case Compression::snappy:
      return "snappy";
    case Compression::lz4:
      return "lz4";
    case Compression::zstd:
      return "zstd";
  }
  return "?";
}

std::optional<Compression> parse_compression(std::string_view name) noexcept {
  for (const Compression codec :
       {Compression::none, Compression::gzip, Compression::snappy, Compression::lz4, Compression::zstd}) {
    if (name == compression_name(codec)) {
      return codec;
    }
  }
  return std::nullopt;
}

std::unique_ptr<Decompressor> make_decompressor(Compression codec) {
  switch (codec) {
    case Compression::none:
      break;
    case Compression::gzip:
      return detail::make_gzip_decompressor();
    case Compression::snappy:
      return detail::make_snappy_decompressor();
    case Compression::lz4:
      return detail::make_lz4_decompressor();
    case Compression::zstd:
      return detail::make_zstd_decompressor();
  }
  return std::make_unique<PlainReader>();
}

Result<Bytes> decompress(Compression codec, ByteSpan input, std::size_t max_output) {
  const std::unique_ptr<Decompressor> stream = make_decompressor(codec);
  stream->reset(input, max_output);
  ByteBuilder out(std::min(max_output, std::max<std::size_t>(input.size() * 3, 4096)));
  for (;;) {
    const std::size_t before = out.size();
    const std::size_t step = std::clamp<std::size_t>(before, 16 * 1024, 1024 * 1024);
    std::byte* at = out.extend(step);
    HW_TRY(const std::size_t made, stream->read({at, step}));
    out.truncate(before + made);
    if (made == 0) {
      return out.finish();
    }
  }
}

void compress(Compression codec, ByteSpan input, ByteBuilder& into, std::optional<int> level) {
  switch (codec) {
    case Compression::none:
      into.append(input);
      return;
    case Compression::gzip:
      detail::compress_gzip(input, into, level);
      return;
    case Compression::snappy:
      detail::compress_snappy(input, into);
      return;
    case Compression::lz4:
      detail::compress_lz4(input, into, level);
      return;
    case Compression::zstd:
      detail::compress_zstd(input, into, level);
      return;
  }
}

}  // namespace hw::wire
