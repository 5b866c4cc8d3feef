// SPDX-License-Identifier: Apache-2.0
// Writer: puts one frame together. The counterpart of Reader.
//
// Everything but records goes into one growing block; records are remembered as pieces beside it and never copied,
// so finish() gives slices of the block and the pieces of the records in turn. Lengths are reserved and patched
// afterwards, there is no pass that computes sizes first.
//
// Errors are sticky (a field that the version cannot carry, null where it may not be, a string above 32767 bytes);
// after one the bytes are worth nothing. Not thread-safe. Owns what it holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/base/uuid.h"
#include "engine/wire/runtime/raw_tagged_field.h"

namespace hw::wire {

class Writer {
 public:
  explicit Writer(std::size_t capacity = 256) : block_(capacity) {}
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  [[nodiscard]] bool ok() const noexcept { return error_ == nullptr; }
  [[nodiscard]] const char* error() const noexcept { return error_ == nullptr ? "" : error_; }
  // The field that the error is about, in snake_case; may be empty.
  [[nodiscard]] const char* error_field() const noexcept { return error_field_; }
  // Both texts must be literals. Returns false, for `return writer.fail(…)`.
  bool fail(const char* why, const char* field = "") noexcept;

  void boolean(bool value) { put_big_endian(static_cast<std::uint8_t>(value ? 1 : 0)); }
  void int8(std::int8_t value) { put_big_endian(static_cast<std::uint8_t>(value)); }
  void int16(std::int16_t value) { put_big_endian(static_cast<std::uint16_t>(value)); }
  void uint16(std::uint16_t value) { put_big_endian(value); }
  void int32(std::int32_t value) { put_big_endian(static_cast<std::uint32_t>(value)); }
  void uint32(std::uint32_t value) { put_big_endian(value); }
  void int64(std::int64_t value) { put_big_endian(static_cast<std::uint64_t>(value)); }
  void float64(double value);
  void uuid(const Uuid& value) {
    put_big_endian(value.high);
    put_big_endian(value.low);
  }
  void uvarint(std::uint32_t value);
  void varint(std::int32_t value);
  void varlong(std::int64_t value);

  void string(std::string_view value, bool compact);
  void bytes(ByteSpan value, bool compact);
  void bytes(const Bytes& value, bool compact) { bytes(value.span(), compact); }
  void records(const BytesChain& value, bool compact);
  void array_length(std::size_t count, bool compact);
  // Null in place of a string, of bytes or records, of an array.
  void null_string(bool compact);
  void null_bytes(bool compact);
  void null_array(bool compact) { null_bytes(compact); }
  // Bytes as they are, without a length.
  void raw(ByteSpan value) { block_.append(value); }

  // Tagged fields. Known and unknown ones go out in ascending order:
  // tag_count(known + unknown), then per known tag write_unknown_below(), begin_tag(), the value, end_tag(),
  // at last write_unknown_below() with kNoMoreTags.
  static constexpr std::uint64_t kNoMoreTags = std::uint64_t{1} << 32;
  void tag_count(std::size_t count) { uvarint(static_cast<std::uint32_t>(count)); }
  [[nodiscard]] std::size_t begin_tag(std::uint32_t tag);
  void end_tag(std::size_t mark);
  // Writes the fields from `next` on whose tag is below `tag`; equal or descending tags are an error.
  void write_unknown_below(const std::vector<RawTaggedField>& fields, std::size_t& next, std::uint64_t tag);

  // A tagged section without known tags.
  void only_unknown(const std::vector<RawTaggedField>& fields);

  // Reserves the four bytes of a length; patch_length() fills in what was written since, records included.
  struct LengthMark {
    std::size_t at = 0;
    std::size_t written = 0;
  };
  [[nodiscard]] LengthMark reserve_length();
  void patch_length(LengthMark mark);

  // Bytes written so far, records included.
  [[nodiscard]] std::size_t size() const noexcept { return block_.size() + spliced_bytes_; }
  // Hands everything over; the writer is empty afterwards. An empty chain after an error.
  [[nodiscard]] BytesChain finish();

 private:
  template <class U>
  void put_big_endian(U value) {
    std::byte* at = block_.extend(sizeof(U));
    for (std::size_t i = 0; i < sizeof(U); ++i) {
      at[i] = static_cast<std::byte>(static_cast<std::uint64_t>(value) >> (8 * (sizeof(U) - 1 - i)));
    }
  }
  struct Splice {
    std::size_t at = 0;  // position in block_
    BytesChain pieces;
  };

  ByteBuilder block_;
  std::vector<Splice> splices_;
  std::size_t spliced_bytes_ = 0;
  const char* error_ = nullptr;
  const char* error_field_ = "";
};

}  // namespace hw::wire
