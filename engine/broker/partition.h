// SPDX-License-Identifier: Apache-2.0
// Partition: one replica on this broker and its place among the others: leader or not, epochs, ISR, high watermark.
//
//   image ─ apply() ─▶ leader ⇄ follower        append() (leader)  ─▶ log ─▶ high watermark ─▶ waiting fetches, produces
//
//   follower_fetched() ─▶ how far it is ─▶ high watermark; joins the ISR when it has everything ┐
//   check_lag()        ─▶ who is behind for too long leaves the ISR                             ┴▶ a proposal for the controller
//
// The high watermark of a leader is the smallest log end of its maximal in-sync replicas (KIP-497: those of the ISR and of
// a proposal on its way) and of replicas that are about to join; held back while fewer than the effective
// min.insync.replicas are in sync (KIP-966). A partition of one replica has its log end at once, or, with flush.messages,
// what of it is on stable storage: nobody reads or is told of a record that a power cut could take back.
//
// Invariants:
//  P1  only a leader appends; the leader epoch of what it appends is the image's
//  P2  high watermark <= log end offset; it never goes back but where the log itself was cut
//  P3  a waiting operation is in the list of every partition that can wake it, and in none after it was answered
//  P4  one proposal of an ISR at a time; it contains the leader and nobody who is not a replica
// Thread rule: one thread. Sources: KIP-101, KIP-279, KIP-320, KIP-497, KIP-903, KIP-966.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/ids.h"
#include "engine/base/time.h"
#include "engine/base/uuid.h"
#include "engine/broker/fetch_session.h"
#include "engine/broker/purgatory.h"
#include "engine/broker/replica_context.h"
#include "engine/log/partition_log.h"
#include "engine/metadata/image/image.h"
#include "engine/wire/msg/alter_partition.h"
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

struct Following;  // replica_fetcher.h

class Partition {
 public:
  // `topic` and `context` outlive the partition. `log` may be null: the disk failed (everything answers KAFKA_STORAGE_ERROR).
  Partition(const TopicFacts& topic, PartitionIndex index, ReplicaContext& context, log::PartitionLog* log)
      : topic_(topic), index_(index), context_(context), log_(log) {}
  ~Partition();
  Partition(const Partition&) = delete;
  Partition& operator=(const Partition&) = delete;

  [[nodiscard]] const TopicFacts& topic() const noexcept { return topic_; }
  [[nodiscard]] PartitionIndex index() const noexcept { return index_; }
  [[nodiscard]] log::PartitionLog* log() const noexcept { return log_; }
  // The log moved to another directory: the same records, another object.
  void set_log(log::PartitionLog* log) noexcept { log_ = log; }

  // Takes over leader, epochs and replicas; an image older than what is known already is ignored.
  struct Applied {
    bool role_changed = false;  // leader or leader epoch: whoever waits must look again
    bool watermark_moved = false;
  };
  Applied apply(const metadata::PartitionImage& image, Instant now);

  [[nodiscard]] bool is_leader() const noexcept { return leader_ == context_.self; }
  [[nodiscard]] BrokerId leader() const noexcept { return leader_; }
  [[nodiscard]] LeaderEpoch leader_epoch() const noexcept { return leader_epoch_; }
  [[nodiscard]] Offset leader_epoch_start() const noexcept { return leader_epoch_start_; }
  [[nodiscard]] std::int32_t partition_epoch() const noexcept { return partition_epoch_; }
  [[nodiscard]] const std::vector<BrokerId>& isr() const noexcept { return isr_; }
  [[nodiscard]] bool has_replica(BrokerId broker) const noexcept;

  // Whether a request may be served here: storage, leadership (where asked for), the epoch the client knows (KIP-320).
  [[nodiscard]] wire::ErrorCode check(bool leader_only, LeaderEpoch current_leader_epoch) const noexcept;
  [[nodiscard]] std::int32_t effective_min_insync_replicas() const noexcept;
  [[nodiscard]] bool under_min_insync_replicas() const noexcept;
  // As above, but with the maximal ISR: what decides about a record that was appended already.
  [[nodiscard]] bool maximal_isr_too_small() const noexcept;

  // REQUIRES: check(true, …) is none. `acks` decides whether a too small ISR refuses. True in `moved`: readers see more.
  log::AppendOutcome append(log::AppendRequest request, std::int16_t acks, Instant now, bool& moved);

  // DeleteRecords (KIP-107): raises the log start to `offset` (-1: the high watermark). The records are gone when the low
  // watermark has reached `required`.
  struct Deleted {
    wire::ErrorCode error = wire::ErrorCode::none;
    Offset required = kNoOffset;
    bool moved = false;  // the log start did
  };
  [[nodiscard]] Deleted delete_records(Offset offset);
  // The smallest log start of the replicas that are alive; kNoOffset: one of them has not said it to this leader since it began
  // its present life, or this is no leader.
  [[nodiscard]] Offset low_watermark() const;

  // Up to where records count as written for `acks`: 1 wants them settled in this log, -1 committed.
  [[nodiscard]] Offset acknowledged_end(std::int16_t acks) const noexcept;

