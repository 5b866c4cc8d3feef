// SPDX-License-Identifier: Apache-2.0
// Consumer: partitions in, records out. Sans-I/O, deterministic.
//
// Without a group the partitions are given, or are all of the topics'. With a group it is a member of a classic group:
//
//   finding ─▶ joining ─▶ (leader: assigning) ─▶ syncing ─▶ stable ─▶ … rebalance: commit, revoke, joining
//      ▲ coordinator lost                                      ├─▶ late: the handler took too long, the group was left
//                                                              └─▶ close(): commit, leave (static members stay)
//
// or of a consumer group (KIP-848), where the coordinator assigns and one request says everything:
//
//   finding ─▶ joining ─▶ stable: tells what changed, takes up what it is given; fenced: all is lost, joining
//
// Where every assignor on offer cooperates, a rebalance takes away only what moves; otherwise everything is revoked first.
//
// A partition begins at its committed offset; without one, or when that is out of range, where `reset` says. When a partition's
// leader epoch changes the position is validated against the new leader (KIP-320), and a truncation told. Fetches are incremental
// (KIP-227), one per broker at a time; what is fetched waits, at most prefetch_bytes_max, until step() hands it out in polls:
//
//   poll ─▶ records ─▶ handler works (handler_delay each, simulated) ─▶ next poll
//     CommitMode::interval     commits what earlier polls gave, every commit_interval, at a poll (enable.auto.commit)
//     CommitMode::after_work   commits when the handler is through, and waits for the answer (at least once)
//     CommitMode::before_work  commits first, hands out after the answer (at most once)
//     CommitMode::manual       only commit()
//
// A member whose handler works longer than max_poll_interval leaves its group, as Kafka's consumer does; its late commit is
// refused and it joins anew. read_committed leaves out records of aborted transactions; control records never come out.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/client/assignor.h"
#include "engine/client/cluster.h"
#include "engine/wire/record/record_iterator.h"

