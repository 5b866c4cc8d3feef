// SPDX-License-Identifier: Apache-2.0
// ReplicaFetcher: how a follower keeps up with one leader: which partitions, from where, in which session.
//
//   follow() ─▶ named in the next Fetch ─▶ answer ─▶ append, high watermark, log start ─▶ named again, as its offset changed
//                                                 ├▶ diverging epoch: cut, asked again (KIP-101, KIP-279)
//                                                 ├▶ out of range: the leader's end, then its start are asked for
//                                                 └▶ an error: forgotten by the session, tried again after a while
//
// One request is on its way at a time. With a session (KIP-227) a request names what changed and an answer what is news, so
// the cost follows the records, not the number of partitions. An answer counts for a partition only as long as it follows in
// the leader epoch and from the offset that the request named: what comes after the world changed is dropped.
// Record bytes are appended as slices of the answer's frame.
// Waits after errors grow from 10 ms to replica.fetch.backoff.ms: most last only until the leader has seen the same metadata.
// Bounds: partitions followed; one request; kListMost partitions in one ListOffsets.
// Thread rule: one thread. Sources: KIP-101, KIP-227, KIP-279, KIP-320, KIP-903.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/base/ids.h"
#include "engine/base/time.h"
#include "engine/base/uuid.h"
#include "engine/broker/fetch_session.h"
#include "engine/broker/partition.h"
#include "engine/broker/peer_requests.h"
#include "engine/broker/replica_context.h"

namespace hw::broker {

class ReplicaFetcher;

struct FetcherOptions {
  BrokerId self;
  std::int32_t fetchers = 1;  // per leader
  std::int32_t min_bytes = 1;
  std::int32_t partition_max_bytes = 1'048'576;
  std::int32_t response_max_bytes = 10'485'760;
  Duration wait_max = milliseconds(500);
  Duration backoff_max = milliseconds(1000);
};

// A partition as its fetcher sees it.
struct Following {
  enum class Stage : std::uint8_t {
    fetching,
    waiting,    // after an error, until retry_at
    ask_end,    // out of range: where does the leader's log end?
    ask_start,  // … and where does it begin?
    settling,   // with flush.messages: what came must reach the disk before the leader may count on it
    failed,     // the log here is offline: nothing until a new leader epoch
  };
  Following(Partition& which, ReplicaFetcher& by) : partition(&which), fetcher(&by) {}
  Partition* partition;
  ReplicaFetcher* fetcher;
  LeaderEpoch epoch;
  Stage stage = Stage::fetching;
  bool in_session = false;  // the leader's session has it, as `sent` says
  Offset sent_offset = kNoOffset;
  LeaderEpoch sent_epoch = kNoLeaderEpoch;
  std::int32_t failures = 0;
  Instant retry_at;
  std::uint64_t order = 0;
  std::size_t all_at = StableList<Following>::kNone;
  std::size_t changed_at = StableList<Following>::kNone;
  std::size_t asking_at = StableList<Following>::kNone;
};

class ReplicaFetcher {
 public:
  ReplicaFetcher(const FetcherOptions& options, BrokerId leader, std::int32_t index)
      : options_(options), leader_(leader), index_(index) {}
  ReplicaFetcher(const ReplicaFetcher&) = delete;
  ReplicaFetcher& operator=(const ReplicaFetcher&) = delete;

  void follow(Partition& partition, Instant now);
  void unfollow(Following& following);
  void log_flushed(Following& following);
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::uint64_t in_flight() const noexcept { return in_flight_; }  // 0: nothing is on its way

  // Puts out the next request under `id`, if one is due. True: it did.
  bool send(std::uint64_t id, std::int64_t broker_epoch, Now now, PeerRequests& out);
  // `moved` gets the partitions whose high watermark moved.
  void fetched(wire::FetchResponse&& response, Now now, std::vector<Partition*>& moved);
  void offsets_listed(const wire::ListOffsetsResponse& response, Now now);
  void failed(Now now);
  [[nodiscard]] Instant next_deadline() const noexcept;

  static constexpr std::size_t kListMost = 1000;

 private:
  enum class Flight : std::uint8_t { none, fetch, list };
  [[nodiscard]] Following* find(const Uuid& topic, PartitionIndex partition) noexcept;
  void changed(Following& following);
  void leave_session(Following& following);
  void stop_waiting(Following& following);
  void wait(Following& following, Instant now);
  void fail(Following& following);
  void disk_refused(Following& following, Instant now);
  void ask(Following& following, Following::Stage stage);
  void resume(Following& following);
  void forget_session(bool known_to_leader);
  void name(Following& following, wire::FetchRequest& request);
  void send_fetch(std::int64_t broker_epoch, PeerFetch& out);
  void send_list(PeerListOffsets& out);
  void take(Following& following, wire::FetchResponse::PartitionData& data, Now now, std::vector<Partition*>& moved);
  void listed(Following& following, const wire::ListOffsetsResponse::ListOffsetsPartitionResponse& answer, Now now);
  [[nodiscard]] Instant backoff(std::int32_t failures, Instant now) const noexcept;

  const FetcherOptions& options_;
  BrokerId leader_;
  std::int32_t index_;
  std::unordered_map<Uuid, std::vector<std::unique_ptr<Following>>> topics_;  // by partition; looked up, never walked
  std::size_t size_ = 0;
  std::size_t fetching_ = 0;
  StableList<Following> all_;
  StableList<Following> changed_;  // the leader does not know where they are
  StableList<Following> asking_;
  std::set<std::tuple<Instant, std::uint64_t, Following*>> waiting_;
  std::set<std::pair<Uuid, PartitionIndex>> forgotten_;  // the leader's session has them still

  Flight flight_ = Flight::none;
  std::uint64_t in_flight_ = 0;
  bool full_ = false;  // the request on its way named everything
  std::int32_t session_id_ = kNoSession;
  std::int32_t session_epoch_ = kInitialSessionEpoch;
  std::int32_t failures_ = 0;
  Instant retry_at_ = kLongAgo;
  std::uint64_t waits_ = 0;
};

// All fetchers of a node.
class FetcherSet {
 public:
  explicit FetcherSet(FetcherOptions options) : options_(options) {}
  FetcherSet(const FetcherSet&) = delete;
  FetcherSet& operator=(const FetcherSet&) = delete;
  // Follows the partition's leader in its epoch, from now on; no other fetcher has it afterwards.
  void follow(Partition& partition, Instant now);
  void unfollow(Partition& partition);
  // A flush of its log came back.
  void log_flushed(Partition& partition);

  // REQUIRES: `broker_epoch` is known.
  void send(std::int64_t broker_epoch, Now now, PeerRequests& out);
  void fetched(std::uint64_t id, wire::FetchResponse&& response, Now now, std::vector<Partition*>& moved);
  void offsets_listed(std::uint64_t id, const wire::ListOffsetsResponse& response, Now now);
  void failed(std::uint64_t id, Now now);
  [[nodiscard]] Instant next_deadline() const noexcept;
  [[nodiscard]] std::size_t fetchers() const noexcept { return all_.size(); }

 private:
  [[nodiscard]] ReplicaFetcher* waiting_for(std::uint64_t id) noexcept;
  void drop_idle(const ReplicaFetcher& fetcher);
  FetcherOptions options_;
  std::map<std::pair<BrokerId, std::int32_t>, std::unique_ptr<ReplicaFetcher>> all_;
  std::uint64_t last_id_ = 0;
};

}  // namespace hw::broker
