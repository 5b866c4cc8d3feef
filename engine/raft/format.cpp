// SPDX-License-Identifier: Apache-2.0
#include "engine/raft/format.h"

#include "engine/raft/control_records.h"

namespace hw::raft {

namespace {

constexpr std::size_t kMostBatchBytes = 8U << 20U;

Bytes snapshot_of(std::vector<ControlRecord> head, const std::vector<Bytes>& values, LeaderEpoch epoch, WallTime contained,
                  WallTime wall) {
  ByteBuilder file(1024);
  Offset next{0};
  head.insert(head.begin(), snapshot_header_record(contained));
  file.append(control_batch_of(head, next, epoch, wall).span());
  next += static_cast<OffsetDelta>(head.size());
  for (std::size_t begin = 0; begin < values.size();) {
    std::size_t bytes = 0;
    std::size_t end = begin;
    while (end < values.size() && (end == begin || bytes + values[end].size() <= kMostBatchBytes)) {
      bytes += values[end].size();
      ++end;
    }
    const std::vector<Bytes> some(values.begin() + static_cast<std::ptrdiff_t>(begin),
                                  values.begin() + static_cast<std::ptrdiff_t>(end));
    file.append(data_batch_of(some, next, epoch, wall).span());
    next += static_cast<OffsetDelta>(some.size());
    begin = end;
  }
  file.append(control_batch_of({snapshot_footer_record()}, next, epoch, wall).span());
  return file.finish();
}

}  // namespace

Bytes encode_initial_checkpoint(const std::vector<Voter>& voters, const std::vector<Bytes>& metadata_values, WallTime wall) {
  return snapshot_of({kraft_version_record(), voters_record(voters)}, metadata_values, LeaderEpoch(0), wall, wall);
}

Bytes encode_snapshot(const SnapshotId& id, const std::vector<Voter>& voters, std::int16_t kraft_version,
                      const std::vector<Bytes>& metadata_values, WallTime contained, WallTime wall) {
  std::vector<ControlRecord> head;
  if (kraft_version >= kKRaftVersion) {
    head = {kraft_version_record(kraft_version), voters_record(voters)};
  }
  return snapshot_of(std::move(head), metadata_values, id.epoch, contained, wall);
}

}  // namespace hw::raft
