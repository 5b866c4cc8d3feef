// SPDX-License-Identifier: Apache-2.0
// Reader: takes one frame apart. The counterpart of Writer.
//
// Errors are sticky: the first one is kept, the position jumps to the end, and every later read gives a zero value,
// so a caller checks ok() once. Every length is compared with the remaining bytes before anything is allocated, and
// the memory of decoded arrays is charged against a limit, because a one byte element may become a struct of hundreds.
// Nesting needs no counter: the schemas have no recursion, so the depth is fixed when the code is generated.
//
// Lengths are signed on the wire, -1 means null (compact form: unsigned varint of length + 1, 0 means null).
// `compact` says which form: true for flexible versions (KIP-482).
//
// Bytes and records are slices of the frame and keep it alive; strings are copies. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/base/uuid.h"
#include "engine/wire/runtime/raw_tagged_field.h"

namespace hw::wire {

class Reader {
 public:
  // A string may not be longer, in any version.
  static constexpr std::size_t kMaxString = 32767;

  explicit Reader(Bytes frame) noexcept : Reader(std::move(frame), 0) {}
  // `memory_limit`: bytes that decoded arrays may occupy; 0 means 16 MiB plus 16 times the frame.
  Reader(Bytes frame, std::size_t memory_limit) noexcept;
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  [[nodiscard]] bool ok() const noexcept { return error_ == nullptr; }
  [[nodiscard]] const char* error() const noexcept { return error_ == nullptr ? "" : error_; }
  // Where the first error was found, in bytes from the begin of the frame.
  [[nodiscard]] std::size_t error_position() const noexcept { return error_position_; }
  // Bytes not consumed; 0 after an error.
  [[nodiscard]] std::size_t remaining() const noexcept { return static_cast<std::size_t>(end_ - at_); }
  [[nodiscard]] std::size_t position() const noexcept { return static_cast<std::size_t>(at_ - frame_.data()); }
  // Keeps the first reason; `why` must be a literal. Returns false, for `return reader.fail(…)`.
  bool fail(const char* why) noexcept;

  bool boolean() noexcept { return int8() != 0; }
  std::int8_t int8() noexcept { return static_cast<std::int8_t>(big_endian<std::uint8_t>()); }
  std::int16_t int16() noexcept { return static_cast<std::int16_t>(big_endian<std::uint16_t>()); }
  std::uint16_t uint16() noexcept { return big_endian<std::uint16_t>(); }
  std::int32_t int32() noexcept { return static_cast<std::int32_t>(big_endian<std::uint32_t>()); }
  std::uint32_t uint32() noexcept { return big_endian<std::uint32_t>(); }
  std::int64_t int64() noexcept { return static_cast<std::int64_t>(big_endian<std::uint64_t>()); }
  double float64() noexcept;
  Uuid uuid() noexcept;
  std::uint32_t uvarint() noexcept;
  std::int32_t varint() noexcept;
  std::int64_t varlong() noexcept;

  std::string string(bool compact);
  std::optional<std::string> nullable_string(bool compact);
  Bytes bytes(bool compact) noexcept;
  std::optional<Bytes> nullable_bytes(bool compact) noexcept;
  BytesChain records(bool compact);
  std::optional<BytesChain> nullable_records(bool compact);
  // The next `size` bytes as a slice of the frame.
  Bytes raw(std::size_t size) noexcept;

  // Starts an array. `least` is the smallest wire size of an element, `memory` what one occupies decoded.
  // False after an error and for null; null is an error unless `nullable`.
  bool array_length(bool compact, bool nullable, std::size_t least, std::size_t memory, std::size_t& count) noexcept;
  // The byte before a nullable struct: true where the struct follows.
  bool struct_follows() noexcept;

  // The tagged section at the end of each struct of a flexible version: first the count, then tag by tag.
  //   for (std::uint32_t n = reader.tag_count(); n > 0; --n) {
  //     Tag tag;
  //     if (!reader.open_tag(tag)) … switch (tag.number) … reader.close_tag(tag)
  struct Tag {
    std::uint32_t number = 0;
    std::uint32_t size = 0;
    const std::byte* outer_end = nullptr;
  };
  std::uint32_t tag_count() noexcept;
  bool open_tag(Tag& tag) noexcept;   // from here to close_tag() the frame ends with the tag's payload
  bool close_tag(const Tag& tag) noexcept;  // an error unless the payload was consumed exactly
  void keep_tag(const Tag& tag, std::vector<RawTaggedField>& unknown);
  // A tagged section of which nothing is known.
  bool skip_tags(std::vector<RawTaggedField>& unknown);

 private:
  template <class U>
  U big_endian() noexcept {
    if (static_cast<std::size_t>(end_ - at_) < sizeof(U)) [[unlikely]] {
      fail("the frame ends inside a number");
      return 0;
    }
    U value = 0;
    for (std::size_t i = 0; i < sizeof(U); ++i) {  // compilers make one load and one byte swap of it
      value = static_cast<U>((static_cast<std::uint64_t>(value) << 8) | static_cast<std::uint64_t>(at_[i]));
    }
    at_ += sizeof(U);
    return value;
  }
  // The length of a string, bytes, records or array: -1 for null, -2 after an error.
  std::int64_t length(bool compact, bool short_length) noexcept;

  Bytes frame_;
  const std::byte* at_;
  const std::byte* end_;
  std::size_t memory_left_;
  const char* error_ = nullptr;
  std::size_t error_position_ = 0;
};

}  // namespace hw::wire
