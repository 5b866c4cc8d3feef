// SPDX-License-Identifier: Apache-2.0
// What a broker asks of other nodes for the sake of its replicas. Values; the caller delivers them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/base/ids.h"
#include "engine/wire/msg/alter_partition.h"
#include "engine/wire/msg/fetch.h"
#include "engine/wire/msg/list_offsets.h"

namespace hw::broker {

// A request to a leader. Its connection is that of (leader, fetcher): a Fetch may wait there for replica_fetch_wait_max.
struct PeerFetch {
  BrokerId leader;
  std::int32_t fetcher = 0;
  std::uint64_t id = 0;  // comes back with fetched() or fetch_failed()
  std::int16_t version = 0;
  wire::FetchRequest request;
};
struct PeerListOffsets {
  BrokerId leader;
  std::int32_t fetcher = 0;
  std::uint64_t id = 0;  // comes back with offsets_listed() or fetch_failed()
  std::int16_t version = 0;
  wire::ListOffsetsRequest request;
};
// To the active controller; answered with alter_partition_answered() or alter_partition_failed().
struct PeerAlterPartition {
  std::int16_t version = 0;
  wire::AlterPartitionRequest request;
};

struct PeerRequests {
  std::vector<PeerFetch> peer_fetches;
  std::vector<PeerListOffsets> peer_list_offsets;
  std::optional<PeerAlterPartition> alter_partition;
};

}  // namespace hw::broker
