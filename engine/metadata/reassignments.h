// SPDX-License-Identifier: Apache-2.0
// Which partitions are being reassigned (KIP-455), as an image has it.
// Thread rule: none; a free function of its arguments.
#pragma once

#include "engine/metadata/image/image.h"
#include "engine/wire/msg/list_partition_reassignments.h"

namespace hw::metadata {

[[nodiscard]] wire::ListPartitionReassignmentsResponse list_reassignments(const MetadataImage& image,
                                                                          const wire::ListPartitionReassignmentsRequest& request);

}  // namespace hw::metadata
