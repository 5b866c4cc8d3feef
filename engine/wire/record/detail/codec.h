// SPDX-License-Identifier: Apache-2.0
// What each codec's source file gives to compression.cpp; keeps four libraries out of every other file.
#pragma once

#include <memory>
#include <optional>

#include "engine/wire/record/compression.h"

namespace hw::wire::detail {

[[nodiscard]] std::unique_ptr<Decompressor> make_gzip_decompressor();
[[nodiscard]] std::unique_ptr<Decompressor> make_snappy_decompressor();
[[nodiscard]] std::unique_ptr<Decompressor> make_lz4_decompressor();
[[nodiscard]] std::unique_ptr<Decompressor> make_zstd_decompressor();

void compress_gzip(ByteSpan input, ByteBuilder& into, std::optional<int> level);
void compress_snappy(ByteSpan input, ByteBuilder& into);
void compress_lz4(ByteSpan input, ByteBuilder& into, std::optional<int> level);
void compress_zstd(ByteSpan input, ByteBuilder& into, std::optional<int> level);

inline Unexpected<Error> corrupt_data(const char* codec, const char* what) {
  return fail(Errc::corrupt, std::string(codec) + ": " + what);
}
inline Unexpected<Error> over_bound(const char* codec, std::size_t bound) {
  return fail(Errc::too_large, std::string(codec) + ": grows beyond " + std::to_string(bound) + " bytes");
}

}  // namespace hw::wire::detail