  // --- leader: followers and the ISR
  struct Position {
    BrokerId follower;
    std::int64_t broker_epoch = -1;  // of its registration; -1: not said
    Offset log_end;                  // it has everything below
    Offset log_start = kNoOffset;
  };
  // A follower's fetch tells how far it is. REQUIRES: check() of its leader epoch was none, its log end is within the log.
  // NOT_LEADER_OR_FOLLOWER: not a replica, or a registration that is not its newest.
  [[nodiscard]] wire::ErrorCode follower_fetched(const Position& position, Instant now, bool& moved);
  // Proposes to leave out who was behind for too long, or else to take in who has everything. False: nobody is behind.
  bool check_lag(Instant now);
  // Another broker came, went, or is not fenced any more. True: the high watermark moved.
  bool brokers_changed(Instant now);
  // True: it moved.
  bool maybe_advance_high_watermark(Instant now);
  // Where a consumer in `rack` had better read (KIP-392); kNoBroker: here.
  [[nodiscard]] BrokerId preferred_read_replica(Offset from, const std::string& rack, const std::string& listener,
                                                Instant now) const;

  // The proposal that waits; it counts as sent from now on.
  void take_proposal(wire::AlterPartitionRequest::PartitionData& into);
  // What the controller said to the proposal of these epochs. True: it is to be sent again.
  bool proposal_answered(std::int32_t partition_epoch, const wire::AlterPartitionResponse::PartitionData& answer,
                         Instant now, bool& moved);
  // Not answered at all: it is sent again.
  void proposal_failed(std::int32_t partition_epoch);

  // --- follower
  // Appends what the leader sent and follows its high watermark and log start. `moved`: readers see more.
  log::AppendOutcome append_from_leader(Bytes records, Offset leader_watermark, Offset leader_start, WallTime now,
                                        bool& moved);
  // For whoever watches: that `size` bytes came from the leader.
  void note_replicated(Offset from, std::int64_t size_bytes) const;
  // The leader says where the epochs of both logs part: cuts this one there, or as far as this side can tell (KIP-279).
  Result<void> truncate_to_divergence(LeaderEpoch leader_epoch, Offset end_offset);
  Result<void> truncate_to(Offset offset, event::TruncationCause cause);
  // Nothing that is here exists at the leader any more.
  Result<void> restart_at(Offset offset);

  // What a leader knows of a follower, for people and tests.
  struct FollowerFacts {
    BrokerId id;
    Offset log_end;
    Instant caught_up;
    bool in_isr = false;
    bool in_maximal_isr = false;
  };
  [[nodiscard]] std::vector<FollowerFacts> followers() const;
  [[nodiscard]] Offset follower_log_end(BrokerId follower) const noexcept;  // kNoOffset: not known, or none of its followers

  PurgatoryList fetches;         // ParkedFetch that this partition can wake
  PurgatoryList follower_fetches;  // those of followers without a session
  PurgatoryList produces;        // ParkedProduce likewise
  PurgatoryList deletes;         // ParkedDelete likewise
  FollowList sessions;           // followers' sessions that this partition is in
  Following* following = nullptr;  // while a fetcher follows its leader

 private:
  struct Replica {
    BrokerId id;
    Offset log_end = kNoOffset;    // unknown until it fetches
    Offset log_start = kNoOffset;
    Instant caught_up = kLongAgo;  // last known to have had everything
    Instant fetched_at = kLongAgo;
    Offset leader_end = kNoOffset;  // the leader's log end at its last fetch
    std::int64_t broker_epoch = -1;
    bool epoch_known = false;
    bool in_isr = false;
    bool in_maximal = false;
    bool awaited = false;  // counted in FollowerState::awaited
    FollowerState* state = nullptr;
    std::shared_ptr<event::FollowerCounters> told;  // for whoever watches; null: nobody does
  };
  struct Proposal {
    std::vector<BrokerId> isr;
    bool sent = false;
  };
  void become_leader_of(const metadata::PartitionImage& image, bool was_leader, bool new_epoch, bool others_led, Instant now);
  void forget_followers() noexcept;
  void tell_leadership(bool new_epoch);
  void tell(const Replica& replica) const noexcept;
  void note_lagging() noexcept;
  [[nodiscard]] bool caught_up(const Replica& replica, Instant now) const;
  [[nodiscard]] bool eligible(const Replica& replica) const;
  void maybe_expand(const Replica& replica);
  void expand_to_caught_up(Instant now);
  [[nodiscard]] bool may_propose() const noexcept;
  void propose(std::vector<BrokerId> isr);
  void drop_proposal();
  void mark_members();

  const TopicFacts& topic_;
  PartitionIndex index_;
  ReplicaContext& context_;
  log::PartitionLog* log_;
  BrokerId leader_ = kNoBroker;
  LeaderEpoch leader_epoch_ = kNoLeaderEpoch;
  Offset leader_epoch_start_;
  std::int32_t partition_epoch_ = -1;
  std::vector<BrokerId> isr_;
  std::vector<BrokerId> replicas_;
  std::vector<Replica> remote_;  // the others, while leading
  std::optional<Proposal> proposal_;
  std::size_t lagging_at_ = StableList<Partition>::kNone;
  std::size_t to_alter_at_ = StableList<Partition>::kNone;
};

}  // namespace hw::broker
