// SPDX-License-Identifier: Apache-2.0
// Files of a freshly formatted node: the bytes, not the writing.
//
//   __cluster_metadata-0/00000000000000000000-0000000000.checkpoint   snapshot header, kraft.version, voters, footer
//   bootstrap.checkpoint                                              snapshot header, feature levels, footer
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

struct VoterEndpoint {
  std::string listener;  // CONTROLLER
  std::string host;
  std::uint16_t port = 0;
};
struct Voter {
  ReplicaKey key;
  std::vector<VoterEndpoint> endpoints;
};

inline constexpr const char* kInitialCheckpointName = "00000000000000000000-0000000000.checkpoint";
inline constexpr const char* kBootstrapCheckpointName = "bootstrap.checkpoint";
inline constexpr std::int16_t kKRaftVersion = 1;

// The voters checkpoint: what the quorum was formatted with.
[[nodiscard]] Bytes encode_voters_checkpoint(const std::vector<Voter>& voters, WallTime wall);
// A snapshot that holds these metadata record values (framed) between header and footer.
[[nodiscard]] Bytes encode_snapshot(const std::vector<Bytes>& values, LeaderEpoch epoch, WallTime wall);

}  // namespace hw::raft
