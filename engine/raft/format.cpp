// SPDX-License-Identifier: Apache-2.0
#include "engine/raft/format.h"

#include "engine/raft/control_records.h"

namespace hw::raft {

Bytes encode_initial_checkpoint(const std::vector<Voter>& voters, const std::vector<Bytes>& metadata_values, WallTime wall) {
  const LeaderEpoch epoch{0};
  ByteBuilder file(1024);
  file.append(control_batch_of({snapshot_header_record(wall), kraft_version_record(), voters_record(voters)}, Offset(0),
                               epoch, wall)
                  .span());
  Offset next{3};
  if (!metadata_values.empty()) {
    file.append(data_batch_of(metadata_values, next, epoch, wall).span());
    next += static_cast<OffsetDelta>(metadata_values.size());
  }
  file.append(control_batch_of({snapshot_footer_record()}, next, epoch, wall).span());
  return file.finish();
}

}  // namespace hw::raft
