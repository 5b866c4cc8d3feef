// SPDX-License-Identifier: Apache-2.0
#include <zstd.h>

#include <algorithm>

#include "engine/wire/record/detail/codec.h"

namespace hw::wire::detail {
namespace {

// A frame may ask for a window of up to 128 MiB (the library's own limit, which level 22 uses); a context that has grown
// is not kept.
constexpr std::size_t kContextKept = 4 * 1024 * 1024;

class ZstdDecompressor final : public Decompressor {
 public:
  ZstdDecompressor() : context_(ZSTD_createDCtx()) { HW_ASSERT(context_ != nullptr, "zstd starts"); }
  ~ZstdDecompressor() override { ZSTD_freeDCtx(context_); }
  ZstdDecompressor(const ZstdDecompressor&) = delete;
  ZstdDecompressor& operator=(const ZstdDecompressor&) = delete;

  void reset(ByteSpan input, std::size_t max_output) override {
    if (ZSTD_sizeof_DCtx(context_) > kContextKept) {
      ZSTD_freeDCtx(context_);
      context_ = ZSTD_createDCtx();
      HW_ASSERT(context_ != nullptr, "zstd starts");
    } else {
      ZSTD_DCtx_reset(context_, ZSTD_reset_session_only);
    }
    input_ = {input.data(), input.size(), 0};
    bound_ = max_output;
    produced_ = 0;
    complete_ = false;
  }

  Result<std::size_t> read(MutableByteSpan into) override {
    ZSTD_outBuffer out{into.data(), into.size(), 0};
    while (out.pos < out.size && !(complete_ && input_.pos == input_.size)) {
      const std::size_t position = out.pos;
      const std::size_t used = input_.pos;
      const std::size_t hint = ZSTD_decompressStream(context_, &out, &input_);
      if (ZSTD_isError(hint) != 0) {
        return corrupt_data("zstd", ZSTD_getErrorName(hint));
      }
      produced_ += out.pos - position;
      if (produced_ > bound_) {
        return over_bound("zstd", bound_);
      }
      complete_ = hint == 0;
      if (!complete_ && out.pos == position && input_.pos == used) {
        return corrupt_data("zstd", "the data ends early");
      }
    }
    return out.pos;
  }

 private:
  ZSTD_DCtx* context_;
  ZSTD_inBuffer input_{nullptr, 0, 0};
  std::size_t bound_ = 0;
  std::size_t produced_ = 0;
  bool complete_ = true;
};

}  // namespace

std::unique_ptr<Decompressor> make_zstd_decompressor() { return std::make_unique<ZstdDecompressor>(); }

void compress_zstd(ByteSpan input, ByteBuilder& into, std::optional<int> level) {
  constexpr int kKafkaDefault = 3;
  const int chosen = std::clamp(level.value_or(kKafkaDefault), ZSTD_minCLevel(), ZSTD_maxCLevel());
  const std::size_t before = into.size();
  const std::size_t bound = ZSTD_compressBound(input.size());
  std::byte* at = into.extend(bound);
  const std::size_t size = ZSTD_compress(at, bound, input.data(), input.size(), chosen);
  HW_ASSERT(ZSTD_isError(size) == 0, "the compress bound holds");
  into.truncate(before + size);
}

}  // namespace hw::wire::detail
