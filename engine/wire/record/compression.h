// SPDX-License-Identifier: Apache-2.0
// The five codecs of a record batch: none, gzip, snappy, lz4, zstd.
//
// Snappy is written in the xerial block framing that Kafka uses and read in that framing or raw; lz4 is the standard
// frame format with a correct header checksum. Decompression is a pull stream, so what a small input grows to never has
// to be held at once, and it stops at a bound (a bomb costs neither memory nor more time than the bound).
// Each library is included in one source file only. Thread rule: a stream belongs to one thread; functions to any.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "engine/base/bytes.h"
#include "engine/base/result.h"

namespace hw::wire {

enum class Compression : std::uint8_t { none = 0, gzip = 1, snappy = 2, lz4 = 3, zstd = 4 };

[[nodiscard]] const char* compression_name(Compression codec) noexcept;                  // "none", "gzip", …
[[nodiscard]] std::optional<Compression> parse_compression(std::string_view name) noexcept;

// What one batch may decompress to when the caller has no other bound: as much as a request can carry uncompressed.
inline constexpr std::size_t kDefaultMaxDecompressed = 104'857'600;

// Pulls decompressed bytes. read() fills `into` as far as it can and returns the bytes written; 0 means the end.
// Errors: corrupt (the input is not of this codec, or ends early), too_large (more than the bound).
class Decompressor {
 public:
  virtual ~Decompressor() = default;
  // Starts over on another input, which must stay valid while reading. Keeps buffers and library contexts.
  virtual void reset(ByteSpan input, std::size_t max_output) = 0;
  virtual Result<std::size_t> read(MutableByteSpan into) = 0;
};
// Never null; `none` copies. Contexts are costly (zstd, gzip): keep one and reset() it.
[[nodiscard]] std::unique_ptr<Decompressor> make_decompressor(Compression codec);

// The whole output at once. Errors as above.
[[nodiscard]] Result<Bytes> decompress(Compression codec, ByteSpan input, std::size_t max_output = kDefaultMaxDecompressed);

// `level` of gzip (1-9), lz4 (1-17) and zstd (-131072…22); nullopt: Kafka's default. Appends to `into`.
void compress(Compression codec, ByteSpan input, ByteBuilder& into, std::optional<int> level = std::nullopt);

}  // namespace hw::wire
