// SPDX-License-Identifier: Apache-2.0
// Fetch sessions (KIP-227): the broker remembers which partitions a fetcher asks for, so that a request names only what
// changed and an answer only what is news.
//
//   id 0, epoch 0    full fetch, opens a session when the cache has room (answered with id 0 when it has none)
//   id n, epoch k    incremental: k must be the epoch the cache expects, which then rises (2^31-1 wraps to 1)
//   id n, epoch 0    closes n, then as the first line
//   id n, epoch -1   closes n; the request itself is served without a session
//
// Partitions are kept in the order in which they are served; one that gave records moves to the end, so that a small
// byte limit cannot starve the last ones.
// Of a follower's session only the partitions that may have news are looked at: they stand in `ready`, in the order in which
// they came; all others in `partitions`. A partition's changes move it over through its list of sessions (Follow), so the
// cost of a follower's fetch follows what changed.
// Bounds: sessions, and partitions over all sessions. A full cache makes room from a session that was idle for two
// minutes, or from one of less worth (a consumer's below a follower's, a smaller one below a bigger one) that is old
// enough; otherwise the fetcher goes without.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/base/ids.h"
#include "engine/base/prng.h"
#include "engine/base/time.h"
#include "engine/base/uuid.h"
#include "engine/broker/purgatory.h"
#include "engine/wire/msg/fetch.h"
#include "engine/wire/runtime/error_code.h"

namespace hw::broker {

inline constexpr std::int32_t kNoSession = 0;
inline constexpr std::int32_t kInitialSessionEpoch = 0;
inline constexpr std::int32_t kFinalSessionEpoch = -1;
[[nodiscard]] std::int32_t next_session_epoch(std::int32_t epoch) noexcept;

// A partition as a fetcher names it: by id from version 13 on, by name before.
struct FetchTarget {
  std::string topic;  // empty when the id is used
  Uuid topic_id;      // zero when the name is used
  PartitionIndex partition;
  friend bool operator==(const FetchTarget&, const FetchTarget&) = default;
};
struct FetchTargetHash {
  std::size_t operator()(const FetchTarget& target) const noexcept;
};

// What a fetcher wants of one partition, and what it was told last.
struct FetchPartition {
  FetchTarget target;
  Offset fetch_offset;
  std::int32_t max_bytes = 0;
  LeaderEpoch current_leader_epoch = kNoLeaderEpoch;
  LeaderEpoch last_fetched_epoch = kNoLeaderEpoch;
  Offset fetcher_log_start_offset = kNoOffset;
  // told: -1 before the first answer and after an error
  Offset told_high_watermark = kNoOffset;
  Offset told_log_start_offset = kNoOffset;
};

class FetchSession;
struct SessionPartition;

// A follower's session in the list of a partition that it fetches.
struct Follow {
  Follow* previous = nullptr;
  Follow* next = nullptr;
  HookList<Follow>* list = nullptr;
  FetchSession* session = nullptr;
  std::list<SessionPartition>::iterator self;
};
using FollowList = HookList<Follow>;

struct SessionPartition : FetchPartition {
  explicit SessionPartition(FetchPartition wanted) : FetchPartition(std::move(wanted)) {}
  ~SessionPartition() { FollowList::remove(follow); }
  SessionPartition(const SessionPartition&) = delete;
  SessionPartition& operator=(const SessionPartition&) = delete;
  Follow follow;
  bool ready = false;  // stands in FetchSession::ready()
};

class FetchSession {
 public:
  using Partitions = std::list<SessionPartition>;

