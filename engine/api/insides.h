// SPDX-License-Identifier: Apache-2.0
// Insides: what checks of a whole cluster (the simulator's) look at in a node. Nothing may be changed through it.
// Thread rule: the node's thread; the pointers hold until the next call of the NodeCore.
#pragma once

#include "engine/metadata/image/image.h"
#include "engine/raft/quorum.h"

namespace hw::broker {
class Broker;
}
namespace hw::log {
class PartitionLog;
}

namespace hw::api {

struct Insides {
  metadata::ImagePtr image;                          // null: not started
  raft::QuorumView quorum;
  const log::PartitionLog* metadata_log = nullptr;   // null: not started
  broker::Broker* broker = nullptr;                  // null: its logs are not open yet, or it is a controller only
};

}  // namespace hw::api
