// SPDX-License-Identifier: Apache-2.0
// Partition: one replica on this broker and its place among the others: leader or not, epochs, ISR, high watermark.
//
//   image ─ apply() ─▶ leader ⇄ follower        append() (leader)  ─▶ log ─▶ high watermark ─▶ waiting fetches, produces
//
// The high watermark of a leader is the smallest log end of its maximal in-sync replicas (KIP-497), held back while fewer
// than the effective min.insync.replicas are in sync (KIP-966). A partition of one replica has its log end at once, or, with
// flush.messages, what of it is on stable storage: nobody reads or is told of a record that a power cut could take back.
//
// Invariants:
//  P1  only a leader appends; the leader epoch of what it appends is the image's
//  P2  high watermark <= log end offset
//  P3  a waiting operation is in the list of every partition that can wake it, and in none after it was answered
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/ids.h"
#include "engine/base/time.h"
#include "engine/base/uuid.h"
#include "engine/broker/purgatory.h"
#include "engine/log/partition_log.h"
#include "engine/metadata/image/image.h"
#include "engine/wire/runtime/error_code.h"

namespace hw::broker {

// What a broker must know of a topic's configuration beside the log's part of it.
struct TopicSettings {
  log::LogConfig log;
  std::int32_t min_insync_replicas = 1;
};

struct TopicFacts {
  std::string name;
  Uuid id;
  bool internal = false;
  TopicSettings settings;
};

class Partition {
 public:
  // `topic` outlives the partition. `log` may be null: the disk failed (everything answers KAFKA_STORAGE_ERROR).
  Partition(const TopicFacts& topic, PartitionIndex index, BrokerId self, log::PartitionLog* log)
      : topic_(topic), index_(index), self_(self), log_(log) {}
  Partition(const Partition&) = delete;
  Partition& operator=(const Partition&) = delete;

  [[nodiscard]] const TopicFacts& topic() const noexcept { return topic_; }
  [[nodiscard]] PartitionIndex index() const noexcept { return index_; }
  [[nodiscard]] log::PartitionLog* log() const noexcept { return log_; }
  // The log moved to another directory: the same records, another object.
  void set_log(log::PartitionLog* log) noexcept { log_ = log; }

  // Takes over leader, epochs and replicas. True: the role or the epoch changed, so whoever waits must look again.
  bool apply(const metadata::PartitionImage& image, Instant now);

  [[nodiscard]] bool is_leader() const noexcept { return leader_ == self_; }
  [[nodiscard]] BrokerId leader() const noexcept { return leader_; }
  [[nodiscard]] LeaderEpoch leader_epoch() const noexcept { return leader_epoch_; }
  [[nodiscard]] Offset leader_epoch_start() const noexcept { return leader_epoch_start_; }
  [[nodiscard]] const std::vector<BrokerId>& isr() const noexcept { return isr_; }
  [[nodiscard]] bool has_replica(BrokerId broker) const noexcept;

  // Whether a request may be served here: storage, leadership (where asked for), the epoch the client knows (KIP-320).
  [[nodiscard]] wire::ErrorCode check(bool leader_only, LeaderEpoch current_leader_epoch) const noexcept;
  [[nodiscard]] std::int32_t effective_min_insync_replicas() const noexcept;
  [[nodiscard]] bool under_min_insync_replicas() const noexcept;

  // REQUIRES: check(true, …) is none. `acks` decides whether a too small ISR refuses. True in `moved`: readers see more.
  log::AppendOutcome append(log::AppendRequest request, std::int16_t acks, bool& moved);

  // DeleteRecords: raises the log start to `offset` (-1: the high watermark). The low watermark is the log start of the
  // replica that is farthest back.
  struct Deleted {
    wire::ErrorCode error = wire::ErrorCode::none;
    Offset low_watermark = kNoOffset;
  };
  [[nodiscard]] Deleted delete_records(Offset offset);

  // Up to where records count as written for `acks`: 1 wants them settled in this log, -1 committed.
  [[nodiscard]] Offset acknowledged_end(std::int16_t acks) const noexcept;

  // A follower's fetch tells how far it is.
  bool follower_fetched(BrokerId follower, Offset log_end, Instant now);
  // True: it moved.
  bool maybe_advance_high_watermark(Instant now);

  PurgatoryList fetches;   // ParkedFetch that this partition can wake
  PurgatoryList produces;  // ParkedProduce likewise

 private:
  struct Replica {
    BrokerId id;
    Offset log_end = kNoOffset;  // unknown until it fetches
    Instant caught_up;
    bool in_isr = false;
  };
  const TopicFacts& topic_;
  PartitionIndex index_;
  BrokerId self_;
  log::PartitionLog* log_;
  BrokerId leader_ = kNoBroker;
  LeaderEpoch leader_epoch_ = kNoLeaderEpoch;
  Offset leader_epoch_start_;
  std::int32_t partition_epoch_ = -1;
  std::vector<BrokerId> isr_;
  std::vector<BrokerId> replicas_;
  std::vector<Replica> remote_;  // the others, while leading
};

}  // namespace hw::broker
