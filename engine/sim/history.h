// SPDX-License-Identifier: Apache-2.0
// History: what clients were told, and the one history of each partition that everybody must agree on.
//
// A record of a workload is a producer's number and a count; its value is that text, filled up to the size that is wanted.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/base/ids.h"
#include "engine/base/uuid.h"

namespace hw::sim {

struct RecordName {
  std::int32_t producer = -1;  // -1: no record of a workload
  static constexpr std::int32_t kDeleted = -2;  // DeleteRecords came before anybody looked
  std::int64_t number = 0;
  friend auto operator<=>(const RecordName&, const RecordName&) = default;
  [[nodiscard]] std::string text() const { return std::to_string(producer) + ":" + std::to_string(number); }
};
[[nodiscard]] Bytes value_of(const RecordName& name, std::size_t size);
[[nodiscard]] RecordName name_of(std::string_view value);

using PartitionKey = std::pair<std::string, std::int32_t>;  // topic, partition
[[nodiscard]] std::string text_of(const PartitionKey& key);

struct Seen {  // a client was told that this record is there
  PartitionKey partition;
  std::int64_t offset = 0;
  RecordName record;
  bool consumed = false;  // otherwise: acknowledged with acks=all
};

// What some replica had below its high watermark first. Nobody may have anything else there.
struct CommittedLog {
  struct Batch {
    std::int64_t base = 0;
    std::int64_t next = 0;
    std::uint32_t crc = 0;
    std::int32_t epoch = 0;
  };
  std::map<std::int64_t, Batch> batches;  // by base offset
  std::vector<RecordName> records;        // by offset
  [[nodiscard]] std::int64_t end() const noexcept { return batches.empty() ? 0 : batches.rbegin()->second.next; }
};

struct History {
  std::map<PartitionKey, CommittedLog> logs;
  std::vector<Seen> seen;                       // in the order in which clients were told
  std::map<PartitionKey, std::int64_t> acknowledged_end;  // behind the last record acknowledged with acks=all
  std::set<std::int32_t> idempotent;            // producers
  std::map<std::int32_t, std::int64_t> made;    // by producer: records below this number exist
  std::map<std::int32_t, std::vector<std::int64_t>> lives;  // by producer that died: the first number of each life after its first
  std::map<PartitionKey, std::int64_t> deletable;  // records below this offset may be gone (DeleteRecords was asked for)

  struct Deletion {  // a DeleteRecords, and what came back
    PartitionKey partition;
    std::int64_t offset = 0;
    bool over = false;
    std::optional<std::int64_t> low_watermark;  // set: it is done, everywhere
  };
  std::vector<Deletion> deletions;

  // Groups. What a commit that was answered said last, and what a consumer was given to begin with.
  struct Begun {
    std::string group;
    PartitionKey partition;
    std::int64_t position = 0;
    std::int64_t committed_before = 0;  // when it was assigned
  };
  std::map<std::pair<std::string, PartitionKey>, std::int64_t> committed;
  std::vector<Begun> begun;
  struct Assigned {
    std::string group;
    std::int32_t generation = 0;
    std::string member;
    PartitionKey partition;
  };
  std::vector<Assigned> assigned;

  std::uint64_t sent = 0;
  std::uint64_t acked = 0;
  std::uint64_t failed = 0;
  std::uint64_t consumed = 0;
  std::uint64_t commits = 0;
};

}  // namespace hw::sim
