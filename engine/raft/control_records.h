// SPDX-License-Identifier: Apache-2.0
// Control records of the metadata log and its snapshots: several of them in one batch, as Kafka lays them out.
#pragma once

#include <utility>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/base/ids.h"
#include "engine/base/time.h"
#include "engine/raft/voters.h"
#include "engine/wire/record/batch_builder.h"

namespace hw::raft {

using ControlRecord = std::pair<wire::ControlType, Bytes>;

[[nodiscard]] ControlRecord leader_change_record(BrokerId leader, const std::vector<Voter>& voters,
                                                 const std::vector<BrokerId>& granting);
[[nodiscard]] ControlRecord kraft_version_record(std::int16_t level = kKRaftVersion);
[[nodiscard]] ControlRecord voters_record(const std::vector<Voter>& voters);
[[nodiscard]] ControlRecord snapshot_header_record(WallTime last_contained);
[[nodiscard]] ControlRecord snapshot_footer_record();

[[nodiscard]] Bytes control_batch_of(const std::vector<ControlRecord>& records, Offset base, LeaderEpoch epoch, WallTime wall);
// Values with null keys.
[[nodiscard]] Bytes data_batch_of(const std::vector<Bytes>& values, Offset base, LeaderEpoch epoch, WallTime wall);

}  // namespace hw::raft
