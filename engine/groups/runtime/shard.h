// SPDX-License-Identifier: Apache-2.0
// Shard: one partition of __consumer_offsets as its coordinator holds it.
//
// Hard state (group records, committed offsets) changes only in replay(), speculatively when an
// append is made, for good when it is committed; a failed append takes its changes and those of
// every later append with it. Outcomes run in the order of the appends when they commit, newest
// first when they fail, so that each undoes on top of its own state. Soft state (ClassicGroup)
// hangs off the shard and goes with it; a ConsumerGroup is the newest records in another form, made
// anew where they are rolled back. Thread rule: one thread.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/ids.h"
#include "engine/base/prng.h"
#include "engine/event/event.h"
#include "engine/groups/classic/classic_group.h"
#include "engine/groups/consumer/consumer_group.h"
#include "engine/groups/coordinator.h"
#include "engine/groups/runtime/records.h"
#include "engine/groups/runtime/timeline_map.h"
#include "engine/groups/runtime/timers.h"
#include "engine/metadata/image/image.h"

namespace hw::groups {

// What the shards of one coordinator share.
struct Runtime {
  Config config;
  Prng prng;
  Timers timers;
  Outputs outputs;
  metadata::ImagePtr image = std::make_shared<const metadata::MetadataImage>();
  std::int64_t topics_created_at = -1;  // the image in which topics last appeared
  std::vector<std::function<void()>>
      due;  // completions, run when the coordinator's state is settled
  AppendId last_append = 0;
  std::uint64_t last_serial = 0;

  // Each runs once, so that what it holds may be handed on.
  template <class Response>
  void answer(Done<Response> done, Response response) {
    if (done) {
      due.emplace_back([done = std::move(done), response = std::move(response)]() mutable {
        done(std::move(response));
      });
    }
  }

  void emit(event::Any event) { outputs.events.push_back(std::move(event)); }
};

// Ids of appends rise, and say which partition they are of, so that a shard is found without a
// search.
inline constexpr unsigned kAppendPartitionBits = 20;

[[nodiscard]] constexpr AppendId next_append(AppendId last, PartitionIndex partition) noexcept {
  return ((last >> kAppendPartitionBits) + 1) << kAppendPartitionBits |
         static_cast<AppendId>(partition.value());
}

[[nodiscard]] constexpr PartitionIndex partition_of(AppendId id) noexcept {
  return PartitionIndex(static_cast<std::int32_t>(id & ((AppendId{1} << kAppendPartitionBits) - 1)));
}

// A view of an OffsetKey, to look one up without making strings.
struct OffsetKeyView {
  std::string_view group;
  std::string_view topic;
  std::int32_t partition = 0;
};

struct OffsetKeyLess {
  using is_transparent = void;

  static OffsetKeyView view(const OffsetKey& key) noexcept {
    return {key.group, key.topic, key.partition};
  }

  static OffsetKeyView view(const OffsetKeyView& key) noexcept { return key; }

  template <class A, class B>
  bool operator()(const A& left, const B& right) const noexcept {
    const OffsetKeyView a = view(left);
    const OffsetKeyView b = view(right);
    if (const int order = a.group.compare(b.group); order != 0) {
      return order < 0;
    }
    if (const int order = a.topic.compare(b.topic); order != 0) {
      return order < 0;
    }
    return a.partition < b.partition;
  }
};

struct CommittedOffset {
  std::int64_t offset = -1;
  std::int32_t leader_epoch = -1;
  std::string metadata;
  std::int64_t commit_timestamp_ms = -1;
  std::int64_t expire_timestamp_ms = -1;  // -1: by the retention of the broker
  Uuid topic_id;                          // zero: not known
  std::uint64_t order = 0;                // its place among the records of the partition
};

using OffsetTimeline = TimelineMap<OffsetKey, CommittedOffset, OffsetKeyLess>;
// Of transactions that are open: by offset, then by producer.
using PendingTimeline = TimelineMap<std::pair<OffsetKey, ProducerId>, CommittedOffset>;
using ConsumerTimeline = TimelineMap<ConsumerKey, std::shared_ptr<const ConsumerValue>>;

class Shard {
 public:
  // `error` is what a coordinator answers: none, or the append's error turned into one of these.
  using Outcome = std::function<void(wire::ErrorCode error, Now now)>;

