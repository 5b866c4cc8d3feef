// SPDX-License-Identifier: Apache-2.0
// The lz4 frame format. Kafka's format version 2 uses it as it is (the odd header checksum was of older versions).
#include <lz4frame.h>

#include <algorithm>

#include "engine/wire/record/detail/codec.h"

namespace hw::wire::detail {
namespace {

class Lz4Decompressor final : public Decompressor {
 public:
  Lz4Decompressor() {
    const std::size_t code = LZ4F_createDecompressionContext(&context_, LZ4F_VERSION);
    HW_ASSERT(LZ4F_isError(code) == 0, "lz4 starts");
  }
  ~Lz4Decompressor() override { LZ4F_freeDecompressionContext(context_); }
  Lz4Decompressor(const Lz4Decompressor&) = delete;
  Lz4Decompressor& operator=(const Lz4Decompressor&) = delete;

  void reset(ByteSpan input, std::size_t max_output) override {
    LZ4F_resetDecompressionContext(context_);
    input_ = input;
    bound_ = max_output;
    produced_ = 0;
    done_ = false;
  }

  Result<std::size_t> read(MutableByteSpan into) override {
    std::size_t written = 0;
    while (written < into.size() && !done_) {
      std::size_t made = into.size() - written;
      std::size_t used = input_.size();
      const std::size_t hint =
          LZ4F_decompress(context_, into.data() + written, &made, input_.data(), &used, nullptr);
      if (LZ4F_isError(hint) != 0) {
        return corrupt_data("lz4", LZ4F_getErrorName(hint));
      }
      input_ = input_.subspan(used);
      written += made;
      produced_ += made;
      if (produced_ > bound_) {
        return over_bound("lz4", bound_);
      }
      if (hint == 0) {
        done_ = true;  // one frame; what lies behind it is not looked at, as in Java
      } else if (made == 0 && used == 0) {
        return corrupt_data("lz4", "the data ends early");
      }
    }
    return written;
  }

 private:
  LZ4F_dctx* context_ = nullptr;
  ByteSpan input_;
  std::size_t bound_ = 0;
  std::size_t produced_ = 0;
  bool done_ = true;
};

}  // namespace

std::unique_ptr<Decompressor> make_lz4_decompressor() { return std::make_unique<Lz4Decompressor>(); }

void compress_lz4(ByteSpan input, ByteBuilder& into, std::optional<int> level) {
  LZ4F_preferences_t preferences = LZ4F_INIT_PREFERENCES;
  preferences.frameInfo.blockSizeID = LZ4F_max64KB;
  preferences.frameInfo.blockMode = LZ4F_blockIndependent;  // Java clients read nothing else
  constexpr int kKafkaDefault = 9;                          // which stands for the fast compressor
  preferences.compressionLevel = level && *level != kKafkaDefault ? std::clamp(*level, 1, 12) : 0;
  const std::size_t before = into.size();
  const std::size_t bound = LZ4F_compressFrameBound(input.size(), &preferences);
  std::byte* at = into.extend(bound);
  const std::size_t size = LZ4F_compressFrame(at, bound, input.data(), input.size(), &preferences);
  HW_ASSERT(LZ4F_isError(size) == 0, "the frame bound holds");
  into.truncate(before + size);
}

}  // namespace hw::wire::detail
