// SPDX-License-Identifier: Apache-2.0
#include "engine/txn/coordinator.h"

#include <algorithm>
#include <array>
#include <set>

#include "engine/base/assert.h"
#include "engine/groups/consumer/subscription_regex.h"
#include "engine/groups/runtime/java_string.h"
#include "engine/groups/runtime/shard.h"
#include "engine/txn/end_transaction.h"
#include "engine/txn/transaction_records.h"

namespace hw::txn {
namespace {

using wire::ErrorCode;

constexpr std::string_view kTransactionVersion = "transaction.version";
constexpr std::int16_t kFlexibleRecordsFrom = 1;  // level of transaction.version
constexpr Duration kAppendAgainAfter = milliseconds(100);
constexpr std::size_t kExpiredInOneBatch = 200;

constexpr Identity refused(ErrorCode error) noexcept {
  return {error, kNoProducerId, kNoProducerEpoch};
}

}  // namespace

struct TransactionCoordinator::Impl {
  Impl(const Config& given, NewProducerId ids) : config(given), new_producer_id(std::move(ids)) {}

  struct Entry {
    Transaction now;                  // committed; an epoch of -1: made for an InitProducerId whose record is not committed yet
    std::optional<Transaction> next;  // on its way
    Partitions unmarked;              // of what is prepared
    bool given_up = false;            // some marker was refused for good: nothing completes it here
  };

  struct Shard {
    LeaderEpoch epoch;
    bool loading = true;
    std::map<std::string, Entry, std::less<>> entries;
  };

  using Outcome = std::function<void(ErrorCode error, Now now)>;

  struct Open {
    PartitionIndex partition;
    std::vector<std::string> ids;
    Outcome outcome;  // empty: told already
    Instant time_out = kNever;
  };

  Config config;
  NewProducerId new_producer_id;
  metadata::ImagePtr image = std::make_shared<const metadata::MetadataImage>();
  std::int32_t partitions = 1;
  std::map<PartitionIndex, Shard> shards;
  std::map<AppendId, Open> open;
  std::set<std::pair<Instant, AppendId>> time_outs;
  std::set<std::pair<Instant, std::string>> completions_due;  // whose Complete* could not be appended
  AppendId last_append = 0;
  Outputs outputs;
  MarkerQueue markers{
      [this](const Ending& ending, const TopicPartition& partition, MarkerQueue::Result result) { marker_settled(ending, partition, result); }};
  std::optional<Instant> next_abort_scan;
  std::optional<Instant> next_expiry_scan;
  std::uint64_t load_errors = 0;
  Now now{};
  std::vector<std::function<void()>> due;
  int depth = 0;

  // Completions run when the outermost call is done with its changes.
  class Turn {
   public:
    explicit Turn(Impl& impl) : impl_(impl) { ++impl_.depth; }

    Turn(Impl& impl, Now now) : Turn(impl) { impl_.now = now; }

    ~Turn() {
      if (impl_.depth == 1) {
        while (!impl_.due.empty()) {
          std::vector<std::function<void()>> ready;
          ready.swap(impl_.due);
          for (auto& completion : ready) {
            completion();
          }
        }
      }
      --impl_.depth;
    }

    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    Impl& impl_;
  };

  template <class Response>
  void answer(const Done<Response>& done, Response response) {
    due.emplace_back([done, response = std::move(response)] { done(response); });
  }

  [[nodiscard]] PartitionIndex partition_of(std::string_view id) const { return PartitionIndex(groups::partition_by_hash(id, partitions)); }

  // T7
  Shard* shard_of(std::string_view id, ErrorCode& error) {
    const auto found = shards.find(partition_of(id));
    if (found == shards.end()) {
      error = ErrorCode::not_coordinator;
      return nullptr;
    }
    if (found->second.loading) {
      error = ErrorCode::coordinator_load_in_progress;
      return nullptr;
    }
    return &found->second;
  }

