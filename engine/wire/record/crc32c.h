// SPDX-License-Identifier: Apache-2.0
// CRC-32C (Castagnoli), the checksum of a record batch.
//
// Uses the processor's CRC instruction where there is one (asked once, at start), otherwise tables. Both give the same
// numbers; crc32c_software exists so that a test can say so. Thread rule: any thread.
// Source: RFC 3720 appendix B.4; Gopal et al., "Fast CRC Computation for iSCSI Polynomial" (2011) for the three lanes.
#pragma once

#include <cstdint>

#include "engine/base/bytes.h"

namespace hw::wire {

// Goes on from `crc`, which is the value of everything before (0 at the beginning).
[[nodiscard]] std::uint32_t crc32c_extend(std::uint32_t crc, ByteSpan bytes) noexcept;
[[nodiscard]] inline std::uint32_t crc32c(ByteSpan bytes) noexcept { return crc32c_extend(0, bytes); }

[[nodiscard]] std::uint32_t crc32c_software(std::uint32_t crc, ByteSpan bytes) noexcept;
[[nodiscard]] bool crc32c_is_hardware() noexcept;

}  // namespace hw::wire
