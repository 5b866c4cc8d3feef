// SPDX-License-Identifier: Apache-2.0
// What a node that joins a running cluster has to ask before it can format its folder.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "engine/api/core.h"
#include "engine/base/result.h"
#include "engine/base/time.h"

namespace hw::node {

// The cluster's id, of whichever controller answers first (DescribeCluster, KIP-919). Blocks. Errc::closed: none does within
// `patience`, with what the last one said; or `interrupted` (may be null) became true.
[[nodiscard]] Result<std::string> ask_cluster_id(const std::vector<api::ControllerPeer>& controllers, Duration patience,
                                                 const std::atomic<bool>* interrupted = nullptr);

}  // namespace hw::node