  // The entry of a producer's transactional id, or the error.
  Entry* entry_of(const std::string& id, ErrorCode& error) {
    if (id.empty()) {
      error = ErrorCode::invalid_request;
      return nullptr;
    }
    Shard* shard = shard_of(id, error);
    if (shard == nullptr) {
      return nullptr;
    }
    const auto found = shard->entries.find(id);
    if (found == shard->entries.end()) {
      error = ErrorCode::invalid_producer_id_mapping;
      return nullptr;
    }
    return &found->second;
  }

  [[nodiscard]] std::int16_t level() const { return image->feature_level(kTransactionVersion); }

  [[nodiscard]] ClientVersion server_version() const {
    return level() >= static_cast<std::int16_t>(ClientVersion::two) ? ClientVersion::two : ClientVersion::zero;
  }

  // ---------------------------------------------------------------- steps

  void append(PartitionIndex partition, std::vector<std::string> ids, std::vector<Record> records, Instant time_out, Outcome outcome) {
    const AppendId id = groups::next_append(last_append, partition);
    last_append = id;
    if (time_out != kNever) {
      time_outs.emplace(time_out, id);
    }
    open.emplace(id, Open{partition, std::move(ids), std::move(outcome), time_out});
    outputs.appends.push_back({id, partition, std::move(records)});
  }

  // The record of one step. Whoever waits longer than the transaction may take is told COORDINATOR_NOT_AVAILABLE; the step goes on.
  void take_step(const std::string& id, Entry& entry, Transaction next, Outcome outcome) {
    const Instant time_out = now.instant + milliseconds(next.timeout_ms);
    take_step_within(time_out, id, entry, std::move(next), std::move(outcome));
  }

  void take_step_within(Instant time_out, const std::string& id, Entry& entry, Transaction next, Outcome outcome) {
    HW_ASSERT(!entry.next, "one step of a transaction at a time");
    HW_ASSERT(may_follow(entry.now, next), "T1-T4");
    HW_ASSERT(!is_complete(next.state) || entry.unmarked.empty(), "T6");
    const std::optional<Bytes> key = encode_key(id);
    const std::optional<Bytes> value =
        encode_value(next, level() >= kFlexibleRecordsFrom || next.next_producer_id != kNoProducerId || bumps_epoch(next.version));
    if (!key || !value) {
      outcome(ErrorCode::unknown_server_error, now);
      return;
    }
    entry.next = std::move(next);
    append(partition_of(id), {id}, {{*key, *value}}, time_out, std::move(outcome));
  }

  void committed(AppendId id, ErrorCode error) {
    const auto found = open.find(id);
    if (found == open.end()) {
      return;  // its partition was taken away
    }
    Open done = std::move(found->second);
    open.erase(found);
    time_outs.erase({done.time_out, id});
    Shard& shard = shards.at(done.partition);
    for (const std::string& one : done.ids) {
      const auto at = shard.entries.find(one);
      HW_ASSERT(at != shard.entries.end() && at->second.next, "an entry stays while a step of it is on its way");
      std::optional<Transaction> next = std::exchange(at->second.next, std::nullopt);
      if (error != ErrorCode::none) {
        continue;
      }
      at->second.now = std::move(*next);
      if (at->second.now.state == State::dead) {
        shard.entries.erase(at);
      } else if (is_prepared(at->second.now.state)) {
        ask_for_markers(one, shard, at->second);
      }
    }
    if (done.outcome) {
      done.outcome(error == ErrorCode::none ? error : groups::coordinator_error(error), now);
    }
  }

  void ask_for_markers(const std::string& id, const Shard& shard, Entry& entry) {
    HW_ASSERT(is_prepared(entry.now.state) && !shard.loading, "T5, T7");
    entry.unmarked = entry.now.partitions;
    entry.given_up = false;
    if (entry.unmarked.empty()) {
      complete(id, entry);
      return;
    }
    const Partitions asked = entry.unmarked;  // the last that is not needed completes it
    markers.add(ending_of(id, shard, entry.now), asked, *image);
  }

  [[nodiscard]] Ending ending_of(const std::string& id, const Shard& shard, const Transaction& transaction) const {
    return {id,
            partition_of(id),
            shard.epoch,
            transaction.producer_id,
            transaction.epoch,
            transaction.state == State::prepare_commit,
            transaction.version};
  }

