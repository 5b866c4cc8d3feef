// SPDX-License-Identifier: Apache-2.0
// One record in memory, taken apart without allocation: shared by the iterator and the validator.
#pragma once

#include "engine/base/bytes.h"
#include "engine/wire/record/detail/varint.h"

namespace hw::wire::detail {

struct RecordParts {
  std::int64_t timestamp_delta = 0;
  std::int32_t offset_delta = 0;
  std::int32_t key_size = -1;    // negative: null (Kafka takes any negative number for it)
  std::int32_t value_size = -1;
  std::int32_t header_count = 0;
  const std::byte* key = nullptr;
  const std::byte* value = nullptr;
  const std::byte* headers = nullptr;
};

// Takes a length and skips so many bytes; a negative length is null and skips none.
inline bool skip_field(const std::byte*& p, const std::byte* end, std::int32_t& size) noexcept {
  if (!read_varint(p, end, size)) {
    return false;
  }
  if (size > 0) {
    if (static_cast<std::size_t>(size) > static_cast<std::size_t>(end - p)) {
      return false;
    }
    p += size;
  }
  return true;
}

inline bool walk_headers(const std::byte*& p, const std::byte* end, std::int32_t count) noexcept {
  for (; count != 0; --count) {
    std::int32_t size = 0;
    if (!skip_field(p, end, size) || size < 0 || !skip_field(p, end, size)) {
      return false;
    }
  }
  return true;
}

// The body of a record, which is exactly [p, end). Null when it is good, otherwise what is wrong.
inline const char* walk_record(const std::byte* p, const std::byte* end, RecordParts& parts) noexcept {
  if (p == end) {
    return "a record is empty";
  }
  ++p;  // attributes: no bit of a record means anything
  if (!read_varlong(p, end, parts.timestamp_delta) || !read_varint(p, end, parts.offset_delta)) {
    return "a record ends inside its timestamp or offset";
  }
  if (!skip_field(p, end, parts.key_size)) {
    return "a key is longer than its record";
  }
  parts.key = parts.key_size > 0 ? p - parts.key_size : p;
  if (!skip_field(p, end, parts.value_size)) {
    return "a value is longer than its record";
  }
  parts.value = parts.value_size > 0 ? p - parts.value_size : p;
  if (!read_varint(p, end, parts.header_count) || parts.header_count < 0 || parts.header_count > end - p) {
    return "the number of headers is wrong";
  }
  parts.headers = p;
  if (!walk_headers(p, end, parts.header_count)) {
    return "a header is wrong: null key, or longer than its record";
  }
  if (p != end) {
    return "a record is longer than its fields";
  }
  return nullptr;
}

}  // namespace hw::wire::detail
