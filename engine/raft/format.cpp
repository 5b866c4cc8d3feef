// SPDX-License-Identifier: Apache-2.0
#include "engine/raft/format.h"

#include "engine/raft/control_records.h"

namespace hw::raft {

namespace {

Bytes snapshot_of(std::vector<ControlRecord> head, const std::vector<Bytes>& metadata_values, LeaderEpoch epoch, WallTime wall) {
  ByteBuilder file(1024);
  Offset next{0};
  head.insert(head.begin(), snapshot_header_record(wall));
  file.append(control_batch_of(head, next, epoch, wall).span());
  next += static_cast<OffsetDelta>(head.size());
  if (!metadata_values.empty()) {
    file.append(data_batch_of(metadata_values, next, epoch, wall).span());
    next += static_cast<OffsetDelta>(metadata_values.size());
  }
  file.append(control_batch_of({snapshot_footer_record()}, next, epoch, wall).span());
  return file.finish();
}

}  // namespace

Bytes encode_initial_checkpoint(const std::vector<Voter>& voters, const std::vector<Bytes>& metadata_values, WallTime wall) {
  return snapshot_of({kraft_version_record(), voters_record(voters)}, metadata_values, LeaderEpoch(0), wall);
}

}  // namespace hw::raft