  void marker_settled(const Ending& ending, const TopicPartition& partition, MarkerQueue::Result result) {
    const auto shard = shards.find(ending.shard);
    if (shard == shards.end() || shard->second.loading || shard->second.epoch != ending.coordinator_epoch) {
      return;
    }
    const auto at = shard->second.entries.find(ending.transactional_id);
    if (at == shard->second.entries.end() || !is_prepared(at->second.now.state) || ending_of(at->first, shard->second, at->second.now) != ending) {
      return;
    }
    Entry& entry = at->second;
    if (result == MarkerQueue::Result::fenced) {
      entry.given_up = true;
      return;
    }
    entry.unmarked.erase(partition);
    if (entry.unmarked.empty() && !entry.given_up) {
      complete(at->first, entry);
    }
  }

  void complete(const std::string& id, Entry& entry) {
    if (entry.next) {
      return;  // it is being completed
    }
    take_step_within(kNever, id, entry, entry.now.completed(now.wall.ms), [this, id](ErrorCode error, Now) {
      if (error != ErrorCode::none && error != ErrorCode::not_coordinator) {
        completions_due.emplace(now.instant + kAppendAgainAfter, id);
      }
    });
  }

  void retry_completions() {
    while (!completions_due.empty() && completions_due.begin()->first <= now.instant) {
      const std::string id = completions_due.begin()->second;
      completions_due.erase(completions_due.begin());
      ErrorCode error = ErrorCode::none;
      Entry* entry = entry_of(id, error);
      if (entry != nullptr && is_prepared(entry->now.state) && entry->unmarked.empty() && !entry->given_up) {
        complete(id, *entry);
      }
    }
  }

  // ---------------------------------------------------------------- requests

  // Goes on with the request from its beginning once there is an id: everything may have changed meanwhile.
  void with_fresh_id(std::function<void(ProducerId)> go_on, std::function<void(ErrorCode)> refuse) {
    new_producer_id([this, go_on = std::move(go_on), refuse = std::move(refuse)](std::pair<ErrorCode, ProducerId> result) {
      Turn turn(*this);
      if (result.first == ErrorCode::none) {
        go_on(result.second);
      } else {
        refuse(ErrorCode::coordinator_load_in_progress);  // producers ask again
      }
    });
  }

  struct Init {
    std::string id;
    std::int32_t timeout_ms = 0;
    std::optional<std::pair<ProducerId, ProducerEpoch>> expected;
    Done<Identity> done;
  };

  void init(const Init& request, std::optional<ProducerId> fresh) {
    const auto refuse = [&](ErrorCode error) { answer(request.done, refused(error)); };
    const auto want_id = [&] {
      with_fresh_id([this, request](ProducerId id) { init(request, id); },
                    [this, done = request.done](ErrorCode error) { answer(done, refused(error)); });
    };
    ErrorCode error = ErrorCode::none;
    Shard* shard = shard_of(request.id, error);
    if (shard == nullptr) {
      refuse(error);
      return;
    }
    auto at = shard->entries.find(request.id);
    if (at == shard->entries.end()) {
      if (!fresh) {
        want_id();
        return;
      }
      Entry made;
      made.now.producer_id = *fresh;
      made.now.timeout_ms = request.timeout_ms;
      made.now.last_update_ms = now.wall.ms;
      at = shard->entries.emplace(request.id, std::move(made)).first;
    }
    Entry& entry = at->second;
    const Transaction& known = entry.now;
    if (entry.next) {
      refuse(ErrorCode::concurrent_transactions);
      return;
    }
    if (request.expected && !may_be(known, *request.expected)) {
      refuse(ErrorCode::producer_fenced);
      return;
    }
    if (is_prepared(known.state)) {
      refuse(ErrorCode::concurrent_transactions);
      return;
    }
    if (known.state == State::ongoing) {
      // Its answer makes the producer ask again, and then the epoch rises once more.
      if (is_exhausted(known.epoch) && bumps_epoch(server_version()) && !fresh) {
        want_id();
        return;
      }
      abort_here(request.id, entry, fresh, [this, done = request.done](ErrorCode failed, Now) {
        answer(done, refused(failed == ErrorCode::none ? ErrorCode::concurrent_transactions : failed));
      });
      return;
    }
    std::optional<Transaction> next;
    if (is_exhausted(known.epoch) && (!request.expected || request.expected->second == known.epoch)) {
      if (!fresh) {
        want_id();
        return;
      }
      next = known.with_new_producer(*fresh, request.expected.has_value(), request.timeout_ms, now.wall.ms);
    } else {
      next = with_risen_epoch(known, request);
    }
    if (!next) {
      refuse(ErrorCode::producer_fenced);
      return;
    }
    const Identity identity{ErrorCode::none, next->producer_id, next->epoch};
    take_step(request.id, entry, std::move(*next),
              [this, identity, done = request.done](ErrorCode failed, Now) { answer(done, failed == ErrorCode::none ? identity : refused(failed)); });
  }

