// SPDX-License-Identifier: Apache-2.0
// What Kafka takes from a Java string: its hash (which partition a group belongs to, in which order
// a table has it), its length (the bound of offset metadata), its UTF-16 code units (hashes of
// topics). Text outside the basic plane counts twice in each.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hw::groups {

[[nodiscard]] std::int32_t java_hash(std::string_view utf8) noexcept;
// Where a string comes in Kafka's hash tables (those of its coordinators): by this number, whatever
// the size of the table, except among those that share a slot.
[[nodiscard]] std::uint64_t java_table_order(std::string_view utf8) noexcept;
[[nodiscard]] std::size_t java_length(std::string_view utf8) noexcept;
[[nodiscard]] std::u16string java_units(std::string_view utf8);
// |hash| mod partitions, where the one number without a positive counterpart counts as 0. REQUIRES:
// partitions > 0.
[[nodiscard]] std::int32_t partition_by_hash(std::string_view utf8,
                                             std::int32_t partitions) noexcept;

}  // namespace hw::groups