  Shard(PartitionIndex partition, Runtime& runtime) : partition_(partition), runtime_(runtime) {}

  Shard(const Shard&) = delete;
  Shard& operator=(const Shard&) = delete;

  [[nodiscard]] PartitionIndex partition() const noexcept { return partition_; }

  [[nodiscard]] bool loading() const noexcept { return loading_; }

  // --- loading
  // False where the record cannot be decoded.
  bool load(const Record& record, ProducerId producer = kNoProducerId);
  void load_marker(ProducerId producer, bool commit);
  // What is loaded from now on is not committed.
  AppendId load_uncommitted();
  void end_load(Now now);  // builds the groups

  // --- writing
  // What is not committed within offsets.commit.timeout.ms stays written, and may be committed later; but whoever waits for it is told
  // COORDINATOR_NOT_AVAILABLE, as Kafka does, by the outcome of append_within() and when_settled(). That of append() waits for ever.
  void append(std::vector<Record> records, Outcome outcome) { append(std::move(records), std::move(outcome), kNever); }

  void append_within(std::vector<Record> records, Outcome outcome, Now now) { append(std::move(records), std::move(outcome), time_out_of(now)); }

  void append_transactional(std::vector<Record> records, const TransactionalWrite& transaction, Outcome outcome, Now now) {
    append(std::move(records), std::move(outcome), time_out_of(now), transaction);
  }

  void append_marker(const EndMarker& marker, Outcome outcome, Now now);
  // Records that need not be written together, as many to a batch as a log takes for sure: each piece
  // commits or fails alone, and nobody waits for it. Nothing happens where there are none.
  void append_in_pieces(std::vector<Record> records);
  // Records that are appended together at the end of a request, and take effect at once: what comes
  // after sees them. Nothing else is appended in between. REQUIRES of append_staged(): staged().
  void stage(Record record);
  [[nodiscard]] bool staged() const noexcept { return !staged_.empty(); }
  void append_staged(Outcome outcome, Now now);
  void undo_staged(Now now);
  // What the records do not bring back, should what is staged not be committed.
  void on_rollback(std::function<void(Now)> undo) { staged_undo_.push_back(std::move(undo)); }
  // Runs `outcome` when everything appended so far is committed (at once where nothing is open).
  void when_settled(Outcome outcome, Now now);
  // Tells those whose time is up.
  void tick(Now now);
  [[nodiscard]] Instant next_deadline() const noexcept {
    return time_outs_.empty() ? kNever : time_outs_.front().at;
  }
  [[nodiscard]] bool pending(AppendId id) const;  // written, neither committed nor rolled back
  void on_committed(AppendId id, wire::ErrorCode error, Now now);
  // The partition is not led any more: outcomes that are open end with not_coordinator, and may
  // write nothing.
  void abandon_open(Now now);

  // --- state
  using Groups = std::map<std::string, std::shared_ptr<Group>, std::less<>>;  // of every kind

  [[nodiscard]] Groups& groups() noexcept { return groups_; }

  [[nodiscard]] const Groups& groups() const noexcept { return groups_; }

  [[nodiscard]] Group* find_group(std::string_view id) const;
  // Null where the group is of another kind.
  [[nodiscard]] ClassicGroup* find_classic(std::string_view id) const;
  [[nodiscard]] ClassicGroup* find_classic(std::string_view id, std::uint64_t serial) const;
  ClassicGroup& create_classic(std::string_view id, Now now);
  [[nodiscard]] ConsumerGroup* find_consumer(std::string_view id) const {
    return as_consumer(find_group(id));
  }
  // The group as far as it is committed; null where no such group is.
  [[nodiscard]] std::shared_ptr<const Group> find_committed(std::string_view id) const;
  // Since the last call, because records were rolled back: consumer groups that were made anew, and
  // classic ones that had taken their place.
  [[nodiscard]] std::vector<std::string> take_restored() { return std::exchange(restored_, {}); }
  [[nodiscard]] std::vector<std::shared_ptr<Group>> take_displaced() {
    return std::exchange(displaced_, {});
  }