  // Whether a producer that says it is `expected` may go on with the id: it is the one that is known, a new one, or one that did not
  // hear of the id that took over when its epoch was exhausted.
  static bool may_be(const Transaction& known, const std::pair<ProducerId, ProducerEpoch>& expected) noexcept {
    return known.epoch == kNoProducerEpoch || expected.first == known.producer_id ||
           (expected.first == known.previous_producer_id && is_exhausted(expected.second));
  }

  // Nothing: the producer is fenced.
  [[nodiscard]] std::optional<Transaction> with_risen_epoch(const Transaction& known, const Init& request) const {
    const ProducerEpoch risen(static_cast<std::int16_t>(known.epoch.value() + (is_exhausted(known.epoch) ? 0 : 1)));
    if (!request.expected) {
      return known.with_next_epoch(risen, kNoProducerEpoch, request.timeout_ms, now.wall.ms);
    }
    if (known.epoch == kNoProducerEpoch || request.expected->second == known.epoch) {
      return known.with_next_epoch(risen, known.epoch, request.timeout_ms, now.wall.ms);
    }
    if (request.expected->second == known.last_epoch) {  // it did not hear the answer
      return known.with_next_epoch(known.epoch, known.last_epoch, request.timeout_ms, now.wall.ms);
    }
    return std::nullopt;
  }

  // The coordinator itself ends a transaction; its producer is fenced.
  void abort_here(const std::string& id, Entry& entry, std::optional<ProducerId> fresh, Outcome outcome) {
    take_step(id, entry, entry.now.fenced(server_version(), fresh_if_exhausted(entry.now, server_version(), fresh), now.wall.ms), std::move(outcome));
  }

  static ProducerId fresh_if_exhausted(const Transaction& known, ClientVersion version, std::optional<ProducerId> fresh) {
    if (!bumps_epoch(version) || !is_exhausted(known.epoch)) {
      return kNoProducerId;
    }
    HW_ASSERT(fresh.has_value(), "an exhausted epoch rises with a new producer id only");
    return *fresh;
  }

  void end(const Producer& producer, const EndRequest& request, const Done<Identity>& done, std::optional<ProducerId> fresh) {
    ErrorCode error = ErrorCode::none;
    Entry* entry = entry_of(producer.transactional_id, error);
    if (entry == nullptr) {
      answer(done, refused(error));
      return;
    }
    const bool says_identity = bumps_epoch(request.version);
    const EndDecision decision = decide_end(entry->now, entry->next.has_value(), request);
    if (decision.action == EndAction::refuse) {
      answer(done, refused(decision.error));
      return;
    }
    if (decision.action == EndAction::repeat) {
      answer(done, says_identity ? Identity{ErrorCode::none, entry->now.producer_id, entry->now.epoch} : Identity{});
      return;
    }
    if (says_identity && is_exhausted(entry->now.epoch) && !fresh) {
      with_fresh_id([this, producer, request, done](ProducerId id) { end(producer, request, done, id); },
                    [this, done](ErrorCode failed) { answer(done, refused(failed)); });
      return;
    }
    Transaction next = entry->now.prepared(request.commit, request.version, fresh_if_exhausted(entry->now, request.version, fresh), now.wall.ms);
    Identity identity;
    if (says_identity) {
      const bool taken_over = next.next_producer_id != kNoProducerId;
      identity = {ErrorCode::none, taken_over ? next.next_producer_id : next.producer_id, taken_over ? ProducerEpoch(0) : next.epoch};
    }
    take_step(producer.transactional_id, *entry, std::move(next),
              [this, identity, done](ErrorCode failed, Now) { answer(done, failed == ErrorCode::none ? identity : refused(failed)); });
  }

