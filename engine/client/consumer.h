// SPDX-License-Identifier: Apache-2.0
// Consumer: partitions in, records out. Sans-I/O, deterministic.
//
// Without a group the partitions are given, or are all of the topics'. With a group it is a member of a classic group:
//
//   finding ─▶ joining ─▶ (leader: assigning) ─▶ syncing ─▶ stable ─▶ … rebalance: commit, revoke, joining
//      ▲ coordinator lost                                      └─▶ close(): commit, leave
//
// A partition begins at its committed offset; without one, or when that is out of range, at the earliest or latest offset. One Fetch
// per broker is in flight, so memory is bounded by fetch_bytes_max per broker (and what compressed batches grow to). Records are
// handed out by step(); a commit covers what was handed out by earlier steps, so what a callback did not see is not committed.
// read_committed leaves out records of aborted transactions; control records never come out.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/client/assignor.h"
#include "engine/client/cluster.h"

namespace hw::client {

enum class OffsetReset : std::uint8_t { earliest, latest };
inline constexpr std::int64_t kFromEarliest = -2;
inline constexpr std::int64_t kFromLatest = -1;

struct ConsumerConfig {
  ClusterConfig cluster;
  std::string group_id;  // empty: no group
  std::vector<std::string> topics;
  struct Start {
    TopicPartition partition;
    std::int64_t offset = kFromEarliest;  // or kFromLatest, or an offset
  };
  std::vector<Start> assignment;          // without a group; empty: all partitions of `topics`
  OffsetReset reset = OffsetReset::earliest;
  Duration commit_interval = seconds(5);  // 0: never
  Duration session_timeout = seconds(10);
  Duration heartbeat_interval = seconds(1);  // at most a third of the session timeout; how soon a rebalance is noticed
  Duration rebalance_timeout = seconds(60);
  std::int32_t max_wait_ms = 500;
  std::int32_t min_bytes = 1;
  std::int32_t fetch_bytes_max = 50 * 1024 * 1024;
  std::int32_t partition_bytes_max = 1024 * 1024;
  bool read_committed = false;
  std::int64_t records_max = std::numeric_limits<std::int64_t>::max();  // handed out in all; then it only keeps its place
};

struct ConsumedRecord {
  std::shared_ptr<const std::string> topic;
  std::int32_t partition = 0;
  std::int64_t offset = 0;
  std::int64_t timestamp_ms = -1;
  bool log_append_time = false;
  std::optional<Bytes> key;    // slices of what came from the network; they keep it alive
  std::optional<Bytes> value;
  std::vector<std::pair<std::string, std::optional<Bytes>>> headers;
};

struct ConsumerEvent {
  enum class Kind : std::uint8_t { assigned, revoked, reached_end, error } kind = Kind::error;
  std::vector<TopicPartition> partitions;
  std::string message;   // error: in words
  bool fatal = false;    // error: the consumer will do nothing more
};

struct ConsumerOutputs {
  IoOutputs io;
  std::vector<ConsumedRecord> records;
  std::vector<ConsumerEvent> events;  // `revoked` comes after the records that were fetched before
  void clear() {
    io.clear();
    records.clear();
    events.clear();
  }
};

class Consumer {
 public:
  Consumer(ConsumerConfig config, Instant now);

  void step(const Input& input, Instant now, ConsumerOutputs& out);
  // Commits and leaves the group; closed() tells when that is over (at most some seconds of steps later).
  void close(Instant now, ConsumerOutputs& out);
  [[nodiscard]] bool closed() const noexcept { return state_ == State::closed; }
  [[nodiscard]] Instant next_deadline() const noexcept;

  // The next offset to hand out; nullopt: not assigned, or not known yet.
  [[nodiscard]] std::optional<std::int64_t> position(const TopicPartition& partition) const;
  [[nodiscard]] std::optional<std::int64_t> high_watermark(const TopicPartition& partition) const;
  [[nodiscard]] const std::string& member_id() const noexcept { return member_id_; }
  [[nodiscard]] const std::string& problem() const noexcept { return cluster_.problem(); }

 private:
  enum class State : std::uint8_t { free, finding, joining, assigning, syncing, stable, closing, closed };
  enum class Ask : std::uint8_t { find, join, sync, heartbeat, leave, commit, committed, list, fetch };
  enum class Position : std::uint8_t { committed, reset, known };  // what to ask for next

