// SPDX-License-Identifier: Apache-2.0
// Between the group coordinator and the logs of __consumer_offsets: what the node needs to pump it.
//
//   after every turn          auto out = coordinator.take();
//                             for (auto& a : out.appends) {
//                               if (!coordinator.pending(a.id)) continue;           // fell with an
//                               earlier one Bytes batch = group_batch(a, now.wall); …
//                               append to __consumer_offsets-<a.partition> with acks=all; when
//                               committed or refused: coordinator.on_committed(a.id, error, now);
//                               // and take() again
//                             }
//   leader of a partition     coordinator.begin_load(p); load_group_batches(coordinator, p,
//   batches, now) over the whole log; coordinator.end_load(p, now); coordinator.on_committed()
//                             for what was not committed, when it is
//   not leader any more       coordinator.unload(p, now)
//   a topic is deleted        coordinator.topics_deleted({name}, now)
//   __consumer_offsets known  coordinator.set_partition_count(n)
#pragma once

#include <vector>

#include "engine/api/core.h"
#include "engine/base/bytes.h"
#include "engine/base/result.h"
#include "engine/groups/coordinator.h"
#include "engine/metadata/configs.h"
#include "engine/wire/record/batch_builder.h"

namespace hw::api {

inline constexpr const char* kGroupTopic = "__consumer_offsets";

[[nodiscard]] groups::Config group_config(const metadata::BrokerConfigs& configs);

[[nodiscard]] inline groups::Now group_now(Now now) noexcept {
  return {now.instant, now.wall};
}

// One batch, uncompressed, ready to be appended as a leader (offsets and epoch are the log's).
[[nodiscard]] Bytes record_batch(const std::vector<groups::Record>& records, WallTime now, wire::BatchOptions options = {});
// Likewise, of a transaction where the append belongs to one, or the marker that ends it.
[[nodiscard]] Bytes group_batch(const groups::Outputs::Append& append, WallTime now);

// A loaded batch that is not committed: what the coordinator calls it, and the high watermark that
// commits it.
struct UncommittedBatch {
  groups::AppendId id = 0;
  Offset end;
};

// Replays whole batches in log order, markers of transactions among them; a cut-off tail is left.
// Those that reach beyond `high_watermark` are added to `uncommitted`. Returns the offset after the
// last batch read (kNoOffset: none). Errors: a batch that cannot be read.
[[nodiscard]] Result<Offset> load_group_batches(groups::GroupCoordinator& coordinator,
                                                PartitionIndex partition, const Bytes& batches,
                                                Offset high_watermark, Now now,
                                                std::vector<UncommittedBatch>& uncommitted);

}  // namespace hw::api
