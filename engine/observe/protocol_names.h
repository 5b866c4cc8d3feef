// SPDX-License-Identifier: Apache-2.0
// Names of the protocol's numbers, for those who show a view and know no codec.
// Thread rule: none.
#pragma once

#include <cstdint>
#include <string_view>

namespace hw::observe {

// "Fetch"; empty where the key is not known.
[[nodiscard]] std::string_view api_name(std::int16_t key) noexcept;
// The newest version that this broker offers of it; -1: not known.
[[nodiscard]] std::int16_t api_highest_version(std::int16_t key) noexcept;
// "NOT_LEADER_OR_FOLLOWER"; "UNKNOWN" where the code is not known.
[[nodiscard]] std::string_view error_name(std::int16_t code) noexcept;

}  // namespace hw::observe
