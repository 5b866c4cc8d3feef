// SPDX-License-Identifier: Apache-2.0
// A world of quorums: replicas with disks that forget, a network that loses, delays, repeats and reorders messages and falls
// apart, all drawn from one seed; and an observer who sees everything and checks Raft's properties after every step.
//
// What is checked (Ongaro's five, and what KRaft adds):
//   election safety        at most one leader in an epoch
//   leader append-only     a leader never changes what its log holds
//   log matching           batches of the same offset and epoch are equal, and so is everything before them
//   leader completeness    a new leader's log holds everything that was ever committed
//   state machine safety   what one replica holds committed no other holds differently, ever
//   high watermark         never falls in a life, never above the log; a leader's covers a record of its own epoch
//   durability             one vote an epoch across crashes, durable before it leaves; fetches only from what is durable
// Then everything is repaired, and the replicas have to agree within seconds.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <vector>

#include "engine/base/trial.h"
#include "engine/raft/memory_log.h"
#include "engine/raft/quorum.h"

namespace hw::raft::test {

struct WorldOptions {
  int voters = 3;
  int observers = 0;
  trial::Canary canary = trial::Canary::none;
  Ratio lose{};            // of messages
  Ratio repeat{};
  Duration slowest = milliseconds(2);  // of one message
  Duration slowest_disk = milliseconds(2);
  bool crashes = false;
  bool cuts = false;       // links between nodes, one way too
  bool hand_overs = false; // leaders that stop in an orderly way
  bool snapshots = false;
  bool voter_changes = false;
  bool through_codec = false;  // messages are encoded and decoded
  Duration bad_days = seconds(20);
  Duration repair = seconds(12);
  static WorldOptions drawn(std::uint64_t seed);
};

class World {
 public:
  World(WorldOptions options, std::uint64_t seed);
  ~World();

  // The first violation, or nothing. Runs the bad days and the repair.
  [[nodiscard]] std::string run();

  // --- pieces, for tests that lead a world by hand
  void advance(Duration duration);  // stops at a violation
  void propose();
  void isolate(int node);
  void heal();
  void crash(int node);
  void start(int node);
  void moved_to(int node, const std::string& host);  // from its next start on
  void hand_over(int node);  // it resigns; it goes on until it is crashed
  void ask(int node, PeerRequest request, std::int16_t version);
  [[nodiscard]] std::optional<int> leader() const;  // the one of the highest epoch among those that run
  [[nodiscard]] const Quorum& quorum(int node) const;
  [[nodiscard]] MemoryLog& log(int node);
  [[nodiscard]] std::optional<PeerAnswer> answer() { return std::exchange(answer_, std::nullopt); }  // to ask()
  [[nodiscard]] Voter voter(int node) const;
  [[nodiscard]] Instant now() const noexcept { return now_; }
  [[nodiscard]] const std::string& violation() const noexcept { return violation_; }
  [[nodiscard]] std::int64_t committed() const noexcept { return committed_end_.value(); }  // records, control records included
  [[nodiscard]] int elections() const noexcept { return static_cast<int>(leaders_.size()); }
  [[nodiscard]] int snapshot_loads() const noexcept { return snapshot_loads_; }
  [[nodiscard]] std::uint64_t trace_hash() const noexcept { return trace_; }
  void take_snapshot(int node);

 private:
  struct Node;
  struct Event;
  struct Later;
  void schedule(Duration after, Event event);
  void handle(Event& event);
  void step(int node, const Input& input);
  void perform(int node, Outputs& out);
  void deliver_request(int node, Event& event);
  void send_reply(int node, Reply& reply);
  void check(int node);
  void note_batches(int node);
  void note_commits(int node);
  void violated(const std::string& what);
  void some_fault();
  void some_voter_change();
  [[nodiscard]] bool cut(int from, int to) const;
  [[nodiscard]] Duration drawn(Duration most);
  [[nodiscard]] std::string converged();

  WorldOptions options_;
  trial::Trial trial_{options_.canary};
  Prng prng_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::vector<Event> queue_;  // a heap
  std::uint64_t sequence_ = 0;
  Instant now_{1'000'000'000};
  bool faulty_ = true;
  std::set<std::pair<int, int>> cuts_;
  std::string violation_;
  std::optional<PeerAnswer> answer_;
  std::int64_t proposed_ = 0;
  int snapshot_loads_ = 0;
  std::uint64_t trace_ = 0xcbf29ce484222325ULL;

  // What the observer knows.
  struct Known {
    Offset last;
    std::uint64_t hash = 0;
    std::optional<std::pair<Offset, LeaderEpoch>> before;  // the batch before it
  };
  std::map<LeaderEpoch, int> leaders_;
  std::map<std::pair<Offset, LeaderEpoch>, Known> batches_;
  struct Committed {
    LeaderEpoch epoch;
    std::uint64_t hash = 0;    // of the batch
    std::uint64_t digest = 0;  // of everything up to its end
    Offset last;
  };
  std::map<Offset, Committed> committed_;  // by base offset
  Offset committed_end_{0};
  std::map<std::pair<int, LeaderEpoch>, ReplicaKey> votes_;
};

}  // namespace hw::raft::test