  struct Partition {
    Position state = Position::reset;
    std::int64_t reset_to = kFromEarliest;
    std::int64_t position = -1;
    std::int64_t committed = -1;
    std::int64_t high_watermark = -1;
    bool asked = false;     // a request about it is in flight
    bool at_end = false;
    bool failed = false;    // it will not be read any more
    int failures = 0;       // in a row
    Instant not_before{};
  };
  struct Pending {
    Ask ask = Ask::find;
    BrokerId broker;
    std::uint64_t epoch = 0;  // of the assignment: an answer of an older one is dropped
    std::vector<std::pair<TopicPartition, std::int64_t>> partitions;
  };

  template <class T>
  void ask(Ask what, BrokerId broker, Lane lane, T request, std::int16_t lowest, std::int16_t highest, Instant deadline,
           std::vector<std::pair<TopicPartition, std::int64_t>> partitions, Instant now, ConsumerOutputs& out);

  void take_answers(Instant now, ConsumerOutputs& out);
  void take(const Answer& answer, const Pending& pending, Instant now, ConsumerOutputs& out);
  void take_find(const Answer& answer, Instant now, ConsumerOutputs& out);
  void take_join(const Answer& answer, Instant now, ConsumerOutputs& out);
  void take_sync(const Answer& answer, Instant now, ConsumerOutputs& out);
  void take_heartbeat(const Answer& answer, Instant now, ConsumerOutputs& out);
  void take_commit(const Answer& answer, const Pending& pending, Instant now, ConsumerOutputs& out);
  void take_committed(const Answer& answer, const Pending& pending, Instant now, ConsumerOutputs& out);
  void take_list(const Answer& answer, const Pending& pending, Instant now, ConsumerOutputs& out);
  void take_fetch(const Answer& answer, const Pending& pending, Instant now, ConsumerOutputs& out);
  template <class R>
  void take_fetched(const TopicPartition& key, Partition& partition, R& result, Instant now, ConsumerOutputs& out);

  void group_timers(Instant now, ConsumerOutputs& out);
  void coordinator_trouble(const std::string& why, Instant now, ConsumerOutputs& out);
  bool handle_group_error(wire::ErrorCode error, Instant now, ConsumerOutputs& out);
  void find_coordinator(Instant now, ConsumerOutputs& out);
  void join(Instant now, ConsumerOutputs& out);
  void try_assign(Instant now, ConsumerOutputs& out);
  void commit(Instant now, ConsumerOutputs& out);
  void revoke(ConsumerOutputs& out);
  void assign(const std::vector<TopicPartition>& partitions, ConsumerOutputs& out);
  void follow_topics(ConsumerOutputs& out);
  void ask_positions(Instant now, ConsumerOutputs& out);
  void fetch(Instant now, ConsumerOutputs& out);
  void trouble(std::string why, ConsumerOutputs& out);
  // What passes by itself (a leader or a coordinator that is just being chosen) is told when it has lasted.
  void passing_trouble(int& failures, std::string why, ConsumerOutputs& out);
  void fatal(std::string why, ConsumerOutputs& out);
  void later(Partition& partition, Instant now) noexcept;
  [[nodiscard]] bool grouped() const noexcept { return !config_.group_id.empty(); }
  [[nodiscard]] std::map<std::string, std::int32_t> partition_counts(const std::vector<std::string>& topics) const;

  ConsumerConfig config_;
  Cluster cluster_;
  State state_ = State::free;
  std::map<TopicPartition, Partition> partitions_;
  std::map<std::string, std::shared_ptr<const std::string>> names_;
  std::map<std::uint64_t, Pending> pending_;
  std::map<BrokerId, bool> fetching_;
  std::uint64_t next_token_ = 1;
  std::uint64_t epoch_ = 1;

  BrokerId coordinator_ = kNoBroker;
  std::string member_id_;
  std::int32_t generation_ = -1;
  std::string protocol_;
  bool leading_ = false;
  bool group_asked_ = false;   // find, join or sync is in flight
  bool heartbeat_asked_ = false;
  bool commit_asked_ = false;
  Instant group_not_before_{};
  int group_failures_ = 0;     // in a row
  Instant heartbeat_at_ = kNever;
  Instant commit_at_ = kNever;
  Instant close_by_ = kNever;
  std::vector<GroupMember> members_;                 // while leading
  std::map<std::string, std::int32_t> assigned_of_;  // the partition counts that the assignment was made from
  std::string last_trouble_;
  std::vector<Answer> answers_;  // reused
  std::uint64_t seen_metadata_ = 0;
  std::int64_t handed_out_ = 0;
  Instant stepped_at_{};
  bool followed_ = false;      // partitions that appear later begin at their beginning: nothing of them was missed
};

}  // namespace hw::client
