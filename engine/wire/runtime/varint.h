// SPDX-License-Identifier: Apache-2.0
// Variable length integers as Kafka writes them: seven bits a byte, low group first, high bit = "more follows".
// Signed values are zigzag coded before (0, -1, 1, -2 …). Pure functions over memory; no thread rule, no errors
// beyond "does not fit", reported as length 0.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hw::wire {

inline constexpr std::size_t kMaxVarint32 = 5;
inline constexpr std::size_t kMaxVarint64 = 10;

constexpr std::uint32_t zigzag(std::int32_t value) noexcept {
  return (static_cast<std::uint32_t>(value) << 1) ^ static_cast<std::uint32_t>(value >> 31);
}
constexpr std::uint64_t zigzag(std::int64_t value) noexcept {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
constexpr std::int32_t unzigzag(std::uint32_t value) noexcept {
  return static_cast<std::int32_t>((value >> 1) ^ (0U - (value & 1U)));
}
constexpr std::int64_t unzigzag(std::uint64_t value) noexcept {
  return static_cast<std::int64_t>((value >> 1) ^ (std::uint64_t{0} - (value & 1U)));
}

// Bytes that put_uvarint will write.
constexpr std::size_t uvarint_size(std::uint64_t value) noexcept {
  std::size_t size = 1;
  while (value >= 0x80) {
    value >>= 7;
    ++size;
  }
  return size;
}
constexpr std::size_t varint_size(std::int32_t value) noexcept { return uvarint_size(zigzag(value)); }
constexpr std::size_t varlong_size(std::int64_t value) noexcept { return uvarint_size(zigzag(value)); }

// REQUIRES: room for uvarint_size(value) bytes at `out`. Returns the bytes written.
inline std::size_t put_uvarint(std::byte* out, std::uint64_t value) noexcept {
  std::size_t size = 0;
  while (value >= 0x80) {
    out[size++] = static_cast<std::byte>((value & 0x7f) | 0x80);
    value >>= 7;
  }
  out[size++] = static_cast<std::byte>(value);
  return size;
}

// Reads from [at, end). Returns the bytes consumed, 0 where the value is cut off or wider than the type.
inline std::size_t get_uvarint(const std::byte* at, const std::byte* end, std::uint32_t& value) noexcept {
  std::uint32_t result = 0;
  const std::size_t limit = static_cast<std::size_t>(end - at);
  for (std::size_t i = 0; i < kMaxVarint32 && i < limit; ++i) {
    const std::uint32_t byte = static_cast<std::uint32_t>(at[i]);
    if (i == kMaxVarint32 - 1 && byte > 0x0f) {
      return 0;
    }
    result |= (byte & 0x7fU) << (7 * i);
    if (byte < 0x80) {
      value = result;
      return i + 1;
    }
  }
  return 0;
}
inline std::size_t get_uvarint(const std::byte* at, const std::byte* end, std::uint64_t& value) noexcept {
  std::uint64_t result = 0;
  const std::size_t limit = static_cast<std::size_t>(end - at);
  for (std::size_t i = 0; i < kMaxVarint64 && i < limit; ++i) {
    const std::uint64_t byte = static_cast<std::uint64_t>(at[i]);
    if (i == kMaxVarint64 - 1 && byte > 0x01) {
      return 0;
    }
    result |= (byte & 0x7fU) << (7 * i);
    if (byte < 0x80) {
      value = result;
      return i + 1;
    }
  }
  return 0;
}

}  // namespace hw::wire
