// SPDX-License-Identifier: Apache-2.0
// Files of a freshly formatted node: the bytes, not the writing.
//
//   __cluster_metadata-0/00000000000000000000-0000000000.checkpoint
//       control batch: snapshot header, kraft.version, voters · the feature levels · control batch: snapshot footer
//
// As Kafka's storage tool leaves them with --standalone (KIP-853), so that Kafka's own tools read the folder.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/base/ids.h"
#include "engine/base/time.h"
#include "engine/raft/quorum.h"

namespace hw::raft {

inline constexpr const char* kInitialCheckpointName = "00000000000000000000-0000000000.checkpoint";

// `metadata_values`: framed metadata records (the bootstrap feature levels).
[[nodiscard]] Bytes encode_initial_checkpoint(const std::vector<Voter>& voters, const std::vector<Bytes>& metadata_values,
                                              WallTime wall);

}  // namespace hw::raft