  [[nodiscard]] std::int32_t id() const noexcept { return id_; }
  [[nodiscard]] std::int32_t epoch() const noexcept { return epoch_; }
  [[nodiscard]] bool uses_topic_ids() const noexcept { return uses_topic_ids_; }
  [[nodiscard]] Partitions& partitions() noexcept { return partitions_; }
  // --- of a follower's session
  [[nodiscard]] bool follower() const noexcept { return privileged_; }
  [[nodiscard]] Partitions& ready() noexcept { return ready_; }
  void mark_ready(Partitions::iterator partition) noexcept {
    if (!partition->ready) {
      partition->ready = true;
      ready_.splice(ready_.end(), partitions_, partition);
    }
  }
  void mark_quiet(Partitions::iterator partition) noexcept {
    if (partition->ready) {
      partition->ready = false;
      partitions_.splice(partitions_.end(), ready_, partition);
    }
  }
  void all_ready() noexcept {
    while (!partitions_.empty()) {
      mark_ready(partitions_.begin());
    }
  }
  // The registration that the follower's requests name. True: another one than before.
  bool note_replica_epoch(std::int64_t epoch) noexcept {
    return privileged_ && std::exchange(replica_epoch_, epoch) != epoch;
  }
  Parked* waiting = nullptr;  // its parked fetch
  [[nodiscard]] std::size_t size() const noexcept { return index_.size(); }
  // Whether a partition's result belongs into an incremental answer: records, an error, or something not told yet.
  [[nodiscard]] static bool is_news(const FetchPartition& told, const wire::FetchResponse::PartitionData& data) noexcept;
  static void remember_told(FetchPartition& told, const wire::FetchResponse::PartitionData& data) noexcept;
  // One that gave records goes to the end of the order.
  void move_to_end(Partitions::iterator partition) noexcept {
    Partitions& list = partition->ready ? ready_ : partitions_;
    list.splice(list.end(), list, partition);
  }

 private:
  friend class FetchSessionCache;
  void add(FetchTarget key, FetchPartition wanted);
  void named(Partitions::iterator partition) noexcept;
  std::int32_t id_ = kNoSession;
  std::int32_t epoch_ = kInitialSessionEpoch;
  bool privileged_ = false;  // a follower's
  std::int64_t replica_epoch_ = -1;
  bool uses_topic_ids_ = false;
  Instant created_;
  Instant used_;
  std::size_t counted_ = 0;  // its part of the cache's partition bound
  Partitions partitions_;
  Partitions ready_;
  std::unordered_map<FetchTarget, Partitions::iterator, FetchTargetHash> index_;
};

class FetchSessionCache {
 public:
  struct Limits {
    std::size_t sessions = 1000;  // max.incremental.fetch.session.cache.slots
    std::size_t partitions = 1'000'000;
    Duration eviction_age = seconds(120);
  };
  FetchSessionCache(Limits limits, Prng prng);

  // Where a request stands. `session` is set for an incremental fetch and lives until the next call that may evict.
  struct Opening {
    wire::ErrorCode error = wire::ErrorCode::none;
    FetchSession* session = nullptr;  // serve its partitions
    bool wants_session = false;       // full fetch: create() after it was served
  };
  Opening begin(const wire::FetchRequest& request, std::int16_t version, Instant now);

  // Stores the partitions of a full fetch with what they were told. Null where there is no room.
  FetchSession* create(std::vector<FetchPartition> partitions, bool privileged, bool uses_topic_ids, Instant now);
  [[nodiscard]] FetchSession* find(std::int32_t id) noexcept;
  void remove(std::int32_t id) noexcept;
  [[nodiscard]] std::size_t size() const noexcept { return sessions_.size(); }
  [[nodiscard]] std::size_t partitions() const noexcept { return partitions_; }
  [[nodiscard]] std::uint64_t evictions() const noexcept { return evictions_; }

 private:
  bool make_room(bool privileged, std::size_t size, Instant now);
  void recount(FetchSession& session) noexcept;

  Limits limits_;
  Prng prng_;
  std::unordered_map<std::int32_t, std::unique_ptr<FetchSession>> sessions_;
  std::size_t partitions_ = 0;
  std::uint64_t evictions_ = 0;
};

// One partition of a request as the session code and the fetch path want it.
[[nodiscard]] FetchPartition to_fetch_partition(const wire::FetchRequest::FetchTopic& topic,
                                                const wire::FetchRequest::FetchPartition& partition,
                                                std::int16_t version);

}  // namespace hw::broker