namespace hw::client {

enum class OffsetReset : std::uint8_t {
  earliest,
  latest,
  none,         // an error that ends the consumer
  by_duration,  // the first record not older than reset_duration (KIP-1106)
};
enum class GroupProtocol : std::uint8_t { classic, consumer };  // group.protocol
enum class CommitMode : std::uint8_t { interval, after_work, before_work, manual };
// Where to begin, besides offsets (>= 0): what ListOffsets calls these.
inline constexpr std::int64_t kFromEarliest = -2;
inline constexpr std::int64_t kFromLatest = -1;

struct ConsumerConfig {
  ClusterConfig cluster;
  std::string group_id;  // empty: no group
  std::optional<std::string> group_instance_id = std::nullopt;  // a static member (KIP-345)
  GroupProtocol protocol = GroupProtocol::classic;
  std::string member_id = {};        // consumer protocol: a new id, which this client keeps (KIP-1082); REQUIRED there
  std::string topic_regex = {};      // consumer protocol: in RE2's syntax; the coordinator says which topics match
  std::string remote_assignor = {};  // consumer protocol: group.remote.assignor; empty: the group's own choice
  std::vector<std::string> topics;
  std::function<bool(const std::string&)> topic_matches = {};   // a pattern: topics besides `topics`, also later ones
  struct Start {
    TopicPartition partition;
    std::int64_t offset = kFromEarliest;  // or kFromLatest, or an offset
  };
  std::vector<Start> assignment;          // without a group; empty: all partitions of `topics`
  std::vector<Assignor> assignors = {Assignor::range};  // by preference
  OffsetReset reset = OffsetReset::earliest;
  Duration reset_duration{};              // by_duration
  std::int64_t wall_ms_at_zero = 0;       // by_duration: the wall clock, in Unix milliseconds, when Instant was 0
  CommitMode commit_mode = CommitMode::interval;
  Duration commit_interval = seconds(5);  // interval; 0: never
  Duration session_timeout = seconds(10);
  Duration heartbeat_interval = seconds(1);  // at most a third of the session timeout; how soon a rebalance is noticed
  Duration max_poll_interval = seconds(300);  // between polls; also the time a rebalance waits for this member
  std::size_t max_poll_records = 500;  // where the handler has a delay, and for commits after or before work
  Duration handler_delay{};            // per record; 0: everything that is there is handed out at once
  std::int32_t max_wait_ms = 500;
  std::int32_t min_bytes = 1;
  std::int32_t fetch_bytes_max = 50 * 1024 * 1024;
  std::int32_t partition_bytes_max = 1024 * 1024;
  std::size_t prefetch_bytes_max = 64 * 1024 * 1024;  // nothing is asked for while so much waits
  bool read_committed = false;
  std::string client_rack = {};        // where this client stands (client.rack, KIP-392, KIP-881); empty: not said
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
  enum class Kind : std::uint8_t {
    assigned,       // cooperative: what was added
    revoked,        // cooperative: what was taken away; `message` says "lost" where it belongs to somebody else already
    reached_end,
    error,
    committed,      // `partitions`, `offsets`
    commit_failed,  // the same; `message`
    late,           // the handler took longer than max_poll_interval: the group was left
    truncated,      // the log ends before the position; `offsets` where reading goes on
  } kind = Kind::error;
  std::vector<TopicPartition> partitions;
  std::string message;   // in words
  bool fatal = false;    // error: the consumer will do nothing more
  std::vector<std::int64_t> offsets = {};  // of the partitions
};

struct ConsumerOutputs {
  IoOutputs io;
  std::vector<ConsumedRecord> records;
  std::vector<ConsumerEvent> events;  // `revoked` comes after the records that were handed out before
  void clear() {
    io.clear();
    records.clear();
    events.clear();
  }
};

struct PartitionStatus {
  TopicPartition partition;
  std::int64_t position = -1;        // next to hand out; -1 not known yet
  std::int64_t committed = -1;
  std::int64_t high_watermark = -1;  // read_committed: last stable offset
  std::size_t buffered_bytes = 0;
  bool paused = false;
  [[nodiscard]] std::int64_t lag() const noexcept {
    return position < 0 || high_watermark < 0 ? -1 : std::max<std::int64_t>(high_watermark - position, 0);
  }
};

class Consumer {
 public:
  Consumer(ConsumerConfig config, Instant now);

  void step(const Input& input, Instant now, ConsumerOutputs& out);
  // Commits and leaves the group; closed() tells when that is over (at most some seconds of steps later).
  void close(Instant now, ConsumerOutputs& out);
  // Goes silent: no commit, no LeaveGroup. The group notices when the session times out.
  void crash(ConsumerOutputs& out);
  [[nodiscard]] bool closed() const noexcept { return state_ == State::closed; }
  [[nodiscard]] Instant next_deadline() const noexcept;

  // All take effect with the next step(). Partitions that are not assigned are left out.
  void pause(const std::vector<TopicPartition>& partitions);   // empty: all
  void resume(const std::vector<TopicPartition>& partitions);  // empty: all
  // `to`: an offset, kFromEarliest or kFromLatest.
  void seek(const TopicPartition& partition, std::int64_t to);
  void seek_to_time(const TopicPartition& partition, std::int64_t timestamp_ms);  // the end where no record is that young
  void commit(Instant now, ConsumerOutputs& out);  // what was handed out
  void set_handler_delay(Duration per_record) noexcept { config_.handler_delay = per_record; }

  [[nodiscard]] std::vector<PartitionStatus> status() const;  // of what is assigned, in order
  // The next offset to hand out; nullopt: not assigned, or not known yet.
  [[nodiscard]] std::optional<std::int64_t> position(const TopicPartition& partition) const;
  [[nodiscard]] std::optional<std::int64_t> high_watermark(const TopicPartition& partition) const;
  [[nodiscard]] const std::string& member_id() const noexcept { return member_id_; }
  [[nodiscard]] std::int32_t generation() const noexcept { return generation_; }
  [[nodiscard]] bool leads() const noexcept { return leading_; }
  [[nodiscard]] const std::string& problem() const noexcept { return cluster_.problem(); }

