// SPDX-License-Identifier: Apache-2.0
#include "engine/wire/record/crc32c.h"

#include <array>
#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace hw::wire {
namespace {

constexpr std::uint32_t kPolynomial = 0x82F63B78U;  // reflected

// Slicing by eight: table[k][b] is the CRC of byte b followed by k zero bytes.
constexpr std::array<std::array<std::uint32_t, 256>, 8> make_tables() {
  std::array<std::array<std::uint32_t, 256>, 8> tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc & 1U) != 0 ? (crc >> 1) ^ kPolynomial : crc >> 1;
    }
    tables[0][byte] = crc;
  }
  for (std::size_t k = 1; k < 8; ++k) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t crc = tables[k - 1][byte];
      tables[k][byte] = (crc >> 8) ^ tables[0][crc & 0xffU];
    }
  }
  return tables;
}
constexpr auto kTables = make_tables();

std::uint32_t update_software(std::uint32_t crc, const std::byte* p, std::size_t n) noexcept {
  while (n >= 8) {
    std::uint32_t low;
    std::uint32_t high;
    std::memcpy(&low, p, 4);
    std::memcpy(&high, p + 4, 4);
    if constexpr (std::endian::native == std::endian::big) {
      low = __builtin_bswap32(low);
      high = __builtin_bswap32(high);
    }
    low ^= crc;
    crc = kTables[7][low & 0xff] ^ kTables[6][(low >> 8) & 0xff] ^ kTables[5][(low >> 16) & 0xff] ^
          kTables[4][low >> 24] ^ kTables[3][high & 0xff] ^ kTables[2][(high >> 8) & 0xff] ^
          kTables[1][(high >> 16) & 0xff] ^ kTables[0][high >> 24];
    p += 8;
    n -= 8;
  }
  for (; n != 0; --n, ++p) {
    crc = (crc >> 8) ^ kTables[0][(crc ^ static_cast<std::uint32_t>(*p)) & 0xffU];
  }
  return crc;
}

#if defined(__x86_64__)

// Appending zero bytes to a message is a linear map of its CRC over GF(2). The map for a lane's length, as four tables of a
// byte each, joins lanes that were computed side by side.
using Matrix = std::array<std::uint32_t, 32>;

constexpr std::uint32_t times(const Matrix& matrix, std::uint32_t vector) {
  std::uint32_t sum = 0;
  for (std::size_t bit = 0; vector != 0; ++bit, vector >>= 1) {
    if ((vector & 1U) != 0) {
      sum ^= matrix[bit];
    }
  }
  return sum;
}
using ShiftTable = std::array<std::array<std::uint32_t, 256>, 4>;

// REQUIRES: bytes is a power of two.
constexpr ShiftTable make_shift(std::size_t bytes) {
  Matrix matrix{};
  for (std::size_t bit = 0; bit < 32; ++bit) {  // one zero byte
    const std::uint32_t crc = 1U << bit;
    matrix[bit] = (crc >> 8) ^ kTables[0][crc & 0xffU];
  }
  for (; bytes > 1; bytes /= 2) {
    Matrix twice{};
    for (std::size_t bit = 0; bit < 32; ++bit) {
      twice[bit] = times(matrix, matrix[bit]);
    }
    matrix = twice;
  }
  ShiftTable table{};
  for (std::size_t part = 0; part < 4; ++part) {
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
      table[part][byte] = times(matrix, byte << (8 * part));
    }
  }
  return table;
}
constexpr std::size_t kLongLane = 2048;
constexpr std::size_t kShortLane = 256;
constexpr ShiftTable kLongShift = make_shift(kLongLane);
constexpr ShiftTable kShortShift = make_shift(kShortLane);

std::uint32_t shift(const ShiftTable& table, std::uint64_t crc) noexcept {
  return table[0][crc & 0xff] ^ table[1][(crc >> 8) & 0xff] ^ table[2][(crc >> 16) & 0xff] ^
         table[3][(crc >> 24) & 0xff];
}

std::uint64_t load(const std::byte* p) noexcept {
  std::uint64_t word;
  std::memcpy(&word, p, sizeof word);
  return word;
}

// The instruction takes three cycles but starts every cycle: three independent lanes keep it busy.
template <std::size_t kLane>
__attribute__((target("sse4.2"))) std::uint64_t three_lanes(std::uint64_t crc, const std::byte*& p, std::size_t& n,
                                                           const ShiftTable& table) noexcept {
  while (n >= 3 * kLane) {
    std::uint64_t second = 0;
    std::uint64_t third = 0;
    for (std::size_t i = 0; i < kLane; i += 8) {
      crc = _mm_crc32_u64(crc, load(p + i));
      second = _mm_crc32_u64(second, load(p + kLane + i));
      third = _mm_crc32_u64(third, load(p + 2 * kLane + i));
    }
    crc = shift(table, crc) ^ second;
    crc = shift(table, crc) ^ third;
    p += 3 * kLane;
    n -= 3 * kLane;
  }
  return crc;
}

__attribute__((target("sse4.2"))) std::uint32_t update_hardware(std::uint32_t start, const std::byte* p,
                                                               std::size_t n) noexcept {
  std::uint64_t crc = start;
  crc = three_lanes<kLongLane>(crc, p, n, kLongShift);
  crc = three_lanes<kShortLane>(crc, p, n, kShortShift);
  for (; n >= 8; n -= 8, p += 8) {
    crc = _mm_crc32_u64(crc, load(p));
  }
  auto last = static_cast<std::uint32_t>(crc);
  for (; n != 0; --n, ++p) {
    last = _mm_crc32_u8(last, static_cast<std::uint8_t>(*p));
  }
  return last;
}

using Update = std::uint32_t (*)(std::uint32_t, const std::byte*, std::size_t) noexcept;
Update choose() noexcept {
  __builtin_cpu_init();
  return __builtin_cpu_supports("sse4.2") != 0 ? update_hardware : update_software;
}
Update update() noexcept {
  static const Update chosen = choose();
  return chosen;
}
#endif

}  // namespace

std::uint32_t crc32c_extend(std::uint32_t crc, ByteSpan bytes) noexcept {
#if defined(__x86_64__)
  return ~update()(~crc, bytes.data(), bytes.size());
#else
  return ~update_software(~crc, bytes.data(), bytes.size());
#endif
}

std::uint32_t crc32c_software(std::uint32_t crc, ByteSpan bytes) noexcept {
  return ~update_software(~crc, bytes.data(), bytes.size());
}

bool crc32c_is_hardware() noexcept {
#if defined(__x86_64__)
  return update() == update_hardware;
#else
  return false;
#endif
}

}  // namespace hw::wire
