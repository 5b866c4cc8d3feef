// SPDX-License-Identifier: Apache-2.0
// Placement: which brokers hold the replicas of new partitions (KIP-36, KIP-631).
//
// Replicas are dealt like cards: racks in turn, inside a rack the brokers in turn, both from a random start, so that
// leaders and followers spread evenly and two replicas share a rack only when there are more replicas than racks.
// Fenced brokers are used last and never as the first replica.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/ids.h"
#include "engine/base/prng.h"
#include "engine/base/result.h"

namespace hw::metadata {

struct UsableBroker {
  BrokerId id;
  std::optional<std::string> rack;
  bool fenced = false;
};

// One list of replicas per partition, preferred leader first. `brokers` sorted by id. Errc::invalid where the
// replication factor cannot be reached or all brokers are fenced. REQUIRES: partitions >= 0, replication_factor > 0.
[[nodiscard]] Result<std::vector<std::vector<BrokerId>>> place_partitions(const std::vector<UsableBroker>& brokers,
                                                                          std::int32_t partitions,
                                                                          std::int16_t replication_factor, Prng& prng);

}  // namespace hw::metadata
