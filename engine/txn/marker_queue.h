// SPDX-License-Identifier: Apache-2.0
// MarkerQueue: which markers are to be written by whom. The ends of transactions go to the leaders of their partitions, many in
// one WriteTxnMarkers, one request at a time to each broker; what a broker could not write is asked for again, of whoever leads then.
//
//   add() ─▶ to the leader as the image names it ─▶ take() ─▶ answered()/failed() ─▶ written: told; refused for now: again
//
// A partition that is not there any more needs no marker. One without a leader that lives waits for the next image.
// Bounds: the partitions of transactions that end. Thread rule: one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/ids.h"
#include "engine/base/time.h"
#include "engine/metadata/image/image.h"
#include "engine/txn/transaction.h"
#include "engine/wire/msg/write_txn_markers.h"

namespace hw::txn {

// One end of one transaction, wherever its markers are. Two of one transactional id differ in producer id or epoch.
struct Ending {
  std::string transactional_id;
  PartitionIndex shard;           // of __transaction_state
  LeaderEpoch coordinator_epoch;  // of that partition
  ProducerId producer_id;
  ProducerEpoch epoch;
  bool commit = false;
  ClientVersion version = ClientVersion::zero;
  friend auto operator<=>(const Ending&, const Ending&) = default;
  friend bool operator==(const Ending&, const Ending&) = default;
};

struct MarkerRequest {
  std::uint64_t id = 0;
  BrokerId broker;
  wire::WriteTxnMarkersRequest request;
};

class MarkerQueue {
 public:
  enum class Result : std::uint8_t { written, not_needed, fenced };
  // Of each partition once. Fenced: somebody else coordinates the producer by now, and the ending is given up.
  using Settled = std::function<void(const Ending&, const TopicPartition&, Result)>;

  explicit MarkerQueue(Settled settled) : settled_(std::move(settled)) {}

  void add(const Ending& ending, const Partitions& partitions, const metadata::MetadataImage& image);
  // Everything that is waiting or on its way of this partition of __transaction_state: answers to it are ignored.
  void forget(PartitionIndex shard);
  void image_changed(const metadata::MetadataImage& image);

  [[nodiscard]] bool has_requests(Instant now) const;
  [[nodiscard]] std::vector<MarkerRequest> take(Instant now);
  void answered(std::uint64_t id, const wire::WriteTxnMarkersResponse& response, const metadata::MetadataImage& image, Instant now);
  void failed(std::uint64_t id, const metadata::MetadataImage& image, Instant now);
  [[nodiscard]] Instant next_deadline() const;

 private:
  using Markers = std::map<Ending, Partitions>;

  struct Destination {
    Markers waiting;
    bool asked = false;
    Instant not_before{};
  };

  struct Sent {
    BrokerId broker;
    Markers markers;
  };

  void again(Markers markers, const metadata::MetadataImage& image, Instant not_before);

  Settled settled_;
  std::map<BrokerId, Destination> brokers_;
  Markers homeless_;
  std::map<std::uint64_t, Sent> sent_;
  std::uint64_t last_id_ = 0;
};

}  // namespace hw::txn
