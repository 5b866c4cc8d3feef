// SPDX-License-Identifier: Apache-2.0
// A tagged field that the schema of this version does not know: kept as it came, and written again (KIP-482).
#pragma once

#include <cstdint>

#include "engine/base/bytes.h"

namespace hw::wire {

struct RawTaggedField {
  std::uint32_t tag = 0;
  Bytes data;
  friend bool operator==(const RawTaggedField&, const RawTaggedField&) = default;
};

}  // namespace hw::wire