  // ---------------------------------------------------------------- time

  void abort_timed_out() {
    std::vector<std::string> late;
    for (const auto& [partition, shard] : shards) {
      if (shard.loading) {
        continue;
      }
      for (const auto& [id, entry] : shard.entries) {
        if (!entry.next && entry.now.state == State::ongoing && entry.now.start_ms + entry.now.timeout_ms < now.wall.ms) {
          late.push_back(id);
        }
      }
    }
    for (const std::string& id : late) {
      abort_late(id, std::nullopt);
    }
  }

  void abort_late(const std::string& id, std::optional<ProducerId> fresh) {
    ErrorCode error = ErrorCode::none;
    Entry* entry = entry_of(id, error);
    if (entry == nullptr || entry->next || entry->now.state != State::ongoing) {
      return;  // it ended meanwhile
    }
    if (is_exhausted(entry->now.epoch) && bumps_epoch(server_version()) && !fresh) {
      with_fresh_id([this, id](ProducerId got) { abort_late(id, got); }, [](ErrorCode) {});  // the next look tries again
      return;
    }
    abort_here(id, *entry, fresh, [](ErrorCode, Now) {});
  }

  void remove_expired() {
    for (auto& [partition, shard] : shards) {
      if (shard.loading) {
        continue;
      }
      std::vector<std::string> ids;
      std::vector<Record> records;
      const auto write = [&, at = partition] {
        if (!ids.empty()) {
          append(at, std::exchange(ids, {}), std::exchange(records, {}), kNever, {});
        }
      };
      for (auto& [id, entry] : shard.entries) {
        const bool may_go = !entry.next && (entry.now.state == State::empty || is_complete(entry.now.state));
        if (!may_go || entry.now.last_update_ms > now.wall.ms - config.transactional_id_expiration_ms) {
          continue;
        }
        const std::optional<Bytes> key = encode_key(id);
        if (!key) {
          continue;
        }
        entry.next = entry.now.expired();
        HW_ASSERT(may_follow(entry.now, *entry.next), "T1-T4");
        ids.push_back(id);
        records.push_back({*key, std::nullopt});
        if (ids.size() == kExpiredInOneBatch) {
          write();
        }
      }
      write();
    }
  }
};

TransactionCoordinator::TransactionCoordinator(const Config& config, NewProducerId new_producer_id)
    : impl_(std::make_unique<Impl>(config, std::move(new_producer_id))) {
  set_partition_count(config.transaction_state_log_num_partitions);
}

TransactionCoordinator::~TransactionCoordinator() = default;

void TransactionCoordinator::set_partition_count(std::int32_t partitions) {
  HW_ASSERT(partitions > 0 && partitions <= 1 << groups::kAppendPartitionBits, "a topic has partitions");
  impl_->partitions = partitions;
}

PartitionIndex TransactionCoordinator::partition_of(std::string_view transactional_id) const {
  return impl_->partition_of(transactional_id);
}

void TransactionCoordinator::set_image(metadata::ImagePtr image, Now now) {
  Impl::Turn turn(*impl_, now);
  impl_->image = std::move(image);
  impl_->markers.image_changed(*impl_->image);
}

// ------------------------------------------------------------------------------------------------
// leadership

void TransactionCoordinator::begin_load(PartitionIndex partition, LeaderEpoch epoch) {
  HW_ASSERT(!impl_->shards.contains(partition), "a partition is loaded once");
  impl_->shards[partition].epoch = epoch;
}

void TransactionCoordinator::load_record(PartitionIndex partition, const Record& record) {
  Impl::Shard& shard = impl_->shards.at(partition);
  HW_ASSERT(shard.loading, "records are loaded before the partition is active");
  std::optional<std::string> id = decode_key(record.key);
  if (!id) {
    ++impl_->load_errors;
    return;
  }
  if (!record.value) {
    shard.entries.erase(*id);
    return;
  }
  std::optional<Transaction> transaction = decode_value(*record.value);
  if (!transaction) {
    ++impl_->load_errors;
    return;
  }
  shard.entries[*id].now = std::move(*transaction);
}

void TransactionCoordinator::end_load(PartitionIndex partition, LeaderEpoch epoch, Now now) {
  Impl::Turn turn(*impl_, now);
  const auto at = impl_->shards.find(partition);
  if (at == impl_->shards.end() || !at->second.loading || at->second.epoch != epoch) {
    return;  // it went on to another leader, or came back, before all was committed
  }
  Impl::Shard& shard = at->second;
  shard.loading = false;
  for (auto& [id, entry] : shard.entries) {
    if (is_prepared(entry.now.state)) {
      impl_->ask_for_markers(id, shard, entry);
    }
  }
  if (!impl_->next_abort_scan) {
    impl_->next_abort_scan = now.instant + milliseconds(impl_->config.transaction_abort_timed_out_interval_ms);
    impl_->next_expiry_scan = now.instant + milliseconds(impl_->config.transaction_remove_expired_interval_ms);
  }
}

void TransactionCoordinator::unload(PartitionIndex partition, Now now) {
  Impl::Turn turn(*impl_, now);
  impl_->markers.forget(partition);
  impl_->shards.erase(partition);
  for (auto open = impl_->open.begin(); open != impl_->open.end();) {
    if (open->second.partition != partition) {
      ++open;
      continue;
    }
    Impl::Open gone = std::move(open->second);
    impl_->time_outs.erase({gone.time_out, open->first});
    open = impl_->open.erase(open);
    if (gone.outcome) {
      gone.outcome(ErrorCode::not_coordinator, now);
    }
  }
  std::erase_if(impl_->outputs.appends, [partition](const Outputs::Append& append) { return append.partition == partition; });
}

bool TransactionCoordinator::leads(PartitionIndex partition) const {
  const auto found = impl_->shards.find(partition);
  return found != impl_->shards.end() && !found->second.loading;
}

std::uint64_t TransactionCoordinator::load_errors() const {
  return impl_->load_errors;
}

// ------------------------------------------------------------------------------------------------
// requests

void TransactionCoordinator::init_producer_id(const std::string& transactional_id, std::int32_t timeout_ms,
                                              const std::optional<std::pair<ProducerId, ProducerEpoch>>& expected, Now now, Done<Identity> done) {
  Impl::Turn turn(*impl_, now);
  if (transactional_id.empty()) {
    impl_->answer(done, refused(ErrorCode::invalid_request));
  } else if (timeout_ms <= 0 || timeout_ms > impl_->config.transaction_max_timeout_ms) {
    impl_->answer(done, refused(ErrorCode::invalid_transaction_timeout));
  } else {
    impl_->init({transactional_id, timeout_ms, expected, std::move(done)}, std::nullopt);
  }
}

void TransactionCoordinator::add_partitions(const Producer& producer, const Partitions& partitions, ClientVersion version, Now now,
                                            Done<ErrorCode> done) {
  Impl::Turn turn(*impl_, now);
  ErrorCode error = ErrorCode::none;
  Impl::Entry* entry = impl_->entry_of(producer.transactional_id, error);
  if (entry == nullptr) {
    impl_->answer(done, error);
    return;
  }
  const Transaction& known = entry->now;
  if (known.producer_id != producer.id) {
    error = ErrorCode::invalid_producer_id_mapping;
  } else if (known.epoch != producer.epoch) {
    error = ErrorCode::producer_fenced;
  } else if (entry->next || is_prepared(known.state)) {
    error = ErrorCode::concurrent_transactions;
  }
  const bool all_there =
      known.state == State::ongoing && std::includes(known.partitions.begin(), known.partitions.end(), partitions.begin(), partitions.end());
  if (error != ErrorCode::none || all_there) {
    impl_->answer(done, error);
    return;
  }
  impl_->take_step(producer.transactional_id, *entry, known.with_partitions(partitions, version, now.wall.ms),
                   [this, done = std::move(done)](ErrorCode failed, Now) { impl_->answer(done, failed); });
}

std::map<TopicPartition, ErrorCode> TransactionCoordinator::verify_partitions(const Producer& producer, const Partitions& partitions) {
  ErrorCode error = ErrorCode::none;
  const Impl::Entry* entry = impl_->entry_of(producer.transactional_id, error);
  if (entry != nullptr) {
    // A step on its way does not matter: what is appended is looked at once more by the partition's leader.
    const Transaction& known = entry->now;
    if (known.producer_id != producer.id) {
      error = ErrorCode::invalid_producer_id_mapping;
    } else if (known.epoch != producer.epoch) {
      error = ErrorCode::producer_fenced;
    } else if (is_prepared(known.state)) {
      error = ErrorCode::concurrent_transactions;
    }
  }
  std::map<TopicPartition, ErrorCode> result;
  for (const TopicPartition& one : partitions) {
    result[one] = error != ErrorCode::none ? error : entry->now.partitions.contains(one) ? ErrorCode::none : ErrorCode::transaction_abortable;
  }
  return result;
}

void TransactionCoordinator::end(const Producer& producer, bool commit, ClientVersion version, Now now, Done<Identity> done) {
  Impl::Turn turn(*impl_, now);
  impl_->end(producer, {producer.id, producer.epoch, commit, version}, done, std::nullopt);
}

wire::DescribeTransactionsResponse::TransactionState TransactionCoordinator::describe(const std::string& transactional_id) {
  wire::DescribeTransactionsResponse::TransactionState answer;
  answer.transactional_id = transactional_id;
  answer.producer_id = ProducerId(0);
  answer.producer_epoch = ProducerEpoch(0);
  ErrorCode error = ErrorCode::none;
  const Impl::Entry* entry = impl_->entry_of(transactional_id, error);
  if (entry == nullptr || (entry->next && entry->next->state == State::dead)) {
    answer.error_code = entry != nullptr || error == ErrorCode::invalid_producer_id_mapping ? ErrorCode::transactional_id_not_found : error;
    return answer;
  }
  const Transaction& known = entry->now;
  answer.producer_id = known.producer_id;
  answer.producer_epoch = known.epoch;
  answer.transaction_state = state_name(known.state);
  answer.transaction_timeout_ms = known.timeout_ms;
  answer.transaction_start_time_ms = known.start_ms;
  for (const TopicPartition& one : is_prepared(known.state) ? entry->unmarked : known.partitions) {
    if (answer.topics.empty() || answer.topics.back().topic != one.topic) {
      answer.topics.emplace_back().topic = one.topic;
    }
    answer.topics.back().partitions.push_back(one.partition);
  }
  return answer;
}

wire::ListTransactionsResponse TransactionCoordinator::list(const wire::ListTransactionsRequest& request, Now now) {
  wire::ListTransactionsResponse response;
  const bool by_name = request.transactional_id_pattern && !request.transactional_id_pattern->empty();
  if (by_name && groups::subscription_regex_error(*request.transactional_id_pattern)) {
    response.error_code = ErrorCode::invalid_regular_expression;
    return response;
  }
  if (std::any_of(impl_->shards.begin(), impl_->shards.end(), [](const auto& entry) { return entry.second.loading; })) {
    response.error_code = ErrorCode::coordinator_load_in_progress;
    return response;
  }
  std::set<State> states;
  for (const std::string& name : request.state_filters) {
    if (const std::optional<State> state = state_of(name)) {
      states.insert(*state);
    } else {
      response.unknown_state_filters.push_back(name);
    }
  }
  const auto& ids = request.producer_id_filters;
  for (const auto& [partition, shard] : impl_->shards) {
    for (const auto& [id, entry] : shard.entries) {
      const Transaction& known = entry.now;
      const bool wanted = (ids.empty() || std::find(ids.begin(), ids.end(), known.producer_id) != ids.end()) &&
                          (request.state_filters.empty() || states.contains(known.state)) &&
                          (request.duration_filter < 0 || now.wall.ms - known.start_ms > request.duration_filter);
      const std::array<std::string_view, 1> name{id};
      if (!wanted || (by_name && groups::matching_topics(*request.transactional_id_pattern, name).empty())) {
        continue;
      }
      auto& one = response.transaction_states.emplace_back();
      one.transactional_id = id;
      one.producer_id = known.producer_id;
      one.transaction_state = state_name(known.state);
    }
  }
  return response;
}

// ------------------------------------------------------------------------------------------------
// outputs, outcome, time

bool TransactionCoordinator::has_outputs(Now now) const {
  return !impl_->outputs.appends.empty() || impl_->markers.has_requests(now.instant);
}

Outputs TransactionCoordinator::take(Now now) {
  Outputs out = std::exchange(impl_->outputs, {});
  out.markers = impl_->markers.take(now.instant);
  return out;
}

void TransactionCoordinator::on_committed(AppendId id, ErrorCode error, Now now) {
  Impl::Turn turn(*impl_, now);
  impl_->committed(id, error);
}

void TransactionCoordinator::markers_answered(std::uint64_t id, const wire::WriteTxnMarkersResponse& response, Now now) {
  Impl::Turn turn(*impl_, now);
  impl_->markers.answered(id, response, *impl_->image, now.instant);
}

void TransactionCoordinator::markers_failed(std::uint64_t id, Now now) {
  Impl::Turn turn(*impl_, now);
  impl_->markers.failed(id, *impl_->image, now.instant);
}

void TransactionCoordinator::tick(Now now) {
  Impl::Turn turn(*impl_, now);
  while (!impl_->time_outs.empty() && impl_->time_outs.begin()->first <= now.instant) {
    Impl::Open& late = impl_->open.at(impl_->time_outs.begin()->second);
    impl_->time_outs.erase(impl_->time_outs.begin());
    const Impl::Outcome outcome = std::exchange(late.outcome, {});
    outcome(ErrorCode::coordinator_not_available, now);
  }
  impl_->retry_completions();
  if (impl_->next_abort_scan && *impl_->next_abort_scan <= now.instant) {
    impl_->abort_timed_out();
    impl_->next_abort_scan = now.instant + milliseconds(impl_->config.transaction_abort_timed_out_interval_ms);
  }
  if (impl_->next_expiry_scan && *impl_->next_expiry_scan <= now.instant) {
    impl_->remove_expired();
    impl_->next_expiry_scan = now.instant + milliseconds(impl_->config.transaction_remove_expired_interval_ms);
  }
}

Instant TransactionCoordinator::next_deadline() const {
  Instant earliest = impl_->markers.next_deadline();
  if (!impl_->time_outs.empty()) {
    earliest = std::min(earliest, impl_->time_outs.begin()->first);
  }
  if (!impl_->completions_due.empty()) {
    earliest = std::min(earliest, impl_->completions_due.begin()->first);
  }
  const bool any = std::any_of(impl_->shards.begin(), impl_->shards.end(), [](const auto& shard) { return !shard.second.entries.empty(); });
  if (any && impl_->next_abort_scan) {
    earliest = std::min({earliest, *impl_->next_abort_scan, *impl_->next_expiry_scan});
  }
  return earliest;
}

std::string TransactionCoordinator::dump_hard_state(PartitionIndex partition) const {
  std::string text;
  const auto found = impl_->shards.find(partition);
  if (found == impl_->shards.end()) {
    return text;
  }
  for (const auto& [id, entry] : found->second.entries) {
    const Transaction& known = entry.now;
    if (known.epoch == kNoProducerEpoch) {
      continue;  // no record says so
    }
    text += id + '|' + std::string(state_name(known.state));
    for (const std::int64_t number :
         {known.producer_id.value(), known.previous_producer_id.value(), known.next_producer_id.value(), std::int64_t{known.epoch.value()},
          std::int64_t{known.timeout_ms}, known.start_ms, known.last_update_ms, static_cast<std::int64_t>(known.version)}) {
      text += '|' + std::to_string(number);
    }
    for (const TopicPartition& one : known.partitions) {
      text += '|' + one.topic + '-' + std::to_string(one.partition.value());
    }
    text += '\n';
  }
  return text;
}

}  // namespace hw::txn