 private:
  // late: left because of a slow handler; what it has is not taken away before it comes back from its work.
  enum class State : std::uint8_t { free, finding, joining, assigning, syncing, stable, late, closing, closed };
  enum class Ask : std::uint8_t { find, join, sync, heartbeat, leave, leave_late, commit, committed, list, validate, fetch };
  enum class Position : std::uint8_t { committed, reset, known };  // what to ask for next

  // Batches of one partition that one Fetch brought, handed out bit by bit.
  struct Chunk {
    Bytes bytes;
    std::size_t at = 0;  // of the next batch
    std::vector<std::pair<std::int64_t, std::int64_t>> aborted;  // first offset, producer
    std::size_t next_aborted = 0;
    std::set<std::int64_t> discarding;                           // producers whose transaction was aborted, until its marker
    std::optional<wire::RecordIterator> records;                 // of the batch that is being handed out
  };
  struct Partition {
    std::uint64_t life = 0;  // counts assignments and seeks: an answer of an older one is dropped
    Position state = Position::reset;
    std::int64_t reset_to = kFromEarliest;  // or a timestamp in milliseconds
    std::int64_t position = -1;             // next to hand out
    LeaderEpoch epoch = kNoLeaderEpoch;     // of the record before
    LeaderEpoch validated = kNoLeaderEpoch; // leader epoch under which the position holds
    std::int64_t committed = -1;
    std::int64_t high_watermark = -1;
    std::unique_ptr<Chunk> chunk;
    bool asked = false;     // a request about it is in flight
    bool validate = false;
    bool paused = false;
    bool at_end = false;
    bool failed = false;    // metadata knows no such partition
    int failures = 0;       // in a row
    Instant not_before{};
    BrokerId nearer = kNoBroker;  // the replica that the leader named for our rack (KIP-392); until then, then the leader again
    Instant nearer_until{};
  };
  struct Asked {
    TopicPartition partition;
    std::uint64_t life = 0;
    std::int64_t value = 0;  // an offset, or a timestamp
  };
  struct Pending {
    Ask ask = Ask::find;
    BrokerId broker;
    std::vector<Asked> partitions;
    std::int32_t generation = -1;
  };
  struct Session {  // fetch session with one broker (KIP-227)
    struct Entry {
      Uuid topic_id;
      std::int64_t offset = -1;
      LeaderEpoch epoch = kNoLeaderEpoch;
      std::uint64_t life = 0;  // of the Partition that heard what was told
      friend bool operator==(const Entry&, const Entry&) = default;
    };
    std::int32_t id = 0;
    std::int32_t epoch = 0;  // of the next request; 0: a new session
    std::map<TopicPartition, Entry> entries;
    bool asking = false;
  };

  template <class T>
  void ask(Ask what, BrokerId broker, Lane lane, T request, std::int16_t lowest, std::int16_t highest, Instant deadline,
           std::vector<Asked> partitions, Instant now, ConsumerOutputs& out);
  [[nodiscard]] Partition* live(const Asked& asked);
  Partition& add(const TopicPartition& key);
  void rewind(Partition& partition, std::int64_t to);

  // consumer.cpp
  void take_answers(Instant now, ConsumerOutputs& out);
  void take(const Answer& answer, const Pending& pending, Instant now, ConsumerOutputs& out);
  void take_metadata(Instant now, ConsumerOutputs& out);
  void match_topics();
  void follow_topics(Instant now, ConsumerOutputs& out);
  void trouble(std::string why, ConsumerOutputs& out);
  // What passes by itself (a leader or a coordinator that is just being chosen) is told when it has lasted.
  void passing_trouble(int& failures, std::string why, ConsumerOutputs& out);
  void fatal(std::string why, ConsumerOutputs& out);
  void later(Partition& partition, Instant now) noexcept;

