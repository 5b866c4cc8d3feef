// SPDX-License-Identifier: Apache-2.0
#include "engine/base/uuid.h"

#include "engine/base/prng.h"

namespace hw {

namespace {
constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
}

std::string Uuid::text() const {
  std::array<std::uint8_t, 18> raw{};
  for (std::size_t i = 0; i < 8; ++i) {
    raw[i] = static_cast<std::uint8_t>(high >> (56 - 8 * i));
    raw[8 + i] = static_cast<std::uint8_t>(low >> (56 - 8 * i));
  }
  std::string out;
  out.reserve(24);
  for (std::size_t i = 0; i < 18; i += 3) {
    const std::uint32_t v = static_cast<std::uint32_t>(raw[i] << 16 | raw[i + 1] << 8 | raw[i + 2]);
    for (int shift = 18; shift >= 0; shift -= 6) {
      out.push_back(kAlphabet[(v >> shift) & 63U]);
    }
  }
  out.resize(22);
  return out;
}

std::string Uuid::hex() const {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out;
  for (std::size_t i = 0; i < 32; ++i) {
    const std::uint64_t word = i < 16 ? high : low;
    out.push_back(digits[(word >> (60 - 4 * (i % 16))) & 15U]);
    if (i == 7 || i == 11 || i == 15 || i == 19) {
      out.push_back('-');
    }
  }
  return out;
}

std::optional<Uuid> Uuid::parse(std::string_view text) {
  if (text.size() == 24 && text.ends_with("==")) {
    text.remove_suffix(2);
  }
  if (text.size() != 22) {
    return std::nullopt;
  }
  std::array<std::uint8_t, 18> raw{};
  std::uint32_t bits = 0;
  std::size_t have = 0;
  std::size_t at = 0;
  for (const char c : text) {
    const std::size_t digit = kAlphabet.find(c);
    if (digit == std::string_view::npos) {
      return std::nullopt;
    }
    bits = (bits << 6 | static_cast<std::uint32_t>(digit)) & 0xffffU;
    have += 6;
    if (have >= 8) {
      have -= 8;
      raw[at++] = static_cast<std::uint8_t>(bits >> have);
    }
  }
  Uuid id;
  for (std::size_t i = 0; i < 8; ++i) {
    id.high = id.high << 8 | raw[i];
    id.low = id.low << 8 | raw[8 + i];
  }
  return id;
}

Uuid Uuid::random(Prng& prng) {
  for (;;) {
    Uuid id{prng.next(), prng.next()};
    id.high = (id.high & ~0xf000ULL) | 0x4000ULL;
    id.low = (id.low & ~(3ULL << 62)) | (2ULL << 62);
    if (!id.text().starts_with('-')) {
      return id;
    }
  }
}

}  // namespace hw
