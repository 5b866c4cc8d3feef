// SPDX-License-Identifier: Apache-2.0
// Reads records of partitions from somewhere to where they end now.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "app/hw/session.h"

namespace hw::app {

struct ReadFrom {
  node::TopicPartitionName partition;
  std::int64_t offset = -2;  // -2: from the first
};
// `each` runs on another thread and returns false to stop. Error: what ended it before the end.
Result<void> read_to_end(Session& session, const std::vector<ReadFrom>& from, std::function<bool(node::IncomingRecord&)> each);

}  // namespace hw::app