  // consumer_group.cpp
  void group_timers(Instant now, ConsumerOutputs& out);
  void coordinator_trouble(const std::string& why, Instant now, ConsumerOutputs& out);
  bool handle_group_error(wire::ErrorCode error, Instant now, ConsumerOutputs& out);
  void find_coordinator(Instant now, ConsumerOutputs& out);
  void heartbeat(Instant now, ConsumerOutputs& out);
  void leave_late(Instant now, ConsumerOutputs& out);
  void leave_group(Ask why, const char* reason, Instant deadline, Instant now, ConsumerOutputs& out);
  void prepare_join(Instant now, ConsumerOutputs& out);
  void join(Instant now, ConsumerOutputs& out);
  void sync(std::vector<std::pair<std::string, Bytes>> assignments, Instant now, ConsumerOutputs& out);
  void try_assign(Instant now, ConsumerOutputs& out);
  void take_find(const Answer& answer, Instant now, ConsumerOutputs& out);
  void take_join(const Answer& answer, Instant now, ConsumerOutputs& out);
  void take_sync(const Answer& answer, Instant now, ConsumerOutputs& out);
  void take_heartbeat(const Answer& answer, const Pending& pending, Instant now, ConsumerOutputs& out);
  void become_stable(Instant now);
  void forget_member_id();
  template <class R>
  bool read_group_answer(const Answer& answer, const char* name, R& response, Instant now, ConsumerOutputs& out);
  void lose_membership(Instant now, ConsumerOutputs& out);
  void revoke(const std::vector<TopicPartition>& partitions, bool lost, ConsumerOutputs& out);
  void revoke_all(bool lost, ConsumerOutputs& out);
  void assign(const std::vector<TopicPartition>& partitions, Instant now, ConsumerOutputs& out);
  [[nodiscard]] std::map<std::string, std::int32_t> partition_counts(const std::vector<std::string>& topics) const;

  // consumer_protocol.cpp
  [[nodiscard]] bool coordinator_assigns() const noexcept { return config_.protocol == GroupProtocol::consumer; }
  void member_timers(Instant now, ConsumerOutputs& out);
  void tell_group(Instant now, ConsumerOutputs& out);
  void take_told(const Answer& answer, const Pending& pending, Instant now, ConsumerOutputs& out);
  void take_up_target(Instant now, ConsumerOutputs& out);
  void tell_leaving(Ask why, Instant deadline, Instant now, ConsumerOutputs& out);

  // consumer_offsets.cpp
  void send_commit(Instant now, ConsumerOutputs& out);
  void take_commit(const Answer& answer, const Pending& pending, Instant now, ConsumerOutputs& out);
  void commit_refused(const Pending& pending, std::string why, ConsumerOutputs& out);
  template <class Topics>
  void take_committed_topics(const Topics& topics, bool by_id, const Pending& pending, Instant now, ConsumerOutputs& out);
  void take_committed(const Answer& answer, const Pending& pending, Instant now, ConsumerOutputs& out);
  void take_list(const Answer& answer, const Pending& pending, Instant now, ConsumerOutputs& out);
  void take_validation(const Answer& answer, const Pending& pending, Instant now, ConsumerOutputs& out);
  void ask_positions(Instant now, ConsumerOutputs& out);
  void ask_committed(Instant now, ConsumerOutputs& out);
  [[nodiscard]] std::int64_t reset_target(Instant now) const noexcept;  // kFromEarliest, kFromLatest or a timestamp
  // False where `reset` is none: then the consumer ends with `why`.
  bool reset(Partition& partition, const std::string& why, Instant now, ConsumerOutputs& out);

