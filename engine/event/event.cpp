// SPDX-License-Identifier: Apache-2.0
#include "engine/event/event.h"

#include <iterator>

namespace hw::event {

const char* kind_name(const Any& event) noexcept {
  static constexpr const char* names[] = {
      "node.started",         "node.ready",         "node.stopped",        "connection.opened",
      "client.identified",    "connection.closed",  "request.refused",     "topic.created",
      "topic.deleted",        "topic.config",       "partition.changed",   "broker.changed",
      "controller.elected",   "metadata.committed", "quorum.role",         "quorum.vote",
      "quorum.voters",        "quorum.tracked",     "snapshot.stored",     "snapshot.deleted",
      "replica.opened",       "replica.closed",     "leadership.began",    "segment.rolled",
      "segment.deleted",      "log.start.moved",    "log.recovered",       "replica.moved",
      "log.dir.failed",       "batch.appended",     "records.fetched",     "replica.fetched",
      "log.truncated",        "producer.fenced",    "duplicate.suppressed", "group.state",
      "group.assigned",       "group.rebalanced",   "offset.committed",    "offset.deleted",
      "group.deleted",        "events.lost",
  };
  static_assert(std::size(names) == std::variant_size_v<Any>, "one name per kind, in order");
  return names[event.index()];
}

bool low_priority(const Any& event) noexcept {
  return std::holds_alternative<BatchAppended>(event) || std::holds_alternative<RecordsFetched>(event) ||
         std::holds_alternative<ReplicaFetched>(event) || std::holds_alternative<MetadataCommitted>(event);
}

}  // namespace hw::event
