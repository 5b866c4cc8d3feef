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
#include "engine/raft/replicated_log.h"
#include "engine/raft/voters.h"

namespace hw::raft {

inline constexpr const char* kInitialCheckpointName = "00000000000000000000-0000000000.checkpoint";

// `metadata_values`: framed metadata records (the bootstrap feature levels).
[[nodiscard]] Bytes encode_initial_checkpoint(const std::vector<Voter>& voters, const std::vector<Bytes>& metadata_values,
                                              WallTime wall);

// The file of a snapshot that ends at `id` (KIP-630): who votes there, then everything that the records below it made, as
// framed metadata records. `contained`: the time of the last record that it stands for; `wall`: now. Records are laid into
// batches of at most about 8 MB.
[[nodiscard]] Bytes encode_snapshot(const SnapshotId& id, const std::vector<Voter>& voters, std::int16_t kraft_version,
                                    const std::vector<Bytes>& metadata_values, WallTime contained, WallTime wall);

}  // namespace hw::raft
