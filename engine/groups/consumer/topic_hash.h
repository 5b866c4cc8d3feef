// SPDX-License-Identifier: Apache-2.0
// What a group remembers of its topics' metadata (KIP-1101): one number that changes when a topic
// comes, goes, is made anew, grows, or has its replicas moved to other racks. It is in the records
// of groups (ConsumerGroupMetadataValue.MetadataHash), so it is Kafka's to the bit: XXH3 with 64
// bits, of the fields in the order in which Kafka puts them. Thread rule: any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/base/uuid.h"

namespace hw::groups {

struct TopicFacts {
  std::string name;
  Uuid id;
  // Of each partition, the racks of its replicas' brokers: one for each replica whose broker is
  // known and tells a rack, in any order.
  std::vector<std::vector<std::string>> racks;
};
[[nodiscard]] std::int64_t topic_hash(TopicFacts topic);

// By name of topic. Topics that do not exist are left out; 0 for none.
[[nodiscard]] std::int64_t group_metadata_hash(const std::map<std::string, std::int64_t>& topics);

}  // namespace hw::groups
