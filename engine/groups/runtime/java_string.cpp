// SPDX-License-Identifier: Apache-2.0
#include "engine/groups/runtime/java_string.h"

#include <limits>

namespace hw::groups {
namespace {

// Calls `unit(code unit)` for each UTF-16 code unit. Bytes that are not UTF-8 become U+FFFD, as
// Java's decoder does.
template <class Unit>
void for_each_unit(std::string_view utf8, Unit unit) noexcept {
  std::size_t i = 0;
  const auto at = [&](std::size_t k) { return static_cast<std::uint8_t>(utf8[k]); };
  while (i < utf8.size()) {
    const std::uint8_t lead = at(i);
    std::uint32_t point = 0;
    std::size_t more = 0;
    if (lead < 0x80) {
      point = lead;
    } else if (lead >= 0xC2 && lead < 0xE0) {
      point = lead & 0x1FU;
      more = 1;
    } else if (lead >= 0xE0 && lead < 0xF0) {
      point = lead & 0x0FU;
      more = 2;
    } else if (lead >= 0xF0 && lead < 0xF5) {
      point = lead & 0x07U;
      more = 3;
    } else {
      unit(0xFFFDU);
      ++i;
      continue;
    }
    std::size_t taken = 1;
    while (taken <= more && i + taken < utf8.size() && (at(i + taken) & 0xC0U) == 0x80U) {
      point = (point << 6U) | (at(i + taken) & 0x3FU);
      ++taken;
    }
    const bool whole = taken == more + 1;
    i += taken;
    const bool fine = whole &&
                      !(more == 2 && (point < 0x800 || (point >= 0xD800 && point < 0xE000))) &&
                      !(more == 3 && (point < 0x10000 || point > 0x10FFFF));
    if (!fine) {
      unit(0xFFFDU);
    } else if (point >= 0x10000) {
      unit(0xD800U + ((point - 0x10000U) >> 10U));
      unit(0xDC00U + ((point - 0x10000U) & 0x3FFU));
    } else {
      unit(point);
    }
  }
}

}  // namespace

std::int32_t java_hash(std::string_view utf8) noexcept {
  std::uint32_t hash = 0;
  for_each_unit(utf8, [&](std::uint32_t unit) { hash = 31U * hash + unit; });
  return static_cast<std::int32_t>(hash);
}

std::size_t java_length(std::string_view utf8) noexcept {
  std::size_t length = 0;
  for_each_unit(utf8, [&](std::uint32_t) { ++length; });
  return length;
}

std::uint64_t java_table_order(std::string_view utf8) noexcept {
  // Fibonacci hashing: a slot is the upper bits of the product with 2^64 divided by the golden ratio.
  constexpr std::uint64_t kGolden = 0x9E37'79B9'7F4A'7C15U;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(java_hash(utf8))) * kGolden;
}

std::u16string java_units(std::string_view utf8) {
  std::u16string units;
  for_each_unit(utf8, [&](std::uint32_t unit) { units.push_back(static_cast<char16_t>(unit)); });
  return units;
}

std::int32_t partition_by_hash(std::string_view utf8, std::int32_t partitions) noexcept {
  const std::int32_t hash = java_hash(utf8);
  const std::int32_t positive =
      hash == std::numeric_limits<std::int32_t>::min() ? 0 : (hash < 0 ? -hash : hash);
  return positive % partitions;
}

}  // namespace hw::groups