  [[nodiscard]] const OffsetTimeline& offsets() const noexcept { return offsets_; }

  // Offsets of open transactions.
  [[nodiscard]] const PendingTimeline& pending_offsets() const noexcept { return pending_; }

  [[nodiscard]] bool has_pending_offset(const OffsetKey& key) const;
  [[nodiscard]] bool has_pending_offsets(std::string_view group) const;

  [[nodiscard]] const TimelineMap<std::string, Bytes>& group_records() const noexcept {
    return group_records_;
  }

  [[nodiscard]] std::string dump() const;

  // The first cell of a group's offsets; walk while the key's group is the same.
  [[nodiscard]] OffsetTimeline::Cells::const_iterator first_offset(std::string_view group) const {
    return offsets_.cells().lower_bound(OffsetKeyView{group, {}, -2'147'483'647 - 1});
  }

 private:
  struct Open {
    AppendId id = 0;  // 0: waits for those before it
    bool committed = false;
    Outcome outcome;  // empty: told already
    std::uint64_t serial = 0;
    std::vector<std::function<void(Now)>> undo = {};
  };
  struct TimeOut {
    Instant at;
    std::uint64_t serial = 0;
  };

  void append(std::vector<Record> records, Outcome outcome, Instant time_out, std::optional<TransactionalWrite> transaction = {});
  void open(AppendId id, Outcome outcome, Instant time_out);
  [[nodiscard]] Instant time_out_of(Now now) const {
    return now.instant + milliseconds(runtime_.config.offsets_commit_timeout_ms);
  }

  // The one place that changes hard state. `epoch` 0: committed already.
  bool replay(const Record& record, AppendId epoch, ProducerId producer = kNoProducerId);
  void replay_offset(OffsetKey key, std::optional<CommittedOffset> next, AppendId epoch, ProducerId producer);
  void replay_marker(ProducerId producer, bool commit, AppendId epoch);
  template <class Timeline>
  static void change(Timeline& timeline, AppendId epoch, const typename Timeline::Cells::key_type& key, std::optional<CommittedOffset> next);
  void change_consumer(const ConsumerKey& key, const ConsumerValue* value);
  enum class View : bool { latest, committed };
  // Null where there are no records of it.
  [[nodiscard]] std::shared_ptr<ConsumerGroup> build_consumer(std::string_view id, View view) const;
  void roll_back(AppendId id);
  static void undo(const std::vector<std::function<void(Now)>>& steps, Now now);  // last one first
  void settle(Now now);
  void offset_changed(const OffsetKey& key, const CommittedOffset* next, Now now);

  PartitionIndex partition_;
  Runtime& runtime_;
  bool loading_ = true;
  AppendId loading_as_ = 0;  // 0: committed
  std::deque<Open> open_;  // oldest first
  std::deque<TimeOut> time_outs_;  // of those, likewise; not of all
  std::uint64_t last_serial_ = 0;
  Groups groups_;
  TimelineMap<std::string, Bytes> group_records_;  // the newest record's value of each group
  OffsetTimeline offsets_;
  PendingTimeline pending_;
  std::map<ProducerId, std::set<OffsetKey>> pending_of_;  // what may be in pending_
  std::uint64_t last_order_ = 0;
  ConsumerTimeline consumer_records_;
  std::deque<std::pair<AppendId, std::string>> consumer_changes_;  // open; oldest first
  std::vector<std::string> restored_;
  std::vector<Record> staged_;
  std::vector<std::function<void(Now)>> staged_undo_;
  AppendId staged_as_ = 0;
  std::vector<std::shared_ptr<Group>> displaced_;

  struct Published {
    std::shared_ptr<event::CommittedCounters> counters;
    Instant told;  // when an event last told of it
  };

  std::map<OffsetKey, Published, OffsetKeyLess> published_;
};

// What a coordinator answers for an append's error.
[[nodiscard]] wire::ErrorCode coordinator_error(wire::ErrorCode append_error) noexcept;

}  // namespace hw::groups