  // consumer_fetch.cpp
  void fetch(Instant now, ConsumerOutputs& out);
  void take_fetch(const Answer& answer, const Pending& pending, Instant now, ConsumerOutputs& out);
  [[nodiscard]] BrokerId source_of(const TopicPartition& key, Partition& partition, Instant now) const;
  template <class R>
  void take_fetched(BrokerId from, const TopicPartition& key, Partition& partition, R& result, Instant now, ConsumerOutputs& out);
  void poll(Instant now, ConsumerOutputs& out);
  void hand_out(std::vector<ConsumedRecord>& records, Instant now, ConsumerOutputs& out);
  void end_work(Instant now, ConsumerOutputs& out);
  void read(const TopicPartition& key, Partition& partition, std::size_t limit, std::vector<ConsumedRecord>& records,
            Instant now, ConsumerOutputs& out);
  bool open_batch(const TopicPartition& key, Partition& partition, Instant now, ConsumerOutputs& out);
  [[nodiscard]] bool polls() const noexcept;  // hands out in polls rather than everything

  [[nodiscard]] bool grouped() const noexcept { return !config_.group_id.empty(); }
  [[nodiscard]] bool member() const noexcept { return coordinator_ != kNoBroker && !member_id_.empty() && generation_ >= 0; }

  ConsumerConfig config_;
  Cluster cluster_;
  State state_ = State::free;
  std::vector<std::string> subscribed_;  // topics of the config and those that match, in order
  std::map<TopicPartition, Partition> partitions_;
  std::map<std::string, std::shared_ptr<const std::string>> names_;
  std::map<std::uint64_t, Pending> pending_;
  std::map<BrokerId, Session> sessions_;
  std::uint64_t next_token_ = 1;
  std::uint64_t next_life_ = 1;

  BrokerId coordinator_ = kNoBroker;
  std::string member_id_;
  std::int32_t generation_ = -1;         // consumer protocol: the member epoch
  Assignor assignor_ = Assignor::range;  // that the group chose
  bool cooperative_ = false;   // every assignor on offer cooperates
  bool leading_ = false;
  bool group_asked_ = false;   // find, join or sync is in flight
  bool heartbeat_asked_ = false;
  bool commit_asked_ = false;
  bool rejoin_ = false;        // as soon as the handler is through
  Instant group_not_before_{};
  int group_failures_ = 0;     // in a row
  Instant heartbeat_at_ = kNever;
  Instant commit_at_ = kNever;
  Instant close_by_ = kNever;
  std::vector<GroupMember> members_;                        // while leading
  std::map<std::string, std::int32_t> assigned_of_;  // the partition counts that the assignment was made from
  std::vector<TopicPartition> previous_;             // what the last assignment gave (sticky)
  std::int32_t previous_generation_ = -1;

  // Consumer protocol. What the coordinator was told last; nothing: it may not have heard, and is told all.
  struct Told {
    std::vector<std::string> topics;
    std::vector<TopicPartition> owned;
  };
  std::optional<Told> told_;
  std::optional<std::vector<std::pair<Uuid, std::int32_t>>> target_;  // given, and not taken up yet

  std::size_t buffered_ = 0;           // bytes of all chunks
  bool busy_ = false;                  // the handler works until busy_until_
  Instant busy_until_{};
  Instant polled_at_{};
  bool waits_for_commit_ = false;      // nothing is handed out before the answer
  bool commit_after_join_ = false;     // cooperative: it was refused because of a rebalance, and follows that
  std::vector<ConsumedRecord> held_;   // before_work: handed out when they are committed

  std::string last_trouble_;
  std::vector<Answer> answers_;  // reused
  std::uint64_t seen_metadata_ = 0;
  std::int64_t handed_out_ = 0;
  Instant stepped_at_{};
  bool followed_ = false;      // partitions that appear later begin at their beginning: nothing of them was missed
};

}  // namespace hw::client
