// SPDX-License-Identifier: Apache-2.0
// Varints of records: zig-zag, seven bits a byte, little end first. Private to wire/record, where they are the hot path.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hw::wire::detail {

// Reads between `p` and `end`; false where the bytes end first or the number does not fit (more than 5 or 10 bytes).
inline bool read_unsigned(const std::byte*& p, const std::byte* end, std::uint64_t& value, int max_bytes) noexcept {
  std::uint64_t result = 0;
  int shift = 0;
  for (int i = 0; i < max_bytes; ++i) {
    if (p == end) {
      return false;
    }
    const auto byte = static_cast<std::uint64_t>(*p++);
    result |= (byte & 0x7f) << shift;
    if (byte < 0x80) {
      value = result;
      return true;
    }
    shift += 7;
  }
  return false;
}
inline std::int32_t unzigzag32(std::uint64_t raw) noexcept {
  const auto n = static_cast<std::uint32_t>(raw);
  return static_cast<std::int32_t>((n >> 1) ^ (0U - (n & 1U)));
}
inline std::int64_t unzigzag64(std::uint64_t raw) noexcept {
  return static_cast<std::int64_t>((raw >> 1) ^ (std::uint64_t{0} - (raw & 1U)));
}
inline bool read_varint(const std::byte*& p, const std::byte* end, std::int32_t& value) noexcept {
  if (p != end && static_cast<std::uint8_t>(*p) < 0x80) [[likely]] {  // most are one byte
    value = unzigzag32(static_cast<std::uint64_t>(*p++));
    return true;
  }
  std::uint64_t raw = 0;
  if (!read_unsigned(p, end, raw, 5)) {
    return false;
  }
  value = unzigzag32(raw);
  return true;
}
inline bool read_varlong(const std::byte*& p, const std::byte* end, std::int64_t& value) noexcept {
  std::uint64_t raw = 0;
  if (!read_unsigned(p, end, raw, 10)) {
    return false;
  }
  value = unzigzag64(raw);
  return true;
}

inline std::byte* write_unsigned(std::byte* p, std::uint64_t value) noexcept {
  while (value >= 0x80) {
    *p++ = static_cast<std::byte>(value | 0x80);
    value >>= 7;
  }
  *p++ = static_cast<std::byte>(value);
  return p;
}
inline std::uint64_t zigzag(std::int64_t value) noexcept {
  return (static_cast<std::uint64_t>(value) << 1) ^ (value < 0 ? ~std::uint64_t{0} : std::uint64_t{0});
}
inline std::byte* write_varint(std::byte* p, std::int32_t value) noexcept { return write_unsigned(p, zigzag(value)); }
inline std::byte* write_varlong(std::byte* p, std::int64_t value) noexcept { return write_unsigned(p, zigzag(value)); }
inline std::size_t varlong_size(std::int64_t value) noexcept {
  std::size_t size = 1;
  for (std::uint64_t raw = zigzag(value); raw >= 0x80; raw >>= 7) {
    ++size;
  }
  return size;
}

// Timestamps and offsets as Kafka adds them: they wrap, also for values that no honest client sends.
inline std::int64_t wrapping_add(std::int64_t a, std::int64_t b) noexcept {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
inline std::int64_t wrapping_subtract(std::int64_t a, std::int64_t b) noexcept {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}

}  // namespace hw::wire::detail
